//! Choosing: one draw, every feasible action scored, the best one taken (Equation 4).

use super::{Learner, LearnerError};
use crate::catalog::{Action, MAX_WEIGHT};
use crate::context::Context;
use crate::event::{Decision, DecisionId, Event};
use crate::feasible::{Feasible, FeasibleError, Rule};
use crate::normal::{Key, Purpose, Stream};
use crate::policy::{Policy, within};
use crate::posterior::{Estimate, PosteriorError};
use crate::request::Request;
use crate::score::Round;
use crate::workspace::Workspace;
use crate::{Scalar, Storage};

/// What a decider that may fall back to the host's own behaviour returns.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Choice {
    /// An action was decided.
    Decided(Decision),
    /// Nothing is feasible: the host does what it does without Fable. There is no decision, so nothing to learn from.
    HostDefault,
}

/// A proposed decision with what it was chosen for; the numbers are for people and logs, the event has all that is learned
/// from.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Proposal {
    /// The event of the decision.
    pub event: Event,
    /// Its action.
    pub action: Action,
    /// The mean score of the action, baseline + phi.mu.
    pub score: f64,
    /// The score that the draw gave it.
    pub sampled_score: f64,
    /// Whether another feasible action has a higher mean score.
    pub explored: bool,
}

impl<T: Scalar, S: Storage<T>, const R: usize> Learner<T, S, R> {
    /// The event that records a changed feasible set; `None` when it is the one already recorded.
    #[must_use]
    pub fn propose_permissions(&self, feasible: &Feasible) -> Option<Event> {
        (self.permissions != *feasible.set()).then_some(Event::Permissions(*feasible.set()))
    }

    /// Draws theta, scores the feasible actions and builds the event of the best one (Equation 4).
    ///
    /// # Errors
    /// A vacant or foreign learner, a context, set or defaults that do not fit, a workspace that is too small.
    pub fn propose_decision<W: Storage<T>>(
        &self,
        policy: &Policy<'_, T>,
        workspace: &mut Workspace<T, W>,
        request: &Request<'_>,
    ) -> Result<Event, LearnerError> {
        self.draw(policy, workspace, request).map(|(event, ..)| event)
    }

    /// The same with the scores of the action: one more back-solve, for the mean.
    ///
    /// # Errors
    /// As for [`propose_decision`](Self::propose_decision).
    pub fn propose_scored<W: Storage<T>>(
        &self,
        policy: &Policy<'_, T>,
        workspace: &mut Workspace<T, W>,
        request: &Request<'_>,
    ) -> Result<Proposal, LearnerError> {
        let (event, action, sampled_score) = self.draw(policy, workspace, request)?;
        let (_, highest) = self.best(policy, workspace, request, None)?;
        let means = workspace.parts(policy.catalog()).and_then(|(_, _, means)| means.get(action.index()));
        let score = *means.ok_or(LearnerError::Posterior(PosteriorError::WorkspaceLength))?;
        let (explored, sampled_score) = (score < highest, sampled_score.to_f64());
        Ok(Proposal { event, action, score: score.to_f64(), sampled_score, explored })
    }

    fn draw<W: Storage<T>>(
        &self,
        policy: &Policy<'_, T>,
        workspace: &mut Workspace<T, W>,
        request: &Request<'_>,
    ) -> Result<(Event, Action, T), LearnerError> {
        let round = self.next_round()?;
        let normal = Some(self.normals(policy, round, Purpose::Decision));
        let (action, score) = self.best(policy, workspace, request, normal)?;
        let default = request.defaults.and_then(|defaults| defaults.get(action.index()).copied());
        let baseline = policy.baseline(request.context, action, default).to_f64();
        Ok((Event::Decision { round, action, baseline, context: *request.context, at: request.at }, action, score))
    }

    /// The feasible action with the highest mean score, and that score: frozen evaluation, no draw and no event.
    ///
    /// # Errors
    /// As for [`propose_decision`](Self::propose_decision).
    pub fn recommend<W: Storage<T>>(
        &self,
        policy: &Policy<'_, T>,
        workspace: &mut Workspace<T, W>,
        request: &Request<'_>,
    ) -> Result<(Action, T), LearnerError> {
        self.best(policy, workspace, request, None)
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

    /// Chooses an action and records it: what is due expires ([`propose_expiry`](Self::propose_expiry),
    /// [`propose_room`](Self::propose_room)), then [`propose_permissions`](Self::propose_permissions) and
    /// [`propose_decision`](Self::propose_decision), each checked and applied.
    ///
    /// # Errors
    /// As for the steps; nothing has changed then.
    pub fn decide<W: Storage<T>>(
        &mut self,
        policy: &Policy<'_, T>,
        workspace: &mut Workspace<T, W>,
        request: &Request<'_>,
    ) -> Result<Decision, LearnerError> {
        self.admit_request(policy, request)?;
        self.next_round()?;
        if workspace.parts(policy.catalog()).is_none() {
            return Err(LearnerError::Posterior(PosteriorError::WorkspaceLength));
        }
        self.expire(policy, workspace, request.at)?;
        if let Some(event) = self.propose_room(policy) {
            self.check(policy, workspace, &event)?.apply();
        }
        let event = self.propose_decision(policy, workspace, request)?;
        if let Some(permissions) = self.propose_permissions(request.feasible) {
            self.check(policy, workspace, &permissions)?.apply();
        }
        self.check(policy, workspace, &event)?.apply();
        let Event::Decision { round, action, baseline, .. } = event else { return Err(LearnerError::OutOfOrder) };
        Ok(Decision { id: self.id(round), action, baseline })
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
        at: u32,
    ) -> Result<Choice, LearnerError> {
        self.admit(policy)?;
        if !context.fits(policy.catalog()) {
            return Err(LearnerError::ForeignContext);
        }
        match Feasible::new(policy.catalog(), rules) {
            Ok(feasible) => {
                let request = Request { context, feasible: &feasible, defaults, at };
                self.decide(policy, workspace, &request).map(Choice::Decided)
            }
            Err(FeasibleError::Empty) => Ok(Choice::HostDefault),
            Err(error) => Err(LearnerError::Feasible(error)),
        }
    }

    /// The name of a decision of this user in this incarnation.
    pub(crate) const fn id(&self, round: u32) -> DecisionId {
        DecisionId { user: self.user, incarnation: self.incarnation, round }
    }

    pub(super) fn next_round(&self) -> Result<u32, LearnerError> {
        self.round.checked_add(1).ok_or(LearnerError::Exhausted)
    }

    /// The scale nu_t of a round's draw and the stream of normals it is made of.
    pub(crate) fn normals(&self, policy: &Policy<'_, T>, round: u32, purpose: Purpose) -> (T, Stream) {
        let settings = policy.settings();
        let key = Key { seed: settings.seed, user: self.user, incarnation: self.incarnation, round, purpose };
        (T::from_f64(settings.exploration.nu(round, policy.active_dimension())), key.stream())
    }

    pub(super) fn admit_request(&self, policy: &Policy<'_, T>, request: &Request<'_>) -> Result<(), LearnerError> {
        self.admit(policy)?;
        let catalog = policy.catalog();
        if !request.context.fits(catalog) {
            return Err(LearnerError::ForeignContext);
        }
        if !request.feasible.set().is_below(catalog.actions()) {
            return Err(LearnerError::UnknownAction);
        }
        let Some(defaults) = request.defaults else { return Ok(()) };
        if defaults.len() != catalog.actions() {
            return Err(LearnerError::DefaultCount { expected: catalog.actions() });
        }
        match defaults.iter().position(|default| !within(*default, MAX_WEIGHT)) {
            Some(action) => Err(LearnerError::DefaultRange { action }),
            None => Ok(()),
        }
    }

    /// The best feasible action for a draw, or for the mean; leaves theta and all scores in the workspace.
    pub(crate) fn best<W: Storage<T>>(
        &self,
        policy: &Policy<'_, T>,
        workspace: &mut Workspace<T, W>,
        request: &Request<'_>,
        normal: Option<(T, Stream)>,
    ) -> Result<(Action, T), LearnerError> {
        self.admit_request(policy, request)?;
        let parts = workspace.parts(policy.catalog());
        let (active, table, scores) = parts.ok_or(LearnerError::Posterior(PosteriorError::WorkspaceLength))?;
        self.posterior.draw(active, request.context.task(), normal)?;
        let round = Round::new(policy, request.context, request.defaults);
        T::best(&round, active, table, scores, request.feasible.set()).ok_or(LearnerError::UnknownAction)
    }

    pub(crate) fn admit_action(policy: &Policy<'_, T>, context: &Context, action: Action) -> Result<(), LearnerError> {
        if !context.fits(policy.catalog()) {
            Err(LearnerError::ForeignContext)
        } else if action.index() >= policy.catalog().actions() {
            Err(LearnerError::UnknownAction)
        } else {
            Ok(())
        }
    }
}
