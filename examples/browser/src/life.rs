//! One person's learner and its tape: the snapshot where the tape begins, and every event since.
//!
//! Each event is checked, written and applied, in this order. The tape is what `fable replay --snapshot S --journal J` reads:
//! a journal is the records one behind the other, each with its length, two bytes, before it. Seed and exploration are not in
//! a record, so a tape has one of each: another exploration begins another tape.

use crate::{AGENT, PageError};
use alloc::vec;
use alloc::vec::Vec;
use fable_core::record::{MAX_EVENT_LEN, RecordError, Verifier, encode_event, snapshot};
use fable_core::{
    Context, DecisionId, Event, Exploration, Feasible, Learner, Policy, Proposal, Request, Settings, Statement, Workspace,
    user_hash,
};

/// The learner of a life.
pub(crate) type PageLearner = Learner<f32, Vec<f32>, ROOM>;

/// Its scratch.
pub(crate) type PageWorkspace = Workspace<f32, Vec<f32>>;

/// Decisions that can wait and preferences that can be promoted: as many as on a host, so that the states of all can be loaded.
pub const ROOM: usize = 64;

/// A journal longer than this begins anew, from a snapshot: about 20,000 rounds.
const LONGEST_JOURNAL: usize = 1 << 20;

/// Rounds between two looks at what can be promoted: it costs several times a round, and what is sure stays so.
const LOOK_EVERY: u32 = 10;

/// One learner with everything it needs.
#[derive(Clone, Debug)]
pub struct Life {
    policy: Policy<'static, f32>,
    learner: PageLearner,
    workspace: PageWorkspace,
    /// Where the tape begins.
    start: Vec<u8>,
    /// The events since.
    journal: Vec<u8>,
}

impl Life {
    /// A life at the prior.
    ///
    /// # Errors
    /// None that the default settings lead to.
    pub fn new(name: &str, seed: u64) -> Result<Self, PageError> {
        let policy = Policy::new(&AGENT, Settings { seed, ..Settings::default() })?;
        let mut learner = Learner::over(vec![0.0; AGENT.state_len()]);
        learner.start(&policy, user_hash(name))?;
        let workspace = Workspace::over(vec![0.0; AGENT.workspace_len()]);
        let mut life = Self { policy, learner, workspace, start: Vec::new(), journal: Vec::new() };
        life.begin_tape()?;
        Ok(life)
    }

    /// The learner, its policy and scratch, for questions that change nothing.
    pub(crate) fn parts(&mut self) -> (&PageLearner, &Policy<'static, f32>, &mut PageWorkspace) {
        (&self.learner, &self.policy, &mut self.workspace)
    }

    /// Decisions made.
    #[must_use]
    pub const fn rounds(&self) -> u32 {
        self.learner.rounds()
    }

    /// The id of a round of this life.
    #[must_use]
    pub const fn id(&self, round: u32) -> DecisionId {
        DecisionId { user: self.learner.user(), incarnation: self.learner.incarnation(), round }
    }

    /// Chooses, and returns what was chosen with its scores.
    ///
    /// # Errors
    /// What the learner refuses.
    pub fn decide(&mut self, context: &Context, feasible: &Feasible) -> Result<Proposal, PageError> {
        let request = Request::new(context, feasible);
        let proposal = self.learner.propose_scored(&self.policy, &mut self.workspace, &request)?;
        if let Some(permissions) = self.learner.propose_permissions(feasible) {
            self.enact(&permissions)?;
        }
        self.enact(&proposal.event)?;
        Ok(proposal)
    }

    /// Learns the reward of a decision, and returns how many preferences that has promoted.
    ///
    /// # Errors
    /// A reward that is not a number from -1 to 1, a decision that had its reward.
    pub fn learn(&mut self, decision: DecisionId, reward: f64) -> Result<usize, PageError> {
        let event = self.learner.propose_feedback(&self.policy, decision, reward, 1.0, 0)?;
        self.enact(&event)?;
        let mut promoted = 0;
        if !self.rounds().is_multiple_of(LOOK_EVERY) {
            return Ok(promoted);
        }
        while let Some(event) = self.learner.propose_promotion(&self.policy, &mut self.workspace, 0)? {
            self.enact(&event)?;
            promoted += 1;
        }
        Ok(promoted)
    }

    /// Takes a stated preference.
    ///
    /// # Errors
    /// A statement that does not fit.
    pub fn state(&mut self, statement: Statement) -> Result<(), PageError> {
        self.enact(&Event::Onboarding(statement))
    }

    /// Forgets everything, the tape too.
    ///
    /// # Errors
    /// A life that was forgotten four billion times.
    pub fn forget(&mut self) -> Result<(), PageError> {
        self.enact(&Event::Forget { promise: self.policy.promise() })?;
        self.begin_tape()
    }

    /// Explores with this nu from now on.
    ///
    /// # Errors
    /// A nu out of its range.
    pub fn explore(&mut self, nu: f64) -> Result<(), PageError> {
        let exploration = Exploration::Constant(nu);
        if self.policy.settings().exploration != exploration {
            self.policy = Policy::new(&AGENT, Settings { exploration, ..*self.policy.settings() })?;
            self.begin_tape()?;
        }
        Ok(())
    }

    /// The state as a snapshot record.
    ///
    /// # Errors
    /// None: a life is never vacant.
    pub fn save(&self) -> Result<Vec<u8>, PageError> {
        let mut bytes = vec![0; snapshot::max_len::<f32>(&AGENT, ROOM)];
        let length = self.learner.snapshot()?.read(&mut bytes);
        bytes.truncate(length);
        Ok(bytes)
    }

    /// Goes on from a snapshot record, whoever wrote it.
    ///
    /// # Errors
    /// Bytes that are no snapshot for this page; nothing has changed then.
    pub fn load(&mut self, bytes: &[u8]) -> Result<(), PageError> {
        let mut verifier = Verifier::new(&self.policy);
        verifier.push(bytes)?;
        let verified = verifier.finish()?;
        let mut learner = Learner::over(vec![0.0; AGENT.state_len()]);
        let mut loader = learner.load(&self.policy, verified)?;
        loader.push(bytes)?;
        loader.finish()?;
        self.learner = learner;
        self.begin_tape()
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

    fn begin_tape(&mut self) -> Result<(), PageError> {
        self.start = self.save()?;
        self.journal.clear();
        Ok(())
    }

    /// Checks an event, writes it to the tape and applies it.
    fn enact(&mut self, event: &Event) -> Result<(), PageError> {
        if self.journal.len() > LONGEST_JOURNAL {
            self.begin_tape()?;
        }
        let checked = self.learner.check(&self.policy, &mut self.workspace, event)?;
        let mut buffer = [0; MAX_EVENT_LEN];
        let record = encode_event(event, &mut buffer)?;
        let length = u16::try_from(record.len()).map_err(|_| RecordError::TooLong)?;
        self.journal.extend_from_slice(&length.to_le_bytes());
        self.journal.extend_from_slice(record);
        checked.apply();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lived(rounds: u16) -> Life {
        let mut life = Life::new("ana", 3).unwrap();
        for round in 0..rounds {
            let context = Context::new(&AGENT, Some(usize::from(round % 10)), &[0.1, 0.2, 0.3, 0.4]).unwrap();
            let chosen = life.decide(&context, &Feasible::all(&AGENT)).unwrap();
            life.learn(life.id(life.rounds()), f64::from(chosen.action.0 % 3) - 1.0).unwrap();
        }
        life
    }

    #[test]
    fn a_saved_life_goes_on_with_the_same_bits() {
        let mut one = lived(20);
        let mut other = Life::new("somebody else", 3).unwrap();
        other.load(&one.save().unwrap()).unwrap();
        let context = Context::new(&AGENT, None, &[0.5; 4]).unwrap();
        for _ in 0..20 {
            let decided = [&mut one, &mut other].map(|life| {
                let chosen = life.decide(&context, &Feasible::all(&AGENT)).unwrap();
                life.learn(life.id(life.rounds()), 0.25).unwrap();
                chosen
            });
            assert_eq!(decided[0], decided[1]);
        }
        assert_eq!(one.save().unwrap(), other.save().unwrap());
    }

    #[test]
    fn bad_bytes_change_nothing() {
        let mut life = lived(5);
        let (saved, journal) = (life.save().unwrap(), life.journal().to_vec());
        let damaged = |at: usize| {
            let mut bytes = saved.clone();
            bytes[at] ^= 1;
            bytes
        };
        let longer = [&saved[..], &[0]].concat();
        let bad = [vec![], b"not a snapshot at all, just some text".to_vec(), saved[..saved.len() - 1].to_vec(), longer];
        for bytes in bad.into_iter().chain([0, 4, 12, 40, saved.len() / 2, saved.len() - 1].map(damaged)) {
            assert!(matches!(life.load(&bytes), Err(PageError::Record(_))));
            assert_eq!((life.save().unwrap(), life.journal()), (saved.clone(), &journal[..]));
        }
    }

    #[test]
    fn another_exploration_begins_another_tape_and_forgetting_leaves_none() {
        let mut life = lived(5);
        assert!(!life.journal().is_empty());
        life.explore(0.3).unwrap(); // as it was
        assert!(!life.journal().is_empty());
        life.explore(5.0).unwrap();
        assert_eq!((life.journal(), life.tape_start()), (&[][..], &life.save().unwrap()[..]));
        assert!(life.explore(f64::NAN).is_err() && life.explore(0.0).is_err());
        assert_eq!(life.policy.settings().exploration, Exploration::Constant(5.0));
        life.forget().unwrap();
        assert_eq!((life.rounds(), life.learner.observations(), life.learner.incarnation()), (0, 0, 1));
        assert_eq!((life.journal(), life.tape_start()), (&[][..], &life.save().unwrap()[..]));
    }
}
