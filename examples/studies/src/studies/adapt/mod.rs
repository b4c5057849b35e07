//! How soon and how well a learner adapts: cold starts, thumbs, tastes that change.
//!
//! Every way of exploring and of forgetting is a row of [`CANDIDATES`], and all numbers are relative to the first row. The row
//! that is best on half of the simulated users is reported on the other half.

pub mod demo;
pub mod simulated;

use super::pahf_shopping;
use crate::candidate::{Candidate, DRAW};
use crate::report::{Report, Table};
use crate::setup::{Setup, StudyError};
use crate::statistics::{cluster_bootstrap, mean};
use fable_core::catalog::{AGENT, TAU2};
use fable_core::{Catalog, Settings};
use simulated::{Lives, Rewards};
use std::ops::Range;

/// The line in the list of studies.
pub const ABOUT: &str = "exploring and forgetting: cold starts, thumbs and tastes that change, for each of several settings";

/// What is compared; the first row is what the others are relative to.
const CANDIDATES: &[Candidate] = &[
    DRAW,
    Candidate::draw("draw, precision 16, nu = 0.1", 16.0, 0.1),
    Candidate::draw("draw, precision 16, nu = 0.5", 16.0, 0.5),
    Candidate::draw("draw, precision 64, nu = 0.5", 64.0, 0.5),
];

/// Users that nothing was chosen on.
const FRESH: usize = 100_000;
/// When all tastes change, and how long life is then.
const CHANGE: usize = 300;
const CHANGED_ROUNDS: usize = 600;
/// Rounds that regret is looked at over.
const SHORT: usize = 30;
const LONG: usize = 200;

/// The quality of the four phases of `pahf-shopping` under several settings.
///
/// # Errors
/// The data is missing or cannot be read.
pub fn shopping(setup: &Setup, settings: &[Settings<'static>], seeds: usize) -> Result<Vec<[f64; 4]>, StudyError> {
    pahf_shopping::phases(setup, settings, seeds)
}

/// The regret of some rounds, by life and row.
struct Regret(Vec<Vec<f64>>);

impl Regret {
    fn of(lives: &[Vec<Vec<f64>>], rounds: Range<usize>) -> Self {
        let sum = |life: &Vec<f64>| life.get(rounds.clone()).unwrap_or_default().iter().sum();
        Self(lives.iter().map(|rows| rows.iter().map(sum).collect()).collect())
    }

    /// Relative to the first row, with a 95% interval of the bootstrap over lives.
    fn relative(&self, row: usize) -> (f64, (f64, f64)) {
        // A ratio of sums: the two of a life are drawn together.
        let pairs: Vec<(f64, f64)> = self.0.iter().filter_map(|life| Some((*life.get(row)?, *life.first()?))).collect();
        let (own, first) = pairs.iter().fold((0.0, 0.0), |(own, first), pair| (own + pair.0, first + pair.1));
        (if first > 0.0 { own / first } else { 1.0 }, cluster_bootstrap(&pairs, 2000, row as u64))
    }

    fn cell(&self, row: usize) -> String {
        let (ratio, (lower, upper)) = self.relative(row);
        format!("{ratio:.2} ({lower:.2} to {upper:.2})")
    }
}

/// A column of the comparison.
struct Column {
    name: String,
    regret: Regret,
}

/// Users whose tastes stay: two catalogs, two kinds of rewards, a short and a long time.
fn stationary(setup: &Setup, settings: &[Settings<'static>], first: usize) -> Result<Vec<Column>, StudyError> {
    let catalogs: [(&'static Catalog<'static>, usize); 2] = [(&AGENT, setup.scale(100, 3)), (&TAU2, setup.scale(300, 8))];
    let mut columns = Vec::new();
    for (catalog, users) in catalogs {
        for (rewards, said) in [(Rewards::Graded, "graded"), (Rewards::Thumbs, "thumbs")] {
            let lives = Lives { catalog, rewards, rounds: LONG as u32, change: None };
            let lives = lives.regret(setup, settings, first..first + users)?;
            for rounds in [SHORT, LONG] {
                let name = format!("`{}`, {said}, {rounds}", catalog.definition().name);
                columns.push(Column { name, regret: Regret::of(&lives, 0..rounds) });
            }
        }
    }
    Ok(columns)
}

/// Users of `tau2` whose tastes all change, after the change, and others whose tastes stay.
fn changing(setup: &Setup, settings: &[Settings<'static>]) -> Result<[Column; 2], StudyError> {
    let lives = |change| {
        let lives = Lives { catalog: &TAU2, rewards: Rewards::Graded, rounds: CHANGED_ROUNDS as u32, change };
        lives.regret(setup, settings, FRESH..FRESH + setup.scale(300, 4))
    };
    let after = Regret::of(&lives(Some(CHANGE as u32))?, CHANGE..CHANGED_ROUNDS);
    let stayed = Regret::of(&lives(None)?, 0..CHANGED_ROUNDS);
    let name = |text: &str| format!("`tau2`, {text}");
    Ok([
        Column { name: name("300 rounds after a change"), regret: after },
        Column { name: name("600 rounds without one"), regret: stayed },
    ])
}

/// The mean of the first rounds of the demo's lives.
fn first_rounds(lives: &[Vec<f64>], rounds: usize) -> f64 {
    mean(&lives.iter().flat_map(|life| life.iter().take(rounds).copied()).collect::<Vec<_>>())
}

/// The row with the least regret: the mean of the logarithms, so that columns count alike.
fn best(columns: &[Column], rows: usize) -> usize {
    let score = |row: usize| mean(&columns.iter().map(|column| column.regret.relative(row).0.ln()).collect::<Vec<_>>());
    (0..rows).reduce(|best, next| if score(next) < score(best) { next } else { best }).unwrap_or(0)
}

/// Runs the study.
///
/// # Errors
/// The data is missing, or what the learner says.
pub fn run(setup: &Setup) -> Result<Report, StudyError> {
    let settings: Vec<Settings<'static>> = CANDIDATES.iter().map(|candidate| candidate.settings).collect();
    let chosen = best(&stationary(setup, &settings, 0)?, settings.len());
    let mut columns = stationary(setup, &settings, FRESH)?;
    columns.extend(changing(setup, &settings)?);

    let mut report = Report::new("exploring and forgetting, for each of several settings");
    report.text(
        "Simulated users as the simulator draws them (length 1, noise of half width 0.35), each living through the same requests and the
         same noise under every row. _Thumbs_ are +1 or -1 with the mean of the graded reward. After a change the user has the tastes of
         somebody else. Regret is of mean rewards, against the best action, in sum over the rounds of the column's name. The row in bold
         is the best on 100 and 300 other users of `agent` and `tau2`, by the mean of the logarithms over its eight columns.",
    );
    let heads =
        ["regret relative to the first row".to_owned()].into_iter().chain(columns.iter().map(|column| column.name.clone()));
    let mut table = Table::new("regret", &heads.collect::<Vec<_>>());
    for (row, candidate) in CANDIDATES.iter().enumerate() {
        let name = if row == chosen { format!("**{}**", candidate.name) } else { candidate.name.to_owned() };
        table.row([name].into_iter().chain(columns.iter().map(|column| column.regret.cell(row))));
        for column in &columns {
            report.number(format!("{}: {}", candidate.name, column.name), column.regret.relative(row).0);
        }
    }
    report.table(table);
    report.text("With 95% intervals of the bootstrap over users.");
    report.heading("The first rounds");
    first_rounds_of_the_demo(&mut report, setup)?;
    // The small version does without data: its numbers are the same everywhere.
    if !setup.reduced {
        report.heading("Shoppers whose tastes change");
        let mut table =
            Table::new("shopping", &["quality", "1: learning", "2: held out", "3: learning after the drift", "4: held out"]);
        for (candidate, phases) in CANDIDATES.iter().zip(shopping(setup, &settings, 20)?) {
            table.row([candidate.name.to_owned()].into_iter().chain(phases.map(|quality| format!("{quality:.3}"))));
        }
        report.table(table);
        report.text("The row _Fable (full)_ of `pahf-shopping` under other settings, 20 seeds.");
    }
    Ok(report)
}

fn first_rounds_of_the_demo(report: &mut Report, setup: &Setup) -> Result<(), StudyError> {
    let mut table = Table::new("demo", &["mean reward", "rounds 1 to 10", "rounds 1 to 50"]);
    let learners = CANDIDATES.iter().map(|candidate| (candidate.name, Some(candidate.settings)));
    for (name, settings) in [("rules only", None)].into_iter().chain(learners) {
        let lives = demo::rewards(setup, settings, demo::USER, 50)?;
        let [ten, fifty] = [10, 50].map(|rounds| first_rounds(&lives, rounds));
        table.row([name.to_owned(), format!("{ten:+.3}"), format!("{fifty:+.3}")]);
        report.number(format!("{name}: demo, 10"), ten);
        report.number(format!("{name}: demo, 50"), fifty);
    }
    report.table(table);
    report.text(&format!("The {} lives of `fable demo`.", demo::LIVES));
    Ok(())
}
