//! Client and device in one process, over a pipe: every request, 1,000 rounds bit for bit, noise on the line, snapshots up and
//! down, and the command as a person uses it.
#![cfg(unix)]

use crate::server;
use crate::wire::{Memory, Tau2, bytes, policy, scratch, started};
use fable_core::catalog::{AGENT, ContrastSet, Direction, TAU2};
use fable_core::explain::Source;
use fable_core::host::HostLearner;
use fable_core::journal::{Command as Order, Observation};
use fable_core::preference::{Comparison, Standing};
use fable_core::settings::{Deadline, Expiry};
use fable_core::{
    Action, Context, Exploration, Feasible, Policy, Request as Wanted, Settings, Statement, UserError,
};
use fable_std::device::{Device, DeviceError};
use fable_std::replay::ReplayError;
use fable_wire::{Fault, Reply, Request};
use std::io::{self, Read, Write};
use std::net::TcpListener;
use std::os::unix::net::UnixStream;
use std::process::{Command, Output};
use std::thread::{self, JoinHandle};
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

/// Starts a device with room for some events; at its end it gives back its learner.
fn device(settings: Settings<'static>, room: usize) -> (UnixStream, JoinHandle<Tau2>) {
    let (here, there) = UnixStream::pair().unwrap();
    here.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
    let thread = thread::spawn(move || {
        let policy = Policy::new(&TAU2, settings).unwrap();
        let (mut learner, mut workspace) = (started(&policy), scratch());
        let mut memory = Memory::new(&learner, room);
        let _ = server!(policy, learner, workspace, memory).serve(&mut Line(there)); // ends when the client does
        learner
    });
    (here, thread)
}

fn settings() -> Settings<'static> {
    Settings { seed: 11, ..Settings::default() }
}

fn nowhere() -> Context {
    Context::new(&TAU2, None, &[]).unwrap()
}

fn refused(result: Result<impl std::fmt::Debug, DeviceError>) -> Fault {
    match result {
        Err(DeviceError::Refused(fault)) => fault,
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_request_does_on_the_device_what_it_does_here() {
    every_request(Settings::DEFAULT, Source::Bonus);
    every_request(Settings::PAPER, Source::Draw);
}

#[expect(clippy::too_many_lines, reason = "one request after the other")]
fn every_request(settings: Settings<'static>, explored: Source) {
    // Promotes on thin evidence, so that there is a profile to look at.
    let settings = Settings {
        seed: 11,
        alpha: 0.5,
        prior_radius: Some(0.0),
        min_evidence: 1,
        deadline: Deadline::Time(10),
        expiry: Expiry::Nothing,
        ..settings
    };
    let policy = Policy::new(&TAU2, settings).unwrap();
    let (mut learner, mut workspace) = (started(&policy), scratch());
    let mut plain = learner.bind(&policy, &mut workspace).unwrap();
    let (port, thread) = device(settings, 1000);
    let mut device = Device::open(port).unwrap();

    let hello = *device.hello();
    assert_eq!(
        (hello.fingerprint, hello.guarantee_fingerprint, hello.user),
        (policy.fingerprint(), policy.guarantee_fingerprint(), 7)
    );
    assert_eq!(
        (hello.digits, hello.actions, hello.dimension, hello.contrasts, hello.ring),
        (24, 18, 29, 6, 8)
    );
    assert_eq!((device.name(), device.catalog().unwrap().fingerprint()), ("tau2", TAU2.fingerprint()));

    let direction = Direction::from_names(&TAU2, &[("style=concise", 1.0), ("style=guided", -1.0)]).unwrap();
    let statement = Statement { direction, response: 1.0, precision: 4.0 };
    assert_eq!(device.onboard(&statement).unwrap(), 0);
    plain.onboard(&statement).unwrap();

    // A changed set, then the same one again without naming it.
    let (context, feasible) = (nowhere(), Feasible::all(&TAU2).forbid(&TAU2, &[("tool", "verify")]).unwrap());
    for wanted in [Some(&feasible), None] {
        let here = plain.decide(&Wanted::new(&context, &feasible).at(5)).unwrap();
        assert_eq!(device.decide(&context, wanted, 5).unwrap(), here);
        let why = device.explain(here.id, None).unwrap();
        let expected = plain.explain(here.id, None, None).unwrap();
        assert_eq!(
            (why.chosen, why.other, why.explored),
            (expected.chosen, expected.other, expected.explored)
        );
        assert_eq!(f64::from(why.chosen_score), expected.chosen_score);
        for (share, expected) in why.shares.iter().zip(expected.shares()) {
            assert_eq!(
                (share.source(), f64::from(share.chosen)),
                (expected.source, f64::from(expected.chosen as f32))
            );
        }
        assert_eq!(
            (why.shares.len(), why.shares.last().unwrap().source()),
            (expected.shares().count(), explored)
        );
        let against = device.explain(here.id, Some(Action(3))).unwrap();
        assert_eq!((against.other, against.feasible), (Action(3), false));
        plain.run(&mut Order::feedback(here.id, 0.75)).unwrap();
        assert_eq!(device.feedback(here.id, 0.75, 1.0, 0).unwrap(), plain.state().observations());
    }

    for turn in 0..60_u16 {
        let (action, reward) = (Action(turn % 18), if turn % 3 == 1 { 0.9 } else { -0.6 });
        plain.run(&mut Order::observe(&context, action, reward)).unwrap();
        assert_eq!(device.observe(&context, action, reward, 1.0).unwrap(), plain.state().observations());
    }
    assert_eq!(device.promote(77).unwrap(), plain.promote(77).unwrap());
    let profile = device.profile().unwrap();
    assert!(profile.len() > 1, "{profile:?}");
    assert_eq!(profile.iter().map(|(promotion, _)| *promotion).collect::<Vec<_>>(), plain.profile());
    assert!(profile.iter().all(|(_, standing)| *standing == Standing::Holds));
    assert_eq!(device.promote(77).unwrap(), 0);

    for contrast in 0..6 {
        let comparison = Comparison::declared(&TAU2, contrast).unwrap();
        let here = plain.assess(&comparison).unwrap();
        assert_eq!(device.assess(u8::try_from(contrast).unwrap()).unwrap(), here);
        let total = Comparison { total: true, ..comparison };
        assert_eq!(device.compare(&total).unwrap(), plain.assess(&total).unwrap());
    }

    let baseline = f64::from(policy.baseline(&context, Action(1), None));
    let observation = Observation { context, action: Action(1), baseline, reward: 0.9, weight: 1.0 };
    plain.unlearn(observation).unwrap();
    assert_eq!(
        device.unlearn(&observation, false, 1.0, ContrastSet::EMPTY).unwrap(),
        plain.state().observations()
    );

    // What is best by what is known, in what was feasible last or in a set of its own, also with default scores; nothing is kept.
    let all = Feasible::all(&TAU2);
    let own: Vec<f32> = (0..18_u8).map(|action| f32::from(action % 5) / 4.0).collect();
    let doubled: Vec<f64> = own.iter().copied().map(f64::from).collect();
    let rounds = plain.state().rounds();
    for (wanted, set) in [(None, &feasible), (Some(&all), &all)] {
        for (given, defaults) in [(None, None), (Some(&own[..]), Some(&doubled[..]))] {
            let (action, score) =
                plain.recommend(&Wanted { context: &context, feasible: set, defaults, time: 0 }).unwrap();
            assert_eq!(device.recommend(&context, wanted, given).unwrap(), (action, f64::from(score)));
        }
    }
    assert_eq!(device.statistics().unwrap().rounds, rounds);
    let wanted = Wanted { context: &context, feasible: &all, defaults: Some(&doubled), time: 20 };
    let here = plain.decide(&wanted).unwrap();
    assert_eq!(device.decide_against(&context, Some(&all), Some(&own), 20).unwrap().0, here);
    assert_ne!(here.baseline, f64::from(policy.baseline(&context, here.action, None)));
    assert!(matches!(device.recommend(&context, None, Some(&own[1..])), Err(DeviceError::Refused(_))));

    let here = plain.decide(&Wanted::new(&context, &all).at(20)).unwrap();
    assert_eq!(device.decide(&context, Some(&all), 20).unwrap(), here);
    assert_eq!(device.expire(40).unwrap(), plain.expire(40).unwrap());
    assert_eq!(refused(device.feedback(here.id, 0.5, 1.0, 0)), Fault::from(UserError::ExpiredDecision));

    let counts = device.statistics().unwrap();
    assert_eq!((counts.rounds, counts.observations), (plain.state().rounds(), plain.state().observations()));
    assert_eq!((usize::from(counts.promotions), counts.waiting), (plain.profile().len(), 0));
    assert_eq!(counts.store.events as usize, device.journal().unwrap().len());

    assert_eq!(device.forget().unwrap(), 1);
    plain.forget().unwrap();
    assert_eq!((device.hello().incarnation, device.hello().rounds), (1, 0));
    assert!(device.journal().unwrap().is_empty() && device.profile().unwrap().is_empty());
    assert_eq!(device.snapshot().unwrap(), bytes(plain.snapshot()));
    assert_eq!(refused(device.feedback(here.id, 0.5, 1.0, 0)), Fault::from(UserError::UnknownDecision));
    let stranger = fable_core::DecisionId { user: 8, ..here.id };
    assert_eq!(refused(device.feedback(stranger, 0.5, 1.0, 0)), Fault::from(UserError::UnknownDecision));

    drop(device);
    assert_eq!(thread.join().unwrap(), learner);
}

#[test]
fn a_thousand_rounds_are_those_of_a_plain_learner_and_replay_here() {
    a_thousand_rounds(settings(), Settings { exploration: Exploration::Optimistic(0.5), ..settings() });
    let drawing = Settings { seed: 11, ..Settings::PAPER };
    a_thousand_rounds(drawing, Settings { seed: 12, ..drawing });
    let probing = Settings { seed: 11, alpha: 0.5, ..Settings::PROBING };
    a_thousand_rounds(probing, Settings { probe: 0.25, ..probing });
}

/// `explored_otherwise` are settings of the same policy that decide otherwise.
fn a_thousand_rounds(settings: Settings<'static>, explored_otherwise: Settings<'static>) {
    let policy = Policy::new(&TAU2, settings).unwrap();
    let (mut learner, mut workspace) = (started(&policy), scratch());
    let mut plain = learner.bind(&policy, &mut workspace).unwrap();
    let (port, thread) = device(settings, 300);
    let mut device = Device::open(port).unwrap();
    let all = Feasible::all(&TAU2);
    let (offline, brief) =
        (all.forbid(&TAU2, &[("tool", "verify")]), all.forbid(&TAU2, &[("style", "concise")]));
    let sets = [all, offline.unwrap(), brief.unwrap()];
    let mut round = 0;
    // On until the journal after the last snapshot is worth replaying.
    while round < 1_000 || device.statistics().unwrap().store.events <= 100 {
        round += 1;
        let feasible = &sets[(round / 7) as usize % 3];
        let here = plain.decide(&Wanted::new(&nowhere(), feasible).at(round)).unwrap();
        let (there, probes) = device.decide_and_tell(&nowhere(), Some(feasible), round).unwrap();
        assert!(
            probes.iter().copied().eq(plain.probe_outcomes(here.id)),
            "the coins, in the order of their contrasts"
        );
        assert_eq!(
            (there.id, there.action, there.baseline.to_bits()),
            (here.id, here.action, here.baseline.to_bits())
        );
        // A decision whose reward never comes leaves the device's ring of eight, and with it its coins.
        if round % 5 > 0 {
            let reward = f64::from((u32::from(here.action.0) * 37 + round) % 129) / 64.0 - 1.0;
            plain.run(&mut Order::feedback(here.id, reward)).unwrap();
            assert_eq!(device.feedback(there.id, reward, 1.0, 0).unwrap(), plain.state().observations());
        }
    }
    let tape = device.tape().unwrap();
    assert!(tape.events.len() > 100, "a journal worth replaying");
    let played = tape.replay(&TAU2, settings).unwrap();
    assert!(tape.agrees(&played) && played.decisions > 40, "{played:?}");
    for (index, here) in (0..).zip(&played.contrasts) {
        assert_eq!(device.assess(index).unwrap(), *here);
        assert_eq!(device.trial(index).unwrap(), played.trials[usize::from(index)]);
    }
    assert_eq!(played.trials.iter().any(|trial| trial.trials > 0), settings.probe > 0.0);
    // Who explores otherwise decides otherwise, other settings are another policy, and damage is found.
    let other = tape.replay(&TAU2, explored_otherwise).unwrap();
    assert!(!tape.agrees(&other) && !other.different.is_empty());
    assert!(tape.replay(&TAU2, Settings { noise_variance: 1.0, ..settings }).is_err());
    let mut torn = tape.clone();
    torn.events[50][3] ^= 1;
    assert!(matches!(torn.replay(&TAU2, settings), Err(ReplayError::Event { index: 50, .. })));
    torn.events.truncate(50);
    assert!(!torn.agrees(&torn.replay(&TAU2, settings).unwrap()));

    drop(device);
    assert_eq!(thread.join().unwrap(), learner);
}

#[test]
fn snapshots_go_down_to_a_file_and_up_to_another_device() {
    let (port, first) = device(settings(), 5);
    let mut old = Device::open(port).unwrap();
    for _ in 0..40 {
        let decision = old.decide(&nowhere(), None, 0).unwrap();
        old.feedback(decision.id, 0.5, 1.0, 0).unwrap();
    }
    let tape = old.tape().unwrap();
    assert!(tape.snapshot.len() > 2 * 256);

    let (port, second) = device(settings(), 5);
    let mut new = Device::open(port).unwrap();
    new.decide(&nowhere(), None, 0).unwrap();
    let rounds = new.restore(&tape.snapshot).unwrap();
    assert_eq!((new.hello().rounds, new.snapshot().unwrap()), (rounds, tape.snapshot.clone()));
    let mut damaged = tape.snapshot.clone();
    damaged[700] ^= 4;
    assert_eq!(refused(new.restore(&damaged)), Fault::from(fable_core::record::RecordError::Checksum));
    assert_eq!(new.hello().rounds, rounds);
    assert!(new.decide(&nowhere(), None, 0).is_ok());
    drop((old, new));
    let (old, new) = (first.join().unwrap(), second.join().unwrap());
    assert_eq!((old.state().rounds(), new.state().rounds()), (40, rounds + 1));
}

/// A line with a fault in every so many writes or frames that come back.
///
/// It knows when nothing will come, because the device answers whatever stands before a delimiter: silence takes no time, and a
/// slow machine is not taken for it.
struct Noisy<P> {
    port: P,
    writes: u32,
    reads: u32,
    /// Whether something was sent since the last delimiter.
    begun: bool,
    unanswered: u32,
}

impl<P: Write> Write for Noisy<P> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writes += 1;
        let mut bytes = bytes.to_vec();
        let (count, middle) = (bytes.len(), bytes.len() / 2);
        match self.writes % 7 {
            1 if count > 2 => bytes[middle] ^= 0x10,
            3 if count > 2 => drop(bytes.remove(middle)),
            5 => bytes.splice(0..0, *b"\xff\x01noise\0more").for_each(drop),
            _ => {}
        }
        for byte in &bytes {
            self.unanswered += u32::from(*byte == 0 && self.begun);
            self.begun = *byte != 0;
        }
        self.port.write_all(&bytes)?;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.port.flush()
    }
}

impl<P: Read> Read for Noisy<P> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.unanswered = self.unanswered.checked_sub(1).ok_or(io::ErrorKind::TimedOut)?;
        let mut count = 0;
        while count < 2 || bytes[count - 1] != 0 {
            self.port.read_exact(&mut bytes[count..=count])?;
            count += 1;
        }
        self.reads += 1;
        match self.reads % 11 {
            4 => bytes[count / 2] ^= 1,
            8 => {
                let lost = count / 2;
                bytes.copy_within(lost..count, 0);
                return Ok((count - lost).max(1));
            }
            _ => {}
        }
        Ok(count)
    }
}

#[test]
fn noise_on_the_line_loses_nothing_and_does_nothing_twice() {
    let policy = policy();
    let (mut learner, mut workspace) = (started(&policy), scratch());
    let mut plain = learner.bind(&policy, &mut workspace).unwrap();
    let (port, thread) = device(settings(), 1000);
    let mut device = Device::open(Noisy { port, writes: 0, reads: 0, begun: false, unanswered: 0 }).unwrap();
    for round in 0..120 {
        let here = plain.decide(&Wanted::new(&nowhere(), &Feasible::all(&TAU2))).unwrap();
        assert_eq!(device.decide(&nowhere(), None, 0).unwrap(), here, "round {round}");
        plain.run(&mut Order::feedback(here.id, 0.25)).unwrap();
        assert_eq!(device.feedback(here.id, 0.25, 1.0, 0).unwrap(), plain.state().observations());
    }
    let counts = device.statistics().unwrap();
    assert!(counts.refused > 20, "{counts:?}");
    drop(device);
    assert_eq!(thread.join().unwrap(), learner);
}

#[test]
fn nobody_and_strangers_are_told_apart() {
    let (here, there) = UnixStream::pair().unwrap();
    here.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
    assert!(matches!(Device::open(&here), Err(DeviceError::Silent)));
    // A command that another test is just starting may hold its end for a moment longer.
    here.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
    drop(there);
    assert!(matches!(Device::open(&here), Err(DeviceError::Port(_) | DeviceError::Closed)));

    let (here, mut there) = UnixStream::pair().unwrap();
    let stranger = thread::spawn(move || {
        let mut frame = Vec::new();
        let mut byte = [0];
        while there.read(&mut byte).unwrap() == 1 {
            match byte[0] {
                0 if frame.is_empty() => {}
                0 => break,
                byte => frame.push(byte),
            }
        }
        let frame = cobs::decode_vec(&frame).unwrap();
        // A device of the next version: the same frame with another first byte and a right checksum.
        let frame = |last: u8| {
            let body = [&[0x85], &frame[1..5], &[1, 9, last]].concat();
            let sum = !body.iter().fold(u32::MAX, |sum, byte| {
                (0..8).fold(sum ^ u32::from(*byte), |sum, _| {
                    if sum & 1 == 0 { sum >> 1 } else { sum >> 1 ^ 0xedb8_8320 }
                })
            });
            [&body[..], &sum.to_le_bytes()].concat()
        };
        let out = [&cobs::encode_vec(&frame(1))[..], &[0]].concat();
        there.write_all(&out).unwrap();
        let _ = there.read(&mut byte); // until the client leaves
    });
    let result = Device::open(here);
    assert!(matches!(result, Err(DeviceError::Version { found: 5 })), "{:?}", result.err());
    stranger.join().unwrap();
}

#[test]
fn any_catalog_can_be_served_in_either_scalar() {
    let (here, there) = UnixStream::pair().unwrap();
    let thread = thread::spawn(move || {
        let policy = Policy::new(&AGENT, settings()).unwrap();
        let (mut learner, mut workspace) =
            (HostLearner::<f64, 4>::for_policy(&policy), vec![0.0; AGENT.workspace_len()]);
        learner.start(&policy, 3).unwrap();
        let mut memory = Memory { snapshot: learner.to_bytes().unwrap(), room: 200, ..Memory::default() };
        let _ = server!(policy, learner, workspace, memory).serve(&mut Line(there));
    });
    let mut device = Device::open(here).unwrap();
    assert_eq!((device.hello().digits, device.catalog().unwrap().dimension()), (53, 254));
    let context = Context::new(&AGENT, AGENT.task("coding").ok(), &[0.1, 0.2, 0.7, 0.3]).unwrap();
    for _ in 0..50 {
        let decision = device.decide(&context, None, 0).unwrap();
        let why = device.explain(decision.id, None).unwrap();
        assert!(why.shares.len() > 12, "several frames: {}", why.shares.len());
        let sum: f64 = why.shares.iter().map(|share| f64::from(share.chosen)).sum();
        assert!((sum - f64::from(why.chosen_score)).abs() < 1e-5);
        device.feedback(decision.id, 0.5, 1.0, 0).unwrap();
    }
    let tape = device.tape().unwrap();
    assert!(tape.agrees(&tape.replay(&AGENT, settings()).unwrap()));
    drop(device);
    thread.join().unwrap();
}

#[test]
fn replies_that_fit_no_request_are_refused_by_the_client() {
    let (port, thread) = device(settings(), 10);
    let mut device = Device::open(port).unwrap();
    assert!(matches!(
        device.ask(&Request::Stage { offset: 0 }, &[0; 400]),
        Err(DeviceError::Refused(Fault::Oversized))
    ));
    assert!(matches!(device.ask(&Request::Hello, &[]), Ok((Reply::Hello(_), _))));
    assert_eq!(refused(device.ask(&Request::Hello, &[1])), Fault::Content);
    drop(device);
    thread.join().unwrap();
}

/// Runs the command against a device behind TCP that serves one connection after the other.
struct Board {
    address: String,
}

impl Board {
    fn start() -> Self {
        Self::with(settings())
    }

    fn with(settings: Settings<'static>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        thread::spawn(move || {
            let policy = Policy::new(&TAU2, settings).unwrap();
            let (mut learner, mut workspace) = (started(&policy), scratch());
            let mut memory = Memory::new(&learner, 100);
            let mut server = server!(policy, learner, workspace, memory);
            for stream in listener.incoming() {
                let _ = server.serve(&mut Line(stream.unwrap()));
            }
        });
        Self { address }
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fable"));
        command.args(["device", "--tcp", &self.address]).args(arguments).output().unwrap()
    }

    fn text(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    fn json(&self, arguments: &[&str]) -> serde_json::Value {
        serde_json::from_str(&self.text(&[arguments, &["--json"]].concat())).unwrap()
    }

    fn fails(&self, code: i32, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert_eq!((output.status.code(), output.stdout.is_empty()), (Some(code), true), "{arguments:?}");
        String::from_utf8(output.stderr).unwrap()
    }
}

#[test]
fn the_command_does_everything_a_person_needs() {
    let board = Board::start();
    let hello = board.json(&["hello"]);
    assert_eq!((hello["catalog"].as_str(), hello["settings"].as_str()), (Some("tau2"), Some("default")));
    assert!(board.text(&["hello"]).contains("catalog      tau2\n"));
    assert_eq!(
        board.json(&["onboard", "--prefer", "style=concise", "--over", "style=guided"])["accepted"],
        1
    );

    let decided = board.json(&["decide", "--forbid", "tool=verify", "--require", "memory=conversation"]);
    assert_eq!(decided["action"]["memory"], "conversation");
    assert_ne!(decided["action"]["tool"], "verify");
    let id = decided["decision"].as_str().unwrap();
    assert!(board.text(&["explain", id]).starts_with("chosen "));
    let against = "memory=current_turn*tool=verify*style=direct";
    assert_eq!(board.json(&["explain", id, "--against", against])["feasible"], false);
    assert_eq!(board.json(&["feedback", id, "-0.5"])["observations"], 1);
    assert_eq!(
        board.fails(3, &["feedback", id, "0.5"]),
        "fable: the device refuses: the decision has had its feedback\n"
    );
    assert!(board.text(&["decide", "--all"]).contains("instruction  "));

    let contrasts = board.json(&["contrast"]);
    assert_eq!(contrasts.as_object().unwrap().len(), 6);
    assert_eq!(board.json(&["contrast", "concise_over_guided"]), contrasts["concise_over_guided"]);
    let (prefer, over) =
        ("memory=current_turn*tool=standard*style=concise", "memory=current_turn*tool=standard*style=guided");
    let compared = board.json(&["contrast", "--prefer", prefer, "--over", over]);
    for (key, number) in compared.as_object().unwrap() {
        assert_eq!(contrasts["concise_over_guided"][key], *number, "{key}");
    }
    assert_eq!((compared.get("trials"), &contrasts["concise_over_guided"]["trials"]), (None, &0.into()));
    assert_eq!(board.text(&["profile", "--promote"]), "nothing is promoted\n");
    assert_eq!(board.json(&["stats"])["rounds"], 2);
    assert!(board.text(&["replay", "--seed", "11"]).contains("2 decisions and 6 contrasts are the same"));
    let other = board.fails(1, &["replay", "--nu", "8", "--seed", "11"]);
    assert!(other.contains("are the settings the device's, --seed, --probe and exploration too?"), "{other}");

    let directory = tempfile::tempdir().unwrap();
    let file = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    assert!(board.json(&["snapshot", "save", &file("state")])["bytes"].as_u64().unwrap() > 1900);
    assert_eq!(board.json(&["journal", &file("journal")])["events"], 6); // a statement, two sets, two decisions, a reward
    let fable =
        |arguments: &[&str]| Command::new(env!("CARGO_BIN_EXE_fable")).args(arguments).output().unwrap();
    let tape = [&file("state")[..], &file("journal")].map(str::to_owned);
    for file in &tape {
        let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(file).unwrap().permissions());
        assert_eq!(mode & 0o777, 0o600, "{file}"); // what a user likes is nobody else's business
    }
    let replayed = fable(&[
        "replay",
        "--snapshot",
        &tape[0],
        "--journal",
        &tape[1],
        "--catalog",
        "tau2",
        "--seed",
        "11",
    ]);
    let replayed = String::from_utf8(replayed.stdout).unwrap();
    assert_eq!(replayed, "6 events replayed: 2 of 2 decisions are the same, bit for bit\n");
    // A catalog that is told by a file.
    std::fs::write(file("tau2.toml"), fable(&["catalog", "show", "tau2", "--toml"]).stdout).unwrap();
    assert!(board.text(&["--catalog", &file("tau2.toml"), "decide", "--all"]).contains("instruction  "));
    assert!(board.fails(2, &["--catalog", "golf", "hello"]).contains("there is no catalog 'golf'"));

    assert_eq!(board.json(&["snapshot", "load", &file("state")])["rounds"], 0);
    std::fs::write(file("state"), b"no snapshot").unwrap();
    assert!(
        board
            .fails(3, &["snapshot", "load", &file("state")])
            .contains("the device refuses: the record ends too early")
    );
    assert!(board.fails(1, &["snapshot", "load", &file("nothing")]).contains("nothing: "));
    assert_eq!(board.json(&["forget", "--yes"])["incarnation"], 1);
}

/// A device that tosses coins: each is told, explained, and counted.
#[test]
fn the_command_tells_of_coins() {
    let board = Board::with(Settings { probe: 1.0, ..settings() });
    board.text(&["onboard", "--prefer", "style=concise", "--over", "style=guided"]);
    let (mut probed, mut coins) = (0, [0; 6]);
    for _ in 0..12 {
        let decided = board.json(&["decide"]);
        let id = decided["decision"].as_str().unwrap();
        if let Some(probes) = decided.get("probes") {
            let why = board.json(&["explain", id]);
            let told = probes.as_array().unwrap().iter().map(|probe| probe["contrast"].as_str().unwrap());
            for name in told {
                probed += 1;
                coins[TAU2.contrast(name).unwrap()] += 1;
                assert!(why["probed"].as_array().unwrap().contains(&name.into()), "{why}");
                assert!(board.text(&["explain", id]).contains(&format!("\na coin was tossed for {name}\n")));
            }
            assert_eq!(why["intended"].as_object().unwrap().len(), 3);
        }
        board.text(&["feedback", id, "0.25"]);
    }
    assert!(probed >= 4, "{probed}");
    let contrasts = board.json(&["contrast"]);
    for (contrast, coins) in TAU2.contrasts().iter().zip(coins) {
        assert_eq!(contrasts[contrast.name]["trials"], coins, "{}", contrast.name);
        assert_eq!(contrasts[contrast.name]["needed"], 480.0);
    }
    assert!(board.text(&["contrast"]).contains(" of 480 needed, on average "));
    assert!(
        (0..6).any(|_| board.text(&["decide"]).contains("\nprobe        trying it both ways, to be sure: "))
    );
}

#[test]
fn mistakes_are_told_in_a_sentence() {
    let board = Board::start();
    assert!(
        board
            .fails(2, &["decide", "--forbid", "tool=hammer"])
            .contains("'tool=hammer' is no COMPONENT=VALUE")
    );
    assert!(board.fails(2, &["decide", "--task", "coding"]).contains("the catalog has no such task"));
    assert!(board.fails(2, &["decide", "--signal", "risk"]).contains("'risk' is not NAME=NUMBER"));
    let nothing = board.fails(2, &["decide", "--forbid", "style=direct", "--require", "style=direct"]);
    assert!(nothing.contains("the constraints leave no feasible action"), "{nothing}");
    assert!(board.fails(2, &["contrast", "golf"]).contains("there is no contrast 'golf'"));
    assert!(board.fails(2, &["explain", "7-0-1"]).contains("a decision id is"));
    assert!(
        board
            .fails(2, &["onboard", "--prefer", "style=direct", "--when", "golf"])
            .contains("neither a task nor a signal")
    );
    assert!(board.fails(2, &["forget"]).contains("--yes"));
    assert!(board.fails(2, &["--timeout", "0", "hello"]).contains("a timeout must be"));
    assert!(
        board.fails(3, &["feedback", "0000000000000007-0-9", "0.5"]).contains("there is no such decision")
    );

    let fable =
        |arguments: &[&str]| Command::new(env!("CARGO_BIN_EXE_fable")).args(arguments).output().unwrap();
    let nobody = fable(&["device", "--tcp", "127.0.0.1:1", "hello"]);
    assert_eq!(nobody.status.code(), Some(1));
    let missing = fable(&["device", "--port", "/dev/no-such-port", "hello"]);
    assert_eq!(missing.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&missing.stderr).contains("/dev/no-such-port"));
    let file = fable(&["device", "--port", "/dev/null", "hello"]);
    assert_eq!(file.status.code(), Some(1));
    assert_eq!(fable(&["device", "hello"]).status.code(), Some(2));
    let help = String::from_utf8(fable(&["device", "--help"]).stdout).unwrap();
    assert!(help.contains("Exit codes: 0 done") && help.contains("Examples:"), "{help}");
}
