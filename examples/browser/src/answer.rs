//! What the page is told beyond what the package tells. Each answer is written with postcard, field after field, and
//! `www/people.js` reads it in the same order.

use alloc::string::String;
use alloc::vec::Vec;
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
