//! The number of rounds for which a smaller dictionary is the better choice.
//!
//! Leaving blocks out costs bias in every round and saves estimation. With k of d coordinates the regret
//! bound after n rounds is n b_k + C g(k) sqrt(n), with b_k = 2 sqrt(rho E_k) and g the [`Rate`] of the
//! algorithm, up to logarithmic factors. Each function is one formula. For a NaN the result is NaN or
//! `false`.
//!
//! ```
//! use fable_core::analysis::budget::{Rate, bias};
//! let b = bias(1.0, 0.0025); // rho, E
//! assert!((b - 0.1).abs() < 1e-15);
//! assert_eq!((Rate::Ucb.of(4), Rate::Thompson.of(4)), (4.0, 8.0));
//! // 17 coordinates instead of 254 have the smaller bound for the first five million rounds.
//! assert!((Rate::Ucb.crossover(1.0, 17, 254, b) - (237.0 / b).powi(2)).abs() < 1e-3);
//! assert!(Rate::Ucb.saves_samples(17, 254, b, 0.2));
//! ```

/// Growth of a regret bound with the dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Rate {
    /// g(k) = k, upper confidence bounds.
    Ucb,
    /// g(k) = k^(3/2), Thompson sampling, as the learner uses.
    Thompson,
}

impl Rate {
    /// g(k)
    #[must_use]
    pub fn of(self, k: usize) -> f64 {
        let k = u32::try_from(k).map_or(f64::INFINITY, f64::from);
        match self {
            Self::Ucb => k,
            Self::Thompson => k * libm::sqrt(k),
        }
    }

    /// n_x(k), the number of rounds before which k of d coordinates have the smaller bound: ((C (g(d) - g(k))
    /// / b)^2.
    ///
    /// Without bias the result is infinity for k < d, and 0 for k >= d.
    #[must_use]
    pub fn crossover(self, constant: f64, k: usize, d: usize, bias: f64) -> f64 {
        if k >= d {
            return 0.0;
        }
        let ratio = constant * (self.of(d) - self.of(k)) / bias;
        ratio * ratio
    }

    /// Rounds after which the average regret is at most `epsilon`: (C g(k) / (epsilon - b))^2, infinity for b
    /// >= epsilon.
    #[must_use]
    pub fn rounds(self, constant: f64, k: usize, bias: f64, epsilon: f64) -> f64 {
        if bias >= epsilon {
            return f64::INFINITY;
        }
        let root = constant * self.of(k) / (epsilon - bias);
        root * root
    }

    /// True if k of d coordinates reach an average regret of `epsilon` sooner than all d: b < epsilon (1 -
    /// g(k) / g(d)).
    #[must_use]
    pub fn saves_samples(self, k: usize, d: usize, bias: f64, epsilon: f64) -> bool {
        bias < epsilon * (1.0 - self.of(k) / self.of(d))
    }
}

/// b = 2 sqrt(rho E), the most regret per round for an omitted error E. A rounded E below 0 counts as 0.
#[must_use]
pub fn bias(rho: f64, error: f64) -> f64 {
    2.0 * libm::sqrt(rho * if error < 0.0 { 0.0 } else { error })
}
