//! The bit set of this crate. Actions, blocks and coordinates are all positions below a fixed bound.

/// A set of positions below 32 `W`. A type around it gives the positions a meaning.
#[derive(Clone, Copy, Debug, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Bits<const W: usize>([u32; W]);

/// Word by word: an array would be compared byte by byte on a microcontroller.
impl<const W: usize> PartialEq for Bits<W> {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).all(|(mine, theirs)| mine == theirs)
    }
}

impl<const W: usize> Bits<W> {
    /// No position; all bits zero.
    pub const EMPTY: Self = Self([0; W]);
    /// Every position.
    pub const FULL: Self = Self([u32::MAX; W]);

    /// Number of possible positions.
    pub(crate) const CAPACITY: usize = 32 * W;

    /// The set with these words, 32 positions each, the first position lowest.
    #[must_use]
    pub const fn from_words(words: [u32; W]) -> Self {
        Self(words)
    }

    /// The words of the set.
    #[must_use]
    pub const fn words(&self) -> &[u32; W] {
        &self.0
    }

    /// The words of the set, mutable.
    #[cfg(feature = "record")]
    pub(crate) const fn words_mut(&mut self) -> &mut [u32; W] {
        &mut self.0
    }

    /// Copies another set word by word.
    pub(crate) fn copy(&mut self, other: &Self) {
        for (word, other) in self.0.iter_mut().zip(&other.0) {
            *word = *other;
        }
    }

    /// The first `count` positions.
    #[must_use]
    #[inline]
    pub const fn first(count: usize) -> Self {
        let mut set = Self::EMPTY;
        let mut left = count;
        let mut words: &mut [u32] = &mut set.0;
        while let [word, rest @ ..] = words {
            *word = if left >= 32 { u32::MAX } else { (1 << left) - 1 };
            left = left.saturating_sub(32);
            words = rest;
        }
        set
    }

    /// True if a position is in the set.
    #[must_use]
    #[inline]
    pub fn contains(&self, position: usize) -> bool {
        self.0.get(position / 32).is_some_and(|word| word >> (position % 32) & 1 == 1)
    }

    /// Adds a position. A position past the end is ignored.
    #[inline]
    pub fn insert(&mut self, position: usize) {
        if let Some(word) = self.0.get_mut(position / 32) {
            *word |= 1 << (position % 32);
        }
    }

    /// Removes a position.
    #[inline]
    pub fn remove(&mut self, position: usize) {
        if let Some(word) = self.0.get_mut(position / 32) {
            *word &= !(1 << (position % 32));
        }
    }

    /// Number of positions in the set.
    #[must_use]
    #[inline]
    pub fn len(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// True if the set is empty.
    #[must_use]
    #[inline]
    pub fn is_empty(&self) -> bool {
        *self == Self::EMPTY
    }

    /// True if every position of this set is in `other`.
    #[must_use]
    #[inline]
    pub fn is_subset(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).all(|(mine, theirs)| mine & !theirs == 0)
    }

    /// True if every position of this set is among the first `count`.
    #[inline]
    pub(crate) fn is_below(&self, count: usize) -> bool {
        let mut words = self.0.iter().skip(count / 32);
        words.next().is_none_or(|word| word >> (count % 32) == 0) && words.all(|word| *word == 0)
    }

    /// The positions, the lowest first.
    pub fn iter(&self) -> impl Iterator<Item = usize> + use<W> {
        let words = self.0;
        words.into_iter().enumerate().flat_map(|(index, word)| {
            (0..32).filter(move |bit| word >> bit & 1 == 1).map(move |bit| 32 * index + bit)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_is_what_was_inserted() {
        let mut set = Bits::<4>::EMPTY;
        assert!(set.is_empty());
        let inserted = [0, 31, 32, 64, 127];
        inserted.into_iter().chain([128, usize::MAX]).for_each(|position| set.insert(position));
        assert!(set.iter().eq(inserted) && set.len() == 5);
        assert!((0..200).all(|position| set.contains(position) == inserted.contains(&position)));
        assert!(Bits::EMPTY.is_subset(&set) && !set.is_subset(&Bits::EMPTY) && set.is_subset(&Bits::FULL));
        set.remove(64);
        set.remove(1000);
        assert!(set.iter().eq([0, 31, 32, 127]));
    }

    #[test]
    fn the_first_positions_are_those_below() {
        for count in 0..130 {
            let set = Bits::<4>::first(count);
            assert!(set.iter().eq(0..count.min(128)));
            assert!(set.is_below(count) && (count == 0 || count > 128 || !set.is_below(count - 1)));
        }
    }
}
