//! Shows: decisions, learning and restored snapshots on a board, bit for bit as on a host: the pinned runs of `fable-golden`,
//! as many as there is RAM for.
//!
//! The state is never on the stack: [`golden!`] keeps it in statics that are all zero, so they cost no flash either.

#![no_std]
#![no_main]

use core::panic::PanicInfo;
use fable_golden::Outcome;
use firmware::boards::{entry, exit, println};

/// Runs one of the pinned runs; true when it came to the pinned outcome.
///
/// `golden!(agent, AGENT, f32, AGENT_F32, agent_adapting, AGENT_F32_ADAPTED)` is the run `agent` over the catalog `AGENT` in `f32`. With a snapshot and another
/// outcome after it, the snapshot, which was made on a host, is then loaded in place and the run goes on from there.
macro_rules! golden {
    ($run:ident, $catalog:ident, $scalar:ty, $pinned:ident, $adapting:ident, $adapted:ident $(, $stored:ident, $resumed:ident)?) => {{
        use fable_core::{Learner, Workspace, catalog::$catalog};
        use fable_golden::{RING, SEED, $adapted, $adapting, $pinned, $run};
        use static_cell::ConstStaticCell;
        static LEARNER: ConstStaticCell<Learner<$scalar, [$scalar; $catalog.state_len()], RING>> =
            ConstStaticCell::new(Learner::vacant(&$catalog));
        static WORKSPACE: ConstStaticCell<Workspace<$scalar, [$scalar; $catalog.workspace_len()]>> =
            ConstStaticCell::new(Workspace::vacant(&$catalog));
        let (learner, workspace) = (LEARNER.take(), WORKSPACE.take());
        let passed = report(stringify!($pinned), $run(SEED, learner, workspace), $pinned);
        let passed = report(stringify!($adapted), $adapting(SEED, learner, workspace), $adapted) && passed;
        $(
            let resumed = fable_golden::resume(fable_golden::$stored, learner, workspace);
            let passed = report(stringify!($resumed), resumed, fable_golden::$resumed) && passed;
        )?
        passed
    }};
}

/// The same for the run in which a user goes to another catalog.
macro_rules! migrated {
    ($scalar:ty, $pinned:ident) => {{
        use fable_core::{Learner, Workspace, catalog::TAU2};
        use fable_golden::{NEXT, RING, $pinned};
        use static_cell::ConstStaticCell;
        const SCRATCH: usize =
            if TAU2.workspace_len() > NEXT.workspace_len() { TAU2.workspace_len() } else { NEXT.workspace_len() };
        static OLD: ConstStaticCell<Learner<$scalar, [$scalar; TAU2.state_len()], RING>> =
            ConstStaticCell::new(Learner::vacant(&TAU2));
        static NEW: ConstStaticCell<Learner<$scalar, [$scalar; NEXT.state_len()], RING>> =
            ConstStaticCell::new(Learner::vacant(&NEXT));
        static WORKSPACE: ConstStaticCell<Workspace<$scalar, [$scalar; SCRATCH]>> =
            ConstStaticCell::new(Workspace::over([0.0; SCRATCH]));
        let found = fable_golden::tau2_migrated(OLD.take(), NEW.take(), WORKSPACE.take());
        report(stringify!($pinned), found, $pinned)
    }};
}

/// Prints what a run came to and whether that is right.
fn report(name: &str, found: Outcome, pinned: Outcome) -> bool {
    let verdict = if found == pinned { "as pinned" } else { "NOT AS PINNED" };
    println!("{name} {found} {verdict}");
    found == pinned
}

#[entry]
fn main() -> ! {
    let passed = [
        golden!(tau2, TAU2, f32, TAU2_F32, tau2_adapting, TAU2_F32_ADAPTED, TAU2_F32_SNAPSHOT, TAU2_F32_RESUMED),
        migrated!(f32, TAU2_F32_MIGRATED),
        #[cfg(any(feature = "mps2", feature = "virt"))]
        migrated!(f64, TAU2_F64_MIGRATED),
        #[cfg(any(feature = "mps2", feature = "virt"))]
        golden!(tau2, TAU2, f64, TAU2_F64, tau2_adapting, TAU2_F64_ADAPTED, TAU2_F64_SNAPSHOT, TAU2_F64_RESUMED),
        #[cfg(not(any(feature = "hifive1", feature = "microbit")))]
        golden!(agent, AGENT, f32, AGENT_F32, agent_adapting, AGENT_F32_ADAPTED),
        #[cfg(any(feature = "mps2", feature = "virt"))]
        golden!(agent, AGENT, f64, AGENT_F64, agent_adapting, AGENT_F64_ADAPTED),
    ];
    exit(i32::from(passed.contains(&false)))
}

/// A panic is a failure, not a reason to start again.
#[panic_handler]
fn panicked(info: &PanicInfo<'_>) -> ! {
    println!("{info}");
    exit(1)
}
