//! `fable proxy` and whom it takes people for: whose words are whose, what they are about, and what a user's rules are worth against an
//! application.

use crate::proxying::{
    CHAT, Connection, bypassed, chat, completion, decision, fable, observations, op, parrot, rewards, rounds,
    said, signals, start,
};
use fable_serve_tests::http::HttpService;
use fable_serve_tests::upstream::{Upstream, json as answered};
use serde_json::{Value, json};
use std::process::{Command, Stdio};

/// An assistant that answers a request with what stands in it after the last `say `.
fn obedient() -> Upstream {
    Upstream::start(|asked| {
        let messages = asked.json()["messages"].clone();
        let last = messages
            .as_array()
            .unwrap()
            .iter()
            .rev()
            .find(|message| message["role"] == "user")
            .unwrap()
            .clone();
        let text = last["content"].as_str().unwrap();
        answered(&completion(text.rsplit_once("say ").map_or("Well.", |(_, text)| text)))
    })
}

fn waiting(client: &mut Connection) -> Vec<String> {
    let waiting = op(client, "waiting", &json!({"user": "ana"}));
    waiting["waiting"].as_array().unwrap().iter().map(|id| id.as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_reaction_is_to_the_conversation_that_it_repeats() {
    let count = std::sync::atomic::AtomicUsize::new(1);
    let upstream = Upstream::start(move |_| {
        let number = count.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        answered(&completion(&format!("Hello from\nconversation {number}.")))
    });
    let mut service = start(&upstream, &[]);
    let mut client = service.connect();
    let asked = chat("ana", &[said("user", "hi")]);
    let ids: Vec<String> = (0..3).map(|_| decision(&client.post(CHAT, &asked))).collect();
    let mut react = |answer: &str, words: &str| {
        let next = chat("ana", &[said("user", "hi"), said("assistant", answer), said("user", words)]);
        let id = decision(&client.post(CHAT, &next));
        (id, waiting(&mut client))
    };
    // Spaces may differ.
    let (first, left) = react("Hello from conversation 1. ", "no, that is wrong");
    assert_eq!(left, [ids[1].clone(), ids[2].clone(), first.clone()]);
    let (third, left) = react("Hello from\nconversation 3.", "thanks, that's perfect");
    assert_eq!(left, [ids[1].clone(), first.clone(), third.clone()]);
    // What nobody here has said is not judged.
    let (other, left) = react("Good evening.", "no, that is wrong");
    assert_eq!(left, [ids[1].clone(), first, third, other]);
    assert_eq!(observations(&mut client, "ana"), 2);
    assert!(service.finish().success());
}

#[test]
fn a_question_is_over_when_something_else_is_asked() {
    let upstream = obedient();
    let mut service = start(&upstream, &[]);
    let mut client = service.connect();
    let mut play = |user: &str, turns: &[&str]| {
        let mut messages: Vec<Value> = Vec::new();
        for turn in turns {
            messages.push(said("user", turn));
            let answer = client.post(CHAT, &chat(user, &messages));
            decision(&answer);
            messages.push(answer.json()["choices"][0]["message"].clone());
        }
        observations(&mut client, user)
    };
    let file = "Delete the file, and say Which file do you mean?";
    assert_eq!(play("stays", &[file, "the second one", "thanks, that's perfect"]), 2);
    assert_eq!(play("leaves", &[file, "What is the capital of France?", "thanks, that's perfect"]), 1);
    assert!(service.finish().success());
}

#[test]
fn a_header_that_cannot_be_read_is_nobody_else_and_a_session_is_not_a_user() {
    let upstream = Upstream::start(|asked| {
        answered(
            &json!({"type": "message", "content": [{"type": "text", "text": "Hello."}], "got": asked.body}),
        )
    });
    let mut service = start(&upstream, &[]);
    let mut client = service.connect();
    let asked = chat("ana", &[said("user", "hi")]);
    let head = format!("POST {CHAT} HTTP/1.1\r\nhost: localhost\r\ncontent-length: {}\r\n", asked.len());
    client.send(&[head.as_bytes(), b"x-fable-user: \xe1na\r\n\r\n", asked.as_bytes()].concat());
    let answer = client.answer().unwrap();
    assert_eq!(bypassed(&answer), "x-fable-user has other than visible ASCII characters");
    assert_eq!((answer.json()["got"].as_str(), rounds(&mut client, "ana")), (Some(asked.as_str()), 0));

    for session in ["s1", "s2"] {
        for name in [
            json!({"device_id": "d", "account_uuid": "a", "session_id": session}).to_string(),
            format!("user_d_account_a_session_{session}"),
        ] {
            let asked =
                json!({"messages": [said("user", "hi")], "max_tokens": 9, "metadata": {"user_id": name}});
            decision(&client.post("/v1/messages", &asked.to_string()));
        }
    }
    assert_eq!(rounds(&mut client, "user_d_account_a"), 4);
    assert_eq!(op(&mut client, "stats", &json!({}))["users"], 1);
    assert!(service.finish().success());
}

#[test]
fn a_rule_holds_against_what_an_application_forces() {
    let upstream = parrot("Hello.");
    let mut service = start(&upstream, &["--nu", "0.5"]);
    let mut client = service.connect();
    op(
        &mut client,
        "forbid",
        &json!({"user": "ana", "values": ["tool=web_search"], "words": "never search the web"}),
    );
    let function = |name: &str| json!({"type": "function", "function": {"name": name}});
    let mut ask = |user: &str, tools: &[&str], choice: &Value| {
        let tools: Vec<Value> = tools.iter().map(|name| function(name)).collect();
        let asked = json!({"messages": [said("user", "What's the weather?")], "user": user, "tools": tools, "tool_choice": choice});
        let answer = client.post(CHAT, &asked.to_string());
        (answer, upstream.taken()[0].json(), asked)
    };
    for choice in [json!("required"), function("web_search")] {
        // It cannot be had without breaking the request: that is told, and nothing is learned from it.
        let (answer, told, asked) = ask("ana", &["web_search"], &choice);
        let why = bypassed(&answer);
        assert!(why.starts_with("infeasible: the request forces its tools"), "{why}");
        assert_eq!(told, asked);
        // Who has no such rule is told about what will be done.
        let (answer, told, _) = ask("ben", &["web_search"], &choice);
        assert_eq!(
            (&answer.json()["fable"]["action"]["tool"], &told["tool_choice"]),
            (&json!("web_search"), &choice)
        );
    }
    // Where something else is left that is what is used, also of what the application itself allows.
    let only = |name: &str| json!({"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [function(name)]}});
    let allowed = json!({"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [function("web_search"), function("python")]}});
    for choice in [json!("required"), allowed] {
        let (answer, told, _) = ask("ana", &["web_search", "python"], &choice);
        assert_eq!(answer.json()["fable"]["action"]["tool"], "code_execution");
        assert_eq!(told["tool_choice"], only("python"));
    }
    let (_, told, _) = ask("ana", &["web_search", "order"], &json!("required"));
    assert_eq!(told["tool_choice"], only("order"));
    assert!(service.finish().success());
}

#[test]
fn tokens_and_paths_are_as_they_are_said_to_be() {
    let upstream = Upstream::start(|asked| answered(&json!({"head": asked.head, "choices": []})));
    let address = format!("http://{}", upstream.address);
    let named = ["proxy", "--listen", "127.0.0.1:0", "--upstream", &address];
    let (decide, all) = ("a-token-to-decide", "a-token-for-everything");
    let tokens = [("FABLE_TOKENS_DECIDE", decide), ("FABLE_TOKENS_ALL", all)];
    let mut service = HttpService::start_command(fable(), &named, [""; 0], &tokens);
    // `authorization` is for the assistant, and says nothing here.
    let with =
        |token: &str| service.connect().with_token("sk-of-the-assistant").with_header("x-fable-token", token);
    let (mut decides, mut does) = (with(decide), with(all));
    let asked = chat("ana", &[said("user", "hi")]);
    let slash = decides.post(&format!("{CHAT}/"), &asked);
    assert!(slash.json()["head"].as_str().unwrap().starts_with(&format!("POST {CHAT}/ ")));
    let fed = json!({"inference_id": decision(&slash), "metric_name": "reward", "value": 1.0}).to_string();
    assert_eq!(with("a-token-of-nobody").post("/feedback", &fed).refusal(), (401, "unauthorized".into()));
    assert_eq!(decides.post("/feedback", &fed).status, 200);
    assert_eq!(decides.post("/fable/v1/profile", r#"{"user":"ana"}"#).refusal(), (403, "forbidden".into()));
    assert_eq!(does.post("/fable/v1/profile", r#"{"user":"ana"}"#).status, 200);
    assert_eq!(service.connect().with_token(all).post("/fable/v1/profile", r#"{"user":"ana"}"#).status, 200);
    // Only posts are for it.
    assert!(decides.ask("GET", "/feedback").json()["head"].as_str().unwrap().starts_with("GET /feedback "));
    assert_eq!(service.connect().ask("GET", "/feedback").refusal(), (401, "unauthorized".into()));
    assert!(service.finish().success());

    let mut command = Command::new(fable());
    command.args(["proxy", "--upstream", &address, "--listen", "0.0.0.0:0"]).stdin(Stdio::null());
    let output = command.output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(
        output.status.code() == Some(2) && told.contains("or say that it may be public: --listen-public"),
        "{told}"
    );
}

#[test]
fn what_went_wrong_and_what_is_ruled_are_in_the_context() {
    let upstream = parrot("They rise and fall.");
    let store = tempfile::tempdir().unwrap();
    let file = store.path().join("users.fable");
    let mut service = start(&upstream, &["--store", file.to_str().unwrap()]);
    // A conversation with a name, whose requests repeat nothing.
    let mut client = service.connect().with_header("x-fable-conversation", "1");
    let last = "Explain how the tides of the sea come about";
    for request in [last, "no, that is wrong", "no, that is wrong again", last] {
        decision(&client.post(CHAT, &chat("ana", &[said("user", request)])));
    }
    // The same request in a new one, and once nothing may be done that is not confirmed.
    let mut client = service.connect();
    decision(&client.post(CHAT, &chat("ana", &[said("user", last)])));
    op(
        &mut client,
        "require",
        &json!({"user": "ana", "values": ["style=confirm_first"], "words": "always ask me first"}),
    );
    decision(&client.post(CHAT, &chat("ana", &[said("user", last)])));
    assert!(service.finish().success());

    assert_eq!(rewards(&file).len(), 2);
    let (ambiguity, risk) = (signals(&file, "ambiguity"), signals(&file, "risk"));
    assert!(ambiguity[3] > ambiguity[0] && ambiguity[4] == ambiguity[0], "{ambiguity:?}");
    assert!(risk[5] >= 0.5 && risk[4] < 0.5, "{risk:?}");
}

#[test]
fn what_the_application_says_went_wrong_is_in_the_context() {
    let upstream = parrot("They rise and fall.");
    let store = tempfile::tempdir().unwrap();
    let file = store.path().join("users.fable");
    let mut service = start(&upstream, &["--store", file.to_str().unwrap()]);
    let last = "Explain how the tides of the sea come about";
    for bad in [true, false] {
        let mut client = service.connect().with_header("x-fable-conversation", if bad { "1" } else { "2" });
        let value = if bad { -1.0 } else { 1.0 };
        let first = decision(&client.post(CHAT, &chat("ana", &[said("user", last)])));
        let fed = json!({"inference_id": first, "metric_name": "reward", "value": value}).to_string();
        assert_eq!(client.post("/feedback", &fed).status, 200);
        let second = decision(
            &client.post(CHAT, &chat("ana", &[said("user", "Explain how ships come into a harbour")])),
        );
        op(&mut client, "feedback", &json!({"decision": second, "reward": value}));
        // One counts: what is refused is not what it was worth.
        let again = json!({"inference_id": second, "metric_name": "reward", "value": -value}).to_string();
        assert_ne!(client.post("/feedback", &again).status, 200);
        decision(&client.post(CHAT, &chat("ana", &[said("user", last)])));
    }
    assert!(service.finish().success());

    assert_eq!(rewards(&file).len(), 4);
    let ambiguity = signals(&file, "ambiguity");
    assert!(
        ambiguity[2] > ambiguity[0] && ambiguity[5] == ambiguity[3] && ambiguity[3] == ambiguity[0],
        "{ambiguity:?}"
    );
}
