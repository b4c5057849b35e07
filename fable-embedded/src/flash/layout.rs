//! The parts of the region, and its lifetime.
//!
//! ```text
//!   start                                                                       end
//!   | journal: the remaining pages, at least two     | slot 0      | slot 1      |
//!                                                      commit | marks | snapshot ...
//! ```
//!
//! A slot has whole pages for the longest snapshot and the 256 bytes before it. The journal is first, so its
//! first record is found for any size of the slots. The slots have a mark for each page of the journal, in
//! 192 bytes of words. One word has another use. So the journal has at most 191 pages with words of one byte,
//! 47 with four, 23 with eight, and 5 with 32. Further pages are unused. A layout
//! [with priors](Layout::with_prior) has two more slots at the end, with a prior instead of the snapshot.
//!
//! ```
//! use fable_core::{catalog::TAU2, record::snapshot::max_len};
//! use fable_embedded::{flash::{Layout, LayoutError}, mock::Mock};
//!
//! type Flash = Mock<4, 1024>; // 4-byte words, 1 KB pages
//! // A bad region does not compile.
//! const LAYOUT: Layout = Layout::new::<Flash>(0, 16 * 1024, max_len::<f32>(&TAU2, 8));
//! assert_eq!((LAYOUT.journal().len(), LAYOUT.slot(0).len()), (10 * 1024, 3 * 1024));
//!
//! let small = Layout::try_new::<Flash>(0, 4 * 1024, max_len::<f32>(&TAU2, 8));
//! assert_eq!(small, Err(LayoutError::TooSmall { needed: 8 * 1024 }));
//!
//! // No probes, 10,000 erase cycles, 100 interactions a day.
//! let years = LAYOUT.lifetime(&TAU2, 0, 10_000, 100);
//! assert!(years > 30.0);
//! assert!(LAYOUT.lifetime(&TAU2, 3, 10_000, 100) > 20.0); // a probe for each component of every decision
//! ```

use super::error::LayoutError;
use super::journal::{BEGIN_LEN, MAX_ITEM_LEN, REQUEST_ID_LEN, SEQUENCE_LEN};
use super::mark::{BODY, MARKS_LEN};
use super::medium::Flash;
use core::ops::Range;
use fable_core::journal::Event;
use fable_core::preference::{Probe, Probes};
use fable_core::record::{MAX_EVENT_LEN, encode_event};
use fable_core::{Action, Catalog, Context};

/// Bytes of the largest word, and the alignment of records in a slot.
pub(super) const MAX_WORD: usize = 32;
/// Bytes that the queue writes before an item.
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
    /// Creates the layout of a constant region. A bad region does not compile.
    ///
    /// # Panics
    /// If [`try_new`](Self::try_new) returns an error. Call it in a `const`.
    #[must_use]
    pub const fn new<F: Flash>(start: u32, len: u32, snapshot: usize) -> Self {
        Self::with_prior::<F>(start, len, snapshot, 0)
    }

    /// Creates a layout with slots for priors of `prior` bytes
    /// ([`prior_len`](fable_core::record::prior::prior_len)), or with 0 without these slots.
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

    /// Creates the layout of `len` bytes from `start`, for snapshots of at most `snapshot` bytes
    /// ([`max_len`](fable_core::record::snapshot::max_len)).
    ///
    /// # Errors
    /// Unsupported pages or words, a region that does not consist of whole pages, or a region that is too
    /// small.
    pub const fn try_new<F: Flash>(start: u32, len: u32, snapshot: usize) -> Result<Self, LayoutError> {
        Self::try_with_prior::<F>(start, len, snapshot, 0)
    }

    /// Creates a layout with slots for priors of `prior` bytes, or with 0 without these slots.
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
                let most = (MARKS_LEN / word - 1) * page; // a page for every mark except the last
                let journal = if journal < most { journal } else { most };
                Ok(Self { start, journal, slot, prior, page, word })
            }
            _ => Err(LayoutError::TooSmall { needed }),
        }
    }

    /// Returns the whole region.
    #[must_use]
    pub const fn region(&self) -> Range<u32> {
        self.start..self.start + self.journal + 2 * (self.slot + self.prior)
    }

    /// Returns the pages of the journal.
    #[must_use]
    pub const fn journal(&self) -> Range<u32> {
        self.start..self.start + self.journal
    }

    /// Returns the pages of slot 0 or 1.
    #[must_use]
    pub const fn slot(&self, slot: usize) -> Range<u32> {
        let start = self.start + self.journal + if slot == 0 { 0 } else { self.slot };
        start..start + self.slot
    }

    /// Returns the pages of prior slot 0 or 1, which are empty in a layout without priors.
    #[must_use]
    pub const fn prior(&self, slot: usize) -> Range<u32> {
        let start = self.start + self.journal + 2 * self.slot + if slot == 0 { 0 } else { self.prior };
        start..start + self.prior
    }

    /// Returns the maximum number of bytes of a prior.
    pub(super) const fn prior_len(&self) -> u32 {
        self.prior.saturating_sub(BODY)
    }

    /// Returns the maximum number of bytes of a snapshot.
    #[must_use]
    pub const fn snapshot_len(&self) -> u32 {
        self.slot - BODY
    }

    /// Returns the bytes of a page.
    #[must_use]
    pub const fn page(&self) -> u32 {
        self.page
    }

    /// Returns the bytes of a word, the larger of the read and the write unit.
    pub(super) const fn word(&self) -> u32 {
        self.word
    }

    /// Returns the sizes of the slots as one number in records. Without priors it is the bytes of a slot.
    pub(super) const fn shape(&self) -> u32 {
        self.slot ^ self.prior.rotate_left(16)
    }

    /// Returns the bytes of an item in the journal. A word is a power of two, so no division can panic.
    pub(super) const fn item(&self, len: usize) -> u32 {
        let rest = self.word.wrapping_sub(1);
        (ITEM_HEADER.wrapping_add(rest) & !rest).wrapping_add((len as u32).wrapping_add(rest) & !rest)
    }

    /// Returns the bytes for events of an empty journal.
    pub(super) fn event_capacity(&self) -> u32 {
        let pages = self.journal.checked_div(self.page).unwrap_or(0);
        self.journal.saturating_sub(pages * 2 * self.word + self.item(BEGIN_LEN))
    }

    /// Returns the minimum number of interactions between two compactions. An interaction is a decision and
    /// its feedback.
    ///
    /// A decision has at most `probes` probes: none without [probing](fable_core::Settings::probe), otherwise
    /// at most one for each component. Every event counts with a request id, which an application's own
    /// events do not have. Every page loses its two marks and, at its end, less than one decision. The
    /// journal loses its first record and the capacity for the longest event.
    #[must_use]
    pub fn interactions(&self, catalog: &Catalog<'_>, probes: usize) -> u32 {
        let signals = [0.0; fable_core::catalog::MAX_SIGNALS];
        let signals = signals.get(..catalog.definition().signals.len()).unwrap_or(&signals);
        let action = Action(u16::try_from(catalog.actions().saturating_sub(1)).unwrap_or(u16::MAX));
        let mut most = Probes::new();
        for _ in 0..probes {
            let _ = most.push(Probe { contrast: 0, expected: 0.0 }); // at most one for each component
        }
        let decision = Context::new(catalog, None, signals).map_or(MAX_EVENT_LEN, |context| {
            event_len(&Event::Decision { round: 1, action, baseline: 0.0, context, time: 0, probes: most })
        });
        let item = |len: usize| self.item(SEQUENCE_LEN + len + REQUEST_ID_LEN);
        let (decision, feedback) =
            (item(decision), item(event_len(&Event::Feedback { round: 1, reward: 0.0, weight: 1.0 })));
        let pages = self.journal / self.page;
        let reserved = self.item(BEGIN_LEN) + self.item(MAX_ITEM_LEN);
        let capacity = (pages * self.page.saturating_sub(2 * self.word + decision)).saturating_sub(reserved);
        (capacity / (decision + feedback)).max(1)
    }

    /// Returns the years until a page has been erased `erase_cycles` times, at `per_day` interactions a day.
    ///
    /// A [compaction](Self::interactions) erases every page of the journal, and the pages of one of the two
    /// slots. So the pages of the journal wear first and evenly. Forgetting, staged snapshots and power cuts
    /// add an erase each.
    #[must_use]
    pub fn lifetime(&self, catalog: &Catalog<'_>, probes: usize, erase_cycles: u32, per_day: u32) -> f32 {
        let interactions = f64::from(self.interactions(catalog, probes)) * f64::from(erase_cycles);
        (interactions / (f64::from(per_day.max(1)) * 365.25)) as f32
    }
}

fn event_len(event: &Event) -> usize {
    encode_event(event, &mut [0; MAX_EVENT_LEN]).map_or(MAX_EVENT_LEN, <[u8]>::len)
}
