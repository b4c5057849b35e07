//! The floor: what a round would take if moving the factor were all of it.
//!
//! Whatever is computed, a decision reads the packed columns of one task and of the root once, and an update reads and writes them
//! once. This does that and next to nothing else, over memory laid out as a user's is, in registers as wide as the processor has.

use fable_core::Scalar;
use fable_core::posterior::Layout;
use std::hint::black_box;

/// Numbers that are read or written at once.
const WIDTH: usize = 64;

/// Memory of one user.
pub struct Floor<T> {
    arrow: Layout,
    packed: Vec<T>,
}

impl<T: Scalar> Floor<T> {
    /// For users of an arrow's shape.
    #[must_use]
    pub fn new(arrow: Layout) -> Self {
        Self { arrow, packed: vec![T::ONE; arrow.packed_len()] }
    }

    /// How many numbers a round with a task moves: below the diagonal, the information row, and the diagonal.
    #[must_use]
    pub const fn moved(&self) -> usize {
        let (leaf, root) = (self.arrow.leaf(), self.arrow.root());
        triangle(leaf) + leaf * (root + 1) + triangle(root) + 2 * root + leaf
    }

    /// Reads what a decision reads, then reads and writes what an update does.
    pub fn round(&mut self, task: Option<usize>) {
        let (leaf, root) = (self.arrow.leaf(), self.arrow.root());
        let of_leaf = triangle(leaf) + leaf * (root + 1) + leaf;
        let of_root = triangle(root) + 2 * root;
        let start = task.unwrap_or_default() * of_leaf;
        let root_start = self.packed.len().saturating_sub(of_root);
        let places = [(start, of_leaf), (root_start, of_root)];
        for (start, len) in places {
            black_box(widest(|| read(black_box(&self.packed[start..start + len]))));
        }
        for (start, len) in places {
            widest(|| write(black_box(&mut self.packed[start..start + len])));
        }
    }
}

/// Entries strictly below the diagonal of a square.
const fn triangle(side: usize) -> usize {
    side * side.saturating_sub(1) / 2
}

#[inline(always)]
fn read<T: Scalar>(numbers: &[T]) -> [T; WIDTH] {
    let (chunks, rest) = numbers.as_chunks::<WIDTH>();
    let mut sums = [T::ZERO; WIDTH];
    for chunk in chunks {
        for (sum, number) in sums.iter_mut().zip(chunk) {
            *sum += *number;
        }
    }
    for (sum, number) in sums.iter_mut().zip(rest) {
        *sum += *number;
    }
    sums
}

#[inline(always)]
fn write<T: Scalar>(numbers: &mut [T]) {
    let factor = black_box(T::ONE);
    for number in numbers {
        *number *= factor;
    }
}

/// Runs something with the widest registers that the processor has.
#[cfg(all(feature = "dispatch", target_arch = "x86_64"))]
#[inline(always)]
fn widest<R>(work: impl FnOnce() -> R) -> R {
    match fearless_simd::Level::new().as_avx2() {
        Some(wide) => fearless_simd::Simd::vectorize(wide, work),
        None => work(),
    }
}

/// Runs something with the registers that the target is known to have.
#[cfg(not(all(feature = "dispatch", target_arch = "x86_64")))]
#[inline(always)]
fn widest<R>(work: impl FnOnce() -> R) -> R {
    work()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fable_core::catalog::AGENT;

    /// 12 columns of a task and 134 of the root, each with its part of the information row and its 1/D.
    #[test]
    fn a_round_of_agent_moves_a_tenth_of_the_factor_more_than_the_root() {
        let mut floor = Floor::<f32>::new(AGENT.layout());
        let by_columns: usize = (0..146).map(|column| 146 - column + 1).sum();
        assert_eq!(floor.moved(), by_columns);
        for task in [None, Some(0), Some(9)] {
            floor.round(task);
        }
        assert!(floor.packed.iter().all(|number| *number == 1.0));
    }
}
