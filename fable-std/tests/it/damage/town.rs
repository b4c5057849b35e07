//! A store of many users who are known to the bit, as it is on disk.

use fable_core::catalog::{Effect, When};
use fable_core::journal::Command;
use fable_core::{Feasible, HostUser, Policy, Request, Settings, catalog, user_hash};
use fable_serve_tests::dice::Dice;
use fable_serve_tests::frames::{Frame, PRIOR, RULES, USER, frames};
use fable_std::memory::{Bounds, Exchange, Memory};
use fable_std::prior_file;
use fable_std::store::journal::{Entry, Note, Segment};
use fable_std::store::wishes::Wishes;
use fable_std::store::{
    Desk, FileStore, History, Identity, Options, Policies, Priors, Resident, Sink, Store, Stored, UserRow,
    Writes,
};
use fable_std::text::Constraint;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use tempfile::TempDir;

/// Users whose number is more than one page of keys has.
const USERS: usize = 70;
const PHASES: usize = 12;

/// The files of a store: users, keys, index.
pub type Files = [Vec<u8>; 3];

/// The stores that are damaged, made once for all tests.
pub static TOWNS: LazyLock<Towns> = LazyLock::new(Towns::build);

/// A folder in memory, if there is such: thousands of stores are written.
pub fn folder() -> TempDir {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { tempfile::tempdir_in(memory).unwrap() } else { tempfile::tempdir().unwrap() }
}

pub fn paths(store: &Path) -> [PathBuf; 3] {
    ["", ".key", ".index"].map(|end| PathBuf::from(format!("{}{end}", store.display())))
}

pub fn read(store: &Path) -> Files {
    paths(store).map(|path| std::fs::read(path).unwrap())
}

pub fn write(store: &Path, files: &Files) {
    for (path, bytes) in paths(store).iter().zip(files) {
        std::fs::write(path, bytes).unwrap();
    }
}

pub fn base() -> Policy<'static, f64> {
    Policy::new(&catalog::TAU2, Settings::default()).unwrap()
}

/// All that is true about a user.
#[derive(Clone, Debug)]
pub struct Life {
    pub row: UserRow,
    pub slot: u32,
    pub generation: u32,
    pub constraints: Vec<u8>,
    pub memory: Memory,
    pub prior: Option<Vec<u8>>,
    /// The journal, and where in it each entry begins.
    pub journal: Vec<u8>,
    pub starts: Vec<usize>,
    /// The learner as of every snapshot.
    pub states: BTreeMap<u64, Vec<u8>>,
    /// The learner as of the last event.
    pub state: Vec<u8>,
}

impl Life {
    pub fn new(row: &UserRow) -> Self {
        let nothing = Vec::new;
        Self {
            row: row.clone(),
            slot: 0,
            generation: 0,
            constraints: nothing(),
            memory: Memory::default(),
            prior: None,
            journal: nothing(),
            starts: Vec::new(),
            states: BTreeMap::new(),
            state: nothing(),
        }
    }

    pub fn name(&self) -> &str {
        &self.row.name
    }

    pub const fn number(&self) -> u64 {
        self.row.header.user
    }

    /// Up to where what is stored is true: the number of events, all of which are right.
    ///
    /// # Panics
    /// When anything of it is not.
    pub fn agrees(&self, stored: &Stored) -> usize {
        let name = self.name();
        assert_eq!(stored.row, self.row, "{name}: another row");
        assert_eq!(stored.wishes, self.constraints, "{name}: other rules");
        let seen = stored.snapshot.as_ref().map_or(0, |(seen, _)| *seen);
        if let Some((seen, bytes)) = &stored.snapshot {
            assert!(self.states.get(seen) == Some(bytes), "{name}: another snapshot at {seen}");
        }
        let (mut bytes, mut end) = (Vec::new(), None);
        for segment in &stored.journal {
            assert!(
                end.map_or(segment.first <= seen, |end| end == segment.first),
                "{name}: a gap before {}",
                segment.first
            );
            end = Some(segment.end());
            segment.from(seen).for_each(|entry| entry.unwrap().push(&mut bytes));
        }
        let (seen, end) = (seen as usize, end.unwrap_or(0).max(seen) as usize);
        let start = |entry: usize| self.starts.get(entry).copied().unwrap_or(self.journal.len());
        assert!(end <= self.starts.len(), "{name}: events that never were");
        assert!(bytes == self.journal[start(seen)..start(end)], "{name}: other events in {seen}..{end}");
        end
    }

    /// Whether all of the user is there.
    pub fn is(&self, stored: &Stored) -> bool {
        self.agrees(stored) == self.starts.len()
    }
}

/// Writes down what happens to a user on its way to the store.
pub struct Witness<'w> {
    pub writes: &'w mut Writes,
    pub life: &'w mut Life,
}

impl Sink for Witness<'_> {
    fn life(&mut self, user: u64, birth: u64) {
        Sink::life(self.writes, user, birth);
    }

    fn user(&mut self, user: u64, row: &UserRow) {
        self.writes.user(user, row);
    }

    fn entry(&mut self, user: u64, position: u64, entry: &Entry<'_>) {
        assert_eq!(position as usize, self.life.starts.len());
        self.life.starts.push(self.life.journal.len());
        entry.push(&mut self.life.journal);
        self.writes.entry(user, position, entry);
    }

    fn snapshot(&mut self, user: u64, seen: u64, snapshot: &[u8]) {
        self.life.states.insert(seen, snapshot.to_vec());
        self.writes.snapshot(user, seen, snapshot);
    }
}

/// Lets a user live up to a number of events, or a few more.
pub fn live(
    desk: &mut Desk<'_, f64>,
    user: &mut Resident<'_, f64>,
    sink: &mut Witness<'_>,
    dice: &mut Dice,
    up_to: u64,
) {
    let (context, all) = (catalog::TAU2.context(None, []).unwrap(), Feasible::all(&catalog::TAU2));
    while user.entries() < up_to {
        let mut decide = Command::decide(Request::new(&context, &all));
        user.run(desk, sink, &mut decide, Note::None).unwrap();
        let id = decide.decision(&user.user(desk).unwrap()).unwrap().id;
        if user.entries() < up_to {
            let mut feedback = Command::feedback(id, dice.unit() * 2.0 - 1.0);
            user.run(desk, sink, &mut feedback, Note::None).unwrap();
        }
    }
    sink.life.state = user.learner().to_bytes().unwrap();
}

/// Some hard rules.
pub fn rules(number: usize) -> Vec<u8> {
    let constraint = |value: u8| Constraint {
        effect: Effect::Forbid,
        component: 0,
        values: vec![value],
        when: When::Always,
        words: format!("never, I said {number} times"),
    };
    let constraints: Vec<Constraint> = (0..=(number % 2) as u8).map(constraint).collect();
    Wishes { rules: constraints, ..Wishes::default() }.encode(&catalog::TAU2).unwrap()
}

/// Moves the whole log into the journal.
pub fn fold(store: &FileStore) -> Writes {
    let log = store.log().unwrap();
    let mut writes = Writes::default();
    let mut segments: Vec<(u64, &Segment)> = log.iter().map(|(user, segment)| (*user, segment)).collect();
    segments.sort_by_key(|(user, _)| *user);
    writes.fold(segments.into_iter());
    writes
}

/// A store as it is on disk, and what has to be in it.
#[derive(Clone, Debug)]
pub struct Town {
    pub files: Files,
    pub lives: Vec<Life>,
    /// Who is not in it.
    pub strangers: Vec<String>,
    pub frames: Vec<Frame>,
}

/// The same town at several times.
pub struct Towns {
    /// Killed before it was ever closed.
    pub killed: Town,
    pub closed: Town,
    /// Opened again, and killed then.
    pub reopened: Town,
    /// A copy, closed.
    pub copied: Town,
}

/// How many events a user has at last.
const fn length(user: usize) -> u64 {
    match user {
        0..4 => 1_500 - 110 * user as u64,
        4..8 => 700 - 60 * user as u64 / 2,
        8..16 => 20 * user as u64,
        _ => 1 + (user * 7 % 40) as u64,
    }
}

impl Towns {
    pub fn build() -> Self {
        let folder = folder();
        let path = folder.path().join("users.fable");
        let options = Options { history: History::Last(600.try_into().unwrap()), ..Options::default() };
        let store = FileStore::open_with(&path, &Identity::new(&base()), &options).unwrap();
        let mut packed = HostUser::<f64>::new(&base(), "").unwrap().learner().posterior().packed().to_vec();
        packed[0] = 0.03125;
        let stated = Priors::open(&store, &base(), Some(&packed)).unwrap();
        let (isotropic, stated) = (Policies::from(base()), stated.policies(&base()).unwrap());
        let mut desks = [Desk::new(&isotropic), Desk::new(&stated)];
        let (mut dice, mut strangers) = (Dice::new(5), vec!["nobody".to_owned(), "user 7000".to_owned()]);
        let (mut lives, mut residents) = (Vec::new(), Vec::new());
        for user in 0..USERS {
            let desk = &mut desks[usize::from(user % 5 == 2)];
            // One has a number that is not the hash of the name.
            let name = format!("user {user}");
            let number = user_hash(&name).wrapping_add(u64::from(user == 21));
            let incarnation = store.incarnation().unwrap();
            let mut resident = Resident::newcomer(desk, &name, number, incarnation, None).unwrap();
            let mut life = Life::new(resident.row());
            life.prior =
                (user % 5 == 2).then(|| prior_file::write(&base(), &packed, prior_file::NOBODY).unwrap());
            let mut writes = Writes::default();
            live(desk, &mut resident, &mut Witness { writes: &mut writes, life: &mut life }, &mut dice, 1);
            if user % 3 == 0 {
                life.constraints = rules(user);
                writes.wishes(number, &life.constraints);
            }
            let before = std::fs::metadata(&path).unwrap().len() as usize;
            store.commit(writes, true).unwrap();
            let frames = frames(&std::fs::read(&path).unwrap());
            let row = frames.iter().find(|frame| frame.offset >= before && frame.kind == USER).unwrap();
            (life.slot, life.generation) = (row.slot, row.generation);
            lives.push(life);
            residents.push(resident);
            if user == 30 || user == 50 {
                // Somebody is forgotten, and the next one gets the key's place.
                let gone = lives.remove(user / 2);
                residents.remove(user / 2);
                assert_eq!(store.forget(&[gone.name()]).unwrap(), [gone.name()]);
                strangers.push(gone.name().to_owned());
            }
        }
        let mut phase = |store: &FileStore, lives: &mut [Life], phase: usize| {
            for batch in 0..residents.len().div_ceil(5) {
                let mut writes = Writes::default();
                for user in (5 * batch..residents.len()).take(5) {
                    let (life, resident) = (&mut lives[user], &mut residents[user]);
                    let desk = &mut desks[usize::from(life.prior.is_some())];
                    let (start, end) = (life.starts.len() as u64, length(user));
                    let up_to = start.max(end * (phase as u64 + 1) / PHASES as u64);
                    live(desk, resident, &mut Witness { writes: &mut writes, life }, &mut dice, up_to);
                    if (user + phase).is_multiple_of(37) {
                        // Other rules than before, or none any more.
                        life.constraints = if user % 2 == 0 { rules(phase) } else { Vec::new() };
                        writes.wishes(life.number(), &life.constraints);
                    }
                    if (user + phase).is_multiple_of(4) {
                        let words = "said ".repeat(user % 20);
                        let exchange = Exchange::new(&words, &words, phase as u32);
                        life.memory.push(exchange.clone(), &Bounds::default());
                        writes.remember(life.number(), exchange);
                    }
                    if (user + phase).is_multiple_of(41) {
                        life.memory = Memory::default();
                        writes.memory(life.number(), &life.memory);
                    }
                }
                store.commit(writes, true).unwrap();
            }
            if phase % 4 == 2 {
                store.commit(fold(store), true).unwrap();
            }
        };
        (0..PHASES - 3).for_each(|number| phase(&store, &mut lives, number));
        let town = |path: &Path, lives: &[Life]| {
            let files = read(path);
            Town { frames: frames(&files[0]), files, lives: lives.to_vec(), strangers: strangers.clone() }
        };
        let killed = town(&path, &lives);
        phase(&store, &mut lives, PHASES - 3);
        drop(store);
        let closed = town(&path, &lives);
        let store = FileStore::open_with(&path, &Identity::new(&base()), &options).unwrap();
        phase(&store, &mut lives, PHASES - 2);
        let copy = folder.path().join("copy.fable");
        store.backup(&copy, &mut |_, _| {}).unwrap();
        let copied = town(&copy, &lives);
        phase(&store, &mut lives, PHASES - 1);
        let reopened = town(&path, &lives);
        Self { killed, closed, reopened, copied }
    }

    pub const fn all(&self) -> [(&'static str, &Town); 4] {
        [
            ("killed", &self.killed),
            ("closed", &self.closed),
            ("reopened", &self.reopened),
            ("copied", &self.copied),
        ]
    }
}

impl Town {
    /// The frames whose bytes are others than they were, with what fills them up.
    pub fn damaged_frames<'t>(&'t self, now: &'t [u8]) -> impl Iterator<Item = &'t Frame> {
        let range = |frame: &Frame| frame.offset..frame.range().end.next_multiple_of(16);
        self.frames.iter().filter(move |frame| now.get(range(frame)) != self.files[0].get(range(frame)))
    }

    /// Users who may be refused: something of theirs is damaged.
    pub fn touched(&self, now: &[u8]) -> BTreeSet<u64> {
        let mut touched = BTreeSet::new();
        for frame in self.damaged_frames(now) {
            let own = |life: &&Life| (life.slot, life.generation) == (frame.slot, frame.generation);
            let prior = |life: &&Life| frame.kind == PRIOR && life.prior.is_some();
            touched.extend(self.lives.iter().filter(|life| own(life) || prior(life)).map(Life::number));
        }
        touched
    }

    /// Users who have to be refused: their name or their rules are damaged.
    pub fn lost(&self, now: &[u8]) -> BTreeSet<u64> {
        let own =
            |life: &Life, frame: &&Frame| (life.slot, life.generation) == (frame.slot, frame.generation);
        let last =
            |life: &Life, kind: u32| self.frames.iter().rfind(|frame| own(life, frame) && frame.kind == kind);
        let damaged = |frame: &Frame| now.get(frame.range()) != self.files[0].get(frame.range());
        let lost = |life: &&Life| [USER, RULES].iter().any(|kind| last(life, *kind).is_some_and(damaged));
        self.lives.iter().filter(lost).map(Life::number).collect()
    }
}
