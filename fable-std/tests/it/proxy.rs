//! `fable proxy` between a client and an assistant: what is changed, what is learned, and what goes on as it came.

use crate::proxying::{
    CHAT, Connection, bypassed, chat, completion, decision, fable, observations, op, parrot, rewards, rounds,
    said, start,
};
use fable_serve_tests::http::HttpService;
use fable_serve_tests::upstream::{Asked, Upstream, events, json as answered};
use serde_json::{Value, json};

#[test]
fn the_assistant_is_told_last_and_everything_else_is_as_it_was() {
    let upstream = parrot("Hello.");
    let mut service = start(&upstream, &[]);
    let mut client = service.connect().with_header("authorization", "Bearer sk-secret");
    // Odd spacing and escapes, which a parser would lose.
    let body = r#"{ "model":"m","messages":[ {"role":"system","content":"S\u00e9"},{"role":"user","content":"What is a monad?"} ], "temperature":1.0e0,"user":"ana"}"#;
    let answer = client.post(CHAT, body);
    let id = decision(&answer);
    let taken = upstream.taken();
    let [asked] = taken.as_slice() else { panic!("{taken:?}") };
    let (before, after) = body.split_at(body.find(" ], \"temp").unwrap() + 1);
    let told = asked.body.strip_prefix(before).and_then(|rest| rest.strip_suffix(after)).unwrap();
    let told: Value = serde_json::from_str(told.strip_prefix(',').unwrap()).unwrap();
    assert_eq!(told["role"], "system");
    assert!(told["content"].as_str().unwrap().starts_with("For this answer: "), "{told}");
    assert!(
        asked.head.contains("authorization: Bearer sk-secret\r\n")
            && asked.head.contains("accept-encoding: identity\r\n")
    );
    assert!(!asked.head.contains("x-fable"), "{}", asked.head);
    // The answer is the assistant's, with one member more.
    let mut whole = answer.json();
    let own = whole.as_object_mut().unwrap().remove("fable").unwrap();
    assert_eq!((whole, &own["decision"]), (completion("Hello."), &json!(id)));
    assert!(own["action"]["style"].is_string());
    assert!(service.finish().success());
}

#[test]
fn the_next_message_is_the_reward_and_one_counts() {
    let upstream = parrot("A monad is a monoid in the category of endofunctors.");
    let mut service = start(&upstream, &[]);
    let mut client = service.connect();
    let mut messages = vec![said("user", "What is a monad?")];
    let first = decision(&client.post(CHAT, &chat("ana", &messages)));
    assert_eq!(observations(&mut client, "ana"), 0);
    // The application's own words may change from request to request.
    messages.extend([
        said("assistant", "A monad is a monoid in the category of endofunctors."),
        said("user", "thanks, that's perfect"),
    ]);
    let mut again = vec![said("system", "It is noon.")];
    again.extend(messages.iter().cloned());
    let second = decision(&client.post(CHAT, &chat("ana", &again)));
    assert_ne!(first, second);
    assert_eq!(observations(&mut client, "ana"), 1);
    let twice = client.post(
        "/feedback",
        &json!({"inference_id": first, "metric_name": "reward", "value": 1.0}).to_string(),
    );
    assert_eq!(twice.refusal(), (409, "duplicate_feedback".into()));

    // A request that says nothing about the answer teaches nothing; what the application says does.
    messages.extend([said("assistant", "You are welcome."), said("user", "Who wrote Emma?")]);
    decision(&client.post(CHAT, &chat("ana", &messages)));
    assert_eq!(observations(&mut client, "ana"), 1);
    let fed = client.post(
        "/feedback",
        &json!({"inference_id": second, "metric_name": "reward", "value": 1.0}).to_string(),
    );
    assert_eq!(fed.status, 200, "{fed:?}");
    assert_eq!((observations(&mut client, "ana"), rounds(&mut client, "ana")), (2, 3));
    // Somebody else says the same words, and is somebody else.
    decision(&client.post(CHAT, &chat("ben", &messages)));
    assert_eq!(observations(&mut client, "ben"), 0);
    assert!(service.finish().success());
}

#[test]
fn a_decision_lasts_while_tools_are_used_and_while_there_is_no_answer() {
    let upstream = Upstream::start(|asked| match asked.body.contains("fail") {
        true => {
            b"HTTP/1.1 500 Internal Server Error\r\ncontent-type: text/html\r\ncontent-length: 4\r\n\r\nno!\n"
                .to_vec()
        }
        false if asked.body.contains("\"tool\",") => answered(&completion("4")),
        false => answered(
            &json!({"choices": [{"message": {"role": "assistant", "content": null, "tool_calls": [{"id": "c", "type": "function", "function": {"name": "add", "arguments": "{}"}}]}}]}),
        ),
    });
    let mut service = start(&upstream, &[]);
    let mut client = service.connect();
    let tools = json!([{"type": "function", "function": {"name": "add"}}]);
    let body = |messages: &[Value]| {
        json!({"model": "m", "messages": messages, "user": "ana", "tools": tools}).to_string()
    };
    let mut messages = vec![said("user", "2 + 2?")];
    let first = decision(&client.post(CHAT, &body(&messages)));
    messages.extend([json!({"role": "assistant", "content": null, "tool_calls": [{"id": "c", "type": "function", "function": {"name": "add", "arguments": "{}"}}]}), json!({"role": "tool", "tool_call_id": "c", "content": "4"})]);
    let second = client.post(CHAT, &body(&messages));
    assert_eq!(decision(&second), first);
    let told = upstream.taken();
    let last = |asked: &Asked| asked.json()["messages"].as_array().unwrap().last().unwrap().clone();
    assert_eq!(last(&told[0]), last(&told[1]));
    assert_eq!(rounds(&mut client, "ana"), 1);

    // No answer: its error comes back as it is, and the same request again is the same turn.
    let asked = chat("ana", &[said("user", "fail")]);
    let failed = client.post(CHAT, &asked);
    assert_eq!(
        (failed.status, failed.body.as_str(), failed.header("content-type")),
        (500, "no!\n", Some("text/html"))
    );
    let again = client.post(CHAT, &asked);
    assert_eq!(again.header("x-fable-decision"), failed.header("x-fable-decision"));
    assert_eq!(rounds(&mut client, "ana"), 2);
    assert!(service.finish().success());
}

#[test]
fn the_same_request_after_an_answer_is_another_turn() {
    let upstream = parrot("Knock, knock.");
    let mut service = start(&upstream, &[]);
    let mut client = service.connect();
    let asked = chat("ana", &[said("user", "Tell me a joke")]);
    assert_ne!(decision(&client.post(CHAT, &asked)), decision(&client.post(CHAT, &asked)));
    // Of conversations with names each has a turn of its own.
    let (mut one, mut other) = (
        service.connect().with_header("x-fable-conversation", "1"),
        service.connect().with_header("x-fable-conversation", "2"),
    );
    decision(&one.post(CHAT, &asked));
    decision(&other.post(CHAT, &asked));
    let short = chat("ana", &[said("user", "thanks, that's perfect")]);
    decision(&one.post(CHAT, &short));
    assert_eq!(observations(&mut client, "ana"), 1);
    decision(&other.post(CHAT, &short));
    assert_eq!((observations(&mut client, "ana"), rounds(&mut client, "ana")), (2, 6));
    assert!(service.finish().success());
}

#[test]
fn a_question_back_is_a_clarification_and_both_answers_get_the_reaction() {
    let upstream = Upstream::start(|asked| {
        let count = asked.json()["messages"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|message| message["role"] == "user")
            .count();
        answered(&completion(if count == 1 { "Which file do you mean?" } else { "I have deleted it." }))
    });
    let store = tempfile::tempdir().unwrap();
    let mut service = start(&upstream, &["--store", store.path().join("users.fable").to_str().unwrap()]);
    let mut client = service.connect();
    let mut messages = vec![said("user", "Delete the file")];
    decision(&client.post(CHAT, &chat("ana", &messages)));
    messages
        .extend([said("assistant", "Which file do you mean?"), said("user", "The second one in the list")]);
    decision(&client.post(CHAT, &chat("ana", &messages)));
    assert_eq!(observations(&mut client, "ana"), 0, "an answer to a question is no reaction");
    messages.extend([said("assistant", "I have deleted it."), said("user", "thanks, that's perfect")]);
    decision(&client.post(CHAT, &chat("ana", &messages)));
    assert_eq!((observations(&mut client, "ana"), rounds(&mut client, "ana")), (2, 3));
    let export = op(&mut client, "export", &json!({"user": "ana"}));
    assert!(export["export"].as_str().is_some_and(|file| file.starts_with("RkFCW")), "{export}"); // FABX
    assert_eq!(op(&mut client, "export", &json!({"user": "nobody"})), json!({"export": null}));
    assert!(service.finish().success());

    // The rewards as they are in the store: satisfaction, and once without the price of the question.
    let events = rewards(&store.path().join("users.fable"));
    let [asked, done] = events.as_slice() else { panic!("{events:?}") };
    assert!((done - asked - 0.08).abs() < 1e-6, "{events:?}");
}

#[test]
fn streams_pass_as_they_come() {
    let deltas: Vec<Value> =
        ["A ", "monad ", "is"].map(|text| json!({"choices": [{"delta": {"content": text}}]})).to_vec();
    let streamed = events(&deltas);
    let upstream = Upstream::start(move |_| streamed.clone());
    let mut service = start(&upstream, &[]);
    let mut client = service.connect();
    let body = |messages: &[Value]| {
        json!({"model": "m", "messages": messages, "user": "ana", "stream": true}).to_string()
    };
    let mut messages = vec![said("user", "What is a monad?")];
    let answer = client.post(CHAT, &body(&messages));
    decision(&answer);
    let expected: String =
        deltas.iter().map(|delta| format!("data: {delta}\n\n")).chain(["data: [DONE]\n\n".into()]).collect();
    assert_eq!(
        (answer.body, answer.headers.iter().find(|(name, _)| name == "content-type").unwrap().1.as_str()),
        (expected, "text/event-stream")
    );
    messages.extend([said("assistant", "A monad is"), said("user", "no, that's wrong")]);
    decision(&client.post(CHAT, &body(&messages)));
    assert_eq!(observations(&mut client, "ana"), 1);
    assert!(service.finish().success());
}

#[test]
fn responses_go_on_from_a_response_and_messages_have_their_block() {
    let upstream = Upstream::start(|asked| {
        if asked.head.contains("/v1/messages") {
            return answered(
                &json!({"type": "message", "content": [{"type": "text", "text": "Hello."}], "stop_reason": "end_turn"}),
            );
        }
        let calls = asked.body.contains("add up");
        let message = json!({"type": "message", "content": [{"type": "output_text", "text": "Hello."}]});
        let output = if calls {
            json!({"type": "function_call", "name": "add", "call_id": "c", "arguments": "{}"})
        } else {
            message
        };
        answered(
            &json!({"object": "response", "id": if calls { "resp_1" } else { "resp_2" }, "output": [output]}),
        )
    });
    let mut service = start(&upstream, &["--role", "developer"]);
    let mut client = service.connect();
    let first =
        decision(&client.post(
            "/v1/responses",
            &json!({"input": "add up 2 and 2", "safety_identifier": "ana"}).to_string(),
        ));
    let result = json!({"input": [{"type": "function_call_output", "call_id": "c", "output": "4"}], "previous_response_id": "resp_1", "safety_identifier": "ana"});
    assert_eq!(decision(&client.post("/v1/responses", &result.to_string())), first);
    let next = json!({"input": "thanks, that's perfect", "previous_response_id": "resp_2", "safety_identifier": "ana"});
    assert_ne!(decision(&client.post("/v1/responses", &next.to_string())), first);
    assert_eq!((observations(&mut client, "ana"), rounds(&mut client, "ana")), (1, 2));
    let told = upstream.taken();
    let input = told[0].json()["input"].clone();
    assert_eq!(
        (&input[0], &input[1]["role"], input.as_array().unwrap().len()),
        (&said("user", "add up 2 and 2"), &json!("developer"), 2)
    );

    let asked = json!({"model": "m", "max_tokens": 9, "system": "s", "messages": [said("user", "hi")], "metadata": {"user_id": "ana_session_7"}});
    decision(&client.post("/v1/messages", &asked.to_string()));
    let mut told = upstream.taken()[0].json();
    let blocks = told["messages"][0]["content"].take();
    assert_eq!(
        (&blocks[0], &blocks[1]["type"], blocks.as_array().unwrap().len()),
        (&json!({"type": "text", "text": "hi"}), &json!("text"), 2)
    );
    assert_eq!((&told["system"], rounds(&mut client, "ana")), (&json!("s"), 3));
    assert!(service.finish().success());
}

#[test]
fn tools_are_those_of_the_action() {
    let upstream = parrot("Hello.");
    let folder = tempfile::tempdir().unwrap();
    let catalog = folder.path().join("mine.toml");
    let shipped = std::process::Command::new(fable())
        .args(["catalog", "show", "agent", "--toml"])
        .output()
        .unwrap()
        .stdout;
    let table = "[tools]\nweb_search = [\"web\", \"browse\"]\ncode_execution = \"python\"\n";
    std::fs::write(&catalog, [&shipped, table.as_bytes()].concat()).unwrap();
    let mut service = start(&upstream, &["--catalog", catalog.to_str().unwrap(), "--nu", "0.5"]);
    let mut client = service.connect();
    let function = |name: &str| json!({"type": "function", "function": {"name": name}});
    let tools = json!([function("web"), function("order")]);
    let mut seen = std::collections::BTreeSet::new();
    for number in 0..60 {
        let body = json!({"messages": [said("user", &format!("What is the weather in town {number} today?"))], "user": format!("u{number}"), "tools": tools});
        let answer = client.post(CHAT, &body.to_string());
        let (id, told) = (decision(&answer), upstream.taken()[0].json());
        assert!(!id.is_empty());
        assert_eq!(told["tools"], tools);
        let tool = answer.json()["fable"]["action"]["tool"].as_str().unwrap().to_owned();
        let expected = match tool.as_str() {
            "web_search" => json!(null),
            "code_execution" => panic!("there is no such tool"),
            _ => {
                json!({"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [function("order")]}})
            }
        };
        assert_eq!(told["tool_choice"], expected, "{tool}");
        seen.insert(tool);
    }
    assert!(seen.contains("web_search") && seen.len() > 1, "{seen:?}");
    assert!(service.finish().success());
}

#[test]
fn what_is_not_for_it_goes_on_as_it_came() {
    let upstream = Upstream::start(|asked| answered(&json!({"head": asked.head, "body": asked.body})));
    let asked = chat("ana", &[said("user", "hi")]);
    let same = |client: &mut Connection, path: &str, body: &str| {
        let answer = client.post(path, body);
        assert_eq!(answer.json()["body"].as_str(), Some(body));
        answer
    };
    let mut service = start(&upstream, &[]);
    let mut client = service.connect();
    for (body, why) in [
        (json!({"messages": [said("user", "hi")]}).to_string(), "no user"),
        (r#"{"messages":[],"user":"ana"}"#.to_owned(), "nothing was asked"),
        ("[]".to_owned(), "not understood"),
        (json!({"messages": [said("user", "hi")], "user": "x".repeat(300)}).to_string(), "too long"),
        (json!({"messages": [said("user", "hi"), said("assistant", "{")], "user": "ana"}).to_string(), ""),
    ] {
        if why.is_empty() {
            assert!(
                client.post("/v1/messages", &body).header("x-fable-bypass").unwrap().contains("begun"),
                "a prefilled answer"
            );
            continue;
        }
        let answer = same(&mut client, CHAT, &body);
        assert!(bypassed(&answer).contains(why), "{answer:?}");
    }
    let other = same(&mut client, "/v1/embeddings?x=%20", "{ \"input\": 1 }");
    assert_eq!(other.header("x-fable-bypass"), None);
    assert!(other.json()["head"].as_str().unwrap().starts_with("POST /v1/embeddings?x=%20 HTTP/1.1\r\n"));
    assert!(client.ask("GET", "/v1/models").json()["head"].as_str().unwrap().starts_with("GET /v1/models "));
    assert!(service.finish().success());

    for (arguments, why) in [
        (&["--mode", "bypass"][..], "mode"),
        (&["--share", "0"], "share"),
        (&["--http-in-flight", "0"], "busy"),
        (&["--largest", "10"], "the body is too long"),
    ] {
        let mut service = start(&upstream, arguments);
        let mut client = service.connect();
        let answer = same(&mut client, CHAT, &asked);
        assert_eq!(bypassed(&answer), why);
        assert!(service.finish().success());
    }
    let mut service = start(&upstream, &["--mode", "observe"]);
    let mut client = service.connect();
    let answer = client.post(CHAT, &asked);
    assert_eq!((answer.json()["body"].as_str(), decision(&answer).is_empty()), (Some(asked.as_str()), false));
    let next = chat(
        "ana",
        &[said("user", "hi"), said("assistant", "hello"), said("user", "thanks, that's perfect")],
    );
    decision(&client.post(CHAT, &next));
    assert_eq!(
        (observations(&mut client, "ana"), rounds(&mut client, "ana")),
        (0, 2),
        "what was not done is not learned from"
    );
    assert!(service.finish().success());
}

#[test]
fn an_assistant_that_is_not_there_is_told_apart() {
    let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let address = format!("http://{gone}");
    let named = ["proxy", "--listen", "127.0.0.1:0", "--upstream", &address];
    let mut service = HttpService::start_command(fable(), &named, [""; 0], &[]);
    let mut client = service.connect();
    let asked = chat("ana", &[said("user", "hi")]);
    let answer = client.post(CHAT, &asked);
    assert_eq!((answer.status, answer.json()["error"]["type"].as_str()), (502, Some("upstream_error")));
    assert!(service.finish().success());

    let broken = Upstream::start(|_| Vec::new());
    let mut service = start(&broken, &[]);
    assert_eq!(service.connect().post(CHAT, &asked).status, 502);
    assert!(service.finish().success());
    let slow = Upstream::start(|_| {
        std::thread::sleep(std::time::Duration::from_secs(5));
        Vec::new()
    });
    let mut service = start(&slow, &["--upstream-timeout", "1"]);
    assert_eq!(service.connect().post(CHAT, &asked).status, 504);
    assert!(service.finish().success());
}

#[test]
fn only_who_may_is_let_through_and_strange_hosts_are_not() {
    let upstream = parrot("Hello.");
    let address = format!("http://{}", upstream.address);
    let named = ["proxy", "--listen", "127.0.0.1:0", "--upstream", &address];
    let mut service =
        HttpService::start_command(fable(), &named, [""; 0], &[("FABLE_TOKENS_DECIDE", "a-token-to-decide")]);
    let asked = chat("ana", &[said("user", "hi")]);
    let mut client = service.connect().with_token("a-token-to-decide");
    assert_eq!(
        client.post(CHAT, &asked).refusal(),
        (401, "unauthorized".into()),
        "authorization is for the assistant"
    );
    let mut client =
        service.connect().with_token("sk-secret").with_header("x-fable-token", "a-token-to-decide");
    decision(&client.post(CHAT, &asked));
    let [.., told] = &upstream.taken()[..] else { panic!("nothing was asked") };
    assert!(told.head.contains("sk-secret") && !told.head.contains("a-token-to-decide"), "{}", told.head);
    assert!(service.finish().success());

    let mut service = start(&upstream, &[]);
    let mut client = service.connect();
    assert!(client.send(b"GET /v1/models HTTP/1.1\r\nhost: example.com\r\n\r\n"));
    assert_eq!(client.answer().unwrap().refusal(), (403, "forbidden".into()));
    assert!(service.finish().success());
}

#[test]
fn memory_is_what_the_chosen_value_says() {
    let upstream = Upstream::start(|asked| {
        let messages = asked.json()["messages"].clone();
        let last =
            messages.as_array().unwrap().iter().rev().find(|message| message["role"] == "user").unwrap();
        answered(&completion(&format!("Answer to {}", last["content"].as_str().unwrap())))
    });
    let told = |upstream: &Upstream| {
        let taken = upstream.taken();
        let last = taken.last().unwrap().json();
        last["messages"].as_array().unwrap().last().unwrap()["content"].as_str().unwrap().to_owned()
    };
    let mut service = start(&upstream, &["--memory"]);
    let mut client = service.connect();
    let always = |client: &mut Connection, value: &str| {
        op(
            client,
            "allow",
            &json!({"user": "ana", "values": ["memory=no_memory", "memory=recent_memory", "memory=semantic_memory", "memory=preference_memory", "memory=profile_summary"]}),
        );
        let rules = op(client, "require", &json!({"user": "ana", "values": [format!("memory={value}")]}));
        assert_eq!(rules["rules"].as_array().unwrap().len(), 1, "{rules}");
    };
    let ask = |client: &mut Connection, text: &str| {
        decision(&client.post(CHAT, &chat("ana", &[said("user", text)])))
    };
    always(&mut client, "no_memory");
    ask(&mut client, "Where do penguins live?");
    ask(&mut client, "How tall is the Eiffel tower?");
    assert!(!told(&upstream).contains("penguins"));
    let kept = op(&mut client, "memories", &json!({"user": "ana"}));
    assert_eq!(
        (kept["exchanges"].as_array().unwrap().len(), &kept["exchanges"][0]["answer"]),
        (2, &json!("Answer to Where do penguins live?"))
    );
    always(&mut client, "recent_memory");
    ask(&mut client, "Who wrote Emma?");
    let text = told(&upstream);
    assert!(text.contains("Where do penguins live?") && text.contains("Answer to How tall"), "{text}");
    always(&mut client, "semantic_memory");
    ask(&mut client, "What do penguins eat?");
    let text = told(&upstream);
    assert!(text.contains("Where do penguins live?") && !text.contains("Eiffel"), "{text}");
    always(&mut client, "preference_memory");
    ask(&mut client, "What do lions eat?");
    let text = told(&upstream);
    assert!(!text.contains("penguins") && text.contains("preference_memory"), "{text}"); // the rule is what was stated

    // The user says no: nothing of it is used, and nothing is kept.
    op(&mut client, "switch", &json!({"user": "ana", "memory": false}));
    op(
        &mut client,
        "allow",
        &json!({"user": "ana", "values": ["memory=no_memory", "memory=recent_memory", "memory=semantic_memory", "memory=profile_summary"]}),
    );
    for number in 0..5 {
        ask(&mut client, &format!("What do penguins eat on day {number}?"));
        assert!(!told(&upstream).contains("live"));
    }
    assert_eq!(
        op(&mut client, "memories", &json!({"user": "ana"}))["exchanges"].as_array().unwrap().len(),
        5
    );
    assert_eq!(op(&mut client, "unremember", &json!({"user": "ana"})), json!({"unremembered": 5}));

    // Without the layer the request goes on as it came, and the user can have it back.
    op(&mut client, "switch", &json!({"user": "ana", "layer": false}));
    let off = client.post(CHAT, &chat("ana", &[said("user", "hi")]));
    assert_eq!(bypassed(&off), "off");
    op(&mut client, "switch", &json!({"user": "ana", "layer": true}));
    ask(&mut client, "hi");
    assert_eq!(op(&mut client, "forget", &json!({"user": "ana"})), json!({"forgotten": true}));
    assert_eq!(rounds(&mut client, "ana"), 0);
    assert!(service.finish().success());
}

#[test]
fn a_users_rules_hold() {
    let upstream = parrot("Hello.");
    let mut service = start(&upstream, &["--nu", "0.5"]);
    let mut client = service.connect();
    op(
        &mut client,
        "forbid",
        &json!({"user": "ana", "values": ["tool=web_search"], "words": "never search the web"}),
    );
    let tools = json!([{"type": "function", "function": {"name": "web_search"}}]);
    for number in 0..40 {
        let asked = json!({"messages": [said("user", &format!("What's the weather in town {number} today?"))], "user": "ana", "tools": tools});
        let answer = client.post(CHAT, &asked.to_string());
        assert_ne!(answer.json()["fable"]["action"]["tool"], "web_search");
        assert_eq!(upstream.taken()[0].json()["tool_choice"], "none");
    }
    assert!(service.finish().success());
}
