//! Refusals: errors as numbers that never change their meaning.

use crate::VERSION;
use crate::codec::messages;
use crate::errors::{Numbered, user_error, user_number};
use core::fmt;
use fable_core::UserError;
use fable_core::catalog::ContextError;
use fable_core::posterior::PosteriorError;
use fable_core::record::RecordError;

messages! {
    /// The reason why a frame or a request was refused. The device's state is as before.
    ///
    /// There is one exception: a request may take several events, such as expiries before a decision. If
    /// storage fails in between, the stored events stay.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[cfg_attr(feature = "defmt", derive(defmt::Format))]
    #[non_exhaustive]
    pub enum Fault {
        /// The bytes are not a frame, or were damaged on the way.
        0 => Malformed,
        /// The frame is longer than [`MAX_FRAME`](crate::MAX_FRAME).
        1 => Oversized,
        /// The frame has another version of the protocol. The reply has the device's version.
        2 => Version {
            /// Version of the frame.
            found: u8,
        },
        /// This version has no such request.
        3 => UnknownRequest,
        /// The frame is whole, but its message or payload cannot be read.
        4 => Content,
        /// Nothing is at the requested position: no share, promotion, contrast or event.
        5 => Missing,
        /// The learner refuses, with the number of a [`UserError`]. See
        /// [`learner_error`](Self::learner_error).
        6 => Learner(number: u8),
        /// The context does not fit the catalog. The number is that of a [`ContextError`].
        7 => Context(number: u8),
        /// A snapshot or an event cannot be used. The number is that of a [`RecordError`].
        8 => Record(number: u8),
        /// The storage failed.
        9 => Storage(fault: StorageFault),
        /// The erase limit is reached until more decisions and rewards are stored, or the application's own
        /// limit is.
        10 => Limited,
        /// The device has a key and refuses unsealed requests.
        11 => Locked,
        /// The seal is of no open session, or its counter was used before.
        12 => Session,
        /// The device has no key.
        13 => Keyless,
    }
}

messages! {
    /// A failure of the place where a device stores its state.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[cfg_attr(feature = "defmt", derive(defmt::Format))]
    #[non_exhaustive]
    pub enum StorageFault {
        /// The device does not store this kind of data.
        0 => Unsupported,
        /// The capacity is used up.
        1 => Full,
        /// The medium reports an error.
        2 => Medium,
        /// Stored bytes are damaged.
        3 => Damaged,
        /// Staged bytes did not start at 0, or left a gap.
        4 => Order,
    }
}

impl From<UserError> for Fault {
    #[inline]
    fn from(error: UserError) -> Self {
        Self::Learner(user_number(&error))
    }
}

impl From<ContextError> for Fault {
    #[inline]
    fn from(error: ContextError) -> Self {
        Self::Context(error.number())
    }
}

impl From<RecordError> for Fault {
    #[inline]
    fn from(error: RecordError) -> Self {
        Self::Record(error.number())
    }
}

impl From<StorageFault> for Fault {
    #[inline]
    fn from(fault: StorageFault) -> Self {
        Self::Storage(fault)
    }
}

impl Fault {
    /// Returns the learner's error, if this version knows it. Its fields were not sent and are 0.
    #[must_use]
    pub fn learner_error(&self) -> Option<UserError> {
        let Self::Learner(number) = self else { return None };
        user_error(*number)
    }

    /// Returns the context's error. Its fields were not sent and are 0.
    #[must_use]
    pub fn context_error(&self) -> Option<ContextError> {
        let Self::Context(number) = self else { return None };
        ContextError::from_number(*number)
    }

    /// Returns the record's error. Its fields were not sent and are 0.
    #[must_use]
    pub fn record_error(&self) -> Option<RecordError> {
        let Self::Record(number) = self else { return None };
        RecordError::from_number(*number)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed => f.write_str("the bytes are not a frame, or were damaged on the way"),
            Self::Oversized => f.write_str("the frame is too long"),
            Self::Version { found } => {
                write!(f, "the frame has version {found} of the protocol, not version {VERSION}")
            }
            Self::UnknownRequest => f.write_str("there is no such request in this version of the protocol"),
            Self::Content => f.write_str("the message cannot be read"),
            Self::Missing => f.write_str("there is nothing at this position"),
            Self::Learner(number) => match self.learner_error() {
                // The fields of these were not sent.
                Some(UserError::Posterior(PosteriorError::StorageLength { .. })) => {
                    f.write_str("the device's memory does not fit its catalog")
                }
                Some(error) => error.fmt(f),
                None => write!(f, "the learner refuses, with number {number}"),
            },
            Self::Context(number) => match self.context_error() {
                Some(ContextError::SignalCount { .. }) => {
                    f.write_str("a context needs each signal of its catalog once")
                }
                Some(ContextError::SignalRange { .. }) => f.write_str("a signal is not a number from 0 to 1"),
                Some(error) => error.fmt(f),
                None => write!(f, "the context cannot be used, with number {number}"),
            },
            Self::Record(number) => match self.record_error() {
                Some(RecordError::Version { .. }) => f.write_str("the record has another version"),
                Some(RecordError::Scalar { .. }) => {
                    f.write_str("the record has numbers of another precision")
                }
                Some(RecordError::Capacity { .. }) => {
                    f.write_str("the device has no capacity for all decisions or promotions")
                }
                Some(RecordError::Storage { .. }) => {
                    f.write_str("the device's memory does not fit its catalog")
                }
                Some(error) => error.fmt(f),
                None => write!(f, "the record cannot be used, with number {number}"),
            },
            Self::Storage(fault) => fault.fmt(f),
            Self::Limited => f.write_str(
                "the request would wear out the storage; it is allowed again after more decisions and rewards, or later",
            ),
            Self::Locked => f.write_str("the device has a key and answers only requests that are sealed with it"),
            Self::Session => {
                f.write_str("the request is sealed with another key, or for a session that has ended")
            }
            Self::Keyless => f.write_str("the device has no key and cannot read sealed requests"),
        }
    }
}

impl fmt::Display for StorageFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unsupported => "the device does not store this kind of data",
            Self::Full => "the device's storage is full",
            Self::Medium => "the device's storage reports an error",
            Self::Damaged => "stored data of the device is damaged",
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
        for error in (0..=u8::MAX).filter_map(user_error) {
            let fault = Fault::from(error);
            assert_eq!(fault.learner_error(), Some(error));
            assert!(!seen.contains(&fault), "{error:?}");
            seen.push(fault);
        }
        assert_eq!(seen.len(), 62);
        for error in (0..=u8::MAX).filter_map(ContextError::from_number) {
            assert_eq!(Fault::from(error).context_error(), Some(error));
        }
        for error in (0..=u8::MAX).filter_map(RecordError::from_number) {
            assert_eq!(Fault::from(error).record_error(), Some(error));
        }
        assert_eq!(Fault::Learner(0).learner_error(), None);
        assert_eq!(Fault::Learner(255).to_string(), "the learner refuses, with number 255");
        assert_eq!(Fault::Learner(13).to_string(), "the decision has had its feedback");
    }
}
