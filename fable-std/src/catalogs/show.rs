//! How a catalog is shown to people and to programs.

use super::lookup;
use crate::settings::block_names;
use fable_core::catalog::StandingRule;
use fable_core::{Action, Catalog};
use serde_json::{Value, json};
use std::fmt::Write;

fn coordinates(catalog: &Catalog<'_>) -> Vec<String> {
    (0..catalog.dimension())
        .filter_map(|index| catalog.coordinate_name(index))
        .map(|name| name.to_string())
        .collect()
}

/// An action as JSON: the value of each component.
#[must_use]
pub fn action(catalog: &Catalog<'_>, action: Action) -> Value {
    let values = catalog.values(action).unwrap_or_default();
    let values = catalog.definition().components.iter().zip(&values);
    let names = values.filter_map(|(component, value)| {
        Some((component.name, component.values.get(usize::from(*value))?.name))
    });
    Value::Object(names.map(|(component, value)| (component.to_owned(), value.into())).collect())
}

/// The catalog as JSON.
#[must_use]
pub fn describe(catalog: &Catalog<'_>) -> Value {
    let definition = catalog.definition();
    let components: serde_json::Map<String, Value> = definition
        .components
        .iter()
        .map(|component| {
            (component.name.to_owned(), component.values.iter().map(|value| value.name).collect())
        })
        .collect();
    json!({
        "name": definition.name,
        "components": components,
        "tasks": definition.tasks,
        "signals": definition.signals,
        "blocks": block_names(catalog),
        "coordinates": coordinates(catalog),
        "contrasts": definition.contrasts.iter().map(|contrast| contrast.name).collect::<Vec<_>>(),
        "rules": definition.rules.iter().map(|standing| rule(catalog, standing)).collect::<Vec<_>>(),
        "dimension": catalog.dimension(),
        "actions": catalog.actions(),
        "state_bytes": { "f32": 4 * catalog.layout().packed_len(), "f64": 8 * catalog.layout().packed_len() },
        "fingerprint": format!("{:016x}", catalog.fingerprint()),
    })
}

fn rule(catalog: &Catalog<'_>, standing: &StandingRule<'_>) -> Value {
    json!({
        "name": standing.rule.name,
        "effect": lookup::effect_name(standing.rule.effect),
        "values": standing.rule.pattern.iter().flat_map(|part| lookup::value_names(catalog, part)).collect::<Vec<_>>(),
        "when": lookup::condition_name(catalog, standing.when),
    })
}

/// What the catalog holds, as text for people: a line for each kind of thing.
#[must_use]
pub fn holds(catalog: &Catalog<'_>) -> String {
    let definition = catalog.definition();
    let mut text = String::new();
    let mut line = |head: &str, items: &[&str]| {
        let items = if items.is_empty() { "none".to_owned() } else { items.join(" ") };
        let _ = writeln!(text, "{head:<12} {items}"); // writing to a String cannot fail
    };
    line("catalog", &[definition.name]);
    for component in definition.components {
        let values: Vec<&str> = component.values.iter().map(|value| value.name).collect();
        line(component.name, &values);
    }
    line("tasks", definition.tasks);
    line("signals", definition.signals);
    let blocks = block_names(catalog);
    line("blocks", &blocks.iter().map(String::as_str).collect::<Vec<_>>());
    line("terms", &[&definition.terms.len().to_string()]);
    let contrasts: Vec<&str> = definition.contrasts.iter().map(|contrast| contrast.name).collect();
    line("contrasts", &contrasts);
    for standing in definition.rules {
        line("rule", &[&lookup::described(catalog, standing)]);
    }
    line("actions", &[&catalog.actions().to_string()]);
    line("dimension", &[&catalog.dimension().to_string()]);
    let bytes = catalog.layout().packed_len() * 4;
    line("state", &[&format!("{bytes} bytes in f32, {} in f64", 2 * bytes)]);
    line("fingerprint", &[&format!("{:016x}", catalog.fingerprint())]);
    text
}

/// The catalog as text for people: what it [`holds`], then its coordinates.
#[must_use]
pub fn show(catalog: &Catalog<'_>) -> String {
    let mut text = holds(catalog);
    text.push_str("coordinates\n");
    for (index, name) in coordinates(catalog).iter().enumerate() {
        let _ = writeln!(text, "{index:>6} {name}");
    }
    text
}
