//! What JavaScript asks, as it comes over the border: postcard, in the order of the fields, names already looked up.
//!
//! `module.js` writes it. Positions are checked here again, because a wrong one must be an error and never a panic.

use crate::Refusal;
use alloc::vec::Vec;
use fable_core::catalog::Part;
use fable_core::catalog::{BlockSet, Direction, Effect, When};
use fable_core::settings::{Deadline, Expiry, OnChange, Scale};
use fable_core::{Action, Catalog, Context, Exploration, Feasible, Rule, Settings, Statement};
use serde::Deserialize;

/// A user who begins.
#[derive(Deserialize)]
pub(crate) struct Begin<'a> {
    #[serde(borrow)]
    pub(crate) settings: SettingsAsk<'a>,
    pub(crate) name: &'a str,
    pub(crate) taped: bool,
}

/// A user who goes on from a snapshot.
#[derive(Deserialize)]
pub(crate) struct Restore<'a> {
    #[serde(borrow)]
    pub(crate) settings: SettingsAsk<'a>,
    pub(crate) bytes: &'a [u8],
    pub(crate) taped: bool,
}

/// What is set; the rest is the default.
#[derive(Deserialize)]
pub(crate) struct SettingsAsk<'a> {
    noise_variance: Option<f64>,
    precision_per_feature: Option<f64>,
    base_precision: Option<f64>,
    cost_weight: Option<f64>,
    optimism: Option<f64>,
    nu: Option<f64>,
    delta: Option<f64>,
    scale: Option<ScaleAsk>,
    half_life: Option<u32>,
    on_change: Option<OnChangeAsk>,
    alpha: Option<f64>,
    prior_radius: Option<f64>,
    noise_proxy: Option<f64>,
    probe: Option<f64>,
    min_evidence: Option<u32>,
    deadline: Option<DeadlineAsk>,
    expiry: Option<f64>,
    retained: Option<Vec<u8>>,
    seed: Option<u64>,
    site: Option<u32>,
    pub(crate) context_adapter: &'a str,
    pub(crate) feedback_adapter: &'a str,
    /// A prior as `fable prior fit` writes it; nothing if there is none.
    pub(crate) prior: &'a [u8],
}

#[derive(Deserialize)]
enum ScaleAsk {
    Fixed,
    Learned,
}

#[derive(Deserialize)]
enum OnChangeAsk {
    Tell,
    Halve,
    Reset,
}

#[derive(Deserialize)]
enum DeadlineAsk {
    None,
    Rounds(u32),
    Time(u32),
}

impl SettingsAsk<'_> {
    /// The settings, with names that live as long as the module.
    pub(crate) fn settings(
        &self,
        context_adapter: &'static str,
        feedback_adapter: &'static str,
    ) -> Result<Settings<'static>, Refusal> {
        let both =
            |names| Refusal::new("bad_request", format_args!("{names} exclude each other; give one of them"));
        let base = Settings::DEFAULT;
        let exploration = match (self.optimism, self.nu, self.delta) {
            (None, None, None) => base.exploration,
            (Some(c), None, None) => Exploration::Optimistic(c),
            (None, Some(nu), None) => Exploration::Constant(nu),
            (None, None, Some(delta)) => Exploration::Theorem { delta },
            _ => return Err(both("optimism, nu and delta")),
        };
        if self.precision_per_feature.is_some() && self.base_precision.is_some() {
            return Err(both("precision_per_feature and base_precision"));
        }
        let mut retained = base.retained;
        if let Some(blocks) = &self.retained {
            retained = BlockSet::EMPTY;
            for block in blocks {
                retained.insert(usize::from(*block));
            }
        }
        Ok(Settings {
            noise_variance: self.noise_variance.unwrap_or(base.noise_variance),
            precision_per_feature: self.precision_per_feature.unwrap_or(base.precision_per_feature),
            base_precision: self.base_precision,
            cost_weight: self.cost_weight.unwrap_or(base.cost_weight),
            exploration,
            scale: match self.scale {
                None => base.scale,
                Some(ScaleAsk::Fixed) => Scale::Fixed,
                Some(ScaleAsk::Learned) => Scale::Learned,
            },
            half_life: self.half_life,
            on_change: match self.on_change {
                None | Some(OnChangeAsk::Tell) => OnChange::Tell,
                Some(OnChangeAsk::Halve) => OnChange::Halve,
                Some(OnChangeAsk::Reset) => OnChange::Reset,
            },
            alpha: self.alpha.unwrap_or(base.alpha),
            prior_radius: self.prior_radius,
            noise_proxy: self.noise_proxy,
            probe: self.probe.unwrap_or(base.probe),
            min_evidence: self.min_evidence.unwrap_or(base.min_evidence),
            deadline: match self.deadline {
                None | Some(DeadlineAsk::None) => Deadline::None,
                Some(DeadlineAsk::Rounds(rounds)) => Deadline::Rounds(rounds),
                Some(DeadlineAsk::Time(time)) => Deadline::Time(time),
            },
            expiry: self.expiry.map_or(Expiry::Nothing, Expiry::Impute),
            retained,
            seed: self.seed.unwrap_or(base.seed),
            site: self.site.unwrap_or(base.site),
            context_adapter,
            feedback_adapter,
        })
    }
}

/// Where.
#[derive(Deserialize)]
pub(crate) struct ContextAsk {
    task: Option<u8>,
    signals: Vec<f32>,
}

impl ContextAsk {
    pub(crate) fn context(&self, catalog: &Catalog<'_>) -> Result<Context, Refusal> {
        Ok(Context::new(catalog, self.task.map(usize::from), &self.signals)?)
    }
}

/// What may be chosen: of each pattern the effect (0 forbid, 1 require, 2 only) and its parts.
#[derive(Deserialize)]
pub(crate) struct RulesAsk(Vec<(u8, Pattern)>);

/// Components, each with some of its values.
type Pattern = Vec<(u8, Vec<u8>)>;

impl RulesAsk {
    pub(crate) fn feasible(&self, catalog: &Catalog<'_>) -> Result<Feasible, Refusal> {
        let patterns: Vec<Vec<Part<'_>>> = self
            .0
            .iter()
            .map(|(_, parts)| parts.iter().map(|(component, values)| Part::new(*component, values)).collect())
            .collect();
        let rules: Vec<Rule<'_>> = self
            .0
            .iter()
            .zip(&patterns)
            .map(|((effect, _), pattern)| match effect {
                0 => Rule::forbid("", pattern),
                1 => Rule::require("", pattern),
                _ => Rule { name: "", effect: Effect::Only, pattern },
            })
            .collect();
        Ok(Feasible::new(catalog, &rules)?)
    }
}

/// A request to decide on.
#[derive(Deserialize)]
pub(crate) struct Decide {
    pub(crate) context: ContextAsk,
    pub(crate) rules: RulesAsk,
    pub(crate) defaults: Option<Vec<f64>>,
    pub(crate) propensities: Option<u32>,
    pub(crate) at: u32,
}

/// The reward of a decision.
#[derive(Deserialize)]
pub(crate) struct Feedback<'a> {
    pub(crate) decision: &'a str,
    pub(crate) reward: f64,
    pub(crate) weight: f64,
    pub(crate) at: u32,
}

/// The reward of an action that was chosen elsewhere.
#[cfg(feature = "full")]
#[derive(Deserialize)]
pub(crate) struct Observe {
    pub(crate) context: ContextAsk,
    pub(crate) action: u16,
    pub(crate) reward: f64,
    pub(crate) weight: f64,
    pub(crate) defaults: Option<Vec<f64>>,
    pub(crate) at: u32,
}

/// A stated preference.
#[derive(Deserialize)]
pub(crate) struct StatementAsk<'a> {
    #[serde(borrow)]
    direction: DirectionAsk<'a>,
    response: f64,
    precision: f64,
}

/// Values of components.
type Choice = Vec<(u8, u8)>;

#[derive(Deserialize)]
enum DirectionAsk<'a> {
    Prefer {
        prefer: Choice,
        over: Choice,
        when: WhenAsk,
    },
    #[serde(borrow)]
    Names(Vec<(&'a str, f64)>),
}

#[derive(Deserialize)]
enum WhenAsk {
    Always,
    Task(u8),
    Signal(u8),
}

impl StatementAsk<'_> {
    pub(crate) fn statement(&self, catalog: &Catalog<'_>) -> Result<Statement, Refusal> {
        let direction = match &self.direction {
            DirectionAsk::Prefer { prefer, over, when } => {
                let when = match when {
                    WhenAsk::Always => When::Always,
                    WhenAsk::Task(task) => When::Task(usize::from(*task)),
                    WhenAsk::Signal(signal) => When::Signal(usize::from(*signal)),
                };
                Direction::prefer(catalog, prefer, over, when)?
            }
            DirectionAsk::Names(entries) => {
                if let Some((name, _)) = entries.iter().find(|(name, _)| catalog.coordinate(name).is_none()) {
                    return Err(Refusal::new(
                        "unknown_name",
                        format_args!("there is no coordinate '{name}'"),
                    ));
                }
                Direction::from_names(catalog, entries)?
            }
        };
        Ok(Statement { direction, response: self.response, precision: self.precision })
    }
}

/// A decision to explain.
#[derive(Deserialize)]
pub(crate) struct Explain<'a> {
    pub(crate) decision: &'a str,
    pub(crate) against: Option<u16>,
    pub(crate) defaults: Option<Vec<f64>>,
}

/// Two actions to compare, or a declared contrast.
#[derive(Deserialize)]
pub(crate) enum Contrast {
    /// By its position.
    Declared(u8),
    /// Two actions that differ in one component.
    Actions { context: ContextAsk, prefer: u16, over: u16, total: bool },
}

/// An action of a catalog.
pub(crate) fn action(catalog: &Catalog<'_>, index: u16) -> Result<Action, Refusal> {
    let known = usize::from(index) < catalog.actions();
    known
        .then_some(Action(index))
        .ok_or_else(|| Refusal::new("unknown_name", "the action is not in the catalog"))
}
