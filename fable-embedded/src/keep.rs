//! Where a device keeps its state: a snapshot, the events behind it, and a place to stage another snapshot.
//!
//! The [`Server`](crate::Server) does for every event [`room`](Keep::room) -> check -> [`append`](Keep::append) -> apply:
//! what it acknowledges is durable, and what fails has changed nothing. [`Volatile`] keeps nothing, for boards without
//! flash and for tests. The functions are asynchronous because flash drivers may be; what never waits can be run on the spot,
//! see [`block_on`].

use crate::protocol::{Fault, Kept, StorageFault};
use core::future::Future;
use core::pin::pin;
use core::task::{Context, Poll, Waker};
use fable_core::record::{RecordError, Verifier};
use fable_core::{Event, Learner, Policy, Scalar, Storage};

/// A place to keep one learner in.
///
/// The stored state is at any time the kept snapshot with the journal's events applied in order. When a function returns an
/// error the stored state is as before.
#[expect(async_fn_in_trait, reason = "one executor or none; nothing is sent between threads")]
pub trait Keep {
    /// What can go wrong, and what a host is told then.
    type Error: Into<Fault>;

    /// Makes room for the next event, whichever it is: writes a snapshot of the learner and empties the journal if the
    /// longest event might not fit. Called before every event is checked.
    async fn room<T: Scalar, S: Storage<T>, const R: usize>(&mut self, learner: &Learner<T, S, R>) -> Result<(), Self::Error>;

    /// Appends an event to the journal; durable when it returns.
    async fn append(&mut self, event: &Event) -> Result<(), Self::Error>;

    /// Leaves nothing readable of what came before: called with the learner as it is after the event
    /// [`Forget`](Event::Forget), which is in the journal by then and has to be finished if the power fails here.
    async fn forget<T: Scalar, S: Storage<T>, const R: usize>(&mut self, learner: &Learner<T, S, R>) -> Result<(), Self::Error>;

    /// Takes the bytes of a snapshot that is not used yet, in order; offset 0 starts over. Nothing else is touched.
    async fn stage_write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), Self::Error>;

    /// Verifies the staged snapshot of `length` bytes, makes it the kept one with an empty journal, and loads it into the
    /// learner. On an error the learner is as before.
    async fn stage_commit<T: Scalar, S: Storage<T>, const R: usize>(
        &mut self,
        policy: &Policy<'_, T>,
        learner: &mut Learner<T, S, R>,
        length: u32,
    ) -> Result<(), Self::Error>;

    /// Reads bytes of the kept snapshot and says how many; fewer than asked for at its end. One that keeps none gives the
    /// learner's present state.
    async fn read_snapshot<T: Scalar, S: Storage<T>, const R: usize>(
        &mut self,
        learner: &Learner<T, S, R>,
        offset: u32,
        buffer: &mut [u8],
    ) -> Result<usize, Self::Error>;

    /// Reads one event of the journal, as a record, and says how long it is; `None` behind the last one.
    async fn journal_event(&mut self, index: u32, buffer: &mut [u8]) -> Result<Option<usize>, Self::Error>;

    /// Counts.
    async fn statistics(&mut self) -> Result<Kept, Self::Error>;
}

/// A place that is lent: one that lives in a `static`, say.
impl<K: Keep> Keep for &mut K {
    type Error = K::Error;

    async fn room<T: Scalar, S: Storage<T>, const R: usize>(&mut self, learner: &Learner<T, S, R>) -> Result<(), K::Error> {
        K::room(self, learner).await
    }

    async fn append(&mut self, event: &Event) -> Result<(), K::Error> {
        K::append(self, event).await
    }

    async fn forget<T: Scalar, S: Storage<T>, const R: usize>(&mut self, learner: &Learner<T, S, R>) -> Result<(), K::Error> {
        K::forget(self, learner).await
    }

    async fn stage_write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), K::Error> {
        K::stage_write(self, offset, bytes).await
    }

    async fn stage_commit<T: Scalar, S: Storage<T>, const R: usize>(
        &mut self,
        policy: &Policy<'_, T>,
        learner: &mut Learner<T, S, R>,
        length: u32,
    ) -> Result<(), K::Error> {
        K::stage_commit(self, policy, learner, length).await
    }

    async fn read_snapshot<T: Scalar, S: Storage<T>, const R: usize>(
        &mut self,
        learner: &Learner<T, S, R>,
        offset: u32,
        buffer: &mut [u8],
    ) -> Result<usize, K::Error> {
        K::read_snapshot(self, learner, offset, buffer).await
    }

    async fn journal_event(&mut self, index: u32, buffer: &mut [u8]) -> Result<Option<usize>, K::Error> {
        K::journal_event(self, index, buffer).await
    }

    async fn statistics(&mut self) -> Result<Kept, K::Error> {
        K::statistics(self).await
    }
}

/// Keeps nothing: after a reset the learner starts anew. With `STAGE` bytes it can take a snapshot from a host.
///
/// ```
/// use fable_embedded::Volatile;
/// static KEEP: Volatile = Volatile::VACANT; // zero bytes
/// # assert_eq!(size_of_val(&KEEP), 4);
/// ```
#[derive(Debug)]
pub struct Volatile<const STAGE: usize = 0> {
    stage: [u8; STAGE],
    staged: u32,
}

impl<const STAGE: usize> Volatile<STAGE> {
    /// Nothing staged; all zero bits.
    pub const VACANT: Self = Self { stage: [0; STAGE], staged: 0 };

    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), Fault> {
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
    fn commit<T: Scalar, S: Storage<T>, const R: usize>(
        &mut self,
        policy: &Policy<'_, T>,
        learner: &mut Learner<T, S, R>,
        length: u32,
    ) -> Result<(), Fault> {
        if STAGE == 0 {
            return Err(StorageFault::Unsupported.into());
        }
        if length != self.staged {
            return Err(StorageFault::Order.into());
        }
        let bytes = self.stage.get(..length as usize).ok_or(RecordError::Truncated)?;
        let mut verifier = Verifier::new(policy);
        verifier.push(bytes)?;
        let verified = verifier.finish()?;
        learner.fits(policy, &verified)?;
        learner.vacate();
        let mut loader = learner.load(policy, verified)?;
        loader.push(bytes)?;
        loader.finish()?;
        self.staged = 0;
        Ok(())
    }
}

/// Bytes of the learner's present state.
fn read<T: Scalar, S: Storage<T>, const R: usize>(
    learner: &Learner<T, S, R>,
    offset: u32,
    buffer: &mut [u8],
) -> Result<usize, Fault> {
    let mut snapshot = learner.snapshot()?;
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

impl<const STAGE: usize> Keep for Volatile<STAGE> {
    type Error = Fault;

    async fn room<T: Scalar, S: Storage<T>, const R: usize>(&mut self, _: &Learner<T, S, R>) -> Result<(), Fault> {
        Ok(())
    }

    async fn append(&mut self, _: &Event) -> Result<(), Fault> {
        Ok(())
    }

    async fn forget<T: Scalar, S: Storage<T>, const R: usize>(&mut self, _: &Learner<T, S, R>) -> Result<(), Fault> {
        self.stage.fill(0);
        self.staged = 0;
        Ok(())
    }

    async fn stage_write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), Fault> {
        self.write(offset, bytes)
    }

    async fn stage_commit<T: Scalar, S: Storage<T>, const R: usize>(
        &mut self,
        policy: &Policy<'_, T>,
        learner: &mut Learner<T, S, R>,
        length: u32,
    ) -> Result<(), Fault> {
        self.commit(policy, learner, length)
    }

    async fn read_snapshot<T: Scalar, S: Storage<T>, const R: usize>(
        &mut self,
        learner: &Learner<T, S, R>,
        offset: u32,
        buffer: &mut [u8],
    ) -> Result<usize, Fault> {
        read(learner, offset, buffer)
    }

    async fn journal_event(&mut self, _: u32, _: &mut [u8]) -> Result<Option<usize>, Fault> {
        Ok(None)
    }

    async fn statistics(&mut self) -> Result<Kept, Fault> {
        Ok(Kept::default())
    }
}

/// Runs a future to its end on the spot, for storage that never waits for an interrupt; one that does is polled again and
/// again.
#[inline]
pub fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
        core::hint::spin_loop();
    }
}
