//! An assistant's server that records what it is asked and answers as it is told.

use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// What it was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// Method, path and headers as they came.
    pub head: String,
    /// The body as it came.
    pub body: String,
}

impl Asked {
    /// The body as JSON.
    ///
    /// # Panics
    /// When it is not.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }
}

/// The bytes of an answer, head and all; none ends the connection.
type Answering = dyn Fn(&Asked) -> Vec<u8> + Send + Sync;

/// See the [module](self).
pub struct Upstream {
    /// Where it is.
    pub address: SocketAddr,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Upstream {
    /// Listens at a free port, to the end of the process.
    ///
    /// # Panics
    /// When there is none.
    pub fn start(answer: impl Fn(&Asked) -> Vec<u8> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (address, asked) = (listener.local_addr().unwrap(), Arc::default());
        let (kept, answer): (Arc<Mutex<Vec<Asked>>>, Arc<Answering>) = (Arc::clone(&asked), Arc::new(answer));
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (kept, answer) = (Arc::clone(&kept), Arc::clone(&answer));
                thread::spawn(move || attend(stream, &kept, &*answer));
            }
        });
        Self { address, asked }
    }

    /// What was asked since this was asked last.
    ///
    /// # Panics
    /// When a thread has.
    #[must_use]
    pub fn taken(&self) -> Vec<Asked> {
        std::mem::take(&mut *self.asked.lock().unwrap())
    }
}

/// One connection, to its end.
fn attend(stream: TcpStream, kept: &Mutex<Vec<Asked>>, answer: &Answering) -> Option<()> {
    let mut reader = BufReader::new(stream);
    loop {
        let (mut head, mut length) = (String::new(), 0);
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).ok().filter(|count| *count > 0)?;
            if let Some((name, value)) = line.split_once(':').filter(|(name, _)| name.eq_ignore_ascii_case("content-length")) {
                length = value.trim().parse().unwrap_or_else(|_| panic!("{name}: {value}"));
            }
            if line.trim_end().is_empty() {
                break;
            }
            head += &line;
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        let asked = Asked { head, body: String::from_utf8(body).ok()? };
        let bytes = answer(&asked);
        kept.lock().ok()?.push(asked);
        if bytes.is_empty() {
            return None;
        }
        reader.get_mut().write_all(&bytes).ok()?;
    }
}

/// An answer with JSON.
#[must_use]
pub fn json(body: &Value) -> Vec<u8> {
    let body = body.to_string();
    format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

/// An answer in events, chunk by chunk.
#[must_use]
pub fn events(events: &[Value]) -> Vec<u8> {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n".to_owned();
    let texts = events.iter().map(|event| format!("data: {event}\n\n")).chain(["data: [DONE]\n\n".to_owned()]);
    let chunks = texts.map(|text| format!("{:x}\r\n{text}\r\n", text.len()));
    let whole: String = [head].into_iter().chain(chunks).chain(["0\r\n\r\n".to_owned()]).collect();
    whole.into_bytes()
}
