//! Learner settings as a person gives them: flags of a command, or the table `[settings]` of a TOML file.
//!
//! Flags win over the file of `--settings`, which wins over the table in the catalog's own file, which wins over
//! [`Settings::DEFAULT`]. Each of them is checked by core as it is laid on top, so a mistake is told with its flag or its
//! place.
//!
//! ```
//! use fable_core::{Exploration, catalog::TAU2};
//! use fable_std::settings::SettingsArguments;
//!
//! let flags = SettingsArguments { delta: Some(0.1), seed: Some(7), ..SettingsArguments::default() };
//! let settings = flags.resolve("tau2", &TAU2)?;
//! assert_eq!((settings.exploration, settings.seed), (Exploration::Theorem { delta: 0.1 }, 7));
//!
//! let wrong = SettingsArguments { noise_variance: Some(0.0), ..flags };
//! let error = wrong.resolve("tau2", &TAU2).unwrap_err();
//! assert_eq!(error.to_string(), "--noise-variance: noise_variance must be a number from 0.0001 to 10000");
//! # Ok::<(), fable_std::catalogs::SettingsFileError>(())
//! ```
//!
//! In a file the names have underscores and texts are in quotes:
//!
//! ```toml
//! [settings]
//! nu = 0.5
//! deadline = "rounds=20"
//! retained = ["memory", "tool", "style"]
//! ```

use crate::toml_file::Flaw;
use clap::Args;
use fable_core::catalog::BlockSet;
use fable_core::settings::{Deadline, Expiry, OnChange, Scale, table};
use fable_core::{Catalog, Exploration, Policy, Settings};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

/// What is set; the rest is as it was. See the [module](self).
#[derive(Args, Clone, Debug, Default, Deserialize, PartialEq)]
#[command(next_help_heading = "Learner settings")]
#[serde(deny_unknown_fields, expecting = "settings like optimism = 1.5")]
pub struct SettingsArguments {
    /// Reads the table `[settings]` of this file; flags win over it, and it wins over the catalog's own.
    #[arg(long, value_name = "FILE.toml")]
    #[serde(skip)]
    pub settings: Option<String>,
    /// [`table::NOISE_VARIANCE`]
    #[arg(long, help = table::NOISE_VARIANCE.help, value_name = "NUMBER", allow_negative_numbers = true)]
    pub noise_variance: Option<f64>,
    /// [`table::PRECISION_PER_FEATURE`]
    #[arg(long, help = table::PRECISION_PER_FEATURE.help, value_name = "NUMBER", allow_negative_numbers = true)]
    pub precision_per_feature: Option<f64>,
    /// [`table::BASE_PRECISION`]
    #[arg(long, help = table::BASE_PRECISION.help, value_name = "NUMBER", allow_negative_numbers = true, conflicts_with = "precision_per_feature")]
    pub base_precision: Option<f64>,
    /// [`table::COST_WEIGHT`]
    #[arg(long, help = table::COST_WEIGHT.help, value_name = "NUMBER", allow_negative_numbers = true)]
    pub cost_weight: Option<f64>,
    /// [`table::OPTIMISM`]
    #[arg(long, help = table::OPTIMISM.help, value_name = "NUMBER", allow_negative_numbers = true)]
    pub optimism: Option<f64>,
    /// [`table::NU`]
    #[arg(long, help = table::NU.help, value_name = "NUMBER", allow_negative_numbers = true, conflicts_with = "optimism")]
    pub nu: Option<f64>,
    /// [`table::DELTA`]
    #[arg(long, help = table::DELTA.help, value_name = "NUMBER", allow_negative_numbers = true, conflicts_with_all = ["nu", "optimism"])]
    pub delta: Option<f64>,
    /// Whether exploration grows with how much this user's rewards surprise: learned (the default) or fixed. May be changed at any time.
    #[arg(long, value_name = "fixed|learned", value_parser = scale)]
    #[serde(default, deserialize_with = "scale_text")]
    pub scale: Option<Scale>,
    /// After so many rewards half of what is known is forgotten, for users who change: none (the default), or from 1 to 65535. May be
    /// changed at any time.
    #[arg(long, value_name = "none|REWARDS", value_parser = half_life)]
    #[serde(default, deserialize_with = "half_life_value")]
    pub half_life: Option<HalfLife>,
    /// What is done when a user seems to have changed: tell (the default), halve what is known, or reset to the prior. May be changed
    /// at any time.
    #[arg(long, value_name = "tell|halve|reset", value_parser = on_change)]
    #[serde(default, deserialize_with = "on_change_text")]
    pub on_change: Option<OnChange>,
    /// [`table::ALPHA`]
    #[arg(long, help = table::ALPHA.help, value_name = "NUMBER", allow_negative_numbers = true)]
    pub alpha: Option<f64>,
    /// [`table::PRIOR_RADIUS`]
    #[arg(long, help = table::PRIOR_RADIUS.help, value_name = "NUMBER", allow_negative_numbers = true)]
    pub prior_radius: Option<f64>,
    /// [`table::NOISE_PROXY`]
    #[arg(long, help = table::NOISE_PROXY.help, value_name = "NUMBER", allow_negative_numbers = true)]
    pub noise_proxy: Option<f64>,
    /// [`table::PROBE`]
    #[arg(long, help = table::PROBE.help, value_name = "NUMBER", allow_negative_numbers = true)]
    pub probe: Option<f64>,
    /// [`table::MIN_EVIDENCE`]
    #[arg(long, help = table::MIN_EVIDENCE.help, value_name = "COUNT")]
    pub min_evidence: Option<u32>,
    /// How long a decision waits for its reward: none (the default), rounds=20 later decisions, or time=3600 in your unit.
    #[arg(long, value_name = "none|rounds=N|time=N", value_parser = deadline)]
    #[serde(default, deserialize_with = "deadline_text")]
    pub deadline: Option<Deadline>,
    /// [`table::EXPIRY`]
    #[arg(long, help = table::EXPIRY.help, value_name = "nothing|impute=REWARD", value_parser = expiry)]
    #[serde(default, deserialize_with = "expiry_text")]
    pub expiry: Option<Expiry>,
    /// Learns these blocks of the dictionary alone, for users with little time: names from `fable catalog show`; default all.
    #[arg(long, value_name = "BLOCK,...", value_delimiter = ',')]
    pub retained: Option<Vec<String>>,
    /// Seed of the installation, any whole number from 0; the same seed and inputs give the same decisions. Default 0.
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Number of this place, one of several that decide for the same user, from 0 to 4294967295: part of decision ids and draws, so
    /// that their journals can be merged. New users get it with their first decision. Default 0.
    #[arg(long, value_name = "N")]
    pub site: Option<u32>,
    /// Names the code that makes contexts; state learned under one name is refused under another. Default empty.
    #[arg(long, value_name = "NAME")]
    pub context_adapter: Option<String>,
    /// Names the code that makes rewards; state learned under one name is refused under another. Default empty.
    #[arg(long, value_name = "NAME")]
    pub feedback_adapter: Option<String>,
}

fn deadline(text: &str) -> Result<Deadline, String> {
    let number = |number: &str| number.parse().ok();
    let read = match text.split_once('=') {
        None if text == "none" => Some(Deadline::None),
        Some(("rounds", rounds)) => number(rounds).map(Deadline::Rounds),
        Some(("time", time)) => number(time).map(Deadline::Time),
        _ => None,
    };
    read.ok_or_else(|| {
        format!("a deadline is none, rounds=N or time=N, with N from 0 to 4294967295, not '{text}'")
    })
}

/// A half-life in rewards, or none.
pub type HalfLife = Option<u32>;

fn scale(text: &str) -> Result<Scale, String> {
    match text {
        "fixed" => Ok(Scale::Fixed),
        "learned" => Ok(Scale::Learned),
        _ => Err(format!("a scale is fixed or learned, not '{text}'")),
    }
}

fn on_change(text: &str) -> Result<OnChange, String> {
    match text {
        "tell" => Ok(OnChange::Tell),
        "halve" => Ok(OnChange::Halve),
        "reset" => Ok(OnChange::Reset),
        _ => Err(format!("what is done on a change is tell, halve or reset, not '{text}'")),
    }
}

fn half_life(text: &str) -> Result<HalfLife, String> {
    let read =
        if text == "none" { Some(None) } else { text.parse().ok().filter(|rewards| *rewards > 0).map(Some) };
    read.ok_or_else(|| {
        format!("a half-life is none, or a whole number of rewards {}, not '{text}'", table::HALF_LIFE.bounds)
    })
}

fn scale_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Scale>, D::Error> {
    scale(&String::deserialize(deserializer)?).map(Some).map_err(D::Error::custom)
}

fn on_change_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<OnChange>, D::Error> {
    on_change(&String::deserialize(deserializer)?).map(Some).map_err(D::Error::custom)
}

fn half_life_value<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<HalfLife>, D::Error> {
    let text = match toml::Value::deserialize(deserializer)? {
        toml::Value::String(text) => text,
        value => value.to_string(),
    };
    half_life(&text).map(Some).map_err(D::Error::custom)
}

fn expiry(text: &str) -> Result<Expiry, String> {
    let read = match text.split_once('=') {
        None if text == "nothing" => Some(Expiry::Nothing),
        Some(("impute", reward)) => reward.parse().ok().map(Expiry::Impute),
        _ => None,
    };
    read.ok_or_else(|| {
        format!("an expiry is nothing or impute=REWARD, with a reward from -1 to 1, not '{text}'")
    })
}

fn deadline_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Deadline>, D::Error> {
    deadline(&String::deserialize(deserializer)?).map(Some).map_err(D::Error::custom)
}

fn expiry_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Expiry>, D::Error> {
    expiry(&String::deserialize(deserializer)?).map(Some).map_err(D::Error::custom)
}

/// A setting by the name of its field, and what is wrong with it.
pub(crate) type Wrong = (&'static str, Flaw);

impl SettingsArguments {
    /// Replaces what is set here and has core check the result.
    pub(crate) fn lay_on(
        &self,
        settings: &mut Settings<'static>,
        catalog: &Catalog<'_>,
    ) -> Result<(), Wrong> {
        fn set<T: Copy>(setting: &mut T, given: Option<T>) {
            *setting = given.unwrap_or(*setting);
        }
        set(&mut settings.noise_variance, self.noise_variance);
        // The one precision that is given here wins over the other that was there before.
        match (self.precision_per_feature, self.base_precision) {
            (None, None) => {}
            (Some(precision), None) => {
                (settings.precision_per_feature, settings.base_precision) = (precision, None);
            }
            (None, Some(precision)) => settings.base_precision = Some(precision),
            (Some(_), Some(_)) => {
                let both = "precision_per_feature and base_precision exclude each other; write one of them";
                return Err(("base_precision", Flaw::Form(both.into())));
            }
        }
        set(&mut settings.scale, self.scale);
        set(&mut settings.half_life, self.half_life);
        set(&mut settings.on_change, self.on_change);
        set(&mut settings.cost_weight, self.cost_weight);
        set(&mut settings.alpha, self.alpha);
        set(&mut settings.probe, self.probe);
        set(&mut settings.min_evidence, self.min_evidence);
        set(&mut settings.deadline, self.deadline);
        set(&mut settings.expiry, self.expiry);
        set(&mut settings.seed, self.seed);
        set(&mut settings.site, self.site);
        settings.prior_radius = self.prior_radius.or(settings.prior_radius);
        settings.noise_proxy = self.noise_proxy.or(settings.noise_proxy);
        settings.exploration = match (self.optimism, self.nu, self.delta) {
            (None, None, None) => settings.exploration,
            (Some(c), None, None) => Exploration::Optimistic(c),
            (None, Some(nu), None) => Exploration::Constant(nu),
            (None, None, Some(delta)) => Exploration::Theorem { delta },
            _ => {
                let last = if self.delta.is_some() { "delta" } else { "nu" };
                return Err((
                    last,
                    Flaw::Form("optimism, nu and delta exclude each other; write one of them".into()),
                ));
            }
        };
        if let Some(names) = &self.retained {
            settings.retained = blocks(catalog, names)?;
        }
        // Names live as long as the process, like the catalog.
        set(&mut settings.context_adapter, self.context_adapter.clone().map(|name| &*name.leak()));
        set(&mut settings.feedback_adapter, self.feedback_adapter.clone().map(|name| &*name.leak()));
        Policy::<f32>::new(catalog, *settings)
            .map(|_| ())
            .map_err(|error| (error.field(), Flaw::Settings(error)))
    }
}

/// The blocks with these names.
fn blocks(catalog: &Catalog<'_>, names: &[String]) -> Result<BlockSet, Wrong> {
    let known = block_names(catalog);
    let mut set = BlockSet::EMPTY;
    for name in names {
        let Some(block) = known.iter().position(|known| known == name) else {
            return Err((
                "retained",
                Flaw::Unknown { lack: "there is no block".into(), name: name.clone(), known },
            ));
        };
        set.insert(block);
    }
    Ok(set)
}

/// The name of a block of the dictionary, its coordinates' without the values; `None` past the last one.
///
/// ```
/// use fable_core::catalog::AGENT;
/// let names: Vec<String> = (3..8).filter_map(|block| fable_std::settings::block_name(&AGENT, block)).collect();
/// assert_eq!(names, ["task*style", "task*tool", "memory_need*memory", "tool_need*tool", "risk*style"]);
/// ```
#[must_use]
pub fn block_name(catalog: &Catalog<'_>, block: usize) -> Option<String> {
    let definition = catalog.definition();
    let block = definition.blocks.get(block)?;
    let signal = block.signal().and_then(|signal| definition.signals.get(usize::from(signal)).copied());
    let components = definition.components.iter().zip(0..).filter(|(_, position)| block.has(*position));
    let factors = block
        .is_per_task()
        .then_some("task")
        .into_iter()
        .chain(signal)
        .chain(components.map(|(own, _)| own.name));
    Some(factors.collect::<Vec<_>>().join("*"))
}

/// The names of all blocks.
#[must_use]
pub fn block_names(catalog: &Catalog<'_>) -> Vec<String> {
    (0..catalog.definition().blocks.len()).filter_map(|block| block_name(catalog, block)).collect()
}

/// The settings as the table of a TOML file; what has no value of its own is left out.
///
/// ```
/// use fable_core::{Settings, catalog::TAU2};
/// let text = fable_std::settings::write(&Settings::DEFAULT, &TAU2);
/// assert!(text.starts_with("[settings]\nnoise_variance = 0.25\nprecision_per_feature = 4.0\n"));
/// ```
#[must_use]
pub fn write(settings: &Settings<'_>, catalog: &Catalog<'_>) -> String {
    let quoted = |text: &str| toml::Value::from(text).to_string();
    let explored = match settings.exploration {
        Exploration::Optimistic(c) => Some(("optimism", format!("{c:?}"))),
        Exploration::Constant(nu) => Some(("nu", format!("{nu:?}"))),
        Exploration::Theorem { delta } => Some(("delta", format!("{delta:?}"))),
        _ => None,
    };
    let changed = match settings.on_change {
        OnChange::Halve => "halve",
        OnChange::Reset => "reset",
        _ => "tell",
    };
    let waits = match settings.deadline {
        Deadline::Rounds(rounds) => format!("rounds={rounds}"),
        Deadline::Time(time) => format!("time={time}"),
        _ => "none".into(),
    };
    let teaches = match settings.expiry {
        Expiry::Impute(reward) => format!("impute={reward:?}"),
        _ => "nothing".into(),
    };
    let kept =
        settings.retained.iter().filter_map(|block| block_name(catalog, block)).map(|name| quoted(&name));
    let kept =
        (settings.retained != BlockSet::FULL).then(|| format!("[{}]", kept.collect::<Vec<_>>().join(", ")));
    let lines = [
        Some(("noise_variance", format!("{:?}", settings.noise_variance))),
        Some(match settings.base_precision {
            Some(precision) => ("base_precision", format!("{precision:?}")),
            None => ("precision_per_feature", format!("{:?}", settings.precision_per_feature)),
        }),
        Some(("cost_weight", format!("{:?}", settings.cost_weight))),
        explored,
        Some(("scale", quoted(if settings.scale == Scale::Learned { "learned" } else { "fixed" }))),
        settings.half_life.map(|rewards| ("half_life", rewards.to_string())),
        Some(("on_change", quoted(changed))),
        Some(("alpha", format!("{:?}", settings.alpha))),
        settings.prior_radius.map(|radius| ("prior_radius", format!("{radius:?}"))),
        settings.noise_proxy.map(|proxy| ("noise_proxy", format!("{proxy:?}"))),
        Some(("probe", format!("{:?}", settings.probe))),
        Some(("min_evidence", settings.min_evidence.to_string())),
        Some(("deadline", quoted(&waits))),
        Some(("expiry", quoted(&teaches))),
        kept.map(|kept| ("retained", kept)),
        Some(("seed", settings.seed.to_string())),
        (settings.site != 0).then(|| ("site", settings.site.to_string())),
        Some(("context_adapter", quoted(settings.context_adapter))),
        Some(("feedback_adapter", quoted(settings.feedback_adapter))),
    ];
    let lines = lines.into_iter().flatten().map(|(key, value)| format!("{key} = {value}\n"));
    ["[settings]\n".to_owned()].into_iter().chain(lines).collect()
}
