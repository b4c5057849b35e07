//! One user and, if asked for, the tape: the snapshot where it begins, and every event since.
//!
//! Each event is checked, written and applied, in this order. The tape is what `fable replay --snapshot S --journal J` reads:
//! a journal is the records one after the other, each with its length, two bytes, before it. Seed and exploration are not in
//! a record, so a tape has one of each: other settings begin another tape.

use crate::Refusal;
use alloc::vec::Vec;
use fable_core::host::HostLearner;
use fable_core::journal::{Command, State};
use fable_core::record::{MAX_EVENT_LEN, RecordError, encode_event};
use fable_core::{Context, Decision, Feasible, HostUser, Policy, Request, User, UserError};

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
        self.user.state()
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
        Ok(Self::of(HostUser::from_learner(policy, learner)?, taped))
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
        *self = Self::of(HostUser::from_learner(policy, self.user.learner().clone())?, self.tape.is_some());
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AGENT;
    use fable_core::host::HOST_CAPACITY;
    use fable_core::record::decode_event;
    use fable_core::{Exploration, Settings};

    fn policy(exploration: Exploration) -> Policy<'static, f32> {
        Policy::new(&AGENT, Settings { seed: 3, exploration, ..Settings::PROBING }).unwrap()
    }

    /// A life with so many rounds in it.
    fn lived(rounds: u32) -> Life {
        let mut life = Life::begin(&policy(Exploration::Optimistic(1.5)), 7, true).unwrap();
        for round in 0..rounds {
            let signals = [0, 1, 2, 3].map(|signal| ((round + signal) % 5) as f32 / 4.0);
            let context = Context::new(&AGENT, Some(round as usize % 10), &signals).unwrap();
            let decision = life.choose(&context, &Feasible::all(&AGENT)).unwrap();
            life.enact(&mut Command::feedback(decision.id, f64::from(decision.action.0 % 3) - 1.0)).unwrap();
        }
        life
    }

    #[test]
    fn other_settings_begin_another_tape_and_forgetting_leaves_none() {
        let mut life = lived(5);
        assert!(!life.tape().unwrap().journal.is_empty());
        life.adopt(&policy(Exploration::Optimistic(5.0))).unwrap();
        assert_eq!((&life.tape().unwrap().journal[..], &life.tape().unwrap().start), (&[][..], &life.save()));
        let saved = life.save();
        let foreign = Policy::new(&AGENT, Settings { noise_variance: 1.0, ..Settings::DEFAULT }).unwrap();
        assert_eq!(life.adopt(&foreign).unwrap_err().code, "bad_request");
        assert_eq!(life.save(), saved);
        assert_eq!(life.policy().settings().exploration, Exploration::Optimistic(5.0));
        life.forget().unwrap();
        assert_eq!((life.rounds(), life.observations(), life.incarnation()), (0, 0, 1));
        assert_eq!((&life.tape().unwrap().journal[..], &life.tape().unwrap().start), (&[][..], &life.save()));
    }

    /// What `fable replay` does, with decisions that nobody reacts to.
    #[test]
    fn a_tape_of_more_decisions_than_can_wait_tells_the_same_life() {
        let mut life = lived(100);
        let context = Context::new(&AGENT, None, &[0.5; 4]).unwrap();
        let decided =
            [(); HOST_CAPACITY + 1].map(|()| life.choose(&context, &Feasible::all(&AGENT)).unwrap().id);
        assert_eq!(life.enact(&mut Command::feedback(decided[0], 0.5)).unwrap_err().code, "expired");
        life.enact(&mut Command::feedback(decided[1], 0.5)).unwrap();

        let Tape { start, journal } = life.tape().unwrap();
        let mut told = HostUser::<f32>::restore(life.policy(), start).unwrap();
        let (mut user, mut rest) = (told.user(), &journal[..]);
        while let Some((length, after)) = rest.split_first_chunk() {
            let (record, after) = after.split_at(usize::from(u16::from_le_bytes(*length)));
            user.check(&decode_event(&AGENT, record).unwrap()).unwrap().apply();
            rest = after;
        }
        assert_eq!(told.to_bytes(), life.save());
    }

    #[test]
    fn a_life_without_a_tape_decides_the_same() {
        let mut taped = lived(10);
        let mut bare = Life::of(HostUser::restore(taped.policy(), &taped.save()).unwrap(), false);
        let context = Context::new(&AGENT, Some(2), &[0.25; 4]).unwrap();
        for _ in 0..10 {
            let [one, other] =
                [&mut taped, &mut bare].map(|life| life.choose(&context, &Feasible::all(&AGENT)).unwrap());
            assert_eq!(one, other);
        }
        assert!(bare.tape().is_none());
        assert_eq!(taped.save(), bare.save());
    }
}
