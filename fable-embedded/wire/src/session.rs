//! Seals: proof that a sender has the key, and protection against replay.
//!
//! The tag of a frame is SipHash-2-4, a keyed function for short messages that needs only 64-bit additions
//! and rotations. With the server's checks it takes 4.6 KB of flash on a Cortex-M0. The key of a session is
//! two tags under the shared key over both nonces and the number of the session. Sessions have different keys
//! if the nonces of a device differ between its starts.
//!
//! ```
//! use fable_wire::{Draft, Frame, Key, MAX_FRAME, Request, Session};
//! let key = Key::new(*b"sixteen bytes...");
//! // Nonce of the host, nonce of the device, number of the session.
//! let session = Session::new(&key, 1, 2, 3);
//! let mut buffer = [0; MAX_FRAME];
//! let mut sent = Draft::request(&mut buffer, 1, &Request::Statistics).seal_by(&session, 7).to_vec();
//! sent.pop();
//! let frame = Frame::open(&mut sent)?;
//! assert_eq!(frame.sealed_by(&session), Some(7));
//! assert_eq!(frame.sealed_by(&Session::new(&key, 1, 2, 4)), None);
//! # Ok::<(), fable_wire::Fault>(())
//! ```

use core::fmt;
use core::hash::Hasher;
use siphasher::sip::SipHasher24;
use subtle::ConstantTimeEq;

/// Label that separates the tags of a session's key from other uses of the shared key.
const LABEL: &[u8; 14] = b"fable session ";

/// The shared key: 16 random bytes. `Debug` does not show them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Key(u64, u64);

impl Key {
    /// Creates a key of bytes.
    #[must_use]
    pub const fn new(bytes: [u8; 16]) -> Self {
        let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = bytes;
        Self(u64::from_le_bytes([a, b, c, d, e, f, g, h]), u64::from_le_bytes([i, j, k, l, m, n, o, p]))
    }

    /// Reads the text of a key file: 32 hexadecimal digits, with optional white space before and after.
    /// Returns `None` for other text.
    ///
    /// ```
    /// use fable_wire::Key;
    ///
    /// // The text is often `include_bytes!("device.key")`.
    /// const KEY: Key = Key::from_hex(b"000102030405060708090a0b0c0d0e0F\n").unwrap();
    /// assert_eq!(KEY, Key::new([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]));
    /// assert_eq!(Key::from_hex(&[0; 16]), None); // raw bytes are not the text of a key file
    /// ```
    #[must_use]
    pub const fn from_hex(text: &[u8]) -> Option<Self> {
        let (pairs, rest) = text.trim_ascii().as_chunks::<2>();
        let (mut bytes, mut left) = ([0_u8; 16], pairs);
        if pairs.len() != bytes.len() || !rest.is_empty() {
            return None;
        }
        let mut slots = bytes.as_mut_slice();
        while let ([slot, others @ ..], [[high, low], more @ ..]) = (slots, left) {
            let (Some(high), Some(low)) = ((*high as char).to_digit(16), (*low as char).to_digit(16)) else {
                return None;
            };
            [*slot, ..] = (high * 16 + low).to_le_bytes();
            (slots, left) = (others, more);
        }
        Some(Self::new(bytes))
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key")
    }
}

#[cfg(feature = "defmt")]
impl defmt::Format for Key {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(f, "Key");
    }
}

/// The key of one session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Session(Key);

impl Session {
    /// Derives a session. `count` is the number of the session since the start of the device.
    #[must_use]
    pub fn new(key: &Key, host: u64, device: u64, count: u32) -> Self {
        let half = |number: u8| {
            let mut hasher = SipHasher24::new_with_keys(key.0, key.1);
            hasher.write(LABEL);
            hasher.write(&[number]);
            hasher.write(&host.to_le_bytes());
            hasher.write(&device.to_le_bytes());
            hasher.write(&count.to_le_bytes());
            hasher.finish()
        };
        Self(Key(half(0), half(1)))
    }

    /// Returns the tag over a counter and the bytes before the seal, which include the direction.
    #[inline(never)]
    pub(crate) fn tag(&self, counter: u32, front: &[u8]) -> u64 {
        let mut hasher = SipHasher24::new_with_keys(self.0.0, self.0.1);
        hasher.write(&counter.to_le_bytes());
        hasher.write(front);
        hasher.finish()
    }

    /// Compares tags in constant time.
    pub(crate) fn is_tag(&self, counter: u32, front: &[u8], tag: u64) -> bool {
        self.tag(counter, front).ct_eq(&tag).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Draft, Fault, Frame, MAX_FRAME, Reply, Request};
    use proptest::prelude::*;

    /// SipHash-2-4 of the standard library, an independent implementation.
    #[expect(deprecated, reason = "deprecated for its random keys, which are not used here")]
    fn reference(key: (u64, u64), message: &[u8]) -> u64 {
        let mut hasher = std::hash::SipHasher::new_with_keys(key.0, key.1);
        hasher.write(message);
        hasher.finish()
    }

    fn sealed(session: &Session, counter: u32, payload: &[u8]) -> Vec<u8> {
        let mut buffer = [0; MAX_FRAME];
        let mut draft = Draft::request(&mut buffer, 9, &Request::Stage { offset: 3 });
        assert!(draft.push(payload));
        let mut bytes = draft.seal_by(session, counter).to_vec();
        bytes.pop();
        bytes
    }

    #[test]
    fn tags_are_those_of_the_paper() {
        // Appendix A of "SipHash: a fast short-input PRF": key 00..0f, message 00..0e.
        let key = Key::new(core::array::from_fn(|place| place as u8));
        let message: [u8; 15] = core::array::from_fn(|place| place as u8);
        let (counter, rest) = message.split_first_chunk::<4>().unwrap();
        assert_eq!(Session(key).tag(u32::from_le_bytes(*counter), rest), 0xa129_ca61_49be_45e5);
    }

    #[test]
    fn a_session_is_derived_as_it_is_written_down() {
        let key = Key::new(*b"sixteen bytes...");
        let session = Session::new(&key, 0x0102_0304_0506_0708, 0x1112_1314_1516_1718, 5);
        let message = |half: u8| {
            let nonces =
                [0x0102_0304_0506_0708_u64.to_le_bytes(), 0x1112_1314_1516_1718_u64.to_le_bytes()].concat();
            [&b"fable session "[..], &[half], &nonces, &5_u32.to_le_bytes()].concat()
        };
        assert_eq!(
            session,
            Session(Key(reference((key.0, key.1), &message(0)), reference((key.0, key.1), &message(1))))
        );
        for other in [Session::new(&key, 1, 2, 3), Session::new(&key, 2, 1, 3), Session::new(&key, 1, 2, 4)] {
            assert_ne!(session, other);
        }
        assert_eq!(format!("{key:?} {session:?}"), "Key Session(Key)");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn a_sealed_frame_is_read_by_its_session_alone(
            nonces: (u64, u64, u32), counter: u32, payload in proptest::collection::vec(any::<u8>(), 0..=256)
        ) {
            let key = Key::new([7; 16]);
            let session = Session::new(&key, nonces.0, nonces.1, nonces.2);
            let bytes = sealed(&session, counter, &payload);
            prop_assert!(bytes.len() < MAX_FRAME);
            let mut again = bytes.clone();
            let frame = Frame::open(&mut again).unwrap();
            prop_assert!(frame.is_sealed() && !frame.is_reply());
            prop_assert_eq!((frame.sequence, frame.sealed_by(&session)), (9, Some(counter)));
            prop_assert_eq!(frame.request(), Ok((Request::Stage { offset: 3 }, &payload[..])));
            // Session and counter do not change the request id.
            let request_id = frame.request_id;
            let mut resent = sealed(&Session::new(&key, 1, 2, 3), counter.wrapping_add(1), &payload);
            prop_assert_eq!(Frame::open(&mut resent).unwrap().request_id, request_id);
            for (host, device, count) in [(nonces.0 ^ 1, nonces.1, nonces.2), (nonces.1, nonces.0, !nonces.2)] {
                prop_assert_eq!(frame.sealed_by(&Session::new(&key, host, device, count)), None);
            }
            prop_assert_eq!(frame.sealed_by(&Session::new(&Key::new([8; 16]), nonces.0, nonces.1, nonces.2)), None);
        }

        /// A flipped bit with a corrected checksum.
        #[test]
        fn a_flipped_bit_breaks_the_seal(counter: u32, payload in proptest::collection::vec(any::<u8>(), 0..=60), place: u16, bit in 0..8_u8) {
            let session = Session::new(&Key::new([7; 16]), 1, 2, 3);
            let stuffed = sealed(&session, counter, &payload);
            let mut body = cobs::decode_vec(&stuffed).unwrap();
            body.truncate(body.len() - 4);
            let place = usize::from(place) % body.len();
            body[place] ^= 1 << bit;
            let sum = fable_core::record::checksum(&body).to_le_bytes();
            let mut forged = cobs::encode_vec(&[&body[..], &sum].concat());
            let frame = Frame::open(&mut forged).unwrap();
            prop_assert_eq!(frame.sealed_by(&session), None);
        }
    }

    #[test]
    fn a_reply_is_sealed_too_and_is_not_a_request() {
        let session = Session::new(&Key::new([7; 16]), 1, 2, 3);
        let mut buffer = [0; MAX_FRAME];
        let mut bytes = Draft::reply(&mut buffer, 9, &Reply::Done { count: 1 }).seal_by(&session, 4).to_vec();
        bytes.pop();
        let frame = Frame::open(&mut bytes).unwrap();
        assert_eq!((frame.sealed_by(&session), frame.is_reply()), (Some(4), true));
        assert_eq!(frame.request(), Err(Fault::Content));
    }
}
