//! A catalog with its settings: everything about deciding and learning that is not the state of one user.

mod guarantee;
pub mod setting;
mod settings;

pub use setting::Setting;
pub use settings::{Deadline, Expiry, Exploration, OnChange, Scale, Settings, SettingsError};

use crate::catalog::{Action, BlockSet, Catalog, Context, score::Scalar};
use crate::numbers::{Fingerprint, NUMERIC_REVISION};
use crate::posterior::{PosteriorError, Prior};

/// A catalog, settings and a base prior.
///
/// One [`Policy`] is shared by reference between all users and threads.
///
/// Its fingerprint covers what gives a stored number its meaning. A state of another policy is refused
/// instead of misread. Instructions, costs, default scores, exploration and deadlines are not covered, and
/// may change under a user at any time.
///
/// A decision records its action and its reference score. So a journal is replayed as it happened, also after
/// costs changed.
///
/// ```
/// use fable_core::catalog::AGENT;
/// use fable_core::settings::SettingsError;
/// use fable_core::{Exploration, Policy, Settings};
///
/// let policy = Policy::<f32>::new(&AGENT, Settings::default())?;
/// let exploration = Exploration::Constant(1.0);
/// let bolder = Policy::<f32>::new(&AGENT, Settings { exploration, ..Settings::default() })?;
/// let noisier = Policy::<f32>::new(&AGENT, Settings { noise_variance: 1.0, ..Settings::default() })?;
/// assert_eq!(policy.fingerprint(), bolder.fingerprint()); // exploration changes no stored number
/// assert_ne!(policy.fingerprint(), noisier.fingerprint());
/// # Ok::<(), SettingsError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Policy<'a, T> {
    catalog: &'a Catalog<'a>,
    settings: Settings<'a>,
    base_precision: f64,
    prior: Prior<'a, T>,
    /// The retained blocks; `None` if all are.
    mask: Option<BlockSet>,
    /// The mean of the prior is not 0.
    informed: bool,
    fingerprint: u64,
}

/// A fingerprint that is not finished.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sum {
    /// The upper half: the catalog's shape.
    catalog: u64,
    /// The lower half so far.
    rest: Fingerprint,
}

impl Sum {
    /// The fingerprint with a prior.
    pub(crate) fn with<T: Scalar>(self, prior: &Prior<'_, T>) -> u64 {
        Self { rest: prior.fingerprint(self.rest), ..self }.finish()
    }

    /// Adds a number to the lower half.
    pub(crate) const fn u64(mut self, value: u64) -> Self {
        self.rest = self.rest.u64(value);
        self
    }

    /// The finished fingerprint.
    pub(crate) const fn finish(self) -> u64 {
        self.catalog << 32 | Fingerprint::half(self.rest.finish())
    }
}

/// The result of checking settings.
struct Checked {
    /// The fingerprint up to the prior.
    sum: Sum,
    /// The retained blocks; `None` if all are.
    mask: Option<BlockSet>,
    /// Precision of each coordinate.
    base_precision: f64,
}

impl<'a, T: Scalar> Policy<'a, T> {
    /// A policy with the isotropic base prior. The policy of a constant catalog can be a constant:
    ///
    /// ```
    /// use fable_core::{Policy, Settings, catalog::TAU2};
    /// const POLICY: Policy<'static, f32> = match Policy::new(&TAU2, Settings::DEFAULT) {
    ///     Ok(policy) => policy,
    ///     Err(_) => panic!("a setting is out of its range"),
    /// };
    /// assert_eq!(POLICY.fingerprint(), Policy::<f32>::new(&TAU2, Settings::default())?.fingerprint());
    /// # Ok::<(), fable_core::settings::SettingsError>(())
    /// ```
    ///
    /// # Errors
    /// A setting out of its range.
    pub const fn new(catalog: &'a Catalog<'a>, settings: Settings<'a>) -> Result<Self, SettingsError> {
        match Self::checked(catalog, settings) {
            Ok(Checked { sum, mask, base_precision }) => {
                let fingerprint = sum.u64(0).finish();
                Ok(Self {
                    catalog,
                    settings,
                    base_precision,
                    prior: Prior::Isotropic,
                    mask,
                    informed: false,
                    fingerprint,
                })
            }
            Err(error) => Err(error),
        }
    }

    /// A policy with any base prior.
    ///
    /// # Errors
    /// A setting out of its range or a prior that does not fit the catalog.
    pub fn with_prior(
        catalog: &'a Catalog<'a>,
        settings: Settings<'a>,
        prior: Prior<'a, T>,
    ) -> Result<Self, SettingsError> {
        let Checked { sum, mask, base_precision } = Self::checked(catalog, settings)?;
        prior.check(catalog.layout()).map_err(SettingsError::Prior)?;
        Ok(Self {
            catalog,
            settings,
            base_precision,
            prior,
            mask,
            informed: prior.has_mean(),
            fingerprint: sum.with(&prior),
        })
    }

    /// Checks settings against a catalog.
    const fn checked(catalog: &Catalog<'_>, settings: Settings<'_>) -> Result<Checked, SettingsError> {
        if let Err(error) = settings.check() {
            return Err(error);
        }
        let (every, retained) = (catalog.all_blocks().bits(), settings.retained.bits());
        if retained & every == 0 || (retained & !every != 0 && retained != BlockSet::FULL.bits()) {
            return Err(SettingsError::Retained);
        }
        let base_precision = match settings.base_precision {
            Some(precision) => precision,
            None => settings.precision_per_feature * (retained & every).count_ones() as f64,
        };
        if !setting::BASE_PRECISION.range.contains(base_precision) {
            return Err(SettingsError::OutOfRange(setting::PRECISION_PER_FEATURE.name));
        }
        let rest = Fingerprint::new()
            .u64(NUMERIC_REVISION as u64)
            .f64(settings.noise_variance)
            .f64(base_precision)
            .text(settings.context_adapter)
            .text(settings.feedback_adapter);
        let catalog = Fingerprint::half(catalog.shape());
        if retained & every == every {
            return Ok(Checked { sum: Sum { catalog, rest }, mask: None, base_precision });
        }
        let rest = rest.text("retained").bytes(&retained.to_le_bytes());
        Ok(Checked { sum: Sum { catalog, rest }, mask: Some(settings.retained), base_precision })
    }

    /// The fingerprint up to the prior.
    #[cfg(feature = "record")]
    pub(crate) fn sum(&self) -> Sum {
        let nothing = Sum { catalog: 0, rest: Fingerprint::new() };
        Self::checked(self.catalog, self.settings).map_or(nothing, |checked| checked.sum) // they were checked
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

    /// Precision of the isotropic base prior in each coordinate: the setting, or the precision per feature
    /// times the number of retained blocks.
    #[must_use]
    pub const fn base_precision(&self) -> f64 {
        self.base_precision
    }

    /// The base prior.
    #[must_use]
    pub const fn prior(&self) -> &Prior<'a, T> {
        &self.prior
    }

    /// Fingerprint of catalog and settings. Records with another fingerprint belong to another catalog or
    /// other settings.
    ///
    /// The upper half is the catalog's [shape](Catalog::shape). The lower half covers noise variance,
    /// retained blocks, base prior, adapters and numeric revision.
    #[must_use]
    pub const fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    /// v.Sigma_base.v for a direction v.
    pub(crate) fn prior_variance(
        &self,
        workspace: &mut [T],
        direction: impl Iterator<Item = (usize, T)>,
    ) -> Result<f64, PosteriorError> {
        let variance = |precision: f64, value: T| value.to_f64() * value.to_f64() / precision;
        match self.prior {
            Prior::Isotropic => Ok(direction.map(|(_, value)| variance(self.base_precision, value)).sum()),
            Prior::Diagonal { precision, .. } => {
                let own = |index: usize| precision.get(index).copied().unwrap_or(self.base_precision);
                Ok(direction.map(|(index, value)| variance(own(index), value)).sum())
            }
            Prior::Factor(factor) => Ok(factor.posterior().contrast(workspace, direction)?.variance.to_f64()),
        }
    }

    /// The retained blocks; `None` if all are.
    pub(crate) const fn mask(&self) -> Option<BlockSet> {
        self.mask
    }

    /// Coordinates of the retained blocks: the d of the theorem's schedule.
    #[must_use]
    pub fn active_dimension(&self) -> usize {
        self.catalog.dimension_of(self.settings.retained)
    }

    /// The factor of standard deviations in a round: nu_t of a draw, or c of an optimistic score.
    ///
    /// With a prior mean other than 0, optimism is two thirds of the setting. Such a prior was fitted to
    /// users, and already reflects the spread between them.
    #[must_use]
    #[inline]
    pub fn nu(&self, round: u32) -> f64 {
        match self.settings.exploration {
            Exploration::Constant(scale) => scale,
            Exploration::Optimistic(scale) => {
                if self.informed {
                    scale / 1.5
                } else {
                    scale
                }
            }
            theorem @ Exploration::Theorem { .. } => theorem.nu(round, self.active_dimension()),
        }
    }

    /// The nonzero features of the retained blocks, phi_z(c, a). Scores and updates use them.
    pub fn features(&self, context: &Context, action: Action) -> impl Iterator<Item = (usize, f32)> {
        self.catalog.features_of(self.mask, context, action)
    }

    /// The nonzero entries of phi_z(c, a) - phi_z(c, a'). Features that both actions share cancel.
    pub fn difference(
        &self,
        context: &Context,
        prefer: Action,
        over: Action,
    ) -> impl Iterator<Item = (usize, f32)> {
        self.catalog.difference_of(self.mask, context, prefer, over)
    }

    /// Reference score of an action, b - lambda cost. `default` replaces the catalog's b.
    #[must_use]
    pub fn baseline(&self, context: &Context, action: Action, default: Option<f64>) -> T {
        self.catalog.baseline(context, action, self.settings.cost_weight, default)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::{AGENT, Component, Definition, RUBRIC, TAU2, Value};
    use crate::numbers::BASE_PRECISION;
    use crate::posterior::PriorError;

    #[test]
    fn the_table_names_each_setting_once_and_says_its_range() {
        for (index, row) in setting::ALL.iter().enumerate() {
            assert!(setting::ALL[..index].iter().all(|other| other.name != row.name));
            assert_eq!(row.bounds, format!("from {} to {}", row.range.least, row.range.most));
            assert!(row.help.contains(row.bounds), "{}", row.name);
        }
        assert_eq!(setting::BASE_PRECISION.range, BASE_PRECISION); // also of a diagonal prior
    }

    #[test]
    fn every_setting_has_its_own_error() {
        let reject = |settings| Policy::<f32>::new(&TAU2, settings).unwrap_err();
        let out = |row: Setting| SettingsError::OutOfRange(row.name);
        let base = Settings::default();
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0, 1e300] {
            assert_eq!(reject(Settings { noise_variance: bad, ..base }), out(setting::NOISE_VARIANCE));
            assert_eq!(reject(Settings { base_precision: Some(bad), ..base }), out(setting::BASE_PRECISION));
            let per_feature = Settings { precision_per_feature: bad, ..base };
            assert_eq!(reject(per_feature), out(setting::PRECISION_PER_FEATURE));
            let optimistic = Exploration::Optimistic(bad);
            assert_eq!(reject(Settings { exploration: optimistic, ..base }), out(setting::OPTIMISM));
            assert_eq!(reject(Settings { cost_weight: bad, ..base }), out(setting::COST_WEIGHT));
            assert_eq!(
                reject(Settings { exploration: Exploration::Constant(bad), ..base }),
                out(setting::NU)
            );
            assert_eq!(
                reject(Settings { exploration: Exploration::Theorem { delta: bad }, ..base }),
                out(setting::DELTA)
            );
            assert_eq!(reject(Settings { alpha: bad, ..base }), out(setting::ALPHA));
            assert_eq!(reject(Settings { prior_radius: Some(bad), ..base }), out(setting::PRIOR_RADIUS));
            assert_eq!(reject(Settings { noise_proxy: Some(bad), ..base }), out(setting::NOISE_PROXY));
            assert_eq!(reject(Settings { expiry: Expiry::Impute(1.5 * bad), ..base }), out(setting::EXPIRY));
        }
        assert_eq!(reject(Settings { min_evidence: 0, ..base }), out(setting::MIN_EVIDENCE));
        for rewards in [0, 65_536, u32::MAX] {
            assert_eq!(reject(Settings { half_life: Some(rewards), ..base }), out(setting::HALF_LIFE));
        }
        for zero in [0.0, -0.0] {
            assert_eq!(reject(Settings { noise_variance: zero, ..base }), out(setting::NOISE_VARIANCE));
            assert_eq!(reject(Settings { base_precision: Some(zero), ..base }), out(setting::BASE_PRECISION));
            assert_eq!(
                reject(Settings { exploration: Exploration::Constant(zero), ..base }),
                out(setting::NU)
            );
            assert_eq!(
                reject(Settings { exploration: Exploration::Theorem { delta: zero }, ..base }),
                out(setting::DELTA)
            );
        }
        for bad in [0, 1 << 6, 0b111 | 1 << 127] {
            assert_eq!(
                reject(Settings { retained: BlockSet::from_bits(bad), ..base }),
                SettingsError::Retained
            );
        }
        let short = Prior::Diagonal { mean: &[0.0; 28], precision: &[1.0; 29] };
        let error = Policy::<f32>::with_prior(&TAU2, base, short).unwrap_err();
        assert_eq!(error, SettingsError::Prior(PriorError::Length { expected: 29 }));
    }

    #[test]
    fn a_prior_that_expects_something_is_explored_less_boldly() {
        let nu = |prior: Prior<'_, f32>| Policy::with_prior(&TAU2, Settings::default(), prior).unwrap().nu(1);
        let (mut mean, precision) = ([0.0; 29], [24.0; 29]);
        assert_eq!(
            [nu(Prior::Isotropic), nu(Prior::Diagonal { mean: &mean, precision: &precision })],
            [1.5; 2]
        );
        mean[7] = 0.1;
        assert_eq!(nu(Prior::Diagonal { mean: &mean, precision: &precision }), 1.0);
        let mut packed = [0.0; TAU2.layout().packed_len()];
        let mut workspace = [0.0; TAU2.workspace_len()];
        for (centred, expected) in [([0.0; 29], 1.5), (mean, 1.0)] {
            let prior: Prior<'_, f32> = Prior::Diagonal { mean: &centred, precision: &precision };
            prior.write(TAU2.layout(), 1.0, &mut packed);
            let factor = crate::posterior::Factor::new(TAU2.layout(), &packed, &mut workspace).unwrap();
            assert_eq!(nu(Prior::Factor(factor)), expected);
        }
    }

    /// Stored states have these fingerprints. After a change here no stored state can be read.
    #[test]
    fn fingerprints_are_pinned() {
        let policies = [&AGENT, &TAU2, &RUBRIC]
            .map(|catalog| Policy::<f32>::new(catalog, Settings::PAPER).unwrap().fingerprint());
        assert_eq!(
            ([AGENT, TAU2, RUBRIC].map(|catalog| catalog.fingerprint()), policies),
            (CATALOGS, POLICIES)
        );
    }

    #[test]
    fn costs_and_default_scores_are_the_reference_and_not_the_shape() {
        let definition = *TAU2.definition();
        let dear = definition.components.iter().map(|component| {
            let values = component.values.iter().map(|value| Value {
                cost: value.cost + 0.5,
                instruction: "other",
                ..*value
            });
            (*component, values.collect::<Vec<_>>())
        });
        let dear: Vec<_> = dear.collect();
        let dear: Vec<_> =
            dear.iter().map(|(component, values)| Component { values, ..*component }).collect();
        let dear = Catalog::try_new(Definition { components: &dear, terms: &[], ..definition }).unwrap();
        assert_eq!(dear.shape(), TAU2.shape());
        assert_ne!(dear.fingerprint(), TAU2.fingerprint());
        let print =
            |catalog: &Catalog<'_>, settings| Policy::<f32>::new(catalog, settings).unwrap().fingerprint();
        let weighed = Settings { cost_weight: 3.0, ..Settings::PAPER };
        assert_eq!(print(&dear, weighed), print(&TAU2, Settings::PAPER));
        // The upper half is the catalog's, the lower one the settings'.
        let [own, noisy] =
            [0.25, 0.5].map(|noise_variance| print(&TAU2, Settings { noise_variance, ..Settings::PAPER }));
        assert!(own != noisy && own >> 32 == noisy >> 32);
        assert_ne!(own >> 32, print(&RUBRIC, Settings::PAPER) >> 32);
    }

    const CATALOGS: [u64; 3] =
        [13_628_566_668_789_426_184, 540_717_787_137_061_503, 6_654_103_518_182_860_634];
    const POLICIES: [u64; 3] =
        [4_511_410_372_057_075_798, 9_968_708_312_138_092_630, 17_970_018_241_811_681_366];

    #[test]
    fn leaving_a_block_out_changes_the_fingerprint_and_keeping_all_does_not() {
        let print = |retained| {
            Policy::<f32>::new(&TAU2, Settings { retained, ..Settings::PAPER }).unwrap().fingerprint()
        };
        assert_eq!(print(BlockSet::first(6)), POLICIES[1]);
        let mut prints: Vec<u64> = (1..64).map(|bits| print(BlockSet::from_bits(bits))).collect();
        prints.sort_unstable();
        prints.dedup();
        assert_eq!(prints.len(), 63);
    }
}
