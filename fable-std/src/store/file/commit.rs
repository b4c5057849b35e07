//! One commit as one group at the end of the store's file.

use super::frame::{Data, Group, Kind, Place};
use super::index::{Change, Entry, Index, Snapshots};
use super::keys::{HOUSE, Keys, Slot};
use super::reader::Reader;
use super::seal::Nonces;
use super::{Damage, StoreError, Writes};
use crate::memory::{self, Bounds, Exchange};
use crate::store::journal::Segment;
use fable_core::user_hash;
use std::collections::{BTreeMap, btree_map};

/// Parts of a journal up to this many bytes are joined with the next one; longer ones stay as they are.
const JOINED: u64 = 32 << 10;

/// A group and what it changes.
#[derive(Debug)]
pub(super) struct Draft {
    pub(super) group: Group,
    pub(super) changes: Vec<Change>,
    /// Slots that new users have got.
    pub(super) taken: usize,
}

/// What a group is made with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Press<'p> {
    pub(super) data: &'p Data,
    pub(super) keys: &'p Keys,
    pub(super) nonces: &'p Nonces,
    pub(super) index: &'p Index,
    pub(super) history: Option<u64>,
    pub(super) memory: Bounds,
}

/// The content of a part of a memory: where the part before it is, how much is kept from it on backwards, and exchanges.
pub(super) fn memory_part(before: Place, bounds: &Bounds, exchanges: &[Exchange]) -> Vec<u8> {
    let mut bytes = before.bits().to_le_bytes().to_vec();
    for bound in [bounds.exchanges, bounds.bytes] {
        bytes.extend_from_slice(&u32::try_from(bound).unwrap_or(u32::MAX).to_le_bytes());
    }
    bytes.extend_from_slice(&memory::encode(exchanges));
    bytes
}

impl Press<'_> {
    /// The group of some writes. New users get the last ones of the free slots.
    pub(super) fn group(
        &self,
        start: u64,
        writes: &Writes,
        lost: &BTreeMap<u64, Damage>,
        free: &[u32],
    ) -> Result<Draft, StoreError> {
        let mut draft = Draft { group: Group::at(start), changes: Vec::new(), taken: 0 };
        let mut entries = BTreeMap::<u64, Entry>::new();
        let mut free = free.iter().rev();
        for (fingerprint, prior) in &writes.priors {
            let house = self.keys.slot(HOUSE)?.ok_or(StoreError::Key("the key of the house is damaged"))?;
            let place = draft.group.push(
                self.data,
                self.nonces,
                (HOUSE, &house),
                (Kind::Prior, *fingerprint),
                &[prior],
            )?;
            draft.changes.push(Change::Prior(*fingerprint, place));
        }
        for (number, row) in &writes.users {
            let slot = *free.next().ok_or(StoreError::Damaged("there is no free slot"))?;
            draft.taken += 1;
            let generation = self.keys.slot(slot)?.ok_or(StoreError::User(Damage::Key))?.generation;
            let moved = user_hash(&row.name) != *number;
            let entry = entries
                .entry(*number)
                .insert_entry(Entry { slot, generation, moved, ..Entry::default() })
                .into_mut();
            entry.row = self.frame(&mut draft.group, entry, (Kind::User, 0), &[&row.encode()])?;
        }
        for (number, rules) in &writes.wishes {
            let entry = self.entry(&mut entries, *number)?;
            entry.rules = self.frame(&mut draft.group, entry, (Kind::Rules, 0), &[rules])?;
        }
        for (number, damage) in lost {
            let Ok(entry) = self.entry(&mut entries, *number) else { continue };
            if entry.lost == 0
                && self.keys.slot(entry.slot)?.is_some_and(|slot| slot.generation == entry.generation)
            {
                entry.lost = *damage as u8;
                self.lost(&mut draft.group, *number, entry)?;
            }
        }
        if writes.folded {
            let house = self.keys.slot(HOUSE)?.ok_or(StoreError::Key("the key of the house is damaged"))?;
            draft.group.push(self.data, self.nonces, (HOUSE, &house), (Kind::Fold, 0), &[])?;
            draft.changes.push(Change::Fold);
        }
        for ((number, _), segment) in &writes.journal {
            let entry = self.entry(&mut entries, *number)?;
            entry.journal = self.journal(&mut draft.group, entry, segment)?;
        }
        for (number, segment) in &writes.log {
            let entry = self.entry(&mut entries, *number)?;
            let place = self.frame(&mut draft.group, entry, (Kind::Log, segment.first), &[&segment.bytes])?;
            draft.changes.push(Change::Log(*number, place));
        }
        for (number, (seen, snapshot)) in &writes.bases {
            let entry = self.entry(&mut entries, *number)?;
            let place = self.frame(&mut draft.group, entry, (Kind::Base, *seen), &[snapshot])?;
            entry.snapshots = Some(Box::new(Snapshots::at(*seen, place)));
        }
        for (number, (seen, snapshot)) in &writes.snapshots {
            let entry = self.entry(&mut entries, *number)?;
            let place = self.frame(&mut draft.group, entry, (Kind::Snapshot, *seen), &[snapshot])?;
            entry.snapshots.get_or_insert_default().push(*seen, place, self.history);
        }
        for (number, remembered) in &writes.memories {
            let entry = self.entry(&mut entries, *number)?;
            if remembered.anew {
                entry.memory = Place::NONE;
            }
            let part = memory_part(entry.memory, &self.memory, &remembered.exchanges);
            entry.memory = self.frame(&mut draft.group, entry, (Kind::Memory, 0), &[&part])?;
        }
        let untouched = |number: &u64, entry: &Entry| self.index.users.get(number) == Some(entry);
        let changed = entries.into_iter().filter(|(number, entry)| !untouched(number, entry));
        draft.changes.extend(changed.map(|(number, entry)| Change::Put(number, entry)));
        Ok(draft)
    }

    /// The key of a user. Nothing of somebody who was forgotten meanwhile is sealed for whoever has the slot now.
    fn key(&self, entry: &Entry) -> Result<Slot, StoreError> {
        Ok(Reader { data: self.data, keys: self.keys }.key(entry)?)
    }

    fn entry<'e>(
        &self,
        entries: &'e mut BTreeMap<u64, Entry>,
        number: u64,
    ) -> Result<&'e mut Entry, StoreError> {
        match entries.entry(number) {
            btree_map::Entry::Occupied(entry) => Ok(entry.into_mut()),
            btree_map::Entry::Vacant(place) => {
                Ok(place.insert(self.index.users.get(&number).cloned().ok_or(StoreError::NoUser)?))
            }
        }
    }

    pub(super) fn frame(
        &self,
        group: &mut Group,
        entry: &Entry,
        what: (Kind, u64),
        parts: &[&[u8]],
    ) -> Result<Place, StoreError> {
        group.push(self.data, self.nonces, (entry.slot, &self.key(entry)?), what, parts)
    }

    /// Says that something of a user is lost.
    pub(super) fn lost(&self, group: &mut Group, number: u64, entry: &Entry) -> Result<Place, StoreError> {
        let content = [&number.to_le_bytes()[..], &[u8::from(entry.moved)]].concat();
        self.frame(group, entry, (Kind::Lost, u64::from(entry.lost)), &[&content])
    }

    /// A part of a journal after those that are there. Parts before it that are not much longer are joined with it, so a journal has
    /// few of them, each much longer than the one after it.
    fn journal(&self, group: &mut Group, entry: &Entry, segment: &Segment) -> Result<Place, StoreError> {
        let (reader, key) = (Reader { data: self.data, keys: self.keys }, self.key(entry)?);
        let (mut segment, mut before) = (segment.clone(), entry.journal);
        while !before.is_none() && before.size() <= JOINED.min(2 * segment.bytes.len() as u64 + 128) {
            // One that cannot be read, or does not fit, is left as it is: reading the user will tell.
            let Ok((mut part, earlier)) = reader.part(entry, &key, before) else { break };
            if part.end() != segment.first {
                break;
            }
            part.append(&segment);
            (segment, before) = (part, earlier);
        }
        let what = (Kind::Journal, segment.first);
        self.frame(group, entry, what, &[&before.bits().to_le_bytes(), &segment.bytes])
    }
}
