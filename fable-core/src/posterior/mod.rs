//! The Gaussian working posterior of one user's preferences, theta ~ N(mu, Sigma).
//!
//! [`dense::Dense`] is the specification: Equations 2 to 6 of the paper as they are printed. One round of
//! `rubric`:
//!
//! ```
//! use fable_core::{Action, Context, Feasible, catalog::RUBRIC, posterior::dense::Dense};
//! use nalgebra::{SMatrix, SVector};
//!
//! const D: usize = RUBRIC.dimension(); // 9
//! let context = Context::new(&RUBRIC, None, &[])?;
//! let phi = |action| {
//!     let mut phi = SVector::<f64, D>::zeros();
//!     for (coordinate, feature) in RUBRIC.features(&context, action) {
//!         phi[coordinate] = f64::from(feature);
//!     }
//!     phi
//! };
//! // bar b of Equation 1
//! let reference = |action| RUBRIC.default_score(&context, action) - RUBRIC.cost(action);
//! let mut ana = Dense::new(&SVector::zeros(), &(SMatrix::identity() * 4.0))?;
//!
//! // Equations 2 and 3: Ana says that she prefers action 26 to action 0.
//! ana.observe(&(phi(Action(26)) - phi(Action(0))), 1.0, 4.0)?;
//!
//! // Equation 4: the best feasible action for a draw. Normals come from the caller.
//! let theta = ana.draw(0.3, &SVector::from([0.2, -1.1, 0.4, 0.9, -0.3, 1.6, -0.8, 0.1, -0.5]));
//! let score = |action| reference(action) + phi(action).dot(&theta);
//! let feasible = Feasible::all(&RUBRIC);
//! let chosen = feasible.set().iter().max_by(|a, b| score(*a).total_cmp(&score(*b))).unwrap();
//!
//! // Equations 5 and 6: a reward of 0.5 with noise variance 1/4.
//! let before = ana.variance(&phi(chosen));
//! ana.observe(&phi(chosen), 0.5 - reference(chosen), 4.0)?;
//! assert!(ana.variance(&phi(chosen)) < before);
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```
//!
//! # The packed factor
//!
//! A learner keeps a [`Posterior`]. The square of [`dense::Dense`] wastes the part above the diagonal of L.
//! It also has zeros between coordinates of two tasks, which never occur in one observation. A [`Layout`]
//! leaves both out. A round touches the coordinates of its task and those of all tasks: 10,585 of 32,131
//! entries below the diagonal for `agent`.
//!
//! | `agent` in `f32`, d = 254 | L as a square | packed, with h | command |
//! |---|---:|---:|---|
//! | bytes | 258,064 | 104,636 | the example below |
//! | time of a round on x86-64, relative | 5.8 | 1 | `cargo run --profile dist -p fable-benches` |
//! | instructions of a round on a Cortex-M4F, relative | 4.7 | 1 | `examples/firmware/versus.sh` |
//!
//! ```
//! use fable_core::{catalog::AGENT, posterior::dense::Dense};
//! const D: usize = AGENT.dimension();
//! assert_eq!(size_of::<Dense<f32, D>>(), 258_064 + size_of::<[f32; D]>()); // L and h
//! assert_eq!(size_of::<f32>() * AGENT.layout().packed_len(), 104_636);
//! ```
//!
//! # State and costs
//!
//! State: Lambda = Sigma^-1 = L D L^T in the order of a [`Layout`], E = 1/D, and the whitened information
//! vector z. z is one more row of L, and L^T mu = z.
//!
//! An observation (phi, y, variance v) is Equations 5 and 6: Lambda += phi phi^T / v and h += phi y / v. Both
//! are one sweep over the touched leaf and the root. The sweep also yields the innovation y - phi.mu and the
//! predictive variance v + phi.Sigma.phi. log det Lambda grows by ln(predictive / v), accumulated in `f64`.
//!
//! With n the length of a leaf plus the root, an update takes n^2 multiply-adds, a draw, a mean or a variance
//! n^2 / 2.
//!
//! ```
//! use fable_core::posterior::{Layout, Posterior, Prior};
//!
//! let layout = Layout::new(0, 0, 2).unwrap();
//! let mut posterior = Posterior::<f64, _>::from_storage(vec![0.0; layout.packed_len()]);
//! let mut scratch = vec![0.0; layout.active_len()];
//! posterior.start(layout, &Prior::Isotropic, 1.0)?;
//!
//! // One observation of theta_0 - theta_1 = 3 with variance 1: the mean moves two thirds of the way.
//! let update = posterior.update(&mut scratch, [(0, 1.0), (1, -1.0)], 3.0, 1.0)?;
//! assert_eq!((update.innovation, update.variance), (3.0, 3.0));
//! let contrast = posterior.contrast(&mut scratch, [(0, 1.0), (1, -1.0)])?;
//! assert!((contrast.mean - 2.0).abs() < 1e-15 && (contrast.variance - 2.0 / 3.0).abs() < 1e-15);
//! # Ok::<(), fable_core::posterior::PosteriorError>(())
//! ```

pub mod dense;
mod error;
mod fade;
#[cfg(feature = "migrate")]
mod migrate;
mod moments;
mod observation;
mod prior;
mod solve;
mod workspace;

pub use crate::numbers::{Key, Layout, NUMERIC_REVISION, Purpose, Storage};
pub use error::PosteriorError;
pub(crate) use fade::Fading;
#[cfg(feature = "migrate")]
pub(crate) use migrate::{Carried, Carry, Places};
pub(crate) use observation::Located;
pub use prior::{Factor, Prior, PriorError};
#[cfg(fable_host)]
pub(crate) use workspace::DrawAndMean;
pub use workspace::Workspace;
pub(crate) use workspace::{InverseRows, Scoring, Uncertain};

use crate::numbers::{BASE_PRECISION, MAX_RESPONSE, Number, VARIANCE, within};
use core::marker::PhantomData;
use observation::scatter;

/// The posterior over packed storage `S`: `[T; N]` on a device, `Vec<T>` on a host, `&mut [T]` anywhere.
#[derive(Clone, Debug, PartialEq)]
pub struct Posterior<T, S> {
    layout: Layout,
    log_det_ratio: f64,
    storage: S,
    scalar: PhantomData<T>,
}

/// The prediction that an update compared its observation with.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Update<T> {
    /// Response minus prediction, y - phi.mu, with mu before the update.
    pub innovation: T,
    /// Variance of the prediction, v + phi.Sigma.phi, with Sigma before the update.
    pub variance: T,
}

/// Mean and variance of a linear function of theta.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Estimate<T> {
    /// w.mu
    pub mean: T,
    /// w.Sigma.w
    pub variance: T,
}

impl<T: Number, S: Storage<T>> Posterior<T, S> {
    /// Sets the posterior to a prior, in place.
    ///
    /// # Errors
    /// Storage shorter than [`Layout::packed_len`], or a prior that does not fit; nothing has changed then.
    /// Numbers beyond that length are not touched.
    pub fn start(
        &mut self,
        layout: Layout,
        prior: &Prior<'_, T>,
        base_precision: f64,
    ) -> Result<(), PosteriorError> {
        prior.check(layout).map_err(PosteriorError::Prior)?;
        if !BASE_PRECISION.contains(base_precision) {
            return Err(PosteriorError::Prior(PriorError::BasePrecision));
        }
        let Some(packed) = self.storage.as_mut().get_mut(..layout.packed_len()) else {
            return Err(PosteriorError::StorageLength { expected: layout.packed_len() });
        };
        prior.write(layout, base_precision, packed);
        self.layout = layout;
        self.log_det_ratio = 0.0;
        Ok(())
    }

    /// Learns one observation `y = direction.theta + noise` with a noise variance (Equations 5 and 6).
    ///
    /// # Errors
    /// A number out of range, a coordinate past the dimension, two tasks in one direction, or a workspace
    /// that is too small; nothing has changed then.
    pub fn update(
        &mut self,
        scratch: &mut (impl AsMut<[T]> + ?Sized),
        direction: impl IntoIterator<Item = (usize, T)>,
        response: T,
        variance: T,
    ) -> Result<Update<T>, PosteriorError> {
        if !within(response.to_f64(), MAX_RESPONSE) {
            return Err(PosteriorError::Response);
        }
        if !VARIANCE.contains(variance.to_f64()) {
            return Err(PosteriorError::Variance);
        }
        let located =
            Located::new(self.layout, self.storage.as_mut(), scratch.as_mut(), direction, response)?;
        Ok(located.absorb(variance, &mut self.log_det_ratio))
    }
}

impl<T: Number, S: AsRef<[T]>> Posterior<T, S> {
    /// An empty posterior over given storage.
    #[must_use]
    pub const fn from_storage(storage: S) -> Self {
        Self::from_parts(Layout::EMPTY, 0.0, storage)
    }

    /// A posterior over a packed factor.
    pub(crate) const fn from_parts(layout: Layout, log_det_ratio: f64, storage: S) -> Self {
        Self { layout, log_det_ratio, storage, scalar: PhantomData }
    }

    /// The shape; all zero before the start.
    #[must_use]
    pub const fn layout(&self) -> Layout {
        self.layout
    }

    /// The packed factor, in the order of the [`Layout`].
    #[must_use]
    pub fn packed(&self) -> &[T] {
        self.storage.as_ref().get(..self.layout.packed_len()).unwrap_or(&[])
    }

    /// ln det Lambda - ln det Lambda_0. Lambda_0 is the precision after onboarding.
    #[must_use]
    pub const fn log_det_ratio(&self) -> f64 {
        self.log_det_ratio
    }

    /// Mean and variance of `direction.theta`: one forward solve over the touched leaf and the root.
    ///
    /// # Errors
    /// As for [`update`](Self::update).
    pub fn contrast(
        &self,
        scratch: &mut (impl AsMut<[T]> + ?Sized),
        direction: impl IntoIterator<Item = (usize, T)>,
    ) -> Result<Estimate<T>, PosteriorError> {
        let (leaf, active) = scatter(self.layout, scratch.as_mut(), direction, T::ZERO)?;
        let segments = self.layout.split(self.storage.as_ref(), leaf).ok_or(PosteriorError::NotStarted)?;
        let (mut variance, mut w) = (T::ZERO, active);
        for segment in segments {
            (variance, w) = T::forward(segment.inverse, segment.columns, w, variance);
        }
        Ok(Estimate { mean: -w.first().copied().unwrap_or(T::ZERO), variance })
    }

    /// Marginal variance of one coordinate.
    ///
    /// # Errors
    /// As for [`update`](Self::update).
    pub fn marginal_variance(
        &self,
        scratch: &mut (impl AsMut<[T]> + ?Sized),
        coordinate: usize,
    ) -> Result<T, PosteriorError> {
        Ok(self.contrast(scratch, [(coordinate, T::ONE)])?.variance)
    }
}
