//! What postcard writes: plain copies of the types that have private fields or are not written as they stand.

use super::RecordError;
use crate::catalog::{Action, Catalog, Context, ContextError, Direction, MAX_SIGNALS, score::Scalar};
use crate::numbers::{MAX_BASELINE, within};
use crate::user::{Observation, Pending, Wait};
use postcard::fixint;
use serde::{Deserialize, Serialize, Serializer};

/// A direction is written as a sequence of (coordinate, coefficient).
impl Serialize for Direction {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.raw())
    }
}

/// A context as it is written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct WireContext {
    /// 0, or 1 + the task.
    task: u8,
    signals: heapless::Vec<f32, MAX_SIGNALS>,
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
    action: u16,
    baseline: f64,
    reward: f64,
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
    action: u16,
    wait: Wait,
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
    pub(super) log_det_ratio: f64,
    /// Words of the permissions up to the last nonzero one.
    pub(super) words: u8,
    /// Decisions in the ring.
    pub(super) pending: u16,
    /// Promotions.
    pub(super) profile: u16,
    /// Numbers of the state.
    #[serde(with = "fixint::le")]
    pub(super) numbers: u32,
}
