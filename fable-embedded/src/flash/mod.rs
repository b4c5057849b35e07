//! One user's state in NOR flash: a journal of events, two snapshot slots, and no moment at which a power cut loses anything.
//!
//! The state is a snapshot and the events after it. A [`Device`](crate::Device) has each event appended to the journal before
//! it is applied; when the journal is full the state is streamed as a snapshot into the slot that is not in use, and the
//! journal begins anew. [`restore`](FlashStore::restore) loads the newest whole snapshot and replays the events after it: the
//! same bits. Power may fail at any byte of any write or erase; what was acknowledged is there afterwards, and what was not is
//! there whole or not at all.
//!
//! ```
//! use fable_core::record::snapshot::max_len;
//! use fable_core::{Action, Learner, Policy, Settings, Workspace, catalog::TAU2, user_hash};
//! use fable_embedded::flash::{Blocking, FlashStore, Layout, FlashError};
//! use fable_embedded::{Device, mock::Mock};
//!
//! type Flash = Mock<4, 1024>; // a driver with the blocking traits
//! const LAYOUT: Layout = Layout::new::<Blocking<Flash>>(0, 16 * 1024, max_len::<f32>(&TAU2, 8));
//!
//! let policy = Policy::new(&TAU2, Settings::default())?;
//! let mut learner: Learner<f32, [f32; TAU2.state_len()], 8> = const { Learner::new(&TAU2) }; // a `static` on a device
//! let mut workspace: Workspace<f32, [f32; TAU2.workspace_len()]> = const { Workspace::new(&TAU2) };
//! let mut store = FlashStore::new(Blocking(Flash::new(16)), LAYOUT);
//!
//! // At the start: restore, and format only what is not a store yet.
//! let restored = store.restore(&policy, &mut learner, &mut workspace);
//! assert_eq!(restored, Err(FlashError::Unformatted));
//! store.format(&policy, user_hash("ana"), 8)?;
//! store.restore(&policy, &mut learner, &mut workspace)?;
//!
//! let mut device = Device::new(learner.bind(&policy, &mut workspace)?, &mut store);
//! device.observe(&TAU2.context(None, [])?, Action(3), 0.5)?;
//!
//! // After a reset everything is there.
//! let mut again = learner.clone();
//! let mut store = FlashStore::new(store.into_flash(), LAYOUT);
//! let restored = store.restore(&policy, &mut again, &mut workspace)?;
//! assert_eq!((restored.events, again == learner), (1, true));
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```
//!
//! Over a driver with the traits of `embedded-storage-async` the same functions are asynchronous; [`Blocking`] makes them plain
//! ones, which take less flash and less stack. Both forms are one text and leave the same bytes.
//!
//! # What is stored
//!
//! [`Layout`] says where. The journal's first item and every snapshot carry the [header](Header) with version, scalar,
//! fingerprint and user, so one of them always says whose region it is: the slot is committed before the journal is erased, and
//! a region without either is not a store. Every event has a sequence number, every journal and every snapshot the number
//! that it begins at. The numbers decide after a cut: a journal that begins at the newest snapshot's number is replayed, an older one
//! was on its way to be erased and is, a newer one belongs to a snapshot that is lost ([`FlashError::Damaged`]).
//!
//! Forgetting is an event like any other until it is stored. From then on the user is forgotten, also through a power cut;
//! the state at the prior is written as a snapshot that asks for everything older to be erased, and `restore` finishes what is left of that.
//!
//! # Priors
//!
//! A store with `PRIOR` also has a place for a prior: what a population has in common, which a host has fitted. It is not the
//! user's and is there after forgetting. The user goes on with the prior it began from, whatever a host loads; an incarnation
//! begins from the one that was loaded last, at the next forgetting, or at once if nothing has happened in it yet. Of two slots
//! one has the prior in use and the other the next one. A policy borrows the numbers of its prior and a fingerprint covers them, so
//! a user belongs to one prior as to one catalog, and a host that reads the prior too can replay the journal. Where the flash
//! is mapped into memory the numbers are borrowed as they lie there, otherwise they are copied to RAM:
//!
//! ```
//! # use core::ops::Range;
//! # use fable_core::record::{encode_prior, prior::prior_len, snapshot::max_len};
//! # use fable_core::catalog::TAU2;
//! # use fable_core::posterior::{Factor, Prior};
//! # use fable_core::settings::SettingsError;
//! # use fable_core::{Learner, Policy, Settings, Workspace, user_hash};
//! # use fable_embedded::flash::{Blocking, FlashStore, Layout};
//! # use fable_embedded::{Device, Keep, mock::Mock};
//! # type Flash = Mock<4, 1024>;
//! const LAYOUT: Layout =
//!     Layout::with_prior::<Blocking<Flash>>(0, 24 * 1024, max_len::<f32>(&TAU2, 8), prior_len::<f32>(&TAU2));
//! type Store = FlashStore<Blocking<Flash>, true>;
//!
//! /// The policy with the prior whose numbers lie there; on a device with mapped flash a slice of it instead of a copy.
//! fn policy(store: &mut Store, numbers: Option<Range<u32>>) -> Result<Policy<'static, f32>, Box<dyn core::error::Error>> {
//!     let Some(numbers) = numbers else { return Ok(Policy::new(&TAU2, Settings::default())?) };
//!     let mut packed = vec![0.0; TAU2.layout().packed_len()];
//!     store.copy_prior(numbers, &mut packed)?;
//!     let factor = Factor::new(TAU2.layout(), packed.leak(), &mut vec![0.0; TAU2.workspace_len()])?;
//!     Ok(Policy::with_prior(&TAU2, Settings::default(), Prior::Factor(factor))?)
//! }
//!
//! # let mut learner: Learner<f32, [f32; TAU2.state_len()], 8> = const { Learner::new(&TAU2) };
//! # let mut workspace: Workspace<f32, [f32; TAU2.workspace_len()]> = const { Workspace::new(&TAU2) };
//! # let mut store = Store::over(Blocking(Flash::new(24)), LAYOUT);
//! # let mut base = Policy::<f32>::new(&TAU2, Settings::default())?;
//! # store.format(&base, user_hash("ana"), 8)?;
//! // At the start: the policy of the user that is there.
//! let numbers = store.prior(&base)?;
//! let mut now = policy(&mut store, numbers)?;
//! store.restore(&now, &mut learner, &mut workspace)?;
//! # let mut packed = vec![0.0_f32; TAU2.layout().packed_len()];
//! # packed[..TAU2.dimension()].fill(0.25);
//! # let factor = Factor::new(TAU2.layout(), &packed, &mut vec![0.0; TAU2.workspace_len()])?;
//! # let bytes = encode_prior(&Policy::with_prior(&TAU2, Settings::default(), Prior::Factor(factor))?).unwrap();
//! # store.stage_write(0, &bytes)?;
//! # store.commit_prior(&now, bytes.len() as u32)?;
//!
//! // Whenever `serve` has ended, or the application has forgotten the user: a new incarnation, perhaps under another prior.
//! if store.outdated() {
//!     let numbers = store.next_prior(&now)?;
//!     now = policy(&mut store, numbers)?;
//!     store.adopt(&now, &mut learner, &mut workspace)?;
//! }
//! let device = Device::new(learner.bind(&now, &mut workspace)?, &mut store);
//! # assert_ne!(device.user().policy().fingerprint(), base.fingerprint());
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```
//!
//! Between forgetting and [`adopt`](FlashStore::adopt) no event is stored ([`FlashError::Outdated`]). A prior from a host is
//! verified before it counts: catalog, settings, scalar, checksum, and each number by itself. Whether the numbers together
//! describe a distribution is what [`Factor::new`](fable_core::posterior::Factor::new) finds, at the host and again before a policy has them.
//!
//! # Updates
//!
//! Firmware of another catalog finds records that it cannot read: [`RecordError::Catalog`](fable_core::record::RecordError::Catalog), or
//! `Policy` for other settings. They are whole, and nothing was touched. If it carries the old catalog too (a constant that `fable catalog rust`
//! has made), it migrates the user, feature `migrate`; costs, default scores and texts change without that.
//!
//! ```
//! # use fable_core::catalog::{Block, Catalog, Component, Definition, Value};
//! # use fable_core::record::{RecordError, snapshot::max_len};
//! # use fable_core::migrate::Migration;
//! # use fable_core::{Learner, Policy, Settings, Workspace, user_hash};
//! # use fable_embedded::flash::{Blocking, FlashError, FlashStore, Layout};
//! # use fable_embedded::mock::Mock;
//! # type Flash = Mock<4, 1024>;
//! # const BLOCKS: &[Block] = &[Block::main(0)];
//! # const fn lamp(components: &'static [Component<'static>]) -> Definition<'static> {
//! #     Definition { name: "lamp", components, blocks: BLOCKS, ..Definition::EMPTY }
//! # }
//! # const WARM: Value<'static> = Value::new("warm", "", 0.0);
//! # const DIM: Value<'static> = Value::new("dim", "", 0.0);
//! # const COLD: Value<'static> = Value::new("cold", "", 0.0);
//! const V1: Catalog<'static> = Catalog::new(lamp(&[Component::new("light", &[WARM, COLD])]));
//! const V2: Catalog<'static> = Catalog::new(lamp(&[Component::new("light", &[WARM, DIM, COLD])]));
//! // The layout of the first firmware, with slots that have room for what comes later.
//! const LAYOUT: Layout = Layout::new::<Blocking<Flash>>(0, 8 * 1024, 1500);
//! # let old = Policy::<f32>::new(&V1, Settings::default())?;
//! # let mut store = FlashStore::new(Blocking(Flash::new(8)), LAYOUT);
//! # store.format(&old, user_hash("ana"), 8)?;
//!
//! let policy = Policy::<f32>::new(&V2, Settings::default())?;
//! let mut learner: Learner<f32, [f32; V2.state_len()], 8> = const { Learner::new(&V2) };
//! let mut before: Learner<f32, [f32; V1.state_len()], 8> = const { Learner::new(&V1) }; // for the migration only
//! let mut workspace: Workspace<f32, [f32; V2.workspace_len()]> = const { Workspace::new(&V2) }; // the larger of the two
//! let restored = match store.restore(&policy, &mut learner, &mut workspace) {
//!     Err(FlashError::Record(RecordError::Catalog | RecordError::Policy)) => {
//!         let old = Policy::<f32>::new(&V1, Settings::default())?;
//!         let migration = Migration::new(&old, &policy, &[])?;
//!         let (restored, migrated) = store.migrate(&migration, &mut before, &mut learner, &mut workspace)?;
//!         assert_eq!((migrated.kept, migrated.added), (2, 1));
//!         restored
//!     }
//!     restored => restored?,
//! };
//! # assert_eq!(restored.user, user_hash("ana"));
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```
//!
//! Firmware that begins with [`start`](FlashStore::start) has `start_from` for this, which knows the installation's seed.
//!
//! A migration leaves a snapshot where the journal was, so a host that keeps the journals of its devices reads this one (`fable device sync`)
//! before the update. The reply to the last request before it is not kept: its answer is of the old catalog. A host that resends this very request
//! to the new firmware has it executed again, as far as the new catalog can say it.
//!
//! The region keeps its layout. The migrated user is written as a snapshot into the slot that is not in use, and its commit record is the
//! moment at which the region is the new firmware's. Power may fail before or after it: one of the two catalogs finds its user whole, and the
//! next start does what is left. The firmware of before cannot read the region any more after that.
//!
//! A prior in flash is of the old catalog and does not go along: the user keeps what it contributed, and begins from the new
//! policy's own prior after forgetting until a host has loaded another one.
//!
//! # Wear
//!
//! A compaction erases every page of the journal and a slot; [`Layout::lifetime`] says how many years of use that is. A host can
//! ask for erasures directly: to stage from offset 0, to forget, to remove a prior. Those are allowed 16 times, and once more for every
//! 256 events that were stored since; each is noted in the journal before anything is erased, so a reset gives none back.
//! The application's own verbs are not limited.
//!
//! | request | pages erased |
//! |---|---|
//! | decide, feedback, observe, unlearn, onboard, wish, promote, expire | each page of the journal once when it is full, and one of the slots |
//! | stage from offset 0 | those of one slot |
//! | commit a snapshot that was staged | each page of the journal |
//! | commit a prior that was staged, remove one | those of one prior's slot; if it begins to count at once, as for forget |
//! | forget | each page of the journal and both slots; twice if another prior waits |
//!
//! Where a journal takes `e` events, a port that only wants to do harm has a page erased 32 times, and then at most three times in
//! `min(e, 256)` events. How fast events come is a matter of the line, the flash and the processor: a micro:bit with
//! `tau2` and 10 KB of journal decides some 10 times a second and is full after 200 decisions, so its flash, made for 10,000 erase
//! cycles, lasts two days of nothing but abuse. The device cannot know what a decision is worth. An application whose port may
//! babble says how many requests that write it takes in its own time, with [`Server::limit`](crate::Server::limit): at 1,000 a day
//! the same part lasts a year and a half of abuse.
//!
//! # Damage
//!
//! Damage, unlike a cut, loses acknowledged events, so it is reported and never passed over: a wrong checksum in a snapshot that
//! is needed, a gap in the sequence, a changed bit in the prior that the user began from are [`FlashError::Damaged`]. One case
//! looks like a cut and cannot be told from it: a bit that flips in the very last event of the journal. It is not used, and
//! [`Restored::torn`] says that there was something.
//!
//! A page may be lost as a whole: blank, or with what it held before it was last erased. Each part of the region is vouched for
//! in another page. The journal says from which snapshot it goes on, so a snapshot that is lost is missed; the snapshot's slot
//! has a mark for each page that the journal has reached, so a journal that ends too early, or is not there at all, is
//! noticed. The user is restored as far as the journal goes, and [`Restored::rolled_back`] says that this is a user of before.
//! It costs a word of flash for each page that is filled and nothing for an event. No power cut is taken for a lost page. What
//! is reported as lost may be there after all where damage has hit a snapshot whose journal was not erased yet, or the first
//! record of a journal without events.
//!
//! Not seen is:
//!
//! - the newest page of the journal as it was earlier in the same journal, with its first event and without its last ones. To
//!   see that, every event would have to be noted in a second page;
//! - the whole region as it was earlier, or blank ([`FlashError::Unformatted`]): nothing outside it is written;
//! - before the first snapshot, the newest page of the journal and the first page of slot 1 lost together. Later the marks are in
//!   the page of the commit record, which is missed itself;
//! - the prior that waits for the next incarnation, which is not the user's: a host that loads priors can read it back.
//!
//! `tests/it/lost.rs` blanks, sets back and exchanges every page, at many moments of a life and after power cuts.

mod blocking;
mod error;
mod journal;
mod keep;
mod layout;
mod mark;
mod medium;
#[cfg(feature = "migrate")]
mod migrate;
mod open;
mod prior;
mod seed;
mod slot;
mod start;
mod wear;

pub use blocking::{Blocking, block_on};
pub use error::{FlashError, LayoutError};
pub use layout::Layout;
pub use medium::Flash;
pub use open::Restored;
pub use seed::{
    Seed, read_seed, read_seed_async, settle_seed, settle_seed_async, write_seed, write_seed_async,
};
#[cfg(feature = "migrate")]
pub use start::Before;
pub use start::StartError;

use crate::receipt::Receipts;
use embedded_storage::nor_flash::NorFlash as BlockingNorFlash;
use embedded_storage_async::nor_flash::NorFlash;
use fable_core::record::{Header, Kind};
use fable_core::{Scalar, User};
use fable_forms::blocking;
use journal::{JournalCache, MAX_ITEM_LEN, NOTE, no_cache};
use layout::MAX_WORD;
use medium::Medium;
use prior::Priors;

/// Where the store stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Nothing is known about the region.
    Closed,
    /// The journal takes events.
    Ready,
    /// All events are in the snapshot; the journal has to be erased.
    Stale,
    /// A write failed; the journal has to be replaced by a snapshot.
    Spent,
}

/// The snapshot that the journal goes on from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Active {
    slot: usize,
    len: u32,
}

/// Bytes that drivers which move words may read.
#[repr(align(8))]
#[derive(Clone, Copy)]
struct Bytes<const N: usize>([u8; N]);

/// Counts for a log or a status line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Statistics {
    /// Snapshots written since the region was formatted.
    pub generation: u32,
    /// Events in the journal.
    pub events: u32,
    /// Bytes left for events before the journal is compacted, about: what a page loses at its end is not counted.
    pub free: u32,
    /// Sequence number of the next event.
    pub next: u32,
    /// Pages erased since the region was formatted. Erases since the last snapshot are lost to a power cut.
    pub erases: u32,
}

/// One user's state in a region of flash, and with `PRIOR` the [prior](self#priors) that users begin from.
pub struct FlashStore<F, const PRIOR: bool = false> {
    medium: Medium<F>,
    layout: Layout,
    cache: JournalCache,
    header: Header,
    state: State,
    active: Option<Active>,
    generation: u32,
    /// Sequence number that the journal begins at.
    base: u32,
    /// Of the next event.
    next: u32,
    events: u32,
    /// Bytes of the journal that they take.
    used: u32,
    erases: u32,
    /// Pages that the journal has reached, as the slot's marks say.
    marked: u32,
    /// No event was stored since the restart.
    unproved: bool,
    /// All that is older than the state has to be erased.
    purge: bool,
    /// Staged bytes; those of the last, incomplete word are in `carry`.
    staged: Option<u32>,
    priors: Priors,
    receipts: Receipts,
    /// What hosts may have erased, in events (`wear.rs`).
    allowance: u16,
    carry: Bytes<MAX_WORD>,
    buffer: Bytes<{ MAX_ITEM_LEN.next_multiple_of(MAX_WORD) }>,
}

/// Constants, so that dividing by them cannot panic.
impl<F: Flash, const PRIOR: bool> FlashStore<F, PRIOR> {
    const WORD: usize = F::WORD;
    const PAGE: usize = F::PAGE;
}

impl<F> FlashStore<F> {
    /// A store over a region; [`restore`](Self::restore) or [`format`](Self::format) it before use. Nothing is read or written.
    #[must_use]
    pub fn new(flash: F, layout: Layout) -> Self {
        Self::over(flash, layout)
    }
}

impl<F, const PRIOR: bool> FlashStore<F, PRIOR> {
    /// The same, with `PRIOR` as it is asked for: a store with a place for a prior wants a [layout](Layout::with_prior) with one.
    #[must_use]
    pub fn over(flash: F, layout: Layout) -> Self {
        Self {
            medium: Medium(flash),
            layout,
            cache: no_cache(),
            header: Header {
                kind: Kind::Journal,
                digits: 0,
                room: 0,
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
            unproved: true,
            purge: false,
            staged: None,
            priors: Priors::NONE,
            receipts: Receipts::NONE,
            allowance: 0,
            carry: Bytes([0xff; MAX_WORD]),
            buffer: Bytes([0xff; _]),
        }
    }

    /// The flash, with all that is stored.
    pub fn into_flash(self) -> F {
        self.medium.0
    }

    /// The flash, to share it; the region is not to be touched.
    pub const fn flash(&mut self) -> &mut F {
        &mut self.medium.0
    }

    /// Where everything lies.
    #[must_use]
    pub const fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The counts.
    #[must_use]
    pub fn statistics(&self) -> Statistics {
        let free = self.layout.event_room().saturating_sub(self.used);
        Statistics {
            generation: self.generation,
            events: self.events,
            free,
            next: self.next,
            erases: self.erases,
        }
    }

    /// What the journal would have as its header: whose state it is, and under which promise it was started.
    #[must_use]
    pub fn header(&self) -> Option<Header> {
        (self.state != State::Closed).then_some(Header { kind: Kind::Journal, ..self.header })
    }

    fn opened(&self) -> Result<(), FlashError> {
        if self.state == State::Closed { Err(FlashError::Closed) } else { Ok(()) }
    }

    /// The number of the event after the next one.
    fn number_after_next(&self) -> Result<u32, FlashError> {
        self.next.checked_add(1).filter(|after| *after < NOTE).ok_or(FlashError::Exhausted)
    }

    /// The slot that a next snapshot goes to.
    const fn inactive(&self) -> usize {
        match self.active {
            Some(Active { slot: 0, .. }) => 1,
            _ => 0,
        }
    }
}

#[blocking(impl<F: BlockingNorFlash, const PRIOR: bool> FlashStore<Blocking<F>, PRIOR>)]
impl<F: NorFlash, const PRIOR: bool> FlashStore<F, PRIOR> {
    /// Stores the user as a snapshot and begins the journal anew.
    ///
    /// # Errors
    /// A store that is not open, a vacant user, a flash that fails.
    #[inline(never)]
    pub async fn compact<T: Scalar>(&mut self, user: &User<'_, T>) -> Result<(), FlashError> {
        self.opened()?;
        self.settle().await?;
        let (slot, purge, fresh) = (self.inactive(), self.purge, self.purge || self.is_fresh());
        let len = self.write_snapshot(user).await?;
        self.commit(Active { slot, len }, purge, fresh, self.receipts.last().copied()).await?;
        self.header.guarantee_fingerprint = user.state().guarantee_fingerprint();
        #[cfg(feature = "defmt")]
        defmt::debug!("snapshot {} of {} bytes, pages erased so far: {}", self.generation, len, self.erases);
        self.renew().await?;
        if purge {
            self.erase(self.layout.slot(self.inactive())).await?;
            self.purge = false;
        }
        Ok(())
    }
}
