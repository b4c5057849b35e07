//! A store in files of its own that assumes that disks lie.
//!
//! Everything about a user, the name included, is sealed with a key of the user's own: what is damaged does not open, and is never
//! taken for anything. A snapshot every few hundred events makes getting a user back fast, and a learner is a snapshot with the events
//! after it applied. What a commit returns from is on disk, whatever happens to the process after.
//!
//! | file | what it has |
//! |---|---|
//! | `users.fable` | the users, in groups that are only ever appended: see [layout](#layout) |
//! | `users.fable.key` | the keys, each twice; 64 bytes a user and copy |
//! | `users.fable.index` | where everything is; it can be made from the other two |
//!
//! A store has one process at a time; [`check`](FileStore::check) and [`backup`](FileStore::backup) may look at one that is in use.
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

mod check;
mod commit;
mod frame;
mod group;
mod home;
mod index;
mod keys;
mod medium;
mod open;
mod paths;
mod reader;
mod renew;
mod rewrite;
mod seal;
#[cfg(test)]
mod tests;
mod write;

pub use check::{Repaired, Report};
pub use rewrite::Loss;
pub use seal::Secret;

use super::{History, Identity, NEAR, Options, Reach, StoreError, Stored, UserRow, Writes};
use crate::memory::{Bounds, Memory as Exchanged};
use crate::store::damage::{Damage, Fault};
use crate::store::journal::Segment;
use commit::Press;
use fable_core::user_hash;
use frame::{About, Data, START};
use group::Filing;
use home::Home;
use index::{Change, Entry, Index, Mirror};
use keys::{FIRST, INDEX, Keys};
use medium::{Locked, Memory};
use reader::Reader;
use renew::{Rewriting, Target};
use seal::Nonces;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Instant;

/// The version of the store's file and of its index.
pub const VERSION: u8 = 5;

/// A store. Reading and committing may happen on different threads.
#[derive(Debug)]
pub struct FileStore {
    home: Home,
    slack: u64,
    history: Option<u64>,
    /// How much is remembered of a user.
    memory: Bounds,
    keys: Arc<Keys>,
    shared: Arc<RwLock<Shared>>,
    writer: Mutex<Writer>,
    /// When it was opened, and where its file ended.
    opened: (Instant, u64),
    /// Whether what goes on in the background has to end.
    closed: Arc<AtomicBool>,
    /// Commits that wait for each other.
    filing: Filing,
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

impl FileStore {
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
        let path = paths::resolve(path)?;
        let store = match paths::claim(&path)? {
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
        Self::existing(paths::resolve(path).map_err(|error| paths::missing(path, error))?, options)
    }

    /// Makes the files of a new store.
    fn create(path: &Path, identity: &Identity, options: &Options) -> Result<(Data, Keys), StoreError> {
        // A store has an index as soon as it was ever open: its users are not to be taken for new ones.
        if std::fs::metadata(paths::index(path)).is_ok_and(|index| index.len() > 0) {
            return Err(StoreError::Damaged(
                "its file is empty or missing, while its index is there; without that, too, it begins anew",
            ));
        }
        let (draft, file) = paths::Draft::begin(path)?;
        let (keys, new) = paths::open_keys(path, true, true)?;
        let make = if new { Keys::create } else { Keys::open };
        let keys = make(Box::new(keys), options.key.as_ref())?;
        let about = About { history: options.history.or(Some(History::EVENTS)), identity: identity.encode() };
        let mut data = Data::create(Box::new(Locked(file)), &keys, &about)?;
        data.finish(&keys, START)?;
        data.medium.sync()?;
        paths::sync_folder(path)?;
        draft.place()??;
        Ok((data, keys))
    }

    fn existing(path: PathBuf, options: &Options) -> Result<Self, StoreError> {
        let (data, id) = Data::open(Box::new(Locked(paths::open(&path, true)?)))?;
        paths::clean(&path);
        let keys = open_keys(&path, &id, options, true)?;
        Self::assemble(Home::Path(path), data, keys, options)
    }

    /// A store that ends with the process.
    ///
    /// # Errors
    /// A system that has no random numbers.
    pub fn in_memory(identity: &Identity) -> Result<Self, StoreError> {
        Self::in_memory_with(identity, &Options::default())
    }

    /// The same with other options.
    ///
    /// # Errors
    /// As for [`in_memory`](Self::in_memory).
    pub fn in_memory_with(identity: &Identity, options: &Options) -> Result<Self, StoreError> {
        let keys = Keys::create(Box::new(Memory::default()), None)?;
        let about = About { history: options.history.or(Some(History::EVENTS)), identity: identity.encode() };
        let mut data = Data::create(Box::new(Memory::default()), &keys, &about)?;
        data.finish(&keys, START)?;
        Self::assemble(Home::Memory, data, keys, options)
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
            tracing::error!(
                groups = found.damaged,
                "the store is damaged; `fable check` says whom it touches"
            );
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
        let memory = options.memory;
        let store = Self {
            home,
            slack,
            history,
            memory,
            keys,
            shared,
            writer,
            opened,
            closed,
            filing: Filing::default(),
        };
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
        [own.to_owned(), paths::keys(own), paths::index(own)].iter().any(|own| {
            let one = || Some(cfg!(unix) && paths::same(&own.metadata().ok()?, &path.metadata().ok()?));
            paths::resolve(path).is_ok_and(|path| path == *own) || one().unwrap_or(false)
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

    /// One user; `None` when there is none.
    ///
    /// # Errors
    /// A store that cannot be read, or a user of whom something is damaged.
    pub fn user(&self, number: u64, reach: Reach) -> Result<Option<Stored>, StoreError> {
        self.about(number, |reader, entry, index| reader.complete(number, entry, index.log_of(number), reach))
    }

    /// What was exchanged with a user. One that is damaged stops nobody but those who ask for it.
    ///
    /// # Errors
    /// A store that cannot be read, a user of whom something is damaged, or a memory that is.
    pub fn memory(&self, number: u64) -> Result<Exchanged, StoreError> {
        let found = self.about(number, |reader, entry, _| Ok(reader.memory(entry, &reader.key(entry)?)))?;
        match found {
            None => Ok(Exchanged::default()),
            Some(Ok((memory, _))) => Ok(memory),
            Some(Err(Fault::Failed(error))) => Err(error.into()),
            Some(Err(Fault::Damaged(damage))) => {
                tracing::error!(
                    user = format_args!("{number:016x}"),
                    "what was exchanged with a user is damaged"
                );
                Err(StoreError::User(damage))
            }
        }
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
}

impl Drop for FileStore {
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
    let (file, _) = paths::open_keys(path, write, false)?;
    let keys = Keys::open(Box::new(file), options.key.as_ref())?;
    if keys.id() == id {
        Ok(keys)
    } else {
        Err(StoreError::Key("the key file beside it belongs to another store"))
    }
}
