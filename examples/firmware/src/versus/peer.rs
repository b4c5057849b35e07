//! The same round with nalgebra, without an allocator: what one would write if there were no Fable.
//!
//! The dense Cholesky factor L of the precision is updated, never recomputed ([`Cholesky::rank_one_update`]). It is written in
//! two ways, by the rows N of the factor:
//!
//! - N = d, plainly, with the information vector h beside L: theta = L^-T (L^-1 h + nu n) takes two triangular solves;
//! - N = d + 1, *bordered*, with Fable's idea given to nalgebra: h is one more row of the matrix that is factored, one update
//!   with (phi, y) does both, and L^-1 h is then a row of the factor, so that one solve is left.
//!
//! It is helped where it can be: the reference scores are given, the features' indices are tabulated per task, signals are
//! multiplied into theta once and not once per action, nothing is checked, the solves are nalgebra's unchecked ones, and
//! all sizes are constants. What it cannot know is the arrow shape. Its draws are Fable's: see [`Peer::decide`].

use super::user::{ACTIONS, Moment};
use fable_core::posterior::{Key, Purpose};
use fable_core::{Action, Catalog, Context, Policy, catalog::AGENT};
use nalgebra::{Cholesky, Const, SMatrix, SVectorView, SVectorViewMut};

/// Coordinates.
pub(crate) const D: usize = AGENT.dimension();
/// Coordinates of one task.
const LEAF: usize = AGENT.layout().leaf();
/// Coordinates of all tasks; the shared ones are after them.
const LEAVES: usize = AGENT.layout().leaves() * LEAF;
/// Room for theta and for a place that absent features point to; a `u8` indexes it without a bounds check.
const ROOM: usize = 256;
/// Features of an action, at most: one per block.
const WIDTH: usize = 12;

const _: () = assert!(D + 1 < ROOM);

/// Where the features of every action are.
#[derive(Debug)]
pub(crate) struct Tables {
    /// Per task and action: the coordinates of the features, filled up with d.
    features: [[[u8; WIDTH]; ACTIONS]; AGENT.layout().leaves()],
    /// Per coordinate: 0, or 1 + the signal it is scaled by.
    source: [u8; ROOM],
}

impl Tables {
    /// Before [`fill`](Self::fill).
    #[expect(clippy::large_stack_arrays, reason = "for a static")]
    pub(crate) const EMPTY: Self =
        Self { features: [[[D as u8; WIDTH]; ACTIONS]; AGENT.layout().leaves()], source: [0; ROOM] };

    /// Finds them out by asking for features in a context with telling signals. `None` when there is no room.
    pub(crate) fn fill(&mut self, catalog: &Catalog<'_>) -> Option<()> {
        let telling: [f32; 16] = core::array::from_fn(|signal| f32::from(signal as u8 + 1) / 32.0);
        let telling = telling.get(..catalog.definition().signals.len())?;
        for (task, rows) in self.features.iter_mut().enumerate() {
            let context = Context::new(catalog, Some(task), telling).ok()?;
            for (action, row) in (0..).map(Action).zip(rows) {
                for (place, (coordinate, value)) in catalog.features(&context, action).enumerate() {
                    *row.get_mut(place)? = u8::try_from(coordinate).ok()?;
                    let signal = telling.iter().position(|told| told.to_bits() == value.to_bits());
                    *self.source.get_mut(coordinate)? = signal.map_or(0, |signal| signal as u8 + 1);
                }
            }
        }
        Some(())
    }

    /// The coordinates of an action's features, and d where there are fewer than others have.
    #[must_use]
    pub(crate) fn features(&self, context: &Context, action: Action) -> &[u8; WIDTH] {
        &self.features[context.task().unwrap_or(0)][action.index()]
    }
}

/// A learner made of nalgebra's factor of N rows.
#[derive(Debug)]
pub(crate) struct Peer<const N: usize> {
    factor: Cholesky<f32, Const<N>>,
    /// h, unless it is the border.
    information: [f32; D],
    /// Behind the coordinates stands the 0 of absent features.
    theta: [f32; ROOM],
    vector: [f32; ROOM],
    round: u32,
}

impl<const N: usize> Peer<N> {
    /// h is one more row of the factor.
    const BORDERED: bool = N > D;

    /// A learner that knows nothing yet; `None` for a precision that is not positive.
    #[must_use]
    pub(crate) fn new(policy: &Policy<'_, f32>) -> Option<Self> {
        const { assert!(N == D || N == D + 1) };
        let precision = policy.base_precision() as f32;
        let factor = Cholesky::new(SMatrix::from_diagonal_element(precision))?;
        Some(Self { factor, information: [0.0; D], theta: [0.0; ROOM], vector: [0.0; ROOM], round: 0 })
    }

    /// Decides. The normals are those of Fable's draw for the task's coordinates and the shared ones, and the next ones of the
    /// same stream for the other tasks', which Fable does not need: theta is Fable's but for rounding.
    #[must_use]
    pub(crate) fn decide(
        &mut self,
        policy: &Policy<'_, f32>,
        tables: &Tables,
        user: u64,
        moment: &Moment,
    ) -> Action {
        self.round += 1;
        let settings = policy.settings();
        let key = Key {
            seed: settings.seed,
            user,
            incarnation: 0,
            site: 0,
            round: self.round,
            purpose: Purpose::Decision,
        };
        let (nu, mut stream) = (settings.exploration.nu(self.round, D) as f32, key.stream());
        self.draw(moment, |drawn| *drawn += nu * stream.normal());
        self.scale(tables, moment);
        let rows = &tables.features[moment.context.task().unwrap_or(0)];
        let scores = rows.iter().zip(&moment.baselines).map(|(row, baseline)| self.sum(row, *baseline));
        let (mut best, mut highest) = (0, f32::NEG_INFINITY);
        for (action, score) in scores.enumerate() {
            if score > highest {
                (best, highest) = (action, score);
            }
        }
        Action(best as u16)
    }

    /// Learns the reward of an action.
    pub(crate) fn learn(
        &mut self,
        policy: &Policy<'_, f32>,
        tables: &Tables,
        moment: &Moment,
        action: Action,
        reward: f64,
    ) {
        let (factors, row) = (factors(&moment.context), tables.features(&moment.context, action));
        self.vector.fill(0.0);
        for &coordinate in row {
            let coordinate = usize::from(coordinate);
            self.vector[coordinate] = factors[usize::from(tables.source[coordinate])];
        }
        let response = reward as f32 - moment.baselines[action.index()];
        let weight = (1.0 / policy.settings().noise_variance) as f32;
        if Self::BORDERED {
            self.vector[D] = response; // over what absent features have left there
        } else {
            for &coordinate in row {
                if let Some(information) = self.information.get_mut(usize::from(coordinate)) {
                    *information += weight * response * self.vector[usize::from(coordinate)];
                }
            }
        }
        self.factor.rank_one_update(&SVectorView::<f32, N>::from_slice(&self.vector), weight);
    }

    /// Takes the mean of theta in a context, for [`score`](Self::score).
    pub(crate) fn mean(&mut self, tables: &Tables, moment: &Moment) {
        self.draw(moment, |_| ());
        self.scale(tables, moment);
    }

    /// The score of an action under the theta of the last decision, or under its mean.
    #[must_use]
    pub(crate) fn score(&self, tables: &Tables, moment: &Moment, action: Action) -> f32 {
        self.sum(tables.features(&moment.context, action), moment.baselines[action.index()])
    }

    /// theta = L^-T (L^-1 h + nu n), where `add` adds nu n to one coordinate.
    #[inline]
    fn draw(&mut self, moment: &Moment, mut add: impl FnMut(&mut f32)) {
        let factor = self.factor.l_dirty().fixed_view::<D, D>(0, 0);
        let (theta, _) = self.theta.split_at_mut(D);
        if Self::BORDERED {
            theta.iter_mut().zip(self.factor.l_dirty().row(D).iter()).for_each(|(theta, z)| *theta = *z);
        } else {
            theta.copy_from_slice(&self.information);
            factor.solve_lower_triangular_unchecked_mut(&mut SVectorViewMut::<f32, D>::from_slice(theta));
        }
        let first = moment.context.task().unwrap_or(0) * LEAF;
        for range in [first..first + LEAF, LEAVES..D, 0..first, first + LEAF..LEAVES] {
            theta[range].iter_mut().for_each(&mut add);
        }
        factor.tr_solve_lower_triangular_unchecked_mut(&mut SVectorViewMut::<f32, D>::from_slice(theta));
    }

    /// Multiplies the signals into theta.
    #[inline]
    fn scale(&mut self, tables: &Tables, moment: &Moment) {
        let factors = factors(&moment.context);
        for (theta, source) in self.theta.iter_mut().zip(&tables.source).take(D) {
            *theta *= factors[usize::from(*source)];
        }
    }

    /// A reference score and the features' part of theta, in two sums, so that the additions do not all wait for one another.
    #[inline]
    fn sum(&self, row: &[u8; WIDTH], baseline: f32) -> f32 {
        let (pairs, _) = row.as_chunks::<2>();
        let (even, odd) = pairs.iter().fold((baseline, 0.0), |(even, odd), &[a, b]| {
            (even + self.theta[usize::from(a)], odd + self.theta[usize::from(b)])
        });
        even + odd
    }
}

/// What coordinates are scaled by: 1, or a signal.
#[inline]
fn factors(context: &Context) -> [f32; 17] {
    let mut factors = [1.0; 17];
    factors[1..].iter_mut().zip(context.signals()).for_each(|(factor, signal)| *factor = *signal);
    factors
}
