//! Runs the pinned runs of `fable-golden` on a board and reports through semihosting; a binary per board says which.
//!
//! The state is never on the stack: [`golden!`] keeps it in statics that are all zero, so they cost no flash either.

#![no_std]

#[cfg(target_arch = "arm")]
pub use cortex_m_rt::entry;
#[cfg(target_arch = "riscv32")]
pub use riscv_rt::entry;
#[cfg(target_arch = "arm")]
use {cortex_m as _, portable_atomic as _}; // a critical section, for static_cell where there is no compare-and-swap

pub use {fable_core, fable_golden, static_cell};

use fable_golden::Outcome;
use semihosting::{println, process};

/// Runs one of the pinned runs; true when it came to the pinned outcome.
///
/// `golden!(agent, AGENT, f32, AGENT_F32)` is the run `agent` over the catalog `AGENT` in `f32`. With a snapshot and another
/// outcome behind it, the snapshot, which was made on a host, is then loaded in place and the run goes on from there.
#[macro_export]
macro_rules! golden {
    ($run:ident, $catalog:ident, $scalar:ty, $pinned:ident $(, $stored:ident, $resumed:ident)?) => {{
        use $crate::fable_core::{Learner, Workspace, catalog::$catalog};
        use $crate::fable_golden::{RING, SEED, $pinned, $run};
        use $crate::static_cell::ConstStaticCell;
        static LEARNER: ConstStaticCell<Learner<$scalar, [$scalar; $catalog.state_len()], RING>> =
            ConstStaticCell::new(Learner::VACANT);
        static WORKSPACE: ConstStaticCell<Workspace<$scalar, [$scalar; $catalog.workspace_len()]>> =
            ConstStaticCell::new(Workspace::VACANT);
        let (learner, workspace) = (LEARNER.take(), WORKSPACE.take());
        let passed = $crate::report(stringify!($pinned), $run(SEED, learner, workspace), $pinned);
        $(
            use $crate::fable_golden::{$stored, $resumed, resume};
            let passed = $crate::report(stringify!($resumed), resume($stored, learner, workspace), $resumed) && passed;
        )?
        passed
    }};
}

/// Prints what a run came to and whether that is right.
#[must_use]
pub fn report(name: &str, found: Outcome, pinned: Outcome) -> bool {
    let verdict = if found == pinned { "as pinned" } else { "NOT AS PINNED" };
    println!("{name} {found} {verdict}");
    found == pinned
}

/// Ends QEMU with code 0 when all went well and 1 otherwise.
pub fn exit(passed: bool) -> ! {
    process::exit(i32::from(!passed))
}
