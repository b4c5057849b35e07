//! Simulated users who have an opinion about every component: what probes do to their regret.

use super::life::learner;
use crate::parallel;
use crate::report::{Report, Table};
use crate::setup::{Setup, StudyError};
use crate::statistics::cluster_bootstrap;
use fable_core::catalog::{AGENT, TAU2};
use fable_core::{Catalog, Feasible, Policy, Request, Settings};
use fable_simulate::{Random, SimulatedUser};

const SHORT: usize = 30;
const LONG: usize = 200;

const ROWS: [(&str, Settings<'static>); 5] = [
    ("draw (`Settings::PAPER`)", Settings::PAPER),
    ("the defaults, no probes", Settings::DEFAULT),
    ("rho 0.05", Settings { probe: 0.05, ..Settings::DEFAULT }),
    ("rho 0.15", Settings { probe: 0.15, ..Settings::DEFAULT }),
    ("rho 0.5 (`Settings::PROBING`)", Settings::PROBING),
];

/// Regret in every round.
fn live(policy: &Policy<'_, f32>, all: &Feasible, thumbs: bool, number: u64) -> Result<Vec<f64>, StudyError> {
    let person = SimulatedUser::new(policy.catalog(), number);
    let mut user = learner(policy, number)?;
    let mut regret = Vec::with_capacity(LONG);
    for round in 1..=LONG as u32 {
        let context = person.request(round)?.context;
        let decision = user.user().decide(&Request::new(&context, all))?;
        let expected = person.expected(&context, decision.action);
        let die = Random::new([number, u64::from(round), 0, 0x7808]).unit();
        let thumb = if die < f64::midpoint(1.0, expected) { 1.0 } else { -1.0 };
        let reward = if thumbs { thumb } else { person.reward(round, &context, decision.action) };
        user.feedback(decision.id, reward)?;
        regret.push(person.best(&context, all).1 - expected);
    }
    Ok(regret)
}

/// Why probes are off by default.
pub fn regret(setup: &Setup, report: &mut Report) -> Result<(), StudyError> {
    report.heading("Why probes are off by default");
    let catalogs: [(&'static Catalog<'static>, usize); 2] =
        [(&AGENT, setup.scale(40, 2)), (&TAU2, setup.scale(200, 4))];
    let mut heads = vec!["regret relative to the draw".to_owned()];
    let mut cells = vec![Vec::new(); ROWS.len()];
    for (catalog, users) in catalogs {
        let (all, name) = (Feasible::all(catalog), catalog.definition().name);
        for (thumbs, said) in [(false, "graded"), (true, "thumbs")] {
            let policies = ROWS
                .iter()
                .map(|(_, settings)| Policy::new(catalog, *settings))
                .collect::<Result<Vec<_>, _>>()?;
            let lives = parallel::map(setup, &format!("regret, {name}, {said}"), users, |number| {
                policies
                    .iter()
                    .map(|policy| live(policy, &all, thumbs, number as u64))
                    .collect::<Result<Vec<_>, _>>()
            })?;
            for rounds in [SHORT, LONG] {
                heads.push(format!("`{name}`, {said}, {rounds}"));
                for (row, cells) in cells.iter_mut().enumerate() {
                    let sum = |life: &[Vec<f64>], row: usize| -> f64 {
                        life.get(row).map_or(0.0, |life| life.iter().take(rounds).sum())
                    };
                    let pairs: Vec<(f64, f64)> =
                        lives.iter().map(|life| (sum(life, row), sum(life, 0))).collect();
                    let (own, draw) =
                        pairs.iter().fold((0.0, 0.0), |(own, draw), pair| (own + pair.0, draw + pair.1));
                    let (lower, upper) = cluster_bootstrap(&pairs, 1_000, row as u64);
                    cells.push(format!("{:.2} ({lower:.2} to {upper:.2})", own / draw));
                    report.number(format!("regret.{name}.{said}.{rounds}.{row}"), own / draw);
                }
            }
        }
    }
    let mut table = Table::new("regret", &heads);
    for ((name, _), cells) in ROWS.iter().zip(cells) {
        table.row([(*name).to_owned()].into_iter().chain(cells));
    }
    report.table(table);
    report.text(&format!(
        "{} simulated users of `agent` and {} of `tau2`, each with a liked and a disliked value in every component (study `adapt`); 95%
         intervals of the bootstrap over users. A user who cares about everything is probed about everything. On `tau2` a rate of 0.15 spends what the default rule gains over a draw on graded rewards, and more; on `agent`
         it costs little, and 0.5 costs the gain of 200 graded rounds. So the shipped default is **rho = 0**. A host that wants preferences to be
         certain sets a rate, or takes `Settings::PROBING`, and may change it at any time.",
        catalogs[0].1, catalogs[1].1
    ));
    Ok(())
}
