//! `fable replay`: lives from a store, an exported file and a device, played again.

use fable_core::catalog::{AGENT, TAU2};
use fable_core::host::HostLearner;
use fable_core::record::{Header, Kind, MAX_EVENT_LEN, encode_event};
use fable_core::{
    self as core, Context, Exploration, Feasible, Policy, Request, Scalar, Settings, User, user_hash,
};
use fable_std::replay::{Question, Start, Tape, replay, replay_and_explain};
use fable_std::serve::{Options, serve, user_bytes};
use fable_std::store::{FileStore, Store, transfer};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const SETTINGS: Settings<'static> = Settings { seed: 5, ..Settings::DEFAULT };
const DRAWING: Settings<'static> = Settings { seed: 5, ..Settings::PAPER };

/// The answers of a service over a store.
fn answers<T: Scalar>(store: &Path, settings: Settings<'static>, lines: &[Value]) -> Vec<Value> {
    let input = lines.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    let options = Options {
        store: Some(store.to_owned()),
        durable: true,
        cache: 4 * user_bytes::<T>(&AGENT),
        ..Options::default()
    };
    let mut output = Vec::new();
    serve::<T>(&AGENT, settings, &options, std::io::Cursor::new(input), &mut output, |_| ()).unwrap();
    String::from_utf8(output).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

const SIGNALS: [(&str, f32); 4] =
    [("risk", 0.25), ("ambiguity", 0.5), ("memory_need", 0.75), ("tool_need", 0.125)];

fn decide(user: &str, task: &str, more: &Value) -> Value {
    let context =
        json!({ "task": task, "risk": 0.25, "ambiguity": 0.5, "memory_need": 0.75, "tool_need": 0.125 });
    let mut line = json!({ "op": "decide", "user": user, "context": context });
    line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    line
}

/// Thirty rounds of a user whose rewards depend on the action; some under permissions, two with defaults.
fn life<T: Scalar>(store: &Path, settings: Settings<'static>) -> Vec<String> {
    let mut decisions = Vec::new();
    for round in 0..30 {
        let more = match round {
            7 | 20 => json!({ "defaults": vec![0.125; 180] }),
            8..12 => json!({ "forbid": [{ "tool": "web_search" }] }),
            _ => json!({}),
        };
        let answer = answers::<T>(
            store,
            settings,
            &[decide("ana", if round % 2 == 0 { "coding" } else { "factual" }, &more)],
        )
        .remove(0);
        let reward = if answer["action"]["style"] == "concise" { 0.75 } else { -0.25 };
        decisions.push(answer["decision"].as_str().unwrap().to_owned());
        answers::<T>(
            store,
            settings,
            &[json!({ "op": "feedback", "decision": decisions.last(), "reward": reward })],
        );
    }
    decisions
}

fn tape(store: &Path) -> Tape {
    Tape::of_user(&FileStore::open_any(store).unwrap().whole(user_hash("ana")).unwrap().unwrap()).unwrap()
}

/// `otherwise` are settings of the same policy that explore otherwise.
fn a_life_comes_out_the_same<T: Scalar>(settings: Settings<'static>, otherwise: Settings<'static>) {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store");
    life::<T>(&store, settings);
    let tape = tape(&store);
    assert_eq!(u32::from(tape.digits().unwrap()), T::DIGITS);
    let played = replay(&AGENT, settings, &tape).unwrap();
    assert_eq!((played.decisions, played.with_defaults, played.rounds, played.observations), (30, 2, 30, 30));
    assert_eq!((played.different, played.difference), (vec![], None));
    assert_eq!(played.contrasts.len(), AGENT.contrasts().len());

    let other = replay(&AGENT, otherwise, &tape).unwrap();
    let difference = other.difference.unwrap();
    assert_eq!(
        (difference.id.round, difference.index),
        (other.different[0], 1 + 2 * (other.different[0] as usize - 1))
    );
    assert_ne!(difference.recorded.0, difference.found.0);
    assert!(difference.recorded.1 < difference.found.1, "what came out scores higher than what was recorded");
    assert!(replay(&AGENT, Settings { noise_variance: 1.0, ..settings }, &tape).is_err());
    assert!(replay(&TAU2, settings, &tape).is_err());

    // The exported file has the same life.
    let bytes = transfer::export(&FileStore::open_any(&store).unwrap(), "ana").unwrap();
    assert_eq!(Tape::of_user(&transfer::read(&bytes).unwrap()).unwrap(), tape);
}

#[test]
fn defaults_of_other_actions_are_no_difference() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store");
    // The reference's own scores, but for the first half of the actions, which become very bad.
    let context = AGENT.context("coding", SIGNALS).unwrap();
    let mut defaults: Vec<f64> =
        (0..180).map(|action| AGENT.default_score(&context, fable_core::Action(action))).collect();
    defaults[..90].fill(-10.0);
    for _ in 0..20 {
        let answer =
            answers::<f64>(&store, DRAWING, &[decide("ana", "coding", &json!({ "defaults": defaults }))])
                .remove(0);
        assert!(answer["decision"].is_string(), "{answer}");
    }
    let tape = tape(&store);
    let played = replay(&AGENT, DRAWING, &tape).unwrap();
    assert_eq!((played.decisions, played.with_defaults, played.different), (20, 20, vec![]));
    // Without the note some of them look like another draw.
    let silent = replay(&AGENT, DRAWING, &Tape { with_defaults: Vec::new(), ..tape }).unwrap();
    assert!(silent.with_defaults < 20 && !silent.different.is_empty());
}

#[test]
fn lives_in_f32_and_f64_come_out_the_same() {
    let bold = Settings { exploration: Exploration::Optimistic(3.0), ..SETTINGS };
    for (settings, otherwise) in [(SETTINGS, bold), (DRAWING, Settings { seed: 6, ..DRAWING })] {
        a_life_comes_out_the_same::<f32>(settings, otherwise);
        a_life_comes_out_the_same::<f64>(settings, otherwise);
    }
}

#[test]
fn a_changed_or_lost_event_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store");
    life::<f64>(&store, SETTINGS);
    let whole = tape(&store);
    let mut torn = whole.clone();
    torn.events[9][3] ^= 1;
    assert_eq!(
        replay(&AGENT, SETTINGS, &torn).unwrap_err().to_string(),
        "event 9 cannot be read: the record is damaged"
    );
    let mut short = whole.clone();
    short.events.remove(2); // the first reward: what comes after was decided with it
    let played = replay(&AGENT, SETTINGS, &short).unwrap();
    assert!(played.difference.is_some() && played.observations == 29);
    let mut gap = whole;
    gap.events.remove(3);
    assert!(replay(&AGENT, SETTINGS, &gap).unwrap_err().to_string().starts_with("event 3 does not fit"));
}

/// What `explain` says at the time is what it says later, through a replay.
#[test]
fn an_old_decision_is_explained_as_it_was() {
    let policy = Policy::<f32>::new(&TAU2, SETTINGS).unwrap();
    let header = Header::new(Kind::Journal, &policy, 7, 8);
    let mut learner = HostLearner::<f32, 8>::for_policy(&policy);
    learner.start_journal(&policy, &header).unwrap();
    let mut workspace = vec![0.0; TAU2.workspace_len()];
    let mut user = learner.bind(&policy, &mut workspace).unwrap();
    let (context, all) = (Context::new(&TAU2, None, &[]).unwrap(), Feasible::all(&TAU2));
    let (mut events, mut then) = (Vec::new(), Vec::new());
    let mut keep = |user: &mut User<'_, f32>, mut command: core::journal::Command<'_>| {
        while let Some(step) = user.next(&mut command).unwrap() {
            events.push(encode_event(step.event(), &mut [0; MAX_EVENT_LEN]).unwrap().to_vec());
            step.apply();
        }
    };
    for round in 1..=12 {
        keep(&mut user, core::journal::Command::decide(Request::new(&context, &all)));
        let id = user.id(round);
        then.push(user.explain(id, None, None).unwrap().to_string());
        keep(&mut user, core::journal::Command::feedback(id, f64::from(round % 3) - 1.0));
    }
    let tape = Tape {
        prior: None,
        start: Start::Journal { header, incarnation: 0 },
        events,
        with_defaults: Vec::new(),
        woven: Vec::new(),
    };
    for (round, then) in (1..).zip(&then) {
        let question = Question { incarnation: None, site: None, round, other: None };
        let played = replay_and_explain(&TAU2, SETTINGS, &tape, Some(question)).unwrap();
        assert_eq!(played.explanation.unwrap().as_ref(), Ok(then));
    }
    assert!(then[0] != then[11]);
    let missing = Question { incarnation: None, site: None, round: 13, other: None };
    assert_eq!(replay_and_explain(&TAU2, SETTINGS, &tape, Some(missing)).unwrap().explanation, None);
}

#[test]
fn the_files_of_a_device_are_read_whole_or_not_at_all() {
    let tape = Tape::of_device(vec![1, 2], &[2, 0, 7, 8, 1, 0, 9]).unwrap();
    assert_eq!(tape.events, [vec![7, 8], vec![9]]);
    for journal in [&[2][..], &[2, 0, 7], &[0xff, 0xff]] {
        assert!(Tape::of_device(vec![], journal).is_err());
    }
    assert!(tape.digits().is_err());
}

fn fable(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_fable")).current_dir(folder).args(arguments).output().unwrap()
}

fn text(output: &Output) -> (i32, String) {
    let (out, error) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    (output.status.code().unwrap(), format!("{out}{error}"))
}

#[test]
fn the_command_tells_what_it_found() {
    let folder = tempfile::tempdir().unwrap();
    let path: PathBuf = folder.path().join("store");
    let decisions = life::<f64>(&path, SETTINGS);
    let run = |arguments: &[&str]| text(&fable(folder.path(), arguments));
    let (code, out) = run(&["replay", "ana", "--store", "store"]);
    assert!(
        code == 0 && out.contains("28 of 30 decisions are the same") && out.contains("2 were made"),
        "{out}"
    );
    assert_eq!((code, out), run(&["replay", "ana", "--store", "store", "--seed", "5"]));
    let (code, out) = run(&["replay", "ana", "--store", "store", "--explain", &decisions[2]]);
    assert!(
        code == 0
            && out.contains("\nchosen ")
            && out.contains("\nnot ")
            && out.contains(" bonus for what is uncertain\n"),
        "{out}"
    );
    life::<f64>(&folder.path().join("drawn"), DRAWING);
    let drawn = ["replay", "ana", "--store", "drawn", "--nu", "0.3", "--base-precision", "16"];
    let (code, out) = run(&drawn);
    assert!(code == 0 && out.contains("28 of 30 decisions are the same"), "{out}");
    assert!(run(&[&drawn[..], &["--explain", "3"]].concat()).1.contains(" the draw\n"));
    for wrong in [
        &["replay", "ana", "--store", "store", "--optimism", "3"][..],
        &[&drawn[..], &["--seed", "6"]].concat(),
    ] {
        let (code, out) = run(wrong);
        assert!(code == 1 && out.contains("came out otherwise; the first is e6f79c19051ffb05-0-"), "{out}");
        assert!(out.contains("another --seed, --optimism, "), "{out}");
        let (code, out) = run(&[wrong, &["--json"]].concat());
        let value: Value = serde_json::from_str(&out).unwrap();
        assert!(
            code == 1
                && value["different"].as_u64() > Some(0)
                && value["first_difference"]["recorded"]["action"].is_string()
        );
    }

    let mistakes: [(&[&str], i32, &str); 6] = [
        (&["replay", "bob", "--store", "store"], 3, "no such user"),
        (&["replay", "ana", "--store", "store", "--catalog", "tau2"], 2, "another catalog"),
        (&["replay", "ana", "--store", "store", "--seed", "5", "--explain", "99"], 2, "no decision 99"),
        (&["replay", "ana", "--store", "store", "--explain", "x"], 2, "a decision id is"),
        (&["replay", "ana", "--store", "store", "--explain", "1", "--against", "x"], 2, "'x' is no action"),
        (&["replay", "store"], 1, "no exported user"),
    ];
    for (arguments, wanted, message) in mistakes {
        let (code, out) = run(arguments);
        assert!(code == wanted && out.contains(message), "{arguments:?}: {code} {out}");
    }
    let stranger = decisions[2].replace("e6f7", "0000");
    assert!(run(&["replay", "ana", "--store", "store", "--explain", &stranger]).1.contains("another user"));
}
