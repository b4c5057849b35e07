//! The `fable` command.

use clap::{Parser, Subcommand};
use fable_std::catalogs;
use std::io::Write;
use std::process::ExitCode;

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

fn main() -> ExitCode {
    let Command::Catalog(CatalogCommand::Show { name, json }) = Arguments::parse().command;
    let Some(catalog) = catalogs::find(&name) else {
        eprintln!("fable: there is no catalog '{name}'; the catalogs that ship are {}", catalogs::NAMES.join(", "));
        return ExitCode::from(2);
    };
    let text = if json { format!("{:#}\n", catalogs::describe(catalog)) } else { catalogs::show(catalog) };
    // A reader that went away (`fable catalog show agent | head`) is no error.
    match std::io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            eprintln!("fable: {error}");
            ExitCode::FAILURE
        }
        _ => ExitCode::SUCCESS,
    }
}
