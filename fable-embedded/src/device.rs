//! A user with its store: every verb is durable when it returns.
//!
//! A [`Device`] borrows a [`User`], which joins a learner and its workspace, and a [`UserStore`]. All of them
//! can be statics. A verb turns a [`Command`] into events, and stores each event before it applies it. Over
//! an [`AsyncUserStore`] each verb has an asynchronous form from the same source text: `decide_async`,
//! `feedback_async` and so on.
//!
//! Do not drop such a future before its end. An event may be in the journal and not yet in the user, and the
//! user has to be restored from the store then.

use crate::reply_cache::EventKind;
use crate::store::{AsyncUserStore, UserStore};
use fable_core::journal::Command;
use fable_core::{Action, Context, Decision, DecisionId, Request, Scalar, Statement, User, UserError};
use fable_forms::blocking;

/// One user on a device, with its store. See the [module](self).
#[derive(Debug)]
pub struct Device<'u, T, S> {
    pub(crate) user: User<'u, T>,
    pub(crate) store: &'u mut S,
}

/// Result of a step.
enum Stepped {
    Applied,
    Forgot,
    /// The store has no capacity for the event.
    Full,
    /// The command has no further event.
    Done,
}

impl<'u, T: Scalar, S> Device<'u, T, S> {
    /// Creates a device. The user was restored from the store, or was started if the store is empty.
    #[must_use]
    pub const fn new(user: User<'u, T>, store: &'u mut S) -> Self {
        Self { user, store }
    }

    /// Returns the user.
    #[must_use]
    pub const fn user(&self) -> &User<'u, T> {
        &self.user
    }

    /// Returns the user for questions: predictions, explanations, the profile.
    ///
    /// Verbs of the user itself store nothing. Use the verbs of the device for every change.
    pub const fn ask(&mut self) -> &mut User<'u, T> {
        &mut self.user
    }

    /// Returns the store.
    #[must_use]
    pub const fn store(&self) -> &S {
        self.store
    }
}

#[blocking]
impl<T: Scalar, S: AsyncUserStore> Device<'_, T, S> {
    /// Chooses an action.
    ///
    /// # Errors
    /// A context, set or defaults that do not fit, or a store that fails. No decision was made then.
    pub async fn decide_async(&mut self, request: &Request<'_>) -> Result<Decision, S::Error> {
        let mut command = Command::decide(*request);
        self.run_async(&mut command).await?;
        Ok(command.decision(&self.user).ok_or(UserError::UnknownDecision)?) // there is one
    }

    /// Learns the reward of an earlier decision.
    ///
    /// # Errors
    /// A decision that does not wait, a reward out of range, or a store that fails. Nothing has changed then.
    pub async fn feedback_async(&mut self, id: DecisionId, reward: f64) -> Result<(), S::Error> {
        self.learn_async(&mut Command::feedback(id, reward)).await
    }

    /// Learns the reward of an action that the device did not choose.
    ///
    /// # Errors
    /// A context, action or reward that does not fit, or a store that fails. Nothing has changed then.
    pub async fn observe_async(
        &mut self,
        context: &Context,
        action: Action,
        reward: f64,
    ) -> Result<(), S::Error> {
        self.learn_async(&mut Command::observe(context, action, reward)).await
    }

    /// Learns stated preferences.
    ///
    /// # Errors
    /// A statement that does not fit. No statement was learned then. A store that fails. Earlier statements
    /// may be learned then.
    pub async fn onboard_async(&mut self, statements: &[Statement]) -> Result<(), S::Error> {
        self.run_async(&mut Command::onboard(statements)).await
    }

    /// Expires every decision whose deadline has passed, and returns their number.
    ///
    /// # Errors
    /// A store that fails. Some decisions may have expired then.
    pub async fn expire_async(&mut self, time: u32) -> Result<u32, S::Error> {
        let mut command = Command::expire(time);
        self.run_async(&mut command).await?;
        Ok(command.applied())
    }

    /// Promotes every preference that is certain, and returns their number.
    ///
    /// # Errors
    /// A store that fails. Some preferences may be promoted then.
    pub async fn promote_async(&mut self, time: u32) -> Result<u32, S::Error> {
        let mut command = Command::promote(time);
        self.run_async(&mut command).await?;
        Ok(command.applied())
    }

    /// Resets the user to the prior and erases the past. After a power cut the user is as before or
    /// forgotten.
    ///
    /// # Errors
    /// A counter at its end, or a store that fails. If the
    /// [incarnation](fable_core::journal::State::incarnation) has increased, the user is forgotten, and a
    /// restart completes the erase.
    pub async fn forget_async(&mut self) -> Result<(), S::Error> {
        self.run_async(&mut Command::forget()).await
    }

    /// Runs a command. Each of its events is stored before it is applied.
    ///
    /// # Errors
    /// A command that the user refuses, or a store that fails. The events that [`applied`](Command::applied)
    /// counts stay.
    pub async fn run_async(&mut self, command: &mut Command<'_>) -> Result<(), S::Error> {
        loop {
            match self.step_async(command).await? {
                Stepped::Applied => {}
                Stepped::Full => self.store.ensure_capacity(&self.user).await?,
                Stepped::Forgot => {
                    self.store.forget(&self.user).await?;
                    #[cfg(feature = "defmt")]
                    defmt::info!("the user is forgotten, incarnation {}", self.user.state().incarnation());
                }
                Stepped::Done => return Ok(()),
            }
        }
    }

    /// Stores and applies the next event of a command.
    ///
    /// A step is large and borrows the user. Its stack frame ends before the store ensures capacity, and the
    /// step is proposed again.
    #[inline(never)]
    async fn step_async(&mut self, command: &mut Command<'_>) -> Result<Stepped, S::Error> {
        let Some(step) = self.user.next(command)? else { return Ok(Stepped::Done) };
        if !self.store.append(step.event()).await? {
            return Ok(Stepped::Full);
        }
        let request_id = self.store.replies().and_then(|replies| replies.request_id(step.event()));
        let kind = EventKind::of(step.event());
        step.apply();
        if let Some(replies) = self.store.replies() {
            replies.note(request_id, kind, &self.user);
        }
        Ok(if matches!(kind, EventKind::Forgot) { Stepped::Forgot } else { Stepped::Applied })
    }

    /// Learns a reward. If the promotions after the reward cannot be stored, a later check repeats them.
    pub(crate) async fn learn_async(&mut self, command: &mut Command<'_>) -> Result<(), S::Error> {
        let learned = self.run_async(command).await;
        if command.applied() > 0 { Ok(()) } else { learned }
    }
}
