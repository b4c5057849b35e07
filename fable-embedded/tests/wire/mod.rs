//! A device in memory: a server on one side, frames on the other.
#![allow(dead_code, clippy::missing_panics_doc, missing_docs)]

use fable_core::catalog::TAU2;
use fable_core::journal::Event;
use fable_core::record::{MAX_EVENT_LEN, Snapshot, encode_event};
use fable_core::{Context, Learner, Policy, Scalar, Settings, User, UserError, Workspace};
use fable_embedded::wire::{Draft, Fault, Frame, MAX_FRAME, Reply, Request, StorageFault, StoreUsage};
use fable_embedded::{ReplyCache, UserStore};

pub const RING: usize = 8;
pub type Tau2 = Learner<f32, [f32; TAU2.state_len()], RING>;
pub type Scratch = Workspace<f32, [f32; TAU2.workspace_len()]>;

pub fn policy() -> Policy<'static, f32> {
    Policy::new(&TAU2, Settings { seed: 11, ..Settings::default() }).unwrap()
}

/// With a coin for every component that is worth one.
pub fn probing() -> Policy<'static, f32> {
    Policy::new(&TAU2, Settings { seed: 11, probe: 1.0, ..Settings::default() }).unwrap()
}

pub fn started(policy: &Policy<'_, f32>) -> Tau2 {
    let mut learner = Tau2::new(&TAU2);
    learner.start(policy, 7).unwrap();
    learner
}

pub fn scratch() -> Scratch {
    Workspace::new(&TAU2)
}

/// Stores everything in vectors, with capacity for a given number of events. Fails on request, and records
/// the calls.
#[derive(Debug)]
pub struct Memory {
    pub snapshot: Vec<u8>,
    pub journal: Vec<Vec<u8>>,
    pub stage: Vec<u8>,
    pub generation: u32,
    pub room: usize,
    pub fail: &'static str,
    pub calls: Vec<&'static str>,
    pub replies: ReplyCache,
}

impl Default for Memory {
    fn default() -> Self {
        let (snapshot, journal, stage, calls) = (vec![], vec![], vec![], vec![]);
        Self { snapshot, journal, stage, generation: 0, room: 0, fail: "", calls, replies: ReplyCache::EMPTY }
    }
}

impl Memory {
    pub fn new(learner: &Tau2, room: usize) -> Self {
        Self { snapshot: bytes(learner.snapshot()), room, ..Self::default() }
    }

    fn call(&mut self, name: &'static str) -> Result<(), StorageFault> {
        self.calls.push(name);
        if self.fail == name { Err(StorageFault::Medium) } else { Ok(()) }
    }
}

impl UserStore for Memory {
    type Error = Fault;

    fn replies(&mut self) -> Option<&mut ReplyCache> {
        Some(&mut self.replies)
    }

    fn append(&mut self, event: &Event) -> Result<bool, Fault> {
        self.call("append")?;
        if self.journal.len() >= self.room {
            return Ok(false);
        }
        self.journal.push(encode_event(event, &mut [0; MAX_EVENT_LEN])?.to_vec());
        Ok(true)
    }

    fn ensure_capacity<T: Scalar>(&mut self, user: &User<'_, T>) -> Result<(), Fault> {
        self.call("ensure_capacity")?;
        self.snapshot = bytes(user.snapshot());
        self.journal.clear();
        self.generation += 1;
        Ok(())
    }

    fn forget<T: Scalar>(&mut self, user: &User<'_, T>) -> Result<(), Fault> {
        self.call("forget")?;
        self.snapshot = bytes(user.snapshot());
        self.journal.clear();
        self.stage.clear();
        self.generation += 1;
        Ok(())
    }

    fn stage_write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), Fault> {
        self.call("stage_write")?;
        if offset == 0 {
            self.stage.clear();
        }
        if offset as usize != self.stage.len() {
            return Err(StorageFault::Order.into());
        }
        self.stage.extend_from_slice(bytes);
        Ok(())
    }

    fn stage_commit<T: Scalar>(&mut self, user: &mut User<'_, T>, length: u32) -> Result<(), Fault> {
        self.call("stage_commit")?;
        if length as usize != self.stage.len() {
            return Err(StorageFault::Order.into());
        }
        user.restore(&self.stage)?;
        self.snapshot = core::mem::take(&mut self.stage);
        self.journal.clear();
        self.generation += 1;
        Ok(())
    }

    fn read_snapshot<T: Scalar>(
        &mut self,
        _: &User<'_, T>,
        offset: u32,
        buffer: &mut [u8],
    ) -> Result<usize, Fault> {
        self.call("read_snapshot")?;
        let rest = self.snapshot.get(offset as usize..).unwrap_or_default();
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        Ok(count)
    }

    fn commit_prior<T: Scalar>(&mut self, _: &Policy<'_, T>, _: u32) -> Result<(), Fault> {
        Err(StorageFault::Unsupported.into())
    }

    fn read_prior(&mut self, _: bool, _: u32, _: &mut [u8]) -> Result<usize, Fault> {
        Ok(0)
    }

    fn read_event(&mut self, index: u32, buffer: &mut [u8]) -> Result<Option<usize>, Fault> {
        self.call("read_event")?;
        let Some(event) = self.journal.get(index as usize) else { return Ok(None) };
        buffer[..event.len()].copy_from_slice(event);
        Ok(Some(event.len()))
    }

    fn usage(&mut self) -> Result<StoreUsage, Fault> {
        self.call("statistics")?;
        Ok(StoreUsage {
            generation: self.generation,
            events: u32::try_from(self.journal.len()).unwrap(),
            free: 0,
            erases: 0,
        })
    }
}

pub fn nowhere() -> Context {
    TAU2.context(None, []).unwrap()
}

/// A state as bytes.
pub fn bytes<T: Scalar>(snapshot: Result<Snapshot<'_, T>, UserError>) -> Vec<u8> {
    let (mut snapshot, mut chunk, mut bytes) = (snapshot.unwrap(), [0; 256], vec![]);
    while let written @ 1.. = snapshot.read(&mut chunk) {
        bytes.extend_from_slice(&chunk[..written]);
    }
    bytes
}

/// A request as bytes.
pub fn framed(sequence: u32, request: &Request, payload: &[u8]) -> Vec<u8> {
    let mut buffer = [0; MAX_FRAME];
    let mut draft = Draft::request(&mut buffer, sequence, request);
    assert!(draft.push(payload));
    draft.seal().to_vec()
}

/// The replies in what a device has sent.
pub fn replies(sent: &[u8]) -> Vec<(u32, Reply, Vec<u8>)> {
    let frames = sent.split(|byte| *byte == 0).filter(|bytes| !bytes.is_empty());
    let open = |bytes: &[u8]| {
        let mut bytes = bytes.to_vec();
        let frame = Frame::open(&mut bytes).unwrap();
        let (reply, payload) = frame.reply().unwrap();
        (frame.sequence, reply, payload.to_vec())
    };
    frames.map(open).collect()
}

/// A server for the user of a learner.
#[macro_export]
macro_rules! server {
    ($policy:expr, $learner:expr, $workspace:expr, $store:expr) => {
        fable_embedded::Server::new(fable_embedded::Device::new(
            $learner.bind(&$policy, &mut $workspace).unwrap(),
            &mut $store,
        ))
    };
}

/// Pushes bytes into a server and collects what it sends.
#[macro_export]
macro_rules! send {
    ($server:expr, $bytes:expr) => {{
        let mut sent = Vec::new();
        for byte in $bytes.iter() {
            sent.extend_from_slice($server.push(*byte));
        }
        $crate::wire::replies(&sent)
    }};
}
