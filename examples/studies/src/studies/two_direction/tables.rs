//! The tables and plots of the study.

use super::Column;
use super::fit::Fit;
use super::likelihood::{likeliest, log_likelihood, probability};
use super::lives::{Pair, Run, reward_until, spread, values};
use super::stage::{Target, Tasks};
use crate::plot::Plot;
use crate::report::Table;
use crate::statistics::{mean, quantile};
use Target::{Current, Stable};

/// A row per kind of tasks: the best tool needs, and what else fits.
pub(super) fn fits(fits: &[Fit]) -> Table {
    let columns = [
        "tasks",
        "tool needs",
        "cost weight",
        "precision",
        "noise variance",
        "current, initial",
        "stable, initial",
        "current, final",
        "stable, final",
        "loss",
        "pairs of tool needs that fit",
        "cost weight over them",
        "precision",
        "noise variance",
    ];
    let mut table = Table::new("fit", &columns);
    table.row(["paper", "", "", "", "", "0.529", "0.511", "0.885", "0.999", "", "", "", "", ""]);
    for tasks in Tasks::ALL {
        let of: Vec<&Fit> = fits.iter().filter(|fit| fit.contexts.tasks == tasks).collect();
        let Some(best) = of.iter().min_by(|one, other| one.loss.total_cmp(&other.loss)) else { continue };
        let fitting: Vec<&Fit> = of.iter().copied().filter(|fit| fit.fits()).collect();
        let range = |number: fn(&Fit) -> f64, digits: usize| {
            let numbers = || fitting.iter().map(|fit| number(fit));
            let (least, most) =
                (numbers().fold(f64::INFINITY, f64::min), numbers().fold(f64::NEG_INFINITY, f64::max));
            if fitting.is_empty() { String::new() } else { format!("{least:.digits$} to {most:.digits$}") }
        };
        let mut cells = vec![tasks.name().to_owned()];
        cells.push(format!("{} and {}", best.contexts.tool_need[0], best.contexts.tool_need[1]));
        cells.push(format!("{:.3}", best.scales.cost_weight));
        cells.push(format!("{:.2}", best.scales.precision));
        cells.push(format!("{:.3}", best.scales.noise));
        cells.extend(best.probabilities.as_flattened().iter().map(|probability| format!("{probability:.4}")));
        cells.push(if best.loss < 100.0 { format!("{:.1}", best.loss) } else { format!("{:.0}", best.loss) });
        cells.push(format!("{} of {}", fitting.len(), of.len()));
        cells.push(range(|fit| fit.scales.cost_weight, 2));
        cells.push(range(|fit| fit.scales.precision, 2));
        cells.push(range(|fit| fit.scales.noise, 3));
        table.row(cells);
    }
    table
}

/// The likelihood of the paper's actions under some scales.
pub(super) fn scale(online: &[f64], frozen: &[f64]) -> Table {
    let scales = [0.03, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0, 3.0];
    let mut columns = vec!["run".to_owned()];
    columns.extend(scales.iter().map(|nu| format!("nu {nu}")));
    columns.extend(["likeliest".to_owned(), "within 1.92".to_owned()]);
    let mut table = Table::new("scale", &columns);
    let rows: [(&str, &[f64], &[f64]); 3] =
        [("online", online, &[]), ("frozen", frozen, &[]), ("both, as if independent", online, frozen)];
    for (name, one, other) in rows {
        let likelihood = |nu: f64| log_likelihood(one, nu) + log_likelihood(other, nu);
        let (best, (least, most)) = likeliest(likelihood);
        let mut cells = vec![name.to_owned()];
        cells.extend(scales.iter().map(|nu| format!("{:.1}", likelihood(*nu))));
        cells.extend([format!("{best:.2}"), format!("{least:.2} to {most:.2}")]);
        table.row(cells);
    }
    table
}

/// The probability of the paper's choice in each round.
pub(super) fn rounds(online: &[f64], frozen: &[f64], nu: f64) -> Plot {
    let mut plot = Plot::new(
        "rounds",
        "Probability of the paper's choice, given its earlier ones",
        "round",
        "probability",
    );
    let points = |strengths: &[f64], nu: f64| {
        (1..).zip(strengths).map(|(round, s)| (f64::from(round), probability(*s, nu))).collect()
    };
    plot.curve(&format!("online, nu {nu:.2}"), points(online, nu));
    plot.curve(&format!("frozen, nu {nu:.2}"), points(frozen, nu));
    plot.dashed("online, nu 1", points(online, 1.0));
    plot.dashed("frozen, nu 1", points(frozen, 1.0));
    plot
}

pub(super) fn summary(columns: &[Column]) -> Table {
    type Row = (&'static str, &'static str, fn(&Pair) -> Vec<f64>);
    const FIRST: fn(&Run) -> f64 = |run| 2.0 * run.correct(|round| round < 10) / 10.0 - 1.0;
    const LAST: fn(&Run) -> f64 = |run| 2.0 * run.correct(|round| round >= 10) / 10.0 - 1.0;
    const ROWS: [Row; 15] = [
        ("online, correct of 20", "18", |pair| values(&pair.online, Run::all)),
        ("frozen, correct of 20", "14", |pair| values(&pair.frozen, Run::all)),
        ("online, current of 10", "9", |pair| values(&pair.online, |run| run.in_direction(Current))),
        ("online, stable of 10", "9", |pair| values(&pair.online, |run| run.in_direction(Stable))),
        ("frozen, current of 10", "8", |pair| values(&pair.frozen, |run| run.in_direction(Current))),
        ("frozen, stable of 10", "6", |pair| values(&pair.frozen, |run| run.in_direction(Stable))),
        ("online, cumulative reward", "16", |pair| values(&pair.online, reward_until(20))),
        ("frozen, cumulative reward", "8", |pair| values(&pair.frozen, reward_until(20))),
        ("online, mean reward in rounds 1 to 10", "0.6", |pair| values(&pair.online, FIRST)),
        ("online, mean reward in rounds 11 to 20", "1.0", |pair| values(&pair.online, LAST)),
        ("frozen, mean reward in rounds 1 to 10", "0.4", |pair| values(&pair.frozen, FIRST)),
        ("frozen, mean reward in rounds 11 to 20", "0.4", |pair| values(&pair.frozen, LAST)),
        ("rounds that only online has right", "5", |pair| {
            pair.discordant().iter().map(|(online, _)| *online as f64).collect()
        }),
        ("rounds that only frozen has right", "1", |pair| {
            pair.discordant().iter().map(|(_, frozen)| *frozen as f64).collect()
        }),
        ("exact McNemar p", "0.2188", Pair::mcnemar),
    ];
    let heads: Vec<&str> =
        ["", "paper, one run"].into_iter().chain(columns.iter().map(|column| column.name.as_str())).collect();
    let mut table = Table::new("summary", &heads);
    for (name, paper, of) in ROWS {
        table.row(
            [name.into(), paper.into()]
                .into_iter()
                .chain(columns.iter().map(|column| spread(&of(&column.pair)))),
        );
    }
    let share = |column: &Column| {
        let p = column.pair.mcnemar();
        format!("{:.1}%", 100.0 * p.iter().filter(|p| **p < 0.05).count() as f64 / p.len().max(1) as f64)
    };
    table.row(["runs with p below 0.05".into(), String::new()].into_iter().chain(columns.iter().map(share)));
    table
}

pub(super) fn probes(columns: &[Column]) -> Table {
    let mut table = Table::new("probes", &["", "current, initial", "final", "stable, initial", "final"]);
    table.row(["paper, one run", "0.529", "0.885", "0.511", "0.999"]);
    for column in columns {
        let at = |time: usize, probe: usize| {
            let of = |run: &Run| {
                run.probes.get(time).and_then(|probes| probes.get(probe)).copied().unwrap_or_default()
            };
            values(&column.pair.online, of)
        };
        let cells = |probe: usize| [format!("{:.3}", mean(&at(0, probe))), spread(&at(1, probe))];
        table.row([column.name.clone()].into_iter().chain(cells(0)).chain(cells(1)));
    }
    table
}

pub(super) fn distribution(pair: &Pair) -> Plot {
    let mut plot =
        Plot::new("distribution", "Correct choices of 20, inferred contexts", "correct", "share of the runs");
    let histogram = |runs: &[Run]| {
        let share =
            |count: i32| values(runs, Run::all).iter().filter(|all| **all == f64::from(count)).count();
        (4..=20).map(|count| (f64::from(count), share(count) as f64 / runs.len() as f64)).collect::<Vec<_>>()
    };
    let (online, frozen) = (histogram(&pair.online), histogram(&pair.frozen));
    let top = online.iter().chain(&frozen).fold(0.0_f64, |top, (_, share)| top.max(*share));
    plot.curve("online", online);
    plot.curve("frozen", frozen);
    plot.dashed("the paper's 18, online", vec![(18.0, 0.0), (18.0, top)]);
    plot.dashed("the paper's 14, frozen", vec![(14.0, 0.0), (14.0, top)]);
    plot
}

pub(super) fn learning(pair: &Pair) -> Plot {
    let mut plot =
        Plot::new("learning", "Cumulative reward, mean and central 90%", "round", "cumulative reward");
    for (name, runs) in [("online", &pair.online), ("frozen", &pair.frozen)] {
        let rounds: Vec<(f64, Vec<f64>)> =
            (0..=20).map(|round| (round as f64, values(runs, reward_until(round)))).collect();
        let points = rounds.iter().map(|(round, rewards)| (*round, mean(rewards))).collect();
        let band = rounds
            .iter()
            .map(|(round, rewards)| (*round, quantile(rewards, 0.05), quantile(rewards, 0.95)))
            .collect();
        plot.banded(name, points, band);
    }
    plot
}
