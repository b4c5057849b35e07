//! `Store`: users in a file or in PostgreSQL, through the service that `fable serve` is made of.

use crate::fault::{Answer, Fault};
use crate::json;
use crate::names::text;
use crate::opened::Opened;
use crate::policy::Policy;
use crate::store_user::StoreUser;
use crate::user::policy_of;
use crate::words::{user_name, whole};
use fable_std::serve::{CACHE, Code, Op, Options};
use fable_std::store::{self, History, Reach, Secret, StoreError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::Value;
use std::num::NonZeroU64;
use std::path::PathBuf;
use std::sync::Arc;
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
    pub opened: Arc<Opened>,
    /// Where it is, without a password.
    place: String,
}

/// How often one looks whether a copy is done.
const GLANCE: Duration = Duration::from_millis(20);

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
            cache: cache
                .map_or(Ok(CACHE), |bytes| Ok::<_, Fault>(whole(bytes, "cache", 1 << 50)? as usize))?,
            threads: threads
                .map(|count| Ok::<_, Fault>(whole(count, "threads", 16)? as usize))
                .transpose()?,
            memory,
        };
        let opened = Arc::new(Opened::open(py, policy.unbind(), options)?);
        Ok(Self { opened, place: store::shown(&place) })
    }

    /// How its users are decided for.
    #[getter]
    fn policy(&self, py: Python<'_>) -> Py<Policy> {
        self.opened.policy.clone_ref(py)
    }

    /// Where it is, without a password.
    #[getter]
    fn place(&self) -> &str {
        &self.place
    }

    /// Whether it was closed.
    #[getter]
    fn closed(&self) -> bool {
        self.opened.service().is_err()
    }

    /// Ends it; every later call is ``Closed``.
    fn close(&self, py: Python<'_>) -> Answer<()> {
        py.detach(|| self.opened.end())
    }

    fn __enter__(slf: PyRef<'_, Self>) -> Answer<PyRef<'_, Self>> {
        slf.opened.service()?;
        Ok(slf)
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, PyAny>) -> Answer<()> {
        self.close(py)
    }

    /// A user, who need not be there yet.
    fn user(slf: Py<Self>, name: &Bound<'_, PyAny>) -> Answer<StoreUser> {
        let opened = Arc::clone(&slf.get().opened);
        opened.service()?;
        Ok(StoreUser::of(slf.into_any(), opened, user_name(name)?))
    }

    /// The names of all users.
    fn users(&self, py: Python<'_>) -> Answer<Vec<String>> {
        let store = self.opened.store()?;
        py.detach(|| {
            let mut names = Vec::new();
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
        Ok(json::object(py, &self.opened.ask(py, Op::Stats)?)?)
    }

    /// Erases a user; whether there was one.
    fn forget(&self, py: Python<'_>, name: &Bound<'_, PyAny>) -> Answer<bool> {
        self.opened.forget(py, &user_name(name)?)
    }

    /// Everything about a user as a file that ``fable import`` and ``fable replay`` take; None when nobody of that name is there.
    fn export<'py>(&self, py: Python<'py>, name: &Bound<'_, PyAny>) -> Answer<Option<Bound<'py, PyBytes>>> {
        self.opened.export(py, &user_name(name)?)
    }

    /// Copies the store to a new file, while it is used, and waits for it.
    fn backup<'py>(&self, py: Python<'py>, path: PathBuf) -> Answer<Bound<'py, PyAny>> {
        let file = path.into_os_string().into_string();
        let file = file.map_err(|_| Fault::range("the path of a copy must be text in UTF-8"))?;
        let mut copy = self.opened.ask(py, Op::Backup { file: Some(file) })?;
        while copy.get("state").and_then(Value::as_str) == Some("running") {
            py.detach(|| std::thread::sleep(GLANCE));
            py.check_signals()?;
            copy = self.opened.ask(py, Op::Backup { file: None })?;
        }
        match copy.get("error").and_then(Value::as_str) {
            Some(error) => Err(Fault::refused(Code::Storage, error)),
            None => Ok(json::object(py, &copy)?),
        }
    }

    fn __contains__(&self, py: Python<'_>, name: &Bound<'_, PyAny>) -> Answer<bool> {
        let (store, name) = (self.opened.store()?, user_name(name)?);
        Ok(py.detach(|| store.find(&name))?.is_some())
    }

    fn __len__(&self, py: Python<'_>) -> Answer<usize> {
        let store = self.opened.store()?;
        Ok(usize::try_from(py.detach(|| store.users())?).unwrap_or(usize::MAX))
    }

    fn __repr__(&self) -> String {
        format!("<fable.Store {}{}>", self.place, if self.closed() { ", closed" } else { "" })
    }
}
