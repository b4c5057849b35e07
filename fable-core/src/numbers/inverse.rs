//! Rows of L^-1, several at once. The variances of many actions are computed from them.
//!
//! With w_j the row j, v.Sigma.v = sum over j of E_j (w_j.v)^2. Row j solves L^T w = e_j backwards from j,
//! and is zero after it.
//!
//! [`ROWS`] rows are computed side by side. Their number changes speed and memory, and not one bit. Sums go
//! from the far end to the near one, so they begin with the row's own entry, 1. Columns go through in groups
//! of four, which start at multiples of four.

use super::Number;
use super::lanes::Lanes;

/// Rows that are computed side by side. With software arithmetic several rows would only take memory.
pub(crate) const ROWS: usize = if cfg!(fable_softfloat) { 1 } else { 8 };

/// One entry each of [`ROWS`] rows.
pub(crate) type Entries<T> = [T; ROWS];

/// A column of a segment. The first column has `length` entries.
#[cfg_attr(feature = "dispatch", inline(always))]
fn column<T>(columns: &[T], length: usize, index: usize) -> &[T] {
    let start = index * length - index * index.saturating_sub(1) / 2;
    columns.get(start..start + length - index).unwrap_or(&[])
}

/// Writes the right-hand sides of one row: its own entry, 1, times the columns before it.
pub(crate) fn begin_row<T: Number>(columns: &[T], length: usize, row: usize, x: &mut [Entries<T>]) {
    for (index, x) in x.iter_mut().enumerate() {
        let entry = row.checked_sub(index + 1).and_then(|below| column(columns, length, index).get(below));
        *x = [entry.map_or(T::ZERO, |entry| -*entry); ROWS];
    }
}

/// Back-solve of rows over one segment. The first `unknown` entries of `x` hold right-hand sides and become
/// entries of the rows. The others are solved. The first column has `length` entries, each later one one
/// less. Entries past the end of `x` are zero.
#[cfg_attr(feature = "dispatch", inline(always))]
pub(crate) fn back_rows<T: Number, V: Lanes<T, ROWS>>(
    v: V,
    columns: &[T],
    length: usize,
    mut unknown: usize,
    x: &mut [Entries<T>],
) {
    let column = |index: usize| column(columns, length, index);
    while unknown > 0 {
        let single = !unknown.is_multiple_of(4);
        let first = unknown - if single { 1 } else { 4 };
        let Some((head, solved)) = x.split_at_mut_checked(unknown) else { return };
        match head.get_mut(first..) {
            Some([x1]) => {
                let column = column(first).get(..solved.len()).unwrap_or(&[]);
                let sum = column
                    .iter()
                    .zip(&*solved)
                    .rev()
                    .fold(v.load(x1), |sum, (l, x)| v.add_product(sum, v.splat(-*l), v.load(x)));
                *x1 = v.store(sum);
            }
            Some([x1, x2, x3, x4]) => {
                let [l21, l31, l41, c1 @ ..] = column(first) else { return };
                let [l32, l42, c2 @ ..] = column(first + 1) else { return };
                let [l43, c3 @ ..] = column(first + 2) else { return };
                let c4 = column(first + 3);
                let [s1, s2, s3, s4] =
                    sums(v, [v.load(x1), v.load(x2), v.load(x3), v.load(x4)], [c1, c2, c3, c4], solved);
                let s3 = s3 + v.splat(-*l43) * s4;
                let s2 = s2 + v.splat(-*l42) * s4 + v.splat(-*l32) * s3;
                let s1 = s1 + v.splat(-*l41) * s4 + v.splat(-*l31) * s3 + v.splat(-*l21) * s2;
                (*x1, *x2, *x3, *x4) = (v.store(s1), v.store(s2), v.store(s3), v.store(s4));
            }
            _ => return,
        }
        unknown = first;
    }
}

/// s - l.x for four columns.
#[cfg_attr(feature = "dispatch", inline(always))]
fn sums<T: Number, V: Lanes<T, ROWS>>(
    v: V,
    mut s: [V::Vector; 4],
    [c1, c2, c3, c4]: [&[T]; 4],
    x: &[Entries<T>],
) -> [V::Vector; 4] {
    let [Some(c1), Some(c2), Some(c3), Some(c4)] = [c1, c2, c3, c4].map(|column| column.get(..x.len()))
    else {
        return s;
    };
    for ((((x, l1), l2), l3), l4) in x.iter().zip(c1).zip(c2).zip(c3).zip(c4).rev() {
        let x = v.load(x);
        let [s1, s2, s3, s4] = s;
        s = [
            v.add_product(s1, v.splat(-*l1), x),
            v.add_product(s2, v.splat(-*l2), x),
            v.add_product(s3, v.splat(-*l3), x),
            v.add_product(s4, v.splat(-*l4), x),
        ];
    }
    s
}

/// True if there is nothing to add. With software arithmetic the check saves time.
#[cfg_attr(feature = "dispatch", inline(always))]
fn is_nothing<T: Number>(entry: &Entries<T>) -> bool {
    ROWS == 1 && entry.iter().all(|entry| entry.bits() == 0)
}

/// sum += entry, in every row.
#[cfg_attr(feature = "dispatch", inline(always))]
pub(crate) fn add<T: Number, V: Lanes<T, ROWS>>(v: V, sum: &mut Entries<T>, entry: &Entries<T>) {
    if is_nothing(sum) {
        *sum = *entry;
    } else if !is_nothing(entry) {
        *sum = v.store(v.load(sum) + v.load(entry));
    }
}

/// sum += factor * entry, in every row.
#[cfg_attr(feature = "dispatch", inline(always))]
pub(crate) fn add_scaled<T: Number, V: Lanes<T, ROWS>>(
    v: V,
    sum: &mut Entries<T>,
    factor: T,
    entry: &Entries<T>,
) {
    if !is_nothing(entry) {
        *sum = v.store(v.add_product(v.load(sum), v.splat(factor), v.load(entry)));
    }
}

/// variance + sum over rows of e s^2, one row after the other.
#[cfg_attr(feature = "dispatch", inline(always))]
pub(crate) fn add_squares<T: Number, V: Lanes<T, ROWS>>(
    v: V,
    variance: T,
    inverse: &Entries<T>,
    s: &Entries<T>,
) -> T {
    if is_nothing(s) {
        return variance;
    }
    let s = v.load(s);
    v.store(v.load(inverse) * (s * s)).into_iter().fold(variance, |sum, square| sum + square)
}
