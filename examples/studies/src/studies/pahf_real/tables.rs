//! The tables, plots and goals of both worlds.

use super::life::{ASKED, BEST, Life, Lives, MODE, MODES, QUALITY, REWARD, RIGHT, ROWS};
use crate::plot::Plot;
use crate::report::{Report, Table, plus_minus, with_interval};
use crate::statistics::{cluster_bootstrap, deviation, mean};

/// The paper's reward and success, held out, in the order of the first five rows.
pub type Published = [[f64; 2]; 5];
pub const PUBLISHED_EMBODIED: Published =
    [[0.3216, 0.055], [0.5866, 0.023], [0.6470, 0.052], [0.5801, 0.078], [0.6214, 0.078]];
pub const PUBLISHED_SHOPPING: Published =
    [[-0.5893, 0.077], [0.4612, 0.010], [0.4432, 0.082], [0.4223, 0.023], [0.5193, 0.133]];

/// Lives by seed, then person.
type Of<'l> = &'l [Vec<Life>];

/// An estimate and its interval.
pub type Estimate = (f64, (f64, f64));

/// Phases that are held out, before and after the drift.
const HELD_OUT: [usize; 2] = [1, 3];

/// Each person's mean over the seeds.
fn by_person(lives: Of<'_>, phase: usize, metric: usize) -> Vec<f64> {
    let people = lives.first().map_or(0, Vec::len);
    let one = |person: usize| {
        let tallies = lives.iter().filter_map(|lives| lives.get(person)?.phases.get(phase));
        mean(&tallies.map(|tally| tally.mean(metric)).collect::<Vec<_>>())
    };
    (0..people).map(one).collect()
}

/// Each seed's mean over the people.
fn by_seed(lives: Of<'_>, phase: usize, metric: usize) -> Vec<f64> {
    let one = |lives: &Vec<Life>| {
        let tallies = lives.iter().filter_map(|life| life.phases.get(phase));
        mean(&tallies.map(|tally| tally.mean(metric)).collect::<Vec<_>>())
    };
    lives.iter().map(one).collect()
}

fn overall(lives: Of<'_>, phase: usize, metric: usize) -> f64 {
    mean(&by_seed(lives, phase, metric))
}

fn cell(lives: Of<'_>, phase: usize, metric: usize) -> String {
    let values = by_seed(lives, phase, metric);
    plus_minus(mean(&values), deviation(&values))
}

fn share(lives: Of<'_>, phase: usize, metric: usize) -> String {
    format!("{:.1}%", 100.0 * overall(lives, phase, metric))
}

/// One minus the other: the people are what is drawn again for the interval.
pub fn difference(one: Of<'_>, other: Of<'_>, phase: usize, metric: usize) -> Estimate {
    let pairs = by_person(one, phase, metric).into_iter().zip(by_person(other, phase, metric));
    let differences: Vec<f64> = pairs.map(|(one, other)| one - other).collect();
    let clusters: Vec<(f64, f64)> = differences.iter().map(|difference| (*difference, 1.0)).collect();
    (mean(&differences), cluster_bootstrap(&clusters, 10_000, phase as u64))
}

/// The lives of a row by its key.
pub fn of<'l>(lives: &'l Lives, key: &str) -> Of<'l> {
    let place = ROWS.iter().position(|row| row.key == key);
    place.and_then(|place| lives.get(place)).map_or(&[], Vec::as_slice)
}

/// What a memory mode is called in the catalog.
const MODE_NAMES: [&str; 5] =
    ["no_memory", "recent_memory", "semantic_memory", "preference_memory", "profile_summary"];

/// What each memory mode is worth, by what the host was told: once, or again after the drift.
pub fn modes(report: &mut Report, lives: &[Lives; 2]) {
    report.heading("What the memory modes are worth");
    report.text(
        "Each mode in every round, without a tool, answered directly; nobody chooses. Quality, mean and standard deviation over
         seeds. _Stated again_: the host has what the persona says after the drift instead of what it said on the first day.",
    );
    let heads = [
        "quality",
        "phase 1",
        "2: held out",
        "3: after the drift",
        "4: held out",
        "3, stated again",
        "4, stated again",
    ];
    let mut table = Table::new("modes", &heads);
    let [once, again] = lives;
    for ((name, once), again) in MODE_NAMES.iter().zip(once).zip(again) {
        let cells = (0..4)
            .map(|phase| cell(once, phase, QUALITY))
            .chain([2, 3].map(|phase| cell(again, phase, QUALITY)));
        table.row([(*name).to_owned()].into_iter().chain(cells));
        for phase in 0..4 {
            report.number(format!("mode.{name}.phase{}", phase + 1), overall(once, phase, QUALITY));
        }
        report.number(format!("mode.{name}.again.phase4"), overall(again, 3, QUALITY));
    }
    report.table(table);
    let mut table = Table::new(
        "modes-differences",
        &["quality minus that of `no_memory`", "phase 2", "phase 4", "phase 4, stated again"],
    );
    let [none, none_again] = [once, again].map(|lives| lives.first().map_or(&[][..], Vec::as_slice));
    for ((name, once), again) in MODE_NAMES.iter().zip(once).zip(again).skip(1) {
        let cells = [
            difference(once, none, 1, QUALITY),
            difference(once, none, 3, QUALITY),
            difference(again, none_again, 3, QUALITY),
        ];
        let cells = cells.map(|(estimate, interval)| with_interval(estimate, interval));
        table.row([(*name).to_owned()].into_iter().chain(cells));
    }
    report.table(table);
    report.text("With 95% intervals of the bootstrap over people (10,000 resamples), as everywhere below.");
}

/// What each method gets, beside the paper.
pub fn methods(report: &mut Report, key: &str, lives: &Lives, published: &Published) {
    let heads = [
        "reward",
        "paper, held out",
        "1: learning",
        "2: held out",
        "3: learning after the drift",
        "4: held out",
    ];
    let mut table = Table::new(&format!("{key}-reward"), &heads);
    for (index, (row, lives)) in ROWS.iter().zip(lives).enumerate() {
        let paper = published.get(index).map(|[reward, _]| format!("{reward:.3}")).unwrap_or_default();
        table.row(
            [row.method.name.to_owned(), paper]
                .into_iter()
                .chain((0..4).map(|phase| cell(lives, phase, REWARD))),
        );
        for phase in 0..4 {
            report.number(format!("{key}.{}.phase{}", row.key, phase + 1), overall(lives, phase, REWARD));
        }
    }
    report.table(table);

    let mut heads = vec!["held out".to_owned(), "success, paper".into()];
    for when in ["2", "4"] {
        heads.extend(
            ["the best action", "quality", "nothing to correct", "asked"]
                .map(|metric| format!("{metric}, {when}")),
        );
    }
    let mut table = Table::new(&format!("{key}-held-out"), &heads);
    for (index, (row, lives)) in ROWS.iter().zip(lives).enumerate() {
        let paper =
            published.get(index).map(|[_, success]| format!("{:.1}%", 100.0 * success)).unwrap_or_default();
        let cells = HELD_OUT.into_iter().flat_map(|phase| {
            let quality = format!("{:.3}", overall(lives, phase, QUALITY));
            [share(lives, phase, BEST), quality, share(lives, phase, RIGHT), share(lives, phase, ASKED)]
        });
        table.row([row.method.name.to_owned(), paper].into_iter().chain(cells));
        report.number(format!("{key}.{}.quality2", row.key), overall(lives, 1, QUALITY));
        report.number(format!("{key}.{}.best2", row.key), overall(lives, 1, BEST));
    }
    report.table(table);
    report.text(
        "_The best action_: as good as any with what the host knows at that moment; several are where they deliver the same at the
         same price. _Asked_: `ask_user` or `ask_clarification`.",
    );

    let heads: Vec<String> =
        ["memory chosen, phase 2"].into_iter().chain(MODE_NAMES).map(Into::into).collect();
    let mut table = Table::new(&format!("{key}-memory"), &heads);
    for (row, lives) in ROWS.iter().zip(lives) {
        let cells = (0..MODES.len()).map(|mode| share(lives, 1, MODE + mode));
        table.row([row.method.name.to_owned()].into_iter().chain(cells));
    }
    report.table(table);
}

/// The whole method minus each other row.
pub fn differences(report: &mut Report, key: &str, lives: &Lives, published: &Published) {
    let heads = ["Fable (full) minus", "reward, paper", "2: held out", "4: held out"];
    let mut table = Table::new(&format!("{key}-differences"), &heads);
    let [.., [full, _]] = published;
    for (index, (row, other)) in ROWS.iter().zip(lives).enumerate().filter(|(_, (row, _))| row.key != "full")
    {
        let paper =
            published.get(index).map(|[reward, _]| format!("{:+.3}", full - reward)).unwrap_or_default();
        let cells = HELD_OUT.map(|phase| difference(of(lives, "full"), other, phase, REWARD));
        let cells = cells.map(|(estimate, interval)| with_interval(estimate, interval));
        table.row([row.method.name.to_owned(), paper].into_iter().chain(cells));
    }
    report.table(table);
}

/// The mean reward of each request that is learned from.
pub fn curves(report: &mut Report, key: &str, name: &str, lives: &Lives) {
    const WINDOW: usize = 5;
    let title = format!("Reward while learning, {name}: the drift is in the middle");
    let mut plot = Plot::new(&format!("{key}-learning"), &title, "request", "reward, means of five");
    let shown = ["rule", "flat", "full", "shipped", "fading", "oracle"];
    for (row, lives) in ROWS.iter().zip(lives).filter(|(row, _)| shown.contains(&row.key)) {
        let mut means: Vec<f64> = Vec::new();
        for phase in [0, 2] {
            let all: Vec<&Vec<f64>> =
                lives.iter().flatten().filter_map(|life| life.rewards.get(phase)).collect();
            let rounds = all.iter().map(|rewards| rewards.len()).max().unwrap_or_default();
            for first in (0..rounds).step_by(WINDOW) {
                let window = all.iter().flat_map(|rewards| rewards.iter().skip(first).take(WINDOW).copied());
                means.push(mean(&window.collect::<Vec<_>>()));
            }
        }
        let points = means.iter().enumerate().map(|(index, mean)| ((index * WINDOW) as f64 + 3.0, *mean));
        plot.curve(row.method.name, points.collect());
    }
    report.plot(plot);
}

/// What a mode is worth while there is little to retrieve, and once there is more.
pub fn growth(report: &mut Report, modes: &Lives) {
    const TEN: usize = 10;
    let mut table = Table::new(
        "modes-growth",
        &["reward of one mode throughout", "phase 1, first ten", "phase 1, last ten", "2: held out"],
    );
    for (name, lives) in MODE_NAMES.iter().zip(modes) {
        let (mut first, mut last) = (Vec::new(), Vec::new());
        for rewards in lives.iter().flatten().filter_map(|life| life.rewards.first()) {
            first.extend(rewards.iter().take(TEN).copied());
            last.extend(rewards.iter().rev().take(TEN).copied());
        }
        let held_out = overall(lives, 1, REWARD);
        table.row(
            [(*name).to_owned()]
                .into_iter()
                .chain([mean(&first), mean(&last), held_out].map(|mean| format!("{mean:+.3}"))),
        );
    }
    report.table(table);
}

/// What becomes of the drift when the host has the persona's new text.
pub fn restated(report: &mut Report, once: &Lives, again: &Lives) {
    let heads = ["nobody to ask, reward", "3: learning", "3, stated again", "4: held out", "4, stated again"];
    let mut table = Table::new("alone-restated", &heads);
    for ((row, once), again) in ROWS.iter().zip(once).zip(again) {
        let cells =
            [cell(once, 2, REWARD), cell(again, 2, REWARD), cell(once, 3, REWARD), cell(again, 3, REWARD)];
        table.row([row.method.name.to_owned()].into_iter().chain(cells));
        report.number(format!("restated.{}.phase4", row.key), overall(again, 3, REWARD));
    }
    report.table(table);
}

fn above_zero(report: &mut Report, what: &str, (estimate, interval): Estimate) {
    report.goal(what, with_interval(estimate, interval), interval.0 > 0.0);
}

/// The goals about memory modes: quality above that of no memory, held out.
pub fn mode_goals(report: &mut Report, lives: &[Lives; 2]) {
    let [once, again] = lives;
    let row = |lives: &Lives, mode: usize| lives.get(mode).cloned().unwrap_or_default();
    for (mode, name) in [(2, "the nearest earlier request"), (4, "what was stated")] {
        let what = format!("Before the drift {name} is worth more than no memory, quality held out");
        above_zero(report, &what, difference(&row(once, mode), &row(once, 0), 1, QUALITY));
    }
    above_zero(
        report,
        "After it what was stated again is worth more than what was stated on the first day, quality held out",
        difference(&row(again, 4), &row(once, 4), 3, QUALITY),
    );
}

/// The goals about methods in one reading.
pub fn method_goals(report: &mut Report, name: &str, lives: &Lives, modes: Option<&Lives>) {
    let full = of(lives, "full");
    for (key, other) in [("rule", "rule-only"), ("flat", "per-user flat LinTS")] {
        let what = format!("With {name}: Fable (full) above {other}, reward held out before the drift");
        above_zero(report, &what, difference(full, of(lives, key), 1, REWARD));
    }
    let what =
        format!("With {name}: forgetting (half-life 20) above what ships, reward held out after the drift");
    above_zero(report, &what, difference(of(lives, "fading"), of(lives, "shipped"), 3, REWARD));
    if let Some(modes) = modes {
        let best =
            modes.iter().max_by(|one, other| overall(one, 1, REWARD).total_cmp(&overall(other, 1, REWARD)));
        let what = format!(
            "With {name}: Fable (full) above the best single memory mode, answered directly, reward held out before the drift"
        );
        above_zero(report, &what, difference(full, best.map_or(&[], Vec::as_slice), 1, REWARD));
    }
}

/// The assistant beside the bandit that chooses the product itself.
pub fn beside(report: &mut Report, bandit: &[[f64; 4]], assistants: &[(&str, &Lives)]) {
    report.heading("Beside the bandit whose actions are the products");
    let heads = ["quality", "1: learning", "2: held out", "3: learning after the drift", "4: held out"];
    let mut table = Table::new("beside", &heads);
    for (name, phases) in ["Product bandit, Fable (full)", "Product bandit, as shipped"].iter().zip(bandit) {
        table.row(
            [(*name).to_owned()].into_iter().chain(phases.iter().map(|quality| format!("{quality:.3}"))),
        );
    }
    for (name, lives) in assistants {
        for (label, key) in [("Fable (full)", "full"), ("as shipped", "shipped")] {
            let cells = (0..4).map(|phase| format!("{:.3}", overall(of(lives, key), phase, QUALITY)));
            table.row([format!("Assistant with {name}, {label}")].into_iter().chain(cells));
        }
        let first = bandit.first().copied().unwrap_or_default();
        for (phase, when) in [(1, "before"), (3, "after")] {
            let quality = overall(of(lives, "full"), phase, QUALITY);
            let paper = first.get(phase).copied().unwrap_or_default();
            let what = format!(
                "With {name}: quality of Fable (full) above the product bandit's, held out {when} the drift"
            );
            report.goal(&what, format!("{quality:.3} against {paper:.3}"), quality > paper);
        }
    }
    report.table(table);
    report.text(
        "The product bandit is the study pahf-shopping, run here with as many seeds: it learns each feature from rewards alone, in
         the order of the files, without noise, and pays for nothing. The assistant learns only when to ask and what to
         consult; what is known about features is the host's. The two are not rivals, they answer different questions.",
    );
}
