//! The assistant's service: HTTP on a free port of this machine, one answer per request, every request body kept.

use super::talk::answer;
use serde_json::Value;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// A running service, until the process ends.
pub struct Assistant {
    /// The address that it listens at.
    pub address: SocketAddr,
    asked: Arc<Mutex<Vec<Value>>>,
}

impl Assistant {
    /// Starts the service.
    pub fn start() -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let (address, asked) = (listener.local_addr()?, Arc::<Mutex<Vec<Value>>>::default());
        let kept = Arc::clone(&asked);
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let kept = Arc::clone(&kept);
                thread::spawn(move || serve(BufReader::new(stream), &kept));
            }
        });
        Ok(Self { address, asked })
    }

    /// The request bodies so far.
    pub fn asked(&self) -> Vec<Value> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Answers the requests of one connection; `None` at its end.
fn serve(mut stream: BufReader<TcpStream>, kept: &Mutex<Vec<Value>>) -> Option<()> {
    loop {
        let body = serde_json::from_slice(&request(&mut stream)?).ok()?;
        let text = answer(&body).to_string();
        kept.lock().ok()?.push(body);
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            text.len()
        );
        stream.get_mut().write_all((head + &text).as_bytes()).ok()?;
    }
}

/// The body of the next request; `None` at the end of the connection.
fn request(stream: &mut BufReader<TcpStream>) -> Option<Vec<u8>> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).ok().filter(|count| *count > 0)?;
        let Some((name, value)) = line.split_once(':') else {
            if line.trim_end().is_empty() {
                break;
            }
            continue; // the request line
        };
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).ok()?;
    Some(body)
}
