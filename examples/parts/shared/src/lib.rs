//! What the templates for real parts have in common: everything but the drivers.
//!
//! A part gives [`serve`] or [`serve_async`] its flash, its serial port and 64 random bits at a time. The first page of the
//! region keeps the seed, the rest is the store. Nothing of this knows which part it is on, so `tests/serve.rs` runs it on a
//! host, over a flash whose power is cut and a port that is a piece of memory.
//!
//! Requests that write are not limited in time here: the templates have no clock in common. Where the port may babble, or others can write
//! to it, say how many a day it takes with `Server::limit`, from the part's own clock; the page of `fable_embedded::flash`, *Wear*, says what that saves.

#![no_std]
#![deny(clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::unwrap_used)]

use core::ops::Range;
use embedded_io::{Read as BlockingRead, Write as BlockingWrite};
use embedded_io_async::{Read, Write};
use embedded_storage::nor_flash::NorFlash as BlockingNorFlash;
use embedded_storage_async::nor_flash::NorFlash;
use fable_core::record::snapshot::max_len;
use fable_core::{Learner, Settings, Workspace};
use fable_embedded::flash::{Blocking, Flash, FlashError, FlashStore, Layout, StartError};
use fable_embedded::{Device, Server};
use fable_forms::blocking;

/// What can be chosen. Put your own here.
pub use fable_core::catalog::TAU2 as CATALOG;

/// The defaults, at a place of its own: hosts are place 0. The seed comes from flash.
pub const SETTINGS: Settings<'static> = Settings { site: 1, ..Settings::DEFAULT };

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
    pub const EMPTY: Self = Self { learner: Learner::new(&CATALOG), workspace: Workspace::new(&CATALOG) };
}

/// Restores the user, who is new if the region is blank, and answers the port until that ends, which a serial port does not.
///
/// `draw` is asked for the seed of a new installation and for the number of its user, and never again.
///
/// # Errors
/// Why it cannot serve.
#[blocking(pub fn serve<F: BlockingNorFlash, P: BlockingRead + BlockingWrite>(
    flash: Blocking<F>,
    layout: Layout,
    port: &mut P,
    memory: &mut Memory,
    draw: impl FnMut() -> Option<u64>,
) -> Result<(), StartError>)]
pub async fn serve_async<F: NorFlash, P: Read + Write>(
    flash: F,
    layout: Layout,
    port: &mut P,
    memory: &mut Memory,
    draw: impl FnMut() -> Option<u64>,
) -> Result<(), StartError> {
    let mut store = FlashStore::new(flash, layout);
    let Memory { learner, workspace } = memory;
    let policy = store.start(&CATALOG, SETTINGS, learner, workspace, draw).await?;
    let mut server =
        Server::new(Device::new(learner.bind(&policy, workspace).map_err(FlashError::from)?, &mut store));
    // What a port reports, a byte that was garbled or came too fast, the host notices too, and it sends again.
    while server.serve_async(port).await.is_err() {}
    Ok(())
}
