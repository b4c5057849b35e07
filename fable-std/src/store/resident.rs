//! A user of a store in memory: what is known, and where the journal ends.
//!
//! [`Resident::run`] is the one way in which anything happens to a stored user: each event of a command is checked, goes to a
//! [`Sink`] and is applied. A service has a sink for everyone and commits what it has collected in batches. Whoever wants a
//! command to happen as a whole or not at all runs it on a clone, with [`Writes`] for a sink, and keeps the clone when they are
//! committed.
//!
//! ```
//! use fable_core::catalog::TAU2;
//! use fable_core::journal::Command;
//! use fable_core::{Feasible, Policy, Request, Settings};
//! use fable_std::store::journal::Note;
//! use fable_std::store::{Desk, FileStore, Identity, Policies, Resident, Store, Writes};
//!
//! let policy = Policy::<f64>::new(&TAU2, Settings::default())?;
//! let store = FileStore::in_memory(&Identity::new(&policy))?;
//! let policies = Policies::from(policy);
//! let mut desk = Desk::new(&policies);
//! let mut ana = Resident::newcomer(&desk, "ana", fable_core::user_hash("ana"), store.incarnation()?, None)?;
//!
//! let (context, all) = (TAU2.context(None, [])?, Feasible::all(&TAU2));
//! let (mut command, mut writes) = (Command::decide(Request::new(&context, &all)), Writes::default());
//! ana.run(&mut desk, &mut writes, &mut command, Note::None)?;
//! store.commit(writes, true)?;
//! let decision = command.decision(&ana.user(&mut desk)?).unwrap();
//! assert_eq!((decision.id.round, store.users()), (1, 1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use super::journal::{Entry, Note, Segment};
use super::wishes::Wishes;
use super::{Damage, Known, Policies, StoreError, Stored, UserRow, Writes};
use fable_core::host::HostLearner;
use fable_core::journal::{Command, Event};
use fable_core::record::{MAX_REMOTE_LEN, decode_event, encode_event};
use fable_core::{Catalog, Policy, Scalar, User, UserError};
use std::cell::Cell;
use std::hash::{BuildHasher, RandomState};

/// Entries between two snapshots of a user: applying so many takes about as long as loading a snapshot.
pub const SNAPSHOT_EVERY: u64 = 512;

/// What all users of a store share: the policies and scratch.
#[derive(Debug)]
pub struct Desk<'p, T> {
    /// How everyone is decided for.
    pub policies: &'p Policies<'p, T>,
    workspace: Vec<T>,
    /// The next life that begins here.
    births: Cell<u64>,
}

impl<'p, T: Scalar> Desk<'p, T> {
    /// A desk for the users of some policies.
    #[must_use]
    pub fn new(policies: &'p Policies<'p, T>) -> Self {
        let births = Cell::new(RandomState::new().hash_one(std::process::id()));
        Self { policies, workspace: vec![T::ZERO; policies.newcomers().catalog().workspace_len()], births }
    }

    /// A number for a life that nobody else has.
    fn birth(&self) -> u64 {
        let birth = self.births.get() | 1;
        self.births.set(birth.wrapping_add(2));
        birth
    }

    /// The catalog of everyone.
    #[must_use]
    pub const fn catalog(&self) -> &'p Catalog<'p> {
        self.policies.newcomers().catalog()
    }
}

/// Where what happens to users goes before it happens.
pub trait Sink {
    /// What follows about a user is about this life of it, see [`Stored::birth`].
    fn life(&mut self, user: u64, birth: u64);
    /// A user of whom nothing was stored so far.
    fn user(&mut self, user: u64, row: &UserRow);
    /// The next entry of a user's journal.
    fn entry(&mut self, user: u64, position: u64, entry: &Entry<'_>);
    /// A snapshot that has seen the first `seen` entries of the journal.
    fn snapshot(&mut self, user: u64, seen: u64, snapshot: &[u8]);
}

impl Sink for Writes {
    fn life(&mut self, user: u64, birth: u64) {
        Self::life(self, user, birth);
    }

    fn user(&mut self, user: u64, row: &UserRow) {
        Self::user(self, user, row);
    }

    fn entry(&mut self, user: u64, position: u64, entry: &Entry<'_>) {
        Self::entry(self, user, position, entry);
    }

    fn snapshot(&mut self, user: u64, seen: u64, snapshot: &[u8]) {
        Self::snapshot(self, user, seen, snapshot);
    }
}

/// A user of a store in memory. [`run`](Self::run) is the one way in which anything happens to it.
#[derive(Clone, Debug)]
pub struct Resident<'p, T> {
    /// How the user is decided for: with the prior that the user began with.
    policy: &'p Policy<'p, T>,
    learner: HostLearner<T>,
    row: UserRow,
    /// Which life of the number it is.
    birth: u64,
    /// Entries in the journal.
    entries: u64,
    /// Whether the store knows the user.
    known: bool,
}

impl<'p, T: Scalar> Resident<'p, T> {
    /// A stored user as after the last event: the last snapshot, and the events after it applied. The memory of another one
    /// can be used again.
    ///
    /// # Errors
    /// Records that cannot be read, do not follow from each other, or are of a policy that the desk does not have.
    pub fn revive(desk: &mut Desk<'p, T>, stored: &Stored, memory: Option<Self>) -> Result<Self, StoreError> {
        let Stored { row, snapshot, journal, .. } = stored;
        let policy = desk.policies.of(row.header.fingerprint)?;
        let mut resident = Self::vacant(policy, row.clone(), stored.birth, memory);
        resident.known = true;
        if let Some((seen, bytes)) = snapshot {
            resident.learner.restore(policy, bytes)?;
            resident.entries = *seen;
        } else {
            resident.learner.start_journal_in(policy, &row.header, row.incarnation)?;
        }
        resident.follow(desk, journal)?;
        Ok(resident)
    }

    /// Applies what others have added to the journal. After an error the user has to be brought back anew.
    ///
    /// # Errors
    /// As for [`revive`](Self::revive).
    pub fn follow(&mut self, desk: &mut Desk<'p, T>, journal: &[Segment]) -> Result<(), StoreError> {
        let mut user = self.learner.bind(self.policy, &mut desk.workspace).map_err(StoreError::State)?;
        let mut end = None;
        for segment in journal {
            // What is known may end within the first one; the others follow each other.
            if segment.first > self.entries || end.is_some_and(|end| end != segment.first) {
                return Err(StoreError::User(Damage::Journal));
            }
            end = Some(segment.end());
            for entry in segment.from(self.entries) {
                let event = decode_event(self.policy.catalog(), entry?.record)?;
                user.check(&event).map_err(StoreError::State)?.apply();
                self.entries += 1;
            }
        }
        Ok(())
    }

    /// Somebody whom a store does not know, at the prior, with a number that is free in the store and in the incarnation in which its
    /// new users start.
    ///
    /// # Errors
    /// None that a policy leads to.
    pub fn newcomer(
        desk: &Desk<'p, T>,
        name: &str,
        number: u64,
        incarnation: u32,
        memory: Option<Self>,
    ) -> Result<Self, StoreError> {
        let policy = desk.policies.newcomers();
        let row = UserRow::newcomer(policy, name, number, incarnation);
        let mut resident = Self::vacant(policy, row, desk.birth(), memory);
        resident.learner.start_journal_in(policy, &resident.row.header, incarnation)?;
        Ok(resident)
    }

    fn vacant(policy: &'p Policy<'p, T>, row: UserRow, birth: u64, memory: Option<Self>) -> Self {
        let learner = memory.map_or_else(|| HostLearner::for_policy(policy), |other| other.learner);
        Self { policy, learner, row, birth, entries: 0, known: false }
    }

    /// How the user is decided for.
    #[must_use]
    pub const fn policy(&self) -> &'p Policy<'p, T> {
        self.policy
    }

    /// What is known.
    #[must_use]
    pub const fn learner(&self) -> &HostLearner<T> {
        &self.learner
    }

    /// Who it is.
    #[must_use]
    pub const fn row(&self) -> &UserRow {
        &self.row
    }

    /// Entries in the journal.
    #[must_use]
    pub const fn entries(&self) -> u64 {
        self.entries
    }

    /// The user, as far as a shared store has to know.
    #[must_use]
    pub const fn known(&self) -> Known {
        Known { number: self.row.header.user, birth: self.birth, entries: self.entries }
    }

    /// Whether anything was ever stored about the user.
    #[must_use]
    pub const fn is_known(&self) -> bool {
        self.known
    }

    /// The user, to be asked. Whatever changes it past [`run`](Self::run) is lost.
    ///
    /// # Errors
    /// None that a desk of the user's own catalog leads to.
    pub fn user<'u>(&'u mut self, desk: &'u mut Desk<'_, T>) -> Result<User<'u, T>, UserError> {
        self.learner.bind(self.policy, &mut desk.workspace)
    }

    /// Does all of a command: each event goes to the sink before it happens, and now and then a snapshot after the last. The
    /// note is for the decision or the unlearning of the command.
    ///
    /// # Errors
    /// What the command asks for cannot be done; no event has happened then.
    pub fn run(
        &mut self,
        desk: &mut Desk<'_, T>,
        sink: &mut impl Sink,
        command: &mut Command<'_>,
        note: Note,
    ) -> Result<(), StoreError> {
        let (before, mut buffer) = (self.entries, [0; MAX_REMOTE_LEN]);
        let hash = self.row.header.user;
        let mut user = self.learner.bind(self.policy, &mut desk.workspace)?;
        while let Some(step) = user.next(command)? {
            let record = encode_event(step.event(), &mut buffer)?;
            let note = if matches!(step.event(), Event::Decision { .. } | Event::Unlearn { .. }) {
                note
            } else {
                Note::None
            };
            if !self.known {
                sink.user(hash, &self.row);
                self.known = true;
            }
            sink.life(hash, self.birth);
            sink.entry(hash, self.entries, &Entry { record, note });
            step.apply();
            self.entries += 1;
        }
        // Not all users at once: each has a phase of its own.
        let turns = |entries: u64| (entries + hash % SNAPSHOT_EVERY) / SNAPSHOT_EVERY;
        if turns(self.entries) > turns(before) {
            sink.snapshot(hash, self.entries, &self.learner.to_bytes()?);
        }
        Ok(())
    }

    /// What the user wishes, with the words of a document of the store.
    ///
    /// # Errors
    /// As for [`Wishes::of`].
    pub fn wishes(&self, document: &[u8]) -> Result<Wishes, StoreError> {
        Wishes::of(self.policy.catalog(), self.learner.user_rules(), document)
    }

    /// Makes these all that the user wishes: in the journal, and beside it the words.
    ///
    /// # Errors
    /// Rules of another catalog, or too many of them; nothing has happened then.
    pub fn wish(
        &mut self,
        desk: &mut Desk<'_, T>,
        writes: &mut Writes,
        wishes: &Wishes,
    ) -> Result<(), StoreError> {
        let document = wishes.encode(self.policy.catalog())?;
        self.run(desk, writes, &mut Command::user_rules(&wishes.list()), Note::None)?;
        self.introduce(writes);
        writes.wishes(self.row.header.user, &document);
        Ok(())
    }

    /// Tells the sink who the user is: for what is stored beside the journal.
    pub fn introduce(&mut self, sink: &mut impl Sink) {
        if !self.known {
            sink.user(self.row.header.user, &self.row);
            self.known = true;
        }
        sink.life(self.row.header.user, self.birth);
    }
}
