//! What can be wrong with a log.

use crate::toml_file::Flaw;
use fable_core::UserError;
use fable_core::catalog::{ContextError, FeasibleError};
use std::fmt;

/// A mistake in a log and where it is.
#[derive(Clone, Debug, PartialEq)]
pub struct LogError {
    /// The file.
    pub file: String,
    /// Its line, from 1.
    pub line: usize,
    /// What is wrong there.
    pub flaw: LogFlaw,
}

impl fmt::Display for LogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.flaw)
    }
}

impl std::error::Error for LogError {}

/// What is wrong with a line.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum LogFlaw {
    /// It could not be read.
    Unreadable(String),
    /// It is longer than [`MAX_LINE`](super::MAX_LINE).
    TooLong,
    /// With it the log is larger than [`MAX_LOG`](super::MAX_LOG).
    TooLarge,
    /// It is not one JSON object.
    Json(String),
    /// A key, a task, a signal, a component or a value that nothing has.
    Unknown(Flaw),
    /// A key that must be there.
    Missing(&'static str),
    /// A value of another type than belongs there.
    Type {
        /// Whose value.
        key: String,
        /// What belongs there.
        expected: &'static str,
    },
    /// A list that has not one number per action.
    Count {
        /// Which list.
        key: &'static str,
        /// The catalog's actions.
        expected: usize,
        /// The numbers there are.
        found: usize,
    },
    /// A context that the catalog does not take.
    Context(ContextError),
    /// Patterns that leave nothing, or make no sense.
    Feasible(FeasibleError),
    /// The action lacks a component.
    Incomplete,
    /// The reward is not from -1 to 1.
    Reward,
    /// A propensity is not from 0 to 1.
    Propensity {
        /// Whose.
        action: String,
    },
    /// An action that is not allowed has a propensity.
    Forbidden {
        /// Which.
        action: String,
    },
    /// The propensities do not add up to 1, but to this.
    Sum(f64),
    /// What was done has propensity 0: it cannot have happened.
    Impossible,
    /// The learner refuses it.
    Learner(UserError),
}

impl fmt::Display for LogFlaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(error) => write!(f, "the line cannot be read: {error}"),
            Self::TooLong => write!(f, "a line has at most {} bytes", super::MAX_LINE),
            Self::TooLarge => write!(f, "a log has at most {} bytes", super::MAX_LOG),
            Self::Json(error) => write!(f, "the line is not one JSON object: {error}"),
            Self::Unknown(flaw) => flaw.fmt(f),
            Self::Missing(key) => write!(f, "'{key}' is missing"),
            Self::Type { key, expected } => write!(f, "'{key}' must be {expected}"),
            Self::Count { key, expected, found } => {
                write!(f, "'{key}' must be {expected} numbers, one per action, not {found}")
            }
            Self::Context(error) => error.fmt(f),
            Self::Feasible(error) => error.fmt(f),
            Self::Incomplete => f.write_str("'action' must have a value for each component"),
            Self::Reward => f.write_str("'reward' must be from -1 to 1"),
            Self::Propensity { action } => write!(f, "the propensity of {action} must be from 0 to 1"),
            Self::Forbidden { action } => {
                write!(f, "{action} has a propensity but is not allowed in this line")
            }
            Self::Sum(sum) => write!(f, "the propensities add up to {sum:.3}, not to 1"),
            Self::Impossible => f.write_str("the action has propensity 0, so it cannot have been chosen"),
            Self::Learner(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for LogFlaw {}

impl From<serde_json::Error> for LogFlaw {
    fn from(error: serde_json::Error) -> Self {
        // There is but one line: "at line 1 column 17" is "at column 17".
        Self::Json(error.to_string().replace(" at line 1 column ", " at column "))
    }
}

crate::from!(LogFlaw: Flaw => Unknown, ContextError => Context, FeasibleError => Feasible, UserError => Learner);
