//! The dictionary of features: a list of blocks, each a product of components, the task and a signal
//! (Appendix E).
//!
//! For a given context and action at most one coordinate of a block is nonzero: 1, or a signal. So a score
//! takes a few table entries per action, and an update has a sparse direction.

/// One block of the dictionary.
///
/// ```
/// use fable_core::catalog::Block;
/// const STYLE: u8 = 2;
/// const RISK: u8 = 0;
/// let main = Block::main(STYLE); // style=...
/// let per_task = Block::main(STYLE).per_task(); // task=...*style=...
/// let scaled = Block::main(STYLE).scaled_by(RISK); // risk*style=...
/// assert!(main.has(STYLE) && !main.has(1) && Block::complete().has(1));
/// assert!(per_task.is_per_task() && !main.is_per_task());
/// assert_eq!((scaled.signal(), main.signal()), (Some(RISK), None));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Block {
    /// Bit c is set if component c is a factor; [`Block::COMPLETE`] means all components.
    pub(crate) components: u16,
    pub(crate) per_task: bool,
    pub(crate) signal: Option<u8>,
    pub(crate) without_null: bool,
}

impl Block {
    const COMPLETE: u16 = u16::MAX;

    const fn of(components: u16) -> Self {
        Self { components, per_task: false, signal: None, without_null: false }
    }

    /// One coordinate per value of a component.
    #[must_use]
    pub const fn main(component: u8) -> Self {
        Self::of(bit(component))
    }

    /// One coordinate per pair of values of two components.
    #[must_use]
    pub const fn pair(first: u8, second: u8) -> Self {
        Self::of(if first == second { 0 } else { bit(first) | bit(second) })
    }

    /// One coordinate per combination of values of these components.
    #[must_use]
    pub const fn product(mut components: &[u8]) -> Self {
        let mut bits = 0;
        while let [first, rest @ ..] = components {
            bits |= bit(*first);
            components = rest;
        }
        Self::of(bits)
    }

    /// One coordinate per complete action: the flat model.
    #[must_use]
    pub const fn complete() -> Self {
        Self::of(Self::COMPLETE)
    }

    /// Sets a copy of the block for each task.
    #[must_use]
    pub const fn per_task(mut self) -> Self {
        self.per_task = true;
        self
    }

    /// The nonzero entry of the block is the signal instead of 1.
    #[must_use]
    pub const fn scaled_by(mut self, signal: u8) -> Self {
        self.signal = Some(signal);
        self
    }

    /// No coordinate for null values. Actions with a null value have no feature in this block.
    #[must_use]
    pub const fn without_null(mut self) -> Self {
        self.without_null = true;
        self
    }

    /// True if the component at a position is a factor.
    #[must_use]
    pub const fn has(self, component: u8) -> bool {
        self.is_complete() || self.components & bit(component) != 0
    }

    /// True if the block is [`complete`](Self::complete).
    #[must_use]
    pub const fn is_complete(self) -> bool {
        self.components == Self::COMPLETE
    }

    /// True if each task has a copy.
    #[must_use]
    pub const fn is_per_task(self) -> bool {
        self.per_task
    }

    /// Position of the signal that scales the block.
    #[must_use]
    pub const fn signal(self) -> Option<u8> {
        self.signal
    }

    /// True if null values have no coordinate.
    #[must_use]
    pub const fn is_without_null(self) -> bool {
        self.without_null
    }

    /// The factors as bits; for `complete`, the bits of all components.
    pub(crate) const fn mask(self, components: usize) -> u16 {
        if self.components == Self::COMPLETE { (1 << components) - 1 } else { self.components }
    }
}

/// Bit of a component. Positions that no catalog has share the top bit, which [`super::Catalog::try_new`]
/// refuses.
const fn bit(component: u8) -> u16 {
    if component < 14 { 1 << component } else { 1 << 14 }
}

/// A block with its coordinates: their start inside a leaf or inside the root.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Placed {
    /// Position in the definition.
    pub(crate) index: u8,
    /// Bits of the factor components.
    pub(crate) mask: u8,
    /// First coordinate, counted from the start of the leaf (`per_task`) or of the root.
    pub(crate) offset: u16,
    /// Coordinates in one copy.
    pub(crate) size: u16,
    pub(crate) per_task: bool,
    pub(crate) without_null: bool,
    pub(crate) signal: Option<u8>,
}

impl Placed {
    pub(crate) const NONE: Self =
        Self { index: 0, mask: 0, offset: 0, size: 0, per_task: false, without_null: false, signal: None };

    /// True if the component is a factor of the block.
    pub(crate) const fn has(&self, component: usize) -> bool {
        component < 8 && self.mask >> component & 1 == 1
    }
}
