//! The store as a file: what is erased is gone, what does not belong is refused, and a failed write changes nothing.

use fable_core::record::{decode_event, encode_event};
use fable_core::{HostUser, Policy, Settings, catalog, user_hash};
use fable_serve_tests::oracle::Oracle;
use fable_serve_tests::play::Play;
use fable_serve_tests::script::{Script, Step, compare};
use fable_serve_tests::service::Service;
use fable_std::memory::Exchange;
use fable_std::prior_file;
use fable_std::serve::user_bytes;
use fable_std::store::{self, FileStore, Identity, Store, StoreError, Writes, transfer};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

fn fable(arguments: &[&str], store: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fable"));
    command.args(arguments).arg("--store").arg(store).stdin(Stdio::null()).output().unwrap()
}

fn serve(store: &Path) -> Service {
    let cache = (5 * user_bytes::<f64>(&catalog::TAU2)).to_string();
    let arguments = ["--catalog", "tau2", "--scalar", "f64", "--cache", &cache, "--store"].map(Path::new);
    Service::start(Path::new(env!("CARGO_BIN_EXE_fable")), arguments.into_iter().chain([store]))
}

/// A service whose new users begin with a prior that was not fitted but stated: the isotropic one, with less variance in the first
/// coordinate.
fn serve_with_prior(store: &Path) -> Service {
    let base = Policy::<f64>::new(&catalog::TAU2, Settings::default()).unwrap();
    let mut packed = HostUser::<f64>::new(&base, "").unwrap().learner().posterior().packed().to_vec();
    packed[0] = 0.03125;
    let prior = store.with_extension("prior");
    std::fs::write(&prior, prior_file::write(&base, &packed, user_hash("somebody")).unwrap()).unwrap();
    let arguments = [
        Path::new("--catalog"),
        Path::new("tau2"),
        Path::new("--prior"),
        &prior,
        Path::new("--store"),
        store,
    ];
    Service::start(Path::new(env!("CARGO_BIN_EXE_fable")), arguments)
}

fn place() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("users.fable");
    (folder, store)
}

fn play(seed: u64, users: usize) -> Play<f64> {
    Play::new(Oracle::new(&catalog::TAU2, Settings::default()), Script::new(seed, users, 0))
}

fn identity() -> Identity {
    Identity::new(&Policy::<f64>::new(&catalog::TAU2, Settings::default()).unwrap())
}

/// Everything by which a user could be recognised: name, hash, and each event that is long enough to be the user's own.
fn traces(store: &Path, name: &str) -> Vec<Vec<u8>> {
    let (store, hash) = (FileStore::open_any(store).unwrap(), user_hash(name));
    let stored = store.whole(hash).unwrap().unwrap();
    let mut traces = vec![name.as_bytes().to_vec(), hash.to_le_bytes().to_vec(), hash.to_be_bytes().to_vec()];
    for segment in &stored.journal {
        for entry in segment.from(0) {
            let record = entry.unwrap().record;
            let again = decode_event(&catalog::TAU2, record).unwrap();
            assert_eq!(encode_event(&again, &mut [0; 300]).unwrap(), record);
            if record.len() >= 14 {
                traces.push(record.to_vec());
            }
        }
    }
    traces
}

/// The files of a store.
fn files(store: &Path) -> [PathBuf; 3] {
    ["", ".key", ".index"].map(|end| PathBuf::from(format!("{}{end}", store.display())))
}

fn remove(store: &Path) {
    for file in files(store) {
        let _ = std::fs::remove_file(file); // not all of them are there
    }
}

fn found(store: &Path, traces: &[Vec<u8>]) -> usize {
    let bytes = files(store).map(|file| std::fs::read(file).unwrap_or_default()).concat();
    traces.iter().filter(|trace| memchr::memmem::find(&bytes, trace).is_some()).count()
}

/// What is in the files of a store under other files: whether a user can be read from them.
fn readable(files_now: &[Option<Vec<u8>>; 3], user: &str) -> bool {
    let (_folder, store) = place();
    for (file, bytes) in files(&store).iter().zip(files_now) {
        if let Some(bytes) = bytes {
            std::fs::write(file, bytes).unwrap();
        }
    }
    FileStore::open_any(&store).unwrap().named(user).is_ok()
}

/// Nobody can be read without a key, and forgetting destroys it: the file still has the bytes, and they say nothing.
#[test]
fn nothing_of_a_forgotten_user_can_be_read() {
    let (_folder, store) = place();
    let mut play = play(1, 6);
    let users = play.script.users().to_vec();
    let mut service = serve(&store);
    play.run(&mut service, 3_000, 100);
    assert!(service.finish().success());
    let all: Vec<Vec<Vec<u8>>> = users.iter().map(|user| traces(&store, user)).collect();
    for traces in &all {
        assert!(traces.len() > 250, "{}", traces.len());
        assert_eq!(found(&store, traces), 0);
    }
    let before = files(&store).map(|file| std::fs::read(file).ok());
    assert!(users.iter().all(|user| readable(&before, user)));
    // Two by request, two by command; the rest goes on as if nothing had been.
    let mut service = serve(&store);
    for user in &users[..2] {
        let forget = Step::Forget(user.clone());
        let answer = service.ask(&forget.json(&catalog::TAU2).to_string());
        compare(&forget.play(&mut play.oracle), &answer).unwrap();
        // From the moment of the answer on, with all the bytes of before: only who kept the key can read them.
        let keys = std::fs::read(&files(&store)[1]).ok();
        let [data, old_keys, index] = before.clone();
        assert!(!readable(&[data.clone(), keys.clone(), index], user));
        assert!(!readable(&[data.clone(), keys.clone(), None], user));
        assert!(readable(&[data.clone(), keys, None], &users[5]));
        assert!(readable(&[data, old_keys, None], user));
    }
    play.script.pick_from(&users[2..]);
    play.run(&mut service, 500, 50);
    assert!(service.finish().success());
    let output = fable(&["forget", &users[2], &users[3]], &store);
    assert!(output.status.success(), "{output:?}");
    for user in &users[2..4] {
        let _ = play.oracle.forget(user);
    }
    let after = files(&store).map(|file| std::fs::read(file).ok());
    for (number, user) in users.iter().enumerate() {
        assert_eq!(readable(&after, user), number >= 4, "{user}");
    }
    let output = fable(&["forget", &users[0]], &store);
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    assert_eq!(std::fs::read(&files(&store)[1]).ok(), after[1]); // an unknown name is free
    // They may come back, as somebody new.
    play.script.pick_from(&users);
    let mut service = serve(&store);
    play.run(&mut service, 500, 50);
    assert!(service.finish().success());
    assert!(all.iter().all(|traces| found(&store, traces) == 0));
}

#[test]
fn users_who_are_forgotten_together_come_back_where_nobody_has_been() {
    let (_folder, store) = place();
    let mut service = serve(&store);
    let line = |op: &str, user: usize| match op {
        "decide" => json!({ "op": op, "user": format!("user {user}"), "context": {} }).to_string(),
        _ => json!({ "op": op, "user": format!("user {user}") }).to_string(),
    };
    let mut lines = String::new();
    for op in ["decide", "forget", "decide"] {
        lines += &(0..200).map(|user| line(op, user) + "\n").collect::<String>();
    }
    service.send(lines.into_bytes());
    let mut answer = String::new();
    for number in 0..600 {
        assert!(service.answer(&mut answer));
        let expected = match number {
            0..200 => "-0-1\"",
            200..400 => "{\"forgotten\":true}",
            _ => "-200-1\"",
        };
        assert!(answer.contains(expected), "{number} {answer}");
    }
    assert!(service.finish().success());
}

/// A file that was written anew is where the old one was, behind a link too, and nobody can read it who could not before. The keys
/// are for their owner alone.
#[cfg(unix)]
#[test]
fn the_new_file_takes_the_place_of_the_old_one() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
    let (folder, store) = place();
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    let link = folder.path().join("link");
    drop(FileStore::open(&store, &identity()).unwrap());
    assert_eq!(files(&store).map(|file| mode(&file)), [0o600; 3]);
    std::fs::set_permissions(&store, std::fs::Permissions::from_mode(0o640)).unwrap();
    symlink(&store, &link).unwrap();
    let old = store.metadata().unwrap().ino();
    let options = store::Options { slack: 100_000, ..store::Options::default() };
    let policy = Policy::<f64>::new(&catalog::TAU2, Settings::default()).unwrap();
    let policies = store::Policies::from(policy);
    let mut desk = store::Desk::new(&policies);
    let opened = FileStore::open_with(&link, &identity(), &options).unwrap();
    let mut users: Vec<_> = ["ana", "ben"]
        .iter()
        .map(|name| store::Resident::newcomer(&desk, name, user_hash(name), 0, None).unwrap())
        .collect();
    let (context, all) =
        (catalog::TAU2.context(None, []).unwrap(), fable_core::Feasible::all(&catalog::TAU2));
    let mut rounds = 0;
    while store.metadata().unwrap().ino() == old {
        rounds += 1;
        assert!(rounds < 100_000, "it is never written anew");
        let mut writes = store::Writes::default();
        for user in &mut users {
            let mut command = fable_core::journal::Command::decide(fable_core::Request::new(&context, &all));
            user.run(&mut desk, &mut writes, &mut command, store::journal::Note::None).unwrap();
        }
        opened.commit(writes.clone(), false).unwrap();
    }
    drop(opened);
    assert!(link.is_symlink());
    assert_eq!(mode(&store), 0o640);
    let opened = FileStore::open(&link, &identity()).unwrap();
    for user in &users {
        let found = opened.whole(user.row().header.user).unwrap().unwrap();
        assert_eq!(found.journal.last().unwrap().end(), user.entries());
    }
    drop(opened);
    let file = folder.path().join("ana.user");
    assert!(fable(&["export", "ana", file.to_str().unwrap()], &link).status.success());
    assert_eq!(mode(&file), 0o600);
}

#[test]
fn another_identity_is_refused_with_what_differs() {
    let (_folder, store) = place();
    assert!(
        fable(&["serve", "--catalog", "tau2", "--seed", "3", "--scalar", "f64"], &store).status.success()
    );
    for (arguments, message) in [
        (
            &["serve", "--catalog", "agent", "--seed", "3"][..],
            "the store was made with catalog \"tau2\", not \"agent\"; `fable migrate` lets users go on under another one",
        ),
        (&["serve", "--catalog", "tau2", "--seed", "4"], "the store was made with seed 3, not 4"),
        (
            &["serve", "--catalog", "tau2", "--seed", "3", "--scalar", "f32"],
            "the store was made with scalar \"f64\", not \"f32\"",
        ),
    ] {
        let output = fable(arguments, &store);
        assert_eq!(output.status.code(), Some(2));
        assert_eq!(String::from_utf8_lossy(&output.stderr), format!("fable: {message}\n"));
    }
    let other = Settings { seed: 3, noise_variance: 0.5, ..Settings::default() };
    let other = Identity::new(&Policy::<f64>::new(&catalog::TAU2, other).unwrap());
    let error = FileStore::open(&store, &other).unwrap_err();
    assert_eq!(error.to_string(), "the store was made with noise_variance 0.25, not 0.5");
    assert!(
        fable(&["serve", "--catalog", "tau2", "--seed", "3", "--scalar", "f64"], &store).status.success()
    );
}

#[test]
fn a_store_has_one_process_at_a_time() {
    let (_folder, store) = place();
    let mut service = serve(&store);
    service.ask(r#"{"op":"stats"}"#);
    for arguments in
        [&["serve", "--catalog", "tau2"][..], &["forget", "ana"], &["export", "ana", "/dev/null"]]
    {
        let output = fable(arguments, &store);
        assert_eq!(output.status.code(), Some(1));
        assert_eq!(
            String::from_utf8_lossy(&output.stderr),
            "fable: the store is in use by another process\n"
        );
        assert_eq!(service.ask(r#"{"op":"forget","user":"ana"}"#), json!({ "forgotten": false }));
    }
    assert!(service.finish().success());
}

#[test]
fn what_is_no_store_is_left_alone() {
    let (folder, store) = place();
    assert!(matches!(FileStore::open_any(&store), Err(StoreError::Missing(_))));
    assert_eq!(fable(&["forget", "ana"], &store).status.code(), Some(1));
    assert!(!store.exists());
    for content in [&b"Dear diary"[..], &[0; 10_000], &[0xff; 5_000], b"x"] {
        std::fs::write(&store, content).unwrap();
        assert!(
            matches!(FileStore::open(&store, &identity()), Err(StoreError::Foreign)),
            "{}",
            content.len()
        );
        assert_eq!(std::fs::read(&store).unwrap(), content);
    }
    // A store of a later version, and one of before everything was sealed.
    for version in [store::VERSION + 1, store::VERSION - 1] {
        remove(&store);
        drop(FileStore::open(&store, &identity()).unwrap());
        let mut bytes = std::fs::read(&store).unwrap();
        for page in [0, 4096] {
            bytes[page + 8] = version;
            let length = u32::from_le_bytes(bytes[page + 56..page + 60].try_into().unwrap()) as usize;
            let sum = fable_core::record::checksum(&bytes[page..page + 60 + length]);
            bytes[page + 60 + length..page + 64 + length].copy_from_slice(&sum.to_le_bytes());
        }
        std::fs::write(&store, bytes).unwrap();
        assert!(
            matches!(FileStore::open(&store, &identity()), Err(StoreError::Version { found }) if found == version)
        );
    }
    // An empty file is as good as none, unless there was a store, and a folder that is not there is told.
    std::fs::write(&store, b"").unwrap();
    assert!(matches!(FileStore::open(&store, &identity()), Err(StoreError::Damaged(_))));
    remove(&store);
    std::fs::write(&store, b"").unwrap();
    drop(FileStore::open(&store, &identity()).unwrap());
    assert!(matches!(
        FileStore::open(&folder.path().join("nowhere/users.fable"), &identity()),
        Err(StoreError::File(_))
    ));
}

#[test]
fn a_user_moves_to_another_store_and_goes_on() {
    let (folder, store) = place();
    let (file, other) = (folder.path().join("user"), folder.path().join("other.fable"));
    let mut play = play(2, 3);
    let users = play.script.users().to_vec();
    let mut service = serve(&store);
    play.run(&mut service, 3_000, 100);
    assert!(service.finish().success());
    let exported = |user: &str, store: &Path| {
        let output = fable(&["export", user, file.to_str().unwrap()], store);
        assert!(output.status.success(), "{output:?}");
        std::fs::read(&file).unwrap()
    };
    let import = |store: &Path| fable(&["import", file.to_str().unwrap(), "--catalog", "tau2"], store);
    for user in &users {
        let bytes = exported(user, &store);
        let output = import(&other);
        assert!(output.status.success(), "{output:?}");
        assert_eq!(String::from_utf8_lossy(&output.stdout), format!("imported: {user}\n"));
        assert_eq!(exported(user, &other), bytes);
        let output = import(&other);
        assert_eq!(output.status.code(), Some(3));
        assert_eq!(
            String::from_utf8_lossy(&output.stderr),
            "fable: the store has this user; forget it first\n"
        );
    }
    let mut service = serve(&other);
    play.run(&mut service, 500, 50);
    assert!(service.finish().success());
    assert_eq!(fable(&["export", "nobody", file.to_str().unwrap()], &store).status.code(), Some(3));
    // A user of another catalog, and one in the other scalar.
    exported(&users[0], &store);
    let third = folder.path().join("third.fable");
    for (arguments, code) in
        [(&["--catalog", "rubric"][..], 2), (&["--catalog", "tau2", "--scalar", "f32"], 1)]
    {
        let output = fable(&[&["import", file.to_str().unwrap()], arguments].concat(), &third);
        assert_eq!(output.status.code(), Some(code), "{output:?}");
        assert!(!third.exists());
    }
}

#[test]
fn a_damaged_export_is_refused_and_changes_nothing() {
    let (_folder, path) = place();
    let mut play = play(3, 1);
    let user = play.script.users()[0].clone();
    let mut service = serve(&path);
    play.run(&mut service, 60, 10);
    assert!(service.finish().success());
    let store = FileStore::open_any(&path).unwrap();
    let bytes = transfer::export(&store, &user).unwrap();
    let policy = Policy::<f64>::new(&catalog::TAU2, Settings::default()).unwrap();
    let empty = FileStore::in_memory(&Identity::new(&policy)).unwrap();
    for length in 0..bytes.len() {
        assert!(transfer::import(&empty, &policy, &bytes[..length]).is_err());
    }
    for place in 0..bytes.len() {
        for bit in [0x01, 0x80] {
            let mut damaged = bytes.clone();
            damaged[place] ^= bit;
            assert!(transfer::import(&empty, &policy, &damaged).is_err(), "{place}");
        }
    }
    // With a checksum that fits: the events themselves are checked, one by one.
    let resealed = |mut body: Vec<u8>| {
        body.truncate(body.len() - 4);
        let sum = fable_core::record::checksum(&body);
        body.extend_from_slice(&sum.to_le_bytes());
        body
    };
    let (mut refused, mut noted) = (0, 0);
    for place in 0..bytes.len() - 4 {
        let mut damaged = bytes.clone();
        damaged[place] ^= 0x10;
        refused += usize::from(transfer::import(&empty, &policy, &resealed(damaged)).is_err());
        if empty.users() > 0 {
            // The incarnation may be another, and so may the round that a note says was taken back: no event depends on it.
            let events = |file: &[u8]| -> Vec<Vec<u8>> {
                let stored = transfer::read(file).unwrap();
                stored
                    .journal
                    .iter()
                    .flat_map(|segment| segment.from(0))
                    .map(|entry| entry.unwrap().record.to_vec())
                    .collect()
            };
            let told = transfer::export(&empty, &user).unwrap();
            assert!((5..9).contains(&place) || (told != bytes && events(&told) == events(&bytes)), "{place}");
            noted += usize::from(!(5..9).contains(&place));
            empty.forget(&[&user]).unwrap();
        }
    }
    assert!(refused + noted >= bytes.len() - 8 && noted <= 8, "{refused} {noted}");
    assert_eq!(empty.users(), 0);
    assert_eq!(transfer::import(&empty, &policy, &bytes).unwrap(), user);
    assert_eq!(transfer::export(&empty, &user).unwrap(), bytes);

    // The prior that a user began with is checked as well, and is not kept without the user.
    drop(store);
    let mut service = serve_with_prior(&path);
    service.ask(r#"{"op":"decide","user":"ben","context":{}}"#);
    assert!(service.finish().success());
    let bytes = transfer::export(&FileStore::open_any(&path).unwrap(), "ben").unwrap();
    let end = bytes.len() - 4;
    for place in (9..end).step_by(41) {
        let mut damaged = bytes.clone();
        damaged[place] ^= 0x10;
        assert!(transfer::import(&empty, &policy, &resealed(damaged)).is_err(), "{place}");
    }
    // Somebody else's prior, and none: the journal says which it began with.
    let stored = transfer::read(&bytes).unwrap();
    let (length, prior) = (stored.prior.as_ref().unwrap().len(), 5 + 4 + 2 + 3 + 32 + 4);
    let without = [&bytes[..prior], &[0; 4], &bytes[prior + 4 + length..]].concat();
    let error = transfer::import(&empty, &policy, &resealed(without)).unwrap_err();
    assert!(matches!(error, StoreError::Record(fable_core::record::RecordError::Policy)), "{error}");
    let flat = HostUser::<f64>::new(&policy, "").unwrap().learner().posterior().packed().to_vec();
    let other = prior_file::write(&policy, &flat, 0).unwrap();
    let exchanged =
        [&bytes[..prior], &(other.len() as u32).to_le_bytes(), &other, &bytes[prior + 4 + length..]].concat();
    assert!(transfer::import(&empty, &policy, &resealed(exchanged)).is_err());
    assert_eq!((empty.users(), empty.priors().len()), (1, 0));
    assert_eq!(transfer::import(&empty, &policy, &bytes).unwrap(), "ben");
    assert_eq!(transfer::export(&empty, "ben").unwrap(), bytes);
}

/// What this program would not have written itself: names that no request can have, and an incarnation that leaves none.
#[test]
fn an_import_has_the_limits_of_the_service() {
    let policy = Policy::<f64>::new(&catalog::TAU2, Settings::default()).unwrap();
    let file = |name: &str, incarnation: u32| {
        let header =
            fable_core::record::Header::new(fable_core::record::Kind::Journal, &policy, user_hash(name), 64);
        let mut bytes = [&b"FABX"[..], &[transfer::VERSION]].concat();
        bytes.extend_from_slice(&incarnation.to_le_bytes());
        bytes.extend_from_slice(&(name.len() as u16).to_le_bytes());
        bytes.extend_from_slice(name.as_bytes());
        bytes.extend_from_slice(&header.encode());
        bytes.extend_from_slice(&[0; 4 + 4 + 4 + 8 + 4 + 8]); // no words of rules, no prior, no memory, no snapshot, no entries
        let sum = fable_core::record::checksum(&bytes);
        bytes.extend_from_slice(&sum.to_le_bytes());
        bytes
    };
    let store = FileStore::in_memory(&identity()).unwrap();
    let import = |name: &str, incarnation| transfer::import(&store, &policy, &file(name, incarnation));
    for (name, incarnation) in [("", 0), (&*"x".repeat(257), 0), ("ana", u32::MAX), ("ana", (1 << 31) + 1)] {
        assert!(matches!(import(name, incarnation), Err(StoreError::Transfer(_))), "{name} {incarnation}");
    }
    // One that was exported by a version before.
    let mut before = file("ana", 0);
    before[4] = transfer::VERSION - 1;
    let sum = fable_core::record::checksum(&before[..before.len() - 4]);
    let end = before.len() - 4;
    before[end..].copy_from_slice(&sum.to_le_bytes());
    let error = transfer::import(&store, &policy, &before).unwrap_err().to_string();
    assert_eq!(error, "the file has version 6, this program reads version 7");
    assert_eq!(import(&"x".repeat(256), 1 << 31).unwrap().len(), 256);
    assert_eq!(store.forget(&[&"x".repeat(256)]).unwrap().len(), 1);

    let (folder, store) = place();
    let path = folder.path().join("bell");
    std::fs::write(&path, file("a\u{7}\u{1b}[2Jé", 0)).unwrap();
    let output = fable(&["import", path.to_str().unwrap(), "--catalog", "tau2"], &store);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "imported: a\\u{7}\\u{1b}[2Jé\n");
}

/// The bytes of an exported user are a promise: the file beside this one was written once and is read for ever.
#[test]
fn exports_are_pinned() {
    let (_folder, path) = place();
    let mut service = serve(&path);
    let lines = [
        r#"{"op":"onboard","user":"ana","statements":[{"prefer":{"style":"concise"},"response":0.5,"precision":4}]}"#,
        r#"{"op":"decide","user":"ana","context":{},"forbid":[{"tool":"verify"}],"at":17}"#,
        r#"{"op":"feedback","decision":"e6f79c19051ffb05-0-1","reward":0.75,"at":18}"#,
        r#"{"op":"decide","user":"ana","context":{}}"#,
        r#"{"op":"feedback","decision":"e6f79c19051ffb05-0-2","reward":-0.5,"weight":0.25}"#,
        r#"{"op":"unlearn","decision":"e6f79c19051ffb05-0-1"}"#,
    ];
    for line in lines {
        let answer = service.ask(line);
        assert_eq!(answer.get("error"), None, "{line} {answer}");
    }
    assert!(service.finish().success());
    let mut service = serve_with_prior(&path); // ben begins with it
    service.ask(r#"{"op":"decide","user":"ben","context":{}}"#);
    let ask = |service: &mut Service| {
        ["ana", "ben"].map(|user| service.ask(&json!({ "op": "posterior", "user": user }).to_string()))
    };
    let posteriors = ask(&mut service);
    assert!(service.finish().success());
    let mut remembered = Writes::default();
    remembered.remember(user_hash("ana"), Exchange::new("Which seat?", "14A, at the window.", 17));
    remembered.remember(user_hash("ana"), Exchange::new("Et en français?", "14A, côté hublot.", 18));
    FileStore::open_any(&path).unwrap().commit(remembered, true).unwrap();
    let (_folder, other) = place();
    for name in ["ana", "ben"] {
        let bytes = transfer::export(&FileStore::open_any(&path).unwrap(), name).unwrap();
        let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/{name}.user"));
        if std::env::var_os("FABLE_WRITE_RECORDS").is_some() {
            std::fs::write(&golden, &bytes).unwrap();
        }
        assert!(std::fs::read(&golden).unwrap() == bytes, "this is another transfer::VERSION");
        assert!(fable(&["import", golden.to_str().unwrap(), "--catalog", "tau2"], &other).status.success());
    }
    let mut service = serve(&other);
    assert_eq!(ask(&mut service), posteriors);
    let answer = service.ask(r#"{"op":"unlearn","decision":"e6f79c19051ffb05-0-1"}"#);
    assert_eq!(answer["error"]["code"], "not_learned"); // what was taken back stays so
    assert!(service.finish().success());
}

/// The files of a store are a promise as well: those beside this one were written once and are read for ever, with their index and
/// without it.
#[test]
fn stores_are_pinned() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/store");
    let names = ["users.fable", "users.fable.key", "users.fable.index"];
    // Who is in it: ana and ben as exported, one of whom a snapshot was due after four events, and nobody who was forgotten.
    let third =
        (0..10_000).map(|number| format!("user {number}")).find(|name| user_hash(name) % 512 == 508).unwrap();
    if std::env::var_os("FABLE_WRITE_RECORDS").is_some() {
        let (_folder, path) = place();
        for name in ["ana", "ben"] {
            let file = golden.with_file_name(format!("{name}.user"));
            assert!(fable(&["import", file.to_str().unwrap(), "--catalog", "tau2"], &path).status.success());
        }
        let mut service = serve(&path);
        for line in [
            json!({ "op": "decide", "user": third, "context": {}, "at": 17 }),
            json!({ "op": "feedback", "decision": format!("{:016x}-0-1", user_hash(&third)), "reward": 0.75 }),
            json!({ "op": "decide", "user": "bob", "context": {} }),
            json!({ "op": "forget", "user": "bob" }),
            json!({ "op": "decide", "user": third, "context": {}, "defaults": vec![0; 18] }),
            json!({ "op": "unlearn", "decision": format!("{:016x}-0-1", user_hash(&third)) }),
        ] {
            let answer = service.ask(&line.to_string());
            assert_eq!(answer.get("error"), None, "{line} {answer}");
        }
        assert!(service.finish().success());
        std::fs::create_dir_all(&golden).unwrap();
        for name in names {
            std::fs::copy(path.with_file_name(name), golden.join(name)).unwrap();
        }
        std::fs::write(
            golden.join("third.user"),
            transfer::export(&FileStore::open_any(&path).unwrap(), &third).unwrap(),
        )
        .unwrap();
    }
    for with_index in [true, false] {
        let (_folder, path) = place();
        for name in &names[..if with_index { 3 } else { 2 }] {
            std::fs::copy(golden.join(name), path.with_file_name(name)).unwrap();
        }
        let report = FileStore::check(&path, &store::Options::default(), |_, _| {}).unwrap();
        assert!(report.is_sound() && report.users == 3, "{report:?}");
        let store = FileStore::open(&path, &identity()).expect("this is another store::VERSION");
        assert_eq!((store.users(), store.incarnation().unwrap(), store.priors().len()), (3, 1, 1));
        for (name, file) in [("ana", "../ana.user"), ("ben", "../ben.user"), (third.as_str(), "third.user")] {
            assert!(
                transfer::export(&store, name).unwrap() == std::fs::read(golden.join(file)).unwrap(),
                "{name}"
            );
        }
        assert!(store.user(user_hash(&third), store::Reach::Snapshot).unwrap().unwrap().snapshot.is_some());
    }
}

/// Plays steps that may fail for want of room, and returns how many did. What failed did not happen.
fn play_while_it_lasts(play: &mut Play<f64>, service: &mut Service, steps: usize) -> usize {
    let (mut failed, mut waiting, mut line) = (0, VecDeque::<Step>::new(), String::new());
    for number in 0..steps + 30 {
        if number < steps {
            let step = play.script.step(&mut play.oracle);
            service.send(format!("{}\n", step.json(&catalog::TAU2)).into_bytes());
            waiting.push_back(step);
        }
        if number >= 30 {
            let step = waiting.pop_front().unwrap();
            assert!(service.answer(&mut line), "it ended");
            let answer: Value = serde_json::from_str(&line).unwrap();
            if answer["error"]["code"] == "storage" {
                failed += 1;
            } else {
                compare(&step.play(&mut play.oracle), &answer)
                    .unwrap_or_else(|message| panic!("{step:?}\n{message}"));
            }
        }
    }
    failed
}

#[test]
fn without_room_on_the_disk_requests_fail_and_change_nothing() {
    let (_folder, store) = place();
    // Many users of whom few are forgotten: what is stored only grows.
    let mut play = Play::new(Oracle::new(&catalog::TAU2, Settings::default()), Script::new(4, 500, 3_000));
    let mut service = serve(&store);
    assert_eq!(play_while_it_lasts(&mut play, &mut service, 200), 0);
    assert!(service.finish().success());
    // No file may grow past this size; a write beyond it is an error to the process.
    let blocks = std::fs::metadata(&store).unwrap().len() / 512 + 50;
    let mut command = Command::new("sh");
    let cache = 3 * user_bytes::<f64>(&catalog::TAU2);
    let script = format!(
        "trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" serve --catalog tau2 --scalar f64 --cache {cache} --store \"$1\""
    );
    command.args(["-c", &script, env!("CARGO_BIN_EXE_fable")]).arg(&store).stderr(Stdio::null());
    let mut service = Service::spawn(command);
    // How soon the file is full depends on how many requests share a commit, and on how much of it was free.
    let mut failed = 0;
    for _ in 0..20 {
        failed += play_while_it_lasts(&mut play, &mut service, 2_500);
        if failed > 100 {
            break;
        }
    }
    assert!(failed > 100, "{failed}");
    let errors = service.ask(r#"{"op":"stats"}"#)["errors"].as_u64().unwrap();
    assert!(errors >= failed as u64, "{errors} of {failed}");
    assert!(service.finish().success());
    let mut service = serve(&store);
    assert_eq!(play_while_it_lasts(&mut play, &mut service, 500), 0);
    assert!(service.finish().success());
}

#[test]
fn the_python_client_runs() {
    let client = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/python/client.py");
    let (_folder, store) = place();
    for store in [None, Some(&store)] {
        let mut command = Command::new("python3");
        let output = command.arg(&client).arg(env!("CARGO_BIN_EXE_fable")).args(store).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        assert!(
            String::from_utf8_lossy(&output.stdout)
                .contains("refused: unknown_name: there is no task 'golf'")
        );
    }
}
