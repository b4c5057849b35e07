//! Where the files of a store are.

use super::StoreError;
use super::medium::{Locked, Medium, Memory};
use super::paths::{self, Draft};
use std::io;
use std::path::{Path, PathBuf};

/// See the [module](self).
#[derive(Clone, Debug)]
pub(super) enum Home {
    /// In memory, where there is no index beside the store.
    Memory,
    /// At a path.
    Path(PathBuf),
    /// On a disk that fails when it is told to.
    #[cfg(test)]
    Simulated(super::tests::Disk),
}

impl Home {
    /// The path of the store's own file.
    pub(super) fn path(&self) -> Option<&Path> {
        if let Self::Path(path) = self { Some(path) } else { None }
    }

    /// Whether there is an index beside the store.
    pub(super) const fn has_index(&self) -> bool {
        !matches!(self, Self::Memory)
    }

    /// The file of the index.
    pub(super) fn index(&self) -> Option<io::Result<Box<dyn Medium>>> {
        match self {
            Self::Memory => None,
            Self::Path(path) => {
                Some(paths::open_index(path, true).map(|file| Box::new(file) as Box<dyn Medium>))
            }
            #[cfg(test)]
            Self::Simulated(disk) => Some(Ok(Box::new(disk.index.clone()))),
        }
    }

    /// A file that may take the place of the store's own.
    pub(super) fn draft(&self) -> Result<(Option<Draft>, Box<dyn Medium>), StoreError> {
        Ok(match self {
            Self::Memory => (None, Box::new(Memory::default())),
            Self::Path(path) => {
                let (draft, file) = Draft::begin(path)?;
                (Some(draft), Box::new(Locked(file)))
            }
            #[cfg(test)]
            Self::Simulated(disk) => (None, Box::new(disk.draft())),
        })
    }

    /// Puts it there, see [`Draft::place`].
    pub(super) fn place(&self, draft: Option<Draft>) -> Result<io::Result<()>, StoreError> {
        match self {
            #[cfg(test)]
            Self::Simulated(disk) => Ok(Ok(disk.place()?)),
            Self::Memory | Self::Path(_) => draft.map_or(Ok(Ok(())), Draft::place),
        }
    }
}
