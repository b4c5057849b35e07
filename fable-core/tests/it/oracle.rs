//! Every formula against the dense posterior in `f64`: Equations 1 to 6, priors, contrasts, log-determinants.

use crate::common::{
    MIXED, Random, convert, difference, features, features_by_name, isotropic, start, vector,
};
use fable_core::catalog::{AGENT, Catalog, Part, RUBRIC, TAU2};
use fable_core::catalog::{ActionSet, Direction};
use fable_core::journal::{Command, Event};
use fable_core::posterior::dense::Dense;
use fable_core::posterior::{Factor, Key, Posterior, Prior, Purpose};
use fable_core::{
    Action, Context, Exploration, Feasible, Learner, Policy, Request, Rule, Scalar, Settings, Statement,
    Workspace,
};
use nalgebra::{DMatrix, DVector, SMatrix, SVector};

/// Every tolerance in one place: (what, `f64`, `f32`).
const MEAN: (f64, f64) = (1e-11, 2e-5);
const VARIANCE: (f64, f64) = (1e-12, 2e-6);
const LOG_DET: (f64, f64) = (1e-10, 2e-4);

fn pick<T: Scalar>(tolerance: (f64, f64)) -> f64 {
    if T::DIGITS == 53 { tolerance.0 } else { tolerance.1 }
}

const CATALOGS: [&Catalog<'static>; 4] = [&MIXED, &AGENT, &TAU2, &RUBRIC];

/// Runs a test of `agent`: its dense posterior takes half a megabyte, and updates copy it on the stack.
fn with_large_stack(test: fn()) {
    let thread = std::thread::Builder::new().stack_size(32 << 20).spawn(test).unwrap();
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
}

#[test]
fn features_are_what_the_coordinate_names_say() {
    let mut random = Random(1);
    for catalog in CATALOGS {
        for _ in 0..40 {
            let (context, action) = (random.context(catalog), random.action(catalog));
            let mut found = features(catalog, &context, action);
            found.sort_by_key(|&(index, _)| index);
            assert_eq!(found, features_by_name(catalog, &context, action));
        }
    }
}

fn learner_follows_the_oracle<T: Scalar, const D: usize>(catalog: &Catalog<'static>, seed: u64) {
    let mut random = Random(seed);
    let settings =
        Settings { noise_variance: 0.3, base_precision: Some(2.0), cost_weight: 0.7, ..Settings::PAPER };
    let policy = Policy::<T>::new(catalog, settings).unwrap();
    let mut ana = start::<T, 4>(&policy, 1);
    let mut user = ana.user();
    let mut dense = isotropic::<D>(2.0);

    // Equations 2-3: two statements, one of them inside a task if there are tasks.
    for round in 0..2 {
        let start = if round == 0 { 0 } else { catalog.dimension() - catalog.layout().root() };
        let entries = [(start, 1.5), (catalog.dimension() - 1, -0.5)];
        let direction = Direction::new(catalog, entries).unwrap();
        user.onboard(&Statement { direction, response: 0.75, precision: 4.0 }).unwrap();
        dense.observe(&vector(&entries), 0.75, 4.0).unwrap();
    }
    assert_eq!(user.posterior().log_det_ratio(), 0.0);
    let started = dense.factor().ln_determinant();

    // Equations 5-6 with weights.
    for round in 0..300 {
        let (context, action) = (random.context(catalog), random.action(catalog));
        let (reward, weight) =
            (random.signed(), if round % 3 == 0 { 0.25 + random.unit() as f32 } else { 1.0 });
        let phi = vector::<D>(&features(catalog, &context, action));
        let (mean, variance) = (phi.dot(&dense.mean()), dense.variance(&phi));
        let noise = 0.3 / f64::from(weight);
        let mut command = Command::observe(&context, action, reward).weighted(weight);
        let step = user.next(&mut command).unwrap().unwrap();
        let Event::Observation(observation) = step.event() else { panic!("{:?}", step.event()) };
        let residual = reward - observation.baseline;
        let update = step.apply().unwrap();
        assert!((update.innovation.to_f64() - (residual - mean)).abs() < pick::<T>(MEAN));
        assert!(
            (update.variance.to_f64() - (noise + variance)).abs()
                < pick::<T>(VARIANCE) * (1.0 + noise + variance)
        );
        dense.observe(&phi, residual, 1.0 / noise).unwrap();
    }

    let (posterior, scratch) = user.posterior_and_scratch();
    let ratio = dense.factor().ln_determinant() - started;
    assert!((posterior.log_det_ratio() - ratio).abs() < pick::<T>(LOG_DET) * (1.0 + ratio));

    let (mut mean, expected) = (vec![T::ZERO; catalog.dimension()], dense.mean());
    posterior.mean(scratch, &mut mean).unwrap();
    for (index, mean) in mean.iter().enumerate() {
        assert!((mean.to_f64() - expected[index]).abs() < 10.0 * pick::<T>(MEAN), "{index}");
    }
    let covariance = dense.factor().inverse();
    for index in 0..catalog.dimension() {
        let variance = posterior.marginal_variance(scratch, index).unwrap().to_f64();
        assert!((variance - covariance[(index, index)]).abs() < pick::<T>(VARIANCE), "{index}");
    }
    for _ in 0..50 {
        let context = random.context(catalog);
        let (plus, minus) = (random.action(catalog), random.action(catalog));
        let w = difference(&features(catalog, &context, plus), &features(catalog, &context, minus));
        let found = posterior.contrast(scratch, convert::<T>(&w)).unwrap();
        let w = vector::<D>(&w);
        let (mean, variance) = (w.dot(&expected), dense.variance(&w));
        assert!((found.mean.to_f64() - mean).abs() < pick::<T>(MEAN));
        assert!((found.variance.to_f64() - variance).abs() < pick::<T>(VARIANCE));
    }
}

#[test]
fn learning_is_equations_2_to_6() {
    fn follows<const D: usize>(catalog: &Catalog<'static>, seed: u64) {
        learner_follows_the_oracle::<f64, D>(catalog, seed);
        learner_follows_the_oracle::<f32, D>(catalog, 100 + seed);
    }
    follows::<{ MIXED.dimension() }>(&MIXED, 0);
    with_large_stack(|| follows::<{ AGENT.dimension() }>(&AGENT, 1));
    follows::<{ TAU2.dimension() }>(&TAU2, 2);
    follows::<{ RUBRIC.dimension() }>(&RUBRIC, 3);
}

/// Equation 4 with its draw: the dense posterior scores the actions with the standard normals of the learner.
fn choices_are_those_of_the_dense_draw<T: Scalar, const D: usize>(catalog: &Catalog<'static>, seed: u64) {
    let (mut random, nu) = (Random(seed), 0.8);
    let exploration = Exploration::Constant(nu);
    let policy = Policy::<T>::new(
        catalog,
        Settings { exploration, base_precision: Some(2.0), seed, ..Settings::PAPER },
    )
    .unwrap();
    let mut ana = start::<T, 4>(&policy, 1);
    let (mut user, mut dense) = (ana.user(), isotropic::<D>(2.0));
    for _ in 0..60 {
        let context = random.context(catalog);
        let mut set = ActionSet::EMPTY;
        (0..8).for_each(|_| set.insert(random.action(catalog)));
        let feasible = Feasible::from_set(catalog, set).unwrap();
        let mut command = Command::decide(Request::new(&context, &feasible)).scored();
        user.run(&mut command).unwrap();
        let (decision, scores) = (command.decision(&user).unwrap(), command.scores().unwrap());

        // The learner draws for the coordinates of the context's task, then for those of all tasks.
        let (round, purpose) = (decision.id.round, Purpose::Decision);
        let mut stream = Key { seed, user: 1, incarnation: 0, site: 0, round, purpose }.stream();
        let (layout, mut normals) = (catalog.layout(), SVector::zeros());
        let own = context
            .task()
            .into_iter()
            .flat_map(|task| (0..).map_while(move |inside| layout.leaf_coordinate(task, inside)));
        for coordinate in own.chain(D - layout.root()..D) {
            normals[coordinate] = f64::from(stream.normal());
        }
        let score = |action, theta: &SVector<f64, D>| {
            policy.baseline(&context, action, None).to_f64()
                + theta.dot(&vector::<D>(&features(catalog, &context, action)))
        };
        let (draw, mean) = (dense.draw(nu, &normals), dense.mean());
        let best = set.iter().map(|action| score(action, &draw)).fold(f64::NEG_INFINITY, f64::max);
        assert!((scores.sampled_score - score(decision.action, &draw)).abs() < pick::<T>(MEAN));
        assert!((scores.sampled_score - best).abs() < pick::<T>(MEAN));
        assert!((scores.score - score(decision.action, &mean)).abs() < pick::<T>(MEAN));

        let reward = random.signed();
        user.feedback(decision.id, reward).unwrap();
        let phi = vector(&features(catalog, &context, decision.action));
        dense.observe(&phi, reward - decision.baseline, 1.0 / policy.settings().noise_variance).unwrap();
    }
}

#[test]
fn deciding_is_equation_4() {
    fn follows<const D: usize>(catalog: &Catalog<'static>, seed: u64) {
        choices_are_those_of_the_dense_draw::<f64, D>(catalog, seed);
        choices_are_those_of_the_dense_draw::<f32, D>(catalog, seed);
    }
    follows::<{ MIXED.dimension() }>(&MIXED, 50);
    with_large_stack(|| follows::<{ AGENT.dimension() }>(&AGENT, 51));
    follows::<{ TAU2.dimension() }>(&TAU2, 52);
    follows::<{ RUBRIC.dimension() }>(&RUBRIC, 53);
}

#[test]
fn the_whole_covariance_as_a_nalgebra_matrix() {
    fn is_that_of_the_oracle<const D: usize>(catalog: &Catalog<'static>, random: &mut Random) {
        let d = D;
        let mut posterior = Posterior::<f64, _>::from_storage(vec![0.0; catalog.state_len()]);
        let mut workspace = Workspace::from_storage(vec![0.0; catalog.workspace_len()]);
        posterior.start(catalog.layout(), &Prior::Isotropic, 3.0).unwrap();
        let mut dense = isotropic::<D>(3.0);
        for _ in 0..100 {
            let phi = features(catalog, &random.context(catalog), random.action(catalog));
            let y = random.signed();
            posterior.update(&mut workspace, phi.iter().copied(), y, 0.5).unwrap();
            dense.observe(&vector(&phi), y, 2.0).unwrap();
        }
        let (mut covariance, mut mean) = (DMatrix::zeros(d, d), DVector::zeros(d));
        posterior.covariance_into(&mut workspace, &mut covariance).unwrap();
        posterior.mean_into(&mut workspace, &mut mean).unwrap();
        assert!((covariance - dense.factor().inverse()).amax() < 1e-13);
        assert!((mean - dense.mean()).amax() < 1e-12);
        assert!(posterior.covariance_into(&mut workspace, &mut DMatrix::zeros(d, d + 1)).is_err());
        assert!(posterior.mean_into(&mut workspace, &mut DVector::zeros(d + 1)).is_err());
    }
    let mut random = Random(5);
    is_that_of_the_oracle::<{ MIXED.dimension() }>(&MIXED, &mut random);
    is_that_of_the_oracle::<{ TAU2.dimension() }>(&TAU2, &mut random);
}

#[test]
fn any_prior_is_where_learning_starts() {
    const D: usize = MIXED.dimension();
    let mut random = Random(6);
    let d = D;
    let mean: Vec<f64> = (0..d).map(|_| random.signed()).collect();
    let precision: Vec<f64> = (0..d).map(|_| 0.5 + 4.0 * random.unit()).collect();
    let mut workspace = Workspace::from_storage(vec![0.0; MIXED.workspace_len()]);
    let mut first = Posterior::<f64, _>::from_storage(vec![0.0; MIXED.state_len()]);
    first.start(MIXED.layout(), &Prior::Diagonal { mean: &mean, precision: &precision }, 1.0).unwrap();
    let diagonal = SMatrix::from_diagonal(&SVector::from_column_slice(&precision));
    let mut dense = Dense::<f64, D>::new(&SVector::from_column_slice(&mean), &diagonal).unwrap();
    let mut out = vec![0.0; d];
    first.mean(&mut workspace, &mut out).unwrap();
    assert_eq!(out, mean);
    for _ in 0..50 {
        let phi = features(&MIXED, &random.context(&MIXED), random.action(&MIXED));
        first.update(&mut workspace, phi.iter().copied(), 0.4, 0.5).unwrap();
        dense.observe(&vector(&phi), 0.4, 2.0).unwrap();
    }
    // What one posterior has learned is a factor prior for the next, and it goes on from there.
    let mut second = Posterior::<f64, _>::from_storage(vec![0.0; MIXED.state_len()]);
    let factor = Factor::new(MIXED.layout(), first.packed(), &mut workspace).unwrap();
    second.start(MIXED.layout(), &Prior::Factor(factor), 1.0).unwrap();
    assert_eq!(second.packed(), first.packed());
    assert_eq!(second.log_det_ratio(), 0.0);
    for _ in 0..50 {
        let phi = features(&MIXED, &random.context(&MIXED), random.action(&MIXED));
        second.update(&mut workspace, phi.iter().copied(), -0.3, 0.5).unwrap();
        dense.observe(&vector(&phi), -0.3, 2.0).unwrap();
    }
    second.mean(&mut workspace, &mut out).unwrap();
    assert!((DVector::from_vec(out) - dense.mean()).amax() < 1e-12);
}

/// Equation 4 without a draw: the factorized scorer against dense dot products over all feasible actions.
#[test]
fn recommending_is_the_argmax_over_the_feasible_set() {
    for (seed, catalog) in CATALOGS.into_iter().enumerate() {
        let mut random = Random(40 + seed as u64);
        let policy =
            Policy::<f64>::new(catalog, Settings { base_precision: Some(1.0), ..Settings::PAPER }).unwrap();
        let mut ana = start::<f64, 1>(&policy, 1);
        for _ in 0..60 {
            let (context, action) = (random.context(catalog), random.action(catalog));
            ana.user().observe(&context, action, random.signed()).unwrap();
        }
        let mut mean = vec![0.0; catalog.dimension()];
        let mut user = ana.user();
        let (posterior, scratch) = user.posterior_and_scratch();
        posterior.mean(scratch, &mut mean).unwrap();
        for round in 0..200 {
            let context = random.context(catalog);
            let defaults: Vec<f64> = (0..catalog.actions()).map(|_| random.signed()).collect();
            let defaults = (round % 2 == 0).then_some(&defaults[..]);
            let mut set = ActionSet::EMPTY;
            for _ in 0..=random.below(catalog.actions()) {
                set.insert(random.action(catalog));
            }
            let feasible = Feasible::from_set(catalog, set).unwrap();
            let score = |action| {
                let default = defaults.map(|defaults| defaults[usize::from(action)]);
                let residual: f64 = features(catalog, &context, Action(action))
                    .iter()
                    .map(|&(index, value)| value * mean[index])
                    .sum();
                policy.baseline(&context, Action(action), default) + residual
            };
            let (action, found) =
                user.recommend(&Request { defaults, ..Request::new(&context, &feasible) }).unwrap();
            assert!(set.contains(action));
            assert!((found - score(action.0)).abs() < 1e-12);
            for other in set.iter() {
                assert!(score(other.0) <= found + 1e-12);
            }
            let default = defaults.map(|defaults| defaults[action.index()]);
            let predicted = user.predict(&context, action, default).unwrap();
            assert!((predicted.mean - found).abs() < 1e-12);
        }
    }
}

#[test]
fn ties_go_to_the_earlier_action() {
    let policy = Policy::<f32>::new(&RUBRIC, Settings { cost_weight: 0.0, ..Settings::PAPER }).unwrap();
    let mut learner: Learner<f32, [f32; RUBRIC.state_len()], 1> = const { Learner::new(&RUBRIC) };
    let mut workspace: Workspace<f32, [f32; RUBRIC.workspace_len()]> = const { Workspace::new(&RUBRIC) };
    learner.start(&policy, 1).unwrap();
    let mut user = learner.bind(&policy, &mut workspace).unwrap();
    let context = Context::new(&RUBRIC, None, &[]).unwrap();
    for first in 0..27 {
        let mut set = ActionSet::EMPTY;
        (first..27).for_each(|action| set.insert(Action(action)));
        let feasible = Feasible::from_set(&RUBRIC, set).unwrap();
        let (action, _) = user.recommend(&Request::new(&context, &feasible)).unwrap();
        assert_eq!(action.0, first);
    }
}

#[test]
fn instructions_are_the_texts_of_the_values() {
    let mut text = String::new();
    MIXED.instruct(MIXED.action(&[1, 2, 3]).unwrap(), &mut text).unwrap();
    assert_eq!(text, "B two. C three.");
    text.clear();
    MIXED.instruct(MIXED.action(&[1, 0, 1]).unwrap(), &mut text).unwrap();
    assert_eq!(text, "");
}

/// The caller's default scores replace b for one round, and the decision keeps the baseline it was made with.
#[test]
fn a_decision_keeps_its_baseline() {
    let policy = Policy::<f64>::new(&RUBRIC, Settings::PAPER).unwrap();
    let mut ana = start::<f64, 2>(&policy, 1);
    let context = Context::new(&RUBRIC, None, &[]).unwrap();
    let mut defaults = [0.0; 27];
    defaults[13] = 50.0;
    let decision =
        ana.user().decide(&Request::new(&context, &Feasible::all(&RUBRIC)).with_defaults(&defaults)).unwrap();
    assert_eq!(decision.action.0, 13);
    assert!((decision.baseline - (50.0 - 0.3)).abs() < 1e-12);
    let update = ana.user().feedback(decision.id, 0.5).unwrap();
    assert!((update.innovation - (0.5 - 49.7)).abs() < 1e-12);
}

#[test]
fn the_host_default_is_not_a_decision() {
    const NOTHING: &[Rule<'static>] =
        &[Rule::require("one", &[Part::new(0, &[0])]), Rule::require("two", &[Part::new(0, &[1])])];
    let policy = Policy::<f32>::new(&TAU2, Settings::PAPER).unwrap();
    let mut ana = start::<f32, 2>(&policy, 1);
    let before = ana.clone();
    let context = Context::new(&TAU2, None, &[]).unwrap();
    let choice = ana.user().decide_or_default(&context, NOTHING, None, 0).unwrap();
    assert_eq!(choice, None);
    assert_eq!(ana, before);
    let choice = ana.user().decide_or_default(&context, &NOTHING[..1], None, 0).unwrap();
    assert!(choice.is_some());
}
