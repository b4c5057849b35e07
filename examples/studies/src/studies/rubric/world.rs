//! The problems of Math500 with a simulated answer model, judge and estimator.

use super::{HELD_OUT, LEARNING};
use crate::data::MATH500;
use crate::setup::{Setup, StudyError};
use fable_core::Action;
use fable_core::catalog::rubric::RUBRIC;
use fable_simulate::Random;
use serde::Deserialize;

/// How much the user's rubric weighs rigor, steps and examples.
const WEIGHTS: [f64; 3] = [0.5, 0.3, 0.2];
/// The mean judged score, from 0 to 1, when level 1, 3 or 5 of a criterion is asked for.
const JUDGED: [f64; 3] = [0.60, 0.70, 0.78];
/// The same for a host that is asked for nothing, and for one that is told the whole profile: the paper's rows.
pub(super) const UNASKED: f64 = 0.643;
pub(super) const INFORMED: f64 = 0.795;
/// On hard problems (difficulty 4 and 5) this user wants more, and minds more when there are no steps.
const HARD: [f64; 3] = [-0.05, 0.0, 0.05];
/// What the estimate made before the answer expects of a level: far more than it gets.
const ESTIMATED: [f64; 3] = [0.25, 0.55, 0.85];
/// Half the width of that estimate's scatter over problems.
const SCATTER: f64 = 0.1;
/// Probability of a right answer by difficulty.
const ACCURACY: [f64; 5] = [0.99, 0.98, 0.97, 0.95, 0.94];

/// What is read of a problem.
#[derive(Deserialize)]
struct Problem {
    /// Its difficulty, 1 to 5.
    level: usize,
}

/// The problems with a simulated answer model, judge and estimator.
pub(super) struct World {
    pub(super) difficulties: Vec<usize>,
}

/// A judged answer.
#[derive(Clone, Copy)]
pub(super) struct Judged {
    pub(super) accuracy: f64,
    pub(super) alignment: f64,
}

impl World {
    pub(super) fn read(setup: &Setup) -> Result<Self, StudyError> {
        let text = MATH500.read(setup)?;
        let problems =
            text.lines().map(|line| serde_json::from_str::<Problem>(line).map_err(|error| error.to_string()));
        let problems =
            problems.collect::<Result<Vec<_>, _>>().map_err(|reason| MATH500.bad(setup, reason))?;
        let difficulties: Vec<usize> = problems.into_iter().map(|problem| problem.level).collect();
        if difficulties.len() < LEARNING + HELD_OUT
            || difficulties.iter().any(|level| !(1..=5).contains(level))
        {
            return Err(MATH500.bad(setup, "there must be at least 80 problems with levels from 1 to 5"));
        }
        Ok(Self { difficulties })
    }

    /// The answer to a problem and what the judge says. It is a function of the problem and of what is asked for: the model
    /// answers at temperature 0. A score of 0, 1/2 or 1 is two coins that fall on their side with the mean's probability.
    pub(super) fn judge(&self, problem: usize, asked: [f64; 3]) -> Judged {
        let mut random = Random::new([problem as u64, 0, 0x3a74, 0]);
        let difficulty = self.difficulties.get(problem).copied().unwrap_or(1);
        let right = random.unit() < ACCURACY.get(difficulty - 1).copied().unwrap_or_default();
        let alignment =
            asked.into_iter().zip(WEIGHTS).map(|(mean, weight)| weight * two_coins(&mut random, mean)).sum();
        Judged { accuracy: f64::from(u8::from(right)), alignment }
    }

    /// The mean scores of the criteria under an action, with what the profile says about them.
    pub(super) fn asked(&self, problem: usize, action: Action, profile: [f64; 3]) -> [f64; 3] {
        let hard = self.difficulties.get(problem).is_some_and(|difficulty| *difficulty >= 4);
        std::array::from_fn(|criterion| {
            let level = level(action, criterion);
            let more = if hard && criterion == 1 { HARD[level] } else { 0.0 };
            (JUDGED[level] + more + profile[criterion]).clamp(0.0, 1.0)
        })
    }

    /// What is expected of each action before the answer: estimated once for each problem.
    pub(super) fn defaults(problem: usize) -> Vec<f64> {
        let mut random = Random::new([problem as u64, 0, 0xde4a, 0]);
        let estimates: [[f64; 3]; 3] = std::array::from_fn(|_| {
            std::array::from_fn(|level| ESTIMATED[level] + SCATTER * random.symmetric())
        });
        let alignment = |action| -> f64 {
            (0..3).map(|criterion| WEIGHTS[criterion] * estimates[criterion][level(action, criterion)]).sum()
        };
        RUBRIC.all_actions().iter().map(|action| 0.96 + alignment(action) - 1.0).collect()
    }
}

/// The position of the level that an action asks for.
pub(super) fn level(action: Action, criterion: usize) -> usize {
    RUBRIC.values(action).and_then(|values| values.get(criterion).copied()).map_or(0, usize::from)
}

fn two_coins(random: &mut Random, mean: f64) -> f64 {
    let place = random.unit();
    let (none, both) = ((1.0 - mean) * (1.0 - mean), mean * mean);
    if place < none {
        0.0
    } else if place < 1.0 - both {
        0.5
    } else {
        1.0
    }
}

impl Judged {
    /// 2 Qual - 1 - lambda cost
    pub(super) fn reward(self, cost: f64) -> f64 {
        (self.accuracy + self.alignment - 1.0 - cost).clamp(-1.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::mean;

    #[test]
    fn two_coins_have_the_mean_that_was_asked_for() {
        let mut random = Random::new([5, 0, 0, 0]);
        for asked in [0.0, 0.3, 0.78, 1.0] {
            let drawn: Vec<f64> = (0..20_000).map(|_| two_coins(&mut random, asked)).collect();
            assert!((mean(&drawn) - asked).abs() < 0.01, "{asked}: {}", mean(&drawn));
        }
    }

    #[test]
    fn asking_for_more_gives_more_and_is_expected_to() {
        let world = World { difficulties: vec![3; 300] };
        let (least, most) = (Action(0), Action(26));
        let alignment = |action| {
            let judged = |problem| world.judge(problem, world.asked(problem, action, [0.0; 3])).alignment;
            mean(&(0..300).map(judged).collect::<Vec<_>>())
        };
        assert!(alignment(most) > alignment(least) + 0.1);
        let defaults = World::defaults(7);
        assert!(defaults.len() == 27 && defaults[26] > defaults[0] + 0.3);
        assert_eq!(world.judge(3, [0.5; 3]).alignment, world.judge(3, [0.5; 3]).alignment);
    }
}
