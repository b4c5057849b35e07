//! What the page calls beside the exports of the package, over the same border; `www/people.js` is the other side.
#![allow(unsafe_code, reason = "a name that the linker keeps counts as unsafe; nothing else in here does")]
#![allow(clippy::must_use_candidate, reason = "JavaScript does not see it")]

use crate::simulation::{Simulation, read as read_text};
use alloc::boxed::Box;
use alloc::vec::Vec;
use fable_core::Context;
use fable_js::{AGENT, Refusal, read, tell};
use fable_simulate::scenarios;
use serde::Deserialize;
use spin::Mutex;

/// In a box: a static of its own size would be zeros in the module's file.
static SIMULATION: Mutex<Option<Box<Simulation>>> = Mutex::new(None);

/// Runs a call about the simulated user; that of seed 0 if nobody was met yet.
fn simulation<A>(work: impl FnOnce(&mut Simulation) -> Result<A, Refusal>) -> Result<A, Refusal> {
    let mut simulation = SIMULATION.try_lock().ok_or_else(|| Refusal::new("internal", "an earlier call was cut short"))?;
    match &mut *simulation {
        Some(simulation) => work(simulation),
        none => work(none.insert(Box::new(Simulation::new(0)?))),
    }
}

/// Requests to choose from.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn page_requests() -> i32 {
    tell(|_, _| Ok(scenarios(&AGENT).iter().map(|scenario| scenario.text).collect::<Vec<_>>()))
}

/// Meets the simulated user of a seed.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn page_meet(seed: u32) -> i32 {
    tell(|_, _| {
        let met = Simulation::new(u64::from(seed))?;
        simulation(|simulation| {
            *simulation = met;
            Ok(())
        })
    })
}

/// Reads the request in the buffer.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn page_read() -> i32 {
    tell(|_, text| read_text(core::str::from_utf8(text).map_err(|_| Refusal::new("bad_request", "the text is not UTF-8"))?))
}

/// The simulated user asks.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn page_ask(round: u32) -> i32 {
    tell(|_, _| simulation(|simulation| simulation.ask(round)))
}

/// The simulated user reacts to an action; the buffer has those that were feasible.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn page_respond(round: u32, action: u32) -> i32 {
    tell(|_, asked| {
        let action = u16::try_from(action).map_err(|_| Refusal::new("unknown_name", "there is no such action"))?;
        let feasible: Vec<u16> = read(asked)?;
        simulation(|simulation| simulation.respond(round, action, feasible))
    })
}

#[derive(Deserialize)]
struct Where {
    task: Option<u8>,
    signals: Vec<f32>,
    sliders: Vec<(u8, u8, u8)>,
}

/// What is believed about a user of the package, with what is true if it is the simulated one.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn page_beliefs(user: u32, simulated: u32) -> i32 {
    tell(|module, asked| {
        let Where { task, signals, sliders } = read(asked)?;
        let context = Context::new(&AGENT, task.map(usize::from), &signals)?;
        let life = module.life(user)?;
        simulation(|simulation| simulation.beliefs(life, &context, &sliders, simulated != 0))
    })
}
