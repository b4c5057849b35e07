//! Where things lie in the region, and how long the part will last.
//!
//! ```text
//!   start                                                                       end
//!   | journal: the pages that are left, at least two | slot 0      | slot 1      |
//!                                                      commit | marks | snapshot ...
//! ```
//!
//! A slot is as many whole pages as the longest snapshot and the 256 bytes before it need. The journal comes first, so that its
//! first record is found wherever the slots begin. It has a mark in the slots for each of its pages, 192 bytes of words and one
//! of them for another use, so it has at most 191 pages with words of one byte, 47 with four, 23 with eight, 5 with 32; more
//! are not used. A layout [with priors](Layout::with_prior) has two more slots at the end, for a prior in the place of the snapshot.
//!
//! ```
//! use fable_core::{catalog::TAU2, record::snapshot::max_len};
//! use fable_embedded::{flash::{Layout, LayoutError}, mock::Mock};
//!
//! type Flash = Mock<4, 1024>; // 4-byte words, 1 KB pages
//! const LAYOUT: Layout = Layout::new::<Flash>(0, 16 * 1024, max_len::<f32>(&TAU2, 8)); // a mistake would not compile
//! assert_eq!((LAYOUT.journal().len(), LAYOUT.slot(0).len()), (10 * 1024, 3 * 1024));
//!
//! let small = Layout::try_new::<Flash>(0, 4 * 1024, max_len::<f32>(&TAU2, 8));
//! assert_eq!(small, Err(LayoutError::TooSmall { needed: 8 * 1024 }));
//!
//! let years = LAYOUT.lifetime(&TAU2, 0, 10_000, 100); // no coins, 10,000 erase cycles, 100 interactions a day
//! assert!(years > 30.0);
//! assert!(LAYOUT.lifetime(&TAU2, 3, 10_000, 100) > 20.0); // a coin for each component of every decision
//! ```

use super::error::LayoutError;
use super::journal::{BEGIN_LEN, MAX_ITEM_LEN, SEQUENCE_LEN, TICKET_LEN};
use super::mark::{BODY, MARKS_LEN};
use super::medium::Flash;
use core::ops::Range;
use fable_core::journal::Event;
use fable_core::preference::{Probe, Probes};
use fable_core::record::{MAX_EVENT_LEN, encode_event};
use fable_core::{Action, Catalog, Context};

/// The largest word, and the alignment of everything in a slot.
pub(super) const MAX_WORD: usize = 32;
/// What the queue writes before an item.
const ITEM_HEADER: u32 = 8;

/// The parts of a region of flash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Layout {
    start: u32,
    journal: u32,
    slot: u32,
    /// Bytes of a prior's slot; 0 without priors.
    prior: u32,
    page: u32,
    word: u32,
}

impl Layout {
    /// The layout of a constant region; a region that cannot be used does not compile.
    ///
    /// # Panics
    /// Where [`try_new`](Self::try_new) returns an error. Use it in a `const`.
    #[must_use]
    pub const fn new<F: Flash>(start: u32, len: u32, snapshot: usize) -> Self {
        Self::with_prior::<F>(start, len, snapshot, 0)
    }

    /// The same with room for priors of `prior` bytes ([`prior_len`](fable_core::record::prior::prior_len)); 0 is none.
    ///
    /// # Panics
    /// As for [`new`](Self::new).
    #[must_use]
    #[expect(clippy::panic, reason = "in a const this is a build error")]
    pub const fn with_prior<F: Flash>(start: u32, len: u32, snapshot: usize, prior: usize) -> Self {
        match Self::try_with_prior::<F>(start, len, snapshot, prior) {
            Ok(layout) => layout,
            Err(LayoutError::Geometry) => {
                panic!("the flash needs pages of 1 KB or more and words of up to 32 bytes")
            }
            Err(LayoutError::Misaligned) => panic!("the region must start and end at a page"),
            Err(LayoutError::TooSmall { .. }) => {
                panic!("the region is too small for its slots and two journal pages")
            }
        }
    }

    /// The layout of `len` bytes from `start`, for snapshots of at most `snapshot` bytes
    /// ([`max_len`](fable_core::record::snapshot::max_len)).
    ///
    /// # Errors
    /// Pages or words that cannot be used, a region that does not consist of whole pages, or one that is too small.
    pub const fn try_new<F: Flash>(start: u32, len: u32, snapshot: usize) -> Result<Self, LayoutError> {
        Self::try_with_prior::<F>(start, len, snapshot, 0)
    }

    /// The same with room for priors of `prior` bytes; 0 is none.
    ///
    /// # Errors
    /// As for [`try_new`](Self::try_new).
    pub const fn try_with_prior<F: Flash>(
        start: u32,
        len: u32,
        snapshot: usize,
        prior: usize,
    ) -> Result<Self, LayoutError> {
        let (page, word) = (F::PAGE, F::WORD);
        let usable = word > 0 && MAX_WORD.is_multiple_of(word) && page >= 1024 && page.is_multiple_of(256);
        if !usable || page > 1 << 24 || snapshot > 1 << 28 || prior > snapshot {
            return Err(LayoutError::Geometry);
        }
        let (page, word) = (page as u32, word as u32);
        if !start.is_multiple_of(page) || !len.is_multiple_of(page) || start.checked_add(len).is_none() {
            return Err(LayoutError::Misaligned);
        }
        let slot = (snapshot as u32 + BODY).next_multiple_of(page);
        let prior = if prior == 0 { 0 } else { (prior as u32 + BODY).next_multiple_of(page) };
        let needed = 2 * (slot + prior + page);
        match len.checked_sub(2 * (slot + prior)) {
            Some(journal) if journal >= 2 * page => {
                let most = (MARKS_LEN / word - 1) * page; // a page for every mark but the last
                let journal = if journal < most { journal } else { most };
                Ok(Self { start, journal, slot, prior, page, word })
            }
            _ => Err(LayoutError::TooSmall { needed }),
        }
    }

    /// The whole region.
    #[must_use]
    pub const fn region(&self) -> Range<u32> {
        self.start..self.start + self.journal + 2 * (self.slot + self.prior)
    }

    /// The pages of the journal.
    #[must_use]
    pub const fn journal(&self) -> Range<u32> {
        self.start..self.start + self.journal
    }

    /// The pages of slot 0 or 1.
    #[must_use]
    pub const fn slot(&self, slot: usize) -> Range<u32> {
        let start = self.start + self.journal + if slot == 0 { 0 } else { self.slot };
        start..start + self.slot
    }

    /// The pages of a prior's slot, 0 or 1; empty in a layout without priors.
    #[must_use]
    pub const fn prior(&self, slot: usize) -> Range<u32> {
        let start = self.start + self.journal + 2 * self.slot + if slot == 0 { 0 } else { self.prior };
        start..start + self.prior
    }

    /// The longest prior that fits.
    pub(super) const fn prior_len(&self) -> u32 {
        self.prior.saturating_sub(BODY)
    }

    /// The longest snapshot that fits.
    #[must_use]
    pub const fn snapshot_len(&self) -> u32 {
        self.slot - BODY
    }

    /// Bytes of a page.
    #[must_use]
    pub const fn page(&self) -> u32 {
        self.page
    }

    /// Bytes of a word, the larger of what is read and what is written.
    pub(super) const fn word(&self) -> u32 {
        self.word
    }

    /// Stands in records for the sizes of the slots: without priors the bytes of a slot.
    pub(super) const fn shape(&self) -> u32 {
        self.slot ^ self.prior.rotate_left(16)
    }

    /// What an item of the journal takes. A word is a power of two, so nothing is divided and nothing can panic.
    pub(super) const fn item(&self, len: usize) -> u32 {
        let rest = self.word.wrapping_sub(1);
        (ITEM_HEADER.wrapping_add(rest) & !rest).wrapping_add((len as u32).wrapping_add(rest) & !rest)
    }

    /// Bytes of the journal for events, when there are none.
    pub(super) fn event_room(&self) -> u32 {
        let pages = self.journal.checked_div(self.page).unwrap_or(0);
        self.journal.saturating_sub(pages * 2 * self.word + self.item(BEGIN_LEN))
    }

    /// Interactions, each a decision and its feedback, from one compaction to the next, at least, when no decision has more
    /// than so many `coins`: none without [probes](fable_core::Settings::probe), otherwise at most one for each component.
    ///
    /// All are taken for requests of a host, which are stored with a ticket; an application's own take four bytes less, each.
    /// Every page loses its two marks and, at its end, less than one decision; the journal loses its first record and the room
    /// that is kept for the longest event.
    #[must_use]
    pub fn interactions(&self, catalog: &Catalog<'_>, coins: usize) -> u32 {
        let signals = [0.0; fable_core::catalog::MAX_SIGNALS];
        let signals = signals.get(..catalog.definition().signals.len()).unwrap_or(&signals);
        let action = Action(u16::try_from(catalog.actions().saturating_sub(1)).unwrap_or(u16::MAX));
        let mut most = Probes::new();
        for _ in 0..coins {
            let _ = most.push(Probe { contrast: 0, expected: 0.0 }); // more than there are components are no more
        }
        let decision = Context::new(catalog, None, signals).map_or(MAX_EVENT_LEN, |context| {
            event_len(&Event::Decision { round: 1, action, baseline: 0.0, context, time: 0, coins: most })
        });
        let item = |len: usize| self.item(SEQUENCE_LEN + len + TICKET_LEN);
        let (decision, feedback) =
            (item(decision), item(event_len(&Event::Feedback { round: 1, reward: 0.0, weight: 1.0 })));
        let pages = self.journal / self.page;
        let kept = self.item(BEGIN_LEN) + self.item(MAX_ITEM_LEN);
        let room = (pages * self.page.saturating_sub(2 * self.word + decision)).saturating_sub(kept);
        (room / (decision + feedback)).max(1)
    }

    /// Years until the first page has been erased `erase_cycles` times, at so many interactions a day.
    ///
    /// One [compaction](Self::interactions) erases every page of the journal once and those of one of the two slots, so the
    /// journal's pages wear first and evenly. Forgetting, staged snapshots and power cuts add an erase each.
    #[must_use]
    pub fn lifetime(&self, catalog: &Catalog<'_>, coins: usize, erase_cycles: u32, per_day: u32) -> f32 {
        let interactions = f64::from(self.interactions(catalog, coins)) * f64::from(erase_cycles);
        (interactions / (f64::from(per_day.max(1)) * 365.25)) as f32
    }
}

fn event_len(event: &Event) -> usize {
    encode_event(event, &mut [0; MAX_EVENT_LEN]).map_or(MAX_EVENT_LEN, <[u8]>::len)
}
