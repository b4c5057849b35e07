//! One user's learner as a state machine: propose, check, persist, apply.
//!
//! `propose_*` is pure: it draws, scores and builds an [`Event`]. [`check`](Learner::check) does all validation and
//! returns a [`Checked`] event that borrows the learner, so nothing can happen in between; [`apply`](Checked::apply) is the
//! only mutator and cannot fail. An adapter stores the event between the two: what is acknowledged is durable, and what
//! fails has changed nothing. Replay is check and apply alone. [`decide`](Learner::decide), [`feedback`](Learner::feedback)
//! and the other short forms do all steps at once for those who store nothing.
//!
//! ```
//! use fable_core::{Context, Event, Feasible, Learner, Policy, Settings, Workspace, catalog::TAU2, user_hash};
//!
//! let policy = Policy::new(&TAU2, Settings::default())?;
//! let mut learner = Learner::<f32, [f32; TAU2.state_len()], 8>::VACANT;
//! let mut workspace = Workspace::<f32, [f32; TAU2.workspace_len()]>::VACANT;
//! learner.start(&policy, user_hash("ana"))?;
//!
//! let context = Context::new(&TAU2, None, &[])?;
//! let decision = learner.decide(&policy, &mut workspace, &context, &Feasible::all(&TAU2), None)?;
//! let event = Event::Feedback { id: decision.id, reward: 0.5, weight: 1.0 };
//! let checked = learner.check(&policy, &mut workspace, &event)?;
//! // ... write `checked.event()` to flash or disk here ...
//! let update = checked.apply();
//! assert!(update.is_some());
//! assert_eq!(learner.observations(), 1);
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```

use crate::catalog::{Action, MAX_WEIGHT};
use crate::context::Context;
use crate::event::{Decision, DecisionId, Event, Observation};
use crate::feasible::{ActionSet, Feasible, FeasibleError, Rule};
use crate::normal::{Key, Purpose, Stream};
use crate::onboarding::{OnboardingError, Statement};
use crate::policy::{ONBOARDING_PRECISION, Policy, REWARD, WEIGHT, within};
use crate::posterior::{Estimate, MAX_RESPONSE, Posterior, PosteriorError, Update};
use crate::score::{self, Round};
use crate::workspace::Workspace;
use crate::{Scalar, Storage};

mod error;
mod propensity;

pub use error::LearnerError;

/// Largest magnitude of a baseline: the residual of any reward then stays within [`MAX_RESPONSE`].
pub const MAX_BASELINE: f64 = MAX_RESPONSE - 1.0;

/// A decision that waits for its reward.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Pending {
    round: u32,
    context: Context,
    action: Action,
    baseline: f64,
    settled: bool,
}

/// Everything that is known about one user.
///
/// `S` holds the packed posterior: `[T; N]` on a device, `Vec<T>` on a host. `R` is the number of decisions that can wait
/// for their reward; when one more is made the oldest expires.
#[derive(Clone, Debug, PartialEq)]
pub struct Learner<T, S, const R: usize> {
    fingerprint: u64,
    user: u64,
    incarnation: u32,
    round: u32,
    observations: u32,
    permissions: ActionSet,
    posterior: Posterior<T, S>,
    pending: heapless::Deque<Pending, R>,
}

impl<T: Scalar, const N: usize, const R: usize> Learner<T, [T; N], R> {
    /// All zero bits: a `static` of it lives in `.bss`, and the state never exists twice. [`start`](Self::start) it in place before use.
    pub const VACANT: Self = Self::over([T::ZERO; N]);
}

/// The sizes that device users count on: everything one user needs, with room for one waiting decision.
const _: () = {
    use crate::catalog::{AGENT, TAU2};
    assert!(size_of::<Learner<f32, [f32; AGENT.state_len()], 1>>() <= 105_000);
    assert!(size_of::<Learner<f32, [f32; TAU2.state_len()], 1>>() <= 2_200);
};

/// What a decider that may fall back to the host's own behaviour returns.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Choice {
    /// An action was decided.
    Decided(Decision),
    /// Nothing is feasible: the host does what it does without Fable. There is no decision, so nothing to learn from.
    HostDefault,
}

impl<T: Scalar, S: Storage<T>, const R: usize> Learner<T, S, R> {
    /// A vacant learner over given storage: a `Vec` or a slice. An array would be moved; start from `VACANT` there.
    #[must_use]
    pub const fn over(packed: S) -> Self {
        const { assert!(R > 0, "a learner needs room for at least one waiting decision") };
        Self {
            fingerprint: 0,
            user: 0,
            incarnation: 0,
            round: 0,
            observations: 0,
            permissions: ActionSet::EMPTY,
            posterior: Posterior::over(packed),
            pending: heapless::Deque::new(),
        }
    }

    /// Sets the learner to the policy's prior, in place, for a user.
    ///
    /// # Errors
    /// Storage of the wrong length; nothing has changed then.
    pub fn start(&mut self, policy: &Policy<'_, T>, user: u64) -> Result<(), LearnerError> {
        self.posterior.start(policy.catalog().arrow(), policy.prior(), policy.settings().base_precision)?;
        self.fingerprint = policy.fingerprint();
        self.user = user;
        self.incarnation = 0;
        self.clear();
        Ok(())
    }

    /// Forgets everything but the posterior, the user and the incarnation.
    fn clear(&mut self) {
        self.round = 0;
        self.observations = 0;
        self.permissions = ActionSet::EMPTY;
        self.pending.clear();
    }

    /// The user's hash.
    #[must_use]
    pub const fn user(&self) -> u64 {
        self.user
    }

    /// How often the user was forgotten.
    #[must_use]
    pub const fn incarnation(&self) -> u32 {
        self.incarnation
    }

    /// Decisions made in this incarnation.
    #[must_use]
    pub const fn rounds(&self) -> u32 {
        self.round
    }

    /// Rewards learned in this incarnation; onboarding is not counted.
    #[must_use]
    pub const fn observations(&self) -> u32 {
        self.observations
    }

    /// The feasible set that the last decision refers to; empty before the first.
    #[must_use]
    pub const fn permissions(&self) -> &ActionSet {
        &self.permissions
    }

    /// The posterior.
    #[must_use]
    pub const fn posterior(&self) -> &Posterior<T, S> {
        &self.posterior
    }

    /// The event that records a changed feasible set; `None` when it is the one already recorded.
    #[must_use]
    pub fn propose_permissions(&self, feasible: &Feasible) -> Option<Event> {
        (self.permissions != *feasible.set()).then_some(Event::Permissions(*feasible.set()))
    }

    /// Draws theta, scores the feasible actions and builds the event of the best one (Equation 4).
    ///
    /// `defaults` replaces the catalog's default score b for this round, one number per action.
    ///
    /// # Errors
    /// A vacant or foreign learner, a context, set or defaults that do not fit, a workspace that is too small.
    pub fn propose_decision<W: Storage<T>>(
        &self,
        policy: &Policy<'_, T>,
        workspace: &mut Workspace<T, W>,
        context: &Context,
        feasible: &Feasible,
        defaults: Option<&[f64]>,
    ) -> Result<Event, LearnerError> {
        let round = self.round.checked_add(1).ok_or(LearnerError::Exhausted)?;
        let id = DecisionId { user: self.user, incarnation: self.incarnation, round };
        let normal = Some(self.normals(policy, round, Purpose::Decision));
        let (action, _) = self.best(policy, workspace, context, feasible, defaults, normal)?;
        let default = defaults.and_then(|defaults| defaults.get(action.index()).copied());
        let baseline = policy.baseline(context, action, default).to_f64();
        Ok(Event::Decision { decision: Decision { id, action, baseline }, context: *context })
    }

    /// The feasible action with the highest mean score, and that score: frozen evaluation, no draw and no event.
    ///
    /// # Errors
    /// As for [`propose_decision`](Self::propose_decision).
    pub fn recommend<W: Storage<T>>(
        &self,
        policy: &Policy<'_, T>,
        workspace: &mut Workspace<T, W>,
        context: &Context,
        feasible: &Feasible,
        defaults: Option<&[f64]>,
    ) -> Result<(Action, T), LearnerError> {
        self.best(policy, workspace, context, feasible, defaults, None)
    }

    /// The scale nu_t of a round's draw and the stream of normals it is made of.
    fn normals(&self, policy: &Policy<'_, T>, round: u32, purpose: Purpose) -> (T, Stream) {
        let settings = policy.settings();
        let key = Key { seed: settings.seed, user: self.user, incarnation: self.incarnation, round, purpose };
        (T::from_f64(settings.exploration.nu(round, policy.active_dimension())), key.stream())
    }

    fn best<W: Storage<T>>(
        &self,
        policy: &Policy<'_, T>,
        workspace: &mut Workspace<T, W>,
        context: &Context,
        feasible: &Feasible,
        defaults: Option<&[f64]>,
        normal: Option<(T, Stream)>,
    ) -> Result<(Action, T), LearnerError> {
        self.admit(policy)?;
        let catalog = policy.catalog();
        if !context.fits(catalog) {
            return Err(LearnerError::ForeignContext);
        }
        if !feasible.set().is_subset(&catalog.all_actions()) {
            return Err(LearnerError::UnknownAction);
        }
        if let Some(defaults) = defaults {
            if defaults.len() != catalog.actions() {
                return Err(LearnerError::DefaultCount { expected: catalog.actions() });
            }
            if let Some(action) = defaults.iter().position(|default| !within(*default, MAX_WEIGHT)) {
                return Err(LearnerError::DefaultRange { action });
            }
        }
        let parts = workspace.parts(catalog.arrow(), catalog.value_count(), catalog.actions());
        let (active, table, scores) = parts.ok_or(LearnerError::Posterior(PosteriorError::WorkspaceLength))?;
        self.posterior.draw(active, context.task(), normal)?;
        Round::new(policy, context, defaults).score(active, table, scores);
        score::best(feasible.set(), scores).ok_or(LearnerError::UnknownAction)
    }

    /// Mean and variance of an action's score, b - lambda cost + phi.theta.
    ///
    /// # Errors
    /// As for [`propose_decision`](Self::propose_decision).
    pub fn predict<W: Storage<T>>(
        &self,
        policy: &Policy<'_, T>,
        workspace: &mut Workspace<T, W>,
        context: &Context,
        action: Action,
        default: Option<f64>,
    ) -> Result<Estimate<T>, LearnerError> {
        self.admit(policy)?;
        Self::admit_action(policy, context, action)?;
        if default.is_some_and(|default| !within(default, MAX_WEIGHT)) {
            return Err(LearnerError::DefaultRange { action: action.index() });
        }
        let features = policy.features(context, action).map(|(index, value)| (index, T::from_f32(value)));
        let residual = self.posterior.contrast(workspace, features)?;
        Ok(Estimate { mean: policy.baseline(context, action, default) + residual.mean, variance: residual.variance })
    }

    /// The event of a reward for an action chosen elsewhere, compared with the reference score.
    ///
    /// # Errors
    /// A context or action of another catalog.
    pub fn propose_observation(
        &self,
        policy: &Policy<'_, T>,
        context: &Context,
        action: Action,
        reward: f64,
        weight: f64,
    ) -> Result<Event, LearnerError> {
        self.admit(policy)?;
        Self::admit_action(policy, context, action)?;
        let baseline = policy.baseline(context, action, None).to_f64();
        Ok(Event::Observation(Observation { context: *context, action, baseline, reward, weight }))
    }

    /// Validates an event against the present state. Nothing changes until the result is [applied](Checked::apply).
    ///
    /// # Errors
    /// Each fault has its own [`LearnerError`].
    pub fn check<'l, W: Storage<T>>(
        &'l mut self,
        policy: &'l Policy<'l, T>,
        workspace: &'l mut Workspace<T, W>,
        event: &'l Event,
    ) -> Result<Checked<'l, T, S, W, R>, LearnerError> {
        self.admit(policy)?;
        if workspace.active(policy.catalog().arrow()).is_none() {
            return Err(LearnerError::Posterior(PosteriorError::WorkspaceLength));
        }
        match event {
            Event::Permissions(set) => {
                Feasible::from_set(policy.catalog(), *set).map_err(LearnerError::Feasible)?;
            }
            Event::Onboarding(statement) => {
                statement.direction.check(policy.catalog()).map_err(LearnerError::Onboarding)?;
                if !REWARD.contains(statement.response) {
                    return Err(LearnerError::Onboarding(OnboardingError::Response));
                }
                if statement.precision != 0.0 && !ONBOARDING_PRECISION.contains(statement.precision) {
                    return Err(LearnerError::Onboarding(OnboardingError::Precision));
                }
            }
            Event::Decision { decision, context } => {
                Self::admit_action(policy, context, decision.action)?;
                let round = self.round.checked_add(1).ok_or(LearnerError::Exhausted)?;
                if decision.id != (DecisionId { user: self.user, incarnation: self.incarnation, round }) {
                    return Err(LearnerError::OutOfOrder);
                }
                if !self.permissions.contains(decision.action) {
                    return Err(LearnerError::Forbidden);
                }
                if !within(decision.baseline, MAX_BASELINE) {
                    return Err(LearnerError::Baseline);
                }
            }
            Event::Feedback { id, reward, weight } => {
                self.admit_reward(*reward, *weight)?;
                self.find(*id)?;
            }
            Event::Observation(Observation { context, action, baseline, reward, weight }) => {
                Self::admit_action(policy, context, *action)?;
                self.admit_reward(*reward, *weight)?;
                if !within(*baseline, MAX_BASELINE) {
                    return Err(LearnerError::Baseline);
                }
            }
            Event::Forget => {
                self.incarnation.checked_add(1).ok_or(LearnerError::Exhausted)?;
            }
        }
        Ok(Checked { learner: self, policy, workspace, event })
    }

    /// Chooses an action and records it: [`propose_permissions`](Self::propose_permissions),
    /// [`propose_decision`](Self::propose_decision), check and apply.
    ///
    /// # Errors
    /// As for the steps; nothing has changed then.
    pub fn decide<W: Storage<T>>(
        &mut self,
        policy: &Policy<'_, T>,
        workspace: &mut Workspace<T, W>,
        context: &Context,
        feasible: &Feasible,
        defaults: Option<&[f64]>,
    ) -> Result<Decision, LearnerError> {
        let event = self.propose_decision(policy, workspace, context, feasible, defaults)?;
        if let Some(permissions) = self.propose_permissions(feasible) {
            self.check(policy, workspace, &permissions)?.apply();
        }
        self.check(policy, workspace, &event)?.apply();
        match event {
            Event::Decision { decision, .. } => Ok(decision),
            _ => Err(LearnerError::OutOfOrder),
        }
    }

    /// Decides under `rules`, or leaves the round to the host when they leave nothing to choose.
    ///
    /// # Errors
    /// As for [`decide`](Self::decide) and [`Feasible::new`], except that an empty set is no error.
    pub fn decide_or_default<W: Storage<T>>(
        &mut self,
        policy: &Policy<'_, T>,
        workspace: &mut Workspace<T, W>,
        context: &Context,
        rules: &[Rule<'_>],
        defaults: Option<&[f64]>,
    ) -> Result<Choice, LearnerError> {
        self.admit(policy)?;
        if !context.fits(policy.catalog()) {
            return Err(LearnerError::ForeignContext);
        }
        match Feasible::new(policy.catalog(), rules) {
            Ok(feasible) => self.decide(policy, workspace, context, &feasible, defaults).map(Choice::Decided),
            Err(FeasibleError::Empty) => Ok(Choice::HostDefault),
            Err(error) => Err(LearnerError::Feasible(error)),
        }
    }

    /// Learns the reward of an earlier decision (Equations 5-6).
    ///
    /// # Errors
    /// A reward outside [-1, 1], an unknown, expired or already rewarded decision.
    pub fn feedback<W: Storage<T>>(
        &mut self,
        policy: &Policy<'_, T>,
        workspace: &mut Workspace<T, W>,
        id: DecisionId,
        reward: f64,
    ) -> Result<Option<Update<T>>, LearnerError> {
        Ok(self.check(policy, workspace, &Event::Feedback { id, reward, weight: 1.0 })?.apply())
    }

    /// Learns from an action chosen elsewhere.
    ///
    /// # Errors
    /// A reward outside [-1, 1], a context or action of another catalog.
    pub fn observe<W: Storage<T>>(
        &mut self,
        policy: &Policy<'_, T>,
        workspace: &mut Workspace<T, W>,
        context: &Context,
        action: Action,
        reward: f64,
    ) -> Result<Option<Update<T>>, LearnerError> {
        let event = self.propose_observation(policy, context, action, reward, 1.0)?;
        Ok(self.check(policy, workspace, &event)?.apply())
    }

    /// Takes a stated preference into the posterior (Equations 2-3).
    ///
    /// # Errors
    /// A direction of another catalog, a response or precision out of range.
    pub fn onboard<W: Storage<T>>(
        &mut self,
        policy: &Policy<'_, T>,
        workspace: &mut Workspace<T, W>,
        statement: Statement,
    ) -> Result<Option<Update<T>>, LearnerError> {
        Ok(self.check(policy, workspace, &Event::Onboarding(statement))?.apply())
    }

    /// Back to the prior, in the next incarnation; ids of earlier decisions are unknown from then on.
    ///
    /// # Errors
    /// A vacant or foreign learner.
    pub fn forget<W: Storage<T>>(&mut self, policy: &Policy<'_, T>, workspace: &mut Workspace<T, W>) -> Result<(), LearnerError> {
        self.check(policy, workspace, &Event::Forget)?.apply();
        Ok(())
    }

    /// The learner was started, and under this policy.
    fn admit(&self, policy: &Policy<'_, T>) -> Result<(), LearnerError> {
        if self.posterior.arrow().dimension() == 0 {
            Err(LearnerError::Posterior(PosteriorError::Vacant))
        } else if self.fingerprint == policy.fingerprint() {
            Ok(())
        } else {
            Err(LearnerError::ForeignPolicy { expected: self.fingerprint, found: policy.fingerprint() })
        }
    }

    fn admit_action(policy: &Policy<'_, T>, context: &Context, action: Action) -> Result<(), LearnerError> {
        if !context.fits(policy.catalog()) {
            Err(LearnerError::ForeignContext)
        } else if action.index() >= policy.catalog().actions() {
            Err(LearnerError::UnknownAction)
        } else {
            Ok(())
        }
    }

    fn admit_reward(&self, reward: f64, weight: f64) -> Result<(), LearnerError> {
        if !REWARD.contains(reward) {
            Err(LearnerError::Reward)
        } else if !WEIGHT.contains(weight) {
            Err(LearnerError::Weight)
        } else if self.observations == u32::MAX {
            Err(LearnerError::Exhausted)
        } else {
            Ok(())
        }
    }

    /// The decision that waits for its reward.
    fn find(&self, id: DecisionId) -> Result<Pending, LearnerError> {
        let ours = id.user == self.user && id.incarnation == self.incarnation;
        if !ours || id.round == 0 || id.round > self.round {
            return Err(LearnerError::UnknownDecision);
        }
        match self.pending.iter().find(|pending| pending.round == id.round) {
            Some(pending) if pending.settled => Err(LearnerError::DuplicateFeedback),
            Some(pending) => Ok(*pending),
            None => Err(LearnerError::ExpiredDecision),
        }
    }

    /// Equations 5-6 with the residual y - baseline and variance sigma^2 / weight.
    fn learn<W: Storage<T>>(
        &mut self,
        policy: &Policy<'_, T>,
        workspace: &mut Workspace<T, W>,
        observation: &Observation,
    ) -> Option<Update<T>> {
        let features = policy.features(&observation.context, observation.action);
        let features = features.map(|(coordinate, value)| (coordinate, T::from_f32(value)));
        let residual = T::from_f64(observation.reward) - T::from_f64(observation.baseline);
        let variance = T::from_f64(policy.settings().noise_variance / observation.weight);
        let update = self.posterior.absorb(workspace, features, residual, variance).ok();
        self.observations = self.observations.saturating_add(1);
        update
    }
}

/// An event that fits the learner it borrows; nothing can come between the check and [`apply`](Self::apply).
#[derive(Debug)]
pub struct Checked<'l, T, S, W, const R: usize> {
    learner: &'l mut Learner<T, S, R>,
    policy: &'l Policy<'l, T>,
    workspace: &'l mut Workspace<T, W>,
    event: &'l Event,
}

impl<'l, T: Scalar, S: Storage<T>, W: Storage<T>, const R: usize> Checked<'l, T, S, W, R> {
    /// The event, to be stored before it is applied.
    #[must_use]
    pub const fn event(&self) -> &'l Event {
        self.event
    }

    /// Applies the event. What was learned is returned for events that learn.
    #[expect(clippy::must_use_candidate, reason = "it is called for its effect")]
    pub fn apply(self) -> Option<Update<T>> {
        let Self { learner, policy, workspace, event } = self;
        match event {
            Event::Permissions(set) => {
                learner.permissions = *set;
                None
            }
            Event::Onboarding(statement) => {
                if statement.precision == 0.0 {
                    return None;
                }
                let direction = statement.direction.entries().map(|(index, value)| (index, T::from_f64(value)));
                let response = T::from_f64(statement.response);
                let variance = T::from_f64(1.0 / statement.precision);
                let update = learner.posterior.absorb(workspace, direction, response, variance).ok();
                if learner.observations == 0 {
                    learner.posterior.reset_log_det_ratio();
                }
                update
            }
            Event::Decision { decision, context } => {
                learner.round = decision.id.round;
                if learner.pending.is_full() {
                    learner.pending.pop_front();
                }
                let pending = Pending {
                    round: decision.id.round,
                    context: *context,
                    action: decision.action,
                    baseline: decision.baseline,
                    settled: false,
                };
                let _ = learner.pending.push_back(pending); // there is room now
                None
            }
            Event::Feedback { id, reward, weight } => {
                let pending = learner.pending.iter_mut().find(|pending| pending.round == id.round)?;
                pending.settled = true;
                let Pending { context, action, baseline, .. } = *pending;
                learner.learn(policy, workspace, &Observation { context, action, baseline, reward: *reward, weight: *weight })
            }
            Event::Observation(observation) => learner.learn(policy, workspace, observation),
            Event::Forget => {
                let base_precision = policy.settings().base_precision;
                let _ = learner.posterior.start(policy.catalog().arrow(), policy.prior(), base_precision); // started before
                learner.incarnation = learner.incarnation.saturating_add(1);
                learner.clear();
                None
            }
        }
    }
}
