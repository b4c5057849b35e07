//! Host adapters for [`fable_core`]: what the `fable` command is made of. No rule of the method lives here.
//!
//! The feature `host`, on by default, is everything that needs an operating system. Without it the crate needs an allocator
//! and nothing else, and works in a browser: [`text`] reads requests, preferences and reactions by fixed rules, [`words`] says
//! things in words, and with the feature `simulate` there is the simulated user.

#![cfg_attr(not(any(feature = "host", test)), no_std)]

extern crate alloc;

#[cfg(feature = "host")]
pub mod catalogs;
#[cfg(feature = "host")]
pub mod chat;
#[cfg(feature = "host")]
pub mod device;
#[cfg(feature = "host")]
pub mod evaluate;
#[cfg(feature = "host")]
pub mod inspect;
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
#[cfg(feature = "simulate")]
pub mod simulate;
#[cfg(feature = "host")]
pub mod store;
pub mod text;
#[cfg(feature = "host")]
pub mod toml_file;
pub mod words;
