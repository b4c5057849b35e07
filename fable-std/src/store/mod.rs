//! Durable stores of many users: one trait, [`Store`], and two places where users can be kept.
//!
//! | place | who writes | |
//! |---|---|---|
//! | a file, [`FileStore`] | one process | everything sealed with a key of the user's own; a damaged disk is noticed, forgetting destroys the key |
//! | PostgreSQL, [`PostgresStore`] | any number of processes, on any number of machines | `(user, seq)` decides who was first, and whoever was not reads again and proposes again |
//!
//! Either way a user is a row (name, header, first incarnation), the words of their own rules, a journal of events and now and then a snapshot, and what was
//! exchanged with an assistant if that is kept, see [`memory`](crate::memory); a learner is the last snapshot with the events after it applied. What [`commit`](Store::commit) returns from is durable, all of it or nothing.
//! [`Resident`] is a user in memory, [`Writes`] what a commit changes, [`transfer`] a user as a file, [`movement`] takes everyone from
//! one store to another, and [`migration`] from one catalog to another.
//!
//! ```
//! use fable_core::{Policy, Settings, catalog::TAU2};
//! use fable_std::store::{FileStore, Identity, Store};
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("users.fable");
//! let policy = Policy::<f64>::new(&TAU2, Settings::default())?;
//! let store: Box<dyn Store> = Box::new(FileStore::open(&path, &Identity::new(&policy))?);
//! assert_eq!(store.users()?, 0);
//! let second = FileStore::open(&path, &Identity::new(&policy));
//! assert_eq!(second.unwrap_err().to_string(), "the store is in use by another process");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod damage;
mod error;
mod file;
mod identity;
pub mod journal;
pub mod migration;
pub mod movement;
mod postgres;
mod priors;
mod resident;
mod row;
mod stated;
pub mod transfer;
pub mod wishes;
mod writes;

pub use damage::Damage;
pub use error::StoreError;
pub use file::{FileStore, Loss, Repaired, Report, Secret, VERSION};
pub use identity::Identity;
pub use postgres::{Place, PostgresStore, TABLES_VERSION, is_url};
pub use priors::{Policies, Priors};
pub use resident::{Desk, Resident, SNAPSHOT_EVERY, Sink};
pub use row::{MAX_NAME, UserRow};
pub use stated::stated;
pub use writes::{Remembered, Writes};

use crate::memory::{Bounds, Memory};
use journal::Segment;
use std::collections::HashMap;
use std::fmt;
use std::path::Path;

/// Opens the store at a path or at the URL of a database, or makes one where there is none.
///
/// # Errors
/// As for [`FileStore::open`] and [`PostgresStore::open`].
pub fn open(place: &Path, identity: &Identity, options: &Options) -> Result<Box<dyn Store>, StoreError> {
    match url(place)? {
        Some(place) => Ok(Box::new(PostgresStore::open(&place, identity, options)?)),
        None => Ok(Box::new(FileStore::open_with(place, identity, options)?)),
    }
}

/// Opens an existing store at a path or at the URL of a database, whatever it belongs to.
///
/// # Errors
/// As for [`FileStore::open_any`] and [`PostgresStore::open_any`].
pub fn open_any(place: &Path, options: &Options) -> Result<Box<dyn Store>, StoreError> {
    match url(place)? {
        Some(place) => Ok(Box::new(PostgresStore::open_any(&place, options)?)),
        None => Ok(Box::new(FileStore::open_any_with(place, options)?)),
    }
}

/// How the place of a store may be shown: a URL without its password.
///
/// ```
/// use std::path::Path;
/// let shown = |place: &str| fable_std::store::shown(Path::new(place));
/// assert_eq!(shown("users.fable"), "users.fable");
/// assert_eq!(shown("postgres://ana:secret@localhost/fable"), "postgres://ana@localhost:5432/fable");
/// assert_eq!(shown("postgres://ana:secret@local@host/fable"), "the database"); // no URL of a database
/// ```
#[must_use]
pub fn shown(place: &Path) -> String {
    match url(place) {
        Ok(Some(place)) => place.to_string(),
        Ok(None) if !is_url(place) => place.display().to_string(),
        _ => "the database".to_owned(),
    }
}

/// What the store at a place belongs to; `None` where there is none yet.
///
/// # Errors
/// As for [`open_any`], except that a store may be in use.
pub fn identity_at(place: &Path, options: &Options) -> Result<Option<Identity>, StoreError> {
    let found = match url(place)? {
        Some(place) => PostgresStore::open_any(&place, options).and_then(|store| store.identity()),
        None => FileStore::identity_at(place, options),
    };
    match found {
        Ok(identity) => Ok(Some(identity)),
        Err(StoreError::Missing(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

fn url(place: &Path) -> Result<Option<Place>, StoreError> {
    place.to_str().filter(|_| is_url(place)).map(Place::parse).transpose()
}

/// The number of a user is the hash of the name, or one that was free less than this after it.
const NEAR: u64 = 256;

/// A place where users are kept. Reading and committing may happen on different threads.
pub trait Store: fmt::Debug + Send + Sync {
    /// What the store belongs to.
    ///
    /// # Errors
    /// A store that cannot be read.
    fn identity(&self) -> Result<Identity, StoreError>;

    /// The incarnation in which users start from now on.
    ///
    /// # Errors
    /// A store that cannot be read.
    fn incarnation(&self) -> Result<u32, StoreError>;

    /// Number of users.
    ///
    /// # Errors
    /// A store that cannot be read.
    fn users(&self) -> Result<u64, StoreError>;

    /// The numbers of all users, in order.
    ///
    /// # Errors
    /// A store that cannot be read.
    fn everyone(&self) -> Result<Vec<u64>, StoreError>;

    /// The number of the user with a name.
    ///
    /// # Errors
    /// As for [`user`](Self::user); also when it cannot be known whether there is such a user.
    fn find(&self, name: &str) -> Result<Option<u64>, StoreError>;

    /// The number of the user with a name, damaged or not.
    ///
    /// # Errors
    /// A store that cannot be read.
    fn holder(&self, name: &str) -> Result<Option<u64>, StoreError> {
        self.find(name)
    }

    /// Whether some user has a number.
    ///
    /// # Errors
    /// A store that cannot be read.
    fn has(&self, number: u64) -> Result<bool, StoreError>;

    /// One user, with everything that was committed; `None` when there is none.
    ///
    /// # Errors
    /// A store that cannot be read, or a user of whom something is damaged.
    fn user(&self, number: u64, reach: Reach) -> Result<Option<Stored>, StoreError>;

    /// What was exchanged with a user, as far as it is kept; nothing where there is no such user.
    ///
    /// # Errors
    /// A store that cannot be read, or a memory that is damaged: the user goes on without it.
    fn memory(&self, number: u64) -> Result<Memory, StoreError>;

    /// The prior of the policy with a fingerprint; `None` when the store has none.
    ///
    /// # Errors
    /// A store or a prior that cannot be read.
    fn prior(&self, fingerprint: u64) -> Result<Option<Vec<u8>>, StoreError>;

    /// The fingerprints of the policies with all priors that users began with.
    ///
    /// # Errors
    /// A store that cannot be read.
    fn priors(&self) -> Result<Vec<u64>, StoreError>;

    /// Commits changes, all or nothing of every user. With `sync` they are durable when this returns; without, they are some time later.
    /// Several that are committed at the same time are written together.
    ///
    /// Returns the users of whom nothing was written because somebody else wrote first: what is known about them here is not what the
    /// store has, so they have to be read again. In a store that belongs to one process there is never one.
    ///
    /// # Errors
    /// A store that cannot be written; it is as before then, unless the error is [`StoreError::Uncertain`].
    fn commit(&self, writes: Writes, sync: bool) -> Result<Vec<u64>, StoreError>;

    /// The users whose number is not the hash of their name, where everybody can be known.
    fn moved(&self) -> HashMap<String, u64> {
        HashMap::new()
    }

    /// Whether others may write, too, so that users in memory have to be [looked after](Self::since).
    fn is_shared(&self) -> bool {
        false
    }

    /// What has happened to users in memory since; those to whom nothing has are left out.
    ///
    /// # Errors
    /// A store that cannot be read.
    fn since(&self, known: &[Known]) -> Result<Vec<(u64, News)>, StoreError> {
        let _ = known;
        Ok(Vec::new())
    }

    /// Makes everything that was committed durable.
    ///
    /// # Errors
    /// [`StoreError::Uncertain`], when the store cannot be written.
    fn sync(&self) -> Result<(), StoreError> {
        Ok(())
    }

    /// What can be done while nobody waits.
    fn idle(&self) {}

    /// Looks at everyone once, little by little, until `stop` says so: what is damaged is found before somebody needs it.
    fn watch(&self, stop: &dyn Fn() -> bool) {
        let _ = stop;
    }

    /// Number of users of whom something is known to be damaged.
    fn damaged(&self) -> u64 {
        0
    }

    /// Bytes that the store takes; 0 where that is not known.
    fn bytes(&self) -> u64 {
        0
    }

    /// Whether a path leads to a file of the store's own.
    fn is_at(&self, path: &Path) -> bool {
        let _ = path;
        false
    }

    /// Copies all of the store into a new file, while it is in use.
    ///
    /// # Errors
    /// A path at which there is something, a disk that cannot be written, or a store that is not copied so.
    fn backup(&self, path: &Path, progress: &mut dyn FnMut(u64, u64)) -> Result<u64, StoreError>;

    /// A number for a new user: the hash of the name if it is free.
    ///
    /// # Errors
    /// A store that cannot be read.
    fn number_for(&self, name: &str) -> Result<u64, StoreError> {
        let mut number = fable_core::user_hash(name);
        while self.has(number)? {
            number = number.wrapping_add(1);
        }
        Ok(number)
    }

    /// One user with everything that is kept, the prior and the memory.
    ///
    /// # Errors
    /// As for [`user`](Self::user).
    fn whole(&self, number: u64) -> Result<Option<Stored>, StoreError> {
        let Some(mut stored) = self.user(number, Reach::Whole)? else { return Ok(None) };
        stored.prior = self.prior(stored.row.header.fingerprint)?;
        stored.memory = self.memory(number)?;
        Ok(Some(stored))
    }

    /// The user with a name, with everything that is kept.
    ///
    /// # Errors
    /// [`StoreError::NoUser`], or as for [`user`](Self::user).
    fn named(&self, name: &str) -> Result<Stored, StoreError> {
        let number = self.find(name)?.ok_or(StoreError::NoUser)?;
        self.whole(number)?.ok_or(StoreError::NoUser)
    }

    /// Erases users; which of them there were. A user who is damaged can be erased, too.
    ///
    /// # Errors
    /// A store that cannot be read or written; nobody is forgotten then, unless the error is [`StoreError::Uncertain`].
    fn forget<'n>(&self, names: &[&'n str]) -> Result<Vec<&'n str>, StoreError> {
        let (mut writes, mut incarnation, mut erased) = (Writes::default(), self.incarnation()?, Vec::new());
        for name in names {
            let Some(number) = self.holder(name)? else { continue };
            if !erased.contains(name) {
                incarnation = incarnation.checked_add(1).ok_or(StoreError::Exhausted)?;
                erased.push(*name);
                writes.erase(number, incarnation);
            }
        }
        if writes.erases() {
            self.commit(writes, true)?;
        }
        Ok(erased)
    }
}

/// A user in memory, as far as a shared store has to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Known {
    /// The number.
    pub number: u64,
    /// Which life of that number.
    pub birth: u64,
    /// Entries of the journal that are known.
    pub entries: u64,
}

/// What has happened to a user in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum News {
    /// Others have added these.
    Entries(Vec<Segment>),
    /// The user has to be read anew, or is not there any more.
    Anew,
}

/// How a store is kept.
#[derive(Clone, Debug)]
pub struct Options {
    /// The store's own key, if it is not to be in the file beside the store.
    pub key: Option<Secret>,
    /// How much of a user is kept.
    pub history: History,
    /// Bytes that the file may have beyond twice of what it had when it was last written anew.
    pub slack: u64,
    /// How much is kept of what is exchanged with a user from now on.
    pub memory: Bounds,
}

impl Default for Options {
    fn default() -> Self {
        Self { key: None, history: History::AsItIs, slack: 32 << 20, memory: Bounds::default() }
    }
}

/// How many events are kept of a user. What came before them is a snapshot: the user goes on as before, but a reward from then cannot be
/// taken back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum History {
    /// As the store has it; a new one keeps the last [`History::EVENTS`].
    AsItIs,
    /// The last so many, and half of them at the least.
    Last(std::num::NonZeroU64),
    /// All of them.
    All,
}

impl History {
    /// The events that a store keeps of a user when nothing else is said.
    pub const EVENTS: u64 = 4_096;

    const fn or(self, kept: Option<u64>) -> Option<u64> {
        match self {
            Self::AsItIs => kept,
            Self::Last(events) => Some(events.get()),
            Self::All => None,
        }
    }
}
/// One user as stored.
#[derive(Clone, Debug)]
pub struct Stored {
    /// Name, header and first incarnation.
    pub row: UserRow,
    /// A snapshot and the number of entries it has seen: the last one, or the one that the kept history begins with.
    pub snapshot: Option<(u64, Vec<u8>)>,
    /// The journal, or at least what is after the snapshot.
    pub journal: Vec<Segment>,
    /// Which life of the number it is, where a store is shared: one who is forgotten and comes again has another. 0 elsewhere.
    pub birth: u64,
    /// The words of the user's own rules, see [`wishes`]; empty if there are none.
    pub wishes: Vec<u8>,
    /// The prior that the user began with, if it is not the isotropic one and all of the user was asked for.
    pub prior: Option<Vec<u8>>,
    /// What was exchanged with an assistant, if all of the user was asked for.
    pub memory: Memory,
}

/// How much of a journal is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// What is after the last snapshot.
    Snapshot,
    /// Everything that is kept.
    Whole,
}
