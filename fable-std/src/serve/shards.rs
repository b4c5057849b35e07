//! Which thread looks after which users: everything about a user goes through one thread, so that requests of one user never meet.

/// Numbers that are this close are mostly looked after by the same thread: a name whose number is taken gets one of the next.
const CLOSE: u32 = 8;

/// The users of one thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shard {
    /// Which thread.
    pub(super) index: usize,
    /// Of how many.
    pub(super) of: usize,
}

impl Shard {
    /// The thread that looks after a number.
    pub(super) const fn index_of(number: u64, of: usize) -> usize {
        // Hashes of names that are alike differ in a few bits only: all of them count.
        let mixed = (number >> CLOSE).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        (mixed % of as u64) as usize
    }

    /// Whether this thread looks after a number.
    pub(super) const fn has(self, number: u64) -> bool {
        Self::index_of(number, self.of) == self.index
    }
}
