//! A random life of a few users, and what a store may have of it whenever it is opened.

use super::super::frame::{About, Data, START};
use super::super::home::Home;
use super::super::keys::Keys;
use super::super::open::find;
use super::super::renew::{Successor, succeed};
use super::disk::{Dice, Disk};
use crate::store::journal::Note;
use crate::store::{
    Desk, FileStore, History, Identity, Options, Policies, Reach, Resident, Sink, Store, StoreError, Writes,
    transfer,
};
use fable_core::catalog::TAU2;
use fable_core::journal::Command;
use fable_core::{DecisionId, Feasible, Policy, Request, Settings, user_hash};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

pub(super) const RULES: [&[u8]; 2] = [
    br#"{"rules":[{"effect":"forbid","component":"tool","values":["web_search"],"when":null,"words":"never search the web"}]}"#,
    br#"{"rules":[{"effect":"require","component":"style","values":["concise"],"when":null,"words":"be brief"}]}"#,
];

/// More than any file has.
const NEVER: u64 = 1 << 40;

/// What is known about somebody.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Person {
    pub(super) incarnation: u32,
    pub(super) entries: Vec<u8>,
    pub(super) rules: Vec<u8>,
    pub(super) learner: Vec<u8>,
}

/// What a store has.
pub(super) type State = BTreeMap<String, Arc<Person>>;

/// Somebody from elsewhere.
#[derive(Debug)]
pub(super) struct Guest {
    pub(super) name: String,
    pub(super) bytes: Vec<u8>,
    person: Arc<Person>,
}

/// The number of a name; one of them is not the hash.
pub(super) fn number(name: &str) -> u64 {
    user_hash(name).wrapping_add(u64::from(name == "u7"))
}

pub(super) fn policies() -> Policies<'static, f64> {
    Policies::from(Policy::<f64>::new(&TAU2, Settings::default()).unwrap())
}

/// Three users of another store, who have been in high incarnations.
pub(super) fn guests(policies: &'static Policies<'static, f64>) -> Vec<Guest> {
    let mut guests = Vec::new();
    for (name, incarnation) in [("g0", 0), ("g1", 7), ("g2", 90)] {
        let identity = Identity::new(policies.newcomers());
        let store = FileStore::in_memory(&identity).unwrap();
        let mut desk = Desk::new(policies);
        let mut guest = Resident::newcomer(&desk, name, number(name), incarnation, None).unwrap();
        let mut writes = Writes::default();
        let (context, all) = (TAU2.context(None, []).unwrap(), Feasible::all(&TAU2));
        for _ in 0..3 {
            guest
                .run(&mut desk, &mut writes, &mut Command::decide(Request::new(&context, &all)), Note::None)
                .unwrap();
        }
        store.commit_now(&writes, true).unwrap();
        let bytes = transfer::export(&store, name).unwrap();
        guests.push(Guest {
            name: name.to_owned(),
            bytes,
            person: Arc::new(read(&store, &mut desk, name).unwrap().unwrap()),
        });
    }
    guests
}

/// Everything about somebody in a store.
pub(super) fn read(
    store: &FileStore,
    desk: &mut Desk<'static, f64>,
    name: &str,
) -> Result<Option<Person>, StoreError> {
    let Some(number) = store.find(name)? else { return Ok(None) };
    let Some(whole) = store.whole(number)? else { return Ok(None) };
    let Some(brief) = store.user(number, Reach::Snapshot)? else { return Ok(None) };
    let learner = Resident::revive(desk, &brief, None)?.learner().to_bytes()?;
    let entries = whole.journal.iter().flat_map(|segment| segment.bytes.clone()).collect();
    Ok(Some(Person { incarnation: whole.row.incarnation, entries, rules: whole.wishes, learner }))
}

/// Everyone in a store.
fn everyone(store: &FileStore, desk: &mut Desk<'static, f64>) -> Result<State, StoreError> {
    let mut found = State::new();
    for number in store.everyone() {
        let name = store.user(number, Reach::Snapshot)?.unwrap().row.name;
        let person = read(store, desk, &name)?.unwrap();
        found.insert(name, Arc::new(person));
    }
    Ok(found)
}

/// Makes a store on a disk.
pub(super) fn create(disk: &Disk, policies: &Policies<'static, f64>) {
    let keys = Keys::create(Box::new(disk.keys.clone()), None).unwrap();
    let identity = Identity::new(policies.newcomers()).encode();
    let about = About { history: Some(History::EVENTS), identity };
    let mut data = Data::create(Box::new(disk.data()), &keys, &about).unwrap();
    data.finish(&keys, START).unwrap();
    data.medium.sync().unwrap();
}

/// Opens the store on a disk.
fn open(disk: &Disk, slack: u64) -> Result<FileStore, StoreError> {
    let (data, id) = Data::open(Box::new(disk.data()))?;
    let keys = Keys::open(Box::new(disk.keys.clone()), None)?;
    assert!(keys.id() == &id);
    FileStore::assemble(Home::Simulated(disk.clone()), data, keys, &Options { slack, ..Options::default() })
}

/// What is done at once.
#[derive(Debug, Default)]
struct Batch {
    writes: Writes,
    /// Who is erased, and the incarnation they were in.
    erased: Vec<(String, u32)>,
    /// In which newcomers start.
    incarnation: u32,
}

/// A life.
pub(super) struct Life<'g> {
    pub(super) disk: Disk,
    pub(super) dice: Dice,
    pub(super) desk: Desk<'static, f64>,
    guests: &'g [Guest],
    store: Option<FileStore>,
    successor: Option<Successor>,
    /// Where the store is, if not on the simulated disk.
    pub(super) path: Option<PathBuf>,
    /// See [`Options`]; with as much as nothing ever reaches, the file is written anew as a step of its own.
    pub(super) slack: u64,
    /// What the store may have when it is opened next: the last one if nothing is lost.
    states: Vec<State>,
    residents: BTreeMap<String, Resident<'static, f64>>,
    waiting: BTreeMap<String, DecisionId>,
    /// The last incarnation of everyone who was forgotten.
    forgotten: BTreeMap<String, u32>,
    /// Who was being forgotten when something failed, and the first state in which they are.
    leaving: (Vec<(String, u32)>, usize),
    /// The incarnation in which newcomers start at the least.
    incarnation: u32,
    /// Steps that were done.
    pub(super) steps: u64,
}

impl<'g> Life<'g> {
    pub(super) fn new(seed: u64, policies: &'static Policies<'static, f64>, guests: &'g [Guest]) -> Self {
        let disk = Disk::new();
        create(&disk, policies);
        Self {
            disk,
            dice: Dice(seed),
            desk: Desk::new(policies),
            guests,
            store: None,
            successor: None,
            path: None,
            slack: NEVER,
            states: vec![State::new()],
            residents: BTreeMap::new(),
            waiting: BTreeMap::new(),
            forgotten: BTreeMap::new(),
            leaving: (Vec::new(), 0),
            incarnation: 0,
            steps: 0,
        }
    }

    /// Opens the store and compares everyone. An error is one of the disk's.
    pub(super) fn open(&mut self) -> Result<(), StoreError> {
        let store = match &self.path {
            Some(path) => {
                FileStore::open_any_with(path, &Options { slack: self.slack, ..Options::default() })?
            }
            None => open(&self.disk, self.slack)?,
        };
        let found = everyone(&store, &mut self.desk)?;
        assert_eq!(store.damaged(), 0);
        let failed = self.disk.has_failed();
        let looked = find(&store.read().data, &store.keys, None, store.history, (false, true))?;
        assert!(looked.damaged + looked.unaccounted == 0 || failed != self.disk.has_failed());
        assert_eq!(store.keys.carry_out(false)?, 0, "somebody was to be forgotten");
        // A snapshot is what follows from the journal.
        if let Some((name, person)) = found.iter().nth(self.dice.below(16)) {
            let whole = store.whole(number(name))?.unwrap();
            assert!(
                Resident::revive(&mut self.desk, &whole, None)?.learner().to_bytes()? == person.learner,
                "{name}"
            );
        }
        let Some(now) = self.states.iter().rposition(|state| *state == found) else {
            let brief = |state: &State| {
                let people = state
                    .iter()
                    .map(|(name, person)| (name.clone(), person.incarnation, person.entries.len()));
                people.collect::<Vec<_>>()
            };
            panic!(
                "found {:?}, expected one of {:#?}",
                brief(&found),
                self.states.iter().map(brief).collect::<Vec<_>>()
            );
        };
        let (leaving, gone) = std::mem::take(&mut self.leaving);
        if self.states.iter().position(|state| *state == found) >= Some(gone) {
            self.forgotten.extend(leaving);
        }
        self.states = vec![self.states.swap_remove(now)];
        let incarnation = store.incarnation()?;
        assert!(incarnation >= self.incarnation, "{incarnation} after {}", self.incarnation);
        self.incarnation = incarnation;
        // Sometimes there are few keys in stock.
        if self.dice.one_in(8) {
            store.writer().free.truncate(1);
        }
        self.waiting.clear();
        self.residents.clear();
        self.store = Some(store);
        Ok(())
    }

    /// Whether the store has what it has to have now.
    pub(super) fn compare(&mut self) {
        let store = self.store.as_ref().unwrap();
        let found = everyone(store, &mut self.desk).unwrap();
        assert_eq!(store.damaged(), 0);
        assert!(self.states.last() == Some(&found));
    }

    pub(super) fn store(&self) -> &FileStore {
        self.store.as_ref().unwrap()
    }

    fn now(&self) -> &State {
        self.states.last().unwrap()
    }

    /// Ends the process, cleanly or as the disk is.
    pub(super) fn leave(&mut self) {
        self.successor = None;
        self.store = None;
    }

    /// Something happens. An error is one of the disk's.
    pub(super) fn step(&mut self) -> Result<(), StoreError> {
        self.steps += 1;
        let done = self.some_step();
        if done.is_err() {
            self.residents.clear();
            self.waiting.clear();
        }
        done
    }

    fn some_step(&mut self) -> Result<(), StoreError> {
        match self.dice.below(40) {
            0..4 => self.forget(),
            4..6 => self.import(),
            6..8 => {
                self.store().sync()?;
                self.states.drain(..self.states.len() - 1);
                Ok(())
            }
            8 => {
                self.store().idle();
                Ok(())
            }
            9..11 if self.slack == NEVER => self.renew(),
            _ => self.events(),
        }
    }

    pub(super) fn events(&mut self) -> Result<(), StoreError> {
        let mut batch = Batch { incarnation: self.incarnation, ..Batch::default() };
        let mut next = self.now().clone();
        // Sometimes a batch is of several, of which one erases.
        if self.dice.one_in(12) && !next.is_empty() {
            self.write(&mut batch, &mut next)?;
            let name = next.keys().nth(self.dice.below(next.len())).cloned().unwrap();
            let mut later = Writes::default();
            batch.incarnation += 1;
            later.erase(number(&name), batch.incarnation);
            batch.erased.extend(next.remove(&name).map(|person| (name.clone(), person.incarnation)));
            self.waiting.remove(&name);
            self.residents.remove(&name);
            batch.writes.merge(later);
        }
        self.write(&mut batch, &mut next)?;
        let sync = self.dice.one_in(2);
        self.commit(batch, next, sync)
    }

    /// Some users do something.
    fn write(&mut self, batch: &mut Batch, next: &mut State) -> Result<(), StoreError> {
        let mut writes = Writes::default();
        for _ in 0..=self.dice.below(4) {
            let name = format!("u{}", self.dice.below(8));
            self.act(&name, &mut writes, next, batch)?;
        }
        if self.dice.one_in(6) && !batch.writes.erases() {
            let mut tails = self.store().log()?;
            for (user, segment) in batch.writes.log.iter().chain(&writes.log) {
                tails.entry(*user).and_modify(|tail| tail.append(segment)).or_insert_with(|| segment.clone());
            }
            writes.fold(tails.iter().map(|(user, segment)| (*user, segment)));
        }
        batch.writes.merge(writes);
        Ok(())
    }

    fn act(
        &mut self,
        name: &str,
        writes: &mut Writes,
        next: &mut State,
        batch: &Batch,
    ) -> Result<(), StoreError> {
        let mut resident = match (self.residents.remove(name), next.contains_key(name)) {
            (Some(resident), _) => resident,
            (None, true) => {
                let stored = self.store().user(number(name), Reach::Snapshot)?.unwrap();
                Resident::revive(&mut self.desk, &stored, None)?
            }
            (None, false) => {
                let incarnation = batch.incarnation;
                let used = batch.erased.iter().find(|(erased, _)| erased == name).map(|(_, used)| used);
                let used = used.or(self.forgotten.get(name));
                assert!(
                    used.is_none_or(|used| *used < incarnation),
                    "{name} was in incarnation {incarnation} before"
                );
                Resident::newcomer(&self.desk, name, number(name), incarnation, None)?
            }
        };
        let (context, all) = (TAU2.context(None, []).unwrap(), Feasible::all(&TAU2));
        let old = next.get(name).cloned();
        let mut entries = old.as_ref().map_or_else(Vec::new, |old| old.entries.clone());
        let mut rules = old.map_or_else(Vec::new, |old| old.rules.clone());
        let mut own = Writes::default();
        for _ in 0..=self.dice.below(3) {
            if let (Some(id), true) = (self.waiting.remove(name), self.dice.one_in(2)) {
                let reward = self.dice.below(9) as f64 / 4.0 - 1.0;
                resident.run(&mut self.desk, &mut own, &mut Command::feedback(id, reward), Note::None)?;
            } else {
                let mut command = Command::decide(Request::new(&context, &all));
                resident.run(&mut self.desk, &mut own, &mut command, Note::None)?;
                let decision = command.decision(&resident.user(&mut self.desk)?).unwrap();
                self.waiting.insert(name.to_owned(), decision.id);
            }
        }
        entries.extend_from_slice(&own.log.values().next().unwrap().bytes);
        let learner = resident.learner().to_bytes()?;
        if self.dice.one_in(5) {
            Sink::snapshot(&mut own, number(name), resident.entries(), &learner);
        }
        if self.dice.one_in(4) {
            rules = RULES[self.dice.below(2)].to_vec();
            own.wishes(number(name), &rules);
        }
        let person = Person { incarnation: resident.row().incarnation, entries, rules, learner };
        next.insert(name.to_owned(), Arc::new(person));
        self.residents.insert(name.to_owned(), resident);
        writes.merge(own);
        Ok(())
    }

    pub(super) fn forget(&mut self) -> Result<(), StoreError> {
        let mut next = self.now().clone();
        let names: Vec<String> = next.keys().filter(|_| self.dice.one_in(4)).take(3).cloned().collect();
        let erased: Vec<(String, u32)> =
            names.iter().map(|name| (name.clone(), next.remove(name).unwrap().incarnation)).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let done = self.store().forget(&names).map(|done| assert_eq!(done, names));
        // Nobody is forgotten if that is not uncertain.
        let erased = if matches!(done, Ok(()) | Err(StoreError::Uncertain(_))) { &erased[..] } else { &[] };
        self.settled(done, erased, next, false)
    }

    fn import(&mut self) -> Result<(), StoreError> {
        let guest = &self.guests[self.dice.below(self.guests.len())];
        let incarnation = guest.person.incarnation;
        if self.now().contains_key(&guest.name)
            || self.forgotten.get(&guest.name).is_some_and(|used| *used >= incarnation)
        {
            return Ok(());
        }
        let mut next = self.now().clone();
        next.insert(guest.name.clone(), Arc::clone(&guest.person));
        let done = transfer::import(self.store(), self.desk.policies.newcomers(), &guest.bytes).map(drop);
        if done.is_ok() {
            self.incarnation = self.incarnation.max(incarnation);
        }
        self.settled(done, &[], next, true)
    }

    /// Begins to write the store's file anew, or ends it.
    fn renew(&mut self) -> Result<(), StoreError> {
        let store = self.store.as_ref().unwrap();
        if let Some(successor) = self.successor.take() {
            let writer = &mut *store.writer();
            store.settle(writer)?;
            return store.replace(writer, successor);
        }
        self.successor =
            Some(succeed(&store.home, &store.keys, &store.shared, store.history, &store.closed)?);
        Ok(())
    }

    fn commit(&mut self, batch: Batch, next: State, sync: bool) -> Result<(), StoreError> {
        let Batch { writes, erased, .. } = batch;
        let done = self.store().commit_now(&writes, sync);
        self.settled(done, &erased, next, sync)
    }

    /// What the store may have after a commit.
    fn settled(
        &mut self,
        done: Result<(), StoreError>,
        erased: &[(String, u32)],
        next: State,
        sync: bool,
    ) -> Result<(), StoreError> {
        let mut without = self.states.clone();
        for state in &mut without {
            state.retain(|name, _| !erased.iter().any(|(erased, _)| erased == name));
        }
        if done.is_err() {
            self.residents.clear();
            self.waiting.clear();
        }
        match &done {
            Ok(()) => {
                for (name, incarnation) in erased {
                    self.forgotten.insert(name.clone(), *incarnation);
                    if !next.contains_key(name) {
                        self.residents.remove(name);
                        self.waiting.remove(name);
                    }
                }
                if !erased.is_empty() {
                    self.incarnation = self.store().incarnation()?;
                }
                self.states = if sync { Vec::new() } else { without };
            }
            Err(StoreError::Uncertain(_)) => {
                self.leaving = (erased.to_vec(), self.states.len());
                if !erased.is_empty() {
                    self.states.append(&mut without);
                }
            }
            // All as before, but for those who were erased.
            Err(_) => {
                self.forgotten.extend(erased.iter().cloned());
                self.states = without;
                self.incarnation = self.store().incarnation().unwrap_or(self.incarnation);
                return done;
            }
        }
        self.states.push(next);
        done
    }
}

/// Whether an error says that something is damaged.
pub(super) fn is_damage(error: &StoreError) -> bool {
    match error {
        StoreError::Uncertain(inner) => is_damage(inner),
        StoreError::User(_) | StoreError::Unaccounted | StoreError::Damaged(_) | StoreError::Key(_) => true,
        _ => false,
    }
}
