//! Back-solves for hosts: four columns at a time, and two right-hand sides in one pass over the columns.
//!
//! Every entry has the bits of [`solve_pair`]. The dot products of two pairs have whole chunks in the same
//! rows, which add up in one loop. Only the remaining rows wait for the entries that were solved just before.

use super::back_solve::{dot, solve_pair, tree};
use super::{LANES, back};
use crate::numbers::Number;
use crate::numbers::lanes::Lanes;

/// Back-solve over one segment. The first `unknown` entries of `x` hold s and become x.
///
/// The entries after them are solved and end with -1 for the information row, which adds z.
#[cfg_attr(feature = "dispatch", inline(always))]
pub(crate) fn back_solve<T: Number, V: Lanes<T, LANES>>(
    v: V,
    mut columns: &[T],
    mut unknown: usize,
    x: &mut [T],
) {
    loop {
        let four = joins(unknown, x.len());
        let left = if four {
            solve_four(v, &mut columns, unknown, x)
        } else {
            solve_pair(v, &mut columns, unknown, x)
        };
        let Some(left) = left else { return };
        unknown = left;
    }
}

/// [`back_solve`] of two right-hand sides in one pass over the columns.
#[cfg_attr(feature = "dispatch", inline(always))]
pub(crate) fn back_solve_both<T: Number, V: Lanes<T, LANES>>(
    v: V,
    mut columns: &[T],
    mut unknown: usize,
    x: [&mut [T]; 2],
) {
    let [x, y] = x;
    loop {
        // In f64 there are too few registers for the sums of four columns.
        let left = if T::DIGITS < 53 && joins(unknown, x.len()) {
            solve_four_both(v, &mut columns, unknown, [x, y])
        } else {
            solve_pair_both(v, &mut columns, unknown, [x, y])
        };
        let Some(left) = left else { return };
        unknown = left;
    }
}

/// True if two pairs are left whose dot products have the same whole chunks.
#[cfg_attr(feature = "dispatch", inline(always))]
fn joins(unknown: usize, length: usize) -> bool {
    unknown >= 4 && length.wrapping_sub(unknown) % LANES + 2 < LANES
}

/// Solves the last four unknowns. The result is the number that is left.
#[cfg_attr(feature = "dispatch", inline(always))]
fn solve_four<T: Number, V: Lanes<T, LANES>>(
    v: V,
    columns: &mut &[T],
    unknown: usize,
    x: &mut [T],
) -> Option<usize> {
    let (head, solved) = x.split_at_mut_checked(unknown)?;
    let four = back_four(columns, solved.len())?;
    finish_four(four.below, sums(v, four.columns, solved), head.last_chunk_mut()?);
    Some(unknown - 4)
}

/// [`solve_four`] of two right-hand sides.
#[cfg_attr(feature = "dispatch", inline(always))]
fn solve_four_both<T: Number, V: Lanes<T, LANES>>(
    v: V,
    columns: &mut &[T],
    unknown: usize,
    [x, y]: [&mut [T]; 2],
) -> Option<usize> {
    let (head_x, solved_x) = x.split_at_mut_checked(unknown)?;
    let (head_y, solved_y) = y.split_at_mut_checked(unknown)?;
    let four = back_four(columns, solved_x.len())?;
    let [sums_x, sums_y] = sums_both(v, four.columns, [solved_x, solved_y]);
    finish_four(four.below, sums_x, head_x.last_chunk_mut()?);
    finish_four(four.below, sums_y, head_y.last_chunk_mut()?);
    Some(unknown - 4)
}

/// Four columns: the entries between their diagonals, and the rows below.
struct Four<'s, T> {
    below: [T; 6],
    columns: [&'s [T]; 4],
}

/// Takes the next four columns off the back. The last of them has `len` rows.
#[cfg_attr(feature = "dispatch", inline(always))]
fn back_four<'s, T: Copy>(columns: &mut &'s [T], len: usize) -> Option<Four<'s, T>> {
    let c4 = back(columns, len)?;
    let ([l43], c3) = back(columns, len + 1)?.split_first_chunk()?;
    let ([l32, l42], c2) = back(columns, len + 2)?.split_first_chunk()?;
    let ([l21, l31, l41], c1) = back(columns, len + 3)?.split_first_chunk()?;
    Some(Four { below: [*l21, *l31, *l41, *l32, *l42, *l43], columns: [c1, c2, c3, c4] })
}

/// Finishes the rows between four columns, pair after pair.
#[cfg_attr(feature = "dispatch", inline(always))]
fn finish_four<T: Number>(below: [T; 6], sums: [T; 4], x: &mut [T; 4]) {
    let ([l21, l31, l41, l32, l42, l43], [s1, s2, s3, s4]) = (below, sums);
    let [x1, x2, x3, x4] = x;
    *x4 -= s4;
    *x3 = (*x3 - s3) - l43 * *x4;
    *x2 -= (s2 + l42 * *x4) + l32 * *x3;
    *x1 = (*x1 - ((s1 + l41 * *x4) + l31 * *x3)) - l21 * *x2;
}

/// The dot products of four columns with `x`.
#[cfg_attr(feature = "dispatch", inline(always))]
fn sums<T: Number, V: Lanes<T, LANES>>(v: V, columns: [&[T]; 4], x: &[T]) -> [T; 4] {
    let (near, far) = x.as_rchunks::<LANES>();
    let [(n1, f1), (n2, f2), (n3, f3), (n4, f4)] = columns.map(|column| column.as_rchunks::<LANES>());
    let mut lanes = [v.splat(T::ZERO); 4];
    for ((((x, l1), l2), l3), l4) in far.iter().zip(f1).zip(f2).zip(f3).zip(f4).rev() {
        lanes = add(v.load(x), [v.load(l1), v.load(l2), v.load(l3), v.load(l4)], lanes);
    }
    let mut sums = lanes.map(|lanes| tree(v.store(lanes)));
    for ((((x, l1), l2), l3), l4) in near.iter().zip(n1).zip(n2).zip(n3).zip(n4).rev() {
        sums = add(*x, [*l1, *l2, *l3, *l4], sums);
    }
    sums
}

/// [`sums`] with two vectors.
#[cfg_attr(feature = "dispatch", inline(always))]
fn sums_both<T: Number, V: Lanes<T, LANES>>(v: V, columns: [&[T]; 4], x: [&[T]; 2]) -> [[T; 4]; 2] {
    let [(near_x, far_x), (near_y, far_y)] = x.map(|x| x.as_rchunks::<LANES>());
    let [(n1, f1), (n2, f2), (n3, f3), (n4, f4)] = columns.map(|column| column.as_rchunks::<LANES>());
    let [mut of_x, mut of_y] = [[v.splat(T::ZERO); 4]; 2];
    for (((((x, y), l1), l2), l3), l4) in far_x.iter().zip(far_y).zip(f1).zip(f2).zip(f3).zip(f4).rev() {
        let l = [v.load(l1), v.load(l2), v.load(l3), v.load(l4)];
        of_x = add(v.load(x), l, of_x);
        of_y = add(v.load(y), l, of_y);
    }
    let [mut of_x, mut of_y] = [of_x, of_y].map(|lanes| lanes.map(|lanes| tree(v.store(lanes))));
    for (((((x, y), l1), l2), l3), l4) in near_x.iter().zip(near_y).zip(n1).zip(n2).zip(n3).zip(n4).rev() {
        let l = [*l1, *l2, *l3, *l4];
        of_x = add(*x, l, of_x);
        of_y = add(*y, l, of_y);
    }
    [of_x, of_y]
}

/// Adds a product to each of four sums.
#[cfg_attr(feature = "dispatch", inline(always))]
fn add<S: Copy + core::ops::Add<Output = S> + core::ops::Mul<Output = S>>(
    x: S,
    l: [S; 4],
    sums: [S; 4],
) -> [S; 4] {
    let ([l1, l2, l3, l4], [s1, s2, s3, s4]) = (l, sums);
    [s1 + l1 * x, s2 + l2 * x, s3 + l3 * x, s4 + l4 * x]
}

/// [`solve_pair`] of two right-hand sides.
#[cfg_attr(feature = "dispatch", inline(always))]
fn solve_pair_both<T: Number, V: Lanes<T, LANES>>(
    v: V,
    columns: &mut &[T],
    unknown: usize,
    [x, y]: [&mut [T]; 2],
) -> Option<usize> {
    let (head_x, solved_x) = x.split_at_mut_checked(unknown)?;
    let (head_y, solved_y) = y.split_at_mut_checked(unknown)?;
    match (head_x, head_y) {
        ([.., x1, x2], [.., y1, y2]) => {
            let c2 = back(columns, solved_x.len())?;
            let (below, c1) = back(columns, solved_x.len() + 1)?.split_first()?;
            let [[x_1, x_2], [y_1, y_2]] = dots_both(v, [c1, c2], [solved_x, solved_y]);
            *x2 -= x_2;
            *y2 -= y_2;
            *x1 = (*x1 - x_1) - *below * *x2;
            *y1 = (*y1 - y_1) - *below * *y2;
            Some(unknown - 2)
        }
        ([x1], [y1]) => {
            let c1 = back(columns, solved_x.len())?;
            *x1 -= dot(v, c1, solved_x);
            *y1 -= dot(v, c1, solved_y);
            None
        }
        _ => None,
    }
}

/// The dot products of two columns with two vectors.
#[cfg_attr(feature = "dispatch", inline(always))]
fn dots_both<T: Number, V: Lanes<T, LANES>>(v: V, columns: [&[T]; 2], x: [&[T]; 2]) -> [[T; 2]; 2] {
    let [(near_1, far_1), (near_2, far_2)] = columns.map(|column| column.as_rchunks::<LANES>());
    let [(near_x, far_x), (near_y, far_y)] = x.map(|x| x.as_rchunks::<LANES>());
    let [mut x_1, mut x_2, mut y_1, mut y_2] = [v.splat(T::ZERO); 4];
    for (((l1, l2), x), y) in far_1.iter().zip(far_2).zip(far_x).zip(far_y).rev() {
        let [l1, l2, x, y] = [v.load(l1), v.load(l2), v.load(x), v.load(y)];
        (x_1, x_2) = (x_1 + l1 * x, x_2 + l2 * x);
        (y_1, y_2) = (y_1 + l1 * y, y_2 + l2 * y);
    }
    let [mut x_1, mut x_2, mut y_1, mut y_2] = [x_1, x_2, y_1, y_2].map(|lanes| tree(v.store(lanes)));
    for (((l1, l2), x), y) in near_1.iter().zip(near_2).zip(near_x).zip(near_y).rev() {
        x_1 += *l1 * *x;
        x_2 += *l2 * *x;
        y_1 += *l1 * *y;
        y_2 += *l2 * *y;
    }
    [[x_1, x_2], [y_1, y_2]]
}
