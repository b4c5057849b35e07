//! The opening of `RESULTS.md`, for a stranger to the project: a paragraph, a picture and a table of at most eight rows.
//!
//! Every number is a cell of a results file (`results/*.csv`), found by the names of its row and its column: a study that gives
//! another number changes this page the next time it is put together, and a row whose cells are not there is left out.

mod picture;
mod questions;

use crate::markdown;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// The name of the picture, in the folder of the results.
pub const PICTURE: &str = "opening.svg";

/// The results files of a folder.
#[derive(Clone, Debug)]
pub struct Results {
    folder: PathBuf,
}

impl Results {
    /// Those below a folder.
    #[must_use]
    pub fn of(out: &Path) -> Self {
        Self { folder: out.join("results") }
    }

    /// The rows of a file; none where it is not there.
    #[must_use]
    pub fn rows(&self, file: &str) -> Vec<Vec<String>> {
        markdown::cells(&fs::read_to_string(self.folder.join(format!("{file}.csv"))).unwrap_or_default())
    }

    /// A cell, by the beginnings of its row's first cell, which may be in bold, and of its column's head.
    #[must_use]
    pub fn cell(&self, file: &str, row: &str, column: &str) -> Option<String> {
        let rows = self.rows(file);
        let place = rows.first()?.iter().position(|head| head.starts_with(column))?;
        let row = rows
            .iter()
            .skip(1)
            .find(|cells| cells.first().is_some_and(|name| name.trim_matches('*').starts_with(row)))?;
        row.get(place).filter(|cell| !cell.is_empty()).cloned()
    }

    /// The number that a cell begins with.
    #[must_use]
    pub fn number(&self, file: &str, row: &str, column: &str) -> Option<f64> {
        first_number(&self.cell(file, row, column)?)
    }
}

/// The number that a cell begins with: `0.42 (0.39 to 0.44)`, `+0.3`, `**12%**`.
fn first_number(cell: &str) -> Option<f64> {
    let text = cell.trim_start_matches('*');
    let end =
        text.find(|letter: char| !(letter.is_ascii_digit() || "+-.".contains(letter))).unwrap_or(text.len());
    text.get(..end)?.parse().ok()
}

/// The picture, if the results that it shows are there.
#[must_use]
pub fn picture(out: &Path) -> Option<String> {
    picture::draw(&Results::of(out))
}

/// The text between the title and the studies; `reached` has an entry for each goal.
#[must_use]
pub fn text(out: &Path, reached: &[bool]) -> String {
    let results = Results::of(out);
    let mut text = format!("{PLAIN}\n");
    if picture::draw(&results).is_some() {
        let _ = write!(text, "\n![{}](results/{PICTURE})\n", picture::TITLE);
    }
    let rows = questions::rows(&results);
    if !rows.is_empty() {
        text.push_str("\n| question | result | data |\n|---|---|---|\n");
        for [asked, came_out, on] in &rows {
            let _ = writeln!(text, "| {asked} | {came_out} | {on} |");
        }
    }
    let count = reached.iter().filter(|reached| **reached).count();
    let _ = write!(
        text,
        "\n{count} of {} goals were reached, {} were missed. The page of a study has the day on which each goal was set. Seven goals of \
         `tau2`, four of `two-direction` and the shoppers of `adapt` were set when earlier results were known; the studies say so.\n",
        reached.len(),
        reached.len() - count
    );
    text
}

const PLAIN: &str = "\
Fable is a layer around an assistant. It learns for each user which memory, tool and style an answer should have. It decides before
each answer and learns from the reaction; the assistant does not change. This page reports how soon that works, how well, and where it
fails. _Regret_ is the reward of the best possible choices minus the reward received.";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files;

    #[test]
    fn cells_are_found_by_names_and_give_their_first_number() {
        let results = Results::of(&files::home());
        assert!(
            results
                .number("adapt-regret", "as shipped", "`tau2`, graded, 200")
                .is_some_and(|ratio| (0.0..1.0).contains(&ratio))
        );
        assert_eq!(results.number("adapt-regret", "as shipped", "no such column"), None);
        assert_eq!(results.cell("no-such-file", "", ""), None);
        for (cell, number) in
            [("0.42 (0.39 to 0.44)", 0.42), ("**+12%**", 12.0), ("-0.5 ± 0.1", -0.5), ("2e", 2.0)]
        {
            assert_eq!(first_number(cell), Some(number), "{cell}");
        }
        assert_eq!(first_number("more than 600"), None);
    }

    /// The committed results have every row and both halves of the picture: a study that renames a column must rename it there, too.
    #[test]
    fn the_committed_results_answer_every_question() {
        let results = Results::of(&files::home());
        let rows = questions::rows(&results);
        assert_eq!((rows.len(), questions::ASKED), (questions::ASKED, rows.len()));
        assert!(rows.len() <= 8);
        let svg = picture(&files::home()).unwrap();
        assert!(svg.contains("Fable") && svg.contains("cameras") && svg.ends_with("</svg>\n"));
        let committed = fs::read_to_string(files::home().join("results").join(PICTURE)).unwrap();
        assert!(
            svg == committed,
            "`cargo run --manifest-path examples/studies/Cargo.toml -- assemble` draws it again"
        );
    }

    #[test]
    fn without_results_there_is_a_paragraph_and_nothing_else() {
        let text = text(Path::new("no/such/folder"), &[]);
        assert!(text.starts_with(PLAIN) && !text.contains('|') && !text.contains("]("), "{text}");
    }
}
