//! Scratch memory: one per device or thread, not per user.
//!
//! ```
//! use fable_core::{Workspace, catalog::TAU2};
//! let on_stack = Workspace::<f32, [f32; TAU2.workspace_len()]>::VACANT;
//! let on_heap = Workspace::over(vec![0.0_f64; TAU2.workspace_len()]);
//! # let _ = (on_stack, on_heap);
//! ```

use crate::arrow::Arrow;
use crate::catalog::Catalog;
use crate::{Scalar, Storage};
use core::marker::PhantomData;

/// Scratch for deciding and learning; its content means nothing between calls.
#[derive(Clone, Debug)]
pub struct Workspace<T, W> {
    storage: W,
    scalar: PhantomData<T>,
}

impl<T: Scalar, const N: usize> Workspace<T, [T; N]> {
    /// All zero bits.
    pub const VACANT: Self = Self { storage: [T::ZERO; N], scalar: PhantomData };
}

impl<T: Scalar, W: Storage<T>> Workspace<T, W> {
    /// A workspace over given storage; [`Catalog::workspace_len`](crate::Catalog::workspace_len) numbers are enough.
    #[must_use]
    pub const fn over(storage: W) -> Self {
        Self { storage, scalar: PhantomData }
    }

    /// Numbers it holds.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.storage.as_ref().len()
    }

    /// The part for one leaf, the root and the information row.
    pub(crate) fn active(&mut self, arrow: Arrow) -> Option<&mut [T]> {
        self.storage.as_mut().get_mut(..arrow.active_len())
    }

    /// The active part, a number per value and a score per action.
    pub(crate) fn parts(&mut self, catalog: &Catalog<'_>) -> Option<(&mut [T], &mut [T], &mut [T])> {
        let (active, rest) = self.storage.as_mut().split_at_mut_checked(catalog.arrow().active_len())?;
        let (table, rest) = rest.split_at_mut_checked(catalog.value_count())?;
        Some((active, table, rest.get_mut(..catalog.actions())?))
    }
}
