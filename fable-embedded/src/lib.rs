//! Device adapters for [`fable_core`]: what a microcontroller has to supply. No rule of the method lives here.
//!
//! [`serve`] answers the requests of a host over any `embedded-io` port, [`keep`] is where a device keeps its state, and
//! [`entropy`] gives an installation its seed. The messages themselves are [`protocol`], which hosts use too.

#![no_std]
#![deny(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::todo,
    clippy::unimplemented,
    clippy::unreachable,
    clippy::unwrap_used
)]

pub mod entropy;
pub mod keep;
pub mod serve;

pub use fable_core::protocol;
pub use keep::{Keep, Volatile};
pub use serve::Server;
