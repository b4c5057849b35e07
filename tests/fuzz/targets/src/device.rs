//! Any answers of a device: a host takes them or says what is wrong.
//! It talks on as soon as the answers are sound.

use fable_core::catalog::TAU2;
use fable_core::preference::Comparison;
use fable_core::record::checksum;
use fable_core::{Action, DecisionId, Feasible, Settings};
use fable_golden::TAU2_F32_SNAPSHOT;
use fable_std::device::Device;
use fable_wire::{CHUNK, DELIMITER, Draft, Frame, MAX_FRAME, Reply, Request, VERSION, WireShare};
use std::collections::VecDeque;
use std::io::{ErrorKind, Read, Result, Write};

/// The answer of an honest device once the answers are used up.
const DONE: u32 = 7;
/// Most bytes of a frame's content: without its head, its checksum, the stuffing and the delimiter.
const MOST: usize = MAX_FRAME - 24;
/// In the length of an answer: it is sent as it is.
const NOISE: u16 = 0x8000;
/// In the length of an answer: it is about a frame that could not be read.
const UNREAD: u16 = 0x4000;

/// A sound frame of any content, or no mutation would pass the checksum.
fn frame(sequence: u32, content: &[u8]) -> Vec<u8> {
    let body = [&[VERSION | 0x80], &sequence.to_le_bytes()[..], content].concat();
    let mut frame = cobs::encode_vec(&[&body[..], &checksum(&body).to_le_bytes()].concat());
    frame.push(DELIMITER);
    frame
}

/// Puts an event's checksum right.
fn seal(event: &mut [u8]) {
    let Some((body, end)) = event.split_last_chunk_mut() else { return };
    *end = crate::crc16(body).to_le_bytes();
}

/// A device that gives one answer after the other to any request, length in two bytes each.
struct Port<'a> {
    answers: &'a [u8],
    asked: Vec<u8>,
    line: VecDeque<u8>,
}

impl Port<'_> {
    fn answer(&mut self, sequence: u32) {
        if let [low, high, rest @ ..] = self.answers {
            let length = u16::from_le_bytes([*low, *high]);
            let (answer, rest) =
                rest.split_at(usize::from(length & !(NOISE | UNREAD)).min(rest.len()).min(MOST));
            self.answers = rest;
            let sequence = if length & UNREAD == 0 { sequence } else { 0 };
            self.line.extend(if length & NOISE == 0 { frame(sequence, answer) } else { answer.to_vec() });
        } else {
            self.line
                .extend(Draft::reply(&mut [0; MAX_FRAME], sequence, &Reply::Done { count: DONE }).seal());
        }
    }
}

impl Write for Port<'_> {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        self.asked.extend_from_slice(bytes);
        if self.asked.pop_if(|byte| *byte == DELIMITER).is_some() && !self.asked.is_empty() {
            let asked = std::mem::take(&mut self.asked);
            let mut asked: Vec<u8> = asked.into_iter().skip_while(|byte| *byte == DELIMITER).collect();
            let frame = Frame::open(&mut asked).unwrap();
            frame.request().unwrap();
            self.answer(frame.sequence);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
}

impl Read for Port<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> Result<usize> {
        if self.line.is_empty() { Err(ErrorKind::TimedOut.into()) } else { self.line.read(bytes) }
    }
}

/// A reply and its payload as they are sent.
fn sent(reply: &Reply, payload: &[u8]) -> Vec<u8> {
    let mut buffer = [0; MAX_FRAME];
    let mut draft = Draft::reply(&mut buffer, 1, reply);
    assert!(draft.push(payload));
    draft.seal().to_vec()
}

/// The first byte says what is asked after hello.
pub fn device(data: &[u8]) {
    let Some((verb, answers)) = data.split_first() else { return };
    let Ok(mut device) = Device::open(Port { answers, asked: vec![], line: VecDeque::new() }) else { return };
    let context = TAU2.context(None, []).unwrap();
    let id = DecisionId { user: device.hello().user, incarnation: 1, site: 0, round: 1 };
    match verb % 16 {
        0 => {
            if let Ok((reply, payload)) = device.ask(&Request::Hello, &[]) {
                let mut bytes = sent(&reply, &payload);
                let once = bytes.clone();
                bytes.pop();
                let (reply, payload) = Frame::open(&mut bytes).unwrap().reply().unwrap();
                assert_eq!(sent(&reply, payload), once);
            }
        }
        1 => {
            if let Ok((decision, _)) = device.decide_and_tell(&context, Some(&Feasible::all(&TAU2)), 0) {
                assert_eq!(
                    (decision.id.user, decision.id.round),
                    (device.hello().user, device.hello().rounds)
                );
            }
        }
        2 => {
            _ = device
                .explain(id, Some(Action(3)))
                .map(|why| why.shares.iter().map(WireShare::source).collect::<Vec<_>>());
        }
        3 => {
            if let Ok(mut tape) = device.tape()
                && let Ok(catalog) = device.catalog()
            {
                assert_eq!(
                    (catalog.actions(), tape.hello),
                    (usize::from(tape.hello.actions), *device.hello())
                );
                tape.events.iter_mut().for_each(|event| seal(event));
                if tape.snapshot.is_empty() {
                    tape.snapshot = TAU2_F32_SNAPSHOT.to_vec();
                }
                _ = tape.replay(catalog, Settings::PAPER);
            }
        }
        4 => _ = device.profile(),
        5 => _ = device.prior_header(true),
        6 => _ = device.load_prior(&[1; 2 * CHUNK]),
        7 => _ = device.restore(&[1; CHUNK + 1]),
        8 => _ = device.forget(),
        9 => _ = device.trial(0),
        10 => _ = device.assess(0),
        11 => _ = device.compare(&Comparison::declared(&TAU2, 0).unwrap()),
        12 => _ = device.feedback(id, 0.5, 1.0, 0),
        13 => _ = device.statistics(),
        14 => _ = device.journal(),
        _ => _ = device.greet(),
    }
    // Every request uses up an answer, and after the last one the device is honest.
    assert!((0..data.len()).any(|_| device.expire(0).is_ok_and(|count| count == DONE)));
}
