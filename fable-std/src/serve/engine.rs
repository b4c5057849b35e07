//! What every op does to the users of one thread, answered from memory.
//!
//! Nothing of the method is here: requests become `fable_core`'s commands, and what these take is collected as [`Writes`] until they are
//! committed.

use super::answer::{Answer, Chances, Labels, Stats, Wished};
use super::backup::Backups;
use super::counters::Counters;
use super::op::Op;
use super::questions::{knows_chances, refuse_decision};
use super::read::read;
use super::refusal::{Code, Refusal};
use super::residents::{Residents, warm};
use super::shards::Shard;
use crate::memory::{self, Bounds, Exchange, Memory, Mode, Sources, Stated, may_remember};
use crate::rules::Change;
use crate::store::journal::{Note, Segment};
use crate::store::wishes::Wishes;
use crate::store::{
    Damage, Desk, Known, News, Policies, Reach, Resident, Store, StoreError, Writes, stated, transfer,
};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use fable_core::catalog::ContrastSet;
use fable_core::journal::{Command, Event, Observation, RemoteChange, Scores};
use fable_core::preference::Probe;
use fable_core::record::decode_event;
use fable_core::{Catalog, DecisionId, Request, Scalar, UserError, user_hash};
use std::sync::Arc;

/// What all engines of a service have in common.
#[derive(Clone, Debug)]
pub(super) struct House {
    pub(super) store: Arc<dyn Store>,
    pub(super) counters: Arc<Counters>,
    pub(super) backups: Arc<Backups>,
    /// Whether what is exchanged may be kept, and how much of it.
    pub(super) memory: bool,
    pub(super) bounds: Bounds,
}

/// See the [module](self).
#[derive(Debug)]
pub(super) struct Engine<'p, T> {
    desk: Desk<'p, T>,
    house: House,
    residents: Residents<'p, T>,
    labels: &'p Labels,
    writes: Writes,
    /// Whom the last op was about.
    about: Option<u64>,
}

impl<'p, T: Scalar> Engine<'p, T> {
    pub(super) fn new(
        policies: &'p Policies<'p, T>,
        labels: &'p Labels,
        house: House,
        cache: usize,
        shard: Shard,
    ) -> Self {
        let desk = Desk::new(policies);
        let total = Arc::clone(&house.counters.users_in_memory);
        let residents = Residents::new(desk.catalog(), cache, shard, total);
        Self { desk, house, residents, labels, writes: Writes::default(), about: None }
    }

    /// Before a batch: in a shared store, what others have done to those whom it is about.
    pub(super) fn catch_up<'o>(&mut self, ops: impl Iterator<Item = &'o Op>) -> Result<(), StoreError> {
        if !self.house.store.is_shared() {
            return Ok(());
        }
        let mut numbers: Vec<u64> = ops.filter_map(number_of).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let known: Vec<Known> = numbers.iter().filter_map(|number| self.residents.known(*number)).collect();
        if known.is_empty() {
            return Ok(());
        }
        for (number, news) in self.house.store.since(&known)? {
            let followed = match (news, self.residents.here(number)) {
                (News::Entries(segments), Some(resident)) => {
                    resident.follow(&mut self.desk, &segments).is_ok()
                }
                _ => false,
            };
            if !followed {
                self.residents.remove(number); // and is read anew
            }
        }
        Ok(())
    }

    /// After a batch: what it writes.
    pub(super) fn take_writes(&mut self) -> Writes {
        std::mem::take(&mut self.writes)
    }

    /// What is in memory about a user is not what the store has.
    pub(super) fn drop_user(&mut self, number: u64) {
        self.residents.remove(number);
    }

    /// Most users that a batch may be about: nobody with something that is not committed yet may have to leave.
    pub(super) const fn capacity(&self) -> usize {
        self.residents.share()
    }

    /// Answers one op; with whom it was about.
    pub(super) fn run(&mut self, op: &Op) -> (Option<u64>, Result<Answer<'p>, Refusal>) {
        self.about = None;
        let answer = self.answer(op);
        (self.about, answer)
    }

    fn answer(&mut self, op: &Op) -> Result<Answer<'p>, Refusal> {
        match op {
            Op::Onboard { user, statements } => {
                self.named(user)?.run(&mut Command::onboard(statements), Note::None)?;
                Ok(Answer::Accepted { accepted: statements.len() })
            }
            Op::Decide { user, context, feasible, defaults, propensities, at } => {
                let request = Request { context, feasible, defaults: defaults.as_deref(), time: *at };
                let labels = self.labels;
                self.named(user)?.decide(labels, request, *propensities)
            }
            Op::Feedback { decision, reward, weight, at } => {
                self.owner(*decision)?.learn(Command::feedback(*decision, *reward).weighted(*weight).at(*at))
            }
            Op::Check { decision } => self.owner(*decision)?.check(*decision),
            Op::Observe { user, context, action, reward, weight, defaults, at } => {
                let command = Command::observe(context, *action, *reward).with_defaults(defaults.as_deref());
                self.named(user)?.learn(command.weighted(*weight).at(*at))
            }
            Op::Unlearn { decision } => self.owner(*decision)?.unlearn(*decision),
            Op::Promote { user, at } => {
                let mut command = Command::promote(*at);
                self.named(user)?.run(&mut command, Note::None)?;
                Ok(Answer::Promoted { promoted: command.applied() })
            }
            Op::Recommend { .. }
            | Op::Waiting { .. }
            | Op::Posterior { .. }
            | Op::Contrast { .. }
            | Op::Explain { .. }
            | Op::Profile { .. } => self.ask(op),
            Op::Wish { user, change } => self.named(user)?.wish(change),
            Op::Remember { user, exchange } => self.named(user)?.remember(exchange),
            Op::Recall { user, memory, request } => self.named(user)?.recall(memory, request),
            Op::Memories { user } => self.named(user)?.memories(),
            Op::Unremember { user } => self.named(user)?.unremember(),
            Op::Forget { user } => self.forget(user),
            Op::Export { user } => {
                let export = match transfer::export(&*self.house.store, user) {
                    Err(StoreError::NoUser) => None,
                    file => Some(BASE64_STANDARD.encode(file?)),
                };
                Ok(Answer::Exported { export })
            }
            Op::Backup { file } => {
                let backup = match file {
                    Some(file) => self.house.backups.begin(&self.house.store, file)?,
                    None => self.house.backups.last()?,
                };
                Ok(Answer::Backup(backup))
            }
            Op::Read { words, reading } => Ok(Answer::Read(read(self.desk.catalog(), words, *reading)?)),
            Op::Stats => self.stats(),
        }
    }

    /// A question about a user, which changes nothing.
    fn ask(&mut self, op: &Op) -> Result<Answer<'p>, Refusal> {
        let labels = self.labels;
        let mut seat = match (op.user(), op.decision()) {
            (Some(name), _) => self.named(name)?,
            (None, decision) => self.owner(decision.ok_or(UserError::UnknownDecision)?)?,
        };
        let answer = labels.ask(&mut seat.user()?, op)?;
        answer.ok_or_else(|| Refusal::new(Code::Internal, "this is not a question"))
    }

    fn stats(&mut self) -> Result<Answer<'p>, Refusal> {
        let House { store, counters, .. } = &self.house;
        Ok(Answer::Stats(Stats {
            catalog: self.desk.catalog().definition().name,
            dimension: self.desk.catalog().dimension(),
            scalar: if T::DIGITS == 24 { "f32" } else { "f64" },
            prior: self.desk.policies.fitted().map(|fingerprint| format!("{fingerprint:016x}")),
            probe: self.desk.policies.newcomers().settings().probe,
            users: store.users()?,
            damaged: store.damaged(),
            cached: counters.users_in_memory.get(),
            cached_bytes: counters.users_in_memory.get() * self.residents.each() as u64,
            requests: counters.requests.get() + 1, // and this one
            errors: counters.errors.get(),
            events: counters.events.get(),
            changes: counters.changes.get(),
            bytes: store.bytes(),
        }))
    }

    /// The user with a name.
    fn named(&mut self, name: &str) -> Result<Seat<'_, 'p, T>, Refusal> {
        let Self { desk, house, residents, writes, about, .. } = self;
        let resident = residents.named(desk, &*house.store, name)?;
        *about = Some(resident.row().header.user);
        Ok(Seat { desk, house, writes, resident })
    }

    /// The user that a decision belongs to.
    fn owner(&mut self, decision: DecisionId) -> Result<Seat<'_, 'p, T>, Refusal> {
        let Self { desk, house, residents, writes, about, .. } = self;
        let resident =
            residents.numbered(desk, &*house.store, decision.user)?.ok_or(UserError::UnknownDecision)?;
        *about = Some(decision.user);
        Ok(Seat { desk, house, writes, resident })
    }

    fn forget(&mut self, name: &str) -> Result<Answer<'p>, Refusal> {
        let store = &self.house.store;
        let found = match store.find(name) {
            // Who is damaged can be forgotten, too.
            Err(StoreError::User(_)) => store.holder(name)?,
            found => found?,
        };
        let Some(user) = found.filter(|user| !self.writes.erases_user(*user)) else {
            return Ok(Answer::Forgotten { forgotten: false });
        };
        let before = self.writes.next_incarnation().map_or_else(|| store.incarnation(), Ok)?;
        self.writes.erase(user, before.checked_add(1).ok_or(StoreError::Exhausted)?);
        self.residents.remove(user);
        Ok(Answer::Forgotten { forgotten: true })
    }
}

/// The number of the user that an op is about, if it is the hash of the name.
fn number_of(op: &Op) -> Option<u64> {
    op.user().map(user_hash).or_else(|| op.decision().map(|decision| decision.user))
}

/// One user at the desk.
struct Seat<'s, 'p, T> {
    desk: &'s mut Desk<'p, T>,
    house: &'s House,
    writes: &'s mut Writes,
    resident: &'s mut Resident<'p, T>,
}

impl<'p, T: Scalar> Seat<'_, 'p, T> {
    fn user(&mut self) -> Result<fable_core::User<'_, T>, UserError> {
        self.resident.user(self.desk)
    }

    fn run(&mut self, command: &mut Command<'_>, note: Note) -> Result<(), StoreError> {
        let before = self.resident.entries();
        let done = self.resident.run(self.desk, self.writes, command, note);
        self.house.counters.events.add(self.resident.entries() - before);
        done
    }

    /// A reward, and what it makes certain.
    fn learn(mut self, mut command: Command<'_>) -> Result<Answer<'p>, Refusal> {
        warm(self.resident);
        self.run(&mut command, Note::None)?;
        let learner = self.resident.learner();
        Ok(Answer::Learned {
            observations: learner.state().observations(),
            changed: learner.state().rewards_since_change() == Some(0),
        })
    }

    /// What a reward would be told.
    fn check(mut self, decision: DecisionId) -> Result<Answer<'p>, Refusal> {
        let mut user = self.user()?;
        let _ = user.next(&mut Command::feedback(decision, 0.0))?; // a step that is not applied has not happened
        Ok(Answer::Learned { observations: user.state().observations(), changed: false })
    }

    fn decide(
        mut self,
        labels: &'p Labels,
        request: Request<'_>,
        draws: Option<u32>,
    ) -> Result<Answer<'p>, Refusal> {
        warm(self.resident);
        // Where coins are the only chance, how probable an action is needs no draws.
        let exact = knows_chances(self.resident.policy().settings());
        let mut propensities = (exact || draws.is_some()).then(|| vec![0.0; self.desk.catalog().actions()]);
        let mut command = Command::decide(request).scored();
        if let Some(propensities) = propensities.as_mut() {
            command = command.with_propensities(draws.unwrap_or(0), propensities);
        }
        let note = if request.defaults.is_some() { Note::WithDefaults } else { Note::None };
        if let Err(error) = self.run(&mut command, note) {
            return Err(self.refuse(error, &request));
        }
        let scores = command.scores();
        let decision = command.decision(&self.user()?);
        drop(command);
        let (decision, scores): (_, Scores) = decision.zip(scores).ok_or(UserError::OutOfOrder)?; // it was just made
        let own =
            propensities.as_ref().filter(|_| exact).and_then(|all| all.get(decision.action.index()).copied());
        let (chances, user) = (Chances { own, all: propensities.filter(|_| draws.is_some()) }, self.user()?);
        Ok(Answer::Decided(labels.decided(
            &decision,
            &scores,
            user.state().permissions().len(),
            user.probe_outcomes(decision.id),
            chances,
        )))
    }

    /// Why nothing was decided; what leaves nothing to choose is named.
    fn refuse(&self, error: StoreError, request: &Request<'_>) -> Refusal {
        let StoreError::Refused(error) = error else { return error.into() };
        refuse_decision(self.desk.catalog(), error, request, self.resident.learner().user_rules())
    }

    /// What the user wishes, with what is not committed yet.
    fn wished(&self) -> Result<Wishes, StoreError> {
        let number = self.resident.row().header.user;
        if let Some(document) = self.writes.newest_wishes(number) {
            return self.resident.wishes(document);
        }
        // Somebody new may not be there yet.
        let stored =
            if self.resident.is_known() { self.house.store.user(number, Reach::Snapshot)? } else { None };
        self.resident.wishes(&stored.map_or_else(Vec::new, |stored| stored.wishes))
    }

    /// What the user wishes, after a change of it.
    fn wish(self, change: &Change) -> Result<Answer<'p>, Refusal> {
        let before = self.wished()?;
        let wishes = change.of(self.desk.catalog(), &before)?;
        if wishes != before {
            let entries = self.resident.entries();
            self.resident.wish(self.desk, self.writes, &wishes)?;
            self.house.counters.events.add(self.resident.entries() - entries);
        }
        Ok(Answer::Wished(Wished::new(self.desk.catalog(), &wishes)))
    }

    /// The reward of a decision as the journal has it, taken back; one from elsewhere, too, that was merged.
    fn unlearn(mut self, decision: DecisionId) -> Result<Answer<'p>, Refusal> {
        let learner = self.resident.learner();
        let own = decision.site == learner.state().site();
        let known = if own {
            decision.round <= learner.state().rounds()
        } else {
            learner.state().known_of(decision.site) > 0
        };
        if decision.incarnation != learner.state().incarnation() || decision.round == 0 || !known {
            return Err(UserError::UnknownDecision.into());
        }
        // Somebody new may not be there yet.
        let stored = self
            .house
            .store
            .user(decision.user, Reach::Whole)?
            .map_or_else(Vec::new, |stored| stored.journal);
        let journal = stored.iter().chain(self.writes.newest(decision.user));
        let found = recall(self.desk.catalog(), journal, decision, own)?;
        let nothing = || {
            Refusal::new(
                Code::NotLearned,
                "nothing was learned from the decision, it was taken back, or it is older than what is kept",
            )
        };
        let (observation, imputed, kept, probed) = found.ok_or_else(nothing)?;
        self.run(
            &mut Command::unlearn(observation, imputed, kept, probed),
            Note::TakesBack { site: decision.site, round: decision.round },
        )?;
        Ok(Answer::Learned { observations: self.resident.learner().state().observations(), changed: false })
    }

    /// What was exchanged with the user, with what is not committed yet.
    fn memory(&self) -> Result<Memory, StoreError> {
        let number = self.resident.row().header.user;
        let added = self.writes.remembered(number);
        let before = match added {
            Some(added) if added.anew => Memory::default(),
            _ => self.house.store.memory(number)?,
        };
        let added = added.map_or(&[][..], |added| &added.exchanges).iter().cloned();
        Ok(Memory::of(before.into_exchanges().into_iter().chain(added), &self.house.bounds))
    }

    fn may_remember(&self) -> Result<bool, StoreError> {
        Ok(self.house.memory && may_remember(true, self.wished()?.memory))
    }

    fn remember(self, exchange: &Exchange) -> Result<Answer<'p>, Refusal> {
        let remembered = self.may_remember()?;
        if remembered {
            self.resident.introduce(self.writes);
            self.writes.remember(self.resident.row().header.user, exchange.clone());
        }
        Ok(Answer::Remembered { remembered, exchanges: self.memory()?.exchanges().len() })
    }

    fn memories(self) -> Result<Answer<'p>, Refusal> {
        let memory = if self.may_remember()? { "on" } else { "off" };
        Ok(Answer::Memories { memory, exchanges: self.memory()?.into_exchanges() })
    }

    /// One that is damaged can be erased, too.
    fn unremember(self) -> Result<Answer<'p>, Refusal> {
        let unremembered = match self.memory() {
            Err(StoreError::User(Damage::Memory)) => None,
            memory => Some(memory?.exchanges().len()),
        };
        if unremembered != Some(0) {
            self.resident.introduce(self.writes);
            self.writes.memory(self.resident.row().header.user, &Memory::default());
        }
        Ok(Answer::Unremembered { unremembered: unremembered.unwrap_or(0) })
    }

    fn recall(mut self, name: &str, request: &str) -> Result<Answer<'p>, Refusal> {
        let mode = Mode::of(name);
        let exchanged = mode.is_some_and(Mode::is_exchanges) && self.may_remember()?;
        let memory = if exchanged { self.memory()? } else { Memory::default() };
        let stated = if mode == Some(Mode::Stated) { self.stated()? } else { Vec::new() };
        let mut profile = String::new();
        if mode == Some(Mode::Profile) {
            self.user()?.write_profile(&mut profile)?;
        }
        let recalled =
            memory::recall(name, request, &Sources { memory: &memory, stated: &stated, profile: &profile });
        Ok(Answer::Recalled { text: recalled.text, exchanges: recalled.exchanges })
    }

    /// What the user has stated, as far as the journal has it, and the rules that are kept.
    fn stated(&self) -> Result<Vec<Stated>, StoreError> {
        let (number, catalog) = (self.resident.row().header.user, self.desk.catalog());
        let stored = self.house.store.user(number, Reach::Whole)?; // somebody new may not be there yet
        let journal = stored.map_or_else(Vec::new, |stored| stored.journal);
        let mut all = stated(catalog, journal.iter().chain(self.writes.newest(number)))?;
        all.extend(self.wished()?.rules.iter().map(|rule| Stated::rule(catalog, rule)));
        Ok(all)
    }
}

/// What was learned from a decision, whether its reward was imputed, what fadings have left, and the contrasts of its coins.
type Learned = (Observation, bool, f32, ContrastSet);

/// What was learned from a decision of this place or another one and not taken back.
fn recall<'s>(
    catalog: &Catalog<'_>,
    journal: impl Iterator<Item = &'s Segment>,
    decision: DecisionId,
    own: bool,
) -> Result<Option<Learned>, StoreError> {
    let (mut decided, mut learned) = (None, None);
    // Rounds of the same number elsewhere are other rounds.
    let wanted = if own { decision.round } else { 0 };
    let takes_back = Note::TakesBack { site: decision.site, round: decision.round };
    let probed_by = |coins: &[Probe]| {
        let mut probed = ContrastSet::EMPTY;
        for coin in coins {
            probed.insert(usize::from(coin.contrast));
        }
        probed
    };
    for entry in journal.flat_map(|segment| segment.from(0)) {
        let entry = entry?;
        match decode_event(catalog, entry.record)? {
            // Rounds of the same number in an earlier life are other rounds.
            Event::Forget { .. } => (decided, learned) = (None, None),
            Event::Decision { round, action, baseline, context, probes: coins, .. } if round == wanted => {
                let observation = Observation { context, action, baseline, reward: 0.0, weight: 1.0 };
                decided = Some((observation, probed_by(&coins)));
            }
            Event::Feedback { round, reward, weight } if round == wanted => {
                learned = Some((reward, weight, false, 1.0));
            }
            Event::Expiry { round, imputed: Some(reward) } if round == wanted => {
                learned = Some((reward, 1.0, true, 1.0));
            }
            Event::Unlearn { .. } if entry.note == takes_back => learned = None,
            Event::Remote(told) if told.site == decision.site => match told.change {
                RemoteChange::Reward { round, observation, imputed, probes: coins }
                    if round == decision.round =>
                {
                    decided = Some((observation, probed_by(&coins)));
                    learned = Some((observation.reward, observation.weight, imputed, 1.0));
                }
                RemoteChange::Unlearned { round, .. } if round == decision.round => learned = None,
                _ => {}
            },
            Event::Fade { keep } => {
                if let Some((.., kept)) = &mut learned {
                    *kept *= keep;
                }
            }
            _ => {}
        }
    }
    let found = decided.zip(learned);
    Ok(found.map(|((decided, probed), (reward, weight, imputed, kept))| {
        let probed = if imputed { ContrastSet::EMPTY } else { probed };
        (Observation { reward, weight, ..decided }, imputed, kept, probed)
    }))
}
