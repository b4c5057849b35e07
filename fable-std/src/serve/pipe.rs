//! Requests from a pipe: a line in, a line out, in order.
//!
//! A thread reads lines and hands them on; answers come back in any order and are written in that of the requests. What one request changes
//! for those of other users (who is forgotten, what is counted) waits until everything before it is answered, so that the same
//! lines get the same answers, however many threads there are.

use super::incoming::Incoming;
use super::op::Op;
use super::service::{Service, caught};
use super::worker::Job;
use super::{Answered, MAX_LINE, ServeError};
use fable_core::Catalog;
use std::collections::VecDeque;
use std::io::{Read, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// Bytes that are read at once: what a pipe holds.
const CHUNK: usize = 64 << 10;
/// Requests that are under way; more are not read.
const WINDOW: usize = 8_192;
/// Bytes of answers that are written at once.
const WRITTEN: usize = 64 << 10;

/// Tells a running service to answer what it has read and to stop.
#[derive(Clone, Debug)]
pub struct Stop(Arc<Outbox>);

impl Stop {
    /// Returns when the service knows.
    pub fn stop(&self) {
        self.0.close(None);
    }
}

/// Answers on their way out, in the order of their requests.
#[derive(Debug, Default)]
struct Outbox {
    state: Mutex<State>,
    /// The next answer is there, or the end.
    next: Condvar,
    /// There is room for more requests, or none will be taken.
    room: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// The first one that is not written yet.
    base: u64,
    answers: VecDeque<Option<Vec<u8>>>,
    /// No more requests are taken.
    closed: bool,
    /// Some will never be answered.
    failed: bool,
    /// Why the input ended, if it was not its end.
    error: Option<ServeError>,
}

impl Outbox {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Places for so many requests, in order; `None` when no more are taken.
    fn reserve(&self, count: usize) -> Option<u64> {
        let full = |state: &mut State| {
            !state.closed && !state.answers.is_empty() && state.answers.len() + count > WINDOW
        };
        let mut state = self.room.wait_while(self.state(), full).unwrap_or_else(PoisonError::into_inner);
        let first = state.base + state.answers.len() as u64;
        let length = state.answers.len() + count;
        state.answers.resize(length, None);
        if state.closed {
            state.answers.truncate(length - count);
            return None;
        }
        Some(first)
    }

    /// Waits until everything is answered and written.
    fn wait(&self) {
        let busy = |state: &mut State| !state.failed && !state.answers.is_empty();
        drop(self.room.wait_while(self.state(), busy).unwrap_or_else(PoisonError::into_inner));
    }

    fn put(&self, ticket: u64, answer: Vec<u8>) {
        let mut state = self.state();
        let place = usize::try_from(ticket.wrapping_sub(state.base)).unwrap_or(usize::MAX);
        if let Some(slot) = state.answers.get_mut(place) {
            *slot = Some(answer);
        }
        if place == 0 {
            self.next.notify_all();
        }
    }

    fn close(&self, error: Option<ServeError>) {
        let mut state = self.state();
        state.closed = true;
        if state.error.is_none() {
            state.error = error;
        }
        self.next.notify_all();
        self.room.notify_all();
    }

    fn fail(&self) {
        let mut state = self.state();
        (state.closed, state.failed) = (true, true);
        self.next.notify_all();
        self.room.notify_all();
    }

    /// Writes answers until the last one.
    fn write(&self, output: &mut impl Write) -> Result<(), ServeError> {
        let mut bytes = Vec::new();
        loop {
            bytes.clear();
            {
                let idle = |state: &mut State| {
                    let ready = state.answers.front().is_some_and(Option::is_some);
                    !(ready || state.failed || state.closed && state.answers.is_empty())
                };
                let mut state =
                    self.next.wait_while(self.state(), idle).unwrap_or_else(PoisonError::into_inner);
                while bytes.len() < WRITTEN
                    && let Some(Some(answer)) = state.answers.front_mut()
                {
                    bytes.append(answer);
                    bytes.push(b'\n');
                    state.answers.pop_front();
                    state.base += 1;
                }
                if bytes.is_empty() {
                    return state.error.take().map_or(Ok(()), Err);
                }
            }
            output.write_all(&bytes).and_then(|()| output.flush()).map_err(ServeError::Output)?;
            self.room.notify_all();
        }
    }
}

/// Serves a pipe until the input ends or `ready`'s [`Stop`] is used.
pub(super) fn run(
    service: &Service,
    input: impl Read + Send + 'static,
    mut output: impl Write,
    ready: impl FnOnce(Stop),
) -> Result<(), ServeError> {
    let outbox = Arc::new(Outbox::default());
    let bell = Arc::clone(&outbox);
    service.on_failure(move || bell.fail());
    ready(Stop(Arc::clone(&outbox)));
    // The reader is left alone at the end: it may be waiting for input that never comes.
    let (service, lines) = (service.clone(), Arc::clone(&outbox));
    let reader = move || {
        let done = caught("reader", || {
            read(service.catalog(), input, |requests| hand_on(&service, &lines, requests))
        });
        lines.close(done.err());
    };
    thread::Builder::new().name("reader".into()).spawn(reader).map_err(ServeError::Output)?;
    let _done = Done(&outbox);
    outbox.write(&mut output)
}

/// Nobody writes answers any more, also after a panic: there may be no end of the input, and the reader is not to wait.
struct Done<'o>(&'o Outbox);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.fail();
    }
}

/// Whether what a request does, or says, depends on those of other users before it.
fn stands_alone(incoming: &Incoming) -> bool {
    matches!(incoming.op, Ok(Op::Forget { .. } | Op::Export { .. } | Op::Backup { .. } | Op::Stats))
}

/// Hands requests on in order; false when no more are taken.
fn hand_on(service: &Service, outbox: &Arc<Outbox>, requests: Vec<Incoming>) -> bool {
    let mut requests = requests.into_iter().peekable();
    while let Some(next) = requests.peek() {
        let alone = stands_alone(next);
        let mut some = vec![];
        if alone {
            outbox.wait();
            some.extend(requests.next());
        } else {
            while let Some(request) = requests.next_if(|request| !stands_alone(request)) {
                some.push(request);
            }
        }
        let Some(first) = outbox.reserve(some.len()) else { return false };
        let job = |(ticket, incoming): (u64, Incoming)| {
            let outbox = Arc::clone(outbox);
            Job { incoming, reply: Box::new(move |Answered { json, .. }| outbox.put(ticket, json)) }
        };
        if !service.submit_all((first..).zip(some).map(job).collect()) {
            return false;
        }
        if alone {
            outbox.wait();
        }
    }
    true
}

/// Splits the input into lines and reads them, until `take` takes no more. An error comes when the lines before it are handed on.
fn read(
    catalog: &Catalog<'_>,
    mut input: impl Read,
    mut take: impl FnMut(Vec<Incoming>) -> bool,
) -> Result<(), ServeError> {
    let (mut buffer, mut filled, mut skipping) = (vec![0; CHUNK], 0, false);
    loop {
        if filled == buffer.len() {
            buffer.resize((2 * filled).min(MAX_LINE + 1), 0);
        }
        let count = match input.read(buffer.get_mut(filled..).unwrap_or_default()) {
            Ok(count) => count,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(ServeError::Input(error)),
        };
        let ended = count == 0;
        filled += count;
        let mut requests = Vec::new();
        let mut rest = buffer.get(..filled).unwrap_or_default();
        while let Some(end) = memchr::memchr(b'\n', rest) {
            let (line, behind) = rest.split_at(end);
            if !std::mem::take(&mut skipping) {
                requests.push(if line.len() > MAX_LINE {
                    Incoming::too_long(MAX_LINE)
                } else {
                    Incoming::read(catalog, line)
                });
            }
            rest = behind.get(1..).unwrap_or_default();
        }
        if rest.len() > MAX_LINE {
            if !std::mem::replace(&mut skipping, true) {
                requests.push(Incoming::too_long(MAX_LINE));
            }
            rest = &[];
        } else if skipping {
            rest = &[];
        } else if ended && !rest.is_empty() {
            requests.push(Incoming::read(catalog, rest));
        }
        let (left, start) = (rest.len(), filled - rest.len());
        buffer.copy_within(start..filled, 0);
        filled = left;
        if !requests.is_empty() && !take(requests) || ended {
            return Ok(());
        }
    }
}
