//! What can be wrong with a store.

use crate::prior_file::PriorFileError;
use fable_core::UserError;
use fable_core::record::RecordError;
use std::fmt;
use std::io;
use std::path::PathBuf;

/// Why a store cannot be opened, read or written.
#[derive(Debug)]
#[non_exhaustive]
pub enum StoreError {
    /// Another process has the store open.
    InUse,
    /// There is no such file.
    Missing(PathBuf),
    /// The file is not a store.
    Foreign,
    /// The store was written in another layout.
    Version {
        /// Its version.
        found: u8,
    },
    /// The store belongs to another catalog, to other settings or to the other scalar.
    Mismatch {
        /// What differs.
        what: String,
        /// What the store was made with.
        stored: String,
        /// What was asked for now.
        given: String,
    },
    /// The file has a second name, under which erased users would stay.
    Linked,
    /// What the store has kept is not known: a change that has failed may be there, or one that was made before may not.
    Uncertain(Box<Self>),
    /// Something in the store cannot be what was written.
    Damaged(&'static str),
    /// A record of a user cannot be read.
    Record(RecordError),
    /// A record of a user does not follow from those before it.
    State(UserError),
    /// A prior that users began with, or are to begin with, cannot be used.
    Prior(PriorFileError),
    /// What was asked for cannot be done; nothing has changed.
    Refused(UserError),
    /// Another user's name has the same hash.
    Collision,
    /// The store has no such user.
    NoUser,
    /// The store has this user.
    HasUser,
    /// The store's counter of incarnations has reached its end.
    Exhausted,
    /// The database refuses.
    Database(Box<redb::Error>),
    /// An exported file cannot be used.
    Transfer(super::transfer::TransferError),
    /// A file cannot be read or written.
    File(io::Error),
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InUse => f.write_str("the store is in use by another process"),
            Self::Missing(path) => write!(f, "there is no store {}", path.display()),
            Self::Foreign => f.write_str("the file is no store of Fable"),
            Self::Version { found } => write!(f, "the store has version {found}, this program reads version {}", super::VERSION),
            Self::Mismatch { what, stored, given } => write!(f, "the store was made with {what} {stored}, not {given}"),
            Self::Linked => f.write_str("the store's file has a second name (a hard link), which would keep what is erased"),
            Self::Uncertain(error) => write!(f, "it is not known what the store has kept: {error}"),
            Self::Damaged(what) => write!(f, "the store is damaged: {what}"),
            Self::Record(error) => write!(f, "a record of the user cannot be read: {error}"),
            Self::State(error) => write!(f, "a record of the user does not follow from those before it: {error}"),
            Self::Prior(error) => error.fmt(f),
            Self::Refused(error) => error.fmt(f),
            Self::Collision => f.write_str("another user's name has the same hash"),
            Self::NoUser => f.write_str("the store has no such user"),
            Self::HasUser => f.write_str("the store has this user; forget it first"),
            Self::Exhausted => f.write_str("the store has forgotten as many users as it can count"),
            Self::Database(error) => write!(f, "the store cannot be read or written: {error}"),
            Self::Transfer(error) => error.fmt(f),
            Self::File(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for StoreError {}

crate::from!(StoreError: io::Error => File, super::transfer::TransferError => Transfer, UserError => Refused, RecordError => Record, PriorFileError => Prior);

impl StoreError {
    /// Whether there was no room for what was to be written: a failure that reaches nothing that was written before.
    pub(super) fn is_want_of_room(&self) -> bool {
        use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
        let error = match self {
            Self::File(error) => error,
            Self::Database(error) => match &**error {
                redb::Error::Io(error) => error,
                _ => return false,
            },
            _ => return false,
        };
        matches!(error.kind(), StorageFull | QuotaExceeded | FileTooLarge)
    }

    pub(super) fn uncertain(self) -> Self {
        if matches!(self, Self::Uncertain(_)) { self } else { Self::Uncertain(Box::new(self)) }
    }
}

impl From<redb::DatabaseError> for StoreError {
    fn from(error: redb::DatabaseError) -> Self {
        match error {
            redb::DatabaseError::DatabaseAlreadyOpen => Self::InUse,
            error => Self::Database(Box::new(error.into())),
        }
    }
}

macro_rules! from_redb {
    ($($error:ty),*) => {
        $(impl From<$error> for StoreError {
            fn from(error: $error) -> Self {
                Self::Database(Box::new(error.into()))
            }
        })*
    };
}

from_redb!(redb::TransactionError, redb::TableError, redb::StorageError, redb::CommitError, redb::SetDurabilityError);
