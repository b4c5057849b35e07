//! One user and, if asked for, the tape: the snapshot where it begins, and every event since.
//!
//! Each event is checked, written and applied, in this order. The tape is what `fable replay --snapshot S --journal J` reads:
//! a journal is the records one after the other, each with its length, two bytes, before it. Seed and exploration are not in
//! a record, so a tape has one of each: other settings begin another tape.

use crate::Refusal;
use alloc::vec::Vec;
use fable_core::record::{MAX_EVENT_LEN, RecordError, encode_event};
use fable_core::{Command, Context, Decision, Feasible, HostLearner, HostUser, Policy, Request, State, User, UserError};

/// A journal longer than this begins anew, from a snapshot: about 20,000 rounds.
const LONGEST_JOURNAL: usize = 1 << 20;

/// One user, with or without a tape.
#[derive(Clone, Debug)]
pub struct Life {
    user: HostUser<'static, f32>,
    tape: Option<Tape>,
}

/// Where it begins, as a snapshot record, and what happened since, as a journal.
#[derive(Clone, Debug)]
pub struct Tape {
    /// A snapshot record.
    pub start: Vec<u8>,
    /// The events since.
    pub journal: Vec<u8>,
}

impl core::ops::Deref for Life {
    type Target = State;

    fn deref(&self) -> &State {
        &self.user
    }
}

impl Life {
    /// A life that goes on from here; with a tape if `taped`.
    #[must_use]
    pub fn of(user: HostUser<'static, f32>, taped: bool) -> Self {
        let tape = taped.then(|| Tape { start: user.to_bytes(), journal: Vec::new() });
        Self { user, tape }
    }

    /// A life at the prior, by the hash of a name.
    ///
    /// # Errors
    /// None that a policy leads to.
    pub fn begin(policy: &Policy<'static, f32>, user: u64, taped: bool) -> Result<Self, Refusal> {
        let mut learner = HostLearner::for_policy(policy);
        learner.start(policy, user)?;
        Ok(Self::of(HostUser::of(policy, learner)?, taped))
    }

    /// Chooses an action.
    ///
    /// # Errors
    /// What the learner refuses; nothing has changed then.
    pub fn choose(&mut self, context: &Context, feasible: &Feasible) -> Result<Decision, Refusal> {
        let mut command = Command::decide(Request::new(context, feasible));
        self.enact(&mut command)?;
        Ok(command.decision(&self.user()).ok_or(UserError::OutOfOrder)?) // it was just made
    }

    /// The user, for questions: what changes something would be missing from the tape.
    pub fn user(&mut self) -> User<'_, f32> {
        self.user.user()
    }

    /// How this user is decided for.
    #[must_use]
    pub const fn policy(&self) -> &Policy<'static, f32> {
        self.user.policy()
    }

    /// The tape, if there is one.
    #[must_use]
    pub const fn tape(&self) -> Option<&Tape> {
        self.tape.as_ref()
    }

    /// Goes on under another policy of the same catalog, and begins another tape.
    ///
    /// # Errors
    /// A policy under which the state means something else.
    pub fn adopt(&mut self, policy: &Policy<'static, f32>) -> Result<(), Refusal> {
        *self = Self::of(HostUser::of(policy, self.user.learner().clone())?, self.tape.is_some());
        Ok(())
    }

    /// Forgets everything, the tape too.
    ///
    /// # Errors
    /// A life that was forgotten four billion times.
    pub fn forget(&mut self) -> Result<(), Refusal> {
        self.user().forget()?;
        self.begin_tape();
        Ok(())
    }

    /// The state as a snapshot record.
    #[must_use]
    pub fn save(&self) -> Vec<u8> {
        self.user.to_bytes()
    }

    fn begin_tape(&mut self) {
        let user = &self.user;
        if let Some(tape) = &mut self.tape {
            *tape = Tape { start: user.to_bytes(), journal: Vec::new() };
        }
    }

    /// Writes each event of a command to the tape and applies it.
    ///
    /// # Errors
    /// What the learner refuses; nothing has changed then.
    pub fn enact(&mut self, command: &mut Command<'_>) -> Result<(), Refusal> {
        if self.tape.as_ref().is_some_and(|tape| tape.journal.len() > LONGEST_JOURNAL) {
            self.begin_tape();
        }
        let (mut user, mut buffer) = (self.user.user(), [0; MAX_EVENT_LEN]);
        while let Some(step) = user.next(command)? {
            if let Some(tape) = &mut self.tape {
                let record = encode_event(step.event(), &mut buffer)?;
                let length = u16::try_from(record.len()).map_err(|_| RecordError::TooLong)?;
                tape.journal.extend_from_slice(&length.to_le_bytes());
                tape.journal.extend_from_slice(record);
            }
            step.apply();
        }
        Ok(())
    }
}
