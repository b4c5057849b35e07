//! The journal: a queue of `sequential-storage`.
//!
//! Each item is a sequence number, fixed `u32`, and an event as
//! [`encode_event`](fable_core::record::encode_event) writes it.
//!
//! | bit of the number | meaning |
//! |---|---|
//! | 31 | the [request id](crate::ReplyCache::request_id), fixed `u32`, follows the event |
//! | 30 | an erase for a host, without an event (`wear.rs`) |
//!
//! The first item is the *begin record*: the sequence number of the first event, the sizes of the slots, the
//! pages erased so far, fixed `u32` each; the CRC-32 of these; then the [`Header`] of a journal. It is
//! written right after the erase of the pages, so its presence proves that the erase was complete. Without it
//! no event was acknowledged, and the pages are erased again.
//!
//! After a power cut the queue rewrites a word in two cases: a half-programmed item header or page mark that
//! reads as erased. On parts that refuse this, `push` fails. The journal is then *broken*, and
//! [`ensure_capacity`](crate::AsyncUserStore::ensure_capacity) replaces it by a snapshot.
//!
//! After a torn item the queue searches for the next item word by word. Once in 65,536 times it takes torn
//! bytes for an item. So the first event after a restart is read back before it is acknowledged.

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
/// Bytes of a request id.
pub(super) const REQUEST_ID_LEN: usize = 4;
/// The longest item.
pub(super) const MAX_ITEM_LEN: usize = SEQUENCE_LEN + MAX_EVENT_LEN + REQUEST_ID_LEN;
/// Bit of a sequence number: a request id follows the event.
pub(super) const HAS_REQUEST_ID: u32 = 1 << 31;
/// Bit of a sequence number: the item is an erase for a host, without an event.
pub(super) const IS_ERASE: u32 = 1 << 30;
/// Bytes of the begin record.
pub(super) const BEGIN_LEN: usize = 16 + HEADER_LEN;
/// First bytes of its header.
const MAGIC: &[u8; 4] = b"FABJ";

/// Cache of the position of the next item on each of the first pages. It saves a search on parts with large
/// pages.
pub(super) type JournalCache = Cache<Uncached, ArrayPagePointers<8>, Uncached>;

pub(super) fn no_cache() -> JournalCache {
    Cache::new(Uncached, ArrayPagePointers::new(), Uncached)
}

/// Creates the queue for one call. A `read_only` queue erases nothing.
fn queue<'f, F: Flash>(
    flash: &'f mut F,
    layout: &Layout,
    cache: &mut JournalCache,
    seen: &'f AtomicU32,
    read_only: bool,
) -> Result<QueueStorage<TrackedFlash<'f, F::Driver<'f>>, JournalCache>, FlashError> {
    let config = QueueConfig::try_new(layout.journal()).map_err(|_| FlashError::Layout)?;
    let tracked = TrackedFlash { flash: flash.driver(), seen, read_only };
    Ok(QueueStorage::new(tracked, config, mem::replace(cache, no_cache())))
}

/// An item after the begin record.
#[derive(Clone, Copy)]
pub(super) struct Item<'i> {
    pub(super) sequence: u32,
    pub(super) request_id: Option<u32>,
    /// Empty for an erase.
    pub(super) event: &'i [u8],
}

impl<'i> Item<'i> {
    fn decode(item: &'i [u8]) -> Option<Self> {
        let (sequence, body) = item.split_first_chunk()?;
        let sequence = u32::from_le_bytes(*sequence);
        let (request_id, event) =
            match body.len().checked_sub(REQUEST_ID_LEN).filter(|_| sequence & HAS_REQUEST_ID != 0) {
                Some(at) => {
                    let (event, request_id) = body.split_at_checked(at)?;
                    (Some(u32::from_le_bytes(request_id.try_into().ok()?)), event)
                }
                None => (None, body),
            };
        let flags = sequence & (HAS_REQUEST_ID | IS_ERASE);
        let plain = flags == if request_id.is_some() { HAS_REQUEST_ID } else { 0 };
        let erase = flags == IS_ERASE && event.is_empty();
        (plain || erase).then_some(Self {
            sequence: sequence & !(HAS_REQUEST_ID | IS_ERASE),
            request_id,
            event,
        })
    }
}

/// A function that takes an item. It ends the walk with false.
type Take<'t> = dyn FnMut(&Item<'_>) -> Result<bool, FlashError> + 't;

/// Returns the number of bytes that the queue writes before an item.
fn item_overhead<F: Flash>(_: &F) -> u32 {
    QueueStorage::<F::Driver<'_>, JournalCache>::item_overhead_size()
}

/// The flash of the queue, with a record of positions.
///
/// The queue skips bytes that are not an item and does not report the position of an item. `seen` is the
/// position of the last read of programmed bytes outside page marks, or of the last write, and never 0. The
/// queue erases pages with contradictory marks, even in read operations. A `read_only` flash ignores the
/// erase, and the damage is reported.
struct TrackedFlash<'f, F> {
    flash: F,
    seen: &'f AtomicU32,
    read_only: bool,
}

impl<F: NorFlash> ErrorType for TrackedFlash<'_, F> {
    type Error = F::Error;
}

impl<F: NorFlash> ReadNorFlash for TrackedFlash<'_, F> {
    const READ_SIZE: usize = F::READ_SIZE;

    async fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), F::Error> {
        self.flash.read(offset, bytes).await?;
        let within = offset as usize % F::PAGE;
        let mark = within == 0 || within >= F::PAGE - F::WORD; // a page mark is not part of an item
        if !mark && bytes.iter().any(|byte| *byte != 0xff) {
            self.seen.store(offset, Ordering::Relaxed);
        }
        Ok(())
    }

    fn capacity(&self) -> usize {
        self.flash.capacity()
    }
}

impl<F: NorFlash> NorFlash for TrackedFlash<'_, F> {
    const WRITE_SIZE: usize = F::WRITE_SIZE;
    const ERASE_SIZE: usize = F::ERASE_SIZE;

    async fn erase(&mut self, from: u32, to: u32) -> Result<(), F::Error> {
        if self.read_only { Ok(()) } else { self.flash.erase(from, to).await }
    }

    async fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), F::Error> {
        self.seen.store(offset, Ordering::Relaxed);
        self.flash.write(offset, bytes).await
    }
}

/// The first record of a journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Begin {
    /// Sequence number of the first event.
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

    /// Returns true for a begin record, also with a few changed bits in its magic number.
    fn resembles(bytes: &[u8]) -> bool {
        bytes.iter().skip(16).zip(MAGIC).filter(|(a, b)| a == b).count() >= 3
    }
}

pub(super) fn split_words(bytes: &[u8]) -> &[[u8; 4]] {
    bytes.as_chunks().0
}

/// Content of the journal after its begin record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Contents {
    /// Sequence number of the first event.
    pub(super) first: Option<u32>,
    /// Sequence number of the last event.
    pub(super) last: u32,
    pub(super) events: u32,
    /// Bytes of the events.
    pub(super) used: u32,
}

/// End of a walk over the journal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct End {
    /// Position of the first item, 0 without items.
    pub(super) first: u32,
    /// Position of the last item.
    pub(super) last: u32,
    /// Bytes that are not an event follow the last item.
    pub(super) torn: bool,
    /// The begin record was found.
    pub(super) begun: bool,
}

impl Contents {
    /// Returns true if the events start at `base` and have no gap.
    pub(super) fn follow(&self, base: u32) -> bool {
        self.first
            .is_none_or(|first| first == base && self.last.checked_sub(first) == self.events.checked_sub(1))
    }
}

#[blocking(impl<F: BlockingNorFlash, const PRIOR: bool> FlashStore<Blocking<F>, PRIOR>)]
impl<F: NorFlash, const PRIOR: bool> FlashStore<F, PRIOR> {
    /// Reads the begin record at the position of the queue's first item. Changes nothing, also in a foreign
    /// region.
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

    /// Passes every item except the begin record to `take`, oldest first, until `take` returns false.
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
            let id_len = if item.request_id.is_some() { REQUEST_ID_LEN } else { 0 };
            let len = SEQUENCE_LEN + item.event.len() + id_len;
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

    /// Erases the journal and starts a new journal at `self.base`.
    ///
    /// The first page is erased first: as long as the begin record exists, no page was erased.
    pub(super) async fn restart_journal(&mut self) -> Result<(), FlashError> {
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
        self.unverified = false;
        self.state = State::Broken; // the mark is written at most once
        self.mark(1).await?;
        self.state = State::Ready;
        Ok(())
    }

    /// Appends the first bytes of the buffer. Returns the number of pages that the journal has reached.
    pub(super) async fn push(&mut self, len: usize) -> Result<u32, FlashError> {
        let seen = AtomicU32::new(0);
        let mut queue = queue(&mut self.medium.0, &self.layout, &mut self.cache, &seen, false)?;
        wait_async(queue.push(self.buffer.0.get(..len).unwrap_or(&[]), false))
            .await
            .map_err(FlashError::queue)?;
        self.cache = queue.destroy().1;
        Ok(self.pages_to(seen.load(Ordering::Relaxed)))
    }

    /// Returns true if the longest event fits. Nothing fits into damaged pages, which a snapshot replaces.
    pub(super) async fn fits(&mut self) -> Result<bool, FlashError> {
        let seen = AtomicU32::new(0);
        let mut queue = queue(&mut self.medium.0, &self.layout, &mut self.cache, &seen, true)?;
        let capacity = match wait_async(queue.find_max_fit()).await.map_err(FlashError::queue) {
            Err(FlashError::Damaged) => None,
            capacity => capacity?,
        };
        self.cache = queue.destroy().1;
        Ok(capacity.is_some_and(|capacity| capacity as usize >= MAX_ITEM_LEN))
    }

    /// Passes the events after the snapshot, as records, to `take`, until `take` returns false.
    ///
    /// The first event has the sequence number `from` or a later number. 0 passes all events.
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
            return Ok(()); // all events are in the snapshot
        }
        // An unacknowledged event may follow the last event. A lost journal may contain older events.
        let (from, end) = (from.max(self.base), self.next);
        self.walk(&mut |Item { sequence, event, .. }| {
            Ok(*sequence < from || event.is_empty() || (*sequence < end && take(*sequence, event)))
        })
        .await?;
        Ok(())
    }
}
