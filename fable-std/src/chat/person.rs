//! One person of a store: what was learned, and what they wish.

use super::ChatError;
use crate::memory::{Exchange, Memory, Stated, may_remember};
use crate::replay::Tape;
use crate::store::journal::Note;
use crate::store::wishes::Wishes;
use crate::store::{Desk, MAX_NAME, News, Policies, Reach, Resident, Store, StoreError, Writes, stated};
use fable_core::journal::{Command, Event, State};
use fable_core::record::decode_event;
use fable_core::{
    Context, Decision, DecisionId, Feasible, HostUser, Policy, Promotion, Request, Statement, User, UserError,
};

/// How often somebody else may be first.
const PATIENCE: u32 = 100;

/// How wishes are changed: from what they are to what they become.
pub(super) type Change<'c> = &'c dyn Fn(&Wishes) -> Result<Wishes, ChatError>;

/// See the [module](self).
#[derive(Debug)]
pub(super) struct Person<'p> {
    pub(super) wishes: Wishes,
    desk: Desk<'p, f64>,
    resident: Resident<'p, f64>,
    store: Box<dyn Store>,
    /// Whether what is exchanged may be kept.
    pub(super) remembers: bool,
}

impl<'p> Person<'p> {
    /// The person with a name, as the store has them, or somebody new. Nothing is written about somebody new yet.
    pub(super) fn open(
        policies: &'p Policies<'p, f64>,
        store: Box<dyn Store>,
        name: &str,
    ) -> Result<Self, ChatError> {
        if name.is_empty() || name.len() > MAX_NAME {
            return Err(ChatError::Name);
        }
        let mut desk = Desk::new(policies);
        let (resident, wishes) = meet(&mut desk, &*store, name)?;
        Ok(Self { wishes, desk, resident, store, remembers: false })
    }

    /// Before anything else: in a shared store somebody else may have gone on with the person.
    pub(super) fn catch_up(&mut self) -> Result<(), ChatError> {
        if self.store.is_shared() {
            let known = self.resident.known();
            let news = if self.resident.is_known() {
                self.store.since(&[known])?
            } else {
                vec![(known.number, News::Anew)]
            };
            if !news.is_empty() {
                (self.resident, self.wishes) = meet(&mut self.desk, &*self.store, &self.resident.row().name)?;
            }
        }
        Ok(())
    }

    /// The person's name.
    pub(super) fn name(&self) -> &str {
        &self.resident.row().name
    }

    /// How the person is decided for.
    pub(super) const fn policy(&self) -> &'p Policy<'p, f64> {
        self.resident.policy()
    }

    /// Whether the store knows nothing about the person.
    pub(super) const fn is_new(&self) -> bool {
        !self.resident.is_known()
    }

    /// The person's counters.
    pub(super) fn state(&self) -> &State {
        self.resident.learner().state()
    }

    /// The person, to be asked.
    pub(super) fn user(&mut self) -> Result<User<'_, f64>, UserError> {
        self.resident.user(&mut self.desk)
    }

    /// The last decision, if there is one.
    pub(super) fn last(&self) -> Option<DecisionId> {
        let state = self.state();
        let (user, incarnation, site, round) =
            (state.user(), state.incarnation(), state.site(), state.rounds());
        let id = DecisionId { user, incarnation, site, round };
        (id.round > 0).then_some(id)
    }

    /// Whether the last decision waits for its reward.
    pub(super) fn waits(&mut self, now: u32) -> bool {
        let last = self.last();
        self.user().is_ok_and(|user| user.waiting(now).any(|id| Some(id) == last))
    }

    /// What is known now, set apart.
    pub(super) fn now(&self) -> Result<HostUser<'p, f64>, UserError> {
        HostUser::from_learner(self.resident.policy(), self.resident.learner().clone())
    }

    /// What was known when the last decision was made, and its context: the journal up to there.
    pub(super) fn at_last_decision(&self) -> Result<Option<(HostUser<'p, f64>, Context)>, ChatError> {
        let Some(stored) = self.store.whole(self.resident.row().header.user)? else { return Ok(None) };
        let mut tape = Tape::of_user(&stored)?;
        while let Some(record) = tape.events.last() {
            if let Event::Decision { context, .. } =
                decode_event(self.policy().catalog(), record).map_err(StoreError::from)?
            {
                return Ok(Some((tape.play(self.policy())?, context)));
            }
            tape.events.pop();
        }
        Ok(None)
    }

    /// Chooses an action; with it the contrasts that coins were tossed for.
    pub(super) fn decide(
        &mut self,
        context: &Context,
        feasible: &Feasible,
        now: u32,
    ) -> Result<(Decision, Vec<usize>), ChatError> {
        let command = self.keep(|| Command::decide(Request::new(context, feasible).at(now)), None)?;
        let probed = command.probes().iter().map(|coin| usize::from(coin.contrast)).collect();
        Ok((command.decision(&self.user()?).ok_or(ChatError::NoAnswer)?, probed))
    }

    /// Learns the reward of a decision; what is promoted by it.
    pub(super) fn learn(
        &mut self,
        decision: DecisionId,
        reward: f64,
        now: u32,
    ) -> Result<Vec<Promotion>, ChatError> {
        let before = self.resident.learner().profile().to_vec();
        self.keep(|| Command::feedback(decision, reward).at(now), None)?;
        let profile = self.resident.learner().profile().iter();
        Ok(profile.filter(|promotion| !before.contains(promotion)).copied().collect())
    }

    /// Takes stated preferences, and wishes as they are changed.
    pub(super) fn prefer(&mut self, statements: &[Statement], change: Change<'_>) -> Result<(), ChatError> {
        self.keep(|| Command::onboard(statements), Some(change)).map(drop)
    }

    /// Puts all that a command takes into the store in one commit, together with what the person wishes if that changes, and then lets it
    /// have happened; again when somebody else was first. After an error nothing of it has.
    fn keep<'c>(
        &mut self,
        make: impl Fn() -> Command<'c>,
        change: Option<Change<'_>>,
    ) -> Result<Command<'c>, ChatError> {
        for _ in 0..PATIENCE {
            let wishes = change.map_or_else(|| Ok(self.wishes.clone()), |change| change(&self.wishes))?;
            let (mut next, mut writes, mut command) = (self.resident.clone(), Writes::default(), make());
            next.run(&mut self.desk, &mut writes, &mut command, Note::None)?;
            if wishes != self.wishes {
                next.wish(&mut self.desk, &mut writes, &wishes)?;
            }
            if self.store.commit(writes, true)?.is_empty() {
                self.resident = next;
                self.wishes = wishes;
                return Ok(command);
            }
            self.catch_up()?;
        }
        Err(StoreError::Contended.into())
    }

    /// Whether what is exchanged is kept.
    pub(super) const fn may_remember(&self) -> bool {
        may_remember(self.remembers, self.wishes.memory)
    }

    /// What was exchanged with the person, as far as it is kept.
    pub(super) fn memory(&self) -> Result<Memory, StoreError> {
        self.store.memory(self.resident.row().header.user)
    }

    /// What the person has stated, as far as the journal has it, and the rules.
    pub(super) fn stated(&self) -> Result<Vec<Stated>, StoreError> {
        let (catalog, number) = (self.policy().catalog(), self.resident.row().header.user);
        let journal = self.store.user(number, Reach::Whole)?.map_or_else(Vec::new, |stored| stored.journal);
        let mut all = stated(catalog, &journal)?;
        all.extend(self.wishes.rules.iter().map(|rule| Stated::rule(catalog, rule)));
        Ok(all)
    }

    /// Keeps an exchange.
    pub(super) fn remember(&mut self, exchange: &Exchange) -> Result<(), ChatError> {
        self.write(|number, writes| writes.remember(number, exchange.clone()))
    }

    /// Erases what was exchanged, and nothing else.
    pub(super) fn unremember(&mut self) -> Result<(), ChatError> {
        if self.is_new() {
            return Ok(());
        }
        self.write(|number, writes| writes.memory(number, &Memory::default()))
    }

    /// Commits something that is beside the journal; again when somebody else was first.
    fn write(&mut self, change: impl Fn(u64, &mut Writes)) -> Result<(), ChatError> {
        for _ in 0..PATIENCE {
            let (mut next, mut writes) = (self.resident.clone(), Writes::default());
            next.introduce(&mut writes);
            change(next.row().header.user, &mut writes);
            if self.store.commit(writes, true)?.is_empty() {
                self.resident = next;
                return Ok(());
            }
            self.catch_up()?;
        }
        Err(StoreError::Contended.into())
    }

    /// Erases everything about the person, who is somebody new from then on.
    pub(super) fn forget(&mut self) -> Result<(), ChatError> {
        self.store.forget(&[self.name()])?;
        let (number, incarnation) = (self.store.number_for(self.name())?, self.store.incarnation()?);
        self.resident = Resident::newcomer(&self.desk, self.name(), number, incarnation, None)?;
        self.wishes = Wishes::default();
        Ok(())
    }
}

/// A person as the store has them, or somebody new, with what they wish.
fn meet<'p>(
    desk: &mut Desk<'p, f64>,
    store: &dyn Store,
    name: &str,
) -> Result<(Resident<'p, f64>, Wishes), ChatError> {
    Ok(match store.find(name)? {
        Some(number) => {
            let found = store.user(number, Reach::Snapshot)?.ok_or(StoreError::NoUser)?;
            let resident = Resident::revive(desk, &found, None)?;
            let wishes = resident.wishes(&found.wishes)?;
            (resident, wishes)
        }
        None => (
            Resident::newcomer(desk, name, store.number_for(name)?, store.incarnation()?, None)?,
            Wishes::default(),
        ),
    })
}
