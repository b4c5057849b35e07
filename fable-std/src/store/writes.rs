//! What one commit changes: the net effect of any number of requests, in memory.

use super::journal::{Entry, Segment};
use super::row::UserRow;
use crate::memory::{Exchange, Memory};
use std::collections::{BTreeMap, BTreeSet};

/// Changes that belong together.
///
/// ```
/// use fable_std::store::Writes;
/// let mut writes = Writes::default();
/// writes.snapshot(7, 512, b"...");
/// let mut later = Writes::default();
/// later.erase(7, 1);
/// writes.merge(later); // nothing of what was to be written about user 7 is left
/// assert!(!writes.is_empty() && writes.erases());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Writes {
    /// Users of whom nothing may stay.
    pub(super) erased: BTreeSet<u64>,
    pub(super) users: BTreeMap<u64, UserRow>,
    /// The number of entries it has seen, and the snapshot.
    pub(super) snapshots: BTreeMap<u64, (u64, Vec<u8>)>,
    /// Snapshots that the journal of an imported user begins with.
    pub(super) bases: BTreeMap<u64, (u64, Vec<u8>)>,
    pub(super) wishes: BTreeMap<u64, Vec<u8>>,
    pub(super) priors: BTreeMap<u64, Vec<u8>>,
    pub(super) journal: BTreeMap<(u64, u64), Segment>,
    /// Whether the log that was committed before is in the journal now.
    pub(super) folded: bool,
    pub(super) log: BTreeMap<u64, Segment>,
    pub(super) incarnation: Option<u32>,
    /// Users who come with a past of another store's.
    pub(super) arrivals: BTreeSet<u64>,
    /// Which life of the users it is, see [`Stored::birth`](super::Stored::birth).
    pub(super) births: BTreeMap<u64, u64>,
    pub(super) memories: BTreeMap<u64, Remembered>,
}

/// What is remembered of a user from now on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Remembered {
    /// Whether nothing of before stays.
    pub anew: bool,
    /// What is added, in order.
    pub exchanges: Vec<Exchange>,
}

impl Writes {
    /// Whether there is nothing to write.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let rows = [&self.wishes, &self.priors];
        self.erased.is_empty()
            && rows.iter().all(|rows| rows.is_empty())
            && self.users.is_empty()
            && self.snapshots.is_empty()
            && self.bases.is_empty()
            && self.journal.is_empty()
            && !self.folded
            && self.log.is_empty()
            && self.memories.is_empty()
    }

    /// Whether users are to be erased.
    #[must_use]
    pub fn erases(&self) -> bool {
        !self.erased.is_empty()
    }

    /// Whether a user is to be erased.
    #[must_use]
    pub fn erases_user(&self, number: u64) -> bool {
        self.erased.contains(&number)
    }

    /// The incarnation that users who come after these writes start in, if they change it.
    #[must_use]
    pub const fn next_incarnation(&self) -> Option<u32> {
        self.incarnation
    }

    /// Entries of a user's journal among these writes.
    #[must_use]
    pub fn newest(&self, number: u64) -> Option<&Segment> {
        self.log.get(&number)
    }

    /// The words of a user's own rules, if they are among these writes.
    #[must_use]
    pub fn newest_wishes(&self, number: u64) -> Option<&[u8]> {
        self.wishes.get(&number).map(Vec::as_slice)
    }

    /// Whether the log is moved into the journal.
    #[must_use]
    pub const fn folds(&self) -> bool {
        self.folded
    }

    /// A user who was not there before.
    pub fn user(&mut self, number: u64, row: &UserRow) {
        self.users.insert(number, row.clone());
    }

    /// What is written about a user is about this life.
    pub fn life(&mut self, number: u64, birth: u64) {
        self.births.insert(number, birth);
    }

    /// The next entry of a user's journal.
    pub fn entry(&mut self, user: u64, position: u64, entry: &Entry<'_>) {
        self.log.entry(user).or_insert_with(|| Segment { first: position, ..Segment::default() }).push(entry);
    }

    /// A snapshot that has seen the first `seen` entries of the journal.
    pub fn snapshot(&mut self, user: u64, seen: u64, snapshot: &[u8]) {
        self.snapshots.insert(user, (seen, snapshot.to_vec()));
    }

    /// The words of all of a user's own rules, as [`super::wishes`] writes them.
    pub fn wishes(&mut self, user: u64, document: &[u8]) {
        self.wishes.insert(user, document.to_vec());
    }

    /// An exchange with a user. The oldest ones leave when there are too many.
    pub fn remember(&mut self, user: u64, exchange: Exchange) {
        self.memories.entry(user).or_default().exchanges.push(exchange);
    }

    /// What a user's memory is from now on; whatever was there before is not.
    pub fn memory(&mut self, user: u64, memory: &Memory) {
        self.memories.insert(user, Remembered { anew: true, exchanges: memory.exchanges().to_vec() });
    }

    /// What these writes add to a user's memory.
    #[must_use]
    pub fn remembered(&self, user: u64) -> Option<&Remembered> {
        self.memories.get(&user)
    }

    /// A prior that users begin with, by the fingerprint of the policy with it.
    pub fn prior(&mut self, fingerprint: u64, prior: &[u8]) {
        self.priors.insert(fingerprint, prior.to_vec());
    }

    /// Moves the whole log into the journal: these are all segments that the log has, what is in these writes included.
    pub fn fold<'s>(&mut self, segments: impl Iterator<Item = (u64, &'s Segment)>) {
        self.log.clear();
        self.folded = true;
        let filled = segments.filter(|(_, segment)| segment.count > 0);
        self.journal.extend(filled.map(|(user, segment)| ((user, segment.first), segment.clone())));
    }

    /// Nothing of a user may stay, and users who come from now on start in `incarnation`.
    pub fn erase(&mut self, user: u64, incarnation: u32) {
        self.users.remove(&user);
        self.snapshots.remove(&user);
        self.bases.remove(&user);
        self.wishes.remove(&user);
        self.log.remove(&user);
        self.births.remove(&user);
        self.arrivals.remove(&user);
        self.memories.remove(&user);
        self.journal.retain(|key, _| key.0 != user);
        self.erased.insert(user);
        self.incarnation = Some(incarnation);
    }

    /// A new user comes with a past of another store's: in which incarnation that began does not matter.
    pub(super) fn arrival(&mut self, user: u64) {
        self.arrivals.insert(user);
    }

    /// Entries that go into the journal at once.
    pub(super) fn segment(&mut self, user: u64, segment: &Segment) {
        if segment.count > 0 {
            self.journal.insert((user, segment.first), segment.clone());
        }
    }

    /// A snapshot that the journal begins after.
    pub(crate) fn base(&mut self, user: u64, seen: u64, snapshot: &[u8]) {
        self.bases.insert(user, (seen, snapshot.to_vec()));
    }

    /// Users who come from now on start in this incarnation.
    pub(crate) const fn start_in(&mut self, incarnation: u32) {
        self.incarnation = Some(incarnation);
    }

    /// Adds what comes after.
    pub fn merge(&mut self, next: Self) {
        for user in next.erased {
            self.erase(user, 0);
        }
        if next.folded {
            self.log.clear();
            self.folded = true;
        }
        self.users.extend(next.users);
        self.snapshots.extend(next.snapshots);
        self.bases.extend(next.bases);
        self.wishes.extend(next.wishes);
        self.priors.extend(next.priors);
        self.journal.extend(next.journal);
        for (user, segment) in next.log {
            match self.log.entry(user) {
                std::collections::btree_map::Entry::Vacant(place) => drop(place.insert(segment)),
                std::collections::btree_map::Entry::Occupied(mut place) => place.get_mut().append(&segment),
            }
        }
        self.incarnation = next.incarnation.or(self.incarnation);
        self.births.extend(next.births);
        self.arrivals.extend(next.arrivals);
        for (user, remembered) in next.memories {
            let memory = self.memories.entry(user).or_default();
            if remembered.anew {
                *memory = remembered;
            } else {
                memory.exchanges.extend(remembered.exchanges);
            }
        }
    }
}
