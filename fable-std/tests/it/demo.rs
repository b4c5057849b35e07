//! The demo as a newcomer meets it: without a terminal, in one, and with mistakes.

use std::io::Read;
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn fable(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_fable")).args(arguments).current_dir(folder).output().unwrap()
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

/// The first page shows this picture and the crate's README these lines: `fable` alone makes both, anywhere.
#[test]
fn the_demo_is_what_the_readme_shows() {
    let folder = tempfile::tempdir().unwrap();
    let plain = fable(folder.path(), &[]);
    assert!(plain.status.success() && plain.stderr.is_empty());
    let plain = text(plain.stdout);
    assert!(plain.is_ascii() && !plain.contains('\x1b'), "plain lines are for every screen: {plain}");
    assert!(plain.lines().all(|line| line.len() <= 120 && line == line.trim_end()), "{plain}");
    let summary = &plain[plain.find("Mean reward").unwrap()..];
    assert!(summary.lines().all(|line| line.len() < 80), "{summary}");
    assert!(
        include_str!("../../README.md").contains(&format!("```text\n{summary}```\n")),
        "the README shows\n{summary}"
    );

    let picture = std::fs::read_to_string(folder.path().join("fable-demo.svg")).unwrap();
    assert!(
        picture == include_str!("../../../examples/demo.svg"),
        "examples/demo.svg is not what `fable demo` draws"
    );
    // Without a terminal `--plain` changes nothing, and the picture goes where it is told.
    let run = |arguments: &[&str]| {
        text(fable(folder.path(), &[&["demo", "--rounds", "20"], arguments].concat()).stdout)
    };
    let (short, again) = (run(&[]), run(&["--plain", "--svg", "other.svg"]));
    assert_eq!(again.replace("other.svg", "fable-demo.svg"), short);
    let [picture, other] = ["fable-demo.svg", "other.svg"]
        .map(|name| std::fs::read_to_string(folder.path().join(name)).unwrap());
    assert_eq!(picture, other);
}

/// The last lines of another user, in full: what was learned is near what is hidden, and what is nearest to certain is true.
#[test]
fn the_end_is_pinned() {
    let folder = tempfile::tempdir().unwrap();
    let plain = text(fable(folder.path(), &["demo", "--seed", "11", "--rounds", "120"]).stdout);
    assert_eq!(&plain[plain.find("Mean reward").unwrap()..], PINNED);
}

const PINNED: &str = "\
Mean reward of 60 lives                   first 20    last 20
  Fable          factorized, learns          +0.32      +0.64
  flat           one weight per action       +0.21      +0.50
  rules only     no learning                 +0.12      +0.13
  best possible  knows the user              +0.72      +0.72

What was found in the life shown            learned     hidden
  memory     likes     preference_memory      +0.13      +0.26
             dislikes  recent_memory          -0.05      -0.26
  tool       likes     no_tool                +0.16      +0.20
             dislikes  file_search            -0.07      -0.07
  style      likes     ask_clarification      +0.17      +0.30
             dislikes  direct                 -0.17      -0.34

Nothing is certain yet. Nearest, by what coins have won so far:
  When a request is unclear the user wants to be asked what is meant.
    13 coins, 5.0 of 640 needed
  For code the user prefers step-by-step answers to direct ones.
    8 coins, 2.0 of 640 needed
  When much is at stake the user wants to confirm first.
    6 coins, 1.9 of 640 needed

The picture is in fable-demo.svg. `fable demo --help` explains the words.
";

#[test]
fn other_seeds_rounds_and_catalogs() {
    let folder = tempfile::tempdir().unwrap();
    let lamp = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/catalogs/lamp.toml");
    let mut seen = Vec::new();
    for arguments in [
        ["--seed", "5"],
        ["--rounds", "40"],
        ["--catalog", "tau2"],
        ["--catalog", "rubric"],
        ["--catalog", lamp],
    ] {
        let demo = fable(folder.path(), &[&["demo", "--fast"][..], &arguments].concat());
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
        let environment = format!("env -u NO_COLOR {environment}");
        let command =
            format!("stty {size}; {environment} {} demo --fast --rounds 60", env!("CARGO_BIN_EXE_fable"));
        let script = Command::new("script")
            .args(["-qec", &command, "/dev/null"])
            .current_dir(&folder)
            .stdin(Stdio::null())
            .output();
        match script {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None, // no `script`, no terminal
            output => Some(text(output.unwrap().stdout).replace('\r', "")),
        }
    };
    let plain = text(fable(folder.path(), &["demo", "--rounds", "60"]).stdout);
    let summary = &plain[plain.find("Mean reward").unwrap()..];
    let Some(moving) = run("TERM=xterm-256color", "rows 40 cols 100") else { return };
    assert!(moving.contains("\x1b[1m") && moving.contains('█') && moving.contains("60/60"), "{moving}");
    assert!(moving.ends_with(summary));
    assert!(run("TERM=xterm", "rows 24 cols 80").unwrap().contains('█'), "the usual terminal has room");
    // Where there is no room, no cursor to move, or no wish for escape codes, there are plain lines.
    for (environment, size) in [
        ("TERM=xterm", "rows 20 cols 100"),
        ("TERM=xterm", "rows 40 cols 40"),
        ("TERM=dumb", "rows 40 cols 100"),
        ("NO_COLOR=1 TERM=xterm-256color", "rows 40 cols 100"),
    ] {
        assert_eq!(run(environment, size).unwrap(), plain, "{environment} {size}");
    }
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let folder = tempfile::tempdir().unwrap();
    let mut demo = Command::new(env!("CARGO_BIN_EXE_fable"));
    let mut demo = demo
        .args(["demo", "--plain", "--rounds", "20"])
        .current_dir(&folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
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
        assert!(output.stdout.is_empty(), "what cannot end well does not begin: {}", text(output.stdout));
        (output.status.code(), text(output.stderr))
    };
    let (code, message) = told(&["--svg", "no/such/folder.svg"]);
    assert!(code == Some(1) && message.starts_with("fable: no/such/folder.svg: "), "{message}");
    let (code, message) = told(&["--svg", "."]);
    assert!(code == Some(1) && message.starts_with("fable: .: "), "a folder is no file: {message}");
    let (code, message) = told(&["--catalog", "none.toml"]);
    assert!(code == Some(1) && message.starts_with("fable: none.toml: "), "{message}");
    let (code, message) = told(&["--catalog", "golf"]);
    assert!(code == Some(2) && message.starts_with("fable: there is no catalog 'golf'"), "{message}");
    for wrong in [["--rounds", "19"], ["--rounds", "2001"], ["--seed", "-1"], ["--seed", "x"]] {
        let (code, message) = told(&wrong);
        assert!(code == Some(2) && message.contains(wrong[1]), "{message}");
    }
}

/// Every word that stands in front of or above something is explained, on the moving screen too.
#[test]
fn help_explains_every_word_on_the_screen() {
    let folder = tempfile::tempdir().unwrap();
    let help = text(fable(folder.path(), &["demo", "--help"]).stdout);
    // A line of the help starts with one or more terms; others stand in backticks.
    let terms: Vec<&str> = help
        .lines()
        .filter_map(|line| line.strip_prefix("  ").filter(|line| !line.starts_with(' ')))
        .flat_map(|line| line.split("  ").next().unwrap().split(", "))
        .chain(help.split('`').skip(1).step_by(2))
        .collect();
    let plain = text(fable(folder.path(), &["demo", "--rounds", "60"]).stdout);
    let (rounds, summary) = plain.split_at(plain.find("Mean reward").unwrap());
    let mut words: Vec<&str> = vec!["forbidden", "certain", "coins", "to be sure", "the bars", "the curves"];
    words.extend([
        "the bonus for what is uncertain",
        "the draw",
        "needed",
        "really",
        "by now",
        "a coin agreed",
        "the other way",
    ]);
    for line in rounds.lines().filter_map(|line| line.strip_prefix("  ")) {
        let (word, rest) = line.split_at(8);
        words.push(word.trim());
        if word.trim() == "lately" {
            words.extend(rest.split(", ").map(|part| part.rsplit_once(' ').unwrap().0));
        }
    }
    for line in summary.lines().filter(|line| line.contains("   ")) {
        let mut cells = line.split("  ").map(str::trim).filter(|cell| !cell.is_empty());
        if line.starts_with(' ') {
            words.extend(cells.filter(|cell| {
                matches!(*cell, "likes" | "dislikes") || line.starts_with(&format!("  {cell}   "))
            }));
        } else {
            cells.next();
            words.extend(
                cells.map(|cell| {
                    cell.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == ' ')
                }),
            );
        }
    }
    words.retain(|word| !["memory", "tool", "style"].contains(word)); // components, which the catalog names
    for word in &words {
        assert!(terms.contains(word), "'{word}' is not explained; there are {terms:?}");
    }
    for word in ["asked", "lately", "rules only", "best possible", "first", "learned", "hidden", "dislikes"] {
        assert!(words.contains(&word), "'{word}' was not looked for: {words:?}");
    }
}
