//! Events and snapshots as bytes: the one encoder of everything that is stored or sent.
//!
//! All integers and floats are little-endian. Structured parts are
//! [postcard](https://postcard.jamesmunns.com/wire-format): `u16` and lengths are its varints, `u32` marked
//! *fixed* are four bytes. The layout is guaranteed: golden files pin it, and it changes only with
//! [`VERSION`].
//!
//! **Header**, 32 bytes, at the start of a journal file, of a flash page, of a snapshot or of a prior:
//!
//! | bytes | content |
//! |---|---|
//! | 4 | `FABJ` for a journal, `FABS` for a snapshot, `FABP` for a prior |
//! | 1 | [`VERSION`] |
//! | 1 | digits of the scalar, 24 for `f32` and 53 for `f64` |
//! | 2 | capacity of the learner, its `R` |
//! | 8 | [fingerprint](crate::Policy::fingerprint) of the policy |
//! | 8 | hash of the user |
//! | 4 | [fingerprint](crate::Policy::guarantee_fingerprint) of the promotion settings at the start |
//! | 4 | CRC-32/ISO-HDLC of the 28 bytes before |
//!
//! **Event**, at most [`MAX_EVENT_LEN`] bytes: a postcard enum, then its CRC-16/IBM-3740. A decision on
//! `agent` takes 39 bytes, feedback 15 (19 with a weight other than 1). The user, the version and the
//! fingerprint are in the header.
//!
//! | tag | event | content |
//! |---|---|---|
//! | 0 | permissions | the words of the set up to the last nonzero one: length, `u32` each as varint |
//! | 1 | onboarding | entries: length, then (`u16`, `f64`) each; response `f64`; precision `f64` |
//! | 2 | decision | round fixed `u32`; action `u16`; baseline `f64`; context; time fixed `u32` |
//! | 3 | feedback of weight 1 | round fixed `u32`; reward `f64` |
//! | 4 | feedback | round fixed `u32`; reward `f64`; weight `f32` |
//! | 5 | observation | context; action `u16`; baseline `f64`; reward `f64`; weight `f32` |
//! | 6 | unlearn | as observation; imputed `u8`; share left `f32`; contrasts that start again, a set |
//! | 7 | expiry | round fixed `u32`; imputed reward: 0, or 1 and `f64` |
//! | 8 | promotion | see below |
//! | 9 | forget | fingerprint of the promotion settings, fixed `u32` |
//! | 10 | fading | share that is kept `f32` |
//! | 11 | decision with probes | as decision; probes: length, then (contrast `u8`, m `f32`) each |
//! | 12 | site | the site that decides, `u32` |
//! | 13 | remote event | site `u32`; its known events `u32`, and new ones `u32`; time fixed `u32`; change |
//! | 14 | user rule | its [code](crate::preference::UserRule::code) `u32`; 1 if it stands from now on, `u8` |
//!
//! A promotion is its contrast `u8`; verdict `u8` (0 against, 2 for); valid `u8`; rule `u8` (0 ellipsoid, 1
//! probes); round, time, evidence fixed `u32`; interval 2 x `f32`.
//!
//! The change of a remote event is a `u8`: 0 nothing; 1 a reward: round `u32`, as observation, imputed `u8`,
//! probes as above, with length 0 without any; 2 a statement, as onboarding; 3 an unlearning: round `u32`, as
//! unlearn; 4 a promotion. Only hosts read it (feature `alloc`). It has up to 280 bytes.
//!
//! A set of contrasts is two `u32`, the first 32 lowest. A context is a `u8`, 0 without a task and otherwise
//! 1 + the task's position, then its signals: length, `f32` each.
//!
//! **Snapshot**: header; then parts, each a length byte and that many bytes of postcard: the counters, the
//! known events of other sites (site and number, 4 bytes each, in the order of sites), the words of the
//! permissions (4 bytes each), the decisions in the ring, oldest first, and the promotions; then the numbers
//! of the state, 4 or 8 bytes each, packed posterior and evidence counts; then the CRC-32 of everything
//! before. See [`snapshot`].
//!
//! **Prior**: header; then the packed numbers; then the CRC-32 of everything before. See [`prior`].
//!
//! ```
//! use fable_core::record::{decode_event, encode_event, MAX_EVENT_LEN};
//! use fable_core::catalog::TAU2;
//! use fable_core::journal::Event;
//! let event = Event::Feedback { round: 7, reward: 0.5, weight: 1.0 };
//! let mut buffer = [0; MAX_EVENT_LEN];
//! let bytes = encode_event(&event, &mut buffer)?;
//! assert_eq!(bytes.len(), 15);
//! assert_eq!(decode_event(&TAU2, bytes)?, event);
//! # Ok::<(), fable_core::record::RecordError>(())
//! ```

mod event;
pub mod prior;
mod restore;
pub mod snapshot;
mod wire;

pub use event::{MAX_EVENT_LEN, MAX_REMOTE_LEN, decode_event, decode_event_into, encode_event};
pub use prior::PriorVerifier;
#[cfg(feature = "alloc")]
pub use prior::{decode_prior, encode_prior};
pub use restore::{Loader, Verified, Verifier};
pub use snapshot::Snapshot;
pub use wire::{Input, Output};

use crate::catalog::score::Scalar;
use crate::numbers::Storage;
use crate::policy::Policy;
use crate::user::Learner;
use core::fmt;
use crc::{CRC_16_IBM_3740, CRC_32_ISO_HDLC, Crc, NoTable};

/// The version of every layout in this module.
pub const VERSION: u8 = 4;
/// Bytes of a [`Header`].
pub const HEADER_LEN: usize = 32;

/// The checksum of an event. Events are short, so it needs no table.
const CRC_16: Crc<u16, NoTable> = Crc::<u16, NoTable>::new(&CRC_16_IBM_3740);
/// The computation of the longer checksum: from a table of 1 KB on a host, without a table on a device.
#[cfg(feature = "alloc")]
pub(crate) type Way = crc::Table<1>;
#[cfg(not(feature = "alloc"))]
pub(crate) type Way = NoTable;

/// The checksum of a header and a snapshot. A static, so that a table exists once.
pub(crate) static CRC_32: Crc<u32, Way> = Crc::<u32, Way>::new(&CRC_32_ISO_HDLC);

/// CRC-32/ISO-HDLC, the checksum of headers and snapshots, for the records of adapters.
#[must_use]
#[inline]
pub fn checksum(bytes: &[u8]) -> u32 {
    CRC_32.checksum(bytes)
}

/// The kind of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Kind {
    /// A sequence of events.
    Journal,
    /// A whole state.
    Snapshot,
    /// A base prior.
    Prior,
}

impl Kind {
    const fn magic(self) -> [u8; 4] {
        match self {
            Self::Journal => *b"FABJ",
            Self::Snapshot => *b"FABS",
            Self::Prior => *b"FABP",
        }
    }
}

/// The policy and the user of the bytes after the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Header {
    /// Journal, snapshot or prior.
    pub kind: Kind,
    /// Bits of the significand of the learner's scalar: 24 for `f32`, 53 for `f64`.
    pub digits: u8,
    /// `R` of the learner: decisions that can wait, and promotions.
    pub capacity: u16,
    /// Fingerprint of the policy. In a prior: of the policy without it.
    pub fingerprint: u64,
    /// Hash of the user. In a prior: fingerprint of the policy with it.
    pub user: u64,
    /// Fingerprint of the promotion settings at the learner's start.
    pub guarantee_fingerprint: u32,
}

impl Header {
    /// The header of a user's records that start under a policy.
    #[must_use]
    pub fn new<T: Scalar>(kind: Kind, policy: &Policy<'_, T>, user: u64, capacity: u16) -> Self {
        Self {
            kind,
            digits: digits::<T>(),
            capacity,
            fingerprint: policy.fingerprint(),
            user,
            guarantee_fingerprint: policy.guarantee_fingerprint(),
        }
    }

    /// The bytes.
    #[must_use]
    #[inline(never)]
    pub fn encode(&self) -> [u8; HEADER_LEN] {
        let mut bytes = [0; HEADER_LEN];
        let [low, high] = self.capacity.to_le_bytes();
        let fields = self.kind.magic().into_iter().chain([VERSION, self.digits, low, high]);
        let fields = fields
            .chain(self.fingerprint.to_le_bytes())
            .chain(self.user.to_le_bytes())
            .chain(self.guarantee_fingerprint.to_le_bytes());
        for (slot, byte) in bytes.iter_mut().zip(fields) {
            *slot = byte;
        }
        if let Some((front, sum)) = bytes.split_last_chunk_mut::<4>() {
            *sum = CRC_32.checksum(front).to_le_bytes();
        }
        bytes
    }

    /// Reads a header. Another version is recognised whatever its other fields mean.
    ///
    /// # Errors
    /// Too few bytes, another magic number, a wrong checksum, another version, an unknown scalar.
    #[inline(never)]
    pub fn decode(bytes: &[u8]) -> Result<Self, RecordError> {
        let bytes: &[u8; HEADER_LEN] = bytes.first_chunk().ok_or(RecordError::Truncated)?;
        let (front, sum) = bytes.split_last_chunk::<4>().ok_or(RecordError::Truncated)?;
        let [m0, m1, m2, m3, version, digits, low, high, rest @ ..] = front else {
            return Err(RecordError::Truncated);
        };
        let kind = match &[*m0, *m1, *m2, *m3] {
            b"FABJ" => Kind::Journal,
            b"FABS" => Kind::Snapshot,
            b"FABP" => Kind::Prior,
            _ => return Err(RecordError::Foreign),
        };
        if CRC_32.checksum(front) != u32::from_le_bytes(*sum) {
            return Err(RecordError::Checksum);
        }
        if *version != VERSION {
            return Err(RecordError::Version { found: *version });
        }
        let (fingerprint, user) = rest.split_first_chunk::<8>().ok_or(RecordError::Truncated)?;
        let (user, guarantee_fingerprint) = user.split_first_chunk::<8>().ok_or(RecordError::Truncated)?;
        let guarantee_fingerprint = guarantee_fingerprint.first_chunk::<4>().ok_or(RecordError::Truncated)?;
        if !matches!(*digits, 24 | 53) {
            return Err(RecordError::Content);
        }
        let (fingerprint, user) = (u64::from_le_bytes(*fingerprint), u64::from_le_bytes(*user));
        let (digits, capacity) = (*digits, u16::from_le_bytes([*low, *high]));
        Ok(Self {
            kind,
            digits,
            capacity,
            fingerprint,
            user,
            guarantee_fingerprint: u32::from_le_bytes(*guarantee_fingerprint),
        })
    }

    /// Checks that records after this header can be read under a policy.
    ///
    /// # Errors
    /// Another kind, another scalar, another catalog, other settings.
    pub fn admit<T: Scalar>(&self, kind: Kind, policy: &Policy<'_, T>) -> Result<(), RecordError> {
        self.admit_as::<T>(kind, policy.fingerprint())
    }

    fn admit_as<T: Scalar>(&self, kind: Kind, fingerprint: u64) -> Result<(), RecordError> {
        if self.kind != kind {
            Err(RecordError::Foreign)
        } else if self.digits != digits::<T>() {
            Err(RecordError::Scalar { found: self.digits })
        } else if self.fingerprint >> 32 != fingerprint >> 32 {
            Err(RecordError::Catalog)
        } else if self.fingerprint != fingerprint {
            Err(RecordError::Policy)
        } else {
            Ok(())
        }
    }
}

impl<T: Scalar, S: Storage<T>, const R: usize> Learner<T, S, R> {
    /// Starts the learner that a journal belongs to, ready for its first event.
    ///
    /// # Errors
    /// A header that does not fit the policy, less capacity than it needs, or storage of the wrong length;
    /// nothing has changed then.
    pub fn start_journal(&mut self, policy: &Policy<'_, T>, header: &Header) -> Result<(), RecordError> {
        self.start_journal_in(policy, header, 0)
    }

    /// Starts the learner of a journal in a given incarnation.
    ///
    /// A host that keeps nothing of forgotten users starts later users of the name in an incarnation that was
    /// never used. So no decision id occurs twice.
    ///
    /// # Errors
    /// As for [`start_journal`](Self::start_journal).
    pub fn start_journal_in(
        &mut self,
        policy: &Policy<'_, T>,
        header: &Header,
        incarnation: u32,
    ) -> Result<(), RecordError> {
        header.admit(Kind::Journal, policy)?;
        if usize::from(header.capacity) > R {
            return Err(RecordError::Capacity { needed: header.capacity });
        }
        let expected = policy.catalog().state_len();
        self.start(policy, header.user).map_err(|_| RecordError::Storage { expected })?;
        let state = self.memory().state;
        (state.guarantee_fingerprint, state.incarnation) = (header.guarantee_fingerprint, incarnation);
        Ok(())
    }
}

/// The scalar's name in records.
const fn digits<T: Scalar>() -> u8 {
    if T::DIGITS == 24 { 24 } else { 53 }
}

/// A fault in bytes. Nothing has been read into a state then.
///
/// Errors are small, so a device returns them in registers. They have no fingerprint that the caller knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum RecordError {
    /// The bytes end too early.
    Truncated,
    /// There are more bytes than the record has.
    TooLong,
    /// These are not records of this kind.
    Foreign,
    /// The bytes were damaged.
    Checksum,
    /// The records were written by another version.
    Version {
        /// The version of the records.
        found: u8,
    },
    /// The records are in the other scalar.
    Scalar {
        /// 24 for `f32`, 53 for `f64`.
        found: u8,
    },
    /// The records belong to another catalog: the upper half of the fingerprint in their [`Header`] differs.
    /// They are undamaged, and their user can be [migrated](crate::Catalog::shape).
    Catalog,
    /// The records belong to this catalog with other settings or another prior: the lower half differs.
    Policy,
    /// The bytes are undamaged but impossible here: a number out of range, an unknown event.
    Content,
    /// The record needs a feature that this build leaves out: user rules without `rules`, counted surprise
    /// without `adapt`, an event of another feature.
    Unsupported,
    /// The learner has less capacity than the record needs.
    Capacity {
        /// The `R` that the record needs.
        needed: u16,
    },
    /// The learner's storage has the wrong length.
    Storage {
        /// The length that the catalog needs.
        expected: usize,
    },
    /// The learner is not empty.
    Occupied,
    /// The bytes loaded are not those that were verified.
    Changed,
    /// The buffer is too small for the record.
    Buffer,
}

impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated => f.write_str("the record ends too early"),
            Self::TooLong => f.write_str("there are bytes behind the end of the record"),
            Self::Foreign => f.write_str("this is no such record"),
            Self::Checksum => f.write_str("the record is damaged"),
            Self::Version { found } => {
                write!(f, "the record has version {found}, this program reads version {VERSION}")
            }
            Self::Scalar { found: 24 } => f.write_str("the record is in f32, this learner is in f64"),
            Self::Scalar { .. } => f.write_str("the record is in f64, this learner is in f32"),
            Self::Catalog => f.write_str("the record belongs to another catalog"),
            Self::Policy => {
                f.write_str("the record belongs to the same catalog with other settings or another prior")
            }
            Self::Content => f.write_str("the record has a content that is not possible here"),
            Self::Unsupported => f.write_str("the record has something that this build was made without"),
            Self::Capacity { needed } => {
                write!(f, "the learner needs room for {needed} waiting decisions or promotions")
            }
            Self::Storage { expected } => write!(f, "the state needs storage for exactly {expected} numbers"),
            Self::Occupied => f.write_str("the learner is in use; vacate it before a snapshot is loaded"),
            Self::Changed => f.write_str("the bytes loaded are not those that were verified"),
            Self::Buffer => f.write_str("the buffer is too small for the record"),
        }
    }
}

impl core::error::Error for RecordError {}
