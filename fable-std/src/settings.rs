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
//! # Ok::<(), fable_std::settings::SettingsFileError>(())
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

use crate::catalogs::{self, Document, block_name};
use crate::toml_file::{self, Blame, FileError, Flaw, Source};
use clap::Args;
use fable_core::catalog::BlockSet;
use fable_core::{Deadline, Expiry};
use fable_core::{Catalog, Exploration, Policy, Settings, SettingsError};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use std::fmt;
use std::ops::Range;

/// What is set; the rest is as it was. See the [module](self).
#[derive(Args, Clone, Debug, Default, Deserialize, PartialEq)]
#[command(next_help_heading = "Learner settings")]
#[serde(deny_unknown_fields, expecting = "settings like nu = 0.3")]
pub struct SettingsArguments {
    /// Reads the table `[settings]` of this file; flags win over it, and it wins over the catalog's own.
    #[arg(long, value_name = "FILE.toml")]
    #[serde(skip)]
    pub settings: Option<String>,
    /// How much rewards scatter, as a variance: from 0.0001 to 10000, default 0.25. Larger learns more slowly.
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub noise_variance: Option<f64>,
    /// How sure the prior is that a user has no special preference: from 0.001 to 10000, default 16.
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub base_precision: Option<f64>,
    /// How much the costs of values weigh against rewards: from 0 to 10, default 1.
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub cost_weight: Option<f64>,
    /// How boldly to explore, the same in every round: from 0.000001 to 1000, default 0.3. May be changed at any time.
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub nu: Option<f64>,
    /// Explores by the schedule of the regret theorem instead, which may fail with this probability: from 1e-12 to 0.5.
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true, conflicts_with = "nu")]
    pub delta: Option<f64>,
    /// Probability with which any promoted preference may ever be wrong: from 1e-12 to 0.5, default 0.05.
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub alpha: Option<f64>,
    /// How far a user may be from the prior, which promotions assume: from 0 to 1000000, default sqrt(base precision).
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub prior_radius: Option<f64>,
    /// Bound on the noise of rewards, which promotions assume: from 0.0001 to 10000, default the noise variance; 1 always does.
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub noise_proxy: Option<f64>,
    /// Rewards that must bear on a contrast before it is promoted: from 1, default 10.
    #[arg(long, value_name = "COUNT")]
    pub min_evidence: Option<u32>,
    /// How long a decision waits for its reward: none (the default), rounds=20 later decisions, or time=3600 in your unit.
    #[arg(long, value_name = "none|rounds=N|time=N", value_parser = deadline)]
    #[serde(default, deserialize_with = "deadline_text")]
    pub deadline: Option<Deadline>,
    /// What is learned when no reward came in time: nothing (the default), or a reward from -1 to 1 like impute=-0.2.
    #[arg(long, value_name = "nothing|impute=REWARD", value_parser = expiry)]
    #[serde(default, deserialize_with = "expiry_text")]
    pub expiry: Option<Expiry>,
    /// Learns these blocks of the dictionary alone, for users with little time: names from `fable catalog show`; default all.
    #[arg(long, value_name = "BLOCK,...", value_delimiter = ',')]
    pub retained: Option<Vec<String>>,
    /// Seed of the installation, any whole number from 0; the same seed and inputs give the same decisions. Default 0.
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
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
    read.ok_or_else(|| format!("a deadline is none, rounds=N or time=N, with N from 0 to 4294967295, not '{text}'"))
}

fn expiry(text: &str) -> Result<Expiry, String> {
    let read = match text.split_once('=') {
        None if text == "nothing" => Some(Expiry::Nothing),
        Some(("impute", reward)) => reward.parse().ok().map(Expiry::Impute),
        _ => None,
    };
    read.ok_or_else(|| format!("an expiry is nothing or impute=REWARD, with a reward from -1 to 1, not '{text}'"))
}

fn deadline_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Deadline>, D::Error> {
    deadline(&String::deserialize(deserializer)?).map(Some).map_err(D::Error::custom)
}

fn expiry_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Expiry>, D::Error> {
    expiry(&String::deserialize(deserializer)?).map(Some).map_err(D::Error::custom)
}

/// A setting by the name of its field, and what is wrong with it.
type Wrong = (&'static str, Flaw);

impl SettingsArguments {
    /// The settings for a catalog that [`catalogs::open`] opened under this name.
    ///
    /// # Errors
    /// An unreadable file, or a wrong setting with its flag or its place.
    pub fn resolve(&self, name_or_path: &str, catalog: &Catalog<'_>) -> Result<Settings<'static>, SettingsFileError> {
        self.resolve_over(Settings::DEFAULT, name_or_path, catalog)
    }

    /// The same with other settings in place of the defaults.
    ///
    /// # Errors
    /// As for [`resolve`](Self::resolve).
    pub fn resolve_over(
        &self,
        mut settings: Settings<'static>,
        name_or_path: &str,
        catalog: &Catalog<'_>,
    ) -> Result<Settings<'static>, SettingsFileError> {
        if catalogs::is_file(name_or_path) {
            from_file(name_or_path, catalog, &mut settings)?;
        }
        if let Some(file) = &self.settings
            && !from_file(file, catalog, &mut settings)?
        {
            return Err(SettingsFileError::NoTable(file.clone()));
        }
        let flag = |(key, flaw): Wrong| SettingsFileError::Flag { flag: key.replace('_', "-"), flaw };
        self.lay_on(&mut settings, catalog).map_err(flag)?;
        Ok(settings)
    }

    /// Replaces what is set here and has core check the result.
    fn lay_on(&self, settings: &mut Settings<'static>, catalog: &Catalog<'_>) -> Result<(), Wrong> {
        fn set<T: Copy>(setting: &mut T, given: Option<T>) {
            *setting = given.unwrap_or(*setting);
        }
        set(&mut settings.noise_variance, self.noise_variance);
        set(&mut settings.base_precision, self.base_precision);
        set(&mut settings.cost_weight, self.cost_weight);
        set(&mut settings.alpha, self.alpha);
        set(&mut settings.min_evidence, self.min_evidence);
        set(&mut settings.deadline, self.deadline);
        set(&mut settings.expiry, self.expiry);
        set(&mut settings.seed, self.seed);
        settings.prior_radius = self.prior_radius.or(settings.prior_radius);
        settings.noise_proxy = self.noise_proxy.or(settings.noise_proxy);
        settings.exploration = match (self.nu, self.delta) {
            (Some(_), Some(_)) => {
                return Err(("delta", Flaw::Form("nu and delta exclude each other; write one of them".into())));
            }
            (Some(nu), None) => Exploration::Constant(nu),
            (None, Some(delta)) => Exploration::Theorem { delta },
            (None, None) => settings.exploration,
        };
        if let Some(names) = &self.retained {
            settings.retained = blocks(catalog, names)?;
        }
        // Names live as long as the process, like the catalog.
        set(&mut settings.context_adapter, self.context_adapter.clone().map(|name| &*name.leak()));
        set(&mut settings.feedback_adapter, self.feedback_adapter.clone().map(|name| &*name.leak()));
        Policy::<f32>::new(catalog, *settings).map(|_| ()).map_err(|error| (field(error), Flaw::Settings(error)))
    }
}

/// The blocks with these names.
fn blocks(catalog: &Catalog<'_>, names: &[String]) -> Result<BlockSet, Wrong> {
    let known: Vec<String> = (0..catalog.definition().blocks.len()).filter_map(|block| block_name(catalog, block)).collect();
    let mut set = BlockSet::EMPTY;
    for name in names {
        let Some(block) = known.iter().position(|known| known == name) else {
            return Err(("retained", Flaw::Unknown { lack: "there is no block".into(), name: name.clone(), known }));
        };
        set.insert(block);
    }
    Ok(set)
}

/// Lays the table of a file on top; whether there is one.
fn from_file(file: &str, catalog: &Catalog<'_>, settings: &mut Settings<'static>) -> Result<bool, FileError> {
    let text = toml_file::text(file)?;
    let source = Source { file, text: &text };
    let Some(table) = Document::parse(source)?.settings else { return Ok(false) };
    let placed = |(key, flaw): Wrong| source.mistake(Blame::new(place(&text, key).unwrap_or(0..0), flaw));
    table.lay_on(settings, catalog).map_err(placed)?;
    Ok(true)
}

/// The bytes of a setting in the text of a file.
fn place(text: &str, key: &str) -> Option<Range<usize>> {
    let file = toml::de::DeTable::parse(text).ok()?;
    Some(file.get_ref().get("settings")?.get_ref().as_table()?.get(key)?.span())
}

/// The field that core's refusal is about.
fn field(error: SettingsError) -> &'static str {
    match error {
        SettingsError::NoiseVariance => "noise_variance",
        SettingsError::BasePrecision => "base_precision",
        SettingsError::CostWeight => "cost_weight",
        SettingsError::Nu => "nu",
        SettingsError::Delta => "delta",
        SettingsError::Alpha => "alpha",
        SettingsError::PriorRadius => "prior_radius",
        SettingsError::NoiseProxy => "noise_proxy",
        SettingsError::MinEvidence => "min_evidence",
        SettingsError::ImputedReward => "expiry",
        SettingsError::Retained => "retained",
        _ => "settings",
    }
}

/// The settings as the table of a TOML file; what has no value of its own is left out.
///
/// ```
/// use fable_core::{Settings, catalog::TAU2};
/// let text = fable_std::settings::write(&Settings::DEFAULT, &TAU2);
/// assert!(text.starts_with("[settings]\nnoise_variance = 0.25\nbase_precision = 16.0\n"));
/// ```
#[must_use]
pub fn write(settings: &Settings<'_>, catalog: &Catalog<'_>) -> String {
    let quoted = |text: &str| toml::Value::from(text).to_string();
    let explored = match settings.exploration {
        Exploration::Constant(nu) => Some(("nu", format!("{nu:?}"))),
        Exploration::Theorem { delta } => Some(("delta", format!("{delta:?}"))),
        _ => None,
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
    let kept = settings.retained.iter().filter_map(|block| block_name(catalog, block)).map(|name| quoted(&name));
    let kept = (settings.retained != BlockSet::FULL).then(|| format!("[{}]", kept.collect::<Vec<_>>().join(", ")));
    let lines = [
        Some(("noise_variance", format!("{:?}", settings.noise_variance))),
        Some(("base_precision", format!("{:?}", settings.base_precision))),
        Some(("cost_weight", format!("{:?}", settings.cost_weight))),
        explored,
        Some(("alpha", format!("{:?}", settings.alpha))),
        settings.prior_radius.map(|radius| ("prior_radius", format!("{radius:?}"))),
        settings.noise_proxy.map(|proxy| ("noise_proxy", format!("{proxy:?}"))),
        Some(("min_evidence", settings.min_evidence.to_string())),
        Some(("deadline", quoted(&waits))),
        Some(("expiry", quoted(&teaches))),
        kept.map(|kept| ("retained", kept)),
        Some(("seed", settings.seed.to_string())),
        Some(("context_adapter", quoted(settings.context_adapter))),
        Some(("feedback_adapter", quoted(settings.feedback_adapter))),
    ];
    let lines = lines.into_iter().flatten().map(|(key, value)| format!("{key} = {value}\n"));
    ["[settings]\n".to_owned()].into_iter().chain(lines).collect()
}

/// Why settings could not be had.
#[derive(Debug)]
#[non_exhaustive]
pub enum SettingsFileError {
    /// A flag with a wrong value.
    Flag {
        /// Its name without the dashes in front.
        flag: String,
        /// What is wrong.
        flaw: Flaw,
    },
    /// The file of `--settings` has no table `[settings]`.
    NoTable(String),
    /// A file cannot be read or has a mistake in it.
    File(FileError),
}

impl fmt::Display for SettingsFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag { flag, flaw } => write!(f, "--{flag}: {flaw}"),
            Self::NoTable(file) => write!(f, "{file}: there is no table [settings] in this file"),
            Self::File(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for SettingsFileError {}

impl From<FileError> for SettingsFileError {
    fn from(error: FileError) -> Self {
        Self::File(error)
    }
}
