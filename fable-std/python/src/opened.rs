//! A store that is open in this process: the service that has its users, until it is closed.

use crate::catalog::Core;
use crate::fault::{Answer, Fault};
use crate::policy::{Held, Policy};
use crate::running::{Running, ask};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use fable_core::{DecisionId, HostUser, Scalar, Settings, UserError, user_hash};
use fable_std::prior_file;
use fable_std::replay::Tape;
use fable_std::serve::{Code, Op, Options, Service};
use fable_std::store::{StoreError, Stored};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::Value;
use std::sync::{Mutex, PoisonError};

/// See the [module](self).
pub struct Opened {
    pub policy: Py<Policy>,
    /// The process that opened it: threads are not there after a fork.
    process: u32,
    running: Mutex<Option<Running>>,
}

impl Opened {
    /// Opens a store for the users of a policy.
    pub fn open(py: Python<'_>, policy: Py<Policy>, options: Options) -> Answer<Self> {
        let own = policy.get();
        let running = py.detach(|| Running::open(own, options))?;
        Ok(Self { policy, process: std::process::id(), running: Mutex::new(Some(running)) })
    }

    /// The handle to ask with, while it is open.
    pub fn service(&self) -> Answer<Service> {
        if self.process != std::process::id() {
            return Err(Fault::Here(
                "closed",
                "the store was opened before this process was forked; open it again".into(),
            ));
        }
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let closed = || Fault::Here("closed", "the store is closed".into());
        running.as_ref().map(Running::service).ok_or_else(closed)
    }

    /// Where what was answered is kept, while it is open.
    pub fn store(&self) -> Answer<std::sync::Arc<dyn fable_std::store::Store>> {
        self.service()?.store().ok_or_else(|| Fault::Here("closed", "the store is closed".into()))
    }

    /// Asks the service.
    pub fn ask(&self, py: Python<'_>, op: Op) -> Answer<Value> {
        ask(py, &self.service()?, op)
    }

    /// Erases a user; whether there was one.
    pub fn forget(&self, py: Python<'_>, name: &str) -> Answer<bool> {
        let answer = self.ask(py, Op::Forget { user: name.into() })?;
        Ok(answer.get("forgotten").and_then(Value::as_bool).unwrap_or(false))
    }

    /// Everything about a user as a file, if there is one.
    pub fn export<'py>(&self, py: Python<'py>, name: &str) -> Answer<Option<Bound<'py, PyBytes>>> {
        let answer = self.ask(py, Op::Export { user: name.into() })?;
        let Some(text) = answer.get("export").and_then(Value::as_str) else { return Ok(None) };
        Ok(Some(PyBytes::new(py, &BASE64_STANDARD.decode(text).map_err(Fault::internal)?)))
    }

    /// Ends the service, if it is there.
    pub fn end(&self) -> Answer<()> {
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
        let (store, policy) = (self.store()?, self.policy.get());
        let (core, settings) = (policy.catalog().core, policy.settings);
        py.detach(|| {
            let stored = match store.named(name) {
                Err(StoreError::NoUser) => None,
                stored => Some(stored?),
            };
            match &policy.held {
                Held::F32(held) => {
                    played(core, settings, held.borrow_dependent(), name, stored.as_ref(), single)
                }
                Held::F64(held) => {
                    played(core, settings, held.borrow_dependent(), name, stored.as_ref(), double)
                }
            }
        })
    }

    /// Refuses the decision of somebody else than a user: a store would learn it for them.
    pub fn check_owner(&self, py: Python<'_>, name: &str, decision: DecisionId) -> Answer<()> {
        if decision.user == user_hash(name) {
            return Ok(());
        }
        let store = self.store()?;
        if py.detach(|| store.find(name))? == Some(decision.user) {
            return Ok(());
        }
        Err(UserError::UnknownDecision.into())
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        let _ = self.end(); // there is nobody to be told
    }
}

/// Plays what is kept about a user; somebody who is not there is at the prior of those who come.
fn played<T: Scalar, R>(
    core: Core,
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
