//! The store as the place where a [`Device`](crate::Device) keeps its user.
//!
//! A host reads the snapshot and the events after it, and has the state; [`fable_core::record`] says what the bytes mean. The
//! other way it writes a snapshot in order into the slot that is not in use, which is verified before it becomes the
//! state. Until then a power cut or a wrong byte changes nothing.

use super::error::FlashError;
use super::journal::{SEQUENCE_LEN, TICKET, TICKET_LEN};
use super::mark::BODY;
use super::slot::CHUNK;
use super::{Active, Blocking, FlashStore, State};
use crate::keep::{AsyncKeep, Keep};
use crate::receipt::{Acknowledgement, Receipt, Receipts};
use embedded_storage::nor_flash::NorFlash as BlockingNorFlash;
use embedded_storage_async::nor_flash::NorFlash;
use fable_core::journal::Event;
use fable_core::record::{RecordError, encode_event};
use fable_core::{Policy, Scalar, User};
use fable_forms::blocking;
use fable_wire::{Fault, Kept, StorageFault};

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

#[blocking(impl<F: BlockingNorFlash, const PRIOR: bool> Keep for FlashStore<Blocking<F>, PRIOR>)]
impl<F: NorFlash, const PRIOR: bool> AsyncKeep for FlashStore<F, PRIOR> {
    type Error = FlashError;

    fn receipts(&mut self) -> &mut Receipts {
        &mut self.receipts
    }

    /// A journal that refuses an event is given up: there is no room, and the next one begins in pages that are erased.
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
        let ticket = self.receipts.stamp(event);
        let (sequence, body) = self.buffer.0.split_first_chunk_mut().ok_or(FlashError::Layout)?;
        *sequence = (self.next | if ticket.is_some() { TICKET } else { 0 }).to_le_bytes();
        let mut len = encode_event(event, body)?.len();
        if let Some(ticket) = ticket {
            body.iter_mut().skip(len).zip(ticket.to_le_bytes()).for_each(|(slot, byte)| *slot = byte);
            len += TICKET_LEN;
        }
        len += SEQUENCE_LEN;
        // Until the end is reached nobody knows what the journal ends with.
        self.state = State::Spent;
        let begun = self.events == 0 && !self.unproved;
        let pages = match self.push(len).await {
            Err(error) if begun => return Err(error), // there are no better pages
            Err(_) => return Ok(false),
            Ok(pages) => pages,
        };
        if self.unproved {
            let contents = self.contents().await?;
            if contents.events != self.events.saturating_add(1) || !contents.follow(self.base) {
                return Ok(false);
            }
            self.unproved = false;
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

    /// Finishes what a failure left, and compacts when the longest event might not fit. The user has to be the one
    /// that every stored event was applied to.
    #[inline(never)]
    async fn make_room<T: Scalar>(&mut self, user: &User<'_, T>) -> Result<(), FlashError> {
        self.opened()?;
        if self.state == State::Stale {
            self.renew().await?;
        }
        if self.purge || self.state == State::Spent || !self.fits().await? {
            self.compact(user).await?;
        }
        Ok(())
    }

    async fn forget<T: Scalar>(&mut self, user: &User<'_, T>) -> Result<(), FlashError> {
        // The event is stored; making room erases all that is older.
        self.make_room(user).await.map_err(|_| FlashError::Unfinished)
    }

    #[inline(never)]
    async fn spend<T: Scalar>(&mut self, user: &User<'_, T>) -> Result<bool, FlashError> {
        self.opened()?;
        self.note(user).await
    }

    /// A compaction in between needs the slot, and the upload has to start again.
    #[inline(never)]
    async fn stage_write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), FlashError> {
        self.opened()?;
        let slot = self.layout.slot(self.inactive());
        if offset == 0 {
            self.staged = None;
            self.settle().await?;
            self.erase(slot.clone()).await?;
        } else if self.staged != Some(offset) {
            return Err(FlashError::Offset { expected: self.staged.unwrap_or(0) });
        }
        let end = u32::try_from(bytes.len()).ok().and_then(|len| offset.checked_add(len));
        let end = end.filter(|end| *end <= self.layout.snapshot_len()).ok_or(RecordError::TooLong)?;
        self.staged = None; // a failure in between would leave words that cannot be written again
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
                // Drivers that move words want them aligned.
                chunk.iter_mut().zip(piece).for_each(|(slot, byte)| *slot = *byte);
                self.medium.put(start + at, chunk).await?;
            } else {
                self.carry.0.iter_mut().skip(place).zip(piece).for_each(|(slot, byte)| *slot = *byte);
                if place + piece.len() == word {
                    let at = start + at - place as u32;
                    self.medium.put(at, self.carry.0.get(..word).unwrap_or(&[])).await?;
                }
            }
            at += piece.len() as u32;
            rest = behind;
        }
        self.staged = Some(end);
        Ok(())
    }

    /// A flash that fails while the user is loaded leaves it vacant; [`restore`](FlashStore::restore) it.
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
        // A device with which nothing has happened yet may become a place of somebody else.
        let untouched = self.events == 0 && user.state().rounds() == 0 && user.state().observations() == 0;
        if verified.user() != self.header.user && !untouched {
            return Err(FlashError::ForeignUser);
        }
        user.fits(&verified)?;
        let header = self.snapshot_header(staged).await?;
        let reply = Acknowledgement::Restored;
        let receipt = self.receipts.under_way().map(|ticket| Receipt { ticket, reply });
        self.commit(staged, false, false, receipt.or(self.receipts.last().copied())).await?;
        self.header = header;
        self.load(staged, user.load(verified)?).await?;
        self.receipts.restored(user.state().rounds());
        let _ = self.renew().await; // committed is committed; `make_room` tries again
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
        self.keep_prior(policy, length).await
    }

    #[inline(never)]
    async fn read_prior(&mut self, next: bool, offset: u32, out: &mut [u8]) -> Result<usize, FlashError> {
        self.opened()?;
        self.read_kept_prior(next, offset, out).await
    }

    fn outdated(&self) -> bool {
        self.is_outdated()
    }

    async fn statistics(&mut self) -> Result<Kept, FlashError> {
        let counts = Self::statistics(self);
        Ok(Kept {
            generation: counts.generation,
            events: counts.events,
            free: counts.free,
            erases: counts.erases,
        })
    }
}

#[blocking(impl<F: BlockingNorFlash, const PRIOR: bool> FlashStore<Blocking<F>, PRIOR>)]
impl<F: NorFlash, const PRIOR: bool> FlashStore<F, PRIOR> {
    /// Writes the last, incomplete word of what was staged, which has to be `length` bytes.
    pub(super) async fn end_stage(&mut self, length: u32) -> Result<(), FlashError> {
        if self.staged != Some(length) {
            return Err(FlashError::Offset { expected: self.staged.unwrap_or(0) });
        }
        self.staged = None;
        let (word, rest) = (Self::WORD, length % Self::WORD as u32);
        if rest > 0 {
            self.carry.0.iter_mut().skip(rest as usize).for_each(|byte| *byte = 0xff);
            let at = self.layout.slot(self.inactive()).start + BODY + length - rest;
            self.medium.put(at, self.carry.0.get(..word).unwrap_or(&[])).await?;
        }
        Ok(())
    }
}
