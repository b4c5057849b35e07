//! What the page is told beyond what the package tells. Each answer is written with postcard, field after field, and
//! `www/people.js` reads it in the same order.

use alloc::string::String;
use alloc::vec::Vec;
use fable_core::Context;
use fable_js::AGENT;
use serde::Serialize;

/// A request as the learner sees it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Asked {
    /// The request.
    pub text: String,
    /// Its task, if it is one of the catalog's.
    pub task: Option<&'static str>,
    /// Its signals.
    pub signals: Vec<f32>,
}

impl Asked {
    pub(crate) fn new(text: String, context: &Context) -> Self {
        let task = context.task().and_then(|task| AGENT.definition().tasks.get(task).copied());
        Self { text, task, signals: context.signals().to_vec() }
    }
}

/// How the simulated user took an action.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Responded {
    /// The reward.
    pub reward: f64,
    /// In words.
    pub said: String,
    /// Mean rewards in this round.
    pub race: Race,
}

/// Mean rewards of what is chosen in a round on the simulated user.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Race {
    /// By this learner.
    pub fable: f64,
    /// By the flat one.
    pub flat: f64,
    /// By the rules alone.
    pub rules: f64,
    /// By somebody who knows the user.
    pub best: f64,
}

/// What coins have shown about a declared contrast.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Wealth {
    /// Coins with a reward.
    pub coins: u16,
    /// What the bets have made of 1.
    pub wealth: f64,
    /// What it takes.
    pub needed: f64,
    /// The side that is certified: 1 for, -1 against, 0 neither.
    pub certified: i8,
}

/// What is believed about a person.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Beliefs {
    /// Of every component every value.
    pub values: Vec<Vec<Belief>>,
    /// Of every slider.
    pub sliders: Vec<Belief>,
    /// What every declared contrast truly is, if the user is the simulated one.
    pub truths: Vec<f64>,
}

/// A number that is believed, on the scale of rewards.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Belief {
    /// Its mean.
    pub mean: f64,
    /// Its standard deviation.
    pub sd: f64,
    /// What it truly is, if the user is the simulated one.
    pub truth: Option<f64>,
}
