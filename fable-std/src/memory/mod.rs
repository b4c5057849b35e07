//! What a user and an assistant have exchanged, kept within bounds, and what of it a memory mode brings back.
//!
//! A catalog with a component `memory` chooses, for each request, what the assistant is told about what was before. The names of its
//! values say what that is, see [`recall`]:
//!
//! | value | what the assistant is told |
//! |---|---|
//! | `no_memory`, in `tau2` `current_turn` | nothing |
//! | `recent_memory`, in `tau2` `conversation` | the last exchanges |
//! | `semantic_memory` | the exchanges that match the request best, by words ([`words`]) or by vectors of a model's ([`vectors`]) |
//! | `preference_memory` | what the user has stated, and the user's rules |
//! | `profile_summary` | the promoted preferences |
//!
//! Nothing is kept unless it is switched on, see [`may_remember`]. What is kept is bounded by [`Bounds`]: the oldest exchanges leave first, and a long one
//! is cut. [`Memory`] is a value in memory; stores keep it per user, and forgetting a user erases it with everything else.
//!
//! ```
//! use fable_std::memory::{Bounds, Exchange, Memory, Sources, recall};
//! let mut memory = Memory::default();
//! memory.push(Exchange::new("Which seat did I book?", "14A, at the window.", 7), &Bounds::default());
//! let sources = Sources { memory: &memory, stated: &[], profile: "" };
//! assert_eq!(recall("semantic_memory", "my seat", &sources).exchanges, memory.exchanges());
//! assert_eq!(recall("no_memory", "my seat", &sources).text, "");
//! # assert_eq!(Memory::decode(&memory.encode())?, memory);
//! # Ok::<(), fable_std::memory::MemoryError>(())
//! ```
//!
//! # Bytes
//!
//! | bytes | content |
//! |---|---|
//! | 1 | [`VERSION`] |
//! | ... | exchanges, the oldest first: time (4), length of the request (2), request, length of the answer (2), answer; UTF-8, at most [`EXCHANGE_BYTES`] of both |
//! | 4 | CRC-32/ISO-HDLC of all bytes before |
//!
//! All numbers are little-endian. Without an exchange there are no bytes at all.

mod recall;
mod stated;
pub mod vectors;
pub mod words;

pub use recall::{MODES, Mode, RECENT, Recalled, Sources, recall, recall_ranked};
pub use stated::{Stated, describe};

use serde::Serialize;
use std::fmt;

/// The version of the bytes.
pub const VERSION: u8 = 1;
/// Most bytes of one exchange, request and answer together.
pub const EXCHANGE_BYTES: usize = 4 << 10;
/// Bytes of an exchange beside its words.
const HEAD: usize = 8;

/// The component of a catalog that says what is brought back.
pub const COMPONENT: &str = "memory";

/// Whether an exchange with a user may be kept: the operator has switched memory on, and the user has not said no.
///
/// ```
/// use fable_std::memory::may_remember;
/// assert!(may_remember(true, None) && may_remember(true, Some(true)));
/// assert!(!may_remember(true, Some(false)) && !may_remember(false, Some(true)) && !may_remember(false, None));
/// ```
#[must_use]
pub const fn may_remember(operator: bool, user: Option<bool>) -> bool {
    operator && !matches!(user, Some(false))
}

/// A request and what was answered.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize)]
pub struct Exchange {
    /// The user's words.
    pub request: String,
    /// The assistant's.
    pub answer: String,
    /// The caller's time.
    pub at: u32,
}

impl Exchange {
    /// An exchange of at most [`EXCHANGE_BYTES`]: what is longer is cut, between characters. Half of the room is the request's at least, if it needs it.
    ///
    /// ```
    /// use fable_std::memory::{EXCHANGE_BYTES, Exchange};
    /// let long = Exchange::new(&"é".repeat(5_000), &"x".repeat(5_000), 0);
    /// assert_eq!((long.request.len(), long.answer.len()), (EXCHANGE_BYTES / 2, EXCHANGE_BYTES / 2));
    /// assert_eq!(Exchange::new("hello", &"x".repeat(5_000), 0).answer.len(), EXCHANGE_BYTES - 5);
    /// ```
    #[must_use]
    pub fn new(request: &str, answer: &str, at: u32) -> Self {
        let half = EXCHANGE_BYTES / 2;
        let request = cut(request, half.max(EXCHANGE_BYTES.saturating_sub(answer.len())));
        let answer = cut(answer, EXCHANGE_BYTES - request.len());
        Self { request: request.to_owned(), answer: answer.to_owned(), at }
    }

    /// Bytes that it counts for.
    #[must_use]
    pub const fn size(&self) -> usize {
        HEAD + self.request.len() + self.answer.len()
    }

    fn push(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.at.to_le_bytes());
        for words in [&self.request, &self.answer] {
            out.extend_from_slice(&(words.len() as u16).to_le_bytes());
            out.extend_from_slice(words.as_bytes());
        }
    }

    fn take(bytes: &mut &[u8]) -> Option<Self> {
        let (at, mut rest) = bytes.split_first_chunk()?;
        let mut words = || {
            let (length, behind) = rest.split_first_chunk()?;
            let (words, behind) = behind.split_at_checked(usize::from(u16::from_le_bytes(*length)))?;
            rest = behind;
            Some(std::str::from_utf8(words).ok()?.to_owned())
        };
        let exchange = Self { request: words()?, answer: words()?, at: u32::from_le_bytes(*at) };
        *bytes = rest;
        (exchange.size() <= HEAD + EXCHANGE_BYTES).then_some(exchange)
    }
}

/// The beginning of a text, of at most so many bytes.
fn cut(text: &str, most: usize) -> &str {
    text.get(..text.floor_char_boundary(most)).unwrap_or_default()
}

/// How much is kept of a user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Exchanges at most.
    pub exchanges: usize,
    /// Bytes of them at most, see [`Exchange::size`].
    pub bytes: usize,
}

impl Default for Bounds {
    /// 64 exchanges and 64 KiB.
    fn default() -> Self {
        Self { exchanges: 64, bytes: 64 << 10 }
    }
}

/// What was exchanged with a user, as far as it is kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    exchanges: Vec<Exchange>,
}

impl From<Vec<Exchange>> for Memory {
    /// All of them, the oldest first.
    fn from(exchanges: Vec<Exchange>) -> Self {
        Self { exchanges }
    }
}

impl Memory {
    /// The exchanges, the oldest first.
    #[must_use]
    pub fn exchanges(&self) -> &[Exchange] {
        &self.exchanges
    }

    /// The same, taken out of it.
    #[must_use]
    pub fn into_exchanges(self) -> Vec<Exchange> {
        self.exchanges
    }

    /// Whether nothing is kept.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.exchanges.is_empty()
    }

    /// Adds an exchange; the oldest leave until the rest is within the bounds.
    pub fn push(&mut self, exchange: Exchange, bounds: &Bounds) {
        self.exchanges.push(exchange);
        self.bound(bounds);
    }

    /// As many exchanges as bounds allow, from the newest on.
    #[must_use]
    pub fn of(exchanges: impl IntoIterator<Item = Exchange>, bounds: &Bounds) -> Self {
        let mut memory = Self { exchanges: exchanges.into_iter().collect() };
        memory.bound(bounds);
        memory
    }

    fn bound(&mut self, bounds: &Bounds) {
        let mut room = bounds.bytes;
        let newest = self.exchanges.iter().rev().take(bounds.exchanges);
        let kept = newest.take_while(|exchange| {
            let fits = exchange.size() <= room;
            room = room.saturating_sub(exchange.size());
            fits
        });
        let leave = self.exchanges.len() - kept.count();
        self.exchanges.drain(..leave);
    }

    /// Takes what was exchanged elsewhere: each exchange once, in the order of time, at the same time what was here before first.
    pub fn join(&mut self, other: Self) {
        for exchange in other.exchanges {
            if !self.exchanges.contains(&exchange) {
                self.exchanges.push(exchange);
            }
        }
        self.exchanges.sort_by_key(|exchange| exchange.at);
    }

    /// The bytes of it; none if nothing is kept.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        encode(&self.exchanges)
    }

    /// Reads what [`encode`](Self::encode) wrote.
    ///
    /// # Errors
    /// Anything else.
    pub fn decode(bytes: &[u8]) -> Result<Self, MemoryError> {
        if bytes.is_empty() {
            return Ok(Self::default());
        }
        let (content, sum) = bytes.split_last_chunk().ok_or(MemoryError::Damaged)?;
        if crc32fast::hash(content) != u32::from_le_bytes(*sum) {
            return Err(MemoryError::Damaged);
        }
        let mut rest = match content.split_first() {
            Some((&VERSION, rest)) if !rest.is_empty() => rest,
            Some((&found, _)) if found != VERSION => return Err(MemoryError::Version { found }),
            _ => return Err(MemoryError::Damaged),
        };
        let mut exchanges = Vec::new();
        while !rest.is_empty() {
            exchanges.push(Exchange::take(&mut rest).ok_or(MemoryError::Damaged)?);
        }
        Ok(Self { exchanges })
    }
}

/// The bytes of exchanges; none for none.
pub(crate) fn encode(exchanges: &[Exchange]) -> Vec<u8> {
    if exchanges.is_empty() {
        return Vec::new();
    }
    let mut bytes = vec![VERSION];
    for exchange in exchanges {
        exchange.push(&mut bytes);
    }
    bytes.extend_from_slice(&crc32fast::hash(&bytes).to_le_bytes());
    bytes
}

/// Why bytes are not a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MemoryError {
    /// They are damaged or not complete.
    Damaged,
    /// They were written by another version.
    Version {
        /// Its version.
        found: u8,
    },
}

impl fmt::Display for MemoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Damaged => f.write_str("what is remembered is damaged or not complete"),
            Self::Version { found } => {
                write!(f, "what is remembered has version {found}, this program reads version {VERSION}")
            }
        }
    }
}

impl std::error::Error for MemoryError {}

#[cfg(test)]
mod tests {
    use super::*;

    fn exchange(number: usize) -> Exchange {
        Exchange::new(&format!("request {number}"), &format!("answer {number}"), number as u32)
    }

    #[test]
    fn the_oldest_leave_first() {
        let bounds = Bounds { exchanges: 3, bytes: 1 << 10 };
        let mut memory = Memory::default();
        for number in 0..10 {
            memory.push(exchange(number), &bounds);
            assert!(memory.exchanges().len() <= 3);
        }
        assert_eq!(memory.exchanges(), [exchange(7), exchange(8), exchange(9)]);
        let two = 2 * exchange(8).size();
        assert_eq!(
            Memory::of(memory.exchanges, &Bounds { exchanges: 9, bytes: two }).exchanges(),
            [exchange(8), exchange(9)]
        );
        let nothing = Bounds { exchanges: 0, bytes: 1 << 10 };
        assert!(Memory::of([exchange(1)], &nothing).is_empty());
        // One that does not fit lets nothing older past it.
        let long = Exchange::new(&"x".repeat(900), "", 0);
        let kept = Memory::of([exchange(1), long.clone(), exchange(2)], &Bounds { exchanges: 9, bytes: 500 });
        assert_eq!(kept.exchanges(), [exchange(2)]);
    }

    #[test]
    fn what_was_said_at_two_places_is_one_conversation() {
        let at = |words: &str, at: u32| Exchange::new(words, "", at);
        let mut home = Memory::from(vec![at("a", 1), at("b", 5), at("same", 7)]);
        home.join(Memory::from(vec![at("x", 0), at("y", 5), at("same", 7), at("z", 9)]));
        let words: Vec<&str> = home.exchanges().iter().map(|exchange| exchange.request.as_str()).collect();
        assert_eq!(words, ["x", "a", "b", "y", "same", "z"]);
    }

    #[test]
    fn cuts_are_between_characters() {
        for length in EXCHANGE_BYTES - 4..EXCHANGE_BYTES + 4 {
            for letter in ["x", "é", "€", "𝄞"] {
                let exchange = Exchange::new(&letter.repeat(length), &letter.repeat(length), 1);
                assert!(exchange.request.len() + exchange.answer.len() <= EXCHANGE_BYTES);
                assert!(exchange.size() + 4 > EXCHANGE_BYTES);
                assert_eq!(
                    Memory::decode(&encode(std::slice::from_ref(&exchange))).unwrap().exchanges(),
                    [exchange]
                );
            }
        }
        assert_eq!(Exchange::new("", "", 3).size(), HEAD);
    }

    /// The bytes are a promise; another version has other ones.
    #[test]
    fn bytes_are_pinned() {
        let memory = Memory { exchanges: vec![Exchange::new("où?", "là", 258), Exchange::new("", "!", 0)] };
        let bytes = memory.encode();
        let pinned = [
            &[1][..],
            &[2, 1, 0, 0, 4, 0, b'o', 0xc3, 0xb9, b'?', 3, 0, b'l', 0xc3, 0xa0],
            &[0, 0, 0, 0, 0, 0, 1, 0, b'!'],
            &[0xbd, 0x30, 0x35, 0x80],
        ]
        .concat();
        assert_eq!(bytes, pinned);
        assert_eq!(Memory::decode(&bytes), Ok(memory));
        assert_eq!((Memory::default().encode(), Memory::decode(&[])), (vec![], Ok(Memory::default())));
    }

    #[test]
    fn damage_is_found() {
        let bytes = encode(&[exchange(1), exchange(2)]);
        for bit in 0..8 * bytes.len() {
            let mut wrong = bytes.clone();
            wrong[bit / 8] ^= 1 << (bit % 8);
            assert!(Memory::decode(&wrong).is_err(), "{bit}");
        }
        for length in 1..bytes.len() {
            assert_eq!(Memory::decode(&bytes[..length]), Err(MemoryError::Damaged), "{length}");
        }
        let sealed = |content: &[u8]| [content, &crc32fast::hash(content).to_le_bytes()].concat();
        assert_eq!(Memory::decode(&sealed(&[2, 0])), Err(MemoryError::Version { found: 2 }));
        for wrong in [&[][..], &[1], &[1, 0, 0, 0, 0, 1, 0, 0xff, 0, 0], &[1, 0, 0, 0, 0, 1, 0, b'x']] {
            assert_eq!(Memory::decode(&sealed(wrong)), Err(MemoryError::Damaged), "{wrong:?}");
        }
        let long = [&[1, 0, 0, 0, 0][..], &4_097_u16.to_le_bytes(), &[b'x'; 4_097], &[0, 0]].concat();
        assert_eq!(Memory::decode(&sealed(&long)), Err(MemoryError::Damaged));
    }
}
