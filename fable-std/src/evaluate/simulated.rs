//! Logs of simulated users, whose truth is known.

use super::error::LogFlaw;
use super::log::Record;
use crate::simulate::SimulatedUser;
use fable_core::{Feasible, Learner, Policy, Request, Workspace, user_hash};

/// A log of a policy that learns while it lives with a simulated user: so many rounds, everything allowed, and propensities
/// from so many draws.
///
/// # Errors
/// A policy of another catalog than the user's.
pub fn simulate(user: &SimulatedUser<'_>, policy: &Policy<'_, f32>, rounds: u32, draws: u32) -> Result<Vec<Record>, LogFlaw> {
    let catalog = policy.catalog();
    let mut learner = Learner::<f32, Vec<f32>, 1>::over(vec![0.0; catalog.state_len()]);
    let mut workspace = Workspace::over(vec![0.0; catalog.workspace_len()]);
    learner.start(policy, user_hash(""))?;
    let feasible = Feasible::all(catalog);
    let mut log = Vec::new();
    for (round, line) in (1..=rounds).zip(1..) {
        let context = user.request(round)?.context;
        let request = Request::new(&context, &feasible);
        let mut propensities = vec![0.0; catalog.actions()];
        learner.propensities(policy, &mut workspace, &request, draws, &mut propensities)?;
        let decision = learner.decide(policy, &mut workspace, &request)?;
        let (action, reward) = (decision.action, user.reward(round, &context, decision.action));
        learner.feedback(policy, &mut workspace, decision.id, reward)?;
        let (user, defaults, draws) = (String::new(), None, Some(draws));
        log.push(Record { line, user, context, feasible, defaults, action, reward, propensities, draws });
    }
    Ok(log)
}
