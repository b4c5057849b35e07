//! The numbers of a simulation: streams that are named, not shared.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::{SplitMix64, Xoshiro256PlusPlus};

/// A stream of random numbers with a name. Only products of whole numbers are used, so it is the same everywhere.
///
/// ```
/// use fable_simulate::Random;
/// let mut stream = Random::new([7, 0, 0, 1]);
/// let first = stream.unit();
/// assert!((0.0..1.0).contains(&first));
/// assert_eq!(Random::new([7, 0, 0, 1]).unit(), first);
/// assert_ne!(Random::new([7, 0, 0, 2]).unit(), first);
/// ```
#[derive(Clone, Debug)]
pub struct Random(Xoshiro256PlusPlus);

impl Random {
    /// The stream with a name: the same numbers for the same name, others for any other.
    #[must_use]
    pub fn new(name: [u64; 4]) -> Self {
        let state =
            name.into_iter().fold(0, |state, word| SplitMix64::seed_from_u64(state ^ word).next_u64());
        Self(Xoshiro256PlusPlus::seed_from_u64(state))
    }

    /// A number from 0 up to, not including, 1.
    pub fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A number from -1 to 1.
    pub fn symmetric(&mut self) -> f64 {
        2.0 * self.unit() - 1.0
    }

    /// A whole number below `limit`; 0 when there is none.
    pub fn below(&mut self, limit: usize) -> usize {
        (self.unit() * limit as f64) as usize
    }
}
