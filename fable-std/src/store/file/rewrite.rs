//! Writing a store anew: what is needed of every user, in order. A store that has grown is made small so, a backup is one such copy,
//! and a repair is one that takes what it can get.

use super::commit::{Press, memory_part};
use super::frame::{Data, Group, Head, Kind, Place, START};
use super::index::{Change, Entry, Index, Snapshots};
use super::keys::{HOUSE, Keys};
use super::reader::Reader;
use super::seal::Nonces;
use super::{Reach, StoreError, UserRow};
use crate::memory::{Bounds, Memory};
use crate::store::damage::{Damage, Fault};
use crate::store::journal::Segment;
use std::collections::{HashMap, HashSet};
use std::io;
use std::ops::ControlFlow;

/// Bytes that make a group.
const GROUP: u64 = 1 << 20;
/// How many entries a snapshot has seen, where it was, and its bytes if it is there.
type Kept = ((u64, Place), Option<Vec<u8>>);

/// Bytes of a journal that make a part.
const PART: usize = 64 << 10;

/// A copy in the making.
#[derive(Debug)]
pub(super) struct Copy {
    pub(super) data: Data,
    pub(super) index: Index,
    group: Group,
    pub(super) number: u64,
    nonces: Nonces,
    history: Option<u64>,
    /// Where frames of the log went.
    moved: HashMap<Place, Place>,
}

impl Copy {
    pub(super) fn begin(data: Data, history: Option<u64>) -> Result<Self, StoreError> {
        let group = Group::at(START);
        Ok(Self {
            data,
            index: Index::default(),
            group,
            number: 0,
            nonces: Nonces::new()?,
            history,
            moved: HashMap::new(),
        })
    }

    /// Where the next group goes, once everything is written.
    pub(super) const fn end(&self) -> u64 {
        self.group.start()
    }

    /// Adds a frame of a user.
    fn push(
        &mut self,
        keys: &Keys,
        entry: &Entry,
        what: (Kind, u64),
        parts: &[&[u8]],
    ) -> Result<Place, StoreError> {
        let Self { data, index, group, nonces, history, .. } = self;
        let press = Press { data, keys, nonces, index, history: *history, memory: Bounds::default() };
        press.frame(group, entry, what, parts)
    }

    /// Writes the group if it is long enough.
    fn flush(&mut self, least: u64) -> Result<(), StoreError> {
        if !self.group.is_empty() && self.group.end() - self.group.start() >= least {
            let next = Group::at(self.group.end());
            self.number += 1;
            let mut group = std::mem::replace(&mut self.group, next);
            // The file counts from when all of it is on disk.
            self.data.medium.write(group.start(), group.finish(self.number, group.start()))?;
        }
        Ok(())
    }

    /// Copies a prior.
    pub(super) fn prior(
        &mut self,
        from: Reader<'_>,
        fingerprint: u64,
        place: Place,
    ) -> Result<(), StoreError> {
        let (_, bytes) = from.house(Kind::Prior, place).map_err(|unread| unread.of(Damage::Prior))?;
        self.put_prior(from.keys, fingerprint, &bytes)
    }

    /// Adds a prior; an empty one says that it is lost.
    fn put_prior(&mut self, keys: &Keys, fingerprint: u64, bytes: &[u8]) -> Result<(), StoreError> {
        let house = keys.slot(HOUSE)?.ok_or(StoreError::Key("the key of the house is damaged"))?;
        let what = (Kind::Prior, fingerprint);
        let place = self.group.push(&self.data, &self.nonces, (HOUSE, &house), what, &[bytes])?;
        self.index.apply(Change::Prior(fingerprint, place));
        self.flush(GROUP)
    }

    /// Copies all of a user but the log. Nothing that cannot be read is left out in silence.
    pub(super) fn user(&mut self, from: Reader<'_>, number: u64, entry: &Entry) -> Result<(), StoreError> {
        if entry.row.is_none() {
            return self.nameless(from.keys, number, entry);
        }
        let key = from.key(entry)?;
        let row = from.row(number, entry, &key)?;
        let rules = from.rules(entry, &key)?;
        let Snapshots { newest, middle, base } = entry.snapshots.as_deref().copied().unwrap_or_default();
        let journal = from.journal(entry, &key, base.0)?;
        let mut snapshots = Vec::new();
        for which in [base, middle, newest] {
            let there = !which.1.is_none();
            snapshots
                .push((which, if there { Some(from.snapshot(entry, &key, &row, which)?) } else { None }));
        }
        let memory = from.memory(entry, &key)?;
        self.write(from.keys, entry, &row, (&rules, &memory), &journal, &snapshots)
    }

    /// A user of whom not even the name is left stays one: nobody is taken for somebody new.
    fn nameless(&mut self, keys: &Keys, number: u64, entry: &Entry) -> Result<(), StoreError> {
        let Entry { slot, generation, moved, .. } = *entry;
        let new = Entry { slot, generation, moved, lost: Damage::Row as u8, ..Entry::default() };
        self.mark(keys, number, &new)?;
        self.index.apply(Change::Put(number, new));
        self.flush(GROUP)
    }

    fn mark(&mut self, keys: &Keys, number: u64, entry: &Entry) -> Result<Place, StoreError> {
        let Self { data, index, group, nonces, history, .. } = self;
        Press { data, keys, nonces, index, history: *history, memory: Bounds::default() }
            .lost(group, number, entry)
    }

    fn write(
        &mut self,
        keys: &Keys,
        entry: &Entry,
        row: &UserRow,
        (rules, (memory, bounds)): (&[u8], &(Memory, Bounds)),
        journal: &[Segment],
        snapshots: &[Kept],
    ) -> Result<(), StoreError> {
        let Entry { slot, generation, moved, lost, .. } = *entry;
        let mut new = Entry { slot, generation, moved, lost, ..Entry::default() };
        new.row = self.push(keys, entry, (Kind::User, 0), &[&row.encode()])?;
        if lost != 0 {
            self.mark(keys, row.header.user, &new)?;
        }
        if !rules.is_empty() {
            new.rules = self.push(keys, entry, (Kind::Rules, 0), &[rules])?;
        }
        if !memory.is_empty() {
            let part = memory_part(Place::NONE, bounds, memory.exchanges());
            new.memory = self.push(keys, entry, (Kind::Memory, 0), &[&part])?;
        }
        let mut part = Segment::default();
        for segment in journal {
            if part.count > 0 && part.bytes.len() + segment.bytes.len() > PART {
                new.journal = self.part(keys, entry, new.journal, &part)?;
                part = Segment::default();
            }
            if part.count == 0 {
                part.first = segment.first;
            }
            part.append(segment);
        }
        if part.count > 0 {
            new.journal = self.part(keys, entry, new.journal, &part)?;
        }
        let mut places = Vec::<((u64, Place), Place)>::new();
        for (kind, (which, bytes)) in [Kind::Base, Kind::Snapshot, Kind::Snapshot].into_iter().zip(snapshots)
        {
            let Some(bytes) = bytes else {
                places.push((*which, Place::NONE));
                continue;
            };
            let known = places.iter().find(|(known, _)| known == which).map(|(_, place)| *place);
            let place = match known {
                Some(place) => place,
                None => self.push(keys, entry, (kind, which.0), &[bytes])?,
            };
            places.push((*which, place));
        }
        if let [base, middle, newest] = places.as_slice()
            && !newest.1.is_none()
        {
            let placed = |((seen, _), place): &((u64, Place), Place)| (*seen, *place);
            new.snapshots = Some(Box::new(Snapshots {
                newest: placed(newest),
                middle: placed(middle),
                base: placed(base),
            }));
        }
        self.index.apply(Change::Put(row.header.user, new));
        self.flush(GROUP)
    }

    fn part(
        &mut self,
        keys: &Keys,
        entry: &Entry,
        before: Place,
        part: &Segment,
    ) -> Result<Place, StoreError> {
        self.push(keys, entry, (Kind::Journal, part.first), &[&before.bits().to_le_bytes(), &part.bytes])
    }

    /// Copies a frame of the log.
    pub(super) fn log(
        &mut self,
        from: Reader<'_>,
        number: u64,
        entry: &Entry,
        place: Place,
    ) -> Result<(), StoreError> {
        let new = if let Some(new) = self.moved.get(&place) {
            *new
        } else {
            let key = from.key(entry)?;
            let segment = from.newest(entry, &key, place).map_err(|unread| unread.of(Damage::Journal))?;
            let new = self.push(from.keys, entry, (Kind::Log, segment.first), &[&segment.bytes])?;
            self.moved.insert(place, new);
            new
        };
        self.index.apply(Change::Log(number, new));
        self.flush(GROUP)
    }

    /// Lets the copied frames of the log not count any more if some of them are not in the log now.
    pub(super) fn fold(
        &mut self,
        from: Reader<'_>,
        log: &HashMap<u64, Vec<Place>>,
    ) -> Result<(), StoreError> {
        let now: HashSet<&Place> = log.values().flatten().collect();
        if self.moved.keys().all(|place| now.contains(place)) {
            return Ok(());
        }
        self.moved.clear();
        let house = from.keys.slot(HOUSE)?.ok_or(StoreError::Key("the key of the house is damaged"))?;
        self.group.push(&self.data, &self.nonces, (HOUSE, &house), (Kind::Fold, 0), &[])?;
        Ok(())
    }

    /// Everything is on disk when this returns. The data's head is the last thing that is written.
    pub(super) fn finish(&mut self, keys: &Keys) -> Result<(), StoreError> {
        self.flush(1)?;
        let end = self.end();
        self.data.medium.sync()?;
        self.data.finish(keys, end)?;
        Ok(self.data.medium.sync()?)
    }
}

/// What a repair could not bring back of a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// The user's name, if it could be read.
    pub name: Option<String>,
    /// The user's number.
    pub number: u64,
    /// What was damaged.
    pub damage: Damage,
    /// The first event that is lost, if the user goes on as of before it. A user without that stays damaged, unless it is the memory alone
    /// that is lost.
    pub from: Option<u64>,
}

/// Where everything that has a sound head is, by slot and generation: for users whose journal cannot be followed.
pub(super) type Pool = HashMap<(u32, u32), Vec<(Head, Place)>>;

impl Copy {
    /// Copies what can be read of a user, the log included, and says what is lost.
    pub(super) fn salvage(
        &mut self,
        from: Reader<'_>,
        to: &Keys,
        (number, entry): (u64, &Entry),
        log: &[Place],
        pool: &Pool,
    ) -> Result<Option<Loss>, StoreError> {
        let loss = |name, damage, from| Some(Loss { name, number, damage, from });
        // A mark of before is believed if what it says is gone; otherwise what can be read now decides.
        let mut entry = entry.clone();
        if !is_settled(&entry) {
            entry.lost = 0;
        }
        let key = match from.key(&entry) {
            Ok(key) => key,
            Err(Fault::Failed(error)) => return Err(error.into()),
            Err(Fault::Damaged(damage)) => {
                // Nothing of the user can ever be read. The copy has another key in this place.
                entry.generation = to.slot(entry.slot)?.map_or(0, |slot| slot.generation);
                self.nameless(to, number, &entry)?;
                return Ok(loss(None, damage, None));
            }
        };
        let row = match from.row(number, &entry, &key) {
            Ok(row) => row,
            Err(Fault::Failed(error)) => return Err(error.into()),
            Err(Fault::Damaged(damage)) => {
                self.nameless(from.keys, number, &entry)?;
                return Ok(loss(None, damage, None));
            }
        };
        let name = Some(row.name.clone());
        let rules = match from.rules(&entry, &key) {
            Ok(rules) => rules,
            Err(Fault::Failed(error)) => return Err(error.into()),
            Err(Fault::Damaged(damage)) => {
                entry.lost = damage as u8;
                Vec::new()
            }
        };
        let (memory, memory_lost) = match from.memory(&entry, &key) {
            Ok(memory) => (memory, false),
            Err(Fault::Failed(error)) => return Err(error.into()),
            Err(Fault::Damaged(_)) => ((Memory::default(), Bounds::default()), true),
        };
        // Entries never change: whatever part has one, it is the same.
        let mut parts = Vec::new();
        for (head, place) in pool.get(&(entry.slot, entry.generation)).map_or(&[][..], Vec::as_slice) {
            let part = match head.kind {
                Kind::Journal => from.part(&entry, &key, *place).map(|(part, _)| part),
                Kind::Log => from.newest(&entry, &key, *place),
                _ => continue,
            };
            parts.extend(part.ok());
        }
        parts.sort_by_key(|part| (part.first, std::cmp::Reverse(part.end())));
        let Snapshots { newest, middle, base } = entry.snapshots.as_deref().copied().unwrap_or_default();
        let mut starts = vec![(0, Place::NONE, None)];
        for which in [base, middle, newest] {
            if !which.1.is_none()
                && let Ok(bytes) = from.snapshot(&entry, &key, &row, which)
            {
                starts.push((which.0, which.1, Some(bytes)));
            }
        }
        // The start from which the journal reaches furthest, and of those the earliest.
        let best = starts
            .iter()
            .map(|(seen, ..)| (reach(&parts, *seen), *seen))
            .max_by_key(|(end, seen)| (*end, std::cmp::Reverse(*seen)));
        let (end, start) = best.unwrap_or_default();
        let journal = cover(&parts, start, end);
        let kept: Vec<_> = starts
            .into_iter()
            .filter(|(seen, _, bytes)| bytes.is_some() && (start..=end).contains(seen))
            .collect();
        let last = kept
            .last()
            .cloned()
            .map_or(((0, Place::NONE), None), |(seen, place, bytes)| ((seen, place), bytes));
        let first = kept.first().filter(|(seen, ..)| *seen == start && start > 0).cloned();
        let first = first.map_or(((0, Place::NONE), None), |(seen, place, bytes)| ((seen, place), bytes));
        let middle = if first.1.is_some() { first.clone() } else { ((0, Place::NONE), None) };
        self.write(from.keys, &entry, &row, (&rules, &memory), &journal, &[first, middle, last])?;
        // What the store knew to be there: the newest snapshot, the last part of the journal and of the log.
        let mut known = newest.0;
        for (kind, place) in
            [(Kind::Journal, entry.journal)].into_iter().chain(log.iter().map(|place| (Kind::Log, *place)))
        {
            let read = match kind {
                Kind::Journal if place.is_none() => continue,
                Kind::Journal => from.part(&entry, &key, place).map(|(part, _)| part.end()),
                _ => from.newest(&entry, &key, place).map(|part| part.end()),
            };
            known = known.max(read.unwrap_or(end + 1));
        }
        Ok(match Damage::of(entry.lost) {
            Some(damage) => loss(name, damage, None),
            None if known > end => loss(name, Damage::Journal, Some(end)),
            None if memory_lost => loss(name, Damage::Memory, None),
            None => None,
        })
    }

    /// Copies the log's frames of users who are whole, and users as they are; the others are salvaged. All of a store, for one with
    /// the keys `to`.
    pub(super) fn all(
        &mut self,
        from: Reader<'_>,
        to: &Keys,
        index: &Index,
        pool: Option<&Pool>,
        progress: &mut dyn FnMut(u64, u64) -> ControlFlow<()>,
    ) -> Result<Vec<Loss>, StoreError> {
        let mut losses = Vec::new();
        for (fingerprint, place) in &index.priors {
            match self.prior(from, *fingerprint, *place) {
                Err(StoreError::User(damage)) if pool.is_some() => {
                    self.put_prior(from.keys, *fingerprint, &[])?;
                    losses.push(Loss { name: None, number: *fingerprint, damage, from: None });
                }
                done => done?,
            }
        }
        let mut order: Vec<(&u64, &Entry)> = index.users.iter().collect();
        order.sort_by_key(|(_, entry)| entry.row);
        let total = order.len() as u64;
        for (done, (number, entry)) in (0..).zip(order) {
            if progress(done, total).is_break() {
                return Err(io::Error::from(io::ErrorKind::Interrupted).into());
            }
            let newest = index.log.get(number).map_or(&[][..], Vec::as_slice);
            match (self.whole(from, *number, entry, newest), pool) {
                (Ok(()), _) => {}
                (Err(StoreError::User(_)), _) if from.is_forgotten(entry) => {}
                (Err(StoreError::User(_)), Some(pool)) => {
                    losses.extend(self.salvage(from, to, (*number, entry), newest, pool)?);
                }
                (done, _) => done?,
            }
        }
        let _ = progress(total, total);
        Ok(losses)
    }

    /// A user and all of the user's log. Everything is read before anything of it is written.
    fn whole(
        &mut self,
        from: Reader<'_>,
        number: u64,
        entry: &Entry,
        log: &[Place],
    ) -> Result<(), StoreError> {
        if entry.lost != 0 && !is_settled(entry) {
            return Err(StoreError::User(Damage::of(entry.lost).unwrap_or(Damage::Row)));
        }
        if !entry.row.is_none() {
            from.complete(number, entry, log, Reach::Whole)?;
        }
        self.user(from, number, entry)?;
        log.iter().try_for_each(|place| self.log(from, number, entry, *place))
    }
}

/// Whether what a user's mark says is lost is not there at all: nothing more can be brought back.
fn is_settled(entry: &Entry) -> bool {
    match Damage::of(entry.lost) {
        Some(Damage::Row) => entry.row.is_none(),
        Some(Damage::Rules) => entry.rules.is_none(),
        _ => false,
    }
}

/// Up to where entries follow each other from a position on.
fn reach(parts: &[Segment], from: u64) -> u64 {
    parts.iter().fold(from, |end, part| if part.first <= end { end.max(part.end()) } else { end })
}

/// The entries between two positions, from parts in order that have them all.
fn cover(parts: &[Segment], from: u64, to: u64) -> Vec<Segment> {
    let mut covered = Vec::<Segment>::new();
    let mut end = from;
    for part in parts.iter().filter(|part| part.first <= to) {
        if part.first <= end && part.end() > end {
            let mut next = Segment { first: end, ..Segment::default() };
            part.from(end).flatten().for_each(|entry| next.push(&entry));
            end = next.end();
            covered.push(next);
        }
    }
    covered
}
