//! `fable forget`, `fable export` and `fable import`: one user of a store that nobody serves at the moment.

use crate::failure::{Failure, read};
use crate::policy_arguments::{PolicyArguments, ScalarName};
use crate::prior_argument::refused;
use clap::Args;
use fable_core::Policy;
use fable_std::store::transfer::{self, TransferError};
use fable_std::store::{Identity, Store, StoreError};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Erases users from a store.
///
/// Nothing about them stays in the file, which is written anew without them. Exit code 3 when one of them is not there; the
/// others are erased.
#[derive(Args)]
pub(crate) struct ForgetArguments {
    /// Names of the users.
    #[arg(required = true, value_name = "USER")]
    users: Vec<String>,
    /// The store.
    #[arg(long, value_name = "FILE")]
    store: PathBuf,
}

/// Writes everything about a user to a file.
#[derive(Args)]
pub(crate) struct ExportArguments {
    /// Name of the user.
    user: String,
    /// The file to write; `-` is standard output.
    file: PathBuf,
    /// The store.
    #[arg(long, value_name = "FILE")]
    store: PathBuf,
}

/// Puts an exported user into a store, or a new one with a prior from `fable prior address`.
///
/// Every event is checked before anything is written, so the catalog and the settings have to be those of the user. The prior that
/// the user began with comes along. A store that has the user refuses. Decisions made after the export are not in it, so their ids
/// will be given again.
#[derive(Args)]
pub(crate) struct ImportArguments {
    /// The file to read: an exported user, or a snapshot from `fable prior address`.
    file: PathBuf,
    /// Name of the user that a snapshot is addressed to; an exported user has one.
    #[arg(long, value_name = "NAME")]
    user: Option<String>,
    /// The store; it is made if there is none.
    #[arg(long, value_name = "FILE")]
    store: PathBuf,
    #[command(flatten)]
    policy: PolicyArguments,
    /// The numbers in which users are kept.
    #[arg(long, value_enum, default_value_t = ScalarName::F64)]
    scalar: ScalarName,
}

/// Erases users.
pub(crate) fn forget(arguments: &ForgetArguments) -> Result<String, Failure> {
    let names: Vec<&str> = arguments.users.iter().map(String::as_str).collect();
    let erased = Store::open_any(&arguments.store)?.forget(&names)?;
    match names.iter().find(|name| !erased.contains(name)) {
        Some(name) => Err(Failure::Refused(format!("the store has no user '{}'", printable(name)))),
        None => Ok(format!("forgotten: {}\n", erased.len())),
    }
}

/// Writes a user to a file.
pub(crate) fn export(arguments: &ExportArguments) -> Result<String, Failure> {
    let store = Store::open_any(&arguments.store)?;
    let bytes = transfer::export(&store, &arguments.user)?;
    if store.is_at(&arguments.file) {
        return Err(Failure::Mistake(format!("{} is the store itself", arguments.file.display())));
    }
    write(&arguments.file, &bytes, format!("{} bytes\n", bytes.len()))
}

/// Writes bytes and returns what is told about it: nothing if they went to a stream, which may be this command's own output.
pub(crate) fn write(path: &Path, bytes: &[u8], told: String) -> Result<String, Failure> {
    let stream = path == Path::new("-") || fs::metadata(path).is_ok_and(|found| !found.is_file());
    let written = if stream { pour(path, bytes) } else { replace(path, bytes) };
    written.map_err(|error| Failure::file(path, &error))?;
    Ok(if stream { String::new() } else { told })
}

/// A device or a pipe just gets the bytes.
fn pour(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if path == Path::new("-") {
        io::stdout().lock().write_all(bytes)
    } else {
        fs::OpenOptions::new().write(true).open(path)?.write_all(bytes)
    }
}

/// Writes a file that nobody else can read, in one step: whatever happens there is the old one or the new one.
fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned()); // the file, not a link to it
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut draft = tempfile::NamedTempFile::new_in(folder)?;
    draft.write_all(bytes)?;
    draft.as_file().sync_all()?;
    draft.persist(&path)?;
    Ok(())
}

/// Puts a user into a store.
pub(crate) fn import(arguments: &ImportArguments) -> Result<String, Failure> {
    let bytes = read(&arguments.file)?;
    let (catalog, settings) = arguments.policy.open()?;
    match arguments.scalar {
        ScalarName::F32 => take(&Policy::<f32>::new(catalog, settings).map_err(Failure::mistake)?, arguments, &bytes),
        ScalarName::F64 => take(&Policy::<f64>::new(catalog, settings).map_err(Failure::mistake)?, arguments, &bytes),
    }
}

fn take<T: fable_core::Scalar>(base: &Policy<'_, T>, arguments: &ImportArguments, bytes: &[u8]) -> Result<String, Failure> {
    let file = arguments.file.display();
    // Before a store is made for it.
    let arrival = match (bytes.starts_with(b"FABS"), &arguments.user) {
        (true, Some(name)) => transfer::Arrival::addressed(base, bytes, name),
        (true, None) => return Err(Failure::Mistake(format!("{file} is a snapshot, which has no name in it; say --user NAME"))),
        (false, Some(_)) => return Err(Failure::Mistake(format!("{file} is no snapshot; --user is for one"))),
        (false, None) => transfer::Arrival::check(base, bytes),
    };
    let arrival = arrival.map_err(|error| match error {
        StoreError::Prior(error) => refused(&arguments.file, bytes, base.catalog(), *base.settings(), &error),
        StoreError::Transfer(TransferError::Address) => Failure::Mistake(format!("{file}: {error}")),
        error => error.into(),
    })?;
    let name = arrival.enter(&Store::open(&arguments.store, &Identity::new(base))?)?;
    Ok(format!("imported: {}\n", printable(&name)))
}

/// A name that tells a terminal nothing but itself.
pub(crate) fn printable(name: &str) -> String {
    let escaped = |letter: char| if letter.is_control() { letter.escape_default().to_string() } else { letter.to_string() };
    name.chars().map(escaped).collect()
}
