//! One person and the tape: the snapshot where the tape begins, and every event since.
//!
//! Each event is checked, written and applied, in this order. The tape is what `fable replay --snapshot S --journal J` reads:
//! a journal is the records one after the other, each with its length, two bytes, before it. Seed and exploration are not in
//! a record, so a tape has one of each: another exploration begins another tape.

use crate::{AGENT, PageError};
use alloc::vec::Vec;
use fable_core::record::{MAX_EVENT_LEN, RecordError, encode_event};
use fable_core::{
    Command, Context, Decision, DecisionId, Exploration, Feasible, HostUser, Policy, Request, Scores, Settings, State, Statement,
    User,
};

/// A journal longer than this begins anew, from a snapshot: about 20,000 rounds.
const LONGEST_JOURNAL: usize = 1 << 20;

/// One user and the tape.
#[derive(Clone, Debug)]
pub struct Life {
    user: HostUser<'static, f32>,
    /// Where the tape begins.
    start: Vec<u8>,
    /// The events since.
    journal: Vec<u8>,
}

impl core::ops::Deref for Life {
    type Target = State;

    fn deref(&self) -> &State {
        &self.user
    }
}

impl Life {
    /// A life at the prior, with coins.
    ///
    /// # Errors
    /// None that these settings lead to.
    pub fn new(name: &str, seed: u64) -> Result<Self, PageError> {
        let policy = Policy::new(&AGENT, Settings { seed, ..Settings::PROBING })?;
        Ok(Self::of(HostUser::new(&policy, name)?))
    }

    /// A life whose tape begins here.
    fn of(user: HostUser<'static, f32>) -> Self {
        Self { start: user.to_bytes(), user, journal: Vec::new() }
    }

    /// The user, for questions: what changes something would be missing from the tape.
    pub(crate) fn user(&mut self) -> User<'_, f32> {
        self.user.user()
    }

    /// Chooses, and returns what was chosen with its scores.
    ///
    /// # Errors
    /// What the learner refuses.
    pub fn decide(&mut self, context: &Context, feasible: &Feasible) -> Result<(Decision, Scores), PageError> {
        let mut command = Command::decide(Request::new(context, feasible)).scored();
        self.enact(&mut command)?;
        command.decision(&self.user()).zip(command.scores()).ok_or(PageError::NoDecision)
    }

    /// Learns the reward of a decision, and returns how many preferences that has promoted.
    ///
    /// # Errors
    /// A reward that is not a number from -1 to 1, a decision that had its reward.
    pub fn learn(&mut self, decision: DecisionId, reward: f64) -> Result<u32, PageError> {
        let mut command = Command::feedback(decision, reward);
        self.enact(&mut command)?;
        Ok(command.applied().saturating_sub(1))
    }

    /// Takes a stated preference.
    ///
    /// # Errors
    /// A statement that does not fit.
    pub fn state(&mut self, statement: Statement) -> Result<(), PageError> {
        self.enact(&mut Command::onboard(&[statement]))
    }

    /// Forgets everything, the tape too.
    ///
    /// # Errors
    /// A life that was forgotten four billion times.
    pub fn forget(&mut self) -> Result<(), PageError> {
        self.user().forget()?;
        self.begin_tape();
        Ok(())
    }

    /// Explores with this optimism from now on.
    ///
    /// # Errors
    /// An optimism out of its range.
    pub fn explore(&mut self, optimism: f64) -> Result<(), PageError> {
        let (exploration, settings) = (Exploration::Optimistic(optimism), *self.user.policy().settings());
        if settings.exploration != exploration {
            let policy = Policy::new(&AGENT, Settings { exploration, ..settings })?;
            *self = Self::of(HostUser::of(&policy, self.user.learner().clone())?);
        }
        Ok(())
    }

    /// The state as a snapshot record.
    #[must_use]
    pub fn save(&self) -> Vec<u8> {
        self.user.to_bytes()
    }

    /// Goes on from a snapshot record, whoever wrote it.
    ///
    /// # Errors
    /// Bytes that are not a snapshot for this page; nothing has changed then.
    pub fn load(&mut self, bytes: &[u8]) -> Result<(), PageError> {
        *self = Self::of(HostUser::restore(self.user.policy(), bytes)?);
        Ok(())
    }

    /// Where the tape begins, as a snapshot record.
    #[must_use]
    pub fn tape_start(&self) -> &[u8] {
        &self.start
    }

    /// What happened since, as a journal.
    #[must_use]
    pub fn journal(&self) -> &[u8] {
        &self.journal
    }

    fn begin_tape(&mut self) {
        self.start = self.save();
        self.journal.clear();
    }

    /// Writes each event of a command to the tape and applies it.
    fn enact(&mut self, command: &mut Command<'_>) -> Result<(), PageError> {
        if self.journal.len() > LONGEST_JOURNAL {
            self.begin_tape();
        }
        let (mut user, mut buffer) = (self.user.user(), [0; MAX_EVENT_LEN]);
        while let Some(step) = user.next(command)? {
            let record = encode_event(step.event(), &mut buffer)?;
            let length = u16::try_from(record.len()).map_err(|_| RecordError::TooLong)?;
            self.journal.extend_from_slice(&length.to_le_bytes());
            self.journal.extend_from_slice(record);
            step.apply();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use fable_core::record::decode_event;
    use fable_core::{HOST_ROOM, UserError};

    fn lived(rounds: u16) -> Life {
        let mut life = Life::new("ana", 3).unwrap();
        for round in 0..rounds {
            let context = Context::new(&AGENT, Some(usize::from(round % 10)), &[0.1, 0.2, 0.3, 0.4]).unwrap();
            let (chosen, _) = life.decide(&context, &Feasible::all(&AGENT)).unwrap();
            life.learn(chosen.id, f64::from(chosen.action.0 % 3) - 1.0).unwrap();
        }
        life
    }

    #[test]
    fn a_saved_life_goes_on_with_the_same_bits() {
        let mut one = lived(20);
        let mut other = Life::new("somebody else", 3).unwrap();
        other.load(&one.save()).unwrap();
        let context = Context::new(&AGENT, None, &[0.5; 4]).unwrap();
        for _ in 0..20 {
            let decided = [&mut one, &mut other].map(|life| {
                let chosen = life.decide(&context, &Feasible::all(&AGENT)).unwrap();
                life.learn(chosen.0.id, 0.25).unwrap();
                chosen
            });
            assert_eq!(decided[0], decided[1]);
        }
        assert_eq!(one.save(), other.save());
    }

    #[test]
    fn bad_bytes_change_nothing() {
        let mut life = lived(5);
        let (saved, journal) = (life.save(), life.journal().to_vec());
        let damaged = |at: usize| {
            let mut bytes = saved.clone();
            bytes[at] ^= 1;
            bytes
        };
        let longer = [&saved[..], &[0]].concat();
        let bad = [vec![], b"not a snapshot at all, just some text".to_vec(), saved[..saved.len() - 1].to_vec(), longer];
        for bytes in bad.into_iter().chain([0, 4, 12, 40, saved.len() / 2, saved.len() - 1].map(damaged)) {
            assert!(matches!(life.load(&bytes), Err(PageError::Record(_))));
            assert_eq!((life.save(), life.journal()), (saved.clone(), &journal[..]));
        }
    }

    #[test]
    fn another_exploration_begins_another_tape_and_forgetting_leaves_none() {
        let mut life = lived(5);
        assert!(!life.journal().is_empty());
        life.explore(1.5).unwrap(); // as it was
        assert!(!life.journal().is_empty());
        life.explore(5.0).unwrap();
        assert_eq!((life.journal(), life.tape_start()), (&[][..], &life.save()[..]));
        assert!(life.explore(f64::NAN).is_err() && life.explore(-1.0).is_err());
        assert_eq!(life.user.policy().settings().exploration, Exploration::Optimistic(5.0));
        life.forget().unwrap();
        assert_eq!((life.rounds(), life.observations(), life.incarnation()), (0, 0, 1));
        assert_eq!((life.journal(), life.tape_start()), (&[][..], &life.save()[..]));
    }

    /// What `fable replay` does, with decisions that nobody reacts to.
    #[test]
    fn a_tape_of_more_decisions_than_can_wait_tells_the_same_life() {
        let mut life = lived(100);
        let context = Context::new(&AGENT, None, &[0.5; 4]).unwrap();
        let decided = [(); HOST_ROOM + 1].map(|()| life.decide(&context, &Feasible::all(&AGENT)).unwrap().0.id);
        assert_eq!(life.learn(decided[0], 0.5), Err(PageError::Learner(UserError::ExpiredDecision)));
        life.learn(decided[1], 0.5).unwrap();

        let mut told = HostUser::<f32>::restore(life.user.policy(), life.tape_start()).unwrap();
        let (mut user, mut rest) = (told.user(), life.journal());
        while let Some((length, after)) = rest.split_first_chunk() {
            let (record, after) = after.split_at(usize::from(u16::from_le_bytes(*length)));
            user.check(&decode_event(&AGENT, record).unwrap()).unwrap().apply();
            rest = after;
        }
        assert_eq!(told.to_bytes(), life.save());
    }
}
