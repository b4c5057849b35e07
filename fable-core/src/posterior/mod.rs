//! The Gaussian working posterior of one user, theta ~ N(mu, Sigma): what is known about the user's preferences.
//!
//! [`dense::Dense`] is the specification: Equations 2 to 6 of the paper as they are printed. One round of `rubric`:
//!
//! ```
//! use fable_core::{Action, Context, Feasible, catalog::RUBRIC, posterior::dense::Dense};
//! use nalgebra::{SMatrix, SVector};
//!
//! const D: usize = RUBRIC.dimension(); // 9
//! let context = Context::new(&RUBRIC, None, &[])?;
//! let phi = |action| {
//!     let mut phi = SVector::<f64, D>::zeros();
//!     RUBRIC.features(&context, action).for_each(|(coordinate, feature)| phi[coordinate] = f64::from(feature));
//!     phi
//! };
//! let reference = |action| RUBRIC.default_score(&context, action) - RUBRIC.cost(action); // bar b of Equation 1
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
//! # Why there is a packed factor
//!
//! A learner keeps a [`Posterior`]. The square of [`dense::Dense`] wastes the part above the diagonal of L. It also has
//! zeros between coordinates of two tasks, which never occur in one observation. A [`Layout`] leaves both out.
//! A round touches the coordinates of its task and those of all tasks: 10,585 of 32,131 entries below the diagonal
//! for `agent`.
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
//! # How it is kept
//!
//! State: Lambda = Sigma^-1 = L D L^T in the order of a [`Layout`], E = 1/D, and the whitened information vector z with
//! L^T mu = z as one more row of L. An observation (phi, y, variance v) is Equations 5-6, Lambda += phi phi^T / v and
//! h += phi y / v, done as one sweep over the touched leaf and the root. The sweep also yields the innovation y - phi.mu and
//! the predictive variance v + phi.Sigma.phi, and log det Lambda grows by ln(predictive / v), accumulated in `f64`.
//!
//! Costs, with n the length of a leaf plus the root: an update n^2 multiply-adds, a draw or a mean n^2 / 2, a variance n^2 / 2.
//!
//! ```
//! use fable_core::posterior::{Layout, Posterior, Prior};
//!
//! let arrow = Layout::new(0, 0, 2).unwrap();
//! let mut posterior = Posterior::<f64, _>::from_storage(vec![0.0; arrow.packed_len()]);
//! let mut scratch = vec![0.0; arrow.active_len()];
//! posterior.start(arrow, &Prior::Isotropic, 1.0)?;
//!
//! // One observation of theta_0 - theta_1 = 3 with variance 1: the mean moves two thirds of the way.
//! let update = posterior.update(&mut scratch, [(0, 1.0), (1, -1.0)], 3.0, 1.0)?;
//! assert_eq!((update.innovation, update.variance), (3.0, 3.0));
//! let contrast = posterior.contrast(&mut scratch, [(0, 1.0), (1, -1.0)])?;
//! assert!((contrast.mean - 2.0).abs() < 1e-15 && (contrast.variance - 2.0 / 3.0).abs() < 1e-15);
//! # Ok::<(), fable_core::posterior::PosteriorError>(())
//! ```

pub mod dense;
mod fade;
#[cfg(feature = "migrate")]
mod migrate;
mod prior;
mod workspace;

pub use crate::numbers::{Key, Layout, NUMERIC_REVISION, Purpose, Storage};
pub(crate) use fade::Fading;
#[cfg(feature = "migrate")]
pub(crate) use migrate::{Carried, Carry, Places};
pub use prior::{Factor, Prior, PriorError};
#[cfg(fable_host)]
pub(crate) use workspace::DrawAndMean;
pub use workspace::Workspace;
pub(crate) use workspace::{InverseRows, Scoring, Uncertain};

use crate::numbers::inverse::{Entries, ROWS, begin_row};
use crate::numbers::{
    BASE_PRECISION, MAX_COEFFICIENT, MAX_RESPONSE, Number, Segment, Stream, VARIANCE, within,
};
use core::fmt;
use core::marker::PhantomData;
use nalgebra::{Dim, Matrix, StorageMut};

/// The posterior over packed storage `S`: `[T; N]` on a device, `Vec<T>` on a host, `&mut [T]` anywhere.
#[derive(Clone, Debug, PartialEq)]
pub struct Posterior<T, S> {
    arrow: Layout,
    log_det_ratio: f64,
    storage: S,
    scalar: PhantomData<T>,
}

/// What one update says about its observation.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Update<T> {
    /// Response minus its prediction, y - phi.mu, before the update.
    pub innovation: T,
    /// Variance of that prediction, v + phi.Sigma.phi, before the update.
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

/// An observation in its place: the direction spread over the touched leaf and the root, and those two. Learning it cannot fail.
#[derive(Debug)]
pub(crate) struct Located<'s, T> {
    segments: [Segment<&'s mut [T]>; 2],
    active: &'s mut [T],
}

impl<'s, T: Number> Located<'s, T> {
    /// Finds the place of an observation in a packed factor.
    pub(crate) fn new(
        arrow: Layout,
        packed: &'s mut [T],
        scratch: &'s mut [T],
        direction: impl IntoIterator<Item = (usize, T)>,
        response: T,
    ) -> Result<Self, PosteriorError> {
        let (leaf, active) = scatter(arrow, scratch, direction, response)?;
        let segments = arrow.split_mut(packed, leaf).ok_or(PosteriorError::NotStarted)?;
        Ok(Self { segments, active })
    }

    /// Learns the observation, of a noise variance in range; the log-determinant ratio grows with it.
    pub(crate) fn absorb(self, variance: T, log_det_ratio: &mut f64) -> Update<T> {
        let (mut t, mut w) = (variance, self.active);
        for segment in self.segments {
            (t, w) = T::sweep(segment.inverse, segment.columns, w, t);
        }
        *log_det_ratio += libm::log(t.to_f64() / variance.to_f64());
        Update { innovation: w.first().copied().unwrap_or(T::ZERO), variance: t }
    }
}

impl<T: Number, S: Storage<T>> Posterior<T, S> {
    /// Sets the posterior to a prior, in place.
    ///
    /// # Errors
    /// Storage shorter than [`Layout::packed_len`], or a prior that does not fit; nothing has changed then. What the storage
    /// holds beyond that length is left alone.
    pub fn start(
        &mut self,
        arrow: Layout,
        prior: &Prior<'_, T>,
        base_precision: f64,
    ) -> Result<(), PosteriorError> {
        prior.check(arrow).map_err(PosteriorError::Prior)?;
        if !BASE_PRECISION.contains(base_precision) {
            return Err(PosteriorError::Prior(PriorError::BasePrecision));
        }
        let Some(packed) = self.storage.as_mut().get_mut(..arrow.packed_len()) else {
            return Err(PosteriorError::StorageLength { expected: arrow.packed_len() });
        };
        prior.write(arrow, base_precision, packed);
        self.arrow = arrow;
        self.log_det_ratio = 0.0;
        Ok(())
    }

    /// Learns one observation `y = direction.theta + noise` with the given noise variance.
    ///
    /// # Errors
    /// A number out of range, a coordinate past the dimension, two tasks in one direction, or a workspace that is too
    /// small; nothing has changed then.
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
        let located = Located::new(self.arrow, self.storage.as_mut(), scratch.as_mut(), direction, response)?;
        Ok(located.absorb(variance, &mut self.log_det_ratio))
    }
}

impl<T: Number, S: AsRef<[T]>> Posterior<T, S> {
    /// A vacant posterior over given storage.
    #[must_use]
    pub const fn from_storage(storage: S) -> Self {
        Self::of(Layout::EMPTY, 0.0, storage)
    }

    /// A factor as it stands.
    pub(crate) const fn of(arrow: Layout, log_det_ratio: f64, storage: S) -> Self {
        Self { arrow, log_det_ratio, storage, scalar: PhantomData }
    }

    /// The shape; all zero while vacant.
    #[must_use]
    pub const fn layout(&self) -> Layout {
        self.arrow
    }

    /// The packed factor, laid out as an [`Layout`] says.
    #[must_use]
    pub fn packed(&self) -> &[T] {
        self.storage.as_ref().get(..self.arrow.packed_len()).unwrap_or(&[])
    }

    /// ln det Lambda - ln det Lambda_0, where Lambda_0 is the precision after onboarding.
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
        let (leaf, active) = scatter(self.arrow, scratch.as_mut(), direction, T::ZERO)?;
        let segments = self.arrow.split(self.storage.as_ref(), leaf).ok_or(PosteriorError::NotStarted)?;
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

    /// The whole mean, one number per coordinate.
    ///
    /// # Errors
    /// `out` of another length than the dimension, or a workspace that is too small.
    pub fn mean(
        &self,
        scratch: &mut (impl AsMut<[T]> + ?Sized),
        out: &mut [T],
    ) -> Result<(), PosteriorError> {
        let expected = self.arrow.dimension();
        if out.len() != expected || expected == 0 {
            return Err(PosteriorError::OutputLength { expected });
        }
        let active = active(scratch.as_mut(), self.arrow)?;
        active.fill(T::ZERO);
        if let Some(last) = active.last_mut() {
            *last = -T::ONE;
        }
        self.solve_root(active);
        let (leaves, root) =
            out.split_at_mut_checked(self.arrow.root_coordinate(0)).ok_or(PosteriorError::NotStarted)?;
        for (slot, x) in root.iter_mut().zip(active.iter().skip(usize::from(self.arrow.leaf))) {
            *slot = *x;
        }
        for (leaf, out) in leaves.chunks_mut(usize::from(self.arrow.leaf).max(1)).enumerate() {
            for x in active.iter_mut().take(usize::from(self.arrow.leaf)) {
                *x = T::ZERO;
            }
            self.solve_leaf(leaf, active);
            for (slot, x) in out.iter_mut().zip(active.iter()) {
                *slot = *x;
            }
        }
        Ok(())
    }

    /// Writes the mean into a nalgebra vector of d rows.
    ///
    /// # Errors
    /// A shape other than d x 1, or a workspace that is too small.
    pub fn mean_into<R, C, M>(
        &self,
        scratch: &mut (impl AsMut<[T]> + ?Sized),
        out: &mut Matrix<T, R, C, M>,
    ) -> Result<(), PosteriorError>
    where
        T: nalgebra::Scalar,
        R: Dim,
        C: Dim,
        M: StorageMut<T, R, C> + nalgebra::IsContiguous,
    {
        if out.ncols() != 1 {
            return Err(PosteriorError::OutputLength { expected: self.arrow.dimension() });
        }
        self.mean(scratch, out.as_mut_slice())
    }

    /// Writes the covariance into a nalgebra matrix of d x d, column by column; meant for small d.
    ///
    /// # Errors
    /// Another shape than d x d, or a workspace that is too small.
    ///
    /// ```
    /// use fable_core::posterior::{Layout, Posterior, Prior};
    /// use nalgebra::Matrix2;
    /// let arrow = Layout::new(0, 0, 2).unwrap();
    /// let mut posterior = Posterior::<f64, _>::from_storage([0.0; 5]);
    /// posterior.start(arrow, &Prior::Isotropic, 4.0)?;
    /// let mut covariance = Matrix2::zeros();
    /// posterior.covariance_into(&mut [0.0; 3], &mut covariance)?;
    /// assert_eq!(covariance, Matrix2::identity() / 4.0);
    /// # Ok::<(), fable_core::posterior::PosteriorError>(())
    /// ```
    pub fn covariance_into<R, C, M>(
        &self,
        scratch: &mut (impl AsMut<[T]> + ?Sized),
        out: &mut Matrix<T, R, C, M>,
    ) -> Result<(), PosteriorError>
    where
        T: nalgebra::Scalar,
        R: Dim,
        C: Dim,
        M: StorageMut<T, R, C>,
    {
        let dimension = self.arrow.dimension();
        if out.shape() != (dimension, dimension) || dimension == 0 {
            return Err(PosteriorError::OutputLength { expected: dimension });
        }
        let leaf_len = usize::from(self.arrow.leaf);
        for (coordinate, mut column) in out.column_iter_mut().enumerate() {
            // Sigma e = L^-T E (L^-1 e): forward over the touched part, scale, back-solve over everything.
            let (own, _) = scatter(self.arrow, scratch.as_mut(), [(coordinate, T::ONE)], T::ZERO)?;
            let active = active(scratch.as_mut(), self.arrow)?;
            self.whiten(own, active).ok_or(PosteriorError::NotStarted)?;
            if let Some(last) = active.last_mut() {
                *last = T::ZERO;
            }
            self.solve_root(active);
            // The own leaf first: its right-hand side is still in place; the others have none.
            let order =
                own.into_iter().chain((0..usize::from(self.arrow.leaves)).filter(|leaf| Some(*leaf) != own));
            for leaf in order {
                if Some(leaf) != own {
                    for x in active.iter_mut().take(leaf_len) {
                        *x = T::ZERO;
                    }
                }
                self.solve_leaf(leaf, active);
                for (slot, x) in column.iter_mut().skip(leaf * leaf_len).zip(active.iter().take(leaf_len)) {
                    *slot = *x;
                }
            }
            for (slot, x) in
                column.iter_mut().skip(self.arrow.root_coordinate(0)).zip(active.iter().skip(leaf_len))
            {
                *slot = *x;
            }
        }
        Ok(())
    }

    /// E L^-1 w in place.
    fn whiten(&self, leaf: Option<usize>, active: &mut [T]) -> Option<()> {
        let segments = self.arrow.split(self.storage.as_ref(), leaf)?;
        let active = active.get_mut(self.arrow.active_start(leaf)..)?;
        let mut w = &mut *active;
        for segment in &segments {
            (_, w) = T::forward(segment.inverse, segment.columns, w, T::ZERO);
        }
        for (x, e) in active.iter_mut().zip(segments.iter().flat_map(|segment| segment.inverse)) {
            *x *= *e;
        }
        Some(())
    }

    /// A draw from N(mu, nu^2 Sigma) over one leaf and the root, or the mean when there is no `normal`.
    ///
    /// The draw is L^-T (z + nu sqrt(E) n) for standard normals n taken in storage order, leaf first. `active` gets the
    /// leaf's coordinates (without meaning when there is no leaf) and the root's.
    pub(crate) fn draw(
        &self,
        active: &mut [T],
        task: Option<usize>,
        normal: Option<(T, Stream)>,
    ) -> Result<(), PosteriorError> {
        let leaf = self.arrow.leaf_of(task);
        self.right_hand_side(active, leaf, normal)?;
        self.solve_root(active);
        if let Some(leaf) = leaf {
            self.solve_leaf(leaf, active);
        }
        Ok(())
    }

    /// A draw and the mean, each as [`draw`](Self::draw) gives it, in one pass over the factor.
    #[cfg(fable_host)]
    pub(crate) fn draw_and_mean(
        &self,
        active: &mut [T],
        mean: &mut [T],
        task: Option<usize>,
        normal: (T, Stream),
    ) -> Result<(), PosteriorError> {
        let leaf = self.arrow.leaf_of(task);
        self.right_hand_side(active, leaf, Some(normal))?;
        self.right_hand_side(mean, leaf, None)?;
        let [own, root] = self.arrow.split(self.storage.as_ref(), leaf).ok_or(PosteriorError::NotStarted)?;
        let (leaf_len, root_len) = (self.arrow.leaf(), self.arrow.root());
        if let (Some(active), Some(mean)) = (active.get_mut(leaf_len..), mean.get_mut(leaf_len..)) {
            T::back_solve_both(root.columns, root_len, [active, mean]);
        }
        if leaf.is_some() {
            T::back_solve_both(own.columns, leaf_len, [active, mean]);
        }
        Ok(())
    }

    /// What a back-solve makes a draw of, or the mean.
    fn right_hand_side(
        &self,
        active: &mut [T],
        leaf: Option<usize>,
        normal: Option<(T, Stream)>,
    ) -> Result<(), PosteriorError> {
        active.fill(T::ZERO);
        let (last, coordinates) = active.split_last_mut().ok_or(PosteriorError::NotStarted)?;
        *last = -T::ONE;
        if let Some((nu, stream)) = normal {
            let segments = self.arrow.split(self.storage.as_ref(), leaf).ok_or(PosteriorError::NotStarted)?;
            let mut drawn =
                coordinates.get_mut(self.arrow.active_start(leaf)..).ok_or(PosteriorError::NotStarted)?;
            T::normals(stream, drawn);
            for segment in segments {
                let (part, rest) =
                    drawn.split_at_mut_checked(segment.inverse.len()).ok_or(PosteriorError::NotStarted)?;
                T::spread(nu, segment.inverse, part);
                drawn = rest;
            }
        }
        Ok(())
    }

    /// Walks over the rows of L^-1 of one leaf and the root, [`ROWS`] at a time: their entries, leaf first, how many of
    /// these can be other than zero, and their E. `rows` has room for the leaf and the root.
    pub(crate) fn inverse_rows(
        &self,
        task: Option<usize>,
        rows: &mut [Entries<T>],
        mut each: impl FnMut(&[Entries<T>], usize, &Entries<T>),
    ) -> Result<(), PosteriorError> {
        let leaf = self.arrow.leaf_of(task);
        let [own, root] = self.arrow.split(self.storage.as_ref(), leaf).ok_or(PosteriorError::NotStarted)?;
        let (leaf_len, root_len) = (self.arrow.leaf(), self.arrow.root());
        rows.fill([T::ZERO; ROWS]);
        for first in (self.arrow.active_start(leaf)..leaf_len + root_len).step_by(ROWS) {
            let top = (first + ROWS).min(leaf_len + root_len);
            let x = rows.get_mut(..top).ok_or(PosteriorError::WorkspaceLength)?;
            x.fill([T::ZERO; ROWS]);
            for (row, entries) in x.iter_mut().skip(first).enumerate() {
                if let Some(entry) = entries.get_mut(row) {
                    *entry = T::ONE;
                }
            }
            // A single row begins with what its own entry leaves, which saves a product and a sum for each column.
            let unsolved = if ROWS == 1 { first } else { top };
            let x = x.get_mut(..unsolved).unwrap_or_default();
            if let Some(x) = x.get_mut(leaf_len..) {
                if ROWS == 1 {
                    begin_row(root.columns, root_len, first - leaf_len, x);
                }
                T::back_rows(root.columns, root_len, x.len(), x);
            }
            if leaf.is_some() {
                let unknown = unsolved.min(leaf_len);
                if ROWS == 1 {
                    begin_row(
                        own.columns,
                        leaf_len + root_len,
                        first,
                        x.get_mut(..unknown).unwrap_or_default(),
                    );
                }
                T::back_rows(own.columns, leaf_len + root_len, unknown, x);
            }
            let mut inverse = [T::ZERO; ROWS];
            let from = first - self.arrow.active_start(leaf);
            for (slot, e) in inverse.iter_mut().zip(own.inverse.iter().chain(root.inverse).skip(from)) {
                *slot = *e;
            }
            each(rows, top, &inverse);
        }
        Ok(())
    }

    /// Back-solves the root part of an active vector.
    fn solve_root(&self, active: &mut [T]) {
        let x = active.get_mut(usize::from(self.arrow.leaf)..);
        if let (Some([_, root]), Some(x)) = (self.arrow.split(self.storage.as_ref(), None), x) {
            T::back_solve(root.columns, usize::from(self.arrow.root), x);
        }
    }

    /// Back-solves one leaf; the root part must be solved.
    fn solve_leaf(&self, leaf: usize, active: &mut [T]) {
        if let Some([leaf, _]) = self.arrow.split(self.storage.as_ref(), Some(leaf)) {
            T::back_solve(leaf.columns, usize::from(self.arrow.leaf), active);
        }
    }
}

/// The part of a workspace for one leaf, the root and the information row.
fn active<T>(scratch: &mut [T], arrow: Layout) -> Result<&mut [T], PosteriorError> {
    scratch.get_mut(..arrow.active_len()).ok_or(PosteriorError::WorkspaceLength)
}

/// Spreads a sparse direction over the active part, with the response after it; the leaf it touches and the part that counts.
fn scatter<T: Number>(
    arrow: Layout,
    scratch: &mut [T],
    direction: impl IntoIterator<Item = (usize, T)>,
    response: T,
) -> Result<(Option<usize>, &mut [T]), PosteriorError> {
    if arrow.dimension() == 0 {
        return Err(PosteriorError::NotStarted);
    }
    let active = active(scratch, arrow)?;
    active.fill(T::ZERO);
    let mut leaf = None;
    for (coordinate, value) in direction {
        let (task, inside) = arrow.locate(coordinate).ok_or(PosteriorError::Coordinate { coordinate })?;
        if !within(value.to_f64(), MAX_COEFFICIENT) {
            return Err(PosteriorError::Coefficient { coordinate });
        }
        if task.is_some() && leaf.is_some() && leaf != task {
            return Err(PosteriorError::TwoTasks);
        }
        leaf = leaf.or(task);
        let place = if task.is_some() { inside } else { usize::from(arrow.leaf) + inside };
        if let Some(slot) = active.get_mut(place) {
            *slot += value;
        }
    }
    if let Some(last) = active.last_mut() {
        *last = response;
    }
    Ok((leaf, active.get_mut(arrow.active_start(leaf)..).unwrap_or_default()))
}

/// What can be wrong with a request to the posterior.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum PosteriorError {
    /// The posterior was not started.
    NotStarted,
    /// The storage has another length than the shape needs.
    StorageLength {
        /// What the shape needs.
        expected: usize,
    },
    /// The workspace is too small for the shape.
    WorkspaceLength,
    /// The output has the wrong length or shape.
    OutputLength {
        /// The dimension.
        expected: usize,
    },
    /// The prior does not fit.
    Prior(PriorError),
    /// No such coordinate.
    Coordinate {
        /// The one asked for.
        coordinate: usize,
    },
    /// A coefficient is not a number from -100 to 100.
    Coefficient {
        /// The coordinate it stands at.
        coordinate: usize,
    },
    /// One direction touches two tasks, which would join their leaves.
    TwoTasks,
    /// The response is not a number from -20,000 to 20,000.
    Response,
    /// The variance is not a number from 1e-7 to 1e13.
    Variance,
}

impl fmt::Display for PosteriorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotStarted => f.write_str("the posterior was not started"),
            Self::StorageLength { expected } => {
                write!(f, "the state needs storage for exactly {expected} numbers")
            }
            Self::WorkspaceLength => f.write_str("the workspace is too small for this catalog"),
            Self::OutputLength { expected } => {
                write!(f, "the output must have {expected} rows (and columns)")
            }
            Self::Prior(error) => error.fmt(f),
            Self::Coordinate { coordinate } => write!(f, "there is no coordinate {coordinate}"),
            Self::Coefficient { coordinate } => {
                write!(f, "the coefficient of coordinate {coordinate} is not a number from -100 to 100")
            }
            Self::TwoTasks => f.write_str("a direction can touch coordinates of one task only"),
            Self::Response => f.write_str("the response is not a number from -20000 to 20000"),
            Self::Variance => f.write_str("the variance is not a number from 1e-7 to 1e13"),
        }
    }
}

impl core::error::Error for PosteriorError {}
