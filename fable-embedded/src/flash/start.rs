//! What a device does when it starts: restore its user, or begin an installation on a blank region.
//!
//! The page before the store keeps the [seed](super::Seed) of the installation. It is drawn once, with the number of the user, and
//! a power cut at any moment of that first start does no harm. After it nothing begins anew by itself: a store or a
//! seed that is gone is reported, and what is left of them is not touched.

use super::error::FlashError;
use super::seed::{read_seed, read_seed_async, settle_seed, settle_seed_async, write_seed, write_seed_async};
use super::{Blocking, FlashStore};
use core::fmt;
use embedded_storage::nor_flash::NorFlash as BlockingNorFlash;
use embedded_storage_async::nor_flash::NorFlash;
use fable_core::{Catalog, Learner, Policy, Scalar, Settings, SettingsError, Storage};
use fable_forms::blocking;

/// Why a device does not start. What is in its flash was left alone, unless it is the flash that failed.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum StartError {
    /// The settings are out of range.
    Settings(SettingsError),
    /// The entropy source fails, and a new installation needs a seed.
    Entropy,
    /// There is a store, and the seed that it was begun with is gone.
    SeedLost,
    /// The flash failed, or holds something else, or what was there is gone or damaged.
    Store(FlashError),
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Settings(error) => error.fmt(f),
            Self::Entropy => f.write_str("there is no entropy for a seed"),
            Self::SeedLost => f.write_str("the seed of the installation is lost"),
            Self::Store(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for StartError {}

impl From<FlashError> for StartError {
    fn from(error: FlashError) -> Self {
        Self::Store(error)
    }
}

impl From<SettingsError> for StartError {
    fn from(error: SettingsError) -> Self {
        Self::Settings(error)
    }
}

#[blocking(impl<F: BlockingNorFlash> FlashStore<Blocking<F>>)]
impl<F: NorFlash> FlashStore<F> {
    /// Restores the learner, or begins an installation; the policy has the settings, with the seed of the installation.
    ///
    /// The page before the region is the seed's. `draw` is asked for 64 random bits twice by a new installation, for its seed and
    /// for the number of its user, and otherwise not at all; see [`entropy`](crate::entropy).
    ///
    /// # Errors
    /// See [`StartError`].
    pub async fn start<'c, T: Scalar, S: Storage<T>, const R: usize>(
        &mut self,
        catalog: &'c Catalog<'c>,
        settings: Settings<'c>,
        learner: &mut Learner<T, S, R>,
        workspace: &mut (impl AsMut<[T]> + ?Sized),
        mut draw: impl FnMut() -> Option<u64>,
    ) -> Result<Policy<'c, T>, StartError> {
        let page = self.layout.region().start.checked_sub(self.layout.page()).ok_or(FlashError::Layout)?;
        let seed = read_seed_async(self.flash(), page).await?;
        let settled = seed.is_some_and(|seed| seed.settled);
        let mut policy = Policy::new(catalog, Settings { seed: seed.map_or(0, |seed| seed.number), ..settings })?;
        match (self.restore(&policy, learner, workspace).await, seed) {
            (Ok(_), None) => return Err(StartError::SeedLost),
            (Ok(_), Some(_)) => {}
            // The first start, or one whose power was cut before anything was kept here.
            (Err(FlashError::Unformatted), None)
            | (Err(FlashError::Unformatted | FlashError::Foreign | FlashError::Damaged), Some(_))
                if !settled =>
            {
                let [number, user] = [draw().ok_or(StartError::Entropy)?, draw().ok_or(StartError::Entropy)?];
                if seed.is_none() {
                    write_seed_async(self.flash(), page, number).await?;
                    policy = Policy::new(catalog, Settings { seed: number, ..settings })?;
                }
                self.format(&policy, user, R as u16).await?;
                self.restore(&policy, learner, workspace).await?;
                // From now on there is always a snapshot to read.
                self.compact(&learner.with(&policy, workspace).map_err(FlashError::from)?).await?;
            }
            (Err(error), _) => return Err(error.into()),
        }
        if !settled {
            settle_seed_async(self.flash(), page).await?;
        }
        Ok(policy)
    }
}
