//! Personas as the paper's reward model has them: a hidden theta* per persona, and rewards linear in the features.

use super::persona::{Environment, Persona, Round, SIZES, Target, asked, contexts, fits, mostly, target};
use crate::draw::normal;
use fable_core::catalog::AGENT;
use fable_core::catalog::ContextError;
use fable_core::{Action, Context};
use fable_simulate::{Random, SimulatedUser};

/// A simulated user with what fits best for each kind of request.
#[derive(Clone, Debug)]
pub struct Tastes {
    user: SimulatedUser<'static>,
    contexts: Vec<Context>,
    best: [Target; 4],
    said: Target,
}

impl Tastes {
    /// The persona with a number.
    pub fn draw(random: &mut Random, environment: Environment, seed: u64) -> Result<Self, ContextError> {
        let user = SimulatedUser::new(&AGENT, seed).noisy(0.0);
        let favourite = std::array::from_fn(|component| favourite(&user, component));
        let said = mostly(random, favourite);
        let mut persona = Self { user, contexts: contexts(environment)?, best: [Target::default(); 4], said };
        persona.best = std::array::from_fn(|kind| {
            let rewards = AGENT
                .all_actions()
                .iter()
                .map(|action| (action, persona.expected(kind, false, action)))
                .collect::<Vec<_>>();
            let best = rewards.into_iter().rev().max_by(|(_, one), (_, other)| one.total_cmp(other));
            target(best.map(|(action, _)| action).unwrap_or_default())
        });
        Ok(persona)
    }

    /// b - cost + phi.theta*, clipped.
    fn liking(&self, kind: usize, action: Action) -> f64 {
        self.contexts.get(kind).map_or(0.0, |context| self.user.expected(context, action))
    }
}

/// The value of a component with the largest main effect.
fn favourite(user: &SimulatedUser<'_>, component: usize) -> u8 {
    let Some(named) = AGENT.definition().components.get(component) else { return 0 };
    let weight = |value: usize| {
        let name = named.values.get(value).map(|value| format!("{}={}", named.name, value.name));
        name.and_then(|name| user.theta().get(AGENT.coordinate(&name)?).copied()).unwrap_or_default()
    };
    (0..SIZES[component]).max_by(|one, other| weight(*one).total_cmp(&weight(*other))).unwrap_or_default()
        as u8
}

impl Persona for Tastes {
    fn said(&self) -> Target {
        self.said
    }

    fn expected(&self, kind: usize, _: bool, action: Action) -> f64 {
        let liking = self.liking(kind, action);
        liking - asked(action) - if liking < 0.0 { 0.15 } else { 0.0 }
    }

    /// clip(b - cost + phi.theta* - 0.08 if asked - 0.15 if the persona would rather have nothing + noise of sd 0.05)
    fn react(&self, kind: usize, located: bool, action: Action, random: &mut Random) -> Round {
        let free = self.expected(kind, located, action) + AGENT.cost(action) + 0.05 * normal(random);
        Round::new(free, action, fits(&self.best[kind % 4], action), self.liking(kind, action) >= 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::mean;

    #[test]
    fn the_best_action_is_the_best_and_rewards_are_linear() {
        let mut random = Random::new([1, 1, 1, 1]);
        let persona = Tastes::draw(&mut random, Environment::Shopping, 9).unwrap();
        for kind in 0..4 {
            let best = AGENT.action(&persona.best[kind]).unwrap();
            for action in AGENT.all_actions().iter() {
                assert!(persona.expected(kind, true, action) <= persona.expected(kind, true, best));
            }
            let rewards: Vec<f64> =
                (0..2000).map(|_| persona.react(kind, true, best, &mut random).reward).collect();
            assert!((mean(&rewards) - persona.expected(kind, true, best)).abs() < 0.01);
            assert_eq!(persona.react(kind, true, best, &mut random).success, 1.0);
        }
        let favourite = favourite(&persona.user, 2);
        let style = AGENT.definition().components[2].values[usize::from(favourite)].name;
        let weight = persona.user.theta()[AGENT.coordinate(&format!("style={style}")).unwrap()];
        assert!(weight > 0.0);
    }
}
