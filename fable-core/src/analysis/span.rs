//! The span of the feasible features: the contrasts that can be learned.
//!
//! The safe span is S = span{phi(c_t, a) : t >= 1, a in A_t}. A linear functional w.theta is identified from
//! the mean rewards of feasible actions exactly when w is in S. Otherwise w has a part v that is orthogonal
//! to S. Adding v to theta changes no feasible score, but changes w.theta by |v|^2.
//!
//! The span is stored as orthonormal rows. Modified Gram-Schmidt projects a new vector onto their complement,
//! twice, so it is orthogonal to working precision (Kahan's "twice is enough"). The rest is normalised and
//! kept if it is longer than [`TOLERANCE`] times the vector. One call costs 4 r d multiply-adds for rank r.
//!
//! *Tolerance.* The rows span vectors that differ from the inserted ones by sqrt(r) eps of their lengths:
//! 2e-14 at the largest dimension of a catalog. So a vector w = sum c_i v_i leaves a rest of up to 2e-14
//! times sum |c_i v_i|. 1e-6 |w| accepts w even if its terms cancel to one part in 5e7. Features are ones and
//! signals, and contrasts have a few of them with coefficients near 1, so the margin is ample.
//!
//! The price: a direction within 1e-6 of the span counts as inside, for example the effect of a signal below
//! a millionth. Learning such an effect would take 1e12 times as many rounds.
//!
//! ```
//! use fable_core::analysis::{Span, SpanError};
//! use fable_core::catalog::tau2::{self, Memory, Style, TAU2, Tool};
//! use fable_core::{Context, Feasible, Rule, catalog::Part};
//!
//! const QUICK: Rule = Rule::forbid("quick", &[Part::new(1, &[Tool::Verify.index()])]);
//! let mut span = Span::over(TAU2.dimension(), vec![0.0; Span::<Vec<f64>>::storage_len(29, 18)])?;
//! span.add(&TAU2, &Context::new(&TAU2, None, &[]).unwrap(), &Feasible::new(&TAU2, &[QUICK]).unwrap())?;
//!
//! let coordinate = |name: &str| TAU2.coordinate(name).unwrap();
//! let contrast = |a: &str, b: &str| [(coordinate(a), 1.0), (coordinate(b), -1.0)];
//! assert!(!span.contains(contrast("tool=standard", "tool=verify"))?); // never compared
//! assert!(!span.contains(contrast("tool=standard", "tool=ask_if_missing"))?); // mixed up with its pairs
//! let context = Context::new(&TAU2, None, &[]).unwrap();
//! let phi = |tool, sign: f64| {
//!     let action = tau2::action(Memory::Conversation, tool, Style::Direct);
//!     TAU2.features(&context, action).map(move |(coordinate, value)| (coordinate, sign * f64::from(value)))
//! };
//! let feasible = phi(Tool::Standard, 1.0).chain(phi(Tool::AskIfMissing, -1.0)); // two feasible actions
//! assert!(span.contains(feasible)?);
//! # Ok::<(), SpanError>(())
//! ```

use crate::catalog::{Catalog, Context, Feasible};
use crate::numbers::Storage;
use core::fmt;

/// A vector is inside the span if the rest outside is at most this share of its length.
pub const TOLERANCE: f64 = 1e-6;
/// Largest magnitude of a coefficient. Sums of squares stay finite.
pub const MAX_COEFFICIENT: f64 = 1e100;

/// The span of the inserted vectors, with rows in the caller's storage. See the [module](self).
#[derive(Clone, Debug)]
pub struct Span<S> {
    dimension: usize,
    rank: usize,
    rows: S,
}

impl<S: Storage<f64>> Span<S> {
    /// Numbers for vectors of this dimension and rank: one row each, and one row of scratch.
    #[must_use]
    pub const fn storage_len(dimension: usize, rank: usize) -> usize {
        dimension.saturating_mul(rank.saturating_add(1))
    }

    /// The empty span, over given storage. The contents of the storage do not matter.
    ///
    /// # Errors
    /// Dimension 0, or storage for less than one row.
    pub fn over(dimension: usize, rows: S) -> Result<Self, SpanError> {
        if dimension == 0 || rows.as_ref().len() < dimension {
            return Err(SpanError::StorageLength { rank: 0 });
        }
        Ok(Self { dimension, rank: 0, rows })
    }

    /// Number of independent vectors so far.
    #[must_use]
    pub const fn rank(&self) -> usize {
        self.rank
    }

    /// Adds a vector, given as (coordinate, coefficient). Coefficients of one coordinate add up. True if the
    /// rank grew.
    ///
    /// # Errors
    /// A coordinate past the dimension, a coefficient out of range, or storage without another row; the span
    /// is as before then.
    pub fn insert(&mut self, vector: impl IntoIterator<Item = (usize, f64)>) -> Result<bool, SpanError> {
        let Some(left) = self.remainder(vector)? else { return Ok(false) };
        let (dimension, rank) = (self.dimension, self.rank);
        // The scratch row becomes a row of the span. There must be another one, unless the span is complete
        // now.
        if rank + 1 < dimension && self.rows.as_ref().len() < Self::storage_len(dimension, rank + 1) {
            return Err(SpanError::StorageLength { rank: rank + 1 });
        }
        for x in self.rows.as_mut().iter_mut().skip(rank * dimension).take(dimension) {
            *x /= left;
        }
        self.rank += 1;
        Ok(true)
    }

    /// True if a vector is in the span. The zero vector (shorter than 1e-150) always is.
    ///
    /// # Errors
    /// As for [`insert`](Self::insert), except for the storage.
    pub fn contains(&mut self, vector: impl IntoIterator<Item = (usize, f64)>) -> Result<bool, SpanError> {
        Ok(self.remainder(vector)?.is_none())
    }

    /// Adds the features of every feasible action in a context. True if the rank grew.
    ///
    /// # Errors
    /// As for [`insert`](Self::insert); the features before the one without a row are in the span then.
    pub fn add(
        &mut self,
        catalog: &Catalog<'_>,
        context: &Context,
        feasible: &Feasible,
    ) -> Result<bool, SpanError> {
        let before = self.rank;
        for action in feasible.set().iter() {
            self.insert(
                catalog.features(context, action).map(|(coordinate, value)| (coordinate, f64::from(value))),
            )?;
        }
        Ok(self.rank > before)
    }

    /// Adds the features of every feasible action in all contexts: no task and each task, each with all
    /// signals 0 and with one of them 1. Features are linear in signals, so these contexts span the others.
    ///
    /// # Errors
    /// As for [`add`](Self::add).
    pub fn add_any_context(&mut self, catalog: &Catalog<'_>, feasible: &Feasible) -> Result<bool, SpanError> {
        let before = self.rank;
        let definition = catalog.definition();
        for task in core::iter::once(None).chain((0..definition.tasks.len()).map(Some)) {
            for one in 0..=definition.signals.len() {
                let mut signals = [0.0; crate::catalog::MAX_SIGNALS];
                if let Some(signal) =
                    signals.get_mut(..definition.signals.len()).and_then(|signals| signals.get_mut(one))
                {
                    *signal = 1.0;
                }
                let signals = signals.get(..definition.signals.len()).unwrap_or(&[]);
                if let Ok(context) = Context::new(catalog, task, signals) {
                    self.add(catalog, &context, feasible)?;
                }
            }
        }
        Ok(self.rank > before)
    }

    /// Writes the part of a vector outside the span into the scratch row. The result is its length, or `None`
    /// if it is empty.
    fn remainder(
        &mut self,
        vector: impl IntoIterator<Item = (usize, f64)>,
    ) -> Result<Option<f64>, SpanError> {
        let dimension = self.dimension;
        if self.rank == dimension {
            // The span is complete and has no scratch row: only the numbers are checked.
            for (coordinate, value) in vector {
                admit(dimension, coordinate, value)?;
            }
            return Ok(None);
        }
        let (rows, free) = self.rows.as_mut().split_at_mut_checked(self.rank * dimension).unwrap_or_default();
        let work = free.get_mut(..dimension).ok_or(SpanError::StorageLength { rank: self.rank })?;
        work.fill(0.0);
        for (coordinate, value) in vector {
            admit(dimension, coordinate, value)?;
            if let Some(slot) = work.get_mut(coordinate) {
                *slot += value;
            }
        }
        let length = norm(work);
        for _ in 0..2 {
            for row in rows.chunks_exact(dimension) {
                let along = dot(row, work);
                for (x, q) in work.iter_mut().zip(row) {
                    *x -= along * q;
                }
            }
        }
        let left = norm(work);
        Ok((left > TOLERANCE * length).then_some(left))
    }
}

fn admit(dimension: usize, coordinate: usize, value: f64) -> Result<(), SpanError> {
    if coordinate >= dimension {
        Err(SpanError::Coordinate { coordinate })
    } else if value.abs() <= MAX_COEFFICIENT {
        Ok(())
    } else {
        Err(SpanError::Coefficient { coordinate })
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn norm(a: &[f64]) -> f64 {
    libm::sqrt(dot(a, a))
}

/// A fault in a vector or its storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum SpanError {
    /// The storage is too small for this rank, see [`Span::storage_len`], or the dimension is 0.
    StorageLength {
        /// The rank.
        rank: usize,
    },
    /// No such coordinate.
    Coordinate {
        /// The coordinate.
        coordinate: usize,
    },
    /// A coefficient is not a number from -1e100 to 1e100.
    Coefficient {
        /// Its coordinate.
        coordinate: usize,
    },
}

impl fmt::Display for SpanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::StorageLength { rank } => write!(f, "the storage of the span has no room for rank {rank}"),
            Self::Coordinate { coordinate } => write!(f, "there is no coordinate {coordinate}"),
            Self::Coefficient { coordinate } => {
                write!(f, "the coefficient of coordinate {coordinate} is not a number from -1e100 to 1e100")
            }
        }
    }
}

impl core::error::Error for SpanError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_span_of_a_plane() {
        let mut span = Span::over(3, [0.0; 9]).unwrap();
        assert!(span.contains([]).unwrap() && !span.contains([(2, 1e-30)]).unwrap());
        assert!(span.insert([(0, 1.0), (1, 1.0)]).unwrap());
        assert!(!span.insert([(0, -3e90), (1, -3e90)]).unwrap());
        assert!(span.insert([(1, 2.0), (1, -1.0)]).unwrap());
        assert_eq!(span.rank(), 2);
        assert!(span.contains([(0, 5.0), (1, -7.0)]).unwrap());
        assert!(
            !span.contains([(0, 5.0), (2, 1e-4)]).unwrap() && span.contains([(0, 5.0), (2, 1e-7)]).unwrap()
        );
        assert!(span.insert([(2, 1.0)]).unwrap()); // the last row
        assert_eq!(span.rank(), 3);
        assert!(span.contains([(0, 1.0), (1, 2.0), (2, 3.0)]).unwrap() && !span.insert([(1, 1.0)]).unwrap());
        assert_eq!(span.contains([(3, 1.0)]), Err(SpanError::Coordinate { coordinate: 3 }));
    }

    /// One pass would leave a rest a thousand times as large, since close vectors cancel.
    #[test]
    fn rows_stay_orthonormal_for_vectors_close_to_each_other() {
        let mut span = Span::over(12, [0.0; 108]).unwrap();
        let mut noise = 1_u32;
        let mut vector = [1.0; 12];
        for _ in 0..8 {
            for x in &mut vector {
                noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                *x += 1e-4 * (f64::from(noise >> 8) / f64::from(1 << 24) - 0.5);
            }
            assert!(span.insert(vector.into_iter().enumerate()).unwrap());
        }
        for (i, a) in span.rows.chunks(12).take(8).enumerate() {
            for (j, b) in span.rows.chunks(12).take(8).enumerate() {
                assert!((dot(a, b) - if i == j { 1.0 } else { 0.0 }).abs() < 1e-14, "{i} {j}");
            }
        }
    }

    #[test]
    fn every_fault_has_its_own_error_and_changes_nothing() {
        assert_eq!(Span::over(0, [0.0; 4]).unwrap_err(), SpanError::StorageLength { rank: 0 });
        assert_eq!(Span::over(3, [0.0; 2]).unwrap_err(), SpanError::StorageLength { rank: 0 });
        let mut span = Span::over(3, [0.0; 6]).unwrap();
        assert!(span.insert([(0, 2.0)]).unwrap());
        assert_eq!(span.insert([(1, 1.0)]), Err(SpanError::StorageLength { rank: 2 }));
        assert_eq!(
            span.insert([(0, 1.0), (usize::MAX, 1.0)]),
            Err(SpanError::Coordinate { coordinate: usize::MAX })
        );
        for bad in [f64::NAN, f64::INFINITY, -1e101] {
            assert_eq!(span.contains([(1, bad)]), Err(SpanError::Coefficient { coordinate: 1 }));
        }
        assert_eq!(span.rank(), 1);
        assert!(span.contains([(0, 1.0)]).unwrap() && !span.contains([(1, 1.0)]).unwrap());
    }
}
