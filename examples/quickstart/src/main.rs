//! Shows: a user who says one thing and likes another, and a learner that finds out from one number per round.

use fable_core::catalog::agent::{self, AGENT, STYLE, Style, Tool};
use fable_core::catalog::{Direction, When};
use fable_core::{Feasible, HostUser, Policy, Request, Settings, Statement};

/// The hidden taste of the simulated user.
fn reaction(tool: Tool, style: Style) -> f64 {
    let style = if matches!(style, Style::Detailed | Style::StepByStep) { 0.6 } else { -0.4 };
    let tool = if tool == Tool::WebSearch { -0.5 } else { 0.1 };
    style + tool
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let policy = Policy::new(&AGENT, Settings { seed: 7, ..Settings::default() })?;
    let mut ana = HostUser::<f32>::new(&policy, "ana")?;

    // The user says that concise is better than detailed. It is a hint, not a rule, and here it is wrong.
    let direction = Direction::prefer(
        &AGENT,
        &[(STYLE, Style::Concise.index())],
        &[(STYLE, Style::Detailed.index())],
        When::Always,
    )?;
    ana.user().onboard(&Statement { direction, response: 1.0, precision: 4.0 })?;

    // Running code is never allowed, whatever is learned.
    let feasible = Feasible::all(&AGENT).forbid(&AGENT, &[("tool", "code_execution")])?;
    let mut total = 0.0;
    for (round, task) in (1_u8..=100).zip(AGENT.definition().tasks.iter().copied().cycle().skip(1)) {
        let (memory, tool) = (f32::from(round % 4) / 4.0, f32::from(round % 3) / 3.0);
        let signals = [("risk", 0.1), ("ambiguity", 0.2), ("memory_need", memory), ("tool_need", tool)];
        let context = AGENT.context(task, signals)?;
        let decision = ana.decide(&context, &feasible)?;
        let (_, tool, style) = agent::parts(decision.action).ok_or("an action of this catalog")?;
        let reward = reaction(tool, style);
        ana.feedback(decision.id, reward)?;
        total += reward;
        if round % 25 == 0 {
            println!("rounds {:>3} to {round:>3}: mean reward {:+.2}", round - 24, total / 25.0);
            total = 0.0;
        }
    }

    let signals = [("risk", 0.1), ("ambiguity", 0.2), ("memory_need", 0.7), ("tool_need", 0.8)];
    let context = AGENT.context("coding", signals)?;
    let (action, score) = ana.user().recommend(&Request::new(&context, &feasible))?;
    let mut instruction = String::new();
    AGENT.instruct(action, &mut instruction)?;
    println!("for coding now: \"{instruction}\" (expected reward {score:+.2})");
    Ok(())
}
