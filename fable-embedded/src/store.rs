//! The place where a device stores its user: a snapshot and the events after it.
//!
//! A [`Device`](crate::Device) checks each event, [appends](UserStore::append) it and then applies it. So an
//! acknowledged event is durable, and a failure changes nothing. [`UserStore`] is for storage that blocks,
//! [`AsyncUserStore`] for storage with futures. Both are one source text.
//!
//! [`FlashStore`](crate::flash::FlashStore) is a store in NOR flash. [`RamStore`] stores nothing. A store
//! elsewhere needs three functions; `examples/file_store.rs` is a durable store in a file:
//!
//! ```
//! use fable_core::journal::Event;
//! use fable_core::record::{MAX_EVENT_LEN, encode_event};
//! use fable_core::{Scalar, User};
//! use fable_embedded::UserStore;
//! # use std::error::Error;
//!
//! /// Snapshots and events in memory that survives a reset.
//! #[derive(Default)]
//! struct Retained { snapshot: Vec<u8>, journal: Vec<Vec<u8>> }
//!
//! impl UserStore for Retained {
//!     type Error = Box<dyn Error>;
//!
//!     fn append(&mut self, event: &Event) -> Result<bool, Self::Error> {
//!         if self.journal.len() == 100 {
//!             return Ok(false);
//!         }
//!         self.journal.push(encode_event(event, &mut [0; MAX_EVENT_LEN])?.to_vec());
//!         Ok(true)
//!     }
//!
//!     fn ensure_capacity<T: Scalar>(&mut self, user: &User<'_, T>) -> Result<(), Self::Error> {
//!         let (mut snapshot, mut chunk) = (user.snapshot()?, [0; 256]);
//!         self.snapshot.clear();
//!         while let read @ 1.. = snapshot.read(&mut chunk) {
//!             self.snapshot.extend_from_slice(&chunk[..read]);
//!         }
//!         self.journal.clear();
//!         Ok(())
//!     }
//!
//!     fn forget<T: Scalar>(&mut self, user: &User<'_, T>) -> Result<(), Self::Error> {
//!         self.ensure_capacity(user)
//!     }
//! }
//! ```
//!
//! | Functions | Needed for |
//! |---|---|
//! | `append`, `ensure_capacity`, `forget` | every store |
//! | `replies` | requests of a host that change something |
//! | `read_snapshot`, `read_event`, `usage` | a host that reads the state |
//! | `stage_write`, `stage_commit` | a host that replaces the state |
//! | `commit_prior`, `read_prior`, `outdated` | a host that loads priors |
//! | `allow_erase` | storage that wears out |

use crate::reply_cache::ReplyCache;
use core::fmt;
use fable_core::journal::Event;
use fable_core::record::RecordError;
use fable_core::{Policy, Scalar, User, UserError};
use fable_forms::blocking;
#[cfg(feature = "serve")]
use fable_wire::StoreUsage;

/// A store of one user.
///
/// The stored state is the stored snapshot with the events of the journal applied in order. After an error
/// the stored state is as before. Functions with a default body are for devices that serve a host; most of
/// them refuse with [`UserError::Unsupported`].
#[expect(async_fn_in_trait, reason = "one executor or none; nothing is sent between threads")]
#[allow(clippy::missing_errors_doc, reason = "stated once, above; only the blocking form is checked")]
#[blocking]
pub trait AsyncUserStore {
    /// Errors of the store and of the user. A server needs `Into<Fault>`, too.
    type Error: From<UserError>;

    /// Appends an event to the journal durably. Returns false, and stores nothing, if the capacity is used
    /// up.
    ///
    /// A store with a [reply cache](Self::replies) stores the event's [request id](ReplyCache::request_id) in
    /// the same write.
    async fn append(&mut self, event: &Event) -> Result<bool, Self::Error>;

    /// Ensures capacity for any next event: stores a snapshot of the user and empties the journal.
    ///
    /// After it returns, `append` stores the event or fails. A store with a reply cache stores the
    /// [bytes](ReplyCache::to_bytes) of the cache with the snapshot.
    async fn ensure_capacity<T: Scalar>(&mut self, user: &User<'_, T>) -> Result<(), Self::Error>;

    /// Erases everything that is older than the user's state.
    ///
    /// [`Event::Forget`] is in the journal by then and is applied to the user. A store that finds this event
    /// in its journal after a reset has to erase what is older.
    async fn forget<T: Scalar>(&mut self, user: &User<'_, T>) -> Result<(), Self::Error>;

    /// Returns the reply of the last request, which lasts as long as the state.
    ///
    /// Without a cache a server refuses requests that change something, because it could execute a repeated
    /// request twice.
    fn replies(&mut self) -> Option<&mut ReplyCache> {
        None
    }

    /// Counts an erase for a host durably. Returns false if the store allows no further erase.
    async fn allow_erase<T: Scalar>(&mut self, user: &User<'_, T>) -> Result<bool, Self::Error> {
        let _ = user;
        Ok(true)
    }

    /// Stages bytes of a snapshot or a prior, in order. Offset 0 starts over. Nothing else changes.
    async fn stage_write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), Self::Error> {
        let _ = (offset, bytes);
        Err(UserError::Unsupported.into())
    }

    /// Verifies the staged snapshot of `length` bytes, replaces the stored snapshot by it, empties the
    /// journal, and loads it.
    ///
    /// The user is as before if the snapshot is refused. A store with a reply cache calls
    /// [`note_commit`](ReplyCache::note_commit) before it stores the cache.
    async fn stage_commit<T: Scalar>(
        &mut self,
        user: &mut User<'_, T>,
        length: u32,
    ) -> Result<(), Self::Error> {
        let _ = (user, length);
        Err(UserError::Unsupported.into())
    }

    /// Reads bytes of the stored snapshot and returns their number, which is smaller than the buffer at the
    /// end.
    ///
    /// A store without a snapshot reads the present state of the user; so does the default.
    async fn read_snapshot<T: Scalar>(
        &mut self,
        user: &User<'_, T>,
        offset: u32,
        buffer: &mut [u8],
    ) -> Result<usize, Self::Error> {
        Ok(read_state(user, offset, buffer)?)
    }

    /// Reads one event after the stored snapshot as a record and returns its length, or `None` after the last
    /// event.
    async fn read_event(&mut self, index: u32, buffer: &mut [u8]) -> Result<Option<usize>, Self::Error> {
        let _ = (index, buffer);
        Err(UserError::Unsupported.into())
    }

    /// Verifies the staged prior of `length` bytes for a policy, and makes it the prior of the next
    /// incarnation.
    ///
    /// With length 0 the next incarnation begins from the policy's own prior again.
    async fn commit_prior<T: Scalar>(
        &mut self,
        policy: &Policy<'_, T>,
        length: u32,
    ) -> Result<(), Self::Error> {
        let _ = (policy, length);
        Err(UserError::Unsupported.into())
    }

    /// Reads bytes of the stored prior of the next or the present incarnation, and returns their number.
    ///
    /// The policy's own prior has 0 bytes.
    async fn read_prior(&mut self, next: bool, offset: u32, buffer: &mut [u8]) -> Result<usize, Self::Error> {
        let _ = (next, offset, buffer);
        Err(UserError::Unsupported.into())
    }

    /// Returns true if the incarnation is empty and begins from another prior than the user's policy has.
    ///
    /// The store takes no event until the user has a policy with that prior.
    fn outdated(&self) -> bool {
        false
    }

    /// Returns the counts of the store.
    #[cfg(feature = "serve")]
    async fn usage(&mut self) -> Result<StoreUsage, Self::Error> {
        Ok(StoreUsage::default())
    }
}

/// Reads bytes of the user's present state.
fn read_state<T: Scalar>(user: &User<'_, T>, offset: u32, buffer: &mut [u8]) -> Result<usize, UserError> {
    let mut snapshot = user.snapshot()?;
    let mut skip = offset as usize;
    while skip > 0 {
        let step = skip.min(buffer.len());
        match snapshot.read(buffer.get_mut(..step).unwrap_or_default()) {
            0 => return Ok(0),
            read => skip = skip.saturating_sub(read),
        }
    }
    Ok(snapshot.read(buffer))
}

/// A store without durable storage: after a reset the user starts again. With `STAGE` bytes it takes a
/// snapshot from a host.
///
/// ```
/// use fable_embedded::RamStore;
/// static STORE: RamStore = RamStore::EMPTY; // zero bytes
/// # assert!(size_of_val(&STORE) <= 48);
/// ```
#[derive(Debug)]
pub struct RamStore<const STAGE: usize = 0> {
    stage: [u8; STAGE],
    staged: u32,
    replies: ReplyCache,
}

impl<const STAGE: usize> RamStore<STAGE> {
    /// A store with nothing staged; all its bits are zero.
    pub const EMPTY: Self = Self { stage: [0; STAGE], staged: 0, replies: ReplyCache::EMPTY };
}

/// An error of a [`RamStore`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum RamError {
    /// The user refuses.
    User(UserError),
    /// The staged snapshot cannot be used.
    Record(RecordError),
    /// The store has no stage, or no place for a prior.
    Unsupported,
    /// The staged bytes exceed the stage.
    Full,
    /// The staged bytes did not start at 0, or left a gap.
    Order,
}

impl From<UserError> for RamError {
    fn from(error: UserError) -> Self {
        Self::User(error)
    }
}

impl From<RecordError> for RamError {
    fn from(error: RecordError) -> Self {
        Self::Record(error)
    }
}

impl fmt::Display for RamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::User(error) => error.fmt(f),
            Self::Record(error) => error.fmt(f),
            Self::Unsupported => f.write_str("the store has no place for that"),
            Self::Full => f.write_str("the stage is full"),
            Self::Order => {
                f.write_str("the staged bytes must come in order, without gaps and from the start")
            }
        }
    }
}

impl core::error::Error for RamError {}

#[blocking]
impl<const STAGE: usize> AsyncUserStore for RamStore<STAGE> {
    type Error = RamError;

    async fn append(&mut self, _: &Event) -> Result<bool, RamError> {
        Ok(true)
    }

    async fn ensure_capacity<T: Scalar>(&mut self, _: &User<'_, T>) -> Result<(), RamError> {
        Ok(())
    }

    async fn forget<T: Scalar>(&mut self, _: &User<'_, T>) -> Result<(), RamError> {
        *self = Self { replies: self.replies, ..Self::EMPTY };
        Ok(())
    }

    fn replies(&mut self) -> Option<&mut ReplyCache> {
        Some(&mut self.replies)
    }

    async fn stage_write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), RamError> {
        if STAGE == 0 {
            return Err(RamError::Unsupported);
        }
        if offset != 0 && offset != self.staged {
            return Err(RamError::Order);
        }
        let place = self.stage.get_mut(offset as usize..).and_then(|rest| rest.get_mut(..bytes.len()));
        for (slot, byte) in place.ok_or(RamError::Full)?.iter_mut().zip(bytes) {
            *slot = *byte;
        }
        self.staged = offset + bytes.len() as u32; // at most STAGE
        Ok(())
    }

    #[inline(never)]
    async fn stage_commit<T: Scalar>(&mut self, user: &mut User<'_, T>, length: u32) -> Result<(), RamError> {
        if STAGE == 0 {
            return Err(RamError::Unsupported);
        }
        if length != self.staged {
            return Err(RamError::Order);
        }
        user.restore(self.stage.get(..length as usize).ok_or(RecordError::Truncated)?)?;
        self.staged = 0;
        Ok(())
    }

    async fn read_event(&mut self, _: u32, _: &mut [u8]) -> Result<Option<usize>, RamError> {
        Ok(None)
    }

    async fn commit_prior<T: Scalar>(&mut self, _: &Policy<'_, T>, _: u32) -> Result<(), RamError> {
        Err(RamError::Unsupported)
    }

    async fn read_prior(&mut self, _: bool, _: u32, _: &mut [u8]) -> Result<usize, RamError> {
        Ok(0)
    }
}
