//! What the peers share: everything but the linear algebra.
//!
//! A peer keeps the dense Cholesky factor of the precision bordered by the information vector,
//!
//! ```text
//!   [ Lambda  h ]   [ L    ] [ L^T  z ]
//!   [ h^T     c ] = [ z^T  . ] [      . ]      L z = h
//! ```
//!
//! so that one rank-one update with (phi, y) does both, and theta = L^-T (z + nu n) is one triangular solve. (With h beside
//! the factor a decision needs a second solve; that is slower for every peer.) The reference scores are given, the
//! features' indices are tabulated per task, and signals are multiplied into theta once, not once per action.

use fable_core::normal::{Key, Purpose};
use fable_core::{Action, Catalog, Context, Policy, Scalar};

use crate::user::Moment;

/// Room for theta and for a place that absent features point to; a `u8` indexes it without a bounds check.
const ROOM: usize = 256;
/// Features of an action, at most: one per block.
pub const WIDTH: usize = 12;

/// The linear algebra of a peer, d coordinates and the border.
pub trait Factor<T> {
    /// The factor of a diagonal matrix with d + 1 rows.
    fn diagonal(rows: usize, value: T) -> Self;
    /// Adds `weight` (phi, y) (phi, y)^T; the vector may be overwritten.
    fn update(&mut self, vector: &mut [T], weight: T);
    /// `x` becomes L^-T (z + nu x).
    fn draw(&self, x: &mut [T], nu: T);
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
        let telling: Vec<f32> =
            (1_u8..).map(|signal| f32::from(signal) / 32.0).take(catalog.definition().signals.len()).collect();
        let mut source = vec![0; catalog.dimension()];
        let mut features = Vec::new();
        for task in 0..catalog.definition().tasks.len() {
            let context = Context::new(catalog, Some(task), &telling).expect("fits the catalog");
            let actions = (0_u16..).map(Action).take(catalog.actions());
            features.push(Vec::from_iter(actions.map(|action| {
                let mut row = [absent; WIDTH];
                for (place, (coordinate, value)) in catalog.features(&context, action).enumerate() {
                    row[place] = u8::try_from(coordinate).expect("less than the dimension");
                    let signal = telling.iter().position(|told| told.to_bits() == value.to_bits());
                    source[coordinate] = signal.map_or(0, |signal| u8::try_from(signal + 1).expect("at most 16"));
                }
                row
            })));
        }
        Self { features, source }
    }
}

/// A learner made of a peer's factor.
pub struct Peer<'p, T: Scalar, F> {
    policy: &'p Policy<'p, T>,
    tables: Tables,
    factor: F,
    round: u32,
    theta: [T; ROOM],
    vector: [T; ROOM],
}

impl<'p, T: Scalar, F: Factor<T>> Peer<'p, T, F> {
    /// A learner that knows nothing yet.
    #[must_use]
    pub fn new(policy: &'p Policy<'p, T>) -> Self {
        let precision = T::from_f64(policy.settings().base_precision);
        let factor = F::diagonal(policy.catalog().dimension() + 1, precision);
        let tables = Tables::new(policy.catalog());
        Self { policy, tables, factor, round: 0, theta: [T::ZERO; ROOM], vector: [T::ZERO; ROOM] }
    }

    /// Decides.
    #[inline]
    pub fn decide(&mut self, moment: &Moment<T>) -> Action {
        self.round += 1;
        let settings = self.policy.settings();
        let key = Key { seed: settings.seed, user: 0, incarnation: 0, round: self.round, purpose: Purpose::Decision };
        let mut stream = key.stream();
        let dimension = self.tables.source.len();
        self.theta[..dimension].iter_mut().for_each(|x| *x = T::from_f32(stream.normal()));
        self.factor.draw(&mut self.theta[..dimension], T::from_f64(settings.exploration.nu(self.round, dimension)));
        let scores = self.score(moment).enumerate();
        let (best, _) = scores.fold((0, None), |(best, highest), (action, score)| {
            if highest.is_none_or(|highest| score > highest) { (action, Some(score)) } else { (best, highest) }
        });
        Action(u16::try_from(best).unwrap_or_default())
    }

    /// Learns the reward of an action.
    #[inline]
    pub fn learn(&mut self, moment: &Moment<T>, action: Action) {
        let dimension = self.tables.source.len();
        let factors = factors(&moment.context);
        self.vector.fill(T::ZERO);
        for &coordinate in &self.tables.features[moment.context.task().unwrap_or(0)][action.index()] {
            let source = self.tables.source.get(usize::from(coordinate));
            self.vector[usize::from(coordinate)] = factors[usize::from(*source.unwrap_or(&0))];
        }
        // The border, and with it what absent features have left there.
        self.vector[dimension] = T::from_f64(moment.rewards[action.index()]) - moment.baselines[action.index()];
        let weight = T::from_f64(1.0 / self.policy.settings().noise_variance);
        self.factor.update(&mut self.vector[..=dimension], weight);
    }

    /// A round.
    #[inline]
    pub fn round(&mut self, moment: &Moment<T>) {
        let action = self.decide(moment);
        self.learn(moment, action);
    }

    /// The mean score of every action.
    pub fn scores(&mut self, moment: &Moment<T>) -> Vec<f64> {
        let dimension = self.tables.source.len();
        self.factor.draw(&mut self.theta[..dimension], T::ZERO);
        self.score(moment).map(T::to_f64).collect()
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
