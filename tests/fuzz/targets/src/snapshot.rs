//! Any bytes are a snapshot or an error.
//! A snapshot that is verified loads, and is written again byte for byte.

use fable_core::catalog::TAU2;
use fable_core::host::HostLearner;
use fable_core::record::{HEADER_LEN, Header, Kind, Verifier};
use fable_core::{Feasible, HostUser, Policy, Settings, UserError};

/// The first byte is the size of the chunks.
/// A sound header and checksums are put in, or no mutation would pass them.
pub fn snapshot(data: &[u8]) {
    let Some((chunk, data)) = data.split_first() else { return };
    let chunk = usize::from(*chunk).max(1);
    let policy = Policy::<f32>::new(&TAU2, Settings { probe: 1.0, ..Settings::default() }).unwrap();
    let mut verifier = Verifier::new(&policy);
    let _ = data.chunks(chunk).try_for_each(|chunk| verifier.push(chunk));

    if data.len() < HEADER_LEN + 4 {
        return;
    }
    let mut bytes = data.to_vec();
    bytes[..HEADER_LEN].copy_from_slice(&Header::new(Kind::Snapshot, &policy, 7, 64).encode());
    let end = bytes.len() - 4;
    let crc = crc32fast::hash(&bytes[..end]).to_le_bytes();
    bytes[end..].copy_from_slice(&crc);
    let mut verifier = Verifier::new(&policy);
    if bytes.chunks(chunk).try_for_each(|chunk| verifier.push(chunk)).is_err() {
        return;
    }
    let Ok(verified) = verifier.finish() else { return };
    let mut learner = HostLearner::<f32>::for_policy(&policy);
    let Ok(mut loader) = learner.load(&policy, verified) else { return };
    bytes.chunks(chunk).try_for_each(|chunk| loader.push(chunk)).unwrap();
    loader.finish().unwrap();

    assert_eq!(learner.to_bytes().unwrap(), bytes);
    let mut ana = HostUser::restore(&policy, &bytes).unwrap();
    assert!(*ana.learner() == learner);
    // It can be used: by a decision, or by an error if its numbers leave the scalar.
    let (context, all) = (TAU2.context(None, []).unwrap(), Feasible::all(&TAU2));
    if let Ok(decision) = ana.decide(&context, &all) {
        match ana.feedback(decision.id, 0.5) {
            Ok(()) | Err(UserError::Exhausted) => {} // by its count it may have learned all it can
            Err(error) => panic!("{error}"),
        }
    }
    for contrast in 0..TAU2.contrasts().len() {
        ana.user().trial(contrast).unwrap();
    }
    // Its counts of coins may contradict each other. Then nothing is promoted.
    match ana.user().promote(0) {
        Ok(_) | Err(UserError::NotPromoted) => {}
        Err(error) => panic!("{error}"),
    }
}
