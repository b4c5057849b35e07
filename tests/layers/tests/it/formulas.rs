//! The table of formulas in `tests/README.md`: every file and every function that it names exists, and every oracle is a test.

use std::fs;
use std::path::Path;

/// The texts between backquotes.
fn quoted(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

/// Tells if a text has a function of this name; an oracle has the attribute of a test at most four lines above.
fn has(text: &str, name: &str, oracle: bool) -> bool {
    let found = text.find(&format!("fn {name}(")).or_else(|| text.find(&format!("fn {name}<")));
    found.is_some_and(|at| !oracle || text[..at].lines().rev().take(4).any(|line| line.trim() == "#[test]"))
}

#[test]
fn every_formula_has_its_code_and_its_oracle() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = fs::read_to_string(root.join("tests/README.md")).unwrap();
    let section = page.split("## Formulas and their oracles").nth(1).unwrap().split("\n## ").next().unwrap();
    let rows: Vec<&str> = section.lines().filter(|line| line.starts_with("| ")).skip(1).collect();
    assert!(rows.len() > 20, "{} rows", rows.len());
    for row in rows {
        let cells: Vec<&str> = row.split(" | ").collect();
        let [_, code, oracle] = cells[..] else { panic!("{row}") };
        for (cell, is_oracle) in [(code, false), (oracle, true)] {
            let (mut text, mut tests) = (String::new(), 0);
            for name in quoted(cell) {
                if name.contains('/') {
                    text =
                        fs::read_to_string(root.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
                } else {
                    assert!(has(&text, name, is_oracle), "{name} in {row}");
                    tests += 1;
                }
            }
            assert!(!text.is_empty() && (!is_oracle || tests > 0), "{row}");
        }
    }
}
