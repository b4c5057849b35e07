//! The users in memory: a bounded number of learners, the least recently used one gives way.

use super::fault::Fault;
use super::ledger::Ledger;
use crate::store::journal::Entry;
use crate::store::{Reach, StoreError, Stored, UserRow};
use fable_core::record::{Header, Kind, MAX_EVENT_LEN, Verifier, decode_event, encode_event};
use fable_core::{Event, Learner, Policy, Scalar, Workspace, user_hash};
use lru::LruCache;
use std::num::NonZeroUsize;

/// Decisions of one user that can wait for their reward. As many as a catalog can declare contrasts, so the profile has room
/// for all of them.
pub const ROOM: usize = 64;

/// Entries between two snapshots of a user: applying so many takes about as long as loading a snapshot.
const SNAPSHOT_EVERY: u64 = 512;

/// A learner on the heap.
pub(super) type HostLearner<T> = Learner<T, Vec<T>, ROOM>;

/// Scratch on the heap.
pub(super) type HostWorkspace<T> = Workspace<T, Vec<T>>;

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
    pub(super) fn step(&mut self, desk: &mut Desk<'_, T>, event: &Event, takes_back: Option<u32>) -> Result<(), Fault> {
        let checked = self.learner.check(desk.policy, &mut desk.workspace, event)?;
        let mut buffer = [0; MAX_EVENT_LEN];
        let record = encode_event(event, &mut buffer).map_err(StoreError::from)?;
        let user = self.row.header.user;
        if !self.stored {
            desk.ledger.add(user, &self.row);
            self.stored = true;
        }
        desk.ledger.push(user, self.entries, &Entry { record, takes_back });
        checked.apply();
        self.entries += 1;
        desk.events += 1;
        // Not all users at once: each has a phase of its own.
        if (self.entries + user % SNAPSHOT_EVERY) % SNAPSHOT_EVERY == 0 {
            self.snapshot(desk)?;
        }
        Ok(())
    }

    fn snapshot(&self, desk: &mut Desk<'_, T>) -> Result<(), Fault> {
        let mut bytes = vec![0; fable_core::record::snapshot::max_len::<T>(desk.policy.catalog(), ROOM)];
        let length = self.learner.snapshot()?.read(&mut bytes);
        desk.ledger.snapshot(self.row.header.user, self.entries, bytes.get(..length).unwrap_or_default());
        Ok(())
    }
}

/// See the [module](self).
#[derive(Debug)]
pub(super) struct Residents<T> {
    cache: LruCache<u64, Box<Resident<T>>>,
}

impl<T: Scalar> Residents<T> {
    pub(super) fn new(capacity: NonZeroUsize) -> Self {
        Self { cache: LruCache::new(capacity) }
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
    pub(super) fn named(&mut self, desk: &mut Desk<'_, T>, name: &str) -> Result<&mut Resident<T>, Fault> {
        let user = user_hash(name);
        if !self.cache.contains(&user) {
            let stored = desk.ledger.user(user, Reach::Snapshot)?;
            let fresh = || {
                let header = Header::new(Kind::Journal, desk.policy, user, ROOM as u16);
                let row = UserRow { header, incarnation: desk.ledger.incarnation(), name: name.to_owned() };
                Stored { row, snapshot: None, journal: Vec::new() }
            };
            let known = stored.is_some();
            self.enter(desk, user, stored.unwrap_or_else(fresh), known)?;
        }
        let resident = self.cache.get_mut(&user).ok_or(StoreError::NoUser)?;
        if resident.row.name == name { Ok(resident) } else { Err(StoreError::Collision.into()) }
    }

    /// The user with a hash; `None` for nobody.
    pub(super) fn hashed(&mut self, desk: &mut Desk<'_, T>, user: u64) -> Result<Option<&mut Resident<T>>, Fault> {
        if !self.cache.contains(&user) {
            match desk.ledger.user(user, Reach::Snapshot)? {
                Some(stored) => self.enter(desk, user, stored, true)?,
                None => return Ok(None),
            }
        }
        Ok(self.cache.get_mut(&user).map(|resident| &mut **resident))
    }

    /// Brings a user into memory.
    fn enter(&mut self, desk: &mut Desk<'_, T>, user: u64, stored: Stored, known: bool) -> Result<(), Fault> {
        // The memory of the one who has to leave is used again.
        let oldest = if self.cache.len() < self.cache.cap().get() { None } else { self.cache.pop_lru() };
        let learner = match oldest {
            Some((_, resident)) => resident.learner,
            None => HostLearner::over(vec![T::ZERO; desk.policy.catalog().state_len()]),
        };
        let resident = restore(desk.policy, &mut desk.workspace, learner, stored, known)?;
        self.cache.put(user, Box::new(resident));
        Ok(())
    }
}

/// The learner of a stored user.
pub(super) fn restore<T: Scalar>(
    policy: &Policy<'_, T>,
    workspace: &mut HostWorkspace<T>,
    mut learner: HostLearner<T>,
    stored: Stored,
    known: bool,
) -> Result<Resident<T>, StoreError> {
    let Stored { row, snapshot, journal } = stored;
    learner.vacate();
    let mut entries = 0;
    if let Some((seen, bytes)) = snapshot {
        let mut verifier = Verifier::new(policy);
        verifier.push(&bytes)?;
        let mut loader = learner.load(policy, verifier.finish()?)?;
        loader.push(&bytes)?;
        loader.finish()?;
        entries = seen;
    } else {
        learner.start_journal_in(policy, &row.header, row.incarnation)?;
    }
    for segment in &journal {
        if segment.first > entries {
            return Err(StoreError::Damaged("a journal has a gap"));
        }
        for entry in segment.from(entries) {
            let event = decode_event(policy.catalog(), entry?.record)?;
            learner.check(policy, workspace, &event).map_err(StoreError::State)?.apply();
            entries += 1;
        }
    }
    Ok(Resident { learner, row, entries, stored: known })
}
