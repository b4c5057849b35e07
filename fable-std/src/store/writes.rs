//! What one commit changes: the net effect of any number of requests, in memory.

use super::StoreError;
use super::journal::{Entry, Segment};
use super::tables::{CONSTRAINTS, INCARNATION, JOURNAL, LOG, META, PRIORS, SNAPSHOTS, USERS, UserRow, push_log};
use redb::{ReadableTable, WriteTransaction};
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
    users: BTreeMap<u64, Vec<u8>>,
    snapshots: BTreeMap<u64, Vec<u8>>,
    constraints: BTreeMap<u64, Vec<u8>>,
    priors: BTreeMap<u64, Vec<u8>>,
    journal: BTreeMap<(u64, u64), Vec<u8>>,
    /// Whether the log that was committed before is in the journal now.
    pub(super) folded: bool,
    log: Vec<u8>,
    incarnation: Option<u32>,
}

impl Writes {
    /// Whether there is nothing to write.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let rows = [&self.users, &self.snapshots, &self.constraints, &self.priors];
        self.erased.is_empty() && rows.iter().all(|rows| rows.is_empty()) && !self.folded && self.log.is_empty()
    }

    /// Whether users are to be erased.
    #[must_use]
    pub fn erases(&self) -> bool {
        !self.erased.is_empty()
    }

    /// Whether the log is moved into the journal.
    #[must_use]
    pub const fn folds(&self) -> bool {
        self.folded
    }

    /// A user who was not there before.
    pub fn user(&mut self, hash: u64, row: &UserRow) {
        self.users.insert(hash, row.encode());
    }

    /// The next entry of a user's journal.
    pub fn entry(&mut self, user: u64, position: u64, entry: &Entry<'_>) {
        push_log(&mut self.log, user, position, entry);
    }

    /// A snapshot that has seen the first `seen` entries of the journal.
    pub fn snapshot(&mut self, user: u64, seen: u64, snapshot: &[u8]) {
        self.snapshots.insert(user, [&seen.to_le_bytes(), snapshot].concat());
    }

    /// All the hard constraints of a user, as [`super::constraints`] writes them.
    pub fn constraints(&mut self, user: u64, constraints: &[u8]) {
        self.constraints.insert(user, constraints.to_vec());
    }

    /// A prior that users begin with, by the fingerprint of the policy with it.
    pub fn prior(&mut self, fingerprint: u64, prior: &[u8]) {
        self.priors.insert(fingerprint, prior.to_vec());
    }

    /// Moves the whole log into the journal: these are all segments that the log has, what is in these writes included.
    pub fn fold<'s>(&mut self, segments: impl Iterator<Item = (u64, &'s Segment)>) {
        self.log.clear();
        self.folded = true;
        self.journal.extend(segments.map(|(user, segment)| ((user, segment.first), segment.bytes.clone())));
    }

    /// Nothing of a user may stay, and users who come from now on start in `incarnation`. The log has to be folded without
    /// the user before these writes are committed.
    pub fn erase(&mut self, user: u64, incarnation: u32) {
        self.users.remove(&user);
        self.snapshots.remove(&user);
        self.constraints.remove(&user);
        self.journal.retain(|key, _| key.0 != user);
        self.erased.insert(user);
        self.incarnation = Some(incarnation);
    }

    /// Entries that go into the journal at once.
    pub(super) fn segment(&mut self, user: u64, segment: &Segment) {
        self.journal.insert((user, segment.first), segment.bytes.clone());
    }

    /// Users who come from now on start in this incarnation.
    pub(super) const fn start_in(&mut self, incarnation: u32) {
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
        self.constraints.extend(next.constraints);
        self.priors.extend(next.priors);
        self.journal.extend(next.journal);
        self.log.extend_from_slice(&next.log);
        self.incarnation = next.incarnation.or(self.incarnation);
    }

    /// Writes everything but the erasing, which is left to the caller.
    pub(super) fn apply(&self, transaction: &WriteTransaction) -> Result<(), StoreError> {
        let tables =
            [(USERS, &self.users), (SNAPSHOTS, &self.snapshots), (CONSTRAINTS, &self.constraints), (PRIORS, &self.priors)];
        for (definition, rows) in tables {
            if !rows.is_empty() {
                let mut table = transaction.open_table(definition)?;
                for (key, row) in rows {
                    table.insert(key, row.as_slice())?;
                }
            }
        }
        if !self.journal.is_empty() {
            let mut table = transaction.open_table(JOURNAL)?;
            for (key, bytes) in &self.journal {
                table.insert(key, bytes.as_slice())?;
            }
        }
        if self.folded || !self.log.is_empty() {
            let mut table = transaction.open_table(LOG)?;
            let next = table.last()?.map_or(0, |(key, _)| key.value() + 1);
            if self.folded {
                table.retain(|_, _| false)?;
            }
            if !self.log.is_empty() {
                table.insert(next, self.log.as_slice())?;
            }
        }
        if let Some(incarnation) = self.incarnation {
            transaction.open_table(META)?.insert(INCARNATION, &incarnation.to_le_bytes()[..])?;
        }
        Ok(())
    }
}
