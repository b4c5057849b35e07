//! Scratch memory: one per device or thread, not per user.
//!
//! ```
//! use fable_core::{Workspace, catalog::TAU2};
//! static ON_DEVICE: Workspace<f32, [f32; TAU2.workspace_len()]> = Workspace::new(&TAU2); // another length does not compile
//! let on_host = Workspace::from_storage(vec![0.0_f64; TAU2.workspace_len()]);
//! # let _ = (&ON_DEVICE, on_host);
//! ```

use crate::catalog::Catalog;
use crate::numbers::inverse::Entries;
use crate::numbers::{Number, Storage};
use core::marker::PhantomData;

/// Scratch for deciding and learning; its content means nothing between calls.
#[derive(Clone, Debug)]
pub struct Workspace<T, W> {
    storage: W,
    scalar: PhantomData<T>,
}

impl<T: Number, const N: usize> Workspace<T, [T; N]> {
    /// All zero bits, of the length that a catalog needs. For constants: a wrong length does not compile.
    ///
    /// # Panics
    /// When it is evaluated at run time with a wrong length.
    #[must_use]
    pub const fn new(catalog: &Catalog<'_>) -> Self {
        assert!(N == catalog.workspace_len(), "a workspace of this catalog has `workspace_len()` numbers");
        Self { storage: [T::ZERO; N], scalar: PhantomData }
    }
}

impl<T, W: Storage<T>> Workspace<T, W> {
    /// A workspace over given storage; [`Catalog::workspace_len`](crate::Catalog::workspace_len) numbers are enough.
    #[must_use]
    pub const fn from_storage(storage: W) -> Self {
        Self { storage, scalar: PhantomData }
    }
}

impl<T, W: Storage<T>> AsMut<[T]> for Workspace<T, W> {
    fn as_mut(&mut self) -> &mut [T] {
        self.storage.as_mut()
    }
}

/// Scratch for [`parts`] or [`rows`], and a variance per action; `None` when the workspace is too small.
pub(crate) fn with_variances<'w, T>(
    workspace: &'w mut [T],
    catalog: &Catalog<'_>,
) -> Option<(&'w mut [T], &'w mut [T])> {
    workspace
        .get_mut(..catalog.workspace_len())?
        .split_at_mut_checked(catalog.workspace_len() - catalog.actions())
}

/// Some rows of a factor's inverse, and their sums per value.
type Rows<'w, T> = (&'w mut [Entries<T>], &'w mut [Entries<T>]);

/// The rows of a scratch; `None` when it is too small.
pub(crate) fn rows<'w, T>(scratch: &'w mut [T], catalog: &Catalog<'_>) -> Option<Rows<'w, T>> {
    let (rows, _) = scratch.as_chunks_mut();
    rows.get_mut(..catalog.row_len())?.split_at_mut_checked(catalog.layout().active_len() - 1)
}

/// The active part of a workspace, a number per value and a score per action; `None` when it is too small.
pub(crate) fn parts<'w, T>(
    workspace: &'w mut [T],
    catalog: &Catalog<'_>,
) -> Option<(&'w mut [T], &'w mut [T], &'w mut [T])> {
    let (active, rest) = workspace.split_at_mut_checked(catalog.layout().active_len())?;
    let (table, rest) = rest.split_at_mut_checked(catalog.value_count())?;
    Some((active, table, rest.get_mut(..catalog.actions())?))
}
