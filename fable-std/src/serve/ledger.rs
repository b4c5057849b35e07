//! What the learners have done and the store has not yet, or not in its final place.
//!
//! Entries are collected here as they are made, so a user who left the cache can be brought back at any time: from the store,
//! with what is on its way to it after that. A batch becomes [`Writes`] for the committing thread.

use super::answer::Answers;
use super::refusal::Refusal;
use crate::store::journal::{Entry, Segment};
use crate::store::{Damage, Reach, Sink, FileStore, StoreError, Stored, UserRow, Writes};
use fable_core::user_hash;
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes of entries that are kept in the log before they are folded into the journal. Opening a store reads them all.
const LOG_LIMIT: usize = 2 << 20;

/// How far the committing thread is.
#[derive(Debug, Default)]
pub(super) struct Progress {
    /// The last batch that was committed.
    committed: AtomicU64,
    /// How often a commit has failed; a batch that was made before the last failure is void.
    failures: AtomicU64,
    /// Answers that became errors because of that.
    refused: AtomicU64,
}

impl Progress {
    /// The answers of a batch that never came to be.
    pub(super) fn refuse(&self, answers: &Answers, refusal: &Refusal) -> Answers {
        self.refused.fetch_add(answers.accepted(), Ordering::Relaxed);
        answers.instead(refusal)
    }

    pub(super) fn commit(&self, batch: u64) {
        self.committed.store(batch, Ordering::Release);
    }

    pub(super) fn fail(&self) {
        self.failures.fetch_add(1, Ordering::AcqRel);
    }

    pub(super) fn failures(&self) -> u64 {
        self.failures.load(Ordering::Acquire)
    }
}

/// A user's newest entries.
#[derive(Debug, Default)]
struct Tail {
    /// The row of a user who is new.
    row: Option<UserRow>,
    segment: Segment,
}

/// A batch that moves what is in the log, or erases users, and is perhaps not yet committed.
#[derive(Debug)]
struct Flight {
    batch: u64,
    erased: HashSet<u64>,
    tails: HashMap<u64, Tail>,
}

/// See the [module](self).
#[derive(Debug)]
pub(super) struct Ledger {
    store: Arc<FileStore>,
    progress: Arc<Progress>,
    /// Failures known here.
    failures: u64,
    batch: u64,
    writes: Writes,
    erased: HashSet<u64>,
    tails: HashMap<u64, Tail>,
    bytes: usize,
    /// [`LOG_LIMIT`]
    limit: usize,
    flights: VecDeque<Flight>,
    /// Users whose number is not the hash of their name.
    moved: HashMap<String, u64>,
    users: u64,
    incarnation: u32,
    /// Entries made since the start.
    entries: u64,
}

impl Ledger {
    pub(super) fn open(store: Arc<FileStore>, progress: Arc<Progress>) -> Result<Self, StoreError> {
        let mut ledger = Self {
            store,
            progress,
            failures: 0,
            batch: 0,
            writes: Writes::default(),
            erased: HashSet::new(),
            tails: HashMap::new(),
            bytes: 0,
            limit: LOG_LIMIT,
            flights: VecDeque::new(),
            moved: HashMap::new(),
            users: 0,
            incarnation: 0,
            entries: 0,
        };
        ledger.reset()?;
        Ok(ledger)
    }

    /// Goes back to what the store has.
    fn reset(&mut self) -> Result<(), StoreError> {
        let failures = self.progress.failures();
        let (log, users, incarnation) = (self.store.log()?, self.store.users(), self.store.incarnation()?);
        self.bytes = log.values().map(|segment| segment.bytes.len()).sum();
        self.tails = log.into_iter().map(|(user, segment)| (user, Tail { row: None, segment })).collect();
        self.writes = Writes::default();
        self.erased.clear();
        self.flights.clear();
        self.moved = self.store.moved();
        (self.users, self.incarnation, self.failures) = (users, incarnation, failures);
        Ok(())
    }

    /// Before a batch: catches up with the committing thread. `true` when a commit has failed since, so that everything
    /// that was computed after it never happened.
    pub(super) fn begin(&mut self) -> Result<bool, StoreError> {
        let committed = self.progress.committed.load(Ordering::Acquire);
        while self.flights.front().is_some_and(|flight| flight.batch <= committed) {
            self.flights.pop_front();
        }
        let failed = self.progress.failures() != self.failures;
        if failed {
            self.reset()?;
        }
        Ok(failed)
    }

    /// After a batch: its number, the failures it knows of, and what it writes.
    pub(super) fn finish(&mut self) -> (u64, u64, Writes) {
        self.batch += 1;
        if self.writes.erases() {
            let erased = std::mem::take(&mut self.erased);
            self.flights.push_back(Flight { batch: self.batch, erased, tails: HashMap::new() });
        } else if self.bytes > self.limit && self.flights.is_empty() {
            self.writes.fold(self.tails.iter().map(|(user, tail)| (*user, &tail.segment)));
            let tails = std::mem::take(&mut self.tails);
            self.flights.push_back(Flight { batch: self.batch, erased: HashSet::new(), tails });
            self.bytes = 0;
        }
        (self.batch, self.failures, std::mem::take(&mut self.writes))
    }

    /// Number of users.
    pub(super) const fn users(&self) -> u64 {
        self.users
    }

    /// Entries made since the start.
    pub(super) const fn entries(&self) -> u64 {
        self.entries
    }

    /// The incarnation in which a new user starts.
    pub(super) const fn incarnation(&self) -> u32 {
        self.incarnation
    }

    /// Answers that became errors after they were made.
    pub(super) fn refused(&self) -> u64 {
        self.progress.refused.load(Ordering::Relaxed)
    }

    /// The store.
    pub(super) const fn store(&self) -> &Arc<FileStore> {
        &self.store
    }

    /// Users of whom something is known to be damaged.
    pub(super) fn damaged(&self) -> u64 {
        self.store.damaged()
    }

    /// Bytes of the store.
    pub(super) fn store_bytes(&self) -> u64 {
        self.store.bytes()
    }

    /// Erases a user who is there. A batch that erases has nothing else to write.
    pub(super) fn erase(&mut self, user: u64) -> Result<(), StoreError> {
        self.incarnation = self.incarnation.checked_add(1).ok_or(StoreError::Exhausted)?;
        self.users = self.users.saturating_sub(1);
        if let Some(tail) = self.tails.remove(&user) {
            self.bytes = self.bytes.saturating_sub(tail.segment.bytes.len());
        }
        self.flights.iter_mut().for_each(|flight| drop(flight.tails.remove(&user)));
        self.moved.retain(|_, number| *number != user);
        self.erased.insert(user);
        self.writes.erase(user, self.incarnation);
        Ok(())
    }

    /// Whether a user is erased, and the store does not know yet.
    fn is_erased(&self, user: u64) -> bool {
        self.erased.contains(&user) || self.flights.iter().any(|flight| flight.erased.contains(&user))
    }

    /// The row of a user whom the store does not know yet.
    fn new_row(&self, user: u64) -> Option<&UserRow> {
        let mut tails = std::iter::once(&self.tails).chain(self.flights.iter().rev().map(|flight| &flight.tails));
        tails.find_map(|tails| tails.get(&user)?.row.as_ref())
    }

    /// Whether some user has a number.
    pub(super) fn has(&self, user: u64) -> bool {
        self.new_row(user).is_some() || !self.is_erased(user) && self.store.has(user)
    }

    /// The number of the user with a name.
    pub(super) fn find(&self, name: &str) -> Result<Option<u64>, StoreError> {
        let number = user_hash(name);
        if let Some(moved) = self.moved.get(name) {
            return Ok(Some(*moved));
        }
        if let Some(row) = self.new_row(number) {
            return Ok((row.name == name).then_some(number));
        }
        if self.is_erased(number) { Ok(None) } else { self.store.find(name) }
    }

    /// A number for a new user: the hash of the name if it is free.
    pub(super) fn number_for(&self, name: &str) -> u64 {
        let mut number = user_hash(name);
        while self.has(number) {
            number = number.wrapping_add(1);
        }
        number
    }

    /// A user as of now; `None` when there is none.
    pub(super) fn user(&self, user: u64, reach: Reach) -> Result<Option<Stored>, StoreError> {
        let tails = self.flights.iter().map(|flight| &flight.tails).chain([&self.tails]);
        let newer = tails.filter_map(|tails| tails.get(&user));
        let mut found = if self.is_erased(user) { None } else { self.store.user(user, reach)? };
        for Tail { row, segment } in newer {
            if found.is_none() {
                let Some(row) = row.clone() else { continue };
                found = Some(Stored { row, snapshot: None, journal: Vec::new(), birth: 0, constraints: Vec::new(), prior: None });
            }
            let Some(stored) = &mut found else { continue };
            let end = stored.journal.last().map_or(0, Segment::end);
            if stored.journal.is_empty() || end <= segment.first {
                stored.journal.push(segment.clone());
            } else if end < segment.end() {
                return Err(StoreError::User(Damage::Journal)); // the journal has a part of it
            }
        }
        Ok(found)
    }
}

impl Sink for Ledger {
    fn life(&mut self, _: u64, _: u64) {}

    fn user(&mut self, user: u64, row: &UserRow) {
        self.writes.user(user, row);
        self.tails.entry(user).or_default().row = Some(row.clone());
        if user_hash(&row.name) != user {
            self.moved.insert(row.name.clone(), user);
        }
        self.users += 1;
    }

    fn entry(&mut self, user: u64, position: u64, entry: &Entry<'_>) {
        let tail = self.tails.entry(user).or_default();
        if tail.segment.count == 0 {
            tail.segment.first = position;
        }
        let before = tail.segment.bytes.len();
        tail.segment.push(entry);
        self.bytes += tail.segment.bytes.len() - before;
        self.writes.entry(user, position, entry);
        self.entries += 1;
    }

    fn snapshot(&mut self, user: u64, seen: u64, snapshot: &[u8]) {
        self.writes.snapshot(user, seen, snapshot);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Identity;
    use crate::store::journal::Note;
    use fable_core::record::{Header, Kind};
    use fable_core::{Policy, Settings, catalog::TAU2};
    use fable_serve_tests::dice::Dice;

    /// What every user's journal has to be: first incarnation and records.
    type Model = HashMap<u64, (u32, Vec<Vec<u8>>)>;

    fn assert_agrees(ledger: &Ledger, model: &Model, users: u64) {
        for user in 0..users {
            let found = ledger.user(user, Reach::Whole).unwrap().map(|stored| {
                let mut end = 0;
                let mut records = Vec::new();
                for segment in &stored.journal {
                    assert_eq!(segment.first, end); // no gap, nothing twice
                    end = segment.end();
                    records.extend(segment.from(0).map(|entry| entry.unwrap().record.to_vec()));
                }
                (stored.row.incarnation, records)
            });
            assert_eq!(found.as_ref(), model.get(&user), "{user}");
        }
        assert_eq!(ledger.users(), model.len() as u64);
    }

    /// However far the committing thread is, and whatever fails: a user is what was pushed, or what the store has.
    #[test]
    fn a_user_is_complete_at_any_time() {
        let policy = Policy::<f64>::new(&TAU2, Settings::default()).unwrap();
        let (mut dice, mut folds, mut failures) = (Dice::new(3), 0, 0);
        for _ in 0..6 {
            let store = Arc::new(FileStore::in_memory(&Identity::new(&policy)).unwrap());
            let progress = Arc::new(Progress::default());
            let mut ledger = Ledger::open(Arc::clone(&store), Arc::clone(&progress)).unwrap();
            ledger.limit = 400;
            let (mut now, mut committed) = (Model::new(), Model::new());
            let mut sent: VecDeque<(u64, u64, Writes, Model)> = VecDeque::new();
            for _ in 0..300 {
                if ledger.begin().unwrap() {
                    now = committed.clone();
                }
                // A batch erases, or it does something else.
                let erases = dice.once_in(8);
                for _ in 0..dice.below(8) {
                    let user = dice.below(6) as u64;
                    if erases {
                        if now.remove(&user).is_some() {
                            ledger.erase(user).unwrap();
                        }
                        continue;
                    }
                    let known = now.contains_key(&user);
                    if !known {
                        let header = Header::new(Kind::Journal, &policy, user, 64);
                        let row = UserRow { header, incarnation: ledger.incarnation(), name: user.to_string() };
                        Sink::user(&mut ledger, user, &row);
                        now.insert(user, (row.incarnation, Vec::new()));
                    }
                    let (_, records) = now.get_mut(&user).unwrap();
                    let record = vec![dice.next() as u8; 1 + dice.below(40)];
                    ledger.entry(user, records.len() as u64, &Entry { record: &record, note: Note::None });
                    records.push(record);
                }
                assert_agrees(&ledger, &now, 6);
                let (number, known, writes) = ledger.finish();
                folds += usize::from(writes.folds());
                sent.push_back((number, known, writes, now.clone()));
                assert_agrees(&ledger, &now, 6);
                // The other thread: some of what waits in one commit, or none, or a failure.
                let (mut merged, mut last) = (Writes::default(), None);
                for _ in 0..dice.below(4).min(sent.len()) {
                    let (number, known, writes, then) = sent.pop_front().unwrap();
                    if known == progress.failures() {
                        if writes.erases() != merged.erases() && last.is_some() {
                            sent.push_front((number, known, writes, then)); // for a commit of its own
                            break;
                        }
                        merged.merge(writes);
                        last = Some((number, then));
                    }
                }
                if let Some((number, then)) = last {
                    if dice.once_in(20) {
                        progress.fail();
                        failures += 1;
                    } else {
                        store.commit(&merged, false).unwrap();
                        progress.commit(number);
                        committed = then;
                    }
                }
                assert_agrees(&ledger, &now, 6); // what the other thread has done is not yet known here
            }
        }
        assert!(folds > 100 && failures > 20, "{folds} {failures}");
    }
}
