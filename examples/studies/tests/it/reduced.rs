//! The committed numbers: a reduced run gives them again, bit for bit, and `RESULTS.md` has the goals of the committed sections.

use std::fs;
use studies::studies::ALL;
use studies::{Setup, StudyError, files, markdown};

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
            "{0}: `studies {0} --reduced --write` if the change is meant",
            study.name
        );
    }
}

#[test]
fn results_are_their_sections() {
    let committed = fs::read_to_string(files::home().join("RESULTS.md")).unwrap();
    assert_eq!(files::assembled(&files::home()).unwrap(), committed, "`studies assemble` writes it again");
}

/// `RESULTS.md` is a page, not a book; every goal of every study is on it, with its value and a link to the rest.
#[test]
fn the_results_are_short_and_have_every_goal() {
    let results = fs::read_to_string(files::home().join("RESULTS.md")).unwrap();
    let words = results.split_whitespace().count();
    assert!(words <= 6000, "{words} words");
    let (mut all, mut missed) = (0, 0);
    for study in ALL {
        let (_, rest) =
            results.split_once(&format!("\n## {}\n", study.name)).unwrap_or_else(|| panic!("{}", study.name));
        let part = rest.split("\n## ").next().unwrap();
        let page = format!("results/{}.md", study.name);
        assert!(part.contains(study.summary) && part.contains(&format!("]({page})")), "{part}");
        let section = fs::read_to_string(files::home().join(page)).unwrap();
        for goal in markdown::goals(&section) {
            let row = format!("| {} | {} | {} |", goal.what, goal.value, goal.reached);
            assert_eq!(part.lines().filter(|line| *line == row).count(), 1, "{row}");
            missed += usize::from(goal.reached == "**missed**");
            all += 1;
        }
    }
    assert_eq!((all, missed), (144, 35), "a goal stays, and a missed one says so");
    assert!(results.contains("\n109 of 144 goals were reached, 35 were missed."));
}

/// What was to be reached, and what was not, stands on the page of the examples too.
#[test]
fn the_readme_has_every_goal() {
    let readme = fs::read_to_string(files::home().join("../README.md")).unwrap();
    let page = files::with_goals(&readme, &files::goals(&files::home()).unwrap()).unwrap();
    assert!(page == readme, "`studies assemble` writes the goals into examples/README.md");
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
