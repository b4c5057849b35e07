//! Random frames: no input panics, a refusal changes nothing, and the next good frame is answered.

use crate::wire::{Memory, Tau2, bytes, framed, policy, probing, scratch, started};
use crate::{send, server};
use fable_core::catalog::TAU2;
use fable_core::record::decode_event;
use fable_core::{Context, DecisionId, Policy, User};
use fable_embedded::wire::{Reply, Request, VERSION, WireContext, write_entry};
use rand_core::Rng;
use rand_xoshiro::{Xoshiro128PlusPlus, rand_core::SeedableRng};

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

fn below(random: &mut Xoshiro128PlusPlus, bound: usize) -> usize {
    random.next_u32() as usize % bound
}

/// A request that is mostly fine.
fn request(random: &mut Xoshiro128PlusPlus) -> (Request, Vec<u8>) {
    let context = WireContext::new(&Context::new(&TAU2, None, &[]).unwrap());
    let number =
        |random: &mut Xoshiro128PlusPlus| f64::from(random.next_u32()) / f64::from(u32::MAX) * 2.2 - 1.1;
    let (reward, round) = (number(random), random.next_u32() % 40);
    let action = u16::try_from(below(random, 19)).unwrap();
    let request = match below(random, 19) {
        0 => Request::Hello,
        1 => {
            let coordinate = u16::try_from(below(random, 30)).unwrap();
            return (
                Request::Onboard { response: reward, precision: 2.0 },
                write_entry(coordinate, number(random)).to_vec(),
            );
        }
        2 => {
            let words = (random.next_u32() & 0x3_ffff).to_le_bytes();
            return (
                Request::Decide { context, time: round },
                if round % 2 == 0 { words.to_vec() } else { vec![] },
            );
        }
        3 => Request::Feedback { incarnation: random.next_u32() % 2, round, reward, weight: 1.0, time: 0 },
        4 => Request::Observe { context, action, reward, weight: 0.5 },
        5 => Request::Unlearn {
            context,
            action,
            baseline: 0.0,
            reward,
            weight: 1.0,
            imputed: false,
            kept: 1.0,
            probed: [round & 0x7f, 0],
        },
        6 => Request::Explain { incarnation: 0, round, other: Some(action).filter(|_| round > 20), first: 0 },
        7 => Request::Assess { contrast: random.next_u32() as u8 % 8 },
        8 => Request::Compare { context, prefer: action, over: 3, total: round > 20 },
        9 => Request::Profile { index: random.next_u32() as u16 % 4 },
        10 => Request::Promote { time: round },
        11 => Request::Statistics,
        12 => Request::Expire { time: round },
        13 => Request::Snapshot { offset: random.next_u32() % 3000 },
        14 => {
            let bytes = (0..below(random, 257)).map(|_| random.next_u32() as u8).collect();
            return (Request::Stage { offset: if round > 20 { 0 } else { random.next_u32() } }, bytes);
        }
        15 => Request::Commit { length: random.next_u32() % 400 },
        16 => Request::Event { index: random.next_u32() % 30 },
        17 => Request::Trial { contrast: random.next_u32() as u8 % 8 },
        _ if round == 0 => Request::Forget,
        _ => Request::Hello,
    };
    (request, vec![])
}

/// All that can be seen of a user; every byte of it takes its time.
fn look(user: &User<'_, f32>, all: bool) -> impl PartialEq + use<> {
    let packed: Vec<u32> = user.posterior().packed().iter().map(|number| number.to_bits()).collect();
    let evidence: Vec<u32> =
        (0..8).flat_map(|component| (0..4).map(move |value| user.evidence(component, value))).collect();
    let waiting: Vec<DecisionId> = user.waiting(0).collect();
    let bytes = all.then(|| bytes(user.snapshot()));
    (*user.state(), packed, evidence, user.profile().to_vec(), waiting, bytes)
}

fn pelt(frames: u32, policy: &Policy<'static, f32>) {
    let (mut learner, mut workspace) = (started(policy), scratch());
    let mut memory = Memory::new(&learner, 20);
    let mut server = server!(*policy, learner, workspace, memory);
    let mut random = Xoshiro128PlusPlus::seed_from_u64(4);
    let (mut refused, mut done) = (0, 0);
    for turn in 0..frames {
        let mut frame = match below(&mut random, 4) {
            // Anything at all.
            0 => (0..below(&mut random, 400)).map(|_| random.next_u32() as u8).chain([0]).collect(),
            // Anything with a right checksum.
            1 => {
                let tag = random.next_u32() as u8 % 24;
                let rest =
                    (0..below(&mut random, 60)).map(|_| random.next_u32() as u8 & random.next_u32() as u8);
                sealed(
                    &[VERSION, turn as u8, (turn >> 8) as u8, 0, 0, tag]
                        .into_iter()
                        .chain(rest)
                        .collect::<Vec<_>>(),
                )
            }
            _ => {
                let (request, payload) = request(&mut random);
                framed(turn, &request, &payload)
            }
        };
        if below(&mut random, 3) == 0 {
            let place = below(&mut random, frame.len());
            match below(&mut random, 3) {
                0 => frame[place] ^= 1 << below(&mut random, 8),
                1 => drop(frame.remove(place)),
                _ => frame.insert(place, random.next_u32() as u8),
            }
        }
        let before = look(server.device().user(), turn % 64 == 0);
        let replies = send!(server, frame);
        let changing =
            replies.iter().any(|(_, reply, _)| matches!(reply, Reply::Done { .. } | Reply::Decided { .. }));
        if changing {
            done += 1;
        } else {
            assert!(look(server.device().user(), turn % 64 == 0) == before, "{frame:?}");
            refused += u32::from(replies.iter().any(|(_, reply, _)| matches!(reply, Reply::Fault(_))));
        }
        if turn % 64 == 0 {
            send!(server, [0]);
            assert!(matches!(
                send!(server, framed(200, &Request::Hello, &[]))[..],
                [(200, Reply::Hello(_), _)]
            ));
        }
    }
    assert!(refused > frames / 4 && done > frames / 40, "{refused} refused, {done} done of {frames}");
    // What was kept is the state: snapshot and journal give it again.
    let mut again = Tau2::new(&TAU2);
    again.restore(policy, &memory.snapshot).unwrap();
    for record in &memory.journal {
        let event = decode_event(&TAU2, record).unwrap();
        again.bind(policy, &mut workspace).unwrap().check(&event).unwrap().apply();
    }
    assert_eq!(again, learner);
    assert!(again.posterior().packed().iter().all(|number| number.is_finite()));
}

#[test]
fn a_million_random_frames() {
    pelt(700_000, &policy());
    pelt(300_000, &probing());
}
