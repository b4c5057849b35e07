//! Opening a region: finds the stored records and restores a learner.

use super::error::FlashError;
use super::journal::{Contents, Item};
use super::prior::Priors;
use super::slot::Commit;
use super::{Active, Blocking, FlashStore, State};
use crate::reply_cache::ReplyCache;
use embedded_storage::nor_flash::NorFlash as BlockingNorFlash;
use embedded_storage_async::nor_flash::NorFlash;
use fable_core::journal::Event;
use fable_core::posterior::Storage;
use fable_core::record::{Header, Kind, RecordError, Verified, decode_event_into, snapshot::max_len};
use fable_core::{Catalog, Learner, Policy, Scalar, User, UserError};
use fable_forms::blocking;

/// Result of a restoration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Restored {
    /// Hash of the user name.
    pub user: u64,
    /// Number of the loaded snapshot, 0 without a snapshot.
    pub generation: u32,
    /// Events replayed after the snapshot.
    pub events: u32,
    /// An operation that a power cut had interrupted was completed: the erase of a journal, or forgetting.
    pub repaired: bool,
    /// Bytes that are not an event follow the last event. Two causes look the same: a power cut during the
    /// write of an unacknowledged event, and damage to the last acknowledged event.
    pub torn: bool,
    /// A page with acknowledged events is [lost](super#damage). The user is in an earlier state, and the
    /// device may continue from it. This is reported at every start until the next event or snapshot is
    /// stored.
    pub rolled_back: bool,
}

/// The records that the state is restored from.
#[derive(Clone, Copy)]
enum Found {
    /// The journal alone.
    Start(Header),
    /// A snapshot and the journal after it.
    Snapshot(Active, Verified),
}

impl<F, const PRIOR: bool> FlashStore<F, PRIOR> {
    /// Checks that the longest snapshot fits into a slot. Otherwise the first compaction would fail, weeks
    /// later.
    pub(super) fn admit<T: Scalar>(&self, policy: &Policy<'_, T>, capacity: usize) -> Result<(), FlashError> {
        let needed = max_len::<T>(policy.catalog(), capacity);
        let fits = needed <= self.layout.snapshot_len() as usize;
        if fits {
            Ok(())
        } else {
            Err(FlashError::SlotTooSmall { needed: u32::try_from(needed).unwrap_or(u32::MAX) })
        }
    }
}

#[blocking(impl<F: BlockingNorFlash, const PRIOR: bool> FlashStore<Blocking<F>, PRIOR>)]
impl<F: NorFlash, const PRIOR: bool> FlashStore<F, PRIOR> {
    /// Erases the region and creates a store for a user, whose state is the policy's prior. `capacity` is the
    /// learner's `R`.
    ///
    /// # Errors
    /// [`FlashError::SlotTooSmall`] for a layout of a smaller catalog or capacity. The region is untouched
    /// then. A flash that fails. The region has to be formatted again then.
    pub async fn format<T: Scalar>(
        &mut self,
        policy: &Policy<'_, T>,
        user: u64,
        capacity: u16,
    ) -> Result<(), FlashError> {
        self.state = State::Closed;
        self.admit(policy, capacity.into())?;
        self.erases = 0;
        // From the first page on: without its first page an old journal is void, with any marks.
        self.erase(self.layout.region()).await?;
        self.priors = Priors::begun(None, true);
        self.header = Header::new(Kind::Journal, policy, user, capacity);
        self.active = None;
        self.generation = 0;
        self.base = 0;
        self.purge = false;
        self.staged = None;
        (self.replies, self.allowance) = (ReplyCache::EMPTY, super::wear::MAX_ALLOWANCE);
        let started = self.restart_journal().await;
        if started.is_err() {
            self.state = State::Closed;
        }
        started
    }

    /// Clears the learner and restores it: the newest whole snapshot and the events after it.
    ///
    /// # Errors
    /// The learner is cleared after an error.
    ///
    /// | Error | Cause |
    /// |---|---|
    /// | [`FlashError::Unformatted`], [`FlashError::Foreign`] | the region is not a store, and is unchanged |
    /// | [`FlashError::SlotTooSmall`] | as for [`format`](Self::format) |
    /// | [`FlashError::Record`] | records of another version, scalar, catalog or settings |
    /// | [`FlashError::Damaged`] | acknowledged events are lost |
    pub async fn restore<T: Scalar, S: Storage<T>, const R: usize>(
        &mut self,
        policy: &Policy<'_, T>,
        learner: &mut Learner<T, S, R>,
        workspace: &mut (impl AsMut<[T]> + ?Sized),
    ) -> Result<Restored, FlashError> {
        learner.clear();
        let restored = self.open(policy, learner, workspace).await;
        if restored.is_err() {
            self.state = State::Closed;
            learner.clear();
        }
        #[cfg(feature = "defmt")]
        match &restored {
            Ok(restored) => defmt::info!("{}", restored),
            Err(error) => defmt::warn!("not restored: {}", error),
        }
        restored
    }

    async fn open<T: Scalar, S: Storage<T>, const R: usize>(
        &mut self,
        policy: &Policy<'_, T>,
        learner: &mut Learner<T, S, R>,
        workspace: &mut (impl AsMut<[T]> + ?Sized),
    ) -> Result<Restored, FlashError> {
        (self.state, self.cache, self.staged) = (State::Closed, super::journal::no_cache(), None);
        self.admit(policy, R)?;
        self.begin(policy, learner).await?;
        self.catch_up(&mut learner.bind(policy, workspace)?).await
    }

    /// Brings a cleared learner to the begin of the journal. Its stack frame ends before events are replayed.
    #[inline(never)]
    async fn begin<T: Scalar, S: Storage<T>, const R: usize>(
        &mut self,
        policy: &Policy<'_, T>,
        learner: &mut Learner<T, S, R>,
    ) -> Result<(), FlashError> {
        match self.find(policy).await? {
            Found::Start(header) => Ok(learner.start_journal(policy, &header)?),
            Found::Snapshot(active, verified) => self.load(active, learner.load(policy, verified)?).await,
        }
    }

    /// Replays the journal, and completes operations that a power cut has interrupted.
    async fn catch_up<T: Scalar>(&mut self, user: &mut User<'_, T>) -> Result<Restored, FlashError> {
        let (generation, events, mut repaired) = (self.generation, self.events, self.state == State::Stale);
        let (mut forgot, mut torn, mut begun, mut pages) = (false, false, true, 0);
        self.replies.note_loaded(user.state().rounds());
        if self.state == State::Ready {
            let (mut replies, mut allowance) = (self.replies, self.allowance);
            let mut take = |item: &Item<'_>| {
                if item.event.is_empty() {
                    allowance = allowance.saturating_sub(super::wear::ERASE_COST);
                } else {
                    forgot |= replay(user, item, &mut replies)?;
                    allowance = super::wear::more(allowance);
                }
                Ok(true)
            };
            let end = self.walk(&mut take).await?;
            (self.replies, self.allowance) = (replies, allowance);
            (torn, begun) = (end.torn, end.begun);
            // A journal whose pages were exchanged is not read to its end.
            pages = if self.pages_to(end.first) == 1 { self.pages_to(end.last) } else { 0 };
        }
        self.read_marks().await?;
        let rolled_back = pages < self.marked;
        if rolled_back {
            // The marks fit no later journal, so a snapshot has to follow. Its number is past the numbers of
            // the lost events.
            (self.state, repaired) = (State::Broken, false);
            self.next = self.next.saturating_add(self.layout.journal().len() as u32);
        } else if !begun || self.mark(pages).await.is_err() {
            self.state = State::Broken; // before the next event a snapshot and a new journal are written
        }
        if forgot {
            (self.purge, repaired) = (true, true);
            self.compact(user).await?;
        } else if self.state == State::Stale {
            self.restart_journal().await?;
        }
        if self.purge {
            // The snapshot requests the erase.
            let older = self.layout.slot(self.inactive());
            if !self.is_blank(older.clone()).await? {
                self.erase(older).await?;
                repaired = true;
            }
            self.purge = false;
        }
        Ok(Restored { user: self.header.user, generation, events, repaired, torn, rolled_back })
    }

    /// Chooses the snapshot and the journal, and checks that they belong together.
    #[inline(never)]
    async fn find<T: Scalar>(&mut self, policy: &Policy<'_, T>) -> Result<Found, FlashError> {
        let commits = [self.read_commit(0).await?, self.read_commit(1).await?];
        let begin = self.read_begin().await?;
        self.erases = 0;
        if let Ok(begin) = begin {
            if begin.shape != self.layout.shape() {
                return Err(FlashError::Layout);
            }
            self.erases = begin.erases;
        } else if let (Err(error), [None, None]) = (begin, commits) {
            let blank = matches!(error, FlashError::Foreign) && self.is_blank(self.layout.region()).await?;
            return Err(if blank { FlashError::Unformatted } else { error });
        }
        // A journal with half-erased pages cannot be read. That is an error only if the journal is needed.
        let (contents, broken) = match self.contents().await {
            Err(FlashError::Damaged) => (Contents::default(), true),
            contents => (contents?, false),
        };
        (self.events, self.used, self.unverified) = (contents.events, contents.used, true);
        let mut damaged = false;
        for (slot, commit) in newest_first(commits).into_iter().flatten() {
            let active = Active { slot, len: commit.len };
            let verified = match self.verify(policy, active).await? {
                Ok(verified) => verified,
                // Next to a damaged snapshot, a snapshot from before a migration does not tell what was lost.
                Err(
                    error @ (RecordError::Catalog
                    | RecordError::Policy
                    | RecordError::Scalar { .. }
                    | RecordError::Unsupported
                    | RecordError::Version { .. }),
                ) if !damaged => return Err(error.into()),
                Err(_) => {
                    damaged = true;
                    continue;
                }
            };
            let behind = begin.map_or(contents.first.unwrap_or(commit.base), |begin| begin.base);
            let live = behind == commit.base && (begin.is_ok() || contents.events > 0);
            let sound = if live {
                !broken && contents.follow(commit.base)
            } else {
                contents.events == 0 || contents.last < commit.base
            };
            if behind > commit.base || !sound || (damaged && !live) {
                return Err(FlashError::Damaged);
            }
            self.header = self.snapshot_header(active).await?;
            self.state = if live { State::Ready } else { State::Stale };
            (self.active, self.generation, self.base) = (Some(active), commit.generation, commit.base);
            self.next = commit.base.saturating_add(if live { contents.events } else { 0 });
            (self.events, self.used) = if live { (contents.events, contents.used) } else { (0, 0) };
            self.erases = self.erases.max(commit.erases);
            self.purge = commit.purge;
            self.allowance = commit.allowance;
            self.read_reply_cache(slot).await?;
            self.find_priors(commit.prior, commit.fresh).await?;
            return Ok(Found::Snapshot(active, verified));
        }
        match begin {
            Ok(begin) if begin.base == 0 && !broken && contents.follow(0) => {
                begin.header.admit(Kind::Journal, policy)?;
                (self.state, self.header, self.purge) = (State::Ready, begin.header, false);
                (self.active, self.generation, self.base, self.next) = (None, 0, 0, contents.events);
                (self.replies, self.allowance) = (ReplyCache::EMPTY, super::wear::MAX_ALLOWANCE);
                self.find_priors(None, true).await?;
                Ok(Found::Start(begin.header))
            }
            _ => Err(FlashError::Damaged),
        }
    }
}

/// Applies a stored event and restores the reply of its request. Returns true if the event forgets the user.
///
/// Reading and applying each have a stack frame apart from the frame of the event, because all three are
/// large.
#[inline(never)]
fn replay<T: Scalar>(
    user: &mut User<'_, T>,
    item: &Item<'_>,
    replies: &mut ReplyCache,
) -> Result<bool, FlashError> {
    let mut event = Event::Forget { guarantee_fingerprint: 0 };
    read(user.policy().catalog(), item.event, &mut event).map_err(|error| match error {
        RecordError::Unsupported => FlashError::Record(error),
        _ => FlashError::Damaged,
    })?;
    replies.replay(user, &event, item.request_id).map_err(|error| match error {
        UserError::Unsupported => FlashError::User(error),
        _ => FlashError::Damaged,
    })?;
    Ok(matches!(event, Event::Forget { .. }))
}

#[inline(never)]
fn read(catalog: &Catalog<'_>, bytes: &[u8], place: &mut Event) -> Result<(), RecordError> {
    decode_event_into(catalog, bytes, place)
}

/// Returns the committed slots in the order in which they are tried.
pub(super) fn newest_first([first, second]: [Option<Commit>; 2]) -> [Option<(usize, Commit)>; 2] {
    let generation = |commit: Option<Commit>| commit.map_or(0, |commit| commit.generation);
    let (first_generation, second_generation) = (generation(first), generation(second));
    let (first, second) = (first.map(|commit| (0, commit)), second.map(|commit| (1, commit)));
    if first_generation >= second_generation { [first, second] } else { [second, first] }
}
