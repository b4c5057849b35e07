//! Shows: a user who says one thing and likes another, and a learner that finds out from one number per round.

use fable_core::catalog::Part;
use fable_core::catalog::agent::{self, AGENT, STYLE, Style, TOOL, Tool};
use fable_core::{Context, Direction, Feasible, Learner, Policy, Request, Rule, Settings, Statement, When, Workspace, user_hash};

/// What is never allowed, whatever is learned: running code.
const RULES: &[Rule<'static>] = &[Rule::forbid("sandbox", &[Part::new(TOOL, &[Tool::CodeExecution.index()])])];

/// The hidden taste of the simulated user.
fn reaction(tool: Tool, style: Style) -> f64 {
    let style = if matches!(style, Style::Detailed | Style::StepByStep) { 0.6 } else { -0.4 };
    let tool = if tool == Tool::WebSearch { -0.5 } else { 0.1 };
    style + tool
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let policy = Policy::new(&AGENT, Settings { seed: 7, ..Settings::default() })?;
    let mut learner = Learner::<f32, Vec<f32>, 8>::over(vec![0.0; AGENT.state_len()]);
    let mut workspace = Workspace::over(vec![0.0; AGENT.workspace_len()]);
    learner.start(&policy, user_hash("ana"))?;

    // The user says that concise is better than detailed. It is a hint, not a rule, and here it is wrong.
    let direction =
        Direction::prefer(&AGENT, &[(STYLE, Style::Concise.index())], &[(STYLE, Style::Detailed.index())], When::Always)?;
    learner.onboard(&policy, &mut workspace, Statement { direction, response: 1.0, precision: 4.0 })?;

    let feasible = Feasible::new(&AGENT, RULES)?;
    let mut total = 0.0;
    for round in 1_u8..=100 {
        let task = usize::from(round) % AGENT.definition().tasks.len();
        let context = Context::new(&AGENT, Some(task), &[0.1, 0.2, f32::from(round % 4) / 4.0, f32::from(round % 3) / 3.0])?;
        let decision = learner.decide(&policy, &mut workspace, &Request::new(&context, &feasible))?;
        let (_, tool, style) = agent::parts(decision.action).ok_or("an action of this catalog")?;
        let reward = reaction(tool, style);
        learner.feedback(&policy, &mut workspace, decision.id, reward)?;
        total += reward;
        if round % 25 == 0 {
            println!("rounds {:>3} to {round:>3}: mean reward {:+.2}", round - 24, total / 25.0);
            total = 0.0;
        }
    }

    let context = Context::new(&AGENT, AGENT.task("coding"), &[0.1, 0.2, 0.7, 0.8])?;
    let (action, score) = learner.recommend(&policy, &mut workspace, &Request::new(&context, &feasible))?;
    let mut instruction = String::new();
    AGENT.instruct(action, &mut instruction)?;
    println!("for coding now: \"{instruction}\" (expected reward {score:+.2})");
    Ok(())
}
