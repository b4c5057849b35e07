//! What a device answers instead: faults as numbers that stay what they are.

use crate::catalog::{ContextError, FeasibleError, OnboardingError};
use crate::posterior::{PosteriorError, PriorError};
use crate::record::RecordError;
use crate::user::UserError;
use core::fmt;
use serde::{Deserialize, Serialize};

/// Why a frame or a request was refused. The device's state is as before, with one exception: when storage fails in the
/// middle of a request that is several events (expiries before a decision, promotions), those before it stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Fault {
    /// The bytes are not a frame, or were damaged on the way.
    Malformed,
    /// The frame is longer than [`MAX_FRAME`](super::MAX_FRAME).
    Oversized,
    /// The frame belongs to another version of the protocol; the reply that says so carries the device's own.
    Version {
        /// The version of the frame.
        found: u8,
    },
    /// There is no such request in this version.
    UnknownRequest,
    /// The frame is whole, but its message or payload cannot be read.
    Content,
    /// There is nothing at this position: a share, a promotion, a contrast, an event.
    Missing,
    /// The learner refuses; the number is that of the [`UserError`], see [`learner_error`](Self::learner_error).
    Learner(u8),
    /// The context does not fit the catalog; the number is that of the [`ContextError`].
    Context(u8),
    /// A snapshot or an event cannot be used; the number is that of the [`RecordError`].
    Record(u8),
    /// What should have been kept could not be.
    Storage(StorageFault),
    /// It would wear the storage out: there were too many such requests for what was decided and learned in between, or the
    /// application allows no more for now.
    Limited,
    /// The device has a key and answers only what is sealed with it.
    Locked,
    /// The frame is sealed, but not by a session that is open here, or it came before.
    Session,
    /// The device has no key.
    Keyless,
}

/// What can go wrong where a device keeps its state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum StorageFault {
    /// This device keeps nothing of that kind.
    Unsupported,
    /// There is no room left.
    Full,
    /// The medium reports an error.
    Medium,
    /// What is kept was damaged.
    Damaged,
    /// The bytes of a snapshot did not come in order, without gaps and from the start.
    Order,
}

/// One error per number, with 0 in fields that do not travel.
const LEARNER: &[UserError] = &[
    UserError::ForeignPolicy,
    UserError::ForeignContext,
    UserError::UnknownAction,
    UserError::Forbidden,
    UserError::OutOfOrder,
    UserError::Reward,
    UserError::Weight,
    UserError::Baseline,
    UserError::DefaultCount { expected: 0 },
    UserError::DefaultRange { action: 0 },
    UserError::UnknownDecision,
    UserError::ExpiredDecision,
    UserError::DuplicateFeedback,
    UserError::Stale,
    UserError::Text,
    UserError::NotLearned,
    UserError::Comparison,
    UserError::NotPromoted,
    UserError::ProfileFull,
    UserError::Exhausted,
    UserError::Keep,
    UserError::Probe,
    UserError::DecidedElsewhere,
    UserError::SiteFixed,
    UserError::KnownElsewhere,
    UserError::GapElsewhere,
    UserError::SitesFull,
    UserError::Off,
    UserError::UnknownRule,
    UserError::RulesFull,
    UserError::Unsupported,
    UserError::UnknownContrast,
    UserError::RuleExists,
    UserError::RuleMissing,
    UserError::OwnSite,
    UserError::Kept,
    UserError::Feasible(FeasibleError::Empty),
    UserError::Feasible(FeasibleError::EmptyPattern { rule: 0 }),
    UserError::Feasible(FeasibleError::UnknownValue { rule: 0 }),
    UserError::Feasible(FeasibleError::RepeatedComponent { rule: 0 }),
    UserError::Feasible(FeasibleError::UnknownAction),
    UserError::Onboarding(OnboardingError::Empty),
    UserError::Onboarding(OnboardingError::TooMany),
    UserError::Onboarding(OnboardingError::UnknownCoordinate),
    UserError::Onboarding(OnboardingError::RepeatedCoordinate),
    UserError::Onboarding(OnboardingError::Coefficient),
    UserError::Onboarding(OnboardingError::UnknownValue),
    UserError::Onboarding(OnboardingError::UnknownCondition),
    UserError::Onboarding(OnboardingError::NoCoordinate),
    UserError::Onboarding(OnboardingError::TwoTasks),
    UserError::Onboarding(OnboardingError::Response),
    UserError::Onboarding(OnboardingError::Precision),
    UserError::Posterior(PosteriorError::NotStarted),
    UserError::Posterior(PosteriorError::StorageLength { expected: 0 }),
    UserError::Posterior(PosteriorError::WorkspaceLength),
    UserError::Posterior(PosteriorError::OutputLength { expected: 0 }),
    UserError::Posterior(PosteriorError::Prior(PriorError::Length { expected: 0 })),
    UserError::Posterior(PosteriorError::Coordinate { coordinate: 0 }),
    UserError::Posterior(PosteriorError::Coefficient { coordinate: 0 }),
    UserError::Posterior(PosteriorError::TwoTasks),
    UserError::Posterior(PosteriorError::Response),
    UserError::Posterior(PosteriorError::Variance),
];

const CONTEXT: &[ContextError] = &[
    ContextError::UnknownTask,
    ContextError::UnknownSignal,
    ContextError::SignalCount { expected: 0 },
    ContextError::SignalRange { signal: 0 },
];

const RECORD: &[RecordError] = &[
    RecordError::Truncated,
    RecordError::TooLong,
    RecordError::Foreign,
    RecordError::Checksum,
    RecordError::Version { found: 0 },
    RecordError::Scalar { found: 0 },
    RecordError::Policy,
    RecordError::Content,
    RecordError::Capacity { needed: 0 },
    RecordError::Storage { expected: 0 },
    RecordError::Occupied,
    RecordError::Changed,
    RecordError::Buffer,
    RecordError::Unsupported,
    RecordError::Catalog,
];

/// The number of a learner's error. A new error gets a new number at the end of its group; none is ever given twice.
#[inline]
const fn learner_code(error: &UserError) -> u8 {
    match error {
        UserError::ForeignPolicy => 1,
        UserError::ForeignContext => 2,
        UserError::UnknownAction => 3,
        UserError::Forbidden => 4,
        UserError::OutOfOrder => 5,
        UserError::Reward => 6,
        UserError::Weight => 7,
        UserError::Baseline => 8,
        UserError::DefaultCount { .. } => 9,
        UserError::DefaultRange { .. } => 10,
        UserError::UnknownDecision => 11,
        UserError::ExpiredDecision => 12,
        UserError::DuplicateFeedback => 13,
        UserError::Stale => 14,
        UserError::Text => 15,
        UserError::NotLearned => 16,
        UserError::Comparison => 17,
        UserError::NotPromoted => 18,
        UserError::ProfileFull => 19,
        UserError::Exhausted => 20,
        UserError::Keep => 21,
        UserError::Probe => 22,
        UserError::DecidedElsewhere => 23,
        UserError::SiteFixed => 24,
        UserError::KnownElsewhere => 25,
        UserError::GapElsewhere => 26,
        UserError::SitesFull => 27,
        UserError::Off => 28,
        UserError::UnknownRule => 29,
        UserError::RulesFull => 30,
        UserError::Unsupported => 31,
        UserError::UnknownContrast => 32,
        UserError::RuleExists => 33,
        UserError::RuleMissing => 34,
        UserError::OwnSite => 35,
        UserError::Kept => 36,
        UserError::Feasible(error) => match error {
            FeasibleError::Empty => 40,
            FeasibleError::EmptyPattern { .. } => 41,
            FeasibleError::UnknownValue { .. } => 42,
            FeasibleError::RepeatedComponent { .. } => 43,
            FeasibleError::UnknownAction => 44,
        },
        UserError::Onboarding(error) => match error {
            OnboardingError::Empty => 60,
            OnboardingError::TooMany => 61,
            OnboardingError::UnknownCoordinate => 62,
            OnboardingError::RepeatedCoordinate => 63,
            OnboardingError::Coefficient => 64,
            OnboardingError::UnknownValue => 65,
            OnboardingError::UnknownCondition => 66,
            OnboardingError::NoCoordinate => 67,
            OnboardingError::TwoTasks => 68,
            OnboardingError::Response => 69,
            OnboardingError::Precision => 70,
        },
        UserError::Posterior(error) => match error {
            PosteriorError::NotStarted => 80,
            PosteriorError::StorageLength { .. } => 81,
            PosteriorError::WorkspaceLength => 82,
            PosteriorError::OutputLength { .. } => 83,
            PosteriorError::Prior(_) => 84,
            PosteriorError::Coordinate { .. } => 85,
            PosteriorError::Coefficient { .. } => 86,
            PosteriorError::TwoTasks => 87,
            PosteriorError::Response => 88,
            PosteriorError::Variance => 89,
        },
    }
}

#[inline]
const fn context_code(error: &ContextError) -> u8 {
    match error {
        ContextError::UnknownTask => 1,
        ContextError::UnknownSignal => 2,
        ContextError::SignalCount { .. } => 3,
        ContextError::SignalRange { .. } => 4,
    }
}

#[inline]
const fn record_code(error: &RecordError) -> u8 {
    match error {
        RecordError::Truncated => 1,
        RecordError::TooLong => 2,
        RecordError::Foreign => 3,
        RecordError::Checksum => 4,
        RecordError::Version { .. } => 5,
        RecordError::Scalar { .. } => 6,
        RecordError::Policy => 7,
        RecordError::Content => 8,
        RecordError::Capacity { .. } => 9,
        RecordError::Storage { .. } => 10,
        RecordError::Occupied => 11,
        RecordError::Changed => 12,
        RecordError::Buffer => 13,
        RecordError::Unsupported => 14,
        RecordError::Catalog => 15,
    }
}

impl From<UserError> for Fault {
    #[inline]
    fn from(error: UserError) -> Self {
        Self::Learner(learner_code(&error))
    }
}

impl From<ContextError> for Fault {
    #[inline]
    fn from(error: ContextError) -> Self {
        Self::Context(context_code(&error))
    }
}

impl From<RecordError> for Fault {
    #[inline]
    fn from(error: RecordError) -> Self {
        Self::Record(record_code(&error))
    }
}

impl From<StorageFault> for Fault {
    #[inline]
    fn from(fault: StorageFault) -> Self {
        Self::Storage(fault)
    }
}

impl Fault {
    /// The learner's error, if it is one that this version knows. Its fields did not travel and are 0.
    #[must_use]
    pub fn learner_error(&self) -> Option<UserError> {
        let Self::Learner(code) = self else { return None };
        LEARNER.iter().find(|error| learner_code(error) == *code).copied()
    }

    /// The context's error; its fields did not travel and are 0.
    #[must_use]
    pub fn context_error(&self) -> Option<ContextError> {
        let Self::Context(code) = self else { return None };
        CONTEXT.iter().find(|error| context_code(error) == *code).copied()
    }

    /// The record's error; its fields did not travel and are 0.
    #[must_use]
    pub fn record_error(&self) -> Option<RecordError> {
        let Self::Record(code) = self else { return None };
        RECORD.iter().find(|error| record_code(error) == *code).copied()
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed => f.write_str("the bytes are no frame, or were damaged on the way"),
            Self::Oversized => f.write_str("the frame is too long"),
            Self::Version { found } => {
                write!(f, "the frame has version {found} of the protocol, not version {}", super::VERSION)
            }
            Self::UnknownRequest => f.write_str("there is no such request in this version of the protocol"),
            Self::Content => f.write_str("the message cannot be read"),
            Self::Missing => f.write_str("there is nothing at this position"),
            Self::Learner(code) => match self.learner_error() {
                // Those whose fields would be told wrong.
                Some(UserError::Posterior(PosteriorError::StorageLength { .. })) => {
                    f.write_str("the device's memory does not fit its catalog")
                }
                Some(error) => error.fmt(f),
                None => write!(f, "the learner refuses, with number {code}"),
            },
            Self::Context(code) => match self.context_error() {
                Some(ContextError::SignalCount { .. }) => f.write_str("a context needs each signal of its catalog once"),
                Some(ContextError::SignalRange { .. }) => f.write_str("a signal is not a number from 0 to 1"),
                Some(error) => error.fmt(f),
                None => write!(f, "the context cannot be used, with number {code}"),
            },
            Self::Record(code) => match self.record_error() {
                Some(RecordError::Version { .. }) => f.write_str("the record has another version"),
                Some(RecordError::Scalar { .. }) => f.write_str("the record has numbers of another precision"),
                Some(RecordError::Capacity { .. }) => f.write_str("the device has no room for all decisions or promotions"),
                Some(RecordError::Storage { .. }) => f.write_str("the device's memory does not fit its catalog"),
                Some(error) => error.fmt(f),
                None => write!(f, "the record cannot be used, with number {code}"),
            },
            Self::Storage(fault) => fault.fmt(f),
            Self::Limited => f.write_str(
                "that would wear its storage out; it allows such requests again after more decisions and rewards, or later",
            ),
            Self::Locked => f.write_str("it has a key, and answers only who has the same"),
            Self::Session => f.write_str("the request is sealed with another key, or for a session that has ended"),
            Self::Keyless => f.write_str("it has no key, so nothing can be sealed"),
        }
    }
}

impl fmt::Display for StorageFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unsupported => "the device keeps nothing of that kind",
            Self::Full => "the device's storage is full",
            Self::Medium => "the device's storage reports an error",
            Self::Damaged => "what the device kept was damaged",
            Self::Order => "the bytes of a snapshot must come in order, without gaps and from the start",
        })
    }
}

impl core::error::Error for Fault {}
impl core::error::Error for StorageFault {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_is_given_once_and_leads_back() {
        let mut seen = Vec::new();
        for error in LEARNER {
            let fault = Fault::from(*error);
            assert_eq!(fault.learner_error(), Some(*error));
            assert!(!seen.contains(&fault), "{error:?}");
            seen.push(fault);
        }
        for error in CONTEXT {
            assert_eq!(Fault::from(*error).context_error(), Some(*error));
        }
        for error in RECORD {
            assert_eq!(Fault::from(*error).record_error(), Some(*error));
        }
        assert_eq!(Fault::Learner(0).learner_error(), None);
        assert_eq!(Fault::Learner(255).to_string(), "the learner refuses, with number 255");
        assert_eq!(Fault::Learner(13).to_string(), "the decision has had its feedback");
    }
}
