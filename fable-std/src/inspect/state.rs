//! The state as a whole: counters, sizes, numerical health, and whether promotions are still guaranteed.

use fable_core::catalog::CoordinateSet;
use fable_core::posterior::{NUMERIC_REVISION, Prior};
use fable_core::record::VERSION;
use fable_core::{Feasible, Scalar, User};
use serde::Serialize;

/// The state as a whole.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StateReport {
    /// Name of the catalog.
    pub catalog: String,
    /// Its fingerprint.
    pub catalog_fingerprint: String,
    /// Fingerprint of catalog, settings and prior together, which stored state carries.
    pub fingerprint: String,
    /// Whether the user began with a prior that was fitted, not with the isotropic one.
    pub fitted_prior: bool,
    /// `f32` or `f64`.
    pub scalar: &'static str,
    /// Version of stored records.
    pub version: u8,
    /// Revision of the arithmetic.
    pub numeric_revision: u32,
    /// Hash of the user.
    pub user: String,
    /// How often the user was forgotten.
    pub incarnation: u32,
    /// The place that decides.
    pub site: u32,
    /// Other places that the user was merged from, and how many events of each are known.
    pub merged: Vec<(u32, u32)>,
    /// Decisions made.
    pub rounds: u32,
    /// Rewards learned.
    pub rewards: u32,
    /// Decisions that wait for their reward.
    pub waiting: usize,
    /// Entries of the profile.
    pub promotions: usize,
    /// Number of weights.
    pub dimension: usize,
    /// Directions learned, tr(I - Lambda_0 Sigma): the effective number of parameters. Onboarding counts. `None` under a
    /// base prior that is not isotropic.
    pub learned: Option<f64>,
    /// Weights that feedback can move under the permissions of the last decision; `None` before the first.
    pub movable: Option<usize>,
    /// ln det Lambda - ln det Lambda_0: the information that was gained.
    pub log_det_ratio: f64,
    /// Half an interval is so many standard deviations.
    pub beta: f64,
    /// Pivots of the factor.
    pub pivots: Pivots,
    /// Whether every number of the state is finite, and every pivot positive.
    pub sound: bool,
    /// Whether promotions are guaranteed.
    pub guarantee: Guarantee,
    /// How much more than expected rewards surprise, at least 1.
    pub scale: f64,
    /// Rewards since the user seemed to have changed, up to 254; `None` if that has not happened. A user who stays the same seems so
    /// once in 1,000 rewards on average, or less often.
    pub rewards_since_change: Option<u8>,
    /// Rewards since what is known was last faded, or since the start.
    pub rewards_since_fading: u16,
    /// Bytes of the posterior.
    pub bytes: usize,
}

/// The smallest and the largest pivot D of Lambda = L D L^T. Their ratio is at most the condition number of Lambda.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Pivots {
    /// The smallest.
    pub least: f64,
    /// The largest.
    pub most: f64,
}

/// Whether, with probability 1 - alpha, no promotion is ever wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Guarantee {
    /// As far as the learner can know, if radius and noise are as the settings say.
    Holds,
    /// A reward was unlearned or imputed, or came with a weight other than 1, or what is known was faded.
    Voided,
    /// Alpha, radius, proxy or minimum are not those that the user was started with.
    SettingsChanged,
    /// Blocks of the dictionary are left out.
    BlocksLeftOut,
    /// Nothing is stated about how far a user may be from a fitted prior.
    FittedPrior,
}

impl Guarantee {
    /// Whether it holds.
    #[must_use]
    pub const fn holds(self) -> bool {
        matches!(self, Self::Holds)
    }

    /// The same for a person.
    #[must_use]
    pub const fn sentence(self) -> &'static str {
        match self {
            Self::Holds => "holds, if radius and noise are as the settings say",
            Self::Voided => "ended: a reward was unlearned, imputed or weighted, or what is known was faded",
            Self::SettingsChanged => "ended: alpha, radius, proxy or minimum are not the first ones",
            Self::BlocksLeftOut => "none: blocks of the dictionary are left out",
            Self::FittedPrior => "none: it is not known how far the user is from the fitted prior",
        }
    }
}

/// Counters, sizes and health of a user.
pub(super) fn state<T: Scalar>(user: &User<'_, T>, variances: &[f64]) -> StateReport {
    let (policy, posterior) = (user.policy(), user.posterior());
    let (catalog, settings) = (policy.catalog(), policy.settings());
    let packed = posterior.packed();
    let inverse = || packed.iter().take(catalog.dimension()).map(|inverse| inverse.to_f64());
    let (least, most) =
        inverse().fold((f64::INFINITY, 0.0_f64), |(least, most), e| (least.min(e), most.max(e)));
    let guarantee = match (
        policy.active_dimension() < catalog.dimension(),
        user.state().guarantee_fingerprint() == policy.guarantee_fingerprint(),
    ) {
        (true, _) => Guarantee::BlocksLeftOut,
        _ if user.state().is_voided() => Guarantee::Voided,
        _ if !policy.knows_radius() => Guarantee::FittedPrior,
        (_, false) => Guarantee::SettingsChanged,
        _ => Guarantee::Holds,
    };
    let learned = matches!(policy.prior(), Prior::Isotropic).then(|| {
        variances.iter().map(|variance| 1.0 - policy.base_precision() * variance).sum::<f64>().max(0.0)
    });
    let movable = Feasible::from_set(catalog, *user.state().permissions()).ok().map(|feasible| {
        let mut active = CoordinateSet::EMPTY;
        active.activate_in_any_context(catalog, &feasible);
        let learned = CoordinateSet::of_blocks(catalog, settings.retained);
        active.iter().filter(|coordinate| learned.contains(*coordinate)).count()
    });
    StateReport {
        catalog: catalog.definition().name.to_owned(),
        catalog_fingerprint: format!("{:016x}", catalog.fingerprint()),
        fingerprint: format!("{:016x}", policy.fingerprint()),
        fitted_prior: !matches!(policy.prior(), Prior::Isotropic),
        scalar: if T::DIGITS == 24 { "f32" } else { "f64" },
        version: VERSION,
        numeric_revision: NUMERIC_REVISION,
        user: format!("{:016x}", user.state().user()),
        incarnation: user.state().incarnation(),
        site: user.site(),
        merged: user.state().merged().collect(),
        rounds: user.state().rounds(),
        rewards: user.state().observations(),
        waiting: user.waiting(0).count(),
        promotions: user.profile().len(),
        dimension: catalog.dimension(),
        learned,
        movable,
        log_det_ratio: posterior.log_det_ratio(),
        beta: policy.beta(posterior.log_det_ratio()),
        pivots: Pivots { least: 1.0 / most, most: 1.0 / least },
        sound: packed.iter().all(|number| number.finite()) && inverse().all(|e| e > 0.0),
        guarantee,
        scale: user.scale(),
        rewards_since_change: user.state().rewards_since_change(),
        rewards_since_fading: user.state().rewards_since_fading(),
        bytes: size_of_val(packed),
    }
}
