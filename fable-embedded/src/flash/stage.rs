//! Moving a state: reading it out, and staging another one in the slot that is not in use.
//!
//! A host reads the snapshot and the events behind it, and has the state; [`fable_core::record`] says what the bytes mean. The
//! other way it writes a snapshot in order, and [`stage_commit`](Store::stage_commit) verifies it before it becomes the state.
//! Until then a power cut or a wrong byte changes nothing.

use super::error::StoreError;
use super::layout::MAX_WORD;
use super::slot::{CHUNK, COMMIT_LEN};
use super::{Active, Blocking, State, Store};
use embedded_storage::nor_flash::NorFlash as BlockingNorFlash;
use embedded_storage_async::nor_flash::NorFlash;
use fable_core::record::{Header, Kind, RecordError, Verified};
use fable_core::{Learner, Policy, Scalar, Storage};
use fable_forms::blocking;

impl<F> Store<F> {
    /// What the journal would have as its header: whose state it is, and under which promise it was started.
    #[must_use]
    pub fn header(&self) -> Option<Header> {
        (self.state != State::Closed).then_some(Header { kind: Kind::Journal, ..self.header })
    }

    /// Bytes of the stored snapshot; 0 while the state is the journal alone, from the start.
    #[must_use]
    pub fn snapshot_len(&self) -> u32 {
        self.active.map_or(0, |active| active.len)
    }
}

#[blocking(impl<F: BlockingNorFlash> Store<Blocking<F>>)]
impl<F: NorFlash> Store<F> {
    /// Reads bytes of the stored snapshot from `offset` on and says how many; 0 at its end.
    ///
    /// # Errors
    /// A store that is not open, or a flash that fails.
    pub async fn read_snapshot(&mut self, offset: u32, out: &mut [u8]) -> Result<usize, StoreError> {
        if self.state == State::Closed {
            return Err(StoreError::Closed);
        }
        let Some(Active { slot, len }) = self.active else { return Ok(0) };
        let first = offset - offset % MAX_WORD as u32;
        let count = len.saturating_sub(offset).min(out.len() as u32).min((CHUNK - MAX_WORD) as u32);
        if count == 0 {
            return Ok(0);
        }
        let bytes = self.read_slot(slot, COMMIT_LEN + first, offset - first + count).await?;
        for (slot, byte) in out.iter_mut().zip(bytes.iter().skip((offset - first) as usize)) {
            *slot = *byte;
        }
        Ok(count as usize)
    }

    /// Hands the events behind the snapshot, as they were encoded, to `take`, from a sequence number on (0: all) and until
    /// it returns false.
    ///
    /// # Errors
    /// A store that is not open, or a flash that fails.
    pub async fn read_events(&mut self, from: u32, mut take: impl FnMut(u32, &[u8]) -> bool) -> Result<(), StoreError> {
        match self.state {
            State::Closed => Err(StoreError::Closed),
            State::Stale => Ok(()), // all of them are in the snapshot
            State::Ready | State::Spent => {
                let end = self.next; // an event that could not be acknowledged may stand behind
                self.walk(&mut |sequence, event| Ok(sequence < from || (sequence < end && take(sequence, event)))).await?;
                Ok(())
            }
        }
    }

    /// Writes the next bytes of a snapshot into the slot that is not in use; offset 0 starts again. A compaction in between
    /// needs that slot, and the upload has to start again.
    ///
    /// # Errors
    /// [`StoreError::Offset`] says where the next bytes belong; too many bytes; a flash that fails.
    pub async fn stage_write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), StoreError> {
        if self.state == State::Closed {
            return Err(StoreError::Closed);
        }
        let slot = self.layout.slot(self.inactive());
        if offset == 0 {
            self.staged = None;
            self.erase(slot.clone()).await?;
        } else if self.staged != Some(offset) {
            return Err(StoreError::Offset { expected: self.staged.unwrap_or(0) });
        }
        let end = u32::try_from(bytes.len()).ok().and_then(|len| offset.checked_add(len));
        let end = end.filter(|end| *end <= self.layout.snapshot_len()).ok_or(RecordError::TooLong)?;
        self.staged = None; // a failure in between would leave words that cannot be written again
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
                let chunk = self.buffer.0.get_mut(..piece.len()).ok_or(StoreError::Layout)?;
                // Drivers that move words want them aligned.
                chunk.iter_mut().zip(piece).for_each(|(slot, byte)| *slot = *byte);
                self.medium.put(slot.start + COMMIT_LEN + at, chunk).await?;
            } else {
                self.carry.0.iter_mut().skip(place).zip(piece).for_each(|(slot, byte)| *slot = *byte);
                if place + piece.len() == word {
                    let at = slot.start + COMMIT_LEN + at - place as u32;
                    self.medium.put(at, self.carry.0.get(..word).unwrap_or(&[])).await?;
                }
            }
            at += piece.len() as u32;
            rest = behind;
        }
        self.staged = Some(end);
        Ok(())
    }

    /// Verifies the staged snapshot and makes it the state, in flash and in the learner.
    ///
    /// # Errors
    /// A snapshot that is incomplete, damaged or foreign, of another user, or with more waiting decisions than the learner
    /// has room for: nothing has changed then, and the upload has to start again. A flash that fails while the learner is
    /// loaded leaves it vacant; [`restore`](Store::restore) it.
    pub async fn stage_commit<T: Scalar, S: Storage<T>, const R: usize>(
        &mut self,
        policy: &Policy<'_, T>,
        learner: &mut Learner<T, S, R>,
    ) -> Result<Verified, StoreError> {
        if self.state == State::Closed {
            return Err(StoreError::Closed);
        }
        let len = self.staged.take().ok_or(StoreError::Offset { expected: 0 })?;
        let slot = self.inactive();
        let (word, rest) = (Self::WORD, len % Self::WORD as u32);
        if rest > 0 {
            self.carry.0.iter_mut().skip(rest as usize).for_each(|byte| *byte = 0xff);
            let at = self.layout.slot(slot).start + COMMIT_LEN + len - rest;
            self.medium.put(at, self.carry.0.get(..word).unwrap_or(&[])).await?;
        }
        let staged = Active { slot, len };
        let verified = self.verify(policy, staged).await??;
        if verified.user() != self.header.user {
            return Err(StoreError::User);
        }
        if usize::from(verified.room()) > R {
            return Err(RecordError::Room { needed: verified.room() }.into());
        }
        let header = self.snapshot_header(staged).await?;
        self.commit(slot, len, false).await?;
        self.header = header;
        self.load(policy, staged, verified, learner).await?;
        let _ = self.renew().await; // committed is committed; `room` tries again
        Ok(verified)
    }
}
