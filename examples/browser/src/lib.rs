//! Shows: Fable in a web page. The very core that runs on devices and servers, compiled to WebAssembly; nothing is sent
//! anywhere.
//!
//! The page is the first user of the npm package in `package`: its module is the package's with a few exports more, and people
//! on the page are users of the package. What is here is what the package has not: a [`Simulation`], that is a user with hidden
//! preferences and the learners that Fable is compared with, and what is believed about single values. The reading of requests is a module of
//! its own, made of the same crate with the feature `words` alone: who only watches does not fetch it.
//!
//! ```
//! use fable_browser::{Simulation, read};
//!
//! assert_eq!(read("What's the weather in Oslo today?")?.task, Some("factual"));
//! let mut simulation = Simulation::new(7)?;
//! let asked = simulation.ask(1)?;
//! let responded = simulation.respond(1, 0, 0..180)?;
//! assert!(!asked.text.is_empty() && responded.race.best >= responded.race.fable);
//! assert!(simulation.respond(1, 180, 0..180).is_err() && simulation.respond(1, 0, []).is_err());
//! # Ok::<(), fable_js::Refusal>(())
//! ```

#![cfg_attr(target_family = "wasm", no_std)]

extern crate alloc;

pub mod answer;
#[cfg(feature = "people")]
mod beliefs;
pub mod exports;
#[cfg(feature = "people")]
mod rivals;
#[cfg(feature = "people")]
mod simulation;
#[cfg(feature = "people")]
pub mod team;
#[cfg(feature = "words")]
mod words;

#[cfg(feature = "people")]
pub use simulation::Simulation;
#[cfg(feature = "words")]
pub use words::read;

use fable_js::Refusal;

/// What is wrong with a request that the page has made itself.
fn refused(error: impl core::fmt::Display) -> Refusal {
    Refusal::new("bad_context", error)
}
