//! Settings, and the table of their names, ranges and texts. Checks, errors, `--help` and documentation share
//! the table.
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

/// The rule of exploration: a draw from the posterior, or a bonus for uncertain actions.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Exploration {
    /// Scores from a draw of the posterior, with nu times its standard deviation and the same nu in every
    /// round.
    Constant(f64),
    /// Scores from a draw with nu_t = sqrt(9 d ln(t / delta)), the schedule of the regret theorem.
    ///
    /// In hundreds of dimensions this exploration is almost uniform. Its purpose is the guarantee.
    Theorem {
        /// Probability of failure of the bound, in (0, 1/2].
        delta: f64,
    },
    /// Scores mean + c sd, with the exact standard deviation of every feasible action.
    ///
    /// With a fitted prior, c counts two thirds ([`Policy::nu`](crate::Policy::nu)). Among equal scores the
    /// earliest action is chosen. Only [probes](Settings::probe) are random. A round takes one solve per
    /// active coordinate; a draw takes one solve.
    Optimistic(f64),
}

impl Exploration {
    /// The factor of standard deviations: c, or nu_t at round t = 1, 2, ... with d coordinates.
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
            Self::Constant(scale) | Self::Optimistic(scale) => scale,
            Self::Theorem { .. } if !cfg!(feature = "theorem") => 0.0, // refused by `check`
            Self::Theorem { delta } => {
                let dimension = u32::try_from(dimension).map_or(f64::INFINITY, f64::from);
                libm::sqrt(9.0 * dimension * libm::log(f64::from(round.max(1)) / delta))
            }
        }
    }
}

/// The time that a decision waits for its reward.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Deadline {
    /// Until the ring is full.
    #[default]
    None,
    /// Until more than this many later decisions have been made.
    Rounds(u32),
    /// Until more than this much of the caller's [time](crate::Request::at) has passed.
    Time(u32),
}

/// The effect of a decision that expires without a reward.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Expiry {
    /// Nothing is learned. Promotions then assume that rewards are missing independently of their values.
    #[default]
    Nothing,
    /// This reward, in [-1, 1], is learned. Hosts use it where silence is informative.
    ///
    /// An imputed reward ends the guarantee of promotions, because silence is not an unbiased reward.
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

/// The scale of exploration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Scale {
    /// Always 1.
    Fixed,
    /// [`User::scale`](crate::User::scale), at least 1. The scale exceeds 1 if a user's rewards differ more
    /// from predictions than the model expects.
    #[default]
    Learned,
}

/// The reaction to a detected change of the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum OnChange {
    /// The change is only reported.
    #[default]
    Tell,
    /// Observations are discounted by half toward the prior.
    Halve,
    /// The posterior returns to the prior. Permissions, rounds and waiting decisions stay.
    Reset,
}

impl OnChange {
    /// The share of observations that is kept; `None` without fading.
    pub(crate) const fn keep(self) -> Option<f32> {
        match self {
            Self::Tell => None,
            Self::Halve => Some(0.5),
            Self::Reset => Some(0.0),
        }
    }
}

/// Settings of a policy. Each field documents its default.
///
/// The defaults of noise, prior and exploration come from sweeps over simulated and real users. See
/// `defaults.md`, `adapt.md` and `people.md` in `examples/studies/results`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Settings<'a> {
    /// Working noise variance sigma^2 of a reward. Default 0.25, as in the paper's Math500 study.
    ///
    /// Graded reactions have 0.06, and rewards of +1 or -1 have 0.84. Decisions depend on this setting only
    /// through `noise_variance * base_precision` and nu^2 `noise_variance`.
    pub noise_variance: f64,
    /// Precision of the isotropic base prior, per active feature. Default 4.
    ///
    /// The precision of a coordinate is this times the number of blocks, because each block gives an action
    /// one feature. The prior standard deviation of a score is then 1 / sqrt(4) for every size of the
    /// dictionary.
    pub precision_per_feature: f64,
    /// Precision of the isotropic base prior per coordinate, instead of per feature.
    ///
    /// Default `None`: `precision_per_feature` times the number of retained blocks.
    pub base_precision: Option<f64>,
    /// lambda, the weight of costs against rewards. Default 1. May be changed at any time, like the costs.
    pub cost_weight: f64,
    /// The rule of exploration. Default `Optimistic(1.5)`. May be changed at any time.
    pub exploration: Exploration,
    /// The scale of exploration. Default `Learned`. May be changed at any time.
    ///
    /// A learned scale stays near 1 for graded rewards. For rewards of +1 or -1 the scale grows, so a single
    /// reward decides less.
    pub scale: Scale,
    /// Number of rewards after which observations are discounted by half toward the prior. Default `None`.
    ///
    /// Fading is for users who change. Onboarding statements fade too. The first fading ends the guarantee of
    /// promotions. May be changed at any time, because fadings are events.
    pub half_life: Option<u32>,
    /// The reaction to a detected change of the user. Default `Tell`. May be changed at any time.
    pub on_change: OnChange,
    /// alpha, the probability that any promotion is ever wrong, over all contrasts and all time. Default
    /// 0.05.
    ///
    /// Fixed before learning starts: contrasts of a learner that was started with another value are not
    /// `valid`.
    pub alpha: f64,
    /// R_b, the largest distance of the user from the prior. The guarantee of promotions assumes
    ///
    /// prior_radius^2 >= base_precision |theta* - mu_base|^2 + sum over onboarding of kappa (u - v.theta*)^2,
    ///
    /// where theta* is the user's true residual preference. Default `None`: sqrt(base_precision), which means
    /// |theta* - mu_base| <= 1 and exact statements. A larger radius is safer and promotes later.
    pub prior_radius: Option<f64>,
    /// s^2, a sub-Gaussian variance proxy of the noise in a reward. Default `None`: the `noise_variance`, as
    /// in the paper.
    ///
    /// The guarantee of promotions assumes that the true proxy is no larger. For rewards in [-1, 1] the proxy
    /// 1 always suffices, for rewards in [a, b] the proxy (b - a)^2 / 4.
    pub noise_proxy: Option<f64>,
    /// rho, the probability of a probe per component in which a declared contrast needs one. Default 0.
    ///
    /// A probe lets a fair coin choose between two values of a component, so that preferences can become
    /// certain. Probes take half of alpha. May be changed at any time.
    pub probe: f64,
    /// n_min, the least evidence for a promotion by the ellipsoid. Default 10.
    pub min_evidence: u32,
    /// The time that decisions wait for their reward. Default `Deadline::None`.
    pub deadline: Deadline,
    /// The effect of expired decisions. Default `Expiry::Nothing`.
    pub expiry: Expiry,
    /// The dictionary blocks in use, for users with few rounds (FABLE-SPCA). Default all.
    ///
    /// Features of other blocks are zero in scores and in learning. Stated preferences still enter the whole
    /// posterior. The set is part of the fingerprint if a block is left out. Intervals do not cover the
    /// omitted blocks, so contrasts are not `valid` then.
    pub retained: BlockSet,
    /// Seed of the installation. A device takes the seed from its entropy source once. Default 0.
    pub seed: u64,
    /// Number of the deciding site, if a user has several. Default 0, the only or first site.
    ///
    /// The site is part of decision ids and draws, so that journals can be merged. A user's first decision
    /// records and fixes the site.
    pub site: u32,
    /// Name of the code that makes contexts; part of the fingerprint. Default empty.
    pub context_adapter: &'a str,
    /// Name of the code that makes rewards; part of the fingerprint. Default empty.
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

    /// The paper's learner: scores from a draw, a precision of 16 in every coordinate, no fading. The paper's
    /// studies use these settings.
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

    /// The paper's learner with faster promotions.
    ///
    /// The radius assumes |theta* - mu_base| <= 1/2, so the radius is sqrt(16) / 2 instead of 4. Exploration
    /// is far bolder than rewards alone require. With the default nu of 0.3, the worse side of a comparison
    /// is hardly tried again, and its difference stays uncertain. `tests/README.md` has the benefits and
    /// costs. nu can be lowered at any time.
    pub const PROMOTING: Self =
        Self { prior_radius: Some(2.0), exploration: Exploration::Constant(5.0), ..Self::PAPER };
}

impl Settings<'_> {
    /// The defaults with probes in every second round per component, so that preferences become certain soon.
    ///
    /// `examples/studies/results/probes.md` has the benefits and costs.
    pub const PROBING: Self = Self { probe: 0.5, ..Self::DEFAULT };
}

impl Default for Settings<'_> {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// A numeric setting: name, range and description.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Setting {
    /// Name of the field, of the key in a file and, with dashes, of the flag.
    pub name: &'static str,
    /// Allowed values.
    pub range: Range,
    /// The range as text.
    pub bounds: &'static str,
    /// Description with range and default, for `--help`.
    pub help: &'static str,
}

/// The numeric settings, one row each.
#[expect(clippy::unreadable_literal, reason = "the texts contain the literals as written")]
pub mod setting {
    use super::{Range, Setting};

    macro_rules! table {
        ($(
            $constant:ident = $name:literal, $least:literal to $most:literal, $about:literal, $rest:literal;
        )+) => {
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
        NOISE_VARIANCE = "noise_variance", 0.0001 to 10000,
            "Variance of rewards",
            ", default 0.25. A larger variance learns more slowly.";
        PRECISION_PER_FEATURE = "precision_per_feature", 0.00001 to 10000,
            "Precision of the prior per active feature",
            ", default 4: a score is 0 with a standard deviation of 1/2.";
        BASE_PRECISION = "base_precision", 0.001 to 10000,
            "Precision of the prior per coordinate, instead of per feature",
            ", default the precision per feature times the number of blocks.";
        COST_WEIGHT = "cost_weight", 0 to 10,
            "Weight of the values' costs against rewards",
            ", default 1. May be changed at any time.";
        OPTIMISM = "optimism", 0 to 1000,
            "Standard deviations that exploration adds to the expected reward of each action",
            ", default 1.5. With a fitted prior, two thirds count. May be changed at any time.";
        NU = "nu", 0.000001 to 1000,
            "Explores by random draws instead, with this many times the standard deviation",
            ".";
        DELTA = "delta", 0.000000000001 to 0.5,
            "Explores by the schedule of the regret theorem instead, with this probability of failure",
            ".";
        ALPHA = "alpha", 0.000000000001 to 0.5,
            "Probability that any promoted preference is ever wrong",
            ", default 0.05.";
        PRIOR_RADIUS = "prior_radius", 0 to 1000000,
            "Largest distance of a user from the prior, which promotions assume",
            ", default sqrt(base precision).";
        NOISE_PROXY = "noise_proxy", 0.0001 to 10000,
            "Bound on the noise of rewards, which promotions assume",
            ", default the noise variance; 1 always suffices.";
        PROBE = "probe", 0 to 1,
            "Probability per component of a probe, in which a fair coin chooses between two values",
            ", default 0. May be changed at any time.";
        MIN_EVIDENCE = "min_evidence", 1 to 1000000000,
            "Rewards that must bear on a contrast before its promotion",
            ", default 10.";
        HALF_LIFE = "half_life", 1 to 65535,
            "Number of rewards after which observations count half, for users who change",
            ", default none.";
        EXPIRY = "expiry", -1 to 1,
            "Reward that is learned if none came in time: nothing (the default), or one like impute=-0.2",
            ".";
    }
}

/// An error in settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum SettingsError {
    /// The setting with this name is out of its range.
    OutOfRange(&'static str),
    /// The setting with this name needs a feature that this build lacks.
    Unsupported(&'static str),
    /// `retained` keeps no block of the catalog, or has a block that the catalog does not have.
    Retained,
    /// The base prior does not fit.
    Prior(PriorError),
}

impl SettingsError {
    /// The field with the error.
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
            Self::Unsupported(name) => write!(f, "this build lacks the feature that {name} needs"),
            Self::Retained => {
                f.write_str("retained must keep at least one block and only blocks that the catalog has")
            }
            Self::Prior(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for SettingsError {}

impl Settings<'_> {
    /// True if observations fade, so that their order matters.
    #[must_use]
    pub const fn fades(&self) -> bool {
        self.half_life.is_some() || self.on_change.keep().is_some()
    }

    /// Finds the first setting that is out of its range or unsupported.
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
