//! The loops that take the time, over packed columns of L in Lambda = L D L^T with E = 1/D.
//!
//! The information vector travels as one more row of L: with L D z = h that row is z, and the mean solves L^T mu = z. A
//! vector that runs along the columns therefore has one more entry, the *last*: the response in an update, -1 in a
//! back-solve.
//!
//! Determinism: elementwise loops have one order of operations however wide the machine is; the dot products keep eight
//! lanes and add them up in a written-out tree. Columns go through in pairs because that halves the traffic of the vector
//! they share; more than two do not pay.

use super::Number;

/// Lanes of a dot product; part of the numeric revision.
const LANES: usize = 8;

/// One column of the rank-one update, pivot p with running t (Gill, Golub, Murray and Saunders, method C1):
/// t' = t + p^2 E;  b = p E / t';  E *= t / t'.
#[inline]
fn pivot<T: Number>(p: T, inverse: &mut T, t: &mut T) -> T {
    let f = p * *inverse;
    let grown = *t + p * f;
    *inverse *= *t / grown;
    *t = grown;
    f / grown
}

/// Takes the next column off the front.
#[expect(clippy::mut_mut, reason = "a cursor into borrowed columns")]
fn front<'s, T>(columns: &mut &'s mut [T], len: usize) -> Option<&'s mut [T]> {
    let (column, rest) = core::mem::take(columns).split_at_mut_checked(len)?;
    *columns = rest;
    Some(column)
}

/// Takes the next column off the back.
fn back<'s, T>(columns: &mut &'s [T], len: usize) -> Option<&'s [T]> {
    let (rest, column) = columns.split_at_checked(columns.len().checked_sub(len)?)?;
    *columns = rest;
    Some(column)
}

/// Rank-one update of one segment: Lambda += w w^T / t and the information row with it.
///
/// `w` holds one entry per column of the segment, then one per remaining row, then the response. It is consumed: what is left
/// after the segment's columns is the vector for the next segment, whose last entry ends as the innovation. Returns the
/// running t, which ends as the predictive variance. A column whose pivot is zero does not change and is skipped.
pub(crate) fn sweep<'w, T: Number>(
    mut inverse: &mut [T],
    mut columns: &mut [T],
    mut w: &'w mut [T],
    mut t: T,
) -> (T, &'w mut [T]) {
    loop {
        match inverse {
            [e1, e2, later @ ..] => {
                let [w1, w2, rest @ ..] = w else { return (t, &mut []) };
                let (c1, c2) = (front(&mut columns, rest.len() + 1), front(&mut columns, rest.len()));
                let (Some([below, c1 @ ..]), Some(c2)) = (c1, c2) else { return (t, rest) };
                let p1 = *w1;
                let (mut b1, mut p2) = (T::ZERO, *w2);
                if p1 != T::ZERO {
                    b1 = pivot(p1, e1, &mut t);
                    p2 -= p1 * *below;
                    *below += b1 * p2;
                }
                let b2 = if p2 == T::ZERO { T::ZERO } else { pivot(p2, e2, &mut t) };
                match (p1 == T::ZERO, p2 == T::ZERO) {
                    (true, true) => {}
                    (true, false) => column(p2, b2, c2, rest),
                    (false, true) => column(p1, b1, c1, rest),
                    (false, false) => pair([p1, p2], [b1, b2], c1, c2, rest),
                }
                (inverse, w) = (later, rest);
            }
            [e1] => {
                let [w1, rest @ ..] = w else { return (t, &mut []) };
                let Some(c1) = front(&mut columns, rest.len()) else { return (t, rest) };
                if *w1 != T::ZERO {
                    let b1 = pivot(*w1, e1, &mut t);
                    column(*w1, b1, c1, rest);
                }
                return (t, rest);
            }
            [] => return (t, w),
        }
    }
}

/// w -= p l;  l += b w;  for two columns at once. A function of its own, so that the compiler knows the three slices apart.
#[inline(never)]
fn pair<T: Number>([p1, p2]: [T; 2], [b1, b2]: [T; 2], c1: &mut [T], c2: &mut [T], w: &mut [T]) {
    let ((far_w, near_w), (far_1, near_1), (far_2, near_2)) =
        (w.as_chunks_mut::<LANES>(), c1.as_chunks_mut::<LANES>(), c2.as_chunks_mut::<LANES>());
    let (q1, q2, d1, d2) = (T::splat(-p1), T::splat(-p2), T::splat(b1), T::splat(b2));
    for ((w, l1), l2) in far_w.iter_mut().zip(far_1).zip(far_2) {
        let first = T::pack(w) + q1 * T::pack(l1);
        *l1 = T::unpack(T::pack(l1) + d1 * first);
        let second = first + q2 * T::pack(l2);
        *l2 = T::unpack(T::pack(l2) + d2 * second);
        *w = T::unpack(second);
    }
    for ((w, l1), l2) in near_w.iter_mut().zip(near_1).zip(near_2) {
        let first = *w - p1 * *l1;
        *l1 += b1 * first;
        let second = first - p2 * *l2;
        *l2 += b2 * second;
        *w = second;
    }
}

/// w -= p l;  l += b w;  for one column.
#[inline(never)]
fn column<T: Number>(p: T, b: T, column: &mut [T], w: &mut [T]) {
    let ((far_w, near_w), (far, near)) = (w.as_chunks_mut::<LANES>(), column.as_chunks_mut::<LANES>());
    let (q, d) = (T::splat(-p), T::splat(b));
    for (w, l) in far_w.iter_mut().zip(far) {
        let next = T::pack(w) + q * T::pack(l);
        *l = T::unpack(T::pack(l) + d * next);
        *w = T::unpack(next);
    }
    for (w, l) in near_w.iter_mut().zip(near) {
        *w -= p * *l;
        *l += b * *w;
    }
}

/// Forward solve over one segment, L p = w: returns w^T Sigma w and what is left of `w` for the next segment.
///
/// Sums p^2 E into `variance`; the last entry of `w`, if it starts at 0, ends as minus the mean of w^T theta. Four columns per
/// pass, which pays here because nothing is written back to them; each entry of `w` still meets one column after the other.
#[inline(never)]
pub(crate) fn forward<'w, T: Number>(
    mut inverse: &[T],
    mut columns: &[T],
    mut w: &'w mut [T],
    mut variance: T,
) -> (T, &'w mut [T]) {
    loop {
        if let ([e1, e2, e3, e4, later @ ..], 0) = (inverse, w.len() % 4) {
            let [p1, p2, p3, p4, rest @ ..] = w else { return (variance, &mut []) };
            let len = rest.len();
            let Some((panel, others)) = columns.split_at_checked(4 * len + 6) else { return (variance, rest) };
            let Some(([l21, l31, l41, c1 @ ..], panel)) = panel.split_at_checked(len + 3) else { return (variance, rest) };
            let Some(([l32, l42, c2 @ ..], panel)) = panel.split_at_checked(len + 2) else { return (variance, rest) };
            let Some(([l43, c3 @ ..], c4)) = panel.split_at_checked(len + 1) else { return (variance, rest) };
            *p2 -= *p1 * *l21;
            *p3 = *p3 - *p1 * *l31 - *p2 * *l32;
            *p4 = *p4 - *p1 * *l41 - *p2 * *l42 - *p3 * *l43;
            if *p1 != T::ZERO || *p2 != T::ZERO || *p3 != T::ZERO || *p4 != T::ZERO {
                variance = variance + *p1 * *p1 * *e1 + *p2 * *p2 * *e2 + *p3 * *p3 * *e3 + *p4 * *p4 * *e4;
                subtract([*p1, *p2, *p3, *p4], [c1, c2, c3, c4], rest);
            }
            (inverse, columns, w) = (later, others, rest);
        } else if let [e, later @ ..] = inverse {
            let [p, rest @ ..] = w else { return (variance, &mut []) };
            let Some((column, others)) = columns.split_at_checked(rest.len()) else { return (variance, rest) };
            variance += *p * *p * *e;
            for (w, l) in rest.iter_mut().zip(column) {
                *w -= *p * *l;
            }
            (inverse, columns, w) = (later, others, rest);
        } else {
            return (variance, w);
        }
    }
}

/// w -= p l for four columns.
#[inline]
fn subtract<T: Number>([p1, p2, p3, p4]: [T; 4], [c1, c2, c3, c4]: [&[T]; 4], w: &mut [T]) {
    let (far_w, near_w) = w.as_chunks_mut::<LANES>();
    let ((far_1, near_1), (far_2, near_2)) = (c1.as_chunks::<LANES>(), c2.as_chunks::<LANES>());
    let ((far_3, near_3), (far_4, near_4)) = (c3.as_chunks::<LANES>(), c4.as_chunks::<LANES>());
    let (q1, q2, q3, q4) = (T::splat(-p1), T::splat(-p2), T::splat(-p3), T::splat(-p4));
    for ((((w, l1), l2), l3), l4) in far_w.iter_mut().zip(far_1).zip(far_2).zip(far_3).zip(far_4) {
        *w = T::unpack(T::pack(w) + q1 * T::pack(l1) + q2 * T::pack(l2) + q3 * T::pack(l3) + q4 * T::pack(l4));
    }
    for ((((w, l1), l2), l3), l4) in near_w.iter_mut().zip(near_1).zip(near_2).zip(near_3).zip(near_4) {
        *w = *w - p1 * *l1 - p2 * *l2 - p3 * *l3 - p4 * *l4;
    }
}

/// Adds up the lanes, halving.
#[inline]
fn tree<T: Number>(lanes: T::Lanes) -> T {
    let [a0, a1, a2, a3, a4, a5, a6, a7] = T::unpack(lanes);
    ((a0 + a4) + (a2 + a6)) + ((a1 + a5) + (a3 + a7))
}

/// Dot product of a column with `x`, from the far end, so that the newest entries of `x` come last.
#[inline]
fn dot<T: Number>(column: &[T], x: &[T]) -> T {
    let (near_l, far_l) = column.as_rchunks::<LANES>();
    let (near_x, far_x) = x.as_rchunks::<LANES>();
    let mut sum = T::splat(T::ZERO);
    for (l, x) in far_l.iter().zip(far_x).rev() {
        sum = sum + T::pack(l) * T::pack(x);
    }
    near_l.iter().zip(near_x).rev().fold(tree::<T>(sum), |sum, (l, x)| sum + *l * *x)
}

/// Two dot products with the same `x`; each is bit for bit what [`dot`] gives.
#[inline]
fn dots<T: Number>(first: &[T], second: &[T], x: &[T]) -> (T, T) {
    let (near_1, far_1) = first.as_rchunks::<LANES>();
    let (near_2, far_2) = second.as_rchunks::<LANES>();
    let (near_x, far_x) = x.as_rchunks::<LANES>();
    let (mut lanes_1, mut lanes_2) = (T::splat(T::ZERO), T::splat(T::ZERO));
    for ((l1, l2), x) in far_1.iter().zip(far_2).zip(far_x).rev() {
        let x = T::pack(x);
        lanes_1 = lanes_1 + T::pack(l1) * x;
        lanes_2 = lanes_2 + T::pack(l2) * x;
    }
    let (mut sum_1, mut sum_2) = (tree::<T>(lanes_1), tree::<T>(lanes_2));
    for ((l1, l2), x) in near_1.iter().zip(near_2).zip(near_x).rev() {
        sum_1 += *l1 * *x;
        sum_2 += *l2 * *x;
    }
    (sum_1, sum_2)
}

/// Back-solve over one segment, L^T x = s: the first `unknown` entries of `x` hold s and become x.
///
/// The entries after them are solved already and end with -1 for the information row, which brings in z.
pub(crate) fn back_solve<T: Number>(mut columns: &[T], mut unknown: usize, x: &mut [T]) {
    while let Some((head, solved)) = x.split_at_mut_checked(unknown) {
        match head {
            [.., x1, x2] => {
                let (c2, c1) = (back(&mut columns, solved.len()), back(&mut columns, solved.len() + 1));
                let (Some(c2), Some([below, c1 @ ..])) = (c2, c1) else { return };
                let (sum_1, sum_2) = dots(c1, c2, solved);
                *x2 -= sum_2;
                *x1 = (*x1 - sum_1) - *below * *x2;
                unknown -= 2;
            }
            [x1] => {
                let Some(c1) = back(&mut columns, solved.len()) else { return };
                *x1 -= dot(c1, solved);
                return;
            }
            [] => return,
        }
    }
}
