//! Device adapters for [`fable_core`]: flash storage, a serial port, entropy. This crate has no rule of the
//! method.
//!
//! A [`Device`] joins a user with its store. Every verb is durable when it returns:
//!
//! ```
//! # use fable_core::record::snapshot::max_len;
//! # use fable_core::{Feasible, Learner, Policy, Request, Settings, Workspace, catalog::TAU2, user_hash};
//! # use fable_embedded::flash::{Blocking, FlashStore, Layout};
//! # use fable_embedded::{Device, mock::Mock};
//! # type Flash = Mock<4, 1024>;
//! # const LAYOUT: Layout = Layout::new::<Blocking<Flash>>(0, 16 * 1024, max_len::<f32>(&TAU2, 8));
//! # let policy = Policy::new(&TAU2, Settings::default())?;
//! # let mut learner: Learner<f32, [f32; TAU2.state_len()], 8> = const { Learner::new(&TAU2) };
//! # let mut workspace: Workspace<f32, [f32; TAU2.workspace_len()]> = const { Workspace::new(&TAU2) };
//! # let mut store = FlashStore::new(Blocking(Flash::new(16)), LAYOUT);
//! # store.format(&policy, user_hash("ana"), 8)?;
//! # let (context, all) = (TAU2.context(None, [])?, Feasible::all(&TAU2));
//! store.restore(&policy, &mut learner, &mut workspace)?; // at the start; `flash` shows all of it
//! let mut device = Device::new(learner.bind(&policy, &mut workspace)?, &mut store);
//! let decision = device.decide(&Request::new(&context, &all))?; // survives a power cut from here on
//! device.feedback(decision.id, 0.5)?;
//! # let (mut again, mut store) = (learner.clone(), FlashStore::new(store.into_flash(), LAYOUT));
//! # store.restore(&policy, &mut again, &mut workspace)?;
//! # assert_eq!((again.state().rounds(), again.state().observations(), again == learner), (1, 1, true));
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```
//!
//! | Module | Contents |
//! |---|---|
//! | [`device`] | one user with its store |
//! | [`store`] | the trait of a store; a store in RAM |
//! | [`flash`] | feature `flash`: one user in NOR flash, through power cuts |
//! | [`serve`] | feature `serve`: a server for the requests of a host, over any `embedded-io` port |
//! | [`wire`] | feature `serve`: the messages between host and device |
//! | [`entropy`] | the seed of an installation |
//! | `mock` | feature `mock`: a NOR flash in RAM, for tests |
//!
//! Functions that wait for storage or a port have a blocking and an asynchronous form, from one source text.
//! Feature `defmt` gives every type a `defmt::Format` and logs events of the store and the server. `flash`
//! and `serve` are on by default.

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

pub mod device;
pub mod entropy;
#[cfg(feature = "flash")]
pub mod flash;
#[cfg(feature = "defmt")]
mod format;
#[cfg(feature = "mock")]
pub mod mock;
mod reply_cache;
#[cfg(feature = "serve")]
pub mod serve;
pub mod store;

pub use device::Device;
#[cfg(feature = "serve")]
pub use fable_wire as wire;
pub use reply_cache::ReplyCache;
#[cfg(feature = "serve")]
pub use serve::Server;
pub use store::{AsyncUserStore, RamStore, UserStore};

/// The example of the crate's page is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
