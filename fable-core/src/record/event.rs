//! One event as bytes; see the table in the [module](super).

use super::wire::{WireContext, WireObservation};
use super::{CRC_16, RecordError};
use crate::catalog::{Action, Catalog};
use crate::event::Event;
use crate::feasible::ActionSet;
use crate::onboarding::{Direction, MAX_DIRECTION, Statement};
use crate::trust::promotion::Promotion;
use postcard::fixint;
use serde::{Deserialize, Serialize};

/// The longest event: a statement over 24 coordinates.
pub const MAX_EVENT_LEN: usize = 260;

/// Bytes of the checksum.
const SUM: usize = 2;

#[derive(Serialize, Deserialize)]
#[expect(clippy::large_enum_variant, reason = "no allocator to box with; lives for one call")]
enum Wire {
    Permissions(heapless::Vec<u32, { ActionSet::WORDS }>),
    Onboarding {
        direction: heapless::Vec<(u16, f64), MAX_DIRECTION>,
        response: f64,
        precision: f64,
    },
    Decision {
        #[serde(with = "fixint::le")]
        round: u32,
        action: u16,
        baseline: f64,
        context: WireContext,
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
    Observation(WireObservation),
    Unlearn {
        observation: WireObservation,
        imputed: bool,
    },
    Expiry {
        #[serde(with = "fixint::le")]
        round: u32,
        imputed: Option<f64>,
    },
    Promotion(Promotion),
    Forget {
        #[serde(with = "fixint::le")]
        promise: u32,
    },
}

impl Wire {
    fn new(event: &Event) -> Self {
        match event {
            Event::Permissions(set) => Self::Permissions(heapless::Vec::from_slice(set.used_words()).unwrap_or_default()),
            Event::Onboarding(Statement { direction, response, precision }) => {
                Self::Onboarding { direction: direction.raw().clone(), response: *response, precision: *precision }
            }
            Event::Decision { round, action, baseline, context, at } => Self::Decision {
                round: *round,
                action: action.0,
                baseline: *baseline,
                context: WireContext::new(context),
                at: *at,
            },
            Event::Feedback { round, reward, weight: 1.0 } => Self::Feedback { round: *round, reward: *reward },
            Event::Feedback { round, reward, weight } => {
                Self::WeightedFeedback { round: *round, reward: *reward, weight: *weight }
            }
            Event::Observation(observation) => Self::Observation(WireObservation::new(observation)),
            Event::Unlearn { observation, imputed } => {
                Self::Unlearn { observation: WireObservation::new(observation), imputed: *imputed }
            }
            Event::Expiry { round, imputed } => Self::Expiry { round: *round, imputed: *imputed },
            Event::Promotion(promotion) => Self::Promotion(*promotion),
            Event::Forget { promise } => Self::Forget { promise: *promise },
        }
    }

    fn read(self, catalog: &Catalog<'_>) -> Result<Event, RecordError> {
        Ok(match self {
            Self::Permissions(words) => {
                if words.last() == Some(&0) {
                    return Err(RecordError::Content);
                }
                Event::Permissions(ActionSet::from_words(&words))
            }
            Self::Onboarding { direction, response, precision } => {
                let entries = direction.iter().map(|(coordinate, value)| (usize::from(*coordinate), *value));
                let direction = Direction::new(catalog, entries).map_err(|_| RecordError::Content)?;
                Event::Onboarding(Statement { direction, response, precision })
            }
            Self::Decision { round, action, baseline, context, at } => {
                Event::Decision { round, action: Action(action), baseline, context: context.read(catalog)?, at }
            }
            Self::Feedback { round, reward } => Event::Feedback { round, reward, weight: 1.0 },
            Self::WeightedFeedback { weight: 1.0, .. } => return Err(RecordError::Content),
            Self::WeightedFeedback { round, reward, weight } => Event::Feedback { round, reward, weight },
            Self::Observation(observation) => Event::Observation(observation.read(catalog)?),
            Self::Unlearn { observation, imputed } => Event::Unlearn { observation: observation.read(catalog)?, imputed },
            Self::Expiry { round, imputed } => Event::Expiry { round, imputed },
            Self::Promotion(promotion) => Event::Promotion(promotion),
            Self::Forget { promise } => Event::Forget { promise },
        })
    }
}

/// Writes an event into a buffer and returns the part that was used. [`MAX_EVENT_LEN`] bytes are always enough.
///
/// # Errors
/// A buffer that is too small.
pub fn encode_event<'b>(event: &Event, buffer: &'b mut [u8]) -> Result<&'b [u8], RecordError> {
    let room = buffer.len().checked_sub(SUM).and_then(|room| buffer.get_mut(..room)).ok_or(RecordError::Buffer)?;
    let body = postcard::to_slice(&Wire::new(event), room).map_err(|_| RecordError::Buffer)?;
    let (len, sum) = (body.len(), CRC_16.checksum(body).to_le_bytes());
    for (slot, byte) in buffer.iter_mut().skip(len).zip(sum) {
        *slot = byte;
    }
    buffer.get(..len + SUM).ok_or(RecordError::Buffer)
}

/// Reads one event, exactly. What it says is for [`check`](crate::Learner::check) to judge.
///
/// # Errors
/// Too few bytes, a wrong checksum, bytes behind the end, or a content that no event of this catalog has.
pub fn decode_event(catalog: &Catalog<'_>, bytes: &[u8]) -> Result<Event, RecordError> {
    let (body, sum) = bytes.split_last_chunk::<SUM>().ok_or(RecordError::Truncated)?;
    if body.is_empty() {
        return Err(RecordError::Truncated);
    }
    if CRC_16.checksum(body) != u16::from_le_bytes(*sum) {
        return Err(RecordError::Checksum);
    }
    match postcard::take_from_bytes::<Wire>(body) {
        Ok((wire, [])) => wire.read(catalog),
        Ok(_) => Err(RecordError::TooLong),
        Err(postcard::Error::DeserializeUnexpectedEnd) => Err(RecordError::Truncated),
        Err(_) => Err(RecordError::Content),
    }
}
