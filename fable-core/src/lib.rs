//! Personalization that fits on a microcontroller: the reference implementation of FABLE, the Factorized Adaptive Bandit
//! Layer for Execution.
//!
//! A policy layer around a frozen assistant. Each round a request becomes a [`Context`]; hard constraints leave a
//! [`Feasible`] set; a per-user Gaussian [`Posterior`] is sampled once and the best feasible [`Action`] becomes an
//! instruction for the assistant; the user's reaction, one number in [-1, 1], updates the posterior. No allocator, no
//! unsafe code, no panics, and the same bits on x86-64, Cortex-M, RISC-V and WebAssembly.
//!
//! ```
//! use fable_core::{Context, Feasible, Learner, Policy, Request, Settings, Workspace, catalog::AGENT, user_hash};
//!
//! let policy = Policy::new(&AGENT, Settings::default())?;
//! let mut learner = Learner::<f32, Vec<f32>, 8>::over(vec![0.0; AGENT.state_len()]);
//! let mut workspace = Workspace::over(vec![0.0; AGENT.workspace_len()]);
//! learner.start(&policy, user_hash("ana"))?;
//!
//! let context = Context::new(&AGENT, AGENT.task("coding"), &[0.1, 0.2, 0.7, 0.3])?;
//! let everything = Feasible::all(&AGENT);
//! let decision = learner.decide(&policy, &mut workspace, &Request::new(&context, &everything))?;
//! let mut instruction = String::new();
//! AGENT.instruct(decision.action, &mut instruction)?; // give this to the assistant ...
//! learner.feedback(&policy, &mut workspace, decision.id, 0.5)?; // ... and tell Fable how it went
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```
//!
//! The way of the data is the order of the modules: [`mod@catalog`] and [`context`] describe, [`feasible`] restricts,
//! [`policy`], [`prior`] and [`onboarding`] set up, [`posterior`] keeps, [`learner`] decides and learns through [`event`]s.
//!
//! | Paper | Here |
//! |---|---|
//! | M x T x S, a | [`Catalog`], [`Action`] |
//! | C_t = (k, r, g, p, q) | [`Context`] |
//! | phi(c, a) | [`Catalog::features`] |
//! | b, cost, lambda | [`catalog::Term`], [`catalog::Value::cost`], [`Settings::cost_weight`] |
//! | A_t | [`Feasible`] |
//! | Lambda, h | [`Posterior`], as L D L^T and z with L^T mu = z |
//! | mu, Sigma | [`Posterior::mean`], [`Posterior::covariance_into`] |
//! | (v, u, kappa) | [`onboarding::Statement`] |
//! | nu_t | [`Exploration`] |
//! | sigma^2 | [`Settings::noise_variance`] |
//! | z, d_z | [`Settings::retained`], [`Policy::active_dimension`] |
//! | y_t - bar b | reward minus [`event::Decision::baseline`] |
//!
//! Features, off by default: `defmt` gives every type a `defmt::Format`, for logs on devices; `analysis` adds
//! `analysis`, what hosts compute about a user beside the learner; `record` adds events and snapshots as bytes, and
//! `protocol` the frames that a host and a device exchange.

#![cfg_attr(not(test), no_std)]
#![cfg_attr(not(test), warn(clippy::cast_possible_truncation, clippy::cast_precision_loss, clippy::cast_sign_loss))]
#![deny(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::todo,
    clippy::unimplemented,
    clippy::unreachable,
    clippy::unwrap_used
)]

#[cfg(feature = "analysis")]
pub mod analysis;
pub mod arrow;
pub mod catalog;
pub mod context;
pub mod coordinates;
pub mod event;
pub mod feasible;
pub mod fingerprint;
#[cfg(feature = "defmt")]
#[doc(hidden)]
pub mod format;
mod kernel;
pub mod learner;
mod loops;
pub mod normal;
pub mod onboarding;
pub mod policy;
pub mod posterior;
pub mod prior;
#[cfg(feature = "protocol")]
pub mod protocol;
#[cfg(feature = "record")]
pub mod record;
mod request;
mod scalar;
mod score;
pub mod trust;
mod workspace;

pub use arrow::Arrow;
pub use catalog::{Action, Catalog, CatalogError};
pub use context::{Context, ContextError};
pub use coordinates::CoordinateSet;
pub use event::{Decision, DecisionId, Event, Observation};
pub use feasible::{Feasible, FeasibleError, Rule};
pub use fingerprint::user_hash;
pub use learner::{Checked, Choice, Learner, LearnerError, Proposal};
pub use onboarding::{Direction, OnboardingError, Statement, When};
pub use policy::{Exploration, Policy, Settings, SettingsError};
pub use posterior::{Estimate, Posterior, PosteriorError, Update};
pub use prior::{Factor, Prior, PriorError};
pub use request::Request;
pub use scalar::Scalar;
pub use workspace::Workspace;

/// Without `defmt` a component's value has no format.
#[cfg(not(feature = "defmt"))]
#[doc(hidden)]
#[macro_export]
macro_rules! format_component {
    ($name:ident) => {};
}

/// Memory for numbers: `[T; N]`, `Vec<T>`, `&mut [T]` and the like.
pub trait Storage<T>: AsRef<[T]> + AsMut<[T]> {}

impl<T, S: AsRef<[T]> + AsMut<[T]>> Storage<T> for S {}

/// The README's examples are tests too.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
