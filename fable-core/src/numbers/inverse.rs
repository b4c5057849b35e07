//! Rows of L^-1, several at once: what the variances of many actions are made of.
//!
//! With w_j the row j, v.Sigma.v = sum over j of E_j (w_j.v)^2. Row j solves L^T w = e_j backwards from j, and is zero after it.
//! Each row is computed on its own, [`ROWS`] of them side by side; how many changes speed and memory, and not one bit: sums go
//! from the far end to the near one, so they begin with the row's own entry, 1, whatever other rows have after it. Columns go
//! through in groups of four, which start at multiples of four.

use super::Number;

pub(crate) use side_by_side::ROWS;
use side_by_side::{Lanes, load, splat, store};

/// One entry each of [`ROWS`] rows.
pub(crate) type Entries<T> = [T; ROWS];

/// Where numbers are computed one by one, more rows would only take memory.
#[cfg(all(target_os = "none", not(target_abi = "eabihf")))]
mod side_by_side {
    use super::Number;

    pub(crate) const ROWS: usize = 1;
    pub(super) type Lanes<T> = T;

    #[inline]
    pub(super) fn load<T: Number>([entry]: &[T; ROWS]) -> T {
        *entry
    }
    #[inline]
    pub(super) fn store<T: Number>(lanes: T) -> [T; ROWS] {
        [lanes]
    }
    #[inline]
    pub(super) fn splat<T: Number>(number: T) -> T {
        number
    }
}

#[cfg(not(all(target_os = "none", not(target_abi = "eabihf"))))]
mod side_by_side {
    use super::Number;

    pub(crate) const ROWS: usize = 8;
    pub(super) type Lanes<T> = <T as Number>::Lanes;

    #[inline]
    pub(super) fn load<T: Number>(entries: &[T; ROWS]) -> T::Lanes {
        T::pack(entries)
    }
    #[inline]
    pub(super) fn store<T: Number>(lanes: T::Lanes) -> [T; ROWS] {
        T::unpack(lanes)
    }
    #[inline]
    pub(super) fn splat<T: Number>(number: T) -> T::Lanes {
        T::splat(number)
    }
}

/// A column of a segment whose first one has `length` entries.
#[inline]
fn column<T>(columns: &[T], length: usize, index: usize) -> &[T] {
    let start = index * length - index * index.saturating_sub(1) / 2;
    columns.get(start..start + length - index).unwrap_or(&[])
}

/// What the own entry of one row, 1, leaves on the right-hand sides of the columns before it: all there is to begin with.
#[cfg(feature = "adapt")]
pub(crate) fn begin_row<T: Number>(columns: &[T], length: usize, row: usize, x: &mut [Entries<T>]) {
    for (index, x) in x.iter_mut().enumerate() {
        let entry = row.checked_sub(index + 1).and_then(|below| column(columns, length, index).get(below));
        *x = [entry.map_or(T::ZERO, |entry| -*entry); ROWS];
    }
}

/// Back-solve of rows over one segment: the first `unknown` entries of `x` hold the right-hand sides and become the rows' entries,
/// the others are solved. The first column has `length` entries, each later one one less; what lies past the end of `x` is zero.
pub(crate) fn back_rows<T: Number>(columns: &[T], length: usize, mut unknown: usize, x: &mut [Entries<T>]) {
    let column = |index: usize| column(columns, length, index);
    while unknown > 0 {
        let single = !unknown.is_multiple_of(4);
        let first = unknown - if single { 1 } else { 4 };
        let Some((head, solved)) = x.split_at_mut_checked(unknown) else { return };
        match head.get_mut(first..) {
            Some([x1]) => {
                let column = column(first).get(..solved.len()).unwrap_or(&[]);
                let sum = column.iter().zip(&*solved).rev().fold(load(x1), |sum, (l, x)| sum + splat(-*l) * load(x));
                *x1 = store::<T>(sum);
            }
            Some([x1, x2, x3, x4]) => {
                let ([l21, l31, l41, c1 @ ..], [l32, l42, c2 @ ..], [l43, c3 @ ..], c4) =
                    (column(first), column(first + 1), column(first + 2), column(first + 3))
                else {
                    return;
                };
                let [s1, s2, s3, s4] = sums([load(x1), load(x2), load(x3), load(x4)], [c1, c2, c3, c4], solved);
                let s3 = s3 + splat(-*l43) * s4;
                let s2 = s2 + splat(-*l42) * s4 + splat(-*l32) * s3;
                let s1 = s1 + splat(-*l41) * s4 + splat(-*l31) * s3 + splat(-*l21) * s2;
                (*x1, *x2, *x3, *x4) = (store::<T>(s1), store::<T>(s2), store::<T>(s3), store::<T>(s4));
            }
            _ => return,
        }
        unknown = first;
    }
}

/// s - l.x for four columns.
#[inline]
fn sums<T: Number>(mut s: [Lanes<T>; 4], [c1, c2, c3, c4]: [&[T]; 4], x: &[Entries<T>]) -> [Lanes<T>; 4] {
    let [Some(c1), Some(c2), Some(c3), Some(c4)] = [c1, c2, c3, c4].map(|column| column.get(..x.len())) else { return s };
    for ((((x, l1), l2), l3), l4) in x.iter().zip(c1).zip(c2).zip(c3).zip(c4).rev() {
        let x = load(x);
        let [s1, s2, s3, s4] = s;
        s = [s1 + splat(-*l1) * x, s2 + splat(-*l2) * x, s3 + splat(-*l3) * x, s4 + splat(-*l4) * x];
    }
    s
}

/// Whether there is nothing to be added: worth a look where numbers are computed one by one in software.
#[inline]
fn is_nothing<T: Number>(entry: &Entries<T>) -> bool {
    ROWS == 1 && entry.iter().all(|entry| entry.bits() == 0)
}

/// sum += entry, in every row.
#[inline]
pub(crate) fn add<T: Number>(sum: &mut Entries<T>, entry: &Entries<T>) {
    if is_nothing(sum) {
        *sum = *entry;
    } else if !is_nothing(entry) {
        *sum = store::<T>(load(sum) + load(entry));
    }
}

/// sum += factor * entry, in every row.
#[inline]
pub(crate) fn add_scaled<T: Number>(sum: &mut Entries<T>, factor: T, entry: &Entries<T>) {
    if !is_nothing(entry) {
        *sum = store::<T>(load(sum) + splat(factor) * load(entry));
    }
}

/// variance + sum over rows of e s^2, one row after the other.
#[inline]
pub(crate) fn add_squares<T: Number>(variance: T, inverse: &Entries<T>, s: &Entries<T>) -> T {
    if is_nothing(s) {
        return variance;
    }
    let s = load(s);
    store::<T>(load(inverse) * (s * s)).into_iter().fold(variance, |sum, square| sum + square)
}
