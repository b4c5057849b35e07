//! What boards log with defmt: decoded, it tells a person what happened, through resets and crashes.

use fable_core::{Context, Feasible};
use fable_qemu::{BOARDS, Board, Crash, Running};
use fable_std::device::Device;
use fable_std::device::port::tcp;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Those that `tests/qemu/run` has built with a log.
fn boards() -> impl Iterator<Item = Board> {
    BOARDS.into_iter().filter(|board| ["netduino", "mps2", "virt"].contains(&board.name))
}

/// One round over a port.
fn round<P: Read + Write>(device: &mut Device<P>) {
    let catalog = device.catalog().unwrap();
    let context = Context::new(catalog, Some(0), &vec![0.5; catalog.definition().signals.len()]).unwrap();
    let decision = device.decide(&context, Some(&Feasible::all(catalog)), 0).unwrap();
    device.feedback(decision.id, 0.5, 1.0, 0).unwrap();
}

/// Each of these begins a line, in this order; others may stand between them. Whatever is logged can be read.
#[track_caller]
fn has(lines: &[String], expected: &[String]) {
    assert!(!lines.iter().any(|line| line == "?"), "{lines:#?}");
    let mut rest = lines.iter();
    for line in expected {
        assert!(rest.any(|found| found.starts_with(line)), "{line} is missing in {lines:#?}");
    }
}

/// The lines of a start that finds this state.
fn start(board: &Board, user: u64, generation: u32, events: u32, rounds: u32) -> [String; 5] {
    [
        format!("INFO  {} starts, catalog agent: 180 actions, d = 254", board.name),
        "INFO  store: ".to_owned(),
        format!(
            "INFO  Restored {{ user: {user}, generation: {generation}, events: {events}, repaired: false, torn: false, rolled_back: false }}"
        ),
        format!("INFO  learner of {user:016x}-0: {rounds} rounds, {rounds} observations, 0 promotions"),
        format!("INFO  {}: ready", board.name),
    ]
}

/// Boots a new store, learns, hears noise, is reset, learns, panics: each start tells what it found, and a panic, which speaks
/// plain text on another channel, does not garble the log.
#[test]
#[ignore = "needs the images that tests/qemu/run builds"]
fn a_life_in_lines() {
    for board in boards() {
        let folder = board.folder("log").unwrap();
        let running = board.start_logging(&folder).unwrap();
        let mut device = running.device().unwrap();
        let user = device.hello().user;
        let mut expected = start(&board, user, 0, 0, 0).to_vec();
        expected.insert(2, "WARN  not restored: Unformatted".to_owned());
        expected.insert(4, "DEBUG snapshot 1 of ".to_owned());

        (0..3).for_each(|_| round(&mut device));
        let mut port = device.into_port();
        port.write_all(b"\0no frame at all\0").unwrap();
        device = Device::open(port).unwrap();
        let refused = device.statistics().unwrap().refused;
        assert!(refused > 0, "{}: nothing was refused", board.name);
        running.reset().unwrap();
        drop(device);
        device = running.device().unwrap();
        expected.extend(start(&board, user, 1, 8, 3)); // the place, the permissions, three decisions, three rewards

        round(&mut device);
        running.crash(Crash::Panic).unwrap();
        round(&mut device); // wakes it, and finds it again
        expected.extend(start(&board, user, 1, 10, 4));
        has(&running.logged().unwrap(), &expected);
        assert!(running.errors().contains("panicked"), "{}", running.errors());
        drop(running);
        std::fs::remove_dir_all(folder).unwrap();
    }
}

/// Somebody else's data where the store should be: the log says why the board stops, and the data stays.
#[test]
#[ignore = "needs the images that tests/qemu/run builds"]
fn a_board_that_stops_says_why() {
    let board = boards().next().unwrap();
    let folder = board.folder("stop").unwrap();
    let foreign = vec![0x55; 768 << 10];
    std::fs::write(folder.join("netduino.flash"), &foreign).unwrap();
    let mut running: Running = board.start_logging(&folder).unwrap();
    assert_eq!(running.ended().unwrap(), 2);
    let why = [
        "WARN  not restored: Foreign",
        "ERROR stopped: the store holds something else and has to be formatted",
    ];
    has(&running.logged().unwrap(), &why.map(str::to_owned));
    assert!(std::fs::read(folder.join("netduino.flash")).unwrap() == foreign);
    std::fs::remove_dir_all(folder).unwrap();
}

/// `examples/firmware/run` shows lines and is reached over TCP.
#[test]
#[ignore = "needs the images that tests/qemu/run builds"]
fn the_runner_shows_lines() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/firmware/run");
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut run = Command::new(script)
        .args(["mps2", &port.port().to_string()])
        .process_group(0)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(run.stdout.take().unwrap()).lines().map(Result::unwrap);
    let ready = lines.by_ref().find(|line| line == "INFO  mps2: ready");
    let started = Instant::now();
    let device = loop {
        match tcp(&port.to_string(), Duration::from_secs(2)).map(Device::open) {
            Ok(Ok(device)) => break Some(device),
            _ if started.elapsed() > Duration::from_secs(20) => break None,
            _ => {}
        }
    };
    // The script and all it has started.
    Command::new("kill").args(["--", &format!("-{}", run.id())]).status().unwrap();
    run.wait().unwrap();
    assert!(ready.is_some(), "it did not come up");
    assert_eq!(device.map(|device| device.name().to_owned()).as_deref(), Some("agent"));
}
