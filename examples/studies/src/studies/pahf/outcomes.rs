//! Personas whose rewards come from outcomes: what fits the persona makes it likely that the host gets things right.

use super::persona::{Environment, Persona, Round, SIZES, Target, any, asked, fits, mostly};
use crate::draw::{chance, normal};
use fable_core::Action;
use fable_core::catalog::AGENT;
use fable_simulate::Random;

/// Somebody with a favourite value of each component and what fits best for each kind of request.
#[derive(Clone, Debug)]
pub struct Outcomes {
    environment: Environment,
    targets: [Target; 4],
    said: Target,
}

/// The probabilities that the two or three things to get right are right.
fn right(environment: Environment, fits: [f64; 3], located: bool) -> Vec<f64> {
    let [memory, tool, style] = fits;
    match environment {
        Environment::Embodied => {
            let object = 0.1 + 0.5 * memory + 0.3 * tool;
            if located { vec![object, 0.1 + 0.3 * tool + 0.5 * style] } else { vec![object] }
        }
        Environment::Shopping => fits.iter().map(|fit| 0.2 + 0.7 * fit).collect(),
    }
}

/// The paper's quality scores, from shares or probabilities.
fn quality(environment: Environment, right: &[f64], all: f64) -> f64 {
    match (environment, right) {
        (Environment::Embodied, [object, location]) => 0.6 * object + 0.4 * location,
        (Environment::Embodied, right) => right.iter().sum(),
        (Environment::Shopping, right) => 0.75 * all + 0.25 * right.iter().sum::<f64>() / 3.0,
    }
}

impl Outcomes {
    /// A persona; `rule` is what the reference alone would do for each kind of request.
    pub fn draw(random: &mut Random, environment: Environment, rule: &[Target; 4]) -> Self {
        let favourite = any(random);
        let targets = rule.map(|rule| {
            std::array::from_fn(|component| {
                let (content, usual, other) =
                    (chance(random, 0.2), chance(random, 0.7), random.below(SIZES[component]) as u8);
                match (content, usual) {
                    (true, _) => rule[component],
                    (false, true) => favourite[component],
                    (false, false) => other,
                }
            })
        });
        Self { environment, targets, said: mostly(random, favourite) }
    }
}

impl Persona for Outcomes {
    fn said(&self) -> Target {
        self.said
    }

    fn expected(&self, kind: usize, located: bool, action: Action) -> f64 {
        let right = right(self.environment, fits(&self.targets[kind % 4], action), located);
        let all = right.iter().product();
        2.0 * quality(self.environment, &right, all)
            - 1.0
            - asked(action)
            - 0.15 * (1.0 - all)
            - AGENT.cost(action)
    }

    /// clip(2 quality - 1 - cost - 0.08 if asked - 0.15 if corrected + noise of sd 0.05)
    fn react(&self, kind: usize, located: bool, action: Action, random: &mut Random) -> Round {
        let fits = fits(&self.targets[kind % 4], action);
        let noise = 0.05 * normal(random);
        let drawn: Vec<f64> = right(self.environment, fits, located)
            .into_iter()
            .map(|probability| f64::from(u8::from(chance(random, probability))))
            .collect();
        let done: f64 = drawn.iter().product();
        let free =
            2.0 * quality(self.environment, &drawn, done) - 1.0 - asked(action) - 0.15 * (1.0 - done) + noise;
        Round::new(free, action, fits, done > 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::super::persona::ENVIRONMENTS;
    use super::*;
    use crate::statistics::mean;

    /// The mean of something over everything that can be right or wrong.
    fn enumerated(probabilities: &[f64], of: impl Fn(&[f64]) -> f64) -> f64 {
        let outcomes = 0..1_u32 << probabilities.len();
        let weighed = outcomes.map(|bits| {
            let right: Vec<f64> =
                (0..probabilities.len()).map(|place| f64::from(bits >> place & 1)).collect();
            let chances =
                probabilities.iter().zip(&right).map(|(p, right)| if *right > 0.0 { *p } else { 1.0 - p });
            chances.product::<f64>() * of(&right)
        });
        weighed.sum()
    }

    #[test]
    fn the_mean_of_the_rewards_is_the_expected_one() {
        let mut random = Random::new([5, 5, 5, 5]);
        for (environment, name) in ENVIRONMENTS {
            let persona = Outcomes::draw(&mut random, environment, &[[0; 3]; 4]);
            let best = AGENT.action(&persona.targets[3]).unwrap();
            for (kind, located, action) in
                [(0, true, Action(0)), (1, false, Action(77)), (2, true, Action(179)), (3, true, best)]
            {
                let probabilities = right(environment, fits(&persona.targets[kind], action), located);
                let free = |right: &[f64]| {
                    let all: f64 = right.iter().product();
                    2.0 * quality(environment, right, all) - 1.0 - asked(action) - 0.15 * (1.0 - all)
                };
                let exact = enumerated(&probabilities, free) - AGENT.cost(action);
                assert!((persona.expected(kind, located, action) - exact).abs() < 1e-12, "{name} {action:?}");
                let rewards: Vec<f64> =
                    (0..20_000).map(|_| persona.react(kind, located, action, &mut random).free).collect();
                // At the ends of the range half of the noise is cut off: 0.02 on average.
                let clipped = enumerated(&probabilities, |right| free(right).clamp(-1.0, 1.0));
                assert!(
                    (mean(&rewards) - clipped).abs() < 0.03,
                    "{name} {action:?}: {} {clipped}",
                    mean(&rewards)
                );
            }
            let round = persona.react(3, true, best, &mut random);
            assert_eq!((round.components, round.success), ([1.0; 3], 1.0), "{name}");
        }
    }

    /// 0.2 + 0.8 (0.7 + 0.3) / 6 of the targets are the rule's, for components of six values.
    #[test]
    fn the_rule_is_right_a_third_of_the_time() {
        let mut random = Random::new([6, 6, 6, 6]);
        let hits: Vec<f64> = (0..2000)
            .map(|_| Outcomes::draw(&mut random, Environment::Embodied, &[[0; 3]; 4]))
            .flat_map(|persona| persona.targets.map(|target| f64::from(u8::from(target[2] == 0))))
            .collect();
        assert!((mean(&hits) - 1.0 / 3.0).abs() < 0.02, "{}", mean(&hits));
    }
}
