//! What can be asked, in the catalog's own terms. [`incoming`](super::incoming) makes it of lines.

use super::read::{ReadAs, Words};
use crate::memory::Exchange;
use crate::rules::Change;
use fable_core::preference::Comparison;
use fable_core::{Action, Context, DecisionId, Feasible, Statement};

pub use crate::store::MAX_NAME;
/// Most draws that propensities can be estimated from; they are made while other users wait.
pub const MAX_DRAWS: u32 = 10_000;

/// What is asked.
#[derive(Clone, Debug, PartialEq)]
pub enum Op {
    /// Stated preferences, all or none.
    Onboard {
        /// Whose.
        user: String,
        /// What they are.
        statements: Vec<Statement>,
    },
    /// Choose an action.
    Decide {
        /// For whom.
        user: String,
        /// Where.
        context: Context,
        /// Among what.
        feasible: Feasible,
        /// The default score of every action instead of the catalog's.
        defaults: Option<Vec<f64>>,
        /// Estimate the probability of every action from so many draws.
        propensities: Option<u32>,
        /// The caller's time.
        at: u32,
    },
    /// The best action by what is known, with nothing remembered.
    Recommend {
        /// For whom.
        user: String,
        /// Where.
        context: Context,
        /// Among what.
        feasible: Feasible,
        /// The default score of every action instead of the catalog's.
        defaults: Option<Vec<f64>>,
    },
    /// How it went.
    Feedback {
        /// What.
        decision: DecisionId,
        /// From -1 to 1.
        reward: f64,
        /// How much it counts.
        weight: f32,
        /// The caller's time.
        at: u32,
    },
    /// How an action went that was chosen elsewhere.
    Observe {
        /// For whom.
        user: String,
        /// Where.
        context: Context,
        /// What was done.
        action: Action,
        /// From -1 to 1.
        reward: f64,
        /// How much it counts.
        weight: f32,
        /// The default score of every action instead of the catalog's.
        defaults: Option<Vec<f64>>,
        /// The caller's time.
        at: u32,
    },
    /// Take a reward back.
    Unlearn {
        /// Of which decision.
        decision: DecisionId,
    },
    /// The decisions that wait for their reward.
    Waiting {
        /// Whose.
        user: String,
        /// The caller's time.
        at: u32,
    },
    /// Mean and standard deviation of every coordinate.
    Posterior {
        /// Whose.
        user: String,
    },
    /// How sure a preference is.
    Contrast {
        /// Whose.
        user: String,
        /// Of what over what.
        comparison: Comparison,
        /// The position of the declared contrast that was named, whose coins are asked for, too.
        declared: Option<usize>,
        /// What the request allows everywhere, if it has rules: then it is asked whether rewards can tell.
        allowed: Option<Feasible>,
    },
    /// Why this action and not another one.
    Explain {
        /// Which decision.
        decision: DecisionId,
        /// The other action; the runner-up if it is left out.
        against: Option<Action>,
        /// The defaults that the decision was made with.
        defaults: Option<Vec<f64>>,
    },
    /// The promoted preferences.
    Profile {
        /// Whose.
        user: String,
    },
    /// Promote what is certain now.
    Promote {
        /// Whose.
        user: String,
        /// The caller's time.
        at: u32,
    },
    /// See or change what a user wishes.
    Wish {
        /// Whose.
        user: String,
        /// What becomes different.
        change: Change,
    },
    /// Keep an exchange with a user.
    Remember {
        /// With whom.
        user: String,
        /// What.
        exchange: Exchange,
    },
    /// What a memory mode brings back.
    Recall {
        /// Of whom.
        user: String,
        /// The mode: a value of the component `memory`.
        memory: String,
        /// What is asked now.
        request: String,
    },
    /// All that is kept of what was exchanged with a user.
    Memories {
        /// With whom.
        user: String,
    },
    /// Erase what was exchanged with a user, and nothing else.
    Unremember {
        /// With whom.
        user: String,
    },
    /// Erase a user.
    Forget {
        /// Whom.
        user: String,
    },
    /// Everything about a user as a file, see [`transfer`](crate::store::transfer).
    Export {
        /// Whom.
        user: String,
    },
    /// Copy the store, or tell how far the last copy is.
    Backup {
        /// Where to.
        file: Option<String>,
    },
    /// A text in the catalog's terms; it is about nobody.
    Read {
        /// What was said.
        words: Words,
        /// What it is taken for.
        reading: ReadAs,
    },
    /// Counts.
    Stats,
    /// What `feedback` would say. It changes nothing, and no line asks for it: it is for front ends that keep a reward for later.
    Check {
        /// Of which decision.
        decision: DecisionId,
    },
}

impl Op {
    /// The name of the user that it is about, if it names one.
    #[must_use]
    pub fn user(&self) -> Option<&str> {
        match self {
            Self::Onboard { user, .. }
            | Self::Decide { user, .. }
            | Self::Recommend { user, .. }
            | Self::Observe { user, .. }
            | Self::Waiting { user, .. }
            | Self::Posterior { user }
            | Self::Contrast { user, .. }
            | Self::Profile { user }
            | Self::Promote { user, .. }
            | Self::Export { user }
            | Self::Wish { user, .. }
            | Self::Remember { user, .. }
            | Self::Recall { user, .. }
            | Self::Memories { user }
            | Self::Unremember { user }
            | Self::Forget { user } => Some(user),
            Self::Feedback { .. }
            | Self::Check { .. }
            | Self::Unlearn { .. }
            | Self::Explain { .. }
            | Self::Backup { .. }
            | Self::Read { .. }
            | Self::Stats => None,
        }
    }

    /// The decision that it is about, if it names one.
    #[must_use]
    pub const fn decision(&self) -> Option<DecisionId> {
        match self {
            Self::Feedback { decision, .. }
            | Self::Check { decision }
            | Self::Unlearn { decision }
            | Self::Explain { decision, .. } => Some(*decision),
            _ => None,
        }
    }
}
