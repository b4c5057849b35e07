//! What a study is run with, and what can go wrong.

use std::error::Error;
use std::fmt;
use std::num::NonZero;
use std::path::{Path, PathBuf};

/// What a study is run with. Nothing in it but `reduced` and the data changes a number.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The small version, for tests: few seeds, the same code.
    pub reduced: bool,
    /// The folder with the data sets.
    pub data: PathBuf,
    /// How many threads work.
    pub threads: NonZero<usize>,
    /// Whether progress is shown.
    pub progress: bool,
}

impl Setup {
    /// Where the data is looked for, seen from the root of the repository: beside its folder.
    pub const DATA: &str = "../shared/data";

    /// The small version, quietly: what the test runs.
    #[must_use]
    pub fn for_tests() -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        Self { reduced: true, data: root.join(Self::DATA), threads: Self::all_cores(), progress: false }
    }

    /// As many threads as there are cores.
    #[must_use]
    pub fn all_cores() -> NonZero<usize> {
        std::thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN)
    }

    /// `full`, or `small` in the reduced version.
    #[must_use]
    pub const fn scale(&self, full: usize, small: usize) -> usize {
        if self.reduced { small } else { full }
    }
}

/// Why there is no report.
#[derive(Debug)]
#[non_exhaustive]
pub enum StudyError {
    /// The data is not there.
    MissingData {
        /// The file that was looked for.
        path: PathBuf,
        /// Where to get it and under which licence.
        source: &'static str,
    },
    /// Data that cannot be read as what it should be.
    BadData {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// Anything else.
    Failed(Box<dyn Error + Send + Sync>),
}

impl fmt::Display for StudyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MissingData { path, source } => {
                write!(f, "{} is missing; get it from {source}", path.display())
            }
            Self::BadData { path, reason } => write!(f, "{}: {reason}", path.display()),
            Self::Failed(error) => error.fmt(f),
        }
    }
}

impl<E: Error + Send + Sync + 'static> From<E> for StudyError {
    fn from(error: E) -> Self {
        Self::Failed(Box::new(error))
    }
}
