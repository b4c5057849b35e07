//! Real people request by request: what learning a person is worth above one rule for everybody, and when.
//!
//! The people, their catalogs and the halves are those of `people`. There settings are compared; here what ships is compared, person by
//! person, with what does not learn anybody.

use super::people::panel::{Respondent, Rounds, Split};
use super::people::{camera, computer};
use crate::parallel;
use crate::plot::Plot;
use crate::policies::{Actor, Agent, Method, PER_USER, UNIFORM};
use crate::report::{Report, Table, with_interval};
use crate::setup::{Setup, StudyError};
use crate::statistics::{mean, mean_interval};
use fable_core::catalog::ActionSet;
use fable_core::posterior::{Factor, Prior};
use fable_core::{Context, Feasible, Policy, Request, Settings};
use std::ops::Range;

/// The line in the list of studies.
pub const ABOUT: &str = "people who chose cameras and rated computers, request by request: one rule for everybody or one for each (needs data)";

/// The mean of a fitted prior, for ever: what others like, and nothing of the person.
const FOR_ALL: Method = Method { name: "one rule for everybody", learns: false, draws: false, ..PER_USER };

/// What is compared: a name, the method, and whether it starts from what was learned from others.
const ROWS: [(&str, Method, bool); 4] = [
    ("anything", UNIFORM, false),
    ("one rule for everybody, from others", FOR_ALL, true),
    ("Fable, from nothing", PER_USER, false),
    ("Fable, from what others like", PER_USER, true),
];
const CHANCE: usize = 0;
const RULE: usize = 1;
const ALONE: usize = 2;
const INFORMED: usize = 3;

/// A set of people, and how they are judged.
struct Set {
    name: &'static str,
    what: &'static str,
    rounds: Rounds,
    step: usize,
    /// What is shown, from regret.
    shown: fn(f64) -> f64,
    splits: Vec<Split>,
}

/// Regret by person, row and round.
struct Lives(Vec<Vec<Vec<f64>>>);

fn live(
    policy: &Policy<'_, f64>,
    method: Method,
    person: &Respondent,
    rounds: usize,
    number: u64,
) -> Result<Vec<f64>, StudyError> {
    let catalog = policy.catalog();
    let context = Context::new(catalog, None, &[])?;
    let mut agent = Agent::new(policy, method, number)?;
    let mut regret = Vec::new();
    for offer in person.offers.iter().cycle().take(rounds) {
        let mut set = ActionSet::EMPTY;
        for (action, _) in offer {
            set.insert(*action);
        }
        let feasible = Feasible::from_set(catalog, set)?;
        let chosen = agent.choose(&Request::new(&context, &feasible), |_| 0.0)?.unwrap_or_default();
        let reward = offer.iter().find(|(action, _)| *action == chosen).map_or(0.0, |(_, reward)| *reward);
        agent.learn(reward)?;
        regret.push(offer.iter().map(|(_, reward)| *reward).fold(f64::NEG_INFINITY, f64::max) - reward);
    }
    Ok(regret)
}

impl Lives {
    fn of(setup: &Setup, set: &Set) -> Result<Self, StudyError> {
        let mut all = Vec::new();
        for split in &set.splits {
            let population = split.prior(setup, &Settings::DEFAULT, set.rounds)?;
            let mut workspace = vec![0.0; split.catalog.workspace_len()];
            let factor = Factor::new(split.catalog.layout(), population.prior.packed(), &mut workspace)?;
            let base = Policy::new(split.catalog, Settings::DEFAULT)?;
            let informed = Policy::with_prior(split.catalog, Settings::DEFAULT, Prior::Factor(factor))?;
            all.extend(parallel::map(setup, set.name, split.unseen.len(), |index| {
                let person = split.unseen.get(index).cloned().unwrap_or_default();
                let rounds = match set.rounds {
                    Rounds::OnePass => person.offers.len(),
                    Rounds::Some(rounds) => rounds,
                };
                let of = |(_, method, from_others): &(&str, Method, bool)| {
                    live(if *from_others { &informed } else { &base }, *method, &person, rounds, index as u64)
                };
                ROWS.iter().map(of).collect()
            })?);
        }
        Ok(Self(all))
    }

    /// The mean of a row over some rounds, by person; who has none of them is left out.
    fn means(&self, row: usize, rounds: &Range<usize>, shown: fn(f64) -> f64) -> Vec<f64> {
        let of = |rows: &Vec<Vec<f64>>| {
            let life = rows.get(row)?;
            let some = life.get(rounds.start..rounds.end.min(life.len())).filter(|some| !some.is_empty())?;
            Some(shown(mean(some)))
        };
        self.0.iter().filter_map(of).collect()
    }

    /// One row less another, person by person.
    fn less(&self, row: usize, other: usize, rounds: &Range<usize>, shown: fn(f64) -> f64) -> Vec<f64> {
        let others = self.means(other, rounds, shown);
        self.means(row, rounds, shown).iter().zip(others).map(|(one, other)| one - other).collect()
    }
}

/// Runs the study.
///
/// # Errors
/// The data is missing or cannot be read.
pub fn run(setup: &Setup) -> Result<Report, StudyError> {
    let cameras = Set {
        name: "cameras",
        what: "share of hits",
        rounds: Rounds::OnePass,
        step: 4,
        shown: |regret| 1.0 - regret / 2.0,
        splits: camera::splits(setup, setup.scale(2, 1))?,
    };
    let computers = Set {
        name: "computers",
        what: "regret per request",
        rounds: Rounds::Some(30),
        step: 5,
        shown: |regret| regret,
        splits: computer::splits(setup, setup.scale(2, 1))?,
    };
    let mut report = Report::new("real people: one rule for everybody, or one for each");
    report.text(
        "The 265 people who chose cameras and the 190 who rated computers of `people`, with its catalogs and rewards: cameras are
         offered in up to 16 tasks of four, each once, and computers all 20 in each of 30 requests. Everybody is in the unseen
         half once. What others like is fitted, as `fable prior fit` does, to the journals of the seen half, who live with what
         ships. _One rule for everybody_ is the mean of that fit: it knows what others like, and learns nothing of the person.
         Intervals are of 95% over people. The goals were written down before the first full run of this study; the settings that
         ship were chosen with an eye on these people (`people`), not on these numbers.",
    );
    report.goals_set("2026-11-18");
    for set in [&cameras, &computers] {
        let lives = Lives::of(setup, set)?;
        tell(&mut report, set, &lives);
        goals(&mut report, set, &lives);
    }
    report.text(
        "Looked at after the run: what others like is most of what can be known about cameras in 16 requests, of which no two are
         alike; from nothing they are not enough to come near it, and learning the person on top of it adds a little. Of the
         computers the same 20 are offered every time, and from the sixth request on a person's own ratings are worth more than
         what others like.",
    );
    Ok(report)
}

fn tell(report: &mut Report, set: &Set, lives: &Lives) {
    report.heading(&format!("The {}", set.name));
    let longest = lives.0.iter().filter_map(|rows| rows.first()).map(Vec::len).max().unwrap_or_default();
    let windows: Vec<Range<usize>> =
        (0..longest).step_by(set.step).map(|first| first..(first + set.step).min(longest)).collect();
    let names = windows.iter().map(|window| format!("requests {} to {}", window.start + 1, window.end));
    let heads =
        [set.what.to_owned()].into_iter().chain(names).chain(["all".to_owned(), "less one rule".to_owned()]);
    let mut table = Table::new(set.name, &heads.collect::<Vec<_>>());
    let title = format!("{}: {} by request", set.name, set.what);
    let mut plot = Plot::new(set.name, &title, "request", set.what);
    let all = 0..longest;
    for (row, (name, method, _)) in ROWS.iter().enumerate() {
        let values: Vec<f64> =
            windows.iter().map(|window| mean(&lives.means(row, window, set.shown))).collect();
        let whole = mean(&lives.means(row, &all, set.shown));
        let differences = lives.less(row, RULE, &all, set.shown);
        let less = if row == RULE {
            String::new()
        } else {
            with_interval(mean(&differences), mean_interval(&differences))
        };
        let cells = values.iter().chain([&whole]).map(|value| format!("{value:.3}"));
        table.row([(*name).to_owned()].into_iter().chain(cells).chain([less]));
        report.number(format!("{}: {name}", set.name), whole);
        let points = windows
            .iter()
            .zip(&values)
            .map(|(window, value)| ((window.start + 1 + window.end) as f64 / 2.0, *value));
        if method.learns && method.actor == Actor::Learner {
            plot.curve(name, points.collect());
        } else {
            plot.dashed(name, points.collect());
        }
    }
    report.table(table);
    report.plot(plot);
}

fn goals(report: &mut Report, set: &Set, lives: &Lives) {
    let name = set.name;
    let value = |values: &[f64]| with_interval(mean(values), mean_interval(values));
    if name == "cameras" {
        let gained = lives.less(INFORMED, RULE, &(0..usize::MAX), set.shown);
        report.goal(
            "cameras, from what others like: more hits than one rule for everybody, beyond chance",
            value(&gained),
            mean_interval(&gained).0 > 0.0,
        );
        let last = lives.less(ALONE, CHANCE, &(12..16), set.shown);
        report.goal(
            "cameras, from nothing, requests 13 to 16: at least 0.2 more hits than anything, beyond chance",
            value(&last),
            mean_interval(&last).0 > 0.2,
        );
        return;
    }
    let saved = lives.less(INFORMED, RULE, &(0..usize::MAX), set.shown);
    report.goal(
        "computers, from what others like: less regret than one rule for everybody, beyond chance",
        value(&saved),
        mean_interval(&saved).1 < 0.0,
    );
    let late = lives.less(ALONE, RULE, &(20..30), set.shown);
    report.goal(
        "computers, from nothing, requests 21 to 30: less regret than one rule for everybody, beyond chance",
        value(&late),
        mean_interval(&late).1 < 0.0,
    );
}
