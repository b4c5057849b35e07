//! Linear algebra over the rationals: an oracle that neither rounds nor needs a tolerance.
//!
//! nalgebra's singular vectors are too inaccurate here. For features of rank 3 with repeated rows of zeros
//! and ones, they miss the rows by 1e-3 (version 0.35, its issue 1172).

use num_rational::BigRational;
use num_traits::{One, Zero};

/// A vector given as (coordinate, coefficient), in full; coefficients of one coordinate add up.
fn full(dimension: usize, vector: &[(usize, f64)]) -> Vec<BigRational> {
    let mut row = vec![BigRational::zero(); dimension];
    for &(index, value) in vector {
        row[index] += BigRational::from_float(value).expect("finite");
    }
    row
}

/// row -= factor pivot
fn subtract(row: &mut [BigRational], factor: &BigRational, pivot: &[BigRational]) {
    for (x, p) in row.iter_mut().zip(pivot).filter(|(_, p)| !p.is_zero()) {
        *x -= factor * p;
    }
}

/// A basis of the vectors orthogonal to all rows, by Gauss-Jordan elimination. Each coordinate without a
/// pivot has one basis vector: 1 there and 0 at the other free coordinates. So the vectors are independent.
pub fn null_space(dimension: usize, rows: &[Vec<(usize, f64)>]) -> Vec<Vec<BigRational>> {
    let mut reduced: Vec<(usize, Vec<BigRational>)> = Vec::new();
    for row in rows {
        let mut row = full(dimension, row);
        for (column, pivot) in &reduced {
            let factor = row[*column].clone();
            subtract(&mut row, &factor, pivot);
        }
        let Some(column) = row.iter().position(|x| !x.is_zero()) else { continue };
        let first = row[column].clone();
        for x in &mut row {
            *x /= &first;
        }
        for (_, other) in &mut reduced {
            let factor = other[column].clone();
            subtract(other, &factor, &row);
        }
        reduced.push((column, row));
    }
    let free = (0..dimension).filter(|index| reduced.iter().all(|(column, _)| column != index));
    free.map(|index| {
        let mut vector = vec![BigRational::zero(); dimension];
        vector[index] = BigRational::one();
        for (column, row) in &reduced {
            vector[*column] = -&row[index];
        }
        vector
    })
    .collect()
}

/// Whether two vectors are orthogonal, without a doubt.
pub fn orthogonal(sparse: &[(usize, f64)], vector: &[BigRational]) -> bool {
    sparse
        .iter()
        .map(|&(index, value)| BigRational::from_float(value).expect("finite") * &vector[index])
        .sum::<BigRational>()
        .is_zero()
}
