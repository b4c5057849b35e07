//! A durable store of many users that assumes that disks lie.
//!
//! Everything about a user, the name included, is sealed with a key of the user's own: what is damaged does not open, and is never
//! taken for anything. A snapshot every few hundred events makes getting a user back fast, and a learner is a snapshot with the events
//! after it applied. What a commit returns from is on disk, whatever happens to the process after.
//!
//! | file | what it has |
//! |---|---|
//! | `users.fable` | the users, in groups that are only ever appended: see [`Layout`](#layout) |
//! | `users.fable.key` | the keys, each twice; 64 bytes a user and copy |
//! | `users.fable.index` | where everything is; it can be made from the other two |
//!
//! A store has one process at a time; [`check`](Store::check) and [`backup`](Store::backup) may look at one that is in use.
//!
//! *Damage* is found when a user is read, by a check, and in the whole file when the store was not closed. The user it touches gets
//! [`StoreError::User`] and decides nothing; everyone else goes on. A snapshot that does not check is made again from the journal. What
//! cannot be attributed to anybody, in two places at once, is [`StoreError::Unaccounted`] for everyone until it is repaired.
//!
//! *Forgetting* destroys the user's key, in both copies, and answers when that is on disk. What the key has sealed stays in the file as
//! bytes that nobody can read until the file is next written anew. Nothing says that there was such a user; everyone who comes later starts in an
//! incarnation that was never used before, so that no decision id is given twice.
//!
//! *Growth*: of every user the last [`History`] events are kept, the journal behind them is a snapshot. When the file is more
//! than twice as long as when it was last written anew, it is written anew, while it is in use.
//!
//! # Layout
#![doc = include_str!("layout.md")]
//!
//! ```
//! use fable_core::{Policy, Settings, catalog::TAU2};
//! use fable_std::store::{Identity, Store};
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("users.fable");
//! let policy = Policy::<f64>::new(&TAU2, Settings::default())?;
//! let store = Store::open(&path, &Identity::new(&policy))?;
//! assert_eq!(store.users(), 0);
//! let second = Store::open(&path, &Identity::new(&policy));
//! assert_eq!(second.unwrap_err().to_string(), "the store is in use by another process");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod check;
mod commit;
pub mod constraints;
mod damage;
mod error;
mod file;
mod frame;
mod home;
mod identity;
mod index;
pub mod journal;
mod keys;
mod medium;
mod open;
mod priors;
mod reader;
mod resident;
mod rewrite;
mod row;
mod seal;
#[cfg(test)]
mod tests;
pub mod transfer;
mod writes;

pub use check::{Repaired, Report};
pub use damage::Damage;
pub use error::StoreError;
pub use identity::Identity;
pub use priors::{Policies, Priors};
pub use resident::{Desk, Resident, SNAPSHOT_EVERY, Sink};
pub use rewrite::Loss;
pub use row::{MAX_NAME, UserRow};
pub use seal::Secret;
pub use writes::Writes;

use commit::Press;
use damage::Fault;
use fable_core::user_hash;
use frame::{About, Data, START};
use home::Home;
use index::{Change, Entry, Index, Mirror};
use journal::Segment;
use keys::{FIRST, INDEX, Keys};
use medium::{Locked, Memory};
use reader::Reader;
use rewrite::Copy;
use seal::Nonces;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The version of the store's file and of its index.
pub const VERSION: u8 = 4;

/// Users up to which the index is written anew at once when it has to be.
const SMALL: usize = 4_096;
/// Users that may have changed while the file was written anew: they are copied while the others wait.
const FEW: usize = 256;

/// How long a store is open before it is written anew.
const PATIENCE: Duration = Duration::from_secs(10);
/// The number of a user is the hash of the name, or one that was free less than this after it.
const NEAR: u64 = 256;

/// How a store is kept.
#[derive(Clone, Debug)]
pub struct Options {
    /// The store's own key, if it is not to be in the file beside the store.
    pub key: Option<Secret>,
    /// How much of a user is kept.
    pub history: History,
    /// Bytes that the file may have beyond twice of what it had when it was last written anew.
    pub slack: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self { key: None, history: History::AsItIs, slack: 32 << 20 }
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

/// A store. Reading and committing may happen on different threads.
#[derive(Debug)]
pub struct Store {
    home: Home,
    slack: u64,
    history: Option<u64>,
    keys: Arc<Keys>,
    shared: Arc<RwLock<Shared>>,
    writer: Mutex<Writer>,
    /// When it was opened, and where its file ended.
    opened: (Instant, u64),
    /// Whether what goes on in the background has to end.
    closed: Arc<AtomicBool>,
}

/// What everyone reads.
#[derive(Debug)]
struct Shared {
    data: Arc<Data>,
    index: Index,
    /// Users whose number is not the hash of their name.
    moved: HashMap<String, u64>,
    /// Such users whose name cannot be read.
    nameless: BTreeSet<u64>,
    /// Users of whom something could not be read, and no commit says so yet.
    damaged: BTreeMap<u64, Damage>,
    /// Number of users of whom the index says that something is lost.
    marked: usize,
}

/// What only a commit needs.
#[derive(Debug)]
struct Writer {
    /// Where the next group goes.
    end: u64,
    /// Up to where the file is known to be on disk.
    synced: u64,
    /// The number of the last group.
    number: u64,
    /// The index's file; without it the next opening takes longer.
    mirror: Option<Mirror>,
    /// What the index's file does not have, since it is not known to be on disk.
    pending: Vec<Change>,
    free: Vec<u32>,
    nonces: Nonces,
    /// Whether the store's file has to be closed.
    open: bool,
    /// Whether it is not known what the store has kept.
    uncertain: bool,
    rewrite: Rewriting,
}

impl Writer {
    fn is_certain(&self) -> Result<(), StoreError> {
        let again = || io::Error::other("a write has failed, and the store has to be opened anew");
        if self.uncertain { Err(StoreError::from(again()).uncertain()) } else { Ok(()) }
    }
}

/// The file being written anew.
#[derive(Debug)]
enum Rewriting {
    /// When it is longer than this.
    At(u64),
    /// By a thread; what of every user it has copied comes with it.
    By(JoinHandle<Result<Successor, StoreError>>),
}

/// A file that will take the place of the store's.
#[derive(Debug)]
struct Successor {
    copy: Copy,
    /// The index that it is a copy of.
    of: Index,
    draft: Option<file::Draft>,
}

/// One user as stored.
#[derive(Clone, Debug)]
pub struct Stored {
    /// Name, header and first incarnation.
    pub row: UserRow,
    /// A snapshot and the number of entries it has seen: the last one, or the one that the kept history begins with.
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
    /// What is after the last snapshot.
    Snapshot,
    /// Everything that is kept.
    Whole,
}

impl Store {
    /// Opens a store, or makes one where there is none.
    ///
    /// # Errors
    /// A store that is in use, of another identity or version, or no store at all.
    pub fn open(path: &Path, identity: &Identity) -> Result<Self, StoreError> {
        Self::open_with(path, identity, &Options::default())
    }

    /// The same with other options.
    ///
    /// # Errors
    /// As for [`open`](Self::open), and a key that is not the store's.
    pub fn open_with(path: &Path, identity: &Identity, options: &Options) -> Result<Self, StoreError> {
        let path = file::resolve(path)?;
        let store = match file::claim(&path)? {
            Some((claim, ours)) => {
                let made = Self::create(&path, identity, options);
                if made.is_err() && ours {
                    let _ = std::fs::remove_file(&path); // as it was before
                }
                let (data, keys) = made?;
                drop(claim);
                Self::assemble(Home::Path(path), data, keys, options)?
            }
            None => Self::existing(path, options)?,
        };
        store.identity()?.admit(identity)?;
        Ok(store)
    }

    /// Opens an existing store, whatever it belongs to.
    ///
    /// # Errors
    /// As for [`open`](Self::open), and a file that is not there.
    pub fn open_any(path: &Path) -> Result<Self, StoreError> {
        Self::open_any_with(path, &Options::default())
    }

    /// The same with other options.
    ///
    /// # Errors
    /// As for [`open_any`](Self::open_any), and a key that is not the store's.
    pub fn open_any_with(path: &Path, options: &Options) -> Result<Self, StoreError> {
        Self::existing(file::resolve(path).map_err(|error| file::missing(path, error))?, options)
    }

    /// Makes the files of a new store.
    fn create(path: &Path, identity: &Identity, options: &Options) -> Result<(Data, Keys), StoreError> {
        // A store has an index as soon as it was ever open: its users are not to be taken for new ones.
        if std::fs::metadata(file::index(path)).is_ok_and(|index| index.len() > 0) {
            return Err(StoreError::Damaged(
                "its file is empty or missing, while its index is there; without that, too, it begins anew",
            ));
        }
        let (draft, file) = file::Draft::begin(path)?;
        let (keys, new) = file::open_keys(path, true, true)?;
        let make = if new { Keys::create } else { Keys::open };
        let keys = make(Box::new(keys), options.key.as_ref())?;
        let about = About { history: options.history.or(Some(History::EVENTS)), identity: identity.encode() };
        let mut data = Data::create(Box::new(Locked(file)), &keys, &about)?;
        data.finish(&keys, START)?;
        data.medium.sync()?;
        file::sync_folder(path)?;
        draft.place()??;
        Ok((data, keys))
    }

    fn existing(path: PathBuf, options: &Options) -> Result<Self, StoreError> {
        let (data, id) = Data::open(Box::new(Locked(file::open(&path, true)?)))?;
        file::clean(&path);
        let keys = open_keys(&path, &id, options, true)?;
        Self::assemble(Home::Path(path), data, keys, options)
    }

    /// A store that ends with the process.
    ///
    /// # Errors
    /// A system that has no random numbers.
    pub fn in_memory(identity: &Identity) -> Result<Self, StoreError> {
        let keys = Keys::create(Box::new(Memory::default()), None)?;
        let about = About { history: Some(History::EVENTS), identity: identity.encode() };
        let mut data = Data::create(Box::new(Memory::default()), &keys, &about)?;
        data.finish(&keys, START)?;
        Self::assemble(Home::Memory, data, keys, &Options::default())
    }

    fn assemble(home: Home, mut data: Data, keys: Keys, options: &Options) -> Result<Self, StoreError> {
        let mut about = data.about_store(&keys)?;
        let history = options.history.or(about.history);
        if history != about.history {
            about.history = history;
            data.set_about(&keys, &about)?;
            let live = data.live;
            data.finish(&keys, live)?;
            data.medium.sync()?;
        }
        let mirror = home.index().and_then(Result::ok);
        let found = open::find(&data, &keys, mirror, history, (true, false))?;
        if found.unaccounted > 0 {
            return Err(StoreError::Unaccounted);
        }
        if found.damaged > 0 {
            tracing::error!(groups = found.damaged, "the store is damaged; `fable check` says whom it touches");
        }
        if !found.closed {
            if data.medium.len()? > found.end {
                data.medium.set_len(found.end)?; // what was under way when the machine stopped
            }
            // What a process has left that was stopped may not be on disk, and what is cut off now must not come back.
            data.medium.sync()?;
        }
        let (mut moved, mut nameless, mut damaged) = (HashMap::new(), BTreeSet::new(), BTreeMap::new());
        let reader = Reader { data: &data, keys: &keys };
        for (number, entry) in found.index.users.iter().filter(|(_, entry)| entry.moved) {
            match reader.key(entry).and_then(|key| reader.row(*number, entry, &key)) {
                Ok(row) => drop(moved.insert(row.name, *number)),
                Err(Fault::Damaged(damage)) => {
                    nameless.insert(*number);
                    if entry.lost == 0 {
                        damaged.insert(*number, damage);
                    }
                }
                Err(Fault::Failed(error)) => return Err(error.into()),
            }
        }
        let mut used = vec![false; keys.slots() as usize];
        for entry in found.index.users.values() {
            if let Some(slot) = used.get_mut(entry.slot as usize) {
                *slot = true;
            }
        }
        let writer = Writer {
            end: found.end,
            synced: found.end,
            number: found.number,
            mirror: found.mirror.filter(|_| found.closed),
            pending: Vec::new(),
            free: (FIRST..keys.slots()).filter(|slot| used.get(*slot as usize) == Some(&false)).collect(),
            nonces: Nonces::new()?,
            open: !found.closed,
            uncertain: false,
            rewrite: Rewriting::At(2 * data.live + options.slack),
        };
        let marked = found.index.users.values().filter(|entry| entry.lost != 0).count();
        let shared = Shared { data: Arc::new(data), index: found.index, moved, nameless, damaged, marked };
        let (keys, shared) = (Arc::new(keys), Arc::new(RwLock::new(shared)));
        let opened = (Instant::now(), writer.end);
        let (slack, writer, closed) = (options.slack, Mutex::new(writer), Arc::default());
        let store = Self { home, slack, history, keys, shared, writer, opened, closed };
        if !found.closed {
            store.reflect(&mut store.writer());
        }
        Ok(store)
    }

    fn read(&self) -> RwLockReadGuard<'_, Shared> {
        self.shared.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self) -> RwLockWriteGuard<'_, Shared> {
        self.shared.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn writer(&self) -> MutexGuard<'_, Writer> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the store belongs to.
    ///
    /// # Errors
    /// A store that cannot be read.
    pub fn identity(&self) -> Result<Identity, StoreError> {
        Identity::decode(&self.read().data.about_store(&self.keys)?.identity)
    }

    /// The incarnation in which users start from now on.
    ///
    /// # Errors
    /// A store that cannot be read.
    pub fn incarnation(&self) -> Result<u32, StoreError> {
        self.keys.incarnation()
    }

    /// Number of users.
    #[must_use]
    pub fn users(&self) -> u64 {
        self.read().index.users.len() as u64
    }

    /// Number of users of whom something is known to be damaged.
    #[must_use]
    pub fn damaged(&self) -> u64 {
        let shared = self.read();
        (shared.marked + shared.damaged.len()) as u64
    }

    /// The numbers of all users, in order.
    #[must_use]
    pub fn everyone(&self) -> Vec<u64> {
        self.read().index.users.keys().copied().collect()
    }

    /// The users whose number is not the hash of their name.
    #[must_use]
    pub fn moved(&self) -> HashMap<String, u64> {
        self.read().moved.clone()
    }

    /// Whether a path leads to the store's own file.
    #[must_use]
    pub fn is_at(&self, path: &Path) -> bool {
        let Some(own) = self.home.path() else { return false };
        [own.to_owned(), file::keys(own), file::index(own)].iter().any(|own| {
            let one = || Some(cfg!(unix) && file::same(&own.metadata().ok()?, &path.metadata().ok()?));
            file::resolve(path).is_ok_and(|path| path == *own) || one().unwrap_or(false)
        })
    }

    /// Bytes of the file; 0 in memory.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.home.path().and_then(|path| path.metadata().ok()).map_or(0, |metadata| metadata.len())
    }

    /// Remembers that something of a user cannot be read, if it is still there.
    fn found_damaged(&self, number: u64, entry: &Entry, damage: Damage) -> StoreError {
        let mut shared = self.change();
        if shared.index.users.get(&number).is_some_and(|now| now.row == entry.row)
            && shared.damaged.insert(number, damage).is_none()
        {
            tracing::error!(%damage, user = format_args!("{number:016x}"), "what is stored about a user is damaged");
        }
        StoreError::User(damage)
    }

    /// Works on what is kept about a user; what is found damaged is remembered.
    fn about<R>(
        &self,
        number: u64,
        work: impl FnOnce(Reader<'_>, &Entry, &Index) -> Result<R, Fault>,
    ) -> Result<Option<R>, StoreError> {
        let shared = self.read();
        let Some(entry) = shared.index.users.get(&number) else { return Ok(None) };
        if let Some(damage) = Damage::of(entry.lost).or_else(|| shared.damaged.get(&number).copied()) {
            return Err(StoreError::User(damage));
        }
        let (entry, data) = (entry.clone(), Arc::clone(&shared.data));
        match work(Reader { data: &data, keys: &self.keys }, &entry, &shared.index) {
            Ok(result) => Ok(Some(result)),
            Err(Fault::Failed(error)) => Err(error.into()),
            Err(Fault::Damaged(damage)) => {
                drop(shared);
                Err(self.found_damaged(number, &entry, damage))
            }
        }
    }

    /// The entries that are not yet in the journal, by user; without the users of whom they cannot be read.
    ///
    /// # Errors
    /// A store that cannot be read.
    pub fn log(&self) -> Result<HashMap<u64, Segment>, StoreError> {
        let numbers: Vec<u64> = self.read().index.log.keys().copied().collect();
        let mut segments = HashMap::new();
        for number in numbers {
            match self.newest(number) {
                Ok(found) => drop(found.and_then(|segment| segments.insert(number, segment))),
                Err(StoreError::User(_)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(segments)
    }

    /// The entries of one user that are not yet in the journal.
    fn newest(&self, number: u64) -> Result<Option<Segment>, StoreError> {
        Ok(self.about(number, |reader, entry, index| reader.log(entry, index.log_of(number)))?.flatten())
    }

    /// One user, without what the log has; `None` when there is none.
    ///
    /// # Errors
    /// A store that cannot be read, or a user of whom something is damaged.
    pub fn user(&self, number: u64, reach: Reach) -> Result<Option<Stored>, StoreError> {
        self.about(number, |reader, entry, _| reader.stored(number, entry, reach))
    }

    /// One user with everything that is kept.
    ///
    /// # Errors
    /// As for [`user`](Self::user).
    pub fn whole(&self, number: u64) -> Result<Option<Stored>, StoreError> {
        let found = self.about(number, |reader, entry, index| reader.whole(number, entry, index.log_of(number)))?;
        let Some(mut stored) = found else { return Ok(None) };
        stored.prior = self.prior(stored.row.header.fingerprint)?;
        Ok(Some(stored))
    }

    /// The number of the user with a name.
    ///
    /// # Errors
    /// As for [`user`](Self::user); also when it cannot be known whether there is such a user.
    pub fn find(&self, name: &str) -> Result<Option<u64>, StoreError> {
        let number = user_hash(name);
        if let Some(moved) = self.read().moved.get(name) {
            return Ok(Some(*moved));
        }
        let row = self.about(number, |reader, entry, _| reader.row(number, entry, &reader.key(entry)?))?;
        match row {
            Some(row) if row.name == name => Ok(Some(number)),
            _ if self.nameless(number).is_some() => Err(StoreError::User(Damage::Row)),
            _ => Ok(None),
        }
    }

    /// A user whose name cannot be read, and may be one with this hash: the number was free close to it.
    fn nameless(&self, hash: u64) -> Option<u64> {
        self.read().nameless.iter().copied().find(|number| number.wrapping_sub(hash) < NEAR)
    }

    /// The number of the user with a name, damaged or not.
    ///
    /// # Errors
    /// A store that cannot be read.
    pub fn holder(&self, name: &str) -> Result<Option<u64>, StoreError> {
        let number = user_hash(name);
        match self.find(name) {
            Err(StoreError::User(_)) => match self.about(number, |reader, entry, _| reader.key(entry)) {
                Err(StoreError::User(_)) => Ok(Some(number)),
                _ => Ok(self.nameless(number)),
            },
            found => found,
        }
    }

    /// A number for a new user: the hash of the name if it is free.
    #[must_use]
    pub fn number_for(&self, name: &str) -> u64 {
        let shared = self.read();
        let mut number = user_hash(name);
        while shared.index.users.contains_key(&number) {
            number = number.wrapping_add(1);
        }
        number
    }

    /// Whether some user has a number.
    #[must_use]
    pub fn has(&self, number: u64) -> bool {
        self.read().index.users.contains_key(&number)
    }

    /// The prior of the policy with a fingerprint; `None` when the store has none.
    ///
    /// # Errors
    /// A store or a prior that cannot be read.
    pub fn prior(&self, fingerprint: u64) -> Result<Option<Vec<u8>>, StoreError> {
        let shared = self.read();
        let Some(place) = shared.index.priors.get(&fingerprint) else { return Ok(None) };
        let found = Reader { data: &shared.data, keys: &self.keys }.prior(fingerprint, *place);
        Ok(Some(found.map_err(|unread| unread.of(Damage::Prior))?))
    }

    /// The fingerprints of the policies with all priors that users began with.
    #[must_use]
    pub fn priors(&self) -> Vec<u64> {
        self.read().index.priors.keys().copied().collect()
    }

    /// The user with a name, with everything that is kept.
    ///
    /// # Errors
    /// [`StoreError::NoUser`], or as for [`user`](Self::user).
    pub fn named(&self, name: &str) -> Result<Stored, StoreError> {
        let number = self.find(name)?.ok_or(StoreError::NoUser)?;
        self.whole(number)?.ok_or(StoreError::NoUser)
    }

    /// Erases users; which of them there were. A user who is damaged can be erased, too.
    ///
    /// # Errors
    /// A store that cannot be read or written; nobody is forgotten then, unless the error is [`StoreError::Uncertain`].
    pub fn forget<'n>(&self, names: &[&'n str]) -> Result<Vec<&'n str>, StoreError> {
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
            self.commit(&writes, true)?;
        }
        Ok(erased)
    }

    /// Commits changes, all or nothing. With `sync` they are on disk when this returns; without, they are some time later,
    /// in order. Erasing comes first, needs no room, and is on disk in any case.
    ///
    /// # Errors
    /// A store that cannot be written; it is as before then but for who was erased, unless the error is [`StoreError::Uncertain`]. After
    /// that nothing is committed any more: opened anew, the store knows what it has.
    pub fn commit(&self, writes: &Writes, sync: bool) -> Result<(), StoreError> {
        let writer = &mut *self.writer();
        let done = writer.is_certain().and_then(|()| self.write(writer, writes, sync));
        writer.uncertain |= matches!(done, Err(StoreError::Uncertain(_)));
        done
    }

    fn write(&self, writer: &mut Writer, writes: &Writes, sync: bool) -> Result<(), StoreError> {
        if writes.erases() {
            self.erase(writer, writes).map_err(StoreError::uncertain)?;
        }
        // Also after somebody who came and was erased in one commit.
        if let Some(incarnation) = writes.incarnation
            && incarnation > self.incarnation()?
        {
            self.keys.start_in(incarnation).map_err(StoreError::uncertain)?;
        }
        self.stock(writer, writes.users.len())?;
        let draft = {
            let shared = self.read();
            let (data, index, history) = (&*shared.data, &shared.index, self.history);
            let press = Press { data, keys: &self.keys, nonces: &writer.nonces, index, history };
            // Forgetting is to need no room; but once the log is moved, nothing else tells that a part of it is damaged.
            let lost = if writes.erases() && !writes.folded { &BTreeMap::new() } else { &shared.damaged };
            press.group(writer.end, writes, lost, &writer.free)?
        };
        if !draft.group.is_empty() {
            self.append(writer, draft, writes)?;
        }
        if sync {
            self.settle(writer).map_err(StoreError::uncertain)?;
        }
        self.tend(writer);
        Ok(())
    }

    /// Sees to it that the last so many free slots have keys.
    fn stock(&self, writer: &mut Writer, wanted: usize) -> Result<(), StoreError> {
        let mut sound = Vec::with_capacity(wanted);
        while sound.len() < wanted
            && let Some(slot) = writer.free.pop()
        {
            // One whose key is damaged is left out.
            sound.extend(self.keys.slot(slot)?.map(|_| slot));
        }
        let missing = wanted - sound.len();
        writer.free.extend(sound.into_iter().rev());
        if missing > 0 {
            let before = self.keys.slots();
            self.keys.grow(u32::try_from(missing).unwrap_or(u32::MAX).max(before / 8))?;
            // The file may have been longer: users whose keys are gone keep their slots.
            let shared = self.read();
            let used: HashSet<u32> = shared.index.users.values().map(|entry| entry.slot).filter(|slot| *slot >= before).collect();
            writer.free.extend((before..self.keys.slots()).filter(|slot| !used.contains(slot)));
        }
        Ok(())
    }

    /// Writes a group and lets it have happened.
    fn append(&self, writer: &mut Writer, mut draft: commit::Draft, writes: &Writes) -> Result<(), StoreError> {
        let data = Arc::clone(&self.read().data);
        let (start, end) = (draft.group.start(), draft.group.end());
        if let Err(error) = data.medium.write(start, draft.group.finish(writer.number + 1, writer.synced)) {
            let error = StoreError::from(error);
            // After a failure that is not want of room, what is read back need not be what is on the disk.
            let undone = data.medium.set_len(start).is_ok();
            return Err(if undone && error.is_want_of_room() { error } else { error.uncertain() });
        }
        (writer.end, writer.number, writer.open) = (end, writer.number + 1, true);
        writer.free.truncate(writer.free.len() - draft.taken);
        let mut shared = self.change();
        for change in &draft.changes {
            if let Change::Put(number, entry) = change
                && entry.lost != 0
                && shared.damaged.remove(number).is_some()
            {
                shared.marked += 1;
            }
            shared.index.apply(change.clone());
        }
        for (number, row) in writes.users.iter().filter(|(number, row)| user_hash(&row.name) != **number) {
            shared.moved.insert(row.name.clone(), *number);
        }
        writer.pending.append(&mut draft.changes);
        Ok(())
    }

    /// Destroys the keys of users.
    fn erase(&self, writer: &mut Writer, writes: &Writes) -> Result<(), StoreError> {
        let slots: Vec<(u64, (u32, u32))> = {
            let shared = self.read();
            let key = |number| shared.index.users.get(number).map(|entry| (entry.slot, entry.generation));
            writes.erased.iter().filter_map(|number| Some((*number, key(number)?))).collect()
        };
        if slots.is_empty() {
            return Ok(());
        }
        let now = self.incarnation()?;
        let next = now.checked_add(slots.len() as u32).ok_or(StoreError::Exhausted)?;
        let gone: Vec<(u32, u32)> = slots.iter().map(|(_, key)| *key).collect();
        writer.open = true;
        self.keys.destroy(&gone, next.max(writes.incarnation.unwrap_or(0)))?;
        writer.mirror = None; // nobody can read it any more
        writer.free.extend(gone.into_iter().map(|(slot, _)| slot));
        let mut shared = self.change();
        for (number, _) in &slots {
            shared.nameless.remove(number);
            let marked = shared.index.users.get(number).is_some_and(|entry| entry.lost != 0);
            shared.marked -= usize::from(marked && shared.marked > 0);
            shared.index.remove(*number);
            shared.damaged.remove(number);
            shared.moved.retain(|_, moved| moved != number);
        }
        Ok(())
    }

    /// Makes everything that was committed durable.
    ///
    /// # Errors
    /// [`StoreError::Uncertain`], when the store cannot be written.
    pub fn sync(&self) -> Result<(), StoreError> {
        let writer = &mut *self.writer();
        let done = self.settle(writer).map_err(StoreError::uncertain);
        writer.uncertain |= done.is_err();
        done
    }

    /// Syncs the store's file, and tells the index then.
    fn settle(&self, writer: &mut Writer) -> Result<(), StoreError> {
        writer.is_certain()?;
        if writer.pending.is_empty() {
            return Ok(());
        }
        let data = Arc::clone(&self.read().data);
        data.medium.sync()?;
        writer.synced = writer.end;
        let changes = std::mem::take(&mut writer.pending);
        let at = (writer.end, writer.number);
        if let Some(mirror) = &mut writer.mirror
            && let Err(error) = mirror.add(at, &changes)
        {
            tracing::warn!(%error, "the index cannot be written; opening will take longer");
            writer.mirror = None;
        }
        Ok(())
    }

    /// Writes the index's file anew. Everything that was committed has to be on disk.
    fn reflect(&self, writer: &mut Writer) {
        let Some(file) = self.home.index() else { return };
        writer.mirror = None;
        let shared = self.read();
        let made = || -> Result<Mirror, StoreError> {
            let key = self.keys.slot(INDEX)?.ok_or(StoreError::Key("the key of its index is damaged"))?;
            Ok(Mirror::create(file?, &shared.data, key, &shared.index, (writer.end, writer.number))?)
        };
        match made() {
            Ok(mirror) => writer.mirror = Some(mirror),
            Err(error) => tracing::warn!(%error, "the index cannot be written; opening will take longer"),
        }
    }

    /// What is due after a commit.
    fn tend(&self, writer: &mut Writer) {
        if writer.pending.is_empty() && self.home.has_index() {
            let users = self.read().index.users.len();
            let long = |mirror: &Mirror| mirror.has_grown_to(300, 8 << 20);
            if writer.mirror.as_ref().map_or(users <= SMALL, long) {
                self.reflect(writer);
            }
        }
        self.renew(writer);
    }

    /// What can be done while nobody waits.
    pub fn idle(&self) {
        let writer = &mut *self.writer();
        if writer.open && writer.mirror.is_none() && self.settle(writer).is_ok() {
            self.reflect(writer);
        }
        self.renew(writer);
    }

    /// Writes the file anew when it has grown enough, on a thread of its own.
    fn renew(&self, writer: &mut Writer) {
        match &writer.rewrite {
            Rewriting::At(limit) if writer.end > *limit && self.is_at_home(writer) => {
                let (home, keys, shared) = (self.home.clone(), Arc::clone(&self.keys), Arc::clone(&self.shared));
                let history = self.history;
                let closed = Arc::clone(&self.closed);
                let work = move || succeed(&home, &keys, &shared, history, &closed);
                match std::thread::Builder::new().name("rewrite".into()).spawn(work) {
                    Ok(thread) => writer.rewrite = Rewriting::By(thread),
                    Err(error) => tracing::warn!(%error, "the store cannot be written anew"),
                }
            }
            Rewriting::By(thread) if thread.is_finished() => {
                let limit = 2 * writer.end + self.slack; // if it fails, it is tried again then
                let Rewriting::By(thread) = std::mem::replace(&mut writer.rewrite, Rewriting::At(limit)) else { return };
                let done = thread.join().unwrap_or(Err(StoreError::Damaged("the thread that writes it anew has failed")));
                let done = done.and_then(|successor| self.settle(writer).and_then(|()| self.replace(writer, successor)));
                match done {
                    Ok(()) => tracing::info!(bytes = writer.end, "the store was written anew"),
                    Err(error) => tracing::warn!(%error, "the store could not be written anew and stays as it is"),
                }
            }
            _ => {}
        }
    }

    /// Whether the store is open for long, or writes much: nothing that is done in a moment begins to write it anew.
    fn is_at_home(&self, writer: &Writer) -> bool {
        self.opened.0.elapsed() > PATIENCE || writer.end > self.opened.1 + self.slack
    }

    /// Puts a new file into the place of the store's.
    fn replace(&self, writer: &mut Writer, successor: Successor) -> Result<(), StoreError> {
        let Successor { mut copy, of, draft } = successor;
        let mut shared = self.change();
        catch_up(&mut copy, Reader { data: &shared.data, keys: &self.keys }, &of, &shared.index)?;
        copy.finish(&self.keys)?;
        let synced = self.home.place(draft)?;
        (writer.end, writer.synced, writer.number) = (copy.end(), copy.end(), copy.number);
        writer.rewrite = Rewriting::At(2 * copy.data.live + self.slack);
        shared.index = copy.index;
        shared.data = Arc::new(copy.data);
        drop(shared);
        self.reflect(writer);
        Ok(synced?)
    }

    /// Copies all of the store into a new one at another path, while it is in use.
    ///
    /// # Errors
    /// A path at which there is something, a disk that cannot be written, or users of whom something is damaged.
    pub fn backup(&self, path: &Path, mut progress: impl FnMut(u64, u64)) -> Result<u64, StoreError> {
        let (data, index) = {
            let shared = self.read();
            (Arc::clone(&shared.data), shared.index.clone())
        };
        let target = Target::begin(path, &data.about_store(&self.keys)?, &self.keys)?;
        let (bytes, _) = target.fill(Reader { data: &data, keys: &self.keys }, &index, None, &mut progress)?;
        Ok(bytes)
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        self.closed.store(true, Ordering::Relaxed);
        let writer = &mut *self.writer();
        if let Rewriting::By(thread) = std::mem::replace(&mut writer.rewrite, Rewriting::At(u64::MAX)) {
            drop(thread.join()); // what it has written is removed with it
        }
        if !writer.open || self.settle(writer).is_err() {
            return;
        }
        // One that has grown is written anew: the next opening reads all of it.
        if writer.mirror.as_ref().is_none_or(|mirror| mirror.has_grown_to(125, 64 << 10)) {
            self.reflect(writer);
        }
        let at = (writer.end, writer.number);
        if let Some(mirror) = &mut writer.mirror
            && let Err(error) = mirror.close(at)
        {
            tracing::warn!(%error, "the index cannot be written; opening will take longer");
        }
    }
}

/// The keys of a store's file.
fn open_keys(path: &Path, id: &[u8; 16], options: &Options, write: bool) -> Result<Keys, StoreError> {
    let (file, _) = file::open_keys(path, write, false)?;
    let keys = Keys::open(Box::new(file), options.key.as_ref())?;
    if keys.id() == id { Ok(keys) } else { Err(StoreError::Key("the key file beside it belongs to another store")) }
}

/// Copies everything that is needed into a new file, until only a few users have changed meanwhile.
fn succeed(
    home: &Home,
    keys: &Keys,
    shared: &RwLock<Shared>,
    history: Option<u64>,
    closed: &AtomicBool,
) -> Result<Successor, StoreError> {
    let now = || {
        let shared = shared.read().unwrap_or_else(PoisonError::into_inner);
        (Arc::clone(&shared.data), shared.index.clone())
    };
    let (data, mut of) = now();
    let (draft, medium) = home.draft()?;
    let reader = Reader { data: &data, keys };
    let mut copy = Copy::begin(Data::create(medium, keys, &data.about_store(keys)?)?, history)?;
    let go_on = &mut |_, _| if closed.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
    copy.all(reader, keys, &of, None, go_on)?;
    loop {
        let (_, index) = now();
        let changed = index.users.iter().filter(|(number, entry)| of.users.get(number) != Some(entry)).count();
        catch_up(&mut copy, reader, &of, &index)?;
        of = index;
        if changed < FEW {
            copy.data.medium.sync()?;
            return Ok(Successor { copy, of, draft });
        }
    }
}

/// Copies what has changed since.
fn catch_up(copy: &mut Copy, reader: Reader<'_>, of: &Index, index: &Index) -> Result<(), StoreError> {
    let gone: Vec<u64> = copy.index.users.keys().filter(|number| !index.users.contains_key(number)).copied().collect();
    for number in gone {
        copy.index.remove(number);
    }
    for (fingerprint, place) in index.priors.iter().filter(|(fingerprint, place)| of.priors.get(fingerprint) != Some(place)) {
        copy.prior(reader, *fingerprint, *place)?;
    }
    for (number, entry) in index.users.iter().filter(|(number, entry)| of.users.get(number) != Some(entry)) {
        unless_forgotten(copy.user(reader, *number, entry), reader, entry)?;
    }
    copy.index.log.clear();
    copy.fold(reader, &index.log)?;
    for (number, places) in &index.log {
        let entry = index.users.get(number).ok_or(StoreError::NoUser)?;
        for place in places {
            unless_forgotten(copy.log(reader, *number, entry, *place), reader, entry)?;
        }
    }
    Ok(())
}

/// Whoever is forgotten while a copy is made need not be in it.
fn unless_forgotten(copied: Result<(), StoreError>, reader: Reader<'_>, entry: &Entry) -> Result<(), StoreError> {
    if copied.is_err() && reader.is_forgotten(entry) { Ok(()) } else { copied }
}

/// A new store in the making, at a path where there was none.
struct Target {
    path: PathBuf,
    copy: Copy,
    keys: Keys,
    draft: Option<file::Draft>,
    _claim: std::fs::File,
}

impl Target {
    /// Begins one with the keys of another.
    fn begin(path: &Path, about: &About, keys: &Keys) -> Result<Self, StoreError> {
        let path = file::resolve(path)?;
        let exists = |path: &Path| {
            StoreError::File(io::Error::new(io::ErrorKind::AlreadyExists, format!("{} is there already", path.display())))
        };
        for other in [file::keys(&path), file::index(&path)] {
            if other.exists() {
                return Err(exists(&other));
            }
        }
        let (claim, ours) = file::claim(&path)?.ok_or_else(|| exists(&path))?;
        let made = || -> Result<_, StoreError> {
            let (draft, file) = file::Draft::begin(&path)?;
            let (key_file, _) = file::open_keys(&path, true, true)?;
            let keys = keys.copy(Box::new(key_file))?;
            let data = Data::create(Box::new(Locked(file)), &keys, about)?;
            Ok((draft, keys, Copy::begin(data, about.history)?))
        };
        match made() {
            Ok((draft, keys, copy)) => Ok(Self { path, copy, keys, draft: Some(draft), _claim: claim }),
            Err(error) => {
                if ours {
                    let _ = std::fs::remove_file(&path);
                }
                let _ = std::fs::remove_file(file::keys(&path));
                Err(error)
            }
        }
    }

    /// Copies a store into it; its bytes and what was lost.
    fn fill(
        mut self,
        from: Reader<'_>,
        index: &Index,
        pool: Option<&rewrite::Pool>,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<(u64, Vec<Loss>), StoreError> {
        let mut told = |done, all| {
            progress(done, all);
            ControlFlow::Continue(())
        };
        // Users whose keys are gone have a slot all the same.
        let slots = index.users.values().map(|entry| entry.slot.saturating_add(1)).max().unwrap_or(0);
        if slots > self.keys.slots() {
            self.keys.grow(slots - self.keys.slots())?;
        }
        let losses = self.copy.all(from, &self.keys, index, pool, &mut told)?;
        self.copy.finish(&self.keys)?;
        file::sync_folder(&self.path)?;
        if let Some(draft) = self.draft.take() {
            draft.place()??;
        }
        let key = self.keys.slot(INDEX)?.ok_or(StoreError::Key("the key of its index is damaged"))?;
        let (end, number) = (self.copy.end(), self.copy.number);
        let medium = Box::new(file::open_index(&self.path, true)?);
        Mirror::create(medium, &self.copy.data, key, &self.copy.index, (end, number))?.close((end, number))?;
        Ok((end, losses))
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        // Not finished: nothing stays.
        if self.draft.is_some() {
            let _ = std::fs::remove_file(&self.path);
            let _ = std::fs::remove_file(file::keys(&self.path));
        }
    }
}
