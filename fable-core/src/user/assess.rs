//! How much this user prefers one action to another, and how certain that is (Appendix G).
//!
//! With w = phi(c, a+) - phi(c, a-), the contrast eta = w.theta has the working posterior N(w.mu, w.Sigma.w).
//! The interval w.mu +- beta_t(alpha) sqrt(w.Sigma.w) covers eta for every w and every round at once with
//! probability 1 - alpha. So frequent assessments, and contrasts made up on the spot, cost no confidence.
//!
//! The interval assumes what [`prior_radius`](crate::Settings::prior_radius) and
//! [`noise_proxy`](crate::Settings::noise_proxy) say. It also assumes that missing and late rewards are
//! independent of their values. A user who answers only when pleased looks like one who is always pleased.
//! One assessment is one forward solve over the touched leaf and the root.
//!
//! ```
//! use fable_core::catalog::TAU2;
//! use fable_core::preference::{Comparison, Verdict};
//! use fable_core::{HostUser, Policy, Settings};
//!
//! let policy = Policy::<f32>::new(&TAU2, Settings::default())?;
//! let mut ana = HostUser::<f32>::new(&policy, "ana")?;
//!
//! let brief = Comparison::declared(&TAU2, TAU2.contrast("concise_over_guided").unwrap()).unwrap();
//! let assessment = ana.user().assess(&brief)?;
//! assert_eq!((assessment.mean, assessment.probability), (0.0, 0.5)); // nothing is known yet
//! assert_eq!((assessment.verdict, assessment.evidence, assessment.valid), (Verdict::Open, 0, true));
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```

use super::{User, UserError, supported};
use crate::catalog::{Action, Catalog, Context, score::Scalar};
use crate::policy::Policy;

/// Two complete actions that differ in one component, compared in one context.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Comparison {
    /// The context.
    pub context: Context,
    /// The action that a positive contrast prefers.
    pub prefer: Action,
    /// The other action.
    pub over: Action,
    /// Add the known difference of the reference scores: which action is better in all, instead of which one
    /// the user likes better than expected.
    pub total: bool,
}

impl Comparison {
    /// A declared contrast by its position; `None` if there is none.
    #[must_use]
    #[inline]
    pub fn declared(catalog: &Catalog<'_>, index: usize) -> Option<Self> {
        let parts = catalog.contrast_parts(index)?;
        Some(Self { context: parts.context, prefer: parts.prefer, over: parts.over, total: false })
    }
}

/// The decision about a contrast.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Verdict {
    /// The user prefers the second action, -1.
    Against,
    /// Undecided, 0.
    Open,
    /// The user prefers the first action, +1.
    For,
}

impl Verdict {
    /// -1, 0 or +1.
    #[must_use]
    pub const fn sign(self) -> i8 {
        match self {
            Self::Against => -1,
            Self::Open => 0,
            Self::For => 1,
        }
    }
}

/// Distance of a contrast from promotion.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Gap {
    /// Distance of the nearer end of the interval from zero, on the wrong side; negative on the right side.
    pub distance: f64,
    /// Approximate number of further informative rounds. It assumes the present mean, and a variance that
    /// goes on falling like 1 / (n_0 + n), with n the evidence and n_0 the worth of the prior. `None` if no
    /// number of rounds suffices, as for two actions with the same features.
    ///
    /// The number ignores rules. It means nothing where rules leave only actions that never tell the two
    /// apart. `analysis::Span` (feature `analysis`) tells if such actions exist.
    pub rounds: Option<u32>,
}

/// An assessment of a contrast. Numbers are on the reward's scale.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Assessment {
    /// w.mu
    pub mean: f64,
    /// sqrt(w.Sigma.w)
    pub sd: f64,
    /// p+, the working posterior's probability that the contrast is positive.
    pub probability: f64,
    /// beta_t(alpha)
    pub beta: f64,
    /// beta times sd: half the width of the interval.
    pub radius: f64,
    /// Lower end of the anytime interval.
    pub lower: f64,
    /// Upper end of the anytime interval.
    pub upper: f64,
    /// rho_t(alpha) = Phi(beta), the calibrated threshold of p+ or 1 - p+. Near 1 both round to 1, so the
    /// verdict is taken from the interval, which is equivalent without rounding.
    pub threshold: f64,
    /// Learned observations whose action uses one of the two values. Statements and imputed rewards do not
    /// count.
    pub evidence: u32,
    /// The side of zero of the whole interval, if there is enough evidence.
    pub verdict: Verdict,
    /// The distance from a promotion.
    pub gap: Gap,
    /// The guarantee holds as far as the learner can know: nothing was unlearned or imputed, and no weight
    /// other than 1 was given. All blocks are retained, a prior other than the isotropic one has a stated
    /// radius, and alpha, radius, proxy and minimum are those of the start.
    pub valid: bool,
}

impl<T: Scalar> User<'_, T> {
    /// Assesses a contrast.
    ///
    /// # Errors
    /// A context or action of another catalog, two actions that do not differ in exactly one component;
    /// without the feature `promote` [`UserError::Unsupported`].
    pub fn assess(&mut self, comparison: &Comparison) -> Result<Assessment, UserError> {
        supported(cfg!(feature = "promote"))?;
        self.admit()?;
        let policy = self.policy;
        let Comparison { context, prefer, over, total } = comparison;
        self.admit_action(context, *prefer)?;
        self.admit_action(context, *over)?;
        let Difference { component, preferred, other } =
            difference(policy.catalog(), *prefer, *over).ok_or(UserError::Comparison)?;
        let evidence = self.evidence(component, preferred).saturating_add(self.evidence(component, other));

        let mut norm = 0.0;
        let direction = policy.difference(context, *prefer, *over).map(|(index, value)| {
            norm += f64::from(value) * f64::from(value);
            (index, T::from_f32(value))
        });
        let (posterior, scratch) = self.posterior_and_scratch();
        let estimate = posterior.contrast(scratch, direction)?;
        let offset = |action| policy.baseline(context, action, None).to_f64();
        let known = if *total { offset(*prefer) - offset(*over) } else { 0.0 };

        let (mean, sd) = (estimate.mean.to_f64() + known, libm::sqrt(estimate.variance.to_f64().max(0.0)));
        let kept = policy.shared(self.state().guarantee_fingerprint);
        let beta =
            policy.beta_with(self.state().log_det_ratio, kept.unwrap_or_else(|| policy.shares_alpha()));
        let radius = beta * sd;
        let (lower, upper) = (mean - radius, mean + radius);
        let enough = evidence >= policy.settings().min_evidence;
        let verdict = match (lower > 0.0, upper < 0.0) {
            (true, _) if enough && sd > 0.0 => Verdict::For,
            (_, true) if enough && sd > 0.0 => Verdict::Against,
            _ => Verdict::Open,
        };
        // Without a feature eta is the known offset, and 0 / 0 is no probability.
        let probability = if sd > 0.0 || mean != 0.0 { normal_cdf(mean / sd) } else { 0.5 };
        let gap = gap(policy, mean, radius, evidence, norm);
        let covered = policy.knows_radius() && policy.mask().is_none();
        let valid = !self.state().voided && kept.is_some() && covered;
        let threshold = normal_cdf(beta);
        Ok(Assessment {
            mean,
            sd,
            probability,
            beta,
            radius,
            lower,
            upper,
            threshold,
            evidence,
            verdict,
            gap,
            valid,
        })
    }
}

impl<T: Scalar> User<'_, T> {
    /// True if alpha, radius, proxy and minimum are those of the learner's start.
    pub(super) fn keeps_guarantee(&self) -> bool {
        self.policy.shared(self.state().guarantee_fingerprint).is_some()
    }
}

/// The component in which two actions differ, and their values in it.
struct Difference {
    component: usize,
    preferred: u8,
    other: u8,
}

/// The difference of two actions; `None` unless they differ in exactly one component.
#[inline]
fn difference(catalog: &Catalog<'_>, prefer: Action, over: Action) -> Option<Difference> {
    let (prefer, over) = (catalog.values(prefer)?, catalog.values(over)?);
    let mut differing = prefer.iter().zip(&over).enumerate().filter(|(_, (plus, minus))| plus != minus);
    let (component, (preferred, other)) = differing.next()?;
    let difference = Difference { component, preferred: *preferred, other: *other };
    differing.next().is_none().then_some(difference)
}

/// With w.Sigma.w = c / (n_0 + n) and the present mean, the interval leaves zero when n_0 + n has grown by
/// radius^2 / mean^2.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "within the range of u32, and rounded up"
)]
fn gap<T: Scalar>(policy: &Policy<'_, T>, mean: f64, radius: f64, evidence: u32, norm: f64) -> Gap {
    let settings = policy.settings();
    let missing = f64::from(settings.min_evidence.saturating_sub(evidence));
    // Two means of half the observations each: var = 4 sigma^2 / n. The prior is worth as many observations
    // as |w|^2 / precision.
    let prior = 4.0 * settings.noise_variance * policy.base_precision() / norm.max(1e-9);
    let growth = (radius / mean) * (radius / mean) - 1.0;
    let more = libm::ceil((prior + f64::from(evidence)) * growth).max(missing);
    let rounds = (radius > 0.0 && more <= f64::from(u32::MAX)).then_some(more as u32);
    Gap { distance: radius - mean.abs(), rounds }
}

/// Phi
#[inline]
fn normal_cdf(x: f64) -> f64 {
    0.5 * libm::erfc(-x * core::f64::consts::FRAC_1_SQRT_2)
}
