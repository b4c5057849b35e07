//! Equations 2 to 6 of the paper on dense matrices: the specification of the posterior, and the oracle of its
//! tests.
//!
//! [`Dense`] is for reading, for tests, and for catalogs of few coordinates. It has D^2 + D numbers, and an
//! update copies them once on the stack. An update takes about 2 D^2 multiply-adds, a mean or a draw D^2 to 2
//! D^2, a variance D^2 / 2. The [module above](super) has an example of a whole round, and says when to take
//! the packed factor instead.
//!
//! ```
//! use fable_core::posterior::dense::Dense;
//! use nalgebra::{Matrix2, Vector2};
//!
//! // theta_0 and theta_1 are independent, each with mean 0 and variance 1.
//! let mut posterior = Dense::new(&Vector2::zeros(), &Matrix2::identity())?;
//!
//! // One observation of theta_0 - theta_1 = 3 with variance 1: the mean moves two thirds of the way.
//! let difference = Vector2::new(1.0, -1.0);
//! posterior.observe(&difference, 3.0, 1.0)?;
//! assert!((difference.dot(&posterior.mean()) - 2.0_f64).abs() < 1e-15);
//! assert!((posterior.variance(&difference) - 2.0 / 3.0).abs() < 1e-15);
//! # Ok::<(), fable_core::posterior::dense::NotGaussian>(())
//! ```

use core::fmt;
use nalgebra::{Cholesky, Const, RealField, SMatrix, SVector};

/// theta ~ N(mu, Sigma) over `D` coordinates, in `f32` or `f64`.
///
/// Kept are L with L L^T = Lambda = Sigma^-1, and h = Lambda mu.
#[derive(Clone, Debug)]
pub struct Dense<T: RealField, const D: usize> {
    factor: Cholesky<T, Const<D>>,
    information: SVector<T, D>,
}

impl<T: RealField + Copy, const D: usize> Dense<T, D> {
    /// A prior with its mean and its precision.
    ///
    /// # Errors
    /// The precision is not symmetric and positive definite, or a number is not finite.
    pub fn new(mean: &SVector<T, D>, precision: &SMatrix<T, D, D>) -> Result<Self, NotGaussian> {
        if *precision != precision.transpose() {
            return Err(NotGaussian);
        }
        let factor = Cholesky::new(*precision).ok_or(NotGaussian)?;
        Self { factor, information: precision * mean }.checked()
    }

    /// Learns `response` = `direction`.theta + noise, where `precision` is one over the variance of the
    /// noise.
    ///
    /// A stated preference (v, u, kappa) is such an observation, and so is a reward (phi, y - bar b,
    /// sigma^-2). A negative precision takes an observation back.
    ///
    /// # Errors
    /// Lambda would not be positive definite, or a number would not be finite. Nothing has changed then.
    pub fn observe(
        &mut self,
        direction: &SVector<T, D>,
        response: T,
        precision: T,
    ) -> Result<(), NotGaussian> {
        let mut next = self.clone();
        // Lambda + kappa v v^T (Equation 2), Lambda + sigma^-2 phi phi^T (Equation 5)
        next.factor.rank_one_update(direction, precision);
        // h + kappa v u (Equation 3), h + sigma^-2 phi (y - bar b) (Equation 6)
        next.information += direction * (precision * response);
        *self = next.checked()?;
        Ok(())
    }

    /// mu = Sigma h
    #[must_use]
    pub fn mean(&self) -> SVector<T, D> {
        self.factor.solve(&self.information)
    }

    /// w^T Sigma w = |L^-1 w|^2 for a direction w.
    #[must_use]
    pub fn variance(&self, direction: &SVector<T, D>) -> T {
        let mut w = *direction;
        self.factor.l_dirty().solve_lower_triangular_unchecked_mut(&mut w);
        w.norm_squared()
    }

    /// A draw from N(mu, nu^2 Sigma): mu + nu L^-T z, where z has one standard normal for each coordinate.
    ///
    /// With this draw as theta, the score of an action in Equation 4 is bar b + phi^T theta.
    #[must_use]
    pub fn draw(&self, nu: T, normals: &SVector<T, D>) -> SVector<T, D> {
        self.mean() + self.factor.l_dirty().tr_solve_lower_triangular_unchecked(normals) * nu
    }

    /// L, from which nalgebra also computes Sigma (`inverse`) and ln det Lambda (`ln_determinant`).
    #[must_use]
    pub const fn factor(&self) -> &Cholesky<T, Const<D>> {
        &self.factor
    }

    /// Refuses numbers that are not finite. A pivot of L that is 0 or NaN leaves no finite mean.
    fn checked(self) -> Result<Self, NotGaussian> {
        let finite = self.factor.l_dirty().iter().chain(&self.mean()).all(T::is_finite);
        if finite { Ok(self) } else { Err(NotGaussian) }
    }
}

/// A mean that is not finite, or a precision that is not finite, symmetric and positive definite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct NotGaussian;

impl fmt::Display for NotGaussian {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the mean is not finite, or the precision is not finite, symmetric and positive definite")
    }
}

impl core::error::Error for NotGaussian {}
