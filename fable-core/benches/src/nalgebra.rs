//! nalgebra: `Cholesky::rank_one_update` on a dense matrix.

use ::nalgebra::{Cholesky, DMatrix, DVectorView, DVectorViewMut, Dyn, RealField};

use crate::peer::Factor;

impl<T: RealField + Copy> Factor<T> for Cholesky<T, Dyn> {
    fn diagonal(rows: usize, value: T) -> Self {
        Self::new(DMatrix::from_diagonal_element(rows, rows, value)).expect("positive")
    }

    fn update(&mut self, vector: &mut [T], weight: T) {
        self.rank_one_update(&DVectorView::from_slice(vector, vector.len()), weight);
    }

    fn draw(&self, x: &mut [T], nu: T) {
        let (factor, dimension) = (self.l_dirty(), x.len());
        for (x, z) in x.iter_mut().zip(factor.row(dimension).iter()) {
            *x = nu * *x + *z;
        }
        let square = factor.view((0, 0), (dimension, dimension));
        square.tr_solve_lower_triangular_unchecked_mut(&mut DVectorViewMut::from_slice(x, dimension));
    }
}
