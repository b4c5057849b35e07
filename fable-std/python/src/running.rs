//! A service in this process that keeps its users in a store, on threads of its own; they never touch Python.

use crate::fault::{Answer, Fault};
use crate::json;
use crate::policy::{Held, Policy};
use fable_std::serve::{Busy, Code, Incoming, Op, Options, Refusal, ServeError, Service};
use fable_std::store::StoreError;
use pyo3::prelude::*;
use serde_json::Value;
use std::sync::mpsc::{RecvTimeoutError, SyncSender, channel, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// How often a wait looks whether somebody has pressed Ctrl-C.
const GLANCE: Duration = Duration::from_millis(100);

/// See the [module](self).
pub struct Running {
    service: Service,
    /// Dropped to end it.
    open: SyncSender<()>,
    thread: JoinHandle<Result<(), ServeError>>,
}

impl From<ServeError> for Fault {
    fn from(error: ServeError) -> Self {
        match error {
            ServeError::Settings(error) => error.into(),
            ServeError::Prior(error) => error.into(),
            ServeError::Store(error) => error.into(),
            error => Self::refused(Code::Storage, error),
        }
    }
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        match error {
            error @ StoreError::Mismatch { .. } => Self::Here("foreign", error.to_string()),
            error => Self::Refused(Refusal::from(error)),
        }
    }
}

/// A panic of the service's thread, which none should have.
fn panicked() -> Fault {
    Fault::internal("the service of the store has panicked")
}

impl Running {
    /// Opens a store for the users of a policy.
    pub fn open(policy: &Policy, options: Options) -> Answer<Self> {
        let (catalog, settings) = (policy.catalog().core, policy.settings);
        let single = matches!(policy.held, Held::F32(_));
        let (ready, opened) = sync_channel(1);
        let (open, closed) = sync_channel::<()>(1);
        let serve = move || {
            let front = |service: Service| {
                let _ = ready.send(service); // whoever opens waits for it
                let _ = closed.recv(); // until the other end is dropped
                Ok(())
            };
            if single {
                Service::run::<f32>(catalog, settings, &options, front)
            } else {
                Service::run::<f64>(catalog, settings, &options, front)
            }
        };
        let thread = thread::Builder::new().name("fable".into()).spawn(serve);
        let thread = thread.map_err(|error| Fault::refused(Code::Storage, error))?;
        match opened.recv() {
            Ok(service) => Ok(Self { service, open, thread }),
            Err(_) => match thread.join() {
                Ok(Err(error)) => Err(error.into()),
                _ => Err(panicked()),
            },
        }
    }

    /// The handle, to ask with.
    pub fn service(&self) -> Service {
        self.service.clone()
    }

    /// Ends it; what was answered is durable then.
    pub fn close(self) -> Answer<()> {
        let Self { service, open, thread } = self;
        drop((service, open));
        Ok(thread.join().map_err(|_| panicked())??)
    }
}

/// Asks and waits for the answer, while other threads of Python go on.
pub fn ask(py: Python<'_>, service: &Service, op: Op) -> Answer<Value> {
    let (reply, mut answered) = channel();
    let submitted = service.submit(Incoming { id: None, op: Ok(op) }, move |answer| drop(reply.send(answer)));
    submitted.map_err(|Busy| {
        Fault::Here("busy", "too many requests wait for the store, or it has ended; come again".into())
    })?;
    let gone = || {
        Fault::refused(
            Code::Storage,
            "the store has failed, and was closed; what was not answered may have happened",
        )
    };
    let answer = loop {
        let waiting = &mut answered; // a receiver can go to another thread, not be shared
        match py.detach(move || waiting.recv_timeout(GLANCE)) {
            Ok(answer) => break answer,
            Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            Err(RecvTimeoutError::Disconnected) => return Err(gone()),
        }
    };
    match answer.code {
        Some(code) => Err(json::refusal(code, &answer.json)),
        None => json::read(&answer.json),
    }
}
