//! A service without a pipe: requests are handed over one by one, and each is answered by a call.

use super::answer::Labels;
use super::engine::Engine;
use super::ledger::Progress;
use super::op::Incoming;
use super::refusal::{Code, Refusal};
use super::{Options, ServeError, pipeline};
use crate::prior_file;
use crate::store::{Identity, Priors, Store, StoreError};
use fable_core::{Catalog, Policy, Scalar, Settings};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

/// Requests that wait for the learners.
const WAITING: usize = 4096;

type Reply = Box<dyn FnOnce(Answered) + Send>;

/// A running service: hands requests to the threads that have the users. Cheap to clone.
#[derive(Clone)]
pub struct Service {
    catalog: &'static Catalog<'static>,
    work: SyncSender<(Incoming, Reply)>,
    counters: Arc<Counters>,
}

impl fmt::Debug for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Service").finish_non_exhaustive()
    }
}

/// What a request was answered with.
#[derive(Clone, Debug)]
pub struct Answered {
    /// One line of JSON, without the newline.
    pub json: Vec<u8>,
    /// Why it was refused, if it was.
    pub code: Option<Code>,
}

/// So many requests wait that it is better to come again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Busy;

impl fmt::Display for Busy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("too many requests wait")
    }
}

impl std::error::Error for Busy {}

/// Counts of a running service.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gauges {
    /// Users in memory.
    pub users: u64,
    /// Bytes that they take.
    pub bytes: u64,
    /// Commits since the start.
    pub commits: u64,
    /// Requests that had to be computed again because another process had changed the user.
    pub conflicts: u64,
    /// Events since the start.
    pub events: u64,
}

#[derive(Debug, Default)]
struct Counters {
    users: AtomicU64,
    bytes: AtomicU64,
    commits: AtomicU64,
    events: AtomicU64,
}

impl Service {
    /// Opens what there is to serve and runs `front` with it; when this returns, everything that was answered is on disk.
    ///
    /// # Errors
    /// As for [`serve`](super::serve), and what `front` ends with.
    pub fn run<T: Scalar>(
        catalog: &'static Catalog<'static>,
        settings: Settings<'static>,
        options: &Options,
        front: impl FnOnce(Self) -> Result<(), ServeError>,
    ) -> Result<(), ServeError> {
        let base = Policy::<T>::new(catalog, settings).map_err(ServeError::Settings)?;
        let prior = options.prior.as_deref().map(|bytes| prior_file::read(&base, bytes)).transpose()?;
        let identity = Identity::new(&base);
        let store = Arc::new(match &options.store {
            Some(path) => Store::open_with(path, &identity, &options.keeping)?,
            None => Store::in_memory(&identity)?,
        });
        let policies = Priors::open(&store, &base, prior.as_deref())?;
        let policies = policies.policies(&base)?;
        let labels = Labels::new(catalog);
        let progress = Arc::new(Progress::default());
        let mut engine = Engine::new(&policies, &labels, Arc::clone(&store), Arc::clone(&progress), options.cache)?;
        let (work, requests) = sync_channel(WAITING);
        let counters = Arc::new(Counters::default());
        let service = Self { catalog, work, counters: Arc::clone(&counters) };
        let sync = options.durable && options.store.is_some();
        let learn = move || work_through(&mut engine, &store, &progress, &counters, sync, &requests);
        std::thread::scope(|scope| {
            let learners = scope.spawn(move || pipeline::caught("learners", learn));
            let served = front(service);
            learners.join().unwrap_or(Ok(())).and(served)
        })
    }

    /// Hands a request on. `reply` is called once with its answer, on a thread of the service, and must not block.
    ///
    /// # Errors
    /// [`Busy`] when so many wait that it is better to come again; `reply` is not called then.
    pub fn submit(&self, incoming: Incoming, reply: impl FnOnce(Answered) + Send + 'static) -> Result<(), Busy> {
        self.work.try_send((incoming, Box::new(reply))).map_err(|_| Busy)
    }

    /// What can be chosen.
    #[must_use]
    pub fn catalog(&self) -> &'static Catalog<'static> {
        self.catalog
    }

    /// Counts.
    #[must_use]
    pub fn gauges(&self) -> Gauges {
        let Counters { users, bytes, commits, events } = &*self.counters;
        let [users, bytes, commits, events] = [users, bytes, commits, events].map(|count| count.load(Ordering::Relaxed));
        Gauges { users, bytes, commits, conflicts: 0, events }
    }
}

fn work_through<T: Scalar>(
    engine: &mut Engine<'_, T>,
    store: &Store,
    progress: &Progress,
    counters: &Counters,
    sync: bool,
    requests: &Receiver<(Incoming, Reply)>,
) -> Result<(), ServeError> {
    while let Ok(first) = requests.recv() {
        let (incoming, replies): (Vec<_>, Vec<_>) = std::iter::once(first).chain(requests.try_iter().take(WAITING)).unzip();
        let (mut incoming, mut replies) = (incoming.into_iter().peekable(), replies.into_iter());
        while incoming.peek().is_some() {
            let batch = engine.run(&mut incoming);
            let wrote = !batch.writes.is_empty();
            let done = if wrote { store.commit(&batch.writes, sync) } else { Ok(()) };
            let answers = match done {
                Ok(()) => {
                    progress.commit(batch.number);
                    counters.commits.fetch_add(u64::from(wrote), Ordering::Relaxed);
                    batch.answers
                }
                Err(error @ StoreError::Uncertain(_)) => return Err(error.into()),
                Err(error) => {
                    progress.fail();
                    batch.answers.instead(&Refusal::from(error))
                }
            };
            let (users, bytes) = engine.in_memory();
            counters.users.store(users, Ordering::Relaxed);
            counters.bytes.store(bytes, Ordering::Relaxed);
            for (line, reply) in answers.bytes().split_inclusive(|byte| *byte == b'\n').zip(&mut replies) {
                let json = line.strip_suffix(b"\n").unwrap_or(line).to_vec();
                reply(Answered { code: code(&json), json });
            }
        }
    }
    Ok(())
}

/// The code of an answer that is an error.
fn code(json: &[u8]) -> Option<Code> {
    let answer: serde_json::Value = serde_json::from_slice(json).ok()?;
    let code = answer.get("error")?.get("code")?;
    Code::ALL.into_iter().find(|candidate| serde_json::to_value(candidate).is_ok_and(|name| name == *code))
}
