//! The line to a device: deadlines whatever the port sends, keys, resets in the middle of a request, and catalogs that only have
//! the same name.
#![cfg(unix)]

use crate::server;
use crate::wire::{Memory, nowhere, policy, scratch, started};
use fable_core::catalog::{Block, Catalog, Component, Definition, TAU2, Value};
use fable_core::host::HostLearner;
use fable_core::{Policy, Settings};
use fable_embedded::{Device as Board, Server};
use fable_std::device::{Device, DeviceError, Key};
use fable_wire::{Draft, Fault, MAX_FRAME, Reply};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use std::fs::{File, Permissions};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::process::{Command, Output};
use std::sync::mpsc::{Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

const KEY: [u8; 16] = *b"what both have..";

fn fable(arguments: &[&str]) -> (Output, Duration) {
    let started = Instant::now();
    (
        Command::new(env!("CARGO_BIN_EXE_fable")).arg("device").args(arguments).output().unwrap(),
        started.elapsed(),
    )
}

/// A request ends at its deadline of a second; the rest is for starting the program on a busy machine.
fn ends_in_time(arguments: &[&str], what: &str) {
    let (output, took) = fable(&[arguments, &["--timeout", "1", "hello"]].concat());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{what}: {said}");
    // A terminal that nobody reads from is full of what it has echoed, and takes no more.
    let late = said.contains("does not answer in time")
        || (arguments[0] == "--port" && said.contains("takes no bytes"));
    assert!(late, "{what}: {said}");
    assert!(took > Duration::from_millis(900) && took < Duration::from_secs(8), "{what}: {took:?}");
}

/// What a port sends that is not an answer, without end.
type Babble = fn(&mut dyn Write) -> io::Result<()>;

fn noise(out: &mut dyn Write) -> io::Result<()> {
    out.write_all(&[7; 400])
}

fn zeros(out: &mut dyn Write) -> io::Result<()> {
    out.write_all(&[0; 400])
}

fn frames(out: &mut dyn Write) -> io::Result<()> {
    out.write_all(Draft::reply(&mut [0; MAX_FRAME], 12_345, &Reply::Done { count: 1 }).seal())
}

fn drops(out: &mut dyn Write) -> io::Result<()> {
    thread::sleep(Duration::from_millis(300));
    out.write_all(&[1])
}

fn nothing(out: &mut dyn Write) -> io::Result<()> {
    thread::sleep(Duration::from_millis(300));
    out.flush()
}

const BABBLE: [(&str, Babble); 5] = [
    ("noise", noise),
    ("zeros", zeros),
    ("frames of others", frames),
    ("a byte now and then", drops),
    ("nothing", nothing),
];

#[test]
fn a_request_ends_at_its_deadline_whatever_a_connection_sends() {
    for (what, babble) in BABBLE {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let talking = thread::spawn(move || {
            let mut stream: TcpStream = listener.accept().unwrap().0;
            while babble(&mut stream).is_ok() && !is_closed(&mut stream) {}
        });
        ends_in_time(&["--tcp", &address], what);
        talking.join().unwrap();
    }
}

fn is_closed(stream: &mut TcpStream) -> bool {
    stream.set_read_timeout(Some(Duration::from_millis(1))).unwrap();
    matches!(stream.read(&mut [0; 512]), Ok(0))
}

#[test]
fn a_request_ends_at_its_deadline_whatever_a_serial_port_sends() {
    for (what, babble) in BABBLE {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let path = ptsname(&master, vec![]).unwrap().into_string().unwrap();
        let mut port = File::from(master);
        let (end, ended) = channel::<()>();
        let talking = thread::spawn(move || {
            // Nobody reads: a port that is full takes no more, and this thread waits with the process.
            while ended.try_recv().is_err() && babble(&mut port).is_ok() {}
        });
        ends_in_time(&["--port", &path], what);
        drop::<Sender<()>>(end);
        drop(talking);
    }
}

/// A port that takes nothing, or a little.
struct Stuck(usize);

impl Read for Stuck {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        thread::sleep(Duration::from_millis(5));
        Err(ErrorKind::Interrupted.into())
    }
}

impl Write for Stuck {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        thread::sleep(Duration::from_millis(5));
        let count = self.0.min(bytes.len());
        self.0 -= count;
        if count == 0 { Err(ErrorKind::Interrupted.into()) } else { Ok(count) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_port_that_takes_no_bytes_is_given_up() {
    for room in [0, 1, 5] {
        let started = Instant::now();
        let opened = Device::open_with(Stuck(room), Duration::from_millis(300), None);
        assert!(matches!(opened, Err(DeviceError::Stuck)), "{:?}", opened.err());
        assert!(started.elapsed() < Duration::from_secs(5));
    }
    let silent = Device::open_with(Stuck(1_000), Duration::from_millis(300), Some(Key::new(KEY)));
    assert!(matches!(silent, Err(DeviceError::Silent)));
}

/// A device that is reset after each so many answers, before the last of them is sent; 0 for never.
fn resetting(key: Option<[u8; 16]>, every: u32) -> (UnixStream, JoinHandle<(u32, u32)>) {
    let (here, mut there) = UnixStream::pair().unwrap();
    here.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
    let thread = thread::spawn(move || {
        let policy = policy();
        let (mut learner, mut workspace) = (started(&policy), scratch());
        let mut memory = Memory::new(&learner, 50);
        let (mut resets, mut answers, mut open) = (0, 0, true);
        while open {
            let device = Board::new(learner.bind(&policy, &mut workspace).unwrap(), &mut memory);
            let mut server = match key {
                Some(key) => Server::keyed(device, Key::new(key), resets.into()),
                None => Server::new(device),
            };
            loop {
                let mut byte = [0];
                if !matches!(there.read(&mut byte), Ok(1)) {
                    open = false;
                    break;
                }
                let reply = server.push(byte[0]).to_vec();
                if reply.is_empty() {
                    continue;
                }
                answers += 1;
                if every > 0 && answers % every == 0 {
                    resets += 1;
                    break;
                }
                if there.write_all(&reply).is_err() {
                    open = false;
                    break;
                }
            }
        }
        (resets, learner.state().observations())
    });
    (here, thread)
}

#[test]
fn resets_in_the_middle_of_requests_lose_nothing_and_repeat_nothing() {
    for key in [None, Some(KEY)] {
        let (port, thread) = resetting(key, 7);
        let mut device = Device::open_with(port, Duration::from_mins(1), key.map(Key::new)).unwrap();
        for round in 1..=30 {
            let decision = device.decide(&nowhere(), None, 0).unwrap();
            assert_eq!(decision.id.round, round);
            assert_eq!(device.feedback(decision.id, 0.25, 1.0, 0).unwrap(), round);
        }
        assert_eq!((device.greet().unwrap().rounds, device.hello().observations), (30, 30));
        drop(device);
        let (resets, observations) = thread.join().unwrap();
        assert!(resets > 5 && observations == 30, "{resets} {observations}");
    }
}

#[test]
fn keys_that_differ_are_told_apart() {
    let open = |here: Option<[u8; 16]>, there: Option<[u8; 16]>| {
        let (port, thread) = resetting(there, 0);
        let opened = Device::open_with(port, Duration::from_secs(30), here.map(Key::new)).map(drop);
        thread.join().unwrap();
        opened
    };
    open(None, None).unwrap();
    open(Some(KEY), Some(KEY)).unwrap();
    assert!(matches!(open(None, Some(KEY)), Err(DeviceError::Refused(Fault::Locked))));
    assert!(matches!(open(Some(KEY), None), Err(DeviceError::Refused(Fault::Keyless))));
    assert!(matches!(open(Some([1; 16]), Some(KEY)), Err(DeviceError::Key)));
    let told = open(None, Some(KEY)).unwrap_err().to_string();
    assert!(told.contains("--key-file"), "{told}");
}

#[test]
fn a_key_comes_from_a_file_that_nobody_else_can_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("key");
    let file = path.to_str().unwrap();
    let run = |content: &str, mode: u32| {
        std::fs::write(&path, content).unwrap();
        std::fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let (mut there, thread) = resetting(Some(KEY), 0);
        there.set_read_timeout(None).unwrap();
        let copying = thread::spawn(move || {
            let mut near = listener.accept().unwrap().0;
            let (mut from, mut to) = (near.try_clone().unwrap(), there.try_clone().unwrap());
            let out = thread::spawn(move || {
                let _ = io::copy(&mut from, &mut to);
                let _ = to.shutdown(std::net::Shutdown::Both);
            });
            let _ = io::copy(&mut there, &mut near);
            out.join().unwrap();
        });
        let output = fable(&["--tcp", &address, "--key-file", file, "--timeout", "20", "hello"]).0;
        copying.join().unwrap();
        thread.join().unwrap();
        (output.status.code(), String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned())
    };
    let hex = KEY.map(|byte| format!("{byte:02x}")).concat();
    let (code, said) = run(&format!("{hex}\n"), 0o600);
    assert!(code == Some(0) && said.contains("tau2"), "{said}");
    for (content, mode, why) in [
        (hex.as_str(), 0o644, "chmod 600"),
        (&hex[1..], 0o600, "32 hexadecimal digits"),
        ("the key is of another kind, so it is", 0o600, "32 hexadecimal digits"),
    ] {
        let (code, said) = run(content, mode);
        assert!(code == Some(2) && said.contains(why) && !said.contains(content), "{said}");
    }
    let (code, said) = run("00112233445566778899aabbccddeeff", 0o600);
    assert!(code == Some(1) && said.contains("another key"), "{said}");
}

/// The name of a catalog that ships, and nothing else of it.
static OTHER: Catalog<'static> = Catalog::new(Definition {
    name: "tau2",
    components: &[Component::new("a", &[Value::new("0", "", 0.0), Value::new("1", "", 0.1)])],
    blocks: &[Block::main(0)],
    ..Definition::EMPTY
});

#[test]
fn a_catalog_of_the_same_name_is_not_the_same() {
    let (here, there) = UnixStream::pair().unwrap();
    let thread = thread::spawn(move || {
        let policy = Policy::<f32>::new(&OTHER, Settings::default()).unwrap();
        let (mut learner, mut workspace) =
            (HostLearner::<f32, 4>::for_policy(&policy), vec![0.0; OTHER.workspace_len()]);
        learner.start(&policy, 3).unwrap();
        let mut memory = Memory { snapshot: learner.to_bytes().unwrap(), room: 200, ..Memory::default() };
        let mut server = server!(policy, learner, workspace, memory);
        let mut there = there;
        let mut byte = [0];
        while let Ok(1) = there.read(&mut byte) {
            if there.write_all(server.push(byte[0])).is_err() {
                break;
            }
        }
    });
    let mut device = Device::open(here).unwrap();
    let told = device.catalog().unwrap_err();
    assert!(matches!(&told, DeviceError::OtherCatalog(name) if name == "tau2"), "{told}");
    assert!(told.to_string().contains("other content"), "{told}");
    device.describe(&TAU2);
    assert!(matches!(device.catalog(), Err(DeviceError::OtherCatalog(_))));
    device.describe(&OTHER);
    assert_eq!(device.catalog().unwrap().fingerprint(), OTHER.fingerprint());
    drop(device);
    thread.join().unwrap();
}
