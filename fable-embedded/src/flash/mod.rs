//! One user's state in NOR flash: a journal of events and two snapshot slots. A power cut at any moment loses
//! nothing.
//!
//! The state is a snapshot and the events after it. A [`Device`](crate::Device) appends each event to the
//! journal before it applies the event. If the journal is full, the store streams a snapshot to the unused
//! slot and starts the journal again. [`restore`](FlashStore::restore) loads the newest whole snapshot and
//! replays the events after it, to the same bits. Power may fail at any byte of any write or erase.
//! Afterwards acknowledged events are there, and an unacknowledged event is there whole or not at all.
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
//! // On a device the learner and the workspace are statics.
//! let mut learner: Learner<f32, [f32; TAU2.state_len()], 8> = const { Learner::new(&TAU2) };
//! let mut workspace: Workspace<f32, [f32; TAU2.workspace_len()]> = const { Workspace::new(&TAU2) };
//! let mut store = FlashStore::new(Blocking(Flash::new(16)), LAYOUT);
//!
//! // At the start: restore, and format only a blank region.
//! let restored = store.restore(&policy, &mut learner, &mut workspace);
//! assert_eq!(restored, Err(FlashError::Unformatted));
//! store.format(&policy, user_hash("ana"), 8)?;
//! store.restore(&policy, &mut learner, &mut workspace)?;
//!
//! let mut device = Device::new(learner.bind(&policy, &mut workspace)?, &mut store);
//! device.observe(&TAU2.context(None, [])?, Action(3), 0.5)?;
//!
//! // After a reset the state is the same.
//! let mut again = learner.clone();
//! let mut store = FlashStore::new(store.into_flash(), LAYOUT);
//! let restored = store.restore(&policy, &mut again, &mut workspace)?;
//! assert_eq!((restored.events, again == learner), (1, true));
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```
//!
//! Over a driver with the traits of `embedded-storage-async` the functions are asynchronous. [`Blocking`]
//! makes them blocking, which takes less flash and less stack. Both forms are one source text and store the
//! same bytes.
//!
//! # Stored records
//!
//! [`Layout`] divides the region. The first item of the journal and every snapshot have the [header](Header)
//! with version, scalar, fingerprint and user. A slot is committed before the journal is erased, so one of
//! them always identifies the user. A region without either is not a store.
//!
//! Every event has a sequence number. Every journal and every snapshot has the number that it begins at.
//! After a power cut the numbers decide:
//!
//! | The journal begins | Meaning |
//! |---|---|
//! | at the number of the newest snapshot | it is replayed |
//! | before it | its erase was interrupted, and is completed |
//! | after it | a newer snapshot is lost: [`FlashError::Damaged`] |
//!
//! Forgetting is an event. Once the event is stored the user is forgotten, also through a power cut. The
//! store then writes the state at the prior as a snapshot that requests the erase of everything older.
//! `restore` completes that erase.
//!
//! # Priors
//!
//! A store with `PRIOR` has two slots for priors. A prior describes a population and is fitted by a host. It
//! does not belong to the user and stays after forgetting. One slot has the prior in use and the other slot
//! the next prior.
//!
//! The user keeps the prior it began from. A new incarnation begins from the last loaded prior: at the next
//! forgetting, or at once if the present incarnation is empty. A policy borrows the numbers of its prior, and
//! its fingerprint covers them. So a user belongs to one prior, as it belongs to one catalog. A host that has
//! read the prior can replay the journal.
//!
//! If the flash is mapped into memory, the policy borrows the numbers from there. Otherwise they are copied
//! to RAM:
//!
//! ```
//! # use core::ops::Range;
//! # use fable_core::record::{encode_prior, prior::prior_len, snapshot::max_len};
//! # use fable_core::catalog::TAU2;
//! # use fable_core::posterior::{Factor, Prior};
//! # use fable_core::settings::SettingsError;
//! # use fable_core::{Learner, Policy, Settings, Workspace, user_hash};
//! # use fable_embedded::flash::{Blocking, FlashStore, Layout};
//! # use fable_embedded::{Device, UserStore, mock::Mock};
//! # type Flash = Mock<4, 1024>;
//! const SNAPSHOT: usize = max_len::<f32>(&TAU2, 8);
//! const PRIOR: usize = prior_len::<f32>(&TAU2);
//! const LAYOUT: Layout = Layout::with_prior::<Blocking<Flash>>(0, 24 * 1024, SNAPSHOT, PRIOR);
//! type Store = FlashStore<Blocking<Flash>, true>;
//!
//! type Error = Box<dyn core::error::Error>;
//!
//! /// The policy with the prior at these numbers. A device with mapped flash borrows a slice.
//! fn policy(store: &mut Store, numbers: Option<Range<u32>>) -> Result<Policy<'static, f32>, Error> {
//!     let Some(numbers) = numbers else { return Ok(Policy::new(&TAU2, Settings::default())?) };
//!     let mut packed = vec![0.0; TAU2.layout().packed_len()];
//!     store.copy_prior(numbers, &mut packed)?;
//!     let factor = Factor::new(TAU2.layout(), packed.leak(), &mut vec![0.0; TAU2.workspace_len()])?;
//!     Ok(Policy::with_prior(&TAU2, Settings::default(), Prior::Factor(factor))?)
//! }
//!
//! # let mut learner: Learner<f32, [f32; TAU2.state_len()], 8> = const { Learner::new(&TAU2) };
//! # let mut workspace: Workspace<f32, [f32; TAU2.workspace_len()]> = const { Workspace::new(&TAU2) };
//! # let mut store = Store::from_flash(Blocking(Flash::new(24)), LAYOUT);
//! # let mut base = Policy::<f32>::new(&TAU2, Settings::default())?;
//! # store.format(&base, user_hash("ana"), 8)?;
//! // At the start: the policy of the stored user.
//! let numbers = store.prior(&base)?;
//! let mut now = policy(&mut store, numbers)?;
//! store.restore(&now, &mut learner, &mut workspace)?;
//! # let mut packed = vec![0.0_f32; TAU2.layout().packed_len()];
//! # packed[..TAU2.dimension()].fill(0.25);
//! # let factor = Factor::new(TAU2.layout(), &packed, &mut vec![0.0; TAU2.workspace_len()])?;
//! # let fitted = Policy::with_prior(&TAU2, Settings::default(), Prior::Factor(factor))?;
//! # let bytes = encode_prior(&fitted).unwrap();
//! # store.stage_write(0, &bytes)?;
//! # store.commit_prior(&now, bytes.len() as u32)?;
//!
//! // After `serve` has ended or the user was forgotten: the new incarnation may have another prior.
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
//! Between forgetting and [`adopt`](FlashStore::adopt) the store takes no event ([`FlashError::Outdated`]). A
//! prior from a host is verified before it is used: catalog, settings, scalar, checksum, and the range of
//! each number. [`Factor::new`](fable_core::posterior::Factor::new) checks that the numbers describe a
//! distribution, on the host and again on the device.
//!
//! # Updates
//!
//! Firmware with another catalog finds records of the old catalog:
//! [`RecordError::Catalog`](fable_core::record::RecordError::Catalog), or `Policy` for other settings. The
//! records are whole and stay untouched. Firmware that also has the old catalog, a constant from
//! `fable catalog rust`, migrates the user (feature `migrate`). Costs, default scores and texts change
//! without a migration.
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
//! // The layout of the first firmware. Its slots have spare capacity for later catalogs.
//! const LAYOUT: Layout = Layout::new::<Blocking<Flash>>(0, 8 * 1024, 1500);
//! # let old = Policy::<f32>::new(&V1, Settings::default())?;
//! # let mut store = FlashStore::new(Blocking(Flash::new(8)), LAYOUT);
//! # store.format(&old, user_hash("ana"), 8)?;
//!
//! let policy = Policy::<f32>::new(&V2, Settings::default())?;
//! let mut learner: Learner<f32, [f32; V2.state_len()], 8> = const { Learner::new(&V2) };
//! // For the migration only.
//! let mut before: Learner<f32, [f32; V1.state_len()], 8> = const { Learner::new(&V1) };
//! // The larger of the two workspaces.
//! let mut workspace: Workspace<f32, [f32; V2.workspace_len()]> = const { Workspace::new(&V2) };
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
//! Firmware that calls [`start`](FlashStore::start) calls `start_from` instead, which reads the seed of the
//! installation.
//!
//! A migration replaces the journal by a snapshot. A host that stores the journals of its devices reads the
//! journal before the update (`fable device sync`). The reply to the last request belongs to the old catalog
//! and is dropped. A host that repeats this request after the update has it executed again, if the new
//! catalog has its values.
//!
//! The region keeps its layout. The migrated user is written as a snapshot to the unused slot. Its commit
//! record is the moment of the migration. If power fails before it, the old firmware finds its user whole;
//! after it, the new firmware does. The next start completes the rest. The old firmware cannot read the
//! region after the migration.
//!
//! A prior in flash belongs to the old catalog and is dropped. The user keeps the contribution of the prior.
//! After forgetting it begins from the new policy's own prior, until a host loads another prior.
//!
//! # Wear
//!
//! A compaction erases every page of the journal and of a slot. [`Layout::lifetime`] returns the years until
//! the flash wears out. Three requests of a host erase directly: stage from offset 0, forget, and the removal
//! of a prior. The store allows 16 of these and one more for every 256 stored events. It counts each in the
//! journal before the erase, so a reset does not reset the count. The application's own verbs are not
//! limited.
//!
//! | request | pages erased |
//! |---|---|
//! | any request that stores an event | every page of the journal and of one slot, once per full journal |
//! | stage from offset 0 | the pages of one slot |
//! | commit of a staged snapshot | every page of the journal |
//! | commit or removal of a prior | the pages of one prior slot; as for forget, if used at once |
//! | forget | every page of the journal and of both slots; twice if another prior waits |
//!
//! Requests that store an event: decide, feedback, observe, unlearn, onboard, user rule, promote, expire.
//!
//! An attacker at the port can have a page erased 32 times, and then at most three times per `min(e, 256)`
//! events, where `e` is the capacity of the journal. A micro:bit with `tau2` and a journal of 10 KB decides
//! about 10 times a second, and the journal takes 200 decisions. Its flash, rated for 10,000 erase cycles,
//! lasts two days of such an attack. An application can limit the requests that write with
//! [`Server::limit`](crate::Server::limit). At 1,000 a day the same part lasts a year and a half.
//!
//! # Damage
//!
//! Damage loses acknowledged events, unlike a power cut, and is always reported. [`FlashError::Damaged`] is a
//! wrong checksum in a needed snapshot, a gap in the sequence, or a changed bit in the prior of the user. One
//! case looks like a power cut: a flipped bit in the last event of the journal. This event is not used, and
//! [`Restored::torn`] is true.
//!
//! A whole page may be lost: it is blank, or has its content from before its last erase. Another page records
//! the existence of each part of the region. The journal names its snapshot, which reveals a lost snapshot.
//! The slot has a mark for each page that the journal has reached, which reveals a lost end of the journal.
//! The user is restored as far as the journal goes, and [`Restored::rolled_back`] is true. The marks take a
//! word of flash for each filled page and nothing for an event. A power cut is never reported as a lost page.
//! A reported loss can be wrong in two cases: damage to a snapshot whose journal was not erased yet, and
//! damage to the first record of a journal without events.
//!
//! Undetected are:
//!
//! - the newest page of the journal in an earlier state of the same journal, with its first event and without
//!   its last events;
//! - the whole region in an earlier state, or blank ([`FlashError::Unformatted`]): the store writes nothing
//!   outside the region;
//! - before the first snapshot, the joint loss of the newest page of the journal and the first page of slot
//!   1. Later the marks share a page with the commit record, whose loss is detected;
//! - the prior of the next incarnation, which does not belong to the user. A host that loads priors can read
//!   it back.
//!
//! `tests/it/lost.rs` blanks, reverts and exchanges every page, at many moments of a user's life and after
//! power cuts.

mod blocking;
mod error;
mod journal;
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
mod store;
mod user_store;
mod wear;

pub use blocking::{Blocking, block_on};
pub use error::{FlashError, LayoutError};
pub use layout::Layout;
pub use medium::Flash;
pub use open::Restored;
pub use seed::{
    Seed, confirm_seed, confirm_seed_async, read_seed, read_seed_async, write_seed, write_seed_async,
};
#[cfg(feature = "migrate")]
pub use start::PreviousFirmware;
pub use start::StartError;
pub use store::Statistics;

use crate::reply_cache::ReplyCache;
use fable_core::record::Header;
use journal::{JournalCache, MAX_ITEM_LEN};
use layout::MAX_WORD;
use medium::Medium;
use prior::Priors;

/// State of the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The region was not read yet.
    Closed,
    /// The journal takes events.
    Ready,
    /// All events are in the snapshot, and the journal has to be erased.
    Stale,
    /// A write failed, and a snapshot has to replace the journal.
    Broken,
}

/// The snapshot that the journal follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Active {
    slot: usize,
    len: u32,
}

/// Bytes with the alignment of a word, for drivers that move words.
#[repr(align(8))]
#[derive(Clone, Copy)]
struct Bytes<const N: usize>([u8; N]);

/// One user's state in a region of flash, and with `PRIOR` the [prior](self#priors) of the user.
pub struct FlashStore<F, const PRIOR: bool = false> {
    medium: Medium<F>,
    layout: Layout,
    cache: JournalCache,
    header: Header,
    state: State,
    active: Option<Active>,
    generation: u32,
    /// Sequence number of the first event of the journal.
    base: u32,
    /// Sequence number of the next event.
    next: u32,
    events: u32,
    /// Bytes of the events in the journal.
    used: u32,
    erases: u32,
    /// Pages that the journal has reached, by the marks of the slot.
    marked: u32,
    /// No event was stored since the restart.
    unverified: bool,
    /// Everything older than the state has to be erased.
    purge: bool,
    /// Number of staged bytes. Bytes of the last, incomplete word are in `partial_word`.
    staged: Option<u32>,
    priors: Priors,
    replies: ReplyCache,
    /// Erases that hosts may request, in events (`wear.rs`).
    allowance: u16,
    partial_word: Bytes<MAX_WORD>,
    buffer: Bytes<{ MAX_ITEM_LEN.next_multiple_of(MAX_WORD) }>,
}

/// Constants, because a division by a constant cannot panic.
impl<F: Flash, const PRIOR: bool> FlashStore<F, PRIOR> {
    const WORD: usize = F::WORD;
    const PAGE: usize = F::PAGE;
}
