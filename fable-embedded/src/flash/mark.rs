//! The high-water mark: how far the journal has come, said outside the journal.
//!
//! A page of the journal that is blank looks like one that nothing was written to yet, and a journal that ends too early like
//! one to which no more has happened. So the slot that the journal goes on from has, right after its commit record, a word for
//! every page of the journal, which is programmed to zeros when the journal has reached that page: the first when the begin
//! record stands there, each other when the page has its first event, before that event is acknowledged. A journal that ends
//! before a marked page has lost what was there. That is one word for each page that is filled, and no erase: the slot is
//! erased when the next snapshot but one is written, and the marks with it. Before the first snapshot slot 1 has the marks.
//!
//! A mark is written when what it vouches for is in flash, so a power cut can leave a page without its mark, which is made up
//! for at the next start, but no mark without its page. A word counts when four of its bits are zero: also one that was cut
//! short, for the page is there, and not one in which a bit has flipped. A word that was cut short may not take a second write;
//! the journal is *spent* then, and the next snapshot begins with marks that were never touched.

use super::error::FlashError;
use super::layout::MAX_WORD;
use super::{Blocking, Bytes, FlashStore};
use embedded_storage::nor_flash::NorFlash as BlockingNorFlash;
use embedded_storage_async::nor_flash::NorFlash;
use fable_forms::blocking;

/// Zero bits of a word that is a mark.
const ZEROS: u32 = 4;

impl<F: super::Flash, const PRIOR: bool> FlashStore<F, PRIOR> {
    /// How many pages of the journal there are up to a place in it that is not the begin of a page; none for 0.
    pub(super) const fn pages_to(&self, at: u32) -> u32 {
        at.saturating_sub(self.layout.journal().start).div_ceil(Self::PAGE as u32)
    }
}

#[blocking(impl<F: BlockingNorFlash, const PRIOR: bool> FlashStore<Blocking<F>, PRIOR>)]
impl<F: NorFlash, const PRIOR: bool> FlashStore<F, PRIOR> {
    /// Reads how many pages the journal had reached.
    pub(super) async fn read_marks(&mut self) -> Result<(), FlashError> {
        self.marked = 0;
        let slot = self.inactive() ^ 1;
        for page in 0..self.pages_to(self.layout.journal().end) {
            let word = self.read_at(self.layout.mark(slot, page), Self::WORD as u32).await?;
            if word.iter().map(|byte| byte.count_zeros()).sum::<u32>() >= ZEROS {
                self.marked = page + 1;
            }
        }
        Ok(())
    }

    /// Notes that the journal has reached so many pages, unless that is known.
    pub(super) async fn mark(&mut self, pages: u32) -> Result<(), FlashError> {
        if pages > self.marked {
            let at = self.layout.mark(self.inactive() ^ 1, pages - 1);
            self.medium.put(at, Bytes([0; MAX_WORD]).0.get(..Self::WORD).unwrap_or(&[])).await?;
            self.marked = pages;
        }
        Ok(())
    }
}
