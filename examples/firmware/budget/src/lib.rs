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
use embedded_storage::nor_flash::ReadNorFlash;
use fable_core::record::snapshot::max_len;
use fable_core::{Catalog, Context, Feasible, Learner, Policy, Request, Settings, Storage, Workspace};
use fable_embedded::Server;
use fable_embedded::flash::{Blocking, Layout, Store, block_on};
use script::Script;

/// Decisions that can wait for their reward, as in `device`.
pub const ROOM: usize = 8;
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
            use $crate::static_cell::ConstStaticCell;
            static LEARNER: ConstStaticCell<Learner<f32, [f32; $catalog.state_len()], { $crate::ROOM }>> =
                ConstStaticCell::new(Learner::VACANT);
            static WORKSPACE: ConstStaticCell<Workspace<f32, [f32; $catalog.workspace_len()]>> =
                ConstStaticCell::new(Workspace::VACANT);
            static SCRIPT: ConstStaticCell<Script> = ConstStaticCell::new(Script::VACANT);
            $crate::measure::<B, _, _>(&$catalog, LEARNER.take(), WORKSPACE.take(), SCRIPT.take())
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
) -> ! {
    let Ok(policy) = Policy::new(catalog, Settings::default()) else { fail("the settings are out of range") };
    let [mut decide, mut learn] = [Count::default(); 2];
    if rounds::<B, S, W>(&policy, learner, workspace, [&mut decide, &mut learn]).is_none() {
        fail("the learner refuses a round")
    }
    let (mut restore, mut serve) = (0, 0);
    for new in [true, false] {
        let (restored, served) = session::<B, S, W>(&policy, learner, workspace, script, new);
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

/// One life of the device: what `device::serve` does from power-on, a new store or the one there is, until the script ends. Returns
/// the stack mark after restoring and that of serving.
#[inline(never)]
fn session<B: Board, S: Storage<f32>, W: Storage<f32>>(
    policy: &Policy<'static, f32>,
    learner: &mut Learner<f32, S, ROOM>,
    workspace: &mut Workspace<f32, W>,
    script: &mut Script,
    new: bool,
) -> (usize, usize) {
    stack::paint();
    let store = restore::<B, S, W>(policy, learner, workspace, new);
    let restore = stack::used();
    script.begin(policy.catalog(), learner.incarnation(), learner.rounds());
    stack::paint();
    attend::<B, S, W>(policy, learner, workspace, script, store);
    let serve = stack::used();
    if let Some(step) = script.refused() {
        println!("FAIL step {step}");
        exit(1)
    }
    (restore, serve)
}

#[inline(never)]
fn attend<B: Board, S: Storage<f32>, W: Storage<f32>>(
    policy: &Policy<'_, f32>,
    learner: &mut Learner<f32, S, ROOM>,
    workspace: &mut Workspace<f32, W>,
    script: &mut Script,
    store: Store<Blocking<B::Flash>>,
) {
    let Ok(mut server) = Server::new(policy, learner, workspace, store) else { fail("the learner was not restored") };
    let Ok(()) = server.serve(script);
}

/// As in `device`, but a store is formatted when it is to be new, not when it is blank.
#[inline(never)]
fn restore<B: Board, S: Storage<f32>, W: Storage<f32>>(
    policy: &Policy<'_, f32>,
    learner: &mut Learner<f32, S, ROOM>,
    workspace: &mut Workspace<f32, W>,
    new: bool,
) -> Store<Blocking<B::Flash>> {
    let Ok(flash) = B::flash() else { fail("the store cannot be opened") };
    let length = u32::try_from(flash.capacity()).unwrap_or(u32::MAX);
    let Ok(layout) = Layout::try_new::<Blocking<B::Flash>>(0, length, max_len::<f32>(policy.catalog(), ROOM)) else {
        fail("the store is too small for this catalog")
    };
    let mut store = Store::new(Blocking(flash), layout);
    let formatted = if new { apart(|| block_on(store.format(policy, 1, ROOM as u16))) } else { Ok(()) };
    let restored = formatted.and_then(|()| apart(|| block_on(store.restore(policy, learner, workspace))));
    let restored = restored.and_then(|_| if new { apart(|| block_on(store.compact(learner))) } else { Ok(()) });
    if restored.is_err() {
        fail("the store is not restored")
    }
    store
}

/// In a stack frame of its own, as in `device`.
#[inline(never)]
fn apart<T>(work: impl FnOnce() -> T) -> T {
    work()
}
