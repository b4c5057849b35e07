//! What a commit changes, by user, and as the arrays that statements take.

use super::sealed::{Spot, What};
use super::session::Fault;
use crate::memory::{self, Bounds};
use crate::store::journal::Segment;
use crate::store::{Remembered, StoreError, UserRow, Writes};
use ring::rand::{SecureRandom, SystemRandom};
use std::collections::{BTreeMap, BTreeSet};
use std::io;

/// A number that nobody else has.
pub(super) fn random() -> Result<u64, StoreError> {
    let mut bytes = [0; 8];
    let none = |_| StoreError::from(io::Error::other("the system has no random numbers"));
    SystemRandom::new().fill(&mut bytes).map_err(none)?;
    Ok(u64::from_le_bytes(bytes))
}

/// Everything that a commit says about one user.
#[derive(Debug)]
pub(super) struct Change<'w> {
    pub(super) number: u64,
    /// Which life it is about; not known yet of a user who is there and of whom the writes do not say.
    pub(super) birth: Option<u64>,
    /// The row of somebody who is not there.
    row: Option<&'w UserRow>,
    /// Whether that one comes with a past of another store's.
    arrives: bool,
    segments: Vec<&'w Segment>,
    rules: Option<&'w [u8]>,
    base: Option<(u64, &'w [u8])>,
    snapshot: Option<(u64, &'w [u8])>,
    memory: Option<&'w Remembered>,
}

impl Change<'_> {
    fn spot(&self, what: What, position: u64) -> Spot {
        Spot { what, number: self.number, birth: self.birth.unwrap_or(0), position }
    }

    /// Where the entries begin; `None` if there are none.
    fn first(&self) -> Option<i64> {
        self.segments.first().map(|segment| segment.first.cast_signed())
    }

    /// Entries in the journal afterwards; `None` if none are added.
    fn last(&self) -> Option<i64> {
        self.segments.last().map(|segment| segment.end().cast_signed())
    }

    /// Whether every segment begins where the one before it ends, and a newcomer's at the beginning.
    fn follows(&self) -> bool {
        let start = self.row.map(|_| self.base.map_or(0, |(seen, _)| seen));
        let mut next = start.or_else(|| self.segments.first().map(|segment| segment.first));
        self.segments.iter().all(|segment| {
            let follows =
                Some(segment.first) == next && segment.count > 0 && i32::try_from(segment.count).is_ok();
            next = segment.first.checked_add(segment.count);
            follows && next.is_some_and(|next| i64::try_from(next).is_ok())
        })
    }
}

/// Takes writes apart, by user and in order.
pub(super) fn by_user(writes: &Writes) -> Result<Vec<Change<'_>>, StoreError> {
    if writes.folded {
        return Err(StoreError::Damaged("a database has no log that could be moved"));
    }
    let keys = writes.users.keys().chain(writes.log.keys()).chain(writes.wishes.keys());
    let keys = keys
        .chain(writes.memories.keys())
        .chain(writes.snapshots.keys())
        .chain(writes.bases.keys())
        .chain(writes.journal.keys().map(|key| &key.0));
    let numbers: BTreeSet<u64> = keys.copied().collect();
    let mut changes = Vec::with_capacity(numbers.len());
    for number in numbers {
        let row = writes.users.get(&number);
        let birth = match (writes.births.get(&number), row) {
            (Some(birth), _) => Some(*birth),
            (None, Some(_)) => Some(random()? | 1),
            (None, None) => None,
        };
        let entered = writes.journal.range((number, 0)..=(number, u64::MAX)).map(|(_, segment)| segment);
        let change = Change {
            number,
            birth,
            row,
            arrives: writes.arrivals.contains(&number),
            segments: entered.chain(writes.log.get(&number)).filter(|segment| segment.count > 0).collect(),
            rules: writes.wishes.get(&number).map(Vec::as_slice),
            base: writes.bases.get(&number).map(|(seen, bytes)| (*seen, bytes.as_slice())),
            snapshot: writes.snapshots.get(&number).map(|(seen, bytes)| (*seen, bytes.as_slice())),
            memory: writes.memories.get(&number),
        };
        if !change.follows() {
            return Err(StoreError::Damaged("entries that were to be written do not follow each other"));
        }
        changes.push(change);
    }
    Ok(changes)
}

/// Users and what is expected of them.
#[derive(Debug, Default)]
pub(super) struct Users {
    pub(super) numbers: Vec<i64>,
    pub(super) births: Vec<i64>,
    pub(super) firsts: Vec<Option<i64>>,
    pub(super) lasts: Vec<Option<i64>>,
    pub(super) rules: Vec<Option<Vec<u8>>>,
}

impl Users {
    fn push(&mut self, change: &Change<'_>) {
        self.numbers.push(change.number.cast_signed());
        self.births.push(change.birth.unwrap_or(0).cast_signed());
        self.firsts.push(change.first());
        self.lasts.push(change.last());
        let spot = Spot { birth: 0, ..change.spot(What::Rules, 0) };
        self.rules.push(change.rules.map(|rules| spot.seal(rules)));
    }
}

/// Those who are not there.
#[derive(Debug, Default)]
pub(super) struct Newcomers {
    pub(super) users: Users,
    pub(super) names: Vec<Vec<u8>>,
    pub(super) heads: Vec<Vec<u8>>,
    pub(super) incarnations: Vec<i64>,
    pub(super) arrive: Vec<bool>,
    pub(super) entries: Entries,
}

/// Entries of journals.
#[derive(Debug, Default)]
pub(super) struct Entries {
    pub(super) numbers: Vec<i64>,
    pub(super) firsts: Vec<i64>,
    pub(super) counts: Vec<i32>,
    pub(super) bytes: Vec<Vec<u8>>,
}

impl Entries {
    fn push(&mut self, change: &Change<'_>) {
        for segment in &change.segments {
            self.numbers.push(change.number.cast_signed());
            self.firsts.push(segment.first.cast_signed());
            self.counts.push(i32::try_from(segment.count).unwrap_or(i32::MAX));
            self.bytes.push(change.spot(What::Entries, segment.first).seal(&segment.bytes));
        }
    }
}

/// Snapshots of users.
#[derive(Debug, Default)]
pub(super) struct Snapshots {
    pub(super) users: Users,
    pub(super) seen: Vec<i64>,
    pub(super) bytes: Vec<Vec<u8>>,
}

impl Snapshots {
    fn push(&mut self, change: &Change<'_>, snapshot: Option<(u64, &[u8])>) {
        let Some((seen, bytes)) = snapshot else { return };
        self.users.push(change);
        self.seen.push(seen.cast_signed());
        self.bytes.push(change.spot(What::Snapshot, seen).seal(bytes));
    }
}

/// What is remembered of users.
#[derive(Debug, Default)]
pub(super) struct Memories {
    pub(super) users: Users,
    /// Whether nothing of before stays.
    pub(super) anew: Vec<bool>,
    /// Exchanges: whose, what they count for, and the bytes.
    pub(super) numbers: Vec<i64>,
    pub(super) sizes: Vec<i32>,
    pub(super) bytes: Vec<Vec<u8>>,
    /// So many exchanges of a user are kept, and so many bytes of them.
    pub(super) most: i64,
    pub(super) room: i64,
}

impl Memories {
    fn push(&mut self, change: &Change<'_>) {
        let Some(Remembered { anew, exchanges }) = change.memory else { return };
        self.users.push(change);
        self.anew.push(*anew);
        for exchange in exchanges {
            self.numbers.push(change.number.cast_signed());
            self.sizes.push(i32::try_from(exchange.size()).unwrap_or(i32::MAX));
            self.bytes
                .push(change.spot(What::Memory, 0).seal(&memory::encode(std::slice::from_ref(exchange))));
        }
    }
}

/// A commit, ready to be sent as often as it takes.
#[derive(Debug, Default)]
pub(super) struct Batch {
    /// Says that a row is of this commit, whichever attempt it was.
    pub(super) token: i64,
    pub(super) users: Users,
    pub(super) newcomers: Newcomers,
    /// Of those who are there.
    pub(super) entries: Entries,
    pub(super) bases: Snapshots,
    pub(super) snapshots: Snapshots,
    pub(super) memories: Memories,
    pub(super) fingerprints: Vec<i64>,
    pub(super) priors: Vec<Vec<u8>>,
    /// Users who are erased, each with the life that is.
    pub(super) erased: Vec<i64>,
    pub(super) ended: Vec<i64>,
    /// So many incarnations further, and this one at the least.
    pub(super) advance: Option<(i64, i64)>,
}

impl Batch {
    /// Puts changes into arrays. Users of whom the life is not known are asked for first.
    pub(super) fn new(writes: &Writes, changes: &[Change<'_>], bounds: &Bounds) -> Result<Self, StoreError> {
        let mut batch = Self { token: random()?.cast_signed(), ..Self::default() };
        let most = |bound: usize| i64::try_from(bound).unwrap_or(i64::MAX);
        (batch.memories.most, batch.memories.room) = (most(bounds.exchanges), most(bounds.bytes));
        for change in changes {
            batch.users.push(change);
            if let Some(row) = change.row {
                let newcomers = &mut batch.newcomers;
                newcomers.users.push(change);
                let begins = change.base.map_or(0, |(seen, _)| seen).cast_signed();
                if let Some(last) = newcomers.users.lasts.last_mut() {
                    last.get_or_insert(begins);
                }
                newcomers.names.push(row.name.as_bytes().to_vec());
                newcomers.heads.push(change.spot(What::Row, 0).seal(&row.encode()));
                newcomers.incarnations.push(i64::from(row.incarnation));
                newcomers.arrive.push(change.arrives);
                newcomers.entries.push(change);
            }
            batch.entries.push(change);
            batch.bases.push(change, change.base);
            batch.snapshots.push(change, change.snapshot);
            batch.memories.push(change);
        }
        for (fingerprint, prior) in &writes.priors {
            batch.fingerprints.push(fingerprint.cast_signed());
            let spot = Spot { what: What::Prior, number: *fingerprint, birth: 0, position: 0 };
            batch.priors.push(spot.seal(prior));
        }
        let least = writes.incarnation.map(i64::from);
        if writes.erases() || least.is_some() {
            batch.advance = Some((0, least.unwrap_or(0)));
        }
        Ok(batch)
    }

    /// These are to be erased. Nobody who comes after them starts in an incarnation that one of them was in.
    pub(super) fn erase(&mut self, lives: &[Life], asked: usize) -> Result<(), Fault> {
        let (_, least) = self.advance.unwrap_or_default();
        let beyond = lives.iter().map(|life| life.incarnation + 1).max().unwrap_or(0);
        let count = i64::try_from(asked).map_err(|_| Fault::foreign("too many users"))?;
        self.advance = Some((count, least.max(beyond)));
        self.erased = lives.iter().map(|life| life.number.cast_signed()).collect();
        self.ended = lives.iter().map(|life| life.birth.cast_signed()).collect();
        Ok(())
    }

    /// Whether it only adds to the journals and changes the rules of users who are there.
    pub(super) fn only_adds(&self) -> bool {
        let beside = [&self.bases, &self.snapshots].iter().all(|snapshots| snapshots.seen.is_empty());
        beside
            && self.memories.anew.is_empty()
            && self.priors.is_empty()
            && self.newcomers.names.is_empty()
            && self.advance.is_none()
            && !self.users.numbers.is_empty()
    }

    /// Everyone who is locked.
    pub(super) fn everyone(&self) -> Vec<i64> {
        let all: BTreeSet<i64> = self.users.numbers.iter().chain(&self.erased).copied().collect();
        all.into_iter().collect()
    }
}

/// Which life of a number is there now.
#[derive(Clone, Copy, Debug)]
pub(super) struct Life {
    pub(super) number: u64,
    pub(super) birth: u64,
    pub(super) incarnation: i64,
}

/// Tells changes the lives that are there, and leaves out those about users who are not.
pub(super) fn settle(changes: &mut Vec<Change<'_>>, lives: &[Life]) {
    let lives: BTreeMap<u64, u64> = lives.iter().map(|life| (life.number, life.birth)).collect();
    for change in changes.iter_mut().filter(|change| change.birth.is_none()) {
        change.birth = lives.get(&change.number).copied();
    }
    changes.retain(|change| change.birth.is_some());
}
