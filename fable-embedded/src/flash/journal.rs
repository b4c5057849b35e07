//! The journal: a queue of `sequential-storage` whose first item says whose it is and where it begins.
//!
//! Each item is a sequence number, fixed `u32`, and an event as [`encode_event`] writes it. Bit 31 of the number is set where the
//! event comes from a request, whose [ticket](crate::Receipts), fixed `u32`, follows the event. Bit 30 is set where there is no event: it
//! is a note that a host was allowed to have something erased (`wear.rs`). The first item is the *begin* record:
//! the sequence number of the first event, the sizes of the slots, erases so far, fixed `u32` each; their CRC-32; then the
//! [`Header`] of a journal. It is written right after the pages were erased, so where it stands the erase was whole; where
//! it does not, nothing was acknowledged yet, and the pages are erased again.
//!
//! The queue rewrites a word in two cases after a power cut: when a half-programmed item header or page mark still reads as
//! erased. A part that refuses that makes `push` fail; the journal is then *spent* and
//! [`make_room`](crate::AsyncKeep::make_room) replaces it by a snapshot. The queue also looks for the next item word by word after a torn one
//! and could, once in 65,536 times, take torn bytes for an item; so the first event after a restart is read back before it is
//! acknowledged.

use super::blocking::{block_on as wait, wait_async};
use super::error::FlashError;
use super::layout::Layout;
use super::medium::Flash;
use super::{Blocking, FlashStore, State};
use core::mem;
use core::sync::atomic::{AtomicU32, Ordering};
use embedded_storage::nor_flash::NorFlash as BlockingNorFlash;
use embedded_storage_async::nor_flash::{ErrorType, NorFlash, ReadNorFlash};
use fable_core::record::{HEADER_LEN, Header, Kind, MAX_EVENT_LEN, RecordError, checksum};
use fable_forms::blocking;
use sequential_storage::cache::page_pointers::ArrayPagePointers;
use sequential_storage::cache::{Cache, Uncached};
use sequential_storage::queue::{QueueConfig, QueueStorage};

/// Bytes of a sequence number.
pub(super) const SEQUENCE_LEN: usize = 4;
/// Bytes of a ticket.
pub(super) const TICKET_LEN: usize = 4;
/// The longest item.
pub(super) const MAX_ITEM_LEN: usize = SEQUENCE_LEN + MAX_EVENT_LEN + TICKET_LEN;
/// In a sequence number: a ticket follows the event.
pub(super) const TICKET: u32 = 1 << 31;
/// In a sequence number: there is no event.
pub(super) const NOTE: u32 = 1 << 30;
/// Bytes of the begin record.
pub(super) const BEGIN_LEN: usize = 16 + HEADER_LEN;
/// Where its header stands.
const MAGIC: &[u8; 4] = b"FABJ";

/// Where the next item goes on each of the first pages: on parts with large pages that is the journal, and a push does not
/// walk over the whole page to find out; small pages are walked quickly.
pub(super) type JournalCache = Cache<Uncached, ArrayPagePointers<8>, Uncached>;

pub(super) fn no_cache() -> JournalCache {
    Cache::new(Uncached, ArrayPagePointers::new(), Uncached)
}

/// The queue, for one call; one that `looks` erases nothing.
fn queue<'f, F: Flash>(
    flash: &'f mut F,
    layout: &Layout,
    cache: &mut JournalCache,
    seen: &'f AtomicU32,
    looks: bool,
) -> Result<QueueStorage<Tap<'f, F::Driver<'f>>, JournalCache>, FlashError> {
    let config = QueueConfig::try_new(layout.journal()).map_err(|_| FlashError::Layout)?;
    let tap = Tap { flash: flash.driver(), seen, looks };
    Ok(QueueStorage::new(tap, config, mem::replace(cache, no_cache())))
}

/// An item after the begin record.
#[derive(Clone, Copy)]
pub(super) struct Item<'i> {
    pub(super) sequence: u32,
    pub(super) ticket: Option<u32>,
    /// Empty in a note.
    pub(super) event: &'i [u8],
}

impl<'i> Item<'i> {
    fn decode(item: &'i [u8]) -> Option<Self> {
        let (sequence, body) = item.split_first_chunk()?;
        let sequence = u32::from_le_bytes(*sequence);
        let (ticket, event) = match body.len().checked_sub(TICKET_LEN).filter(|_| sequence & TICKET != 0) {
            Some(at) => {
                let (event, ticket) = body.split_at_checked(at)?;
                (Some(u32::from_le_bytes(ticket.try_into().ok()?)), event)
            }
            None => (None, body),
        };
        let plain = sequence & (TICKET | NOTE) == if ticket.is_some() { TICKET } else { 0 };
        let note = sequence & (TICKET | NOTE) == NOTE && event.is_empty();
        (plain || note).then_some(Self { sequence: sequence & !(TICKET | NOTE), ticket, event })
    }
}

/// What is done with an item; false ends the walk.
type Take<'t> = dyn FnMut(&Item<'_>) -> Result<bool, FlashError> + 't;

/// What the queue writes before an item.
fn item_overhead<F: Flash>(_: &F) -> u32 {
    QueueStorage::<F::Driver<'_>, JournalCache>::item_overhead_size()
}

/// The flash as the queue sees it. The queue passes over what is not an item and does not say where an item is; this notices:
/// the place, never 0, where something was read last that is not a page's mark, or where something was written last. The queue erases
/// pages with marks that make no sense, also when it is only asked what there is; this leaves them as they are, and they are told as
/// damaged.
struct Tap<'f, F> {
    flash: F,
    seen: &'f AtomicU32,
    looks: bool,
}

impl<F: NorFlash> ErrorType for Tap<'_, F> {
    type Error = F::Error;
}

impl<F: NorFlash> ReadNorFlash for Tap<'_, F> {
    const READ_SIZE: usize = F::READ_SIZE;

    async fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), F::Error> {
        self.flash.read(offset, bytes).await?;
        let within = offset as usize % F::PAGE;
        let mark = within == 0 || within >= F::PAGE - F::WORD; // of a page; it says nothing about items
        if !mark && bytes.iter().any(|byte| *byte != 0xff) {
            self.seen.store(offset, Ordering::Relaxed);
        }
        Ok(())
    }

    fn capacity(&self) -> usize {
        self.flash.capacity()
    }
}

impl<F: NorFlash> NorFlash for Tap<'_, F> {
    const WRITE_SIZE: usize = F::WRITE_SIZE;
    const ERASE_SIZE: usize = F::ERASE_SIZE;

    async fn erase(&mut self, from: u32, to: u32) -> Result<(), F::Error> {
        if self.looks { Ok(()) } else { self.flash.erase(from, to).await }
    }

    async fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), F::Error> {
        self.seen.store(offset, Ordering::Relaxed);
        self.flash.write(offset, bytes).await
    }
}

/// The first record of a journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Begin {
    /// Sequence number of the first event after it.
    pub(super) base: u32,
    /// Sizes of the slots.
    pub(super) shape: u32,
    /// Pages erased so far.
    pub(super) erases: u32,
    pub(super) header: Header,
}

impl Begin {
    fn encode(&self) -> [u8; BEGIN_LEN] {
        let mut bytes = [0; BEGIN_LEN];
        let front = [self.base, self.shape, self.erases].map(u32::to_le_bytes);
        let sum = checksum(front.as_flattened()).to_le_bytes();
        for (slot, byte) in
            bytes.iter_mut().zip(front.into_iter().flatten().chain(sum).chain(self.header.encode()))
        {
            *slot = byte;
        }
        bytes
    }

    fn decode(bytes: &[u8]) -> Result<Self, RecordError> {
        let (front, header) = bytes.split_first_chunk::<16>().ok_or(RecordError::Truncated)?;
        let header = Header::decode(header)?;
        let &[base, shape, erases, sum] = split_words(front) else { return Err(RecordError::Truncated) };
        let [base, shape, erases, sum] = [base, shape, erases, sum].map(u32::from_le_bytes);
        let whole = front.first_chunk::<12>().is_some_and(|front| checksum(front) == sum);
        if whole && header.kind == Kind::Journal {
            Ok(Self { base, shape, erases, header })
        } else {
            Err(RecordError::Checksum)
        }
    }

    /// Whether bytes are a begin record, or were one before a few bits of its magic number changed.
    fn resembles(bytes: &[u8]) -> bool {
        bytes.iter().skip(16).zip(MAGIC).filter(|(a, b)| a == b).count() >= 3
    }
}

pub(super) fn split_words(bytes: &[u8]) -> &[[u8; 4]] {
    bytes.as_chunks().0
}

/// What is in the journal after its begin record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Contents {
    /// Sequence number of the first event.
    pub(super) first: Option<u32>,
    /// Of the last one.
    pub(super) last: u32,
    pub(super) events: u32,
    /// Bytes that they take.
    pub(super) used: u32,
}

/// Where a walk over the journal has ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct End {
    /// Place of the first item; 0 when there is none.
    pub(super) first: u32,
    /// Of the last one.
    pub(super) last: u32,
    /// Bytes that are not an event stand after it.
    pub(super) torn: bool,
    /// Whether the begin record was seen.
    pub(super) begun: bool,
}

impl Contents {
    /// The events are those from `base` on, without a gap.
    pub(super) fn follow(&self, base: u32) -> bool {
        self.first
            .is_none_or(|first| first == base && self.last.checked_sub(first) == self.events.checked_sub(1))
    }
}

#[blocking(impl<F: BlockingNorFlash, const PRIOR: bool> FlashStore<Blocking<F>, PRIOR>)]
impl<F: NorFlash, const PRIOR: bool> FlashStore<F, PRIOR> {
    /// Reads the begin record where the queue puts its first item. Changes nothing, so it may look at a foreign region.
    pub(super) async fn read_begin(&mut self) -> Result<Result<Begin, FlashError>, FlashError> {
        let at = self.layout.journal().start + self.layout.word() + item_overhead(&self.medium.0);
        // 64 bytes are a multiple of every word.
        let bytes = self.buffer.0.get_mut(..64).ok_or(FlashError::Layout)?;
        self.medium.read(at, bytes).await?;
        let bytes = bytes.get(..BEGIN_LEN).unwrap_or(&[]);
        Ok(Begin::decode(bytes).map_err(|error| match error {
            RecordError::Foreign if Begin::resembles(bytes) => FlashError::Damaged,
            RecordError::Foreign | RecordError::Truncated => FlashError::Foreign,
            RecordError::Version { .. } => FlashError::Record(error),
            _ => FlashError::Damaged,
        }))
    }

    /// Hands every item but the begin record to `take`, oldest first, until it returns false.
    pub(super) async fn walk(&mut self, take: &mut Take<'_>) -> Result<End, FlashError> {
        let (seen, mut end) = (AtomicU32::new(0), End::default());
        let mut queue = queue(&mut self.medium.0, &self.layout, &mut self.cache, &seen, true)?;
        let mut items = wait_async(queue.iter()).await.map_err(FlashError::queue)?;
        while let Some(item) = wait_async(items.next(&mut self.buffer.0)).await.map_err(FlashError::queue)? {
            end.last = seen.load(Ordering::Relaxed);
            end.first = if end.first == 0 { end.last } else { end.first };
            seen.store(0, Ordering::Relaxed);
            if Begin::decode(&item).is_ok() {
                end.begun = true;
            } else if !take(&Item::decode(&item).ok_or(FlashError::Damaged)?)? {
                break;
            }
        }
        self.cache = queue.destroy().1;
        Ok(End { torn: seen.load(Ordering::Relaxed) > 0, ..end })
    }

    pub(super) async fn contents(&mut self) -> Result<Contents, FlashError> {
        let (layout, mut contents) = (self.layout, Contents::default());
        self.walk(&mut |item| {
            let len = SEQUENCE_LEN + item.event.len() + if item.ticket.is_some() { TICKET_LEN } else { 0 };
            contents.used = contents.used.saturating_add(layout.item(len));
            if !item.event.is_empty() {
                contents.first.get_or_insert(item.sequence);
                contents.last = item.sequence;
                contents.events = contents.events.saturating_add(1);
            }
            Ok(true)
        })
        .await?;
        Ok(contents)
    }

    /// Erases the journal and begins it anew at `self.base`. Page after page from the first one on: while the begin record
    /// stands, none was erased.
    pub(super) async fn renew(&mut self) -> Result<(), FlashError> {
        self.state = State::Stale;
        self.cache = no_cache();
        self.erase(self.layout.journal()).await?;
        let Self { base, erases, header, .. } = *self;
        let begin = Begin {
            base,
            shape: self.layout.shape(),
            erases,
            header: Header { kind: Kind::Journal, ..header },
        };
        self.buffer.0.iter_mut().zip(begin.encode()).for_each(|(slot, byte)| *slot = byte);
        self.push(BEGIN_LEN).await?;
        self.next = base;
        (self.events, self.used) = (0, 0);
        self.unproved = false;
        self.state = State::Spent; // a mark is tried once
        self.mark(1).await?;
        self.state = State::Ready;
        Ok(())
    }

    /// Pushes the first bytes of the buffer, and says how many pages the journal has reached.
    pub(super) async fn push(&mut self, len: usize) -> Result<u32, FlashError> {
        let seen = AtomicU32::new(0);
        let mut queue = queue(&mut self.medium.0, &self.layout, &mut self.cache, &seen, false)?;
        wait_async(queue.push(self.buffer.0.get(..len).unwrap_or(&[]), false))
            .await
            .map_err(FlashError::queue)?;
        self.cache = queue.destroy().1;
        Ok(self.pages_to(seen.load(Ordering::Relaxed)))
    }

    /// Whether the longest event would fit. Into pages that are damaged or contradict each other nothing does, and a snapshot
    /// replaces them.
    pub(super) async fn fits(&mut self) -> Result<bool, FlashError> {
        let seen = AtomicU32::new(0);
        let mut queue = queue(&mut self.medium.0, &self.layout, &mut self.cache, &seen, true)?;
        let room = match wait_async(queue.find_max_fit()).await.map_err(FlashError::queue) {
            Err(FlashError::Damaged) => None,
            room => room?,
        };
        self.cache = queue.destroy().1;
        Ok(room.is_some_and(|room| room as usize >= MAX_ITEM_LEN))
    }

    /// Hands the events after the snapshot, as they were encoded, to `take`, from a sequence number on (0: all) and until
    /// it returns false.
    ///
    /// # Errors
    /// A store that is not open, or a flash that fails.
    pub async fn read_events(
        &mut self,
        from: u32,
        mut take: impl FnMut(u32, &[u8]) -> bool,
    ) -> Result<(), FlashError> {
        self.opened()?;
        if self.state == State::Stale {
            return Ok(()); // all of them are in the snapshot
        }
        // An event that could not be acknowledged may stand after the last one, and older ones in the place of a lost journal.
        let (from, end) = (from.max(self.base), self.next);
        self.walk(&mut |Item { sequence, event, .. }| {
            Ok(*sequence < from || event.is_empty() || (*sequence < end && take(*sequence, event)))
        })
        .await?;
        Ok(())
    }
}
