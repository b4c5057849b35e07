//! One user as a file: to move to another store, to keep, or to hand over.
//!
//! | bytes | content |
//! |---|---|
//! | 4 | `FABX` |
//! | 1 | version: 2 for a user with constraints, otherwise 1 |
//! | 4 | incarnation that the journal begins in |
//! | 2 | length of the name |
//! | n | the name, UTF-8 |
//! | 32 | header of the journal, see `fable_core::record` |
//! | 4 | in version 2, length of the constraints |
//! | c | in version 2, the constraints, see [`super::constraints`] |
//! | 8 | number of entries |
//! | m | the entries, see [`super::journal`] |
//! | 4 | CRC-32/ISO-HDLC of all bytes before |
//!
//! All numbers are little-endian. The journal is everything: importing applies it from the beginning, so that each event is
//! checked before anything is written, and the user goes on with the same bits.

use super::journal::Segment;
use super::{Desk, MAX_NAME, Resident, SNAPSHOT_EVERY, Store, StoreError, Stored, UserRow, Writes};
use fable_core::record::{HEADER_LEN, Header, checksum};
use fable_core::{Policy, Scalar, user_hash};
use std::fmt;

/// The version of the file.
pub const VERSION: u8 = 2;

/// The version of a file without constraints, which programs that know none can read.
const PLAIN: u8 = 1;

/// The highest incarnation that is imported: everyone who comes later starts there, and a store still has to be able to forget.
pub const MAX_INCARNATION: u32 = 1 << 31;

const MAGIC: &[u8; 4] = b"FABX";

/// What can be wrong with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TransferError {
    /// It is not such a file.
    Foreign,
    /// It was written by another version.
    Version {
        /// Its version.
        found: u8,
    },
    /// It is damaged or not complete.
    Damaged,
    /// The user's name is empty or too long.
    Name,
    /// The user has been forgotten more often than a store could go on counting from.
    Incarnation,
}

impl fmt::Display for TransferError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Foreign => f.write_str("the file is no exported user"),
            Self::Version { found } => write!(f, "the file has version {found}, this program reads versions up to {VERSION}"),
            Self::Damaged => f.write_str("the file is damaged or not complete"),
            Self::Name => write!(f, "the name of a user must have 1 to {MAX_NAME} bytes"),
            Self::Incarnation => write!(f, "the user's incarnation is above {MAX_INCARNATION}"),
        }
    }
}

impl std::error::Error for TransferError {}

/// A user as a file.
///
/// # Errors
/// No such user, or a store that cannot be read.
pub fn export(store: &Store, name: &str) -> Result<Vec<u8>, StoreError> {
    let stored = store.named(name)?;
    let UserRow { header, incarnation, name } = &stored.row;
    let length = u16::try_from(name.len()).map_err(|_| StoreError::Damaged("a name is too long"))?;
    let mut bytes = MAGIC.to_vec();
    bytes.push(if stored.constraints.is_empty() { PLAIN } else { VERSION });
    bytes.extend_from_slice(&incarnation.to_le_bytes());
    bytes.extend_from_slice(&length.to_le_bytes());
    bytes.extend_from_slice(name.as_bytes());
    bytes.extend_from_slice(&header.encode());
    if !stored.constraints.is_empty() {
        let length = u32::try_from(stored.constraints.len());
        bytes.extend_from_slice(&length.map_err(|_| StoreError::Damaged("constraints are too long"))?.to_le_bytes());
        bytes.extend_from_slice(&stored.constraints);
    }
    let count: u64 = stored.journal.iter().map(|segment| segment.count).sum();
    bytes.extend_from_slice(&count.to_le_bytes());
    stored.journal.iter().for_each(|segment| bytes.extend_from_slice(&segment.bytes));
    bytes.extend_from_slice(&checksum(&bytes).to_le_bytes());
    Ok(bytes)
}

/// Reads a file.
///
/// # Errors
/// What is wrong with it.
pub fn read(bytes: &[u8]) -> Result<Stored, StoreError> {
    let damaged = || StoreError::from(TransferError::Damaged);
    let Some((MAGIC, rest)) = bytes.split_first_chunk() else { return Err(TransferError::Foreign.into()) };
    let version = match rest.first() {
        Some(&version @ (PLAIN | VERSION)) => version,
        Some(&found) => return Err(TransferError::Version { found }.into()),
        None => return Err(damaged()),
    };
    let (whole, sum) = bytes.split_last_chunk().ok_or_else(damaged)?;
    if checksum(whole) != u32::from_le_bytes(*sum) {
        return Err(damaged());
    }
    let rest = whole.get(MAGIC.len() + 1..).ok_or_else(damaged)?;
    let (incarnation, rest) = rest.split_first_chunk().ok_or_else(damaged)?;
    let (length, rest) = rest.split_first_chunk().ok_or_else(damaged)?;
    let (name, rest) = rest.split_at_checked(usize::from(u16::from_le_bytes(*length))).ok_or_else(damaged)?;
    let (header, mut rest) = rest.split_at_checked(HEADER_LEN).ok_or_else(damaged)?;
    let mut constraints: &[u8] = &[];
    if version == VERSION {
        let (length, behind) = rest.split_first_chunk().ok_or_else(damaged)?;
        let length = usize::try_from(u32::from_le_bytes(*length)).map_err(|_| damaged())?;
        (constraints, rest) = behind.split_at_checked(length).ok_or_else(damaged)?;
    }
    let (count, rest) = rest.split_first_chunk().ok_or_else(damaged)?;
    let name = std::str::from_utf8(name).map_err(|_| damaged())?.to_owned();
    if name.is_empty() || name.len() > MAX_NAME {
        return Err(TransferError::Name.into());
    }
    let row = UserRow { header: Header::decode(header)?, incarnation: u32::from_le_bytes(*incarnation), name };
    let segment = Segment::read(0, rest)?;
    if segment.count != u64::from_le_bytes(*count) || row.header.user != user_hash(&row.name) {
        return Err(damaged());
    }
    Ok(Stored { row, snapshot: None, journal: vec![segment], constraints: constraints.to_vec() })
}

/// A user whose every event was checked, ready for a store.
#[derive(Clone, Debug)]
pub struct Arrival {
    stored: Stored,
    entries: u64,
    incarnation: u32,
    snapshot: Option<Vec<u8>>,
}

impl Arrival {
    /// Reads a file and applies its journal.
    ///
    /// # Errors
    /// A file or an event that cannot be used under the policy.
    pub fn check<T: Scalar>(policy: &Policy<'_, T>, bytes: &[u8]) -> Result<Self, StoreError> {
        let stored = read(bytes)?;
        super::constraints::decode(policy.catalog(), &stored.constraints)?;
        let resident = Resident::revive(&mut Desk::new(policy), &stored, None)?;
        let (entries, incarnation) = (resident.entries(), resident.learner().incarnation());
        if incarnation > MAX_INCARNATION {
            return Err(TransferError::Incarnation.into());
        }
        let snapshot = if entries >= SNAPSHOT_EVERY { Some(resident.learner().to_bytes()?) } else { None };
        Ok(Self { stored, entries, incarnation, snapshot })
    }

    /// Puts the user into a store of the same policy that has no such user, and returns the name.
    ///
    /// # Errors
    /// A store that has the user, or cannot be written.
    pub fn enter(self, store: &Store) -> Result<String, StoreError> {
        let Self { stored, entries, incarnation, snapshot } = self;
        let user = stored.row.header.user;
        match store.user(user, super::Reach::Snapshot)? {
            Some(there) if there.row.name == stored.row.name => return Err(StoreError::HasUser),
            Some(_) => return Err(StoreError::Collision),
            None => {}
        }
        let mut writes = Writes::default();
        writes.user(user, &stored.row);
        stored.journal.iter().for_each(|segment| writes.segment(user, segment));
        if !stored.constraints.is_empty() {
            writes.constraints(user, &stored.constraints);
        }
        if let Some(bytes) = snapshot {
            writes.snapshot(user, entries, &bytes);
        }
        // Nobody who comes later may start in an incarnation that this user has been in.
        writes.start_in(store.incarnation()?.max(incarnation));
        store.commit(&writes, true)?;
        Ok(stored.row.name)
    }
}

/// Puts a user into a store that has no such user, and returns the name.
///
/// # Errors
/// A file or an event that cannot be used, or a store that has the user. Nothing has changed then.
pub fn import<T: Scalar>(store: &Store, policy: &Policy<'_, T>, bytes: &[u8]) -> Result<String, StoreError> {
    Arrival::check(policy, bytes)?.enter(store)
}
