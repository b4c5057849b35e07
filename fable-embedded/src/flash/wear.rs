//! The limit of erases that hosts request. A reset does not reset the count.
//!
//! The [store](super#wear) documents which erases count. The allowance is measured in events: an erase costs
//! 256 events. A formatted region starts with the maximum allowance. The journal has an item for each erase,
//! and the commit record of a snapshot has the allowance at that time. The replay of the journal computes the
//! present allowance.

use super::error::FlashError;
use super::journal::{IS_ERASE, SEQUENCE_LEN};
use super::{Blocking, FlashStore, State};
use crate::store::{AsyncUserStore, UserStore};
use embedded_storage::nor_flash::NorFlash as BlockingNorFlash;
use embedded_storage_async::nor_flash::NorFlash;
use fable_core::{Scalar, User};
use fable_forms::blocking;

/// Events that allow one erase.
pub(super) const ERASE_COST: u16 = 256;
/// Maximum allowance, and the allowance of a formatted region.
pub(super) const MAX_ALLOWANCE: u16 = 16 * ERASE_COST;

/// Returns the allowance after one more event.
pub(super) fn more(allowance: u16) -> u16 {
    allowance.saturating_add(1).min(MAX_ALLOWANCE)
}

impl<F, const PRIOR: bool> FlashStore<F, PRIOR> {
    pub(super) fn allow_more(&mut self) {
        self.allowance = more(self.allowance);
    }
}

#[blocking(impl<F: BlockingNorFlash, const PRIOR: bool> FlashStore<Blocking<F>, PRIOR>)]
impl<F: NorFlash, const PRIOR: bool> FlashStore<F, PRIOR> {
    /// Counts an erase for a host. Returns false if the allowance is used up.
    pub(super) async fn count_erase<T: Scalar>(&mut self, user: &User<'_, T>) -> Result<bool, FlashError> {
        if self.allowance < ERASE_COST {
            return Ok(false);
        }
        // If the journal refuses the item, a new journal takes it, as for an event.
        self.ensure_capacity(user).await?;
        if self.push_erase().await.is_err() {
            self.ensure_capacity(user).await?;
            self.push_erase().await?;
        }
        self.allowance = self.allowance.saturating_sub(ERASE_COST);
        Ok(true)
    }

    async fn push_erase(&mut self) -> Result<(), FlashError> {
        self.buffer
            .0
            .iter_mut()
            .zip((self.next | IS_ERASE).to_le_bytes())
            .for_each(|(slot, byte)| *slot = byte);
        self.state = State::Broken;
        let pages = self.push(SEQUENCE_LEN).await?;
        self.mark(pages).await?;
        self.state = State::Ready;
        self.used = self.used.saturating_add(self.layout.item(SEQUENCE_LEN));
        Ok(())
    }
}
