//! Rank-one update of one segment: Lambda += w w^T / t and the information row with it.

#[cfg(not(fable_softfloat))]
use super::fpu::column_in_chunks as rows_below;
use super::{STRIDE, front};
use crate::numbers::Number;
use crate::numbers::lanes::Lanes;

/// One column of the rank-one update, with pivot p and running t:
/// t' = t + p^2 E;  b = p E / t';  E *= t / t'.
///
/// This is method C1 of Gill, Golub, Murray and Saunders.
#[cfg_attr(feature = "dispatch", inline(always))]
pub(super) fn pivot<T: Number>(p: T, inverse: &mut T, t: &mut T) -> T {
    let f = p.times(*inverse);
    let grown = t.add_product(p, f);
    *inverse = inverse.times(*t / grown);
    *t = grown;
    f / grown
}

/// The rows below a pivot:
/// w -= p l;  l += b w.
#[cfg_attr(feature = "dispatch", inline(always))]
pub(super) fn column<T: Number>(p: T, b: T, column: &mut [T], w: &mut [T]) {
    for (w, l) in w.iter_mut().zip(column) {
        *w = w.add_product(-p, *l);
        *l = l.add_product(b, *w);
    }
}

/// Updates as many columns as `inverse` has entries.
///
/// `w` has one entry per column of the segment, then one per remaining row, then the response. It is
/// consumed: the rest after the segment's columns is the vector for the next segment. Its last entry ends as
/// the innovation.
///
/// The running t is returned, and ends as the predictive variance. A column with a pivot of zero does not
/// change and is skipped.
#[cfg_attr(feature = "dispatch", inline(always))]
#[expect(clippy::mut_mut, reason = "a cursor into borrowed columns")]
pub(super) fn sweep_columns<'w, T: Number, V: Lanes<T, STRIDE>>(
    v: V,
    inverse: &mut [T],
    columns: &mut &mut [T],
    mut w: &'w mut [T],
    mut t: T,
) -> (T, &'w mut [T]) {
    for e in inverse {
        let [p, rest @ ..] = w else { return (t, &mut []) };
        let Some(l) = front(columns, rest.len()) else { return (t, rest) };
        if *p != T::ZERO {
            let b = pivot(*p, e, &mut t);
            rows_below(v, *p, b, l, rest);
        }
        w = rest;
    }
    (t, w)
}

#[cfg(fable_softfloat)]
fn rows_below<T: Number, V>(_: V, p: T, b: T, l: &mut [T], w: &mut [T]) {
    column(p, b, l, w);
}

/// The plain form: one column after the other.
#[cfg(fable_softfloat)]
pub(crate) fn sweep<'w, T: Number, V: Lanes<T, STRIDE>>(
    v: V,
    inverse: &mut [T],
    mut columns: &mut [T],
    w: &'w mut [T],
    t: T,
) -> (T, &'w mut [T]) {
    sweep_columns(v, inverse, &mut columns, w, t)
}
