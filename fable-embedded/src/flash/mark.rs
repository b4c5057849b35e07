//! The high-water mark: the number of pages that the journal has reached, stored outside the journal.
//!
//! A blank page of the journal looks like an unused page, and a journal with a lost end looks like a shorter
//! journal. So the slot of the journal's snapshot has a word for every page of the journal, right after its
//! commit record. The word is programmed to zeros when the journal reaches the page: for the first page with
//! the begin record, for another page with its first event, before that event is acknowledged. A journal that
//! ends before a marked page has lost that page.
//!
//! A mark costs one word for each filled page and no erase: the marks are erased with their slot. Before the
//! first snapshot the marks are in slot 1. After the commit of a snapshot, the slot of the old snapshot gets
//! the last mark, which belongs to no page. It identifies an earlier state.
//!
//! A mark is written after its page. A power cut can leave a page without its mark, and the next start writes
//! the mark. A mark without its page is impossible. A word counts if one of its bytes is zero. So a torn word
//! may count or not, which is both correct, and a flipped bit makes no mark. If a torn word refuses a second
//! write, the journal is *broken*. The next snapshot has new marks.

use super::error::FlashError;
use super::layout::MAX_WORD;
use super::slot::COMMIT_LEN;
use super::{Blocking, Bytes, FlashStore};
use embedded_storage::nor_flash::NorFlash as BlockingNorFlash;
use embedded_storage_async::nor_flash::NorFlash;
use fable_forms::blocking;

/// Bytes of all marks.
pub(super) const MARKS_LEN: u32 = BODY - COMMIT_LEN;
/// Offset of the snapshot or the prior in a slot. It is at most a chunk, so one read covers all bytes before
/// it.
pub(super) const BODY: u32 = 256;

impl<F: super::Flash, const PRIOR: bool> FlashStore<F, PRIOR> {
    /// The last mark: the state continues from another slot.
    pub(super) const SUPERSEDED: u32 = MARKS_LEN / F::WORD as u32;

    /// Returns the number of pages of the journal up to a position inside a page, and 0 for position 0.
    pub(super) const fn pages_to(&self, at: u32) -> u32 {
        at.saturating_sub(self.layout.journal().start).div_ceil(Self::PAGE as u32)
    }
}

#[blocking(impl<F: BlockingNorFlash, const PRIOR: bool> FlashStore<Blocking<F>, PRIOR>)]
impl<F: NorFlash, const PRIOR: bool> FlashStore<F, PRIOR> {
    /// Reads the number of pages that the journal has reached.
    pub(super) async fn read_marks(&mut self) -> Result<(), FlashError> {
        // Before the first snapshot slot 1 has marks and no commit record. Other content there is a page from
        // an earlier time.
        let bare = self.active.is_none();
        let bytes = self.read_at(self.layout.slot(self.inactive() ^ 1).start, BODY).await?;
        let last = bytes.iter().rposition(|byte| *byte == 0).map_or(0, |at| at as u32 + 1);
        let strange = bare && bytes.iter().take(COMMIT_LEN as usize).any(|byte| *byte == 0);
        self.marked =
            if strange { u32::MAX } else { last.saturating_sub(COMMIT_LEN).div_ceil(Self::WORD as u32) };
        Ok(())
    }

    /// Writes the mark of a number of pages, if it is not written yet.
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
