//! From journals to a prior and on to a device, in the library and as a person does it.
#![cfg(unix)]

use crate::server;
use crate::wire::{Memory, Tau2, bytes as snapshot, scratch, started};
use fable_core::catalog::TAU2;
use fable_core::posterior::Prior;
use fable_core::{DecisionId, Policy, Settings, Workspace, user_hash};
use fable_std::device::{Device, DeviceError};
use fable_std::prior::{Evidence, Options, fit};
use fable_std::prior_file::{informed, read};
use fable_std::serve::{Options as Service, serve, user_bytes};
use fable_std::store::{Desk, FileStore, Policies, Reach, Resident};
use std::fmt::Write as _;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Output};
use std::thread;
use std::time::Duration;

const ACTION: &str = r#"{"memory":"conversation","tool":"verify","style":"concise"}"#;

/// Lines of a service: users state something, are served, and take things back.
fn lines(users: u32) -> String {
    let mut lines = String::new();
    for user in 0..users {
        let name = format!("user{user}");
        let id = |round| DecisionId { user: user_hash(&name), incarnation: 0, site: 0, round };
        let _ = writeln!(
            lines,
            r#"{{"op":"onboard","user":"{name}","statements":[{{"prefer":{{"style":"concise"}},"response":1.0,"precision":2.0}}]}}"#
        );
        for round in 1..=8 {
            let reward = f64::from((user * 7 + round * 3) % 9) / 9.0 - 0.3;
            let _ = writeln!(lines, r#"{{"op":"decide","user":"{name}","context":{{}}}}"#);
            let _ = writeln!(lines, r#"{{"op":"feedback","decision":"{}","reward":{reward}}}"#, id(round));
        }
        let _ = writeln!(
            lines,
            r#"{{"op":"observe","user":"{name}","context":{{}},"action":{ACTION},"reward":0.8}}"#
        );
        let _ = writeln!(lines, r#"{{"op":"unlearn","decision":"{}"}}"#, id(3));
        let _ = writeln!(lines, r#"{{"op":"decide","user":"{name}","context":{{}}}}"#);
    }
    lines
}

fn store(path: &Path, settings: Settings<'static>, users: u32) {
    let options =
        Service { store: Some(path.to_owned()), cache: 4 * user_bytes::<f32>(&TAU2), ..Service::default() };
    let mut answers = Vec::new();
    serve::<f32>(&TAU2, settings, &options, std::io::Cursor::new(lines(users)), &mut answers, |_| ())
        .unwrap();
    let answers = String::from_utf8(answers).unwrap();
    assert!(!answers.contains("error"), "{answers}");
}

/// What is read from a journal is what the learner has learned: under its own prior it gives the learner's posterior.
#[test]
fn evidence_of_a_journal_is_what_was_learned() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("users.fable");
    store(&path, Settings::default(), 3);
    let store = FileStore::open_any(&path).unwrap();
    let policy = Policy::<f64>::new(&TAU2, Settings::default()).unwrap();
    let single = Policies::from(Policy::<f32>::new(&TAU2, Settings::default()).unwrap());
    let users = Evidence::of_store(&policy, &store).unwrap();
    let hashes = store.everyone();
    assert_eq!((users.len(), hashes.len()), (3, 3));
    for (evidence, hash) in users.iter().zip(hashes) {
        assert_eq!(evidence.sightings().len(), 1 + 8 + 1 - 1);
        let stored = store.user(hash, Reach::Whole).unwrap().unwrap();
        let mut desk = Desk::new(&single);
        let mut resident = Resident::revive(&mut desk, &stored, None).unwrap();
        let mut user = resident.user(&mut desk).unwrap();
        let (learned, workspace) = user.posterior_and_scratch();
        let mut posterior =
            fable_core::posterior::Posterior::<f64, _>::from_storage(vec![0.0; TAU2.layout().packed_len()]);
        let mut scratch = Workspace::from_storage(vec![0.0; TAU2.workspace_len()]);
        posterior.start(TAU2.layout(), &Prior::Isotropic, policy.base_precision()).unwrap();
        for sighting in evidence.sightings() {
            posterior
                .update(
                    &mut scratch,
                    sighting.direction.iter().copied(),
                    sighting.response,
                    sighting.variance,
                )
                .unwrap();
        }
        for coordinate in 0..TAU2.dimension() {
            let own = learned.contrast(workspace, [(coordinate, 1.0)]).unwrap();
            let here = posterior.contrast(&mut scratch, [(coordinate, 1.0)]).unwrap();
            assert!((f64::from(own.mean) - here.mean).abs() < 1e-5, "{coordinate}");
            assert!((f64::from(own.variance) - here.variance).abs() < 1e-5, "{coordinate}");
        }
    }
}

/// A device's end of a line.
struct Line(UnixStream);

impl embedded_io::ErrorType for Line {
    type Error = embedded_io::ErrorKind;
}

impl embedded_io::Read for Line {
    fn read(&mut self, bytes: &mut [u8]) -> Result<usize, embedded_io::ErrorKind> {
        self.0.read(bytes).map_err(|_| embedded_io::ErrorKind::Other)
    }
}

impl embedded_io::Write for Line {
    fn write(&mut self, bytes: &[u8]) -> Result<usize, embedded_io::ErrorKind> {
        self.0.write(bytes).map_err(|_| embedded_io::ErrorKind::Other)
    }

    fn flush(&mut self) -> Result<(), embedded_io::ErrorKind> {
        self.0.flush().map_err(|_| embedded_io::ErrorKind::Other)
    }
}

/// Loads a snapshot into a device over its protocol, decides there, and gives the device's learner back.
fn on_device(bytes: &[u8]) -> (Result<u32, DeviceError>, Tau2) {
    let (here, there) = UnixStream::pair().unwrap();
    here.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
    let device = thread::spawn(move || {
        let policy = Policy::new(&TAU2, Settings::default()).unwrap();
        let (mut learner, mut workspace) = (started(&policy), scratch());
        let mut memory = Memory::new(&learner, 100);
        let _ = server!(policy, learner, workspace, memory).serve(&mut Line(there)); // ends when the client does
        learner
    });
    let mut client = Device::open(here).unwrap();
    let loaded = client.restore(bytes);
    drop(client);
    (loaded, device.join().unwrap())
}

#[test]
fn a_fitted_prior_goes_to_a_host_and_to_a_device() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("users.fable");
    store(&path, Settings::default(), 7);
    let policy = Policy::<f64>::new(&TAU2, Settings::default()).unwrap();
    let users = Evidence::of_store(&policy, &FileStore::open_any(&path).unwrap()).unwrap();
    let population = fit(&policy, &users, &Options::default()).unwrap();
    let single = Policy::<f32>::new(&TAU2, Settings::default()).unwrap();
    let bytes = population.snapshot(&single, 7).unwrap();

    let (loaded, learner) = on_device(&bytes);
    assert_eq!(loaded.unwrap(), 0);
    assert_eq!((learner.state().user(), learner.state().rounds(), learner.state().observations()), (7, 0, 0));
    let packed = read(&single, &bytes).unwrap();
    assert_eq!(learner.posterior().packed(), packed);
    assert_eq!(snapshot(learner.snapshot()).len(), bytes.len());

    let mut host = Tau2::new(&TAU2);
    host.start(&informed(&single, Some(&packed)).unwrap(), 7).unwrap();
    assert_eq!(host.posterior(), learner.posterior());

    let other = Policy::<f32>::new(&TAU2, Settings { noise_variance: 1.0, ..Settings::default() }).unwrap();
    let (refused, learner) = on_device(&population.snapshot(&other, 7).unwrap());
    assert!(matches!(refused, Err(DeviceError::Refused(_))));
    assert_ne!(learner.posterior().packed(), packed);
}

fn fable(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_fable")).args(arguments).current_dir(folder).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// The help's own words: fit from a store, from exported users, address to a device's user.
#[test]
fn the_command_fits_and_addresses() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    store(&here.join("users.fable"), Settings::default(), 6);
    let told = fable(here, &["prior", "fit", "crowd.prior", "--store", "users.fable", "--catalog", "tau2"]);
    let output = text(&told.stdout);
    assert!(told.status.success(), "{}", text(&told.stderr));
    assert!(output.starts_with("users            6, 54 observations\nkept             "), "{output}");
    assert!(output.contains("\nnoise variance   0.25") && !output.contains("radius"), "{output}");
    assert!(output.contains("\nstrongest ") && output.contains("style=concise"), "{output}");

    // The same users as files give the same prior, whatever order they are in or numbers they are kept in.
    let names: Vec<String> = (0..6).map(|user| format!("user{user}")).collect();
    for name in &names {
        assert!(fable(here, &["export", name, name, "--store", "users.fable"]).status.success());
    }
    let mut fit = vec!["prior", "fit", "files.prior", "--json", "--catalog", "tau2", "--shrink", "20"];
    fit.extend(names.iter().map(String::as_str));
    let told = fable(here, &fit);
    let described: serde_json::Value = serde_json::from_slice(&told.stdout).unwrap();
    assert_eq!((&described["users"], &described["observations"]), (&6.into(), &54.into()));
    assert_eq!(described["kept"], serde_json::json!({ "imagined_users": 20.0, "share_of_mean": 1.0 }));
    assert_eq!(described["mean"].as_object().unwrap().len(), 29);
    let base = described["log_likelihood"]["base"].as_f64().unwrap();
    assert!(described["log_likelihood"]["prior"].as_f64().unwrap() > base);

    let hash = format!("{:016x}", 7);
    let told = fable(
        here,
        &["prior", "address", "crowd.prior", "board.snapshot", "--user", &hash, "--catalog", "tau2"],
    );
    assert_eq!(text(&told.stdout), "2425 bytes for user 0000000000000007\n", "{}", text(&told.stderr));
    let (loaded, learner) = on_device(&std::fs::read(here.join("board.snapshot")).unwrap());
    assert_eq!((loaded.unwrap(), learner.state().user()), (0, 7));
    let told = fable(
        here,
        &["prior", "address", "crowd.prior", "-", "--user", "ana", "--catalog", "tau2", "--scalar", "f64"],
    );
    assert!(told.status.success() && told.stdout.starts_with(b"FABS"));
}

/// A store says what it was made with, as it does for `replay`: without a flag, and with all of them, it is the same prior.
#[test]
fn a_store_knows_its_catalog_and_settings() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let settings =
        Settings { noise_variance: 1.0, base_precision: Some(6.0), seed: 9, ..Settings::default() };
    store(&here.join("users.fable"), settings, 6);
    let short = fable(here, &["prior", "fit", "short.prior", "--store", "users.fable"]);
    assert!(short.status.success(), "{}", text(&short.stderr));
    let flags = ["--catalog", "tau2", "--noise-variance", "1", "--base-precision", "6", "--seed", "9"];
    let long = fable(here, &[&["prior", "fit", "long.prior", "--store", "users.fable"], &flags[..]].concat());
    assert_eq!(text(&short.stdout), text(&long.stdout));
    let [short, long] = ["short.prior", "long.prior"].map(|name| std::fs::read(here.join(name)).unwrap());
    assert_eq!(short, long);
    // And it is one for that store, not for the defaults.
    let serve = |more: &[&str]| {
        fable(
            here,
            &[&["serve", "--scalar", "f32", "--store", "users.fable", "--prior", "short.prior"], more]
                .concat(),
        )
    };
    assert!(serve(&flags).status.success());
    assert_eq!(serve(&["--catalog", "tau2"]).status.code(), Some(2));
}

#[test]
fn mistakes_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    store(&here.join("few.fable"), Settings::default(), 4);
    store(&here.join("noisy.fable"), Settings { noise_variance: 1.0, ..Settings::default() }, 6);
    let wrong = |arguments: &[&str]| {
        let output = fable(here, &[&["prior"], arguments].concat());
        assert!(output.stdout.is_empty());
        (output.status.code(), text(&output.stderr))
    };
    let (code, message) = wrong(&["fit", "x.prior", "--store", "few.fable", "--catalog", "tau2"]);
    let says = "fable: a prior is fitted from at least 5 users with something learned, and there are 4\n";
    assert_eq!((code, message.as_str()), (Some(2), says));
    let (code, message) = wrong(&["fit", "x.prior", "--store", "noisy.fable", "--catalog", "agent"]);
    let says = "fable: noisy.fable: the store was made with catalog \"tau2\", not \"agent\"; `fable migrate` lets users go on under another one\n";
    assert_eq!((code, message.as_str()), (Some(2), says));
    let (code, message) = wrong(&["fit", "x.prior", "--store", "noisy.fable", "--noise-variance", "0.25"]);
    assert!(code == Some(2) && message.contains("noise_variance 1.0, not 0.25"), "{message}");
    assert!(fable(here, &["export", "user1", "one.user", "--store", "noisy.fable"]).status.success());
    let (code, message) = wrong(&["fit", "x.prior", "one.user", "--catalog", "tau2"]);
    assert!(
        code == Some(2) && message.starts_with("fable: one.user: ") && message.contains("other settings"),
        "{message}"
    );
    std::fs::write(here.join("nonsense"), "nonsense").unwrap();
    let (code, message) = wrong(&["fit", "x.prior", "nonsense", "--catalog", "tau2"]);
    assert_eq!((code, message.as_str()), (Some(1), "fable: nonsense: the file is no exported user\n"));
    assert_eq!(wrong(&["fit", "x.prior", "missing.user"]).0, Some(1));
    assert_eq!(wrong(&["fit", "x.prior"]).0, Some(2));
    let (code, message) = wrong(&["fit", "few.fable", "--store", "few.fable", "--catalog", "tau2"]);
    assert_eq!((code, message.as_str()), (Some(2), "fable: few.fable is the store itself\n"));
    let (code, message) = wrong(&["fit", "x.prior", "--store", "noisy.fable", "--shrink", "0"]);
    assert!(code == Some(2) && message.contains("imagined users"), "{message}");
    let (code, message) = wrong(&["address", "one.user", "y", "--user", "ana", "--catalog", "tau2"]);
    assert_eq!((code, message.as_str()), (Some(2), "fable: one.user: this is not a prior\n"));
    assert!(!here.join("x.prior").exists());
}
