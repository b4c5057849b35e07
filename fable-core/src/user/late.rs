//! Decisions that wait for their reward: a bounded ring, deadlines, and expiry.
//!
//! Rewards come late, out of order or never. Every decision enters the ring, and its reward is learned when
//! it comes. After any order of rewards the posterior is that of the same observations given at once, to
//! rounding.
//!
//! A decision stops waiting when its [`Deadline`] has passed or when the ring needs its slot. [`Expiry`] says
//! what is learned then: nothing, or an imputed reward. Both settings matter when an event is proposed, not
//! when an event is checked: a journal is replayed under any deadline.
//!
//! A rewarded decision stays in the ring until its slot is needed, so a second reward is refused as a
//! duplicate. A decision that has left the ring is expired.
//!
//! ```
//! use fable_core::catalog::TAU2;
//! use fable_core::settings::{Deadline, Expiry};
//! use fable_core::{Feasible, HostUser, Policy, Request, Settings, UserError};
//!
//! let (deadline, expiry) = (Deadline::Time(60), Expiry::Impute(-0.1));
//! let settings = Settings { deadline, expiry, ..Settings::default() };
//! let policy = Policy::<f32>::new(&TAU2, settings)?;
//! let mut ana = HostUser::<f32>::new(&policy, "ana")?;
//! let mut user = ana.user();
//! let (context, all) = (TAU2.context(None, [])?, Feasible::all(&TAU2));
//!
//! let decision = user.decide(&Request::new(&context, &all).at(1_000))?;
//! assert_eq!(user.expire(1_060)?, 0);
//! assert_eq!(user.expire(1_061)?, 1); // silence is mildly bad here
//! assert_eq!(user.feedback_at(decision.id, 1.0, 1_070), Err(UserError::ExpiredDecision));
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```

use super::admit::admit_reward;
use super::learn::Lesson;
use super::probe::Probe;
use super::{DecisionId, Event, Memory, Observation, State, User, UserError, View};
use crate::catalog::{Action, Catalog, Context, ContrastSet, score::Scalar};
use crate::policy::{Deadline, Expiry};

/// The state of a decision in the ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    Waiting,
    Rewarded,
    Expired,
}

/// A decision in the ring, in the slot of its round modulo the length. Round 0 is an empty slot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Pending<T> {
    pub(crate) context: Context,
    pub(crate) baseline: T,
    pub(crate) round: u32,
    pub(crate) time: u32,
    pub(crate) action: Action,
    pub(crate) wait: Wait,
    /// Contrasts whose last probe was for this decision.
    pub(crate) probed: ContrastSet,
}

impl<T: Scalar> Pending<T> {
    /// All zero bits.
    pub(crate) const EMPTY: Self = Self {
        context: Context::EMPTY,
        baseline: T::ZERO,
        round: 0,
        time: 0,
        action: Action(0),
        wait: Wait::Waiting,
        probed: ContrastSet::EMPTY,
    };
}

/// A decision that enters the ring.
#[derive(Debug)]
pub(super) struct Entry<'e, T> {
    pub(super) context: &'e Context,
    pub(super) baseline: T,
    pub(super) round: u32,
    pub(super) time: u32,
    pub(super) action: Action,
    pub(super) probes: &'e [Probe],
}

/// A decision whose wait ends: its round, and the reward that is learned instead of its own.
#[derive(Clone, Copy, Debug)]
pub(super) struct Due {
    pub(super) round: u32,
    pub(super) imputed: Option<f64>,
}

impl From<Due> for Event {
    fn from(due: Due) -> Self {
        Self::Expiry { round: due.round, imputed: due.imputed }
    }
}

/// The end of a wait, checked.
#[derive(Debug)]
pub(super) enum Expiring<'s, T> {
    /// An imputed reward is learned.
    Imputed(Lesson<'s, T>),
    /// Nothing is learned.
    Unrewarded(Unrewarded<'s, T>),
}

/// A decision that stops waiting without a reward, and the state that it belongs to.
#[derive(Debug)]
pub(super) struct Unrewarded<'s, T> {
    state: &'s mut State,
    pending: &'s mut Pending<T>,
}

impl<T> Unrewarded<'_, T> {
    /// Ends the wait.
    pub(super) const fn expire(self) {
        self.pending.wait = Wait::Expired;
        self.state.count();
    }
}

/// A decision that is kept: with or without its reward.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct KeptDecision {
    /// Round of the decision.
    pub round: u32,
    /// Context of the request.
    pub context: Context,
    /// Chosen action.
    pub action: Action,
    /// Reference score of the action.
    pub baseline: f64,
    /// The caller's time of the request.
    pub time: u32,
    /// True until the decision is rewarded or expires.
    pub waits: bool,
}

impl KeptDecision {
    /// The observation that a reward makes of the decision.
    #[must_use]
    pub const fn observation(&self, reward: f64, weight: f32) -> Observation {
        let Self { context, action, baseline, .. } = *self;
        Observation { context, action, baseline, reward, weight }
    }
}

impl<T: Scalar> User<'_, T> {
    /// The last decisions, as many as the [capacity](Self::capacity) allows, oldest first.
    pub fn kept_decisions(&self) -> impl Iterator<Item = KeptDecision> {
        self.memory.view().ring().map(|pending| KeptDecision {
            round: pending.round,
            context: pending.context,
            action: pending.action,
            baseline: pending.baseline.to_f64(),
            time: pending.time,
            waits: pending.wait == Wait::Waiting,
        })
    }

    /// The decisions that still wait for their reward at `time`, oldest first.
    pub fn waiting(&self, time: u32) -> impl Iterator<Item = DecisionId> {
        let waits = move |pending: &&Pending<T>| pending.wait == Wait::Waiting && !self.is_due(pending, time);
        self.memory.view().ring().filter(waits).map(|pending| self.id(pending.round))
    }

    /// The oldest decision whose deadline has passed at `time`, and whose end has to be recorded.
    ///
    /// Without imputation the rounds alone tell that a deadline in rounds has passed. Such an end is recorded
    /// only if the decision has a probe.
    pub(super) fn due(&self, time: u32) -> Option<Due> {
        let deadline = self.policy.settings().deadline;
        let expiry = self.policy.settings().expiry;
        let known = matches!((deadline, expiry), (Deadline::Rounds(_), Expiry::Nothing));
        if matches!(deadline, Deadline::None) || known && !cfg!(feature = "adapt") {
            return None;
        }
        let recorded =
            |pending: &Pending<T>| !cfg!(feature = "adapt") || !known || !pending.probed.is_empty();
        let due = |pending: &&Pending<T>| {
            pending.wait == Wait::Waiting && self.is_due(pending, time) && recorded(pending)
        };
        self.memory
            .view()
            .ring()
            .find(due)
            .map(|pending| Due { round: pending.round, imputed: expiry.reward() })
    }

    /// The decision whose slot the next round needs, if its end has to be recorded: it has a probe, or a
    /// reward is imputed.
    pub(super) fn crowded(&self) -> Option<Due> {
        let oldest = self
            .memory
            .view()
            .slot(self.state().round.checked_add(1)?)
            .filter(|oldest| oldest.round > 0 && oldest.wait == Wait::Waiting)?;
        let imputed = self.policy.settings().expiry.reward();
        // A longer ring that replays the journal has to see that the contrast of the probe is free again.
        let probed = cfg!(feature = "adapt") && !oldest.probed.is_empty();
        (imputed.is_some() || probed).then_some(Due { round: oldest.round, imputed })
    }

    /// Ends the wait of every decision whose deadline has passed at `time`. The result is the number of
    /// expiries.
    ///
    /// # Errors
    /// An empty user; nothing has changed then.
    pub fn expire(&mut self, time: u32) -> Result<u32, UserError> {
        self.admit()?;
        let mut expired = 0;
        while let Some(due) = self.due(time) {
            self.end(due)?;
            expired += 1;
        }
        Ok(expired)
    }

    /// The deadline of a decision has passed at `time`.
    fn is_due(&self, pending: &Pending<T>, time: u32) -> bool {
        match self.policy.settings().deadline {
            Deadline::None => false,
            Deadline::Rounds(rounds) => self.state().round.saturating_sub(pending.round) > rounds,
            Deadline::Time(limit) => time.saturating_sub(pending.time) > limit,
        }
    }

    /// The round of a decision that still waits at `time`.
    pub(super) fn rewardable(&self, id: DecisionId, time: u32) -> Result<u32, UserError> {
        let round = self.state().round_of(id)?;
        if self.is_due(self.memory.view().find(round)?, time) {
            Err(UserError::ExpiredDecision)
        } else {
            Ok(round)
        }
    }

    /// Ends a wait.
    pub(super) fn end(&mut self, due: Due) -> Result<(), UserError> {
        match self.expiring(due)? {
            Expiring::Imputed(lesson) => {
                lesson.learn();
            }
            Expiring::Unrewarded(decision) => decision.expire(),
        }
        Ok(())
    }

    /// Checks the end of a wait. It does not check the count of observations: an expiry that is due must not
    /// fail.
    #[inline(never)]
    pub(super) fn expiring(&mut self, due: Due) -> Result<Expiring<'_, T>, UserError> {
        if let Some(reward) = due.imputed {
            admit_reward(reward, 1.0)?;
            return self.pending_lesson(due.round, reward, 1.0, Wait::Expired).map(Expiring::Imputed);
        }
        self.memory.view().find(due.round)?;
        let pending = slot_mut(self.memory.pending, due.round).ok_or(UserError::ExpiredDecision)?;
        Ok(Expiring::Unrewarded(Unrewarded { state: self.memory.state, pending }))
    }
}

impl<T: Scalar> Memory<'_, T> {
    /// Puts a decision into the ring, in place of the decision that had its slot.
    pub(super) fn enter(&mut self, catalog: &Catalog<'_>, entry: &Entry<'_, T>) {
        let Entry { context, baseline, round, time, action, probes } = *entry;
        self.state.round = round;
        self.state.count();
        let probed =
            if cfg!(feature = "probes") { self.enter_probes(catalog, probes) } else { ContrastSet::EMPTY };
        if let Some(slot) = slot_mut(self.pending, round) {
            let wait = Wait::Waiting;
            *slot = Pending { context: *context, baseline, round, time, action, wait, probed };
        }
    }
}

impl<'m, T: Scalar> View<'m, T> {
    /// The decision of a round, if it still waits.
    pub(super) fn find(self, round: u32) -> Result<&'m Pending<T>, UserError> {
        let pending = self.settled_or_waiting(round)?;
        match pending.wait {
            Wait::Rewarded => Err(UserError::DuplicateFeedback),
            Wait::Expired => Err(UserError::ExpiredDecision),
            Wait::Waiting => Ok(pending),
        }
    }

    /// The decision of a round, if it is still in the ring.
    pub(crate) fn settled_or_waiting(self, round: u32) -> Result<&'m Pending<T>, UserError> {
        if round == 0 || round > self.state.round {
            return Err(UserError::UnknownDecision);
        }
        self.slot(round).filter(|pending| pending.round == round).ok_or(UserError::ExpiredDecision)
    }

    /// The slot of a round.
    fn slot(self, round: u32) -> Option<&'m Pending<T>> {
        self.pending.get(slot_index(round, self.pending.len()))
    }

    /// The decisions in the ring, oldest first.
    pub(crate) fn ring(self) -> impl Iterator<Item = &'m Pending<T>> {
        let newest = slot_index(self.state.round, self.pending.len());
        let (newer, older) = self.pending.split_at_checked(newest + 1).unwrap_or((self.pending, &[]));
        older.iter().chain(newer).filter(|pending| pending.round > 0)
    }
}

/// The slot of a round in a ring.
pub(crate) fn slot_mut<T>(ring: &mut [Pending<T>], round: u32) -> Option<&mut Pending<T>> {
    let index = slot_index(round, ring.len());
    ring.get_mut(index)
}

/// The index of the slot of a round: decisions enter in the order of their rounds.
const fn slot_index(round: u32, length: usize) -> usize {
    match (round as usize).checked_rem(length) {
        Some(index) => index,
        None => 0,
    }
}

impl State {
    /// The round of a decision of this user in this incarnation.
    pub(super) fn round_of(&self, id: DecisionId) -> Result<u32, UserError> {
        if id.user != self.user || id.incarnation != self.incarnation {
            Err(UserError::UnknownDecision)
        } else if id.site != self.site {
            Err(UserError::DecidedElsewhere)
        } else {
            Ok(id.round)
        }
    }
}
