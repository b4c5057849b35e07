//! The `fable` command.

mod device_command;
mod serve_command;
mod store_command;

use clap::{Parser, Subcommand};
use device_command::{DeviceArguments, Failure};
use fable_std::catalogs;
use serve_command::ServeArguments;
use std::io::Write;
use std::process::ExitCode;
use store_command::{ExportArguments, ForgetArguments, ImportArguments};
use tracing_subscriber::filter::LevelFilter;

/// Personalization that fits on a microcontroller.
#[derive(Parser)]
#[command(name = "fable", version, arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// What can be chosen, and how it is described to the learner.
    #[command(subcommand)]
    Catalog(CatalogCommand),
    Device(DeviceArguments),
    Serve(ServeArguments),
    Forget(ForgetArguments),
    Export(ExportArguments),
    Import(ImportArguments),
}

#[derive(Subcommand)]
enum CatalogCommand {
    /// Lists components with their values, tasks, signals, coordinates and sizes.
    Show {
        /// One of the catalogs that ship: agent, tau2 or rubric.
        name: String,
        /// Prints JSON instead of text.
        #[arg(long)]
        json: bool,
    },
}

fn show(name: &str, json: bool) -> Result<String, Failure> {
    let Some(catalog) = catalogs::find(name) else {
        let names = catalogs::NAMES.join(", ");
        return Err(Failure::Mistake(format!("there is no catalog '{name}'; the catalogs that ship are {names}")));
    };
    Ok(if json { format!("{:#}\n", catalogs::describe(catalog)) } else { catalogs::show(catalog) })
}

/// Logs go to standard error, never with what a request says. FABLE_LOG is the level: off, error, warn, info, debug, trace.
fn log() {
    let level = std::env::var("FABLE_LOG").ok().and_then(|level| level.parse::<LevelFilter>().ok()).unwrap_or(LevelFilter::WARN);
    tracing_subscriber::fmt().with_writer(std::io::stderr).with_ansi(false).with_max_level(level).init();
}

fn main() -> ExitCode {
    log();
    let done = match Arguments::parse().command {
        Command::Catalog(CatalogCommand::Show { name, json }) => show(&name, json),
        Command::Device(arguments) => device_command::run(&arguments),
        Command::Serve(arguments) => serve_command::run(&arguments),
        Command::Forget(arguments) => store_command::forget(&arguments),
        Command::Export(arguments) => store_command::export(&arguments),
        Command::Import(arguments) => store_command::import(&arguments),
    };
    let (code, message) = match done {
        // A reader that went away (`fable catalog show agent | head`) is no error.
        Ok(text) => match std::io::stdout().write_all(text.as_bytes()) {
            Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => (1, error.to_string()),
            _ => return ExitCode::SUCCESS,
        },
        Err(Failure::Trouble(message)) => (1, message),
        Err(Failure::Mistake(message)) => (2, message),
        Err(Failure::Refused(message)) => (3, message),
    };
    eprintln!("fable: {message}");
    ExitCode::from(code)
}
