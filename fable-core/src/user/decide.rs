//! Deciding: one draw of theta, one score per feasible action, and the action with the highest score
//! (Equation 4).
//!
//! ```text
//! theta ~ N(mu, nu_t^2 Sigma)
//! a_t   = argmax over feasible a of  b(c, a) - lambda cost(c, a) + phi(c, a).theta        Equation 4
//! ```
//!
//! [`User::choose`] is one round: how it compares actions, the argmax, [probes](super::probe), and the
//! reference score of the action that is played. [`User::score`] has the equation. Optimistic scores are in
//! [`optimism`](super::optimism).

use super::late::Entry;
use super::probe::Probes;
use super::{Decision, Request, State, User, UserError};
use crate::catalog::score::{Round, Scalar};
use crate::catalog::{Action, Context, Feasible, FeasibleError, MAX_WEIGHT, Rule};
use crate::numbers::{Key, Purpose, Stream, within};
use crate::policy::{Exploration, Scale};
use crate::posterior::{Estimate, Posterior, PosteriorError, Scoring};

/// Which scores a round compares.
#[derive(Clone, Copy, Debug)]
pub(super) enum ScoreBy<T> {
    /// Scores for mu.
    Mean,
    /// Scores for a draw from N(mu, nu^2 Sigma): Equation 4.
    Draw { nu: T, key: Key },
    /// Scores for mu, each plus nu of its standard deviations.
    Optimism { nu: T },
}

/// The result of a round that was not applied yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Choice<T> {
    pub(super) round: u32,
    /// The action with the highest score.
    pub(super) best: Action,
    /// The action that is played: `best`, or another one after probes.
    pub(super) action: Action,
    /// The reference score of `action`, b - lambda cost.
    pub(super) baseline: T,
    /// The score of `action`, as the round compared it.
    pub(super) score: T,
}

impl<T: Scalar> User<'_, T> {
    /// Chooses the action of the next round (Equation 4). The probes of the round are added to `probes`.
    ///
    /// The workspace keeps the mean score of every action if `means` is set, and always where probes are
    /// possible.
    #[inline(never)]
    pub(super) fn choose(
        &mut self,
        request: &Request<'_>,
        means: bool,
        probes: &mut Probes,
    ) -> Result<Choice<T>, UserError> {
        let round = self.next_round()?;
        // theta ~ N(mu, nu_t^2 Sigma), and the argmax of Equation 4.
        let (best, score) = match self.score_by(round, Purpose::Decision) {
            ScoreBy::Draw { nu, key } if means || self.can_probe() => {
                self.score_draw_and_mean(request, nu, &key)?
            }
            by => self.best(request, by)?,
        };
        // A fair coin may exchange a value of the action.
        let action = if self.can_probe() { self.probe(request, best, round, probes)? } else { best };
        let score = if action == best { score } else { self.score_of(action)?.unwrap_or(score) };
        // b - lambda cost, which Equation 6 subtracts from the reward.
        let default = request.defaults.and_then(|defaults| defaults.get(action.index()).copied());
        let baseline = self.policy.baseline(request.context, action, default);
        Ok(Choice { round, best, action, baseline, score })
    }

    /// The feasible action with the highest score, and the score. The workspace keeps theta and all scores.
    pub(super) fn best(&mut self, request: &Request<'_>, by: ScoreBy<T>) -> Result<(Action, T), UserError> {
        match by {
            ScoreBy::Mean => self.score(request, None),
            ScoreBy::Draw { nu, key } => self.score(request, Some((nu, key.stream()))),
            ScoreBy::Optimism { .. } if !cfg!(feature = "adapt") => Err(UserError::Unsupported),
            ScoreBy::Optimism { nu } => self.score_optimistically(request, nu),
        }
    }

    /// The feasible action with the highest score for a draw, or for mu without `normals`.
    #[inline(never)]
    pub(super) fn score(
        &mut self,
        request: &Request<'_>,
        normals: Option<(T, Stream)>,
    ) -> Result<(Action, T), UserError> {
        let (policy, catalog) = (self.policy, self.policy.catalog());
        let posterior = Posterior::from_parts(self.memory.state.layout, 0.0, &*self.memory.storage);
        let Scoring { theta, table, scores, .. } =
            Scoring::of(self.workspace, catalog).ok_or(PosteriorError::WorkspaceLength)?;
        let lambda = policy.settings().cost_weight;
        // theta ~ N(mu, nu_t^2 Sigma), or theta = mu.
        posterior.draw(theta, request.context.task(), normals)?;
        // Equation 4: argmax over feasible a of  b(c, a) - lambda cost(c, a) + phi(c, a).theta.
        let round = Round::new(catalog, policy.mask(), lambda, request.context, request.defaults);
        T::best(&round, theta, table, scores, request.feasible.set()).ok_or(UserError::UnknownAction)
    }

    /// How a round compares actions, and with which draw.
    pub(super) fn score_by(&self, round: u32, purpose: Purpose) -> ScoreBy<T> {
        let State { user, incarnation, .. } = *self.memory.state;
        let site = self.site();
        let settings = self.policy.settings();
        let learned = if settings.scale == Scale::Learned { self.scale() } else { 1.0 };
        let nu = T::from_f64(self.policy.nu(round) * learned);
        match settings.exploration {
            Exploration::Optimistic(_) if cfg!(feature = "adapt") => ScoreBy::Optimism { nu },
            // No policy is optimistic without the feature.
            Exploration::Optimistic(_) | Exploration::Constant(_) | Exploration::Theorem { .. } => {
                ScoreBy::Draw {
                    nu,
                    key: Key { seed: settings.seed, user, incarnation, site, round, purpose },
                }
            }
        }
    }

    /// The number of the next round.
    pub(super) fn next_round(&self) -> Result<u32, UserError> {
        self.state().round.checked_add(1).ok_or(UserError::Exhausted)
    }
}

impl<T: Scalar> User<'_, T> {
    /// Chooses an action and remembers the decision, without events.
    ///
    /// In this order: due decisions expire, the ring gets a free slot, the feasible set is recorded, the
    /// round is chosen. A [`Command`](super::Command) does the same event by event, for callers that
    /// store a journal.
    ///
    /// # Errors
    /// A context, set or defaults that do not fit; nothing has changed then.
    pub fn decide(&mut self, request: &Request<'_>) -> Result<Decision, UserError> {
        self.admit_request(request)?;
        let left = self.narrow(request)?;
        let request = &Request { feasible: &left, ..*request };
        self.next_round()?;
        self.expire(request.time)?;
        if let Some(due) = self.crowded() {
            self.end(due)?;
        }
        let mut probes = Probes::new();
        let Choice { round, action, baseline, .. } = self.choose(request, false, &mut probes)?;
        let site = self.site();
        let state = &mut *self.memory.state;
        if state.permissions != *request.feasible.set() {
            state.permit(request.feasible.set());
        }
        state.site = site;
        let &Request { context, time, .. } = request;
        let entry = Entry { context, baseline, round, time, action, probes: &probes };
        self.memory.enter(self.policy.catalog(), &entry);
        Ok(Decision { id: self.id(round), action, baseline: baseline.to_f64() })
    }

    /// Decides under `rules`. `None` if they leave no action: the host does what it does without Fable, and
    /// nothing is learned from the round.
    ///
    /// # Errors
    /// As for [`decide`](Self::decide) and [`Feasible::new`], except that an empty set is not an error.
    pub fn decide_or_default(
        &mut self,
        context: &Context,
        rules: &[Rule<'_>],
        defaults: Option<&[f64]>,
        time: u32,
    ) -> Result<Option<Decision>, UserError> {
        self.admit()?;
        if !context.fits(self.policy.catalog()) {
            return Err(UserError::ForeignContext);
        }
        let feasible = Feasible::new(self.policy.catalog(), rules).map_err(UserError::Feasible);
        let decide = |feasible| self.decide(&Request { defaults, time, ..Request::new(context, &feasible) });
        match feasible.and_then(decide) {
            Ok(decision) => Ok(Some(decision)),
            Err(UserError::Feasible(FeasibleError::Empty)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The feasible action with the highest mean score, and the score. Draws nothing and changes nothing.
    ///
    /// # Errors
    /// As for [`decide`](Self::decide).
    pub fn recommend(&mut self, request: &Request<'_>) -> Result<(Action, T), UserError> {
        self.admit_request(request)?;
        let left = self.narrow(request)?;
        self.best(&Request { feasible: &left, ..*request }, ScoreBy::Mean)
    }

    /// Mean and variance of the score of one action, b - lambda cost + phi.theta.
    ///
    /// # Errors
    /// As for [`decide`](Self::decide).
    pub fn predict(
        &mut self,
        context: &Context,
        action: Action,
        default: Option<f64>,
    ) -> Result<Estimate<T>, UserError> {
        self.admit()?;
        self.admit_action(context, action)?;
        if default.is_some_and(|default| !within(default, MAX_WEIGHT)) {
            return Err(UserError::DefaultRange { action: action.index() });
        }
        let policy = self.policy;
        let features = policy.features(context, action).map(|(index, value)| (index, T::from_f32(value)));
        let (posterior, scratch) = self.posterior_and_scratch();
        let residual = posterior.contrast(scratch, features)?;
        Ok(Estimate {
            mean: policy.baseline(context, action, default) + residual.mean,
            variance: residual.variance,
        })
    }
}
