//! Dense linear algebra for the tests: as in a textbook, so that it shares nothing with the learner.

/// A square matrix by rows.
#[derive(Clone)]
pub struct Matrix(pub Vec<Vec<f64>>);

impl Matrix {
    pub fn identity(size: usize, scale: f64) -> Self {
        Self(
            (0..size)
                .map(|row| (0..size).map(|column| if row == column { scale } else { 0.0 }).collect())
                .collect(),
        )
    }

    /// Adds `weight` x x'.
    pub fn add_outer(&mut self, x: &[f64], weight: f64) {
        for (row, left) in self.0.iter_mut().zip(x) {
            row.iter_mut().zip(x).for_each(|(entry, right)| *entry += weight * left * right);
        }
    }

    /// The inverse and the logarithm of the determinant, by Gauss and Jordan with the largest pivot.
    pub fn eliminated(&self) -> (Self, f64) {
        let size = self.0.len();
        let (mut left, mut right, mut log_det) = (self.0.clone(), Self::identity(size, 1.0).0, 0.0);
        for column in 0..size {
            let pivot = (column..size)
                .max_by(|a, b| left[*a][column].abs().total_cmp(&left[*b][column].abs()))
                .unwrap();
            left.swap(column, pivot);
            right.swap(column, pivot);
            let value = left[column][column];
            log_det += value.abs().ln();
            for side in [&mut left, &mut right] {
                side[column].iter_mut().for_each(|entry| *entry /= value);
            }
            for row in (0..size).filter(|row| *row != column) {
                let factor = left[row][column];
                for side in [&mut left, &mut right] {
                    let pivot = side[column].clone();
                    side[row].iter_mut().zip(pivot).for_each(|(entry, pivot)| *entry -= factor * pivot);
                }
            }
        }
        (Self(right), log_det)
    }

    pub fn inverse(&self) -> Self {
        self.eliminated().0
    }

    pub fn log_det(&self) -> f64 {
        self.eliminated().1
    }

    pub fn times(&self, x: &[f64]) -> Vec<f64> {
        self.0.iter().map(|row| row.iter().zip(x).map(|(entry, value)| entry * value).sum()).collect()
    }

    /// x' A x
    pub fn quadratic(&self, x: &[f64]) -> f64 {
        self.times(x).iter().zip(x).map(|(left, right)| left * right).sum()
    }
}

/// The probability that a standard normal is above x, by Simpson's rule.
pub fn normal_tail(x: f64) -> f64 {
    let (steps, end) = (20_000, x + 15.0);
    let width = (end - x) / f64::from(steps);
    let density = |z: f64| (-z * z / 2.0).exp() / core::f64::consts::TAU.sqrt();
    let weight = |step: i32| if step == 0 || step == steps { 1.0 } else { f64::from(2 + 2 * (step % 2)) };
    (0..=steps).map(|step| weight(step) * density(x + f64::from(step) * width)).sum::<f64>() * width / 3.0
}

#[test]
fn what_is_known_by_hand() {
    let matrix = Matrix(vec![vec![2.0, 1.0], vec![1.0, 3.0]]);
    assert!((matrix.log_det() - 5.0_f64.ln()).abs() < 1e-14);
    assert!((matrix.inverse().quadratic(&[1.0, 0.0]) - 0.6).abs() < 1e-14);
    assert!((normal_tail(0.0) - 0.5).abs() < 1e-12 && (normal_tail(1.959_963_985) - 0.025).abs() < 1e-9);
}
