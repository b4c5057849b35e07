//! What postcard itself writes for an event: the independent answer for core's own writer.

use fable_core::Context;
use fable_core::journal::{Event, Observation};
use fable_core::preference::{Certifier, Verdict};
use postcard::fixint;
use serde::Serialize;

#[derive(Serialize)]
struct Place {
    task: u8,
    signals: Vec<f32>,
}

impl Place {
    fn new(context: &Context) -> Self {
        Self {
            task: context.task().map_or(0, |task| u8::try_from(task + 1).unwrap()),
            signals: context.signals().to_vec(),
        }
    }
}

#[derive(Serialize)]
struct Seen {
    context: Place,
    action: u16,
    baseline: f64,
    reward: f64,
    weight: f32,
}

impl Seen {
    fn new(observation: &Observation) -> Self {
        let Observation { context, action, baseline, reward, weight } = *observation;
        Self { context: Place::new(&context), action: action.0, baseline, reward, weight }
    }
}

#[derive(Serialize)]
enum Wire {
    Permissions(Vec<u32>),
    Onboarding(Vec<(u16, f64)>, f64, f64),
    Decision {
        #[serde(with = "fixint::le")]
        round: u32,
        action: u16,
        baseline: f64,
        context: Place,
        #[serde(with = "fixint::le")]
        at: u32,
    },
    Feedback {
        #[serde(with = "fixint::le")]
        round: u32,
        reward: f64,
    },
    WeightedFeedback {
        #[serde(with = "fixint::le")]
        round: u32,
        reward: f64,
        weight: f32,
    },
    Observation(Seen),
    Unlearn(Seen, bool, f32, [u32; 2]),
    Expiry {
        #[serde(with = "fixint::le")]
        round: u32,
        imputed: Option<f64>,
    },
    Promotion(u8, u8, bool, bool, [u8; 12], f32, f32),
    Forget {
        #[serde(with = "fixint::le")]
        guarantee_fingerprint: u32,
    },
    Fade {
        keep: f32,
    },
    ProbedDecision {
        #[serde(with = "fixint::le")]
        round: u32,
        action: u16,
        baseline: f64,
        context: Place,
        #[serde(with = "fixint::le")]
        at: u32,
        coins: Vec<(u8, f32)>,
    },
}

/// The bytes of an event without its checksum.
pub fn event_bytes(event: &Event) -> Vec<u8> {
    let wire = match event {
        Event::Permissions(set) => {
            let mut words = vec![0_u32; 32];
            set.iter().for_each(|action| words[action.index() / 32] |= 1 << (action.index() % 32));
            while words.pop_if(|word| *word == 0).is_some() {}
            Wire::Permissions(words)
        }
        Event::Onboarding(statement) => {
            let entries =
                statement.direction.entries().map(|(index, value)| (u16::try_from(index).unwrap(), value));
            Wire::Onboarding(entries.collect(), statement.response, statement.precision)
        }
        Event::Decision { round, action, baseline, context, time: at, probes: coins } => {
            let round = *round;
            let action = action.0;
            let baseline = *baseline;
            let context = Place::new(context);
            let at = *at;
            if coins.is_empty() {
                Wire::Decision { round, action, baseline, context, at }
            } else {
                let coins = coins.iter().map(|coin| (coin.contrast, coin.expected)).collect();
                Wire::ProbedDecision { round, action, baseline, context, at, coins }
            }
        }
        Event::Feedback { round, reward, weight: 1.0 } => Wire::Feedback { round: *round, reward: *reward },
        Event::Feedback { round, reward, weight } => {
            Wire::WeightedFeedback { round: *round, reward: *reward, weight: *weight }
        }
        Event::Observation(observation) => Wire::Observation(Seen::new(observation)),
        Event::Unlearn { observation, imputed, kept, probed } => {
            Wire::Unlearn(Seen::new(observation), *imputed, *kept, *probed.words())
        }
        Event::Expiry { round, imputed } => Wire::Expiry { round: *round, imputed: *imputed },
        Event::Promotion(promotion) => {
            let verdict = match promotion.verdict {
                Verdict::Against => 0,
                Verdict::Open => 1,
                Verdict::For => 2,
            };
            let [a, b, c] = [promotion.round, promotion.time, promotion.evidence].map(u32::to_le_bytes);
            let counts = [a, b, c].concat().try_into().unwrap();
            let by = promotion.by == Certifier::Probes;
            Wire::Promotion(
                promotion.contrast,
                verdict,
                promotion.valid,
                by,
                counts,
                promotion.lower,
                promotion.upper,
            )
        }
        Event::Forget { guarantee_fingerprint } => {
            Wire::Forget { guarantee_fingerprint: *guarantee_fingerprint }
        }
        Event::Fade { keep } => Wire::Fade { keep: *keep },
        _ => unreachable!("there is no other event"),
    };
    postcard::to_allocvec(&wire).unwrap()
}
