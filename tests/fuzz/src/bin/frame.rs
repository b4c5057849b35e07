//! Any bytes on a line: a device answers or not, refusals change nothing, and afterwards it still answers.
#![no_main]

use fable_core::catalog::TAU2;
use fable_core::protocol::{DELIMITER, Draft, Frame, MAX_FRAME, Reply, Request, VERSION};
use fable_core::{Learner, Policy, Settings, Workspace};
use fable_embedded::{Server, Volatile};
use libfuzzer_sys::fuzz_target;

/// CRC-32/ISO-HDLC.
fn sum(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| if sum & 1 == 0 { sum >> 1 } else { sum >> 1 ^ 0xedb8_8320 })
    })
}

// The input twice: as it is, and as a sequence of messages, length in one byte each, that get a sound frame, or no mutation
// would pass the checksum.
fuzz_target!(|data: &[u8]| {
    let policy = Policy::<f32>::new(&TAU2, Settings::default()).unwrap();
    let mut learner = Learner::<f32, Vec<f32>, 4>::over(vec![0.0; TAU2.state_len()]);
    let mut workspace = Workspace::over(vec![0.0; TAU2.workspace_len()]);
    learner.start(&policy, 1).unwrap();
    let mut server = Server::new(&policy, &mut learner, &mut workspace, Volatile::<4096>::VACANT).unwrap();
    for byte in data {
        server.push(*byte);
    }
    server.push(DELIMITER);

    let mut rest = data;
    let mut sequence = 0_u8;
    while let [length, more @ ..] = rest {
        let (message, more) = more.split_at(usize::from(*length).min(more.len()));
        rest = more;
        sequence = sequence.wrapping_add(1);
        let body = [&[VERSION, sequence], message].concat();
        let mut frame = cobs::encode_vec(&[&body[..], &sum(&body).to_le_bytes()].concat());
        frame.push(DELIMITER);
        let before = server.learner().clone();
        let mut reply = vec![];
        for byte in &frame {
            reply.extend_from_slice(server.push(*byte));
        }
        assert_eq!(reply.pop(), Some(DELIMITER));
        let frame = Frame::open(&mut reply).unwrap();
        assert_eq!(frame.sequence, sequence);
        if !matches!(frame.reply().unwrap().0, Reply::Done { .. } | Reply::Decided { .. }) {
            assert_eq!(*server.learner(), before);
        }
    }
    let packed = server.learner().posterior().packed();
    assert!(packed.iter().all(|number| number.is_finite()));
    let mut buffer = [0; MAX_FRAME];
    let hello = Draft::request(&mut buffer, 9, &Request::Hello).seal();
    let answered = hello.iter().any(|byte| !server.push(*byte).is_empty());
    assert!(answered);
});
