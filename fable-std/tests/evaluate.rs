//! Off-policy estimates against what is known: by hand, and over hundreds of simulated logs whose truth is known.

use fable_core::catalog::{RUBRIC, TAU2};
use fable_core::{Action, Context, Exploration, Feasible, Learner, Policy, Settings, Workspace};
use fable_std::evaluate::{Estimate, EvaluateError, LogFault, Mode, Options, Record, Report, Warning, evaluate, simulate};
use fable_std::simulate::SimulatedUser;

fn settings(nu: f64, seed: u64) -> Settings<'static> {
    Settings { exploration: Exploration::Constant(nu), seed, ..Settings::default() }
}

/// A line of `rubric` with exact propensities that are the same for all actions.
fn uniform(line: usize, action: u16, reward: f64) -> Record {
    Record {
        line,
        user: String::new(),
        context: Context::new(&RUBRIC, None, &[]).unwrap(),
        feasible: Feasible::all(&RUBRIC),
        defaults: None,
        action: Action(action),
        reward,
        propensities: vec![1.0 / 27.0; 27],
        draws: None,
    }
}

fn near(one: f64, other: f64) {
    assert!((one - other).abs() < 1e-6, "{one} {other}");
}

/// A frozen greedy target at the prior takes the cheapest action, 0; everything can be written down.
#[test]
fn estimates_are_the_formulas() {
    let log = [uniform(1, 0, 0.5), uniform(2, 3, -0.5), uniform(3, 0, -0.2), uniform(4, 7, 0.9)];
    let options = Options { mode: Mode::Frozen, greedy: true, ..Options::default() };
    let report = evaluate(&RUBRIC, Settings::default(), "log", &log, &options).unwrap();
    let weights = [27.0, 0.0, 27.0, 0.0];
    near(report.ips.value, (27.0 * 0.5 - 27.0 * 0.2) / 4.0);
    near(report.snips.unwrap().value, 0.15);
    near(report.logged.value, 0.175);
    near(report.effective_lines, 2.0);
    near(report.largest_weight, 0.5);
    near(report.mean_weight.value, 13.5);
    assert_eq!((report.lines, report.users, report.rare, report.unsupported, report.truth), (4, 1, 1.0, 0.0, None));

    // The reward model of a line has learned from the lines before it; `predict` is another way to its numbers.
    let policy = Policy::new(&RUBRIC, Settings::default()).unwrap();
    let mut learner = Learner::<f64, Vec<f64>, 1>::over(vec![0.0; RUBRIC.state_len()]);
    let mut workspace = Workspace::over(vec![0.0; RUBRIC.workspace_len()]);
    learner.start(&policy, 0).unwrap();
    let mut terms = Vec::new();
    for (record, weight) in log.iter().zip(weights) {
        let mut predict = |action| learner.predict(&policy, &mut workspace, &record.context, action, None).unwrap().mean;
        terms.push(predict(Action(0)) + weight * (record.reward - predict(record.action)));
        learner.observe(&policy, &mut workspace, &record.context, record.action, record.reward).unwrap();
    }
    let mean = terms.iter().sum::<f64>() / 4.0;
    let error = (terms.iter().map(|term| (term - mean).powi(2)).sum::<f64>() / 3.0 / 4.0).sqrt();
    near(report.doubly_robust.value, mean);
    near(report.doubly_robust.error, error);
    near(report.doubly_robust.upper - report.doubly_robust.value, 1.959_963_985 * error);
    near(report.gain.value, mean - 0.175);
    let snips = weights.iter().zip(&log).map(|(weight, record)| (weight * (record.reward - 0.15) / 13.5).powi(2)).sum::<f64>();
    near(report.snips.unwrap().error, (snips / 3.0 / 4.0).sqrt());
}

/// Caller's defaults are part of the reward model and of what the target does.
#[test]
fn defaults_of_a_line_count() {
    let mut log = [uniform(1, 26, 0.5), uniform(2, 26, 0.5)];
    let options = Options { mode: Mode::Frozen, greedy: true, ..Options::default() };
    let cheapest = evaluate(&RUBRIC, Settings::default(), "log", &log, &options).unwrap();
    assert_eq!((cheapest.ips.value, cheapest.warnings()), (0.0, vec![Warning::NoOverlap]));
    assert_eq!(cheapest.snips, None);
    for record in &mut log {
        let mut defaults = vec![0.0; 27];
        defaults[26] = 0.9;
        record.defaults = Some(defaults);
    }
    let preferred = evaluate(&RUBRIC, Settings::default(), "log", &log, &options).unwrap();
    near(preferred.ips.value, 27.0 * 0.5);
    // First line: predicted 0.9 less a cost of 0.5; the second one has learned that it was 0.1 too low.
    near(preferred.doubly_robust.value * 2.0 - (0.4 + 27.0 * 0.1), second(0.4, 0.1));
    log[1].defaults = Some(vec![1e9; 27]);
    let refused = evaluate(&RUBRIC, Settings::default(), "log.jsonl", &log, &options).unwrap_err();
    assert!(refused.to_string().starts_with("log.jsonl:2: "), "{refused}");
}

/// The doubly robust term of a second line like the first: three active features, so the prediction moves by this share.
fn second(predicted: f64, error: f64) -> f64 {
    let variance = 3.0 / 16.0;
    let moved = predicted + error * variance / (variance + 0.25);
    moved + 27.0 * (predicted + error - moved)
}

/// Each user has a learner: two users in one log are two logs.
#[test]
fn users_are_kept_apart() {
    let policy = Policy::new(&TAU2, settings(2.0, 1)).unwrap();
    let logs = [1, 2].map(|seed| simulate(&SimulatedUser::new(&TAU2, seed), &policy, 60, 100).unwrap());
    let options = Options { greedy: true, ..Options::default() };
    let alone = [0, 1].map(|user| evaluate(&TAU2, Settings::default(), "log", &logs[user], &options).unwrap());
    let mut both = Vec::new();
    for (one, other) in logs[0].iter().zip(&logs[1]) {
        both.push(Record { user: "one".into(), ..one.clone() });
        both.push(Record { user: "other".into(), ..other.clone() });
    }
    let report = evaluate(&TAU2, Settings::default(), "log", &both, &options).unwrap();
    assert_eq!((report.users, report.lines), (2, 120));
    near(report.doubly_robust.value, f64::midpoint(alone[0].doubly_robust.value, alone[1].doubly_robust.value));
    near(report.ips.value, f64::midpoint(alone[0].ips.value, alone[1].ips.value));
}

#[test]
fn training_lines_are_learned_from_and_not_judged_by() {
    let policy = Policy::new(&TAU2, settings(2.0, 1)).unwrap();
    let log = simulate(&SimulatedUser::new(&TAU2, 1), &policy, 100, 100).unwrap();
    let options = Options { mode: Mode::Frozen, greedy: true, ..Options::default() };
    let run = |log: &[Record], train| evaluate(&TAU2, Settings::default(), "log", log, &Options { train, ..options });
    let (trained, at_prior) = (run(&log, 60).unwrap(), run(&log[60..], 0).unwrap());
    assert_eq!((trained.lines, at_prior.lines), (40, 40));
    assert_eq!(trained.logged, at_prior.logged);
    assert!(trained.doubly_robust.value > at_prior.doubly_robust.value + 0.3);
    for (train, lines) in [(99, 100), (100, 100), (1_000, 100)] {
        assert_eq!(run(&log, train), Err(EvaluateError::TooShort { lines, train }));
    }
    assert_eq!(run(&[], 0), Err(EvaluateError::TooShort { lines: 0, train: 0 }));
    let wrong = evaluate(&TAU2, Settings { alpha: 2.0, ..Settings::default() }, "log", &log, &options);
    assert!(matches!(wrong, Err(EvaluateError::Settings(_))));
    let foreign = evaluate(&RUBRIC, Settings::default(), "log", &[log[0].clone(), log[1].clone()], &Options::default());
    assert!(foreign.is_ok() || matches!(&foreign, Err(EvaluateError::Log(error)) if matches!(error.fault, LogFault::Learner(_))));
}

/// How targets are judged in a study.
#[derive(Clone, Copy)]
struct Target {
    mode: Mode,
    train: usize,
    greedy: bool,
    /// Draws behind the log's propensities, and whether the log keeps them to itself.
    logged_draws: u32,
    untold: bool,
}

const LEARNING: Target = Target { mode: Mode::Learning, train: 0, greedy: false, logged_draws: 100, untold: false };
const FROZEN: Target = Target { mode: Mode::Frozen, train: 150, ..LEARNING };

/// What the estimates are like over many logs.
struct Study {
    reports: Vec<Report>,
}

const LOGS: u64 = 240;

impl Study {
    /// Logs of 300 rounds, each of another user, that a learner with this `nu` made.
    fn new(logged_nu: f64, target_nu: f64, target: Target) -> Self {
        let one = move |seed: u64| {
            let user = SimulatedUser::new(&TAU2, seed);
            let policy = Policy::new(&TAU2, settings(logged_nu, seed)).unwrap();
            let mut log = simulate(&user, &policy, 300, target.logged_draws).unwrap();
            if target.untold {
                for record in &mut log {
                    record.draws = None;
                }
            }
            let truth = |record: &Record, action| user.expected(&record.context, action);
            let Target { mode, train, greedy, .. } = target;
            let options = Options { mode, train, greedy, draws: 40, logged_draws: None, truth: Some(&truth) };
            evaluate(&TAU2, settings(target_nu, seed), "log", &log, &options).unwrap()
        };
        let halves = [0..LOGS / 2, LOGS / 2..LOGS];
        let reports = std::thread::scope(|scope| {
            let threads = halves.map(|half| scope.spawn(move || half.map(one).collect::<Vec<_>>()));
            threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
        });
        Self { reports }
    }

    fn errors(&self, of: impl Fn(&Report) -> f64) -> Vec<f64> {
        self.reports.iter().map(|report| of(report) - report.truth.unwrap()).collect()
    }

    /// Mean error, its standard error, and the standard deviation of the errors.
    fn bias(&self, of: impl Fn(&Report) -> f64) -> (f64, f64, f64) {
        let errors = self.errors(of);
        let count = errors.len() as f64;
        let mean = errors.iter().sum::<f64>() / count;
        let deviation = (errors.iter().map(|error| (error - mean).powi(2)).sum::<f64>() / (count - 1.0)).sqrt();
        (mean, deviation / count.sqrt(), deviation)
    }

    fn covered(&self, of: impl Fn(&Report) -> Estimate) -> f64 {
        let covers = |report: &&Report| of(report).covers(report.truth.unwrap());
        self.reports.iter().filter(covers).count() as f64 / self.reports.len() as f64
    }

    fn warned(&self, of: impl Fn(&Warning) -> bool) -> f64 {
        self.reports.iter().filter(|report| report.warnings().iter().any(&of)).count() as f64 / self.reports.len() as f64
    }
}

fn ips(report: &Report) -> Estimate {
    report.ips
}

fn snips(report: &Report) -> Estimate {
    report.snips.unwrap()
}

fn doubly_robust(report: &Report) -> Estimate {
    report.doubly_robust
}

impl Study {
    /// Every estimator is unbiased as far as so many logs can tell, its intervals cover, and doubly robust scatters least.
    fn holds(&self, name: &str, estimators: &[(&str, fn(&Report) -> Estimate)]) {
        for (estimator, of) in estimators {
            let (bias, error, deviation) = self.bias(|report| of(report).value);
            let covered = self.covered(of);
            println!(
                "{name:<40} {estimator:<14} bias {bias:+.4} +- {error:.4}, scatter {deviation:.4}, covered {:.1}%",
                100.0 * covered
            );
            assert!(bias.abs() < 3.5 * error, "{name} {estimator}: bias {bias} +- {error}");
            assert!(covered >= 0.90, "{name} {estimator}: {covered}"); // 3.5 standard errors below 95%
        }
        let scatter = |of: fn(&Report) -> Estimate| self.bias(|report| of(report).value).2;
        assert!(scatter(doubly_robust) < 0.6 * scatter(ips));
    }
}

const ALL: [(&str, fn(&Report) -> Estimate); 3] = [("IPS", ips), ("SNIPS", snips), ("doubly robust", doubly_robust)];

#[test]
fn a_target_that_learns_along_is_estimated_without_bias_and_covered() {
    let study = Study::new(1.0, 0.3, LEARNING);
    study.holds("learning, nu 0.3, log with nu 1", &ALL);
    assert!(study.warned(|_| true) < 0.02);
    let study = Study::new(3.0, 0.3, LEARNING);
    study.holds("learning, nu 0.3, log with nu 3", &ALL);
    assert!(study.warned(|warning| !matches!(warning, Warning::Rare { .. })) < 0.05);
}

#[test]
fn a_frozen_target_is_estimated_without_bias_and_covered() {
    let study = Study::new(1.0, 0.3, FROZEN);
    study.holds("frozen after 150 lines, log with nu 1", &ALL);
    assert!(study.warned(|_| true) < 0.02);
}

/// A greedy target puts everything on what the log, early on, did rarely: SNIPS's interval is too short then, and it is said.
#[test]
fn a_greedy_target_is_warned_about() {
    let study = Study::new(3.0, 0.3, Target { greedy: true, ..LEARNING });
    study.holds("learning, greedy, log with nu 3", &[("IPS", ips), ("doubly robust", doubly_robust)]);
    println!("SNIPS covered {:.1}%", 100.0 * study.covered(snips));
    assert!(study.warned(|warning| matches!(warning, Warning::Rare { .. })) > 0.9);
}

/// What the log does not show cannot be estimated, and that is said every time.
#[test]
fn a_target_without_support_is_warned_about() {
    let study = Study::new(1.0, 1.0, Target { mode: Mode::Frozen, train: 0, ..LEARNING });
    assert!(study.covered(ips) < 0.5);
    assert_eq!(study.warned(|warning| matches!(warning, Warning::Unsupported { .. })), 1.0);
    assert!(study.warned(|warning| matches!(warning, Warning::FewLines { .. })) > 0.9);
}

/// Propensities from 20 draws are far from the truth; that there were 20 is enough to be unbiased. Without it the weights
/// are off, and that is said.
#[test]
fn smoothed_propensities_are_undone() {
    let few = Target { logged_draws: 20, ..FROZEN };
    let study = Study::new(1.0, 0.3, few);
    study.holds("frozen, propensities from 20 draws", &[("IPS", ips), ("doubly robust", doubly_robust)]);
    let untold = Study::new(1.0, 0.3, Target { untold: true, ..few });
    let (bias, error, _) = untold.bias(|report| report.ips.value);
    println!("untold: IPS bias {bias:+.3} +- {error:.3}");
    assert!(bias > 20.0 * error);
    assert!(untold.warned(|warning| matches!(warning, Warning::MeanWeight { .. })) > 0.95);
}
