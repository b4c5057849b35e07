//! People who have something in common, and a prior for those of them whom nobody has seen yet, fitted to others.
//!
//! What a member likes is made of two tastes of a simulated user in equal parts: one that all members share, and one of their own. Strangers,
//! the page's other users, share nothing, and a fit to them says so.
//!
//! What `fable prior fit` writes has a number for each pair of coordinates that can hang together, 13 KB that do not compress. `team.bin`
//! is its diagonal in two bytes for each coordinate: the mean, and the deviation. `cargo run --release -p fable-browser --example team` makes
//! it, and the test `the_fit_is_the_one_that_ships` makes it again. The page turns it into the file that `fable replay --prior` takes, so
//! what is learned under it can be checked like everything else.

use crate::refused;
use alloc::vec::Vec;
use fable_core::host::HostLearner;
use fable_core::posterior::Prior;
use fable_core::{Policy, Settings};
use fable_js::{AGENT, Refusal};
use fable_simulate::SimulatedUser;

/// The taste that members share, as a seed. Nobody on the page has it by chance: seeds there are smaller than 2^32.
const SHARED: u64 = 1 << 39;

/// The seed of the first member whom the prior was fitted to; nobody on the page is among them either.
pub const FITTED_TO: u64 = 1 << 40;

/// The member with a seed.
///
/// # Errors
/// None with the catalog of this page.
pub fn member(seed: u64) -> Result<SimulatedUser<'static>, Refusal> {
    let [shared, own] = [SHARED, seed].map(|seed| SimulatedUser::new(&AGENT, seed));
    let sum: Vec<f64> = shared.theta().iter().zip(own.theta()).map(|(shared, own)| shared + own).collect();
    let length = libm::sqrt(sum.iter().map(|weight| weight * weight).sum());
    SimulatedUser::with_theta(&AGENT, sum.iter().map(|weight| weight / length).collect(), seed)
        .map_err(refused)
}

/// Steps of a mean, and of a deviation.
const MEAN: f64 = 1.0 / 256.0;
const DEVIATION: f64 = 1.0 / 512.0;

static BYTES: &[u8] = include_bytes!("team.bin");

/// A mean and a precision for each coordinate.
#[derive(Clone, Debug, PartialEq)]
pub struct Fitted {
    mean: Vec<f64>,
    precision: Vec<f64>,
}

/// The bytes of means and deviations.
#[must_use]
pub fn pack(means: &[f64], deviations: &[f64]) -> Vec<u8> {
    let mean = |mean: &f64| libm::round(mean / MEAN).clamp(-127.0, 127.0) as i8 as u8;
    let deviation = |deviation: &f64| libm::round(deviation / DEVIATION).clamp(1.0, 255.0) as u8;
    means.iter().map(mean).chain(deviations.iter().map(deviation)).collect()
}

impl Fitted {
    /// The numbers of such bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        let (means, deviations) = bytes.split_at(bytes.len() / 2);
        let precision = |byte: &u8| {
            let deviation = DEVIATION * f64::from((*byte).max(1));
            1.0 / (deviation * deviation)
        };
        let mean = |byte: &u8| MEAN * f64::from(byte.cast_signed());
        Self { mean: means.iter().map(mean).collect(), precision: deviations.iter().map(precision).collect() }
    }

    /// As a learner takes it.
    #[must_use]
    pub fn prior(&self) -> Prior<'_, f32> {
        Prior::Diagonal { mean: &self.mean, precision: &self.precision }
    }
}

/// The prior as `fable prior fit` writes it: a snapshot of nobody, who has done nothing yet.
///
/// # Errors
/// None with the catalog of this page.
pub fn prior() -> Result<Vec<u8>, Refusal> {
    let policy = Policy::new(&AGENT, Settings::PROBING)?;
    let mut learner = HostLearner::<f32, 1>::for_policy(&policy);
    learner.start_from(&policy, &Fitted::of(BYTES).prior(), 0)?;
    learner.to_bytes().map_err(refused)
}
