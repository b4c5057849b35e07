//! Shows: no panic is reachable in `fable-core`. With `panic-never` as the panic handler this program links only if the
//! compiler has proved every panicking branch away. It is built, never run.

#![no_std]
#![no_main]

use fable_core::catalog::AGENT;
use fable_core::event::DecisionId;
use fable_core::{Action, Context, Event, Feasible, Learner, Policy, Request, Rule, Settings, Statement, Workspace};
use panic_never as _;

/// Everything comes from outside, so that nothing can be computed at build time.
pub struct World {
    learner: Learner<f32, [f32; AGENT.state_len()], 8>,
    workspace: Workspace<f32, [f32; AGENT.workspace_len()]>,
    settings: Settings<'static>,
    rules: &'static [Rule<'static>],
    signals: &'static [f32],
    event: Event,
    statement: Statement,
    id: DecisionId,
    reward: f64,
    action: u16,
    defaults: Option<&'static [f64]>,
    propensities: &'static mut [f64],
}

fn live(world: &mut World) -> Option<()> {
    let policy = Policy::new(&AGENT, world.settings).ok()?;
    let (learner, workspace) = (&mut world.learner, &mut world.workspace);
    learner.start(&policy, world.id.user).ok()?;
    let context = Context::new(&AGENT, Some(usize::from(world.action)), world.signals).ok()?;
    let feasible = Feasible::new(&AGENT, world.rules).ok()?;
    learner.onboard(&policy, workspace, world.statement.clone()).ok()?;
    learner.decide(&policy, workspace, &Request { defaults: world.defaults, ..Request::new(&context, &feasible) }).ok()?;
    learner.decide_or_default(&policy, workspace, &context, world.rules, world.defaults).ok()?;
    learner.feedback(&policy, workspace, world.id, world.reward).ok()?;
    learner.observe(&policy, workspace, &context, Action(world.action), world.reward).ok()?;
    learner.recommend(&policy, workspace, &Request { defaults: world.defaults, ..Request::new(&context, &feasible) }).ok()?;
    learner.predict(&policy, workspace, &context, Action(world.action), Some(world.reward)).ok()?;
    learner.propensities(&policy, workspace, &Request { defaults: world.defaults, ..Request::new(&context, &feasible) }, 10, world.propensities).ok()?;
    learner.check(&policy, workspace, &world.event).ok()?.apply();
    learner.forget(&policy, workspace).ok()
}

/// The entry; the linker keeps what it reaches.
#[unsafe(no_mangle)]
pub extern "C" fn _start(world: &mut World) -> bool {
    live(world).is_some()
}
