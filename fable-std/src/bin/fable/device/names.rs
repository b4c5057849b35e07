//! The catalog's names, from what a person types to what goes over the line, and back.

use super::arguments::ContextArguments;
use crate::failure::Failure;
use fable_core::ActionSet;
use fable_core::When;
use fable_core::{Action, Catalog, Context, Feasible};
use serde_json::Value;

impl ContextArguments {
    pub(super) fn context(&self, catalog: &Catalog<'_>) -> Result<Context, Failure> {
        let mut signals = Vec::new();
        for signal in &self.signals {
            let parsed = signal.split_once('=').and_then(|(name, number)| Some((name, number.parse().ok()?)));
            signals.push(parsed.ok_or_else(|| Failure::Mistake(format!("'{signal}' is not NAME=NUMBER")))?);
        }
        Context::from_names(catalog, self.task.as_deref(), &signals).map_err(Failure::mistake)
    }
}

/// A value by name: positions of the component and of the value.
pub(super) fn value(catalog: &Catalog<'_>, name: &str) -> Result<(u8, u8), Failure> {
    let found = name.split_once('=').and_then(|(component, value)| {
        let components = catalog.definition().components;
        let index = components.iter().position(|known| known.name == component)?;
        let value = components.get(index)?.values.iter().position(|known| known.name == value)?;
        Some((u8::try_from(index).ok()?, u8::try_from(value).ok()?))
    });
    let catalog = catalog.definition().name;
    found.ok_or_else(|| Failure::Mistake(format!("'{name}' is no COMPONENT=VALUE; see: fable catalog show {catalog}")))
}

pub(super) fn condition(catalog: &Catalog<'_>, name: Option<&str>) -> Result<When, Failure> {
    let Some(name) = name else { return Ok(When::Always) };
    let found = catalog.task(name).map(When::Task).or_else(|| catalog.signal(name).map(When::Signal));
    found.ok_or_else(|| Failure::Mistake(format!("'{name}' is neither a task nor a signal of the catalog")))
}

/// The actions that match no `forbid` and every `require`.
pub(super) fn feasible(catalog: &Catalog<'_>, forbid: &[String], require: &[String]) -> Result<Feasible, Failure> {
    let patterns = |texts: &[String]| {
        let pattern = |text: &String| text.split(',').map(|part| value(catalog, part)).collect::<Result<Vec<_>, _>>();
        texts.iter().map(pattern).collect::<Result<Vec<_>, _>>()
    };
    let (forbid, require) = (patterns(forbid)?, patterns(require)?);
    let mut set = ActionSet::EMPTY;
    for action in Feasible::all(catalog).set().iter() {
        let values = catalog.values(action).unwrap_or_default();
        let matches = |pattern: &Vec<(u8, u8)>| pattern.iter().all(|(part, value)| values.get(usize::from(*part)) == Some(value));
        if !forbid.iter().any(matches) && require.iter().all(matches) {
            set.insert(action);
        }
    }
    Feasible::from_set(catalog, set).map_err(Failure::mistake)
}

pub(super) fn action(catalog: &Catalog<'_>, name: &str) -> Result<Action, Failure> {
    let example = named(catalog, Action(0));
    catalog.action_named(name).ok_or_else(|| Failure::Mistake(format!("'{name}' is no action; one is {example}")))
}

pub(super) fn named(catalog: &Catalog<'_>, action: Action) -> String {
    catalog.action_name(action).map_or_else(|| "?".to_owned(), |name| name.to_string())
}

pub(super) fn parts(catalog: &Catalog<'_>, action: Action) -> Value {
    let values = catalog.values(action).unwrap_or_default();
    let components = catalog.definition().components.iter().zip(&values);
    let parts = components.map(|(component, value)| {
        let name = component.values.get(usize::from(*value)).map_or("?", |value| value.name);
        (component.name.to_owned(), Value::from(name))
    });
    Value::Object(parts.collect())
}
