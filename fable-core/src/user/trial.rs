//! Analysis of the probes of a declared contrast: a test by betting, an interval, and a test for a later
//! change.
//!
//! A [probe](super::probe) plays the value that the contrast prefers (C = 1) or the other value (C = 0), by a
//! fair coin. All other values are the same. Let r be the reward, and m the reward that was expected before
//! the coin. Then
//!
//! Z = (2C - 1)(r - m), |Z| <= B = 1 + |m|, and E[Z | past] is half the difference of this user's rewards of
//! the two,
//!
//! costs included. It assumes only rewards in [-1, 1], no model and nothing about noise. The ellipsoid of
//! [`assess`](super::User::assess) is about the residual instead, the difference to the reference score.
//!
//! **The test.** For each direction a wealth, K+- = mean over c of prod (1 +- c Z / B) with c in {1/16, 1/8,
//! 1/4, 1/2, 7/8}. Without a difference in its direction a wealth is 1 on average at most, at any time. So it
//! ever reaches x with probability 1/x at most (Ville). At [`Policy::needed`](crate::Policy::needed) = 2 M /
//! alpha_p the contrast is certified: two directions, M declared contrasts, alpha_p half of alpha.
//!
//! **The interval** is about the average difference over the trials so far, which is meaningful for users who
//! change, too. With X = (Z / 2 + 1) / 2 in [0, 1], an earlier guess X', V = sum (X - X')^2 and psi(l) =
//! -ln(1 - l) - l, the mean over l of exp(l S - psi(l) V) is 1 on average at most (empirical Bernstein). S is
//! the excess of the sum of X over the sum of its means. The interval has all means for which that is below 2
//! / alpha, for each contrast by itself.
//!
//! **Afterwards** an e-detector tests each certificate: M <- (M + 1)(1 -+ c Z / B), with the best stake c of
//! the trials before. At [`WITHDRAWN`] the certificate is withdrawn, wrongly once in so many trials on
//! average at most, and the contrast starts again. It also starts again when a reward of its probes is
//! unlearned. Each start has half the alpha of the start before. So a contrast is wrong with at most twice
//! the probability of one that never starts again.
//!
//! A missing or imputed reward counts as r = m. If missing depends on how pleased the user is, a certificate
//! can be wrong.

use super::assess::Verdict;
use super::{User, UserError, supported};
use crate::catalog::score::Scalar;
use crate::catalog::{ContrastSet, TRIAL_LEN};
use crate::numbers::Number;

/// c
const STAKES: [f64; 5] = [0.0625, 0.125, 0.25, 0.5, 0.875];
/// l
const RATES: [f64; 6] = [0.0625, 0.125, 0.25, 0.5, 0.75, 0.9375];
/// Trials from a certificate to its wrong withdrawal, on average, at least.
const WITHDRAWN: f64 = 1_000.0;
/// Most trials of a contrast. After so many it is not probed.
pub const MAX_TRIALS: u16 = u16::MAX;
/// Most restarts that are counted.
const MAX_RESTARTS: u8 = 31;

/// The trials of a declared contrast so far.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Trial {
    /// Probes with a reward since the contrast last started.
    pub trials: u16,
    /// The larger of the two wealths: 1 at the start.
    pub e_value: f64,
    /// The wealth that certifies the contrast.
    pub needed: f64,
    /// The average difference in reward, preferred minus other, over these trials.
    pub average: Average,
    /// The certified side; `Open` without a certificate.
    pub certified: Verdict,
    /// Alpha is that of the learner's start, so the guarantee holds as far as the learner can know.
    pub valid: bool,
}

/// An average difference and its interval, which holds at all times at once with probability 1 - alpha.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Average {
    /// 2 sum Z / n; 0 without a trial.
    pub mean: f64,
    /// Lower end, at least -2.
    pub lower: f64,
    /// Upper end, at most 2.
    pub upper: f64,
}

/// The numbers of one contrast.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Account {
    /// ln of each product, for and against.
    logs: [[f64; STAKES.len()]; 2],
    /// Sum of Z.
    sum: f64,
    /// V
    squares: f64,
    /// m of the last probe.
    pub(crate) expected: f64,
    pub(crate) trials: u16,
    pub(crate) certified: Verdict,
    restarts: u8,
    /// The e-detector.
    alarm: f64,
}

/// Distance of statuses that differ in the certificate.
const CERTIFICATE: u32 = 1 << 16;
/// Distance of statuses that differ in the number of restarts.
const RESTART: u32 = 3 * CERTIFICATE;

impl Account {
    const NEW: Self = Self {
        logs: [[0.0; STAKES.len()]; 2],
        sum: 0.0,
        squares: 0.0,
        expected: 0.0,
        trials: 0,
        certified: Verdict::Open,
        restarts: 0,
        alarm: 0.0,
    };

    /// Reads an account from a learner's storage: ten logs, sum of Z, V, m, the status, the e-detector. All
    /// zero at the start.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a status is an integer below 2^23"
    )]
    pub(crate) fn read<T: Number>(numbers: &[T]) -> Self {
        let mut numbers = numbers.iter().map(|number| number.to_f64());
        let mut next = || numbers.next().unwrap_or(0.0);
        let mut account = Self::NEW;
        account.logs.as_flattened_mut().iter_mut().for_each(|log| *log = next());
        (account.sum, account.squares, account.expected) = (next(), next(), next());
        let status = next() as u32;
        account.trials = (status % CERTIFICATE) as u16;
        account.certified = match status % RESTART / CERTIFICATE {
            0 => Verdict::Open,
            1 => Verdict::For,
            _ => Verdict::Against,
        };
        account.restarts = (status / RESTART) as u8;
        account.alarm = next();
        account
    }

    /// Writes an account as [`read`](Self::read) reads it.
    pub(crate) fn write<T: Number>(&self, numbers: &mut [T]) {
        let certified = match self.certified {
            Verdict::Open => 0,
            Verdict::For => 1,
            Verdict::Against => 2,
        };
        let status = u32::from(self.trials) + CERTIFICATE * certified + RESTART * u32::from(self.restarts);
        let rest = [self.sum, self.squares, self.expected, f64::from(status), self.alarm];
        for (slot, number) in numbers.iter_mut().zip(self.logs.as_flattened().iter().chain(&rest)) {
            *slot = T::from_f64(*number);
        }
    }

    /// Adds the reward of a probe with m = `expected`.
    pub(crate) fn settle(&mut self, expected: f64, preferred: bool, reward: f64) {
        let bound = 1.0 + expected.abs();
        let z = if preferred { reward - expected } else { expected - reward };
        let side = f64::from(self.certified.sign());
        if side != 0.0 {
            self.alarm = (self.alarm + 1.0) * (1.0 - side * self.stake(bound) * z / bound);
            if self.alarm >= WITHDRAWN {
                return self.restart();
            }
        }
        for (logs, sign) in self.logs.iter_mut().zip([1.0, -1.0]) {
            for (log, stake) in logs.iter_mut().zip(STAKES) {
                *log += libm::log1p(sign * stake * z / bound);
            }
        }
        // X, and its guess: the mean of earlier X and of one half.
        let count = f64::from(self.trials);
        let guess = (0.5 + 0.5 * count + 0.25 * self.sum) / (count + 1.0);
        let surprise = 0.5 + 0.25 * z - guess;
        self.squares += surprise * surprise;
        self.sum += z;
        self.trials = self.trials.saturating_add(1);
    }

    /// The stake of fastest growth if the difference changes sign: E x / E x^2 of x = Z / B, over earlier
    /// trials.
    fn stake(&self, bound: f64) -> f64 {
        let (count, mean) = (f64::from(self.trials.max(1)), self.sum.abs() / f64::from(self.trials.max(1)));
        let square = 16.0 * self.squares / count + mean * mean;
        let best = if square > 0.0 { bound * mean / square } else { 0.0 };
        best.clamp(0.0625, 0.875)
    }

    /// Starts again, with half the alpha.
    pub(crate) fn restart(&mut self) {
        *self =
            Self { expected: self.expected, restarts: (self.restarts + 1).min(MAX_RESTARTS), ..Self::NEW };
    }

    /// K+ and K-.
    pub(crate) fn wealth(&self) -> [f64; 2] {
        let mean = |logs: [f64; STAKES.len()]| logs.iter().map(|log| libm::exp(*log)).sum::<f64>() / 5.0;
        self.logs.map(|logs| mean(logs).min(f64::MAX))
    }

    /// The direction with a wealth of at least `needed`.
    pub(crate) fn verdict(&self, needed: f64) -> Verdict {
        // A mean is at most the largest term. No exponential is needed while all terms are too small.
        if self.closeness() < libm::log(needed) - 1e-6 {
            return Verdict::Open;
        }
        let [plus, minus] = self.wealth();
        if plus >= needed {
            Verdict::For
        } else if minus >= needed {
            Verdict::Against
        } else {
            Verdict::Open
        }
    }

    /// The largest logarithm of a product: the distance from a certificate, without an exponential.
    pub(crate) fn closeness(&self) -> f64 {
        self.logs.as_flattened().iter().copied().fold(0.0, f64::max)
    }

    /// The factor by which restarts raise the needed wealth.
    pub(crate) fn factor(&self) -> f64 {
        f64::from(1_u32 << self.restarts.min(MAX_RESTARTS))
    }

    /// The interval. A mean outside of it has probability alpha / 2 at most on either side.
    pub(crate) fn average(&self, alpha: f64) -> Average {
        let count = f64::from(self.trials);
        if self.trials == 0 {
            return Average { mean: 0.0, lower: -2.0, upper: 2.0 };
        }
        let mean = 2.0 * self.sum / count;
        let reach = 8.0 * excess(self.squares, alpha) / count;
        let (lower, upper) = ((mean - reach).clamp(-2.0, 2.0), (mean + reach).clamp(-2.0, 2.0));
        Average { mean: mean.max(lower).min(upper), lower, upper }
    }
}

/// The S at which the mean over l of exp(l S - psi(l) V) is 2 / alpha. Newton's steps come from above, since
/// the logarithm is convex in S.
fn excess(squares: f64, alpha: f64) -> f64 {
    let psi = RATES.map(|rate| -libm::log1p(-rate) - rate);
    let (count, aim) = (6.0, libm::log(2.0 / alpha));
    // The solution for one l alone.
    let alone = |(rate, psi): (f64, f64)| (aim + libm::log(count) + psi * squares) / rate;
    let mut excess = RATES.into_iter().zip(psi).map(alone).fold(f64::INFINITY, f64::min);
    for _ in 0..8 {
        let (mut sum, mut slope) = (0.0, 0.0);
        for (rate, psi) in RATES.into_iter().zip(psi) {
            let part = libm::exp(rate * excess - psi * squares);
            sum += part;
            slope += rate * part;
        }
        if slope > 0.0 {
            excess -= ((libm::log(sum / count) - aim) * sum / slope).max(0.0);
        }
    }
    excess
}

/// True if a number of a contrast, by its index, is possible.
#[cfg(feature = "record")]
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "clamped by the cast, then compared"
)]
pub(crate) fn is_possible(index: usize, number: f64) -> bool {
    let trials = f64::from(MAX_TRIALS);
    match index {
        0..10 => (-2.1 * trials..=trials).contains(&number),
        10 => (-2.0 * trials..=2.0 * trials).contains(&number),
        11 => (0.0..=trials).contains(&number),
        12 => (-1.0..=1.0).contains(&number),
        13 => {
            let status = number as u32;
            f64::from(status) == number && status < RESTART * (1 + u32::from(MAX_RESTARTS))
        }
        _ => (0.0..WITHDRAWN).contains(&number),
    }
}

/// The numbers of a declared contrast.
pub(crate) fn numbers<T>(trials: &mut [T], contrast: usize) -> Option<&mut [T]> {
    let start = TRIAL_LEN.checked_mul(contrast)?;
    trials.get_mut(start..start.checked_add(TRIAL_LEN)?)
}

/// Starts contrasts again.
pub(crate) fn restart<T: Number>(trials: &mut [T], contrasts: &ContrastSet) {
    for contrast in contrasts.iter() {
        if let Some(numbers) = numbers(trials, contrast) {
            let mut account = Account::read(numbers);
            account.restart();
            account.write(numbers);
        }
    }
}

impl<T: Scalar> User<'_, T> {
    /// The numbers of a declared contrast.
    pub(super) fn account(&self, contrast: usize) -> Option<Account> {
        let start = self.policy.catalog().trials_start() + TRIAL_LEN * contrast;
        self.policy.catalog().contrasts().get(contrast)?;
        self.memory.storage.get(start..start + TRIAL_LEN).map(Account::read)
    }

    /// The trials of a declared contrast, by its position.
    ///
    /// # Errors
    /// [`UserError::UnknownContrast`] for a contrast that the catalog does not have; without the feature
    /// `probes` [`UserError::Unsupported`].
    ///
    /// ```
    /// use fable_core::catalog::TAU2;
    /// use fable_core::preference::Verdict;
    /// use fable_core::{HostUser, Policy, Settings};
    /// let policy = Policy::<f32>::new(&TAU2, Settings::default())?;
    /// let mut ana = HostUser::<f32>::new(&policy, "ana")?;
    /// let trial = ana.user().trial(TAU2.contrast("concise_over_guided").unwrap())?;
    /// assert_eq!((trial.trials, trial.e_value, trial.needed), (0, 1.0, 480.0)); // 4 x 6 contrasts / 0.05
    /// assert_eq!((trial.average.lower, trial.average.upper, trial.certified), (-2.0, 2.0, Verdict::Open));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn trial(&self, contrast: usize) -> Result<Trial, UserError> {
        supported(cfg!(feature = "probes"))?;
        self.admit()?;
        let account = self.account(contrast).ok_or(UserError::UnknownContrast)?;
        let [plus, minus] = account.wealth();
        Ok(Trial {
            trials: account.trials,
            e_value: plus.max(minus),
            needed: self.policy.needed() * account.factor(),
            average: account.average(self.policy.settings().alpha / account.factor()),
            certified: account.certified,
            valid: self.keeps_guarantee(),
        })
    }

    /// The direction that the trials of a declared contrast certify, recorded or not.
    pub(super) fn certificate(&self, contrast: usize) -> Verdict {
        let Some(account) = self.account(contrast) else { return Verdict::Open };
        match account.certified {
            Verdict::Open => account.verdict(self.policy.needed() * account.factor()),
            certified => certified,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(trials: &[(bool, f64, f64)]) -> Account {
        let mut account = Account::NEW;
        for (preferred, expected, reward) in trials {
            account.settle(*expected, *preferred, *reward);
        }
        account
    }

    /// All sequences of four fair coins. Rewards do not depend on them, and expectations depend on the past.
    #[test]
    fn without_a_difference_wealth_is_one_on_average() {
        let rewards = [0.7, -1.0, 1.0, 0.1];
        let mut sums = [0.0; 2];
        for bits in 0..16_u32 {
            let mut account = Account::NEW;
            for (place, reward) in rewards.into_iter().enumerate() {
                let expected = (0.5 * account.sum).clamp(-1.0, 1.0);
                account.settle(expected, bits >> place & 1 == 1, reward);
            }
            for (sum, wealth) in sums.iter_mut().zip(account.wealth()) {
                *sum += wealth / 16.0;
            }
        }
        assert!(sums.iter().all(|mean| (mean - 1.0).abs() < 1e-12), "{sums:?}");
    }

    #[test]
    fn storage_keeps_an_account_whole() {
        let mut account = after(&[(true, 0.25, 0.5), (false, -0.5, 0.75), (true, 0.0, -1.0)]);
        (account.certified, account.restarts, account.alarm) = (Verdict::Against, 31, 999.5);
        let mut numbers = [0.0_f64; TRIAL_LEN];
        account.write(&mut numbers);
        assert_eq!(Account::read(&numbers), account);
        assert_eq!(Account::read(&[0.0_f32; TRIAL_LEN]), Account::NEW);
        (account.trials, account.certified) = (u16::MAX, Verdict::For);
        let mut short = [0.0_f32; TRIAL_LEN];
        account.write(&mut short);
        let read = Account::read(&short);
        assert_eq!((read.trials, read.certified, read.restarts), (u16::MAX, Verdict::For, 31));
    }

    #[test]
    fn the_interval_solves_its_equation() {
        for (squares, alpha) in [(0.0, 0.05), (0.3, 0.05), (2.0, 0.5), (40.0, 1e-12), (5_000.0, 0.01)] {
            let s = excess(squares, alpha);
            let terms = RATES.map(|l| (l * s - (-(1.0 - l).ln() - l) * squares).exp());
            let mean = terms.iter().sum::<f64>() / 6.0;
            assert!((mean * alpha / 2.0 - 1.0).abs() < 1e-9, "{squares} {alpha} {mean}");
        }
    }

    #[test]
    fn a_certificate_is_withdrawn_when_the_difference_turns() {
        let mut account = after(&[(true, 0.0, 0.4), (false, 0.0, -0.3)].repeat(40));
        assert_eq!(account.verdict(480.0), Verdict::For);
        account.certified = Verdict::For;
        let coins = (0..).take_while(|coin| {
            account.settle(account.expected, coin % 2 == 0, if coin % 2 == 0 { -0.3 } else { 0.4 });
            account.restarts == 0
        });
        assert!(coins.count() < 60);
        assert_eq!(
            (account.certified, account.trials, account.wealth(), account.factor()),
            (Verdict::Open, 0, [1.0; 2], 2.0)
        );
    }
}
