//! One user as a file: to move to another store, to keep, or to hand over.
//!
//! | bytes | content |
//! |---|---|
//! | 4 | `FABX` |
//! | 1 | [`VERSION`] |
//! | 4 | incarnation that the journal begins in |
//! | 2 | length of the name |
//! | n | the name, UTF-8 |
//! | 32 | header of the journal, see `fable_core::record` |
//! | 4 | length of the words of the user's own rules, 0 if there are none |
//! | c | these words, see [`super::wishes`] |
//! | 4 | length of the prior, 0 if it is the isotropic one |
//! | p | the prior that the user began with, see [`prior_file`] |
//! | 4 | length of the memory, 0 if there is none |
//! | e | what was exchanged with an assistant, see [`memory`](crate::memory) |
//! | 8 | number of entries before those that are in the file, 0 if all of them are |
//! | 4 | length of a snapshot that has seen these, 0 if there are none |
//! | s | the snapshot, see `fable_core::record` |
//! | 8 | number of entries |
//! | m | the entries, see [`super::journal`] |
//! | 4 | CRC-32/ISO-HDLC of all bytes before |
//!
//! All numbers are little-endian. The journal is everything that the store has kept: importing applies it from its beginning, so that each event is
//! checked before anything is written, and the user goes on with the same bits. The prior goes with the user, for a journal says what
//! was learned after it; a store that has it already does not keep it twice.
//!
//! A prior that is [addressed](crate::prior_file::address) to a user can be imported too, under the user's name: a user to whom
//! nothing has happened yet ([`Arrival::addressed`]).

use super::journal::Segment;
use super::{Desk, MAX_NAME, Policies, Resident, SNAPSHOT_EVERY, Store, StoreError, Stored, UserRow, Writes};
use crate::memory::Memory;
use crate::prior_file;
use fable_core::record::{HEADER_LEN, Header, Kind, RecordError, checksum};
use fable_core::{Policy, Scalar, user_hash};
use std::fmt;

/// The version of the file.
pub const VERSION: u8 = 7;

/// The highest incarnation that is imported: everyone who comes later starts there, and a store still has to be able to forget.
pub const MAX_INCARNATION: u32 = 1 << 31;

const MAGIC: &[u8; 4] = b"FABX";

/// How often somebody tries to enter a store in which others come and go.
const ENTERING: usize = 8;

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
    /// The snapshot is addressed to another user.
    Address,
    /// The user has been forgotten more often than a store could go on counting from.
    Incarnation,
}

impl fmt::Display for TransferError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Foreign => f.write_str("the file is no exported user"),
            Self::Version { found } => {
                write!(f, "the file has version {found}, this program reads version {VERSION}")
            }
            Self::Damaged => f.write_str("the file is damaged or not complete"),
            Self::Name => write!(f, "the name of a user must have 1 to {MAX_NAME} bytes"),
            Self::Address => f.write_str("the snapshot is addressed to another user"),
            Self::Incarnation => write!(f, "the user's incarnation is above {MAX_INCARNATION}"),
        }
    }
}

impl std::error::Error for TransferError {}

/// A user as a file.
///
/// # Errors
/// No such user, or a store that cannot be read.
pub fn export(store: &dyn Store, name: &str) -> Result<Vec<u8>, StoreError> {
    write(&store.named(name)?)
}

/// The same of a user as it was read.
///
/// # Errors
/// A journal that cannot be read, or parts that are too long.
pub fn write(stored: &Stored) -> Result<Vec<u8>, StoreError> {
    let UserRow { header, incarnation, name } = &stored.row;
    let length = u16::try_from(name.len()).map_err(|_| StoreError::Damaged("a name is too long"))?;
    let mut bytes = MAGIC.to_vec();
    bytes.push(VERSION);
    bytes.extend_from_slice(&incarnation.to_le_bytes());
    bytes.extend_from_slice(&length.to_le_bytes());
    bytes.extend_from_slice(name.as_bytes());
    bytes.extend_from_slice(&header.encode());
    let memory = stored.memory.encode();
    for part in [&stored.wishes[..], stored.prior.as_deref().unwrap_or_default(), &memory] {
        let length = u32::try_from(part.len())
            .map_err(|_| StoreError::Damaged("the words of rules, a prior or a memory are too long"))?;
        bytes.extend_from_slice(&length.to_le_bytes());
        bytes.extend_from_slice(part);
    }
    let (seen, snapshot) = stored.snapshot.as_ref().map_or((0, &[][..]), |(seen, bytes)| (*seen, bytes));
    let length = u32::try_from(snapshot.len()).map_err(|_| StoreError::Damaged("a snapshot is too long"))?;
    bytes.extend_from_slice(&seen.to_le_bytes());
    bytes.extend_from_slice(&length.to_le_bytes());
    bytes.extend_from_slice(snapshot);
    let mut entries = Segment { first: seen, ..Segment::default() };
    for entry in stored.journal.iter().flat_map(|segment| segment.from(seen)) {
        entries.push(&entry?);
    }
    bytes.extend_from_slice(&entries.count.to_le_bytes());
    bytes.extend_from_slice(&entries.bytes);
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
    match rest.first() {
        Some(&VERSION) => {}
        Some(&found) => return Err(TransferError::Version { found }.into()),
        None => return Err(damaged()),
    }
    let (whole, sum) = bytes.split_last_chunk().ok_or_else(damaged)?;
    if checksum(whole) != u32::from_le_bytes(*sum) {
        return Err(damaged());
    }
    let rest = whole.get(MAGIC.len() + 1..).ok_or_else(damaged)?;
    let (incarnation, rest) = rest.split_first_chunk().ok_or_else(damaged)?;
    let (length, rest) = rest.split_first_chunk().ok_or_else(damaged)?;
    let (name, rest) = rest.split_at_checked(usize::from(u16::from_le_bytes(*length))).ok_or_else(damaged)?;
    let (header, rest) = rest.split_at_checked(HEADER_LEN).ok_or_else(damaged)?;
    let (wishes, rest) = split_part(rest).ok_or_else(damaged)?;
    let (prior, rest) = split_part(rest).ok_or_else(damaged)?;
    let (memory, rest) = split_part(rest).ok_or_else(damaged)?;
    let (seen, rest) = rest.split_first_chunk().ok_or_else(damaged)?;
    let (snapshot, rest) = split_part(rest).ok_or_else(damaged)?;
    let (count, rest) = rest.split_first_chunk().ok_or_else(damaged)?;
    let seen = u64::from_le_bytes(*seen);
    let name = std::str::from_utf8(name).map_err(|_| damaged())?.to_owned();
    if name.is_empty() || name.len() > MAX_NAME {
        return Err(TransferError::Name.into());
    }
    let row =
        UserRow { header: Header::decode(header)?, incarnation: u32::from_le_bytes(*incarnation), name };
    let segment = Segment::read(seen, rest)?;
    let near = row.header.user.wrapping_sub(user_hash(&row.name)) < super::NEAR;
    if !near
        || segment.count != u64::from_le_bytes(*count)
        || (seen > 0) == snapshot.is_empty()
        || segment.first.checked_add(segment.count).is_none()
    {
        return Err(damaged());
    }
    let (wishes, prior) = (wishes.to_vec(), (!prior.is_empty()).then(|| prior.to_vec()));
    let snapshot = (seen > 0).then(|| (seen, snapshot.to_vec()));
    let memory = Memory::decode(memory).map_err(|_| damaged())?;
    Ok(Stored { row, snapshot, journal: vec![segment], birth: 0, wishes, prior, memory })
}

/// Bytes after their length, and what is after them.
fn split_part(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_first_chunk()?;
    rest.split_at_checked(usize::try_from(u32::from_le_bytes(*length)).ok()?)
}

/// A user whose every event was checked, ready for a store.
#[derive(Clone, Debug)]
pub struct Arrival {
    /// With a prior that is addressed to nobody.
    stored: Stored,
    entries: u64,
    /// The incarnation of the last event; of a user to whom nothing has happened yet it is the store's.
    incarnation: Option<u32>,
    snapshot: Option<Vec<u8>>,
}

impl Arrival {
    /// Reads a file and applies its journal.
    ///
    /// # Errors
    /// A file, a prior or an event that cannot be used under the policy, which is the one without a prior.
    pub fn check<T: Scalar>(base: &Policy<'_, T>, bytes: &[u8]) -> Result<Self, StoreError> {
        let mut stored = read(bytes)?;
        if let Err(error @ RecordError::Catalog) = stored.row.header.admit(Kind::Journal, base) {
            return Err(error.into());
        }
        super::wishes::decode(base.catalog(), &stored.wishes)?;
        let prior = stored.prior.as_deref().map(|bytes| prior_file::read(base, bytes)).transpose()?;
        let policies = Policies::from(prior_file::informed(base, prior.as_deref())?);
        let resident = Resident::revive(&mut Desk::new(&policies), &stored, None)?;
        let (entries, incarnation) = (resident.entries(), resident.learner().state().incarnation());
        if incarnation > MAX_INCARNATION {
            return Err(TransferError::Incarnation.into());
        }
        if stored.snapshot.as_ref().is_some_and(|(_, bytes)| {
            prior_file::header(bytes).map_or(0, |header| header.user) != stored.row.header.user
        }) {
            return Err(TransferError::Damaged.into());
        }
        let before = stored.snapshot.as_ref().map_or(0, |(seen, _)| *seen);
        let snapshot =
            if entries - before >= SNAPSHOT_EVERY { Some(resident.learner().to_bytes()?) } else { None };
        stored.prior =
            prior.map(|packed| prior_file::write(base, &packed, prior_file::NOBODY)).transpose()?;
        Ok(Self { stored, entries, incarnation: Some(incarnation), snapshot })
    }

    /// Reads a prior that is addressed to a user: somebody to whom nothing has happened yet.
    ///
    /// # Errors
    /// A prior that cannot be used under the policy, which is the one without a prior, or is addressed to another name.
    pub fn addressed<T: Scalar>(base: &Policy<'_, T>, bytes: &[u8], name: &str) -> Result<Self, StoreError> {
        if name.is_empty() || name.len() > MAX_NAME {
            return Err(TransferError::Name.into());
        }
        let packed = prior_file::read(base, bytes)?;
        if prior_file::header(bytes)?.user != user_hash(name) {
            return Err(TransferError::Address.into());
        }
        let row = UserRow::newcomer(&prior_file::informed(base, Some(&packed))?, name, user_hash(name), 0);
        let prior = Some(prior_file::write(base, &packed, prior_file::NOBODY)?);
        let (journal, wishes, memory) = (Vec::new(), Vec::new(), Memory::default());
        let stored = Stored { row, snapshot: None, journal, birth: 0, wishes, prior, memory };
        Ok(Self { stored, entries: 0, incarnation: None, snapshot: None })
    }

    /// Puts the user into a store of the same policy that has no such user, and returns the name.
    ///
    /// # Errors
    /// A store that has the user, or cannot be written.
    pub fn enter(self, store: &dyn Store) -> Result<String, StoreError> {
        let Self { mut stored, entries, incarnation, snapshot } = self;
        let user = stored.row.header.user;
        // In a shared store somebody may forget or enter meanwhile; whoever is there after that is told the next time.
        for _ in 0..ENTERING {
            match store.find(&stored.row.name) {
                Ok(None) if !store.has(user)? => {}
                Ok(None) => return Err(StoreError::Collision),
                Ok(Some(_)) | Err(StoreError::User(_)) => return Err(StoreError::HasUser),
                Err(error) => return Err(error),
            }
            let now = store.incarnation()?;
            let mut writes = Writes::default();
            if incarnation.is_none() {
                stored.row.incarnation = now;
            } else {
                writes.arrival(user);
            }
            writes.user(user, &stored.row);
            stored.journal.iter().for_each(|segment| writes.segment(user, segment));
            if !stored.wishes.is_empty() {
                writes.wishes(user, &stored.wishes);
            }
            if !stored.memory.is_empty() {
                writes.memory(user, &stored.memory);
            }
            let fingerprint = stored.row.header.fingerprint;
            if let Some(prior) = &stored.prior
                && !matches!(store.prior(fingerprint), Ok(Some(_)))
            {
                writes.prior(fingerprint, prior);
            }
            if let Some((seen, bytes)) = &stored.snapshot {
                writes.base(user, *seen, bytes);
            }
            if let Some(bytes) = &snapshot {
                writes.snapshot(user, entries, bytes);
            }
            // Nobody who comes later may start in an incarnation that this user has been in.
            writes.start_in(incarnation.map_or(now, |incarnation| incarnation.max(now)));
            if store.commit(writes, true)?.is_empty() {
                return Ok(stored.row.name);
            }
        }
        Err(StoreError::Collision)
    }
}

/// Puts a user into a store that has no such user, and returns the name.
///
/// # Errors
/// A file or an event that cannot be used, or a store that has the user. Nothing has changed then.
pub fn import<T: Scalar>(
    store: &dyn Store,
    policy: &Policy<'_, T>,
    bytes: &[u8],
) -> Result<String, StoreError> {
    Arrival::check(policy, bytes)?.enter(store)
}
