//! A durable store outside of the crate, that of the example `file_store`: every acknowledged event is there
//! after a kill.

use fable_core::catalog::TAU2;
use fable_core::host::HostLearner;
use fable_core::journal::{Command, Event};
use fable_core::{Feasible, Policy, Request, Scalar, Settings, User};
use fable_embedded::{Device, UserStore};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

#[path = "../../examples/file_store.rs"]
#[allow(dead_code, reason = "its main function is not called")]
mod example;

use example::{Error, FileStore};

const USER: u64 = 7;
/// Environment variable with the path for the process that is killed.
const PATH: &str = "FABLE_FILE_STORE";
/// Rounds of a whole life; the store compacts every 100 events.
const ROUNDS: u32 = 160;
/// The round before which the user is forgotten.
const FORGET: u32 = 70;

fn policy() -> Policy<'static, f32> {
    Policy::new(&TAU2, Settings { seed: 5, ..Settings::default() }).unwrap()
}

fn scratch() -> Vec<f32> {
    vec![0.0; TAU2.workspace_len()]
}

/// A store that reports each event after it was stored.
struct Reporting<S, F>(S, F);

impl<S: UserStore, F: FnMut()> UserStore for Reporting<S, F> {
    type Error = S::Error;

    fn append(&mut self, event: &Event) -> Result<bool, S::Error> {
        let stored = self.0.append(event)?;
        if stored {
            (self.1)();
        }
        Ok(stored)
    }

    fn ensure_capacity<T: Scalar>(&mut self, user: &User<'_, T>) -> Result<(), S::Error> {
        self.0.ensure_capacity(user)
    }

    fn forget<T: Scalar>(&mut self, user: &User<'_, T>) -> Result<(), S::Error> {
        self.0.forget(user)
    }
}

/// One round: a decision and its reward. Forgets the user once.
fn live<S: UserStore>(device: &mut Device<'_, f32, S>, round: u32) -> Result<(), S::Error> {
    let (context, all) = (TAU2.context(None, []).unwrap(), Feasible::all(&TAU2));
    if round == FORGET {
        device.forget()?;
    }
    let decision = device.decide(&Request::new(&context, &all).at(round))?;
    device.feedback(decision.id, f64::from(round % 5) / 2.0 - 1.0)
}

/// The states of a life, before the first event and after each event.
fn states() -> Vec<Vec<u8>> {
    let (policy, mut learner, mut workspace) =
        (policy(), HostLearner::<f32>::for_policy(&policy()), scratch());
    learner.start(&policy, USER).unwrap();
    let mut states = vec![learner.to_bytes().unwrap()];
    let (context, all) = (TAU2.context(None, []).unwrap(), Feasible::all(&TAU2));
    for round in 0..ROUNDS {
        let mut id = None;
        for step in 0..3 {
            let mut command = match (step, id) {
                (0, _) if round == FORGET => Command::forget(),
                (1, _) => Command::decide(Request::new(&context, &all).at(round)),
                (2, Some(id)) => Command::feedback(id, f64::from(round % 5) / 2.0 - 1.0),
                _ => continue,
            };
            loop {
                let mut user = learner.bind(&policy, &mut workspace).unwrap();
                let Some(step) = user.next(&mut command).unwrap() else {
                    id = command.decision(&user).map(|decision| decision.id);
                    break;
                };
                step.apply();
                states.push(learner.to_bytes().unwrap());
            }
        }
    }
    states
}

/// Opens the store and returns the state.
fn reopen(path: &Path) -> Result<Vec<u8>, Error> {
    let (policy, mut learner, mut workspace) =
        (policy(), HostLearner::<f32>::for_policy(&policy()), scratch());
    learner.start(&policy, USER)?;
    FileStore::open(path, &mut learner.bind(&policy, &mut workspace)?)?;
    Ok(learner.to_bytes()?)
}

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("fable-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// The process that is killed. As a test of its own it does nothing.
#[test]
fn a_process_for_kills() {
    let Ok(path) = std::env::var(PATH) else { return };
    let (policy, mut workspace) = (policy(), scratch());
    let mut learner = HostLearner::<f32>::for_policy(&policy);
    learner.start(&policy, USER).unwrap();
    let mut user = learner.bind(&policy, &mut workspace).unwrap();
    let store = FileStore::open(Path::new(&path), &mut user).unwrap();
    let mut store = Reporting(store, || println!("\nstored"));
    let mut device = Device::new(user, &mut store);
    for round in 0..ROUNDS {
        live(&mut device, round).unwrap();
    }
}

fn start(path: &Path) -> Child {
    std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "file_store::a_process_for_kills", "--nocapture", "--test-threads=1"])
        .env(PATH, path)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// After a kill the state has every reported event and at most one more, also around compactions and
/// forgetting.
#[test]
fn every_acknowledged_event_is_there_after_a_kill() {
    let (states, folder) = (states(), folder("kill"));
    for kill in 0..16 {
        let path = folder.join(format!("{kill}.user"));
        let mut child = start(&path);
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let wanted = 1 + kill * (states.len() - 2) / 15;
        let mut reported = 0;
        for line in lines {
            reported += usize::from(line.unwrap() == "stored");
            if reported == wanted {
                child.kill().unwrap(); // the rest of its output is read
            }
        }
        child.wait().unwrap();
        assert!(reported >= wanted, "kill {kill}: {reported} of {wanted}");
        let found = reopen(&path).unwrap();
        let near = &states[reported..states.len().min(reported + 2)];
        assert!(near.contains(&found), "kill {kill} after {reported} events");
        assert_eq!(reopen(&path).unwrap(), found, "a restart changes nothing");
    }
    std::fs::remove_dir_all(folder).unwrap();
}

/// A write that was cut at any byte leaves the events before it.
#[test]
fn a_torn_event_is_cut_off() {
    let (states, folder) = (states(), folder("torn"));
    let path = folder.join("ana.user");
    let (policy, mut learner, mut workspace) =
        (policy(), HostLearner::<f32>::for_policy(&policy()), scratch());
    learner.start(&policy, USER).unwrap();
    let mut user = learner.bind(&policy, &mut workspace).unwrap();
    let store = FileStore::open(&path, &mut user).unwrap();
    let (mut ends, file) = (vec![std::fs::metadata(&path).unwrap().len()], path.clone());
    let mut store = Reporting(store, || ends.push(std::fs::metadata(&file).unwrap().len()));
    let mut device = Device::new(user, &mut store);
    for round in 0..20 {
        live(&mut device, round).unwrap();
    }
    drop(store);
    let whole = std::fs::read(&path).unwrap();
    for end in usize::try_from(ends[0]).unwrap()..=whole.len() {
        std::fs::write(&path, &whole[..end]).unwrap();
        let events = ends.iter().filter(|other| **other <= end as u64).count() - 1;
        assert_eq!(reopen(&path).unwrap(), states[events], "{end} bytes");
    }
    // A changed byte in the middle is damage, and no acknowledged event is dropped silently.
    let mut damaged = whole.clone();
    damaged[usize::try_from(ends[3]).unwrap() + 4] ^= 1;
    std::fs::write(&path, &damaged).unwrap();
    assert!(reopen(&path).is_err());
    std::fs::remove_dir_all(folder).unwrap();
}
