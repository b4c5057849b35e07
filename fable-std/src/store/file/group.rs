//! One write for all who commit at the same time, and the store behind the trait.
//!
//! Whoever comes first writes; whoever comes meanwhile waits, and the next one writes for all of them, with one sync. So a commit costs the
//! same for one user and for a thousand. The newest entries go to the log, which is moved into the journals when it is long.

use super::{FileStore, HashMap, Segment};
use crate::memory::Memory;
use crate::store::{Identity, Reach, Store, StoreError, Stored, Writes};
use std::path::Path;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Bytes of entries that are kept in the log before they are moved into the journals. Opening a store reads them all.
const LOG_LIMIT: usize = 2 << 20;

/// Commits that wait for each other.
#[derive(Debug, Default)]
pub(super) struct Filing {
    desk: Mutex<Desk>,
    done: Condvar,
    log: Mutex<Option<Log>>,
}

#[derive(Debug, Default)]
struct Desk {
    waiting: Vec<Job>,
    /// What those were told who have not yet looked.
    told: HashMap<u64, Result<(), StoreError>>,
    /// Whether somebody is writing.
    writing: bool,
    next: u64,
}

#[derive(Debug)]
struct Job {
    ticket: u64,
    writes: Writes,
    sync: bool,
}

/// The log in memory.
#[derive(Debug, Default)]
struct Log {
    tails: HashMap<u64, Segment>,
    bytes: usize,
}

impl Filing {
    fn desk(&self) -> MutexGuard<'_, Desk> {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl FileStore {
    /// Commits together with everybody who does at the same time.
    fn file(&self, writes: Writes, sync: bool) -> Result<(), StoreError> {
        let mut desk = self.filing.desk();
        let ticket = desk.next;
        desk.next += 1;
        desk.waiting.push(Job { ticket, writes, sync });
        loop {
            if let Some(told) = desk.told.remove(&ticket) {
                return told;
            }
            if desk.writing {
                desk = self.filing.done.wait(desk).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            desk.writing = true;
            // Forgetting needs no room on the disk, so it is not kept waiting by what does.
            let erases = desk.waiting.first().is_some_and(|job| job.writes.erases());
            let run = desk
                .waiting
                .iter()
                .position(|job| job.writes.erases() != erases)
                .unwrap_or(desk.waiting.len());
            let jobs: Vec<Job> = desk.waiting.drain(..run).collect();
            drop(desk);
            let (mut all, mut sync, mut tickets) = (Writes::default(), false, Vec::with_capacity(jobs.len()));
            for job in jobs {
                sync |= job.sync;
                tickets.push(job.ticket);
                all.merge(job.writes);
            }
            let done = self.file_at_once(all, sync);
            desk = self.filing.desk();
            desk.writing = false;
            for ticket in tickets {
                desk.told.insert(ticket, done.as_ref().copied().map_err(StoreError::again));
            }
            self.filing.done.notify_all();
        }
    }

    fn file_at_once(&self, mut writes: Writes, sync: bool) -> Result<(), StoreError> {
        let mut place = self.filing.log.lock().unwrap_or_else(PoisonError::into_inner);
        let mut log = if let Some(log) = place.take() {
            log
        } else {
            let tails = self.log()?;
            Log { bytes: tails.values().map(|segment| segment.bytes.len()).sum(), tails }
        };
        for user in &writes.erased {
            log.bytes -= log.tails.remove(user).map_or(0, |tail| tail.bytes.len());
        }
        for (user, segment) in &writes.log {
            log.bytes += segment.bytes.len();
            match log.tails.get_mut(user) {
                Some(tail) => tail.append(segment),
                None => drop(log.tails.insert(*user, segment.clone())),
            }
        }
        if writes.folded {
            log = Log::default();
        } else if log.bytes > LOG_LIMIT && !writes.erases() {
            writes.fold(log.tails.iter().map(|(user, segment)| (*user, segment)));
            log = Log::default();
        }
        self.commit_now(&writes, sync)?; // otherwise the log is read again
        *place = Some(log);
        Ok(())
    }
}

impl Store for FileStore {
    fn identity(&self) -> Result<Identity, StoreError> {
        Self::identity(self)
    }

    fn incarnation(&self) -> Result<u32, StoreError> {
        Self::incarnation(self)
    }

    fn users(&self) -> Result<u64, StoreError> {
        Ok(Self::users(self))
    }

    fn everyone(&self) -> Result<Vec<u64>, StoreError> {
        Ok(Self::everyone(self))
    }

    fn find(&self, name: &str) -> Result<Option<u64>, StoreError> {
        Self::find(self, name)
    }

    fn holder(&self, name: &str) -> Result<Option<u64>, StoreError> {
        Self::holder(self, name)
    }

    fn has(&self, number: u64) -> Result<bool, StoreError> {
        Ok(Self::has(self, number))
    }

    fn user(&self, number: u64, reach: Reach) -> Result<Option<Stored>, StoreError> {
        Self::user(self, number, reach)
    }

    fn memory(&self, number: u64) -> Result<Memory, StoreError> {
        Self::memory(self, number)
    }

    fn prior(&self, fingerprint: u64) -> Result<Option<Vec<u8>>, StoreError> {
        Self::prior(self, fingerprint)
    }

    fn priors(&self) -> Result<Vec<u64>, StoreError> {
        Ok(Self::priors(self))
    }

    fn commit(&self, writes: Writes, sync: bool) -> Result<Vec<u64>, StoreError> {
        self.file(writes, sync).map(|()| Vec::new())
    }

    fn moved(&self) -> HashMap<String, u64> {
        Self::moved(self)
    }

    fn sync(&self) -> Result<(), StoreError> {
        self.sync_now()
    }

    fn idle(&self) {
        self.tend_idle();
    }

    fn watch(&self, stop: &dyn Fn() -> bool) {
        self.look_at_everyone(stop);
    }

    fn damaged(&self) -> u64 {
        Self::damaged(self)
    }

    fn bytes(&self) -> u64 {
        Self::bytes(self)
    }

    fn is_at(&self, path: &Path) -> bool {
        Self::is_at(self, path)
    }

    fn backup(&self, path: &Path, progress: &mut dyn FnMut(u64, u64)) -> Result<u64, StoreError> {
        self.copy_to(path, progress)
    }
}
