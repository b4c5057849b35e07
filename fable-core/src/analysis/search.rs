//! The branch and bound of [`Program`]. `program` says why it is exact.

use super::program::Program;
use crate::numbers::Bits;

/// One pass over the tree.
pub(super) struct Search<'s, const W: usize, const N: usize> {
    pub(super) program: &'s Program<'s, W, N>,
    /// The blocks that the rules leave open, in the order of decisions.
    pub(super) order: &'s [u16],
    /// Row i: the sizes that blocks from index i on can add up to, one bit each.
    pub(super) sums: &'s [u64],
    pub(super) k: usize,
    pub(super) slack: f64,
    /// Number of nodes that the search may still visit.
    pub(super) nodes: u64,
    /// Error and blocks of the best choice so far.
    pub(super) best: Option<(f64, Bits<W>)>,
    /// The least bound of nodes that were not visited for lack of nodes.
    pub(super) cut: Option<f64>,
    /// The pass that settles ties: it ends at the first choice as good as the best.
    pub(super) first: bool,
}

impl<const W: usize, const N: usize> Search<'_, W, N> {
    /// Visits the choices that keep `kept`, of this size, and any blocks from `place` on. True when the pass
    /// is over.
    pub(super) fn visit(&mut self, place: usize, kept: &Bits<W>, size: usize) -> bool {
        let program = self.program;
        if !self.reachable(place, size) {
            return false;
        }
        let Some(block) = self.order.get(place).map(|block| usize::from(*block)) else {
            return self.settle(kept);
        };
        let bound = self.bound(place, kept, size);
        let hopeless =
            |best: f64| if self.first { bound > best + self.slack } else { bound >= best - self.slack };
        if self.best.is_some_and(|(best, _)| hopeless(best)) {
            return false;
        }
        if self.nodes == 0 {
            self.cut = Some(self.cut.map_or(bound, |cut| if bound < cut { bound } else { cut }));
            return false;
        }
        self.nodes -= 1;
        if self.may_keep(place, block, kept) {
            let mut with = *kept;
            with.insert(block);
            if self.visit(place + 1, &with, size + program.size_in(block)) {
                return true;
            }
        }
        let orphans = kept.iter().any(|child| program.parents_of(child).contains(block));
        !orphans && self.visit(place + 1, kept, size)
    }

    /// True if no parent of the block at an index is omitted.
    #[inline(never)]
    fn may_keep(&self, place: usize, block: usize, kept: &Bits<W>) -> bool {
        let omitted = self.omitted(place, kept);
        !self.program.parents_of(block).iter().any(|parent| parent != block && omitted.contains(parent))
    }

    /// The blocks that are neither kept nor open from an index on.
    fn omitted(&self, place: usize, kept: &Bits<W>) -> Bits<W> {
        let mut omitted = self.program.every();
        kept.iter().for_each(|block| omitted.remove(block));
        self.order.iter().skip(place).for_each(|block| omitted.remove(usize::from(*block)));
        omitted
    }

    /// True if blocks from `place` on can fill the budget.
    fn reachable(&self, place: usize, size: usize) -> bool {
        let Some(missing) = self.k.checked_sub(size) else { return false };
        let word = self.sums.get(place * self.program.words() + missing / 64);
        missing / 64 < self.program.words() && word.is_some_and(|word| word >> (missing % 64) & 1 == 1)
    }

    /// Compares a complete choice with the best. True when the pass is over.
    fn settle(&mut self, kept: &Bits<W>) -> bool {
        let error = self.program.error_of(kept);
        match self.best {
            Some((best, _)) if self.first => {
                let equal = error <= best + self.slack;
                if equal {
                    self.best = Some((error, *kept));
                }
                equal
            }
            Some((best, _)) if error >= best => false,
            _ => {
                self.best = Some((error, *kept));
                false
            }
        }
    }

    /// Gilmore and Lawler's bound; see the module.
    #[inline(never)]
    fn bound(&self, place: usize, kept: &Bits<W>, size: usize) -> f64 {
        let program = self.program;
        let omitted = self.omitted(place, kept);
        let free = || self.order.iter().skip(place).map(|block| usize::from(*block));
        // Coordinates still to be omitted.
        let rest = free().map(|block| program.size(block)).sum::<f64>() - whole(self.k.saturating_sub(size));
        let fixed: f64 =
            omitted.iter().map(|g| omitted.iter().map(|h| program.entry(g, h)).sum::<f64>()).sum();
        let mut outer = Items::<N>::new();
        for f in free() {
            let own = program.size(f);
            let mut inner = Items::<N>::new();
            for g in free().filter(|g| *g != f) {
                inner.push(program.entry(f, g), program.size(g));
            }
            // If nothing fits beside an omitted f, f is not omitted.
            if let Some(others) = inner.least(rest - own) {
                let crossing: f64 = omitted.iter().map(|g| program.entry(f, g)).sum();
                outer.push(2.0 * crossing + program.entry(f, f) + others, own);
            }
        }
        outer.least(rest).map_or(f64::INFINITY, |least| fixed + least)
    }
}

/// Values and sizes of a fractional knapsack that is filled exactly.
struct Items<const N: usize>(heapless::Vec<(f64, f64), N>);

impl<const N: usize> Items<N> {
    const fn new() -> Self {
        Self(heapless::Vec::new())
    }

    fn push(&mut self, value: f64, size: f64) {
        let _ = self.0.push((value, size)); // at most one per block
    }

    /// The least sum of value o over o in [0, 1] with sizes adding up to `capacity`; `None` if there is no
    /// such o.
    fn least(&mut self, capacity: f64) -> Option<f64> {
        if capacity < 0.0 {
            return None;
        }
        self.0.sort_unstable_by(|a, b| (a.0 / a.1).total_cmp(&(b.0 / b.1)));
        let (mut total, mut left) = (0.0, capacity);
        for (value, size) in &self.0 {
            if *size >= left {
                return Some(total + value * (left / size));
            }
            total += value;
            left -= size;
        }
        (left == 0.0).then_some(total)
    }
}

/// A number of coordinates as `f64`, exact up to 2^32.
fn whole(count: usize) -> f64 {
    u32::try_from(count).map_or(f64::INFINITY, f64::from)
}
