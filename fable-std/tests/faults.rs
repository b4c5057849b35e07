//! A fault inside: whatever a damaged store makes of the storage library, the command ends with a line and a code, never with a
//! raw panic and never not at all.

use fable_serve_tests::dice::Dice;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Serves a few requests to the end.
fn serve(store: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fable"));
    command.args(["serve", "--catalog", "tau2", "--store"]).arg(store).env("RUST_BACKTRACE", "1");
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let decide = |user: u32| format!("{{\"op\":\"decide\",\"user\":\"user{user}\",\"context\":{{}}}}\n");
    let lines: String = (0..100).map(|line| decide(line % 20)).collect();
    let _ = child.stdin.take().unwrap().write_all(lines.as_bytes()); // it may have ended
    child.wait_with_output().unwrap()
}

#[test]
fn a_damaged_store_ends_with_a_line() {
    let folder = tempfile::tempdir().unwrap();
    let (whole, damaged) = (folder.path().join("whole.fable"), folder.path().join("damaged.fable"));
    assert!(serve(&whole).status.success());
    let (bytes, mut dice) = (fs::read(&whole).unwrap(), Dice::new(7));
    for _ in 0..80 {
        let mut copy = bytes.clone();
        for _ in 0..*dice.pick(&[1, 4, 64]) {
            let reach = if dice.once_in(2) { 4096 } else { bytes.len() };
            let place = dice.below(reach);
            copy[place] = dice.next() as u8;
        }
        fs::write(&damaged, copy).unwrap();
        let output = serve(&damaged);
        let said = String::from_utf8(output.stderr).unwrap();
        let code = output.status.code();
        assert!(matches!(code, Some(0 | 1 | 2 | 70)), "{code:?} {said}");
        if code != Some(0) {
            assert!(said.starts_with("fable: ") && said.lines().count() == 1, "{said}");
        }
        assert_eq!(said.contains("please report it"), code == Some(70), "{said}");
    }
}
