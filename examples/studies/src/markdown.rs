//! Reports as Markdown, tables as CSV.

use crate::report::{Content, Goal, Report, Table};
use std::fmt::Write;

/// Marks the goals of a section, so that they can be gathered.
const GOALS: &str = "| goal | set on | result | |";
/// The last cell of a goal's row.
pub const REACHED: &str = "reached";
const MISSED: &str = "**missed**";

/// A study's section. Pictures are beside it, `NAME-plot.svg`.
#[must_use]
pub fn section(name: &str, report: &Report) -> String {
    let mut out = format!("## {name}: {}\n", report.title);
    if !report.goals.is_empty() {
        let _ = write!(out, "\n{GOALS}\n|---|---|---|---|\n");
        for goal in &report.goals {
            let _ = writeln!(out, "{}", goal_row(goal));
        }
    }
    for item in &report.contents {
        out.push('\n');
        match item {
            Content::Text(text) => {
                let _ = writeln!(out, "{text}");
            }
            Content::Table(content) => out.push_str(&table(content)),
            Content::Plot(plot) => {
                let _ = writeln!(out, "![{}]({name}-{}.svg)", plot.title, plot.name);
            }
        }
    }
    out
}

fn goal_row(goal: &Goal) -> String {
    format!(
        "| {} | {} | {} | {} |",
        goal.what,
        goal.set,
        goal.value,
        if goal.reached { REACHED } else { MISSED }
    )
}

/// A goal as a section has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrittenGoal<'a> {
    /// The row of the table.
    pub row: &'a str,
    /// See [`Goal::what`].
    pub what: &'a str,
    /// See [`Goal::value`].
    pub value: &'a str,
    /// [`REACHED`] or "**missed**".
    pub reached: &'a str,
}

/// The goals of a section.
pub fn goals(section: &str) -> impl Iterator<Item = WrittenGoal<'_>> {
    let rows =
        section.lines().skip_while(|line| *line != GOALS).skip(2).take_while(|line| line.starts_with('|'));
    rows.filter_map(|row| {
        let [what, _, value, reached] = row.trim_matches(['|', ' ']).split(" | ").collect::<Vec<_>>()[..]
        else {
            return None;
        };
        Some(WrittenGoal { row, what, value, reached })
    })
}

/// A table as Markdown: the first column to the left, the others, mostly numbers, to the right.
#[must_use]
pub fn table(table: &Table) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let rule: Vec<&str> = table
        .columns
        .iter()
        .enumerate()
        .map(|(column, _)| if column == 0 { "---" } else { "---:" })
        .collect();
    let mut out = line(&table.columns);
    let _ = writeln!(out, "|{}|", rule.join("|"));
    for row in &table.rows {
        out.push_str(&line(row));
    }
    out
}

/// A table as CSV (RFC 4180).
#[must_use]
pub fn csv(table: &Table) -> String {
    let quoted = |cell: &String| {
        if cell.contains([',', '"', '\n']) {
            format!("\"{}\"", cell.replace('"', "\"\""))
        } else {
            cell.clone()
        }
    };
    let line = |cells: &Vec<String>| cells.iter().map(quoted).collect::<Vec<_>>().join(",") + "\n";
    std::iter::once(&table.columns).chain(&table.rows).map(line).collect()
}

/// The cells of a CSV text, row by row, as [`csv`] writes them.
#[must_use]
pub fn cells(text: &str) -> Vec<Vec<String>> {
    let (mut rows, mut row, mut cell, mut quoted) = (Vec::new(), Vec::new(), String::new(), false);
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            // Two quotes within quotes are one.
            '"' if quoted && letters.peek() == Some(&'"') => cell.extend(letters.next()),
            '"' => quoted = !quoted,
            ',' if !quoted => row.push(std::mem::take(&mut cell)),
            '\n' if !quoted => {
                row.push(std::mem::take(&mut cell));
                rows.push(std::mem::take(&mut row));
            }
            letter => cell.push(letter),
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_keeps_its_goals() {
        let mut report = Report::new("a title");
        report.goal("at least 17", "17.5", true);
        report.goals_set("2026-11-18");
        report.goal("at most 3", "4", false);
        report.text(
            "Some
            prose.",
        );
        let mut numbers = Table::new("numbers", &["what", "a, b"]);
        numbers.row(["one \"1\"", "2"]);
        report.table(numbers.clone());
        let text = section("study", &report);
        assert_eq!(
            goals(&text).map(|goal| goal.row).collect::<Vec<_>>(),
            ["| at least 17 | 2026-11-16 | 17.5 | reached |", "| at most 3 | 2026-11-18 | 4 | **missed** |"]
        );
        let missed = goals(&text).nth(1).map(|goal| (goal.what, goal.value, goal.reached));
        assert_eq!(missed, Some(("at most 3", "4", MISSED)));
        assert!(text.contains("\nSome prose.\n\n| what | a, b |\n|---|---:|\n| one \"1\" | 2 |\n"), "{text}");
        assert_eq!(csv(&numbers), "what,\"a, b\"\n\"one \"\"1\"\"\",2\n");
        assert_eq!(cells(&csv(&numbers)), [["what", "a, b"], ["one \"1\"", "2"]]);
    }
}
