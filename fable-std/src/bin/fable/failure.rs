//! What a command ends with when it fails, and the exit code of that.

use fable_core::record::RecordError;
use fable_std::catalogs::{CatalogFileError, SettingsFileError};
use fable_std::device::DeviceError;
use fable_std::store::StoreError;
use fable_std::toml_file::FileError;
use std::fmt::Display;
use std::path::Path;

/// Why a command failed.
pub(crate) enum Failure {
    /// No device, no answer, no file: exit code 1.
    Trouble(String),
    /// A mistake of the person: exit code 2.
    Mistake(String),
    /// The device or the store refuses: exit code 3.
    Refused(String),
    /// The command did its work and found a difference; the text is its output, and the exit code is 1.
    Different(String),
}

impl Failure {
    /// A mistake that is told by an error.
    pub(crate) fn mistake(error: impl Display) -> Self {
        Self::Mistake(error.to_string())
    }

    /// A journal in a file that cannot be used: a mistake if it belongs to something else, trouble if it is damaged.
    pub(crate) fn from_reading(path: &Path, error: &StoreError) -> Self {
        let message = format!("{}: {error}", fable_std::store::shown(path));
        match error {
            StoreError::Mismatch { .. } | StoreError::Record(RecordError::Catalog | RecordError::Policy) => {
                Self::Mistake(message)
            }
            _ => Self::Trouble(message),
        }
    }

    /// A file that cannot be read or written.
    pub(crate) fn file(path: &Path, error: &std::io::Error) -> Self {
        Self::Trouble(format!("{}: {error}", path.display()))
    }
}

impl From<DeviceError> for Failure {
    fn from(error: DeviceError) -> Self {
        let text = error.to_string();
        if matches!(error, DeviceError::Refused(_)) { Self::Refused(text) } else { Self::Trouble(text) }
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        let message = error.to_string();
        match error {
            StoreError::Mismatch { .. }
            | StoreError::Migrate(_)
            | StoreError::Record(RecordError::Catalog) => Self::Mistake(message),
            StoreError::NoUser | StoreError::HasUser | StoreError::Collision => Self::Refused(message),
            _ => Self::Trouble(message),
        }
    }
}

impl From<CatalogFileError> for Failure {
    fn from(error: CatalogFileError) -> Self {
        let outside = matches!(error, CatalogFileError::File(FileError::Unreadable { .. }));
        if outside { Self::Trouble(error.to_string()) } else { Self::Mistake(error.to_string()) }
    }
}

impl From<SettingsFileError> for Failure {
    fn from(error: SettingsFileError) -> Self {
        let outside = matches!(error, SettingsFileError::File(FileError::Unreadable { .. }));
        if outside { Self::Trouble(error.to_string()) } else { Self::Mistake(error.to_string()) }
    }
}
