//! Names for what was said: UUIDs of version 7, which are in the order of time.

use ring::rand::{SecureRandom, SystemRandom};
use std::time::SystemTime;

/// A new one.
pub(super) fn new(random: &SystemRandom, now: SystemTime) -> String {
    let mut bytes = [0; 16];
    let _ = random.fill(&mut bytes); // a system without random numbers still has the time
    let milliseconds = now.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64);
    write(milliseconds, u128::from_be_bytes(bytes))
}

/// 48 bits of time, the version, 12 bits, the variant, 62 bits.
fn write(milliseconds: u64, random: u128) -> String {
    let version = 7 << 76;
    let variant = 0b10 << 62;
    let chance = random & ((0xfff << 64) | ((1 << 62) - 1));
    let bits = (u128::from(milliseconds) << 80) | version | variant | chance;
    let hex = format!("{bits:032x}");
    let part = |from: usize, to: usize| hex.get(from..to).unwrap_or_default();
    [part(0, 8), part(8, 12), part(12, 16), part(16, 20), part(20, 32)].join("-")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn as_the_standard_says() {
        // The example of RFC 9562, appendix A.6.
        let random = (0xcc3 << 64) | 0x18c4_dc0c_0c07_398f;
        assert_eq!(write(0x017F_22E2_79B0, random), "017f22e2-79b0-7cc3-98c4-dc0c0c07398f");
        assert_eq!(write(0, u128::MAX), "00000000-0000-7fff-bfff-ffffffffffff");
        let at = |seconds| new(&SystemRandom::new(), SystemTime::UNIX_EPOCH + Duration::from_secs(seconds));
        assert!(at(1) < at(2) && at(2) != at(2));
    }
}
