//! Where a device keeps its state: a snapshot, the events after it, and a place to stage another snapshot.
//!
//! A [`Device`](crate::Device) does for every event check -> [`append`](Keep::append) -> apply: what it acknowledges is durable,
//! and what fails has changed nothing. [`Volatile`] keeps nothing, for boards without flash and for tests. [`Keep`] is for
//! storage that is waited for on the spot, [`AsyncKeep`] is the same text for storage with futures.

use crate::receipt::Receipts;
use fable_core::journal::Event;
use fable_core::record::RecordError;
use fable_core::{Policy, Scalar, User, UserError};
use fable_forms::blocking;
use fable_wire::{Fault, Kept, StorageFault};

/// A place to keep one user in.
///
/// The stored state is at any time the kept snapshot with the journal's events applied in order. When a function returns an
/// error the stored state is as before.
#[expect(async_fn_in_trait, reason = "one executor or none; nothing is sent between threads")]
#[allow(clippy::missing_errors_doc, reason = "said once, above; only the blocking form is looked at")]
#[blocking]
pub trait AsyncKeep {
    /// What can go wrong, with the user's own errors, and what a host is told then.
    type Error: From<UserError> + Into<Fault>;

    /// What the last request was answered with; it lasts as long as the state does.
    fn receipts(&mut self) -> &mut Receipts;

    /// Appends an event to the journal, with its [ticket](Receipts::stamp) if it has one; durable when it returns true. False when
    /// there is no room, and nothing was stored.
    async fn append(&mut self, event: &Event) -> Result<bool, Self::Error>;

    /// Makes room for the next event, whichever it is, by a snapshot of the user that empties the journal. When it returns,
    /// `append` takes the event or fails.
    async fn make_room<T: Scalar>(&mut self, user: &User<'_, T>) -> Result<(), Self::Error>;

    /// Leaves nothing readable of what came before: called with the user as it is after the event
    /// [`Forget`](Event::Forget), which is in the journal by then and has to be finished if the power fails here.
    async fn forget<T: Scalar>(&mut self, user: &User<'_, T>) -> Result<(), Self::Error>;

    /// Takes one of the erasures that hosts may ask for from those that are allowed, durably; false when there is none left.
    /// Storage that does not wear out allows all.
    async fn spend<T: Scalar>(&mut self, user: &User<'_, T>) -> Result<bool, Self::Error> {
        let _ = user;
        Ok(true)
    }

    /// Takes the bytes of a snapshot that is not used yet, in order; offset 0 starts over. Nothing else is touched.
    async fn stage_write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), Self::Error>;

    /// Verifies the staged snapshot of `length` bytes, makes it the kept one with an empty journal, and loads it in place of
    /// the user, who is as before when it is refused.
    async fn stage_commit<T: Scalar>(
        &mut self,
        user: &mut User<'_, T>,
        length: u32,
    ) -> Result<(), Self::Error>;

    /// Reads bytes of the kept snapshot and says how many; fewer than asked for at its end. One that keeps none gives the
    /// user's present state.
    async fn read_snapshot<T: Scalar>(
        &mut self,
        user: &User<'_, T>,
        offset: u32,
        buffer: &mut [u8],
    ) -> Result<usize, Self::Error>;

    /// Verifies the staged prior of `length` bytes for a policy's catalog and settings and makes it the one that the next
    /// incarnation begins from; with length 0 that is the policy's own again.
    async fn commit_prior<T: Scalar>(
        &mut self,
        policy: &Policy<'_, T>,
        length: u32,
    ) -> Result<(), Self::Error>;

    /// Reads bytes of the kept prior, the next one or that which this incarnation began from, and says how many; 0 where the
    /// policy's own counts.
    async fn read_prior(&mut self, next: bool, offset: u32, buffer: &mut [u8]) -> Result<usize, Self::Error>;

    /// Whether nothing has happened in this incarnation and it begins from another prior than the user's policy has. Nothing
    /// is stored until the user has that policy.
    fn outdated(&self) -> bool {
        false
    }

    /// Reads one event of the journal, as a record, and says how long it is; `None` after the last one.
    async fn read_event(&mut self, index: u32, buffer: &mut [u8]) -> Result<Option<usize>, Self::Error>;

    /// Counts.
    async fn statistics(&mut self) -> Result<Kept, Self::Error>;
}

/// Keeps nothing: after a reset the user starts anew. With `STAGE` bytes it can take a snapshot from a host.
///
/// ```
/// use fable_embedded::Volatile;
/// static KEEP: Volatile = Volatile::EMPTY; // zero bytes
/// # assert!(size_of_val(&KEEP) <= 48);
/// ```
#[derive(Debug)]
pub struct Volatile<const STAGE: usize = 0> {
    stage: [u8; STAGE],
    staged: u32,
    receipts: Receipts,
}

impl<const STAGE: usize> Volatile<STAGE> {
    /// Nothing staged; all zero bits.
    pub const EMPTY: Self = Self { stage: [0; STAGE], staged: 0, receipts: Receipts::NONE };
}

/// Bytes of the user's present state.
fn read<T: Scalar>(user: &User<'_, T>, offset: u32, buffer: &mut [u8]) -> Result<usize, Fault> {
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

#[blocking]
impl<const STAGE: usize> AsyncKeep for Volatile<STAGE> {
    type Error = Fault;

    fn receipts(&mut self) -> &mut Receipts {
        &mut self.receipts
    }

    async fn append(&mut self, _: &Event) -> Result<bool, Fault> {
        Ok(true)
    }

    async fn make_room<T: Scalar>(&mut self, _: &User<'_, T>) -> Result<(), Fault> {
        Ok(())
    }

    async fn forget<T: Scalar>(&mut self, _: &User<'_, T>) -> Result<(), Fault> {
        *self = Self { receipts: self.receipts, ..Self::EMPTY };
        Ok(())
    }

    async fn stage_write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), Fault> {
        if STAGE == 0 {
            return Err(StorageFault::Unsupported.into());
        }
        if offset != 0 && offset != self.staged {
            return Err(StorageFault::Order.into());
        }
        let place = self.stage.get_mut(offset as usize..).and_then(|rest| rest.get_mut(..bytes.len()));
        for (slot, byte) in place.ok_or(StorageFault::Full)?.iter_mut().zip(bytes) {
            *slot = *byte;
        }
        self.staged = offset + bytes.len() as u32; // within STAGE
        Ok(())
    }

    #[inline(never)]
    async fn stage_commit<T: Scalar>(&mut self, user: &mut User<'_, T>, length: u32) -> Result<(), Fault> {
        if STAGE == 0 {
            return Err(StorageFault::Unsupported.into());
        }
        if length != self.staged {
            return Err(StorageFault::Order.into());
        }
        user.restore(self.stage.get(..length as usize).ok_or(RecordError::Truncated)?)?;
        self.staged = 0;
        Ok(())
    }

    async fn read_snapshot<T: Scalar>(
        &mut self,
        user: &User<'_, T>,
        offset: u32,
        buffer: &mut [u8],
    ) -> Result<usize, Fault> {
        read(user, offset, buffer)
    }

    async fn commit_prior<T: Scalar>(&mut self, _: &Policy<'_, T>, _: u32) -> Result<(), Fault> {
        Err(StorageFault::Unsupported.into())
    }

    async fn read_prior(&mut self, _: bool, _: u32, _: &mut [u8]) -> Result<usize, Fault> {
        Ok(0)
    }

    async fn read_event(&mut self, _: u32, _: &mut [u8]) -> Result<Option<usize>, Fault> {
        Ok(None)
    }

    async fn statistics(&mut self) -> Result<Kept, Fault> {
        Ok(Kept::default())
    }
}
