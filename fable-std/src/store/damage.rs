//! What can be damaged about one user, and what is done about it: the user is told, and nobody else is touched.

use std::fmt;
use std::io;

/// What of a user cannot be read. The user decides nothing until it is repaired or forgotten, unless it is the memory alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Damage {
    /// Both copies of the key.
    Key = 1,
    /// Name and beginning.
    Row = 2,
    /// The hard rules. Without them nothing is known to be allowed.
    Rules = 3,
    /// Events that no snapshot has seen.
    Journal = 4,
    /// The only snapshot that the journal goes on from.
    Snapshot = 5,
    /// The prior that the user began with.
    Prior = 6,
    /// What was exchanged with an assistant. The user goes on without it.
    Memory = 7,
}

impl Damage {
    const ALL: [Self; 7] =
        [Self::Key, Self::Row, Self::Rules, Self::Journal, Self::Snapshot, Self::Prior, Self::Memory];

    /// What a number in the store stands for.
    pub(super) fn of(code: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|damage| *damage as u8 == code)
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Key => "key",
            Self::Row => "name",
            Self::Rules => "hard rules",
            Self::Journal => "journal",
            Self::Snapshot => "snapshot",
            Self::Prior => "prior",
            Self::Memory => "memory",
        })
    }
}

/// Why something of a user was not read.
#[derive(Debug)]
pub(super) enum Fault {
    /// It is damaged.
    Damaged(Damage),
    /// The disk says no; what is on it may be sound.
    Failed(io::Error),
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Self::Failed(error)
    }
}

impl From<Damage> for Fault {
    fn from(damage: Damage) -> Self {
        Self::Damaged(damage)
    }
}
