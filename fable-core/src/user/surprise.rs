//! Surprise of rewards: the scale of exploration, and the detection of a user who has changed.
//!
//! A reward is predicted with mean phi.mu and variance v = sigma^2 + phi.Sigma.phi. Its error is e, and e^2 /
//! v is 1 on average if the model is right.
//!
//! **The scale** is s^2 = max(1, (a + q / 2) / (a + n / 2)), with q the sum of e^2 / v over n rewards and a =
//! [`TRUST`]. After about 16 rewards they count as much as the settings. Rewards of +1 and -1 scatter more
//! than the settings say, so they are explored more widely. Graded rewards are not. s^2 is at least 1, since
//! less surprise is no reason to explore less.
//!
//! q is the sum of squares that fitting all rewards leaves, in any order. A reward that is taken back leaves
//! q as if it had never come. n is the sum of the evidence counts. Statements and imputed rewards do not
//! count.
//!
//! **A change** shows as rewards below their prediction: the best action until now gets worse. With a faster
//! scale, a = [`HASTE`], and x = -e / (s sqrt(v)), the evidence is M <- max(M, 1) exp(x - 1/2). At 1,000 a
//! change is noticed, and M starts again at 1.
//!
//! For a user who stays the same, and noise no wider than a normal one of variance s^2 v, M stays below a
//! Shiryaev-Roberts martingale. So there are at least 1,000 rewards between two false alarms on average. The
//! first [`SETTLING`] rewards raise no alarm, until the scale is known.

use super::State;
use crate::numbers::Number;
use crate::posterior::Update;

/// Rewards after a start or a fading that raise no alarm.
const SETTLING: u16 = 10;

/// a for exploration: half the number of rewards that the settings count as.
const TRUST: f64 = 8.0;
/// a for the alarm, which must not take noise for a change.
const HASTE: f64 = 2.0;

/// ln 1000: at least 1,000 rewards between two false alarms on average.
const LN_ALARM: f64 = 6.907_755_278_982_137;

/// Units of ln M in 1.
const UNIT: f64 = 4_096.0;

/// True if these numbers of a [`State`] are possible.
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

    /// Adds e^2 / v of a reward to q. The variance of a reward that is taken back is negative.
    pub(super) fn count_surprise<T: Number>(&mut self, update: &Update<T>) {
        let (innovation, variance) = (update.innovation.to_f64(), update.variance.to_f64());
        self.set_squares(f64::from(self.squares) + innovation * innovation / variance);
    }

    /// Updates the evidence of a change with a reward, after n rewards.
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
