//! Forward solve over one segment, L p = w, for w^T Sigma w.

use super::{STRIDE, Vectors};
use crate::numbers::Number;
use crate::numbers::lanes::Lanes;

/// Solves one column after the other. Each adds p^2 E to the variance. Rows below: w -= p l.
#[cfg_attr(feature = "dispatch", inline(always))]
fn solve_columns<'w, T: Number>(
    inverse: &[T],
    columns: &mut &[T],
    mut w: &'w mut [T],
    variance: &mut T,
) -> &'w mut [T] {
    for e in inverse {
        let [p, rest @ ..] = w else { return &mut [] };
        let Some((column, others)) = columns.split_at_checked(rest.len()) else { return rest };
        *variance = variance.add_product(p.times(*p), *e);
        for (w, l) in rest.iter_mut().zip(column) {
            *w = w.add_product(-*p, *l);
        }
        (*columns, w) = (others, rest);
    }
    w
}

/// Returns w^T Sigma w, and the rest of `w` for the next segment.
///
/// Sums p^2 E into `variance`. If the last entry of `w` starts at 0, it ends as minus the mean of w^T theta.
/// Four columns go through at once if a multiple of four rows is left.
#[cfg_attr(feature = "dispatch", inline(always))]
pub(crate) fn forward<'w, T: Number, V: Vectors<T>>(
    v: V,
    inverse: &[T],
    mut columns: &[T],
    w: &'w mut [T],
    mut variance: T,
) -> (T, &'w mut [T]) {
    let Some((first, inverse)) = inverse.split_at_checked(inverse.len().min(w.len() % 4)) else {
        return (variance, w);
    };
    let mut w = solve_columns(first, &mut columns, w, &mut variance);
    let (fours, last) = inverse.as_chunks();
    for e in fours {
        let Some((p, rest)) = w.split_first_chunk_mut() else { return (variance, &mut []) };
        let Some((panel, others)) = columns.split_at_checked(4 * rest.len() + 6) else {
            return (variance, rest);
        };
        solve_four(v, e, panel, p, rest, &mut variance);
        (columns, w) = (others, rest);
    }
    let w = solve_columns(last, &mut columns, w, &mut variance);
    (variance, w)
}

/// Solves four columns. Columns whose pivots are all zero are skipped.
#[cfg_attr(feature = "dispatch", inline(always))]
fn solve_four<T: Number, V: Vectors<T>>(
    v: V,
    e: &[T; 4],
    panel: &[T],
    p: &mut [T; 4],
    w: &mut [T],
    variance: &mut T,
) -> Option<()> {
    let (first, panel) = panel.split_at_checked(w.len() + 3)?;
    let (second, panel) = panel.split_at_checked(w.len() + 2)?;
    let (third, c4) = panel.split_at_checked(w.len() + 1)?;
    let [l21, l31, l41, c1 @ ..] = first else { return None };
    let [l32, l42, c2 @ ..] = second else { return None };
    let [l43, c3 @ ..] = third else { return None };
    let [p1, p2, p3, p4] = p;
    *p2 -= *p1 * *l21;
    *p3 = *p3 - *p1 * *l31 - *p2 * *l32;
    *p4 = *p4 - *p1 * *l41 - *p2 * *l42 - *p3 * *l43;
    if p.iter().all(|p| *p == T::ZERO) {
        return Some(());
    }
    *variance = p.iter().zip(e).fold(*variance, |sum, (p, e)| sum + *p * *p * *e);
    subtract(v, *p, [c1, c2, c3, c4], w);
    Some(())
}

/// w -= p l for four columns and a multiple of four rows.
#[cfg_attr(feature = "dispatch", inline(always))]
fn subtract<T: Number, V: Vectors<T>>(v: V, p: [T; 4], columns: [&[T]; 4], w: &mut [T]) {
    let (near_w, far_w) = w.as_rchunks_mut();
    let [(n1, f1), (n2, f2), (n3, f3), (n4, f4)] = columns.map(|column| column.as_rchunks::<STRIDE>());
    if STRIDE > 4 {
        let near = [n1, n2, n3, n4].map(|near| near.as_chunks().0);
        subtract_rows::<T, 4, V>(v, p, near, near_w.as_chunks_mut().0);
    }
    subtract_rows::<T, STRIDE, V>(v, p, [f1, f2, f3, f4], far_w);
}

/// [`subtract`] for chunks of `N` rows.
#[cfg_attr(feature = "dispatch", inline(always))]
fn subtract_rows<T: Number, const N: usize, V: Lanes<T, N>>(
    v: V,
    p: [T; 4],
    columns: [&[[T; N]]; 4],
    w: &mut [[T; N]],
) {
    let [q1, q2, q3, q4] = p.map(|p| v.splat(-p));
    let [c1, c2, c3, c4] = columns;
    for ((((w, l1), l2), l3), l4) in w.iter_mut().zip(c1).zip(c2).zip(c3).zip(c4) {
        let two = v.add_product(v.add_product(v.load(w), q1, v.load(l1)), q2, v.load(l2));
        *w = v.store(v.add_product(v.add_product(two, q3, v.load(l3)), q4, v.load(l4)));
    }
}
