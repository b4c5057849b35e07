//! Decisions that wait for their reward: a bounded ring, deadlines, and what happens when one expires.
//!
//! Rewards come late, out of order or never. Every decision enters the ring; its reward is learned when it comes, so after
//! any interleaving the posterior is that of the same observations given at once, to rounding. A decision stops waiting
//! when its [`Deadline`] has passed or when the ring needs its place, and then [`Expiry`] says what is learned: nothing, or
//! an imputed reward. Both belong to proposing, not to checking: a journal is replayed under whatever deadlines. A settled decision stays in the ring as long as there is room, so that a second reward is known as a
//! duplicate; what has left the ring is expired.
//!
//! ```
//! use fable_core::policy::{Deadline, Expiry};
//! use fable_core::{Context, Feasible, Learner, LearnerError, Policy, Request, Settings, Workspace, catalog::TAU2};
//!
//! let settings = Settings { deadline: Deadline::Time(60), expiry: Expiry::Impute(-0.1), ..Settings::default() };
//! let policy = Policy::new(&TAU2, settings)?;
//! let mut learner = Learner::<f32, [f32; TAU2.state_len()], 8>::VACANT;
//! let mut workspace = Workspace::<f32, [f32; TAU2.workspace_len()]>::VACANT;
//! learner.start(&policy, 1)?;
//! let (context, all) = (Context::new(&TAU2, None, &[])?, Feasible::all(&TAU2));
//!
//! let decision = learner.decide(&policy, &mut workspace, &Request::new(&context, &all).at(1_000))?;
//! assert_eq!(learner.expire(&policy, &mut workspace, 1_060)?, 0);
//! assert_eq!(learner.expire(&policy, &mut workspace, 1_061)?, 1); // silence is mildly bad here
//! let late = learner.feedback_at(&policy, &mut workspace, decision.id, 1.0, 1_070);
//! assert_eq!(late, Err(LearnerError::ExpiredDecision));
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```

use super::{Learner, LearnerError};
use crate::catalog::Action;
use crate::context::Context;
use crate::event::{DecisionId, Event};
use crate::policy::{Deadline, Expiry, Policy};
use crate::workspace::Workspace;
use crate::{Scalar, Storage};

/// Whether a decision still waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub(crate) enum Wait {
    Waiting,
    Rewarded,
    Expired,
}

/// A decision in the ring, at the place that its round has modulo the length; round 0 is an empty place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Pending<T> {
    pub(crate) context: Context,
    pub(crate) baseline: T,
    pub(crate) round: u32,
    pub(crate) at: u32,
    pub(crate) action: Action,
    pub(crate) wait: Wait,
}

impl<T: Scalar> Pending<T> {
    /// All zero bits.
    pub(crate) const EMPTY: Self =
        Self { context: Context::EMPTY, baseline: T::ZERO, round: 0, at: 0, action: Action(0), wait: Wait::Waiting };
}

impl<T: Scalar, S: Storage<T>, const R: usize> Learner<T, S, R> {
    /// The decisions that still wait for their reward at time `now`, oldest first.
    pub fn waiting(&self, policy: &Policy<'_, T>, now: u32) -> impl Iterator<Item = DecisionId> {
        let deadline = policy.settings().deadline;
        let waits = move |pending: &&Pending<T>| pending.wait == Wait::Waiting && !self.is_due(deadline, pending, now);
        self.ring().filter(waits).map(|pending| self.id(pending.round))
    }

    /// The event that ends the wait of the oldest decision whose deadline has passed at time `now`.
    ///
    /// `None` when no deadline has passed, and when none is worth recording: without imputation a deadline in rounds is
    /// known from the rounds alone.
    #[must_use]
    pub fn propose_expiry(&self, policy: &Policy<'_, T>, now: u32) -> Option<Event> {
        let (deadline, expiry) = (policy.settings().deadline, policy.settings().expiry);
        if matches!((deadline, expiry), (Deadline::None, _) | (Deadline::Rounds(_), Expiry::Nothing)) {
            return None;
        }
        let due = |pending: &&Pending<T>| pending.wait == Wait::Waiting && self.is_due(deadline, pending, now);
        self.ring().find(due).map(|pending| Event::Expiry { round: pending.round, imputed: expiry.reward() })
    }

    /// The event that makes room for one more decision: the oldest expires with an imputed reward. `None` when there is
    /// room, or when the oldest can leave without a trace. Propose it before each decision; one that is made without leaves
    /// the oldest unlearned.
    #[must_use]
    pub fn propose_room(&self, policy: &Policy<'_, T>) -> Option<Event> {
        let oldest = self.slot(self.round.checked_add(1)?).filter(|oldest| oldest.round > 0 && oldest.wait == Wait::Waiting)?;
        let imputed = policy.settings().expiry.reward()?;
        Some(Event::Expiry { round: oldest.round, imputed: Some(imputed) })
    }

    /// Ends the wait of every decision whose deadline has passed at time `now`, and says how many
    /// [expiries](Self::propose_expiry) that took.
    ///
    /// # Errors
    /// A vacant or foreign learner, or a workspace that is too small; nothing has changed then.
    pub fn expire<W: Storage<T>>(
        &mut self,
        policy: &Policy<'_, T>,
        workspace: &mut Workspace<T, W>,
        now: u32,
    ) -> Result<u32, LearnerError> {
        let mut expired = 0;
        while let Some(event) = self.propose_expiry(policy, now) {
            self.check(policy, workspace, &event)?.apply();
            expired += 1;
        }
        Ok(expired)
    }

    pub(super) fn is_due(&self, deadline: Deadline, pending: &Pending<T>, now: u32) -> bool {
        match deadline {
            Deadline::None => false,
            Deadline::Rounds(rounds) => self.round.saturating_sub(pending.round) > rounds,
            Deadline::Time(time) => now.saturating_sub(pending.at) > time,
        }
    }

    /// The decision of a round, if it still waits.
    pub(super) fn find(&self, round: u32) -> Result<&Pending<T>, LearnerError> {
        let pending = self.settled_or_waiting(round)?;
        match pending.wait {
            Wait::Rewarded => Err(LearnerError::DuplicateFeedback),
            Wait::Expired => Err(LearnerError::ExpiredDecision),
            Wait::Waiting => Ok(pending),
        }
    }

    /// The decision of a round, if it is still in the ring.
    pub(crate) fn settled_or_waiting(&self, round: u32) -> Result<&Pending<T>, LearnerError> {
        if round == 0 || round > self.round {
            return Err(LearnerError::UnknownDecision);
        }
        self.slot(round).filter(|pending| pending.round == round).ok_or(LearnerError::ExpiredDecision)
    }

    /// The round of a decision of this user in this incarnation.
    pub(crate) fn round_of(&self, id: DecisionId) -> Result<u32, LearnerError> {
        if id.user == self.user && id.incarnation == self.incarnation { Ok(id.round) } else { Err(LearnerError::UnknownDecision) }
    }

    /// Ends a wait and returns the decision.
    pub(super) fn settle(&mut self, round: u32, wait: Wait) -> Option<Pending<T>> {
        let pending = self.pending.get_mut(place::<R>(round)).filter(|pending| pending.round == round)?;
        pending.wait = wait;
        Some(*pending)
    }

    /// Puts a decision into the ring, in the place of the oldest.
    pub(crate) fn enter(&mut self, pending: Pending<T>) {
        if let Some(slot) = self.pending.get_mut(place::<R>(pending.round)) {
            *slot = pending;
        }
    }

    fn slot(&self, round: u32) -> Option<&Pending<T>> {
        self.pending.get(place::<R>(round))
    }

    /// What is in the ring, oldest first.
    pub(crate) fn ring(&self) -> impl Iterator<Item = &Pending<T>> {
        let (newer, older) = self.pending.split_at_checked(place::<R>(self.round) + 1).unwrap_or((&self.pending, &[]));
        older.iter().chain(newer).filter(|pending| pending.round > 0)
    }
}

/// Where the decision of a round stands; decisions enter in the order of their rounds.
const fn place<const R: usize>(round: u32) -> usize {
    round as usize % R
}
