//! Writing the store's file anew while it is in use, and copying it into a new one.

use super::{
    About, Data, Entry, FileStore, Home, INDEX, Index, Keys, Locked, Loss, Mirror, Reader, Shared,
    StoreError, Writer, paths, rewrite,
};
use rewrite::Copy;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::thread::JoinHandle;
use std::time::Duration;

/// Users that may have changed while the file was written anew: they are copied while the others wait.
const FEW: usize = 256;
/// How long a store is open before it is written anew.
const PATIENCE: Duration = Duration::from_secs(10);

/// The file being written anew.
#[derive(Debug)]
pub(super) enum Rewriting {
    /// When it is longer than this.
    At(u64),
    /// By a thread; what of every user it has copied comes with it.
    By(JoinHandle<Result<Successor, StoreError>>),
}

/// A file that will take the place of the store's.
#[derive(Debug)]
pub(super) struct Successor {
    pub(super) copy: Copy,
    /// The index that it is a copy of.
    pub(super) of: Index,
    pub(super) draft: Option<paths::Draft>,
}

impl FileStore {
    /// Writes the file anew when it has grown enough, on a thread of its own.
    pub(super) fn renew(&self, writer: &mut Writer) {
        match &writer.rewrite {
            Rewriting::At(limit) if writer.end > *limit && self.is_at_home(writer) => {
                let (home, keys, shared) =
                    (self.home.clone(), Arc::clone(&self.keys), Arc::clone(&self.shared));
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
                let Rewriting::By(thread) = std::mem::replace(&mut writer.rewrite, Rewriting::At(limit))
                else {
                    return;
                };
                let done = thread
                    .join()
                    .unwrap_or(Err(StoreError::Damaged("the thread that writes it anew has failed")));
                let done = done
                    .and_then(|successor| self.settle(writer).and_then(|()| self.replace(writer, successor)));
                match done {
                    Ok(()) => tracing::info!(bytes = writer.end, "the store was written anew"),
                    Err(error) => {
                        tracing::warn!(%error, "the store could not be written anew and stays as it is");
                    }
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
    pub(super) fn replace(&self, writer: &mut Writer, successor: Successor) -> Result<(), StoreError> {
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
    pub(super) fn copy_to(&self, path: &Path, progress: &mut dyn FnMut(u64, u64)) -> Result<u64, StoreError> {
        let (data, index) = {
            let shared = self.read();
            (Arc::clone(&shared.data), shared.index.clone())
        };
        let target = Target::begin(path, &data.about_store(&self.keys)?, &self.keys)?;
        let (bytes, _) = target.fill(Reader { data: &data, keys: &self.keys }, &index, None, progress)?;
        Ok(bytes)
    }
}

/// Copies everything that is needed into a new file, until only a few users have changed meanwhile.
pub(super) fn succeed(
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
    let go_on = &mut |_, _| {
        if closed.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    copy.all(reader, keys, &of, None, go_on)?;
    loop {
        let (_, index) = now();
        let changed =
            index.users.iter().filter(|(number, entry)| of.users.get(number) != Some(entry)).count();
        catch_up(&mut copy, reader, &of, &index)?;
        of = index;
        if changed < FEW {
            copy.data.medium.sync()?;
            return Ok(Successor { copy, of, draft });
        }
    }
}

/// Copies what has changed since.
pub(super) fn catch_up(
    copy: &mut Copy,
    reader: Reader<'_>,
    of: &Index,
    index: &Index,
) -> Result<(), StoreError> {
    let gone: Vec<u64> =
        copy.index.users.keys().filter(|number| !index.users.contains_key(number)).copied().collect();
    for number in gone {
        copy.index.remove(number);
    }
    for (fingerprint, place) in
        index.priors.iter().filter(|(fingerprint, place)| of.priors.get(fingerprint) != Some(place))
    {
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
fn unless_forgotten(
    copied: Result<(), StoreError>,
    reader: Reader<'_>,
    entry: &Entry,
) -> Result<(), StoreError> {
    if copied.is_err() && reader.is_forgotten(entry) { Ok(()) } else { copied }
}

/// A new store in the making, at a path where there was none.
pub(super) struct Target {
    path: PathBuf,
    copy: Copy,
    keys: Keys,
    draft: Option<paths::Draft>,
    _claim: std::fs::File,
}

impl Target {
    /// Begins one with the keys of another.
    pub(super) fn begin(path: &Path, about: &About, keys: &Keys) -> Result<Self, StoreError> {
        let path = paths::resolve(path)?;
        let exists = |path: &Path| {
            StoreError::File(io::Error::new(
                io::ErrorKind::AlreadyExists,
                format!("{} is there already", path.display()),
            ))
        };
        for other in [paths::keys(&path), paths::index(&path)] {
            if other.exists() {
                return Err(exists(&other));
            }
        }
        let (claim, ours) = paths::claim(&path)?.ok_or_else(|| exists(&path))?;
        let made = || -> Result<_, StoreError> {
            let (draft, file) = paths::Draft::begin(&path)?;
            let (key_file, _) = paths::open_keys(&path, true, true)?;
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
                let _ = std::fs::remove_file(paths::keys(&path));
                Err(error)
            }
        }
    }

    /// Copies a store into it; its bytes and what was lost.
    pub(super) fn fill(
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
        paths::sync_folder(&self.path)?;
        if let Some(draft) = self.draft.take() {
            draft.place()??;
        }
        let key = self.keys.slot(INDEX)?.ok_or(StoreError::Key("the key of its index is damaged"))?;
        let (end, number) = (self.copy.end(), self.copy.number);
        let medium = Box::new(paths::open_index(&self.path, true)?);
        Mirror::create(medium, &self.copy.data, key, &self.copy.index, (end, number))?
            .close((end, number))?;
        Ok((end, losses))
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        // Not finished: nothing stays.
        if self.draft.is_some() {
            let _ = std::fs::remove_file(&self.path);
            let _ = std::fs::remove_file(paths::keys(&self.path));
        }
    }
}
