//! Rules that stand: a user's own, wherever they were set and wherever they are obeyed, and switches.

use fable_core::catalog::AGENT;
use fable_core::{Policy, Settings};
use fable_serve_tests::postgres::Database;
use fable_serve_tests::service::Service;
use fable_std::chat::Chat;
use fable_std::store::{FileStore, Identity, Policies};
use fable_std::text::Rules;
use serde_json::{Value, json};
use std::path::Path;

fn serve(store: &str) -> Service {
    Service::start(Path::new(env!("CARGO_BIN_EXE_fable")), ["--store", store])
}

fn ask(service: &mut Service, request: &Value) -> Value {
    service.ask(&request.to_string())
}

fn context(risk: f64) -> Value {
    json!({"task": "coding", "risk": risk, "ambiguity": 0.2, "memory_need": 0.4, "tool_need": 0.9})
}

fn decide(service: &mut Service, user: &str, risk: f64) -> Value {
    ask(service, &json!({"op": "decide", "user": user, "context": context(risk)}))
}

/// The values of a component in so many decisions, and how much was feasible.
fn chosen(
    service: &mut Service,
    user: &str,
    risk: f64,
    component: &str,
    rounds: usize,
) -> (Vec<String>, u64) {
    let mut values = Vec::new();
    let mut feasible = 0;
    for _ in 0..rounds {
        let decided = decide(service, user, risk);
        values.push(decided["action"][component].as_str().unwrap_or_else(|| panic!("{decided}")).to_owned());
        feasible = decided["feasible"].as_u64().unwrap();
    }
    (values, feasible)
}

#[test]
fn a_service_obeys_a_users_own_rules() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("users.fable");
    let store = store.to_str().unwrap();
    let mut service = serve(store);
    // Without a rule ana gets what she will not get with one, and likes it.
    let likes = json!({"prefer": {"tool": "web_search"}, "response": 1, "precision": 1000});
    ask(&mut service, &json!({"op": "onboard", "user": "ana", "statements": [likes]}));
    let (before, all) = chosen(&mut service, "ana", 0.1, "tool", 20);
    assert!(before.iter().all(|tool| tool == "web_search") && all == 180, "{before:?}");

    let forbidden = json!({"op": "forbid", "user": "ana", "values": ["tool=web_search"], "words": "never search the web"});
    let rule = json!({"effect": "forbid", "values": ["tool=web_search"], "when": null, "words": "never search the web"});
    let expected = json!({"rules": [rule], "catalog": [], "layer": true, "memory": null});
    assert_eq!(ask(&mut service, &forbidden), expected);
    assert_eq!(ask(&mut service, &forbidden), expected); // it stands once
    let (after, left) = chosen(&mut service, "ana", 0.1, "tool", 20);
    assert!(after.iter().all(|tool| tool != "web_search") && left == 150, "{after:?}");
    // It is hers alone.
    assert_eq!(chosen(&mut service, "ben", 0.1, "tool", 1).1, 180);

    // Where a signal is high, and in a task.
    ask(
        &mut service,
        &json!({"op": "require", "user": "ana", "values": ["style=confirm_first"], "when": "risk"}),
    );
    ask(
        &mut service,
        &json!({"op": "forbid", "user": "ana", "values": ["memory=no_memory"], "when": "task=writing"}),
    );
    let (styles, left) = chosen(&mut service, "ana", 0.9, "style", 20);
    assert!(styles.iter().all(|style| style == "confirm_first") && left == 25, "{styles:?}");
    assert_eq!(chosen(&mut service, "ana", 0.5, "style", 1).1, 150); // not above one half

    // Explained.
    let decided = decide(&mut service, "ana", 0.1);
    let mut against = decided["action"].clone();
    against["tool"] = json!("web_search");
    let why =
        ask(&mut service, &json!({"op": "explain", "decision": decided["decision"], "against": against}));
    assert_eq!((&why["feasible"], &why["rule"]), (&json!(false), &json!("never tool=web_search")), "{why}");

    // Together with what the request asks for nothing may be left: refused, with the reason, and nothing has changed.
    let posterior = ask(&mut service, &json!({"op": "posterior", "user": "ana"}));
    let only =
        json!({"op": "decide", "user": "ana", "context": context(0.1), "require": [{"tool": "web_search"}]});
    let refused = ask(&mut service, &only);
    assert_eq!(refused["error"]["code"], "infeasible");
    assert!(
        refused["error"]["message"].as_str().unwrap().contains("the user's rule 'never tool=web_search'"),
        "{refused}"
    );
    assert_eq!(ask(&mut service, &json!({"op": "posterior", "user": "ana"})), posterior);
    // A rule that leaves nothing at all is refused, too.
    let styles = ["direct", "concise", "detailed", "step_by_step", "ask_clarification", "confirm_first"];
    let none: Vec<String> = styles.iter().map(|style| format!("style={style}")).collect();
    let refused = ask(&mut service, &json!({"op": "forbid", "user": "ana", "values": none}));
    assert_eq!(refused["error"]["code"], "infeasible");
    for (wrong, code) in [
        (json!({"op": "forbid", "user": "ana", "values": ["tool=websearch"]}), "unknown_name"),
        (
            json!({"op": "forbid", "user": "ana", "values": ["tool=web_search"], "when": "task=golf"}),
            "unknown_name",
        ),
        (json!({"op": "forbid", "user": "ana", "values": []}), "bad_pattern"),
        (json!({"op": "forbid", "user": "ana"}), "bad_request"),
        (
            json!({"op": "forbid", "user": "ana", "values": ["tool=web_search"], "words": "x".repeat(1_025)}),
            "out_of_range",
        ),
        (json!({"op": "switch", "user": "ana"}), "bad_request"),
        (json!({"op": "rules", "user": "ana", "values": []}), "bad_request"),
    ] {
        assert_eq!(ask(&mut service, &wrong)["error"]["code"], code, "{wrong}");
    }

    // All of it is on disk.
    let known = ask(&mut service, &json!({"op": "rules", "user": "ana"}));
    assert_eq!(known["rules"].as_array().unwrap().len(), 3);
    assert!(service.finish().success());
    let mut service = serve(store);
    assert_eq!(ask(&mut service, &json!({"op": "rules", "user": "ana"})), known);
    assert!(chosen(&mut service, "ana", 0.1, "tool", 40).0.iter().all(|tool| tool != "web_search"));

    // Lifted, and forgotten.
    let lifted = ask(&mut service, &json!({"op": "allow", "user": "ana", "values": ["tool=web_search"]}));
    assert_eq!(lifted["rules"].as_array().unwrap().len(), 2);
    assert_eq!(chosen(&mut service, "ana", 0.1, "tool", 1).1, 180);
    ask(&mut service, &json!({"op": "forget", "user": "ana"}));
    assert_eq!(ask(&mut service, &json!({"op": "rules", "user": "ana"}))["rules"], json!([]));
    assert_eq!(chosen(&mut service, "ana", 0.9, "tool", 1).1, 180);
    assert!(service.finish().success());
}

#[test]
fn who_has_switched_it_off_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("users.fable");
    let mut service = serve(store.to_str().unwrap());
    let decided = decide(&mut service, "ana", 0.1);
    let off = ask(&mut service, &json!({"op": "switch", "user": "ana", "layer": false, "memory": false}));
    assert_eq!((&off["layer"], &off["memory"]), (&json!(false), &json!(false)));
    let posterior = ask(&mut service, &json!({"op": "posterior", "user": "ana"}));
    let statement = json!({"prefer": {"style": "concise"}, "response": 0.8, "precision": 4});
    for refused in [
        json!({"op": "decide", "user": "ana", "context": context(0.1)}),
        json!({"op": "feedback", "decision": decided["decision"], "reward": 1}),
        json!({"op": "observe", "user": "ana", "context": context(0.1), "action": decided["action"], "reward": 1}),
        json!({"op": "onboard", "user": "ana", "statements": [statement]}),
    ] {
        assert_eq!(ask(&mut service, &refused)["error"]["code"], "off", "{refused}");
    }
    assert_eq!(ask(&mut service, &json!({"op": "posterior", "user": "ana"})), posterior);
    let on = ask(&mut service, &json!({"op": "switch", "user": "ana", "layer": true}));
    assert_eq!((&on["layer"], &on["memory"]), (&json!(true), &json!(false)));
    let learned = ask(&mut service, &json!({"op": "feedback", "decision": decided["decision"], "reward": 1}));
    assert_eq!(learned["observations"], 1);
    assert!(service.finish().success());
}

/// What is said in a chat is obeyed by a service with the same store.
#[test]
fn what_a_chat_sets_a_service_obeys() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("users.fable");
    let settings =
        Settings { context_adapter: Rules::CONTEXT, feedback_adapter: Rules::FEEDBACK, ..Settings::DEFAULT };
    let policy = Policy::new(&AGENT, settings).unwrap();
    let file = FileStore::open(&store, &Identity::new(&policy)).unwrap();
    let policies = Policies::from(policy);
    let mut chat = Chat::open(&policies, Box::new(file), "ana", &Rules, None).unwrap();
    chat.line("/prefer never search the web", 0).unwrap();
    drop(chat);
    let adapters = ["--context-adapter", Rules::CONTEXT, "--feedback-adapter", Rules::FEEDBACK];
    let arguments = ["--store", store.to_str().unwrap()].into_iter().chain(adapters);
    let mut service = Service::start(Path::new(env!("CARGO_BIN_EXE_fable")), arguments);
    assert_eq!(chosen(&mut service, "ana", 0.1, "tool", 1).1, 150);
    let rules = ask(&mut service, &json!({"op": "rules", "user": "ana"}));
    assert_eq!(rules["rules"][0]["words"], "never search the web");
    assert!(service.finish().success());
}

/// Two processes on one database: what one is told, the other obeys with its next decision, and the other way round.
#[test]
fn processes_that_share_a_store_obey_the_same_rules() {
    let Some(database) = Database::new() else { return };
    let (mut one, mut other) = (serve(&database.url()), serve(&database.url()));
    assert_eq!(chosen(&mut one, "ana", 0.1, "tool", 2).1, 180);
    assert_eq!(chosen(&mut other, "ana", 0.1, "tool", 2).1, 180);
    ask(&mut one, &json!({"op": "forbid", "user": "ana", "values": ["tool=web_search"], "words": "no web"}));
    assert_eq!(chosen(&mut other, "ana", 0.1, "tool", 1).1, 150);
    ask(&mut other, &json!({"op": "forbid", "user": "ana", "values": ["style=concise"]}));
    assert_eq!(chosen(&mut one, "ana", 0.1, "tool", 1).1, 125);
    let rules = ask(&mut one, &json!({"op": "rules", "user": "ana"}));
    assert_eq!((&rules["rules"][0]["words"], &rules["rules"][1]["words"]), (&json!("no web"), &json!("")));
    ask(&mut other, &json!({"op": "switch", "user": "ana", "layer": false}));
    assert_eq!(decide(&mut one, "ana", 0.1)["error"]["code"], "off");
    ask(&mut one, &json!({"op": "switch", "user": "ana", "layer": true}));
    ask(&mut one, &json!({"op": "allow", "user": "ana", "values": ["tool=web_search", "style=concise"]}));
    assert_eq!(chosen(&mut other, "ana", 0.1, "tool", 1).1, 180);
    assert!(one.finish().success() && other.finish().success());
}

fn fable(arguments: &[&str]) -> (Option<i32>, String) {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_fable")).args(arguments).output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(said).unwrap())
}

/// The command, on a store that nobody serves at the moment; and they go along with an export.
#[test]
fn rules_can_be_seen_and_changed_in_a_store() {
    let folder = tempfile::tempdir().unwrap();
    let (store, other, file) = (
        folder.path().join("users.fable"),
        folder.path().join("other.fable"),
        folder.path().join("ana.user"),
    );
    let [store, other, file] = [&store, &other, &file].map(|path| path.to_str().unwrap());
    let mut service = serve(store);
    decide(&mut service, "ana", 0.1);
    assert!(service.finish().success());
    assert_eq!(fable(&["rules", store, "ana"]), (Some(0), "layer        on\nmemory       not said\n".into()));
    let both = [
        "--forbid",
        "web_search",
        "--require",
        "style=concise",
        "--require",
        "direct",
        "--when",
        "task=coding",
    ];
    let expected = "\
rule         never tool=web_search when task=coding (\"no\")
rule         always style=concise or style=direct when task=coding (\"no\")
layer        on
memory       off
";
    let changed = fable(&[&["rules", store, "ana", "--words", "no", "--memory", "off"][..], &both].concat());
    assert_eq!(changed, (Some(0), expected.into()));
    assert_eq!(fable(&["rules", store, "ana"]).1, expected);
    assert_eq!(fable(&["export", "ana", file, "--store", store]).0, Some(0));
    assert_eq!(fable(&["import", file, "--store", other]).0, Some(0));
    assert_eq!(fable(&["rules", other, "ana"]).1, expected);
    let mut service = serve(other);
    assert_eq!(chosen(&mut service, "ana", 0.1, "tool", 1).1, 5 * 5 * 2);
    assert!(service.finish().success());
    let left = fable(&[
        "rules",
        store,
        "ana",
        "--allow",
        "tool=web_search",
        "--allow",
        "style=detailed",
        "--layer",
        "off",
    ]);
    assert_eq!(left, (Some(0), "layer        off\nmemory       off\n".into()));
    for (arguments, code, said) in [
        (&["rules", store, "ben"][..], 3, "fable: the store has no such user"),
        (&["rules", store, "ana", "--forbid", "tool=websearch"], 2, "did you mean 'web_search'?"),
        (&["rules", store, "ana", "--when", "task=golf"], 2, "there is no task 'golf'"),
        (
            &["rules", store, "ana", "--require", "tool=no_tool", "--forbid", "tool=no_tool"],
            3,
            "nothing would be left",
        ),
    ] {
        let (found, text) = fable(arguments);
        assert!(found == Some(code) && text.contains(said), "{arguments:?} {found:?} {text}");
    }
}
