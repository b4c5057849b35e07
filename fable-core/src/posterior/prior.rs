//! The start of a posterior (Equations 2 and 3): a base prior, to which onboarding adds pseudo-observations.
//!
//! `Isotropic` has mean 0 and one precision from the settings. `Diagonal` has any mean and a diagonal
//! precision. [`Factor`] is any arrow-shaped factor with its information row, for example one learned from a
//! population. It has the order of [`Posterior::packed`](crate::posterior::Posterior::packed), so the factor
//! of another posterior is a prior.
//!
//! ```
//! use fable_core::posterior::{Layout, Posterior, Prior};
//! let layout = Layout::new(0, 0, 2).unwrap();
//! let mut posterior = Posterior::<f32, _>::from_storage([0.0; 5]);
//! posterior.start(layout, &Prior::Diagonal { mean: &[0.5, 0.0], precision: &[4.0, 16.0] }, 1.0)?;
//! let first = posterior.contrast(&mut [0.0; 3], [(0, 1.0)])?;
//! assert_eq!((first.mean, first.variance), (0.5, 0.25));
//! # Ok::<(), fable_core::posterior::PosteriorError>(())
//! ```

use super::Posterior;
use crate::numbers::{BASE_PRECISION, Fingerprint, Layout, Number, Range, within};
use core::fmt;

/// Largest magnitude of a prior mean.
pub const MAX_PRIOR_MEAN: f64 = 1e4;
/// Largest magnitude of an entry of a prior factor.
pub const MAX_PRIOR_ENTRY: f64 = 1e9;
/// Range of the pivots D = 1/E of a prior factor. A population's prior can be far more precise than a base
/// precision.
pub const PIVOT: Range = Range { least: 1e-3, most: 1e13 };

/// A checked packed factor: pivots, entries, mean and variances are in range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Factor<'a, T> {
    layout: Layout,
    packed: &'a [T],
}

impl<'a, T: Number> Factor<'a, T> {
    /// Checks E, then the columns with the information row. Takes one forward solve per coordinate, since
    /// entries in range can still describe a distribution out of range.
    ///
    /// # Errors
    /// The wrong length, a pivot or an entry out of range, a coordinate whose variance or mean is, a
    /// workspace too small.
    pub fn new(
        layout: Layout,
        packed: &'a [T],
        workspace: &mut (impl AsMut<[T]> + ?Sized),
    ) -> Result<Self, PriorError> {
        if packed.len() != layout.packed_len() {
            return Err(PriorError::Length { expected: layout.packed_len() });
        }
        for (index, value) in packed.iter().copied().enumerate() {
            Prior::check_entry(layout, index, value)?;
        }
        let posterior = Posterior::from_parts(layout, 0.0, packed);
        for coordinate in 0..layout.dimension() {
            let unit = posterior
                .contrast(workspace, [(coordinate, T::ONE)])
                .map_err(|_| PriorError::WorkspaceLength)?;
            if !within(unit.variance.to_f64(), 1.01 / BASE_PRECISION.least) {
                return Err(PriorError::Precision { coordinate });
            }
            if !within(unit.mean.to_f64(), MAX_PRIOR_MEAN) {
                return Err(PriorError::Mean { coordinate });
            }
        }
        Ok(Self { layout, packed })
    }

    /// The numbers.
    #[must_use]
    pub const fn packed(&self) -> &'a [T] {
        self.packed
    }

    /// The factor as a posterior.
    pub(crate) const fn posterior(&self) -> Posterior<T, &'a [T]> {
        Posterior::from_parts(self.layout, 0.0, self.packed)
    }
}

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
    /// Any arrow-shaped factor.
    Factor(Factor<'a, T>),
}

impl<T: Number> Prior<'_, T> {
    /// The number that begins each form in a fingerprint.
    pub(crate) const ISOTROPIC: u64 = 0;
    const DIAGONAL: u64 = 1;
    pub(crate) const FACTOR: u64 = 2;

    /// Checks one number of a factor.
    pub(crate) fn check_entry(layout: Layout, index: usize, value: T) -> Result<(), PriorError> {
        let value = value.to_f64();
        if index < layout.dimension() && !PIVOT.contains(1.0 / value) {
            Err(PriorError::Precision { coordinate: index })
        } else if !within(value, MAX_PRIOR_ENTRY) {
            Err(PriorError::Entry { index })
        } else {
            Ok(())
        }
    }

    /// True if the prior's mean is not 0.
    pub(crate) fn has_mean(&self) -> bool {
        match self {
            Self::Isotropic => false,
            Self::Diagonal { mean, .. } => mean.iter().any(|mean| *mean != 0.0),
            // L^T mu = z
            Self::Factor(Factor { layout, packed }) => {
                layout.column_ends().any(|end| packed.get(end).is_some_and(|z| *z != T::ZERO))
            }
        }
    }

    /// Checks that the prior fits a shape and that its numbers are in range.
    pub(crate) fn check(&self, layout: Layout) -> Result<(), PriorError> {
        let dimension = layout.dimension();
        match *self {
            Self::Isotropic => Ok(()),
            Self::Diagonal { mean, precision } => {
                if mean.len() != dimension || precision.len() != dimension {
                    return Err(PriorError::Length { expected: dimension });
                }
                if let Some(coordinate) = mean.iter().position(|mean| !within(*mean, MAX_PRIOR_MEAN)) {
                    return Err(PriorError::Mean { coordinate });
                }
                match precision.iter().position(|precision| !BASE_PRECISION.contains(*precision)) {
                    Some(coordinate) => Err(PriorError::Precision { coordinate }),
                    None => Ok(()),
                }
            }
            Self::Factor(factor) if factor.layout == layout => Ok(()),
            Self::Factor(_) => Err(PriorError::Length { expected: layout.packed_len() }),
        }
    }

    /// Writes a checked prior into storage of the right length.
    pub(crate) fn write(&self, layout: Layout, base_precision: f64, packed: &mut [T]) {
        match *self {
            Self::Isotropic => {
                packed.fill(T::ZERO);
                for inverse in packed.iter_mut().take(layout.dimension()) {
                    *inverse = T::from_f64(1.0 / base_precision);
                }
            }
            Self::Diagonal { mean, precision } => {
                packed.fill(T::ZERO);
                for (inverse, precision) in packed.iter_mut().zip(precision) {
                    *inverse = T::from_f64(1.0 / precision);
                }
                // With L = I the whitened information vector is the mean. It has the last entry of each
                // column.
                for (end, mean) in layout.column_ends().zip(mean) {
                    if let Some(z) = packed.get_mut(end) {
                        *z = T::from_f64(*mean);
                    }
                }
            }
            Self::Factor(factor) => {
                for (slot, value) in packed.iter_mut().zip(factor.packed) {
                    *slot = *value;
                }
            }
        }
    }

    /// Writes a packed column of L with its entry of the information row into zeros. The result is its E.
    pub(super) fn column(&self, layout: Layout, base_precision: f64, coordinate: usize, out: &mut [T]) -> T {
        match *self {
            Self::Isotropic => T::from_f64(1.0 / base_precision),
            Self::Diagonal { mean, precision } => {
                if let (Some(last), Some(mean)) = (out.last_mut(), mean.get(coordinate)) {
                    *last = T::from_f64(*mean);
                }
                T::from_f64(1.0 / precision.get(coordinate).copied().unwrap_or(base_precision))
            }
            Self::Factor(factor) => {
                let end = layout.column_ends().nth(coordinate).map_or(0, |end| end + 1);
                let start = end.saturating_sub(out.len());
                for (slot, entry) in out.iter_mut().zip(factor.packed.iter().skip(start)) {
                    *slot = *entry;
                }
                factor.packed.get(coordinate).copied().unwrap_or(T::ONE)
            }
        }
    }

    /// Adds the prior to a fingerprint.
    pub(crate) fn fingerprint(&self, sum: Fingerprint) -> Fingerprint {
        match *self {
            Self::Isotropic => sum.u64(Self::ISOTROPIC),
            Self::Diagonal { mean, precision } => {
                mean.iter().chain(precision).fold(sum.u64(Self::DIAGONAL), |sum, value| sum.f64(*value))
            }
            Self::Factor(factor) => {
                factor.packed.iter().fold(sum.u64(Self::FACTOR), |sum, value| sum.u64(value.bits()))
            }
        }
    }
}

/// A fault in a prior.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum PriorError {
    /// The wrong number of means, precisions or factor entries.
    Length {
        /// The number that the catalog needs.
        expected: usize,
    },
    /// A mean is not a number from -10,000 to 10,000.
    Mean {
        /// Its coordinate.
        coordinate: usize,
    },
    /// The base precision is not a number from 0.001 to 10,000.
    BasePrecision,
    /// The workspace is too small for the factor's shape.
    WorkspaceLength,
    /// A precision is not a number from 0.001 to 10,000, or a factor's pivot or marginal precision is out of
    /// range.
    Precision {
        /// Its coordinate.
        coordinate: usize,
    },
    /// An entry of a factor is not a number from -1e9 to 1e9.
    Entry {
        /// Its index in the packed factor.
        index: usize,
    },
}

impl fmt::Display for PriorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length { expected } => write!(f, "the prior needs exactly {expected} numbers"),
            Self::BasePrecision => f.write_str("the base precision is not a number from 0.001 to 10000"),
            Self::WorkspaceLength => f.write_str("the workspace is too small for the factor"),
            Self::Mean { coordinate } => {
                write!(f, "the prior mean of coordinate {coordinate} is not a number from -10000 to 10000")
            }
            Self::Precision { coordinate } => {
                write!(f, "the prior precision of coordinate {coordinate} is out of range")
            }
            Self::Entry { index } => {
                write!(f, "entry {index} of the prior factor is not a number from -1e9 to 1e9")
            }
        }
    }
}

impl core::error::Error for PriorError {}
