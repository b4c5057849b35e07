//! Fable for C. `include/fable.h` documents every function; `README.md` describes the build of the library.
//!
//! Except for device registers, all unsafe code of the repository is in this crate:
//!
//! - `borrow.rs` makes references of pointers;
//! - `convert.rs` makes a Rust catalog of C structures, in memory of the caller;
//! - `user.rs` keeps a user in memory of the caller.
//!
//! Null, misaligned, moved and foreign pointers are refused. The caller guarantees the type and length of the
//! memory.

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

/// The panic handler that a static library needs. No call leads to a panic, which `tests/c/run symbols`
/// checks.
#[cfg(feature = "library")]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}
