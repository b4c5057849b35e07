//! Fading: discounts all observations evenly, toward the prior.
//!
//! Lambda <- k Lambda + (1 - k) Lambda_0 and h <- k h + (1 - k) h_0. This is exactly the posterior of the
//! same observations with k times their weight. Statements fade, too; a statement that should stay is made
//! again.
//!
//! Fading ends the guarantee of promotions by the ellipsoid, since theta may move. Trials of probes stay,
//! since they are about the rewards of their time.
//!
//! **When.** A fading follows a reward, before promotions are checked. It is due when
//! [`half_life`](crate::Settings::half_life) rewards were learned since the last fading: then half is kept.
//! It is also due, as [`on_change`](crate::Settings::on_change) says, at the reward that a change is noticed
//! by. The event has the share that is kept, so both settings may change at any time.
//!
//! A reward counts in full at the time it comes, also for a decision from before a fading. An earlier
//! observation is taken back with its remaining share, the product of all shares kept since.

use super::learner::{Regions, regions};
use super::{State, User, UserError, supported};
use crate::catalog::score::Scalar;
use crate::policy::Policy;
use crate::posterior::Fading;

/// A checked fading, with the memory that it changes.
#[derive(Debug)]
pub(super) struct Fade<'s, T> {
    state: &'s mut State,
    storage: &'s mut [T],
    workspace: &'s mut [T],
    policy: &'s Policy<'s, T>,
    keep: f32,
}

impl<T: Scalar> Fade<'_, T> {
    /// Applies the fading.
    #[inline(never)]
    pub(super) fn fade(self) {
        let Self { state, storage, workspace, policy, keep } = self;
        let Regions { packed, counts, .. } = regions(policy.catalog(), storage);
        let fading = Fading {
            layout: state.layout,
            prior: policy.prior(),
            base_precision: policy.base_precision(),
            keep,
        };
        let faded = fading.fade(packed, workspace);
        let kept = f64::from(keep);
        for count in counts {
            *count *= T::from_f32(keep);
        }
        // The sum of squares that fitting leaves of k times the observations: see `surprise`.
        state.set_squares(kept * (f64::from(state.squares) + faded.before) - faded.after);
        state.disappointment = 0;
        // The ratio is now relative to the prior, since statements have faded too.
        state.log_det_ratio = faded.log_det_ratio;
        state.since_fading = 0;
        state.voided = true;
        state.count();
    }
}

impl State {
    /// Number of rewards since a change of this user was noticed, up to 254; `None` if there was no change in
    /// this incarnation. For a user who stays the same a change is noticed once in 1,000 rewards on average,
    /// or less often.
    #[must_use]
    pub const fn rewards_since_change(&self) -> Option<u8> {
        self.since_change.checked_sub(1)
    }

    /// Number of rewards since the last fading or the start, up to 65,535.
    #[must_use]
    pub const fn rewards_since_fading(&self) -> u16 {
        self.since_fading
    }
}

impl<T: Scalar> User<'_, T> {
    /// Surprise of this user's rewards relative to the model, at least 1. It scales exploration under
    /// [`Scale::Learned`](crate::settings::Scale::Learned).
    #[must_use]
    pub fn scale(&self) -> f64 {
        libm::sqrt(self.state().scale_squared(self.rewards_left()))
    }

    /// Number of learned rewards, with the shares that fadings have left.
    pub(super) fn rewards_left(&self) -> f64 {
        let values =
            self.policy.catalog().definition().components.first().map_or(0, |first| first.values.len());
        (0..=u8::MAX).take(values).map(|value| self.evidence_left(0, value)).sum()
    }

    /// The share to keep, if a fading is due.
    #[must_use]
    pub fn fading_due(&self) -> Option<f32> {
        let settings = self.policy.settings();
        if self.state().since_fading == 0 {
            return None;
        }
        let changed = self.state().rewards_since_change() == Some(0);
        let faded = settings
            .half_life
            .is_some_and(|rewards| u32::from(self.state().since_fading) >= rewards)
            .then_some(0.5);
        settings.on_change.keep().filter(|_| changed).or(faded)
    }

    /// Discounts all observations to the share `keep`, from 0 to less than 1, toward the prior.
    ///
    /// # Errors
    /// Another number, or a build without the feature `adapt`; nothing has changed then.
    pub fn fade(&mut self, keep: f32) -> Result<(), UserError> {
        self.fading(keep)?.fade();
        Ok(())
    }

    /// Prepares a fading.
    pub(super) fn fading(&mut self, keep: f32) -> Result<Fade<'_, T>, UserError> {
        supported(cfg!(feature = "adapt"))?;
        self.admit()?;
        if !(0.0..1.0).contains(&keep) || (keep != 0.0 && f64::from(keep) < 1e-3) {
            return Err(UserError::Keep);
        }
        Ok(Fade {
            state: self.memory.state,
            storage: self.memory.storage,
            workspace: self.workspace,
            policy: self.policy,
            keep,
        })
    }
}
