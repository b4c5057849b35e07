//! A Gaussian over theta whose precision has the shape of the arrow, as the learner keeps it: E, L and z.

use fable_core::posterior::Layout;
use std::ops::Range;

/// N(m, P^-1) with P = L D L^T in the shape of the [arrow](fable_core::posterior::Layout), packed as a
/// [`Posterior`](fable_core::posterior::Posterior): E = 1/D, then the columns of L, each with its entry of z = L^T m after it.
///
/// A column has a meaning of its own: E is the variance of its coordinate when all later ones of its clique (its leaf and the
/// root) are known, and its entries are the regression on them, with the sign turned round.
#[derive(Clone, Debug, PartialEq)]
pub struct Gaussian {
    arrow: Layout,
    packed: Vec<f64>,
}

/// The later coordinates that a coordinate is tied to, in two stretches: the rest of its leaf, and the root from there on.
pub(super) fn stretches(arrow: Layout, coordinate: usize) -> [Range<usize>; 2] {
    let (root, next) = (arrow.leaves() * arrow.leaf(), coordinate + 1);
    let leaf_end = match arrow.locate(coordinate) {
        Some((Some(task), _)) => (task + 1) * arrow.leaf(),
        _ => next,
    };
    [next..leaf_end, root.max(next)..arrow.dimension()]
}

/// The same in one.
fn later(arrow: Layout, coordinate: usize) -> impl Iterator<Item = usize> + Clone {
    stretches(arrow, coordinate).into_iter().flatten()
}

impl Gaussian {
    /// Mean 0 and one precision for every coordinate.
    #[must_use]
    pub fn isotropic(arrow: Layout, precision: f64) -> Self {
        let mut packed = vec![0.0; arrow.packed_len()];
        packed.iter_mut().take(arrow.dimension()).for_each(|inverse| *inverse = 1.0 / precision);
        Self { arrow, packed }
    }

    /// The Gaussian of this mean whose precision has the arrow's shape and whose covariance agrees with a given one wherever the
    /// shape has an entry: of all of that shape, the most likely one for these moments.
    ///
    /// It is the sum of the inverses of the cliques' covariances less those of the separators (the root's, once for each leaf
    /// but one), found without an inverse. A column is a regression on later coordinates, whose own precision the columns after
    /// it have factored already. `None` when the covariance is not positive definite on a clique.
    #[must_use]
    pub fn of_moments(arrow: Layout, mean: &[f64], covariance: impl Fn(usize, usize) -> f64) -> Option<Self> {
        let dimension = arrow.dimension();
        let mut gaussian = Self::isotropic(arrow, 1.0);
        let starts = gaussian.starts();
        let (mut w, mut coefficient) = (vec![0.0; dimension], vec![0.0; dimension]);
        for j in (0..dimension).rev() {
            // beta = C_SS^-1 c = L_S D_S L_S^T c over the later coordinates S, and E = C_jj - c.beta.
            let mut variance = covariance(j, j);
            later(arrow, j).for_each(|i| coefficient[i] = 0.0);
            for i in later(arrow, j) {
                let column = gaussian.column(&starts, i);
                let tied: f64 = later(arrow, i).zip(column).map(|(l, entry)| entry * covariance(l, j)).sum();
                let white = covariance(i, j) + tied;
                w[i] = white / gaussian.packed[i];
                variance -= white * w[i];
            }
            for i in later(arrow, j) {
                coefficient[i] += w[i];
                for (l, entry) in later(arrow, i).zip(gaussian.column(&starts, i)) {
                    coefficient[l] += entry * w[i];
                }
            }
            if !(variance > 0.0 && variance.is_finite()) {
                return None;
            }
            gaussian.packed[j] = variance;
            let mut z = mean.get(j).copied()?;
            for (place, i) in (starts[j]..).zip(later(arrow, j)) {
                gaussian.packed[place] = -coefficient[i];
                z -= coefficient[i] * mean.get(i).copied()?;
            }
            let end = starts[j] + later(arrow, j).count();
            gaussian.packed[end] = z;
        }
        Some(gaussian)
    }

    /// The same precision around a share of the mean: z = L^T m is linear in it.
    #[must_use]
    pub fn with_mean_times(&self, share: f64) -> Self {
        let mut gaussian = self.clone();
        for (j, start) in self.starts().into_iter().enumerate() {
            gaussian.packed[start + later(self.arrow, j).count()] *= share;
        }
        gaussian
    }

    /// A packed factor as it stands; `None` for the wrong length.
    #[must_use]
    pub fn from_packed(arrow: Layout, packed: Vec<f64>) -> Option<Self> {
        (packed.len() == arrow.packed_len()).then_some(Self { arrow, packed })
    }

    /// The shape.
    #[must_use]
    pub const fn layout(&self) -> Layout {
        self.arrow
    }

    /// The packed factor.
    #[must_use]
    pub fn packed(&self) -> &[f64] {
        &self.packed
    }

    /// Where each column begins.
    fn starts(&self) -> Vec<usize> {
        let mut start = self.arrow.dimension();
        let next = |j| {
            let this = start;
            start += later(self.arrow, j).count() + 1;
            this
        };
        (0..self.arrow.dimension()).map(next).collect()
    }

    /// A column of L from below the diagonal on; z is after what is zipped with [`later`].
    fn column(&self, starts: &[usize], j: usize) -> &[f64] {
        &self.packed[starts[j]..]
    }

    /// The mean, by a solve with L^T.
    #[must_use]
    pub fn mean(&self) -> Vec<f64> {
        let starts = self.starts();
        let mut mean = vec![0.0; self.arrow.dimension()];
        for j in (0..mean.len()).rev() {
            let column = self.column(&starts, j);
            let tied: f64 = later(self.arrow, j).zip(column).map(|(i, entry)| entry * mean[i]).sum();
            mean[j] = column[later(self.arrow, j).count()] - tied;
        }
        mean
    }

    /// The standard deviation of each coordinate.
    #[must_use]
    pub fn deviations(&self) -> Vec<f64> {
        let (starts, dimension) = (self.starts(), self.arrow.dimension());
        let mut white = vec![0.0; dimension];
        // Variance of a coordinate: e.P^-1.e = sum of E w^2 with L w = e, forward from the coordinate on.
        let variance = |j: usize| {
            white.fill(0.0);
            white[j] = 1.0;
            let mut variance = 0.0;
            for i in std::iter::once(j).chain(later(self.arrow, j)) {
                variance += self.packed[i] * white[i] * white[i];
                for (l, entry) in later(self.arrow, i).zip(self.column(&starts, i)) {
                    white[l] -= entry * white[i];
                }
            }
            libm::sqrt(variance)
        };
        (0..dimension).map(variance).collect()
    }

    /// ln det P.
    #[must_use]
    pub fn log_det(&self) -> f64 {
        -self.packed.iter().take(self.arrow.dimension()).map(|inverse| libm::log(*inverse)).sum::<f64>()
    }

    /// The trace of P.
    #[must_use]
    pub fn trace(&self) -> f64 {
        let starts = self.starts();
        let squares = |j| {
            later(self.arrow, j).zip(self.column(&starts, j)).map(|(_, entry)| entry * entry).sum::<f64>()
        };
        (0..self.arrow.dimension()).map(|j| (1.0 + squares(j)) / self.packed[j]).sum()
    }

    /// (x - m).P.(x - m), the squared distance of a theta in the Gaussian's own measure.
    #[must_use]
    pub fn distance(&self, theta: &[f64]) -> f64 {
        let starts = self.starts();
        let at = |i: usize| theta.get(i).copied().unwrap_or_default();
        let white = |j: usize| {
            let column = self.column(&starts, j);
            let tied: f64 = later(self.arrow, j).zip(column).map(|(i, entry)| entry * at(i)).sum();
            at(j) + tied - column[later(self.arrow, j).count()]
        };
        (0..self.arrow.dimension()).map(|j| white(j) * white(j) / self.packed[j]).sum()
    }
}
