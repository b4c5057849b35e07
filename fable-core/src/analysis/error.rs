//! Errors of block integer programs.

use core::fmt;

/// A fault in a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum ProgramError {
    /// No block, or more than 128; or more than 1,024 single coordinates.
    BlockCount,
    /// A block of no coordinates, or more than 8,192 coordinates.
    Sizes,
    /// A matrix with another number of rows and columns.
    Shape {
        /// Rows and columns that it should have.
        expected: usize,
    },
    /// The entries of the relevance do not add up to a finite number.
    NotFinite,
    /// A rule names a block that the program does not have.
    UnknownBlock,
    /// The scratch is too short.
    ScratchLength {
        /// Words that the program needs.
        needed: usize,
    },
    /// No choice within the rules has this number of coordinates.
    Infeasible {
        /// The requested number of coordinates.
        k: usize,
    },
    /// No choice was found within the number of nodes.
    NodeLimit,
}

impl fmt::Display for ProgramError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BlockCount => {
                f.write_str("a program needs between 1 and 128 blocks, or at most 1024 single coordinates")
            }
            Self::Sizes => {
                f.write_str("every block needs a coordinate, and all together can have at most 8192")
            }
            Self::Shape { expected } => write!(f, "the matrix must have {expected} rows and columns"),
            Self::NotFinite => f.write_str("the entries of the relevance do not add up to a finite number"),
            Self::UnknownBlock => f.write_str("a rule names a block that does not exist"),
            Self::ScratchLength { needed } => write!(f, "the scratch needs {needed} words"),
            Self::Infeasible { k } => write!(f, "no admissible choice of blocks has exactly {k} coordinates"),
            Self::NodeLimit => f.write_str("no admissible choice was found within the number of nodes"),
        }
    }
}

impl core::error::Error for ProgramError {}
