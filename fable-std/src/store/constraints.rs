//! The hard constraints that a user has set, as bytes: a JSON list with the names of the catalog.
//!
//! They are kept beside the journal, not in it: an event has the set of actions that was allowed in one round, while a
//! constraint goes on and may hold in one task alone. `fable chat` sets and keeps them; `fable serve` takes its rules from each
//! request and does not look at these.
//!
//! ```
//! use fable_core::catalog::AGENT;
//! use fable_std::store::constraints::{decode, encode};
//! use fable_std::text::{OnboardingAdapter, PreferenceText, Rules};
//!
//! let said = Rules.onboarding(&AGENT, PreferenceText::new("never search the web"))?.value.constraints;
//! let bytes = encode(&AGENT, &said)?;
//! assert!(bytes.starts_with(br#"[{"effect":"forbid","component":"tool","values":["web_search"],"when":null,"#));
//! assert_eq!(decode(&AGENT, &bytes)?, said);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use super::StoreError;
use crate::text::Constraint;
use fable_core::Effect;
use fable_core::{Catalog, When};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    effect: Kind,
    component: String,
    values: Vec<String>,
    /// `task=coding`, or the name of a signal.
    when: Option<String>,
    words: String,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Forbid,
    Require,
}

/// The bytes of constraints; none for no constraint.
///
/// # Errors
/// [`StoreError::Damaged`] for a constraint that names what the catalog does not have.
pub fn encode(catalog: &Catalog<'_>, constraints: &[Constraint]) -> Result<Vec<u8>, StoreError> {
    if constraints.is_empty() {
        return Ok(Vec::new());
    }
    let rows: Option<Vec<Row>> = constraints.iter().map(|constraint| row(catalog, constraint)).collect();
    let bytes = rows.and_then(|rows| serde_json::to_vec(&rows).ok());
    bytes.ok_or(StoreError::Damaged("a constraint is of another catalog"))
}

/// The constraints that [`encode`] wrote.
///
/// # Errors
/// [`StoreError::Damaged`] for anything else, names of another catalog included: a constraint is never dropped.
pub fn decode(catalog: &Catalog<'_>, bytes: &[u8]) -> Result<Vec<Constraint>, StoreError> {
    if bytes.is_empty() {
        return Ok(Vec::new());
    }
    let rows: Option<Vec<Row>> = serde_json::from_slice(bytes).ok();
    let read = rows.and_then(|rows| rows.into_iter().map(|row| constraint(catalog, row)).collect());
    read.ok_or(StoreError::Damaged("a user's constraints cannot be read"))
}

fn row(catalog: &Catalog<'_>, constraint: &Constraint) -> Option<Row> {
    let definition = catalog.definition();
    let component = definition.components.get(usize::from(constraint.component))?;
    let name = |value: &u8| component.values.get(usize::from(*value)).map(|value| value.name.to_owned());
    let when = match constraint.when {
        When::Always => None,
        When::Task(task) => Some(format!("task={}", definition.tasks.get(task)?)),
        When::Signal(signal) => Some((*definition.signals.get(signal)?).to_owned()),
    };
    Some(Row {
        effect: if constraint.effect == Effect::Forbid { Kind::Forbid } else { Kind::Require },
        component: component.name.to_owned(),
        values: constraint.values.iter().map(name).collect::<Option<_>>()?,
        when,
        words: constraint.words.clone(),
    })
}

fn constraint(catalog: &Catalog<'_>, row: Row) -> Option<Constraint> {
    let component = catalog.component(&row.component)?;
    let values: Vec<u8> = row.values.iter().map(|value| catalog.value(component, value)).collect::<Option<_>>()?;
    let when = match row.when.as_deref().map(|when| (when, when.strip_prefix("task="))) {
        None => When::Always,
        Some((_, Some(task))) => When::Task(catalog.task(task).ok()?),
        Some((signal, None)) => When::Signal(catalog.signal(signal).ok()?),
    };
    let effect = match row.effect {
        Kind::Forbid => Effect::Forbid,
        Kind::Require => Effect::Require,
    };
    let component = u8::try_from(component).ok()?;
    (!values.is_empty()).then_some(Constraint { effect, component, values, when, words: row.words })
}

/// Whether bytes can have been written by [`encode`], whatever the catalog.
pub(super) fn is_list(bytes: &[u8]) -> bool {
    bytes.is_empty() || serde_json::from_slice::<Vec<Row>>(bytes).is_ok()
}
