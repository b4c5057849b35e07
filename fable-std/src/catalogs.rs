//! The catalogs that ship, by name, and how one is shown to people and to programs.
//!
//! ```
//! use fable_std::catalogs;
//! let tau2 = catalogs::find("tau2").unwrap();
//! assert_eq!(catalogs::describe(tau2)["dimension"], 29);
//! assert!(catalogs::find("golf").is_none());
//! ```

use fable_core::Catalog;
use fable_core::catalog::{AGENT, RUBRIC, TAU2};
use serde_json::{Value, json};
use std::fmt::Write;

/// Names of the catalogs that ship.
pub const NAMES: [&str; 3] = ["agent", "tau2", "rubric"];

/// A catalog that ships.
#[must_use]
pub fn find(name: &str) -> Option<&'static Catalog<'static>> {
    [&AGENT, &TAU2, &RUBRIC].into_iter().find(|catalog| catalog.definition().name == name)
}

fn coordinates(catalog: &Catalog<'_>) -> Vec<String> {
    (0..catalog.dimension()).filter_map(|index| catalog.coordinate_name(index)).map(|name| name.to_string()).collect()
}

/// The catalog as JSON.
#[must_use]
pub fn describe(catalog: &Catalog<'_>) -> Value {
    let definition = catalog.definition();
    let components: serde_json::Map<String, Value> = definition
        .components
        .iter()
        .map(|component| (component.name.to_owned(), component.values.iter().map(|value| value.name).collect()))
        .collect();
    json!({
        "name": definition.name,
        "components": components,
        "tasks": definition.tasks,
        "signals": definition.signals,
        "coordinates": coordinates(catalog),
        "contrasts": definition.contrasts.iter().map(|contrast| contrast.name).collect::<Vec<_>>(),
        "dimension": catalog.dimension(),
        "actions": catalog.actions(),
        "state_bytes": { "f32": 4 * catalog.arrow().packed_len(), "f64": 8 * catalog.arrow().packed_len() },
        "fingerprint": format!("{:016x}", catalog.fingerprint()),
    })
}

/// The catalog as text for people.
#[must_use]
pub fn show(catalog: &Catalog<'_>) -> String {
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
    let contrasts: Vec<&str> = definition.contrasts.iter().map(|contrast| contrast.name).collect();
    line("contrasts", &contrasts);
    line("actions", &[&catalog.actions().to_string()]);
    line("dimension", &[&catalog.dimension().to_string()]);
    let bytes = catalog.arrow().packed_len() * 4;
    line("state", &[&format!("{bytes} bytes in f32, {} in f64", 2 * bytes)]);
    text.push_str("coordinates\n");
    for (index, name) in coordinates(catalog).iter().enumerate() {
        let _ = writeln!(text, "{index:>6} {name}");
    }
    text
}
