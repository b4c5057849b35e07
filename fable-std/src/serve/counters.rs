//! What has happened since a service was started, as numbers that every thread may add to.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A number that only grows, or a level.
#[derive(Debug, Default)]
pub(super) struct Count(AtomicU64);

impl Count {
    pub(super) fn add(&self, more: u64) {
        self.0.fetch_add(more, Ordering::Relaxed);
    }

    pub(super) fn shift(&self, by: i64) {
        self.0.fetch_add(by as u64, Ordering::Relaxed); // wraps to what is meant
    }

    pub(super) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// See the [module](self).
#[derive(Debug, Default)]
pub(super) struct Counters {
    pub(super) requests: Count,
    pub(super) errors: Count,
    pub(super) events: Count,
    pub(super) changes: Count,
    pub(super) commits: Count,
    pub(super) conflicts: Count,
    pub(super) users_in_memory: Arc<Count>,
    /// Bytes that one user takes.
    pub(super) each: u64,
}

/// The numbers of a running service, for those who watch it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Gauges {
    /// Requests that were answered.
    pub requests: u64,
    /// Those of them that were refused.
    pub errors: u64,
    /// Events that were made.
    pub events: u64,
    /// Changes of users that were noticed.
    pub changes: u64,
    /// Commits that have succeeded.
    pub commits: u64,
    /// Users about whom another process wrote first, as often as that was.
    pub conflicts: u64,
    /// Users in memory.
    pub users_in_memory: u64,
    /// Bytes that they take.
    pub bytes_in_memory: u64,
}

impl From<&Counters> for Gauges {
    fn from(counters: &Counters) -> Self {
        Self {
            requests: counters.requests.get(),
            errors: counters.errors.get(),
            events: counters.events.get(),
            changes: counters.changes.get(),
            commits: counters.commits.get(),
            conflicts: counters.conflicts.get(),
            users_in_memory: counters.users_in_memory.get(),
            bytes_in_memory: counters.users_in_memory.get() * counters.each,
        }
    }
}
