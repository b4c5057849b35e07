//! Any bytes are a prior or an error. A prior is written again as it was.
//! A user who begins with it can decide and learn.

use fable_core::catalog::TAU2;
use fable_core::record::{HEADER_LEN, Header, Kind, checksum};
use fable_core::{Feasible, HostUser, Policy, Settings};
use fable_std::prior_file::{NOBODY, informed, read, read_rounded, write};

/// A sound header and checksum are put in, or no mutation would pass them.
pub fn prior(data: &[u8]) {
    let base = Policy::<f32>::new(&TAU2, Settings::default()).unwrap();
    let wide = Policy::<f64>::new(&TAU2, Settings::default()).unwrap();
    let _ = (read(&base, data), read_rounded(&wide, data));
    if data.len() < HEADER_LEN + 4 {
        return;
    }
    let mut bytes = data.to_vec();
    bytes[..HEADER_LEN].copy_from_slice(&Header::new(Kind::Snapshot, &base, 7, 64).encode());
    let end = bytes.len() - 4;
    let sum = checksum(&bytes[..end]).to_le_bytes();
    bytes[end..].copy_from_slice(&sum);
    let Ok(packed) = read(&base, &bytes) else { return };
    assert_eq!(read_rounded(&wide, &bytes).unwrap().len(), packed.len());
    let Ok(policy) = informed(&base, Some(&packed)) else { return };
    assert_ne!(policy.fingerprint(), base.fingerprint());
    assert_eq!(read(&base, &write(&base, &packed, NOBODY).unwrap()).unwrap(), packed);

    let mut ana = HostUser::<f32>::new(&policy, "ana").unwrap();
    let (context, all) = (TAU2.context(None, []).unwrap(), Feasible::all(&TAU2));
    let decision = ana.decide(&context, &all).unwrap();
    ana.feedback(decision.id, 0.5).unwrap();
}
