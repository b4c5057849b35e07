//! The loops that take the time, over packed columns of L in Lambda = L D L^T with E = 1/D.
//!
//! The information vector travels as one more row of L: with L D z = h that row is z, and the mean solves L^T mu = z. A
//! vector that runs along the columns therefore has one more entry, the *last*: the response in an update, -1 in a
//! back-solve.
//!
//! Determinism: elementwise loops have one order of operations however wide the machine is and however many columns go through
//! at once; the dot products keep eight lanes and add them up in a written-out tree. Updates and forward solves take four columns
//! per pass, which saves traffic of the vector that they share; chunks are counted from the far end, so those of one pass are
//! those of the next, whose loads find what the stores before them wrote.

use super::Number;
use super::lanes::Lanes;

/// Lanes of a dot product; part of the numeric revision.
const LANES: usize = 8;
/// Rows that an elementwise loop takes at once: on a device as many as four columns leave registers for, or one where there is no
/// floating-point unit, which takes less flash.
const STRIDE: usize = match (cfg!(fable_softfloat), cfg!(fable_host)) {
    (true, _) => 1,
    (_, false) => 4,
    _ => 8,
};

/// Whether floating point is software: what a loop loads then counts for nothing beside what it computes.
const SOFTWARE: bool = cfg!(fable_softfloat);

/// All that the loops here compute with.
pub(crate) trait Vectors<T>: Lanes<T, 4> + Lanes<T, LANES> + Lanes<T, STRIDE> {}

impl<T, V: Lanes<T, 4> + Lanes<T, LANES> + Lanes<T, STRIDE>> Vectors<T> for V {}

/// One column of the rank-one update, pivot p with running t (Gill, Golub, Murray and Saunders, method C1):
/// t' = t + p^2 E;  b = p E / t';  E *= t / t'.
#[cfg_attr(feature = "dispatch", inline(always))]
fn pivot<T: Number>(p: T, inverse: &mut T, t: &mut T) -> T {
    let f = p.times(*inverse);
    let grown = t.add_product(p, f);
    *inverse = inverse.times(*t / grown);
    *t = grown;
    f / grown
}

/// Takes the next column off the front.
#[cfg_attr(feature = "dispatch", inline(always))]
#[expect(clippy::mut_mut, reason = "a cursor into borrowed columns")]
fn front<'s, T>(columns: &mut &'s mut [T], len: usize) -> Option<&'s mut [T]> {
    let (column, rest) = core::mem::take(columns).split_at_mut_checked(len)?;
    *columns = rest;
    Some(column)
}

/// Takes the next column off the back.
#[cfg_attr(feature = "dispatch", inline(always))]
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
#[cfg_attr(feature = "dispatch", inline(always))]
pub(crate) fn sweep<'w, T: Number, V: Vectors<T>>(
    v: V,
    mut inverse: &mut [T],
    mut columns: &mut [T],
    mut w: &'w mut [T],
    mut t: T,
) -> (T, &'w mut [T]) {
    while !inverse.is_empty() {
        let later;
        if let (0, Some(_)) = (w.len() % 4, inverse.get(3)) {
            let Some((e, others)) = inverse.split_first_chunk_mut() else { return (t, w) };
            let Some((p, rest)) = w.split_first_chunk_mut() else { return (t, &mut []) };
            let len = rest.len();
            let Some(columns) = front(&mut columns, 4 * len + 6) else { return (t, rest) };
            let Some(([l21, l31, l41, c1 @ ..], columns)) = columns.split_at_mut_checked(len + 3) else { return (t, rest) };
            let Some(([l32, l42, c2 @ ..], columns)) = columns.split_at_mut_checked(len + 2) else { return (t, rest) };
            let Some(([l43, c3 @ ..], c4)) = columns.split_at_mut_checked(len + 1) else { return (t, rest) };
            let (p, b) = corner(*p, e, [l21, l31, l41, l32, l42, l43], &mut t);
            panel(v, p, b, [c1, c2, c3, c4], rest);
            (later, w) = (others, rest);
        } else {
            let ([e, others @ ..], [p, rest @ ..]) = (inverse, w) else { return (t, &mut []) };
            let Some(c) = front(&mut columns, rest.len()) else { return (t, rest) };
            if *p != T::ZERO {
                let b = pivot(*p, e, &mut t);
                column(v, *p, b, c, rest);
            }
            (later, w) = (others, rest);
        }
        inverse = later;
    }
    (t, w)
}

/// The pivots of four columns, and b for each: 0 where the pivot is.
#[cfg_attr(feature = "dispatch", inline(always))]
fn corner<T: Number>(mut p: [T; 4], e: &mut [T; 4], below: [&mut T; 6], t: &mut T) -> ([T; 4], [T; 4]) {
    let ([p1, p2, p3, p4], [e1, e2, e3, e4]) = (&mut p, e);
    let [l21, l31, l41, l32, l42, l43] = below;
    let mut b = [T::ZERO; 4];
    let [b1, b2, b3, b4] = &mut b;
    // w -= p l;  l += b w
    let step = |p: T, b: T, l: &mut T, w: &mut T| {
        *w = w.add_product(-p, *l);
        *l = l.add_product(b, *w);
    };
    if *p1 != T::ZERO {
        *b1 = pivot(*p1, e1, t);
        step(*p1, *b1, l21, p2);
        step(*p1, *b1, l31, p3);
        step(*p1, *b1, l41, p4);
    }
    if *p2 != T::ZERO {
        *b2 = pivot(*p2, e2, t);
        step(*p2, *b2, l32, p3);
        step(*p2, *b2, l42, p4);
    }
    if *p3 != T::ZERO {
        *b3 = pivot(*p3, e3, t);
        step(*p3, *b3, l43, p4);
    }
    if *p4 != T::ZERO {
        *b4 = pivot(*p4, e4, t);
    }
    (p, b)
}

/// w -= p l;  l += b w;  for four columns, one after the other in each row, and a multiple of four rows.
#[cfg_attr(feature = "dispatch", inline(always))]
fn panel<T: Number, V: Vectors<T>>(v: V, p: [T; 4], b: [T; 4], columns: [&mut [T]; 4], w: &mut [T]) {
    if p.contains(&T::ZERO) {
        let ([p1, p2, p3, p4], [b1, b2, b3, b4], [c1, c2, c3, c4]) = (p, b, columns);
        column(v, p1, b1, c1, w);
        column(v, p2, b2, c2, w);
        column(v, p3, b3, c3, w);
        return column(v, p4, b4, c4, w);
    }
    let ((near_w, far_w), [(n1, f1), (n2, f2), (n3, f3), (n4, f4)]) =
        (w.as_rchunks_mut(), columns.map(|column| column.as_rchunks_mut::<STRIDE>()));
    if STRIDE > 4 {
        let [n1, n2, n3, n4] = [n1, n2, n3, n4].map(|near| near.as_chunks_mut().0);
        rows::<T, 4, V>(v, p, b, [n1, n2, n3, n4], near_w.as_chunks_mut().0);
    }
    rows::<T, STRIDE, V>(v, p, b, [f1, f2, f3, f4], far_w);
}

/// [`panel`] for chunks of `N` rows.
#[cfg_attr(feature = "dispatch", inline(always))]
fn rows<T: Number, const N: usize, V: Lanes<T, N>>(v: V, p: [T; 4], b: [T; 4], columns: [&mut [[T; N]]; 4], w: &mut [[T; N]]) {
    let ([q1, q2, q3, q4], [d1, d2, d3, d4]) = (p.map(|p| v.splat(-p)), b.map(|b| v.splat(b)));
    let [c1, c2, c3, c4] = columns;
    for ((((w, c1), c2), c3), c4) in w.iter_mut().zip(c1).zip(c2).zip(c3).zip(c4) {
        let (l1, l2, l3, l4) = (v.load(c1), v.load(c2), v.load(c3), v.load(c4));
        let first = v.add_product(v.load(w), q1, l1);
        *c1 = v.store(v.add_product(l1, d1, first));
        let second = v.add_product(first, q2, l2);
        *c2 = v.store(v.add_product(l2, d2, second));
        let third = v.add_product(second, q3, l3);
        *c3 = v.store(v.add_product(l3, d3, third));
        let fourth = v.add_product(third, q4, l4);
        *c4 = v.store(v.add_product(l4, d4, fourth));
        *w = v.store(fourth);
    }
}

/// w -= p l;  l += b w;  for one column; nothing if its pivot is zero.
#[cfg_attr(feature = "dispatch", inline(always))]
#[cfg_attr(not(feature = "dispatch"), inline(never))]
fn column<T: Number, V: Lanes<T, STRIDE>>(v: V, p: T, b: T, column: &mut [T], w: &mut [T]) {
    if p == T::ZERO {
        return;
    }
    let ((near_w, far_w), (near, far)) = (w.as_rchunks_mut::<STRIDE>(), column.as_rchunks_mut::<STRIDE>());
    for (w, l) in near_w.iter_mut().zip(near) {
        *w = w.add_product(-p, *l);
        *l = l.add_product(b, *w);
    }
    let (q, d) = (v.splat(-p), v.splat(b));
    for (w, c) in far_w.iter_mut().zip(far) {
        let l = v.load(c);
        let next = v.add_product(v.load(w), q, l);
        *c = v.store(v.add_product(l, d, next));
        *w = v.store(next);
    }
}

/// Forward solve over one segment, L p = w: returns w^T Sigma w and what is left of `w` for the next segment.
///
/// Sums p^2 E into `variance`; the last entry of `w`, if it starts at 0, ends as minus the mean of w^T theta.
#[cfg_attr(feature = "dispatch", inline(always))]
pub(crate) fn forward<'w, T: Number, V: Vectors<T>>(
    v: V,
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
                subtract(v, [*p1, *p2, *p3, *p4], [c1, c2, c3, c4], rest);
            }
            (inverse, columns, w) = (later, others, rest);
        } else if let [e, later @ ..] = inverse {
            let [p, rest @ ..] = w else { return (variance, &mut []) };
            let Some((column, others)) = columns.split_at_checked(rest.len()) else { return (variance, rest) };
            variance += *p * *p * *e;
            for (w, l) in rest.iter_mut().zip(column) {
                *w = w.add_product(-*p, *l);
            }
            (inverse, columns, w) = (later, others, rest);
        } else {
            return (variance, w);
        }
    }
}

/// w -= p l for four columns and a multiple of four rows.
#[cfg_attr(feature = "dispatch", inline(always))]
fn subtract<T: Number, V: Vectors<T>>(v: V, p: [T; 4], columns: [&[T]; 4], w: &mut [T]) {
    let ((near_w, far_w), [(n1, f1), (n2, f2), (n3, f3), (n4, f4)]) =
        (w.as_rchunks_mut(), columns.map(|column| column.as_rchunks::<STRIDE>()));
    if STRIDE > 4 {
        let [n1, n2, n3, n4] = [n1, n2, n3, n4].map(|near| near.as_chunks().0);
        subtract_rows::<T, 4, V>(v, p, [n1, n2, n3, n4], near_w.as_chunks_mut().0);
    }
    subtract_rows::<T, STRIDE, V>(v, p, [f1, f2, f3, f4], far_w);
}

/// [`subtract`] for chunks of `N` rows.
#[cfg_attr(feature = "dispatch", inline(always))]
fn subtract_rows<T: Number, const N: usize, V: Lanes<T, N>>(v: V, p: [T; 4], columns: [&[[T; N]]; 4], w: &mut [[T; N]]) {
    let ([q1, q2, q3, q4], [c1, c2, c3, c4]) = (p.map(|p| v.splat(-p)), columns);
    for ((((w, l1), l2), l3), l4) in w.iter_mut().zip(c1).zip(c2).zip(c3).zip(c4) {
        let two = v.add_product(v.add_product(v.load(w), q1, v.load(l1)), q2, v.load(l2));
        *w = v.store(v.add_product(v.add_product(two, q3, v.load(l3)), q4, v.load(l4)));
    }
}

/// Adds up the lanes, halving.
#[cfg_attr(feature = "dispatch", inline(always))]
fn tree<T: Number>([a0, a1, a2, a3, a4, a5, a6, a7]: [T; LANES]) -> T {
    (a0.plus(a4)).plus(a2.plus(a6)).plus(a1.plus(a5).plus(a3.plus(a7)))
}

/// Dot product of a column with `x`, from the far end, so that the newest entries of `x` come last.
#[cfg_attr(feature = "dispatch", inline(always))]
#[cfg_attr(fable_softfloat, inline(never))]
fn dot<T: Number, V: Lanes<T, LANES>>(v: V, column: &[T], x: &[T]) -> T {
    let (near_l, far_l) = column.as_rchunks::<LANES>();
    let (near_x, far_x) = x.as_rchunks::<LANES>();
    let mut sum = v.splat(T::ZERO);
    for (l, x) in far_l.iter().zip(far_x).rev() {
        sum = v.add_product(sum, v.load(l), v.load(x));
    }
    near_l.iter().zip(near_x).rev().fold(tree(v.store(sum)), |sum, (l, x)| sum.add_product(*l, *x))
}

/// Two dot products with the same `x`; each is bit for bit what [`dot`] gives.
#[cfg_attr(feature = "dispatch", inline(always))]
#[cfg_attr(not(feature = "dispatch"), inline)]
fn dots<T: Number, V: Lanes<T, LANES>>(v: V, first: &[T], second: &[T], x: &[T]) -> (T, T) {
    if SOFTWARE {
        return (dot(v, first, x), dot(v, second, x));
    }
    let (near_1, far_1) = first.as_rchunks::<LANES>();
    let (near_2, far_2) = second.as_rchunks::<LANES>();
    let (near_x, far_x) = x.as_rchunks::<LANES>();
    let (mut lanes_1, mut lanes_2) = (v.splat(T::ZERO), v.splat(T::ZERO));
    for ((l1, l2), x) in far_1.iter().zip(far_2).zip(far_x).rev() {
        let x = v.load(x);
        lanes_1 = v.add_product(lanes_1, v.load(l1), x);
        lanes_2 = v.add_product(lanes_2, v.load(l2), x);
    }
    let (mut sum_1, mut sum_2) = (tree(v.store(lanes_1)), tree(v.store(lanes_2)));
    for ((l1, l2), x) in near_1.iter().zip(near_2).zip(near_x).rev() {
        sum_1 = sum_1.add_product(*l1, *x);
        sum_2 = sum_2.add_product(*l2, *x);
    }
    (sum_1, sum_2)
}

/// Back-solve over one segment, L^T x = s: the first `unknown` entries of `x` hold s and become x.
///
/// The entries after them are solved already and end with -1 for the information row, which brings in z.
#[cfg_attr(feature = "dispatch", inline(always))]
pub(crate) fn back_solve<T: Number, V: Lanes<T, LANES>>(v: V, mut columns: &[T], mut unknown: usize, x: &mut [T]) {
    while let Some((head, solved)) = x.split_at_mut_checked(unknown) {
        match head {
            #[cfg(fable_host)]
            [.., x1, x2, x3, x4] if solved.len() % LANES + 2 < LANES => {
                let Some((below, sums)) = back_four(&mut columns, solved.len()).and_then(|four| sums(v, four, solved)) else {
                    return;
                };
                finish_four(below, sums, [x1, x2, x3, x4]);
                unknown -= 4;
            }
            [.., x1, x2] => {
                let (c2, c1) = (back(&mut columns, solved.len()), back(&mut columns, solved.len() + 1));
                let (Some(c2), Some([below, c1 @ ..])) = (c2, c1) else { return };
                let (sum_1, sum_2) = dots(v, c1, c2, solved);
                *x2 = x2.plus(-sum_2);
                *x1 = x1.plus(-sum_1).add_product(-*below, *x2);
                unknown -= 2;
            }
            [x1] => {
                let Some(c1) = back(&mut columns, solved.len()) else { return };
                *x1 = x1.plus(-dot(v, c1, solved));
                return;
            }
            [] => return,
        }
    }
}

/// Takes the next four columns off the back, the last one of which has `len` rows.
#[cfg(fable_host)]
#[cfg_attr(feature = "dispatch", inline(always))]
fn back_four<'s, T>(columns: &mut &'s [T], len: usize) -> Option<[&'s [T]; 4]> {
    let (c4, c3) = (back(columns, len)?, back(columns, len + 1)?);
    let (c2, c1) = (back(columns, len + 2)?, back(columns, len + 3)?);
    Some([c1, c2, c3, c4])
}

/// What four columns have below each other's diagonals.
#[cfg(fable_host)]
type Below<T> = [T; 6];

/// The dot products of two pairs of columns with `x`, without the rows between them. Their whole chunks are those of the same rows, so
/// their lanes are added up together: only what is left of the rows waits for what was solved just before. In [`finish_four`] the rows
/// between them follow, and everything is bit for bit what one pair after the other gives.
#[cfg(fable_host)]
#[cfg_attr(feature = "dispatch", inline(always))]
fn sums<T: Number, V: Lanes<T, LANES>>(v: V, columns: [&[T]; 4], x: &[T]) -> Option<(Below<T>, [T; 4])> {
    let (below, columns) = split_below(columns)?;
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
    Some((below, sums))
}

/// [`sums`] with two vectors.
#[cfg(fable_host)]
#[cfg_attr(feature = "dispatch", inline(always))]
fn sums_both<T: Number, V: Lanes<T, LANES>>(v: V, columns: [&[T]; 4], x: &[T], y: &[T]) -> Option<(Below<T>, [T; 4], [T; 4])> {
    let (below, columns) = split_below(columns)?;
    let ((near_x, far_x), (near_y, far_y)) = (x.as_rchunks::<LANES>(), y.as_rchunks::<LANES>());
    let [(n1, f1), (n2, f2), (n3, f3), (n4, f4)] = columns.map(|column| column.as_rchunks::<LANES>());
    let (mut of_x, mut of_y) = ([v.splat(T::ZERO); 4], [v.splat(T::ZERO); 4]);
    for (((((x, y), l1), l2), l3), l4) in far_x.iter().zip(far_y).zip(f1).zip(f2).zip(f3).zip(f4).rev() {
        let l = [v.load(l1), v.load(l2), v.load(l3), v.load(l4)];
        (of_x, of_y) = (add(v.load(x), l, of_x), add(v.load(y), l, of_y));
    }
    let (mut of_x, mut of_y) = (of_x.map(|lanes| tree(v.store(lanes))), of_y.map(|lanes| tree(v.store(lanes))));
    for (((((x, y), l1), l2), l3), l4) in near_x.iter().zip(near_y).zip(n1).zip(n2).zip(n3).zip(n4).rev() {
        let l = [*l1, *l2, *l3, *l4];
        (of_x, of_y) = (add(*x, l, of_x), add(*y, l, of_y));
    }
    Some((below, of_x, of_y))
}

/// Four sums, each with a product more.
#[cfg(fable_host)]
#[cfg_attr(feature = "dispatch", inline(always))]
fn add<S: Copy + core::ops::Add<Output = S> + core::ops::Mul<Output = S>>(x: S, l: [S; 4], sums: [S; 4]) -> [S; 4] {
    let ([l1, l2, l3, l4], [s1, s2, s3, s4]) = (l, sums);
    [s1 + l1 * x, s2 + l2 * x, s3 + l3 * x, s4 + l4 * x]
}

/// Four columns without the rows between them.
#[cfg(fable_host)]
#[cfg_attr(feature = "dispatch", inline(always))]
fn split_below<T: Copy>([c1, c2, c3, c4]: [&[T]; 4]) -> Option<(Below<T>, [&[T]; 4])> {
    let ([l21, l31, l41, c1 @ ..], [l32, l42, c2 @ ..], [l43, c3 @ ..]) = (c1, c2, c3) else { return None };
    Some(([*l21, *l31, *l41, *l32, *l42, *l43], [c1, c2, c3, c4]))
}

/// The rows between four columns, pair after pair.
#[cfg(fable_host)]
#[cfg_attr(feature = "dispatch", inline(always))]
fn finish_four<T: Number>(below: Below<T>, sums: [T; 4], x: [&mut T; 4]) {
    let ([l21, l31, l41, l32, l42, l43], [s1, s2, s3, s4], [x1, x2, x3, x4]) = (below, sums, x);
    *x4 -= s4;
    *x3 = (*x3 - s3) - l43 * *x4;
    *x2 -= (s2 + l42 * *x4) + l32 * *x3;
    *x1 = (*x1 - ((s1 + l41 * *x4) + l31 * *x3)) - l21 * *x2;
}

/// [`back_solve`] of two right-hand sides in one pass over the columns: each is bit for bit what it would be alone. Written out, as one
/// function for any number of them would take a device three times the flash.
#[cfg(fable_host)]
#[cfg_attr(feature = "dispatch", inline(always))]
pub(crate) fn back_solve_both<T: Number, V: Lanes<T, LANES>>(v: V, mut columns: &[T], mut unknown: usize, x: [&mut [T]; 2]) {
    let [x, y] = x;
    while let (Some((head, solved)), Some((head_y, solved_y))) =
        (x.split_at_mut_checked(unknown), y.split_at_mut_checked(unknown))
    {
        match (head, head_y) {
            #[cfg(fable_host)]
            // In f64 there would not be registers for all of these sums.
            ([.., x1, x2, x3, x4], [.., y1, y2, y3, y4]) if T::DIGITS < 53 && solved.len() % LANES + 2 < LANES => {
                let Some(four) = back_four(&mut columns, solved.len()) else { return };
                let Some((below, sums_x, sums_y)) = sums_both(v, four, solved, solved_y) else { return };
                finish_four(below, sums_x, [x1, x2, x3, x4]);
                finish_four(below, sums_y, [y1, y2, y3, y4]);
                unknown -= 4;
            }
            ([.., x1, x2], [.., y1, y2]) => {
                let (c2, c1) = (back(&mut columns, solved.len()), back(&mut columns, solved.len() + 1));
                let (Some(c2), Some([below, c1 @ ..])) = (c2, c1) else { return };
                let ([x_1, x_2], [y_1, y_2]) = dots_both(v, c1, c2, solved, solved_y);
                *x2 -= x_2;
                *y2 -= y_2;
                *x1 = (*x1 - x_1) - *below * *x2;
                *y1 = (*y1 - y_1) - *below * *y2;
                unknown -= 2;
            }
            ([x1], [y1]) => {
                let Some(c1) = back(&mut columns, solved.len()) else { return };
                *x1 -= dot(v, c1, solved);
                *y1 -= dot(v, c1, solved_y);
                return;
            }
            _ => return,
        }
    }
}

/// [`dots`] with two vectors.
#[cfg(fable_host)]
#[cfg_attr(feature = "dispatch", inline(always))]
fn dots_both<T: Number, V: Lanes<T, LANES>>(v: V, first: &[T], second: &[T], x: &[T], y: &[T]) -> ([T; 2], [T; 2]) {
    let ((near_1, far_1), (near_2, far_2)) = (first.as_rchunks::<LANES>(), second.as_rchunks::<LANES>());
    let ((near_x, far_x), (near_y, far_y)) = (x.as_rchunks::<LANES>(), y.as_rchunks::<LANES>());
    let zero = v.splat(T::ZERO);
    let (mut x_1, mut x_2, mut y_1, mut y_2) = (zero, zero, zero, zero);
    for (((l1, l2), x), y) in far_1.iter().zip(far_2).zip(far_x).zip(far_y).rev() {
        let (l1, l2, x, y) = (v.load(l1), v.load(l2), v.load(x), v.load(y));
        (x_1, x_2) = (x_1 + l1 * x, x_2 + l2 * x);
        (y_1, y_2) = (y_1 + l1 * y, y_2 + l2 * y);
    }
    let ([mut x_1, mut x_2], [mut y_1, mut y_2]) =
        ([x_1, x_2].map(|lanes| tree(v.store(lanes))), [y_1, y_2].map(|lanes| tree(v.store(lanes))));
    for (((l1, l2), x), y) in near_1.iter().zip(near_2).zip(near_x).zip(near_y).rev() {
        x_1 += *l1 * *x;
        x_2 += *l2 * *x;
        y_1 += *l1 * *y;
        y_2 += *l2 * *y;
    }
    ([x_1, x_2], [y_1, y_2])
}
