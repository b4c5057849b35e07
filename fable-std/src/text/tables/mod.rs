//! The vocabulary of the rules: tables of [patterns](super::pattern) and weights, and nothing else.
//!
//! They are part of what an adapter's id stands for. Whoever changes a table raises the version in `text/mod.rs`; a test
//! compares both.

pub(super) mod context;
pub(super) mod feedback;
pub(super) mod onboarding;
