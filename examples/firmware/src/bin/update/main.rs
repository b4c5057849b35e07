//! Shows: a device gets the firmware of another catalog, and the power is cut before every write and erase of the way.
//!
//! Version 1 is `tau2`, version 2 [`NEXT`]. Without a file `update` beside QEMU the job counts what a migration in memory costs: instructions, and the stack
//! that it takes more than the call of an empty function. With one it goes through the acts of a play, of which the file is the script, and ends or resets
//! after each:
//!
//! | Act | What happens | Then |
//! |---|---|---|
//! | `Begin` | version 1 formats the store and plays some rounds | `Update` |
//! | `Update` | version 2 starts and migrates; the power goes before operation `cut` | `Look` |
//! | `Look` | one of the two versions finds its user, bit for bit; version 2 starts and finishes; another restart finds its user | `Begin`, one operation later |
//!
//! The first `Update` is not cut: it says how many operations there are and what version 2 should find. A wrong bit ends with code 1.

#![no_std]
#![no_main]

mod cut;

use cut::{Cut, OUT};
use embedded_storage::nor_flash::NorFlash;
use fable_core::catalog::TAU2;
use fable_core::migrate::Migration;
use fable_core::record::{RecordError, snapshot::max_len};
use fable_core::{Action, Learner, Policy, Settings, Workspace};
use fable_embedded::flash::{Blocking, FlashError, FlashStore, Layout};
use fable_golden::{NEXT, RENAMES};
use firmware::boards::{Board, Here, exit, println, stack};
use semihosting::fs::File;
use semihosting::io::{Read, Write};
use static_cell::ConstStaticCell;

firmware::firmware!(run);

const ROOM: usize = 8;
const SCRATCH: usize =
    if TAU2.workspace_len() > NEXT.workspace_len() { TAU2.workspace_len() } else { NEXT.workspace_len() };

type Old = Learner<f32, [f32; TAU2.state_len()], ROOM>;
type New = Learner<f32, [f32; NEXT.state_len()], ROOM>;
type Scratch = Workspace<f32, [f32; SCRATCH]>;
type Store = FlashStore<Blocking<Cut>>;

static OLD: ConstStaticCell<Old> = ConstStaticCell::new(Learner::new(&TAU2));
static NEW: ConstStaticCell<New> = ConstStaticCell::new(Learner::new(&NEXT));

/// Where the play stands.
#[derive(Clone, Copy)]
struct Script {
    act: u32,
    /// Before which operation the power goes.
    cut: u32,
    /// Operations of a migration that is not disturbed.
    operations: u32,
    /// How often each version was there after a cut.
    found: [u32; 2],
    /// What each of them finds.
    users: [u32; 2],
}

const BEGIN: u32 = 0;
const UPDATE: u32 = 1;
const LOOK: u32 = 2;

impl Script {
    /// `None` when there is no play.
    fn read() -> Option<Self> {
        let (mut bytes, mut file) = ([0; 28], File::open(c"update").ok()?);
        let mut words = [0; 7];
        if file.read_exact(&mut bytes).is_ok() {
            let chunks = bytes.as_chunks::<4>().0;
            words.iter_mut().zip(chunks).for_each(|(word, chunk)| *word = u32::from_le_bytes(*chunk));
        } else {
            words[1] = u32::MAX; // an empty file: from the start
        }
        let [act, cut, operations, a, b, c, d] = words;
        Some(Self { act, cut, operations, found: [a, b], users: [c, d] })
    }

    /// Writes down what comes next.
    fn write(self) {
        let Self { act, cut, operations, found: [a, b], users: [c, d] } = self;
        let words = [act, cut, operations, a, b, c, d].map(u32::to_le_bytes);
        let written = File::create(c"update").and_then(|mut file| file.write_all(words.as_flattened()));
        check(written.is_ok(), "the script cannot be written");
    }
}

fn check(right: bool, what: &str) {
    if !right {
        println!("FAIL {what}");
        exit(1)
    }
}

/// Ends the act. The next one begins with nothing but the flash.
fn next(script: Script) -> ! {
    script.write();
    if cfg!(feature = "microbit") { Here::reset() } else { exit(OUT) }
}

fn policy(catalog: &'static fable_core::Catalog<'static>) -> Policy<'static, f32> {
    let Ok(policy) = Policy::new(catalog, Settings::DEFAULT) else { exit(1) };
    policy
}

fn run() -> ! {
    static WORKSPACE: ConstStaticCell<Scratch> =
        ConstStaticCell::new(Workspace::from_storage([0.0; SCRATCH]));
    let (old, new, workspace) = (OLD.take(), NEW.take(), WORKSPACE.take());
    match Script::read() {
        None => measure(old, new, workspace),
        Some(script) => match script.act {
            BEGIN => begin(script, old, workspace),
            UPDATE => update(script, old, new, workspace),
            _ => look(script, old, new, workspace),
        },
    }
}

/// Rewards for version 1.
#[inline(never)]
fn live(policy: &Policy<'static, f32>, old: &mut Old, workspace: &mut Scratch) {
    let Ok(mut user) = old.with(policy, workspace) else { exit(1) };
    for round in 0..60_u16 {
        let reward = f64::from((u32::from(round) * 7) % 9) / 4.0 - 1.0;
        let Ok(context) = TAU2.context(None, []) else { exit(1) };
        check(user.observe(&context, Action(round * 5 % 18), reward).is_ok(), "a reward is refused");
    }
}

/// What a migration costs.
fn measure(old: &mut Old, new: &mut New, workspace: &mut Scratch) -> ! {
    let (before, after) = (policy(&TAU2), policy(&NEXT));
    check(old.start(&before, 1).is_ok(), "the learner does not start");
    live(&before, old, workspace);
    let Ok(migration) = Migration::new(&before, &after, RENAMES) else { exit(1) };
    stack::paint();
    nothing();
    let shallow = stack::used();
    stack::paint();
    let (migrated, instructions) = Here::measure(|| migration.carry(old, new, workspace));
    let deep = stack::used();
    let Ok(migrated) = migrated else { exit(1) };
    let state = hash(new);
    println!(
        "update board={} kept={} added={} removed={} instructions={instructions} stack={} state={state:08x}",
        Here::NAME,
        migrated.kept,
        migrated.added,
        migrated.removed,
        deep.saturating_sub(shallow),
    );
    exit(0)
}

#[inline(never)]
fn nothing() {
    core::hint::black_box(());
}

/// CRC-32 of a user's snapshot.
#[inline(never)]
fn hash<const N: usize>(learner: &Learner<f32, [f32; N], ROOM>) -> u32 {
    let (Ok(mut snapshot), mut chunk, mut sum) = (learner.snapshot(), [0; 64], 0_u32) else { exit(1) };
    while let written @ 1.. = snapshot.read(&mut chunk) {
        let chunk = chunk.get(..written).unwrap_or_default();
        sum = sum.rotate_left(5) ^ fable_core::record::checksum(chunk);
    }
    sum
}

#[inline(never)]
fn open() -> Store {
    let Ok(flash) = Here::flash() else { exit(1) };
    let snapshot = max_len::<f32>(&TAU2, ROOM).max(max_len::<f32>(&NEXT, ROOM));
    // A few pages are enough, and quickly erased.
    let pages = 2 * (snapshot.div_ceil(<Here as Board>::Flash::ERASE_SIZE) + 1) + 2;
    let length = (pages * <Here as Board>::Flash::ERASE_SIZE) as u32;
    let Ok(layout) = Layout::try_new::<Blocking<Cut>>(0, length, snapshot) else { exit(1) };
    FlashStore::new(Blocking(Cut::new(flash)), layout)
}

/// Version 1 formats the store and lives for a while.
fn begin(script: Script, old: &mut Old, workspace: &mut Scratch) -> ! {
    let (policy, mut store) = (policy(&TAU2), open());
    check(store.format(&policy, 1, ROOM as u16).is_ok(), "the store cannot be formatted");
    check(store.restore(&policy, old, workspace).is_ok(), "the new store cannot be read");
    live(&policy, old, workspace);
    let Ok(user) = old.with(&policy, workspace) else { exit(1) };
    check(store.compact(&user).is_ok(), "version 1 cannot be stored");
    let users = [hash(old), script.users[1]];
    next(Script { act: UPDATE, users, ..script })
}

/// What firmware of version 2 does when it starts.
#[inline(never)]
fn start(store: &mut Store, old: &mut Old, new: &mut New, workspace: &mut Scratch) -> Result<(), FlashError> {
    let (before, after) = (policy(&TAU2), policy(&NEXT));
    match store.restore(&after, new, workspace) {
        Err(FlashError::Record(RecordError::Catalog)) => {
            let Ok(migration) = Migration::new(&before, &after, RENAMES) else { exit(1) };
            store.migrate(&migration, old, new, workspace).map(|_| ())
        }
        restored => restored.map(|_| ()),
    }
}

/// Version 2 starts, and the power goes.
fn update(script: Script, old: &mut Old, new: &mut New, workspace: &mut Scratch) -> ! {
    let mut store = open();
    store.flash().0.at = script.cut;
    if script.cut != u32::MAX {
        Script { act: LOOK, ..script }.write();
    }
    check(start(&mut store, old, new, workspace).is_ok(), "version 2 does not start");
    check(script.cut == u32::MAX, "the power was not cut");
    let (operations, users) = (store.flash().0.done, [script.users[0], hash(new)]);
    next(Script { act: BEGIN, cut: 0, operations, users, ..script })
}

/// Either version's user, never neither; and version 2 goes on.
fn look(script: Script, old: &mut Old, new: &mut New, workspace: &mut Scratch) -> ! {
    let Script { cut, operations, mut found, users, .. } = script;
    let restored = open().restore(&policy(&TAU2), old, workspace);
    if restored.is_ok() {
        check(hash(old) == users[0], "version 1 finds another user");
        found[0] += 1;
    } else {
        check(restored == Err(FlashError::Record(RecordError::Catalog)), "neither version finds its user");
        check(open().restore(&policy(&NEXT), new, workspace).is_ok(), "neither version finds its user");
        check(hash(new) == users[1], "version 2 finds another user");
        found[1] += 1;
    }
    for _ in ["finishes", "finds"] {
        check(start(&mut open(), old, new, workspace).is_ok(), "version 2 cannot finish");
        check(hash(new) == users[1], "version 2 has another user");
    }
    if cut + 1 < operations {
        next(Script { act: BEGIN, cut: cut + 1, found, ..script })
    }
    println!("update board={} operations={operations} old={} new={}", Here::NAME, found[0], found[1]);
    exit(0)
}
