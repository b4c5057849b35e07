//! Answers, one line of JSON each.

use super::backup::Backup;
use super::read::Read;
use super::refusal::Refusal;
use crate::catalogs::{self, lookup};
use crate::memory::Exchange;
use crate::store::wishes::Wishes;
use crate::text::{Constraint, wording};
use fable_core::catalog::{ContrastSet, StandingRule};
use fable_core::explain::{Explanation, Source};
use fable_core::journal::Scores;
use fable_core::preference::{Assessment, ProbeOutcome, Standing, Trial};
use fable_core::{Action, Catalog, Decision, DecisionId, Promotion, Scalar};
use serde::{Serialize, Serializer};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

/// `{"error":{"code":"...","message":"..."}}`
#[derive(Serialize)]
struct ErrorLine<'f> {
    error: &'f Refusal,
}

/// The answer to one request as a line, without its end; every answer is an object with at least one field.
pub(super) fn line(id: Option<&RawValue>, answer: Result<&impl Serialize, &Refusal>) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(256);
    if let Some(id) = id {
        bytes.extend_from_slice(b"{\"id\":");
        bytes.extend_from_slice(id.get().as_bytes());
    }
    let body = bytes.len();
    let _ = match answer {
        Ok(answer) => serde_json::to_writer(&mut bytes, answer),
        Err(error) => serde_json::to_writer(&mut bytes, &ErrorLine { error }),
    }; // writing to memory cannot fail
    if id.is_some()
        && let Some(brace) = bytes.get_mut(body)
    {
        *brace = b',';
    }
    bytes
}

/// The names and instructions of a catalog, ready to be written.
#[derive(Debug)]
pub(super) struct Labels {
    actions: Vec<Box<RawValue>>,
    instructions: Vec<Box<RawValue>>,
    coordinates: Vec<String>,
    contrasts: Vec<String>,
}

impl Labels {
    pub(super) fn new(catalog: &Catalog<'_>) -> Self {
        let raw = |value: &Value| to_raw_value(value).unwrap_or_default();
        let actions = || (0..).take(catalog.actions()).map(Action);
        let instruction = |action| {
            let mut text = String::new();
            let _ = catalog.instruct(action, &mut text); // writing to a String cannot fail
            raw(&text.into())
        };
        let coordinates = (0..catalog.dimension()).filter_map(|index| catalog.coordinate_name(index));
        Self {
            actions: actions().map(|action| raw(&catalogs::action(catalog, action))).collect(),
            instructions: actions().map(instruction).collect(),
            coordinates: coordinates.map(|name| name.to_string()).collect(),
            contrasts: catalog.contrasts().iter().map(|contrast| contrast.name.to_owned()).collect(),
        }
    }

    pub(super) fn contrast(&self, contrast: usize) -> &str {
        self.contrasts.get(contrast).map_or("", String::as_str)
    }

    fn action(&self, action: Action) -> Option<&RawValue> {
        self.actions.get(action.index()).map(|action| &**action)
    }

    fn instruction(&self, action: Action) -> Option<&RawValue> {
        self.instructions.get(action.index()).map(|instruction| &**instruction)
    }
}

/// What a request that was not refused gets.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Answer<'w> {
    Accepted {
        accepted: usize,
    },
    Decided(Decided<'w>),
    Recommended(Recommended<'w>),
    Learned {
        observations: u32,
        /// Whether this reward was the one that a change is noticed by.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        changed: bool,
    },
    Waiting {
        waiting: Vec<String>,
    },
    Posterior {
        rounds: u32,
        observations: u32,
        mean: Coordinates<'w>,
        sd: Coordinates<'w>,
        log_det_ratio: f64,
    },
    Promoted {
        promoted: u32,
    },
    Contrast(Contrasted),
    Explained(Explained<'w>),
    Profile {
        profile: Vec<Promoted<'w>>,
        text: String,
    },
    Wished(Wished),
    Remembered {
        remembered: bool,
        /// How many are kept.
        exchanges: usize,
    },
    Recalled {
        text: String,
        exchanges: Vec<Exchange>,
    },
    Memories {
        memory: &'static str,
        exchanges: Vec<Exchange>,
    },
    Unremembered {
        /// How many are not kept any more.
        unremembered: usize,
    },
    Forgotten {
        forgotten: bool,
    },
    Exported {
        export: Option<String>,
    },
    Backup(Backup),
    Read(Read),
    Stats(Stats<'w>),
}

#[derive(Serialize)]
pub(super) struct Decided<'w> {
    #[serde(serialize_with = "display")]
    decision: DecisionId,
    action: Option<&'w RawValue>,
    instruction: Option<&'w RawValue>,
    explored: bool,
    score: f64,
    sampled_score: f64,
    feasible: usize,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    probes: Vec<Probed<'w>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    propensity: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    propensities: Option<Vec<f64>>,
}

#[derive(Serialize)]
pub(super) struct Recommended<'w> {
    action: Option<&'w RawValue>,
    instruction: Option<&'w RawValue>,
    score: f64,
    feasible: usize,
}

/// A coin, and how it fell.
#[derive(Serialize)]
struct Probed<'w> {
    contrast: &'w str,
    preferred: bool,
    expected: f64,
}

/// How probable what was chosen was: of the action alone, and of all.
#[derive(Default)]
pub(super) struct Chances {
    pub(super) own: Option<f64>,
    pub(super) all: Option<Vec<f64>>,
}

impl Labels {
    pub(super) fn decided(
        &self,
        decision: &Decision,
        scores: &Scores,
        feasible: usize,
        probes: impl Iterator<Item = ProbeOutcome>,
        chances: Chances,
    ) -> Decided<'_> {
        let Decision { id, action, .. } = *decision;
        let Scores { score, sampled_score, explored } = *scores;
        let probe = |ProbeOutcome { contrast, preferred, expected }| Probed {
            contrast: self.contrast(contrast.into()),
            preferred,
            expected: expected.into(),
        };
        Decided {
            decision: id,
            action: self.action(action),
            instruction: self.instruction(action),
            explored,
            score,
            sampled_score,
            feasible,
            probes: probes.map(probe).collect(),
            propensity: chances.own,
            propensities: chances.all,
        }
    }

    pub(super) fn recommended(&self, action: Action, score: f64, feasible: usize) -> Recommended<'_> {
        Recommended { action: self.action(action), instruction: self.instruction(action), score, feasible }
    }

    /// The names of some contrasts.
    fn contrasts(&self, contrasts: &ContrastSet) -> Vec<&str> {
        contrasts.iter().map(|contrast| self.contrast(contrast)).collect()
    }

    pub(super) fn coordinates(&self, numbers: Vec<f64>) -> Coordinates<'_> {
        Coordinates { names: &self.coordinates, numbers }
    }

    pub(super) fn explained<T: Scalar>(&self, why: &Explanation<'_, T>) -> Explained<'_> {
        let name = |coordinate: Option<usize>| {
            coordinate.and_then(|index| self.coordinates.get(index)).map(String::as_str)
        };
        let shares = why.shares().map(|share| Shared {
            part: match share.source {
                Source::Default => "default",
                Source::Cost => "cost",
                Source::Block(_) => "block",
                Source::Draw => "draw",
                Source::Bonus => "bonus",
            },
            chosen: share.chosen,
            other: share.other,
            chosen_coordinate: name(share.chosen_coordinate),
            other_coordinate: name(share.other_coordinate),
        });
        Explained {
            chosen: self.action(why.chosen),
            intended: if why.probed.is_empty() { None } else { self.action(why.intended) },
            probed: self.contrasts(&why.probed),
            other: self.action(why.other),
            feasible: why.feasible,
            rule: why.stopped_by_catalog().map(|rule| rule.name.to_owned()),
            explored: why.explored,
            chosen_score: why.chosen_score,
            other_score: why.other_score,
            shares: shares.collect(),
        }
    }
}

impl Explained<'_> {
    /// Says which of the user's own rules removed the other action, if none of the catalog did.
    pub(super) fn name_rule(&mut self, own: Option<String>) {
        if !self.feasible {
            self.rule = self.rule.take().or(own);
        }
    }
}

fn display<S: Serializer>(id: &DecisionId, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(id)
}

/// A number per coordinate, by name.
pub(super) struct Coordinates<'w> {
    names: &'w [String],
    numbers: Vec<f64>,
}

impl Serialize for Coordinates<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.names.iter().zip(&self.numbers))
    }
}

#[derive(Serialize)]
pub(super) struct Contrasted {
    mean: f64,
    sd: f64,
    probability: f64,
    lower: f64,
    upper: f64,
    beta: f64,
    evidence: u32,
    valid: bool,
    promoted: i8,
    #[serde(skip_serializing_if = "Option::is_none")]
    identifiable: Option<bool>,
    #[serde(flatten)]
    trial: Option<Tried>,
}

impl Contrasted {
    pub(super) fn new(assessment: Assessment, trial: Option<Trial>, identifiable: Option<bool>) -> Self {
        let Assessment { mean, sd, probability, lower, upper, beta, evidence, valid, verdict, .. } =
            assessment;
        let trial = trial.map(Tried::from);
        Self {
            mean,
            sd,
            probability,
            lower,
            upper,
            beta,
            evidence,
            valid,
            promoted: verdict.sign(),
            identifiable,
            trial,
        }
    }
}

/// What coins have shown.
#[derive(Serialize)]
struct Tried {
    trials: u16,
    e_value: f64,
    needed: f64,
    average: Average,
    certified: i8,
}

#[derive(Serialize)]
struct Average {
    mean: f64,
    lower: f64,
    upper: f64,
}

impl From<Trial> for Tried {
    fn from(trial: Trial) -> Self {
        let Trial { trials, e_value, needed, average, certified, .. } = trial;
        let average = Average { mean: average.mean, lower: average.lower, upper: average.upper };
        Self { trials, e_value, needed, average, certified: certified.sign() }
    }
}

#[derive(Serialize)]
pub(super) struct Explained<'w> {
    chosen: Option<&'w RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    intended: Option<&'w RawValue>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    probed: Vec<&'w str>,
    other: Option<&'w RawValue>,
    feasible: bool,
    /// What removed the other action, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<String>,
    explored: bool,
    chosen_score: f64,
    other_score: f64,
    shares: Vec<Shared<'w>>,
}

#[derive(Serialize)]
struct Shared<'w> {
    part: &'static str,
    chosen: f64,
    other: f64,
    chosen_coordinate: Option<&'w str>,
    other_coordinate: Option<&'w str>,
}

#[derive(Serialize)]
pub(super) struct Promoted<'w> {
    contrast: &'w str,
    verdict: i8,
    standing: &'static str,
    sentence: String,
    by: &'static str,
    valid: bool,
    round: u32,
    at: u32,
    evidence: u32,
    lower: f64,
    upper: f64,
    #[serde(flatten)]
    trial: Tried,
}

impl<'w> Promoted<'w> {
    pub(super) fn new(
        catalog: &Catalog<'_>,
        contrast: &'w str,
        promotion: &Promotion,
        standing: Standing,
        trial: Trial,
    ) -> Self {
        let sentence = wording::promotion(catalog, promotion);
        let Promotion { verdict, valid, round, time: at, evidence, lower, upper, .. } = *promotion;
        let (standing, by) = (wording::standing(standing), wording::certifier(promotion.by));
        let (lower, upper) = (f64::from(lower), f64::from(upper));
        let (verdict, trial) = (verdict.sign(), trial.into());
        Self { contrast, verdict, standing, sentence, by, valid, round, at, evidence, lower, upper, trial }
    }
}

/// What a user wishes, and the rules of the catalog.
#[derive(Serialize)]
pub(super) struct Wished {
    rules: Vec<Ruled>,
    catalog: Vec<Declared>,
    layer: bool,
    memory: Option<bool>,
}

/// A rule as the ops `forbid` and `require` take it.
#[derive(Serialize)]
pub(super) struct Ruled {
    effect: &'static str,
    values: Vec<String>,
    when: Option<String>,
    words: String,
}

#[derive(Serialize)]
struct Declared {
    name: String,
    effect: &'static str,
    values: Vec<String>,
    when: Option<String>,
}

impl Ruled {
    pub(super) fn new(catalog: &Catalog<'_>, rule: &Constraint) -> Self {
        Self {
            effect: lookup::effect_name(rule.effect),
            values: lookup::value_names(catalog, &rule.part()),
            when: lookup::when_name(catalog, rule.when),
            words: rule.words.clone(),
        }
    }
}

impl Wished {
    pub(super) fn new(catalog: &Catalog<'_>, wishes: &Wishes) -> Self {
        let declared = |standing: &StandingRule<'_>| Declared {
            name: standing.rule.name.to_owned(),
            effect: lookup::effect_name(standing.rule.effect),
            values: standing
                .rule
                .pattern
                .iter()
                .flat_map(|part| lookup::value_names(catalog, part))
                .collect(),
            when: lookup::condition_name(catalog, standing.when),
        };
        Self {
            rules: wishes.rules.iter().map(|rule| Ruled::new(catalog, rule)).collect(),
            catalog: catalog.rules().iter().map(declared).collect(),
            layer: wishes.layer,
            memory: wishes.memory,
        }
    }
}

#[derive(Serialize)]
pub(super) struct Stats<'w> {
    pub(super) catalog: &'w str,
    pub(super) dimension: usize,
    pub(super) scalar: &'static str,
    /// Fingerprint of those who begin now, if they begin with a fitted prior.
    pub(super) prior: Option<String>,
    /// How often a coin is tossed.
    pub(super) probe: f64,
    pub(super) users: u64,
    /// Users of whom something is known to be damaged.
    pub(super) damaged: u64,
    pub(super) cached: u64,
    pub(super) cached_bytes: u64,
    pub(super) requests: u64,
    pub(super) errors: u64,
    pub(super) events: u64,
    /// Users who seemed to have changed since the service was started, as often as they did.
    pub(super) changes: u64,
    pub(super) bytes: u64,
}
