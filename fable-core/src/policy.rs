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

use crate::Scalar;
use crate::catalog::{Action, BlockSet, Catalog};
use crate::context::Context;
use crate::fingerprint::{Fingerprint, NUMERIC_REVISION};
use crate::prior::{Prior, PriorError};
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

/// What a person sets. The defaults are documented field by field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings<'a> {
    /// Working noise variance sigma^2 of a reward. Default 0.25, as in the paper's Math500 study.
    pub noise_variance: f64,
    /// Precision of the isotropic base prior. Default 16: with a dozen active features of unit precision the prior spread of a
    /// score would be several times the range of the rewards.
    pub base_precision: f64,
    /// lambda, the weight of costs against rewards. Default 1.
    pub cost_weight: f64,
    /// The scale of the draw. Default `Constant(0.3)`.
    pub exploration: Exploration,
    /// The dictionary blocks that count, for users with little time to learn in (FABLE-SPCA); the features of the others are
    /// zero in scores and in learning, while stated preferences are taken into the whole posterior. Part of the fingerprint
    /// when a block is left out. Default all.
    pub retained: BlockSet,
    /// Seed of the installation; a device takes it from its entropy source once. Default 0.
    pub seed: u64,
    /// Names the code that makes contexts; part of the fingerprint. Default empty.
    pub context_adapter: &'a str,
    /// Names the code that makes rewards; part of the fingerprint. Default empty.
    pub feedback_adapter: &'a str,
}

impl Default for Settings<'_> {
    fn default() -> Self {
        Self {
            noise_variance: 0.25,
            base_precision: 16.0,
            cost_weight: 1.0,
            exploration: Exploration::Constant(0.3),
            retained: BlockSet::ALL,
            seed: 0,
            context_adapter: "",
            feedback_adapter: "",
        }
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
        }
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

    #[test]
    fn leaving_a_block_out_changes_the_fingerprint_and_keeping_all_does_not() {
        let print = |retained| Policy::<f32>::new(&TAU2, Settings { retained, ..Settings::default() }).unwrap().fingerprint();
        assert_eq!(print(BlockSet::first(6)), POLICIES[1]);
        let mut prints: Vec<u64> = (1..64).map(|bits| print(BlockSet::from_bits(bits))).collect();
        prints.sort_unstable();
        prints.dedup();
        assert_eq!(prints.len(), 63);
    }

    const CATALOGS: [u64; 3] = [10_033_234_338_150_959_697, 8_685_510_152_851_158_936, 15_852_302_957_940_044_502];
    const POLICIES: [u64; 3] = [7_971_297_636_289_757_214, 4_456_427_961_278_751_914, 1_689_721_544_749_537_739];
}
