//! The learners' thread: every request in its turn, answered from memory.
//!
//! Nothing of the method is here: requests become `fable_core`'s events, and each goes through check, persist, apply.

use super::answer::{Answer, Answers, Labels, Promoted, Stats};
use super::ledger::{Ledger, Progress};
use super::op::{Incoming, Op};
use super::refusal::{Code, Refusal};
use super::residents::{Desk, Resident, Residents};
use crate::store::journal::Note;
use crate::store::revive::HostWorkspace;
use crate::store::{Reach, Store, StoreError, Stored, Writes};
use fable_core::{Event, Observation};
use fable_core::record::decode_event;
use fable_core::{Catalog, DecisionId, UserError, Policy, Scalar, Statement, user_hash};
use std::num::NonZeroUsize;
use std::sync::Arc;

/// Bytes of answers that make a batch; posteriors are long.
const ANSWERS: usize = 256 << 10;

/// What the committing thread gets.
#[derive(Debug)]
pub(super) struct Batch {
    pub(super) number: u64,
    /// Failed commits that were known when it was made.
    pub(super) failures: u64,
    pub(super) writes: Writes,
    pub(super) answers: Answers,
}

/// See the [module](self).
#[derive(Debug)]
pub(super) struct Engine<'p, T> {
    desk: Desk<'p, T>,
    residents: Residents<T>,
    labels: &'p Labels,
    requests: u64,
    errors: u64,
}

impl<'p, T: Scalar> Engine<'p, T> {
    pub(super) fn new(
        policy: &'p Policy<'p, T>,
        labels: &'p Labels,
        store: Arc<Store>,
        progress: Arc<Progress>,
        cache: NonZeroUsize,
    ) -> Result<Self, StoreError> {
        let workspace = HostWorkspace::over(vec![T::ZERO; policy.catalog().workspace_len()]);
        let desk = Desk { policy, workspace, ledger: Ledger::open(store, progress)?, events: 0 };
        Ok(Self { desk, residents: Residents::new(cache), labels, requests: 0, errors: 0 })
    }

    /// Answers requests, all of them or as many as make a batch.
    pub(super) fn run(&mut self, incoming: &mut impl Iterator<Item = Incoming>) -> Batch {
        let mut answers = Answers::default();
        let ready = match self.desk.ledger.begin() {
            Ok(failed) => {
                if failed {
                    self.residents.clear();
                }
                Ok(())
            }
            Err(error) => Err(Refusal::from(error)),
        };
        while answers.bytes().len() < ANSWERS
            && let Some(Incoming { id, op }) = incoming.next()
        {
            let Self { desk, residents, labels, requests, errors } = self;
            *requests += 1;
            let (counts, settled) = ((*requests, *errors), op.is_err());
            let answer = match &ready {
                Ok(()) => op.and_then(|op| answer(desk, residents, labels, counts, op)),
                Err(refusal) => Err(refusal.clone()),
            };
            *errors += u64::from(answer.is_err());
            answers.put(id.as_deref(), answer.as_ref(), settled);
        }
        let (number, failures, writes) = self.desk.ledger.finish();
        Batch { number, failures, writes, answers }
    }
}

fn answer<'w, T: Scalar>(
    desk: &mut Desk<'w, T>,
    residents: &mut Residents<T>,
    labels: &'w Labels,
    (requests, errors): (u64, u64),
    op: Op,
) -> Result<Answer<'w>, Refusal> {
    match op {
        Op::Onboard { user, statements } => onboard(residents.named(desk, &user)?, desk, statements),
        Op::Decide { user, context, feasible, defaults, propensities, at } => {
            let request = fable_core::Request { context: &context, feasible: &feasible, defaults: defaults.as_deref(), at };
            decide(residents.named(desk, &user)?, desk, labels, &request, propensities)
        }
        Op::Feedback { decision, reward, weight, at } => {
            let resident = owner(desk, residents, decision)?;
            resident.warm();
            let event = resident.learner.propose_feedback(desk.policy, decision, reward, weight, at)?;
            resident.step(desk, &event, Note::None)?;
            Ok(Answer::Learned { observations: resident.learner.observations() })
        }
        Op::Observe { user, context, action, reward, weight } => {
            let resident = residents.named(desk, &user)?;
            resident.warm();
            let event = resident.learner.propose_observation(desk.policy, &context, action, reward, weight)?;
            resident.step(desk, &event, Note::None)?;
            Ok(Answer::Learned { observations: resident.learner.observations() })
        }
        Op::Unlearn { decision } => unlearn(owner(desk, residents, decision)?, desk, decision),
        Op::Posterior { user } => posterior(residents.named(desk, &user)?, desk, labels),
        Op::Contrast { user, comparison } => {
            let resident = residents.named(desk, &user)?;
            Ok(Answer::Contrast(resident.learner.assess(desk.policy, &mut desk.workspace, &comparison)?.into()))
        }
        Op::Explain { decision, against, defaults } => {
            let resident = owner(desk, residents, decision)?;
            let Desk { policy, workspace, .. } = desk;
            let why = resident.learner.explain(policy, workspace, decision, defaults.as_deref(), against)?;
            Ok(Answer::Explained(labels.explained(&why)))
        }
        Op::Profile { user, promote, at } => profile(residents.named(desk, &user)?, desk, promote, at),
        Op::Forget { user } => forget(desk, residents, &user),
        Op::Stats => Ok(Answer::Stats(Stats {
            catalog: desk.policy.catalog().definition().name,
            dimension: desk.policy.catalog().dimension(),
            scalar: if T::DIGITS == 24 { "f32" } else { "f64" },
            users: desk.ledger.users(),
            cached: residents.len(),
            requests,
            errors: errors + desk.ledger.refused(),
            events: desk.events,
            bytes: desk.ledger.store_bytes(),
        })),
    }
}

/// The user that a decision belongs to.
fn owner<'r, T: Scalar>(
    desk: &mut Desk<'_, T>,
    residents: &'r mut Residents<T>,
    decision: DecisionId,
) -> Result<&'r mut Resident<T>, Refusal> {
    residents.hashed(desk, decision.user)?.ok_or_else(|| UserError::UnknownDecision.into())
}

fn onboard<'w, T: Scalar>(
    resident: &mut Resident<T>,
    desk: &mut Desk<'w, T>,
    statements: Vec<Statement>,
) -> Result<Answer<'w>, Refusal> {
    let events: Vec<Event> = statements.into_iter().map(Event::Onboarding).collect();
    for event in &events {
        resident.learner.check(desk.policy, &mut desk.workspace, event)?; // all of them before the first is applied
    }
    for event in &events {
        resident.step(desk, event, Note::None)?;
    }
    Ok(Answer::Accepted { accepted: events.len() })
}

fn decide<'w, T: Scalar>(
    resident: &mut Resident<T>,
    desk: &mut Desk<'w, T>,
    labels: &'w Labels,
    request: &fable_core::Request<'_>,
    propensities: Option<u32>,
) -> Result<Answer<'w>, Refusal> {
    resident.warm();
    let policy = desk.policy;
    let due = |resident: &Resident<T>| {
        resident.learner.propose_expiry(policy, request.at).or_else(|| resident.learner.propose_room(policy))
    };
    if due(resident).is_some() {
        resident.learner.propose_decision(policy, &mut desk.workspace, request)?; // refuses before anything has changed
        while let Some(event) = due(resident) {
            resident.step(desk, &event, Note::None)?;
        }
    }
    let proposal = resident.learner.propose_scored(policy, &mut desk.workspace, request)?;
    let mut estimated = None;
    if let Some(draws) = propensities {
        let mut numbers = vec![0.0; policy.catalog().actions()];
        resident.learner.propensities(policy, &mut desk.workspace, request, draws, &mut numbers)?;
        estimated = Some(numbers);
    }
    if let Some(permissions) = resident.learner.propose_permissions(request.feasible) {
        resident.step(desk, &permissions, Note::None)?;
    }
    let note = if request.defaults.is_some() { Note::WithDefaults } else { Note::None };
    resident.step(desk, &proposal.event, note)?;
    let feasible = request.feasible.len();
    let learner = &resident.learner;
    let id = DecisionId { user: learner.user(), incarnation: learner.incarnation(), round: learner.rounds() };
    Ok(Answer::Decided(labels.decided(id, &proposal, feasible, estimated)))
}

/// The reward of a decision as the journal has it, taken back.
fn unlearn<'w, T: Scalar>(
    resident: &mut Resident<T>,
    desk: &mut Desk<'w, T>,
    decision: DecisionId,
) -> Result<Answer<'w>, Refusal> {
    let learner = &resident.learner;
    if decision.incarnation != learner.incarnation() || decision.round == 0 || decision.round > learner.rounds() {
        return Err(UserError::UnknownDecision.into());
    }
    let stored = desk.ledger.user(decision.user, Reach::Whole)?.ok_or(StoreError::NoUser)?;
    let found = recall(desk.policy.catalog(), &stored, decision.round)?;
    let nothing = || Refusal::new(Code::NotLearned, "nothing was learned from the decision, or it was taken back");
    let (observation, imputed) = found.ok_or_else(nothing)?;
    resident.step(desk, &Event::Unlearn { observation, imputed }, Note::TakesBack(decision.round))?;
    Ok(Answer::Learned { observations: resident.learner.observations() })
}

/// What was learned from the decision of a round and not taken back, and whether its reward was imputed.
fn recall(catalog: &Catalog<'_>, stored: &Stored, wanted: u32) -> Result<Option<(Observation, bool)>, StoreError> {
    let (mut decided, mut learned) = (None, None);
    for entry in stored.journal.iter().flat_map(|segment| segment.from(0)) {
        let entry = entry?;
        match decode_event(catalog, entry.record)? {
            // Rounds of the same number in an earlier life are other rounds.
            Event::Forget { .. } => (decided, learned) = (None, None),
            Event::Decision { round, action, baseline, context, .. } if round == wanted => {
                decided = Some(Observation { context, action, baseline, reward: 0.0, weight: 1.0 });
            }
            Event::Feedback { round, reward, weight } if round == wanted => learned = Some((reward, weight, false)),
            Event::Expiry { round, imputed: Some(reward) } if round == wanted => learned = Some((reward, 1.0, true)),
            Event::Unlearn { .. } if entry.note == Note::TakesBack(wanted) => learned = None,
            _ => {}
        }
    }
    let found = decided.zip(learned);
    Ok(found.map(|(decided, (reward, weight, imputed))| (Observation { reward, weight, ..decided }, imputed)))
}

fn posterior<'w, T: Scalar>(resident: &Resident<T>, desk: &mut Desk<'w, T>, labels: &'w Labels) -> Result<Answer<'w>, Refusal> {
    let (learner, dimension) = (&resident.learner, desk.policy.catalog().dimension());
    let mut mean = vec![T::ZERO; dimension];
    learner.posterior().mean(&mut desk.workspace, &mut mean)?;
    let mut sd = Vec::with_capacity(dimension);
    for coordinate in 0..dimension {
        sd.push(learner.posterior().marginal_variance(&mut desk.workspace, coordinate)?.to_f64().sqrt());
    }
    Ok(Answer::Posterior {
        rounds: learner.rounds(),
        observations: learner.observations(),
        mean: labels.coordinates(mean.into_iter().map(T::to_f64).collect()),
        sd: labels.coordinates(sd),
        log_det_ratio: learner.posterior().log_det_ratio(),
    })
}

fn profile<'w, T: Scalar>(
    resident: &mut Resident<T>,
    desk: &mut Desk<'w, T>,
    promote: bool,
    at: u32,
) -> Result<Answer<'w>, Refusal> {
    while promote && let Some(event) = resident.learner.propose_promotion(desk.policy, &mut desk.workspace, at)? {
        resident.step(desk, &event, Note::None)?;
    }
    let Desk { policy, workspace, .. } = desk;
    let learner = &resident.learner;
    let mut profile = Vec::new();
    for promotion in learner.profile() {
        let standing = learner.standing(policy, workspace, promotion)?;
        profile.push(Promoted::new(policy.catalog(), promotion, standing));
    }
    let mut text = String::new();
    learner.write_profile(policy, workspace, &mut text)?;
    Ok(Answer::Profile { profile, text })
}

fn forget<'w, T: Scalar>(desk: &mut Desk<'w, T>, residents: &mut Residents<T>, name: &str) -> Result<Answer<'w>, Refusal> {
    let user = user_hash(name);
    let stored = desk.ledger.user(user, Reach::Snapshot)?;
    if stored.as_ref().is_some_and(|stored| stored.row.name != name) {
        return Err(StoreError::Collision.into());
    }
    desk.ledger.erase(user, stored.is_some())?;
    residents.remove(user);
    Ok(Answer::Forgotten { forgotten: stored.is_some() })
}
