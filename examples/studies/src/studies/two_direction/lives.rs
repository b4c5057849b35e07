//! Runs of 20 prompts, many seeds, learning and frozen.

use super::stage::{PROMPTS, RULES, Stage, Target, WHOLE};
use crate::parallel;
use crate::policies::{Agent, FROZEN, FULL, Method};
use crate::setup::{Setup, StudyError};
use crate::statistics::{mcnemar, mean, quantile};
use fable_core::{Context, Feasible, Policy, Request, Settings};

/// One run of 20 prompts.
pub(super) struct Run {
    pub(super) correct: Vec<bool>,
    targets: Vec<Target>,
    /// The probabilities of the probes, current and stable, before and after.
    pub(super) probes: [[f64; 2]; 2],
}

impl Run {
    pub(super) fn correct(&self, counts: impl Fn(usize) -> bool) -> f64 {
        self.correct.iter().enumerate().filter(|(round, correct)| **correct && counts(*round)).count() as f64
    }

    pub(super) fn all(&self) -> f64 {
        self.correct(|_| true)
    }

    pub(super) fn in_direction(&self, target: Target) -> f64 {
        self.correct(|round| self.targets.get(round) == Some(&target))
    }
}

/// The probes of both directions, in the contexts of the first prompt of each.
pub(super) fn probe(
    stage: &Stage,
    agent: &mut Agent<'_>,
    rounds: &[(Context, Target)],
) -> Result<[f64; 2], StudyError> {
    let mut probes = [0.0; 2];
    for (slot, direction) in probes.iter_mut().zip([Target::Current, Target::Stable]) {
        if let Some((context, target)) = rounds.iter().find(|(_, target)| *target == direction) {
            *slot = agent.assess(&stage.probe(*context, *target))?.probability;
        }
    }
    Ok(probes)
}

pub(super) fn live(
    policy: &Policy<'_, f64>,
    rounds: &[(Context, Target)],
    method: Method,
    seed: u64,
) -> Result<Run, StudyError> {
    let mut agent = Agent::new(policy, method, seed)?;
    let feasible = Feasible::new(policy.catalog(), RULES)?;
    let before = probe(&WHOLE, &mut agent, rounds)?;
    let mut correct = Vec::new();
    for (context, target) in rounds {
        let chosen = agent.choose(&Request::new(context, &feasible), |_| 0.0)?;
        let right = chosen == Some(WHOLE.action(*target));
        correct.push(right);
        agent.learn(if right { 1.0 } else { -1.0 })?;
    }
    let targets = rounds.iter().map(|(_, target)| *target).collect();
    Ok(Run { correct, targets, probes: [before, probe(&WHOLE, &mut agent, rounds)?] })
}

/// The runs of both policies under the same settings, paired by seed.
pub(super) struct Pair {
    pub(super) online: Vec<Run>,
    pub(super) frozen: Vec<Run>,
}

pub(super) fn pair(
    setup: &Setup,
    name: &str,
    settings: Settings<'static>,
    rounds: &[(Context, Target)],
    seeds: usize,
) -> Result<Pair, StudyError> {
    let policy = Policy::new(WHOLE.catalog, settings)?;
    let runs = parallel::map(setup, name, seeds, |seed| {
        let life = |method| live(&policy, rounds, method, seed as u64);
        Ok((life(FULL)?, life(FROZEN)?))
    })?;
    let (online, frozen) = runs.into_iter().unzip();
    Ok(Pair { online, frozen })
}

impl Pair {
    /// For each seed the rounds that only online, and that only frozen, has right.
    pub(super) fn discordant(&self) -> Vec<(usize, usize)> {
        let count = |one: &Run, other: &Run| {
            one.correct.iter().zip(&other.correct).filter(|(one, other)| **one && !**other).count()
        };
        self.online
            .iter()
            .zip(&self.frozen)
            .map(|(online, frozen)| (count(online, frozen), count(frozen, online)))
            .collect()
    }

    pub(super) fn mcnemar(&self) -> Vec<f64> {
        self.discordant().into_iter().map(|(online, frozen)| mcnemar(online, frozen)).collect()
    }

    /// The share of seeds with as many right as the paper's runs, and with as many discordant rounds of either kind.
    pub(super) fn same_as_published(&self) -> [f64; 3] {
        let share = |counts: &dyn Fn(usize) -> bool| {
            (0..self.online.len()).filter(|seed| counts(*seed)).count() as f64
                / self.online.len().max(1) as f64
        };
        let discordant = self.discordant();
        let right =
            |runs: &[Run], seed: usize, paper: f64| runs.get(seed).is_some_and(|run| run.all() == paper);
        [
            share(&|seed| right(&self.online, seed, 18.0)),
            share(&|seed| right(&self.frozen, seed, 14.0)),
            share(&|seed| discordant.get(seed) == Some(&(5, 1))),
        ]
    }
}

pub(super) fn values(runs: &[Run], of: impl Fn(&Run) -> f64) -> Vec<f64> {
    runs.iter().map(of).collect()
}

/// The reward that was added up before a round.
pub(super) fn reward_until(round: usize) -> impl Fn(&Run) -> f64 {
    move |run| 2.0 * run.correct(|earlier| earlier < round) - round.min(PROMPTS.len()) as f64
}

/// Mean and central 90%.
pub(super) fn spread(values: &[f64]) -> String {
    format!("{:.3} ({:.2} to {:.2})", mean(values), quantile(values, 0.05), quantile(values, 0.95))
}
