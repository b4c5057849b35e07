//! The keys of a store, in a small file beside it: one for each user, which is all that forgetting a user destroys.
//!
//! | bytes | content |
//! |---|---|
//! | 4096 | the head: see below |
//! | 4096 | the head once more |
//! | 4096 | 64 slots of 64 bytes |
//! | 4096 | the same slots once more |
//! | ... | and so on: 64 slots, and the same again |
//!
//! The head is `FABLEKEY`, [`VERSION`], whether the store's own key is kept elsewhere, 6 zeros, an id of 16 bytes, the store's own key
//! of 32 (zeros if it is elsewhere), 28 bytes that only the right key can have sealed, and the CRC-32 of all that. From byte 1024 on
//! is what was last to be destroyed: a length (4), and sealed pairs of a slot and the generation that it has after (4 each). A slot is a
//! generation and a key, sealed with the store's own key about the id and the slot's number: 12 bytes of nonce, 36, and 16 of tag.
//!
//! Destroying keys first says which, then writes other keys of the next generation over both copies: when that was interrupted, the
//! next opening finishes it. Of two copies of a slot that differ, the one of the higher generation counts. There are always slots in
//! stock, written and synced before anybody needs them: a new user costs no write here.
//!
//! Slot 0 seals the index, which knows who is there. It is always among those that are destroyed, so the index is made anew
//! then, and its generation is the incarnation in which new users start. Slot 1 seals what belongs to nobody.

use super::StoreError;
use super::medium::Medium;
use super::seal::{NONCE, Nonces, OVERHEAD, Secret, fill};
use std::collections::HashMap;
use std::io;
use std::sync::{Mutex, PoisonError};

/// The version of the file.
pub(super) const VERSION: u8 = 1;
/// What the file begins with.
pub(super) const MAGIC: &[u8; 8] = b"FABLEKEY";
/// Seals the index; its generation is the incarnation of new users.
pub(super) const INDEX: u32 = 0;
/// Seals what belongs to nobody.
pub(super) const HOUSE: u32 = 1;
/// The first slot for a user.
pub(super) const FIRST: u32 = 2;

const PAGE: u64 = 4096;
const SLOT: usize = 64;
const PER_PAGE: u32 = 64;
const HEAD: usize = 96;
/// Where in a copy of the head it says what is to be destroyed.
const INTENT: u64 = 1024;
/// Slots that are destroyed at once.
const AT_ONCE: usize = 256;
/// Keys that are kept in memory.
const CACHED: usize = 1 << 16;

/// A key and how often the one in its slot was destroyed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Slot {
    pub(super) generation: u32,
    pub(super) key: Secret,
}

/// See the [module](self).
#[derive(Debug)]
pub(super) struct Keys {
    medium: Box<dyn Medium>,
    own: Secret,
    id: [u8; 16],
    /// Whether the store's own key is kept elsewhere.
    external: bool,
    nonces: Nonces,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    slots: u32,
    cache: HashMap<u32, Slot>,
}

/// Where the two copies of a slot are.
const fn places(slot: u32) -> [u64; 2] {
    let first = 2 * PAGE + (slot / PER_PAGE) as u64 * 2 * PAGE + (slot % PER_PAGE) as u64 * SLOT as u64;
    [first, first + PAGE]
}

impl Keys {
    /// Makes the file of a new store. With a key the store's own key is not in it.
    pub(super) fn create(medium: Box<dyn Medium>, key: Option<&Secret>) -> Result<Self, StoreError> {
        let own = key.cloned().map_or_else(Secret::random, Ok)?;
        let mut id = [0; 16];
        fill(&mut id)?;
        let keys = Self {
            medium,
            own,
            id,
            external: key.is_some(),
            nonces: Nonces::new()?,
            state: Mutex::default(),
        };
        keys.medium.set_len(2 * PAGE)?;
        keys.write_head()?;
        keys.grow(PER_PAGE)?;
        Ok(keys)
    }

    /// Opens the file. A key is needed if the store's own key is not in it.
    ///
    /// # Errors
    /// No such file, another key, or a file of which neither copy of the head can be read.
    pub(super) fn open(medium: Box<dyn Medium>, key: Option<&Secret>) -> Result<Self, StoreError> {
        let nonces = Nonces::new()?;
        let mut found = None;
        for offset in [0, PAGE] {
            let mut head = [0; HEAD];
            if medium.read(offset, &mut head).is_ok() && found.is_none() {
                found = read_head(&head, key)?;
            }
        }
        let (own, id, external) = found.ok_or(StoreError::Key("its key file is damaged or no such file"))?;
        let whole = medium.len()?.saturating_sub(2 * PAGE).div_ceil(2 * PAGE);
        let slots = u32::try_from(whole).ok().and_then(|pages| pages.checked_mul(PER_PAGE));
        let slots = slots.ok_or(StoreError::Key("its key file is too long"))?;
        let state = Mutex::new(State { slots, cache: HashMap::new() });
        Ok(Self { medium, own, id, external, nonces, state })
    }

    /// The same keys in another file.
    pub(super) fn copy(&self, medium: Box<dyn Medium>) -> Result<Self, StoreError> {
        let state = Mutex::new(State { slots: self.slots(), cache: HashMap::new() });
        let (own, id, external) = (self.own.clone(), self.id, self.external);
        let copy = Self { medium, own, id, external, nonces: Nonces::new()?, state };
        copy.medium.set_len(2 * PAGE)?;
        copy.write_head()?;
        for slot in 0..self.slots() {
            // One that is lost is made anew: nobody can have used it.
            let found = self
                .slot(slot)?
                .map_or_else(|| Ok(Slot { generation: 0, key: Secret::random()? }), Ok::<_, io::Error>)?;
            copy.write(slot, &found)?;
        }
        copy.medium.sync()?;
        Ok(copy)
    }

    /// Which key file this is; the same in all copies.
    pub(super) const fn id(&self) -> &[u8; 16] {
        &self.id
    }

    /// Number of slots.
    pub(super) fn slots(&self) -> u32 {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).slots
    }

    fn write_head(&self) -> Result<(), StoreError> {
        let mut head = MAGIC.to_vec();
        head.extend_from_slice(&[VERSION, u8::from(self.external), 0, 0, 0, 0, 0, 0]);
        head.extend_from_slice(&self.id);
        head.extend_from_slice(if self.external { &[0; 32] } else { self.own.bytes() });
        head.extend_from_slice(&[0; NONCE]);
        let start = head.len() - NONCE;
        self.own.seal(&self.nonces, &self.id, &mut head, start)?;
        head.extend_from_slice(&crc32fast::hash(&head).to_le_bytes());
        head.resize(INTENT as usize, 0);
        for offset in [0, PAGE] {
            self.medium.write(offset, &head)?;
        }
        Ok(())
    }

    /// How many of the two copies of the head are not as they were written, or say something else than the other.
    pub(super) fn damaged_heads(&self) -> usize {
        let [first, second] = [0, PAGE].map(|offset| {
            let mut page = vec![0; PAGE as usize];
            self.medium.read(offset, &mut page).is_ok().then_some(page)
        });
        let is_sound = |page: &Option<Vec<u8>>| {
            let (head, rest) = page.as_deref().and_then(<[u8]>::split_first_chunk)?;
            let padding = rest.get(..INTENT as usize - HEAD)?;
            let given = self.external.then_some(&self.own);
            (read_head(head, given).ok()??.1 == self.id && padding.iter().all(|byte| *byte == 0))
                .then_some(())
        };
        let damaged = [&first, &second].into_iter().filter(|page| is_sound(page).is_none()).count();
        if damaged == 0 && first != second { 1 } else { damaged }
    }

    /// Adds so many slots, or a few more, with keys for users to come.
    pub(super) fn grow(&self, slots: u32) -> Result<(), StoreError> {
        let before = self.slots();
        let pages = slots.div_ceil(PER_PAGE).max(1);
        let after = pages
            .checked_mul(PER_PAGE)
            .and_then(|slots| before.checked_add(slots))
            .ok_or(StoreError::Exhausted)?;
        let mut pages = Vec::new();
        for slot in before..after {
            let fresh = Slot { generation: 0, key: Secret::random()? };
            pages.extend_from_slice(&self.sealed(slot, &fresh)?);
        }
        for (page, bytes) in (0_u32..).zip(pages.chunks(PAGE as usize)) {
            for offset in places(before + page * PER_PAGE) {
                self.medium.write(offset, bytes)?;
            }
        }
        self.medium.sync()?;
        self.state.lock().unwrap_or_else(PoisonError::into_inner).slots = after;
        Ok(())
    }

    /// What a slot has; `None` if neither copy can be read.
    pub(super) fn slot(&self, slot: u32) -> io::Result<Option<Slot>> {
        if let Some(cached) = self.state.lock().unwrap_or_else(PoisonError::into_inner).cache.get(&slot) {
            return Ok(Some(cached.clone()));
        }
        let [first, second] = self.copies(slot)?;
        let found = match (first, second) {
            (Some(first), Some(second)) if second.generation > first.generation => Some(second),
            (first, second) => first.or(second),
        };
        if let Some(found) = &found {
            self.cache(slot, found);
        }
        Ok(found)
    }

    fn cache(&self, slot: u32, found: &Slot) {
        let cache = &mut self.state.lock().unwrap_or_else(PoisonError::into_inner).cache;
        if cache.len() >= CACHED {
            cache.clear();
        }
        cache.insert(slot, found.clone());
    }

    fn copies(&self, slot: u32) -> io::Result<[Option<Slot>; 2]> {
        let mut copies = [None, None];
        for (copy, offset) in copies.iter_mut().zip(places(slot)) {
            let mut bytes = [0; SLOT];
            match self.medium.read(offset, &mut bytes) {
                Ok(()) => *copy = self.unsealed(slot, &mut bytes),
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {}
                Err(error) => return Err(error),
            }
        }
        Ok(copies)
    }

    /// Finishes what was to be destroyed when the machine stopped; without `write` only as far as these keys are concerned. How many
    /// slots were left.
    pub(super) fn carry_out(&self, write: bool) -> Result<usize, StoreError> {
        let mut left = 0;
        for (slot, generation) in self.intended() {
            if self.slot(slot)?.is_some_and(|found| found.generation < generation) {
                left += 1;
                let fresh = Slot { generation, key: Secret::random()? };
                if write {
                    self.write(slot, &fresh)?;
                }
                self.cache(slot, &fresh);
            }
        }
        if write && left > 0 {
            self.medium.sync()?;
        }
        Ok(left)
    }

    /// Makes both copies of every slot the same, and all of them durable; which slots have no copy that can be read, and
    /// in how many one of the two was not.
    pub(super) fn settle(&self, write: bool) -> Result<(Vec<u32>, usize), StoreError> {
        let (mut lost, mut halves) = (Vec::new(), 0);
        for slot in 0..self.slots() {
            let copies = self.copies(slot)?;
            let newest = copies.iter().flatten().max_by_key(|copy| copy.generation).cloned();
            let Some(newest) = newest else {
                lost.push(slot);
                continue;
            };
            if copies.iter().any(|copy| copy.as_ref() != Some(&newest)) {
                halves += 1;
                if write {
                    self.write(slot, &newest)?;
                }
            }
        }
        if write {
            self.medium.sync()?;
        }
        Ok((lost, halves))
    }

    fn about(&self, slot: u32) -> [u8; 20] {
        let mut about = [0; 20];
        for (to, from) in about.iter_mut().zip(self.id.into_iter().chain(slot.to_le_bytes())) {
            *to = from;
        }
        about
    }

    fn sealed(&self, slot: u32, content: &Slot) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; NONCE];
        bytes.extend_from_slice(&content.generation.to_le_bytes());
        bytes.extend_from_slice(content.key.bytes());
        self.own.seal(&self.nonces, &self.about(slot), &mut bytes, 0)?;
        Ok(bytes)
    }

    fn unsealed(&self, slot: u32, bytes: &mut [u8; SLOT]) -> Option<Slot> {
        let (generation, key) = self.own.open(&self.about(slot), bytes)?.split_first_chunk()?;
        let key = Secret::from_bytes(*key.first_chunk()?);
        Some(Slot { generation: u32::from_le_bytes(*generation), key })
    }

    fn write(&self, slot: u32, content: &Slot) -> io::Result<()> {
        let bytes = self.sealed(slot, content)?;
        places(slot).into_iter().try_for_each(|offset| self.medium.write(offset, &bytes))?;
        self.cache(slot, content);
        Ok(())
    }

    /// The incarnation in which new users start.
    pub(super) fn incarnation(&self) -> Result<u32, StoreError> {
        Ok(self.slot(INDEX)?.ok_or(StoreError::Key("the key of its index is damaged"))?.generation)
    }

    /// New users start in this incarnation from now on.
    pub(super) fn start_in(&self, incarnation: u32) -> Result<(), StoreError> {
        let key = self.slot(INDEX)?.ok_or(StoreError::Key("the key of its index is damaged"))?.key;
        self.write(INDEX, &Slot { generation: incarnation, key })?;
        Ok(self.medium.sync()?)
    }

    /// Destroys the keys of slots for good, each with the generation it is known to have, and the key of the index before them. New
    /// users start in this incarnation.
    ///
    /// # Errors
    /// The disk; some of the keys may be destroyed then, and the next opening finishes those that were begun.
    pub(super) fn destroy(&self, slots: &[(u32, u32)], incarnation: u32) -> Result<(), StoreError> {
        for (some, incarnation) in slots
            .chunks(AT_ONCE)
            .zip(incarnation.saturating_sub((slots.len().div_ceil(AT_ONCE) - 1) as u32)..)
        {
            let mut fresh = vec![(INDEX, Slot { generation: incarnation, key: Secret::random()? })];
            for (slot, known) in some {
                // One that cannot be read goes on from what is known: no generation comes twice.
                let generation = self.slot(*slot)?.map_or(*known, |slot| slot.generation.max(*known));
                let generation = generation.checked_add(1).ok_or(StoreError::Exhausted)?;
                fresh.push((*slot, Slot { generation, key: Secret::random()? }));
            }
            self.intend(&fresh)?;
            self.medium.sync()?;
            for (slot, content) in &fresh {
                self.write(*slot, content)?;
            }
            self.medium.sync()?;
        }
        Ok(())
    }

    /// Says what is to be destroyed.
    fn intend(&self, slots: &[(u32, Slot)]) -> io::Result<()> {
        let mut bytes = vec![0; 4 + NONCE];
        for (slot, content) in slots {
            bytes.extend_from_slice(&slot.to_le_bytes());
            bytes.extend_from_slice(&content.generation.to_le_bytes());
        }
        self.own.seal(&self.nonces, &self.about(u32::MAX), &mut bytes, 4)?;
        let length = (bytes.len() as u32 - 4).to_le_bytes();
        bytes.iter_mut().zip(length).for_each(|(to, from)| *to = from);
        [INTENT, PAGE + INTENT].into_iter().try_for_each(|offset| self.medium.write(offset, &bytes))
    }

    /// What was last to be destroyed, and may have been interrupted.
    fn intended(&self) -> Vec<(u32, u32)> {
        let mut pairs = Vec::new();
        for offset in [INTENT, PAGE + INTENT] {
            let mut bytes = vec![0; (PAGE - INTENT) as usize];
            if self.medium.read(offset, &mut bytes).is_err() {
                continue;
            }
            let length = bytes.first_chunk().map_or(0, |length| u32::from_le_bytes(*length) as usize);
            let plain = bytes.get_mut(4..).and_then(|bytes| bytes.get_mut(..length));
            let plain = plain.and_then(|sealed| self.own.open(&self.about(u32::MAX), sealed));
            for pair in plain.map_or(&[][..], |plain| plain).chunks_exact(8) {
                let word = |at: usize| {
                    pair.get(at..).and_then(<[u8]>::first_chunk).map_or(0, |word| u32::from_le_bytes(*word))
                };
                pairs.push((word(0), word(4)));
            }
        }
        pairs
    }
}

/// The store's own key, the id, and whether the key was given; `None` for what is no head.
fn read_head(
    head: &[u8; HEAD],
    given: Option<&Secret>,
) -> Result<Option<(Secret, [u8; 16], bool)>, StoreError> {
    let (content, sum) = head.split_at(HEAD - 4);
    if !content.starts_with(MAGIC) || sum != crc32fast::hash(content).to_le_bytes() {
        return Ok(None);
    }
    let part = |start: usize, end: usize| content.get(start..end).unwrap_or_default();
    let version = content.get(8).copied().unwrap_or_default();
    if version != VERSION {
        return Err(StoreError::Version { found: version });
    }
    let external = content.get(9) != Some(&0);
    let (Ok(id), Ok(kept)) = (<[u8; 16]>::try_from(part(16, 32)), <[u8; 32]>::try_from(part(32, 64))) else {
        return Ok(None);
    };
    let own = match (external, given) {
        (false, None) => Secret::from_bytes(kept),
        (true, Some(given)) => given.clone(),
        (true, None) => {
            return Err(StoreError::Key(
                "its key is kept elsewhere: give it in FABLE_STORE_KEY or FABLE_STORE_KEY_FILE",
            ));
        }
        (false, Some(_)) => {
            return Err(StoreError::Key(
                "its key is beside it: FABLE_STORE_KEY and FABLE_STORE_KEY_FILE are for another store",
            ));
        }
    };
    let mut proof: [u8; OVERHEAD] = part(64, 64 + OVERHEAD).try_into().unwrap_or([0; OVERHEAD]);
    match own.open(&id, &mut proof) {
        Some(_) => Ok(Some((own, id, external))),
        None => Err(StoreError::Key("the key that was given is not the store's")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::medium::Memory;
    use super::*;
    use std::sync::Arc;

    /// A medium that outlives its keys.
    #[derive(Clone, Debug, Default)]
    struct Kept(Arc<Memory>);

    impl Medium for Kept {
        fn len(&self) -> io::Result<u64> {
            self.0.len()
        }
        fn read(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
            self.0.read(offset, buffer)
        }
        fn write(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
            self.0.write(offset, bytes)
        }
        fn set_len(&self, length: u64) -> io::Result<()> {
            self.0.set_len(length)
        }
        fn sync(&self) -> io::Result<()> {
            Ok(())
        }
    }

    fn bytes(medium: &Kept) -> Vec<u8> {
        let mut bytes = vec![0; medium.len().unwrap() as usize];
        medium.read(0, &mut bytes).unwrap();
        bytes
    }

    #[test]
    fn one_copy_of_everything_is_enough() {
        let medium = Kept::default();
        let keys = Keys::create(Box::new(medium.clone()), None).unwrap();
        keys.grow(100).unwrap();
        assert_eq!(keys.slots(), 192);
        let expected: Vec<Slot> = (0..192).map(|slot| keys.slot(slot).unwrap().unwrap()).collect();
        let sound = bytes(&medium);
        for page in 0..sound.len() / 4096 {
            medium.write(page as u64 * 4096, &[0; 4096]).unwrap();
            let keys = Keys::open(Box::new(medium.clone()), None).unwrap();
            assert!(
                (0..192).all(|slot| keys.slot(slot).unwrap().as_ref() == expected.get(slot as usize)),
                "{page}"
            );
            assert!(keys.settle(true).unwrap().0.is_empty());
            medium.write(0, &sound[..8192]).unwrap();
            let keys = Keys::open(Box::new(medium.clone()), None).unwrap();
            assert_eq!(keys.settle(false).unwrap(), (vec![], 0));
        }
    }

    #[test]
    fn a_destroyed_key_is_gone_from_both_copies_whenever_it_is_interrupted() {
        let medium = Kept::default();
        let keys = Keys::create(Box::new(medium.clone()), None).unwrap();
        let (old, before) = (keys.slot(9).unwrap().unwrap(), bytes(&medium));
        keys.destroy(&[(9, 0)], 3).unwrap();
        let after = bytes(&medium);
        assert_eq!(keys.incarnation().unwrap(), 3);
        let [first, second] = places(9).map(|place| place as usize);
        for place in [first, second] {
            // Only this copy was overwritten when the machine stopped.
            let mut half = after.clone();
            let other = if place == first { second } else { first };
            half[other..other + 64].copy_from_slice(&before[other..other + 64]);
            medium.write(0, &half).unwrap();
            let keys = Keys::open(Box::new(medium.clone()), None).unwrap();
            let now = keys.slot(9).unwrap().unwrap();
            assert!(now.generation == 1 && now.key != old.key);
            assert_eq!(keys.settle(true).unwrap(), (vec![], 1));
            assert_eq!(bytes(&medium)[other..other + 64], bytes(&medium)[place..place + 64]);
        }
        assert!(Keys::open(Box::new(medium), Some(&Secret::random().unwrap())).is_err());
    }

    /// As soon as it is said what is to be destroyed, it will be.
    #[test]
    fn an_intention_is_carried_out() {
        let medium = Kept::default();
        let keys = Keys::create(Box::new(medium.clone()), None).unwrap();
        let (old, before) = (keys.slot(9).unwrap().unwrap(), bytes(&medium));
        keys.destroy(&[(9, 0), (11, 0)], 3).unwrap();
        let mut intended = bytes(&medium);
        intended[8192..].copy_from_slice(&before[8192..]);
        for copy in [0, 4096] {
            let mut one = intended.clone();
            one[copy..copy + 4096].copy_from_slice(&before[copy..copy + 4096]);
            medium.write(0, &one).unwrap();
            let keys = Keys::open(Box::new(medium.clone()), None).unwrap();
            assert_eq!(keys.slot(9).unwrap().unwrap(), old); // nothing is written by looking
            assert_eq!([true, true].map(|write| keys.carry_out(write).unwrap()), [3, 0]);
            assert_eq!(keys.settle(false).unwrap(), (vec![], 0));
            assert!(keys.slot(9).unwrap().unwrap().key != old.key && keys.incarnation().unwrap() == 3);
        }
    }

    #[test]
    fn a_key_that_is_kept_elsewhere_is_not_in_the_file() {
        let (medium, key) = (Kept::default(), Secret::random().unwrap());
        let keys = Keys::create(Box::new(medium.clone()), Some(&key)).unwrap();
        assert!(memchr::memmem::find(&bytes(&medium), key.bytes()).is_none());
        let slot = keys.slot(5).unwrap();
        assert_eq!(Keys::open(Box::new(medium.clone()), Some(&key)).unwrap().slot(5).unwrap(), slot);
        for other in [None, Some(&Secret::random().unwrap())] {
            assert!(matches!(Keys::open(Box::new(medium.clone()), other), Err(StoreError::Key(_))));
        }
    }
}
