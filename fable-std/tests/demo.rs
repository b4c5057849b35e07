//! The demo as a newcomer meets it: without a terminal, in one, and with mistakes.

use std::io::Read;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

fn fable(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_fable")).args(arguments).current_dir(folder).output().unwrap()
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

/// The README shows this picture and these lines: `fable demo` makes both, anywhere, in less than 20 seconds.
#[test]
fn the_demo_is_what_the_readme_shows() {
    let folder = tempfile::tempdir().unwrap();
    let started = Instant::now();
    let plain = fable(folder.path(), &[]);
    assert!(plain.status.success());
    assert!(started.elapsed() < Duration::from_secs(20));
    let plain = text(plain.stdout);
    assert!(plain.is_ascii(), "plain lines are for every screen: {plain}");
    let summary = &plain[plain.find("Mean reward").unwrap()..];
    assert_eq!(summary, SUMMARY);
    assert!(include_str!("../../README.md").contains(summary), "the README shows what the demo prints:\n{summary}");

    let picture = std::fs::read_to_string(folder.path().join("fable-demo.svg")).unwrap();
    assert!(picture == include_str!("../../examples/demo.svg"), "examples/demo.svg is not what `fable demo` draws");
    let again = fable(folder.path(), &["demo", "--plain", "--svg", "other.svg"]);
    assert_eq!(text(again.stdout).replace("other.svg", "fable-demo.svg"), plain);
    assert_eq!(std::fs::read_to_string(folder.path().join("other.svg")).unwrap(), picture);
}

const SUMMARY: &str = "";

#[test]
fn other_seeds_rounds_and_catalogs() {
    let folder = tempfile::tempdir().unwrap();
    let lamp = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/catalogs/lamp.toml");
    let mut seen = Vec::new();
    for arguments in [["--seed", "5"], ["--rounds", "40"], ["--catalog", "tau2"], ["--catalog", "rubric"], ["--catalog", lamp]] {
        let demo = fable(folder.path(), &[&["demo", "--fast", "--rounds", "60"][..2], &arguments].concat());
        assert!(demo.status.success(), "{arguments:?}: {}", text(demo.stderr));
        let demo = text(demo.stdout);
        assert!(demo.contains("round 1\n  asked   \"") && demo.contains("\nMean reward of "), "{demo}");
        assert!(!seen.contains(&demo));
        seen.push(demo);
    }
    assert!(seen[1].contains("\nround 40\n") && !seen[1].contains("\nround 100\n"));
    assert!(seen[2].starts_with("Fable learns") && seen[2].contains("18 actions, 18 of them allowed"));
}

/// In a terminal things move; the same summary stands at the end. `script` plays the terminal.
#[test]
fn in_a_terminal_it_moves() {
    let folder = tempfile::tempdir().unwrap();
    let run = |environment: &str, size: &str| {
        let command = format!("stty {size}; {environment} {} demo --fast --rounds 60", env!("CARGO_BIN_EXE_fable"));
        let script =
            Command::new("script").args(["-qec", &command, "/dev/null"]).current_dir(&folder).stdin(Stdio::null()).output();
        match script {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None, // no `script`, no terminal
            output => Some(text(output.unwrap().stdout).replace('\r', "")),
        }
    };
    let plain = text(fable(folder.path(), &["demo", "--rounds", "60"]).stdout);
    let summary = &plain[plain.find("Mean reward").unwrap()..];
    let Some(moving) = run("TERM=xterm-256color", "rows 40 cols 100") else { return };
    assert!(moving.contains("\x1b[") && moving.contains('█') && moving.contains("60/60"), "{moving}");
    assert!(moving.ends_with(summary));
    // No colour means no colour; movement is another matter.
    let uncoloured = run("NO_COLOR=1 TERM=xterm-256color", "rows 40 cols 100").unwrap();
    assert!(moving.contains("\x1b[1m") && !uncoloured.contains("\x1b[1m") && !uncoloured.contains("\x1b[36m"), "{uncoloured}");
    assert!(uncoloured.contains('█'));
    // Where there is no room, or no cursor to move, there are plain lines.
    for (environment, size) in
        [("TERM=xterm", "rows 10 cols 100"), ("TERM=xterm", "rows 40 cols 40"), ("TERM=dumb", "rows 40 cols 100")]
    {
        assert_eq!(run(environment, size).unwrap(), plain, "{environment} {size}");
    }
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let folder = tempfile::tempdir().unwrap();
    let mut demo = Command::new(env!("CARGO_BIN_EXE_fable"));
    let mut demo =
        demo.args(["demo", "--plain"]).current_dir(&folder).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(demo.stdout.take());
    let mut said = String::new();
    demo.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert!(demo.wait().unwrap().success() && said.is_empty(), "{said}");
}

#[test]
fn mistakes_are_told_in_a_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let told = |arguments: &[&str]| {
        let output = fable(folder.path(), &[&["demo"], arguments].concat());
        (output.status.code(), text(output.stderr))
    };
    let (code, message) = told(&["--svg", "no/such/folder.svg"]);
    assert!(code == Some(1) && message.starts_with("fable: no/such/folder.svg: "), "{message}");
    let (code, message) = told(&["--catalog", "golf"]);
    assert!(code == Some(2) && message.starts_with("fable: there is no catalog 'golf'"), "{message}");
    for wrong in [["--rounds", "19"], ["--rounds", "10001"], ["--seed", "-1"], ["--seed", "x"]] {
        let (code, message) = told(&wrong);
        assert!(code == Some(2) && message.contains(wrong[1]), "{message}");
    }
}

/// Every word that stands in front of something is explained.
#[test]
fn help_explains_every_word_on_the_screen() {
    let folder = tempfile::tempdir().unwrap();
    let help = text(fable(folder.path(), &["demo", "--help"]).stdout);
    for word in [
        "asked",
        "chosen",
        "why",
        "reward",
        "lately",
        "the draw",
        "Fable",
        "flat",
        "rules only",
        "best possible",
        "a life",
        "learned",
        "hidden",
        "promoted",
        "probability",
        "forbidden",
    ] {
        assert!(help.contains(&format!("\n  {word} ")) || help.contains(&format!("`{word}`")), "{word}");
    }
}
