//! Fable for C. `include/fable.h` is the documentation of every function here, `README.md` says how the library is made.
//!
//! All unsafe code of the repository but for device registers is in this crate. It is of three kinds: pointers of C become
//! references (`borrow.rs`), a catalog of C structures becomes one of Rust in memory of the caller (`convert.rs`), and a user lives in
//! memory of the caller (`user.rs`). What a pointer is to, the caller has to know; null, misaligned, moved and foreign ones are
//! refused.

#![no_std]
#![deny(
    unsafe_op_in_unsafe_fn,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::todo,
    clippy::unimplemented,
    clippy::unreachable,
    clippy::unwrap_used
)]

mod actions;
mod borrow;
#[cfg(builtin)]
mod builtin {
    include!(concat!(env!("OUT_DIR"), "/builtin.rs"));
}
#[cfg(feature = "runtime")]
mod convert;
#[cfg(feature = "explain")]
mod explain;
pub mod layout;
mod names;
#[cfg(feature = "onboard")]
mod onboard;
#[cfg(any(feature = "expire", feature = "observe", feature = "recommend"))]
mod optional;
pub mod policy;
#[cfg(feature = "promote")]
mod promote;
#[cfg(feature = "sets")]
mod sets;
#[cfg(feature = "record")]
mod snapshot;
pub mod status;
mod text;
pub mod user;
#[cfg(feature = "wishes")]
mod user_rules;

/// The version of the interface.
pub const ABI: u32 = 1;

/// See the header.
#[unsafe(no_mangle)]
pub extern "C" fn fable_abi() -> u32 {
    ABI
}

/// Nothing here panics, and the tests look at the code for Cortex-M0 to prove it; a static library needs a handler all the same.
#[cfg(feature = "library")]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}
