//! Why something was not done.

use crate::replay::ReplayError;
use crate::rules::RulesError;
use crate::store::StoreError;
use crate::text::AdapterError;
use crate::toml_file::Flaw;
use fable_core::UserError;
use fable_core::catalog::FeasibleError;
use std::fmt;

/// Why something was not done. Nothing has changed then, unless the store says that it does not know.
#[derive(Debug)]
#[non_exhaustive]
pub enum ChatError {
    /// The name of the person is empty or too long.
    Name,
    /// A name that is not known, with a suggestion.
    Unknown(Flaw),
    /// A command that is not known, with a suggestion.
    NoCommand(Flaw),
    /// A command lacks what it is about.
    Usage(&'static str),
    /// There is no answer yet that this could be about.
    NoAnswer,
    /// The last answer has had its reaction.
    HadReaction,
    /// What is stated has nothing in it that could be used.
    NothingStated,
    /// Nothing would be left to choose from.
    NothingLeft,
    /// A text cannot be read as numbers.
    Adapter(AdapterError),
    /// The learner refuses.
    Learner(UserError),
    /// The store refuses.
    Store(StoreError),
}

impl ChatError {
    /// Whether it is not known any more what the store has, so that the chat has to end.
    #[must_use]
    pub const fn is_final(&self) -> bool {
        matches!(self, Self::Store(StoreError::Uncertain(_)))
    }
}

impl fmt::Display for ChatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name => write!(f, "the name of a user must have 1 to {} bytes", crate::store::MAX_NAME),
            Self::Unknown(flaw) => flaw.fmt(f),
            Self::NoCommand(flaw) => write!(f, "{flaw}. A request that begins with / needs /ask before it"),
            Self::Usage(usage) => f.write_str(usage),
            Self::NoAnswer => f.write_str("there is no answer yet; ask for something first"),
            Self::HadReaction => {
                f.write_str("the last answer has had its reaction, and one counts; if this is a request, write /ask before it")
            }
            Self::NothingStated => f.write_str(
                "nothing in it says what you like or what must never be done; try: I like short answers, never search the web",
            ),
            Self::NothingLeft => {
                f.write_str("your rules would leave nothing to choose from; /profile lists them, /allow lifts one")
            }
            Self::Adapter(error) => error.fmt(f),
            Self::Learner(error) => error.fmt(f),
            Self::Store(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ChatError {}

crate::from!(ChatError: UserError => Learner, AdapterError => Adapter, Flaw => Unknown);

impl From<StoreError> for ChatError {
    fn from(error: StoreError) -> Self {
        if let StoreError::Refused(error) = error { Self::Learner(error) } else { Self::Store(error) }
    }
}

impl From<ReplayError> for ChatError {
    fn from(error: ReplayError) -> Self {
        Self::Store(match error {
            ReplayError::Start(error) | ReplayError::Event { error, .. } => error.into(),
            ReplayError::State { error, .. } => StoreError::State(error),
            ReplayError::Prior(error) => error.into(),
            ReplayError::Settings(_) => StoreError::Foreign,
        })
    }
}

impl From<RulesError> for ChatError {
    fn from(error: RulesError) -> Self {
        match error {
            RulesError::Name(flaw) => Self::Unknown(flaw),
            RulesError::NothingLeft => Self::NothingLeft,
            RulesError::TooMany => Self::Learner(UserError::RulesFull),
        }
    }
}

impl From<FeasibleError> for ChatError {
    fn from(error: FeasibleError) -> Self {
        if error == FeasibleError::Empty {
            Self::NothingLeft
        } else {
            Self::Learner(UserError::Feasible(error))
        }
    }
}
