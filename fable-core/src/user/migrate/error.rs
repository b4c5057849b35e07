//! Errors of migrations.

use core::fmt;

/// A fault in a migration. Nothing has changed then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum MigrateError {
    /// A rename names a part that its catalog does not have, a part twice, or a value of another component.
    Rename {
        /// Its position.
        index: usize,
    },
    /// The old learner is empty, or belongs to another policy.
    Old,
    /// The new learner is not empty, or its storage has another length.
    New {
        /// Numbers that the new catalog needs.
        expected: usize,
    },
    /// The workspace is too small for one of the catalogs.
    Workspace,
}

impl fmt::Display for MigrateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rename { index } => {
                write!(
                    f,
                    "rename {index} names something that is not there, or twice, \
                     or a value of another component"
                )
            }
            Self::Old => f.write_str("the user to migrate does not belong to the old catalog and settings"),
            Self::New { expected } => {
                write!(f, "the migrated user needs a vacant state of exactly {expected} numbers")
            }
            Self::Workspace => f.write_str("the workspace is too small for the two catalogs"),
        }
    }
}

impl core::error::Error for MigrateError {}
