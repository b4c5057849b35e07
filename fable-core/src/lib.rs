//! Personalization that fits on a microcontroller: the reference implementation of FABLE, the Factorized Adaptive Bandit
//! Layer for Execution.
//!
//! A policy layer around a frozen assistant. Each round a request becomes a [`Context`]; hard constraints leave a
//! [`Feasible`] set; a per-user Gaussian [`Posterior`] is sampled once and the best feasible [`Action`] becomes an
//! instruction for the assistant; the user's reaction, one number in [-1, 1], updates the posterior. No allocator, no
//! unsafe code, no panics, and the same bits on x86-64, Cortex-M, RISC-V and WebAssembly.
//!
//! ```
//! use fable_core::{Feasible, HostUser, Policy, Settings, catalog::AGENT};
//!
//! let policy = Policy::<f32>::new(&AGENT, Settings::default())?;
//! let mut ana = HostUser::<f32>::new(&policy, "ana")?; // a device has a static instead: see `Learner`
//!
//! let signals = [("risk", 0.1), ("ambiguity", 0.2), ("memory_need", 0.7), ("tool_need", 0.3)];
//! let context = AGENT.context("coding", signals)?;
//! let decision = ana.decide(&context, &Feasible::all(&AGENT))?;
//! let mut instruction = String::new();
//! AGENT.instruct(decision.action, &mut instruction)?; // give this to the assistant ...
//! ana.feedback(decision.id, 0.5)?; // ... and tell Fable how it went
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```
//!
//! The modules are layers, each of which knows only those before it: numbers, [`mod@catalog`] (what can be chosen, contexts, hard
//! constraints, stated preferences), posterior, policy, user (decide, learn, promote, explain), [`record`], [`protocol`].
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
//! | (v, u, kappa) | [`Statement`] |
//! | nu_t | [`Exploration`] |
//! | sigma^2 | [`Settings::noise_variance`] |
//! | z, d_z | [`Settings::retained`], [`Policy::active_dimension`] |
//! | y_t - bar b | reward minus [`Decision::baseline`] |
//!
//! Features, on by default, which a device may leave out: `adapt`, `explain`, `observe`, `onboard`, `probes`, `promote`, `rules`, `theorem`, `unlearn`. What a
//! build leaves out is refused with [`UserError::Unsupported`], never skipped. Off by default: `alloc` adds [`HostUser`]; `defmt` gives every type a `defmt::Format`, for logs on devices;
//! `analysis` adds [`analysis`], what hosts compute about a user beside the learner; `migrate` adds [`Migration`], a user's way to another catalog; `record` adds events and snapshots as bytes,
//! and `protocol` the frames that a host and a device exchange, `keyed` with a seal; `dispatch` takes the wide registers of a host's processor, with the same bits.

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

#[cfg(feature = "alloc")]
extern crate alloc;

#[cfg(feature = "analysis")]
pub mod analysis;
pub mod catalog;
#[cfg(feature = "defmt")]
#[doc(hidden)]
pub mod format;
mod numbers;
mod policy;
mod posterior;
#[cfg(feature = "protocol")]
pub mod protocol;
#[cfg(feature = "record")]
pub mod record;
mod user;

pub use catalog::score::Scalar;
pub use catalog::{
    Action, ActionSet, BlockSet, Catalog, CatalogError, Context, ContextError, ContrastSet, CoordinateSet, Direction, Effect,
    Feasible, FeasibleError, MAX_DIRECTION, OnboardingError, Rule, StandingRule, Statement, When, removed_by, stopped_by,
};
pub use numbers::{
    Arrow, BASE_PRECISION, Bits, Key, MAX_BASELINE, MAX_COEFFICIENT, MAX_RESPONSE, NUMERIC_REVISION, Number,
    ONBOARDING_PRECISION, Purpose, REWARD, Range, Storage, Stream, VARIANCE, WEIGHT, user_hash,
};
pub use policy::{Deadline, Expiry, Exploration, OnChange, Policy, Scale, Setting, Settings, SettingsError, setting};
pub use posterior::{Estimate, Factor, Posterior, PosteriorError, Prior, PriorError, Update, Workspace};
pub use user::{
    ALARM, Assessment, Average, Certifier, Choice, Coin, Coins, Command, Comparison, Decision, DecisionId, Deed, Elsewhere, Event, Explanation,
    Gap, LEAST, Learner, MAX_ORIGINS, MAX_TRIALS, MAX_WISHES, Observation, ParseDecisionIdError, Probe, Probes, Promotion,
    Request, SETTLING, Scores, Share, Source, Standing, State, Step, Thousandths, Trial, User, UserError, Verdict, WITHDRAWN,
    Wish, is_look,
};
#[cfg(feature = "alloc")]
pub use user::{HOST_ROOM, HostLearner, HostUser, merge};
#[cfg(feature = "migrate")]
pub use user::{MigrateError, Migrated, Migration};

/// Without `defmt` a component's value has no format.
#[cfg(not(feature = "defmt"))]
#[doc(hidden)]
#[macro_export]
macro_rules! format_component {
    ($name:ident) => {};
}

/// The examples of the first page of the repository and of this crate's are tests too.
#[cfg(all(doctest, feature = "alloc"))]
#[doc = include_str!("../../README.md")]
#[doc = include_str!("../README.md")]
struct Readme;
