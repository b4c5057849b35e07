//! faer: `rank_r_update_clobber` with one column, sequential. It finds out at run time what the processor can do and uses
//! AVX2 and fused multiply-add even in a build for plain x86-64.

use ::faer::diag::DiagMut;
use ::faer::linalg::cholesky::llt::update::rank_r_update_clobber;
use ::faer::linalg::triangular_solve::solve_upper_triangular_in_place;
use ::faer::traits::ComplexField;
use ::faer::{Mat, MatMut, Par};
use fable_core::Scalar;

use crate::peer::Factor;

/// L, of L L^T.
pub struct Llt<T>(Mat<T>);

impl<T: Scalar + ComplexField> Factor<T> for Llt<T> {
    fn diagonal(rows: usize, value: T) -> Self {
        Self(Mat::from_fn(rows, rows, |row, column| if row == column { Scalar::root(value) } else { T::ZERO }))
    }

    fn update(&mut self, vector: &mut [T], weight: T) {
        let rows = vector.len();
        let vector = MatMut::from_column_major_slice_mut(vector, rows, 1);
        rank_r_update_clobber(self.0.as_mut(), vector, DiagMut::from_slice_mut(&mut [weight])).expect("positive definite");
    }

    fn draw(&self, x: &mut [T], nu: T) {
        let dimension = x.len();
        for (x, z) in x.iter_mut().zip(self.0.row(dimension).iter()) {
            *x = nu * *x + *z;
        }
        let square = self.0.submatrix(0, 0, dimension, dimension);
        let x = MatMut::from_column_major_slice_mut(x, dimension, 1);
        solve_upper_triangular_in_place(square.transpose(), x, Par::Seq);
    }
}
