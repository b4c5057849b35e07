//! Promotion as part of the state machine: what the assessments say becomes an event, and the event an entry of the profile.

use super::{Learner, LearnerError};
use crate::event::Event;
use crate::policy::Policy;
use crate::trust::assessment::{Comparison, Verdict};
use crate::trust::promotion::{Promotion, Standing};
use crate::workspace::Workspace;
use crate::{Scalar, Storage};
use core::fmt;

impl<T: Scalar, S: Storage<T>, const R: usize> Learner<T, S, R> {
    /// The promoted preferences in the order of their promotion.
    #[must_use]
    pub fn profile(&self) -> &[Promotion] {
        &self.profile
    }

    /// The event that promotes the first declared contrast that is decided now and not in the profile with this verdict.
    /// `None` when there is none, or no room for it: a profile with room for every declared contrast never fills up.
    ///
    /// # Errors
    /// As for [`assess`](Self::assess).
    pub fn propose_promotion<W: Storage<T>>(
        &self,
        policy: &Policy<'_, T>,
        workspace: &mut Workspace<T, W>,
        at: u32,
    ) -> Result<Option<Event>, LearnerError> {
        for contrast in (0_u8..).take(policy.catalog().contrasts().len()) {
            let promotion = self.promotion(policy, workspace, contrast, at)?;
            let known = |known: &Promotion| known.contrast == contrast && known.verdict == promotion.verdict;
            if promotion.verdict != Verdict::Open && self.has_room(contrast) && !self.profile.iter().any(known) {
                return Ok(Some(Event::Promotion(promotion)));
            }
        }
        Ok(None)
    }

    /// Promotes everything that is decided now, and says how much that was.
    ///
    /// # Errors
    /// As for [`assess`](Self::assess); nothing has changed then.
    pub fn promote_all<W: Storage<T>>(
        &mut self,
        policy: &Policy<'_, T>,
        workspace: &mut Workspace<T, W>,
        at: u32,
    ) -> Result<u32, LearnerError> {
        let mut promoted = 0;
        while let Some(event) = self.propose_promotion(policy, workspace, at)? {
            self.check(policy, workspace, &event)?.apply();
            promoted += 1;
        }
        Ok(promoted)
    }

    /// Whether a promotion still holds.
    ///
    /// # Errors
    /// As for [`assess`](Self::assess).
    pub fn standing<W: Storage<T>>(
        &self,
        policy: &Policy<'_, T>,
        workspace: &mut Workspace<T, W>,
        promotion: &Promotion,
    ) -> Result<Standing, LearnerError> {
        let comparison = Comparison::promoted(policy.catalog(), promotion).ok_or(LearnerError::NotPromoted)?;
        Ok(promotion.standing(&self.assess(policy, workspace, &comparison)?))
    }

    /// Writes the promotions that hold as sentences for the host's prompt, separated by spaces. Those made without the
    /// guarantee (not `valid`) are left out; a host that wants them too walks the [`profile`](Self::profile) itself.
    ///
    /// # Errors
    /// As for [`assess`](Self::assess), and [`LearnerError::Text`] when the writer refuses.
    pub fn write_profile<W: Storage<T>>(
        &self,
        policy: &Policy<'_, T>,
        workspace: &mut Workspace<T, W>,
        out: &mut impl fmt::Write,
    ) -> Result<(), LearnerError> {
        let mut separator = "";
        for promotion in self.profile.iter().filter(|promotion| promotion.valid) {
            if self.standing(policy, workspace, promotion)? == Standing::Holds {
                let written = out.write_str(separator).and_then(|()| promotion.write_sentence(policy.catalog(), out));
                written.map_err(|_| LearnerError::Text)?;
                separator = " ";
            }
        }
        Ok(())
    }

    /// How a contrast stands now, as an entry of the profile.
    #[expect(clippy::cast_possible_truncation, reason = "provenance is kept to seven digits")]
    fn promotion<W: Storage<T>>(
        &self,
        policy: &Policy<'_, T>,
        workspace: &mut Workspace<T, W>,
        contrast: u8,
        at: u32,
    ) -> Result<Promotion, LearnerError> {
        let comparison = Comparison::declared(policy.catalog(), usize::from(contrast)).ok_or(LearnerError::NotPromoted)?;
        let now = self.assess(policy, workspace, &comparison)?;
        let (lower, upper) = (now.lower as f32, now.upper as f32);
        let finite = lower.is_finite() && upper.is_finite();
        Ok(Promotion {
            contrast,
            verdict: if finite { now.verdict } else { Verdict::Open },
            valid: now.valid,
            round: self.round,
            at,
            evidence: now.evidence,
            lower,
            upper,
        })
    }

    /// A recorded promotion under the settings that the learner was started with is what the state says, bit for bit. One
    /// that was made under others, or after the guarantee had ended, has to make sense in itself.
    pub(super) fn admit_promotion<W: Storage<T>>(
        &self,
        policy: &Policy<'_, T>,
        workspace: &mut Workspace<T, W>,
        promotion: &Promotion,
    ) -> Result<(), LearnerError> {
        let Promotion { verdict, valid, round, evidence, lower, upper, .. } = *promotion;
        let ordered = lower <= upper && lower.is_finite() && upper.is_finite();
        let one_sided = match verdict {
            Verdict::For => lower > 0.0,
            Verdict::Against => upper < 0.0,
            Verdict::Open => false,
        };
        let now = self.promotion(policy, workspace, promotion.contrast, promotion.at)?;
        // The middle of the interval is the mean, which no promotion setting changes; its ends were rounded to `f32`.
        let middle = |lower: f32, upper: f32| f64::midpoint(f64::from(lower), f64::from(upper));
        let scale = f64::from(upper - lower) + f64::from(now.upper - now.lower) + f64::from(lower.abs().max(upper.abs()));
        let same_mean = (middle(lower, upper) - middle(now.lower, now.upper)).abs() <= 4.0 * f64::from(f32::EPSILON) * scale;
        let counted = evidence >= 1 && evidence == now.evidence && round == now.round;
        let strict = valid && self.promise == policy.promise();
        let true_then = ordered && one_sided && same_mean && counted && !(valid && self.voided);
        if !true_then || (strict && now != *promotion) {
            return Err(LearnerError::NotPromoted);
        }
        if self.has_room(promotion.contrast) { Ok(()) } else { Err(LearnerError::ProfileFull) }
    }

    fn has_room(&self, contrast: u8) -> bool {
        !self.profile.is_full() || self.profile.iter().any(|known| known.contrast == contrast)
    }

    /// Enters a promotion; an earlier one of the same contrast gives way.
    pub(super) fn promote(&mut self, promotion: Promotion) {
        self.profile.retain(|known| known.contrast != promotion.contrast);
        let _ = self.profile.push(promotion); // there is room, as was checked
    }
}
