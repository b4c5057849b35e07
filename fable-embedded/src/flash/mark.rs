//! The high-water mark: how far the journal has come, said outside the journal.
//!
//! A page of the journal that is blank looks like one that nothing was written to yet, and a journal that ends too early like
//! one to which no more has happened. So the slot that the journal goes on from has, right after its commit record, a word for
//! every page of the journal, which is programmed to zeros when the journal has reached that page: the first when the begin
//! record stands there, each other when the page has its first event, before that event is acknowledged. A journal that ends
//! before a marked page has lost what was there. That is one word for each page that is filled, and no erase: the slot is
//! erased when the next snapshot but one is written, and the marks with it. Before the first snapshot slot 1 has the marks.
//!
//! When a snapshot is committed, the slot that it replaces gets the last mark, for which the journal has no page: alone it is
//! from then on a state of before.
//!
//! A mark is written when what it vouches for is in flash, so a power cut can leave a page without its mark, which is made up
//! for at the next start, but no mark without its page. A word counts when one of its bytes is zero, so one that was cut short
//! counts or not, which is both right, and a flipped bit makes no mark. A word that was cut short may not take a second
//! write; the journal is *spent* then, and the next snapshot begins with marks that were never touched.

use super::error::FlashError;
use super::layout::MAX_WORD;
use super::slot::COMMIT_LEN;
use super::{Blocking, Bytes, FlashStore};
use embedded_storage::nor_flash::NorFlash as BlockingNorFlash;
use embedded_storage_async::nor_flash::NorFlash;
use fable_forms::blocking;

/// Bytes of the words for marks.
pub(super) const MARKS_LEN: u32 = BODY - COMMIT_LEN;
/// Where the snapshot or the prior begins in a slot: a chunk at most, so that all before it is read at once.
pub(super) const BODY: u32 = 256;

impl<F: super::Flash, const PRIOR: bool> FlashStore<F, PRIOR> {
    /// The last mark: the state has gone on from another slot.
    pub(super) const SUPERSEDED: u32 = MARKS_LEN / F::WORD as u32;

    /// How many pages of the journal there are up to a place in it that is not the begin of a page; none for 0.
    pub(super) const fn pages_to(&self, at: u32) -> u32 {
        at.saturating_sub(self.layout.journal().start).div_ceil(Self::PAGE as u32)
    }
}

#[blocking(impl<F: BlockingNorFlash, const PRIOR: bool> FlashStore<Blocking<F>, PRIOR>)]
impl<F: NorFlash, const PRIOR: bool> FlashStore<F, PRIOR> {
    /// Reads how many pages the journal had reached.
    pub(super) async fn read_marks(&mut self) -> Result<(), FlashError> {
        // A slot without a snapshot has marks and no commit record; one with something in its place is another page.
        let bare = self.active.is_none();
        let bytes = self.read_at(self.layout.slot(self.inactive() ^ 1).start, BODY).await?;
        let last = bytes.iter().rposition(|byte| *byte == 0).map_or(0, |at| at as u32 + 1);
        let strange = bare && bytes.iter().take(COMMIT_LEN as usize).any(|byte| *byte == 0);
        self.marked =
            if strange { u32::MAX } else { last.saturating_sub(COMMIT_LEN).div_ceil(Self::WORD as u32) };
        Ok(())
    }

    /// Notes that the journal has reached so many pages, unless that is known.
    #[inline(never)]
    pub(super) async fn mark(&mut self, pages: u32) -> Result<(), FlashError> {
        if pages > self.marked {
            let at =
                self.layout.slot(self.inactive() ^ 1).start + COMMIT_LEN + (pages - 1) * Self::WORD as u32;
            self.medium.put(at, Bytes([0; MAX_WORD]).0.get(..Self::WORD).unwrap_or(&[])).await?;
            self.marked = pages;
        }
        Ok(())
    }
}
