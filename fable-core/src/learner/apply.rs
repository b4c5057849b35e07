//! The gate to the state: every event is checked, and a checked event can only be applied.

use super::late::{Pending, Wait};
use super::{Learner, LearnerError, MAX_BASELINE};
use crate::event::{Event, Observation};
use crate::feasible::Feasible;
use crate::onboarding::{OnboardingError, Statement};
use crate::policy::{ONBOARDING_PRECISION, Policy, REWARD, within};
use crate::posterior::{PosteriorError, Update};
use crate::workspace::Workspace;
use crate::{Scalar, Storage};

impl<T: Scalar, S: Storage<T>, const R: usize> Learner<T, S, R> {
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
            Event::Decision { round, action, baseline, context, .. } => {
                Self::admit_action(policy, context, *action)?;
                if *round != self.next_round()? {
                    return Err(LearnerError::OutOfOrder);
                }
                if !self.permissions.contains(*action) {
                    return Err(LearnerError::Forbidden);
                }
                if !within(*baseline, MAX_BASELINE) {
                    return Err(LearnerError::Baseline);
                }
            }
            Event::Feedback { round, reward, weight } => {
                Self::admit_reward(*reward, *weight)?;
                self.admit_count()?;
                self.find(*round)?;
            }
            Event::Observation(Observation { context, action, baseline, reward, weight }) => {
                Self::admit_action(policy, context, *action)?;
                Self::admit_reward(*reward, *weight)?;
                self.admit_count()?;
                if !within(*baseline, MAX_BASELINE) {
                    return Err(LearnerError::Baseline);
                }
            }
            Event::Unlearn { observation, imputed } => self.admit_unlearning(policy, workspace, observation, *imputed)?,
            Event::Expiry { round, imputed } => {
                if let Some(reward) = imputed {
                    Self::admit_reward(*reward, 1.0)?;
                }
                self.find(*round)?;
            }
            Event::Promotion(promotion) => self.admit_promotion(policy, workspace, promotion)?,
            Event::Forget { .. } => {
                self.incarnation.checked_add(1).ok_or(LearnerError::Exhausted)?;
            }
        }
        Ok(Checked { learner: self, policy, workspace, event })
    }

    /// Equations 2-3.
    fn state<W: Storage<T>>(&mut self, workspace: &mut Workspace<T, W>, statement: &Statement) -> Option<Update<T>> {
        if statement.precision == 0.0 {
            return None;
        }
        let direction = statement.direction.entries().map(|(index, value)| (index, T::from_f64(value)));
        let variance = T::from_f64(1.0 / statement.precision);
        let update = self.posterior.absorb(workspace, direction, T::from_f64(statement.response), variance).ok();
        if self.observations == 0 {
            self.posterior.reset_log_det_ratio();
        }
        update
    }

    /// Learns the reward of a decision in the ring.
    fn reward<W: Storage<T>>(
        &mut self,
        policy: &Policy<'_, T>,
        workspace: &mut Workspace<T, W>,
        pending: &Pending<T>,
        reward: f64,
        weight: f32,
    ) -> Option<Update<T>> {
        let Pending { context, action, baseline, .. } = *pending;
        self.learn(policy, workspace, &Observation { context, action, baseline: baseline.to_f64(), reward, weight })
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
    pub fn apply(self) -> Option<Update<T>> {
        let Self { learner, policy, workspace, event } = self;
        match event {
            Event::Permissions(set) => {
                learner.permissions = *set;
                None
            }
            Event::Onboarding(statement) => learner.state(workspace, statement),
            Event::Decision { round, action, baseline, context, at } => {
                learner.round = *round;
                let baseline = T::from_f64(*baseline);
                learner.enter(Pending {
                    context: *context,
                    baseline,
                    round: *round,
                    at: *at,
                    action: *action,
                    wait: Wait::Waiting,
                });
                None
            }
            Event::Feedback { round, reward, weight } => {
                let pending = learner.settle(*round, Wait::Rewarded)?;
                learner.count(policy, pending.action, T::ONE);
                learner.reward(policy, workspace, &pending, *reward, *weight)
            }
            Event::Observation(observation) => {
                learner.count(policy, observation.action, T::ONE);
                learner.learn(policy, workspace, observation)
            }
            Event::Unlearn { observation, imputed } => {
                learner.remove(policy, workspace, observation, *imputed);
                None
            }
            Event::Expiry { round, imputed } => {
                let pending = learner.settle(*round, Wait::Expired)?;
                let reward = (*imputed)?;
                learner.voided = true;
                learner.reward(policy, workspace, &pending, reward, 1.0)
            }
            Event::Promotion(promotion) => {
                learner.promote(*promotion);
                None
            }
            Event::Forget { promise } => {
                let base_precision = policy.settings().base_precision;
                let _ = learner.posterior.start(policy.catalog().arrow(), policy.prior(), base_precision); // started before
                learner.incarnation = learner.incarnation.saturating_add(1);
                learner.clear(*promise);
                None
            }
        }
    }
}
