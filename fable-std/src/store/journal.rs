//! A user's journal as bytes: entries one after the other, each one of `fable_core`'s event records.
//!
//! | bytes | content |
//! |---|---|
//! | 2 | length of the record, 1 to 280; bit 15 is set when a round follows the record, bit 13 when a place does, too, bit 14 for [`Note::WithDefaults`], bits 13 and 14 for [`Note::Woven`] |
//! | n | the record, see `fable_core::record` |
//! | 4 | for an unlearned reward, the round of the decision that it belonged to |
//! | 4 | the place of that decision, if it is not 0 |
//!
//! All numbers are little-endian. The round is kept because the record of an unlearning has the observation but not the
//! decision, and nothing may be taken back twice. Default scores of the caller's are not kept, only that there were some: such a
//! decision cannot be made again. Nor can one that stands in a journal after what was not known when it was made.

use super::StoreError;
use fable_core::record::MAX_REMOTE_LEN;

const TAKES_BACK: u16 = 0x8000;
const WITH_DEFAULTS: u16 = 0x4000;
const ELSEWHERE: u16 = 0x2000;
const WOVEN: u16 = WITH_DEFAULTS | ELSEWHERE;
const TAKES_BACK_THERE: u16 = TAKES_BACK | ELSEWHERE;

/// What an event does not say itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Note {
    /// Nothing.
    #[default]
    None,
    /// An unlearning takes back the reward of this decision.
    TakesBack {
        /// Where it was made.
        site: u32,
        /// Its round there.
        round: u32,
    },
    /// A decision was made with default scores of the caller's.
    WithDefaults,
    /// A decision was made before journals were merged by time: what stands before it here was not all known.
    Woven,
}

/// One entry of a journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<'b> {
    /// The event's record.
    pub record: &'b [u8],
    /// What is known besides.
    pub note: Note,
}

impl Entry<'_> {
    /// Appends the entry. Records are at most [`MAX_REMOTE_LEN`] bytes long.
    pub fn push(&self, out: &mut Vec<u8>) {
        let flag = match self.note {
            Note::None => 0,
            Note::TakesBack { site: 0, .. } => TAKES_BACK,
            Note::TakesBack { .. } => TAKES_BACK | ELSEWHERE,
            Note::WithDefaults => WITH_DEFAULTS,
            Note::Woven => WOVEN,
        };
        out.extend_from_slice(&(self.record.len() as u16 | flag).to_le_bytes());
        out.extend_from_slice(self.record);
        if let Note::TakesBack { site, round } = self.note {
            out.extend_from_slice(&round.to_le_bytes());
            if site != 0 {
                out.extend_from_slice(&site.to_le_bytes());
            }
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
        let flags = head & (TAKES_BACK | WITH_DEFAULTS | ELSEWHERE);
        let length = usize::from(head & !flags);
        let (record, mut rest) =
            rest.split_at_checked(length).filter(|_| (1..=MAX_REMOTE_LEN).contains(&length))?;
        let mut number = || {
            let (number, behind) = rest.split_first_chunk()?;
            rest = behind;
            Some(u32::from_le_bytes(*number))
        };
        let note = match flags {
            0 => Note::None,
            WITH_DEFAULTS => Note::WithDefaults,
            WOVEN => Note::Woven,
            TAKES_BACK => Note::TakesBack { site: 0, round: number()? },
            TAKES_BACK_THERE => {
                let round = number()?;
                Note::TakesBack { site: number().filter(|site| *site != 0)?, round }
            }
            _ => return None,
        };
        self.0 = rest;
        Some(Entry { record, note })
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

    /// Position after the last entry.
    #[must_use]
    pub const fn end(&self) -> u64 {
        self.first + self.count
    }

    /// The entries from a position on.
    pub fn from(&self, position: u64) -> impl Iterator<Item = Result<Entry<'_>, StoreError>> {
        let skipped = usize::try_from(position.saturating_sub(self.first)).unwrap_or(usize::MAX);
        Entries::new(&self.bytes).skip(skipped)
    }

    /// Appends the entries of a segment that begins where this one ends.
    pub(super) fn append(&mut self, next: &Self) {
        self.bytes.extend_from_slice(&next.bytes);
        self.count += next.count;
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
            Entry { record: &[1, 2, 3], note: Note::None },
            Entry { record: &[8], note: Note::TakesBack { site: 0, round: 7 } },
            Entry { record: &[9; MAX_REMOTE_LEN], note: Note::TakesBack { site: 0, round: u32::MAX } },
            Entry { record: &[4], note: Note::WithDefaults },
            Entry { record: &[5], note: Note::TakesBack { site: 3, round: 9 } },
            Entry { record: &[6], note: Note::Woven },
        ];
        let mut segment = Segment { first: 5, ..Segment::default() };
        for entry in &entries {
            segment.push(entry);
        }
        assert_eq!(Segment::read(5, &segment.bytes).unwrap(), segment);
        assert_eq!(segment.end(), 11);
        let back: Result<Vec<_>, _> = segment.from(6).collect();
        assert_eq!(back.unwrap(), entries[1..]);
        let long = 12 + 2 + MAX_REMOTE_LEN + 4;
        let whole = [5, 12, long, long + 3, long + 14];
        for length in (1..segment.bytes.len()).filter(|length| !whole.contains(length)) {
            assert!(Segment::read(0, &segment.bytes[..length]).is_err(), "{length}");
        }
        assert!(Segment::read(0, &[0, 0]).is_err()); // no record is empty
        assert!(Segment::read(0, &[0x19, 0x01]).is_err());
        assert!(
            Segment::read(0, &[1, 0x20, 9]).is_err()
                && Segment::read(0, &[1, 0x10, 9]).is_err()
                && Segment::read(0, &[1, 0xc0, 9, 0, 0, 0, 0]).is_err()
        ); // other flags
        assert!(Segment::read(0, &[[0x19, 0x01].as_slice(), &[0; 281]].concat()).is_err());
        assert!(Segment::read(0, &[1, 0xa0, 9, 1, 0, 0, 0, 0, 0, 0, 0]).is_err()); // place 0 is not written
    }
}
