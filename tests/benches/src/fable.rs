//! This crate, as its users call it.

use fable_core::{Assessment, Comparison};
use fable_core::{Action, Decision, DecisionId, Feasible, Learner, Policy, Request, Scalar, Workspace, user_hash};

use crate::user::Moment;

/// A learner with everything it needs.
pub struct Fable<'p, T: Scalar> {
    policy: &'p Policy<'p, T>,
    learner: Learner<T, Vec<T>, 8>,
    workspace: Workspace<T, Vec<T>>,
    feasible: Feasible,
}

impl<'p, T: Scalar> Fable<'p, T> {
    /// A learner that knows nothing yet.
    ///
    /// # Panics
    /// Never: the storage is as long as the catalog asks for.
    #[must_use]
    pub fn new(policy: &'p Policy<'p, T>) -> Self {
        let catalog = policy.catalog();
        let mut learner = Learner::over(vec![T::ZERO; catalog.state_len()]);
        learner.start(policy, user_hash("ana")).expect("storage fits");
        let workspace = Workspace::over(vec![T::ZERO; catalog.workspace_len()]);
        Self { policy, learner, workspace, feasible: Feasible::all(catalog) }
    }

    /// Decides.
    ///
    /// # Panics
    /// When the moment is of another catalog.
    #[inline]
    pub fn decide(&mut self, moment: &Moment<T>) -> Decision {
        let Self { policy, learner, workspace, feasible } = self;
        learner.decide(policy, workspace, &Request::new(&moment.context, feasible)).expect("a moment of this catalog")
    }

    /// Learns the reward of one of the last eight decisions.
    ///
    /// # Panics
    /// When it has been learned or is older.
    #[inline]
    pub fn learn(&mut self, id: DecisionId, reward: f64) {
        self.learner.feedback(self.policy, &mut self.workspace, id, reward).expect("a recent decision");
    }

    /// Learns from an action chosen elsewhere.
    ///
    /// # Panics
    /// When the moment is of another catalog.
    pub fn observe(&mut self, moment: &Moment<T>, action: Action) {
        let reward = moment.rewards[action.index()];
        let Self { policy, learner, workspace, .. } = self;
        learner.observe(policy, workspace, &moment.context, action, reward).expect("a moment of this catalog");
    }

    /// Assesses the contrast of two actions that differ in one component.
    ///
    /// # Panics
    /// When they do not.
    #[inline]
    pub fn assess(&mut self, moment: &Moment<T>, prefer: Action, over: Action) -> Assessment {
        let comparison = Comparison { context: moment.context, prefer, over, total: false };
        self.learner.assess(self.policy, &mut self.workspace, &comparison).expect("a comparison of this catalog")
    }

    /// A round.
    #[inline]
    pub fn round(&mut self, moment: &Moment<T>) {
        let decision = self.decide(moment);
        self.learn(decision.id, moment.rewards[decision.action.index()]);
    }

    /// The mean score of every action.
    ///
    /// # Panics
    /// When the moment is of another catalog.
    pub fn scores(&mut self, moment: &Moment<T>) -> Vec<f64> {
        let Self { policy, learner, workspace, feasible } = self;
        let score = |action| learner.predict(policy, workspace, &moment.context, action, None).expect("fits").mean.to_f64();
        feasible.set().iter().map(score).collect()
    }
}
