//! Where everything is: in memory, and in a file beside the store that says the same.
//!
//! The file is `FABLEIDX`, the version, 7 zeros, the id of the store's file, a CRC-32 and 12 zeros, then records: a length (4), a CRC-32
//! of the rest (4), and what is sealed with the key in slot 0 about the id and the place. A record begins with where the store's file
//! ended (8), the number of its last group (8) and whether it was closed then (1); changes follow, see [`Change`].
//!
//! The file is written after the store's own and is never needed: without it the store's file is read from end to end. It makes opening
//! fast, and it says whose a damaged place is. It is not synced with every commit; what it lacks is read from the store's file.

use super::frame::{Data, Kind, Place};
use super::keys::Slot;
use super::medium::Medium;
use super::seal::{NONCE, Nonces};
use std::collections::{BTreeMap, HashMap};
use std::io;

const MAGIC: &[u8; 8] = b"FABLEIDX";
const HEAD: usize = 48;
/// Bytes of changes in one record when everything is written.
const PART: usize = 1 << 20;

/// Snapshots of a user, each with the number of entries it has seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Snapshots {
    /// The last one.
    pub(super) newest: (u64, Place),
    /// One that the history will begin with when it has grown enough.
    pub(super) middle: (u64, Place),
    /// The one that the history begins with; nowhere if that is the beginning.
    pub(super) base: (u64, Place),
}

/// Where what is kept about a user is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) slot: u32,
    pub(super) generation: u32,
    pub(super) row: Place,
    pub(super) rules: Place,
    /// The last part of the journal, which leads to the one before.
    pub(super) journal: Place,
    /// The last exchanges, which lead to those before.
    pub(super) memory: Place,
    pub(super) snapshots: Option<Box<Snapshots>>,
    /// Whether the user's number is not the hash of the name.
    pub(super) moved: bool,
    /// What is lost, see [`Damage`](super::Damage).
    pub(super) lost: u8,
}

/// One change of the index. In the file: a byte that says which, and the numbers in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// 1: a user's entry.
    Put(u64, Entry),
    /// 2: newest entries of a user's journal.
    Log(u64, Place),
    /// 3: the log is in the journal.
    Fold,
    /// 4: a prior.
    Prior(u64, Place),
}

/// See the [module](self).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Index {
    pub(super) users: BTreeMap<u64, Entry>,
    /// The newest entries of users, in order.
    pub(super) log: HashMap<u64, Vec<Place>>,
    pub(super) priors: BTreeMap<u64, Place>,
}

impl Snapshots {
    /// The history begins here.
    pub(super) const fn at(seen: u64, place: Place) -> Self {
        Self { newest: (seen, place), middle: (seen, place), base: (seen, place) }
    }

    /// A new snapshot. Once there are more than `history` entries after the base, it moves on.
    pub(super) fn push(&mut self, seen: u64, place: Place, history: Option<u64>) {
        self.newest = (seen, place);
        if history.is_some_and(|history| seen.saturating_sub(self.middle.0) >= history.div_ceil(2)) {
            self.base = self.middle;
            self.middle = self.newest;
        }
    }
}

impl Index {
    pub(super) fn apply(&mut self, change: Change) {
        match change {
            Change::Put(number, entry) => {
                self.users.insert(number, entry);
            }
            Change::Log(number, place) => self.log.entry(number).or_default().push(place),
            Change::Fold => self.log.clear(),
            Change::Prior(fingerprint, place) => {
                self.priors.insert(fingerprint, place);
            }
        }
    }

    /// Where the newest entries of a user are.
    pub(super) fn log_of(&self, number: u64) -> &[Place] {
        self.log.get(&number).map_or(&[], Vec::as_slice)
    }

    /// Nothing of a user is left.
    pub(super) fn remove(&mut self, number: u64) {
        self.users.remove(&number);
        self.log.remove(&number);
    }

    /// All of it as changes.
    fn changes(&self) -> impl Iterator<Item = Change> {
        let users = self.users.iter().map(|(number, entry)| Change::Put(*number, entry.clone()));
        let priors = self.priors.iter().map(|(fingerprint, place)| Change::Prior(*fingerprint, *place));
        let log = self
            .log
            .iter()
            .flat_map(|(number, places)| places.iter().map(|place| Change::Log(*number, *place)));
        priors.chain(users).chain(log)
    }
}

impl Change {
    fn encode(&self, out: &mut Vec<u8>) {
        let mut put = |which: u8, numbers: &[u64]| {
            out.push(which);
            for number in numbers {
                out.extend_from_slice(&number.to_le_bytes());
            }
        };
        match self {
            Self::Put(number, entry) => {
                let Entry { slot, generation, row, rules, journal, memory, snapshots, moved, lost } = entry;
                let key = u64::from(*slot) << 32 | u64::from(*generation);
                let flags = u64::from(*moved) | u64::from(snapshots.is_some()) << 1 | u64::from(*lost) << 8;
                put(1, &[*number, key, row.bits(), rules.bits(), journal.bits(), memory.bits(), flags]);
                if let Some(Snapshots { newest, middle, base }) = snapshots.as_deref() {
                    for (seen, place) in [newest, middle, base] {
                        out.extend_from_slice(&seen.to_le_bytes());
                        out.extend_from_slice(&place.bits().to_le_bytes());
                    }
                }
            }
            Self::Log(number, place) => put(2, &[*number, place.bits()]),
            Self::Fold => put(3, &[]),
            Self::Prior(fingerprint, place) => put(4, &[*fingerprint, place.bits()]),
        }
    }

    fn decode(bytes: &mut &[u8]) -> Option<Self> {
        let (which, rest) = bytes.split_first()?;
        *bytes = rest;
        let mut number = || {
            let (number, rest) = bytes.split_first_chunk()?;
            *bytes = rest;
            Some(u64::from_le_bytes(*number))
        };
        Some(match which {
            1 => {
                let (user, key) = (number()?, number()?);
                let [row, rules, journal, memory] =
                    [number()?, number()?, number()?, number()?].map(Place::from_bits);
                let flags = number()?;
                let mut snapshot = || Some((number()?, Place::from_bits(number()?)));
                let snapshots = match flags & 2 {
                    0 => None,
                    _ => Some(Box::new(Snapshots {
                        newest: snapshot()?,
                        middle: snapshot()?,
                        base: snapshot()?,
                    })),
                };
                let (slot, generation, moved, lost) =
                    ((key >> 32) as u32, key as u32, flags & 1 != 0, (flags >> 8) as u8);
                Self::Put(
                    user,
                    Entry { slot, generation, row, rules, journal, memory, snapshots, moved, lost },
                )
            }
            2 => Self::Log(number()?, Place::from_bits(number()?)),
            3 => Self::Fold,
            4 => Self::Prior(number()?, Place::from_bits(number()?)),
            _ => return None,
        })
    }
}

/// What a frame changes, when the store's file is read from end to end.
#[derive(Debug, Default)]
pub(super) struct Rebuild {
    pub(super) index: Index,
    numbers: HashMap<u32, u64>,
    /// Places that were no frames.
    pub(super) gaps: usize,
    /// Frames of which it is not known whose they are, by their key.
    strays: HashMap<(u32, u32), usize>,
}

impl Rebuild {
    pub(super) fn from(index: Index) -> Self {
        let numbers = index.users.iter().map(|(number, entry)| (entry.slot, *number)).collect();
        Self { index, numbers, ..Self::default() }
    }

    /// Damaged places of which it is not known whose they are.
    pub(super) fn unaccounted(&self) -> usize {
        self.gaps + self.strays.values().sum::<usize>()
    }

    /// A frame of which it is not known whose it is.
    pub(super) fn stray(&mut self, key: (u32, u32)) {
        *self.strays.entry(key).or_default() += 1;
    }

    /// Takes a frame whose key has its generation. The row of a user, and what says that something of a user is lost, have the user's
    /// number and whether it is the hash of the name.
    pub(super) fn frame(
        &mut self,
        (kind, place, position): (Kind, Place, u64),
        key: (u32, u32),
        row: Option<(u64, bool)>,
        history: Option<u64>,
    ) {
        if kind == Kind::User {
            let Some((number, moved)) = row else { return self.stray(key) };
            self.numbers.insert(key.0, number);
            let entry = Entry { slot: key.0, generation: key.1, row: place, moved, ..Entry::default() };
            self.index.apply(Change::Put(number, entry));
            return;
        }
        if let (Kind::Lost, Some((number, moved))) = (kind, row) {
            self.strays.remove(&key); // they are this user's
            self.numbers.insert(key.0, number);
            let entry = self.index.users.entry(number);
            let entry =
                entry.or_insert_with(|| Entry { slot: key.0, generation: key.1, moved, ..Entry::default() });
            entry.lost = position as u8;
            return;
        }
        match kind {
            Kind::Fold => return self.index.apply(Change::Fold),
            Kind::Prior => return self.index.apply(Change::Prior(position, place)),
            _ => {}
        }
        let known =
            self.numbers.get(&key.0).and_then(|number| Some((*number, self.index.users.get_mut(number)?)));
        let Some((number, entry)) = known.filter(|(_, entry)| entry.generation == key.1) else {
            return self.stray(key);
        };
        match kind {
            Kind::Rules => entry.rules = place,
            Kind::Journal => entry.journal = place,
            Kind::Memory => entry.memory = place,
            Kind::Lost => self.stray(key),
            Kind::Base => entry.snapshots = Some(Box::new(Snapshots::at(position, place))),
            Kind::Snapshot => entry.snapshots.get_or_insert_default().push(position, place, history),
            _ => self.index.log.entry(number).or_default().push(place),
        }
    }
}

/// The file of an index.
#[derive(Debug)]
pub(super) struct Mirror {
    medium: Box<dyn Medium>,
    id: [u8; 16],
    key: Slot,
    nonces: Nonces,
    end: u64,
    /// Length when all of the index was last written.
    whole: u64,
    /// Whether there is nothing behind the end, where an old record could be taken for the next one.
    trimmed: bool,
}

/// What a mirror says.
#[derive(Debug, Default)]
pub(super) struct Reflection {
    pub(super) index: Index,
    /// Up to where in the store's file it knows everything.
    pub(super) end: u64,
    /// The number of the last group before.
    pub(super) number: u64,
    /// Whether the store was closed then.
    pub(super) closed: bool,
    /// Users in order that are not in the index yet: together they make a map much faster.
    sorted: Vec<(u64, Entry)>,
}

impl Mirror {
    /// Writes all of an index into a file. It counts from the last record on, so a part of it counts for nothing.
    pub(super) fn create(
        medium: Box<dyn Medium>,
        data: &Data,
        key: Slot,
        index: &Index,
        (end, number): (u64, u64),
    ) -> io::Result<Self> {
        medium.set_len(0)?;
        let mut head = MAGIC.to_vec();
        head.extend_from_slice(&[super::VERSION, 0, 0, 0, 0, 0, 0, 0]);
        head.extend_from_slice(data.id());
        head.extend_from_slice(&crc32fast::hash(&head).to_le_bytes());
        head.resize(HEAD, 0);
        medium.write(0, &head)?;
        let mut mirror = Self {
            medium,
            id: *data.id(),
            key,
            nonces: Nonces::new()?,
            end: HEAD as u64,
            whole: 0,
            trimmed: true,
        };
        let mut part = Vec::new();
        for change in index.changes() {
            change.encode(&mut part);
            if part.len() >= PART {
                mirror.record((0, 0), false, &part)?;
                part.clear();
            }
        }
        mirror.record((end, number), false, &part)?;
        mirror.whole = mirror.end;
        Ok(mirror)
    }

    /// Reads a file: what it says, and itself to go on with. `None` if it is of another store, of another time, or damaged from the
    /// start.
    pub(super) fn open(
        medium: Box<dyn Medium>,
        data: &Data,
        key: Slot,
    ) -> io::Result<Option<(Self, Reflection)>> {
        let length = usize::try_from(medium.len()?).unwrap_or(usize::MAX);
        let mut bytes = vec![0; length];
        medium.read(0, &mut bytes)?;
        let Some(head) = bytes.get(..HEAD) else { return Ok(None) };
        let sum = crc32fast::hash(head.get(..32).unwrap_or_default());
        let known = head.starts_with(MAGIC)
            && head.get(8) == Some(&super::VERSION)
            && head.get(16..32) == Some(data.id())
            && head.get(32..36) == Some(&sum.to_le_bytes());
        if !known {
            return Ok(None);
        }
        let mut mirror = Self {
            medium,
            id: *data.id(),
            key,
            nonces: Nonces::new()?,
            end: HEAD as u64,
            whole: 0,
            trimmed: false,
        };
        let (mut reflection, mut at) = (Reflection::default(), HEAD);
        while let Some((place, plain)) = mirror.read(&mut bytes, at) {
            let Some(more) = reflection.take(plain) else { return Ok(None) };
            at = place;
            mirror.end = place as u64;
            if mirror.whole == 0 && more.0 > 0 {
                mirror.whole = mirror.end;
            }
            (reflection.end, reflection.number, reflection.closed) = more;
        }
        reflection.gather();
        Ok((reflection.end > 0).then_some((mirror, reflection)))
    }

    /// The content of a record, and where the next one begins.
    fn read<'b>(&self, bytes: &'b mut [u8], at: usize) -> Option<(usize, &'b [u8])> {
        let (head, rest) = bytes.get_mut(at..)?.split_at_mut_checked(8)?;
        let length = u32::from_le_bytes(*head.first_chunk()?) as usize;
        let sealed = rest.get_mut(..length)?;
        if head.get(4..) != Some(&crc32fast::hash(sealed).to_le_bytes()[..]) {
            return None;
        }
        let plain = self.key.key.open(&self.about(at as u64), sealed)?;
        Some((at + 8 + length, plain))
    }

    fn about(&self, offset: u64) -> [u8; 24] {
        let mut about = [0; 24];
        about
            .iter_mut()
            .zip(self.id.into_iter().chain(offset.to_le_bytes()))
            .for_each(|(to, from)| *to = from);
        about
    }

    fn record(&mut self, (end, number): (u64, u64), closed: bool, changes: &[u8]) -> io::Result<()> {
        let mut bytes = vec![0; 8 + NONCE];
        bytes.extend_from_slice(&end.to_le_bytes());
        bytes.extend_from_slice(&number.to_le_bytes());
        bytes.push(u8::from(closed));
        bytes.extend_from_slice(changes);
        self.key.key.seal(&self.nonces, &self.about(self.end), &mut bytes, 8)?;
        let sealed = bytes.get(8..).unwrap_or_default();
        let head =
            (sealed.len() as u32).to_le_bytes().into_iter().chain(crc32fast::hash(sealed).to_le_bytes());
        let head: Vec<u8> = head.collect();
        bytes.iter_mut().zip(head).for_each(|(to, from)| *to = from);
        if !std::mem::replace(&mut self.trimmed, true) {
            self.medium.set_len(self.end)?;
        }
        self.medium.write(self.end, &bytes)?;
        self.end += bytes.len() as u64;
        Ok(())
    }

    /// Adds what was changed up to a place of the store's file.
    pub(super) fn add(&mut self, end: (u64, u64), changes: &[Change]) -> io::Result<()> {
        let mut bytes = Vec::new();
        for change in changes {
            change.encode(&mut bytes);
        }
        self.record(end, false, &bytes)
    }

    /// Says that the store is closed.
    pub(super) fn close(&mut self, end: (u64, u64)) -> io::Result<()> {
        self.record(end, true, &[])?;
        self.medium.sync()
    }

    /// Whether it has grown to so many percent of what all of it is, and some more.
    pub(super) const fn has_grown_to(&self, percent: u64, more: u64) -> bool {
        self.end > self.whole / 100 * percent + more
    }
}

impl Reflection {
    fn gather(&mut self) {
        // Few into many are quicker one by one.
        if self.sorted.len() < self.index.users.len() / 8 {
            self.index.users.extend(self.sorted.drain(..));
        } else {
            self.index.users.append(&mut self.sorted.drain(..).collect());
        }
    }

    fn take(&mut self, plain: &[u8]) -> Option<(u64, u64, bool)> {
        let (end, rest) = plain.split_first_chunk()?;
        let (number, rest) = rest.split_first_chunk()?;
        let (closed, mut rest) = rest.split_first()?;
        while !rest.is_empty() {
            match Change::decode(&mut rest)? {
                Change::Put(number, entry) if self.sorted.last().is_none_or(|(last, _)| *last < number) => {
                    self.sorted.push((number, entry));
                }
                change @ (Change::Log(..) | Change::Fold | Change::Prior(..)) => self.index.apply(change),
                change @ Change::Put(..) => {
                    self.gather();
                    self.index.apply(change);
                }
            }
        }
        Some((u64::from_le_bytes(*end), u64::from_le_bytes(*number), *closed != 0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_come_back() {
        let place = Place::from_bits;
        let snapshots = Snapshots { newest: (3, place(1)), middle: (2, place(2)), base: (1, place(3)) };
        let entry = Entry {
            slot: 7,
            generation: 9,
            row: place(4),
            rules: place(5),
            journal: place(6),
            memory: place(7),
            snapshots: None,
            moved: true,
            lost: 3,
        };
        let changes = [
            Change::Put(1, entry.clone()),
            Change::Put(u64::MAX, Entry { snapshots: Some(Box::new(snapshots)), moved: false, ..entry }),
            Change::Log(5, place(9)),
            Change::Fold,
            Change::Prior(4, place(8)),
        ];
        let mut bytes = Vec::new();
        for change in &changes {
            change.encode(&mut bytes);
        }
        let mut rest = &bytes[..];
        let back: Vec<Change> = std::iter::from_fn(|| Change::decode(&mut rest)).collect();
        assert_eq!((back.as_slice(), rest), (&changes[..], &[][..]));
    }

    #[test]
    fn a_history_is_between_half_of_what_is_wanted_and_all_of_it() {
        let mut snapshots = Snapshots::default();
        for seen in (512..100_000).step_by(512) {
            snapshots.push(seen, Place::from_bits(seen), Some(4_096));
            let history = seen - snapshots.base.0;
            assert!(history <= 4_096 + 512 && (history >= 2_048 || seen < 4_096), "{history}");
            assert_eq!((snapshots.newest.0, snapshots.base.1.bits()), (seen, snapshots.base.0));
        }
        let mut all = Snapshots::default();
        (1..100).for_each(|seen| all.push(512 * seen, Place::from_bits(seen), None));
        assert!(all.base.1.is_none());
    }
}
