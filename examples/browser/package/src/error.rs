//! Why something was not done: a code for programs, a sentence for people.
//!
//! The codes are those of `fable serve`, and an error of the learner has the same one here and there.

use alloc::string::{String, ToString};
use core::fmt;
use fable_core::UserError;
use fable_core::catalog::{CatalogError, ContextError, FeasibleError, OnboardingError};
use fable_core::journal::ParseDecisionIdError;
use fable_core::record::RecordError;
use fable_core::settings::SettingsError;
use serde::Serialize;

/// A refused call. Nothing has changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Refusal {
    /// For programs: a code of the protocol of `fable serve`.
    pub code: &'static str,
    /// For people.
    pub message: String,
}

impl Refusal {
    /// A refusal with its sentence.
    pub fn new(code: &'static str, message: impl fmt::Display) -> Self {
        Self::of(code, &message)
    }

    #[inline(never)]
    fn of(code: &'static str, message: &dyn fmt::Display) -> Self {
        Self { code, message: message.to_string() }
    }

    /// The call was not written as it should be: JavaScript checks before it calls, so this is a mistake of the package.
    #[must_use]
    pub fn unreadable() -> Self {
        Self::new("internal", "the call could not be read")
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl core::error::Error for Refusal {}

impl From<postcard::Error> for Refusal {
    fn from(_: postcard::Error) -> Self {
        Self::unreadable()
    }
}

impl From<ContextError> for Refusal {
    fn from(error: ContextError) -> Self {
        let code = match error {
            ContextError::UnknownTask | ContextError::UnknownSignal => "unknown_name",
            ContextError::SignalRange { .. } => "out_of_range",
            _ => "bad_context",
        };
        Self::new(code, error)
    }
}

impl From<FeasibleError> for Refusal {
    fn from(error: FeasibleError) -> Self {
        Self::new(if error == FeasibleError::Empty { "infeasible" } else { "bad_pattern" }, error)
    }
}

impl From<OnboardingError> for Refusal {
    fn from(error: OnboardingError) -> Self {
        let code = match error {
            OnboardingError::UnknownCoordinate
            | OnboardingError::UnknownValue
            | OnboardingError::UnknownCondition => "unknown_name",
            OnboardingError::NoCoordinate => "no_coordinate",
            OnboardingError::Coefficient | OnboardingError::Response | OnboardingError::Precision => {
                "out_of_range"
            }
            _ => "bad_direction",
        };
        Self::new(code, error)
    }
}

impl From<UserError> for Refusal {
    #[inline(never)]
    fn from(error: UserError) -> Self {
        let code = match error {
            UserError::Feasible(error) => return error.into(),
            UserError::Onboarding(error) => return error.into(),
            UserError::Reward
            | UserError::Weight
            | UserError::Baseline
            | UserError::DefaultCount { .. }
            | UserError::DefaultRange { .. } => "out_of_range",
            UserError::UnknownDecision | UserError::DecidedElsewhere => "unknown_decision",
            UserError::ExpiredDecision => "expired",
            UserError::DuplicateFeedback => "duplicate_feedback",
            UserError::Stale => "stale",
            UserError::Off => "off",
            UserError::Comparison => "bad_contrast",
            UserError::Exhausted => "exhausted",
            // A user goes on under settings that may be changed at any time, and no others.
            UserError::ForeignPolicy => "bad_request",
            _ => "internal",
        };
        Self::new(code, error)
    }
}

impl From<SettingsError> for Refusal {
    fn from(error: SettingsError) -> Self {
        Self::new("out_of_range", error)
    }
}

/// What is stored cannot be used here, whatever it is.
impl From<RecordError> for Refusal {
    fn from(error: RecordError) -> Self {
        Self::new("damaged", error)
    }
}

impl From<ParseDecisionIdError> for Refusal {
    fn from(error: ParseDecisionIdError) -> Self {
        Self::new("unknown_decision", error)
    }
}

impl From<CatalogError> for Refusal {
    fn from(error: CatalogError) -> Self {
        Self::new("bad_request", error)
    }
}
