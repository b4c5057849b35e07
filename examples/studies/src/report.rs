//! What a study gives: prose, tables, plots, goals, and a flat list of named numbers.

use crate::plot::Plot;
use std::fmt::Write;

/// The day on which goals were written down where a study says no other.
const FIRST_EDITION: &str = "2026-11-16";

/// The result of a study.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// One line.
    pub title: String,
    /// Prose, tables and plots in their order.
    pub contents: Vec<Content>,
    /// What was to be reached.
    pub goals: Vec<Goal>,
    /// The day on which the goals that are added next were written down.
    goals_set: &'static str,
    /// The numbers that a reduced run must give again exactly.
    pub numbers: Vec<(String, f64)>,
}

/// A piece of a report.
#[derive(Clone, Debug)]
pub enum Content {
    /// A paragraph, a list or a heading, in Markdown.
    Text(String),
    /// A table.
    Table(Table),
    /// A plot.
    Plot(Plot),
}

/// Something that was to be reached.
#[derive(Clone, Debug)]
pub struct Goal {
    /// What.
    pub what: String,
    /// The day on which it was written down, before the first run that could tell.
    pub set: &'static str,
    /// What came out.
    pub value: String,
    /// Whether it was reached.
    pub reached: bool,
}

impl Report {
    /// A report with nothing in it yet.
    #[must_use]
    pub fn new(title: &str) -> Self {
        Self { title: title.into(), goals_set: FIRST_EDITION, ..Self::default() }
    }

    /// The goals that are added next were written down on this day, before the study was run.
    pub const fn goals_set(&mut self, day: &'static str) {
        self.goals_set = day;
    }

    /// Adds a paragraph; line breaks and indentation within it count as spaces.
    pub fn text(&mut self, text: &str) {
        self.contents.push(Content::Text(text.split_whitespace().collect::<Vec<_>>().join(" ")));
    }

    /// Adds a heading.
    pub fn heading(&mut self, text: &str) {
        self.contents.push(Content::Text(format!("### {text}")));
    }

    /// Adds a list.
    pub fn list(&mut self, items: &[String]) {
        self.contents
            .push(Content::Text(items.iter().map(|item| format!("- {item}")).collect::<Vec<_>>().join("\n")));
    }

    /// Adds a table.
    pub fn table(&mut self, table: Table) {
        self.contents.push(Content::Table(table));
    }

    /// Adds a plot.
    pub fn plot(&mut self, plot: Plot) {
        self.contents.push(Content::Plot(plot));
    }

    /// Adds what was to be reached, what came out, and whether that is enough.
    pub fn goal(&mut self, what: &str, value: impl Into<String>, reached: bool) {
        self.goals.push(Goal { what: what.into(), set: self.goals_set, value: value.into(), reached });
    }

    /// Adds a number that a run must give again exactly.
    pub fn number(&mut self, name: impl Into<String>, value: f64) {
        self.numbers.push((name.into(), value));
    }

    /// The numbers, one per line; a number is written so that it is read back exactly.
    #[must_use]
    pub fn numbers_text(&self) -> String {
        let mut text = String::new();
        for (name, value) in &self.numbers {
            let _ = writeln!(text, "{name} {value:?}");
        }
        text
    }
}

/// A table with a name, for its file, and cells that are ready to be shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// The name of its file, without the study's.
    pub name: String,
    /// The heads of the columns.
    pub columns: Vec<String>,
    /// The rows.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// An empty table.
    #[must_use]
    pub fn new<S: AsRef<str>>(name: &str, columns: &[S]) -> Self {
        let columns = columns.iter().map(|column| column.as_ref().to_owned()).collect();
        Self { name: name.into(), columns, rows: Vec::new() }
    }

    /// Adds a row.
    pub fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }
}

/// A number with its spread: `0.712 ± 0.031`.
#[must_use]
pub fn plus_minus(mean: f64, spread: f64) -> String {
    format!("{mean:.3} ± {spread:.3}")
}

/// An estimate with an interval: `+0.12 (+0.05 to +0.19)`.
#[must_use]
pub fn with_interval(estimate: f64, (lower, upper): (f64, f64)) -> String {
    format!("{estimate:+.3} ({lower:+.3} to {upper:+.3})")
}
