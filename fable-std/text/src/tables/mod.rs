//! The vocabulary of the rules: tables of [patterns](crate::pattern) and weights, and nothing else.
//!
//! They are part of what an adapter's id stands for. Whoever changes a table raises the version in `lib.rs`; a test
//! compares both.

pub(crate) mod context;
pub(crate) mod feedback;
pub(crate) mod onboarding;
pub(crate) mod talk;
pub(crate) mod tasks;
