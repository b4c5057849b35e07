//! Catalogs by name or from a TOML file.
//!
//! Three catalogs ship: `agent`, `tau2` and `rubric`. Others are written as TOML; [`open`] takes either, and from there on both
//! are the same to everything. `fable catalog show agent --toml` prints one to start from.
//!
//! ```
//! use fable_std::catalogs;
//! let tau2 = catalogs::open("tau2").unwrap();
//! assert_eq!(catalogs::describe(tau2)["dimension"], 29);
//! let error = catalogs::open("golf").unwrap_err();
//! assert_eq!(error.to_string(), "there is no catalog 'golf'; the catalogs that ship are agent, tau2, rubric, and a file ends in .toml");
//! ```
//!
//! # The format
//!
//! ```
//! let text = r#"
//! name = "lamp"
//! tasks = ["reading", "dinner"]                  # may be left out
//! signals = ["daylight"]                         # numbers from 0 to 1; may be left out
//!
//! [[components]]                                 # 1 to 8; an action is one value of each
//! name = "light"
//! null = "off"                                   # the value that means "nothing done"; may be left out
//! values = [
//!   { name = "off" },
//!   { name = "warm", cost = 0.02, instruction = "Use warm light." },
//!   { name = "cold", cost = 0.02, instruction = "Use cold light." },
//! ]
//!
//! [[components]]
//! name = "speech"
//! values = [{ name = "silent" }, { name = "spoken", cost = 0.05, instruction = "Say what you do." }]
//!
//! [dictionary]                                   # what is learned: a weight for ...
//! blocks = [
//!   { of = "light" },                            # ... each light,
//!   { of = "speech", per_task = true },          # ... each speech in each task,
//!   { of = "light", scaled_by = "daylight", without_null = true }, # ... each light but "off", times the signal,
//!   { of = ["light", "speech"] },                # ... each pair. "*" is every component: each complete action
//! ]
//!
//! [[terms]]                                      # what is known before: a term adds its weight ...
//! weight = -0.2
//! when.daylight.above = 0.5                      # ... above, at_least, at_most, below; or when.task; or always,
//! any_of.light = ["warm", "cold"]                # ... to an action with any of these values
//!
//! [[contrasts]]                                  # preferences to look out for
//! name = "warm_over_cold_at_dinner"
//! prefer.light = "warm"
//! over.light = "cold"
//! with.speech = "silent"                         # the components that both actions share
//! context = { task = "dinner", daylight = 0.1 }  # every signal; the task may be left out
//! positive = "The user likes warm light at dinner."  # for the prompt, once it is sure; may be left out
//! negative = "The user likes cold light at dinner."
//!
//! [[rules]]                                      # hard rules: settled before anything is explored
//! name = "calm_dinner"
//! when.task = "dinner"                           # as for terms; or always
//! forbid = { light = "cold", speech = "spoken" } # together; or 'require', or 'only'
//! "#;
//! let arena = fable_std::catalogs::Arena::new();
//! let lamp = fable_std::catalogs::read(&arena, "lamp.toml", text).unwrap();
//! assert_eq!((lamp.actions(), lamp.dimension()), (6, 3 + 2 * 2 + 2 + 3 * 2));
//! assert_eq!(lamp.coordinate_name(0).unwrap().to_string(), "task=reading*speech=silent");
//! ```
//!
//! A table `[tools]` says which tools of an application a value of the component `tool` stands for, for
//! [`fable proxy`](crate::proxy): `web_search = ["web_search", "browse"]`. A value that needs no tool has no row.
//!
//! The order of components, values, tasks, signals, blocks, terms and rules is part of a catalog's meaning and of its fingerprint;
//! texts are not. A table `[settings]` in the same file sets the learner ([`settings`](crate::settings)). [`generate`] makes source code of
//! it all, for devices.

mod document;
pub mod generate;
mod locate;
pub mod lookup;
mod read;
mod settle;
mod show;
mod tools;
mod write;

pub use bumpalo::Bump as Arena;
pub(crate) use document::Document;
pub use read::read;
pub use settle::SettingsFileError;
pub use show::{action, describe, holds, show};
pub use tools::{ToolTable, tools};
pub use write::write;

use crate::toml_file::{self, FileError};
use fable_core::Catalog;
use fable_core::catalog::{AGENT, RUBRIC, TAU2};
use std::fmt;
use std::path::Path;

/// Names of the catalogs that ship.
pub const NAMES: [&str; 3] = ["agent", "tau2", "rubric"];

/// A catalog that ships.
#[must_use]
pub fn find(name: &str) -> Option<&'static Catalog<'static>> {
    [&AGENT, &TAU2, &RUBRIC].into_iter().find(|catalog| catalog.definition().name == name)
}

/// Whether a text names a file: it ends in `.toml` or has a path separator in it.
#[must_use]
pub fn is_file(name_or_path: &str) -> bool {
    let extension = Path::new(name_or_path).extension();
    extension.is_some_and(|extension| extension == "toml") || name_or_path.contains(std::path::is_separator)
}

/// A catalog that ships, by its name, or one from a file.
///
/// What a file holds is never freed. A process opens one catalog and needs it to its end, and `'static` lets policies,
/// threads and stores refer to it as they do to a constant; [`read`] is for those who open many.
///
/// # Errors
/// No such catalog, an unreadable file, or a mistake in it with its place.
pub fn open(name_or_path: &str) -> Result<&'static Catalog<'static>, CatalogFileError> {
    if !is_file(name_or_path) {
        return find(name_or_path).ok_or_else(|| CatalogFileError::NoSuchCatalog(name_or_path.into()));
    }
    let text = toml_file::text(name_or_path)?;
    let arena: &'static Arena = Box::leak(Box::default());
    let catalog = read(arena, name_or_path, &text).map_err(FileError::Mistake)?;
    Ok(arena.alloc(catalog))
}

/// Why a catalog could not be opened.
#[derive(Debug)]
#[non_exhaustive]
pub enum CatalogFileError {
    /// Neither the name of a catalog that ships nor a file.
    NoSuchCatalog(String),
    /// The file cannot be read or has a mistake in it.
    File(FileError),
}

impl fmt::Display for CatalogFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSuchCatalog(name) => {
                let names = NAMES.join(", ");
                write!(
                    f,
                    "there is no catalog '{name}'; the catalogs that ship are {names}, and a file ends in .toml"
                )
            }
            Self::File(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for CatalogFileError {}

crate::from!(CatalogFileError: FileError => File);
