//! This crate, as its users call it.

use fable_core::journal::Command;
use fable_core::preference::{Assessment, Comparison};
use fable_core::{Action, Decision, DecisionId, Feasible, HostUser, Policy, Request, Scalar};

use crate::user::Moment;

/// A user with everything it needs.
pub struct Fable<'p, T: Scalar> {
    ana: HostUser<'p, T, 8>,
    feasible: Feasible,
}

impl<'p, T: Scalar> Fable<'p, T> {
    /// A user of whom nothing is known yet.
    ///
    /// # Panics
    /// Never: the storage is as long as the catalog asks for.
    #[must_use]
    pub fn new(policy: &'p Policy<'p, T>) -> Self {
        let ana = HostUser::new(policy, "ana").expect("storage fits");
        Self { ana, feasible: Feasible::all(policy.catalog()) }
    }

    /// Decides.
    ///
    /// # Panics
    /// When the moment is of another catalog.
    #[inline]
    pub fn decide(&mut self, moment: &Moment<T>) -> Decision {
        let Self { ana, feasible } = self;
        ana.user().decide(&Request::new(&moment.context, feasible)).expect("a moment of this catalog")
    }

    /// Decides, and says what for: mean and draw.
    ///
    /// # Panics
    /// When the moment is of another catalog.
    #[inline]
    pub fn decide_scored(&mut self, moment: &Moment<T>) -> Decision {
        let Self { ana, feasible } = self;
        let (mut user, mut command) =
            (ana.user(), Command::decide(Request::new(&moment.context, feasible)).scored());
        user.run(&mut command).expect("a moment of this catalog");
        assert!(command.scores().is_some());
        command.decision(&user).expect("it was decided")
    }

    /// Learns the reward of one of the last eight decisions.
    ///
    /// # Panics
    /// When it has been learned or is older.
    #[inline]
    pub fn learn(&mut self, id: DecisionId, reward: f64) {
        self.ana.user().feedback(id, reward).expect("a recent decision");
    }

    /// Learns from an action chosen elsewhere.
    ///
    /// # Panics
    /// When the moment is of another catalog.
    pub fn observe(&mut self, moment: &Moment<T>, action: Action) {
        let reward = moment.rewards[action.index()];
        self.ana.user().observe(&moment.context, action, reward).expect("a moment of this catalog");
    }

    /// Assesses the contrast of two actions that differ in one component.
    ///
    /// # Panics
    /// When they do not.
    #[inline]
    pub fn assess(&mut self, moment: &Moment<T>, prefer: Action, over: Action) -> Assessment {
        let comparison = Comparison { context: moment.context, prefer, over, total: false };
        self.ana.user().assess(&comparison).expect("a comparison of this catalog")
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
        let Self { ana, feasible } = self;
        let mut user = ana.user();
        let score = |action| user.predict(&moment.context, action, None).expect("fits").mean.to_f64();
        feasible.set().iter().map(score).collect()
    }
}
