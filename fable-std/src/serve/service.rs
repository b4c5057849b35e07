//! A running service: threads that have the users, and the handle with which requests get to them.

use super::answer::Labels;
use super::backup::Backups;
use super::counters::{Counters, Gauges};
use super::engine::{Engine, House};
use super::incoming::Incoming;
use super::op::Op;
use super::refusal::Code;
use super::shards::Shard;
use super::worker::{Job, Message, Worker};
use super::{Options, ServeError, user_bytes};
use crate::prior_file;
use crate::store::{self, FileStore, Identity, Policies, Priors, Store};
use fable_core::{Catalog, Policy, Scalar, Settings, user_hash};
use std::any::Any;
use std::collections::HashMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::Duration;

/// Messages that wait for a thread.
const QUEUE: usize = 1024;
/// Without waiting for the disk it is still told to write this often; what can be done while nobody waits is done this often, too.
const TICK: Duration = Duration::from_secs(1);

/// What a request was answered with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answered {
    /// One line of JSON, without its end.
    pub json: Vec<u8>,
    /// Why it was refused, if it was.
    pub code: Option<Code>,
}

/// So many requests wait that it is better to come again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Busy;

impl fmt::Display for Busy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("too many requests wait; come again")
    }
}

impl std::error::Error for Busy {}

/// Hands requests to the threads that have the users. Cheap to clone.
#[derive(Clone)]
pub struct Service(Arc<Shared>);

struct Shared {
    catalog: &'static Catalog<'static>,
    /// Gone when the service has ended, whoever still has a hand on it.
    store: Weak<dyn Store>,
    queues: Vec<SyncSender<Message>>,
    /// Users whose number is not the hash of their name.
    moved: HashMap<String, u64>,
    counters: Arc<Counters>,
    end: Mutex<End>,
}

/// How it ended.
#[derive(Default)]
struct End {
    failure: Option<ServeError>,
    /// Whether something has failed, also when what has was taken already.
    failed: bool,
    /// Whom to tell when something fails.
    listeners: Vec<Box<dyn Fn() + Send>>,
}

impl fmt::Debug for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Service").field("threads", &self.0.queues.len()).finish_non_exhaustive()
    }
}

impl Service {
    /// Opens what there is to serve, in the scalar `T`, and runs it for as long as `front` takes, which brings requests to it. What was
    /// answered is durable when this returns.
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
        let store: Arc<dyn Store> = match &options.store {
            Some(place) => Arc::from(store::open(place, &identity, &options.keeping)?),
            None => Arc::new(FileStore::in_memory_with(&identity, &options.keeping)?),
        };
        let priors = Priors::open(&*store, &base, prior.as_deref())?;
        let policies = priors.policies(&base)?;
        let (name, scalar) = (catalog.definition().name, if T::DIGITS == 24 { "f32" } else { "f64" });
        tracing::info!(catalog = name, scalar, bytes = store.bytes(), "serving");
        run(catalog, &policies, &store, options, front)
    }

    /// Hands a request on; `reply` is called once with its answer, on a thread of the service, and must not block. It is never called when
    /// the service [fails](Self::on_failure) before.
    ///
    /// # Errors
    /// [`Busy`], when too many wait.
    pub fn submit(
        &self,
        incoming: Incoming,
        reply: impl FnOnce(Answered) + Send + 'static,
    ) -> Result<(), Busy> {
        let job = Job { reply: Box::new(reply), incoming };
        let queue = self.0.queues.get(self.thread_of(&job.incoming)).ok_or(Busy)?;
        queue.try_send(Message::One(Box::new(job))).map_err(|error| match error {
            TrySendError::Full(_) | TrySendError::Disconnected(_) => Busy,
        })
    }

    /// Hands requests on and waits for room, in order; false when the service has ended.
    pub(super) fn submit_all(&self, jobs: Vec<Job>) -> bool {
        let mut sorted: Vec<Vec<Job>> = self.0.queues.iter().map(|_| Vec::new()).collect();
        for job in jobs {
            let index = self.thread_of(&job.incoming);
            if let Some(jobs) = sorted.get_mut(index) {
                jobs.push(job);
            }
        }
        let mut filled = self.0.queues.iter().zip(sorted).filter(|(_, jobs)| !jobs.is_empty());
        filled.all(|(queue, jobs)| queue.send(Message::Many(jobs)).is_ok())
    }

    /// The thread that has a request's user.
    fn thread_of(&self, incoming: &Incoming) -> usize {
        let number = |op: &Op| match op.user() {
            Some(name) => self.0.moved.get(name).copied().unwrap_or_else(|| user_hash(name)),
            None => op.decision().map_or(0, |decision| decision.user),
        };
        incoming.op.as_ref().map_or(0, |op| Shard::index_of(number(op), self.0.queues.len()))
    }

    /// The catalog that is served.
    #[must_use]
    pub fn catalog(&self) -> &'static Catalog<'static> {
        self.0.catalog
    }

    /// Where what was answered is kept, to be read; `None` when the service has ended.
    #[must_use]
    pub fn store(&self) -> Option<Arc<dyn Store>> {
        self.0.store.upgrade()
    }

    /// Numbers for those who watch.
    #[must_use]
    pub fn gauges(&self) -> Gauges {
        Gauges::from(&*self.0.counters)
    }

    fn end(&self) -> MutexGuard<'_, End> {
        self.0.end.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls somebody when the service fails, at once if it has.
    pub fn on_failure(&self, listener: impl Fn() + Send + 'static) {
        let mut end = self.end();
        if end.failed {
            listener();
        }
        end.listeners.push(Box::new(listener));
    }

    fn fail(&self, error: ServeError) {
        let mut end = self.end();
        end.failure.get_or_insert(error);
        end.failed = true;
        end.listeners.iter().for_each(|listener| listener());
    }
}

/// How many threads have users, which is not more than users have room. With a store of the process's own there are twice as many as can
/// compute at once, since one waits for the disk half of its time, and all of them are written together. In a shared store every commit is a
/// transaction of its own, which costs more than what is in it: one thread makes few large ones, and more processes make more of them.
fn threads<T: Scalar>(catalog: &Catalog<'_>, options: &Options, shared: bool) -> usize {
    let cores = thread::available_parallelism().map_or(2, usize::from);
    let room = (options.cache / user_bytes::<T>(catalog)).max(1);
    options.threads.unwrap_or(if shared { 1 } else { 2 * cores }).clamp(1, 16).min(room)
}

/// Runs a service for as long as `front` takes, which brings requests to it and gets its answers out. What was answered is durable when this
/// returns.
fn run<T: Scalar>(
    catalog: &'static Catalog<'static>,
    policies: &Policies<'_, T>,
    store: &Arc<dyn Store>,
    options: &Options,
    front: impl FnOnce(Service) -> Result<(), ServeError>,
) -> Result<(), ServeError> {
    let count = threads::<T>(catalog, options, store.is_shared());
    let house = House {
        store: Arc::clone(store),
        counters: Arc::new(Counters { each: user_bytes::<T>(catalog) as u64, ..Counters::default() }),
        backups: Arc::new(Backups::default()),
        memory: options.memory,
        bounds: options.keeping.memory,
    };
    let labels = Labels::new(catalog);
    let (queues, received): (Vec<_>, Vec<_>) = (0..count).map(|_| sync_channel(QUEUE)).unzip();
    let moved = store.moved();
    let (counters, end) = (Arc::clone(&house.counters), Mutex::default());
    let service =
        Service(Arc::new(Shared { catalog, store: Arc::downgrade(store), queues, moved, counters, end }));
    let durable = options.durable && options.store.is_some();
    let ended = AtomicBool::new(false);
    let served = thread::scope(|scope| {
        for (index, messages) in received.into_iter().enumerate() {
            let engine =
                Engine::new(policies, &labels, house.clone(), options.cache, Shard { index, of: count });
            let mut worker = Worker { engine, house: house.clone(), durable };
            let service = service.clone();
            let work = move || attend(&service, &mut worker, &messages);
            thread::Builder::new()
                .name("learners".into())
                .spawn_scoped(scope, work)
                .map_err(ServeError::Output)?;
        }
        if options.store.is_some() {
            let (service, ended) = (&service, &ended);
            let watch = || store.watch(&|| ended.load(Ordering::Relaxed));
            thread::Builder::new()
                .name("watcher".into())
                .spawn_scoped(scope, watch)
                .map_err(ServeError::Output)?;
            let keep = move || keep_house(&**store, service, durable, ended);
            thread::Builder::new()
                .name("keeper".into())
                .spawn_scoped(scope, keep)
                .map_err(ServeError::Output)?;
        }
        let done = caught("service", || front(service.clone()));
        ended.store(true, Ordering::Relaxed);
        for queue in &service.0.queues {
            let _ = queue.send(Message::Stop); // one that has failed does not listen
        }
        done
    });
    if let Some(failure) = service.end().failure.take() {
        return Err(failure);
    }
    served?;
    if !durable && options.store.is_some() {
        store.sync()?;
    }
    Ok(())
}

/// One thread, to its end.
fn attend<T: Scalar>(service: &Service, worker: &mut Worker<'_, T>, messages: &Receiver<Message>) {
    if let Err(error) = caught("learners", || worker.run(messages)) {
        service.fail(error);
    }
}

/// What has to be done now and then.
fn keep_house(store: &dyn Store, service: &Service, durable: bool, ended: &AtomicBool) {
    let (mut commits, mut slept) = (0, Duration::ZERO);
    while !ended.load(Ordering::Relaxed) {
        let nap = Duration::from_millis(20);
        thread::sleep(nap);
        slept += nap;
        if slept < TICK {
            continue;
        }
        slept = Duration::ZERO;
        let now = service.gauges().commits;
        if now == std::mem::replace(&mut commits, now) {
            store.idle();
        } else if !durable && let Err(error) = store.sync() {
            service.fail(error.into()); // those who were answered cannot be told any more
            return;
        }
    }
}

/// A panic as an error. What was being worked on is not looked at again.
pub(super) fn caught<R>(
    thread: &'static str,
    work: impl FnOnce() -> Result<R, ServeError>,
) -> Result<R, ServeError> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| Err(panicked(thread, &*panic)))
}

fn panicked(thread: &'static str, panic: &(dyn Any + Send)) -> ServeError {
    let reason =
        panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    ServeError::Panicked { thread, reason: reason.unwrap_or("no reason given").to_owned() }
}
