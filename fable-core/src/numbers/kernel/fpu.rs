//! Forms for hardware floating point. Loads and stores take as long as arithmetic there.
//!
//! Updates take four columns per pass, which share loads of the vector. Chunks are counted from the far end.
//! So consecutive passes have the same chunks, and a load finds what the store before it wrote. Two dot
//! products share the loads of their vector.

use super::back_solve::tree;
use super::sweep::{column, pivot, sweep_columns};
use super::{LANES, STRIDE, Vectors, front};
use crate::numbers::Number;
use crate::numbers::lanes::Lanes;

/// [`sweep_columns`] of all columns, four at a time when a multiple of four rows is left.
#[cfg_attr(feature = "dispatch", inline(always))]
pub(crate) fn sweep<'w, T: Number, V: Vectors<T>>(
    v: V,
    inverse: &mut [T],
    mut columns: &mut [T],
    w: &'w mut [T],
    t: T,
) -> (T, &'w mut [T]) {
    let (first, inverse) = inverse.split_at_mut(inverse.len().min(w.len() % 4));
    let (mut t, mut w) = sweep_columns(v, first, &mut columns, w, t);
    let (fours, last) = inverse.as_chunks_mut();
    for e in fours {
        let Some((p, rest)) = w.split_first_chunk_mut() else { return (t, &mut []) };
        let Some(panel) = front(&mut columns, 4 * rest.len() + 6) else { return (t, rest) };
        sweep_four(v, e, panel, *p, rest, &mut t);
        w = rest;
    }
    sweep_columns(v, last, &mut columns, w, t)
}

/// The update of four columns and a multiple of four rows.
#[cfg_attr(feature = "dispatch", inline(always))]
fn sweep_four<T: Number, V: Vectors<T>>(
    v: V,
    e: &mut [T; 4],
    panel: &mut [T],
    p: [T; 4],
    w: &mut [T],
    t: &mut T,
) -> Option<()> {
    let (first, panel) = panel.split_at_mut_checked(w.len() + 3)?;
    let (second, panel) = panel.split_at_mut_checked(w.len() + 2)?;
    let (third, c4) = panel.split_at_mut_checked(w.len() + 1)?;
    let [l21, l31, l41, c1 @ ..] = first else { return None };
    let [l32, l42, c2 @ ..] = second else { return None };
    let [l43, c3 @ ..] = third else { return None };
    let (p, b) = corner(p, e, [l21, l31, l41, l32, l42, l43], t);
    rows_below(v, p, b, [c1, c2, c3, c4], w);
    Some(())
}

/// The pivots of four columns, and b of each; 0 for a pivot of 0.
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

/// [`column`](fn@super::sweep::column) with [`STRIDE`] rows at once.
#[cfg_attr(feature = "dispatch", inline(always))]
#[cfg_attr(not(feature = "dispatch"), inline(never))]
pub(super) fn column_in_chunks<T: Number, V: Lanes<T, STRIDE>>(v: V, p: T, b: T, l: &mut [T], w: &mut [T]) {
    let (near_w, far_w) = w.as_rchunks_mut();
    let (near, far) = l.as_rchunks_mut();
    column(p, b, near, near_w);
    let [q, d] = [-p, b].map(|number| v.splat(number));
    for (w, c) in far_w.iter_mut().zip(far) {
        let l = v.load(c);
        let next = v.add_product(v.load(w), q, l);
        *c = v.store(v.add_product(l, d, next));
        *w = v.store(next);
    }
}

/// [`column`](fn@super::sweep::column) for four columns, one after the other in each row.
#[cfg_attr(feature = "dispatch", inline(always))]
fn rows_below<T: Number, V: Vectors<T>>(v: V, p: [T; 4], b: [T; 4], columns: [&mut [T]; 4], w: &mut [T]) {
    if p.contains(&T::ZERO) {
        for ((p, b), l) in p.into_iter().zip(b).zip(columns) {
            if p != T::ZERO {
                column_in_chunks(v, p, b, l, w);
            }
        }
        return;
    }
    let (near_w, far_w) = w.as_rchunks_mut();
    let [(n1, f1), (n2, f2), (n3, f3), (n4, f4)] = columns.map(|column| column.as_rchunks_mut::<STRIDE>());
    if STRIDE > 4 {
        let near = [n1, n2, n3, n4].map(|near| near.as_chunks_mut().0);
        rows::<T, 4, V>(v, p, b, near, near_w.as_chunks_mut().0);
    }
    rows::<T, STRIDE, V>(v, p, b, [f1, f2, f3, f4], far_w);
}

/// [`rows_below`] for chunks of `N` rows and nonzero pivots.
#[cfg_attr(feature = "dispatch", inline(always))]
fn rows<T: Number, const N: usize, V: Lanes<T, N>>(
    v: V,
    p: [T; 4],
    b: [T; 4],
    columns: [&mut [[T; N]]; 4],
    w: &mut [[T; N]],
) {
    let [q1, q2, q3, q4] = p.map(|p| v.splat(-p));
    let [d1, d2, d3, d4] = b.map(|b| v.splat(b));
    let [c1, c2, c3, c4] = columns;
    for ((((w, c1), c2), c3), c4) in w.iter_mut().zip(c1).zip(c2).zip(c3).zip(c4) {
        let [l1, l2, l3, l4] = [v.load(c1), v.load(c2), v.load(c3), v.load(c4)];
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

/// Dot products of two columns with the same `x`, each with the bits of [`dot`](super::back_solve::dot).
#[cfg_attr(feature = "dispatch", inline(always))]
#[cfg_attr(not(feature = "dispatch"), inline)]
pub(super) fn dots<T: Number, V: Lanes<T, LANES>>(v: V, columns: [&[T]; 2], x: &[T]) -> [T; 2] {
    let (near, far) = x.as_rchunks::<LANES>();
    let [(near_1, far_1), (near_2, far_2)] = columns.map(|column| column.as_rchunks::<LANES>());
    let [mut lanes_1, mut lanes_2] = [v.splat(T::ZERO); 2];
    for ((x, l1), l2) in far.iter().zip(far_1).zip(far_2).rev() {
        let x = v.load(x);
        lanes_1 = v.add_product(lanes_1, v.load(l1), x);
        lanes_2 = v.add_product(lanes_2, v.load(l2), x);
    }
    let [mut sum_1, mut sum_2] = [lanes_1, lanes_2].map(|lanes| tree(v.store(lanes)));
    for ((x, l1), l2) in near.iter().zip(near_1).zip(near_2).rev() {
        sum_1 = sum_1.add_product(*l1, *x);
        sum_2 = sum_2.add_product(*l2, *x);
    }
    [sum_1, sum_2]
}
