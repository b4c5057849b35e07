//! Faults in events and requests.

use crate::catalog::{FeasibleError, OnboardingError};
use crate::posterior::PosteriorError;
use core::fmt;

/// Faults in events and requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum UserError {
    /// The learner was started under another policy.
    ForeignPolicy,
    /// The context was made for another catalog.
    ForeignContext,
    /// The action is not in the catalog.
    UnknownAction,
    /// The action is not in the recorded feasible set.
    Forbidden,
    /// The decision is not this user's next one.
    OutOfOrder,
    /// The constraints cannot be used.
    Feasible(FeasibleError),
    /// The stated preference cannot be used.
    Onboarding(OnboardingError),
    /// The reward is not a number from -1 to 1.
    Reward,
    /// The weight is not a number from 0.001 to 100.
    Weight,
    /// The baseline is not a number from -19,999 to 19,999.
    Baseline,
    /// The wrong number of default scores.
    DefaultCount {
        /// The number of actions.
        expected: usize,
    },
    /// A default score is not a number from -100 to 100.
    DefaultRange {
        /// Its action.
        action: usize,
    },
    /// The decision was made at another site. Its reward is learned there.
    DecidedElsewhere,
    /// The site is fixed with the first decision, and is not 0.
    SiteFixed,
    /// Events of the user's own site cannot be merged.
    OwnSite,
    /// The event of another site is known already.
    KnownElsewhere,
    /// Earlier events of the other site are missing.
    GapElsewhere,
    /// The user was merged from the maximum number of other sites.
    SitesFull,
    /// No decision of this user in this incarnation has this id.
    UnknownDecision,
    /// The decision waited too long for its reward.
    ExpiredDecision,
    /// The decision has had its reward.
    DuplicateFeedback,
    /// The decision cannot be explained: something was learned since, or the defaults or settings are others.
    Stale,
    /// The writer did not take the text.
    Text,
    /// The factor of a fading is not 0, nor a number from 0.001 to less than 1.
    Keep,
    /// The share that fadings have left of an observation is not a number from 0.000001 to 1.
    Kept,
    /// The observation cannot have been learned, or unlearning is not possible at this precision.
    NotLearned,
    /// The two actions compared are the same or differ in more than one component.
    Comparison,
    /// The decision cannot have this probe: its contrast does not apply, or probes are out of order.
    Probe,
    /// The catalog declares no such contrast.
    UnknownContrast,
    /// The promotion does not follow from what was learned.
    NotPromoted,
    /// The profile is full.
    ProfileFull,
    /// The user has switched everything off: nothing is decided or learned.
    Off,
    /// The code is not a rule that users of this catalog can have.
    UnknownRule,
    /// The user has this rule.
    RuleExists,
    /// The user does not have this rule.
    RuleMissing,
    /// The user has the maximum number of rules.
    RulesFull,
    /// A counter has reached its end.
    Exhausted,
    /// This build leaves out the feature.
    Unsupported,
    /// The posterior or the workspace cannot be used.
    Posterior(PosteriorError),
}

impl From<PosteriorError> for UserError {
    fn from(error: PosteriorError) -> Self {
        Self::Posterior(error)
    }
}

impl fmt::Display for UserError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ForeignPolicy => f.write_str("the state belongs to another catalog or other settings"),
            Self::ForeignContext => f.write_str("the context was made for another catalog"),
            Self::UnknownAction => f.write_str("the action is not in the catalog"),
            Self::Forbidden => f.write_str("the action is not feasible"),
            Self::OutOfOrder => f.write_str("the decision is not the user's next one"),
            Self::Feasible(error) => error.fmt(f),
            Self::Onboarding(error) => error.fmt(f),
            Self::Reward => f.write_str("a reward must be a number from -1 to 1"),
            Self::Weight => f.write_str("a weight must be a number from 0.001 to 100"),
            Self::Baseline => f.write_str("a baseline must be a number from -19999 to 19999"),
            Self::DefaultCount { expected } => {
                write!(f, "there must be exactly {expected} default scores, one per action")
            }
            Self::DefaultRange { action } => {
                write!(f, "the default score of action {action} is not a number from -100 to 100")
            }
            Self::DecidedElsewhere => {
                f.write_str("the decision was made at another place, and its reward is learned there")
            }
            Self::SiteFixed => {
                f.write_str("the site that decides is fixed with the first decision, and is not 0")
            }
            Self::OwnSite => f.write_str("events of the user's own site cannot be merged"),
            Self::KnownElsewhere => f.write_str("what happened at the other place is known already"),
            Self::GapElsewhere => f.write_str("what happened at the other place before is missing"),
            Self::SitesFull => {
                write!(f, "a user can be merged from at most {} other sites", super::MAX_SITES)
            }
            Self::UnknownDecision => f.write_str("there is no such decision"),
            Self::ExpiredDecision => f.write_str("the decision has expired"),
            Self::DuplicateFeedback => f.write_str("the decision has had its feedback"),
            Self::Stale => {
                f.write_str("the state, the defaults or the settings are not those of the decision any more")
            }
            Self::Text => f.write_str("the writer did not take the text"),
            Self::Keep => {
                f.write_str("the factor of a fading must be 0, or a number from 0.001 to less than 1")
            }
            Self::Kept => {
                f.write_str("what fadings left of an observation must be a number from 0.000001 to 1")
            }
            Self::NotLearned => f.write_str(
                "the observation cannot have been learned, or cannot be taken away at this precision",
            ),
            Self::Comparison => {
                f.write_str("the two actions of a contrast must differ in exactly one component")
            }
            Self::Probe => f.write_str("no such coin can have been tossed for the decision"),
            Self::UnknownContrast => f.write_str("the catalog declares no such contrast"),
            Self::NotPromoted => f.write_str("the promotion does not follow from what was learned"),
            Self::ProfileFull => f.write_str("the profile has no room for another promotion"),
            Self::Off => f.write_str("the user has switched this off"),
            Self::UnknownRule => f.write_str("the rule is not one that users of this catalog can have"),
            Self::RuleExists => f.write_str("the user has this rule"),
            Self::RuleMissing => f.write_str("the user does not have this rule"),
            Self::RulesFull => {
                write!(f, "a user can have at most {} rules and switches", super::MAX_USER_RULES)
            }
            Self::Exhausted => f.write_str("a counter of this learner has reached its end"),
            Self::Unsupported => f.write_str("this build was made without the feature that it takes"),
            Self::Posterior(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for UserError {}
