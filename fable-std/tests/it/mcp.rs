//! The tools of `fable mcp`: what they ask a service, what they say, and the protocol as lines. tests/mcp has a client of another make.

use fable_core::{Settings, catalog, user_hash};
use fable_std::mcp::{Backend, Fault, Local, Refused, Session, TOOLS, Told, serve_over};
use fable_std::serve::{Options, Service};
use serde_json::{Map, Value, json};
use std::sync::Mutex;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, split};

/// Runs something with a service of the catalog `agent` in memory.
fn with_service(test: impl FnOnce(Service)) {
    let done = Service::run::<f64>(&catalog::AGENT, Settings::default(), &Options::default(), |service| {
        test(service);
        Ok(())
    });
    done.unwrap();
}

fn call<B: Backend>(session: &Session<B>, tool: &str, arguments: Value) -> Result<Told, Fault> {
    let Value::Object(arguments) = arguments else { panic!("{arguments}") };
    session.call(tool, &arguments)
}

#[test]
fn a_life_by_tools() {
    with_service(|service| {
        let ana = Session::new(Local(service.clone()), "ana");
        let told = call(&ana, "profile", json!({})).unwrap();
        assert_eq!(
            (told.data["decisions"].as_u64(), told.text.as_str()),
            (Some(0), "0 decisions, 0 rewards. Nothing is certain yet.")
        );
        let decided = call(&ana, "decide", json!({ "request": "Fix the bug in parser.rs" })).unwrap();
        assert_eq!(decided.data["context"]["task"], "coding");
        let why = call(&ana, "why", json!({})).unwrap();
        assert_eq!(why.data["decision"], decided.data["decision"]);
        assert!(why.text.starts_with("Chosen: memory=") && why.text.contains("\n- "), "{}", why.text);
        let learned = call(&ana, "feedback", json!({ "words": "too long, I wanted one line" })).unwrap();
        assert!(
            learned.data["reward"].as_f64().unwrap() < 0.0 && learned.data["observations"] == 1,
            "{}",
            learned.data
        );
        assert!(
            matches!(call(&ana, "why", json!({})), Err(Fault::Refused(refused)) if refused.code == "unknown_decision")
        );
        // By hand, where words cannot be read.
        let context =
            json!({ "task": null, "risk": 0.1, "ambiguity": 0.2, "memory_need": 0.7, "tool_need": 0.3 });
        let decided = call(&ana, "decide", json!({ "context": context })).unwrap();
        call(&ana, "feedback", json!({ "reward": 0.5, "decision": decided.data["decision"] })).unwrap();
        let told = call(&ana, "profile", json!({})).unwrap();
        assert_eq!((&told.data["decisions"], &told.data["rewards"]), (&json!(2), &json!(2)));
        // What is only recommended is nobody's decision.
        let before = call(&ana, "recommend", json!({ "context": context })).unwrap();
        assert_eq!(before, call(&ana, "recommend", json!({ "context": context })).unwrap());
        assert!(before.data.get("decision").is_none());

        let ben = Session::new(Local(service.clone()), "ben");
        let foreign = call(&ben, "feedback", json!({ "reward": 0.5, "decision": decided.data["decision"] }));
        assert_eq!(foreign, Err(Fault::Arguments("there is no such decision of this person".into())));
        assert!(matches!(call(&ana, "forget", json!({ "confirm": 1 })), Err(Fault::Arguments(_))));
        assert_eq!(
            call(&ana, "forget", json!({ "confirm": true })).unwrap().data,
            json!({ "forgotten": true })
        );
        assert_eq!(call(&ana, "profile", json!({})).unwrap().data["rewards"], 0);
        assert_eq!(
            call(&ana, "forget", json!({ "confirm": true })).unwrap().text,
            "Nothing was known about the person."
        );
    });
}

/// Rules hold for the person, where they hold, until they are taken back.
#[test]
fn rules_hold_for_the_tools() {
    with_service(|service| {
        let ana = Session::new(Local(service), "ana");
        let said = "For coding never run code. Always confirm first when it is risky.";
        let told = call(&ana, "preferences", json!({ "say": said, "confirm": true })).unwrap();
        let rules = told.data["rules"].as_array().unwrap();
        assert!(!rules.is_empty() && told.data["kept"] == true, "{}", told.data);
        let context = |task: Value| json!({ "task": task, "risk": 0.1, "ambiguity": 0.1, "memory_need": 0.1, "tool_need": 0.9 });
        let feasible = |task: &str| {
            call(&ana, "recommend", json!({ "context": context(task.into()) })).unwrap().data["feasible"]
                .clone()
        };
        assert_eq!((feasible("coding"), feasible("factual")), (json!(150), json!(180)));
        let listed = call(&ana, "preferences", json!({})).unwrap();
        assert!(
            listed.text.contains("Rule: never tool=") && listed.text.contains("in coding"),
            "{}",
            listed.text
        );
        call(&ana, "preferences", json!({ "take_back": [rules[0]["values"][0]], "confirm": true })).unwrap();
        assert_eq!(feasible("coding"), 180);
    });
}

/// An assistant's own words became rules, and it lifted rules, without a yes of the person's.
#[test]
fn rules_need_the_persons_yes() {
    with_service(|service| {
        let ana = Session::new(Local(service), "ana");
        let preferences = |arguments: Value| call(&ana, "preferences", arguments).unwrap();
        let (say, back) = ("I like short answers. Never search the web.", json!(["tool=web_search"]));
        let rules = || preferences(json!({})).data["rules"].as_array().unwrap().len();
        for confirm in [Value::Null, json!(false)] {
            let told = preferences(json!({ "say": say, "confirm": confirm }));
            assert!(
                told.text.contains("Would be taken as a rule: never tool=web_search")
                    && told.text.ends_with("confirm: true.")
            );
            assert_eq!((rules(), &told.data["kept"]), (0, &json!(false)), "{}", told.text);
            // Nor is the wish beside it taken, which would count twice when all is said again.
            assert_eq!(call(&ana, "profile", json!({})).unwrap().data["rewards"], 0);
            let why = json!({ "context": { "task": null, "risk": 0, "ambiguity": 0, "memory_need": 0, "tool_need": 0 } });
            let score = call(&ana, "recommend", why).unwrap().data["score"].clone();
            assert_eq!(score, before_anything(), "{}", told.text);
        }
        let told = preferences(json!({ "say": say, "confirm": true }));
        assert!(told.text.contains("Taken as a rule: never tool=web_search"), "{}", told.text);
        assert_eq!(rules(), 1);

        let told = preferences(json!({ "take_back": back }));
        assert!(
            told.text.contains("Rule: never tool=web_search") && told.text.ends_with("confirm: true."),
            "{}",
            told.text
        );
        assert_eq!((rules(), &told.data["lifted"]), (1, &json!(false)));
        assert_eq!(preferences(json!({ "take_back": back, "confirm": true })).data["lifted"], true);
        assert_eq!(rules(), 0);
        // Wishes alone bind nobody.
        assert_eq!(preferences(json!({ "say": "I like short answers" })).data["kept"], true);
    });
}

/// What somebody new is recommended, by its score.
fn before_anything() -> Value {
    let mut score = Value::Null;
    with_service(|service| {
        let new = Session::new(Local(service), "ana");
        let why = json!({ "context": { "task": null, "risk": 0, "ambiguity": 0, "memory_need": 0, "tool_need": 0 } });
        score = call(&new, "recommend", why).unwrap().data["score"].clone();
    });
    score
}

/// A request is read with what came before it, what is so for everybody, and the person's rules.
#[test]
fn requests_are_read_with_their_history() {
    with_service(|service| {
        let ana = Session::new(Local(service), "ana");
        let context =
            |tool: &str, arguments: Value| call(&ana, tool, arguments).unwrap().data["context"].clone();
        let history = json!([{ "request": "Translate 'good morning' into German", "answer": "Guten Morgen", "reward": 0.5 }]);
        for tool in ["decide", "recommend"] {
            let alone = context(tool, json!({ "request": "and in French?" }));
            let after = context(tool, json!({ "request": "and in French?", "history": history }));
            assert!(after["task"] == "translation" && after != alone, "{after}");
            let told = json!({ "request": "hm, go on", "background": "You are a coding assistant." });
            assert_eq!(context(tool, told)["task"], "coding");
        }
        let ask = json!({ "request": "Translate 'good morning' into German" });
        let decided = call(&ana, "decide", ask.clone()).unwrap().data;
        assert!(decided["context"]["risk"].as_f64().unwrap() < 0.5);
        let past = json!([{ "request": "Hello", "action": decided["action"], "reward": -1 }]);
        context("decide", json!({ "request": "and in French?", "history": past }));

        let rule = json!({ "say": "Never search the web. Always confirm first.", "confirm": true });
        assert_eq!(call(&ana, "preferences", rule).unwrap().data["rules"].as_array().unwrap().len(), 2);
        assert_eq!(context("decide", ask)["risk"], 0.5);

        for wrong in [json!([{ "answer": "a" }]), json!([{ "request": "a", "reward": 2 }]), json!("a")] {
            let asked = json!({ "request": "and in French?", "history": wrong });
            assert!(matches!(call(&ana, "decide", asked), Err(Fault::Refused(_))), "{wrong}");
        }
    });
}

/// Notes what is asked, and keeps rules.
#[derive(Default)]
struct Noting(Mutex<Vec<(String, Value)>>);

impl Backend for Noting {
    fn ask(&self, op: &str, body: &Value) -> Result<Value, Refused> {
        self.0.lock().unwrap().push((op.to_owned(), body.clone()));
        match op {
            "read" => Ok(json!({
                "statements": [], "said": [], "unused": [],
                "rules": [{ "effect": "forbid", "values": ["tool=web_search"], "when": "task=coding", "words": "no web" }],
            })),
            "rules" => Ok(json!({ "rules": [] })),
            "forbid" | "allow" => Ok(json!({ "rules": 1 })),
            op => Err(Refused::new("unknown_op", format_args!("there is no op '{op}'"))),
        }
    }
}

/// A service that keeps rules is given them, in its own words.
#[test]
fn rules_go_to_a_service_that_keeps_them() {
    let noting = Noting::default();
    let ana = Session::new(&noting, "ana");
    call(&ana, "preferences", json!({ "say": "in code no web" })).unwrap();
    call(&ana, "preferences", json!({ "take_back": ["tool=web_search"] })).unwrap();
    assert!(noting.0.lock().unwrap().iter().all(|(op, _)| ["read", "rules"].contains(&op.as_str())));
    call(&ana, "preferences", json!({ "say": "in code no web", "confirm": true })).unwrap();
    call(&ana, "preferences", json!({ "take_back": ["tool=web_search"], "confirm": true })).unwrap();
    let asked = noting.0.lock().unwrap().clone();
    let given =
        json!({ "user": "ana", "values": ["tool=web_search"], "words": "no web", "when": "task=coding" });
    assert!(asked.contains(&("forbid".into(), given)), "{asked:?}");
    assert!(
        asked.contains(&("allow".into(), json!({ "user": "ana", "values": ["tool=web_search"] }))),
        "{asked:?}"
    );
}

/// Whatever arguments come, nobody else is asked about, and what is not taken is an error.
#[test]
fn arguments_are_checked_before_anything_is_asked() {
    let noting = Noting::default();
    let ana = Session::new(&noting, "ana");
    let none = Map::new();
    assert_eq!(ana.call("backup", &none), Err(Fault::Tool));
    for tool in TOOLS {
        let strange = call(&ana, tool.name, json!({ "user": "ben" }));
        assert_eq!(strange, Err(Fault::Arguments(format!("'user' is no argument of '{}'", tool.name))));
    }
    for (tool, arguments) in [
        ("feedback", json!({})),
        ("feedback", json!({ "reward": "good" })),
        ("feedback", json!({ "reward": 1.5 })),
        ("feedback", json!({ "words": 7 })),
        ("decide", json!({ "request": "hi", "context": {} })),
        ("why", json!({ "decision": format!("{:016x}-0-1", user_hash("ben")) })),
        ("preferences", json!({ "say": "x", "take_back": ["tool=no_tool"] })),
        ("decide", json!({ "context": {}, "history": [] })),
        ("recommend", json!({ "context": {}, "background": "x" })),
        ("preferences", json!({ "say": "x", "confirm": "yes" })),
        ("preferences", json!({ "take_back": [] })),
        ("preferences", json!({ "take_back": [7] })),
        ("forget", json!({ "confirm": "true" })),
    ] {
        assert!(
            matches!(call(&ana, tool, arguments.clone()), Err(Fault::Arguments(_))),
            "{tool} {arguments}"
        );
    }
    assert!(noting.0.lock().unwrap().is_empty());
}

/// The protocol as it goes over the line, in the version that most assistants speak.
#[test]
fn the_protocol_line_by_line() {
    with_service(|service| {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        runtime.block_on(async {
            let (mine, theirs) = tokio::io::duplex(1 << 16);
            let (input, output) = split(theirs);
            let server = tokio::spawn(serve_over(Session::new(Local(service), "ana"), input, output));
            let (read, mut write) = split(mine);
            let mut lines = BufReader::new(read).lines();
            let mut number = 0;
            let mut ask = async |method: &str, params: Value| {
                number += 1;
                let line = json!({ "jsonrpc": "2.0", "id": number, "method": method, "params": params });
                write.write_all(format!("{line}\n").as_bytes()).await.unwrap();
                if method == "initialize" {
                    write
                        .write_all(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n")
                        .await
                        .unwrap();
                }
                let answer: Value = serde_json::from_str(&lines.next_line().await.unwrap().unwrap()).unwrap();
                assert_eq!((&answer["jsonrpc"], &answer["id"]), (&json!("2.0"), &json!(number)), "{answer}");
                answer
            };
            let client = json!({ "name": "test", "version": "1" });
            let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client });
            let hello = ask("initialize", hello).await;
            assert_eq!(hello["result"]["protocolVersion"], "2025-06-18");
            assert_eq!(
                (
                    &hello["result"]["serverInfo"]["name"],
                    hello["result"]["capabilities"]["tools"].is_object()
                ),
                (&json!("fable"), true)
            );
            assert_eq!(ask("ping", json!({})).await["result"], json!({}));
            let listed = ask("tools/list", json!({})).await["result"]["tools"].clone();
            let names: Vec<&str> =
                listed.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
            assert_eq!(names, TOOLS.iter().map(|tool| tool.name).collect::<Vec<_>>());
            assert_eq!(listed[6]["annotations"]["destructiveHint"], true);
            assert_eq!(listed[6]["inputSchema"]["required"], json!(["confirm"]));
            let told = ask(
                "tools/call",
                json!({ "name": "recommend", "arguments": { "request": "What is a monad?" } }),
            )
            .await;
            assert_eq!(told["result"]["isError"], false);
            assert_eq!(
                told["result"]["structuredContent"]["instruction"],
                told["result"]["content"][0]["text"]
            );
            let wrong = ask("tools/call", json!({ "name": "forget", "arguments": {} })).await;
            assert_eq!(wrong["result"]["isError"], true, "{wrong}");
            assert_eq!(ask("tools/call", json!({ "name": "backup" })).await["error"]["code"], -32602);
            assert_eq!(ask("tools/burn", json!({})).await["error"]["code"], -32601);
            drop((write, lines));
            server.await.unwrap().unwrap();
        });
    });
}
