//! Users as the theorems have them: a linear mean reward within [-1/2, 1/2], and a fair coin of 1/2 as noise.
//!
//! Of all noise with a sub-Gaussian proxy of 1/4, the default `noise_variance`, none has a larger variance.

use crate::policies::Agent;
use crate::setup::StudyError;
use fable_core::{Action, Catalog, Context, Exploration, Feasible, Request, Settings};
use fable_simulate::{Random, SimulatedUser};

/// A user whose reward is phi.theta* +- 1/2: no default scores, no costs.
pub struct Linear<'c> {
    catalog: &'c Catalog<'c>,
    context: Context,
    pub feasible: Feasible,
    zeros: Vec<f64>,
    pub theta: Vec<f64>,
    seed: u64,
}

/// Settings without costs.
pub const fn plain(settings: Settings<'static>) -> Settings<'static> {
    Settings { cost_weight: 0.0, ..settings }
}

/// The regret theorem's: unit noise variance and unit precision, and its schedule with delta = 0.1.
pub const THEOREM: Settings<'static> = plain(Settings {
    noise_variance: 1.0,
    base_precision: Some(1.0),
    exploration: Exploration::Theorem { delta: DELTA },
    ..Settings::PAPER
});
pub const DELTA: f64 = 0.1;

impl<'c> Linear<'c> {
    /// A user with these preferences, made smaller where a mean reward would be outside of [-1/2, 1/2].
    pub fn new(catalog: &'c Catalog<'c>, theta: Vec<f64>, seed: u64) -> Result<Self, StudyError> {
        let context = Context::new(catalog, None, &vec![0.0; catalog.definition().signals.len()])?;
        let feasible = Feasible::all(catalog);
        let mut user = Self { catalog, context, feasible, zeros: vec![0.0; catalog.actions()], theta, seed };
        let largest = catalog.all_actions().iter().map(|action| user.mean(action).abs()).fold(0.0, f64::max);
        let factor = if largest > 0.5 { 0.5 / largest } else { 1.0 };
        user.theta.iter_mut().for_each(|weight| *weight *= factor);
        Ok(user)
    }

    /// A user with the tastes of the simulator.
    pub fn simulated(catalog: &'c Catalog<'c>, seed: u64) -> Result<Self, StudyError> {
        Self::new(catalog, SimulatedUser::new(catalog, seed).theta().to_vec(), seed)
    }

    pub fn context(&self) -> &Context {
        &self.context
    }

    pub fn mean(&self, action: Action) -> f64 {
        let features = self.catalog.features(&self.context, action);
        features
            .map(|(index, value)| self.theta.get(index).map_or(0.0, |weight| weight * f64::from(value)))
            .sum()
    }

    /// One round; the regret of what was chosen.
    pub fn play(&self, agent: &mut Agent<'_>, round: u32) -> Result<f64, StudyError> {
        let request = Request::new(&self.context, &self.feasible).with_defaults(&self.zeros);
        let chosen = agent
            .choose(&request, |_| 0.0)?
            .ok_or_else(|| StudyError::Failed("a learner always chooses".into()))?;
        agent.learn(self.reward(chosen, round))?;
        let best =
            self.feasible.set().iter().map(|action| self.mean(action)).fold(f64::NEG_INFINITY, f64::max);
        Ok(best - self.mean(chosen))
    }

    /// The reward of an action in a round.
    pub fn reward(&self, action: Action, round: u32) -> f64 {
        let coin =
            if Random::new([self.seed, u64::from(round), 0, 0xc01f]).unit() < 0.5 { -0.5 } else { 0.5 };
        (self.mean(action) + coin).clamp(-1.0, 1.0) // a sum of 1 may round to more
    }

    /// |theta*|
    pub fn length(&self) -> f64 {
        self.theta.iter().map(|weight| weight * weight).sum::<f64>().sqrt()
    }
}

/// Rounds at which something is looked at: about eight in each factor of ten, up to the horizon.
pub fn checkpoints(horizon: u32) -> Vec<u32> {
    let mut rounds: Vec<u32> = (0..80)
        .map(|step| libm::round(libm::pow(10.0, f64::from(step) / 8.0)) as u32)
        .take_while(|round| *round < horizon)
        .collect();
    rounds.push(horizon);
    rounds.dedup();
    rounds
}

/// Cumulative regret at the checkpoints.
pub fn regrets(
    user: &Linear<'_>,
    agent: &mut Agent<'_>,
    checkpoints: &[u32],
) -> Result<Vec<f64>, StudyError> {
    let (mut total, mut round, mut out) = (0.0, 0, Vec::with_capacity(checkpoints.len()));
    for checkpoint in checkpoints {
        while round < *checkpoint {
            round += 1;
            total += user.play(agent, round)?;
        }
        out.push(total);
    }
    Ok(out)
}
