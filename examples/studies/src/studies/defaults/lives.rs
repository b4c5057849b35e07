//! Lives of simulated users and of people under many settings: how much regret, against that of choosing anything.

use crate::policies::{Agent, PER_USER};
use crate::setup::{Setup, StudyError};
use crate::studies::adapt::simulated::thumb;
use crate::studies::people::panel::{Half, Respondent, Rounds, Split};
use crate::{parallel, studies::prompts};
use fable_core::{Catalog, Context, Feasible, Policy, Request, Settings};
use fable_simulate::SimulatedUser;
use prompts::exams::{EXAMS, Exams, PROMPTS, STYLES};

/// Rounds after which regret is looked at.
pub(super) const HORIZONS: [u32; 5] = [5, 10, 30, 100, 300];
/// The same for exams.
const EXAM_HORIZONS: [u32; 4] = [30, 100, 300, 3000];
/// The same for people, as far as they go.
const PEOPLE_HORIZONS: [u32; 3] = [5, 10, 16];
/// Lengths of theta*, and half widths of the noise, that users have in turn; every third user of a length gives thumbs.
pub(super) const LENGTHS: [f64; 3] = [0.5, 1.0, 2.0];
pub(super) const NOISES: [f64; 2] = [0.35, 0.7];

/// Where a learner lives.
#[derive(Clone, Copy)]
pub(super) enum World<'w> {
    /// With simulated users of a catalog.
    Users(&'static Catalog<'static>),
    /// Among recorded answers.
    Exams(&'w Exams),
    /// With people, of whom a half is for choosing and the other for reporting.
    People(&'w Split, Rounds),
}

/// What settings give in a world.
#[derive(Clone, Default)]
pub(super) struct Scores {
    /// Relative regret at each horizon: 0 is the oracle, 1 any allowed action.
    pub(super) relative: Vec<f64>,
    /// Regret per round of each life over the whole, for comparisons of settings life by life.
    pub(super) lives: Vec<f64>,
    /// The mean square of rewards that were not foreseen, each divided by what the posterior adds to the noise: the noise
    /// variance that fits best when precision moves with it.
    pub(super) noise: Option<f64>,
}

impl Scores {
    /// The mean over the horizons.
    pub(super) fn mean(&self) -> f64 {
        crate::statistics::mean(&self.relative)
    }
}

/// The catalog with the part of a life that settings do not change.
struct Life<'c> {
    user: SimulatedUser<'c>,
    number: usize,
    contexts: Vec<Context>,
    best: Vec<f64>,
    /// The mean of all allowed actions.
    uniform: Vec<f64>,
}

/// Whether a user says +1 or -1 and nothing between.
const fn gives_thumbs(number: usize) -> bool {
    number / LENGTHS.len() % (NOISES.len() + 1) == NOISES.len()
}

/// A user: what is liked, how strongly, and how noisy the rewards are, from the number.
pub(super) fn user(
    catalog: &'static Catalog<'static>,
    number: usize,
) -> Result<SimulatedUser<'static>, StudyError> {
    let length = LENGTHS[number % LENGTHS.len()];
    let theta =
        SimulatedUser::new(catalog, number as u64).theta().iter().map(|weight| length * weight).collect();
    let noise = NOISES[number / LENGTHS.len() % (NOISES.len() + 1) % NOISES.len()];
    Ok(SimulatedUser::with_theta(catalog, theta, number as u64)?.noisy(noise))
}

impl<'c> Life<'c> {
    fn new(user: SimulatedUser<'c>, number: usize, everything: &Feasible) -> Result<Self, StudyError> {
        let rounds = 1..=HORIZONS[HORIZONS.len() - 1];
        let contexts =
            rounds.map(|round| Ok(user.request(round)?.context)).collect::<Result<Vec<_>, StudyError>>()?;
        let mut life = Self { user, number, contexts, best: Vec::new(), uniform: Vec::new() };
        for context in &life.contexts {
            let rewards: Vec<f64> =
                everything.set().iter().map(|action| life.user.expected(context, action)).collect();
            life.best.push(rewards.iter().copied().fold(f64::NEG_INFINITY, f64::max));
            life.uniform.push(crate::statistics::mean(&rewards));
        }
        Ok(life)
    }

    /// Regret until each horizon, and the sum of what was not foreseen.
    fn run(
        &self,
        policy: &Policy<'_, f64>,
        everything: &Feasible,
        seed: u64,
    ) -> Result<(Vec<f64>, f64), StudyError> {
        let mut agent = Agent::new(policy, PER_USER, seed)?;
        let (mut regret, mut surprise, mut until) = (0.0, 0.0, Vec::new());
        for ((round, context), best) in (1..).zip(&self.contexts).zip(&self.best) {
            let chosen = agent.choose(&Request::new(context, everything), |_| 0.0)?.unwrap_or_default();
            let expected = self.user.expected(context, chosen);
            let reward = if gives_thumbs(self.number) {
                thumb(expected, self.number as u64, round)
            } else {
                self.user.reward(round, context, chosen)
            };
            let update = agent.learn(reward)?;
            surprise += update.map_or(0.0, |update| update.innovation * update.innovation / update.variance);
            regret += best - expected;
            if HORIZONS.contains(&round) {
                until.push(regret);
            }
        }
        Ok((until, surprise))
    }
}

impl World<'_> {
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Users(catalog) => catalog.definition().name,
            Self::Exams(_) => "prompts, tuning half",
            Self::People(split, _) => split.catalog.definition().name,
        }
    }

    pub(super) fn horizons(&self) -> &'static [u32] {
        match self {
            Self::Users(_) => &HORIZONS,
            Self::Exams(_) => &EXAM_HORIZONS,
            Self::People(_, Rounds::OnePass) => &PEOPLE_HORIZONS,
            Self::People(..) => &HORIZONS[..3],
        }
    }

    /// The scores of each of the settings over the same lives, `first` on; of people those of the half that is seen, unless there
    /// is a first.
    pub(super) fn scores(
        &self,
        setup: &Setup,
        settings: &[Settings<'static>],
        first: usize,
        lives: usize,
    ) -> Result<Vec<Scores>, StudyError> {
        match self {
            Self::Users(catalog) => users(setup, catalog, settings, first, lives),
            Self::Exams(exams) => {
                settings.iter().map(|settings| exam_scores(setup, exams, settings, first, lives)).collect()
            }
            Self::People(split, rounds) => {
                let half = if first == 0 { Half::Seen } else { Half::Unseen };
                settings
                    .iter()
                    .map(|settings| people_scores(setup, split, *rounds, half, self.horizons(), settings))
                    .collect()
            }
        }
    }
}

fn users(
    setup: &Setup,
    catalog: &'static Catalog<'static>,
    settings: &[Settings<'static>],
    first: usize,
    count: usize,
) -> Result<Vec<Scores>, StudyError> {
    let everything = Feasible::all(catalog);
    let policies =
        settings.iter().map(|settings| Policy::new(catalog, *settings)).collect::<Result<Vec<_>, _>>()?;
    let label = format!("defaults, {}", catalog.definition().name);
    let lives = parallel::map(setup, &label, count, |index| {
        let life = Life::new(user(catalog, first + index)?, first + index, &everything)?;
        let runs = policies.iter().map(|policy| life.run(policy, &everything, (first + index) as u64));
        let chance = |horizon: u32| -> f64 {
            life.best
                .iter()
                .zip(&life.uniform)
                .take(horizon as usize)
                .map(|(best, uniform)| best - uniform)
                .sum()
        };
        Ok((runs.collect::<Result<Vec<_>, _>>()?, HORIZONS.map(chance)))
    })?;
    let rounds = f64::from(HORIZONS[HORIZONS.len() - 1]);
    let of_policy = |(position, settings): (usize, &Settings<'_>)| {
        let regret = |horizon: usize| lives.iter().map(|(runs, _)| runs[position].0[horizon]).sum::<f64>();
        let chance = |horizon: usize| lives.iter().map(|(_, chance)| chance[horizon]).sum::<f64>();
        let surprise: f64 = lives.iter().map(|(runs, _)| runs[position].1).sum();
        Scores {
            relative: (0..HORIZONS.len()).map(|horizon| regret(horizon) / chance(horizon)).collect(),
            lives: lives.iter().map(|(runs, _)| runs[position].0[HORIZONS.len() - 1] / rounds).collect(),
            noise: Some(settings.noise_variance * surprise / (rounds * count as f64)),
        }
    };
    Ok(settings.iter().enumerate().map(of_policy).collect())
}

fn exam_scores(
    setup: &Setup,
    exams: &Exams,
    settings: &Settings<'static>,
    first: usize,
    count: usize,
) -> Result<Scores, StudyError> {
    let policy = Policy::new(&PROMPTS, *settings)?;
    let lives = parallel::map(setup, "defaults, prompts", count, |seed| {
        prompts::live(&policy, PER_USER, exams, &EXAM_HORIZONS, (first + seed) as u64)
    })?;
    let best = exams.best_per_exam();
    let any =
        (0..STYLES as u16).map(|style| exams.fixed(fable_core::Action(style))).sum::<f64>() / STYLES as f64;
    let online = |horizon: usize| lives.iter().map(|life| life.online[horizon]).collect::<Vec<_>>();
    let relative = |horizon| (best - crate::statistics::mean(&online(horizon))) / (best - any);
    Ok(Scores {
        relative: (0..EXAM_HORIZONS.len()).map(relative).collect(),
        lives: online(EXAM_HORIZONS.len() - 1).into_iter().map(|earned| best - earned).collect(),
        noise: Some((0..EXAMS).map(|exam| exams.variance(exam)).sum::<f64>() / EXAMS as f64),
    })
}

fn people_scores(
    setup: &Setup,
    split: &Split,
    rounds: Rounds,
    half: Half,
    horizons: &[u32],
    settings: &Settings<'static>,
) -> Result<Scores, StudyError> {
    let regret = split.regret(setup, settings, None, half, rounds)?;
    let people = if half == Half::Seen { &split.seen } else { &split.unseen };
    let relative = |horizon: &u32| {
        let until = *horizon as usize;
        let own: f64 = regret.iter().flat_map(|rounds| rounds.iter().take(until)).sum();
        let chance = |(person, rounds): (&Respondent, &Vec<f64>)| person.chance(until.min(rounds.len()));
        own / people.iter().zip(&regret).map(chance).sum::<f64>()
    };
    Ok(Scores {
        relative: horizons.iter().map(relative).collect(),
        lives: regret.iter().map(|rounds| crate::statistics::mean(rounds)).collect(),
        noise: None,
    })
}
