//! Ops that keep nothing: words in the catalog's terms, and what would be done now. And a reward beside a default score of one's own.

use fable_core::catalog::{Definition, Part, StandingRule};
use fable_core::{Action, Catalog, Policy, Rule, Settings, catalog};
use fable_std::serve::{Options, serve};
use serde_json::{Value, json};

/// The answers to lines, from memory.
fn ask(catalog: &'static Catalog<'static>, lines: &[Value]) -> Vec<Value> {
    let input = lines.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    let mut output = Vec::new();
    serve::<f64>(
        catalog,
        Settings::default(),
        &Options::default(),
        std::io::Cursor::new(input),
        &mut output,
        |_| {},
    )
    .unwrap();
    String::from_utf8(output).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn read(text: &str, reading: &str) -> Value {
    ask(&catalog::AGENT, &[json!({ "op": "read", "text": text, "as": reading })]).remove(0)
}

#[test]
fn a_request_becomes_the_context_that_decide_takes() {
    let read = read("What's the weather in Oslo today?", "context");
    assert_eq!(
        read,
        json!({ "context": { "task": "factual", "risk": 0.1, "ambiguity": 0.1, "memory_need": 0.1, "tool_need": 0.9 } })
    );
    let decided =
        ask(&catalog::AGENT, &[json!({ "op": "decide", "user": "ana", "context": read["context"] })]);
    assert!(decided[0]["decision"].is_string(), "{}", decided[0]);
}

#[test]
fn preferences_become_statements_that_onboard_takes_and_rules_that_decide_takes() {
    let text = "For coding I like short answers. Never search the web. I love purple monkeys";
    let read = read(text, "preferences");
    let statement = &read["statements"][0];
    assert_eq!(
        (&statement["prefer"], &statement["over"]),
        (&json!({ "style": "concise" }), &json!({ "style": "detailed" })),
        "{read}"
    );
    assert_eq!(statement["when"], json!({ "task": "coding" }), "{read}");
    assert_eq!(read["said"][0]["means"], "style=concise over style=detailed when task=coding");
    assert_eq!(read["statements"].as_array().unwrap().len(), read["said"].as_array().unwrap().len());
    let rule = &read["rules"][0];
    assert_eq!((&rule["effect"], &rule["values"]), (&json!("forbid"), &json!(["tool=web_search"])), "{read}");
    assert_eq!(read["unused"], json!(["I love purple monkeys"]), "{read}");

    let context =
        json!({ "task": "factual", "risk": 0.1, "ambiguity": 0.1, "memory_need": 0.1, "tool_need": 0.9 });
    let answers = ask(
        &catalog::AGENT,
        &[
            json!({ "op": "onboard", "user": "ana", "statements": read["statements"] }),
            json!({ "op": "forbid", "user": "ana", "values": rule["values"], "words": rule["words"] }),
            json!({ "op": "recommend", "user": "ana", "context": context }),
        ],
    );
    assert_eq!(answers[0], json!({ "accepted": read["statements"].as_array().unwrap().len() }));
    assert_ne!(answers[2]["action"]["tool"], "web_search");
    assert_eq!(answers[2]["feasible"], 150);
}

#[test]
fn a_reaction_becomes_the_reward_that_feedback_takes() {
    let reward = |text: &str| read(text, "reward")["reward"].as_f64();
    assert!(reward("thanks, that's perfect") > Some(0.8));
    assert!(reward("No, I meant the other file") < Some(-0.3));
    assert_eq!(read("No, I meant the other file", "reward")["corrections"], 1);
    assert_eq!(
        read("Now translate it into French", "reward"),
        json!({ "reward": null, "corrections": 0, "clarifications": 0 })
    );
}

#[test]
fn what_cannot_be_read_is_refused() {
    let code = |catalog, line: Value| ask(catalog, &[line])[0]["error"]["code"].clone();
    // The rules know nothing of levels of rigor.
    assert_eq!(
        code(&catalog::RUBRIC, json!({ "op": "read", "text": "be brief", "as": "preferences" })),
        "unreadable"
    );
    for line in [
        json!({ "op": "read", "text": "be brief" }),
        json!({ "op": "read", "as": "reward" }),
        json!({ "op": "read", "text": "be brief", "as": "poem" }),
        json!({ "op": "read", "text": 7, "as": "reward" }),
        json!({ "op": "read", "text": "be brief", "as": "reward", "user": "ana" }),
        json!({ "op": "recommend", "user": "ana", "context": {}, "propensities": 7 }),
    ] {
        assert_eq!(code(&catalog::TAU2, line.clone()), "bad_request", "{line}");
    }
}

#[test]
fn a_recommendation_is_not_a_decision_and_makes_nobody() {
    let asked = json!({ "op": "recommend", "user": "ana", "context": {} });
    let answers = ask(
        &catalog::TAU2,
        &[asked.clone(), asked, json!({ "op": "stats" }), json!({ "op": "posterior", "user": "ana" })],
    );
    assert_eq!(answers[0], answers[1]);
    let keys: Vec<&String> = answers[0].as_object().unwrap().keys().collect();
    assert_eq!(keys, ["action", "instruction", "score", "feasible"]);
    assert_eq!((&answers[2]["users"], &answers[2]["events"]), (&json!(0), &json!(0)));
    assert_eq!(answers[3]["rounds"], 0);
}

/// A reward that is just what the default score promised teaches that nothing differs from it; against the reference it does.
#[test]
fn observed_rewards_are_compared_with_own_defaults() {
    let policy = Policy::<f64>::new(&catalog::TAU2, Settings::default()).unwrap();
    let context = catalog::TAU2.context(None, []).unwrap();
    let defaults = vec![0.375; catalog::TAU2.actions()];
    let reward = policy.baseline(&context, Action(5), Some(0.375));
    let action = fable_std::catalogs::action(&catalog::TAU2, Action(5));
    let observe = |more: Value| {
        let mut line =
            json!({ "op": "observe", "user": "ana", "context": {}, "action": action, "reward": reward });
        line.as_object_mut().unwrap().append(&mut more.as_object().unwrap().clone());
        ask(&catalog::TAU2, &[line, json!({ "op": "posterior", "user": "ana" })])
    };
    let moved = |answers: &[Value]| answers[1]["mean"].as_object().unwrap().values().any(|mean| mean != 0.0);
    assert!(!moved(&observe(json!({ "defaults": defaults }))));
    assert!(moved(&observe(json!({}))));
    for wrong in [json!({ "defaults": [0.5] }), json!({ "defaults": vec![101.0; defaults.len()] })] {
        let answers = observe(wrong);
        assert_eq!(
            (&answers[0]["error"]["code"], &answers[1]["observations"]),
            (&json!("out_of_range"), &json!(0))
        );
    }
}

/// Memory is switched off: what compares one memory with another cannot be known, and a style can.
#[test]
fn a_contrast_knows_whether_rewards_can_tell() {
    let ask = |name: &str, more: Value| {
        let mut line = json!({ "op": "contrast", "user": "ana", "name": name });
        line.as_object_mut().unwrap().append(&mut more.as_object().unwrap().clone());
        ask(&catalog::AGENT, &[line]).remove(0)
    };
    let off = json!({ "require": [{ "memory": "no_memory" }] });
    assert_eq!(ask("recent_memory_over_none", off.clone())["identifiable"], false);
    assert_eq!(ask("concise_over_detailed", off)["identifiable"], true);
    assert_eq!(
        ask("recent_memory_over_none", json!({ "forbid": [{ "tool": "web_search" }] }))["identifiable"],
        true
    );
    assert!(ask("recent_memory_over_none", json!({})).get("identifiable").is_none());
    let nothing = json!({ "forbid": [{ "style": "direct" }], "require": [{ "style": "direct" }] });
    assert_eq!(ask("concise_over_detailed", nothing)["error"]["code"], "infeasible");
}

/// Rules that are kept count like those of the request: the user's own, and the catalog's.
#[test]
fn a_contrast_knows_the_rules_that_stand() {
    const OFF: &[Part] = &[Part::new(0, &[0])];
    const RULES: &[StandingRule] = &[Rule::require("no_memory", OFF).always()];
    let contrast = |user: &str, name: &str| json!({ "op": "contrast", "user": user, "name": name });
    let answers = ask(
        &catalog::AGENT,
        &[
            json!({ "op": "require", "user": "ana", "values": ["memory=no_memory"] }),
            json!({ "op": "require", "user": "eva", "values": ["memory=no_memory"], "when": "task=coding" }),
            contrast("ana", "recent_memory_over_none"),
            contrast("ana", "concise_over_detailed"),
            contrast("eva", "recent_memory_over_none"),
            contrast("ben", "recent_memory_over_none"),
            json!({ "op": "allow", "user": "ana", "values": ["memory=recent_memory"] }),
            contrast("ana", "recent_memory_over_none"),
        ],
    );
    let told: Vec<&Value> = answers.iter().map(|answer| &answer["identifiable"]).collect();
    assert_eq!(told[2..6], [&json!(false), &json!(true), &json!(true), &Value::Null], "{answers:?}");
    assert_eq!(told[7], &Value::Null, "no rule stands any more");
    // Two values of one obligation leave both.
    let either =
        json!({ "op": "require", "user": "ana", "values": ["memory=no_memory", "memory=recent_memory"] });
    assert_eq!(
        ask(&catalog::AGENT, &[either, contrast("ana", "recent_memory_over_none")])[1]["identifiable"],
        true
    );

    let definition = Definition { rules: RULES, ..*catalog::AGENT.definition() };
    let strict = Box::leak(Box::new(Catalog::try_new(definition).unwrap()));
    let answers =
        ask(strict, &[contrast("ana", "recent_memory_over_none"), contrast("ana", "concise_over_detailed")]);
    assert_eq!(
        (&answers[0]["identifiable"], &answers[1]["identifiable"]),
        (&json!(false), &json!(true)),
        "{answers:?}"
    );
}

/// What came before counts for a context, and for nothing else.
#[test]
fn a_context_is_read_with_what_was_said_before() {
    let ask_one = |line: Value| ask(&catalog::AGENT, &[line]).remove(0);
    let alone = ask_one(json!({ "op": "read", "as": "context", "text": "and in French?" }));
    let history = json!([{ "request": "Translate 'good morning' into German", "answer": "Guten Morgen" }]);
    let after =
        ask_one(json!({ "op": "read", "as": "context", "text": "and in French?", "history": history }));
    assert_eq!(after["context"]["task"], "translation", "{after}");
    assert_ne!(alone, after);
    let background = ask_one(
        json!({ "op": "read", "as": "context", "text": "hm, go on", "background": "You are a coding assistant." }),
    );
    assert_eq!(background["context"]["task"], "coding", "{background}");
    for key in [
        json!({ "background": "" }),
        json!({ "history": [] }),
        json!({ "forbid": [] }),
        json!({ "require": [] }),
    ] {
        let mut line = json!({ "op": "read", "as": "reward", "text": "thanks" });
        line.as_object_mut().unwrap().append(&mut key.as_object().unwrap().clone());
        assert_eq!(ask_one(line)["error"]["code"], "bad_request", "{key}");
    }
}

/// How earlier answers were taken, and what may be done, count for a context.
#[test]
fn a_context_is_read_with_rewards_and_the_hard_state() {
    const CONFIRM: &[Part] = &[Part::new(2, &[5])];
    const RULES: &[StandingRule] = &[Rule::require("confirm", CONFIRM).always()];
    let line = |more: Value| {
        let mut line = json!({ "op": "read", "as": "context", "text": "Write a poem about the sea" });
        line.as_object_mut().unwrap().append(&mut more.as_object().unwrap().clone());
        line
    };
    let context = |more: Value| ask(&catalog::AGENT, &[line(more)]).remove(0)["context"].clone();
    let action = fable_std::catalogs::action(&catalog::AGENT, Action(5));
    let turn = |reward: Value| json!({ "request": "Write one about a lake", "answer": null, "action": action, "reward": reward });
    let ambiguity = |reward: Value| {
        let turn = turn(reward);
        context(json!({ "history": [turn, turn, turn] }))["ambiguity"].as_f64().unwrap()
    };
    assert!(ambiguity(json!(-1)) > ambiguity(json!(1)) + 0.1);
    assert_eq!(ambiguity(json!(1)), ambiguity(Value::Null));

    let risk = |more: Value| context(more)["risk"].as_f64().unwrap();
    let usual = risk(json!({}));
    assert!(usual < 0.5 && risk(json!({ "forbid": [{ "tool": "web_search" }] })) == usual);
    assert_eq!(risk(json!({ "require": [{ "style": "confirm_first" }] })), 0.5);
    assert_eq!(risk(json!({ "only": [{ "style": "confirm_first" }] })), 0.5);
    // Rules of the catalog that always hold are part of it, too.
    let definition = Definition { rules: RULES, ..*catalog::AGENT.definition() };
    let strict = Box::leak(Box::new(Catalog::try_new(definition).unwrap()));
    assert_eq!(ask(strict, &[line(json!({}))])[0]["context"]["risk"], 0.5);

    for (wrong, code) in [
        (json!({ "history": [{ "request": "a", "reward": 1.5 }] }), "out_of_range"),
        (json!({ "history": [{ "request": "a", "reward": "good" }] }), "bad_request"),
        (json!({ "history": [{ "request": "a", "action": { "style": "concise" } }] }), "incomplete_action"),
        (json!({ "history": [{ "request": "a", "action": { "mood": "concise" } }] }), "unknown_name"),
        (json!({ "history": [{ "answer": "a" }] }), "bad_request"),
        (json!({ "history": [{ "request": "a", "user": "ana" }] }), "bad_request"),
        (json!({ "forbid": [{ "tool": "hammer" }] }), "unknown_name"),
        (json!({ "forbid": [{ "style": "direct" }], "require": [{ "style": "direct" }] }), "infeasible"),
    ] {
        assert_eq!(ask(&catalog::AGENT, &[line(wrong.clone())])[0]["error"]["code"], code, "{wrong}");
    }
}
