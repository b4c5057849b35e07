//! The tools that a catalog's values stand for: the table `[tools]` of its file.

use super::document::{Document, names, table};
use super::is_file;
use crate::toml_file::{self, Blame, FileError, Flaw, Source};
use fable_core::Catalog;

/// The tools that values of the component `tool` stand for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolTable(Vec<(String, Vec<String>)>);

impl ToolTable {
    /// The component that tools belong to.
    pub const COMPONENT: &'static str = "tool";

    /// The table with these rows: a value of the component `tool`, and the names of its tools.
    #[must_use]
    pub fn new(rows: Vec<(String, Vec<String>)>) -> Self {
        Self(rows)
    }

    /// The names that tools of the values of `agent` often have.
    #[must_use]
    pub fn usual() -> Self {
        let row = |value: &str, tools: &[&str]| {
            (value.to_owned(), tools.iter().map(|tool| (*tool).to_owned()).collect())
        };
        Self(vec![
            row(
                "web_search",
                &["web_search", "web_search_preview", "browse", "browser", "search_web", "google_search"],
            ),
            row("file_search", &["file_search", "search_files", "retrieval"]),
            row(
                "code_execution",
                &["code_interpreter", "code_execution", "execute_code", "run_code", "python"],
            ),
        ])
    }

    /// The rows.
    pub fn rows(&self) -> impl Iterator<Item = (&str, &[String])> {
        self.0.iter().map(|(value, tools)| (value.as_str(), tools.as_slice()))
    }

    /// The tools of a value, if it has a row.
    #[must_use]
    pub fn tools(&self, value: &str) -> Option<&[String]> {
        self.rows().find(|(name, _)| *name == value).map(|(_, tools)| tools)
    }
}

/// The table of a catalog that [`open`](super::open) opened under this name. `agent` has the [usual](ToolTable::usual) one; a file without a
/// table, like the other catalogs that ship, has none.
///
/// # Errors
/// An unreadable file, or a mistake in the table with its place.
pub fn tools(name_or_path: &str, catalog: &Catalog<'_>) -> Result<ToolTable, FileError> {
    if !is_file(name_or_path) {
        return Ok(if name_or_path == "agent" { ToolTable::usual() } else { ToolTable::default() });
    }
    let text = toml_file::text(name_or_path)?;
    let source = Source { file: name_or_path, text: &text };
    let document = Document::parse(source)?;
    let rows = rows(&document, catalog).map_err(|blame| source.mistake(blame))?;
    Ok(ToolTable::new(rows))
}

/// Every row, its value looked up.
pub(super) fn rows(document: &Document, catalog: &Catalog<'_>) -> Result<Vec<(String, Vec<String>)>, Blame> {
    let Some(written) = &document.tools else { return Ok(Vec::new()) };
    let components = catalog.definition().components.iter();
    let values: Vec<&str> = components
        .filter(|component| component.name == ToolTable::COMPONENT)
        .flat_map(|component| component.values)
        .map(|value| value.name)
        .collect();
    let mut rows = Vec::new();
    for (value, item) in table(written, "web_search = [\"web_search\", \"browse\"]")? {
        if !values.contains(&value.get_ref().as_str()) {
            let flaw =
                Flaw::unknown("the component 'tool' has no value", value.get_ref(), values.iter().copied());
            return Err(Blame::new(value.span(), flaw));
        }
        rows.push((
            value.get_ref().clone(),
            names(item)?.into_iter().map(toml::Spanned::into_inner).collect(),
        ));
    }
    Ok(rows)
}
