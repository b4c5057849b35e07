//! The best feasible action for a given theta (Equation 4), without forming a feature vector.
//!
//! ```text
//! score(a) = b(c, a) - lambda cost(c, a) + phi(c, a).theta        best = argmax over feasible a of score(a)
//! ```
//!
//! The reference and the one-component blocks add up to one number per value, the *table*. Scores grow from
//! the last component to the first. Given the scores of all combinations of the later components, each value
//! of the next component adds its number. Then [product blocks](product) that begin with this component add
//! their entries. [`variance`] has the variances of all scores.

mod product;
mod variance;

use super::{Action, ActionSet, BlockSet, Catalog, Context, MAX_COMPONENTS, Part, Placed};
use crate::numbers::Number;
use crate::numbers::inverse::Entries;
use crate::numbers::lanes::{Plain, widest};
use product::{Sum, add};

/// Loops are compiled for several lengths. The flash of a device and a loaded page are too small for them.
const HOST: bool = cfg!(fable_host);

/// A number that actions can be scored in: `f32` or `f64`.
pub trait Scalar: Number {
    /// [`Round::score`], then [`best`]. A function of this crate for each scalar, like the loops of the
    /// posterior.
    #[doc(hidden)]
    fn best(
        round: &Round<'_>,
        theta: &[Self],
        table: &mut [Self],
        scores: &mut [Self],
        feasible: &ActionSet,
    ) -> Option<(Action, Self)>;

    /// [`Round::add_squares`]
    #[doc(hidden)]
    fn add_squares(
        round: &Round<'_>,
        rows: (&[Entries<Self>], usize),
        inverse: &Entries<Self>,
        table: &mut [Entries<Self>],
        feasible: &ActionSet,
        variances: &mut [Self],
    );
}

macro_rules! scalar {
    ($scalar:ty) => {
        impl Scalar for $scalar {
            #[inline(never)]
            fn best(
                round: &Round<'_>,
                theta: &[Self],
                table: &mut [Self],
                scores: &mut [Self],
                feasible: &ActionSet,
            ) -> Option<(Action, Self)> {
                round.score(theta, table, scores);
                best(feasible, scores)
            }

            #[inline(never)]
            fn add_squares(
                round: &Round<'_>,
                rows: (&[Entries<Self>], usize),
                inverse: &Entries<Self>,
                table: &mut [Entries<Self>],
                feasible: &ActionSet,
                variances: &mut [Self],
            ) {
                widest!(v => round.add_squares(v, rows, inverse, table, feasible, variances));
            }
        }
    };
}

scalar!(f32);
scalar!(f64);

/// The context of a round and the reference, prepared for scoring.
pub struct Round<'r> {
    catalog: &'r Catalog<'r>,
    context: &'r Context,
    /// The retained blocks; `None` if all are.
    retained: Option<BlockSet>,
    cost_weight: f64,
    /// b per action instead of the catalog's.
    defaults: Option<&'r [f64]>,
    /// Position of the last component.
    last: usize,
    /// Values per component.
    counts: [usize; MAX_COMPONENTS],
    /// Start of a component's numbers in the table.
    starts: [usize; MAX_COMPONENTS],
    /// Combinations of a component and the later ones.
    tails: [usize; MAX_COMPONENTS],
    /// One bit per term: its condition holds.
    terms: u64,
}

impl<'r> Round<'r> {
    pub(crate) fn new(
        catalog: &'r Catalog<'r>,
        retained: Option<BlockSet>,
        cost_weight: f64,
        context: &'r Context,
        defaults: Option<&'r [f64]>,
    ) -> Self {
        let components = catalog.definition().components;
        let mut counts = [1; MAX_COMPONENTS];
        let mut starts = [0; MAX_COMPONENTS];
        let mut start = 0;
        for ((count, slot), component) in counts.iter_mut().zip(&mut starts).zip(components) {
            (*count, *slot) = (component.values.len(), start);
            start += *count;
        }
        let (mut tails, mut tail) = ([1; MAX_COMPONENTS], 1);
        for (slot, count) in tails.iter_mut().zip(&counts).rev() {
            tail *= count;
            *slot = tail;
        }
        let terms = if defaults.is_none() { catalog.active_terms(context) } else { 0 };
        let last = components.len().saturating_sub(1);
        Self { catalog, context, retained, cost_weight, defaults, last, counts, starts, tails, terms }
    }

    /// The score of every action for `theta`, a draw over the active part. `table` has one number per value.
    pub(crate) fn score<T: Number>(&self, theta: &[T], table: &mut [T], scores: &mut [T]) {
        self.tabulate(theta, table);
        let Some(first) = scores.first_mut() else { return };
        *first = T::ZERO;
        let mut len = 1;
        for (component, (start, count)) in
            self.starts.iter().zip(&self.counts).enumerate().take(self.last + 1).rev()
        {
            let Some((head, tail)) = scores.split_at_mut_checked(len) else { return };
            let mut numbers = table.iter().skip(*start);
            let number = numbers.next().copied().unwrap_or(T::ZERO);
            for (run, number) in tail.chunks_exact_mut(len.max(1)).zip(numbers).take(count - 1) {
                for (score, later) in run.iter_mut().zip(&*head) {
                    *score = later.plus(*number);
                }
            }
            for score in head {
                *score = score.plus(number);
            }
            len *= count;
            let Some(grown) = scores.get_mut(..len) else { return };
            for block in self
                .catalog
                .product_blocks()
                .iter()
                .filter(|block| block.mask.trailing_zeros() as usize == component)
            {
                if let Some((entries, factor)) = self.entries(block, theta, usize::MAX) {
                    self.add_product(block, component, entries, factor, grown);
                }
            }
        }
        for term in self.catalog.terms(self.terms & self.catalog.spanning_terms()) {
            self.add_term(term.applies, 0, T::from_f64(term.weight), scores);
        }
        for (score, default) in scores.iter_mut().zip(self.defaults.unwrap_or(&[])) {
            *score += T::from_f64(*default);
        }
    }

    /// Fills the table: the reference and the one-component blocks.
    fn tabulate<T: Number>(&self, theta: &[T], table: &mut [T]) {
        let components = self.catalog.definition().components;
        for (number, value) in table.iter_mut().zip(components.iter().flat_map(|component| component.values))
        {
            // A product with 1 is exact, but slow on a device without a double-precision unit.
            *number = T::from_f64(if self.cost_weight == 1.0 {
                -value.cost
            } else {
                -self.cost_weight * value.cost
            });
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
        self.add_singles(Plain, theta, usize::MAX, table);
    }

    /// Adds the one-component blocks to the table.
    #[cfg_attr(feature = "dispatch", inline(always))]
    fn add_singles<T: Number, V: Copy, S: Sum<T, V>>(&self, v: V, theta: &[S], top: usize, table: &mut [S]) {
        for block in self.catalog.single_blocks() {
            let component = block.mask.trailing_zeros() as usize;
            if let (Some((entries, factor)), Some(start), Some(count)) =
                (self.entries(block, theta, top), self.starts.get(component), self.counts.get(component))
                && let Some(numbers) = table.get_mut(*start..start + count)
            {
                add(v, numbers, entries, factor, self.left_out(block, component));
            }
        }
    }

    /// Adds a term that names several components to the scores of the combinations with any of its values,
    /// from `component` on.
    fn add_term<T: Number>(&self, applies: &[Part<'_>], component: usize, weight: T, scores: &mut [T]) {
        let tail = self.tail(component + 1);
        let part = applies.iter().find(|part| usize::from(part.component) == component);
        for &value in part.map_or(&[][..], |part| part.values) {
            let start = usize::from(value) * tail;
            for score in scores.get_mut(start..start + tail).unwrap_or_default() {
                *score = score.plus(weight);
            }
        }
        if applies.iter().any(|part| usize::from(part.component) > component) {
            for (value, run) in (0..=u8::MAX).zip(scores.chunks_exact_mut(tail)) {
                if !part.is_some_and(|part| part.contains(value)) {
                    self.add_term(applies, component + 1, weight, run);
                }
            }
        }
    }

    /// Combinations of the components from `first` on; 1 after the last.
    #[inline]
    fn tail(&self, first: usize) -> usize {
        self.tails.get(first).map_or(1, |tail| (*tail).max(1))
    }

    /// The null value of a component, if the block has no coordinate for it.
    fn left_out(&self, block: &Placed, component: usize) -> Option<usize> {
        let null =
            if block.without_null { self.catalog.definition().components.get(component)?.null } else { None };
        null.map(usize::from)
    }

    /// The entries of a block in the active part, and their factor: a signal, or 1.
    ///
    /// `None` if the block does not count in this round, or begins at `top` or later, where all entries are
    /// zero.
    #[inline]
    fn entries<'t, T: Number, V>(&self, block: &Placed, theta: &'t [V], top: usize) -> Option<(&'t [V], T)> {
        if self.retained.is_some_and(|retained| !retained.contains(usize::from(block.index))) {
            return None;
        }
        let layout = self.catalog.layout();
        let start = if block.per_task {
            layout.leaf_of(self.context.task())?;
            usize::from(block.offset)
        } else {
            usize::from(layout.leaf) + usize::from(block.offset)
        };
        if start >= top {
            return None;
        }
        let factor = match block.signal {
            Some(signal) => T::from_f32(self.context.signal(usize::from(signal))?),
            None => T::ONE,
        };
        Some((theta.get(start..start + usize::from(block.size))?, factor))
    }
}

/// The feasible action with the highest score, and the score. Of equal scores the earliest action counts.
pub(crate) fn best<T: Number>(feasible: &ActionSet, scores: &[T]) -> Option<(Action, T)> {
    let mut best = None;
    let mut highest = T::from_f64(f64::NEG_INFINITY);
    for ((word, scores), first) in feasible.words().iter().zip(scores.chunks(32)).zip((0_u16..).step_by(32)) {
        #[expect(
            clippy::needless_bitwise_bool,
            reason = "no branches, 32 actions at once; most words hold no new maximum"
        )]
        if HOST && !scores.iter().fold(false, |higher, score| higher | (*score > highest)) {
            continue;
        }
        for (score, bit) in scores.iter().zip(0_u16..) {
            if *score > highest && word >> bit & 1 == 1 {
                highest = *score;
                best = Some(Action(first + bit));
            }
        }
    }
    Some((best?, highest))
}
