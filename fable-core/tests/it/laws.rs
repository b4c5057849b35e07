//! Laws of the learner as properties: order, arrow, replay, determinism, and the Gaussian law of its choices.

use crate::common::{self, CUBE, MIXED, Random, Sums, features, isotropic, vector};
use fable_core::catalog::{AGENT, Catalog, TAU2};
use fable_core::catalog::{ActionSet, Direction};
use fable_core::journal::{Command, Event};
use fable_core::posterior::{Posterior, Prior};
use fable_core::{
    Action, Context, DecisionId, Exploration, Feasible, HostUser, Learner, Policy, Request, Scalar, Settings,
    Statement, UserError, Workspace,
};
use nalgebra::{DMatrix, DVector, SVector};
use proptest::prelude::*;

fn start<'p, T: Scalar>(policy: &Policy<'p, T>) -> HostUser<'p, T, 6> {
    common::start(policy, 77)
}

fn bits<T: Scalar>(ana: &HostUser<'_, T, 6>) -> (Vec<u64>, u64) {
    let packed = ana.learner().posterior().packed().iter().map(|value| value.bits()).collect();
    (packed, ana.learner().posterior().log_det_ratio().to_bits())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn order_of_observations_does_not_matter(seed: u64, count in 1_usize..60) {
        let mut random = Random(seed);
        let policy = Policy::<f64>::new(&MIXED, Settings::PAPER).unwrap();
        let mut events: Vec<_> = (0..count).map(|_| (random.context(&MIXED), random.action(&MIXED), random.signed())).collect();
        let mut forward = start(&policy);
        for (context, action, reward) in &events {
            forward.user().observe(context, *action, *reward).unwrap();
        }
        for index in (1..count).rev() {
            events.swap(index, random.below(index + 1));
        }
        let mut shuffled = start(&policy);
        for (context, action, reward) in &events {
            shuffled.user().observe(context, *action, *reward).unwrap();
        }
        for (a, b) in forward.learner().posterior().packed().iter().zip(shuffled.learner().posterior().packed()) {
            prop_assert!((a - b).abs() < 1e-12);
        }
        let difference = forward.learner().posterior().log_det_ratio() - shuffled.learner().posterior().log_det_ratio();
        prop_assert!(difference.abs() < 1e-11);
    }

    /// The arrow is not an approximation: the same observations in one dense root give the same distribution.
    #[test]
    fn arrow_equals_dense(seed: u64, count in 1_usize..80) {
        let mut random = Random(seed);
        let (layout, d) = (MIXED.layout(), MIXED.dimension());
        let flat = fable_core::posterior::Layout::new(0, 0, d).unwrap();
        let mut leaves = Posterior::<f64, _>::from_storage(vec![0.0; layout.packed_len()]);
        let mut root = Posterior::<f64, _>::from_storage(vec![0.0; flat.packed_len()]);
        let mut workspace = Workspace::from_storage(vec![0.0; d + 1]);
        leaves.start(layout, &Prior::Isotropic, 2.0).unwrap();
        root.start(flat, &Prior::Isotropic, 2.0).unwrap();
        for _ in 0..count {
            let phi = features(&MIXED, &random.context(&MIXED), random.action(&MIXED));
            let y = random.signed();
            let a = leaves.update(&mut workspace, phi.iter().copied(), y, 0.25).unwrap();
            let b = root.update(&mut workspace, phi.iter().copied(), y, 0.25).unwrap();
            prop_assert!((a.innovation - b.innovation).abs() < 1e-12 && (a.variance - b.variance).abs() < 1e-12);
        }
        let (mut a, mut b) = (vec![0.0; d], vec![0.0; d]);
        leaves.mean(&mut workspace, &mut a).unwrap();
        root.mean(&mut workspace, &mut b).unwrap();
        for index in 0..d {
            prop_assert!((a[index] - b[index]).abs() < 1e-12);
            let variances = [leaves.marginal_variance(&mut workspace, index), root.marginal_variance(&mut workspace, index)];
            prop_assert!((variances[0].unwrap() - variances[1].unwrap()).abs() < 1e-13);
        }
    }

    /// Updating equals factoring the whole matrix: L D L^T and L D z, multiplied out, are the oracle's Lambda
    /// and h.
    #[test]
    fn update_equals_refactorization(seed: u64, count in 1_usize..40) {
        let mut random = Random(seed);
        let (layout, d) = (MIXED.layout(), MIXED.dimension());
        let mut posterior = Posterior::<f64, _>::from_storage(vec![0.0; MIXED.state_len()]);
        let mut workspace = Workspace::from_storage(vec![0.0; MIXED.workspace_len()]);
        posterior.start(layout, &Prior::Isotropic, 1.0).unwrap();
        let mut dense = Sums::isotropic(d, 1.0);
        for _ in 0..count {
            let phi = features(&MIXED, &random.context(&MIXED), random.action(&MIXED));
            let y = random.signed();
            posterior.update(&mut workspace, phi.iter().copied(), y, 0.25).unwrap();
            dense.observe(&phi, y, 0.25);
        }
        let (mut lower, mut z) = (DMatrix::<f64>::identity(d, d), DVector::zeros(d));
        let (inverse, mut columns) = posterior.packed().split_at(d);
        for j in 0..d {
            // The rows below: the rest of the own leaf, then the root; the information row comes last.
            let own_end = layout.locate(j).unwrap().0.map_or(d, |task| (task + 1) * layout.leaf());
            let rows: Vec<usize> = (j + 1..own_end).chain(own_end.max(d - layout.root())..d).collect();
            for (&i, l) in rows.iter().zip(columns) {
                lower[(i, j)] = *l;
            }
            z[j] = columns[rows.len()];
            columns = &columns[rows.len() + 1..];
        }
        prop_assert!(columns.is_empty());
        let scaled = &lower * DMatrix::from_diagonal(&DVector::from_iterator(d, inverse.iter().map(|e| 1.0 / e)));
        prop_assert!((&scaled * lower.transpose() - &dense.lambda).amax() < 1e-10);
        prop_assert!((scaled * z - &dense.h).amax() < 1e-10);
    }

    /// Replaying the events gives the same bits, and so does replaying any decision alone.
    #[test]
    fn replay_is_exact(seed: u64) {
        let mut random = Random(seed);
        let policy = Policy::<f32>::new(&MIXED, Settings { seed, ..Settings::PAPER }).unwrap();
        let mut ana = start(&policy);
        let (mut journal, mut waiting): (Vec<Event>, Vec<DecisionId>) = (vec![], vec![]);
        for _ in 0..60 {
            let context = random.context(&MIXED);
            let (feasible, statement);
            let mut command = match random.below(10) {
                0 => Command::observe(&context, random.action(&MIXED), random.signed()).weighted(0.5),
                1 => {
                    let direction = Direction::new(&MIXED, [(random.below(MIXED.dimension()), 1.0)]).unwrap();
                    statement = [Statement { direction, response: random.signed(), precision: 2.0 }];
                    Command::onboard(&statement)
                }
                2..=5 if !waiting.is_empty() => {
                    Command::feedback(waiting.swap_remove(random.below(waiting.len())), random.signed())
                }
                6 if random.below(5) == 0 => {
                    waiting.clear();
                    Command::event(Event::Forget { guarantee_fingerprint: 7 })
                }
                _ => {
                    let mut set = ActionSet::EMPTY;
                    (0..5).for_each(|_| set.insert(random.action(&MIXED)));
                    feasible = Feasible::from_set(&MIXED, set).unwrap();
                    Command::decide(Request::new(&context, &feasible))
                }
            };
            let mut user = ana.user();
            loop {
                match user.next(&mut command) {
                    Ok(Some(step)) => {
                        journal.push(step.event().clone());
                        step.apply();
                    }
                    Ok(None) => break,
                    Err(error) => {
                        prop_assert_eq!(error, UserError::ExpiredDecision);
                        break;
                    }
                }
            }
            waiting.extend(command.decision(&user).map(|decision| decision.id));
        }
        let mut again = start(&policy);
        for event in &journal {
            if let Event::Decision { context, .. } = event {
                let feasible = Feasible::from_set(&MIXED, *again.state().permissions()).unwrap();
                let (mut user, mut command) = (again.user(), Command::decide(Request::new(context, &feasible)));
                prop_assert_eq!(user.next(&mut command).unwrap().unwrap().event(), event);
            }
            again.user().check(event).unwrap().apply();
        }
        prop_assert_eq!(bits(&again), bits(&ana));
        prop_assert_eq!(again.state().rounds(), ana.state().rounds());
        prop_assert_eq!(again, ana);
    }

    /// Feedback in any order is the same observations in another order.
    #[test]
    fn late_feedback_is_feedback(seed: u64) {
        let mut random = Random(seed);
        let policy = Policy::<f64>::new(&TAU2, Settings::PAPER).unwrap();
        let mut late = start(&policy);
        let mut direct = start(&policy);
        let context = Context::new(&TAU2, None, &[]).unwrap();
        let mut decisions = vec![];
        for _ in 0..6 {
            decisions.push(late.user().decide(&Request::new(&context, &Feasible::all(&TAU2))).unwrap());
        }
        for index in (0..6).rev() {
            let decision = decisions.swap_remove(random.below(index + 1));
            late.user().feedback(decision.id, 0.25).unwrap();
            direct.user().observe(&context, decision.action, 0.25).unwrap();
        }
        prop_assert_eq!(bits(&late), bits(&direct));
    }
}

/// Same inputs, same bits for `[T; N]`, `Vec<T>` and `&mut [T]`.
#[test]
fn storage_does_not_matter() {
    let policy = Policy::<f32>::new(&TAU2, Settings::PAPER).unwrap();
    let mut array: Learner<f32, [f32; TAU2.state_len()], 4> = const { Learner::new(&TAU2) };
    let mut vector = Learner::<f32, Vec<f32>, 4>::from_storage(vec![0.0; TAU2.state_len()]);
    let mut memory = [0.0; TAU2.state_len()];
    let mut slice = Learner::<f32, &mut [f32], 4>::from_storage(&mut memory);
    let mut workspace = Workspace::from_storage(vec![0.0; TAU2.workspace_len()]);
    let context = Context::new(&TAU2, None, &[]).unwrap();
    array.start(&policy, 5).unwrap();
    vector.start(&policy, 5).unwrap();
    slice.start(&policy, 5).unwrap();
    for round in 0..50 {
        let reward = f64::from(round % 5) / 4.0 - 0.5;
        let all = Feasible::all(&TAU2);
        let a = array.bind(&policy, &mut workspace).unwrap().decide(&Request::new(&context, &all)).unwrap();
        let b = vector.bind(&policy, &mut workspace).unwrap().decide(&Request::new(&context, &all)).unwrap();
        let c = slice.bind(&policy, &mut workspace).unwrap().decide(&Request::new(&context, &all)).unwrap();
        assert!(a == b && b == c);
        array.bind(&policy, &mut workspace).unwrap().feedback(a.id, reward).unwrap();
        vector.bind(&policy, &mut workspace).unwrap().feedback(b.id, reward).unwrap();
        slice.bind(&policy, &mut workspace).unwrap().feedback(c.id, reward).unwrap();
    }
    assert_eq!(array.posterior().packed(), vector.posterior().packed());
    assert_eq!(array.posterior().packed(), slice.posterior().packed());
}

/// Time and memory aside, another number of tasks changes nothing for the task at hand.
#[test]
fn other_tasks_do_not_matter() {
    let names: Vec<String> = (0..64).map(|task| format!("task_{task}")).collect();
    let tasks: Vec<&str> = names.iter().map(String::as_str).collect();
    let many =
        Catalog::try_new(fable_core::catalog::Definition { tasks: &tasks, ..*AGENT.definition() }).unwrap();
    let settings = Settings::PAPER;
    let (few_policy, many_policy) =
        (Policy::<f32>::new(&AGENT, settings).unwrap(), Policy::<f32>::new(&many, settings).unwrap());
    let mut few = start(&few_policy);
    let mut lots = start(&many_policy);
    let context = Context::new(&AGENT, Some(4), &[0.25, 0.5, 0.75, 1.0]).unwrap();
    for _ in 0..30 {
        let a = few.user().decide(&Request::new(&context, &Feasible::all(&AGENT))).unwrap();
        let b = lots.user().decide(&Request::new(&context, &Feasible::all(&many))).unwrap();
        assert_eq!(a, b);
        few.user().feedback(a.id, 0.5).unwrap();
        lots.user().feedback(b.id, 0.5).unwrap();
    }
}

/// Every mask of a small catalog, every context, many draws: what comes out is in the mask.
#[test]
fn nothing_infeasible_over_all_masks() {
    let policy = Policy::<f32>::new(
        &CUBE,
        Settings { base_precision: Some(0.5), exploration: Exploration::Constant(3.0), ..Settings::PAPER },
    )
    .unwrap();
    let mut ana = start(&policy);
    for mask in 1_u16..256 {
        let mut set = ActionSet::EMPTY;
        (0..8).filter(|bit| mask >> bit & 1 == 1).for_each(|bit| set.insert(Action(bit)));
        let feasible = Feasible::from_set(&CUBE, set).unwrap();
        let mut seen = ActionSet::EMPTY;
        for round in 0..60 {
            let context = Context::new(&CUBE, [None, Some(0), Some(1)][round % 3], &[]).unwrap();
            let decision = ana.user().decide(&Request::new(&context, &feasible)).unwrap();
            assert!(mask >> decision.action.0 & 1 == 1);
            seen.insert(decision.action);
            let (recommended, _) = ana.user().recommend(&Request::new(&context, &feasible)).unwrap();
            assert!(mask >> recommended.0 & 1 == 1);
        }
        assert!(
            seen.len() > 1 || mask.is_power_of_two(),
            "with such wide draws more than one action of {mask:b} must come up"
        );
    }
}

/// Two-sample chi-square of choice frequencies: keyed draws of the learner against a dense Monte Carlo of the
/// oracle.
fn choices_follow_the_law_of<const D: usize>(catalog: &Catalog<'static>, nu: f64, random: &mut Random) {
    let settings =
        Settings { exploration: Exploration::Constant(nu), base_precision: Some(4.0), ..Settings::PAPER };
    let policy = Policy::<f64>::new(catalog, settings).unwrap();
    let mut ana = start(&policy);
    let mut dense = isotropic::<D>(4.0);
    for _ in 0..30 {
        let (context, action) = (random.context(catalog), random.action(catalog));
        let reward = random.signed();
        ana.user().observe(&context, action, reward).unwrap();
        let phi = vector(&features(catalog, &context, action));
        dense.observe(&phi, reward - policy.baseline(&context, action, None), 4.0).unwrap();
    }
    let signals = vec![0.5; catalog.definition().signals.len()];
    let context = Context::new(catalog, Some(0), &signals).unwrap(); // a leaf and the root
    let draws = 40_000;
    let mut counts = vec![[0_u32; 2]; catalog.actions()];
    let scores: Vec<_> = catalog
        .all_actions()
        .iter()
        .map(|action| (policy.baseline(&context, action, None), features(catalog, &context, action)))
        .collect();
    for _ in 0..draws {
        let decision = ana.user().decide(&Request::new(&context, &Feasible::all(catalog))).unwrap();
        counts[decision.action.index()][0] += 1;
        let theta = dense.draw(nu, &SVector::from_fn(|_, _| random.normal()));
        let score = |(baseline, phi): &(f64, Vec<(usize, f64)>)| {
            baseline + phi.iter().map(|&(index, value)| value * theta[index]).sum::<f64>()
        };
        let best = scores.iter().map(score).enumerate().max_by(|a, b| a.1.total_cmp(&b.1)).unwrap();
        counts[best.0][1] += 1;
    }
    let cells: Vec<_> =
        counts.iter().map(|&[a, b]| (f64::from(a), f64::from(b))).filter(|(a, b)| a + b >= 20.0).collect();
    let chi_square: f64 = cells.iter().map(|(a, b)| (a - b).powi(2) / (a + b)).sum();
    let freedom = (cells.len() - 1) as f64;
    // Wilson and Hilferty's approximation of the 0.9999 quantile.
    let limit = freedom * (1.0 - 2.0 / (9.0 * freedom) + 3.719 * (2.0 / (9.0 * freedom)).sqrt()).powi(3);
    assert!(cells.len() >= 6, "a test over {} cells says little", cells.len());
    assert!(chi_square < limit, "{chi_square} over {} cells, limit {limit}", cells.len());
}

#[test]
fn choices_follow_the_gaussian_law() {
    let mut random = Random(99);
    choices_follow_the_law_of::<{ CUBE.dimension() }>(&CUBE, 1.0, &mut random);
    choices_follow_the_law_of::<{ MIXED.dimension() }>(&MIXED, 0.5, &mut random);
}

/// Propensities are the frequencies of the decisions, sum to one, and asking for them changes no decision.
#[test]
fn propensities_are_frequencies() {
    let policy =
        Policy::<f32>::new(&TAU2, Settings { exploration: Exploration::Constant(1.0), ..Settings::PAPER })
            .unwrap();
    let mut ana = start(&policy);
    let context = Context::new(&TAU2, None, &[]).unwrap();
    ana.user().observe(&context, Action(7), 1.0).unwrap();
    let mut set = ActionSet::EMPTY;
    for action in TAU2.all_actions().iter().filter(|action| action.0 % 3 != 1 || action.0 == 7) {
        set.insert(action);
    }
    let feasible = Feasible::from_set(&TAU2, set).unwrap();
    let draws = 20_000;
    let mut estimated = [0.0; 18];
    let untouched = ana.clone();
    ana.user().propensities(&Request::new(&context, &feasible), draws, &mut estimated).unwrap();
    assert_eq!(ana, untouched);
    assert!((estimated.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    let mut counts = [0.0; 18];
    for _ in 0..draws {
        let decision = ana.user().decide(&Request::new(&context, &feasible)).unwrap();
        counts[decision.action.index()] += 1.0 / f64::from(draws);
    }
    for (action, (estimate, count)) in estimated.iter().zip(counts).enumerate() {
        assert_eq!(*estimate == 0.0, !set.contains(Action(u16::try_from(action).unwrap())));
        let deviation = (2.0 * estimate.max(1e-4) / f64::from(draws)).sqrt();
        assert!((estimate - count).abs() < 4.5 * deviation + 2e-4, "{action}: {estimate} {count}");
    }
    let mut none = [0.5; 18];
    ana.user().propensities(&Request::new(&context, &feasible), 0, &mut none).unwrap();
    assert!(none.iter().all(|p| *p == 0.0 || *p == 1.0 / feasible.len() as f64));
    assert!(ana.user().propensities(&Request::new(&context, &feasible), 1, &mut [0.0; 17]).is_err());
}

/// A decision is a pure function of state, context, feasible set and key. `nu` scales only the draw.
#[test]
fn exploration_shrinks_to_the_greedy_choice() {
    let mut random = Random(3);
    let tiny = Settings { exploration: Exploration::Constant(1e-6), ..Settings::PAPER };
    let policy = Policy::<f64>::new(&MIXED, tiny).unwrap();
    let mut ana = start(&policy);
    for _ in 0..40 {
        let (context, action) = (random.context(&MIXED), random.action(&MIXED));
        ana.user().observe(&context, action, random.signed()).unwrap();
        let context = random.context(&MIXED);
        let (greedy, _) = ana.user().recommend(&Request::new(&context, &Feasible::all(&MIXED))).unwrap();
        let decision = ana.user().decide(&Request::new(&context, &Feasible::all(&MIXED))).unwrap();
        assert_eq!(decision.action, greedy);
    }
}
