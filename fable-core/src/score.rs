//! The best feasible action for a given theta (Equation 4), without forming a single feature vector.
//!
//! Reference and one-component blocks add up to one number per value; an action starts with the sum of its values' numbers.
//! Each product block then adds one entry to each action. Actions are visited in runs: along the components at the end that
//! are all factors of the block both the scores and the block's entries are contiguous, and along those that are not the
//! entry is the same.

use crate::Scalar;
use crate::catalog::{Action, Catalog, MAX_COMPONENTS, Placed};
use crate::context::Context;
use crate::feasible::ActionSet;

/// What scoring needs to know about the round.
pub(crate) struct Round<'r> {
    catalog: &'r Catalog<'r>,
    context: &'r Context,
    cost_weight: f64,
    /// b per action instead of the catalog's.
    defaults: Option<&'r [f64]>,
    /// Position of the last component.
    last: usize,
    /// Values per component.
    counts: [usize; MAX_COMPONENTS],
    /// Where a component's numbers start in the table.
    starts: [usize; MAX_COMPONENTS],
    /// The terms whose condition holds, one bit each.
    terms: u64,
}

impl<'r> Round<'r> {
    pub(crate) fn new(catalog: &'r Catalog<'r>, context: &'r Context, cost_weight: f64, defaults: Option<&'r [f64]>) -> Self {
        let components = catalog.definition().components;
        let (mut counts, mut starts, mut start) = ([1; MAX_COMPONENTS], [0; MAX_COMPONENTS], 0);
        for ((count, slot), component) in counts.iter_mut().zip(&mut starts).zip(components) {
            (*count, *slot) = (component.values.len(), start);
            start += *count;
        }
        let terms = if defaults.is_none() { catalog.active_terms(context) } else { 0 };
        Self { catalog, context, cost_weight, defaults, last: components.len().saturating_sub(1), counts, starts, terms }
    }

    /// The score of every action for `theta`, the active part of a draw; `table` has room for a number per value.
    pub(crate) fn score<T: Scalar>(&self, theta: &[T], table: &mut [T], scores: &mut [T]) {
        self.tabulate(theta, table);
        let own = self.starts.get(self.last).and_then(|start| table.get(*start..)).unwrap_or(&[]);
        self.runs(self.last, scores, |digits, row| {
            let mut shared = T::ZERO;
            for (digit, start) in digits.iter().zip(&self.starts) {
                shared += table.get(start + usize::from(*digit)).copied().unwrap_or(T::ZERO);
            }
            for (score, own) in row.iter_mut().zip(own) {
                *score = shared + *own;
            }
        });
        for block in self.catalog.product_blocks() {
            if let Some((entries, factor)) = self.entries(block, theta) {
                self.add_product(block, entries, factor, scores);
            }
        }
        for term in self.catalog.terms(self.terms & self.catalog.spanning_terms()) {
            let weight = T::from_f64(term.weight);
            let own = term.applies.iter().find(|part| usize::from(part.component) == self.last);
            self.runs(self.last, scores, |digits, row| {
                if term.meets(digits) {
                    for score in row {
                        *score += weight;
                    }
                } else if let Some(part) = own {
                    for &value in part.values {
                        if let Some(score) = row.get_mut(usize::from(value)) {
                            *score += weight;
                        }
                    }
                }
            });
        }
        for (score, default) in scores.iter_mut().zip(self.defaults.unwrap_or(&[])) {
            *score += T::from_f64(*default);
        }
    }

    /// One number per value: reference and one-component blocks.
    fn tabulate<T: Scalar>(&self, theta: &[T], table: &mut [T]) {
        let components = self.catalog.definition().components;
        for (number, value) in table.iter_mut().zip(components.iter().flat_map(|component| component.values)) {
            *number = T::from_f64(-self.cost_weight * value.cost);
        }
        for term in self.catalog.terms(self.terms & !self.catalog.spanning_terms()) {
            for part in term.applies {
                let start = self.starts.get(usize::from(part.component)).copied().unwrap_or(0);
                for &value in part.values {
                    if let Some(number) = table.get_mut(start + usize::from(value)) {
                        *number += T::from_f64(term.weight);
                    }
                }
            }
        }
        for block in self.catalog.single_blocks() {
            let component = block.mask.trailing_zeros() as usize;
            if let (Some((entries, factor)), Some(start), Some(count)) =
                (self.entries(block, theta), self.starts.get(component), self.counts.get(component))
                && let Some(numbers) = table.get_mut(*start..start + count)
            {
                add(numbers, entries, factor, self.left_out(block, component));
            }
        }
    }

    /// Calls `visit` for each run of actions that share the values of the first `fixed` components.
    #[inline]
    fn runs<T>(&self, fixed: usize, scores: &mut [T], mut visit: impl FnMut(&[u8], &mut [T])) {
        let mut digits = [0_u8; MAX_COMPONENTS];
        let (Some(digits), Some(counts)) = (digits.get_mut(..fixed), self.counts.get(..fixed)) else { return };
        for run in scores.chunks_exact_mut(self.tail(fixed)) {
            visit(digits, run);
            for (digit, count) in digits.iter_mut().zip(counts).rev() {
                *digit = digit.wrapping_add(1);
                if usize::from(*digit) < *count {
                    break;
                }
                *digit = 0;
            }
        }
    }

    /// Actions that share the values of the first `fixed` components; absent components count 1.
    fn tail(&self, fixed: usize) -> usize {
        self.counts.iter().skip(fixed).product::<usize>().max(1)
    }

    /// Adds a block of several components to all scores.
    fn add_product<T: Scalar>(&self, block: &Placed, entries: &[T], factor: T, scores: &mut [T]) {
        let own = block.has(self.last);
        let left_out = self.left_out(block, self.last).filter(|_| own);
        let mut fixed = self.last;
        while fixed > 0 && block.has(fixed - 1) == own && !(own && block.without_null) {
            fixed -= 1;
        }
        // How far a step of each fixed component moves inside the block; 0 for those that are no factor.
        let mut strides = [0; MAX_COMPONENTS];
        let step = if own { self.tail(fixed) - usize::from(left_out.is_some()) } else { 1 };
        let mut stride = step;
        for (component, slot) in strides.iter_mut().enumerate().take(fixed).rev().filter(|(component, _)| block.has(*component)) {
            *slot = stride;
            stride *= self.catalog.radix(block, component);
        }
        self.runs(fixed, scores, |digits, run| {
            let position = if block.without_null {
                let Some(position) = self.catalog.position(block, digits) else { return };
                position * step
            } else {
                digits.iter().zip(&strides).map(|(digit, stride)| usize::from(*digit) * stride).sum()
            };
            let entries = entries.get(position..).unwrap_or(&[]);
            if own {
                add(run, entries, factor, left_out);
            } else if let Some(entry) = entries.first() {
                let shared = factor * *entry;
                for score in run {
                    *score += shared;
                }
            }
        });
    }

    /// The null value of a component if the block leaves it out.
    fn left_out(&self, block: &Placed, component: usize) -> Option<usize> {
        let null = if block.without_null { self.catalog.definition().components.get(component)?.null } else { None };
        null.map(usize::from)
    }

    /// The coordinates of a block in the active part and the factor they are scaled with.
    fn entries<'t, T: Scalar>(&self, block: &Placed, theta: &'t [T]) -> Option<(&'t [T], T)> {
        let arrow = self.catalog.arrow();
        let start = if block.per_task {
            arrow.leaf_of(self.context.task())?;
            usize::from(block.offset)
        } else {
            usize::from(arrow.leaf) + usize::from(block.offset)
        };
        let factor = match block.signal {
            Some(signal) => T::from_f32(self.context.signal(usize::from(signal))?),
            None => T::ONE,
        };
        Some((theta.get(start..start + usize::from(block.size))?, factor))
    }
}

/// numbers += factor * entries, passing over a left-out value.
#[inline]
fn add<T: Scalar>(numbers: &mut [T], entries: &[T], factor: T, left_out: Option<usize>) {
    match left_out {
        None => {
            for (number, entry) in numbers.iter_mut().zip(entries) {
                *number += factor * *entry;
            }
        }
        Some(null) => {
            let others = numbers.iter_mut().enumerate().filter(|(value, _)| *value != null);
            for ((_, number), entry) in others.zip(entries) {
                *number += factor * *entry;
            }
        }
    }
}

/// The feasible action with the highest score and that score; of equals the earliest.
pub(crate) fn best<T: Scalar>(feasible: &ActionSet, scores: &[T]) -> Option<(Action, T)> {
    let mut best = None;
    let mut highest = T::from_f64(f64::NEG_INFINITY);
    for ((word, scores), first) in feasible.words().iter().zip(scores.chunks(32)).zip((0_u16..).step_by(32)) {
        for (score, bit) in scores.iter().zip(0_u16..) {
            if *score > highest && word >> bit & 1 == 1 {
                highest = *score;
                best = Some(Action(first + bit));
            }
        }
    }
    Some((best?, highest))
}
