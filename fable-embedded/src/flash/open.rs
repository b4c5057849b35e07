//! Finding out what is in the region, and restoring a learner from it.

use super::error::FlashError;
use super::journal::{Contents, Item};
use super::prior::Priors;
use super::slot::Commit;
use super::{Active, Blocking, FlashStore, State};
use crate::receipt::{Deed, Receipts};
use embedded_storage::nor_flash::NorFlash as BlockingNorFlash;
use embedded_storage_async::nor_flash::NorFlash;
use fable_core::journal::Event;
use fable_core::posterior::Storage;
use fable_core::record::{Header, Kind, RecordError, Verified, decode_event_into, snapshot::max_len};
use fable_core::{Catalog, Learner, Policy, Scalar, User, UserError};
use fable_forms::blocking;

/// What was restored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Restored {
    /// The user.
    pub user: u64,
    /// Which snapshot was loaded; 0 when the journal goes back to the start.
    pub generation: u32,
    /// Events replayed after it.
    pub events: u32,
    /// A power cut had left something to finish: a journal to erase, a user to forget.
    pub repaired: bool,
    /// Something that is not an event stands after the last one. The power was cut while an event was written that was not
    /// acknowledged; if it was not, then the last event that was is damaged and lost. The two look the same.
    pub torn: bool,
    /// A page is [lost](super#damage), blank or with what was there before, and with it acknowledged events: the user is one of
    /// before, from which the device may go on. It is said at every start until the next event or snapshot is stored.
    pub rolled_back: bool,
}

/// What the state is made of.
#[derive(Clone, Copy)]
enum Found {
    /// The journal alone.
    Start(Header),
    /// A snapshot, and the journal after it.
    Snapshot(Active, Verified),
}

impl<F, const PRIOR: bool> FlashStore<F, PRIOR> {
    /// Whether the longest snapshot fits into a slot. What does not would be noticed at the first compaction, weeks later.
    pub(super) fn admit<T: Scalar>(&self, policy: &Policy<'_, T>, room: usize) -> Result<(), FlashError> {
        let needed = max_len::<T>(policy.catalog(), room);
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
    /// Erases the region and begins a store for a user, with the policy's prior as its state; `room` is the learner's `R`.
    ///
    /// # Errors
    /// [`FlashError::SlotTooSmall`] for a layout that was made for a smaller catalog or less room; nothing was touched then. A
    /// flash that fails; the region has to be formatted again then.
    pub async fn format<T: Scalar>(
        &mut self,
        policy: &Policy<'_, T>,
        user: u64,
        room: u16,
    ) -> Result<(), FlashError> {
        self.state = State::Closed;
        self.admit(policy, room.into())?;
        self.erases = 0;
        // From the first page on: without it an old journal counts no more, whatever becomes of its marks.
        self.erase(self.layout.region()).await?;
        self.priors = Priors::begun(None, true);
        self.header = Header::new(Kind::Journal, policy, user, room);
        self.active = None;
        self.generation = 0;
        self.base = 0;
        self.purge = false;
        self.staged = None;
        (self.receipts, self.allowance) = (Receipts::NONE, super::wear::FULL);
        let renewed = self.renew().await;
        if renewed.is_err() {
            self.state = State::Closed;
        }
        renewed
    }

    /// Restores the learner, whatever it held before: the newest whole snapshot, and the events after it.
    ///
    /// # Errors
    /// [`FlashError::Unformatted`] and [`FlashError::Foreign`] for a region that is not a store and was not touched;
    /// [`FlashError::SlotTooSmall`], as for [`format`](Self::format); [`FlashError::Record`] for records of another version,
    /// scalar, catalog or settings; [`FlashError::Damaged`]. The learner is vacant then.
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
        (self.state, self.cache, self.staged) = (State::Closed, super::no_cache(), None);
        self.admit(policy, R)?;
        self.begin(policy, learner).await?;
        self.catch_up(&mut learner.bind(policy, workspace)?).await
    }

    /// Brings a vacant learner to where the journal begins. In a stack frame of its own, which is gone when events are replayed.
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

    /// Replays the journal, and finishes what a power cut has left.
    async fn catch_up<T: Scalar>(&mut self, user: &mut User<'_, T>) -> Result<Restored, FlashError> {
        let (generation, events, mut repaired) = (self.generation, self.events, self.state == State::Stale);
        let (mut forgot, mut torn, mut begun, mut pages) = (false, false, true, 0);
        self.receipts.restored(user.state().rounds());
        if self.state == State::Ready {
            let (mut receipts, mut allowance) = (self.receipts, self.allowance);
            let mut take = |item: &Item<'_>| {
                if item.event.is_empty() {
                    allowance = allowance.saturating_sub(super::wear::COST);
                } else {
                    forgot |= replay(user, item, &mut receipts)?;
                    allowance = super::wear::more(allowance);
                }
                Ok(true)
            };
            let end = self.walk(&mut take).await?;
            (self.receipts, self.allowance) = (receipts, allowance);
            (torn, begun) = (end.torn, end.begun);
            // Pages that have changed places are not walked to their end.
            pages = if self.pages_to(end.first) == 1 { self.pages_to(end.last) } else { 0 };
        }
        self.read_marks().await?;
        let rolled_back = pages < self.marked;
        if rolled_back {
            // The marks are true of no journal that could follow; a snapshot has its own. Its number is past those that are lost.
            (self.state, repaired) = (State::Spent, false);
            self.next = self.next.saturating_add(self.layout.journal().len() as u32);
        } else if !begun || self.mark(pages).await.is_err() {
            self.state = State::Spent; // the next event brings a snapshot and a sound journal
        }
        if forgot {
            (self.purge, repaired) = (true, true);
            self.compact(user).await?;
        } else if self.state == State::Stale {
            self.renew().await?;
        }
        if self.purge {
            // The snapshot asked for it.
            let older = self.layout.slot(self.inactive());
            if !self.is_blank(older.clone()).await? {
                self.erase(older).await?;
                repaired = true;
            }
            self.purge = false;
        }
        Ok(Restored { user: self.header.user, generation, events, repaired, torn, rolled_back })
    }

    /// Chooses snapshot and journal and checks that they belong together.
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
        // Pages that were being erased cannot be walked over: that is as it should be, unless the journal counts.
        let (contents, broken) = match self.contents().await {
            Err(FlashError::Damaged) => (Contents::default(), true),
            contents => (contents?, false),
        };
        (self.events, self.used, self.unproved) = (contents.events, contents.used, true);
        let mut damaged = false;
        for (slot, commit) in newest_first(commits).into_iter().flatten() {
            let active = Active { slot, len: commit.len };
            let verified = match self.verify(policy, active).await? {
                Ok(verified) => verified,
                // Next to a damaged one an older snapshot of before a migration says nothing about what was lost.
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
            self.read_receipt(slot).await?;
            self.look(commit.prior, commit.fresh).await?;
            return Ok(Found::Snapshot(active, verified));
        }
        match begin {
            Ok(begin) if begin.base == 0 && !broken && contents.follow(0) => {
                begin.header.admit(Kind::Journal, policy)?;
                (self.state, self.header, self.purge) = (State::Ready, begin.header, false);
                (self.active, self.generation, self.base, self.next) = (None, 0, 0, contents.events);
                (self.receipts, self.allowance) = (Receipts::NONE, super::wear::FULL);
                self.look(None, true).await?;
                Ok(Found::Start(begin.header))
            }
            _ => Err(FlashError::Damaged),
        }
    }
}

/// Applies a stored event and takes note of the request that it comes from; whether it forgets the user.
///
/// Reading and learning each have a stack frame of their own, apart from that of the event: all are large.
#[inline(never)]
fn replay<T: Scalar>(
    user: &mut User<'_, T>,
    item: &Item<'_>,
    receipts: &mut Receipts,
) -> Result<bool, FlashError> {
    let mut event = Event::Forget { guarantee_fingerprint: 0 };
    read(user.policy().catalog(), item.event, &mut event).map_err(|error| match error {
        RecordError::Unsupported => FlashError::Record(error),
        _ => FlashError::Damaged,
    })?;
    learn(user, &event).map_err(|error| match error {
        UserError::Unsupported => FlashError::User(error),
        _ => FlashError::Damaged,
    })?;
    receipts.note(item.ticket, Deed::of(&event), user);
    Ok(matches!(event, Event::Forget { .. }))
}

#[inline(never)]
fn read(catalog: &Catalog<'_>, bytes: &[u8], place: &mut Event) -> Result<(), RecordError> {
    decode_event_into(catalog, bytes, place)
}

#[inline(never)]
fn learn<T: Scalar>(user: &mut User<'_, T>, event: &Event) -> Result<(), UserError> {
    user.check(event)?.apply();
    Ok(())
}

/// The committed slots in the order in which they are tried.
pub(super) fn newest_first([first, second]: [Option<Commit>; 2]) -> [Option<(usize, Commit)>; 2] {
    let generation = |commit: Option<Commit>| commit.map_or(0, |commit| commit.generation);
    let (first_generation, second_generation) = (generation(first), generation(second));
    let (first, second) = (first.map(|commit| (0, commit)), second.map(|commit| (1, commit)));
    if first_generation >= second_generation { [first, second] } else { [second, first] }
}
