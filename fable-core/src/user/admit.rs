//! Checks of inputs. Each finds what can be wrong and changes nothing; what was checked can only be applied.

use super::{Observation, Request, User, UserError};
use crate::catalog::{Action, Context, MAX_WEIGHT, OnboardingError, Statement, score::Scalar};
use crate::numbers::{MAX_BASELINE, ONBOARDING_PRECISION, REWARD, WEIGHT, within};
use crate::posterior::PosteriorError;

impl<T: Scalar> User<'_, T> {
    /// Refuses an empty user, as after a load that failed.
    pub(super) fn admit(&self) -> Result<(), UserError> {
        if self.state().is_empty() { Err(UserError::Posterior(PosteriorError::NotStarted)) } else { Ok(()) }
    }

    /// A request to decide on: context, set and default scores fit the catalog.
    pub(super) fn admit_request(&self, request: &Request<'_>) -> Result<(), UserError> {
        self.admit()?;
        let catalog = self.policy.catalog();
        if !request.context.fits(catalog) {
            return Err(UserError::ForeignContext);
        }
        if !request.feasible.set().is_below(catalog.actions()) {
            return Err(UserError::UnknownAction);
        }
        self.admit_defaults(request.defaults).map(|_| ())
    }

    /// Default scores: none, or one in range for every action.
    pub(super) fn admit_defaults<'d>(
        &self,
        defaults: Option<&'d [f64]>,
    ) -> Result<Option<&'d [f64]>, UserError> {
        let given = defaults.unwrap_or_default();
        let expected = self.policy.catalog().actions();
        if defaults.is_some() && given.len() != expected {
            return Err(UserError::DefaultCount { expected });
        }
        match given.iter().position(|default| !within(*default, MAX_WEIGHT)) {
            Some(action) => Err(UserError::DefaultRange { action }),
            None => Ok(defaults),
        }
    }

    /// A context and an action of the catalog.
    pub(super) fn admit_action(&self, context: &Context, action: Action) -> Result<(), UserError> {
        if !context.fits(self.policy.catalog()) {
            Err(UserError::ForeignContext)
        } else if action.index() >= self.policy.catalog().actions() {
            Err(UserError::UnknownAction)
        } else {
            Ok(())
        }
    }

    /// A stated preference: direction, response and precision.
    pub(super) fn admit_statement(&self, statement: &Statement) -> Result<(), UserError> {
        statement.direction.check(self.policy.catalog()).map_err(UserError::Onboarding)?;
        if !REWARD.contains(statement.response) {
            return Err(UserError::Onboarding(OnboardingError::Response));
        }
        if statement.precision != 0.0 && !ONBOARDING_PRECISION.contains(statement.precision) {
            return Err(UserError::Onboarding(OnboardingError::Precision));
        }
        Ok(())
    }

    /// An observation: context, action, reward, weight and baseline.
    pub(super) fn admit_observation(&self, observation: &Observation) -> Result<(), UserError> {
        self.admit_action(&observation.context, observation.action)?;
        admit_reward(observation.reward, observation.weight)?;
        if within(observation.baseline, MAX_BASELINE) { Ok(()) } else { Err(UserError::Baseline) }
    }

    /// The count of observations is not at its end.
    pub(super) fn admit_count(&self) -> Result<(), UserError> {
        if self.state().observations == u32::MAX { Err(UserError::Exhausted) } else { Ok(()) }
    }
}

/// A reward and a weight in range.
pub(super) fn admit_reward(reward: f64, weight: f32) -> Result<(), UserError> {
    if !REWARD.contains(reward) {
        Err(UserError::Reward)
    } else if !WEIGHT.contains(f64::from(weight)) {
        Err(UserError::Weight)
    } else {
        Ok(())
    }
}
