//! The features phi(c, a): at most one nonzero coordinate per block.

use super::{Action, BlockSet, Catalog, Context, Placed, Values};

/// Position of a block in the definition, and the features (coordinate, value) of two actions in this block.
pub(crate) type BlockFeatures = (u8, Option<(usize, f32)>, Option<(usize, f32)>);

impl Catalog<'_> {
    /// The nonzero features phi(c, a) as (coordinate, value): at most one per block.
    ///
    /// ```
    /// use fable_core::{catalog::TAU2, Action, Context};
    /// let context = Context::new(&TAU2, None, &[])?;
    /// assert_eq!(TAU2.features(&context, Action(0)).count(), 6); // three mains, three pairs
    /// # Ok::<(), fable_core::catalog::ContextError>(())
    /// ```
    pub fn features(&self, context: &Context, action: Action) -> impl Iterator<Item = (usize, f32)> {
        self.features_of(None, context, action)
    }

    /// The nonzero features in the given blocks, or in all blocks.
    #[inline]
    pub(crate) fn features_of(
        &self,
        blocks: Option<BlockSet>,
        context: &Context,
        action: Action,
    ) -> impl Iterator<Item = (usize, f32)> {
        let values = self.values(action);
        self.placed_blocks(blocks).filter_map(move |block| self.feature(block, context, values.as_ref()?))
    }

    /// The nonzero entries of phi(c, a) - phi(c, a') in the given blocks, or in all blocks.
    #[inline]
    pub(crate) fn difference_of(
        &self,
        blocks: Option<BlockSet>,
        context: &Context,
        prefer: Action,
        over: Action,
    ) -> impl Iterator<Item = (usize, f32)> {
        let (plus, minus) = (self.values(prefer), self.values(over));
        let values = plus.iter().flatten().zip(minus.iter().flatten());
        let differing =
            values.zip(0..).fold(0_u8, |bits, ((plus, minus), bit)| bits | u8::from(plus != minus) << bit);
        // Only blocks with a differing component have different features.
        let blocks = move || self.placed_blocks(blocks).filter(move |block| block.mask & differing != 0);
        let minus = blocks().filter_map(move |block| self.feature(block, context, minus.as_ref()?));
        let plus = blocks().filter_map(move |block| self.feature(block, context, plus.as_ref()?));
        plus.chain(minus.map(|(coordinate, value)| (coordinate, -value)))
    }

    /// Position and both features of every block in which at least one of two actions has a feature.
    #[inline]
    pub(crate) fn block_features(
        &self,
        blocks: Option<BlockSet>,
        context: &Context,
        first: Action,
        second: Action,
    ) -> impl Iterator<Item = BlockFeatures> {
        let (first, second) = (self.values(first), self.values(second));
        self.placed_blocks(blocks).filter_map(move |block| {
            let feature = |values: &Option<Values>| self.feature(block, context, values.as_ref()?);
            let (first, second) = (feature(&first), feature(&second));
            (first.is_some() || second.is_some()).then_some((block.index, first, second))
        })
    }

    /// The given blocks, or all blocks.
    pub(super) fn placed_blocks(&self, blocks: Option<BlockSet>) -> impl Iterator<Item = &Placed> {
        let counts =
            move |block: &&Placed| blocks.is_none_or(|blocks| blocks.contains(usize::from(block.index)));
        self.single_blocks().iter().chain(self.product_blocks()).filter(counts)
    }

    /// The nonzero feature of a block, if there is one in this context.
    #[inline]
    fn feature(&self, block: &Placed, context: &Context, values: &[u8]) -> Option<(usize, f32)> {
        let inside = usize::from(block.offset) + self.position(block, values)?;
        let coordinate = if block.per_task {
            self.layout.leaf_coordinate(context.task()?, inside)?
        } else {
            self.layout.root_coordinate(inside)
        };
        let value = match block.signal {
            Some(signal) => context.signal(usize::from(signal))?,
            None => 1.0,
        };
        (value != 0.0).then_some((coordinate, value))
    }
}
