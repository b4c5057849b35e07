//! A running service with a pipe to each of its ends.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;

/// A service. What is sent is written by a thread of its own, so that neither side ever waits for the other to read.
pub struct Service {
    child: Option<Child>,
    lines: Option<Sender<Vec<u8>>>,
    writer: Option<JoinHandle<()>>,
    answers: BufReader<Box<dyn Read + Send>>,
}

impl Service {
    /// Starts `fable serve` with these arguments.
    ///
    /// # Panics
    /// When it cannot be started.
    pub fn start<A: AsRef<OsStr>>(fable: &Path, arguments: impl IntoIterator<Item = A>) -> Self {
        let mut command = Command::new(fable);
        command.arg("serve").args(arguments);
        Self::spawn(command)
    }

    /// Starts any command that ends in a service.
    ///
    /// # Panics
    /// When it cannot be started.
    #[must_use]
    pub fn spawn(mut command: Command) -> Self {
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut child = child.unwrap_or_else(|error| panic!("{command:?}: {error}"));
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let mut service = Self::over(input, output);
        service.child = Some(child);
        service
    }

    /// A service at the other ends of two pipes.
    pub fn over(mut input: impl Write + Send + 'static, output: impl Read + Send + 'static) -> Self {
        let (lines, received) = channel::<Vec<u8>>();
        let writer = std::thread::spawn(move || {
            while let Ok(bytes) = received.recv() {
                if input.write_all(&bytes).is_err() {
                    return; // it is gone
                }
            }
        });
        let answers = BufReader::with_capacity(1 << 16, Box::new(output) as Box<dyn Read + Send>);
        Self { child: None, lines: Some(lines), writer: Some(writer), answers }
    }

    /// Sends bytes: one or more lines, each with its end.
    pub fn send(&self, lines: Vec<u8>) {
        if let Some(sender) = &self.lines {
            let _ = sender.send(lines);
        }
    }

    /// Reads the next answer; `false` when the service has ended.
    pub fn answer(&mut self, line: &mut String) -> bool {
        line.clear();
        self.answers.read_line(line).is_ok_and(|count| count > 0) && line.ends_with('\n')
    }

    /// Whether another answer is here already.
    #[must_use]
    pub fn has_more(&self) -> bool {
        self.answers.buffer().contains(&b'\n')
    }

    /// Sends one line and returns its answer.
    ///
    /// # Panics
    /// When there is none.
    pub fn ask(&mut self, line: &str) -> serde_json::Value {
        self.send(format!("{line}\n").into_bytes());
        let mut answer = String::new();
        assert!(self.answer(&mut answer), "no answer to {line}");
        serde_json::from_str(&answer).unwrap_or_else(|error| panic!("{error} in {answer}"))
    }

    /// The process; 0 if it is not one of its own.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.child.as_ref().map_or(0, Child::id)
    }

    /// What the process writes to standard error, if that is a pipe: all of it, up to its end.
    pub fn errors(&mut self) -> String {
        let mut text = String::new();
        if let Some(mut errors) = self.child.as_mut().and_then(|child| child.stderr.take()) {
            let _ = errors.read_to_string(&mut text); // as far as it goes
        }
        text
    }

    /// Kills the process, as `kill -9` does.
    pub fn kill(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
        self.close();
    }

    /// Ends the input.
    pub fn close(&mut self) {
        self.lines = None;
        if let Some(writer) = self.writer.take() {
            let _ = writer.join();
        }
    }

    /// Ends the input and waits for the end.
    ///
    /// # Panics
    /// When the process is lost, or there is none.
    #[must_use]
    pub fn finish(mut self) -> ExitStatus {
        self.close();
        self.child.take().unwrap().wait().unwrap()
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.kill(); // most often it has ended
    }
}
