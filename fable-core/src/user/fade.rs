//! Fading: what is known counts less, evenly, and the prior counts again in its place.
//!
//! Lambda <- k Lambda + (1 - k) Lambda_0 and h <- k h + (1 - k) h_0, which is the posterior of the same
//! observations with k times their weight: exact, toward the prior that the user began with. Onboarding
//! statements fade like the rest; what is meant to stay is stated again. Fading ends the guarantee of
//! promotions by the ellipsoid, since theta may move; what coins have shown stays as it is, since it is about
//! what was reported when they fell.
//!
//! **When.** A reward is what shows a change and what can be faded, so fading follows a reward, before
//! promotions are looked for: by half when [`half_life`](crate::Settings::half_life) rewards were learned
//! since the last fading, and as [`on_change`](crate::Settings::on_change) says when this reward was the one
//! that a change is noticed by. How much is kept is in the event, so both settings may be changed at any
//! time.
//!
//! A decision made before a fading and rewarded after it counts in full, as of the time its reward comes. An
//! observation that was learned before is taken back with what it still counts, the product of what was kept
//! since.

use super::learner::{Regions, regions};
use super::{State, User, UserError, supported};
use crate::catalog::score::Scalar;
use crate::policy::Policy;
use crate::posterior::Fading;

/// A checked fading in its place.
#[derive(Debug)]
pub(super) struct Fade<'s, T> {
    state: &'s mut State,
    storage: &'s mut [T],
    workspace: &'s mut [T],
    policy: &'s Policy<'s, T>,
    keep: f32,
}

impl<T: Scalar> Fade<'_, T> {
    /// Fades.
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
        // What is left of the squares of k times the observations: see `surprise`.
        state.set_squares(kept * (f64::from(state.squares) + faded.before) - faded.after);
        state.disappointment = 0;
        // From here on compared with the prior, since statements have faded too.
        state.log_det_ratio = faded.log_det_ratio;
        state.since_fading = 0;
        state.voided = true;
        state.count();
    }
}

impl State {
    /// Rewards learned since this user seemed to have changed, counted up to 254; `None` if that has not
    /// happened in this incarnation. With a user who stays the same it happens once in 1,000 rewards on
    /// average, or less often.
    #[must_use]
    pub const fn rewards_since_change(&self) -> Option<u8> {
        self.since_change.checked_sub(1)
    }

    /// Rewards learned since what is known was last faded, or since the start; counted up to 65,535.
    #[must_use]
    pub const fn rewards_since_fading(&self) -> u16 {
        self.since_fading
    }
}

impl<T: Scalar> User<'_, T> {
    /// How much more than the model expects this user's rewards surprise, at least 1: what exploration is
    /// scaled with when [`Scale::Learned`](crate::settings::Scale::Learned) is set.
    #[must_use]
    pub fn scale(&self) -> f64 {
        libm::sqrt(self.state().scale_squared(self.rewards_left()))
    }

    /// Rewards that were learned, as many as they still count for.
    pub(super) fn rewards_left(&self) -> f64 {
        let values =
            self.policy.catalog().definition().components.first().map_or(0, |first| first.values.len());
        (0..=u8::MAX).take(values).map(|value| self.evidence_left(0, value)).sum()
    }

    /// Share of the observations to keep, if a fading is due after a reward.
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

    /// Lets what is known count `keep` times as much, from 0 to less than 1, and the prior again in its
    /// place.
    ///
    /// # Errors
    /// Another number, or a build without the feature `adapt`; nothing has changed then.
    pub fn fade(&mut self, keep: f32) -> Result<(), UserError> {
        self.fading(keep)?.fade();
        Ok(())
    }

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
