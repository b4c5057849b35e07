//! The tables of a store, and the rows that are more than one record.

use super::StoreError;
use super::journal::{Entry, Segment};
use fable_core::record::{HEADER_LEN, Header, Kind};
use fable_core::{HOST_ROOM, Policy, Scalar, user_hash};
use redb::TableDefinition;
use std::collections::HashMap;

/// What the store is: see the keys below.
pub(super) const META: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("meta");
/// Hash of a user: [`UserRow`].
pub(super) const USERS: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("users");
/// The newest entries of all users in the order in which they were committed, a row per commit.
pub(super) const LOG: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("log");
/// Hash of a user and position in the journal: the entries from there on.
pub(super) const JOURNAL: TableDefinition<'_, (u64, u64), &[u8]> = TableDefinition::new("journal");
/// Hash of a user: the number of entries a snapshot has seen, then the snapshot.
pub(super) const SNAPSHOTS: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("snapshots");
/// Hash of a user: what [`super::constraints`] writes.
pub(super) const CONSTRAINTS: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("constraints");
/// Fingerprint of the policy with a prior: the prior, see [`super::Priors`].
pub(super) const PRIORS: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("priors");

/// [`super::VERSION`], one byte.
pub(super) const FORMAT: &str = "format";
/// [`super::Identity`].
pub(super) const IDENTITY: &str = "identity";
/// The incarnation in which users start from now on, `u32`.
pub(super) const INCARNATION: &str = "incarnation";
/// Number of commits so far, `u64`.
pub(super) const COMMITS: &str = "commits";

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
    /// The row of somebody who begins under a policy.
    #[must_use]
    pub fn newcomer<T: Scalar>(policy: &Policy<'_, T>, name: &str, incarnation: u32) -> Self {
        let header = Header::new(Kind::Journal, policy, user_hash(name), HOST_ROOM as u16);
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
        let name = std::str::from_utf8(name).map_err(|_| StoreError::Damaged("a user's name is no text"))?.to_owned();
        Ok(Self { header: Header::decode(header)?, incarnation: u32::from_le_bytes(*incarnation), name })
    }
}

/// Appends an entry to a row of the log: the user's hash and the entry's position, 8 bytes each, in front of it.
pub(super) fn push_log(log: &mut Vec<u8>, user: u64, position: u64, entry: &Entry<'_>) {
    log.extend_from_slice(&user.to_le_bytes());
    log.extend_from_slice(&position.to_le_bytes());
    entry.push(log);
}

/// Adds the entries of a row of the log to the segments of their users.
pub(super) fn read_log(mut row: &[u8], segments: &mut HashMap<u64, Segment>) -> Result<(), StoreError> {
    let damaged = || StoreError::Damaged("the log cannot be read");
    while !row.is_empty() {
        let (user, rest) = row.split_first_chunk().ok_or_else(damaged)?;
        let (position, rest) = rest.split_first_chunk().ok_or_else(damaged)?;
        let mut entries = super::journal::Entries::new(rest);
        let entry = entries.next().ok_or_else(damaged)??;
        let position = u64::from_le_bytes(*position);
        let segment =
            segments.entry(u64::from_le_bytes(*user)).or_insert_with(|| Segment { first: position, ..Segment::default() });
        if segment.end() != position {
            return Err(StoreError::Damaged("the log has a gap"));
        }
        segment.push(&entry);
        row = entries.rest();
    }
    Ok(())
}

/// Splits the row of a snapshot.
pub(super) fn split_snapshot(row: &[u8]) -> Result<(u64, &[u8]), StoreError> {
    let (seen, snapshot) = row.split_first_chunk().ok_or(StoreError::Damaged("a snapshot is too short"))?;
    Ok((u64::from_le_bytes(*seen), snapshot))
}
