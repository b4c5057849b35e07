//! Names in a generated header. C has one space for all of them, so each begins with the name of the catalog.

use super::GenerateError;
use super::identifiers::{Case, distinct, identifiers, join, needs_kind, words};
use fable_core::Catalog;
use std::fmt::{self, Write};

/// How the names of a header begin.
pub(super) struct Prefix {
    /// Of data and functions.
    pub(super) lower: String,
    /// Of macros and enumerators.
    pub(super) upper: String,
}

const NAME_RULE: &str = "names in C begin with it, so it has small letters, digits and '_', begins with a letter, and not with 'fable'";

impl Prefix {
    /// From the catalog's own name, or as it is asked for.
    pub(super) fn new(catalog: &str, asked: Option<&str>) -> Result<Self, GenerateError> {
        let taken = |name: &str| name.starts_with("fable");
        let lower = match asked {
            None => {
                let own = words(Case::Snake, catalog);
                if needs_kind(&own) || taken(&own) { join(Case::Snake, "catalog", &own) } else { own }
            }
            Some(name) => {
                let sound = name
                    .bytes()
                    .all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == b'_');
                if !sound || needs_kind(name) || taken(name) {
                    return Err(GenerateError::Name { name: name.into(), rule: NAME_RULE });
                }
                name.to_owned()
            }
        };
        let upper = lower.to_ascii_uppercase();
        Ok(Self { lower, upper })
    }
}

/// Macros that a header has whatever the catalog is.
const MACROS: [&str; 10] = [
    "CATALOG_H",
    "FINGERPRINT",
    "CATALOG_FINGERPRINT",
    "ACTIONS",
    "DIMENSION",
    "SIGNALS",
    "USER_SIZE",
    "WORKSPACE_SIZE",
    "SNAPSHOT_SIZE",
    "POLICY_SIZE",
];

/// Enumerators for the positions of components, values, tasks, signals, contrasts and rules.
pub(super) fn positions(out: &mut String, catalog: &Catalog<'_>, prefix: &Prefix) -> fmt::Result {
    let definition = catalog.definition();
    let components: Vec<&str> = definition.components.iter().map(|component| component.name).collect();
    let mut groups: Vec<(String, String, Vec<&str>)> =
        vec![("components".into(), "COMPONENT".into(), components.clone())];
    for (component, own) in
        definition.components.iter().zip(identifiers(Case::Upper, "component", components))
    {
        let names = component.values.iter().map(|value| value.name).collect();
        groups.push((format!("values of `{}`", component.name), own, names));
    }
    groups.push(("tasks".into(), "TASK".into(), definition.tasks.to_vec()));
    groups.push(("signals".into(), "SIGNAL".into(), definition.signals.to_vec()));
    groups.push((
        "contrasts".into(),
        "CONTRAST".into(),
        definition.contrasts.iter().map(|contrast| contrast.name).collect(),
    ));
    groups.push((
        "rules".into(),
        "RULE".into(),
        definition.rules.iter().map(|standing| standing.rule.name).collect(),
    ));
    groups.retain(|(_, _, names)| !names.is_empty());
    let fixed = MACROS
        .iter()
        .map(|own| format!("{}_{own}", prefix.upper))
        .chain([format!("{}_POLICY", prefix.upper)]);
    let in_groups = groups.iter().flat_map(|(_, kind, names)| {
        names.iter().map(move |name| {
            join(Case::Upper, &format!("{}_{kind}", prefix.upper), &words(Case::Upper, name))
        })
    });
    let fixed_count = MACROS.len() + 1;
    let mut given =
        distinct(Case::Upper, &fixed.chain(in_groups).collect::<Vec<_>>()).into_iter().skip(fixed_count);
    for (what, _, names) in &groups {
        let list: Vec<String> = names
            .iter()
            .zip(0..)
            .zip(given.by_ref())
            .map(|((_, position), own)| format!("    {own} = {position}"))
            .collect();
        writeln!(out, "\n/* Positions of the {what}. */\nenum {{\n{}\n}};", list.join(",\n"))?;
    }
    Ok(())
}
