//! The stored bytes are a promise: what is written today is what the golden files hold, and what they hold is still read.
//!
//! `FABLE_WRITE_RECORDS=1 cargo test -p fable-golden are_pinned` writes the files anew, for a new version of the format.

use fable_core::catalog::{AGENT, TAU2};
use fable_core::journal::{Event, Observation, RemoteChange, RemoteEvent};
use fable_core::posterior::{Factor, Prior};
use fable_core::preference::Probes;
use fable_core::record::{
    MAX_EVENT_LEN, MAX_REMOTE_LEN, Verifier, decode_event, decode_prior, encode_event, encode_prior,
};
use fable_core::{Learner, Policy, Scalar, Settings};
use fable_golden::{
    EVENTS, LAMP, LAMP_PRIOR, LAMP_SNAPSHOT, RING, SEED, TAU2_F32_SNAPSHOT, TAU2_F64_SNAPSHOT, events, lamp,
    tau2,
};
use std::path::Path;

fn snapshot<T: Scalar>() -> Vec<u8> {
    let mut learner = Learner::<T, Vec<T>, RING>::from_storage(vec![T::ZERO; TAU2.state_len()]);
    tau2(SEED, &mut learner, &mut vec![T::ZERO; TAU2.workspace_len()]);
    written(&learner)
}

fn lamp_learner() -> Learner<f32, Vec<f32>, RING> {
    let mut learner = Learner::from_storage(vec![0.0; LAMP.state_len()]);
    lamp(&mut learner, &mut vec![0.0; LAMP.workspace_len()]);
    learner
}

fn written<T: Scalar>(learner: &Learner<T, Vec<T>, RING>) -> Vec<u8> {
    let (mut snapshot, mut chunk, mut bytes) = (learner.snapshot().unwrap(), [0; 256], vec![]);
    while let written @ 1.. = snapshot.read(&mut chunk) {
        bytes.extend_from_slice(&chunk[..written]);
    }
    bytes
}

fn journal(events: &[Event]) -> Vec<u8> {
    let mut bytes = vec![];
    for event in events {
        let mut buffer = [0; MAX_REMOTE_LEN];
        let encoded = encode_event(event, &mut buffer).unwrap();
        bytes.extend(u16::try_from(encoded.len()).unwrap().to_le_bytes());
        bytes.extend(encoded);
    }
    bytes
}

const ELSEWHERE: &[u8] = include_bytes!("../../records/elsewhere.events");

/// One event from elsewhere of each kind.
fn told() -> Vec<Event> {
    let mut changes = vec![RemoteChange::Nothing];
    for event in events() {
        changes.extend(match event {
            Event::Observation(observation) => {
                Some(RemoteChange::Reward { round: 0, observation, imputed: false, probes: Probes::new() })
            }
            Event::Onboarding(statement) => Some(RemoteChange::Stated(statement)),
            Event::Unlearn { observation, imputed, kept, probed } => {
                Some(RemoteChange::Unlearned { round: 70_000, observation, imputed, kept, probed })
            }
            Event::Decision { round, action, baseline, context, probes: coins, .. } => {
                let observation = Observation { context, action, baseline, reward: -0.75, weight: 1.0 };
                Some(RemoteChange::Reward { round, observation, imputed: coins.is_empty(), probes: coins })
            }
            Event::Promotion(promotion) => Some(RemoteChange::Promoted(promotion)),
            _ => None,
        });
    }
    let told = |(from, change)| {
        Event::Remote(RemoteEvent { site: 200 + from, from, to: 2 * from + 1, time: 1_790_000_000, change })
    };
    (0..).zip(changes).map(told).collect()
}

/// The state at the end of a life, as the prior of others.
fn prior() -> Vec<u8> {
    let learner = lamp_learner();
    let state = learner.posterior();
    let factor = Factor::new(LAMP.layout(), state.packed(), &mut vec![0.0; LAMP.workspace_len()]).unwrap();
    encode_prior(&Policy::with_prior(&LAMP, Settings::PAPER, Prior::Factor(factor)).unwrap()).unwrap()
}

#[test]
fn bytes_are_pinned() {
    let files = [
        ("tau2_f32.snapshot", snapshot::<f32>(), TAU2_F32_SNAPSHOT),
        ("tau2_f64.snapshot", snapshot::<f64>(), TAU2_F64_SNAPSHOT),
        ("lamp_f32.snapshot", written(&lamp_learner()), LAMP_SNAPSHOT),
        ("lamp_f32.prior", prior(), LAMP_PRIOR),
        ("agent.events", journal(&events()), EVENTS),
        ("elsewhere.events", journal(&told()), ELSEWHERE),
    ];
    for (name, written, pinned) in files {
        if std::env::var_os("FABLE_WRITE_RECORDS").is_some() {
            std::fs::write(Path::new(env!("CARGO_MANIFEST_DIR")).join("records").join(name), &written)
                .unwrap();
        } else {
            assert!(
                written == pinned,
                "{name} is not written as it was: stored states would not be readable any more"
            );
        }
    }
}

#[test]
fn pinned_events_are_read() {
    read_events(EVENTS, &events());
    read_events(ELSEWHERE, &told());
}

fn read_events(mut bytes: &[u8], events: &[Event]) {
    for event in events {
        let (length, rest) = bytes.split_at(2);
        let (encoded, rest) = rest.split_at(usize::from(u16::from_le_bytes([length[0], length[1]])));
        assert_eq!(decode_event(&AGENT, encoded).unwrap(), *event);
        bytes = rest;
    }
    assert!(bytes.is_empty());
}

/// The golden snapshot of the small catalog holds something of everything, and is read back whole.
#[test]
fn a_pinned_snapshot_is_read() {
    let policy =
        Policy::<f32>::new(&LAMP, Settings { base_precision: Some(1.0), ..Settings::PAPER }).unwrap();
    let mut verifier = Verifier::new(&policy);
    verifier.push(LAMP_SNAPSHOT).unwrap();
    let mut learner = Learner::<f32, Vec<f32>, RING>::from_storage(vec![0.0; LAMP.state_len()]);
    let mut loader = learner.load(&policy, verifier.finish().unwrap()).unwrap();
    loader.push(LAMP_SNAPSHOT).unwrap();
    loader.finish().unwrap();
    assert_eq!(learner, lamp_learner());
    assert_eq!((learner.state().rounds(), learner.profile().len()), (11, 1));
    let mut scratch = vec![0.0; LAMP.workspace_len()];
    assert_eq!(learner.bind(&policy, &mut scratch).unwrap().waiting(0).count(), 2);
    assert!(learner.profile()[0].valid && learner.state().observations() == 11 * 2 + 5 + 1);
}

/// So is a pinned prior.
#[test]
fn a_pinned_prior_is_read() {
    let policy = Policy::<f32>::new(&LAMP, Settings::PAPER).unwrap();
    assert_eq!(decode_prior(&policy, LAMP_PRIOR).unwrap(), lamp_learner().posterior().packed());
}

/// The sizes that the life of a flash is computed from.
#[test]
fn events_are_short() {
    let lengths: Vec<usize> =
        events().iter().map(|event| encode_event(event, &mut [0; MAX_EVENT_LEN]).unwrap().len()).collect();
    let [_, _, _, decision, feedback, weighted, .., probed, _, _] = lengths[..] else {
        panic!("{lengths:?}")
    };
    assert_eq!((decision, feedback, weighted, probed), (39, 15, 19, 49)); // two coins
}
