//! The numbers of a simulation: streams that are named, not shared.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::{SplitMix64, Xoshiro256PlusPlus};

pub(super) struct Random(Xoshiro256PlusPlus);

impl Random {
    /// The stream with a name: the same numbers for the same name, others for any other.
    pub(super) fn new(name: [u64; 4]) -> Self {
        let state = name.into_iter().fold(0, |state, word| SplitMix64::seed_from_u64(state ^ word).next_u64());
        Self(Xoshiro256PlusPlus::seed_from_u64(state))
    }

    /// A number from 0 up to, not including, 1.
    pub(super) fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A number from -1 to 1.
    pub(super) fn symmetric(&mut self) -> f64 {
        2.0 * self.unit() - 1.0
    }

    /// A whole number below `limit`; 0 when there is none.
    pub(super) fn below(&mut self, limit: usize) -> usize {
        (self.unit() * limit as f64) as usize
    }
}
