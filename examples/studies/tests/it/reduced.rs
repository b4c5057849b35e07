//! The committed numbers: a reduced run gives them again, bit for bit, and `RESULTS.md` is its sections put together.

use std::fs;
use studies::studies::ALL;
use studies::{Setup, StudyError, files};

/// A changed learner, simulator or study shows here. Where the data is missing, its studies are left out.
#[test]
fn reduced_runs_give_the_committed_numbers() {
    let setup = Setup::for_tests();
    for study in ALL {
        let report = match (study.run)(&setup) {
            Ok(report) => report,
            Err(error @ StudyError::MissingData { .. }) => {
                eprintln!("{}: skipped: {error}", study.name);
                continue;
            }
            Err(error) => panic!("{}: {error}", study.name),
        };
        let committed = fs::read_to_string(files::reduced(study.name)).unwrap_or_default();
        assert!(!report.numbers.is_empty(), "{} has no numbers", study.name);
        assert_eq!(
            report.numbers_text(),
            committed,
            "{0}: `cargo run --release -p studies -- {0} --reduced --write` if the change is meant",
            study.name
        );
    }
}

#[test]
fn results_are_their_sections() {
    let committed = fs::read_to_string(files::home().join("RESULTS.md")).unwrap();
    assert_eq!(files::assembled(&files::home()).unwrap(), committed, "`cargo run -p studies -- assemble` puts them together");
}

/// What was to be reached, and what was not, stands on the page of the examples too.
#[test]
fn the_readme_has_every_goal() {
    let results = fs::read_to_string(files::home().join("RESULTS.md")).unwrap();
    let readme = fs::read_to_string(files::home().join("../README.md")).unwrap();
    let page = files::with_goals(&readme, &results).unwrap();
    assert!(page == readme, "`cargo run -p studies -- assemble` puts the goals into examples/README.md");
    let defaults = fs::read_to_string(files::home().join("results/defaults.md")).unwrap();
    for (row, number) in [
        ("best of the sweep", "0.499"),
        ("today's defaults", "0.505"),
        ("the paper's draw", "0.597"),
        ("the theorem's schedule", "0.983"),
    ] {
        let row = defaults.lines().find(|line| line.starts_with(&format!("| {row}"))).unwrap();
        assert!(row.ends_with(&format!("| {number} |")) && readme.contains(number), "{row}");
    }
}
