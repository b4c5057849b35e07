//! A running `fable serve` with a pipe to each of its ends.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;

/// A service. What is sent is written by a thread of its own, so that neither side ever waits for the other to read.
#[derive(Debug)]
pub struct Service {
    child: Child,
    lines: Option<Sender<Vec<u8>>>,
    writer: Option<JoinHandle<()>>,
    answers: BufReader<ChildStdout>,
}

impl Service {
    /// Starts `fable serve` with these arguments.
    ///
    /// # Panics
    /// When it cannot be started.
    pub fn start<A: AsRef<OsStr>>(fable: &Path, arguments: impl IntoIterator<Item = A>) -> Self {
        let mut command = Command::new(fable);
        command.arg("serve").args(arguments);
        Self::from(command)
    }

    /// Starts any command that ends in a service.
    ///
    /// # Panics
    /// When it cannot be started.
    #[must_use]
    pub fn from(mut command: Command) -> Self {
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut child = child.unwrap_or_else(|error| panic!("{command:?}: {error}"));
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let (lines, received) = channel::<Vec<u8>>();
        let writer = std::thread::spawn(move || {
            let mut input: ChildStdin = input;
            while let Ok(bytes) = received.recv() {
                if input.write_all(&bytes).is_err() {
                    return; // it is gone
                }
            }
        });
        let answers = BufReader::with_capacity(1 << 16, output);
        Self { child, lines: Some(lines), writer: Some(writer), answers }
    }

    /// Sends bytes: one or more lines, each with its end.
    pub fn send(&self, lines: Vec<u8>) {
        if let Some(sender) = &self.lines {
            let _ = sender.send(lines);
        }
    }

    /// The next answer; `None` when the service has ended.
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

    /// The process.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Processor time so far, by thread, in seconds.
    #[must_use]
    pub fn processor_time(&self) -> Vec<(String, f64)> {
        let threads = std::fs::read_dir(format!("/proc/{}/task", self.id())).into_iter().flatten().flatten();
        let mut times: Vec<(String, f64)> = threads
            .filter_map(|thread| {
                let text = std::fs::read_to_string(thread.path().join("stat")).ok()?;
                let (name, fields) = (text.split_once('(')?.1.split_once(')')?.0.to_owned(), text.rsplit_once(')')?.1);
                let ticks: Vec<f64> = fields.split_whitespace().skip(11).take(2).filter_map(|ticks| ticks.parse().ok()).collect();
                Some((name, ticks.iter().sum::<f64>() / 100.0))
            })
            .collect();
        times.sort_by(|a, b| b.1.total_cmp(&a.1));
        times
    }

    /// Kills the process, as `kill -9` does.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
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
    /// When the process is lost.
    pub fn finish(mut self) -> ExitStatus {
        self.close();
        self.child.wait().unwrap()
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.child.kill(); // most often it has ended
        let _ = self.child.wait();
    }
}
