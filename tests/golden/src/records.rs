//! Bytes as version 1 writes them. They stay readable as long as version 1 is read.

use fable_core::catalog::AGENT;
use fable_core::event::Observation;
use fable_core::feasible::ActionSet;
use fable_core::trust::{Promotion, Verdict};
use fable_core::{Action, Context, Direction, Event, Statement};

/// The learner at the end of the run `tau2` in `f32`.
pub const TAU2_F32_SNAPSHOT: &[u8] = include_bytes!("../records/tau2_f32.snapshot");
/// The learner at the end of the run `tau2` in `f64`.
pub const TAU2_F64_SNAPSHOT: &[u8] = include_bytes!("../records/tau2_f64.snapshot");
/// The [`events`], each behind its length as two little-endian bytes.
pub const EVENTS: &[u8] = include_bytes!("../records/agent.events");

/// One event of each kind, on `agent`.
///
/// # Panics
/// When the catalog has changed.
#[must_use]
pub fn events() -> [Event; 12] {
    let context = Context::new(&AGENT, Some(9), &[0.125, 1.0, 0.1, 0.75]).expect("a context of the catalog");
    let nowhere = Context::new(&AGENT, None, &[0.0, 0.5, 0.25, 1.0]).expect("a context of the catalog");
    let direction = Direction::new(&AGENT, [(7, 1.0), (253, -0.5)]).expect("coordinates of the catalog");
    let observation = Observation { context: nowhere, action: Action(7), baseline: -0.125, reward: 0.625, weight: 0.5 };
    let mut set = ActionSet::first(70);
    set.remove(Action(3));
    let (contrast, verdict, valid, evidence) = (4, Verdict::Against, true, 321);
    let promotion = Promotion { contrast, verdict, valid, round: 512, at: 77, evidence, lower: -0.5, upper: -0.25 };
    [
        Event::Permissions(AGENT.all_actions()),
        Event::Permissions(set),
        Event::Onboarding(Statement { direction, response: 0.75, precision: 4.0 }),
        Event::Decision { round: 70_000, action: Action(179), baseline: 0.1, context, at: 1_790_000_000 },
        Event::Feedback { round: 70_000, reward: -0.3, weight: 1.0 },
        Event::Feedback { round: 1, reward: 1.0, weight: 0.25 },
        Event::Observation(observation),
        Event::Unlearn(observation),
        Event::Expiry { round: 69_999, imputed: None },
        Event::Expiry { round: 2, imputed: Some(-0.1) },
        Event::Promotion(promotion),
        Event::Forget { promise: 7 },
    ]
}
