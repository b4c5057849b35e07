//! The tau2-bench study with a simulated host: a check that the method can behave as the paper reports, not a replication.

pub mod experiment;
pub mod host;
mod published;

use crate::parallel;
use crate::report::{Report, Table, plus_minus, with_interval};
use crate::setup::{Setup, StudyError};
use crate::statistics::{deviation, mean};
use experiment::{Clusters, Conditions, Experiment, FULL_ROW, METHODS, METRICS, SHIPPED, TASKS};
use fable_core::{Exploration, Settings};
use host::{DOMAINS, Host, PROFILES, Told};
use published::{CONTRASTS, Estimate};

pub const ABOUT: &str = "customer service with two profiles: ten policies, a simulated host, side by side with the paper";

/// Positions among the policies and the metrics.
const NO_PROMOTION_ROW: usize = 6;
const ALIGNMENT: usize = 1;

const STATED: Conditions = Conditions { host: Host::STATED, settings: SHIPPED, stated: 4.0, learning: TASKS };
const VAGUE: Settings<'static> = Settings { base_precision: Some(1.0), exploration: Exploration::Constant(1.0), ..SHIPPED };
/// No margin for where the user may be, an even chance of being wrong, three rewards.
const EAGER: Settings<'static> = Settings { prior_radius: Some(0.0), alpha: 0.5, min_evidence: 3, ..SHIPPED };
/// Besides, rewards are believed to scatter fifty times less than they do.
const CREDULOUS: Settings<'static> = Settings { noise_variance: 0.01, ..EAGER };

const fn excludes_zero((_, (lower, upper)): &Estimate) -> bool {
    *lower > 0.0 || *upper < 0.0
}

/// The paper's contrasts with intervals that exclude zero: the comparator, the metric and the estimate.
fn resolved() -> impl Iterator<Item = (usize, usize, Estimate)> {
    let all = CONTRASTS.iter().flat_map(|(other, cells)| cells.iter().enumerate().map(|(metric, cell)| (*other, metric, *cell)));
    all.filter(|(_, _, cell)| excludes_zero(cell))
}

/// The same contrast in many experiments: the mean, and how many have the sign of `sign` and exclude zero with it.
struct Repeated {
    mean: f64,
    agree: f64,
    resolved: f64,
}

fn repeated(experiments: &[Experiment], other: usize, metric: usize, sign: f64, resamples: usize) -> Repeated {
    let of = METRICS[metric].1;
    let estimates: Vec<Estimate> =
        experiments.iter().map(|experiment| experiment.contrast(other, of, Clusters::Tasks, resamples)).collect();
    let share = |holds: &dyn Fn(&Estimate) -> bool| {
        estimates.iter().filter(|estimate| holds(estimate)).count() as f64 / estimates.len().max(1) as f64
    };
    Repeated {
        mean: mean(&estimates.iter().map(|(estimate, _)| *estimate).collect::<Vec<_>>()),
        agree: share(&|estimate| estimate.0 * sign > 0.0),
        resolved: share(&|estimate| estimate.0 * sign > 0.0 && excludes_zero(estimate)),
    }
}

fn experiments(setup: &Setup, label: &str, conditions: &Conditions, count: usize) -> Result<Vec<Experiment>, StudyError> {
    parallel::map(setup, label, count, |world| Experiment::run(conditions, world as u64))
}

/// Runs the study.
pub fn run(setup: &Setup) -> Result<Report, StudyError> {
    let all = experiments(setup, "tau2", &STATED, setup.scale(200, 3))?;
    let mut report = Report::new("customer service with two profiles, a simulated host");
    described(&mut report);
    policies(&mut report, &all);
    contrasts(&mut report, &all, setup.scale(10_000, 500), setup.scale(1000, 50));
    domains(&mut report, &all);
    promotions(&mut report, &all);
    grid(&mut report, setup)?;
    Ok(report)
}

fn described(report: &mut Report) {
    report.text(
        "Four domains, two profiles and three seeds are 24 trajectories of ten learning and ten frozen rounds; the 20 + 20 tasks
         of a domain are shared by the two profiles, ten each, and are the same for every seed and policy. 18 actions, catalog
         `tau2` (d = 29) with its costs, no default scores, weight of costs 0.2 as in the paper's signal, otherwise
         the shipped settings. Frozen rounds use the posterior mean. Onboarding is one statement: the profile's style over the
         opposite one (response 1, precision 4). The flat model has the same statement, spread over the complete actions, and
         the same prior spread of a score.",
    );
    let host = Host::STATED;
    let table = [Told::Nothing, Told::Preference(PROFILES[0]), Told::Preference(PROFILES[1])]
        .map(|told| PROFILES.map(|profile| format!("{:.2}", host.expected_alignment(profile, told))).join(" and "));
    report.text(&format!(
        "There is no model to call. **The host is simulated** and was fixed before the first run: an answer of the host alone has
         a median of 130 words, `direct` 90, `concise` 60, `guided` 140; `verify` and `conversation` make it a tenth longer; a
         promoted sentence about style makes it a tenth shorter or longer; the standard deviation of its logarithm is {}.
         Alignment of the efficient profile falls from 1 at 40 words to 0 at 140; that of the guided one rises from 0 at 60 to 1
         at 160 and falls from 240 to 400. So the host alone has {} (efficient and guided; their mean is near the paper's 0.435),
         {} when it writes briefly and {} when it guides. Success does not depend on the action: half of the tasks are solved
         always or never, the others at the rate of the paper's host in their domain; every policy has its own luck, as if the
         model had been called.",
        host.spread, table[0], table[1], table[2]
    ));
    report.text("This is a consistency check, not a replication.");
}

fn policies(report: &mut Report, all: &[Experiment]) {
    let mut heads = vec![String::new()];
    for (metric, _) in METRICS {
        heads.extend([format!("{metric}, paper"), "one experiment".into(), "mean of all".into()]);
    }
    let mut table = Table::new("policies", &heads);
    for (row, method) in METHODS.iter().enumerate() {
        let mut cells = vec![method.name.to_owned()];
        for (metric, (name, of)) in METRICS.into_iter().enumerate() {
            let paper = published::POLICIES.get(row).map_or(String::new(), |paper| plus_minus(paper[metric].0, paper[metric].1));
            let first = all.first().map(|experiment| experiment.seed_means(row, of)).unwrap_or_default();
            let mean_of_all = mean(&all.iter().map(|experiment| mean(&experiment.seed_means(row, of))).collect::<Vec<_>>());
            cells.extend([paper, plus_minus(mean(&first), deviation(&first)), format!("{mean_of_all:.3}")]);
            report.number(format!("{}.{name}", method.name), mean_of_all);
        }
        table.row(cells);
    }
    report.table(table);
    report.text(&format!(
        "Frozen rounds, 240 episodes per policy: mean and standard deviation over the three seeds' means in one experiment like the
         paper's, and the mean of {} such experiments. The last three rows are not in the paper: a host that knows the
         profile, any action, and the best action.",
        all.len()
    ));
}

fn contrasts(report: &mut Report, all: &[Experiment], for_one: usize, resamples: usize) {
    let heads = ["Fable (full) minus", "metric", "paper", "one experiment", "mean of all", "same sign", "and excludes 0"];
    let mut table = Table::new("contrasts", &heads);
    let Some(first) = all.first() else { return };
    for (other, cells) in CONTRASTS {
        for ((metric, (name, of)), paper) in METRICS.into_iter().enumerate().zip(cells) {
            let ours = first.contrast(other, of, Clusters::Tasks, for_one);
            let again = repeated(all, other, metric, paper.0.signum(), resamples);
            let mark = |estimate: &Estimate, text: String| if excludes_zero(estimate) { format!("**{text}**") } else { text };
            let method = METHODS.get(other).map_or("", |method| method.name);
            table.row([
                method.to_owned(),
                name.to_owned(),
                mark(&paper, with_interval(paper.0, paper.1)),
                mark(&ours, with_interval(ours.0, ours.1)),
                format!("{:+.3}", again.mean),
                format!("{:.0}%", 100.0 * again.agree),
                format!("{:.0}%", 100.0 * again.resolved),
            ]);
            report.number(format!("full - {method}.{name}"), again.mean);
            report.number(format!("full - {method}.{name}.lower"), ours.1.0);
        }
    }
    report.table(table);
    report.text(
        "95% intervals of a paired bootstrap over 80 clusters of domain, task and profile after averaging over seeds, 10,000
         resamples; **bold** excludes zero. The last two columns are the shares of all experiments with the sign of the paper.",
    );
    let lower = first.contrast(0, METRICS[2].1, Clusters::Tasks, for_one).1.0;
    report.text(&format!(
        "Noninferiority of task success to the host at a margin of -0.02: the lower end is {lower:+.3}, so it is {} (paper: -0.046,
         not established). With 80 clusters an experiment of this size can hardly establish it, whatever is true.",
        if lower > -0.02 { "established" } else { "not established" }
    ));
    signs(report, all, resamples);
}

/// Which of the paper's resolved contrasts have its sign.
fn signs(report: &mut Report, all: &[Experiment], resamples: usize) {
    let mut items = Vec::new();
    let mut agreeing = 0;
    for (other, metric, paper) in resolved() {
        let again = repeated(all, other, metric, paper.0.signum(), resamples);
        let agrees = again.mean * paper.0 > 0.0;
        agreeing += usize::from(agrees);
        let (method, name) = (METHODS.get(other).map_or("", |method| method.name), METRICS[metric].0);
        items.push(format!(
            "{name} against {method}: paper {:+.3}, ours {:+.3} on average; {}",
            paper.0,
            again.mean,
            if agrees { "the sign agrees" } else { "the sign does not agree" }
        ));
    }
    report.text(&format!(
        "Of the paper's seven contrasts with intervals excluding zero, {agreeing} have the same sign on average over our experiments:"
    ));
    report.list(&items);
    let nothing = |clusters| luck(all, clusters, resamples);
    let (by_task, by_trajectory) = (nothing(Clusters::Tasks), nothing(Clusters::Trajectories));
    report.text(&format!(
        "Why three signs differ. **Frozen**: the statement is right, so what never learns has the right style from the start. In the
         signal the failure of a task costs 1.5 and the wrong style about 0.3: what ten rewards teach is mostly luck, and luck can
         only lead away from the best. Where no task fails, or after 300 rounds, the loss is nearly gone (see the next section).
         The paper's frozen policy leaves something to learn that ours does not; its statements and default scores are not
         printed. **Flat**: a failure counts against everything that shares a value with the action in the factorized
         model, and against that action alone in the flat one; where no task fails the sign is the paper's. **No promotion**: promotion never fired, so both policies are the
         same learner with other luck, and there is no difference to find. Its estimate in alignment still has a standard
         deviation of {:.3} over our experiments, and its interval excludes zero, on either side, in {:.1}% of them instead of 5%:
         the ten tasks of a trajectory share what it learned, and a bootstrap over tasks takes them for independent (with the 24
         trajectories as clusters it is {:.1}%). The paper's intervals are made over tasks too, and its three small contrasts
         (0.022, 0.024 and 0.031 in alignment) are not larger than this luck, though its seeds scatter less than ours.",
        by_task.0,
        100.0 * by_task.1,
        100.0 * by_trajectory.1
    ));
    report.number("luck.deviation", by_task.0);
    report.number("luck.trajectories", by_trajectory.1);
}

/// Full against no promotion, which differ in nothing: the deviation of the estimates in alignment, and how many intervals
/// exclude zero.
fn luck(all: &[Experiment], clusters: Clusters, resamples: usize) -> (f64, f64) {
    let of = METRICS[ALIGNMENT].1;
    let estimates: Vec<Estimate> = all.iter().map(|one| one.contrast(NO_PROMOTION_ROW, of, clusters, resamples)).collect();
    let excluding = estimates.iter().filter(|estimate| excludes_zero(estimate)).count();
    let values: Vec<f64> = estimates.iter().map(|(estimate, _)| *estimate).collect();
    (deviation(&values), excluding as f64 / all.len().max(1) as f64)
}

fn domains(report: &mut Report, all: &[Experiment]) {
    let heads = ["success", "host, paper", "one experiment", "mean of all", "full, paper", "one experiment", "mean of all"];
    let mut table = Table::new("domains", &heads);
    for (domain, ((name, _), paper)) in DOMAINS.iter().zip(published::DOMAINS).enumerate() {
        let cells = |row: usize, paper: f64| {
            let of = METRICS[2].1;
            let every: Vec<f64> = all.iter().map(|experiment| experiment.domain_mean(row, domain, of)).collect();
            [paper, every.first().copied().unwrap_or_default(), mean(&every)].map(|share| format!("{share:.3}"))
        };
        table.row([(*name).to_owned()].into_iter().chain(cells(0, paper.0)).chain(cells(FULL_ROW, paper.1)));
    }
    report.table(table);
}

/// How many trajectories of full had something promoted.
fn promoted(all: &[Experiment]) -> (usize, usize) {
    let full = all.iter().filter_map(|experiment| experiment.0.get(FULL_ROW));
    full.fold((0, 0), |(promoted, all), outcome| (promoted + outcome.promoted, all + outcome.trajectories))
}

fn promotions(report: &mut Report, all: &[Experiment]) {
    let (fired, of) = promoted(all);
    report.text(&format!(
        "Promotion fired in {fired} of {of} trajectories of Fable (full): in ten rounds an interval that holds for all time does not
         leave zero."
    ));
    report.number("promoted", fired as f64);
}

fn grid(report: &mut Report, setup: &Setup) -> Result<(), StudyError> {
    report.heading("How much depends on the host and the settings");
    let mut heads = vec![String::new()];
    let short = |other: usize| METHODS.get(other).map_or("", |method| method.name);
    heads.extend(resolved().map(|(other, metric, _)| format!("{} against {}", METRICS[metric].0, short(other))));
    heads.push("promoted".into());
    let mut table = Table::new("sensitivity", &heads);
    for (position, (name, conditions, count)) in cells(setup).into_iter().enumerate() {
        let all = experiments(setup, &name, &conditions, count)?;
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
         promoted. _Care_ is what verifying or asking adds to the probability of success. _Eager_ promotion has radius 0, alpha
         0.5 and a minimum of 3; _credulous_ also takes the noise variance for 0.01, about a fiftieth of what it is.",
    );
    Ok(())
}

/// A row of the sensitivity table: the conditions, and how many experiments.
type Cell = (String, Conditions, usize);

/// The host: how much a style changes the length, by whether care helps. Then the learner, and how long it learns.
fn cells(setup: &Setup) -> Vec<Cell> {
    let many = setup.scale(40, 1);
    let mut cells = vec![("as above".into(), STATED, many)];
    for (verbosity, how) in [(0.5, "half as much"), (1.0, "as stated"), (1.5, "1.5 times as much")] {
        for care in [-0.05, 0.0, 0.05] {
            let host = Host { verbosity, care, ..Host::STATED };
            if host != Host::STATED {
                cells.push((format!("styles change the length {how}, care {care:+}"), Conditions { host, ..STATED }, many));
            }
        }
    }
    cells.push(("no task ever fails".into(), Conditions { host: Host { failing: false, ..Host::STATED }, ..STATED }, many));
    for stated in [1.0, 16.0] {
        cells.push((format!("a statement of precision {stated}"), Conditions { stated, ..STATED }, many));
    }
    let noisy = Settings { noise_variance: 1.0, ..SHIPPED };
    for (name, settings) in [("noise variance 1", noisy), ("unit precision, nu = 1", VAGUE), ("eager promotion", EAGER)] {
        cells.push((name.into(), Conditions { settings, ..STATED }, many));
    }
    for sentence in [1.0, 1.1, 1.2] {
        let host = Host { sentence, ..Host::STATED };
        let conditions = Conditions { host, settings: CREDULOUS, ..STATED };
        cells.push((format!("credulous promotion, sentence x {sentence}"), conditions, many));
    }
    for (rounds, count) in [(100, setup.scale(20, 1)), (300, setup.scale(10, 1))] {
        cells.push((format!("{rounds} learning rounds instead of 10"), Conditions { learning: 2 * rounds, ..STATED }, count));
    }
    cells
}
