//! One event as bytes; see the table in the [module](super).

use super::wire::{Varint, WireContext, WireObservation, WireWords};
use super::{CRC_16, RecordError};
use crate::catalog::{Action, ActionSet, Catalog, Direction, Statement};
use crate::numbers::bytes;
use crate::user::{Event, Promotion};
use postcard::fixint;
use serde::{Deserialize, Serialize, Serializer};

/// The longest event: a statement over 24 coordinates.
pub const MAX_EVENT_LEN: usize = 260;

/// Bytes of the checksum.
const SUM: usize = 2;

/// What stands before the checksum. Postcard writes one thing after the other, so the largest, a statement, is written and read
/// by itself after its variant: nothing on the way has to have room for it.
#[derive(Deserialize)]
enum Wire {
    Permissions(heapless::Vec<u32, { ActionSet::WORDS }>),
    Onboarding,
    Decision {
        #[serde(with = "fixint::le")]
        round: u32,
        action: u16,
        #[serde(deserialize_with = "bytes::f64")]
        baseline: f64,
        context: WireContext,
        #[serde(with = "fixint::le")]
        at: u32,
    },
    Feedback {
        #[serde(with = "fixint::le")]
        round: u32,
        #[serde(deserialize_with = "bytes::f64")]
        reward: f64,
    },
    WeightedFeedback {
        #[serde(with = "fixint::le")]
        round: u32,
        #[serde(deserialize_with = "bytes::f64")]
        reward: f64,
        #[serde(deserialize_with = "bytes::f32")]
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
        #[serde(deserialize_with = "bytes::option")]
        imputed: Option<f64>,
    },
    Promotion(Promotion),
    Forget {
        #[serde(with = "fixint::le")]
        promise: u32,
    },
}

/// The variant's number and what is in it. Not derived: postcard's own numbers keep a panic when they are built for size.
impl Serialize for Wire {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Permissions(words) => (0_u8, WireWords(words)).serialize(serializer),
            Self::Onboarding => 1_u8.serialize(serializer),
            Self::Decision { round, action, baseline, context, at } => {
                let action = Varint(u32::from(*action));
                (2_u8, round.to_le_bytes(), action, baseline, context, at.to_le_bytes()).serialize(serializer)
            }
            Self::Feedback { round, reward } => (3_u8, round.to_le_bytes(), reward).serialize(serializer),
            Self::WeightedFeedback { round, reward, weight } => (4_u8, round.to_le_bytes(), reward, weight).serialize(serializer),
            Self::Observation(observation) => (5_u8, observation).serialize(serializer),
            Self::Unlearn { observation, imputed } => (6_u8, observation, imputed).serialize(serializer),
            Self::Expiry { round, imputed } => (7_u8, round.to_le_bytes(), imputed).serialize(serializer),
            Self::Promotion(promotion) => (8_u8, promotion).serialize(serializer),
            Self::Forget { promise } => (9_u8, promise.to_le_bytes()).serialize(serializer),
        }
    }
}

impl Wire {
    #[inline]
    fn new(event: &Event) -> Self {
        match event {
            Event::Permissions(set) => Self::Permissions(heapless::Vec::from_slice(set.used_words()).unwrap_or_default()),
            Event::Onboarding(_) => Self::Onboarding,
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

    /// Makes the event in its place, but for a statement, whose bytes come after it.
    #[inline]
    fn read(&self, catalog: &Catalog<'_>, place: &mut Event) -> Result<(), RecordError> {
        *place = match self {
            Self::Permissions(words) => {
                if words.last() == Some(&0) {
                    return Err(RecordError::Content);
                }
                Event::Permissions(ActionSet::from_words(words))
            }
            Self::Decision { round, action, baseline, context, at } => Event::Decision {
                round: *round,
                action: Action(*action),
                baseline: *baseline,
                context: context.read(catalog)?,
                at: *at,
            },
            Self::Feedback { round, reward } => Event::Feedback { round: *round, reward: *reward, weight: 1.0 },
            Self::Onboarding | Self::WeightedFeedback { weight: 1.0, .. } => return Err(RecordError::Content),
            Self::WeightedFeedback { round, reward, weight } => {
                Event::Feedback { round: *round, reward: *reward, weight: *weight }
            }
            Self::Observation(observation) => Event::Observation(observation.read(catalog)?),
            Self::Unlearn { observation, imputed } => {
                Event::Unlearn { observation: observation.read(catalog)?, imputed: *imputed }
            }
            Self::Expiry { round, imputed } => Event::Expiry { round: *round, imputed: *imputed },
            Self::Promotion(promotion) => Event::Promotion(*promotion),
            Self::Forget { promise } => Event::Forget { promise: *promise },
        };
        Ok(())
    }
}

/// Writes an event into a buffer and returns the part that was used. [`MAX_EVENT_LEN`] bytes are always enough.
///
/// # Errors
/// A buffer that is too small.
#[inline]
pub fn encode_event<'b>(event: &Event, buffer: &'b mut [u8]) -> Result<&'b [u8], RecordError> {
    let room = buffer.len().checked_sub(SUM).and_then(|room| buffer.get_mut(..room)).ok_or(RecordError::Buffer)?;
    let mut len = postcard::to_slice(&Wire::new(event), room).map_err(|_| RecordError::Buffer)?.len();
    if let Event::Onboarding(statement) = event {
        let behind = room.get_mut(len..).unwrap_or_default();
        let Statement { direction, response, precision } = statement;
        len += postcard::to_slice(&(direction, response, precision), behind).map_err(|_| RecordError::Buffer)?.len();
    }
    let sum = CRC_16.checksum(room.get(..len).unwrap_or_default()).to_le_bytes();
    for (slot, byte) in buffer.iter_mut().skip(len).zip(sum) {
        *slot = byte;
    }
    buffer.get(..len + SUM).ok_or(RecordError::Buffer)
}

/// Reads one event, exactly. What it says is for [`check`](crate::User::check) to judge.
///
/// # Errors
/// Too few bytes, a wrong checksum, bytes after the end, or a content that no event of this catalog has.
#[inline]
pub fn decode_event(catalog: &Catalog<'_>, bytes: &[u8]) -> Result<Event, RecordError> {
    let mut event = Event::Forget { promise: 0 };
    decode_event_into(catalog, bytes, &mut event)?;
    Ok(event)
}

/// Reads one event, as [`decode_event`], into its place: an event is large, and a small device has no room for two. After an
/// error the place holds some event or other.
///
/// # Errors
/// As for [`decode_event`].
#[inline]
pub fn decode_event_into(catalog: &Catalog<'_>, bytes: &[u8], place: &mut Event) -> Result<(), RecordError> {
    // `split_last_chunk` keeps a panic when it is built for size.
    let end = bytes.len().checked_sub(SUM).filter(|end| *end > 0);
    let (body, sum) = end.and_then(|end| bytes.split_at_checked(end)).ok_or(RecordError::Truncated)?;
    if CRC_16.checksum(body).to_le_bytes() != *sum {
        return Err(RecordError::Checksum);
    }
    match take::<Wire>(body)? {
        (Wire::Onboarding, rest) => statement(catalog, rest, place),
        (wire, []) => wire.read(catalog, place),
        _ => Err(RecordError::TooLong),
    }
}

/// A statement in its place: a sequence of (coordinate, coefficient), the response, the precision.
#[inline]
fn statement(catalog: &Catalog<'_>, bytes: &[u8], place: &mut Event) -> Result<(), RecordError> {
    *place = Event::Onboarding(Statement { direction: Direction::default(), response: 0.0, precision: 0.0 });
    let Event::Onboarding(statement) = place else { return Err(RecordError::Content) };
    let (count, mut rest) = take::<u32>(bytes)?;
    for _ in 0..count {
        let ((coordinate, coefficient), behind) = take::<(u16, [u8; 8])>(rest)?;
        statement.direction.push(coordinate, f64::from_le_bytes(coefficient)).ok_or(RecordError::Content)?;
        rest = behind;
    }
    let ((response, precision), rest) = take(rest)?;
    (statement.response, statement.precision) = (f64::from_le_bytes(response), f64::from_le_bytes(precision));
    statement.direction.check(catalog).map_err(|_| RecordError::Content)?;
    if rest.is_empty() { Ok(()) } else { Err(RecordError::TooLong) }
}

/// In a stack frame of its own: what reading takes is free again when the event is made.
#[inline(never)]
fn take<'b, D: Deserialize<'b>>(bytes: &'b [u8]) -> Result<(D, &'b [u8]), RecordError> {
    postcard::take_from_bytes(bytes).map_err(|error| match error {
        postcard::Error::DeserializeUnexpectedEnd => RecordError::Truncated,
        _ => RecordError::Content,
    })
}
