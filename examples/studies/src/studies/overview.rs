//! The first requests of simulated users, for the picture that `RESULTS.md` opens with: who learns, who does not, and what could be had.

use crate::parallel;
use crate::plot::Plot;
use crate::policies::{self, Agent, FLAT, Method, ORACLE, PER_USER, RULE_ONLY, UNIFORM};
use crate::report::{Report, Table, with_interval};
use crate::setup::{Setup, StudyError};
use crate::statistics::{mean, mean_interval};
use fable_core::catalog::AGENT;
use fable_core::{Feasible, Policy, Request, Settings};
use fable_simulate::SimulatedUser;
use std::ops::Range;

/// The line in the list of studies.
pub const ABOUT: &str = "the first 60 requests of simulated users: Fable, the paper's draw, a flat learner, rules alone, the best possible";

/// Users that nothing was chosen on, neither here nor in another study.
const FIRST: usize = 300_000;
/// How long they live, and in which steps that is shown.
const ROUNDS: usize = 60;
const STEP: usize = 5;

/// What is compared: a name in plain words, the method, and its settings.
const ROWS: [(&str, Method, Settings<'static>); 6] = [
    ("best possible", ORACLE, Settings::DEFAULT),
    ("Fable, as shipped", PER_USER, Settings::DEFAULT),
    ("the paper's draw", PER_USER, Settings::PAPER),
    ("one weight per complete action", FLAT, Settings::DEFAULT),
    ("rules alone", RULE_ONLY, Settings::DEFAULT),
    ("anything", UNIFORM, Settings::DEFAULT),
];
const BEST: usize = 0;
const FABLE: usize = 1;
const RULES: usize = 4;

/// Mean rewards by life, row and round.
struct Lives(Vec<Vec<Vec<f64>>>);

impl Lives {
    fn of(setup: &Setup) -> Result<Self, StudyError> {
        let flat = policies::flat(&AGENT)?;
        let policies = ROWS
            .iter()
            .map(|(_, method, settings)| {
                Policy::new(if method.factorized { &AGENT } else { &flat }, method.settings(*settings))
            })
            .collect::<Result<Vec<_>, _>>()?;
        let live = |index: usize| {
            let number = (FIRST + index) as u64;
            let person = SimulatedUser::new(&AGENT, number);
            let mut lives = Vec::new();
            for ((_, method, _), policy) in ROWS.iter().zip(&policies) {
                let mut agent = Agent::new(policy, *method, number)?;
                let everything = Feasible::all(policy.catalog());
                let mut rewards = Vec::new();
                for round in 1..=ROUNDS as u32 {
                    let context = person.request(round)?.context;
                    let request = Request::new(&context, &everything);
                    let chosen = agent
                        .choose(&request, |action| person.expected(&context, action))?
                        .unwrap_or_default();
                    agent.learn(person.reward(round, &context, chosen))?;
                    rewards.push(person.expected(&context, chosen));
                }
                lives.push(rewards);
            }
            Ok(lives)
        };
        Ok(Self(parallel::map(setup, "overview", setup.scale(100, 3), live)?))
    }

    /// The mean of some rounds of a row, by life.
    fn means(&self, row: usize, rounds: Range<usize>) -> Vec<f64> {
        let of = |life: &Vec<Vec<f64>>| {
            mean(life.get(row).and_then(|life| life.get(rounds.clone())).unwrap_or_default())
        };
        self.0.iter().map(of).collect()
    }

    /// One row less another, life by life.
    fn less(&self, row: usize, other: usize, rounds: Range<usize>) -> Vec<f64> {
        self.means(row, rounds.clone())
            .iter()
            .zip(self.means(other, rounds))
            .map(|(one, other)| one - other)
            .collect()
    }
}

/// Runs the study.
///
/// # Errors
/// What the learner says.
pub fn run(setup: &Setup) -> Result<Report, StudyError> {
    let lives = Lives::of(setup)?;
    let mut report = Report::new("the first requests of somebody new");
    report.text(
        "Simulated users of the catalog `agent` (180 ways to answer, tastes of length 1, noise of half width 0.35), 100 of them whom no
         setting was chosen on; everybody lives through the same requests and the same noise under every row. A reward is from -1 to 1, and
         what is shown is its mean for what was chosen. Nobody states a preference beforehand. _One weight per complete action_ learns as
         Fable does, but nothing about one way to answer from another. The goals were written down before the first full run.",
    );
    let heads = ["requests"].into_iter().chain(ROWS.map(|(name, ..)| name));
    let mut table = Table::new("curves", &heads.collect::<Vec<_>>());
    let mut plot =
        Plot::new("curves", "Mean reward of what was chosen, by request", "request", "mean reward");
    let windows: Vec<Range<usize>> = (0..ROUNDS).step_by(STEP).map(|first| first..first + STEP).collect();
    for window in &windows {
        let cells = (0..ROWS.len()).map(|row| format!("{:+.3}", mean(&lives.means(row, window.clone()))));
        table.row([format!("{} to {}", window.start + 1, window.end)].into_iter().chain(cells));
    }
    for (row, (name, ..)) in ROWS.iter().enumerate() {
        let middle = |window: &Range<usize>| (window.start + window.end) as f64 / 2.0 + 0.5;
        let points: Vec<(f64, f64)> =
            windows.iter().map(|window| (middle(window), mean(&lives.means(row, window.clone())))).collect();
        if row == BEST || row >= RULES {
            plot.dashed(name, points);
        } else {
            plot.curve(name, points);
        }
        for (when, rounds) in [("all", 0..ROUNDS), ("last ten", ROUNDS - 10..ROUNDS)] {
            report.number(format!("{name}: {when}"), mean(&lives.means(row, rounds)));
        }
    }
    report.table(table);
    report.plot(plot);

    let mut differences =
        Table::new("differences", &["Fable, as shipped, less", "requests 1 to 10", "requests 1 to 60"]);
    for (row, (name, ..)) in ROWS.iter().enumerate().filter(|(row, _)| *row != FABLE) {
        let cell = |rounds: Range<usize>| {
            let values = lives.less(FABLE, row, rounds);
            with_interval(mean(&values), mean_interval(&values))
        };
        differences.row([(*name).to_owned(), cell(0..10), cell(0..ROUNDS)]);
    }
    report.table(differences);
    report.text("With 95% intervals over users.");

    report.goals_set("2026-11-18");
    for (row, (name, ..)) in ROWS.iter().enumerate().filter(|(row, _)| *row != FABLE && *row != BEST) {
        let values = lives.less(FABLE, row, 0..ROUNDS);
        let what = format!("requests 1 to {ROUNDS}: a higher mean reward than _{name}_, beyond chance");
        report.goal(
            &what,
            with_interval(mean(&values), mean_interval(&values)),
            mean_interval(&values).0 > 0.0,
        );
    }
    let last = |row| mean(&lives.means(row, ROUNDS - 10..ROUNDS));
    let share = (last(FABLE) - last(RULES)) / (last(BEST) - last(RULES));
    report.goal(
        "requests 51 to 60: at least half of the way from the rules alone to the best possible",
        format!("{:.0}%", 100.0 * share),
        share >= 0.5,
    );
    Ok(report)
}
