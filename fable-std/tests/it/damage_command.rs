//! A damaged store through the command: what is told, and with which exit code.

use crate::damage::town::{Life, TOWNS, Town, base, folder, paths, read, write};
use fable_serve_tests::frames::{RULES, USER};
use fable_serve_tests::service::Service;
use fable_std::store::{FileStore, transfer};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::{Mutex, PoisonError};
use tempfile::TempDir;

/// One at a time: a process that is just being started has the locks of the others.
static TURN: Mutex<()> = Mutex::new(());

const FABLE: &str = env!("CARGO_BIN_EXE_fable");

fn fable(arguments: &[&str], keys: &[(&str, &str)]) -> Output {
    let mut command = Command::new(FABLE);
    command
        .args(arguments)
        .env_remove("FABLE_STORE_KEY")
        .env_remove("FABLE_STORE_KEY_FILE")
        .envs(keys.iter().copied());
    command.stdin(Stdio::null()).output().unwrap()
}

fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn serve(store: &Path) -> Service {
    let mut command = Command::new(FABLE);
    command.args(["serve", "--catalog", "tau2", "--store"]).arg(store);
    Service::spawn(command)
}

fn decide(service: &mut Service, user: &str) -> Value {
    service.ask(&json!({ "op": "decide", "user": user, "context": {} }).to_string())
}

/// A copy of a town's files.
fn place(town: &Town) -> (TempDir, PathBuf) {
    let folder = folder();
    let path = folder.path().join("users.fable");
    write(&path, &town.files);
    (folder, path)
}

/// Flips a bit in the last frame of a kind that a user has.
fn hurt(town: &Town, path: &Path, life: &Life, kind: u32) {
    let own = |frame: &&fable_serve_tests::frames::Frame| {
        (frame.kind, frame.slot, frame.generation) == (kind, life.slot, life.generation)
    };
    let frame = town.frames.iter().rfind(own).unwrap();
    let mut bytes = std::fs::read(path).unwrap();
    bytes[frame.offset + 45] ^= 4;
    std::fs::write(path, bytes).unwrap();
}

#[test]
fn one_damaged_user_is_told_and_refused_and_may_begin_anew() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let town = &TOWNS.closed;
    let (folder, path) = place(town);
    let ruled = |life: &&Life| !life.constraints.is_empty() && life.prior.is_none() && life.starts.len() < 40;
    let (hurt_rules, hurt_name) = {
        let mut ruled = town.lives.iter().filter(ruled);
        (ruled.next().unwrap(), ruled.next().unwrap())
    };
    hurt(town, &path, hurt_rules, RULES);
    hurt(town, &path, hurt_name, USER);
    let (store, new) = (path.to_str().unwrap(), folder.path().join("new.fable"));
    let damaged = read(&path);

    let told = fable(&["check", store], &[]);
    assert_eq!(told.status.code(), Some(1), "{told:?}");
    assert!(out(&told).contains(&format!("damaged: {}: hard rules\n", hurt_rules.name())), "{told:?}");
    let number = format!("{:016x}", hurt_name.number());
    assert!(out(&told).contains(&format!("damaged: the user with the number {number}: name\n")), "{told:?}");
    let told = fable(&["check", "--json", store], &[]);
    let report: Value = serde_json::from_str(&out(&told)).unwrap();
    assert_eq!(told.status.code(), Some(1));
    assert_eq!(report["sound"], false);
    assert_eq!(report["damaged"].as_array().unwrap().len(), 2);
    let listed = report["damaged"].as_array().unwrap();
    assert!(
        listed.iter().any(|user| user["user"] == hurt_rules.name() && user["damage"] == "hard rules"),
        "{report}"
    );
    assert!(listed.iter().any(|user| user["number"] == *number && user["damage"] == "name"), "{report}");
    assert!(read(&path) == damaged, "a check writes nothing");

    // A backup of it is refused: a copy would have the damage.
    let copied = fable(&["backup", store, folder.path().join("copy.fable").to_str().unwrap()], &[]);
    assert_eq!(copied.status.code(), Some(1), "{copied:?}");
    assert!(!folder.path().join("copy.fable").exists() && !folder.path().join("copy.fable.key").exists());

    let repaired = fable(&["repair", store, new.to_str().unwrap()], &[]);
    assert_eq!(repaired.status.code(), Some(1), "{repaired:?}");
    assert!(out(&repaired).contains(&format!("lost: {}: hard rules; ", hurt_rules.name())), "{repaired:?}");
    assert!(out(&repaired).contains(&number), "{repaired:?}");
    assert!(read(&path) == damaged, "a repair leaves the old store alone");
    let again = fable(&["repair", store, new.to_str().unwrap()], &[]);
    assert!(again.status.code() == Some(1) && errors(&again).contains("is there already"), "{again:?}");

    for path in [&path, &new] {
        let mut service = serve(path);
        for life in &town.lives {
            let answer = decide(&mut service, life.name());
            if [hurt_rules.number(), hurt_name.number()].contains(&life.number()) {
                assert_eq!(answer["error"]["code"], "damaged", "{answer}");
            } else {
                assert_eq!(answer.get("error"), None, "{} {answer}", life.name());
            }
        }
        assert_eq!(service.ask(r#"{"op":"stats"}"#)["damaged"], 2, "{}", path.display());
        // One is forgotten by request, the other by command; both begin anew.
        let forget = json!({ "op": "forget", "user": hurt_rules.name() }).to_string();
        assert_eq!(service.ask(&forget), json!({ "forgotten": true }));
        assert_eq!(decide(&mut service, hurt_rules.name()).get("error"), None);
        assert!(service.finish().success());
        let output = fable(&["forget", hurt_name.name(), "--store", path.to_str().unwrap()], &[]);
        assert!(output.status.success(), "{output:?}");
        let mut service = serve(path);
        for life in [hurt_rules, hurt_name] {
            let answer = decide(&mut service, life.name());
            assert_eq!(answer.get("error"), None, "{answer}");
        }
        assert!(service.finish().success());
    }
    assert!(fable(&["check", new.to_str().unwrap()], &[]).status.success());
    let told = fable(&["check", store], &[]);
    assert!(told.status.code() == Some(1) && !out(&told).contains("hard rules"), "{told:?}"); // the bytes are still there
}

#[test]
fn a_backup_of_a_served_store_opens_and_has_everyone() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let town = &TOWNS.reopened;
    let (folder, path) = place(town);
    let mut service = serve(&path);
    let answer = decide(&mut service, "somebody new");
    assert_eq!(answer.get("error"), None, "{answer}");
    let copies = ["by command.fable", "by request.fable"].map(|name| folder.path().join(name));
    let output = fable(&["backup", path.to_str().unwrap(), copies[0].to_str().unwrap()], &[]);
    assert!(output.status.success(), "{output:?}");
    let begun = service.ask(&json!({ "op": "backup", "file": copies[1] }).to_string());
    assert_eq!(begun.get("error"), None, "{begun}");
    let mut state = begun;
    while state["state"] == "running" {
        std::thread::sleep(std::time::Duration::from_millis(5));
        state = service.ask(r#"{"op":"backup"}"#);
    }
    assert_eq!(state["state"], "done", "{state}");
    assert!(service.finish().success());
    let names = town.lives.iter().map(|life| life.name().to_owned()).chain(["somebody new".to_owned()]);
    let names: Vec<String> = names.collect();
    let exports = |path: &Path| -> Vec<Vec<u8>> {
        let store = FileStore::open_any(path).unwrap();
        names.iter().map(|name| transfer::export(&store, name).unwrap()).collect()
    };
    let expected = exports(&path);
    for copy in &copies {
        assert!(fable(&["check", copy.to_str().unwrap()], &[]).status.success());
        assert!(exports(copy) == expected);
        let mut service = serve(copy);
        assert_eq!(decide(&mut service, &names[3]).get("error"), None);
        assert!(service.finish().success());
        // There is something at the path now.
        let output = fable(&["backup", path.to_str().unwrap(), copy.to_str().unwrap()], &[]);
        assert_eq!(output.status.code(), Some(1), "{output:?}");
    }
}

#[test]
fn without_its_own_keys_a_store_says_so() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let (_folder, path) = place(&TOWNS.closed);
    let [_, keys, _] = paths(&path);
    let sound = std::fs::read(&keys).unwrap();
    let other = folder();
    let other = other.path().join("users.fable");
    drop(FileStore::open(&other, &fable_std::store::Identity::new(&base())).unwrap());
    let store = path.to_str().unwrap();
    let commands = [
        &["serve", "--catalog", "tau2", "--store", store][..],
        &["check", store],
        &["repair", store, "/dev/shm/never.fable"],
        &["backup", store, "/dev/shm/never.fable"],
        &["export", "user 3", "-", "--store", store],
        &["forget", "user 3", "--store", store],
    ];
    let others = std::fs::read(&paths(&other)[1]).unwrap();
    for (content, message) in [(None, "its key file is missing"), (Some(others), "belongs to another store")]
    {
        match content {
            None => std::fs::remove_file(&keys).unwrap(),
            Some(bytes) => std::fs::write(&keys, bytes).unwrap(),
        }
        let before = std::fs::read(&path).unwrap();
        for command in commands {
            let output = fable(command, &[]);
            assert_eq!(output.status.code(), Some(1), "{command:?} {output:?}");
            assert!(errors(&output).contains(message), "{command:?} {output:?}");
        }
        assert!(std::fs::read(&path).unwrap() == before);
    }
    std::fs::write(&keys, sound).unwrap();
    assert!(fable(&["check", store], &[]).status.success());
}

#[test]
fn a_key_that_is_kept_elsewhere() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = folder();
    let (path, file) = (folder.path().join("users.fable"), folder.path().join("key"));
    let store = path.to_str().unwrap();
    let (right, wrong) = ("0f".repeat(32), "1f".repeat(32));
    std::fs::write(&file, format!("{right}\n")).unwrap();
    let file = file.to_str().unwrap();
    let serve = |keys: &[(&str, &str)]| fable(&["serve", "--catalog", "tau2", "--store", store], keys);
    assert!(serve(&[("FABLE_STORE_KEY", &right)]).status.success());
    let keys = std::fs::read(&paths(&path)[1]).unwrap();
    assert!(memchr::memmem::find(&keys, &[0x0f; 32]).is_none());
    for keys in [&[("FABLE_STORE_KEY", right.as_str())][..], &[("FABLE_STORE_KEY_FILE", file)]] {
        assert!(serve(keys).status.success());
        assert!(fable(&["check", store], keys).status.success());
    }
    for (keys, code, message) in [
        (&[][..], 1, "FABLE_STORE_KEY"),
        (&[("FABLE_STORE_KEY", wrong.as_str())], 1, "is not the store's"),
        (&[("FABLE_STORE_KEY", "0f")], 2, "64 hexadecimal digits"),
        (&[("FABLE_STORE_KEY_FILE", "/nowhere/key")], 1, "No such file"),
        (&[("FABLE_STORE_KEY", right.as_str()), ("FABLE_STORE_KEY_FILE", file)], 2, "not both"),
    ] {
        for command in [
            &["serve", "--catalog", "tau2", "--store", store][..],
            &["check", store],
            &["forget", "ana", "--store", store],
        ] {
            let output = fable(command, keys);
            assert_eq!(output.status.code(), Some(code), "{command:?} {keys:?} {output:?}");
            assert!(errors(&output).contains(message), "{command:?} {keys:?} {output:?}");
        }
    }
    // A store whose key is beside it wants no other.
    let beside = folder.path().join("beside.fable");
    let beside = beside.to_str().unwrap();
    assert!(fable(&["serve", "--catalog", "tau2", "--store", beside], &[]).status.success());
    let output = fable(&["check", beside], &[("FABLE_STORE_KEY", &right)]);
    assert!(
        output.status.code() == Some(1) && errors(&output).contains("its key is beside it"),
        "{output:?}"
    );
}
