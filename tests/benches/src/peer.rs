//! What the peers share: everything but the linear algebra.
//!
//! A peer updates the dense Cholesky factor L of the precision, never recomputes it. It is written in two ways:
//!
//! - plainly, with the information vector h beside L: theta = L^-T (L^-1 h + nu n) takes two triangular solves;
//! - *bordered*, with Fable's idea given to the peer: h is one more row and column of the matrix that is factored,
//!   one update with (phi, y) does both, and z = L^-1 h is then a row of the factor, so that one solve is left.
//!
//! The reference scores are given, the features' indices are tabulated per task, and signals are multiplied into theta
//! once, not once per action. Normals come from the same ziggurat. What a peer cannot know is the arrow shape.

use fable_core::posterior::{Key, Purpose};
use fable_core::{Action, Catalog, Context, Policy, Scalar};

use crate::user::Moment;

/// Room for theta and for a place that absent features point to; a `u8` indexes it without a bounds check.
const ROOM: usize = 256;
/// Features of an action, at most: one per block.
pub const WIDTH: usize = 12;

/// The linear algebra of a peer.
pub trait Factor<T> {
    /// The factor of a diagonal matrix.
    fn diagonal(rows: usize, value: T) -> Self;
    /// The factor of the matrix plus `weight` vector vector^T; the vector may be overwritten.
    fn update(&mut self, vector: &mut [T], weight: T);
    /// Solves L x = x with the first rows and columns of L, as many as `x` has.
    fn solve(&self, x: &mut [T]);
    /// Solves L^T x = x likewise.
    fn solve_transposed(&self, x: &mut [T]);
    /// A row of L.
    fn row(&self, index: usize) -> impl Iterator<Item = T>;
}

/// Where the features of every action are.
#[derive(Clone, Debug)]
pub struct Tables {
    /// Per task and action: the coordinates of the features, filled up with d.
    pub features: Vec<Vec<[u8; WIDTH]>>,
    /// Per coordinate: 0, or 1 + the signal it is scaled by.
    pub source: Vec<u8>,
}

impl Tables {
    /// Finds them out by asking for features in a context with telling signals.
    ///
    /// # Panics
    /// For a catalog without tasks, or with more than 254 coordinates or 12 blocks.
    #[must_use]
    pub fn new(catalog: &Catalog<'_>) -> Self {
        let absent = u8::try_from(catalog.dimension()).expect("at most 254 coordinates");
        let telling: Vec<f32> = (1_u8..)
            .map(|signal| f32::from(signal) / 32.0)
            .take(catalog.definition().signals.len())
            .collect();
        let mut source = vec![0; catalog.dimension()];
        let mut features = Vec::new();
        for task in 0..catalog.definition().tasks.len() {
            let context = Context::new(catalog, Some(task), &telling).expect("fits the catalog");
            let actions = (0_u16..).map(Action).take(catalog.actions());
            let rows = actions.map(|action| {
                let mut row = [absent; WIDTH];
                for (place, (coordinate, value)) in catalog.features(&context, action).enumerate() {
                    row[place] = u8::try_from(coordinate).expect("less than the dimension");
                    let signal = telling.iter().position(|told| told.to_bits() == value.to_bits());
                    source[coordinate] =
                        signal.map_or(0, |signal| u8::try_from(signal + 1).expect("at most 16"));
                }
                row
            });
            features.push(rows.collect());
        }
        Self { features, source }
    }
}

/// A learner made of a peer's factor.
pub struct Peer<'p, T: Scalar, F, const BORDERED: bool> {
    policy: &'p Policy<'p, T>,
    tables: Tables,
    factor: F,
    round: u32,
    theta: [T; ROOM],
    vector: [T; ROOM],
    /// h, unless it is the border.
    information: Vec<T>,
}

impl<'p, T: Scalar, F: Factor<T>, const BORDERED: bool> Peer<'p, T, F, BORDERED> {
    /// A learner that knows nothing yet.
    #[must_use]
    pub fn new(policy: &'p Policy<'p, T>) -> Self {
        let dimension = policy.catalog().dimension();
        Self {
            policy,
            tables: Tables::new(policy.catalog()),
            factor: F::diagonal(dimension + usize::from(BORDERED), T::from_f64(policy.base_precision())),
            round: 0,
            theta: [T::ZERO; ROOM],
            vector: [T::ZERO; ROOM],
            information: vec![T::ZERO; dimension],
        }
    }

    /// Decides.
    #[inline]
    pub fn decide(&mut self, moment: &Moment<T>) -> Action {
        self.round += 1;
        let settings = self.policy.settings();
        let key = Key {
            seed: settings.seed,
            user: 0,
            incarnation: 0,
            site: 0,
            round: self.round,
            purpose: Purpose::Decision,
        };
        let mut stream = key.stream();
        self.draw(T::from_f64(settings.exploration.nu(self.round, self.information.len())), || {
            T::from_f32(stream.normal())
        });
        let scores = self.score(moment).enumerate();
        let (best, _) = scores.fold((0, None), |(best, highest), (action, score)| {
            if highest.is_none_or(|highest| score > highest) {
                (action, Some(score))
            } else {
                (best, highest)
            }
        });
        Action(u16::try_from(best).unwrap_or_default())
    }

    /// Learns the reward of an action.
    #[inline]
    pub fn learn(&mut self, moment: &Moment<T>, action: Action) {
        let dimension = self.information.len();
        let factors = factors(&moment.context);
        self.vector.fill(T::ZERO);
        let row = &self.tables.features[moment.context.task().unwrap_or(0)][action.index()];
        for &coordinate in row {
            let source = self.tables.source.get(usize::from(coordinate));
            self.vector[usize::from(coordinate)] = factors[usize::from(*source.unwrap_or(&0))];
        }
        let response = T::from_f64(moment.rewards[action.index()]) - moment.baselines[action.index()];
        let weight = T::from_f64(1.0 / self.policy.settings().noise_variance);
        if BORDERED {
            self.vector[dimension] = response; // over what absent features have left there
            self.factor.update(&mut self.vector[..=dimension], weight);
        } else {
            for &coordinate in row {
                if let Some(information) = self.information.get_mut(usize::from(coordinate)) {
                    *information += weight * response * self.vector[usize::from(coordinate)];
                }
            }
            self.factor.update(&mut self.vector[..dimension], weight);
        }
    }

    /// A round.
    #[inline]
    pub fn round(&mut self, moment: &Moment<T>) {
        let action = self.decide(moment);
        self.learn(moment, action);
    }

    /// The mean score of every action.
    pub fn scores(&mut self, moment: &Moment<T>) -> Vec<f64> {
        self.draw(T::ZERO, || T::ZERO);
        self.score(moment).map(T::to_f64).collect()
    }

    /// theta = L^-T (L^-1 h + nu n)
    #[inline]
    fn draw(&mut self, nu: T, mut normal: impl FnMut() -> T) {
        let dimension = self.information.len();
        let theta = &mut self.theta[..dimension];
        if BORDERED {
            for (theta, z) in theta.iter_mut().zip(self.factor.row(dimension)) {
                *theta = z + nu * normal();
            }
        } else {
            theta.copy_from_slice(&self.information);
            self.factor.solve(theta);
            for theta in &mut *theta {
                *theta += nu * normal();
            }
        }
        self.factor.solve_transposed(theta);
    }

    /// The score of every action under theta, which is scaled by the signals.
    #[inline]
    fn score(&mut self, moment: &Moment<T>) -> impl Iterator<Item = T> {
        let factors = factors(&moment.context);
        for (theta, &source) in self.theta.iter_mut().zip(&self.tables.source) {
            *theta *= factors[usize::from(source)];
        }
        let theta = &self.theta;
        let rows = &self.tables.features[moment.context.task().unwrap_or(0)];
        rows.iter().zip(&moment.baselines).map(|(row, baseline)| {
            // Two sums, so that the additions do not all wait for one another.
            let (even, odd) =
                row.as_chunks::<2>().0.iter().fold((*baseline, T::ZERO), |(even, odd), &[a, b]| {
                    (even + theta[usize::from(a)], odd + theta[usize::from(b)])
                });
            even + odd
        })
    }
}

/// What coordinates are scaled by: 1, or a signal.
fn factors<T: Scalar>(context: &Context) -> [T; 17] {
    let mut factors = [T::ONE; 17];
    for (factor, signal) in factors[1..].iter_mut().zip(context.signals()) {
        *factor = T::from_f32(*signal);
    }
    factors
}
