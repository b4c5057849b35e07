//! What postcard writes: plain copies of the types that have private fields or are not written as they stand.

use super::RecordError;
use crate::catalog::{Action, Catalog, Context, ContextError, Direction, MAX_SIGNALS, score::Scalar};
use crate::numbers::{MAX_BASELINE, bytes, within};
use crate::user::{Observation, Pending, Wait};
use postcard::fixint;
use serde::ser::SerializeTuple;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A number as postcard's varint, byte by byte: its own loop keeps a panic when it is built for size.
pub(super) struct Varint(pub(super) u32);

impl Serialize for Varint {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut bytes = serializer.serialize_tuple(5)?;
        let mut rest = self.0;
        loop {
            let [low, ..] = rest.to_le_bytes();
            rest >>= 7;
            if rest == 0 {
                bytes.serialize_element(&low)?;
                return bytes.end();
            }
            bytes.serialize_element(&(low | 0x80))?;
        }
    }
}

/// A `u16` as a varint.
pub(super) fn varint<S: Serializer>(number: &u16, serializer: S) -> Result<S::Ok, S::Error> {
    Varint(u32::from(*number)).serialize(serializer)
}

/// Fewer than 128 things after one byte with their number.
fn counted<S: Serializer, T: Serialize>(things: impl ExactSizeIterator<Item = T>, serializer: S) -> Result<S::Ok, S::Error> {
    let mut list = serializer.serialize_tuple(1 + things.len())?;
    list.serialize_element(&u8::try_from(things.len()).unwrap_or(u8::MAX))?;
    for thing in things {
        list.serialize_element(&thing)?;
    }
    list.end()
}

/// The words of a set of actions.
pub(super) struct WireWords<'w>(pub(super) &'w [u32]);

impl Serialize for WireWords<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        counted(self.0.iter().map(|word| Varint(*word)), serializer)
    }
}

/// A direction is written as a sequence of (coordinate, coefficient).
impl Serialize for Direction {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        counted(self.raw().map(|(coordinate, value)| (Varint(u32::from(coordinate)), value)), serializer)
    }
}

/// A context as it is written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct WireContext {
    /// 0, or 1 + the task.
    task: u8,
    #[serde(serialize_with = "write_signals", deserialize_with = "read_signals")]
    signals: heapless::Vec<f32, MAX_SIGNALS>,
}

fn write_signals<S: Serializer>(signals: &heapless::Vec<f32, MAX_SIGNALS>, serializer: S) -> Result<S::Ok, S::Error> {
    counted(signals.iter(), serializer)
}

fn read_signals<'de, D: Deserializer<'de>>(deserializer: D) -> Result<heapless::Vec<f32, MAX_SIGNALS>, D::Error> {
    let bytes = heapless::Vec::<[u8; 4], MAX_SIGNALS>::deserialize(deserializer)?;
    let mut signals = heapless::Vec::new();
    for bytes in bytes {
        let _ = signals.push(f32::from_le_bytes(bytes)); // as many as were read
    }
    Ok(signals)
}

impl WireContext {
    /// For the wire.
    #[must_use]
    #[inline]
    pub fn new(context: &Context) -> Self {
        let task = context.task().and_then(|task| u8::try_from(task + 1).ok()).unwrap_or(0);
        Self { task, signals: heapless::Vec::from_slice(context.signals()).unwrap_or_default() }
    }

    /// The context of a catalog.
    ///
    /// # Errors
    /// As for [`Context::new`].
    #[inline]
    pub fn context(&self, catalog: &Catalog<'_>) -> Result<Context, ContextError> {
        Context::new(catalog, self.task.checked_sub(1).map(usize::from), &self.signals)
    }

    #[inline]
    pub(super) fn read(&self, catalog: &Catalog<'_>) -> Result<Context, RecordError> {
        let context = self.context(catalog).map_err(|_| RecordError::Content)?;
        // One state has one encoding: a signal of -0 would be read as 0.
        let canonical = context.signals().iter().zip(&self.signals).all(|(a, b)| a.to_bits() == b.to_bits());
        if canonical { Ok(context) } else { Err(RecordError::Content) }
    }
}

/// An observation.
#[derive(Serialize, Deserialize)]
pub(super) struct WireObservation {
    context: WireContext,
    #[serde(serialize_with = "varint")]
    action: u16,
    #[serde(deserialize_with = "bytes::f64")]
    baseline: f64,
    #[serde(deserialize_with = "bytes::f64")]
    reward: f64,
    #[serde(deserialize_with = "bytes::f32")]
    weight: f32,
}

impl WireObservation {
    #[inline]
    pub(super) fn new(observation: &Observation) -> Self {
        let Observation { context, action, baseline, reward, weight } = *observation;
        Self { context: WireContext::new(&context), action: action.0, baseline, reward, weight }
    }

    #[inline]
    pub(super) fn read(&self, catalog: &Catalog<'_>) -> Result<Observation, RecordError> {
        let Self { action, baseline, reward, weight, .. } = *self;
        Ok(Observation { context: self.context.read(catalog)?, action: Action(action), baseline, reward, weight })
    }
}

/// A decision in the ring.
#[derive(Serialize, Deserialize)]
pub(super) struct WirePending {
    #[serde(with = "fixint::le")]
    round: u32,
    #[serde(with = "fixint::le")]
    at: u32,
    #[serde(serialize_with = "varint")]
    action: u16,
    wait: Wait,
    #[serde(deserialize_with = "bytes::f64")]
    baseline: f64,
    context: WireContext,
}

impl WirePending {
    #[inline]
    pub(super) fn new<T: Scalar>(pending: &Pending<T>) -> Self {
        let Pending { context, baseline, round, at, action, wait } = pending;
        let context = WireContext::new(context);
        Self { round: *round, at: *at, action: action.0, wait: *wait, baseline: baseline.to_f64(), context }
    }

    #[inline]
    pub(super) fn read<T: Scalar>(&self, catalog: &Catalog<'_>) -> Result<Pending<T>, RecordError> {
        let baseline = T::from_f64(self.baseline);
        let sound = within(self.baseline, MAX_BASELINE) && baseline.to_f64() == self.baseline;
        if !sound || usize::from(self.action) >= catalog.actions() {
            return Err(RecordError::Content);
        }
        let Self { round, at, wait, .. } = *self;
        Ok(Pending { context: self.context.read(catalog)?, baseline, round, at, action: Action(self.action), wait })
    }
}

/// The counters of a learner and the lengths of its lists.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub(super) struct Counters {
    #[serde(with = "fixint::le")]
    pub(super) incarnation: u32,
    #[serde(with = "fixint::le")]
    pub(super) round: u32,
    #[serde(with = "fixint::le")]
    pub(super) observations: u32,
    pub(super) voided: bool,
    #[serde(deserialize_with = "bytes::f64")]
    pub(super) log_det_ratio: f64,
    /// Words of the permissions up to the last nonzero one.
    pub(super) words: u8,
    /// Decisions in the ring.
    #[serde(serialize_with = "varint")]
    pub(super) pending: u16,
    /// Promotions.
    #[serde(serialize_with = "varint")]
    pub(super) profile: u16,
    /// Numbers of the state.
    #[serde(with = "fixint::le")]
    pub(super) numbers: u32,
}
