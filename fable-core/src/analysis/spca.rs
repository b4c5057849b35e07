//! The objective of FABLE-SPCA: how much each coordinate matters to this user.
//!
//! Omitted coordinates change a score by eta_z(c, a, theta) = sum of phi_i theta_i over the omitted i. Its
//! mean square over expected requests, actions of the default policy and the posterior after onboarding is
//!
//! ```text
//!   E(z) = (1 - z)^T H (1 - z)      H = G o M (entry by entry)
//!   G = sum_l weight_l sum_a pi_0(a | c_l) phi(c_l, a) phi(c_l, a)^T
//!   pi_0(a | c) ~ exp(beta (b - lambda cost)) for feasible a
//!   M = Sigma + mu mu^T
//! ```
//!
//! and H is positive semidefinite by the Schur product theorem. [`feature_covariance_into`] computes G,
//! [`second_moment_into`] M, and [`weigh`] H in place of G. [`omitted_error`] and [`gain`] evaluate a set of
//! coordinates, and [`reduce`](super::reduce) leads to a choice of blocks. The matrices are nalgebra's, d x
//! d, in the caller's memory.
//!
//! Costs: G takes one step per prototype, feasible action and pair of blocks; M takes d posterior solves.
//!
//! ```
//! use fable_core::analysis::{Prototype, SpcaError, spca};
//! use fable_core::catalog::{BlockSet, RUBRIC};
//! use fable_core::catalog::CoordinateSet;
//! use fable_core::{Context, Feasible, Policy, Settings};
//! use nalgebra::SMatrix;
//!
//! let policy = Policy::<f64>::new(&RUBRIC, Settings::default()).unwrap();
//! let context = Context::new(&RUBRIC, None, &[]).unwrap();
//! let request = Prototype { context, weight: 1.0, feasible: Feasible::all(&RUBRIC) };
//! let mut h = SMatrix::<f64, 9, 9>::zeros();
//! spca::feature_covariance_into(&policy, &[request], 0.0, &mut h)?; // beta = 0: all 27 actions alike
//! spca::weigh(&mut h, &(SMatrix::<f64, 9, 9>::identity() / 16.0))?; // the prior, before anything was said
//!
//! let rigor = CoordinateSet::of_blocks(&RUBRIC, BlockSet::from_bits(0b001));
//! // Two features of variance 1/16 are omitted.
//! assert!((spca::omitted_error(&h, &rigor)? - 2.0 / 16.0).abs() < 1e-15);
//! assert!((spca::gain(&h, &rigor)? - 1.0 / 16.0).abs() < 1e-15);
//! # Ok::<(), SpcaError>(())
//! ```

use crate::catalog::{Context, CoordinateSet, Feasible, MAX_BLOCKS, score::Scalar};
use crate::numbers::Range;
use crate::policy::Policy;
use crate::posterior::{Posterior, PosteriorError};
use core::fmt;
use nalgebra::{Dim, Matrix, RawStorage, StorageMut};

/// Largest distance of the sum of weights from 1: enough for weights of six decimals. Weights are used as
/// given.
pub const WEIGHT_TOLERANCE: f64 = 1e-6;
/// Range of the inverse temperature beta of the default policy.
pub const INVERSE_TEMPERATURE: Range = Range { least: 0.0, most: 1e6 };

/// A prototype of the user's requests.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Prototype {
    /// Its context.
    pub context: Context,
    /// Its probability. The weights of all prototypes add up to 1.
    pub weight: f64,
    /// Its feasible set under the lasting hard constraints.
    pub feasible: Feasible,
}

/// Writes G, the mean of phi phi^T over the prototypes and the softmax default policy.
///
/// Exponents are relative to the largest one, so none overflows.
///
/// # Errors
/// No prototype, weights that are negative or do not add up to 1, contexts or sets of another catalog, an
/// inverse temperature out of range, or another shape than d x d; `out` is as before then.
pub fn feature_covariance_into<T, R, C, M>(
    policy: &Policy<'_, T>,
    prototypes: &[Prototype],
    inverse_temperature: f64,
    out: &mut Matrix<f64, R, C, M>,
) -> Result<(), SpcaError>
where
    T: Scalar,
    R: Dim,
    C: Dim,
    M: StorageMut<f64, R, C>,
{
    let catalog = policy.catalog();
    square(out, catalog.dimension())?;
    if !INVERSE_TEMPERATURE.contains(inverse_temperature) {
        return Err(SpcaError::InverseTemperature);
    }
    let mut total = 0.0;
    for (prototype, Prototype { context, weight, feasible }) in prototypes.iter().enumerate() {
        if !(*weight >= 0.0 && *weight <= 1.0 + WEIGHT_TOLERANCE) {
            return Err(SpcaError::Weight { prototype });
        }
        if !context.fits(catalog) || !feasible.set().is_below(catalog.actions()) {
            return Err(SpcaError::ForeignPrototype { prototype });
        }
        total += weight;
    }
    if (total - 1.0_f64).abs() > WEIGHT_TOLERANCE {
        return Err(SpcaError::WeightSum);
    }
    out.fill(0.0);
    for Prototype { context, weight, feasible } in prototypes {
        let exponent = |action| {
            inverse_temperature
                * catalog.baseline::<f64>(context, action, policy.settings().cost_weight, None)
        };
        let largest = feasible.set().iter().map(exponent).fold(f64::NEG_INFINITY, f64::max);
        let probability = |action| libm::exp(exponent(action) - largest);
        let sum: f64 = feasible.set().iter().map(probability).sum();
        for action in feasible.set().iter() {
            let share = weight * probability(action) / sum;
            let phi: heapless::Vec<(usize, f64), MAX_BLOCKS> = catalog
                .features(context, action)
                .map(|(coordinate, value)| (coordinate, f64::from(value)))
                .collect();
            for &(i, a) in &phi {
                for &(j, b) in &phi {
                    if let Some(entry) = out.get_mut((i, j)) {
                        *entry += share * a * b;
                    }
                }
            }
        }
    }
    Ok(())
}

/// Writes mu and M = Sigma + mu mu^T of the posterior after onboarding.
///
/// # Errors
/// Another length than d or another shape than d x d, an empty posterior, or a workspace that is too small.
pub fn second_moment_into<T, S, R, C, M>(
    posterior: &Posterior<T, S>,
    scratch: &mut (impl AsMut<[T]> + ?Sized),
    mean: &mut [T],
    out: &mut Matrix<T, R, C, M>,
) -> Result<(), SpcaError>
where
    T: Scalar + nalgebra::Scalar,
    S: AsRef<[T]>,
    R: Dim,
    C: Dim,
    M: StorageMut<T, R, C>,
{
    posterior.mean(scratch, mean).map_err(SpcaError::Posterior)?;
    posterior.covariance_into(scratch, out).map_err(SpcaError::Posterior)?;
    for (mut column, b) in out.column_iter_mut().zip(&*mean) {
        for (entry, a) in column.iter_mut().zip(&*mean) {
            *entry += *a * *b;
        }
    }
    Ok(())
}

/// Writes H = G o M in place of G.
///
/// # Errors
/// Two different shapes; nothing has changed then.
pub fn weigh<T, R, C, G, R2, C2, M>(
    features: &mut Matrix<f64, R, C, G>,
    moment: &Matrix<T, R2, C2, M>,
) -> Result<(), SpcaError>
where
    T: Scalar,
    R: Dim,
    C: Dim,
    G: StorageMut<f64, R, C>,
    R2: Dim,
    C2: Dim,
    M: RawStorage<T, R2, C2>,
{
    if features.shape() != moment.shape() {
        return Err(SpcaError::Shape { expected: features.nrows() });
    }
    for (entry, moment) in features.iter_mut().zip(moment.iter()) {
        *entry *= moment.to_f64();
    }
    Ok(())
}

/// E(z) = (1 - z)^T H (1 - z), the mean square that is lost with only `retained` kept.
///
/// # Errors
/// A matrix that is not square.
pub fn omitted_error<R, C, M>(
    relevance: &Matrix<f64, R, C, M>,
    retained: &CoordinateSet,
) -> Result<f64, SpcaError>
where
    R: Dim,
    C: Dim,
    M: RawStorage<f64, R, C>,
{
    square(relevance, relevance.nrows())?;
    let mut total = 0.0;
    for (_, column) in relevance.column_iter().enumerate().filter(|(j, _)| !retained.contains(*j)) {
        total += column
            .iter()
            .enumerate()
            .filter(|(i, _)| !retained.contains(*i))
            .map(|(_, entry)| entry)
            .sum::<f64>();
    }
    Ok(total)
}

/// Gain(z) = E(0) - E(z) = 2 z^T H 1 - z^T H z, the mean square that `retained` preserves.
///
/// # Errors
/// A matrix that is not square.
pub fn gain<R, C, M>(relevance: &Matrix<f64, R, C, M>, retained: &CoordinateSet) -> Result<f64, SpcaError>
where
    R: Dim,
    C: Dim,
    M: RawStorage<f64, R, C>,
{
    square(relevance, relevance.nrows())?;
    let mut total = 0.0;
    for (j, column) in relevance.column_iter().enumerate() {
        for (i, entry) in column.iter().enumerate() {
            // A pair counts once if one of its coordinates is kept: 2 z_j - z_i z_j, summed over both orders.
            total += match (retained.contains(i), retained.contains(j)) {
                (false, false) => 0.0,
                _ => *entry,
            };
        }
    }
    Ok(total)
}

/// Checks that a matrix is n x n.
fn square<R: Dim, C: Dim, M: RawStorage<f64, R, C>>(
    matrix: &Matrix<f64, R, C, M>,
    expected: usize,
) -> Result<(), SpcaError> {
    if matrix.shape() == (expected, expected) { Ok(()) } else { Err(SpcaError::Shape { expected }) }
}

/// A fault in prototypes or matrices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum SpcaError {
    /// A weight is not a number from 0 to 1.
    Weight {
        /// Its prototype.
        prototype: usize,
    },
    /// The weights do not add up to 1, or there is no prototype.
    WeightSum,
    /// A prototype belongs to another catalog.
    ForeignPrototype {
        /// Its position.
        prototype: usize,
    },
    /// The inverse temperature is not a number from 0 to 1e6.
    InverseTemperature,
    /// A matrix has the wrong shape.
    Shape {
        /// Rows and columns that it should have.
        expected: usize,
    },
    /// The posterior cannot be used.
    Posterior(PosteriorError),
}

impl fmt::Display for SpcaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Weight { prototype } => {
                write!(f, "the weight of prototype {prototype} is not a number from 0 to 1")
            }
            Self::WeightSum => f.write_str("the weights of the prototypes do not add up to 1"),
            Self::ForeignPrototype { prototype } => {
                write!(f, "prototype {prototype} was made for another catalog")
            }
            Self::InverseTemperature => {
                f.write_str("the inverse temperature must be a number from 0 to 1000000")
            }
            Self::Shape { expected } => write!(f, "the matrix must have {expected} rows and columns"),
            Self::Posterior(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for SpcaError {}
