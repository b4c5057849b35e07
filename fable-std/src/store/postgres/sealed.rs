//! Bytes in a table, with a CRC-32 about them and the place they belong to: what was damaged, or is in the place of something else, is
//! found when it is read.
//!
//! The CRC is of a byte that says what it is, the user's number, the life and the position, 8 bytes little-endian each, and the bytes. It stands
//! after the bytes, little-endian. This finds accidents; it does not keep anybody out who can write to the database.

/// What bytes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// The row of a user.
    Row = 1,
    /// The hard rules.
    Rules = 2,
    /// Entries of a journal; the position is that of the first.
    Entries = 3,
    /// A snapshot; the position is the number of entries it has seen.
    Snapshot = 4,
    /// A prior; the number is its fingerprint, the life 0.
    Prior = 5,
    /// An exchange with an assistant; the position is 0, for the database numbers them.
    Memory = 6,
}

/// Where bytes belong.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spot {
    pub(super) what: What,
    pub(super) number: u64,
    pub(super) birth: u64,
    pub(super) position: u64,
}

impl Spot {
    fn sum(&self, bytes: &[u8]) -> [u8; 4] {
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&[self.what as u8]);
        for part in [self.number, self.birth, self.position] {
            hasher.update(&part.to_le_bytes());
        }
        hasher.update(bytes);
        hasher.finalize().to_le_bytes()
    }

    /// Bytes with their CRC.
    pub(super) fn seal(&self, bytes: &[u8]) -> Vec<u8> {
        [bytes, &self.sum(bytes)].concat()
    }

    /// Bytes without their CRC, if it is right.
    pub(super) fn open<'b>(&self, sealed: &'b [u8]) -> Option<&'b [u8]> {
        let (bytes, sum) = sealed.split_last_chunk()?;
        (*sum == self.sum(bytes)).then_some(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_damaged_or_elsewhere_does_not_open() {
        let spot = Spot { what: What::Entries, number: 7, birth: 9, position: 3 };
        let sealed = spot.seal(b"abc");
        assert_eq!(spot.open(&sealed), Some(&b"abc"[..]));
        for bit in 0..8 * sealed.len() {
            let mut wrong = sealed.clone();
            wrong[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(spot.open(&wrong), None, "{bit}");
        }
        for length in 0..sealed.len() {
            assert_eq!(spot.open(&sealed[..length]), None);
        }
        let others = [
            Spot { what: What::Snapshot, ..spot },
            Spot { number: 8, ..spot },
            Spot { birth: 8, ..spot },
            Spot { position: 8, ..spot },
        ];
        assert!(others.iter().all(|other| other.open(&sealed).is_none()));
        assert_eq!(spot.open(&spot.seal(b"")), Some(&b""[..]));
    }
}
