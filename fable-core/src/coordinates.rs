//! Sets of coordinates: which of them feedback can ever move, and which a sub-dictionary keeps.
//!
//! A coordinate i is *active* when phi(c_t, a)_i is nonzero for some feasible action of some round. Hard constraints leave
//! others inactive in every round, and online feedback never touches those: as long as the prior and the onboarding
//! statements do not tie them to active ones, their mean and variance stay as they were. [`CoordinateSet::activate`]
//! collects the active coordinates as rounds go by; [`CoordinateSet::activate_in_any_context`] says what a feasible set
//! could activate if every task and every signal came up. One coordinate is one bit; a call costs one step per feasible
//! action and block (and task).
//!
//! Corollary 1, the user who has memory switched off: what compares one memory with another cannot be learned.
//!
//! ```
//! use fable_core::catalog::Part;
//! use fable_core::catalog::agent::{AGENT, MEMORY, Memory};
//! use fable_core::{CoordinateSet, Feasible, Rule};
//!
//! const OFF: Rule = Rule::require("memory is off", &[Part::new(MEMORY, &[Memory::NoMemory.index()])]);
//! let mut active = CoordinateSet::EMPTY;
//! active.activate_in_any_context(&AGENT, &Feasible::new(&AGENT, &[OFF])?);
//!
//! let learnable = |name| active.contains(AGENT.coordinate(name).unwrap());
//! assert!(learnable("style=concise") && learnable("memory=no_memory*style=concise"));
//! assert!(!learnable("memory=recent_memory"));
//! assert!(!learnable("memory_need*memory=profile_summary"));
//! assert_eq!(active.len(), 254 - 4 - 4 - 4 * 6 - 4 * 6); // main, need, with each tool, with each style
//! # Ok::<(), fable_core::FeasibleError>(())
//! ```
//!
//! An active coordinate is necessary for learning, not sufficient: a contrast can be learned exactly when it lies in the
//! span of the feasible features, which `analysis::Span` tests (feature `analysis`).

use crate::catalog::{BlockSet, Catalog, MAX_DIMENSION};
use crate::context::Context;
use crate::feasible::Feasible;

const WORDS: usize = MAX_DIMENSION / 32;

/// A bit set of coordinates, 1 KiB for any catalog. See the [module](self).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct CoordinateSet([u32; WORDS]);

impl Default for CoordinateSet {
    fn default() -> Self {
        Self::EMPTY
    }
}

impl CoordinateSet {
    /// No coordinate; all bits zero.
    pub const EMPTY: Self = Self([0; WORDS]);

    /// The coordinates of some blocks: z(q) of the block program.
    #[must_use]
    pub fn of_blocks(catalog: &Catalog<'_>, blocks: BlockSet) -> Self {
        let mut set = Self::EMPTY;
        for coordinate in blocks.iter().flat_map(|block| catalog.block_ranges(block)).flatten() {
            set.insert(coordinate);
        }
        set
    }

    /// Adds the coordinates that some feasible action makes nonzero in this context.
    ///
    /// A learner that retains some blocks only learns no more than those: compare with [`of_blocks`](Self::of_blocks).
    pub fn activate(&mut self, catalog: &Catalog<'_>, context: &Context, feasible: &Feasible) {
        for (coordinate, _) in feasible.set().iter().flat_map(|action| catalog.features(context, action)) {
            self.insert(coordinate);
        }
    }

    /// Adds the coordinates that some feasible action makes nonzero in some context: any task, any signals.
    pub fn activate_in_any_context(&mut self, catalog: &Catalog<'_>, feasible: &Feasible) {
        let arrow = catalog.arrow();
        for values in feasible.set().iter().filter_map(|action| catalog.values(action)) {
            for block in catalog.single_blocks().iter().chain(catalog.product_blocks()) {
                let Some(position) = catalog.position(block, &values) else { continue };
                let inside = usize::from(block.offset) + position;
                if block.per_task {
                    (0..arrow.leaves()).filter_map(|task| arrow.leaf_coordinate(task, inside)).for_each(|i| self.insert(i));
                } else {
                    self.insert(arrow.root_coordinate(inside));
                }
            }
        }
    }

    /// Adds a coordinate; one past [`MAX_DIMENSION`] is ignored.
    pub fn insert(&mut self, coordinate: usize) {
        if let Some(word) = self.0.get_mut(coordinate / 32) {
            *word |= 1 << (coordinate % 32);
        }
    }

    /// Whether the coordinate is in the set.
    #[must_use]
    pub fn contains(&self, coordinate: usize) -> bool {
        self.0.get(coordinate / 32).is_some_and(|word| word >> (coordinate % 32) & 1 == 1)
    }

    /// Number of coordinates in the set.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Whether the set is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::EMPTY
    }

    /// Whether every coordinate of this set is in `other`.
    #[must_use]
    pub fn is_subset(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).all(|(mine, theirs)| mine & !theirs == 0)
    }

    /// The coordinates, the lowest first.
    pub fn iter(&self) -> impl Iterator<Item = usize> {
        self.0
            .iter()
            .enumerate()
            .flat_map(|(index, &word)| (0..32).filter(move |bit| word >> bit & 1 == 1).map(move |bit| 32 * index + bit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::{AGENT, TAU2};

    #[test]
    fn a_set_is_what_was_inserted() {
        let mut set = CoordinateSet::EMPTY;
        assert!(set.is_empty());
        let inserted = [0, 31, 32, 253, 4095, 8191];
        inserted.into_iter().chain([8192, usize::MAX]).for_each(|coordinate| set.insert(coordinate));
        assert!(set.iter().eq(inserted));
        assert_eq!(set.len(), 6);
        assert!((0..9000).all(|coordinate| set.contains(coordinate) == inserted.contains(&coordinate)));
        assert!(CoordinateSet::EMPTY.is_subset(&set) && !set.is_subset(&CoordinateSet::EMPTY));
    }

    #[test]
    fn the_blocks_of_a_catalog_are_all_its_coordinates() {
        for catalog in [&AGENT, &TAU2] {
            assert!(CoordinateSet::of_blocks(catalog, BlockSet::ALL).iter().eq(0..catalog.dimension()));
            let mut active = CoordinateSet::EMPTY;
            active.activate_in_any_context(catalog, &Feasible::all(catalog));
            assert!(active.iter().eq(0..catalog.dimension()));
        }
    }

    #[test]
    fn a_signal_of_zero_and_a_missing_task_activate_nothing() {
        let mut active = CoordinateSet::EMPTY;
        active.activate(&AGENT, &Context::new(&AGENT, None, &[0.0; 4]).unwrap(), &Feasible::all(&AGENT));
        let shared = CoordinateSet::of_blocks(&AGENT, BlockSet::from_bits(0b1110_0000_0111));
        assert_eq!(active, shared);
    }
}
