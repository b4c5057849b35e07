//! Migration of a stored user to the catalog of the next firmware: restored, migrated in memory, committed as
//! a snapshot.

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
    /// Restores a user of the old policy, migrates it to the new policy, and stores it. The region belongs to
    /// the new policy then.
    ///
    /// `old` is memory for the migration. The workspace has the length for the larger catalog. See
    /// [updates](super#updates).
    ///
    /// # Errors
    /// [`FlashError::SlotTooSmall`] for slots that are too small for snapshots of the new catalog, errors of
    /// [`restore`](Self::restore) under the old policy, and [`FlashError::Migrate`]. Nothing has changed
    /// then. A flash that fails. The next start finds one of the two users. Both learners are cleared after
    /// any error.
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

    /// Replaces the stored user by the migrated user.
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
        // The reply to the last request belongs to the old catalog.
        self.commit(Active { slot, len }, false, fresh, None).await?;
        self.header = Header { guarantee_fingerprint, ..Header::new(Kind::Journal, policy, user, Q as u16) };
        let _ = self.restart_journal().await; // the snapshot is committed; `ensure_capacity` tries again
        Ok(())
    }
}
