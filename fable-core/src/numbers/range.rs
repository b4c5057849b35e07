//! Ranges of numbers, and the limits within which no update can overflow.

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
    /// True if a value is in the range; false for NaN.
    #[must_use]
    pub const fn contains(&self, value: f64) -> bool {
        value >= self.least && value <= self.most
    }
}

/// True if a value has at most this magnitude; false for NaN.
pub(crate) const fn within(value: f64, limit: f64) -> bool {
    value.abs() <= limit
}

/// Range of the base precision and of a diagonal prior's precisions.
pub const BASE_PRECISION: Range = Range { least: 1e-3, most: 1e4 };
/// Range of an observation's weight.
pub const WEIGHT: Range = Range { least: 1e-3, most: 100.0 };
/// Range of an onboarding statement's precision. 0 is allowed, too, and skips the statement.
pub const ONBOARDING_PRECISION: Range = Range { least: 1e-6, most: 1e6 };
/// Range of a reward and of an onboarding response.
pub const REWARD: Range = Range { least: -1.0, most: 1.0 };
/// Largest magnitude of an entry of a direction.
pub const MAX_COEFFICIENT: f64 = 100.0;
/// Largest magnitude of a response.
pub const MAX_RESPONSE: f64 = 20_000.0;
/// Largest magnitude of a baseline. The residual of any reward then stays within [`MAX_RESPONSE`].
pub const MAX_BASELINE: f64 = MAX_RESPONSE - 1.0;
/// Range of the variance of one observation. Settings, weights and onboarding precisions give a smaller
/// range, so rounding to `f32` stays within.
pub const VARIANCE: Range = Range { least: 1e-7, most: 1e13 };
