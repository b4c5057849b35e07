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

    /// Writes the promotions that hold as sentences for the host's prompt, separated by spaces.
    ///
    /// # Errors
    /// Only what the writer returns.
    pub fn write_profile<W: Storage<T>>(
        &self,
        policy: &Policy<'_, T>,
        workspace: &mut Workspace<T, W>,
        out: &mut impl fmt::Write,
    ) -> fmt::Result {
        let mut separator = "";
        for promotion in &self.profile {
            if self.standing(policy, workspace, promotion) == Ok(Standing::Holds) {
                out.write_str(separator)?;
                promotion.write_sentence(policy.catalog(), out)?;
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
        let sensible = match promotion.verdict {
            Verdict::For => promotion.lower > 0.0 && promotion.upper.is_finite(),
            Verdict::Against => promotion.upper < 0.0 && promotion.lower.is_finite(),
            Verdict::Open => false,
        };
        let known = self.promotion(policy, workspace, promotion.contrast, promotion.at)?;
        let strict = promotion.valid && self.promise == policy.promise();
        if !sensible || promotion.round != known.round || promotion.evidence != known.evidence || (strict && known != *promotion)
        {
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
