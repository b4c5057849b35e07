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
/// `golden!(agent, AGENT, f32, AGENT_F32, agent_adapting, AGENT_F32_ADAPTED)` is the run `agent` over the catalog `AGENT` in `f32`. With a snapshot and two more
/// outcomes after it, the snapshot, which was made on a host, is then loaded in place and the run goes on from there; and the user of another run
/// goes to another catalog.
macro_rules! golden {
    ($run:ident, $catalog:ident, $scalar:ty, $pinned:ident, $adapting:ident, $adapted:ident $(, $stored:ident, $resumed:ident, $migrated:ident)?) => {{
        use fable_core::{Learner, Workspace, catalog::$catalog};
        use fable_golden::{RING, SEED, $adapted, $adapting, $pinned, $run};
        use static_cell::ConstStaticCell;
        static LEARNER: ConstStaticCell<Learner<$scalar, [$scalar; $catalog.state_len()], RING>> =
            ConstStaticCell::new(Learner::new(&$catalog));
        static WORKSPACE: ConstStaticCell<Workspace<$scalar, [$scalar; $catalog.workspace_len()]>> =
            ConstStaticCell::new(Workspace::new(&$catalog));
        let (learner, workspace) = (LEARNER.take(), WORKSPACE.take());
        let passed = report(stringify!($pinned), $run(SEED, learner, workspace), $pinned);
        let passed = report(stringify!($adapted), $adapting(SEED, learner, workspace), $adapted) && passed;
        $(
            let resumed = fable_golden::resume(fable_golden::$stored, learner, workspace);
            let passed = report(stringify!($resumed), resumed, fable_golden::$resumed) && passed;
            // The user goes to another catalog, which needs no more workspace.
            const { assert!(fable_golden::NEXT.workspace_len() <= $catalog.workspace_len()) };
            let next = {
                static NEXT: ConstStaticCell<Learner<$scalar, [$scalar; fable_golden::NEXT.state_len()], RING>> =
                    ConstStaticCell::new(Learner::new(&fable_golden::NEXT));
                NEXT.take()
            };
            let migrated = fable_golden::tau2_migrated(learner, next, workspace);
            let passed = report(stringify!($migrated), migrated, fable_golden::$migrated) && passed;
        )?
        passed
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
        golden!(
            tau2,
            TAU2,
            f32,
            TAU2_F32,
            tau2_adapting,
            TAU2_F32_ADAPTED,
            TAU2_F32_SNAPSHOT,
            TAU2_F32_RESUMED,
            TAU2_F32_MIGRATED
        ),
        #[cfg(any(feature = "mps2", feature = "virt"))]
        golden!(
            tau2,
            TAU2,
            f64,
            TAU2_F64,
            tau2_adapting,
            TAU2_F64_ADAPTED,
            TAU2_F64_SNAPSHOT,
            TAU2_F64_RESUMED,
            TAU2_F64_MIGRATED
        ),
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
