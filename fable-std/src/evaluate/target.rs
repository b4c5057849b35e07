//! The target and the reward model of one user, taken along the log.

use super::error::LogFlaw;
use super::estimate::Term;
use super::log::Record;
use super::{Mode, Options};
use fable_core::journal::{Event, Observation};
use fable_core::settings::{Deadline, Expiry, SettingsError};
use fable_core::{Action, Catalog, Exploration, HostUser, Policy, Request, Settings, UserError};

/// Sets the target's draws apart from those of a log that was made with the same seed: probabilities that share draws with the
/// propensities they are divided by would be biased.
const APART: u64 = 0x6f66_6670_6f6c_6963;

/// A weight above this makes an action rare in the log.
pub(super) const RARE: f64 = 10.0;

pub(super) struct Judge<'j> {
    policy: &'j Policy<'j, f32>,
    options: &'j Options<'j>,
    /// Learns from every line: the reward model, and a target that learns along.
    along: HostUser<'j, f32, 1>,
    /// A frozen target.
    frozen: Option<HostUser<'j, f32, 1>>,
}

impl<'j> Judge<'j> {
    /// The target's policy for judging: nothing waits, nothing expires, and the draws are its own.
    pub(super) fn policy<'c>(
        catalog: &'c Catalog<'c>,
        settings: Settings<'c>,
    ) -> Result<Policy<'c, f32>, SettingsError> {
        let seed = settings.seed ^ APART;
        Policy::new(catalog, Settings { seed, deadline: Deadline::None, expiry: Expiry::Nothing, ..settings })
    }

    pub(super) fn new(
        policy: &'j Policy<'j, f32>,
        user: &str,
        options: &'j Options<'j>,
    ) -> Result<Self, UserError> {
        let along = HostUser::new(policy, user)?;
        let frozen = (options.mode == Mode::Frozen).then(|| along.clone());
        Ok(Self { policy, options, along, frozen })
    }

    /// What a line says about the target, before it is learned from.
    pub(super) fn term(&mut self, record: &Record) -> Result<Term, LogFlaw> {
        let target = self.probabilities(record)?;
        let mut theta = vec![0.0; self.policy.catalog().dimension()];
        let mut along = self.along.user();
        let (posterior, scratch) = along.posterior_and_scratch();
        posterior.mean(scratch, &mut theta).map_err(UserError::Posterior)?;
        let predict = |action| self.predict(&theta, record, action);
        let chosen = |action: Action| target.get(action.index()).copied().unwrap_or(0.0);
        let mean = |of: &dyn Fn(Action) -> f64| {
            let likely = target.iter().zip((0..).map(Action)).filter(|(probability, _)| **probability > 0.0);
            likely.map(|(probability, action)| probability * of(action)).sum::<f64>()
        };
        let draws = record.draws.or(self.options.logged_draws).filter(|_| record.is_estimated());
        Ok(Term {
            weight: chosen(record.action) / record.propensity(record.action, draws),
            reward: record.reward,
            predicted: predict(record.action),
            expected: mean(&predict),
            unsupported: mean(&|action| if record.supports(action, draws) { 0.0 } else { 1.0 }),
            rare: mean(&|action| {
                if chosen(action) > RARE * record.propensity(action, draws) { 1.0 } else { 0.0 }
            }),
            sure: record.feasible.len() > 1 && record.propensity(record.action, draws) >= 1.0,
            truth: self.options.truth.map(|truth| mean(&|action| truth(record, action))),
        })
    }

    /// Learns from a line, the frozen target only if it is one to train with, and goes on to the next round.
    pub(super) fn learn(&mut self, record: &Record, train: bool) -> Result<(), LogFlaw> {
        let default =
            record.defaults.as_ref().and_then(|defaults| defaults.get(record.action.index()).copied());
        let Record { context, action, reward, .. } = *record;
        let baseline = f64::from(self.policy.baseline(&context, action, default));
        let event = Event::Observation(Observation { context, action, baseline, reward, weight: 1.0 });
        for (target, learns) in [(Some(&mut self.along), true), (self.frozen.as_mut(), train)] {
            let Some(target) = target else { continue };
            let mut user = target.user();
            // The round is part of the draws' key and of the theorem's schedule. What is decided is not done, and waits for nothing.
            let decision = user.decide(&record.request())?;
            user.check(&Event::Expiry { round: decision.id.round, imputed: None })?.apply();
            if learns {
                user.check(&event)?.apply();
            }
        }
        Ok(())
    }

    /// pi, a number per action.
    fn probabilities(&mut self, record: &Record) -> Result<Vec<f64>, LogFlaw> {
        let mut target = self.frozen.as_mut().unwrap_or(&mut self.along).user();
        let (request, actions) = (record.request(), self.policy.catalog().actions());
        let mut probabilities = vec![0.0; actions];
        if self.options.greedy {
            let (action, _) = target.recommend(&request)?;
            if let Some(probability) = probabilities.get_mut(action.index()) {
                *probability = 1.0;
            }
            return Ok(probabilities);
        }
        let draws = self.options.draws.max(1);
        target.propensities(&request, draws, &mut probabilities)?;
        if matches!(self.policy.settings().exploration, Exploration::Optimistic(_)) {
            return Ok(probabilities); // there is no chance in it but the coins', which is exact, and nothing to smooth
        }
        // Core smooths, (n + 1) / (draws + allowed); the share of the draws, n / draws, is the unbiased one. n is a count, or with
        // coins a sum of their probabilities.
        let smoothed = f64::from(draws) + record.feasible.len() as f64;
        let whole = self.policy.settings().probe == 0.0;
        for probability in &mut probabilities {
            let count = *probability * smoothed - 1.0;
            let count = if whole { count.round() } else { count };
            *probability = if count > 1e-6 { count / f64::from(draws) } else { 0.0 };
        }
        Ok(probabilities)
    }

    /// q(x, a)
    fn predict(&self, theta: &[f32], record: &Record, action: Action) -> f64 {
        let default = record.defaults.as_ref().and_then(|defaults| defaults.get(action.index()).copied());
        let features = self.policy.features(&record.context, action);
        let residual = features
            .map(|(coordinate, value)| theta.get(coordinate).map_or(0.0, |theta| theta * value))
            .sum::<f32>();
        f64::from(self.policy.baseline(&record.context, action, default) + residual).clamp(-1.0, 1.0)
    }
}

impl Record {
    fn request(&self) -> Request<'_> {
        Request { defaults: self.defaults.as_deref(), ..Request::new(&self.context, &self.feasible) }
    }

    /// Whether the propensities can be shares of draws: smoothed ones are above 0 wherever something is allowed. Others are exact,
    /// those of a learner without chance among them.
    fn is_estimated(&self) -> bool {
        self.feasible
            .set()
            .iter()
            .all(|action| self.propensities.get(action.index()).is_some_and(|propensity| *propensity > 0.0))
    }

    /// The number to divide by: p, or (n + 1) / (draws + 1) where p was estimated as (n + 1) / (draws + allowed).
    fn propensity(&self, action: Action, draws: Option<u32>) -> f64 {
        let propensity = self.propensities.get(action.index()).copied().unwrap_or(0.0);
        draws.map_or(propensity, |draws| propensity * self.smoothed(draws) / (f64::from(draws) + 1.0))
    }

    /// Whether the logged policy is known to choose the action at times: it has a propensity, and was drawn.
    fn supports(&self, action: Action, draws: Option<u32>) -> bool {
        let counted = |draws: u32| self.propensity(action, Some(draws)) * (f64::from(draws) + 1.0) > 1.5;
        draws.map_or_else(|| self.propensity(action, None) > 0.0, counted)
    }

    fn smoothed(&self, draws: u32) -> f64 {
        f64::from(draws) + self.feasible.len() as f64
    }
}
