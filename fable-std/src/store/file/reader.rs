//! Reading what is kept about a user: every frame is opened with the user's key, and compared with what it should be.

use super::frame::{Data, Kind, Place, Unread};
use super::index::{Entry, Snapshots};
use super::keys::{HOUSE, Keys, Slot};
use super::{Reach, Stored, UserRow};
use crate::memory::{Bounds, Exchange, Memory};
use crate::store::damage::{Damage, Fault};
use crate::store::journal::Segment;
use crate::store::wishes;
use fable_core::record::{HEADER_LEN, Header};

/// A file of frames and the keys to it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reader<'r> {
    pub(super) data: &'r Data,
    pub(super) keys: &'r Keys,
}

impl Reader<'_> {
    /// The key of a user; one of another generation is not the user's any more.
    pub(super) fn key(&self, entry: &Entry) -> Result<Slot, Fault> {
        let slot = self.keys.slot(entry.slot)?;
        Ok(slot.filter(|slot| slot.generation == entry.generation).ok_or(Damage::Key)?)
    }

    /// Whether a user was forgotten since.
    pub(super) fn is_forgotten(&self, entry: &Entry) -> bool {
        self.keys
            .slot(entry.slot)
            .is_ok_and(|slot| slot.is_some_and(|slot| slot.generation != entry.generation))
    }

    /// A frame of a kind: its position and content.
    pub(super) fn frame(
        &self,
        key: &Slot,
        slot: u32,
        kind: Kind,
        place: Place,
    ) -> Result<(u64, Vec<u8>), Unread> {
        let (head, content) = self.data.read(place, key)?;
        if (head.kind, head.slot) == (kind, slot) {
            Ok((head.position, content))
        } else {
            Err(Unread::Damaged)
        }
    }

    /// What belongs to nobody.
    pub(super) fn house(&self, kind: Kind, place: Place) -> Result<(u64, Vec<u8>), Unread> {
        let key = self.keys.slot(HOUSE).map_err(Unread::Failed)?.ok_or(Unread::Damaged)?;
        self.frame(&key, HOUSE, kind, place)
    }

    /// A prior. An empty one says that it is lost.
    pub(super) fn prior(&self, fingerprint: u64, place: Place) -> Result<Vec<u8>, Unread> {
        let (position, bytes) = self.house(Kind::Prior, place)?;
        if position == fingerprint && !bytes.is_empty() { Ok(bytes) } else { Err(Unread::Damaged) }
    }

    /// The row of a user.
    pub(super) fn row(&self, number: u64, entry: &Entry, key: &Slot) -> Result<UserRow, Fault> {
        let (_, bytes) =
            self.frame(key, entry.slot, Kind::User, entry.row).map_err(|unread| unread.of(Damage::Row))?;
        let row = UserRow::decode(&bytes).ok().filter(|row| row.header.user == number);
        Ok(row.ok_or(Damage::Row)?)
    }

    /// The hard rules of a user; none for no rule.
    pub(super) fn rules(&self, entry: &Entry, key: &Slot) -> Result<Vec<u8>, Fault> {
        if entry.rules.is_none() {
            return Ok(Vec::new());
        }
        let (_, bytes) = self
            .frame(key, entry.slot, Kind::Rules, entry.rules)
            .map_err(|unread| unread.of(Damage::Rules))?;
        if wishes::is_document(&bytes) { Ok(bytes) } else { Err(Damage::Rules.into()) }
    }

    /// What was exchanged with a user, from the newest part back until there is as much as is kept, and how much that is.
    pub(super) fn memory(&self, entry: &Entry, key: &Slot) -> Result<(Memory, Bounds), Fault> {
        let (mut newest_first, mut place, mut bounds) = (Vec::new(), entry.memory, None);
        let mut bytes = 0;
        while !place.is_none()
            && bounds.is_none_or(|most: Bounds| newest_first.len() < most.exchanges && bytes < most.bytes)
        {
            let (_, content) = self
                .frame(key, entry.slot, Kind::Memory, place)
                .map_err(|unread| unread.of(Damage::Memory))?;
            let (before, most, exchanges) = memory_of(&content).ok_or(Damage::Memory)?;
            bounds.get_or_insert(most);
            // Parts only lead backwards, so this ends.
            if !before.is_none() && before.offset() >= place.offset() {
                return Err(Damage::Memory.into());
            }
            place = before;
            bytes += exchanges.iter().map(Exchange::size).sum::<usize>();
            newest_first.extend(exchanges.into_iter().rev());
        }
        newest_first.reverse();
        let bounds = bounds.unwrap_or_default();
        Ok((Memory::of(newest_first, &bounds), bounds))
    }

    /// A snapshot that belongs to the row.
    pub(super) fn snapshot(
        &self,
        entry: &Entry,
        key: &Slot,
        row: &UserRow,
        which: (u64, Place),
    ) -> Result<Vec<u8>, Fault> {
        let (seen, place) = which;
        let (head, bytes) = self.data.read(place, key).map_err(|unread| unread.of(Damage::Snapshot))?;
        let sought = matches!(head.kind, Kind::Snapshot | Kind::Base)
            && (head.slot, head.position) == (entry.slot, seen);
        let header = bytes.get(..HEADER_LEN).and_then(|bytes| Header::decode(bytes).ok());
        let own = header.is_some_and(|header| {
            (header.user, header.fingerprint, header.digits)
                == (row.header.user, row.header.fingerprint, row.header.digits)
        });
        if sought && own { Ok(bytes) } else { Err(Damage::Snapshot.into()) }
    }

    /// One part of a journal, and where the part before it is.
    pub(super) fn part(&self, entry: &Entry, key: &Slot, place: Place) -> Result<(Segment, Place), Unread> {
        let (first, bytes) = self.frame(key, entry.slot, Kind::Journal, place)?;
        let (before, entries) = bytes.split_first_chunk().ok_or(Unread::Damaged)?;
        let segment =
            Segment::read(first, entries).ok().filter(|segment| segment.count > 0).ok_or(Unread::Damaged)?;
        Ok((segment, Place::from_bits(u64::from_le_bytes(*before))))
    }

    /// The newest entries of a journal, as one commit had them.
    pub(super) fn newest(&self, entry: &Entry, key: &Slot, place: Place) -> Result<Segment, Unread> {
        let (first, bytes) = self.frame(key, entry.slot, Kind::Log, place)?;
        Segment::read(first, &bytes).ok().filter(|segment| segment.count > 0).ok_or(Unread::Damaged)
    }

    /// All the newest entries of a journal.
    pub(super) fn log(&self, entry: &Entry, places: &[Place]) -> Result<Option<Segment>, Fault> {
        let key = self.key(entry)?;
        let mut log = None::<Segment>;
        for place in places {
            let next = self.newest(entry, &key, *place).map_err(|unread| unread.of(Damage::Journal))?;
            match &mut log {
                None => log = Some(next),
                Some(log) if log.end() == next.first => log.append(&next),
                Some(_) => return Err(Damage::Journal.into()),
            }
        }
        Ok(log)
    }

    /// The parts of a journal that are needed to go on from a position, in order.
    pub(super) fn journal(&self, entry: &Entry, key: &Slot, from: u64) -> Result<Vec<Segment>, Fault> {
        let (mut parts, mut place) = (Vec::<Segment>::new(), entry.journal);
        while !place.is_none() && parts.last().is_none_or(|part| part.first > from) {
            let (part, before) = self.part(entry, key, place).map_err(|unread| unread.of(Damage::Journal))?;
            if parts.last().is_some_and(|next| part.end() != next.first) {
                return Err(Damage::Journal.into());
            }
            parts.push(part);
            // Parts only lead backwards, so this ends.
            if !before.is_none() && before.offset() >= place.offset() {
                return Err(Damage::Journal.into());
            }
            place = before;
        }
        if parts.last().is_some_and(|part| part.first > from) {
            return Err(Damage::Journal.into());
        }
        parts.reverse();
        Ok(parts)
    }

    /// A user up to the end of the log, without a gap.
    pub(super) fn complete(
        &self,
        number: u64,
        entry: &Entry,
        log: &[Place],
        reach: Reach,
    ) -> Result<Stored, Fault> {
        let mut stored = self.stored(number, entry, reach)?;
        stored.journal.extend(self.log(entry, log)?);
        let start = stored.snapshot.as_ref().map_or(0, |(seen, _)| *seen);
        let mut end = None;
        for part in &stored.journal {
            if end.map_or(part.first > start, |end| end != part.first) {
                return Err(Damage::Journal.into());
            }
            end = Some(part.end());
        }
        Ok(stored)
    }

    /// Everything about a user but the log. A snapshot that does not check is left out for an older one, or for the journal.
    pub(super) fn stored(&self, number: u64, entry: &Entry, reach: Reach) -> Result<Stored, Fault> {
        let key = self.key(entry)?;
        let row = self.row(number, entry, &key)?;
        let wishes = self.rules(entry, &key)?;
        let stored = |snapshot, journal| {
            let (row, wishes) = (row.clone(), wishes.clone());
            Stored { row, snapshot, journal, birth: 0, wishes, prior: None, memory: Memory::default() }
        };
        let snapshots = entry.snapshots.as_deref().copied().unwrap_or_default();
        let Snapshots { newest, middle, base } = snapshots;
        let there = |which: (u64, Place)| (!which.1.is_none()).then_some(Some(which));
        // From the newest on for the state; from the beginning on, or from where the history begins, for the history.
        let mut starts = vec![there(newest), there(middle), there(base).or(Some(None))];
        if reach == Reach::Whole {
            starts.reverse();
        }
        let mut found = Err(Damage::Journal.into());
        for start in starts.into_iter().flatten() {
            let snapshot =
                start.map(|which| Ok((which.0, self.snapshot(entry, &key, &row, which)?))).transpose();
            let read = snapshot.and_then(|snapshot| {
                let journal = self.journal(entry, &key, start.map_or(0, |(seen, _)| seen))?;
                Ok(stored(snapshot, journal))
            });
            match read {
                Err(Fault::Damaged(damage)) => {
                    tracing::warn!(%damage, "a part of what is stored about a user cannot be read; another one is tried");
                    found = Err(Fault::Damaged(damage));
                }
                read => return read,
            }
        }
        found
    }
}

/// What a part of a memory says: where the part before it is, how much is kept, and exchanges.
fn memory_of(content: &[u8]) -> Option<(Place, Bounds, Vec<Exchange>)> {
    let (before, rest) = content.split_first_chunk()?;
    let (most, rest) = rest.split_first_chunk()?;
    let (room, exchanges) = rest.split_first_chunk()?;
    let bound = |bytes: &[u8; 4]| usize::try_from(u32::from_le_bytes(*bytes)).ok();
    let bounds = Bounds { exchanges: bound(most)?, bytes: bound(room)? };
    let exchanges = Memory::decode(exchanges).ok()?.into_exchanges();
    Some((Place::from_bits(u64::from_le_bytes(*before)), bounds, exchanges))
}
