//! A server of chat completions on a free port of this machine, which answers from the request alone and can misbehave.

use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// What the server does with a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// Answers it.
    Answer,
    /// Refuses it with a status and more lines of the head.
    Status(u16, &'static str),
    /// Hangs up in the middle of the answer.
    Cut,
    /// Sends a status of success and half an object.
    Malformed,
    /// Sends a whole object that is not a completion.
    Other,
    /// Says nothing until the other side hangs up.
    Hold,
}

/// A request as it came.
#[derive(Clone, Debug)]
pub struct Seen {
    pub body: Value,
    pub authorization: Option<String>,
    pub act: Act,
}

/// Which request, counted from 0, is treated how.
type Plan = dyn Fn(usize) -> Act + Send + Sync;
/// What is answered to a request.
type Content = dyn Fn(&Value) -> Value + Send + Sync;

/// A running server.
pub struct Server {
    pub url: String,
    seen: Arc<Mutex<Vec<Seen>>>,
    held: Receiver<()>,
}

impl Server {
    /// Answers everything, sensibly.
    pub fn kind() -> Self {
        Self::start(|_| Act::Answer, message)
    }

    /// Misbehaves as it is told, by the number of the request.
    pub fn with(plan: impl Fn(usize) -> Act + Send + Sync + 'static) -> Self {
        Self::start(plan, message)
    }

    pub fn start(
        plan: impl Fn(usize) -> Act + Send + Sync + 'static,
        content: impl Fn(&Value) -> Value + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (holds, held) = channel();
        let (plan, content): (Arc<Plan>, Arc<Content>) = (Arc::new(plan), Arc::new(content));
        let shared = Arc::clone(&seen);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (plan, content, seen, holds) =
                    (Arc::clone(&plan), Arc::clone(&content), Arc::clone(&shared), holds.clone());
                thread::spawn(move || serve(stream.unwrap(), &*plan, &*content, &seen, &holds));
            }
        });
        Self { url, seen, held }
    }

    /// All requests so far.
    pub fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    /// How many requests were answered.
    pub fn answered(&self) -> usize {
        self.seen().iter().filter(|seen| seen.act == Act::Answer).count()
    }

    /// Waits until a request is held.
    pub fn wait_for_hold(&self) {
        self.held.recv_timeout(Duration::from_mins(2)).unwrap();
    }
}

fn serve(mut stream: TcpStream, plan: &Plan, content: &Content, seen: &Mutex<Vec<Seen>>, holds: &Sender<()>) {
    let Some((head, body)) = request(&mut stream) else { return };
    assert!(head.starts_with("POST /v1/chat/completions HTTP/1.1"), "{head}");
    let authorization = header(&head, "authorization");
    let act = {
        let mut seen = seen.lock().unwrap();
        let act = plan(seen.len());
        seen.push(Seen { body: body.clone(), authorization, act });
        act
    };
    let choice = json!({ "index": 0, "message": content(&body), "finish_reason": "stop" });
    let usage = json!({ "prompt_tokens": 10, "completion_tokens": 5 });
    let completion =
        json!({ "id": "1", "model": body["model"], "choices": [choice], "usage": usage }).to_string();
    let reply = |status: u16, more: &str, length: usize, body: &str| {
        format!(
            "HTTP/1.1 {status} Status\r\nContent-Length: {length}\r\nConnection: close\r\n{more}\r\n{body}"
        )
    };
    let bytes = match act {
        Act::Answer => reply(200, "", completion.len(), &completion),
        Act::Status(status, more) => reply(status, more, 2, "{}"),
        Act::Cut => reply(200, "", completion.len(), &completion[..completion.len() / 2]),
        Act::Malformed => reply(200, "", 12, "{\"choices\":["),
        Act::Other => reply(200, "", 16, "{\"error\":\"busy\"}"),
        Act::Hold => {
            let _ = holds.send(());
            let _ = stream.read(&mut [0]);
            return;
        }
    };
    // Whoever was killed does not listen any more.
    let _ = stream.write_all(bytes.as_bytes());
}

fn header(head: &str, name: &str) -> Option<String> {
    let mut lines = head.lines().filter_map(|line| line.split_once(": "));
    lines.find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.to_owned())
}

fn request(stream: &mut TcpStream) -> Option<(String, Value)> {
    let (mut bytes, mut chunk) = (Vec::new(), [0; 4096]);
    loop {
        let count = stream.read(&mut chunk).ok().filter(|count| *count > 0)?;
        bytes.extend_from_slice(&chunk[..count]);
        let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") else { continue };
        let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
        let length: usize = header(&head, "content-length").unwrap().parse().unwrap();
        if bytes.len() >= end + 4 + length {
            return Some((head, serde_json::from_slice(&bytes[end + 4..]).unwrap()));
        }
    }
}

/// A number that depends on a request and on nothing else.
fn luck(body: &Value) -> u64 {
    body.to_string()
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
        >> 20
}

/// What the instruction of a request asks for.
pub fn asked(body: &Value) -> &'static str {
    let system = body["messages"][0]["content"].as_str().unwrap();
    let kinds = [
        ("\"success\"", "success"),
        ("\"score\"", "score"),
        ("\"correct\"", "correct"),
        ("\"lookup\"", "lookup"),
    ];
    kinds.into_iter().find(|(mark, _)| system.contains(mark)).map_or("text", |(_, kind)| kind)
}

/// What a model says: objects where they are asked for, one in five of them at the second time, a search where there is a tool.
pub fn message(body: &Value) -> Value {
    let (luck, messages) = (luck(body), body["messages"].as_array().unwrap());
    let level = |shift: u32| 1 + 2 * ((luck >> shift) % 3);
    let object = match asked(body) {
        "success" => json!({ "success": luck % 3 != 0 }),
        "score" => json!({ "score": luck % 101 }),
        "correct" => {
            json!({ "correct": luck % 7 != 0, "rigor": level(3), "steps": level(9), "examples": level(15) })
        }
        "lookup" => json!({ "answers": true, "lookup": luck % 2 == 0 }),
        _ if body.get("tools").is_some() && messages.len() == 2 && luck % 3 != 0 => {
            let function = json!({ "name": "web_search", "arguments": "{\"query\":\"x\"}" });
            let call = json!({ "id": format!("c{luck}"), "type": "function", "function": function });
            return json!({ "role": "assistant", "content": null, "tool_calls": [call] });
        }
        _ => {
            let words = "word ".repeat(usize::try_from(luck % 250).unwrap());
            return json!({ "role": "assistant", "content": format!("I am {}. {words}", body["model"].as_str().unwrap()) });
        }
    };
    let text =
        if luck % 5 == 0 && messages.len() == 2 { "I would rather not.".into() } else { object.to_string() };
    json!({ "role": "assistant", "content": text })
}
