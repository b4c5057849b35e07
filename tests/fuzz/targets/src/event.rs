//! Any bytes are an event or an error. An event is checked or refused, and the state stays sound.

use fable_core::catalog::AGENT;
use fable_core::record::{MAX_REMOTE_LEN, decode_event, encode_event};
use fable_core::{HostUser, Policy, Settings};

fn seal(body: &[u8]) -> Vec<u8> {
    [body, &crate::crc16(body).to_le_bytes()].concat()
}

/// A sequence of events as in the golden file: length in two bytes, event, checksum.
/// The checksum is put right, or no mutation would pass it.
pub fn event(data: &[u8]) {
    let _ = decode_event(&AGENT, data);
    let policy = Policy::<f32>::new(&AGENT, Settings::default()).unwrap();
    let mut ana = HostUser::<f32, 4>::new(&policy, "ana").unwrap();
    let mut user = ana.user();
    let mut rest = data;
    while let [low, high, more @ ..] = rest {
        let length = usize::from(u16::from_le_bytes([*low, *high])).min(more.len());
        let (event, more) = more.split_at(length);
        rest = more;
        let Ok(event) = decode_event(&AGENT, &seal(&event[..length.saturating_sub(2)])) else { continue };
        let mut buffer = [0; MAX_REMOTE_LEN];
        let again = encode_event(&event, &mut buffer).unwrap();
        let mut second = [0; MAX_REMOTE_LEN];
        assert_eq!(encode_event(&decode_event(&AGENT, again).unwrap(), &mut second).unwrap(), again);
        if let Ok(step) = user.check(&event) {
            step.apply();
        }
    }
    let posterior = user.posterior();
    let packed = posterior.packed();
    assert!(packed.iter().all(|number| number.is_finite()));
    assert!(packed[..AGENT.dimension()].iter().all(|inverse| *inverse > 0.0));
    assert!(posterior.log_det_ratio() > -0.01);
    // After any events the state can be stored and read again. That takes a while: not every time.
    if !data.len().is_multiple_of(16) {
        return;
    }
    let again = HostUser::<f32, 4>::restore(&policy, &ana.to_bytes()).unwrap();
    assert!(again == ana);
}
