//! The users in memory: a bounded number of learners, the least recently used one gives way.

use super::ledger::Ledger;
use super::refusal::Refusal;
use crate::store::journal::{Entry, Note};
use crate::store::revive::{HostLearner, HostWorkspace, ROOM, SNAPSHOT_EVERY, revive, snapshot};
use crate::store::{Reach, StoreError, Stored, UserRow};
use fable_core::record::{Header, Kind, MAX_EVENT_LEN, encode_event};
use fable_core::{Event, Policy, Scalar, user_hash};
use lru::LruCache;
use std::num::NonZeroUsize;

/// A user in memory.
#[derive(Debug)]
pub(super) struct Resident<T> {
    pub(super) learner: HostLearner<T>,
    row: UserRow,
    /// Entries in the journal.
    entries: u64,
    /// Whether the store knows the user.
    stored: bool,
}

/// What every step needs: the policy, scratch, and the place where entries go.
#[derive(Debug)]
pub(super) struct Desk<'p, T> {
    pub(super) policy: &'p Policy<'p, T>,
    pub(super) workspace: HostWorkspace<T>,
    pub(super) ledger: Ledger,
    /// Entries made since the start.
    pub(super) events: u64,
}

impl<T: Scalar> Resident<T> {
    /// Check, persist, apply.
    pub(super) fn step(&mut self, desk: &mut Desk<'_, T>, event: &Event, note: Note) -> Result<(), Refusal> {
        let checked = self.learner.check(desk.policy, &mut desk.workspace, event)?;
        let mut buffer = [0; MAX_EVENT_LEN];
        let record = encode_event(event, &mut buffer).map_err(StoreError::from)?;
        let user = self.row.header.user;
        if !self.stored {
            desk.ledger.add(user, &self.row);
            self.stored = true;
        }
        desk.ledger.push(user, self.entries, &Entry { record, note });
        checked.apply();
        self.entries += 1;
        desk.events += 1;
        // Not all users at once: each has a phase of its own.
        if (self.entries + user % SNAPSHOT_EVERY).is_multiple_of(SNAPSHOT_EVERY)
            && let Ok(bytes) = snapshot(desk.policy, &self.learner)
        {
            desk.ledger.snapshot(user, self.entries, &bytes);
        }
        Ok(())
    }

    /// Brings the part of the state that every decision needs into the processor's cache, in the order in which memory is
    /// fast. With a thousand users nothing of the next one is there, and the back-solve, which runs from the end, would wait
    /// for each line in turn: this takes a third off a decision in `f64`.
    pub(super) fn warm(&self) {
        let packed = self.learner.posterior().packed();
        let root = self.learner.posterior().arrow().root();
        let start = packed.len().saturating_sub(root * (root + 1) / 2);
        let line = 64 / size_of::<T>();
        let mut sums = [T::ZERO; 8]; // so many loads at once
        for lines in packed.get(start..).unwrap_or_default().chunks(8 * line) {
            for (sum, number) in sums.iter_mut().zip(lines.iter().step_by(line)) {
                *sum += *number;
            }
        }
        std::hint::black_box(sums);
    }
}

/// See the [module](self).
#[derive(Debug)]
pub(super) struct Residents<T> {
    cache: LruCache<u64, Box<Resident<T>>>,
    /// Most users; the memory for them is taken as they come.
    capacity: usize,
}

impl<T: Scalar> Residents<T> {
    pub(super) fn new(capacity: NonZeroUsize) -> Self {
        Self { cache: LruCache::unbounded(), capacity: capacity.get() }
    }

    pub(super) fn len(&self) -> usize {
        self.cache.len()
    }

    pub(super) fn clear(&mut self) {
        self.cache.clear();
    }

    pub(super) fn remove(&mut self, user: u64) {
        self.cache.pop(&user);
    }

    /// The user with a name, new ones included.
    pub(super) fn named(&mut self, desk: &mut Desk<'_, T>, name: &str) -> Result<&mut Resident<T>, Refusal> {
        let user = user_hash(name);
        // Who was only asked about is not yet anybody: another name with the same hash may come first, and everyone starts
        // in the incarnation of the first event.
        let incarnation = desk.ledger.incarnation();
        let nobody = |known: &Resident<T>| !known.stored && (known.row.name != name || known.row.incarnation != incarnation);
        if self.cache.peek(&user).is_some_and(|known| nobody(known)) {
            self.cache.pop(&user);
        }
        if !self.cache.contains(&user) {
            let stored = desk.ledger.user(user, Reach::Snapshot)?;
            let fresh = || {
                let header = Header::new(Kind::Journal, desk.policy, user, ROOM as u16);
                let row = UserRow { header, incarnation, name: name.to_owned() };
                Stored { row, snapshot: None, journal: Vec::new(), constraints: Vec::new() }
            };
            let known = stored.is_some();
            self.enter(desk, user, &stored.unwrap_or_else(fresh), known)?;
        }
        let resident = self.cache.get_mut(&user).ok_or(StoreError::NoUser)?;
        if resident.row.name == name { Ok(resident) } else { Err(StoreError::Collision.into()) }
    }

    /// The user with a hash; `None` for nobody.
    pub(super) fn hashed(&mut self, desk: &mut Desk<'_, T>, user: u64) -> Result<Option<&mut Resident<T>>, Refusal> {
        if !self.cache.contains(&user) {
            match desk.ledger.user(user, Reach::Snapshot)? {
                Some(stored) => self.enter(desk, user, &stored, true)?,
                None => return Ok(None),
            }
        }
        Ok(self.cache.get_mut(&user).map(|resident| &mut **resident))
    }

    /// Brings a user into memory.
    fn enter(&mut self, desk: &mut Desk<'_, T>, user: u64, stored: &Stored, known: bool) -> Result<(), Refusal> {
        // The memory of the one who has to leave is used again.
        let oldest = if self.cache.len() < self.capacity { None } else { self.cache.pop_lru() };
        let learner = match oldest {
            Some((_, resident)) => resident.learner,
            None => HostLearner::over(vec![T::ZERO; desk.policy.catalog().state_len()]),
        };
        let mut resident = Resident { learner, row: stored.row.clone(), entries: 0, stored: known };
        resident.entries = revive(desk.policy, &mut desk.workspace, &mut resident.learner, stored)?;
        self.cache.put(user, Box::new(resident));
        Ok(())
    }
}
