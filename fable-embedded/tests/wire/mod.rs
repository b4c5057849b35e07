//! A device in memory: a server on one side, frames on the other.
#![allow(dead_code, clippy::missing_panics_doc, missing_docs)]

use fable_core::record::{MAX_EVENT_LEN, Verifier, encode_event};
use fable_core::{Event, Learner, Policy, Scalar, Settings, Storage, Workspace, catalog::TAU2};
use fable_embedded::Keep;
use fable_embedded::protocol::{Draft, Fault, Frame, Kept, MAX_FRAME, Reply, Request, StorageFault};

pub const RING: usize = 8;
pub type Tau2 = Learner<f32, [f32; TAU2.state_len()], RING>;
pub type Scratch = Workspace<f32, [f32; TAU2.workspace_len()]>;

pub fn policy() -> Policy<'static, f32> {
    Policy::new(&TAU2, Settings { seed: 11, ..Settings::default() }).unwrap()
}

pub fn started(policy: &Policy<'_, f32>) -> Tau2 {
    let mut learner = Tau2::VACANT;
    learner.start(policy, 7).unwrap();
    learner
}

/// Keeps everything, in vectors, with room for so many events; fails when told to, and remembers what it was asked.
#[derive(Debug, Default)]
pub struct Memory {
    pub snapshot: Vec<u8>,
    pub journal: Vec<Vec<u8>>,
    pub stage: Vec<u8>,
    pub generation: u32,
    pub room: usize,
    pub fail: &'static str,
    pub calls: Vec<&'static str>,
}

impl Memory {
    pub fn new<T: Scalar, S: Storage<T>, const R: usize>(learner: &Learner<T, S, R>, room: usize) -> Self {
        Self { snapshot: snapshot(learner), room, ..Self::default() }
    }

    fn call(&mut self, name: &'static str) -> Result<(), StorageFault> {
        self.calls.push(name);
        if self.fail == name { Err(StorageFault::Medium) } else { Ok(()) }
    }
}

impl Keep for Memory {
    type Error = Fault;

    async fn room<T: Scalar, S: Storage<T>, const R: usize>(&mut self, learner: &Learner<T, S, R>) -> Result<(), Fault> {
        self.call("room")?;
        if self.journal.len() >= self.room {
            self.snapshot = snapshot(learner);
            self.journal.clear();
            self.generation += 1;
        }
        Ok(())
    }

    async fn append(&mut self, event: &Event) -> Result<(), Fault> {
        self.call("append")?;
        self.journal.push(encode_event(event, &mut [0; MAX_EVENT_LEN])?.to_vec());
        Ok(())
    }

    async fn forget<T: Scalar, S: Storage<T>, const R: usize>(&mut self, learner: &Learner<T, S, R>) -> Result<(), Fault> {
        self.call("forget")?;
        self.snapshot = snapshot(learner);
        self.journal.clear();
        self.stage.clear();
        self.generation += 1;
        Ok(())
    }

    async fn stage_write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), Fault> {
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

    async fn stage_commit<T: Scalar, S: Storage<T>, const R: usize>(
        &mut self,
        policy: &Policy<'_, T>,
        learner: &mut Learner<T, S, R>,
        length: u32,
    ) -> Result<(), Fault> {
        self.call("stage_commit")?;
        if length as usize != self.stage.len() {
            return Err(StorageFault::Order.into());
        }
        let mut verifier = Verifier::new(policy);
        verifier.push(&self.stage)?;
        let verified = verifier.finish()?;
        learner.fits(policy, &verified)?;
        learner.vacate();
        let mut loader = learner.load(policy, verified)?;
        loader.push(&self.stage)?;
        loader.finish()?;
        self.snapshot = core::mem::take(&mut self.stage);
        self.journal.clear();
        self.generation += 1;
        Ok(())
    }

    async fn read_snapshot<T: Scalar, S: Storage<T>, const R: usize>(
        &mut self,
        _: &Learner<T, S, R>,
        offset: u32,
        buffer: &mut [u8],
    ) -> Result<usize, Fault> {
        self.call("read_snapshot")?;
        let rest = self.snapshot.get(offset as usize..).unwrap_or_default();
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        Ok(count)
    }

    async fn journal_event(&mut self, index: u32, buffer: &mut [u8]) -> Result<Option<usize>, Fault> {
        self.call("journal_event")?;
        let Some(event) = self.journal.get(index as usize) else { return Ok(None) };
        buffer[..event.len()].copy_from_slice(event);
        Ok(Some(event.len()))
    }

    async fn statistics(&mut self) -> Result<Kept, Fault> {
        self.call("statistics")?;
        Ok(Kept { generation: self.generation, events: u32::try_from(self.journal.len()).unwrap(), free: 0, erases: 0 })
    }
}

pub fn snapshot<T: Scalar, S: Storage<T>, const R: usize>(learner: &Learner<T, S, R>) -> Vec<u8> {
    let (mut snapshot, mut chunk, mut bytes) = (learner.snapshot().unwrap(), [0; 256], vec![]);
    while let written @ 1.. = snapshot.read(&mut chunk) {
        bytes.extend_from_slice(&chunk[..written]);
    }
    bytes
}

pub fn load<T: Scalar, S: Storage<T>, const R: usize>(policy: &Policy<'_, T>, learner: &mut Learner<T, S, R>, bytes: &[u8]) {
    let mut verifier = Verifier::new(policy);
    verifier.push(bytes).unwrap();
    let verified = verifier.finish().unwrap();
    let mut loader = learner.load(policy, verified).unwrap();
    loader.push(bytes).unwrap();
    loader.finish().unwrap();
}

/// A request as bytes.
pub fn framed(sequence: u8, request: &Request, payload: &[u8]) -> Vec<u8> {
    let mut buffer = [0; MAX_FRAME];
    let mut draft = Draft::request(&mut buffer, sequence, request);
    assert!(draft.push(payload));
    draft.seal().to_vec()
}

/// The replies in what a device has sent.
pub fn replies(sent: &[u8]) -> Vec<(u8, Reply, Vec<u8>)> {
    let frames = sent.split(|byte| *byte == 0).filter(|bytes| !bytes.is_empty());
    let open = |bytes: &[u8]| {
        let mut bytes = bytes.to_vec();
        let frame = Frame::open(&mut bytes).unwrap();
        let (reply, payload) = frame.reply().unwrap();
        (frame.sequence, reply, payload.to_vec())
    };
    frames.map(open).collect()
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
