//! What can go wrong, in words for the page.

use core::fmt;
use fable_core::record::RecordError;
use fable_core::{ContextError, FeasibleError, OnboardingError, SettingsError, UserError};
use fable_text::AdapterError;

/// Why something was not done. Whatever it is, nothing has changed.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum PageError {
    /// A setting is out of its range.
    Settings(SettingsError),
    /// The learner refuses.
    Learner(UserError),
    /// A file or an event cannot be read or written.
    Record(RecordError),
    /// The permissions cannot be used.
    Feasible(FeasibleError),
    /// A stated preference cannot be used.
    Onboarding(OnboardingError),
    /// A context cannot be made.
    Context(ContextError),
    /// A request cannot be read.
    Adapter(AdapterError),
    /// Nobody has asked for anything yet.
    NoRequest,
    /// There is no decision that waits for a reaction.
    NoDecision,
    /// The page has no such thing: a person, a slider, an action.
    Unknown,
    /// Bytes that should be text are not UTF-8.
    Text,
}

impl fmt::Display for PageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Settings(error) => error.fmt(f),
            Self::Learner(error) => error.fmt(f),
            Self::Record(error) => error.fmt(f),
            Self::Feasible(error) => error.fmt(f),
            Self::Onboarding(error) => error.fmt(f),
            Self::Context(error) => error.fmt(f),
            Self::Adapter(error) => error.fmt(f),
            Self::NoRequest => f.write_str("there is no request yet"),
            Self::NoDecision => f.write_str("no decision waits for a reaction"),
            Self::Unknown => f.write_str("the page has no such thing"),
            Self::Text => f.write_str("the text is not UTF-8"),
        }
    }
}

impl core::error::Error for PageError {}

macro_rules! from {
    ($($variant:ident($error:ty)),*) => {
        $(impl From<$error> for PageError {
            fn from(error: $error) -> Self {
                Self::$variant(error)
            }
        })*
    };
}

from!(
    Settings(SettingsError),
    Learner(UserError),
    Record(RecordError),
    Feasible(FeasibleError),
    Onboarding(OnboardingError),
    Context(ContextError),
    Adapter(AdapterError)
);
