//! Reading a [snapshot](super::snapshot): the first pass checks every byte, the second pass loads them in
//! place.

use super::snapshot::{Piece, Stage, width};
use super::wire::{Counters, Input};
use super::{CRC_32, HEADER_LEN, Header, Kind, RecordError, Way};
use crate::catalog::{ActionSet, Catalog, ContrastSet, TRIAL_LEN, USER_RULE_LEN, score::Scalar};
use crate::numbers::{BASE_PRECISION, within};
use crate::policy::Policy;
use crate::user::{
    MAX_SITES, Memory, Pending, Promotion, Verdict, code_of, is_possible, is_sound, is_user_rule, slot_mut,
};
use crc::Digest;

/// Largest inverse pivot: that of the vaguest prior.
const MAX_INVERSE: f64 = 1.01 / BASE_PRECISION.least;
/// Largest magnitude of an entry of the factor.
const MAX_ENTRY: f64 = 1e12;

/// One checked part.
enum Item<T> {
    Header(Header),
    Counters(Counters),
    Merged(u32, u32),
    Word(u8, u32),
    Pending(Pending<T>),
    Promotion(Promotion),
    Number(u32, T),
    Sum(u32),
}

/// The receiver of the parts.
type Take<'t, T> = dyn FnMut(&Counters, Item<T>) -> Result<(), RecordError> + 't;

/// Cuts bytes into parts and checks them, in both passes.
struct Reader<'p, T> {
    policy: &'p Policy<'p, T>,
    stage: Stage,
    counters: Counters,
    /// The last of the other sites.
    merged: Option<u32>,
    /// Contrasts with a promotion so far.
    promoted: ContrastSet,
    /// Contrasts with a probe so far.
    probed: ContrastSet,
    part: Piece,
    digest: Digest<'static, u32, Way>,
}

impl<'p, T: Scalar> Reader<'p, T> {
    fn new(policy: &'p Policy<'p, T>) -> Self {
        Self {
            policy,
            stage: Stage::Header,
            counters: Counters::default(),
            merged: None,
            promoted: ContrastSet::EMPTY,
            probed: ContrastSet::EMPTY,
            part: Piece::new(),
            digest: CRC_32.digest(),
        }
    }

    /// One function in an image for all receivers.
    #[inline(never)]
    fn push(&mut self, bytes: &[u8], take: &mut Take<'_, T>) -> Result<(), RecordError> {
        let pushed = self.push_bytes(bytes, take);
        if pushed.is_err() {
            self.stage = Stage::Failed;
        }
        pushed
    }

    fn push_bytes(&mut self, bytes: &[u8], take: &mut Take<'_, T>) -> Result<(), RecordError> {
        for byte in bytes {
            match self.stage {
                Stage::Done => return Err(RecordError::TooLong),
                Stage::Failed => return Err(RecordError::Content),
                _ => {}
            }
            self.part.push(*byte).map_err(|_| RecordError::Content)?;
            if self.part.len() >= self.wanted() {
                let item = self.item()?;
                if let Item::Counters(counters) = item {
                    self.counters = counters;
                }
                self.stage = self.stage.next(&self.counters);
                self.digest.update(&self.part);
                self.part.clear();
                take(&self.counters, item)?;
            }
        }
        Ok(())
    }

    /// Length of the present part, as far as known.
    fn wanted(&self) -> usize {
        match self.stage {
            Stage::Header => HEADER_LEN,
            Stage::Counters | Stage::Pending(_) | Stage::Promotion(_) => {
                self.part.first().map_or(1, |length| 1 + usize::from(*length))
            }
            Stage::Merged(_) => 8,
            Stage::Number(_) => width::<T>(),
            Stage::Word(_) | Stage::Sum | Stage::Done | Stage::Failed => 4,
        }
    }

    #[inline(never)]
    fn item(&mut self) -> Result<Item<T>, RecordError> {
        let (catalog, counters) = (self.policy.catalog(), &self.counters);
        let word = || self.part.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
        match self.stage {
            Stage::Header => {
                let header = Header::decode(&self.part)?;
                header.admit(Kind::Snapshot, self.policy)?;
                Ok(Item::Header(header))
            }
            Stage::Counters => {
                let counters = self.part(|input| Ok(input.counters()))?;
                let numbers = usize::try_from(counters.numbers).ok() == Some(catalog.state_len());
                let lists = usize::from(counters.words) <= ActionSet::WORDS
                    && usize::from(counters.merged) <= MAX_SITES
                    && u32::from(counters.pending) <= counters.round
                    && usize::from(counters.profile) <= catalog.contrasts().len();
                if !cfg!(feature = "alloc") && counters.merged > 0 {
                    return Err(RecordError::Unsupported);
                }
                if !cfg!(feature = "adapt")
                    && (counters.squares, counters.disappointment, counters.since_change) != (0.0, 0, 0)
                {
                    return Err(RecordError::Unsupported);
                }
                let ratio = counters.log_det_ratio.is_finite() && counters.log_det_ratio >= -1.0;
                if numbers && lists && ratio && is_sound(counters.squares, counters.disappointment) {
                    Ok(Item::Counters(counters))
                } else {
                    Err(RecordError::Content)
                }
            }
            Stage::Merged(_) => {
                let (low, high) = self.part.split_at_checked(4).unwrap_or_default();
                let number = |bytes: &[u8]| bytes.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
                let (site, events) = (number(low), number(high));
                let in_order = self.merged.is_none_or(|last| last < site);
                if !in_order || events == 0 || site == counters.site {
                    return Err(RecordError::Content);
                }
                self.merged = Some(site);
                Ok(Item::Merged(site, events))
            }
            Stage::Word(index) => {
                let word = word();
                let allowed = catalog.all_actions().words().get(usize::from(index)).copied().unwrap_or(0);
                let ends_in_zero = word == 0 && index + 1 == counters.words;
                if word & !allowed != 0 || ends_in_zero {
                    Err(RecordError::Content)
                } else {
                    Ok(Item::Word(index, word))
                }
            }
            Stage::Pending(index) => {
                let pending: Pending<T> = self.part(|input| input.pending(catalog))?;
                // The ring holds the last rounds without a gap.
                let newer = u32::from(counters.pending.saturating_sub(index));
                let in_order = pending.round == counters.round.saturating_sub(newer.saturating_sub(1));
                let known = pending.probed.is_below(catalog.contrasts().len());
                let again = pending.probed.iter().any(|contrast| self.probed.contains(contrast));
                pending.probed.iter().for_each(|contrast| self.probed.insert(contrast));
                if in_order && known && !again {
                    Ok(Item::Pending(pending))
                } else {
                    Err(RecordError::Content)
                }
            }
            Stage::Promotion(_) => {
                let promotion = self.part(|input| Ok(input.promotion()))?;
                let contrast = usize::from(promotion.contrast);
                let known = contrast < catalog.contrasts().len() && !self.promoted.contains(contrast);
                if !known || !is_sound_promotion(&promotion, counters) {
                    return Err(RecordError::Content);
                }
                self.promoted.insert(contrast);
                Ok(Item::Promotion(promotion))
            }
            Stage::Number(index) => {
                let mut bits = [0; 8];
                for (slot, byte) in bits.iter_mut().zip(&self.part) {
                    *slot = *byte;
                }
                let number = T::from_bits(u64::from_le_bytes(bits));
                if !cfg!(feature = "rules") && is_of_user_rules(catalog, index) && number.bits() != 0 {
                    return Err(RecordError::Unsupported);
                }
                if possible(catalog, index, number) {
                    Ok(Item::Number(index, number))
                } else {
                    Err(RecordError::Content)
                }
            }
            Stage::Sum | Stage::Done | Stage::Failed => {
                let sum = word();
                if sum == self.digest.clone().finalize() {
                    Ok(Item::Sum(sum))
                } else {
                    Err(RecordError::Checksum)
                }
            }
        }
    }

    /// The part after its length byte.
    fn part<'s, P>(
        &'s self,
        read: impl FnOnce(&mut Input<'s>) -> Result<P, RecordError>,
    ) -> Result<P, RecordError> {
        let mut input = Input::new(self.part.get(1..).unwrap_or(&[]));
        let part = read(&mut input).map_err(|_| RecordError::Content)?;
        if input.end().is_ok() && input.rest().is_empty() { Ok(part) } else { Err(RecordError::Content) }
    }
}

/// True if a promotion is possible after these counters.
fn is_sound_promotion(promotion: &Promotion, counters: &Counters) -> bool {
    let finite = promotion.lower.is_finite() && promotion.upper.is_finite();
    let ordered = promotion.verdict != Verdict::Open && finite && promotion.lower <= promotion.upper;
    // A promotion of another site has a round of that site.
    ordered && (promotion.round <= counters.round || counters.merged > 0)
}

/// True if the number at an index is a user rule.
fn is_of_user_rules(catalog: &Catalog<'_>, index: u32) -> bool {
    usize::try_from(index).is_ok_and(|index| index + USER_RULE_LEN >= catalog.state_len())
}

/// True if a number at an index is possible. Inverse pivots are positive and at most the largest prior
/// variance. Entries are no larger than settings can make them. Counts, of which fading leaves fractions, are
/// not negative. Numbers of contrasts are those of trials.
fn possible<T: Scalar>(catalog: &Catalog<'_>, index: u32, number: T) -> bool {
    let rules = is_of_user_rules(catalog, index);
    let (layout, index) = (catalog.layout(), usize::try_from(index).unwrap_or(usize::MAX));
    if rules {
        let code = code_of(number);
        code == 0 || is_user_rule(catalog, code)
    } else if let Some(number_index) = index.checked_sub(catalog.trials_start()) {
        is_possible(number_index % TRIAL_LEN, number.to_f64())
    } else if index < layout.dimension() {
        number > T::ZERO && number.to_f64() <= MAX_INVERSE
    } else if index < layout.packed_len() {
        within(number.to_f64(), MAX_ENTRY)
    } else {
        let count = number.to_f64();
        count >= 0.0 && count <= f64::from(u32::MAX)
    }
}

/// A snapshot that was checked completely.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Verified {
    header: Header,
    counters: Counters,
    sum: u32,
}

impl Verified {
    /// Hash of the user.
    #[must_use]
    pub const fn user(&self) -> u64 {
        self.header.user
    }

    /// Number of times that the user had been forgotten.
    #[must_use]
    pub const fn incarnation(&self) -> u32 {
        self.counters.incarnation
    }

    /// Number of decisions in this incarnation.
    #[must_use]
    pub const fn rounds(&self) -> u32 {
        self.counters.round
    }

    /// The least `R` of a learner that can load it.
    #[must_use]
    pub const fn capacity(&self) -> u16 {
        let Counters { pending, profile, .. } = self.counters;
        if pending > profile { pending } else { profile }
    }
}

/// The first pass: checks every byte and changes nothing.
pub struct Verifier<'p, T> {
    reader: Reader<'p, T>,
    seen: Seen,
}

/// The parts of a snapshot that identify it.
#[derive(Clone, Copy)]
enum Seen {
    Nothing,
    Header(Header),
    Whole { header: Header, sum: u32 },
}

impl<'p, T: Scalar> Verifier<'p, T> {
    /// Starts verifying a snapshot for a policy.
    #[must_use]
    pub fn new(policy: &'p Policy<'p, T>) -> Self {
        Self { reader: Reader::new(policy), seen: Seen::Nothing }
    }

    /// Takes the next bytes.
    ///
    /// # Errors
    /// A fault in the bytes; the verifier cannot be used afterwards.
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), RecordError> {
        let Self { reader, seen } = self;
        reader.push(bytes, &mut |_, item| {
            match (item, *seen) {
                (Item::Header(header), _) => *seen = Seen::Header(header),
                (Item::Sum(sum), Seen::Header(header)) => *seen = Seen::Whole { header, sum },
                _ => {}
            }
            Ok(())
        })
    }

    /// Ends the pass when all bytes were pushed.
    ///
    /// # Errors
    /// [`RecordError::Truncated`] when some are missing.
    pub fn finish(self) -> Result<Verified, RecordError> {
        match self.seen {
            Seen::Whole { header, sum } if self.reader.stage == Stage::Done => {
                Ok(Verified { header, counters: self.reader.counters, sum })
            }
            _ => Err(RecordError::Truncated),
        }
    }
}

/// The second pass: loads the bytes into a learner. The learner counts as empty until
/// [`finish`](Self::finish), and is empty after an error.
pub struct Loader<'l, T: Scalar> {
    memory: Memory<'l, T>,
    reader: Reader<'l, T>,
    verified: Verified,
}

impl<'l, T: Scalar> Loader<'l, T> {
    pub(super) fn new(mut memory: Memory<'l, T>, policy: &'l Policy<'l, T>, verified: Verified) -> Self {
        memory.clear();
        Self { memory, reader: Reader::new(policy), verified }
    }

    /// Takes the next bytes.
    ///
    /// # Errors
    /// Other bytes than in the first pass; the learner is empty after the loader is dropped.
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), RecordError> {
        let Self { memory, reader, verified } = self;
        reader.push(bytes, &mut |counters, item| {
            match item {
                Item::Header(header) if header != verified.header => return Err(RecordError::Changed),
                Item::Counters(_) if *counters != verified.counters => return Err(RecordError::Changed),
                Item::Sum(sum) if sum != verified.sum => return Err(RecordError::Changed),
                Item::Header(_) | Item::Counters(_) | Item::Sum(_) => {}
                Item::Merged(site, events) => drop(memory.state.merged.set(site, events)),
                Item::Word(index, word) => memory.state.permissions.set_word(usize::from(index), word),
                Item::Pending(pending) => {
                    if let Some(slot) = slot_mut(memory.pending, pending.round) {
                        *slot = pending;
                    }
                }
                Item::Promotion(promotion) => drop(memory.profile.push(promotion)),
                Item::Number(index, number) => {
                    let slot = usize::try_from(index).ok().and_then(|index| memory.storage.get_mut(index));
                    if let Some(slot) = slot {
                        *slot = number;
                    }
                }
            }
            Ok(())
        })
    }

    /// Ends the load when all bytes were pushed. The learner equals the learner of the snapshot.
    ///
    /// # Errors
    /// [`RecordError::Truncated`] when some are missing; the learner is empty then.
    pub fn finish(self) -> Result<(), RecordError> {
        if self.reader.stage != Stage::Done {
            return Err(RecordError::Truncated);
        }
        let Verified { header, counters, .. } = self.verified;
        let state = &mut *self.memory.state;
        state.fingerprint = header.fingerprint;
        state.user = header.user;
        state.incarnation = counters.incarnation;
        state.site = counters.site;
        state.round = counters.round;
        state.events = counters.events;
        state.observations = counters.observations;
        state.guarantee_fingerprint = header.guarantee_fingerprint;
        state.voided = counters.voided;
        let layout = self.reader.policy.catalog().layout();
        // Copied as three numbers. Copied as one value, it would link `memmove`.
        (state.layout.leaves, state.layout.leaf, state.layout.root) =
            (layout.leaves, layout.leaf, layout.root);
        state.log_det_ratio = counters.log_det_ratio;
        state.since_fading = counters.since_fading;
        state.squares = counters.squares;
        state.disappointment = counters.disappointment;
        state.since_change = counters.since_change;
        Ok(())
    }
}

impl<T: Scalar> Drop for Loader<'_, T> {
    fn drop(&mut self) {
        if self.memory.state.is_empty() {
            self.memory.clear();
        }
    }
}
