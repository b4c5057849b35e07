//! Shows: the least there is of Fable, a catalog of one's own that is decided and learned over, and what each thing more takes.
//!
//! It plays [`ROUNDS`] rounds and says how deep the stack got. `budget.sh` compares that and the size of the image with what they
//! may be, and builds it again with each of the features that stand below `minimal` in `Cargo.toml`, all of it for size
//! (`--no-default-features --profile minimal`). Without any there are no records, no store, no serial port.

#![no_std]
#![no_main]

use core::hint::black_box;
use fable_core::catalog::StandingRule;
use fable_core::catalog::{Block, Catalog, Component, Condition, Contrast, Definition, Part, Term, Value};
use fable_core::preference::Comparison;
use fable_core::{Context, Decision, Feasible, Learner, Policy, Request, Rule, Settings, User, Workspace};
use firmware::boards::{Piece, exit, say, stack};
use static_cell::ConstStaticCell;

#[cfg(any(feature = "with-store", feature = "with-snapshot"))]
use fable_core::record::snapshot::max_len;
#[cfg(any(feature = "with-store", feature = "with-server"))]
use fable_embedded::Device;
#[cfg(feature = "with-server")]
use {
    core::convert::Infallible,
    embedded_io::{ErrorType, Read, Write},
    fable_embedded::{Server, UserStore, wire::Fault},
};
#[cfg(feature = "with-store")]
use {
    embedded_storage::nor_flash::{NorFlash, ReadNorFlash},
    fable_embedded::flash::{Blocking, FlashError, FlashStore, Layout},
    firmware::boards::{Board, Here},
};
#[cfg(feature = "with-records")]
use {
    fable_core::journal::{Command, Event},
    fable_core::record::{MAX_EVENT_LEN, decode_event_into, encode_event},
};

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

/// A text that only an image that uses it has.
const fn text(own: &'static str) -> &'static str {
    if cfg!(feature = "with-instruct") { own } else { "" }
}

const CONTRASTS: &[Contrast<'static>] = &[
    Contrast::new("sound_over_voice", &[0, 1, 0], &[0, 2, 0]).when(None, &[0.5, 0.5]),
    Contrast::new("brief_over_kind", &[0, 0, 0], &[0, 0, 2]).when(None, &[0.5, 0.5]),
];
const LOUD: &[Part<'static>] = &[Part::new(CHANNEL, &[1, 2])];
const RULES: &[StandingRule<'static>] = &[Rule::forbid("quiet_evenings", LOUD).when(Condition::Tasks(&[2]))];

/// How a small thing at home reminds somebody: when, through what, and in which words.
const REMINDERS: Catalog<'static> = Catalog::new(Definition {
    name: "minimal",
    components: &[
        Component::new(
            "time",
            &[
                Value::new("later", text("Wait for a better moment."), 0.0),
                Value::new("now", text("Remind now."), 0.05),
                Value::new("twice", text("Remind now and again."), 0.1),
            ],
        )
        .with_null(0),
        Component::new(
            "channel",
            &[
                Value::new("light", text("Use the light."), 0.0),
                Value::new("sound", text("Use a sound."), 0.05),
                Value::new("voice", text("Say it."), 0.1),
            ],
        ),
        Component::new(
            "style",
            &[
                Value::new("brief", text("Be brief."), 0.0),
                Value::new("plain", text("Use plain words."), 0.0),
                Value::new("kind", text("Be kind."), 0.02),
            ],
        ),
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
    contrasts: if cfg!(feature = "with-assess") { CONTRASTS } else { &[] },
    rules: if cfg!(feature = "with-rules") { RULES } else { &[] },
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

/// Plays, says the stack and ends; with code 1 when something is refused.
fn run() -> ! {
    static MEMORY: ConstStaticCell<Memory> = ConstStaticCell::new(Learner::new(&REMINDERS));
    static SCRATCH: ConstStaticCell<Scratch> = ConstStaticCell::new(Workspace::new(&REMINDERS));
    let played = play(MEMORY.take(), SCRATCH.take());
    say(&[Piece::Text("minimal catalog=minimal stack="), Piece::Number(stack::used() as u32)]);
    exit(i32::from(played.is_none()))
}

#[cfg(not(any(feature = "with-store", feature = "with-server")))]
#[inline(never)]
fn play(memory: &mut Memory, scratch: &mut Scratch) -> Option<()> {
    memory.start(&POLICY, 1).ok()?;
    let mut user = memory.bind(&POLICY, scratch).ok()?;
    for round in 0..ROUNDS {
        #[cfg(not(feature = "with-records"))]
        play_round(
            &mut user,
            round,
            |user, request| user.decide(request).ok(),
            |user, decision, reward| user.feedback(decision.id, reward).ok().map(drop),
        )?;
        #[cfg(feature = "with-records")]
        play_round(
            &mut user,
            round,
            |user, request| {
                let mut command = Command::decide(*request);
                record(user, &mut command)?;
                command.decision(user)
            },
            |user, decision, reward| record(user, &mut Command::feedback(decision.id, reward)),
        )?;
    }
    ask(&mut user)?;
    #[cfg(feature = "with-snapshot")]
    reload(&mut user)?;
    Some(())
}

/// One round, whichever way it is decided and learned.
fn play_round<U>(
    user: &mut U,
    round: u16,
    decide: impl FnOnce(&mut U, &Request<'_>) -> Option<Decision>,
    learn: impl FnOnce(&mut U, Decision, f64) -> Option<()>,
) -> Option<()> {
    let feasible = Feasible::all(&REMINDERS);
    let signals = [f32::from(round % 5) / 4.0, f32::from(round % 3) / 2.0];
    let context = Context::new(&REMINDERS, Some(usize::from(round % 3)), &signals).ok()?;
    let decision = decide(user, &Request::new(&context, &feasible))?;
    if cfg!(feature = "with-instruct") {
        let mut words = heapless::String::<128>::new();
        REMINDERS.instruct(decision.action, &mut words).ok()?;
        black_box(words.as_bytes());
    }
    learn(user, decision, f64::from((decision.action.0 * 7 + round * 3) % 9) / 4.0 - 1.0)
}

/// What the image can be asked for at the end.
fn ask(user: &mut User<'_, f32>) -> Option<()> {
    if cfg!(feature = "with-assess") {
        let comparison = Comparison::declared(&REMINDERS, black_box(1))?;
        black_box(user.assess(&comparison).ok()?);
    }
    if cfg!(feature = "with-promote") {
        let mut words = heapless::String::<128>::new();
        user.promote(0).ok()?;
        user.write_profile(&mut words).ok()?;
        black_box(words.as_bytes());
    }
    if cfg!(feature = "with-explain") {
        let context = Context::new(&REMINDERS, Some(0), &[0.5, 0.5]).ok()?;
        let decision = user.decide(&Request::new(&context, &Feasible::all(&REMINDERS))).ok()?;
        let why = user.explain(decision.id, None, None).ok()?;
        why.shares().for_each(|share| _ = black_box(share.chosen - share.other));
    }
    Some(())
}

/// Does all of a command; each event becomes bytes and is read back before it is applied.
#[cfg(feature = "with-records")]
#[inline(never)]
fn record(user: &mut User<'_, f32>, command: &mut Command<'_>) -> Option<()> {
    let (mut bytes, mut copy) = ([0; MAX_EVENT_LEN], Event::Forget { guarantee_fingerprint: 0 });
    while let Some(step) = user.next(command).ok()? {
        let bytes = encode_event(step.event(), &mut bytes).ok()?;
        decode_event_into(&REMINDERS, black_box(bytes), &mut copy).ok()?;
        step.apply();
    }
    Some(())
}

/// The state becomes bytes, and is what they say again.
#[cfg(feature = "with-snapshot")]
#[inline(never)]
fn reload(user: &mut User<'_, f32>) -> Option<()> {
    static BYTES: ConstStaticCell<[u8; max_len::<f32>(&REMINDERS, ROOM)]> = ConstStaticCell::new([0; _]);
    let bytes = BYTES.take();
    let length = user.snapshot().ok()?.read(bytes);
    user.restore(black_box(bytes.get(..length)?)).ok()?;
    (user.state().rounds() == u32::from(ROUNDS)).then_some(())
}

/// The rounds of a device, and a host that says hello.
#[cfg(any(feature = "with-store", feature = "with-server"))]
#[inline(never)]
fn play(memory: &mut Memory, scratch: &mut Scratch) -> Option<()> {
    #[cfg(feature = "with-store")]
    let mut store = open(memory, scratch)?;
    #[cfg(not(feature = "with-store"))]
    let mut store = {
        memory.start(&POLICY, 1).ok()?;
        fable_embedded::RamStore::<0>::EMPTY
    };
    let mut device = Device::new(memory.bind(&POLICY, scratch).ok()?, &mut store);
    for round in 0..ROUNDS {
        play_round(
            &mut device,
            round,
            |device, request| device.decide(request).ok(),
            |device, decision, reward| device.feedback(decision.id, reward).ok(),
        )?;
    }
    ask(device.ask())?;
    #[cfg(feature = "with-server")]
    attend(device)?;
    Some(())
}

/// The store of the board, formatted if it is blank, and the user that is in it.
#[cfg(feature = "with-store")]
#[inline(never)]
fn open(memory: &mut Memory, scratch: &mut Scratch) -> Option<FlashStore<Blocking<<Here as Board>::Flash>>> {
    let mut flash = Here::flash().ok()?;
    let length = u32::try_from(flash.capacity()).ok()?;
    flash.erase(0, length).ok()?; // QEMU starts some memories with zeros
    let layout =
        Layout::try_new::<Blocking<<Here as Board>::Flash>>(0, length, max_len::<f32>(&REMINDERS, ROOM))
            .ok()?;
    let mut store = FlashStore::new(Blocking(flash), layout);
    if let Err(FlashError::Unformatted) = store.restore(&POLICY, memory, scratch) {
        store.format(&POLICY, 1, ROOM as u16).ok()?;
        store.restore(&POLICY, memory, scratch).ok()?;
    }
    Some(store)
}

/// Answers a line that says hello and ends.
#[cfg(feature = "with-server")]
#[inline(never)]
fn attend(device: Device<'_, f32, impl UserStore<Error: Into<Fault>>>) -> Option<()> {
    let mut line = Line { received: black_box(HELLO), sent: 0 };
    let Ok(()) = Server::new(device).serve(&mut line);
    (line.sent > 0).then_some(())
}

/// A host's hello, as a frame.
#[cfg(feature = "with-server")]
const HELLO: &[u8] = &[3, 3, 1, 5, 10, 86, 28, 228, 0];

/// A line that has brought some bytes and will bring no more.
#[cfg(feature = "with-server")]
struct Line {
    received: &'static [u8],
    sent: usize,
}

#[cfg(feature = "with-server")]
impl ErrorType for Line {
    type Error = Infallible;
}

#[cfg(feature = "with-server")]
impl Read for Line {
    fn read(&mut self, bytes: &mut [u8]) -> Result<usize, Infallible> {
        let mut count = 0;
        for (slot, byte) in bytes.iter_mut().zip(self.received) {
            (*slot, count) = (*byte, count + 1);
        }
        self.received = self.received.get(count..).unwrap_or_default();
        Ok(count)
    }
}

#[cfg(feature = "with-server")]
impl Write for Line {
    fn write(&mut self, bytes: &[u8]) -> Result<usize, Infallible> {
        self.sent += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
}
