//! The two snapshot slots, written without a library because a snapshot is longer than a page.
//!
//! A slot begins with a *commit record* of 64 bytes. Then follow 192 bytes for marks (`mark.rs`), and the
//! snapshot. The commit record is written last, so an unfinished slot has none. It holds, with `u32`
//! little-endian:
//!
//! | bytes | content |
//! |---|---|
//! | 4 | `FABC` |
//! | 1 | version |
//! | 1 | flags, see below |
//! | 2 | erase allowance of hosts, `u16` (`wear.rs`) |
//! | 4 | generation |
//! | 4 | base: sequence number of the first event after the snapshot |
//! | 4 | bytes of the snapshot |
//! | 4 | sizes of the slots |
//! | 4 | pages erased so far |
//! | 20 | the [reply cache](crate::ReplyCache) |
//! | 12 | zeros |
//! | 4 | CRC-32 of the bytes before |
//!
//! Flag bit 0 requests the erase of everything older. Bit 1 marks an empty incarnation. Bits 2 and 3 are the
//! slot of its prior (0 none, 1, 2).
//!
//! Generation and base increase with every snapshot, so a journal belongs to exactly one snapshot.

use super::error::FlashError;
use super::journal::split_words;
use super::layout::MAX_WORD;
use super::mark::BODY;
use super::{Active, Blocking, Bytes, FlashStore};
use crate::reply_cache::{CachedReply, ReplyCache};
use core::ops::Range;
use embedded_storage::nor_flash::NorFlash as BlockingNorFlash;
use embedded_storage_async::nor_flash::NorFlash;
use fable_core::record::{HEADER_LEN, Header, Loader, RecordError, Verified, Verifier, checksum};
use fable_core::{Policy, Scalar, User};
use fable_forms::blocking;

/// Bytes of a commit record.
pub(super) const COMMIT_LEN: u32 = 64;
/// Maximum number of bytes that are read or written at once.
pub(super) const CHUNK: usize = 256;
/// Version of the commit record.
const VERSION: u8 = 3;
const PURGE: u8 = 1;
const FRESH: u8 = 2;
/// Position of the prior's slot in the flags.
const PRIOR_SHIFT: u8 = 2;

/// The commit record, which makes a slot valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Commit {
    pub(super) purge: bool,
    /// The incarnation is empty.
    pub(super) fresh: bool,
    /// Slot of the prior of the incarnation.
    pub(super) prior: Option<u8>,
    /// Erases that hosts may request, in events.
    pub(super) allowance: u16,
    pub(super) generation: u32,
    pub(super) base: u32,
    pub(super) len: u32,
    pub(super) shape: u32,
    pub(super) erases: u32,
}

/// Position of the reply cache in a commit record.
const REPLIES_AT: usize = 28;

impl Commit {
    fn encode(&self, cached: Option<&CachedReply>) -> Bytes<{ COMMIT_LEN as usize }> {
        let mut bytes = [0; COMMIT_LEN as usize];
        let flags = if self.purge { PURGE } else { 0 } | if self.fresh { FRESH } else { 0 };
        let flags = flags | self.prior.map_or(0, |slot| (slot + 1) << PRIOR_SHIFT);
        let front = b"FABC".iter().copied().chain([VERSION, flags]).chain(self.allowance.to_le_bytes());
        let numbers = [self.generation, self.base, self.len, self.shape, self.erases].map(u32::to_le_bytes);
        let cached = CachedReply::encode(cached);
        for (slot, byte) in bytes.iter_mut().zip(front.chain(numbers.into_iter().flatten()).chain(cached)) {
            *slot = byte;
        }
        if let Some((front, sum)) = bytes.split_last_chunk_mut::<4>() {
            *sum = checksum(front).to_le_bytes();
        }
        Bytes(bytes)
    }

    /// Decodes a record. Returns `None` for other bytes.
    fn decode(bytes: &[u8]) -> Option<Result<Self, RecordError>> {
        let bytes: &[u8; COMMIT_LEN as usize] = bytes.first_chunk()?;
        let (front, sum) = bytes.split_last_chunk::<4>()?;
        if checksum(front) != u32::from_le_bytes(*sum) {
            return None;
        }
        let [[b'F', b'A', b'B', b'C'], [version, flags, low, high], numbers @ ..] = split_words(front) else {
            return None;
        };
        if *version != VERSION {
            return Some(Err(RecordError::Version { found: *version }));
        }
        let &[generation, base, len, shape, erases, ..] = numbers else { return None };
        let [generation, base, len, shape, erases] =
            [generation, base, len, shape, erases].map(u32::from_le_bytes);
        let (purge, fresh, prior) =
            (flags & PURGE != 0, flags & FRESH != 0, (flags >> PRIOR_SHIFT & 3).checked_sub(1));
        let allowance = u16::from_le_bytes([*low, *high]);
        Some(Ok(Self { purge, fresh, prior, allowance, generation, base, len, shape, erases }))
    }
}

#[blocking(impl<F: BlockingNorFlash, const PRIOR: bool> FlashStore<Blocking<F>, PRIOR>)]
impl<F: NorFlash, const PRIOR: bool> FlashStore<F, PRIOR> {
    pub(super) async fn read_commit(&mut self, slot: usize) -> Result<Option<Commit>, FlashError> {
        let bytes = self.read_at(self.layout.slot(slot).start, COMMIT_LEN).await?;
        match Commit::decode(bytes).transpose()? {
            Some(commit) if commit.shape != self.layout.shape() => Err(FlashError::Layout),
            Some(commit) if commit.len > self.layout.snapshot_len() => Ok(None),
            commit => Ok(commit),
        }
    }

    /// Restores the reply cache from a whole commit record.
    #[inline(never)]
    pub(super) async fn read_reply_cache(&mut self, slot: usize) -> Result<(), FlashError> {
        let bytes = self.read_at(self.layout.slot(slot).start, COMMIT_LEN).await?;
        self.replies = ReplyCache::from_bytes(bytes.get(REPLIES_AT..).unwrap_or_default());
        Ok(())
    }

    /// Makes the content of a slot the state, after which the journal is stale.
    ///
    /// `cached` is the reply of the request that caused the commit, or of the last request.
    pub(super) async fn commit(
        &mut self,
        Active { slot, len }: Active,
        purge: bool,
        fresh: bool,
        cached: Option<CachedReply>,
    ) -> Result<(), FlashError> {
        let generation = self.generation.checked_add(1).ok_or(FlashError::Exhausted)?;
        let base = self.number_after_next()?;
        let (shape, erases, fresh) = (self.layout.shape(), self.erases, PRIOR && fresh);
        let prior = if PRIOR { self.priors.began() } else { None };
        let allowance = self.allowance;
        let commit = Commit { purge, fresh, prior, allowance, generation, base, len, shape, erases };
        self.state = super::State::Broken;
        self.medium.put(self.layout.slot(slot).start, &commit.encode(cached.as_ref()).0).await?;
        // Without this mark only one loss is undetected: that of the snapshot before the journal is erased.
        let _ = self.mark(Self::SUPERSEDED).await;
        self.active = Some(Active { slot, len });
        self.generation = generation;
        self.base = base;
        self.next = base;
        self.staged = None;
        self.marked = 0;
        self.priors.fresh = fresh;
        self.replies.set(cached);
        self.state = super::State::Stale;
        Ok(())
    }

    /// Writes a user's snapshot to the unused slot, chunk by chunk.
    pub(super) async fn write_snapshot<T: Scalar>(&mut self, user: &User<'_, T>) -> Result<u32, FlashError> {
        let mut snapshot = user.snapshot()?;
        let slot = self.layout.slot(self.inactive());
        self.staged = None;
        self.erase(slot.clone()).await?;
        let (mut at, mut len) = (slot.start + BODY, 0);
        loop {
            let chunk = self.buffer.0.get_mut(..CHUNK).ok_or(FlashError::Layout)?;
            let written = snapshot.read(chunk);
            if written == 0 {
                return Ok(len);
            }
            let padded = written.next_multiple_of(Self::WORD);
            chunk.iter_mut().skip(written).for_each(|byte| *byte = 0xff);
            len += written as u32;
            if len > self.layout.snapshot_len() {
                return Err(FlashError::Record(RecordError::TooLong));
            }
            self.medium.put(at, chunk.get(..padded).unwrap_or(chunk)).await?;
            at += padded as u32;
        }
    }

    /// Erases page by page, in order.
    pub(super) async fn erase(&mut self, range: Range<u32>) -> Result<(), FlashError> {
        for page in range.step_by(Self::PAGE) {
            self.erases = self.erases.saturating_add(1);
            self.medium.erase(page, self.layout.page()).await?;
        }
        Ok(())
    }

    /// Reads at most `most` bytes of a stored snapshot, and at most a chunk, to the buffer. `at` is a
    /// multiple of the word.
    async fn read_body(
        &mut self,
        Active { slot, len }: Active,
        at: u32,
        most: u32,
    ) -> Result<&[u8], FlashError> {
        self.read_at(self.layout.slot(slot).start + BODY + at, (len - at).min(most)).await
    }

    /// Reads at most a chunk to the buffer. `at` is a multiple of the word.
    pub(super) async fn read_at(&mut self, at: u32, len: u32) -> Result<&[u8], FlashError> {
        let padded = (len as usize).next_multiple_of(Self::WORD);
        let bytes = self.buffer.0.get_mut(..padded).ok_or(FlashError::Layout)?;
        self.medium.read(at, bytes).await?;
        Ok(bytes.get(..len as usize).unwrap_or(&[]))
    }

    /// Reads bytes of the record after a commit record, and returns their number.
    pub(super) async fn read_record(
        &mut self,
        start: u32,
        len: u32,
        offset: u32,
        out: &mut [u8],
    ) -> Result<usize, FlashError> {
        let (mut read, wanted) =
            (0, len.saturating_sub(offset).min(u32::try_from(out.len()).unwrap_or(u32::MAX)));
        while read < wanted {
            // Reads begin at a word.
            let skip = (offset + read) % MAX_WORD as u32;
            let count = (wanted - read).min(CHUNK as u32 - skip);
            let bytes = self.read_at(start + BODY + offset + read - skip, skip + count).await?;
            for (slot, byte) in out.iter_mut().skip(read as usize).zip(bytes.iter().skip(skip as usize)) {
                *slot = *byte;
            }
            read += count;
        }
        Ok(read as usize)
    }

    /// Returns true if a range is erased.
    pub(super) async fn is_blank(&mut self, range: Range<u32>) -> Result<bool, FlashError> {
        for at in range.step_by(CHUNK) {
            let bytes = self.buffer.0.get_mut(..CHUNK).ok_or(FlashError::Layout)?;
            self.medium.read(at, bytes).await?;
            if bytes.iter().any(|byte| *byte != 0xff) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Verifies a stored snapshot, which is the first pass. The inner error is an error of its bytes.
    pub(super) async fn verify<T: Scalar>(
        &mut self,
        policy: &Policy<'_, T>,
        active: Active,
    ) -> Result<Result<Verified, RecordError>, FlashError> {
        let mut verifier = Verifier::new(policy);
        for at in (0..active.len).step_by(CHUNK) {
            let bytes = self.read_body(active, at, CHUNK as u32).await?;
            if let Err(error) = verifier.push(bytes) {
                return Ok(Err(error));
            }
        }
        Ok(verifier.finish())
    }

    /// Loads a verified snapshot, which is the second pass.
    pub(super) async fn load<T: Scalar>(
        &mut self,
        active: Active,
        mut loader: Loader<'_, T>,
    ) -> Result<(), FlashError> {
        for at in (0..active.len).step_by(CHUNK) {
            loader.push(self.read_body(active, at, CHUNK as u32).await?)?;
        }
        Ok(loader.finish()?)
    }

    /// Reads the header of a stored snapshot.
    pub(super) async fn snapshot_header(&mut self, active: Active) -> Result<Header, FlashError> {
        Ok(Header::decode(self.read_body(active, 0, HEADER_LEN as u32).await?)?)
    }
}
