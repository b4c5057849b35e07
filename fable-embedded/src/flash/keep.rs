//! The store as the place where a [`Server`](crate::Server) keeps its state.

use super::{Blocking, Store, StoreError};
use crate::keep::Keep;
use crate::protocol::{Fault, Kept, StorageFault};
use embedded_storage::nor_flash::NorFlash as BlockingNorFlash;
use embedded_storage_async::nor_flash::NorFlash;
use fable_core::{Event, Learner, Policy, Scalar, Storage};
use fable_forms::blocking;

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Record(error) => error.into(),
            StoreError::Learner(error) => error.into(),
            StoreError::Full | StoreError::Exhausted => StorageFault::Full.into(),
            StoreError::Offset { .. } | StoreError::User => StorageFault::Order.into(),
            StoreError::Damaged | StoreError::Foreign | StoreError::Layout => StorageFault::Damaged.into(),
            StoreError::Flash(_) | StoreError::Closed | StoreError::Unformatted | StoreError::Unfinished => {
                StorageFault::Medium.into()
            }
        }
    }
}

#[blocking(impl<F: BlockingNorFlash> Keep for Store<Blocking<F>>)]
impl<F: NorFlash> Keep for Store<F> {
    type Error = StoreError;

    async fn room<T: Scalar, S: Storage<T>, const R: usize>(&mut self, learner: &Learner<T, S, R>) -> Result<(), StoreError> {
        Self::room(self, learner).await
    }

    async fn append(&mut self, event: &Event) -> Result<(), StoreError> {
        Self::append(self, event).await
    }

    async fn forget<T: Scalar, S: Storage<T>, const R: usize>(&mut self, learner: &Learner<T, S, R>) -> Result<(), StoreError> {
        // The event is stored; making room erases all that is older.
        Self::room(self, learner).await.map_err(|_| StoreError::Unfinished)
    }

    async fn stage_write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), StoreError> {
        Self::stage_write(self, offset, bytes).await
    }

    async fn stage_commit<T: Scalar, S: Storage<T>, const R: usize>(
        &mut self,
        policy: &Policy<'_, T>,
        learner: &mut Learner<T, S, R>,
        length: u32,
    ) -> Result<(), StoreError> {
        if self.staged != Some(length) {
            return Err(StoreError::Offset { expected: self.staged.unwrap_or(0) });
        }
        Self::stage_commit(self, policy, learner).await?;
        Ok(())
    }

    async fn read_snapshot<T: Scalar, S: Storage<T>, const R: usize>(
        &mut self,
        _: &Learner<T, S, R>,
        offset: u32,
        buffer: &mut [u8],
    ) -> Result<usize, StoreError> {
        let mut read = 0;
        while let Some(rest) = buffer.get_mut(read..).filter(|rest| !rest.is_empty()) {
            match Self::read_snapshot(self, offset.saturating_add(u32::try_from(read).unwrap_or(u32::MAX)), rest).await? {
                0 => break,
                count => read += count,
            }
        }
        Ok(read)
    }

    async fn journal_event(&mut self, index: u32, buffer: &mut [u8]) -> Result<Option<usize>, StoreError> {
        let mut length = None;
        let from = self.base.saturating_add(index);
        self.read_events(from, |_, event| {
            for (slot, byte) in buffer.iter_mut().zip(event) {
                *slot = *byte;
            }
            length = Some(event.len());
            false
        })
        .await?;
        Ok(length)
    }

    async fn statistics(&mut self) -> Result<Kept, StoreError> {
        let counts = Self::statistics(self);
        Ok(Kept { generation: counts.generation, events: counts.events, free: counts.free, erases: counts.erases })
    }
}
