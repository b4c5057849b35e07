//! Three threads, so that a batch is computed while the one before it is being written to disk.
//!
//! ```text
//! input -> reader: lines -> requests -> learners: answers and entries -> committer: disk, then output
//! ```
//!
//! Every thread hands on what it has when the next one is ready, so a batch is as large as the load makes it: one request
//! when the line is idle, thousands when it is not, and one commit for all of them.

use super::answer::{Answers, Labels};
use super::engine::{Batch, Engine};
use super::ledger::Progress;
use super::op::Incoming;
use super::refusal::{Code, Refusal};
use super::{MAX_LINE, Options, ServeError};
use crate::store::{Policies, FileStore, StoreError, Writes};
use fable_core::{Catalog, Scalar};
use std::any::Any;
use std::io::{Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, channel, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

/// Bytes that are read at once: what a pipe holds.
const CHUNK: usize = 64 << 10;
/// Batches that wait for the learners.
const UNREAD: usize = 4;
/// Batches that wait for the disk.
const UNWRITTEN: usize = 16;
/// Without waiting for the disk it is still told to write this often.
const SYNC_EVERY: Duration = Duration::from_secs(1);

/// What the learners' thread gets.
#[derive(Debug)]
pub(super) enum Work {
    Requests(Vec<Incoming>),
    /// Answer what came before, and stop.
    Stop,
}

/// Tells a running service to answer what it has read and to stop.
#[derive(Clone, Debug)]
pub struct Stop(SyncSender<Work>);

impl Stop {
    /// Returns when the service knows.
    pub fn stop(&self) {
        let _ = self.0.send(Work::Stop); // it has stopped already if nobody listens
    }
}

/// Serves until the input ends or `stop` is used. When this returns, everything that was answered is on disk.
pub(super) fn run<T: Scalar>(
    catalog: &'static Catalog<'static>,
    policies: &Policies<'_, T>,
    store: FileStore,
    options: &Options,
    input: impl Read + Send + 'static,
    mut output: impl Write,
    ready: impl FnOnce(Stop),
) -> Result<(), ServeError> {
    let (store, progress) = (Arc::new(store), Arc::new(Progress::default()));
    let (work, requests) = sync_channel(UNREAD);
    let (batches, unwritten) = sync_channel(UNWRITTEN);
    let labels = Labels::new(catalog);
    let mut engine = Engine::new(policies, &labels, Arc::clone(&store), Arc::clone(&progress), options.cache)?;
    let stop = Stop(work.clone());
    ready(stop.clone());
    // The reader is left alone at the end: it may be waiting for input that never comes.
    let (failure, failed) = channel();
    let reader = move || {
        if let Err(error) = caught("reader", || read(catalog, input, &work).map_err(ServeError::Input)) {
            let _ = failure.send(error);
        }
        let _ = work.send(Work::Stop); // the service has other senders and would wait for ever
    };
    thread::Builder::new().name("reader".into()).spawn(reader).map_err(ServeError::Output)?;
    let ended = Arc::new(AtomicBool::new(false));
    let watcher = watch(&store, &ended, options);
    let learn = move || compute(&mut engine, &requests, &batches);
    let served = side_by_side(learn, || {
        let done = caught("committer", || commit(&store, &progress, options, &unwritten, &mut output));
        drop(unwritten); // the learners' thread must not wait for room in it
        stop.stop(); // if the output has failed there may be no end of the input
        done
    });
    ended.store(true, Ordering::Relaxed);
    if let Some(watcher) = watcher {
        let _ = watcher.join(); // it has the store open
    }
    served?;
    failed.try_recv().map_or(Ok(()), Err)
}

/// Looks at the whole store once, while it is in use.
fn watch(store: &Arc<FileStore>, ended: &Arc<AtomicBool>, options: &Options) -> Option<thread::JoinHandle<()>> {
    options.store.as_ref()?;
    let (store, ended) = (Arc::clone(store), Arc::clone(ended));
    thread::Builder::new().name("watcher".into()).spawn(move || crate::store::Store::watch(&*store, &|| ended.load(Ordering::Relaxed))).ok()
}

/// Runs the learners in a thread of their own and commits in this one; both have ended when this returns.
fn side_by_side(learn: impl FnOnce() + Send, commit: impl FnOnce() -> Result<(), ServeError>) -> Result<(), ServeError> {
    thread::scope(|scope| {
        let learners = thread::Builder::new().name("learners".into());
        let learners = learners.spawn_scoped(scope, learn).map_err(ServeError::Output)?;
        let done = commit();
        learners.join().map_err(|panic| panicked("learners", &*panic)).and(done)
    })
}

/// A panic as an error. What was being worked on is not looked at again.
pub(super) fn caught(thread: &'static str, work: impl FnOnce() -> Result<(), ServeError>) -> Result<(), ServeError> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| Err(panicked(thread, &*panic)))
}

fn panicked(thread: &'static str, panic: &(dyn Any + Send)) -> ServeError {
    let reason = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    ServeError::Panicked { thread, reason: reason.unwrap_or("no reason given").to_owned() }
}

/// Splits the input into lines and reads them. An error comes when the lines before it are handed on.
fn read(catalog: &Catalog<'_>, mut input: impl Read, work: &SyncSender<Work>) -> std::io::Result<()> {
    let (mut buffer, mut filled, mut skipping) = (vec![0; CHUNK], 0, false);
    loop {
        if filled == buffer.len() {
            buffer.resize((2 * filled).min(MAX_LINE + 1), 0);
        }
        let count = match input.read(buffer.get_mut(filled..).unwrap_or_default()) {
            Ok(count) => count,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let ended = count == 0;
        filled += count;
        let mut requests = Vec::new();
        let mut rest = buffer.get(..filled).unwrap_or_default();
        while let Some(end) = memchr::memchr(b'\n', rest) {
            let (line, behind) = rest.split_at(end);
            if !std::mem::take(&mut skipping) {
                requests.push(if line.len() > MAX_LINE { Incoming::too_long(MAX_LINE) } else { Incoming::read(catalog, line) });
            }
            rest = behind.get(1..).unwrap_or_default();
        }
        if rest.len() > MAX_LINE {
            if !std::mem::replace(&mut skipping, true) {
                requests.push(Incoming::too_long(MAX_LINE));
            }
            rest = &[];
        } else if skipping {
            rest = &[];
        } else if ended && !rest.is_empty() {
            requests.push(Incoming::read(catalog, rest));
        }
        let (left, start) = (rest.len(), filled - rest.len());
        buffer.copy_within(start..filled, 0);
        filled = left;
        if !requests.is_empty() && work.send(Work::Requests(requests)).is_err() {
            return Ok(()); // stopped
        }
        if ended {
            return Ok(());
        }
    }
}

fn compute<T: Scalar>(engine: &mut Engine<'_, T>, requests: &Receiver<Work>, batches: &SyncSender<Batch>) {
    while let Ok(Work::Requests(requests)) = requests.recv() {
        let mut requests = requests.into_iter().peekable();
        while requests.peek().is_some() {
            if batches.send(engine.run(&mut requests)).is_err() {
                return; // nobody reads the answers
            }
        }
    }
}

/// One commit for all that is there, then its answers.
fn commit(
    store: &FileStore,
    progress: &Progress,
    options: &Options,
    unwritten: &Receiver<Batch>,
    output: &mut impl Write,
) -> Result<(), ServeError> {
    let durable = options.durable && options.store.is_some();
    let (mut unsynced, mut synced) = (false, Instant::now());
    let mut waiting = None;
    loop {
        let first = match waiting.take().map_or_else(|| unwritten.recv_timeout(SYNC_EVERY), Ok) {
            Ok(batch) => batch,
            Err(RecvTimeoutError::Timeout) => {
                store.tend_idle();
                if unsynced {
                    store.sync_now()?; // those who were answered cannot be told any more
                    (unsynced, synced) = (false, Instant::now());
                }
                continue;
            }
            Err(RecvTimeoutError::Disconnected) => break,
        };
        let (mut writes, mut answers) = (Writes::default(), Vec::new());
        let (mut last, mut void) = (None, Vec::new());
        let erases = first.writes.erases();
        for batch in std::iter::once(first).chain(unwritten.try_iter().take(UNWRITTEN)) {
            if batch.writes.erases() != erases {
                waiting = Some(batch); // for a commit of its own
                break;
            }
            if batch.failures < progress.failures() {
                void.push(batch.answers);
                continue;
            }
            last = Some(batch.number);
            writes.merge(batch.writes);
            answers.push(batch.answers);
        }
        // Void batches were made before those that are not.
        let failed = Refusal::new(Code::Storage, "the store could not be written just before; nothing was changed");
        answer(output, void.iter().map(|answers| progress.refuse(answers, &failed)))?;
        let Some(last) = last else { continue };
        let sync = durable || synced.elapsed() > SYNC_EVERY;
        let wrote = !writes.is_empty();
        let done = match (wrote, sync && unsynced) {
            (true, _) => store.commit_now(&writes, sync),
            (false, true) => store.sync_now(),
            (false, false) => Ok(()),
        };
        match done {
            Ok(()) => {
                progress.commit(last);
                if sync && (wrote || unsynced) {
                    (unsynced, synced) = (false, Instant::now());
                } else {
                    unsynced |= wrote;
                }
                answer(output, answers.into_iter())?;
            }
            // No answer would be true.
            Err(error @ StoreError::Uncertain(_)) => return Err(error.into()),
            Err(error) => {
                progress.fail();
                tracing::error!(%error, "a commit has failed");
                let failed = Refusal::from(error);
                answer(output, answers.iter().map(|answers| progress.refuse(answers, &failed)))?;
            }
        }
    }
    if unsynced {
        store.sync_now()?;
    }
    Ok(())
}

fn answer(output: &mut impl Write, answers: impl Iterator<Item = Answers>) -> Result<(), ServeError> {
    for answers in answers {
        output.write_all(answers.bytes()).map_err(ServeError::Output)?;
    }
    output.flush().map_err(ServeError::Output)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No request can make the learners panic, as far as is known; the thread that waits for them ends all the same.
    #[test]
    fn learners_that_panic_do_not_keep_the_committer_waiting() {
        let (batches, unwritten) = sync_channel::<()>(1);
        let learn = move || {
            let _batches = batches;
            panic!("a mistake in the learners");
        };
        let ended = side_by_side(learn, || {
            assert!(unwritten.recv().is_err()); // the end, and no batch
            Ok(())
        });
        let Err(ServeError::Panicked { thread, reason }) = ended else { panic!("{ended:?}") };
        assert_eq!((thread, reason.as_str()), ("learners", "a mistake in the learners"));
    }
}
