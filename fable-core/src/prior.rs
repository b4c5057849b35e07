//! Where a posterior starts (Equations 2-3): a base prior, to which onboarding adds pseudo-observations.
//!
//! Three forms. `Isotropic`: mean 0 and one precision from the settings. `Diagonal`: any mean with a diagonal precision.
//! `Factor`: any arrow-shaped factor with its information row, for example learned from a population; it is laid out like
//! [`Posterior::packed`](crate::Posterior::packed), so the state of another posterior is a prior as it stands.
//!
//! ```
//! use fable_core::{Arrow, Posterior, Prior, Workspace};
//! let arrow = Arrow { leaves: 0, leaf: 0, root: 2 };
//! let mut posterior = Posterior::<f32, [f32; 5]>::VACANT;
//! posterior.start(arrow, &Prior::Diagonal { mean: &[0.5, 0.0], precision: &[4.0, 16.0] }, 1.0)?;
//! let first = posterior.contrast(&mut Workspace::over([0.0; 3]), [(0, 1.0)])?;
//! assert_eq!((first.mean, first.variance), (0.5, 0.25));
//! # Ok::<(), fable_core::PosteriorError>(())
//! ```

use crate::arrow::Arrow;
use crate::fingerprint::Fingerprint;
use crate::policy::within;
use crate::{BASE_PRECISION, Range, Scalar};
use core::fmt;

/// Largest magnitude of a prior mean and of an entry of a prior factor.
pub const MAX_PRIOR_ENTRY: f64 = 1e4;

/// Range of the pivots D = 1/E of a prior factor; a population's can be far more precise than a base precision.
pub const PIVOT: Range = Range { least: 1e-3, most: 1e9 };

/// A base prior.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
#[non_exhaustive]
pub enum Prior<'a, T> {
    /// Mean 0 and the base precision of the settings in every coordinate.
    #[default]
    Isotropic,
    /// Independent coordinates.
    Diagonal {
        /// One mean per coordinate.
        mean: &'a [f64],
        /// One precision per coordinate.
        precision: &'a [f64],
    },
    /// A packed factor: E, then the columns with the information row, as the posterior keeps them.
    Factor(&'a [T]),
}

impl<T: Scalar> Prior<'_, T> {
    /// Whether the prior fits a shape and its numbers are in range.
    pub(crate) fn check(&self, arrow: Arrow) -> Result<(), PriorError> {
        let dimension = arrow.dimension();
        match *self {
            Self::Isotropic => Ok(()),
            Self::Diagonal { mean, precision } => {
                if mean.len() != dimension || precision.len() != dimension {
                    return Err(PriorError::Length { expected: dimension });
                }
                if let Some(coordinate) = mean.iter().position(|mean| !within(*mean, MAX_PRIOR_ENTRY)) {
                    return Err(PriorError::Mean { coordinate });
                }
                match precision.iter().position(|precision| !BASE_PRECISION.contains(*precision)) {
                    Some(coordinate) => Err(PriorError::Precision { coordinate }),
                    None => Ok(()),
                }
            }
            Self::Factor(packed) => {
                if packed.len() != arrow.packed_len() {
                    return Err(PriorError::Length { expected: arrow.packed_len() });
                }
                for (index, value) in packed.iter().map(|value| value.to_f64()).enumerate() {
                    if index < dimension && !PIVOT.contains(1.0 / value) {
                        return Err(PriorError::Precision { coordinate: index });
                    }
                    if !within(value, MAX_PRIOR_ENTRY) {
                        return Err(PriorError::Entry { index });
                    }
                }
                Ok(())
            }
        }
    }

    /// Writes a checked prior into storage of the right length.
    pub(crate) fn write(&self, arrow: Arrow, base_precision: f64, packed: &mut [T]) {
        match *self {
            Self::Isotropic => {
                packed.fill(T::ZERO);
                for inverse in packed.iter_mut().take(arrow.dimension()) {
                    *inverse = T::from_f64(1.0 / base_precision);
                }
            }
            Self::Diagonal { mean, precision } => {
                packed.fill(T::ZERO);
                for (inverse, precision) in packed.iter_mut().zip(precision) {
                    *inverse = T::from_f64(1.0 / precision);
                }
                // With L = I the whitened information vector is the mean: the last entry of each column.
                let mut end = arrow.dimension();
                for (coordinate, mean) in mean.iter().enumerate() {
                    end += match arrow.locate(coordinate) {
                        Some((Some(_), inside)) => usize::from(arrow.leaf) + usize::from(arrow.root) - inside,
                        Some((None, inside)) => usize::from(arrow.root) - inside,
                        None => return,
                    };
                    if let Some(z) = packed.get_mut(end - 1) {
                        *z = T::from_f64(*mean);
                    }
                }
            }
            Self::Factor(factor) => {
                for (slot, value) in packed.iter_mut().zip(factor) {
                    *slot = *value;
                }
            }
        }
    }

    /// Adds the prior to a fingerprint.
    pub(crate) fn fingerprint(&self, sum: Fingerprint) -> Fingerprint {
        match *self {
            Self::Isotropic => sum.u64(0),
            Self::Diagonal { mean, precision } => mean.iter().chain(precision).fold(sum.u64(1), |sum, value| sum.f64(*value)),
            Self::Factor(packed) => packed.iter().fold(sum.u64(2), |sum, value| sum.u64(value.bits())),
        }
    }
}

/// What can be wrong with a prior.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum PriorError {
    /// The wrong number of means, precisions or factor entries.
    Length {
        /// What the catalog needs.
        expected: usize,
    },
    /// A mean is not a number from -10,000 to 10,000.
    Mean {
        /// Its coordinate.
        coordinate: usize,
    },
    /// A precision is not a number from 0.001 to 10,000, or a factor's pivot not one from 0.001 to 1e9.
    Precision {
        /// Its coordinate.
        coordinate: usize,
    },
    /// An entry of a factor is not a number from -10,000 to 10,000.
    Entry {
        /// Its place in the packed factor.
        index: usize,
    },
}

impl fmt::Display for PriorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length { expected } => write!(f, "the prior needs exactly {expected} numbers"),
            Self::Mean { coordinate } => {
                write!(f, "the prior mean of coordinate {coordinate} is not a number from -10000 to 10000")
            }
            Self::Precision { coordinate } => {
                write!(f, "the prior precision of coordinate {coordinate} is out of range")
            }
            Self::Entry { index } => write!(f, "entry {index} of the prior factor is not a number from -10000 to 10000"),
        }
    }
}

impl core::error::Error for PriorError {}
