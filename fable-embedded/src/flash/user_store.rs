//! The flash store as the store of a [`Device`](crate::Device).
//!
//! A host reads the snapshot and the events after it, whose bytes [`fable_core::record`] defines. A host
//! replaces the state by a snapshot that it writes in order to the unused slot. The snapshot is verified
//! before it becomes the state. Until then a power cut or a wrong byte changes nothing.

use super::error::FlashError;
use super::journal::{HAS_REQUEST_ID, REQUEST_ID_LEN, SEQUENCE_LEN};
use super::mark::BODY;
use super::slot::CHUNK;
use super::{Active, Blocking, FlashStore, State};
use crate::reply_cache::{Acknowledgement, CachedReply, ReplyCache};
use crate::store::{AsyncUserStore, UserStore};
use embedded_storage::nor_flash::NorFlash as BlockingNorFlash;
use embedded_storage_async::nor_flash::NorFlash;
use fable_core::journal::Event;
use fable_core::record::{RecordError, encode_event};
use fable_core::{Policy, Scalar, User};
use fable_forms::blocking;
#[cfg(feature = "serve")]
use fable_wire::{Fault, StorageFault, StoreUsage};

#[cfg(feature = "serve")]
impl From<FlashError> for Fault {
    fn from(error: FlashError) -> Self {
        match error {
            FlashError::Record(error) => error.into(),
            FlashError::User(error) => error.into(),
            #[cfg(feature = "migrate")]
            FlashError::Migrate(_) => StorageFault::Unsupported.into(),
            FlashError::Full | FlashError::Exhausted => StorageFault::Full.into(),
            FlashError::NoPrior => StorageFault::Unsupported.into(),
            FlashError::Offset { .. } | FlashError::ForeignUser | FlashError::Outdated => {
                StorageFault::Order.into()
            }
            FlashError::Damaged
            | FlashError::Foreign
            | FlashError::Layout
            | FlashError::SlotTooSmall { .. } => StorageFault::Damaged.into(),
            FlashError::Driver(_) | FlashError::Closed | FlashError::Unformatted | FlashError::Unfinished => {
                StorageFault::Medium.into()
            }
        }
    }
}

#[blocking(impl<F: BlockingNorFlash, const PRIOR: bool> UserStore for FlashStore<Blocking<F>, PRIOR>)]
impl<F: NorFlash, const PRIOR: bool> AsyncUserStore for FlashStore<F, PRIOR> {
    type Error = FlashError;

    fn replies(&mut self) -> Option<&mut ReplyCache> {
        Some(&mut self.replies)
    }

    /// A journal that refuses an event has no capacity left. The next journal starts in erased pages.
    #[inline(never)]
    async fn append(&mut self, event: &Event) -> Result<bool, FlashError> {
        self.opened()?;
        if self.is_outdated() {
            return Err(FlashError::Outdated);
        }
        if self.state != State::Ready || self.purge || !self.fits().await? {
            return Ok(false);
        }
        let next = self.number_after_next()?;
        let request_id = self.replies.request_id(event);
        let (sequence, body) = self.buffer.0.split_first_chunk_mut().ok_or(FlashError::Layout)?;
        *sequence = (self.next | if request_id.is_some() { HAS_REQUEST_ID } else { 0 }).to_le_bytes();
        let mut len = encode_event(event, body)?.len();
        if let Some(request_id) = request_id {
            body.iter_mut().skip(len).zip(request_id.to_le_bytes()).for_each(|(slot, byte)| *slot = byte);
            len += REQUEST_ID_LEN;
        }
        len += SEQUENCE_LEN;
        // Until this function ends, the end of the journal is unknown.
        self.state = State::Broken;
        let begun = self.events == 0 && !self.unverified;
        let pages = match self.push(len).await {
            Err(error) if begun => return Err(error), // the pages are erased: a new journal would fail, too
            Err(_) => return Ok(false),
            Ok(pages) => pages,
        };
        if self.unverified {
            let contents = self.contents().await?;
            if contents.events != self.events.saturating_add(1) || !contents.follow(self.base) {
                return Ok(false);
            }
            self.unverified = false;
        }
        if self.mark(pages).await.is_err() {
            return Ok(false);
        }
        self.state = State::Ready;
        self.next = next;
        self.events = self.events.saturating_add(1);
        self.used = self.used.saturating_add(self.layout.item(len));
        self.purge |= matches!(event, Event::Forget { .. });
        self.allow_more();
        Ok(true)
    }

    /// Completes an interrupted erase, and compacts if the longest event might not fit.
    ///
    /// Every stored event has to be applied to the user.
    #[inline(never)]
    async fn ensure_capacity<T: Scalar>(&mut self, user: &User<'_, T>) -> Result<(), FlashError> {
        self.opened()?;
        if self.state == State::Stale {
            self.restart_journal().await?;
        }
        if self.purge || self.state == State::Broken || !self.fits().await? {
            self.compact(user).await?;
        }
        Ok(())
    }

    async fn forget<T: Scalar>(&mut self, user: &User<'_, T>) -> Result<(), FlashError> {
        // The event is stored. The compaction erases everything older.
        self.ensure_capacity(user).await.map_err(|_| FlashError::Unfinished)
    }

    #[inline(never)]
    async fn allow_erase<T: Scalar>(&mut self, user: &User<'_, T>) -> Result<bool, FlashError> {
        self.opened()?;
        self.count_erase(user).await
    }

    /// A compaction in between uses the slot, and the upload has to start again.
    #[inline(never)]
    async fn stage_write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), FlashError> {
        self.opened()?;
        let slot = self.layout.slot(self.inactive());
        if offset == 0 {
            self.staged = None;
            self.install_prior().await?;
            self.erase(slot.clone()).await?;
        } else if self.staged != Some(offset) {
            return Err(FlashError::Offset { expected: self.staged.unwrap_or(0) });
        }
        let end = u32::try_from(bytes.len()).ok().and_then(|len| offset.checked_add(len));
        let end = end.filter(|end| *end <= self.layout.snapshot_len()).ok_or(RecordError::TooLong)?;
        self.staged = None; // after a failure some words cannot be written again
        let start = slot.start + BODY;
        let (word, mut at, mut rest) = (Self::WORD, offset, bytes);
        while !rest.is_empty() {
            let place = at as usize % word;
            let (piece, behind) = if place == 0 && rest.len() >= word {
                let count = rest.len().min(CHUNK);
                rest.split_at_checked(count - count % word)
            } else {
                rest.split_at_checked(rest.len().min(word - place))
            }
            .unwrap_or((rest, &[]));
            if piece.len() >= word {
                let chunk = self.buffer.0.get_mut(..piece.len()).ok_or(FlashError::Layout)?;
                // The buffer has the alignment of a word.
                chunk.iter_mut().zip(piece).for_each(|(slot, byte)| *slot = *byte);
                self.medium.put(start + at, chunk).await?;
            } else {
                self.partial_word.0.iter_mut().skip(place).zip(piece).for_each(|(slot, byte)| *slot = *byte);
                if place + piece.len() == word {
                    let at = start + at - place as u32;
                    self.medium.put(at, self.partial_word.0.get(..word).unwrap_or(&[])).await?;
                }
            }
            at += piece.len() as u32;
            rest = behind;
        }
        self.staged = Some(end);
        Ok(())
    }

    /// If the flash fails while the user is loaded, the user is cleared. Call
    /// [`restore`](FlashStore::restore) then.
    #[inline(never)]
    async fn stage_commit<T: Scalar>(
        &mut self,
        user: &mut User<'_, T>,
        length: u32,
    ) -> Result<(), FlashError> {
        self.opened()?;
        self.end_stage(length).await?;
        let slot = self.inactive();
        let staged = Active { slot, len: length };
        let verified = self.verify(user.policy(), staged).await??;
        // An unused device may become a device of another user.
        let untouched = self.events == 0 && user.state().rounds() == 0 && user.state().observations() == 0;
        if verified.user() != self.header.user && !untouched {
            return Err(FlashError::ForeignUser);
        }
        user.fits(&verified)?;
        let header = self.snapshot_header(staged).await?;
        let reply = Acknowledgement::Restored;
        let cached = self.replies.under_way().map(|request_id| CachedReply { request_id, reply });
        self.commit(staged, false, false, cached.or(self.replies.last().copied())).await?;
        self.header = header;
        self.load(staged, user.load(verified)?).await?;
        self.replies.note_loaded(user.state().rounds());
        let _ = self.restart_journal().await; // the snapshot is committed; `ensure_capacity` tries again
        Ok(())
    }

    #[inline(never)]
    async fn read_snapshot<T: Scalar>(
        &mut self,
        _: &User<'_, T>,
        offset: u32,
        out: &mut [u8],
    ) -> Result<usize, FlashError> {
        self.opened()?;
        let Some(Active { slot, len }) = self.active else { return Ok(0) };
        self.read_record(self.layout.slot(slot).start, len, offset, out).await
    }

    #[inline(never)]
    async fn read_event(&mut self, index: u32, buffer: &mut [u8]) -> Result<Option<usize>, FlashError> {
        let mut length = None;
        let from = self.base.saturating_add(index);
        self.read_events(from, |_, event| {
            for (slot, byte) in buffer.iter_mut().zip(event) {
                *slot = *byte;
            }
            length = Some(event.len());
            false
        })
        .await?;
        Ok(length)
    }

    #[inline(never)]
    async fn commit_prior<T: Scalar>(
        &mut self,
        policy: &Policy<'_, T>,
        length: u32,
    ) -> Result<(), FlashError> {
        self.opened()?;
        self.commit_staged_prior(policy, length).await
    }

    #[inline(never)]
    async fn read_prior(&mut self, next: bool, offset: u32, out: &mut [u8]) -> Result<usize, FlashError> {
        self.opened()?;
        self.read_stored_prior(next, offset, out).await
    }

    fn outdated(&self) -> bool {
        self.is_outdated()
    }

    #[cfg(feature = "serve")]
    async fn usage(&mut self) -> Result<StoreUsage, FlashError> {
        let super::Statistics { generation, events, free, erases, .. } = self.statistics();
        Ok(StoreUsage { generation, events, free, erases })
    }
}

#[blocking(impl<F: BlockingNorFlash, const PRIOR: bool> FlashStore<Blocking<F>, PRIOR>)]
impl<F: NorFlash, const PRIOR: bool> FlashStore<F, PRIOR> {
    /// Writes the last, incomplete word of the staged bytes. Their number has to be `length`.
    pub(super) async fn end_stage(&mut self, length: u32) -> Result<(), FlashError> {
        if self.staged != Some(length) {
            return Err(FlashError::Offset { expected: self.staged.unwrap_or(0) });
        }
        self.staged = None;
        let (word, rest) = (Self::WORD, length % Self::WORD as u32);
        if rest > 0 {
            self.partial_word.0.iter_mut().skip(rest as usize).for_each(|byte| *byte = 0xff);
            let at = self.layout.slot(self.inactive()).start + BODY + length - rest;
            self.medium.put(at, self.partial_word.0.get(..word).unwrap_or(&[])).await?;
        }
        Ok(())
    }
}
