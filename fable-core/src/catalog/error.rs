//! Faults in catalogs.

use core::fmt;

/// A fault in a [`Definition`](super::Definition).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum CatalogError {
    /// No components, or more than eight.
    ComponentCount,
    /// A component with no values or with more than 256.
    ValueCount,
    /// More than 1,024 complete actions.
    ActionCount,
    /// More than 64 tasks.
    TaskCount,
    /// More than 16 signals.
    SignalCount,
    /// No block, or more than 128.
    BlockCount,
    /// More than 64 terms in the default score.
    TermCount,
    /// A dictionary of more than 8,192 coordinates.
    DimensionTooLarge,
    /// An empty name, or a name with other characters than letters, digits, `_` and `-`.
    BadName,
    /// Two things of one kind with the same name.
    DuplicateName,
    /// A component or signal called `task`.
    ReservedName,
    /// A component's null value is not one of its values.
    UnknownNull,
    /// A block with no component, with a component twice, or with a component that the catalog does not have.
    BlockComponents,
    /// A block scaled by a signal that the catalog does not have.
    BlockSignal,
    /// A block per task in a catalog without tasks.
    BlockTask,
    /// A block without null values in which no factor has a null value, or no value is left.
    BlockNull,
    /// Two equal blocks.
    DuplicateBlock,
    /// A cost that is not a number from 0 to 100.
    BadCost,
    /// A term's weight that is not a number from -100 to 100.
    BadWeight,
    /// A threshold that is not a number from 0 to 1.
    BadThreshold,
    /// A term whose condition names an unknown signal or task.
    TermCondition,
    /// A term that applies to nothing, to an unknown value, or to a component or value twice.
    TermValues,
    /// More than 64 contrasts.
    ContrastCount,
    /// A contrast with an unknown task in its reference context, or not one signal from 0 to 1 per signal of
    /// the catalog.
    ContrastContext,
    /// A contrast whose two actions are not complete, or do not differ in exactly one component.
    ContrastActions,
    /// More than 32 rules.
    RuleCount,
    /// A rule whose condition names an unknown signal or task.
    RuleCondition,
    /// A rule about no value, an unknown value, or a component or value twice.
    RuleValues,
    /// A rule that leaves no action in its contexts, together with the rules of all contexts.
    RuleLeavesNothing,
    /// A rule in a build without the feature `rules`.
    RuleUnenforced,
}

impl CatalogError {
    /// The fault as a sentence. For a constant catalog the compiler prints it.
    #[must_use]
    pub const fn message(self) -> &'static str {
        match self {
            Self::ComponentCount => "a catalog needs between 1 and 8 components",
            Self::ValueCount => "a component needs between 1 and 256 values",
            Self::ActionCount => "a catalog can have at most 1024 complete actions",
            Self::TaskCount => "a catalog can have at most 64 tasks",
            Self::SignalCount => "a catalog can have at most 16 signals",
            Self::BlockCount => "a dictionary needs between 1 and 128 blocks",
            Self::TermCount => "a default score can have at most 64 terms",
            Self::DimensionTooLarge => "a dictionary can have at most 8192 coordinates",
            Self::BadName => "a name must not be empty and may use only letters, digits, '_' and '-'",
            Self::DuplicateName => {
                "two components, values, tasks, signals, contrasts or rules have the same name"
            }
            Self::ReservedName => "'task' cannot be the name of a component or of a signal",
            Self::UnknownNull => "the null value of a component is not one of its values",
            Self::BlockComponents => {
                "a block names no component, one twice, or one that the catalog does not have"
            }
            Self::BlockSignal => "a block is scaled by a signal that the catalog does not have",
            Self::BlockTask => "a block is per task but the catalog has no tasks",
            Self::BlockNull => {
                "a block leaves out the null value but none of its components has one, \
                 or nothing would be left"
            }
            Self::DuplicateBlock => "two blocks of the dictionary are the same",
            Self::BadCost => "a cost must be a number from 0 to 100",
            Self::BadWeight => "the weight of a term must be a number from -100 to 100",
            Self::BadThreshold => "a threshold must be a number from 0 to 1",
            Self::TermCondition => {
                "the condition of a term names a signal or task that the catalog does not have"
            }
            Self::TermValues => {
                "a term applies to no value, to an unknown one, or names a component or value twice"
            }
            Self::ContrastCount => "a catalog can declare at most 64 contrasts",
            Self::ContrastContext => {
                "a contrast needs a task of the catalog, or none, and each of its signals from 0 to 1"
            }
            Self::ContrastActions => {
                "a contrast needs two complete actions that differ in exactly one component"
            }
            Self::RuleCount => "a catalog can declare at most 32 rules",
            Self::RuleCondition => {
                "the condition of a rule names a signal or task that the catalog does not have"
            }
            Self::RuleValues => "a rule names no value, an unknown one, or a component or value twice",
            Self::RuleLeavesNothing => {
                "where this rule holds, it and the rules that hold everywhere leave nothing to choose"
            }
            Self::RuleUnenforced => {
                "this build does not enforce rules; turn on the feature `rules` of fable-core"
            }
        }
    }
}

impl fmt::Display for CatalogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.message())
    }
}

impl core::error::Error for CatalogError {}
