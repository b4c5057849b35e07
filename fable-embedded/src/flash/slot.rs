//! The two snapshot slots, written by hand because a snapshot is longer than a page.
//!
//! A slot begins with a *commit record* of 64 bytes, goes on with 192 bytes for marks (`mark.rs`), and then has the snapshot.
//! The record is written last, so a slot that was not finished has none. It holds `FABC`; version `u8`; flags `u8`, bit 0 when
//! all that is older is to be erased, bit 1 when nothing has happened in the incarnation yet, bits 2 and 3 for the slot of the
//! prior that it began from (0 none, 1, 2); what hosts may have erased (`wear.rs`), `u16`; then generation, base (sequence number of the first event after the snapshot), bytes of the snapshot, sizes of the
//! slots, pages erased so far, `u32` each; the last [receipt](crate::Receipts), 20 bytes; 12 zeros; CRC-32 of all that. Both the generation and the base grow with every snapshot, so a
//! journal always belongs to exactly one of them.

use super::error::FlashError;
use super::journal::split_words;
use super::layout::MAX_WORD;
use super::mark::BODY;
use super::{Active, Blocking, Bytes, FlashStore};
use crate::receipt::{Receipt, Receipts};
use core::ops::Range;
use embedded_storage::nor_flash::NorFlash as BlockingNorFlash;
use embedded_storage_async::nor_flash::NorFlash;
use fable_core::record::{HEADER_LEN, Header, Loader, RecordError, Verified, Verifier, checksum};
use fable_core::{Policy, Scalar, User};
use fable_forms::blocking;

/// Bytes of a commit record.
pub(super) const COMMIT_LEN: u32 = 64;
/// The longest piece that is read or written at once.
pub(super) const CHUNK: usize = 256;
/// Of this module's layouts.
const VERSION: u8 = 3;
const PURGE: u8 = 1;
const FRESH: u8 = 2;
/// Where the prior's slot stands.
const PRIOR_SHIFT: u8 = 2;

/// What makes a slot valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Commit {
    pub(super) purge: bool,
    /// Nothing has happened in the incarnation yet.
    pub(super) fresh: bool,
    /// Slot of the prior that the incarnation began from.
    pub(super) prior: Option<u8>,
    /// What hosts may have erased.
    pub(super) allowance: u16,
    pub(super) generation: u32,
    pub(super) base: u32,
    pub(super) len: u32,
    pub(super) shape: u32,
    pub(super) erases: u32,
}

/// Where the receipt stands in a commit record.
const RECEIPT_AT: usize = 28;

impl Commit {
    fn encode(&self, receipt: Option<&Receipt>) -> Bytes<{ COMMIT_LEN as usize }> {
        let mut bytes = [0; COMMIT_LEN as usize];
        let flags = if self.purge { PURGE } else { 0 } | if self.fresh { FRESH } else { 0 };
        let flags = flags | self.prior.map_or(0, |slot| (slot + 1) << PRIOR_SHIFT);
        let front = b"FABC".iter().copied().chain([VERSION, flags]).chain(self.allowance.to_le_bytes());
        let numbers = [self.generation, self.base, self.len, self.shape, self.erases].map(u32::to_le_bytes);
        let receipt = Receipt::encode(receipt);
        for (slot, byte) in bytes.iter_mut().zip(front.chain(numbers.into_iter().flatten()).chain(receipt)) {
            *slot = byte;
        }
        if let Some((front, sum)) = bytes.split_last_chunk_mut::<4>() {
            *sum = checksum(front).to_le_bytes();
        }
        Bytes(bytes)
    }

    /// `None` for anything but a whole record.
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

    /// Reads the receipt in a commit record that is whole.
    #[inline(never)]
    pub(super) async fn read_receipt(&mut self, slot: usize) -> Result<(), FlashError> {
        let bytes = self.read_at(self.layout.slot(slot).start, COMMIT_LEN).await?;
        let receipt = Receipt::decode(bytes.get(RECEIPT_AT..).unwrap_or_default());
        self.receipts = Receipts::NONE;
        self.receipts.set(receipt);
        Ok(())
    }

    /// Makes what was written into a slot the state: from here on the journal is stale. The receipt is of the request that has
    /// asked for that, or of the one before.
    pub(super) async fn commit(
        &mut self,
        Active { slot, len }: Active,
        purge: bool,
        fresh: bool,
        receipt: Option<Receipt>,
    ) -> Result<(), FlashError> {
        let generation = self.generation.checked_add(1).ok_or(FlashError::Exhausted)?;
        let base = self.number_after_next()?;
        let (shape, erases, fresh) = (self.layout.shape(), self.erases, PRIOR && fresh);
        let prior = if PRIOR { self.priors.began() } else { None };
        let allowance = self.allowance;
        let commit = Commit { purge, fresh, prior, allowance, generation, base, len, shape, erases };
        self.state = super::State::Spent;
        self.medium.put(self.layout.slot(slot).start, &commit.encode(receipt.as_ref()).0).await?;
        let _ = self.mark(Self::SUPERSEDED).await; // where it fails only a snapshot that is lost before the journal is erased goes unsaid
        self.active = Some(Active { slot, len });
        self.generation = generation;
        self.base = base;
        self.next = base;
        self.staged = None;
        self.marked = 0;
        self.priors.fresh = fresh;
        self.receipts.set(receipt);
        self.state = super::State::Stale;
        Ok(())
    }

    /// Writes a user's snapshot into the slot that is not in use, chunk by chunk.
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

    /// Reads bytes of a stored snapshot, at most so many and a chunk, into the buffer. `at` is a multiple of the word.
    async fn read_body(
        &mut self,
        Active { slot, len }: Active,
        at: u32,
        most: u32,
    ) -> Result<&[u8], FlashError> {
        self.read_at(self.layout.slot(slot).start + BODY + at, (len - at).min(most)).await
    }

    /// Reads bytes from a multiple of the word on, at most a chunk, into the buffer.
    pub(super) async fn read_at(&mut self, at: u32, len: u32) -> Result<&[u8], FlashError> {
        let padded = (len as usize).next_multiple_of(Self::WORD);
        let bytes = self.buffer.0.get_mut(..padded).ok_or(FlashError::Layout)?;
        self.medium.read(at, bytes).await?;
        Ok(bytes.get(..len as usize).unwrap_or(&[]))
    }

    /// Reads bytes of a record that lies after the commit record of a slot, and says how many.
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
            // What is read begins at a word.
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

    /// Whether nothing was written since a range was erased.
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

    /// The first pass over a stored snapshot. The inner error is about its bytes.
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

    /// The second pass: puts a verified snapshot where it is loaded.
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

    /// The header of a stored snapshot.
    pub(super) async fn snapshot_header(&mut self, active: Active) -> Result<Header, FlashError> {
        Ok(Header::decode(self.read_body(active, 0, HEADER_LEN as u32).await?)?)
    }
}
