//! A catalog with its settings as source code, for firmware: one TOML file for the host and the device.
//!
//! [`rust`] writes a declaration for the macro `fable_core::catalog!`, which needs nothing but fable-core. The declaration
//! has the fingerprints of the catalog and of the policy. A file that was changed by hand does not compile, and neither does
//! one that this fable-core would understand differently.
//!
//! [`c()`] writes a header for C99 and C++ over `fable.h`, with the catalog as constant structures; the fingerprint is looked at when the
//! policy is made of them. [`c_builtin`] writes one for a library that was built for the catalog; its fingerprint is part of a symbol's
//! name, so that another library does not link. Positions are `LAMP_LIGHT_WARM`, `LAMP_TASK_DINNER`.
//!
//! ```
//! use fable_core::{Settings, catalog::TAU2};
//! use fable_std::catalogs::generate::{Heading, rust};
//!
//! let text = rust(&TAU2, &Settings::DEFAULT, &Heading { source: "tau2", name: None })?;
//! assert!(text.contains("fable_core::catalog! {"));
//! assert!(text.contains("enum Tool: \"tool\" {") && text.contains("AskIfMissing = \"ask_if_missing\""));
//! # Ok::<(), fable_std::catalogs::generate::GenerateError>(())
//! ```

mod c;
mod c_positions;
mod c_text;
mod identifiers;
mod rust;

pub use c::{c, c_builtin};
pub use rust::rust;

use fable_core::settings::SettingsError;
use std::fmt;
use std::path::Path;

/// The source in the first lines of a generated file, and the catalog's name in C.
#[derive(Clone, Copy, Debug)]
pub struct Heading<'a> {
    /// Where the catalog comes from: a file, or the name of a catalog that ships. Only the file's name is written, not its folder.
    pub source: &'a str,
    /// Prefix of all names in C; `None` is the catalog's own name. Rust has a module instead.
    pub name: Option<&'a str>,
}

impl Heading<'_> {
    /// The source as it can stand in a comment of any language: quoted, in one line, without anything that ends a comment.
    fn told(&self) -> String {
        let name = Path::new(self.source)
            .file_name()
            .map_or_else(|| self.source.into(), |name| name.to_string_lossy());
        format!("{name:?}").replace("*/", "*\\/").replace("??", "?\\?")
    }
}

/// Why no code was generated.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GenerateError {
    /// Not a name that the catalog can have in the code.
    Name {
        /// The name.
        name: String,
        /// What a name may be.
        rule: &'static str,
    },
    /// A text with a zero byte in it, at which texts of C end.
    Zero(String),
    /// Settings that are not sound with this catalog.
    Settings(SettingsError),
}

impl fmt::Display for GenerateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name { name, rule } => write!(f, "'{name}' cannot be the name: {rule}"),
            Self::Zero(text) => {
                write!(f, "a text of C ends at a zero byte, and this one has one in it: {text:?}")
            }
            Self::Settings(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for GenerateError {}

crate::from!(GenerateError: SettingsError => Settings);
