//! One person of a store: what was learned, and the hard constraints beside it. Check, persist, apply.

use super::ChatError;
use crate::store::constraints::{decode, encode};
use crate::store::journal::{Entry, Note};
use crate::store::revive::{HostLearner, HostWorkspace, ROOM, SNAPSHOT_EVERY, revive, snapshot};
use crate::store::{MAX_NAME, Reach, Store, StoreError, Stored, UserRow, Writes};
use crate::text::Constraint;
use fable_core::record::{Header, Kind, MAX_EVENT_LEN, decode_event, encode_event};
use fable_core::Promotion;
use fable_core::{Context, DecisionId, Event, Feasible, Policy, Proposal, Request, user_hash};

/// Bytes in the store's log above which it is folded into the journal when a chat begins.
const LOG_LIMIT: usize = 64 << 10;

/// See the [module](self).
#[derive(Debug)]
pub(super) struct Person<'p> {
    pub(super) policy: &'p Policy<'p, f64>,
    pub(super) learner: HostLearner<f64>,
    pub(super) workspace: HostWorkspace<f64>,
    pub(super) constraints: Vec<Constraint>,
    store: Store,
    row: UserRow,
    /// Whether the store knows the person.
    stored: bool,
    entries: u64,
}

impl<'p> Person<'p> {
    /// The person with a name, as the store has them, or somebody new. Nothing is written about somebody new yet.
    pub(super) fn open(policy: &'p Policy<'p, f64>, store: Store, name: &str) -> Result<Self, ChatError> {
        if name.is_empty() || name.len() > MAX_NAME {
            return Err(ChatError::Name);
        }
        let (user, mut log) = (user_hash(name), store.log()?);
        if log.values().map(|segment| segment.bytes.len()).sum::<usize>() > LOG_LIMIT {
            let mut writes = Writes::default();
            writes.fold(log.drain().collect::<Vec<_>>().iter().map(|(user, segment)| (*user, segment)));
            store.commit(&writes, true)?;
        }
        let found = store.user(user, Reach::Snapshot)?;
        let stored = found.is_some();
        let mut found = match found {
            Some(found) if found.row.name != name => return Err(StoreError::Collision.into()),
            Some(found) => found,
            None => newcomer(policy, &store, name)?,
        };
        found.journal.extend(log.remove(&user));
        let catalog = policy.catalog();
        let mut learner = HostLearner::over(vec![0.0; catalog.state_len()]);
        let mut workspace = HostWorkspace::over(vec![0.0; catalog.workspace_len()]);
        let entries = revive(policy, &mut workspace, &mut learner, &found)?;
        let constraints = decode(catalog, &found.constraints)?;
        Ok(Self { policy, learner, workspace, constraints, store, row: found.row, stored, entries })
    }

    /// The person's name.
    pub(super) fn name(&self) -> &str {
        &self.row.name
    }

    /// Whether the store knows nothing about the person.
    pub(super) const fn is_new(&self) -> bool {
        !self.stored
    }

    /// The last decision, if there is one.
    pub(super) fn last(&self) -> Option<DecisionId> {
        let learner = &self.learner;
        let id = DecisionId { user: learner.user(), incarnation: learner.incarnation(), round: learner.rounds() };
        (id.round > 0).then_some(id)
    }

    /// Whether the last decision waits for its reward.
    pub(super) fn waits(&self, now: u32) -> bool {
        let last = self.last();
        self.learner.waiting(self.policy, now).any(|id| Some(id) == last)
    }

    /// What was known when the last decision was made, and its context: the journal up to there.
    pub(super) fn at_last_decision(&mut self) -> Result<Option<(HostLearner<f64>, Context)>, ChatError> {
        let Some(stored) = self.store.whole(self.row.header.user)? else { return Ok(None) };
        let catalog = self.policy.catalog();
        let mut events = Vec::new();
        for entry in stored.journal.iter().flat_map(|segment| segment.from(segment.first)) {
            events.push(decode_event(catalog, entry?.record).map_err(StoreError::from)?);
        }
        while events.pop_if(|event| !matches!(event, Event::Decision { .. })).is_some() {}
        let Some(Event::Decision { context, .. }) = events.last() else { return Ok(None) };
        let mut learner = HostLearner::over(vec![0.0; catalog.state_len()]);
        learner.start_journal_in(self.policy, &self.row.header, self.row.incarnation).map_err(StoreError::from)?;
        for event in &events {
            learner.check(self.policy, &mut self.workspace, event)?.apply();
        }
        Ok(Some((learner, *context)))
    }

    /// Chooses an action and records it.
    pub(super) fn decide(&mut self, context: &Context, feasible: &Feasible, now: u32) -> Result<Proposal, ChatError> {
        let request = Request::new(context, feasible).at(now);
        // Refuses before anything has changed.
        self.learner.propose_decision(self.policy, &mut self.workspace, &request)?;
        let due = |person: &Self| {
            let learner = &person.learner;
            learner.propose_expiry(person.policy, now).or_else(|| learner.propose_room(person.policy))
        };
        while let Some(event) = due(self) {
            self.record(&[event], None)?;
        }
        let proposal = self.learner.propose_scored(self.policy, &mut self.workspace, &request)?;
        let permissions = self.learner.propose_permissions(feasible);
        let events: Vec<Event> = permissions.into_iter().chain([proposal.event.clone()]).collect();
        self.record(&events, None)?;
        Ok(proposal)
    }

    /// Learns the reward of a decision; what became certain by it.
    pub(super) fn learn(&mut self, decision: DecisionId, reward: f64, now: u32) -> Result<Vec<Promotion>, ChatError> {
        let event = self.learner.propose_feedback(self.policy, decision, reward, 1.0, now)?;
        self.record(&[event], None)?;
        let mut promoted = Vec::new();
        while let Some(event) = self.learner.propose_promotion(self.policy, &mut self.workspace, now)? {
            self.record(std::slice::from_ref(&event), None)?;
            if let Event::Promotion(promotion) = event {
                promoted.push(promotion);
            }
        }
        Ok(promoted)
    }

    /// Checks events one after the other, puts them on disk in one commit, together with all constraints if they change, and
    /// then lets them have happened. After an error none of them has.
    pub(super) fn record(&mut self, events: &[Event], constraints: Option<Vec<Constraint>>) -> Result<(), ChatError> {
        let (user, mut next, mut writes) = (self.row.header.user, self.learner.clone(), Writes::default());
        let mut entries = self.entries;
        for event in events {
            next.check(self.policy, &mut self.workspace, event)?.apply();
            let mut buffer = [0; MAX_EVENT_LEN];
            let record = encode_event(event, &mut buffer).map_err(StoreError::from)?;
            writes.entry(user, entries, &Entry { record, note: Note::None });
            entries += 1;
        }
        if entries / SNAPSHOT_EVERY > self.entries / SNAPSHOT_EVERY {
            writes.snapshot(user, entries, &snapshot(self.policy, &next)?);
        }
        if let Some(constraints) = &constraints {
            writes.constraints(user, &encode(self.policy.catalog(), constraints)?);
        }
        if !self.stored {
            writes.user(user, &self.row);
        }
        self.store.commit(&writes, true)?;
        (self.learner, self.entries, self.stored) = (next, entries, true);
        self.constraints = constraints.unwrap_or_else(|| std::mem::take(&mut self.constraints));
        Ok(())
    }

    /// Erases everything about the person, who is somebody new from then on.
    pub(super) fn forget(&mut self) -> Result<(), ChatError> {
        let name = self.row.name.clone();
        self.store.forget(&[&name])?;
        let fresh = newcomer(self.policy, &self.store, &name)?;
        self.entries = revive(self.policy, &mut self.workspace, &mut self.learner, &fresh)?;
        (self.row, self.stored, self.constraints) = (fresh.row, false, Vec::new());
        Ok(())
    }
}

/// Somebody whom the store does not know.
fn newcomer(policy: &Policy<'_, f64>, store: &Store, name: &str) -> Result<Stored, StoreError> {
    let header = Header::new(Kind::Journal, policy, user_hash(name), ROOM as u16);
    let row = UserRow { header, incarnation: store.incarnation()?, name: name.to_owned() };
    Ok(Stored { row, snapshot: None, journal: Vec::new(), constraints: Vec::new() })
}
