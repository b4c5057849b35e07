//! Logs that people write, and what `fable evaluate` says about them.

use fable_core::catalog::{AGENT, TAU2};
use fable_core::{Action, Policy, Settings};
use fable_std::evaluate::{LogFlaw, MAX_LINE, Record, read, simulate};
use fable_std::simulate::SimulatedUser;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// A line of `tau2` with everything in it: the request, the answer and the reward put together.
const LINE: &str = r#"{"op":"decide","id":7,"at":12,"user":"ana","context":{"task":null},"forbid":[{"memory":"conversation"}],"require":[{"tool":["standard","verify"]}],"only":[{"style":"direct"},{"style":"concise","tool":"standard"}],"decision":"e6f79c19051ffb05-0-1","action":{"memory":"current_turn","tool":"verify","style":"direct"},"instruction":"Answer.","explored":false,"score":0.1,"sampled_score":0.2,"feasible":3,"propensities":[0.25,0.25,0,0.5,0,0,0,0,0,0,0,0,0,0,0,0,0,0],"draws":1,"reward":-0.5}"#;

fn flaw(from: &str, to: &str) -> LogFlaw {
    assert!(LINE.contains(from), "{from}");
    Record::read(&TAU2, LINE.replacen(from, to, 1).as_bytes()).unwrap_err()
}

#[test]
fn a_line_is_a_request_its_answer_and_the_reward() {
    let record = Record::read(&TAU2, LINE.as_bytes()).unwrap();
    let allowed: Vec<usize> = record.feasible.set().iter().map(Action::index).collect();
    assert_eq!((allowed, record.action, record.reward), (vec![0, 1, 3], Action(3), -0.5));
    assert_eq!((record.user.as_str(), record.draws, record.propensities[3]), ("ana", Some(1), 0.5));
    let least = r#"{"context":{},"action":{"memory":"current_turn","tool":"standard","style":"direct"},"reward":1,
        "propensities":[1,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]}"#;
    let record = Record::read(&TAU2, least.as_bytes()).unwrap();
    assert_eq!((record.feasible.len(), record.user.as_str(), record.draws), (18, "", None));
}

#[test]
fn every_mistake_has_its_sentence() {
    let says = |from, to, expected: &str| {
        let said = flaw(from, to).to_string();
        assert!(said.contains(expected), "{said}");
    };
    says("{\"op\"", "\"op\"", "the line is not one JSON object");
    says("}]", "", "the line is not one JSON object");
    says("\"reward\":-0.5", "\"rewards\":-0.5", "there is no key 'rewards'; did you mean 'reward'?");
    says(",\"reward\":-0.5", "", "'reward' is missing");
    says("-0.5", "-1.5", "'reward' must be from -1 to 1");
    says("-0.5", "\"bad\"", "'reward' must be a number");
    says("\"ana\"", "7", "'user' must be text");
    says("null", "\"coding\"", "there is no task 'coding': none is declared");
    says("\"task\":null", "\"risk\":0.5", "there is no signal 'risk': none is declared");
    says("{\"task\":null}", "[]", "'context' must be an object");
    says("[{\"memory\":\"conversation\"}]", "{}", "'forbid' must be a list");
    says(
        "\"memory\":\"conversation\"",
        "\"memori\":\"conversation\"",
        "there is no component 'memori'; did you mean 'memory'?",
    );
    says(
        "\"memory\":\"conversation\"",
        "\"memory\":\"conversaton\"",
        "'memory' has no value 'conversaton'; did you mean 'conversation'?",
    );
    says("{\"memory\":\"conversation\"}", "{}", "empty pattern");
    says(
        "{\"memory\":\"conversation\"}",
        "{\"memory\":[\"conversation\",\"current_turn\"]}",
        "no feasible action",
    );
    says(",\"style\":\"direct\"}", "}", "a value for each component");
    says("[0.25,0.25,0,", "[0.25,0.25,", "'propensities' must be 18 numbers, one per action, not 17");
    says("[0.25,0.25,0,", "[0.25,0.25,\"0\",", "'propensities' must be a number");
    says(
        "[0.25,0.25,",
        "[0.25,-0.25,",
        "the propensity of memory=current_turn*tool=standard*style=concise must be from 0 to 1",
    );
    says("[0.25,0.25,0,", "[0.25,0.2,0.05,", "style=guided has a propensity but is not allowed in this line");
    says("[0.25,0.25,", "[0.25,0.15,", "the propensities add up to 0.900, not to 1");
    says("[0.25,0.25,0,0.5", "[0.25,0.75,0,0", "the action has propensity 0");
    says("\"draws\":1", "\"draws\":0", "'draws' must be a whole number from 1");
    says("\"draws\":1", "\"defaults\":[1]", "'defaults' must be 18 numbers, one per action, not 1");
    let agent =
        r#"{"context":{"task":"codin","risk":0.1,"ambiguity":0.1,"memory_need":0.1,"tool_need":0.1}}"#;
    let said = |line: &str| Record::read(&AGENT, line.as_bytes()).unwrap_err().to_string();
    assert!(said(agent).starts_with("there is no task 'codin'; did you mean 'coding'?"));
    assert!(
        said(&agent.replace("codin", "coding").replace("\"risk\":0.1,", ""))
            .contains("each of its 4 signals once")
    );
    assert!(
        said(&agent.replace("codin", "coding").replace("0.1,\"amb", "1.1,\"amb"))
            .contains("signal 0 is not a number from 0 to 1")
    );
}

#[test]
fn mistakes_are_told_with_their_line_and_blank_lines_count() {
    let text = format!("{LINE}\n\n  \n{LINE}\n{}", LINE.replace("ana", "ben"));
    let records = read(&TAU2, "log.jsonl", text.as_bytes()).unwrap();
    assert_eq!(records.iter().map(|record| record.line).collect::<Vec<_>>(), [1, 4, 5]);
    let error = read(&TAU2, "log.jsonl", format!("{text}\n{{}}\n").as_bytes()).unwrap_err();
    assert_eq!((error.line, error.to_string().as_str()), (6, "log.jsonl:6: 'context' is missing"));
    let long = " ".repeat(usize::try_from(MAX_LINE).unwrap() + 1);
    assert_eq!(
        read(&TAU2, "log.jsonl", format!("{LINE}\n{long}").as_bytes()).unwrap_err().flaw,
        LogFlaw::TooLong
    );
    assert!(matches!(read(&TAU2, "log.jsonl", &b"\xff\n"[..]).unwrap_err().flaw, LogFlaw::Json(_)));
}

/// What is written is read again, with values forbidden, with single actions forbidden, and with defaults.
#[test]
fn a_written_line_is_the_same_line() {
    let policy = Policy::new(&AGENT, Settings::default()).unwrap();
    let mut log = simulate(&SimulatedUser::new(&AGENT, 1), &policy, 20, 50).unwrap();
    log.push(Record {
        defaults: Some(vec![0.25; 180]),
        user: "ana \"b\"".into(),
        draws: None,
        ..log[0].clone()
    });
    for record in &log {
        let line = record.write(&AGENT);
        assert!(!line.contains("only") && !line.contains("forbid"));
        let again = Record::read(&AGENT, line.as_bytes()).unwrap();
        assert_eq!(Record { line: record.line, ..again }, *record);
    }
    for (from, to, key) in [
        ("", "", "only"),
        (r#","only":[{"style":"direct"},{"style":"concise","tool":"standard"}]"#, "", "forbid"),
    ] {
        let record = Record::read(&TAU2, LINE.replace(from, to).as_bytes()).unwrap();
        let line = record.write(&TAU2);
        assert!(line.contains(&format!("\"{key}\":[")), "{line}");
        assert_eq!(Record::read(&TAU2, line.as_bytes()).unwrap(), record);
    }
}

fn fable(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_fable"))
        .arg("evaluate")
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

/// The README shows three commands and what the second one prints.
#[test]
fn the_readme_shows_what_is_printed() {
    let folder = tempfile::tempdir().unwrap();
    let readme = include_str!("../../README.md");
    let commands = readme.lines().filter_map(|line| line.strip_prefix("fable evaluate "));
    let commands: Vec<&str> = commands.map(|line| line.split('#').next().unwrap().trim()).collect();
    assert_eq!(commands.len(), 3, "{commands:?}");
    let [_, printed, coins] = [commands[0], commands[1], commands[2]]
        .map(|command| text(fable(folder.path(), &command.split_whitespace().collect::<Vec<_>>()).stdout));
    assert!(coins.contains("\ntruth ") && coins.contains("\nunsupported      0.0%\n"), "{coins}");
    assert!(printed.contains("\nwarning: "), "a warning is shown too: {printed}");
    assert!(readme.contains(&format!("```text\n{printed}```\n")), "the README shows\n{printed}");
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

/// The help's examples, one after the other.
#[test]
fn the_command_as_its_help_shows_it() {
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| {
        let output = fable(folder.path(), arguments);
        assert!(output.status.success(), "{arguments:?}: {}", text(output.stderr));
        text(output.stdout)
    };
    let small = ["--catalog", "tau2", "--draws", "50"];
    let first = run(&[&["--simulate", "try.jsonl", "--rounds", "200"][..], &small].concat());
    // Every word in front of or above something is explained.
    let help = run(&["--help"]);
    let mut words = 0;
    for line in first.lines().filter(|line| !line.is_empty()) {
        let (head, rest) = line.split_at(17);
        let head = if head.trim().is_empty() {
            rest.split("  ").map(str::trim).filter(|word| !word.is_empty()).collect()
        } else {
            vec![head.trim()]
        };
        for word in head {
            words += 1;
            assert!(help.contains(&format!("\n  {word}  ")), "'{word}' is not explained");
        }
    }
    assert_eq!(words, 15, "{first}");
    // The same log and settings give the same estimates, and other settings others.
    let again = run(&[&["try.jsonl"][..], &small].concat());
    assert_eq!(
        again,
        first.split_inclusive('\n').filter(|line| !line.starts_with("truth")).collect::<String>()
    );
    assert_ne!(run(&[&["try.jsonl", "--nu", "0.1"][..], &small].concat()), again);

    let json =
        run(&[&["try.jsonl", "--frozen", "--train", "100", "--greedy", "--json"][..], &small].concat());
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(
        (&value["lines"], &value["trained"], &value["target"], &value["greedy"]),
        (&100.into(), &100.into(), &"frozen".into(), &true.into())
    );
    for estimate in ["logged", "ips", "snips", "doubly_robust", "gain"] {
        let number = |key: &str| value[estimate][key].as_f64().unwrap();
        assert!(number("lower") <= number("value") && number("value") <= number("upper"));
    }
    assert!(value["truth"].is_null() && value["warnings"].is_array());

    // A log through a pipe is the same log.
    let log = std::fs::File::open(folder.path().join("try.jsonl")).unwrap();
    let piped = Command::new(env!("CARGO_BIN_EXE_fable"))
        .args(["evaluate", "-"])
        .args(small)
        .stdin(log)
        .output()
        .unwrap();
    assert_eq!(text(piped.stdout).replace("-: 200", "try.jsonl: 200"), again);
}

#[test]
fn mistakes_on_purpose() {
    let folder = tempfile::tempdir().unwrap();
    let told = |arguments: &[&str]| {
        let output = fable(folder.path(), arguments);
        assert!(output.stdout.is_empty());
        (output.status.code().unwrap(), text(output.stderr))
    };
    std::fs::write(
        folder.path().join("log.jsonl"),
        format!("{LINE}\n{LINE}\n{}\n", LINE.replace("ana", "ben")),
    )
    .unwrap();
    assert!(fable(folder.path(), &["log.jsonl", "--catalog", "tau2"]).status.success());
    let (code, message) = told(&["log.jsonl"]);
    assert!(code == 2 && message.starts_with("fable: log.jsonl:1: "), "{message}");
    let (code, message) = told(&["none.jsonl"]);
    assert!(code == 1 && message.starts_with("fable: none.jsonl: "), "{message}");
    let (code, message) = told(&["--simulate", "log.jsonl", "--catalog", "tau2"]);
    assert!(code == 1 && message.contains("log.jsonl"), "a log is never overwritten: {message}");
    let (code, message) = told(&["log.jsonl", "--catalog", "tau2", "--train", "2"]);
    assert_eq!(
        (code, message.as_str()),
        (2, "fable: the log has 3 lines, 2 of them to learn from; at least 2 are needed to evaluate\n")
    );
    let (code, message) = told(&["log.jsonl", "--catalog", "tau2", "--nu", "0"]);
    assert_eq!((code, message.as_str()), (2, "fable: --nu: nu must be a number from 0.000001 to 1000\n"));
    for wrong in [
        &["log.jsonl", "--draws", "0"][..],
        &["log.jsonl", "--logged-draws", "0"],
        &["log.jsonl", "--rounds", "5"],
        &["--simulate"],
        &[],
    ] {
        assert_eq!(told(wrong).0, 2, "{wrong:?}");
    }
    std::fs::write(folder.path().join("empty.jsonl"), "").unwrap();
    assert_eq!(told(&["empty.jsonl"]).0, 2);
}
