//! What a person sets, and the one table of names, ranges and texts that checks, errors, `--help` and
//! documentation share.
//!
//! ```
//! use fable_core::catalog::TAU2;
//! use fable_core::settings::{SettingsError, table};
//! use fable_core::{Policy, Settings};
//! let error = Policy::<f32>::new(&TAU2, Settings { alpha: 0.9, ..Settings::default() }).unwrap_err();
//! assert_eq!(error, SettingsError::OutOfRange(table::ALPHA.name));
//! assert_eq!(error.to_string(), "alpha must be a number from 0.000000000001 to 0.5");
//! ```

use crate::catalog::BlockSet;
use crate::numbers::Range;
use crate::posterior::PriorError;
use core::fmt;

/// How a round tries what is not known well: by a draw from the posterior, or by a bonus for what is
/// uncertain.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Exploration {
    /// Scores are those of a draw from the posterior with its standard deviation times nu, the same in every
    /// round.
    Constant(f64),
    /// The same with nu_t = sqrt(9 d ln(t / delta)), the schedule of the regret theorem. At hundreds of
    /// dimensions it explores almost uniformly; it is here for those who want the guarantee.
    Theorem {
        /// Probability with which the bound may fail, in (0, 1/2].
        delta: f64,
    },
    /// Scores are mean + c sd, with the exact standard deviation of every feasible action, and two thirds of
    /// c where a prior was fitted to people ([`Policy::nu`](crate::Policy::nu)); of equals the earliest is
    /// taken. There is no chance in it but that of [probes](Settings::probe). It takes one solve per active
    /// coordinate, a draw takes one.
    Optimistic(f64),
}

impl Exploration {
    /// nu_t at round t = 1, 2, ... with d coordinates, or c: what standard deviations are multiplied with.
    ///
    /// ```
    /// use fable_core::Exploration;
    /// let nu = Exploration::Theorem { delta: 0.1 }.nu(10, 29);
    /// assert!((nu - (9.0 * 29.0 * 100.0_f64.ln()).sqrt()).abs() < 1e-12);
    /// ```
    #[must_use]
    #[inline]
    pub fn nu(&self, round: u32, dimension: usize) -> f64 {
        match *self {
            Self::Constant(scale) => scale,
            Self::Optimistic(scale) => scale,
            Self::Theorem { .. } if !cfg!(feature = "theorem") => 0.0, // no policy has it
            Self::Theorem { delta } => {
                let dimension = u32::try_from(dimension).map_or(f64::INFINITY, f64::from);
                libm::sqrt(9.0 * dimension * libm::log(f64::from(round.max(1)) / delta))
            }
        }
    }
}

/// How long a decision waits for its reward.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Deadline {
    /// As long as the ring has room.
    #[default]
    None,
    /// Until more than this many later decisions have been made.
    Rounds(u32),
    /// Until more than this much of the caller's [time](crate::Request::at) has passed.
    Time(u32),
}

/// What is learned when a decision expires without a reward.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Expiry {
    /// Nothing. Promotions then assume that silence does not depend on how pleased the user is.
    #[default]
    Nothing,
    /// This reward, in [-1, 1]: for hosts in which silence says something. It ends the guarantee of
    /// promotions, because silence is not an unbiased reward.
    Impute(f64),
}

impl Expiry {
    /// The imputed reward.
    pub(crate) const fn reward(self) -> Option<f64> {
        match self {
            Self::Nothing => None,
            Self::Impute(reward) => Some(reward),
        }
    }
}

/// Whether what exploration is scaled with follows the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Scale {
    /// As the settings say.
    Fixed,
    /// Larger when this user's rewards surprise more than the model expects: times
    /// [`User::scale`](crate::User::scale), which is at least 1.
    #[default]
    Learned,
}

/// What is done when a user seems to have changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum OnChange {
    /// Nothing but telling it.
    #[default]
    Tell,
    /// What is known counts half.
    Halve,
    /// Back to the prior; permissions, rounds and waiting decisions stay.
    Reset,
}

impl OnChange {
    /// How much of what is known is kept.
    pub(crate) const fn keep(self) -> Option<f32> {
        match self {
            Self::Tell => None,
            Self::Halve => Some(0.5),
            Self::Reset => Some(0.0),
        }
    }
}

/// What a person sets. The defaults are documented field by field; those of noise, prior and exploration come
/// from sweeps over simulated users, recorded answers and people (`defaults.md`, `adapt.md` and `people.md`
/// in `examples/studies/results`).
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Settings<'a> {
    /// Working noise variance sigma^2 of a reward. Default 0.25, as in the paper's Math500 study: between the
    /// 0.06 of graded reactions and the 0.84 of rewards that are +1 or -1. Decisions depend on it through
    /// `noise_variance * base_precision` and nu^2 `noise_variance` alone.
    pub noise_variance: f64,
    /// Precision of the isotropic base prior, per active feature: a coordinate has this times the number of
    /// blocks, of which each gives an action one feature. So the prior believes the same of a score however
    /// large the dictionary is: a standard deviation of 1 / sqrt(4) by default, 4.
    pub precision_per_feature: f64,
    /// Precision of the isotropic base prior in every coordinate, instead. Default `None`:
    /// `precision_per_feature` times the number of retained blocks.
    pub base_precision: Option<f64>,
    /// lambda, the weight of costs against rewards. Default 1. May be changed at any time, like the costs.
    pub cost_weight: f64,
    /// How to explore. Default `Optimistic(1.5)`. May be changed at any time.
    pub exploration: Exploration,
    /// Whether exploration is scaled by how much this user's rewards surprise. Default `Learned`: nothing
    /// changes for who gives graded rewards, and who says +1 or -1 is not taken at the first word. May be
    /// changed at any time.
    pub scale: Scale,
    /// After so many rewards half of what is known is forgotten, evenly, toward the prior; onboarding
    /// statements fade like the rest. For users who change. The guarantee of promotions ends with the first
    /// fading. Default `None`. May be changed at any time: what it does to a user is in events.
    pub half_life: Option<u32>,
    /// What is done when a user seems to have changed. Default `Tell`. May be changed at any time.
    pub on_change: OnChange,
    /// alpha, the probability with which any wrong promotion may ever be made, over all contrasts and for all
    /// time. Default 0.05. Fixed before learning starts: contrasts of a learner that was started with another
    /// value are not `valid`.
    pub alpha: f64,
    /// R_b, how far this user may be from the prior. The guarantee of promotions assumes
    ///
    /// prior_radius^2 >= base_precision |theta* - mu_base|^2 + sum over onboarding of kappa (u - v.theta*)^2,
    ///
    /// where theta* is the user's true residual preference. Default `None`: sqrt(base_precision), that
    /// is |theta* - mu_base| <= 1 and statements that the user means. A larger radius is safer and promotes
    /// later.
    pub prior_radius: Option<f64>,
    /// s^2, a sub-Gaussian variance proxy of the noise in a reward. The guarantee of promotions assumes that
    /// the true one is no larger; 1 always suffices for rewards in [-1, 1], and (b - a)^2 / 4 for rewards in
    /// [a, b]. Default `None`: the `noise_variance`, as in the paper.
    pub noise_proxy: Option<f64>,
    /// rho, how often a fair coin decides between two values of a component, so that preferences can become
    /// certain: the probability for each component in which a declared contrast is worth it. 0 tosses none.
    /// The coins have half of alpha then. Default 0. May be changed at any time.
    pub probe: f64,
    /// n_min, the least evidence for a promotion by the ellipsoid. Default 10.
    pub min_evidence: u32,
    /// How long decisions wait for their reward. Default `Deadline::None`.
    pub deadline: Deadline,
    /// What an expired decision teaches. Default `Expiry::Nothing`.
    pub expiry: Expiry,
    /// The dictionary blocks that count, for users with little time to learn in (FABLE-SPCA); the features of
    /// the others are zero in scores and in learning, while stated preferences are taken into the whole
    /// posterior. Part of the fingerprint when a block is left out. What is left out is assumed to be zero,
    /// which no interval covers: contrasts are not `valid` then. Default all.
    pub retained: BlockSet,
    /// Seed of the installation; a device takes it from its entropy source once. Default 0.
    pub seed: u64,
    /// The place that decides, one of several for the same user: part of decision ids and draws, so that
    /// journals can be merged. Recorded with a user's first decision, and fixed from then on. Default 0, the
    /// only place or the first one.
    pub site: u32,
    /// Names the code that makes contexts; part of the fingerprint. Default empty.
    pub context_adapter: &'a str,
    /// Names the code that makes rewards; part of the fingerprint. Default empty.
    pub feedback_adapter: &'a str,
}

impl Settings<'_> {
    /// The defaults, for constants.
    pub const DEFAULT: Self = Self {
        base_precision: None,
        exploration: Exploration::Optimistic(1.5),
        scale: Scale::Learned,
        ..Self::PAPER
    };

    /// The paper's learner, and nothing else: scores from a draw, a precision of 16 in every coordinate,
    /// nothing fades. What the paper's studies are run with.
    pub const PAPER: Self = Self {
        noise_variance: 0.25,
        precision_per_feature: 4.0,
        base_precision: Some(16.0),
        cost_weight: 1.0,
        exploration: Exploration::Constant(0.3),
        scale: Scale::Fixed,
        half_life: None,
        on_change: OnChange::Tell,
        alpha: 0.05,
        prior_radius: None,
        noise_proxy: None,
        probe: 0.0,
        min_evidence: 10,
        deadline: Deadline::None,
        expiry: Expiry::Nothing,
        retained: BlockSet::FULL,
        seed: 0,
        site: 0,
        context_adapter: "",
        feedback_adapter: "",
    };

    /// For hosts that want preferences promoted by the paper's learner: users differ from the prior by at
    /// most 1/2 in all (|theta* - mu_base| <= 1/2, so the radius is sqrt(16) / 2 instead of 4), and
    /// exploration is far bolder than reward alone would have it. With the default nu of 0.3 the loser of a
    /// comparison is hardly ever tried again, and one cannot be sure of a difference to something that is not
    /// tried. `tests/README.md` says what it finds and what it costs; nu can be lowered at any time.
    pub const PROMOTING: Self =
        Self { prior_radius: Some(2.0), exploration: Exploration::Constant(5.0), ..Self::PAPER };
}

impl Settings<'_> {
    /// The defaults with a coin in every second round for each component: for hosts that want preferences to
    /// be certain soon. What it finds and what it costs is in `examples/studies/results/probes.md`.
    pub const PROBING: Self = Self { probe: 0.5, ..Self::DEFAULT };
}

impl Default for Settings<'_> {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// A setting that is a number: its name, what it may be, and what it does.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Setting {
    /// The name of the field, of the key in a file and, with dashes, of the flag.
    pub name: &'static str,
    /// What it may be.
    pub range: Range,
    /// The range in words.
    pub bounds: &'static str,
    /// What it does, with range and default, for people who set it.
    pub help: &'static str,
}

/// The numbers among the settings, one row each.
#[expect(clippy::unreadable_literal, reason = "the texts say them as they stand here")]
pub mod setting {
    use super::{Range, Setting};

    macro_rules! table {
        ($($constant:ident = $name:literal, $least:literal to $most:literal, $about:literal, $rest:literal;)+) => {
            $(
                #[doc = concat!($about, ": from ", stringify!($least), " to ", stringify!($most), $rest)]
                pub const $constant: Setting = Setting {
                    name: $name,
                    range: Range { least: $least as f64, most: $most as f64 },
                    bounds: concat!("from ", stringify!($least), " to ", stringify!($most)),
                    help: concat!($about, ": from ", stringify!($least), " to ", stringify!($most), $rest),
                };
            )+

            /// The whole table.
            pub const ALL: &[Setting] = &[$($constant),+];
        };
    }

    table! {
        NOISE_VARIANCE = "noise_variance", 0.0001 to 10000, "How much rewards scatter, as a variance", ", default 0.25. Larger learns more slowly.";
        PRECISION_PER_FEATURE = "precision_per_feature", 0.00001 to 10000, "How sure the prior is that a user has no special preference, per active feature", ", default 4: a score is 0 with a standard deviation of 1/2.";
        BASE_PRECISION = "base_precision", 0.001 to 10000, "The same per coordinate, instead", ", default the precision per feature times the number of blocks.";
        COST_WEIGHT = "cost_weight", 0 to 10, "How much the costs of values weigh against rewards", ", default 1. May be changed at any time.";
        OPTIMISM = "optimism", 0 to 1000, "How boldly to explore: so many standard deviations are added to each action's expected reward", ", default 1.5. Two thirds of it count where a prior was fitted. May be changed at any time.";
        NU = "nu", 0.000001 to 1000, "Explores by chance instead: scores from a draw with this many times the standard deviation", ".";
        DELTA = "delta", 0.000000000001 to 0.5, "Explores by the schedule of the regret theorem instead, which may fail with this probability", ".";
        ALPHA = "alpha", 0.000000000001 to 0.5, "Probability with which any promoted preference may ever be wrong", ", default 0.05.";
        PRIOR_RADIUS = "prior_radius", 0 to 1000000, "How far a user may be from the prior, which promotions assume", ", default sqrt(base precision).";
        NOISE_PROXY = "noise_proxy", 0.0001 to 10000, "Bound on the noise of rewards, which promotions assume", ", default the noise variance; 1 always does.";
        PROBE = "probe", 0 to 1, "How often a fair coin tries a preference the other way, to be sure, for each part of an action", ", default 0. May be changed at any time.";
        MIN_EVIDENCE = "min_evidence", 1 to 1000000000, "Rewards that must bear on a contrast before it is promoted", ", default 10.";
        HALF_LIFE = "half_life", 1 to 65535, "After so many rewards half of what is known is forgotten, for users who change", ", default none.";
        EXPIRY = "expiry", -1 to 1, "What is learned when no reward came in time: nothing (the default), or a reward like impute=-0.2", ".";
    }
}

/// What is wrong with settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum SettingsError {
    /// The setting of this name is out of its range.
    OutOfRange(&'static str),
    /// The setting of this name asks for something that this build was made without.
    Unsupported(&'static str),
    /// `retained` keeps no block of the catalog, or names one that it does not have.
    Retained,
    /// The base prior does not fit.
    Prior(PriorError),
}

impl SettingsError {
    /// The field that is wrong.
    #[must_use]
    pub const fn field(&self) -> &'static str {
        match self {
            Self::OutOfRange(name) | Self::Unsupported(name) => name,
            Self::Retained => "retained",
            Self::Prior(_) => "prior",
        }
    }
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OutOfRange(name) => {
                let bounds = setting::ALL
                    .iter()
                    .find(|row| row.name == *name)
                    .map_or("in its range", |row| row.bounds);
                write!(f, "{name} must be a number {bounds}")
            }
            Self::Unsupported(name) => write!(f, "this build was made without the feature that {name} takes"),
            Self::Retained => {
                f.write_str("retained must keep at least one block and only blocks that the catalog has")
            }
            Self::Prior(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for SettingsError {}

impl Settings<'_> {
    /// The first setting that is out of its range.
    pub(crate) const fn check(&self) -> Result<(), SettingsError> {
        macro_rules! check {
            ($value:expr, $row:ident) => {
                if !setting::$row.range.contains($value) {
                    return Err(SettingsError::OutOfRange(setting::$row.name));
                }
            };
        }
        check!(self.noise_variance, NOISE_VARIANCE);
        check!(self.precision_per_feature, PRECISION_PER_FEATURE);
        if let Some(precision) = self.base_precision {
            check!(precision, BASE_PRECISION);
        }
        check!(self.cost_weight, COST_WEIGHT);
        match self.exploration {
            Exploration::Constant(nu) => check!(nu, NU),
            Exploration::Optimistic(_) if !cfg!(feature = "adapt") => {
                return Err(SettingsError::Unsupported(setting::OPTIMISM.name));
            }
            Exploration::Optimistic(c) => check!(c, OPTIMISM),
            Exploration::Theorem { delta } => check!(delta, DELTA),
        }
        check!(self.alpha, ALPHA);
        if let Some(radius) = self.prior_radius {
            check!(radius, PRIOR_RADIUS);
        }
        if let Some(proxy) = self.noise_proxy {
            check!(proxy, NOISE_PROXY);
        }
        check!(self.probe, PROBE);
        check!(self.min_evidence as f64, MIN_EVIDENCE);
        if let Some(rewards) = self.half_life {
            check!(rewards as f64, HALF_LIFE);
        }
        if !cfg!(feature = "adapt") && self.half_life.is_some() {
            return Err(SettingsError::Unsupported(setting::HALF_LIFE.name));
        }
        if !cfg!(feature = "adapt") && !matches!((self.on_change, self.scale), (OnChange::Tell, Scale::Fixed))
        {
            return Err(SettingsError::Unsupported("on_change or scale"));
        }
        if !cfg!(feature = "probes") && self.probe > 0.0 {
            return Err(SettingsError::Unsupported(setting::PROBE.name));
        }
        if !cfg!(feature = "theorem") && matches!(self.exploration, Exploration::Theorem { .. }) {
            return Err(SettingsError::Unsupported(setting::DELTA.name));
        }
        if let Expiry::Impute(reward) = self.expiry {
            check!(reward, EXPIRY);
        }
        Ok(())
    }
}
