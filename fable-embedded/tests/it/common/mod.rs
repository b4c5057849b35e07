//! A user's life over a flash store, and the same life without one to compare it with.

use embedded_storage_async::nor_flash::NorFlash;
use fable_core::catalog::{Block, Catalog, Component, Contrast, Definition, TAU2, Value};
use fable_core::catalog::{Direction, When};
use fable_core::journal::{Command, Event};
use fable_core::preference::UserRule;
use fable_core::record::snapshot::max_len;
use fable_core::{Action, Context, Feasible, Learner, Policy, Request, Settings, Statement, User, Workspace};
use fable_embedded::flash::{FlashError, FlashStore, Layout, LayoutError, block_on};
use fable_embedded::{AsyncUserStore, Device};

/// Room for waiting decisions.
pub const R: usize = 4;
pub const USER: u64 = 0x0123_4567_89ab_cdef;

pub type Known = Learner<f32, Vec<f32>, R>;
pub type Scratch = Workspace<f32, Vec<f32>>;

/// Four coordinates, so that every byte of a life can be the last one.
pub const TINY: Catalog<'static> = Catalog::new(Definition {
    name: "tiny",
    components: &[
        Component::new("a", &[Value::new("0", "", 0.0), Value::new("1", "", 0.1)]),
        Component::new("b", &[Value::new("0", "", 0.0), Value::new("1", "", 0.0)]),
    ],
    signals: &["s"],
    blocks: &[Block::main(0), Block::main(1)],
    contrasts: &[Contrast::new("a1_over_a0", &[1, 0], &[0, 0]).when(None, &[0.5])],
    ..Definition::EMPTY
});

pub fn policy(catalog: &'static Catalog<'static>) -> Policy<'static, f32> {
    Policy::new(catalog, Settings { seed: 7, ..Settings::default() }).unwrap()
}

/// The same with coins as often as possible.
pub fn probing(catalog: &'static Catalog<'static>) -> Policy<'static, f32> {
    Policy::new(catalog, Settings { seed: 7, probe: 1.0, ..Settings::default() }).unwrap()
}

pub fn vacant(policy: &Policy<'_, f32>) -> Known {
    Learner::from_storage(vec![0.0; policy.catalog().state_len()])
}

pub fn scratch(policy: &Policy<'_, f32>) -> Scratch {
    Workspace::from_storage(vec![0.0; policy.catalog().workspace_len()])
}

/// The least region with so many pages of journal.
pub fn layout<F: NorFlash>(catalog: &Catalog<'_>, journal: u32) -> Layout {
    let (page, snapshot) = (u32::try_from(F::ERASE_SIZE).unwrap(), max_len::<f32>(catalog, R));
    let Err(LayoutError::TooSmall { needed }) = Layout::try_new::<F>(0, 0, snapshot) else {
        panic!("no flash is too small")
    };
    let layout = Layout::try_new::<F>(0, needed + (journal - 2) * page, snapshot).unwrap();
    assert_eq!(layout.journal().end, journal * page);
    layout
}

/// A state as bytes.
pub fn bytes(learner: &Known) -> Vec<u8> {
    let (mut snapshot, mut chunk, mut bytes) = (learner.snapshot().unwrap(), [0; 100], vec![]);
    while let written @ 1.. = snapshot.read(&mut chunk) {
        bytes.extend_from_slice(&chunk[..written]);
    }
    bytes
}

/// One thing that happens.
#[expect(clippy::large_enum_variant, reason = "a few hundred of them")]
#[derive(Clone, Debug)]
pub enum Step {
    Event(Event),
    Compact,
    Stage(Vec<u8>),
}

/// A life without flash: the steps, and the state before each of them and after the last.
pub struct Life {
    pub policy: Policy<'static, f32>,
    pub steps: Vec<Step>,
    pub states: Vec<Vec<u8>>,
}

impl Life {
    /// So many steps, with a compaction, an upload and a forgetting at the steps given.
    pub fn new(
        catalog: &'static Catalog<'static>,
        count: usize,
        compact: usize,
        stage: usize,
        forget: usize,
    ) -> Self {
        Self::under(&policy(catalog), count, compact, stage, forget)
    }

    /// The same under a policy of one's own.
    pub fn under(
        policy: &Policy<'static, f32>,
        count: usize,
        compact: usize,
        stage: usize,
        forget: usize,
    ) -> Self {
        let policy = *policy;
        let (mut learner, mut workspace) = (vacant(&policy), scratch(&policy));
        learner.start(&policy, USER).unwrap();
        let (mut steps, mut states) = (vec![], vec![bytes(&learner)]);
        for index in 0..count {
            let step = if index == compact {
                Step::Compact
            } else if index == stage {
                let mut other = vacant(&policy);
                other.start(&policy, USER).unwrap();
                let mut user = other.bind(&policy, &mut workspace).unwrap();
                for round in 0..20 {
                    let event = ordinary(&mut user, round * 3 + 1);
                    user.check(&event).unwrap().apply();
                }
                Step::Stage(bytes(&other))
            } else if index == forget {
                Step::Event(Event::Forget { guarantee_fingerprint: policy.guarantee_fingerprint() })
            } else {
                Step::Event(ordinary(&mut learner.bind(&policy, &mut workspace).unwrap(), index))
            };
            match &step {
                Step::Event(event) => {
                    learner.bind(&policy, &mut workspace).unwrap().check(event).unwrap().apply();
                }
                Step::Compact => {}
                Step::Stage(snapshot) => learner.restore(&policy, snapshot).unwrap(),
            }
            steps.push(step);
            states.push(bytes(&learner));
        }
        Self { policy, steps, states }
    }

    /// A life on tau2, where a compaction is asked for.
    pub fn tau2(count: usize) -> Self {
        Self::new(&TAU2, count, count / 4, count / 2, count * 3 / 4)
    }

    /// The same with coins.
    pub fn probed(count: usize) -> Self {
        Self::under(&probing(&TAU2), count, count / 4, count / 2, count * 3 / 4)
    }

    /// Coins that were tossed in the life.
    pub fn coins(&self) -> usize {
        let coins = |step: &Step| {
            if let Step::Event(Event::Decision { probes: coins, .. }) = step { coins.len() } else { 0 }
        };
        self.steps.iter().map(coins).sum()
    }

    /// Does a step over a store.
    pub fn perform<F: NorFlash>(
        &self,
        store: &mut FlashStore<F>,
        learner: &mut Known,
        workspace: &mut Scratch,
        step: usize,
    ) -> Result<(), FlashError> {
        let mut user = learner.bind(&self.policy, workspace)?;
        match &self.steps[step] {
            Step::Event(event) => {
                block_on(Device::new(user, store).run_async(&mut Command::event(event.clone())))
            }
            Step::Compact => block_on(store.compact(&user)),
            Step::Stage(snapshot) => {
                // Chunks that do not end at words.
                for (index, chunk) in snapshot.chunks(37).enumerate() {
                    block_on(store.stage_write(u32::try_from(index * 37).unwrap(), chunk))?;
                }
                block_on(store.stage_commit(&mut user, u32::try_from(snapshot.len()).unwrap()))
            }
        }
    }
}

/// Decisions, feedback, observations and statements, by turns.
fn ordinary(user: &mut User<'_, f32>, index: usize) -> Event {
    let catalog = user.policy().catalog();
    let signals = vec![0.5; catalog.definition().signals.len()];
    let context = Context::new(catalog, None, &signals).unwrap();
    let reward = f64::from(u8::try_from(index * 37 % 101).unwrap()) / 50.0 - 1.0;
    let all = Feasible::all(catalog);
    let waiting = user.waiting(0).last();
    let mut command = match (index % 4, waiting) {
        (1, Some(id)) => Command::feedback(id, reward),
        (1 | 2, _) if index % 16 == 2 => {
            let direction =
                Direction::new(catalog, (0..4).map(|coordinate| (coordinate, 0.25 + reward))).unwrap();
            Command::event(Event::Onboarding(Statement { direction, response: 0.5, precision: 2.0 }))
        }
        // Now this rule stands, now that one, now none.
        (2, _) if index % 16 == 6 => {
            let never =
                UserRule::Never { component: 0, value: u8::from(index % 32 == 6), when: When::Always };
            let wishes: &[UserRule] = if index % 64 == 6 { &[] } else { &[never] };
            let mut command = Command::user_rules(wishes);
            match user.next(&mut command).unwrap() {
                Some(step) => return step.event().clone(),
                None => Command::observe(&context, Action(0), reward),
            }
        }
        (1 | 2, _) => {
            Command::observe(&context, Action(u16::try_from(index % catalog.actions()).unwrap()), reward)
        }
        _ => Command::decide(Request::new(&context, &all).at(u32::try_from(index).unwrap())),
    };
    user.next(&mut command).unwrap().unwrap().event().clone()
}

/// A store that was just formatted, and its learner.
pub fn begin<F: NorFlash>(
    flash: F,
    layout: Layout,
    policy: &Policy<'_, f32>,
) -> (FlashStore<F>, Known, Scratch) {
    let (mut store, mut learner, mut workspace) =
        (FlashStore::new(flash, layout), vacant(policy), scratch(policy));
    block_on(store.format(policy, USER, 4)).unwrap();
    block_on(store.restore(policy, &mut learner, &mut workspace)).unwrap();
    (store, learner, workspace)
}

/// True if bytes of the past are still readable: any 12 bytes of the old states that are not in the present
/// one, or any stored event.
pub fn remembers(region: &[u8], life: &Life, until: usize) -> bool {
    let present = &life.states[until];
    let mut traces: Vec<Vec<u8>> = vec![];
    for state in life.states[..until].iter().step_by(5) {
        let windows = state[40..].chunks_exact(12).filter(|window| window.iter().any(|byte| *byte != 0));
        traces.extend(
            windows.filter(|window| !present.windows(12).any(|other| other == *window)).map(<[u8]>::to_vec),
        );
    }
    for step in &life.steps[..until] {
        if let Step::Event(event) = step
            && !matches!(event, Event::Forget { .. } | Event::Permissions(_))
        {
            let mut buffer = [0; fable_core::record::MAX_EVENT_LEN];
            traces.push(fable_core::record::encode_event(event, &mut buffer).unwrap()[1..].to_vec());
        }
    }
    traces.iter().any(|trace| region.windows(trace.len()).any(|window| window == trace))
}
