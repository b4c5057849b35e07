//! Device adapters for [`fable_core`]: what a microcontroller has to supply. No rule of the method lives here.
//!
//! [`flash`] keeps one user's state in NOR flash through power cuts, [`serve`] answers the requests of a host over any
//! `embedded-io` port, [`keep`] is what joins the two, and [`entropy`] gives an installation its seed. The messages themselves
//! are [`protocol`], which hosts use too. Feature `defmt` gives every type a `defmt::Format` and logs what the store and the server do,
//! feature `mock` adds a flash in RAM for tests.

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
pub mod flash;
#[cfg(feature = "defmt")]
mod format;
pub mod keep;
#[cfg(feature = "mock")]
pub mod mock;
pub mod serve;

pub use fable_core::protocol;
pub use keep::{Keep, Volatile};
pub use serve::Server;

/// The example of the crate's page is a test too.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
