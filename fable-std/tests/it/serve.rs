//! `fable serve` against learners that are driven directly: every op, every answer, bit for bit.

use fable_core::settings::{Deadline, Expiry};
use fable_core::{Catalog, Exploration, Scalar, Settings, catalog};
use fable_serve_tests::oracle::Oracle;
use fable_serve_tests::play::Play;
use fable_serve_tests::process::memory;
use fable_serve_tests::script::Script;
use fable_serve_tests::service::Service;
use fable_std::serve::{Options, PROTOCOL, serve, user_bytes};
use fable_std::store::{FileStore, transfer};
use serde_json::{Value, json};
use std::path::Path;

fn play<T: Scalar>(catalog: &'static Catalog<'static>, seed: u64, users: usize, forgets: usize) -> Play<T> {
    let settings = Settings { seed: 7, ..Settings::default() };
    Play::new(Oracle::new(catalog, settings), Script::new(seed, users, forgets))
}

/// With room for so many users in memory.
fn start(catalog: &Catalog<'_>, scalar: &str, users: usize, store: Option<&Path>) -> Service {
    let each = if scalar == "f32" { user_bytes::<f32>(catalog) } else { user_bytes::<f64>(catalog) };
    let cache = (users * each).to_string();
    let name = catalog.definition().name;
    let arguments = ["--catalog", name, "--scalar", scalar, "--seed", "7", "--cache", &cache].map(Path::new);
    let store = store.into_iter().flat_map(|store| [Path::new("--store"), store]);
    Service::start(Path::new(env!("CARGO_BIN_EXE_fable")), arguments.into_iter().chain(store))
}

/// Every op was done, and those that can be refused were.
fn assert_all_outcomes<T: Scalar>(play: &Play<T>) {
    for op in [
        "onboard",
        "decide",
        "recommend",
        "feedback",
        "observe",
        "unlearn",
        "waiting",
        "posterior",
        "contrast",
        "explain",
        "profile",
        "promote",
        "forget",
    ] {
        let (done, refused) = play.outcomes[op];
        assert!(done >= 5, "{op} {:?}", play.outcomes);
        let refusable = ["decide", "feedback", "unlearn", "contrast", "explain"].contains(&op);
        assert!(!refusable || refused >= 5, "{op} {:?}", play.outcomes);
    }
}

/// The service is stopped and started in between, and keeps fewer users in memory than there are.
fn with_store<T: Scalar>(catalog: &'static Catalog<'static>, scalar: &str, seed: u64, steps: usize) {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("users.fable");
    let mut play = play::<T>(catalog, seed, 12, 100);
    for cache in [3, 100, 1] {
        let mut service = start(catalog, scalar, cache, Some(&store));
        play.run(&mut service, steps, 50);
        assert!(service.finish().success());
    }
    assert_all_outcomes(&play);
}

#[test]
fn agent_in_f64_with_a_store() {
    with_store::<f64>(&catalog::AGENT, "f64", 1, 500);
}

#[test]
fn tau2_in_f32_with_a_store() {
    with_store::<f32>(&catalog::TAU2, "f32", 2, 1_000);
}

#[test]
fn rubric_in_f64_with_a_store() {
    with_store::<f64>(&catalog::RUBRIC, "f64", 3, 1_000);
}

#[test]
fn agent_in_f32_in_memory() {
    let mut play = play::<f32>(&catalog::AGENT, 4, 5, 100);
    let mut service = start(&catalog::AGENT, "f32", 2, None);
    play.run(&mut service, 1_000, 200);
    let stats = service.ask(r#"{"op":"stats"}"#);
    assert_eq!(stats["users"], play.oracle.known());
    assert_eq!(stats["requests"], 1_001);
    assert!(service.finish().success());
}

/// One user and no forgetting: long journals, many snapshots, brought back again and again.
#[test]
fn long_lives() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("users.fable");
    let mut play = play::<f64>(&catalog::RUBRIC, 5, 2, 0);
    for _ in 0..3 {
        let mut service = start(&catalog::RUBRIC, "f64", 1, Some(&store));
        play.run(&mut service, 2_000, 100);
        assert!(service.finish().success());
    }
}

/// Serves in this process, with settings that decisions expire under and preferences are promoted under.
fn here(settings: Settings<'static>, seed: u64) -> Play<f64> {
    play_here(settings, Script::new(seed, 4, 1_000))
}

fn play_here(settings: Settings<'static>, script: Script) -> Play<f64> {
    let folder = tempfile::tempdir().unwrap();
    let (input, requests) = std::io::pipe().unwrap();
    let (answers, output) = std::io::pipe().unwrap();
    let options = Options {
        store: Some(folder.path().join("users.fable")),
        cache: 2 * user_bytes::<f64>(&catalog::RUBRIC),
        ..Options::default()
    };
    let server =
        std::thread::spawn(move || serve::<f64>(&catalog::RUBRIC, settings, &options, input, output, |_| {}));
    let mut service = Service::over(requests, answers);
    let mut play = Play::new(Oracle::new(&catalog::RUBRIC, settings), script);
    play.run(&mut service, 3_000, 100);
    service.close();
    server.join().unwrap().unwrap();
    play
}

#[test]
fn deadlines_and_imputed_rewards() {
    let settings =
        Settings { deadline: Deadline::Time(20), expiry: Expiry::Impute(-0.25), ..Settings::default() };
    let mut play = here(settings, 6);
    let expired = (0..4).filter(|user| {
        let posterior = play.oracle.posterior(&play.script.users()[*user].clone()).unwrap();
        posterior["observations"].as_u64() > Some(10)
    });
    assert_eq!(expired.count(), 4);
    here(Settings { deadline: Deadline::Rounds(3), ..Settings::default() }, 7);
}

#[test]
fn promoted_preferences() {
    let bold = Settings {
        exploration: Exploration::Constant(5.0),
        prior_radius: Some(0.1),
        alpha: 0.5,
        ..Settings::default()
    };
    let mut play =
        here(Settings { base_precision: Some(0.1), min_evidence: 1, noise_variance: 0.01, ..bold }, 8);
    let users = play.script.users().to_vec();
    let promoted = users.iter().filter(|user| play.oracle.profile(user).unwrap()["profile"] != json!([]));
    assert!(promoted.count() > 0);
    assert!(play.outcomes["profile"].0 > 10 && play.outcomes["promote"].0 > 10, "{:?}", play.outcomes);
}

/// Coins, certificates and what becomes of them when rewards come late, not at all, or are taken back: the service agrees with
/// learners that are driven directly, in memory and out of the store, under optimism and with draws.
#[test]
fn probes() {
    let certain = |play: &mut Play<f64>| {
        let users = play.script.users().to_vec();
        let profiles = users.iter().map(|user| play.oracle.profile(user).unwrap());
        let entries: Vec<Value> =
            profiles.flat_map(|profile| profile["profile"].as_array().unwrap().clone()).collect();
        entries.iter().filter(|entry| entry["by"] == "coins").count()
    };
    let settings = Settings { alpha: 0.5, deadline: Deadline::Rounds(20), ..Settings::PROBING };
    let mut play = play_here(settings, Script::new(9, 1, 0).with_taste());
    assert!(certain(&mut play) > 0);
    here(Settings { probe: 1.0, expiry: Expiry::Impute(-0.25), ..settings }, 10);
    here(Settings { exploration: Exploration::Constant(1.0), ..settings }, 11);
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

/// The answers to lines, from a store of the catalog `rubric`.
fn ask(store: &Path, lines: &[Value]) -> Vec<Value> {
    let options = Options {
        store: Some(store.to_owned()),
        durable: true,
        cache: 2 * user_bytes::<f64>(&catalog::RUBRIC),
        ..Options::default()
    };
    let input = lines.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    let mut output = Vec::new();
    serve::<f64>(&catalog::RUBRIC, EAGER, &options, std::io::Cursor::new(input), &mut output, |_| {})
        .unwrap();
    String::from_utf8(output).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A decision of Ana's and its reward: rigor is liked.
fn round(number: u32) -> [Value; 2] {
    let (level, reward) = if number.is_multiple_of(2) { ("level_5", 0.9) } else { ("level_1", -0.9) };
    let only = json!([{ "rigor": level, "steps": "level_3", "examples": "level_3" }]);
    let id = format!("{:016x}-0-{number}", fable_core::user_hash("ana"));
    [
        json!({ "op": "decide", "user": "ana", "context": {}, "only": only }),
        json!({ "op": "feedback", "decision": id, "reward": reward, "at": number }),
    ]
}

const PROFILE: fn() -> Value = || json!({ "op": "profile", "user": "ana" });

/// The sixteenth reward is the first that is looked at.
#[test]
fn rewards_promote_and_the_profile_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("users.fable");
    let most: Vec<Value> = (1..16).flat_map(round).chain([PROFILE()]).collect();
    let answers = ask(&store, &most);
    assert_eq!(answers[answers.len() - 1], json!({ "profile": [], "text": "" }));
    assert_eq!(answers[answers.len() - 2], json!({ "observations": 15 }));
    let answers = ask(&store, &[&round(16)[..], &[PROFILE()]].concat());
    assert_eq!(answers[1], json!({ "observations": 16 }));
    let entry = &answers[2]["profile"][0];
    assert_eq!(
        (&entry["round"], &entry["at"], &entry["standing"]),
        (&json!(16), &json!(16), &json!("holds"))
    );
    assert_eq!(entry["sentence"], "The user prefers rigor=level_5 to rigor=level_1.");
    assert!(
        answers[2]["text"].as_str().unwrap().starts_with("The user prefers rigor=level_5 to rigor=level_1.")
    );
    assert_eq!(ask(&store, &[PROFILE()])[0], answers[2], "it is stored");
}

#[test]
fn observed_rewards_promote_too() {
    let folder = tempfile::tempdir().unwrap();
    let observe = |number: u32| {
        let (level, reward) = if number.is_multiple_of(2) { ("level_5", 0.9) } else { ("level_1", -0.9) };
        let action = json!({ "rigor": level, "steps": "level_3", "examples": "level_3" });
        json!({ "op": "observe", "user": "ana", "context": {}, "action": action, "reward": reward, "at": 100 + number })
    };
    let lines: Vec<Value> = (1..=16).map(observe).chain([PROFILE()]).collect();
    let answers = ask(&folder.path().join("users.fable"), &lines);
    let entry = &answers[16]["profile"][0];
    assert_eq!((&entry["round"], &entry["at"]), (&json!(0), &json!(116)), "{}", answers[16]);
}

#[test]
fn promote_looks_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("users.fable");
    let promote = |user: &str| json!({ "op": "promote", "user": user, "at": 7 });
    let lines: Vec<Value> =
        (1..16).flat_map(round).chain([PROFILE(), promote("ana"), promote("ana"), PROFILE()]).collect();
    let answers = ask(&store, &lines);
    let [before, first, second, after] = &answers[30..] else { panic!("{answers:?}") };
    assert_eq!(before["profile"], json!([]));
    let promoted = first["promoted"].as_u64().unwrap();
    assert!(promoted > 0 && *second == json!({ "promoted": 0 }), "{first} {second}");
    let profile = after["profile"].as_array().unwrap();
    assert_eq!(
        (profile.len() as u64, &profile[0]["at"], &profile[0]["round"]),
        (promoted, &json!(7), &json!(15))
    );

    // Nobody is made by it, and it is in the help.
    let answers = ask(&store, &[promote("bob"), json!({ "op": "stats" })]);
    assert_eq!((&answers[0], &answers[1]["users"]), (&json!({ "promoted": 0 }), &json!(1)));
    assert!(PROTOCOL.contains("\n| `promote` | `user`; optional `at` | `promoted` |\n"));
}

/// Neither the user's own entries nor anything else in the file.
#[test]
fn reading_a_profile_changes_no_stored_byte() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("users.fable");
    ask(&store, &(1..16).flat_map(round).collect::<Vec<_>>()); // certain, and not yet looked at
    let stored = || {
        let opened = FileStore::open_any(&store).unwrap();
        (transfer::export(&opened, "ana").unwrap(), opened.users(), opened.log().unwrap())
    };
    let before = stored();
    let answers = ask(
        &store,
        &[PROFILE(), json!({ "op": "profile", "user": "bob" }), PROFILE(), json!({ "op": "stats" })],
    );
    assert_eq!(answers[0]["profile"], json!([]));
    assert_eq!((&answers[3]["events"], &answers[3]["users"]), (&json!(0), &json!(1)));
    assert_eq!(stored(), before);
    // What it used to take is not taken any more.
    for key in ["promote", "at"] {
        let mut line = PROFILE();
        line[key] = json!(0);
        assert_eq!(ask(&store, &[line])[0]["error"]["code"], "bad_request", "{key}");
    }
}

/// What is in memory is counted in bytes, and one user always has room.
#[test]
fn a_cache_has_as_many_users_as_it_has_bytes() {
    let each = user_bytes::<f64>(&catalog::TAU2);
    for (cache, users) in [(3 * each, 3), (4 * each - 1, 3), (each, 1), (1, 1), (0, 1)] {
        let arguments = ["--catalog", "tau2", "--scalar", "f64", "--cache", &cache.to_string()];
        let mut service = Service::start(Path::new(env!("CARGO_BIN_EXE_fable")), arguments);
        for user in 0..10 {
            let answer = service
                .ask(&json!({ "op": "decide", "user": format!("user{user}"), "context": {} }).to_string());
            assert!(answer["decision"].is_string(), "{answer}");
        }
        let stats = service.ask(r#"{"op":"stats"}"#);
        assert_eq!((&stats["users"], &stats["cached"]), (&json!(10), &json!(users)), "{cache}");
        assert_eq!(stats["cached_bytes"], users * each);
        assert!(service.finish().success());
    }
}

/// The bytes are those of the process: 91 users are about 20 MB, and not 400 of them, 88 MB.
#[test]
#[cfg(target_os = "linux")]
fn a_cache_of_20_mb_takes_about_20_mb() {
    let folder = tempfile::tempdir().unwrap();
    let grown = |cache: &str| {
        let store = folder.path().join(format!("{cache}.fable"));
        let arguments =
            ["--durability", "none", "--scalar", "f64", "--cache", cache, "--store"].map(Path::new);
        let mut service = Service::start(
            Path::new(env!("CARGO_BIN_EXE_fable")),
            arguments.into_iter().chain([store.as_path()]),
        );
        let context = json!({ "risk": 0.1, "ambiguity": 0.2, "memory_need": 0.7, "tool_need": 0.3 });
        for user in 0..400 {
            service.ask(&json!({ "op": "decide", "user": user.to_string(), "context": context }).to_string());
        }
        let (now, _) = memory(service.id());
        assert!(service.finish().success());
        now >> 20
    };
    let (small, large) = (grown("20MB"), grown("1GB"));
    assert!((50..90).contains(&(large - small)), "{small} MiB and {large} MiB"); // 309 users more: 65 MiB
}
