//! Shows: the least there is of Fable. A catalog of one's own, deciding and learning; no records, no store, no serial port.
//!
//! It plays [`ROUNDS`] rounds and says how deep the stack got. `budget.sh` compares that and the size of the image with
//! what they may be; `--no-default-features --profile minimal` builds it without what it does not need, all of it for size.

#![no_std]
#![no_main]

use fable_core::catalog::{Block, Catalog, Component, Condition, Definition, Part, Term, Value};
use fable_core::{Context, Feasible, Learner, Policy, Request, Settings, Workspace};
use firmware::boards::{Piece, exit, say, stack};
use static_cell::ConstStaticCell;

firmware::firmware!(run);

/// Rounds that are played.
const ROUNDS: u16 = 120;
/// Decisions that can wait for their reward.
const ROOM: usize = 4;

const TIME: u8 = 0;
const CHANNEL: u8 = 1;
const STYLE: u8 = 2;
const URGENCY: u8 = 0;
const NOISE: u8 = 1;

/// How a small thing at home reminds somebody: when, through what, and in which words.
const REMINDERS: Catalog<'static> = fable_core::catalog!(Definition {
    name: "minimal",
    components: &[
        Component::new("time", &[Value::new("later", "", 0.0), Value::new("now", "", 0.05), Value::new("twice", "", 0.1)])
            .with_null(0),
        Component::new("channel", &[Value::new("light", "", 0.0), Value::new("sound", "", 0.05), Value::new("voice", "", 0.1)]),
        Component::new("style", &[Value::new("brief", "", 0.0), Value::new("plain", "", 0.0), Value::new("kind", "", 0.02)]),
    ],
    tasks: &["morning", "day", "evening"],
    signals: &["urgency", "noise"],
    blocks: &[
        Block::main(TIME),
        Block::main(CHANNEL),
        Block::main(STYLE),
        Block::main(CHANNEL).per_task(),
        Block::main(TIME).scaled_by(URGENCY).without_null(),
        Block::main(STYLE).scaled_by(URGENCY),
        Block::main(CHANNEL).scaled_by(NOISE),
        Block::pair(TIME, CHANNEL),
    ],
    terms: &[
        Term::new(0.2, Condition::Above(URGENCY, 0.5), &[Part::new(TIME, &[1, 2])]),
        Term::new(-0.1, Condition::Above(NOISE, 0.5), &[Part::new(CHANNEL, &[2])]),
    ],
    ..Definition::EMPTY
});

/// A constant: nothing of it is checked or computed on the device.
static POLICY: Policy<'static, f32> = match Policy::new(&REMINDERS, Settings::PAPER) {
    Ok(policy) => policy,
    Err(_) => panic!("a setting is out of its range"),
};

const _: () = assert!(REMINDERS.actions() == 27 && REMINDERS.dimension() == 35);

type Memory = Learner<f32, [f32; REMINDERS.state_len()], ROOM>;
type Scratch = Workspace<f32, [f32; REMINDERS.workspace_len()]>;

/// Plays, says the stack and ends; with code 1 when the learner refuses something.
fn run() -> ! {
    static MEMORY: ConstStaticCell<Memory> = ConstStaticCell::new(Learner::vacant(&REMINDERS));
    static SCRATCH: ConstStaticCell<Scratch> = ConstStaticCell::new(Workspace::vacant(&REMINDERS));
    let played = play(MEMORY.take(), SCRATCH.take());
    say(&[Piece::Text("minimal catalog=minimal stack="), Piece::Number(stack::used() as u32)]);
    exit(i32::from(played.is_none()))
}

#[inline(never)]
fn play(memory: &mut Memory, scratch: &mut Scratch) -> Option<()> {
    memory.start(&POLICY, 1).ok()?;
    let mut user = memory.with(&POLICY, scratch).ok()?;
    let feasible = Feasible::all(&REMINDERS);
    for round in 0..ROUNDS {
        let signals = [f32::from(round % 5) / 4.0, f32::from(round % 3) / 2.0];
        let context = Context::new(&REMINDERS, Some(usize::from(round % 3)), &signals).ok()?;
        let decision = user.decide(&Request::new(&context, &feasible)).ok()?;
        let reward = f64::from((decision.action.0 * 7 + round * 3) % 9) / 4.0 - 1.0;
        user.feedback(decision.id, reward).ok()?;
    }
    Some(())
}
