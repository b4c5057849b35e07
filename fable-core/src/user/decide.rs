//! Choosing: one draw, every feasible action scored, the best one taken (Equation 4), then [coins](super::probe).

use super::late::{Pending, Wait, slot_mut};
use super::probe::Probes;
use super::{Decision, Request, State, User, UserError};
use crate::catalog::score::{Round, Scalar};
use crate::catalog::{
    Action, ActionSet, Context, ContrastSet, Feasible, FeasibleError, MAX_WEIGHT, Rule, score,
};
use crate::numbers::{Key, Purpose, Stream, within};
use crate::policy::{Exploration, Scale};
use crate::posterior::{Estimate, Posterior, PosteriorError, parts, rows, with_variances};

/// Which scores are compared.
#[derive(Clone, Copy, Debug)]
pub(super) enum Outlook<T> {
    /// Those of the mean.
    Mean,
    /// Those of a draw with so many times the standard deviation.
    Draw(T, Key),
    /// Those of the mean, each with so many of its standard deviations added.
    Bonus(T),
}

/// What a round's exploration leads to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Drawn<T> {
    pub(super) round: u32,
    /// The rule's choice.
    pub(super) best: Action,
    /// What is played: the rule's choice, or what coins made of it.
    pub(super) action: Action,
    pub(super) baseline: T,
    /// The score of what is played, in the outlook of the round.
    pub(super) score: T,
}

impl<T: Scalar> User<'_, T> {
    /// Chooses an action and remembers it, in the order of the method: what is due expires, the ring gets room, the
    /// permissions change, theta is drawn and the best feasible action taken, coins are tossed. The direct way, for those who store
    /// nothing; a [`Command`](super::Command) does the same event by event.
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
        let mut coins = Probes::new();
        let Drawn { round, action, baseline, .. } = self.draw(request, false, &mut coins)?;
        let (site, state) = (self.place(), &mut *self.memory.state);
        if state.permissions != *request.feasible.set() {
            state.permit(request.feasible.set());
        }
        (state.site, state.round) = (site, round);
        state.count();
        let coins = if cfg!(feature = "probes") {
            self.memory.enter_coins(self.policy.catalog(), &coins)
        } else {
            ContrastSet::EMPTY
        };
        if let Some(slot) = slot_mut(self.memory.pending, round) {
            *slot = Pending {
                context: *request.context,
                baseline,
                round,
                time: request.time,
                action,
                wait: Wait::Waiting,
                coins,
            };
        }
        Ok(Decision { id: self.id(round), action, baseline: baseline.to_f64() })
    }

    /// Decides under `rules`; `None` when they leave nothing to choose, and the host does what it does without Fable. Nothing is
    /// learned from such a round.
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

    /// What the next round's exploration leads to (Equation 4), and what coins make of it; they are added to those given.
    /// Leaves the mean score of every action in the place of the variances if `means` are wanted, by coins or by who asks.
    #[inline(never)]
    pub(super) fn draw(
        &mut self,
        request: &Request<'_>,
        means: bool,
        coins: &mut Probes,
    ) -> Result<Drawn<T>, UserError> {
        let round = self.next_round()?;
        let (best, score) = match self.exploring(round, Purpose::Decision) {
            Outlook::Draw(scale, key) if means || self.probes() => {
                self.score_draw_and_mean(request, scale, &key)?
            }
            outlook => self.best(request, outlook)?,
        };
        let action = if self.probes() { self.toss(request, best, round, coins)? } else { best };
        let score = if action == best {
            score
        } else {
            self.scored()?.1.get(action.index()).copied().unwrap_or(score)
        };
        let default = request.defaults.and_then(|defaults| defaults.get(action.index()).copied());
        let baseline = self.policy.baseline(request.context, action, default);
        Ok(Drawn { round, best, action, baseline, score })
    }

    /// The feasible action with the highest mean score, and that score: frozen evaluation, no draw and no event.
    ///
    /// # Errors
    /// As for [`decide`](Self::decide).
    pub fn recommend(&mut self, request: &Request<'_>) -> Result<(Action, T), UserError> {
        self.admit_request(request)?;
        let left = self.narrow(request)?;
        self.best(&Request { feasible: &left, ..*request }, Outlook::Mean)
    }

    /// Mean and variance of an action's score, b - lambda cost + phi.theta.
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

    pub(super) fn next_round(&self) -> Result<u32, UserError> {
        self.state().round.checked_add(1).ok_or(UserError::Exhausted)
    }

    /// How a round looks at the scores.
    pub(super) fn exploring(&self, round: u32, purpose: Purpose) -> Outlook<T> {
        let (State { user, incarnation, .. }, site) = (&*self.memory.state, self.place());
        let (user, incarnation) = (*user, *incarnation);
        let settings = self.policy.settings();
        let learned = if settings.scale == Scale::Learned { self.scale() } else { 1.0 };
        let scale = T::from_f64(self.policy.nu(round) * learned);
        match settings.exploration {
            Exploration::Optimistic(_) if cfg!(feature = "adapt") => Outlook::Bonus(scale),
            // Without the feature no policy is optimistic.
            Exploration::Optimistic(_) | Exploration::Constant(_) | Exploration::Theorem { .. } => {
                Outlook::Draw(scale, Key { seed: settings.seed, user, incarnation, site, round, purpose })
            }
        }
    }

    /// Whether a request can be decided on.
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

    /// Default scores, if there is one for every action.
    pub(super) fn admit_defaults<'d>(
        &self,
        defaults: Option<&'d [f64]>,
    ) -> Result<Option<&'d [f64]>, UserError> {
        let (given, expected) = (defaults.unwrap_or_default(), self.policy.catalog().actions());
        if defaults.is_some() && given.len() != expected {
            return Err(UserError::DefaultCount { expected });
        }
        match given.iter().position(|default| !within(*default, MAX_WEIGHT)) {
            Some(action) => Err(UserError::DefaultRange { action }),
            None => Ok(defaults),
        }
    }

    /// The best feasible action of an admitted request in an outlook; leaves theta and all scores in the workspace.
    pub(super) fn best(
        &mut self,
        request: &Request<'_>,
        outlook: Outlook<T>,
    ) -> Result<(Action, T), UserError> {
        match outlook {
            Outlook::Mean => self.score(request, None),
            Outlook::Draw(scale, key) => self.score(request, Some((scale, key.stream()))),
            Outlook::Bonus(_) if !cfg!(feature = "adapt") => Err(UserError::Unsupported),
            Outlook::Bonus(scale) => {
                self.find_variances(request)?;
                self.score(request, None)?;
                self.add_bonus(scale, request.feasible.set())
            }
        }
    }

    /// The best feasible action for a draw, or for the mean.
    #[inline(never)]
    fn score(
        &mut self,
        request: &Request<'_>,
        normal: Option<(T, Stream)>,
    ) -> Result<(Action, T), UserError> {
        let policy = self.policy;
        let posterior = Posterior::of(self.memory.state.arrow, 0.0, &*self.memory.storage);
        let (active, table, scores) =
            parts(self.workspace, policy.catalog()).ok_or(PosteriorError::WorkspaceLength)?;
        posterior.draw(active, request.context.task(), normal)?;
        let (catalog, lambda) = (policy.catalog(), policy.settings().cost_weight);
        let round = Round::new(catalog, policy.mask(), lambda, request.context, request.defaults);
        T::best(&round, active, table, scores, request.feasible.set()).ok_or(UserError::UnknownAction)
    }

    /// The best feasible action for a draw; the mean score of every action goes where the variances would be. A host with room for
    /// both reads the factor once.
    fn score_draw_and_mean(
        &mut self,
        request: &Request<'_>,
        scale: T,
        key: &Key,
    ) -> Result<(Action, T), UserError> {
        #[cfg(fable_host)]
        {
            const SHORT: PosteriorError = PosteriorError::WorkspaceLength;
            let (policy, catalog) = (self.policy, self.policy.catalog());
            let posterior = Posterior::of(self.memory.state.arrow, 0.0, &*self.memory.storage);
            let (scratch, means) = with_variances(self.workspace, catalog).ok_or(SHORT)?;
            if let Some((scratch, mean)) = scratch.split_at_mut_checked(catalog.scoring_len())
                && let Some(mean) = mean.get_mut(..catalog.layout().active_len())
            {
                let (active, table, scores) = parts(scratch, catalog).ok_or(SHORT)?;
                posterior.draw_and_mean(active, mean, request.context.task(), (scale, key.stream()))?;
                let lambda = policy.settings().cost_weight;
                let round = Round::new(catalog, policy.mask(), lambda, request.context, request.defaults);
                T::best(&round, mean, table, means, request.feasible.set())
                    .ok_or(UserError::UnknownAction)?;
                return T::best(&round, active, table, scores, request.feasible.set())
                    .ok_or(UserError::UnknownAction);
            }
        }
        self.find_means(request)?;
        self.score(request, Some((scale, key.stream())))
    }

    /// Leaves the variance of every feasible action's score in the workspace.
    #[inline(never)]
    fn find_variances(&mut self, request: &Request<'_>) -> Result<(), PosteriorError> {
        const SHORT: PosteriorError = PosteriorError::WorkspaceLength;
        let (policy, feasible) = (self.policy, request.feasible.set());
        let posterior = Posterior::of(self.memory.state.arrow, 0.0, &*self.memory.storage);
        let round = Round::new(policy.catalog(), policy.mask(), 0.0, request.context, None);
        let (scratch, variances) = with_variances(self.workspace, policy.catalog()).ok_or(SHORT)?;
        let (rows, table) = rows(scratch, policy.catalog()).ok_or(SHORT)?;
        variances.fill(T::ZERO);
        posterior.inverse_rows(request.context.task(), rows, |rows, top, inverse| {
            T::add_squares(&round, (rows, top), inverse, table, feasible, variances);
        })
    }

    /// Leaves the mean score of every action in the place of the variances: where coins, and those who ask for scores, find them.
    pub(super) fn find_means(&mut self, request: &Request<'_>) -> Result<(), UserError> {
        self.score(request, None)?;
        let catalog = self.policy.catalog();
        let (scratch, means) =
            with_variances(self.workspace, catalog).ok_or(PosteriorError::WorkspaceLength)?;
        let (_, _, scores) = parts(scratch, catalog).ok_or(PosteriorError::WorkspaceLength)?;
        for (mean, score) in means.iter_mut().zip(scores) {
            *mean = *score;
        }
        Ok(())
    }

    /// Adds so many standard deviations to each score, and compares again; the means take the place of the variances.
    fn add_bonus(&mut self, scale: T, feasible: &ActionSet) -> Result<(Action, T), UserError> {
        let catalog = self.policy.catalog();
        let (scratch, variances) =
            with_variances(self.workspace, catalog).ok_or(PosteriorError::WorkspaceLength)?;
        let (_, _, scores) = parts(scratch, catalog).ok_or(PosteriorError::WorkspaceLength)?;
        for (score, variance) in scores.iter_mut().zip(variances) {
            let mean = *score;
            *score += scale * variance.exact_root();
            *variance = mean;
        }
        score::best(feasible, scores).ok_or(UserError::UnknownAction)
    }

    /// Theta over the active part, and a score per action, as [`best`](Self::best) has left them.
    pub(super) fn scored(&mut self) -> Result<(&mut [T], &mut [T]), UserError> {
        let (theta, _, scores) =
            parts(self.workspace, self.policy.catalog()).ok_or(PosteriorError::WorkspaceLength)?;
        Ok((theta, scores))
    }

    pub(super) fn admit_action(&self, context: &Context, action: Action) -> Result<(), UserError> {
        if !context.fits(self.policy.catalog()) {
            Err(UserError::ForeignContext)
        } else if action.index() >= self.policy.catalog().actions() {
            Err(UserError::UnknownAction)
        } else {
            Ok(())
        }
    }
}
