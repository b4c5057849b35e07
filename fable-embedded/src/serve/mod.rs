//! The device's side of the [protocol](crate::protocol): takes bytes as they come, answers each frame with one.
//!
//! A [`Server`] borrows the learner and its workspace and owns the place where the state is [kept](Keep). It works over a
//! port of `embedded-io` ([`serve`](Server::serve)), of `embedded-io-async` ([`serve_async`](Server::serve_async)), or byte by
//! byte ([`push`](Server::push)) in an interrupt-driven or polled loop. One buffer of [`MAX_FRAME`] bytes serves both directions.
//!
//! ```
//! use fable_core::{Learner, Policy, Settings, Workspace, catalog::TAU2, user_hash};
//! use fable_embedded::protocol::{Draft, Frame, MAX_FRAME, Reply, Request};
//! use fable_embedded::{Server, Volatile};
//!
//! let policy = Policy::new(&TAU2, Settings::default())?;
//! let mut learner = Learner::<f32, [f32; TAU2.state_len()], 8>::VACANT;
//! let mut workspace = Workspace::<f32, [f32; TAU2.workspace_len()]>::VACANT;
//! learner.start(&policy, user_hash("ana"))?;
//! let mut server = Server::new(&policy, &mut learner, &mut workspace, Volatile::<0>::VACANT)?;
//!
//! let mut buffer = [0; MAX_FRAME];
//! let mut answer = vec![];
//! for byte in Draft::request(&mut buffer, 1, &Request::Hello).seal() {
//!     answer.extend_from_slice(server.push(*byte));
//! }
//! answer.pop(); // the delimiter
//! let (Reply::Hello(hello), name) = Frame::open(&mut answer)?.reply()? else { panic!() };
//! assert_eq!((hello.fingerprint, name), (policy.fingerprint(), &b"tau2"[..]));
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```

mod propose;
mod reply;

use crate::keep::{Keep, block_on};
use crate::protocol::{CHUNK, DELIMITER, Draft, Fault, Frame, MAX_FRAME, Reply, Request};
use fable_core::event::DecisionId;
use fable_core::record::MAX_EVENT_LEN;
use fable_core::{Action, Checked, Event, Learner, LearnerError, Policy, PosteriorError, Scalar, Storage, Workspace};
use propose::changes;
use reply::{seal, short};

/// Bytes read from a port at once.
const READ: usize = 32;

/// A device that serves one user.
pub struct Server<'d, T, S, W, K, const R: usize> {
    policy: &'d Policy<'d, T>,
    learner: &'d mut Learner<T, S, R>,
    workspace: &'d mut Workspace<T, W>,
    keep: K,
    buffer: [u8; MAX_FRAME],
    filled: usize,
    oversized: bool,
    last: Option<Last>,
    answered: u32,
    refused: u32,
}

/// The request before, if it changed something.
struct Last {
    sequence: u8,
    sum: u32,
    reply: Acknowledgement,
}

/// What a request that changes something is answered with; kept until the next request.
#[derive(Clone, Copy)]
enum Acknowledgement {
    Done { count: u32 },
    Decided { round: u32, action: u16, baseline: f64 },
}

impl From<Acknowledgement> for Reply {
    fn from(reply: Acknowledgement) -> Self {
        match reply {
            Acknowledgement::Done { count } => Self::Done { count },
            Acknowledgement::Decided { round, action, baseline } => Self::Decided { round, action, baseline },
        }
    }
}

/// What is left to do once the request's bytes are no longer needed: replies with a payload are written in their place.
enum Answer {
    Reply(Reply),
    Acknowledged(Acknowledgement),
    Hello,
    Explanation { id: DecisionId, other: Option<Action>, first: u16 },
    Chunk { offset: u32 },
    Event { index: u32 },
}

impl<'d, T: Scalar, S: Storage<T>, W: Storage<T>, K: Keep, const R: usize> Server<'d, T, S, W, K, R> {
    /// A server for a learner that was started or loaded under this policy.
    ///
    /// # Errors
    /// A learner that is vacant or of another policy, a workspace that is too small.
    pub fn new(
        policy: &'d Policy<'d, T>,
        learner: &'d mut Learner<T, S, R>,
        workspace: &'d mut Workspace<T, W>,
        keep: K,
    ) -> Result<Self, LearnerError> {
        if workspace.capacity() < policy.catalog().workspace_len() {
            return Err(LearnerError::Posterior(PosteriorError::WorkspaceLength));
        }
        learner.check(policy, workspace, &Event::Forget { promise: 0 })?; // only looks
        let buffer = [0; MAX_FRAME];
        Ok(Self { policy, learner, workspace, keep, buffer, filled: 0, oversized: false, last: None, answered: 0, refused: 0 })
    }

    /// The learner.
    #[must_use]
    pub const fn learner(&self) -> &Learner<T, S, R> {
        self.learner
    }

    /// Where the state is kept.
    #[must_use]
    pub const fn keep(&self) -> &K {
        &self.keep
    }

    /// Answers a port until it ends. Storage that waits is polled again and again meanwhile.
    ///
    /// # Errors
    /// What the port returns; the server can go on afterwards.
    pub fn serve<P: embedded_io::Read + embedded_io::Write>(&mut self, port: &mut P) -> Result<(), P::Error> {
        let mut bytes = [0; READ];
        loop {
            let count = port.read(&mut bytes)?;
            if count == 0 {
                return Ok(());
            }
            for byte in bytes.iter().take(count) {
                let mut reply = self.push(*byte);
                if reply.is_empty() {
                    continue;
                }
                // Not `write_all`: it panics when a port takes nothing.
                while !reply.is_empty() {
                    match port.write(reply)? {
                        0 => return Ok(()),
                        written => reply = reply.get(written..).unwrap_or_default(),
                    }
                }
                port.flush()?;
            }
        }
    }

    /// Answers a port until it ends.
    ///
    /// Not to be given up half-way: when the future is dropped while storage is at work, an event may be in the journal and
    /// not in the learner, which then has to be restored from storage.
    ///
    /// # Errors
    /// What the port returns; the server can go on afterwards.
    pub async fn serve_async<P: embedded_io_async::Read + embedded_io_async::Write>(
        &mut self,
        port: &mut P,
    ) -> Result<(), P::Error> {
        let mut bytes = [0; READ];
        loop {
            let count = port.read(&mut bytes).await?;
            if count == 0 {
                return Ok(());
            }
            for byte in bytes.iter().take(count) {
                if !self.take(*byte) {
                    continue;
                }
                let mut reply = self.answer_async().await;
                while !reply.is_empty() {
                    match port.write(reply).await? {
                        0 => return Ok(()),
                        written => reply = reply.get(written..).unwrap_or_default(),
                    }
                }
                port.flush().await?;
            }
        }
    }

    /// Takes one byte and returns the frame to send, mostly an empty one.
    pub fn push(&mut self, byte: u8) -> &[u8] {
        if self.take(byte) { self.answer() } else { &[] }
    }

    /// Takes one byte and returns the frame to send, mostly an empty one. Not to be given up half-way, as
    /// [`serve_async`](Self::serve_async).
    pub async fn push_async(&mut self, byte: u8) -> &[u8] {
        if self.take(byte) { self.answer_async().await } else { &[] }
    }

    /// Takes one byte; whether it ended something that has to be answered.
    fn take(&mut self, byte: u8) -> bool {
        if byte == DELIMITER {
            return self.filled > 0 || self.oversized;
        }
        match self.buffer.get_mut(self.filled).filter(|_| self.filled + 1 < MAX_FRAME) {
            Some(slot) => {
                *slot = byte;
                self.filled += 1;
            }
            None => self.oversized = true,
        }
        false
    }
}

/// What stood before a delimiter.
enum Received<'b> {
    Nothing,
    Refused { sequence: u8, fault: Fault },
    Request { sequence: u8, sum: u32, request: Request, payload: &'b [u8] },
}

#[inline(never)]
fn receive(buffer: &mut [u8; MAX_FRAME], filled: usize, oversized: bool) -> Received<'_> {
    if oversized {
        return Received::Refused { sequence: 0, fault: Fault::Oversized };
    }
    let frame = match Frame::open(buffer.get_mut(..filled).unwrap_or_default()) {
        Ok(frame) if frame.is_reply() => return Received::Nothing,
        Ok(frame) => frame,
        Err(fault) => return Received::Refused { sequence: 0, fault },
    };
    let Frame { sequence, sum, .. } = frame;
    match frame.request() {
        Ok((request, payload)) => Received::Request { sequence, sum, request, payload },
        Err(fault) => Received::Refused { sequence, fault },
    }
}

/// The learner with all it needs to propose and to be asked.
struct Device<'a, 'd, T, S, W, const R: usize> {
    policy: &'d Policy<'d, T>,
    learner: &'a mut Learner<T, S, R>,
    workspace: &'a mut Workspace<T, W>,
}

/// The two forms of what waits for storage, the same text twice. The blocking one is plain code: a state machine would take
/// memory for nothing and link the panic of a future that is polled after its end.
macro_rules! form {
    ($answer:ident, $execute:ident, $wait:ident, $call:ident $(, $async:ident)?) => {
        impl<T: Scalar, S: Storage<T>, W: Storage<T>, K: Keep, const R: usize> Server<'_, T, S, W, K, R> {
            /// The reply to what is in the buffer; empty for what is not answered.
            #[inline(never)]
            $($async)? fn $answer(&mut self) -> &[u8] {
                let Self { policy, learner, workspace, keep, buffer, last, answered, refused, .. } = self;
                let mut device = Device { policy, learner, workspace };
                let filled = core::mem::take(&mut self.filled);
                let (sequence, answer) = match receive(buffer, filled, core::mem::take(&mut self.oversized)) {
                    Received::Nothing => return &[],
                    Received::Refused { sequence, fault } => (sequence, Err(fault)),
                    Received::Request { sequence, sum, request, payload } => {
                        // A request that comes again is answered again and not executed.
                        let again = last.take().filter(|last| last.sequence == sequence && last.sum == sum);
                        let answer = match again {
                            Some(last) => Ok(Answer::Acknowledged(last.reply)),
                            None => $call!(device.$execute(keep, &request, payload, [*answered, *refused])),
                        };
                        if let Ok(Answer::Acknowledged(reply)) = answer {
                            *last = Some(Last { sequence, sum, reply });
                        }
                        (sequence, answer)
                    }
                };
                // The request has been read: its place in the buffer is now the reply's.
                let length = match answer {
                    Ok(Answer::Chunk { offset }) => {
                        let mut draft = Draft::reply(buffer, sequence, &Reply::Chunk { offset });
                        let room = draft.room().get_mut(..CHUNK).unwrap_or_default();
                        match $wait!(keep.read_snapshot(device.learner, offset, room)) {
                            Ok(count) => Ok(seal(draft, count.min(CHUNK))),
                            Err(error) => Err(error.into()),
                        }
                    }
                    Ok(Answer::Event { index }) => {
                        let mut draft = Draft::reply(buffer, sequence, &Reply::Event { index });
                        let room = draft.room().get_mut(..MAX_EVENT_LEN).unwrap_or_default();
                        match $wait!(keep.journal_event(index, room)) {
                            Ok(Some(count)) => Ok(seal(draft, count.min(MAX_EVENT_LEN))),
                            Ok(None) => Err(Fault::Missing),
                            Err(error) => Err(error.into()),
                        }
                    }
                    Ok(answer) => device.write(buffer, sequence, answer),
                    Err(fault) => Err(fault),
                };
                #[cfg(feature = "defmt")]
                if let Err(fault) = &length {
                    defmt::warn!("request {} refused: {}", sequence, fault);
                }
                let counter = if length.is_ok() { answered } else { refused };
                *counter = counter.saturating_add(1);
                let length = length.unwrap_or_else(|fault| seal(Draft::reply(buffer, sequence, &Reply::Fault(fault)), 0));
                self.buffer.get(..length).unwrap_or_default()
            }
        }

        impl<T: Scalar, S: Storage<T>, W: Storage<T>, const R: usize> Device<'_, '_, T, S, W, R> {
            /// Does what a request asks for, up to the bytes of the reply.
            #[inline(never)]
            $($async)? fn $execute<K: Keep>(
                &mut self,
                keep: &mut K,
                request: &Request,
                payload: &[u8],
                frames: [u32; 2],
            ) -> Result<Answer, Fault> {
                let count = match request {
                    Request::Stage { offset } => {
                        $wait!(keep.stage_write(*offset, payload)).map_err(Into::into)?;
                        offset.saturating_add(u32::from(short(payload.len())))
                    }
                    Request::Commit { length } => {
                        $wait!(keep.stage_commit(self.policy, self.learner, *length)).map_err(Into::into)?;
                        #[cfg(feature = "defmt")]
                        defmt::info!("a snapshot of {} bytes from the host is the state now", *length);
                        self.learner.rounds()
                    }
                    Request::Statistics => {
                        let kept = $wait!(keep.statistics()).map_err(Into::into)?;
                        return Ok(Answer::Reply(self.statistics(frames, kept)));
                    }
                    request if changes(request) => {
                        // A change is a sequence of events, each proposed when those before it are applied.
                        let (mut events, mut event) = (0, Event::Forget { promise: 0 });
                        while self.next_event(request, payload, events, &mut event)? {
                            $wait!(keep.room(self.learner)).map_err(Into::into)?;
                            let checked = check(self.learner, self.policy, self.workspace, &event)?;
                            $wait!(keep.append(checked.event())).map_err(Into::into)?;
                            apply(checked);
                            events += 1;
                            if let Event::Decision { round, action, baseline, .. } = event {
                                return Ok(Answer::Acknowledged(Acknowledgement::Decided { round, action: action.0, baseline }));
                            }
                        }
                        match request {
                            Request::Forget => {
                                $wait!(keep.forget(self.learner)).map_err(Into::into)?;
                                #[cfg(feature = "defmt")]
                                defmt::info!("the user is forgotten, incarnation {}", self.learner.incarnation());
                                self.learner.incarnation()
                            }
                            Request::Promote { .. } | Request::Expire { .. } => events,
                            _ => self.learner.observations(),
                        }
                    }
                    request => return self.question(request),
                };
                Ok(Answer::Acknowledged(Acknowledgement::Done { count }))
            }
        }
    };
}

/// Runs a future to its end, in a stack frame of its own: it is large, and gone when the learner needs the stack.
macro_rules! now {
    ($future:expr) => {
        apart(|| block_on($future))
    };
}

#[inline(never)]
fn apart<T>(work: impl FnOnce() -> T) -> T {
    work()
}

/// What has no future.
macro_rules! plain {
    ($value:expr) => {
        $value
    };
}

/// Waits for a future.
macro_rules! later {
    ($future:expr) => {
        $future.await
    };
}

form!(answer, execute, now, plain);
form!(answer_async, execute_async, later, later, async);

fn check<'l, T: Scalar, S: Storage<T>, W: Storage<T>, const R: usize>(
    learner: &'l mut Learner<T, S, R>,
    policy: &'l Policy<'l, T>,
    workspace: &'l mut Workspace<T, W>,
    event: &'l Event,
) -> Result<Checked<'l, T, S, W, R>, Fault> {
    Ok(learner.check(policy, workspace, event)?)
}

fn apply<T: Scalar, S: Storage<T>, W: Storage<T>, const R: usize>(checked: Checked<'_, T, S, W, R>) {
    checked.apply();
}
