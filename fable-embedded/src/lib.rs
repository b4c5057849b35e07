//! Device adapters for [`fable_core`]: what a microcontroller has to supply. No rule of the method lives here.
//!
//! [`flash`] keeps one user's state in NOR flash through power cuts, [`entropy`] draws the installation's seed. Feature
//! `defmt` derives `defmt::Format`, feature `mock` adds a flash in RAM for tests.

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
#[cfg(feature = "mock")]
pub mod mock;
