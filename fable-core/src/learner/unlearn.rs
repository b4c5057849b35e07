//! Exact unlearning of one earlier observation: Equations 5-6 with the sign turned round.
//!
//! Lambda -= phi phi^T / v and h -= phi y / v are the same sweep with the variance -v, so learning and then unlearning is
//! the identity to rounding. It is guarded by what is true of every observation that was really learned: there is evidence
//! for each of its values, what is left is positive definite, at least as precise as the prior in the direction taken
//! away, and in all no less precise than after onboarding. So nobody can talk a learner out of positive definiteness, nor
//! into knowing less than it did at the start, by unlearning what it never saw. Which observations were learned only a
//! journal knows; another one that passes is accepted, and what is left is then not this user's history.
//!
//! ```
//! use fable_core::event::Observation;
//! use fable_core::{Action, Context, Learner, LearnerError, Policy, Settings, Workspace, catalog::TAU2};
//!
//! let policy = Policy::new(&TAU2, Settings::default())?;
//! let mut learner = Learner::<f64, [f64; TAU2.state_len()], 8>::VACANT;
//! let mut workspace = Workspace::<f64, [f64; TAU2.workspace_len()]>::VACANT;
//! learner.start(&policy, 1)?;
//! let context = Context::new(&TAU2, None, &[])?;
//! learner.observe(&policy, &mut workspace, &context, Action(4), 0.75)?;
//!
//! let baseline = policy.baseline(&context, Action(4), None);
//! let observation = Observation { context, action: Action(4), baseline, reward: 0.75, weight: 1.0 };
//! learner.unlearn(&policy, &mut workspace, observation)?;
//! let estimate = learner.predict(&policy, &mut workspace, &context, Action(4), None)?;
//! assert!((estimate.mean - baseline).abs() < 1e-15 && learner.observations() == 0);
//! assert_eq!(learner.unlearn(&policy, &mut workspace, observation), Err(LearnerError::NotLearned));
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```

use super::learn::residual;
use super::{Learner, LearnerError, MAX_BASELINE};
use crate::event::{Event, Observation};
use crate::policy::{Policy, within};
use crate::workspace::Workspace;
use crate::{Scalar, Storage};

/// What rounding may take from the guards, in units of the scalar's epsilon per active coordinate.
const SLACK: f64 = 64.0;

impl<T: Scalar, S: Storage<T>, const R: usize> Learner<T, S, R> {
    /// Takes one earlier observation out of the posterior. An imputed reward is taken back with an [`Event::Unlearn`] that
    /// says so.
    ///
    /// # Errors
    /// [`LearnerError::NotLearned`] when it cannot have been learned: no such evidence, or what is left would be less
    /// precise than the prior. In `f32` also when the prior is so vague, or the observation so heavy, that what is left
    /// cannot be told from rounding. Nothing has changed then.
    pub fn unlearn<W: Storage<T>>(
        &mut self,
        policy: &Policy<'_, T>,
        workspace: &mut Workspace<T, W>,
        observation: Observation,
    ) -> Result<(), LearnerError> {
        self.check(policy, workspace, &Event::Unlearn { observation, imputed: false })?.apply();
        Ok(())
    }

    /// With s = phi.Sigma.phi the direction's variance becomes s v / (v - s): it must stay finite and within the prior's.
    pub(super) fn admit_unlearning<W: Storage<T>>(
        &self,
        policy: &Policy<'_, T>,
        workspace: &mut Workspace<T, W>,
        observation: &Observation,
        imputed: bool,
    ) -> Result<(), LearnerError> {
        Self::admit_action(policy, &observation.context, observation.action)?;
        Self::admit_reward(observation.reward, observation.weight)?;
        if !within(observation.baseline, MAX_BASELINE) {
            return Err(LearnerError::Baseline);
        }
        let values = policy.catalog().values(observation.action).unwrap_or_default();
        let seen = values.iter().enumerate().all(|(component, &value)| self.evidence(policy, component, value) > 0);
        if self.observations == 0 || !(imputed || seen) {
            return Err(LearnerError::NotLearned);
        }
        let features = || {
            let features = policy.features(&observation.context, observation.action);
            features.map(|(coordinate, value)| (coordinate, T::from_f32(value)))
        };
        let variance = residual(policy, observation).1.to_f64();
        let now = self.posterior.contrast(workspace, features())?.variance.to_f64();
        let prior = policy.prior_variance(workspace, features())?;
        let slack = SLACK * T::EPSILON * u32::try_from(policy.catalog().arrow().active_len()).map_or(0.0, f64::from);
        let left = variance - now;
        let definite = left > slack * variance;
        let within_prior = now * variance <= prior * left * (1.0 + slack * variance / left);
        if definite && within_prior && self.posterior.log_det_ratio() + libm::log(left / variance) >= -slack {
            Ok(())
        } else {
            Err(LearnerError::NotLearned)
        }
    }

    /// The sweep with the sign turned round.
    pub(super) fn remove<W: Storage<T>>(
        &mut self,
        policy: &Policy<'_, T>,
        workspace: &mut Workspace<T, W>,
        observation: &Observation,
        imputed: bool,
    ) {
        let features = policy.features(&observation.context, observation.action);
        let features = features.map(|(coordinate, value)| (coordinate, T::from_f32(value)));
        let (residual, variance) = residual(policy, observation);
        let _ = self.posterior.absorb(workspace, features, residual, -variance); // checked before
        self.observations = self.observations.saturating_sub(1);
        if !imputed {
            self.count(policy, observation.action, -T::ONE);
        }
        self.voided = true;
    }
}
