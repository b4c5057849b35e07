//! How much of a fit is kept: as much as users who were left out of it support.
//!
//! The rewards of a left-out user are foretold one by one, each by the mean of the posterior of those before it. What counts is
//! how well rewards follow what was foretold, y = a + b x + noise with b >= 0: the calibrated likelihood, with a, b and the noise
//! as the left-out users have them. Which action is best depends neither on a nor on b, so a prior gains nothing by knowing that
//! rewards are low in general, and loses nothing by foretelling too much or too little.
//!
//! Mean and precision are held back apart from each other. Under N(rho m, P^-1) what is foretold is x_0 + rho (x_1 - x_0), linear
//! in the mean, so two passes over a user say what every share rho of the mean is worth.
//!
//! A fit takes the place of an isotropic prior around 0 only by evidence: left-out users must be at least e^2 times likelier under
//! it, all taken together, and the gain at least half its standard error over users. Nats count in all and not for each user, because
//! nine users who agree are evidence and a thousand who are foretold by 0.001 better are not; of fits that pass, the best is taken.
//!
//! The isotropic prior is the policy's own, unless people left out are foretold better with [`CAUTIOUS`] times its precision, as
//! where rewards are mostly noise. Others are not asked for: what a journal says is how well rewards are foretold, not what exploring
//! more or less would have found, and where nothing can be foretold at all (shoppers of the study `fleet-real`) ever more
//! precise priors look as good and cost half as much again.

use super::FitError;
use super::em::in_pieces;
use super::evidence::Evidence;
use super::gaussian::Gaussian;
use fable_core::Workspace;
use fable_core::posterior::{Factor, Posterior, Prior};
use std::num::NonZero;

/// A fit is kept when left-out users are likelier by so many nats, in all.
const EVIDENCE: f64 = 2.0;
/// And by so many standard errors.
const ERRORS: f64 = 0.5;
/// Less than this is a rounding error, in nats.
const ROUNDING: f64 = 1e-6;

/// How many times the policy's own precision is tried, around 0.
pub const CAUTIOUS: f64 = 4.0;

/// Shares of the mean that are tried. None is not: a precision that was fitted around a mean is wrong around 0.
pub const SHARES: [f64; 4] = [0.25, 0.5, 0.75, 1.0];

/// How the rewards of one user were foretold by N(rho m, P^-1), for every rho.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Foretold {
    /// How many rewards.
    count: f64,
    /// Sums of y and y^2.
    seen: [f64; 2],
    /// Sums of x_0 and of its change x_1 - x_0.
    told: [f64; 2],
    /// Sums of x_0^2, of x_0 with its change, and of the change squared.
    squares: [f64; 3],
    /// Sums of y with x_0 and with its change.
    products: [f64; 2],
    /// Sums of e^2 / v, of an error and its variance: of x_0, mixed, and of the change.
    surprise: [f64; 3],
}

impl Foretold {
    /// The sums of x, x^2 and x y.
    fn at(&self, share: f64) -> [f64; 3] {
        [
            self.told[0] + share * self.told[1],
            self.squares[0] + share * (2.0 * self.squares[1] + share * self.squares[2]),
            self.products[0] + share * self.products[1],
        ]
    }

    /// The sum of e^2 / v.
    fn surprise(&self, share: f64) -> f64 {
        self.surprise[0] + share * (2.0 * self.surprise[1] + share * self.surprise[2])
    }
}

/// Foretells the rewards of users who were not fitted.
///
/// # Errors
/// A prior out of the learner's range, or evidence that does not fit it.
pub fn foretell(
    prior: &Gaussian,
    users: &[&Evidence],
    threads: NonZero<usize>,
) -> Result<Vec<Foretold>, FitError> {
    let arrow = prior.layout();
    let centred = prior.with_mean_times(0.0);
    // Around 0 there is nothing to change.
    let passes = if *prior == centred { 1 } else { 2 };
    let mut scratch = Workspace::from_storage(vec![0.0; arrow.active_len()]);
    let first = Factor::new(arrow, centred.packed(), &mut scratch).map_err(FitError::Range)?;
    let factors = [first, Factor::new(arrow, prior.packed(), &mut scratch).map_err(FitError::Range)?];
    let pieces = in_pieces(users, threads, |piece| {
        let mut workspace = Workspace::from_storage(vec![0.0; arrow.active_len()]);
        let mut posterior = Posterior::<f64, _>::from_storage(vec![0.0; arrow.packed_len()]);
        let mut all = Vec::with_capacity(piece.len());
        for user in piece {
            let mut told = [const { Vec::new() }; 2];
            for (told, factor) in told.iter_mut().zip(factors).take(passes) {
                posterior.start(arrow, &Prior::Factor(factor), 1.0)?;
                for sighting in user.sightings() {
                    let direction = sighting.direction.iter().copied();
                    let update =
                        posterior.update(&mut workspace, direction, sighting.response, sighting.variance)?;
                    told.push((update.innovation, update.variance));
                }
            }
            let [first, second] = &told;
            let second = if passes == 1 { first } else { second };
            let mut sum = Foretold::default();
            for ((sighting, (error, variance)), (other, _)) in user.sightings().iter().zip(first).zip(second)
            {
                let (y, x, change) = (sighting.response, sighting.response - error, error - other);
                let add = |sums: &mut [f64], parts: &[f64]| {
                    sums.iter_mut().zip(parts).for_each(|(sum, part)| *sum += part);
                };
                sum.count += 1.0;
                add(&mut sum.seen, &[y, y * y]);
                add(&mut sum.told, &[x, change]);
                add(&mut sum.squares, &[x * x, x * change, change * change]);
                add(&mut sum.products, &[y * x, y * change]);
                add(
                    &mut sum.surprise,
                    &[error * error, -error * change, change * change].map(|part| part / variance),
                );
            }
            all.push(sum);
        }
        Ok(all)
    })?;
    Ok(pieces.into_iter().flatten().collect())
}

/// Each user's calibrated log likelihood, up to a constant, with a share of the mean.
#[must_use]
pub fn calibrated(users: &[Foretold], share: f64) -> Vec<f64> {
    let count: f64 = users.iter().map(|user| user.count).sum();
    let average = |of: &dyn Fn(&Foretold) -> f64| users.iter().map(of).sum::<f64>() / count;
    let (x, xx, xy) = (
        average(&|user| user.at(share)[0]),
        average(&|user| user.at(share)[1]),
        average(&|user| user.at(share)[2]),
    );
    let (y, yy) = (average(&|user| user.seen[0]), average(&|user| user.seen[1]));
    let (spread, common) = (xx - x * x, xy - x * y);
    let slope = if spread > 1e-12 * (1.0 + xx) { (common / spread).max(0.0) } else { 0.0 };
    let level = y - slope * x;
    // A floor, for rewards that are foretold exactly.
    let noise = (yy - y * y - 2.0 * slope * common + slope * slope * spread).max(1e-9);
    let score = |user: &Foretold| {
        let [x, xx, xy] = user.at(share);
        let [y, yy] = user.seen;
        let rest = yy - 2.0 * (level * y + slope * xy)
            + user.count * level * level
            + slope * (2.0 * level * x + slope * xx);
        -0.5 * (user.count * libm::log(noise) + rest / noise)
    };
    users.iter().map(score).collect()
}

/// How many times larger the noise variance would have to be, prior and noise alike, for the errors to be as large as foretold.
#[must_use]
pub fn surprise(users: &[Foretold], share: f64) -> f64 {
    users.iter().map(|user| user.surprise(share)).sum::<f64>()
        / users.iter().map(|user| user.count).sum::<f64>()
}

/// How far a candidate is behind another one for each user, on average, and the standard error of that.
#[must_use]
pub fn behind(scores: &[f64], best: &[f64]) -> (f64, f64) {
    let count = scores.len().min(best.len()) as f64;
    let differences: Vec<f64> = best.iter().zip(scores).map(|(best, score)| best - score).collect();
    let mean = differences.iter().sum::<f64>() / count;
    let square: f64 = differences.iter().map(|difference| (difference - mean) * (difference - mean)).sum();
    (mean, libm::sqrt(square / (count - 1.0) / count))
}

/// The place of the candidate with the highest score; of equals the first.
#[must_use]
pub fn best(candidates: &[Vec<f64>]) -> Option<usize> {
    let totals = candidates.iter().map(|scores| scores.iter().sum::<f64>()).enumerate();
    totals.reduce(|best, next| if next.1 > best.1 + ROUNDING { next } else { best }).map(|(place, _)| place)
}

/// Whether a candidate is clearly better than a simpler one.
#[must_use]
pub fn clearly_better(scores: &[f64], simpler: &[f64]) -> bool {
    let (mean, error) = behind(simpler, scores);
    mean * scores.len() as f64 >= EVIDENCE && mean >= ERRORS * error
}
