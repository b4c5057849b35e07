//! Requests, replies, and the types of their fields.

use crate::codec::{Wire, fields, messages};
use crate::fault::Fault;
use fable_core::catalog::MAX_SIGNALS;
use fable_core::explain::{Share, Source};
use fable_core::preference::{Assessment, ProbeOutcomes, Promotion, Standing, Trial};
use fable_core::record::{Input, Output};
use fable_core::{Catalog, Context, catalog::ContextError};

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

messages! {
    /// A request of a host. The table of the [crate](crate) has the reply and the payload of each.
    #[derive(Clone, Debug, PartialEq)]
    #[cfg_attr(feature = "defmt", derive(defmt::Format))]
    pub enum Request {
        /// Asks for the identity of the device.
        0 => Hello,
        /// Adds a stated preference. Its direction is the payload.
        1 => Onboard {
            /// In [-1, 1].
            response: f64,
            /// 0 skips the statement.
            precision: f64,
        },
        /// Chooses an action. The payload is the feasible set, if it has changed.
        2 => Decide {
            /// Context of the decision.
            context: WireContext,
            /// The caller's time.
            time: u32,
        },
        /// Adds the reward of an earlier decision.
        3 => Feedback {
            /// Incarnation of the decision.
            incarnation: u32,
            /// Round of the decision.
            round: u32,
            /// In [-1, 1].
            reward: f64,
            /// 1 for an ordinary reward.
            weight: f32,
            /// The caller's time.
            time: u32,
        },
        /// Adds the reward of an action that the device did not choose.
        4 => Observe {
            /// Context of the action.
            context: WireContext,
            /// The action.
            action: u16,
            /// In [-1, 1].
            reward: f64,
            /// 1 for an ordinary reward.
            weight: f32,
        },
        /// Takes back an earlier observation.
        5 => Unlearn {
            /// Context of the action.
            context: WireContext,
            /// The action.
            action: u16,
            /// Reference score that the reward was compared with.
            baseline: f64,
            /// In [-1, 1].
            reward: f64,
            /// Weight that was learned.
            weight: f32,
            /// True for an imputed reward, which is not evidence.
            imputed: bool,
            /// Factor that fadings have left, 1 without fading.
            kept: f32,
            /// Contrasts that the decision probed, 32 each, the first lowest.
            probed: [u32; 2],
        },
        /// Asks why an action was chosen.
        6 => Explain {
            /// Incarnation of the decision.
            incarnation: u32,
            /// Round of the decision.
            round: u32,
            /// The action to compare with. Without an action, the runner-up.
            other: Option<u16>,
            /// Position of the first share to send.
            first: u16,
        },
        /// Asks for the assessment of a declared contrast.
        7 => Assess {
            /// Position of the contrast in the catalog.
            contrast: u8,
        },
        /// Asks how two actions compare.
        8 => Compare {
            /// Context of the comparison.
            context: WireContext,
            /// The action that a positive difference prefers.
            prefer: u16,
            /// The other action.
            over: u16,
            /// True adds the difference of the reference scores.
            total: bool,
        },
        /// Asks for one promoted preference.
        9 => Profile {
            /// Position in the profile.
            index: u16,
        },
        /// Promotes every preference that is certain now.
        10 => Promote {
            /// The caller's time.
            time: u32,
        },
        /// Asks for the counts.
        11 => Statistics,
        /// Expires every decision whose deadline has passed.
        12 => Expire {
            /// The caller's time.
            time: u32,
        },
        /// Asks for bytes of the stored snapshot.
        13 => Snapshot {
            /// Offset of the first byte.
            offset: u32,
        },
        /// Stages the payload, a part of a snapshot or a prior that is not used yet.
        14 => Stage {
            /// Offset of the first byte. 0 starts a new upload.
            offset: u32,
        },
        /// Replaces the state by the staged snapshot.
        15 => Commit {
            /// Bytes of the snapshot.
            length: u32,
        },
        /// Asks for one event of the journal after the stored snapshot.
        16 => Event {
            /// Position in the journal.
            index: u32,
        },
        /// Resets the user to the prior and erases the past.
        17 => Forget,
        /// Asks for bytes of a stored prior, as a [record](fable_core::record::prior). The policy's own prior
        /// has none.
        18 => Prior {
            /// True for the prior of the next incarnation, false for the prior of the present incarnation.
            next: bool,
            /// Offset of the first byte.
            offset: u32,
        },
        /// Makes the staged prior the prior of the next incarnation. Length 0 restores the policy's own
        /// prior.
        19 => CommitPrior {
            /// Bytes of the prior.
            length: u32,
        },
        /// Asks what probes have shown about a declared contrast.
        20 => Trial {
            /// Position of the contrast in the catalog.
            contrast: u8,
        },
        /// Asks for the action with the highest mean score. Nothing is explored or stored. The payload is
        /// that of decide.
        21 => Recommend {
            /// Context of the recommendation.
            context: WireContext,
        },
        /// Activates or removes a rule of the user.
        22 => UserRule {
            /// [Code](fable_core::preference::UserRule::code) of the rule.
            code: u32,
            /// True activates the rule, false removes it.
            stands: bool,
        },
        /// Opens a session with the shared key.
        23 => Open {
            /// Random part of the host. Fixed, 8 bytes.
            nonce: u64,
        },
    }
}

impl Request {
    #[inline]
    pub(crate) const fn has_payload(&self) -> bool {
        matches!(
            self,
            Self::Onboard { .. } | Self::Decide { .. } | Self::Recommend { .. } | Self::Stage { .. }
        )
    }
}

messages! {
    /// A reply of a device.
    #[derive(Clone, Debug, PartialEq)]
    #[cfg_attr(feature = "defmt", derive(defmt::Format))]
    pub enum Reply {
        /// Refused. Nothing has changed.
        0 => Fault(fault: Fault),
        /// Identity of the device. The payload is the name of the catalog.
        1 => Hello(hello: Hello),
        /// Done.
        2 => Done {
            /// Count that the table of the [crate](crate) names.
            count: u32,
        },
        /// Chosen or recommended action.
        3 => Decided {
            /// Round of the decision, 0 for a recommendation.
            round: u32,
            /// The action.
            action: u16,
            /// Reference score of the action. For a recommendation, its mean score.
            baseline: f64,
            /// Probes of the decision and their outcomes.
            probes: ProbeOutcomes,
        },
        /// Explanation of a decision. The payload is its shares from the requested position, as many as fit.
        4 => Explanation {
            /// The action that was chosen.
            chosen: u16,
            /// The action that the rule chose before probing.
            intended: u16,
            /// Contrasts that the decision probed, 32 each, the first lowest.
            probed: [u32; 2],
            /// The action of the comparison.
            other: u16,
            /// True if the other action was feasible.
            feasible: bool,
            /// True if the chosen action does not have the highest mean score.
            explored: bool,
            /// Sampled score of the chosen action.
            chosen_score: f32,
            /// Sampled score of the other action.
            other_score: f32,
            /// Number of shares in all.
            shares: u16,
        },
        /// Assessment of a contrast.
        5 => Assessment(assessment: Assessment),
        /// A promoted preference.
        6 => Promotion {
            /// Number of promoted preferences.
            count: u16,
            /// The preference and its standing. Absent in an empty profile.
            entry: Option<(Promotion, Standing)>,
        },
        /// Counts.
        7 => Statistics(statistics: Statistics),
        /// Bytes of the stored snapshot or prior, as the payload.
        8 => Chunk {
            /// Offset of the first byte.
            offset: u32,
        },
        /// An event, as the payload.
        9 => Event {
            /// Position in the journal.
            index: u32,
        },
        /// Result of the probes of a contrast.
        10 => Trial(trial: Trial),
        /// A session is open. This frame is sealed by the session with counter 0.
        11 => Opened {
            /// Nonce of the device, the same for all sessions since its start. Fixed, 8 bytes.
            nonce: u64,
            /// Number of the session since the start.
            count: u32,
        },
    }
}

impl Reply {
    #[inline]
    pub(crate) const fn has_payload(&self) -> bool {
        matches!(self, Self::Hello(_) | Self::Explanation { .. } | Self::Chunk { .. } | Self::Event { .. })
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
