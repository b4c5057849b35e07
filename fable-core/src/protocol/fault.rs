//! What a device answers instead: faults as numbers that stay what they are.

use crate::context::ContextError;
use crate::feasible::FeasibleError;
use crate::learner::LearnerError;
use crate::onboarding::OnboardingError;
use crate::posterior::PosteriorError;
use crate::prior::PriorError;
use crate::record::RecordError;
use core::fmt;
use serde::{Deserialize, Serialize};

/// Why a frame or a request was refused. The device's state is as before, with one exception: when storage fails in the
/// middle of a request that is several events (expiries before a decision, promotions), those before it stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Fault {
    /// The bytes are no frame, or were damaged on the way.
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
    /// The learner refuses; the number is that of the [`LearnerError`], see [`learner_error`](Self::learner_error).
    Learner(u8),
    /// The context does not fit the catalog; the number is that of the [`ContextError`].
    Context(u8),
    /// A snapshot or an event cannot be used; the number is that of the [`RecordError`].
    Record(u8),
    /// What should have been kept could not be.
    Storage(StorageFault),
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
const LEARNER: &[LearnerError] = &[
    LearnerError::ForeignPolicy,
    LearnerError::ForeignContext,
    LearnerError::UnknownAction,
    LearnerError::Forbidden,
    LearnerError::OutOfOrder,
    LearnerError::Reward,
    LearnerError::Weight,
    LearnerError::Baseline,
    LearnerError::DefaultCount { expected: 0 },
    LearnerError::DefaultRange { action: 0 },
    LearnerError::UnknownDecision,
    LearnerError::ExpiredDecision,
    LearnerError::DuplicateFeedback,
    LearnerError::Stale,
    LearnerError::Text,
    LearnerError::NotLearned,
    LearnerError::Comparison,
    LearnerError::NotPromoted,
    LearnerError::ProfileFull,
    LearnerError::Exhausted,
    LearnerError::Feasible(FeasibleError::Empty),
    LearnerError::Feasible(FeasibleError::EmptyPattern { rule: 0 }),
    LearnerError::Feasible(FeasibleError::UnknownValue { rule: 0 }),
    LearnerError::Feasible(FeasibleError::RepeatedComponent { rule: 0 }),
    LearnerError::Feasible(FeasibleError::UnknownAction),
    LearnerError::Onboarding(OnboardingError::Empty),
    LearnerError::Onboarding(OnboardingError::TooMany),
    LearnerError::Onboarding(OnboardingError::UnknownCoordinate),
    LearnerError::Onboarding(OnboardingError::RepeatedCoordinate),
    LearnerError::Onboarding(OnboardingError::Coefficient),
    LearnerError::Onboarding(OnboardingError::UnknownValue),
    LearnerError::Onboarding(OnboardingError::UnknownCondition),
    LearnerError::Onboarding(OnboardingError::NoCoordinate),
    LearnerError::Onboarding(OnboardingError::TwoTasks),
    LearnerError::Onboarding(OnboardingError::Response),
    LearnerError::Onboarding(OnboardingError::Precision),
    LearnerError::Posterior(PosteriorError::Vacant),
    LearnerError::Posterior(PosteriorError::StorageLength { expected: 0 }),
    LearnerError::Posterior(PosteriorError::WorkspaceLength),
    LearnerError::Posterior(PosteriorError::OutputLength { expected: 0 }),
    LearnerError::Posterior(PosteriorError::Prior(PriorError::Length { expected: 0 })),
    LearnerError::Posterior(PosteriorError::Coordinate { coordinate: 0 }),
    LearnerError::Posterior(PosteriorError::Coefficient { coordinate: 0 }),
    LearnerError::Posterior(PosteriorError::TwoTasks),
    LearnerError::Posterior(PosteriorError::Response),
    LearnerError::Posterior(PosteriorError::Variance),
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
    RecordError::Room { needed: 0 },
    RecordError::Storage { expected: 0 },
    RecordError::Occupied,
    RecordError::Changed,
    RecordError::Buffer,
];

/// The number of a learner's error. A new error gets a new number at the end of its group; none is ever given twice.
#[inline]
const fn learner_code(error: &LearnerError) -> u8 {
    match error {
        LearnerError::ForeignPolicy => 1,
        LearnerError::ForeignContext => 2,
        LearnerError::UnknownAction => 3,
        LearnerError::Forbidden => 4,
        LearnerError::OutOfOrder => 5,
        LearnerError::Reward => 6,
        LearnerError::Weight => 7,
        LearnerError::Baseline => 8,
        LearnerError::DefaultCount { .. } => 9,
        LearnerError::DefaultRange { .. } => 10,
        LearnerError::UnknownDecision => 11,
        LearnerError::ExpiredDecision => 12,
        LearnerError::DuplicateFeedback => 13,
        LearnerError::Stale => 14,
        LearnerError::Text => 15,
        LearnerError::NotLearned => 16,
        LearnerError::Comparison => 17,
        LearnerError::NotPromoted => 18,
        LearnerError::ProfileFull => 19,
        LearnerError::Exhausted => 20,
        LearnerError::Feasible(error) => match error {
            FeasibleError::Empty => 40,
            FeasibleError::EmptyPattern { .. } => 41,
            FeasibleError::UnknownValue { .. } => 42,
            FeasibleError::RepeatedComponent { .. } => 43,
            FeasibleError::UnknownAction => 44,
        },
        LearnerError::Onboarding(error) => match error {
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
        LearnerError::Posterior(error) => match error {
            PosteriorError::Vacant => 80,
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
        RecordError::Room { .. } => 9,
        RecordError::Storage { .. } => 10,
        RecordError::Occupied => 11,
        RecordError::Changed => 12,
        RecordError::Buffer => 13,
    }
}

impl From<LearnerError> for Fault {
    #[inline]
    fn from(error: LearnerError) -> Self {
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
    pub fn learner_error(&self) -> Option<LearnerError> {
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
                Some(LearnerError::Posterior(PosteriorError::StorageLength { .. })) => {
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
                Some(RecordError::Room { .. }) => f.write_str("the device has no room for all decisions or promotions"),
                Some(RecordError::Storage { .. }) => f.write_str("the device's memory does not fit its catalog"),
                Some(error) => error.fmt(f),
                None => write!(f, "the record cannot be used, with number {code}"),
            },
            Self::Storage(fault) => fault.fmt(f),
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
