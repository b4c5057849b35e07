//! A running service over HTTP, and a client of it that is a few lines long.

use serde_json::Value;
use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// Longest wait for an answer.
const PATIENCE: Duration = Duration::from_mins(1);

/// `fable serve` at an address of its own.
pub struct HttpService {
    child: Child,
    /// Host and port.
    pub address: String,
}

impl HttpService {
    /// Starts `fable serve --http 127.0.0.1:0` with more arguments and these variables.
    ///
    /// # Panics
    /// When it cannot be started.
    pub fn start<A: AsRef<OsStr>>(
        fable: &Path,
        arguments: impl IntoIterator<Item = A>,
        variables: &[(&str, &str)],
    ) -> Self {
        Self::start_command(fable, &["serve", "--http", "127.0.0.1:0"], arguments, variables)
    }

    /// Starts another command that listens.
    ///
    /// # Panics
    /// When it cannot be started.
    pub fn start_command<A: AsRef<OsStr>>(
        fable: &Path,
        named: &[&str],
        arguments: impl IntoIterator<Item = A>,
        variables: &[(&str, &str)],
    ) -> Self {
        let mut command = Command::new(fable);
        command.args(named).args(arguments).envs(variables.iter().copied());
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let places: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error} in '{line}'"));
        let address = places["listening"][0].as_str().unwrap().strip_prefix("http://").unwrap().to_owned();
        Self { child, address }
    }

    /// A connection to it.
    ///
    /// # Panics
    /// When there is none.
    #[must_use]
    pub fn connect(&self) -> Client<TcpStream> {
        let stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_nodelay(true).unwrap();
        Client::over(stream)
    }

    /// The process.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends a signal, as TERM.
    ///
    /// # Panics
    /// When that is not possible.
    pub fn signal(&self, signal: &str) {
        assert!(
            Command::new("kill")
                .args(["-s", signal, &self.child.id().to_string()])
                .status()
                .unwrap()
                .success()
        );
    }

    /// Waits for its end.
    ///
    /// # Panics
    /// When it does not come.
    pub fn wait(&mut self) -> ExitStatus {
        let began = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(began.elapsed() < PATIENCE, "it does not end");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Tells it to end, and waits.
    pub fn finish(&mut self) -> ExitStatus {
        self.signal("TERM");
        self.wait()
    }
}

impl Drop for HttpService {
    fn drop(&mut self) {
        let _ = self.child.kill(); // most often it has ended
        let _ = self.child.wait();
    }
}

/// What was answered.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// All headers, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: String,
}

impl Answer {
    /// A header.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }

    /// The body as JSON.
    ///
    /// # Panics
    /// When it is not.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error} in {self:?}"))
    }

    /// Status and code of a refusal.
    ///
    /// # Panics
    /// When it is not JSON.
    #[must_use]
    pub fn refusal(&self) -> (u16, String) {
        (self.status, self.json()["error"]["code"].as_str().unwrap_or("none").to_owned())
    }
}

/// A connection that is kept.
pub struct Client<S: Read + Write> {
    stream: BufReader<S>,
    /// Lines of every head.
    pub headers: String,
}

impl<S: Read + Write> Client<S> {
    /// Over a stream.
    pub fn over(stream: S) -> Self {
        Self { stream: BufReader::new(stream), headers: String::new() }
    }

    /// With a token from here on.
    #[must_use]
    pub fn with_token(mut self, token: &str) -> Self {
        self.headers = format!("authorization: Bearer {token}\r\n");
        self
    }

    /// With one more header from here on.
    #[must_use]
    pub fn with_header(mut self, name: &str, value: &str) -> Self {
        self.headers = format!("{}{name}: {value}\r\n", self.headers);
        self
    }

    /// Sends bytes as they are; `false` when nobody takes them.
    pub fn send(&mut self, bytes: &[u8]) -> bool {
        self.stream.get_mut().write_all(bytes).is_ok()
    }

    /// Posts JSON.
    ///
    /// # Panics
    /// When no answer comes.
    pub fn post(&mut self, path: &str, body: &str) -> Answer {
        self.begin(path, body);
        self.answer().unwrap_or_else(|| panic!("no answer to {path} {body}"))
    }

    /// Posts JSON without waiting for the answer.
    pub fn begin(&mut self, path: &str, body: &str) {
        let (more, length) = (&self.headers, body.len());
        let head =
            format!("POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n{more}");
        self.send(format!("{head}content-length: {length}\r\n\r\n{body}").as_bytes());
    }

    /// Asks with a method and no body.
    ///
    /// # Panics
    /// When no answer comes.
    pub fn ask(&mut self, method: &str, path: &str) -> Answer {
        let request = format!("{method} {path} HTTP/1.1\r\nhost: localhost\r\n{}\r\n", self.headers);
        self.send(request.as_bytes());
        self.answer().unwrap_or_else(|| panic!("no answer to {method} {path}"))
    }

    /// The next answer; `None` when the connection has ended.
    ///
    /// # Panics
    /// For an answer that is not HTTP.
    pub fn answer(&mut self) -> Option<Answer> {
        let mut line = String::new();
        self.stream.read_line(&mut line).ok().filter(|count| *count > 0)?;
        let status = line.split(' ').nth(1).unwrap().parse().unwrap();
        let (mut headers, mut length, mut chunked) = (Vec::new(), 0, false);
        loop {
            line.clear();
            self.stream.read_line(&mut line).ok()?;
            let Some((name, value)) = line.trim_end().split_once(": ") else { break };
            let name = name.to_ascii_lowercase();
            if name == "content-length" {
                length = value.parse().unwrap();
            }
            chunked |= name == "transfer-encoding";
            headers.push((name, value.to_owned()));
        }
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body).ok()?;
        while chunked {
            line.clear();
            self.stream.read_line(&mut line).ok()?;
            let size = usize::from_str_radix(line.trim_end(), 16).ok()?;
            let mut chunk = vec![0; size + 2];
            self.stream.read_exact(&mut chunk).ok()?;
            chunk.truncate(size);
            body.extend(chunk);
            chunked = size > 0;
        }
        Some(Answer { status, headers, body: String::from_utf8(body).unwrap() })
    }
}
