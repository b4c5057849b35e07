//! Host adapters for [`fable_core`]: what the `fable` command is made of. No rule of the method lives here.
//!
//! The feature `host`, on by default, is everything that needs an operating system. Without it there is [`text`] alone, which
//! reads requests, preferences and reactions by fixed rules without any input or output, on WebAssembly too.

#![cfg_attr(not(any(feature = "host", test)), no_std)]

extern crate alloc;

#[cfg(feature = "host")]
pub mod catalogs;
#[cfg(feature = "host")]
pub mod device;
#[cfg(feature = "host")]
pub mod evaluate;
#[cfg(feature = "host")]
pub mod llm;
#[cfg(feature = "host")]
pub mod prior;
#[cfg(feature = "host")]
pub mod replay;
#[cfg(feature = "host")]
pub mod serve;
#[cfg(feature = "host")]
pub mod settings;
#[cfg(feature = "host")]
pub mod simulate;
#[cfg(feature = "host")]
pub mod store;
pub mod text;
#[cfg(feature = "host")]
pub mod toml_file;
#[cfg(feature = "host")]
pub mod words;
