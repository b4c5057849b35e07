//! What can go wrong.

use core::fmt;
use embedded_storage_async::nor_flash::{NorFlashError, NorFlashErrorKind};
use fable_core::UserError;
use fable_core::record::RecordError;

/// Why a region cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum LayoutError {
    /// Pages below 1 KB, words that are not 1 to 32 bytes and a power of two, or priors longer than snapshots.
    Geometry,
    /// The region does not start and end at a page.
    Misaligned,
    /// The slots and two pages of journal do not fit.
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
pub enum FlashError {
    /// The flash failed, or refused a write. An event that could not be stored was not, and
    /// [`make_room`](crate::Keep::make_room) makes the journal fit for the next one.
    Driver(NorFlashErrorKind),
    /// The store was not opened, restored or formatted yet.
    Closed,
    /// The region is blank: it was never formatted.
    Unformatted,
    /// There is something in the region, but no store, or one that has lost the only record that says whose it is.
    Foreign,
    /// The region was formatted for another layout.
    Layout,
    /// The longest snapshot of this catalog, with room for so many decisions, does not fit into a slot of the layout.
    SlotTooSmall {
        /// Its bytes: [`max_len`](fable_core::record::snapshot::max_len).
        needed: u32,
    },
    /// Stored records are missing or damaged, and with them events that were acknowledged. Nothing was restored.
    Damaged,
    /// The records cannot be read here: another version or scalar. They are whole and belong to another catalog
    /// ([`RecordError::Catalog`]) or to other settings ([`RecordError::Policy`]): firmware that knows those can migrate the user.
    Record(RecordError),
    /// The user refused the event, or is vacant.
    User(UserError),
    /// The user cannot be migrated.
    #[cfg(feature = "migrate")]
    Migrate(fable_core::migrate::MigrateError),
    /// The journal is too small for the event.
    Full,
    /// The user is forgotten, but the old bytes are not erased yet; the next event and a restart try again.
    Unfinished,
    /// A staged snapshot belongs to another user, and something has happened with the one who is there.
    ForeignUser,
    /// Staged bytes have to come in order.
    Offset {
        /// Where the next ones belong; 0 starts again.
        expected: u32,
    },
    /// The sequence numbers are used up.
    Exhausted,
    /// The layout has no place for a prior.
    NoPrior,
    /// The incarnation begins from another prior than the policy has, and takes no event before
    /// [`adopt`](super::FlashStore::adopt).
    Outdated,
}

impl FlashError {
    /// The flash's own error, as far as all flashes share it.
    #[expect(clippy::needless_pass_by_value, reason = "for map_err")]
    pub(super) fn driver(error: impl NorFlashError) -> Self {
        Self::Driver(error.kind())
    }

    /// What the queue says.
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
            Self::Full => f.write_str("the journal has no room for the event"),
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
