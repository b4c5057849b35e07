//! What can be wrong with a store.

use crate::prior_file::PriorFileError;
use fable_core::UserError;
use fable_core::migrate::MigrateError;
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
    /// The tables in the database are of another version.
    Tables {
        /// Their version.
        found: i32,
    },
    /// The URL of a database cannot be used.
    Place(&'static str),
    /// A database does not answer or does not do what it is asked for; nothing has changed.
    Database(String),
    /// The store belongs to another catalog, to other settings or to the other scalar.
    Mismatch {
        /// What differs.
        what: String,
        /// What the store was made with.
        stored: String,
        /// What was asked for now.
        given: String,
    },
    /// The keys of the store cannot be used.
    Key(&'static str),
    /// The store is damaged where it is not known whose data it is.
    Unaccounted,
    /// What is stored about the user is damaged; the others are not touched.
    User(super::Damage),
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
    /// A user cannot be migrated to another catalog.
    Migrate(MigrateError),
    /// Another user has the number of the one who was to be imported.
    Collision,
    /// Others keep on writing about the user.
    Contended,
    /// The store has no such user.
    NoUser,
    /// The store has this user.
    HasUser,
    /// The store's counter of incarnations has reached its end, or its file is as long as one can be.
    Exhausted,
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
            Self::Version { found } => {
                write!(f, "the store's layout has version {found}, this program reads version {}", super::VERSION)
            }
            Self::Tables { found } => {
                write!(f, "the tables in the database have version {found}, this program reads version {}", super::TABLES_VERSION)
            }
            Self::Place(what) => write!(f, "the URL of the database cannot be used: {what}"),
            Self::Database(what) => f.write_str(what),
            Self::Mismatch { what, .. } if what == super::identity::CONTENT => {
                f.write_str("the store was made with a catalog of this name and another shape; `fable migrate` lets its users go on under this one")
            }
            Self::Mismatch { what, stored, given } if what == "catalog" => {
                write!(f, "the store was made with catalog {stored}, not {given}; `fable migrate` lets users go on under another one")
            }
            Self::Mismatch { what, stored, given } => write!(f, "the store was made with {what} {stored}, not {given}"),
            Self::Key(what) => write!(f, "the store cannot be unlocked: {what}"),
            Self::Unaccounted => f.write_str(
                "the store is damaged where it is not known whose data it is; `fable check` says more, and `fable repair` writes a new one with all that can be read",
            ),
            Self::User(damage) => write!(
                f,
                "what is stored about this user is damaged ({damage}); `fable repair` brings back what can be read, a backup has the user as of then, and once forgotten the user can begin anew"
            ),
            Self::Uncertain(error) => write!(f, "it is not known what the store has kept: {error}"),
            Self::Damaged(what) => write!(f, "the store is damaged: {what}"),
            Self::Record(RecordError::Catalog) => {
                f.write_str("the user belongs to another catalog; `fable migrate` lets users go on under this one")
            }
            Self::Record(error) => write!(f, "a record of the user cannot be read: {error}"),
            Self::State(error) => write!(f, "a record of the user does not follow from those before it: {error}"),
            Self::Prior(error) => error.fmt(f),
            Self::Refused(error) => error.fmt(f),
            Self::Migrate(error) => error.fmt(f),
            Self::Collision => f.write_str("another user of the store has the number of this one"),
            Self::Contended => f.write_str("others keep on writing about this user; nothing was changed"),
            Self::NoUser => f.write_str("the store has no such user"),
            Self::HasUser => f.write_str("the store has this user; forget it first"),
            Self::Exhausted => f.write_str("the store is as large, or has forgotten as many users, as it can count"),
            Self::Transfer(error) => error.fmt(f),
            Self::File(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for StoreError {}

impl From<super::damage::Fault> for StoreError {
    fn from(fault: super::damage::Fault) -> Self {
        match fault {
            super::damage::Fault::Damaged(damage) => Self::User(damage),
            super::damage::Fault::Failed(error) => Self::File(error),
        }
    }
}

crate::from!(StoreError: io::Error => File, super::transfer::TransferError => Transfer, UserError => Refused, MigrateError => Migrate, RecordError => Record, PriorFileError => Prior);

impl StoreError {
    /// Whether there was no room for what was to be written: a failure that reaches nothing that was written before.
    pub(super) fn is_want_of_room(&self) -> bool {
        use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
        let Self::File(error) = self else { return false };
        matches!(error.kind(), StorageFull | QuotaExceeded | FileTooLarge)
    }

    /// The same for another one whom it concerns, too.
    pub(super) fn again(&self) -> Self {
        match self {
            Self::Uncertain(error) => Self::Uncertain(Box::new(error.again())),
            Self::File(error) => Self::File(io::Error::new(error.kind(), error.to_string())),
            Self::User(damage) => Self::User(*damage),
            Self::Exhausted => Self::Exhausted,
            Self::NoUser => Self::NoUser,
            other => Self::File(io::Error::other(other.to_string())),
        }
    }

    pub(super) fn uncertain(self) -> Self {
        if matches!(self, Self::Uncertain(_)) { self } else { Self::Uncertain(Box::new(self)) }
    }
}
