//! What is compared: configurations of one learner, and what acts without one.
//!
//! A [`Method`] is a row of switches; an [`Agent`] is one user's learner that acts by them. A study hands an agent its
//! requests and rewards and never asks which method it is.
//!
//! ```
//! use fable_core::{Feasible, Policy, Request, Settings, catalog::TAU2};
//! use studies::policies::{Agent, FROZEN, FULL};
//!
//! let policy = Policy::new(&TAU2, FULL.settings(Settings::PAPER))?;
//! let (context, all) = (TAU2.context(None, [])?, Feasible::all(&TAU2));
//! for (method, observations) in [(FULL, 1), (FROZEN, 0)] {
//!     let mut agent = Agent::new(&policy, method, 1)?;
//!     assert!(agent.choose(&Request::new(&context, &all), |_| 0.0)?.is_some());
//!     agent.learn(0.5)?;
//!     assert_eq!(agent.learner().state().observations(), observations);
//! }
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```

use fable_core::catalog::CatalogError;
use fable_core::catalog::{Block, Catalog, Definition};
use fable_core::host::HostLearner;
use fable_core::journal::Command;
use fable_core::posterior::Update;
use fable_core::preference::{Assessment, Comparison};
use fable_core::{Action, Context, DecisionId, HostUser, Policy, Request, Settings, Statement, UserError};
use fable_simulate::Random;

/// Who chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Actor {
    /// The learner.
    Learner,
    /// The host, without any action from a policy.
    Host,
    /// The host, told what the user likes.
    InformedHost,
    /// A fair die.
    Uniform,
    /// Who knows the mean reward of every action.
    Oracle,
}

/// A row of a comparison.
#[expect(clippy::struct_excessive_bools, reason = "switches, each on its own")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Method {
    /// As in tables.
    pub name: &'static str,
    /// Who chooses.
    pub actor: Actor,
    /// Whether actions share coordinates; otherwise there is one per complete action. The study makes the policy for it.
    pub factorized: bool,
    /// Whether all users of a domain share one state; the study keeps it.
    pub shared: bool,
    /// Whether stated preferences are taken into the first posterior.
    pub onboarded: bool,
    /// Whether rewards are learned.
    pub learns: bool,
    /// Whether theta is drawn; otherwise the posterior mean decides.
    pub draws: bool,
    /// Whether settled preferences are promoted into the profile.
    pub promotes: bool,
    /// Whether costs count.
    pub costs: bool,
}

/// The whole method.
pub const FULL: Method = Method {
    name: "Fable (full)",
    actor: Actor::Learner,
    factorized: true,
    shared: false,
    onboarded: true,
    learns: true,
    draws: true,
    promotes: true,
    costs: true,
};
/// Draws from the first posterior for ever.
pub const FROZEN: Method =
    Method { name: "Fable (frozen posterior)", learns: false, promotes: false, ..FULL };
/// Starts from the base prior.
pub const NO_ONBOARDING: Method = Method { name: "Fable (no onboarding)", onboarded: false, ..FULL };
/// Never writes a preference into the prompt.
pub const NO_PROMOTION: Method = Method { name: "Fable (no promotion)", promotes: false, ..FULL };
/// Costs neither in the choice nor in the reward.
pub const NO_COST: Method = Method { name: "Fable (no cost)", costs: false, ..FULL };
/// Default score and cost alone.
pub const RULE_ONLY: Method =
    Method { name: "Rule-only", onboarded: false, learns: false, draws: false, promotes: false, ..FULL };
/// The factorized learner alone: no onboarding, no promotion.
pub const PER_USER: Method = Method { name: "Per-user LinTS", onboarded: false, promotes: false, ..FULL };
/// One state for all users.
pub const GLOBAL: Method = Method { name: "Global LinTS", shared: true, ..PER_USER };
/// One coordinate per complete action.
pub const FLAT: Method = Method { name: "Non-factorized LinTS", factorized: false, ..PER_USER };
/// The host without a policy.
pub const HOST: Method = Method { name: "Host default", actor: Actor::Host, costs: false, ..RULE_ONLY };
/// The host with the user's preferences in its prompt.
pub const INFORMED_HOST: Method =
    Method { name: "Host, preferences known", actor: Actor::InformedHost, ..HOST };
/// Any allowed action.
pub const UNIFORM: Method = Method { name: "Uniform", actor: Actor::Uniform, ..RULE_ONLY };
/// The best allowed action.
pub const ORACLE: Method = Method { name: "Oracle", actor: Actor::Oracle, ..RULE_ONLY };

impl Method {
    /// Settings as this method has them: without costs where they do not count.
    #[must_use]
    pub fn settings<'a>(&self, settings: Settings<'a>) -> Settings<'a> {
        Settings { cost_weight: if self.costs { settings.cost_weight } else { 0.0 }, ..settings }
    }

    /// The same row under another name.
    #[must_use]
    pub const fn named(self, name: &'static str) -> Self {
        Self { name, ..self }
    }
}

/// The catalog with one coordinate per complete action, in each task where it has tasks.
///
/// # Errors
/// Too many coordinates.
pub fn flat<'a>(catalog: &Catalog<'a>) -> Result<Catalog<'a>, CatalogError> {
    const COMPLETE: &[Block] = &[Block::complete()];
    const PER_TASK: &[Block] = &[Block::complete().per_task()];
    let blocks = if catalog.definition().tasks.is_empty() { COMPLETE } else { PER_TASK };
    Catalog::try_new(Definition { blocks, ..*catalog.definition() })
}

/// One user's learner, acting as a method says.
pub struct Agent<'p> {
    user: HostUser<'p, f64>,
    method: Method,
    /// The decision that has had no reward yet.
    waiting: Option<DecisionId>,
    /// Rounds of a uniform choice, which the learner does not count.
    rounds: u64,
}

impl<'p> Agent<'p> {
    /// A new user. The number names the user and with the settings' seed all draws.
    ///
    /// # Errors
    /// What the learner says.
    pub fn new(policy: &Policy<'p, f64>, method: Method, user: u64) -> Result<Self, UserError> {
        let mut learner = HostLearner::for_policy(policy);
        learner.start(policy, user)?;
        Ok(Self { user: HostUser::from_learner(policy, learner)?, method, waiting: None, rounds: 0 })
    }

    /// Tells what the user states, if the method listens.
    ///
    /// # Errors
    /// What the learner says.
    pub fn onboard(&mut self, statements: &[Statement]) -> Result<(), UserError> {
        if self.method.onboarded { self.user.user().run(&mut Command::onboard(statements)) } else { Ok(()) }
    }

    /// The action of a learning round; `None` when the host is left alone. `expected` is for the oracle.
    ///
    /// # Errors
    /// What the learner says.
    pub fn choose(
        &mut self,
        request: &Request<'_>,
        expected: impl Fn(Action) -> f64,
    ) -> Result<Option<Action>, UserError> {
        if self.method.actor == Actor::Learner && self.method.draws {
            let decision = self.user.user().decide(request)?;
            self.waiting = Some(decision.id);
            return Ok(Some(decision.action));
        }
        self.settled(request, expected)
    }

    /// The action of a frozen round: no draw, and nothing to learn from.
    ///
    /// # Errors
    /// What the learner says.
    pub fn settled(
        &mut self,
        request: &Request<'_>,
        expected: impl Fn(Action) -> f64,
    ) -> Result<Option<Action>, UserError> {
        let mut allowed = request.feasible.set().iter();
        match self.method.actor {
            Actor::Host | Actor::InformedHost => Ok(None),
            Actor::Learner => self.user.user().recommend(request).map(|(action, _)| Some(action)),
            Actor::Uniform => {
                self.rounds += 1;
                let mut random = Random::new([
                    self.user.policy().settings().seed,
                    self.user.state().user(),
                    0x0d1e,
                    self.rounds,
                ]);
                Ok(allowed.nth(random.below(request.feasible.len())))
            }
            // Of equals the earliest, as everywhere.
            Actor::Oracle => {
                Ok(allowed
                    .reduce(|best, action| if expected(action) > expected(best) { action } else { best }))
            }
        }
    }

    /// The reward of the last choice, if the method learns; then what is settled is promoted, if the method promotes.
    /// Returns how far the reward was from what was expected.
    ///
    /// # Errors
    /// What the learner says.
    pub fn learn(&mut self, reward: f64) -> Result<Option<Update<f64>>, UserError> {
        let Some(id) = self.waiting.take().filter(|_| self.method.learns) else { return Ok(None) };
        let mut user = self.user.user();
        let update = user.feedback(id, reward)?;
        if self.method.promotes {
            user.promote(0)?;
        }
        Ok(Some(update))
    }

    /// The reward of an action chosen elsewhere, if the method learns.
    ///
    /// # Errors
    /// What the learner says.
    pub fn observe(&mut self, context: &Context, action: Action, reward: f64) -> Result<(), UserError> {
        if self.method.learns {
            self.user.user().observe(context, action, reward)?;
        }
        Ok(())
    }

    /// How a contrast stands.
    ///
    /// # Errors
    /// What the learner says.
    pub fn assess(&mut self, comparison: &Comparison) -> Result<Assessment, UserError> {
        self.user.user().assess(comparison)
    }

    /// The learner.
    #[must_use]
    pub const fn learner(&self) -> &HostLearner<f64> {
        self.user.learner()
    }

    /// The method.
    #[must_use]
    pub const fn method(&self) -> &Method {
        &self.method
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fable_core::Feasible;
    use fable_core::catalog::{AGENT, RUBRIC, TAU2};

    #[test]
    fn a_flat_catalog_has_a_coordinate_per_action_and_task() {
        assert_eq!(flat(&RUBRIC).unwrap().dimension(), 27);
        assert_eq!(flat(&TAU2).unwrap().dimension(), 18);
        assert_eq!(flat(&AGENT).unwrap().dimension(), 1800);
    }

    #[test]
    fn who_does_not_learn_chooses_without_a_learner() {
        let policy = Policy::new(&TAU2, Settings::PAPER).unwrap();
        let (context, all) = (TAU2.context(None, []).unwrap(), Feasible::all(&TAU2));
        let request = Request::new(&context, &all);
        let choices = |method, rounds: usize| {
            let mut agent = Agent::new(&policy, method, 3).unwrap();
            let value = |action: Action| -(action.index() as f64 - 7.0).abs();
            let chosen = (0..rounds)
                .map(|_| agent.choose(&request, value).unwrap().map(Action::index))
                .collect::<Vec<_>>();
            assert_eq!(agent.learner().state().rounds(), 0, "{}", method.name);
            chosen
        };
        assert_eq!(choices(HOST, 1), [None]);
        assert_eq!(choices(INFORMED_HOST, 1), [None]);
        assert_eq!(choices(ORACLE, 1), [Some(7)]);
        let mut uniform = choices(UNIFORM, 500);
        uniform.sort_unstable();
        uniform.dedup();
        assert_eq!(uniform.len(), 18);
        let rule = choices(RULE_ONLY, 2);
        assert_eq!(rule[0], rule[1]);
    }
}
