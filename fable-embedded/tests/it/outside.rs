//! Stores outside of the crate that serve a host: with a durable reply cache, and without a cache.

use crate::again::{context, policy, requests};
use crate::common::{Known, TINY, USER, bytes, scratch, vacant};
use crate::wire::{framed, replies};
use fable_core::journal::Event;
use fable_core::record::{MAX_EVENT_LEN, decode_event, encode_event};
use fable_core::{Action, Feasible, Policy, Request as Wanted, Scalar, User, UserError};
use fable_embedded::wire::{Fault, Reply, Request, StorageFault, StoreUsage, WireContext};
use fable_embedded::{Device, ReplyCache, Server, UserStore};

/// Events between two snapshots.
const CAPACITY: usize = 12;

/// The part that survives a reset.
#[derive(Clone, Default)]
struct Disk {
    snapshot: Vec<u8>,
    replies: [u8; ReplyCache::LEN],
    journal: Vec<(Option<u32>, Vec<u8>)>,
}

/// A durable store that fails from one of its writes on. The failing write is lost, or done and not
/// acknowledged.
struct DiskStore {
    disk: Disk,
    staged: Vec<u8>,
    replies: ReplyCache,
    writes: usize,
    fails_at: usize,
    lost: bool,
}

impl DiskStore {
    /// Opens a disk, as after a reset.
    fn open(disk: Disk, policy: &Policy<'static, f32>, learner: &mut Known) -> Self {
        learner.restore(policy, &disk.snapshot).unwrap();
        let mut workspace = scratch(policy);
        let mut user = learner.bind(policy, &mut workspace).unwrap();
        let mut replies = ReplyCache::from_bytes(&disk.replies);
        for (request_id, record) in &disk.journal {
            replies.replay(&mut user, &decode_event(&TINY, record).unwrap(), *request_id).unwrap();
        }
        Self { disk, staged: vec![], replies, writes: 0, fails_at: usize::MAX, lost: true }
    }

    /// Changes the disk at once, unless the power fails.
    fn write(&mut self, change: impl FnOnce(&mut Disk)) -> Result<(), Fault> {
        self.writes += 1;
        if self.writes < self.fails_at || (self.writes == self.fails_at && !self.lost) {
            change(&mut self.disk);
        }
        if self.writes < self.fails_at { Ok(()) } else { Err(StorageFault::Medium.into()) }
    }
}

fn state<T: Scalar>(user: &User<'_, T>) -> Result<Vec<u8>, UserError> {
    let (mut snapshot, mut chunk, mut bytes) = (user.snapshot()?, [0; 256], vec![]);
    while let read @ 1.. = snapshot.read(&mut chunk) {
        bytes.extend_from_slice(&chunk[..read]);
    }
    Ok(bytes)
}

impl UserStore for DiskStore {
    type Error = Fault;

    fn append(&mut self, event: &Event) -> Result<bool, Fault> {
        if self.disk.journal.len() == CAPACITY {
            return Ok(false);
        }
        let record = encode_event(event, &mut [0; MAX_EVENT_LEN])?.to_vec();
        let request_id = self.replies.request_id(event);
        self.write(|disk| disk.journal.push((request_id, record)))?;
        Ok(true)
    }

    fn ensure_capacity<T: Scalar>(&mut self, user: &User<'_, T>) -> Result<(), Fault> {
        let disk = Disk { snapshot: state(user)?, replies: self.replies.to_bytes(), journal: vec![] };
        self.write(|old| *old = disk)
    }

    fn forget<T: Scalar>(&mut self, user: &User<'_, T>) -> Result<(), Fault> {
        self.ensure_capacity(user)
    }

    fn replies(&mut self) -> Option<&mut ReplyCache> {
        Some(&mut self.replies)
    }

    fn stage_write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), Fault> {
        self.staged.truncate(offset as usize);
        self.staged.extend_from_slice(bytes);
        Ok(())
    }

    fn stage_commit<T: Scalar>(&mut self, user: &mut User<'_, T>, length: u32) -> Result<(), Fault> {
        if self.staged.len() != length as usize {
            return Err(StorageFault::Order.into());
        }
        user.restore(&self.staged)?;
        self.replies.note_commit(user.state().rounds());
        self.ensure_capacity(user)
    }

    fn usage(&mut self) -> Result<StoreUsage, Fault> {
        Ok(StoreUsage { events: u32::try_from(self.disk.journal.len()).unwrap(), ..StoreUsage::default() })
    }
}

/// A disk with waiting decisions, and with so many events that a request may need a snapshot.
fn lived(policy: &Policy<'static, f32>, events: usize) -> Disk {
    let (mut learner, mut workspace) = (vacant(policy), scratch(policy));
    learner.start(policy, USER).unwrap();
    let disk = Disk { snapshot: bytes(&learner), ..Disk::default() };
    let mut store = DiskStore::open(disk, policy, &mut learner);
    let mut device = Device::new(learner.bind(policy, &mut workspace).unwrap(), &mut store);
    for turn in 0..events {
        let (action, reward) = if turn % 2 == 0 { (Action(1), 0.25) } else { (Action(0), -0.5) };
        device.observe(&context(), action, reward).unwrap();
    }
    for _ in 0..3 {
        device.decide(&Wanted::new(&context(), &Feasible::all(&TINY)).at(1)).unwrap();
    }
    store.disk
}

fn ask(store: &mut DiskStore, policy: &Policy<'static, f32>, learner: &mut Known, frame: &[u8]) -> Reply {
    let mut workspace = scratch(policy);
    let user = learner.bind(policy, &mut workspace).unwrap();
    let (mut server, mut sent) = (Server::new(Device::new(user, store)), vec![]);
    for byte in frame {
        sent.extend_from_slice(server.push(*byte));
    }
    replies(&sent).remove(0).1
}

/// Every request is executed once, though the power fails at any write and the host sends the request again
/// after the reset.
#[test]
fn a_request_happens_once_over_a_store_outside_of_the_crate() {
    let (policy, mut cuts) = (policy(), 0);
    for events in [1, 5, 6, 7, 8] {
        let start = lived(&policy, events);
        for (request, payload, all) in requests() {
            let frame = framed(77, &request, &payload);
            let mut learner = vacant(&policy);
            let mut store = DiskStore::open(start.clone(), &policy, &mut learner);
            let expected = ask(&mut store, &policy, &mut learner, &frame);
            assert!(!matches!(expected, Reply::Fault(_)), "{request:?}: {expected:?}");
            let whole = bytes(&learner);
            for fails_at in 1..=store.writes {
                for lost in [false, true] {
                    let mut store = DiskStore::open(start.clone(), &policy, &mut learner);
                    (store.fails_at, store.lost) = (fails_at, lost);
                    ask(&mut store, &policy, &mut learner, &frame);
                    for restart in 0..2 {
                        store = DiskStore::open(store.disk, &policy, &mut learner);
                        let reply = ask(&mut store, &policy, &mut learner, &frame);
                        assert_eq!(reply, expected, "{request:?}, write {fails_at}, restart {restart}");
                        // A promotion after a reward may wait for a later check.
                        assert!(!all || bytes(&learner) == whole, "{request:?}, write {fails_at}");
                    }
                    cuts += 1;
                }
            }
        }
    }
    assert!(cuts > 100, "{cuts}");
}

/// A commit that is repeated after a reset is answered again.
#[test]
fn a_commit_is_known_over_a_store_outside_of_the_crate() {
    let policy = policy();
    let (mut learner, mut other) = (vacant(&policy), vacant(&policy));
    DiskStore::open(lived(&policy, 8), &policy, &mut other);
    let snapshot = bytes(&other);
    let mut store = DiskStore::open(lived(&policy, 1), &policy, &mut learner);
    for (index, chunk) in (0..).zip(snapshot.chunks(256)) {
        ask(
            &mut store,
            &policy,
            &mut learner,
            &framed(index + 1, &Request::Stage { offset: index * 256 }, chunk),
        );
    }
    let commit = framed(90, &Request::Commit { length: u32::try_from(snapshot.len()).unwrap() }, &[]);
    for _ in 0..3 {
        assert_eq!(ask(&mut store, &policy, &mut learner, &commit), Reply::Done { count: 3 });
        assert_eq!(bytes(&learner), snapshot);
        store = DiskStore::open(store.disk, &policy, &mut learner);
    }
}

/// A store with the required functions alone.
struct Minimal;

impl UserStore for Minimal {
    type Error = Fault;

    fn append(&mut self, _: &Event) -> Result<bool, Fault> {
        Ok(true)
    }

    fn ensure_capacity<T: Scalar>(&mut self, _: &User<'_, T>) -> Result<(), Fault> {
        Ok(())
    }

    fn forget<T: Scalar>(&mut self, _: &User<'_, T>) -> Result<(), Fault> {
        Ok(())
    }
}

/// Without a reply cache a server answers questions and refuses changes. The application's own verbs work.
#[test]
fn a_store_without_a_reply_cache_takes_no_changes_from_a_host() {
    let policy = policy();
    let (mut learner, mut workspace) = (vacant(&policy), scratch(&policy));
    learner.start(&policy, USER).unwrap();
    let mut store = Minimal;
    let mut server = Server::new(Device::new(learner.bind(&policy, &mut workspace).unwrap(), &mut store));
    let decision = server.device().decide(&Wanted::new(&context(), &Feasible::all(&TINY))).unwrap();
    server.device().feedback(decision.id, 0.5).unwrap();
    let mut sequence = 0;
    let mut ask = |request: &Request| {
        sequence += 1;
        let sent: Vec<u8> =
            framed(sequence, request, &[]).iter().flat_map(|byte| server.push(*byte).to_vec()).collect();
        let (_, reply, payload) = replies(&sent).remove(0);
        (reply, payload)
    };
    let unsupported = || Fault::Storage(StorageFault::Unsupported);
    let changes = requests().into_iter().map(|(request, ..)| request);
    let stage =
        [Request::Stage { offset: 0 }, Request::Commit { length: 0 }, Request::CommitPrior { length: 0 }];
    for request in changes.chain(stage) {
        assert_eq!(ask(&request).0, Reply::Fault(unsupported()), "{request:?}");
    }
    let refused = Fault::from(UserError::Unsupported);
    for request in [Request::Event { index: 0 }, Request::Prior { next: true, offset: 0 }] {
        assert_eq!(ask(&request).0, Reply::Fault(refused), "{request:?}");
    }
    let place = WireContext::new(&context());
    assert!(matches!(ask(&Request::Recommend { context: place }).0, Reply::Decided { round: 0, .. }));
    let (Reply::Statistics(counts), _) = ask(&Request::Statistics) else { panic!("no counts") };
    assert_eq!((counts.rounds, counts.observations, counts.store), (1, 1, StoreUsage::default()));
    let snapshot = ask(&Request::Snapshot { offset: 0 }).1;
    assert!(!snapshot.is_empty() && bytes(&learner).starts_with(&snapshot));
}
