//! Promotion: a certain preference becomes an event, and the event an entry of the profile.
//!
//! **When.** Only a reward can make a preference certain. So a [command](super::Command) that learns a reward
//! (`feedback`, `observe`) also proposes promotions: of contrasts that its decision's probes have certified,
//! and at a [check](is_promotion_check_due) of all contrasts. A command `promote` checks all contrasts at
//! once. Reading a profile writes nothing.
//!
//! A check costs one forward solve per declared contrast, so checks get rare as rewards come in. A promotion
//! by the ellipsoid waits for at most half as many rewards again. Certificates of probes cost nothing to
//! check.
//!
//! **Which rule.** A contrast that probes have certified is promoted by the probes, without the ellipsoid.
//! The ellipsoid answers another question, and needs assumptions.

use super::assess::{Comparison, Verdict};
use super::promotion::{Certifier, Promotion, Standing};
use super::trial::{Account, numbers};
use super::{Event, Memory, User, UserError, supported};
use crate::catalog::score::Scalar;
use crate::catalog::{Catalog, ContrastSet};
use core::fmt;

/// True if all contrasts are checked after so many learned rewards: every 16 rewards up to 64, then twice
/// until the count doubles.
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
    /// Proposes the promotion of the first contrast of a set that is decided now. False if there is none.
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

    /// The promotion of the first contrast of a set that is decided now and is not in the profile with this
    /// verdict.
    ///
    /// `None` if there is none, or if the profile is full. A profile with capacity for every declared
    /// contrast never is.
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

    /// Promotes every contrast that is decided now. The result is their number.
    ///
    /// # Errors
    /// As for [`assess`](Self::assess); nothing has changed then.
    pub fn promote(&mut self, time: u32) -> Result<u32, UserError> {
        supported(cfg!(feature = "promote"))?;
        self.admit()?;
        self.promote_all(&ContrastSet::FULL, time)
    }

    /// The contrasts to check after a learned reward: all at a [check](is_promotion_check_due), otherwise
    /// those that the decision of `round` probed.
    pub(super) fn contrasts_to_check(&self, round: Option<u32>) -> ContrastSet {
        if is_promotion_check_due(self.state().observations) {
            ContrastSet::FULL
        } else {
            round.map_or(ContrastSet::EMPTY, |round| self.probed(round))
        }
    }

    /// Promotes every contrast of a set that is decided now. The result is their number.
    #[inline(never)]
    pub(super) fn promote_all(&mut self, contrasts: &ContrastSet, time: u32) -> Result<u32, UserError> {
        let mut promoted = 0;
        while let Some(promotion) = self.next_promotion(contrasts, time)? {
            self.memory.promote(self.policy.catalog(), &promotion);
            promoted += 1;
        }
        Ok(promoted)
    }

    /// The present standing of a promotion.
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

    /// Writes the promotions that hold as sentences for the host's prompt, separated by spaces.
    ///
    /// Promotions without the guarantee (not `valid`) are left out. The [`profile`](Self::profile) has them.
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

    /// The entry of the profile that a contrast would have now.
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

    /// Checks a recorded promotion. Under the settings of the start it equals the result of the state, bit
    /// for bit. A promotion under other settings, or after the guarantee ended, has to be plausible.
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
        // The middle of the interval is the mean, which no promotion setting changes. The ends were rounded
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

    /// Checks a recorded certificate: the trials are those of the state, and under another alpha the wealth
    /// is at least above 1.
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

    /// The profile has a free entry, or an entry of this contrast.
    pub(super) fn has_capacity(&self, contrast: u8) -> bool {
        !self.memory.profile.is_full() || self.memory.profile.iter().any(|known| known.contrast == contrast)
    }
}

impl<T: Scalar> Memory<'_, T> {
    /// Puts a promotion at the end of the profile, in place of an earlier one of its contrast. The profile is
    /// not full, as was checked.
    pub(super) fn enlist(&mut self, promotion: &Promotion) {
        // Swaps of neighbours. Moving memory over itself would link `memmove`, 1.3 KB that no other function
        // needs.
        if let Some(known) = self.profile.iter().position(|known| known.contrast == promotion.contrast) {
            for place in known + 1..self.profile.len() {
                self.profile.swap(place - 1, place);
            }
            self.profile.pop();
        }
        let _ = self.profile.push(*promotion);
    }

    /// Applies a checked promotion.
    pub(super) fn promote(&mut self, catalog: &Catalog<'_>, promotion: &Promotion) {
        self.state.count();
        self.enlist(promotion);
        if cfg!(feature = "probes") && promotion.by == Certifier::Probes {
            self.certify(catalog, promotion);
        }
    }

    /// Records that probes have certified a contrast. From now on they test for a change.
    pub(super) fn certify(&mut self, catalog: &Catalog<'_>, promotion: &Promotion) {
        let trials = self.storage.get_mut(catalog.trials_start()..).unwrap_or_default();
        if let Some(numbers) = numbers(trials, usize::from(promotion.contrast)) {
            let mut account = Account::read(numbers);
            account.certified = promotion.verdict;
            account.write(numbers);
        }
    }
}
