//! The device's side of the [protocol](fable_wire): takes bytes as they come, answers each frame with one.
//!
//! A [`Server`] answers for a [`Device`]. It works over a port of `embedded-io` ([`serve`](Server::serve)), of
//! `embedded-io-async` ([`serve_async`](Server::serve_async)), or byte by byte ([`push`](Server::push)) in an interrupt-driven or
//! polled loop. One buffer of [`MAX_FRAME`] bytes serves both directions. An application that decides for itself shares the user
//! with the host: between two frames it goes on with [`server.device()`](Server::device). What has futures is not to be
//! given up half-way, as for a [device](crate::device).
//!
//! A request that changes something and comes again, after a reset too, is answered again and not done again. Whoever can write
//! to the port can ask for everything, unless the server has a key (`Server::keyed`, feature `keyed`); how often the flash may be erased for
//! them is counted, and how many requests that write are taken is the application's to say ([`limit`](Server::limit)).
//!
//! ```
//! use fable_core::{Feasible, Learner, Policy, Settings, Workspace, catalog::TAU2, user_hash};
//! use fable_embedded::wire::{Draft, Frame, MAX_FRAME, Reply, Request, WireContext};
//! use fable_embedded::{Device, Server, Volatile};
//!
//! let policy = Policy::new(&TAU2, Settings::default())?;
//! let mut learner: Learner<f32, [f32; TAU2.state_len()], 8> = const { Learner::new(&TAU2) };
//! let mut workspace: Workspace<f32, [f32; TAU2.workspace_len()]> = const { Workspace::new(&TAU2) };
//! let mut keep = Volatile::<0>::EMPTY;
//! learner.start(&policy, user_hash("ana"))?;
//! let mut server = Server::new(Device::new(learner.bind(&policy, &mut workspace)?, &mut keep));
//!
//! // The application decides ...
//! let (context, all) = (TAU2.context(None, [])?, Feasible::all(&TAU2));
//! let decision = server.device().decide(&fable_core::Request::new(&context, &all))?;
//!
//! // ... and a host tells how it went.
//! let request = Request::Feedback { incarnation: 0, round: decision.id.round, reward: 0.5, weight: 1.0, now: 0 };
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
use crate::keep::{AsyncKeep, Keep};
use crate::receipt::Acknowledgement;
use fable_core::journal::Command;
use fable_core::preference::ProbeOutcomes;
use fable_core::record::MAX_EVENT_LEN;
use fable_core::{Decision, Scalar, UserError};
use fable_forms::blocking;
use fable_wire::{CHUNK, DELIMITER, Defaults, Draft, Fault, MAX_FRAME, Reply, Request, WireContext};
use guard::Guard;
use reply::{Answer, seal};
use request::{Received, SCORES, changes, erases, learns, read_command, read_terms, receive, writes};

/// Bytes read from a port at once.
const READ: usize = 32;

/// A device that answers a host.
#[derive(Debug)]
pub struct Server<'u, T, K> {
    pub(crate) device: Device<'u, T, K>,
    buffer: [u8; MAX_FRAME],
    filled: usize,
    oversized: bool,
    guard: Guard,
    may: fn(&Request) -> bool,
    answered: u32,
    refused: u32,
}

impl<'u, T: Scalar, K> Server<'u, T, K> {
    /// A server that has answered nothing yet.
    #[must_use]
    pub const fn new(device: Device<'u, T, K>) -> Self {
        Self::guarded(device, Guard::new())
    }

    /// A server that answers only who has the key.
    ///
    /// The `nonce` has to be another one at every start of the device, forever: 64 bits of a true random number generator
    /// ([`entropy::seed`](crate::entropy::seed)), or a number that the device keeps and counts up before it serves. With a nonce
    /// that comes again somebody who has recorded what was said then could say it once more.
    #[cfg(feature = "keyed")]
    #[must_use]
    pub const fn keyed(device: Device<'u, T, K>, key: fable_wire::Key, nonce: u64) -> Self {
        Self::guarded(device, Guard::keyed(key, nonce))
    }

    const fn guarded(device: Device<'u, T, K>, guard: Guard) -> Self {
        let (answered, refused) = (0, 0);
        Self {
            device,
            buffer: [0; MAX_FRAME],
            filled: 0,
            oversized: false,
            guard,
            may: |_| true,
            answered,
            refused,
        }
    }

    /// Asks the application before each request that writes to storage: those it does not let through are refused with
    /// [`Fault::Limited`]. It is the place for a limit in time, which only the application knows; what such requests cost is
    /// said with the [flash store](crate::flash#wear). A request that was done before is answered again without it.
    #[must_use]
    pub const fn limit(mut self, may: fn(&Request) -> bool) -> Self {
        self.may = may;
        self
    }

    /// The device, for the application's own decisions.
    pub const fn device(&mut self) -> &mut Device<'u, T, K> {
        &mut self.device
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

#[blocking]
impl<T: Scalar, K: AsyncKeep> Server<'_, T, K> {
    /// Answers a port until it ends, or until the user begins from another prior: the storage is
    /// [outdated](crate::Keep::outdated) then.
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
                let mut reply = self.push_async(*byte).await;
                if reply.is_empty() {
                    continue;
                }
                // Not `write_all`: it panics when a port takes nothing.
                while !reply.is_empty() {
                    match port.write(reply).await? {
                        0 => return Ok(()),
                        written => reply = reply.get(written..).unwrap_or_default(),
                    }
                }
                port.flush().await?;
                if self.device.keep.outdated() {
                    return Ok(());
                }
            }
        }
    }

    /// Takes one byte and returns the frame to send, mostly an empty one.
    pub async fn push_async(&mut self, byte: u8) -> &[u8] {
        if self.take(byte) { self.answer_async().await } else { &[] }
    }

    /// The reply to what is in the buffer; empty for what is not answered.
    #[inline(never)]
    async fn answer_async(&mut self) -> &[u8] {
        let Self { device, buffer, guard, may, answered, refused, .. } = self;
        let filled = core::mem::take(&mut self.filled);
        let (sequence, stamp, answer) =
            match receive(buffer, filled, core::mem::take(&mut self.oversized), guard) {
                Received::Nothing => return &[],
                Received::Refused { sequence, stamp, fault } => (sequence, stamp, Err(fault)),
                #[cfg(feature = "keyed")]
                Received::Request { sequence, request: Request::Open { nonce }, .. } => {
                    match guard.open(nonce) {
                        Ok((reply, stamp)) => (sequence, stamp, Ok(Answer::Reply(reply))),
                        Err(fault) => (sequence, guard::Stamp::NONE, Err(fault)),
                    }
                }
                Received::Request { sequence, stamp, ticket, request, payload } => {
                    let done = if writes(&request) {
                        device.admit_async(ticket, &request, *may).await
                    } else {
                        Ok(None)
                    };
                    let answer = match done {
                        Err(fault) => Err(fault),
                        Ok(Some(reply)) => Ok(Answer::Acknowledged(reply)),
                        Ok(None) => device.execute_async(&request, payload, [*answered, *refused]).await,
                    };
                    if writes(&request) {
                        let reply =
                            if let Ok(Answer::Acknowledged(reply)) = &answer { Some(*reply) } else { None };
                        device.keep.receipts().end(reply);
                    }
                    (sequence, stamp, answer)
                }
            };
        // The request has been read: its place in the buffer is now the reply's.
        let length = match answer {
            Ok(Answer::Chunk { offset }) => {
                let mut draft = Draft::reply(buffer, sequence, &Reply::Chunk { offset });
                let room = draft.free().get_mut(..CHUNK).unwrap_or_default();
                let read = device.keep.read_snapshot(&device.user, offset, room).await;
                read.map(|count| seal(draft, count, stamp)).map_err(Into::into)
            }
            Ok(Answer::Prior { next, offset }) => {
                let mut draft = Draft::reply(buffer, sequence, &Reply::Chunk { offset });
                let room = draft.free().get_mut(..CHUNK).unwrap_or_default();
                let read = device.keep.read_prior(next, offset, room).await;
                read.map(|count| seal(draft, count, stamp)).map_err(Into::into)
            }
            Ok(Answer::Event { index }) => {
                let mut draft = Draft::reply(buffer, sequence, &Reply::Event { index });
                let room = draft.free().get_mut(..MAX_EVENT_LEN).unwrap_or_default();
                let read = device.keep.read_event(index, room).await;
                read.map_err(Into::into)
                    .and_then(|count| Ok(seal(draft, count.ok_or(Fault::Missing)?, stamp)))
            }
            Ok(answer) => reply::write(&mut device.user, buffer, (sequence, stamp), answer),
            Err(fault) => Err(fault),
        };
        #[cfg(feature = "defmt")]
        if let Err(fault) = &length {
            defmt::warn!("request {} refused: {}", sequence, fault);
        }
        let counter = if length.is_ok() { answered } else { refused };
        *counter = counter.saturating_add(1);
        let length = length
            .unwrap_or_else(|fault| seal(Draft::reply(buffer, sequence, &Reply::Fault(fault)), 0, stamp));
        self.buffer.get(..length).unwrap_or_default()
    }
}

#[blocking]
impl<T: Scalar, K: AsyncKeep> Device<'_, T, K> {
    /// Begins a request that writes: what it was answered with, if it was done before. It has a stack frame of its own, which is
    /// gone when the request is done.
    #[inline(never)]
    async fn admit_async(
        &mut self,
        ticket: u32,
        request: &Request,
        may: fn(&Request) -> bool,
    ) -> Result<Option<Acknowledgement>, Fault> {
        let done = self.keep.receipts().begin(ticket, request);
        if done.is_some() {
            if matches!(request, Request::Forget) && !self.keep.receipts().is_finished() {
                self.keep.forget(&self.user).await.map_err(Into::into)?; // what was left to erase
            }
        } else if !may(request)
            || (erases(request) && !self.keep.spend(&self.user).await.map_err(Into::into)?)
        {
            return Err(Fault::Limited);
        }
        Ok(done)
    }

    /// Does what a request asks for, up to the bytes of the reply.
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
                self.keep.stage_write(*offset, payload).await.map_err(Into::into)?;
                offset.saturating_add(u32::from(reply::short(payload.len())))
            }
            Request::Commit { length } => {
                self.keep.stage_commit(&mut self.user, *length).await.map_err(Into::into)?;
                #[cfg(feature = "defmt")]
                defmt::info!("a snapshot of {} bytes from the host is the state now", *length);
                self.user.state().rounds()
            }
            Request::CommitPrior { length } => {
                self.keep.commit_prior(self.user.policy(), *length).await.map_err(Into::into)?;
                #[cfg(feature = "defmt")]
                defmt::info!(
                    "a prior of {} bytes from the host counts from the next incarnation on",
                    *length
                );
                *length
            }
            Request::Statistics => {
                let kept = self.keep.statistics().await.map_err(Into::into)?;
                return Ok(Answer::Reply(reply::statistics(&self.user, frames, kept)));
            }
            Request::Decide { context, time: at } => {
                return self.choose_async(context, Some(*at), payload).await;
            }
            Request::Recommend { context } => return self.choose_async(context, None, payload).await,
            request if changes(request) => return self.change_async(request, payload).await,
            request => return reply::question(&mut self.user, request),
        };
        Ok(Answer::Acknowledged(Acknowledgement::Done { count }))
    }

    /// Makes a decision, or without a time says what is best by what is known.
    #[inline(never)]
    async fn choose_async(
        &mut self,
        context: &WireContext,
        at: Option<u32>,
        payload: &[u8],
    ) -> Result<Answer, Fault> {
        let mut own = Defaults::<SCORES>::new();
        let (context, feasible) = read_terms(&self.user, context, payload, &mut own)?;
        let defaults = (!own.is_empty()).then_some(own.as_slice());
        let request =
            fable_core::Request { context: &context, feasible: &feasible, defaults, time: at.unwrap_or(0) };
        if at.is_none() {
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

    /// Does what another request to change something asks for.
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
            // With those that were done before a reset, if it is the same request.
            Request::Promote { .. } | Request::Expire { .. } => self.keep.receipts().counted(),
            _ => self.user.state().observations(),
        };
        Ok(Answer::Acknowledged(Acknowledgement::Done { count }))
    }
}
