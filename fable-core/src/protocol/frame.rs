//! Frames: how a message is marked off, named and protected on a line that may lose, repeat or invent bytes.
//!
//! Both directions work in one buffer of [`MAX_FRAME`] bytes: a frame is opened where it was received, and a [`Draft`] is
//! stuffed where it was written.

use super::{Fault, Reply, Request, VERSION, WireShare};
use crate::record::{CRC_32, Input, Output};

/// Bytes of the longest frame, its delimiter included.
pub const MAX_FRAME: usize = 300;
/// What marks the end of a frame and stands nowhere else.
pub const DELIMITER: u8 = 0;

/// Byte stuffing adds one byte, and one more per 254.
const STUFFING: usize = 2;
const HEAD: usize = 5;
const SUM: usize = 4;
/// Bytes of the counter and the tag of a frame that is sealed with a key.
const SEAL: usize = 12;
/// Where the payload of a draft ends at the latest.
const LIMIT: usize = MAX_FRAME - 1 - SUM - SEAL;
/// Set in the first byte of a reply.
const REPLY: u8 = 0x80;
/// Set in the first byte of a frame that is sealed with a key.
const KEYED: u8 = 0x40;

const _: () = assert!(MAX_FRAME - STUFFING < 2 * 254, "two bytes of stuffing are enough");

/// A frame that was received whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Frame<'b> {
    head: u8,
    /// Ties a reply to its request. 0 in a reply to a frame that could not be read.
    pub sequence: u32,
    /// Tells a request that is sent again from another one: the CRC-32 of all but the seal.
    pub ticket: u32,
    /// What the seal is over: all from the first byte up to it.
    #[cfg(feature = "keyed")]
    front: &'b [u8],
    /// Counter and tag, if it is sealed.
    #[cfg(feature = "keyed")]
    seal: (u32, u64),
    body: &'b [u8],
}

impl<'b> Frame<'b> {
    /// Opens the bytes before a delimiter, in place.
    ///
    /// # Errors
    /// [`Fault::Malformed`] when they are not a frame or were damaged.
    #[inline]
    pub fn open(bytes: &'b mut [u8]) -> Result<Self, Fault> {
        let length = unstuff(bytes).ok_or(Fault::Malformed)?;
        let bytes = bytes.get(..length).ok_or(Fault::Malformed)?;
        let (front, sum) = split_sum(bytes).ok_or(Fault::Malformed)?;
        if CRC_32.checksum(front) != sum {
            return Err(Fault::Malformed);
        }
        #[cfg(feature = "keyed")]
        let (front, sum, seal) = match split_seal(front) {
            Some((front, counter, tag)) => (front, CRC_32.checksum(front), (counter, tag)),
            None => (front, sum, (0, 0)),
        };
        let [head, a, b, c, d, body @ ..] = front else { return Err(Fault::Malformed) };
        Ok(Self {
            head: *head,
            sequence: u32::from_le_bytes([*a, *b, *c, *d]),
            ticket: sum,
            #[cfg(feature = "keyed")]
            front,
            #[cfg(feature = "keyed")]
            seal,
            body,
        })
    }

    /// Whether it is sealed with a key.
    #[must_use]
    pub const fn is_sealed(&self) -> bool {
        self.head & KEYED != 0
    }

    /// The counter of a frame that a session has sealed; `None` for any other.
    #[cfg(feature = "keyed")]
    #[must_use]
    pub fn sealed_by(&self, session: &super::Session) -> Option<u32> {
        let (counter, tag) = self.seal;
        (self.is_sealed() && session.is_tag(counter, self.front, tag)).then_some(counter)
    }

    /// Whether it goes from the device to the host.
    #[must_use]
    pub const fn is_reply(&self) -> bool {
        self.head & REPLY != 0
    }

    /// The request in it and its payload.
    ///
    /// # Errors
    /// A frame of another version of the protocol, an unknown request, one that cannot be read.
    #[inline]
    pub fn request(&self) -> Result<(Request, &'b [u8]), Fault> {
        self.admit(false)?;
        if self.body.first().is_some_and(|tag| *tag > Request::LAST) {
            return Err(Fault::UnknownRequest);
        }
        let mut input = Input::new(self.body);
        let request = input.request();
        input.end().map_err(|_| Fault::Content)?;
        let payload = input.rest();
        if payload.is_empty() || request.has_payload() { Ok((request, payload)) } else { Err(Fault::Content) }
    }

    /// The reply in it and its payload.
    ///
    /// # Errors
    /// A frame of another version of the protocol, a reply that cannot be read.
    #[inline]
    pub fn reply(&self) -> Result<(Reply, &'b [u8]), Fault> {
        self.admit(true)?;
        let (reply, payload) = postcard::take_from_bytes::<Reply>(self.body).map_err(|_| Fault::Content)?;
        if payload.is_empty() || reply.has_payload() { Ok((reply, payload)) } else { Err(Fault::Content) }
    }

    #[inline]
    const fn admit(&self, reply: bool) -> Result<(), Fault> {
        let version = self.head & !(REPLY | KEYED);
        if cfg!(not(feature = "keyed")) && self.is_sealed() {
            Err(Fault::Keyless)
        } else if version != VERSION {
            Err(Fault::Version { found: version })
        } else if self.is_reply() == reply {
            Ok(())
        } else {
            Err(Fault::Content)
        }
    }
}

/// A frame being written.
#[derive(Debug)]
pub struct Draft<'b> {
    buffer: &'b mut [u8; MAX_FRAME],
    end: usize,
}

impl<'b> Draft<'b> {
    /// Starts the frame of a request.
    #[must_use]
    #[inline]
    pub fn request(buffer: &'b mut [u8; MAX_FRAME], sequence: u32, request: &Request) -> Self {
        let mut draft = Self::new(buffer, VERSION, sequence);
        let used = postcard::to_slice(request, draft.free()).map_or(0, |used| used.len()); // every message fits, see the tests
        draft.extend(used);
        draft
    }

    /// Starts the frame of a reply.
    #[must_use]
    #[inline]
    pub fn reply(buffer: &'b mut [u8; MAX_FRAME], sequence: u32, reply: &Reply) -> Self {
        let mut draft = Self::new(buffer, VERSION | REPLY, sequence);
        draft.write(|output| output.reply(reply)); // every message fits, see the tests
        draft
    }

    fn new(buffer: &'b mut [u8; MAX_FRAME], head: u8, sequence: u32) -> Self {
        let mut draft = Self { buffer, end: STUFFING };
        let [a, b, c, d] = sequence.to_le_bytes();
        let head: [u8; HEAD] = [head, a, b, c, d];
        draft.push(&head);
        draft
    }

    /// The bytes left for the payload.
    pub fn free(&mut self) -> &mut [u8] {
        self.buffer.get_mut(self.end..LIMIT).unwrap_or_default()
    }

    /// Counts the first bytes of [`room`](Self::room) to the payload.
    #[inline]
    pub fn extend(&mut self, count: usize) {
        self.end = self.end.saturating_add(count).min(LIMIT);
    }

    /// Adds bytes to the payload, all or none; whether there was room.
    #[inline]
    pub fn push(&mut self, bytes: &[u8]) -> bool {
        let Some(room) = self.free().get_mut(..bytes.len()) else { return false };
        for (slot, byte) in room.iter_mut().zip(bytes) {
            *slot = *byte;
        }
        self.extend(bytes.len());
        true
    }

    /// Adds a share of an explanation, all or none; whether there was room.
    pub fn push_share(&mut self, share: &WireShare) -> bool {
        self.write(|output| output.share(share))
    }

    /// Adds what is written, all or none; whether there was room.
    fn write(&mut self, write: impl FnOnce(&mut Output<'_>)) -> bool {
        let mut output = Output::new(self.free());
        write(&mut output);
        let Some(used) = output.len() else { return false };
        self.extend(used);
        true
    }

    /// The finished frame, sealed by a session, its delimiter included.
    #[cfg(feature = "keyed")]
    #[must_use]
    pub fn seal_by(mut self, session: &super::Session, counter: u32) -> &'b [u8] {
        if let Some(head) = self.buffer.get_mut(STUFFING) {
            *head |= KEYED;
        }
        let tag = session.tag(counter, self.buffer.get(STUFFING..self.end).unwrap_or_default());
        let seal = counter.to_le_bytes().into_iter().chain(tag.to_le_bytes());
        for (slot, byte) in self.buffer.iter_mut().skip(self.end).zip(seal) {
            *slot = byte;
        }
        self.end += SEAL;
        self.seal()
    }

    /// The finished frame, its delimiter included.
    #[must_use]
    #[inline]
    pub fn seal(self) -> &'b [u8] {
        let Self { buffer, mut end } = self;
        let sum = CRC_32.checksum(buffer.get(STUFFING..end).unwrap_or_default()).to_le_bytes();
        for (slot, byte) in buffer.iter_mut().skip(end).zip(sum) {
            *slot = byte;
        }
        end += SUM;
        let length = stuff(buffer, end).unwrap_or(0);
        if let Some(slot) = buffer.get_mut(length) {
            *slot = DELIMITER;
        }
        buffer.get(..=length).unwrap_or_default()
    }
}

/// The bytes before the checksum, and it. `split_last_chunk` keeps a panic when it is built for size.
#[inline]
fn split_sum(bytes: &[u8]) -> Option<(&[u8], u32)> {
    let (front, sum) = bytes.split_at_checked(bytes.len().checked_sub(SUM)?)?;
    Some((front, u32::from_le_bytes(sum.try_into().ok()?)))
}

/// The bytes before the seal of a frame that has one, its counter and its tag.
#[cfg(feature = "keyed")]
fn split_seal(bytes: &[u8]) -> Option<(&[u8], u32, u64)> {
    bytes.first().filter(|head| **head & KEYED != 0)?;
    let (front, seal) = bytes.split_at_checked(bytes.len().checked_sub(SEAL)?)?;
    let (counter, tag) = seal.split_at_checked(4)?;
    Some((front, u32::from_le_bytes(counter.try_into().ok()?), u64::from_le_bytes(tag.try_into().ok()?)))
}

/// Consistent overhead byte stuffing, in place: what stands from [`STUFFING`] to `end` moves to the front without a zero in
/// it. A run of up to 254 bytes that are not zero is preceded by its length + 1, and a zero follows each run shorter than
/// that. What is written never overtakes what is read, because a body of less than 508 bytes grows by at most two.
#[inline]
fn stuff(buffer: &mut [u8], end: usize) -> Option<usize> {
    let (mut code, mut code_at, mut out) = (1, 0, 1);
    for position in STUFFING..end {
        let byte = *buffer.get(position)?;
        if byte != 0 {
            *buffer.get_mut(out)? = byte;
            (out, code) = (out + 1, code + 1);
        }
        if byte == 0 || (code == u8::MAX && position + 1 < end) {
            *buffer.get_mut(code_at)? = code;
            (code, code_at, out) = (1, out, out + 1);
        }
    }
    *buffer.get_mut(code_at)? = code;
    Some(out)
}

/// The way back, in place; the length, or `None` for what is not a stuffed body.
#[inline]
fn unstuff(bytes: &mut [u8]) -> Option<usize> {
    let (mut read, mut out) = (0, 0);
    while read < bytes.len() {
        let code = *bytes.get(read)?;
        read += 1;
        for _ in 1..code {
            let byte = *bytes.get(read)?;
            *bytes.get_mut(out)? = byte;
            (read, out) = (read + 1, out + 1);
            if byte == 0 {
                return None;
            }
        }
        if code == 0 {
            return None;
        }
        if code < u8::MAX && read < bytes.len() {
            *bytes.get_mut(out)? = 0;
            out += 1;
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn stuffed(body: &[u8]) -> Vec<u8> {
        let mut buffer = [0; MAX_FRAME];
        buffer[STUFFING..STUFFING + body.len()].copy_from_slice(body);
        let length = stuff(&mut buffer, STUFFING + body.len()).unwrap();
        buffer[..length].to_vec()
    }

    fn unstuffed(bytes: &[u8]) -> Option<Vec<u8>> {
        let mut bytes = bytes.to_vec();
        unstuff(&mut bytes).map(|length| bytes[..length].to_vec())
    }

    #[test]
    fn runs_of_every_length() {
        for length in 1..MAX_FRAME - STUFFING {
            for zero in (0..length).map(Some).chain([None]) {
                let mut body = vec![7; length];
                if let Some(zero) = zero {
                    body[zero] = 0;
                }
                let ours = stuffed(&body);
                assert_eq!(ours, cobs::encode_vec(&body));
                assert!(!ours.contains(&0));
                assert_eq!(unstuffed(&ours).unwrap(), body);
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn stuffing_is_that_of_the_cobs_crate(body in bodies()) {
            let ours = stuffed(&body);
            prop_assert_eq!(&ours, &cobs::encode_vec(&body));
            prop_assert_eq!(unstuffed(&ours), Some(body));
        }

        #[test]
        fn any_bytes_are_read_as_the_cobs_crate_reads_them(bytes in bodies()) {
            // The crate takes a zero as the end and forgives what follows; here a zero is never part of a frame.
            let expected = if bytes.contains(&0) { None } else { cobs::decode_vec(&bytes).ok() };
            prop_assert_eq!(unstuffed(&bytes), expected);
        }

        #[test]
        fn any_payload_comes_back(sequence: u32, offset: u32, payload in proptest::collection::vec(any::<u8>(), 0..=256)) {
            let mut buffer = [0; MAX_FRAME];
            let mut draft = Draft::request(&mut buffer, sequence, &Request::Stage { offset });
            prop_assert!(draft.push(&payload));
            let frame = draft.seal().to_vec();
            let (last, bytes) = frame.split_last().unwrap();
            prop_assert!(*last == DELIMITER && !bytes.contains(&DELIMITER));
            let mut bytes = bytes.to_vec();
            let frame = Frame::open(&mut bytes).unwrap();
            prop_assert_eq!(frame.sequence, sequence);
            prop_assert_eq!(frame.request(), Ok((Request::Stage { offset }, &payload[..])));
            prop_assert_eq!(frame.reply(), Err(Fault::Content));
        }

        #[test]
        fn a_flipped_bit_is_found(payload in proptest::collection::vec(any::<u8>(), 0..=256), place: u32, bit in 0..8_u8) {
            let mut buffer = [0; MAX_FRAME];
            let mut draft = Draft::reply(&mut buffer, 9, &Reply::Chunk { offset: 3 });
            prop_assert!(draft.push(&payload));
            let mut bytes = draft.seal().to_vec();
            bytes.pop();
            let place = place as usize % bytes.len();
            bytes[place] ^= 1 << bit;
            prop_assert_eq!(Frame::open(&mut bytes), Err(Fault::Malformed));
        }
    }

    /// Any length but 0, which no body has and the crate stuffs to nothing; few different bytes so that zeros and long runs both occur.
    fn bodies() -> impl Strategy<Value = Vec<u8>> {
        let longest = MAX_FRAME - STUFFING - 1;
        prop_oneof![
            proptest::collection::vec(any::<u8>(), 1..=longest),
            proptest::collection::vec(
                prop_oneof![100 => 1..=2_u8, 1 => Just(0), 1 => Just(255)],
                1..=longest
            ),
        ]
    }
}
