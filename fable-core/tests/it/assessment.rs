//! Assessments as in Appendix G: every number against the dense oracle, the evidence, and the conditions that
//! void the guarantee. `guarantee.rs` measures the guarantee itself.

use crate::common::{self, MIXED, Random, Sums, difference, features};
use fable_core::catalog::rubric::{self, Level, RUBRIC};
use fable_core::catalog::{AGENT, Block, BlockSet, Catalog, Component, Definition, TAU2, Value};
use fable_core::catalog::{ActionSet, Direction};
use fable_core::journal::{Event, Observation};
use fable_core::posterior::Prior;
use fable_core::preference::{Assessment, Comparison, Gap, Verdict};
use fable_core::settings::{Deadline, Expiry};
use fable_core::{
    Action, Context, Feasible, HostUser, Policy, Request, Scalar, Settings, Statement, UserError,
};

fn start<'p, T: Scalar>(policy: &Policy<'p, T>) -> HostUser<'p, T, 16> {
    common::start(policy, 7)
}

fn declared(catalog: &Catalog<'_>, name: &str) -> Comparison {
    Comparison::declared(catalog, catalog.contrast(name).unwrap()).unwrap()
}

/// Every tolerance in one place: (`f64`, `f32`), relative to 1 + |number|.
const NUMBER: (f64, f64) = (1e-10, 2e-4);
/// Rounds to go are a ratio of squares: relative to 1 + rounds.
const ROUNDS: (f64, f64) = (1e-6, 2e-2);

fn pick<T: Scalar>(tolerance: (f64, f64)) -> f64 {
    if T::DIGITS == 53 { tolerance.0 } else { tolerance.1 }
}

/// Phi by Simpson's rule over the density.
fn normal_cdf(x: f64) -> f64 {
    let (end, steps) = (x.clamp(-9.0, 9.0), 4_000);
    let density = |step: i32| {
        let at = end * f64::from(step) / f64::from(steps);
        (-0.5 * at * at).exp() / core::f64::consts::TAU.sqrt()
    };
    let weight = |step: i32| if step == 0 || step == steps { 1.0 } else { f64::from(2 + 2 * (step % 2)) };
    0.5 + (0..=steps).map(|step| weight(step) * density(step)).sum::<f64>() * end / f64::from(3 * steps)
}

/// Another action that differs in one component.
fn neighbour(random: &mut Random, catalog: &Catalog<'_>, action: Action) -> Action {
    let components = catalog.definition().components;
    let mut values = catalog.values(action).unwrap();
    let component = random.below(components.len());
    let step = 1 + random.below(components[component].values.len() - 1);
    values[component] = ((usize::from(values[component]) + step) % components[component].values.len()) as u8;
    catalog.action(&values).unwrap()
}

/// What the oracle knows at the end of a life.
struct Known {
    dense: Sums,
    started: f64,
    counts: Vec<Vec<u32>>,
}

/// Appendix G from the dense matrices.
fn expected(policy: &Policy<'_, f64>, known: &Known, comparison: &Comparison) -> Assessment {
    let (catalog, settings) = (policy.catalog(), policy.settings());
    let Comparison { context, prefer, over, total } = comparison;
    let solved = known.dense.solved();
    let w = difference(&features(catalog, context, *prefer), &features(catalog, context, *over));
    let (mean, variance) = solved.contrast(&w);
    let reference =
        |action| catalog.default_score(context, action) - settings.cost_weight * catalog.cost(action);
    let mean = if *total { mean + reference(*prefer) - reference(*over) } else { mean };
    let sd = variance.sqrt();

    let (proxy, sigma) = (settings.noise_proxy.unwrap_or(settings.noise_variance), settings.noise_variance);
    let ratio = solved.log_det() - known.started;
    let beta = settings.prior_radius.unwrap_or(settings.base_precision.unwrap().sqrt())
        + (proxy / sigma).sqrt() * (ratio + 2.0 * (1.0 / settings.alpha).ln()).sqrt();
    let radius = beta * sd;
    let (plus, minus) = (catalog.values(*prefer).unwrap(), catalog.values(*over).unwrap());
    let component = (0..plus.len()).find(|&component| plus[component] != minus[component]).unwrap();
    let evidence =
        [plus, minus].map(|values| known.counts[component][usize::from(values[component])]).iter().sum();
    let verdict = if evidence < settings.min_evidence || mean.abs() <= radius {
        Verdict::Open
    } else if mean > 0.0 {
        Verdict::For
    } else {
        Verdict::Against
    };

    // The direction with equal coordinates added up; a pair of means is known to 4 sigma^2 / n.
    let mut dense = vec![0.0; catalog.dimension()];
    for (index, value) in w {
        dense[index] += value;
    }
    let norm: f64 = dense.iter().map(|value| value * value).sum();
    let worth = 4.0 * sigma * settings.base_precision.unwrap() / norm;
    let missing = f64::from(settings.min_evidence.saturating_sub(evidence));
    let more = ((worth + f64::from(evidence)) * ((radius / mean).powi(2) - 1.0)).ceil().max(missing);
    let gap =
        Gap { distance: radius - mean.abs(), rounds: (more <= f64::from(u32::MAX)).then_some(more as u32) };
    let (probability, threshold) = (normal_cdf(mean / sd), normal_cdf(beta));
    let (lower, upper) = (mean - radius, mean + radius);
    Assessment {
        mean,
        sd,
        probability,
        beta,
        radius,
        lower,
        upper,
        threshold,
        evidence,
        verdict,
        gap,
        valid: true,
    }
}

fn agree<T: Scalar>(found: &Assessment, expected: &Assessment) {
    let close = |name: &str, a: f64, b: f64| {
        assert!((a - b).abs() <= pick::<T>(NUMBER) * (1.0 + b.abs()), "{name}: {a}, expected {b}");
    };
    close("mean", found.mean, expected.mean);
    close("sd", found.sd, expected.sd);
    close("probability", found.probability, expected.probability);
    close("beta", found.beta, expected.beta);
    close("radius", found.radius, expected.radius);
    close("lower", found.lower, expected.lower);
    close("upper", found.upper, expected.upper);
    close("threshold", found.threshold, expected.threshold);
    close("distance", found.gap.distance, expected.gap.distance);
    assert_eq!(found.evidence, expected.evidence);
    assert_eq!(found.valid, expected.valid);
    let margin = 10.0 * pick::<T>(NUMBER) * (1.0 + expected.radius);
    if expected.gap.distance.abs() > margin {
        assert_eq!(found.verdict, expected.verdict);
    }
    match (found.gap.rounds.map(f64::from), expected.gap.rounds.map(f64::from)) {
        // A mean near zero is rounding: so is what is divided by it.
        _ if expected.mean.abs() < 0.01 => {}
        (Some(a), Some(b)) => assert!((a - b).abs() <= 1.0 + pick::<T>(ROUNDS) * b, "{a}, expected {b}"),
        (a, b) => assert_eq!(a, b),
    }
    // p+ > rho is the lower end above zero, wherever the two probabilities are not rounded to 1.
    if found.threshold < 1.0 - 1e-9 && found.gap.distance.abs() > 1e-6 {
        assert_eq!(found.probability > found.threshold, found.lower > 0.0);
        assert_eq!(1.0 - found.probability > found.threshold, found.upper < 0.0);
    }
}

/// Simulates a user and compares. Returns the count of each verdict, and of comparisons with a threshold
/// below 1.
fn assessments_follow_the_oracle<T: Scalar>(catalog: &Catalog<'static>, seed: u64) -> [u32; 4] {
    let strict = Settings {
        noise_variance: 0.3,
        base_precision: Some(2.0),
        cost_weight: 0.7,
        alpha: 0.1,
        prior_radius: Some(1.5),
        noise_proxy: Some(0.2),
        min_evidence: 25,
        ..Settings::PAPER
    };
    let lenient = Settings { alpha: 0.5, prior_radius: Some(0.0), noise_proxy: Some(0.001), ..strict };
    let plain = Settings { prior_radius: None, noise_proxy: None, alpha: 0.05, min_evidence: 800, ..strict };
    let policy = Policy::<T>::new(catalog, strict).unwrap();
    let mut ana = start::<T>(&policy);
    let mut random = Random(seed);
    let mut dense = Sums::isotropic(catalog.dimension(), 2.0);
    for statement in 0..2 {
        let first = if statement == 0 { 0 } else { catalog.dimension() - catalog.layout().root() };
        let entries = [(first, 1.5), (catalog.dimension() - 1, -0.5)];
        let direction = Direction::new(catalog, entries).unwrap();
        ana.user().onboard(&Statement { direction, response: 0.75, precision: 4.0 }).unwrap();
        dense.observe(&entries, 0.75, 0.25);
    }
    let started = dense.solved().log_det();
    let mut counts: Vec<_> =
        catalog.definition().components.iter().map(|component| vec![0; component.values.len()]).collect();
    for _ in 0..1_500 {
        // Half of the time one of the first actions, so that some contrasts are settled and some hardly seen.
        let action =
            if random.below(2) == 0 { Action(random.below(3) as u16) } else { random.action(catalog) };
        let context = random.context(catalog);
        let values = catalog.values(action).unwrap();
        let taste: f64 = values.iter().map(|&value| if value % 2 == 0 { 0.2 } else { -0.2 }).sum();
        let reward = taste + 0.3 * random.signed();
        ana.user().observe(&context, action, reward).unwrap();
        let reference = catalog.default_score(&context, action) - 0.7 * catalog.cost(action);
        dense.observe(&features(catalog, &context, action), reward - reference, 0.3);
        values.iter().enumerate().for_each(|(component, &value)| counts[component][usize::from(value)] += 1);
    }
    let known = Known { dense, started, counts };

    let mut comparisons: Vec<_> =
        (0..catalog.contrasts().len()).map(|index| Comparison::declared(catalog, index).unwrap()).collect();
    for _ in 0..10 {
        let (context, one) = (random.context(catalog), random.action(catalog));
        let two = neighbour(&mut random, catalog, one);
        comparisons.push(Comparison { context, prefer: one, over: two, total: false });
        comparisons.push(Comparison { context, prefer: two, over: one, total: false });
    }
    let totals: Vec<_> =
        comparisons.iter().map(|comparison| Comparison { total: true, ..*comparison }).collect();
    let (mut ana, mut workspace) = (ana.into_learner(), vec![T::ZERO; catalog.workspace_len()]);
    let mut seen = [0; 4];
    for settings in [strict, lenient, plain] {
        let (policy, oracle) =
            (Policy::<T>::new(catalog, settings).unwrap(), Policy::<f64>::new(catalog, settings).unwrap());
        for comparison in comparisons.iter().chain(&totals) {
            let found = ana.bind(&policy, &mut workspace).unwrap().assess(comparison).unwrap();
            let expected = Assessment { valid: settings == strict, ..expected(&oracle, &known, comparison) };
            agree::<T>(&found, &expected);
            seen[(found.verdict.sign() + 1) as usize] += 1;
            seen[3] += u32::from(found.threshold < 1.0 - 1e-9);
        }
    }
    seen
}

#[test]
fn assessments_are_appendix_g() {
    for (seed, catalog) in [&RUBRIC, &TAU2, &MIXED, &AGENT].into_iter().enumerate() {
        let double = assessments_follow_the_oracle::<f64>(catalog, seed as u64);
        let single = assessments_follow_the_oracle::<f32>(catalog, 100 + seed as u64);
        let name = catalog.definition().name;
        assert!(
            double.iter().chain(&single).all(|&count| count > 0),
            "{name} never meets some verdict: {double:?} {single:?}"
        );
    }
}

#[test]
fn nothing_is_known_at_the_start() {
    for catalog in [&RUBRIC, &TAU2, &MIXED, &AGENT] {
        let policy = Policy::<f32>::new(catalog, Settings::PAPER).unwrap();
        let mut ana = start::<f32>(&policy);
        for index in 0..catalog.contrasts().len() {
            let found = ana.user().assess(&Comparison::declared(catalog, index).unwrap()).unwrap();
            assert_eq!(
                (found.mean, found.probability, found.evidence, found.verdict),
                (0.0, 0.5, 0, Verdict::Open)
            );
            assert_eq!(found.beta, 4.0 + (2.0 * 20.0_f64.ln()).sqrt());
            assert_eq!((found.lower, found.upper), (-found.radius, found.radius));
            assert_eq!(found.gap, Gap { distance: found.radius, rounds: None });
            assert!(found.sd > 0.0 && found.valid);
        }
        assert_eq!(ana.user().promote(0), Ok(0));
        assert_eq!(Comparison::declared(catalog, catalog.contrasts().len()), None);
    }
}

/// A component that no block knows: nothing can ever be learned about it, and nothing is promised.
#[test]
fn a_contrast_without_features_is_never_settled() {
    const DEAF: Catalog<'static> = Catalog::new(Definition {
        name: "deaf",
        components: &[
            Component::new("a", &[Value::new("0", "", 0.0), Value::new("1", "", 0.0)]),
            Component::new("b", &[Value::new("0", "", 0.0), Value::new("1", "", 0.5)]),
        ],
        blocks: &[Block::main(0)],
        ..Definition::EMPTY
    });
    let policy = Policy::<f64>::new(&DEAF, Settings::PAPER).unwrap();
    let mut ana = start::<f64>(&policy);
    let context = Context::new(&DEAF, None, &[]).unwrap();
    for round in 0..100 {
        ana.user().observe(&context, Action(round % 4), 0.5).unwrap();
    }
    let residual = Comparison { context, prefer: Action(0), over: Action(1), total: false };
    let found = ana.user().assess(&residual).unwrap();
    assert_eq!((found.mean, found.sd, found.probability, found.evidence), (0.0, 0.0, 0.5, 100));
    assert_eq!((found.verdict, found.gap.rounds), (Verdict::Open, None));
    // In all, the cost decides, which is known and not learned: certain, and no promotion either.
    for (prefer, over, mean, probability) in [(0, 1, 0.5, 1.0), (1, 0, -0.5, 0.0)] {
        let total = Comparison { prefer: Action(prefer), over: Action(over), total: true, ..residual };
        let found = ana.user().assess(&total).unwrap();
        assert_eq!((found.mean, found.sd, found.probability), (mean, 0.0, probability));
        assert_eq!((found.verdict, found.gap.rounds), (Verdict::Open, None));
    }
}

#[test]
fn evidence_is_counted_by_hand() {
    let imputing = Settings { deadline: Deadline::Rounds(1), expiry: Expiry::Impute(0.5), ..Settings::PAPER };
    let policy = Policy::<f32>::new(&RUBRIC, imputing).unwrap();
    let mut ana = start::<f32>(&policy);
    let context = Context::new(&RUBRIC, None, &[]).unwrap();
    let rigor = declared(&RUBRIC, "rigor_5_over_1");
    let steps = declared(&RUBRIC, "steps_3_over_1");
    let count = |ana: &mut HostUser<'_, f32, 16>| {
        [&rigor, &steps].map(|comparison| ana.user().assess(comparison).unwrap().evidence)
    };

    let direction = Direction::from_names(&RUBRIC, &[("rigor=level_5", 1.0)]).unwrap();
    ana.user().onboard(&Statement { direction, response: 1.0, precision: 4.0 }).unwrap();
    assert_eq!(count(&mut ana), [0, 0]); // a statement is no evidence
    let observe = |ana: &mut HostUser<'_, f32, 16>, levels| {
        ana.user().observe(&context, rubric::action(levels), 0.25).unwrap();
    };
    observe(&mut ana, [Level::Five, Level::One, Level::One]);
    assert_eq!(count(&mut ana), [1, 1]);
    observe(&mut ana, [Level::Three, Level::Three, Level::Five]);
    assert_eq!(count(&mut ana), [1, 2]);
    observe(&mut ana, [Level::One, Level::Five, Level::Five]);
    assert_eq!(count(&mut ana), [2, 2]);

    // A decision counts when its reward comes, not before, and not when silence is imputed.
    let only = |levels| {
        let mut set = ActionSet::EMPTY;
        set.insert(rubric::action(levels));
        Feasible::from_set(&RUBRIC, set).unwrap()
    };
    let chosen = only([Level::Five, Level::Three, Level::Three]);
    let decision = ana.user().decide(&Request::new(&context, &chosen)).unwrap();
    assert_eq!(count(&mut ana), [2, 2]);
    ana.user().feedback(decision.id, 0.5).unwrap();
    assert_eq!(count(&mut ana), [3, 3]);
    let observations = ana.state().observations();
    for _ in 0..4 {
        ana.user().decide(&Request::new(&context, &chosen)).unwrap();
    }
    assert_eq!(ana.state().observations(), observations + 1); // the first of them was imputed
    assert_eq!(count(&mut ana), [3, 3]);

    let action = rubric::action([Level::Five, Level::One, Level::One]);
    let baseline = f64::from(policy.baseline(&context, action, None));
    ana.user().unlearn(Observation { context, action, baseline, reward: 0.25, weight: 1.0 }).unwrap();
    assert_eq!(count(&mut ana), [2, 2]);
    ana.user().forget().unwrap();
    assert_eq!(count(&mut ana), [0, 0]);
}

#[test]
fn a_comparison_is_two_actions_that_differ_in_one_component() {
    let policy = Policy::<f64>::new(&MIXED, Settings::PAPER).unwrap();
    let mut ana = start::<f64>(&policy);
    let context = Context::new(&MIXED, Some(1), &[0.5, 0.5]).unwrap();
    let action = |values: [u8; 3]| MIXED.action(&values).unwrap();
    let base = Comparison { context, prefer: action([0, 0, 0]), over: action([0, 0, 3]), total: false };
    let mut refuse = |comparison: Comparison, error| {
        assert_eq!(ana.user().assess(&comparison), Err(error), "{comparison:?}");
    };
    refuse(Comparison { over: base.prefer, ..base }, UserError::Comparison);
    refuse(Comparison { over: action([0, 1, 3]), ..base }, UserError::Comparison);
    refuse(Comparison { over: action([1, 1, 3]), ..base }, UserError::Comparison);
    refuse(Comparison { over: Action(24), ..base }, UserError::UnknownAction);
    refuse(Comparison { prefer: Action(u16::MAX), ..base }, UserError::UnknownAction);
    refuse(
        Comparison { context: Context::new(&TAU2, None, &[]).unwrap(), ..base },
        UserError::ForeignContext,
    );
    assert!(ana.user().assess(&base).is_ok());
    let noisier = Policy::<f64>::new(&MIXED, Settings { noise_variance: 1.0, ..Settings::PAPER }).unwrap();
    let foreign = UserError::ForeignPolicy;
    let mut workspace = vec![0.0; MIXED.workspace_len()];
    assert_eq!(ana.into_learner().bind(&noisier, &mut workspace).map(|_| ()), Err(foreign));
}

#[test]
fn what_the_guarantee_does_not_cover_makes_it_invalid() {
    let settings = Settings { expiry: Expiry::Impute(0.0), deadline: Deadline::Rounds(0), ..Settings::PAPER };
    let policy = Policy::<f64>::new(&TAU2, settings).unwrap();
    let mut ana = start::<f64>(&policy);
    let (context, all) = (Context::new(&TAU2, None, &[]).unwrap(), Feasible::all(&TAU2));
    let comparison = declared(&TAU2, "verify_over_standard");
    let valid = |ana: &HostUser<'_, f64, 16>, settings: Settings<'static>| {
        let policy = Policy::new(&TAU2, settings).unwrap();
        HostUser::from_learner(&policy, ana.learner().clone())
            .unwrap()
            .user()
            .assess(&comparison)
            .unwrap()
            .valid
    };

    // Ordinary life: a statement, a decision with its reward, an observation.
    let direction = Direction::new(&TAU2, [(0, 1.0)]).unwrap();
    ana.user().onboard(&Statement { direction, response: 0.5, precision: 2.0 }).unwrap();
    let decision = ana.user().decide(&Request::new(&context, &all)).unwrap();
    ana.user().feedback(decision.id, 0.5).unwrap();
    ana.user().observe(&context, Action(3), 0.5).unwrap();
    assert!(valid(&ana, settings));

    // Another promise, and back. What does not belong to the promise may change.
    assert!(!valid(&ana, Settings { alpha: 0.01, ..settings }));
    assert!(!valid(&ana, Settings { alpha: 0.1, ..settings }));
    assert!(!valid(&ana, Settings { prior_radius: Some(2.0), ..settings }));
    assert!(!valid(&ana, Settings { noise_proxy: Some(1.0), ..settings }));
    assert!(!valid(&ana, Settings { min_evidence: 11, ..settings }));
    assert!(valid(&ana, Settings { prior_radius: Some(4.0), noise_proxy: Some(0.25), ..settings })); // the defaults, written out
    assert!(valid(
        &ana,
        Settings { exploration: fable_core::Exploration::Constant(5.0), seed: 9, ..settings }
    ));
    assert!(valid(&ana, settings));
    // The default radius is about the isotropic prior alone.
    let prior = Prior::Diagonal { mean: &[0.1; 29], precision: &[16.0; 29] };
    for (prior_radius, covered) in [(None, false), (Some(4.0), true)] {
        let policy = Policy::<f64>::with_prior(&TAU2, Settings { prior_radius, ..settings }, prior).unwrap();
        assert_eq!(start::<f64>(&policy).user().assess(&comparison).unwrap().valid, covered);
    }
    // What is left out of the dictionary is bias that no interval covers.
    let masked = Policy::<f64>::new(&TAU2, Settings { retained: BlockSet::first(3), ..settings }).unwrap();
    let mut half = start::<f64>(&masked);
    assert!(!half.user().assess(&Comparison::declared(&TAU2, 0).unwrap()).unwrap().valid);

    // Each of these voids it, for good, until the user is forgotten.
    let baseline = policy.baseline(&context, Action(3), None);
    let observation = Observation { context, action: Action(3), baseline, reward: 0.5, weight: 1.0 };
    let void: [fn(Observation) -> Event; 5] = [
        |observation| Event::Unlearn {
            observation,
            imputed: false,
            kept: 1.0,
            probed: fable_core::catalog::ContrastSet::EMPTY,
        },
        |observation| Event::Observation(Observation { weight: 0.5, ..observation }),
        |observation| Event::Observation(Observation { weight: 2.0, ..observation }),
        |_| Event::Feedback { round: 2, reward: 0.5, weight: 0.5 },
        |_| Event::Expiry { round: 2, imputed: Some(0.0) },
    ];
    ana.user().decide(&Request::new(&context, &all)).unwrap();
    assert!(valid(&ana, settings));
    for make in void {
        let mut other = ana.clone();
        let event = make(observation);
        other.user().check(&event).unwrap().apply();
        assert!(!valid(&other, settings), "{event:?}");
        other.user().observe(&context, Action(3), 0.5).unwrap();
        assert!(!valid(&other, settings), "{event:?}");
        other.user().forget().unwrap();
        assert!(valid(&other, settings), "{event:?}");
    }
    // Nothing imputed, nothing voided.
    ana.user().check(&Event::Expiry { round: 2, imputed: None }).unwrap().apply();
    assert!(valid(&ana, settings));
}
