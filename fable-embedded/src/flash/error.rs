//! What can go wrong.

use core::fmt;
use embedded_storage_async::nor_flash::{NorFlashError, NorFlashErrorKind};
use fable_core::LearnerError;
use fable_core::record::RecordError;

/// Why a region cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum LayoutError {
    /// Pages below 1 KB, or words that are not 1 to 32 bytes and a power of two.
    Geometry,
    /// The region does not start and end at a page.
    Misaligned,
    /// Two slots and two pages of journal do not fit.
    TooSmall {
        /// Bytes that are needed.
        needed: u32,
    },
}

impl fmt::Display for LayoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Geometry => f.write_str("the flash needs pages of 1 KB or more and words of 1 to 32 bytes"),
            Self::Misaligned => f.write_str("the region must start and end at a page"),
            Self::TooSmall { needed } => write!(f, "the region is too small: {needed} bytes are needed"),
        }
    }
}

impl core::error::Error for LayoutError {}

/// Why the store could not do what it was asked. Unless a variant says otherwise the stored state is as it was before.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum StoreError {
    /// The flash failed, or refused a write. An event that could not be stored was not, and
    /// [`room`](super::Store::room) makes the journal fit for the next one.
    Flash(NorFlashErrorKind),
    /// The store was not opened, restored or formatted yet.
    Closed,
    /// The region is blank: it was never formatted.
    Unformatted,
    /// There is something in the region, but no store.
    Foreign,
    /// The region was formatted for another layout.
    Layout,
    /// Stored records are missing or damaged, and with them events that were acknowledged. Nothing was restored.
    Damaged,
    /// The records cannot be read here: another version, another scalar, another catalog or other settings.
    Record(RecordError),
    /// The learner refused the event, or is vacant.
    Learner(LearnerError),
    /// The journal has no room; call [`room`](super::Store::room) before each event.
    Full,
    /// The user is forgotten, but the old bytes are not erased yet; [`room`](super::Store::room) and a restart try again.
    Unfinished,
    /// A staged snapshot belongs to another user.
    User,
    /// Staged bytes have to come in order.
    Offset {
        /// Where the next ones belong; 0 starts again.
        expected: u32,
    },
    /// The sequence numbers are used up.
    Exhausted,
}

impl StoreError {
    /// The flash's own error, as far as all flashes share it.
    #[expect(clippy::needless_pass_by_value, reason = "for map_err")]
    pub(super) fn flash(error: impl NorFlashError) -> Self {
        Self::Flash(error.kind())
    }

    /// What the queue says.
    pub(super) fn queue<E: NorFlashError>(error: sequential_storage::Error<E>) -> Self {
        match error {
            sequential_storage::Error::Storage { value, .. } => Self::flash(value),
            sequential_storage::Error::FullStorage => Self::Full,
            _ => Self::Damaged,
        }
    }
}

impl From<RecordError> for StoreError {
    fn from(error: RecordError) -> Self {
        Self::Record(error)
    }
}

impl From<LearnerError> for StoreError {
    fn from(error: LearnerError) -> Self {
        Self::Learner(error)
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flash(kind) => write!(f, "the flash failed: {kind}"),
            Self::Closed => f.write_str("the store was not opened yet"),
            Self::Unformatted => f.write_str("the region is blank and has to be formatted"),
            Self::Foreign => f.write_str("the region holds something else and has to be formatted"),
            Self::Layout => f.write_str("the region was formatted for another layout"),
            Self::Damaged => f.write_str("stored records are damaged"),
            Self::Record(error) => error.fmt(f),
            Self::Learner(error) => error.fmt(f),
            Self::Full => f.write_str("the journal has no room for the event"),
            Self::Unfinished => f.write_str("the user is forgotten, but the old bytes are not erased yet"),
            Self::User => f.write_str("the snapshot belongs to another user"),
            Self::Offset { expected } => write!(f, "the next staged bytes belong at offset {expected}"),
            Self::Exhausted => f.write_str("the sequence numbers are used up"),
        }
    }
}

impl core::error::Error for StoreError {}
