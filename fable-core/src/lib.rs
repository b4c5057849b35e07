//! Personalization that fits on a microcontroller: the reference implementation of FABLE, the Factorized
//! Adaptive Bandit Layer for Execution.
//!
//! A policy layer around a frozen assistant. Each round a request becomes a [`Context`]; hard constraints
//! leave a [`Feasible`] set; a per-user Gaussian [`Posterior`](posterior::Posterior) is sampled once and the
//! best feasible [`Action`] becomes an instruction for the assistant; the user's reaction, one number in [-1,
//! 1], updates the posterior. No allocator, no unsafe code, no panics, and the same bits on x86-64, Cortex-M,
//! RISC-V and WebAssembly.
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
//! The modules are layers, each of which knows only those before it: numbers, [`mod@catalog`] (what can be
//! chosen, contexts, hard constraints, stated preferences), posterior, policy, user (decide, learn, promote,
//! explain), [`record`], [`protocol`].
//!
//! | Paper | Here |
//! |---|---|
//! | M x T x S, a | [`Catalog`], [`Action`] |
//! | C_t = (k, r, g, p, q) | [`Context`] |
//! | phi(c, a) | [`Catalog::features`] |
//! | b, cost, lambda | [`catalog::Term`], [`catalog::Value::cost`], [`Settings::cost_weight`] |
//! | A_t | [`Feasible`] |
//! | Equations 2 to 6 | [`posterior::dense::Dense`], the specification |
//! | Lambda, h | [`posterior::Posterior`], as L D L^T and z with L^T mu = z |
//! | mu, Sigma | [`posterior::Posterior::mean`], [`posterior::Posterior::covariance_into`] |
//! | (v, u, kappa) | [`Statement`] |
//! | nu_t | [`Exploration`] |
//! | sigma^2 | [`Settings::noise_variance`] |
//! | z, d_z | [`Settings::retained`], [`Policy::active_dimension`] |
//! | y_t - bar b | reward minus [`Decision::baseline`] |
//!
//! Features, on by default, which a device may leave out: `adapt`, `explain`, `observe`, `onboard`, `probes`,
//! `promote`, `rules`, `theorem`, `unlearn`. What a build leaves out is refused with
//! [`UserError::Unsupported`], never skipped. Off by default: `alloc` adds [`HostUser`]; `defmt` gives every
//! type a `defmt::Format`, for logs on devices; `analysis` adds [`analysis`], what hosts compute about a user
//! beside the learner; `migrate` adds [`migrate::Migration`], a user's way to another catalog; `record` adds
//! events and snapshots as bytes, and `protocol` the frames that a host and a device exchange, `keyed` with a
//! seal; `dispatch` takes the wide registers of a host's processor, with the same bits.

#![cfg_attr(not(test), no_std)]
#![cfg_attr(
    not(test),
    warn(clippy::cast_possible_truncation, clippy::cast_precision_loss, clippy::cast_sign_loss)
)]
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
pub mod posterior;
#[cfg(feature = "protocol")]
pub mod protocol;
#[cfg(feature = "record")]
pub mod record;
mod user;

pub use catalog::score::Scalar;
pub use catalog::{Action, Catalog, Context, Feasible, Rule, Statement};
pub use numbers::user_hash;
pub use policy::{Exploration, Policy, Settings};
pub use posterior::Workspace;
#[cfg(feature = "alloc")]
pub use user::HostUser;
pub use user::{Decision, DecisionId, Learner, Promotion, Request, User, UserError};

/// Settings of a policy: their variants, ranges of settings and inputs, errors.
pub mod settings {
    pub use crate::numbers::{
        BASE_PRECISION, MAX_BASELINE, MAX_COEFFICIENT, MAX_RESPONSE, ONBOARDING_PRECISION, REWARD, Range,
        VARIANCE, WEIGHT,
    };
    pub use crate::policy::setting as table;
    pub use crate::policy::{
        Deadline, Expiry, Exploration, OnChange, Scale, Setting, Settings, SettingsError,
    };
}

/// Preferences of a user: comparisons of two actions, probes, promotions, and the user's own rules.
pub mod preference {
    pub use crate::user::{
        Assessment, Average, Certifier, Comparison, Gap, MAX_TRIALS, MAX_USER_RULES, Probe, ProbeOutcome,
        ProbeOutcomes, Probes, Promotion, Standing, Trial, UserRule, Verdict, is_promotion_check_due,
    };
}

/// Events: commands that propose them, and steps that apply them.
pub mod journal {
    #[cfg(feature = "alloc")]
    pub use crate::user::merge;
    pub use crate::user::{
        Command, Event, MAX_SITES, Observation, ParseDecisionIdError, RemoteChange, RemoteEvent, Scores,
        State, Step,
    };
}

/// Explanations of decisions.
pub mod explain {
    pub use crate::user::{Explanation, Share, Source};
}

/// Migration of a user to another catalog.
#[cfg(feature = "migrate")]
pub mod migrate {
    pub use crate::user::{MigrateError, Migrated, Migration};
}

/// Users on the heap.
#[cfg(feature = "alloc")]
pub mod host {
    pub use crate::user::{HOST_CAPACITY, HostLearner, HostUser};
}

/// Without `defmt` a component's value has no format.
#[cfg(not(feature = "defmt"))]
#[doc(hidden)]
#[macro_export]
macro_rules! format_component {
    ($name:ident) => {};
}

/// The examples of the README of the repository and of this crate are tests, too.
#[cfg(all(doctest, feature = "alloc"))]
#[doc = include_str!("../../README.md")]
#[doc = include_str!("../README.md")]
struct Readme;
