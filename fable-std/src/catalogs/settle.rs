//! Settings for a catalog: the flags of a command over the tables of the files.

use super::{Document, is_file};
use crate::settings::{SettingsArguments, Wrong};
use crate::toml_file::{self, Blame, FileError, Flaw, Mistake, Source};
use fable_core::{Catalog, Settings};
use std::fmt;
use std::ops::Range;

impl SettingsArguments {
    /// The settings for a catalog that [`open`](super::open) opened under this name.
    ///
    /// # Errors
    /// An unreadable file, or a wrong setting with its flag or its place.
    pub fn resolve(
        &self,
        name_or_path: &str,
        catalog: &Catalog<'_>,
    ) -> Result<Settings<'static>, SettingsFileError> {
        self.resolve_over(Settings::DEFAULT, name_or_path, catalog)
    }

    /// The same with other settings in place of the defaults.
    ///
    /// # Errors
    /// As for [`resolve`](Self::resolve).
    pub fn resolve_over(
        &self,
        mut settings: Settings<'static>,
        name_or_path: &str,
        catalog: &Catalog<'_>,
    ) -> Result<Settings<'static>, SettingsFileError> {
        if is_file(name_or_path) {
            from_file(name_or_path, catalog, &mut settings)?;
        }
        if let Some(file) = &self.settings
            && !from_file(file, catalog, &mut settings)?
        {
            return Err(SettingsFileError::NoTable(file.clone()));
        }
        self.over(settings, catalog)
    }

    /// The same for a catalog whose text is at hand; `file` is what mistakes call it.
    ///
    /// # Errors
    /// A mistake in the table of the text, or a wrong setting with its flag.
    pub fn resolve_text(
        &self,
        mut settings: Settings<'static>,
        file: &str,
        text: &str,
        catalog: &Catalog<'_>,
    ) -> Result<Settings<'static>, SettingsFileError> {
        from_text(Source { file, text }, catalog, &mut settings).map_err(FileError::Mistake)?;
        self.over(settings, catalog)
    }

    fn over(
        &self,
        mut settings: Settings<'static>,
        catalog: &Catalog<'_>,
    ) -> Result<Settings<'static>, SettingsFileError> {
        let flag = |(key, flaw): Wrong| SettingsFileError::Flag { flag: key.replace('_', "-"), flaw };
        self.lay_on(&mut settings, catalog).map_err(flag)?;
        Ok(settings)
    }
}

/// Lays the table of a file on top; whether there is one.
fn from_file(file: &str, catalog: &Catalog<'_>, settings: &mut Settings<'static>) -> Result<bool, FileError> {
    Ok(from_text(Source { file, text: &toml_file::text(file)? }, catalog, settings)?)
}

/// The same of a text.
fn from_text(
    source: Source<'_>,
    catalog: &Catalog<'_>,
    settings: &mut Settings<'static>,
) -> Result<bool, Mistake> {
    let Some(table) = Document::parse(source)?.settings else { return Ok(false) };
    let placed =
        |(key, flaw): Wrong| source.mistake(Blame::new(place(source.text, key).unwrap_or(0..0), flaw));
    table.lay_on(settings, catalog).map_err(placed)?;
    Ok(true)
}

/// The bytes of a setting in the text of a file.
fn place(text: &str, key: &str) -> Option<Range<usize>> {
    let file = toml::de::DeTable::parse(text).ok()?;
    Some(file.get_ref().get("settings")?.get_ref().as_table()?.get(key)?.span())
}

/// Why settings could not be had.
#[derive(Debug)]
#[non_exhaustive]
pub enum SettingsFileError {
    /// A flag with a wrong value.
    Flag {
        /// Its name without the dashes in front.
        flag: String,
        /// What is wrong.
        flaw: Flaw,
    },
    /// The file of `--settings` has no table `[settings]`.
    NoTable(String),
    /// A file cannot be read or has a mistake in it.
    File(FileError),
}

impl fmt::Display for SettingsFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag { flag, flaw } => write!(f, "--{flag}: {flaw}"),
            Self::NoTable(file) => write!(f, "{file}: there is no table [settings] in this file"),
            Self::File(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for SettingsFileError {}

crate::from!(SettingsFileError: FileError => File);
