//! Users who change: at once, in part, slowly, back and forth; what forgetting is worth to them and what it costs those who stay.

mod lives;

use super::adapt::Regret;
use crate::candidate::{FADING, RESETTING, SHIPPED};
use crate::parallel;
use crate::plot::Plot;
use crate::report::{Report, Table};
use crate::setup::{Setup, StudyError};
use crate::statistics::{mean, quantile, wilson};
use fable_core::catalog::{AGENT, TAU2};
use fable_core::{Catalog, Policy, Settings};
use lives::{CHANGE, KINDS, Kind, Life, ROUNDS, Row, STAY, live};

/// The line in the list of studies.
pub const ABOUT: &str =
    "users who change at once, in part, slowly, back and forth: what forgetting is worth and what it costs";

/// Users that nothing was chosen on, neither here nor in another study.
const FIRST: usize = 400_000;

/// What is compared, and whether it is told of sudden changes; the first row is what the others are relative to.
const ROWS: [(&str, Settings<'static>, bool); 5] = [
    (SHIPPED.name, SHIPPED.settings, false),
    (RESETTING.name, RESETTING.settings, false),
    (FADING.name, FADING.settings, false),
    ("as shipped, half-life 100", Settings { half_life: Some(100), ..Settings::DEFAULT }, false),
    ("as shipped, told of every sudden change", Settings::DEFAULT, true),
];
const RESET: usize = 1;
const FAST: usize = 2;
const SLOW: usize = 3;
const TOLD: usize = 4;

/// A change counts as noticed within so many rewards.
const SOON: u32 = 50;

/// The lives of a catalog's users by kind, user and row.
struct Outcome {
    name: &'static str,
    lives: Vec<Vec<Vec<Life>>>,
}

impl Outcome {
    fn of(setup: &Setup, catalog: &'static Catalog<'static>, users: usize) -> Result<Self, StudyError> {
        let row = |(_, settings, told): &(&str, Settings<'static>, bool)| {
            Ok(Row { policy: Policy::new(catalog, *settings)?, told: *told })
        };
        let rows = ROWS.iter().map(row).collect::<Result<Vec<_>, StudyError>>()?;
        let name = catalog.definition().name;
        // Each kind has its own users: what is found for one is no echo of what was found for another.
        let of = |(index, (kind, _)): (usize, &(Kind, &str))| {
            parallel::map(setup, &format!("drift, {name}"), users, |user| {
                live(catalog, *kind, &rows, (FIRST + 10_000 * index + user) as u64)
            })
        };
        Ok(Self { name, lives: KINDS.iter().enumerate().map(of).collect::<Result<_, _>>()? })
    }

    fn lives(&self, kind: Kind) -> &[Vec<Life>] {
        let place = KINDS.iter().position(|(other, _)| *other == kind).unwrap_or_default();
        self.lives.get(place).map_or(&[], Vec::as_slice)
    }

    /// The regret of the rounds that count.
    fn regret(&self, kind: Kind) -> Regret {
        let lives: Vec<Vec<Vec<f64>>> = self
            .lives(kind)
            .iter()
            .map(|rows| rows.iter().map(|life| life.regret.clone()).collect())
            .collect();
        Regret::of(&lives, kind.rounds())
    }

    /// The mean regret per round of a row.
    fn per_round(&self, kind: Kind, row: usize) -> f64 {
        let regret = |rows: &Vec<Life>| {
            rows.get(row).map(|life| mean(life.regret.get(kind.rounds()).unwrap_or_default()))
        };
        mean(&self.lives(kind).iter().filter_map(regret).collect::<Vec<_>>())
    }

    /// How many rewards after the first change it was noticed by what ships, life by life.
    fn delays(&self, kind: Kind) -> Vec<Option<u32>> {
        let changed = kind.rounds().start as u32;
        let delay = |rows: &Vec<Life>| {
            rows.first()?.alarms.iter().find(|round| **round > changed).map(|round| round - changed)
        };
        self.lives(kind).iter().map(delay).collect()
    }

    /// The share of lives in which a change was noticed soon.
    fn noticed(&self, kind: Kind) -> (usize, usize) {
        let delays = self.delays(kind);
        (delays.iter().flatten().filter(|delay| **delay <= SOON).count(), delays.len())
    }

    /// Alarms in 1,000 rewards of those who stay the same, under what ships.
    fn false_alarms(&self) -> f64 {
        let alarms: Vec<f64> = self
            .lives(Kind::Stays)
            .iter()
            .filter_map(|rows| Some(rows.first()?.alarms.len() as f64))
            .collect();
        1_000.0 * mean(&alarms) / f64::from(ROUNDS)
    }
}

/// Runs the study.
///
/// # Errors
/// What the learner says.
pub fn run(setup: &Setup) -> Result<Report, StudyError> {
    let outcomes =
        [Outcome::of(setup, &AGENT, setup.scale(60, 1))?, Outcome::of(setup, &TAU2, setup.scale(200, 2))?];
    let mut report = Report::new("users who change");
    report.text(&format!(
        "Simulated users (tastes of length 1, graded rewards, noise of half width 0.35), 60 of `agent` and 200 of `tau2` of each
         kind, none of whom anything was chosen on, for {ROUNDS} requests. Somebody _changes altogether_ into somebody else after
         request {CHANGE}; _in one component_ the same happens to everything that has to do with the style; _slowly_ is the
         straight way from one person's tastes to another's over the whole life; _back and forth_ is between two people's, {STAY}
         requests each. Regret is of mean rewards against the best action, of the requests after the first sudden change, and of
         all requests of who stays or changes slowly. Everybody has the same requests and the same noise under every row. Who is
         _told_ begins anew at the very request: what noticing could be worth at most, as long as nothing is kept. The goals were
         written down before the first full run.",
    ));
    for outcome in &outcomes {
        tell(&mut report, outcome);
    }
    notice(&mut report, &outcomes);
    report.text(
        "Looked at after the run: a sudden change is noticed where it disappoints, and what is noticed soon is worth a new
         beginning. A reset stays behind who is told: in 11 of 60 lives of `agent` and 27 of 200 of `tau2` nothing is noticed
         within 50 rewards. A change in one component of three is hardly ever noticed on `agent`: there a reset is as good as
         what ships because it is not done, and the goal for it says no more than that. Without a notice only a half-life helps,
         which costs those who stay, on `tau2` three times the regret with 20. No setting here is best for everybody, so none is
         on unless a host asks for it. These are simulated tastes; how people change is not known from them.",
    );
    goals(&mut report, &outcomes);
    Ok(report)
}

/// A table of regret and a plot of the sudden change.
fn tell(report: &mut Report, outcome: &Outcome) {
    let Outcome { name, .. } = outcome;
    let heads = ["regret relative to the first row"].into_iter().chain(KINDS.map(|(_, name)| name));
    let mut table = Table::new(name, &heads.collect::<Vec<_>>());
    let regrets = KINDS.map(|(kind, _)| outcome.regret(kind));
    let absolute = KINDS.map(|(kind, _)| format!("{:.3}", outcome.per_round(kind, 0)));
    table.row([format!("`{name}`, {}, per request", SHIPPED.name)].into_iter().chain(absolute));
    for (row, (words, ..)) in ROWS.iter().enumerate() {
        table.row([(*words).to_owned()].into_iter().chain(regrets.iter().map(|regret| regret.cell(row))));
        for ((_, kind), regret) in KINDS.iter().zip(&regrets) {
            report.number(format!("{name}: {words}: {kind}"), regret.relative(row).0);
        }
    }
    report.table(table);
    let title =
        format!("Regret by request on {name}, where somebody changes altogether after request {CHANGE}");
    let mut plot = Plot::new(name, &title, "request", "mean regret");
    for (row, (words, ..)) in ROWS.iter().enumerate() {
        let window = |first: usize| {
            let regret = |rows: &Vec<Life>| Some(mean(rows.get(row)?.regret.get(first..first + 10)?));
            let regrets: Vec<f64> = outcome.lives(Kind::AtOnce).iter().filter_map(regret).collect();
            (first as f64 + 5.5, mean(&regrets))
        };
        let points = (0..ROUNDS as usize).step_by(10).map(window).collect();
        if row == TOLD { plot.dashed(words, points) } else { plot.curve(words, points) }
    }
    report.plot(plot);
}

/// Whether and when what ships notices, without doing anything about it.
fn notice(report: &mut Report, outcomes: &[Outcome]) {
    report.heading("Noticing");
    let columns = [
        "",
        "noticed within 50 rewards",
        "median of the rewards until then",
        "alarms in 1,000 rewards of who stays",
    ];
    let mut table = Table::new("noticed", &columns);
    for outcome in outcomes {
        for (kind, words) in KINDS.iter().filter(|(kind, _)| !matches!(kind, Kind::Stays | Kind::Slowly)) {
            let (noticed, lives) = outcome.noticed(*kind);
            let (lower, upper) = wilson(noticed, lives);
            let share = format!("{noticed} of {lives} ({:.0}% to {:.0}%)", 100.0 * lower, 100.0 * upper);
            let never = f64::from(ROUNDS);
            let delays: Vec<f64> =
                outcome.delays(*kind).into_iter().map(|delay| delay.map_or(never, f64::from)).collect();
            let median = quantile(&delays, 0.5);
            let median = if median < never { format!("{median:.0}") } else { "never".into() };
            table.row([
                format!("`{}`, {words}", outcome.name),
                share,
                median,
                format!("{:.2}", outcome.false_alarms()),
            ]);
            report.number(format!("{}: {words}: noticed", outcome.name), noticed as f64);
        }
        report.number(format!("{}: false alarms", outcome.name), outcome.false_alarms());
    }
    report.table(table);
    report.text(
        "Under what ships, which tells of a change and does nothing about it. The last column is the same in the rows of a
         catalog; the method promises at most 1.",
    );
}

fn goals(report: &mut Report, outcomes: &[Outcome]) {
    report.goals_set("2026-11-18");
    let aims = [
        (Kind::AtOnce, RESET, "a reset on a change", 0.5),
        (Kind::InPart, RESET, "a reset on a change", 1.0),
        (Kind::Slowly, SLOW, "a half-life of 100", 0.9),
        (Kind::BackAndForth, FAST, "a half-life of 20", 0.9),
        (Kind::Stays, RESET, "a reset on a change", 1.05),
    ];
    for outcome in outcomes {
        for (kind, row, with, most) in aims {
            let words = KINDS.iter().find(|(other, _)| *other == kind).map_or("", |(_, words)| words);
            let regret = outcome.regret(kind);
            let what =
                format!("`{}`, {words}, with {with}: regret at most {most} of what ships", outcome.name);
            report.goal(&what, regret.cell(row), regret.relative(row).0 <= most);
        }
        let regret = outcome.regret(Kind::AtOnce);
        let ratio = regret.relative(RESET).0 / regret.relative(TOLD).0;
        let what = format!(
            "`{}`, changes altogether, with a reset: regret at most 1.5 of who is told",
            outcome.name
        );
        report.goal(&what, format!("{ratio:.2}"), ratio <= 1.5);
        let (noticed, lives) = outcome.noticed(Kind::AtOnce);
        let what = format!(
            "`{}`, changes altogether: noticed within {SOON} rewards in at least 80% of lives",
            outcome.name
        );
        report.goal(&what, format!("{noticed} of {lives}"), noticed * 10 >= lives * 8);
        let alarms = outcome.false_alarms();
        let what = format!("`{}`, stays the same: at most 1 alarm in 1,000 rewards", outcome.name);
        report.goal(&what, format!("{alarms:.2}"), alarms <= 1.0);
    }
}
