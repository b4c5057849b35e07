//! The sample threshold and the crossover of Appendix C's budgets. The test writes out the bound of the
//! average regret and searches it, without the solved forms of the crate.

use crate::common::Random;
use fable_core::analysis::budget::{Rate, bias};
use nalgebra::{DMatrix, DVector};

/// The bound after n rounds with k coordinates: n b + C g(k) sqrt(n). k^(3/2) is the root of a product.
fn bound(rate: Rate, constant: f64, k: usize, bias: f64, n: f64) -> f64 {
    let k = k as f64;
    let growth = match rate {
        Rate::Ucb => k,
        Rate::Thompson => (k * k * k).sqrt(),
    };
    n * bias + constant * growth * n.sqrt()
}

/// The smallest n, up to the last bits, for which something holds that stays true from there on.
fn first(holds: impl Fn(f64) -> bool) -> f64 {
    let (mut no, mut yes) = (0.0, 1e300);
    if !holds(yes) {
        return f64::INFINITY;
    }
    for _ in 0..2_000 {
        // Halves the logarithm while the ends are far apart.
        let middle: f64 = if no > 0.0 && yes / no > 4.0 {
            (no * yes).sqrt()
        } else if no == 0.0 {
            yes / 1e6
        } else {
            f64::midpoint(no, yes)
        };
        if middle <= no || middle >= yes || middle == 0.0 {
            break;
        }
        if holds(middle) { yes = middle } else { no = middle }
    }
    yes
}

struct Case {
    rate: Rate,
    constant: f64,
    k: usize,
    d: usize,
    bias: f64,
    epsilon: f64,
}

fn cases() -> Vec<Case> {
    let mut random = Random(0xb4d9);
    let mut cases = Vec::new();
    for round in 0..400 {
        let rate = if round % 2 == 0 { Rate::Ucb } else { Rate::Thompson };
        let d = 2 + random.below(300);
        let epsilon = 0.01 + random.unit();
        // A third of the biases are around the threshold, some are above epsilon.
        let bias = epsilon * 1.2 * random.unit();
        cases.push(Case {
            rate,
            constant: 0.01 + 3.0 * random.unit(),
            k: 1 + random.below(d),
            d,
            bias,
            epsilon,
        });
    }
    cases
}

#[test]
fn rounds_are_the_first_with_an_average_regret_of_epsilon() {
    let mut never = 0;
    for Case { rate, constant, k, bias, epsilon, .. } in cases() {
        let searched = first(|n| bound(rate, constant, k, bias, n) / n <= epsilon);
        let found = rate.rounds(constant, k, bias, epsilon);
        never += u32::from(found.is_infinite());
        let same = found == searched || (found / searched - 1.0).abs() < 1e-6;
        assert!(
            same,
            "{rate:?}, C = {constant}, k = {k}, b = {bias}, epsilon = {epsilon}: {found}, searched {searched}"
        );
    }
    assert!((30..150).contains(&never), "{never}");
}

#[test]
fn samples_are_saved_where_the_search_ends_sooner() {
    let mut saved = [0; 2];
    for Case { rate, constant, k, d, bias, epsilon } in cases() {
        let small = first(|n| bound(rate, constant, k, bias, n) / n <= epsilon);
        let full = first(|n| bound(rate, constant, d, 0.0, n) / n <= epsilon);
        if (small / full - 1.0).abs() < 1e-6 {
            continue; // as good as equal: rounding decides
        }
        let found = rate.saves_samples(k, d, bias, epsilon);
        assert_eq!(
            found,
            small < full,
            "{rate:?}, k = {k} of {d}, b = {bias}, epsilon = {epsilon}: {small} {full}"
        );
        saved[usize::from(found)] += 1;
    }
    assert!(saved.iter().all(|count| *count > 50), "{saved:?}");
}

#[test]
fn the_crossover_is_where_the_bounds_meet() {
    for Case { rate, constant, k, d, bias, .. } in cases() {
        let larger = |n: f64| bound(rate, constant, k, bias, n) >= bound(rate, constant, d, 0.0, n);
        let found = rate.crossover(constant, k, d, bias);
        if k == d {
            assert_eq!(found, 0.0);
            continue;
        }
        let searched = first(larger);
        assert!(
            (found / searched - 1.0).abs() < 1e-6,
            "{rate:?}, C = {constant}, {k} of {d}, b = {bias}: {found} {searched}"
        );
        assert_eq!(rate.crossover(constant, k, d, 0.0), f64::INFINITY);
    }
}

/// The bias bounds the cost of a round whose score lacks the omitted part. Features and preferences are
/// dense, and expectations are sums over a few of them. Acting by the remaining scores costs no more on
/// average, and the error is that of the omitted part.
#[test]
fn the_bias_bounds_what_acting_by_fewer_coordinates_costs() {
    let mut random = Random(0xb1a5);
    let mut tight = 0.0_f64;
    for _ in 0..200 {
        let d = 6;
        let kept = 1 + random.below(5);
        let actions = 4;
        let people = 12;
        let features = DMatrix::from_fn(actions, d, |_, _| random.signed());
        let thetas: Vec<DVector<f64>> =
            (0..people).map(|_| DVector::from_fn(d, |_, _| random.signed())).collect();
        let mask = DMatrix::from_fn(d, d, |row, column| f64::from(u8::from(row == column && row < kept)));
        let omitted = |theta: &DVector<f64>| &features * (theta - &mask * theta);
        // rho E is at least the mean square of the omitted part of whichever action is taken.
        let error = thetas.iter().map(|theta| omitted(theta).amax().powi(2)).sum::<f64>() / f64::from(people);
        let cost = thetas.iter().map(|theta| {
            let (scores, left) = (&features * theta, &features * &mask * theta);
            scores.max() - scores[left.imax()]
        });
        let cost = cost.sum::<f64>() / f64::from(people);
        for rho in [1.0, 4.0] {
            assert!(cost <= bias(rho, error / rho) + 1e-12, "{cost} {error}");
        }
        tight = tight.max(cost / bias(1.0, error));
    }
    assert!(tight > 0.2, "a bound that is never near is not a test: {tight}");
}
