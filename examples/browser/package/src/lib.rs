//! The learner as a WebAssembly module for JavaScript: the core of the npm package `fable-bandit`.
//!
//! `module` has the users and the border to JavaScript, `ask` what comes over it, `answer` what goes back, `verbs` what a user can
//! be asked and told, `exports` the names. JavaScript's side is `fable.js`, for people, and `module.js`, which writes and reads the
//! bytes. A program that adds exports of its own, as the page of `examples/browser` does, links this crate and uses
//! [`call`] and [`tell`].
//!
//! Users are records as everywhere: a snapshot is saved and restored, and the journal after it is what `fable replay` reads.

#![cfg_attr(target_family = "wasm", no_std)]
#![cfg_attr(not(feature = "users"), allow(dead_code, reason = "what users are asked and told"))]

extern crate alloc;

mod answer;
mod ask;
#[cfg(feature = "full")]
mod catalogs;
mod error;
pub mod exports;
mod life;
mod module;
#[cfg(target_family = "wasm")]
mod runtime;
mod verbs;

pub use error::Refusal;
pub use life::{Life, Tape};
pub use module::{AGENT, Module, call, read, tell};
