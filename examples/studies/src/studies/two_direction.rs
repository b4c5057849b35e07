//! Two contexts with opposite preferences: `web_search` is right for current information, `no_tool` for stable facts.
//!
//! The paper's last appendix: 20 prompts in a fixed order, reward +1 or -1, a learner that learns against one that does
//! not. The paper has one run; here are many seeds, and where its run lies among them.

use crate::parallel;
use crate::plot::Plot;
use crate::policies::{Agent, FROZEN, FULL, Method};
use crate::report::{Report, Table};
use crate::setup::{Setup, StudyError};
use crate::statistics::{mcnemar, mean, mean_interval, quantile};
use fable_core::catalog::Part;
use fable_core::catalog::agent::{self, AGENT, MEMORY, Memory, STYLE, Style, TOOL, Tool};
use fable_core::{Action, Comparison, Context, Exploration, Feasible, Policy, Request, Rule, Settings, values};

pub const ABOUT: &str = "20 prompts, web search against no tool: learning against frozen, many seeds beside the paper's one";

/// Which way a prompt points.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Target {
    Current,
    Stable,
}
use Target::{Current, Stable};

/// The direction of each prompt, in the paper's order: its prompts 1 to 20.
const PROMPTS: [Target; 20] = [
    Current, Stable, Stable, Current, Current, Stable, Stable, Current, Current, Stable, //
    Stable, Current, Current, Stable, Stable, Current, Current, Stable, Stable, Current,
];

const SEARCH: Action = agent::action(Memory::NoMemory, Tool::WebSearch, Style::Concise);
const NO_TOOL: Action = agent::action(Memory::NoMemory, Tool::NoTool, Style::Concise);

const RULES: &[Rule<'static>] = &[
    Rule::require("memory is fixed", &[Part::new(MEMORY, values![Memory::NoMemory])]),
    Rule::require("two tool modes", &[Part::new(TOOL, values![Tool::NoTool, Tool::WebSearch])]),
    Rule::require("style is fixed", &[Part::new(STYLE, values![Style::Concise])]),
];

/// What the paper does not state: the contexts and the settings.
#[derive(Clone, Copy)]
struct Variant {
    name: &'static str,
    key: &'static str,
    /// The task of prompts about current information; the others are `factual`.
    current: &'static str,
    /// The tool need of prompts about current information and of the others.
    tool_need: [f32; 2],
    settings: Settings<'static>,
}

const VAGUE: Settings<'static> =
    Settings { base_precision: Some(1.0), exploration: Exploration::Constant(1.0), ..Settings::PAPER };

const OWN_TASKS: Variant = Variant {
    name: "defaults, own tasks",
    key: "default.own",
    current: "coding",
    // What the simulator gives to "Who won the match last night?" and to "How far away is the moon?".
    tool_need: [0.8, 0.2],
    settings: Settings::PAPER,
};
const ONE_TASK: Variant = Variant { name: "defaults, one task", key: "default.one", current: "factual", ..OWN_TASKS };

const VARIANTS: [Variant; 4] = [
    OWN_TASKS,
    ONE_TASK,
    Variant { name: "unit precision, own tasks", key: "unit.own", settings: VAGUE, ..OWN_TASKS },
    Variant { name: "unit precision, one task", key: "unit.one", settings: VAGUE, ..ONE_TASK },
];

/// The tool modes of the paper's online run, `w` for a search, in the order of the prompts.
const PUBLISHED: &str = "wwnnwnnwwnnwwnnwwnnw";

impl Target {
    fn action(self) -> Action {
        if self == Current { SEARCH } else { NO_TOOL }
    }

    fn context(self, variant: &Variant) -> Result<Context, StudyError> {
        let [current, stable] = variant.tool_need;
        let (task, tool_need) = if self == Current { (variant.current, current) } else { ("factual", stable) };
        Ok(Context::new(&AGENT, Some(AGENT.task(task)?), &[0.1, 0.1, 0.0, tool_need])?)
    }

    /// Whether the right action has the higher score in all: default, cost and what was learned.
    fn probe(self, variant: &Variant) -> Result<Comparison, StudyError> {
        let over = if self == Current { NO_TOOL } else { SEARCH };
        Ok(Comparison { context: self.context(variant)?, prefer: self.action(), over, total: true })
    }
}

fn probe(agent: &mut Agent<'_>, variant: &Variant) -> Result<[f64; 2], StudyError> {
    Ok([agent.assess(&Current.probe(variant)?)?.probability, agent.assess(&Stable.probe(variant)?)?.probability])
}

/// One run of 20 prompts.
struct Run {
    correct: [bool; 20],
    /// The probabilities of the probes, current and stable, before and after.
    probes: [[f64; 2]; 2],
}

impl Run {
    fn correct(&self, counts: impl Fn(usize) -> bool) -> f64 {
        self.correct.iter().enumerate().filter(|(round, correct)| **correct && counts(*round)).count() as f64
    }

    fn all(&self) -> f64 {
        self.correct(|_| true)
    }

    fn in_direction(&self, target: Target) -> f64 {
        self.correct(|round| PROMPTS.get(round) == Some(&target))
    }
}

fn live(policy: &Policy<'_, f64>, variant: &Variant, method: Method, seed: u64) -> Result<Run, StudyError> {
    let mut agent = Agent::new(policy, method, seed)?;
    let feasible = Feasible::new(&AGENT, RULES)?;
    let before = probe(&mut agent, variant)?;
    let mut correct = [false; 20];
    for (slot, target) in correct.iter_mut().zip(PROMPTS) {
        let chosen = agent.choose(&Request::new(&target.context(variant)?, &feasible), |_| 0.0)?;
        *slot = chosen == Some(target.action());
        agent.learn(if *slot { 1.0 } else { -1.0 })?;
    }
    Ok(Run { correct, probes: [before, probe(&mut agent, variant)?] })
}

/// The runs of both policies under the same settings, paired by seed.
struct Pair {
    online: Vec<Run>,
    frozen: Vec<Run>,
    /// The probes after the actions that the paper's online run took.
    replayed: [f64; 2],
}

fn pair(setup: &Setup, variant: &Variant, seeds: usize) -> Result<Pair, StudyError> {
    let policy = Policy::new(&AGENT, variant.settings)?;
    let runs = parallel::map(setup, variant.name, seeds, |seed| {
        let life = |method| live(&policy, variant, method, seed as u64);
        Ok((life(FULL)?, life(FROZEN)?))
    })?;
    let (online, frozen) = runs.into_iter().unzip();
    Ok(Pair { online, frozen, replayed: replay(&policy, variant)? })
}

/// The probes after the actions that the paper's online run took, and their rewards.
fn replay(policy: &Policy<'_, f64>, variant: &Variant) -> Result<[f64; 2], StudyError> {
    let mut agent = Agent::new(policy, FULL, 0)?;
    for (target, mode) in PROMPTS.into_iter().zip(PUBLISHED.chars()) {
        let action = if mode == 'w' { SEARCH } else { NO_TOOL };
        agent.observe(&target.context(variant)?, action, if action == target.action() { 1.0 } else { -1.0 })?;
    }
    probe(&mut agent, variant)
}

fn values(runs: &[Run], of: impl Fn(&Run) -> f64) -> Vec<f64> {
    runs.iter().map(of).collect()
}

/// Mean and central 90%.
fn spread(values: &[f64]) -> String {
    format!("{:.3} ({:.2} to {:.2})", mean(values), quantile(values, 0.05), quantile(values, 0.95))
}

/// Runs the study.
pub fn run(setup: &Setup) -> Result<Report, StudyError> {
    let seeds = setup.scale(10_000, 100);
    let pairs = VARIANTS.iter().map(|variant| pair(setup, variant, seeds)).collect::<Result<Vec<Pair>, _>>()?;
    let mut report = Report::new("one learner, two contexts, opposite preferences");
    if let Some(shipped) = pairs.first() {
        goals(&mut report, shipped);
    }
    report.text(&format!(
        "The paper's 20 prompts in their order, `web_search` against `no_tool` with `no_memory` and `concise` fixed, reward +1
         for the target action and -1 for the other, {seeds} seeds; both policies of a seed see the same draws. No model is
         called: whether the host followed the instruction is not part of the reward in the paper either."
    ));
    report.text(
        "The paper does not state its contexts, prior and scale. Ours: risk and ambiguity 0.1, memory need 0, tool need 0.8 for
         current information and 0.2 for stable facts, the signals that the simulator gives such requests; the reference and
         costs of the catalog `agent`; no onboarding. With _own tasks_ the prompts about current information, all of them about
         releases of software, have the task `coding` and the others `factual`; with _one task_ all are `factual`. _Defaults_ are
         `Settings::PAPER`, _unit precision_ has base precision 1 and nu = 1.",
    );
    report.text(
        "One task was run first and misses the goals under either settings. The two contexts then differ in one number,
         the tool need, and the prior, with a standard deviation of 1/4, would have to find a slope of nearly 7 in it plausible:
         what is learned about one kind of prompt is carried over to the other, and unlearned again. So own tasks, where the
         dictionary has a coordinate for each direction, were added after that, and the goals are for them. A task type is how a
         context says that two kinds of requests are different. With these tool needs the mean of 17 is then just missed; with a
         tool need of 0.1 for stable facts, where the default score speaks against a tool, it is passed (the last table).",
    );
    report.table(summary(&pairs));
    let short = pairs.first().map_or(0, |pair| pair.online.iter().filter(|run| run.all() < 15.0).count());
    report.text(&format!(
        "Mean over seeds, with the central 90% of them in brackets. In the first column {:.0}% of the runs have fewer than 15 right; most
         of the others have 18.",
        100.0 * short as f64 / seeds as f64
    ));
    let sharper = Variant { settings: Settings { noise_variance: 0.1, ..VAGUE }, ..ONE_TASK };
    let sharper = replay(&Policy::new(&AGENT, sharper.settings)?, &sharper)?;
    report.table(probes(&pairs, sharper));
    report.text(
        "Probability of the working posterior that the complete action that is right has the higher score, at the end of our runs
         and after the 20 actions that the paper's online run took. The paper's stable probe starts where unit precision starts;
         its current one would need a difference of about 0.21 between the reference scores, where Appendix F has 0.18 - 0.08. The
         paper's two ends are far apart; after its own actions only contexts with one task and a smaller noise variance come near
         them. Such contexts may be the paper's, and 18 of 20 is then one of the better runs.",
    );
    let sensitivity = sensitivity(setup, &mut report.numbers)?;
    report.table(sensitivity);
    report.text(
        "Mean of correct choices, online and frozen, with the defaults, for other tool needs (2,000 seeds). 0.1 is what the catalog
         calls nothing to look up; there, and not at 0.2, its default score counts against a tool.",
    );
    if let Some(shipped) = pairs.first() {
        report.plot(distribution(shipped));
        report.plot(learning(shipped));
    }
    for (pair, variant) in pairs.iter().zip(VARIANTS) {
        numbers(&mut report, pair, variant.key);
    }
    Ok(report)
}

fn goals(report: &mut Report, shipped: &Pair) {
    let (online, frozen) = (values(&shipped.online, Run::all), values(&shipped.frozen, Run::all));
    let central = |values: &[f64]| (quantile(values, 0.05), quantile(values, 0.95));
    let within = |values: &[f64], paper: f64| central(values).0 <= paper && paper <= central(values).1;
    let told = |values: &[f64]| format!("central 90% is {} to {}", central(values).0, central(values).1);
    report.goal("mean online accuracy at least 17 of 20", format!("{:.2}", mean(&online)), mean(&online) >= 17.0);
    report.goal("the paper's 18 (online) in the central 90%", told(&online), within(&online, 18.0));
    report.goal("the paper's 14 (frozen) in the central 90%", told(&frozen), within(&frozen, 14.0));
}

fn discordant(pair: &Pair) -> Vec<(usize, usize)> {
    let count = |one: &Run, other: &Run| one.correct.iter().zip(other.correct).filter(|(one, other)| **one && !other).count();
    pair.online.iter().zip(&pair.frozen).map(|(online, frozen)| (count(online, frozen), count(frozen, online))).collect()
}

fn mcnemar_values(pair: &Pair) -> Vec<f64> {
    discordant(pair).into_iter().map(|(online, frozen)| mcnemar(online, frozen)).collect()
}

fn summary(pairs: &[Pair]) -> Table {
    type Row = (&'static str, &'static str, fn(&Pair) -> Vec<f64>);
    const FIRST: fn(&Run) -> f64 = |run| 2.0 * run.correct(|round| round < 10) / 10.0 - 1.0;
    const LAST: fn(&Run) -> f64 = |run| 2.0 * run.correct(|round| round >= 10) / 10.0 - 1.0;
    const ROWS: [Row; 13] = [
        ("online, correct of 20", "18", |pair| values(&pair.online, Run::all)),
        ("frozen, correct of 20", "14", |pair| values(&pair.frozen, Run::all)),
        ("online, current of 10", "9", |pair| values(&pair.online, |run| run.in_direction(Current))),
        ("online, stable of 10", "9", |pair| values(&pair.online, |run| run.in_direction(Stable))),
        ("frozen, current of 10", "8", |pair| values(&pair.frozen, |run| run.in_direction(Current))),
        ("frozen, stable of 10", "6", |pair| values(&pair.frozen, |run| run.in_direction(Stable))),
        ("online, mean reward in rounds 1 to 10", "0.6", |pair| values(&pair.online, FIRST)),
        ("online, mean reward in rounds 11 to 20", "1.0", |pair| values(&pair.online, LAST)),
        ("frozen, mean reward in rounds 1 to 10", "0.4", |pair| values(&pair.frozen, FIRST)),
        ("frozen, mean reward in rounds 11 to 20", "0.4", |pair| values(&pair.frozen, LAST)),
        ("rounds that only online has right", "5", |pair| discordant(pair).iter().map(|(online, _)| *online as f64).collect()),
        ("rounds that only frozen has right", "1", |pair| discordant(pair).iter().map(|(_, frozen)| *frozen as f64).collect()),
        ("exact McNemar p", "0.2188", mcnemar_values),
    ];
    let columns = ["", "paper, one run"].into_iter().chain(VARIANTS.iter().map(|variant| variant.name)).collect::<Vec<_>>();
    let mut table = Table::new("summary", &columns);
    for (name, paper, of) in ROWS {
        table.row([name.into(), paper.into()].into_iter().chain(pairs.iter().map(|pair| spread(&of(pair)))));
    }
    let share = |pair: &Pair| {
        let significant = mcnemar_values(pair).into_iter().filter(|p| *p < 0.05).count();
        format!("{:.1}%", 100.0 * significant as f64 / pair.online.len() as f64)
    };
    table.row(["runs with p below 0.05".into(), String::new()].into_iter().chain(pairs.iter().map(share)));
    table
}

fn probes(pairs: &[Pair], sharper: [f64; 2]) -> Table {
    let heads =
        ["", "current, initial", "final", "after the paper's actions", "stable, initial", "final", "after the paper's actions"];
    let mut table = Table::new("probes", &heads);
    table.row(["paper, one run", "0.529", "0.885", "0.885", "0.511", "0.999", "0.999"]);
    for (variant, pair) in VARIANTS.iter().zip(pairs) {
        let cells = |probe: usize| {
            let at = |time: usize| values(&pair.online, |run| run.probes[time][probe]);
            [format!("{:.3}", mean(&at(0))), spread(&at(1)), format!("{:.3}", pair.replayed[probe])]
        };
        table.row([variant.name.into()].into_iter().chain(cells(0)).chain(cells(1)));
    }
    let only = |probe: usize| [String::new(), String::new(), format!("{:.3}", sharper[probe])];
    table.row(["the same, noise variance 0.1".into()].into_iter().chain(only(0)).chain(only(1)));
    table
}

/// What other contexts would have given.
fn sensitivity(setup: &Setup, numbers: &mut Vec<(String, f64)>) -> Result<Table, StudyError> {
    let mut table = Table::new("sensitivity", &["tool need, current and stable", "own tasks", "one task"]);
    for tool_need in [[0.7, 0.3], [0.8, 0.2], [0.8, 0.1], [0.9, 0.1], [1.0, 0.0]] {
        let mut cells = vec![format!("{} and {}", tool_need[0], tool_need[1])];
        for variant in [OWN_TASKS, ONE_TASK] {
            let pair = pair(setup, &Variant { tool_need, ..variant }, setup.scale(2000, 20))?;
            let [online, frozen] = [&pair.online, &pair.frozen].map(|runs| mean(&values(runs, Run::all)));
            cells.push(format!("{online:.2}, {frozen:.2}"));
            numbers.push((format!("{}, tool need {} and {}", variant.key, tool_need[0], tool_need[1]), online));
        }
        table.row(cells);
    }
    Ok(table)
}

fn distribution(pair: &Pair) -> Plot {
    let mut plot = Plot::new("distribution", "Correct choices of 20", "correct", "share of the runs");
    let histogram = |runs: &[Run]| {
        let share = |count: i32| values(runs, Run::all).iter().filter(|all| **all == f64::from(count)).count();
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

fn learning(pair: &Pair) -> Plot {
    let mut plot = Plot::new("learning", "Cumulative reward, mean and central 90%", "round", "cumulative reward");
    for (name, runs) in [("online", &pair.online), ("frozen", &pair.frozen)] {
        let until = |round: usize| values(runs, |run| 2.0 * run.correct(|earlier| earlier < round) - round as f64);
        let rounds: Vec<(f64, Vec<f64>)> = (0..=20).map(|round| (round as f64, until(round))).collect();
        let points = rounds.iter().map(|(round, rewards)| (*round, mean(rewards))).collect();
        let band = rounds.iter().map(|(round, rewards)| (*round, quantile(rewards, 0.05), quantile(rewards, 0.95))).collect();
        plot.banded(name, points, band);
    }
    plot
}

fn numbers(report: &mut Report, pair: &Pair, settings: &str) {
    let (online, frozen) = (values(&pair.online, Run::all), values(&pair.frozen, Run::all));
    let difference: Vec<f64> = online.iter().zip(&frozen).map(|(online, frozen)| online - frozen).collect();
    report.number(format!("{settings}.online"), mean(&online));
    report.number(format!("{settings}.frozen"), mean(&frozen));
    report.number(format!("{settings}.difference.lower"), mean_interval(&difference).0);
    report.number(format!("{settings}.mcnemar"), mean(&mcnemar_values(pair)));
    for (probe, name) in ["current", "stable"].into_iter().enumerate() {
        for (time, when) in ["initial", "final"].into_iter().enumerate() {
            report.number(format!("{settings}.{name}.{when}"), mean(&values(&pair.online, |run| run.probes[time][probe])));
        }
        report.number(format!("{settings}.{name}.replayed"), pair.replayed[probe]);
    }
}
