//! What an assistant is told of before in `fable chat`: as much as the chosen memory says, and not a word more.

use crate::endpoint::{Endpoint, Reply, completion, reply};
use fable_core::{Policy, Settings, catalog::AGENT};
use fable_std::chat::Chat;
use fable_std::llm::{self, Llm};
use fable_std::memory::MODES;
use fable_std::store::{FileStore, Identity, Policies};
use fable_std::text::{ContextAdapter, FeedbackAdapter, Rules};
use serde_json::{Value, json};
use std::path::Path;

fn policies() -> Policies<'static, f64> {
    let adapters = Settings {
        context_adapter: Rules::CONTEXT,
        feedback_adapter: Rules::FEEDBACK,
        ..Settings::default()
    };
    Policies::from(Policy::new(&AGENT, adapters).unwrap())
}

fn store(path: Option<&Path>, policies: &Policies<'_, f64>) -> Box<FileStore> {
    let identity = Identity::new(policies.newcomers());
    Box::new(path.map_or_else(
        || FileStore::in_memory(&identity).unwrap(),
        |path| FileStore::open(path, &identity).unwrap(),
    ))
}

/// A rule that leaves one memory mode alone.
fn always(mode: &str) -> String {
    let others = MODES.iter().filter(|other| **other != mode).map(|other| format!("memory={other}"));
    format!("/forbid {}", others.collect::<Vec<_>>().join(" "))
}

/// A chat with an assistant: what it prints for lines, and the messages of each call.
fn talk(path: Option<&Path>, memory: bool, lines: &[&str], answers: &[&str]) -> (Vec<String>, Vec<Value>) {
    let server = Endpoint::answering_all(answers.iter().map(|answer| completion(answer)).collect());
    let llm = Llm::new(llm::Endpoint::new(&server.url, "m"), None).unwrap();
    let policies = policies();
    let chat = Chat::open(&policies, store(path, &policies), "me", &Rules, Some(&llm)).unwrap();
    let mut chat = chat.remembering(memory);
    let said = lines.iter().map(|line| chat.line(line, 7).unwrap().to_string()).collect();
    (said, answers.iter().map(|_| server.request().unwrap().1["messages"].clone()).collect())
}

fn roles(messages: &Value) -> Vec<&str> {
    messages.as_array().unwrap().iter().map(|message| message["role"].as_str().unwrap()).collect()
}

/// Under this rule chat used to send what was said before all the same.
#[test]
fn no_memory_sends_nothing_of_before() {
    for memory in [false, true] {
        let rule = always("no_memory");
        let lines = [
            &rule[..],
            "/prefer I like short answers",
            "/ask My code is 4711",
            "/ask What is my code?",
            "/ask My code?",
        ];
        let (said, sent) = talk(None, memory, &lines, &["I see: 4711", "No idea", "None"]);
        assert!(
            said[3].contains("chosen       no_memory, ") && !said[3].contains("\nmemory "),
            "{}",
            said[3]
        );
        for messages in &sent {
            assert_eq!(roles(messages), ["system", "user"]);
        }
        for messages in &sent[1..] {
            assert!(!messages.to_string().contains("4711"), "{messages}");
        }
    }
}

/// A chat in which the model reads, too: what it prints for requests, and the bodies of all calls, two for each.
fn talk_read_by_model(rule: &str, background: Option<&str>, requests: &[&str]) -> (Vec<String>, Vec<Value>) {
    let read = json!({ "task": null, "signals": { "risk": 0.1, "ambiguity": 0.1, "memory_need": 0.1, "tool_need": 0.1 } });
    let replies =
        requests.iter().flat_map(|_| [completion(&read.to_string()), completion("I see")]).collect();
    let server = Endpoint::answering_all(replies);
    let llm = Llm::new(llm::Endpoint::new(&server.url, "m"), None).unwrap();
    let settings = Settings {
        context_adapter: llm.context_adapter(),
        feedback_adapter: llm.feedback_adapter(),
        ..Settings::default()
    };
    let policies = Policies::from(Policy::new(&AGENT, settings).unwrap());
    let mut chat = Chat::open(&policies, store(None, &policies), "me", &llm, Some(&llm)).unwrap();
    if let Some(background) = background {
        chat = chat.with_background(background);
    }
    assert!(!chat.line(rule, 0).unwrap().to_string().contains("not done"));
    let said = requests
        .iter()
        .map(|request| chat.line(&format!("/ask {request}"), 0).unwrap().to_string())
        .collect();
    (said, (0..2 * requests.len()).map(|_| server.request().unwrap().1).collect())
}

/// What the model is told of a situation.
fn situation(body: &Value) -> Value {
    let messages = body["messages"].as_array().unwrap();
    serde_json::from_str(messages.last().unwrap()["content"].as_str().unwrap()).unwrap()
}

/// Where memory is forbidden, a model that reads requests was sent the exchanges before them all the same.
#[test]
fn no_memory_sends_nothing_of_before_to_a_model_that_reads() {
    let requests = ["My code is 4711", "What is my code?"];
    let (said, sent) = talk_read_by_model(&always("no_memory"), None, &requests);
    assert!(!said.concat().contains("by rules"), "{said:?}");
    assert_eq!(situation(&sent[2])["request"], "What is my code?");
    for body in &sent[2..] {
        assert!(!body.to_string().contains("4711"), "{body}");
    }
    // Where something else is left to choose, the exchange is read.
    let (_, sent) = talk_read_by_model("/forbid profile_summary", None, &requests);
    assert_eq!(situation(&sent[2])["history"][0]["request"], "My code is 4711");
}

/// A request is read with what is so for everybody, by a model and by rules, and with what may be done.
#[test]
fn requests_are_read_with_the_background_and_the_hard_state() {
    let background = "You are a coding assistant.";
    let (_, sent) = talk_read_by_model("/forbid tool=web_search", Some(background), &["hm, go on"]);
    let told = situation(&sent[0]);
    assert_eq!(told["background"], background);
    let tools = told["allowed"]["tool"].as_array().unwrap();
    assert!(tools.contains(&json!("file_search")) && !tools.contains(&json!("web_search")), "{told}");
    let instruction = sent[1]["messages"][0]["content"].as_str().unwrap();
    assert!(instruction.starts_with(&format!("{background}\n\n")), "{instruction}");

    let policies = policies();
    let chat = Chat::open(&policies, store(None, &policies), "me", &Rules, None).unwrap();
    let mut chat = chat.with_background(background);
    let said = chat.line("/ask hm, go on", 0).unwrap().to_string();
    assert!(said.starts_with("request      coding\n"), "{said}");
}

#[test]
fn recent_memory_sends_the_last_exchanges_as_messages() {
    let rule = always("recent_memory");
    let asked: Vec<String> = (0..8).map(|number| format!("/ask question {number}")).collect();
    let answers: Vec<String> = (0..8).map(|number| format!("answer {number}")).collect();
    let lines: Vec<&str> = std::iter::once(rule.as_str()).chain(asked.iter().map(String::as_str)).collect();
    let answers: Vec<&str> = answers.iter().map(String::as_str).collect();
    let (said, sent) = talk(None, false, &lines, &answers);
    assert_eq!(roles(&sent[0]), ["system", "user"]);
    assert_eq!(sent[1][1], json!({ "role": "user", "content": "question 0" }));
    assert_eq!(sent[1][2], json!({ "role": "assistant", "content": "answer 0" }));
    assert_eq!(sent[7].as_array().unwrap().len(), 2 + 2 * 6);
    assert_eq!(sent[7][1]["content"], "question 1");
    assert!(
        said[2].contains("\nmemory       the last exchange\n")
            && said[8].contains("\nmemory       the last 6 exchanges\n")
    );
}

#[test]
fn semantic_memory_sends_what_matches() {
    let rule = always("semantic_memory");
    let lines = [
        &rule[..],
        "/ask My cat is called Miez",
        "/ask The tax is due in May",
        "/ask When is my tax due?",
        "/ask Hello!",
    ];
    let (said, sent) = talk(None, false, &lines, &["A fine cat", "Noted: May", "In May", "Hello"]);
    let told = sent[2][0]["content"].as_str().unwrap();
    assert_eq!(roles(&sent[2]), ["system", "user"]);
    let quoted = "\n\nEarlier exchanges with this user, for reference only, one JSON object a line:\n\
        {\"user\":\"The tax is due in May\",\"assistant\":\"Noted: May\"}\nEnd of earlier exchanges with this user.";
    assert!(told.ends_with(quoted), "{told}");
    assert!(said[3].contains("\nmemory       the exchange that matches best\n"), "{}", said[3]);
    assert!(!sent[3].to_string().contains("tax") && !said[4].contains("\nmemory "), "nothing matches");
}

#[test]
fn preference_memory_sends_what_was_stated() {
    let rule = always("preference_memory");
    let lines = [
        &rule[..],
        "/prefer I like short answers, never search the web",
        "/ask My name is Zebedee",
        "/ask Who am I?",
    ];
    let (said, sent) = talk(None, true, &lines, &["Hello", "Who knows"]);
    let told = sent[1][0]["content"].as_str().unwrap();
    assert_eq!(roles(&sent[1]), ["system", "user"]);
    assert!(told.contains("{\"prefers\":\"style=concise over style=detailed\"}\n"), "{told}");
    assert!(
        told.contains("{\"rule\":\"never tool=web_search\",\"words\":\"never search the web\"}\n"),
        "{told}"
    );
    assert!(!told.contains("Zebedee") && said[3].contains("\nmemory       what you have stated\n"));
}

/// Exchanges of before this chat are there if memory was on, and only then.
#[test]
fn memory_lasts_if_it_is_switched_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chat.fable");
    let rule = always("recent_memory");
    talk(Some(&path), false, &[&rule, "/ask My dog is called Rex"], &["A fine dog"]);
    let (said, _) = talk(
        Some(&path),
        true,
        &["/memory", "/ask My cat is called Miez", "/memory", "/profile"],
        &["A fine cat"],
    );
    assert_eq!(
        said[0],
        "Nothing of what was said is kept. From now on memory is on: the next answers are kept, too.\n"
    );
    assert!(
        said[2].starts_with("memory       \"My cat is called Miez\" / \"A fine cat\"\n1 exchange is kept; "),
        "{}",
        said[2]
    );
    assert!(said[3].ends_with("What you wrote is kept, /memory shows it.\n"), "{}", said[3]);
    // Switched off it is not used; the person can switch it off, too.
    for (memory, lines) in
        [(false, &["/ask What is it called?"][..]), (true, &["/memory off", "/ask What is it called?"])]
    {
        let (_, sent) = talk(Some(&path), memory, lines, &["What?"]);
        assert_eq!(roles(&sent[0]), ["system", "user"], "{memory}");
    }
    let (said, sent) = talk(
        Some(&path),
        true,
        &["/memory on", "/ask What is it called?", "/memory forget", "/memory"],
        &["Miez"],
    );
    assert_eq!(roles(&sent[0]), ["system", "user", "assistant", "user"]);
    assert_eq!(sent[0][2]["content"], "A fine cat");
    assert!(said[3].starts_with("Nothing of what was said is kept. "), "{}", said[3]);
    let (said, sent) = talk(Some(&path), false, &["/memory on", "/ask And now?", "/profile"], &["Nothing"]);
    assert!(said[0].starts_with("not done     this chat was started without --memory"), "{}", said[0]);
    assert_eq!(roles(&sent[0]), ["system", "user"]);
    assert!(
        said[2].starts_with("rule ") && said[2].contains("\n6 requests, "),
        "what was learned stays: {}",
        said[2]
    );
    // Nothing can be read in the file, and forgetting takes it away.
    let (_, _) = talk(Some(&path), true, &["/ask My fish is called Wanda"], &["A fine fish"]);
    let bytes = std::fs::read(&path).unwrap();
    assert!(memchr::memmem::find(&bytes, b"Wanda").is_none());
    let (said, _) = talk(Some(&path), true, &["/forget yes", "/memory"], &[]);
    assert!(said[1].starts_with("Nothing of what was said is kept. "), "{}", said[1]);
}

/// What is certain about the person stands in the instruction, unless the memory is `no_memory`.
#[test]
fn what_is_certain_is_memory_too() {
    let settings = Settings {
        context_adapter: Rules::CONTEXT,
        feedback_adapter: Rules::FEEDBACK,
        exploration: fable_core::Exploration::Constant(3.0),
        noise_variance: 0.05,
        ..Settings::default()
    };
    let policies = Policies::from(Policy::new(&AGENT, settings).unwrap());
    let mut chat = Chat::open(&policies, store(None, &policies), "me", &Rules, None).unwrap();
    for values in [
        "direct step_by_step ask_clarification confirm_first",
        "recent_memory semantic_memory preference_memory profile_summary",
        "web_search file_search code_execution preference_checker ask_user",
    ] {
        chat.line(&format!("/forbid {values}"), 0).unwrap();
    }
    let sentence = "\ninstruction  The user prefers brief answers to detailed ones. ";
    let certain = (0..600).any(|_| {
        let asked = chat.line("/ask Whales and dolphins at night, please", 0).unwrap().to_string();
        let reaction = if asked.contains("concise\n") { "++" } else { "--" };
        chat.line(reaction, 0).unwrap().to_string().contains("\ncertain ")
    });
    assert!(certain, "nothing became certain");
    for (mode, told) in
        [("no_memory", false), ("recent_memory", true), ("profile_summary", true), ("no_memory", false)]
    {
        chat.line(&format!("/allow memory={mode}"), 0).unwrap();
        chat.line(&always(mode), 0).unwrap();
        let asked = chat.line("/ask Whales and dolphins at night, please", 0).unwrap().to_string();
        assert!(asked.contains(&format!("chosen       {mode}, ")), "{asked}");
        assert_eq!(asked.contains(sentence), told, "{asked}");
        assert_eq!(asked.contains("The user prefers"), told, "{asked}");
    }
}

fn vectors(numbers: &[[f64; 2]]) -> Reply {
    let entry = |(index, vector): (usize, &[f64; 2])| json!({ "object": "embedding", "index": index, "embedding": vector });
    // In any order: each says whose it is.
    let data: Vec<Value> = numbers.iter().enumerate().map(entry).rev().collect();
    reply(
        "200 OK",
        "Content-Type: application/json\r\n",
        &json!({ "object": "list", "data": data }).to_string(),
    )
}

/// With a model for vectors exchanges are compared by meaning, each asked about once; when it fails, by words, and it is said.
#[test]
fn vectors_compare_by_meaning() {
    let server = Endpoint::answering_all(vec![
        completion("A fine animal"),
        vectors(&[[0.0, 1.0], [1.0, 0.0]]),
        completion("Noted"),
        vectors(&[[1.0, 0.1], [0.0, 1.0]]),
        completion("Miez"),
        reply("500 Oops", "", ""),
        completion("In May"),
    ]);
    let endpoint = llm::Endpoint { embeddings: Some("small".into()), ..llm::Endpoint::new(&server.url, "m") };
    let llm = Llm::new(endpoint, None).unwrap();
    let policies = policies();
    let mut chat = Chat::open(&policies, store(None, &policies), "me", &Rules, Some(&llm)).unwrap();
    let mut line = |line: &str| chat.line(line, 0).unwrap().to_string();
    line(&always("semantic_memory"));
    line("/ask My cat is called Miez");
    line("/ask The tax is due in May");
    let said = line("/ask Which pet do I have?"); // no word in common
    assert!(said.contains("\nmemory "), "{said}");
    let said = line("/ask Tax?");
    assert!(
        said.contains("\nby words     the endpoint failed (status 500)\n") && said.contains("\nmemory "),
        "{said}"
    );
    let sent: Vec<(String, Value)> = (0..7).map(|_| server.request().unwrap()).collect();
    assert!(
        sent[1].0.starts_with("POST /v1/embeddings ") && sent[2].0.starts_with("POST /v1/chat/completions ")
    );
    assert_eq!(sent[1].1["model"], "small");
    assert_eq!(sent[1].1["input"], json!(["The tax is due in May", "My cat is called Miez\nA fine animal"]));
    assert_eq!(sent[3].1["input"], json!(["Which pet do I have?", "The tax is due in May\nNoted"]));
    let told = |at: usize| sent[at].1["messages"][0]["content"].as_str().unwrap();
    assert!(
        !told(2).contains("Miez")
            && told(4).contains("Miez")
            && !told(4).contains("May")
            && told(6).contains("May")
    );
}

#[test]
fn vectors_are_checked() {
    let texts = ["one".to_owned(), "two".to_owned()];
    let answer = |data: Value| reply("200 OK", "", &json!({ "data": data }).to_string());
    let entry = |index: i64, vector: Value| json!({ "index": index, "embedding": vector });
    for wrong in [
        answer(json!([entry(0, json!([1]))])),
        answer(json!([entry(0, json!([1])), entry(1, json!([1])), entry(2, json!([1]))])),
        answer(json!([entry(0, json!([1])), entry(0, json!([1]))])),
        answer(json!([entry(0, json!([1])), entry(2, json!([1]))])),
        answer(json!([entry(0, json!([1])), entry(-1, json!([1]))])),
        answer(json!([entry(0, json!([1])), entry(1, json!([1, 2]))])),
        answer(json!([entry(0, json!([1])), entry(1, json!([]))])),
        answer(json!([entry(0, json!([1])), entry(1, json!(["1"]))])),
        answer(json!([entry(0, json!([1])), entry(1, json!([1e300]))])),
        answer(json!([entry(0, json!([1])), entry(1, json!(null))])),
        answer(json!([entry(0, json!([1])), entry(1, json!(vec![0.5; 10_000]))])),
        answer(json!({})),
        reply("200 OK", "", "not JSON"),
        reply("404 Not Found", "", ""),
    ] {
        let server = Endpoint::answering(wrong);
        let endpoint =
            llm::Endpoint { embeddings: Some("small".into()), ..llm::Endpoint::new(&server.url, "m") };
        assert!(Llm::new(endpoint, None).unwrap().embed(&texts).is_err());
    }
    let server = Endpoint::answering(answer(json!([{ "embedding": [1, 2.5] }, { "embedding": [-0.5, 0] }])));
    let endpoint = llm::Endpoint { embeddings: Some("small".into()), ..llm::Endpoint::new(&server.url, "m") };
    let llm = Llm::new(endpoint, None).unwrap();
    assert_eq!(llm.embed(&texts), Ok(vec![vec![1.0, 2.5], vec![-0.5, 0.0]]));
    assert_eq!(llm.embed(&[]), Ok(vec![]));
    let without = Llm::new(llm::Endpoint::new(&server.url, "m"), None).unwrap();
    assert!(!without.has_embeddings() && without.embed(&texts).is_err());
}
