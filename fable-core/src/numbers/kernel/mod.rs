//! The loops that take most of the time, over packed columns of L in Lambda = L D L^T with E = 1/D.
//!
//! The information vector is one more row of L: with L D z = h this row is z, and the mean solves L^T mu = z.
//! So a vector along the columns has one more entry, the *last*: the response in an update, -1 in a
//! back-solve.
//!
//! `sweep`, `forward` and `back_solve` have a file each, with the recurrence and its plain loop. `fpu` has
//! faster forms for hardware floating point, `host` has forms for hosts. The bits of all forms are equal.
//!
//! Determinism: elementwise loops have one order of operations, for any width of registers and any number of
//! columns at once. Dot products keep eight lanes and add them up in a written-out tree.

mod back_solve;
mod forward;
#[cfg(not(fable_softfloat))]
mod fpu;
#[cfg(fable_host)]
mod host;
mod sweep;

#[cfg(not(fable_host))]
pub(crate) use back_solve::back_solve;
pub(crate) use forward::forward;
#[cfg(not(fable_softfloat))]
pub(crate) use fpu::sweep;
#[cfg(fable_host)]
pub(crate) use host::{back_solve, back_solve_both};
#[cfg(fable_softfloat)]
pub(crate) use sweep::sweep;

use super::lanes::Lanes;

/// Lanes of a dot product; part of the numeric revision.
const LANES: usize = 8;
/// Rows that an elementwise loop takes at once: as many as registers are left for by four columns, and one in
/// software.
const STRIDE: usize = match (cfg!(fable_softfloat), cfg!(fable_host)) {
    (true, _) => 1,
    (_, false) => 4,
    _ => 8,
};

/// The lanes of all loops.
pub(crate) trait Vectors<T>: Lanes<T, 4> + Lanes<T, LANES> + Lanes<T, STRIDE> {}

impl<T, V: Lanes<T, 4> + Lanes<T, LANES> + Lanes<T, STRIDE>> Vectors<T> for V {}

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
