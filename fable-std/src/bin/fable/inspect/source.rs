//! Where a state comes from: a user of a store, an exported user, a device's snapshot with or without its journal.

use crate::failure::Failure;
use crate::input::{self, read_journal};
use crate::store::printable;
use fable_core::catalog::{AGENT, BlockSet, RUBRIC, TAU2};
use fable_core::record::RecordError;
use fable_core::{Catalog, HostUser, Policy, Scalar, Settings};
use fable_std::identify::Allowed;
use fable_std::prior_file::PriorFileError;
use fable_std::replay::{ReplayError, Tape};
use fable_std::store::{Identity, StoreError, transfer, wishes};
use fable_std::text::Constraint;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// A life and what it is called.
pub(crate) struct Source {
    /// The user and the file, or the file alone.
    pub(crate) name: String,
    pub(crate) tape: Tape,
    /// What a store says it was made with.
    pub(crate) identity: Option<Identity>,
    /// The user's own rules, as they are stored.
    constraints: Vec<u8>,
}

/// Reads what the file has, whatever it is.
pub(crate) fn open(path: &Path, user: Option<&str>, journal: Option<&Path>) -> Result<Source, Failure> {
    let file = printable(&fable_std::store::shown(path));
    let trouble = |error: &dyn std::fmt::Display| Failure::Trouble(format!("{file}: {error}"));
    let mut magic = Vec::new();
    if fable_std::store::is_url(path) {
        magic.extend_from_slice(b"FABL"); // what the file of a store begins with
    } else {
        let read = File::open(path).and_then(|file| file.take(4).read_to_end(&mut magic));
        read.map_err(|error| trouble(&error))?;
    }
    if magic != b"FABS" && journal.is_some() {
        return Err(Failure::Mistake(format!(
            "{file} is no snapshot; --journal is for what a device did after one"
        )));
    }
    match (magic.as_slice(), user) {
        (b"FABX" | b"FABS", Some(_)) => {
            Err(Failure::Mistake(format!("{file} has one user; --user is for a store")))
        }
        (b"FABX", None) => {
            let stored = transfer::read(&input::read(path)?).map_err(|error| trouble(&error))?;
            let tape = Tape::of_user(&stored).map_err(|error| trouble(&error))?;
            Ok(Source {
                name: format!("{} in {file}", printable(&stored.row.name)),
                tape,
                identity: None,
                constraints: stored.wishes,
            })
        }
        (b"FABS", None) => {
            let snapshot = input::read(path)?;
            let journal = journal.map_or(Ok(Vec::new()), read_journal)?;
            let tape = Tape::of_device(snapshot, &journal)
                .map_err(|error| Failure::Trouble(format!("the journal: {error}")))?;
            Ok(Source { name: file, tape, identity: None, constraints: Vec::new() })
        }
        (b"FABL", _) => {
            let store = crate::store_key::open_any(path)?;
            let Some(user) = user else {
                let users = store.users()?;
                return Err(Failure::Mistake(format!(
                    "{file} is a store (users: {users}); name one of them with --user"
                )));
            };
            let stored = match store.named(user) {
                Err(StoreError::NoUser) => {
                    return Err(Failure::Refused(format!("{file} has no user '{}'", printable(user))));
                }
                found => found?,
            };
            let (name, tape) = (format!("{} in {file}", printable(user)), Tape::of_user(&stored)?);
            Ok(Source { name, tape, identity: Some(store.identity()?), constraints: stored.wishes })
        }
        _ => Err(trouble(&"neither a store nor an exported user nor a snapshot")),
    }
}

impl Source {
    /// What the user's own rules allow, if there are any.
    pub(crate) fn allowed(&self, catalog: &Catalog<'_>) -> Result<Option<Allowed>, Failure> {
        let stated = self.stated(catalog)?;
        let allowed = (!stated.is_empty()).then(|| Allowed::stated(catalog, &stated)).transpose();
        allowed.map_err(|error| Failure::Trouble(format!("{}: {error}", self.name)))
    }

    /// The user's own rules.
    pub(crate) fn stated(&self, catalog: &Catalog<'_>) -> Result<Vec<Constraint>, Failure> {
        let stated = wishes::decode(catalog, &self.constraints);
        stated.map_err(|error| Failure::Trouble(format!("{}: {error}", self.name)))
    }

    /// Bits of the scalar's significand.
    pub(crate) fn digits(&self) -> Result<u8, Failure> {
        self.tape.digits().map_err(|error| Failure::Trouble(format!("{}: {error}", self.name)))
    }

    /// The numbers of the prior that the life began with.
    pub(crate) fn prior<T: Scalar>(&self, base: &Policy<'_, T>) -> Result<Option<Vec<T>>, Failure> {
        self.tape.prior_numbers(base).map_err(|error| match error {
            PriorFileError::Record(RecordError::Catalog | RecordError::Policy) => self.foreign(base),
            error => Failure::Trouble(format!("{}: {error}", self.name)),
        })
    }

    /// The user at the end of the life.
    pub(crate) fn play<'p, T: Scalar>(&self, policy: &Policy<'p, T>) -> Result<HostUser<'p, T>, Failure> {
        self.tape.play(policy).map_err(|error| match error {
            ReplayError::Start(RecordError::Catalog | RecordError::Policy) => self.foreign(policy),
            error => Failure::Trouble(format!("{}: {error}", self.name)),
        })
    }

    /// Another catalog or other settings: which, as far as that can be known.
    fn foreign<T: Scalar>(&self, policy: &Policy<'_, T>) -> Failure {
        if let Some(Err(error @ StoreError::Mismatch { .. })) =
            self.identity.as_ref().map(|identity| identity.admit(&Identity::new(policy)))
        {
            return Failure::mistake(error);
        }
        let found = self.tape.base_fingerprint().ok();
        let shipped = [&AGENT, &TAU2, &RUBRIC].into_iter().find(|catalog| {
            let settings = Settings { retained: BlockSet::FULL, ..*policy.settings() };
            let policy = Policy::<T>::new(catalog, settings);
            policy.is_ok_and(|policy| Some(policy.fingerprint()) == found)
        });
        let hint = shipped
            .map_or_else(String::new, |catalog| format!("; try --catalog {}", catalog.definition().name));
        Failure::Mistake(format!("{} belongs to another catalog or other settings{hint}", self.name))
    }
}
