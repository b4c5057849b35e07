//! What may be under way at a time: connections, requests, and bytes of bodies.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// So much of something at most.
#[derive(Clone, Debug)]
pub(super) struct Limit(Arc<Counted>);

#[derive(Debug)]
struct Counted {
    taken: AtomicUsize,
    most: usize,
}

/// A part of a [`Limit`], given back when it is dropped.
#[derive(Debug)]
pub(super) struct Share {
    of: Limit,
    amount: usize,
}

impl Limit {
    pub(super) fn new(most: usize) -> Self {
        Self(Arc::new(Counted { taken: AtomicUsize::new(0), most }))
    }

    /// How much is taken.
    pub(super) fn taken(&self) -> usize {
        self.0.taken.load(Ordering::Relaxed)
    }

    /// Takes so much, if there is room for it.
    pub(super) fn take(&self, amount: usize) -> Option<Share> {
        let before = self.0.taken.fetch_add(amount, Ordering::Relaxed);
        let share = Share { of: self.clone(), amount };
        (before + amount <= self.0.most).then_some(share) // what has no room is given back at once
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.of.0.taken.fetch_sub(self.amount, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_reached_and_not_passed() {
        let limit = Limit::new(10);
        let (six, four) = (limit.take(6).unwrap(), limit.take(4).unwrap());
        assert!(limit.take(1).is_none());
        assert_eq!(limit.taken(), 10);
        drop(six);
        assert!(limit.take(7).is_none() && limit.take(6).is_some());
        drop(four);
        assert_eq!(limit.taken(), 0);
    }
}
