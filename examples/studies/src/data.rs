//! The data sets: where they are, where they come from, under which licence. None of them is part of the repository.

use crate::setup::{Setup, StudyError};
use std::fs;

/// A file of a data set.
#[derive(Clone, Copy, Debug)]
pub struct DataFile {
    /// Its path below the folder of the data.
    pub path: &'static str,
    /// Where to get it and under which licence.
    pub source: &'static str,
}

/// The problems of MATH-500.
pub const MATH500: DataFile = DataFile {
    path: "math500/test.jsonl",
    source: "github.com/openai/prm800k, prm800k/math_splits/test.jsonl (MIT), as math500/test.jsonl in the folder given with --data",
};

/// What gpt-35-turbo answered to ten exams under eight prompts.
pub const CONCISE_COT: DataFile = DataFile {
    path: "concise-cot/attempts.csv",
    source: "github.com/matthewrenze/jhu-concise-cot, details/*.csv (BSD-2-Clause), joined to one row per exam, problem and \
             prompt as concise-cot/attempts.csv in the folder given with --data",
};

/// The paper, for the prompts in its tables.
pub const PAPER: DataFile = DataFile {
    path: "../paper/fable.tex",
    source: "the paper's LaTeX source, as paper/fable.tex beside the folder given with --data",
};

impl DataFile {
    /// The text of the file.
    ///
    /// # Errors
    /// [`StudyError::MissingData`] when it is not there.
    pub fn read(&self, setup: &Setup) -> Result<String, StudyError> {
        let path = setup.data.join(self.path);
        match fs::read_to_string(&path) {
            Ok(text) => Ok(text),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                Err(StudyError::MissingData { path, source: self.source })
            }
            Err(error) => Err(StudyError::BadData { path, reason: error.to_string() }),
        }
    }

    /// The error that says what is wrong with the file.
    #[must_use]
    pub fn bad(&self, setup: &Setup, reason: impl Into<String>) -> StudyError {
        StudyError::BadData { path: setup.data.join(self.path), reason: reason.into() }
    }
}
