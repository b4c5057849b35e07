//! The best feasible action for a given theta (Equation 4), without forming a single feature vector.
//!
//! Reference and one-component blocks add up to one number per value. The scores grow from the last component to the first:
//! with those of all combinations of the later components in hand, each value of the next one adds its number, and the
//! product blocks that begin with it add their entries, one per combination. Combinations are visited in runs: along the
//! components at the end that are all factors of a block both the scores and its entries are contiguous, and along those
//! that are not the entry is the same.

use super::{Action, ActionSet, BlockSet, Catalog, Context, MAX_COMPONENTS, Part, Placed, Values};
use crate::numbers::Number;
use crate::numbers::inverse::{self, Entries, ROWS};
use crate::numbers::lanes::{Lanes, Plain, widest};

/// Whether there is room for loops that are compiled for several lengths: neither a device's flash nor a page that is loaded.
const HOST: bool = cfg!(fable_host);

/// `f32` or `f64`: a number that the actions of a catalog can be scored in.
pub trait Scalar: Number {
    /// [`Round::score`], then [`best`]: like the loops of the posterior a function of this crate for each scalar.
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

/// What scoring needs to know about the round.
pub struct Round<'r> {
    catalog: &'r Catalog<'r>,
    context: &'r Context,
    /// The blocks that count, if not all do.
    retained: Option<BlockSet>,
    cost_weight: f64,
    /// b per action instead of the catalog's.
    defaults: Option<&'r [f64]>,
    /// Position of the last component.
    last: usize,
    /// Values per component.
    counts: [usize; MAX_COMPONENTS],
    /// Where a component's numbers start in the table.
    starts: [usize; MAX_COMPONENTS],
    /// Combinations of this component and the later ones.
    tails: [usize; MAX_COMPONENTS],
    /// The terms whose condition holds, one bit each.
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

    /// The score of every action for `theta`, the active part of a draw; `table` has room for a number per value.
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

    /// Adds E (w.phi)^2 to the variance of every feasible action for some rows w of L^-1, of which the first entries can be other
    /// than zero; `table` has room for one entry per value and one more per value of the last component.
    #[cfg_attr(feature = "dispatch", inline(always))]
    fn add_squares<T: Number, V: Lanes<T, ROWS>>(
        &self,
        v: V,
        (rows, top): (&[Entries<T>], usize),
        inverse: &Entries<T>,
        table: &mut [Entries<T>],
        feasible: &ActionSet,
        variances: &mut [T],
    ) {
        let components = self.catalog.definition().components;
        table.fill([T::ZERO; ROWS]);
        self.add_singles(v, rows, top, table);
        let (Some(start), Some(count)) = (self.starts.get(self.last), self.counts.get(self.last)) else {
            return;
        };
        let Some((table, run)) = table.split_at_mut_checked(start + count) else { return };
        let mut values = Values::new();
        let _ = values.resize(self.last, 0); // fewer than there are components
        let mut first = 0_u16;
        for variances in variances.chunks_exact_mut((*count).max(1)) {
            let actions = || (first..).take(*count).map(Action);
            if actions().any(|action| feasible.contains(action)) {
                for (slot, number) in run.iter_mut().zip(table.iter().skip(*start)) {
                    *slot = *number;
                }
                let mut shared = [T::ZERO; ROWS];
                for (start, value) in self.starts.iter().zip(&values) {
                    if let Some(number) = table.get(start + usize::from(*value)) {
                        shared.add(v, number);
                    }
                }
                for block in self.catalog.product_blocks() {
                    if let Some((entries, factor)) = self.entries(block, rows, top) {
                        self.add_run(v, block, &values, entries, factor, &mut shared, run);
                    }
                }
                for ((action, variance), own) in actions().zip(variances).zip(&mut *run) {
                    own.add(v, &shared);
                    if feasible.contains(action) {
                        *variance = inverse::add_squares(v, *variance, inverse, own);
                    }
                }
            }
            // The next combination of the components before the last.
            first = first.saturating_add(u16::try_from(*count).unwrap_or(u16::MAX));
            for (value, component) in values.iter_mut().zip(components).rev() {
                *value += 1;
                if usize::from(*value) < component.values.len() {
                    break;
                }
                *value = 0;
            }
        }
    }

    /// Adds a product block for given values of all components but the last, to what their actions share or to each of them.
    #[expect(clippy::too_many_arguments, reason = "a part of add_squares")]
    #[cfg_attr(feature = "dispatch", inline(always))]
    fn add_run<T: Number, V: Lanes<T, ROWS>>(
        &self,
        v: V,
        block: &Placed,
        values: &[u8],
        entries: &[Entries<T>],
        factor: T,
        shared: &mut Entries<T>,
        run: &mut [Entries<T>],
    ) {
        let Some(position) = self.catalog.position(block, values) else { return };
        if block.has(self.last) {
            let radix = self.catalog.radix(block, self.last);
            if let Some(entries) = entries.get(position * radix..(position + 1) * radix) {
                add(v, run, entries, factor, self.left_out(block, self.last));
            }
        } else if let Some(entry) = entries.get(position) {
            shared.add_scaled(v, factor, entry);
        }
    }

    /// One number per value: reference and one-component blocks.
    fn tabulate<T: Number>(&self, theta: &[T], table: &mut [T]) {
        let components = self.catalog.definition().components;
        for (number, value) in table.iter_mut().zip(components.iter().flat_map(|component| component.values))
        {
            // A product with 1 is exact; on a device without a double-precision unit it is also slow.
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

    /// The one-component blocks.
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

    /// Adds a term to the scores of the combinations from `component` on that use any of its values.
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

    /// Adds a block of several components, the first of which is `from`, to the scores of all combinations from there on.
    fn add_product<T: Number>(
        &self,
        block: &Placed,
        from: usize,
        entries: &[T],
        factor: T,
        scores: &mut [T],
    ) {
        let own = block.has(self.last);
        let mut fixed = self.last;
        while fixed > from && block.has(fixed - 1) == own && !(own && block.without_null) {
            fixed -= 1;
        }
        let mut strides = [0; MAX_COMPONENTS];
        let null = self.left_out(block, self.last).filter(|_| own);
        let mut stride = if own { self.tail(fixed) - usize::from(null.is_some()) } else { 1 };
        for (component, slot) in
            strides.iter_mut().enumerate().take(fixed).rev().filter(|(component, _)| block.has(*component))
        {
            *slot = stride;
            stride *= self.catalog.radix(block, component);
        }
        Product { round: self, block, entries, factor, own, null, fixed, strides }.spread(from, 0, scores);
    }

    /// The null value of a component if the block leaves it out.
    fn left_out(&self, block: &Placed, component: usize) -> Option<usize> {
        let null =
            if block.without_null { self.catalog.definition().components.get(component)?.null } else { None };
        null.map(usize::from)
    }

    /// The coordinates of a block in the active part and the factor they are scaled with; `None` for a block that does not
    /// count in this round, or lies past the `top` of what is other than zero.
    #[inline]
    fn entries<'t, T: Number, V>(&self, block: &Placed, theta: &'t [V], top: usize) -> Option<(&'t [V], T)> {
        if self.retained.is_some_and(|retained| !retained.contains(usize::from(block.index))) {
            return None;
        }
        let arrow = self.catalog.layout();
        let start = if block.per_task {
            arrow.leaf_of(self.context.task())?;
            usize::from(block.offset)
        } else {
            usize::from(arrow.leaf) + usize::from(block.offset)
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

/// A product block on its way over the scores.
struct Product<'p, T> {
    round: &'p Round<'p>,
    block: &'p Placed,
    entries: &'p [T],
    factor: T,
    /// Whether the last component is a factor, and its value that is left out.
    own: bool,
    null: Option<usize>,
    /// The components before this one are walked value by value, the others are one run.
    fixed: usize,
    /// How far a step of each fixed component moves inside the block; 0 for those that are not a factor.
    strides: [usize; MAX_COMPONENTS],
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
        if component + 1 == self.fixed && self.null.is_none() && null.is_none() {
            let entries = self.entries.get(position..).unwrap_or_default();
            match (self.own, stride) {
                // A component that is not a factor: the same entries for each of its values.
                (true, 0) => return repeat(scores, entries.get(..tail).unwrap_or_default(), self.factor),
                // The last one that is a factor: an entry for each of its values.
                (false, 1) if HOST => return add_each(scores, tail, entries, self.factor),
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

    #[inline]
    fn add(&self, position: usize, run: &mut [T]) {
        if self.own {
            let len = run.len() - usize::from(self.null.is_some());
            add(
                Plain,
                run,
                self.entries.get(position..position + len).unwrap_or(&[]),
                self.factor,
                self.null,
            );
        } else if let Some(entry) = self.entries.get(position) {
            let shared = self.factor * *entry;
            for score in run {
                *score = score.plus(shared);
            }
        }
    }
}

/// numbers += factor * entries, passing over a left-out value.
#[cfg_attr(feature = "dispatch", inline(always))]
fn add<T: Number, V: Copy, S: Sum<T, V>>(
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

/// numbers += factor * entries, over and over. A function of its own, so that the compiler knows the two slices apart.
#[cfg_attr(feature = "dispatch", inline(always))]
#[cfg_attr(not(feature = "dispatch"), inline(never))]
fn add_all<T: Number, V: Copy, S: Sum<T, V>>(v: V, numbers: &mut [S], entries: &[S], factor: T) {
    let mut numbers = numbers;
    while let Some((run, rest)) = numbers.split_at_mut_checked(entries.len().max(1)) {
        if factor.bits() == T::ONE.bits() {
            // The same, and on a device without a floating-point unit much faster.
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

/// Returns with a function that is compiled for the length of a run, which components of a few values have. Only on a [`HOST`].
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

/// Adds factor * entry to all scores of a run of `len`, an entry for each run.
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

/// A number, or one each of some rows, which are added with `V`.
trait Sum<T, V> {
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

/// The feasible action with the highest score and that score; of equals the earliest.
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
