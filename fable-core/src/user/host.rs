//! A user on a host: memory, policy and scratch in one value on the heap.

use super::{Command, Decision, DecisionId, Learner, Request, State, User, UserError};
use crate::catalog::{Context, Feasible, score::Scalar};
use crate::numbers::user_hash;
use crate::policy::Policy;
use alloc::vec;
use alloc::vec::Vec;

/// Capacity for waiting decisions of one user on a host. It equals the most contrasts of a catalog, so the
/// profile has capacity for all of them.
pub const HOST_CAPACITY: usize = crate::catalog::MAX_CONTRASTS;

/// The memory of one user on the heap.
pub type HostLearner<T, const R: usize = HOST_CAPACITY> = Learner<T, Vec<T>, R>;

/// One user, with policy and workspace. A host of many users keeps [`HostLearner`]s instead, and binds each
/// to one workspace per thread.
///
/// ```
/// use fable_core::{Feasible, HostUser, Policy, Settings, catalog::AGENT};
///
/// let policy = Policy::new(&AGENT, Settings::default())?;
/// let mut ana = HostUser::<f32>::new(&policy, "ana")?;
/// let signals = [("risk", 0.1), ("ambiguity", 0.2), ("memory_need", 0.7), ("tool_need", 0.3)];
/// let context = AGENT.context("coding", signals)?; // a typo is an error
/// let decision = ana.decide(&context, &Feasible::all(&AGENT))?;
/// ana.feedback(decision.id, 0.5)?;
/// # #[cfg(feature = "record")] {
/// let again = HostUser::<f32>::restore(&policy, &ana.to_bytes())?; // kept anywhere, whole or not at all
/// assert_eq!(again.state().observations(), 1);
/// # }
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct HostUser<'p, T, const R: usize = HOST_CAPACITY> {
    policy: Policy<'p, T>,
    learner: HostLearner<T, R>,
    workspace: Vec<T>,
}

impl<T: PartialEq, const R: usize> PartialEq for HostUser<'_, T, R> {
    /// True if the memory is equal.
    fn eq(&self, other: &Self) -> bool {
        self.learner == other.learner
    }
}

impl<T: Scalar, const R: usize> HostLearner<T, R> {
    /// An empty learner for the users of a policy.
    #[must_use]
    pub fn for_policy(policy: &Policy<'_, T>) -> Self {
        Self::from_storage(vec![T::ZERO; policy.catalog().state_len()])
    }
}

impl<'p, T: Scalar, const R: usize> HostUser<'p, T, R> {
    /// A new user, at the policy's prior.
    ///
    /// # Errors
    /// None that a policy leads to.
    pub fn new(policy: &Policy<'p, T>, name: &str) -> Result<Self, UserError> {
        let mut learner = HostLearner::for_policy(policy);
        learner.start(policy, user_hash(name))?;
        Self::from_learner(policy, learner)
    }

    /// A user of a learner.
    ///
    /// # Errors
    /// A learner that is empty or belongs to another policy.
    pub fn from_learner(policy: &Policy<'p, T>, learner: HostLearner<T, R>) -> Result<Self, UserError> {
        let workspace = vec![T::ZERO; policy.catalog().workspace_len()];
        let mut user = Self { policy: *policy, learner, workspace };
        user.learner.bind(&user.policy, &mut user.workspace)?;
        Ok(user)
    }

    /// The user, with all verbs.
    pub fn user(&mut self) -> User<'_, T> {
        let Self { policy, learner, workspace } = self;
        User { policy, memory: learner.memory(), workspace }
    }

    /// Counters, feasible set and provenance of this user.
    #[must_use]
    pub const fn state(&self) -> &State {
        self.learner.state()
    }

    /// The memory.
    #[must_use]
    pub const fn learner(&self) -> &HostLearner<T, R> {
        &self.learner
    }

    /// Gives up policy and workspace.
    #[must_use]
    pub fn into_learner(self) -> HostLearner<T, R> {
        self.learner
    }

    /// The catalog and the settings of this user.
    #[must_use]
    pub const fn policy(&self) -> &Policy<'p, T> {
        &self.policy
    }

    /// Chooses an action and remembers it.
    ///
    /// # Errors
    /// A context or set of another catalog.
    pub fn decide(&mut self, context: &Context, feasible: &Feasible) -> Result<Decision, UserError> {
        self.user().decide(&Request::new(context, feasible))
    }

    /// Learns the reward of an earlier decision, and promotes what became certain.
    ///
    /// # Errors
    /// A reward outside [-1, 1], an unknown, expired or already rewarded decision.
    pub fn feedback(&mut self, id: DecisionId, reward: f64) -> Result<(), UserError> {
        self.user().run(&mut Command::feedback(id, reward))
    }
}
