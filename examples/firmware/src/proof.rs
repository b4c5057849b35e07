//! Shows: no panic is reachable in `fable-core`, nor in the server of `fable-embedded` from the bytes of a port to the learner
//! and back. With `panic-never` as the panic handler this program links only if the compiler has proved every panicking branch
//! away. It is built, never run.

#![no_std]
#![no_main]

use core::convert::Infallible;
use core::fmt::Write as _;
use embedded_io::{ErrorType, Read, Write};
use fable_core::catalog::{AGENT, Rename};
use fable_core::journal::{Command, Event};
use fable_core::migrate::Migration;
use fable_core::preference::Comparison;
use fable_core::record::{Header, Kind, Verifier, decode_event, encode_event};
use fable_core::{
    Action, Context, DecisionId, Feasible, Learner, Policy, Request, Rule, Settings, Statement, Workspace,
};
use fable_embedded::{Device, RamStore, Server};
use panic_never as _;

/// Everything comes from outside, so that nothing can be computed at build time.
pub struct World {
    learner: Learner<f32, [f32; AGENT.state_len()], 8>,
    next: Learner<f32, [f32; AGENT.state_len()], 8>,
    workspace: Workspace<f32, [f32; AGENT.workspace_len()]>,
    renames: &'static [Rename<'static>],
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
    text: heapless::String<1024>,
    bytes: &'static [u8],
    buffer: &'static mut [u8],
    port: Port,
}

/// A register that bytes are read from and written to.
pub struct Port {
    received: fn() -> Option<u8>,
    send: fn(u8),
}

impl ErrorType for Port {
    type Error = Infallible;
}

impl Read for Port {
    fn read(&mut self, bytes: &mut [u8]) -> Result<usize, Infallible> {
        let mut count = 0;
        for slot in bytes {
            let Some(byte) = (self.received)() else { break };
            *slot = byte;
            count += 1;
        }
        Ok(count)
    }
}

impl Write for Port {
    fn write(&mut self, bytes: &[u8]) -> Result<usize, Infallible> {
        for byte in bytes {
            (self.send)(*byte);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
}

fn live(world: &mut World, policy: &Policy<'_, f32>) -> Option<()> {
    let (learner, workspace) = (&mut world.learner, &mut world.workspace);
    learner.start(policy, world.id.user).ok()?;
    let context = Context::new(&AGENT, Some(usize::from(world.action)), world.signals).ok()?;
    let feasible = Feasible::new(&AGENT, world.rules).ok()?;
    let request =
        Request { context: &context, feasible: &feasible, defaults: world.defaults, time: world.id.round };
    let action = Action(world.action);
    let mut user = learner.bind(policy, workspace).ok()?;
    user.onboard(&world.statement).ok()?;
    user.decide(&request).ok()?;
    user.decide_or_default(&context, world.rules, world.defaults, world.id.round).ok()?;
    user.feedback_at(world.id, world.reward, world.id.round).ok()?;
    user.observe(&context, action, world.reward).ok()?;
    user.recommend(&request).ok()?;
    user.predict(&context, action, Some(world.reward)).ok()?;
    user.propensities(&request, 10, world.propensities).ok()?;
    user.expire(world.id.round).ok()?;
    let over = Action(world.id.incarnation as u16);
    user.assess(&Comparison { context, prefer: action, over, total: true }).ok()?;
    user.promote(world.id.round).ok()?;
    user.trial(usize::from(world.action)).ok()?;
    world.reward =
        user.probe_outcomes(world.id).map(|probe| f64::from(probe.expected)).fold(world.reward, f64::max);
    user.write_profile(&mut world.text).ok()?;
    let why = user.explain(world.id, world.defaults, Some(action)).ok()?;
    write!(world.text, "{why}").ok()?;
    user.check(&world.event).ok()?.apply();
    let mut command = Command::decide(request).scored();
    while let Some(step) = user.next(&mut command).ok()? {
        step.apply();
    }
    user.run(&mut Command::feedback(world.id, world.reward)).ok()?;
    user.forget().ok()?;

    world.event = decode_event(&AGENT, world.bytes).ok()?;
    let header = Header::decode(world.bytes).ok()?;
    header.admit(Kind::Journal, policy).ok()?;
    let used = encode_event(&world.event, world.buffer).ok()?.len();
    let mut snapshot = learner.snapshot().ok()?;
    let written = snapshot.read(world.buffer) + used;
    let mut verifier = Verifier::new(policy);
    verifier.push(world.bytes).ok()?;
    let verified = verifier.finish().ok()?;
    learner.clear();
    let mut loader = learner.load(policy, verified).ok()?;
    loader.push(world.buffer.get(..written)?).ok()?;
    loader.finish().ok()?;
    learner.restore(policy, world.bytes).ok()
}

fn migrate(world: &mut World, policy: &Policy<'_, f32>) -> Option<()> {
    let migration = Migration::new(policy, policy, world.renames).ok()?;
    migration.carry(&mut world.learner, &mut world.next, &mut world.workspace).ok().map(|_| ())
}

fn serve(world: &mut World, policy: &Policy<'_, f32>) -> Option<()> {
    world.learner.start(policy, world.id.user).ok()?;
    let user = world.learner.bind(policy, &mut world.workspace).ok()?;
    let mut store = RamStore::<4096>::EMPTY;
    Server::new(Device::new(user, &mut store)).serve(&mut world.port).ok()
}

/// The entry; the linker keeps what it reaches.
#[allow(unsafe_code, reason = "a name for the linker")]
#[unsafe(no_mangle)]
pub extern "C" fn _start(world: &mut World) -> bool {
    let Ok(policy) = Policy::new(&AGENT, world.settings) else { return false };
    live(world, &policy).is_some() && migrate(world, &policy).is_some() && serve(world, &policy).is_some()
}
