//! Device adapters for [`fable_core`]: what a microcontroller has to supply. No rule of the method lives here.
//!
//! A [`Device`] joins a user with the place where it is kept; every verb is durable when it returns:
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
//! [`flash`] keeps one user's state in NOR flash through power cuts, [`serve`] answers the requests of a host over any
//! `embedded-io` port, [`keep`] is what storage has to offer, and [`entropy`] gives an installation its seed. What waits for
//! storage or a port has two forms, plain and asynchronous, which are one text. The messages themselves are [`wire`],
//! which hosts use too. Feature `defmt` gives every type a `defmt::Format` and logs what the store and the server do, feature
//! `mock` adds a flash in RAM for tests.

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
pub mod flash;
#[cfg(feature = "defmt")]
mod format;
pub mod keep;
#[cfg(feature = "mock")]
pub mod mock;
mod receipt;
pub mod serve;

pub use device::Device;
pub use fable_wire as wire;
pub use keep::{AsyncKeep, Keep, Volatile};
pub use receipt::Receipts;
pub use serve::Server;

/// The example of the crate's page is a test too.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
