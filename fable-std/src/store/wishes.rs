//! What a user wishes: rules of their own, and switches.
//!
//! The wishes themselves are [in the learner](fable_core::preference::UserRule), so everybody who has the user obeys them: `fable serve`, `fable chat`, a
//! device, and another process with the same store. Beside the journal stands a document with the words in which rules were said. It
//! is one JSON object, and a rule that it does not know has no words.
//!
//! ```
//! use fable_core::catalog::AGENT;
//! use fable_std::store::wishes::Wishes;
//! use fable_std::text::{OnboardingAdapter, PreferenceText, Rules};
//!
//! let said = Rules.onboarding(&AGENT, PreferenceText::new("never search the web"))?.value.constraints;
//! let wishes = Wishes { rules: said, layer: false, memory: Some(true) };
//! let document = wishes.encode(&AGENT)?;
//! assert!(document.starts_with(br#"{"rules":[{"effect":"forbid","component":"tool","values":["web_search"],"when":null,"#));
//! assert_eq!(Wishes::of(&AGENT, wishes.list(), &document)?, wishes);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use super::StoreError;
use crate::text::Constraint;
use fable_core::Catalog;
use fable_core::catalog::{Effect, When};
use fable_core::catalog::{Rename, RenameKind};
use fable_core::preference::UserRule;
use serde::{Deserialize, Serialize};

/// What a user wishes. See the [module](self).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wishes {
    /// The user's own rules, in the order in which they were said.
    pub rules: Vec<Constraint>,
    /// Whether anything is decided for the user and learned about them.
    pub layer: bool,
    /// Whether what is said may be remembered; `None` as long as the user has not said.
    pub memory: Option<bool>,
}

impl Default for Wishes {
    fn default() -> Self {
        Self { rules: Vec::new(), layer: true, memory: None }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    rules: Vec<Row>,
}

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

impl Wishes {
    /// What a learner has, with the words of a document.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] for a document that [`encode`](Self::encode) did not write, names of another catalog included.
    pub fn of(
        catalog: &Catalog<'_>,
        wishes: impl IntoIterator<Item = UserRule>,
        document: &[u8],
    ) -> Result<Self, StoreError> {
        let mut found = Self::default();
        let mut left: Vec<UserRule> = Vec::new();
        for wish in wishes {
            match wish {
                UserRule::Off => found.layer = false,
                UserRule::Remember(yes) => found.memory = Some(yes),
                rule => left.push(rule),
            }
        }
        for said in decode(catalog, document)? {
            let own: Vec<UserRule> = said.wishes().collect();
            if !own.is_empty() && own.iter().all(|wish| left.contains(wish)) {
                left.retain(|wish| !own.contains(wish));
                found.rules.push(said);
            }
        }
        for wish in left {
            found.add(wish);
        }
        Ok(found)
    }

    /// A rule of which no words are known. Values that are required in the same place are alternatives.
    fn add(&mut self, wish: UserRule) {
        let Some(mut new) = Constraint::of(&[wish]) else { return };
        let beside = |rule: &&mut Constraint| {
            (rule.effect, rule.component, rule.when) == (Effect::Require, new.component, new.when)
                && new.effect == rule.effect
        };
        match self.rules.iter_mut().find(beside) {
            Some(rule) => rule.values.append(&mut new.values),
            None => self.rules.push(new),
        }
    }

    /// The wishes as a learner has them, each once.
    #[must_use]
    pub fn list(&self) -> Vec<UserRule> {
        let switches =
            (!self.layer).then_some(UserRule::Off).into_iter().chain(self.memory.map(UserRule::Remember));
        let mut list = Vec::new();
        for wish in self.rules.iter().flat_map(Constraint::wishes).chain(switches) {
            if !list.contains(&wish) {
                list.push(wish);
            }
        }
        list
    }

    /// The document with the words; no bytes when there are no rules.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] for a rule that names what the catalog does not have.
    pub fn encode(&self, catalog: &Catalog<'_>) -> Result<Vec<u8>, StoreError> {
        if self.rules.is_empty() {
            return Ok(Vec::new());
        }
        let rules: Option<Vec<Row>> = self.rules.iter().map(|rule| row(catalog, rule)).collect();
        let bytes = rules.and_then(|rules| serde_json::to_vec(&Document { rules }).ok());
        bytes.ok_or(StoreError::Damaged("a rule is of another catalog"))
    }
}

/// The rules of a document.
///
/// # Errors
/// [`StoreError::Damaged`] for anything that [`Wishes::encode`] did not write, names of another catalog included.
pub fn decode(catalog: &Catalog<'_>, document: &[u8]) -> Result<Vec<Constraint>, StoreError> {
    let rules =
        rows(document).and_then(|rows| rows.into_iter().map(|row| constraint(catalog, row)).collect());
    rules.ok_or(StoreError::Damaged("a user's rules cannot be read"))
}

/// The rules of a document as it is written: JSON can say the same in other bytes, and those are none.
fn rows(document: &[u8]) -> Option<Vec<Row>> {
    if document.is_empty() {
        return Some(Vec::new());
    }
    let read: Document = serde_json::from_slice(document).ok()?;
    let same = serde_json::to_vec(&read).is_ok_and(|written| written == document);
    (same && !read.rules.is_empty()).then_some(read.rules)
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
    let values: Vec<u8> =
        row.values.iter().map(|value| catalog.value(component, value)).collect::<Option<_>>()?;
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

/// The same document under another catalog: parts have the names that the renames say, and what is about something that is gone is left
/// out.
///
/// # Errors
/// [`StoreError::Damaged`] for anything that [`Wishes::encode`] did not write.
pub fn carried(
    document: &[u8],
    renames: &[Rename<'_>],
    catalog: &Catalog<'_>,
) -> Result<Vec<u8>, StoreError> {
    let rows = rows(document).ok_or(StoreError::Damaged("a user's rules cannot be read"))?;
    let rules =
        rows.into_iter().filter_map(|row| constraint(catalog, renamed(row, renames, catalog)?)).collect();
    Wishes { rules, ..Wishes::default() }.encode(catalog)
}

/// A rule with the names of the new catalog, about those of its values that are there.
fn renamed(row: Row, renames: &[Rename<'_>], catalog: &Catalog<'_>) -> Option<Row> {
    // A name that something else has got is not its own any more.
    let name = |kind: RenameKind, from: &str| {
        let of_kind = || renames.iter().filter(|rename| rename.kind == kind);
        let own = of_kind().find(|rename| rename.from == from).map(|rename| rename.to);
        own.or_else(|| of_kind().all(|rename| rename.to != from).then_some(from)).map(str::to_owned)
    };
    let component = name(RenameKind::Component, &row.component)?;
    let place = catalog.component(&component)?;
    let value = |value: &String| {
        let from = format!("{}={value}", row.component);
        let own = renames.iter().find(|rename| rename.kind == RenameKind::Value && rename.from == from);
        let to = own.map_or_else(|| format!("{component}={value}"), |rename| rename.to.to_owned());
        let taken =
            own.is_none() && renames.iter().any(|rename| rename.kind == RenameKind::Value && rename.to == to);
        let (_, value) = to.split_once('=').filter(|_| !taken)?;
        catalog.value(place, value).map(|_| value.to_owned())
    };
    let when = match row.when.as_deref().map(|when| (when, when.strip_prefix("task="))) {
        None => None,
        Some((_, Some(task))) => Some(format!("task={}", name(RenameKind::Task, task)?)),
        Some((signal, None)) => Some(name(RenameKind::Signal, signal)?),
    };
    Some(Row { values: row.values.iter().filter_map(value).collect(), component, when, ..row })
}

/// Whether bytes can be such a document, whatever the catalog.
pub(super) fn is_document(bytes: &[u8]) -> bool {
    rows(bytes).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fable_core::catalog::AGENT;

    #[test]
    fn only_what_was_written_is_read() {
        let written = br#"{"rules":[{"effect":"forbid","component":"tool","values":["web_search"],"when":null,"words":"no"}]}"#;
        assert_eq!(decode(&AGENT, written).unwrap().len(), 1);
        let others: [&[u8]; 5] = [
            b"[[]]",
            br#"{"rules":[]}"#,
            br#"[[{"effect":"forbid","component":"tool","values":["web_search"],"when":null,"words":"no"}]]"#,
            br#"{"rules":[["forbid","tool",["web_search"],null,"no"]]}"#,
            br#"{"rules": [{"effect":"forbid","component":"tool","values":["web_search"],"when":null,"words":"no"}]}"#,
        ];
        for other in others {
            assert!(decode(&AGENT, other).is_err() && !is_document(other), "{}", other.escape_ascii());
        }
    }
}
