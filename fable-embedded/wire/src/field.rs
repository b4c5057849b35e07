//! The types of the fields of requests and replies: context, identity, counts and shares.

use crate::codec::{Wire, fields};
use crate::fault::Fault;
use fable_core::catalog::{ContextError, MAX_SIGNALS};
use fable_core::explain::{Share, Source};
use fable_core::record::{Input, Output};
use fable_core::{Catalog, Context};

/// A context as it is sent.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct WireContext {
    /// 0, or 1 + the position of the task.
    task: u8,
    signals: heapless::Vec<f32, MAX_SIGNALS>,
}

fields! { WireContext { task, signals } }

impl WireContext {
    /// Converts a context for sending.
    #[must_use]
    #[inline]
    pub fn new(context: &Context) -> Self {
        let task = context.task().and_then(|task| u8::try_from(task + 1).ok()).unwrap_or(0);
        Self { task, signals: heapless::Vec::from_slice(context.signals()).unwrap_or_default() }
    }

    /// Converts a received context to a context of a catalog.
    ///
    /// # Errors
    /// As for [`Context::new`].
    #[inline]
    pub fn context(&self, catalog: &Catalog<'_>) -> Result<Context, ContextError> {
        Context::new(catalog, self.task.checked_sub(1).map(usize::from), &self.signals)
    }
}

/// Identity of a device: versions, fingerprints and sizes, which a host needs to read the other replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Hello {
    /// [`VERSION`](crate::VERSION) of the protocol.
    pub protocol: u8,
    /// [`VERSION`](fable_core::record::VERSION) of the records.
    pub record: u8,
    /// [Fingerprint](fable_core::Policy::fingerprint) of the policy. Fixed, 8 bytes.
    pub fingerprint: u64,
    /// [Fingerprint](fable_core::Policy::guarantee_fingerprint) of the promotion settings. Fixed, 4 bytes.
    pub guarantee_fingerprint: u32,
    /// [Fingerprint](Catalog::fingerprint) of the catalog. Fixed, 8 bytes.
    pub catalog: u64,
    /// 24 for `f32`, 53 for `f64`.
    pub digits: u8,
    /// Number of actions.
    pub actions: u16,
    /// Number of coordinates of the dictionary.
    pub dimension: u16,
    /// Number of tasks.
    pub tasks: u8,
    /// Number of signals.
    pub signals: u8,
    /// Number of declared contrasts.
    pub contrasts: u8,
    /// Capacity for waiting decisions, and for promotions.
    pub ring: u16,
    /// Hash of the user name. Fixed, 8 bytes.
    pub user: u64,
    /// Number of times the user was forgotten.
    pub incarnation: u32,
    /// Number of the site that decides.
    pub site: u32,
    /// Decisions in this incarnation.
    pub rounds: u32,
    /// Rewards learned in this incarnation.
    pub observations: u32,
}

/// By hand, because of the one `u32` that is not a varint.
impl Wire for Hello {
    fn write(&self, out: &mut Output<'_>) {
        self.protocol.write(out);
        self.record.write(out);
        self.fingerprint.write(out);
        out.u32(self.guarantee_fingerprint);
        self.catalog.write(out);
        self.digits.write(out);
        self.actions.write(out);
        self.dimension.write(out);
        self.tasks.write(out);
        self.signals.write(out);
        self.contrasts.write(out);
        self.ring.write(out);
        self.user.write(out);
        self.incarnation.write(out);
        self.site.write(out);
        self.rounds.write(out);
        self.observations.write(out);
    }

    fn read(input: &mut Input<'_>) -> Self {
        Self {
            protocol: Wire::read(input),
            record: Wire::read(input),
            fingerprint: Wire::read(input),
            guarantee_fingerprint: input.u32(),
            catalog: Wire::read(input),
            digits: Wire::read(input),
            actions: Wire::read(input),
            dimension: Wire::read(input),
            tasks: Wire::read(input),
            signals: Wire::read(input),
            contrasts: Wire::read(input),
            ring: Wire::read(input),
            user: Wire::read(input),
            incarnation: Wire::read(input),
            site: Wire::read(input),
            rounds: Wire::read(input),
            observations: Wire::read(input),
        }
    }
}

/// Counts of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Statistics {
    /// Decisions in this incarnation.
    pub rounds: u32,
    /// Rewards learned in this incarnation.
    pub observations: u32,
    /// Decisions that wait for their reward. Those past their deadline count until their expiry is recorded.
    pub waiting: u16,
    /// Promoted preferences.
    pub promotions: u16,
    /// Requests answered since the reset.
    pub answered: u32,
    /// Frames and requests refused since the reset.
    pub refused: u32,
    /// Counts of the store.
    pub store: StoreUsage,
}

fields! { Statistics { rounds, observations, waiting, promotions, answered, refused, store } }

/// Counts of the store of a device. All are 0 if the device stores nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct StoreUsage {
    /// Snapshots written. A new snapshot changes the count.
    pub generation: u32,
    /// Events after the stored snapshot.
    pub events: u32,
    /// Bytes free for events, approximately.
    pub free: u32,
    /// Pages erased since formatting, as far as the store knows.
    pub erases: u32,
}

fields! { StoreUsage { generation, events, free, erases } }

/// One share of an explanation.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct WireShare {
    /// The position in `SOURCES`, or 4 + the position of a block.
    part: u8,
    /// Contribution to the score of the chosen action.
    pub chosen: f32,
    /// Contribution to the score of the other action.
    pub other: f32,
    /// Coordinate of the chosen action.
    pub chosen_coordinate: Option<u16>,
    /// Coordinate of the other action.
    pub other_coordinate: Option<u16>,
}

fields! { WireShare { part, chosen, other, chosen_coordinate, other_coordinate } }

/// Sources that are not blocks, in the order of their tags.
const SOURCES: [Source; 4] = [Source::Default, Source::Cost, Source::Draw, Source::Bonus];
/// Tag of block 0.
const FIRST_BLOCK: u8 = 4;
const _: () = assert!(SOURCES.len() == FIRST_BLOCK as usize);

impl WireShare {
    /// Converts a share for sending.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "seven digits are enough for a reader")]
    #[inline]
    pub fn new(share: &Share) -> Self {
        let part = match share.source {
            Source::Block(block) => block.saturating_add(FIRST_BLOCK),
            source => {
                (0..FIRST_BLOCK).zip(SOURCES).find(|(_, known)| *known == source).map_or(0, |(tag, _)| tag)
            }
        };
        let coordinate =
            |coordinate: Option<usize>| coordinate.and_then(|coordinate| u16::try_from(coordinate).ok());
        Self {
            part,
            chosen: share.chosen as f32,
            other: share.other as f32,
            chosen_coordinate: coordinate(share.chosen_coordinate),
            other_coordinate: coordinate(share.other_coordinate),
        }
    }

    /// Returns the part of the score that the share is of.
    #[must_use]
    pub fn source(&self) -> Source {
        match self.part.checked_sub(FIRST_BLOCK) {
            Some(block) => Source::Block(block),
            None => SOURCES.get(usize::from(self.part)).copied().unwrap_or(Source::Default),
        }
    }

    /// Takes one share from a payload and leaves the rest.
    ///
    /// # Errors
    /// [`Fault::Content`] if the payload does not start with a share.
    pub fn take(payload: &mut &[u8]) -> Result<Self, Fault> {
        let mut input = Input::new(payload);
        let share = Self::read(&mut input);
        input.end().map_err(|_| Fault::Content)?;
        *payload = input.rest();
        Ok(share)
    }
}
