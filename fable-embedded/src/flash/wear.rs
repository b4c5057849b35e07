//! What a port may wear out: erasures that hosts ask for are counted, and a reset does not give them back.
//!
//! The [store](super#wear) says what is counted. The allowance is kept in events: an erasure costs 256 of them, and what a formatted
//! region begins with is also the most that can be saved up. The journal has a note of each erasure and the snapshot's commit
//! record what was left then, so that replaying one after the other finds what is allowed now.

use super::error::FlashError;
use super::journal::{NOTE, SEQUENCE_LEN};
use super::{Blocking, FlashStore, State};
use crate::keep::{AsyncKeep, Keep};
use embedded_storage::nor_flash::NorFlash as BlockingNorFlash;
use embedded_storage_async::nor_flash::NorFlash;
use fable_core::{Scalar, User};
use fable_forms::blocking;

/// Events that allow one more erasure.
pub(super) const COST: u16 = 256;
/// The most that can be saved up, and what a formatted region begins with.
pub(super) const FULL: u16 = 16 * COST;

/// What is allowed after one more event.
pub(super) fn more(allowance: u16) -> u16 {
    allowance.saturating_add(1).min(FULL)
}

impl<F, const PRIOR: bool> FlashStore<F, PRIOR> {
    pub(super) fn allow_more(&mut self) {
        self.allowance = more(self.allowance);
    }
}

#[blocking(impl<F: BlockingNorFlash, const PRIOR: bool> FlashStore<Blocking<F>, PRIOR>)]
impl<F: NorFlash, const PRIOR: bool> FlashStore<F, PRIOR> {
    /// Notes that something is erased for a host; false when that is not allowed.
    pub(super) async fn note<T: Scalar>(&mut self, user: &User<'_, T>) -> Result<bool, FlashError> {
        if self.allowance < COST {
            return Ok(false);
        }
        // A journal that refuses it is given up, as for an event; there are no better pages than those of the next one.
        self.make_room(user).await?;
        if self.push_note().await.is_err() {
            self.make_room(user).await?;
            self.push_note().await?;
        }
        self.allowance = self.allowance.saturating_sub(COST);
        Ok(true)
    }

    async fn push_note(&mut self) -> Result<(), FlashError> {
        self.buffer.0.iter_mut().zip((self.next | NOTE).to_le_bytes()).for_each(|(slot, byte)| *slot = byte);
        self.state = State::Spent;
        let pages = self.push(SEQUENCE_LEN).await?;
        self.mark(pages).await?;
        self.state = State::Ready;
        self.used = self.used.saturating_add(self.layout.item(SEQUENCE_LEN));
        Ok(())
    }
}
