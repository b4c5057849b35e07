//! `fable merge`: journals of one user from several places become one.

use crate::failure::Failure;
use crate::input::{read, read_journal};
use crate::output::write;
use crate::policy_arguments::PolicyArguments;
use clap::Args;
use fable_core::{Policy, Scalar};
use fable_merge::MergeError;
use fable_std::merge::{MergeFailure, Merged, Place, merge};
use fable_std::replay::{ReplayError, Tape};
use fable_std::store::{Stored, transfer};
use std::path::{Path, PathBuf};

/// Makes one exported user of journals from several places.
///
/// The first file is the place where the user goes on: its name, rules and waiting decisions stay. The others, exported users or what was
/// read from devices, say what else has happened; what is known already does not count twice. Every place needs a number of its own,
/// which `--site` gives to those who come to a service, and a device's firmware to a device. Without fading the result is what it
/// would be had everything happened in one place, to rounding; with --half-life or --on-change all is learned again in the order of time.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct MergeArguments {
    /// The file to write; `-` is standard output.
    out: PathBuf,
    /// Files that `fable export` has written, the one that goes on first.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// A device's snapshot, from `fable device snapshot save`; with its journal, and once for each device.
    #[arg(long, value_name = "FILE")]
    snapshot: Vec<PathBuf>,
    /// The device's journal after it, from `fable device journal`.
    #[arg(long, value_name = "FILE")]
    journal: Vec<PathBuf>,
    #[command(flatten)]
    policy: PolicyArguments,
}

const EXAMPLES: &str = "\
Examples:
  fable merge ana.all ana.home ana.office
  fable device --port /dev/ttyACM0 snapshot save board.snapshot && fable device --port /dev/ttyACM0 journal board.journal
  fable merge ana.all ana.home --snapshot board.snapshot --journal board.journal --catalog tau2

Exit codes: 0 done, 1 a file cannot be read, 2 a mistake in the command or another catalog or other settings, 3 the journals do
not belong together or have a gap.";

/// Runs the command and returns what it prints.
pub(crate) fn run(arguments: &MergeArguments) -> Result<String, Failure> {
    let MergeArguments { out, files, snapshot, journal, policy } = arguments;
    let Some((first, others)) = files.split_first() else { return Err(Failure::mistake("a file is needed")) }; // clap has seen to it
    if snapshot.len() != journal.len() {
        return Err(Failure::mistake("each --snapshot needs its --journal"));
    }
    if files.len() + snapshot.len() < 2 {
        return Err(Failure::mistake("there is only one journal; say what to merge it with"));
    }
    let (catalog, settings) = policy.open()?;
    let mut home = stored(first)?;
    let mut places = Vec::new();
    for file in others {
        let mut other = stored(file)?;
        home.memory.join(std::mem::take(&mut other.memory));
        let tape = Tape::of_user(&other)?;
        places.push(Place::of_tape(catalog, settings, &tape).map_err(|failure| told(file, failure))?);
    }
    for (snapshot, journal) in snapshot.iter().zip(journal) {
        let tape = Tape::of_device(read(snapshot)?, &read_journal(journal)?);
        let tape = tape.map_err(|error| Failure::Trouble(format!("{}: {error}", journal.display())))?;
        places.push(Place::of_tape(catalog, settings, &tape).map_err(|failure| told(snapshot, failure))?);
    }
    let merged = match home.row.header.digits {
        24 => one::<f32>(&Policy::new(catalog, settings).map_err(Failure::mistake)?, &home, &places),
        _ => one::<f64>(&Policy::new(catalog, settings).map_err(Failure::mistake)?, &home, &places),
    };
    let merged = merged.map_err(|failure| told(first, failure))?;
    let text = news(&merged);
    write(out, &transfer::write(&merged.into_stored(home)?)?, text)
}

fn stored(path: &Path) -> Result<Stored, Failure> {
    transfer::read(&read(path)?).map_err(|error| Failure::from_reading(path, &error))
}

fn one<T: Scalar>(policy: &Policy<'_, T>, home: &Stored, places: &[Place]) -> Result<Merged, MergeFailure> {
    merge(policy, home, places)
}

/// What was new, in words.
pub(crate) fn news(merged: &Merged) -> String {
    let Merged { decisions, rewards, base, entries, .. } = merged;
    let how = match (entries.count, base) {
        (0, _) => "nothing was new",
        (_, None) => "appended",
        (_, Some(_)) => "learned again in the order of time",
    };
    format!("{decisions} decisions and {rewards} rewards were new: {how}\n")
}

/// What is wrong, and with which file.
pub(crate) fn told(path: &Path, failure: MergeFailure) -> Failure {
    let message = format!("{}: {failure}", fable_std::store::shown(path));
    match failure {
        MergeFailure::Store(error) => Failure::from_reading(path, &error),
        MergeFailure::Settings(_)
        | MergeFailure::Merge(MergeError::Policy | MergeError::Fading)
        | MergeFailure::Replay(ReplayError::Start(_) | ReplayError::Settings(_))
        | MergeFailure::Prior(_) => Failure::Mistake(message),
        MergeFailure::Merge(_) => Failure::Refused(message),
        _ => Failure::Trouble(message),
    }
}
