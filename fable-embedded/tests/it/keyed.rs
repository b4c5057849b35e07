//! A device with a key: whatever was not sealed for it, now, is refused and changes nothing.

use crate::wire::{bytes, framed, nowhere, policy, replies, scratch, started};
use fable_embedded::wire::{Draft, Fault, Frame, Key, MAX_FRAME, Reply, Request, Session, WireContext};
use fable_embedded::{Device, RamStore, Server};

const KEY: Key = Key::new(*b"what both have..");

type Keyed<'s> = Server<'s, f32, RamStore>;

fn decide() -> Request {
    Request::Decide { context: WireContext::new(&nowhere()), time: 0 }
}

fn push(server: &mut Keyed<'_>, frame: &[u8]) -> Vec<u8> {
    let mut sent = Vec::new();
    for byte in frame {
        sent.extend_from_slice(server.push(*byte));
    }
    sent
}

fn sealed(session: &Session, counter: u32, sequence: u32, request: &Request) -> Vec<u8> {
    let mut buffer = [0; MAX_FRAME];
    Draft::request(&mut buffer, sequence, request).seal_by(session, counter).to_vec()
}

/// A reply that has to be sealed by the session, with its counter.
fn answer(session: &Session, sent: &[u8]) -> (u32, Reply) {
    let mut frame = sent.strip_suffix(&[0]).unwrap().to_vec();
    let frame = Frame::open(&mut frame).unwrap();
    (frame.sealed_by(session).expect("sealed"), frame.reply().unwrap().0)
}

/// A reply that is not sealed.
fn plain(sent: &[u8]) -> Reply {
    let mut frame = sent.strip_suffix(&[0]).unwrap().to_vec();
    assert!(!Frame::open(&mut frame).unwrap().is_sealed());
    replies(sent).remove(0).1
}

fn open(server: &mut Keyed<'_>, key: &Key, host: u64) -> Session {
    let sent = push(server, &framed(1, &Request::Open { nonce: host }, &[]));
    let mut frame = sent.strip_suffix(&[0]).unwrap().to_vec();
    let (Reply::Opened { nonce, count }, []) = Frame::open(&mut frame).unwrap().reply().unwrap() else {
        panic!("{sent:?}")
    };
    Session::new(key, host, nonce, count)
}

/// Runs a test with a device that has the key; the number is its nonce.
fn with(nonce: u64, test: impl FnOnce(&mut Keyed<'_>)) {
    let policy = policy();
    let (mut learner, mut workspace, mut store) = (started(&policy), scratch(), RamStore::EMPTY);
    let device = Device::new(learner.bind(&policy, &mut workspace).unwrap(), &mut store);
    test(&mut Server::keyed(device, KEY, nonce));
}

#[test]
fn without_a_seal_nothing_is_answered_but_open() {
    with(3, |server| {
        let before = bytes(server.device().user().snapshot());
        let context = WireContext::new(&nowhere());
        let requests = [
            Request::Hello,
            decide(),
            Request::Recommend { context: context.clone() },
            Request::Observe { context, action: 3, reward: 0.5, weight: 1.0 },
            Request::Explain { incarnation: 0, round: 1, other: None, first: 0 },
            Request::Assess { contrast: 0 },
            Request::Trial { contrast: 0 },
            Request::Profile { index: 0 },
            Request::Promote { time: 0 },
            Request::Statistics,
            Request::Snapshot { offset: 0 },
            Request::Stage { offset: 0 },
            Request::Commit { length: 0 },
            Request::Event { index: 0 },
            Request::Prior { next: false, offset: 0 },
            Request::CommitPrior { length: 0 },
            Request::UserRule { code: 1, stands: true },
            Request::Expire { time: 9 },
            Request::Forget,
        ];
        for request in requests {
            assert_eq!(
                plain(&push(server, &framed(2, &request, &[]))),
                Reply::Fault(Fault::Locked),
                "{request:?}"
            );
        }
        // Opening alone opens nothing.
        let session = open(server, &KEY, 5);
        assert_eq!(plain(&push(server, &framed(2, &Request::Hello, &[]))), Reply::Fault(Fault::Locked));
        assert_eq!(bytes(server.device().user().snapshot()), before);
        let (counter, reply) = answer(&session, &push(server, &sealed(&session, 1, 2, &Request::Hello)));
        assert!(counter == 1 && matches!(reply, Reply::Hello(_)));
        let (counter, reply) = answer(&session, &push(server, &sealed(&session, 7, 3, &decide())));
        assert!(counter == 7 && matches!(reply, Reply::Decided { round: 1, .. }));
        // A refusal is sealed like any other answer.
        let (_, reply) =
            answer(&session, &push(server, &sealed(&session, 8, 4, &Request::Commit { length: 1 })));
        assert!(matches!(reply, Reply::Fault(Fault::Storage(_))));
    });
}

#[test]
fn a_wrong_key_opens_nothing() {
    with(3, |server| {
        let session = open(server, &Key::new([9; 16]), 5);
        assert_eq!(
            plain(&push(server, &sealed(&session, 1, 2, &Request::Hello))),
            Reply::Fault(Fault::Session)
        );
    });
}

/// Whoever changes a bit can put the checksum right, and no more.
#[test]
fn any_flipped_bit_is_refused() {
    with(3, |server| {
        let session = open(server, &KEY, 5);
        let frame = sealed(&session, 1, 2, &decide());
        let mut body = cobs::decode_vec(&frame[..frame.len() - 1]).unwrap();
        body.truncate(body.len() - 4);
        let before = bytes(server.device().user().snapshot());
        for place in 0..body.len() {
            for bit in 0..8 {
                let mut forged = body.clone();
                forged[place] ^= 1 << bit;
                let sum = fable_core::record::checksum(&forged).to_le_bytes();
                let mut forged = cobs::encode_vec(&[&forged[..], &sum].concat());
                forged.push(0);
                let sent = push(server, &forged);
                if !sent.is_empty() {
                    let reply = plain(&sent);
                    assert!(
                        matches!(reply, Reply::Fault(Fault::Session | Fault::Locked)),
                        "{place} {bit}: {reply:?}"
                    );
                } // a reply by its first bit, which is not answered
                assert_eq!(bytes(server.device().user().snapshot()), before, "{place} {bit}");
            }
        }
        let (_, reply) = answer(&session, &push(server, &frame));
        assert!(matches!(reply, Reply::Decided { round: 1, .. }), "the frame as it was is still good");
    });
}

#[test]
fn what_was_sent_before_is_refused() {
    let mut recorded = vec![];
    with(3, |server| {
        let session = open(server, &KEY, 5);
        let frames: Vec<_> =
            (1..=4).map(|counter| sealed(&session, counter, 10 + counter, &decide())).collect();
        recorded.clone_from(&frames);
        // Out of order: the third is ahead of the second.
        for (frame, round) in [
            (&frames[0], Some(1)),
            (&frames[2], Some(2)),
            (&frames[1], None),
            (&frames[0], None),
            (&frames[2], None),
        ] {
            let before = bytes(server.device().user().snapshot());
            let sent = push(server, frame);
            if let Some(round) = round {
                let decided = answer(&session, &sent).1;
                assert!(
                    matches!(decided, Reply::Decided { round: found, .. } if found == round),
                    "{decided:?}"
                );
            } else {
                assert_eq!(plain(&sent), Reply::Fault(Fault::Session));
                assert_eq!(bytes(server.device().user().snapshot()), before);
            }
        }
        // What the device itself has said is not taken for a request.
        let said = push(server, &sealed(&session, 9, 50, &Request::Statistics));
        assert!(push(server, &said).is_empty());

        // A session that somebody else opens ends nothing, until it is used by one who can.
        let stranger = open(server, &Key::new([1; 16]), 6);
        assert_eq!(plain(&push(server, &sealed(&stranger, 1, 1, &decide()))), Reply::Fault(Fault::Session));
        assert!(matches!(
            answer(&session, &push(server, &sealed(&session, 10, 51, &Request::Hello))).1,
            Reply::Hello(_)
        ));
        let next = open(server, &KEY, 5); // the same host's nonce makes another session
        assert_ne!(next, session);
        for frame in &frames {
            assert_eq!(plain(&push(server, frame)), Reply::Fault(Fault::Session));
        }
        assert!(matches!(
            answer(&next, &push(server, &sealed(&next, 1, 52, &Request::Hello))).1,
            Reply::Hello(_)
        ));
        let late = push(server, &sealed(&session, 11, 53, &Request::Hello));
        assert_eq!(plain(&late), Reply::Fault(Fault::Session), "the session before has ended");
    });
    // After a reset, with another nonce: what was recorded opens a session that fits nothing.
    with(4, |server| {
        open(server, &KEY, 5);
        for frame in &recorded {
            assert_eq!(plain(&push(server, frame)), Reply::Fault(Fault::Session));
        }
        assert_eq!(server.device().user().state().rounds(), 0);
    });
}

/// A reset loses the answer and the session. The request is repeated in another session and is recognized.
#[test]
fn a_request_comes_again_in_another_session() {
    let policy = policy();
    let (mut learner, mut workspace, mut store) = (started(&policy), scratch(), RamStore::<0>::EMPTY);
    let mut sent = vec![];
    for nonce in 1..4 {
        let device = Device::new(learner.bind(&policy, &mut workspace).unwrap(), &mut store);
        let mut server = Server::keyed(device, KEY, nonce);
        let session = open(&mut server, &KEY, 5);
        sent.push(answer(&session, &push(&mut server, &sealed(&session, 1, 77, &decide()))).1);
        assert_eq!(server.device().user().state().rounds(), 1);
    }
    assert!(sent[0] == sent[1] && sent[1] == sent[2], "{sent:?}");
}
