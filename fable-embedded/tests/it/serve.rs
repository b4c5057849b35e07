//! The server against frames that are wrong, repeated or cannot be stored, and the order in which it stores
//! things.

use crate::wire::{Memory, RING, Tau2, bytes, framed, policy, probing, replies, scratch, started};
use crate::{send, server};
use fable_core::catalog::{AGENT, ContextError, FeasibleError, OnboardingError, TAU2, When};
use fable_core::journal::Event;
use fable_core::preference::{Certifier, ProbeOutcomes, Standing, UserRule, Verdict};
use fable_core::record::{Header, Kind, RecordError};
use fable_core::settings::{Deadline, Expiry};
use fable_core::{Action, Context, Feasible, Learner, Policy, Scalar, Settings, User, UserError, Workspace};
use fable_embedded::flash::block_on;
use fable_embedded::wire::{
    Draft, Fault, MAX_FRAME, Reply, Request, StorageFault, StoreUsage, VERSION, WireContext, write_entry,
};
use fable_embedded::{AsyncUserStore, Device, RamStore, ReplyCache, Server, UserStore};
use std::collections::VecDeque;
use std::convert::Infallible;

fn nowhere() -> WireContext {
    WireContext::new(&TAU2.context(None, []).unwrap())
}

fn decide() -> Request {
    Request::Decide { context: nowhere(), time: 0 }
}

fn feedback(round: u32) -> Request {
    Request::Feedback { incarnation: 0, round, reward: 0.5, weight: 1.0, time: 0 }
}

/// A body with a right checksum, stuffed.
fn sealed(body: &[u8]) -> Vec<u8> {
    let sum = !body.iter().fold(u32::MAX, |sum, byte| {
        (0..8).fold(
            sum ^ u32::from(*byte),
            |sum, _| if sum & 1 == 0 { sum >> 1 } else { sum >> 1 ^ 0xedb8_8320 },
        )
    });
    let mut bytes = cobs::encode_vec(&[body, &sum.to_le_bytes()].concat());
    bytes.push(0);
    bytes
}

#[test]
fn whatever_is_no_frame_is_refused_and_the_next_frame_works() {
    let policy = policy();
    let (mut learner, mut workspace) = (started(&policy), scratch());
    let mut store = RamStore::<0>::EMPTY;
    let mut server = server!(policy, learner, workspace, store);
    send!(server, framed(1, &decide(), &[]));
    let before = bytes(server.device().user().snapshot());

    let good = framed(9, &feedback(1), &[]);
    let mut cases: Vec<(Vec<u8>, u32, Fault)> = vec![
        (b"hello, world\0".to_vec(), 0, Fault::Malformed),
        (vec![1, 0], 0, Fault::Malformed),
        (vec![255; MAX_FRAME - 1].into_iter().chain([0]).collect(), 0, Fault::Malformed),
        (vec![255; MAX_FRAME].into_iter().chain([0]).collect(), 0, Fault::Oversized),
        (vec![7; 100_000].into_iter().chain([0]).collect(), 0, Fault::Oversized),
        (sealed(&[]), 0, Fault::Malformed),
        (sealed(&[VERSION]), 0, Fault::Malformed),
        (sealed(&[VERSION, 9, 0, 0]), 0, Fault::Malformed),
        (sealed(&[VERSION, 9, 0, 0, 1]), 0x0100_0009, Fault::Content),
        (sealed(&[VERSION + 1, 9, 0, 0, 0, 0]), 9, Fault::Version { found: VERSION + 1 }),
        (sealed(&[0, 9, 0, 0, 0]), 9, Fault::Version { found: 0 }),
        (sealed(&[VERSION, 9, 0, 0, 0, 24]), 9, Fault::UnknownRequest),
        (sealed(&[VERSION, 9, 0, 0, 0, 255, 255]), 9, Fault::UnknownRequest),
        (sealed(&[VERSION, 9, 0, 0, 0, 0, 0]), 9, Fault::Content), // hello with a payload
        (sealed(&[VERSION, 9, 0, 0, 0, 3, 0]), 9, Fault::Content), // feedback that ends too early
        (sealed(&[VERSION, 9, 0, 0, 0, 6, 0, 1, 2, 0]), 9, Fault::Content), // neither none nor some
        (framed(9, &Request::Open { nonce: 7 }, &[]), 9, Fault::Keyless),
        (sealed(&[VERSION | 0x40, 9, 0, 0, 0, 11, 1, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8]), 9, Fault::Keyless), // a seal
    ];
    for end in 1..good.len() - 1 {
        cases.push((good[..end].iter().copied().chain([0]).collect(), 0, Fault::Malformed)); // truncated
    }
    for place in 0..good.len() - 1 {
        for bit in 0..8 {
            let mut bytes = good.clone();
            bytes[place] ^= 1 << bit;
            if bytes[place] != 0 {
                cases.push((bytes, 0, Fault::Malformed)); // one that becomes a delimiter is truncation
            }
        }
    }
    for (sent, sequence, fault) in &cases {
        assert_eq!(send!(server, sent), [(*sequence, Reply::Fault(*fault), vec![])], "{sent:?}");
        assert_eq!(bytes(server.device().user().snapshot()), before);
        let hello = send!(server, framed(3, &Request::Hello, &[]));
        assert!(matches!(&hello[..], [(3, Reply::Hello(_), name)] if name == b"tau2"), "after {sent:?}");
    }
    assert!(send!(server, [0; 50]).is_empty()); // empty frames are nothing
    let done = send!(server, good);
    assert_eq!(done, [(9, Reply::Done { count: 1 }, vec![])]);

    let statistics = send!(server, framed(4, &Request::Statistics, &[]));
    let Reply::Statistics(statistics) = &statistics[0].1 else { panic!("{statistics:?}") };
    assert_eq!(statistics.refused as usize, cases.len());
    assert_eq!(statistics.answered as usize, cases.len() + 2);
}

#[test]
fn a_reply_is_not_answered() {
    let policy = policy();
    let (mut learner, mut workspace) = (started(&policy), scratch());
    let mut store = RamStore::<0>::EMPTY;
    let mut server = server!(policy, learner, workspace, store);
    let mut buffer = [0; MAX_FRAME];
    let reply = Draft::reply(&mut buffer, 1, &Reply::Fault(Fault::Malformed)).seal().to_vec();
    assert!(send!(server, reply).is_empty());
    assert_eq!(send!(server, framed(1, &Request::Hello, &[])).len(), 1);
}

#[test]
fn a_request_that_comes_again_is_answered_again_and_not_executed() {
    let policy = policy();
    let (mut learner, mut workspace) = (started(&policy), scratch());
    let mut store = RamStore::<0>::EMPTY;
    let mut server = server!(policy, learner, workspace, store);
    let frame = framed(5, &decide(), &[]);
    let first = send!(server, frame);
    assert!(matches!(first[0].1, Reply::Decided { round: 1, .. }));
    for _ in 0..3 {
        assert_eq!(send!(server, frame), first);
        send!(server, b"noise\0");
    }
    assert_eq!(server.device().user().state().rounds(), 1);
    assert!(matches!(send!(server, framed(6, &decide(), &[]))[0].1, Reply::Decided { round: 2, .. }));
    // Questions come between when a host has to find out who is there.
    send!(server, framed(7, &Request::Hello, &[]));
    assert!(matches!(send!(server, framed(6, &decide(), &[]))[0].1, Reply::Decided { round: 2, .. }));
    assert!(matches!(send!(server, framed(7, &decide(), &[]))[0].1, Reply::Decided { round: 3, .. }));
    let observe = Request::Observe { context: nowhere(), action: 3, reward: 0.25, weight: 1.0 };
    for _ in 0..3 {
        assert_eq!(send!(server, framed(8, &observe, &[])), [(8, Reply::Done { count: 1 }, vec![])]);
    }
    assert_eq!(send!(server, framed(9, &observe, &[])), [(9, Reply::Done { count: 2 }, vec![])]);
}

#[test]
fn every_event_is_kept_before_it_is_applied() {
    let policy = policy();
    let (mut learner, mut workspace) = (started(&policy), scratch());
    let mut memory = Memory::new(&learner, 100);
    let mut server = server!(policy, learner, workspace, memory);
    send!(server, framed(1, &decide(), &[]));
    assert_eq!(server.device().store().calls, ["append", "append"]); // permissions and decision
    send!(server, framed(2, &decide(), &[]));
    assert_eq!(server.device().store().calls.len(), 3); // the permissions are the same
    send!(server, framed(3, &feedback(9), &[])); // not even proposed
    let excessive = Request::Feedback { incarnation: 0, round: 1, reward: 2.0, weight: 1.0, time: 0 };
    send!(server, framed(3, &excessive, &[])); // refused by the check
    assert_eq!(server.device().store().calls.len(), 3);
    send!(server, framed(4, &Request::Forget, &[]));
    assert_eq!(server.device().store().calls[3..], ["append", "forget"]);
    assert!(server.device().store().journal.is_empty());
}

/// Room is made when there is none, with the user as it was before the event, and the event comes after it.
#[test]
fn a_full_journal_becomes_a_snapshot_first() {
    let policy = policy();
    let (mut learner, mut workspace) = (started(&policy), scratch());
    let mut memory = Memory::new(&learner, 3);
    let mut server = server!(policy, learner, workspace, memory);
    send!(server, framed(1, &decide(), &[]));
    send!(server, framed(2, &decide(), &[]));
    let before = bytes(server.device().user().snapshot());
    assert!(matches!(send!(server, framed(3, &decide(), &[]))[0].1, Reply::Decided { round: 3, .. }));
    let Memory { calls, snapshot, journal, .. } = server.device().store();
    assert_eq!((&calls[3..], journal.len()), (&["append", "ensure_capacity", "append"][..], 1));
    assert_eq!(*snapshot, before);

    // Between the events of one command: the permissions are the last that fit.
    let (mut learner, mut workspace) = (started(&policy), scratch());
    let mut memory = Memory::new(&learner, 1);
    let mut server = server!(policy, learner, workspace, memory);
    assert!(matches!(send!(server, framed(1, &decide(), &[]))[0].1, Reply::Decided { round: 1, .. }));
    assert_eq!(server.device().store().calls, ["append", "append", "ensure_capacity", "append"]);
    assert_eq!((server.device().user().state().rounds(), server.device().store().journal.len()), (1, 1));
}

#[test]
fn what_cannot_be_kept_does_not_happen() {
    let policy = policy();
    let entries = write_entry(0, 1.0);
    let requests: [(Request, &[u8]); 8] = [
        (Request::Onboard { response: 1.0, precision: 4.0 }, &entries),
        (decide(), &[]),
        (feedback(1), &[]),
        (Request::Observe { context: nowhere(), action: 3, reward: 0.25, weight: 1.0 }, &[]),
        (Request::Forget, &[]),
        (Request::Stage { offset: 0 }, &[1, 2, 3]),
        (Request::Commit { length: 3 }, &[]),
        (
            Request::Unlearn {
                context: nowhere(),
                action: 3,
                baseline: 0.0,
                reward: 0.25,
                weight: 1.0,
                imputed: false,
                kept: 1.0,
                probed: [1, 0],
            },
            &[],
        ),
    ];
    for fail in ["ensure_capacity", "append", "stage_write", "stage_commit"] {
        for (request, payload) in &requests {
            let (mut learner, mut workspace) = (started(&policy), scratch());
            let (context, all) = (TAU2.context(None, []).unwrap(), Feasible::all(&TAU2));
            let mut user = learner.bind(&policy, &mut workspace).unwrap();
            user.decide(&fable_core::Request::new(&context, &all)).unwrap();
            user.observe(&context, Action(3), 0.25).unwrap();
            let mut memory = Memory::new(&learner, if fail == "ensure_capacity" { 0 } else { 100 });
            memory.fail = fail;
            let before = learner.clone();
            let mut server = server!(policy, learner, workspace, memory);
            let stages = matches!(request, Request::Stage { .. } | Request::Commit { .. });
            let sent = send!(server, framed(1, request, payload));
            if fail.starts_with("stage") == stages
                && !(fail == "stage_commit" && matches!(request, Request::Stage { .. }))
            {
                let expected = match request {
                    Request::Commit { .. } if fail == "stage_write" => StorageFault::Order, // nothing was staged
                    _ => StorageFault::Medium,
                };
                assert_eq!(sent, [(1, Reply::Fault(Fault::Storage(expected)), vec![])], "{fail} {request:?}");
                assert_eq!(learner, before);
            }
        }
    }
    for (fail, request) in [
        ("read_snapshot", Request::Snapshot { offset: 0 }),
        ("read_event", Request::Event { index: 0 }),
        ("statistics", Request::Statistics),
        ("forget", Request::Forget),
    ] {
        let (mut learner, mut workspace) = (started(&policy), scratch());
        let mut memory = Memory::new(&learner, 100);
        memory.fail = fail;
        let mut server = server!(policy, learner, workspace, memory);
        let sent = send!(server, framed(1, &request, &[]));
        assert_eq!(sent, [(1, Reply::Fault(Fault::Storage(StorageFault::Medium)), vec![])], "{fail}");
    }
}

#[test]
fn every_refusal_has_its_number() {
    let settings = Settings { expiry: Expiry::Nothing, deadline: Deadline::Time(10), ..Settings::default() };
    let policy = Policy::<f32>::new(&TAU2, settings).unwrap();
    let (mut learner, mut workspace) = (started(&policy), scratch());
    let mut store = RamStore::<16>::EMPTY;
    let mut server = server!(policy, learner, workspace, store);
    let mut sequence = 0;
    let mut refuse = |request: Request, payload: &[u8]| {
        sequence += 1;
        let before = bytes(server.device().user().snapshot());
        let mut sent = send!(server, framed(sequence, &request, payload));
        let (number, reply, rest) = sent.remove(0);
        assert!(sent.is_empty() && number == sequence && rest.is_empty());
        let Reply::Fault(fault) = reply else { return None };
        assert_eq!(bytes(server.device().user().snapshot()), before);
        Some(fault)
    };
    let learner = |error: UserError| Some(Fault::from(error));
    let onboard = |response, precision| Request::Onboard { response, precision };
    let entry = write_entry(0, 1.0);

    let onboarding = |error| learner(UserError::Onboarding(error));
    assert_eq!(refuse(onboard(1.0, 1.0), &[]), onboarding(OnboardingError::Empty));
    assert_eq!(refuse(onboard(1.0, 1.0), &entry[..9]), Some(Fault::Content));
    assert_eq!(refuse(onboard(f64::NAN, 1.0), &entry), onboarding(OnboardingError::Response));
    assert_eq!(refuse(onboard(1.0, -1.0), &entry), onboarding(OnboardingError::Precision));
    assert_eq!(
        refuse(onboard(1.0, 1.0), &write_entry(29, 1.0)),
        onboarding(OnboardingError::UnknownCoordinate)
    );
    assert_eq!(
        refuse(onboard(1.0, 1.0), &write_entry(0, f64::NAN)),
        onboarding(OnboardingError::Coefficient)
    );
    assert_eq!(
        refuse(onboard(1.0, 1.0), &[entry, entry].concat()),
        onboarding(OnboardingError::RepeatedCoordinate)
    );
    let many: Vec<u8> = (0..25).flat_map(|coordinate| write_entry(coordinate, 1.0)).collect();
    assert_eq!(refuse(onboard(1.0, 1.0), &many), onboarding(OnboardingError::TooMany));

    let elsewhere = WireContext::new(&Context::new(&AGENT, Some(3), &[0.0; 4]).unwrap());
    let signals = Some(Fault::from(ContextError::SignalCount { expected: 0 }));
    assert_eq!(refuse(Request::Decide { context: elsewhere.clone(), time: 0 }, &[]), signals);
    let feasible = |error| learner(UserError::Feasible(error));
    assert_eq!(refuse(decide(), &[0; 4]), feasible(FeasibleError::Empty));
    assert_eq!(refuse(decide(), &[255; 4]), feasible(FeasibleError::UnknownAction));
    assert_eq!(refuse(decide(), &[255; 3]), Some(Fault::Content));
    assert_eq!(refuse(decide(), &[0; 33 * 4 + 18 * 4]), Some(Fault::Content)); // before the default scores

    assert_eq!(refuse(feedback(1), &[]), learner(UserError::UnknownDecision));
    assert_eq!(refuse(decide(), &[]), None);
    let late = Request::Feedback { incarnation: 1, round: 1, reward: 0.5, weight: 1.0, time: 0 };
    assert_eq!(refuse(late, &[]), learner(UserError::UnknownDecision));
    let rewarded = |reward, weight| Request::Feedback { incarnation: 0, round: 1, reward, weight, time: 0 };
    assert_eq!(refuse(rewarded(1.5, 1.0), &[]), learner(UserError::Reward));
    assert_eq!(refuse(rewarded(f64::NAN, 1.0), &[]), learner(UserError::Reward));
    assert_eq!(refuse(rewarded(0.5, 0.0), &[]), learner(UserError::Weight));
    assert_eq!(refuse(rewarded(0.5, 1.0), &[]), None);
    assert_eq!(refuse(rewarded(0.5, 1.0), &[]), learner(UserError::DuplicateFeedback));
    assert_eq!(refuse(decide(), &[]), None);
    assert_eq!(refuse(Request::Expire { time: 100 }, &[]), None);
    assert_eq!(refuse(feedback(2), &[]), learner(UserError::ExpiredDecision));

    let observe = |action, reward| Request::Observe { context: nowhere(), action, reward, weight: 1.0 };
    assert_eq!(refuse(observe(18, 0.0), &[]), learner(UserError::UnknownAction));
    assert_eq!(refuse(observe(0, 2.0), &[]), learner(UserError::Reward));
    let unlearn = |baseline, probed| Request::Unlearn {
        context: nowhere(),
        action: 17, // not the one that was rewarded
        baseline,
        reward: 0.1,
        weight: 1.0,
        imputed: false,
        kept: 1.0,
        probed,
    };
    assert_eq!(refuse(unlearn(1e9, [0; 2]), &[]), learner(UserError::Baseline));
    assert_eq!(refuse(unlearn(0.0, [0; 2]), &[]), learner(UserError::NotLearned));
    assert_eq!(refuse(observe(17, 0.1), &[]), None);
    assert_eq!(refuse(unlearn(0.0, [1 << 6, 0]), &[]), learner(UserError::Probe)); // there are six contrasts

    let explain = |round, other| Request::Explain { incarnation: 0, round, other, first: 0 };
    assert_eq!(refuse(explain(9, None), &[]), learner(UserError::UnknownDecision));
    assert_eq!(refuse(explain(1, Some(18)), &[]), learner(UserError::UnknownAction));
    assert_eq!(refuse(Request::Assess { contrast: 6 }, &[]), Some(Fault::Missing));
    assert_eq!(refuse(Request::Trial { contrast: 6 }, &[]), Some(Fault::Missing));
    let compare = |prefer, over| Request::Compare { context: nowhere(), prefer, over, total: false };
    assert_eq!(refuse(compare(0, 0), &[]), learner(UserError::Comparison));
    assert_eq!(refuse(compare(0, 17), &[]), learner(UserError::Comparison));
    assert_eq!(refuse(compare(0, 18), &[]), learner(UserError::UnknownAction));
    assert_eq!(refuse(Request::Profile { index: 1 }, &[]), Some(Fault::Missing));
    assert_eq!(refuse(Request::Event { index: 0 }, &[]), Some(Fault::Missing));

    let storage = |fault| Some(Fault::Storage(fault));
    assert_eq!(refuse(Request::Stage { offset: 4 }, &[1]), storage(StorageFault::Order));
    assert_eq!(refuse(Request::Stage { offset: 0 }, &[1; 17]), storage(StorageFault::Full));
    assert_eq!(refuse(Request::Stage { offset: u32::MAX }, &[1; 17]), storage(StorageFault::Order));
    assert_eq!(refuse(Request::Stage { offset: 0 }, &[1; 16]), None);
    assert_eq!(refuse(Request::Commit { length: 15 }, &[]), storage(StorageFault::Order));
    assert_eq!(refuse(Request::Commit { length: 16 }, &[]), Some(Fault::from(RecordError::Truncated)));
}

#[test]
fn boards_without_storage_refuse_snapshots() {
    let policy = policy();
    let (mut learner, mut workspace) = (started(&policy), scratch());
    let mut store = RamStore::<0>::EMPTY;
    let mut server = server!(policy, learner, workspace, store);
    for (request, payload) in [(Request::Stage { offset: 0 }, &[1][..]), (Request::Commit { length: 0 }, &[])]
    {
        let sent = send!(server, framed(1, &request, payload));
        assert_eq!(sent[0].1, Reply::Fault(Fault::Storage(StorageFault::Unsupported)));
    }
}

#[test]
fn a_bad_snapshot_is_told_by_number_and_changes_nothing() {
    let policy = policy();
    let other = Policy::<f32>::new(&TAU2, Settings { noise_variance: 1.0, ..Settings::default() }).unwrap();
    let wide = Policy::<f64>::new(&TAU2, Settings { seed: 11, ..Settings::default() }).unwrap();
    let good = {
        let (mut learner, mut workspace) = (started(&policy), scratch());
        let context = TAU2.context(None, []).unwrap();
        learner.bind(&policy, &mut workspace).unwrap().observe(&context, Action(2), 0.5).unwrap();
        bytes(learner.snapshot())
    };
    let foreign = bytes(started(&other).snapshot());
    let f64s = {
        let mut learner = Learner::<f64, [f64; TAU2.state_len()], RING>::new(&TAU2);
        learner.start(&wide, 7).unwrap();
        bytes(learner.snapshot())
    };
    let crowded = {
        let mut learner = Learner::<f32, [f32; TAU2.state_len()], 16>::new(&TAU2);
        learner.start(&policy, 7).unwrap();
        let (context, all, mut workspace) =
            (TAU2.context(None, []).unwrap(), Feasible::all(&TAU2), scratch());
        let mut user = learner.bind(&policy, &mut workspace).unwrap();
        for _ in 0..12 {
            user.decide(&fable_core::Request::new(&context, &all)).unwrap();
        }
        bytes(user.snapshot())
    };
    let mut damaged = good.clone();
    damaged[500] ^= 1;
    let mut long = good.clone();
    long.push(0);
    let mut journal = good.clone();
    journal[..32].copy_from_slice(&Header::new(Kind::Journal, &policy, 7, 8).encode());

    let (mut learner, mut workspace) = (started(&policy), scratch());
    let mut memory = Memory::new(&learner, 100);
    let mut server = server!(policy, learner, workspace, memory);
    let mut sequence = 0;
    let mut upload = |staged: &[u8]| {
        for (offset, chunk) in (0..).step_by(256).zip(staged.chunks(256)) {
            sequence += 1;
            let count = offset + u32::try_from(chunk.len()).unwrap();
            let done = send!(server, framed(sequence, &Request::Stage { offset }, chunk));
            assert_eq!(done, [(sequence, Reply::Done { count }, vec![])]);
        }
        sequence += 1;
        let length = u32::try_from(staged.len()).unwrap();
        let before = bytes(server.device().user().snapshot());
        let reply = send!(server, framed(sequence, &Request::Commit { length }, &[])).remove(0).1;
        (reply, bytes(server.device().user().snapshot()) != before)
    };
    for (bytes, error) in [
        (&foreign, RecordError::Policy),
        (&f64s, RecordError::Scalar { found: 53 }),
        (&crowded, RecordError::Capacity { needed: 12 }),
        (&damaged, RecordError::Checksum),
        (&long, RecordError::TooLong),
        (&journal, RecordError::Foreign),
        (&good[..good.len() - 1].to_vec(), RecordError::Truncated),
    ] {
        assert_eq!(upload(bytes), (Reply::Fault(Fault::from(error)), false), "{error}");
    }
    assert_eq!(upload(&good), (Reply::Done { count: 0 }, true));
    assert_eq!(bytes(server.device().user().snapshot()), good);
}

/// An in-memory port that hands out a few bytes at a time.
struct Port {
    incoming: VecDeque<u8>,
    outgoing: Vec<u8>,
}

impl embedded_io::ErrorType for Port {
    type Error = Infallible;
}

impl embedded_io::Read for Port {
    fn read(&mut self, bytes: &mut [u8]) -> Result<usize, Infallible> {
        let count = bytes.len().min(5).min(self.incoming.len());
        for (slot, byte) in bytes.iter_mut().zip(self.incoming.drain(..count)) {
            *slot = byte;
        }
        Ok(count)
    }
}

impl embedded_io::Write for Port {
    fn write(&mut self, bytes: &[u8]) -> Result<usize, Infallible> {
        let count = bytes.len().min(3);
        self.outgoing.extend_from_slice(&bytes[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
}

impl embedded_io_async::Read for Port {
    async fn read(&mut self, bytes: &mut [u8]) -> Result<usize, Infallible> {
        pending_once().await;
        embedded_io::Read::read(self, bytes)
    }
}

impl embedded_io_async::Write for Port {
    async fn write(&mut self, bytes: &[u8]) -> Result<usize, Infallible> {
        pending_once().await;
        embedded_io::Write::write(self, bytes)
    }

    async fn flush(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
}

async fn pending_once() {
    let mut waited = false;
    core::future::poll_fn(|context| {
        context.waker().wake_by_ref();
        if std::mem::replace(&mut waited, true) {
            std::task::Poll::Ready(())
        } else {
            std::task::Poll::Pending
        }
    })
    .await;
}

#[test]
fn blocking_and_async_ports_carry_the_same_bytes() {
    let policy = probing();
    let script: Vec<u8> = (1..=60_u32)
        .flat_map(|round| {
            let sequence = round;
            let mut frames = framed(2 * sequence, &decide(), &[]);
            frames.extend(framed(2 * sequence + 1, &feedback(round), &[]));
            frames.extend(b"noise\0");
            frames
        })
        .collect();
    let run = |asynchronous: bool| {
        let (mut learner, mut workspace) = (started(&policy), scratch());
        let mut memory = Memory::new(&learner, 10);
        let mut port = Port { incoming: script.iter().copied().collect(), outgoing: vec![] };
        if asynchronous {
            let mut slow = Slow(&mut memory);
            block_on(server!(policy, learner, workspace, slow).serve_async(&mut port)).unwrap();
        } else {
            server!(policy, learner, workspace, memory).serve(&mut port).unwrap();
        }
        (learner, port.outgoing, memory.snapshot, memory.journal, memory.calls)
    };
    let (blocking, asynchronous) = (run(false), run(true));
    assert_eq!(blocking, asynchronous);
    assert_eq!(replies(&blocking.1).len(), 180);
    assert!(blocking.4.contains(&"ensure_capacity"));
    let coins = |(_, reply, _): &(u32, Reply, Vec<u8>)| {
        if let Reply::Decided { probes, .. } = reply { probes.len() } else { 0 }
    };
    assert!(replies(&blocking.1).iter().map(coins).sum::<usize>() > 10);
}

/// A host sees the coins and the certificate of each decision, and can compute the test itself. It also sees
/// the effect of unlearning a coin's reward.
#[test]
fn a_host_follows_the_coins() {
    let policy = probing();
    let (mut learner, mut workspace) = (started(&policy), scratch());
    let mut memory = Memory::new(&learner, 1_000_000);
    let mut server = server!(policy, learner, workspace, memory);
    let mut sequence = 0_u32;
    let mut ask = |request: &Request| {
        sequence += 1;
        let frame = framed(sequence, request, &[]);
        let sent = send!(server, frame);
        if matches!(request, Request::Decide { .. }) {
            assert_eq!(send!(server, frame), sent, "the same coins when it is asked again");
        }
        sent.into_iter().next().unwrap().1
    };
    let trial = |ask: &mut dyn FnMut(&Request) -> Reply, contrast: u8| match ask(&Request::Trial { contrast })
    {
        Reply::Trial(trial) => trial,
        other => panic!("{other:?}"),
    };
    // One component matters.
    let contrast = TAU2.contrast("concise_over_guided").unwrap();
    let declared = &TAU2.contrasts()[contrast];
    let (component, prefer) = (declared.component().unwrap(), declared.prefer[declared.component().unwrap()]);
    let number = u8::try_from(contrast).unwrap();
    let (mut wealth, mut coins, mut last) = ([[1.0_f64; 5]; 2], 0_u16, None);
    let certified = (1..=400).find(|round| {
        let Reply::Decided { round: number_of, action, probes, baseline } = ask(&decide()) else {
            panic!("no decision")
        };
        assert_eq!(number_of, *round);
        let liked = TAU2.values(Action(action)).unwrap()[component] == prefer;
        let reward = if liked { 0.5 } else { -0.25 };
        assert_eq!(
            ask(&Request::Feedback { incarnation: 0, round: *round, reward, weight: 1.0, time: 0 }),
            Reply::Done { count: *round }
        );
        for probe in probes.iter().filter(|probe| usize::from(probe.contrast) == contrast) {
            assert_eq!(probe.preferred, liked);
            let m = f64::from(probe.expected);
            let z = if probe.preferred { reward - m } else { m - reward };
            for (sign, products) in [1.0, -1.0].into_iter().zip(&mut wealth) {
                for (c, product) in [0.0625, 0.125, 0.25, 0.5, 0.875].into_iter().zip(products) {
                    *product *= 1.0 + sign * c * z / (1.0 + m.abs());
                }
            }
            coins += 1;
            last = Some((action, baseline, reward));
        }
        let trial = trial(&mut ask, number);
        let larger =
            wealth.map(|products| products.iter().sum::<f64>() / 5.0).into_iter().fold(0.0, f64::max);
        assert_eq!((trial.trials, trial.needed), (coins, 480.0));
        assert!((trial.e_value / larger - 1.0).abs() < 1e-4, "{} {larger}", trial.e_value);
        trial.certified != Verdict::Open
    });
    assert!(certified.is_some(), "{coins} coins, {wealth:?}");
    let Reply::Promotion { entry: Some((promotion, Standing::Holds)), .. } =
        ask(&Request::Profile { index: 0 })
    else {
        panic!("nothing was promoted")
    };
    assert_eq!(
        (promotion.contrast, promotion.verdict, promotion.by),
        (number, Verdict::For, Certifier::Probes)
    );
    assert_eq!(promotion.evidence, u32::from(coins));

    let (action, baseline, reward) = last.unwrap();
    let unlearn = |probed| Request::Unlearn {
        context: nowhere(),
        action,
        baseline,
        reward,
        weight: 1.0,
        imputed: false,
        kept: 1.0,
        probed,
    };
    assert!(matches!(ask(&unlearn([1 << contrast, 0])), Reply::Done { .. }));
    let again = trial(&mut ask, number);
    assert_eq!((again.trials, again.e_value, again.needed, again.certified), (0, 1.0, 960.0, Verdict::Open));
    assert!(matches!(
        ask(&Request::Profile { index: 0 }),
        Reply::Promotion { entry: Some((_, Standing::Revoked)), .. }
    ));
    // What was kept is the state.
    let mut kept = Tau2::new(&TAU2);
    kept.restore(&policy, &memory.snapshot).unwrap();
    for record in &memory.journal {
        let event = fable_core::record::decode_event(&TAU2, record).unwrap();
        kept.bind(&policy, &mut workspace).unwrap().check(&event).unwrap().apply();
    }
    assert_eq!(kept, learner);
}

/// Storage that has to be waited for.
struct Slow<'m>(&'m mut Memory);

impl AsyncUserStore for Slow<'_> {
    type Error = Fault;

    fn replies(&mut self) -> Option<&mut ReplyCache> {
        self.0.replies()
    }

    async fn append(&mut self, event: &Event) -> Result<bool, Fault> {
        pending_once().await;
        self.0.append(event)
    }

    async fn ensure_capacity<T: Scalar>(&mut self, user: &User<'_, T>) -> Result<(), Fault> {
        pending_once().await;
        self.0.ensure_capacity(user)
    }

    async fn forget<T: Scalar>(&mut self, user: &User<'_, T>) -> Result<(), Fault> {
        pending_once().await;
        self.0.forget(user)
    }

    async fn stage_write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), Fault> {
        pending_once().await;
        self.0.stage_write(offset, bytes)
    }

    async fn stage_commit<T: Scalar>(&mut self, user: &mut User<'_, T>, length: u32) -> Result<(), Fault> {
        pending_once().await;
        self.0.stage_commit(user, length)
    }

    async fn read_snapshot<T: Scalar>(
        &mut self,
        user: &User<'_, T>,
        offset: u32,
        buffer: &mut [u8],
    ) -> Result<usize, Fault> {
        pending_once().await;
        self.0.read_snapshot(user, offset, buffer)
    }

    async fn commit_prior<T: Scalar>(&mut self, policy: &Policy<'_, T>, length: u32) -> Result<(), Fault> {
        pending_once().await;
        self.0.commit_prior(policy, length)
    }

    async fn read_prior(&mut self, next: bool, offset: u32, buffer: &mut [u8]) -> Result<usize, Fault> {
        pending_once().await;
        self.0.read_prior(next, offset, buffer)
    }

    async fn read_event(&mut self, index: u32, buffer: &mut [u8]) -> Result<Option<usize>, Fault> {
        pending_once().await;
        self.0.read_event(index, buffer)
    }

    async fn usage(&mut self) -> Result<StoreUsage, Fault> {
        pending_once().await;
        self.0.usage()
    }
}

/// The rewards of a host and of the application are one history in one journal. A repeated frame is
/// recognized although the application has made changes in between.
#[test]
fn an_application_and_a_host_share_one_user() {
    let policy = policy();
    let (mut learner, mut workspace) = (started(&policy), scratch());
    let mut memory = Memory::new(&learner, 10);
    let mut server = server!(policy, learner, workspace, memory);
    let (context, all) = (TAU2.context(None, []).unwrap(), Feasible::all(&TAU2));
    let request = fable_core::Request::new(&context, &all);
    for turn in 0..40_u32 {
        let here = server.device().decide(&request).unwrap();
        let frame = framed(4 * turn + 1, &feedback(here.id.round), &[]);
        let done = [(4 * turn + 1, Reply::Done { count: 2 * turn + 1 }, vec![])];
        // In the middle of a frame, and before the same frame comes again.
        let (front, rest) = frame.split_at(turn as usize % frame.len());
        assert!(send!(server, front).is_empty());
        assert!(server.device().ask().predict(&context, here.action, None).is_ok());
        assert_eq!(send!(server, rest), done);
        let sent = send!(server, framed(4 * turn + 2, &decide(), &[]));
        let Reply::Decided { round, .. } = sent[0].1 else { panic!("{sent:?}") };
        assert_eq!(round, here.id.round + 1);
        let id = server.device().user().id(round);
        server.device().feedback(id, -0.25).unwrap();
        assert_eq!(send!(server, framed(4 * turn + 2, &decide(), &[])), sent, "not decided twice");
    }
    assert_eq!(
        (server.device().user().state().rounds(), server.device().user().state().observations()),
        (80, 80)
    );
    // What was kept is the state.
    let mut again = Tau2::new(&TAU2);
    again.restore(&policy, &memory.snapshot).unwrap();
    for record in &memory.journal {
        let event = fable_core::record::decode_event(&TAU2, record).unwrap();
        again.bind(&policy, &mut workspace).unwrap().check(&event).unwrap().apply();
    }
    assert_eq!(again, learner);
}

/// A preference that a reward makes certain is promoted at a promotion check. A promotion that cannot be
/// stored leaves the reward learned and acknowledged, and is made at a later check.
#[test]
fn a_reward_counts_also_when_its_promotion_cannot_be_kept() {
    let settings = Settings { noise_variance: 0.01, noise_proxy: Some(0.01), ..Settings::default() };
    let policy = Policy::<f32>::new(&TAU2, settings).unwrap();
    let (mut learner, mut workspace) = (started(&policy), scratch());
    let mut memory = Memory::new(&learner, 16);
    memory.fail = "ensure_capacity";
    let contrast = fable_core::preference::Comparison::declared(&TAU2, 0).unwrap();
    let rewards = [(contrast.prefer, 1.0), (contrast.over, -1.0)].into_iter().cycle();
    let mut device = Device::new(learner.bind(&policy, &mut workspace).unwrap(), &mut memory);
    for (action, reward) in rewards.clone().take(16) {
        device.observe(&contrast.context, action, reward).unwrap();
    }
    assert_eq!((device.user().state().observations(), device.user().profile().len()), (16, 0));
    assert_eq!(device.store().calls[15..], ["append", "append", "ensure_capacity"]); // the reward, and a promotion that was tried
    assert_eq!(device.observe(&contrast.context, contrast.prefer, 1.0), Err(StorageFault::Medium.into()));
    memory.fail = "";
    let mut device = Device::new(learner.bind(&policy, &mut workspace).unwrap(), &mut memory);
    for (action, reward) in rewards.take(16) {
        device.observe(&contrast.context, action, reward).unwrap();
    }
    assert_eq!((device.user().state().observations(), device.user().profile().len()), (32, 1));
}

#[test]
fn a_device_wants_a_learner_and_room_to_work() {
    let (policy, mut workspace) = (policy(), scratch());
    assert!(Tau2::new(&TAU2).bind(&policy, &mut workspace).is_err());
    let mut learner = started(&policy);
    assert!(learner.bind(&policy, &mut Workspace::<f32, _>::from_storage([0.0; 8])).is_err());
    let other = Policy::<f32>::new(&TAU2, Settings { noise_variance: 1.0, ..Settings::default() }).unwrap();
    assert!(learner.bind(&other, &mut workspace).is_err());
}

#[test]
fn a_server_fits_a_small_board() {
    // With what a key takes, 120 bytes.
    assert!(
        size_of::<Server<'static, f32, RamStore<0>>>() <= 528,
        "{}",
        size_of::<Server<'static, f32, RamStore<0>>>()
    );
    assert!(
        size_of::<Request>() <= 120 && size_of::<Reply>() <= 120,
        "{} {}",
        size_of::<Request>(),
        size_of::<Reply>()
    );
}

/// A user's own rule applies from the next decision on, for every request of the host. It is erased with the
/// user.
#[test]
fn a_device_obeys_what_its_user_wishes() {
    let policy = policy();
    let (mut learner, mut workspace) = (started(&policy), scratch());
    let mut store = RamStore::<0>::EMPTY;
    let mut server = server!(policy, learner, workspace, store);
    let all = 0x3_ffff_u32.to_le_bytes();
    let never = |value| UserRule::Never { component: 1, value, when: When::Always }.code();
    let wish = |code, stands| Request::UserRule { code, stands };
    let mut sequence = 0;
    let mut ask = |request: &Request, payload: &[u8]| {
        sequence = sequence % 255 + 1;
        send!(server, framed(sequence, request, payload)).remove(0).1
    };
    assert_eq!(ask(&wish(never(0), true), &[]), Reply::Done { count: 0 });
    assert_eq!(ask(&wish(never(1), true), &[]), Reply::Done { count: 0 });
    for _ in 0..30 {
        let Reply::Decided { action, .. } = ask(&decide(), &all) else { panic!("no decision") };
        assert_eq!(TAU2.values(Action(action)).unwrap()[1], 2);
    }
    // An invalid or already active rule changes nothing. A feasible set without an allowed action is refused.
    for (code, stands, error) in [
        (never(0), true, UserError::RuleExists),
        (never(2), false, UserError::RuleMissing),
        (never(3), true, UserError::UnknownRule),
        (0, true, UserError::UnknownRule),
        (u32::MAX, true, UserError::UnknownRule),
    ] {
        assert_eq!(ask(&wish(code, stands), &[]), Reply::Fault(error.into()));
    }
    let mut none = 0_u32;
    for action in TAU2.all_actions().iter().filter(|action| TAU2.values(*action).unwrap()[1] != 2) {
        none |= 1 << action.0;
    }
    assert_eq!(
        ask(&decide(), &none.to_le_bytes()),
        Reply::Fault(UserError::Feasible(FeasibleError::Empty).into())
    );
    // Lifted, switched off, forgotten.
    assert_eq!(ask(&wish(never(1), false), &[]), Reply::Done { count: 0 });
    assert!(matches!(ask(&decide(), &(1_u32 << 3).to_le_bytes()), Reply::Decided { action: 3, .. }));
    ask(&wish(UserRule::Off.code(), true), &[]);
    assert_eq!(ask(&decide(), &all), Reply::Fault(UserError::Off.into()));
    assert_eq!(ask(&feedback(31), &[]), Reply::Fault(UserError::Off.into()));
    assert_eq!(ask(&Request::Forget, &[]), Reply::Done { count: 1 });
    assert!(matches!(ask(&decide(), &1_u32.to_le_bytes()), Reply::Decided { action: 0, .. }));
}

/// A recommendation needs no storage and changes nothing, not even the cached last reply.
#[test]
fn a_recommendation_keeps_nothing() {
    let policy = policy();
    let (mut learner, mut workspace) = (started(&policy), scratch());
    let mut store = Memory { fail: "append", ..Memory::new(&learner, 9) };
    let mut server = server!(policy, learner, workspace, store);
    let before = bytes(server.device().user().snapshot());
    let ask = Request::Recommend { context: nowhere() };
    let all = Feasible::all(&TAU2);
    let context = TAU2.context(None, []).unwrap();
    let (mut twin, mut room) = (started(&policy), scratch());
    let mut user = twin.bind(&policy, &mut room).unwrap();
    let (best, score) = user.recommend(&fable_core::Request::new(&context, &all)).unwrap();
    assert_eq!(
        send!(server, framed(1, &ask, &[]))[0].1,
        Reply::Decided { round: 0, action: best.0, baseline: f64::from(score), probes: ProbeOutcomes::new() }
    );
    // One of four, and the action whose default is far above the others.
    let only = 0b1111_u32.to_le_bytes();
    assert!(matches!(
        send!(server, framed(2, &ask, &only))[0].1,
        Reply::Decided { round: 0, action: 0..=3, .. }
    ));
    let scores: Vec<u8> =
        (0..18_u8).flat_map(|action| if action == 11 { 50.0_f32 } else { 0.0 }.to_le_bytes()).collect();
    assert!(matches!(
        send!(server, framed(3, &ask, &scores))[0].1,
        Reply::Decided { round: 0, action: 11, baseline: 40.0..60.0, .. }
    ));
    let both = [&(1_u32 << 5).to_le_bytes()[..], &scores].concat();
    assert!(matches!(send!(server, framed(4, &ask, &both))[0].1, Reply::Decided { round: 0, action: 5, .. }));
    // Scores that are not numbers, too few of them, too many bytes.
    let wrong: Vec<u8> = [f32::NAN; 18].into_iter().flat_map(f32::to_le_bytes).collect();
    assert_eq!(
        send!(server, framed(5, &ask, &wrong))[0].1,
        Reply::Fault(UserError::DefaultRange { action: 0 }.into())
    );
    for wrong in [&scores[4..], &[&[1; 3], &scores[..]].concat()] {
        assert!(matches!(send!(server, framed(6, &ask, wrong))[0].1, Reply::Fault(_)));
    }
    assert!(bytes(server.device().user().snapshot()) == before);
}
