//! The row of a user.

use super::StoreError;
use fable_core::host::HOST_CAPACITY;
use fable_core::record::{HEADER_LEN, Header, Kind};
use fable_core::{Policy, Scalar};

/// Longest name of a user, in bytes.
pub const MAX_NAME: usize = 256;

/// What is kept about a user beside the journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserRow {
    /// The header of the journal.
    pub header: Header,
    /// The incarnation that the journal begins in.
    pub incarnation: u32,
    /// The user's name.
    pub name: String,
}

impl UserRow {
    /// The row of somebody who begins under a policy, with a number that nobody else in the store has.
    #[must_use]
    pub fn newcomer<T: Scalar>(policy: &Policy<'_, T>, name: &str, number: u64, incarnation: u32) -> Self {
        let header = Header::new(Kind::Journal, policy, number, HOST_CAPACITY as u16);
        Self { header, incarnation, name: name.to_owned() }
    }

    /// Header, incarnation, name.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        [&self.header.encode()[..], &self.incarnation.to_le_bytes(), self.name.as_bytes()].concat()
    }

    /// Reads a row.
    ///
    /// # Errors
    /// A row that was not written by [`encode`](Self::encode).
    pub fn decode(bytes: &[u8]) -> Result<Self, StoreError> {
        let damaged = StoreError::Damaged("a user's row is too short");
        let Some((header, rest)) = bytes.split_at_checked(HEADER_LEN) else { return Err(damaged) };
        let Some((incarnation, name)) = rest.split_first_chunk() else { return Err(damaged) };
        let name = std::str::from_utf8(name)
            .map_err(|_| StoreError::Damaged("a user's name is no text"))?
            .to_owned();
        Ok(Self { header: Header::decode(header)?, incarnation: u32::from_le_bytes(*incarnation), name })
    }
}
