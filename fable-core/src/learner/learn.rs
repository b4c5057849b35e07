//! Learning: rewards of earlier decisions, rewards of actions chosen elsewhere, stated preferences (Equations 2-3, 5-6).

use super::{Learner, LearnerError};
use crate::catalog::Action;
use crate::context::Context;
use crate::event::{DecisionId, Event, Observation};
use crate::onboarding::Statement;
use crate::policy::{Policy, REWARD, WEIGHT};
use crate::posterior::Update;
use crate::workspace::Workspace;
use crate::{Scalar, Storage};

impl<T: Scalar, S: Storage<T>, const R: usize> Learner<T, S, R> {
    /// The event of a reward that comes at time `now` for an earlier decision.
    ///
    /// # Errors
    /// A decision of another user or of an earlier incarnation, or one whose deadline has passed. Everything else is for
    /// [`check`](Self::check) to say, whatever the deadlines: an event that was accepted once is accepted again.
    pub fn propose_feedback(
        &self,
        policy: &Policy<'_, T>,
        id: DecisionId,
        reward: f64,
        weight: f32,
        now: u32,
    ) -> Result<Event, LearnerError> {
        let round = self.round_of(id)?;
        if self.is_due(policy.settings().deadline, self.find(round)?, now) {
            return Err(LearnerError::ExpiredDecision);
        }
        Ok(Event::Feedback { round, reward, weight })
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
        weight: f32,
    ) -> Result<Event, LearnerError> {
        self.admit(policy)?;
        Self::admit_action(policy, context, action)?;
        let baseline = policy.baseline(context, action, None).to_f64();
        Ok(Event::Observation(Observation { context: *context, action, baseline, reward, weight }))
    }

    /// Learns the reward of an earlier decision (Equations 5-6), for hosts without a clock:
    /// [`feedback_at`](Self::feedback_at) time 0.
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
        self.feedback_at(policy, workspace, id, reward, 0)
    }

    /// Learns the reward of an earlier decision that comes at time `now`.
    ///
    /// # Errors
    /// As for [`feedback`](Self::feedback); a decision whose deadline has passed by then is expired.
    pub fn feedback_at<W: Storage<T>>(
        &mut self,
        policy: &Policy<'_, T>,
        workspace: &mut Workspace<T, W>,
        id: DecisionId,
        reward: f64,
        now: u32,
    ) -> Result<Option<Update<T>>, LearnerError> {
        let event = self.propose_feedback(policy, id, reward, 1.0, now)?;
        Ok(self.check(policy, workspace, &event)?.apply())
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
        self.check(policy, workspace, &Event::Forget { promise: policy.promise() })?.apply();
        Ok(())
    }

    pub(super) fn admit_reward(reward: f64, weight: f32) -> Result<(), LearnerError> {
        if !REWARD.contains(reward) {
            Err(LearnerError::Reward)
        } else if !WEIGHT.contains(f64::from(weight)) {
            Err(LearnerError::Weight)
        } else {
            Ok(())
        }
    }

    /// One more observation can be counted. Imputed ones do not ask: an expiry that is due must not fail.
    pub(super) const fn admit_count(&self) -> Result<(), LearnerError> {
        if self.observations == u32::MAX { Err(LearnerError::Exhausted) } else { Ok(()) }
    }

    /// Learned rewards of actions that use a value of a component: neither onboarding nor imputed rewards count.
    ///
    /// Counts are kept in the learner's scalar and stop at the largest number that it counts to exactly, 2^24 in `f32`.
    #[must_use]
    pub fn evidence(&self, policy: &Policy<'_, T>, component: usize, value: u8) -> u32 {
        let place = policy.catalog().value_place(component, value);
        place.and_then(|place| self.posterior.spare().get(place)).map_or(0, |count| whole(count.to_f64()))
    }

    /// Adds to the evidence of each value of an action.
    pub(super) fn count(&mut self, policy: &Policy<'_, T>, action: Action, step: T) {
        let values = policy.catalog().values(action).unwrap_or_default();
        let counts = self.posterior.spare_mut();
        for (component, &value) in values.iter().enumerate() {
            if let Some(count) = policy.catalog().value_place(component, value).and_then(|place| counts.get_mut(place)) {
                *count += step;
            }
        }
    }

    /// Equations 5-6 with the residual y - baseline and variance sigma^2 / weight.
    pub(super) fn learn<W: Storage<T>>(
        &mut self,
        policy: &Policy<'_, T>,
        workspace: &mut Workspace<T, W>,
        observation: &Observation,
    ) -> Option<Update<T>> {
        let features = policy.features(&observation.context, observation.action);
        let features = features.map(|(coordinate, value)| (coordinate, T::from_f32(value)));
        let (residual, variance) = residual(policy, observation);
        let update = self.posterior.absorb(workspace, features, residual, variance).ok();
        self.observations = self.observations.saturating_add(1);
        self.voided |= observation.weight != 1.0;
        update
    }
}

/// A count that was kept as a float.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "counts are whole, and clamped by the cast")]
fn whole(count: f64) -> u32 {
    count as u32
}

/// y - baseline and sigma^2 / weight.
pub(super) fn residual<T: Scalar>(policy: &Policy<'_, T>, observation: &Observation) -> (T, T) {
    let residual = T::from_f64(observation.reward) - T::from_f64(observation.baseline);
    (residual, T::from_f64(policy.settings().noise_variance / f64::from(observation.weight)))
}
