//! A whole state as a stream of bytes, written and read in chunks of any size. A device needs 256 bytes and
//! no second copy.
//!
//! [`Snapshot`] writes. Reading takes two passes over the same bytes. A [`Verifier`] checks all of them and
//! changes nothing, then a [`Loader`] copies them into an empty learner, in place. After a failed load the
//! learner is empty again. A learner continues from a snapshot with the same bits on every platform.
//!
//! A population's prior is a snapshot with zero rounds, of a learner [started
//! from](crate::Learner::start_from) it. Load it, or use its [`packed`](crate::posterior::Posterior::packed)
//! numbers as a [`Factor`](crate::posterior::Factor).
//!
//! The counters are, in this order: incarnation, site that decides (0 before the first decision), round,
//! events and observations, fixed `u32` each; voided guarantee, `u8`; log-determinant ratio, `f64`; rewards
//! since the last fading, `u16`; sum of squared surprises, `f32`; evidence of a change, `u16`, and rewards
//! since a change, `u8`; numbers of other sites, `u8`; of words of the permissions, `u8`; of decisions in the
//! ring, `u16`; of promotions, `u16`; of numbers, fixed `u32`.
//!
//! A decision in the ring is its round and time, fixed `u32`; action, `u16`; wait, `u8` (0 waits, 1 rewarded,
//! 2 expired); baseline, `f64`; context; the contrasts whose last probe it has, a set.
//!
//! The numbers are the packed posterior, the evidence counts, and 15 for each declared contrast: the
//! logarithms of ten products of wealth, for and against; the sum of Z and V; m of the last probe; trials +
//! 2^16 x (0 open, 1 certified for, 2 against) + 3 x 2^16 x starts; the e-detector. The last 24 have the bits
//! of the [codes](crate::preference::UserRule::code) of the user's rules, then zeros.
//!
//! ```
//! use fable_core::record::Verifier;
//! use fable_core::catalog::TAU2;
//! use fable_core::host::HostLearner;
//! use fable_core::{Action, HostUser, Policy, Settings};
//!
//! let policy = Policy::<f32>::new(&TAU2, Settings::default())?;
//! let mut ana = HostUser::<f32>::new(&policy, "ana")?;
//! ana.user().observe(&TAU2.context(None, [])?, Action(3), 0.5)?;
//!
//! let mut user = ana.user();
//! let mut snapshot = user.snapshot()?;
//! let mut chunk = [0; 256];
//! let mut stored = vec![];
//! while let written @ 1.. = snapshot.read(&mut chunk) {
//!     stored.extend_from_slice(&chunk[..written]);
//! }
//!
//! let mut verifier = Verifier::new(&policy);
//! stored.chunks(256).try_for_each(|chunk| verifier.push(chunk))?;
//! let verified = verifier.finish()?;
//! let mut again = HostLearner::<f32>::for_policy(&policy);
//! let mut loader = again.load(&policy, verified)?;
//! stored.chunks(256).try_for_each(|chunk| loader.push(chunk))?;
//! loader.finish()?;
//! assert_eq!(&again, ana.learner());
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```

use super::restore::{Loader, Verified, Verifier};
use super::wire::{Counters, Output};
use super::{CRC_32, HEADER_LEN, Header, Kind, RecordError, Way, digits};
use crate::catalog::{Catalog, score::Scalar};
use crate::numbers::Storage;
use crate::policy::Policy;
use crate::posterior::PosteriorError;
#[cfg(feature = "alloc")]
use crate::user::{HostLearner, HostUser};
use crate::user::{Learner, Memory, User, UserError, View};
use crc::Digest;

/// The longest part: a decision with 16 signals, probes and its length byte.
const MAX_PART: usize = 96;

pub(super) type Piece = heapless::Vec<u8, MAX_PART>;

/// Bytes of the longest snapshot of a learner with `R` = `capacity` that was not merged from other sites, for
/// a device to reserve.
///
/// ```
/// use fable_core::{catalog::TAU2, record::snapshot::max_len};
/// const LEN: usize = max_len::<f32>(&TAU2, 8);
/// assert_eq!(LEN, 2_771);
/// ```
#[must_use]
pub const fn max_len<T: Scalar>(catalog: &Catalog<'_>, capacity: usize) -> usize {
    let action = if catalog.actions() > 128 { 2 } else { 1 };
    let contrasts = catalog.contrasts().len();
    let probed =
        if contrasts <= 32 { varint_len(contrasts) + 1 } else { varint_len(32) + varint_len(contrasts - 32) };
    let decision = 1 + 4 + 4 + action + 1 + 8 + 2 + 4 * catalog.definition().signals.len() + probed;
    let promotion = 1 + 4 + 3 * 4 + 2 * 4;
    let promotions = if contrasts < capacity { contrasts } else { capacity };
    let (words, counters) =
        (catalog.actions().div_ceil(32), 1 + 5 * 4 + 1 + 8 + 3 + 4 + 3 + 1 + 1 + 1 + 3 + 3 + 4);
    let lists = 4 * words + decision * capacity + promotion * promotions;
    HEADER_LEN + counters + lists + width::<T>() * catalog.state_len() + 4
}

/// Bytes of the longest varint of a number of bits.
const fn varint_len(bits: usize) -> usize {
    if bits == 0 { 1 } else { bits.div_ceil(7) }
}

/// The next part. Parts of lists have a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    Header,
    Counters,
    Merged(u8),
    Word(u8),
    Pending(u16),
    Promotion(u16),
    Number(u32),
    Sum,
    Done,
    /// An error was returned. All further bytes are refused.
    Failed,
}

impl Stage {
    #[inline]
    pub(super) const fn next(self, counters: &Counters) -> Self {
        let mut next = match self {
            Self::Header => return Self::Counters,
            Self::Counters => Self::Merged(0),
            Self::Merged(index) => Self::Merged(index.saturating_add(1)),
            Self::Word(index) => Self::Word(index.saturating_add(1)),
            Self::Pending(index) => Self::Pending(index.saturating_add(1)),
            Self::Promotion(index) => Self::Promotion(index.saturating_add(1)),
            Self::Number(index) => Self::Number(index.saturating_add(1)),
            Self::Sum | Self::Done => return Self::Done,
            Self::Failed => return Self::Failed,
        };
        if let Self::Merged(index) = next
            && index >= counters.merged
        {
            next = Self::Word(0);
        }
        if let Self::Word(index) = next
            && index >= counters.words
        {
            next = Self::Pending(0);
        }
        if let Self::Pending(index) = next
            && index >= counters.pending
        {
            next = Self::Promotion(0);
        }
        if let Self::Promotion(index) = next
            && index >= counters.profile
        {
            next = Self::Number(0);
        }
        match next {
            Self::Number(index) if index >= counters.numbers => Self::Sum,
            next => next,
        }
    }
}

/// A snapshot being written.
pub struct Snapshot<'l, T> {
    view: View<'l, T>,
    counters: Counters,
    stage: Stage,
    part: Piece,
    taken: usize,
    digest: Digest<'static, u32, Way>,
}

impl<T: Scalar> User<'_, T> {
    /// Starts writing a snapshot.
    ///
    /// # Errors
    /// An empty user.
    pub fn snapshot(&self) -> Result<Snapshot<'_, T>, UserError> {
        Snapshot::new(self.memory.view())
    }

    /// Checks that a verified snapshot can be loaded in place of this user, before the state is given up.
    ///
    /// # Errors
    /// Too little capacity for the ring or the profile.
    pub fn fits(&self, verified: &Verified) -> Result<(), RecordError> {
        fits(self.memory.view(), self.policy, verified)
    }

    /// Starts loading a verified snapshot in place of this user. Its bytes are pushed again. The user is
    /// empty until the load is finished.
    ///
    /// # Errors
    /// As for [`fits`](Self::fits); nothing has changed then.
    pub fn load(&mut self, verified: Verified) -> Result<Loader<'_, T>, RecordError> {
        self.fits(&verified)?;
        Ok(Loader::new(self.memory.reborrow(), self.policy, verified))
    }

    /// Restores the user of a snapshot: verifies, then loads.
    ///
    /// # Errors
    /// As for [`Learner::restore`]; nothing has changed then.
    pub fn restore(&mut self, bytes: &[u8]) -> Result<(), RecordError> {
        restore(self.memory.reborrow(), self.policy, bytes)
    }
}

impl<T: Scalar, S: Storage<T>, const R: usize> Learner<T, S, R> {
    /// Starts writing a snapshot.
    ///
    /// # Errors
    /// An empty learner.
    pub fn snapshot(&self) -> Result<Snapshot<'_, T>, UserError> {
        Snapshot::new(self.view())
    }

    /// The bytes of a snapshot.
    ///
    /// # Errors
    /// An empty learner.
    #[cfg(feature = "alloc")]
    pub fn to_bytes(&self) -> Result<alloc::vec::Vec<u8>, UserError> {
        let mut snapshot = self.snapshot()?;
        let mut bytes = alloc::vec![0; snapshot.len()];
        let length = snapshot.read(&mut bytes);
        bytes.truncate(length);
        Ok(bytes)
    }

    /// Restores the learner of a snapshot: verifies, then loads. The learner may be in use.
    ///
    /// # Errors
    /// Bytes that are not a sound snapshot under this policy, or do not fit; nothing has changed then.
    pub fn restore(&mut self, policy: &Policy<'_, T>, bytes: &[u8]) -> Result<(), RecordError> {
        restore(self.memory(), policy, bytes)
    }

    /// Starts loading a verified snapshot into this empty learner. Its bytes are pushed again.
    ///
    /// # Errors
    /// A learner that is not empty, storage of another length, too little capacity for the ring or the
    /// profile.
    pub fn load<'l>(
        &'l mut self,
        policy: &'l Policy<'l, T>,
        verified: Verified,
    ) -> Result<Loader<'l, T>, RecordError> {
        if !self.state().is_empty() {
            return Err(RecordError::Occupied);
        }
        fits(self.view(), policy, &verified)?;
        Ok(Loader::new(self.memory(), policy, verified))
    }
}

#[cfg(feature = "alloc")]
impl<'p, T: Scalar, const R: usize> HostUser<'p, T, R> {
    /// The bytes of a snapshot.
    #[must_use]
    pub fn to_bytes(&self) -> alloc::vec::Vec<u8> {
        self.learner().to_bytes().unwrap_or_default() // never empty
    }

    /// The user of a snapshot.
    ///
    /// # Errors
    /// Bytes that are not a sound snapshot of a user of this policy.
    pub fn restore(policy: &Policy<'p, T>, bytes: &[u8]) -> Result<Self, RecordError> {
        let mut learner = HostLearner::for_policy(policy);
        learner.restore(policy, bytes)?;
        Self::from_learner(policy, learner).map_err(|_| RecordError::Policy)
    }
}

fn restore<T: Scalar>(
    memory: Memory<'_, T>,
    policy: &Policy<'_, T>,
    bytes: &[u8],
) -> Result<(), RecordError> {
    let mut verifier = Verifier::new(policy);
    verifier.push(bytes)?;
    let verified = verifier.finish()?;
    fits(memory.view(), policy, &verified)?;
    let mut loader = Loader::new(memory, policy, verified);
    loader.push(bytes)?;
    loader.finish()
}

/// Checks that a verified snapshot can be loaded into memory.
fn fits<T: Scalar>(
    view: View<'_, T>,
    policy: &Policy<'_, T>,
    verified: &Verified,
) -> Result<(), RecordError> {
    let (needed, expected) = (verified.capacity(), policy.catalog().state_len());
    if view.storage.len() != expected {
        Err(RecordError::Storage { expected })
    } else if usize::from(needed) > view.pending.len() {
        Err(RecordError::Capacity { needed })
    } else {
        Ok(())
    }
}

impl<'l, T: Scalar> Snapshot<'l, T> {
    fn new(view: View<'l, T>) -> Result<Self, UserError> {
        let state = view.state;
        if state.is_empty() {
            return Err(UserError::Posterior(PosteriorError::NotStarted));
        }
        let count = |count: usize| u16::try_from(count).unwrap_or(u16::MAX);
        let counters = Counters {
            incarnation: state.incarnation,
            site: state.site,
            round: state.round,
            events: state.events,
            observations: state.observations,
            voided: state.voided,
            log_det_ratio: state.log_det_ratio,
            since_fading: state.since_fading,
            squares: state.squares,
            disappointment: state.disappointment,
            since_change: state.since_change,
            merged: u8::try_from(state.merged.iter().count()).unwrap_or(u8::MAX),
            words: u8::try_from(state.permissions.used_words().len()).unwrap_or(u8::MAX),
            pending: count(view.ring().count()),
            profile: count(view.profile.len()),
            numbers: u32::try_from(view.storage.len()).unwrap_or(u32::MAX),
        };
        Ok(Self {
            view,
            counters,
            stage: Stage::Header,
            part: Piece::new(),
            taken: 0,
            digest: CRC_32.digest(),
        })
    }

    /// At least as many bytes as the whole snapshot has.
    #[cfg(feature = "alloc")]
    fn len(&self) -> usize {
        let Counters { pending, profile, merged, words, .. } = self.counters;
        let lists = MAX_PART * (usize::from(pending) + usize::from(profile) + 1)
            + 8 * usize::from(merged)
            + 4 * usize::from(words);
        HEADER_LEN + lists + width::<T>() * self.view.storage.len() + 4
    }

    /// Writes the next bytes. The result is their number; 0 at the end.
    pub fn read(&mut self, out: &mut [u8]) -> usize {
        let mut written = 0;
        while let Some(out) = out.get_mut(written..).filter(|out| !out.is_empty()) {
            let rest = self.part.get(self.taken..).unwrap_or(&[]);
            if rest.is_empty() {
                if self.stage == Stage::Done {
                    break;
                }
                self.write_part();
                continue;
            }
            let count = rest.len().min(out.len());
            for (slot, byte) in out.iter_mut().zip(rest) {
                *slot = *byte;
            }
            self.taken += count;
            written += count;
        }
        written
    }

    fn write_part(&mut self) {
        self.taken = 0;
        self.part.clear();
        let View { state, pending, profile, storage } = self.view;
        match self.stage {
            Stage::Header => {
                let fingerprint = state.fingerprint;
                let user = state.user;
                let guarantee_fingerprint = state.guarantee_fingerprint;
                let (kind, digits) = (Kind::Snapshot, digits::<T>());
                let capacity = u16::try_from(pending.len()).unwrap_or(u16::MAX);
                put(
                    &mut self.part,
                    &Header { kind, digits, capacity, fingerprint, user, guarantee_fingerprint }.encode(),
                );
            }
            Stage::Counters => put_part(&mut self.part, |out| out.counters(&self.counters)),
            Stage::Merged(index) => {
                let (site, events) = state.merged.iter().nth(usize::from(index)).unwrap_or_default();
                put(&mut self.part, &site.to_le_bytes());
                put(&mut self.part, &events.to_le_bytes());
            }
            Stage::Word(index) => {
                let word = state.permissions.used_words().get(usize::from(index)).copied().unwrap_or(0);
                put(&mut self.part, &word.to_le_bytes());
            }
            Stage::Pending(index) => {
                let newer = u32::from(self.counters.pending.saturating_sub(index)).saturating_sub(1);
                if let Ok(pending) = self.view.settled_or_waiting(self.counters.round.saturating_sub(newer)) {
                    put_part(&mut self.part, |out| out.pending(pending));
                }
            }
            Stage::Promotion(index) => {
                if let Some(promotion) = profile.get(usize::from(index)) {
                    put_part(&mut self.part, |out| out.promotion(promotion));
                }
            }
            Stage::Number(index) => {
                let number = usize::try_from(index).ok().and_then(|index| storage.get(index));
                let bytes = number.map_or(0, |number| number.bits()).to_le_bytes();
                put(&mut self.part, bytes.get(..width::<T>()).unwrap_or(&bytes));
            }
            Stage::Sum => put(&mut self.part, &self.digest.clone().finalize().to_le_bytes()),
            Stage::Done | Stage::Failed => {}
        }
        self.digest.update(&self.part);
        self.stage = self.stage.next(&self.counters);
    }
}

/// Appends to a part. Every part fits by construction.
#[inline]
fn put(part: &mut Piece, bytes: &[u8]) {
    let _ = part.extend_from_slice(bytes);
}

/// A length byte, then the value.
fn put_part(part: &mut Piece, write: impl FnOnce(&mut Output<'_>)) {
    let mut bytes = [0; MAX_PART - 1];
    let mut out = Output::new(&mut bytes);
    write(&mut out);
    let used = out.written().and_then(|length| bytes.get(..length)).unwrap_or_default();
    put(part, &[u8::try_from(used.len()).unwrap_or(u8::MAX)]);
    put(part, used);
}

/// Bytes of a number.
pub(super) const fn width<T: Scalar>() -> usize {
    if T::DIGITS == 24 { 4 } else { 8 }
}
