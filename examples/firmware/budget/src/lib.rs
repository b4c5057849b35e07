//! What a round costs on a board, printed as one line of `key=value` for `budget.sh`.
//!
//! * `decide` and `learn`: instructions of one [`Learner::decide`] and one [`Learner::feedback`], on average over [`ROUNDS`]
//!   rounds behind [`WARM_UP`], and the dearest of them (`decide_max`, `learn_max`). They count under the board's `-icount`.
//! * `stack`: the deepest the stack gets, in bytes, while the store is formatted, restored and compacted and the server, over the
//!   same store, answers every request of the protocol from a [`Script`] instead of the serial port; then the same
//!   from the store that is there. `stack_restore` and `stack_serve` are the parts.
//!
//! A fault in reply to any request, or a flash that fails, ends QEMU with code 1.

#![no_std]

pub mod script;

pub use {boards, fable_core, static_cell};
#[cfg(target_arch = "arm")]
use {cortex_m as _, portable_atomic as _}; // a critical section, for static_cell where there is no compare-and-swap

use boards::{Board, exit, println, stack};
pub use device::{BoardStore, ROOM};
use device::{attend, open, place, restore};
use embedded_storage::nor_flash::{NorFlash, ReadNorFlash};
use fable_core::{Catalog, Context, Feasible, Learner, Policy, Request, Settings, Storage, Workspace};
use script::Script;
use static_cell::StaticCell;

/// Rounds before counting starts.
pub const WARM_UP: u32 = 20;
/// Rounds that are counted.
pub const ROUNDS: u32 = 100;

/// The whole program for a board and a catalog.
#[macro_export]
macro_rules! budget {
    ($board:ty, $catalog:ident) => {
        fn run<B: $crate::boards::Board>() -> ! {
            use $crate::fable_core::{Learner, Workspace, catalog::$catalog};
            use $crate::script::Script;
            use $crate::static_cell::{ConstStaticCell, StaticCell};
            static LEARNER: ConstStaticCell<Learner<f32, [f32; $catalog.state_len()], { $crate::ROOM }>> =
                ConstStaticCell::new(Learner::VACANT);
            static WORKSPACE: ConstStaticCell<Workspace<f32, [f32; $catalog.workspace_len()]>> =
                ConstStaticCell::new(Workspace::VACANT);
            static SCRIPT: ConstStaticCell<Script> = ConstStaticCell::new(Script::VACANT);
            static STORE: StaticCell<$crate::BoardStore<$board>> = StaticCell::new();
            $crate::measure::<$board, _, _>(&$catalog, LEARNER.take(), WORKSPACE.take(), SCRIPT.take(), &STORE)
        }

        $crate::boards::firmware!($board, run);
    };
}

/// Instructions of one kind of call.
#[derive(Clone, Copy, Default)]
struct Count {
    sum: u32,
    max: u32,
}

impl Count {
    fn add(&mut self, instructions: u32) {
        self.sum = self.sum.saturating_add(instructions);
        self.max = self.max.max(instructions);
    }
}

/// Measures, prints and ends.
pub fn measure<B: Board, S: Storage<f32>, W: Storage<f32>>(
    catalog: &'static Catalog<'static>,
    learner: &mut Learner<f32, S, ROOM>,
    workspace: &mut Workspace<f32, W>,
    script: &mut Script,
    store: &'static StaticCell<BoardStore<B>>,
) -> ! {
    let Ok(policy) = Policy::new(catalog, Settings::default()) else { fail("the settings are out of range") };
    let [mut decide, mut learn] = [Count::default(); 2];
    if rounds::<B, S, W>(&policy, learner, workspace, [&mut decide, &mut learn]).is_none() {
        fail("the learner refuses a round")
    }
    let (mut restore, mut serve) = (0, 0);
    if erase::<B>().is_none() {
        fail("the store cannot be erased")
    }
    let store = place::<B>(&policy, store);
    for _ in ["a new store", "the one there is"] {
        let (restored, served) = session::<B, S, W>(&policy, learner, workspace, script, store);
        restore = restored.max(restore);
        serve = served.max(serve);
    }
    println!(
        "budget board={} catalog={} decide={} decide_max={} learn={} learn_max={} stack={} stack_restore={restore} stack_serve={serve}",
        B::NAME,
        catalog.definition().name,
        decide.sum / ROUNDS,
        decide.max,
        learn.sum / ROUNDS,
        learn.max,
        restore.max(serve),
    );
    exit(0)
}

fn fail(why: &str) -> ! {
    println!("FAIL {why}");
    exit(1)
}

/// The context of a round: the tasks in turn, the signals between 0 and 1.
/// `None` for a catalog of more than 16 signals.
pub(crate) fn context(catalog: &Catalog<'_>, round: u32) -> Option<Context> {
    let definition = catalog.definition();
    let signals: [f32; 16] = core::array::from_fn(|signal| f32::from((round as usize + signal) as u8 % 5) / 4.0);
    let task = (round as usize).checked_rem(definition.tasks.len());
    Context::new(catalog, task, signals.get(..definition.signals.len())?).ok()
}

/// A reward in [-1, 1] that depends on the action, so that there is something to learn.
pub(crate) fn reward(round: u32, action: u16) -> f64 {
    f64::from((u32::from(action) * 7 + round * 3) % 9) / 4.0 - 1.0
}

#[inline(never)]
fn rounds<B: Board, S: Storage<f32>, W: Storage<f32>>(
    policy: &Policy<'_, f32>,
    learner: &mut Learner<f32, S, ROOM>,
    workspace: &mut Workspace<f32, W>,
    [decide, learn]: [&mut Count; 2],
) -> Option<()> {
    learner.start(policy, 1).ok()?;
    let feasible = Feasible::all(policy.catalog());
    for round in 0..WARM_UP + ROUNDS {
        let context = context(policy.catalog(), round)?;
        let request = Request::new(&context, &feasible);
        let (decision, deciding) = B::measure(|| learner.decide(policy, workspace, &request));
        let decision = decision.ok()?;
        let reward = reward(round, decision.action.0);
        let (update, learning) = B::measure(|| learner.feedback(policy, workspace, decision.id, reward));
        update.ok()?;
        if round >= WARM_UP {
            decide.add(deciding);
            learn.add(learning);
        }
    }
    Some(())
}

#[inline(never)]
fn erase<B: Board>() -> Option<()> {
    let mut flash = B::flash().ok()?;
    flash.erase(0, flash.capacity() as u32).ok()
}

/// In a stack frame of its own, which is not there when the stack is marked.
#[inline(never)]
fn reopen<B: Board>(policy: &Policy<'_, f32>, store: &mut BoardStore<B>) {
    *store = open::<B>(policy);
}

/// One life of the device: what `device::serve` does from power-on until the script ends. Returns the stack mark of restoring
/// and that of serving.
#[inline(never)]
fn session<B: Board, S: Storage<f32>, W: Storage<f32>>(
    policy: &Policy<'static, f32>,
    learner: &mut Learner<f32, S, ROOM>,
    workspace: &mut Workspace<f32, W>,
    script: &mut Script,
    store: &mut BoardStore<B>,
) -> (usize, usize) {
    stack::paint();
    reopen::<B>(policy, store);
    restore::<B, S, W>(policy, learner, workspace, store, || 1);
    let restore = stack::used();
    script.begin(policy.catalog(), learner.incarnation(), learner.rounds());
    stack::paint();
    attend(policy, learner, workspace, store, script);
    let serve = stack::used();
    if let Some(step) = script.refused() {
        println!("FAIL step {step}");
        exit(1)
    }
    (restore, serve)
}
