//! A user and the place where it is kept: every verb is durable when it returns.
//!
//! A [`Device`] borrows what lives in statics: the learner and its workspace, joined to a [`User`], and a [`Keep`]. Its verbs
//! turn a [`Command`] into the events it takes and store each before it is applied. Over storage with futures, an
//! [`AsyncKeep`], each verb has a second form: `decide_async`, `feedback_async` and so on, the same text.
//!
//! Those futures are not to be given up half-way: an event may be in the journal by then and not in the user, who has to be
//! restored from storage.

use crate::keep::{AsyncKeep, Keep};
use crate::receipt::Deed;
use fable_core::journal::Command;
use fable_core::{Action, Context, Decision, DecisionId, Request, Scalar, Statement, User, UserError};
use fable_forms::blocking;

/// One user on a device, with the place where it is kept. See the [module](self).
#[derive(Debug)]
pub struct Device<'u, T, K> {
    pub(crate) user: User<'u, T>,
    pub(crate) keep: &'u mut K,
}

/// What became of an event.
enum Stepped {
    Applied,
    Forgot,
    NoRoom,
    /// There was none.
    Done,
}

impl<'u, T: Scalar, K> Device<'u, T, K> {
    /// A user as it was restored from `keep`, or was started if nothing is kept there.
    #[must_use]
    pub const fn new(user: User<'u, T>, keep: &'u mut K) -> Self {
        Self { user, keep }
    }

    /// The user.
    #[must_use]
    pub const fn user(&self) -> &User<'u, T> {
        &self.user
    }

    /// The user, for questions: predictions, explanations, the profile. What it is told to learn or decide through this is not
    /// kept and lost with the next reset; the verbs are here.
    pub const fn ask(&mut self) -> &mut User<'u, T> {
        &mut self.user
    }

    /// Where the state is kept.
    #[must_use]
    pub const fn keep(&self) -> &K {
        self.keep
    }
}

#[blocking]
impl<T: Scalar, K: AsyncKeep> Device<'_, T, K> {
    /// Chooses an action.
    ///
    /// # Errors
    /// A context, set or defaults that do not fit, or storage that fails: there is no decision then.
    pub async fn decide_async(&mut self, request: &Request<'_>) -> Result<Decision, K::Error> {
        let mut command = Command::decide(*request);
        self.run_async(&mut command).await?;
        Ok(command.decision(&self.user).ok_or(UserError::UnknownDecision)?) // there is one
    }

    /// Learns the reward of an earlier decision.
    ///
    /// # Errors
    /// A decision that does not wait, a reward out of range, or storage that fails; nothing has changed then.
    pub async fn feedback_async(&mut self, id: DecisionId, reward: f64) -> Result<(), K::Error> {
        self.learn_async(&mut Command::feedback(id, reward)).await
    }

    /// Learns the reward of an action that was chosen elsewhere.
    ///
    /// # Errors
    /// A context, action or reward that does not fit, or storage that fails; nothing has changed then.
    pub async fn observe_async(
        &mut self,
        context: &Context,
        action: Action,
        reward: f64,
    ) -> Result<(), K::Error> {
        self.learn_async(&mut Command::observe(context, action, reward)).await
    }

    /// Takes stated preferences.
    ///
    /// # Errors
    /// One that does not fit: none is taken then. Storage that fails: those before may have been.
    pub async fn onboard_async(&mut self, statements: &[Statement]) -> Result<(), K::Error> {
        self.run_async(&mut Command::onboard(statements)).await
    }

    /// Ends the wait of every decision whose deadline has passed, and says how many that were.
    ///
    /// # Errors
    /// Storage that fails; some may have expired then.
    pub async fn expire_async(&mut self, now: u32) -> Result<u32, K::Error> {
        let mut command = Command::expire(now);
        self.run_async(&mut command).await?;
        Ok(command.applied())
    }

    /// Promotes everything that is decided now, and says how much that was.
    ///
    /// # Errors
    /// Storage that fails; some may be promoted then.
    pub async fn promote_async(&mut self, at: u32) -> Result<u32, K::Error> {
        let mut command = Command::promote(at);
        self.run_async(&mut command).await?;
        Ok(command.applied())
    }

    /// Back to the prior, leaving nothing readable of the past. A power cut leaves the user remembered or forgotten, never half
    /// of it.
    ///
    /// # Errors
    /// A counter at its end, or storage that fails. Once [`User::incarnation`](fable_core::journal::State::incarnation) has gone up the
    /// user is forgotten, and a restart finishes what is left to erase.
    pub async fn forget_async(&mut self) -> Result<(), K::Error> {
        self.run_async(&mut Command::forget()).await
    }

    /// Does all of a command; each of its events is stored before it is applied.
    ///
    /// # Errors
    /// What the user refuses, or storage that fails. The events that [`applied`](Command::applied) counts have happened.
    pub async fn run_async(&mut self, command: &mut Command<'_>) -> Result<(), K::Error> {
        loop {
            match self.step_async(command).await? {
                Stepped::Applied => {}
                Stepped::NoRoom => self.keep.make_room(&self.user).await?,
                Stepped::Forgot => {
                    self.keep.forget(&self.user).await?;
                    #[cfg(feature = "defmt")]
                    defmt::info!("the user is forgotten, incarnation {}", self.user.state().incarnation());
                }
                Stepped::Done => return Ok(()),
            }
        }
    }

    /// Stores and applies the next event of a command. A step is large and borrows the user: it has a stack frame of its own,
    /// which is gone when room is made, and is proposed again after that.
    #[inline(never)]
    async fn step_async(&mut self, command: &mut Command<'_>) -> Result<Stepped, K::Error> {
        let Some(step) = self.user.next(command)? else { return Ok(Stepped::Done) };
        if !self.keep.append(step.event()).await? {
            return Ok(Stepped::NoRoom);
        }
        let (ticket, deed) = (self.keep.receipts().stamp(step.event()), Deed::of(step.event()));
        step.apply();
        self.keep.receipts().note(ticket, deed, &self.user);
        Ok(if matches!(deed, Deed::Forgot) { Stepped::Forgot } else { Stepped::Applied })
    }

    /// A reward counts when it is stored: what it has made certain is promoted at a later look if that cannot be stored now.
    pub(crate) async fn learn_async(&mut self, command: &mut Command<'_>) -> Result<(), K::Error> {
        let learned = self.run_async(command).await;
        if command.applied() > 0 { Ok(()) } else { learned }
    }
}
