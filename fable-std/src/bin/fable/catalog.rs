//! `fable catalog`: what can be chosen, and how it is described to the learner.

use crate::failure::Failure;
use clap::{Args, Subcommand};
use fable_std::catalogs;
use fable_std::settings::{self, SettingsArguments};

/// Shows and checks catalogs: what can be chosen, and how it is described to the learner.
///
/// A catalog has components with values (an action is one value of each), the tasks and signals that describe a request,
/// the dictionary of what is learned, the default scores that are known before, and the contrasts to look out for. Three
/// ship: agent, tau2 and rubric. Your own is a TOML file, of which `fable catalog show agent --toml` prints an example with
/// everything in it.
#[derive(Args)]
#[command(arg_required_else_help = true, after_help = EXAMPLES)]
pub(crate) struct CatalogArguments {
    #[command(subcommand)]
    command: CatalogCommand,
}

const EXAMPLES: &str = "\
Examples:
  fable catalog show agent
  fable catalog show tau2 --toml > mine.toml    # then change what you like
  fable catalog check mine.toml

Exit codes: 0 done, 1 a file cannot be read, 2 a mistake in the command or in a file, told with its line.";

#[derive(Subcommand)]
enum CatalogCommand {
    /// Lists components with their values, tasks, signals, coordinates and sizes.
    #[command(after_help = SHOW_EXAMPLES)]
    Show {
        /// A catalog that ships (agent, tau2, rubric), or a file that ends in .toml or has a / in its path.
        #[arg(value_name = "NAME|FILE.toml")]
        catalog: String,
        /// Prints JSON, for programs.
        #[arg(long, conflicts_with = "toml")]
        json: bool,
        /// Prints the whole catalog as TOML, to start your own from.
        #[arg(long)]
        toml: bool,
    },
    /// Checks a catalog and its settings, and says what it holds.
    #[command(after_help = CHECK_EXAMPLES)]
    Check {
        /// A file that ends in .toml or has a / in its path, or a catalog that ships.
        #[arg(value_name = "FILE.toml")]
        catalog: String,
        #[command(flatten)]
        settings: Box<SettingsArguments>,
    },
}

const SHOW_EXAMPLES: &str = "\
The smallest catalog file:
  name = \"lamp\"
  [[components]]
  name = \"light\"
  values = [{ name = \"warm\", instruction = \"Use warm light.\" }, { name = \"cold\", cost = 0.1 }]
  [dictionary]
  blocks = [{ of = \"light\" }]

Examples:
  fable catalog show agent
  fable catalog show rubric --json
  fable catalog show tau2 --toml > mine.toml

Exit codes: 0 done, 1 the file cannot be read, 2 no such catalog or a mistake in the file.";

const CHECK_EXAMPLES: &str = "\
It prints the settings that would hold as a table [settings], as it could stand in a TOML file. A setting comes from its
flag, else from the file of --settings, else from the table [settings] of the catalog's own file, else it has its default.

Examples:
  fable catalog check mine.toml
  fable catalog check mine.toml --nu 0.5 --deadline rounds=20

Exit codes: 0 all is sound, 1 a file cannot be read, 2 a mistake in a flag or in a file.";

/// Runs the command and returns what it prints.
pub(crate) fn run(arguments: &CatalogArguments) -> Result<String, Failure> {
    match &arguments.command {
        CatalogCommand::Show { catalog, json, toml } => {
            let catalog = catalogs::open(catalog)?;
            Ok(match (json, toml) {
                (true, _) => format!("{:#}\n", catalogs::describe(catalog)),
                (_, true) => catalogs::write(catalog),
                _ => catalogs::show(catalog),
            })
        }
        CatalogCommand::Check { catalog: name, settings: flags } => {
            let catalog = catalogs::open(name)?;
            let settings = flags.resolve(name, catalog)?;
            Ok(format!("{}\n{}", catalogs::holds(catalog), settings::write(&settings, catalog)))
        }
    }
}
