//! A durable store of many users in one file: names, journals and snapshots, on [redb](https://docs.rs/redb).
//!
//! Everything that ever happened to a user is kept, as `fable_core`'s event records; a snapshot every few hundred events
//! makes getting a user back fast, and a learner is a snapshot with the events after it applied. What a commit returns
//! from is on disk, whatever happens to the process after; opening takes milliseconds, after a crash too.
//!
//! | table | key | value |
//! |---|---|---|
//! | `meta` | `format`, `identity`, `incarnation`, `commits` | [`VERSION`]; an [`Identity`]; where new users start; a count |
//! | `users` | hash of the user | journal header, first incarnation, name |
//! | `log` | number of the commit | the entries of that commit, each after its user and position |
//! | `journal` | hash of the user, position | entries from there on, see [`journal`] |
//! | `snapshots` | hash of the user | number of entries it has seen, snapshot |
//! | `constraints` | hash of the user | the hard rules that the user has set, see [`constraints`] |
//! | `priors` | fingerprint of the policy with it | a prior that users began with, see [`Priors`] |
//!
//! A commit appends one row to the log, whoever its users are; a page per user and commit would be a hundred times as much to
//! write. When the log has grown, it is folded into the journal, a segment per user. A store has one process at a time.
//!
//! *Forgetting* erases: a database leaves stale bytes in freed pages, so all other users are copied into a new file that
//! takes the place of the old one in one step. Nothing about the user stays, not even that there was one; instead everyone
//! who comes later starts in an incarnation that was never used before, so that no decision id is given twice. A file that has
//! a second name, a hard link, is refused: what is erased would stay under the other one. Whoever comes back under the same name
//! is a new user, with the prior that new users have then.
//!
//! ```
//! use fable_core::{Policy, Settings, catalog::TAU2};
//! use fable_std::store::{Identity, Store};
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("users.fable");
//! let policy = Policy::<f64>::new(&TAU2, Settings::default())?;
//! let store = Store::open(&path, &Identity::new(&policy))?;
//! assert_eq!(store.users()?, 0);
//! let second = Store::open(&path, &Identity::new(&policy));
//! assert_eq!(second.unwrap_err().to_string(), "the store is in use by another process");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod constraints;
mod error;
mod file;
mod identity;
pub mod journal;
mod priors;
mod resident;
mod tables;
pub mod transfer;
mod writes;

pub use error::StoreError;
pub use identity::Identity;
pub use priors::{Policies, Priors};
pub use resident::{Desk, Resident, SNAPSHOT_EVERY, Sink};
pub use tables::{MAX_NAME, UserRow};
pub use writes::Writes;

use journal::Segment;
use redb::{Database, Durability, ReadTransaction, ReadableDatabase, ReadableTable, ReadableTableMetadata, TableDefinition};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock};
use tables::{
    COMMITS, CONSTRAINTS, FORMAT, IDENTITY, INCARNATION, JOURNAL, LOG, META, PRIORS, SNAPSHOTS, USERS, read_log, split_snapshot,
};

/// The version of the tables.
pub const VERSION: u8 = 3;

/// A store. Reading and committing may happen on different threads.
#[derive(Debug)]
pub struct Store {
    /// Where it is, if not in memory.
    path: Option<PathBuf>,
    /// Taken out only while the file is opened anew.
    database: RwLock<Option<Database>>,
}

/// One user as stored.
#[derive(Clone, Debug)]
pub struct Stored {
    /// Name, header and first incarnation.
    pub row: UserRow,
    /// The last snapshot and the number of entries it has seen.
    pub snapshot: Option<(u64, Vec<u8>)>,
    /// The journal, or at least what is after the snapshot; without the log.
    pub journal: Vec<Segment>,
    /// The user's hard constraints, see [`constraints`]; empty if there are none.
    pub constraints: Vec<u8>,
    /// The prior that the user began with, if it is not the isotropic one and all of the user was asked for.
    pub prior: Option<Vec<u8>>,
}

/// How much of a journal is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// What is after the snapshot.
    Snapshot,
    /// Everything, and no snapshot.
    Whole,
}

impl Store {
    /// Opens a store, or makes one where there is none.
    ///
    /// # Errors
    /// A store that is in use, of another identity or version, or no store at all.
    pub fn open(path: &Path, identity: &Identity) -> Result<Self, StoreError> {
        let path = file::resolve(path)?;
        let store = match file::create(&path, |database| initialize(database, identity))? {
            Some(database) => Self { path: Some(path), database: RwLock::new(Some(database)) },
            None => Self::existing(path)?,
        };
        store.identity()?.admit(identity)?;
        Ok(store)
    }

    /// Opens an existing store, whatever it belongs to.
    ///
    /// # Errors
    /// As for [`open`](Self::open), and a file that is not there.
    pub fn open_any(path: &Path) -> Result<Self, StoreError> {
        Self::existing(file::resolve(path).map_err(|error| file::missing(path, error))?)
    }

    fn existing(path: PathBuf) -> Result<Self, StoreError> {
        let database = file::open(&path)?;
        file::clean(&path);
        let store = Self { path: Some(path), database: RwLock::new(Some(database)) };
        let version = store.read(|transaction| meta(transaction, FORMAT))?;
        match version.as_deref() {
            Some([VERSION]) => Ok(store),
            Some([found]) => Err(StoreError::Version { found: *found }),
            _ => Err(StoreError::Foreign),
        }
    }

    /// A store that ends with the process.
    ///
    /// # Errors
    /// Only what the database reports.
    pub fn in_memory(identity: &Identity) -> Result<Self, StoreError> {
        let database = file::in_memory()?;
        initialize(&database, identity)?;
        Ok(Self { path: None, database: RwLock::new(Some(database)) })
    }

    /// What the store belongs to.
    ///
    /// # Errors
    /// A store that cannot be read.
    pub fn identity(&self) -> Result<Identity, StoreError> {
        let bytes = self.read(|transaction| meta(transaction, IDENTITY))?;
        Identity::decode(&bytes.ok_or(StoreError::Foreign)?)
    }

    /// The incarnation in which users start from now on.
    ///
    /// # Errors
    /// A store that cannot be read.
    pub fn incarnation(&self) -> Result<u32, StoreError> {
        let bytes = self.read(|transaction| meta(transaction, INCARNATION))?;
        let bytes = bytes.as_deref().and_then(|bytes| bytes.try_into().ok());
        bytes.map(u32::from_le_bytes).ok_or(StoreError::Damaged("its incarnation cannot be read"))
    }

    /// Number of users.
    ///
    /// # Errors
    /// A store that cannot be read.
    pub fn users(&self) -> Result<u64, StoreError> {
        self.read(|transaction| table(transaction, USERS)?.map_or(Ok(0), |users| Ok(users.len()?)))
    }

    /// The hashes of all users, in order.
    ///
    /// # Errors
    /// A store that cannot be read.
    pub fn everyone(&self) -> Result<Vec<u64>, StoreError> {
        self.read(|transaction| {
            let Some(users) = table(transaction, USERS)? else { return Ok(Vec::new()) };
            users.iter()?.map(|row| Ok(row?.0.value())).collect()
        })
    }

    /// Whether a path leads to the store's own file.
    #[must_use]
    pub fn is_at(&self, path: &Path) -> bool {
        let Some(own) = &self.path else { return false };
        let one = || Some(cfg!(unix) && file::same(&own.metadata().ok()?, &path.metadata().ok()?));
        file::resolve(path).is_ok_and(|path| path == *own) || one().unwrap_or(false)
    }

    /// Bytes of the file; 0 in memory.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.path.as_ref().and_then(|path| path.metadata().ok()).map_or(0, |metadata| metadata.len())
    }

    /// The entries that are not yet in the journal, by user.
    ///
    /// # Errors
    /// A store that cannot be read.
    pub fn log(&self) -> Result<HashMap<u64, Segment>, StoreError> {
        self.read(|transaction| {
            let mut segments = HashMap::new();
            if let Some(log) = table(transaction, LOG)? {
                for row in log.iter()? {
                    read_log(row?.1.value(), &mut segments)?;
                }
            }
            Ok(segments)
        })
    }

    /// One user, without what the log has; `None` when there is none.
    ///
    /// # Errors
    /// A store that cannot be read.
    pub fn user(&self, hash: u64, reach: Reach) -> Result<Option<Stored>, StoreError> {
        self.read(|transaction| {
            let Some(users) = table(transaction, USERS)? else { return Ok(None) };
            let Some(row) = users.get(hash)? else { return Ok(None) };
            let row = UserRow::decode(row.value())?;
            let mut snapshot = None;
            if reach == Reach::Snapshot
                && let Some(snapshots) = table(transaction, SNAPSHOTS)?
                && let Some(found) = snapshots.get(hash)?
            {
                let (seen, bytes) = split_snapshot(found.value())?;
                snapshot = Some((seen, bytes.to_vec()));
            }
            let seen = snapshot.as_ref().map_or(0, |(seen, _)| *seen);
            let mut journal = Vec::new();
            if let Some(table) = table(transaction, JOURNAL)? {
                // The segment that the snapshot ends in, and those after it.
                let start = table.range((hash, 0)..=(hash, seen))?.next_back().transpose()?.map_or(0, |(key, _)| key.value().1);
                for segment in table.range((hash, start)..=(hash, u64::MAX))? {
                    let (key, bytes) = segment?;
                    journal.push(Segment::read(key.value().1, bytes.value())?);
                }
            }
            let constraints = table(transaction, CONSTRAINTS)?.and_then(|table| table.get(hash).transpose()).transpose()?;
            let constraints = constraints.map_or_else(Vec::new, |found| found.value().to_vec());
            Ok(Some(Stored { row, snapshot, journal, constraints, prior: None }))
        })
    }

    /// One user with everything that was ever committed.
    ///
    /// # Errors
    /// A store that cannot be read.
    pub fn whole(&self, hash: u64) -> Result<Option<Stored>, StoreError> {
        let Some(mut stored) = self.user(hash, Reach::Whole)? else { return Ok(None) };
        stored.journal.extend(self.log()?.remove(&hash));
        stored.prior = self.prior(stored.row.header.fingerprint)?;
        Ok(Some(stored))
    }

    /// The prior of the policy with a fingerprint; `None` when the store has none.
    ///
    /// # Errors
    /// A store that cannot be read.
    pub fn prior(&self, fingerprint: u64) -> Result<Option<Vec<u8>>, StoreError> {
        self.read(|transaction| {
            let Some(priors) = table(transaction, PRIORS)? else { return Ok(None) };
            Ok(priors.get(fingerprint)?.map(|found| found.value().to_vec()))
        })
    }

    /// All priors that users began with, by the fingerprint of the policy with each.
    ///
    /// # Errors
    /// A store that cannot be read.
    pub fn priors(&self) -> Result<HashMap<u64, Vec<u8>>, StoreError> {
        self.read(|transaction| {
            let Some(priors) = table(transaction, PRIORS)? else { return Ok(HashMap::new()) };
            let row =
                |(key, bytes): (redb::AccessGuard<'_, u64>, redb::AccessGuard<'_, &[u8]>)| (key.value(), bytes.value().to_vec());
            priors.iter()?.map(|found| Ok(row(found?))).collect()
        })
    }

    /// The user with a name, with everything that was ever committed.
    ///
    /// # Errors
    /// [`StoreError::NoUser`], or a store that cannot be read.
    pub fn named(&self, name: &str) -> Result<Stored, StoreError> {
        let stored = self.whole(fable_core::user_hash(name))?;
        stored.filter(|stored| stored.row.name == name).ok_or(StoreError::NoUser)
    }

    /// Erases users; which of them there were.
    ///
    /// # Errors
    /// A store that cannot be read or written; nobody is forgotten then, unless the error is [`StoreError::Uncertain`].
    pub fn forget<'n>(&self, names: &[&'n str]) -> Result<Vec<&'n str>, StoreError> {
        let (mut writes, mut log, mut incarnation, mut erased) =
            (Writes::default(), self.log()?, self.incarnation()?, Vec::new());
        for name in names {
            let user = fable_core::user_hash(name);
            match self.user(user, Reach::Snapshot)? {
                Some(stored) if stored.row.name != *name => continue,
                Some(_) if !erased.contains(name) => {
                    incarnation = incarnation.checked_add(1).ok_or(StoreError::Exhausted)?;
                    erased.push(*name);
                }
                _ => {} // a crash in the middle of a commit may have left something of a user who is not there
            }
            log.remove(&user);
            writes.erase(user, incarnation);
        }
        if writes.erases() {
            writes.fold(log.iter().map(|(user, segment)| (*user, segment)));
            self.commit(&writes, true)?;
        }
        Ok(erased)
    }

    /// Commits changes, all or nothing. With `sync` they are on disk when this returns; without, they are some time later,
    /// in order.
    ///
    /// # Errors
    /// A store that cannot be written; it is as before then, unless the error is [`StoreError::Uncertain`].
    pub fn commit(&self, writes: &Writes, sync: bool) -> Result<(), StoreError> {
        if writes.erases() {
            return self.rewrite(writes);
        }
        let before = self.commits().map_err(StoreError::uncertain)?;
        let done = self.with(|database| {
            let transaction = begin(database, sync)?;
            writes.apply(&transaction)?;
            transaction.open_table(META)?.insert(COMMITS, &(before + 1).to_le_bytes()[..])?;
            Ok(transaction.commit()?)
        });
        match done {
            Ok(()) => Ok(()),
            Err(error) if error.is_want_of_room() => {
                self.reopen();
                // The commit may have been made before the error, and earlier ones that were not yet on disk may be lost.
                if self.commits().is_ok_and(|now| now == before) { Err(error) } else { Err(error.uncertain()) }
            }
            // After any other failure of a disk, what is read back need not be what is on it.
            Err(error) => Err(error.uncertain()),
        }
    }

    /// Commits since the store was made.
    fn commits(&self) -> Result<u64, StoreError> {
        let bytes = self.read(|transaction| meta(transaction, COMMITS))?;
        let bytes = bytes.as_deref().and_then(|bytes| bytes.try_into().ok());
        bytes.map(u64::from_le_bytes).ok_or(StoreError::Damaged("its number of commits cannot be read"))
    }

    /// Makes everything that was committed durable.
    ///
    /// # Errors
    /// [`StoreError::Uncertain`], when the store cannot be written.
    pub fn sync(&self) -> Result<(), StoreError> {
        self.with(|database| Ok(begin(database, true)?.commit()?)).map_err(StoreError::uncertain)
    }

    /// Copies everything but the erased users into a new file, adds the writes, and puts it into the place of the old one.
    fn rewrite(&self, writes: &Writes) -> Result<(), StoreError> {
        let started = std::time::Instant::now();
        if !writes.folded {
            return Err(StoreError::Damaged("a log with erased users was not folded"));
        }
        let fill = |database: &Database| {
            self.read(|old| {
                let transaction = begin(database, true)?;
                copy(old, &transaction, META, |_| true)?;
                copy(old, &transaction, USERS, |user| !writes.erased.contains(&user))?;
                copy(old, &transaction, SNAPSHOTS, |user| !writes.erased.contains(&user))?;
                copy(old, &transaction, PRIORS, |_| true)?;
                copy(old, &transaction, CONSTRAINTS, |user| !writes.erased.contains(&user))?;
                copy(old, &transaction, JOURNAL, |(user, _)| !writes.erased.contains(&user))?;
                writes.apply(&transaction)?;
                Ok(transaction.commit()?)
            })
        };
        let (new, synced) = if let Some(path) = &self.path {
            file::replace(path, fill)?
        } else {
            let database = file::in_memory()?;
            fill(&database)?;
            (database, Ok(()))
        };
        *self.database.write().unwrap_or_else(PoisonError::into_inner) = Some(new);
        tracing::info!(erased = writes.erased.len(), bytes = self.bytes(), took = ?started.elapsed(), "the store was written anew");
        synced.map_err(|error| StoreError::from(error).uncertain())
    }

    /// After a write that failed a database refuses to write until it was opened anew.
    fn reopen(&self) {
        let Some(path) = &self.path else { return };
        let mut database = self.database.write().unwrap_or_else(PoisonError::into_inner);
        *database = None; // gives the lock on the file back
        match file::open(path) {
            Ok(opened) => *database = Some(opened),
            Err(error) => tracing::error!(%error, "the store cannot be opened again"),
        }
    }

    fn with<R>(&self, work: impl FnOnce(&Database) -> Result<R, StoreError>) -> Result<R, StoreError> {
        if self.database.read().unwrap_or_else(PoisonError::into_inner).is_none() {
            self.reopen();
        }
        let database = self.database.read().unwrap_or_else(PoisonError::into_inner);
        work(database.as_ref().ok_or(StoreError::Damaged("it could not be opened again"))?)
    }

    fn read<R>(&self, work: impl FnOnce(&ReadTransaction) -> Result<R, StoreError>) -> Result<R, StoreError> {
        self.with(|database| work(&database.begin_read()?))
    }
}

/// A transaction after which the file opens fast even when the process is killed.
fn begin(database: &Database, sync: bool) -> Result<redb::WriteTransaction, StoreError> {
    let mut transaction = database.begin_write()?;
    if sync {
        transaction.set_quick_repair(true);
    } else {
        transaction.set_durability(Durability::None)?;
    }
    Ok(transaction)
}

fn initialize(database: &Database, identity: &Identity) -> Result<(), StoreError> {
    let transaction = begin(database, true)?;
    {
        let mut meta = transaction.open_table(META)?;
        meta.insert(FORMAT, &[VERSION][..])?;
        meta.insert(IDENTITY, identity.encode().as_slice())?;
        meta.insert(INCARNATION, &0_u32.to_le_bytes()[..])?;
        meta.insert(COMMITS, &0_u64.to_le_bytes()[..])?;
    }
    Ok(transaction.commit()?)
}

/// A table, if anything was ever written to it.
fn table<K: redb::Key, V: redb::Value>(
    transaction: &ReadTransaction,
    definition: TableDefinition<'_, K, V>,
) -> Result<Option<redb::ReadOnlyTable<K, V>>, StoreError> {
    match transaction.open_table(definition) {
        Ok(table) => Ok(Some(table)),
        Err(redb::TableError::TableDoesNotExist(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn meta(transaction: &ReadTransaction, key: &str) -> Result<Option<Vec<u8>>, StoreError> {
    let Some(meta) = table(transaction, META)? else { return Ok(None) };
    Ok(meta.get(key)?.map(|value| value.value().to_vec()))
}

/// Copies the rows that are kept.
fn copy<K: redb::Key, V: redb::Value>(
    from: &ReadTransaction,
    to: &redb::WriteTransaction,
    definition: TableDefinition<'static, K, V>,
    keep: impl for<'k> Fn(K::SelfType<'k>) -> bool,
) -> Result<(), StoreError> {
    let Some(old) = table(from, definition)? else { return Ok(()) };
    let mut new = to.open_table(definition)?;
    for row in old.iter()? {
        let (key, value) = row?;
        if keep(key.value()) {
            new.insert(key.value(), value.value())?;
        }
    }
    Ok(())
}
