//! What a person can type after `fable device`, and the help that says so.

use crate::rules::ChangeArguments;
use clap::{Args, Subcommand};
use fable_core::DecisionId;
use fable_std::settings::SettingsArguments;
use std::path::PathBuf;

/// Talks to a device that runs Fable, over a serial port or TCP.
///
/// A serial port is set up with stty: raw, 8 bits, no parity, no flow control. A board in QEMU can be given a TCP port with
/// `-serial tcp::4000,server` and is reached with `--tcp 127.0.0.1:4000`. Names of components, values, tasks, signals and
/// contrasts are those of the device's catalog: `fable catalog show NAME`.
///
/// With a key (`--key-file`) neither requests nor answers can be changed, invented or repeated by somebody on the line; they can be
/// read. `openssl rand -hex 16` makes a key, and the device's firmware has to have it.
///
/// Exit codes: 0 done, 1 no device or no answer, 2 a mistake in the command, 3 the device refuses (its state is as before).
#[derive(Args)]
#[command(verbatim_doc_comment, arg_required_else_help = true, after_help = EXAMPLES)]
pub(crate) struct DeviceArguments {
    #[command(flatten)]
    pub(super) place: Place,
    /// Bits per second of the serial port.
    #[arg(long, default_value_t = 115_200, global = true)]
    pub(super) baud: u32,
    /// Seconds that a request may take, whatever the port sends; it is sent up to three times.
    #[arg(long, default_value_t = 6.0, global = true)]
    pub(super) timeout: f64,
    /// The key that the device has too: 32 hexadecimal digits that nobody else can read. Both sides then seal what they say.
    #[arg(long, value_name = "FILE", global = true)]
    pub(super) key_file: Option<PathBuf>,
    /// The file of the device's catalog, if it is not one that ships.
    #[arg(long, value_name = "FILE.toml", global = true)]
    pub(super) catalog: Option<String>,
    /// Prints JSON instead of text.
    #[arg(long, global = true)]
    pub(super) json: bool,
    #[command(subcommand)]
    pub(super) command: DeviceCommand,
}

#[derive(Args)]
#[group(required = true, multiple = false)]
pub(super) struct Place {
    /// The serial port, for example /dev/ttyACM0.
    #[arg(long, value_name = "PATH")]
    pub(super) port: Option<PathBuf>,
    /// A TCP server with a device behind it.
    #[arg(long, value_name = "HOST:PORT")]
    pub(super) tcp: Option<String>,
}

const EXAMPLES: &str = "\
Examples:
  fable device --port /dev/ttyACM0 hello
  fable device --port /dev/ttyACM0 onboard --prefer style=concise --over style=guided
  fable device --port /dev/ttyACM0 decide --forbid tool=verify
  fable device --port /dev/ttyACM0 recommend --all
  fable device --port /dev/ttyACM0 feedback 00000000000000ab-0-17 0.5
  fable device --port /dev/ttyACM0 prior load people.prior
  fable device --port /dev/ttyACM0 join --store users.fable --user ana --site 2
  fable device --port /dev/ttyACM0 sync --store users.fable --user ana
  fable device --port /dev/ttyACM0 rules --forbid tool=verify
  fable device --tcp 127.0.0.1:4000 --json contrast concise_over_guided";

#[derive(Subcommand)]
pub(super) enum DeviceCommand {
    /// Who is there: versions, catalog, fingerprint, user, rounds.
    Hello,
    /// States a preference.
    Onboard {
        /// What is preferred: a value, or values of two components for their pair.
        #[arg(long, value_name = "COMPONENT=VALUE", required = true)]
        prefer: Vec<String>,
        /// What it is preferred to; may be left out.
        #[arg(long, value_name = "COMPONENT=VALUE")]
        over: Vec<String>,
        /// Only in this task, or in proportion to this signal.
        #[arg(long, value_name = "TASK|SIGNAL")]
        when: Option<String>,
        /// How strongly, from -1 to 1.
        #[arg(long, default_value_t = 1.0, allow_negative_numbers = true)]
        response: f64,
        /// How firmly: about so many observations divided by the noise variance.
        #[arg(long, default_value_t = 4.0)]
        precision: f64,
    },
    /// Asks for a decision.
    Decide {
        #[command(flatten)]
        among: AmongArguments,
        /// The caller's time, in its own unit.
        #[arg(long, default_value_t = 0)]
        at: u32,
    },
    /// Says what is best by what is known: nothing is explored, and nothing kept.
    Recommend {
        #[command(flatten)]
        among: AmongArguments,
    },
    /// Tells how a decision went.
    Feedback {
        /// The decision, as `decide` has printed it.
        decision: DecisionId,
        /// From -1 to 1.
        #[arg(allow_negative_numbers = true)]
        reward: f64,
        /// How much it counts.
        #[arg(long, default_value_t = 1.0)]
        weight: f32,
        /// The caller's time, in its own unit.
        #[arg(long, default_value_t = 0)]
        at: u32,
    },
    /// Why an action was chosen and not another one.
    Explain {
        /// The decision, as `decide` has printed it.
        decision: DecisionId,
        /// A complete action, COMPONENT=VALUE*COMPONENT=VALUE...; the runner-up if it is left out.
        #[arg(long, value_name = "ACTION")]
        against: Option<String>,
    },
    /// The promoted preferences, by which rule they became certain, and whether they still hold.
    Profile {
        /// Promotes first what is decided now.
        #[arg(long)]
        promote: bool,
        /// The caller's time, kept with a promotion.
        #[arg(long, default_value_t = 0)]
        at: u32,
    },
    /// How contrasts stand: all that the catalog declares, with what coins have shown, one of them, or two complete actions.
    Contrast {
        /// The name of a declared contrast.
        name: Option<String>,
        /// A complete action to compare.
        #[arg(long, value_name = "ACTION", requires = "over", conflicts_with = "name")]
        prefer: Option<String>,
        /// The complete action it is compared with; they differ in one component.
        #[arg(long, value_name = "ACTION", requires = "prefer")]
        over: Option<String>,
        /// Adds the known difference of their reference scores.
        #[arg(long, requires = "prefer")]
        total: bool,
        #[command(flatten)]
        context: ContextArguments,
    },
    /// Counts: decisions, observations, frames, storage.
    Stats,
    /// Saves the kept snapshot to a file, or restores the device from one.
    #[command(subcommand)]
    Snapshot(SnapshotCommand),
    /// The prior that the device's next user begins from.
    #[command(subcommand)]
    Prior(PriorCommand),
    /// Saves the events after the kept snapshot: each its length, two bytes, and its record.
    Journal {
        /// The file to write; nobody else can read it.
        file: PathBuf,
    },
    /// Replays the device's snapshot and journal here and compares every decision and contrast, bit for bit.
    Replay {
        /// The device's own.
        #[command(flatten)]
        settings: Box<SettingsArguments>,
    },
    /// Makes a device with which nothing has happened yet one more place of a user of a store, so that it can be synchronized.
    ///
    /// The device gets the user's number and incarnation, and with --site a number of its own among the user's places; otherwise it
    /// keeps that of its firmware. The user's own rules come along.
    Join {
        /// The store, a file or the URL of a database; it has to be there.
        #[arg(long, value_name = "FILE|URL")]
        store: PathBuf,
        /// Name of the user.
        #[arg(long, value_name = "NAME")]
        user: String,
        /// The device's own, --site among them. What is not said here is as the store has it.
        #[command(flatten)]
        settings: Box<SettingsArguments>,
    },
    /// Merges what has happened on the device since the last time into a user of a store: a file that nobody serves at the moment, or a
    /// database, which may be served.
    ///
    /// The device's snapshot and journal are read and checked; the device itself does not change. What the device has made part of its
    /// snapshot before it was merged is missing, and refused: synchronize before its journal is full (`stats` says how much is free).
    /// The device has to be a place of this user, see `join`. The user's own rules in the store become the device's.
    Sync {
        /// The store, a file or the URL of a database; it has to be there.
        #[arg(long, value_name = "FILE|URL")]
        store: PathBuf,
        /// Name of the user.
        #[arg(long, value_name = "NAME")]
        user: String,
        /// What is not said here is as the store has it.
        #[command(flatten)]
        settings: Box<SettingsArguments>,
    },
    /// Shows and changes the rules and switches that the device obeys for its user, see `fable rules`.
    ///
    /// They are kept in its flash and forgotten with the user. `join` and `sync` bring those of the store along. Words stay here. After a
    /// rule is lifted, and if rules have conditions, decide with --all, --forbid or --require: the last feasible set was narrowed.
    Rules {
        #[command(flatten)]
        changes: Box<ChangeArguments>,
    },
    /// Forgets the user; nothing of what was learned remains on the device. The next one begins from the prior it keeps.
    Forget {
        /// Yes, really.
        #[arg(long, required = true)]
        yes: bool,
    },
}

#[derive(Subcommand)]
pub(super) enum SnapshotCommand {
    /// Writes the kept snapshot to a file.
    Save {
        /// The file to write; nobody else can read it.
        file: PathBuf,
    },
    /// Replaces the device's state by a snapshot; the device verifies it before.
    Load {
        /// The file to read, of at most 512 MiB.
        file: PathBuf,
    },
}

/// A device with a place for a prior keeps it through forgetting. The present user goes on with the prior that it began from;
/// one with whom nothing has happened yet begins from the new one at once.
#[derive(Subcommand)]
pub(super) enum PriorCommand {
    /// Makes a prior the one that the next user begins from; the device verifies it before.
    Load {
        /// What `fable prior fit` has written, of at most 512 MiB.
        file: PathBuf,
        /// The device's own, which are also those that the prior was fitted under.
        #[command(flatten)]
        settings: Box<SettingsArguments>,
    },
    /// Says which prior the present user began from, and which the next one begins from.
    Show,
    /// The next user begins from the base prior again.
    Remove,
}

/// Where, among what, and with which scores an action is wanted.
#[derive(Args)]
pub(super) struct AmongArguments {
    #[command(flatten)]
    pub(super) context: ContextArguments,
    /// Actions that must not be chosen: COMPONENT=VALUE, several joined with ',' for a combination. Repeatable.
    #[arg(long, value_name = "PATTERN")]
    pub(super) forbid: Vec<String>,
    /// What must hold for the action chosen. Repeatable. Without --forbid and --require the last feasible set holds.
    #[arg(long, value_name = "PATTERN")]
    pub(super) require: Vec<String>,
    /// Everything is allowed again.
    #[arg(long, conflicts_with_all = ["forbid", "require"])]
    pub(super) all: bool,
    /// Default scores of one's own, a number for every action in catalog order, where the catalog has at most 32.
    #[arg(long, value_name = "NUMBER,...", value_delimiter = ',', allow_negative_numbers = true)]
    pub(super) defaults: Vec<f32>,
}

#[derive(Args)]
pub(super) struct ContextArguments {
    /// The task, if any.
    #[arg(long)]
    pub(super) task: Option<String>,
    /// Each signal of the catalog, from 0 to 1.
    #[arg(long = "signal", value_name = "NAME=NUMBER")]
    pub(super) signals: Vec<String>,
}
