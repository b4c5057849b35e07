//! Eight numbers that are added, subtracted and multiplied at once, on a host.
//!
//! A plain array: a compiler makes of it whatever the function it stands in may use, so that the same loop is narrow in a
//! plain build and wide in a clone of it (feature `dispatch`). Every lane has its own order of operations, so how wide it is changes no bit.

#![expect(clippy::inline_always, reason = "what a clone for wider registers is made of has to be inside it")]

use super::Number;
use core::ops::{Add, Mul, Sub};

/// Lanes of a vector; part of the numeric revision.
pub(crate) const LANES: usize = 8;

/// Numbers side by side.
#[derive(Clone, Copy, Debug)]
pub struct Lanes<T>(pub(crate) [T; LANES]);

impl<T> From<[T; LANES]> for Lanes<T> {
    #[inline(always)]
    fn from(numbers: [T; LANES]) -> Self {
        Self(numbers)
    }
}

impl<T> From<Lanes<T>> for [T; LANES] {
    #[inline(always)]
    fn from(lanes: Lanes<T>) -> Self {
        lanes.0
    }
}

impl<T: Number> Lanes<T> {
    #[inline(always)]
    fn with(mut self, other: Self, combine: impl Fn(T, T) -> T) -> Self {
        for (number, other) in self.0.iter_mut().zip(other.0) {
            *number = combine(*number, other);
        }
        self
    }
}

impl<T: Number> Add for Lanes<T> {
    type Output = Self;

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.with(other, |a, b| a + b)
    }
}

impl<T: Number> Sub for Lanes<T> {
    type Output = Self;

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.with(other, |a, b| a - b)
    }
}

impl<T: Number> Mul for Lanes<T> {
    type Output = Self;

    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        self.with(other, |a, b| a * b)
    }
}
