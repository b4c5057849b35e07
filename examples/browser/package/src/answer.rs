//! What JavaScript is told, with the fields of `fable serve`. Each answer is written with postcard, field after field, and
//! `module.js` reads it in the same order. Actions, values and contrasts are positions in the catalog.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use fable_core::explain::{Explanation, Source};
use fable_core::journal::Scores;
use fable_core::preference::{Assessment, ProbeOutcome, Standing, Trial};
use fable_core::{Catalog, Decision, Promotion};
use fable_text::wording;
use serde::Serialize;

/// What does not change about a catalog: names, texts, lists.
#[derive(Serialize)]
pub(crate) struct Words {
    name: &'static str,
    components: Vec<ComponentWords>,
    tasks: &'static [&'static str],
    signals: &'static [&'static str],
    blocks: Vec<BlockWords>,
    contrasts: Vec<ContrastWords>,
    rules: Vec<&'static str>,
    dimension: usize,
    actions: usize,
}

#[derive(Serialize)]
struct ComponentWords {
    name: &'static str,
    null: Option<u8>,
    /// Name, instruction and cost.
    values: Vec<(&'static str, &'static str, f64)>,
}

#[derive(Serialize)]
struct BlockWords {
    of: Vec<u8>,
    per_task: bool,
    scaled_by: Option<u8>,
    without_null: bool,
}

#[derive(Serialize)]
struct ContrastWords {
    name: &'static str,
    positive: &'static str,
    negative: &'static str,
    task: Option<u8>,
    signals: &'static [f32],
    prefer: &'static [u8],
    over: &'static [u8],
}

impl Words {
    pub(crate) fn new(catalog: &Catalog<'static>) -> Self {
        let definition = catalog.definition();
        let components = definition.components.iter().map(|component| ComponentWords {
            name: component.name,
            null: component.null,
            values: component
                .values
                .iter()
                .map(|value| (value.name, value.instruction, value.cost))
                .collect(),
        });
        let blocks = definition.blocks.iter().map(|block| BlockWords {
            of: (0..).take(definition.components.len()).filter(|component| block.has(*component)).collect(),
            per_task: block.is_per_task(),
            scaled_by: block.signal(),
            without_null: block.is_without_null(),
        });
        let contrasts = definition.contrasts.iter().map(|contrast| ContrastWords {
            name: contrast.name,
            positive: contrast.positive,
            negative: contrast.negative,
            task: contrast.task,
            signals: contrast.signals,
            prefer: contrast.prefer,
            over: contrast.over,
        });
        Self {
            name: definition.name,
            components: components.collect(),
            tasks: definition.tasks,
            signals: definition.signals,
            blocks: blocks.collect(),
            contrasts: contrasts.collect(),
            rules: definition.rules.iter().map(|standing| standing.rule.name).collect(),
            dimension: catalog.dimension(),
            actions: catalog.actions(),
        }
    }
}

/// What a user has been through.
#[derive(Serialize)]
pub(crate) struct Facts {
    pub(crate) number: u64,
    pub(crate) rounds: u32,
    pub(crate) observations: u32,
    pub(crate) incarnation: u32,
}

#[derive(Serialize)]
pub(crate) struct Decided {
    pub(crate) decision: String,
    pub(crate) action: u16,
    pub(crate) instruction: String,
    pub(crate) explored: bool,
    pub(crate) score: f64,
    pub(crate) sampled_score: f64,
    pub(crate) feasible: usize,
    /// What the reward is compared with.
    pub(crate) baseline: f64,
    pub(crate) probes: Vec<(u8, bool, f64)>,
    pub(crate) propensity: Option<f64>,
    pub(crate) propensities: Option<Vec<f64>>,
}

impl Decided {
    pub(crate) fn new(
        catalog: &Catalog<'_>,
        decision: &Decision,
        scores: &Scores,
        probes: impl Iterator<Item = ProbeOutcome>,
    ) -> Self {
        let probe =
            |ProbeOutcome { contrast, preferred, expected }| (contrast, preferred, f64::from(expected));
        Self {
            decision: decision.id.to_string(),
            action: decision.action.0,
            instruction: instruction(catalog, decision.action),
            explored: scores.explored,
            score: scores.score,
            sampled_score: scores.sampled_score,
            feasible: 0,
            baseline: decision.baseline,
            probes: probes.map(probe).collect(),
            propensity: None,
            propensities: None,
        }
    }
}

/// What an action tells the assistant.
pub(crate) fn instruction(catalog: &Catalog<'_>, action: fable_core::Action) -> String {
    let mut text = String::new();
    let _ = catalog.instruct(action, &mut text); // a string takes everything
    text
}

#[cfg(feature = "full")]
#[derive(Serialize)]
pub(crate) struct Recommended {
    pub(crate) action: u16,
    pub(crate) instruction: String,
    pub(crate) score: f64,
    pub(crate) feasible: usize,
}

#[derive(Serialize)]
pub(crate) struct Learned {
    pub(crate) observations: u32,
    pub(crate) changed: bool,
    /// Preferences that the reward has promoted.
    pub(crate) promoted: u32,
}

#[derive(Serialize)]
pub(crate) struct Explained {
    chosen: u16,
    intended: u16,
    probed: Vec<u8>,
    other: u16,
    feasible: bool,
    rule: Option<String>,
    explored: bool,
    chosen_score: f64,
    other_score: f64,
    shares: Vec<Shared>,
}

#[derive(Serialize)]
struct Shared {
    part: &'static str,
    chosen: f64,
    other: f64,
    chosen_coordinate: Option<String>,
    other_coordinate: Option<String>,
}

impl Explained {
    pub(crate) fn new(catalog: &Catalog<'_>, why: &Explanation<'_, f32>) -> Self {
        let name = |coordinate: Option<usize>| {
            coordinate.and_then(|index| catalog.coordinate_name(index)).map(|name| name.to_string())
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
        Self {
            chosen: why.chosen.0,
            intended: why.intended.0,
            probed: why.probed.iter().map(|contrast| contrast as u8).collect(),
            other: why.other.0,
            feasible: why.feasible,
            rule: why.stopped_by_catalog().map(|rule| rule.name.into()),
            explored: why.explored,
            chosen_score: why.chosen_score,
            other_score: why.other_score,
            shares: shares.collect(),
        }
    }
}

#[derive(Serialize)]
pub(crate) struct Contrasted {
    mean: f64,
    sd: f64,
    probability: f64,
    lower: f64,
    upper: f64,
    beta: f64,
    evidence: u32,
    valid: bool,
    promoted: i8,
    /// About how many more rewards it takes.
    missing: Option<u32>,
    trial: Option<Tried>,
}

impl Contrasted {
    pub(crate) fn new(assessment: Assessment, trial: Option<Trial>) -> Self {
        let Assessment { mean, sd, probability, lower, upper, beta, evidence, valid, verdict, gap, .. } =
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
            missing: gap.rounds,
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
    /// Mean, lower and upper end.
    average: [f64; 3],
    certified: i8,
}

impl From<Trial> for Tried {
    fn from(trial: Trial) -> Self {
        let Trial { trials, e_value, needed, average, certified, .. } = trial;
        Self {
            trials,
            e_value,
            needed,
            average: [average.mean, average.lower, average.upper],
            certified: certified.sign(),
        }
    }
}

#[derive(Serialize)]
pub(crate) struct Profile {
    pub(crate) profile: Vec<Promoted>,
    pub(crate) text: String,
}

#[derive(Serialize)]
pub(crate) struct Promoted {
    contrast: u8,
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
    trial: Tried,
}

impl Promoted {
    pub(crate) fn new(
        catalog: &Catalog<'_>,
        promotion: &Promotion,
        standing: Standing,
        trial: Trial,
    ) -> Self {
        let Promotion { contrast, verdict, valid, round, time: at, evidence, lower, upper, by } = *promotion;
        Self {
            contrast,
            verdict: verdict.sign(),
            standing: wording::standing(standing),
            sentence: wording::promotion(catalog, promotion),
            by: wording::certifier(by),
            valid,
            round,
            at,
            evidence,
            lower: lower.into(),
            upper: upper.into(),
            trial: trial.into(),
        }
    }
}
