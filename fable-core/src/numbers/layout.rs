//! The shape of the posterior: one leaf per task in front of a shared root.
//!
//! Coordinates of different tasks never occur in one observation. In this order no fill-in ever appears
//! between two leaves: precision matrix and factor keep the shape of an arrow, exactly.
//!
//! ```text
//!   leaf 0  [ x               ]        packed storage, d = leaves * leaf + root
//!   leaf 1  [    x            ]          E        d numbers, 1/D, leaves first
//!   leaf 2  [       x         ]          leaf k   its columns: rest of the leaf, root, information row
//!   root    [ x  x  x  x      ]          root     its columns: rest of the root, information row
//!   info    [ -  -  -  -      ]
//! ```
//!
//! Deciding and learning touch the *active* part: one leaf, the root and the information row. In `agent` the
//! active part has 10,585 of the 32,131 off-diagonal entries of a dense factor. Its packed factor takes
//! 104,636 bytes in `f32` instead of 130,556.
//!
//! ```
//! use fable_core::catalog::AGENT;
//! let layout = AGENT.layout();
//! assert_eq!((layout.leaves(), layout.leaf(), layout.root()), (10, 12, 134));
//! assert_eq!(layout.packed_len() * 4, 104_636);
//! ```

use core::ops::Range;

/// Most tasks a catalog can have.
pub const MAX_TASKS: usize = 64;
/// Largest dimension of a dictionary.
pub const MAX_DIMENSION: usize = 8192;

/// The three numbers that fix the layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Layout {
    pub(crate) leaves: u16,
    pub(crate) leaf: u16,
    pub(crate) root: u16,
}

impl Layout {
    /// The shape of a posterior that was not started.
    pub(crate) const EMPTY: Self = Self { leaves: 0, leaf: 0, root: 0 };

    /// A shape; `None` for more than 64 leaves or more than 8,192 coordinates.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "checked")]
    pub const fn new(leaves: usize, leaf: usize, root: usize) -> Option<Self> {
        if leaves > MAX_TASKS
            || leaf > MAX_DIMENSION
            || root > MAX_DIMENSION
            || leaves * leaf + root > MAX_DIMENSION
        {
            return None;
        }
        Some(Self { leaves: leaves as u16, leaf: leaf as u16, root: root as u16 })
    }

    /// Number of leaves, one per task, or 0.
    #[must_use]
    pub const fn leaves(&self) -> usize {
        self.leaves as usize
    }

    /// Coordinates in a leaf.
    #[must_use]
    pub const fn leaf(&self) -> usize {
        self.leaf as usize
    }

    /// Coordinates in the root.
    #[must_use]
    pub const fn root(&self) -> usize {
        self.root as usize
    }

    /// Number of coordinates d.
    #[must_use]
    pub const fn dimension(&self) -> usize {
        self.leaves as usize * self.leaf as usize + self.root as usize
    }

    /// Numbers in the packed factor.
    #[must_use]
    pub const fn packed_len(&self) -> usize {
        self.dimension() + self.leaves as usize * self.leaf_columns() + self.root_columns()
    }

    /// One leaf, the root and the information row.
    #[must_use]
    pub const fn active_len(&self) -> usize {
        self.leaf as usize + self.root as usize + 1
    }

    /// Start of the active part: without a task the leaf is skipped.
    pub(crate) const fn active_start(&self, leaf: Option<usize>) -> usize {
        if leaf.is_some() { 0 } else { self.leaf as usize }
    }

    /// Numbers in the columns of one leaf: `leaf + root`, one less for each further column.
    pub(crate) const fn leaf_columns(&self) -> usize {
        let (leaf, root) = (self.leaf as usize, self.root as usize);
        leaf * (leaf + root) - leaf * leaf.saturating_sub(1) / 2
    }

    /// Numbers in the columns of the root: `root`, `root - 1`, ..., 1.
    pub(crate) const fn root_columns(&self) -> usize {
        let root = self.root as usize;
        root * (root + 1) / 2
    }

    /// The coordinate at an index inside the leaf of `task`.
    #[must_use]
    pub const fn leaf_coordinate(&self, task: usize, inside: usize) -> Option<usize> {
        if task < self.leaves as usize && inside < self.leaf as usize {
            Some(task * self.leaf as usize + inside)
        } else {
            None
        }
    }

    /// The coordinate at an index inside the root.
    pub(crate) const fn root_coordinate(&self, inside: usize) -> usize {
        self.leaves as usize * self.leaf as usize + inside
    }

    /// Index of the last number of each column in the packed factor: the entries of the information row.
    pub(crate) fn column_ends(self) -> impl Iterator<Item = usize> {
        let mut end = self.dimension();
        (0..self.dimension()).map(move |coordinate| {
            end += match self.locate(coordinate) {
                Some((Some(_), inside)) => self.leaf() + self.root() - inside,
                Some((None, inside)) => self.root() - inside,
                None => 0,
            };
            end.saturating_sub(1)
        })
    }

    /// The task of a coordinate, if it is in a leaf, and its index inside the leaf or the root; `None` past
    /// the dimension.
    #[must_use]
    pub const fn locate(&self, coordinate: usize) -> Option<(Option<usize>, usize)> {
        let start = self.root_coordinate(0);
        if coordinate < start {
            match (coordinate.checked_div(self.leaf as usize), coordinate.checked_rem(self.leaf as usize)) {
                (Some(task), Some(inside)) => Some((Some(task), inside)),
                _ => None,
            }
        } else if coordinate < self.dimension() {
            Some((None, coordinate - start))
        } else {
            None
        }
    }

    /// The leaf of a task; `None` without a task or if the catalog's tasks have no leaves.
    #[must_use]
    pub(crate) const fn leaf_of(&self, task: Option<usize>) -> Option<usize> {
        match task {
            Some(task) if task < self.leaves as usize => Some(task),
            _ => None,
        }
    }
}

/// A range of columns: their 1/D and their packed entries. Without a task the range of the leaf is empty.
#[derive(Debug)]
pub(crate) struct Segment<S> {
    pub(crate) inverse: S,
    pub(crate) columns: S,
}

impl Layout {
    /// Ranges of a leaf and of the root: leaf E, root E, leaf columns, root columns.
    const fn ranges(&self, leaf: Option<usize>) -> [Range<usize>; 4] {
        let (root, columns) = (self.root_coordinate(0), self.dimension());
        let root_columns = columns + self.leaves as usize * self.leaf_columns();
        let (leaf_inverse, leaf_columns) = match leaf {
            Some(leaf) => {
                let (inverse, start) = (leaf * self.leaf as usize, columns + leaf * self.leaf_columns());
                (inverse..inverse + self.leaf as usize, start..start + self.leaf_columns())
            }
            None => (0..0, columns..columns),
        };
        [leaf_inverse, root..columns, leaf_columns, root_columns..root_columns + self.root_columns()]
    }

    /// The leaf of a task and the root, mutable; `None` when the storage is too short.
    pub(crate) fn split_mut<'s, T>(
        &self,
        packed: &'s mut [T],
        leaf: Option<usize>,
    ) -> Option<[Segment<&'s mut [T]>; 2]> {
        let [leaf_inverse, root_inverse, leaf_columns, root_columns] =
            packed.get_disjoint_mut(self.ranges(leaf)).ok()?;
        Some([
            Segment { inverse: leaf_inverse, columns: leaf_columns },
            Segment { inverse: root_inverse, columns: root_columns },
        ])
    }

    /// The leaf of a task and the root.
    pub(crate) fn split<'s, T>(&self, packed: &'s [T], leaf: Option<usize>) -> Option<[Segment<&'s [T]>; 2]> {
        let [leaf_inverse, root_inverse, leaf_columns, root_columns] =
            self.ranges(leaf).map(|range| packed.get(range));
        Some([
            Segment { inverse: leaf_inverse?, columns: leaf_columns? },
            Segment { inverse: root_inverse?, columns: root_columns? },
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::{AGENT, TAU2};

    #[test]
    fn lengths_of_the_shipped_catalogs() {
        let agent = AGENT.layout();
        let off_diagonal = agent.leaf_columns() + agent.root_columns() - usize::from(agent.leaf + agent.root);
        assert_eq!((agent.dimension(), agent.packed_len(), off_diagonal), (254, 26_159, 10_585));
        let tau2 = TAU2.layout();
        assert_eq!((tau2.dimension(), tau2.packed_len(), tau2.leaves), (29, 464, 0));
    }

    #[test]
    fn locating_a_coordinate_inverts_placing_it() {
        let layout = Layout::new(3, 4, 5).unwrap();
        for coordinate in 0..layout.dimension() {
            let again = match layout.locate(coordinate) {
                Some((Some(task), inside)) => layout.leaf_coordinate(task, inside),
                Some((None, inside)) => Some(layout.root_coordinate(inside)),
                None => None,
            };
            assert_eq!(again, Some(coordinate));
        }
        assert_eq!(layout.locate(17), None);
        assert_eq!(Layout::new(65, 1, 1), None);
        assert_eq!(Layout::new(64, 128, 1), None);
        assert_eq!(Layout::new(usize::MAX, usize::MAX, usize::MAX), None);
        assert_eq!(layout.leaf_coordinate(3, 0), None);
    }
}
