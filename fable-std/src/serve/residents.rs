//! The users in memory: as many as a number of bytes has room for, the least recently used one gives way.

use super::counters::Count;
use super::refusal::Refusal;
use super::shards::Shard;
use crate::store::{Desk, Known, Reach, Resident, Store, StoreError};
use fable_core::{Catalog, Scalar, user_hash};
use lru::LruCache;
use std::sync::Arc;

/// See the [module](self).
#[derive(Debug)]
pub(super) struct Residents<'p, T> {
    cache: LruCache<u64, Box<Resident<'p, T>>>,
    /// Most users of all threads together; the memory for them is taken as they come.
    capacity: usize,
    /// This thread's part of them: it may have more while others have fewer.
    share: usize,
    /// Users of all threads.
    total: Arc<Count>,
    /// Bytes that one of them takes.
    each: usize,
    /// Whom this thread looks after.
    shard: Shard,
}

/// Name, place in the list of users, and what an allocator adds.
const BESIDES: usize = 512;

/// Bytes of memory that one user of a catalog takes in a running service.
///
/// ```
/// use fable_core::catalog::AGENT;
/// use fable_std::serve::user_bytes;
/// assert_eq!([user_bytes::<f32>(&AGENT) / 1000, user_bytes::<f64>(&AGENT) / 1000], [113, 219]);
/// ```
#[must_use]
pub fn user_bytes<T: Scalar>(catalog: &Catalog<'_>) -> usize {
    size_of::<Resident<'_, T>>() + catalog.state_len() * size_of::<T>() + BESIDES
}

impl<'p, T: Scalar> Residents<'p, T> {
    /// Room for at least one.
    pub(super) fn new(catalog: &Catalog<'_>, bytes: usize, shard: Shard, total: Arc<Count>) -> Self {
        let each = user_bytes::<T>(catalog);
        let capacity = (bytes / each).max(1);
        Self {
            cache: LruCache::unbounded(),
            capacity,
            share: (capacity / shard.of).max(1),
            total,
            each,
            shard,
        }
    }

    /// Bytes that one user takes.
    pub(super) const fn each(&self) -> usize {
        self.each
    }

    /// Users who are certain to stay when others come.
    pub(super) const fn share(&self) -> usize {
        self.share
    }

    pub(super) fn remove(&mut self, number: u64) {
        self.total.shift(-i64::from(self.cache.pop(&number).is_some()));
    }

    fn put(&mut self, number: u64, resident: Resident<'p, T>) {
        let before = self.cache.put(number, Box::new(resident));
        self.total.shift(i64::from(before.is_none()));
    }

    /// Somebody in memory, as far as a shared store has to know; a newcomer to whom nothing has happened yet gives way: somebody else may
    /// have been faster.
    pub(super) fn known(&mut self, number: u64) -> Option<Known> {
        let resident = self.cache.peek(&number)?;
        if resident.is_known() {
            return Some(resident.known());
        }
        self.remove(number);
        None
    }

    /// Somebody in memory.
    pub(super) fn here(&mut self, number: u64) -> Option<&mut Resident<'p, T>> {
        self.cache.peek_mut(&number).map(|resident| &mut **resident)
    }

    /// The user with a name, new ones included.
    pub(super) fn named(
        &mut self,
        desk: &mut Desk<'p, T>,
        store: &dyn Store,
        name: &str,
    ) -> Result<&mut Resident<'p, T>, Refusal> {
        let hash = user_hash(name);
        let own = |known: &Resident<'p, T>| known.row().name == name && known.is_known();
        if self.cache.peek(&hash).is_some_and(|known| own(known)) {
            return Ok(self.cache.get_mut(&hash).ok_or(StoreError::NoUser)?);
        }
        let number = match store.find(name)? {
            Some(number) => {
                // Somebody who is not where the name says was not looked after.
                if store.is_shared() && number != hash {
                    self.remove(number);
                }
                number
            }
            None => self.welcome(desk, store, name)?,
        };
        self.numbered(desk, store, number)?.ok_or_else(|| StoreError::NoUser.into())
    }

    /// Makes room for somebody new: the number.
    fn welcome(&mut self, desk: &Desk<'p, T>, store: &dyn Store, name: &str) -> Result<u64, Refusal> {
        let incarnation = store.incarnation()?;
        // Everyone starts in the incarnation of the first event, with the hash of the name if it is free, or a number after it that this
        // thread looks after, too.
        let mut number = user_hash(name);
        loop {
            let here = self.cache.peek(&number);
            let own = here.is_some_and(|known| {
                known.row().name == name && (known.is_known() || known.row().incarnation == incarnation)
            });
            if own {
                return Ok(number);
            }
            let free = here.is_none_or(|known| !known.is_known()) && self.shard.has(number);
            if free && !store.has(number)? {
                break;
            }
            number = number.wrapping_add(1);
        }
        self.remove(number);
        let resident = Resident::newcomer(desk, name, number, incarnation, self.oldest())?;
        self.put(number, resident);
        Ok(number)
    }

    /// The user with a number; `None` when there is none.
    pub(super) fn numbered(
        &mut self,
        desk: &mut Desk<'p, T>,
        store: &dyn Store,
        number: u64,
    ) -> Result<Option<&mut Resident<'p, T>>, Refusal> {
        if !self.cache.contains(&number) {
            let Some(stored) = store.user(number, Reach::Snapshot)? else { return Ok(None) };
            let resident = Resident::revive(desk, &stored, self.oldest())?;
            self.put(number, resident);
        }
        Ok(self.cache.get_mut(&number).map(|resident| &mut **resident))
    }

    /// Those who have to leave for one more, the least recently used first; the memory of the last is used again.
    fn oldest(&mut self) -> Option<Resident<'p, T>> {
        let mut memory = None;
        while self.total.get() >= self.capacity as u64
            && self.cache.len() >= self.share
            && let Some((_, resident)) = self.cache.pop_lru()
        {
            self.total.shift(-1);
            memory = Some(*resident);
        }
        memory
    }
}

/// Brings the part of the state that every decision needs into the processor's cache, in the order in which memory is fast. With
/// a thousand users nothing of the next one is there, and the back-solve, which runs from the end, would wait for each line in
/// turn: this takes a third off a decision in `f64`.
pub(super) fn warm<T: Scalar>(resident: &Resident<'_, T>) {
    let posterior = resident.learner().posterior();
    let root = posterior.layout().root();
    let start = posterior.packed().len().saturating_sub(root * (root + 1) / 2);
    let line = 64 / size_of::<T>();
    let mut sums = [T::ZERO; 8]; // so many loads at once
    for lines in posterior.packed().get(start..).unwrap_or_default().chunks(8 * line) {
        for (sum, number) in sums.iter_mut().zip(lines.iter().step_by(line)) {
            *sum += *number;
        }
    }
    std::hint::black_box(sums);
}
