//! The guarantee of promotions: beta_t(alpha), the wealth that probes need, and the fingerprint of the
//! settings behind both.

use super::{Policy, Settings};
use crate::catalog::score::Scalar;
use crate::numbers::Fingerprint;
use crate::posterior::Prior;

/// Difference of two guarantee fingerprints: probes have half of alpha, or none of it.
const SHARED: u32 = 0x5368_6172;

impl<T: Scalar> Policy<'_, T> {
    /// R_b: the setting, or the square root of the base precision.
    #[must_use]
    pub fn prior_radius(&self) -> f64 {
        self.settings.prior_radius.unwrap_or_else(|| libm::sqrt(self.base_precision))
    }

    /// True if R_b applies to the base prior. The default R_b applies to the isotropic prior alone.
    #[must_use]
    pub const fn knows_radius(&self) -> bool {
        self.settings.prior_radius.is_some() || matches!(self.prior, Prior::Isotropic)
    }

    /// beta_t(alpha) = R_b + (s / sigma) sqrt(ln(det Lambda_t / det Lambda_0) + 2 ln(1 / alpha)), with half
    /// of alpha under probes.
    #[must_use]
    pub fn beta(&self, log_det_ratio: f64) -> f64 {
        self.beta_with(log_det_ratio, self.shares_alpha())
    }

    /// beta_t(alpha), with half of alpha if `shared`.
    pub(crate) fn beta_with(&self, log_det_ratio: f64, shared: bool) -> f64 {
        let Settings { noise_variance, noise_proxy, .. } = self.settings;
        let alpha = if shared { self.settings.alpha / 2.0 } else { self.settings.alpha };
        let growth = log_det_ratio.max(0.0) - 2.0 * libm::log(alpha);
        self.prior_radius() + libm::sqrt(noise_proxy.unwrap_or(noise_variance) / noise_variance * growth)
    }

    /// True if probes have half of alpha and the ellipsoid the other half: where the rate of probes is
    /// positive.
    #[must_use]
    pub const fn shares_alpha(&self) -> bool {
        self.settings.probe > 0.0
    }

    /// True if a learner with this guarantee fingerprint has given half of alpha to probes, false if none.
    ///
    /// `None` if the fingerprint is that of other settings.
    pub(crate) fn shared(&self, guarantee_fingerprint: u32) -> Option<bool> {
        match guarantee_fingerprint ^ self.guarantee_alone() {
            0 => Some(false),
            SHARED => Some(true),
            _ => None,
        }
    }

    /// The wealth that certifies one of M declared contrasts: 2 M / alpha_p, with alpha_p half of alpha.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a catalog declares 64 at most")]
    pub const fn needed(&self) -> f64 {
        4.0 * self.catalog.contrasts().len() as f64 / self.settings.alpha
    }

    /// Fingerprint of the settings that only the guarantee of promotions depends on: alpha, its share for
    /// probes, radius, proxy and minimum. A learner keeps the fingerprint that it was started with.
    ///
    /// The rate of probes may change at any time. A learner that was started without probes has given all of
    /// alpha to the ellipsoid. Later probes have half of alpha on top, and both together are wrong with
    /// probability 3/2 alpha at most.
    #[must_use]
    pub fn guarantee_fingerprint(&self) -> u32 {
        self.guarantee_with(self.shares_alpha())
    }

    /// The guarantee fingerprint, with half of alpha for probes if `shared`.
    pub(crate) fn guarantee_with(&self, shared: bool) -> u32 {
        self.guarantee_alone() ^ if shared { SHARED } else { 0 }
    }

    /// True if the guarantee of another policy holds under this one: same alpha, proxy and minimum, and no
    /// smaller radius.
    ///
    /// The default radius says that a user is within 1 of the prior's mean. So it also covers coordinates
    /// that still have a smaller precision of before.
    #[cfg(feature = "migrate")]
    pub(crate) fn radius_covers(&self, old: &Self) -> bool {
        let proxy = |settings: &Settings<'_>| settings.noise_proxy.unwrap_or(settings.noise_variance);
        let (own, other) = (&self.settings, &old.settings);
        own.alpha == other.alpha
            && own.min_evidence == other.min_evidence
            && proxy(own) == proxy(other)
            && self.prior_radius() >= old.prior_radius()
    }

    /// The guarantee fingerprint with all of alpha for the ellipsoid.
    fn guarantee_alone(&self) -> u32 {
        let Settings { noise_variance, noise_proxy, alpha, min_evidence, .. } = self.settings;
        let sum =
            Fingerprint::new().f64(alpha).f64(self.prior_radius()).f64(noise_proxy.unwrap_or(noise_variance));
        let [a, b, c, d, e, f, g, h] = sum.u64(u64::from(min_evidence)).finish().to_le_bytes();
        u32::from_le_bytes([a ^ e, b ^ f, c ^ g, d ^ h])
    }
}
