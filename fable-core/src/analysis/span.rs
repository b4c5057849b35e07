//! Which contrasts can be learned at all: the span of the feasible features.
//!
//! The safe span is S = span{phi(c_t, a) : t >= 1, a in A_t}. A linear functional w.theta is identified from
//! the mean rewards of feasible actions exactly when w lies in S: otherwise the part v of w that is
//! orthogonal to S can be added to theta without changing any feasible score, while w.theta changes by |v|^2.
//!
//! The span is kept as orthonormal rows. A new vector is projected onto their complement by modified
//! Gram-Schmidt, twice, which makes it orthogonal to working precision (Kahan's "twice is enough"); it is
//! normalised and kept when more than [`TOLERANCE`] of its length is left. One call costs 4 r d multiply-adds
//! for rank r.
//!
//! *Tolerance.* The rows span, to the last bit or so, vectors that differ from the inserted ones by sqrt(r)
//! eps of their lengths: 2e-14 at the largest dimension of a catalog. A vector w = sum c_i v_i therefore
//! keeps a remainder of up to 2e-14 sum
//! |c_i v_i|, and 1e-6 |w| accepts it even when its terms cancel to one part in 5e7. Features are ones and signals, and contrasts
//! take a few of them with coefficients near 1, so that is ample. What it gives up: a direction within 1e-6
//! of the span counts as inside, such as the effect of a signal that never exceeds a millionth. Learning it
//! as well as a plain effect would take 1e12 times as many rounds.
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
//! let contrast = |a: &str, b: &str| [(TAU2.coordinate(a).unwrap(), 1.0), (TAU2.coordinate(b).unwrap(), -1.0)];
//! assert!(!span.contains(contrast("tool=standard", "tool=verify"))?); // never compared
//! assert!(!span.contains(contrast("tool=standard", "tool=ask_if_missing"))?); // mixed up with its pairs
//! let context = Context::new(&TAU2, None, &[]).unwrap();
//! let phi = |tool, sign: f64| {
//!     let action = tau2::action(Memory::Conversation, tool, Style::Direct);
//!     TAU2.features(&context, action).map(move |(coordinate, value)| (coordinate, sign * f64::from(value)))
//! };
//! assert!(span.contains(phi(Tool::Standard, 1.0).chain(phi(Tool::AskIfMissing, -1.0)))?); // two feasible actions
//! # Ok::<(), SpanError>(())
//! ```

use crate::catalog::{Catalog, Context, Feasible};
use crate::numbers::Storage;
use core::fmt;

/// A vector is inside the span when what is left of it outside is at most this part of its length.
pub const TOLERANCE: f64 = 1e-6;
/// Largest magnitude of a coefficient; the sum of squares then stays finite.
pub const MAX_COEFFICIENT: f64 = 1e100;

/// The span of the vectors inserted so far, over rows in caller-given storage. See the [module](self).
#[derive(Clone, Debug)]
pub struct Span<S> {
    dimension: usize,
    rank: usize,
    rows: S,
}

impl<S: Storage<f64>> Span<S> {
    /// Numbers that vectors of this dimension and rank need: a row each, and one to work in.
    #[must_use]
    pub const fn storage_len(dimension: usize, rank: usize) -> usize {
        dimension.saturating_mul(rank.saturating_add(1))
    }

    /// The span of nothing, over given storage; what it holds does not matter.
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

    /// Adds a vector, given as (coordinate, coefficient); coefficients of one coordinate add up. True when
    /// the rank grew.
    ///
    /// # Errors
    /// A coordinate past the dimension, a coefficient that is not a finite number of moderate size, or no
    /// room for one more row; the span is as before then.
    pub fn insert(&mut self, vector: impl IntoIterator<Item = (usize, f64)>) -> Result<bool, SpanError> {
        let Some(left) = self.remainder(vector)? else { return Ok(false) };
        let (dimension, rank) = (self.dimension, self.rank);
        // The row to work in becomes a row of the span, and there must be another one, unless nothing can be
        // outside now.
        if rank + 1 < dimension && self.rows.as_ref().len() < Self::storage_len(dimension, rank + 1) {
            return Err(SpanError::StorageLength { rank: rank + 1 });
        }
        for x in self.rows.as_mut().iter_mut().skip(rank * dimension).take(dimension) {
            *x /= left;
        }
        self.rank += 1;
        Ok(true)
    }

    /// Whether a vector lies in the span; the zero vector (any shorter than 1e-150) always does.
    ///
    /// # Errors
    /// As for [`insert`](Self::insert), except for the room.
    pub fn contains(&mut self, vector: impl IntoIterator<Item = (usize, f64)>) -> Result<bool, SpanError> {
        Ok(self.remainder(vector)?.is_none())
    }

    /// Adds the features of every feasible action in a context. True when the rank grew.
    ///
    /// # Errors
    /// As for [`insert`](Self::insert); the features before the one without room are in the span then.
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
    /// signals 0 and with one of them 1. Features are linear in the signals, so these span the others.
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

    /// Leaves the part of a vector outside the span in the row to work in; its length, or `None` when nothing
    /// is left.
    fn remainder(
        &mut self,
        vector: impl IntoIterator<Item = (usize, f64)>,
    ) -> Result<Option<f64>, SpanError> {
        let dimension = self.dimension;
        if self.rank == dimension {
            // Everything is inside, and every row is taken: only look at the numbers.
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

/// What can be wrong with a vector or its storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum SpanError {
    /// No room for this rank: [`Span::storage_len`] says what it takes. Or the dimension is 0.
    StorageLength {
        /// The rank that does not fit.
        rank: usize,
    },
    /// No such coordinate.
    Coordinate {
        /// The one asked for.
        coordinate: usize,
    },
    /// A coefficient is not a number from -1e100 to 1e100.
    Coefficient {
        /// The coordinate it stands at.
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

    /// One pass would leave a thousand times as much: vectors close to each other lose what keeps them apart.
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
