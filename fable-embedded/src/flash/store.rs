//! Creating a store, its accessors and counts, and compaction.

use super::journal::{IS_ERASE, no_cache};
use super::layout::MAX_WORD;
use super::medium::Medium;
use super::prior::Priors;
use super::{Active, Blocking, Bytes, FlashError, FlashStore, Layout, State};
use crate::reply_cache::ReplyCache;
use embedded_storage::nor_flash::NorFlash as BlockingNorFlash;
use embedded_storage_async::nor_flash::NorFlash;
use fable_core::record::{Header, Kind};
use fable_core::{Scalar, User};
use fable_forms::blocking;

/// Counts for a log or a status line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Statistics {
    /// Snapshots written since the region was formatted.
    pub generation: u32,
    /// Events in the journal.
    pub events: u32,
    /// Bytes left for events before a compaction, approximately: unused ends of pages are not subtracted.
    pub free: u32,
    /// Sequence number of the next event.
    pub next: u32,
    /// Pages erased since the region was formatted. A power cut loses the count since the last snapshot.
    pub erases: u32,
}

impl<F> FlashStore<F> {
    /// Creates a store without a place for priors. Call [`restore`](Self::restore) or
    /// [`format`](Self::format) before use.
    ///
    /// Nothing is read or written.
    #[must_use]
    pub fn new(flash: F, layout: Layout) -> Self {
        Self::from_flash(flash, layout)
    }
}

impl<F, const PRIOR: bool> FlashStore<F, PRIOR> {
    /// Creates a store. With `PRIOR` its [layout](Layout::with_prior) has a place for priors.
    #[must_use]
    pub fn from_flash(flash: F, layout: Layout) -> Self {
        Self {
            medium: Medium(flash),
            layout,
            cache: no_cache(),
            header: Header {
                kind: Kind::Journal,
                digits: 0,
                capacity: 0,
                fingerprint: 0,
                user: 0,
                guarantee_fingerprint: 0,
            },
            state: State::Closed,
            active: None,
            generation: 0,
            base: 0,
            next: 0,
            events: 0,
            used: 0,
            erases: 0,
            marked: 0,
            unverified: true,
            purge: false,
            staged: None,
            priors: Priors::NONE,
            replies: ReplyCache::EMPTY,
            allowance: 0,
            partial_word: Bytes([0xff; MAX_WORD]),
            buffer: Bytes([0xff; _]),
        }
    }

    /// Returns the flash with the stored records.
    pub fn into_flash(self) -> F {
        self.medium.0
    }

    /// Returns the flash, to share it. Do not write to the region.
    pub const fn flash(&mut self) -> &mut F {
        &mut self.medium.0
    }

    /// Returns the layout.
    #[must_use]
    pub const fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Returns the counts.
    #[must_use]
    pub fn statistics(&self) -> Statistics {
        let free = self.layout.event_capacity().saturating_sub(self.used);
        Statistics {
            generation: self.generation,
            events: self.events,
            free,
            next: self.next,
            erases: self.erases,
        }
    }

    /// Returns the header of the journal: the user, and the fingerprint of its guarantee.
    #[must_use]
    pub fn header(&self) -> Option<Header> {
        (self.state != State::Closed).then_some(Header { kind: Kind::Journal, ..self.header })
    }

    pub(super) fn opened(&self) -> Result<(), FlashError> {
        if self.state == State::Closed { Err(FlashError::Closed) } else { Ok(()) }
    }

    /// Returns the sequence number after the next event.
    pub(super) fn number_after_next(&self) -> Result<u32, FlashError> {
        self.next.checked_add(1).filter(|after| *after < IS_ERASE).ok_or(FlashError::Exhausted)
    }

    /// Returns the slot of the next snapshot.
    pub(super) const fn inactive(&self) -> usize {
        match self.active {
            Some(Active { slot: 0, .. }) => 1,
            _ => 0,
        }
    }
}

#[blocking(impl<F: BlockingNorFlash, const PRIOR: bool> FlashStore<Blocking<F>, PRIOR>)]
impl<F: NorFlash, const PRIOR: bool> FlashStore<F, PRIOR> {
    /// Stores the user as a snapshot and starts a new journal.
    ///
    /// # Errors
    /// A store that is not open, a user that was not started, a flash that fails.
    #[inline(never)]
    pub async fn compact<T: Scalar>(&mut self, user: &User<'_, T>) -> Result<(), FlashError> {
        self.opened()?;
        self.install_prior().await?;
        let (slot, purge, fresh) = (self.inactive(), self.purge, self.purge || self.is_fresh());
        let len = self.write_snapshot(user).await?;
        self.commit(Active { slot, len }, purge, fresh, self.replies.last().copied()).await?;
        self.header.guarantee_fingerprint = user.state().guarantee_fingerprint();
        #[cfg(feature = "defmt")]
        defmt::debug!("snapshot {} of {} bytes, pages erased so far: {}", self.generation, len, self.erases);
        self.restart_journal().await?;
        if purge {
            self.erase(self.layout.slot(self.inactive())).await?;
            self.purge = false;
        }
        Ok(())
    }
}
