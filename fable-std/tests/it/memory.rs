//! Memory that obeys m: what is kept of what was exchanged, where it goes, and what each mode brings back.

use fable_core::catalog::{AGENT, RUBRIC};
use fable_core::{Catalog, Policy, Settings, user_hash};
use fable_serve_tests::oracle::Oracle;
use fable_serve_tests::play::Play;
use fable_serve_tests::script::Script;
use fable_serve_tests::service::Service;
use fable_std::memory::{Bounds, EXCHANGE_BYTES, Exchange, Memory};
use fable_std::serve::{Options, serve, user_bytes};
use fable_std::store::movement::move_everyone;
use fable_std::store::{
    self, Damage, FileStore, Identity, Reach, Store, StoreError, UserRow, Writes, transfer,
};
use serde_json::{Value, json};
use std::path::Path;

fn policy() -> Policy<'static, f32> {
    Policy::new(&AGENT, Settings::default()).unwrap()
}

/// The answers of a service to lines.
fn answers(options: &Options, lines: &[Value]) -> Vec<Value> {
    answers_of(&AGENT, Settings::default(), options, lines)
}

fn answers_of(
    catalog: &'static Catalog<'static>,
    settings: Settings<'static>,
    options: &Options,
    lines: &[Value],
) -> Vec<Value> {
    let input = lines.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    let mut output = Vec::new();
    serve::<f32>(catalog, settings, options, std::io::Cursor::new(input), &mut output, |_| {}).unwrap();
    let answers: Vec<Value> =
        output.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect();
    assert_eq!(answers.len(), lines.len());
    answers
}

fn on(store: Option<&Path>) -> Options {
    Options { store: store.map(Path::to_owned), memory: true, threads: Some(2), ..Options::default() }
}

fn remember(user: &str, request: &str, at: u32) -> Value {
    json!({ "op": "remember", "user": user, "request": request, "answer": format!("about {request}"), "at": at })
}

fn exchange(request: &str, at: u32) -> Exchange {
    Exchange::new(request, &format!("about {request}"), at)
}

fn told(request: &str, at: u32) -> Value {
    json!({ "request": request, "answer": format!("about {request}"), "at": at })
}

/// Settings under which few rewards make a preference certain.
const EAGER: Settings<'static> = Settings {
    base_precision: Some(0.1),
    noise_variance: 0.01,
    prior_radius: Some(0.1),
    alpha: 0.5,
    min_evidence: 1,
    ..Settings::DEFAULT
};

const CONTEXT: &str = r#"{"task":"coding","risk":0.1,"ambiguity":0.2,"memory_need":0.7,"tool_need":0.3}"#;

#[test]
fn each_mode_brings_back_what_it_says() {
    let recall = |memory: &str, request: &str| json!({ "op": "recall", "user": "ana", "mode": memory, "request": request });
    let mut lines: Vec<Value> =
        (0..10).map(|number| remember("ana", ["cats", "taxes"][number % 2], number as u32)).collect();
    lines.push(json!({ "op": "onboard", "user": "ana", "statements": [
        { "prefer": { "style": "concise" }, "over": { "style": "detailed" }, "response": 1.0, "precision": 4.0 },
        { "prefer": { "tool": "web_search" }, "response": -1.0, "precision": 4.0 },
    ] }));
    let (modes, asked) = (fable_std::memory::MODES, "what about my cat?");
    lines.extend(modes.iter().map(|mode| recall(mode, asked)));
    lines.push(recall("semantic_memory", "the weather"));
    lines.push(json!({ "op": "recall", "user": "ben", "mode": "recent_memory" }));
    lines.push(recall("total_recall", ""));
    let answers = answers(&on(None), &lines);
    assert_eq!(answers[9], json!({ "remembered": true, "exchanges": 10 }));
    let nothing = json!({ "text": "", "exchanges": [] });
    assert_eq!(answers[11], nothing); // no_memory
    let all = |numbers: &[u32]| -> Value {
        numbers.iter().map(|number| told(["cats", "taxes"][*number as usize % 2], *number)).collect()
    };
    assert_eq!(answers[12]["exchanges"], all(&[4, 5, 6, 7, 8, 9]));
    assert!(
        answers[12]["text"]
            .as_str()
            .unwrap()
            .starts_with("Earlier exchanges with this user, for reference only")
    );
    assert_eq!(answers[13]["exchanges"], all(&[2, 4, 6, 8]));
    assert_eq!(
        answers[14],
        json!({ "exchanges": [], "text": "What this user has stated, for reference only, one JSON object a line:\n\
            {\"prefers\":\"style=concise over style=detailed\"}\n{\"prefers\":\"not tool=web_search\"}\n\
            End of what this user has stated." })
    );
    assert_eq!(answers[15], nothing); // nothing is promoted yet
    assert_eq!((&answers[16], &answers[17]), (&nothing, &nothing));
    assert_eq!(answers[18]["error"]["code"], "unknown_name");
}

/// What is promoted is what `profile_summary` tells, the same as the op `profile`; here in a catalog without a component `memory`.
#[test]
fn a_profile_is_told_when_there_is_one() {
    let observe = |number: u32| {
        let (level, reward) = if number.is_multiple_of(2) { ("level_5", 0.9) } else { ("level_1", -0.9) };
        let action = json!({ "rigor": level, "steps": "level_3", "examples": "level_3" });
        json!({ "op": "observe", "user": "ana", "context": {}, "action": action, "reward": reward })
    };
    let recall = |memory: &str| json!({ "op": "recall", "user": "ana", "mode": memory });
    let mut lines: Vec<Value> = (1..=16).map(observe).collect();
    lines.extend([
        json!({ "op": "profile", "user": "ana" }),
        recall("profile_summary"),
        recall("a mode of its own"),
    ]);
    let answers = answers_of(&RUBRIC, EAGER, &Options::default(), &lines);
    let text = answers[16]["text"].as_str().unwrap();
    assert!(text.starts_with("The user prefers rigor=level_5 to rigor=level_1."), "{}", answers[16]);
    assert_eq!(answers[17], json!({ "text": text, "exchanges": [] }));
    assert_eq!(answers[18], json!({ "text": "", "exchanges": [] }));
}

#[test]
fn nothing_is_kept_unless_it_is_switched_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("users.fable");
    let off = Options { memory: false, ..on(Some(&path)) };
    let memories = json!({ "op": "memories", "user": "ana" });
    let recent = json!({ "op": "recall", "user": "ana", "mode": "recent_memory" });
    let said =
        answers(&off, &[remember("ana", "a secret thing", 0), memories.clone(), json!({ "op": "stats" })]);
    assert_eq!(said[0], json!({ "remembered": false, "exchanges": 0 }));
    assert_eq!(said[1], json!({ "memory": "off", "exchanges": [] }));
    assert_eq!(said[2]["users"], 0);
    let said = answers(&on(Some(&path)), &[remember("ana", "cats", 7), memories.clone(), recent.clone()]);
    assert_eq!(said[1], json!({ "memory": "on", "exchanges": [told("cats", 7)] }));
    assert_eq!(said[2]["exchanges"], json!([told("cats", 7)]));
    // What was kept is shown, but not used, once it is off again; it can be let go of.
    let unremember = json!({ "op": "unremember", "user": "ana" });
    let said = answers(&off, &[memories.clone(), recent.clone(), unremember.clone(), memories, unremember]);
    assert_eq!(said[0], json!({ "memory": "off", "exchanges": [told("cats", 7)] }));
    assert_eq!(said[1], json!({ "text": "", "exchanges": [] }));
    assert_eq!(said[2], json!({ "unremembered": 1 }));
    assert_eq!(said[3], json!({ "memory": "off", "exchanges": [] }));
    assert_eq!(said[4], json!({ "unremembered": 0 }));
}

#[test]
fn forgetting_erases_it_and_letting_go_of_it_erases_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("users.fable");
    let memories = |user: &str| json!({ "op": "memories", "user": user });
    let decide =
        json!({ "op": "decide", "user": "ana", "context": serde_json::from_str::<Value>(CONTEXT).unwrap() });
    let lines = [
        decide.clone(),
        remember("ana", "cats", 1),
        remember("ben", "taxes", 2),
        json!({ "op": "unremember", "user": "ana" }),
        remember("ana", "dogs", 3),
        memories("ana"),
        json!({ "op": "posterior", "user": "ana" }),
        json!({ "op": "forget", "user": "ben" }),
        memories("ben"),
        remember("ben", "anew", 4),
    ];
    let said = answers(&on(Some(&path)), &lines);
    assert_eq!((&said[3], &said[5]["exchanges"]), (&json!({ "unremembered": 1 }), &json!([told("dogs", 3)])));
    assert_eq!(said[6]["rounds"], 1);
    assert_eq!(said[8]["exchanges"], json!([]));
    let said = answers(&on(Some(&path)), &[memories("ana"), memories("ben")]);
    assert_eq!(
        (&said[0]["exchanges"], &said[1]["exchanges"]),
        (&json!([told("dogs", 3)]), &json!([told("anew", 4)]))
    );
}

#[test]
fn there_are_bounds() {
    let mut options = on(None);
    options.keeping.memory = Bounds { exchanges: 3, bytes: 64 << 10 };
    let mut lines: Vec<Value> = (0..5).map(|number| remember("ana", "cats", number)).collect();
    lines.push(json!({ "op": "memories", "user": "ana" }));
    lines.push(json!({ "op": "remember", "user": "ana", "request": "x".repeat(100_000), "answer": "" }));
    lines.push(json!({ "op": "memories", "user": "ana" }));
    lines.push(json!({ "op": "remember", "user": "ana", "request": "", "answer": "x" }));
    let said = answers(&options, &lines);
    assert_eq!(said[4], json!({ "remembered": true, "exchanges": 3 }));
    assert_eq!(said[5]["exchanges"], json!([told("cats", 2), told("cats", 3), told("cats", 4)]));
    assert_eq!(said[7]["exchanges"][2]["request"].as_str().unwrap().len(), EXCHANGE_BYTES);
    assert_eq!(said[8]["error"]["code"], "out_of_range");
}

/// A store with memories of ana, in several commits, and of ben.
fn town(store: &dyn Store) {
    for (name, count) in [("ana", 9), ("ben", 1), ("cy", 0)] {
        let mut writes = Writes::default();
        writes.user(user_hash(name), &UserRow::newcomer(&policy(), name, user_hash(name), 0));
        store.commit(writes, true).unwrap();
        for at in 0..count {
            let mut writes = Writes::default();
            writes.remember(user_hash(name), exchange(name, at));
            store.commit(writes, true).unwrap();
        }
    }
}

fn kept(store: &dyn Store, name: &str) -> Vec<u32> {
    store.memory(user_hash(name)).unwrap().exchanges().iter().map(|exchange| exchange.at).collect()
}

#[test]
fn it_goes_wherever_its_user_goes() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name);
    let options =
        store::Options { memory: Bounds { exchanges: 5, bytes: 1 << 10 }, ..store::Options::default() };
    let identity = Identity::new(&policy());
    let from = FileStore::open_with(&place("one"), &identity, &options).unwrap();
    town(&from);
    assert_eq!(kept(&from, "ana"), [4, 5, 6, 7, 8]);
    assert!(from.user(user_hash("ana"), Reach::Whole).unwrap().unwrap().memory.is_empty()); // nobody reads it who did not ask
    // A file, and back.
    let bytes = transfer::export(&from, "ana").unwrap();
    let other = FileStore::open(&place("two"), &identity).unwrap();
    transfer::import(&other, &policy(), &bytes).unwrap();
    assert_eq!(kept(&other, "ana"), [4, 5, 6, 7, 8]);
    assert_eq!(transfer::export(&other, "ana").unwrap(), bytes);
    // A movement, and what came after it.
    let to = FileStore::in_memory(&identity).unwrap();
    let moved = move_everyone(&from, &to, &mut |_, _| {}).unwrap();
    assert_eq!((moved.moved, kept(&to, "ana"), kept(&to, "ben")), (3, vec![4, 5, 6, 7, 8], vec![0]));
    let mut writes = Writes::default();
    writes.remember(user_hash("ben"), exchange("ben", 1));
    writes.memory(user_hash("ana"), &Memory::default());
    from.commit(writes, true).unwrap();
    let moved = move_everyone(&from, &to, &mut |_, _| {}).unwrap();
    assert_eq!((moved.completed, moved.same, kept(&to, "ana"), kept(&to, "ben")), (2, 1, vec![], vec![0, 1]));
    // A copy, a repaired one, and one whose index is gone.
    drop(from);
    let sound = |path: &Path| {
        let report = FileStore::check(path, &store::Options::default(), |_, _| {}).unwrap();
        assert!(report.is_sound(), "{report:?}");
        let store = FileStore::open_any(path).unwrap();
        assert_eq!(
            (kept(&store, "ana"), kept(&store, "ben"), kept(&store, "cy")),
            (vec![], vec![0, 1], vec![])
        );
    };
    FileStore::backup_of(&place("one"), &place("three"), &store::Options::default(), |_, _| {}).unwrap();
    assert_eq!(
        FileStore::repair(&place("one"), &place("four"), &store::Options::default(), |_, _| {})
            .unwrap()
            .losses,
        []
    );
    std::fs::remove_file(place("one.index")).unwrap();
    for name in ["one", "three", "four"] {
        sound(&place(name));
    }
}

/// Damage of a memory is told by whoever asks for it, and stops nobody; a repair leaves it out and says so.
#[test]
fn a_damaged_memory_stops_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name);
    let store = FileStore::open(&place("one"), &Identity::new(&policy())).unwrap();
    town(&store);
    drop(store);
    let mut bytes = std::fs::read(place("one")).unwrap();
    // The last commits: ben's row and memory, cy's row. The memory is before the last two groups.
    let groups: Vec<usize> =
        (8192..bytes.len()).step_by(16).filter(|at| bytes[*at..].starts_with(b"FGRP")).collect();
    let memory = groups[groups.len() - 2];
    bytes[memory + 100] ^= 1;
    std::fs::write(place("one"), &bytes).unwrap();
    let report = FileStore::check(&place("one"), &store::Options::default(), |_, _| {}).unwrap();
    assert_eq!((report.damaged.len(), report.damaged[0].damage), (1, Damage::Memory));
    let store = FileStore::open_any(&place("one")).unwrap();
    assert!(matches!(store.memory(user_hash("ben")), Err(StoreError::User(Damage::Memory))));
    assert!(store.user(user_hash("ben"), Reach::Whole).unwrap().is_some());
    assert!(store.whole(user_hash("ben")).is_err());
    assert_eq!((kept(&store, "ana").len(), store.damaged()), (9, 0));
    let repaired =
        FileStore::repair(&place("one"), &place("two"), &store::Options::default(), |_, _| {}).unwrap();
    assert_eq!(repaired.losses.iter().map(|loss| loss.damage).collect::<Vec<_>>(), [Damage::Memory]);
    let mended = FileStore::open_any(&place("two")).unwrap();
    assert_eq!((kept(&mended, "ana").len(), kept(&mended, "ben").len(), mended.damaged()), (9, 0, 0));
    drop(store);
    // Letting go of it mends it, too.
    let unremember = json!({ "op": "unremember", "user": "ben" });
    let memories = json!({ "op": "memories", "user": "ben" });
    let said = answers(
        &on(Some(&place("one"))),
        &[memories.clone(), unremember, remember("ben", "cats", 3), memories],
    );
    assert_eq!(said[0]["error"]["code"], "damaged");
    assert_eq!(said[1], json!({ "unremembered": 0 }));
    assert_eq!(said[3]["exchanges"], json!([told("cats", 3)]));
    assert!(
        FileStore::check(&place("one"), &store::Options::default(), |_, _| {}).unwrap().damaged.is_empty()
    );
}

/// Whatever is asked in whatever order, with few users in memory and the service stopped in between: what is kept is what was said.
#[test]
fn every_answer_is_the_expected_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("users.fable");
    let script = Script::new(21, 5, 60).with_memory();
    let mut play = Play::<f32>::new(Oracle::new(&AGENT, Settings::default()), script);
    for users in [2, 100, 1] {
        let cache = (users * user_bytes::<f32>(&AGENT)).to_string();
        let arguments = ["--scalar", "f32", "--memory", "--cache", &cache, "--store"].map(Path::new);
        let mut service = Service::start(
            Path::new(env!("CARGO_BIN_EXE_fable")),
            arguments.into_iter().chain([path.as_path()]),
        );
        play.run(&mut service, 1_500, 40);
        assert!(service.finish().success());
    }
    for op in ["remember", "memories", "recall", "unremember"] {
        assert!(play.outcomes[op].0 >= 20, "{:?}", play.outcomes);
    }
    let report = FileStore::check(&path, &store::Options::default(), |_, _| {}).unwrap();
    assert!(report.is_sound(), "{report:?}");
}

/// An exchange costs about as many bytes as it has, however much is kept of the user.
#[test]
fn an_exchange_is_written_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("users.fable");
    let store = FileStore::open(&path, &Identity::new(&policy())).unwrap();
    town(&store);
    let words = "x".repeat(500);
    let length = || std::fs::metadata(&path).unwrap().len();
    let before = length();
    for at in 0..200 {
        let mut writes = Writes::default();
        writes.remember(user_hash("ana"), Exchange::new(&words, &words, at));
        store.commit(writes, true).unwrap();
    }
    assert!(length() - before < 200 * 1_200, "{}", length() - before);
    assert_eq!(kept(&store, "ana").len(), 64);
    // Nothing that anybody said can be read without the keys.
    let bytes = std::fs::read(&path).unwrap();
    assert!(!bytes.windows(10).any(|part| part == b"xxxxxxxxxx"));
}
