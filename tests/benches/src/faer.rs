//! faer: `rank_r_update_clobber` with one column, sequential. It finds out at run time what the processor can do and uses
//! AVX2 and fused multiply-add even in a build for plain x86-64.

use ::faer::diag::DiagMut;
use ::faer::linalg::cholesky::llt::update::rank_r_update_clobber;
use ::faer::linalg::triangular_solve::{solve_lower_triangular_in_place, solve_upper_triangular_in_place};
use ::faer::traits::ComplexField;
use ::faer::{Mat, MatMut, Par};
use fable_core::Scalar;

use crate::peer::Factor;

/// L, of L L^T.
pub struct Llt<T>(Mat<T>);

impl<T: Scalar + ComplexField> Factor<T> for Llt<T> {
    fn diagonal(rows: usize, value: T) -> Self {
        Self(Mat::from_fn(rows, rows, |row, column| if row == column { value.root() } else { T::ZERO }))
    }

    fn update(&mut self, vector: &mut [T], weight: T) {
        let rows = vector.len();
        let vector = MatMut::from_column_major_slice_mut(vector, rows, 1);
        rank_r_update_clobber(self.0.as_mut(), vector, DiagMut::from_slice_mut(&mut [weight]))
            .expect("positive definite");
    }

    fn solve(&self, x: &mut [T]) {
        let rows = x.len();
        let x = MatMut::from_column_major_slice_mut(x, rows, 1);
        solve_lower_triangular_in_place(self.0.submatrix(0, 0, rows, rows), x, Par::Seq);
    }

    fn solve_transposed(&self, x: &mut [T]) {
        let rows = x.len();
        let x = MatMut::from_column_major_slice_mut(x, rows, 1);
        solve_upper_triangular_in_place(self.0.submatrix(0, 0, rows, rows).transpose(), x, Par::Seq);
    }

    fn row(&self, index: usize) -> impl Iterator<Item = T> {
        self.0.row(index).iter().copied()
    }
}
