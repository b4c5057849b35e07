//! Why a request is refused: one code for each reason, for programs, and a sentence for people.

use crate::rules::RulesError;
use crate::store::StoreError;
use crate::text::AdapterError;
use crate::toml_file::Flaw;
use fable_core::UserError;
use fable_core::catalog::{ContextError, FeasibleError, OnboardingError};
use fable_core::journal::ParseDecisionIdError;
use serde::Serialize;
use std::fmt;

/// What programs look at. The protocol's documentation has a row for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Code {
    /// The line is not one JSON object.
    BadJson,
    /// The line is too long.
    TooLong,
    /// There is no such op.
    UnknownOp,
    /// A key is missing, does not belong there, is repeated, or has a value of the wrong type.
    BadRequest,
    /// The catalog has no such component, value, task, signal, coordinate or contrast.
    UnknownName,
    /// A number is out of its range, or a list has the wrong length.
    OutOfRange,
    /// A complete action is needed.
    IncompleteAction,
    /// A signal is missing or repeated.
    BadContext,
    /// A pattern is empty or names something twice.
    BadPattern,
    /// No action is feasible.
    Infeasible,
    /// The user has switched this off.
    Off,
    /// A direction is empty, too long, has a coordinate twice or touches two tasks.
    BadDirection,
    /// The dictionary has no coordinate for a stated preference.
    NoCoordinate,
    /// The fixed rules that read texts do not know the catalog's words.
    Unreadable,
    /// The two actions of a contrast must differ in one component.
    BadContrast,
    /// There is no such decision.
    UnknownDecision,
    /// The decision waits no longer for its reward.
    Expired,
    /// The decision has had its reward.
    DuplicateFeedback,
    /// The decision cannot be explained any more.
    Stale,
    /// Nothing was learned from the decision that could be taken back.
    NotLearned,
    /// What is stored about the user is damaged.
    Damaged,
    /// A counter has reached its end.
    Exhausted,
    /// It could not be stored, or what is stored could not be read.
    Storage,
    /// The database went away in the middle, and it is not known whether it has happened.
    Uncertain,
    /// A mistake in this program.
    Internal,
}

impl Code {
    /// Every code.
    pub const ALL: [Self; 25] = [
        Self::BadJson,
        Self::TooLong,
        Self::UnknownOp,
        Self::BadRequest,
        Self::UnknownName,
        Self::OutOfRange,
        Self::IncompleteAction,
        Self::BadContext,
        Self::BadPattern,
        Self::Infeasible,
        Self::Off,
        Self::BadDirection,
        Self::NoCoordinate,
        Self::Unreadable,
        Self::BadContrast,
        Self::UnknownDecision,
        Self::Expired,
        Self::DuplicateFeedback,
        Self::Stale,
        Self::NotLearned,
        Self::Damaged,
        Self::Exhausted,
        Self::Storage,
        Self::Uncertain,
        Self::Internal,
    ];
}

/// A refused request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Refusal {
    /// For programs.
    pub code: Code,
    /// For people.
    pub message: String,
}

impl Refusal {
    /// A refusal with its sentence.
    pub fn new(code: Code, message: impl fmt::Display) -> Self {
        Self { code, message: message.to_string() }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Refusal {}

impl From<ContextError> for Refusal {
    fn from(error: ContextError) -> Self {
        let code = match error {
            ContextError::UnknownTask | ContextError::UnknownSignal => Code::UnknownName,
            ContextError::SignalRange { .. } => Code::OutOfRange,
            _ => Code::BadContext,
        };
        Self::new(code, error)
    }
}

impl From<FeasibleError> for Refusal {
    fn from(error: FeasibleError) -> Self {
        let code = match error {
            FeasibleError::Empty => Code::Infeasible,
            _ => Code::BadPattern,
        };
        Self::new(code, error)
    }
}

impl From<OnboardingError> for Refusal {
    fn from(error: OnboardingError) -> Self {
        let code = match error {
            OnboardingError::UnknownCoordinate
            | OnboardingError::UnknownValue
            | OnboardingError::UnknownCondition => Code::UnknownName,
            OnboardingError::NoCoordinate => Code::NoCoordinate,
            OnboardingError::Coefficient | OnboardingError::Response | OnboardingError::Precision => {
                Code::OutOfRange
            }
            _ => Code::BadDirection,
        };
        Self::new(code, error)
    }
}

impl From<UserError> for Refusal {
    fn from(error: UserError) -> Self {
        let code = match error {
            UserError::Feasible(error) => return error.into(),
            UserError::Onboarding(error) => return error.into(),
            UserError::Reward
            | UserError::Weight
            | UserError::Baseline
            | UserError::DefaultCount { .. }
            | UserError::DefaultRange { .. }
            | UserError::RulesFull => Code::OutOfRange,
            UserError::UnknownDecision | UserError::DecidedElsewhere => Code::UnknownDecision,
            UserError::ExpiredDecision => Code::Expired,
            UserError::DuplicateFeedback => Code::DuplicateFeedback,
            UserError::Stale => Code::Stale,
            UserError::Off => Code::Off,
            UserError::NotLearned => Code::NotLearned,
            UserError::Comparison => Code::BadContrast,
            UserError::Exhausted => Code::Exhausted,
            _ => Code::Internal,
        };
        Self::new(code, error)
    }
}

impl From<AdapterError> for Refusal {
    fn from(error: AdapterError) -> Self {
        Self::new(Code::Unreadable, error)
    }
}

impl From<Flaw> for Refusal {
    fn from(flaw: Flaw) -> Self {
        Self::new(Code::UnknownName, flaw)
    }
}

impl From<RulesError> for Refusal {
    fn from(error: RulesError) -> Self {
        let code = match error {
            RulesError::Name(flaw) => return flaw.into(),
            RulesError::NothingLeft => Code::Infeasible,
            RulesError::TooMany => Code::OutOfRange,
        };
        Self::new(code, error)
    }
}

impl From<ParseDecisionIdError> for Refusal {
    fn from(error: ParseDecisionIdError) -> Self {
        Self::new(Code::UnknownDecision, error)
    }
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        let code = match error {
            StoreError::Refused(error) => return error.into(),
            StoreError::User(_) => Code::Damaged,
            StoreError::Exhausted => Code::Exhausted,
            StoreError::Uncertain(_) => Code::Uncertain,
            _ => Code::Storage,
        };
        Self::new(code, error)
    }
}
