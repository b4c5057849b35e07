//! A prior for users nobody has seen yet, fitted from the journals of many.
//!
//! Users differ, but not in every way alike: some values are liked by almost everyone, some likings come together. A new user
//! who starts from what is true of most needs fewer rounds. Each theta is taken as one draw from N(m, P^-1), with P in the shape
//! of the [arrow](fable_core::Arrow), so that the learner stays exact. Thetas are never seen, only rewards are: the spread
//! of the users' posterior means would be too narrow where little was observed, and wrong where what was observed was chosen by a
//! learner. Expectation and maximization does it right:
//!
//! - E: every user's posterior N(mu, Sigma) under the present m and P, by the learner's own update.
//! - M: m is the mean of mu, C that of Sigma + (mu - m)(mu - m)^T, and P the arrow-shaped precision that agrees with C on every
//!   clique (a leaf with the root): the sum of the cliques' inverses less those of the separators, see [`Gaussian::of_moments`].
//!
//! Each step makes what was observed more likely. With d coordinates and few users C is mostly noise, so it is shrunk: `n`
//! imagined users have the covariance of the most likely isotropic prior, and one has mean 0. Each step then makes the penalized
//! likelihood larger. How many they are is chosen by what users that were left out have to say ([`Options::shrinkage`]).
//!
//! The result is a snapshot with zero rounds ([`Population::snapshot`]): a device loads it like any other, and a host makes it
//! the prior of a policy ([`prior_file`](crate::prior_file)).
//!
//! ```
//! use fable_core::{Action, Context, Observation, Policy, Settings, catalog::TAU2};
//! use fable_std::prior::{Evidence, Options, fit};
//! use fable_std::prior_file::{informed, read};
//!
//! let policy = Policy::<f64>::new(&TAU2, Settings::default())?;
//! let context = Context::new(&TAU2, None, &[])?;
//! let likes = |user: u32, action: u16| Observation {
//!     context, action: Action(action), baseline: 0.0, reward: if action % 3 == 1 { 0.6 } else { -0.1 } + 0.01 * f64::from(user), weight: 1.0,
//! };
//! let mut users = vec![Evidence::default(); 12];
//! for (number, user) in (0..).zip(&mut users) {
//!     (0..18).for_each(|action| user.reward(&policy, &likes(number, action)));
//! }
//! let population = fit(&policy, &users, &Options::default())?;
//!
//! let packed = read(&policy, &population.snapshot(&policy, 0)?)?;
//! assert_ne!(informed(&policy, Some(&packed))?.fingerprint(), policy.fingerprint());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod em;
mod evidence;
mod gaussian;
mod transfer;

pub use em::{Moments, Shrinkage, expect, log_likelihood};
pub use evidence::{Evidence, Sighting};
pub use gaussian::Gaussian;

use crate::prior_file::PriorFileError;
use fable_core::{Policy, PosteriorError, PriorError};
use std::fmt;
use std::num::NonZero;

/// Fewest users that a prior is fitted from: with fewer there is no telling what they have in common.
pub const MIN_USERS: usize = 5;

/// How to fit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// How many imagined users hold the covariance back; `None` chooses among multiples of the dimension by what fitted users say
    /// about those left out: each fifth in turn, or one fifth of many.
    pub shrinkage: Option<f64>,
    /// Most steps of a fit.
    pub steps: usize,
    /// How many threads work; changes no number.
    pub threads: NonZero<usize>,
}

impl Default for Options {
    fn default() -> Self {
        Self { shrinkage: None, steps: 40, threads: std::thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN) }
    }
}

/// Imagined users that are tried, in multiples of the dimension, the most first: each fit begins where the one before it ended.
const SHRINKAGES: [f64; 6] = [16.0, 4.0, 1.0, 0.25, 0.0625, 0.015_625];
/// Parts that users are left out in.
const PARTS: usize = 5;
/// From so many users on, one part says enough.
const MANY: usize = 50;
/// Steps of a fit that is only compared.
const TRIAL_STEPS: usize = 8;
/// A fit has ended when a step gains less than this for each user, in nats.
const GAIN: f64 = 1e-3;

/// A fitted prior.
#[derive(Clone, Debug, PartialEq)]
pub struct Population {
    /// The prior.
    pub prior: Gaussian,
    /// Users that it was fitted from.
    pub users: usize,
    /// What was observed of them, in all.
    pub observations: usize,
    /// Imagined users.
    pub shrinkage: f64,
    /// Precision of the most likely isotropic prior, around a mean of its own.
    pub isotropic_precision: f64,
    /// ln p of everything observed, with the penalty, before each step and after the last.
    pub objective: Vec<f64>,
    /// ln p of an observation, on average, under the policy's own prior and under this one. Not for comparing models: these are
    /// the users it was fitted from.
    pub log_likelihood: [f64; 2],
    /// The `prior_radius` that covers 95% of the users if they are draws from this prior: what the guarantee of promotions has to
    /// assume with it.
    pub radius: f64,
}

/// Fits a prior to users. Users of whom nothing was observed do not count.
///
/// # Errors
/// Fewer than [`MIN_USERS`] users, or evidence of another catalog.
pub fn fit(policy: &Policy<'_, f64>, users: &[Evidence], options: &Options) -> Result<Population, FitError> {
    let users: Vec<&Evidence> = users.iter().filter(|user| !user.sightings().is_empty()).collect();
    if users.len() < MIN_USERS {
        return Err(FitError::TooFewUsers { found: users.len() });
    }
    if options.shrinkage.is_some_and(|users| !(users > 0.0 && users <= 1e9)) {
        return Err(FitError::Shrinkage);
    }
    let arrow = policy.catalog().arrow();
    let own = Gaussian::isotropic(arrow, policy.base_precision());
    let observations = users.iter().map(|user| user.sightings().len()).sum::<usize>();
    let before = expect(&own, &users, options.threads)?.log_likelihood;

    let (start, variance) = isotropic(own, &users, options)?;
    let shrinkage = match options.shrinkage {
        Some(shrinkage) => shrinkage,
        None => choose(&start, variance, &users, options)?,
    };
    let held = Shrinkage { users: shrinkage, variance, of_mean: 1.0 };
    let Climb { prior, objective } = climb(start, &users, &held, options.steps, options.threads)?;
    let after = expect(&prior, &users, options.threads)?;
    let radius = radius(arrow.dimension());
    let mean = |sum: f64| sum / observations as f64;
    let log_likelihood = [mean(before), mean(after.log_likelihood)];
    let (users, isotropic_precision) = (users.len(), 1.0 / variance);
    Ok(Population { prior, users, observations, shrinkage, isotropic_precision, objective, log_likelihood, radius })
}

/// The most likely isotropic prior around a mean of its own: where the fit begins, and the variance it is shrunk to.
fn isotropic(mut prior: Gaussian, users: &[&Evidence], options: &Options) -> Result<(Gaussian, f64), FitError> {
    let arrow = prior.arrow();
    let mut variance = 0.0;
    for _ in 0..TRIAL_STEPS {
        let mean;
        (variance, mean) = expect(&prior, users, options.threads)?.isotropic();
        variance = variance.clamp(1e-4, 1e2);
        let covariance = |i: usize, j: usize| if i == j { variance } else { 0.0 };
        prior = Gaussian::of_moments(arrow, &mean, covariance).ok_or(FitError::Degenerate)?;
    }
    Ok((prior, variance))
}

struct Climb {
    prior: Gaussian,
    objective: Vec<f64>,
}

/// Steps until they gain nothing any more.
fn climb(
    mut prior: Gaussian,
    users: &[&Evidence],
    shrinkage: &Shrinkage,
    steps: usize,
    threads: NonZero<usize>,
) -> Result<Climb, FitError> {
    let mut objective: Vec<f64> = Vec::new();
    for _ in 0..steps {
        let moments = expect(&prior, users, threads)?;
        let now = moments.log_likelihood + shrinkage.penalty(&prior);
        let gained = objective.last().is_none_or(|last| now - last >= GAIN * users.len() as f64);
        objective.push(now);
        if !gained {
            return Ok(Climb { prior, objective });
        }
        prior = moments.maximize(prior.arrow(), shrinkage).ok_or(FitError::Degenerate)?;
    }
    let last = expect(&prior, users, threads)?.log_likelihood + shrinkage.penalty(&prior);
    objective.push(last);
    Ok(Climb { prior, objective })
}

/// The number of imagined users under which users that were left out are most likely.
fn choose(start: &Gaussian, variance: f64, users: &[&Evidence], options: &Options) -> Result<f64, FitError> {
    let dimension = start.arrow().dimension() as f64;
    let mut said = [0.0; SHRINKAGES.len()];
    for part in 0..if users.len() < MANY { PARTS } else { 1 } {
        let of = |inside: bool| users.iter().enumerate().filter(move |(index, _)| (index % PARTS == part) == inside);
        let out: Vec<&Evidence> = of(true).map(|(_, user)| *user).collect();
        let rest: Vec<&Evidence> = of(false).map(|(_, user)| *user).collect();
        let mut prior = start.clone();
        for (said, multiple) in said.iter_mut().zip(SHRINKAGES) {
            let held = Shrinkage { users: multiple * dimension, variance, of_mean: 1.0 };
            prior = climb(prior, &rest, &held, TRIAL_STEPS, options.threads)?.prior;
            *said += log_likelihood(&prior, &out)?;
        }
    }
    let best = said.iter().zip(SHRINKAGES).fold(None, |best: Option<(f64, f64)>, (said, multiple)| match best {
        Some((most, _)) if most >= *said => best,
        _ => Some((*said, multiple)),
    });
    Ok(dimension * best.map_or(1.0, |(_, multiple)| multiple))
}

/// The square root of the 95% point of the chi-square distribution with d degrees (Wilson and Hilferty).
fn radius(dimension: usize) -> f64 {
    const Z: f64 = 1.644_853_626_951_472;
    let d = dimension as f64;
    let cube = 1.0 - 2.0 / (9.0 * d) + Z * libm::sqrt(2.0 / (9.0 * d));
    libm::sqrt(d * cube * cube * cube)
}

/// Why there is no prior.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FitError {
    /// Fewer than [`MIN_USERS`] users of whom something was observed.
    TooFewUsers {
        /// So many.
        found: usize,
    },
    /// The number of imagined users is not a number above 0, up to 1e9.
    Shrinkage,
    /// The moments have no Gaussian: shrink more.
    Degenerate,
    /// A number of the prior is out of the learner's range.
    Range(PriorError),
    /// Evidence of another catalog.
    Evidence(PosteriorError),
    /// The fitted prior cannot be written.
    File(PriorFileError),
}

impl fmt::Display for FitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooFewUsers { found } => {
                write!(f, "a prior is fitted from at least {MIN_USERS} users with something learned, and there are {found}")
            }
            Self::Shrinkage => f.write_str("the number of imagined users must be above 0 and at most 1000000000"),
            Self::Degenerate => f.write_str("the users are too much alike for a Gaussian; shrink more"),
            Self::Range(error) => write!(f, "the fitted prior is out of range: {error}"),
            Self::Evidence(error) => write!(f, "what was observed is not of this catalog: {error}"),
            Self::File(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for FitError {}

crate::from!(FitError: PosteriorError => Evidence, PriorFileError => File);
