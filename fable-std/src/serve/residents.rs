//! The users in memory: as many as a number of bytes has room for, the least recently used one gives way.

use super::ledger::Ledger;
use super::refusal::Refusal;
use crate::store::{Desk, Reach, Resident, StoreError};
use fable_core::{Catalog, Scalar, user_hash};
use lru::LruCache;

/// See the [module](self).
#[derive(Debug)]
pub(super) struct Residents<'p, T> {
    cache: LruCache<u64, Box<Resident<'p, T>>>,
    /// Most users; the memory for them is taken as they come.
    capacity: usize,
    /// Bytes that one of them takes.
    each: usize,
}

/// Name, place in the list of users, and what an allocator adds.
const BESIDES: usize = 512;

/// Bytes of memory that one user of a catalog takes in a running service.
///
/// ```
/// use fable_core::catalog::AGENT;
/// use fable_std::serve::user_bytes;
/// assert_eq!([user_bytes::<f32>(&AGENT) / 1000, user_bytes::<f64>(&AGENT) / 1000], [113, 218]);
/// ```
#[must_use]
pub fn user_bytes<T: Scalar>(catalog: &Catalog<'_>) -> usize {
    size_of::<Resident<'_, T>>() + catalog.state_len() * size_of::<T>() + BESIDES
}

impl<'p, T: Scalar> Residents<'p, T> {
    /// Room for at least one.
    pub(super) fn new(catalog: &Catalog<'_>, bytes: usize) -> Self {
        let each = user_bytes::<T>(catalog);
        Self { cache: LruCache::unbounded(), capacity: (bytes / each).max(1), each }
    }

    pub(super) fn len(&self) -> usize {
        self.cache.len()
    }

    /// Bytes that they take.
    pub(super) fn bytes(&self) -> usize {
        self.cache.len() * self.each
    }

    pub(super) fn clear(&mut self) {
        self.cache.clear();
    }

    pub(super) fn remove(&mut self, user: u64) {
        self.cache.pop(&user);
    }

    /// The user with a name, new ones included.
    pub(super) fn named(&mut self, desk: &mut Desk<'p, T>, ledger: &Ledger, name: &str) -> Result<&mut Resident<'p, T>, Refusal> {
        let incarnation = ledger.incarnation();
        let hash = user_hash(name);
        let cached = self.cache.peek(&hash).is_some_and(|known| known.row().name == name && known.is_known());
        let number = if cached { Some(hash) } else { ledger.find(name)? };
        let user = number.unwrap_or_else(|| ledger.number_for(name));
        // A newcomer to whom nothing has happened yet gives way to another name with the same number, and to itself in a later
        // incarnation: everyone starts in the incarnation of the first event.
        let gives_way =
            |known: &Resident<'p, T>| !known.is_known() && (known.row().name != name || known.row().incarnation != incarnation);
        if self.cache.peek(&user).is_some_and(|known| gives_way(known)) {
            self.cache.pop(&user);
        }
        if self.hashed(desk, ledger, user)?.is_none() {
            let resident = Resident::newcomer(desk, name, user, incarnation, self.oldest())?;
            self.cache.put(user, Box::new(resident));
        }
        Ok(self.cache.get_mut(&user).ok_or(StoreError::NoUser)?)
    }

    /// The user with a number; `None` when there is none.
    pub(super) fn hashed(
        &mut self,
        desk: &mut Desk<'p, T>,
        ledger: &Ledger,
        user: u64,
    ) -> Result<Option<&mut Resident<'p, T>>, Refusal> {
        if !self.cache.contains(&user) {
            let Some(stored) = ledger.user(user, Reach::Snapshot)? else { return Ok(None) };
            let resident = Resident::revive(desk, &stored, self.oldest())?;
            self.cache.put(user, Box::new(resident));
        }
        Ok(self.cache.get_mut(&user).map(|resident| &mut **resident))
    }

    /// The one who has to leave for one more; the memory is used again.
    fn oldest(&mut self) -> Option<Resident<'p, T>> {
        if self.cache.len() < self.capacity { None } else { self.cache.pop_lru().map(|(_, resident)| *resident) }
    }
}

/// Brings the part of the state that every decision needs into the processor's cache, in the order in which memory is fast. With
/// a thousand users nothing of the next one is there, and the back-solve, which runs from the end, would wait for each line in
/// turn: this takes a third off a decision in `f64`.
pub(super) fn warm<T: Scalar>(resident: &Resident<'_, T>) {
    let posterior = resident.learner().posterior();
    let root = posterior.arrow().root();
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
