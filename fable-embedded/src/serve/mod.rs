//! The device's side of the message protocol [`wire`](crate::wire): a server that answers each frame with one
//! frame.
//!
//! A [`Server`] answers for a [`Device`]. It works over a port of `embedded-io` ([`serve`](Server::serve)),
//! over a port of `embedded-io-async` ([`serve_async`](Server::serve_async)), or byte by byte
//! ([`push`](Server::push)) in an interrupt-driven or polled loop. One buffer of [`MAX_FRAME`] bytes serves
//! both directions. An application that decides itself shares the user with the host: between two frames it
//! calls [`server.device()`](Server::device). Do not drop a future of the server before its end, as for a
//! [device](crate::device).
//!
//! A repeated request that changes something is answered again and not executed again, also after a reset. A
//! host without a key can send every request. A server with a key (`Server::keyed`, feature `keyed`) answers
//! only sealed requests. The store limits erases for hosts, and [`limit`](Server::limit) lets the application
//! limit requests that write.
//!
//! ```
//! use fable_core::{Feasible, Learner, Policy, Settings, Workspace, catalog::TAU2, user_hash};
//! use fable_embedded::wire::{Draft, Frame, MAX_FRAME, Reply, Request};
//! use fable_embedded::{Device, RamStore, Server};
//!
//! let policy = Policy::new(&TAU2, Settings::default())?;
//! let mut learner: Learner<f32, [f32; TAU2.state_len()], 8> = const { Learner::new(&TAU2) };
//! let mut workspace: Workspace<f32, [f32; TAU2.workspace_len()]> = const { Workspace::new(&TAU2) };
//! let mut store = RamStore::<0>::EMPTY;
//! learner.start(&policy, user_hash("ana"))?;
//! let mut server = Server::new(Device::new(learner.bind(&policy, &mut workspace)?, &mut store));
//!
//! // The application decides ...
//! let (context, all) = (TAU2.context(None, [])?, Feasible::all(&TAU2));
//! let decision = server.device().decide(&fable_core::Request::new(&context, &all))?;
//!
//! // ... and a host sends the reward.
//! let round = decision.id.round;
//! let request = Request::Feedback { incarnation: 0, round, reward: 0.5, weight: 1.0, time: 0 };
//! let (mut buffer, mut answer) = ([0; MAX_FRAME], vec![]);
//! for byte in Draft::request(&mut buffer, 1, &request).seal() {
//!     answer.extend_from_slice(server.push(*byte));
//! }
//! answer.pop(); // the delimiter
//! assert_eq!(Frame::open(&mut answer)?.reply()?.0, Reply::Done { count: 1 });
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```

mod guard;
mod reply;
mod request;

use crate::Device;
use crate::reply_cache::Acknowledgement;
use crate::store::{AsyncUserStore, RamError, UserStore};
use fable_core::journal::Command;
use fable_core::preference::ProbeOutcomes;
use fable_core::record::MAX_EVENT_LEN;
use fable_core::{Decision, Scalar, UserError};
use fable_forms::blocking;
use fable_wire::{
    CHUNK, DELIMITER, Defaults, Draft, Fault, MAX_FRAME, Reply, Request, StorageFault, WireContext,
};
use guard::Guard;
use reply::{Answer, seal};
use request::{Received, SCORES, changes, erases, learns, read_command, read_terms, receive, scope, writes};

/// Bytes read from a port at once.
const READ: usize = 32;

impl From<RamError> for Fault {
    #[inline(never)]
    fn from(error: RamError) -> Self {
        match error {
            RamError::User(error) => error.into(),
            RamError::Record(error) => error.into(),
            RamError::Unsupported => StorageFault::Unsupported.into(),
            RamError::Full => StorageFault::Full.into(),
            RamError::Order => StorageFault::Order.into(),
        }
    }
}

/// A device that answers a host.
#[derive(Debug)]
pub struct Server<'u, T, S> {
    pub(crate) device: Device<'u, T, S>,
    buffer: [u8; MAX_FRAME],
    filled: usize,
    oversized: bool,
    guard: Guard,
    allow: fn(&Request) -> bool,
    answered: u32,
    refused: u32,
}

impl<'u, T: Scalar, S> Server<'u, T, S> {
    /// Creates a server without a key.
    #[must_use]
    pub const fn new(device: Device<'u, T, S>) -> Self {
        Self::guarded(device, Guard::new())
    }

    /// Creates a server that answers only requests that are sealed with the key.
    ///
    /// The `nonce` has to be unique among all starts of the device: 64 bits of a true random number generator
    /// ([`entropy::seed`](crate::entropy::seed)), or a stored counter that is incremented before the server
    /// starts. With a repeated nonce an attacker can replay a recorded session.
    #[cfg(feature = "keyed")]
    #[must_use]
    pub const fn keyed(device: Device<'u, T, S>, key: fable_wire::Key, nonce: u64) -> Self {
        Self::guarded(device, Guard::keyed(key, nonce))
    }

    const fn guarded(device: Device<'u, T, S>, guard: Guard) -> Self {
        let (answered, refused) = (0, 0);
        Self {
            device,
            buffer: [0; MAX_FRAME],
            filled: 0,
            oversized: false,
            guard,
            allow: |_| true,
            answered,
            refused,
        }
    }

    /// Sets a function that allows or refuses each request that writes to the store. Refused requests get
    /// [`Fault::Limited`].
    ///
    /// An application can limit requests per day here. The [flash store](crate::flash#wear) states their
    /// cost. A repeated request is answered without this check.
    #[must_use]
    pub const fn limit(mut self, allow: fn(&Request) -> bool) -> Self {
        self.allow = allow;
        self
    }

    /// Returns the device, for the application's own decisions.
    pub const fn device(&mut self) -> &mut Device<'u, T, S> {
        &mut self.device
    }

    /// Takes one byte. Returns true at the end of a frame.
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

#[blocking]
impl<T: Scalar, S: AsyncUserStore<Error: Into<Fault>>> Server<'_, T, S> {
    /// Answers a port until the port ends, or until the store is [outdated](crate::UserStore::outdated): the
    /// user begins from another prior then.
    ///
    /// # Errors
    /// An error of the port. The server can be called again.
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
                let mut reply = self.push_async(*byte).await;
                if reply.is_empty() {
                    continue;
                }
                // `write_all` would panic if a port takes nothing.
                while !reply.is_empty() {
                    match port.write(reply).await? {
                        0 => return Ok(()),
                        written => reply = reply.get(written..).unwrap_or_default(),
                    }
                }
                port.flush().await?;
                if self.device.store.outdated() {
                    return Ok(());
                }
            }
        }
    }

    /// Takes one byte and returns the frame to send, which is empty for most bytes.
    pub async fn push_async(&mut self, byte: u8) -> &[u8] {
        if self.take(byte) { self.answer_async().await } else { &[] }
    }

    /// Answers the frame in the buffer. Returns an empty slice for a frame without a reply.
    #[inline(never)]
    async fn answer_async(&mut self) -> &[u8] {
        let Self { device, buffer, guard, allow, answered, refused, .. } = self;
        let filled = core::mem::take(&mut self.filled);
        let (sequence, reply_seal, answer) =
            match receive(buffer, filled, core::mem::take(&mut self.oversized), guard) {
                Received::Nothing => return &[],
                Received::Refused { sequence, seal, fault } => (sequence, seal, Err(fault)),
                #[cfg(feature = "keyed")]
                Received::Request { sequence, request: Request::Open { nonce }, .. } => {
                    match guard.open(nonce) {
                        Ok((reply, seal)) => (sequence, seal, Ok(Answer::Reply(reply))),
                        Err(fault) => (sequence, guard::ReplySeal::NONE, Err(fault)),
                    }
                }
                Received::Request { sequence, seal, request_id, request, payload } => {
                    let done = if writes(&request) {
                        device.admit_async(request_id, &request, *allow).await
                    } else {
                        Ok(None)
                    };
                    let answer = match done {
                        Err(fault) => Err(fault),
                        Ok(Some(reply)) => Ok(Answer::Acknowledged(reply)),
                        Ok(None) => device.execute_async(&request, payload, [*answered, *refused]).await,
                    };
                    if writes(&request)
                        && let Some(replies) = device.store.replies()
                    {
                        let reply =
                            if let Ok(Answer::Acknowledged(reply)) = &answer { Some(*reply) } else { None };
                        replies.end(reply);
                    }
                    (sequence, seal, answer)
                }
            };
        // The request was read. The reply is written to the same buffer.
        let length = match answer {
            Ok(Answer::Chunk { offset }) => {
                let mut draft = Draft::reply(buffer, sequence, &Reply::Chunk { offset });
                let free = draft.free().get_mut(..CHUNK).unwrap_or_default();
                let read = device.store.read_snapshot(&device.user, offset, free).await;
                read.map(|count| seal(draft, count, reply_seal)).map_err(Into::into)
            }
            Ok(Answer::Prior { next, offset }) => {
                let mut draft = Draft::reply(buffer, sequence, &Reply::Chunk { offset });
                let free = draft.free().get_mut(..CHUNK).unwrap_or_default();
                let read = device.store.read_prior(next, offset, free).await;
                read.map(|count| seal(draft, count, reply_seal)).map_err(Into::into)
            }
            Ok(Answer::Event { index }) => {
                let mut draft = Draft::reply(buffer, sequence, &Reply::Event { index });
                let free = draft.free().get_mut(..MAX_EVENT_LEN).unwrap_or_default();
                let read = device.store.read_event(index, free).await;
                read.map_err(Into::into)
                    .and_then(|count| Ok(seal(draft, count.ok_or(Fault::Missing)?, reply_seal)))
            }
            Ok(answer) => reply::write(&mut device.user, buffer, (sequence, reply_seal), answer),
            Err(fault) => Err(fault),
        };
        #[cfg(feature = "defmt")]
        if let Err(fault) = &length {
            defmt::warn!("request {} refused: {}", sequence, fault);
        }
        let counter = if length.is_ok() { answered } else { refused };
        *counter = counter.saturating_add(1);
        let length = length.unwrap_or_else(|fault| {
            seal(Draft::reply(buffer, sequence, &Reply::Fault(fault)), 0, reply_seal)
        });
        self.buffer.get(..length).unwrap_or_default()
    }
}

#[blocking]
impl<T: Scalar, S: AsyncUserStore<Error: Into<Fault>>> Device<'_, T, S> {
    /// Begins a request that writes. Returns its reply if the request was executed before.
    ///
    /// Its stack frame ends before the request is executed.
    #[inline(never)]
    async fn admit_async(
        &mut self,
        request_id: u32,
        request: &Request,
        allow: fn(&Request) -> bool,
    ) -> Result<Option<Acknowledgement>, Fault> {
        let replies = self.store.replies().ok_or(StorageFault::Unsupported)?;
        let (done, is_finished) = (replies.begin(request_id, scope(request)), replies.is_finished());
        if done.is_some() {
            if matches!(request, Request::Forget) && !is_finished {
                self.store.forget(&self.user).await.map_err(Into::into)?; // completes the erase
            }
        } else if !allow(request)
            || (erases(request) && !self.store.allow_erase(&self.user).await.map_err(Into::into)?)
        {
            return Err(Fault::Limited);
        }
        Ok(done)
    }

    /// Executes a request, up to the bytes of the reply.
    #[inline(never)]
    async fn execute_async(
        &mut self,
        request: &Request,
        payload: &[u8],
        frames: [u32; 2],
    ) -> Result<Answer, Fault> {
        let stages =
            matches!(request, Request::Stage { .. } | Request::Commit { .. } | Request::CommitPrior { .. });
        if !cfg!(feature = "staging") && stages {
            return Err(UserError::Unsupported.into());
        }
        let count = match request {
            Request::Stage { offset } => {
                self.store.stage_write(*offset, payload).await.map_err(Into::into)?;
                offset.saturating_add(u32::from(reply::short(payload.len())))
            }
            Request::Commit { length } => {
                self.store.stage_commit(&mut self.user, *length).await.map_err(Into::into)?;
                #[cfg(feature = "defmt")]
                defmt::info!("a snapshot of {} bytes from the host is the state now", *length);
                self.user.state().rounds()
            }
            Request::CommitPrior { length } => {
                self.store.commit_prior(self.user.policy(), *length).await.map_err(Into::into)?;
                #[cfg(feature = "defmt")]
                defmt::info!(
                    "a prior of {} bytes from the host counts from the next incarnation on",
                    *length
                );
                *length
            }
            Request::Statistics => {
                let usage = self.store.usage().await.map_err(Into::into)?;
                return Ok(Answer::Reply(reply::statistics(&self.user, frames, usage)));
            }
            Request::Decide { context, time } => {
                return self.choose_async(context, Some(*time), payload).await;
            }
            Request::Recommend { context } => return self.choose_async(context, None, payload).await,
            request if changes(request) => return self.change_async(request, payload).await,
            request => return reply::question(&mut self.user, request),
        };
        Ok(Answer::Acknowledged(Acknowledgement::Done { count }))
    }

    /// Makes a decision, or without a time recommends the action with the highest mean score.
    #[inline(never)]
    async fn choose_async(
        &mut self,
        context: &WireContext,
        time: Option<u32>,
        payload: &[u8],
    ) -> Result<Answer, Fault> {
        let mut own = Defaults::<SCORES>::new();
        let (context, feasible) = read_terms(&self.user, context, payload, &mut own)?;
        let defaults = (!own.is_empty()).then_some(own.as_slice());
        let request =
            fable_core::Request { context: &context, feasible: &feasible, defaults, time: time.unwrap_or(0) };
        if time.is_none() {
            let (action, score) = self.user.recommend(&request)?;
            let (action, baseline) = (action.0, score.to_f64());
            return Ok(Answer::Reply(Reply::Decided {
                round: 0,
                action,
                baseline,
                probes: ProbeOutcomes::new(),
            }));
        }
        let Decision { id, action, baseline } = self.decide_async(&request).await.map_err(Into::into)?;
        Ok(Answer::Acknowledged(Acknowledgement::Decided { round: id.round, action: action.0, baseline }))
    }

    /// Executes another request that changes something.
    #[inline(never)]
    async fn change_async(&mut self, request: &Request, payload: &[u8]) -> Result<Answer, Fault> {
        let (mut context, mut command) = (None, Command::forget());
        read_command(&self.user, request, payload, &mut context, &mut command)?;
        let done = if learns(request) {
            self.learn_async(&mut command).await
        } else {
            self.run_async(&mut command).await
        };
        done.map_err(Into::into)?;
        let count = match request {
            Request::Forget => self.user.state().incarnation(),
            // Includes the events before a reset, if the request was repeated.
            Request::Promote { .. } | Request::Expire { .. } => {
                self.store.replies().map_or(0, |replies| replies.counted())
            }
            _ => self.user.state().observations(),
        };
        Ok(Answer::Acknowledged(Acknowledgement::Done { count }))
    }
}
