//! Shows: what a round costs on a board, printed as one line of `key=value` for `budget.sh`.
//!
//! * `decide` and `learn`: instructions of one [`decide`](fable_core::User::decide) and one [`feedback`](fable_core::User::feedback), on average over [`ROUNDS`]
//!   rounds after [`WARM_UP`], and the dearest of them (`decide_max`, `learn_max`), of the paper's learner, which draws; `optimistic` is a
//!   `decide` with the default settings, `probed` one that also tosses coins, as [`Settings::PROBING`] says. They count under the board's `-icount`.
//! * `stack`: the deepest the stack gets, in bytes, while the store is formatted, restored and compacted and the server, over the
//!   same store, answers every request of the protocol from a [`Script`] instead of the serial port; then the same
//!   from the store that is there. `stack_restore` and `stack_serve` are the parts.
//!
//! A fault in reply to any request, or a flash that fails, ends QEMU with code 1.

#![no_std]
#![no_main]

mod script;

use embedded_storage::nor_flash::{NorFlash, ReadNorFlash};
use fable_core::journal::{Event, Step};
use fable_core::posterior::Storage;
use fable_core::{Catalog, Context, Feasible, Learner, Policy, Request, Settings, Workspace};
use firmware::boards::{Board, Here, exit, println, stack};
use firmware::device::{BoardStore, CATALOG, Parts, ROOM, attend, open, place, restore};
use script::Script;
use static_cell::ConstStaticCell;

/// Rounds before counting starts.
const WARM_UP: u32 = 20;
/// Rounds that are counted.
const ROUNDS: u32 = 100;

firmware::firmware!(measure);

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

/// A constant, as that of the device.
static POLICY: Policy<'static, f32> = match Policy::new(&CATALOG, Settings::PROBING) {
    Ok(policy) => policy,
    Err(_) => panic!("a setting is out of its range"),
};

/// Measures, prints and ends.
fn measure() -> ! {
    static SCRIPT: ConstStaticCell<Script> = ConstStaticCell::new(Script::EMPTY);
    let (Parts { learner, workspace, store }, script) = (Parts::take(), SCRIPT.take());
    let [mut decide, mut optimistic, mut probed, mut learn] = [Count::default(); 4];
    if rounds(Settings::PAPER, learner, workspace, [&mut decide, &mut learn]).is_none() {
        fail("the learner refuses a round")
    }
    if rounds(Settings::DEFAULT, learner, workspace, [&mut optimistic, &mut Count::default()]).is_none() {
        fail("the learner refuses an optimistic round")
    }
    if rounds(Settings::PROBING, learner, workspace, [&mut probed, &mut Count::default()]).is_none() {
        fail("the learner refuses a round with coins")
    }
    let (mut restore, mut serve) = (0, 0);
    if erase().is_none() {
        fail("the store cannot be erased")
    }
    let store = place(&POLICY, store);
    for _ in ["a new store", "the one there is"] {
        let (restored, served) = session(&POLICY, learner, workspace, script, store);
        restore = restored.max(restore);
        serve = served.max(serve);
    }
    println!(
        "budget board={} catalog={} decide={} decide_max={} optimistic={} optimistic_max={} probed={} probed_max={} learn={} learn_max={} stack={} stack_restore={restore} stack_serve={serve}",
        Here::NAME,
        CATALOG.definition().name,
        decide.sum / ROUNDS,
        decide.max,
        optimistic.sum / ROUNDS,
        optimistic.max,
        probed.sum / ROUNDS,
        probed.max,
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
    let signals: [f32; 16] =
        core::array::from_fn(|signal| f32::from((round as usize + signal) as u8 % 5) / 4.0);
    let task = (round as usize).checked_rem(definition.tasks.len());
    Context::new(catalog, task, signals.get(..definition.signals.len())?).ok()
}

/// A reward in [-1, 1] that depends on the action, so that there is something to learn.
pub(crate) fn reward(round: u32, action: u16) -> f64 {
    f64::from((u32::from(action) * 7 + round * 3) % 9) / 4.0 - 1.0
}

#[inline(never)]
fn rounds<S: Storage<f32>, W: Storage<f32>>(
    settings: Settings<'static>,
    learner: &mut Learner<f32, S, ROOM>,
    workspace: &mut Workspace<f32, W>,
    [decide, learn]: [&mut Count; 2],
) -> Option<()> {
    let policy = &Policy::new(&CATALOG, settings).ok()?;
    learner.start(policy, 1).ok()?;
    let mut user = learner.bind(policy, workspace).ok()?;
    let feasible = Feasible::all(policy.catalog());
    for round in 0..WARM_UP + ROUNDS {
        let context = context(policy.catalog(), round)?;
        let request = Request::new(&context, &feasible);
        let (decision, deciding) = Here::measure(|| user.decide(&request));
        let decision = decision.ok()?;
        let reward = reward(round, decision.action.0);
        // Equations 5 and 6. `feedback` also checks promotions at some rewards.
        let feedback = Event::Feedback { round: decision.id.round, reward, weight: 1.0 };
        let (learned, learning) = Here::measure(|| user.check(&feedback).map(Step::apply));
        learned.ok()?;
        if round >= WARM_UP {
            decide.add(deciding);
            learn.add(learning);
        }
    }
    Some(())
}

#[inline(never)]
fn erase() -> Option<()> {
    let mut flash = Here::flash().ok()?;
    flash.erase(0, flash.capacity() as u32).ok()
}

/// In a stack frame of its own, which is not there when the stack is marked.
#[inline(never)]
fn reopen(policy: &Policy<'_, f32>, store: &mut BoardStore) {
    *store = open(policy);
}

/// One life of the device: what [`firmware::device::serve`] does from power-on until the script ends. Returns the stack mark of restoring
/// and that of serving.
#[inline(never)]
fn session<S: Storage<f32>, W: Storage<f32>>(
    policy: &Policy<'static, f32>,
    learner: &mut Learner<f32, S, ROOM>,
    workspace: &mut Workspace<f32, W>,
    script: &mut Script,
    store: &mut BoardStore,
) -> (usize, usize) {
    stack::paint();
    reopen(policy, store);
    restore(policy, learner, workspace, store, || 1);
    let restore = stack::used();
    script.begin(policy.catalog(), learner.state().incarnation(), learner.state().rounds());
    stack::paint();
    let Ok(user) = learner.bind(policy, workspace) else { fail("the learner was not restored") };
    attend(user, store, script);
    let serve = stack::used();
    if let Some(step) = script.refused() {
        println!("FAIL step {step}");
        exit(1)
    }
    (restore, serve)
}
