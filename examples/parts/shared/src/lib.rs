//! What the templates for real parts have in common: everything but the drivers.
//!
//! A part gives [`serve`] or [`serve_async`] its flash, its serial port and 64 random bits at a time. The first page of the
//! region keeps the seed, the rest is the store. Nothing of this knows which part it is on, so `tests/serve.rs` runs it on a
//! host, over a flash whose power is cut and a port that is a piece of memory.

#![no_std]
#![deny(clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::unwrap_used)]

use core::ops::Range;
use embedded_io::{Read as BlockingRead, Write as BlockingWrite};
use embedded_io_async::{Read, Write};
use embedded_storage::nor_flash::NorFlash as BlockingNorFlash;
use embedded_storage_async::nor_flash::NorFlash;
use fable_core::record::snapshot::max_len;
use fable_core::{Learner, Policy, Settings, Workspace};
use fable_embedded::flash::{Blocking, Flash, FlashError, FlashStore, Layout};
use fable_embedded::flash::{read_seed, read_seed_async, settle_seed, settle_seed_async, write_seed, write_seed_async};
use fable_embedded::{Device, Server};
use fable_forms::blocking;

/// What can be chosen. Put your own here.
pub use fable_core::catalog::TAU2 as CATALOG;

/// The defaults, at a place of its own: hosts are place 0. The seed comes from flash.
pub const SETTINGS: Settings<'static> = Settings { origin: 1, ..Settings::DEFAULT };

/// Decisions that can wait for their reward, and promotions.
pub const ROOM: usize = 8;

/// Where the store lies in a region: after the page of the seed. A region that cannot be used does not compile.
///
/// # Panics
/// For such a region. Use it in a `const`.
#[must_use]
pub const fn layout<F: Flash>(region: &Range<u32>) -> Layout {
    let page = F::PAGE as u32;
    Layout::new::<F>(region.start + page, region.end - region.start - page, max_len::<f32>(&CATALOG, ROOM))
}

/// The user's memory and scratch, in statics of the program.
#[derive(Debug)]
pub struct Memory {
    learner: Learner<f32, [f32; CATALOG.state_len()], ROOM>,
    workspace: Workspace<f32, [f32; CATALOG.workspace_len()]>,
}

impl Memory {
    /// Nobody's; all zero bits, so that it takes no flash.
    pub const VACANT: Self = Self { learner: Learner::vacant(&CATALOG), workspace: Workspace::vacant(&CATALOG) };
}

/// Why a device cannot serve. What is in its flash was left alone.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Stopped {
    /// The settings are out of range.
    Settings,
    /// The random number generator fails, and a new installation needs a seed.
    Entropy,
    /// There is a store, but the seed that it was begun with is lost.
    SeedLost,
    /// The flash failed, or holds a store of another catalog, other settings or another program.
    Store(FlashError),
    /// The port has ended, which a serial port does not.
    PortEnded,
}

impl From<FlashError> for Stopped {
    fn from(error: FlashError) -> Self {
        Self::Store(error)
    }
}

/// Restores the user, who is new if the region is blank, and answers the port for ever; says why if it cannot.
///
/// `draw` is asked for the seed of a new installation and for the number of its user, and never again.
#[blocking(pub fn serve<F: BlockingNorFlash, P: BlockingRead + BlockingWrite>(
    flash: Blocking<F>,
    layout: Layout,
    port: &mut P,
    memory: &mut Memory,
    draw: impl FnMut() -> Option<u64>,
) -> Stopped)]
pub async fn serve_async<F: NorFlash, P: Read + Write>(
    flash: F,
    layout: Layout,
    port: &mut P,
    memory: &mut Memory,
    draw: impl FnMut() -> Option<u64>,
) -> Stopped {
    let mut store = FlashStore::new(flash, layout);
    let policy = match restore_async(&mut store, memory, draw).await {
        Ok(policy) => policy,
        Err(stopped) => return stopped,
    };
    let Memory { learner, workspace } = memory;
    let Ok(user) = learner.with(&policy, workspace) else { return Stopped::Settings };
    let mut server = Server::new(Device::new(user, &mut store));
    // What a port reports, a byte that was garbled or came too fast, the host notices too, and it sends again.
    while server.serve_async(port).await.is_err() {}
    Stopped::PortEnded
}

/// The user as the store has it, and the policy with the seed of the installation.
#[blocking(fn restore<F: BlockingNorFlash>(
    store: &mut FlashStore<Blocking<F>>,
    memory: &mut Memory,
    mut draw: impl FnMut() -> Option<u64>,
) -> Result<Policy<'static, f32>, Stopped>)]
async fn restore_async<F: NorFlash>(
    store: &mut FlashStore<F>,
    memory: &mut Memory,
    mut draw: impl FnMut() -> Option<u64>,
) -> Result<Policy<'static, f32>, Stopped> {
    let Memory { learner, workspace } = memory;
    let page = store.layout().region().start.saturating_sub(store.layout().page());
    let seed = read_seed_async(store.flash(), page).await?;
    let mut policy = with_seed(seed.map_or(0, |seed| seed.number))?;
    let restored = store.restore(&policy, learner, workspace).await;
    let settled = seed.is_some_and(|seed| seed.settled);
    match (restored, seed) {
        (Ok(_), None) => return Err(Stopped::SeedLost),
        (Ok(_), Some(_)) => {}
        // The first start, or one whose power was cut before anything was kept here.
        (Err(FlashError::Unformatted), None)
        | (Err(FlashError::Unformatted | FlashError::Foreign | FlashError::Damaged), Some(_))
            if !settled =>
        {
            let [number, user] = [draw().ok_or(Stopped::Entropy)?, draw().ok_or(Stopped::Entropy)?];
            if seed.is_none() {
                write_seed_async(store.flash(), page, number).await?;
                policy = with_seed(number)?;
            }
            store.format(&policy, user, ROOM as u16).await?;
            store.restore(&policy, learner, workspace).await?;
            // From now on there is always a snapshot to read.
            store.compact(&learner.with(&policy, workspace).map_err(FlashError::from)?).await?;
        }
        (Err(error), _) => return Err(error.into()),
    }
    if !settled {
        settle_seed_async(store.flash(), page).await?;
    }
    Ok(policy)
}

fn with_seed(seed: u64) -> Result<Policy<'static, f32>, Stopped> {
    Policy::new(&CATALOG, Settings { seed, ..SETTINGS }).map_err(|_| Stopped::Settings)
}
