//! Standard error that makes nobody wait: lines are queued, and a thread of its own writes them.
//!
//! Whoever started the command may not read what it says, and a pipe that is full would stop the whole service at its next line.
//! Here the queue fills instead, then lines are left out, and how many is told when somebody reads again.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// Bytes of the log that wait to be read.
const QUEUE: usize = 1 << 20;
/// How long the end of the command waits for a reader.
const PATIENCE: Duration = Duration::from_secs(1);

static QUEUED: Queue = Queue { waiting: Mutex::new(Waiting::EMPTY), changed: Condvar::new() };

/// What a command ends with. It has its place in the queue in any case.
pub(crate) fn line(text: &str) {
    say(format!("{text}\n").into_bytes(), usize::MAX);
}

fn say(line: Vec<u8>, room: usize) {
    if QUEUED.push(line, room) {
        let writer = || QUEUED.write(&mut io::stderr());
        if thread::Builder::new().name("stderr".into()).spawn(writer).is_err() {
            QUEUED.pour(&mut io::stderr()); // it may have to wait then, but says something
        }
    }
}

/// Waits until everything is written, or nobody reads it.
pub(crate) fn flush() {
    QUEUED.flush(PATIENCE);
}

/// What the log is written to: each event is one call.
pub(crate) struct Log;

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        say(bytes.to_vec(), QUEUE);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

struct Queue {
    waiting: Mutex<Waiting>,
    changed: Condvar,
}

struct Waiting {
    lines: VecDeque<Vec<u8>>,
    bytes: usize,
    /// Lines that had no room.
    left_out: u64,
    /// Whether there is a thread that writes.
    started: bool,
    /// Whether it is writing a line just now.
    writing: bool,
}

impl Waiting {
    const EMPTY: Self =
        Self { lines: VecDeque::new(), bytes: 0, left_out: 0, started: false, writing: false };

    fn next(&mut self) -> Option<Vec<u8>> {
        let line = self.lines.pop_front();
        if let Some(line) = &line {
            self.bytes -= line.len();
        } else if self.left_out > 0 {
            let count = std::mem::take(&mut self.left_out);
            return Some(
                format!("fable: {count} more lines were left out, for nobody has read them\n").into_bytes(),
            );
        }
        line
    }
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// `true` when a writer is needed.
    fn push(&self, line: Vec<u8>, room: usize) -> bool {
        let mut waiting = self.lock();
        if waiting.bytes + line.len() > room {
            waiting.left_out += 1;
        } else {
            waiting.bytes += line.len();
            waiting.lines.push_back(line);
        }
        self.changed.notify_all();
        !std::mem::replace(&mut waiting.started, true)
    }

    /// Writes what comes, for ever. Nothing can be done about an error.
    fn write(&self, output: &mut impl Write) {
        loop {
            self.pour(output);
            let waiting = self.lock();
            drop(
                self.changed.wait_while(waiting, |waiting| waiting.lines.is_empty() && waiting.left_out == 0),
            );
        }
    }

    /// Writes what is there.
    fn pour(&self, output: &mut impl Write) {
        let mut waiting = self.lock();
        while let Some(line) = waiting.next() {
            waiting.writing = true;
            drop(waiting);
            let _ = output.write_all(&line);
            waiting = self.lock();
            waiting.writing = false;
        }
        self.changed.notify_all();
    }

    fn flush(&self, patience: Duration) {
        let unwritten =
            |waiting: &mut Waiting| !waiting.lines.is_empty() || waiting.left_out > 0 || waiting.writing;
        drop(self.changed.wait_timeout_while(self.lock(), patience, unwritten));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::time::Instant;

    /// A pipe that nobody reads: no line and no flush waits for it, and later it says how many there were.
    #[test]
    fn a_full_pipe_makes_nobody_wait() {
        let queue: &'static Queue =
            Box::leak(Box::new(Queue { waiting: Mutex::new(Waiting::EMPTY), changed: Condvar::new() }));
        let (mut reader, mut writer) = io::pipe().unwrap();
        let line = |number: u32| format!("{number:<999}\n").into_bytes();
        assert!(queue.push(line(0), QUEUE));
        thread::spawn(move || queue.write(&mut writer));
        let started = Instant::now();
        for number in 1..5_000 {
            assert!(!queue.push(line(number), QUEUE));
        }
        queue.flush(Duration::from_millis(100));
        assert!(started.elapsed() < Duration::from_secs(10));
        let left_out = queue.lock().left_out;
        assert!(left_out > 3_000, "{left_out}");

        let (mut text, mut buffer) = (String::new(), vec![0; 1 << 16]);
        while !text.ends_with("read them\n") {
            let count = reader.read(&mut buffer).unwrap();
            text.push_str(std::str::from_utf8(&buffer[..count]).unwrap());
        }
        queue.flush(Duration::from_secs(10));
        let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
        let kept = 5_000 - left_out as usize;
        assert_eq!(lines.len(), kept + 1);
        // In order; which ones were left out depends on when the other thread begins to write.
        let numbers: Vec<u32> = lines[..kept].iter().map(|line| line.parse().unwrap()).collect();
        assert!(numbers[0] == 0 && numbers.is_sorted_by(|one, next| one < next));
        assert_eq!(
            lines[kept],
            format!("fable: {left_out} more lines were left out, for nobody has read them")
        );
        // It goes on afterwards.
        assert!(!queue.push(b"again\n".to_vec(), QUEUE));
        let count = reader.read(&mut buffer).unwrap();
        assert_eq!(&buffer[..count], b"again\n");
    }
}
