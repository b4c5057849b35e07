//! What the contrasts depend on, and what would make learning better than what was stated at the start.

use super::bench::Bench;
use super::experiment::{Conditions, Experiment, FROZEN_ROW, FULL_ROW, METHODS, METRICS, PAPER};
use super::host::{DOMAINS, Host};
use super::{logged, promoted, published, repeated, resolved, rows_of_contrasts};
use crate::parallel;
use crate::plot::{Curve, Plot};
use crate::report::{Report, Table, with_interval};
use crate::setup::{Setup, StudyError};
use crate::statistics::{mean, mean_interval};
use fable_core::{Exploration, Settings};

const VAGUE: Settings<'static> =
    Settings { base_precision: Some(1.0), exploration: Exploration::Constant(1.0), ..PAPER };
/// No margin for where the user may be, an even chance of being wrong, three rewards.
const EAGER: Settings<'static> = Settings { prior_radius: Some(0.0), alpha: 0.5, min_evidence: 3, ..PAPER };
/// Besides, rewards are believed to scatter fifty times less than they do.
const CREDULOUS: Settings<'static> = Settings { noise_variance: 0.01, ..EAGER };

/// A row of the sensitivity table: the conditions, and how many experiments.
type Cell<'b> = (String, Conditions<'b>, usize);

/// The host, then the learner, then how long it learns. `paper` has the success rates of the paper's host.
fn cells<'b>(setup: &Setup, bench: &'b Bench, paper: &'b Bench) -> Vec<Cell<'b>> {
    let many = setup.scale(40, 1);
    let base = logged(bench);
    let with = |change: &dyn Fn(&mut Host)| {
        let mut conditions = base;
        conditions.hosts.iter_mut().for_each(change);
        conditions
    };
    let mut cells: Vec<Cell<'b>> = vec![("as above".into(), base, many)];
    cells.push((
        "the earlier host".into(),
        Conditions { bench: None, hosts: [Host::STATED; 4], ..base },
        many,
    ));
    cells.push((
        "success by domain as the paper's host".into(),
        Conditions { bench: Some(paper), ..base },
        many,
    ));
    for (verbosity, how) in [(0.5, "half as much"), (1.5, "1.5 times as much")] {
        cells.push((
            format!("styles change the length {how}"),
            with(&|host| host.verbosity = verbosity),
            many,
        ));
    }
    for (reach, how) in [(0.0, "nothing"), (0.5, "half of what training did"), (1.0, "what training did")] {
        cells.push((format!("verifying does {how}"), Conditions { hosts: bench.hosts(reach), ..base }, many));
    }
    cells.push(("no task ever fails".into(), with(&|host| host.failing = false), many));
    for stated in [1.0, 16.0] {
        cells.push((format!("a statement of precision {stated}"), Conditions { stated, ..base }, many));
    }
    let noisy = Settings { noise_variance: 1.0, ..PAPER };
    for (name, settings) in
        [("noise variance 1", noisy), ("unit precision, nu = 1", VAGUE), ("eager promotion", EAGER)]
    {
        cells.push((name.into(), Conditions { settings, ..base }, many));
    }
    for sentence in [1.0, 1.2] {
        let conditions = Conditions { settings: CREDULOUS, ..with(&|host| host.sentence = sentence) };
        cells.push((format!("credulous promotion, sentence x {sentence}"), conditions, many));
    }
    for (rounds, count) in
        [(setup.scale(100, 20), setup.scale(20, 1)), (setup.scale(300, 30), setup.scale(10, 1))]
    {
        cells.push((
            format!("{rounds} learning rounds instead of 10"),
            Conditions { learning: 2 * rounds, ..base },
            count,
        ));
    }
    cells
}

/// The seven contrasts under other conditions.
pub fn sensitivity(report: &mut Report, setup: &Setup, bench: &Bench) -> Result<(), StudyError> {
    report.heading("How much depends on the host and the settings");
    let mut heads = vec![String::new()];
    let short = |other: usize| METHODS.get(other).map_or("", |method| method.name);
    heads.extend(
        resolved().map(|(other, metric, _)| format!("{} against {}", METRICS[metric].0, short(other))),
    );
    heads.push("promoted".into());
    let mut table = Table::new("sensitivity", &heads);
    let (rows, paper) = (rows_of_contrasts(), bench.with_rates(DOMAINS.map(|(_, rate)| rate)));
    for (position, (name, conditions, count)) in cells(setup, bench, &paper).into_iter().enumerate() {
        let all =
            parallel::map(setup, &name, count, |world| Experiment::run(&conditions, world as u64, &rows))?;
        let mut row = vec![name];
        for (other, metric, paper) in resolved() {
            let again = repeated(&all, other, metric, paper.0.signum(), 1);
            row.push(format!("{:+.3} ({:.0}%)", again.mean, 100.0 * again.agree));
            report.number(format!("cell{position}.{metric}.{other}"), again.mean);
        }
        let (fired, of) = promoted(&all);
        row.push(format!("{:.0}%", 100.0 * fired as f64 / of.max(1) as f64));
        table.row(row);
    }
    report.table(table);
    report.text(
        "Mean difference and the share of experiments with the paper's sign, for the paper's seven resolved contrasts, over 40
         experiments (20 and 10 in the last two rows); the last column is the share of trajectories in which something was
         promoted. _Eager_ promotion has radius 0, alpha 0.5 and a minimum of 3; _credulous_ also takes the noise variance for
         0.01, about a fiftieth of what it is.",
    );
    Ok(())
}

/// Learning rounds of a user, and how many statements are wrong.
const ROUNDS: [usize; 4] = [10, 30, 100, 300];
const WRONG: [f64; 4] = [0.0, 0.1, 0.25, 0.5];
/// Columns of the tables: alignment and reward.
const MEASURED: [usize; 2] = [1, 0];

/// Cells that goals are about: the kind of world, the wrong statements, the rounds, the metric, and the goal in words.
const GOALS: [(usize, f64, usize, usize, &str); 3] = [
    (
        0,
        0.25,
        30,
        1,
        "alignment of full minus frozen is above 0 where a quarter of the statements is wrong, 30 rounds",
    ),
    (
        1,
        0.0,
        100,
        1,
        "alignment of full minus frozen is above 0 where frozen rounds draw and statements are right, 100 rounds",
    ),
    (
        5,
        0.0,
        300,
        0,
        "reward of full minus frozen is above 0 where verifying does what training did, right statements, 300 rounds",
    ),
];

/// The kinds of worlds of the grid.
fn panels(bench: &Bench) -> [(&'static str, Conditions<'_>); 6] {
    let base = logged(bench);
    let with = |change: fn(&mut Host)| {
        let mut conditions = base;
        conditions.hosts.iter_mut().for_each(change);
        conditions
    };
    [
        ("as logged", base),
        ("frozen rounds draw, too", Conditions { drawn: true, ..base }),
        ("styles change the length twice as much", with(|host| host.verbosity = 2.0)),
        ("alignment is 3/4 of the reward", with(|host| host.share = 0.75)),
        ("success counts as its probability", with(|host| host.luck = false)),
        ("verifying does what training did", Conditions { hosts: bench.hosts(1.0), ..base }),
    ]
}

/// Full less frozen, over how wrong statements are, how long is learned, and what rewards are like.
pub fn learning(report: &mut Report, setup: &Setup, bench: &Bench) -> Result<(), StudyError> {
    report.heading("What would make full better than frozen");
    report.text(
        "Frozen has what was stated, full has that and what rewards say. So full can be better only where the statement leaves something
         to learn: it is wrong, something else matters (verifying, where that changes success), or frozen rounds draw and the statement leaves
         doubt. And rewards must say more about it than luck takes away: more rounds, more alignment in the reward, styles that change the
         length more, less luck. The grid has these one at a time. Three of its cells were goals before it was
         run; of the reduced run, which has one world, a few cells had been seen.",
    );
    let mut heads = vec!["full minus frozen".to_owned(), "statements wrong".into()];
    heads.extend(ROUNDS.map(|rounds| format!("{rounds} rounds")));
    let mut tables = [Table::new("learning-alignment", &heads), Table::new("learning-reward", &heads)];
    let title = "Alignment of full minus frozen, by learning rounds";
    let mut plot = Plot::new("learning", title, "learning rounds of a user", "alignment").log_x();
    // The reduced run has every kind of cell, but not all of them.
    let few = |full: usize| setup.scale(full, 2);
    let mut summary = Summary::default();
    for (panel, (name, base)) in panels(bench).into_iter().enumerate().take(few(6)) {
        let mut counts = [(0, 0); MEASURED.len()];
        let mut at_ten = Vec::new();
        for wrong in WRONG.into_iter().skip(setup.scale(0, 1)).take(few(4)) {
            let share = format!("{:.0}%", 100.0 * wrong);
            let mut rows = MEASURED.map(|_| vec![name.to_owned(), share.clone()]);
            let mut curve = Curve { name: format!("{share} of the statements wrong"), ..Curve::default() };
            for rounds in ROUNDS.into_iter().take(few(4)) {
                let conditions = Conditions { wrong, learning: 2 * rounds, ..base };
                let both = [FULL_ROW, FROZEN_ROW];
                let worlds = setup.scale(30, 1);
                let all = parallel::map(setup, name, worlds, |world| {
                    Experiment::run(&conditions, world as u64, &both)
                })?;
                for ((metric, row), count) in MEASURED.into_iter().zip(&mut rows).zip(&mut counts) {
                    let (key, of) = METRICS[metric];
                    let values: Vec<f64> =
                        all.iter().map(|experiment| experiment.difference(FROZEN_ROW, of)).collect();
                    let (value, interval) = (mean(&values), mean_interval(&values));
                    let (cell, above) = (with_interval(value, interval), interval.0 > 0.0);
                    for (.., what) in GOALS
                        .iter()
                        .filter(|goal| (goal.0, goal.1, goal.2, goal.3) == (panel, wrong, rounds, metric))
                    {
                        report.goal(what, cell.clone(), above);
                    }
                    row.push(if above { format!("**{cell}**") } else { cell });
                    report.number(format!("learning.{panel}.{share}.{rounds}.{key}"), value);
                    count.0 += usize::from(above);
                    count.1 += usize::from(above && wrong == 0.0);
                    if rounds == ROUNDS[0] && metric == MEASURED[0] {
                        let frozen: Vec<f64> =
                            all.iter().map(|one| mean(&one.seed_means(FROZEN_ROW, of))).collect();
                        at_ten.push((wrong, value, mean(&frozen)));
                    }
                    if panel == 0 && metric == MEASURED[0] {
                        curve.points.push((rounds as f64, value));
                        curve.band.push((rounds as f64, interval.0, interval.1));
                    }
                }
            }
            for (table, row) in tables.iter_mut().zip(rows) {
                table.row(row);
            }
            if panel == 0 {
                plot.curves.push(curve);
            }
        }
        summary.row(report, name, counts, &at_ten);
    }
    let zero = ROUNDS.map(|rounds| (rounds as f64, 0.0)).to_vec();
    plot.curves.push(Curve {
        name: "as good as frozen".into(),
        points: zero,
        dashed: true,
        ..Curve::default()
    });
    let [alignment, reward] = tables;
    report.text("Alignment in the frozen rounds, mean of 30 experiments with a 95% interval; **bold** where learning is better:");
    report.table(alignment);
    report.plot(plot);
    report.text("The same in the personalized reward, whose luck is larger:");
    report.table(reward);
    summary.finish(report);
    Ok(())
}

/// What full gains over frozen in the paper, in alignment, and what frozen has there.
const PAPERS_GAIN: f64 = published::CONTRASTS[2].1[1].0;
const PAPERS_FROZEN: f64 = published::POLICIES[FROZEN_ROW][1].0;

/// How much of the grid is better with learning, and which wrong statements would explain the paper's contrast.
struct Summary(Table);

impl Default for Summary {
    fn default() -> Self {
        let cells = WRONG.len() * ROUNDS.len();
        let heads = [
            "full above frozen".to_owned(),
            format!("alignment, of {cells} cells"),
            format!("with right statements, of {}", ROUNDS.len()),
            format!("reward, of {cells}"),
            format!("with right statements, of {}", ROUNDS.len()),
            format!("wrong statements for {PAPERS_GAIN:+} in ten rounds"),
            "frozen's alignment then".into(),
        ];
        Self(Table::new("learning-summary", &heads))
    }
}

impl Summary {
    /// Adds a kind of world; `at_ten` are the wrong statements, the gain in alignment and frozen's alignment after ten rounds.
    fn row(
        &mut self,
        report: &mut Report,
        name: &str,
        counts: [(usize, usize); 2],
        at_ten: &[(f64, f64, f64)],
    ) {
        let found = crossing(at_ten, PAPERS_GAIN);
        let (share, frozen) = found.map_or(("more than half".into(), String::new()), |(wrong, frozen)| {
            (format!("{:.0}%", 100.0 * wrong), format!("{frozen:.3}"))
        });
        let [alignment, reward] = counts.map(|(all, right)| [all, right].map(|count| count.to_string()));
        self.0.row([name.to_owned()].into_iter().chain(alignment).chain(reward).chain([share, frozen]));
        report.number(format!("explained.{name}"), found.map_or(1.0, |(wrong, _)| wrong));
    }

    fn finish(self, report: &mut Report) {
        report.text(
            "Cells in which the interval is above 0; and how many statements would have to be wrong for the paper's contrast in alignment
             after its ten rounds, between the rows of the grid by straight lines, with the alignment that frozen would then have:",
        );
        report.table(self.0);
        report.text(&format!(
            "The paper's frozen policy has {PAPERS_FROZEN:.3}. Written after the first full run: wrong statements alone do not explain the
             paper's contrast in the world as logged, where so many would have to be wrong that frozen would be far below that; a few
             of them would, together with rewards that say more about style than the paper's formula lets them. With right
             statements and without draws full has nowhere more alignment than frozen, beyond chance, which has the best style from the start; it has
             more reward where something besides the style matters."
        ));
    }
}

/// Where a line through points first reaches a height: its first coordinate, and the third at that place.
fn crossing(points: &[(f64, f64, f64)], height: f64) -> Option<(f64, f64)> {
    let first = points.first().filter(|point| point.1 >= height).map(|point| (point.0, point.2));
    first.or_else(|| {
        points.windows(2).find_map(|pair| {
            let [before, after] = pair else { return None };
            let part = (height - before.1) / (after.1 - before.1);
            let between = |from: f64, to: f64| from + part * (to - from);
            (before.1 < height && after.1 >= height)
                .then(|| (between(before.0, after.0), between(before.2, after.2)))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_height_is_reached_between_two_points_or_not() {
        let points = [(0.0, -1.0, 8.0), (0.5, 0.0, 6.0), (1.0, 2.0, 2.0)];
        assert_eq!(crossing(&points, 1.0), Some((0.75, 4.0)));
        assert_eq!(crossing(&points, -2.0), Some((0.0, 8.0)));
        assert_eq!(crossing(&points, 2.5), None);
        assert_eq!(crossing(&[], 0.0), None);
    }

    #[test]
    fn goals_are_about_cells_of_the_grid() {
        for (panel, wrong, rounds, metric, what) in GOALS {
            assert!(
                panel < 6 && WRONG.contains(&wrong) && ROUNDS.contains(&rounds) && MEASURED.contains(&metric),
                "{what}"
            );
        }
        assert_eq!((PAPERS_GAIN, PAPERS_FROZEN), (0.024, 0.693));
    }
}
