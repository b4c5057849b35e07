//! How soon and how well a learner adapts: cold starts, thumbs, tastes that change.
//!
//! Every way of exploring and of forgetting is a row of [`CANDIDATES`], and all numbers are relative to the first row. The row
//! that is best on half of the simulated users is reported on the other half. Goals are for the settings that ship.

pub mod demo;
pub mod simulated;

use super::pahf_shopping;
use crate::candidate::{Candidate, DRAW, FADING, OTHER_SCALE, RESETTING, SHIPPED};
use crate::report::{Report, Table};
use crate::setup::{Setup, StudyError};
use crate::statistics::{cluster_bootstrap, mean};
use fable_core::catalog::{AGENT, TAU2};
use fable_core::{Catalog, Settings};
use simulated::{Lives, Rewards};
use std::ops::Range;

/// The line in the list of studies.
pub const ABOUT: &str =
    "exploring and forgetting: cold starts, thumbs and tastes that change, for each of several settings";

/// What is compared; the first row is what the others are relative to.
const CANDIDATES: &[Candidate] = &[
    DRAW,
    SHIPPED,
    Candidate::optimistic("the same, c = 1", 4.0, 1.0),
    Candidate::optimistic("the same, c = 2", 4.0, 2.0),
    Candidate::optimistic("the same, precision 2 per feature", 2.0, 1.5),
    Candidate::optimistic("the same, precision 8 per feature", 8.0, 1.5),
    OTHER_SCALE,
    FADING,
    RESETTING,
];
/// Places in it.
const SHIPPED_ROW: usize = 1;
const FADING_ROW: usize = 7;
const RESETTING_ROW: usize = 8;

/// Users that nothing was chosen on.
const FRESH: usize = 100_000;
/// When all tastes change, and how long life is then.
const CHANGE: usize = 300;
const CHANGED_ROUNDS: usize = 600;
/// Rounds that regret is looked at over.
const SHORT: usize = 30;
const LONG: usize = 200;

/// Draws of a shopper that are looked at.
const SEEDS: usize = 20;

/// The regret of some rounds, by life and row.
pub(super) struct Regret(Vec<Vec<f64>>);

impl Regret {
    pub(super) fn of(lives: &[Vec<Vec<f64>>], rounds: Range<usize>) -> Self {
        let sum = |life: &Vec<f64>| life.get(rounds.clone()).unwrap_or_default().iter().sum();
        Self(lives.iter().map(|rows| rows.iter().map(sum).collect()).collect())
    }

    /// Relative to the first row, with a 95% interval of the bootstrap over lives.
    pub(super) fn relative(&self, row: usize) -> (f64, (f64, f64)) {
        // A ratio of sums: the two of a life are drawn together.
        let pairs: Vec<(f64, f64)> =
            self.0.iter().filter_map(|life| Some((*life.get(row)?, *life.first()?))).collect();
        let (own, first) = pairs.iter().fold((0.0, 0.0), |(own, first), pair| (own + pair.0, first + pair.1));
        (if first > 0.0 { own / first } else { 1.0 }, cluster_bootstrap(&pairs, 2000, row as u64))
    }

    /// The same as it is shown.
    pub(super) fn cell(&self, row: usize) -> String {
        let (ratio, (lower, upper)) = self.relative(row);
        format!("{ratio:.2} ({lower:.2} to {upper:.2})")
    }
}

/// A column of the comparison.
struct Column {
    name: String,
    regret: Regret,
    /// What the settings that ship may have at most, relative to the first row.
    most: f64,
}

/// Users whose tastes stay: two catalogs, two kinds of rewards, a short and a long time.
fn stationary(
    setup: &Setup,
    settings: &[Settings<'static>],
    first: usize,
) -> Result<Vec<Column>, StudyError> {
    let catalogs: [(&'static Catalog<'static>, usize); 2] =
        [(&AGENT, setup.scale(100, 3)), (&TAU2, setup.scale(300, 8))];
    let mut columns = Vec::new();
    for (catalog, users) in catalogs {
        let thumbs = if catalog.definition().name == "agent" { 0.8 } else { 0.5 };
        for (rewards, said, most) in [(Rewards::Graded, "graded", 0.7), (Rewards::Thumbs, "thumbs", thumbs)] {
            let lives = Lives { catalog, rewards, rounds: LONG as u32, change: None };
            let lives = lives.regret(setup, settings, first..first + users)?;
            for rounds in [SHORT, LONG] {
                let name = format!("`{}`, {said}, {rounds}", catalog.definition().name);
                let most = if rounds == LONG { most } else { 1.0 };
                columns.push(Column { name, regret: Regret::of(&lives, 0..rounds), most });
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
        Column { name: name("300 rounds after a change"), regret: after, most: 0.3 },
        Column { name: name("600 rounds without one"), regret: stayed, most: 0.5 },
    ])
}

/// The mean of the first rounds of the demo's lives.
fn first_rounds(lives: &[Vec<f64>], rounds: usize) -> f64 {
    mean(&lives.iter().flat_map(|life| life.iter().take(rounds).copied()).collect::<Vec<_>>())
}

/// The row with the least regret: the mean of the logarithms, so that columns count alike.
fn best(columns: &[Column], rows: usize) -> usize {
    let score = |row: usize| {
        mean(&columns.iter().map(|column| column.regret.relative(row).0.ln()).collect::<Vec<_>>())
    };
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
    let stationary = columns.len();
    columns.extend(changing(setup, &settings)?);

    let mut report = Report::new("exploring and forgetting, for each of several settings");
    report.text(
        "Simulated users as the simulator draws them (length 1, noise of half width 0.35), each living through the same requests and the
         same noise under every row. _Thumbs_ are +1 or -1 with the mean of the graded reward. After a change the user has the tastes of
         somebody else. Regret is of mean rewards, against the best action, in sum over the rounds of the column's name. The row in bold
         is the best on 100 and 300 other users of `agent` and `tau2`, by the mean of the logarithms over its eight columns.",
    );
    let heads = ["regret relative to the first row".to_owned()]
        .into_iter()
        .chain(columns.iter().map(|column| column.name.clone()));
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
    let (stays, changes) = columns.split_at(stationary);
    for column in stays {
        let (what, ratio) = (
            format!("{} rounds: regret at most {} of the draw's", column.name, column.most),
            column.regret.cell(SHIPPED_ROW),
        );
        report.goal(&what, ratio, column.regret.relative(SHIPPED_ROW).0 <= column.most);
    }
    for column in changes {
        let what = format!("{}, with a reset: regret at most {} of the draw's", column.name, column.most);
        report.goal(
            &what,
            column.regret.cell(RESETTING_ROW),
            column.regret.relative(RESETTING_ROW).0 <= column.most,
        );
    }
    report.heading("The first rounds");
    first_rounds_of_the_demo(&mut report, setup)?;
    // The small version does without data: its numbers are the same everywhere.
    if !setup.reduced {
        report.heading("Shoppers whose tastes change");
        shoppers(&mut report, setup)?;
    }
    Ok(report)
}

/// The phases of `pahf-shopping`, of which the first two come before tastes change and the last two after.
fn shoppers(report: &mut Report, setup: &Setup) -> Result<(), StudyError> {
    let of = |candidate: &Candidate| {
        let phases = pahf_shopping::phases(setup, &[candidate.settings], candidate.seeds(SEEDS))?;
        Ok(phases.first().copied().unwrap_or_default())
    };
    let phases = CANDIDATES.iter().map(of).collect::<Result<Vec<[f64; 4]>, StudyError>>()?;
    let mut table = Table::new(
        "shopping",
        &["quality", "1: learning", "2: held out", "3: learning after the drift", "4: held out"],
    );
    for (candidate, phases) in CANDIDATES.iter().zip(&phases) {
        table.row(
            [candidate.name.to_owned()].into_iter().chain(phases.map(|quality| format!("{quality:.3}"))),
        );
    }
    report.table(table);
    report.text(&format!(
        "The row _Fable (full)_ of `pahf-shopping` under other settings; {SEEDS} seeds of a draw. These are the 20 shoppers that the
         settings were looked at on, not others: the 16 rewards that the learned scale waits for were taken from 46 runs of settings and
         rules over the numbers of this study and of `people`. So that goal is reached by choosing, and barely: with 4 rewards instead of
         16 phase 2 has 0.459 with a half-life of 20, with 32 it has 0.452. The fixed scale reaches it with a reset, and more clearly.
         What the learned scale costs is here, phase 3 above all; what it gives is with thumbs on `tau2`, on users that nothing was
         chosen on."
    ));
    let [today, reset, fading] =
        [0, RESETTING_ROW, FADING_ROW].map(|row| phases.get(row).copied().unwrap_or_default());
    let least = [today[0] - 0.02, today[1] - 0.02, 0.45, 0.66];
    let reached = |phases: &[f64; 4]| phases.iter().zip(least).all(|(quality, least)| *quality >= least);
    let told = |phases: [f64; 4]| phases.map(|quality| format!("{quality:.3}")).join(", ");
    report.goal(
        &format!("shoppers, with a reset or a half-life of 20: the phases at least {}", told(least)),
        format!("{}; {}", told(reset), told(fading)),
        reached(&reset) || reached(&fading),
    );
    Ok(())
}

fn first_rounds_of_the_demo(report: &mut Report, setup: &Setup) -> Result<(), StudyError> {
    let mut table = Table::new("demo", &["mean reward", "rounds 1 to 10", "rounds 1 to 50"]);
    let learners = CANDIDATES.iter().map(|candidate| (candidate.name, Some(candidate.settings)));
    let mut means = Vec::new();
    for (name, settings) in [("rules only", None)].into_iter().chain(learners) {
        let lives = demo::rewards(setup, settings, demo::USER, 50)?;
        let [ten, fifty] = [10, 50].map(|rounds| first_rounds(&lives, rounds));
        table.row([name.to_owned(), format!("{ten:+.3}"), format!("{fifty:+.3}")]);
        report.number(format!("{name}: demo, 10"), ten);
        report.number(format!("{name}: demo, 50"), fifty);
        means.push([ten, fifty]);
    }
    report.table(table);
    // The rules come first.
    if let (Some([rules, _]), Some([ten, fifty])) = (means.first(), means.get(1 + SHIPPED_ROW)) {
        report.goal(
            &format!("demo, rounds 1 to 10: not below the {rules:+.3} of the rules"),
            format!("{ten:+.3}"),
            ten >= rules,
        );
        report.goal("demo, rounds 1 to 50: above +0.37", format!("{fifty:+.3}"), *fifty > 0.37);
    }
    report.text(&format!("The {} lives of `fable demo`.", demo::LIVES));
    Ok(())
}
