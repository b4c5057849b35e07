//! Shows: Fable in a web page. The very core that runs on devices and servers, compiled to WebAssembly; nothing is sent
//! anywhere.
//!
//! [`Page`] is everything behind the page: two [`Life`]s, the visitor's and that of a simulated user, and the learners that
//! the second is compared with. It answers in [`answer`]s, which become bytes. `exports` is how JavaScript reaches it.
//!
//! A life is kept as the records that devices and hosts use: a snapshot is saved and loaded, and the journal after it is what
//! `fable replay` reads. Settings are the defaults, so the state of a board can be looked at here; only the seed and the
//! exploration are chosen, and they are not part of a record.
//!
//! ```
//! use fable_browser::{Page, Who};
//!
//! let mut page = Page::new(7)?;
//! page.read(Who::Visitor, "What's the weather in Oslo today?")?;
//! page.permit(Who::Visitor, 0b010)?; // no web search
//! let decision = page.decide(Who::Visitor)?;
//! assert_eq!(decision.feasible, 150);
//! page.react(Who::Visitor, 0.5)?;
//! let saved = page.save(Who::Visitor);
//! page.load(Who::Visitor, &saved)?;
//! assert_eq!(page.beliefs(Who::Visitor, false)?.observations, 1);
//! # Ok::<(), fable_browser::PageError>(())
//! ```

#![cfg_attr(target_family = "wasm", no_std)]

extern crate alloc;

pub mod answer;
mod beliefs;
mod error;
pub mod exports;
mod life;
mod page;
mod permissions;
mod rivals;
#[cfg(target_family = "wasm")]
mod runtime;

pub use error::PageError;
pub use life::Life;
pub use page::{Page, Who};
pub use permissions::PERMISSIONS;

use fable_core::Catalog;

/// The catalog of the page.
pub static AGENT: Catalog<'static> = fable_core::catalog::AGENT;
