//! What tests of `fable proxy` have in common.

use fable_core::catalog::AGENT;
use fable_core::journal::Event;
use fable_core::record::decode_event;
use fable_serve_tests::http::{Answer, Client, HttpService};
use fable_serve_tests::upstream::{Upstream, json as answered};
use serde_json::{Value, json};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;

pub type Connection = Client<TcpStream>;

pub const CHAT: &str = "/v1/chat/completions";

pub fn fable() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_fable"))
}

/// The proxy before an assistant, with a seed of its own.
pub fn start(upstream: &Upstream, arguments: &[&str]) -> HttpService {
    start_before(upstream.address, arguments)
}

/// The same before whoever listens at an address.
pub fn start_before(upstream: SocketAddr, arguments: &[&str]) -> HttpService {
    let address = format!("http://{upstream}");
    let named = ["proxy", "--listen", "127.0.0.1:0", "--upstream", &address];
    HttpService::start_command(fable(), &named, arguments, &[("FABLE_LOG", "off")])
}

pub fn completion(text: &str) -> Value {
    json!({"object": "chat.completion", "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}]})
}

/// An assistant that says the same whatever it is asked.
pub fn parrot(text: &'static str) -> Upstream {
    Upstream::start(move |_| answered(&completion(text)))
}

pub fn said(role: &str, content: &str) -> Value {
    json!({"role": role, "content": content})
}

/// A chat of a user so far.
pub fn chat(user: &str, messages: &[Value]) -> String {
    json!({"model": "m", "messages": messages, "user": user}).to_string()
}

pub fn decision(answer: &Answer) -> String {
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.header("x-fable-decision").unwrap_or_else(|| panic!("{answer:?}")).to_owned()
}

pub fn bypassed(answer: &Answer) -> &str {
    assert_eq!(answer.header("x-fable-decision"), None);
    answer.header("x-fable-bypass").unwrap_or_else(|| panic!("{answer:?}"))
}

pub fn op(client: &mut Connection, name: &str, body: &Value) -> Value {
    client.post(&format!("/fable/v1/{name}"), &body.to_string()).json()
}

pub fn observations(client: &mut Connection, user: &str) -> u64 {
    op(client, "posterior", &json!({"user": user}))["observations"].as_u64().unwrap()
}

pub fn rounds(client: &mut Connection, user: &str) -> u64 {
    op(client, "posterior", &json!({"user": user}))["rounds"].as_u64().unwrap()
}

/// What happened to ana, as it is in a store.
pub fn happened(store: &Path) -> Vec<Event> {
    let store = fable_std::store::open_any(store, &fable_std::store::Options::default()).unwrap();
    let found = store.whole(store.find("ana").unwrap().unwrap()).unwrap().unwrap();
    let entries = found.journal.iter().flat_map(|segment| segment.from(0));
    entries.map(|entry| decode_event(&AGENT, entry.unwrap().record).unwrap()).collect()
}

/// The rewards that ana has had.
pub fn rewards(store: &Path) -> Vec<f64> {
    let reward = |event| if let Event::Feedback { reward, .. } = event { Some(reward) } else { None };
    happened(store).into_iter().filter_map(reward).collect()
}

/// A signal of each of ana's contexts.
pub fn signals(store: &Path, name: &str) -> Vec<f32> {
    let place = AGENT.definition().signals.iter().position(|signal| *signal == name).unwrap();
    let signal = |event| {
        if let Event::Decision { context, .. } = event { Some(context.signals()[place]) } else { None }
    };
    happened(store).into_iter().filter_map(signal).collect()
}
