//! Settings. Checks, errors, `--help` and documentation share the [table](setting) of names, ranges and
//! texts.
//!
//! ```
//! use fable_core::catalog::TAU2;
//! use fable_core::settings::{SettingsError, table};
//! use fable_core::{Policy, Settings};
//! let error = Policy::<f32>::new(&TAU2, Settings { alpha: 0.9, ..Settings::default() }).unwrap_err();
//! assert_eq!(error, SettingsError::OutOfRange(table::ALPHA.name));
//! assert_eq!(error.to_string(), "alpha must be a number from 0.000000000001 to 0.5");
//! ```

use super::setting;
use crate::catalog::BlockSet;
use crate::posterior::PriorError;
use core::fmt;

/// How a round explores: by a draw from the posterior, or by a bonus for uncertainty.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Exploration {
    /// Scores of a draw from the posterior, with nu standard deviations in every round.
    Constant(f64),
    /// Scores of a draw with nu_t = sqrt(9 d ln(t / delta)), the schedule of the regret theorem. With
    /// hundreds of coordinates it explores almost uniformly.
    Theorem {
        /// Probability that the bound fails, in (0, 1/2].
        delta: f64,
    },
    /// Scores of mean + c sd, with the exact standard deviation of every feasible action. Of equal scores the
    /// earliest action counts. With a prior that was fitted to users two thirds of c count
    /// ([`Policy::nu`](crate::Policy::nu)).
    ///
    /// Only [probes](Settings::probe) are random then. It takes one solve per active coordinate, a draw takes
    /// one solve.
    Optimistic(f64),
}

impl Exploration {
    /// The factor of standard deviations: nu_t at round t = 1, 2, ... with d coordinates, or c.
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
            Self::Theorem { .. } if !cfg!(feature = "theorem") => 0.0, // no policy has this schedule
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
    /// Until the ring needs its slot.
    #[default]
    None,
    /// Until this number of later decisions is exceeded.
    Rounds(u32),
    /// Until more than this span of the caller's [time](crate::Request::at) has passed.
    Time(u32),
}

/// The reward that is learned from an expired decision.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Expiry {
    /// Nothing. Promotions then assume that a missing reward does not depend on how pleased the user is.
    #[default]
    Nothing,
    /// This reward, in [-1, 1]: for hosts where a missing reward is informative. It ends the guarantee of
    /// promotions, since it is a biased reward.
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
    /// That of the settings.
    Fixed,
    /// That of the settings times [`User::scale`](crate::User::scale), which is at least 1 and grows with the
    /// surprise of this user's rewards.
    #[default]
    Learned,
}

/// The reaction to a detected change of a user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum OnChange {
    /// Nothing. [`rewards_since_change`](crate::journal::State::rewards_since_change) tells of the change.
    #[default]
    Tell,
    /// All observations are discounted by half, toward the prior.
    Halve,
    /// Back to the prior. Feasible set, rounds and waiting decisions stay.
    Reset,
}

impl OnChange {
    /// The share that is kept, if any fading is due.
    pub(crate) const fn keep(self) -> Option<f32> {
        match self {
            Self::Tell => None,
            Self::Halve => Some(0.5),
            Self::Reset => Some(0.0),
        }
    }
}

/// Settings of a policy. Fields say their defaults. The defaults of noise, prior and exploration come from
/// sweeps over simulated users, recorded answers and people: `defaults.md`, `adapt.md` and `people.md` in
/// `examples/studies/results`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Settings<'a> {
    /// Working noise variance sigma^2 of a reward. Default 0.25, as in the paper's Math500 study: between
    /// 0.06 of graded reactions and 0.84 of rewards of +1 or -1. Decisions depend on it only through
    /// `noise_variance * base_precision` and nu^2 `noise_variance`.
    pub noise_variance: f64,
    /// Precision of the isotropic base prior per active feature. Default 4.
    ///
    /// A coordinate has this precision times the number of blocks, since each block gives an action one
    /// feature. So the prior of a score does not depend on the size of the dictionary: its standard deviation
    /// is 1 / sqrt(4).
    pub precision_per_feature: f64,
    /// Precision of the isotropic base prior in every coordinate. Default `None`: `precision_per_feature`
    /// times the number of retained blocks.
    pub base_precision: Option<f64>,
    /// lambda, the weight of costs against rewards. Default 1. May change at any time, like the costs.
    pub cost_weight: f64,
    /// How rounds explore. Default `Optimistic(1.5)`. May change at any time.
    pub exploration: Exploration,
    /// The scale of exploration. Default `Learned`: no change for graded rewards, and more exploration for
    /// rewards of +1 or -1. May change at any time.
    pub scale: Scale,
    /// After this number of rewards all observations, statements included, are discounted by half, toward the
    /// prior. For users who change. The first fading ends the guarantee of promotions. Default `None`. May
    /// change at any time: events have its effects.
    pub half_life: Option<u32>,
    /// The reaction to a detected change of a user. Default `Tell`. May change at any time.
    pub on_change: OnChange,
    /// alpha, the probability of any wrong promotion, over all contrasts and for all time. Default 0.05.
    /// Fixed before learning starts: contrasts of a learner with another value at its start are not `valid`.
    pub alpha: f64,
    /// R_b, the largest distance of this user from the prior. The guarantee of promotions assumes
    ///
    /// prior_radius^2 >= base_precision |theta* - mu_base|^2 + sum over onboarding of kappa (u - v.theta*)^2,
    ///
    /// where theta* is the user's true residual preference. Default `None`: sqrt(base_precision), that
    /// is |theta* - mu_base| <= 1 and true statements. A larger radius is safer and promotes later.
    pub prior_radius: Option<f64>,
    /// s^2, a sub-Gaussian variance proxy of the noise in a reward. The guarantee of promotions assumes that
    /// the true proxy is no larger. 1 suffices for rewards in [-1, 1], and (b - a)^2 / 4 for rewards in [a,
    /// b]. Default `None`: the `noise_variance`, as in the paper.
    pub noise_proxy: Option<f64>,
    /// rho, the probability of a probe of each component with a contrast to probe: a fair coin decides
    /// between two values. Probes make preferences certain, and take half of alpha. Default 0. May change at
    /// any time.
    pub probe: f64,
    /// n_min, the least evidence for a promotion by the ellipsoid. Default 10.
    pub min_evidence: u32,
    /// The time that decisions wait for their reward. Default `Deadline::None`.
    pub deadline: Deadline,
    /// The reward that is learned from an expired decision. Default `Expiry::Nothing`.
    pub expiry: Expiry,
    /// The retained blocks of the dictionary, for users with little time to learn in (FABLE-SPCA). Default
    /// all.
    ///
    /// Features of the other blocks are zero in scores and in learning. Statements still go into the whole
    /// posterior. Omitted blocks are part of the fingerprint. Their coordinates are assumed to be zero, which
    /// no interval covers, so contrasts are not `valid` then.
    pub retained: BlockSet,
    /// Seed of the installation. A device takes it from its entropy source once. Default 0.
    pub seed: u64,
    /// The site that decides, one of several for the same user. It is part of decision ids and draws, so that
    /// journals can be merged. Recorded before a user's first decision, and fixed from then on. Default 0,
    /// the only site or the first one.
    pub site: u32,
    /// Name of the code that makes contexts. Part of the fingerprint. Default empty.
    pub context_adapter: &'a str,
    /// Name of the code that makes rewards. Part of the fingerprint. Default empty.
    pub feedback_adapter: &'a str,
}

impl Settings<'_> {
    /// True if observations fade, so that their order matters.
    #[must_use]
    pub const fn fades(&self) -> bool {
        self.half_life.is_some() || self.on_change.keep().is_some()
    }

    /// The defaults, for constants.
    pub const DEFAULT: Self = Self {
        base_precision: None,
        exploration: Exploration::Optimistic(1.5),
        scale: Scale::Learned,
        ..Self::PAPER
    };

    /// The paper's learner alone: scores from a draw, a precision of 16 in every coordinate, no fading. The
    /// paper's studies use these settings.
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

    /// For hosts that want the paper's learner to promote preferences. Users differ from the prior by at most
    /// 1/2 in all: |theta* - mu_base| <= 1/2, so the radius is sqrt(16) / 2 instead of 4.
    ///
    /// Exploration is larger than reward alone would need. With the default nu of 0.3 the worse value of a
    /// comparison is hardly tried again, and its difference cannot become certain. `tests/README.md` has
    /// results and costs. nu can be lowered at any time.
    pub const PROMOTING: Self =
        Self { prior_radius: Some(2.0), exploration: Exploration::Constant(5.0), ..Self::PAPER };
}

impl Settings<'_> {
    /// The defaults with probes: half of the rounds probe each component, for hosts that want certain
    /// preferences soon. `examples/studies/results/probes.md` has results and costs.
    pub const PROBING: Self = Self { probe: 0.5, ..Self::DEFAULT };
}

impl Default for Settings<'_> {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// A fault in settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum SettingsError {
    /// The setting of this name is out of its range.
    OutOfRange(&'static str),
    /// The setting of this name needs a feature that this build leaves out.
    Unsupported(&'static str),
    /// `retained` has no block of the catalog, or a block that the catalog does not have.
    Retained,
    /// The base prior does not fit.
    Prior(PriorError),
}

impl SettingsError {
    /// The name of the field.
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
