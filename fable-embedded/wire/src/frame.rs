//! Frames: delimiters, sequence numbers, checksums and seals for a line that may lose, repeat or corrupt
//! bytes.
//!
//! Both directions work in one buffer of [`MAX_FRAME`] bytes. A frame is opened in place, and a [`Draft`] is
//! stuffed in place.

use crate::VERSION;
use crate::codec::Wire;
use crate::fault::Fault;
use crate::field::WireShare;
use crate::message::{Reply, Request};
#[cfg(feature = "keyed")]
use crate::session::Session;
use fable_core::record::{Input, Output, checksum};

/// Bytes of the longest frame, including the delimiter.
pub const MAX_FRAME: usize = 300;
/// The byte that ends a frame and never occurs inside a frame.
pub const DELIMITER: u8 = 0;

/// Bytes that byte stuffing adds: one, and one more per 254.
const STUFFING: usize = 2;
const HEAD: usize = 5;
const SUM: usize = 4;
/// Bytes of the seal: counter and tag.
const SEAL: usize = 12;
/// Maximum end of a draft's payload in the buffer.
const LIMIT: usize = MAX_FRAME - 1 - SUM - SEAL;
/// Bit of the first byte that is set in a reply.
const REPLY: u8 = 0x80;
/// Bit of the first byte that is set in a sealed frame.
const KEYED: u8 = 0x40;

const _: () = assert!(MAX_FRAME - STUFFING < 2 * 254, "two bytes of stuffing are enough");

/// A received frame with a valid checksum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Frame<'b> {
    head: u8,
    /// Sequence number of the request. 0 in a reply to a frame that could not be read.
    pub sequence: u32,
    /// CRC-32 of everything but the seal. A repeated request has the same id.
    pub request_id: u32,
    /// The bytes that the seal protects: all bytes before the seal.
    #[cfg(feature = "keyed")]
    front: &'b [u8],
    /// Counter and tag of a sealed frame.
    #[cfg(feature = "keyed")]
    seal: (u32, u64),
    body: &'b [u8],
}

impl<'b> Frame<'b> {
    /// Opens the bytes before a delimiter, in place.
    ///
    /// # Errors
    /// [`Fault::Malformed`] if the bytes are not a frame or were damaged.
    #[inline]
    pub fn open(bytes: &'b mut [u8]) -> Result<Self, Fault> {
        let length = unstuff(bytes).ok_or(Fault::Malformed)?;
        let bytes = bytes.get(..length).ok_or(Fault::Malformed)?;
        let (front, sum) = split_sum(bytes).ok_or(Fault::Malformed)?;
        if checksum(front) != sum {
            return Err(Fault::Malformed);
        }
        #[cfg(feature = "keyed")]
        let (front, sum, seal) = match split_seal(front) {
            Some((front, counter, tag)) => (front, checksum(front), (counter, tag)),
            None => (front, sum, (0, 0)),
        };
        let [head, a, b, c, d, body @ ..] = front else { return Err(Fault::Malformed) };
        Ok(Self {
            head: *head,
            sequence: u32::from_le_bytes([*a, *b, *c, *d]),
            request_id: sum,
            #[cfg(feature = "keyed")]
            front,
            #[cfg(feature = "keyed")]
            seal,
            body,
        })
    }

    /// Returns true if the frame is sealed.
    #[must_use]
    pub const fn is_sealed(&self) -> bool {
        self.head & KEYED != 0
    }

    /// Returns the counter of the seal if the seal is of this session.
    #[cfg(feature = "keyed")]
    #[must_use]
    pub fn sealed_by(&self, session: &Session) -> Option<u32> {
        let (counter, tag) = self.seal;
        (self.is_sealed() && session.is_tag(counter, self.front, tag)).then_some(counter)
    }

    /// Returns true if the frame is a reply, from the device to the host.
    #[must_use]
    pub const fn is_reply(&self) -> bool {
        self.head & REPLY != 0
    }

    /// Returns the request and its payload.
    ///
    /// # Errors
    /// A frame of another version of the protocol, an unknown request, a message that cannot be read.
    #[inline]
    pub fn request(&self) -> Result<(Request, &'b [u8]), Fault> {
        self.admit(false)?;
        if self.body.first().is_some_and(|tag| !Request::has_tag(*tag)) {
            return Err(Fault::UnknownRequest);
        }
        let (request, payload) = read::<Request>(self.body)?;
        if payload.is_empty() || request.has_payload() { Ok((request, payload)) } else { Err(Fault::Content) }
    }

    /// Returns the reply and its payload.
    ///
    /// # Errors
    /// A frame of another version of the protocol, a message that cannot be read.
    #[inline]
    pub fn reply(&self) -> Result<(Reply, &'b [u8]), Fault> {
        self.admit(true)?;
        let (reply, payload) = read::<Reply>(self.body)?;
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

/// Reads a message, and returns it with the bytes after it.
#[inline]
fn read<M: Wire>(body: &[u8]) -> Result<(M, &[u8]), Fault> {
    let mut input = Input::new(body);
    let message = M::read(&mut input);
    input.end().map_err(|_| Fault::Content)?;
    Ok((message, input.rest()))
}

/// A frame being written.
#[derive(Debug)]
pub struct Draft<'b> {
    buffer: &'b mut [u8; MAX_FRAME],
    end: usize,
}

#[cfg(feature = "defmt")]
impl defmt::Format for Draft<'_> {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(f, "frame being written");
    }
}

impl<'b> Draft<'b> {
    /// Starts the frame of a request. Every request fits.
    #[must_use]
    #[inline]
    pub fn request(buffer: &'b mut [u8; MAX_FRAME], sequence: u32, request: &Request) -> Self {
        let mut draft = Self::new(buffer, VERSION, sequence);
        draft.write(|out| request.write(out));
        draft
    }

    /// Starts the frame of a reply. Every reply fits.
    #[must_use]
    #[inline]
    pub fn reply(buffer: &'b mut [u8; MAX_FRAME], sequence: u32, reply: &Reply) -> Self {
        let mut draft = Self::new(buffer, VERSION | REPLY, sequence);
        draft.write(|out| reply.write(out));
        draft
    }

    fn new(buffer: &'b mut [u8; MAX_FRAME], head: u8, sequence: u32) -> Self {
        let mut draft = Self { buffer, end: STUFFING };
        let [a, b, c, d] = sequence.to_le_bytes();
        let head: [u8; HEAD] = [head, a, b, c, d];
        draft.push(&head);
        draft
    }

    /// Returns the bytes left for the payload.
    pub fn free(&mut self) -> &mut [u8] {
        self.buffer.get_mut(self.end..LIMIT).unwrap_or_default()
    }

    /// Adds the first bytes of [`free`](Self::free) to the payload.
    #[inline]
    pub fn extend(&mut self, count: usize) {
        self.end = self.end.saturating_add(count).min(LIMIT);
    }

    /// Adds bytes to the payload, all or none. Returns true if they fit.
    #[inline]
    pub fn push(&mut self, bytes: &[u8]) -> bool {
        let Some(free) = self.free().get_mut(..bytes.len()) else { return false };
        for (slot, byte) in free.iter_mut().zip(bytes) {
            *slot = *byte;
        }
        self.extend(bytes.len());
        true
    }

    /// Adds a share of an explanation, all or none. Returns true if it fits.
    pub fn push_share(&mut self, share: &WireShare) -> bool {
        self.write(|out| share.write(out))
    }

    /// Adds the bytes that `write` writes, all or none. Returns true if they fit.
    fn write(&mut self, write: impl FnOnce(&mut Output<'_>)) -> bool {
        let mut out = Output::new(self.free());
        write(&mut out);
        let Some(used) = out.written() else { return false };
        self.extend(used);
        true
    }

    /// Finishes the frame with the seal of a session. The delimiter is included.
    #[cfg(feature = "keyed")]
    #[must_use]
    pub fn seal_by(mut self, session: &Session, counter: u32) -> &'b [u8] {
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

    /// Finishes the frame without a seal. The delimiter is included.
    #[must_use]
    #[inline]
    pub fn seal(self) -> &'b [u8] {
        let Self { buffer, mut end } = self;
        let sum = checksum(buffer.get(STUFFING..end).unwrap_or_default()).to_le_bytes();
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

/// Splits off the checksum. `split_last_chunk` keeps a panic if it is built for size.
#[inline]
fn split_sum(bytes: &[u8]) -> Option<(&[u8], u32)> {
    let (front, sum) = bytes.split_at_checked(bytes.len().checked_sub(SUM)?)?;
    Some((front, u32::from_le_bytes(sum.try_into().ok()?)))
}

/// Splits off the seal of a sealed frame: the bytes before the seal, the counter and the tag.
#[cfg(feature = "keyed")]
fn split_seal(bytes: &[u8]) -> Option<(&[u8], u32, u64)> {
    bytes.first().filter(|head| **head & KEYED != 0)?;
    let (front, seal) = bytes.split_at_checked(bytes.len().checked_sub(SEAL)?)?;
    let (counter, tag) = seal.split_at_checked(4)?;
    Some((front, u32::from_le_bytes(counter.try_into().ok()?), u64::from_le_bytes(tag.try_into().ok()?)))
}

/// Consistent overhead byte stuffing, in place. Moves the bytes from [`STUFFING`] to `end` to the front and
/// removes zeros.
///
/// A run of up to 254 nonzero bytes is preceded by its length + 1. A zero follows each run of less than 254
/// bytes. The write position never passes the read position, because a body of less than 508 bytes grows by
/// at most two.
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

/// Reverses [`stuff`], in place. Returns the length, or `None` for bytes that are not a stuffed body.
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
            // The crate ends at a zero and ignores the rest. Here a zero is never part of a frame.
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

    /// Bodies of any length but 0, with few different bytes, so that both zeros and long runs occur.
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
