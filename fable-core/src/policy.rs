//! A catalog with its settings: everything about deciding and learning that is not one user's state.
//!
//! One [`Policy`] is shared by reference between all users and threads. Its fingerprint covers what gives a stored number
//! its meaning, so a state that was learned under another policy is refused instead of misread.
//!
//! ```
//! use fable_core::{Exploration, Policy, Settings, SettingsError, catalog::AGENT};
//!
//! let policy = Policy::<f32>::new(&AGENT, Settings::default())?;
//! let bolder = Policy::<f32>::new(&AGENT, Settings { exploration: Exploration::Constant(1.0), ..Settings::default() })?;
//! let noisier = Policy::<f32>::new(&AGENT, Settings { noise_variance: 1.0, ..Settings::default() })?;
//! assert_eq!(policy.fingerprint(), bolder.fingerprint()); // how boldly one explores changes no stored number
//! assert_ne!(policy.fingerprint(), noisier.fingerprint());
//! # Ok::<(), SettingsError>(())
//! ```

use crate::catalog::{Action, BlockSet, Catalog};
use crate::context::Context;
use crate::fingerprint::{Fingerprint, NUMERIC_REVISION};
use crate::posterior::PosteriorError;
use crate::prior::{Prior, PriorError};
use crate::workspace::Workspace;
use crate::{Scalar, Storage};
use core::fmt;

/// A closed range of numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Range {
    /// Smallest value allowed.
    pub least: f64,
    /// Largest value allowed.
    pub most: f64,
}

impl Range {
    /// Whether a value lies in the range; NaN does not.
    #[must_use]
    pub const fn contains(&self, value: f64) -> bool {
        value >= self.least && value <= self.most
    }
}

/// Whether a value is a number of at most this magnitude; NaN is not.
pub(crate) const fn within(value: f64, limit: f64) -> bool {
    value.abs() <= limit
}

/// Range of `noise_variance`.
pub const NOISE_VARIANCE: Range = Range { least: 1e-4, most: 1e4 };
/// Range of `base_precision` and of a diagonal prior's precisions.
pub const BASE_PRECISION: Range = Range { least: 1e-3, most: 1e4 };
/// Range of `cost_weight`.
pub const COST_WEIGHT: Range = Range { least: 0.0, most: 10.0 };
/// Range of a constant `nu`.
pub const NU: Range = Range { least: 1e-6, most: 1e3 };
/// Range of the theorem's `delta`.
pub const DELTA: Range = Range { least: 1e-12, most: 0.5 };
/// Range of an observation's weight.
pub const WEIGHT: Range = Range { least: 1e-3, most: 100.0 };
/// Range of an onboarding statement's precision; exactly 0 is allowed too and means "skip".
pub const ONBOARDING_PRECISION: Range = Range { least: 1e-6, most: 1e6 };
/// Range of `alpha`.
pub const ALPHA: Range = Range { least: 1e-12, most: 0.5 };
/// Range of `prior_radius`.
pub const PRIOR_RADIUS: Range = Range { least: 0.0, most: 1e6 };
/// Range of a reward and of an onboarding response.
pub const REWARD: Range = Range { least: -1.0, most: 1.0 };

/// The scale nu_t of the posterior draw.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Exploration {
    /// The same nu in every round.
    Constant(f64),
    /// nu_t = sqrt(9 d ln(t / delta)), the schedule of the regret theorem. At hundreds of dimensions it explores almost
    /// uniformly; it is here for those who want the guarantee.
    Theorem {
        /// Probability with which the bound may fail, in (0, 1/2].
        delta: f64,
    },
}

impl Exploration {
    /// nu_t at round t = 1, 2, ... with d coordinates.
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
            Self::Constant(nu) => nu,
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
    /// This reward, in [-1, 1]: for hosts in which silence says something. It ends the guarantee of promotions, because
    /// silence is no unbiased reward.
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

/// What a person sets. The defaults are documented field by field; those of noise, prior and exploration come from a sweep over
/// simulated users and recorded answers (`examples/studies/RESULTS.md`, study `defaults`), in which nothing does better on users
/// that nothing was chosen on.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Settings<'a> {
    /// Working noise variance sigma^2 of a reward. Default 0.25, as in the paper's Math500 study: between the 0.06 of graded
    /// reactions and the 0.84 of rewards that are +1 or -1. Decisions depend on it through `noise_variance * base_precision` and
    /// nu^2 `noise_variance` alone.
    pub noise_variance: f64,
    /// Precision of the isotropic base prior. Default 16: with a dozen active features of unit precision the prior spread of a
    /// score would be several times the range of the rewards.
    pub base_precision: f64,
    /// lambda, the weight of costs against rewards. Default 1.
    pub cost_weight: f64,
    /// The scale of the draw. Default `Constant(0.3)`.
    pub exploration: Exploration,
    /// alpha, the probability with which any wrong promotion may ever be made, over all contrasts and for all time. Default
    /// 0.05. Fixed before learning starts: contrasts of a learner that was started with another value are not `valid`.
    pub alpha: f64,
    /// R_b, how far this user may be from the prior. The guarantee of promotions assumes
    ///
    /// prior_radius^2 >= base_precision |theta* - mu_base|^2 + sum over onboarding of kappa (u - v.theta*)^2,
    ///
    /// where theta* is the user's true residual preference. Default `None`: sqrt(base_precision), that is |theta* -
    /// mu_base| <= 1 and statements that the user means. A larger radius is safer and promotes later.
    pub prior_radius: Option<f64>,
    /// s^2, a sub-Gaussian variance proxy of the noise in a reward. The guarantee of promotions assumes that the true one is
    /// no larger; 1 always suffices for rewards in [-1, 1], and (b - a)^2 / 4 for rewards in [a, b]. Default `None`: the
    /// `noise_variance`, as in the paper.
    pub noise_proxy: Option<f64>,
    /// n_min, the least evidence for a promotion. Default 10.
    pub min_evidence: u32,
    /// How long decisions wait for their reward. Default `Deadline::None`.
    pub deadline: Deadline,
    /// What an expired decision teaches. Default `Expiry::Nothing`.
    pub expiry: Expiry,
    /// The dictionary blocks that count, for users with little time to learn in (FABLE-SPCA); the features of the others are
    /// zero in scores and in learning, while stated preferences are taken into the whole posterior. Part of the fingerprint
    /// when a block is left out. What is left out is assumed to be zero, which no interval covers: contrasts are not `valid`
    /// then. Default all.
    pub retained: BlockSet,
    /// Seed of the installation; a device takes it from its entropy source once. Default 0.
    pub seed: u64,
    /// Names the code that makes contexts; part of the fingerprint. Default empty.
    pub context_adapter: &'a str,
    /// Names the code that makes rewards; part of the fingerprint. Default empty.
    pub feedback_adapter: &'a str,
}

impl Settings<'_> {
    /// The defaults, for constants.
    pub const DEFAULT: Self = Self {
        noise_variance: 0.25,
        base_precision: 16.0,
        cost_weight: 1.0,
        exploration: Exploration::Constant(0.3),
        alpha: 0.05,
        prior_radius: None,
        noise_proxy: None,
        min_evidence: 10,
        deadline: Deadline::None,
        expiry: Expiry::Nothing,
        retained: BlockSet::ALL,
        seed: 0,
        context_adapter: "",
        feedback_adapter: "",
    };

    /// For hosts that want preferences promoted: users differ from the prior by at most 1/2 in all (|theta* - mu_base| <=
    /// 1/2, so the radius is sqrt(16) / 2 instead of 4), and exploration is far bolder than reward alone would have it. With
    /// the default nu of 0.3 the loser of a comparison is hardly ever tried again, and one cannot be sure of a difference to
    /// something that is not tried. The README says what it finds and what it costs; nu can be lowered at any time.
    pub const PROMOTING: Self = Self { prior_radius: Some(2.0), exploration: Exploration::Constant(5.0), ..Self::DEFAULT };
}

impl Default for Settings<'_> {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// A catalog, settings and a base prior. See the [module](self).
#[derive(Clone, Copy, Debug)]
pub struct Policy<'a, T> {
    catalog: &'a Catalog<'a>,
    settings: Settings<'a>,
    prior: Prior<'a, T>,
    /// The retained blocks, if not all are.
    mask: Option<BlockSet>,
    active_dimension: usize,
    fingerprint: u64,
}

impl<'a, T: Scalar> Policy<'a, T> {
    /// A policy with the isotropic base prior.
    ///
    /// # Errors
    /// A setting out of its range.
    pub fn new(catalog: &'a Catalog<'a>, settings: Settings<'a>) -> Result<Self, SettingsError> {
        Self::with_prior(catalog, settings, Prior::Isotropic)
    }

    /// A policy with any base prior.
    ///
    /// # Errors
    /// A setting out of its range or a prior that does not fit the catalog.
    pub fn with_prior(catalog: &'a Catalog<'a>, settings: Settings<'a>, prior: Prior<'a, T>) -> Result<Self, SettingsError> {
        if !NOISE_VARIANCE.contains(settings.noise_variance) {
            return Err(SettingsError::NoiseVariance);
        }
        if !BASE_PRECISION.contains(settings.base_precision) {
            return Err(SettingsError::BasePrecision);
        }
        if !COST_WEIGHT.contains(settings.cost_weight) {
            return Err(SettingsError::CostWeight);
        }
        match settings.exploration {
            Exploration::Constant(nu) if !NU.contains(nu) => return Err(SettingsError::Nu),
            Exploration::Theorem { delta } if !DELTA.contains(delta) => return Err(SettingsError::Delta),
            _ => {}
        }
        if !ALPHA.contains(settings.alpha) {
            return Err(SettingsError::Alpha);
        }
        if settings.prior_radius.is_some_and(|radius| !PRIOR_RADIUS.contains(radius)) {
            return Err(SettingsError::PriorRadius);
        }
        if settings.noise_proxy.is_some_and(|proxy| !NOISE_VARIANCE.contains(proxy)) {
            return Err(SettingsError::NoiseProxy);
        }
        if settings.min_evidence == 0 {
            return Err(SettingsError::MinEvidence);
        }
        if settings.expiry.reward().is_some_and(|reward| !REWARD.contains(reward)) {
            return Err(SettingsError::ImputedReward);
        }
        let every = catalog.all_blocks().bits();
        let retained = settings.retained.bits();
        if retained & every == 0 || (retained & !every != 0 && settings.retained != BlockSet::ALL) {
            return Err(SettingsError::Retained);
        }
        prior.check(catalog.arrow()).map_err(SettingsError::Prior)?;
        let mut sum = Fingerprint::new()
            .u64(u64::from(NUMERIC_REVISION))
            .u64(catalog.fingerprint())
            .f64(settings.cost_weight)
            .f64(settings.noise_variance)
            .f64(settings.base_precision)
            .text(settings.context_adapter)
            .text(settings.feedback_adapter);
        let mask = (retained & every != every).then_some(settings.retained);
        if mask.is_some() {
            sum = sum.text("retained").bytes(&retained.to_le_bytes());
        }
        let fingerprint = prior.fingerprint(sum).finish();
        let active_dimension = catalog.dimension_of(settings.retained);
        Ok(Self { catalog, settings, prior, mask, active_dimension, fingerprint })
    }

    /// The catalog.
    #[must_use]
    pub const fn catalog(&self) -> &'a Catalog<'a> {
        self.catalog
    }

    /// The settings.
    #[must_use]
    pub const fn settings(&self) -> &Settings<'a> {
        &self.settings
    }

    /// The base prior.
    #[must_use]
    pub const fn prior(&self) -> &Prior<'a, T> {
        &self.prior
    }

    /// Fingerprint of catalog, cost weight, noise variance, left-out blocks, base prior, adapters and numeric revision.
    #[must_use]
    pub const fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    /// R_b: the setting, or the square root of the base precision.
    #[must_use]
    pub fn prior_radius(&self) -> f64 {
        self.settings.prior_radius.unwrap_or_else(|| libm::sqrt(self.settings.base_precision))
    }

    /// beta_t(alpha) = R_b + (s / sigma) sqrt(ln(det Lambda_t / det Lambda_0) + 2 ln(1 / alpha)), from the log-determinant ratio.
    #[must_use]
    pub fn beta(&self, log_det_ratio: f64) -> f64 {
        let Settings { noise_variance, noise_proxy, alpha, .. } = self.settings;
        let growth = log_det_ratio.max(0.0) - 2.0 * libm::log(alpha);
        self.prior_radius() + libm::sqrt(noise_proxy.unwrap_or(noise_variance) / noise_variance * growth)
    }

    /// Fingerprint of what the guarantee of promotions depends on and [`fingerprint`](Self::fingerprint) does not cover:
    /// alpha, radius, proxy and minimum. A learner remembers the one it was started with.
    #[must_use]
    pub fn promise(&self) -> u32 {
        let Settings { noise_variance, noise_proxy, alpha, min_evidence, .. } = self.settings;
        let sum = Fingerprint::new().f64(alpha).f64(self.prior_radius()).f64(noise_proxy.unwrap_or(noise_variance));
        let [a, b, c, d, e, f, g, h] = sum.u64(u64::from(min_evidence)).finish().to_le_bytes();
        u32::from_le_bytes([a ^ e, b ^ f, c ^ g, d ^ h])
    }

    /// v.Sigma_base.v for a direction v.
    pub(crate) fn prior_variance<W: Storage<T>>(
        &self,
        workspace: &mut Workspace<T, W>,
        direction: impl Iterator<Item = (usize, T)>,
    ) -> Result<f64, PosteriorError> {
        let variance = |precision: f64, value: T| value.to_f64() * value.to_f64() / precision;
        match self.prior {
            Prior::Isotropic => Ok(direction.map(|(_, value)| variance(self.settings.base_precision, value)).sum()),
            Prior::Diagonal { precision, .. } => {
                let own = |index: usize| precision.get(index).copied().unwrap_or(self.settings.base_precision);
                Ok(direction.map(|(index, value)| variance(own(index), value)).sum())
            }
            Prior::Factor(factor) => Ok(factor.posterior().contrast(workspace, direction)?.variance.to_f64()),
        }
    }

    /// The retained blocks, if not all are.
    pub(crate) const fn mask(&self) -> Option<BlockSet> {
        self.mask
    }

    /// Coordinates of the retained blocks: the d of the theorem's schedule.
    #[must_use]
    pub const fn active_dimension(&self) -> usize {
        self.active_dimension
    }

    /// The nonzero features of the retained blocks, phi_z(c, a): what is scored and learned from.
    pub fn features(&self, context: &Context, action: Action) -> impl Iterator<Item = (usize, f32)> {
        self.catalog.features_of(self.mask, context, action)
    }

    /// The nonzero entries of phi_z(c, a) - phi_z(c, a'); what both share is left out.
    pub fn difference(&self, context: &Context, prefer: Action, over: Action) -> impl Iterator<Item = (usize, f32)> {
        self.catalog.difference_of(self.mask, context, prefer, over)
    }

    /// Reference score of an action, b - lambda cost; `default` replaces the catalog's b.
    #[must_use]
    pub fn baseline(&self, context: &Context, action: Action, default: Option<f64>) -> T {
        self.catalog.baseline(context, action, self.settings.cost_weight, default)
    }
}

/// A setting out of its range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum SettingsError {
    /// `noise_variance` is not a number from 1e-4 to 1e4.
    NoiseVariance,
    /// `base_precision` is not a number from 0.001 to 10,000.
    BasePrecision,
    /// `cost_weight` is not a number from 0 to 10.
    CostWeight,
    /// `nu` is not a number from 1e-6 to 1000.
    Nu,
    /// `delta` is not a number from 1e-12 to 1/2.
    Delta,
    /// `alpha` is not a number from 1e-12 to 1/2.
    Alpha,
    /// `prior_radius` is not a number from 0 to 1e6.
    PriorRadius,
    /// `noise_proxy` is not a number from 1e-4 to 1e4.
    NoiseProxy,
    /// `min_evidence` is 0.
    MinEvidence,
    /// The imputed reward is not a number from -1 to 1.
    ImputedReward,
    /// `retained` keeps no block of the catalog, or names one that it does not have.
    Retained,
    /// The base prior does not fit.
    Prior(PriorError),
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoiseVariance => f.write_str("noise_variance must be a number from 0.0001 to 10000"),
            Self::BasePrecision => f.write_str("base_precision must be a number from 0.001 to 10000"),
            Self::CostWeight => f.write_str("cost_weight must be a number from 0 to 10"),
            Self::Nu => f.write_str("nu must be a number from 0.000001 to 1000"),
            Self::Delta => f.write_str("delta must be a number from 0.000000000001 to 0.5"),
            Self::Alpha => f.write_str("alpha must be a number from 0.000000000001 to 0.5"),
            Self::PriorRadius => f.write_str("prior_radius must be a number from 0 to 1000000"),
            Self::NoiseProxy => f.write_str("noise_proxy must be a number from 0.0001 to 10000"),
            Self::MinEvidence => f.write_str("min_evidence must be at least 1"),
            Self::ImputedReward => f.write_str("an imputed reward must be a number from -1 to 1"),
            Self::Retained => f.write_str("retained must keep at least one block and only blocks that the catalog has"),
            Self::Prior(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for SettingsError {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::{AGENT, RUBRIC, TAU2};

    #[test]
    fn every_setting_has_its_own_error() {
        let reject = |settings| Policy::<f32>::new(&TAU2, settings).unwrap_err();
        let base = Settings::default();
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0, 1e300] {
            assert_eq!(reject(Settings { noise_variance: bad, ..base }), SettingsError::NoiseVariance);
            assert_eq!(reject(Settings { base_precision: bad, ..base }), SettingsError::BasePrecision);
            assert_eq!(reject(Settings { cost_weight: bad, ..base }), SettingsError::CostWeight);
            assert_eq!(reject(Settings { exploration: Exploration::Constant(bad), ..base }), SettingsError::Nu);
            assert_eq!(reject(Settings { exploration: Exploration::Theorem { delta: bad }, ..base }), SettingsError::Delta);
            assert_eq!(reject(Settings { alpha: bad, ..base }), SettingsError::Alpha);
            assert_eq!(reject(Settings { prior_radius: Some(bad), ..base }), SettingsError::PriorRadius);
            assert_eq!(reject(Settings { noise_proxy: Some(bad), ..base }), SettingsError::NoiseProxy);
            assert_eq!(reject(Settings { expiry: Expiry::Impute(1.5 * bad), ..base }), SettingsError::ImputedReward);
        }
        assert_eq!(reject(Settings { min_evidence: 0, ..base }), SettingsError::MinEvidence);
        for zero in [0.0, -0.0] {
            assert_eq!(reject(Settings { noise_variance: zero, ..base }), SettingsError::NoiseVariance);
            assert_eq!(reject(Settings { base_precision: zero, ..base }), SettingsError::BasePrecision);
            assert_eq!(reject(Settings { exploration: Exploration::Constant(zero), ..base }), SettingsError::Nu);
            assert_eq!(reject(Settings { exploration: Exploration::Theorem { delta: zero }, ..base }), SettingsError::Delta);
        }
        for bad in [0, 1 << 6, 0b111 | 1 << 127] {
            assert_eq!(reject(Settings { retained: BlockSet::from_bits(bad), ..base }), SettingsError::Retained);
        }
        let short = Prior::Diagonal { mean: &[0.0; 28], precision: &[1.0; 29] };
        let error = Policy::<f32>::with_prior(&TAU2, base, short).unwrap_err();
        assert_eq!(error, SettingsError::Prior(PriorError::Length { expected: 29 }));
    }

    /// Stored states carry these numbers: a change here means that no stored state can be read any more.
    #[test]
    fn fingerprints_are_pinned() {
        let policies =
            [&AGENT, &TAU2, &RUBRIC].map(|catalog| Policy::<f32>::new(catalog, Settings::default()).unwrap().fingerprint());
        assert_eq!([AGENT, TAU2, RUBRIC].map(|catalog| catalog.fingerprint()), CATALOGS);
        assert_eq!(policies, POLICIES);
    }

    const CATALOGS: [u64; 3] = [9_684_340_042_658_061_262, 14_608_949_629_245_568_331, 8_193_767_770_663_748_930];
    const POLICIES: [u64; 3] = [16_701_233_385_450_437_471, 2_997_172_827_568_438_201, 8_778_509_286_502_278_356];

    #[test]
    fn leaving_a_block_out_changes_the_fingerprint_and_keeping_all_does_not() {
        let print = |retained| Policy::<f32>::new(&TAU2, Settings { retained, ..Settings::default() }).unwrap().fingerprint();
        assert_eq!(print(BlockSet::first(6)), POLICIES[1]);
        let mut prints: Vec<u64> = (1..64).map(|bits| print(BlockSet::from_bits(bits))).collect();
        prints.sort_unstable();
        prints.dedup();
        assert_eq!(prints.len(), 63);
    }
}
