//! Decisions that wait for their reward: a bounded ring, deadlines, and what happens when one expires.
//!
//! Rewards come late, out of order or never. Every decision enters the ring; its reward is learned when it comes, so after
//! any interleaving the posterior is that of the same observations given at once, to rounding. A decision stops waiting
//! when its [`Deadline`] has passed or when the ring needs its place, and then [`Expiry`] says what is learned: nothing, or
//! an imputed reward. Both belong to proposing, not to checking: a journal is replayed under whatever deadlines. A settled
//! decision stays in the ring as long as there is room, so that a second reward is known as a duplicate; what has left the
//! ring is expired.
//!
//! ```
//! use fable_core::catalog::TAU2;
//! use fable_core::settings::{Deadline, Expiry};
//! use fable_core::{Feasible, HostUser, Policy, Request, Settings, UserError};
//!
//! let settings = Settings { deadline: Deadline::Time(60), expiry: Expiry::Impute(-0.1), ..Settings::default() };
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

use super::{DecisionId, Event, Observation, State, User, UserError, View};
use crate::catalog::{Action, Context, ContrastSet, score::Scalar};
use crate::policy::{Deadline, Expiry};

/// Whether a decision still waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    pub(crate) time: u32,
    pub(crate) action: Action,
    pub(crate) wait: Wait,
    /// Contrasts whose last coin was tossed for this decision.
    pub(crate) coins: ContrastSet,
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
        coins: ContrastSet::EMPTY,
    };
}

/// A wait that ends: the decision's round, and what is learned instead of its reward.
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
    /// Whether the decision has neither a reward nor expired.
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

    /// The decisions that still wait for their reward at time `now`, oldest first.
    pub fn waiting(&self, time: u32) -> impl Iterator<Item = DecisionId> {
        let waits = move |pending: &&Pending<T>| pending.wait == Wait::Waiting && !self.is_due(pending, time);
        self.memory.view().ring().filter(waits).map(|pending| self.id(pending.round))
    }

    /// The oldest decision whose deadline has passed at time `now`.
    ///
    /// `None` when no deadline has passed, and when none is worth recording: without imputation a deadline in rounds is
    /// known from the rounds alone, unless a coin waits with the decision.
    pub(super) fn due(&self, time: u32) -> Option<Due> {
        let (deadline, expiry) = (self.policy.settings().deadline, self.policy.settings().expiry);
        let known = matches!((deadline, expiry), (Deadline::Rounds(_), Expiry::Nothing));
        if matches!(deadline, Deadline::None) || known && !cfg!(feature = "adapt") {
            return None;
        }
        let worth = |pending: &Pending<T>| !cfg!(feature = "adapt") || !known || !pending.coins.is_empty();
        let due = |pending: &&Pending<T>| {
            pending.wait == Wait::Waiting && self.is_due(pending, time) && worth(pending)
        };
        self.memory
            .view()
            .ring()
            .find(due)
            .map(|pending| Due { round: pending.round, imputed: expiry.reward() })
    }

    /// The decision that has to leave for one more, with an imputed reward or with a coin that waits. `None` when there is room, or
    /// when the oldest can leave without a trace.
    pub(super) fn crowded(&self) -> Option<Due> {
        let oldest = self
            .memory
            .view()
            .slot(self.state().round.checked_add(1)?)
            .filter(|oldest| oldest.round > 0 && oldest.wait == Wait::Waiting)?;
        let imputed = self.policy.settings().expiry.reward();
        // A coin that leaves is in the journal: another ring, longer than this one, must see its contrast free, too.
        let coins = cfg!(feature = "adapt") && !oldest.coins.is_empty();
        (imputed.is_some() || coins).then_some(Due { round: oldest.round, imputed })
    }

    /// Ends the wait of every decision whose deadline has passed at time `now`, and says how many expiries that took.
    ///
    /// # Errors
    /// A vacant user; nothing has changed then.
    pub fn expire(&mut self, time: u32) -> Result<u32, UserError> {
        self.admit()?;
        let mut expired = 0;
        while let Some(due) = self.due(time) {
            self.end(due)?;
            expired += 1;
        }
        Ok(expired)
    }

    pub(super) fn is_due(&self, pending: &Pending<T>, time: u32) -> bool {
        match self.policy.settings().deadline {
            Deadline::None => false,
            Deadline::Rounds(rounds) => self.state().round.saturating_sub(pending.round) > rounds,
            Deadline::Time(limit) => time.saturating_sub(pending.time) > limit,
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

    fn slot(self, round: u32) -> Option<&'m Pending<T>> {
        self.pending.get(place(round, self.pending.len()))
    }

    /// What is in the ring, oldest first.
    pub(crate) fn ring(self) -> impl Iterator<Item = &'m Pending<T>> {
        let newest = place(self.state.round, self.pending.len());
        let (newer, older) = self.pending.split_at_checked(newest + 1).unwrap_or((self.pending, &[]));
        older.iter().chain(newer).filter(|pending| pending.round > 0)
    }
}

/// The place in a ring of the decision of a round.
pub(crate) fn slot_mut<T>(ring: &mut [Pending<T>], round: u32) -> Option<&mut Pending<T>> {
    let place = place(round, ring.len());
    ring.get_mut(place)
}

/// Where the decision of a round stands in a ring; decisions enter in the order of their rounds.
const fn place(round: u32, length: usize) -> usize {
    match (round as usize).checked_rem(length) {
        Some(place) => place,
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
