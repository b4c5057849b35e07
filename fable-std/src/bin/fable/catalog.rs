//! `fable catalog`: what can be chosen, and how it is described to the learner.

use crate::failure::Failure;
use crate::output::{is_same_file, write_code};
use clap::{Args, Subcommand};
use fable_core::{Catalog, Settings};
use fable_std::catalogs;
use fable_std::catalogs::generate::{self, GenerateError, Heading};
use fable_std::settings::{self, SettingsArguments};
use std::path::{Path, PathBuf};

/// Shows and checks catalogs, and makes source code of them: what can be chosen, and how it is described to the learner.
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
  fable catalog rust mine.toml --output src/mine.rs    # for firmware; also: c

Exit codes: 0 done, 1 a file cannot be read or written, 2 a mistake in the command or in a file, told with its line.";

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
    /// Prints a catalog and its settings as a Rust file, for firmware.
    ///
    /// The file declares the catalog and its settings for the macro `fable_core::catalog!`. The macro makes an enum of every
    /// component, the policy, and a type for a user's memory. The file needs nothing but fable-core and no std. It has the
    /// fingerprints of the catalog and of the policy, which are compared when it is compiled: host and device cannot differ.
    #[command(after_help = RUST_EXAMPLES)]
    Rust(CodeArguments),
    /// Prints a catalog and its settings as a header for C99 and C++, for firmware.
    ///
    /// It is written over `fable.h` of fable-embedded and has a name for the position of every value, task, signal, contrast and rule, and the
    /// sizes of all memory. The catalog is constant data, for a library that takes any catalog, and the fingerprint that a host computes
    /// from the same TOML file is looked at when the policy is made. With --builtin the header only declares the policy of a library that was built
    /// for the catalog, under a name that has the fingerprint in it: a header and a library that do not belong together do not link.
    #[command(after_help = C_EXAMPLES)]
    C {
        #[command(flatten)]
        code: CodeArguments,
        /// For a library that was built with FABLE_CATALOG, what `fable catalog rust` has printed for the same file.
        #[arg(long)]
        builtin: bool,
        /// Prefix of all names in the header; default the catalog's own name.
        #[arg(long, value_name = "NAME")]
        name: Option<String>,
    },
}

#[derive(Args)]
struct CodeArguments {
    /// A file that ends in .toml or has a / in its path, or a catalog that ships.
    #[arg(value_name = "FILE.toml")]
    catalog: String,
    /// The file to write; `-`, the default, is standard output.
    #[arg(long, value_name = "FILE", default_value = "-")]
    output: PathBuf,
    #[command(flatten)]
    settings: Box<SettingsArguments>,
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

const RUST_EXAMPLES: &str = "\
Commit the file, and have CI compare it with what is generated; or generate it in build.rs and include it:
  include!(concat!(env!(\"OUT_DIR\"), \"/lamp.rs\"));

The table [tools] is for hosts and not in it.

Examples:
  fable catalog rust lamp.toml --output src/lamp.rs
  fable catalog rust lamp.toml | diff - src/lamp.rs
  fable catalog rust tau2 --site 1 --output src/tau2.rs

Exit codes: 0 done, 1 a file cannot be read or written, 2 a mistake in a flag or in a file.";

const C_EXAMPLES: &str = "\
Include the header in one C file. The table [tools] is for hosts and not in it.

Examples:
  fable catalog c lamp.toml --output lamp.h
  fable catalog c lamp.toml --builtin --output lamp.h && fable catalog rust lamp.toml --output lamp.rs
  fable catalog c tau2 --name service

Exit codes: 0 done, 1 a file cannot be read or written, 2 a mistake in a flag or in a file, or a text that C cannot have.";

type Generator = fn(&Catalog<'_>, &Settings<'_>, &Heading<'_>) -> Result<String, GenerateError>;

/// Source code of a catalog.
fn generate(
    arguments: &CodeArguments,
    prefix: Option<&str>,
    generator: Generator,
) -> Result<String, Failure> {
    let CodeArguments { catalog: name, output, .. } = arguments;
    for source in [Some(name), arguments.settings.settings.as_ref()].into_iter().flatten() {
        if is_same_file(Path::new(source), output) {
            return Err(Failure::Mistake(format!(
                "--output {}: this is the file that is read",
                output.display()
            )));
        }
    }
    let catalog = catalogs::open(name)?;
    let settings = arguments.settings.resolve(name, catalog)?;
    let heading = Heading { source: name, name: prefix };
    let text = generator(catalog, &settings, &heading).map_err(Failure::mistake)?;
    write_code(output, &text, format!("{}: the catalog {}\n", output.display(), catalog.definition().name))
}

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
        CatalogCommand::Rust(code) => generate(code, None, generate::rust),
        CatalogCommand::C { code, builtin, name } => {
            generate(code, name.as_deref(), if *builtin { generate::c_builtin } else { generate::c })
        }
    }
}
