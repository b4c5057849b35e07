//! Any bytes on a line: a device answers or not, and refusals change nothing.
//! Afterwards it still answers.

use fable_core::catalog::TAU2;
use fable_core::{HostUser, Policy, Settings, User};
use fable_embedded::{Device, RamStore, Server};
use fable_wire::{DELIMITER, Draft, Frame, Key, MAX_FRAME, Reply, Request, Session, VERSION};

fn bytes(user: &User<'_, f32>) -> Vec<u8> {
    let (mut snapshot, mut chunk, mut bytes) = (user.snapshot().unwrap(), [0; 256], vec![]);
    while let written @ 1.. = snapshot.read(&mut chunk) {
        bytes.extend_from_slice(&chunk[..written]);
    }
    bytes
}

/// The same bytes at a device with a key, bare and in a sound frame, in the session and without.
/// Nothing gets through that was not sealed.
fn locked(policy: &Policy<'_, f32>, data: &[u8]) {
    let mut ana = HostUser::<f32, 4>::new(policy, "ana").unwrap();
    let mut store = RamStore::<64>::EMPTY;
    let key = Key::new([7; 16]);
    let mut server = Server::keyed(Device::new(ana.user(), &mut store), key, 5);
    let mut buffer = [0; MAX_FRAME];
    Draft::request(&mut buffer, 1, &Request::Open { nonce: 3 })
        .seal()
        .iter()
        .for_each(|byte| drop(server.push(*byte).to_vec()));
    let session = Session::new(&key, 3, 5, 1);
    let before = bytes(server.device().user());
    for head in [0, VERSION, VERSION | 0x40] {
        let body = [&[head][..], data].concat();
        let body = if head == 0 { data } else { &body[..body.len().min(MAX_FRAME - 8)] };
        let mut frame = cobs::encode_vec(&[body, &crc32fast::hash(body).to_le_bytes()].concat());
        frame.push(DELIMITER);
        for byte in frame {
            let mut reply = server.push(byte).to_vec();
            if reply.pop().is_some() {
                let frame = Frame::open(&mut reply).unwrap();
                let reply = frame.reply().unwrap().0;
                assert!(
                    matches!(reply, Reply::Fault(_) | Reply::Opened { .. })
                        && frame.sealed_by(&session).is_none()
                );
            }
        }
        assert!(bytes(server.device().user()) == before);
    }
    let hello = Draft::request(&mut buffer, 9, &Request::Hello).seal_by(&session, 1);
    let answers: Vec<u8> = hello.iter().flat_map(|byte| server.push(*byte).to_vec()).collect();
    let mut answers = answers.strip_suffix(&[DELIMITER]).unwrap().to_vec();
    let frame = Frame::open(&mut answers).unwrap();
    // Somebody may have opened another session; the one before goes on only when it was used.
    assert!(frame.sealed_by(&session).is_some() || matches!(frame.reply().unwrap().0, Reply::Fault(_)));
}

/// The input twice: as it is, and as a sequence of messages, length in one byte each.
/// The messages get a sound frame, or no mutation would pass the checksum.
pub fn frame(data: &[u8]) {
    let policy = Policy::<f32>::new(&TAU2, Settings { probe: 1.0, ..Settings::default() }).unwrap();
    let mut ana = HostUser::<f32, 4>::new(&policy, "ana").unwrap();
    let mut store = RamStore::<4096>::EMPTY;
    let mut server = Server::new(Device::new(ana.user(), &mut store));
    for byte in data {
        server.push(*byte);
    }
    server.push(DELIMITER);

    let mut rest = data;
    let mut sequence = 0_u32;
    while let [length, more @ ..] = rest {
        let (message, more) = more.split_at(usize::from(*length).min(more.len()));
        rest = more;
        sequence = sequence.wrapping_add(1);
        let body = [&[VERSION], &sequence.to_le_bytes()[..], message].concat();
        let mut frame = cobs::encode_vec(&[&body[..], &crc32fast::hash(&body).to_le_bytes()].concat());
        frame.push(DELIMITER);
        let before = bytes(server.device().user());
        let mut reply = vec![];
        for byte in &frame {
            reply.extend_from_slice(server.push(*byte));
        }
        assert_eq!(reply.pop(), Some(DELIMITER));
        let frame = Frame::open(&mut reply).unwrap();
        assert_eq!(frame.sequence, sequence);
        if !matches!(frame.reply().unwrap().0, Reply::Done { .. } | Reply::Decided { .. }) {
            assert!(bytes(server.device().user()) == before);
        }
    }
    locked(&policy, data);
    let posterior = server.device().user().posterior();
    assert!(posterior.packed().iter().all(|number| number.is_finite()));
    let mut buffer = [0; MAX_FRAME];
    let hello = Draft::request(&mut buffer, 9, &Request::Hello).seal();
    let answered = hello.iter().any(|byte| !server.push(*byte).is_empty());
    assert!(answered);
}
