//! Logs of simulated users, whose truth is known.

use super::error::LogFlaw;
use super::log::Record;
use crate::simulate::SimulatedUser;
use fable_core::journal::Command;
use fable_core::{Exploration, Feasible, HostUser, Policy, Request};

/// A log of a policy that learns while it lives with a simulated user: so many rounds, everything allowed, and propensities
/// from so many draws; an optimistic policy's are exact, and are not trivial if it [probes](fable_core::Settings::probe).
///
/// # Errors
/// A policy of another catalog than the user's.
pub fn simulate(
    user: &SimulatedUser<'_>,
    policy: &Policy<'_, f32>,
    rounds: u32,
    draws: u32,
) -> Result<Vec<Record>, LogFlaw> {
    let catalog = policy.catalog();
    let mut life = HostUser::<f32, 1>::new(policy, "")?;
    let mut learner = life.user();
    let feasible = Feasible::all(catalog);
    let mut log = Vec::new();
    for (round, line) in (1..=rounds).zip(1..) {
        let context = user.request(round)?.context;
        let request = Request::new(&context, &feasible);
        let mut propensities = vec![0.0; catalog.actions()];
        learner.propensities(&request, draws, &mut propensities)?;
        let decision = learner.decide(&request)?;
        let (action, reward) = (decision.action, user.reward(round, &context, decision.action));
        learner.run(&mut Command::feedback(decision.id, reward))?;
        let (user, defaults) = (String::new(), None);
        let draws = (!matches!(policy.settings().exploration, Exploration::Optimistic(_))).then_some(draws);
        log.push(Record { line, user, context, feasible, defaults, action, reward, propensities, draws });
    }
    Ok(log)
}
