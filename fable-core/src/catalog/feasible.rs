//! Hard constraints: which actions may be chosen at all, settled before anything is sampled.
//!
//! A [`Rule`] forbids, requires or enumerates patterns of values. An action is feasible when it matches no `forbid`, every
//! `require` and, if there is one, at least one `only`. A prohibition is never a large cost: an infeasible action is not
//! among those compared, so no draw can select it. [`removed_by`] names the rule that removed an action, from the rules alone.
//!
//! ```
//! use fable_core::catalog::agent::{self, AGENT, Memory, STYLE, Style, TOOL, Tool};
//! use fable_core::catalog::Part;
//! use fable_core::catalog::{FeasibleError, removed_by};
//! use fable_core::{Feasible, Rule, values};
//!
//! const OFFLINE: Rule = Rule::forbid("offline", &[Part::new(TOOL, values![Tool::WebSearch])]);
//! const PAYMENT: Rule = Rule::require("payment", &[Part::new(STYLE, values![Style::ConfirmFirst])]);
//! let feasible = Feasible::new(&AGENT, &[OFFLINE, PAYMENT])?;
//! assert_eq!(feasible.len(), 25); // 5 memories, 5 tools, 1 style
//!
//! let search = agent::action(Memory::NoMemory, Tool::WebSearch, Style::Direct);
//! assert_eq!(removed_by(&AGENT, &[OFFLINE, PAYMENT], search).map(|rule| rule.name), Some("offline"));
//!
//! const QUIET: Rule = Rule::forbid("quiet", &[Part::new(STYLE, values![Style::ConfirmFirst])]);
//! assert_eq!(Feasible::new(&AGENT, &[PAYMENT, QUIET]), Err(FeasibleError::Empty));
//! # Ok::<(), FeasibleError>(())
//! ```

use super::{Action, Catalog, MAX_ACTIONS, MAX_COMPONENTS, Part, check_part};
use crate::numbers::Bits;
use core::fmt;

/// A set of actions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ActionSet(Bits<{ MAX_ACTIONS / 32 }>);

impl ActionSet {
    /// Becomes another set, word by word: on a device that takes less than moving memory that might overlap.
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

    /// Whether the action is in the set.
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

    /// Whether the set is empty.
    #[must_use]
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether every action of this set is in `other`.
    #[must_use]
    #[inline]
    pub fn is_subset(&self, other: &Self) -> bool {
        self.0.is_subset(&other.0)
    }

    /// Words of 32 actions.
    #[cfg(feature = "record")]
    pub(crate) const WORDS: usize = MAX_ACTIONS / 32;

    /// Whether every action of this set is among the first `count`.
    #[inline]
    pub(crate) fn is_below(&self, count: usize) -> bool {
        self.0.is_below(count)
    }

    /// The bits, 32 actions a word, the first action lowest.
    #[must_use]
    pub const fn words(&self) -> &[u32; MAX_ACTIONS / 32] {
        self.0.words()
    }

    /// The set with these bits.
    #[must_use]
    pub const fn from_words(words: [u32; MAX_ACTIONS / 32]) -> Self {
        Self(Bits::from_words(words))
    }

    /// The words up to the last nonzero word.
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

/// What a rule does with the actions that match its pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Effect {
    /// Removes the actions that match: forbidden values or combinations, unavailable tools, incompatible pairs.
    Forbid,
    /// Removes the actions that do not match: required values, mandatory confirmation.
    Require,
    /// Together the `Only` rules remove the actions that match none of them.
    Only,
}

/// One hard constraint: a conjunction of parts and what it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Rule<'a> {
    /// Why the rule exists; shown to people.
    pub name: &'a str,
    /// What happens to the actions that match.
    pub effect: Effect,
    /// An action matches when it has, for each part, one of the part's values.
    pub pattern: &'a [Part<'a>],
}

impl<'a> Rule<'a> {
    /// Removes every action that matches the pattern.
    #[must_use]
    pub const fn forbid(name: &'a str, pattern: &'a [Part<'a>]) -> Self {
        Self { name, effect: Effect::Forbid, pattern }
    }

    /// Removes every action that does not match the pattern.
    #[must_use]
    pub const fn require(name: &'a str, pattern: &'a [Part<'a>]) -> Self {
        Self { name, effect: Effect::Require, pattern }
    }

    /// Keeps only actions that match this or another `only` rule.
    #[must_use]
    pub const fn only(name: &'a str, pattern: &'a [Part<'a>]) -> Self {
        Self { name, effect: Effect::Only, pattern }
    }

    pub(super) fn matches(&self, values: &[u8]) -> bool {
        self.pattern
            .iter()
            .all(|part| values.get(usize::from(part.component)).is_some_and(|&value| part.contains(value)))
    }
}

/// The rule that removes an action, the first in order; `None` when it is feasible or outside the catalog.
///
/// An action that misses every `only` rule is charged to the first of them.
#[must_use]
pub fn removed_by<'r>(catalog: &Catalog<'_>, rules: &'r [Rule<'r>], action: Action) -> Option<&'r Rule<'r>> {
    let values = catalog.values(action)?;
    removed(rules.iter(), &values)
}

/// The first of these rules that removes an action with these values.
pub(super) fn removed<'r>(
    mut rules: impl Iterator<Item = &'r Rule<'r>> + Clone,
    values: &[u8],
) -> Option<&'r Rule<'r>> {
    let listed = rules.clone().any(|rule| rule.effect == Effect::Only && rule.matches(values));
    rules.find(|rule| match rule.effect {
        Effect::Forbid => rule.matches(values),
        Effect::Require => !rule.matches(values),
        Effect::Only => !listed,
    })
}

/// A set of actions that is known not to be empty. Only these can be decided over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Feasible(ActionSet);

impl Feasible {
    /// The actions that the rules leave.
    ///
    /// # Errors
    /// A rule that names something unknown or nothing, or no action left.
    pub fn new(catalog: &Catalog<'_>, rules: &[Rule<'_>]) -> Result<Self, FeasibleError> {
        for (rule, Rule { pattern, .. }) in rules.iter().enumerate() {
            if pattern.is_empty() {
                return Err(FeasibleError::EmptyPattern { rule });
            }
            let component = |index: usize| pattern.get(index).map(|part| part.component);
            if (0..pattern.len())
                .any(|index| (0..index).any(|earlier| component(earlier) == component(index)))
            {
                return Err(FeasibleError::RepeatedComponent { rule });
            }
            if !pattern.iter().all(|part| check_part(catalog.definition().components, part)) {
                return Err(FeasibleError::UnknownValue { rule });
            }
        }
        let mut set = ActionSet::EMPTY;
        for action in
            catalog.all_actions().iter().filter(|&action| removed_by(catalog, rules, action).is_none())
        {
            set.insert(action);
        }
        Self::from_set(catalog, set)
    }

    /// The same without the actions that have all of these values, by names.
    ///
    /// ```
    /// use fable_core::catalog::{AGENT, FeasibleError};
    /// use fable_core::Feasible;
    /// let offline = Feasible::all(&AGENT).forbid(&AGENT, &[("tool", "web_search")])?;
    /// let careful = offline.require(&AGENT, &[("style", "confirm_first")])?;
    /// assert_eq!((offline.len(), careful.len()), (150, 25));
    /// assert!(offline.forbid(&AGENT, &[("tool", "web_serach")]).is_err());
    /// # Ok::<(), FeasibleError>(())
    /// ```
    ///
    /// # Errors
    /// An unknown name, a component twice, no name at all, or no action left.
    pub fn forbid(&self, catalog: &Catalog<'_>, values: &[(&str, &str)]) -> Result<Self, FeasibleError> {
        self.narrow(catalog, values, false)
    }

    /// The same with only the actions that have all of these values, by names.
    ///
    /// # Errors
    /// As for [`forbid`](Self::forbid).
    pub fn require(&self, catalog: &Catalog<'_>, values: &[(&str, &str)]) -> Result<Self, FeasibleError> {
        self.narrow(catalog, values, true)
    }

    fn narrow(
        &self,
        catalog: &Catalog<'_>,
        values: &[(&str, &str)],
        wanted: bool,
    ) -> Result<Self, FeasibleError> {
        if values.is_empty() {
            return Err(FeasibleError::EmptyPattern { rule: 0 });
        }
        let mut named = [None; MAX_COMPONENTS];
        for (component, value) in values {
            let unknown = FeasibleError::UnknownValue { rule: 0 };
            let index = catalog.component(component).ok_or(unknown)?;
            let slot = named.get_mut(index).ok_or(unknown)?;
            if slot.is_some() {
                return Err(FeasibleError::RepeatedComponent { rule: 0 });
            }
            *slot = Some(catalog.value(index, value).ok_or(unknown)?);
        }
        let mut set = self.0;
        for action in self.0.iter() {
            let values = catalog.values(action).unwrap_or_default();
            let matches =
                named.iter().zip(&values).all(|(named, value)| named.is_none_or(|named| named == *value));
            if matches != wanted {
                set.remove(action);
            }
        }
        Self::from_set(catalog, set)
    }

    /// Every action of a catalog.
    #[must_use]
    pub fn all(catalog: &Catalog<'_>) -> Self {
        Self(catalog.all_actions())
    }

    /// A set made elsewhere.
    ///
    /// # Errors
    /// An empty set, or one with actions outside the catalog.
    #[inline]
    pub fn from_set(catalog: &Catalog<'_>, set: ActionSet) -> Result<Self, FeasibleError> {
        if set.is_empty() {
            Err(FeasibleError::Empty)
        } else if set.is_below(catalog.actions()) {
            Ok(Self(set))
        } else {
            Err(FeasibleError::UnknownAction)
        }
    }

    /// Actions of the catalog, unless there is none.
    pub(crate) fn some(set: ActionSet) -> Option<Self> {
        if set.is_empty() { None } else { Some(Self(set)) }
    }

    /// The actions.
    #[must_use]
    pub const fn set(&self) -> &ActionSet {
        &self.0
    }

    /// Number of feasible actions, at least 1.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "never empty")]
    #[inline]
    pub fn len(&self) -> usize {
        self.0.len()
    }
}

/// What can be wrong with hard constraints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum FeasibleError {
    /// The rules leave no action.
    Empty,
    /// A rule without a pattern.
    EmptyPattern {
        /// Its position.
        rule: usize,
    },
    /// A rule names a component or value that the catalog does not have, a value twice, or none.
    UnknownValue {
        /// Its position.
        rule: usize,
    },
    /// A rule names a component in two parts, which no action can match; put the values into one part.
    RepeatedComponent {
        /// Its position.
        rule: usize,
    },
    /// A set with an action outside the catalog.
    UnknownAction,
}

impl fmt::Display for FeasibleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("the constraints leave no feasible action"),
            Self::EmptyPattern { rule } => write!(f, "rule {rule} has an empty pattern"),
            Self::UnknownValue { rule } => {
                write!(f, "rule {rule} names an unknown component or value, a value twice, or none")
            }
            Self::RepeatedComponent { rule } => {
                write!(f, "rule {rule} names a component in two parts; put its values into one")
            }
            Self::UnknownAction => f.write_str("the set has an action that is not in the catalog"),
        }
    }
}

impl core::error::Error for FeasibleError {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::TAU2;

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

    #[test]
    fn rules_compose_as_documented() {
        const RULES: &[Rule<'static>] = &[
            Rule::forbid("pair", &[Part::new(0, &[1]), Part::new(1, &[1, 2])]),
            Rule::require("style", &[Part::new(2, &[0, 1])]),
            Rule::only("a", &[Part::new(1, &[0])]),
            Rule::only("b", &[Part::new(1, &[1])]),
        ];
        for index in 0..18u16 {
            let values = TAU2.values(Action(index)).unwrap();
            let expected = if values[0] == 1 && values[1] > 0 {
                Some("pair")
            } else if values[2] > 1 {
                Some("style")
            } else if values[1] > 1 {
                Some("a")
            } else {
                None
            };
            assert_eq!(removed_by(&TAU2, RULES, Action(index)).map(|rule| rule.name), expected);
            assert_eq!(
                Feasible::new(&TAU2, RULES).unwrap().set().contains(Action(index)),
                expected.is_none()
            );
        }
    }

    #[test]
    fn every_bad_rule_has_its_own_error() {
        let reject = |pattern: &[Part<'_>]| Feasible::new(&TAU2, &[Rule::forbid("x", pattern)]).unwrap_err();
        assert_eq!(reject(&[]), FeasibleError::EmptyPattern { rule: 0 });
        for part in [
            Part::new(3, &[0]),
            Part::new(255, &[0]),
            Part::new(0, &[2]),
            Part::new(0, &[255]),
            Part::new(0, &[]),
            Part::new(1, &[0, 0]),
        ] {
            assert_eq!(reject(&[part]), FeasibleError::UnknownValue { rule: 0 });
        }
        assert_eq!(
            reject(&[Part::new(0, &[0]), Part::new(0, &[1])]),
            FeasibleError::RepeatedComponent { rule: 0 }
        );
        assert_eq!(reject(&[Part::new(0, &[0, 1])]), FeasibleError::Empty);
        assert_eq!(Feasible::from_set(&TAU2, ActionSet::EMPTY), Err(FeasibleError::Empty));
        assert_eq!(Feasible::from_set(&TAU2, ActionSet::first(19)), Err(FeasibleError::UnknownAction));
    }
}
