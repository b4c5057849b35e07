//! How much rewards surprise: what the scale of exploration is learned from, and what notices that a user has
//! changed.
//!
//! A reward is predicted with mean phi.mu and variance v = sigma^2 + phi.Sigma.phi; e is what it differs by,
//! and e^2 / v is 1 on average if the model is right. **The scale** is s^2 = max(1, (a + q / 2) / (a + n /
//! 2)) with q the sum of e^2 / v over n rewards and a = [`TRUST`], so that it takes about 16 rewards to count
//! as much as the settings do: rewards of +1 and -1, which scatter more than the settings say, are explored
//! more widely before one of them decides, and graded ones are not. It is at least 1, because a user who
//! surprises less than expected is no reason to stop exploring. q is what is left of the squares of all
//! rewards after fitting them, whatever their order, so a reward that is taken back leaves it as if it had
//! never come. n is what the counts of evidence add up to. Statements and imputed rewards surprise nobody:
//! they are not counted.
//!
//! **A change** shows as disappointment: what was the best action until now is suddenly rewarded less than
//! predicted. With a scale that follows faster, a = [`HASTE`], and x = -e / (s sqrt(v)) the evidence M <-
//! max(M, 1) exp(x - 1/2) multiplies as long as it goes on, and at 1,000 the change is noticed and M starts
//! again at 1. As long as a user stays the same and the noise of rewards is no wider than a normal one of
//! variance s^2 v, M stays under a Shiryaev-Roberts martingale, so that there are at least 1,000 rewards from
//! one false alarm to the next on average. The first [`SETTLING`] rewards raise none: the scale has to be
//! found first.

use super::State;
use crate::numbers::Number;
use crate::posterior::Update;

/// Rewards after a start or a fading that raise no alarm.
const SETTLING: u16 = 10;

/// Half the rewards that the settings count as when the scale of exploration is learned.
const TRUST: f64 = 8.0;
/// The same for the alarm, which must not take noise for a change.
const HASTE: f64 = 2.0;

/// ln 1000: at least 1,000 rewards from one false alarm to the next on average.
const LN_ALARM: f64 = 6.907_755_278_982_137;

/// Units of ln M in 1.
const UNIT: f64 = 4_096.0;

/// Whether numbers of a [`State`] are such as counting leads to.
#[cfg(feature = "record")]
pub(crate) fn is_sound(squares: f32, disappointment: u16) -> bool {
    (0.0..1e12).contains(&squares) && f64::from(disappointment) < UNIT * LN_ALARM
}

impl State {
    /// s^2 of exploration after n rewards.
    pub(super) fn scale_squared(&self, rewards: f64) -> f64 {
        self.surprising(TRUST, rewards)
    }

    /// max(1, (a + q / 2) / (a + n / 2))
    fn surprising(&self, settings: f64, rewards: f64) -> f64 {
        ((settings + f64::from(self.squares) / 2.0) / (settings + rewards / 2.0)).max(1.0)
    }

    /// Sets q.
    #[expect(clippy::cast_possible_truncation, reason = "rounding to nearest is the point")]
    pub(super) const fn set_squares(&mut self, squares: f64) {
        self.squares = squares.max(0.0) as f32;
    }

    /// Counts the surprise of a reward that was learned, or taken back: its variance is negative then.
    pub(super) fn count_surprise<T: Number>(&mut self, update: &Update<T>) {
        let (innovation, variance) = (update.innovation.to_f64(), update.variance.to_f64());
        self.set_squares(f64::from(self.squares) + innovation * innovation / variance);
    }

    /// Weighs a reward as evidence of a change, after n rewards.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to less than 2^16")]
    pub(super) fn weigh<T: Number>(&mut self, update: &Update<T>, rewards: f64) {
        let sd = libm::sqrt(update.variance.to_f64() * self.surprising(HASTE, rewards));
        let evidence = f64::from(self.disappointment) / UNIT - update.innovation.to_f64() / sd - 0.5;
        let alarm = self.since_fading >= SETTLING && evidence >= LN_ALARM;
        self.since_change = match self.since_change {
            _ if alarm => 1,
            0 => 0,
            since => since.saturating_add(1),
        };
        let most = UNIT * LN_ALARM - 1.0;
        self.disappointment = if alarm { 0 } else { (UNIT * evidence.max(0.0)).min(most) as u16 };
    }
}
