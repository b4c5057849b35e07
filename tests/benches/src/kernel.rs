//! The loops of a round by themselves: a factor of as many columns as a round goes through, in one piece.

use fable_core::Scalar;
use fable_core::posterior::Layout;
use std::hint::black_box;

/// A factor, and vectors to solve for and to update it with.
pub struct Kernel<T> {
    columns: Vec<T>,
    inverse: Vec<T>,
    unknown: usize,
    right: [Vec<T>; 2],
}

impl<T: Scalar> Kernel<T> {
    /// As large as what a round of an arrow's shape goes through.
    #[must_use]
    pub fn new(arrow: Layout) -> Self {
        let unknown = arrow.leaf() + arrow.root();
        // Small entries below the diagonal, so that what is solved stays of its size.
        let columns = (0..unknown * (unknown + 1) / 2).map(|entry| number(entry, 0.02)).collect();
        let right = [3, 11].map(|start| {
            let mut right: Vec<T> = (start..start + unknown).map(|entry| number(entry, 1.0)).collect();
            right.push(-T::ONE);
            right
        });
        Self { columns, inverse: vec![T::ONE; unknown], unknown, right }
    }

    /// One back-solve.
    pub fn solve(&mut self, x: &mut Vec<T>) {
        x.clone_from(&self.right[0]);
        T::back_solve(black_box(&self.columns), self.unknown, black_box(x));
    }

    /// Two in one pass.
    pub fn solve_both(&mut self, x: &mut Vec<T>, y: &mut Vec<T>) {
        x.clone_from(&self.right[0]);
        y.clone_from(&self.right[1]);
        T::back_solve_both(black_box(&self.columns), self.unknown, black_box([x, y]));
    }

    /// One rank-one update. So that they can be repeated without end, its weight is next to nothing.
    pub fn update(&mut self, w: &mut Vec<T>) {
        w.clone_from(&self.right[1]);
        black_box(T::sweep(&mut self.inverse, black_box(&mut self.columns), w, T::from_f64(1e6)).0);
    }
}

/// Some number between minus and plus `size`.
fn number<T: Scalar>(entry: usize, size: f64) -> T {
    let spread = u32::try_from(entry % 65_536).unwrap_or(0).wrapping_mul(40_503) % 65_536;
    T::from_f64((f64::from(spread) / 32_768.0 - 1.0) * size)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fable_core::catalog::AGENT;

    #[test]
    fn two_in_one_pass_are_each_what_it_is_alone() {
        let mut kernel = Kernel::<f32>::new(AGENT.layout());
        let (mut alone, mut x, mut y) = (Vec::new(), Vec::new(), Vec::new());
        kernel.solve(&mut alone);
        kernel.solve_both(&mut x, &mut y);
        assert!(alone == x && x != y && x.iter().chain(&y).all(|x| x.is_finite()));
        for _ in 0..100_000 {
            kernel.update(&mut x);
        }
        assert!(kernel.columns.iter().all(|entry| entry.is_finite()));
    }
}
