//! Names looked up in a catalog. A name that is not there is told with those that are.

use crate::toml_file::Flaw;
use fable_core::catalog::{Condition, Part};
use fable_core::catalog::{Effect, FeasibleError, StandingRule, When};
use fable_core::{Catalog, Feasible, Rule};

/// The position of a component.
///
/// # Errors
/// No such component.
pub fn component(catalog: &Catalog<'_>, name: &str) -> Result<u8, Flaw> {
    let known = || catalog.definition().components.iter().map(|component| component.name);
    let found = catalog.component(name).and_then(|found| u8::try_from(found).ok());
    found.ok_or_else(|| Flaw::unknown("there is no component", name, known()))
}

/// The position of a value of a component.
///
/// # Errors
/// No such value.
pub fn value_of(catalog: &Catalog<'_>, component: u8, name: &str) -> Result<u8, Flaw> {
    catalog.value(usize::from(component), name).ok_or_else(|| {
        let component = catalog.definition().components.get(usize::from(component));
        let (own, values) = component.map_or(("", &[][..]), |component| (component.name, component.values));
        Flaw::unknown(format!("'{own}' has no value"), name, values.iter().map(|value| value.name))
    })
}

/// The value of a name like `style=concise`: the positions of its component and of itself.
///
/// # Errors
/// No such component or value.
pub fn value(catalog: &Catalog<'_>, name: &str) -> Result<(u8, u8), Flaw> {
    let (component, value) = name.split_once('=').unwrap_or((name, ""));
    let component = self::component(catalog, component)?;
    Ok((component, value_of(catalog, component, value)?))
}

/// The position of a task.
///
/// # Errors
/// No such task.
pub fn task(catalog: &Catalog<'_>, name: &str) -> Result<usize, Flaw> {
    catalog
        .task(name)
        .map_err(|_| Flaw::unknown("there is no task", name, catalog.definition().tasks.iter().copied()))
}

/// The position of a signal.
///
/// # Errors
/// No such signal.
pub fn signal(catalog: &Catalog<'_>, name: &str) -> Result<usize, Flaw> {
    catalog
        .signal(name)
        .map_err(|_| Flaw::unknown("there is no signal", name, catalog.definition().signals.iter().copied()))
}

/// The position of a declared contrast.
///
/// # Errors
/// No such contrast.
pub fn contrast(catalog: &Catalog<'_>, name: &str) -> Result<usize, Flaw> {
    let known = || catalog.contrasts().iter().map(|contrast| contrast.name);
    catalog.contrast(name).ok_or_else(|| Flaw::unknown("there is no contrast", name, known()))
}

/// A conjunction of components, each with any of some values.
pub type Pattern = Vec<(u8, Vec<u8>)>;

/// What rules leave.
///
/// # Errors
/// A pattern that says nothing or something twice, or nothing left.
pub fn feasible(catalog: &Catalog<'_>, rules: &[(Effect, Pattern)]) -> Result<Feasible, FeasibleError> {
    fn parts(pattern: &Pattern) -> Vec<Part<'_>> {
        pattern.iter().map(|(component, values)| Part::new(*component, values)).collect()
    }
    let patterns: Vec<Vec<Part<'_>>> = rules.iter().map(|(_, pattern)| parts(pattern)).collect();
    let rules =
        rules.iter().zip(&patterns).map(|((effect, _), pattern)| Rule { name: "", effect: *effect, pattern });
    Feasible::new(catalog, &rules.collect::<Vec<_>>())
}

/// What a rule does, in a word.
#[must_use]
pub const fn effect_name(effect: Effect) -> &'static str {
    match effect {
        Effect::Forbid => "forbid",
        Effect::Require => "require",
        Effect::Only => "only",
    }
}

/// A rule of a catalog in words: `confirm_risks: require style=confirm_first, risk above 0.7`.
#[must_use]
pub fn described(catalog: &Catalog<'_>, standing: &StandingRule<'_>) -> String {
    let parts = standing.rule.pattern.iter().map(|part| value_names(catalog, part).join(" or "));
    let pattern = parts.collect::<Vec<_>>().join(" and ");
    let place = condition_name(catalog, standing.when).map_or_else(String::new, |place| format!(", {place}"));
    format!("{}: {} {pattern}{place}", standing.rule.name, effect_name(standing.rule.effect))
}

/// The values of a part, like `tool=web_search`.
#[must_use]
pub fn value_names(catalog: &Catalog<'_>, part: &Part<'_>) -> Vec<String> {
    let Some(component) = catalog.definition().components.get(usize::from(part.component)) else {
        return Vec::new();
    };
    let name = |value: &u8| {
        component.values.get(usize::from(*value)).map(|value| format!("{}={}", component.name, value.name))
    };
    part.values.iter().filter_map(name).collect()
}

/// Where a user's rule holds, `task=coding` or the name of a signal; `None` everywhere.
#[must_use]
pub fn when_name(catalog: &Catalog<'_>, when: When) -> Option<String> {
    let definition = catalog.definition();
    match when {
        When::Always => None,
        When::Task(task) => definition.tasks.get(task).map(|task| format!("task={task}")),
        When::Signal(signal) => definition.signals.get(signal).map(|signal| (*signal).to_owned()),
    }
}

/// Where a rule of the catalog holds: `risk above 0.7`, `task=coding or task=analysis`.
#[must_use]
pub fn condition_name(catalog: &Catalog<'_>, condition: Condition<'_>) -> Option<String> {
    let definition = catalog.definition();
    let signal = |index: u8, word: &str, level: f32| {
        let name = definition.signals.get(usize::from(index)).copied().unwrap_or_default();
        Some(format!("{name} {word} {level}"))
    };
    match condition {
        Condition::Above(index, level) => signal(index, "above", level),
        Condition::AtLeast(index, level) => signal(index, "at least", level),
        Condition::AtMost(index, level) => signal(index, "at most", level),
        Condition::Below(index, level) => signal(index, "below", level),
        Condition::Tasks(tasks) => {
            let names = tasks.iter().filter_map(|task| definition.tasks.get(usize::from(*task)));
            Some(names.map(|name| format!("task={name}")).collect::<Vec<_>>().join(" or "))
        }
        _ => None,
    }
}
