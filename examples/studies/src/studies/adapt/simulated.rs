//! Simulated users whose tastes stay, or change all at once: regret under several settings, life by life.

use crate::parallel;
use crate::policies::{Agent, PER_USER};
use crate::setup::{Setup, StudyError};
use fable_core::{Catalog, Feasible, Policy, Request, Settings};
use fable_simulate::{Random, SimulatedUser};
use std::ops::Range;

/// What a user says to an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rewards {
    /// A number from -1 to 1, with noise.
    Graded,
    /// +1 or -1, so that the mean is the same.
    Thumbs,
}

/// Lives of simulated users.
#[derive(Clone, Copy, Debug)]
pub struct Lives {
    /// What can be chosen.
    pub catalog: &'static Catalog<'static>,
    /// What is said to it.
    pub rewards: Rewards,
    /// How long they last.
    pub rounds: u32,
    /// The round after which the user has the tastes of somebody else.
    pub change: Option<u32>,
}

/// Names of the users that tastes are taken from after a change.
const OTHERS: u64 = 1 << 32;

impl Lives {
    /// The regret in every round, by life and settings; every life has the same requests and the same noise for all settings.
    ///
    /// # Errors
    /// What the learner says.
    pub fn regret(
        &self,
        setup: &Setup,
        settings: &[Settings<'static>],
        users: Range<usize>,
    ) -> Result<Vec<Vec<Vec<f64>>>, StudyError> {
        let policies = settings
            .iter()
            .map(|settings| Policy::new(self.catalog, *settings))
            .collect::<Result<Vec<_>, _>>()?;
        let everything = Feasible::all(self.catalog);
        let label = format!("simulated users, {}", self.catalog.definition().name);
        parallel::map(setup, &label, users.len(), |index| {
            let number = (users.start + index) as u64;
            policies.iter().map(|policy| self.live(policy, &everything, number)).collect()
        })
    }

    fn live(
        &self,
        policy: &Policy<'_, f64>,
        everything: &Feasible,
        number: u64,
    ) -> Result<Vec<f64>, StudyError> {
        let before = SimulatedUser::new(self.catalog, number);
        let after = SimulatedUser::new(self.catalog, OTHERS + number).theta().to_vec();
        let after = SimulatedUser::with_theta(self.catalog, after, number)?;
        let mut agent = Agent::new(policy, PER_USER, number)?;
        let mut regret = Vec::new();
        for round in 1..=self.rounds {
            let user = if self.change.is_some_and(|change| round > change) { &after } else { &before };
            let context = user.request(round)?.context;
            let chosen = agent.choose(&Request::new(&context, everything), |_| 0.0)?.unwrap_or_default();
            let expected = user.expected(&context, chosen);
            agent.learn(match self.rewards {
                Rewards::Graded => user.reward(round, &context, chosen),
                Rewards::Thumbs => thumb(expected, number, round),
            })?;
            regret.push(user.best(&context, everything).1 - expected);
        }
        Ok(regret)
    }
}

/// +1 or -1 with this mean, by a die that is the same whatever was chosen.
pub(in crate::studies) fn thumb(mean: f64, user: u64, round: u32) -> f64 {
    let die = Random::new([user, u64::from(round), 0, 0x7808]).unit();
    if die < f64::midpoint(1.0, mean) { 1.0 } else { -1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thumbs_have_the_mean_that_they_stand_for() {
        for mean in [-0.8, 0.0, 0.5] {
            let sum: f64 = (1..=20_000).map(|round| thumb(mean, 7, round)).sum();
            // The deviation of the mean of 20,000 is at most 0.0071.
            assert!((sum / 20_000.0 - mean).abs() < 0.04, "{mean}: {sum}");
        }
    }

    #[test]
    fn a_change_changes_nothing_before_it_and_costs_after_it() {
        let lives = |change| Lives {
            catalog: &fable_core::catalog::TAU2,
            rewards: Rewards::Graded,
            rounds: 200,
            change,
        };
        let settings = [crate::candidate::DRAW.settings];
        let of = |change| lives(change).regret(&Setup::for_tests(), &settings, 0..10).unwrap();
        let sum = |lives: &[Vec<Vec<f64>>], rounds: Range<usize>| -> f64 {
            lives.iter().flat_map(|life| &life[0][rounds.clone()]).sum()
        };
        let (same, changed) = (of(None), of(Some(100)));
        assert_eq!(sum(&same, 0..100), sum(&changed, 0..100));
        assert!(sum(&changed, 100..200) > 1.5 * sum(&same, 100..200));
    }
}
