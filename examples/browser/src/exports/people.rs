//! What is asked about the simulated user, and about the people of the page beyond what the package answers.

use crate::answer::Wealth;
use crate::simulation::Simulation;
use crate::team;
use alloc::boxed::Box;
use alloc::vec::Vec;
use fable_core::Context;
use fable_core::preference::Trial;
use fable_js::{AGENT, Refusal, call, read, tell};
use fable_simulate::scenarios;
use serde::Deserialize;
use spin::Mutex;

/// In a box: a static of its own size would be zeros in the module's file.
static SIMULATION: Mutex<Option<Box<Simulation>>> = Mutex::new(None);

/// Runs a call about the simulated user; that of seed 0 if nobody was met yet.
fn simulation<A>(work: impl FnOnce(&mut Simulation) -> Result<A, Refusal>) -> Result<A, Refusal> {
    let mut simulation =
        SIMULATION.try_lock().ok_or_else(|| Refusal::new("internal", "an earlier call was cut short"))?;
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

/// Meets the simulated user of a seed; of the team, if so.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn page_meet(seed: u32, of_team: u32) -> i32 {
    tell(|_, _| {
        let met = if of_team == 0 {
            Simulation::new(u64::from(seed))?
        } else {
            Simulation::of_team(u64::from(seed))?
        };
        simulation(|simulation| {
            *simulation = met;
            Ok(())
        })
    })
}

/// Has the simulated user change their mind at the rounds in the buffer.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn page_turn() -> i32 {
    tell(|_, asked| {
        let rounds: Vec<u32> = read(asked)?;
        simulation(|simulation| {
            simulation.turn(rounds);
            Ok(())
        })
    })
}

/// The simulated user's reward of an action in a round, and its mean.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn page_rate(round: u32, action: u32) -> i32 {
    tell(|_, _| simulation(|simulation| simulation.rate(round, action_of(action)?)))
}

/// What coins have shown so far to a user of the package.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn page_wealth(user: u32) -> i32 {
    tell(|module, _| {
        let user = module.life(user)?.user();
        let contrasts = 0..AGENT.definition().contrasts.len();
        let wealth = contrasts
            .map(|contrast| user.trial(contrast).map(Wealth::from))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(wealth)
    })
}

/// The fitted prior, as a file.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn page_prior() -> i32 {
    call(|_, _| team::prior())
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
        let feasible: Vec<u16> = read(asked)?;
        simulation(|simulation| simulation.respond(round, action_of(action)?, feasible))
    })
}

fn action_of(number: u32) -> Result<u16, Refusal> {
    u16::try_from(number).map_err(|_| Refusal::new("unknown_name", "there is no such action"))
}

impl From<Trial> for Wealth {
    fn from(Trial { trials, e_value, needed, certified, .. }: Trial) -> Self {
        Self { coins: trials, wealth: e_value, needed, certified: certified.sign() }
    }
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
