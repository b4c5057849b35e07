//! TOML files that people write, and how a mistake in one is told: where it is, the line, and what to write instead.
//!
//! ```
//! use fable_std::catalogs::{Arena, read};
//!
//! let mistake = read(&Arena::new(), "lamp.toml", "name = \"lamp\"\ntask = [\"reading\"]\n").unwrap_err();
//! assert_eq!((mistake.line, mistake.column), (2, 1));
//! assert_eq!(mistake.to_string(), "\
//! lamp.toml:2:1: there is no key 'task'; did you mean 'tasks'? Known: name, tasks, signals, components, dictionary, terms, contrasts, tools, rules, settings
//!     2 | task = [\"reading\"]
//!       | ^^^^");
//! ```

use fable_core::catalog::CatalogError;
use fable_core::settings::SettingsError;
use serde::de::DeserializeOwned;
use std::fmt;
use std::io::{self, Read};
use std::ops::Range;

/// Largest file that is read; a catalog with everything in it is a few tens of kilobytes.
pub const MAX_BYTES: u64 = 1 << 20;

/// What is wrong at a place.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Flaw {
    /// No TOML, or a value of another type than belongs there.
    Syntax(String),
    /// A table without a key that it needs.
    Missing(String),
    /// A name that nothing has.
    Unknown {
        /// Who lacks it: "there is no component", "'style' has no value".
        lack: String,
        /// The name.
        name: String,
        /// The names there are.
        known: Vec<String>,
    },
    /// A table that says something that makes no sense together.
    Form(String),
    /// What [`Catalog::try_new`](fable_core::Catalog::try_new) refuses.
    Catalog {
        /// Its reason.
        error: CatalogError,
        /// What to do about it; may be empty.
        advice: String,
    },
    /// What [`Policy::new`](fable_core::Policy::new) refuses.
    Settings(SettingsError),
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax(text) | Self::Form(text) => f.write_str(text),
            Self::Missing(key) => write!(f, "this table needs the key '{key}': {key} = {}", example(key)),
            Self::Unknown { lack, name, known } if known.is_empty() => {
                write!(f, "{lack} '{name}': none is declared")
            }
            Self::Unknown { lack, name, known } => {
                write!(f, "{lack} '{name}'")?;
                match similar(name, known) {
                    Some(meant) => write!(f, "; did you mean '{meant}'? Known: {}", known.join(", ")),
                    None => write!(f, "; known: {}", known.join(", ")),
                }
            }
            Self::Catalog { error, advice } if advice.is_empty() => error.fmt(f),
            Self::Catalog { error, advice } => write!(f, "{error}; {advice}"),
            Self::Settings(error) => error.fmt(f),
        }
    }
}

impl Flaw {
    pub(crate) fn unknown<'k>(
        lack: impl Into<String>,
        name: &str,
        known: impl IntoIterator<Item = &'k str>,
    ) -> Self {
        Self::Unknown {
            lack: lack.into(),
            name: name.to_owned(),
            known: known.into_iter().map(str::to_owned).collect(),
        }
    }

    /// What the parser said.
    fn no_toml(message: &str) -> Self {
        Self::Syntax(match message {
            "duplicate key" => {
                "this key is set already; each table of a list has a head of its own, like [[terms]]".into()
            }
            other => format!("this is no TOML: {other}"),
        })
    }

    /// What serde said, in the words of this crate.
    fn no_value(message: &str) -> Self {
        let quoted = || message.split('`').skip(1).step_by(2).map(str::to_owned);
        if message.starts_with("unknown field") {
            let known = quoted().skip(1).collect();
            return Self::Unknown {
                lack: "there is no key".into(),
                name: quoted().next().unwrap_or_default(),
                known,
            };
        }
        if message.starts_with("missing field") {
            return Self::Missing(quoted().next().unwrap_or_default());
        }
        let wrong =
            message.strip_prefix("invalid type: ").or_else(|| message.strip_prefix("invalid value: "));
        let Some((found, expected)) = wrong.and_then(|wrong| wrong.rsplit_once(", expected ")) else {
            return Self::Syntax(message.into());
        };
        let expected = match expected {
            "a string" => "text in quotes",
            "a sequence" => "a list in [ ]",
            "a boolean" => "true or false",
            "f64" => "a number",
            "u32" => "a whole number from 0 to 4294967295",
            "u64" => "a whole number from 0",
            other => other,
        };
        Self::Syntax(format!("expected {expected}, found {}", if found == "map" { "a table" } else { found }))
    }
}

/// What a key that must be there could be.
fn example(key: &str) -> &'static str {
    match key {
        "values" => "[{ name = \"warm\" }, { name = \"cold\" }]",
        "blocks" => "[{ of = \"light\" }]",
        "weight" => "0.1",
        "kind" => "\"boolean\"",
        "range" => "[0, 30]",
        "any_of" | "prefer" | "over" => "{ light = \"warm\" }",
        _ => "\"...\"",
    }
}

/// The known name that is closest to a misspelt one, if any is close.
pub(crate) fn similar<'k>(name: &str, known: &'k [String]) -> Option<&'k String> {
    let likeness = |candidate: &String| strsim::jaro_winkler(name, candidate);
    let short = |text: &str| text.len() <= 64; // comparing takes the product of the lengths, and nobody misspells so long a name
    let best = known
        .iter()
        .filter(|candidate| short(name) && short(candidate))
        .max_by(|a, b| likeness(a).total_cmp(&likeness(b)))?;
    (likeness(best) > 0.8).then_some(best)
}

/// A flaw and the bytes of the text that it is about.
#[derive(Debug)]
pub(crate) struct Blame {
    pub(crate) at: Range<usize>,
    pub(crate) flaw: Flaw,
}

impl Blame {
    pub(crate) fn new(at: Range<usize>, flaw: Flaw) -> Self {
        Self { at, flaw }
    }

    pub(crate) fn form(at: Range<usize>, text: impl Into<String>) -> Self {
        Self::new(at, Flaw::Form(text.into()))
    }
}

/// A mistake in a file.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Mistake {
    /// The file, as it was named.
    pub file: String,
    /// Its line, from 1.
    pub line: usize,
    /// Character in the line, from 1.
    pub column: usize,
    /// Characters that are wrong.
    pub width: usize,
    /// The text of the line.
    pub excerpt: String,
    /// What is wrong.
    pub flaw: Box<Flaw>,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, line, column, width, excerpt, flaw } = self;
        // Tabs before the place are kept, so that the marks stand below it.
        let indent: String =
            excerpt.chars().take(column.saturating_sub(1)).map(|c| if c == '\t' { c } else { ' ' }).collect();
        write!(
            f,
            "{file}:{line}:{column}: {flaw}\n{line:>5} | {excerpt}\n      | {indent}{}",
            "^".repeat(*width)
        )
    }
}

impl std::error::Error for Mistake {}

/// A text and the name of the file it came from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source<'t> {
    pub(crate) file: &'t str,
    pub(crate) text: &'t str,
}

impl Source<'_> {
    /// Reads the text as TOML.
    pub(crate) fn parse<T: DeserializeOwned>(&self) -> Result<T, Mistake> {
        let blame = |error: &toml::de::Error, flaw: fn(&str) -> Flaw| {
            self.mistake(Blame::new(error.span().unwrap_or(0..0), flaw(error.message())))
        };
        let parsed = toml::Deserializer::parse(self.text).map_err(|error| blame(&error, Flaw::no_toml))?;
        T::deserialize(parsed).map_err(|error| blame(&error, Flaw::no_value))
    }

    /// The flaw with its place.
    pub(crate) fn mistake(&self, blame: Blame) -> Mistake {
        let start = self.text.floor_char_boundary(blame.at.start);
        let (before, after) = self.text.split_at(start);
        let head = before.rsplit('\n').next().unwrap_or_default();
        let tail = after.lines().next().unwrap_or_default();
        let marked = tail.char_indices().take_while(|(index, _)| start + index < blame.at.end).count();
        Mistake {
            file: self.file.into(),
            line: 1 + before.matches('\n').count(),
            column: 1 + head.chars().count(),
            width: marked.max(1),
            excerpt: format!("{head}{tail}"),
            flaw: Box::new(blame.flaw),
        }
    }
}

/// A file that could not be read as text, or says something wrong.
#[derive(Debug)]
#[non_exhaustive]
pub enum FileError {
    /// The system's reason why not.
    Unreadable {
        /// The file.
        file: String,
        /// The reason.
        error: io::Error,
    },
    /// What it says is wrong.
    Mistake(Mistake),
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable { file, error } => write!(f, "{file}: {error}"),
            Self::Mistake(mistake) => mistake.fmt(f),
        }
    }
}

impl std::error::Error for FileError {}

crate::from!(FileError: Mistake => Mistake);

/// The text of a file of at most [`MAX_BYTES`].
///
/// # Errors
/// A file that cannot be read, is too large, or is not text.
pub fn text(file: &str) -> Result<String, FileError> {
    let unreadable = |error| FileError::Unreadable { file: file.into(), error };
    let mut bytes = Vec::new();
    let opened = std::fs::File::open(file).map_err(unreadable)?;
    opened.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(unreadable(io::Error::new(
            io::ErrorKind::FileTooLarge,
            "larger than 1 MiB, which no catalog is",
        )));
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let text = String::from_utf8_lossy(error.as_bytes());
        let flaw = Flaw::Syntax("a TOML file is UTF-8 text, and this byte is none".into());
        FileError::Mistake(Source { file, text: &text }.mistake(Blame::new(at..at, flaw)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(text: &str, at: Range<usize>) -> (usize, usize, usize, String) {
        let mistake = Source { file: "f", text }.mistake(Blame::form(at, "x"));
        (mistake.line, mistake.column, mistake.width, mistake.excerpt)
    }

    #[test]
    fn places_count_lines_and_characters() {
        assert_eq!(place("", 0..0), (1, 1, 1, String::new()));
        assert_eq!(place("ab\ncd", 3..5), (2, 1, 2, "cd".into()));
        assert_eq!(place("ab\r\ncd\r\n", 5..6), (2, 2, 1, "cd".into()));
        assert_eq!(place("a = \"\u{e4}\u{f6}\" x", 10..11), (1, 9, 1, "a = \"\u{e4}\u{f6}\" x".into()));
        assert_eq!(place("ab\ncd\nef", 4..8), (2, 2, 1, "cd".into()), "only the first line is marked");
        assert_eq!(place("ab\n", 3..3), (2, 1, 1, String::new()), "behind the end");
        assert_eq!(place("ab", 90..99), (1, 3, 1, "ab".into()));
        assert_eq!(place("\u{e4}", 1..2), (1, 1, 1, "\u{e4}".into()), "inside a character");
    }

    #[test]
    fn marks_stand_below_the_place_behind_tabs() {
        let mistake = Source { file: "f", text: "\ta = 1" }.mistake(Blame::form(5..6, "no"));
        assert_eq!(mistake.to_string(), "f:1:6: no\n    1 | \ta = 1\n      | \t    ^");
    }

    #[test]
    fn similar_names_are_found_and_others_are_not() {
        let known = ["style", "memory", "tool"].map(str::to_owned);
        assert_eq!(similar("stile", &known).map(String::as_str), Some("style"));
        assert_eq!(similar("memroy", &known).map(String::as_str), Some("memory"));
        assert_eq!(similar("volume", &known), None);
        assert_eq!(similar("style", &[]), None);
    }
}
