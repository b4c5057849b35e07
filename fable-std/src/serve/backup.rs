//! Backups while users are served: a thread copies, and whoever asks is told how far it is.

use super::refusal::{Code, Refusal};
use crate::store::Store;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

/// How far the last backup is.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Backup {
    #[serde(rename = "backup")]
    file: PathBuf,
    state: State,
    /// Users that are copied, of how many.
    users: u64,
    of: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum State {
    Running,
    Done,
    Failed,
}

/// See the [module](self).
#[derive(Debug, Default)]
pub(super) struct Backups {
    last: Arc<Mutex<Option<Backup>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Drop for Backups {
    /// One that is under way is finished: it has the store open.
    fn drop(&mut self) {
        if let Some(thread) = self.thread.get_mut().unwrap_or_else(PoisonError::into_inner).take() {
            let _ = thread.join();
        }
    }
}

impl Backups {
    /// The last one.
    pub(super) fn last(&self) -> Result<Backup, Refusal> {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner).clone();
        last.ok_or_else(|| Refusal::new(Code::BadRequest, "no backup was begun: say where to with 'file'"))
    }

    /// Begins one. What was answered before is in it.
    pub(super) fn begin(&self, store: &Arc<dyn Store>, path: &str) -> Result<Backup, Refusal> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.as_ref().is_some_and(|last| last.state == State::Running) {
            return Err(Refusal::new(
                Code::BadRequest,
                "a backup is under way; ask how far it is with no 'file'",
            ));
        }
        if path.is_empty() || Path::new(path).exists() {
            return Err(Refusal::new(
                Code::Storage,
                "there is something at this path; a backup is a new file",
            ));
        }
        let begun = Backup {
            file: path.into(),
            state: State::Running,
            users: 0,
            of: store.users()?,
            bytes: None,
            error: None,
        };
        let (store, state, path) = (Arc::clone(store), Arc::clone(&self.last), PathBuf::from(path));
        let work = move || {
            let change = |change: &dyn Fn(&mut Backup)| {
                state.lock().unwrap_or_else(PoisonError::into_inner).as_mut().map(change);
            };
            let made = store
                .backup(&path, &mut |users, of| change(&|backup| (backup.users, backup.of) = (users, of)));
            match made {
                Ok(bytes) => change(&|backup| (backup.state, backup.bytes) = (State::Done, Some(bytes))),
                Err(error) => {
                    change(&|backup| (backup.state, backup.error) = (State::Failed, Some(error.to_string())));
                }
            }
        };
        let thread = std::thread::Builder::new().name("backup".into()).spawn(work);
        let thread = thread.map_err(|error| Refusal::new(Code::Storage, error))?;
        *self.thread.lock().unwrap_or_else(PoisonError::into_inner) = Some(thread);
        *last = Some(begun.clone());
        Ok(begun)
    }
}
