//! The `fable` command.

mod amount;
mod bar;
mod catalog;
mod chat;
mod demo;
mod device;
mod evaluate;
mod failure;
mod fault;
mod http_arguments;
mod identify;
mod input;
mod inspect;
mod mcp;
mod memory_arguments;
mod merge;
mod migrate;
mod output;
mod policy_arguments;
mod prior;
mod prior_argument;
mod proxy;
mod replay;
mod rule_arguments;
mod rules;
mod serve;
mod service_arguments;
mod spca;
mod stderr;
mod store;
mod store_key;
mod upkeep;

use catalog::CatalogArguments;
use chat::ChatArguments;
use clap::{CommandFactory, Parser, Subcommand};
use clap_complete::Shell;
use demo::DemoArguments;
use device::DeviceArguments;
use evaluate::EvaluateArguments;
use failure::Failure;
use identify::IdentifyArguments;
use inspect::InspectArguments;
use mcp::McpArguments;
use merge::MergeArguments;
use migrate::MigrateArguments;
use prior::PriorArguments;
use proxy::ProxyArguments;
use replay::ReplayArguments;
use rules::RulesArguments;
use serve::ServeArguments;
use spca::SpcaArguments;
use std::io::Write;
use std::process::ExitCode;
use store::{ExportArguments, ForgetArguments, ImportArguments, MoveArguments};
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use upkeep::{BackupArguments, CheckArguments, RepairArguments};

/// Personalization that fits on a microcontroller.
///
/// Fable is a policy layer around a frozen assistant. It learns, from one number per interaction, how this user wants the
/// assistant to act: which memory to use, whether to search, ask or confirm, how to answer.
#[derive(Parser)]
#[command(name = "fable", version, after_help = EXAMPLES)]
struct Arguments {
    /// What to do; `fable demo` if it is left out.
    #[command(subcommand)]
    command: Option<Command>,
}

const EXAMPLES: &str = "\
Examples:
  fable                                           # the demo: Fable learns what a simulated user likes
  fable chat                                      # you are the user: ask, react, and see what is learned
  fable catalog show agent                        # what can be chosen: 180 actions, 254 coordinates
  fable catalog show agent --toml > mine.toml     # a catalog of your own to start from
  fable device --port /dev/ttyACM0 hello          # which device is there
  fable inspect users.fable --user ana            # what Fable believes about a user
  fable identify --require memory=no_memory       # what can be known about somebody without memory
  fable evaluate --simulate try.jsonl             # what other settings would have earned
  fable prior fit crowd.prior --store users.fable # what users have in common, for those who come
  fable serve --store users.fable --prior crowd.prior
  fable serve --store users.fable --http 127.0.0.1:8080
  fable proxy --upstream https://api.openai.com --listen 127.0.0.1:8080 --store users.fable
  fable rules users.fable ana --forbid tool=web_search
  fable mcp --store users.fable --user ana        # tools for an assistant that speaks the Model Context Protocol
  fable check users.fable                         # is anything damaged? also while it is served
  fable backup users.fable copy.fable
  fable move --from users.fable --to postgres://ana@localhost/fable   # for more than one process
  fable serve --store postgres://ana@localhost/fable --http 127.0.0.1:8080
  fable migrate users.fable next.fable --from v1.toml --to v2.toml    # the catalog has changed, and users go on
  fable completions bash > ~/.local/share/bash-completion/completions/fable

Exit codes: 0 done, 1 a file or a device failed, 2 a mistake in the command or in a file, 3 the device refused,
70 a fault inside fable: a panic in any of its threads ends it at once with one line on standard error. Please report it.
`fable COMMAND --help` says more.";

#[derive(Subcommand)]
enum Command {
    Demo(DemoArguments),
    Chat(ChatArguments),
    Catalog(CatalogArguments),
    Device(DeviceArguments),
    Serve(ServeArguments),
    Proxy(ProxyArguments),
    Rules(RulesArguments),
    Mcp(McpArguments),
    Forget(ForgetArguments),
    Export(ExportArguments),
    Import(ImportArguments),
    Move(MoveArguments),
    Merge(MergeArguments),
    Migrate(MigrateArguments),
    Check(CheckArguments),
    Repair(RepairArguments),
    Backup(BackupArguments),
    Replay(ReplayArguments),
    Inspect(InspectArguments),
    Identify(IdentifyArguments),
    Spca(SpcaArguments),
    Evaluate(EvaluateArguments),
    Prior(PriorArguments),
    /// Prints a script that completes this command's arguments in a shell.
    ///
    /// bash: fable completions bash > ~/.local/share/bash-completion/completions/fable
    /// zsh:  fable completions zsh > a directory of $fpath, as _fable
    /// fish: fable completions fish > ~/.config/fish/completions/fable.fish
    #[command(verbatim_doc_comment)]
    Completions {
        /// The shell.
        shell: Shell,
    },
}

fn completions(shell: Shell) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "fable", &mut script);
    String::from_utf8_lossy(&script).into_owned()
}

/// Logs go to standard error, never with what a request says, and wait for nobody to read them. FABLE_LOG is the level: off, error, warn, info, debug, trace.
fn log() {
    let level = std::env::var("FABLE_LOG")
        .ok()
        .and_then(|level| level.parse::<LevelFilter>().ok())
        .unwrap_or(LevelFilter::WARN);
    // What the crate of the Model Context Protocol logs has requests in it.
    let targets = Targets::new().with_default(level).with_target("rmcp", LevelFilter::OFF);
    tracing_subscriber::fmt()
        .with_writer(|| stderr::Log)
        .with_ansi(false)
        .with_max_level(level)
        .finish()
        .with(targets)
        .init();
}

fn main() -> ExitCode {
    fault::install();
    log();
    let command = Arguments::parse().command.unwrap_or_else(|| Command::Demo(DemoArguments::default()));
    let done = match command {
        Command::Demo(arguments) => demo::run(&arguments),
        Command::Chat(arguments) => chat::run(&arguments),
        Command::Catalog(arguments) => catalog::run(&arguments),
        Command::Device(arguments) => device::run(&arguments),
        Command::Evaluate(arguments) => evaluate::run(&arguments),
        Command::Prior(arguments) => prior::run(&arguments),
        Command::Serve(arguments) => serve::run(&arguments),
        Command::Proxy(arguments) => proxy::run(&arguments),
        Command::Rules(arguments) => rules::run(&arguments),
        Command::Mcp(arguments) => mcp::run(&arguments),
        Command::Forget(arguments) => store::forget(&arguments),
        Command::Export(arguments) => store::export(&arguments),
        Command::Import(arguments) => store::import(&arguments),
        Command::Move(arguments) => store::move_everyone(&arguments),
        Command::Merge(arguments) => merge::run(&arguments),
        Command::Migrate(arguments) => migrate::run(&arguments),
        Command::Check(arguments) => upkeep::check(&arguments),
        Command::Repair(arguments) => upkeep::repair(&arguments),
        Command::Backup(arguments) => upkeep::backup(&arguments),
        Command::Replay(arguments) => replay::run(&arguments),
        Command::Inspect(arguments) => inspect::run(&arguments),
        Command::Identify(arguments) => identify::run(&arguments),
        Command::Spca(arguments) => spca::run(&arguments),
        Command::Completions { shell } => Ok(completions(shell)),
    };
    let (mut code, text, mut message) = match done {
        Ok(text) => (0, text, None),
        Err(Failure::Different(text)) => (1, text, None),
        Err(Failure::Trouble(message)) => (1, String::new(), Some(message)),
        Err(Failure::Mistake(message)) => (2, String::new(), Some(message)),
        Err(Failure::Refused(message)) => (3, String::new(), Some(message)),
    };
    match std::io::stdout().write_all(text.as_bytes()) {
        // A reader that went away (`fable catalog show agent | head`) is not an error.
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            (code, message) = (1, Some(error.to_string()));
        }
        _ => {}
    }
    if let Some(message) = message {
        stderr::line(&format!("fable: {message}"));
    }
    stderr::flush();
    ExitCode::from(code)
}
