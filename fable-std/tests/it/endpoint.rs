//! A server on this machine that answers as it is told, a request per reply, and remembers what it was sent.

use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

/// What a server does with a request.
pub enum Reply {
    /// Sends these bytes and hangs up.
    Bytes(Vec<u8>),
    /// Sends one byte after the other, with a pause after each.
    Dripping(Vec<u8>, Duration),
    /// Sends bytes for ever, or until nobody listens.
    Endless,
    /// Says nothing for a minute and hangs up.
    Silence,
}

/// A reply with a status, headers and a body.
pub fn reply(status: &str, headers: &str, body: &str) -> Reply {
    let head =
        format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n{headers}\r\n", body.len());
    Reply::Bytes(format!("{head}{body}").into_bytes())
}

/// A chat completion with this content.
pub fn completion(content: &str) -> Reply {
    let message = json!({ "role": "assistant", "content": content });
    let body = json!({ "id": "1", "choices": [{ "index": 0, "message": message, "finish_reason": "stop" }], "usage": {} });
    reply("200 OK", "Content-Type: application/json\r\n", &body.to_string())
}

/// The address of the server, and what it was sent: the head and the body of the request.
pub struct Endpoint {
    pub url: String,
    received: Receiver<(String, Value)>,
}

impl Endpoint {
    /// Serves one request.
    pub fn answering(reply: Reply) -> Self {
        Self::answering_all(vec![reply])
    }

    /// Serves as many requests, one after the other.
    pub fn answering_all(replies: Vec<Reply>) -> Self {
        let listener = TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let (sender, received) = channel();
        thread::spawn(move || {
            for reply in replies {
                let (mut stream, _) = listener.accept().unwrap();
                stream.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
                stream.set_write_timeout(Some(Duration::from_mins(1))).unwrap();
                if let Some(request) = read(&mut stream) {
                    let _ = sender.send(request);
                    answer(&mut stream, reply);
                }
            }
        });
        Self { url, received }
    }

    /// What was sent, if anything.
    pub fn request(&self) -> Option<(String, Value)> {
        self.received.recv_timeout(Duration::from_mins(1)).ok()
    }
}

fn read(stream: &mut TcpStream) -> Option<(String, Value)> {
    let mut bytes = Vec::new();
    let mut chunk = [0; 4096];
    loop {
        let count = stream.read(&mut chunk).ok().filter(|count| *count > 0)?;
        bytes.extend_from_slice(&chunk[..count]);
        let text = String::from_utf8_lossy(&bytes);
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head.lines().find_map(|line| {
            line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse::<usize>().ok()
        });
        if body.len() >= length.unwrap_or(0) {
            return Some((head.to_owned(), serde_json::from_str(body).unwrap_or(Value::Null)));
        }
    }
}

/// Whoever hangs up in the middle of an answer is not a fault of the server.
fn answer(stream: &mut TcpStream, reply: Reply) {
    match reply {
        Reply::Bytes(bytes) => drop(stream.write_all(&bytes)),
        Reply::Dripping(bytes, pause) => {
            for byte in bytes {
                if stream.write_all(&[byte]).is_err() {
                    return;
                }
                thread::sleep(pause);
            }
        }
        Reply::Endless => {
            let _ = stream.write_all(
                b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n\"",
            );
            while stream.write_all(&[b'a'; 4096]).is_ok() {}
        }
        Reply::Silence => thread::sleep(Duration::from_mins(1)),
    }
}
