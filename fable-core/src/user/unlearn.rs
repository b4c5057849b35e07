//! Exact unlearning of one earlier observation: Equations 5 and 6 with the sign reversed.
//!
//! Lambda -= phi phi^T / v and h -= phi y / v are the sweep of learning with the variance -v. So learning and
//! then unlearning is the identity, to rounding.
//!
//! Every observation that was really learned satisfies conditions that are checked. Its values have evidence.
//! The rest is positive definite, at least as precise as the prior in the direction phi, and its determinant
//! is no smaller than after onboarding. So no caller can make a posterior indefinite, or less certain than at
//! the start, by unlearning an observation that was never learned.
//!
//! Only a journal knows which observations were learned. Another observation that passes the checks is
//! accepted, and the rest is then not this user's history.
//!
//! ```
//! use fable_core::catalog::TAU2;
//! use fable_core::journal::Observation;
//! use fable_core::{Action, HostUser, Policy, Settings, UserError};
//!
//! let policy = Policy::<f64>::new(&TAU2, Settings::default())?;
//! let mut ana = HostUser::<f64>::new(&policy, "ana")?;
//! let mut user = ana.user();
//! let context = TAU2.context(None, [])?;
//! user.observe(&context, Action(4), 0.75)?;
//!
//! let baseline = policy.baseline(&context, Action(4), None);
//! let observation = Observation { context, action: Action(4), baseline, reward: 0.75, weight: 1.0 };
//! user.unlearn(observation)?;
//! let estimate = user.predict(&context, Action(4), None)?;
//! assert!((estimate.mean - baseline).abs() < 1e-15 && user.state().observations() == 0);
//! assert_eq!(user.unlearn(observation), Err(UserError::NotLearned));
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```

use super::learn::residual;
use super::{Observation, User, UserError, supported};
use crate::catalog::{ContrastSet, score::Scalar};

/// Tolerance of the checks for rounding, in units of the scalar's epsilon per active coordinate.
const SLACK: f64 = 64.0;

impl<T: Scalar> User<'_, T> {
    /// Takes one earlier observation back. A [command](super::Command::unlearn) takes back imputed rewards,
    /// rewards of probed decisions, and remains of faded ones.
    ///
    /// # Errors
    /// [`UserError::NotLearned`] when it cannot have been learned: no such evidence, or what is left would be
    /// less precise than the prior. In `f32` also when the prior is so vague, or the observation so heavy,
    /// that what is left cannot be told from rounding. Without the feature `unlearn`
    /// [`UserError::Unsupported`]. Nothing has changed then.
    pub fn unlearn(&mut self, observation: Observation) -> Result<(), UserError> {
        self.admit_unlearning(&observation, false, 1.0)?;
        self.unlearning_lesson(&observation, false, 1.0, ContrastSet::EMPTY)?.learn();
        Ok(())
    }

    /// With s = phi.Sigma.phi the direction's variance becomes s v / (v - s). It must stay finite and at most
    /// that of the prior.
    #[inline(never)]
    pub(super) fn admit_unlearning(
        &mut self,
        observation: &Observation,
        imputed: bool,
        kept: f32,
    ) -> Result<(), UserError> {
        supported(cfg!(feature = "unlearn"))?;
        self.admit()?;
        self.admit_observation(observation)?;
        if !(1e-6..=1.0).contains(&kept) {
            return Err(UserError::Kept);
        }
        let policy = self.policy;
        let values = policy.catalog().values(observation.action).unwrap_or_default();
        let least = f64::from(kept) * 0.999; // faded counts are rounded
        let seen = values
            .iter()
            .enumerate()
            .all(|(component, &value)| self.evidence_left(component, value) >= least);
        if self.state().observations == 0 || !(imputed || seen) {
            return Err(UserError::NotLearned);
        }
        let features = || {
            let features = policy.features(&observation.context, observation.action);
            features.map(|(coordinate, value)| (coordinate, T::from_f32(value)))
        };
        let variance = residual(policy, observation).1.to_f64() / f64::from(kept);
        let (posterior, scratch) = self.posterior_and_scratch();
        let now = posterior.contrast(scratch, features())?.variance.to_f64();
        let prior = policy.prior_variance(scratch, features())?;
        let slack =
            SLACK * T::EPSILON * u32::try_from(policy.catalog().layout().active_len()).map_or(0.0, f64::from);
        let left = variance - now;
        let definite = left > slack * variance;
        let within_prior = now * variance <= prior * left * (1.0 + slack * variance / left);
        if definite && within_prior && posterior.log_det_ratio() + libm::log(left / variance) >= -slack {
            Ok(())
        } else {
            Err(UserError::NotLearned)
        }
    }
}
