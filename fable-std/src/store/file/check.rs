//! Looking at a whole store, and making a new one of what can be read. Neither writes to the store, so both may look at one that is in
//! use.

use super::frame::{Data, START, Stretch, Walk, frames_of};
use super::keys::Keys;
use super::medium::Medium;
use super::open::{self, Found};
use super::reader::Reader;
use super::rewrite::{Loss, Pool};
use super::{FileStore, Identity, Options, Reach, StoreError, Target, open_keys, paths};
use crate::store::damage::{Damage, Fault};
use std::path::Path;

/// What a check has found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Number of users.
    pub users: u64,
    /// Bytes of the store's file.
    pub bytes: u64,
    /// Users of whom something is damaged, with what it is.
    pub damaged: Vec<Loss>,
    /// Users who are whole, though a snapshot or an older part of their journal is damaged.
    pub weakened: Vec<u64>,
    /// Commits with a damaged byte; perhaps in what is not needed any more.
    pub groups: u64,
    /// Priors that are damaged, by the fingerprint of the policy.
    pub priors: Vec<u64>,
    /// Keys of which one of two copies is damaged, or whose destruction was interrupted.
    pub keys: u64,
    /// Copies of the head of the users' or the keys' file that are damaged; there are two of each.
    pub heads: u64,
    /// Damaged places of which it is not known whose they are.
    pub unaccounted: u64,
}

impl Report {
    /// Whether nothing at all is damaged.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        let Self { damaged, weakened, groups, priors, keys, heads, unaccounted, .. } = self;
        damaged.is_empty()
            && weakened.is_empty()
            && priors.is_empty()
            && *groups + keys + heads + unaccounted == 0
    }
}

/// A store that is only looked at.
struct View {
    data: Data,
    keys: Keys,
    found: Found,
}

impl View {
    fn open(path: &Path, options: &Options) -> Result<Self, StoreError> {
        let path = paths::resolve(path).map_err(|error| paths::missing(path, error))?;
        let (data, id) = Data::open(Box::new(paths::open(&path, false)?))?;
        let keys = open_keys(&path, &id, options, false)?;
        let mirror = paths::open_index(&path, false).ok().map(|file| Box::new(file) as Box<dyn Medium>);
        let history = options.history.or(data.about_store(&keys)?.history);
        let found = open::find(&data, &keys, mirror, history, (false, true))?;
        Ok(Self { data, keys, found })
    }

    const fn reader(&self) -> Reader<'_> {
        Reader { data: &self.data, keys: &self.keys }
    }

    /// Every frame that has a sound head, by the key that it is sealed with.
    fn pool(&self) -> Result<Pool, StoreError> {
        let mut pool = Pool::new();
        for stretch in Walk::new(&self.data, START, self.data.medium.len()?) {
            let (from, to) = match stretch {
                Stretch::Group { from, to, .. } => (frames_of(from), to),
                Stretch::Bad { from, to, .. } => (from, to),
            };
            for (head, place) in self.data.frames_between(from, to, false).unwrap_or_default() {
                pool.entry((head.slot, head.generation)).or_default().push((head, place));
            }
        }
        Ok(pool)
    }
}

/// Whether every part of what is kept about a user checks, and not only enough of them.
fn is_whole(reader: Reader<'_>, number: u64, entry: &super::index::Entry) -> Result<bool, Fault> {
    let key = reader.key(entry)?;
    let row = reader.row(number, entry, &key)?;
    let snapshots = entry.snapshots.as_deref().copied().unwrap_or_default();
    let checked = |result: Result<(), Fault>| match result {
        Ok(()) => Ok(true),
        Err(Fault::Damaged(_)) => Ok(false),
        Err(failed) => Err(failed),
    };
    let mut whole = checked(reader.journal(entry, &key, snapshots.base.0).map(drop))?;
    for which in
        [snapshots.newest, snapshots.middle, snapshots.base].into_iter().filter(|which| !which.1.is_none())
    {
        whole &= checked(reader.snapshot(entry, &key, &row, which).map(drop))?;
    }
    Ok(whole)
}

impl FileStore {
    /// What the store at a path belongs to; it may be in use.
    pub(in crate::store) fn identity_at(path: &Path, options: &Options) -> Result<Identity, StoreError> {
        let found = paths::resolve(path).map_err(|error| paths::missing(path, error))?;
        // Where one is being made, or was never finished, there is none.
        if std::fs::metadata(&found).map_err(|error| paths::missing(path, error))?.len() == 0 {
            return Err(StoreError::Missing(found));
        }
        let (data, id) = Data::open(Box::new(paths::open(&found, false)?))?;
        Identity::decode(&data.about_store(&open_keys(&found, &id, options, false)?)?.identity)
    }

    /// Looks at everything in a store, which may be in use. `progress` gets the users that were looked at, and how many there are.
    ///
    /// # Errors
    /// A store that cannot be opened at all.
    pub fn check(
        path: &Path,
        options: &Options,
        mut progress: impl FnMut(u64, u64),
    ) -> Result<Report, StoreError> {
        let view = View::open(path, options)?;
        let (reader, index) = (view.reader(), &view.found.index);
        let (lost, halves) = view.keys.settle(false)?;
        let mut report = Report {
            users: index.users.len() as u64,
            bytes: view.data.medium.len()?,
            groups: view.found.damaged as u64,
            keys: (lost.len() + halves) as u64,
            heads: (view.data.damaged_heads(&view.keys) + view.keys.damaged_heads()) as u64,
            unaccounted: view.found.unaccounted as u64,
            ..Report::default()
        };
        for (fingerprint, place) in &index.priors {
            if reader.prior(*fingerprint, *place).is_err() {
                report.priors.push(*fingerprint);
            }
        }
        for (done, (number, entry)) in (0..).zip(&index.users) {
            progress(done, report.users);
            let looked = || -> Result<bool, Fault> {
                if let Some(damage) = Damage::of(entry.lost) {
                    return Err(damage.into());
                }
                let stored = reader.stored(*number, entry, Reach::Snapshot)?;
                let key = reader.key(entry)?;
                let mut end = stored
                    .journal
                    .last()
                    .map_or(stored.snapshot.map_or(0, |(seen, _)| seen), super::Segment::end);
                for place in index.log.get(number).into_iter().flatten() {
                    let segment =
                        reader.newest(entry, &key, *place).map_err(|unread| unread.of(Damage::Journal))?;
                    if segment.first > end {
                        return Err(Damage::Journal.into());
                    }
                    end = segment.end();
                }
                reader.memory(entry, &key)?;
                is_whole(reader, *number, entry)
            };
            match looked() {
                Ok(true) => {}
                Ok(false) => report.weakened.push(*number),
                Err(_) if reader.is_forgotten(entry) => report.users -= 1,
                Err(Fault::Failed(error)) => return Err(error.into()),
                Err(Fault::Damaged(damage)) => {
                    let row = reader.key(entry).and_then(|key| reader.row(*number, entry, &key));
                    report.damaged.push(Loss {
                        name: row.ok().map(|row| row.name),
                        number: *number,
                        damage,
                        from: None,
                    });
                }
            }
        }
        progress(report.users, report.users);
        Ok(report)
    }

    /// Looks at every user, as far as they are not in use, and little by little: what is damaged is found before somebody needs it. Ends
    /// when `stop` says so.
    pub(super) fn look_at_everyone(&self, stop: &dyn Fn() -> bool) {
        for number in self.everyone() {
            if stop() {
                return;
            }
            let started = std::time::Instant::now();
            let _ = self.user(number, Reach::Snapshot); // whoever is damaged is remembered
            let _ = self.user(number, Reach::Whole);
            let _ = self.memory(number);
            // A fiftieth of the time.
            std::thread::sleep(49 * started.elapsed());
        }
    }

    /// Writes a new store with everything that can be read of one, and says what is lost. The old one is not touched.
    ///
    /// A user whose newest events are lost goes on as of before them, one whose memory is lost without it; one whose hard rules or name are lost stays damaged.
    ///
    /// # Errors
    /// A store that cannot be opened at all, or a path at which there is something.
    pub fn repair(
        path: &Path,
        new: &Path,
        options: &Options,
        mut progress: impl FnMut(u64, u64),
    ) -> Result<Repaired, StoreError> {
        let view = View::open(path, options)?;
        let target = Target::begin(new, &view.data.about_store(&view.keys)?, &view.keys)?;
        let (_, losses) =
            target.fill(view.reader(), &view.found.index, Some(&view.pool()?), &mut progress)?;
        Ok(Repaired {
            users: view.found.index.users.len() as u64,
            losses,
            unaccounted: view.found.unaccounted as u64,
        })
    }

    /// Writes a copy of a store that another process may have in use, as of now.
    ///
    /// # Errors
    /// As for [`backup`](crate::store::Store::backup).
    pub fn backup_of(
        path: &Path,
        new: &Path,
        options: &Options,
        mut progress: impl FnMut(u64, u64),
    ) -> Result<u64, StoreError> {
        let view = View::open(path, options)?;
        if view.found.unaccounted > 0 {
            return Err(StoreError::Unaccounted);
        }
        let target = Target::begin(new, &view.data.about_store(&view.keys)?, &view.keys)?;
        Ok(target.fill(view.reader(), &view.found.index, None, &mut progress)?.0)
    }
}

/// What a repair has done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repaired {
    /// Users that the old store is known to have had.
    pub users: u64,
    /// What was lost.
    pub losses: Vec<Loss>,
    /// Damaged places of which it is not known whose they were: others may be lost altogether.
    pub unaccounted: u64,
}
