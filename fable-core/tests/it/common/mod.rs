//! Two dense `f64` oracles, [`Dense`] and [`Sums`], and catalogs that use every kind of block.

pub mod declared;
pub mod onboarded;

use fable_core::catalog::{Block, Catalog, Component, Condition, Contrast, Definition, Part, Term, Value};
use fable_core::host::HostLearner;
use fable_core::journal::Command;
use fable_core::posterior::dense::Dense;
use fable_core::{Action, Context, HostUser, Policy, Scalar, User};
use nalgebra::{Cholesky, DMatrix, DVector, Dyn, SMatrix, SVector};

/// Every kind of block, a null value in the middle, terms within and across components: 2 x 3 x 4 actions and
/// 3 tasks.
pub const MIXED: Catalog<'static> = Catalog::new(Definition {
    name: "mixed",
    components: &[
        Component::new("a", &[Value::new("a0", "A zero.", 0.0), Value::new("a1", "", 0.3)]),
        Component::new(
            "b",
            &[Value::new("b0", "", 0.1), Value::new("b1", "B one.", 0.0), Value::new("b2", "B two.", 0.2)],
        )
        .with_null(1),
        Component::new(
            "c",
            &[
                Value::new("c0", "C zero.", 0.0),
                Value::new("c1", "", 0.05),
                Value::new("c2", "", 0.0),
                Value::new("c3", "C three.", 0.4),
            ],
        )
        .with_null(2),
    ],
    tasks: &["x", "y", "z"],
    signals: &["s", "t"],
    blocks: &[
        Block::pair(1, 2).without_null(),
        Block::main(0),
        Block::main(2).per_task(),
        Block::main(1).without_null(),
        Block::main(2).scaled_by(1).without_null(),
        Block::pair(0, 1).per_task().scaled_by(0),
        Block::complete(),
        Block::product(&[0, 2]).scaled_by(1),
        Block::main(0).per_task().scaled_by(1),
    ],
    terms: &[
        Term::new(0.3, Condition::Above(0, 0.5), &[Part::new(0, &[1]), Part::new(2, &[0, 3])]),
        Term::new(-0.2, Condition::Tasks(&[0, 2]), &[Part::new(1, &[0, 2])]),
        Term::new(0.15, Condition::Always, &[Part::new(2, &[1])]),
        Term::new(0.05, Condition::AtLeast(1, 0.25), &[Part::new(0, &[0]), Part::new(1, &[1])]),
    ],
    contrasts: &[
        Contrast::new("c0_over_c2_in_y", &[0, 1, 0], &[0, 1, 2]).when(Some(1), &[0.5, 0.25]),
        Contrast::new("a1_over_a0", &[1, 0, 3], &[0, 0, 3])
            .when(None, &[1.0, 0.0])
            .says("A is one.", "A is zero."),
    ],
    rules: &[],
});

/// The smallest product, for looking at all of its masks: 2 x 2 x 2 actions.
pub const CUBE: Catalog<'static> = Catalog::new(Definition {
    name: "cube",
    components: &[
        Component::new("a", &[Value::new("0", "", 0.0), Value::new("1", "", 0.0)]),
        Component::new("b", &[Value::new("0", "", 0.0), Value::new("1", "", 0.0)]),
        Component::new("c", &[Value::new("0", "", 0.0), Value::new("1", "", 0.0)]),
    ],
    tasks: &["x", "y"],
    blocks: &[Block::main(0), Block::main(1), Block::main(2), Block::main(0).per_task(), Block::pair(1, 2)],
    ..Definition::EMPTY
});

/// SplitMix64, so that the tests do not lean on the generator under test.
pub struct Random(pub u64);

impl Random {
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, limit: usize) -> usize {
        (self.bits() % limit as u64) as usize
    }

    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub fn signed(&mut self) -> f64 {
        2.0 * self.unit() - 1.0
    }

    /// Box and Muller.
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        radius * (core::f64::consts::TAU * self.unit()).cos()
    }

    pub fn action(&mut self, catalog: &Catalog<'_>) -> Action {
        Action(u16::try_from(self.below(catalog.actions())).unwrap())
    }

    pub fn context(&mut self, catalog: &Catalog<'_>) -> Context {
        let tasks = catalog.definition().tasks.len();
        let task = if tasks == 0 || self.below(8) == 0 { None } else { Some(self.below(tasks)) };
        let signals: Vec<f32> =
            catalog.definition().signals.iter().map(|_| (self.below(257) as f32) / 256.0).collect();
        Context::new(catalog, task, &signals).unwrap()
    }
}

/// A prior with mean 0 for the oracle of one catalog.
pub fn isotropic<const D: usize>(precision: f64) -> Dense<f64, D> {
    Dense::new(&SVector::zeros(), &(SMatrix::identity() * precision)).unwrap()
}

/// A direction from its entries other than 0.
pub fn vector<const D: usize>(direction: &[(usize, f64)]) -> SVector<f64, D> {
    let mut vector = SVector::zeros();
    for &(index, value) in direction {
        vector[index] += value;
    }
    vector
}

/// Lambda and h as the sums of Equations 2, 3, 5 and 6, factored anew for each question.
///
/// For tests that also change Lambda and h in other ways, or learn 100,000 times. `dense.rs` compares
/// [`Dense`] with sums.
#[derive(Clone)]
pub struct Sums {
    pub lambda: DMatrix<f64>,
    pub h: DVector<f64>,
}

impl Sums {
    pub fn isotropic(dimension: usize, precision: f64) -> Self {
        Self { lambda: DMatrix::identity(dimension, dimension) * precision, h: DVector::zeros(dimension) }
    }

    pub fn diagonal(mean: &[f64], precision: &[f64]) -> Self {
        let lambda = DMatrix::from_diagonal(&DVector::from_column_slice(precision));
        let h = &lambda * DVector::from_column_slice(mean);
        Self { lambda, h }
    }

    /// Lambda += v v^T / variance, h += v y / variance.
    pub fn observe(&mut self, direction: &[(usize, f64)], response: f64, variance: f64) {
        for &(i, a) in direction {
            for &(j, b) in direction {
                self.lambda[(i, j)] += a * b / variance;
            }
            self.h[i] += a * response / variance;
        }
    }

    pub fn solved(&self) -> Solved {
        let factor = Cholesky::new(self.lambda.clone()).expect("positive definite");
        let mean = factor.solve(&self.h);
        Solved { factor, mean }
    }
}

/// Mean and covariance of the oracle at one moment.
pub struct Solved {
    pub factor: Cholesky<f64, Dyn>,
    pub mean: DVector<f64>,
}

impl Solved {
    pub fn covariance(&self) -> DMatrix<f64> {
        self.factor.inverse()
    }

    pub fn log_det(&self) -> f64 {
        2.0 * self.factor.l_dirty().diagonal().iter().map(|pivot| pivot.ln()).sum::<f64>()
    }

    /// w.mu and w.Sigma.w
    pub fn contrast(&self, direction: &[(usize, f64)]) -> (f64, f64) {
        let mut w = DVector::zeros(self.mean.len());
        for &(index, value) in direction {
            w[index] += value;
        }
        (w.dot(&self.mean), w.dot(&self.factor.solve(&w)))
    }
}

pub fn features(catalog: &Catalog<'_>, context: &Context, action: Action) -> Vec<(usize, f64)> {
    catalog.features(context, action).map(|(index, value)| (index, f64::from(value))).collect()
}

/// phi(c, a) spelled out from the coordinate names alone, independently of the placing of the blocks.
pub fn features_by_name(catalog: &Catalog<'_>, context: &Context, action: Action) -> Vec<(usize, f64)> {
    let definition = catalog.definition();
    let values = catalog.values(action).unwrap();
    let mut features = Vec::new();
    for index in 0..catalog.dimension() {
        let name = catalog.coordinate_name(index).unwrap().to_string();
        let mut feature = 1.0;
        for factor in name.split('*') {
            feature *= match factor.split_once('=') {
                Some(("task", task)) => {
                    f64::from(context.task().is_some_and(|found| definition.tasks[found] == task))
                }
                Some((component, value)) => {
                    let component = catalog.component(component).unwrap();
                    f64::from(catalog.value(component, value) == Some(values[component]))
                }
                None => f64::from(context.signal(catalog.signal(factor).unwrap()).unwrap()),
            };
        }
        if feature != 0.0 {
            features.push((index, feature));
        }
    }
    features
}

pub fn convert<T: Scalar>(direction: &[(usize, f64)]) -> impl Iterator<Item = (usize, T)> {
    direction.iter().map(|&(index, value)| (index, T::from_f64(value)))
}

pub fn difference(plus: &[(usize, f64)], minus: &[(usize, f64)]) -> Vec<(usize, f64)> {
    plus.iter().copied().chain(minus.iter().map(|&(index, value)| (index, -value))).collect()
}

/// A new user by her hash.
pub fn start<'p, T: Scalar, const R: usize>(policy: &Policy<'p, T>, user: u64) -> HostUser<'p, T, R> {
    let mut learner = HostLearner::for_policy(policy);
    learner.start(policy, user).unwrap();
    HostUser::from_learner(policy, learner).unwrap()
}

/// Every bit of a user that can be seen from outside.
pub fn bits<T: Scalar, const R: usize>(ana: &HostUser<'_, T, R>) -> Vec<u64> {
    let counters = [
        u64::from(ana.state().rounds()),
        u64::from(ana.state().observations()),
        u64::from(ana.state().incarnation()),
        ana.state().user(),
    ];
    let posterior = ana.learner().posterior();
    let packed = posterior.packed().iter().map(|value| value.bits());
    counters.into_iter().chain([posterior.log_det_ratio().to_bits()]).chain(packed).collect()
}

/// Learns a reward for an action chosen elsewhere, by the first event of the command. Later events are left
/// out.
pub fn observe_alone<T: Scalar>(user: &mut User<'_, T>, context: &Context, action: Action, reward: f64) {
    user.next(&mut Command::observe(context, action, reward)).unwrap().unwrap().apply();
}
