//! A host that asks everything: a port that gives the frames of a fixed conversation and reads the replies.

use crate::{context, reward};
use core::convert::Infallible;
use embedded_io::{ErrorType, Read, Write};
use fable_core::Catalog;
use fable_embedded::wire::{
    CHUNK, DELIMITER, Draft, Frame, MAX_FRAME, Reply, Request, WireContext, write_entry,
};

/// Rounds of decide and feedback before the other requests.
const ROUNDS: u32 = 60;
/// The step after the staging of a piece of the snapshot.
const STAGED: u32 = 2 * ROUNDS + 16;

/// The conversation and where it stands. A static, not on the stack that is measured.
#[derive(Debug)]
pub(crate) struct Script {
    catalog: Option<&'static Catalog<'static>>,
    incarnation: u32,
    round: u32,
    action: u16,
    step: u32,
    /// Bytes of the snapshot that were read and staged again.
    copied: u32,
    chunk: [u8; CHUNK],
    chunk_len: usize,
    refused: Option<u32>,
    request: [u8; MAX_FRAME],
    sent: usize,
    length: usize,
    reply: [u8; MAX_FRAME],
    received: usize,
}

impl Script {
    /// Before [`begin`](Self::begin): nothing to say.
    pub(crate) const EMPTY: Self = Self {
        catalog: None,
        incarnation: 0,
        round: 0,
        action: 0,
        step: 0,
        copied: 0,
        chunk: [0; CHUNK],
        chunk_len: 0,
        refused: None,
        request: [0; MAX_FRAME],
        sent: 0,
        length: 0,
        reply: [0; MAX_FRAME],
        received: 0,
    };

    /// From the first request again.
    pub(crate) fn begin(&mut self, catalog: &'static Catalog<'static>, incarnation: u32, round: u32) {
        (self.catalog, self.incarnation, self.round) = (Some(catalog), incarnation, round);
        (self.step, self.copied, self.chunk_len, self.refused) = (0, 0, 0, None);
        (self.sent, self.length, self.received) = (0, 0, 0);
    }

    /// The step that was answered with a fault or not at all.
    #[must_use]
    pub(crate) const fn refused(&self) -> Option<u32> {
        self.refused
    }

    /// What is asked at the present step; `None` at the end.
    fn question(&self, catalog: &Catalog<'_>) -> Option<Request> {
        let context = || context(catalog, self.round).map(|context| WireContext::new(&context));
        let (incarnation, round) = (self.incarnation, self.round);
        let (reward, weight) = (reward(round, self.action), 1.0);
        let feedback = Request::Feedback { incarnation, round, reward, weight, time: 0 };
        if let Some(step) = self.step.checked_sub(2).filter(|step| *step < 2 * ROUNDS) {
            return Some(match step % 2 {
                0 => Request::Decide { context: context()?, time: 0 },
                _ if step + 1 < 2 * ROUNDS => feedback,
                _ => Request::Explain { incarnation, round, other: None, first: 0 },
            });
        }
        Some(match if self.step < 2 { self.step } else { self.step - 2 * ROUNDS } {
            0 => Request::Hello,
            1 => Request::Onboard { response: 0.5, precision: 1.0 },
            2 => feedback,
            3 => Request::Assess { contrast: 0 },
            4 => Request::Compare { context: context()?, prefer: 0, over: 1, total: true },
            5 => Request::Promote { time: 0 },
            6 => Request::Profile { index: 0 },
            7 => Request::Statistics,
            8 => Request::Expire { time: 0 },
            9 => Request::Event { index: 0 },
            10 => Request::Observe { context: context()?, action: 1, reward: 0.5, weight },
            11 => Request::Unlearn {
                context: context()?,
                action: 1,
                baseline: 0.0,
                reward: 0.5,
                weight,
                imputed: false,
                kept: 1.0,
                probed: [1, 0],
            },
            12 => Request::Trial { contrast: 0 },
            13 => Request::Recommend { context: context()? },
            14 => Request::Snapshot { offset: self.copied },
            15 => Request::Stage { offset: self.copied },
            16 => Request::Commit { length: self.copied },
            17 => Request::Forget,
            18 => Request::Decide { context: context()?, time: 0 },
            19 => Request::Prior { next: true, offset: 0 }, // an empty chunk ends the script
            _ => return None,
        })
    }

    /// Writes the frame of the present step; none at the end.
    fn ask(&mut self) {
        (self.sent, self.length) = (0, 0);
        let Some(request) = self.catalog.and_then(|catalog| self.question(catalog)) else { return };
        let sequence = self.step as u32 + 1;
        let mut draft = Draft::request(&mut self.request, sequence, &request);
        match request {
            Request::Onboard { .. } => draft.push(&write_entry(0, 1.0)),
            Request::Stage { .. } => draft.push(self.chunk.get(..self.chunk_len).unwrap_or_default()),
            _ => true,
        };
        self.length = draft.seal().len();
    }

    /// Reads the reply to the present step and goes on to the next one; `None` for a fault.
    fn follow(&mut self) -> Option<()> {
        let (&mut DELIMITER, frame) = self.reply.get_mut(..self.received)?.split_last_mut()? else {
            return None;
        };
        let frame = Frame::open(frame).ok()?;
        let (reply, payload) = frame.reply().ok()?;
        self.received = 0;
        self.step += 1;
        match reply {
            Reply::Fault(_) => return None,
            Reply::Decided { round, action, .. } => (self.round, self.action) = (round, action),
            Reply::Chunk { .. } => {
                self.chunk_len = payload.len();
                self.chunk.get_mut(..payload.len())?.copy_from_slice(payload);
                self.step += u32::from(payload.is_empty()); // the snapshot is staged as a whole: commit
            }
            Reply::Done { count } if self.step == STAGED => (self.copied, self.step) = (count, STAGED - 2),
            _ => {}
        }
        Some(())
    }
}

impl ErrorType for Script {
    type Error = Infallible;
}

impl Read for Script {
    /// In a stack frame of its own, which is gone when the device is at work.
    #[inline(never)]
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Infallible> {
        if self.sent == self.length {
            if self.received > 0 || self.length > 0 {
                let step = self.step;
                if self.follow().is_none() {
                    self.refused = Some(step);
                    return Ok(0);
                }
            }
            self.ask();
        }
        let bytes = self.request.get(self.sent..self.length).unwrap_or_default();
        let count = bytes.len().min(buffer.len());
        buffer.iter_mut().zip(bytes).for_each(|(slot, byte)| *slot = *byte);
        self.sent += count;
        Ok(count)
    }
}

impl Write for Script {
    #[inline(never)]
    fn write(&mut self, bytes: &[u8]) -> Result<usize, Infallible> {
        for byte in bytes {
            if let Some(slot) = self.reply.get_mut(self.received) {
                *slot = *byte;
                self.received += 1;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
}
