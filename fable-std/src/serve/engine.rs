//! The learners' thread: every request in its turn, answered from memory.
//!
//! Nothing of the method is here: requests become `fable_core`'s commands, and what these take goes to the ledger first.

use super::answer::{Answer, Answers, Chances, Contrasted, Labels, Promoted, Stats};
use super::backup::Backups;
use super::ledger::{Ledger, Progress};
use super::op::{Incoming, Op};
use super::refusal::{Code, Refusal};
use super::residents::{Residents, warm};
use crate::inspect::marginals;
use crate::store::journal::Note;
use crate::store::{Desk, Policies, Reach, Resident, Store, StoreError, Stored, Writes};
use fable_core::record::decode_event;
use fable_core::{
    Catalog, Coin, Command, ContrastSet, DecisionId, Deed, Event, Exploration, Observation, Promotion, Request, Scalar, Scores,
    UserError,
};
use std::iter::Peekable;
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
    ledger: Ledger,
    residents: Residents<'p, T>,
    labels: &'p Labels,
    backups: Backups,
    requests: u64,
    changes: u64,
    errors: u64,
}

impl<'p, T: Scalar> Engine<'p, T> {
    pub(super) fn new(
        policies: &'p Policies<'p, T>,
        labels: &'p Labels,
        store: Arc<Store>,
        progress: Arc<Progress>,
        cache: usize,
    ) -> Result<Self, StoreError> {
        let (desk, ledger) = (Desk::new(policies), Ledger::open(store, progress)?);
        let residents = Residents::new(desk.catalog(), cache);
        Ok(Self { desk, ledger, residents, labels, backups: Backups::default(), requests: 0, changes: 0, errors: 0 })
    }

    /// Answers requests, all of them or as many as make a batch.
    pub(super) fn run(&mut self, incoming: &mut Peekable<impl Iterator<Item = Incoming>>) -> Batch {
        let mut answers = Answers::default();
        let ready = match self.ledger.begin() {
            Ok(failed) => {
                if failed {
                    self.residents.clear();
                }
                Ok(())
            }
            Err(error) => Err(Refusal::from(error)),
        };
        // Forgetting needs no room on the disk, so it is not kept waiting by what does.
        let forgets = |incoming: &Incoming| matches!(incoming.op, Ok(Op::Forget { .. }));
        let kind = incoming.peek().map(forgets);
        while answers.bytes().len() < ANSWERS
            && let Some(Incoming { id, op }) = incoming.next_if(|next| Some(forgets(next)) == kind)
        {
            self.requests += 1;
            let settled = op.is_err();
            let answer = match &ready {
                Ok(()) => op.and_then(|op| self.answer(op)),
                Err(refusal) => Err(refusal.clone()),
            };
            self.errors += u64::from(answer.is_err());
            self.changes += u64::from(matches!(answer, Ok(Answer::Learned { changed: true, .. })));
            answers.put(id.as_deref(), answer.as_ref(), settled);
        }
        let (number, failures, writes) = self.ledger.finish();
        Batch { number, failures, writes, answers }
    }

    fn answer(&mut self, op: Op) -> Result<Answer<'p>, Refusal> {
        match op {
            Op::Onboard { user, statements } => {
                self.named(&user)?.run(&mut Command::onboard(&statements), Note::None)?;
                Ok(Answer::Accepted { accepted: statements.len() })
            }
            Op::Decide { user, context, feasible, defaults, propensities, at } => {
                let request = Request { context: &context, feasible: &feasible, defaults: defaults.as_deref(), at };
                let labels = self.labels;
                self.named(&user)?.decide(labels, request, propensities)
            }
            Op::Feedback { decision, reward, weight, at } => {
                self.owner(decision)?.learn(Command::feedback(decision, reward).weighted(weight).at(at))
            }
            Op::Observe { user, context, action, reward, weight, at } => {
                self.named(&user)?.learn(Command::observe(&context, action, reward).weighted(weight).at(at))
            }
            Op::Unlearn { decision } => self.owner(decision)?.unlearn(decision),
            Op::Promote { user, at } => {
                let mut command = Command::promote(at);
                self.named(&user)?.run(&mut command, Note::None)?;
                Ok(Answer::Promoted { promoted: command.applied() })
            }
            Op::Posterior { user } => {
                let labels = self.labels;
                self.named(&user)?.posterior(labels)
            }
            Op::Contrast { user, comparison, declared } => {
                let mut seat = self.named(&user)?;
                let mut user = seat.user()?;
                let trial = declared.map(|contrast| user.trial(contrast)).transpose()?;
                Ok(Answer::Contrast(Contrasted::new(user.assess(&comparison)?, trial)))
            }
            Op::Explain { decision, against, defaults } => {
                let labels = self.labels;
                let mut seat = self.owner(decision)?;
                let mut user = seat.user()?;
                Ok(Answer::Explained(labels.explained(&user.explain(decision, defaults.as_deref(), against)?)))
            }
            Op::Profile { user } => self.named(&user)?.profile(),
            Op::Forget { user } => self.forget(&user),
            Op::Backup { file } => {
                let backup = match file {
                    Some(file) => self.backups.begin(self.ledger.store(), &file)?,
                    None => self.backups.last()?,
                };
                Ok(Answer::Backup(backup))
            }
            Op::Stats => Ok(Answer::Stats(Stats {
                catalog: self.desk.catalog().definition().name,
                dimension: self.desk.catalog().dimension(),
                scalar: if T::DIGITS == 24 { "f32" } else { "f64" },
                prior: self.desk.policies.fitted().map(|fingerprint| format!("{fingerprint:016x}")),
                probe: self.desk.policies.newcomers().settings().probe,
                users: self.ledger.users(),
                damaged: self.ledger.damaged(),
                cached: self.residents.len(),
                cached_bytes: self.residents.bytes(),
                requests: self.requests,
                errors: self.errors + self.ledger.refused(),
                events: self.ledger.entries(),
                changes: self.changes,
                bytes: self.ledger.store_bytes(),
            })),
        }
    }

    /// The user with a name.
    fn named(&mut self, name: &str) -> Result<Seat<'_, 'p, T>, Refusal> {
        let Self { desk, ledger, residents, .. } = self;
        let resident = residents.named(desk, ledger, name)?;
        Ok(Seat { desk, ledger, resident })
    }

    /// The user that a decision belongs to.
    fn owner(&mut self, decision: DecisionId) -> Result<Seat<'_, 'p, T>, Refusal> {
        let Self { desk, ledger, residents, .. } = self;
        let resident = residents.hashed(desk, ledger, decision.user)?.ok_or(UserError::UnknownDecision)?;
        Ok(Seat { desk, ledger, resident })
    }

    fn forget(&mut self, name: &str) -> Result<Answer<'p>, Refusal> {
        let found = match self.ledger.find(name) {
            // Who is damaged can be forgotten, too.
            Err(StoreError::User(_)) => self.ledger.store().holder(name)?.filter(|number| self.ledger.has(*number)),
            found => found?,
        };
        if let Some(user) = found {
            self.ledger.erase(user)?;
            self.residents.remove(user);
        }
        Ok(Answer::Forgotten { forgotten: found.is_some() })
    }
}

/// One user at the desk.
struct Seat<'s, 'p, T> {
    desk: &'s mut Desk<'p, T>,
    ledger: &'s mut Ledger,
    resident: &'s mut Resident<'p, T>,
}

impl<'p, T: Scalar> Seat<'_, 'p, T> {
    fn user(&mut self) -> Result<fable_core::User<'_, T>, UserError> {
        self.resident.user(self.desk)
    }

    fn run(&mut self, command: &mut Command<'_>, note: Note) -> Result<(), StoreError> {
        self.resident.run(self.desk, self.ledger, command, note)
    }

    /// A reward, and what it makes certain.
    fn learn(mut self, mut command: Command<'_>) -> Result<Answer<'p>, Refusal> {
        warm(self.resident);
        self.run(&mut command, Note::None)?;
        let learner = self.resident.learner();
        Ok(Answer::Learned { observations: learner.observations(), changed: learner.rewards_since_change() == Some(0) })
    }

    fn decide(mut self, labels: &'p Labels, request: Request<'_>, draws: Option<u32>) -> Result<Answer<'p>, Refusal> {
        warm(self.resident);
        // Where coins are the only chance, how probable an action is needs no draws.
        let settings = self.resident.policy().settings();
        let exact = settings.probe > 0.0 && matches!(settings.exploration, Exploration::Optimistic(_));
        let mut propensities = (exact || draws.is_some()).then(|| vec![0.0; self.desk.catalog().actions()]);
        let mut command = Command::decide(request).scored();
        if let Some(propensities) = propensities.as_mut() {
            command = command.with_propensities(draws.unwrap_or(0), propensities);
        }
        self.run(&mut command, if request.defaults.is_some() { Note::WithDefaults } else { Note::None })?;
        let scores = command.scores();
        let decision = command.decision(&self.user()?);
        drop(command);
        let (decision, scores): (_, Scores) = decision.zip(scores).ok_or(UserError::OutOfOrder)?; // it was just made
        let own = propensities.as_ref().filter(|_| exact).and_then(|all| all.get(decision.action.index()).copied());
        let (chances, user) = (Chances { own, all: propensities.filter(|_| draws.is_some()) }, self.user()?);
        Ok(Answer::Decided(labels.decided(&decision, &scores, request.feasible.len(), user.coins(decision.id), chances)))
    }

    /// The reward of a decision as the journal has it, taken back; one from elsewhere, too, that was merged.
    fn unlearn(mut self, decision: DecisionId) -> Result<Answer<'p>, Refusal> {
        let learner = self.resident.learner();
        let own = decision.origin == learner.origin();
        let known = if own { decision.round <= learner.rounds() } else { learner.known_of(decision.origin) > 0 };
        if decision.incarnation != learner.incarnation() || decision.round == 0 || !known {
            return Err(UserError::UnknownDecision.into());
        }
        let stored = self.ledger.user(decision.user, Reach::Whole)?.ok_or(StoreError::NoUser)?;
        let found = recall(self.desk.catalog(), &stored, decision, own)?;
        let nothing = || {
            Refusal::new(
                Code::NotLearned,
                "nothing was learned from the decision, it was taken back, or it is older than what is kept",
            )
        };
        let (observation, imputed, kept, probed) = found.ok_or_else(nothing)?;
        self.run(
            &mut Command::unlearn(observation, imputed, kept, probed),
            Note::TakesBack { origin: decision.origin, round: decision.round },
        )?;
        Ok(Answer::Learned { observations: self.resident.learner().observations(), changed: false })
    }

    fn posterior(mut self, labels: &'p Labels) -> Result<Answer<'p>, Refusal> {
        let mut user = self.user()?;
        let (mean, variances) = marginals(&mut user)?;
        Ok(Answer::Posterior {
            rounds: user.rounds(),
            observations: user.observations(),
            mean: labels.coordinates(mean),
            sd: labels.coordinates(variances.into_iter().map(f64::sqrt).collect()),
            log_det_ratio: user.posterior().log_det_ratio(),
        })
    }

    fn profile(mut self) -> Result<Answer<'p>, Refusal> {
        let catalog = self.desk.catalog();
        let mut user = self.user()?;
        let promotions: Vec<Promotion> = user.profile().to_vec();
        let mut profile = Vec::with_capacity(promotions.len());
        for promotion in &promotions {
            let trial = user.trial(promotion.contrast.into())?;
            profile.push(Promoted::new(catalog, promotion, user.standing(promotion)?, trial));
        }
        let mut text = String::new();
        user.write_profile(&mut text)?;
        Ok(Answer::Profile { profile, text })
    }
}

/// What was learned from a decision, whether its reward was imputed, what fadings have left, and the contrasts of its coins.
type Learned = (Observation, bool, f32, ContrastSet);

/// What was learned from a decision of this place or another one and not taken back.
fn recall(catalog: &Catalog<'_>, stored: &Stored, decision: DecisionId, own: bool) -> Result<Option<Learned>, StoreError> {
    let (mut decided, mut learned) = (None, None);
    // Rounds of the same number elsewhere are other rounds.
    let wanted = if own { decision.round } else { 0 };
    let takes_back = Note::TakesBack { origin: decision.origin, round: decision.round };
    let probed_by = |coins: &[Coin]| {
        let mut probed = ContrastSet::EMPTY;
        for coin in coins {
            probed.insert(usize::from(coin.contrast));
        }
        probed
    };
    for entry in stored.journal.iter().flat_map(|segment| segment.from(0)) {
        let entry = entry?;
        match decode_event(catalog, entry.record)? {
            // Rounds of the same number in an earlier life are other rounds.
            Event::Forget { .. } => (decided, learned) = (None, None),
            Event::Decision { round, action, baseline, context, coins, .. } if round == wanted => {
                let observation = Observation { context, action, baseline, reward: 0.0, weight: 1.0 };
                decided = Some((observation, probed_by(&coins)));
            }
            Event::Feedback { round, reward, weight } if round == wanted => learned = Some((reward, weight, false, 1.0)),
            Event::Expiry { round, imputed: Some(reward) } if round == wanted => learned = Some((reward, 1.0, true, 1.0)),
            Event::Unlearn { .. } if entry.note == takes_back => learned = None,
            Event::Elsewhere(told) if told.origin == decision.origin => match told.deed {
                Deed::Reward { round, observation, imputed, coins } if round == decision.round => {
                    decided = Some((observation, probed_by(&coins)));
                    learned = Some((observation.reward, observation.weight, imputed, 1.0));
                }
                Deed::Unlearned { round, .. } if round == decision.round => learned = None,
                _ => {}
            },
            Event::Fade { keep } => {
                if let Some((.., kept)) = &mut learned {
                    *kept *= keep;
                }
            }
            _ => {}
        }
    }
    let found = decided.zip(learned);
    Ok(found.map(|((decided, probed), (reward, weight, imputed, kept))| {
        let probed = if imputed { ContrastSet::EMPTY } else { probed };
        (Observation { reward, weight, ..decided }, imputed, kept, probed)
    }))
}
