//! `fable check`, `fable repair` and `fable backup`: a store as a whole. None of them changes it.

use crate::failure::Failure;
use crate::store::printable;
use crate::store_key::{open_any, options};
use clap::Args;
use fable_std::store::{Damage, FileStore, Loss, Reach, Report, Store, StoreError, is_url};
use indicatif::{ProgressBar, ProgressStyle};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Looks at every byte of a store, and says what is damaged.
///
/// The store may be in use: what was committed before is looked at. Nothing is changed. Exit codes: 0 everything is sound, 1 something is damaged, or the store cannot be opened.
#[derive(Args)]
pub(crate) struct CheckArguments {
    /// The store: a file, or the URL of a database.
    #[arg(value_name = "STORE")]
    store: PathBuf,
    /// Prints the report as one JSON object.
    #[arg(long)]
    json: bool,
}

/// Writes a new store with everything of a damaged one that can be read.
///
/// The old one is not touched. What was lost is told: users whose newest events are lost go on as of before them, users whose hard
/// rules or name are lost stay refused until they are forgotten. Exit codes: 0 nothing was lost, 1 something was, or it could not be done.
#[derive(Args)]
pub(crate) struct RepairArguments {
    /// The damaged store.
    #[arg(value_name = "STORE")]
    store: PathBuf,
    /// Where to: a path at which there is nothing.
    #[arg(value_name = "NEW")]
    new: PathBuf,
}

/// Copies a store, which may be in use, to another path: all that was committed before.
///
/// The copy has the same keys, beside it or where they are kept, and opens like the original. Whoever is forgotten later is still
/// in it. Every byte is checked on the way; a damaged store is not copied but repaired.
#[derive(Args)]
pub(crate) struct BackupArguments {
    /// The store: a file, or the URL of a database.
    #[arg(value_name = "STORE")]
    store: PathBuf,
    /// Where to: a path at which there is nothing.
    #[arg(value_name = "COPY")]
    copy: PathBuf,
}

/// A bar that counts users; nothing where nobody watches.
pub(crate) fn bar() -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:40} {pos} of {len} users")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(0).with_style(style)
}

pub(crate) fn show(bar: &ProgressBar) -> impl FnMut(u64, u64) {
    |done, all| {
        bar.set_length(all);
        bar.set_position(done);
    }
}

/// Looks at a store.
pub(crate) fn check(arguments: &CheckArguments) -> Result<String, Failure> {
    let bar = bar();
    let report = if is_url(&arguments.store) {
        check_everyone(&*open_any(&arguments.store)?, &mut show(&bar))?
    } else {
        FileStore::check(&arguments.store, &options()?, show(&bar))?
    };
    bar.finish_and_clear();
    let text = if arguments.json { json(&report) } else { told(&report) };
    if report.is_sound() { Ok(text) } else { Err(Failure::Different(text)) }
}

/// Everyone and every prior of a database: what is kept ends with checksums, and follows from what is before it.
fn check_everyone(store: &dyn Store, progress: &mut dyn FnMut(u64, u64)) -> Result<Report, Failure> {
    let everyone = store.everyone()?;
    let mut report = Report { users: everyone.len() as u64, bytes: store.bytes(), ..Report::default() };
    for fingerprint in store.priors()? {
        if matches!(store.prior(fingerprint), Err(StoreError::User(_))) {
            report.priors.push(fingerprint);
        }
    }
    for (done, number) in (1..).zip(everyone) {
        let state = store.user(number, Reach::Snapshot).map(drop);
        let looked = state.and_then(|()| store.user(number, Reach::Whole).map(drop));
        match looked.and_then(|()| store.memory(number).map(drop)) {
            Ok(()) => {}
            Err(StoreError::User(damage)) => {
                report.damaged.push(Loss { name: None, number, damage, from: None });
            }
            Err(error) => return Err(error.into()),
        }
        progress(done, report.users);
    }
    Ok(report)
}

/// A database has ways of its own.
fn only_files(place: &Path, instead: &str) -> Result<(), Failure> {
    if is_url(place) {
        Err(Failure::Mistake(format!("this is for stores in files; for a database {instead}")))
    } else {
        Ok(())
    }
}

fn json(report: &Report) -> String {
    let user = |loss: &Loss| serde_json::json!({ "user": loss.name, "number": format!("{:016x}", loss.number), "damage": loss.damage.to_string() });
    let hex = |numbers: &[u64]| numbers.iter().map(|number| format!("{number:016x}")).collect::<Vec<_>>();
    let report = serde_json::json!({
        "sound": report.is_sound(),
        "users": report.users,
        "bytes": report.bytes,
        "damaged": report.damaged.iter().map(user).collect::<Vec<_>>(),
        "weakened": hex(&report.weakened),
        "commits": report.groups,
        "priors": hex(&report.priors),
        "keys": report.keys,
        "heads": report.heads,
        "unaccounted": report.unaccounted,
    });
    format!("{report}\n")
}

fn told(report: &Report) -> String {
    let Report { users, bytes, damaged, weakened, groups, priors, keys, heads, unaccounted } = report;
    let mut text = format!("users: {users}, bytes: {bytes}\n");
    for loss in damaged {
        let _ = writeln!(text, "damaged: {}: {}", who(loss), loss.damage);
    }
    if !weakened.is_empty() {
        let _ = writeln!(
            text,
            "users who are whole, though a snapshot or an older event is damaged: {}",
            weakened.len()
        );
    }
    for prior in priors {
        let _ = writeln!(text, "damaged: the prior {prior:016x}; give it again with --prior");
    }
    for (what, count) in [
        ("commits with a damaged byte", groups),
        ("keys with a damaged copy, or whose destruction was interrupted", keys),
        ("damaged copies of what a file begins with", heads),
        ("damaged places of which it is not known whose they are", unaccounted),
    ] {
        if *count > 0 {
            let _ = writeln!(text, "{what}: {count}");
        }
    }
    text += if report.is_sound() {
        "sound\n"
    } else {
        "damaged: `fable repair STORE NEW` writes a new store with all that can be read\n"
    };
    text
}

fn who(loss: &Loss) -> String {
    loss.name.as_deref().map_or_else(|| format!("the user with the number {:016x}", loss.number), printable)
}

/// Writes a new store.
pub(crate) fn repair(arguments: &RepairArguments) -> Result<String, Failure> {
    only_files(
        &arguments.store,
        "a backup of its own has what was lost; users who are damaged can be forgotten",
    )?;
    only_files(&arguments.new, "`fable move` brings a store there")?;
    let bar = bar();
    let repaired = FileStore::repair(&arguments.store, &arguments.new, &options()?, show(&bar))?;
    bar.finish_and_clear();
    let mut text =
        format!("users: {}, in {}\n", repaired.users, printable(&arguments.new.display().to_string()));
    for loss in &repaired.losses {
        let _ = match loss.from {
            Some(event) => writeln!(
                text,
                "lost: {}: the events from {event} on; the user goes on as of before",
                who(loss)
            ),
            None if loss.damage == Damage::Memory => {
                writeln!(
                    text,
                    "lost: {}: what was exchanged with an assistant; the user goes on without it",
                    who(loss)
                )
            }
            None => {
                writeln!(text, "lost: {}: {}; the user is refused until forgotten", who(loss), loss.damage)
            }
        };
    }
    if repaired.unaccounted > 0 {
        let _ = writeln!(
            text,
            "damaged places of which it is not known whose they were: {}",
            repaired.unaccounted
        );
    }
    if repaired.losses.is_empty() && repaired.unaccounted == 0 {
        Ok(text + "nothing was lost\n")
    } else {
        Err(Failure::Different(text))
    }
}

/// Copies a store.
pub(crate) fn backup(arguments: &BackupArguments) -> Result<String, Failure> {
    only_files(&arguments.store, "there is pg_dump, or `fable move` into a file")?;
    only_files(&arguments.copy, "there is `fable move`")?;
    let bar = bar();
    let bytes = FileStore::backup_of(&arguments.store, &arguments.copy, &options()?, show(&bar))?;
    bar.finish_and_clear();
    Ok(format!("{bytes} bytes\n"))
}
