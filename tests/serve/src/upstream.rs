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
        let asked: Arc<Mutex<Vec<Asked>>> = Arc::default();
        let kept = Arc::clone(&asked);
        let address = listen(move |reader| attend(reader, &kept, &answer));
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

/// Listens at a free port, to the end of the process, and lets somebody talk on each connection.
///
/// # Panics
/// When there is none.
pub fn listen(talk: impl Fn(BufReader<TcpStream>) -> Option<()> + Send + Sync + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, talk) = (listener.local_addr().unwrap(), Arc::new(talk));
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let talk = Arc::clone(&talk);
            thread::spawn(move || talk(BufReader::new(stream)));
        }
    });
    address
}

/// The head of the next request on a connection, and the length of its body; `None` at the end.
///
/// # Panics
/// For a length that is not a number.
pub fn head(reader: &mut BufReader<TcpStream>) -> Option<(String, usize)> {
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|count| *count > 0)?;
        if let Some((name, value)) =
            line.split_once(':').filter(|(name, _)| name.eq_ignore_ascii_case("content-length"))
        {
            length = value.trim().parse().unwrap_or_else(|_| panic!("{name}: {value}"));
        }
        if line.trim_end().is_empty() {
            return Some((head, length));
        }
        head += &line;
    }
}

/// The next request on a connection; `None` at the end.
pub fn next(reader: &mut BufReader<TcpStream>) -> Option<Asked> {
    let (head, length) = head(reader)?;
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Asked { head, body: String::from_utf8(body).ok()? })
}

/// One connection, to its end.
fn attend(mut reader: BufReader<TcpStream>, kept: &Mutex<Vec<Asked>>, answer: &Answering) -> Option<()> {
    loop {
        let asked = next(&mut reader)?;
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
    format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

/// An answer in events, chunk by chunk.
#[must_use]
pub fn events(events: &[Value]) -> Vec<u8> {
    let head =
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n".to_owned();
    let texts =
        events.iter().map(|event| format!("data: {event}\n\n")).chain(["data: [DONE]\n\n".to_owned()]);
    let chunks = texts.map(|text| format!("{:x}\r\n{text}\r\n", text.len()));
    let whole: String = [head].into_iter().chain(chunks).chain(["0\r\n\r\n".to_owned()]).collect();
    whole.into_bytes()
}
