//! Records: written data is read back, a resumed learner is the same learner, and damaged or foreign bytes
//! change nothing.

use crate::common::{CUBE, MIXED, Random, start};
use crate::postcard_oracle;
use fable_core::catalog::{AGENT, Catalog, RUBRIC, TAU2};
use fable_core::catalog::{ActionSet, ContrastSet, Direction};
use fable_core::host::HostLearner;
use fable_core::journal::{Command, Event, Observation};
use fable_core::posterior::{Factor, Prior};
use fable_core::preference::Probes;
use fable_core::record::{
    HEADER_LEN, Header, Kind, MAX_EVENT_LEN, RecordError, VERSION, Verified, Verifier, decode_event,
    encode_event,
};
use fable_core::settings::{Deadline, Expiry};
use fable_core::{
    Action, Context, DecisionId, Feasible, HostUser, Policy, Request, Scalar, Settings, Statement,
};
use proptest::prelude::*;

/// A user's life, one random step at a time; every event goes through its bytes to a twin.
struct Life<'p, T> {
    ana: HostUser<'p, T, 6>,
    replayed: HostUser<'p, T, 6>,
    random: Random,
    learned: Vec<Observation>,
}

impl<'p, T: Scalar> Life<'p, T> {
    fn new(policy: &Policy<'p, T>, seed: u64) -> Self {
        Self::of(start(policy, seed), seed)
    }

    fn of(ana: HostUser<'p, T, 6>, seed: u64) -> Self {
        Self { replayed: ana.clone(), ana, random: Random(seed), learned: vec![] }
    }

    fn learner(&self) -> &HostLearner<T, 6> {
        self.ana.learner()
    }

    /// Encodes, decodes, compares, checks and applies; false when the command is refused.
    fn obey(&mut self, mut command: Command<'_>) -> bool {
        let catalog = self.ana.policy().catalog();
        let mut user = self.ana.user();
        loop {
            let step = match user.next(&mut command) {
                Ok(Some(step)) => step,
                Ok(None) => break,
                Err(_) => return false,
            };
            let mut buffer = [0xa5; MAX_EVENT_LEN];
            let bytes = encode_event(step.event(), &mut buffer).unwrap();
            assert_eq!(&bytes[..bytes.len() - 2], postcard_oracle::event_bytes(step.event()));
            let read = decode_event(catalog, bytes).unwrap();
            assert_eq!(&read, step.event());
            if let Event::Observation(observation) = &read {
                self.learned.push(*observation);
            }
            step.apply();
            self.replayed.user().check(&read).unwrap().apply();
        }
        assert_eq!(self.ana, self.replayed);
        true
    }

    fn step(&mut self, now: u32) {
        let catalog = self.ana.policy().catalog();
        let context = self.random.context(catalog);
        match self.random.below(12) {
            0 => {
                let direction =
                    Direction::new(catalog, [(self.random.below(catalog.dimension()), 1.0)]).unwrap();
                let statement = Statement { direction, response: self.random.signed(), precision: 2.0 };
                assert!(self.obey(Command::onboard(&[statement])));
            }
            1 | 9 => {
                // A clear preference, so that something is promoted.
                let action = self.random.action(catalog);
                let reward = if catalog.values(action).unwrap().last() == Some(&1) { 1.0 } else { -1.0 };
                assert!(self.obey(Command::observe(&context, action, reward).at(now)));
            }
            2 if !self.learned.is_empty() => {
                let index = self.random.below(self.learned.len());
                let observation = self.learned.swap_remove(index);
                self.obey(Command::unlearn(observation, false, 1.0, ContrastSet::EMPTY));
            }
            3..=6 => {
                let round =
                    self.ana.state().rounds().saturating_sub(u32::try_from(self.random.below(4)).unwrap());
                let (id, reward) = (self.ana.user().id(round), self.random.signed());
                self.obey(Command::feedback(id, reward).at(now));
            }
            7 if self.random.below(30) == 0 => {
                self.learned.clear();
                assert!(self.obey(Command::forget()));
            }
            8 => assert!(self.obey(Command::promote(now))),
            _ => {
                let mut set = ActionSet::EMPTY;
                (0..5).for_each(|_| set.insert(self.random.action(catalog)));
                let feasible = Feasible::from_set(catalog, set).unwrap();
                assert!(self.obey(Command::decide(Request::new(&context, &feasible).at(now))));
            }
        }
    }
}

fn write<T: Scalar, const R: usize>(learner: &HostLearner<T, R>, chunk: usize) -> Vec<u8> {
    let mut snapshot = learner.snapshot().unwrap();
    let mut buffer = vec![0xa5; chunk];
    let mut bytes = vec![];
    while let written @ 1.. = snapshot.read(&mut buffer) {
        bytes.extend_from_slice(&buffer[..written]);
    }
    assert_eq!(snapshot.read(&mut buffer), 0);
    bytes
}

fn verify<T: Scalar>(policy: &Policy<'_, T>, bytes: &[u8], chunk: usize) -> Result<Verified, RecordError> {
    let mut verifier = Verifier::new(policy);
    bytes.chunks(chunk).try_for_each(|chunk| verifier.push(chunk))?;
    verifier.finish()
}

fn load<T: Scalar, const R: usize>(
    policy: &Policy<'_, T>,
    bytes: &[u8],
    verified: Verified,
    learner: &mut HostLearner<T, R>,
) -> Result<(), RecordError> {
    let mut loader = learner.load(policy, verified)?;
    bytes.chunks(256).try_for_each(|chunk| loader.push(chunk))?;
    loader.finish()
}

fn vacant<T: Scalar, const R: usize>(catalog: &Catalog<'_>) -> HostLearner<T, R> {
    HostLearner::from_storage(vec![T::ZERO; catalog.state_len()])
}

/// Settings under which everything that a record can hold happens.
fn eventful(seed: u64) -> Settings<'static> {
    let (deadline, expiry) = (Deadline::Time(6), Expiry::Impute(0.125));
    let lax = Settings { alpha: 0.5, prior_radius: Some(0.0), min_evidence: 1, ..Settings::PAPER };
    Settings { seed, deadline, expiry, base_precision: Some(1.0), noise_variance: 0.01, ..lax }
}

/// Lives on from a snapshot exactly as without one, whatever the chunks.
fn resume<T: Scalar>(
    catalog: &Catalog<'_>,
    seed: u64,
    steps: u32,
    chunk: usize,
) -> Result<(), TestCaseError> {
    let policy = Policy::<T>::new(catalog, eventful(seed)).unwrap();
    let mut life = Life::new(&policy, seed);
    (0..steps).for_each(|now| life.step(now));

    let bytes = write(life.learner(), chunk);
    prop_assert_eq!(&bytes, &write(life.learner(), 256));
    prop_assert_eq!(&bytes, &life.ana.to_bytes());
    prop_assert!(HostUser::restore(&policy, &bytes).unwrap() == life.ana);
    let verified = verify(&policy, &bytes, chunk).unwrap();
    prop_assert_eq!((verified.user(), verified.rounds()), (seed, life.ana.state().rounds()));
    let mut again: HostLearner<T, 6> = vacant(catalog);
    load(&policy, &bytes, verified, &mut again).unwrap();
    prop_assert_eq!(&again, life.learner());

    let mut twin = Life::of(HostUser::from_learner(&policy, again).unwrap(), seed ^ 1);
    (life.random, life.learned) = (Random(seed ^ 1), vec![]);
    for now in steps..steps + 30 {
        life.step(now);
        twin.step(now);
        prop_assert_eq!(life.learner(), twin.learner());
    }
    prop_assert_eq!(write(life.learner(), 256), write(twin.learner(), 256));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_resumed_learner_is_the_same_learner(seed: u64, steps in 0_u32..120, chunk in 1_usize..300) {
        resume::<f32>(&MIXED, seed, steps, chunk)?;
        resume::<f64>(&CUBE, seed, steps, chunk)?;
        resume::<f32>(&RUBRIC, seed, steps, chunk)?;
    }

    /// Bytes that are not an event are refused; bytes that are one are one in every sense.
    #[test]
    fn any_bytes_are_an_event_or_an_error(mut bytes in prop::collection::vec(any::<u8>(), 0..80), tag in 0_u8..11) {
        let _ = decode_event(&AGENT, &bytes);
        if let Some(first) = bytes.first_mut() {
            *first = tag;
        }
        bytes.extend(crc16(&bytes).to_le_bytes());
        if let Ok(event) = decode_event(&AGENT, &bytes) {
            let mut buffer = [0; MAX_EVENT_LEN];
            let again = encode_event(&event, &mut buffer).unwrap();
            // Compared as bytes: a reward of NaN is an event too, until it is checked.
            let twice = decode_event(&AGENT, again).unwrap();
            let mut other = [0; MAX_EVENT_LEN];
            prop_assert_eq!(encode_event(&twice, &mut other).unwrap(), again);
        }
    }
}

/// CRC-16/IBM-3740, bit by bit: an independent implementation.
fn crc16(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0xffff, |sum, byte| {
        (0..8).fold(
            sum ^ u16::from(*byte) << 8,
            |sum, _| if sum & 0x8000 == 0 { sum << 1 } else { sum << 1 ^ 0x1021 },
        )
    })
}

/// CRC-32/ISO-HDLC, bit by bit.
fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |sum, byte| {
        (0..8).fold(
            sum ^ u32::from(*byte),
            |sum, _| if sum & 1 == 0 { sum >> 1 } else { sum >> 1 ^ 0xedb8_8320 },
        )
    })
}

#[test]
fn agent_resumes() {
    resume::<f32>(&AGENT, 11, 150, 256).unwrap();
    resume::<f64>(&AGENT, 12, 60, 256).unwrap();
}

/// The life above meets everything that a snapshot can hold.
#[test]
fn the_lives_are_eventful() {
    let policy = Policy::<f64>::new(&TAU2, eventful(3)).unwrap();
    let mut life = Life::new(&policy, 3);
    (0..120).for_each(|now| life.step(now));
    let user = life.ana.user();
    assert!(
        user.state().rounds() > 6 && user.state().observations() > 10,
        "{} {}",
        user.state().rounds(),
        user.state().observations()
    );
    assert!(!user.profile().is_empty());
    assert!(user.waiting(120).count() > 0 && user.state().permissions().len() > 1);
}

fn sample() -> Sample {
    let policy = Policy::<f32>::new(&TAU2, eventful(3)).unwrap();
    let mut life = Life::new(&policy, 3);
    (0..120).for_each(|now| life.step(now));
    let learner = life.ana.into_learner();
    let bytes = write(&learner, 256);
    Sample { policy, learner, bytes }
}

struct Sample {
    policy: Policy<'static, f32>,
    learner: HostLearner<f32, 6>,
    bytes: Vec<u8>,
}

/// Every truncation and every flipped bit is found before anything is loaded.
#[test]
fn damage_is_found() {
    let Sample { policy, bytes, .. } = sample();
    verify(&policy, &bytes, 256).unwrap();
    for length in 0..bytes.len() {
        assert_eq!(verify(&policy, &bytes[..length], 256), Err(RecordError::Truncated), "{length}");
    }
    let longer: Vec<u8> = bytes.iter().copied().chain([0]).collect();
    assert_eq!(verify(&policy, &longer, 256), Err(RecordError::TooLong));
    let mut damaged = bytes.clone();
    for bit in 0..8 * bytes.len() {
        damaged[bit / 8] ^= 1 << (bit % 8);
        assert!(verify(&policy, &damaged, 256).is_err(), "bit {bit}");
        damaged[bit / 8] ^= 1 << (bit % 8);
    }
    assert_eq!(damaged, bytes);

    let event = Event::Feedback { round: 9, reward: 0.25, weight: 1.0 };
    let mut buffer = [0; MAX_EVENT_LEN];
    let bytes = encode_event(&event, &mut buffer).unwrap();
    for length in 0..bytes.len() {
        assert!(decode_event(&TAU2, &bytes[..length]).is_err());
    }
    for bit in 0..8 * bytes.len() {
        let mut damaged = bytes.to_vec();
        damaged[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(decode_event(&TAU2, &damaged), Err(RecordError::Checksum));
    }
    assert_eq!(encode_event(&event, &mut [0; 14]), Err(RecordError::Buffer));
}

/// Puts right checksums on bytes that were changed on purpose.
fn seal(mut bytes: Vec<u8>) -> Vec<u8> {
    let sum = crc32(&bytes[..HEADER_LEN - 4]);
    bytes[HEADER_LEN - 4..HEADER_LEN].copy_from_slice(&sum.to_le_bytes());
    let end = bytes.len() - 4;
    let sum = crc32(&bytes[..end]);
    bytes[end..].copy_from_slice(&sum.to_le_bytes());
    bytes
}

/// Sealed bytes of another version, scalar, kind or policy, or with impossible numbers: an error each.
#[test]
fn foreign_bytes_have_their_own_error() {
    let Sample { policy, bytes, .. } = sample();
    assert_eq!(seal(bytes.clone()), bytes);
    let changed = |place: usize, byte: u8| {
        let mut bytes = bytes.clone();
        bytes[place] = byte;
        verify(&policy, &seal(bytes), 256).map(|_| ())
    };
    assert_eq!(changed(0, b'X'), Err(RecordError::Foreign));
    assert_eq!(changed(3, b'J'), Err(RecordError::Foreign)); // a journal
    assert_eq!(changed(4, VERSION + 1), Err(RecordError::Version { found: VERSION + 1 }));
    assert_eq!(changed(5, 53), Err(RecordError::Scalar { found: 53 }));
    assert_eq!(changed(5, 32), Err(RecordError::Content));
    let other = Policy::<f32>::new(&TAU2, Settings { noise_variance: 1.0, ..eventful(3) }).unwrap();
    let foreign = RecordError::Policy;
    assert_eq!(verify(&other, &bytes, 256), Err(foreign));
    let wide = Policy::<f64>::new(&TAU2, eventful(3)).unwrap();
    assert_eq!(verify(&wide, &bytes, 256), Err(RecordError::Scalar { found: 24 }));

    // Every byte of the counters, lists and numbers set to 255: refused, or a state that is still sound.
    let mut refused = 0;
    for place in HEADER_LEN..bytes.len() - 4 {
        let mut bytes = bytes.clone();
        bytes[place] = 0xff;
        let bytes = seal(bytes);
        match verify(&policy, &bytes, 256) {
            Err(
                RecordError::Content | RecordError::Truncated | RecordError::Checksum | RecordError::TooLong,
            ) => refused += 1,
            Err(error) => panic!("{place}: {error}"),
            Ok(verified) => {
                let mut again: HostLearner<f32, 6> = vacant(&TAU2);
                load(&policy, &bytes, verified, &mut again).unwrap();
                assert!(again.posterior().packed().iter().all(|number| number.is_finite()));
                assert_eq!(write(&again, 256), bytes);
            }
        }
    }
    assert!(refused > 100, "{refused}");

    // NaN, infinity and a negative pivot, with a right checksum.
    let first = bytes.len() - 4 - 4 * TAU2.state_len();
    for (index, number) in [
        (0, f32::NAN),
        (0, 0.0),
        (0, -1.0),
        (40, f32::INFINITY),
        (464, f32::NAN),
        (464, -1.0),
        (0, 2e3),
        (40, 3e38),
        (40, -2e12),
    ] {
        let mut bytes = bytes.clone();
        bytes[first + 4 * index..][..4].copy_from_slice(&number.to_le_bytes());
        assert_eq!(verify(&policy, &seal(bytes), 256), Err(RecordError::Content), "{index} {number}");
    }
}

/// A load that fails leaves a vacant learner, and what cannot be loaded into is not touched.
#[test]
fn there_is_no_half_loaded_state() {
    let Sample { policy, learner, bytes } = sample();
    let verified = verify(&policy, &bytes, 256).unwrap();
    let empty: HostLearner<f32, 6> = vacant(&TAU2);

    let mut busy = learner.clone();
    assert!(matches!(busy.load(&policy, verified), Err(RecordError::Occupied)));
    assert_eq!(busy, learner);
    busy.clear();
    assert_eq!(busy, empty);

    let mut small: HostLearner<f32, 1> = vacant(&TAU2);
    assert!(matches!(small.load(&policy, verified), Err(RecordError::Capacity { needed: 2..=6 })));
    let mut short = HostLearner::<f32, 6>::from_storage(vec![0.0; 100]);
    assert!(matches!(short.load(&policy, verified), Err(RecordError::Storage { expected: 586 })));

    // Dropped on the way, at any byte.
    let mut again = empty.clone();
    for length in (0..bytes.len()).step_by(7) {
        let mut loader = again.load(&policy, verified).unwrap();
        loader.push(&bytes[..length]).unwrap();
        drop(loader);
        assert_eq!(again, empty);
        let mut loader = again.load(&policy, verified).unwrap();
        loader.push(&bytes[..length]).unwrap();
        assert_eq!(loader.finish(), Err(RecordError::Truncated));
        assert_eq!(again, empty);
    }
    // Other bytes than those verified: of another user, and damaged.
    let mut stranger = Life::new(&policy, 4);
    (0..50).for_each(|now| stranger.step(now));
    assert_eq!(
        load(&policy, &write(stranger.learner(), 256), verified, &mut again),
        Err(RecordError::Changed)
    );
    assert_eq!(again, empty);
    // One difference at a time, each with right checksums: the user, the numbers, the counters.
    let numbers = bytes.len() - 4 - 4 * TAU2.state_len();
    for place in [16, numbers + 4 * 300, HEADER_LEN + 1 + 16] {
        let mut other = bytes.clone();
        other[place] ^= 1;
        let other = seal(other);
        verify(&policy, &other, 256).unwrap();
        assert_eq!(load(&policy, &other, verified, &mut again), Err(RecordError::Changed), "{place}");
        assert_eq!(again, empty);
    }
    // Errors stick: whoever goes on pushing after one gets no state.
    let mut other = bytes.clone();
    other[16] ^= 1;
    let other = seal(other);
    let mut loader = again.load(&policy, verified).unwrap();
    let refused = other.chunks(64).filter(|chunk| loader.push(chunk).is_err()).count();
    assert_eq!(refused, other.chunks(64).count());
    assert!(loader.finish().is_err());
    assert_eq!(again, empty);
    let mut verifier = Verifier::new(&policy);
    verifier.push(&bytes).unwrap();
    assert_eq!(verifier.push(&[0]), Err(RecordError::TooLong));
    assert!(verifier.finish().is_err());
    // A loader that is neither finished nor dropped leaves nothing to the next one.
    let mut loader = again.load(&policy, verified).unwrap();
    loader.push(&bytes[..bytes.len() / 2]).unwrap();
    std::mem::forget(loader);
    load(&policy, &bytes, verified, &mut again).unwrap();
    assert_eq!(again, learner);
    // In one call, over whoever is there: the new user or the old one.
    let mut other = stranger.ana.into_learner();
    let before = other.clone();
    for damaged in [&bytes[..bytes.len() - 1], &[&bytes[..], &[0]].concat(), &bytes[1..], &[]] {
        assert!(other.restore(&policy, damaged).is_err());
        assert_eq!(other, before);
    }
    other.restore(&policy, &bytes).unwrap();
    assert_eq!(other, learner);
    assert!(matches!(small.restore(&policy, &bytes), Err(RecordError::Capacity { needed: 2..=6 })));
    assert!(matches!(short.restore(&policy, &bytes), Err(RecordError::Storage { expected: 586 })));
    assert!(small.state().is_empty() && short.state().is_empty());
    assert!(HostLearner::<f32, 6>::from_storage(vec![]).snapshot().is_err());

    // More room is not an obstacle: the ring goes on where it was.
    let mut roomy: HostLearner<f32, 32> = vacant(&TAU2);
    load(&policy, &bytes, verified, &mut roomy).unwrap();
    let (mut roomy, mut learner) =
        (HostUser::from_learner(&policy, roomy).unwrap(), HostUser::from_learner(&policy, learner).unwrap());
    assert!(roomy.user().waiting(120).eq(learner.user().waiting(120)));
}

/// A population's state is another user's prior.
#[test]
fn a_snapshot_without_rounds_is_a_prior() {
    let policy = Policy::<f64>::new(&TAU2, Settings::PAPER).unwrap();
    let mut population = start::<f64, 6>(&policy, 0);
    let context = Context::new(&TAU2, None, &[]).unwrap();
    population.user().observe(&context, Action(4), 0.75).unwrap();
    let bytes = write(population.learner(), 256);

    let verified = verify(&policy, &bytes, 256).unwrap();
    assert_eq!(verified.rounds(), 0);
    let mut loaded: HostLearner<f64, 6> = vacant(&TAU2);
    load(&policy, &bytes, verified, &mut loaded).unwrap();
    let posterior = loaded.posterior();
    let factor =
        Factor::new(TAU2.layout(), posterior.packed(), &mut vec![0.0; TAU2.workspace_len()]).unwrap();
    let personal = Policy::with_prior(&TAU2, Settings::PAPER, Prior::Factor(factor)).unwrap();
    let mut ana = start::<f64, 6>(&personal, 7);
    let of = |ana: &mut HostUser<'_, f64, 6>| ana.user().predict(&context, Action(4), None).unwrap();
    assert_eq!(of(&mut ana), of(&mut population));
    assert_eq!((ana.state().observations(), ana.state().user()), (0, 7));
}

#[test]
fn headers_round_trip() {
    let policy = Policy::<f64>::new(&AGENT, Settings::PAPER).unwrap();
    let header = Header::new(Kind::Journal, &policy, 0x0123_4567_89ab_cdef, 6);
    let bytes = header.encode();
    assert_eq!(&bytes[..8], b"FABJ\x04\x35\x06\x00");
    assert_eq!(Header::decode(&bytes), Ok(header));
    assert_eq!(header.admit(Kind::Journal, &policy), Ok(()));
    assert_eq!(header.admit(Kind::Snapshot, &policy), Err(RecordError::Foreign));
    for length in 0..HEADER_LEN {
        assert_eq!(Header::decode(&bytes[..length]), Err(RecordError::Truncated));
    }

    // A journal is replayed from its header, under any promotion settings. The guarantee is that of the
    // start.
    let other = Policy::<f64>::new(&AGENT, Settings { alpha: 0.2, ..Settings::PAPER }).unwrap();
    let mut learner: HostLearner<f64, 6> = vacant(&AGENT);
    learner.start_journal(&other, &header).unwrap();
    assert_eq!(
        (learner.state().user(), learner.state().guarantee_fingerprint()),
        (header.user, policy.guarantee_fingerprint())
    );
    assert_ne!(policy.guarantee_fingerprint(), other.guarantee_fingerprint());
    // One that begins in a later incarnation: its decisions have names of their own and draws of their own.
    assert_eq!(learner.state().incarnation(), 0);
    let first = learner.clone();
    learner.start_journal_in(&other, &header, 41).unwrap();
    assert_eq!((learner.state().incarnation(), learner.state().rounds()), (41, 0));
    assert_eq!(learner.posterior(), first.posterior());
    let snapshot = Header { kind: Kind::Snapshot, ..header };
    assert_eq!(learner.start_journal(&policy, &snapshot), Err(RecordError::Foreign));
    let roomy = Header { capacity: 7, ..header };
    assert_eq!(learner.start_journal(&policy, &roomy), Err(RecordError::Capacity { needed: 7 }));
    let mut short = HostLearner::<f64, 6>::from_storage(vec![0.0; 9]);
    assert!(matches!(short.start_journal(&policy, &header), Err(RecordError::Storage { .. })));
}

/// The longest events fit, and every decision and feedback on `agent` is short, whatever its numbers.
#[test]
fn the_longest_events_fit() {
    let mut buffer = [0; MAX_EVENT_LEN];
    let entries = (0..24).map(|index| (AGENT.dimension() - 1 - index, 0.1));
    let direction = Direction::new(&AGENT, entries).unwrap();
    let statement = Event::Onboarding(Statement { direction, response: 0.1, precision: 0.1 });
    assert!(encode_event(&statement, &mut buffer).unwrap().len() <= MAX_EVENT_LEN);
    let mut all = ActionSet::first(1024);
    all.remove(Action(7));
    assert!(encode_event(&Event::Permissions(all), &mut buffer).unwrap().len() <= 4 + 5 * 32);
    let context = Context::new(&AGENT, Some(9), &[0.1; 4]).unwrap();
    let decision = Event::Decision {
        round: u32::MAX,
        action: Action(179),
        baseline: 0.1,
        context,
        time: u32::MAX,
        probes: Probes::new(),
    };
    assert_eq!(encode_event(&decision, &mut buffer).unwrap().len(), 39);
    let feedback = Event::Feedback { round: u32::MAX, reward: 0.1, weight: 1.0 };
    assert_eq!(encode_event(&feedback, &mut buffer).unwrap().len(), 15);
    let id = DecisionId { user: u64::MAX, incarnation: u32::MAX, site: 0, round: u32::MAX };
    assert!(id.to_string().len() <= 38);
}
