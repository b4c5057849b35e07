//! Sets of actions.

use crate::catalog::{Action, MAX_ACTIONS};
use crate::numbers::Bits;

/// A set of actions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ActionSet(Bits<{ MAX_ACTIONS / 32 }>);

impl ActionSet {
    /// Copies another set word by word. A device needs less flash for that than for moving memory that might
    /// overlap.
    pub(crate) fn copy(&mut self, other: &Self) {
        self.0.copy(&other.0);
    }

    /// No action; all bits zero.
    pub const EMPTY: Self = Self(Bits::EMPTY);

    /// The first `count` actions, at most [`MAX_ACTIONS`].
    #[must_use]
    #[inline]
    pub const fn first(count: usize) -> Self {
        Self(Bits::first(count))
    }

    /// True if the action is in the set.
    #[must_use]
    #[inline]
    pub fn contains(&self, action: Action) -> bool {
        self.0.contains(action.index())
    }

    /// Adds an action; one past [`MAX_ACTIONS`] is ignored.
    #[inline]
    pub fn insert(&mut self, action: Action) {
        self.0.insert(action.index());
    }

    /// Removes an action.
    #[inline]
    pub fn remove(&mut self, action: Action) {
        self.0.remove(action.index());
    }

    /// Number of actions in the set.
    #[must_use]
    #[inline]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// True if the set is empty.
    #[must_use]
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// True if every action of this set is in `other`.
    #[must_use]
    #[inline]
    pub fn is_subset(&self, other: &Self) -> bool {
        self.0.is_subset(&other.0)
    }

    /// Words of 32 actions.
    #[cfg(feature = "record")]
    pub(crate) const WORDS: usize = MAX_ACTIONS / 32;

    /// True if every action of this set is among the first `count`.
    #[inline]
    pub(crate) fn is_below(&self, count: usize) -> bool {
        self.0.is_below(count)
    }

    /// The bits, 32 actions per word. The first action is the lowest bit.
    #[must_use]
    pub const fn words(&self) -> &[u32; MAX_ACTIONS / 32] {
        self.0.words()
    }

    /// The set with these bits.
    #[must_use]
    pub const fn from_words(words: [u32; MAX_ACTIONS / 32]) -> Self {
        Self(Bits::from_words(words))
    }

    /// The words up to the last nonzero one.
    #[must_use]
    #[inline]
    pub fn used_words(&self) -> &[u32] {
        let words = self.words();
        let used = words.iter().rposition(|word| *word != 0).map_or(0, |last| last + 1);
        words.get(..used).unwrap_or(words)
    }

    /// Replaces one word.
    #[cfg(feature = "record")]
    pub(crate) fn set_word(&mut self, index: usize, word: u32) {
        if let Some(slot) = self.0.words_mut().get_mut(index) {
            *slot = word;
        }
    }

    /// The actions in catalog order.
    pub fn iter(&self) -> impl Iterator<Item = Action> + use<> {
        self.0.iter().filter_map(|index| u16::try_from(index).ok().map(Action))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_is_what_was_inserted() {
        for count in [0, 1, 31, 32, 33, 180, 1023, 1024] {
            let set = ActionSet::first(count);
            assert_eq!(set.len(), count);
            assert!(set.iter().map(Action::index).eq(0..count));
            assert!(!set.contains(Action(1024)) && !set.contains(Action(u16::MAX)));
        }
        let mut set = ActionSet::EMPTY;
        set.insert(Action(1024));
        assert!(set.is_empty());
    }
}
