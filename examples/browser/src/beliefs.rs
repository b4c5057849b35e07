//! What a posterior says about single values, on the scale of rewards.
//!
//! How much a value is liked is w.theta, where w is the mean of the features over all actions that have the value, less the
//! mean over all actions. Single coordinates of theta are poorly determined, since many thetas give the same scores; such means
//! of scores are not.

use crate::AGENT;
use crate::answer::{Belief, Beliefs, ContrastBelief};
use crate::life::Life;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use fable_core::catalog::agent::{MEMORY, Memory, STYLE, Style, TOOL, Tool};
use fable_core::{Certifier, Comparison, Context, Direction, OnboardingError, Standing, Statement, UserError, When};
use fable_simulate::SimulatedUser;

/// How sure a stated preference is taken to be: as sure as four ordinary rewards make.
const PRECISION: f64 = 16.0;

/// "This value rather than that one": what a person can state before anything was tried.
pub(crate) struct Slider {
    /// The two ends, in words.
    pub(crate) ends: [&'static str; 2],
    component: u8,
    /// The values at the two ends.
    values: [u8; 2],
}

const fn slider(ends: [&'static str; 2], component: u8, values: [u8; 2]) -> Slider {
    Slider { ends, component, values }
}

/// The sliders of the page.
pub(crate) const SLIDERS: [Slider; 5] = [
    slider(["detailed", "concise"], STYLE, [Style::Detailed.index(), Style::Concise.index()]),
    slider(["direct", "step by step"], STYLE, [Style::Direct.index(), Style::StepByStep.index()]),
    slider(["no tool", "web search"], TOOL, [Tool::NoTool.index(), Tool::WebSearch.index()]),
    slider(["no tool", "ask me"], TOOL, [Tool::NoTool.index(), Tool::AskUser.index()]),
    slider(["no memory", "my preferences"], MEMORY, [Memory::NoMemory.index(), Memory::PreferenceMemory.index()]),
];

impl Slider {
    /// The statement of a slider that stands between -1, all for the left end, and 1.
    pub(crate) fn statement(&self, response: f64) -> Result<Statement, OnboardingError> {
        let [left, right] = self.values.map(|value| [(self.component, value)]);
        let direction = Direction::prefer(&AGENT, &right, &left, When::Always)?;
        Ok(Statement { direction, response, precision: PRECISION })
    }
}

/// A number per coordinate.
type Dense = Vec<f64>;

/// The direction w of every value of every component.
struct Directions(Vec<Vec<Dense>>);

impl Directions {
    fn new(context: &Context) -> Self {
        let zero = vec![0.0; AGENT.dimension()];
        let components = AGENT.definition().components;
        let mut directions: Vec<Vec<Dense>> =
            components.iter().map(|component| component.values.iter().map(|_| zero.clone()).collect()).collect();
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
        let value = |value: u8| self.0.get(usize::from(slider.component)).and_then(|values| values.get(usize::from(value)));
        let [left, right] = slider.values.map(value);
        right.into_iter().flatten().zip(left.into_iter().flatten()).map(|(right, left)| right - left).collect()
    }
}

/// Everything that is believed, in a context; `user` is the simulated one, if that is who it is about.
pub(crate) fn beliefs(life: &mut Life, context: &Context, user: Option<&SimulatedUser<'_>>) -> Result<Beliefs, UserError> {
    let mut person = life.user();
    let (posterior, mut scratch) = person.posterior_and_scratch();
    let mut believed = |direction: &Dense| -> Result<Belief, UserError> {
        let entries = direction.iter().enumerate().filter(|(_, weight)| **weight != 0.0);
        let estimate = posterior.contrast(&mut scratch, entries.map(|(index, weight)| (index, *weight as f32)))?;
        let truth = user.map(|user| direction.iter().zip(user.theta()).map(|(weight, theta)| weight * theta).sum());
        Ok(Belief { mean: f64::from(estimate.mean), sd: libm::sqrt(f64::from(estimate.variance.max(0.0))), truth })
    };
    let directions = Directions::new(context);
    let values = directions.0.iter().map(|values| values.iter().map(&mut believed).collect()).collect::<Result<_, _>>()?;
    let sliders = SLIDERS.iter().map(|slider| believed(&directions.between(slider))).collect::<Result<_, _>>()?;

    let mut contrasts = Vec::new();
    for (index, comparison) in (0..).map_while(|index| Some((index, Comparison::declared(&AGENT, index)?))) {
        let assessment = person.assess(&comparison)?;
        let promotion = person.profile().iter().find(|promotion| usize::from(promotion.contrast) == index).copied();
        let holds = match &promotion {
            Some(promotion) => person.standing(promotion)? == Standing::Holds,
            None => false,
        };
        let trial = person.trial(index)?;
        contrasts.push(ContrastBelief {
            mean: assessment.mean,
            sd: assessment.sd,
            lower: assessment.lower,
            upper: assessment.upper,
            probability: assessment.probability,
            evidence: assessment.evidence,
            missing: assessment.gap.rounds,
            promoted: promotion.map_or(0, |promotion| promotion.verdict.sign()),
            since: promotion.map_or(0, |promotion| promotion.round),
            by_coins: promotion.is_some_and(|promotion| promotion.by == Certifier::Coins),
            holds,
            trials: trial.trials,
            e_value: trial.e_value,
            needed: trial.needed,
            average: [trial.average.mean, trial.average.lower, trial.average.upper],
            certified: trial.certified.sign(),
            truth: user.map(|user| user.contrast(&comparison)),
        });
    }
    let mut profile = String::new();
    person.write_profile(&mut profile)?;
    let (rounds, observations, incarnation) = (person.rounds(), person.observations(), person.incarnation());
    Ok(Beliefs { rounds, observations, incarnation, values, sliders, contrasts, profile })
}

#[cfg(test)]
mod tests {
    use super::*;
    use fable_core::Feasible;

    /// The mean liking of a value, from scores instead of directions.
    #[test]
    fn a_value_is_liked_as_much_as_the_scores_say() {
        let mut life = Life::new("ana", 1).unwrap();
        let context = Context::new(&AGENT, Some(3), &[0.9, 0.3, 0.6, 0.2]).unwrap();
        for _ in 0..30 {
            let (chosen, _) = life.decide(&context, &Feasible::all(&AGENT)).unwrap();
            life.learn(chosen.id, f64::from(chosen.action.0 % 3) - 1.0).unwrap();
        }
        let believed = beliefs(&mut life, &context, None).unwrap();
        let mut user = life.user();
        let mut residual = |action| {
            let score = user.predict(&context, action, None).unwrap();
            f64::from(score.mean - user.policy().baseline(&context, action, None))
        };
        let scores: Vec<_> = AGENT.all_actions().iter().map(|action| (AGENT.values(action).unwrap(), residual(action))).collect();
        let mean = |keep: &dyn Fn(&[u8]) -> bool| {
            let kept: Vec<f64> = scores.iter().filter(|(values, _)| keep(values)).map(|(_, score)| *score).collect();
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
        for (slider, belief) in SLIDERS.iter().zip(&believed.sliders) {
            let value = |value: u8| believed.values[usize::from(slider.component)][usize::from(value)].mean;
            assert!((belief.mean - value(slider.values[1]) + value(slider.values[0])).abs() < 1e-5);
        }
    }

    #[test]
    fn behaviour_revises_what_was_stated() {
        let mut life = Life::new("ana", 1).unwrap();
        let context = Context::new(&AGENT, None, &[0.3; 4]).unwrap();
        life.state(SLIDERS[0].statement(1.0).unwrap()).unwrap();
        let stated = beliefs(&mut life, &context, None).unwrap().sliders[0];
        assert!(stated.mean > 0.39, "{stated:?}");
        for _ in 0..60 {
            let (chosen, _) = life.decide(&context, &Feasible::all(&AGENT)).unwrap();
            let style = AGENT.values(chosen.action).unwrap()[usize::from(STYLE)];
            let reward = if style == Style::Concise.index() { -0.8 } else { 0.4 };
            life.learn(chosen.id, reward).unwrap();
        }
        let revised = beliefs(&mut life, &context, None).unwrap().sliders[0];
        // Not to zero: what disappoints is hardly tried again, by an optimist even less often than by chance.
        assert!(revised.mean < 0.5 * stated.mean && revised.sd < stated.sd, "{stated:?} {revised:?}");
    }
}
