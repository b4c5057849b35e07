//! A prior for users nobody has seen yet, fitted from the journals of many.
//!
//! Users differ, but not in every way alike: some values are liked by almost everyone, some likings come together. A new user
//! who starts from what is true of most needs fewer rounds. Each theta is taken as one draw from N(m, P^-1), with P in the shape
//! of the [arrow](fable_core::posterior::Layout), so that the learner stays exact. Thetas are never seen, only rewards are: the spread
//! of the users' posterior means would be too narrow where little was observed, and wrong where what was observed was chosen by a
//! learner. Expectation and maximization does it right:
//!
//! - E: every user's posterior N(mu, Sigma) under the present m and P, by the learner's own update.
//! - M: m is the mean of mu, C that of Sigma + (mu - m)(mu - m)^T, and P the arrow-shaped precision that agrees with C on every
//!   clique (a leaf with the root): the sum of the cliques' inverses less those of the separators, see [`Gaussian::of_moments`].
//!
//! Each step makes what was observed more likely. With d coordinates and few users C is mostly noise, so it is shrunk: `n`
//! imagined users have the covariance of the most likely isotropic prior, and one has mean 0. Each step then makes the penalized
//! likelihood larger.
//!
//! Users may also have nothing in common, and then a fitted mean is luck that costs every new user regret. So how many users are
//! imagined, which share of the mean is kept, and whether the fit is kept at all, is decided by users that were left out of it:
//! see [`choose`]. The policy's own prior stays unless something else is clearly better.
//!
//! The result is a snapshot with zero rounds ([`Population::snapshot`]): a device loads it like any other, and a host makes it
//! the prior of a policy ([`prior_file`](crate::prior_file)).
//!
//! ```
//! use fable_core::catalog::TAU2;
//! use fable_core::journal::Observation;
//! use fable_core::{Action, Context, Policy, Settings};
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

pub mod choose;
mod em;
mod evidence;
mod gaussian;
mod transfer;

pub use em::{Moments, Shrinkage, expect, log_likelihood};
pub use evidence::{Evidence, Sighting};
pub use gaussian::Gaussian;

use crate::prior_file::PriorFileError;
use fable_core::Policy;
use fable_core::posterior::{PosteriorError, PriorError};
use fable_core::settings::{BASE_PRECISION, table};
use std::fmt;
use std::num::NonZero;

/// Fewest users that a prior is fitted from: with fewer there is no telling what they have in common.
pub const MIN_USERS: usize = 5;

/// How to fit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// How many imagined users hold the covariance back, with the whole mean; `None` lets users who are left out decide what is
    /// kept of mean and precision: one by one, each fifth in turn, or one fifth of many.
    pub shrinkage: Option<f64>,
    /// Whether the noise variance is chosen on users who are left out, too: the prior is then one for
    /// [`Population::noise_variance`].
    pub choose_noise: bool,
    /// Most steps of a fit.
    pub steps: usize,
    /// How many threads work; changes no number.
    pub threads: NonZero<usize>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            shrinkage: None,
            choose_noise: false,
            steps: 40,
            threads: std::thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN),
        }
    }
}

/// Imagined users that are tried, in multiples of the dimension, the most first: each fit begins where the one before it ended.
const SHRINKAGES: [f64; 4] = [16.0, 1.0, 0.25, 0.0625];
/// Noise variances that are tried one after the other, at most, each as the one before it foretold.
const NOISES: usize = 4;
/// A noise variance is good when errors are as large as foretold up to this factor.
const NOISE_FACTOR: f64 = 1.02;
/// Parts that users are left out in.
const PARTS: usize = 5;
/// Fewer users are left out one by one: a fifth of nine would be missed.
const FEW: usize = 20;
/// From so many users on, one part says enough.
const MANY: usize = 500;
/// Steps of a fit that is only compared.
const TRIAL_STEPS: usize = 8;
/// A fit has ended when a step gains less than this for each user, in nats.
const GAIN: f64 = 1e-3;

/// What was kept of a fit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kept {
    /// Nothing that users have in common was found: the policy's own prior, or one around 0 that is more precise.
    Isotropic {
        /// Precision of every coordinate.
        precision: f64,
    },
    /// Fitted mean and precision.
    Fitted {
        /// How many imagined users hold the precision back.
        imagined: f64,
        /// The share of the mean that is kept.
        share: f64,
    },
}

/// A fitted prior.
#[derive(Clone, Debug, PartialEq)]
pub struct Population {
    /// The prior.
    pub prior: Gaussian,
    /// Users that it was fitted from.
    pub users: usize,
    /// What was observed of them, in all.
    pub observations: usize,
    /// What was kept.
    pub kept: Kept,
    /// How much likelier left-out users are than under the best isotropic prior, calibrated, in nats for each user, and the
    /// standard error; `None` if nothing was left out.
    pub gain: Option<(f64, f64)>,
    /// The noise variance that the prior is for.
    pub noise_variance: f64,
    /// How many times larger the errors on left-out users were than foretold, as variances; `None` if nothing was left out.
    pub surprise: Option<f64>,
    /// Precision of the most likely isotropic prior, around a mean of its own.
    pub isotropic_precision: f64,
    /// ln p of everything observed, with the penalty, before each step and after the last; empty for an isotropic prior.
    pub objective: Vec<f64>,
    /// ln p of an observation, on average, under the policy's own prior and under this one. Not for comparing models: these are
    /// the users it was fitted from.
    pub log_likelihood: [f64; 2],
}

/// Fits a prior to users. Users of whom nothing was observed do not count.
///
/// # Errors
/// Fewer than [`MIN_USERS`] users, or evidence of another catalog.
pub fn fit(policy: &Policy<'_, f64>, users: &[Evidence], options: &Options) -> Result<Population, FitError> {
    fit_telling(policy, users, options, &mut |_| ())
}

/// The same, and tells what is being done, in words.
///
/// # Errors
/// As for [`fit`].
pub fn fit_telling(
    policy: &Policy<'_, f64>,
    users: &[Evidence],
    options: &Options,
    tell: &mut dyn FnMut(&str),
) -> Result<Population, FitError> {
    let users: Vec<&Evidence> = users.iter().filter(|user| !user.sightings().is_empty()).collect();
    if users.len() < MIN_USERS {
        return Err(FitError::TooFewUsers { found: users.len() });
    }
    if options.shrinkage.is_some_and(|users| !(users > 0.0 && users <= 1e9)) {
        return Err(FitError::Shrinkage);
    }
    let settings = policy.settings();
    let (mut noise, range) = (settings.noise_variance, table::NOISE_VARIANCE.range);
    let mut population = fit_with(policy, &users, noise, options, tell)?;
    if options.choose_noise {
        for _ in 0..NOISES {
            let surprise = population.surprise.unwrap_or(1.0);
            // Three digits, so that a person can say it again.
            let next = three_digits((noise * surprise).clamp(range.least, range.most));
            if (surprise / NOISE_FACTOR..=surprise * NOISE_FACTOR).contains(&1.0) || next == noise {
                break;
            }
            noise = next;
            tell(&format!("noise variance {noise}"));
            let factor = noise / settings.noise_variance;
            let noisy: Vec<Evidence> =
                users.iter().map(|user| (*user).clone().with_noise_times(factor)).collect();
            population = fit_with(policy, &noisy.iter().collect::<Vec<_>>(), noise, options, tell)?;
        }
    }
    Ok(population)
}

fn three_digits(number: f64) -> f64 {
    format!("{number:.2e}").parse().unwrap_or(number)
}

/// A fit with a noise variance that the evidence has already.
fn fit_with(
    policy: &Policy<'_, f64>,
    users: &[&Evidence],
    noise_variance: f64,
    options: &Options,
    tell: &mut dyn FnMut(&str),
) -> Result<Population, FitError> {
    let (arrow, threads) = (policy.catalog().layout(), options.threads);
    let own = Gaussian::isotropic(arrow, policy.base_precision());
    let observations = users.iter().map(|user| user.sightings().len()).sum::<usize>();
    let before = log_likelihood(&own, users)?;
    tell("where to begin");
    let (start, variance) = isotropic(own, users, options)?;
    let (kept, gain, surprise) = if let Some(imagined) = options.shrinkage {
        (Kept::Fitted { imagined, share: 1.0 }, None, None)
    } else {
        let choice = choose_kept(policy.base_precision(), &start, variance, users, options, tell)?;
        (choice.kept, Some(choice.gain), Some(choice.surprise))
    };
    let Climb { prior, objective } = match kept {
        Kept::Isotropic { precision } => {
            Climb { prior: Gaussian::isotropic(arrow, precision), objective: Vec::new() }
        }
        Kept::Fitted { imagined, share } => {
            tell("everyone");
            let held = Shrinkage { users: imagined, variance, of_mean: 1.0 };
            let climb = climb(start, users, &held, options.steps, threads)?;
            Climb { prior: climb.prior.with_mean_times(share), ..climb }
        }
    };
    let after = log_likelihood(&prior, users)?;
    let log_likelihood = [before, after].map(|sum| sum / observations as f64);
    let (users, isotropic_precision) = (users.len(), 1.0 / variance);
    Ok(Population {
        prior,
        users,
        observations,
        kept,
        gain,
        noise_variance,
        surprise,
        isotropic_precision,
        objective,
        log_likelihood,
    })
}

/// The most likely isotropic prior around a mean of its own: where the fit begins, and the variance it is shrunk to.
fn isotropic(
    mut prior: Gaussian,
    users: &[&Evidence],
    options: &Options,
) -> Result<(Gaussian, f64), FitError> {
    let arrow = prior.layout();
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
        prior = moments.maximize(prior.layout(), shrinkage).ok_or(FitError::Degenerate)?;
    }
    let last = expect(&prior, users, threads)?.log_likelihood + shrinkage.penalty(&prior);
    objective.push(last);
    Ok(Climb { prior, objective })
}

/// What left-out users support.
struct Choice {
    kept: Kept,
    gain: (f64, f64),
    surprise: f64,
}

/// Lets left-out users decide what is kept: the best fit, if it is clearly better than the best prior around 0; `own` is the
/// policy's precision.
fn choose_kept(
    own: f64,
    start: &Gaussian,
    variance: f64,
    users: &[&Evidence],
    options: &Options,
    tell: &mut dyn FnMut(&str),
) -> Result<Choice, FitError> {
    let (arrow, threads) = (start.layout(), options.threads);
    let parts = if users.len() < FEW { users.len() } else { PARTS };
    // One fifth of many users says enough; what isotropic priors foretell is compared on the same users.
    let tried = if users.len() < MANY { parts } else { 1 };
    let mut fitted = vec![Vec::new(); SHRINKAGES.len()];
    let mut out = Vec::new();
    for part in 0..tried {
        let of = |inside: bool| {
            users.iter().enumerate().filter(move |(index, _)| (index % parts == part) == inside)
        };
        let here: Vec<&Evidence> = of(true).map(|(_, user)| *user).collect();
        let rest: Vec<&Evidence> = of(false).map(|(_, user)| *user).collect();
        let mut prior = start.clone();
        for (number, (fitted, multiple)) in fitted.iter_mut().zip(SHRINKAGES).enumerate() {
            tell(&format!("left out {} of {tried}, fit {} of {}", part + 1, number + 1, SHRINKAGES.len()));
            let held = Shrinkage { users: multiple * arrow.dimension() as f64, variance, of_mean: 1.0 };
            prior = climb(prior, &rest, &held, TRIAL_STEPS, threads)?.prior;
            fitted.extend(choose::foretell(&prior, &here, threads)?);
        }
        out.extend(here);
    }
    let (mut isotropic, mut fits) = (Vec::new(), Vec::new());
    for precision in [own, (choose::CAUTIOUS * own).min(BASE_PRECISION.most)] {
        tell(&format!("precision {precision} everywhere"));
        let told = choose::foretell(&Gaussian::isotropic(arrow, precision), &out, threads)?;
        isotropic.push(Candidate::new(Kept::Isotropic { precision }, &told, 0.0));
    }
    for share in choose::SHARES {
        for (told, multiple) in fitted.iter().zip(SHRINKAGES) {
            fits.push(Candidate::new(
                Kept::Fitted { imagined: multiple * arrow.dimension() as f64, share },
                told,
                share,
            ));
        }
    }
    let [isotropic, fitted] = [isotropic, fits].map(best);
    let (isotropic, fitted) = isotropic.zip(fitted).ok_or(FitError::Degenerate)?;
    let chosen = if choose::clearly_better(&fitted.scores, &isotropic.scores) { &fitted } else { &isotropic };
    Ok(Choice {
        kept: chosen.kept,
        gain: choose::behind(&isotropic.scores, &chosen.scores),
        surprise: chosen.surprise,
    })
}

/// A prior that left-out users are foretold with.
struct Candidate {
    kept: Kept,
    /// By left-out user.
    scores: Vec<f64>,
    surprise: f64,
}

impl Candidate {
    fn new(kept: Kept, told: &[choose::Foretold], share: f64) -> Self {
        Self { kept, scores: choose::calibrated(told, share), surprise: choose::surprise(told, share) }
    }
}

fn best(mut candidates: Vec<Candidate>) -> Option<Candidate> {
    let scores: Vec<Vec<f64>> = candidates.iter().map(|candidate| candidate.scores.clone()).collect();
    choose::best(&scores).map(|place| candidates.swap_remove(place))
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
                write!(
                    f,
                    "a prior is fitted from at least {MIN_USERS} users with something learned, and there are {found}"
                )
            }
            Self::Shrinkage => {
                f.write_str("the number of imagined users must be above 0 and at most 1000000000")
            }
            Self::Degenerate => f.write_str("the users are too much alike for a Gaussian; shrink more"),
            Self::Range(error) => write!(f, "the fitted prior is out of range: {error}"),
            Self::Evidence(error) => write!(f, "what was observed is not of this catalog: {error}"),
            Self::File(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for FitError {}

crate::from!(FitError: PosteriorError => Evidence, PriorFileError => File);
