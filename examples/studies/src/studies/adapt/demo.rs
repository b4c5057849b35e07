//! The lives of `fable demo`: how the first rounds of somebody new go, beside the rules alone.

use crate::parallel;
use crate::setup::{Setup, StudyError};
use fable_core::catalog::{AGENT, Part, agent};
use fable_core::host::HostLearner;
use fable_core::{Feasible, HostUser, Policy, Request, Rule, Settings, values};
use fable_simulate::SimulatedUser;

/// The user, the lives and the rule of the demo.
pub const USER: u64 = 4;
/// How many lives the demo's picture is the mean of.
pub const LIVES: usize = 60;
const NO_SANDBOX: &[Rule<'static>] =
    &[Rule::forbid("no sandbox", &[Part::new(agent::TOOL, values![agent::Tool::CodeExecution])])];

/// The mean reward of what is chosen, by life and round; `None` is the rules alone.
///
/// # Errors
/// What the learner says.
pub fn rewards(
    setup: &Setup,
    settings: Option<Settings<'static>>,
    user: u64,
    rounds: u32,
) -> Result<Vec<Vec<f64>>, StudyError> {
    let learns = settings.is_some();
    let policy =
        Policy::<f32>::new(&AGENT, Settings { seed: user, ..settings.unwrap_or(Settings::DEFAULT) })?;
    let allowed = Feasible::new(&AGENT, NO_SANDBOX)?;
    let person = SimulatedUser::new(&AGENT, user);
    parallel::map(setup, "demo", setup.scale(LIVES, 4), |life| {
        let person = person.clone().in_life(life as u64);
        let mut learner = HostLearner::for_policy(&policy);
        learner.start(&policy, life as u64)?;
        let mut companion: HostUser<'_, f32> = HostUser::from_learner(&policy, learner)?;
        let mut user = companion.user();
        let mut rewards = Vec::new();
        for round in 1..=rounds {
            let context = person.request(round)?.context;
            let request = Request::new(&context, &allowed);
            let action = if learns {
                let decision = user.decide(&request)?;
                user.feedback(decision.id, person.reward(round, &context, decision.action))?;
                decision.action
            } else {
                user.recommend(&request)?.0
            };
            rewards.push(person.expected(&context, action));
        }
        Ok(rewards)
    })
}
