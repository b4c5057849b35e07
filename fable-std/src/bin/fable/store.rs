//! `fable forget`, `fable export` and `fable import`: one user of a store. `fable move`: all of them.

use crate::failure::Failure;
use crate::input::read;
use crate::output::write;
use crate::policy_arguments::{PolicyArguments, ScalarName};
use crate::prior_argument::refused;
use crate::store_key::{self, open_any};
use crate::upkeep::{bar, show};
use clap::Args;
use fable_core::Policy;
use fable_std::store::movement;
use fable_std::store::transfer::{self, TransferError};
use fable_std::store::{Identity, StoreError};
use std::fmt::Write as _;
use std::path::PathBuf;

/// Erases users from a store.
///
/// Their keys are destroyed, so nothing that is stored about them can be read any more. Exit code 3 when one of them is not there; the
/// others are erased.
#[derive(Args)]
pub(crate) struct ForgetArguments {
    /// Names of the users.
    #[arg(required = true, value_name = "USER")]
    users: Vec<String>,
    /// The store: a file, or the URL of a database.
    #[arg(long, value_name = "FILE|URL")]
    store: PathBuf,
}

/// Writes everything about a user to a file.
///
/// Nobody else can read the file, and one that is there is replaced as a whole or not at all. `import` and the other commands read
/// up to 512 MiB.
#[derive(Args)]
pub(crate) struct ExportArguments {
    /// Name of the user.
    user: String,
    /// The file to write; `-` is standard output.
    file: PathBuf,
    /// The store: a file, or the URL of a database.
    #[arg(long, value_name = "FILE|URL")]
    store: PathBuf,
}

/// Puts an exported user into a store, or a new one with a prior from `fable prior address`.
///
/// Every event is checked before anything is written, so the catalog and the settings have to be those of the user. The prior that
/// the user began with comes along. A store that has the user refuses. Decisions made after the export are not in it, so their ids
/// will be given again. A file may have 512 MiB; what is larger is refused.
#[derive(Args)]
pub(crate) struct ImportArguments {
    /// The file to read: an exported user, or a snapshot from `fable prior address`.
    file: PathBuf,
    /// Name of the user that a snapshot is addressed to; an exported user has one.
    #[arg(long, value_name = "NAME")]
    user: Option<String>,
    /// The store, a file or the URL of a database; it is made if there is none.
    #[arg(long, value_name = "FILE|URL")]
    store: PathBuf,
    #[command(flatten)]
    policy: PolicyArguments,
    /// The numbers in which users are kept. If it is left out, as the store has them; a new one has f32.
    #[arg(long, value_enum)]
    scalar: Option<ScalarName>,
}

/// Erases users.
pub(crate) fn forget(arguments: &ForgetArguments) -> Result<String, Failure> {
    let names: Vec<&str> = arguments.users.iter().map(String::as_str).collect();
    let erased = open_any(&arguments.store)?.forget(&names)?;
    match names.iter().find(|name| !erased.contains(name)) {
        Some(name) => Err(Failure::Refused(format!("the store has no user '{}'", printable(name)))),
        None => Ok(format!("forgotten: {}\n", erased.len())),
    }
}

/// Writes a user to a file.
pub(crate) fn export(arguments: &ExportArguments) -> Result<String, Failure> {
    let store = open_any(&arguments.store)?;
    let bytes = transfer::export(&*store, &arguments.user)?;
    if store.is_at(&arguments.file) {
        return Err(Failure::Mistake(format!("{} is the store itself", arguments.file.display())));
    }
    write(&arguments.file, &bytes, format!("{} bytes\n", bytes.len()))
}

/// Puts a user into a store.
pub(crate) fn import(arguments: &ImportArguments) -> Result<String, Failure> {
    let bytes = read(&arguments.file)?;
    let (catalog, settings) = arguments.policy.open()?;
    match ScalarName::of(arguments.scalar, Some(&arguments.store), &store_key::options()?, Some(&bytes)) {
        ScalarName::F32 => {
            take(&Policy::<f32>::new(catalog, settings).map_err(Failure::mistake)?, arguments, &bytes)
        }
        ScalarName::F64 => {
            take(&Policy::<f64>::new(catalog, settings).map_err(Failure::mistake)?, arguments, &bytes)
        }
    }
}

fn take<T: fable_core::Scalar>(
    base: &Policy<'_, T>,
    arguments: &ImportArguments,
    bytes: &[u8],
) -> Result<String, Failure> {
    let file = arguments.file.display();
    // Before a store is made for it.
    let arrival = match (bytes.starts_with(b"FABS"), &arguments.user) {
        (true, Some(name)) => transfer::Arrival::addressed(base, bytes, name),
        (true, None) => {
            return Err(Failure::Mistake(format!(
                "{file} is a snapshot, which has no name in it; say --user NAME"
            )));
        }
        (false, Some(_)) => {
            return Err(Failure::Mistake(format!("{file} is no snapshot; --user is for one")));
        }
        (false, None) => transfer::Arrival::check(base, bytes),
    };
    let arrival = arrival.map_err(|error| match error {
        StoreError::Prior(error) => refused(&arguments.file, bytes, base.catalog(), *base.settings(), &error),
        StoreError::Transfer(TransferError::Address) => Failure::Mistake(format!("{file}: {error}")),
        error => error.into(),
    })?;
    let name = arrival.enter(&*store_key::open(&arguments.store, &Identity::new(base))?)?;
    Ok(format!("imported: {}\n", printable(&name)))
}

/// Moves everyone into another store: from a file into a database when one process is not enough any more, or back.
///
/// Every user is the same there, bit for bit, with number, rules, history and prior. The store that they come from stays as it is; what has moved is
/// not erased there. Run again after an interruption, it goes on where it was, and users who have gone on since get the rest. A user of whom the
/// other store has another past is not touched and told. Exit codes: 0 everyone is there, 1 somebody is not, or a store cannot be used, 2 stores
/// of different catalogs or settings.
#[derive(Args)]
pub(crate) struct MoveArguments {
    /// The store to move from: a file that nobody serves, or the URL of a database.
    #[arg(long, value_name = "FILE|URL")]
    from: PathBuf,
    /// The store to move to; it is made if there is none.
    #[arg(long, value_name = "FILE|URL")]
    to: PathBuf,
}

/// Moves everyone.
pub(crate) fn move_everyone(arguments: &MoveArguments) -> Result<String, Failure> {
    let from = open_any(&arguments.from)?;
    let to = store_key::open(&arguments.to, &from.identity()?)?;
    let bar = bar();
    let moved = movement::move_everyone(&*from, &*to, &mut show(&bar))?;
    bar.finish_and_clear();
    let mut text =
        format!("moved: {}, completed: {}, there already: {}\n", moved.moved, moved.completed, moved.same);
    for refused in &moved.refused {
        let _ = writeln!(text, "not moved: {}", printable(&refused.to_string()));
    }
    if moved.is_complete() { Ok(text) } else { Err(Failure::Different(text)) }
}

/// A name that tells a terminal nothing but itself.
pub(crate) fn printable(name: &str) -> String {
    let escaped = |letter: char| {
        if letter.is_control() { letter.escape_default().to_string() } else { letter.to_string() }
    };
    name.chars().map(escaped).collect()
}
