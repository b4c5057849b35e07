//! Sets of dictionary blocks, and the coordinates of a block.
//!
//! The paper's optional sub-dictionary z, chosen block by block, is a [`BlockSet`]: the retained blocks.
//!
//! ```
//! use fable_core::catalog::{AGENT, BlockSet};
//!
//! let mains = BlockSet::from_bits(0b111); // memory, tool, style
//! assert!(mains.contains(2) && !mains.contains(3));
//! assert_eq!((mains.len(), AGENT.dimension_of(mains)), (3, 5 + 6 + 6));
//! assert_eq!(AGENT.dimension_of(BlockSet::FULL), 254);
//!
//! let coordinate = AGENT.coordinate("task=coding*style=concise").unwrap();
//! assert_eq!(AGENT.block_of(coordinate), Some(3));
//! assert_eq!(AGENT.block_ranges(3).count(), 10); // one copy per task
//! ```

use super::{Catalog, MAX_BLOCKS};
use crate::numbers::Bits;
use core::ops::Range;

/// A set of blocks by their position in [`Definition::blocks`](super::Definition::blocks). The default is all
/// of them.
// A literal: with an expression here, a closure that captures a `Settings` crashes rustc 1.95.
pub type BlockSet = Bits<4>;

const _: () = assert!(BlockSet::CAPACITY == MAX_BLOCKS);

impl Default for BlockSet {
    fn default() -> Self {
        Self::FULL
    }
}

impl BlockSet {
    /// The blocks whose bits are set, block 0 lowest.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "one word at a time")]
    pub const fn from_bits(bits: u128) -> Self {
        Self::from_words([bits as u32, (bits >> 32) as u32, (bits >> 64) as u32, (bits >> 96) as u32])
    }

    /// One bit per block, block 0 lowest.
    #[must_use]
    pub const fn bits(self) -> u128 {
        let [a, b, c, d] = *self.words();
        a as u128 | (b as u128) << 32 | (c as u128) << 64 | (d as u128) << 96
    }
}

impl Catalog<'_> {
    /// The set of all blocks of this catalog.
    #[must_use]
    pub const fn all_blocks(&self) -> BlockSet {
        BlockSet::first(self.definition.blocks.len())
    }

    /// The coordinates of a block: one range, or one per task. A block that the catalog does not have gives
    /// no range.
    pub fn block_ranges(&self, block: usize) -> impl Iterator<Item = Range<usize>> {
        let placed = self.placed_blocks(None).find(|placed| usize::from(placed.index) == block);
        placed.into_iter().flat_map(move |placed| {
            let copies = if placed.per_task { self.layout.leaves() } else { 1 };
            (0..copies).filter_map(move |copy| {
                let inside = usize::from(placed.offset);
                let start = if placed.per_task {
                    self.layout.leaf_coordinate(copy, inside)?
                } else {
                    self.layout.root_coordinate(inside)
                };
                Some(start..start + usize::from(placed.size))
            })
        })
    }

    /// The active dimension d_z: the number of coordinates of these blocks.
    #[must_use]
    #[inline]
    pub fn dimension_of(&self, blocks: BlockSet) -> usize {
        self.placed_blocks(Some(blocks))
            .map(|placed| usize::from(placed.size) * if placed.per_task { self.layout.leaves() } else { 1 })
            .sum()
    }

    /// The block of a coordinate; `None` past the dimension.
    #[must_use]
    pub fn block_of(&self, coordinate: usize) -> Option<usize> {
        (0..self.definition.blocks.len())
            .find(|&block| self.block_ranges(block).any(|range| range.contains(&coordinate)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::{AGENT, RUBRIC, TAU2};

    #[test]
    fn a_set_is_its_bits() {
        for bits in
            [0, 1, 0b1011, 1 << 31, 1 << 32, 1 << 127, u128::MAX, 0x0123_4567_89ab_cdef_0011_2233_4455_6677]
        {
            let set = BlockSet::from_bits(bits);
            assert_eq!(
                (set.bits(), set.len(), set.is_empty()),
                (bits, bits.count_ones() as usize, bits == 0)
            );
            assert!(set.iter().eq((0..128).filter(|block| bits >> block & 1 == 1)));
            let mut again = BlockSet::EMPTY;
            set.iter().for_each(|block| again.insert(block));
            assert_eq!(again, set);
            assert!(!set.contains(128) && !set.contains(usize::MAX));
        }
        assert_eq!(BlockSet::first(128), BlockSet::FULL);
        assert_eq!(BlockSet::first(0), BlockSet::EMPTY);
        assert_eq!(BlockSet::first(33).bits(), (1 << 33) - 1);
    }

    #[test]
    fn blocks_share_out_the_coordinates() {
        for catalog in [&AGENT, &TAU2, &RUBRIC] {
            let mut owners = vec![None; catalog.dimension()];
            for block in 0..catalog.definition().blocks.len() {
                let mut size = 0;
                for coordinate in catalog.block_ranges(block).flatten() {
                    assert_eq!(owners[coordinate].replace(block), None);
                    assert_eq!(catalog.block_of(coordinate), Some(block));
                    size += 1;
                }
                assert_eq!(catalog.dimension_of(BlockSet::from_bits(1 << block)), size);
            }
            assert!(owners.iter().all(Option::is_some));
            assert_eq!(catalog.block_of(catalog.dimension()), None);
            assert_eq!(catalog.block_ranges(catalog.definition().blocks.len()).count(), 0);
        }
    }
}
