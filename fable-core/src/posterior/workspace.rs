//! Scratch memory: one per device or thread, not per user.
//!
//! A workspace is one buffer. Each view names the regions of the buffer for one computation:
//!
//! | View | Regions from the start | Last region, one number per action |
//! |---|---|---|
//! | [`Scoring`] | `theta`, `table`, `scores` | `means` |
//! | [`DrawAndMean`], on hosts | `theta`, `table`, `scores`, `mu` | `means` |
//! | [`InverseRows`] | `rows`, `table` | `variances` |
//! | [`Uncertain`] | `scores`, where [`Scoring`] has them | `variances` |
//!
//! ```
//! use fable_core::{Workspace, catalog::TAU2};
//! // Another length does not compile.
//! static ON_DEVICE: Workspace<f32, [f32; TAU2.workspace_len()]> = Workspace::new(&TAU2);
//! let on_host = Workspace::from_storage(vec![0.0_f64; TAU2.workspace_len()]);
//! # let _ = (&ON_DEVICE, on_host);
//! ```

use crate::catalog::Catalog;
use crate::numbers::inverse::Entries;
use crate::numbers::{Number, Storage};
use core::marker::PhantomData;

/// Scratch for deciding and learning. Nothing in a workspace outlives a call.
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
    /// A workspace over given storage; [`Catalog::workspace_len`](crate::Catalog::workspace_len) numbers are
    /// enough.
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

/// A workspace of [`workspace_len`](Catalog::workspace_len) numbers while actions are scored for one theta.
pub(crate) struct Scoring<'w, T> {
    /// A draw or mu over the active part: one leaf, the root and the number that ends the back-solve.
    pub(crate) theta: &'w mut [T],
    /// One number per value: the part of a score that depends on one component alone.
    pub(crate) table: &'w mut [T],
    /// One score per action, for `theta`.
    pub(crate) scores: &'w mut [T],
    /// One score per action, for mu. Probes and the scores of decisions read them.
    pub(crate) means: &'w mut [T],
}

impl<'w, T> Scoring<'w, T> {
    /// The regions; `None` when the workspace is too small.
    pub(crate) fn of(workspace: &'w mut [T], catalog: &Catalog<'_>) -> Option<Self> {
        let (theta, rest) = workspace.split_at_mut_checked(catalog.layout().active_len())?;
        let (table, rest) = rest.split_at_mut_checked(catalog.value_count())?;
        let (scores, rest) = rest.split_at_mut_checked(catalog.actions())?;
        let means = last_region(rest, catalog).map(|(_, means)| means).unwrap_or_default();
        Some(Self { theta, table, scores, means })
    }
}

/// A workspace while actions are scored for a draw and for mu.
#[cfg(fable_host)]
pub(crate) struct DrawAndMean<'w, T> {
    /// A draw over the active part.
    pub(crate) theta: &'w mut [T],
    /// mu over the active part.
    pub(crate) mu: &'w mut [T],
    /// As in [`Scoring`], for the draw and for mu in turn.
    pub(crate) table: &'w mut [T],
    /// One score per action, for the draw.
    pub(crate) scores: &'w mut [T],
    /// One score per action, for mu.
    pub(crate) means: &'w mut [T],
}

#[cfg(fable_host)]
impl<'w, T> DrawAndMean<'w, T> {
    /// The regions; `None` when the workspace has no capacity for a second theta.
    pub(crate) fn of(workspace: &'w mut [T], catalog: &Catalog<'_>) -> Option<Self> {
        let (scratch, means) = last_region(workspace, catalog)?;
        let (theta, rest) = scratch.split_at_mut_checked(catalog.layout().active_len())?;
        let (table, rest) = rest.split_at_mut_checked(catalog.value_count())?;
        let (scores, rest) = rest.split_at_mut_checked(catalog.actions())?;
        Some(Self { theta, mu: rest.get_mut(..catalog.layout().active_len())?, table, scores, means })
    }
}

/// A workspace while variances are computed from rows of L^-1.
pub(crate) struct InverseRows<'w, T> {
    /// The entries of a few rows over the active part.
    pub(crate) rows: &'w mut [Entries<T>],
    /// Sums of entries: one per value, and one more per value of the last component.
    pub(crate) table: &'w mut [Entries<T>],
    /// One variance per action.
    pub(crate) variances: &'w mut [T],
}

impl<'w, T> InverseRows<'w, T> {
    /// The regions; `None` when the workspace is too small.
    pub(crate) fn of(workspace: &'w mut [T], catalog: &Catalog<'_>) -> Option<Self> {
        let (scratch, variances) = last_region(workspace, catalog)?;
        let (entries, _) = scratch.as_chunks_mut();
        let entries = entries.get_mut(..catalog.row_len())?;
        let (rows, table) = entries.split_at_mut_checked(catalog.layout().active_len() - 1)?;
        Some(Self { rows, table, variances })
    }
}

/// A workspace with a mean score and a variance per action: `scores` of [`Scoring`] and `variances` of
/// [`InverseRows`].
pub(crate) struct Uncertain<'w, T> {
    means: &'w mut [T],
    variances: &'w mut [T],
}

impl<'w, T: Number> Uncertain<'w, T> {
    /// The regions; `None` when the workspace is too small.
    pub(crate) fn of(workspace: &'w mut [T], catalog: &Catalog<'_>) -> Option<Self> {
        let (scratch, variances) = last_region(workspace, catalog)?;
        Some(Self { means: Scoring::of(scratch, catalog)?.scores, variances })
    }

    /// Adds `bonus` of its variance to each mean score. The result is `scores` of [`Scoring`].
    ///
    /// The mean scores move to `means` of [`Scoring`], which is the memory of the variances.
    pub(crate) fn into_scores(self, bonus: impl Fn(T) -> T) -> &'w [T] {
        let Self { means: scores, variances: means } = self;
        for (score, slot) in scores.iter_mut().zip(means) {
            let (mean, variance) = (*score, *slot);
            *score += bonus(variance);
            *slot = mean;
        }
        scores
    }
}

/// Splits off the last region of a workspace, one number per action; `None` when the workspace is too small.
fn last_region<'w, T>(workspace: &'w mut [T], catalog: &Catalog<'_>) -> Option<(&'w mut [T], &'w mut [T])> {
    let start = workspace.len().checked_sub(catalog.actions())?;
    workspace.split_at_mut_checked(start)
}
