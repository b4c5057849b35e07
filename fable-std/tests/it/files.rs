//! Files as the command reads and writes them: limits, modes, and nothing half done.
#![cfg(unix)]

use serde_json::Value;
use std::fs::{self, OpenOptions};
use std::io::{BufReader, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn command(here: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fable"));
    command.args(arguments).current_dir(here);
    command
}

fn fable(here: &Path, arguments: &[&str]) -> Output {
    command(here, arguments).output().unwrap()
}

/// Exit code and message of a command that has to fail and to print nothing else.
fn fails(here: &Path, arguments: &[&str]) -> (i32, String) {
    let output = fable(here, arguments);
    assert!(output.stdout.is_empty(), "{arguments:?}: {output:?}");
    (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
}

/// The same where 500 MB of memory are all there is.
fn fails_in_little_memory(here: &Path, arguments: &[&str]) -> (i32, String) {
    let mut limited = Command::new("sh");
    limited.args(["-c", "ulimit -v 500000; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_fable")]);
    let output = limited.args(arguments).current_dir(here).output().unwrap();
    assert!(output.stdout.is_empty(), "{arguments:?}: {output:?}");
    (output.status.code().unwrap_or(-1), String::from_utf8(output.stderr).unwrap())
}

/// A store with a user, and the user as a file.
fn with_ana(here: &Path) {
    let mut serving = command(here, &["serve", "--catalog", "tau2", "--store", "users.fable"]);
    let mut child = serving.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"{\"op\":\"decide\",\"user\":\"ana\",\"context\":{}}\n").unwrap();
    assert!(child.wait_with_output().unwrap().status.success());
    assert!(fable(here, &["export", "ana", "ana.user", "--store", "users.fable"]).status.success());
}

/// Every command that reads a whole file, with a place for the file.
const READERS: &[&[&str]] = &[
    &["import", "FILE", "--store", "new.fable", "--catalog", "tau2"],
    &["replay", "FILE", "--catalog", "tau2"],
    &["replay", "--snapshot", "FILE", "--journal", "empty", "--catalog", "tau2"],
    &["inspect", "ana.user", "--catalog", "tau2", "--prior", "FILE"],
    &["prior", "fit", "crowd.prior", "FILE", "--catalog", "tau2"],
    &["prior", "address", "FILE", "to.snapshot", "--user", "ana", "--catalog", "tau2"],
    &["serve", "--prior", "FILE", "--catalog", "tau2"],
    &["chat", "--prior", "FILE", "--store", "chat.fable"],
    &["demo", "--prior", "FILE"],
    &["evaluate", "log.jsonl", "--prior", "FILE"],
];

fn reading(arguments: &[&'static str], file: &'static str) -> Vec<&'static str> {
    arguments.iter().map(|argument| if *argument == "FILE" { file } else { argument }).collect()
}

/// A file without an end, and one that says it has a terabyte: neither is believed, and neither is kept in memory.
#[test]
fn a_file_is_read_up_to_its_limit() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    with_ana(here);
    fs::write(here.join("empty"), "").unwrap();
    let mut sparse = fs::File::create(here.join("sparse")).unwrap();
    sparse.set_len(1 << 40).unwrap();
    sparse.write_all(&[7]).unwrap();
    for reader in READERS {
        for file in ["/dev/zero", "sparse"] {
            let (code, message) = fails_in_little_memory(here, &reading(reader, file));
            let expected = format!(
                "fable: {file}: larger than 1 MiB, and neither an exported user nor a prior nor a snapshot\n"
            );
            assert_eq!((code, message), (1, expected), "{reader:?}");
        }
    }
    let (code, message) = fails_in_little_memory(
        here,
        &["replay", "--snapshot", "ana.user", "--journal", "/dev/zero", "--catalog", "tau2"],
    );
    assert_eq!((code, message.as_str()), (1, "fable: /dev/zero: larger than 16 MiB\n"));
    assert_eq!(fails_in_little_memory(here, &["inspect", "/dev/zero"]).0, 1);
    for arguments in
        [&["catalog", "check", "/dev/zero"][..], &["catalog", "check", "tau2", "--settings", "/dev/zero"]]
    {
        let (code, message) = fails_in_little_memory(here, arguments);
        assert!(code == 1 && message.contains("larger than 1 MiB"), "{message}");
    }
    let (code, message) = fails_in_little_memory(here, &["evaluate", "/dev/zero"]);
    assert_eq!((code, message.as_str()), (2, "fable: /dev/zero:1: a line has at most 1048576 bytes\n"));
    for made in ["new.fable", "crowd.prior", "to.snapshot"] {
        assert!(!here.join(made).exists(), "{made}");
    }
}

/// One that begins well may be much longer, but not for ever.
#[test]
fn what_begins_like_a_user_has_a_limit_too() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    with_ana(here);
    let mut file = OpenOptions::new().write(true).open(here.join("ana.user")).unwrap();
    file.set_len(40 << 20).unwrap();
    let (code, message) = fails(here, &["replay", "ana.user", "--catalog", "tau2"]);
    assert_eq!((code, message.as_str()), (1, "fable: the file is damaged or not complete\n"));
    file.seek(SeekFrom::Start(1 << 40)).unwrap();
    file.write_all(&[7]).unwrap();
    let (code, message) = fails(here, &["replay", "ana.user", "--catalog", "tau2"]);
    assert_eq!((code, message.as_str()), (1, "fable: ana.user: larger than 512 MiB\n"));
}

#[test]
fn a_log_has_a_limit() {
    let mut lines = vec![b' '; 1 << 20];
    *lines.last_mut().unwrap() = b'\n';
    let endless = BufReader::with_capacity(1 << 20, Endless(lines));
    let error = fable_std::evaluate::read(&fable_core::catalog::TAU2, "log", endless).unwrap_err();
    assert_eq!(error.to_string(), "log:1025: a log has at most 1073741824 bytes");
}

/// The same bytes again and again.
struct Endless(Vec<u8>);

impl Read for Endless {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        buffer[..self.0.len()].copy_from_slice(&self.0); // the reader above asks for as much
        Ok(self.0.len())
    }
}

#[test]
fn the_limits_are_in_the_help() {
    let here = Path::new(".");
    for about in
        [&["import"][..], &["export"], &["replay"], &["inspect"], &["prior", "fit"], &["prior", "address"]]
    {
        let help = fable(here, &[about, &["--help"]].concat());
        assert!(String::from_utf8(help.stdout).unwrap().contains("512 MiB"), "{about:?}");
    }
}

/// Every command that writes a file about a user, and the file.
const WRITERS: &[(&[&str], &str)] = &[
    (&["export", "ana", "out.user", "--store", "users.fable"], "out.user"),
    (&["inspect", "ana.user", "--catalog", "tau2", "--svg", "out.svg"], "out.svg"),
    (
        &["prior", "address", "some.prior", "out.snapshot", "--user", "ana", "--catalog", "tau2"],
        "out.snapshot",
    ),
    (&["demo", "--fast", "--plain", "--rounds", "20", "--catalog", "tau2", "--svg", "demo.svg"], "demo.svg"),
];

/// A prior in f32, from which nothing differs.
fn with_prior(here: &Path) {
    use fable_core::{HostUser, Policy, Settings, catalog::TAU2};
    let policy = Policy::<f32>::new(&TAU2, Settings::default()).unwrap();
    fs::write(here.join("some.prior"), HostUser::<f32>::new(&policy, "").unwrap().to_bytes()).unwrap();
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn nobody_else_can_read_what_is_written_about_a_user() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    with_ana(here);
    with_prior(here);
    assert_eq!(mode(&here.join("users.fable")), 0o600);
    for (arguments, file) in WRITERS {
        let path = here.join(file);
        // A new file, and one that everybody could read before.
        for old in [false, true] {
            if old {
                fs::write(&path, "old").unwrap();
                fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
            }
            let output = fable(here, arguments);
            assert!(output.status.success(), "{arguments:?} {output:?}");
            assert_eq!(mode(&path), 0o600, "{file}");
            assert_ne!(fs::read(&path).unwrap(), b"old");
        }
    }
    let simulated = ["evaluate", "--simulate", "log.jsonl", "--rounds", "20", "--catalog", "tau2", "--json"];
    let report: Value = serde_json::from_slice(&fable(here, &simulated).stdout).unwrap();
    assert_eq!((report["lines"].as_u64(), mode(&here.join("log.jsonl"))), (Some(20), 0o600));
    let before = fs::read(here.join("log.jsonl")).unwrap();
    let (code, message) = fails(here, &simulated);
    assert!(code == 1 && message.starts_with("fable: log.jsonl: it is there already"), "{message}");
    assert_eq!(fs::read(here.join("log.jsonl")).unwrap(), before);
    let left: Vec<_> = fs::read_dir(here).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().starts_with('.')), "{left:?}");
}

/// A disk without room, as a limit on what a file may have: the old file is as it was, and nothing is left beside it.
#[test]
fn what_cannot_be_written_leaves_the_old_file() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    with_ana(here);
    with_prior(here);
    // A store could not even be opened so: `export` is not among them.
    for (arguments, file) in &WRITERS[1..] {
        fs::write(here.join(file), "old").unwrap();
        let mut limited = Command::new("sh");
        limited
            .args(["-c", "trap '' XFSZ; ulimit -f 0; exec \"$0\" \"$@\""])
            .arg(env!("CARGO_BIN_EXE_fable"));
        let before = fs::read_dir(here).unwrap().count();
        let output = limited.args(*arguments).current_dir(here).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{arguments:?} {output:?}");
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(message, format!("fable: {file}: File too large (os error 27)\n"));
        assert_eq!(fs::read(here.join(file)).unwrap(), b"old", "{file}");
        assert_eq!(fs::read_dir(here).unwrap().count(), before, "{file}");
    }
    for (arguments, file) in WRITERS {
        let nowhere: Vec<String> =
            arguments.iter().map(|word| word.replace(file, &format!("no/such/folder/{file}"))).collect();
        let nowhere: Vec<&str> = nowhere.iter().map(String::as_str).collect();
        let (code, message) = fails(here, &nowhere);
        assert!(code == 1 && message.starts_with(&format!("fable: no/such/folder/{file}: ")), "{message}");
    }
}
