//! FABLE-SPCA: the choice of the blocks, against dense oracles and brute force.

use crate::common::onboarded::{onboard, told};
use crate::common::{MIXED, Random, Sums, features_by_name, start};
use fable_core::analysis::budget::{Rate, bias};
use fable_core::analysis::program::main_effects;
use fable_core::analysis::{CoordinateProgram, Program, ProgramError, Prototype, SpcaError, reduce, spca};
use fable_core::catalog::{AGENT, BlockSet, Catalog, RUBRIC, TAU2};
use fable_core::catalog::{ActionSet, CoordinateSet};
use fable_core::posterior::{Posterior, PosteriorError};
use fable_core::{Context, Feasible, Policy, Settings, Workspace};
use nalgebra::{DMatrix, DVector};
use proptest::prelude::*;

fn some_actions(random: &mut Random, catalog: &Catalog<'_>, most: usize) -> Feasible {
    let mut set = ActionSet::EMPTY;
    for _ in 0..=random.below(most) {
        set.insert(random.action(catalog));
    }
    Feasible::from_set(catalog, set).unwrap()
}

fn prototypes(random: &mut Random, catalog: &Catalog<'_>, count: usize, actions: usize) -> Vec<Prototype> {
    let shares: Vec<f64> = (0..count).map(|_| random.unit()).collect();
    let total: f64 = shares.iter().sum();
    let prototype = |share: &f64| {
        let (context, feasible) = (random.context(catalog), some_actions(random, catalog, actions));
        Prototype { context, weight: share / total, feasible }
    };
    shares.iter().map(prototype).collect()
}

/// H from an onboarded learner, and the oracle that was told the same.
struct Scene {
    requests: Vec<Prototype>,
    beta: f64,
    g: DMatrix<f64>,
    h: DMatrix<f64>,
    dense: Sums,
}

fn scene(random: &mut Random, catalog: &'static Catalog<'static>, actions: usize) -> Scene {
    let policy =
        Policy::<f64>::new(catalog, Settings { base_precision: Some(3.0), ..Settings::PAPER }).unwrap();
    let mut ana = start(&policy, 5);
    let all: Vec<usize> = (0..catalog.dimension()).collect();
    let stated = onboard(random, &mut ana, &all);
    let dense = told(catalog.dimension(), 3.0, &stated, |coordinate| coordinate);
    let (requests, beta) = (prototypes(random, catalog, 3, actions), 6.0 * random.unit());
    let d = catalog.dimension();
    let mut g = DMatrix::zeros(d, d);
    let mut m = DMatrix::<f64>::zeros(d, d);
    let mut mean = vec![0.0; d];
    spca::feature_covariance_into(&policy, &requests, beta, &mut g).unwrap();
    let mut user = ana.user();
    let (posterior, scratch) = user.posterior_and_scratch();
    spca::second_moment_into(&posterior, scratch, &mut mean, &mut m).unwrap();
    let solved = dense.solved();
    assert!((&m - (solved.covariance() + &solved.mean * solved.mean.transpose())).amax() < 1e-11);
    let mut h = g.clone();
    spca::weigh(&mut h, &m).unwrap();
    Scene { requests, beta, g, h, dense }
}

/// E over prototypes and actions of f(phi). phi comes from the coordinate names and the softmax of the paper.
fn expectation(catalog: &'static Catalog<'static>, scene: &Scene, mut f: impl FnMut(f64, &[(usize, f64)])) {
    let policy = Policy::<f64>::new(catalog, Settings::PAPER).unwrap();
    for Prototype { context, weight, feasible } in &scene.requests {
        let e = |action| (scene.beta * policy.baseline(context, action, None)).exp();
        let total: f64 = feasible.set().iter().map(e).sum();
        for action in feasible.set().iter() {
            f(weight * e(action) / total, &features_by_name(catalog, context, action));
        }
    }
}

const CATALOGS: [&Catalog<'static>; 4] = [&MIXED, &TAU2, &RUBRIC, &AGENT];

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// G, E and gain are the expectations they are defined as; H is positive semidefinite.
    #[test]
    fn objective_is_the_expected_square(seed: u64, which in 0_usize..3) {
        let (mut random, catalog) = (Random(seed), CATALOGS[which]);
        let scene = scene(&mut random, catalog, 8);
        let d = catalog.dimension();
        let mut g = DMatrix::zeros(d, d);
        expectation(catalog, &scene, |share, phi| {
            for &(i, a) in phi {
                for &(j, b) in phi {
                    g[(i, j)] += share * a * b;
                }
            }
        });
        prop_assert!((&scene.g - &g).amax() < 1e-12);
        let spectrum = scene.h.symmetric_eigenvalues();
        prop_assert!(spectrum.min() > -1e-12 * spectrum.max());

        let solved = scene.dense.solved();
        // E_theta[(w.theta)^2] = w.Sigma.w + (w.mu)^2
        let square = |w: &[(usize, f64)]| {
            let (mean, variance) = solved.contrast(w);
            variance + mean * mean
        };
        let mut retained = CoordinateSet::EMPTY;
        for _ in 0..4 {
            let (mut error, mut everything) = (0.0, 0.0);
            expectation(catalog, &scene, |share, phi| {
                let omitted: Vec<_> = phi.iter().copied().filter(|(i, _)| !retained.contains(*i)).collect();
                error += share * square(&omitted);
                everything += share * square(phi);
            });
            prop_assert!((spca::omitted_error(&scene.h, &retained).unwrap() - error).abs() < 1e-11);
            prop_assert!((spca::gain(&scene.h, &retained).unwrap() - (everything - error)).abs() < 1e-11);
            // 2 z.H.1 - z.H.z
            let z = DVector::from_fn(d, |i, _| if retained.contains(i) { 1.0 } else { 0.0 });
            let ones = DVector::from_element(d, 1.0);
            let printed = 2.0 * z.dot(&(&scene.h * &ones)) - z.dot(&(&scene.h * &z));
            prop_assert!((spca::gain(&scene.h, &retained).unwrap() - printed).abs() < 1e-11);
            (0..d).filter(|_| random.below(3) == 0).for_each(|i| retained.insert(i));
        }
    }
}

#[test]
fn the_default_policy_survives_any_temperature() {
    let policy = Policy::<f32>::new(&AGENT, Settings::PAPER).unwrap();
    let context = Context::new(&AGENT, Some(0), &[0.9, 0.1, 0.9, 0.9]).unwrap();
    let request = Prototype { context, weight: 1.0, feasible: Feasible::all(&AGENT) };
    let mut g = DMatrix::zeros(254, 254);
    let style = |index: usize| AGENT.block_ranges(2).flatten().nth(index).unwrap();
    spca::feature_covariance_into(&policy, &[request], 0.0, &mut g).unwrap();
    assert!((0..6).all(|index| (g[(style(index), style(index))] - 1.0 / 6.0).abs() < 1e-12));
    spca::feature_covariance_into(&policy, &[request], 1e6, &mut g).unwrap();
    assert!(g.iter().all(|entry| entry.is_finite()));
    // At risk 0.9 the reference wants confirmation; at zero temperature nothing else is left.
    assert!((g[(style(5), style(5))] - 1.0).abs() < 1e-12 && g[(style(0), style(0))] == 0.0);
}

#[test]
fn every_bad_prototype_and_shape_has_its_own_error() {
    let policy = Policy::<f64>::new(&TAU2, Settings::PAPER).unwrap();
    let good = Prototype {
        context: Context::new(&TAU2, None, &[]).unwrap(),
        weight: 1.0,
        feasible: Feasible::all(&TAU2),
    };
    let mut out = DMatrix::from_element(29, 29, 7.0);
    let mut reject = |prototypes: &[Prototype], beta: f64| {
        let error = spca::feature_covariance_into(&policy, prototypes, beta, &mut out).unwrap_err();
        assert!(out.iter().all(|entry| *entry == 7.0));
        error
    };
    assert_eq!(reject(&[], 1.0), SpcaError::WeightSum);
    assert_eq!(reject(&[Prototype { weight: 0.5, ..good }], 1.0), SpcaError::WeightSum);
    assert_eq!(reject(&[good, Prototype { weight: 2e-6, ..good }], 1.0), SpcaError::WeightSum);
    for weight in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
        let zero = Prototype { weight: 0.0, ..good };
        assert_eq!(reject(&[zero, Prototype { weight, ..good }], 1.0), SpcaError::Weight { prototype: 1 });
    }
    for beta in [-1.0, 1e7, f64::NAN, f64::INFINITY] {
        assert_eq!(reject(&[good], beta), SpcaError::InverseTemperature);
    }
    let foreign = Prototype { context: Context::new(&AGENT, None, &[0.0; 4]).unwrap(), ..good };
    assert_eq!(reject(&[foreign], 1.0), SpcaError::ForeignPrototype { prototype: 0 });
    let foreign = Prototype { feasible: Feasible::all(&RUBRIC), ..good };
    assert_eq!(reject(&[foreign], 1.0), SpcaError::ForeignPrototype { prototype: 0 });

    let shape = Err(SpcaError::Shape { expected: 29 });
    let mut wide = DMatrix::<f64>::zeros(29, 30);
    assert_eq!(spca::feature_covariance_into(&policy, &[good], 1.0, &mut wide), shape);
    assert_eq!(spca::weigh(&mut wide, &DMatrix::<f64>::zeros(29, 29)), shape);
    assert_eq!(spca::omitted_error(&wide, &CoordinateSet::EMPTY).map(|_| ()), shape);
    assert_eq!(spca::gain(&wide, &CoordinateSet::EMPTY).map(|_| ()), shape);
    let posterior = Posterior::<f64, Vec<f64>>::from_storage(vec![0.0; TAU2.state_len()]);
    let mut scratch = Workspace::from_storage(vec![0.0; TAU2.workspace_len()]);
    let vacant = spca::second_moment_into(&posterior, &mut scratch, &mut [0.0; 29], &mut wide);
    assert_eq!(vacant, Err(SpcaError::Posterior(PosteriorError::OutputLength { expected: 0 })));
}

/// Rules of a random program.
struct Rules {
    keep: u128,
    forbid: u128,
    pairs: Vec<(usize, usize)>,
}

impl Rules {
    fn random(random: &mut Random, blocks: usize) -> Self {
        let mut set = |chance| {
            (0..blocks).filter(|_| random.below(chance) == 0).fold(0, |set, block| set | 1_u128 << block)
        };
        let (keep, forbid) = (set(8), set(8));
        let count = random.below(4);
        Self {
            keep,
            forbid,
            pairs: (0..count).map(|_| (random.below(blocks), random.below(blocks))).collect(),
        }
    }

    fn apply<'p>(&self, program: Program<'p>) -> Program<'p> {
        let (keep, forbid) = (BlockSet::from_bits(self.keep), BlockSet::from_bits(self.forbid));
        let program = program.keep(keep).unwrap().forbid(forbid).unwrap();
        self.pairs.iter().fold(program, |program, &(parent, child)| program.before(parent, child).unwrap())
    }

    fn admit(&self, kept: u128) -> bool {
        let has = |block: usize| kept >> block & 1 == 1;
        kept & self.keep == self.keep
            && kept & self.forbid == 0
            && self.pairs.iter().all(|&(parent, child)| !has(child) || has(parent))
    }
}

/// The errors of all masks of a matrix, row after row.
fn all_errors(blocks: usize, b: &[f64]) -> Vec<f64> {
    let error = |kept: usize| {
        let omitted: Vec<usize> = (0..blocks).filter(|block| kept >> block & 1 == 0).collect();
        omitted.iter().map(|g| omitted.iter().map(|h| b[g * blocks + h]).sum::<f64>()).sum()
    };
    (0..1 << blocks).map(error).collect()
}

/// Every budget by looking at every mask; of equals the one that keeps the earliest blocks.
fn compare(sizes: &[u16], b: &[f64], errors: &[f64], rules: &Rules) -> Result<(), TestCaseError> {
    let blocks = sizes.len();
    let total: usize = sizes.iter().map(|size| usize::from(*size)).sum();
    let equal = 1e-11 * b.iter().map(|entry| entry.abs()).sum::<f64>();
    let mut admitted = vec![Vec::new(); total + 1];
    for kept in (0..1_usize << blocks).filter(|kept| rules.admit(*kept as u128)) {
        let size: usize =
            (0..blocks).filter(|block| kept >> block & 1 == 1).map(|block| usize::from(sizes[block])).sum();
        admitted[size].push(kept);
    }
    let program = rules.apply(Program::new(sizes, b).unwrap());
    let mut scratch = vec![u64::MAX; program.scratch_len()];
    for (k, masks) in admitted.iter().enumerate() {
        let found = program.solve(k, &mut scratch);
        let Some(least) = masks.iter().map(|&kept| errors[kept]).min_by(f64::total_cmp) else {
            prop_assert_eq!(found, Err(ProgramError::Infeasible { k }));
            continue;
        };
        let found = found.unwrap();
        let kept = usize::try_from(found.retained.bits()).unwrap();
        prop_assert!(masks.contains(&kept));
        prop_assert!(
            found.error <= least + equal && (found.error - errors[kept]).abs() <= equal && found.gap == 0.0
        );
        prop_assert_eq!(found.error, program.error(found.retained));
        // Nothing lies between equal and different: the tie-break is then settled exactly.
        let near = |&&kept: &&usize| errors[kept] <= least + equal;
        if !masks.iter().any(|&kept| errors[kept] > least + equal && errors[kept] < least + 4.0 * equal) {
            let first = masks.iter().filter(near).max_by_key(|kept| kept.reverse_bits()).unwrap();
            prop_assert_eq!(kept, *first, "of {} equals at k = {}", masks.iter().filter(near).count(), k);
        }
    }
    prop_assert_eq!(program.solve(total + 1, &mut scratch), Err(ProgramError::Infeasible { k: total + 1 }));
    Ok(())
}

/// The relevance of a catalog's blocks in a scene.
fn block_relevance(catalog: &'static Catalog<'static>, scene: &Scene) -> (Vec<u16>, Vec<f64>) {
    let blocks = catalog.definition().blocks.len();
    let mut b = vec![0.0; blocks * blocks];
    reduce(catalog, &scene.h, &mut b).unwrap();
    let size = |block: usize| u16::try_from(catalog.dimension_of(BlockSet::from_bits(1 << block))).unwrap();
    ((0..blocks).map(size).collect(), b)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10, failure_persistence: None, ..ProptestConfig::default() })]

    /// The block optimum of every catalog at every budget is the best of all masks. E does not change by
    /// reducing.
    #[test]
    fn the_best_blocks_of_every_catalog(seed: u64) {
        let mut random = Random(seed);
        for catalog in CATALOGS {
            let scene = scene(&mut random, catalog, 12);
            let (sizes, b) = block_relevance(catalog, &scene);
            let errors = all_errors(sizes.len(), &b);
            for _ in 0..8 {
                let blocks = BlockSet::from_bits(u128::from(random.bits()) & catalog.all_blocks().bits());
                let direct = spca::omitted_error(&scene.h, &CoordinateSet::of_blocks(catalog, blocks)).unwrap();
                prop_assert!((errors[usize::try_from(blocks.bits()).unwrap()] - direct).abs() < 1e-11);
            }
            let natural = Rules { keep: 0, forbid: 0, pairs: main_effects(catalog).collect() };
            compare(&sizes, &b, &errors, &natural)?;
            for _ in 0..2 {
                compare(&sizes, &b, &errors, &Rules::random(&mut random, sizes.len()))?;
            }
            // The two ways to set up a program are one.
            let k = usize::from(sizes[0]);
            let mut scratch = vec![0; 64];
            let of = Program::of(catalog, &b).unwrap().main_effects_first(catalog).unwrap().solve(k, &mut scratch);
            prop_assert_eq!(of, natural.apply(Program::new(&sizes, &b).unwrap()).solve(k, &mut scratch));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    /// Small whole numbers make many exact ties. The bound must hold with negative entries and without
    /// definiteness, too.
    #[test]
    fn ties_and_cancelling_blocks_are_settled_exactly(seed: u64, blocks in 1_usize..9, spread in 0_i32..4) {
        let mut random = Random(seed);
        let mut b = vec![0.0; blocks * blocks];
        for g in 0..blocks {
            for h in 0..=g {
                let entry = random.below(2 * spread as usize + 1) as f64 - f64::from(spread);
                (b[g * blocks + h], b[h * blocks + g]) = (entry, entry);
            }
        }
        let sizes: Vec<u16> = (0..blocks).map(|_| 1 + random.below(3) as u16).collect();
        compare(&sizes, &b, &all_errors(blocks, &b), &Rules::random(&mut random, blocks))?;
    }

    /// With n looks at most the gap is honest: the least error is not below error - gap.
    #[test]
    fn a_short_search_says_how_far_off_it_may_be(seed: u64, nodes in 1_u64..40) {
        let mut random = Random(seed);
        let (sizes, b) = definite(&mut random, 9);
        let errors = all_errors(9, &b);
        let program = Program::new(&sizes, &b).unwrap();
        let mut scratch = vec![0; program.scratch_len()];
        let total: usize = sizes.iter().map(|size| usize::from(*size)).sum();
        let k = random.below(total + 1);
        let Ok(exact) = program.solve(k, &mut scratch) else { return Ok(()) };
        match program.search(k, nodes, &mut scratch) {
            Ok(found) => {
                prop_assert!(found.gap >= 0.0 && exact.error <= found.error + 1e-9 && exact.error >= found.error - found.gap - 1e-9);
                prop_assert!((errors[usize::try_from(found.retained.bits()).unwrap()] - found.error).abs() < 1e-9);
            }
            Err(error) => prop_assert_eq!(error, ProgramError::NodeLimit),
        }
    }

    /// Single coordinates are blocks of one: where both can be asked they choose the same, to the bit.
    #[test]
    fn a_mask_of_few_coordinates_is_a_choice_of_small_blocks(seed: u64, which in 0_usize..2) {
        let (mut random, catalog) = (Random(seed), [&TAU2, &RUBRIC][which]);
        let d = catalog.dimension();
        let h = scene(&mut random, catalog, 6).h;
        let small = Program::new(&vec![1; d], h.as_slice()).unwrap();
        let mut kept = CoordinateSet::EMPTY;
        kept.insert(random.below(d));
        let bits = kept.iter().fold(0, |bits, coordinate| bits | 1_u128 << coordinate);
        let small = small.keep(BlockSet::from_bits(bits)).unwrap();
        let wide = CoordinateProgram::of_coordinates(catalog, h.as_slice()).unwrap().keep_coordinates(&kept).unwrap();
        let mut scratch = vec![0; small.scratch_len()];
        prop_assert_eq!(wide.scratch_len(), small.scratch_len());
        for k in [0, 1, d / 3, d - 1, d, d + 1] {
            match (small.search(k, 300, &mut scratch), wide.search(k, 300, &mut scratch)) {
                (Ok(small), Ok(wide)) => {
                    prop_assert!(small.retained.iter().eq(wide.retained.iter()));
                    prop_assert_eq!((small.error, small.gap), (wide.error, wide.gap));
                    let mut mask = CoordinateSet::EMPTY;
                    wide.retained.iter().for_each(|coordinate| mask.insert(coordinate));
                    let error = spca::omitted_error(&h, &mask).unwrap();
                    prop_assert!(mask.len() == k && (error - wide.error).abs() < 1e-9 * (1.0 + error.abs()));
                }
                (small, wide) => prop_assert_eq!(small.map(|_| ()), wide.map(|_| ())),
            }
        }
    }

    /// The near-oracle theorem: choosing to within epsilon by estimates with errors of at most xi costs 2 xi
    /// + epsilon.
    #[test]
    fn selection_by_estimates_is_near_oracle(seed: u64, noise in 0.0_f64..0.5, nodes in 3_u64..60) {
        let mut random = Random(seed);
        let (sizes, b) = definite(&mut random, 8);
        let mut estimated = b.clone();
        for g in 0..8 {
            for h in 0..=g {
                let off = noise * random.signed();
                estimated[g * 8 + h] += off;
                if g != h {
                    estimated[h * 8 + g] += off;
                }
            }
        }
        let (errors, estimates) = (all_errors(8, &b), all_errors(8, &estimated));
        let xi = errors.iter().zip(&estimates).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        let program = Program::new(&sizes, &estimated).unwrap();
        let mut scratch = vec![0; program.scratch_len()];
        let total: usize = sizes.iter().map(|size| usize::from(*size)).sum();
        for k in 0..=total {
            let Ok(found) = program.search(k, nodes, &mut scratch) else { continue };
            let size = |kept: usize| (0..8).filter(|block| kept >> block & 1 == 1).map(|block| usize::from(sizes[block])).sum();
            let oracle = (0..256).filter(|&kept| k == size(kept)).map(|kept| errors[kept]).min_by(f64::total_cmp).unwrap();
            let chosen = errors[usize::try_from(found.retained.bits()).unwrap()];
            prop_assert!(chosen <= oracle + 2.0 * xi + found.gap + 1e-9);
        }
    }

    /// A diagonal H keeps the k largest scores.
    #[test]
    fn a_diagonal_keeps_the_top_k(seed: u64, blocks in 1_usize..129, share in 0.0_f64..1.0) {
        let mut random = Random(seed);
        let mut b = vec![0.0; blocks * blocks];
        (0..blocks).for_each(|block| b[block * blocks + block] = random.unit());
        let k = (share * (blocks + 1) as f64) as usize;
        let program = Program::new(&vec![1; blocks], &b).unwrap();
        let found = program.search(k, 4 * blocks as u64, &mut vec![0; program.scratch_len()]).unwrap();
        let mut ranked: Vec<usize> = (0..blocks).collect();
        ranked.sort_by(|&g, &h| b[h * blocks + h].total_cmp(&b[g * blocks + g]));
        let top = ranked[..k].iter().fold(0, |set, block| set | 1_u128 << block);
        prop_assert_eq!((found.retained.bits(), found.gap), (top, 0.0));
    }

    /// Identities of the budget formulas.
    #[test]
    fn crossover_and_sample_efficiency(
        rate in prop_oneof![Just(Rate::Ucb), Just(Rate::Thompson)],
        k in 1_usize..254, error in 1e-6_f64..1.0, rho in 1.0_f64..4.0, constant in 0.1_f64..10.0, epsilon in 0.01_f64..2.0,
    ) {
        let (d, b) = (254, bias(rho, error));
        prop_assert!((b * b - 4.0 * rho * error).abs() < 1e-12 * b * b);
        let bound = |k: usize, b: f64, n: f64| n * b + constant * rate.of(k) * n.sqrt();
        let n = rate.crossover(constant, k, d, b);
        prop_assert!((bound(k, b, n) - bound(d, 0.0, n)).abs() < 1e-9 * bound(d, 0.0, n));
        prop_assert!(bound(k, b, 0.9 * n) < bound(d, 0.0, 0.9 * n) && bound(k, b, 1.1 * n) > bound(d, 0.0, 1.1 * n));
        let (sparse, full) = (rate.rounds(constant, k, b, epsilon), rate.rounds(constant, d, 0.0, epsilon));
        let condition = b - epsilon * (1.0 - rate.of(k) / rate.of(d));
        prop_assume!(condition.abs() > 1e-9);
        prop_assert_eq!(rate.saves_samples(k, d, b, epsilon), condition < 0.0);
        prop_assert_eq!(rate.saves_samples(k, d, b, epsilon), sparse < full);
        if sparse.is_finite() {
            prop_assert!((bound(k, b, sparse) / sparse - epsilon).abs() < 1e-9 * epsilon);
        }
    }
}

/// A random positive semidefinite matrix with entries of either sign, and sizes.
fn definite(random: &mut Random, blocks: usize) -> (Vec<u16>, Vec<f64>) {
    let root = DMatrix::from_fn(blocks, blocks, |_, _| random.normal());
    let sizes = (0..blocks).map(|_| 1 + random.below(4) as u16).collect();
    (sizes, (&root * root.transpose()).iter().copied().collect())
}

#[test]
fn budgets_at_the_borders() {
    for rate in [Rate::Ucb, Rate::Thompson] {
        assert_eq!(rate.crossover(1.0, 10, 254, 0.0), f64::INFINITY);
        assert_eq!(rate.crossover(1.0, 254, 254, 0.0), 0.0);
        assert_eq!(rate.crossover(1.0, 254, 254, 0.3), 0.0);
        assert_eq!(rate.rounds(1.0, 10, 0.2, 0.2), f64::INFINITY);
        assert!(rate.saves_samples(253, 254, 0.0, 0.1) && !rate.saves_samples(254, 254, 0.0, 0.1));
        assert!(!rate.saves_samples(1, 254, f64::NAN, 0.1) && rate.crossover(1.0, 1, 254, f64::NAN).is_nan());
    }
    assert_eq!((Rate::Ucb.of(9), Rate::Thompson.of(9)), (9.0, 27.0));
    assert_eq!((bias(2.0, 0.0), bias(2.0, -1e-18), bias(4.0, 1.0)), (0.0, 0.0, 4.0));
    assert!(bias(1.0, f64::NAN).is_nan());
}

/// 128 blocks: a program whose sizes cannot add up is refused at once, a hard one stops where it is told to.
#[test]
fn the_largest_programs() {
    let mut random = Random(9);
    let (_, b) = definite(&mut random, 128);
    let even = Program::new(&[2; 128], &b).unwrap();
    let mut scratch = vec![0; even.scratch_len()];
    assert_eq!(even.solve(101, &mut scratch), Err(ProgramError::Infeasible { k: 101 }));
    assert_eq!(even.search(100, 0, &mut scratch), Err(ProgramError::NodeLimit));
    let found = even.search(100, 400, &mut scratch).unwrap();
    assert!(found.retained.len() == 50 && found.gap > 0.0 && found.gap.is_finite());
    let everything = even.solve(256, &mut scratch).unwrap();
    assert_eq!((everything.retained, everything.error), (BlockSet::FULL, 0.0));
    let wide = Program::new(&[64; 128], &b).unwrap();
    let found = wide.search(64 * 127, 400, &mut vec![0; wide.scratch_len()]).unwrap();
    let cheapest = (0..128).min_by(|&g, &h| b[g * 129].total_cmp(&b[h * 129])).unwrap();
    assert_eq!((found.retained.bits(), found.gap), (!(1_u128 << cheapest), 0.0));
}

#[test]
fn parents_are_the_main_effects() {
    let pairs = |catalog| main_effects(catalog).collect::<Vec<_>>();
    assert_eq!(pairs(&TAU2), [(0, 3), (1, 3), (0, 4), (2, 4), (1, 5), (2, 5)]);
    assert_eq!(pairs(&RUBRIC), []);
    let needs = [(2, 3), (1, 4), (0, 5), (1, 6), (2, 7), (2, 8)];
    assert_eq!(pairs(&AGENT), [&needs[..], &[(0, 9), (1, 9), (0, 10), (2, 10), (1, 11), (2, 11)]].concat());
    // There is no main effect of c.
    assert_eq!(pairs(&MIXED), [(3, 0), (1, 5), (3, 5), (1, 6), (3, 6), (1, 7), (1, 8)]);
}

#[test]
fn every_bad_program_has_its_own_error() {
    let reject = |sizes: &[u16], b: &[f64]| Program::new(sizes, b).unwrap_err();
    assert_eq!(reject(&[], &[]), ProgramError::BlockCount);
    assert_eq!(reject(&[1; 129], &vec![0.0; 129 * 129]), ProgramError::BlockCount);
    assert_eq!(reject(&[1, 0], &[0.0; 4]), ProgramError::Sizes);
    assert_eq!(reject(&[8192, 1], &[0.0; 4]), ProgramError::Sizes);
    assert_eq!(reject(&[1, 1], &[0.0; 3]), ProgramError::Shape { expected: 2 });
    for bad in [f64::NAN, f64::INFINITY, f64::MAX] {
        assert_eq!(reject(&[1, 1], &[bad; 4]), ProgramError::NotFinite);
    }
    let program = || Program::new(&[1, 1], &[1.0, 0.0, 0.0, 1.0]).unwrap();
    assert_eq!(program().keep(BlockSet::from_bits(4)).unwrap_err(), ProgramError::UnknownBlock);
    assert_eq!(program().forbid(BlockSet::FULL).unwrap_err(), ProgramError::UnknownBlock);
    assert_eq!(program().before(2, 0).unwrap_err(), ProgramError::UnknownBlock);
    assert_eq!(program().before(0, usize::MAX).unwrap_err(), ProgramError::UnknownBlock);
    assert_eq!(program().main_effects_first(&AGENT).unwrap_err(), ProgramError::UnknownBlock);
    assert_eq!(program().solve(1, &mut [0; 2]), Err(ProgramError::ScratchLength { needed: 3 }));
    let one = BlockSet::from_bits(1);
    let torn = program().keep(one).unwrap().forbid(one).unwrap();
    assert_eq!(torn.solve(1, &mut [0; 3]), Err(ProgramError::Infeasible { k: 1 }));
    let orphan = program().keep(one).unwrap().forbid(BlockSet::from_bits(2)).unwrap().before(1, 0).unwrap();
    assert_eq!(orphan.solve(1, &mut [0; 3]), Err(ProgramError::Infeasible { k: 1 }));
    let mut b = [0.0; 36];
    assert_eq!(
        reduce(&TAU2, &DMatrix::<f64>::zeros(29, 28), &mut b),
        Err(ProgramError::Shape { expected: 29 })
    );
    assert_eq!(
        reduce(&TAU2, &DMatrix::<f64>::zeros(29, 29), &mut b[1..]),
        Err(ProgramError::Shape { expected: 6 })
    );
}

/// 254 coordinates, nearly twice the 128 blocks of a dictionary, in pairs that cancel each other. Leaving out
/// both loses v, leaving out one loses more than 10. So the best mask keeps the pairs with the largest v. A
/// short search finds it or reports its gap.
#[test]
fn masks_of_more_than_128_coordinates() {
    let d = AGENT.dimension();
    let mut h = vec![0.0; d * d];
    let v = |pair: usize| ((pair * 37) % 127) as f64 / 127.0;
    for pair in 0..d / 2 {
        let (i, j) = (2 * pair, 2 * pair + 1);
        (h[i * d + i], h[j * d + j]) = (10.0 + v(pair), 10.0 + v(pair));
        (h[i * d + j], h[j * d + i]) = (-10.0 - v(pair) / 2.0, -10.0 - v(pair) / 2.0);
    }
    let program = CoordinateProgram::of_coordinates(&AGENT, &h).unwrap();
    let k = 40;
    let found = program.search(k, 300, &mut vec![0; program.scratch_len()]).unwrap();
    let mut lost: Vec<f64> = (0..d / 2).map(v).collect();
    lost.sort_by(f64::total_cmp);
    let best: f64 = lost[..(d - k) / 2].iter().sum();
    assert!(found.retained.len() == k && found.retained.iter().any(|coordinate| coordinate >= 128));
    assert!(
        (found.error - best).abs() < 1e-9 && found.error - found.gap <= best + 1e-9,
        "{} {} {best}",
        found.error,
        found.gap
    );

    // The ten largest of a diagonal, exactly; a coordinate that must be kept takes the place of one of them.
    let mut diagonal = vec![0.0; d * d];
    (0..d).for_each(|i| diagonal[i * d + i] = ((i * 97) % d) as f64);
    let program = CoordinateProgram::of_coordinates(&AGENT, &diagonal).unwrap();
    let mut scratch = vec![0; program.scratch_len()];
    let found = program.solve(10, &mut scratch).unwrap();
    assert!(found.gap == 0.0 && found.retained.iter().all(|i| (i * 97) % d >= d - 10));
    let mut kept = CoordinateSet::EMPTY;
    kept.insert(0);
    let found = program.clone().keep_coordinates(&kept).unwrap().solve(10, &mut scratch).unwrap();
    assert!(found.retained.contains(0) && found.retained.iter().skip(1).all(|i| (i * 97) % d >= d - 9));
    kept.insert(d);
    assert_eq!(program.keep_coordinates(&kept).unwrap_err(), ProgramError::UnknownBlock);
    assert_eq!(
        CoordinateProgram::of_coordinates(&AGENT, &h[1..]).unwrap_err(),
        ProgramError::Shape { expected: d }
    );
}
