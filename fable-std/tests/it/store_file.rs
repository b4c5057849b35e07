//! The store's file among others: links, neighbours, what is not a file, several processes at once, and a disk that fails.

use fable_core::{Policy, Settings, catalog};
use fable_serve_tests::service::Service;
use fable_std::store::{FileStore, Identity, Store, StoreError};
use serde_json::json;
use std::os::unix::fs::{FileTypeExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

const FABLE: &str = env!("CARGO_BIN_EXE_fable");

fn place() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("users.fable");
    (folder, store)
}

fn fable(arguments: &[&str], store: &Path) -> Output {
    Command::new(FABLE).args(arguments).arg("--store").arg(store).stdin(Stdio::null()).output().unwrap()
}

fn serve(arguments: &[&str], store: &Path) -> Service {
    let arguments =
        ["--catalog", "tau2", "--scalar", "f64"].iter().chain(arguments).chain(&["--store"]).map(Path::new);
    Service::start(Path::new(FABLE), arguments.chain([store]))
}

/// A shell's limit, and the service under it.
fn limited(limit: &str, arguments: &str, store: &Path) -> Command {
    let mut command = Command::new("sh");
    command
        .args(["-c", &format!("trap '' XFSZ; ulimit {limit}; exec \"$0\" {arguments} --store \"$1\""), FABLE])
        .arg(store);
    command
}

fn decide(user: &str) -> String {
    json!({ "op": "decide", "user": user, "context": {} }).to_string()
}

fn has(store: &Path, user: &str) -> bool {
    FileStore::open_any(store)
        .unwrap()
        .user(fable_core::user_hash(user), fable_std::store::Reach::Snapshot)
        .unwrap()
        .is_some()
}

fn identity() -> Identity {
    Identity::new(&Policy::<f64>::new(&catalog::TAU2, Settings::default()).unwrap())
}

/// A link that leads nowhere is where the store is to be made, and a second name keeps nothing that can be read.
#[test]
fn links_are_followed_and_second_names_keep_nothing() {
    let (folder, store) = place();
    std::fs::create_dir(folder.path().join("data")).unwrap();
    symlink("data/real.fable", &store).unwrap();
    serve(&[], &store).ask(&decide("anastasia"));
    let real = folder.path().join("data/real.fable");
    assert!(store.is_symlink() && real.is_file() && folder.path().join("data/real.fable.key").is_file());
    let copies = ["real.fable", "real.fable.key"]
        .map(|file| (folder.path().join("data").join(file), folder.path().join(file)));
    for (file, copy) in &copies {
        std::fs::hard_link(file, copy).unwrap();
    }
    assert!(fable(&["forget", "anastasia"], &store).status.success());
    assert!(store.is_symlink());
    assert!(!has(&real, "anastasia") && !has(&copies[0].1, "anastasia"));
}

/// With too few files to open, the command fails before anything has changed, or not at all.
#[test]
fn who_is_said_not_to_be_forgotten_is_not() {
    let (_folder, store) = place();
    serve(&[], &store).ask(&decide("ana"));
    for (refused, files) in (3..40).enumerate() {
        let output =
            limited(&format!("-n {files}"), "forget ana", &store).stderr(Stdio::null()).status().unwrap();
        if output.success() {
            assert!(refused > 1 && !has(&store, "ana"), "{refused}");
            return;
        }
        assert!(has(&store, "ana"), "{files}");
    }
    panic!("it never succeeds");
}

#[test]
fn neighbours_are_left_alone() {
    let (folder, store) = place();
    let others = ["users.fable.new", "users.fable.tmp", ".users.fable", ".users.fable.fable-draft"];
    for name in others {
        std::fs::write(folder.path().join(name), b"Dear diary").unwrap();
    }
    let refused = FileStore::open(&store, &identity()).unwrap_err();
    assert!(refused.to_string().contains(".users.fable.fable-draft is in the way"), "{refused}");
    assert!(!store.exists()); // as before
    std::fs::rename(folder.path().join(others[3]), folder.path().join("diary")).unwrap();
    serve(&[], &store).ask(&decide("ana"));
    std::fs::rename(folder.path().join("diary"), folder.path().join(others[3])).unwrap();
    assert!(fable(&["export", "ana", "/dev/null"], &store).status.success());
    for name in others {
        assert_eq!(std::fs::read(folder.path().join(name)).unwrap(), b"Dear diary", "{name}");
    }
    // What an interrupted attempt has left is cleared away.
    std::fs::copy(&store, folder.path().join(others[3])).unwrap();
    assert!(fable(&["forget", "ana"], &store).status.success());
    assert!(!folder.path().join(others[3]).exists());
}

#[test]
fn what_is_no_file_is_no_store() {
    let (folder, pipe) = place();
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for path in [pipe.as_path(), folder.path(), Path::new("/dev/null")] {
        assert!(matches!(FileStore::open(path, &identity()), Err(StoreError::Foreign)), "{}", path.display());
        assert!(matches!(FileStore::open_any(path), Err(StoreError::Foreign)), "{}", path.display());
    }
    assert!(pipe.metadata().unwrap().file_type().is_fifo());
    assert!(Path::new("/dev/null").metadata().unwrap().file_type().is_char_device());
    // An empty file is as good as none, for commands that need a store too.
    let empty = folder.path().join("empty");
    std::fs::write(&empty, b"").unwrap();
    assert!(matches!(FileStore::open_any(&empty), Err(StoreError::Missing(_))));
    assert_eq!(empty.metadata().unwrap().len(), 0);
}

/// Whoever says that a store is open has the one that stays.
#[test]
fn a_store_is_made_once() {
    for round in 0..30 {
        let (_folder, store) = place();
        if round % 2 == 1 {
            std::fs::write(&store, b"").unwrap();
        }
        let opened: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> =
                (0..4).map(|_| scope.spawn(|| FileStore::open(&store, &identity()))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(opened.iter().filter(|opened| opened.is_ok()).count(), 1);
        assert_eq!(opened.iter().filter(|opened| matches!(opened, Err(StoreError::InUse))).count(), 3);
        assert!(matches!(FileStore::open(&store, &identity()), Err(StoreError::InUse))); // it is the one at the path
    }
}

#[test]
fn an_export_takes_its_place_in_one_step_and_never_that_of_the_store() {
    let (folder, store) = place();
    let (file, link) = (folder.path().join("ana.user"), folder.path().join("link"));
    serve(&[], &store).ask(&decide("ana"));
    symlink(&store, &link).unwrap();
    for path in [
        &store,
        &link,
        &folder.path().join("../").join(folder.path().file_name().unwrap()).join("users.fable"),
    ] {
        let output = fable(&["export", "ana", path.to_str().unwrap()], &store);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(String::from_utf8_lossy(&output.stderr).ends_with(" is the store itself\n"), "{output:?}");
        assert!(has(&store, "ana"));
    }
    assert!(fable(&["export", "ana", file.to_str().unwrap()], &store).status.success());
    let bytes = std::fs::read(&file).unwrap();
    for path in ["-", "/dev/stdout"] {
        assert_eq!(fable(&["export", "ana", path], &store).stdout, bytes, "{path}");
    }
    // Without room the old file stays.
    std::fs::write(&file, b"old").unwrap();
    let arguments = format!("export ana {}", file.display());
    assert!(!limited("-f 0", &arguments, &store).stderr(Stdio::null()).status().unwrap().success());
    assert_eq!(std::fs::read(&file).unwrap(), b"old");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 5);
}

/// What is answered before it is on disk gets there within seconds, whatever is asked meanwhile. A busy machine gets more of
/// them; if reads kept writes away, no time would be enough.
#[test]
fn reads_do_not_keep_writes_from_the_disk() {
    let kept_after = |seconds| {
        let (_folder, store) = place();
        let mut service = serve(&["--durability", "none"], &store);
        service.ask(&decide("ana"));
        let asked = Instant::now();
        while asked.elapsed() < Duration::from_secs(seconds) {
            std::thread::sleep(Duration::from_millis(100));
            service.ask(r#"{"op":"stats"}"#);
        }
        service.kill();
        has(&store, "ana")
    };
    assert!([3, 12, 48].into_iter().any(kept_after));
}

/// Without waiting for the disk, what was answered before it was full is kept, and what was not says so.
#[test]
fn a_full_disk_takes_nothing_that_was_answered() {
    let (_folder, store) = place();
    serve(&[], &store).ask(&decide("ana"));
    let blocks = std::fs::metadata(&store).unwrap().len() / 512 + 200;
    let mut command = limited(&format!("-f {blocks}"), "serve --catalog tau2 --durability none", &store);
    command.stderr(Stdio::null());
    let mut service = Service::spawn(command);
    let (mut kept, mut refused) = (Vec::new(), 0);
    for number in 0..2_000 {
        let name = format!("{number} {}", "x".repeat(200));
        let answer = service.ask(&decide(&name));
        match answer.get("error") {
            None => kept.push(name),
            Some(error) => {
                assert_eq!(error["code"], "storage", "{answer}");
                refused += 1;
            }
        }
    }
    assert!(kept.len() > 10 && refused > 10, "{} {refused}", kept.len());
    // Forgetting needs no room.
    let gone = kept.remove(0);
    assert_eq!(service.ask(&json!({ "op": "forget", "user": gone }).to_string())["forgotten"], true);
    assert!(service.finish().success());
    let opened = FileStore::open_any(&store).unwrap();
    assert!(kept.iter().all(|name| opened.named(name).is_ok()) && opened.named(&gone).is_err());
    assert_eq!(opened.users(), 1 + kept.len() as u64);
}
