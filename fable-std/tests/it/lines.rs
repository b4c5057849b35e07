//! Whatever comes as a line: the documented codes, the documented limits, noise, the end of the input, signals.
//!
//! FABLE_LINES=N sends N lines of each kind of noise instead of 3,000.

use fable_core::{Settings, catalog};
use fable_serve_tests::dice::Dice;
use fable_serve_tests::oracle::Oracle;
use fable_serve_tests::play::Play;
use fable_serve_tests::script::Script;
use fable_serve_tests::service::Service;
use fable_std::serve::{Code, MAX_LINE, Options, PROTOCOL, ServeError, serve, user_bytes};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

fn fable() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_fable"))
}

fn code_of(answer: &Value) -> &str {
    answer["error"]["code"].as_str().unwrap_or("none")
}

/// Lines that must be refused, each with its code.
const REFUSED: &[(&str, &str)] = &[
    ("", "bad_json"),
    ("   ", "bad_json"),
    ("nonsense", "bad_json"),
    ("[]", "bad_json"),
    ("7", "bad_json"),
    ("null", "bad_json"),
    ("\"decide\"", "bad_json"),
    ("{\"op\":\"stats\"", "bad_json"),
    ("{\"op\":\"stats\"} {}", "bad_json"),
    ("{\"op\":\"stats\",}", "bad_json"),
    ("{\"op\":\"feedback\",\"decision\":\"x\",\"reward\":1e999}", "out_of_range"),
    ("{\"op\":\"feedback\",\"decision\":\"x\",\"reward\":NaN}", "bad_json"),
    ("{}", "bad_request"),
    ("{\"op\":7}", "bad_request"),
    ("{\"op\":\"stats\",\"op\":\"stats\"}", "bad_request"),
    ("{\"op\":\"stats\",\"extra\":1}", "bad_request"),
    ("{\"op\":\"stats\",\"user\":\"ana\"}", "bad_request"),
    ("{\"op\":\"stats\",\"user\":null}", "bad_request"),
    ("{\"op\":\"Stats\"}", "unknown_op"),
    ("{\"op\":\"\"}", "unknown_op"),
    ("{\"op\":\"posterior\"}", "bad_request"),
    ("{\"op\":\"posterior\",\"user\":[\"ana\"]}", "bad_request"),
    ("{\"op\":\"posterior\",\"user\":\"\"}", "out_of_range"),
    ("{\"op\":\"decide\",\"user\":\"ana\"}", "bad_request"),
    ("{\"op\":\"decide\",\"user\":\"ana\",\"context\":[]}", "bad_request"),
    ("{\"op\":\"decide\",\"user\":\"ana\",\"context\":CONTEXT,\"at\":-1}", "bad_request"),
    ("{\"op\":\"decide\",\"user\":\"ana\",\"context\":CONTEXT,\"at\":4294967296}", "bad_request"),
    ("{\"op\":\"decide\",\"user\":\"ana\",\"context\":CONTEXT,\"propensities\":1.5}", "bad_request"),
    ("{\"op\":\"decide\",\"user\":\"ana\",\"context\":CONTEXT,\"propensities\":10001}", "out_of_range"),
    ("{\"op\":\"decide\",\"user\":\"ana\",\"context\":{}}", "bad_context"),
    (
        "{\"op\":\"decide\",\"user\":\"ana\",\"context\":{\"risk\":0,\"risk\":0,\"ambiguity\":0,\"memory_need\":0}}",
        "bad_context",
    ),
    ("{\"op\":\"decide\",\"user\":\"ana\",\"context\":{\"task\":\"a\",\"task\":\"a\"}}", "bad_request"),
    (
        "{\"op\":\"decide\",\"user\":\"ana\",\"context\":{\"task\":\"golf\",\"risk\":0,\"ambiguity\":0,\"memory_need\":0,\"tool_need\":0}}",
        "unknown_name",
    ),
    (
        "{\"op\":\"decide\",\"user\":\"ana\",\"context\":{\"mood\":0,\"risk\":0,\"ambiguity\":0,\"memory_need\":0,\"tool_need\":0}}",
        "unknown_name",
    ),
    (
        "{\"op\":\"decide\",\"user\":\"ana\",\"context\":{\"risk\":1.1,\"ambiguity\":0,\"memory_need\":0,\"tool_need\":0}}",
        "out_of_range",
    ),
    (
        "{\"op\":\"decide\",\"user\":\"ana\",\"context\":{\"risk\":1e300,\"ambiguity\":0,\"memory_need\":0,\"tool_need\":0}}",
        "out_of_range",
    ),
    (
        "{\"op\":\"decide\",\"user\":\"ana\",\"context\":CONTEXT,\"forbid\":{\"tool\":\"web_search\"}}",
        "bad_request",
    ),
    ("{\"op\":\"decide\",\"user\":\"ana\",\"context\":CONTEXT,\"forbid\":[{}]}", "bad_pattern"),
    ("{\"op\":\"decide\",\"user\":\"ana\",\"context\":CONTEXT,\"forbid\":[{\"tool\":[]}]}", "bad_pattern"),
    (
        "{\"op\":\"decide\",\"user\":\"ana\",\"context\":CONTEXT,\"forbid\":[{\"tool\":[\"no_tool\",\"no_tool\"]}]}",
        "bad_pattern",
    ),
    (
        "{\"op\":\"decide\",\"user\":\"ana\",\"context\":CONTEXT,\"forbid\":[{\"tool\":\"no_tool\",\"tool\":\"no_tool\"}]}",
        "bad_pattern",
    ),
    (
        "{\"op\":\"decide\",\"user\":\"ana\",\"context\":CONTEXT,\"forbid\":[{\"tools\":\"no_tool\"}]}",
        "unknown_name",
    ),
    (
        "{\"op\":\"decide\",\"user\":\"ana\",\"context\":CONTEXT,\"forbid\":[{\"tool\":\"hammer\"}]}",
        "unknown_name",
    ),
    ("{\"op\":\"decide\",\"user\":\"ana\",\"context\":CONTEXT,\"only\":[]}", "infeasible"),
    (
        "{\"op\":\"decide\",\"user\":\"ana\",\"context\":CONTEXT,\"forbid\":[{\"tool\":\"no_tool\"}],\"require\":[{\"tool\":\"no_tool\"}]}",
        "infeasible",
    ),
    ("{\"op\":\"decide\",\"user\":\"ana\",\"context\":CONTEXT,\"defaults\":[1,2,3]}", "out_of_range"),
    ("{\"op\":\"decide\",\"user\":\"ana\",\"context\":CONTEXT,\"defaults\":DEFAULTS}", "out_of_range"),
    ("{\"op\":\"observe\",\"user\":\"ana\",\"context\":CONTEXT,\"reward\":0.5}", "bad_request"),
    (
        "{\"op\":\"observe\",\"user\":\"ana\",\"context\":CONTEXT,\"action\":{\"tool\":\"no_tool\"},\"reward\":0.5}",
        "incomplete_action",
    ),
    (
        "{\"op\":\"observe\",\"user\":\"ana\",\"context\":CONTEXT,\"action\":{\"tool\":[\"no_tool\"]},\"reward\":0.5}",
        "bad_request",
    ),
    (
        "{\"op\":\"observe\",\"user\":\"ana\",\"context\":CONTEXT,\"action\":ACTION,\"reward\":1.5}",
        "out_of_range",
    ),
    (
        "{\"op\":\"observe\",\"user\":\"ana\",\"context\":CONTEXT,\"action\":ACTION,\"reward\":0.5,\"weight\":0}",
        "out_of_range",
    ),
    ("{\"op\":\"onboard\",\"user\":\"ana\"}", "bad_request"),
    ("{\"op\":\"onboard\",\"user\":\"ana\",\"statements\":[[]]}", "bad_request"),
    (
        "{\"op\":\"onboard\",\"user\":\"ana\",\"statements\":[{\"prefer\":{\"style\":\"concise\"},\"response\":1}]}",
        "bad_request",
    ),
    (
        "{\"op\":\"onboard\",\"user\":\"ana\",\"statements\":[{\"response\":1,\"precision\":4}]}",
        "bad_request",
    ),
    (
        "{\"op\":\"onboard\",\"user\":\"ana\",\"statements\":[{\"prefer\":{\"style\":\"concise\"},\"when\":{},\"response\":1,\"precision\":4}]}",
        "bad_request",
    ),
    (
        "{\"op\":\"onboard\",\"user\":\"ana\",\"statements\":[{\"prefer\":{\"style\":\"concise\"},\"when\":{\"task\":\"golf\"},\"response\":1,\"precision\":4}]}",
        "unknown_name",
    ),
    (
        "{\"op\":\"onboard\",\"user\":\"ana\",\"statements\":[{\"prefer\":{\"style\":\"concise\"},\"when\":{\"signal\":\"mood\"},\"response\":1,\"precision\":4}]}",
        "unknown_name",
    ),
    (
        "{\"op\":\"onboard\",\"user\":\"ana\",\"statements\":[{\"prefer\":{\"style\":\"concise\"},\"response\":2,\"precision\":4}]}",
        "out_of_range",
    ),
    (
        "{\"op\":\"onboard\",\"user\":\"ana\",\"statements\":[{\"prefer\":{\"style\":\"concise\"},\"response\":1,\"precision\":1e9}]}",
        "out_of_range",
    ),
    (
        "{\"op\":\"onboard\",\"user\":\"ana\",\"statements\":[{\"prefer\":{\"memory\":\"recent_memory\"},\"when\":{\"task\":\"coding\"},\"response\":1,\"precision\":4}]}",
        "no_coordinate",
    ),
    (
        "{\"op\":\"onboard\",\"user\":\"ana\",\"statements\":[{\"direction\":{},\"response\":1,\"precision\":4}]}",
        "bad_direction",
    ),
    (
        "{\"op\":\"onboard\",\"user\":\"ana\",\"statements\":[{\"direction\":{\"style=loud\":1},\"response\":1,\"precision\":4}]}",
        "unknown_name",
    ),
    (
        "{\"op\":\"onboard\",\"user\":\"ana\",\"statements\":[{\"direction\":{\"task=coding*style=concise\":1,\"task=factual*style=concise\":1},\"response\":1,\"precision\":4}]}",
        "bad_direction",
    ),
    (
        "{\"op\":\"contrast\",\"user\":\"ana\",\"context\":CONTEXT,\"prefer\":ACTION,\"over\":ACTION}",
        "bad_contrast",
    ),
    ("{\"op\":\"feedback\",\"decision\":\"tuesday\",\"reward\":0.5}", "unknown_decision"),
    ("{\"op\":\"feedback\",\"decision\":\"e6f79c19051ffb05-0-1\",\"reward\":0.5}", "unknown_decision"),
    ("{\"op\":\"explain\",\"decision\":\"e6f79c19051ffb05-0-1\"}", "unknown_decision"),
    ("{\"op\":\"unlearn\",\"decision\":\"e6f79c19051ffb05-0-1\"}", "unknown_decision"),
];

fn line(text: &str) -> String {
    let context = r#"{"task":null,"risk":0.1,"ambiguity":0.2,"memory_need":0.7,"tool_need":0.3}"#;
    let action = r#"{"memory":"no_memory","tool":"no_tool","style":"direct"}"#;
    text.replace("CONTEXT", context)
        .replace("ACTION", action)
        .replace("DEFAULTS", &json!(vec![1e6; 180]).to_string())
}

#[test]
fn every_code_is_documented_and_given() {
    let documented: BTreeSet<String> = PROTOCOL
        .lines()
        .skip_while(|line| !line.starts_with("| code |"))
        .filter_map(|line| line.strip_prefix("| `")?.split_once('`').map(|(code, _)| code.to_owned()))
        .collect();
    let codes: BTreeSet<String> =
        Code::ALL.iter().map(|code| json!(code).as_str().unwrap().to_owned()).collect();
    assert_eq!(documented, codes);

    let mut service = Service::start(fable(), ["--scalar", "f64", "--cache", "880KB"]); // four users
    let mut given = BTreeSet::new();
    for (text, code) in REFUSED {
        let answer = service.ask(&line(text));
        assert_eq!(code_of(&answer), *code, "{text} {answer}");
        assert!(answer["error"]["message"].as_str().is_some_and(|message| message.len() > 10), "{answer}");
        given.insert((*code).to_owned());
    }
    // Nothing was changed by any of them.
    assert_eq!(service.ask(r#"{"op":"stats"}"#)["users"], 0);

    let mut expect = |service: &mut Service, text: &str, code: &str| {
        let answer = service.ask(&line(text));
        assert_eq!(code_of(&answer), code, "{text} {answer}");
        given.insert(code.to_owned());
        answer
    };
    let decide = r#"{"op":"decide","user":"ana","context":CONTEXT}"#;
    let decision = expect(&mut service, decide, "none")["decision"].as_str().unwrap().to_owned();
    let about = |op: &str, more: &str| format!(r#"{{"op":"{op}","decision":"{decision}"{more}}}"#);
    expect(&mut service, &about("unlearn", ""), "not_learned");
    expect(&mut service, &about("explain", ""), "none");
    expect(&mut service, &about("feedback", r#","reward":0.5"#), "none");
    expect(&mut service, &about("feedback", r#","reward":0.5"#), "duplicate_feedback");
    expect(&mut service, &about("unlearn", ""), "none");
    expect(&mut service, &about("unlearn", ""), "not_learned");
    for _ in 0..30 {
        let observe = r#"{"op":"observe","user":"ana","context":CONTEXT,"action":ACTION,"reward":1}"#;
        expect(&mut service, observe, "none");
    }
    expect(&mut service, &about("explain", r#","defaults":[1]"#), "out_of_range");
    let defaults = json!((0..180).map(|action| f64::from(action) / 100.0).collect::<Vec<_>>());
    expect(&mut service, &about("explain", &format!(r#","defaults":{defaults}"#)), "stale");
    for _ in 0..64 {
        expect(&mut service, decide, "none");
    }
    expect(&mut service, &about("explain", ""), "expired");
    expect(&mut service, &about("feedback", r#","reward":0.5"#), "expired");
    expect(&mut service, r#"{"op":"switch","user":"ana","layer":false}"#, "none");
    expect(&mut service, decide, "off");
    service.send(vec![b'x'; MAX_LINE + 1]);
    expect(&mut service, "", "too_long");
    // `unreadable` is in reading.rs, `storage` in store.rs, `damaged` in damage_command.rs, `uncertain` needs a database;
    // the last two cannot be provoked in a lifetime.
    for elsewhere in ["storage", "damaged", "uncertain", "exhausted", "internal", "unreadable"] {
        given.insert(elsewhere.to_owned());
    }
    given.remove("none");
    assert_eq!(given, codes);
    assert!(service.finish().success());
}

/// Names whose hash is the same are two users: the second one gets a number of its own, which stays.
#[test]
fn two_names_with_one_hash_are_two_users() {
    let (one, other) = ("8yn0iYCKYHlIj4-BwPqk", "GReLUrM4wMqfg9yzV3KQ");
    assert_eq!(fable_core::user_hash(one), fable_core::user_hash(other));
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("users.fable");
    let start = || {
        Service::start(fable(), ["--scalar", "f64", "--cache", "880KB", "--store", store.to_str().unwrap()])
    };
    let decide = |user: &str| {
        line(
            &json!({ "op": "decide", "user": user, "context": "CONTEXT" })
                .to_string()
                .replace("\"CONTEXT\"", "CONTEXT"),
        )
    };
    let ask = |service: &mut Service, op: &str, user: &str| {
        service.ask(&json!({ "op": op, "user": user }).to_string())
    };
    let mut service = start();
    assert_eq!(ask(&mut service, "posterior", one)["rounds"], 0); // only asked about: the number is free
    let first = service.ask(&decide(other))["decision"].as_str().unwrap().to_owned();
    let second = service.ask(&decide(one))["decision"].as_str().unwrap().to_owned();
    assert_eq!(first[..16], format!("{:016x}", fable_core::user_hash(one)));
    assert_ne!(first[..16], second[..16]);
    service.ask(&decide(one));
    for restarted in [false, true] {
        if restarted {
            assert!(service.finish().success());
            service = start();
        }
        assert_eq!(ask(&mut service, "posterior", one)["rounds"], 2);
        assert_eq!(ask(&mut service, "posterior", other)["rounds"], 1);
    }
    // Rewards find their user, and forgetting one leaves the other.
    let feedback = |id: &str| json!({ "op": "feedback", "decision": id, "reward": 0.5 }).to_string();
    assert_eq!(service.ask(&feedback(&second))["observations"], 1);
    assert_eq!(ask(&mut service, "forget", other)["forgotten"], true);
    assert_eq!(ask(&mut service, "forget", other)["forgotten"], false);
    assert_eq!(ask(&mut service, "posterior", one)["observations"], 1);
    assert!(service.finish().success());
    let mut service = start();
    assert_eq!(ask(&mut service, "posterior", one)["observations"], 1);
    assert_eq!(service.ask(&decide(other))["decision"].as_str().unwrap()[16..], *"-1-1");
    assert_eq!(ask(&mut service, "posterior", one)["rounds"], 2);
    assert!(service.finish().success());
}

#[test]
fn an_id_of_any_kind_is_echoed_even_with_an_error() {
    let mut service = Service::start(fable(), ["--catalog", "tau2"]);
    let mut answer = String::new();
    for id in ["7", "\"a \\u00e4 \\\" b\"", "null", "-0.10", "[1, {\"a\": []}]", "1e400", "true"] {
        for (request, rest) in [
            (r#""op":"posterior","user":"ana""#, r#","rounds":0,"#),
            (r#""op":"golf""#, r#","error":{"code":"unknown_op","#),
            (r#""op":"stats","golf":1"#, r#","error":{"code":"bad_request","#),
        ] {
            service.send(format!("{{{request},\"id\":{id}}}\n").into_bytes());
            assert!(service.answer(&mut answer));
            assert!(answer.starts_with(&format!("{{\"id\":{id}{rest}")), "{answer}");
        }
    }
    assert!(service.finish().success());
}

#[test]
fn lines_of_any_length_are_answered_in_order() {
    let mut service = Service::start(fable(), ["--catalog", "tau2"]);
    let padded = |length: usize| {
        let request = br#"{"op":"posterior","user":"ana"}"#;
        let mut line = request.to_vec();
        line.resize(length, b' ');
        line.push(b'\n');
        line
    };
    let lengths = [
        31,
        MAX_LINE,
        MAX_LINE + 1,
        40,
        3 * MAX_LINE,
        65_535,
        65_536,
        65_537,
        MAX_LINE - 1,
        10 * MAX_LINE + 7,
        31,
    ];
    for length in lengths {
        service.send(padded(length));
    }
    service.send(br#"{"op":"posterior","user":"the last line has no end"}"#.to_vec());
    service.close();
    let mut answer = String::new();
    for length in lengths {
        assert!(service.answer(&mut answer));
        let value: Value = serde_json::from_str(&answer).unwrap();
        assert_eq!(code_of(&value), if length > MAX_LINE { "too_long" } else { "none" }, "{length}");
    }
    assert!(service.answer(&mut answer) && answer.starts_with("{\"rounds\":0,"));
    assert!(!service.answer(&mut answer));
    assert!(service.finish().success());
}

fn noise() -> usize {
    std::env::var("FABLE_LINES").ok().and_then(|lines| lines.parse().ok()).unwrap_or(3_000)
}

/// Sends lines, and counts the answers that are not errors; each line has one answer.
fn answers(service: &mut Service, lines: usize, mut make: impl FnMut() -> Vec<u8>) -> usize {
    let (mut sent, mut done, mut answer) = (0, 0, String::new());
    for received in 0..lines {
        while sent < lines && sent < received + 500 {
            let mut line = make();
            line.retain(|byte| *byte != b'\n');
            line.push(b'\n');
            service.send(line);
            sent += 1;
        }
        assert!(service.answer(&mut answer), "it ended after {received} lines");
        let value: Value =
            serde_json::from_str(&answer).unwrap_or_else(|error| panic!("{error} in {answer}"));
        match value.get("error") {
            Some(error) => assert_ne!(error["code"], "internal", "{answer}"),
            None => done += 1,
        }
    }
    done
}

#[test]
fn noise_gets_an_error_each_and_the_service_goes_on() {
    let (mut service, mut dice) = (
        Service::start(
            fable(),
            [
                "--catalog",
                "tau2",
                "--scalar",
                "f64",
                "--cache",
                &(8 * user_bytes::<f64>(&catalog::TAU2)).to_string(),
            ],
        ),
        Dice::new(5),
    );
    let mut canary = Play::<f64>::new(Oracle::new(&catalog::TAU2, Settings::default()), Script::new(9, 2, 0));
    canary.run(&mut service, 50, 10);
    let lines = noise();
    let bytes = |dice: &mut Dice| (0..dice.below(200)).map(|_| dice.next() as u8).collect::<Vec<u8>>();
    assert_eq!(answers(&mut service, lines, || bytes(&mut dice)), 0);
    let json = |dice: &mut Dice| {
        let pieces = [
            "{",
            "}",
            "[",
            "]",
            ":",
            ",",
            "\"op\"",
            "\"decide\"",
            "\"user\"",
            "null",
            "1e9",
            "-",
            "\\",
            "\"",
            "\u{7f}",
            " ",
        ];
        (0..dice.below(40)).flat_map(|_| dice.pick(&pieces).bytes().collect::<Vec<_>>()).collect::<Vec<u8>>()
    };
    assert_eq!(answers(&mut service, lines, || json(&mut dice)), 0);

    // Real requests of other users, damaged: whatever they do, the first users are as before.
    let oracle = Oracle::<f64>::new(&catalog::TAU2, Settings::default());
    let (mut other, mut script) = (oracle, Script::new(10, 5, 500));
    let mut damaged = || {
        let step = script.step(&mut other);
        let mut line = step.json(&catalog::TAU2).to_string().into_bytes();
        let _ = step.play(&mut other);
        for _ in 0..dice.below(3) {
            let place = dice.below(line.len());
            match dice.below(4) {
                0 => line[place] = dice.next() as u8,
                1 => drop(line.remove(place)),
                2 => line.insert(place, *dice.pick(b"{}[]\",:0e-\\ntf")),
                _ => line.truncate(place + 1),
            }
        }
        line
    };
    let done = answers(&mut service, lines, &mut damaged);
    assert!(done > lines / 10 && done < lines, "{done}");

    // Whole requests with keys and values taken from others.
    let (mut parts, mut last) = (Vec::<(String, Value)>::new(), Dice::new(6));
    let mut mixed = || {
        let step = script.step(&mut other);
        let request = step.json(&catalog::TAU2);
        let _ = step.play(&mut other);
        let mut fields: Vec<(String, Value)> = request.as_object().unwrap().clone().into_iter().collect();
        parts.extend(fields.clone());
        for _ in 0..last.below(3) {
            let (place, stranger) = (last.below(fields.len()), last.pick(&parts).clone());
            match last.below(4) {
                0 => fields[place] = stranger,
                1 => fields[place].1 = stranger.1,
                2 => fields.push(stranger),
                _ => drop(fields.remove(place)),
            }
            if fields.is_empty() {
                break;
            }
        }
        let fields: Vec<String> =
            fields.iter().map(|(key, value)| format!("{}:{value}", json!(key))).collect();
        format!("{{{}}}", fields.join(",")).into_bytes()
    };
    let done = answers(&mut service, lines, &mut mixed);
    assert!(done > lines / 10 && done < lines, "{done}");
    canary.run(&mut service, 50, 10);
    assert!(service.finish().success());
}

#[test]
fn a_signal_ends_it_with_everything_answered_on_disk() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("users.fable");
    for (durability, signal) in
        [("commit", "TERM"), ("none", "TERM"), ("none", "INT"), ("none", "HUP"), ("commit", "HUP")]
    {
        fable_serve_tests::frames::remove(&store);
        let arguments =
            ["--catalog", "tau2", "--scalar", "f64", "--durability", durability, "--store"].map(Path::new);
        let start = || Service::start(fable(), arguments.into_iter().chain([store.as_path()]));
        let mut play =
            Play::<f64>::new(Oracle::new(&catalog::TAU2, Settings::default()), Script::new(12, 3, 0));
        let mut service = start();
        play.run(&mut service, 500, 50);
        let killed = Command::new("kill").args(["-s", signal, &service.id().to_string()]).status().unwrap();
        assert!(killed.success());
        let mut line = String::new();
        assert!(!service.answer(&mut line)); // its end, though the input is still open
        assert!(service.finish().success());
        let mut service = start();
        play.run(&mut service, 50, 10);
        assert!(service.finish().success());
    }
}

/// As under nohup: a terminal that closes does not end what was told to go on.
#[test]
#[cfg(target_os = "linux")]
fn a_signal_that_was_ignored_stays_ignored() {
    let mut command = Command::new("sh");
    command.args(["-c", "trap '' HUP; exec \"$0\" serve --catalog tau2"]).arg(fable());
    let mut service = Service::spawn(command);
    for signal in ["HUP", "HUP", "TERM"] {
        assert_eq!(service.ask(r#"{"op":"stats"}"#)["users"], 0);
        assert!(
            Command::new("kill").args(["-s", signal, &service.id().to_string()]).status().unwrap().success()
        );
    }
    assert!(!service.answer(&mut String::new()));
    assert!(service.finish().success());
}

#[test]
fn it_ends_when_nobody_reads_the_answers() {
    let mut child =
        Command::new(fable()).arg("serve").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let mut input = child.stdin.take().unwrap();
    // The first answer cannot be written; the input stays open.
    std::io::Write::write_all(&mut input, b"{\"op\":\"stats\"}\n").unwrap();
    assert!(child.wait().unwrap().success());
}

#[test]
fn logs_say_nothing_about_users() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(fable());
    command
        .args(["serve", "--store"])
        .arg(folder.path().join("users.fable"))
        .env("FABLE_LOG", "trace")
        .stderr(Stdio::piped());
    let mut service = Service::spawn(command);
    for text in [
        r#"{"op":"decide","user":"zebedee","context":CONTEXT,"id":"quicksilver"}"#,
        r#"{"op":"golf","id":"zebedee"}"#,
    ] {
        service.ask(&line(text));
    }
    service.ask(r#"{"op":"forget","user":"zebedee"}"#);
    service.close();
    let errors = service.errors();
    assert!(errors.contains("INFO"), "{errors}");
    let hash = format!("{:016x}", fable_core::user_hash("zebedee"));
    for secret in ["zebedee", "quicksilver", "golf", &hash] {
        assert!(!errors.contains(secret), "{errors}");
    }
}

/// The pipe of answers is full and nobody reads it: the first signal has to wait, the second does not.
#[test]
fn a_second_signal_ends_it_at_once() {
    for (signal, code) in [("TERM", 143), ("INT", 130), ("HUP", 129)] {
        let mut child =
            Command::new(fable()).arg("serve").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (mut input, mut output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let sent = std::sync::Arc::new(AtomicUsize::new(0));
        let count = std::sync::Arc::clone(&sent);
        std::thread::spawn(move || {
            while std::io::Write::write_all(&mut input, b"{\"op\":\"posterior\",\"user\":\"ana\"}\n").is_ok()
            {
                count.fetch_add(1, Relaxed);
            }
        });
        // An answer shows that it has begun; that it takes no more requests, that all pipes are full.
        std::io::Read::read_exact(&mut output, &mut [0]).unwrap();
        let mut before = 0;
        while before == 0 || sent.load(Relaxed) != before {
            before = sent.load(Relaxed);
            std::thread::sleep(std::time::Duration::from_millis(700));
        }
        for attempt in 0..100 {
            assert!(attempt < 99, "it does not end");
            if let Some(status) = child.try_wait().unwrap() {
                assert!(attempt >= 2, "the first signal waits for the answers to be read");
                assert_eq!(status.code(), Some(code));
                break;
            }
            assert!(
                Command::new("kill")
                    .args(["-s", signal, &child.id().to_string()])
                    .status()
                    .unwrap()
                    .success()
            );
            std::thread::sleep(std::time::Duration::from_millis(200));
        }
    }
}

/// Gives a line, then fails or panics.
struct Failing(u8, bool);

impl Read for Failing {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.0 += 1;
        assert!(self.0 == 1 || !self.1, "a reader that panics");
        let line = b"{\"op\":\"stats\"}\n";
        buffer[..line.len()].copy_from_slice(line);
        if self.0 == 1 { Ok(line.len()) } else { Err(std::io::Error::other("torn")) }
    }
}

fn options() -> Options {
    Options { cache: 0, ..Options::default() }
}

#[test]
fn an_input_that_cannot_be_read_is_an_error() {
    for (panics, message) in
        [(false, "the input cannot be read: torn"), (true, "thread 'reader': a reader that panics")]
    {
        let mut output = Vec::new();
        let ended = serve::<f64>(
            &catalog::TAU2,
            Settings::default(),
            &options(),
            Failing(0, panics),
            &mut output,
            |_| (),
        )
        .unwrap_err();
        assert!(ended.to_string().contains(message), "{ended}");
        assert_eq!(matches!(ended, ServeError::Panicked { .. }), panics);
        assert!(output.ends_with(b"}\n")); // what came before is answered
    }
    let folder = std::fs::File::open(env!("CARGO_MANIFEST_DIR")).unwrap();
    let output = Command::new(fable()).arg("serve").stdin(folder).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
}

/// Panics at the third write.
struct Jammed(u8);

impl Write for Jammed {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 += 1;
        assert!(self.0 < 3, "a writer that panics");
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// The input goes on for ever, or stays open and says nothing more: either way nobody waits for the thread that is gone.
#[test]
fn an_output_that_panics_ends_the_service() {
    let folder = tempfile::tempdir().unwrap();
    for endless in [true, false] {
        let store = folder.path().join(format!("{endless}.fable"));
        let options = Options { store: Some(store.clone()), ..options() };
        let (reader, mut writer) = std::io::pipe().unwrap();
        let sender = std::thread::spawn(move || {
            let mut sent = 0;
            while (endless || sent < 3)
                && writer.write_all(b"{\"op\":\"decide\",\"user\":\"ana\",\"context\":{}}\n").is_ok()
            {
                sent += 1;
                if !endless {
                    std::thread::sleep(std::time::Duration::from_millis(100)); // a batch of its own
                }
            }
            writer // still open
        });
        let ended = serve::<f64>(&catalog::TAU2, Settings::default(), &options, reader, Jammed(0), |_| ())
            .unwrap_err();
        let ServeError::Panicked { thread, reason } = ended else { panic!("{ended}") };
        assert_eq!((thread, reason.as_str()), ("service", "a writer that panics"));
        // What was answered is kept, and the store can be used again at once.
        let lines = &b"{\"op\":\"stats\"}\n"[..];
        let mut output = Vec::new();
        serve::<f64>(&catalog::TAU2, Settings::default(), &options, lines, &mut output, |_| ()).unwrap();
        assert_eq!(serde_json::from_slice::<Value>(&output).unwrap()["users"], 1);
        drop(sender.join());
    }
}

/// A pipe that is full and that nobody reads is where standard error goes: what is logged has no place, and nothing waits.
#[test]
fn nobody_has_to_read_the_log() {
    let (_unread, writer) = std::io::pipe().unwrap();
    let mut full = writer.try_clone().unwrap();
    // As much as it takes: this thread stays in a write.
    std::thread::spawn(move || while full.write_all(&[b'.'; 4096]).is_ok() {});
    std::thread::sleep(std::time::Duration::from_millis(300));
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(fable());
    command.args(["serve", "--catalog", "tau2", "--store"]).arg(folder.path().join("users.fable"));
    command.env("FABLE_LOG", "trace").stderr(writer.try_clone().unwrap());
    let mut service = Service::spawn(command);
    for number in 0..1_000 {
        let user = format!("user{}", number % 50);
        let decide = format!(r#"{{"op":"decide","user":"{user}","context":{{}}}}"#);
        assert!(service.ask(&decide)["decision"].is_string());
        if number % 10 == 0 {
            // Writes a line to the log.
            assert_eq!(service.ask(&format!(r#"{{"op":"forget","user":"{user}"}}"#))["forgotten"], true);
        }
    }
    assert!(service.finish().success());
    // Its last words find no reader either.
    let mut child =
        Command::new(fable()).args(["serve", "--prior", "no/such/file"]).stderr(writer).spawn().unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(1));
}

#[test]
fn any_number_of_bytes_may_be_cached() {
    let mut service = Service::start(fable(), ["--catalog", "tau2", "--cache", "18446744073709551615"]);
    assert!(service.ask(r#"{"op":"decide","user":"ana","context":{}}"#)["decision"].is_string());
    assert!(service.finish().success());
}
