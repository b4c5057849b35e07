//! Bytes as version 3 writes them. They stay readable as long as version 3 is read.

use crate::RING;
use fable_core::catalog::{AGENT, Block, Catalog, Component, Contrast, Definition, Value};
use fable_core::catalog::{ActionSet, ContrastSet, Direction};
use fable_core::journal::{Event, Observation};
use fable_core::posterior::Storage;
use fable_core::preference::{Certifier, Probe, Probes, Verdict};
use fable_core::{
    Action, Context, Feasible, Learner, Policy, Promotion, Request, Settings, Statement, user_hash,
};

/// The learner at the end of the run `tau2` in `f32`.
pub const TAU2_F32_SNAPSHOT: &[u8] = include_bytes!("../records/tau2_f32.snapshot");
/// The learner at the end of the run `tau2` in `f64`.
pub const TAU2_F64_SNAPSHOT: &[u8] = include_bytes!("../records/tau2_f64.snapshot");
/// The [`events`], each after its length as two little-endian bytes.
pub const EVENTS: &[u8] = include_bytes!("../records/agent.events");

/// One event of each kind, on `agent`, but for those from elsewhere, which hosts alone read.
///
/// # Panics
/// When the catalog has changed.
#[must_use]
pub fn events() -> [Event; 16] {
    let context = Context::new(&AGENT, Some(9), &[0.125, 1.0, 0.1, 0.75]).expect("a context of the catalog");
    let nowhere = Context::new(&AGENT, None, &[0.0, 0.5, 0.25, 1.0]).expect("a context of the catalog");
    let direction = Direction::new(&AGENT, [(7, 1.0), (253, -0.5)]).expect("coordinates of the catalog");
    let observation =
        Observation { context: nowhere, action: Action(7), baseline: -0.125, reward: 0.625, weight: 0.5 };
    let mut set = ActionSet::first(70);
    set.remove(Action(3));
    let (contrast, verdict, valid, evidence) = (4, Verdict::Against, true, 321);
    let promotion = Promotion {
        contrast,
        verdict,
        valid,
        by: Certifier::Ellipsoid,
        round: 512,
        time: 77,
        evidence,
        lower: -0.5,
        upper: -0.25,
    };
    let mut coins = Probes::new();
    coins.extend([Probe { contrast: 6, expected: 0.25 }, Probe { contrast: 0, expected: -0.1 }]);
    let mut probed = ContrastSet::EMPTY;
    probed.insert(6);
    [
        Event::Permissions(AGENT.all_actions()),
        Event::Permissions(set),
        Event::Onboarding(Statement { direction, response: 0.75, precision: 4.0 }),
        Event::Decision {
            round: 70_000,
            action: Action(179),
            baseline: 0.1,
            context,
            time: 1_790_000_000,
            probes: Probes::new(),
        },
        Event::Feedback { round: 70_000, reward: -0.3, weight: 1.0 },
        Event::Feedback { round: 1, reward: 1.0, weight: 0.25 },
        Event::Observation(observation),
        Event::Unlearn { observation, imputed: true, kept: 0.5, probed },
        Event::Expiry { round: 69_999, imputed: None },
        Event::Expiry { round: 2, imputed: Some(-0.1) },
        Event::Promotion(promotion),
        Event::Forget { guarantee_fingerprint: 7 },
        Event::Fade { keep: 0.5 },
        Event::Decision {
            round: 3,
            action: Action(1),
            baseline: 0.0,
            context: nowhere,
            time: 0,
            probes: coins,
        },
        Event::Promotion(Promotion { by: Certifier::Probes, ..promotion }),
        Event::Site { site: 300 },
    ]
}

/// A small catalog with a task, a signal and a contrast, so that a snapshot of it holds something of everything.
pub const LAMP: Catalog<'static> = Catalog::new(Definition {
    name: "lamp",
    components: &[Component::new(
        "light",
        &[Value::new("warm", "Use warm light.", 0.0), Value::new("cold", "Use cold light.", 0.125)],
    )],
    tasks: &["reading", "dinner"],
    signals: &["daylight"],
    blocks: &[Block::main(0), Block::main(0).per_task(), Block::main(0).scaled_by(0)],
    contrasts: &[Contrast::new("warm_over_cold", &[0], &[1]).when(Some(1), &[0.25])],
    ..Definition::EMPTY
});

/// The end of [`lamp`].
pub const LAMP_SNAPSHOT: &[u8] = include_bytes!("../records/lamp_f32.snapshot");

/// The state at the end of [`lamp`] as a prior.
pub const LAMP_PRIOR: &[u8] = include_bytes!("../records/lamp_f32.prior");

/// A life with a statement, decisions that were rewarded, expired and still wait, an imputed reward, and a promotion.
///
/// Rewards are events, which promote nothing by themselves: the promotion is the one at the end.
///
/// # Panics
/// When `fable-core` refuses what the life asks for.
pub fn lamp<S: Storage<f32>>(learner: &mut Learner<f32, S, RING>, workspace: &mut impl AsMut<[f32]>) {
    let lax = Settings {
        alpha: 0.5,
        prior_radius: Some(0.0),
        min_evidence: 1,
        base_precision: Some(1.0),
        ..Settings::PAPER
    };
    let policy = Policy::new(&LAMP, lax).expect("settings in range");
    learner.start(&policy, user_hash("lamp")).expect("storage of the right length");
    let mut user = learner.bind(&policy, workspace).expect("a started learner");
    let direction = Direction::new(&LAMP, [(0, 1.0)]).expect("a coordinate");
    user.onboard(&Statement { direction, response: 0.5, precision: 2.0 }).expect("in range");
    let everything = Feasible::all(&LAMP);
    for round in 1..=11_u8 {
        let task = [None, Some(0), Some(1)][usize::from(round % 3)];
        let context = Context::new(&LAMP, task, &[f32::from(round) / 16.0]).expect("a context");
        let request = Request::new(&context, &everything).at(100 * u32::from(round));
        let decision = user.decide(&request).expect("a decision");
        for light in [Action(0), Action(1)] {
            let reward = if light == Action(0) { 1.0 } else { -1.0 };
            let baseline = policy.baseline(&context, light, None).into();
            let observation = Observation { context, action: light, baseline, reward, weight: 1.0 };
            user.check(&Event::Observation(observation)).expect("an observation").apply();
        }
        if round % 2 == 0 {
            let feedback = Event::Feedback { round: decision.id.round, reward: 0.75, weight: 1.0 };
            user.check(&feedback).expect("a waiting decision").apply();
        }
    }
    assert_eq!(user.promote(1_150), Ok(1));
    for (round, imputed) in [(5, None), (7, Some(-0.25))] {
        user.check(&Event::Expiry { round, imputed }).expect("it waits").apply();
    }
}
