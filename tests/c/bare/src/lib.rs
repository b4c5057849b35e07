//! The program of `size.c` in Rust: what the interface to C adds is the difference of the two images.

#![no_std]

#[path = "../../reminders.rs"]
mod reminders;

use fable_core::{Context, Feasible, Learner, Request, User, Workspace};
use reminders::{CATALOG, POLICY};

/// Decisions that can wait, as in the library for C.
const ROOM: usize = 8;

static LEVELS: [f32; 4] = [0.0, 0.25, 0.75, 1.0];
static REWARDS: [f64; 8] = [-1.0, -0.75, -0.5, -0.25, 0.25, 0.5, 0.75, 1.0];

struct Memory {
    learner: Learner<f32, [f32; CATALOG.state_len()], ROOM>,
    workspace: Workspace<f32, [f32; CATALOG.workspace_len()]>,
    #[cfg(feature = "record")]
    snapshot: [u8; fable_core::record::snapshot::max_len::<f32>(&CATALOG, ROOM)],
}

static mut MEMORY: Memory = Memory {
    learner: Learner::new(&CATALOG),
    workspace: Workspace::new(&CATALOG),
    #[cfg(feature = "record")]
    snapshot: [0; fable_core::record::snapshot::max_len::<f32>(&CATALOG, ROOM)],
};

/// The program.
#[unsafe(no_mangle)]
pub extern "C" fn play() -> i32 {
    // SAFETY: it is called once.
    let memory = unsafe { (&raw mut MEMORY).as_mut() };
    i32::from(memory.and_then(run).is_none())
}

#[cfg(feature = "instruct")]
struct Text([u8; 64], usize);

#[cfg(feature = "instruct")]
impl core::fmt::Write for Text {
    fn write_str(&mut self, text: &str) -> core::fmt::Result {
        for byte in text.bytes() {
            *self.0.get_mut(self.1).ok_or(core::fmt::Error)? = byte;
            self.1 += 1;
        }
        Ok(())
    }
}

fn run(memory: &mut Memory) -> Option<()> {
    memory.learner.start(POLICY.get(), 1).ok()?;
    let mut user = memory.learner.bind(POLICY.get(), &mut memory.workspace).ok()?;
    #[cfg(feature = "onboard")]
    {
        let direction = fable_core::catalog::Direction::prefer(
            &CATALOG,
            &[(2, 0)],
            &[(2, 1)],
            fable_core::catalog::When::Always,
        )
        .ok()?;
        user.onboard(&fable_core::Statement { direction, response: 1.0, precision: 1.0 }).ok()?;
    }
    for round in 0..120_u16 {
        play_round(&mut user, round)?;
    }
    #[cfg(feature = "promote")]
    user.promote(0).ok()?;
    #[cfg(feature = "record")]
    {
        let length = memory.learner.snapshot().ok()?.read(&mut memory.snapshot);
        memory.learner.restore(POLICY.get(), memory.snapshot.get(..length)?).ok()?;
    }
    Some(())
}

fn play_round(user: &mut User<'_, f32>, round: u16) -> Option<()> {
    let level = |round: u16| LEVELS.get(usize::from(round & 3)).copied();
    let signals = [level(round)?, level(round >> 2)?];
    let context = Context::new(&CATALOG, Some(usize::from(round & 1)), &signals).ok()?;
    let decision = user.decide(&Request::new(&context, &Feasible::all(&CATALOG))).ok()?;
    #[cfg(feature = "instruct")]
    {
        let mut text = Text([0; 64], 0);
        CATALOG.instruct(decision.action, &mut text).ok()?;
    }
    #[cfg(feature = "explain")]
    {
        let why = user.explain(decision.id, None, None).ok()?;
        if why.shares().map(|share| share.chosen).sum::<f64>().is_nan() {
            return None;
        }
    }
    user.feedback(decision.id, *REWARDS.get(usize::from((decision.action.0 + round) & 7))?).ok()?;
    Some(())
}

#[cfg(feature = "library")]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}
