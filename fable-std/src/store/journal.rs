//! A user's journal as bytes: entries one behind the other, each one of `fable_core`'s event records.
//!
//! | bytes | content |
//! |---|---|
//! | 2 | length of the record, at most 260; the highest bit is set when a round follows the record |
//! | n | the record, see `fable_core::record` |
//! | 4 | for an unlearned reward, the round of the decision that it belonged to |
//!
//! All numbers are little-endian. The round is kept because the record of an unlearning has the observation but not the
//! decision, and nothing may be taken back twice.

use super::StoreError;
use fable_core::record::MAX_EVENT_LEN;

const TAKES_BACK: u16 = 0x8000;

/// One entry of a journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<'b> {
    /// The event's record.
    pub record: &'b [u8],
    /// The round whose reward an unlearning takes back.
    pub takes_back: Option<u32>,
}

impl Entry<'_> {
    /// Appends the entry. Records are at most [`MAX_EVENT_LEN`] bytes long.
    pub fn push(&self, out: &mut Vec<u8>) {
        let flag = if self.takes_back.is_some() { TAKES_BACK } else { 0 };
        out.extend_from_slice(&(self.record.len() as u16 | flag).to_le_bytes());
        out.extend_from_slice(self.record);
        if let Some(round) = self.takes_back {
            out.extend_from_slice(&round.to_le_bytes());
        }
    }
}

/// Walks the entries of a journal.
#[derive(Clone, Debug)]
pub struct Entries<'b>(&'b [u8]);

impl<'b> Entries<'b> {
    /// Over the bytes of whole entries.
    #[must_use]
    pub const fn new(bytes: &'b [u8]) -> Self {
        Self(bytes)
    }

    /// What is left.
    #[must_use]
    pub const fn rest(&self) -> &'b [u8] {
        self.0
    }

    fn take(&mut self) -> Option<Entry<'b>> {
        let (head, rest) = self.0.split_first_chunk()?;
        let head = u16::from_le_bytes(*head);
        let length = usize::from(head & !TAKES_BACK);
        let (record, rest) = rest.split_at_checked(length).filter(|_| length <= MAX_EVENT_LEN)?;
        let (takes_back, rest) = if head & TAKES_BACK == 0 {
            (None, rest)
        } else {
            let (round, rest) = rest.split_first_chunk()?;
            (Some(u32::from_le_bytes(*round)), rest)
        };
        self.0 = rest;
        Some(Entry { record, takes_back })
    }
}

impl<'b> Iterator for Entries<'b> {
    type Item = Result<Entry<'b>, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let entry = self.take();
        if entry.is_none() {
            self.0 = &[];
        }
        Some(entry.ok_or(StoreError::Damaged("a journal ends in the middle of an entry")))
    }
}

/// Consecutive entries of one user's journal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// Position of the first entry in the journal.
    pub first: u64,
    /// Number of entries.
    pub count: u64,
    /// The entries.
    pub bytes: Vec<u8>,
}

impl Segment {
    /// A segment from stored bytes.
    ///
    /// # Errors
    /// Bytes that are not whole entries.
    pub fn read(first: u64, bytes: &[u8]) -> Result<Self, StoreError> {
        let mut count = 0;
        for entry in Entries::new(bytes) {
            entry?;
            count += 1;
        }
        Ok(Self { first, count, bytes: bytes.to_vec() })
    }

    /// Position behind the last entry.
    #[must_use]
    pub const fn end(&self) -> u64 {
        self.first + self.count
    }

    /// The entries from a position on.
    pub fn from(&self, position: u64) -> impl Iterator<Item = Result<Entry<'_>, StoreError>> {
        let skipped = usize::try_from(position.saturating_sub(self.first)).unwrap_or(usize::MAX);
        Entries::new(&self.bytes).skip(skipped)
    }

    /// Appends an entry.
    pub fn push(&mut self, entry: &Entry<'_>) {
        entry.push(&mut self.bytes);
        self.count += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_come_back_and_half_ones_are_found() {
        let entries = [
            Entry { record: &[1, 2, 3], takes_back: None },
            Entry { record: &[], takes_back: Some(7) },
            Entry { record: &[9; MAX_EVENT_LEN], takes_back: Some(u32::MAX) },
        ];
        let mut segment = Segment { first: 5, ..Segment::default() };
        for entry in &entries {
            segment.push(entry);
        }
        assert_eq!(Segment::read(5, &segment.bytes).unwrap(), segment);
        assert_eq!(segment.end(), 8);
        let back: Result<Vec<_>, _> = segment.from(6).collect();
        assert_eq!(back.unwrap(), entries[1..]);
        let whole = [5, 11, segment.bytes.len()];
        for length in (1..segment.bytes.len()).filter(|length| !whole.contains(length)) {
            assert!(Segment::read(0, &segment.bytes[..length]).is_err(), "{length}");
        }
        assert!(Segment::read(0, &[0x05, 0x01]).is_err());
        assert!(Segment::read(0, &[[0x05, 0x01].as_slice(), &[0; 261]].concat()).is_err());
    }
}
