//! `Store`: users in a file or in PostgreSQL, through the service that `fable serve` is made of.

use crate::fault::{Answer, Fault};
use crate::json;
use crate::names::text;
use crate::policy::{Held, Policy};
use crate::running::{Running, ask};
use crate::store_user::StoreUser;
use crate::user::policy_of;
use crate::words::{user_name, whole};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use fable_core::{HostUser, Scalar, Settings, UserError};
use fable_std::prior_file;
use fable_std::replay::Tape;
use fable_std::serve::{CACHE, Code, Op, Options, Service};
use fable_std::store::{self, History, Reach, Secret, StoreError, Stored};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::Value;
use std::num::NonZeroU64;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Users in a file, or in PostgreSQL (``postgres://...``): what was returned is durable.
///
/// It is the store of ``fable serve``: the command, HTTP and other languages use the same one. A file belongs to one process at a time, a
/// database to many. Threads may share a store and its users.
///
/// >>> import fable, os, tempfile
/// >>> place = os.path.join(tempfile.mkdtemp(), "users.fable")
/// >>> with fable.Store(place, fable.Policy(fable.Catalog("tau2"))) as store:
/// ...     ana = store.user("ana")
/// ...     ana.feedback(ana.decide({}), 0.5)
/// ...     store.users()
/// 1
/// ['ana']
#[pyclass(frozen, module = "fable", name = "Store")]
pub struct Store {
    pub policy: Py<Policy>,
    /// Where it is, without a password.
    place: String,
    /// The process that opened it: threads are not there after a fork.
    process: u32,
    running: Mutex<Option<Running>>,
}

/// How often one looks whether a copy is done.
const GLANCE: Duration = Duration::from_millis(20);

impl Store {
    /// The handle to ask with, while it is open.
    pub fn service(&self) -> Answer<Service> {
        if self.process != std::process::id() {
            return Err(Fault::Here("closed", "the store was opened before this process was forked; open it again".into()));
        }
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let closed = || Fault::Here("closed", "the store is closed".into());
        running.as_ref().map(Running::service).ok_or_else(closed)
    }

    /// Asks the service.
    pub fn ask(&self, py: Python<'_>, op: Op) -> Answer<Value> {
        ask(py, &self.service()?, op)
    }

    /// Ends the service, if it is there.
    fn end(&self) -> Answer<()> {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner).take();
        match running {
            Some(running) if self.process == std::process::id() => running.close(),
            // After a fork there is no thread that could be waited for.
            Some(running) => {
                std::mem::forget(running);
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// What a user of the store is like, played from what is kept.
    pub fn look<R: Send>(
        &self,
        py: Python<'_>,
        name: &str,
        single: impl FnOnce(&mut HostUser<'_, f32>) -> Answer<R> + Send,
        double: impl FnOnce(&mut HostUser<'_, f64>) -> Answer<R> + Send,
    ) -> Answer<R> {
        let (service, policy) = (self.service()?, self.policy.get());
        let (core, settings) = (policy.catalog().core, policy.settings);
        py.detach(|| {
            let stored = match service.store().named(name) {
                Err(StoreError::NoUser) => None,
                stored => Some(stored?),
            };
            match &policy.held {
                Held::F32(held) => played(core, settings, held.borrow_dependent(), name, stored.as_ref(), single),
                Held::F64(held) => played(core, settings, held.borrow_dependent(), name, stored.as_ref(), double),
            }
        })
    }
}

/// Plays what is kept about a user; somebody who is not there is at the prior of those who come.
fn played<T: Scalar, R>(
    core: crate::catalog::Core,
    settings: Settings<'_>,
    newcomers: &fable_core::Policy<'_, T>,
    name: &str,
    stored: Option<&Stored>,
    then: impl FnOnce(&mut HostUser<'_, T>) -> Answer<R>,
) -> Answer<R> {
    let Some(stored) = stored else { return then(&mut HostUser::new(newcomers, name)?) };
    let tape = Tape::of_user(stored)?;
    let base = fable_core::Policy::<T>::new(core, settings)?;
    let prior = tape.prior_numbers(&base)?;
    let policy = prior_file::informed(&base, prior.as_deref())?;
    then(&mut tape.play(&policy).map_err(|error| Fault::refused(Code::Damaged, error))?)
}

impl Drop for Store {
    fn drop(&mut self) {
        let _ = self.end(); // there is nobody to be told
    }
}

/// How the store is kept.
fn keeping(history: Option<&Bound<'_, PyAny>>, key: Option<&Bound<'_, PyAny>>) -> Answer<store::Options> {
    let mut options = store::Options::default();
    if let Some(key) = key {
        let key = Secret::from_hex(&text(key, "the key of a store")?);
        options.key = Some(key.ok_or_else(|| Fault::range("a key has 64 hexadecimal digits"))?);
    }
    if let Some(history) = history {
        options.history = match text(history, "").ok().as_deref() {
            Some("all") => History::All,
            Some(_) => return Err(Fault::range("history is 'all' or a number of events")),
            None => match NonZeroU64::new(whole(history, "history", u64::MAX)?) {
                Some(events) => History::Last(events),
                None => return Err(Fault::range("history is 'all' or a number of events from 1")),
            },
        };
    }
    Ok(options)
}

#[pymethods]
impl Store {
    /// Opens a store, or makes one.
    ///
    /// ``durable``: whether a call waits until it is on disk. ``memory``: whether exchanges are kept. ``history``: how many events are kept of a
    /// user. ``cache``: bytes for users in memory. ``key``: 64 hexadecimal digits, if the key is not in the file beside the store.
    #[expect(clippy::too_many_arguments, reason = "all but two have their names")]
    #[new]
    #[pyo3(signature = (place, policy, *, durable = true, memory = false, history = None, cache = None, threads = None, key = None))]
    fn new(
        py: Python<'_>,
        place: PathBuf,
        policy: &Bound<'_, PyAny>,
        durable: bool,
        memory: bool,
        history: Option<&Bound<'_, PyAny>>,
        cache: Option<&Bound<'_, PyAny>>,
        threads: Option<&Bound<'_, PyAny>>,
        key: Option<&Bound<'_, PyAny>>,
    ) -> Answer<Self> {
        let policy = policy_of(policy)?;
        let options = Options {
            store: Some(place.clone()),
            keeping: keeping(history, key)?,
            prior: policy.get().prior.as_ref().map(|prior| prior.to_vec()),
            durable,
            cache: cache.map_or(Ok(CACHE), |bytes| Ok::<_, Fault>(whole(bytes, "cache", 1 << 50)? as usize))?,
            threads: threads.map(|count| Ok::<_, Fault>(whole(count, "threads", 16)? as usize)).transpose()?,
            memory,
        };
        let own = policy.get();
        let running = py.detach(|| Running::open(own, options))?;
        let (place, process) = (store::shown(&place), std::process::id());
        Ok(Self { policy: policy.unbind(), place, process, running: Mutex::new(Some(running)) })
    }

    /// How its users are decided for.
    #[getter]
    fn policy(&self, py: Python<'_>) -> Py<Policy> {
        self.policy.clone_ref(py)
    }

    /// Where it is, without a password.
    #[getter]
    fn place(&self) -> &str {
        &self.place
    }

    /// Whether it was closed.
    #[getter]
    fn closed(&self) -> bool {
        self.service().is_err()
    }

    /// Ends it; every later call is ``Closed``.
    fn close(&self, py: Python<'_>) -> Answer<()> {
        py.detach(|| self.end())
    }

    fn __enter__(slf: PyRef<'_, Self>) -> Answer<PyRef<'_, Self>> {
        slf.service()?;
        Ok(slf)
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, PyAny>) -> Answer<()> {
        self.close(py)
    }

    /// A user, who need not be there yet.
    fn user(slf: Py<Self>, name: &Bound<'_, PyAny>) -> Answer<StoreUser> {
        slf.get().service()?;
        Ok(StoreUser::of(slf, user_name(name)?))
    }

    /// The names of all users.
    fn users(&self, py: Python<'_>) -> Answer<Vec<String>> {
        let service = self.service()?;
        py.detach(|| {
            let (store, mut names) = (service.store(), Vec::new());
            for number in store.everyone()? {
                match store.user(number, Reach::Snapshot) {
                    Ok(Some(stored)) => names.push(stored.row.name),
                    Ok(None) | Err(StoreError::User(_)) => {} // gone in between, or damaged
                    Err(error) => return Err(error.into()),
                }
            }
            names.sort_unstable();
            Ok(names)
        })
    }

    /// Counts, and what is served.
    fn stats<'py>(&self, py: Python<'py>) -> Answer<Bound<'py, PyAny>> {
        Ok(json::object(py, &self.ask(py, Op::Stats)?)?)
    }

    /// Erases a user; whether there was one.
    pub fn forget(&self, py: Python<'_>, name: &Bound<'_, PyAny>) -> Answer<bool> {
        let answer = self.ask(py, Op::Forget { user: user_name(name)? })?;
        Ok(answer.get("forgotten").and_then(Value::as_bool).unwrap_or(false))
    }

    /// Everything about a user as a file that ``fable import`` and ``fable replay`` take; None when nobody of that name is there.
    pub fn export<'py>(&self, py: Python<'py>, name: &Bound<'_, PyAny>) -> Answer<Option<Bound<'py, PyBytes>>> {
        let answer = self.ask(py, Op::Export { user: user_name(name)? })?;
        let Some(text) = answer.get("export").and_then(Value::as_str) else { return Ok(None) };
        Ok(Some(PyBytes::new(py, &BASE64_STANDARD.decode(text).map_err(Fault::internal)?)))
    }

    /// Copies the store to a new file, while it is used, and waits for it.
    fn backup<'py>(&self, py: Python<'py>, path: PathBuf) -> Answer<Bound<'py, PyAny>> {
        let file = path.into_os_string().into_string();
        let file = file.map_err(|_| Fault::range("the path of a copy must be text in UTF-8"))?;
        let mut copy = self.ask(py, Op::Backup { file: Some(file) })?;
        while copy.get("state").and_then(Value::as_str) == Some("running") {
            py.detach(|| std::thread::sleep(GLANCE));
            py.check_signals()?;
            copy = self.ask(py, Op::Backup { file: None })?;
        }
        match copy.get("error").and_then(Value::as_str) {
            Some(error) => Err(Fault::refused(Code::Storage, error)),
            None => Ok(json::object(py, &copy)?),
        }
    }

    fn __contains__(&self, py: Python<'_>, name: &Bound<'_, PyAny>) -> Answer<bool> {
        let (service, name) = (self.service()?, user_name(name)?);
        Ok(py.detach(|| service.store().find(&name))?.is_some())
    }

    fn __len__(&self, py: Python<'_>) -> Answer<usize> {
        let service = self.service()?;
        Ok(usize::try_from(py.detach(|| service.store().users())?).unwrap_or(usize::MAX))
    }

    fn __repr__(&self) -> String {
        format!("<fable.Store {}{}>", self.place, if self.closed() { ", closed" } else { "" })
    }
}

impl Store {
    /// Refuses the decision of somebody else than a user: a store would learn it for them.
    pub fn check_owner(&self, py: Python<'_>, name: &str, decision: fable_core::DecisionId) -> Answer<()> {
        if decision.user == fable_core::user_hash(name) {
            return Ok(());
        }
        let service = self.service()?;
        if py.detach(|| service.store().find(name))? == Some(decision.user) {
            return Ok(());
        }
        Err(UserError::UnknownDecision.into())
    }
}
