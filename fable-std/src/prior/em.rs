//! Expectation and maximization: the population of users whose thetas nobody has seen.

use super::FitError;
use super::evidence::Evidence;
use super::gaussian::{Gaussian, stretches};
use fable_core::Workspace;
use fable_core::posterior::{Factor, Layout, Posterior, Prior};
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Users whose moments are added up in one piece: sums do not depend on the number of threads.
const PIECE: usize = 32;

/// How the fit is held back: by imagined users.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shrinkage {
    /// So many imagined users pull the covariance to the isotropic one.
    pub users: f64,
    /// Variance of a coordinate in the isotropic one.
    pub variance: f64,
    /// So many imagined users with mean 0 pull the mean.
    pub of_mean: f64,
}

impl Shrinkage {
    /// None: plain maximum likelihood.
    pub const NONE: Self = Self { users: 0.0, variance: 1.0, of_mean: 0.0 };

    /// What it adds to the log likelihood.
    #[must_use]
    pub fn penalty(&self, gaussian: &Gaussian) -> f64 {
        let mut penalty = 0.0;
        if self.users > 0.0 {
            penalty += self.users / 2.0 * (gaussian.log_det() - self.variance * gaussian.trace());
        }
        if self.of_mean > 0.0 {
            penalty -= self.of_mean / 2.0 * gaussian.distance(&vec![0.0; gaussian.layout().dimension()]);
        }
        penalty
    }
}

/// What the users' posteriors add up to.
#[derive(Clone, Debug)]
pub struct Moments {
    /// ln p of everything that was observed, theta integrated out.
    pub log_likelihood: f64,
    users: f64,
    mean: Vec<f64>,
    /// Sum of Sigma + mu mu^T, d x d, with the entries of the shape.
    square: Vec<f64>,
}

impl Moments {
    fn zero(arrow: Layout) -> Self {
        let dimension = arrow.dimension();
        Self {
            log_likelihood: 0.0,
            users: 0.0,
            mean: vec![0.0; dimension],
            square: vec![0.0; dimension * dimension],
        }
    }

    fn add(mut self, other: &Self) -> Self {
        self.log_likelihood += other.log_likelihood;
        self.users += other.users;
        self.mean.iter_mut().zip(&other.mean).for_each(|(sum, part)| *sum += part);
        self.square.iter_mut().zip(&other.square).for_each(|(sum, part)| *sum += part);
        self
    }

    /// The Gaussian that makes the expected log likelihood with the shrinkage's penalty largest.
    #[must_use]
    pub fn maximize(&self, arrow: Layout, shrinkage: &Shrinkage) -> Option<Gaussian> {
        let (users, centre) = (self.users, self.users + shrinkage.of_mean);
        let mean: Vec<f64> = self.mean.iter().map(|sum| sum / centre).collect();
        let covariance = |i: usize, j: usize| {
            // The earlier coordinate has the entry.
            let square = self.square[i.min(j) * mean.len() + i.max(j)];
            let target = if i == j { shrinkage.users * shrinkage.variance } else { 0.0 };
            (square - centre * mean[i] * mean[j] + target) / (users + shrinkage.users)
        };
        Gaussian::of_moments(arrow, &mean, covariance)
    }

    /// The variance of the most likely isotropic Gaussian around the most likely mean, and that mean.
    #[must_use]
    pub fn isotropic(&self) -> (f64, Vec<f64>) {
        let mean: Vec<f64> = self.mean.iter().map(|sum| sum / self.users).collect();
        let spread = |j: usize| self.square[j * (mean.len() + 1)] / self.users - mean[j] * mean[j];
        ((0..mean.len()).map(spread).sum::<f64>() / mean.len() as f64, mean)
    }
}

/// Work on users in pieces, on several threads; the results are in order, whatever the number of threads.
pub(super) fn in_pieces<T: Send>(
    users: &[&Evidence],
    threads: NonZero<usize>,
    work: impl Fn(&[&Evidence]) -> Result<T, FitError> + Sync,
) -> Result<Vec<T>, FitError> {
    let pieces: Vec<&[&Evidence]> = users.chunks(PIECE).collect();
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut done = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(piece) = pieces.get(index) else { return done };
            done.push((index, work(piece)));
        }
    };
    let mut done: Vec<(usize, Result<T, FitError>)> = thread::scope(|scope| {
        let workers: Vec<_> = (0..threads.get().min(pieces.len())).map(|_| scope.spawn(worker)).collect();
        workers
            .into_iter()
            .flat_map(|worker| worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    });
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, result)| result).collect()
}

/// The expectation step: every user's posterior under a prior, exactly, and what they add up to.
///
/// # Errors
/// A prior out of the learner's range, or evidence that does not fit it.
pub fn expect(
    gaussian: &Gaussian,
    users: &[&Evidence],
    threads: NonZero<usize>,
) -> Result<Moments, FitError> {
    let pieces = in_pieces(users, threads, |piece| posteriors(gaussian, piece, true))?;
    Ok(pieces.iter().fold(Moments::zero(gaussian.layout()), Moments::add))
}

/// ln p of what was observed of users who were not fitted.
///
/// # Errors
/// As for [`expect`].
pub fn log_likelihood(gaussian: &Gaussian, users: &[&Evidence]) -> Result<f64, FitError> {
    Ok(posteriors(gaussian, users, false)?.log_likelihood)
}

fn posteriors(gaussian: &Gaussian, users: &[&Evidence], moments: bool) -> Result<Moments, FitError> {
    let arrow = gaussian.layout();
    let mut workspace = Workspace::from_storage(vec![0.0; arrow.active_len()]);
    let factor = Factor::new(arrow, gaussian.packed(), &mut workspace).map_err(FitError::Range)?;
    let mut posterior = Posterior::<f64, _>::from_storage(vec![0.0; arrow.packed_len()]);
    let mut sum = Moments::zero(arrow);
    let (mut mean, mut covariance) = (vec![0.0; arrow.dimension()], vec![0.0; sum.square.len()]);
    for user in users {
        posterior.start(arrow, &Prior::Factor(factor), 1.0)?;
        for sighting in user.sightings() {
            let update = posterior.update(
                &mut workspace,
                sighting.direction.iter().copied(),
                sighting.response,
                sighting.variance,
            )?;
            let spread = update.innovation * update.innovation / update.variance;
            sum.log_likelihood -= 0.5 * (libm::log(core::f64::consts::TAU * update.variance) + spread);
        }
        if !moments {
            continue;
        }
        posterior.mean(&mut workspace, &mut mean)?;
        sum.users += 1.0;
        sum.mean.iter_mut().zip(&mean).for_each(|(sum, part)| *sum += part);
        covariances(arrow, posterior.packed(), &mut covariance);
        for j in 0..mean.len() {
            let row = j * mean.len();
            for part in std::iter::once(j..j + 1).chain(stretches(arrow, j)) {
                let places = row + part.start..row + part.end;
                let sums = sum.square[places.clone()].iter_mut().zip(&covariance[places]);
                sums.zip(&mean[part])
                    .for_each(|((sum, covariance), other)| *sum += covariance + mean[j] * other);
            }
        }
    }
    Ok(sum)
}

/// The entries of (L D L^T)^-1 that the shape has (Takahashi): from the last coordinate on, Sigma_jk = -sum of L_ij Sigma_ik and
/// Sigma_jj = E_j - sum of L_ij Sigma_ij, over the later coordinates i. Both halves are written, so that what is summed up lies
/// in a row.
fn covariances(arrow: Layout, packed: &[f64], out: &mut [f64]) {
    let dimension = arrow.dimension();
    let mut end = packed.len();
    for j in (0..dimension).rev() {
        let [leaf, root] = stretches(arrow, j);
        let start = end - leaf.len() - root.len() - 1;
        let (of_leaf, of_root) = packed[start..end - 1].split_at(leaf.len());
        end = start;
        let tied = |row: &[f64]| dot(of_leaf, &row[leaf.clone()]) + dot(of_root, &row[root.clone()]);
        for k in leaf.clone().chain(root.clone()) {
            let covariance = -tied(&out[k * dimension..(k + 1) * dimension]);
            out[j * dimension + k] = covariance;
            out[k * dimension + j] = covariance;
        }
        let own = packed[j] - tied(&out[j * dimension..(j + 1) * dimension]);
        out[j * dimension + j] = own;
    }
}

/// A scalar product with four sums, always added up in the same way.
fn dot(one: &[f64], other: &[f64]) -> f64 {
    let mut sums = [0.0; 4];
    let (fours, rest) = one.as_chunks::<4>();
    let (other_fours, other_rest) = other.as_chunks::<4>();
    for (one, other) in fours.iter().zip(other_fours) {
        for ((sum, x), y) in sums.iter_mut().zip(one).zip(other) {
            *sum += x * y;
        }
    }
    let tail: f64 = rest.iter().zip(other_rest).map(|(x, y)| x * y).sum();
    (sums[0] + sums[2]) + (sums[1] + sums[3]) + tail
}
