//! The two slots for priors.
//!
//! A prior slot begins with a *commit record* of 64 bytes. The prior, as [`fable_core::record::prior`] writes
//! it, has the place of the snapshot in a snapshot slot. The commit record holds, with `u32` little-endian:
//!
//! | bytes | content |
//! |---|---|
//! | 4 | `FABQ` |
//! | 1 | version |
//! | 3 | zeros |
//! | 4 | generation of the prior |
//! | 4 | bytes of the prior, 0 for *none* |
//! | 4 | 1 if a request has committed it, otherwise 0 |
//! | 4 | [id](crate::ReplyCache::request_id) of that request |
//! | 36 | zeros |
//! | 4 | CRC-32 of the bytes before |
//!
//! The slot with the higher generation is the *next* prior, which the next incarnation begins from. The
//! snapshot's commit record names the slot of the *present* prior. That slot is never written, so a factor
//! may borrow its numbers from mapped flash.
//!
//! A host stages a prior like a snapshot, in the unused snapshot slot, where it is verified. Its commit
//! record in that slot makes it the next prior. Then it is *installed*: copied to the other prior slot and
//! committed there. A power cut before the first commit changes nothing. After a later power cut the next
//! start completes the installation.

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

/// Version of the commit record.
const VERSION: u8 = 3;

/// State of the priors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Priors {
    /// Slot of the prior of the incarnation. Without a slot it is the policy's own prior.
    began: Option<u8>,
    /// Slot of the next prior.
    next: Option<u8>,
    /// Slot that was written last, also if its record says *none*.
    newest: u8,
    /// Generation of that slot, 0 if the store never had a prior.
    generation: u32,
    /// A committed prior in the unused snapshot slot is not installed yet.
    uninstalled: bool,
    /// The snapshot is of an empty incarnation.
    pub(super) fresh: bool,
}

impl Priors {
    pub(super) const NONE: Self =
        Self { began: None, next: None, newest: 1, generation: 0, uninstalled: false, fresh: false };

    /// The state before the prior slots are read.
    pub(super) const fn begun(began: Option<u8>, fresh: bool) -> Self {
        Self { began, fresh, ..Self::NONE }
    }

    pub(super) const fn began(&self) -> Option<u8> {
        self.began
    }

    /// Adds the prior of a slot.
    fn count(&mut self, slot: u8, PriorCommit { generation, len, .. }: PriorCommit) {
        if generation > self.generation {
            (self.newest, self.generation) = (slot, generation);
            self.next = (len > 0).then_some(slot);
        }
    }

    /// Returns the slot that may be written: not the slot in use. If no slot is in use, not the newest slot.
    fn spare(&self) -> u8 {
        self.began.unwrap_or(self.newest) ^ 1
    }
}

/// The commit record, which makes a prior valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct PriorCommit {
    generation: u32,
    len: u32,
    /// Id of the request that has committed it.
    request_id: Option<u32>,
}

impl PriorCommit {
    fn encode(&self) -> Bytes<{ COMMIT_LEN as usize }> {
        let mut bytes = [0; COMMIT_LEN as usize];
        let front = b"FABQ".iter().copied().chain([VERSION, 0, 0, 0]);
        let id = self.request_id;
        let numbers = [self.generation, self.len, id.is_some().into(), id.unwrap_or(0)].map(u32::to_le_bytes);
        for (slot, byte) in bytes.iter_mut().zip(front.chain(numbers.into_iter().flatten())) {
            *slot = byte;
        }
        if let Some((front, sum)) = bytes.split_last_chunk_mut::<4>() {
            *sum = checksum(front).to_le_bytes();
        }
        Bytes(bytes)
    }

    /// Decodes a record. Returns `None` for other bytes.
    fn decode(bytes: &[u8]) -> Option<Result<Self, RecordError>> {
        let (front, sum) = bytes.split_last_chunk::<4>()?;
        if checksum(front) != u32::from_le_bytes(*sum) {
            return None;
        }
        let [[b'F', b'A', b'B', b'Q'], [version, ..], generation, len, has_id, request_id, ..] =
            split_words(front)
        else {
            return None;
        };
        if *version != VERSION {
            return Some(Err(RecordError::Version { found: *version }));
        }
        let request_id = Some(u32::from_le_bytes(*request_id)).filter(|_| *has_id != [0; 4]);
        Some(Ok(Self {
            generation: u32::from_le_bytes(*generation),
            len: u32::from_le_bytes(*len),
            request_id,
        }))
    }
}

impl<F, const PRIOR: bool> FlashStore<F, PRIOR> {
    /// Returns true if the incarnation is empty.
    pub(super) fn is_fresh(&self) -> bool {
        PRIOR && self.priors.fresh && self.events == 0
    }

    pub(super) fn is_outdated(&self) -> bool {
        self.is_fresh()
            && self.state != State::Closed
            && (self.priors.uninstalled || self.priors.next != self.priors.began)
    }
}

#[blocking(impl<F: BlockingNorFlash, const PRIOR: bool> FlashStore<Blocking<F>, PRIOR>)]
impl<F: NorFlash, const PRIOR: bool> FlashStore<F, PRIOR> {
    /// Returns the range of the present prior's numbers in the flash, or `None` for the policy's own prior.
    ///
    /// Call it before [`restore`](Self::restore), which needs a policy with that prior. Here any policy of
    /// the catalog and the settings is sufficient.
    ///
    /// # Errors
    /// [`FlashError::Damaged`], a flash that fails, or a prior of another version, scalar, catalog or
    /// settings.
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

    /// Returns the range of the next prior's numbers in the flash, or `None` for the policy's own prior.
    ///
    /// # Errors
    /// As for [`prior`](Self::prior), and a store that is not open.
    pub async fn next_prior<T: Scalar>(
        &mut self,
        policy: &Policy<'_, T>,
    ) -> Result<Option<Range<u32>>, FlashError> {
        self.opened()?;
        self.install_prior().await?;
        match self.priors.next.filter(|_| PRIOR) {
            Some(slot) => self.numbers(slot, policy).await.map(Some),
            None => Ok(None),
        }
    }

    /// Copies the numbers of a prior to RAM, for flash that is not mapped into memory.
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

    /// Starts an empty incarnation from the next prior, which `policy` has, if the store is
    /// [outdated](crate::UserStore::outdated).
    ///
    /// # Errors
    /// A flash that fails, or storage of the wrong length. A restart finds the store outdated again, or the
    /// incarnation started.
    #[inline(never)]
    pub async fn adopt<T: Scalar, S: Storage<T>, const R: usize>(
        &mut self,
        policy: &Policy<'_, T>,
        learner: &mut Learner<T, S, R>,
        workspace: &mut (impl AsMut<[T]> + ?Sized),
    ) -> Result<(), FlashError> {
        self.opened()?;
        self.install_prior().await?;
        if !self.is_outdated() {
            return Ok(());
        }
        // The learner's capacity: a header of a host's snapshot may have a larger capacity.
        let header = Header::new(Kind::Journal, policy, learner.state().user(), R as u16);
        learner.start_journal_in(policy, &header, learner.state().incarnation())?;
        self.header = header;
        self.priors.began = self.priors.next;
        self.purge = true;
        self.compact(&learner.bind(policy, workspace)?).await
    }

    /// Verifies the prior in a slot, and returns the range of its numbers.
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

    /// Verifies the prior after a commit record. The inner error is an error of its bytes.
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

    /// Reads the prior slots at the start, and completes an interrupted installation.
    pub(super) async fn find_priors(&mut self, began: Option<u8>, fresh: bool) -> Result<(), FlashError> {
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
        self.priors.uninstalled = staged.is_some_and(|commit| commit.generation > self.priors.generation);
        self.install_prior().await
    }

    /// Commits the staged prior as the next prior. With length 0 the next prior is the policy's own.
    pub(super) async fn commit_staged_prior<T: Scalar>(
        &mut self,
        policy: &Policy<'_, T>,
        len: u32,
    ) -> Result<(), FlashError> {
        if !PRIOR || self.layout.prior_len() == 0 {
            return Err(FlashError::NoPrior);
        }
        let staged = self.layout.slot(self.inactive());
        let request_id = self.replies.under_way();
        if request_id.is_some() && self.last_prior_request().await? == request_id {
            return Ok(()); // repeated after a reset
        }
        if len > 0 {
            self.end_stage(len).await?;
            self.verify_prior(policy, staged.start, len).await??;
        } else {
            self.install_prior().await?;
            if self.priors.next.is_none() {
                return Ok(());
            }
            self.staged = None;
            self.erase(staged.clone()).await?;
        }
        let generation = self.priors.generation.checked_add(1).ok_or(FlashError::Exhausted)?;
        self.medium.put(staged.start, &PriorCommit { generation, len, request_id }.encode().0).await?;
        self.priors.uninstalled = true;
        let _ = self.install_prior().await; // the prior is committed; the next use of the slot tries again
        Ok(())
    }

    /// Drops the priors of another catalog. The stored snapshot keeps its prior until the next snapshot is
    /// committed.
    #[cfg(feature = "migrate")]
    pub(super) async fn drop_priors<T: Scalar>(&mut self, policy: &Policy<'_, T>) -> Result<(), FlashError> {
        if PRIOR && self.layout.prior_len() > 0 {
            self.commit_staged_prior(policy, 0).await?;
            self.install_prior().await?;
            self.priors.began = None;
        }
        Ok(())
    }

    /// Returns the id of the request that has committed the last prior.
    async fn last_prior_request(&mut self) -> Result<Option<u32>, FlashError> {
        self.install_prior().await?;
        let newest = self.layout.prior(self.priors.newest.into()).start;
        let commit = self
            .read_prior_commit(newest)
            .await?
            .filter(|commit| commit.generation == self.priors.generation);
        Ok(commit.and_then(|commit| commit.request_id))
    }

    /// Copies a committed prior from the snapshot slot to a prior slot.
    pub(super) async fn install_prior(&mut self) -> Result<(), FlashError> {
        if !PRIOR || !self.priors.uninstalled {
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
        self.priors.uninstalled = false;
        Ok(())
    }

    /// Reads bytes of the next or the present prior.
    pub(super) async fn read_stored_prior(
        &mut self,
        next: bool,
        offset: u32,
        out: &mut [u8],
    ) -> Result<usize, FlashError> {
        self.install_prior().await?;
        let slot = if next { self.priors.next } else { self.priors.began };
        let Some(slot) = slot.filter(|_| PRIOR) else { return Ok(0) };
        let start = self.layout.prior(slot.into()).start;
        let Some(commit) = self.read_prior_commit(start).await? else { return Err(FlashError::Damaged) };
        self.read_record(start, commit.len, offset, out).await
    }
}
