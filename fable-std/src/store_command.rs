//! `fable forget`, `fable export` and `fable import`: one user of a store that nobody serves at the moment.

use crate::device_command::Failure;
use clap::{Args, ValueEnum};
use fable_core::{Policy, Settings};
use fable_std::catalogs;
use fable_std::store::{Identity, Store, StoreError, private, transfer};
use std::fs;
use std::io::Write;
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
    /// The file to write.
    file: PathBuf,
    /// The store.
    #[arg(long, value_name = "FILE")]
    store: PathBuf,
}

/// Puts an exported user into a store.
///
/// Every event is checked before anything is written, so the catalog and the settings have to be those of the user. A store
/// that has the user refuses. Decisions made after the export are not in it, so their ids will be given again.
#[derive(Args)]
pub(crate) struct ImportArguments {
    /// The file to read.
    file: PathBuf,
    /// The store; it is made if there is none.
    #[arg(long, value_name = "FILE")]
    store: PathBuf,
    /// The catalog.
    #[arg(long, default_value = "agent")]
    catalog: String,
    /// The seed of the installation.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// The numbers in which users are kept.
    #[arg(long, value_enum, default_value_t = ScalarName::F64)]
    scalar: ScalarName,
}

/// The numbers in which users are kept.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum ScalarName {
    F32,
    F64,
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        let message = error.to_string();
        match error {
            StoreError::Mismatch { .. } => Self::Mistake(message),
            StoreError::NoUser | StoreError::HasUser | StoreError::Collision => Self::Refused(message),
            _ => Self::Trouble(message),
        }
    }
}

fn trouble(path: &Path, error: &std::io::Error) -> Failure {
    Failure::Trouble(format!("{}: {error}", path.display()))
}

/// Erases users.
pub(crate) fn forget(arguments: &ForgetArguments) -> Result<String, Failure> {
    let names: Vec<&str> = arguments.users.iter().map(String::as_str).collect();
    let erased = Store::open_any(&arguments.store)?.forget(&names)?;
    match names.iter().find(|name| !erased.contains(name)) {
        Some(name) => Err(Failure::Refused(format!("the store has no user '{name}'"))),
        None => Ok(format!("forgotten: {}\n", erased.len())),
    }
}

/// Writes a user to a file.
pub(crate) fn export(arguments: &ExportArguments) -> Result<String, Failure> {
    let bytes = transfer::export(&Store::open_any(&arguments.store)?, &arguments.user)?;
    let file = private().create(true).truncate(true).open(&arguments.file);
    let written = file.and_then(|mut file| file.write_all(&bytes).and_then(|()| file.sync_all()));
    written.map_err(|error| trouble(&arguments.file, &error))?;
    Ok(format!("{} bytes\n", bytes.len()))
}

/// Puts a user into a store.
pub(crate) fn import(arguments: &ImportArguments) -> Result<String, Failure> {
    let bytes = fs::read(&arguments.file).map_err(|error| trouble(&arguments.file, &error))?;
    let Some(catalog) = catalogs::find(&arguments.catalog) else {
        return Err(Failure::Mistake(format!("there is no catalog '{}'", arguments.catalog)));
    };
    let settings = Settings { seed: arguments.seed, ..Settings::default() };
    let mistake = |error: fable_core::SettingsError| Failure::Mistake(error.to_string());
    match arguments.scalar {
        ScalarName::F32 => take(&Policy::<f32>::new(catalog, settings).map_err(mistake)?, &arguments.store, &bytes),
        ScalarName::F64 => take(&Policy::<f64>::new(catalog, settings).map_err(mistake)?, &arguments.store, &bytes),
    }
}

fn take<T: fable_core::Scalar>(policy: &Policy<'_, T>, store: &Path, bytes: &[u8]) -> Result<String, Failure> {
    transfer::read(bytes)?; // before a store is made for it
    let name = transfer::import(&Store::open(store, &Identity::new(policy))?, policy, bytes)?;
    Ok(format!("imported: {name}\n"))
}
