//! Every board, driven from the host: the same bits, and nothing acknowledged is lost.

use fable_core::catalog::Direction;
use fable_core::host::HostLearner;
use fable_core::journal::{Command, Observation};
use fable_core::posterior::{Factor, Prior};
use fable_core::record::encode_event;
use fable_core::record::{Header, Kind, decode_prior};
use fable_core::{
    Action, Catalog, Context, DecisionId, Feasible, HostUser, Policy, Request, Settings, Statement, user_hash,
};
use fable_qemu::{BOARDS, Board, Crash};
use fable_std::device::{Device, DeviceError, prior};
use fable_std::prior::{Evidence, Options, fit};
use fable_wire::{Fault, StorageFault};
use std::io::Write;
use std::os::unix::net::UnixStream;
use std::time::Instant;

/// SplitMix64.
struct Random(u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.bits() % limit as u64) as usize
    }

    fn reward(&mut self) -> f64 {
        (self.below(257) as f64 - 128.0) / 128.0
    }

    fn context(&mut self, catalog: &Catalog<'_>) -> Context {
        let task = self.below(catalog.definition().tasks.len() + 1).checked_sub(1);
        let signals: Vec<f32> =
            catalog.definition().signals.iter().map(|_| self.below(129) as f32 / 128.0).collect();
        Context::new(catalog, task, &signals).unwrap()
    }

    fn feasible(&mut self, catalog: &Catalog<'_>) -> Feasible {
        let mut set = catalog.all_actions();
        for _ in 0..self.below(4) {
            set.remove(Action(u16::try_from(self.below(catalog.actions())).unwrap()));
        }
        Feasible::from_set(catalog, set).unwrap()
    }
}

/// A user on the host that lives the device's life.
type Twin<'p> = HostUser<'p, f32, 8>;

fn twin<'p>(policy: &Policy<'p, f32>, user: u64) -> Twin<'p> {
    let mut learner = HostLearner::for_policy(policy);
    learner.start(policy, user).unwrap();
    Twin::from_learner(policy, learner).unwrap()
}

/// Plays rounds on both and compares every decision; rewards come late, out of order or never.
fn play(device: &mut Device<UnixStream>, twin: &mut Twin<'_>, random: &mut Random, rounds: u32) {
    let catalog = twin.policy().catalog();
    let mut waiting: Vec<DecisionId> = vec![];
    for _ in 0..rounds {
        let (context, feasible) = (random.context(catalog), random.feasible(catalog));
        let decision = device.decide(&context, Some(&feasible), 0).unwrap();
        assert_eq!(decision, twin.decide(&context, &feasible).unwrap());
        waiting.push(decision.id);
        waiting.retain(|id| decision.id.round - id.round < 8); // the others have left the ring without a reward
        if random.below(4) > 0 {
            let id = waiting.swap_remove(random.below(waiting.len()));
            let reward = random.reward();
            device.feedback(id, reward, 1.0, 0).unwrap();
            twin.feedback(id, reward).unwrap();
        }
    }
}

/// The device's snapshot and journal, replayed here, lead to the same decisions and contrasts; and the state is the twin's.
fn compare(device: &mut Device<UnixStream>, twin: &Twin<'_>) {
    let tape = device.tape().unwrap();
    let replayed = tape.replay(twin.policy().catalog(), *twin.policy().settings()).unwrap();
    assert!(tape.agrees(&replayed), "{replayed:?}");
    assert_eq!(
        (replayed.rounds, replayed.observations),
        (twin.state().rounds(), twin.state().observations())
    );
    for (index, contrast) in replayed.contrasts.iter().enumerate() {
        assert_eq!(device.assess(u8::try_from(index).unwrap()).unwrap(), *contrast);
    }
    let hello = device.greet().unwrap();
    assert_eq!((hello.rounds, hello.observations), (twin.state().rounds(), twin.state().observations()));
}

fn policy(catalog: &'static Catalog<'static>) -> Policy<'static, f32> {
    Policy::new(catalog, Settings { site: 1, ..Settings::default() }).unwrap()
}

/// Runs a test on these boards, as many at a time as there are cores.
fn each(
    boards: impl Iterator<Item = Board> + Send,
    test: &str,
    run: impl Fn(Board, &std::path::Path) + Sync,
) {
    let boards = std::sync::Mutex::new(boards);
    let work = || {
        // The lock is held only to take a board, not while it runs.
        while let Some(board) = { boards.lock().unwrap().next() } {
            let started = Instant::now();
            let folder = board.folder(test).unwrap();
            run(board, &folder);
            println!("ok   {} {test}, {:.1} s", board.name, started.elapsed().as_secs_f64());
            let _ = std::fs::remove_dir_all(folder);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
}

/// Runs a test on the boards that FABLE_BOARDS names, or on all.
fn each_board(test: &str, run: impl Fn(Board, &std::path::Path) + Sync) {
    let chosen = std::env::var("FABLE_BOARDS").ok();
    let is_chosen =
        |board: &Board| chosen.as_ref().is_none_or(|names| names.split(' ').any(|name| name == board.name));
    let boards: Vec<Board> = BOARDS.into_iter().filter(is_chosen).collect();
    assert!(!boards.is_empty(), "FABLE_BOARDS names no board");
    each(boards.into_iter(), test, run);
}

/// Boots, says what its store is, learns over the serial port with the same bits as the host, and starts again after a
/// reset in the middle of everything.
#[test]
#[ignore = "needs the images that tests/qemu/run builds"]
fn a_life_over_the_serial_port() {
    let rounds: u32 =
        std::env::var("FABLE_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(200);
    each_board("life", |board, folder| {
        let running = board.start(folder).unwrap();
        let mut device = running.device().unwrap();
        let catalog = device.catalog().unwrap();
        let policy = policy(catalog);
        assert_eq!(device.hello().fingerprint, policy.fingerprint());
        assert!(running.log().contains("ready"), "{}", running.log());
        let mut twin = twin(&policy, device.hello().user);
        let mut random = Random(u64::from(rounds));

        let direction = Direction::new(catalog, [(0, 1.0), (1, -1.0)]).unwrap();
        let statement = Statement { direction, response: 0.5, precision: 4.0 };
        device.onboard(&statement).unwrap();
        twin.user().onboard(&statement).unwrap();
        play(&mut device, &mut twin, &mut random, rounds / 2);
        compare(&mut device, &twin);

        // A reset, with decisions still waiting: their rewards come afterwards.
        let (context, feasible) = (random.context(catalog), random.feasible(catalog));
        let decision = device.decide(&context, Some(&feasible), 0).unwrap();
        assert_eq!(decision, twin.decide(&context, &feasible).unwrap());
        let running = if board.name == "hifive1" {
            drop(running); // QEMU models no reset of this board
            board.start(folder).unwrap()
        } else {
            running.reset().unwrap();
            running
        };
        drop(device);
        let mut device = running.device().unwrap();
        let starts = running.log().matches(": ready").count();
        assert_eq!(starts, if board.name == "hifive1" { 1 } else { 2 }, "{}", running.log());
        device.feedback(decision.id, 0.5, 1.0, 0).unwrap();
        twin.feedback(decision.id, 0.5).unwrap();
        play(&mut device, &mut twin, &mut random, rounds / 2);
        compare(&mut device, &twin);

        // Forgetting: a new incarnation, and nothing of the old one.
        device.forget().unwrap();
        twin.user().forget().unwrap();
        play(&mut device, &mut twin, &mut random, 10);
        compare(&mut device, &twin);
        assert_eq!(device.greet().unwrap().incarnation, 1);
    });
}

/// Noise, half frames and foreign frames on the line change nothing, and the next request is answered.
#[test]
#[ignore = "needs the images that tests/qemu/run builds"]
fn garbage_on_the_wire() {
    each_board("garbage", |board, folder| {
        let running = board.start(folder).unwrap();
        let mut device = running.device().unwrap();
        let policy = policy(device.catalog().unwrap());
        let mut twin = twin(&policy, device.hello().user);
        let mut random = Random(7);
        for _ in 0..20 {
            play(&mut device, &mut twin, &mut random, 2);
            let mut port = device.into_port();
            let noise: Vec<u8> = (0..random.below(500)).map(|_| random.bits() as u8).collect();
            port.write_all(&noise).unwrap();
            device = Device::open(port).unwrap();
        }
        compare(&mut device, &twin);
    });
}

/// Panics and faults, at rest and in the middle of a request: the board says so, starts again from its flash, and goes on where
/// it was.
#[test]
#[ignore = "needs the images that tests/qemu/run builds"]
fn a_crash_is_a_reset() {
    each_board("crash", |board, folder| {
        let running = board.start(folder).unwrap();
        let mut device = running.device().unwrap();
        let policy = policy(device.catalog().unwrap());
        let mut twin = twin(&policy, device.hello().user);
        let mut random = Random(3);
        let crashes = [(Crash::Panic, false), (Crash::Panic, true), (Crash::Fault, true)];
        for (crash, busy) in crashes {
            play(&mut device, &mut twin, &mut random, 20);
            let (context, all) = (random.context(policy.catalog()), Feasible::all(policy.catalog()));
            let pause = std::time::Duration::from_micros(random.bits() % 5_000);
            if !busy {
                running.crash(crash).unwrap();
            }
            let decision = std::thread::scope(|scope| {
                if busy {
                    scope.spawn(|| {
                        std::thread::sleep(pause);
                        running.crash(crash).unwrap();
                    });
                }
                device.decide(&context, Some(&all), 0).unwrap()
            });
            // The client has sent the request again: it was decided again if the board crashed after storing it.
            let rounds = device.greet().unwrap().rounds;
            let decided = rounds - twin.state().rounds();
            assert!(decided == 1 || decided == 2 && busy, "{}: {decided} decisions", board.name);
            let twins = (0..decided).map(|_| twin.decide(&context, &all).unwrap()).last();
            assert_eq!(Some(decision), twins);
        }
        play(&mut device, &mut twin, &mut random, 20);
        compare(&mut device, &twin);
        let told = running.errors();
        let count = |what: &str| told.lines().filter(|line| line.contains(what)).count();
        assert_eq!((count(": panicked"), count("fault ")), (2, 1), "{told}");
        assert_eq!(running.log().matches(": ready").count(), 1 + crashes.len(), "{}", running.log());
    });
}

/// QEMU is killed at any moment, on boards whose flash is a file: what was acknowledged is there, and what was not is
/// there whole or not at all.
#[test]
#[ignore = "needs the images that tests/qemu/run builds"]
fn killed_at_random_moments() {
    let kills = std::env::var("FABLE_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(5);
    println!("{kills} kills for each board");
    each(BOARDS.into_iter().filter(|board| board.durable), "killed", |board, folder| {
        let mut running = board.start(folder).unwrap();
        let mut device = running.device().unwrap();
        let policy = policy(device.catalog().unwrap());
        let mut twin = twin(&policy, device.hello().user);
        let mut random = Random(99);
        for kill in 1..=kills {
            let rounds = u32::try_from(random.below(40)).unwrap() + 1;
            play(&mut device, &mut twin, &mut random, rounds);
            // A request is under way when the power fails.
            let (context, all) = (random.context(policy.catalog()), Feasible::all(policy.catalog()));
            let before = twin.state().rounds();
            let pause = std::time::Duration::from_micros(random.bits() % 20_000);
            let killer = std::thread::spawn(move || {
                std::thread::sleep(pause);
                drop(running);
            });
            let acknowledged = device.decide(&context, Some(&all), 0).is_ok();
            killer.join().unwrap();
            drop(device);
            running = board.start(folder).unwrap();
            device = running.device().unwrap();
            let rounds = device.hello().rounds;
            assert!(
                rounds == before + 1 || !acknowledged,
                "{}: an acknowledged decision is lost",
                board.name
            );
            if rounds > before {
                twin.decide(&context, &all).unwrap();
            } else if device.statistics().unwrap().store.events > 0 {
                // The changed permissions may have been stored without the decision after them.
                let mut user = twin.user();
                let mut command = Command::decide(Request::new(&context, &all));
                if let Some(step) = user.next(&mut command).unwrap() {
                    let mut buffer = [0; 260];
                    let stored = encode_event(step.event(), &mut buffer).unwrap();
                    if device.journal().unwrap().last().is_some_and(|last| last == stored) {
                        step.apply();
                    }
                }
            }
            // Counters after every kill. The next rounds compare every decision, so reading the whole state, which takes ten times as
            // long as those, is left to every tenth kill.
            let hello = device.greet().unwrap();
            assert_eq!(
                (hello.rounds, hello.observations),
                (twin.state().rounds(), twin.state().observations()),
                "{}",
                board.name
            );
            if kill % 10 == 0 || kill == kills {
                compare(&mut device, &twin);
            }
        }
        drop(running);
    });
}

/// A prior fitted to a few people who agree on some things, as `fable prior fit` writes it.
fn fitted(catalog: &'static Catalog<'static>, settings: Settings<'static>) -> Vec<u8> {
    let policy = Policy::<f64>::new(catalog, settings).unwrap();
    let mut random = Random(99);
    let mut people = vec![Evidence::default(); 6];
    for person in &mut people {
        for _ in 0..20 {
            let (context, action) =
                (random.context(catalog), Action(u16::try_from(random.below(catalog.actions())).unwrap()));
            let reward = if action.0 % 3 == 1 { 0.75 } else { -0.25 } + random.reward() / 8.0;
            person.reward(&policy, &Observation { context, action, baseline: 0.0, reward, weight: 1.0 });
        }
    }
    let options = Options { shrinkage: Some(50.0), steps: 2, ..Options::default() };
    fit(&policy, &people, &options).unwrap().snapshot(&policy, user_hash("")).unwrap()
}

/// A prior is loaded into its own place in flash. The user goes on as before; the one after forgetting begins from it and
/// decides as the host does with the same prior, through a power cut too; and what does not belong there is refused.
#[test]
#[ignore = "needs the images that tests/qemu/run builds"]
fn forgetting_goes_back_to_a_loaded_prior() {
    let with_prior = BOARDS.into_iter().filter(|board| matches!(board.name, "microbit" | "virt"));
    each(with_prior, "prior", |board, folder| {
        let mut running = board.start_with_prior(folder).unwrap();
        let mut device = running.device().unwrap();
        let catalog = device.catalog().unwrap();
        let base = policy(catalog);
        let (user, mut random) = (device.hello().user, Random(5));
        let mut before = twin(&base, user);
        play(&mut device, &mut before, &mut random, 20);

        let record =
            prior::record(catalog, Settings::default(), 24, &fitted(catalog, Settings::default())).unwrap();
        let other = Settings { noise_variance: 0.5, ..Settings::default() };
        let other = prior::record(catalog, other, 24, &fitted(catalog, other)).unwrap();
        let wide =
            prior::record(catalog, Settings::default(), 53, &fitted(catalog, Settings::default())).unwrap();
        let mut damaged = record.clone();
        damaged[record.len() / 2] ^= 1;
        for (bytes, code) in
            [(&record[..record.len() - 1], 1), (&damaged, 4), (&other, 7), (&wide[..record.len()], 6)]
        {
            let refused = device.load_prior(bytes);
            assert!(
                matches!(refused, Err(DeviceError::Refused(Fault::Record(found))) if found == code),
                "{code}: {refused:?}"
            );
        }
        assert!(device.prior(true).unwrap().is_empty());

        device.load_prior(&record).unwrap();
        assert_eq!((device.prior(false).unwrap(), device.prior(true).unwrap()), (vec![], record.clone()));
        play(&mut device, &mut before, &mut random, 20); // the user goes on with the prior it began from
        compare(&mut device, &before);

        assert_eq!(device.forget().unwrap(), 1);
        let packed = decode_prior(&base, &record).unwrap();
        let factor = Factor::new(catalog.layout(), &packed, &mut vec![0.0; catalog.workspace_len()]).unwrap();
        let informed =
            Policy::with_prior(catalog, *policy(catalog).settings(), Prior::Factor(factor)).unwrap();
        assert_eq!(device.hello().fingerprint, informed.fingerprint());
        assert_eq!(device.prior(false).unwrap(), record);
        let mut learner = HostLearner::for_policy(&informed);
        learner.start_journal_in(&informed, &Header::new(Kind::Journal, &informed, user, 8), 1).unwrap();
        let mut after = Twin::from_learner(&informed, learner).unwrap();
        play(&mut device, &mut after, &mut random, 50);
        compare(&mut device, &after);

        if board.durable {
            drop(running);
            running = board.start_with_prior(folder).unwrap();
        } else {
            running.reset().unwrap();
        }
        drop(device);
        let mut device = running.device().unwrap();
        play(&mut device, &mut after, &mut random, 50);
        compare(&mut device, &after);

        // Forgetting again begins from the same prior; once it is removed, from the base prior.
        device.forget().unwrap();
        after.user().forget().unwrap();
        play(&mut device, &mut after, &mut random, 10);
        device.remove_prior().unwrap();
        play(&mut device, &mut after, &mut random, 10);
        compare(&mut device, &after);
        assert_eq!(device.forget().unwrap(), 3);
        assert_eq!((device.hello().fingerprint, device.prior(false).unwrap()), (base.fingerprint(), vec![]));
        let mut learner = HostLearner::for_policy(&base);
        learner.start_journal_in(&base, &Header::new(Kind::Journal, &base, user, 8), 3).unwrap();
        let mut last = Twin::from_learner(&base, learner).unwrap();
        play(&mut device, &mut last, &mut random, 10);
        compare(&mut device, &last);
    });
}

/// A board that has no place for a prior says so, and goes on.
#[test]
#[ignore = "needs the images that tests/qemu/run builds"]
fn a_board_without_a_place_for_a_prior_refuses_it() {
    each(BOARDS.into_iter().filter(|board| board.name == "hifive1"), "no prior", |board, folder| {
        let running = board.start(folder).unwrap();
        let mut device = running.device().unwrap();
        let catalog = device.catalog().unwrap();
        let record =
            prior::record(catalog, Settings::default(), 24, &fitted(catalog, Settings::default())).unwrap();
        for refused in [device.load_prior(&record), device.remove_prior()] {
            assert!(
                matches!(refused, Err(DeviceError::Refused(Fault::Storage(StorageFault::Unsupported)))),
                "{refused:?}"
            );
        }
        assert!(device.prior(true).unwrap().is_empty());
        let policy = policy(catalog);
        let mut twin = twin(&policy, device.hello().user);
        play(&mut device, &mut twin, &mut Random(3), 10);
        compare(&mut device, &twin);
    });
}
