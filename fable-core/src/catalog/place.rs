//! Placing the blocks of a dictionary in the coordinates of the posterior.
//!
//! A block has a range of coordinates in each task (`per_task`) or among the shared coordinates. Inside the
//! range an action has the mixed-radix index of its values. A left-out null value has no index.

use super::{Block, Catalog, CatalogError, Definition, Placed};
use crate::numbers::{Layout, MAX_DIMENSION};

impl Catalog<'_> {
    /// Assigns coordinates to every block. Blocks of one component are listed first, in the order of scoring.
    #[expect(clippy::cast_possible_truncation, reason = "at most 8192 coordinates and 64 tasks")]
    pub(super) const fn place(&mut self) -> Result<(), CatalogError> {
        let mut products = false;
        let mut slots: &mut [Placed] = &mut self.placed;
        let (mut listed, mut singles) = (0u8, 0u8);
        let (mut leaf, mut root);
        loop {
            leaf = 0usize;
            root = 0usize;
            let mut index = 0u8;
            let mut blocks = self.definition.blocks;
            while let [block, rest @ ..] = blocks {
                let mask = block.mask(self.definition.components.len());
                let size = block_size(&self.definition, *block);
                let region = if block.per_task { &mut leaf } else { &mut root };
                let offset = *region;
                *region += size;
                if *region > MAX_DIMENSION {
                    return Err(CatalogError::DimensionTooLarge);
                }
                if (mask.count_ones() > 1) == products {
                    let [slot, others @ ..] = slots else { return Err(CatalogError::BlockCount) };
                    *slot = Placed {
                        index,
                        mask: mask as u8,
                        offset: offset as u16,
                        size: size as u16,
                        per_task: block.per_task,
                        without_null: block.without_null,
                        signal: block.signal,
                    };
                    slots = others;
                    listed += 1;
                }
                index += 1;
                blocks = rest;
            }
            if products {
                break;
            }
            singles = listed;
            products = true;
        }
        let leaves = if leaf == 0 { 0 } else { self.definition.tasks.len() };
        self.blocks = listed;
        self.singles = singles;
        match Layout::new(leaves, leaf, root) {
            Some(layout) => {
                self.layout = layout;
                Ok(())
            }
            None => Err(CatalogError::DimensionTooLarge),
        }
    }

    /// The blocks of one component.
    pub(crate) fn single_blocks(&self) -> &[Placed] {
        self.placed.get(..usize::from(self.singles)).unwrap_or(&[])
    }

    /// The blocks of two or more components.
    pub(crate) fn product_blocks(&self) -> &[Placed] {
        self.placed.get(usize::from(self.singles)..usize::from(self.blocks)).unwrap_or(&[])
    }

    /// Position of a value among the values that have a coordinate; `None` for a left-out null value.
    pub(crate) fn digit(&self, block: &Placed, component: usize, value: u8) -> Option<usize> {
        let null = match self.definition.components.get(component)?.null {
            Some(null) if block.without_null => null,
            _ => return Some(usize::from(value)),
        };
        (value != null).then(|| usize::from(value) - usize::from(value > null))
    }

    /// Number of coordinates along a component of a block.
    pub(crate) fn radix(&self, block: &Placed, component: usize) -> usize {
        self.definition.components.get(component).map_or(0, |component| {
            component.values.len() - usize::from(block.without_null && component.null.is_some())
        })
    }

    /// Index in the block of the coordinate of an action with these values.
    pub(crate) fn position(&self, block: &Placed, values: &[u8]) -> Option<usize> {
        let mut position = 0;
        for (component, &value) in values.iter().enumerate().filter(|(component, _)| block.has(*component)) {
            position = position * self.radix(block, component) + self.digit(block, component, value)?;
        }
        Some(position)
    }
}

/// Coordinates in one copy of a block.
const fn block_size(definition: &Definition<'_>, block: Block) -> usize {
    let mask = block.mask(definition.components.len());
    let mut size = 1;
    let mut index = 0;
    let mut components = definition.components;
    while let [component, rest @ ..] = components {
        if mask >> index & 1 == 1 {
            let left_out = if block.without_null && component.null.is_some() { 1 } else { 0 };
            size *= component.values.len() - left_out;
        }
        index += 1;
        components = rest;
    }
    size
}
