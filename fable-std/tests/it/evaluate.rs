//! Off-policy estimates against what is known: by hand, and over hundreds of simulated logs whose truth is known.

use fable_core::catalog::{AGENT, RUBRIC, TAU2};
use fable_core::{Action, Context, Exploration, Feasible, HostUser, Policy, Settings};
use fable_std::evaluate::{
    Estimate, EvaluateError, LogError, LogFlaw, Mode, Options, Record, Report, Warning, evaluate, simulate,
};
use fable_std::simulate::SimulatedUser;
use std::sync::LazyLock;

/// Those of the paper, which choose by chance.
fn settings(nu: f64, seed: u64) -> Settings<'static> {
    Settings { exploration: Exploration::Constant(nu), seed, ..Settings::PAPER }
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
    assert_eq!(
        (report.lines, report.users, report.rare, report.unsupported, report.truth),
        (4, 1, 1.0, 0.0, None)
    );

    // The reward model of a line has learned from the lines before it; `predict` is another way to its numbers.
    let policy = Policy::new(&RUBRIC, Settings::default()).unwrap();
    let mut host = HostUser::<f64>::new(&policy, "").unwrap();
    let mut learner = host.user();
    let mut terms = Vec::new();
    for (record, weight) in log.iter().zip(weights) {
        let mut predict = |action| learner.predict(&record.context, action, None).unwrap().mean;
        terms.push(predict(Action(0)) + weight * (record.reward - predict(record.action)));
        learner.observe(&record.context, record.action, record.reward).unwrap();
    }
    let mean = terms.iter().sum::<f64>() / 4.0;
    let error = (terms.iter().map(|term| (term - mean).powi(2)).sum::<f64>() / 3.0 / 4.0).sqrt();
    near(report.doubly_robust.value, mean);
    near(report.doubly_robust.error, error);
    near(report.doubly_robust.upper - report.doubly_robust.value, 1.959_963_985 * error);
    near(report.gain.value, mean - 0.175);
    // The jackknife, done by leaving out a line: -0.2 without the first one, 0.5 without the third, 0.15 otherwise.
    let left_out: f64 = [-0.2, 0.15, 0.5, 0.15].map(|value: f64| (value - 0.15).powi(2)).iter().sum();
    near(report.snips.unwrap().error, (left_out * 3.0 / 4.0).sqrt());
    assert_eq!(
        report.warnings(),
        [
            Warning::FewLines { effective: 2.0, lines: 4 },
            Warning::Dominated { share: 0.5 },
            Warning::Rare { share: 1.0 }
        ]
    );

    // One line with all the weight says nothing about its own error.
    let alone = evaluate(&RUBRIC, Settings::default(), "log", &log[..2], &options).unwrap().snips.unwrap();
    assert_eq!((alone.value, alone.error, alone.lower, alone.upper), (0.5, f64::INFINITY, -1.0, 1.0));
}

/// In a log that has every action as often as its propensity says, IPS is the truth, for a target that does something else in each
/// context too: the mean over the actions of p w r is the sum of pi r.
#[test]
fn ips_is_exact_on_a_log_of_every_action() {
    let often = |action: usize| 1 + action % 3; // how often an action is logged: twice on average
    let reward = |task: usize, action: Action| (task as f64 - action.index() as f64 / 90.0).sin();
    let propensities: Vec<f64> = (0..AGENT.actions()).map(|action| often(action) as f64 / 360.0).collect();
    let (mut log, mut line) = (Vec::new(), 0);
    for task in 0..4 {
        let context = Context::new(&AGENT, Some(task), &[0.1, 0.7, 0.3, 0.9]).unwrap();
        for (index, action) in (0..AGENT.actions()).zip((0..).map(Action)) {
            for _ in 0..often(index) {
                line += 1;
                let (user, propensities, feasible) =
                    (String::new(), propensities.clone(), Feasible::all(&AGENT));
                let reward = reward(task, action);
                log.push(Record {
                    line,
                    user,
                    context,
                    feasible,
                    defaults: None,
                    action,
                    reward,
                    propensities,
                    draws: None,
                });
            }
        }
    }
    let truth = |record: &Record, action| reward(record.context.task().unwrap(), action);
    let options = Options { mode: Mode::Frozen, greedy: true, truth: Some(&truth), ..Options::default() };
    let report = evaluate(&AGENT, Settings::default(), "log", &log, &options).unwrap();
    // What the target does is the best default score less cost, found here by trying all.
    let best = |task: usize| {
        let context = Context::new(&AGENT, Some(task), &[0.1, 0.7, 0.3, 0.9]).unwrap();
        let score = |action: &Action| AGENT.default_score(&context, *action) - AGENT.cost(*action);
        let actions = AGENT.all_actions();
        reward(task, actions.iter().max_by(|one, other| score(one).total_cmp(&score(other))).unwrap())
    };
    let value = (0..4).map(best).sum::<f64>() / 4.0;
    near(report.truth.unwrap(), value);
    near(report.ips.value, value);
    near(report.snips.unwrap().value, value);
    near(report.mean_weight.value, 1.0);
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

/// The doubly robust term of a second line like the first: however many features are active, a score has a variance of 1/4 at the
/// prior, so the prediction moves by this share.
fn second(predicted: f64, error: f64) -> f64 {
    let variance = 1.0 / Settings::DEFAULT.precision_per_feature;
    let moved = predicted + error * variance / (variance + 0.25);
    moved + 27.0 * (predicted + error - moved)
}

/// Each user has a learner: two users in one log are two logs.
#[test]
fn users_are_kept_apart() {
    let policy = Policy::new(&TAU2, settings(2.0, 1)).unwrap();
    let logs = [1, 2].map(|seed| simulate(&SimulatedUser::new(&TAU2, seed), &policy, 60, 100).unwrap());
    let options = Options { greedy: true, ..Options::default() };
    let alone =
        [0, 1].map(|user| evaluate(&TAU2, Settings::default(), "log", &logs[user], &options).unwrap());
    let mut both = Vec::new();
    for (one, other) in logs[0].iter().zip(&logs[1]) {
        both.push(Record { user: "one".into(), ..one.clone() });
        both.push(Record { user: "other".into(), ..other.clone() });
    }
    let report = evaluate(&TAU2, Settings::default(), "log", &both, &options).unwrap();
    assert_eq!((report.users, report.lines), (2, 120));
    near(
        report.doubly_robust.value,
        f64::midpoint(alone[0].doubly_robust.value, alone[1].doubly_robust.value),
    );
    near(report.ips.value, f64::midpoint(alone[0].ips.value, alone[1].ips.value));
}

#[test]
fn training_lines_are_learned_from_and_not_judged_by() {
    let policy = Policy::new(&TAU2, settings(2.0, 1)).unwrap();
    let log = simulate(&SimulatedUser::new(&TAU2, 1), &policy, 100, 100).unwrap();
    let options = Options { mode: Mode::Frozen, greedy: true, ..Options::default() };
    let run = |log: &[Record], train| {
        evaluate(&TAU2, Settings::default(), "log", log, &Options { train, ..options })
    };
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
    let foreign =
        evaluate(&RUBRIC, Settings::default(), "log", &[log[0].clone(), log[1].clone()], &Options::default());
    let count = LogFlaw::Count { key: "propensities", expected: 27, found: 18 };
    assert_eq!(foreign, Err(EvaluateError::Log(LogError { file: "log".into(), line: 1, flaw: count })));
    // Lines that a program made are checked as those of a file are.
    let mut impossible = log.clone();
    impossible[1].propensities = vec![0.0; 18];
    assert!(matches!(
        run(&impossible, 0),
        Err(EvaluateError::Log(LogError { line: 2, flaw: LogFlaw::Sum(_), .. }))
    ));
}

/// A simulated user and what was done for it.
struct Life {
    user: SimulatedUser<'static>,
    seed: u64,
    log: Vec<Record>,
}

const LOGS: u64 = 200;

/// Logs of 300 rounds, each of another user, made by a learner with this `nu`; propensities from so many draws.
fn lives(nu: f64, draws: u32) -> Vec<Life> {
    on_two_threads(&(0..LOGS).collect::<Vec<_>>(), |&seed| {
        let user = SimulatedUser::new(&TAU2, seed);
        let policy = Policy::new(&TAU2, settings(nu, seed)).unwrap();
        let log = simulate(&user, &policy, 300, draws).unwrap();
        Life { user, seed, log }
    })
}

fn on_two_threads<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let work = &work;
    std::thread::scope(|scope| {
        let threads = items
            .chunks(items.len().div_ceil(2))
            .map(|half| scope.spawn(move || half.iter().map(work).collect::<Vec<_>>()));
        threads.collect::<Vec<_>>().into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    })
}

static NU_1: LazyLock<Vec<Life>> = LazyLock::new(|| lives(1.0, 100));
static NU_3: LazyLock<Vec<Life>> = LazyLock::new(|| lives(3.0, 100));

/// What the estimates of a target are like over many logs.
struct Study {
    reports: Vec<Report>,
}

/// How a target is judged: 20 draws for its probabilities, which adds to the scatter but not to the bias.
const LEARNING: Options<'static> = Options {
    prior: None,
    mode: Mode::Learning,
    train: 0,
    greedy: false,
    draws: 20,
    logged_draws: None,
    truth: None,
};
const FROZEN: Options<'static> = Options { mode: Mode::Frozen, train: 150, ..LEARNING };

/// Its name, the estimate, and how many of the intervals cover at least.
type Estimator = (&'static str, fn(&Report) -> Estimate, f64);
// 95% less three standard errors of the share of 200 logs. SNIPS's errors are skewed: where the few bad lines are missing from the
// log, the estimate is too high and its interval too short. Over 1,000 logs it covers in 90%, as the documentation says.
const IPS: Estimator = ("IPS", |report| report.ips, 0.90);
const SNIPS: Estimator = ("SNIPS", |report| report.snips.unwrap(), 0.84);
const DOUBLY_ROBUST: Estimator = ("doubly robust", |report| report.doubly_robust, 0.90);

impl Study {
    /// The target has the paper's settings, with `nu` 0.3.
    fn new(lives: &[Life], options: Options<'static>) -> Self {
        Self::of(Settings::PAPER, lives, options)
    }

    fn of(target: Settings<'static>, lives: &[Life], options: Options<'static>) -> Self {
        let reports = on_two_threads(lives, |Life { user, seed, log }| {
            let truth = |record: &Record, action| user.expected(&record.context, action);
            let options = Options { truth: Some(&truth), ..options };
            evaluate(&TAU2, Settings { seed: *seed, ..target }, "log", log, &options).unwrap()
        });
        Self { reports }
    }

    fn mean(&self, of: impl Fn(&Report) -> f64) -> f64 {
        self.reports.iter().map(of).sum::<f64>() / self.reports.len() as f64
    }

    /// The share of the logs that something is true of.
    fn share(&self, of: impl Fn(&Report) -> bool) -> f64 {
        self.mean(|report| f64::from(u8::from(of(report))))
    }

    fn warned(&self, of: impl Fn(&Warning) -> bool) -> f64 {
        self.share(|report| report.warnings().iter().any(&of))
    }

    fn covered(&self, (_, estimate, _): Estimator) -> f64 {
        self.share(|report| estimate(report).covers(report.truth.unwrap()))
    }

    /// The mean error of an estimator, its standard error, and the standard deviation of the errors.
    fn bias(&self, (_, estimate, _): Estimator) -> (f64, f64, f64) {
        let error = |report: &Report| estimate(report).value - report.truth.unwrap();
        let mean = self.mean(error);
        let deviation = self.mean(|report| (error(report) - mean).powi(2)).sqrt();
        (mean, deviation / (self.reports.len() as f64).sqrt(), deviation)
    }

    /// The estimators are unbiased as far as so many logs can tell, their standard errors are the scatter, and the intervals cover.
    fn holds(&self, name: &str, estimators: &[Estimator]) {
        for &estimator in estimators {
            let (bias, error, scatter) = self.bias(estimator);
            let (told, covered) = (self.mean(|report| estimator.1(report).error), self.covered(estimator));
            self.is_in_the_readme(name, estimator);
            assert!(bias.abs() < 3.5 * error, "{name}, {}: bias {bias} +- {error}", estimator.0);
            assert!(
                (0.8..1.25).contains(&(told / scatter)),
                "{name}, {}: error {told}, scatter {scatter}",
                estimator.0
            );
            assert!(covered >= estimator.2, "{name}, {}: {covered}", estimator.0);
        }
        assert!(self.bias(DOUBLY_ROBUST).2 < 0.6 * self.bias(IPS).2);
    }

    /// The table in tests/README.md has a row for each target and estimator: what is printed here.
    fn is_in_the_readme(&self, name: &str, estimator: Estimator) {
        let (bias, error, scatter) = self.bias(estimator);
        let covered = 100.0 * self.covered(estimator);
        let row = format!(
            "| {name} | {} | {bias:+.4} \u{b1} {error:.4} | {scatter:.3} | {covered:.1}% |",
            estimator.0
        );
        println!("{row}");
        assert!(
            include_str!("../../../tests/README.md").contains(&row),
            "the table in tests/README.md lacks\n{row}"
        );
    }
}

const ALL: [Estimator; 3] = [IPS, SNIPS, DOUBLY_ROBUST];

#[test]
fn a_target_that_learns_along_is_estimated_without_bias_and_covered() {
    let study = Study::new(&NU_1, LEARNING);
    study.holds("learning along, log with nu = 1", &ALL);
    assert!(study.warned(|_| true) < 0.02);
    let study = Study::new(&NU_3, LEARNING);
    study.holds("learning along, log with nu = 3", &ALL);
    // Bold logs have thin support for a careful target, and that may be said. What is not so may not.
    let wrong = |warning: &Warning| {
        !matches!(warning, Warning::Rare { .. } | Warning::FewLines { .. } | Warning::Dominated { .. })
    };
    assert!(study.warned(wrong) < 0.02);
}

#[test]
fn a_frozen_target_is_estimated_without_bias_and_covered() {
    let study = Study::new(&NU_1, FROZEN);
    study.holds("frozen after 150 lines, log with nu = 1", &ALL);
    assert!(study.warned(|_| true) < 0.02);
}

/// The defaults have no chance in them and try what the log did rarely, as a greedy target does; that is said.
#[test]
fn the_defaults_are_estimated_without_bias_and_warned_about() {
    let study = Study::of(Settings::DEFAULT, &NU_3, LEARNING);
    let name = "learning along, the defaults, log with nu = 3: warned";
    study.holds(name, &[IPS, DOUBLY_ROBUST]);
    study.is_in_the_readme(name, SNIPS);
    assert!(study.warned(|warning| matches!(warning, Warning::Rare { .. })) > 0.9);
    assert!(
        study.warned(|warning| matches!(warning, Warning::Unsupported { .. } | Warning::MeanWeight { .. }))
            < 0.02
    );
}

/// A log without chance answers for whoever does the same, exactly, and for nobody else, which is said.
#[test]
fn a_log_without_chance_knows_itself_alone() {
    let policy = Policy::new(&TAU2, Settings::DEFAULT).unwrap();
    let log = simulate(&SimulatedUser::new(&TAU2, 1), &policy, 200, 100).unwrap();
    let itself = evaluate(&TAU2, Settings::DEFAULT, "log", &log, &Options::default()).unwrap();
    let warned = vec![Warning::NoChance { share: 1.0 }];
    assert_eq!(
        (itself.effective_lines, itself.unsupported, itself.rare, itself.warnings()),
        (200.0, 0.0, 0.0, warned)
    );
    for estimate in [itself.ips, itself.snips.unwrap(), itself.doubly_robust] {
        near(estimate.value, itself.logged.value);
    }
    let other = evaluate(&TAU2, settings(0.3, 1), "log", &log, &Options::default()).unwrap();
    assert!(other.warnings().iter().any(|warning| matches!(warning, Warning::Unsupported { .. })));
}

/// A greedy target puts everything on what the log, early on, did rarely: SNIPS's interval is too short then, and it is said.
#[test]
fn a_greedy_target_is_warned_about() {
    let study = Study::new(&NU_3, Options { greedy: true, ..LEARNING });
    let name = "learning along, greedy, log with nu = 3: warned";
    study.holds(name, &[IPS, DOUBLY_ROBUST]);
    study.is_in_the_readme(name, SNIPS);
    assert!(study.warned(|warning| matches!(warning, Warning::Rare { .. })) > 0.9);
}

/// What the log does not show cannot be estimated, and that is said every time.
#[test]
fn a_target_without_support_is_warned_about() {
    let study = Study::new(&NU_1, Options { train: 0, ..FROZEN });
    assert!(study.covered(IPS) < 0.5);
    assert_eq!(study.warned(|warning| matches!(warning, Warning::Unsupported { .. })), 1.0);
    assert!(study.warned(|warning| matches!(warning, Warning::FewLines { .. })) > 0.9);
}

/// Propensities from 20 draws are far from the truth; that there were 20 is enough to be unbiased. Without it the weights
/// are off, and that is said.
#[test]
fn smoothed_propensities_are_undone() {
    let mut lives = lives(1.0, 20);
    Study::new(&lives, FROZEN).holds("the same, propensities from 20 draws", &[IPS, DOUBLY_ROBUST]);
    for record in lives.iter_mut().flat_map(|life| &mut life.log) {
        record.draws = None;
    }
    let untold = Study::new(&lives, FROZEN);
    let (bias, error, _) = untold.bias(IPS);
    assert!(bias > 20.0 * error, "{bias} +- {error}");
    assert!(untold.warned(|warning| matches!(warning, Warning::MeanWeight { .. })) > 0.95);
}
