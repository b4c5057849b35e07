//! One thread with its users: takes all requests that wait, answers them from memory, commits what they take, and only then replies.
//!
//! ```text
//! requests -> catch up with others -> answers and entries -> one commit -> replies
//!                      ^                                         |
//!                      +--- those about whom others were first --+
//! ```
//!
//! A batch is as large as the load makes it: one request when the line is idle, hundreds when it is not, and one commit for all of
//! them. While one thread waits for the disk or the database, others compute.

use super::answer::{Answer, line};
use super::engine::{Engine, House};
use super::incoming::Incoming;
use super::op::Op;
use super::refusal::{Code, Refusal};
use super::{Answered, ServeError};
use crate::store::StoreError;
use fable_core::Scalar;
use std::collections::{HashSet, VecDeque};
use std::sync::mpsc::Receiver;

/// Requests that make a batch.
const BATCH: usize = 512;
/// Bytes of answers that make a batch; posteriors are long.
const ANSWERS: usize = 256 << 10;
/// How often somebody else may be first before a request is given up.
const PATIENCE: u32 = 200;

/// Gets the answer to one request.
pub(super) type Reply = Box<dyn FnOnce(Answered) + Send>;

/// A request and whom to tell.
pub(super) struct Job {
    pub(super) incoming: Incoming,
    pub(super) reply: Reply,
}

/// What a thread gets.
pub(super) enum Message {
    One(Box<Job>),
    Many(Vec<Job>),
    /// Answer what came before, and stop.
    Stop,
}

/// A request with its answer, which counts when it is committed.
struct Done {
    job: Job,
    about: Option<u64>,
    json: Vec<u8>,
    code: Option<Code>,
    changed: bool,
}

/// See the [module](self).
pub(super) struct Worker<'p, T> {
    pub(super) engine: Engine<'p, T>,
    pub(super) house: House,
    /// Whether an answer waits until what it says is durable.
    pub(super) durable: bool,
}

impl<T: Scalar> Worker<'_, T> {
    /// Serves until it is told to stop.
    pub(super) fn run(&mut self, messages: &Receiver<Message>) -> Result<(), ServeError> {
        let (mut waiting, mut open) = (VecDeque::new(), true);
        while open {
            let Ok(first) = messages.recv() else { return Ok(()) };
            open = take(first, &mut waiting);
            while open
                && waiting.len() < BATCH
                && let Ok(next) = messages.try_recv()
            {
                open = take(next, &mut waiting);
            }
            while !waiting.is_empty() {
                self.batch(&mut waiting)?;
            }
        }
        Ok(())
    }

    /// Answers some of what waits, in order.
    fn batch(&mut self, waiting: &mut VecDeque<Job>) -> Result<(), ServeError> {
        // Forgetting is a commit of its own: it needs no room, and is not kept waiting by what does. What is exported has to be in the store.
        let first = waiting.front().map(kind);
        let count = waiting.iter().take_while(|job| Some(kind(job)) == first).take(BATCH).count();
        let mut jobs: VecDeque<Job> = waiting.drain(..count).collect();
        let mut lost_before = 0;
        while !jobs.is_empty() {
            let caught_up = self.engine.catch_up(jobs.iter().filter_map(|job| job.incoming.op.as_ref().ok()));
            if let Err(error) = caught_up {
                let refusal = Refusal::from(error);
                jobs.drain(..).for_each(|job| self.refuse(job, &refusal));
                return Ok(());
            }
            let done = self.answer(&mut jobs);
            let again = self.settle(done)?;
            if again.is_empty() {
                lost_before = 0;
            } else {
                lost_before += 1;
                if lost_before > PATIENCE {
                    let refusal = Refusal::from(StoreError::Contended);
                    for job in again {
                        self.refuse(job, &refusal);
                    }
                } else {
                    // Before what came after them.
                    again.into_iter().rev().for_each(|job| jobs.push_front(job));
                }
            }
        }
        Ok(())
    }

    /// Answers as many as one commit may be about.
    fn answer(&mut self, jobs: &mut VecDeque<Job>) -> Vec<Done> {
        let (mut done, mut bytes, mut users) = (Vec::with_capacity(jobs.len()), 0, HashSet::new());
        while bytes < ANSWERS
            && users.len() < self.engine.capacity()
            && let Some(job) = jobs.pop_front()
        {
            let Job { incoming: Incoming { id, op }, reply } = job;
            let (about, answer) = match &op {
                Ok(op) => self.engine.run(op),
                Err(refusal) => (None, Err(refusal.clone())),
            };
            let json = line(id.as_deref(), answer.as_ref());
            let changed = matches!(answer, Ok(Answer::Learned { changed: true, .. }));
            let code = answer.err().map(|refusal| refusal.code);
            bytes += json.len();
            users.extend(about);
            done.push(Done { job: Job { incoming: Incoming { id, op }, reply }, about, json, code, changed });
        }
        done
    }

    /// Commits what was answered and replies; those about whom somebody else was first come back.
    fn settle(&mut self, done: Vec<Done>) -> Result<Vec<Job>, ServeError> {
        let House { store, counters, .. } = &self.house;
        let writes = self.engine.take_writes();
        let wrote = !writes.is_empty();
        let committed = if wrote { store.commit(writes, self.durable) } else { Ok(Vec::new()) };
        let lost = match committed {
            Ok(lost) => lost,
            // No answer would be true. What others have written to a shared store is known by asking it again.
            Err(error @ StoreError::Uncertain(_)) if !store.is_shared() => return Err(error.into()),
            Err(error) => {
                tracing::error!(%error, "a commit has failed");
                let refusal = Refusal::from(error);
                for Done { job, about, code, json, .. } in done {
                    if let Some(number) = about {
                        self.engine.drop_user(number);
                    }
                    if job.incoming.op.is_err() {
                        self.tell(job, json, code); // whatever becomes of the others
                    } else {
                        self.refuse(job, &refusal);
                    }
                }
                return Ok(Vec::new());
            }
        };
        counters.commits.add(u64::from(wrote));
        counters.conflicts.add(lost.len() as u64);
        for number in &lost {
            self.engine.drop_user(*number);
        }
        let mut again = Vec::new();
        for Done { job, about, json, code, changed } in done {
            if about.is_some_and(|number| lost.contains(&number)) {
                again.push(job);
            } else {
                self.house.counters.changes.add(u64::from(changed));
                self.tell(job, json, code);
            }
        }
        Ok(again)
    }

    fn tell(&self, job: Job, json: Vec<u8>, code: Option<Code>) {
        self.house.counters.requests.add(1);
        self.house.counters.errors.add(u64::from(code.is_some()));
        (job.reply)(Answered { json, code });
    }

    fn refuse(&self, job: Job, refusal: &Refusal) {
        let json = line(job.incoming.id.as_deref(), Err::<&(), _>(refusal));
        self.tell(job, json, Some(refusal.code));
    }
}

/// Requests of one kind can be in one commit.
#[derive(PartialEq, Eq)]
enum Kind {
    Forgets,
    Exports,
    Other,
}

fn kind(job: &Job) -> Kind {
    match job.incoming.op {
        Ok(Op::Forget { .. }) => Kind::Forgets,
        Ok(Op::Export { .. }) => Kind::Exports,
        _ => Kind::Other,
    }
}

fn take(message: Message, waiting: &mut VecDeque<Job>) -> bool {
    match message {
        Message::One(job) => waiting.push_back(*job),
        Message::Many(jobs) => waiting.extend(jobs),
        Message::Stop => return false,
    }
    true
}
