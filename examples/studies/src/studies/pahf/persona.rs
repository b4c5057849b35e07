//! What simulated personas have in common: two environments with four kinds of requests, statements and what is measured.

use crate::draw::chance;
use fable_core::catalog::agent::{AGENT, Style, Tool};
use fable_core::catalog::{ContextError, Direction, OnboardingError, When};
use fable_core::{Action, Context, Statement};
use fable_simulate::Random;

/// Where a persona lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Environment {
    Embodied,
    Shopping,
}

pub const ENVIRONMENTS: [(Environment, &str); 2] =
    [(Environment::Embodied, "embodied"), (Environment::Shopping, "shopping")];

/// A kind of request: its task and its signals risk, ambiguity, memory need and tool need.
type Kind = (&'static str, [f32; 4]);

/// Fetch what I like, set things up, repair something, suggest something.
const EMBODIED: [Kind; 4] = [
    ("simple_preference", [0.2, 0.2, 0.7, 0.2]),
    ("planning", [0.3, 0.5, 0.4, 0.3]),
    ("troubleshooting", [0.7, 0.3, 0.2, 0.6]),
    ("recommendation", [0.1, 0.7, 0.6, 0.2]),
];
/// Suggest something, the usual, compare, look something up.
const SHOPPING: [Kind; 4] = [
    ("recommendation", [0.3, 0.4, 0.7, 0.6]),
    ("simple_preference", [0.2, 0.2, 0.6, 0.3]),
    ("analysis", [0.4, 0.3, 0.3, 0.8]),
    ("factual", [0.1, 0.1, 0.1, 0.7]),
];

/// The number of values of each component of `agent`.
pub const SIZES: [usize; 3] = [5, 6, 6];

/// Memory, tool and style.
pub type Target = [u8; 3];

pub fn target(action: Action) -> Target {
    let values = AGENT.values(action).unwrap_or_default();
    std::array::from_fn(|component| values.get(component).copied().unwrap_or_default())
}

/// The contexts of the four kinds of requests.
pub fn contexts(environment: Environment) -> Result<Vec<Context>, ContextError> {
    let kinds = if environment == Environment::Embodied { EMBODIED } else { SHOPPING };
    kinds.iter().map(|(task, signals)| Context::new(&AGENT, Some(AGENT.task(task)?), signals)).collect()
}

/// What came of a round.
#[derive(Clone, Copy, Debug, Default)]
pub struct Round {
    /// With costs.
    pub reward: f64,
    /// Without them.
    pub free: f64,
    /// Whether each component is what fits best.
    pub components: [f64; 3],
    /// Whether all three are.
    pub success: f64,
    /// Whether there was nothing to correct.
    pub done: f64,
}

impl Round {
    /// A round with this reward before costs.
    pub fn new(free: f64, action: Action, components: [f64; 3], done: bool) -> Self {
        Self {
            reward: (free - AGENT.cost(action)).clamp(-1.0, 1.0),
            free: free.clamp(-1.0, 1.0),
            components,
            success: components.iter().product(),
            done: f64::from(u8::from(done)),
        }
    }
}

/// A simulated person.
pub trait Persona {
    /// What the persona says it likes.
    fn said(&self) -> Target;

    /// The mean reward of an action for a kind of request, before it is clipped; `located` if a location is asked for.
    fn expected(&self, kind: usize, located: bool, action: Action) -> f64;

    /// What comes of an action.
    fn react(&self, kind: usize, located: bool, action: Action, random: &mut Random) -> Round;

    /// "I like this memory, this tool and this style": response 1, precision 4 each.
    fn statements(&self) -> Result<Vec<Statement>, OnboardingError> {
        let likes = (0..).zip(self.said()).map(|(component, value)| {
            let direction = Direction::prefer(&AGENT, &[(component, value)], &[], When::Always)?;
            Ok(Statement { direction, response: 1.0, precision: 4.0 })
        });
        likes.collect()
    }
}

/// Any values.
pub fn any(random: &mut Random) -> Target {
    SIZES.map(|size| random.below(size) as u8)
}

/// A quarter of what people say they like is something else.
pub fn mostly(random: &mut Random, favourite: Target) -> Target {
    let other = any(random);
    std::array::from_fn(|component| {
        let wrong = chance(random, 0.25);
        if wrong { other[component] } else { favourite[component] }
    })
}

/// Which components of an action are wanted.
pub fn fits(wanted: &Target, action: Action) -> [f64; 3] {
    let chosen = target(action);
    std::array::from_fn(|component| f64::from(u8::from(wanted[component] == chosen[component])))
}

/// 0.08 for a question to the user.
pub fn asked(action: Action) -> f64 {
    let [_, tool, style] = target(action);
    if tool == Tool::AskUser.index() || style == Style::AskClarification.index() { 0.08 } else { 0.0 }
}
