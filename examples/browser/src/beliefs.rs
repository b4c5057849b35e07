//! What a posterior says about single values, on the scale of rewards.
//!
//! How much a value is liked is w.theta, where w is the mean of the features over all actions that have the value, less the
//! mean over all actions. Single coordinates of theta are poorly determined, since many thetas give the same scores; such means
//! of scores are not.

use crate::answer::{Belief, Beliefs};
use alloc::vec;
use alloc::vec::Vec;
use fable_core::preference::Comparison;
use fable_core::{Context, UserError};
use fable_js::{AGENT, Life};
use fable_simulate::SimulatedUser;

/// "This value rather than that one": a component, and its values at the left and the right end of a slider.
pub(crate) type Slider = (u8, u8, u8);

/// A number per coordinate.
type Dense = Vec<f64>;

/// The direction w of every value of every component.
struct Directions(Vec<Vec<Dense>>);

impl Directions {
    fn new(context: &Context) -> Self {
        let zero = vec![0.0; AGENT.dimension()];
        let components = AGENT.definition().components;
        let mut directions: Vec<Vec<Dense>> = components
            .iter()
            .map(|component| component.values.iter().map(|_| zero.clone()).collect())
            .collect();
        for action in AGENT.all_actions().iter() {
            let values = AGENT.values(action).unwrap_or_default();
            for (coordinate, feature) in AGENT.features(context, action) {
                for (directions, chosen) in directions.iter_mut().zip(&values) {
                    // Every value of a component is in equally many actions.
                    let (count, all) = (directions.len() as f64, AGENT.actions() as f64);
                    for (value, direction) in directions.iter_mut().enumerate() {
                        let own = if value == usize::from(*chosen) { count } else { 0.0 };
                        if let Some(slot) = direction.get_mut(coordinate) {
                            *slot += f64::from(feature) * (own - 1.0) / all;
                        }
                    }
                }
            }
        }
        Self(directions)
    }

    /// The difference of a slider's ends.
    fn between(&self, slider: &Slider) -> Dense {
        let (component, left, right) = *slider;
        let value =
            |value: u8| self.0.get(usize::from(component)).and_then(|values| values.get(usize::from(value)));
        let [left, right] = [left, right].map(value);
        right
            .into_iter()
            .flatten()
            .zip(left.into_iter().flatten())
            .map(|(right, left)| right - left)
            .collect()
    }
}

/// What is believed about every value and slider, in a context; `user` is the simulated one, if that is who it is about.
pub(crate) fn beliefs(
    life: &mut Life,
    context: &Context,
    sliders: &[Slider],
    user: Option<&SimulatedUser<'_>>,
) -> Result<Beliefs, UserError> {
    let mut person = life.user();
    let (posterior, mut scratch) = person.posterior_and_scratch();
    let mut believed = |direction: &Dense| -> Result<Belief, UserError> {
        let entries = direction.iter().enumerate().filter(|(_, weight)| **weight != 0.0);
        let estimate =
            posterior.contrast(&mut scratch, entries.map(|(index, weight)| (index, *weight as f32)))?;
        let truth =
            user.map(|user| direction.iter().zip(user.theta()).map(|(weight, theta)| weight * theta).sum());
        Ok(Belief {
            mean: f64::from(estimate.mean),
            sd: libm::sqrt(f64::from(estimate.variance.max(0.0))),
            truth,
        })
    };
    let directions = Directions::new(context);
    let values = directions
        .0
        .iter()
        .map(|values| values.iter().map(&mut believed).collect())
        .collect::<Result<_, _>>()?;
    let sliders =
        sliders.iter().map(|slider| believed(&directions.between(slider))).collect::<Result<_, _>>()?;

    let declared = (0..).map_while(|index| Comparison::declared(&AGENT, index));
    let truths =
        user.map_or_else(Vec::new, |user| declared.map(|comparison| user.contrast(&comparison)).collect());
    Ok(Beliefs { values, sliders, truths })
}

#[cfg(test)]
mod tests {
    use super::*;
    use fable_core::catalog::agent::{STYLE, Style};
    use fable_core::catalog::{Direction, When};
    use fable_core::journal::Command;
    use fable_core::{Feasible, HostUser, Policy, Request, Settings, Statement};

    const DETAILED_OR_CONCISE: Slider = (STYLE, Style::Detailed.index(), Style::Concise.index());

    fn newcomer() -> Life {
        let policy = Policy::new(&AGENT, Settings { seed: 1, ..Settings::PROBING }).unwrap();
        Life::of(HostUser::new(&policy, "ana").unwrap(), false)
    }

    /// A round with a reward that depends on the values chosen.
    fn round(life: &mut Life, context: &Context, reward: impl Fn(u16, &[u8]) -> f64) {
        let all = Feasible::all(&AGENT);
        let mut command = Command::decide(Request::new(context, &all));
        life.enact(&mut command).unwrap();
        let decision = command.decision(&life.user()).unwrap();
        let reward = reward(decision.action.0, &AGENT.values(decision.action).unwrap());
        life.enact(&mut Command::feedback(decision.id, reward)).unwrap();
    }

    /// The mean liking of a value, from scores instead of directions.
    #[test]
    fn a_value_is_liked_as_much_as_the_scores_say() {
        let mut life = newcomer();
        let context = Context::new(&AGENT, Some(3), &[0.9, 0.3, 0.6, 0.2]).unwrap();
        for _ in 0..30 {
            round(&mut life, &context, |action, _| f64::from(action % 3) - 1.0);
        }
        let believed = beliefs(&mut life, &context, &[DETAILED_OR_CONCISE], None).unwrap();
        let mut user = life.user();
        let mut residual = |action| {
            let score = user.predict(&context, action, None).unwrap();
            f64::from(score.mean - user.policy().baseline(&context, action, None))
        };
        let scores: Vec<_> = AGENT
            .all_actions()
            .iter()
            .map(|action| (AGENT.values(action).unwrap(), residual(action)))
            .collect();
        let mean = |keep: &dyn Fn(&[u8]) -> bool| {
            let kept: Vec<f64> =
                scores.iter().filter(|(values, _)| keep(values)).map(|(_, score)| *score).collect();
            kept.iter().sum::<f64>() / kept.len() as f64
        };
        let mut largest: f64 = 0.0;
        for (component, values) in believed.values.iter().enumerate() {
            for (value, belief) in values.iter().enumerate() {
                let expected = mean(&|values| usize::from(values[component]) == value) - mean(&|_| true);
                assert!((belief.mean - expected).abs() < 1e-5, "{component} {value}: {belief:?}, {expected}");
                largest = largest.max(expected.abs());
            }
        }
        assert!(largest > 0.01);
        let (component, left, right) = DETAILED_OR_CONCISE;
        let value = |value: u8| believed.values[usize::from(component)][usize::from(value)].mean;
        assert!((believed.sliders[0].mean - value(right) + value(left)).abs() < 1e-5);
    }

    #[test]
    fn behaviour_revises_what_was_stated() {
        let mut life = newcomer();
        let context = Context::new(&AGENT, None, &[0.3; 4]).unwrap();
        let (component, left, right) = DETAILED_OR_CONCISE;
        let direction =
            Direction::prefer(&AGENT, &[(component, right)], &[(component, left)], When::Always).unwrap();
        life.enact(&mut Command::onboard(&[Statement { direction, response: 1.0, precision: 16.0 }]))
            .unwrap();
        let slider =
            |life: &mut Life| beliefs(life, &context, &[DETAILED_OR_CONCISE], None).unwrap().sliders[0];
        let stated = slider(&mut life);
        assert!(stated.mean > 0.39, "{stated:?}");
        for _ in 0..60 {
            round(
                &mut life,
                &context,
                |_, values| if values[usize::from(STYLE)] == right { -0.8 } else { 0.4 },
            );
        }
        let revised = slider(&mut life);
        // Not to zero: what disappoints is hardly tried again, by an optimist even less often than by chance.
        assert!(revised.mean < 0.5 * stated.mean && revised.sd < stated.sd, "{stated:?} {revised:?}");
    }
}
