//! Learners that live with the simulated user: Fable, and the two it is compared with, all of them the same learner.
//!
//! *Rules only* takes the action with the best default score less cost and never learns. *Flat* learns one weight per
//! complete action, with the same code: its dictionary has a single block. Its base precision is a quarter of Fable's; of
//! 1/32, 1/12, 1/4 and 1, that did best for it in 300 rounds of six users of `agent`.

use fable_core::catalog::{Block, BlockSet, Definition};
use fable_core::BASE_PRECISION;
use fable_core::{
    Action, Catalog, CatalogError, Decision, Feasible, Learner, UserError, Policy, Request, Settings, Workspace,
};
use fable_std::simulate::SimulatedUser;
use std::error::Error;

/// A learner with everything it needs. There is room in the profile for every contrast that a catalog can declare.
pub(super) struct Companion<'p> {
    pub(super) policy: Policy<'p, f32>,
    pub(super) learner: Learner<f32, Vec<f32>, 64>,
    pub(super) workspace: Workspace<f32, Vec<f32>>,
}

impl<'p> Companion<'p> {
    pub(super) fn new(catalog: &'p Catalog<'p>, settings: Settings<'p>, life: u64) -> Result<Self, Box<dyn Error>> {
        let policy = Policy::new(catalog, settings)?;
        let mut learner = Learner::over(vec![0.0; catalog.state_len()]);
        learner.start(&policy, life)?;
        Ok(Self { policy, learner, workspace: Workspace::over(vec![0.0; catalog.workspace_len()]) })
    }

    pub(super) fn decide(&mut self, request: &Request<'_>) -> Result<Decision, UserError> {
        self.learner.decide(&self.policy, &mut self.workspace, request)
    }

    pub(super) fn learn(&mut self, decision: &Decision, reward: f64) -> Result<(), UserError> {
        self.learner.feedback(&self.policy, &mut self.workspace, decision.id, reward).map(|_| ())
    }

    /// The mean of what is believed about theta.
    pub(super) fn mean(&mut self) -> Vec<f64> {
        let mut mean = vec![0.0; self.policy.catalog().dimension()];
        let known = self.learner.posterior().mean(&mut self.workspace, &mut mean).is_ok();
        debug_assert!(known, "a started learner and a workspace of its catalog");
        mean.into_iter().map(f64::from).collect()
    }

    /// What it would do without exploring.
    fn recommend(&mut self, request: &Request<'_>) -> Result<Action, UserError> {
        self.learner.recommend(&self.policy, &mut self.workspace, request).map(|(action, _)| action)
    }
}

/// Who lives with the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Fable,
    Flat,
    Rules,
    /// Someone who knows the hidden preferences: no learner, and out of reach.
    Best,
}

impl Kind {
    pub(super) const ALL: [Self; 4] = [Self::Fable, Self::Flat, Self::Rules, Self::Best];
}

/// The catalog whose dictionary has one block, a weight per complete action.
pub(super) fn flat<'c>(catalog: &Catalog<'c>) -> Result<Catalog<'c>, CatalogError> {
    Catalog::try_new(Definition { blocks: const { &[Block::complete()] }, ..*catalog.definition() })
}

/// The settings that suit the flat learner.
pub(super) fn flat_settings(settings: Settings<'_>) -> Settings<'_> {
    let base_precision = (settings.base_precision / 4.0).max(BASE_PRECISION.least);
    Settings { base_precision, retained: BlockSet::FULL, ..settings }
}

/// The mean reward of what was chosen in each round of a life.
pub(super) fn live(
    kind: Kind,
    user: &SimulatedUser<'_>,
    feasible: &Feasible,
    settings: Settings<'_>,
    life: u64,
    rounds: u32,
) -> Result<Vec<f64>, Box<dyn Error>> {
    let user = user.clone().in_life(life);
    let flat = flat(user.catalog())?;
    let mut companion = match kind {
        Kind::Flat => Companion::new(&flat, flat_settings(settings), life)?,
        _ => Companion::new(user.catalog(), settings, life)?,
    };
    (1..=rounds)
        .map(|round| {
            let context = user.request(round)?.context;
            let request = Request::new(&context, feasible);
            let action = match kind {
                Kind::Rules => companion.recommend(&request)?,
                Kind::Best => user.best(&context, feasible).0,
                Kind::Fable | Kind::Flat => {
                    let decision = companion.decide(&request)?;
                    companion.learn(&decision, user.reward(round, &context, decision.action))?;
                    decision.action
                }
            };
            Ok(user.expected(&context, action))
        })
        .collect()
}
