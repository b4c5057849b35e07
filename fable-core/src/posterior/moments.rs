//! Mean and covariance of all coordinates.

use super::observation::{active, scatter};
use super::{Posterior, PosteriorError};
use crate::numbers::Number;
use nalgebra::{Dim, Matrix, StorageMut};

impl<T: Number, S: AsRef<[T]>> Posterior<T, S> {
    /// mu, one number per coordinate.
    ///
    /// # Errors
    /// `out` of another length than the dimension, or a workspace that is too small.
    pub fn mean(
        &self,
        scratch: &mut (impl AsMut<[T]> + ?Sized),
        out: &mut [T],
    ) -> Result<(), PosteriorError> {
        let expected = self.layout.dimension();
        if out.len() != expected || expected == 0 {
            return Err(PosteriorError::OutputLength { expected });
        }
        let active = active(scratch.as_mut(), self.layout)?;
        active.fill(T::ZERO);
        if let Some(last) = active.last_mut() {
            *last = -T::ONE;
        }
        self.solve_root(active);
        let (leaves, root) =
            out.split_at_mut_checked(self.layout.root_coordinate(0)).ok_or(PosteriorError::NotStarted)?;
        for (slot, x) in root.iter_mut().zip(active.iter().skip(usize::from(self.layout.leaf))) {
            *slot = *x;
        }
        for (leaf, out) in leaves.chunks_mut(usize::from(self.layout.leaf).max(1)).enumerate() {
            for x in active.iter_mut().take(usize::from(self.layout.leaf)) {
                *x = T::ZERO;
            }
            self.solve_leaf(leaf, active);
            for (slot, x) in out.iter_mut().zip(active.iter()) {
                *slot = *x;
            }
        }
        Ok(())
    }

    /// Writes mu into a nalgebra vector of d rows.
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
            return Err(PosteriorError::OutputLength { expected: self.layout.dimension() });
        }
        self.mean(scratch, out.as_mut_slice())
    }

    /// Writes Sigma into a nalgebra matrix of d x d, column by column. For small d.
    ///
    /// # Errors
    /// Another shape than d x d, or a workspace that is too small.
    ///
    /// ```
    /// use fable_core::posterior::{Layout, Posterior, Prior};
    /// use nalgebra::Matrix2;
    /// let layout = Layout::new(0, 0, 2).unwrap();
    /// let mut posterior = Posterior::<f64, _>::from_storage([0.0; 5]);
    /// posterior.start(layout, &Prior::Isotropic, 4.0)?;
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
        let dimension = self.layout.dimension();
        if out.shape() != (dimension, dimension) || dimension == 0 {
            return Err(PosteriorError::OutputLength { expected: dimension });
        }
        let leaf_len = usize::from(self.layout.leaf);
        for (coordinate, mut column) in out.column_iter_mut().enumerate() {
            // Sigma e = L^-T E (L^-1 e): forward over the touched part, scale, back-solve over everything.
            let (own, _) = scatter(self.layout, scratch.as_mut(), [(coordinate, T::ONE)], T::ZERO)?;
            let active = active(scratch.as_mut(), self.layout)?;
            self.whiten(own, active).ok_or(PosteriorError::NotStarted)?;
            if let Some(last) = active.last_mut() {
                *last = T::ZERO;
            }
            self.solve_root(active);
            // The coordinate's own leaf first, while its right-hand side is in place. Other leaves have none.
            let order =
                own.into_iter().chain((0..usize::from(self.layout.leaves)).filter(|leaf| Some(*leaf) != own));
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
                column.iter_mut().skip(self.layout.root_coordinate(0)).zip(active.iter().skip(leaf_len))
            {
                *slot = *x;
            }
        }
        Ok(())
    }

    /// Replaces w by E L^-1 w.
    fn whiten(&self, leaf: Option<usize>, active: &mut [T]) -> Option<()> {
        let segments = self.layout.split(self.storage.as_ref(), leaf)?;
        let active = active.get_mut(self.layout.active_start(leaf)..)?;
        let mut w = &mut *active;
        for segment in &segments {
            (_, w) = T::forward(segment.inverse, segment.columns, w, T::ZERO);
        }
        for (x, e) in active.iter_mut().zip(segments.iter().flat_map(|segment| segment.inverse)) {
            *x *= *e;
        }
        Some(())
    }
}
