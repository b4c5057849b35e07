//! Errors of requests to the posterior.

use super::PriorError;
use core::fmt;

/// A fault in a request to the posterior.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum PosteriorError {
    /// The posterior was not started.
    NotStarted,
    /// The storage has another length than the shape needs.
    StorageLength {
        /// Length that the shape needs.
        expected: usize,
    },
    /// The workspace is too small for the shape.
    WorkspaceLength,
    /// The output has the wrong length or shape.
    OutputLength {
        /// The dimension.
        expected: usize,
    },
    /// The prior does not fit.
    Prior(PriorError),
    /// No such coordinate.
    Coordinate {
        /// The coordinate.
        coordinate: usize,
    },
    /// A coefficient is not a number from -100 to 100.
    Coefficient {
        /// Its coordinate.
        coordinate: usize,
    },
    /// A direction touches two tasks, and so two leaves.
    TwoTasks,
    /// The response is not a number from -20,000 to 20,000.
    Response,
    /// The variance is not a number from 1e-7 to 1e13.
    Variance,
}

impl fmt::Display for PosteriorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotStarted => f.write_str("the posterior was not started"),
            Self::StorageLength { expected } => {
                write!(f, "the state needs storage for exactly {expected} numbers")
            }
            Self::WorkspaceLength => f.write_str("the workspace is too small for this catalog"),
            Self::OutputLength { expected } => {
                write!(f, "the output must have {expected} rows (and columns)")
            }
            Self::Prior(error) => error.fmt(f),
            Self::Coordinate { coordinate } => write!(f, "there is no coordinate {coordinate}"),
            Self::Coefficient { coordinate } => {
                write!(f, "the coefficient of coordinate {coordinate} is not a number from -100 to 100")
            }
            Self::TwoTasks => f.write_str("a direction can touch coordinates of one task only"),
            Self::Response => f.write_str("the response is not a number from -20000 to 20000"),
            Self::Variance => f.write_str("the variance is not a number from 1e-7 to 1e13"),
        }
    }
}

impl core::error::Error for PosteriorError {}
