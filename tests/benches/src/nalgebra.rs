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

    fn solve(&self, x: &mut [T]) {
        let square = self.l_dirty().view((0, 0), (x.len(), x.len()));
        square.solve_lower_triangular_unchecked_mut(&mut DVectorViewMut::from_slice(x, x.len()));
    }

    fn solve_transposed(&self, x: &mut [T]) {
        let square = self.l_dirty().view((0, 0), (x.len(), x.len()));
        square.tr_solve_lower_triangular_unchecked_mut(&mut DVectorViewMut::from_slice(x, x.len()));
    }

    fn row(&self, index: usize) -> impl Iterator<Item = T> {
        (0..index).map(move |column| self.l_dirty()[(index, column)])
    }
}
