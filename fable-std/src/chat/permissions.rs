//! Hard constraints as a person changes them, and the names by which values are called.

use super::ChatError;
use crate::catalogs::lookup;
use crate::text::Constraint;
use crate::toml_file::Flaw;
use fable_core::{Catalog, Effect, Feasible, Rule, When};

/// A value: the positions of its component and of itself.
pub(super) type Value = (u8, u8);

/// The values that are named in a line like `tool=web_search concise`: `component=value`, or a value that is the only one of
/// its name; separated by spaces, commas or `*`.
pub(super) fn values(catalog: &Catalog<'_>, text: &str) -> Result<Vec<Value>, ChatError> {
    let text = text.to_lowercase().replace(" = ", "=");
    let names = text.split([' ', ',', '*', '\t']).filter(|name| !name.is_empty());
    // Longer than any name, and short enough to be repeated in an error.
    let head = |name: &str| name.chars().take(64).collect::<String>();
    names.map(|name| value(catalog, &head(name))).collect()
}

fn value(catalog: &Catalog<'_>, name: &str) -> Result<Value, ChatError> {
    if name.contains('=') {
        return Ok(lookup::value(catalog, name)?);
    }
    let components = catalog.definition().components;
    let found: Vec<Value> =
        (0_u8..).take(components.len()).filter_map(|index| Some((index, catalog.value(usize::from(index), name)?))).collect();
    match found.as_slice() {
        [value] => Ok(*value),
        [] => {
            let known = components.iter().flat_map(|component| component.values).map(|value| value.name);
            Err(Flaw::unknown("there is no value", name, known).into())
        }
        _ => Err(Flaw::Form(format!("several components have a value '{name}'; write component={name}")).into()),
    }
}

/// Whether two constraints say the same, in whatever words.
fn same(one: &Constraint, other: &Constraint) -> bool {
    (one.effect, one.component, &one.values, one.when) == (other.effect, other.component, &other.values, other.when)
}

/// The constraints with more of them, and those of them that are new.
pub(super) fn with(
    catalog: &Catalog<'_>,
    constraints: &[Constraint],
    more: impl IntoIterator<Item = Constraint>,
) -> Result<(Vec<Constraint>, Vec<Constraint>), ChatError> {
    let (mut all, mut new) = (constraints.to_vec(), Vec::new());
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
pub(super) fn forbidding(values: &[Value], words: &str) -> impl Iterator<Item = Constraint> {
    values.iter().map(move |(component, value)| Constraint {
        effect: Effect::Forbid,
        component: *component,
        values: vec![*value],
        when: When::Always,
        words: words.to_owned(),
    })
}

/// The constraints without what stands against a value, and what that was.
pub(super) fn allowing(constraints: &[Constraint], (component, value): Value) -> (Vec<Constraint>, Vec<Constraint>) {
    let against = |constraint: &Constraint| {
        constraint.component == component && (constraint.effect == Effect::Forbid) == constraint.values.contains(&value)
    };
    let (mut left, mut lifted) = (Vec::new(), Vec::new());
    for constraint in constraints {
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

/// Something must be left to choose, everywhere and in each task and for each signal that a constraint names.
fn check(catalog: &Catalog<'_>, constraints: &[Constraint]) -> Result<(), ChatError> {
    for place in constraints {
        let held = constraints.iter().filter(|other| other.when == When::Always || other.when == place.when);
        let held: Vec<_> = held.map(|constraint| (constraint.effect, [constraint.part()])).collect();
        let rules: Vec<_> = held.iter().map(|(effect, part)| Rule { name: "", effect: *effect, pattern: part }).collect();
        Feasible::new(catalog, &rules)?;
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
            told("tool=websearch").starts_with("'tool' has no value 'websearch'; did you mean 'web_search'? Known: no_tool, ")
        );
        assert!(told("tol=web_search").starts_with("there is no component 'tol'; did you mean 'tool'? Known: memory, "));
        assert!(told("concice").starts_with("there is no value 'concice'; did you mean 'concise'?"));
        assert!(told("=").starts_with("there is no component ''"));
    }

    #[test]
    fn what_is_forbidden_can_be_allowed_again_and_something_is_always_left() {
        let rules = |values: &[Value]| forbidding(values, "words").collect::<Vec<_>>();
        let (all, new) = with(&AGENT, &[], rules(&[(1, 1), (1, 2)])).unwrap();
        assert_eq!((all.len(), new.len()), (2, 2));
        let (all, new) = with(&AGENT, &all, rules(&[(1, 1)])).unwrap();
        assert_eq!((all.len(), new.len()), (2, 0));
        let (left, lifted) = allowing(&all, (1, 1));
        assert_eq!((left, lifted), (rules(&[(1, 2)]), rules(&[(1, 1)])));
        assert_eq!(allowing(&all, (2, 1)), (all.clone(), Vec::new()));
        let styles: Vec<Value> = (0..6).map(|style| (2, style)).collect();
        assert!(matches!(with(&AGENT, &all, rules(&styles)), Err(ChatError::NothingLeft)));

        // One value of several; and an obligation stands against everything else.
        let both = Constraint { values: vec![1, 3], ..rules(&[(1, 1)])[0].clone() };
        let (left, lifted) = allowing(&[both], (1, 3));
        assert_eq!((left, lifted), (rules(&[(1, 1)]), rules(&[(1, 3)])));
        let always = Constraint { effect: Effect::Require, component: 2, values: vec![5], ..rules(&[(2, 5)])[0].clone() };
        assert_eq!(allowing(std::slice::from_ref(&always), (2, 5)).1, []);
        assert_eq!(allowing(std::slice::from_ref(&always), (2, 1)), (vec![], vec![always]));
    }
}
