//! Propensities: the probability of each action in the next round, for logs that other policies are evaluated
//! with.

use super::decide::{Choice, ScoreBy};
use super::{Request, User, UserError};
use crate::catalog::{Action, score::Scalar};
use crate::numbers::Purpose;
use crate::posterior::PosteriorError;

impl<T: Scalar> User<'_, T> {
    /// The probability of each action in the next round; 0 for an infeasible action. Asking changes nothing,
    /// not even the next draw.
    ///
    /// Under [`Optimistic`](crate::Exploration::Optimistic) exploration only [probes](crate::Settings::probe)
    /// are random, and the probabilities are exact. Each component that can be probed keeps its value with
    /// probability 1 - rho / 2. `draws` does not matter then. Without probes one action has probability 1,
    /// and a log of such rounds cannot evaluate another policy.
    ///
    /// Other rules are estimated from `draws` draws of their own: (n + 1) / (draws + feasible), before
    /// probes.
    ///
    /// # Errors
    /// As for [`decide`](Self::decide), and for an `out` that does not have one number per action.
    ///
    /// ```
    /// # use fable_core::{Feasible, HostUser, Policy, Request, Settings, catalog::TAU2};
    /// # let policy = Policy::<f32>::new(&TAU2, Settings::default())?;
    /// # let mut ana = HostUser::<f32>::new(&policy, "ana")?;
    /// # let (context, all) = (TAU2.context(None, [])?, Feasible::all(&TAU2));
    /// let mut propensities = [0.0; 18];
    /// ana.user().propensities(&Request::new(&context, &all), 100, &mut propensities)?;
    /// assert!((propensities.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn propensities(
        &mut self,
        request: &Request<'_>,
        draws: u32,
        out: &mut [f64],
    ) -> Result<(), UserError> {
        let expected = self.policy.catalog().actions();
        if out.len() != expected {
            return Err(UserError::Posterior(PosteriorError::OutputLength { expected }));
        }
        self.admit_request(request)?;
        let left = self.narrow(request)?;
        let request = &Request { feasible: &left, ..*request };
        let round = self.next_round()?;
        if let ScoreBy::Optimism { nu } = self.score_by(round, Purpose::Decision) {
            let (action, _) = self.best(request, ScoreBy::Optimism { nu })?;
            return self.spread_all(request, action, round, out);
        }
        self.estimate_propensities(request, round, draws, out)
    }

    /// The propensities of a round that was just chosen. An optimistic choice is not computed again.
    pub(super) fn propensities_of(
        &mut self,
        request: &Request<'_>,
        choice: &Choice<T>,
        draws: u32,
        out: &mut [f64],
    ) -> Result<(), UserError> {
        if let ScoreBy::Optimism { .. } = self.score_by(choice.round, Purpose::Decision) {
            return self.spread_all(request, choice.best, choice.round, out);
        }
        self.estimate_propensities(request, choice.round, draws, out)
    }

    /// The propensities of one choice with its probes.
    fn spread_all(
        &mut self,
        request: &Request<'_>,
        best: Action,
        round: u32,
        out: &mut [f64],
    ) -> Result<(), UserError> {
        out.fill(0.0);
        self.spread(request, best, round, 1.0, out)
    }

    /// Estimates the propensities of a drawn choice.
    fn estimate_propensities(
        &mut self,
        request: &Request<'_>,
        round: u32,
        draws: u32,
        out: &mut [f64],
    ) -> Result<(), UserError> {
        if self.can_probe() {
            self.find_means(request)?;
        }
        let total = f64::from(draws) + u32::try_from(request.feasible.len()).map_or(0.0, f64::from);
        for (slot, action) in out.iter_mut().zip((0..).map(Action)) {
            *slot = if request.feasible.set().contains(action) { 1.0 / total } else { 0.0 };
        }
        for draw in 0..draws {
            let outlook = self.score_by(round, Purpose::Propensity(draw));
            let (action, _) = self.best(request, outlook)?;
            self.spread(request, action, round, 1.0 / total, out)?;
        }
        Ok(())
    }
}
