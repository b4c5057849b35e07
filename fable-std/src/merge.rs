//! Journals of one user from several places become one: the host's side of [`fable_merge`].
//!
//! A [`Place`] is a journal that was read and played, so that every event of it was checked. [`merge`] finds what a stored user does
//! not know yet. Where nothing fades that is appended to the journal. Where what is known fades, the journal begins anew: all of it in
//! the order of time, after a snapshot of its beginning, so that journals are only ever added to.
//!
//! ```
//! use fable_core::{Policy, Settings, catalog::TAU2};
//! use fable_std::merge::{Place, merge};
//! use fable_std::replay::Tape;
//! use fable_std::serve::{Options, serve};
//! use fable_std::store::{FileStore, Store};
//!
//! let folder = tempfile::tempdir()?;
//! let stored = |name: &str, site: u32| {
//!     let path = folder.path().join(name);
//!     let options = Options { store: Some(path.clone()), ..Options::default() };
//!     let lines = r#"{"op":"observe","user":"ana","context":{"task":null},"action":{"clarification":"ask","verbosity":"concise","tool":"direct"},"reward":0.5}"#;
//!     let decide = r#"{"op":"decide","user":"ana","context":{"task":null}}"#;
//!     let lines = format!("{decide}\n{lines}\n");
//!     serve::<f64>(&TAU2, Settings { site, ..Settings::default() }, &options, std::io::Cursor::new(lines), std::io::sink(), |_| ()).unwrap();
//!     FileStore::open_any(&path).unwrap().named("ana").unwrap()
//! };
//! let (home, away) = (stored("home", 0), stored("away", 1));
//! let told = Place::of_tape(&TAU2, Settings::default(), &Tape::of_user(&away)?)?;
//! let policy = Policy::<f64>::new(&TAU2, Settings::default())?;
//! let merged = merge(&policy, &home, &[told])?;
//! assert_eq!((merged.decisions, merged.base.is_none()), (1, true));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::device;
use crate::memory::Memory;
use crate::prior_file::{self, PriorFileError};
use crate::replay::{ReplayError, Tape};
use crate::store::journal::{Entry, Note, Segment};
use crate::store::transfer::{MAX_INCARNATION, TransferError};
use crate::store::{MAX_NAME, SNAPSHOT_EVERY, Store, StoreError, Stored, UserRow, Writes};
use fable_core::journal::{Event, RemoteChange, RemoteEvent};
use fable_core::posterior::{Factor, Prior};
use fable_core::record::{MAX_REMOTE_LEN, RecordError, decode_event, decode_prior, encode_event};
use fable_core::settings::SettingsError;
use fable_core::{Catalog, HostUser, Policy, Scalar, Settings, UserError};
use fable_merge::{Interleaved, JournalDigest, JournalReader, MergeError, merge_in_order, missing_events};
use std::fmt;

/// How often somebody else may write about the user first.
const PATIENCE: u32 = 100;

/// Why journals cannot be merged.
#[derive(Debug)]
#[non_exhaustive]
pub enum MergeFailure {
    /// They do not belong together, or have a gap.
    Merge(MergeError),
    /// One of them cannot be played.
    Replay(ReplayError),
    /// The settings are out of range.
    Settings(SettingsError),
    /// A prior cannot be used.
    Prior(PriorFileError),
    /// The store fails, or cannot be read.
    Store(StoreError),
    /// A device says it is somewhere else than its journal leads to.
    Device,
}

crate::from!(MergeFailure: MergeError => Merge, ReplayError => Replay, SettingsError => Settings, PriorFileError => Prior, StoreError => Store);

impl From<RecordError> for MergeFailure {
    fn from(error: RecordError) -> Self {
        Self::Store(error.into())
    }
}

impl From<UserError> for MergeFailure {
    fn from(error: UserError) -> Self {
        Self::Merge(error.into())
    }
}

impl fmt::Display for MergeFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Merge(error) => error.fmt(f),
            Self::Replay(error) => error.fmt(f),
            Self::Settings(error) => error.fmt(f),
            Self::Prior(error) => error.fmt(f),
            Self::Store(error) => error.fmt(f),
            Self::Device => f.write_str("the device's journal does not lead to where the device says it is"),
        }
    }
}

impl std::error::Error for MergeFailure {}

/// A journal of a place that was read and checked, and what others can learn from it.
#[derive(Clone, Debug)]
pub struct Place(JournalDigest);

impl Place {
    /// Plays a tape in its own scalar.
    ///
    /// # Errors
    /// Another catalog or other settings, records that were damaged or do not follow from each other.
    pub fn of_tape(catalog: &Catalog<'_>, settings: Settings<'_>, tape: &Tape) -> Result<Self, MergeFailure> {
        let settings = Settings { site: 0, ..settings };
        let told = match tape.digits()? {
            24 => told::<f32>(&Policy::new(catalog, settings)?, tape),
            _ => told::<f64>(&Policy::new(catalog, settings)?, tape),
        };
        Ok(Self(told?.0))
    }

    /// Plays what was read from a device, in the device's scalar, and compares where it leads with what the device says.
    ///
    /// # Errors
    /// As for [`of_tape`](Self::of_tape).
    pub fn of_device(
        catalog: &Catalog<'_>,
        settings: Settings<'_>,
        tape: &device::Tape,
    ) -> Result<Self, MergeFailure> {
        match tape.hello.digits {
            24 => Self::on_device::<f32>(catalog, settings, tape),
            _ => Self::on_device::<f64>(catalog, settings, tape),
        }
    }

    fn on_device<T: Scalar>(
        catalog: &Catalog<'_>,
        settings: Settings<'_>,
        read: &device::Tape,
    ) -> Result<Self, MergeFailure> {
        let settings = Settings { site: read.hello.site, ..settings };
        let base = Policy::<T>::new(catalog, settings)?;
        let tape = read.tape();
        let (telling, life) = if read.prior.is_empty() {
            played(&base, &tape)?
        } else {
            let packed = decode_prior(&base, &read.prior)?;
            let factor = Factor::new(catalog.layout(), &packed, &mut vec![T::ZERO; catalog.workspace_len()]);
            let factor = factor.map_err(|_| RecordError::Content)?;
            played(&Policy::with_prior(catalog, settings, Prior::Factor(factor))?, &tape)?
        };
        let there = (read.hello.user, read.hello.incarnation, read.hello.rounds, read.hello.observations);
        let here = (telling.user(), telling.incarnation(), life.0, life.1);
        if here == there { Ok(Self(telling)) } else { Err(MergeFailure::Device) }
    }

    /// The number of the place.
    #[must_use]
    pub const fn site(&self) -> u32 {
        self.0.site
    }

    /// How often the user had been forgotten.
    #[must_use]
    pub const fn incarnation(&self) -> u32 {
        self.0.incarnation()
    }

    /// Whose journal it is.
    #[must_use]
    pub const fn user(&self) -> u64 {
        self.0.user()
    }
}

/// A tape under the policy without its prior.
fn told<T: Scalar>(base: &Policy<'_, T>, tape: &Tape) -> Result<(JournalDigest, (u32, u32)), MergeFailure> {
    let prior = tape.prior_numbers(base)?;
    played(&prior_file::informed(base, prior.as_deref())?, tape)
}

/// A tape under its policy, and the rounds and observations at its end.
fn played<T: Scalar>(
    policy: &Policy<'_, T>,
    tape: &Tape,
) -> Result<(JournalDigest, (u32, u32)), MergeFailure> {
    let mut life = tape.begin(policy)?;
    let mut teller = JournalReader::new(&life.user());
    for index in 0..tape.events.len() {
        let event = tape.event(policy.catalog(), index)?;
        teller.take(&event);
        life.user().check(&event).map_err(|error| ReplayError::State { index, error })?.apply();
    }
    Ok((teller.finish(), (life.state().rounds(), life.state().observations())))
}

/// What merging comes to.
#[derive(Clone, Debug)]
pub struct Merged {
    /// A snapshot that the entries come after, if the journal begins anew; without one they come after those that are there.
    pub base: Option<Vec<u8>>,
    /// Whether the journal that begins anew begins where it did.
    whole: bool,
    /// The entries, from position 0 on; none if there is nothing new.
    pub entries: Segment,
    /// The state in the end.
    pub snapshot: Vec<u8>,
    /// Decisions that were not known before, rewarded or not.
    pub decisions: usize,
    /// Rewards that were not known before.
    pub rewards: usize,
}

/// The snapshot that a journal begins anew after, the entries, and the state in the end.
type Ending = (Option<Vec<u8>>, Segment, Vec<u8>);

/// A home journal while it is played.
struct Home<'p, T> {
    /// Where the last incarnation begins.
    start: HostUser<'p, T>,
    /// At the end.
    life: HostUser<'p, T>,
    /// Since the last incarnation began.
    events: Vec<(Event, Note)>,
    telling: JournalDigest,
    /// Whether the journal has nothing before that.
    whole: bool,
}

impl<'p, T: Scalar> Home<'p, T> {
    fn play(policy: &Policy<'p, T>, stored: &Stored) -> Result<Self, MergeFailure> {
        let tape = Tape::of_user(stored)?;
        let mut life = tape.begin(policy)?;
        let (mut start, mut teller, mut events) =
            (life.clone(), JournalReader::new(&life.user()), Vec::new());
        let mut whole = stored.snapshot.is_none();
        let after = stored.snapshot.as_ref().map_or(0, |(seen, _)| *seen);
        let entries = stored.journal.iter().flat_map(|segment| segment.from(after));
        for (index, entry) in entries.enumerate() {
            let Entry { record, note } = entry?;
            let event = decode_event(policy.catalog(), record)?;
            life.user().check(&event).map_err(|error| ReplayError::State { index, error })?.apply();
            teller.take(&event);
            if matches!(event, Event::Forget { .. }) {
                (start, whole) = (life.clone(), false);
                events.clear();
            } else {
                events.push((event, note));
            }
        }
        Ok(Self { start, life, events, telling: teller.finish(), whole })
    }

    /// The news after what is there.
    fn append(mut self, news: &[RemoteEvent]) -> Result<Ending, MergeFailure> {
        let mut entries = Segment::default();
        let recorded = self.life.user().site_event();
        for event in recorded.into_iter().chain(news.iter().cloned().map(Event::Remote)) {
            self.life.user().check(&event)?.apply();
            push(&mut entries, &event, Note::None)?;
        }
        Ok((None, entries, self.life.to_bytes()))
    }

    /// Everything again, by time.
    fn merge_in_order(mut self, news: &[RemoteEvent]) -> Result<Ending, MergeFailure> {
        let base = self.start.to_bytes();
        let journal: Vec<Event> = self.events.iter().map(|(event, _)| event.clone()).collect();
        let (mut entries, mut failed, mut next) = (Segment::default(), None, Some(0));
        merge_in_order(&mut self.start.user(), &journal, news, |Interleaved { event, position }| {
            // As long as all is as it was, decisions can still be made anew.
            next = next.filter(|next| journal.get(*next) == Some(event)).map(|next| next + 1);
            let note =
                position.and_then(|position| self.events.get(position)).map_or(Note::None, |(_, note)| *note);
            let moved = matches!(event, Event::Decision { .. }) && next.is_none() && note == Note::None;
            if let Err(error) = push(&mut entries, event, if moved { Note::Woven } else { note }) {
                failed.get_or_insert(error);
            }
        })?;
        match failed {
            Some(error) => Err(error.into()),
            None => Ok((Some(base), entries, self.start.to_bytes())),
        }
    }
}

fn push(entries: &mut Segment, event: &Event, note: Note) -> Result<(), RecordError> {
    let mut buffer = [0; MAX_REMOTE_LEN];
    let record = encode_event(event, &mut buffer)?;
    entries.push(&Entry { record, note });
    Ok(())
}

/// What a stored user does not know yet of other places. The policy is the one without a prior.
///
/// # Errors
/// Journals that do not belong together, have a gap or cannot be played. Nothing has changed then.
pub fn merge<T: Scalar>(
    base: &Policy<'_, T>,
    stored: &Stored,
    told: &[Place],
) -> Result<Merged, MergeFailure> {
    let prior = stored.prior.as_deref().map(|bytes| prior_file::read(base, bytes)).transpose()?;
    let policy = prior_file::informed(base, prior.as_deref())?;
    let home = Home::play(&policy, stored)?;
    let told: Vec<JournalDigest> = told.iter().map(|place| place.0.clone()).collect();
    let news = missing_events(&home.telling, &told)?;
    let decisions = told.iter().map(|telling| telling.decisions_from(home.known_of(telling))).sum();
    let rewards = news.iter().filter(|told| matches!(told.change, RemoteChange::Reward { .. })).count();
    let faded = policy.settings().fades() || home.telling.faded || told.iter().any(|telling| telling.faded);
    let whole = home.whole;
    let (base, entries, snapshot) = if news.is_empty() {
        (None, Segment::default(), home.life.to_bytes())
    } else if faded {
        home.merge_in_order(&news)?
    } else {
        home.append(&news)?
    };
    Ok(Merged { base, whole, entries, snapshot, decisions, rewards })
}

impl<T> Home<'_, T> {
    fn known_of(&self, telling: &JournalDigest) -> u32 {
        if telling.site == self.telling.site { u32::MAX } else { self.telling.known_of(telling.site) }
    }
}

impl Merged {
    /// The stored user with what is new, to be written to a file.
    ///
    /// # Errors
    /// A journal that cannot be read.
    pub fn into_stored(self, mut stored: Stored) -> Result<Stored, StoreError> {
        let seen = stored.snapshot.as_ref().map_or(0, |(seen, _)| *seen);
        let end = stored.journal.last().map_or(seen, Segment::end).max(seen);
        let mut all = Segment { first: seen, ..Segment::default() };
        if let Some(base) = self.base {
            if !self.whole {
                (all.first, stored.snapshot) = (end.max(1), Some((end.max(1), base)));
            }
        } else {
            for entry in stored.journal.iter().flat_map(|segment| segment.from(seen)) {
                all.push(&entry?);
            }
        }
        for entry in self.entries.from(0) {
            all.push(&entry?);
        }
        stored.journal = vec![all];
        Ok(stored)
    }
}

/// Merges what other places know into a user of a store, in one commit. A user whom the store does not have begins with it. The policy is
/// the one without a prior.
///
/// # Errors
/// As for [`merge`], and a store that cannot be read or written. Nothing has changed then.
pub fn sync<T: Scalar>(
    store: &dyn Store,
    base: &Policy<'_, T>,
    name: &str,
    told: &[Place],
) -> Result<Merged, MergeFailure> {
    // Again when somebody else wrote about the user at the same time.
    for _ in 0..PATIENCE {
        let mut writes = Writes::default();
        let stored = if let Some(number) = store.find(name)? {
            store.whole(number)?.ok_or(StoreError::NoUser)?
        } else {
            let row = newcomer(store, base, name, told)?;
            writes.user(row.header.user, &row);
            writes.start_in(row.incarnation);
            let (journal, wishes, memory) = (Vec::new(), Vec::new(), Memory::default());
            Stored { row, snapshot: None, journal, birth: 0, wishes, prior: None, memory }
        };
        let merged = merge(base, &stored, told)?;
        if merged.entries.count == 0 {
            return Ok(merged);
        }
        let number = stored.row.header.user;
        if stored.birth != 0 {
            writes.life(number, stored.birth);
        }
        let seen = stored.snapshot.as_ref().map_or(0, |(seen, _)| *seen);
        let first = stored.journal.last().map_or(seen, Segment::end).max(seen);
        if let Some(snapshot) = &merged.base {
            writes.base(number, first, snapshot);
        }
        for (position, entry) in (first..).zip(merged.entries.from(0)) {
            writes.entry(number, position, &entry?);
        }
        if merged.entries.count >= SNAPSHOT_EVERY {
            writes.snapshot(number, first + merged.entries.count, &merged.snapshot);
        }
        if store.commit(writes, true)?.is_empty() {
            return Ok(merged);
        }
    }
    Err(StoreError::Contended.into())
}

/// Somebody whom the store does not have, in the incarnation of the journals.
fn newcomer<T: Scalar>(
    store: &dyn Store,
    base: &Policy<'_, T>,
    name: &str,
    told: &[Place],
) -> Result<UserRow, MergeFailure> {
    let (number, now) = (store.number_for(name)?, store.incarnation()?);
    // A life from before the store last forgot somebody may be the one that was to be forgotten.
    let incarnation = told.iter().map(Place::incarnation).max().unwrap_or(now);
    if incarnation < now {
        return Err(MergeError::Incarnation.into());
    }
    if incarnation > MAX_INCARNATION {
        return Err(StoreError::from(TransferError::Incarnation).into());
    }
    if name.is_empty() || name.len() > MAX_NAME {
        return Err(StoreError::from(TransferError::Name).into());
    }
    Ok(UserRow::newcomer(base, name, number, incarnation))
}
