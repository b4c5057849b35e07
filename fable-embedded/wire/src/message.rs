//! Requests and replies: their tags and fields.

use crate::codec::messages;
use crate::fault::Fault;
use crate::field::{Hello, Statistics, WireContext};
use fable_core::preference::{Assessment, ProbeOutcomes, Promotion, Standing, Trial};

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
