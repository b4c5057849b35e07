//! A factor for another set of coordinates. Common coordinates keep their distribution, and removed ones are
//! integrated out.
//!
//! **Added** coordinates are uncorrelated with the others: L gets rows and columns of zeros, and no other
//! number changes.
//!
//! **Removed** coordinates are marginalised out. The first coordinate in the order of elimination is dropped
//! with its column, and exchanges of neighbours bring a coordinate there. Let l be the entry between two
//! neighbours with e1 and e2 of E = 1/D, and a and b their entries in a row below, the information row
//! included. In the other order
//!
//! s = e1 + l^2 e2;  l' = l e2 / s;  e1' = e1 e2 / s;  e2' = s;  a' = l' a + (e1 / s) b;  b' = a - l b.
//!
//! Positive numbers are never subtracted from each other, so pivots stay positive. With l = 0 the two columns
//! exchange bit for bit, so an added coordinate without observations is removed without a trace.
//!
//! **A removed coordinate of the root** would tie the leaves to each other. Instead each leaf is freed of it
//! alone: a copy of its column moves through the columns of the leaf. Every marginal of one leaf and the root
//! is exact then, and means and variances are only computed in those. The dependence of leaves on each other
//! is lost ([`Carried::tied`]).
//!
//! All steps change the old numbers, which are then copied to the new ones. With n the length of a leaf and
//! the root, moving a coordinate takes at most n exchanges of n multiply-adds each.

use crate::numbers::{Layout, Number, Segment};

/// Places of common coordinates in the old shape and in the new one. A place is an index in a leaf or in the
/// root.
pub(crate) trait Places {
    /// The new place of an old place.
    fn new_place(&self, per_task: bool, old: usize) -> Option<usize>;
    /// The old place of a new place.
    fn old_place(&self, per_task: bool, new: usize) -> Option<usize>;
    /// The old leaf of a new leaf.
    fn old_leaf(&self, new: usize) -> Option<usize>;
}

/// The result of carrying a factor over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Carried {
    /// Number of common coordinates.
    pub(crate) kept: usize,
    /// A coordinate of the root was removed that two leaves depend on.
    pub(crate) tied: bool,
}

/// Columns of the factor that can change their order: of one leaf, or of the root.
struct Columns<'s, T> {
    inverse: &'s mut [T],
    packed: &'s mut [T],
    /// Numbers in the first column.
    len: usize,
}

impl<'s, T: Number> Columns<'s, T> {
    fn new(Segment { inverse, columns }: Segment<&'s mut [T]>, len: usize) -> Self {
        Self { inverse, packed: columns, len }
    }

    /// The start of a column, which has `len - column` numbers.
    const fn start(&self, column: usize) -> usize {
        column * self.len - column * column.saturating_sub(1) / 2
    }

    fn column(&mut self, column: usize) -> Option<&mut [T]> {
        let start = self.start(column);
        self.packed.get_mut(start..start + self.len.checked_sub(column)?)
    }

    /// Moves a coordinate to an earlier place, and the coordinates between by one. Columns before `first` are
    /// not needed any more.
    #[inline(never)]
    fn bring(&mut self, first: usize, from: usize, to: usize) {
        for place in (to..from).rev() {
            for column in first..place {
                if let Some([a, b, ..]) =
                    self.column(column).and_then(|column_| column_.get_mut(place - column - 1..))
                {
                    core::mem::swap(a, b);
                }
            }
            self.exchange(place);
        }
    }

    /// Exchanges a coordinate with the next one.
    fn exchange(&mut self, place: usize) {
        let (start, rest) = (self.start(place), self.len.saturating_sub(place + 1));
        let Some([e1, e2, ..]) = self.inverse.get_mut(place..) else { return };
        let Some((first, second)) =
            self.packed.get_mut(start..).and_then(|columns| columns.split_at_mut_checked(rest + 1))
        else {
            return;
        };
        let ([l, first @ ..], Some(second)) = (first, second.get_mut(..rest)) else { return };
        if *l == T::ZERO {
            core::mem::swap(e1, e2);
            exchange(first, second);
            return;
        }
        let turn = Turn::new(*l, e1, e2);
        core::mem::swap(e1, e2);
        *l = turn.tilted;
        turn.rows(first, second);
        exchange(first, second);
    }
}

/// Exchanges the entries of two columns.
fn exchange<T>(first: &mut [T], second: &mut [T]) {
    first.iter_mut().zip(second).for_each(|(first, second)| core::mem::swap(first, second));
}

/// The exchange of a coordinate with the one before it.
#[derive(Clone, Copy)]
struct Turn<T> {
    l: T,
    /// l'
    tilted: T,
    /// e1 / s
    share: T,
}

impl<T: Number> Turn<T> {
    /// Updates the pivots: `before` becomes s, of the coordinate that is second now, and `passing` becomes
    /// e1', of the first.
    fn new(l: T, before: &mut T, passing: &mut T) -> Self {
        let tilt = l * *passing;
        let sum = *before + l * tilt;
        let turn = Self { l, tilted: tilt / sum, share: *before / sum };
        (*before, *passing) = (sum, turn.share * *passing);
        turn
    }

    /// Updates the entries in the rows below to b' and a'.
    #[inline(never)]
    fn rows(self, before: &mut [T], passing: &mut [T]) {
        for (before, passing) in before.iter_mut().zip(passing) {
            let (a, b) = (*before, *passing);
            *before = a - self.l * b;
            *passing = self.tilted * a + self.share * b;
        }
    }
}

/// An old factor and the shape of a new one.
pub(crate) struct Carry<'m, T, P> {
    pub(crate) old: Layout,
    pub(crate) new: Layout,
    pub(crate) places: &'m P,
    /// The old factor. Its numbers are overwritten.
    pub(crate) packed: &'m mut [T],
    /// Scratch for the old active part.
    pub(crate) scratch: &'m mut [T],
}

impl<T: Number, P: Places> Carry<'_, T, P> {
    /// Carries the common coordinates over. `fresh` gives E and mean of a new coordinate. `out` has the
    /// length of the new factor. `None` only for memory that is too short.
    pub(crate) fn carry(
        mut self,
        out: &mut [T],
        mut fresh: impl FnMut(usize, &mut [T]) -> (T, T),
    ) -> Option<Carried> {
        let gone_leaf = self.clear_leaves()?;
        let (gone_root, tied) = self.clear_root(gone_leaf)?;
        let kept = self.copy(out, gone_leaf, gone_root)?;
        // Every pivot is positive: without a pivot the coordinate is new.
        for (coordinate, end) in self.new.column_ends().enumerate() {
            if *out.get(coordinate)? == T::ZERO {
                let (inverse, mean) = fresh(coordinate, self.scratch);
                *out.get_mut(coordinate)? = inverse;
                *out.get_mut(end)? = mean;
            }
        }
        Some(Carried { kept, tied })
    }

    /// The old leaf of a new leaf, if leaves have coordinates.
    fn leaf(&self, new: usize) -> Option<usize> {
        self.places.old_leaf(new).filter(|leaf| *leaf < self.old.leaves())
    }

    /// A leaf and the root of the old factor.
    fn parts(&mut self, leaf: Option<usize>) -> Option<[Columns<'_, T>; 2]> {
        parts(self.old, self.packed, leaf)
    }

    /// Orders every leaf that stays: removed coordinates first, then the others in their new order. The
    /// result is the number of removed ones per leaf.
    #[inline(never)]
    fn clear_leaves(&mut self) -> Option<usize> {
        let mut gone = 0;
        for new in 0..self.new.leaves() {
            let Some(leaf) = self.leaf(new) else { continue };
            let (places, length) = (self.places, self.new.leaf());
            let [mut columns, _] = self.parts(Some(leaf))?;
            gone = 0;
            for place in (0..columns.inverse.len()).filter(|place| places.new_place(true, *place).is_none()) {
                columns.bring(gone, place, gone);
                gone += 1;
            }
            in_order(places, true, length, gone, |from, to| columns.bring(gone, from, to));
        }
        Some(gone)
    }

    /// Orders the root in the same way, after the leaves are freed of its removed coordinates.
    #[inline(never)]
    fn clear_root(&mut self, gone_leaf: usize) -> Option<(usize, bool)> {
        let (mut gone, mut tied) = (0, false);
        for place in 0..self.old.root() {
            if self.places.new_place(false, place).is_some() {
                continue;
            }
            self.bring_root(gone, place, gone);
            let mut dependent = 0;
            for new in 0..self.new.leaves() {
                if let Some(leaf) = self.leaf(new) {
                    dependent += usize::from(self.free(leaf, gone_leaf, gone)?);
                }
            }
            tied |= dependent > 1;
            gone += 1;
        }
        let (places, length) = (self.places, self.new.root());
        in_order(places, false, length, gone, |from, to| self.bring_root(gone, from, to));
        Some((gone, tied))
    }

    /// Moves a coordinate of the root to an earlier place, also in the rows of the leaves.
    fn bring_root(&mut self, first: usize, from: usize, to: usize) {
        if let Some([_, mut root]) = self.parts(None) {
            root.bring(first, from, to);
        }
        for new in 0..self.new.leaves() {
            let Some(leaf) = self.leaf(new) else { continue };
            let Some([mut columns, _]) = self.parts(Some(leaf)) else { continue };
            let length = columns.inverse.len();
            for place in 0..length {
                let skip = length - 1 - place;
                if let Some(rows) =
                    columns.column(place).and_then(|column| column.get_mut(skip + to..=skip + from))
                {
                    // The last entry becomes the first.
                    let mut carried = rows.last().copied().unwrap_or(T::ZERO);
                    for row in rows {
                        core::mem::swap(row, &mut carried);
                    }
                }
            }
        }
    }

    /// Frees a leaf of a coordinate of the root: a copy of its column moves to the front of the leaf and is
    /// dropped there. True if the leaf depended on it.
    #[inline(never)]
    fn free(&mut self, leaf: usize, gone_leaf: usize, coordinate: usize) -> Option<bool> {
        let [mut columns, mut root] = parts(self.old, self.packed, Some(leaf))?;
        let length = columns.inverse.len();
        // The copy has entries for the coordinates of the leaf that it has passed, then for those of the root
        // after its own.
        let (passed, after) = self.scratch.split_at_mut_checked(length)?;
        let mut inverse = *root.inverse.get(coordinate)?;
        let own = root.column(coordinate)?;
        let after = after.get_mut(..own.len())?;
        after.iter_mut().zip(own).for_each(|(slot, entry)| *slot = *entry);
        passed.fill(T::ZERO);
        let mut depended = false;
        for place in (gone_leaf..length).rev() {
            let mut before = *columns.inverse.get(place)?;
            let (near, far) = columns.column(place)?.split_at_mut_checked(length - 1 - place)?;
            let (l, far) = far.get_mut(coordinate..)?.split_first_mut()?;
            if *l == T::ZERO {
                continue;
            }
            depended = true;
            let l = core::mem::replace(l, T::ZERO);
            let (tilted, passed) = passed.get_mut(place..)?.split_first_mut()?;
            let turn = Turn::new(l, &mut before, &mut inverse);
            turn.rows(near, passed);
            turn.rows(far, after);
            *tilted = turn.tilted;
            *columns.inverse.get_mut(place)? = before;
        }
        Some(depended)
    }

    /// Writes the common coordinates into the new factor, which is zero elsewhere. The result is their
    /// number.
    #[inline(never)]
    fn copy(&mut self, out: &mut [T], gone_leaf: usize, gone_root: usize) -> Option<usize> {
        let old = self.old;
        let new = self.new;
        let places = self.places;
        out.fill(T::ZERO);
        let (inverse, mut columns) =
            out.get_mut(..new.packed_len())?.split_at_mut_checked(new.dimension())?;
        let (leaves, root) = inverse.split_at_mut_checked(new.root_coordinate(0))?;
        let mut kept = 0;
        let [_, old_root] = old.split(self.packed, None)?;
        kept += pivots(places, false, root, old_root.inverse.get(gone_root..)?);
        for (index, leaf) in leaves.chunks_mut(new.leaf().max(1)).enumerate() {
            let (own, rest) = columns.split_at_mut_checked(new.leaf_columns())?;
            columns = rest;
            let Some(task) = self.leaf(index) else { continue };
            let [old_leaf, _] = old.split(self.packed, Some(task))?;
            kept += pivots(places, true, leaf, old_leaf.inverse.get(gone_leaf..)?);
            let shape = [old.leaf() + old.root(), old.leaf(), gone_leaf, gone_root];
            entries([leaf, root], own, old_leaf.columns, shape)?;
        }
        entries([root, &mut []], columns, old_root.columns, [old.root(), old.root(), gone_root, 0])?;
        Some(kept)
    }
}

/// A leaf and the root of a factor.
fn parts<T: Number>(layout: Layout, packed: &mut [T], leaf: Option<usize>) -> Option<[Columns<'_, T>; 2]> {
    let (both, root) = (layout.leaf() + layout.root(), layout.root());
    let [own, shared] = layout.split_mut(packed, leaf)?;
    Some([Columns::new(own, both), Columns::new(shared, root)])
}

/// Puts the kept coordinates of a leaf or of the root into their new order, after the `gone` others. `bring`
/// moves a coordinate to an earlier place.
fn in_order(
    places: &impl Places,
    per_task: bool,
    length: usize,
    gone: usize,
    mut bring: impl FnMut(usize, usize),
) {
    let kept = || (0..length).filter_map(|new| Some((new, places.old_place(per_task, new)?)));
    if kept().is_sorted_by_key(|(_, place)| place) {
        return;
    }
    for (done, (new, place)) in kept().enumerate() {
        // The coordinates that were before it and come after it now.
        let later = |other: &usize| places.new_place(per_task, *other).is_some_and(|other| other > new);
        let before = (0..place).filter(later).count();
        bring(gone + done + before, gone + done);
    }
}

/// Copies the pivots of the kept coordinates, which are in order.
fn pivots<T: Number>(places: &impl Places, per_task: bool, new: &mut [T], old: &[T]) -> usize {
    let mut old = old.iter();
    for (place, slot) in new.iter_mut().enumerate() {
        if places.old_place(per_task, place).is_some() {
            *slot = old.next().copied().unwrap_or(T::ZERO);
        }
    }
    new.iter().filter(|slot| **slot != T::ZERO).count()
}

/// Copies the columns of the kept coordinates. New rows stay zero. `own` and `root` are the new pivots, zero
/// for a new coordinate. The numbers are of the old columns: length of the first, count, dropped columns,
/// dropped rows of the root.
fn entries<T: Number>(
    [own, root]: [&mut [T]; 2],
    columns: &mut [T],
    old: &[T],
    shape: [usize; 4],
) -> Option<()> {
    let [len, count, gone, gone_root] = shape;
    let (mut columns, mut place) = (columns, gone);
    for (index, pivot) in own.iter().enumerate() {
        let (column, rest) = columns.split_at_mut_checked(own.len() + root.len() - index)?;
        columns = rest;
        if *pivot == T::ZERO {
            continue;
        }
        let start = place * len - place * place.saturating_sub(1) / 2;
        let (near, far) = old.get(start..start + len - place)?.split_at_checked(count - 1 - place)?;
        place += 1;
        let mut from = near.iter().chain(far.iter().skip(gone_root));
        let rows = own.iter().skip(index + 1).chain(root.iter()).map(|pivot| *pivot != T::ZERO).chain([true]);
        for (slot, _) in column.iter_mut().zip(rows).filter(|(_, kept)| *kept) {
            *slot = *from.next()?;
        }
    }
    Some(())
}
