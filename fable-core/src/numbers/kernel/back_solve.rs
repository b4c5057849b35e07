//! Back-solve over one segment, L^T x = s.

#[cfg(not(fable_softfloat))]
use super::fpu::dots;
use super::{LANES, back};
use crate::numbers::Number;
use crate::numbers::lanes::Lanes;

/// Solves the last two unknowns, or the only one. The result is the number that is left. x_2 -= l_2 . x;  x_1
/// = (x_1 - l_1 . x) - l_21 x_2, where x are the entries that are solved before both.
#[cfg_attr(feature = "dispatch", inline(always))]
pub(super) fn solve_pair<T: Number, V: Lanes<T, LANES>>(
    v: V,
    columns: &mut &[T],
    unknown: usize,
    x: &mut [T],
) -> Option<usize> {
    let (head, solved) = x.split_at_mut_checked(unknown)?;
    match head {
        [.., x1, x2] => {
            let c2 = back(columns, solved.len())?;
            let (below, c1) = back(columns, solved.len() + 1)?.split_first()?;
            let [sum_1, sum_2] = dots(v, [c1, c2], solved);
            *x2 = x2.plus(-sum_2);
            *x1 = x1.plus(-sum_1).add_product(-*below, *x2);
            Some(unknown - 2)
        }
        [x1] => {
            *x1 = x1.plus(-dot(v, back(columns, solved.len())?, solved));
            None
        }
        [] => None,
    }
}

/// Back-solve pair after pair. The first `unknown` entries of `x` hold s and become x.
///
/// The entries after them are solved and end with -1 for the information row, which adds z.
#[cfg(not(fable_host))]
pub(crate) fn back_solve<T: Number, V: Lanes<T, LANES>>(
    v: V,
    mut columns: &[T],
    mut unknown: usize,
    x: &mut [T],
) {
    while let Some(left) = solve_pair(v, &mut columns, unknown, x) {
        unknown = left;
    }
}

/// Dot product of a column with `x`, from the far end: the entries of `x` solved last come last.
#[cfg_attr(feature = "dispatch", inline(always))]
#[cfg_attr(fable_softfloat, inline(never))]
pub(super) fn dot<T: Number, V: Lanes<T, LANES>>(v: V, column: &[T], x: &[T]) -> T {
    let (near_l, far_l) = column.as_rchunks::<LANES>();
    let (near_x, far_x) = x.as_rchunks::<LANES>();
    let mut sum = v.splat(T::ZERO);
    for (l, x) in far_l.iter().zip(far_x).rev() {
        sum = v.add_product(sum, v.load(l), v.load(x));
    }
    near_l.iter().zip(near_x).rev().fold(tree(v.store(sum)), |sum, (l, x)| sum.add_product(*l, *x))
}

/// Adds up the lanes in a tree: a0 + a4 and so on.
#[cfg_attr(feature = "dispatch", inline(always))]
pub(super) fn tree<T: Number>([a0, a1, a2, a3, a4, a5, a6, a7]: [T; LANES]) -> T {
    (a0.plus(a4)).plus(a2.plus(a6)).plus(a1.plus(a5).plus(a3.plus(a7)))
}

/// Dot products of two columns with the same `x`.
#[cfg(fable_softfloat)]
fn dots<T: Number, V: Lanes<T, LANES>>(v: V, columns: [&[T]; 2], x: &[T]) -> [T; 2] {
    columns.map(|column| dot(v, column, x))
}
