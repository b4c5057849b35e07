//! The learner over some blocks of the dictionary, against a dense learner of the subspace.

use crate::common::onboarded::{onboard, told};
use crate::common::{MIXED, Random, Sums, features, start};
use fable_core::catalog::{AGENT, BlockSet, Catalog, RUBRIC, TAU2};
use fable_core::catalog::{ActionSet, CoordinateSet};
use fable_core::explain::Source;
use fable_core::journal::{Command, Event};
use fable_core::preference::Comparison;
use fable_core::{Action, Context, Exploration, Feasible, Policy, Request, Settings};
use nalgebra::{DMatrix, DVector};
use proptest::prelude::*;

/// N(S^T mu, S^T Sigma S) as precision and information, with the retained coordinates in order.
fn marginal(full: &Sums, kept: &[usize]) -> Sums {
    let solved = full.solved();
    let covariance = solved.covariance();
    let own = DMatrix::from_fn(kept.len(), kept.len(), |i, j| covariance[(kept[i], kept[j])]);
    let mean = DVector::from_fn(kept.len(), |i, _| solved.mean[kept[i]]);
    let lambda = own.try_inverse().unwrap();
    let h = &lambda * mean;
    Sums { lambda, h }
}

/// phi_z in the coordinates of the small dense learner.
fn small(catalog: &Catalog<'_>, kept: &[usize], context: &Context, action: Action) -> Vec<(usize, f64)> {
    let place = |coordinate| kept.iter().position(|&other| other == coordinate);
    let all = features(catalog, context, action).into_iter();
    all.filter_map(|(coordinate, value)| Some((place(coordinate)?, value))).collect()
}

fn only(catalog: &Catalog<'_>, action: Action) -> Feasible {
    let mut set = ActionSet::EMPTY;
    set.insert(action);
    Feasible::from_set(catalog, set).unwrap()
}

fn some_blocks(random: &mut Random, catalog: &Catalog<'_>) -> BlockSet {
    let every = catalog.all_blocks().bits();
    loop {
        let bits = u128::from(random.bits()) & every;
        if bits != 0 {
            return BlockSet::from_bits(bits);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// The active prior lemma. A learner with some blocks is the learner of the small space whose prior is
    /// the marginal of the onboarding posterior.
    #[test]
    fn a_masked_learner_is_the_learner_of_the_subspace(seed: u64, which in 0_usize..3) {
        let mut random = Random(seed);
        let catalog = [&MIXED, &TAU2, &RUBRIC][which];
        let retained = some_blocks(&mut random, catalog);
        let settings = Settings { retained, base_precision: Some(2.0), noise_variance: 0.3, ..Settings::PAPER };
        let policy = Policy::<f64>::new(catalog, settings).unwrap();
        let mut ana = start::<_, 4>(&policy, 5);
        let all: Vec<usize> = (0..catalog.dimension()).collect();
        let stated = onboard(&mut random, &mut ana, &all);
        let full = told(catalog.dimension(), 2.0, &stated, |coordinate| coordinate);
        let kept: Vec<usize> = CoordinateSet::of_blocks(catalog, retained).iter().collect();
        prop_assert_eq!(policy.active_dimension(), kept.len());
        let mut dense = marginal(&full, &kept);
        for _ in 0..60 {
            let context = random.context(catalog);
            let action = random.action(catalog);
            let reward = random.signed();
            let phi = small(catalog, &kept, &context, action);
            let mut own: Vec<_> = policy.features(&context, action).map(|(index, value)| (index, f64::from(value))).collect();
            own.sort_by_key(|&(index, _)| index);
            prop_assert_eq!(own.iter().map(|&(_, value)| value).sum::<f64>(), phi.iter().map(|&(_, value)| value).sum::<f64>());
            let baseline = policy.baseline(&context, action, None);
            let update = ana.user().observe(&context, action, reward).unwrap();
            let (mean, variance) = dense.solved().contrast(&phi);
            let residual = reward - baseline;
            prop_assert!((update.innovation - (residual - mean)).abs() < 1e-10);
            prop_assert!((update.variance - (0.3 + variance)).abs() < 1e-10);
            dense.observe(&phi, residual, 0.3);
        }
        let solved = dense.solved();
        for _ in 0..8 {
            let context = random.context(catalog);
            let mut greedy = (Action(0), f64::NEG_INFINITY);
            for action in catalog.all_actions().iter() {
                let (mean, variance) = solved.contrast(&small(catalog, &kept, &context, action));
                let score = policy.baseline(&context, action, None) + mean;
                let found = ana.user().predict(&context, action, None).unwrap();
                prop_assert!((found.mean - score).abs() < 1e-10 && (found.variance - variance).abs() < 1e-10);
                // The scorer leaves the same blocks out.
                let (_, scored) = ana.user().recommend(&Request::new(&context, &only(catalog, action))).unwrap();
                prop_assert!((scored - score).abs() < 1e-10);
                if score > greedy.1 {
                    greedy = (action, score);
                }
            }
            let (_, best) = ana.user().recommend(&Request::new(&context, &Feasible::all(catalog))).unwrap();
            prop_assert!((best - greedy.1).abs() < 1e-10);
        }
    }

    /// For a mask that keeps all that was spoken of, onboarding in the small space gives the same prior.
    #[test]
    fn onboarding_in_the_subspace_is_the_same_for_closed_masks(seed: u64, which in 0_usize..3) {
        let mut random = Random(seed);
        let catalog = [&MIXED, &TAU2, &RUBRIC][which];
        let retained = some_blocks(&mut random, catalog);
        let policy = Policy::<f64>::new(catalog, Settings { retained, base_precision: Some(2.0), ..Settings::PAPER }).unwrap();
        let mut ana = start::<_, 4>(&policy, 5);
        let kept: Vec<usize> = CoordinateSet::of_blocks(catalog, retained).iter().collect();
        let stated = onboard(&mut random, &mut ana, &kept);
        let full = told(catalog.dimension(), 2.0, &stated, |coordinate| coordinate);
        let direct = told(kept.len(), 2.0, &stated, |coordinate| kept.iter().position(|&other| other == coordinate).unwrap());
        let induced = marginal(&full, &kept);
        prop_assert!((&induced.lambda - &direct.lambda).amax() < 1e-9 && (&induced.h - &direct.h).amax() < 1e-9);
        let solved = direct.solved();
        for _ in 0..20 {
            let (context, action) = (random.context(catalog), random.action(catalog));
            let (mean, variance) = solved.contrast(&small(catalog, &kept, &context, action));
            let found = ana.user().predict(&context, action, None).unwrap();
            prop_assert!((found.mean - policy.baseline(&context, action, None) - mean).abs() < 1e-11);
            prop_assert!((found.variance - variance).abs() < 1e-11);
        }
    }
}

/// The lemma needs a closed mask. A statement across the border gives the marginal, not the small onboarding.
#[test]
fn onboarding_in_the_subspace_differs_for_open_masks() {
    let (kept, omitted) = (
        TAU2.coordinate("style=concise").unwrap(),
        TAU2.coordinate("memory=conversation*tool=verify").unwrap(),
    );
    let mut full = Sums::isotropic(29, 2.0);
    full.observe(&[(kept, 1.0), (omitted, 1.0)], 1.0, 0.25);
    let mut direct = Sums::isotropic(29, 2.0);
    direct.observe(&[(kept, 1.0)], 1.0, 0.25);
    assert!(
        (full.solved().contrast(&[(kept, 1.0)]).1 - direct.solved().contrast(&[(kept, 1.0)]).1).abs() > 0.05
    );
}

/// nu_t of the theorem counts the active dimension. The draws equal those of a constant nu of this size, and
/// differ from those of d.
#[test]
fn the_theorem_counts_active_coordinates() {
    let retained = BlockSet::from_bits(0b1_0001_1000); // task x style, task x tool, ambiguity x style
    let theorem = Exploration::Theorem { delta: 0.1 };
    // A narrow prior, so that even such a nu leaves the reference its say.
    let mask = Settings { retained, exploration: theorem, base_precision: Some(1e4), ..Settings::PAPER };
    let policy = Policy::<f64>::new(&AGENT, mask).unwrap();
    assert_eq!(policy.active_dimension(), 10 * 6 + 10 * 6 + 6);
    assert_eq!(Policy::<f64>::new(&AGENT, Settings::PAPER).unwrap().active_dimension(), 254);
    let constant = |d| Settings { exploration: Exploration::Constant(theorem.nu(1, d)), ..mask };
    let (small, large) =
        (Policy::new(&AGENT, constant(126)).unwrap(), Policy::new(&AGENT, constant(254)).unwrap());
    let context = Context::new(&AGENT, Some(2), &[0.2, 0.6, 0.9, 0.1]).unwrap();
    let mut differences = 0;
    for user in 0..60 {
        let decide = |policy| start::<f64, 1>(policy, user).decide(&context, &Feasible::all(&AGENT)).unwrap();
        assert_eq!(decide(&policy), decide(&small));
        differences += usize::from(decide(&policy) != decide(&large));
    }
    assert!(differences > 0);
}

/// Every mask: the explanation, unlearning and contrasts see the retained blocks and nothing else.
#[test]
fn everything_else_respects_the_mask() {
    for bits in 1..1_u128 << 9 {
        let retained = BlockSet::from_bits(bits);
        let settings = Settings { retained, exploration: Exploration::Constant(1e-6), ..Settings::PAPER };
        let policy = Policy::<f64>::new(&MIXED, settings).unwrap();
        let mut ana = start::<_, 4>(&policy, 5);
        let mut random = Random(u64::try_from(bits).unwrap());
        let mut learned = vec![];
        for _ in 0..12 {
            let context = random.context(&MIXED);
            let action = random.action(&MIXED);
            let reward = random.signed();
            let (mut user, mut command) = (ana.user(), Command::observe(&context, action, reward));
            let step = user.next(&mut command).unwrap().unwrap();
            let Event::Observation(observation) = step.event() else { panic!("{:?}", step.event()) };
            learned.push(*observation);
            step.apply();
        }
        let (context, all) = (random.context(&MIXED), Feasible::all(&MIXED));
        let mut user = ana.user();
        let decision = user.decide(&Request::new(&context, &all)).unwrap();
        for other in (0..24).step_by(5).map(Action) {
            let mean = user.predict(&context, other, None).unwrap().mean;
            let why = user.explain(decision.id, None, Some(other)).unwrap();
            let shares: Vec<_> = why.shares().collect();
            let draw = shares.last().unwrap();
            assert!(
                draw.chosen.abs() < 1e-4 && draw.other.abs() < 1e-4 && (why.other_score - mean).abs() < 1e-4,
                "{bits}"
            );
            let blocks = shares.iter().filter_map(|share| match share.source {
                Source::Block(block) => Some(usize::from(block)),
                _ => None,
            });
            assert!(blocks.into_iter().all(|block| retained.contains(block)));
        }
        let comparison = Comparison::declared(&MIXED, 0).unwrap();
        let contrast = user.assess(&comparison).unwrap();
        let mut mean = |action| user.predict(&comparison.context, action, Some(0.0)).unwrap().mean;
        let cost = |action| policy.baseline(&comparison.context, action, Some(0.0));
        let difference = (mean(comparison.prefer) - cost(comparison.prefer))
            - (mean(comparison.over) - cost(comparison.over));
        assert!((contrast.mean - difference).abs() < 1e-12);
        for observation in learned {
            user.unlearn(observation).unwrap();
        }
        assert!(ana.learner().posterior().log_det_ratio().abs() < 1e-9 && ana.state().observations() == 0);
    }
}
