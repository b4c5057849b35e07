//! Errors of layouts and of the store.

use core::fmt;
use embedded_storage_async::nor_flash::{NorFlashError, NorFlashErrorKind};
use fable_core::UserError;
use fable_core::record::RecordError;

/// The reason why a region cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum LayoutError {
    /// Pages below 1 KB, words that are not a power of two from 1 to 32 bytes, or priors longer than
    /// snapshots.
    Geometry,
    /// The region does not start or end at a page.
    Misaligned,
    /// The slots and two pages of journal do not fit.
    TooSmall {
        /// Necessary bytes.
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

/// The reason why the store failed. Unless a variant states otherwise, the stored state is as before.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum FlashError {
    /// The flash failed or refused a write. The event was not stored, and
    /// [`ensure_capacity`](crate::UserStore::ensure_capacity) repairs the journal before the next event.
    Driver(NorFlashErrorKind),
    /// The store was not restored or formatted yet.
    Closed,
    /// The region is blank: it was never formatted.
    Unformatted,
    /// The region has other content, or a store that has lost the only record of its user.
    Foreign,
    /// The region was formatted for another layout.
    Layout,
    /// The longest snapshot of this catalog and capacity does not fit into a slot of the layout.
    SlotTooSmall {
        /// Bytes of the snapshot: [`max_len`](fable_core::record::snapshot::max_len).
        needed: u32,
    },
    /// Stored records with acknowledged events are missing or damaged. Nothing was restored.
    Damaged,
    /// The records have another version or scalar, or belong to another catalog ([`RecordError::Catalog`]) or
    /// to other settings ([`RecordError::Policy`]). They are whole. Firmware with that catalog can migrate
    /// the user.
    Record(RecordError),
    /// The user refused the event, or was not started.
    User(UserError),
    /// The user cannot be migrated.
    #[cfg(feature = "migrate")]
    Migrate(fable_core::migrate::MigrateError),
    /// The journal is too small for the event.
    Full,
    /// The user is forgotten, but the old bytes are not erased yet. The next event or a restart tries again.
    Unfinished,
    /// A staged snapshot belongs to another user, and the present user has decisions or rewards.
    ForeignUser,
    /// Staged bytes are not in order.
    Offset {
        /// Offset of the next bytes; 0 starts over.
        expected: u32,
    },
    /// The sequence numbers are used up.
    Exhausted,
    /// The layout has no place for a prior.
    NoPrior,
    /// The incarnation begins from another prior than the policy has. It takes no event before
    /// [`adopt`](super::FlashStore::adopt).
    Outdated,
}

impl FlashError {
    /// Converts an error of the driver.
    #[expect(clippy::needless_pass_by_value, reason = "for map_err")]
    pub(super) fn driver(error: impl NorFlashError) -> Self {
        Self::Driver(error.kind())
    }

    /// Converts an error of the queue.
    pub(super) fn queue<E: NorFlashError>(error: sequential_storage::Error<E>) -> Self {
        match error {
            sequential_storage::Error::Storage { value, .. } => Self::driver(value),
            sequential_storage::Error::FullStorage => Self::Full,
            _ => Self::Damaged,
        }
    }
}

impl From<RecordError> for FlashError {
    fn from(error: RecordError) -> Self {
        Self::Record(error)
    }
}

impl From<UserError> for FlashError {
    fn from(error: UserError) -> Self {
        Self::User(error)
    }
}

impl fmt::Display for FlashError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Driver(kind) => write!(f, "the flash failed: {kind}"),
            Self::Closed => f.write_str("the store was not opened yet"),
            Self::Unformatted => f.write_str("the region is blank and has to be formatted"),
            Self::Foreign => f.write_str("the region holds something else and has to be formatted"),
            Self::Layout => f.write_str("the region was formatted for another layout"),
            Self::SlotTooSmall { needed } => {
                write!(f, "the layout's slots are too small: a snapshot may take {needed} bytes")
            }
            Self::Damaged => f.write_str("stored records are damaged"),
            Self::Record(error) => error.fmt(f),
            Self::User(error) => error.fmt(f),
            #[cfg(feature = "migrate")]
            Self::Migrate(error) => error.fmt(f),
            Self::Full => f.write_str("the journal has no capacity for the event"),
            Self::Unfinished => f.write_str("the user is forgotten, but the old bytes are not erased yet"),
            Self::ForeignUser => f.write_str("the snapshot belongs to another user"),
            Self::Offset { expected } => write!(f, "the next staged bytes belong at offset {expected}"),
            Self::Exhausted => f.write_str("the sequence numbers are used up"),
            Self::NoPrior => f.write_str("the layout has no place for a prior"),
            Self::Outdated => {
                f.write_str("the user begins from another prior, which has to be adopted first")
            }
        }
    }
}

impl core::error::Error for FlashError {}
