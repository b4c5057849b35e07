//! The branch and bound behind [`Program`]; `program` says why it is exact.

use super::program::Program;
use crate::catalog::MAX_BLOCKS;

/// One pass over the tree.
pub(super) struct Search<'s> {
    pub(super) program: &'s Program<'s>,
    /// The blocks that the rules leave open, as they are decided.
    pub(super) order: &'s [u8],
    /// Row i: the sizes that the blocks from place i on can add up to, one bit each.
    pub(super) sums: &'s [u64],
    pub(super) k: usize,
    pub(super) slack: f64,
    /// Nodes that may still be looked at.
    pub(super) nodes: u64,
    /// Error and blocks of the best choice so far.
    pub(super) best: Option<(f64, u128)>,
    /// The least bound of the nodes that were not looked into for want of nodes.
    pub(super) cut: Option<f64>,
    /// Whether any choice as good as the best will do: the pass that settles ties.
    pub(super) first: bool,
}

impl Search<'_> {
    /// Looks at the choices that keep `kept`, of this size, and any blocks from `place` on; true when the pass is over.
    pub(super) fn visit(&mut self, place: usize, kept: u128, size: usize) -> bool {
        let program = self.program;
        if !self.reachable(place, size) {
            return false;
        }
        let Some(block) = self.order.get(place).map(|block| usize::from(*block)) else {
            return self.settle(kept);
        };
        let free = self.order.iter().skip(place).fold(0, |set, block| set | 1_u128 << block);
        let omitted = program.every() & !kept & !free;
        let bound = self.bound(place, omitted, size);
        let hopeless = |best: f64| if self.first { bound > best + self.slack } else { bound >= best - self.slack };
        if self.best.is_some_and(|(best, _)| hopeless(best)) {
            return false;
        }
        if self.nodes == 0 {
            self.cut = Some(self.cut.map_or(bound, |cut| if bound < cut { bound } else { cut }));
            return false;
        }
        self.nodes -= 1;
        let parents = program.parents.get(block).copied().unwrap_or(0) & !(1 << block);
        if parents & omitted == 0 && self.visit(place + 1, kept | 1 << block, size + program.size_of(1 << block)) {
            return true;
        }
        let orphans = bits(kept).any(|child| program.parents.get(child).is_some_and(|parents| parents >> block & 1 == 1));
        !orphans && self.visit(place + 1, kept, size)
    }

    /// Whether the blocks from `place` on can fill the budget.
    fn reachable(&self, place: usize, size: usize) -> bool {
        let Some(missing) = self.k.checked_sub(size) else { return false };
        let word = self.sums.get(place * self.program.words() + missing / 64);
        missing / 64 < self.program.words() && word.is_some_and(|word| word >> (missing % 64) & 1 == 1)
    }

    /// A complete choice.
    fn settle(&mut self, kept: u128) -> bool {
        let error = self.program.error_of(kept);
        match self.best {
            Some((best, _)) if self.first => {
                let equal = error <= best + self.slack;
                if equal {
                    self.best = Some((error, kept));
                }
                equal
            }
            Some((best, _)) if error >= best => false,
            _ => {
                self.best = Some((error, kept));
                false
            }
        }
    }

    /// Gilmore and Lawler's bound; see the module.
    fn bound(&self, place: usize, omitted: u128, size: usize) -> f64 {
        let program = self.program;
        let free = || self.order.iter().skip(place).map(|block| usize::from(*block));
        // Coordinates still to be omitted.
        let rest = free().map(|block| program.size(block)).sum::<f64>() - whole(self.k.saturating_sub(size));
        let fixed: f64 = bits(omitted).map(|g| bits(omitted).map(|h| program.entry(g, h)).sum::<f64>()).sum();
        let mut outer = Items::new();
        for f in free() {
            let own = program.size(f);
            let mut inner = Items::new();
            for g in free().filter(|g| *g != f) {
                inner.push(program.entry(f, g), program.size(g));
            }
            // Nothing fits beside an omitted f: then f is not omitted.
            if let Some(others) = inner.least(rest - own) {
                let crossing: f64 = bits(omitted).map(|g| program.entry(f, g)).sum();
                outer.push(2.0 * crossing + program.entry(f, f) + others, own);
            }
        }
        outer.least(rest).map_or(f64::INFINITY, |least| fixed + least)
    }
}

/// Values and sizes of a fractional knapsack that must be filled exactly.
struct Items(heapless::Vec<(f64, f64), MAX_BLOCKS>);

impl Items {
    const fn new() -> Self {
        Self(heapless::Vec::new())
    }

    fn push(&mut self, value: f64, size: f64) {
        let _ = self.0.push((value, size)); // never more than there are blocks
    }

    /// The least sum of value o over o in [0, 1] with sizes adding up to `room`; `None` when they cannot.
    fn least(&mut self, room: f64) -> Option<f64> {
        if room < 0.0 {
            return None;
        }
        self.0.sort_unstable_by(|a, b| (a.0 / a.1).total_cmp(&(b.0 / b.1)));
        let (mut total, mut left) = (0.0, room);
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

/// The positions of the bits that are set, the lowest first.
pub(super) fn bits(mut set: u128) -> impl Iterator<Item = usize> {
    core::iter::from_fn(move || {
        let lowest = (set != 0).then_some(set.trailing_zeros() as usize)?;
        set &= set - 1;
        Some(lowest)
    })
}
