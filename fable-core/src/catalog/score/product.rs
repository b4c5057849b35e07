//! Product blocks: blocks of several components, added to the scores of all combinations.
//!
//! Combinations are visited in runs. Along the last components that are all factors of a block, both the
//! scores and the entries of the block are contiguous. Along the last components that are not, all scores get
//! the same entry.

use super::{HOST, Round};
use crate::catalog::{MAX_COMPONENTS, Placed};
use crate::numbers::Number;
use crate::numbers::inverse::{self, Entries, ROWS};
use crate::numbers::lanes::{Lanes, Plain};

impl Round<'_> {
    /// Adds a block of several components to the scores of all combinations from its first component, `from`,
    /// on.
    pub(super) fn add_product<T: Number>(
        &self,
        block: &Placed,
        from: usize,
        entries: &[T],
        factor: T,
        scores: &mut [T],
    ) {
        let is_factor = block.has(self.last);
        let mut fixed = self.last;
        while fixed > from && block.has(fixed - 1) == is_factor && !(is_factor && block.without_null) {
            fixed -= 1;
        }
        let mut strides = [0; MAX_COMPONENTS];
        let null = self.left_out(block, self.last).filter(|_| is_factor);
        let mut stride = if is_factor { self.tail(fixed) - usize::from(null.is_some()) } else { 1 };
        for (component, slot) in
            strides.iter_mut().enumerate().take(fixed).rev().filter(|(component, _)| block.has(*component))
        {
            *slot = stride;
            stride *= self.catalog.radix(block, component);
        }
        let run = if is_factor { Run::Entries { left_out: null } } else { Run::OneEntry };
        Product { round: self, block, entries, factor, run, fixed, strides }.spread(from, 0, scores);
    }
}

/// A product block that is added to the scores.
struct Product<'p, T> {
    round: &'p Round<'p>,
    block: &'p Placed,
    entries: &'p [T],
    factor: T,
    run: Run,
    /// The components before this one are walked value by value. The others are one run.
    fixed: usize,
    /// Distance of two values of each fixed component inside the block; 0 if the component is not a factor.
    strides: [usize; MAX_COMPONENTS],
}

/// The entries of one run of scores.
#[derive(Clone, Copy, PartialEq)]
enum Run {
    /// All scores get one entry: the last component is not a factor of the block.
    OneEntry,
    /// Each score gets an entry of its own, except for the value of the last component that is left out.
    Entries { left_out: Option<usize> },
}

impl<T: Number> Product<'_, T> {
    /// Adds the entries from `position` on to the scores of the combinations from `component` on.
    fn spread(&self, component: usize, mut position: usize, scores: &mut [T]) {
        if component >= self.fixed {
            return self.add(position, scores);
        }
        let null = self.round.left_out(self.block, component).filter(|_| self.block.has(component));
        let stride = self.strides.get(component).copied().unwrap_or(0);
        let tail = self.round.tail(component + 1);
        if component + 1 == self.fixed && null.is_none() {
            let entries = self.entries.get(position..).unwrap_or_default();
            match (self.run, stride) {
                // A component that is not a factor: the same entries for each of its values.
                (Run::Entries { left_out: None }, 0) => {
                    return repeat(scores, entries.get(..tail).unwrap_or_default(), self.factor);
                }
                // The last component that is a factor: one entry for each of its values.
                (Run::OneEntry, 1) if HOST => return add_each(scores, tail, entries, self.factor),
                _ => {}
            }
        }
        for (value, run) in scores.chunks_exact_mut(tail).enumerate() {
            if Some(value) == null {
                continue;
            }
            if component + 1 == self.fixed {
                self.add(position, run);
            } else {
                self.spread(component + 1, position, run);
            }
            position += stride;
        }
    }

    /// Adds the entries from `position` on to one run.
    #[inline]
    fn add(&self, position: usize, run: &mut [T]) {
        if let Run::Entries { left_out } = self.run {
            let len = run.len() - usize::from(left_out.is_some());
            let entries = self.entries.get(position..position + len).unwrap_or(&[]);
            add(Plain, run, entries, self.factor, left_out);
        } else if let Some(entry) = self.entries.get(position) {
            let shared = self.factor * *entry;
            for score in run {
                *score = score.plus(shared);
            }
        }
    }
}

/// numbers += factor * entries, except for a value that is left out.
#[cfg_attr(feature = "dispatch", inline(always))]
pub(super) fn add<T: Number, V: Copy, S: Sum<T, V>>(
    v: V,
    numbers: &mut [S],
    entries: &[S],
    factor: T,
    left_out: Option<usize>,
) {
    match left_out.and_then(|null| numbers.split_at_mut_checked(null)) {
        None => add_all(v, numbers, entries, factor),
        Some((before, after)) => {
            let (first, rest) = entries.split_at_checked(before.len()).unwrap_or((entries, &[]));
            add_all(v, before, first, factor);
            add_all(v, after.get_mut(1..).unwrap_or_default(), rest, factor);
        }
    }
}

/// numbers += factor * entries, repeated. A function of its own, so the compiler knows that the slices do not
/// overlap.
#[cfg_attr(feature = "dispatch", inline(always))]
#[cfg_attr(not(feature = "dispatch"), inline(never))]
fn add_all<T: Number, V: Copy, S: Sum<T, V>>(v: V, numbers: &mut [S], entries: &[S], factor: T) {
    let mut numbers = numbers;
    while let Some((run, rest)) = numbers.split_at_mut_checked(entries.len().max(1)) {
        if factor.bits() == T::ONE.bits() {
            // Equal to a product with 1, and much faster without a floating-point unit.
            for (number, entry) in run.iter_mut().zip(entries) {
                number.add(v, entry);
            }
        } else {
            for (number, entry) in run.iter_mut().zip(entries) {
                number.add_scaled(v, factor, entry);
            }
        }
        numbers = rest;
    }
}

/// On a [`HOST`], returns from a function that is compiled for the length of a run: 2 to 8, as most
/// components have.
macro_rules! by_length {
    ($run:ident $arguments:tt, $len:expr, $($n:literal)*) => {
        if HOST {
            match $len {
                $($n => return $run::<T, $n> $arguments,)*
                _ => {}
            }
        }
    };
}

/// Adds factor * entries to every run of as many scores.
fn repeat<T: Number>(scores: &mut [T], entries: &[T], factor: T) {
    fn run<T: Number, const N: usize>(scores: &mut [T], entries: &[T], factor: T) {
        let Some(entries) = entries.first_chunk::<N>() else { return };
        let added = entries.map(|entry| factor * entry);
        for run in scores.as_chunks_mut::<N>().0 {
            for (score, added) in run.iter_mut().zip(added) {
                *score += added;
            }
        }
    }
    by_length!(run(scores, entries, factor), entries.len(), 2 3 4 5 6 7 8);
    add_all(Plain, scores, entries, factor);
}

/// Adds factor * entry to all scores of a run of `len`, one entry per run.
fn add_each<T: Number>(scores: &mut [T], len: usize, entries: &[T], factor: T) {
    fn run<T: Number, const N: usize>(scores: &mut [T], entries: &[T], factor: T) {
        for (run, entry) in scores.as_chunks_mut::<N>().0.iter_mut().zip(entries) {
            let added = factor * *entry;
            for score in run {
                *score += added;
            }
        }
    }
    by_length!(run(scores, entries, factor), len, 2 3 4 5 6 7 8);
    let mut scores = scores;
    for entry in entries {
        let Some((run, rest)) = scores.split_at_mut_checked(len) else { return };
        let added = factor * *entry;
        for score in run {
            *score += added;
        }
        scores = rest;
    }
}

/// A number, or one number for each of some rows, which are added with `V`.
pub(super) trait Sum<T, V> {
    /// self += entry
    fn add(&mut self, v: V, entry: &Self);
    /// self += factor * entry
    fn add_scaled(&mut self, v: V, factor: T, entry: &Self);
}

impl<T: Number, V> Sum<T, V> for T {
    #[cfg_attr(feature = "dispatch", inline(always))]
    fn add(&mut self, _: V, entry: &Self) {
        *self = self.plus(*entry);
    }
    #[cfg_attr(feature = "dispatch", inline(always))]
    fn add_scaled(&mut self, _: V, factor: T, entry: &Self) {
        *self = self.add_product(factor, *entry);
    }
}

impl<T: Number, V: Lanes<T, ROWS>> Sum<T, V> for Entries<T> {
    #[cfg_attr(feature = "dispatch", inline(always))]
    fn add(&mut self, v: V, entry: &Self) {
        inverse::add(v, self, entry);
    }
    #[cfg_attr(feature = "dispatch", inline(always))]
    fn add_scaled(&mut self, v: V, factor: T, entry: &Self) {
        inverse::add_scaled(v, self, factor, entry);
    }
}
