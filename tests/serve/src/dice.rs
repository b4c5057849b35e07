//! Reproducible chance for scripts.

/// SplitMix64.
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    /// The same seed gives the same throws.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Any number.
    pub const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `count`, which is not 0.
    pub const fn below(&mut self, count: usize) -> usize {
        (self.next() % count as u64) as usize
    }

    /// Once in `count` times.
    pub const fn once_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    /// From 0 to 1, with all 53 digits.
    pub const fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// One of several.
    pub fn pick<'i, I>(&mut self, items: &'i [I]) -> &'i I {
        let index = self.below(items.len());
        &items[index]
    }
}
