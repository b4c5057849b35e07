//! One user, several devices: what a device has learned goes into a store, once, and journals still say it all.
#![cfg(unix)]

use crate::server;
use crate::wire::{Memory, Tau2, scratch};
use fable_core::catalog::TAU2;
use fable_core::journal::Command as Order;
use fable_core::{Context, DecisionId, Feasible, HostUser, Policy, Request, Settings, user_hash};
use fable_merge::MergeError;
use fable_std::device::Device;
use fable_std::memory::Exchange;
use fable_std::merge::{MergeFailure, Place, sync};
use fable_std::replay::{Replay, Tape, replay};
use fable_std::serve::{Options, serve};
use fable_std::store::journal::Note;
use fable_std::store::{Desk, FileStore, Identity, Policies, Resident, Store, Writes, transfer};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Output};
use std::thread;
use std::time::Duration;

/// A device's end of a line.
struct Line<P>(P);

impl<P> embedded_io::ErrorType for Line<P> {
    type Error = embedded_io::ErrorKind;
}

impl<P: Read> embedded_io::Read for Line<P> {
    fn read(&mut self, bytes: &mut [u8]) -> Result<usize, embedded_io::ErrorKind> {
        self.0.read(bytes).map_err(|_| embedded_io::ErrorKind::Other)
    }
}

impl<P: Write> embedded_io::Write for Line<P> {
    fn write(&mut self, bytes: &[u8]) -> Result<usize, embedded_io::ErrorKind> {
        self.0.write(bytes).map_err(|_| embedded_io::ErrorKind::Other)
    }

    fn flush(&mut self) -> Result<(), embedded_io::ErrorKind> {
        self.0.flush().map_err(|_| embedded_io::ErrorKind::Other)
    }
}

/// A device of a user behind a TCP port, with room for so many events.
fn board(settings: Settings<'static>, user: u64, room: usize) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    thread::spawn(move || {
        let policy = Policy::new(&TAU2, settings).unwrap();
        let mut learner = Tau2::new(&TAU2);
        learner.start(&policy, user).unwrap();
        let (mut memory, mut workspace) = (Memory::new(&learner, room), scratch());
        let mut server = server!(policy, learner, workspace, memory);
        for stream in listener.incoming() {
            let _ = server.serve(&mut Line(stream.unwrap()));
        }
    });
    address
}

fn connect(address: &str) -> Device<TcpStream> {
    let port = TcpStream::connect(address).unwrap();
    port.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
    Device::open(port).unwrap()
}

fn nowhere() -> Context {
    Context::new(&TAU2, None, &[]).unwrap()
}

/// Rounds on a device; every fourth decision gets no reward. The ids of those that do.
fn use_device(address: &str, rounds: u32, clock: &mut u32) -> Vec<DecisionId> {
    let mut device = connect(address);
    let mut rewarded = vec![];
    for round in 0..rounds {
        *clock += 2;
        let made = device.decide(&nowhere(), None, *clock).unwrap();
        if round % 4 != 3 {
            device.feedback(made.id, f64::from(made.action.0 % 5) / 4.0 - 0.5, 1.0, *clock).unwrap();
            rewarded.push(made.id);
        }
    }
    rewarded
}

/// Rounds at home.
fn use_store(store: &dyn Store, policy: &Policy<'_, f64>, rounds: u32, clock: &mut u32) -> Vec<DecisionId> {
    let policies = Policies::from(*policy);
    let mut desk = Desk::new(&policies);
    let mut ana = match store.whole(user_hash("ana")).unwrap() {
        Some(stored) => Resident::revive(&mut desk, &stored, None).unwrap(),
        None => {
            Resident::newcomer(&desk, "ana", user_hash("ana"), store.incarnation().unwrap(), None).unwrap()
        }
    };
    let (context, all, mut rewarded) = (nowhere(), Feasible::all(&TAU2), vec![]);
    for _ in 0..rounds {
        *clock += 3;
        let (mut command, mut writes) =
            (Order::decide(Request::new(&context, &all).at(*clock)), Writes::default());
        ana.run(&mut desk, &mut writes, &mut command, Note::None).unwrap();
        let made = command.decision(&ana.user(&mut desk).unwrap()).unwrap();
        let mut command = Order::feedback(made.id, f64::from(made.action.0 % 3) / 2.0 - 0.5).at(*clock);
        ana.run(&mut desk, &mut writes, &mut command, Note::None).unwrap();
        store.commit(writes, true).unwrap();
        rewarded.push(made.id);
    }
    rewarded
}

fn place(address: &str, settings: Settings<'static>) -> Place {
    Place::of_device(&TAU2, settings, &connect(address).tape().unwrap()).unwrap()
}

fn replayed(store: &dyn Store, settings: Settings<'static>) -> Replay {
    let stored = store.named("ana").unwrap();
    let replayed = replay(&TAU2, settings, &Tape::of_user(&stored).unwrap()).unwrap();
    assert_eq!(replayed.different, Vec::<u32>::new());
    // Exported and imported it is the same user.
    let bytes = transfer::write(&stored).unwrap();
    let other = FileStore::in_memory(&Identity::new(&Policy::<f64>::new(&TAU2, settings).unwrap())).unwrap();
    transfer::import(&other, &Policy::<f64>::new(&TAU2, settings).unwrap(), &bytes).unwrap();
    let again = replay(&TAU2, settings, &Tape::of_user(&other.named("ana").unwrap()).unwrap()).unwrap();
    assert_eq!(again, replayed);
    replayed
}

const HOME: Settings<'static> = Settings { seed: 3, probe: 0.5, ..Settings::DEFAULT };
const BOARD: Settings<'static> = Settings { site: 1, ..HOME };

#[test]
fn what_a_device_learned_is_appended_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("users.fable");
    let policy = Policy::<f64>::new(&TAU2, HOME).unwrap();
    let store = FileStore::open(&path, &Identity::new(&policy)).unwrap();
    let address = board(BOARD, user_hash("ana"), 1000);
    let (mut clock, mut there) = (0, 0);
    let home = use_store(&store, &policy, 30, &mut clock);
    let away = use_device(&address, 40, &mut there);
    let merged = sync(&store, &policy, "ana", &[place(&address, HOME)]).unwrap();
    assert_eq!((merged.decisions, merged.rewards, merged.base.is_none()), (40, 30, true));
    let nothing = sync(&store, &policy, "ana", &[place(&address, HOME)]).unwrap();
    assert_eq!((nothing.decisions, nothing.rewards, nothing.entries.count), (0, 0, 0));
    use_store(&store, &policy, 20, &mut clock);
    use_device(&address, 8, &mut there);
    let merged = sync(&store, &policy, "ana", &[place(&address, HOME)]).unwrap();
    assert_eq!((merged.decisions, merged.rewards), (8, 6));
    let life = replayed(&store, HOME);
    assert_eq!(
        (life.decisions, life.elsewhere, life.woven, life.rounds, life.observations),
        (50, 36, 0, 50, 86)
    );
    drop(store);

    // Round 5 of both: each is taken back once, and is another one.
    assert_eq!((home[4].round, away[4].site), (5, 1));
    let (here, elsewhere) = (home[4], DecisionId { round: 5, ..away[4] });
    assert_ne!(here, elsewhere);
    let lines = [elsewhere, elsewhere, here, here]
        .map(|id| format!("{{\"op\":\"unlearn\",\"decision\":\"{id}\"}}\n"))
        .concat()
        + &format!("{{\"op\":\"feedback\",\"decision\":\"{elsewhere}\",\"reward\":0.5}}\n");
    let mut answers = Vec::new();
    let options = Options { store: Some(path.clone()), ..Options::default() };
    serve::<f64>(&TAU2, HOME, &options, std::io::Cursor::new(lines.into_bytes()), &mut answers, |_| ())
        .unwrap();
    let answers: Vec<serde_json::Value> =
        String::from_utf8(answers).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let counts: Vec<_> = answers
        .iter()
        .map(|answer| (answer["observations"].as_u64(), answer["error"]["code"].as_str()))
        .collect();
    let refused = (None, Some("not_learned"));
    assert_eq!(
        counts,
        [(Some(85), None), refused, (Some(84), None), refused, (None, Some("unknown_decision"))]
    );
    assert_eq!(replayed(&FileStore::open_any(&path).unwrap(), HOME).observations, 84);
}

#[test]
fn with_fading_the_journal_begins_anew_by_time() {
    const FADING: Settings<'static> = Settings { half_life: Some(12), ..HOME };
    let policy = Policy::<f64>::new(&TAU2, FADING).unwrap();
    let store = FileStore::in_memory(&Identity::new(&policy)).unwrap();
    let address = board(Settings { site: 1, ..FADING }, user_hash("ana"), 1000);
    let (mut clock, mut there) = (0, 1);
    let mut rewards = 0;
    for (part, rounds) in (1..).zip([(25, 30), (15, 12), (5, 4)]) {
        use_store(&store, &policy, rounds.0, &mut clock);
        use_device(&address, rounds.1, &mut there);
        let merged = sync(&store, &policy, "ana", &[place(&address, FADING)]).unwrap();
        assert!(merged.base.is_some());
        rewards += rounds.0 + rounds.1 * 3 / 4;
        let life = replayed(&store, FADING);
        assert!(life.woven > 0 && life.observations <= rewards + 3, "{part}: {life:?}");
        // What is stored is what was merged.
        let stored = store.whole(user_hash("ana")).unwrap().unwrap();
        let state = Tape::of_user(&stored).unwrap().play(&policy).unwrap();
        assert_eq!(state, HostUser::restore(&policy, &merged.snapshot).unwrap());
        assert_eq!(sync(&store, &policy, "ana", &[place(&address, FADING)]).unwrap().entries.count, 0);
    }
    // Decisions after the last merge can be made anew.
    let before = replayed(&store, FADING);
    use_store(&store, &policy, 10, &mut clock);
    let after = replayed(&store, FADING);
    assert_eq!((after.woven, after.decisions), (before.woven, before.decisions + 10));
}

#[test]
fn what_is_missing_or_does_not_belong_is_refused_and_nothing_changes() {
    let policy = Policy::<f64>::new(&TAU2, HOME).unwrap();
    let store = FileStore::in_memory(&Identity::new(&policy)).unwrap();
    use_store(&store, &policy, 10, &mut 0);
    let before = transfer::export(&store, "ana").unwrap();
    let refused = |settings: Settings<'static>, user: &str, room: usize, rounds: u32| {
        let address = board(settings, user_hash(user), room);
        use_device(&address, rounds, &mut 0);
        match sync(&store, &policy, "ana", &[place(&address, Settings { site: 0, ..settings })]) {
            Err(MergeFailure::Merge(error)) => error,
            other => panic!("{other:?}"),
        }
    };
    let missing = refused(BOARD, "ana", 30, 40);
    assert!(matches!(missing, MergeError::Missing { site: 1, events: 30.. }), "{missing:?}");
    assert!(missing.to_string().contains("events of site 1 are missing"), "{missing}");
    assert_eq!(refused(BOARD, "ben", 1000, 5), MergeError::User);
    assert_eq!(refused(HOME, "ana", 1000, 5), MergeError::Site(0));
    assert_eq!(refused(Settings { noise_variance: 0.5, ..BOARD }, "ana", 1000, 5), MergeError::Policy);
    assert_eq!(transfer::export(&store, "ana").unwrap(), before);
    // A second device with the number of the first.
    let (first, second) = (board(BOARD, user_hash("ana"), 1000), board(BOARD, user_hash("ana"), 1000));
    use_device(&first, 10, &mut 0);
    use_device(&second, 10, &mut 50);
    sync(&store, &policy, "ana", &[place(&first, HOME)]).unwrap();
    let error = sync(&store, &policy, "ana", &[place(&second, HOME)]).unwrap_err();
    assert!(matches!(error, MergeFailure::Merge(MergeError::Site(1))), "{error:?}");
}

fn fable(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_fable")).args(arguments).output().unwrap()
}

fn text(arguments: &[&str]) -> String {
    let output = fable(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn path(folder: &Path, name: &str) -> String {
    folder.join(name).display().to_string()
}

#[test]
fn the_commands_do_it_for_a_person() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name| path(folder.path(), name);
    let (home, office) = (file("home.fable"), file("office.fable"));
    // Two services with numbers of their own, and a board that belongs to whoever holds it.
    for (store, settings) in [(&home, HOME), (&office, Settings { site: 2, ..HOME })] {
        let policy = Policy::<f64>::new(&TAU2, settings).unwrap();
        let store = FileStore::open(Path::new(store), &Identity::new(&policy)).unwrap();
        use_store(&store, &policy, 12, &mut 0);
        let mut writes = Writes::default();
        writes.remember(user_hash("ana"), Exchange::new("Where am I?", "At a place.", 9 - settings.site));
        store.commit(writes, true).unwrap();
    }
    let address = board(HOME, 0xdead_beef, 1000);
    let flags = ["--store", &home, "--user", "ana", "--probe", "0.5"];
    let device =
        |what: &str, more: &[&str]| fable(&[&["device", "--tcp", &address, what], &flags[..], more].concat());
    let joined = device("join", &["--site", "7"]);
    assert!(joined.status.success(), "{joined:?}");
    use_device(&address, 8, &mut 0);
    assert_eq!(device("join", &["--site", "8"]).status.code(), Some(3));
    let synchronized = device("sync", &[]);
    assert_eq!(
        String::from_utf8(synchronized.stdout).unwrap(),
        "place 7: 8 decisions and 6 rewards were new: appended\n"
    );
    let synchronized = device("sync", &[]);
    assert_eq!(
        String::from_utf8(synchronized.stdout).unwrap(),
        "place 7: 0 decisions and 0 rewards were new: nothing was new\n"
    );

    let (first, second, all) = (file("home.user"), file("office.user"), file("all.user"));
    text(&["export", "ana", &first, "--store", &home]);
    text(&["export", "ana", &second, "--store", &office]);
    let learner = ["--catalog", "tau2", "--seed", "3", "--probe", "0.5"];
    let told = text(&[&["merge", &all, &first, &second], &learner[..]].concat());
    assert_eq!(told, "12 decisions and 12 rewards were new: appended\n");
    let told = text(&[&["replay", &all], &learner[..]].concat());
    assert!(
        told.contains("12 of 12 decisions are the same, bit for bit\n18 rewards are of decisions that were made elsewhere"),
        "{told}"
    );
    // What was said there and here is in the order of time.
    let memory = transfer::read(&std::fs::read(&all).unwrap()).unwrap().memory;
    assert_eq!(memory.exchanges().iter().map(|exchange| exchange.at).collect::<Vec<_>>(), [7, 9]);
    // The other way round it is the office that goes on, and it is told of the board by the one at home.
    let told = text(&[&["merge", &file("other.user"), &second, &first], &learner[..]].concat());
    assert_eq!(told, "12 decisions and 18 rewards were new: appended\n");
    let told = text(&[&["merge", &file("again.user"), &all, &second], &learner[..]].concat());
    assert_eq!(told, "0 decisions and 0 rewards were new: nothing was new\n");
    let refused =
        fable(&[&["merge", &file("no.user"), &first, &first, "--half-life", "9"], &learner[..]].concat());
    assert!(refused.status.success()); // the same journal twice says nothing new, whatever fades
    let refused = fable(
        &[&["merge", &file("no.user"), &first, &second, "--noise-variance", "0.5"], &learner[..]].concat(),
    );
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
}

/// The user's own rules come along when a device joins, follow when it is synchronized, and do not get in the way of merging.
#[test]
fn a_device_gets_the_rules_of_the_store() {
    let folder = tempfile::tempdir().unwrap();
    let home = path(folder.path(), "home.fable");
    let policy = Policy::<f64>::new(&TAU2, HOME).unwrap();
    use_store(&FileStore::open(Path::new(&home), &Identity::new(&policy)).unwrap(), &policy, 4, &mut 0);
    let address = board(HOME, 0xdead_beef, 1000);
    let flags = ["--store", &home, "--user", "ana", "--probe", "0.5"];
    let device =
        |what: &str, more: &[&str]| text(&[&["device", "--tcp", &address, what], &flags[..], more].concat());
    let board = |what: &[&str]| text(&[&["device", "--tcp", &address], what].concat());
    let rules = |more: &[&str]| text(&[&["rules", &home, "ana", "--probe", "0.5"], more].concat());
    rules(&["--forbid", "tool=verify", "--words", "I never check"]);
    device("join", &["--site", "7"]);
    assert_eq!(board(&["rules"]), "rule         never tool=verify\nlayer        on\nmemory       not said\n");
    use_device(&address, 8, &mut 0);
    let decided = || {
        let mut device = connect(&address);
        let all = Feasible::all(&TAU2);
        (0..20)
            .map(|_| TAU2.values(device.decide(&nowhere(), Some(&all), 0).unwrap().action).unwrap())
            .collect::<Vec<_>>()
    };
    let verify = TAU2.value(1, "verify").unwrap();
    assert!(decided().iter().all(|values| values[1] != verify));
    assert!(device("sync", &[]).starts_with("place 7: 28 decisions and 6 rewards were new: appended\n"));

    // What changes in the store reaches the device with the next synchronization.
    rules(&["--allow", "tool=verify", "--require", "style=concise", "--memory", "off"]);
    let told = device("sync", &[]);
    assert_eq!(
        told,
        "place 7: 0 decisions and 0 rewards were new: nothing was new\n3 rules or switches were new to the device\n"
    );
    assert_eq!(board(&["rules"]), "rule         always style=concise\nlayer        on\nmemory       off\n");
    let concise = TAU2.value(2, "concise").unwrap();
    assert!(decided().iter().all(|values| values[2] == concise));
    // On the device alone; and a device that is switched off decides nothing.
    assert!(board(&["rules", "--allow", "style=direct", "--layer", "off"]).starts_with("layer        off\n"));
    let refused = fable(&["device", "--tcp", &address, "decide", "--all"]);
    assert_eq!(refused.status.code(), Some(3));
    assert!(
        String::from_utf8_lossy(&refused.stderr).contains("the user has switched this off"),
        "{refused:?}"
    );
    assert!(device("sync", &[]).ends_with("rules or switches were new to the device\n"));
    assert_eq!(fable(&["device", "--tcp", &address, "decide", "--all"]).status.code(), Some(0));
    board(&["forget", "--yes"]);
    assert_eq!(board(&["rules"]), "layer        on\nmemory       not said\n");
}
