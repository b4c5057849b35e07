//! Sets of coordinates: those that feedback can move, and those that a sub-dictionary keeps.

use super::{BlockSet, Catalog, Context, Feasible, MAX_DIMENSION};
use crate::numbers::Bits;

/// A bit set of coordinates, 1 KiB for any catalog.
///
/// A coordinate i is *active* when phi(c_t, a)_i is nonzero for a feasible action of a round. Hard
/// constraints can leave coordinates inactive in every round, and feedback never touches those. Their mean
/// and variance stay, unless the prior or statements tie them to active coordinates.
///
/// `activate` collects the active coordinates of rounds.
/// `activate_in_any_context` has the coordinates that a feasible set can activate with any
/// task and signals. One coordinate is one bit. A call costs one step per feasible action and block (and
/// task).
///
/// Corollary 1, with memory switched off: the difference of two memories cannot be learned.
///
/// ```
/// use fable_core::catalog::Part;
/// use fable_core::catalog::agent::{AGENT, MEMORY, Memory};
/// use fable_core::catalog::CoordinateSet;
/// use fable_core::{Feasible, Rule};
///
/// const OFF: Rule = Rule::require("memory is off", &[Part::new(MEMORY, &[Memory::NoMemory.index()])]);
/// let mut active = CoordinateSet::EMPTY;
/// active.activate_in_any_context(&AGENT, &Feasible::new(&AGENT, &[OFF])?);
///
/// let learnable = |name| active.contains(AGENT.coordinate(name).unwrap());
/// assert!(learnable("style=concise") && learnable("memory=no_memory*style=concise"));
/// assert!(!learnable("memory=recent_memory"));
/// assert!(!learnable("memory_need*memory=profile_summary"));
/// assert_eq!(active.len(), 254 - 4 - 4 - 4 * 6 - 4 * 6); // main, need, with each tool, with each style
/// # Ok::<(), fable_core::catalog::FeasibleError>(())
/// ```
///
/// Active coordinates are necessary for learning a contrast, not sufficient. A contrast can be learned
/// exactly when it lies in the span of the feasible features, which `analysis::Span` tests (feature
/// `analysis`).
pub type CoordinateSet = Bits<256>;

const _: () = assert!(CoordinateSet::CAPACITY == MAX_DIMENSION);

impl CoordinateSet {
    /// The coordinates of these blocks: z(q) of the block program.
    #[must_use]
    pub fn of_blocks(catalog: &Catalog<'_>, blocks: BlockSet) -> Self {
        let mut set = Self::EMPTY;
        for coordinate in blocks.iter().flat_map(|block| catalog.block_ranges(block)).flatten() {
            set.insert(coordinate);
        }
        set
    }

    /// Adds the coordinates that a feasible action makes nonzero in this context.
    ///
    /// A learner with some retained blocks learns only their coordinates, see [`of_blocks`](Self::of_blocks).
    pub fn activate(&mut self, catalog: &Catalog<'_>, context: &Context, feasible: &Feasible) {
        for (coordinate, _) in feasible.set().iter().flat_map(|action| catalog.features(context, action)) {
            self.insert(coordinate);
        }
    }

    /// Adds the coordinates that a feasible action makes nonzero in any context, with any task and any
    /// signals.
    pub fn activate_in_any_context(&mut self, catalog: &Catalog<'_>, feasible: &Feasible) {
        let layout = catalog.layout();
        for values in feasible.set().iter().filter_map(|action| catalog.values(action)) {
            for block in catalog.single_blocks().iter().chain(catalog.product_blocks()) {
                let Some(position) = catalog.position(block, &values) else { continue };
                let inside = usize::from(block.offset) + position;
                if block.per_task {
                    (0..layout.leaves())
                        .filter_map(|task| layout.leaf_coordinate(task, inside))
                        .for_each(|i| self.insert(i));
                } else {
                    self.insert(layout.root_coordinate(inside));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::{AGENT, TAU2};

    #[test]
    fn the_blocks_of_a_catalog_are_all_its_coordinates() {
        for catalog in [&AGENT, &TAU2] {
            assert!(CoordinateSet::of_blocks(catalog, BlockSet::FULL).iter().eq(0..catalog.dimension()));
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
