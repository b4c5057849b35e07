//! The population prior against dense formulas, against populations that are known, and on its way to a host and a device.

use fable_core::catalog::TAU2;
use fable_core::catalog::{Block, Catalog, Component, Definition, Value};
use fable_core::host::HostLearner;
use fable_core::journal::Observation;
use fable_core::posterior::{Factor, Layout, Prior};
use fable_core::record::RecordError;
use fable_core::{Action, Context, Exploration, HostUser, Policy, Settings, Workspace, user_hash};
use fable_std::prior::choose::{behind, best, calibrated, clearly_better, foretell, surprise};
use fable_std::prior::{
    Evidence, FitError, Gaussian, Kept, MIN_USERS, Options, Shrinkage, expect, fit, fit_telling,
    log_likelihood,
};
use fable_std::prior_file::{PriorFileError, address, read};
use fable_std::simulate::Random;
use nalgebra::{DMatrix, DVector};
use std::num::NonZero;

/// Three leaves of three coordinates and a root of six.
const SMALL: Catalog<'static> = Catalog::new(Definition {
    name: "small",
    components: &[
        Component::new(
            "a",
            &[Value::new("a0", "", 0.0), Value::new("a1", "", 0.0), Value::new("a2", "", 0.0)],
        ),
        Component::new(
            "b",
            &[Value::new("b0", "", 0.0), Value::new("b1", "", 0.0), Value::new("b2", "", 0.0)],
        ),
    ],
    tasks: &["x", "y", "z"],
    blocks: &[Block::main(0), Block::main(1), Block::main(0).per_task()],
    ..Definition::EMPTY
});

fn normal(random: &mut Random) -> f64 {
    (-2.0 * (1.0 - random.unit()).ln()).sqrt() * (std::f64::consts::TAU * random.unit()).cos()
}

/// L and D of a packed Gaussian, spelled out, and z.
fn spelled_out(gaussian: &Gaussian) -> (DMatrix<f64>, DVector<f64>, DVector<f64>) {
    let arrow = gaussian.layout();
    let (d, leaves) = (arrow.dimension(), arrow.leaves() * arrow.leaf());
    let mut l = DMatrix::identity(d, d);
    let (mut z, mut rest) = (DVector::zeros(d), gaussian.packed()[d..].iter());
    for j in 0..d {
        let own_leaf = if j < leaves { (j / arrow.leaf() + 1) * arrow.leaf() } else { 0 };
        for i in j + 1..d {
            if i < own_leaf || i >= leaves {
                l[(i, j)] = *rest.next().unwrap();
            }
        }
        z[j] = *rest.next().unwrap();
    }
    assert!(rest.next().is_none());
    (l, DVector::from_iterator(d, gaussian.packed()[..d].iter().map(|e| 1.0 / e)), z)
}

fn precision(gaussian: &Gaussian) -> DMatrix<f64> {
    let (l, d, _) = spelled_out(gaussian);
    &l * DMatrix::from_diagonal(&d) * l.transpose()
}

fn mean(gaussian: &Gaussian) -> DVector<f64> {
    let (l, _, z) = spelled_out(gaussian);
    l.transpose().try_inverse().unwrap() * z
}

fn random_covariance(d: usize, random: &mut Random) -> DMatrix<f64> {
    let a = DMatrix::from_fn(d, d, |_, _| normal(random));
    (&a * a.transpose()) / d as f64 + DMatrix::identity(d, d) * 0.1
}

/// The sum of the cliques' inverses less the separators', spelled out.
fn by_cliques(arrow: Layout, covariance: &DMatrix<f64>) -> DMatrix<f64> {
    let (d, leaves) = (arrow.dimension(), arrow.leaves() * arrow.leaf());
    let mut sum = DMatrix::zeros(d, d);
    let mut add = |members: &[usize], factor: f64| {
        let block =
            DMatrix::from_fn(members.len(), members.len(), |i, j| covariance[(members[i], members[j])]);
        let inverse = block.try_inverse().unwrap();
        for (i, row) in members.iter().enumerate() {
            for (j, column) in members.iter().enumerate() {
                sum[(*row, *column)] += factor * inverse[(i, j)];
            }
        }
    };
    let root: Vec<usize> = (leaves..d).collect();
    for leaf in 0..arrow.leaves() {
        let own = leaf * arrow.leaf()..(leaf + 1) * arrow.leaf();
        add(&own.chain(leaves..d).collect::<Vec<_>>(), 1.0);
    }
    add(&root, if arrow.leaves() > 0 { 1.0 - arrow.leaves() as f64 } else { 1.0 });
    sum
}

fn near(one: &DMatrix<f64>, other: &DMatrix<f64>, tolerance: f64) {
    let worst = (one - other).abs().max() / other.abs().max();
    assert!(worst <= tolerance, "{worst:e} in\n{one:.4}{other:.4}");
}

#[test]
fn the_arrow_that_agrees_with_a_covariance_is_cliques_less_separators() {
    let mut random = Random::new([1, 0, 0, 0]);
    for (leaves, leaf, root) in [(3, 2, 4), (1, 3, 2), (0, 0, 5), (4, 1, 1), (2, 3, 0)] {
        let arrow = Layout::new(leaves, leaf, root).unwrap();
        let d = arrow.dimension();
        let covariance = random_covariance(d, &mut random);
        let m: Vec<f64> = (0..d).map(|_| normal(&mut random)).collect();
        let gaussian = Gaussian::of_moments(arrow, &m, |i, j| covariance[(i, j)]).unwrap();
        let p = precision(&gaussian);
        near(&p, &by_cliques(arrow, &covariance), 1e-11);
        // What two leaves have to do with each other is exactly nothing, and on the cliques the covariance is the given one.
        let inverse = p.clone().try_inverse().unwrap();
        let place = |i: usize| arrow.locate(i).unwrap().0;
        for i in 0..d {
            for j in 0..d {
                match (place(i), place(j)) {
                    (Some(one), Some(other)) if one != other => assert_eq!(p[(i, j)], 0.0),
                    _ => assert!((inverse[(i, j)] - covariance[(i, j)]).abs() < 1e-10),
                }
            }
        }
        let m = DVector::from_vec(m);
        assert!((mean(&gaussian) - &m).abs().max() < 1e-11);
        assert!((DVector::from_vec(gaussian.mean()) - &m).abs().max() < 1e-11);
        for (j, deviation) in gaussian.deviations().into_iter().enumerate() {
            assert!((deviation * deviation / inverse[(j, j)] - 1.0).abs() < 1e-11);
        }
        assert!((gaussian.log_det() - p.determinant().ln()).abs() < 1e-9);
        assert!((gaussian.trace() / p.trace() - 1.0).abs() < 1e-12);
        let x: Vec<f64> = (0..d).map(|_| normal(&mut random)).collect();
        let off = DVector::from_vec(x.clone()) - &m;
        assert!((gaussian.distance(&x) - (off.transpose() * &p * &off)[0]).abs() < 1e-9);
    }
    let arrow = Layout::new(0, 0, 2).unwrap();
    assert_eq!(Gaussian::of_moments(arrow, &[0.0; 2], |_, _| 1.0), None);
    assert_eq!(Gaussian::of_moments(arrow, &[0.0; 2], |_, _| f64::NAN), None);
    assert_eq!(Gaussian::of_moments(arrow, &[0.0], |i, j| f64::from(u8::from(i == j))), None);
}

/// Users whose thetas are drawn from a Gaussian, and what they said in some rounds of any actions.
fn drawn(
    catalog: &Catalog<'_>,
    gaussian: &Gaussian,
    users: usize,
    rounds: usize,
    seed: u64,
) -> Vec<Evidence> {
    let policy = Policy::<f64>::new(catalog, Settings::default()).unwrap();
    let root = precision(gaussian).try_inverse().unwrap().cholesky().unwrap().l();
    let m = mean(gaussian);
    let tasks = catalog.definition().tasks.len();
    let user = |user: usize| {
        let mut random = Random::new([seed, user as u64, 0, 0]);
        let theta = &m + &root * DVector::from_fn(m.len(), |_, _| normal(&mut random));
        let mut evidence = Evidence::default();
        for _ in 0..rounds {
            let task = Some(random.below(tasks)).filter(|_| tasks > 0);
            let context = Context::new(catalog, task, &[]).unwrap();
            let action = Action(u16::try_from(random.below(catalog.actions())).unwrap());
            let liked: f64 =
                policy.features(&context, action).map(|(i, value)| theta[i] * f64::from(value)).sum();
            let reward = liked + 0.5 * normal(&mut random);
            evidence.reward(&policy, &Observation { context, action, baseline: 0.0, reward, weight: 1.0 });
        }
        evidence
    };
    (0..users).map(user).collect()
}

fn everyone(users: &[Evidence]) -> Vec<&Evidence> {
    users.iter().collect()
}

const ONE: NonZero<usize> = NonZero::<usize>::MIN;

/// A population with preferences in common and correlations, within and beyond a leaf.
fn population(catalog: &Catalog<'_>, seed: u64) -> Gaussian {
    let (d, mut random) = (catalog.dimension(), Random::new([seed, 0, 0, 9]));
    let covariance = random_covariance(d, &mut random) * 0.15;
    let m: Vec<f64> = (0..d).map(|_| 0.4 * normal(&mut random)).collect();
    Gaussian::of_moments(catalog.layout(), &m, |i, j| covariance[(i, j)]).unwrap()
}

/// E and M against the formulas as one would write them down with dense matrices: ln p of a user's rewards as one Gaussian, the
/// posterior by inverses, the precision by cliques and separators.
#[test]
fn one_step_is_the_dense_formulas() {
    let prior = population(&SMALL, 3);
    let users = drawn(&SMALL, &population(&SMALL, 4), 9, 7, 5);
    let shrinkage = Shrinkage { users: 3.5, variance: 0.2, of_mean: 1.5 };
    let (p, m, d, n) = (precision(&prior), mean(&prior), SMALL.dimension(), users.len() as f64);
    let covariance = p.clone().try_inverse().unwrap();
    let (mut likely, mut sum, mut square) = (0.0, DVector::zeros(d), DMatrix::zeros(d, d));
    for user in &users {
        let t = user.sightings().len();
        let mut phi = DMatrix::zeros(t, d);
        for (row, sighting) in user.sightings().iter().enumerate() {
            sighting.direction.iter().for_each(|(column, value)| phi[(row, *column)] = *value);
        }
        let y = DVector::from_iterator(t, user.sightings().iter().map(|sighting| sighting.response));
        let marginal = &phi * &covariance * phi.transpose() + DMatrix::identity(t, t) * 0.25;
        let off = &y - &phi * &m;
        let spread = (off.transpose() * marginal.clone().try_inverse().unwrap() * &off)[0];
        likely -= 0.5 * (t as f64 * std::f64::consts::TAU.ln() + marginal.determinant().ln() + spread);
        let sigma = (&p + phi.transpose() * &phi / 0.25).try_inverse().unwrap();
        let mu = &sigma * (&p * &m + phi.transpose() * &y / 0.25);
        square += &sigma + &mu * mu.transpose();
        sum += mu;
    }
    let next_mean = &sum / (n + 1.5);
    let target = DMatrix::identity(d, d) * (3.5 * 0.2);
    let c = (&square - (&sum * next_mean.transpose()) - (&next_mean * sum.transpose())
        + (&next_mean * next_mean.transpose()) * (n + 1.5)
        + target)
        / (n + 3.5);

    let moments = expect(&prior, &everyone(&users), ONE).unwrap();
    assert!((moments.log_likelihood - likely).abs() < 1e-9, "{} {likely}", moments.log_likelihood);
    assert!((log_likelihood(&prior, &everyone(&users)).unwrap() - likely).abs() < 1e-9);
    let next = moments.maximize(SMALL.layout(), &shrinkage).unwrap();
    near(&precision(&next), &by_cliques(SMALL.layout(), &c), 1e-9);
    assert!((mean(&next) - next_mean).abs().max() < 1e-11);
    let penalty = 1.75 * (p.determinant().ln() - 0.2 * p.trace()) - 0.75 * (m.transpose() * &p * &m)[0];
    assert!((shrinkage.penalty(&prior) - penalty).abs() < 1e-9);
}

#[test]
fn every_step_makes_what_was_observed_more_likely() {
    let users = drawn(&SMALL, &population(&SMALL, 6), 40, 12, 7);
    for shrinkage in [Shrinkage::NONE, Shrinkage { users: 8.0, variance: 0.1, of_mean: 1.0 }] {
        let mut prior = Gaussian::isotropic(SMALL.layout(), 16.0);
        let mut last = f64::NEG_INFINITY;
        for step in 0..30 {
            let moments = expect(&prior, &everyone(&users), ONE).unwrap();
            let now = moments.log_likelihood + shrinkage.penalty(&prior);
            assert!(now > last - 1e-9 * now.abs(), "step {step} of {shrinkage:?}: {now} after {last}");
            last = now;
            prior = moments.maximize(SMALL.layout(), &shrinkage).unwrap();
        }
    }
    let policy = Policy::new(&SMALL, Settings::default()).unwrap();
    let found = fit(&policy, &users, &Options::default()).unwrap();
    assert!(found.objective.len() > 2 && found.objective.is_sorted(), "{:?}", found.objective);
    assert!(found.log_likelihood[1] > found.log_likelihood[0]);
}

/// Many users with few rounds each: mean and covariance come out, in the directions that rewards can see. The spread of posterior
/// means under the default prior does not.
#[test]
fn a_known_population_is_found_again() {
    let truth = population(&SMALL, 8);
    let users = drawn(&SMALL, &truth, 1500, 12, 9);
    let policy = Policy::new(&SMALL, Settings::default()).unwrap();
    let options = Options { shrinkage: Some(2.0), steps: 150, ..Options::default() };
    let found = fit(&policy, &users, &options).unwrap();
    assert_eq!((found.users, found.observations), (1500, 18_000));
    // Scores are what rewards see: a main effect can be traded against another one.
    let mut phi = Vec::new();
    for task in 0..3 {
        let context = Context::new(&SMALL, Some(task), &[]).unwrap();
        for action in SMALL.all_actions().iter() {
            let mut row = DVector::zeros(SMALL.dimension());
            policy.features(&context, action).for_each(|(i, value)| row[i] = f64::from(value));
            phi.push(row.transpose());
        }
    }
    let phi = DMatrix::from_rows(&phi);
    let scores = |gaussian: &Gaussian| {
        let covariance = &phi * precision(gaussian).try_inverse().unwrap() * phi.transpose();
        (&phi * mean(gaussian), covariance)
    };
    let ((mean_found, found_scores), (mean_true, true_scores)) = (scores(&found.prior), scores(&truth));
    let off = (&mean_found - &mean_true).abs().max();
    assert!(off < 0.08, "{off}");
    let relative = (&found_scores - &true_scores).norm() / true_scores.norm();
    assert!(relative < 0.15, "{relative}");
    // What it is not: the spread of posterior means, here under the default prior.
    let default = Gaussian::isotropic(SMALL.layout(), 16.0);
    let naive = spread_of_means(&default, &users);
    let naive = (&phi * naive * phi.transpose()).trace() / true_scores.trace();
    assert!(naive < 0.8, "{naive}");
    // Users who were never seen are more likely under it than under any isotropic prior, and less than under the truth.
    let unseen = drawn(&SMALL, &truth, 300, 12, 10);
    let likely = |gaussian: &Gaussian| log_likelihood(gaussian, &everyone(&unseen)).unwrap();
    let best =
        [1.0, 2.0, 4.0, 8.0, 16.0].map(|precision| likely(&Gaussian::isotropic(SMALL.layout(), precision)));
    let best = best.into_iter().fold(f64::NEG_INFINITY, f64::max);
    assert!(likely(&found.prior) > best + 100.0 && likely(&found.prior) < likely(&truth) + 1.0);
    assert!(likely(&truth) - likely(&found.prior) < 0.25 * (likely(&truth) - best));
}

fn spread_of_means(prior: &Gaussian, users: &[Evidence]) -> DMatrix<f64> {
    let arrow = prior.layout();
    let mut workspace = Workspace::from_storage(vec![0.0; arrow.active_len()]);
    let means: Vec<DVector<f64>> = users
        .iter()
        .map(|user| {
            let mut posterior =
                fable_core::posterior::Posterior::<f64, _>::from_storage(vec![0.0; arrow.packed_len()]);
            posterior.start(arrow, &Prior::Isotropic, 16.0).unwrap();
            for sighting in user.sightings() {
                let direction = sighting.direction.iter().copied();
                posterior.update(&mut workspace, direction, sighting.response, sighting.variance).unwrap();
            }
            let mut mean = vec![0.0; arrow.dimension()];
            posterior.mean(&mut workspace, &mut mean).unwrap();
            DVector::from_vec(mean)
        })
        .collect();
    let centre = means.iter().sum::<DVector<f64>>() / means.len() as f64;
    means.iter().map(|mean| (mean - &centre) * (mean - &centre).transpose()).sum::<DMatrix<f64>>()
        / means.len() as f64
}

#[test]
fn few_users_are_shrunk_and_threads_change_nothing() {
    let truth = population(&SMALL, 11);
    let (users, unseen) = (drawn(&SMALL, &truth, 25, 15, 12), drawn(&SMALL, &truth, 200, 15, 13));
    let policy = Policy::new(&SMALL, Settings::default()).unwrap();
    let options = |shrinkage, threads| Options {
        shrinkage,
        threads: NonZero::new(threads).unwrap(),
        ..Options::default()
    };
    let chosen = fit(&policy, &users, &options(None, 3)).unwrap();
    assert_eq!(chosen, fit(&policy, &users, &options(None, 1)).unwrap());
    let score = |prior: &Gaussian| {
        let told = foretell(prior, &everyone(&unseen), ONE).unwrap();
        calibrated(&told, 1.0).iter().sum::<f64>()
    };
    let hardly = fit(&policy, &users, &options(Some(0.05), 1)).unwrap();
    assert!(
        score(&chosen.prior) > score(&hardly.prior) + 10.0,
        "{} {}",
        score(&chosen.prior),
        score(&hardly.prior)
    );
    let isotropic = score(&Gaussian::isotropic(SMALL.layout(), 16.0));
    assert!(score(&chosen.prior) > isotropic + 10.0, "{} {isotropic}", score(&chosen.prior));
}

#[test]
fn what_cannot_be_fitted_is_told() {
    let users = drawn(&SMALL, &population(&SMALL, 6), MIN_USERS, 5, 1);
    let policy = Policy::new(&SMALL, Settings::default()).unwrap();
    let mut few = users[1..].to_vec();
    few.push(Evidence::default()); // says nothing, and does not count
    let error = fit(&policy, &few, &Options::default()).unwrap_err();
    assert_eq!(error, FitError::TooFewUsers { found: MIN_USERS - 1 });
    assert!(
        error.to_string().ends_with("at least 5 users with something learned, and there are 4"),
        "{error}"
    );
    for bad in [0.0, -1.0, f64::NAN, 1e10] {
        let options = Options { shrinkage: Some(bad), ..Options::default() };
        assert_eq!(fit(&policy, &users, &options).unwrap_err(), FitError::Shrinkage);
    }
    fit(&policy, &users, &Options::default()).unwrap();
    let foreign = drawn(&TAU2, &population(&TAU2, 6), MIN_USERS, 5, 1);
    assert!(matches!(fit(&policy, &foreign, &Options::default()), Err(FitError::Evidence(_))));
}

/// The errors and variances of a user's rewards, each foretold from those before it by dense formulas.
fn dense_errors(prior: &Gaussian, share: f64, user: &Evidence) -> Vec<(f64, f64, f64)> {
    let (mut p, d) = (precision(prior), prior.layout().dimension());
    let mut h = &p * mean(prior) * share;
    let mut told = Vec::new();
    for sighting in user.sightings() {
        let mut phi = DVector::zeros(d);
        sighting.direction.iter().for_each(|(column, value)| phi[*column] = *value);
        let sigma = p.clone().try_inverse().unwrap();
        let x = (phi.transpose() * &sigma * &h)[0];
        told.push((x, sighting.response, (phi.transpose() * &sigma * &phi)[0] + sighting.variance));
        p += &phi * phi.transpose() / sighting.variance;
        h += &phi * (sighting.response / sighting.variance);
    }
    told
}

/// For every share of the mean, from two passes: least squares of rewards on what was foretold, and errors against variances.
#[test]
fn what_is_foretold_is_the_dense_formulas() {
    let prior = population(&SMALL, 3);
    let users = drawn(&SMALL, &population(&SMALL, 4), 40, 7, 5);
    let told = foretell(&prior, &everyone(&users), ONE).unwrap();
    assert_eq!(told, foretell(&prior, &everyone(&users), NonZero::new(3).unwrap()).unwrap());
    for share in [0.0, 0.3, 0.75, 1.0] {
        let dense: Vec<Vec<(f64, f64, f64)>> =
            users.iter().map(|user| dense_errors(&prior, share, user)).collect();
        let all: Vec<(f64, f64, f64)> = dense.iter().flatten().copied().collect();
        let expected = all.iter().map(|(x, y, v)| (y - x) * (y - x) / v).sum::<f64>() / all.len() as f64;
        assert!((surprise(&told, share) - expected).abs() < 1e-9 * expected);
        let design = DMatrix::from_fn(all.len(), 2, |row, column| if column == 0 { 1.0 } else { all[row].0 });
        let y = DVector::from_iterator(all.len(), all.iter().map(|row| row.1));
        let line = (design.transpose() * &design).try_inverse().unwrap() * design.transpose() * &y;
        assert!(line[1] > 0.0, "the oracle has no bound on the slope");
        let noise = (&y - &design * &line).norm_squared() / all.len() as f64;
        for (rows, score) in dense.iter().zip(calibrated(&told, share)) {
            let rest: f64 = rows.iter().map(|(x, y, _)| (y - line[0] - line[1] * x).powi(2)).sum();
            let expected = -0.5 * (rows.len() as f64 * noise.ln() + rest / noise);
            assert!((score - expected).abs() < 1e-8 * (1.0 + expected.abs()), "{score} {expected}");
        }
    }
    // A prior that foretells the opposite is as good as one that foretells nothing.
    let opposite = foretell(&prior.with_mean_times(-50.0), &everyone(&users), ONE).unwrap();
    let y: Vec<f64> = users.iter().flat_map(Evidence::sightings).map(|sighting| sighting.response).collect();
    let level = y.iter().sum::<f64>() / y.len() as f64;
    let spread = y.iter().map(|y| (y - level) * (y - level)).sum::<f64>() / y.len() as f64;
    let nothing = -0.5 * y.len() as f64 * (spread.ln() + 1.0);
    assert!((calibrated(&opposite, 1.0).iter().sum::<f64>() - nothing).abs() < 1e-6);
}

#[test]
fn a_fit_is_kept_by_evidence() {
    let (mean, error) = behind(&[1.0, 2.0, 3.0, 2.0], &[2.0, 2.0, 5.0, 3.0]);
    assert_eq!(mean, 1.0);
    assert!((error - (2.0_f64 / 3.0 / 4.0).sqrt()).abs() < 1e-15);
    let none = [0.0; 4];
    assert!(clearly_better(&[0.5, 0.6, 0.4, 0.5], &none), "2 nats in all");
    assert!(!clearly_better(&[0.5, 0.6, 0.4, 0.4], &none), "1.9 nats");
    assert!(!clearly_better(&[30.0, -30.0, 31.0, -29.0], &none), "2 nats that two of four are against");
    assert!(!clearly_better(&[0.001; 1000], &[0.0; 1000]), "1 nat, however certain");
    // Of equals the first, up to rounding.
    assert_eq!(best(&[vec![1.0, 2.0], vec![2.0, 1.0 + 1e-9], vec![0.0, 0.0]]), Some(0));
    assert_eq!(best(&[vec![1.0, 2.0], vec![2.0, 1.1], vec![0.0, 0.0]]), Some(1));
    assert_eq!(best(&[]), None);
}

/// People who share nothing, 20 populations of them: what is fitted foretells people nobody has seen about as well as the best
/// isotropic prior does. If they differ as much as the policy's own prior says, that mostly stays; if they differ more, a fit may
/// say so.
#[test]
fn people_who_share_nothing_are_not_hurt() {
    let policy = Policy::new(&SMALL, Settings::default()).unwrap();
    for (precision, least) in [(policy.base_precision(), 12), (4.0, 0)] {
        let truth = Gaussian::isotropic(SMALL.layout(), precision);
        let (mut isotropic, mut lost) = (0, 0.0);
        for seed in 0..20 {
            let users = drawn(&SMALL, &truth, 20, 20, 100 + seed);
            let found = fit(&policy, &users, &Options::default()).unwrap();
            isotropic += u32::from(matches!(found.kept, Kept::Isotropic { .. }));
            let unseen = drawn(&SMALL, &truth, 100, 20, 1000 + seed);
            let score = |prior: &Gaussian| {
                let told = foretell(prior, &everyone(&unseen), ONE).unwrap();
                calibrated(&told, 1.0).iter().sum::<f64>() / 100.0
            };
            let levels = [0.125, 0.5, 2.0, 8.0, 32.0, 128.0]
                .map(|level| score(&Gaussian::isotropic(SMALL.layout(), level)));
            lost += levels.into_iter().fold(f64::NEG_INFINITY, f64::max) - score(&found.prior);
        }
        assert!(isotropic >= least, "{isotropic}");
        // Nats for each person and 20 rewards; a mean of luck costs several times as much.
        assert!(lost / 20.0 < 0.3, "precision {precision}: {lost}");
    }
}

#[test]
fn noise_is_chosen_on_people_left_out() {
    let users = drawn(&SMALL, &population(&SMALL, 8), 60, 20, 21);
    // The rewards have noise of variance 0.25; the settings say otherwise.
    for wrong in [0.05, 1.0] {
        let policy = Policy::new(&SMALL, Settings { noise_variance: wrong, ..Settings::default() }).unwrap();
        let users: Vec<Evidence> =
            users.iter().map(|user| user.clone().with_noise_times(wrong / 0.25)).collect();
        let told = &mut Vec::new();
        let options = Options { choose_noise: true, ..Options::default() };
        let found = fit_telling(&policy, &users, &options, &mut |doing| told.push(doing.to_owned())).unwrap();
        assert!((0.2..0.32).contains(&found.noise_variance), "{}", found.noise_variance);
        assert!(
            told.iter().any(|doing| doing.starts_with("noise variance "))
                && told.iter().any(|doing| doing == "everyone")
        );
        assert_eq!(fit(&policy, &users, &Options::default()).unwrap().noise_variance, wrong);
    }
}

/// On a host the prior is that of a policy, and a learner that starts from it goes on as one that has loaded the snapshot and is as
/// bold: two thirds of the optimism that is set count where the policy knows the prior.
#[test]
fn a_host_loads_the_prior() {
    let users = drawn(&SMALL, &population(&SMALL, 14), 30, 10, 15);
    let policy = Policy::<f64>::new(&SMALL, Settings::default()).unwrap();
    let found = fit(&policy, &users, &Options::default()).unwrap();
    let bytes = found.snapshot(&policy, user_hash("ana")).unwrap();
    let packed = read(&policy, &bytes).unwrap();
    assert_eq!(packed, found.prior.packed());
    let mut workspace = Workspace::from_storage(vec![0.0; SMALL.workspace_len()]);
    let factor = Factor::new(SMALL.layout(), &packed, &mut workspace).unwrap();
    let informed = Policy::with_prior(&SMALL, Settings::default(), Prior::Factor(factor)).unwrap();

    let mut own = HostUser::<f64, 4>::new(&informed, "ana").unwrap();
    let mut verifier = fable_core::record::Verifier::new(&policy);
    verifier.push(&bytes).unwrap();
    let verified = verifier.finish().unwrap();
    assert_eq!((verified.rounds(), verified.capacity()), (0, 0));
    let as_bold = Settings { exploration: Exploration::Optimistic(1.0), ..Settings::default() };
    let as_bold = Policy::<f64>::new(&SMALL, as_bold).unwrap();
    let mut loaded = HostUser::<f64, 4>::restore(&as_bold, &bytes).unwrap();
    let (context, all) = (Context::new(&SMALL, Some(1), &[]).unwrap(), fable_core::Feasible::all(&SMALL));
    for round in 0..20 {
        let one = own.decide(&context, &all).unwrap();
        let other = loaded.decide(&context, &all).unwrap();
        assert_eq!(one, other);
        let reward = f64::from(round % 3) / 3.0;
        own.feedback(one.id, reward).unwrap();
        loaded.feedback(other.id, reward).unwrap();
    }
    assert_eq!(own.learner().posterior(), loaded.learner().posterior());

    // The radius that the guarantee assumes is about the isotropic prior, unless another one is stated.
    let comparison =
        fable_core::preference::Comparison { context, prefer: Action(0), over: Action(3), total: false };
    assert!(!loaded.user().assess(&comparison).unwrap().valid);
    assert!(!own.user().assess(&comparison).unwrap().valid);
    let settings = Settings { prior_radius: Some(6.0), ..Settings::default() };
    let stated = Policy::<f64>::new(&SMALL, settings).unwrap();
    let mut learner = HostLearner::<f64, 4>::for_policy(&stated);
    learner.start_from(&stated, &Prior::Factor(factor), 1).unwrap();
    let mut user = learner.bind(&stated, &mut workspace).unwrap();
    assert!(user.assess(&comparison).unwrap().valid);
    user.forget().unwrap();
    let mut base = HostLearner::<f64, 4>::for_policy(&stated);
    base.start(&stated, 1).unwrap();
    assert_eq!(learner.posterior(), base.posterior());
}

#[test]
fn what_is_no_prior_here_is_told() {
    let users = drawn(&SMALL, &population(&SMALL, 14), 8, 10, 15);
    let policy = Policy::<f64>::new(&SMALL, Settings::default()).unwrap();
    let small = Policy::<f32>::new(&SMALL, Settings::default()).unwrap();
    let found = fit(&policy, &users, &Options::default()).unwrap();
    let bytes = found.snapshot(&policy, 1).unwrap();
    assert_eq!(read(&small, &bytes), Err(PriorFileError::Record(RecordError::Scalar { found: 53 })));
    let other = Policy::<f64>::new(&TAU2, Settings::default()).unwrap();
    assert_eq!(read(&other, &bytes), Err(PriorFileError::Record(RecordError::Catalog)));
    let wrong = PriorFileError::Range(fable_core::posterior::PriorError::Length { expected: 464 });
    assert_eq!(found.snapshot(&other, 1), Err(FitError::File(wrong)));
    assert_eq!(read(&policy, &bytes[..bytes.len() - 1]), Err(PriorFileError::Record(RecordError::Truncated)));

    let there = address(&small, &bytes, user_hash("ben")).unwrap();
    let packed: Vec<f32> = read(&small, &there).unwrap();
    let rounded: Vec<f32> = found.prior.packed().iter().map(|number| *number as f32).collect();
    assert_eq!(packed, rounded);

    let mut learner = HostUser::<f64, 4>::new(&policy, "ana").unwrap();
    learner.user().observe(&Context::new(&SMALL, None, &[]).unwrap(), Action(1), 0.5).unwrap();
    assert_eq!(read(&policy, &learner.to_bytes()), Err(PriorFileError::NotAPrior));
}
