//! A user's own rules as people change them: values by their names, what is added, what is lifted, and whether anything is left.
//!
//! ```
//! use fable_core::catalog::{AGENT, When};
//! use fable_std::rules;
//! let values = rules::values(&AGENT, "tool=web_search concise")?;
//! let (all, _) = rules::with(&AGENT, &[], rules::forbidding(&values, When::Always, "not these"))?;
//! assert_eq!(all.iter().map(|rule| rule.describe(&AGENT)).collect::<Vec<_>>(), ["never tool=web_search", "never style=concise"]);
//! let (left, lifted) = rules::allowing(&all, (1, 1));
//! assert_eq!((left.len(), lifted.len()), (1, 1));
//! # Ok::<(), fable_std::rules::RulesError>(())
//! ```

use crate::catalogs::lookup;
use crate::store::wishes::Wishes;
use crate::text::Constraint;
use crate::toml_file::Flaw;
use fable_core::catalog::{Condition, Part};
use fable_core::catalog::{Effect, FeasibleError, When};
use fable_core::preference::MAX_USER_RULES;
use fable_core::{Catalog, Feasible, Rule};
use std::fmt;

/// A value: the positions of its component and of itself.
pub type Value = (u8, u8);

/// Why rules cannot be changed so.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum RulesError {
    /// A name that the catalog does not have.
    Name(Flaw),
    /// Nothing would be left to choose from.
    NothingLeft,
    /// There would be more than a user can have.
    TooMany,
}

impl fmt::Display for RulesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(flaw) => flaw.fmt(f),
            Self::NothingLeft => f.write_str("with this rule nothing would be left to choose"),
            Self::TooMany => write!(f, "a user can have at most {MAX_USER_RULES} rules"),
        }
    }
}

impl std::error::Error for RulesError {}

crate::from!(RulesError: Flaw => Name);

impl From<FeasibleError> for RulesError {
    fn from(_: FeasibleError) -> Self {
        Self::NothingLeft // the names were looked up
    }
}

/// The values that are named in a line like `tool=web_search concise`: `component=value`, or a value that is the only one of
/// its name; separated by spaces, commas or `*`.
///
/// # Errors
/// A name that the catalog does not have, or that several components have.
pub fn values(catalog: &Catalog<'_>, text: &str) -> Result<Vec<Value>, RulesError> {
    let text = text.to_lowercase().replace(" = ", "=");
    let names = text.split([' ', ',', '*', '\t']).filter(|name| !name.is_empty());
    // Longer than any name, and short enough to be repeated in an error.
    let head = |name: &str| name.chars().take(64).collect::<String>();
    names.map(|name| Ok(value(catalog, &head(name))?)).collect()
}

fn value(catalog: &Catalog<'_>, name: &str) -> Result<Value, Flaw> {
    if name.contains('=') {
        return lookup::value(catalog, name);
    }
    let components = catalog.definition().components;
    let found: Vec<Value> = (0_u8..)
        .take(components.len())
        .filter_map(|index| Some((index, catalog.value(usize::from(index), name)?)))
        .collect();
    match found.as_slice() {
        [value] => Ok(*value),
        [] => {
            let known = components.iter().flat_map(|component| component.values).map(|value| value.name);
            Err(Flaw::unknown("there is no value", name, known))
        }
        _ => Err(Flaw::Form(format!("several components have a value '{name}'; write component={name}"))),
    }
}

/// Where a rule holds: `task=coding`, or the name of a signal.
///
/// # Errors
/// No such task or signal.
pub fn when(catalog: &Catalog<'_>, name: Option<&str>) -> Result<When, RulesError> {
    Ok(match name.map(|name| (name, name.strip_prefix("task="))) {
        None => When::Always,
        Some((_, Some(task))) => When::Task(lookup::task(catalog, task)?),
        Some((signal, None)) => When::Signal(lookup::signal(catalog, signal)?),
    })
}

/// Whether two constraints say the same, in whatever words.
fn same(one: &Constraint, other: &Constraint) -> bool {
    (one.effect, one.component, &one.values, one.when)
        == (other.effect, other.component, &other.values, other.when)
}

/// The rules with more of them, and those of them that are new.
///
/// # Errors
/// Nothing would be left to choose, or there would be too many.
pub fn with(
    catalog: &Catalog<'_>,
    rules: &[Constraint],
    more: impl IntoIterator<Item = Constraint>,
) -> Result<(Vec<Constraint>, Vec<Constraint>), RulesError> {
    let (mut all, mut new) = (rules.to_vec(), Vec::new());
    for constraint in more {
        if !all.iter().any(|known| same(known, &constraint)) {
            all.push(constraint.clone());
            new.push(constraint);
        }
    }
    check(catalog, &all)?;
    Ok((all, new))
}

/// That values are never chosen.
pub fn forbidding(values: &[Value], when: When, words: &str) -> impl Iterator<Item = Constraint> {
    let rule = move |(component, value): &Value| Constraint {
        effect: Effect::Forbid,
        component: *component,
        values: vec![*value],
        when,
        words: words.to_owned(),
    };
    values.iter().map(rule)
}

/// That one of the values of each component that is named is always chosen.
#[must_use]
pub fn requiring(values: &[Value], when: When, words: &str) -> Vec<Constraint> {
    let mut rules: Vec<Constraint> = Vec::new();
    for &(component, value) in values {
        match rules.iter_mut().find(|rule| rule.component == component) {
            Some(rule) if rule.values.contains(&value) => {}
            Some(rule) => rule.values.push(value),
            None => {
                let (effect, values, words) = (Effect::Require, vec![value], words.to_owned());
                rules.push(Constraint { effect, component, values, when, words });
            }
        }
    }
    rules
}

/// The rules without what stands against a value, and what that was.
#[must_use]
pub fn allowing(rules: &[Constraint], (component, value): Value) -> (Vec<Constraint>, Vec<Constraint>) {
    let against = |constraint: &Constraint| {
        constraint.component == component
            && (constraint.effect == Effect::Forbid) == constraint.values.contains(&value)
    };
    let (mut left, mut lifted) = (Vec::new(), Vec::new());
    for constraint in rules {
        if !against(constraint) {
            left.push(constraint.clone());
            continue;
        }
        // Of several forbidden values the others stay forbidden.
        let rest: Vec<u8> = constraint.values.iter().copied().filter(|other| *other != value).collect();
        if constraint.effect == Effect::Forbid && !rest.is_empty() {
            left.push(Constraint { values: rest, ..constraint.clone() });
            lifted.push(Constraint { values: vec![value], ..constraint.clone() });
        } else {
            lifted.push(constraint.clone());
        }
    }
    (left, lifted)
}

/// The rules without what stands against any of some values, and what that was.
#[must_use]
pub fn allowing_all(rules: &[Constraint], values: &[Value]) -> (Vec<Constraint>, Vec<Constraint>) {
    let (mut left, mut lifted) = (rules.to_vec(), Vec::new());
    for value in values {
        let (rest, gone) = allowing(&left, *value);
        left = rest;
        lifted.extend(gone);
    }
    (left, lifted)
}

/// A rule with the words in which it was said, if they are known.
#[must_use]
pub fn described(catalog: &Catalog<'_>, rule: &Constraint) -> String {
    let words = if rule.words.is_empty() { String::new() } else { format!(" (\"{}\")", rule.words) };
    format!("{}{words}", rule.describe(catalog))
}

/// How what a user wishes is changed.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// Not at all.
    Nothing,
    /// Rules are added.
    Rules(Vec<Constraint>),
    /// What stands against values is lifted.
    Allow(Vec<Value>),
    /// Switches are set; what is left out stays.
    Switch {
        /// Whether anything is decided for the user and learned about them.
        layer: Option<bool>,
        /// Whether what is said may be remembered.
        memory: Option<bool>,
    },
}

impl Change {
    /// What wishes become.
    ///
    /// # Errors
    /// As for [`with`].
    pub fn of(&self, catalog: &Catalog<'_>, wishes: &Wishes) -> Result<Wishes, RulesError> {
        let mut wishes = wishes.clone();
        match self {
            Self::Nothing => {}
            Self::Rules(more) => wishes.rules = with(catalog, &wishes.rules, more.iter().cloned())?.0,
            Self::Allow(values) => wishes.rules = allowing_all(&wishes.rules, values).0,
            Self::Switch { layer, memory } => {
                wishes.layer = layer.unwrap_or(wishes.layer);
                wishes.memory = memory.or(wishes.memory);
            }
        }
        Ok(wishes)
    }
}

/// Something must be left to choose, everywhere and in each task and for each signal that a rule names, beside what the catalog's
/// rules forbid everywhere.
fn check(catalog: &Catalog<'_>, rules: &[Constraint]) -> Result<(), RulesError> {
    if rules.iter().map(|rule| rule.values.len()).sum::<usize>() > MAX_USER_RULES - 2 {
        return Err(RulesError::TooMany); // there is room for the switches
    }
    let always = catalog
        .rules()
        .iter()
        .filter(|standing| standing.when == Condition::Always)
        .map(|standing| standing.rule);
    let always: Vec<Rule<'_>> = always.collect();
    for place in rules {
        let held = rules.iter().filter(|other| other.when == When::Always || other.when == place.when);
        let held: Vec<(Effect, [Part<'_>; 1])> = held.map(|rule| (rule.effect, [rule.part()])).collect();
        let own = held.iter().map(|(effect, part)| Rule { name: "", effect: *effect, pattern: part });
        Feasible::new(catalog, &own.chain(always.iter().copied()).collect::<Vec<_>>())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use fable_core::catalog::AGENT;

    #[test]
    fn values_go_by_their_names() {
        assert_eq!(values(&AGENT, "tool=web_search").unwrap(), [(1, 1)]);
        assert_eq!(values(&AGENT, " Tool = Web_Search,concise*no_memory").unwrap(), [(1, 1), (2, 1), (0, 0)]);
        assert_eq!(values(&AGENT, " , ").unwrap(), []);
        let told = |text| values(&AGENT, text).unwrap_err().to_string();
        assert!(
            told("tool=websearch")
                .starts_with("'tool' has no value 'websearch'; did you mean 'web_search'? Known: no_tool, ")
        );
        assert!(
            told("tol=web_search")
                .starts_with("there is no component 'tol'; did you mean 'tool'? Known: memory, ")
        );
        assert!(told("concice").starts_with("there is no value 'concice'; did you mean 'concise'?"));
        assert!(told("=").starts_with("there is no component ''"));
        assert_eq!(when(&AGENT, Some("task=coding")), Ok(When::Task(0)));
        assert_eq!(when(&AGENT, Some("risk")), Ok(When::Signal(0)));
        assert!(
            when(&AGENT, Some("task=golf")).unwrap_err().to_string().starts_with("there is no task 'golf'")
        );
    }

    #[test]
    fn what_is_forbidden_can_be_allowed_again_and_something_is_always_left() {
        let rules = |values: &[Value]| forbidding(values, When::Always, "words").collect::<Vec<_>>();
        let (all, new) = with(&AGENT, &[], rules(&[(1, 1), (1, 2)])).unwrap();
        assert_eq!((all.len(), new.len()), (2, 2));
        let (all, new) = with(&AGENT, &all, rules(&[(1, 1)])).unwrap();
        assert_eq!((all.len(), new.len()), (2, 0));
        let (left, lifted) = allowing(&all, (1, 1));
        assert_eq!((left, lifted), (rules(&[(1, 2)]), rules(&[(1, 1)])));
        assert_eq!(allowing(&all, (2, 1)), (all.clone(), Vec::new()));
        let styles: Vec<Value> = (0..6).map(|style| (2, style)).collect();
        assert_eq!(with(&AGENT, &all, rules(&styles)), Err(RulesError::NothingLeft));

        // One value of several; and an obligation stands against everything else.
        let both = Constraint { values: vec![1, 3], ..rules(&[(1, 1)])[0].clone() };
        let (left, lifted) = allowing(&[both], (1, 3));
        assert_eq!((left, lifted), (rules(&[(1, 1)]), rules(&[(1, 3)])));
        let always = requiring(&[(2, 5)], When::Always, "words").remove(0);
        assert_eq!(allowing(std::slice::from_ref(&always), (2, 5)).1, []);
        assert_eq!(allowing(std::slice::from_ref(&always), (2, 1)), (vec![], vec![always.clone()]));

        // Two obligations about one component leave nothing; one with two values is either of them.
        assert_eq!(
            with(&AGENT, &[always], requiring(&[(2, 1)], When::Always, "")),
            Err(RulesError::NothingLeft)
        );
        let either = requiring(&[(2, 1), (2, 2), (2, 1), (1, 0)], When::Always, "");
        assert_eq!(
            either.iter().map(|rule| rule.describe(&AGENT)).collect::<Vec<_>>(),
            ["always style=concise or style=detailed", "always tool=no_tool"]
        );
    }

    #[test]
    fn there_is_room_for_so_many_values() {
        let rule =
            |task: usize, value: u8| forbidding(&[(1, value)], When::Task(task), "").collect::<Vec<_>>();
        let all: Vec<Constraint> = (0..5)
            .flat_map(|task| (0..5).flat_map(move |value| rule(task, value)))
            .take(MAX_USER_RULES - 2)
            .collect();
        assert_eq!(with(&AGENT, &all, []).map(|(all, _)| all.len()), Ok(22));
        assert_eq!(with(&AGENT, &all, rule(7, 0)), Err(RulesError::TooMany));
    }
}
