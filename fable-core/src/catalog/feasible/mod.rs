//! Hard constraints: the set of actions that a round may choose from. It is known before anything is drawn.
//!
//! A [`Rule`] forbids, requires or enumerates patterns of values. An action is feasible if it matches no
//! `forbid` rule, every `require` rule and, if there are any, at least one `only` rule. A prohibition is not
//! a large cost: infeasible actions are not compared, so no draw can select one. [`removed_by`] names the
//! rule that removed an action.
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

mod set;

use super::{Action, Catalog, MAX_COMPONENTS, Part, check_part};
use core::fmt;
pub use set::ActionSet;

/// The effect of a rule on the actions that match its pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Effect {
    /// Removes actions that match: forbidden values or combinations, unavailable tools, incompatible pairs.
    Forbid,
    /// Removes actions that do not match: required values, mandatory confirmation.
    Require,
    /// The `Only` rules together remove actions that match none of them.
    Only,
}

/// One hard constraint: an effect, and a pattern of parts that all have to match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Rule<'a> {
    /// The reason for the rule, shown to people.
    pub name: &'a str,
    /// The effect on actions that match.
    pub effect: Effect,
    /// An action matches if it has one of the values of each part.
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

    /// Keeps only actions that match this rule or another `only` rule.
    #[must_use]
    pub const fn only(name: &'a str, pattern: &'a [Part<'a>]) -> Self {
        Self { name, effect: Effect::Only, pattern }
    }

    /// True if an action with these values matches the pattern.
    pub(super) fn matches(&self, values: &[u8]) -> bool {
        self.pattern
            .iter()
            .all(|part| values.get(usize::from(part.component)).is_some_and(|&value| part.contains(value)))
    }
}

/// The first rule that removes an action; `None` if the action is feasible or outside the catalog.
///
/// For an action that matches no `only` rule this is the first `only` rule.
#[must_use]
pub fn removed_by<'r>(catalog: &Catalog<'_>, rules: &'r [Rule<'r>], action: Action) -> Option<&'r Rule<'r>> {
    let values = catalog.values(action)?;
    removed(rules.iter(), &values)
}

/// The first rule that removes an action with these values.
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

/// A set of actions that is not empty. Every decision is made from one.
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

    /// The set without the actions that have all of these values. Values are given by name.
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

    /// The set with only the actions that have all of these values. Values are given by name.
    ///
    /// # Errors
    /// As for [`forbid`](Self::forbid).
    pub fn require(&self, catalog: &Catalog<'_>, values: &[(&str, &str)]) -> Result<Self, FeasibleError> {
        self.narrow(catalog, values, true)
    }

    /// Keeps the actions for which "has all of these values" is `wanted`.
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
    pub const fn all(catalog: &Catalog<'_>) -> Self {
        Self(catalog.all_actions())
    }

    /// A set that the caller has made.
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

    /// Actions of the catalog; `None` if there is none.
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

/// A fault in hard constraints.
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
    /// A rule names a component or value that the catalog does not have, a value twice, or no value.
    UnknownValue {
        /// Its position.
        rule: usize,
    },
    /// A rule names a component in two parts. Its values belong into one part.
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
