//! A fitted prior in use: the store it was fitted from, the users who were there and those who come, and everything that begins
//! with it, all with the command as a person has it.

use fable_core::catalog::{AGENT, TAU2};
use fable_core::{HostUser, Policy, Settings, user_hash};
use fable_std::prior_file::{NOBODY, write};
use fable_std::store::{FileStore, Reach, transfer};
use fable_std::text::Rules;
use serde_json::{Value, json};
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

const STYLES: [&str; 3] = ["concise", "direct", "guided"];

fn fable(here: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_fable")).args(arguments).current_dir(here).output().unwrap()
}

/// What a command prints that has to succeed.
fn says(here: &Path, arguments: &[&str]) -> String {
    let output = fable(here, arguments);
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Exit code and message of a command that has to fail and to print nothing else.
fn fails(here: &Path, arguments: &[&str]) -> (i32, String) {
    let output = fable(here, arguments);
    assert!(output.stdout.is_empty(), "{arguments:?}: {output:?}");
    (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
}

/// Runs a command on lines of input to its end.
fn pipe(here: &Path, arguments: &[&str], input: &str) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fable"));
    command
        .args(arguments)
        .current_dir(here)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Serves requests from the store and returns the answers, none of which is an error.
fn serve(here: &Path, arguments: &[&str], requests: &[Value]) -> Vec<Value> {
    let answers = ask(here, arguments, requests);
    for answer in &answers {
        assert_eq!(answer.get("error"), None, "{answer}");
    }
    answers
}

/// The same, whatever the answers are.
fn ask(here: &Path, arguments: &[&str], requests: &[Value]) -> Vec<Value> {
    let input: String = requests.iter().map(|request| request.to_string() + "\n").collect();
    let scalar: &[&str] = if arguments.contains(&"--scalar") { &[] } else { &["--scalar", "f64"] };
    let output = pipe(
        here,
        &[&["serve", "--catalog", "tau2", "--store", "users.fable"], scalar, arguments].concat(),
        &input,
    );
    let answers: Vec<Value> = output.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers.len(), requests.len());
    answers
}

fn observe(user: &str, style: usize, reward: f64) -> Value {
    let action = json!({ "memory": "conversation", "tool": "verify", "style": STYLES[style] });
    json!({ "op": "observe", "user": user, "context": {}, "action": action, "reward": reward })
}

fn decide(user: &str) -> Value {
    json!({ "op": "decide", "user": user, "context": {} })
}

fn posterior(user: &str) -> Value {
    json!({ "op": "posterior", "user": user })
}

/// Rewards and decisions of users who like short answers, each to a degree of their own.
fn lives(users: &[String]) -> Vec<Value> {
    let mut requests = Vec::new();
    for (number, user) in (0_u32..).zip(users) {
        for round in 0..9 {
            let style = (round % 3) as usize;
            let reward = [0.7, 0.1, -0.4][style] + f64::from((number * 5 + round * 3) % 7) / 40.0;
            requests.extend([observe(user, style, reward), decide(user)]);
        }
    }
    requests
}

fn crowd() -> Vec<String> {
    (0..8).map(|number| format!("user{number}")).collect()
}

/// Everything about those who were there first.
fn exports(here: &Path) -> Vec<Vec<u8>> {
    let store = FileStore::open_any(&here.join("users.fable")).unwrap();
    crowd().iter().map(|user| transfer::export(&store, user).unwrap()).collect()
}

/// Fits a prior to the store: its description.
fn fit(here: &Path, file: &str) -> Value {
    let told = says(here, &["prior", "fit", file, "--store", "users.fable", "--catalog", "tau2", "--json"]);
    serde_json::from_str(&told).unwrap()
}

fn inspected(here: &Path, user: &str, store: &str) -> Value {
    serde_json::from_str(&says(here, &["inspect", user, "--store", store, "--json"])).unwrap()
}

/// The fingerprint that a user's records carry, and whether the prior was a fitted one; the user's replay agrees bit for bit.
fn began(here: &Path, user: &str) -> (String, bool) {
    says(here, &["replay", user, "--store", "users.fable"]);
    let state = &inspected(here, user, "users.fable")["state"];
    (state["fingerprint"].as_str().unwrap().to_owned(), state["fitted_prior"].as_bool().unwrap())
}

/// Whether a new user is at the prior that was fitted.
fn is_at(answer: &Value, fitted: &Value) -> bool {
    let near = |of: &str| {
        let (here, there) = (answer[of].as_object().unwrap(), fitted[of].as_object().unwrap());
        let same = |(name, value): (&String, &Value)| {
            (value.as_f64().unwrap() - there[name].as_f64().unwrap()).abs() < 1e-9
        };
        here.len() == there.len() && here.iter().all(same)
    };
    answer["observations"] == 0 && near("mean") && near("sd")
}

fn priors(here: &Path) -> usize {
    FileStore::open_any(&here.join("users.fable")).unwrap().priors().len()
}

/// Fit from a store and serve the same store with it: those who were there are as they were, those who come begin with it; and
/// once more with a second prior, fitted from users of both kinds.
#[test]
fn a_store_serves_users_of_several_priors() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let users = crowd();
    serve(here, &[], &lives(&users));
    let ask: Vec<Value> = users.iter().map(|user| posterior(user)).collect();
    let before = (serve(here, &[], &ask), exports(here));
    let base = format!("{:016x}", Policy::<f64>::new(&TAU2, Settings::default()).unwrap().fingerprint());

    let first = fit(here, "first.prior");
    assert_eq!((&first["users"], priors(here)), (&json!(8), 0));
    let with_first = ["--prior", "first.prior"];
    let stats = json!({ "op": "stats" });
    let answers = serve(here, &with_first, &[posterior("ana"), posterior("abe"), stats.clone()]);
    assert!(answers[..2].iter().all(|answer| is_at(answer, &first)));
    assert_eq!((&answers[2]["prior"], &answers[2]["users"]), (&first["fingerprint"], &json!(8)));
    assert_eq!(serve(here, &[], &[stats])[0]["prior"], Value::Null);
    let news = [observe("ana", 0, 0.5), decide("ana"), decide("abe")];
    serve(here, &with_first, &news);
    assert_eq!(before, (serve(here, &with_first, &ask), exports(here)));
    let of_first = (first["fingerprint"].as_str().unwrap().to_owned(), true);
    assert!(users.iter().all(|user| began(here, user) == (base.clone(), false)));
    assert_eq!((began(here, "ana"), began(here, "abe")), (of_first.clone(), of_first.clone()));

    // Without --prior: newcomers begin with the isotropic one, and ana goes on.
    let ana = serve(here, &with_first, &[posterior("ana")]);
    let answers = serve(here, &[], &[posterior("ana"), posterior("ben"), decide("ben"), decide("ana")]);
    assert_eq!(answers[..1], ana);
    assert!(answers[1]["mean"].as_object().unwrap().values().all(|mean| *mean == 0.0));
    assert_eq!((began(here, "ana"), began(here, "ben")), (of_first.clone(), (base.clone(), false)));

    // A second prior, from users of both kinds: what was observed of ana counts, whatever she began with.
    serve(here, &[], &lives(&["ana".to_owned(), "ben".to_owned()]));
    let second = fit(here, "second.prior");
    assert_eq!((&second["users"], &second["observations"]), (&json!(10), &json!(8 * 9 + 9 + 1 + 9)));
    let mut files = vec!["prior", "fit", "files.prior", "--catalog", "tau2", "--json"];
    for user in users.iter().map(String::as_str).chain(["ana", "ben"]) {
        says(here, &["export", user, user, "--store", "users.fable"]);
        files.push(user);
    }
    let from_files: Value = serde_json::from_str(&says(here, &files)).unwrap();
    assert_eq!(
        (&second["users"], &second["observations"]),
        (&from_files["users"], &from_files["observations"])
    );
    let of_second = (second["fingerprint"].as_str().unwrap().to_owned(), true);
    assert_ne!(of_first, of_second);
    let with_second = ["--prior", "second.prior"];
    let answers =
        serve(here, &with_second, &[posterior("cleo"), decide("cleo"), decide("abe"), decide("user3")]);
    assert!(is_at(&answers[0], &second));
    let prior_of = |user| began(here, user).0;
    assert_eq!(
        ["user3", "abe", "ana", "cleo"].map(prior_of),
        [&base, &of_first.0, &of_first.0, &of_second.0].map(String::clone)
    );

    // Who is forgotten comes back as a new user, and the priors of the others are still there.
    let forget = json!({ "op": "forget", "user": "ana" });
    let answers = serve(here, &with_second, &[decide("ana"), forget, posterior("ana"), decide("ana")]);
    assert!(is_at(&answers[2], &second));
    assert_eq!(
        ["ana", "abe", "cleo"].map(prior_of),
        [&of_second.0, &of_first.0, &of_second.0].map(String::clone)
    );
    assert_eq!(priors(here), 2);
    says(here, &["forget", "cleo", "ana", "--store", "users.fable"]);
    serve(here, &with_first, &[decide("abe"), decide("ana")]);
    assert_eq!((began(here, "ana"), priors(here)), (of_first, 2));
}

/// A long life with a prior: snapshots, users who leave memory and come back, and rewards that are taken back.
#[test]
fn who_began_with_a_prior_lives_as_everybody_does() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    serve(here, &[], &lives(&crowd()));
    let first = fit(here, "first.prior");
    let names = ["ana".to_owned(), "abe".to_owned()];
    let news = serve(here, &["--prior", "first.prior"], &[decide("ana"), posterior("ana"), posterior("abe")]);
    assert!(is_at(&news[1], &first) && is_at(&news[2], &first)); // a decision alone teaches nothing
    let id = news[0]["decision"].as_str().unwrap();
    let feedback = json!({ "op": "feedback", "decision": id, "reward": 0.75 });
    let unlearn = json!({ "op": "unlearn", "decision": id });
    let answers =
        serve(here, &["--prior", "first.prior"], &[feedback, posterior("ana"), unlearn, posterior("ana")]);
    assert!(!is_at(&answers[1], &first) && is_at(&answers[3], &first));

    let mut requests = Vec::new();
    (0..40).for_each(|_| requests.extend(lives(&names))); // above 512 events each, so there are snapshots
    requests.extend([posterior("ana"), posterior("abe")]);
    let small = ["--prior", "first.prior", "--cache", "1"];
    let answers = serve(here, &small, &requests);
    let last = &answers[requests.len() - 2..];
    let store = FileStore::open_any(&here.join("users.fable")).unwrap();
    let snapshots = names.iter().filter(|name| {
        store.user(user_hash(name), Reach::Snapshot).unwrap().unwrap().snapshot.is_some() // under the policy with the prior
    });
    assert_eq!(snapshots.count(), 2);
    drop(store);
    for arguments in [&[][..], &small] {
        assert_eq!(serve(here, arguments, &[posterior("ana"), posterior("abe")]), last);
    }
    assert!(began(here, "ana").1 && began(here, "abe").1);
}

/// A prior in f32 for users in f32: what `fit` writes for their store, and replay from a device's own files.
#[test]
fn a_store_in_f32_has_its_prior_in_f32() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    serve(here, &["--scalar", "f32"], &lives(&crowd()));
    let first = fit(here, "first.prior");
    let answers =
        serve(here, &["--scalar", "f32", "--prior", "first.prior"], &[decide("ana"), posterior("ana")]);
    assert_eq!(answers[1]["rounds"], 1);
    assert_eq!(began(here, "ana"), (first["fingerprint"].as_str().unwrap().to_owned(), true));
    // Given with a user whose prior is known it has to be the same one.
    says(here, &["replay", "ana", "--store", "users.fable", "--prior", "first.prior"]);
    says(here, &["inspect", "ana", "--store", "users.fable", "--prior", "first.prior"]);
    let (code, message) =
        fails(here, &["replay", "user1", "--store", "users.fable", "--prior", "first.prior"]);
    assert_eq!(code, 2);
    assert_eq!(
        message,
        "fable: first.prior: the user began with another prior, which is known; leave --prior out\n"
    );
    // Fitted for users in f64 it is another file.
    says(
        here,
        &["prior", "fit", "large.prior", "--store", "users.fable", "--catalog", "tau2", "--scalar", "f64"],
    );
    let (code, message) = fails(
        here,
        &[
            "serve",
            "--catalog",
            "tau2",
            "--store",
            "users.fable",
            "--scalar",
            "f32",
            "--prior",
            "large.prior",
        ],
    );
    let told =
        "fable: large.prior: the prior is in f64, and here it has to be in f32: fit it with --scalar f32\n";
    assert_eq!((code, message.as_str()), (2, told));
}

/// An exported user has the prior along; an addressed prior is a new user with it.
#[test]
fn a_prior_travels_with_its_user() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    serve(here, &[], &lives(&crowd()));
    let first = fit(here, "first.prior");
    serve(here, &["--prior", "first.prior"], &lives(&["ana".to_owned(), "abe".to_owned()]));
    let there = tempfile::tempdir().unwrap();
    let there = there.path();
    let import = |file: &str, more: &[&str]| {
        let file = here.join(file);
        fable(
            there,
            &[&["import", file.to_str().unwrap(), "--store", "users.fable", "--catalog", "tau2"], more]
                .concat(),
        )
    };
    for user in ["ana", "abe"] {
        says(here, &["export", user, user, "--store", "users.fable"]);
        assert!(import(user, &[]).status.success());
        let mut reports = [inspected(here, user, "users.fable"), inspected(there, user, "users.fable")];
        assert_eq!(reports[0], reports[1]);
        let exported = says(here, &["inspect", user, "--catalog", "tau2", "--json"]);
        let exported: Value = serde_json::from_str(&exported).unwrap();
        assert_eq!(reports[0]["blocks"].take(), exported["blocks"]);
        says(here, &["replay", user, "--catalog", "tau2"]);
    }
    assert_eq!((began(there, "ana").0.as_str(), priors(there)), (first["fingerprint"].as_str().unwrap(), 1));
    assert_eq!(serve(here, &[], &[decide("ana")]), serve(there, &[], &[decide("ana")]));
    let again = serve(there, &[], &[posterior("ana")]);
    says(there, &["export", "ana", "ana", "--store", "users.fable"]);
    says(there, &["forget", "ana", "--store", "users.fable"]);
    says(there, &["import", "ana", "--store", "users.fable", "--catalog", "tau2"]);
    assert_eq!(again, serve(there, &[], &[posterior("ana")]));
    assert_eq!(import("ana", &[]).status.code(), Some(3)); // it is there

    for (file, scalar) in [("dan.snapshot", "f64"), ("dan32.snapshot", "f32")] {
        says(
            here,
            &[
                "prior",
                "address",
                "first.prior",
                file,
                "--user",
                "dan",
                "--scalar",
                scalar,
                "--catalog",
                "tau2",
            ],
        );
    }
    assert_eq!(import("dan.snapshot", &[]).status.code(), Some(2));
    assert_eq!(import("dan.snapshot", &["--user", "ben"]).status.code(), Some(2));
    assert_eq!(import("dan.snapshot", &["--user", ""]).status.code(), Some(1));
    assert_eq!(import("dan32.snapshot", &["--user", "dan"]).status.code(), Some(2));
    assert_eq!(import("ana", &["--user", "ana"]).status.code(), Some(2));
    let told = import("dan.snapshot", &["--user", "dan"]);
    assert_eq!(String::from_utf8_lossy(&told.stdout), "imported: dan\n");
    assert_eq!(import("dan.snapshot", &["--user", "dan"]).status.code(), Some(3));
    assert_eq!(priors(there), 1);
    // The store has forgotten somebody: dan's decisions have ids that nobody had.
    let answers = serve(there, &[], &[posterior("dan"), decide("dan")]);
    assert!(is_at(&answers[0], &first));
    assert!(answers[1]["decision"].as_str().unwrap().ends_with("-1-1"));
    assert_eq!(began(there, "dan").0, first["fingerprint"].as_str().unwrap());
    // An addressed prior is as good for everybody: whom it is for is not kept.
    serve(there, &["--prior", here.join("dan.snapshot").to_str().unwrap()], &[decide("eve")]);
    assert_eq!((began(there, "eve").0.as_str(), priors(there)), (first["fingerprint"].as_str().unwrap(), 1));
    says(there, &["forget", "dan", "--store", "users.fable"]);
    let store = FileStore::open_any(&there.join("users.fable")).unwrap();
    assert!(!store.has(user_hash("dan")) && store.has(user_hash("eve")));
}

/// A prior that is not fitted but stated: the isotropic one with the mean of one coordinate moved. With L = I the last entry of a
/// column is the mean.
fn stated(settings: Settings<'static>, mean: f64) -> Vec<u8> {
    let base = Policy::<f64>::new(&AGENT, settings).unwrap();
    let mut packed = HostUser::<f64>::new(&base, "").unwrap().learner().posterior().packed().to_vec();
    *packed.last_mut().unwrap() = mean;
    write(&base, &packed, NOBODY).unwrap()
}

#[test]
fn a_chat_begins_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let settings = Settings {
        context_adapter: Rules::CONTEXT,
        feedback_adapter: Rules::FEEDBACK,
        ..Settings::default()
    };
    fs::write(here.join("mine.prior"), stated(settings, 0.9)).unwrap();
    let chat =
        |more: &[&str], lines: &str| pipe(here, &[&["chat", "--store", "users.fable"], more].concat(), lines);
    let told = chat(&["--prior", "mine.prior"], "What is a monad?\ntoo long\n");
    assert!(told.contains("reaction ") && told.contains("learned"), "{told}");
    assert!(began(here, "me").1);
    // The same person goes on with it, and is somebody new after forgetting.
    assert!(chat(&[], "What is a functor?\n/why\n").contains("chosen"));
    let first = began(here, "me");
    assert!(first.1);
    chat(&[], "/forget yes\nWhat is a functor?\n");
    assert!(!began(here, "me").1);
    chat(&["--prior", "mine.prior"], "/forget yes\nWhat is a functor?\n");
    assert_eq!(began(here, "me"), first);
    fs::write(here.join("cut.prior"), &stated(settings, 0.9)[..900]).unwrap();
    fs::write(here.join("other.prior"), stated(Settings::default(), 0.9)).unwrap(); // of those who let somebody else read
    for (file, code, message) in [
        ("users.fable", 2, "this is not a prior"),
        ("cut.prior", 1, "the prior cannot be read: the record ends too early"),
        (
            "other.prior",
            2,
            "the prior was fitted for another catalog or other settings; it fits the default settings",
        ),
    ] {
        let found = fails(here, &["chat", "--store", "none.fable", "--prior", file]);
        assert_eq!(found, (code, format!("fable: {file}: {message}\n")));
    }
    assert!(!here.join("none.fable").exists());
}

#[test]
fn evaluations_and_the_demo_begin_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    fs::write(here.join("none.prior"), stated(Settings::default(), 0.0)).unwrap();
    fs::write(here.join("some.prior"), stated(Settings::default(), 0.9)).unwrap();
    says(here, &["evaluate", "try.jsonl", "--simulate", "--rounds", "60"]);
    let evaluate = |more: &[&str]| {
        let told = says(here, &[&["evaluate", "try.jsonl", "--json", "--frozen", "--greedy"], more].concat());
        serde_json::from_str::<Value>(&told).unwrap()
    };
    let mut isotropic = evaluate(&["--prior", "none.prior"]);
    assert_eq!(isotropic["prior"].take(), "none.prior");
    assert_eq!(isotropic, evaluate(&[]));
    assert_ne!(isotropic["doubly_robust"], evaluate(&["--prior", "some.prior"])["doubly_robust"]);
    assert!(
        says(here, &["evaluate", "try.jsonl", "--prior", "some.prior"])
            .contains("exploring, from some.prior\n")
    );

    let demo = |more: &[&str]| says(here, &[&["demo", "--plain", "--fast", "--rounds", "20"], more].concat());
    let plain = demo(&[]);
    assert_eq!(plain, demo(&["--prior", "none.prior"]));
    let other = demo(&["--prior", "some.prior"]);
    let row = |text: &str, name: &str| {
        text.lines().rfind(|line| line.trim_start().starts_with(name)).unwrap().to_owned()
    };
    assert_ne!(row(&plain, "Fable"), row(&other, "Fable"));
    for name in ["flat", "rules only", "best possible"] {
        assert_eq!(row(&plain, name), row(&other, name)); // these do not begin with it
    }
}

#[test]
fn mistakes_are_told_and_change_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    serve(here, &[], &lives(&crowd()));
    fit(here, "good.prior");
    let good = fs::read(here.join("good.prior")).unwrap();
    fs::write(here.join("cut.prior"), &good[..good.len() / 2]).unwrap();
    let damaged: Vec<u8> =
        good.iter().enumerate().map(|(place, byte)| byte ^ u8::from(place == 600)).collect();
    fs::write(here.join("damaged.prior"), damaged).unwrap();
    fs::write(here.join("empty.prior"), "").unwrap();
    let mut ana = HostUser::<f64>::new(&Policy::new(&TAU2, Settings::default()).unwrap(), "ana").unwrap();
    ana.user().observe(&TAU2.context(None, []).unwrap(), fable_core::Action(1), 0.5).unwrap();
    fs::write(here.join("ana.snapshot"), ana.to_bytes()).unwrap();
    says(here, &["evaluate", "try.jsonl", "--catalog", "tau2", "--simulate", "--rounds", "20"]);
    // The database writes to its file when it is opened to be read; a service with a wrong prior does not open it.
    let exported = exports(here);
    let before = (fs::read(here.join("users.fable")).unwrap(), exported);

    let commands: [&[&str]; 6] = [
        &["serve", "--store", "users.fable"],
        &["serve", "--store", "new.fable"],
        &["replay", "user1", "--store", "users.fable"],
        &["inspect", "user1", "--store", "users.fable"],
        &["evaluate", "new.jsonl", "--simulate"],
        &["demo", "--fast", "--plain", "--svg", "new.svg"],
    ];
    let mistakes: [(&str, i32, &str); 6] = [
        ("missing.prior", 1, "No such file or directory (os error 2)"),
        ("empty.prior", 1, "the prior cannot be read: the record ends too early"),
        ("cut.prior", 1, "the prior cannot be read: the record ends too early"),
        ("damaged.prior", 1, "the prior cannot be read: the record is damaged"),
        (
            "ana.snapshot",
            2,
            "this is the snapshot of a user who has decided or learned something, not a prior",
        ),
        ("try.jsonl", 2, "this is not a prior"),
    ];
    for command in commands {
        for (file, code, message) in mistakes {
            let found = fails(here, &[command, &["--catalog", "tau2", "--prior", file]].concat());
            assert_eq!(found, (code, format!("fable: {file}: {message}\n")), "{command:?}");
        }
        if !["replay", "inspect"].contains(&command[0]) {
            let found = fails(here, &[command, &["--catalog", "agent", "--prior", "good.prior"]].concat());
            let told = "the prior was fitted for another catalog or other settings; try --catalog tau2";
            assert_eq!(found, (2, format!("fable: good.prior: {told}\n")), "{command:?}");
        }
        assert!(command[0] != "serve" || fs::read(here.join("users.fable")).unwrap() == before.0);
    }
    let noisy = ["--catalog", "tau2", "--noise-variance", "1", "--prior", "good.prior"];
    for command in [&["serve", "--store", "new.fable"][..], &["evaluate", "new.jsonl", "--simulate"]] {
        let told = "the prior was fitted for another catalog or other settings; it fits the default settings";
        assert_eq!(fails(here, &[command, &noisy].concat()), (2, format!("fable: good.prior: {told}\n")));
    }
    assert!(exports(here) == before.1);
    for new in ["new.fable", "new.jsonl", "new.svg"] {
        assert!(!here.join(new).exists(), "{new}");
    }
    // A store of other settings does not take it either.
    let (code, told) = fails(
        here,
        &["serve", "--catalog", "tau2", "--seed", "7", "--store", "users.fable", "--prior", "good.prior"],
    );
    assert_eq!((code, told.as_str()), (2, "fable: the store was made with seed 0, not 7\n"));
    assert_eq!(priors(here), 0);
}

/// What a disk has made of a stored prior is not taken for one: whoever began with it is refused, the others go on, and giving the
/// prior again mends it.
#[test]
fn a_damaged_prior_of_a_store_is_found() {
    use fable_serve_tests::frames::{PRIOR, of_kind};
    let folder = tempfile::tempdir().unwrap();
    let (here, store) = (folder.path(), folder.path().join("users.fable"));
    serve(here, &[], &lives(&crowd()));
    fit(here, "first.prior");
    serve(here, &["--prior", "first.prior"], &[decide("ana")]);
    let prior = of_kind(&store, PRIOR);
    assert_eq!(prior.len(), 1);
    let mut bytes = fs::read(&store).unwrap();
    bytes[prior[0].offset + 700] ^= 1;
    fs::write(&store, bytes).unwrap();
    for command in [&["replay", "ana"], &["inspect", "ana"]] {
        let (code, message) = fails(here, &[command, &["--store", "users.fable"][..]].concat());
        assert!((1..3).contains(&code) && message.contains("is damaged (prior)"), "{command:?} {message}");
    }
    let answers = ask(here, &[], &[decide("ana"), decide(crowd()[0].as_ref()), decide("new")]);
    assert_eq!(answers[0]["error"]["code"], "damaged");
    assert!(answers[1..].iter().all(|answer| answer.get("error").is_none()), "{answers:?}");
    let answers = serve(here, &["--prior", "first.prior"], &[decide("ana")]);
    assert_eq!(answers[0].get("error"), None);
    let answers = serve(here, &[], &[decide("ana")]);
    assert_eq!(answers[0].get("error"), None);
}
