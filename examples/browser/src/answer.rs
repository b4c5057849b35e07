//! What the page is told. Each answer is written with postcard, field after field, and `www/fable.js` reads it in the same
//! order. Actions, values and switches are positions in the catalog and in the list of switches.

use crate::beliefs::SLIDERS;
use crate::{AGENT, PERMISSIONS};
use alloc::string::String;
use alloc::vec::Vec;
use fable_simulate::scenarios;
use serde::Serialize;

/// What does not change: names, texts, lists.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Words {
    /// The components in order.
    pub components: Vec<ComponentWords>,
    /// The signals of a context.
    pub signals: &'static [&'static str],
    /// The switches.
    pub permissions: [&'static str; PERMISSIONS.len()],
    /// The onboarding sliders, each with its left and right end.
    pub sliders: Vec<[&'static str; 2]>,
    /// Requests to choose from.
    pub requests: Vec<&'static str>,
    /// The declared contrasts.
    pub contrasts: Vec<ContrastWords>,
}

/// A component and its values.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ComponentWords {
    /// Its name.
    pub name: &'static str,
    /// Its values.
    pub values: Vec<&'static str>,
}

/// A contrast in words.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ContrastWords {
    /// Its name.
    pub name: &'static str,
    /// What is said when it is positive.
    pub positive: &'static str,
    /// What is said when it is negative.
    pub negative: &'static str,
}

impl Words {
    /// Those of this page.
    #[must_use]
    pub fn new() -> Self {
        let definition = AGENT.definition();
        let components = definition.components.iter().map(|component| ComponentWords {
            name: component.name,
            values: component.values.iter().map(|value| value.name).collect(),
        });
        let contrasts = AGENT.contrasts().iter().map(|contrast| ContrastWords {
            name: contrast.name,
            positive: contrast.positive,
            negative: contrast.negative,
        });
        Self {
            components: components.collect(),
            signals: definition.signals,
            permissions: PERMISSIONS.map(|rule| rule.name),
            sliders: SLIDERS.iter().map(|slider| slider.ends).collect(),
            requests: scenarios(&AGENT).iter().map(|scenario| scenario.text).collect(),
            contrasts: contrasts.collect(),
        }
    }
}

impl Default for Words {
    fn default() -> Self {
        Self::new()
    }
}

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

/// What may be chosen.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Allowed {
    /// Number of actions that are left.
    pub count: usize,
    /// For each action the switch that removes it.
    pub removed_by: Vec<Option<usize>>,
}

/// What was chosen.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Decided {
    /// The round, from 1.
    pub round: u32,
    /// The action.
    pub action: u16,
    /// Its values.
    pub values: Vec<u8>,
    /// What the assistant is told.
    pub instruction: String,
    /// The mean of its score.
    pub score: f64,
    /// The score it was chosen for: the mean and the bonus for what is uncertain.
    pub sampled_score: f64,
    /// Whether another action has a higher mean.
    pub explored: bool,
    /// Number of actions to choose from.
    pub feasible: usize,
    /// The coins that were tossed, to be sure.
    pub probes: Vec<Tossed>,
}

/// A coin and how it fell.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Tossed {
    /// The contrast it was tossed for.
    pub contrast: u8,
    /// Whether the value that the contrast prefers is played.
    pub preferred: bool,
}

/// Why it was chosen and not the other one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Why {
    /// Whether coins play something else than what was chosen before they fell.
    pub turned: bool,
    /// The other action.
    pub other: u16,
    /// Its values.
    pub other_values: Vec<u8>,
    /// The switch that removed the other one.
    pub removed_by: Option<usize>,
    /// What the two were compared by.
    pub scores: [f64; 2],
    /// Whether another feasible action has a higher mean score than the one chosen.
    pub explored: bool,
    /// What the scores are made of; the shares add up to them.
    pub shares: Vec<Share>,
}

/// A part of the two scores.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Share {
    /// What it is for the action chosen.
    pub chosen_words: String,
    /// What it is for the other one.
    pub other_words: String,
    /// What it adds to the one.
    pub chosen: f64,
    /// What it adds to the other.
    pub other: f64,
}

/// A reaction that was learned.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Reacted {
    /// The reward.
    pub reward: f64,
    /// In words, if the simulated user gave it.
    pub said: Option<String>,
    /// Preferences that it has promoted.
    pub promoted: u32,
    /// Whether it is the one by which the user seems to have changed.
    pub changed: bool,
    /// Mean rewards in this round, if the user is the simulated one.
    pub race: Option<Race>,
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
    /// Decisions made.
    pub rounds: u32,
    /// Rewards learned.
    pub observations: u32,
    /// Times forgotten.
    pub incarnation: u32,
    /// Of every component every value.
    pub values: Vec<Vec<Belief>>,
    /// Of every onboarding slider.
    pub sliders: Vec<Belief>,
    /// Of every declared contrast.
    pub contrasts: Vec<ContrastBelief>,
    /// What the assistant's prompt says about the person.
    pub profile: String,
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

/// How a contrast stands.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ContrastBelief {
    /// Its mean.
    pub mean: f64,
    /// Its standard deviation.
    pub sd: f64,
    /// Lower end of the interval that holds for all time.
    pub lower: f64,
    /// Upper end.
    pub upper: f64,
    /// How sure the posterior is that it is positive.
    pub probability: f64,
    /// Rewards that bear on it.
    pub evidence: u32,
    /// About how many more such rewards it takes to be sure.
    pub missing: Option<u32>,
    /// -1 or 1 when it is promoted.
    pub promoted: i8,
    /// The round of its promotion.
    pub since: u32,
    /// Whether it was promoted by coins, and not by the interval that holds for all time.
    pub by_coins: bool,
    /// Whether its interval still is on its side, or its coins still speak for it.
    pub holds: bool,
    /// Coins that had their reward.
    pub trials: u16,
    /// What they have shown: 1 at the start.
    pub e_value: f64,
    /// What it takes.
    pub needed: f64,
    /// The average difference of rewards over the coins, and its interval's ends.
    pub average: [f64; 3],
    /// -1 or 1 when coins have certified it.
    pub certified: i8,
    /// What it truly is, if the user is the simulated one.
    pub truth: Option<f64>,
}
