//! Solves over one leaf and the root: draws, the mean of the active part, and rows of L^-1.

use super::{Posterior, PosteriorError};
use crate::numbers::inverse::{Entries, ROWS, begin_row};
use crate::numbers::{Number, Stream};

impl<T: Number, S: AsRef<[T]>> Posterior<T, S> {
    /// A draw from N(mu, nu^2 Sigma) over one leaf and the root; mu without `normal`.
    ///
    /// The draw is L^-T (z + nu sqrt(E) n) for standard normals n. They are taken in storage order, leaf
    /// first. `active` gets the coordinates of the leaf and of the root. Without a leaf its coordinates have
    /// no meaning.
    pub(crate) fn draw(
        &self,
        active: &mut [T],
        task: Option<usize>,
        normal: Option<(T, Stream)>,
    ) -> Result<(), PosteriorError> {
        let leaf = self.layout.leaf_of(task);
        self.right_hand_side(active, leaf, normal)?;
        self.solve_root(active);
        if let Some(leaf) = leaf {
            self.solve_leaf(leaf, active);
        }
        Ok(())
    }

    /// A draw and mu, with the bits of two [draws](Self::draw), in one pass over the factor.
    #[cfg(fable_host)]
    pub(crate) fn draw_and_mean(
        &self,
        active: &mut [T],
        mean: &mut [T],
        task: Option<usize>,
        normal: (T, Stream),
    ) -> Result<(), PosteriorError> {
        let leaf = self.layout.leaf_of(task);
        self.right_hand_side(active, leaf, Some(normal))?;
        self.right_hand_side(mean, leaf, None)?;
        let [own, root] = self.layout.split(self.storage.as_ref(), leaf).ok_or(PosteriorError::NotStarted)?;
        let (leaf_len, root_len) = (self.layout.leaf(), self.layout.root());
        if let (Some(active), Some(mean)) = (active.get_mut(leaf_len..), mean.get_mut(leaf_len..)) {
            T::back_solve_both(root.columns, root_len, [active, mean]);
        }
        if leaf.is_some() {
            T::back_solve_both(own.columns, leaf_len, [active, mean]);
        }
        Ok(())
    }

    /// z + nu sqrt(E) n, or z: the right-hand side of the back-solve for a draw, or for mu.
    fn right_hand_side(
        &self,
        active: &mut [T],
        leaf: Option<usize>,
        normal: Option<(T, Stream)>,
    ) -> Result<(), PosteriorError> {
        active.fill(T::ZERO);
        let (last, coordinates) = active.split_last_mut().ok_or(PosteriorError::NotStarted)?;
        *last = -T::ONE;
        if let Some((nu, stream)) = normal {
            let segments =
                self.layout.split(self.storage.as_ref(), leaf).ok_or(PosteriorError::NotStarted)?;
            let mut drawn =
                coordinates.get_mut(self.layout.active_start(leaf)..).ok_or(PosteriorError::NotStarted)?;
            T::normals(stream, drawn);
            for segment in segments {
                let (part, rest) =
                    drawn.split_at_mut_checked(segment.inverse.len()).ok_or(PosteriorError::NotStarted)?;
                T::spread(nu, segment.inverse, part);
                drawn = rest;
            }
        }
        Ok(())
    }

    /// Visits the rows of L^-1 of one leaf and the root, [`ROWS`] at a time.
    ///
    /// `each` gets their entries, leaf first, the number of entries that are not always zero, and their E.
    /// `rows` has one entry per coordinate of the leaf and the root.
    pub(crate) fn inverse_rows(
        &self,
        task: Option<usize>,
        rows: &mut [Entries<T>],
        mut each: impl FnMut(&[Entries<T>], usize, &Entries<T>),
    ) -> Result<(), PosteriorError> {
        let leaf = self.layout.leaf_of(task);
        let [own, root] = self.layout.split(self.storage.as_ref(), leaf).ok_or(PosteriorError::NotStarted)?;
        let (leaf_len, root_len) = (self.layout.leaf(), self.layout.root());
        rows.fill([T::ZERO; ROWS]);
        for first in (self.layout.active_start(leaf)..leaf_len + root_len).step_by(ROWS) {
            let top = (first + ROWS).min(leaf_len + root_len);
            let x = rows.get_mut(..top).ok_or(PosteriorError::WorkspaceLength)?;
            x.fill([T::ZERO; ROWS]);
            for (row, entries) in x.iter_mut().skip(first).enumerate() {
                if let Some(entry) = entries.get_mut(row) {
                    *entry = T::ONE;
                }
            }
            // A single row begins after its own entry, which saves a product and a sum for each column.
            let unsolved = if ROWS == 1 { first } else { top };
            let x = x.get_mut(..unsolved).unwrap_or_default();
            if let Some(x) = x.get_mut(leaf_len..) {
                if ROWS == 1 {
                    begin_row(root.columns, root_len, first - leaf_len, x);
                }
                T::back_rows(root.columns, root_len, x.len(), x);
            }
            if leaf.is_some() {
                let unknown = unsolved.min(leaf_len);
                if ROWS == 1 {
                    begin_row(
                        own.columns,
                        leaf_len + root_len,
                        first,
                        x.get_mut(..unknown).unwrap_or_default(),
                    );
                }
                T::back_rows(own.columns, leaf_len + root_len, unknown, x);
            }
            let mut inverse = [T::ZERO; ROWS];
            let from = first - self.layout.active_start(leaf);
            for (slot, e) in inverse.iter_mut().zip(own.inverse.iter().chain(root.inverse).skip(from)) {
                *slot = *e;
            }
            each(rows, top, &inverse);
        }
        Ok(())
    }

    /// Back-solves the root part of an active vector.
    pub(super) fn solve_root(&self, active: &mut [T]) {
        let x = active.get_mut(usize::from(self.layout.leaf)..);
        if let (Some([_, root]), Some(x)) = (self.layout.split(self.storage.as_ref(), None), x) {
            T::back_solve(root.columns, usize::from(self.layout.root), x);
        }
    }

    /// Back-solves one leaf. The root part is solved before.
    pub(super) fn solve_leaf(&self, leaf: usize, active: &mut [T]) {
        if let Some([leaf, _]) = self.layout.split(self.storage.as_ref(), Some(leaf)) {
            T::back_solve(leaf.columns, usize::from(self.layout.leaf), active);
        }
    }
}
