//! `fable migrate`: everyone goes on under another catalog, and whatever interrupts it, there is the old state or the new one.

use fable_core::catalog::Rename;
use fable_core::host::HostLearner;
use fable_core::migrate::Migration;
use fable_core::{Catalog, Policy, Settings, user_hash};
use fable_serve_tests::dice::Dice;
use fable_std::catalogs;
use fable_std::store::{Desk, FileStore, Policies, Reach, Resident, Store, transfer};
use serde_json::Value;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

const RENAME: [&str; 2] = ["--rename", "tool=web_search:tool=search_web"];

fn fable(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_fable")).args(arguments).current_dir(folder).output().unwrap()
}

/// What a command that succeeds prints.
fn done(folder: &Path, arguments: &[&str]) -> String {
    let output = fable(folder, arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The exit code of a command that fails, and what it says.
fn fails(folder: &Path, arguments: &[&str]) -> (i32, String) {
    let output = fable(folder, arguments);
    (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
}

/// What a service answers to these lines.
fn serve(folder: &Path, arguments: &[&str], lines: &str) -> Vec<Value> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fable"));
    command.arg("serve").args(arguments).current_dir(folder).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    let answers = String::from_utf8(output.stdout).unwrap();
    answers.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The second version of the agent's catalog: a value more, one with another name, a task less, tasks and components in another order.
fn second_version() -> String {
    let first = catalogs::write(catalogs::open("agent").unwrap());
    let changes = [
        ("web_search", "search_web"),
        ("\"summarization\", \"translation\", ", "\"summarization\", "),
        ("tasks = [\"coding\", \"analysis\", ", "tasks = [\"analysis\", \"coding\", "),
        (
            "  { name = \"detailed\"",
            "  { name = \"tabular\", cost = 0.03, instruction = \"Answer with a table.\" },\n  { name = \"detailed\"",
        ),
        ("instruction = \"Answer briefly.\"", "instruction = \"Be brief.\""),
    ];
    changes.iter().fold(first, |text, (old, new)| {
        assert!(text.contains(old), "{old}");
        text.replace(old, new)
    })
}

/// Lines about users who state something, are served in several tasks, have a rule, and wait for a last reward.
fn lives(users: u32) -> String {
    let mut lines = String::new();
    for user in 0..users {
        let name = format!("user{user}");
        let _ = writeln!(
            lines,
            r#"{{"op":"onboard","user":"{name}","statements":[{{"prefer":{{"style":"concise"}},"over":{{"style":"detailed"}},"response":0.6,"precision":4.0}}]}}"#
        );
        let _ = writeln!(
            lines,
            r#"{{"op":"forbid","user":"{name}","values":["tool=web_search"],"words":"never search, please"}}"#
        );
        let _ = writeln!(
            lines,
            r#"{{"op":"remember","user":"{name}","request":"Who is {name}?","answer":"You are."}}"#
        );
        for round in 1..=7 {
            let task = ["coding", "factual", "translation"][((user + round) % 3) as usize];
            let context = format!(
                r#"{{"task":"{task}","risk":0.{round},"ambiguity":0.2,"memory_need":0.4,"tool_need":0.6}}"#
            );
            let _ = writeln!(lines, r#"{{"op":"decide","user":"{name}","context":{context}}}"#);
            if round < 7 {
                let reward = f64::from((user * 5 + round * 3) % 9) / 9.0 - 0.3;
                let _ = writeln!(
                    lines,
                    r#"{{"op":"feedback","decision":"{}","reward":{reward}}}"#,
                    decision(&name, round)
                );
            }
        }
    }
    lines
}

/// A line that asks for a decision.
fn decide(name: &str) -> String {
    let context = r#"{"task":"coding","risk":0.1,"ambiguity":0.2,"memory_need":0.4,"tool_need":0.9}"#;
    format!(r#"{{"op":"decide","user":"{name}","context":{context}}}"#) + "\n"
}

fn decision(name: &str, round: u32) -> String {
    fable_core::DecisionId { user: user_hash(name), incarnation: 0, site: 0, round }.to_string()
}

/// The bits of a user of a store under a policy.
fn learner(store: &dyn Store, policy: &Policy<'_, f32>, number: u64) -> HostLearner<f32> {
    let policies = Policies::from(*policy);
    let stored = store.user(number, Reach::Snapshot).unwrap().unwrap();
    Resident::revive(&mut Desk::new(&policies), &stored, None).unwrap().learner().clone()
}

/// By their names, everything that two learners have in common has the mean and the variance that it had.
fn same_where_common(
    old: (&HostLearner<f32>, &Catalog<'_>),
    new: (&HostLearner<f32>, &Catalog<'_>),
) -> usize {
    let about = |(learner, catalog): (&HostLearner<f32>, &Catalog<'_>), coordinate| {
        let mut workspace = vec![0.0; catalog.workspace_len()];
        let found = learner.posterior().contrast(&mut workspace[..], [(coordinate, 1.0)]).unwrap();
        (f64::from(found.mean), f64::from(found.variance))
    };
    let mut common = 0;
    for coordinate in 0..old.1.dimension() {
        let name = old.1.coordinate_name(coordinate).unwrap().to_string().replace("web_search", "search_web");
        let Some(place) = new.1.coordinate(&name) else {
            assert!(name.contains("translation"), "{name} is gone");
            continue;
        };
        let ((mean, variance), (now, spread)) = (about(old, coordinate), about(new, place));
        assert!(
            (mean - now).abs() < 2e-5 && (variance - spread).abs() < 2e-5,
            "{name}: {mean} {variance}, {now} {spread}"
        );
        common += 1;
    }
    common
}

#[test]
fn everyone_goes_on_under_the_new_catalog() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    std::fs::write(here.join("v2.toml"), second_version()).unwrap();
    let first = ["--catalog", "agent", "--store", "users.fable", "--memory", "--seed", "5"];
    let answers = serve(here, &first, &lives(20));
    assert!(answers.iter().all(|answer| answer.get("error").is_none()), "{answers:?}");
    serve(here, &first, "{\"op\":\"forget\",\"user\":\"user3\"}\n");
    let before = std::fs::read(here.join("users.fable")).unwrap();

    let migrate =
        [&["migrate", "users.fable", "next.fable", "--from", "agent", "--to", "v2.toml"], &RENAME[..]]
            .concat();
    let told = done(here, &[&migrate[..], &["--dry-run"]].concat());
    assert!(told.starts_with("would migrate: 19 users, 0 priors; there already: 0\n"), "{told}");
    assert!(!here.join("next.fable").exists());
    let told = done(here, &migrate);
    assert!(told.starts_with("migrated: 19 users, 0 priors; there already: 0\n"), "{told}");
    assert!(
        told.contains("\ngone: task=translation\nnew: style=tabular\n") && !told.contains("--rename"),
        "{told}"
    );
    let told: Value = serde_json::from_str(&done(here, &[&migrate[..], &["--json"]].concat())).unwrap();
    assert_eq!(
        (&told["users"], &told["there_already"], &told["refused"]),
        (&0.into(), &19.into(), &Value::Array(vec![]))
    );
    assert!(before == std::fs::read(here.join("users.fable")).unwrap(), "the old store has changed");

    // Bit for bit what core makes of each of them, and by name what they were.
    let [v1, v2] =
        ["agent", here.join("v2.toml").to_str().unwrap()].map(|name| catalogs::open(name).unwrap());
    let settings = Settings { seed: 5, ..Settings::default() };
    let [old, new] = [v1, v2].map(|catalog| Policy::<f32>::new(catalog, settings).unwrap());
    let renames = [Rename::value("tool=web_search", "tool=search_web")];
    let migration = Migration::new(&old, &new, &renames).unwrap();
    let [from, to] = ["users.fable", "next.fable"].map(|name| FileStore::open_any(&here.join(name)).unwrap());
    assert_eq!((from.everyone(), from.incarnation().unwrap()), (to.everyone(), to.incarnation().unwrap()));
    for number in from.everyone() {
        let (was, mut next) = (learner(&from, &old, number), HostLearner::<f32>::for_policy(&new));
        let migrated = migration
            .carry(&mut was.clone(), &mut next, &mut vec![0.0; migration.workspace_len()][..])
            .unwrap();
        assert!(migrated.removed > 0 && migrated.added > 0);
        let is = learner(&to, &new, number);
        assert!(is.to_bytes().unwrap() == next.to_bytes().unwrap());
        assert_eq!(same_where_common((&was, v1), (&is, v2)), usize::from(migrated.kept));
        assert_eq!(from.memory(number).unwrap(), to.memory(number).unwrap());
        let [one, other] = [&from, &to].map(|store| store.user(number, Reach::Whole).unwrap().unwrap());
        assert_eq!((one.row.name, one.row.incarnation), (other.row.name, other.row.incarnation));
        assert!(other.journal.is_empty() && other.snapshot.is_some());
    }
    drop((from, to));

    // They go on: with what waited, with their rule under its new name and their words, and with what is new.
    let second = ["--catalog", "v2.toml", "--store", "next.fable", "--memory", "--seed", "5"];
    let name = "user5"; // its last decision was about code, and that of user4 about a translation, which is no task any more
    let mut lines = format!(r#"{{"op":"feedback","decision":"{}","reward":0.5}}"#, decision(name, 7)) + "\n";
    let _ = writeln!(lines, r#"{{"op":"feedback","decision":"{}","reward":0.5}}"#, decision("user4", 7));
    let _ = writeln!(lines, r#"{{"op":"rules","user":"{name}"}}"#);
    let _ = writeln!(lines, r#"{{"op":"memories","user":"{name}"}}"#);
    let context = r#"{"task":"coding","risk":0.1,"ambiguity":0.2,"memory_need":0.4,"tool_need":0.9}"#;
    let _ = writeln!(
        lines,
        r#"{{"op":"observe","user":"{name}","context":{context},"action":{{"memory":"no_memory","tool":"no_tool","style":"tabular"}},"reward":1.0}}"#
    );
    for _ in 0..10 {
        let _ = writeln!(lines, r#"{{"op":"decide","user":"{name}","context":{context}}}"#);
    }
    let mut answers = serve(here, &second, &lines);
    assert_eq!(answers.remove(1)["error"]["code"], "expired");
    assert!(answers.iter().all(|answer| answer.get("error").is_none()), "{answers:?}");
    let said = answers[1].to_string();
    assert!(
        said.contains("search_web") && said.contains("never search, please") && !said.contains("web_search"),
        "{said}"
    );
    assert!(answers[2].to_string().contains("Who is user5?"), "{}", answers[2]);
    assert!(answers[4..].iter().all(|answer| answer["action"]["tool"] != "search_web"));
    assert_eq!(answers[4]["decision"], decision(name, 8));
    assert!(done(here, &["check", "next.fable"]).ends_with("sound\n"));

    // Whoever has gone on is left alone.
    let told = done(here, &migrate);
    assert_eq!(told, "migrated: 0 users, 0 priors; there already: 19\n");
}

#[test]
fn files_of_one_user_and_priors_go_along() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    std::fs::write(here.join("v2.toml"), second_version()).unwrap();
    serve(here, &["--catalog", "agent", "--store", "crowd.fable", "--scalar", "f64"], &lives(8));
    done(here, &["prior", "fit", "crowd.prior", "--store", "crowd.fable"]);
    let first = ["--catalog", "agent", "--store", "users.fable", "--scalar", "f64", "--memory"];
    serve(here, &[&first[..], &["--prior", "crowd.prior"]].concat(), &lives(3));
    serve(here, &first, &decide("plain"));
    done(here, &["export", "user1", "one.user", "--store", "users.fable"]);

    let (code, told) = fails(here, &["import", "one.user", "--store", "next.fable", "--catalog", "v2.toml"]);
    assert!(code == 2 && told.contains("another catalog") && told.contains("`fable migrate`"), "{told}");
    let (code, told) =
        fails(here, &["serve", "--catalog", "v2.toml", "--prior", "crowd.prior", "--scalar", "f64"]);
    assert!(code == 2 && told.contains("another catalog") && told.contains("--catalog agent"), "{told}");

    // The user of the migrated store and the migrated file are the same bytes; so are the priors.
    let to = ["--from", "agent", "--to", "v2.toml"];
    let told = done(here, &[&["migrate", "users.fable", "next.fable"], &to[..], &RENAME[..]].concat());
    assert!(told.starts_with("migrated: 4 users, 1 priors; there already: 0\n"), "{told}");
    done(here, &[&["migrate", "one.user", "two.user"], &to[..], &RENAME[..]].concat());
    done(here, &[&["migrate", "crowd.prior", "next.prior"], &to[..], &RENAME[..]].concat());
    done(here, &["export", "user1", "same.user", "--store", "next.fable"]);
    let bytes = |name: &str| std::fs::read(here.join(name)).unwrap();
    assert!(bytes("two.user") == bytes("same.user"));
    assert_eq!(transfer::read(&bytes("two.user")).unwrap().prior.unwrap(), bytes("next.prior"));
    done(here, &["forget", "user1", "--store", "next.fable"]);
    done(here, &["import", "two.user", "--store", "next.fable", "--catalog", "v2.toml"]);
    let second =
        ["--catalog", "v2.toml", "--store", "next.fable", "--scalar", "f64", "--prior", "next.prior"];
    let answers = serve(here, &second, &(decide("user1") + &decide("new")));
    assert!(answers.iter().all(|answer| answer.get("decision").is_some()), "{answers:?}");
    assert_eq!(FileStore::open_any(&here.join("next.fable")).unwrap().priors().len(), 1); // the new one began with it, too
}

#[test]
fn what_cannot_be_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    std::fs::write(here.join("v2.toml"), second_version()).unwrap();
    serve(here, &["--catalog", "agent", "--store", "users.fable"], &lives(1));
    let to = ["--from", "agent", "--to", "v2.toml"];
    let migrate = |more: &[&str]| fails(here, &[&["migrate", "users.fable", "next.fable"], more].concat());

    // Another catalog is another thing than another layout.
    let (code, told) = fails(here, &["serve", "--store", "users.fable", "--catalog", "v2.toml"]);
    assert!(code == 2 && told.contains("another shape; `fable migrate`"), "{told}");
    let (code, told) = migrate(&["--from", "v2.toml", "--to", "agent"]);
    assert!(code == 2 && told.starts_with("fable: --from v2.toml: the store was made with"), "{told}");
    assert!(told.contains("not the file of then") && !told.contains("fable migrate"), "{told}");
    let (code, told) = migrate(&["--from", "tau2", "--to", "v2.toml"]);
    assert!(code == 2 && told.ends_with("catalog \"agent\", not \"tau2\"\n"), "{told}");
    let twice = ["tool=web_search:tool=search_web", "--rename", "tool=web_search:tool=no_tool"];
    for (wrong, why) in [
        (&["tool=nothing:tool=search_web"][..], "the old catalog has no value tool=nothing"),
        (&["tool=web_search:tool=nothing"], "the new catalog has no value tool=nothing"),
        (&["tool=web_search:style=tabular"], "different components"),
        (&twice, "said before"),
        (&["task=nothing:task=coding"], "the old catalog has no task nothing"),
        (&["nothing:risk"], "no component, signal or contrast"),
        (&["web_search"], "OLD:NEW"),
    ] {
        let (code, told) = migrate(&[&to[..], &["--rename"], wrong].concat());
        let said = wrong.last().unwrap();
        assert!(
            code == 2 && told.contains(&format!("--rename {said}: ")) && told.contains(why),
            "{wrong:?}: {told}"
        );
    }
    // The same place by any name; it had the only copy.
    done(here, &["export", "user0", "one.user", "--store", "users.fable"]);
    std::os::unix::fs::symlink("one.user", here.join("link.user")).unwrap();
    let files = ["one.user", "users.fable", "v2.toml"].map(|name| std::fs::read(here.join(name)).unwrap());
    for [old, new] in [
        ["users.fable", "users.fable"],
        ["users.fable", "./users.fable"],
        ["one.user", "./one.user"],
        ["one.user", "link.user"],
        ["one.user", "./v2.toml"],
    ] {
        let (code, told) = fails(here, &[&["migrate", old, new], &to[..]].concat());
        assert!(code == 2 && told.contains("another place"), "{old} {new}: {told}");
    }
    assert!(
        files == ["one.user", "users.fable", "v2.toml"].map(|name| std::fs::read(here.join(name)).unwrap())
    );
    assert!(!here.join("next.fable").exists());

    // Nobody else has it open.
    let open = FileStore::open_any(&here.join("users.fable")).unwrap();
    assert_eq!(migrate(&to), (1, "fable: the store is in use by another process\n".to_owned()));
    drop(open);

    // Nothing that is there is overwritten.
    serve(here, &["--catalog", "v2.toml", "--store", "next.fable"], &decide("user0"));
    let output = fable(here, &[&["migrate", "users.fable", "next.fable"], &to[..], &RENAME[..]].concat());
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(
        output.status.code() == Some(1)
            && told.contains("not migrated: user \"user0\": the other store has this user with another past")
            && told.contains("next.fable")
            && told.contains("delete it"),
        "{told}"
    );

    // A rename that was forgotten shows, before and after.
    for dry_run in [&["--dry-run"][..], &[]] {
        let told = done(here, &[&["migrate", "users.fable", "third.fable"], &to[..], dry_run].concat());
        let names = "\ngone: tool=web_search, task=translation, contrast search_over_no_tool\n\
                     new: tool=search_web, style=tabular, contrast search_over_no_tool\n";
        assert!(
            told.contains(names) && told.contains("contrasts that are gone or say something else: 1\n"),
            "{told}"
        );
        assert!(told.contains("say so: --rename OLD:NEW"), "{told}");
    }
    let told = done(here, &[&["migrate", "users.fable", "fourth.fable", "--json"], &to[..]].concat());
    let told: Value = serde_json::from_str(&told).unwrap();
    assert_eq!(
        told["gone"],
        serde_json::json!(["tool=web_search", "task=translation", "contrast search_over_no_tool"])
    );
    assert_eq!(told["dropped_contrasts"], 1);
}

/// Killed at any moment, the old store is as it was, and the new one has nobody but those who are whole.
#[test]
fn a_migration_that_is_killed_goes_on() {
    const USERS: u32 = 300;
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let second = catalogs::write(catalogs::open("tau2").unwrap()).replace(
        "  { name = \"guided\"",
        "  { name = \"friendly\", cost = 0.0, instruction = \"Be friendly.\" },\n  { name = \"guided\"",
    );
    std::fs::write(here.join("v2.toml"), second).unwrap();
    let mut lines = String::new();
    for user in 0..USERS {
        let _ = writeln!(lines, r#"{{"op":"decide","user":"user{user}","context":{{}}}}"#);
        let _ = writeln!(
            lines,
            r#"{{"op":"feedback","decision":"{}","reward":0.{}}}"#,
            decision(&format!("user{user}"), 1),
            user % 9
        );
    }
    serve(here, &["--catalog", "tau2", "--store", "users.fable"], &lines);
    let before = std::fs::read(here.join("users.fable")).unwrap();
    let migrate = |new: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fable"));
        command.args(["migrate", "users.fable", new, "--from", "tau2", "--to", "v2.toml"]).current_dir(here);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let started = Instant::now();
    assert!(migrate("whole.fable").wait_with_output().unwrap().status.success());
    let took = started.elapsed();
    let exports = |name: &str| -> Vec<(u64, Vec<u8>)> {
        let store = FileStore::open_any(&here.join(name)).unwrap();
        store
            .everyone()
            .into_iter()
            .map(|number| (number, transfer::write(&store.whole(number).unwrap().unwrap()).unwrap()))
            .collect()
    };
    let whole = exports("whole.fable");
    assert_eq!(whole.len(), USERS as usize);

    let (mut dice, mut partly) = (Dice::new(3), 0);
    for _ in 0..4 {
        let _ = ["next.fable", "next.fable.key", "next.fable.index"]
            .map(|file| std::fs::remove_file(here.join(file)));
        for _ in 0..3 {
            let mut child = migrate("next.fable");
            let micros = u64::try_from(took.as_micros()).unwrap();
            std::thread::sleep(Duration::from_micros(dice.below(usize::try_from(micros).unwrap()) as u64));
            let _ = child.kill();
            let _ = child.wait();
            assert!(before == std::fs::read(here.join("users.fable")).unwrap(), "the old store has changed");
            if std::fs::metadata(here.join("next.fable")).is_ok_and(|file| file.len() > 0) {
                let there = exports("next.fable");
                partly += usize::from(!there.is_empty() && there.len() < whole.len());
                assert!(
                    there.iter().all(|user| whole.contains(user)),
                    "somebody is neither the old nor the new one"
                );
            }
        }
        let output = migrate("next.fable").wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(exports("next.fable") == whole);
    }
    assert!(partly > 0, "it was never killed in the middle");
}
