//! Moving everyone from one store to another: from a file into a database when one process is not enough any more, or back.
//!
//! The priors go first, then the users in the order of their numbers, each with the same number, name, incarnation, hard rules, memory and
//! journal: what [`export`](super::transfer::export) writes of a user is the same on both sides, bit by bit. The store that they come from is not
//! changed.
//!
//! A movement that was interrupted is done again and goes on: whoever is there already is left alone, and whoever has gone on since
//! gets the rest. Whoever cannot be moved is named when everyone else has been, see [`Moved::refused`]: nothing that is in the other store is
//! ever overwritten. While a service still writes to the first store, a movement has everyone as of some moment; the last one is done
//! when the service has stopped.
//!
//! ```
//! use fable_core::{Policy, Settings, catalog::TAU2};
//! use fable_std::store::{FileStore, Identity, movement::move_everyone};
//! let identity = Identity::new(&Policy::<f64>::new(&TAU2, Settings::default())?);
//! let (from, to) = (FileStore::in_memory(&identity)?, FileStore::in_memory(&identity)?);
//! let moved = move_everyone(&from, &to, &mut |_, _| {})?;
//! assert!(moved.is_complete() && moved.moved == 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use super::journal::{Entries, Segment};
use super::{Damage, Reach, Store, StoreError, Stored, Writes};
use std::fmt;

/// Users that are committed together at most.
const GROUP: usize = 64;
/// Bytes of them at which they are committed.
const GROUP_BYTES: usize = 4 << 20;
/// Bytes of entries in one segment.
const SEGMENT_BYTES: usize = 128 << 10;

/// What a movement has done.
#[derive(Debug, Default)]
#[must_use]
pub struct Moved {
    /// Users who were not there.
    pub moved: u64,
    /// Users who were there as of some time before, and got the rest.
    pub completed: u64,
    /// Users who were there already.
    pub same: u64,
    /// Users who were not moved.
    pub refused: Vec<Refused>,
}

impl Moved {
    /// Whether everyone is in the other store now.
    #[must_use]
    pub const fn is_complete(&self) -> bool {
        self.refused.is_empty()
    }
}

/// A user who was not moved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The number.
    pub number: u64,
    /// The name, if it can be read.
    pub name: Option<String>,
    /// Why.
    pub why: Why,
}

/// Why a user was not moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Why {
    /// What is stored about the user is damaged, here or there.
    Damaged(Damage),
    /// The other store has a user of this name to whom something else has happened.
    Differs,
    /// The other store has this name under another number.
    Renumbered,
    /// Another user of the other store has the number.
    Taken,
    /// Somebody else wrote about the user in the other store at the same time.
    Meanwhile,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => write!(f, "user {name:?}: ")?,
            None => write!(f, "user {:016x}: ", self.number)?,
        }
        match self.why {
            Why::Damaged(damage) => write!(f, "what is stored is damaged ({damage})"),
            Why::Differs => f.write_str("the other store has this user with another past"),
            Why::Renumbered => f.write_str("the other store has this name under another number"),
            Why::Taken => f.write_str("another user of the other store has the number"),
            Why::Meanwhile => f.write_str("somebody else wrote about this user in the other store"),
        }
    }
}

/// Moves everyone; `progress` gets how many users are done, and how many there are.
///
/// # Errors
/// Stores of different identities, or one that cannot be read or written; whoever was moved before stays moved.
pub fn move_everyone(
    from: &dyn Store,
    to: &dyn Store,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Moved, StoreError> {
    let (here, there) = (from.identity()?, to.identity()?);
    here.admit(&there)?;
    there.admit(&here)?;
    let mut first = Writes::default();
    // Nobody who comes there later may start in an incarnation that somebody was in.
    first.start_in(from.incarnation()?);
    for fingerprint in from.priors()? {
        let prior = from.prior(fingerprint)?;
        if let Some(prior) = prior.filter(|_| !matches!(to.prior(fingerprint), Ok(Some(_)))) {
            first.prior(fingerprint, &prior);
        }
    }
    to.commit(first, true)?;
    let everyone = from.everyone()?;
    let (mut movement, total) = (Movement::default(), everyone.len() as u64);
    progress(0, total);
    for (number, done) in everyone.into_iter().zip(1..) {
        movement.take(from, to, number)?;
        if movement.is_full() {
            movement.commit(to)?;
            progress(done, total);
        }
    }
    movement.commit(to)?;
    progress(total, total);
    Ok(movement.moved)
}

#[derive(Debug, Default)]
struct Movement {
    moved: Moved,
    writes: Writes,
    /// Users in the writes, and whether they are new.
    group: Vec<(u64, String, bool)>,
    bytes: usize,
}

impl Movement {
    fn is_full(&self) -> bool {
        self.group.len() >= GROUP || self.bytes >= GROUP_BYTES
    }

    fn refuse(&mut self, number: u64, name: Option<&str>, why: Why) {
        self.moved.refused.push(Refused { number, name: name.map(str::to_owned), why });
    }

    /// Looks at a user of both stores, and adds what is missing in the second.
    fn take(&mut self, from: &dyn Store, to: &dyn Store, number: u64) -> Result<(), StoreError> {
        let source = match with_memory(from, number) {
            Ok(Some(source)) => source,
            Ok(None) => return Ok(()), // forgotten meanwhile
            Err(StoreError::User(damage)) => {
                self.refuse(number, None, Why::Damaged(damage));
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        let name = source.row.name.clone();
        let holder = match to.find(&name) {
            Err(StoreError::User(damage)) => Err(Why::Damaged(damage)),
            Err(error) => return Err(error),
            Ok(Some(holder)) if holder != number => Err(Why::Renumbered),
            Ok(None) if to.has(number)? => Err(Why::Taken),
            Ok(holder) => Ok(holder),
        };
        let target = match holder {
            Err(why) => Err(why),
            Ok(None) => Ok(None),
            Ok(Some(_)) => match with_memory(to, number) {
                Err(StoreError::User(damage)) => Err(Why::Damaged(damage)),
                target => Ok(target?),
            },
        };
        match target {
            Err(why) => self.refuse(number, Some(&name), why),
            Ok(None) => self.enter(from, number, &source)?,
            Ok(Some(target)) => match rest(&source, &target)? {
                None => self.refuse(number, Some(&name), Why::Differs),
                Some(rest) => self.complete(number, &source, &target, &rest),
            },
        }
        Ok(())
    }

    /// Somebody who is not there.
    fn enter(&mut self, from: &dyn Store, number: u64, source: &Stored) -> Result<(), StoreError> {
        self.writes.user(number, &source.row);
        self.writes.arrival(number);
        let seen = source.snapshot.as_ref().map_or(0, |(seen, _)| *seen);
        if let Some((seen, bytes)) = &source.snapshot {
            self.writes.base(number, *seen, bytes);
        }
        let entries = whole(source)?;
        for segment in cut(&entries)? {
            self.writes.segment(number, &segment);
        }
        if !source.wishes.is_empty() {
            self.writes.wishes(number, &source.wishes);
        }
        if !source.memory.is_empty() {
            self.writes.memory(number, &source.memory);
        }
        // With the newest snapshot the user is there at once; without it all of the journal is applied the first time.
        if let Ok(Some(Stored { snapshot: Some((newest, bytes)), .. })) = from.user(number, Reach::Snapshot)
            && (seen + 1..=entries.end()).contains(&newest)
        {
            self.bytes += bytes.len();
            self.writes.snapshot(number, newest, &bytes);
        }
        self.bytes += entries.bytes.len();
        self.group.push((number, source.row.name.clone(), true));
        Ok(())
    }

    /// Somebody who is there as of some time before.
    fn complete(&mut self, number: u64, source: &Stored, target: &Stored, rest: &Segment) {
        if rest.count == 0 && source.wishes == target.wishes && source.memory == target.memory {
            self.moved.same += 1;
            return;
        }
        self.writes.life(number, target.birth);
        if source.wishes != target.wishes {
            self.writes.wishes(number, &source.wishes);
        }
        if source.memory != target.memory {
            self.writes.memory(number, &source.memory);
        }
        if rest.count > 0 {
            self.writes.log.insert(number, rest.clone());
        }
        self.bytes += rest.bytes.len();
        self.group.push((number, source.row.name.clone(), false));
    }

    /// Writes what has been collected.
    fn commit(&mut self, to: &dyn Store) -> Result<(), StoreError> {
        if self.group.is_empty() {
            return Ok(());
        }
        let losers = to.commit(std::mem::take(&mut self.writes), true)?;
        for (number, name, new) in std::mem::take(&mut self.group) {
            match (losers.contains(&number), new) {
                (true, _) => self.refuse(number, Some(&name), Why::Meanwhile),
                (false, true) => self.moved.moved += 1,
                (false, false) => self.moved.completed += 1,
            }
        }
        self.bytes = 0;
        Ok(())
    }
}

/// A user with everything but the prior, which goes first.
fn with_memory(store: &dyn Store, number: u64) -> Result<Option<Stored>, StoreError> {
    let Some(mut stored) = store.user(number, Reach::Whole)? else { return Ok(None) };
    stored.memory = store.memory(number)?;
    Ok(Some(stored))
}

/// All entries after the snapshot as one segment.
fn whole(stored: &Stored) -> Result<Segment, StoreError> {
    let seen = stored.snapshot.as_ref().map_or(0, |(seen, _)| *seen);
    from(stored, seen)
}

/// The entries from a position on as one segment.
fn from(stored: &Stored, position: u64) -> Result<Segment, StoreError> {
    let mut all = Segment { first: position, ..Segment::default() };
    for entry in stored.journal.iter().flat_map(|segment| segment.from(position)) {
        all.push(&entry?);
    }
    Ok(all)
}

/// The same entries in segments that are not too long.
fn cut(segment: &Segment) -> Result<Vec<Segment>, StoreError> {
    let mut parts = Vec::new();
    let mut part = Segment { first: segment.first, ..Segment::default() };
    for entry in Entries::new(&segment.bytes) {
        part.push(&entry?);
        if part.bytes.len() >= SEGMENT_BYTES {
            let next = Segment { first: part.end(), ..Segment::default() };
            parts.push(std::mem::replace(&mut part, next));
        }
    }
    if part.count > 0 {
        parts.push(part);
    }
    Ok(parts)
}

/// What the second store lacks of a user; `None` if its past is another one. One of the two may have forgotten more of the beginning, as
/// long as there is something that both remember.
fn rest(source: &Stored, target: &Stored) -> Result<Option<Segment>, StoreError> {
    let start = |stored: &Stored| stored.snapshot.as_ref().map_or(0, |(seen, _)| *seen);
    let (ours, theirs) = (start(source), start(target));
    let common = ours.max(theirs);
    let (here, there) = (from(source, common)?, from(target, common)?);
    let same_start = ours == theirs && source.snapshot == target.snapshot;
    let agree = source.row == target.row
        && (same_start || (ours != theirs && there.count > 0))
        && here.bytes.starts_with(&there.bytes)
        && whole(target)?.end() >= common
        && whole(source)?.end() >= common;
    if !agree {
        return Ok(None);
    }
    Ok(Some(from(source, common + there.count)?))
}
