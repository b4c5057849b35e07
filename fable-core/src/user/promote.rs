//! Promotion: what the assessments say becomes an event, and the event an entry of the profile.
//!
//! **When.** A reward is what can make a preference certain, so the look follows a reward: a
//! [command](super::Command) that learns one (`feedback`, `observe`) goes on with what the coins of its
//! decision have made certain, and with everything else that is due when the count of learned rewards is at a
//! [look](is_promotion_check_due); a command `promote` looks at once. This is the one rule, for hosts,
//! devices and pages; reading a profile writes nothing. A look costs one forward solve per declared contrast,
//! so looks thin out as rewards come in: what the ellipsoid knows waits at most half as many rewards again.
//! Coins cost nothing to look at, and are looked at with every reward of theirs.
//!
//! **Which.** Where coins have certified a contrast they decide, and the ellipsoid is not asked: it is about
//! another question, and needs assumptions.

use super::assess::{Comparison, Verdict};
use super::promotion::{Certifier, Promotion, Standing};
use super::trial::{Account, numbers};
use super::{Event, Memory, User, UserError, supported};
use crate::catalog::score::Scalar;
use crate::catalog::{Catalog, ContrastSet};
use core::fmt;

/// Whether promotions are looked for after so many learned rewards: at every 16th up to 64, then twice until
/// the count has doubled.
///
/// ```
/// use fable_core::preference::is_promotion_check_due;
/// let looks: Vec<u32> = (0..=512).filter(|count| is_promotion_check_due(*count)).collect();
/// assert_eq!(looks, [16, 32, 48, 64, 96, 128, 192, 256, 384, 512]);
/// ```
#[must_use]
pub const fn is_promotion_check_due(observations: u32) -> bool {
    let half = match observations.saturating_sub(1).checked_ilog2() {
        Some(exponent) => (1 << exponent) / 2,
        None => 0,
    };
    observations > 0 && observations.is_multiple_of(if half > 16 { half } else { 16 })
}

impl<T: Scalar> User<'_, T> {
    /// The event that promotes the first of some declared contrasts that is decided now; false when there is
    /// none.
    #[inline(never)]
    pub(super) fn propose_promotion(
        &mut self,
        contrasts: &ContrastSet,
        time: u32,
        event: &mut Event,
    ) -> Result<bool, UserError> {
        let promotion = self.next_promotion(contrasts, time)?;
        if let Some(promotion) = promotion {
            *event = Event::Promotion(promotion);
        }
        Ok(promotion.is_some())
    }

    /// The promotion of the first of some declared contrasts that is decided now and not in the profile with
    /// this verdict. `None` when there is none, or no room for it: a profile with room for every declared
    /// contrast never fills up.
    #[inline(never)]
    fn next_promotion(&mut self, contrasts: &ContrastSet, time: u32) -> Result<Option<Promotion>, UserError> {
        if !cfg!(feature = "promote") {
            return Ok(None);
        }
        let all = *contrasts == ContrastSet::FULL;
        for contrast in (0_u8..).take(self.policy.catalog().contrasts().len()) {
            let certified =
                cfg!(feature = "probes") && self.certificate(usize::from(contrast)) != Verdict::Open;
            if !(all || certified && contrasts.contains(usize::from(contrast))) {
                continue;
            }
            let by = if certified { Certifier::Probes } else { Certifier::Ellipsoid };
            let promotion = self.promotion(contrast, by, time)?;
            let known = |known: &Promotion| {
                known.contrast == contrast
                    && known.verdict == promotion.verdict
                    && (known.by == by || !certified)
            };
            if promotion.verdict != Verdict::Open
                && self.has_capacity(contrast)
                && !self.memory.profile.iter().any(known)
            {
                return Ok(Some(promotion));
            }
        }
        Ok(None)
    }

    /// Promotes everything that is decided now, and says how much that was.
    ///
    /// # Errors
    /// As for [`assess`](Self::assess); nothing has changed then.
    pub fn promote(&mut self, time: u32) -> Result<u32, UserError> {
        supported(cfg!(feature = "promote"))?;
        self.admit()?;
        self.promote_all(&ContrastSet::FULL, time)
    }

    /// The declared contrasts that are looked at after a learned reward: all of them at a
    /// [look](is_promotion_check_due), otherwise those whose coin it was the reward of.
    pub(super) fn contrasts_to_check(&self, round: Option<u32>) -> ContrastSet {
        if is_promotion_check_due(self.state().observations) {
            ContrastSet::FULL
        } else {
            round.map_or(ContrastSet::EMPTY, |round| self.probed(round))
        }
    }

    /// Promotes what is decided now of some declared contrasts, and says how much that was.
    #[inline(never)]
    pub(super) fn promote_all(&mut self, contrasts: &ContrastSet, time: u32) -> Result<u32, UserError> {
        let mut promoted = 0;
        while let Some(promotion) = self.next_promotion(contrasts, time)? {
            self.memory.promote(self.policy.catalog(), &promotion);
            promoted += 1;
        }
        Ok(promoted)
    }

    /// Whether a promotion still holds.
    ///
    /// # Errors
    /// As for [`assess`](Self::assess).
    pub fn standing(&mut self, promotion: &Promotion) -> Result<Standing, UserError> {
        if promotion.by == Certifier::Probes {
            supported(cfg!(feature = "probes"))?;
            let account = self.account(usize::from(promotion.contrast)).ok_or(UserError::UnknownContrast)?;
            let holds = account.certified == promotion.verdict;
            return Ok(if holds { Standing::Holds } else { Standing::Revoked });
        }
        let comparison =
            Comparison::promoted(self.policy.catalog(), promotion).ok_or(UserError::UnknownContrast)?;
        Ok(promotion.assessed(&self.assess(&comparison)?))
    }

    /// Writes the promotions that hold as sentences for the host's prompt, separated by spaces. Those made
    /// without the guarantee (not `valid`) are left out; a host that wants them too walks the
    /// [`profile`](Self::profile) itself.
    ///
    /// # Errors
    /// As for [`assess`](Self::assess), and [`UserError::Text`] when the writer refuses.
    pub fn write_profile(&mut self, out: &mut impl fmt::Write) -> Result<(), UserError> {
        let mut separator = "";
        for index in 0..self.profile().len() {
            let Some(promotion) = self.profile().get(index).filter(|promotion| promotion.valid).copied()
            else {
                continue;
            };
            if self.standing(&promotion)? == Standing::Holds {
                let written = out
                    .write_str(separator)
                    .and_then(|()| promotion.write_sentence(self.policy.catalog(), out));
                written.map_err(|_| UserError::Text)?;
                separator = " ";
            }
        }
        Ok(())
    }

    /// How a contrast stands now, as an entry of the profile.
    #[expect(clippy::cast_possible_truncation, reason = "provenance is kept to seven digits")]
    fn promotion(&mut self, contrast: u8, by: Certifier, time: u32) -> Result<Promotion, UserError> {
        if by == Certifier::Probes {
            supported(cfg!(feature = "probes"))?;
            let (trial, verdict) =
                (self.trial(usize::from(contrast))?, self.certificate(usize::from(contrast)));
            let (lower, upper) = (trial.average.lower as f32, trial.average.upper as f32);
            let (valid, evidence) = (trial.valid, u32::from(trial.trials));
            return Ok(Promotion {
                contrast,
                verdict,
                valid,
                by,
                round: self.state().round,
                time,
                evidence,
                lower,
                upper,
            });
        }
        let comparison = Comparison::declared(self.policy.catalog(), usize::from(contrast))
            .ok_or(UserError::UnknownContrast)?;
        let now = self.assess(&comparison)?;
        let (lower, upper) = (now.lower as f32, now.upper as f32);
        let finite = lower.is_finite() && upper.is_finite();
        Ok(Promotion {
            contrast,
            verdict: if finite { now.verdict } else { Verdict::Open },
            valid: now.valid,
            by,
            round: self.state().round,
            time,
            evidence: now.evidence,
            lower,
            upper,
        })
    }

    /// A recorded promotion under the settings that the learner was started with is what the state says, bit
    /// for bit. One that was made under others, or after the guarantee had ended, has to make sense in
    /// itself.
    #[inline(never)]
    pub(super) fn admit_promotion(&mut self, promotion: &Promotion) -> Result<(), UserError> {
        supported(cfg!(feature = "promote"))?;
        if promotion.by == Certifier::Probes {
            return self.admit_certificate(promotion);
        }
        let Promotion { verdict, valid, round, evidence, lower, upper, .. } = *promotion;
        let ordered = lower <= upper && lower.is_finite() && upper.is_finite();
        let one_sided = match verdict {
            Verdict::For => lower > 0.0,
            Verdict::Against => upper < 0.0,
            Verdict::Open => false,
        };
        let now = self.promotion(promotion.contrast, promotion.by, promotion.time)?;
        // The middle of the interval is the mean, which no promotion setting changes; its ends were rounded
        // to `f32`.
        let middle = |lower: f32, upper: f32| f64::midpoint(f64::from(lower), f64::from(upper));
        let scale = f64::from(upper - lower)
            + f64::from(now.upper - now.lower)
            + f64::from(lower.abs().max(upper.abs()));
        let same_mean = (middle(lower, upper) - middle(now.lower, now.upper)).abs()
            <= 4.0 * f64::from(f32::EPSILON) * scale;
        let counted = evidence >= 1 && evidence == now.evidence && round == now.round;
        let strict = valid && self.keeps_guarantee();
        let true_then = ordered && one_sided && same_mean && counted && !(valid && self.state().voided);
        if !true_then || (strict && now != *promotion) {
            return Err(UserError::NotPromoted);
        }
        if self.has_capacity(promotion.contrast) { Ok(()) } else { Err(UserError::ProfileFull) }
    }

    /// The same for a certificate: the coins are those of the state, and one made under another alpha has at
    /// least won something.
    fn admit_certificate(&mut self, promotion: &Promotion) -> Result<(), UserError> {
        supported(cfg!(feature = "probes"))?;
        let now = self.promotion(promotion.contrast, promotion.by, promotion.time)?;
        let account = self.account(usize::from(promotion.contrast)).ok_or(UserError::UnknownContrast)?;
        let [plus, minus] = account.wealth();
        let won = match promotion.verdict {
            Verdict::For => plus > 1.0,
            Verdict::Against => minus > 1.0,
            Verdict::Open => false,
        };
        let ordered = promotion.lower <= promotion.upper && promotion.lower >= -2.0 && promotion.upper <= 2.0;
        let counted = promotion.evidence == now.evidence && promotion.round == now.round;
        let strict = promotion.valid && self.keeps_guarantee();
        if !(won && ordered && counted) || (strict && now != *promotion) {
            return Err(UserError::NotPromoted);
        }
        if self.has_capacity(promotion.contrast) { Ok(()) } else { Err(UserError::ProfileFull) }
    }

    pub(super) fn has_capacity(&self, contrast: u8) -> bool {
        !self.memory.profile.is_full() || self.memory.profile.iter().any(|known| known.contrast == contrast)
    }
}

impl<T: Scalar> Memory<'_, T> {
    /// Puts a promotion at the end of the profile, where it takes the place of an earlier one of its
    /// contrast. There is room, as was checked.
    pub(super) fn enlist(&mut self, promotion: &Promotion) {
        // Neighbours change places: nothing else in an image moves memory over itself, which takes 1.3 KB.
        if let Some(known) = self.profile.iter().position(|known| known.contrast == promotion.contrast) {
            for place in known + 1..self.profile.len() {
                self.profile.swap(place - 1, place);
            }
            self.profile.pop();
        }
        let _ = self.profile.push(*promotion);
    }

    /// Enters a promotion that was found sound.
    pub(super) fn promote(&mut self, catalog: &Catalog<'_>, promotion: &Promotion) {
        self.state.count();
        self.enlist(promotion);
        if cfg!(feature = "probes") && promotion.by == Certifier::Probes {
            self.certify(catalog, promotion);
        }
    }

    /// Remembers that coins have certified a contrast: from now on they look out for a change.
    pub(super) fn certify(&mut self, catalog: &Catalog<'_>, promotion: &Promotion) {
        let trials = self.storage.get_mut(catalog.trials_start()..).unwrap_or_default();
        if let Some(numbers) = numbers(trials, usize::from(promotion.contrast)) {
            let mut account = Account::read(numbers);
            account.certified = promotion.verdict;
            account.write(numbers);
        }
    }
}
