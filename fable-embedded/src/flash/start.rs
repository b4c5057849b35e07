//! The start of a device: restores the user, or creates an installation on a blank region.
//!
//! The page before the store has the [seed](super::Seed) of the installation. The first start draws the seed
//! and the number of the user, and survives a power cut at any moment. Later starts create nothing: a missing
//! store or seed is reported, and the rest of the region stays untouched. Firmware with another catalog
//! migrates the user with `FlashStore::start_from`.

use super::error::FlashError;
use super::seed::{
    confirm_seed, confirm_seed_async, read_seed, read_seed_async, write_seed, write_seed_async,
};
use super::{Blocking, FlashStore};
use core::fmt;
use embedded_storage::nor_flash::NorFlash as BlockingNorFlash;
use embedded_storage_async::nor_flash::NorFlash;
#[cfg(feature = "migrate")]
use fable_core::catalog::Rename;
#[cfg(feature = "migrate")]
use fable_core::migrate::{Migrated, Migration};
use fable_core::posterior::Storage;
#[cfg(feature = "migrate")]
use fable_core::record::RecordError;
use fable_core::settings::SettingsError;
use fable_core::{Catalog, Learner, Policy, Scalar, Settings};
use fable_forms::blocking;

/// The reason why a device does not start. The flash is unchanged, unless the flash itself failed.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum StartError {
    /// The settings are out of range.
    Settings(SettingsError),
    /// The entropy source fails. A new installation needs a seed.
    Entropy,
    /// The seed of an existing store is lost.
    SeedLost,
    /// The flash failed, or its content is foreign, lost or damaged.
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
    /// Restores the learner, or creates an installation. Returns the policy with the seed of the
    /// installation.
    ///
    /// The page before the region is the page of the seed. A new installation calls `draw` twice for 64
    /// random bits: the seed and the number of the user. See [`entropy`](crate::entropy).
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
        let confirmed = seed.is_some_and(|seed| seed.confirmed);
        let mut policy =
            Policy::new(catalog, Settings { seed: seed.map_or(0, |seed| seed.number), ..settings })?;
        match (self.restore(&policy, learner, workspace).await, seed) {
            (Ok(_), None) => return Err(StartError::SeedLost),
            (Ok(_), Some(_)) => {}
            // The first start, or a start after an interrupted first start.
            (Err(FlashError::Unformatted), None)
            | (Err(FlashError::Unformatted | FlashError::Foreign | FlashError::Damaged), Some(_))
                if !confirmed =>
            {
                let [number, user] = [draw().ok_or(StartError::Entropy)?, draw().ok_or(StartError::Entropy)?];
                if seed.is_none() {
                    write_seed_async(self.flash(), page, number).await?;
                    policy = Policy::new(catalog, Settings { seed: number, ..settings })?;
                }
                self.format(&policy, user, R as u16).await?;
                self.restore(&policy, learner, workspace).await?;
                // A host can read a snapshot from now on.
                self.compact(&learner.bind(&policy, workspace).map_err(FlashError::from)?).await?;
            }
            (Err(error), _) => return Err(error.into()),
        }
        if !confirmed {
            confirm_seed_async(self.flash(), page).await?;
        }
        Ok(policy)
    }
}

/// Catalog and settings of the previous firmware.
#[cfg(feature = "migrate")]
#[derive(Debug)]
pub struct PreviousFirmware<'b, T, S, const R: usize> {
    /// The previous catalog.
    pub catalog: &'b Catalog<'b>,
    /// The previous settings. Their seed is ignored, because the installation has a seed.
    pub settings: Settings<'b>,
    /// Names that have changed.
    pub renames: &'b [Rename<'b>],
    /// Memory for the user of the previous catalog, used during the migration only.
    pub learner: &'b mut Learner<T, S, R>,
}

#[cfg(all(feature = "defmt", feature = "migrate"))]
impl<T, S, const R: usize> defmt::Format for PreviousFirmware<'_, T, S, R> {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(f, "previous firmware of {=str}", self.catalog.definition().name);
    }
}

#[cfg(feature = "migrate")]
#[blocking(impl<F: BlockingNorFlash> FlashStore<Blocking<F>>)]
impl<F: NorFlash> FlashStore<F> {
    /// Starts like [`start`](Self::start), and [migrates](Self::migrate) a user of the previous catalog to
    /// the new catalog.
    ///
    /// After a power cut at any moment the next start continues. The workspace has the length for the larger
    /// catalog. Returns the policy, and the result of a migration.
    ///
    /// ```
    /// # use fable_core::catalog::{Block, Catalog, Component, Definition, Value};
    /// # use fable_core::record::snapshot::max_len;
    /// # use fable_core::{Learner, Settings, Workspace};
    /// # use fable_embedded::flash::{Blocking, FlashStore, Layout, PreviousFirmware};
    /// # use fable_embedded::mock::Mock;
    /// # type Flash = Mock<4, 1024>;
    /// # const BLOCKS: &[Block] = &[Block::main(0)];
    /// # const fn lamp(components: &'static [Component<'static>]) -> Definition<'static> {
    /// #     Definition { name: "lamp", components, blocks: BLOCKS, ..Definition::EMPTY }
    /// # }
    /// # const WARM: Value<'static> = Value::new("warm", "", 0.0);
    /// # const DIM: Value<'static> = Value::new("dim", "", 0.0);
    /// # const COLD: Value<'static> = Value::new("cold", "", 0.0);
    /// # const V1: Catalog<'static> = Catalog::new(lamp(&[Component::new("light", &[WARM, COLD])]));
    /// # const V2: Catalog<'static> = Catalog::new(lamp(&[Component::new("light", &[WARM, DIM, COLD])]));
    /// // The store begins after the page of the seed.
    /// const LAYOUT: Layout = Layout::new::<Blocking<Flash>>(1024, 8 * 1024, 1500);
    /// # let mut store = FlashStore::new(Blocking(Flash::new(9)), LAYOUT);
    /// # let draw = || Some(5);
    /// # let mut first: Learner<f32, [f32; V1.state_len()], 8> = const { Learner::new(&V1) };
    /// # let mut scratch: Workspace<f32, [f32; V1.workspace_len()]> = const { Workspace::new(&V1) };
    /// # store.start(&V1, Settings::DEFAULT, &mut first, &mut scratch, draw)?;
    /// // On a device these are statics.
    /// let mut old: Learner<f32, [f32; V1.state_len()], 8> = const { Learner::new(&V1) };
    /// let mut learner: Learner<f32, [f32; V2.state_len()], 8> = const { Learner::new(&V2) };
    /// let mut workspace: Workspace<f32, [f32; V2.workspace_len()]> = const { Workspace::new(&V2) };
    ///
    /// let settings = Settings::DEFAULT;
    /// let previous = PreviousFirmware { catalog: &V1, settings, renames: &[], learner: &mut old };
    /// let (policy, migrated) =
    ///     store.start_from(previous, &V2, settings, &mut learner, &mut workspace, draw)?;
    /// # assert_eq!(migrated.map(|migrated| (migrated.kept, migrated.added)), Some((2, 1)));
    /// let user = learner.bind(&policy, &mut workspace)?;
    /// # assert_eq!(user.state().rounds(), 0);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// See [`StartError`]. A migration fails with [`FlashError::Migrate`] or [`FlashError::SlotTooSmall`]. A
    /// region of neither catalog is [`RecordError::Catalog`] or [`RecordError::Policy`].
    pub async fn start_from<'c, T: Scalar, S: Storage<T>, Z: Storage<T>, const R: usize, const Q: usize>(
        &mut self,
        previous: PreviousFirmware<'_, T, S, R>,
        catalog: &'c Catalog<'c>,
        settings: Settings<'c>,
        learner: &mut Learner<T, Z, Q>,
        workspace: &mut (impl AsMut<[T]> + ?Sized),
        draw: impl FnMut() -> Option<u64>,
    ) -> Result<(Policy<'c, T>, Option<Migrated>), StartError> {
        let PreviousFirmware { catalog: old_catalog, settings: old_settings, renames, learner: old_learner } =
            previous;
        match self.start(catalog, settings, learner, workspace, draw).await {
            Err(StartError::Store(FlashError::Record(RecordError::Catalog | RecordError::Policy))) => {}
            started => return Ok((started?, None)),
        }
        let page = self.layout.region().start.checked_sub(self.layout.page()).ok_or(FlashError::Layout)?;
        let seed = read_seed_async(self.flash(), page).await?.ok_or(StartError::SeedLost)?;
        let old = Policy::new(old_catalog, Settings { seed: seed.number, ..old_settings })?;
        let new = Policy::new(catalog, Settings { seed: seed.number, ..settings })?;
        let migration = Migration::new(&old, &new, renames).map_err(FlashError::Migrate)?;
        let (_, migrated) = self.migrate(&migration, old_learner, learner, workspace).await?;
        if !seed.confirmed {
            confirm_seed_async(self.flash(), page).await?;
        }
        Ok((new, Some(migrated)))
    }
}
