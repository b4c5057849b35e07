//! How a commit comes into the store's files: erasing first, then a group at the end, then the index.

use super::{BTreeMap, Change, FileStore, HashSet, INDEX, Mirror, Press, StoreError, Writer, Writes, commit};
use fable_core::user_hash;
use std::sync::Arc;

/// Users up to which the index is written anew at once when it has to be.
const SMALL: usize = 4_096;

impl FileStore {
    /// Commits changes, all or nothing. With `sync` they are on disk when this returns; without, they are some time later,
    /// in order. Erasing comes first, needs no room, and is on disk in any case.
    ///
    /// # Errors
    /// A store that cannot be written; it is as before then but for who was erased, unless the error is [`StoreError::Uncertain`]. After
    /// that nothing is committed any more: opened anew, the store knows what it has.
    pub(super) fn commit_now(&self, writes: &Writes, sync: bool) -> Result<(), StoreError> {
        let writer = &mut *self.writer();
        let done = writer.is_certain().and_then(|()| self.write(writer, writes, sync));
        writer.uncertain |= matches!(done, Err(StoreError::Uncertain(_)));
        done
    }

    fn write(&self, writer: &mut Writer, writes: &Writes, sync: bool) -> Result<(), StoreError> {
        if writes.erases() {
            self.erase(writer, writes).map_err(StoreError::uncertain)?;
        }
        // Also after somebody who came and was erased in one commit.
        if let Some(incarnation) = writes.incarnation
            && incarnation > self.incarnation()?
        {
            self.keys.start_in(incarnation).map_err(StoreError::uncertain)?;
        }
        self.stock(writer, writes.users.len())?;
        let draft = {
            let shared = self.read();
            let (data, index, history, memory) = (&*shared.data, &shared.index, self.history, self.memory);
            let press = Press { data, keys: &self.keys, nonces: &writer.nonces, index, history, memory };
            // Forgetting is to need no room; but once the log is moved, nothing else tells that a part of it is damaged.
            let lost = if writes.erases() && !writes.folded { &BTreeMap::new() } else { &shared.damaged };
            press.group(writer.end, writes, lost, &writer.free)?
        };
        if !draft.group.is_empty() {
            self.append(writer, draft, writes)?;
        }
        if sync {
            self.settle(writer).map_err(StoreError::uncertain)?;
        }
        self.tend(writer);
        Ok(())
    }

    /// Sees to it that the last so many free slots have keys.
    fn stock(&self, writer: &mut Writer, wanted: usize) -> Result<(), StoreError> {
        let mut sound = Vec::with_capacity(wanted);
        while sound.len() < wanted
            && let Some(slot) = writer.free.pop()
        {
            // One whose key is damaged is left out.
            sound.extend(self.keys.slot(slot)?.map(|_| slot));
        }
        let missing = wanted - sound.len();
        writer.free.extend(sound.into_iter().rev());
        if missing > 0 {
            let before = self.keys.slots();
            self.keys.grow(u32::try_from(missing).unwrap_or(u32::MAX).max(before / 8))?;
            // The file may have been longer: users whose keys are gone keep their slots.
            let shared = self.read();
            let used: HashSet<u32> =
                shared.index.users.values().map(|entry| entry.slot).filter(|slot| *slot >= before).collect();
            writer.free.extend((before..self.keys.slots()).filter(|slot| !used.contains(slot)));
        }
        Ok(())
    }

    /// Writes a group and lets it have happened.
    fn append(
        &self,
        writer: &mut Writer,
        mut draft: commit::Draft,
        writes: &Writes,
    ) -> Result<(), StoreError> {
        let data = Arc::clone(&self.read().data);
        let (start, end) = (draft.group.start(), draft.group.end());
        if let Err(error) = data.medium.write(start, draft.group.finish(writer.number + 1, writer.synced)) {
            let error = StoreError::from(error);
            // After a failure that is not want of room, what is read back need not be what is on the disk.
            let undone = data.medium.set_len(start).is_ok();
            return Err(if undone && error.is_want_of_room() { error } else { error.uncertain() });
        }
        (writer.end, writer.number, writer.open) = (end, writer.number + 1, true);
        writer.free.truncate(writer.free.len() - draft.taken);
        let mut shared = self.change();
        for change in &draft.changes {
            if let Change::Put(number, entry) = change
                && entry.lost != 0
                && shared.damaged.remove(number).is_some()
            {
                shared.marked += 1;
            }
            shared.index.apply(change.clone());
        }
        for (number, row) in writes.users.iter().filter(|(number, row)| user_hash(&row.name) != **number) {
            shared.moved.insert(row.name.clone(), *number);
        }
        writer.pending.append(&mut draft.changes);
        Ok(())
    }

    /// Destroys the keys of users.
    fn erase(&self, writer: &mut Writer, writes: &Writes) -> Result<(), StoreError> {
        let slots: Vec<(u64, (u32, u32))> = {
            let shared = self.read();
            let key = |number| shared.index.users.get(number).map(|entry| (entry.slot, entry.generation));
            writes.erased.iter().filter_map(|number| Some((*number, key(number)?))).collect()
        };
        if slots.is_empty() {
            return Ok(());
        }
        let now = self.incarnation()?;
        let next = now.checked_add(slots.len() as u32).ok_or(StoreError::Exhausted)?;
        let gone: Vec<(u32, u32)> = slots.iter().map(|(_, key)| *key).collect();
        writer.open = true;
        self.keys.destroy(&gone, next.max(writes.incarnation.unwrap_or(0)))?;
        writer.mirror = None; // nobody can read it any more
        writer.free.extend(gone.into_iter().map(|(slot, _)| slot));
        let mut shared = self.change();
        for (number, _) in &slots {
            shared.nameless.remove(number);
            let marked = shared.index.users.get(number).is_some_and(|entry| entry.lost != 0);
            shared.marked -= usize::from(marked && shared.marked > 0);
            shared.index.remove(*number);
            shared.damaged.remove(number);
            shared.moved.retain(|_, moved| moved != number);
        }
        Ok(())
    }

    /// Makes everything that was committed durable.
    ///
    /// # Errors
    /// [`StoreError::Uncertain`], when the store cannot be written.
    pub(super) fn sync_now(&self) -> Result<(), StoreError> {
        let writer = &mut *self.writer();
        let done = self.settle(writer).map_err(StoreError::uncertain);
        writer.uncertain |= done.is_err();
        done
    }

    /// Syncs the store's file, and tells the index then.
    pub(super) fn settle(&self, writer: &mut Writer) -> Result<(), StoreError> {
        writer.is_certain()?;
        if writer.pending.is_empty() {
            return Ok(());
        }
        let data = Arc::clone(&self.read().data);
        data.medium.sync()?;
        writer.synced = writer.end;
        let changes = std::mem::take(&mut writer.pending);
        let at = (writer.end, writer.number);
        if let Some(mirror) = &mut writer.mirror
            && let Err(error) = mirror.add(at, &changes)
        {
            tracing::warn!(%error, "the index cannot be written; opening will take longer");
            writer.mirror = None;
        }
        Ok(())
    }

    /// Writes the index's file anew. Everything that was committed has to be on disk.
    pub(super) fn reflect(&self, writer: &mut Writer) {
        let Some(file) = self.home.index() else { return };
        writer.mirror = None;
        let shared = self.read();
        let made = || -> Result<Mirror, StoreError> {
            let key = self.keys.slot(INDEX)?.ok_or(StoreError::Key("the key of its index is damaged"))?;
            Ok(Mirror::create(file?, &shared.data, key, &shared.index, (writer.end, writer.number))?)
        };
        match made() {
            Ok(mirror) => writer.mirror = Some(mirror),
            Err(error) => tracing::warn!(%error, "the index cannot be written; opening will take longer"),
        }
    }

    /// What is due after a commit.
    fn tend(&self, writer: &mut Writer) {
        if writer.pending.is_empty() && self.home.has_index() {
            let users = self.read().index.users.len();
            let long = |mirror: &Mirror| mirror.has_grown_to(300, 8 << 20);
            if writer.mirror.as_ref().map_or(users <= SMALL, long) {
                self.reflect(writer);
            }
        }
        self.renew(writer);
    }

    /// What can be done while nobody waits.
    pub(super) fn tend_idle(&self) {
        let writer = &mut *self.writer();
        if writer.open && writer.mirror.is_none() && self.settle(writer).is_ok() {
            self.reflect(writer);
        }
        self.renew(writer);
    }
}
