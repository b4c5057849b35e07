//! Parts of records in postcard's wire format, read and written by hand.
//!
//! Postcard's own code is generic and keeps panics in builds optimized for size. These functions have no
//! panics and take four kilobytes less on a Cortex-M0. `tests/it/record.rs` compares their output with
//! postcard's.

use super::RecordError;
use crate::catalog::{Action, Catalog, Context, ContrastSet, MAX_SIGNALS, score::Scalar};
use crate::numbers::{MAX_BASELINE, within};
use crate::user::{Certifier, Observation, Pending, Promotion, Verdict, Wait};

/// A writer into a buffer.
#[derive(Debug)]
pub struct Output<'b> {
    bytes: &'b mut [u8],
    written: usize,
}

impl<'b> Output<'b> {
    /// Starts at the first byte of a buffer.
    #[must_use]
    pub const fn new(bytes: &'b mut [u8]) -> Self {
        Self { bytes, written: 0 }
    }

    /// Number of bytes written; `None` if the buffer is too small.
    #[must_use]
    pub const fn written(&self) -> Option<usize> {
        if self.written <= self.bytes.len() { Some(self.written) } else { None }
    }

    /// Writes bytes.
    #[inline(never)]
    pub fn put(&mut self, bytes: &[u8]) {
        for (slot, byte) in self.bytes.iter_mut().skip(self.written).zip(bytes) {
            *slot = *byte;
        }
        self.written = self.written.saturating_add(bytes.len());
    }

    /// Writes one byte.
    pub fn byte(&mut self, byte: u8) {
        self.put(&[byte]);
    }

    /// Writes seven bits per byte, lowest first.
    #[inline(never)]
    pub fn varint(&mut self, mut number: u32) {
        while number >= 0x80 {
            let [low, ..] = number.to_le_bytes();
            self.byte(low | 0x80);
            number >>= 7;
        }
        let [low, ..] = number.to_le_bytes();
        self.byte(low);
    }

    /// Writes four bytes.
    pub fn u32(&mut self, number: u32) {
        self.put(&number.to_le_bytes());
    }

    /// Writes four bytes.
    pub fn f32(&mut self, number: f32) {
        self.put(&number.to_le_bytes());
    }

    /// Writes eight bytes.
    pub fn f64(&mut self, number: f64) {
        self.put(&number.to_le_bytes());
    }

    pub(crate) fn context(&mut self, context: &Context) {
        self.byte(context.task().and_then(|task| u8::try_from(task + 1).ok()).unwrap_or(0));
        self.varint(u32::try_from(context.signals().len()).unwrap_or(0));
        for signal in context.signals() {
            self.f32(*signal);
        }
    }

    pub(crate) fn observation(&mut self, observation: &Observation) {
        self.context(&observation.context);
        self.varint(observation.action.0.into());
        self.f64(observation.baseline);
        self.f64(observation.reward);
        self.f32(observation.weight);
    }

    pub(crate) fn pending<T: Scalar>(&mut self, pending: &Pending<T>) {
        self.u32(pending.round);
        self.u32(pending.time);
        self.varint(pending.action.0.into());
        self.byte(pending.wait as u8);
        self.f64(pending.baseline.to_f64());
        self.context(&pending.context);
        self.contrasts(&pending.probed);
    }

    pub(crate) fn contrasts(&mut self, contrasts: &ContrastSet) {
        contrasts.words().iter().for_each(|word| self.varint(*word));
    }

    /// Writes a promotion, as in its event.
    pub fn promotion(&mut self, promotion: &Promotion) {
        self.put(&[promotion.contrast, promotion.verdict as u8, promotion.valid.into(), promotion.by as u8]);
        self.u32(promotion.round);
        self.u32(promotion.time);
        self.u32(promotion.evidence);
        self.f32(promotion.lower);
        self.f32(promotion.upper);
    }

    pub(crate) fn counters(&mut self, counters: &Counters) {
        self.u32(counters.incarnation);
        self.u32(counters.site);
        self.u32(counters.round);
        self.u32(counters.events);
        self.u32(counters.observations);
        self.byte(counters.voided.into());
        self.f64(counters.log_det_ratio);
        self.varint(counters.since_fading.into());
        self.f32(counters.squares);
        self.varint(counters.disappointment.into());
        self.byte(counters.since_change);
        self.byte(counters.merged);
        self.byte(counters.words);
        self.varint(counters.pending.into());
        self.varint(counters.profile.into());
        self.u32(counters.numbers);
    }
}

/// A reader of bytes that keeps the first error. After an error it returns zeros.
///
/// Callers check once, at the [end](Self::end). A check after every number takes more code than reading the
/// numbers.
#[derive(Debug)]
pub struct Input<'b> {
    rest: &'b [u8],
    /// The first error.
    fault: Option<RecordError>,
}

impl<'b> Input<'b> {
    /// Starts at the first byte.
    #[must_use]
    pub const fn new(bytes: &'b [u8]) -> Self {
        Self { rest: bytes, fault: None }
    }

    /// The bytes not read yet.
    #[must_use]
    pub const fn rest(&self) -> &'b [u8] {
        self.rest
    }

    /// Ends the reading.
    ///
    /// # Errors
    /// The first error.
    pub const fn end(&self) -> Result<(), RecordError> {
        match self.fault {
            Some(fault) => Err(fault),
            None => Ok(()),
        }
    }

    /// Records that the content is not valid.
    pub const fn refuse(&mut self) {
        self.fail(RecordError::Content);
    }

    const fn fail(&mut self, fault: RecordError) {
        if self.fault.is_none() {
            self.fault = Some(fault);
        }
        self.rest = &[];
    }

    #[inline(never)]
    fn fill(&mut self, bytes: &mut [u8]) {
        let Some((taken, rest)) = self.rest.split_at_checked(bytes.len()) else {
            return self.fail(RecordError::Truncated);
        };
        for (slot, byte) in bytes.iter_mut().zip(taken) {
            *slot = *byte;
        }
        self.rest = rest;
    }

    /// Reads one byte.
    #[inline(never)]
    pub fn byte(&mut self) -> u8 {
        let mut byte = [0];
        self.fill(&mut byte);
        let [byte] = byte;
        byte
    }

    /// Reads a bool or an `Option` tag.
    #[inline(never)]
    pub fn flag(&mut self) -> bool {
        let byte = self.byte();
        if byte > 1 {
            self.refuse();
        }
        byte == 1
    }

    /// Reads a varint. Longer encodings than necessary are refused.
    #[inline(never)]
    pub fn varint(&mut self) -> u32 {
        let mut number = 0_u32;
        for index in 0..5 {
            let byte = self.byte();
            number |= u32::from(byte & 0x7f) << (7 * index);
            if byte & 0x80 == 0 {
                if (byte == 0 && index > 0) || (index == 4 && byte > 0xf) {
                    break;
                }
                return number;
            }
        }
        self.refuse();
        0
    }

    /// Reads a varint of at most 65,535.
    #[inline(never)]
    pub fn short(&mut self) -> u16 {
        u16::try_from(self.varint()).unwrap_or_else(|_| {
            self.refuse();
            0
        })
    }

    /// Reads four bytes.
    #[inline(never)]
    pub fn u32(&mut self) -> u32 {
        let mut bytes = [0; 4];
        self.fill(&mut bytes);
        u32::from_le_bytes(bytes)
    }

    /// Reads eight bytes.
    #[inline(never)]
    pub fn u64(&mut self) -> u64 {
        let mut bytes = [0; 8];
        self.fill(&mut bytes);
        u64::from_le_bytes(bytes)
    }

    /// Reads four bytes.
    pub fn f32(&mut self) -> f32 {
        f32::from_bits(self.u32())
    }

    /// Reads eight bytes.
    pub fn f64(&mut self) -> f64 {
        f64::from_bits(self.u64())
    }

    /// Reads a context of a catalog. A state has one encoding, so a signal of -0 is refused.
    ///
    /// # Errors
    /// The first error so far, or a context that the catalog does not have.
    #[inline(never)]
    pub(crate) fn context(&mut self, catalog: &Catalog<'_>) -> Result<Context, RecordError> {
        let task = self.byte().checked_sub(1).map(usize::from);
        let count = usize::try_from(self.varint()).map_err(|_| RecordError::Content)?;
        let mut signals = [0.0; MAX_SIGNALS];
        let signals = signals.get_mut(..count).ok_or(RecordError::Content)?;
        for signal in &mut *signals {
            *signal = self.f32();
            if signal.is_sign_negative() {
                return Err(RecordError::Content);
            }
        }
        self.end()?;
        Context::new(catalog, task, signals).map_err(|_| RecordError::Content)
    }

    pub(crate) fn observation(&mut self, catalog: &Catalog<'_>) -> Result<Observation, RecordError> {
        let (context, action) = (self.context(catalog)?, Action(self.short()));
        Ok(Observation { context, action, baseline: self.f64(), reward: self.f64(), weight: self.f32() })
    }

    pub(crate) fn pending<T: Scalar>(&mut self, catalog: &Catalog<'_>) -> Result<Pending<T>, RecordError> {
        let round = self.u32();
        let time = self.u32();
        let action = Action(self.short());
        let wait = match self.byte() {
            0 => Wait::Waiting,
            1 => Wait::Rewarded,
            2 => Wait::Expired,
            _ => return Err(RecordError::Content),
        };
        let exact = self.f64();
        let baseline = T::from_f64(exact);
        let context = self.context(catalog)?;
        let probed = self.contrasts();
        let sound =
            within(exact, MAX_BASELINE) && baseline.to_f64() == exact && action.index() < catalog.actions();
        if sound {
            Ok(Pending { context, baseline, round, time, action, wait, probed })
        } else {
            Err(RecordError::Content)
        }
    }

    pub(crate) fn contrasts(&mut self) -> ContrastSet {
        ContrastSet::from_words([self.varint(), self.varint()])
    }

    /// Reads a promotion, as in its event.
    #[inline(never)]
    pub fn promotion(&mut self) -> Promotion {
        let contrast = self.byte();
        let verdict = match self.byte() {
            0 => Verdict::Against,
            1 => Verdict::Open,
            2 => Verdict::For,
            _ => {
                self.refuse();
                Verdict::Open
            }
        };
        let valid = self.flag();
        let by = if self.flag() { Certifier::Probes } else { Certifier::Ellipsoid };
        let round = self.u32();
        let time = self.u32();
        let evidence = self.u32();
        Promotion {
            contrast,
            verdict,
            valid,
            by,
            round,
            time,
            evidence,
            lower: self.f32(),
            upper: self.f32(),
        }
    }

    pub(crate) fn counters(&mut self) -> Counters {
        Counters {
            incarnation: self.u32(),
            site: self.u32(),
            round: self.u32(),
            events: self.u32(),
            observations: self.u32(),
            voided: self.flag(),
            log_det_ratio: self.f64(),
            since_fading: self.short(),
            squares: self.f32(),
            disappointment: self.short(),
            since_change: self.byte(),
            merged: self.byte(),
            words: self.byte(),
            pending: self.short(),
            profile: self.short(),
            numbers: self.u32(),
        }
    }
}

/// The counters of a learner and the lengths of its lists.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub(crate) struct Counters {
    pub(crate) incarnation: u32,
    pub(crate) site: u32,
    pub(crate) round: u32,
    pub(crate) events: u32,
    pub(crate) observations: u32,
    pub(crate) voided: bool,
    pub(crate) log_det_ratio: f64,
    pub(crate) since_fading: u16,
    pub(crate) squares: f32,
    pub(crate) disappointment: u16,
    pub(crate) since_change: u8,
    /// Merged sites.
    pub(crate) merged: u8,
    /// Words of the permissions up to the last nonzero one.
    pub(crate) words: u8,
    /// Decisions in the ring.
    pub(crate) pending: u16,
    /// Promotions.
    pub(crate) profile: u16,
    /// Numbers of the state.
    pub(crate) numbers: u32,
}
