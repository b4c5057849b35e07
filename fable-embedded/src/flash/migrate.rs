//! The way of a stored user to the catalog of the next firmware: restored, migrated in memory, committed as a snapshot.

use super::error::FlashError;
use super::{Active, Blocking, FlashStore, Restored, State};
use embedded_storage::nor_flash::NorFlash as BlockingNorFlash;
use embedded_storage_async::nor_flash::NorFlash;
use fable_core::migrate::{Migrated, Migration};
use fable_core::posterior::Storage;
use fable_core::record::{Header, Kind};
use fable_core::{Learner, Policy, Scalar};
use fable_forms::blocking;

#[blocking(impl<F: BlockingNorFlash, const PRIOR: bool> FlashStore<Blocking<F>, PRIOR>)]
impl<F: NorFlash, const PRIOR: bool> FlashStore<F, PRIOR> {
    /// Restores a user of the old policy, makes it one of the new policy and stores it: from then on the region is the new
    /// policy's. `old` is memory for the moment; the workspace is the larger one of the two catalogs'. See [updates](super#updates).
    ///
    /// # Errors
    /// [`FlashError::SlotTooSmall`] for slots without room for the new catalog's snapshots; whatever
    /// [`restore`](Self::restore) says under the old policy; [`FlashError::Migrate`]. Nothing has changed then. A flash that
    /// fails: the next start finds one of the two users. Both learners are vacant in all these cases.
    pub async fn migrate<T: Scalar, S: Storage<T>, Z: Storage<T>, const R: usize, const Q: usize>(
        &mut self,
        migration: &Migration<'_, T>,
        old: &mut Learner<T, S, R>,
        new: &mut Learner<T, Z, Q>,
        workspace: &mut (impl AsMut<[T]> + ?Sized),
    ) -> Result<(Restored, Migrated), FlashError> {
        old.clear();
        new.clear();
        self.state = State::Closed;
        self.admit(migration.new_policy(), Q)?;
        let restored = self.restore(migration.old_policy(), old, workspace).await?;
        let mut migrated = migration.carry(old, new, workspace).map_err(FlashError::Migrate);
        if migrated.is_ok()
            && let Err(error) = self.take_over(migration, new, workspace).await
        {
            migrated = Err(error);
        }
        if migrated.is_err() {
            self.state = State::Closed;
            old.clear();
            new.clear();
        }
        #[cfg(feature = "defmt")]
        match &migrated {
            Ok(migrated) => defmt::info!("{}", migrated),
            Err(error) => defmt::warn!("not migrated: {}", error),
        }
        Ok((restored, migrated?))
    }

    /// Stores a migrated user in the place of the one it was made from.
    #[inline(never)]
    async fn take_over<T: Scalar, Z: Storage<T>, const Q: usize>(
        &mut self,
        migration: &Migration<'_, T>,
        new: &mut Learner<T, Z, Q>,
        workspace: &mut (impl AsMut<[T]> + ?Sized),
    ) -> Result<(), FlashError> {
        let policy: &Policy<'_, T> = migration.new_policy();
        let (user, guarantee_fingerprint) = (new.state().user(), new.state().guarantee_fingerprint());
        let fresh = self.is_fresh();
        self.drop_priors(migration.old_policy()).await?;
        let slot = self.inactive();
        let len = self.write_snapshot(&new.bind(policy, workspace)?).await?;
        // The last request was made of another catalog: its answer means nothing any more.
        self.commit(Active { slot, len }, false, fresh, None).await?;
        self.header = Header { guarantee_fingerprint, ..Header::new(Kind::Journal, policy, user, Q as u16) };
        let _ = self.renew().await; // committed is committed; `make_room` tries again
        Ok(())
    }
}
