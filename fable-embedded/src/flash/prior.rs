//! The two slots for priors, and which of them counts.
//!
//! A prior's slot begins with a *commit record* of 64 bytes and has the prior, as [`fable_core::record::prior`] writes it, where a
//! snapshot's slot has the snapshot. The record holds `FABQ`; version `u8`; three zeros; the prior's generation and its bytes,
//! `u32` each, 0 bytes for *none*; whether a request has asked for it, `u32` 0 or 1, and its [ticket](crate::Receipts), `u32`; zeros; CRC-32 of all that. The slot with the higher generation is the *next* prior, which the next incarnation begins from; the
//! snapshot's commit record says which slot the present one *began* from. That slot is never written to, so a factor over its
//! numbers, where they are mapped into memory, stays what it is.
//!
//! A prior from a host is staged like a snapshot, in the snapshot slot that is not in use, and verified there. Its commit record
//! in that slot is the moment at which it counts; from there it is *settled*: copied to the other prior's slot, whatever
//! waited there, and committed once more. A power cut in between is made good at the next start, and one before changes nothing.

use super::error::FlashError;
use super::journal::split_words;
use super::mark::BODY;
use super::open::newest_first;
use super::slot::{CHUNK, COMMIT_LEN};
use super::{Blocking, Bytes, FlashStore, State};
use core::ops::Range;
use embedded_storage::nor_flash::NorFlash as BlockingNorFlash;
use embedded_storage_async::nor_flash::NorFlash;
use fable_core::posterior::Storage;
use fable_core::record::prior::read_numbers;
use fable_core::record::{HEADER_LEN, Header, Kind, PriorVerifier, RecordError, checksum};
use fable_core::{Learner, Policy, Scalar};
use fable_forms::blocking;

/// Of the commit record.
const VERSION: u8 = 3;

/// What is known of the priors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Priors {
    /// Slot of the prior that the incarnation began from; none: the policy's own.
    began: Option<u8>,
    /// Slot of the next one.
    next: Option<u8>,
    /// The slot that was written last, though it may say *none*.
    newest: u8,
    /// Of that slot; 0 when no prior was ever there.
    generation: u32,
    /// A prior that counts lies in the snapshot slot that is not in use.
    unsettled: bool,
    /// The snapshot is that of a user with whom nothing has happened in this incarnation.
    pub(super) fresh: bool,
}

impl Priors {
    pub(super) const NONE: Self =
        Self { began: None, next: None, newest: 1, generation: 0, unsettled: false, fresh: false };

    /// Before any prior was found.
    pub(super) const fn begun(began: Option<u8>, fresh: bool) -> Self {
        Self { began, fresh, ..Self::NONE }
    }

    pub(super) const fn began(&self) -> Option<u8> {
        self.began
    }

    /// Takes note of a prior in a slot.
    fn count(&mut self, slot: u8, PriorCommit { generation, len, .. }: PriorCommit) {
        if generation > self.generation {
            (self.newest, self.generation) = (slot, generation);
            self.next = (len > 0).then_some(slot);
        }
    }

    /// The slot that may be written: not the one in use, and if none is, not the newest.
    fn spare(&self) -> u8 {
        self.began.unwrap_or(self.newest) ^ 1
    }
}

/// What makes a prior count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct PriorCommit {
    generation: u32,
    len: u32,
    /// Of the request that has asked for it.
    ticket: Option<u32>,
}

impl PriorCommit {
    fn encode(&self) -> Bytes<{ COMMIT_LEN as usize }> {
        let mut bytes = [0; COMMIT_LEN as usize];
        let front = b"FABQ".iter().copied().chain([VERSION, 0, 0, 0]);
        let numbers = [self.generation, self.len, self.ticket.map_or(0, |_| 1), self.ticket.unwrap_or(0)]
            .map(u32::to_le_bytes);
        for (slot, byte) in bytes.iter_mut().zip(front.chain(numbers.into_iter().flatten())) {
            *slot = byte;
        }
        if let Some((front, sum)) = bytes.split_last_chunk_mut::<4>() {
            *sum = checksum(front).to_le_bytes();
        }
        Bytes(bytes)
    }

    /// `None` for anything but a whole record.
    fn decode(bytes: &[u8]) -> Option<Result<Self, RecordError>> {
        let (front, sum) = bytes.split_last_chunk::<4>()?;
        if checksum(front) != u32::from_le_bytes(*sum) {
            return None;
        }
        let [[b'F', b'A', b'B', b'Q'], [version, ..], generation, len, asked, ticket, ..] =
            split_words(front)
        else {
            return None;
        };
        if *version != VERSION {
            return Some(Err(RecordError::Version { found: *version }));
        }
        let ticket = Some(u32::from_le_bytes(*ticket)).filter(|_| *asked != [0; 4]);
        Some(Ok(Self { generation: u32::from_le_bytes(*generation), len: u32::from_le_bytes(*len), ticket }))
    }
}

impl<F, const PRIOR: bool> FlashStore<F, PRIOR> {
    /// Whether nothing has happened in this incarnation.
    pub(super) fn is_fresh(&self) -> bool {
        PRIOR && self.priors.fresh && self.events == 0
    }

    pub(super) fn is_outdated(&self) -> bool {
        self.is_fresh()
            && self.state != State::Closed
            && (self.priors.unsettled || self.priors.next != self.priors.began)
    }
}

#[blocking(impl<F: BlockingNorFlash, const PRIOR: bool> FlashStore<Blocking<F>, PRIOR>)]
impl<F: NorFlash, const PRIOR: bool> FlashStore<F, PRIOR> {
    /// Where in the flash the numbers of the prior lie that the stored user began from; `None` where that is the policy's own.
    /// Asked before [`restore`](Self::restore), which wants a policy with that prior. Any policy of the catalog and settings
    /// does here.
    ///
    /// # Errors
    /// [`FlashError::Damaged`], a flash that fails, or a prior of another version, scalar, catalog or settings.
    pub async fn prior<T: Scalar>(
        &mut self,
        policy: &Policy<'_, T>,
    ) -> Result<Option<Range<u32>>, FlashError> {
        if !PRIOR {
            return Ok(None);
        }
        let commits = [self.read_commit(0).await?, self.read_commit(1).await?];
        let newest = newest_first(commits).into_iter().flatten().next();
        match newest.and_then(|(_, commit)| commit.prior) {
            Some(slot) => self.numbers(slot, policy).await.map(Some),
            None => Ok(None),
        }
    }

    /// Where the numbers of the prior lie that the next incarnation begins from; `None` for the policy's own.
    ///
    /// # Errors
    /// As for [`prior`](Self::prior), and a store that is not open.
    pub async fn next_prior<T: Scalar>(
        &mut self,
        policy: &Policy<'_, T>,
    ) -> Result<Option<Range<u32>>, FlashError> {
        self.opened()?;
        self.settle().await?;
        match self.priors.next.filter(|_| PRIOR) {
            Some(slot) => self.numbers(slot, policy).await.map(Some),
            None => Ok(None),
        }
    }

    /// Copies the numbers of a prior from where they lie, for flash that is not mapped into memory.
    ///
    /// # Errors
    /// A flash that fails.
    pub async fn copy_prior<T: Scalar>(
        &mut self,
        numbers: Range<u32>,
        packed: &mut [T],
    ) -> Result<(), FlashError> {
        for (at, first) in numbers.clone().step_by(CHUNK).zip((0..).step_by(CHUNK / size_of::<T>())) {
            read_numbers(packed, first, self.read_at(at, (numbers.end - at).min(CHUNK as u32)).await?);
        }
        Ok(())
    }

    /// Begins the incarnation from the next prior, with which `policy` was made: of a user with whom nothing has happened yet,
    /// when the store is [outdated](crate::Keep::outdated). Otherwise nothing is done.
    ///
    /// # Errors
    /// A flash that fails, storage of the wrong length. A restart finds the store outdated again, or the user begun.
    #[inline(never)]
    pub async fn adopt<T: Scalar, S: Storage<T>, const R: usize>(
        &mut self,
        policy: &Policy<'_, T>,
        learner: &mut Learner<T, S, R>,
        workspace: &mut (impl AsMut<[T]> + ?Sized),
    ) -> Result<(), FlashError> {
        self.opened()?;
        self.settle().await?;
        if !self.is_outdated() {
            return Ok(());
        }
        // The learner's room: the header may be that of a snapshot from a host, which has more.
        let header = Header::new(Kind::Journal, policy, learner.state().user(), R as u16);
        learner.start_journal_in(policy, &header, learner.state().incarnation())?;
        self.header = header;
        self.priors.began = self.priors.next;
        self.purge = true;
        self.compact(&learner.bind(policy, workspace)?).await
    }

    /// Verifies the prior in a slot: where its numbers lie.
    #[inline(never)]
    async fn numbers<T: Scalar>(
        &mut self,
        slot: u8,
        policy: &Policy<'_, T>,
    ) -> Result<Range<u32>, FlashError> {
        let start = self.layout.prior(slot.into()).start;
        let Some(PriorCommit { len, .. }) = self.read_prior_commit(start).await? else {
            return Err(FlashError::Damaged);
        };
        match self.verify_prior(policy, start, len).await? {
            Ok(()) => Ok(start + BODY + HEADER_LEN as u32..start + BODY + len.saturating_sub(4)),
            Err(
                error @ (RecordError::Catalog
                | RecordError::Policy
                | RecordError::Scalar { .. }
                | RecordError::Version { .. }),
            ) => Err(error.into()),
            Err(_) => Err(FlashError::Damaged),
        }
    }

    /// Looks at every byte of a prior that lies after a commit record. The inner error is about its bytes.
    async fn verify_prior<T: Scalar>(
        &mut self,
        policy: &Policy<'_, T>,
        start: u32,
        len: u32,
    ) -> Result<Result<(), RecordError>, FlashError> {
        let mut verifier = PriorVerifier::new(policy);
        for at in (0..len).step_by(CHUNK) {
            if let Err(error) =
                verifier.push(self.read_at(start + BODY + at, (len - at).min(CHUNK as u32)).await?)
            {
                return Ok(Err(error));
            }
        }
        Ok(verifier.finish().map(drop))
    }

    async fn read_prior_commit(&mut self, at: u32) -> Result<Option<PriorCommit>, FlashError> {
        let limit = self.layout.prior_len();
        let commit = PriorCommit::decode(self.read_at(at, COMMIT_LEN).await?).transpose()?;
        Ok(commit.filter(|commit| commit.len <= limit))
    }

    /// Finds out at the start which priors there are, and settles what a power cut has left.
    pub(super) async fn look(&mut self, began: Option<u8>, fresh: bool) -> Result<(), FlashError> {
        if !PRIOR || self.layout.prior_len() == 0 {
            return Ok(());
        }
        self.priors = Priors::begun(began, fresh);
        for slot in [0, 1] {
            let start = self.layout.prior(slot.into()).start;
            if let Some(commit) = self.read_prior_commit(start).await? {
                self.priors.count(slot, commit);
            }
        }
        let staged = self.read_prior_commit(self.layout.slot(self.inactive()).start).await?;
        self.priors.unsettled = staged.is_some_and(|commit| commit.generation > self.priors.generation);
        self.settle().await
    }

    /// Makes the staged prior the next one.
    pub(super) async fn keep_prior<T: Scalar>(
        &mut self,
        policy: &Policy<'_, T>,
        len: u32,
    ) -> Result<(), FlashError> {
        if !PRIOR || self.layout.prior_len() == 0 {
            return Err(FlashError::NoPrior);
        }
        let staged = self.layout.slot(self.inactive());
        let ticket = self.receipts.under_way();
        if ticket.is_some() && self.last_prior_ticket().await? == ticket {
            return Ok(()); // it comes again, after a reset
        }
        if len > 0 {
            self.end_stage(len).await?;
            self.verify_prior(policy, staged.start, len).await??;
        } else {
            self.settle().await?;
            if self.priors.next.is_none() {
                return Ok(());
            }
            self.staged = None;
            self.erase(staged.clone()).await?;
        }
        let generation = self.priors.generation.checked_add(1).ok_or(FlashError::Exhausted)?;
        self.medium.put(staged.start, &PriorCommit { generation, len, ticket }.encode().0).await?;
        self.priors.unsettled = true;
        let _ = self.settle().await; // committed is committed; whoever needs the slot tries again
        Ok(())
    }

    /// Of priors that belong to another catalog none is begun from any more, and none waits. What the stored snapshot says stays true until
    /// the next one is committed.
    #[cfg(feature = "migrate")]
    pub(super) async fn drop_priors<T: Scalar>(&mut self, policy: &Policy<'_, T>) -> Result<(), FlashError> {
        if PRIOR && self.layout.prior_len() > 0 {
            self.keep_prior(policy, 0).await?;
            self.settle().await?;
            self.priors.began = None;
        }
        Ok(())
    }

    /// The ticket of the request that has asked for the prior that was committed last.
    async fn last_prior_ticket(&mut self) -> Result<Option<u32>, FlashError> {
        self.settle().await?;
        let newest = self.layout.prior(self.priors.newest.into()).start;
        let commit = self
            .read_prior_commit(newest)
            .await?
            .filter(|commit| commit.generation == self.priors.generation);
        Ok(commit.and_then(|commit| commit.ticket))
    }

    /// Copies a prior that counts from the snapshot slot, which is needed for other things, to where it stays.
    pub(super) async fn settle(&mut self) -> Result<(), FlashError> {
        if !PRIOR || !self.priors.unsettled {
            return Ok(());
        }
        let (from, slot) = (self.layout.slot(self.inactive()).start, self.priors.spare());
        let Some(commit) = self.read_prior_commit(from).await? else { return Err(FlashError::Damaged) };
        let to = self.layout.prior(slot.into());
        self.erase(to.clone()).await?;
        for at in (BODY..BODY + commit.len).step_by(CHUNK) {
            let padded = (BODY + commit.len - at).min(CHUNK as u32).next_multiple_of(Self::WORD as u32);
            self.read_at(from + at, padded).await?;
            self.medium.put(to.start + at, self.buffer.0.get(..padded as usize).unwrap_or(&[])).await?;
        }
        self.medium.put(to.start, &commit.encode().0).await?;
        self.priors.count(slot, commit);
        self.priors.unsettled = false;
        Ok(())
    }

    /// Reads bytes of the prior that the next incarnation begins from, or that this one began from.
    pub(super) async fn read_kept_prior(
        &mut self,
        next: bool,
        offset: u32,
        out: &mut [u8],
    ) -> Result<usize, FlashError> {
        self.settle().await?;
        let slot = if next { self.priors.next } else { self.priors.began };
        let Some(slot) = slot.filter(|_| PRIOR) else { return Ok(0) };
        let start = self.layout.prior(slot.into()).start;
        let Some(commit) = self.read_prior_commit(start).await? else { return Err(FlashError::Damaged) };
        self.read_record(start, commit.len, offset, out).await
    }
}
