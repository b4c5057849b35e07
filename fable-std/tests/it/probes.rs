//! Coins, as those see them who ask: over the pipe, in a chat, in a store, in a log.

use fable_core::{Policy, Settings, catalog::AGENT, catalog::TAU2};
use fable_std::chat::Chat;
use fable_std::evaluate::{Options, Record, Report, Warning, evaluate, simulate};
use fable_std::simulate::SimulatedUser;
use fable_std::store::{FileStore, Identity, Policies};
use fable_std::text::Rules;
use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Python, and nothing of ours but the pipe: both wealths, the coins, their average and the certificates come out of the answers
/// to `decide` and the rewards, through late and missing ones.
#[test]
fn anyone_can_recompute_what_coins_have_shown() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/probes.py");
    for scalar in ["f64", "f32"] {
        let output = Command::new("python3")
            .arg(&script)
            .arg(env!("CARGO_BIN_EXE_fable"))
            .arg(scalar)
            .output()
            .unwrap();
        assert!(output.status.success(), "{scalar}: {}", String::from_utf8_lossy(&output.stderr));
        assert!(String::from_utf8_lossy(&output.stdout).contains("60 checks, certain: "), "{output:?}");
    }
}

/// A chat with coins: each probed round is told, the same whichever value is played, and what becomes certain is told with its rule.
#[test]
fn a_chat_says_what_it_tries_and_what_has_become_certain() {
    let settings = Settings {
        probe: 1.0,
        context_adapter: Rules::CONTEXT,
        feedback_adapter: Rules::FEEDBACK,
        ..Settings::DEFAULT
    };
    let policy = Policy::new(&AGENT, settings).unwrap();
    let store = FileStore::in_memory(&Identity::new(&policy)).unwrap();
    let policies = Policies::from(policy);
    let mut chat = Chat::open(&policies, Box::new(store), "ana", &Rules, None).unwrap();
    let label = |reply: &fable_std::chat::Reply, label: &str| {
        reply
            .lines
            .iter()
            .filter(|line| line.label == label)
            .map(|line| line.text.clone())
            .collect::<Vec<_>>()
    };
    chat.line("/prefer I like step-by-step answers", 0).unwrap();
    let (mut probed, mut moved, mut certain) = (0, 0, Vec::new());
    for round in 0..300 {
        let reply = chat.line("/ask Explain how to sort a list in Python", 0).unwrap();
        let (chosen, probes) = (label(&reply, "chosen").remove(0), label(&reply, "probe"));
        if let Some(told) = probes.first() {
            probed += 1;
            assert!(
                told.starts_with("trying it both ways, to be sure: ") && !told.contains("other way"),
                "{told}"
            );
            let why = label(&chat.line("/why", 0).unwrap(), "why").remove(0);
            let other = why.contains("the other way, to be sure");
            assert!(other || why.contains("; a coin agreed"), "{why}");
            moved += i32::from(other);
        }
        let liked = chosen.ends_with("step_by_step") != (round % 10 == 0); // in one round of ten the mood is the other way
        let reply = chat.line(if liked { "+" } else { "-" }, 0).unwrap();
        certain.extend(label(&reply, "certain"));
    }
    assert!(probed > 20 && moved > 8 && moved < probed - 8, "{moved} of {probed}"); // few after what is certain
    let first = certain.first().expect("something is certain");
    assert!(
        first.starts_with("For code the user prefers step-by-step answers to direct ones. (by "),
        "{certain:?}"
    );
    assert!(first.contains(" coins, since round "), "{first}");
    let profile = chat.line("/profile", 0).unwrap();
    assert_eq!(label(&profile, "certain"), certain);
}

fn fable(arguments: &[&str], folder: &Path, input: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fable"));
    let command = command.args(arguments).current_dir(folder).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    let (mut stdin, input) = (child.stdin.take().unwrap(), input.to_owned());
    let writer = std::thread::spawn(move || drop(stdin.write_all(input.as_bytes())));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    output
}

fn printed(output: Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// A life in a store: inspect, replay and export know about its coins.
#[test]
fn a_store_knows_its_coins() {
    let folder = tempfile::tempdir().unwrap();
    let mut service = Command::new(env!("CARGO_BIN_EXE_fable"));
    let service = service.args(["serve", "--catalog", "tau2", "--store", "users.fable", "--probe", "0.5"]);
    let service = service.current_dir(&folder).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut service = service.spawn().unwrap();
    let (mut requests, mut answers) =
        (service.stdin.take().unwrap(), std::io::BufReader::new(service.stdout.take().unwrap()));
    let mut ask = |request: Value| -> Value {
        writeln!(requests, "{request}").unwrap();
        let mut line = String::new();
        std::io::BufRead::read_line(&mut answers, &mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    };
    let (mut probed, mut number) = (0, 0_u32);
    for round in 1..=250 {
        let answer = ask(json!({ "op": "decide", "user": "ana", "context": {} }));
        if answer.get("probes").is_some() {
            probed = round;
        }
        number = number.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let noise = f64::from(number >> 8) / f64::from(1 << 24) - 0.5;
        let mean = if answer["action"]["style"] == "concise" { 0.4 } else { -0.2 };
        ask(json!({ "op": "feedback", "decision": answer["decision"], "reward": mean + noise }));
    }
    assert_eq!(ask(json!({ "op": "stats" }))["probe"], 0.5);
    let profile = ask(json!({ "op": "profile", "user": "ana" }));
    let entry = profile["profile"]
        .as_array()
        .unwrap()
        .iter()
        .find(|entry| entry["by"] == "coins")
        .expect("a certificate");
    drop(requests);
    assert!(service.wait().unwrap().success());

    let told =
        printed(fable(&["inspect", "users.fable", "--user", "ana", "--svg", "ana.svg"], folder.path(), ""));
    let name = entry["contrast"].as_str().unwrap();
    let provenance = format!("by {} coins, since round {}", entry["evidence"], entry["round"]);
    assert!(
        told.contains(&format!("promoted {provenance}: holds"))
            && told.contains(" needed, certain, on average "),
        "{told}"
    );
    assert!(told.lines().all(|line| console::measure_text_width(line) <= 80), "{told}");
    let picture = std::fs::read_to_string(folder.path().join("ana.svg")).unwrap();
    assert!(picture.contains("class=\"coins sure\"") && picture.contains(&provenance));
    let json = printed(fable(&["inspect", "users.fable", "--user", "ana", "--json"], folder.path(), ""));
    let report: Value = serde_json::from_str(&json).unwrap();
    let contrast =
        report["contrasts"].as_array().unwrap().iter().find(|contrast| contrast["name"] == name).unwrap();
    for key in ["trials", "e_value", "needed", "certified"] {
        assert_eq!(contrast["trial"][key], entry[key], "{key}");
    }
    assert_eq!(
        (&contrast["trial"]["mean"], &contrast["promotion"]["by"]),
        (&entry["average"]["mean"], &json!("coins"))
    );

    // Coins are made again with the rest of a decision, and a wrong rate shows.
    let same = ["replay", "ana", "--store", "users.fable", "--probe", "0.5", "--explain"];
    let round = probed.to_string();
    let told = printed(fable(&[&same[..], &[&round]].concat(), folder.path(), ""));
    assert!(
        told.contains("250 of 250 decisions are the same") && told.contains("\na coin was tossed for "),
        "{told}"
    );
    let output = fable(&["replay", "ana", "--store", "users.fable"], folder.path(), "");
    assert_eq!(output.status.code(), Some(1));
    assert!(
        String::from_utf8_lossy(&output.stdout).contains("--probe")
            || String::from_utf8_lossy(&output.stderr).contains("--probe")
    );

    // An exported user takes them along.
    printed(fable(&["export", "ana", "ana.user", "--store", "users.fable"], folder.path(), ""));
    let exported = printed(fable(&["inspect", "ana.user", "--json", "--catalog", "tau2"], folder.path(), ""));
    let exported: Value = serde_json::from_str(&exported).unwrap();
    assert_eq!(exported["contrasts"], report["contrasts"]);
}

/// What a log of the optimistic rule with coins says about a policy, on average over many logs: the truth, and its intervals hold it.
///
/// The target is the log's own rule without coins: what they cost is in the log, and can be told without trying. Of 60 intervals of
/// nominal 95% fewer than 50 hold the truth with probability 3e-4 if they hold it in 95%; the seeds are fixed.
#[test]
fn logs_with_coins_tell_what_others_would_have_earned() {
    let (mut ips, mut robust, mut error, mut unsupported) = (0, 0, 0.0, 0.0);
    let logs = 60;
    for seed in 0..logs {
        let user = SimulatedUser::new(&TAU2, seed);
        let logged = Settings { seed, ..Settings::PROBING };
        let log = simulate(&user, &Policy::new(&TAU2, logged).unwrap(), 400, 0).unwrap();
        assert!(log.iter().all(|record| record.draws.is_none()));
        let truth = |record: &Record, action| user.expected(&record.context, action);
        let options = Options { truth: Some(&truth), ..Options::default() };
        let report = evaluate(&TAU2, Settings { seed, ..Settings::DEFAULT }, "log", &log, &options).unwrap();
        let truth = report.truth.unwrap();
        let supported = |report: &Report| {
            !report.warnings().iter().any(|warning| matches!(warning, Warning::NoChance { .. }))
        };
        assert!(supported(&report), "{:?}", report.warnings());
        ips += u32::from(report.ips.covers(truth));
        robust += u32::from(report.doubly_robust.covers(truth));
        error += (report.doubly_robust.value - truth) / logs as f64;
        unsupported += report.unsupported / logs as f64;
    }
    assert!(ips >= 50 && robust >= 50, "{ips} and {robust} of {logs}, {unsupported}");
    assert!(error.abs() < 0.01, "{error}");
}

/// Without coins the same rule leaves no chance, and the report says so.
#[test]
fn a_log_without_chance_is_told() {
    let user = SimulatedUser::new(&TAU2, 1);
    let log = simulate(&user, &Policy::new(&TAU2, Settings::DEFAULT).unwrap(), 100, 0).unwrap();
    let report =
        evaluate(&TAU2, Settings { seed: 1, ..Settings::PROBING }, "log", &log, &Options::default()).unwrap();
    let warning = report.warnings()[0];
    assert_eq!(warning, Warning::NoChance { share: 1.0 });
    assert!(warning.to_string().contains("--probe 0.5"));
}
