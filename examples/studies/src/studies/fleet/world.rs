//! People who can be asked and served, and what a prior is worth to those of them nobody has seen.

use crate::policies::{Agent, PER_USER};
use crate::setup::{Setup, StudyError};
use fable_core::journal::Observation;
use fable_core::posterior::{Factor, Prior};
use fable_core::{Action, Catalog, Context, Exploration, Feasible, Policy, Request, Settings};
use fable_std::prior::{Evidence, Options, Population, fit};
use std::num::NonZero;

/// Rounds of an unseen user that count.
pub const ROUNDS: usize = 30;

/// Someone who asks and rewards.
pub trait Person: Sync {
    /// What is asked in a round, from 0, and what may be done.
    fn request(&self, round: usize) -> Result<(Context, Feasible), StudyError>;
    /// The mean of the reward of an action.
    fn expected(&self, round: usize, action: Action) -> f64;
    /// The reward of an action.
    fn reward(&self, round: usize, action: Action) -> f64;
}

/// What the first rounds of someone came to.
pub struct Life {
    /// The best allowed action's mean reward less that of the one taken, by round.
    pub regret: Vec<f64>,
    /// The journal.
    pub evidence: Evidence,
}

/// Lets somebody live; `number` names the draws.
pub fn live(
    policy: &Policy<'_, f64>,
    person: &dyn Person,
    number: u64,
    rounds: usize,
) -> Result<Life, StudyError> {
    let mut agent = Agent::new(policy, PER_USER, number)?;
    let mut life = Life { regret: Vec::with_capacity(rounds), evidence: Evidence::default() };
    for round in 0..rounds {
        let (context, feasible) = person.request(round)?;
        let chosen = agent.choose(&Request::new(&context, &feasible), |_| 0.0)?;
        let action = chosen.ok_or_else(|| StudyError::Failed("a learner always chooses".into()))?;
        let reward = person.reward(round, action);
        agent.learn(reward)?;
        let best = feasible
            .set()
            .iter()
            .map(|action| person.expected(round, action))
            .fold(f64::NEG_INFINITY, f64::max);
        life.regret.push(best - person.expected(round, action));
        let baseline = policy.baseline(&context, action, None);
        life.evidence.reward(policy, &Observation { context, action, baseline, reward, weight: 1.0 });
    }
    Ok(life)
}

/// Multiples of the shipped precision and boldness: isotropic priors that the best is taken from, by what they cost the very users
/// they are compared on.
const PRECISIONS: [f64; 9] = [1.0 / 16.0, 1.0 / 8.0, 1.0 / 4.0, 1.0 / 2.0, 1.0, 2.0, 4.0, 8.0, 16.0];
const BOLDNESSES: [f64; 5] = [1.0 / 3.0, 2.0 / 3.0, 1.0, 4.0 / 3.0, 2.0];

/// The shipped settings, so many times as bold.
pub fn bold(multiple: f64) -> Settings<'static> {
    let shipped = Settings::default();
    let exploration = match shipped.exploration {
        Exploration::Optimistic(c) => Exploration::Optimistic(c * multiple),
        Exploration::Constant(nu) => Exploration::Constant(nu * multiple),
        other => other,
    };
    Settings { exploration, ..shipped }
}

/// The settings of every isotropic prior.
pub fn isotropic() -> impl Iterator<Item = Settings<'static>> {
    let of = |boldness: f64| {
        let settings = bold(boldness);
        move |multiple| Settings {
            precision_per_feature: settings.precision_per_feature * multiple,
            ..settings
        }
    };
    BOLDNESSES.into_iter().flat_map(move |boldness| PRECISIONS.into_iter().map(of(boldness)))
}

/// How somebody starts.
#[derive(Clone, Copy)]
pub enum Start<'p> {
    /// With an isotropic prior.
    Isotropic(Settings<'static>),
    /// With the fitted mean and the most likely isotropic precision around it.
    Mean(&'p Population),
    /// With the fitted prior, and settings to explore by.
    Fitted(&'p Population, Settings<'static>),
}

/// The regret of the first rounds of people who start so, in sum, by round.
pub fn regret(
    catalog: &Catalog<'_>,
    start: Start<'_>,
    person: &dyn Person,
    number: u64,
) -> Result<Vec<f64>, StudyError> {
    match start {
        Start::Isotropic(settings) => {
            Ok(live(&Policy::new(catalog, settings)?, person, number, ROUNDS)?.regret)
        }
        Start::Mean(population) => {
            let (mean, precision) =
                (population.prior.mean(), vec![population.isotropic_precision; catalog.dimension()]);
            let prior = Prior::Diagonal { mean: &mean, precision: &precision };
            Ok(live(&Policy::with_prior(catalog, Settings::default(), prior)?, person, number, ROUNDS)?
                .regret)
        }
        Start::Fitted(population, settings) => {
            let mut workspace = vec![0.0; catalog.workspace_len()];
            let factor = Factor::new(catalog.layout(), population.prior.packed(), &mut workspace)?;
            let policy = Policy::with_prior(catalog, settings, Prior::Factor(factor))?;
            Ok(live(&policy, person, number, ROUNDS)?.regret)
        }
    }
}

/// Fits on one thread: the studies run many at a time. The small version does not choose how much to hold back.
pub fn fitted(setup: &Setup, catalog: &Catalog<'_>, users: &[Evidence]) -> Result<Population, StudyError> {
    let shrinkage = setup.reduced.then_some(catalog.dimension() as f64);
    let options = Options {
        shrinkage,
        steps: setup.scale(40, 3),
        threads: NonZero::<usize>::MIN,
        ..Options::default()
    };
    Ok(fit(&Policy::new(catalog, Settings::default())?, users, &options)?)
}
