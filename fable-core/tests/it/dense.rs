//! The dense posterior itself, against an explicit inverse of summed matrices.

use crate::common::Random;
use fable_core::posterior::dense::{Dense, NotGaussian};
use nalgebra::{RealField, SMatrix, SVector};
use proptest::prelude::*;

const D: usize = 7;
type Vector = SVector<f64, D>;
type Matrix = SMatrix<f64, D, D>;

/// Direction, response and precision.
type Observation = (Vector, f64, f64);

/// Lambda and h.
#[derive(Clone)]
struct Sums(Matrix, Vector);

impl Sums {
    /// A prior with correlated coordinates: its mean, its precision and its sums.
    fn prior(random: &mut Random) -> Prior {
        let root = Matrix::from_fn(|_, _| random.signed());
        let precision = root * root.transpose() + Matrix::identity() * 0.5;
        let precision = (precision + precision.transpose()) / 2.0;
        let mean = vector(random);
        Prior { mean, precision, sums: Self(precision, precision * mean) }
    }

    fn observe(&mut self, (direction, response, precision): &Observation) {
        self.0 += direction * direction.transpose() * *precision;
        self.1 += direction * *response * *precision;
    }

    fn covariance(&self) -> Matrix {
        self.0.try_inverse().unwrap()
    }
}

struct Prior {
    mean: Vector,
    precision: Matrix,
    sums: Sums,
}

fn vector(random: &mut Random) -> Vector {
    Vector::from_fn(|_, _| random.signed())
}

/// Observations with precisions from 0.01 to 100, every third of them in two coordinates alone.
fn observations(random: &mut Random, count: usize) -> Vec<Observation> {
    let one = |index| {
        let mut direction = vector(random);
        if index % 3 == 0 {
            direction.rows_mut(2, D - 2).fill(0.0);
        }
        (direction, random.signed(), 10_f64.powf(2.0 * random.signed()))
    };
    (0..count).map(one).collect()
}

/// Every number that a posterior keeps; `Debug` writes the shortest text of which the same bits are read.
fn bits<T: RealField + Copy, const N: usize>(dense: &Dense<T, N>) -> String {
    format!("{dense:?}")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// Equations 2 to 6 with Sigma as an explicit inverse. A draw is linear in its normals and has covariance
    /// nu^2 Sigma.
    #[test]
    fn the_dense_posterior_is_an_explicit_inverse(seed: u64, count in 0_usize..40) {
        let mut random = Random(seed);
        let Prior { mean, precision, mut sums } = Sums::prior(&mut random);
        let mut dense = Dense::new(&mean, &precision).unwrap();
        for observation in &observations(&mut random, count) {
            let &(direction, response, precision) = observation;
            dense.observe(&direction, response, precision).unwrap();
            sums.observe(observation);
        }
        let (sigma, mean) = (sums.covariance(), sums.covariance() * sums.1);
        prop_assert!((dense.mean() - mean).amax() < 1e-9);
        prop_assert!((dense.factor().inverse() - sigma).amax() < 1e-9);
        prop_assert!((dense.factor().ln_determinant() - sums.0.determinant().ln()).abs() < 1e-9);
        let direction = vector(&mut random);
        prop_assert!((dense.variance(&direction) - direction.dot(&(sigma * direction))).abs() < 1e-9);

        let nu = 0.1 + random.unit();
        prop_assert_eq!(dense.draw(nu, &Vector::zeros()), dense.mean());
        let unit = Matrix::identity();
        let spread: Vec<_> = unit.column_iter().map(|unit| dense.draw(nu, &unit.into()) - dense.mean()).collect();
        let spread = Matrix::from_columns(&spread);
        prop_assert!((spread * spread.transpose() - sigma * nu * nu).amax() < 1e-9);
        let normals = vector(&mut random);
        prop_assert!((dense.draw(nu, &normals) - dense.mean() - spread * normals).amax() < 1e-9);
    }

    #[test]
    fn the_order_of_dense_observations_does_not_matter(seed: u64, count in 1_usize..40) {
        let mut random = Random(seed);
        let Prior { mean, precision, .. } = Sums::prior(&mut random);
        let mut all = observations(&mut random, count);
        let learn = |all: &[Observation]| {
            let mut dense = Dense::new(&mean, &precision).unwrap();
            for (direction, response, precision) in all {
                dense.observe(direction, *response, *precision).unwrap();
            }
            dense
        };
        let forward = learn(&all);
        for index in (1..count).rev() {
            all.swap(index, random.below(index + 1));
        }
        let shuffled = learn(&all);
        prop_assert!((forward.mean() - shuffled.mean()).amax() < 1e-10);
        prop_assert!((forward.factor().inverse() - shuffled.factor().inverse()).amax() < 1e-10);
    }

    /// A negative precision takes an observation back; one that was never made cannot be taken back.
    #[test]
    fn a_dense_observation_can_be_taken_back(seed: u64, count in 1_usize..20) {
        let mut random = Random(seed);
        let Prior { mean, precision, .. } = Sums::prior(&mut random);
        let mut dense = Dense::new(&mean, &precision).unwrap();
        for (direction, response, precision) in observations(&mut random, count) {
            let before = dense.clone();
            dense.observe(&direction, response, precision).unwrap();
            let mut back = dense.clone();
            back.observe(&direction, response, -precision).unwrap();
            prop_assert!((back.mean() - before.mean()).amax() < 1e-8);
            prop_assert!((back.factor().inverse() - before.factor().inverse()).amax() < 1e-8);
            // Lambda - w w^T / t is positive definite only for t above w^T Sigma w.
            let (w, state) = (vector(&mut random), bits(&dense));
            let refused = dense.observe(&w, response, -1.01 / dense.variance(&w));
            prop_assert_eq!(refused, Err(NotGaussian));
            prop_assert_eq!(bits(&dense), state);
        }
    }
}

fn refused_observations_change_nothing<T: RealField + Copy>(largest: T) {
    let number = nalgebra::convert::<f64, T>;
    let two = |first, second| SVector::<T, 2>::new(first, second);
    let (nan, infinite) = (largest * number(2.0) - largest * number(2.0), largest * number(2.0));
    let mut dense =
        Dense::<T, 2>::new(&two(number(0.5), number(-0.5)), &(SMatrix::identity() * number(3.0))).unwrap();
    dense.observe(&two(number(1.0), number(2.0)), number(0.3), number(4.0)).unwrap();
    let before = bits(&dense);
    let unit = two(number(1.0), number(0.0));
    for bad in [nan, infinite, -infinite] {
        assert_eq!(dense.observe(&two(number(1.0), bad), number(1.0), number(1.0)), Err(NotGaussian));
        assert_eq!(dense.observe(&two(bad, number(0.0)), number(1.0), number(1.0)), Err(NotGaussian));
        assert_eq!(dense.observe(&unit, bad, number(1.0)), Err(NotGaussian));
        assert_eq!(dense.observe(&unit, number(1.0), bad), Err(NotGaussian));
        assert_eq!(dense.observe(&unit, bad, number(0.0)), Err(NotGaussian));
    }
    // Finite numbers of which Lambda or h would not be finite.
    assert_eq!(dense.observe(&(unit * largest), number(1.0), number(1.0)), Err(NotGaussian));
    assert_eq!(dense.observe(&(unit * number(10.0)), largest, number(1.0)), Err(NotGaussian));
    assert_eq!(dense.observe(&unit, largest, number(10.0)), Err(NotGaussian));
    assert_eq!(dense.observe(&unit, number(1.0), number(-1e3)), Err(NotGaussian));
    assert_eq!(bits(&dense), before);
    // A statement of precision 0 is omitted.
    dense.observe(&unit, number(1.0), number(0.0)).unwrap();
    assert_eq!(bits(&dense), before);
}

#[test]
fn refused_dense_observations_change_nothing() {
    refused_observations_change_nothing(f64::MAX);
    refused_observations_change_nothing(f32::MAX);
}

#[test]
fn dense_priors_are_finite_symmetric_and_positive() {
    let start = |mean: [f64; 2], [a, b, c, d]: [f64; 4]| {
        Dense::new(&SVector::from(mean), &SMatrix::<f64, 2, 2>::new(a, b, c, d)).map(|dense| dense.mean())
    };
    let mean = start([0.25, -4.0], [2.0, 1.0, 1.0, 2.0]).unwrap();
    assert!((mean - SVector::from([0.25, -4.0])).amax() < 1e-15);
    for (mean, precision) in [
        ([0.0, 0.0], [0.0, 0.0, 0.0, 1.0]),
        ([0.0, 0.0], [1.0, 0.0, 0.0, -1.0]),
        ([0.0, 0.0], [1.0, 2.0, 2.0, 1.0]),
        ([0.0, 0.0], [1.0, 1.0, 1.0, 1.0]),
        ([0.0, 0.0], [2.0, 1.0, -1.0, 2.0]),
        ([0.0, 0.0], [2.0, f64::NAN, 1.0, 2.0]),
        ([0.0, 0.0], [2.0, 1.0, 1.0, f64::INFINITY]),
        ([f64::NAN, 0.0], [1.0, 0.0, 0.0, 1.0]),
        ([0.0, f64::INFINITY], [1.0, 0.0, 0.0, 1.0]),
        ([1e308, 0.0], [1e10, 0.0, 0.0, 1.0]),
    ] {
        assert_eq!(start(mean, precision), Err(NotGaussian), "{mean:?} {precision:?}");
    }
    // A posterior of no coordinate has nothing to refuse.
    let mut none = Dense::<f32, 0>::new(&SVector::zeros(), &SMatrix::zeros()).unwrap();
    none.observe(&SVector::zeros(), 1.0, 1.0).unwrap();
    assert_eq!(none.variance(&SVector::zeros()), 0.0);
}
