//! The 20 prompts of the paper as the context adapter reads them, and a learner with those contexts.
//!
//! The prompts are not part of the repository: they are read from the paper's source beside the data, and nothing of them is kept but
//! counts.

use super::lives::{Run, live, values};
use super::stage::{PROMPTS, Target, WHOLE};
use crate::data::PAPER;
use crate::draw::shuffle;
use crate::parallel;
use crate::policies::{FROZEN, FULL, Method, RULE_ONLY};
use crate::report::{Report, Table};
use crate::setup::{Setup, StudyError};
use crate::statistics::{mean, mean_interval, quantile};
use fable_core::catalog::AGENT;
use fable_core::catalog::agent::TOOL_NEED;
use fable_core::{Context, Policy, Settings};
use fable_simulate::Random;
use fable_std::text::{ContextAdapter, RequestText, Rules, Situation};

pub const ABOUT: &str =
    "the paper's 20 prompts as the text rules read them, and a learner with those contexts (needs the paper)";

/// The prompts with their directions, from the rows of the paper's tables.
fn prompts(setup: &Setup) -> Result<Vec<(String, Target)>, StudyError> {
    let text = PAPER.read(setup)?;
    let row = |line: &str| {
        let mut cells = line.split(" & ");
        cells.next()?.trim().parse::<u32>().ok()?;
        let (prompt, target) = (cells.next()?, cells.next()?);
        let target = match target {
            target if target.starts_with("current (web)") => Target::Current,
            target if target.starts_with("stable (no tool)") => Target::Stable,
            _ => return None,
        };
        Some((prompt.replace('\\', ""), target))
    };
    let prompts: Vec<(String, Target)> = text.lines().filter_map(row).collect();
    if prompts.iter().map(|(_, target)| *target).ne(PROMPTS) {
        return Err(PAPER.bad(setup, "its tables do not have the 20 prompts"));
    }
    Ok(prompts)
}

/// Every prompt as the rules read it.
fn contexts(setup: &Setup) -> Result<Vec<(Context, Target)>, StudyError> {
    let read = |(prompt, target): (String, Target)| -> Result<_, StudyError> {
        Ok((Rules.context(&AGENT, Situation::new(RequestText::new(&prompt)))?.value, target))
    };
    prompts(setup)?.into_iter().map(read).collect()
}

/// A row: who, and under which settings.
struct Row {
    name: &'static str,
    key: &'static str,
    method: Method,
    settings: Settings<'static>,
}

const ROWS: [Row; 6] = [
    Row { name: "shipped defaults", key: "shipped", method: FULL, settings: Settings::DEFAULT },
    Row {
        name: "default score and costs alone",
        key: "rule",
        method: RULE_ONLY,
        settings: Settings::DEFAULT,
    },
    Row { name: "the paper's draw", key: "paper", method: FULL, settings: Settings::PAPER },
    Row { name: "the paper's draw, frozen", key: "paper.frozen", method: FROZEN, settings: Settings::PAPER },
    Row { name: "as inferred, nu 1", key: "inferred", method: FULL, settings: INFERRED },
    Row { name: "as inferred, nu 1, frozen", key: "inferred.frozen", method: FROZEN, settings: INFERRED },
];

/// What the study `two-direction` infers, in round numbers.
const INFERRED: Settings<'static> = Settings {
    cost_weight: 0.6,
    base_precision: Some(2.0),
    noise_variance: 0.08,
    exploration: fable_core::Exploration::Constant(1.0),
    ..Settings::PAPER
};

/// Runs the study.
pub fn run(setup: &Setup) -> Result<Report, StudyError> {
    let read = contexts(setup)?;
    let seeds = setup.scale(4000, 30);
    let mut rows: Vec<(&Row, Vec<Run>)> = Vec::new();
    for row in &ROWS {
        let policy = Policy::new(WHOLE.catalog, row.settings)?;
        let runs = parallel::map(setup, &format!("two-direction, {}", row.name), seeds, |seed| {
            // The first is the paper's order; optimism has no chance in it, so the others are other orders.
            let mut order = read.clone();
            if seed > 0 {
                shuffle(&mut Random::new([seed as u64, 0, 0x02de, 0]), &mut order);
            }
            live(&policy, &order, row.method, seed as u64)
        })?;
        rows.push((row, runs));
    }
    let mut report = Report::new("the same prompts, with contexts that are read from them");
    goals(&mut report, &rows);
    told(&mut report, &read, seeds);
    report.table(table(&rows));
    report.text(
        "Looked at after the run: with a tool need that tells the two kinds of prompts apart, default score and costs have nothing left to
         learn here, so the second goal could not be reached, and all that learning can do is to explore. The shipped defaults hardly do. The
         paper's draw does, and with one task and tool needs this close what it learns about one kind of prompt is carried over to the other:
         it does worse than the same draw that learns nothing. The settings as inferred unlearn sooner.",
    );
    for (row, runs) in &rows {
        report.number(format!("{}: right", row.key), mean(&values(runs, Run::all)));
        report.number(
            format!("{}: last ten", row.key),
            mean(&values(runs, |run| run.correct(|round| round >= 10))),
        );
    }
    report.number("tool need of current prompts", mean(&needs(&read, Target::Current)));
    report.number("tool need of stable prompts", mean(&needs(&read, Target::Stable)));
    Ok(report)
}

fn goals(report: &mut Report, rows: &[(&Row, Vec<Run>)]) {
    report.goals_set("2026-11-18");
    let right = |key: &str| {
        rows.iter().find(|(row, _)| row.key == key).map_or(Vec::new(), |(_, runs)| values(runs, Run::all))
    };
    let shipped = mean(&right("shipped"));
    report.goal(
        "contexts as read, shipped defaults: at least 17 of 20 right on average",
        format!("{shipped:.2}"),
        shipped >= 17.0,
    );
    let gain: Vec<f64> =
        right("shipped").iter().zip(right("rule")).map(|(learner, rule)| learner - rule).collect();
    report.goal(
        "contexts as read, shipped defaults: more right than default score and costs alone",
        format!("{:+.2}", mean(&gain)),
        mean_interval(&gain).0 > 0.0,
    );
    let gain: Vec<f64> =
        right("paper").iter().zip(right("paper.frozen")).map(|(online, frozen)| online - frozen).collect();
    report.goal(
        "contexts as read, the paper's draw: online above frozen",
        format!("{:+.2}", mean(&gain)),
        mean_interval(&gain).0 > 0.0,
    );
}

fn needs(read: &[(Context, Target)], direction: Target) -> Vec<f64> {
    let of = |context: &Context| {
        context.signals().get(usize::from(TOOL_NEED)).map_or(0.0, |need| f64::from(*need))
    };
    read.iter().filter(|(_, target)| *target == direction).map(|(context, _)| of(context)).collect()
}

fn told(report: &mut Report, read: &[(Context, Target)], seeds: usize) {
    let names = AGENT.definition().tasks;
    let tasks = |direction: Target| {
        let mut counts: Vec<(&str, usize)> = Vec::new();
        for (context, _) in read.iter().filter(|(_, target)| *target == direction) {
            let name = context.task().and_then(|task| names.get(task)).copied().unwrap_or("no task");
            match counts.iter_mut().find(|(known, _)| *known == name) {
                Some((_, count)) => *count += 1,
                None => counts.push((name, 1)),
            }
        }
        counts.sort_by(|one, other| other.1.cmp(&one.1).then(one.0.cmp(other.0)));
        counts.iter().map(|(name, count)| format!("`{name}` {count}")).collect::<Vec<_>>().join(", ")
    };
    let ends = |direction: Target| {
        let needs = needs(read, direction);
        format!(
            "{:.2} on average ({:.2} to {:.2})",
            mean(&needs),
            quantile(&needs, 0.0),
            quantile(&needs, 1.0)
        )
    };
    report.text(&format!(
        "The context adapter of `fable-text` (rules, no model) reads the paper's prompts, which are taken from its source at run time. Of the ten
         about current information: {}, tool need {}. Of the ten about stable facts: {}, tool need {}. Each prompt has its own context
         then, where the paper has two.",
        tasks(Target::Current),
        ends(Target::Current),
        tasks(Target::Stable),
        ends(Target::Stable),
    ));
    report.text(&format!(
        "{seeds} seeds, each with another order of the prompts; the first has the paper's. Otherwise as in `two-direction`: two tool modes,
         rewards +1 and -1, no statements. All rows have the same contexts, reference and costs; _as inferred_ has the cost weight, precision
         and noise variance that `two-direction` infers, in round numbers. The goals were committed before the full run. The rules were not changed
         for this study, but they were written with these prompts in view (see the page of `fable-text`): how they read them says that they fit,
         not how they carry over."
    ));
}

fn table(rows: &[(&Row, Vec<Run>)]) -> Table {
    let mut table = Table::new(
        "rows",
        &[
            "settings",
            "right of 20",
            "central 90%",
            "of the last ten",
            "current of 10",
            "stable of 10",
            "the paper's order",
        ],
    );
    for (row, runs) in rows {
        let all = values(runs, Run::all);
        table.row([
            row.name.to_owned(),
            format!("{:.2}", mean(&all)),
            format!("{:.0} to {:.0}", quantile(&all, 0.05), quantile(&all, 0.95)),
            format!("{:.2}", mean(&values(runs, |run| run.correct(|round| round >= 10)))),
            format!("{:.2}", mean(&values(runs, |run| run.in_direction(Target::Current)))),
            format!("{:.2}", mean(&values(runs, |run| run.in_direction(Target::Stable)))),
            runs.first().map_or(String::new(), |run| format!("{:.0}", run.all())),
        ]);
    }
    table
}
