//! What happens to a learner, as data. Applying the same events in the same order gives the same state, bit
//! for bit.
//!
//! A learner proposes an [`Event`], checks it and applies it; an adapter stores it in between. Numbers that a
//! person or an adapter supplies are `f64` here and rounded once to the scalar in use when they are applied.
//!
//! ```
//! use fable_core::DecisionId;
//! let id = DecisionId { user: 0xab, incarnation: 0, site: 0, round: 17 };
//! assert_eq!(id.to_string(), "00000000000000ab-0-17");
//! assert_eq!("00000000000000ab-0-17".parse(), Ok(id));
//! let elsewhere = DecisionId { site: 3, ..id };
//! assert_eq!(elsewhere.to_string(), "00000000000000ab-0-3-17");
//! ```

use super::probe::Probes;
use super::promotion::Promotion;
use crate::catalog::{Action, ActionSet, Context, ContrastSet, Statement};
use core::fmt;
use core::str::FromStr;

/// Names one decision of one user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct DecisionId {
    /// [`user_hash`](crate::user_hash) of the user.
    pub user: u64,
    /// How often the user had been forgotten.
    pub incarnation: u32,
    /// The place that decided, see [`Settings::site`](crate::Settings::site).
    pub site: u32,
    /// The round, from 1.
    pub round: u32,
}

impl fmt::Display for DecisionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}-{}-", self.user, self.incarnation)?;
        if self.site != 0 {
            write!(f, "{}-", self.site)?;
        }
        write!(f, "{}", self.round)
    }
}

/// A text that is not a decision id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ParseDecisionIdError;

impl fmt::Display for ParseDecisionIdError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "a decision id is 16 hexadecimal digits, the incarnation, the site unless it is 0, and the round, joined with '-'",
        )
    }
}

impl core::error::Error for ParseDecisionIdError {}

impl FromStr for DecisionId {
    type Err = ParseDecisionIdError;

    /// Accepts exactly what `Display` writes.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        fn number(text: &str) -> Option<u32> {
            let plain =
                text.bytes().all(|byte| byte.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
            text.parse().ok().filter(|_| plain)
        }
        let mut parts = text.split('-');
        let parsed = (|| {
            let user = parts.next().filter(|user| user.len() == 16)?;
            let plain = user.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
            let user = u64::from_str_radix(user, 16).ok().filter(|_| plain)?;
            let (incarnation, third) = (number(parts.next()?)?, number(parts.next()?)?);
            let (site, round) = match parts.next() {
                None => (0, third),
                Some(round) => (Some(third).filter(|site| *site != 0)?, number(round)?),
            };
            parts.next().is_none().then_some(Self { user, incarnation, site, round })
        })();
        parsed.ok_or(ParseDecisionIdError)
    }
}

/// What deciding returns: enough to act on and to give feedback to later.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Decision {
    /// Its name.
    pub id: DecisionId,
    /// The action chosen.
    pub action: Action,
    /// The known reference score of that action, which its reward is compared with.
    pub baseline: f64,
}

/// A reward for an action, with all that is needed to learn it: for one chosen elsewhere, or one to be
/// unlearned.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Observation {
    /// Where.
    pub context: Context,
    /// What was done.
    pub action: Action,
    /// The reference score it is compared with.
    pub baseline: f64,
    /// The reward, in [-1, 1].
    pub reward: f64,
    /// How much it counts, 1 for an ordinary observation.
    pub weight: f32,
}

/// One step in the life of a learner. The user and the incarnation are those of the learner it is applied to:
/// an event is proposed, checked and applied with nothing in between.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Event {
    /// The feasible set changed; later decisions refer to the last one.
    Permissions(ActionSet),
    /// A stated preference.
    Onboarding(Statement),
    /// An action was chosen.
    Decision {
        /// The round, from 1.
        round: u32,
        /// The action chosen.
        action: Action,
        /// The known reference score of that action.
        baseline: f64,
        /// Where.
        context: Context,
        /// When, in the caller's unit.
        time: u32,
        /// The coins that were tossed for it.
        coins: Probes,
    },
    /// A reward for an earlier decision.
    Feedback {
        /// The decision's round.
        round: u32,
        /// The reward, in [-1, 1].
        reward: f64,
        /// How much it counts, 1 for an ordinary reward.
        weight: f32,
    },
    /// A reward for an action chosen elsewhere.
    Observation(Observation),
    /// An earlier observation is taken back.
    Unlearn {
        /// What was learned.
        observation: Observation,
        /// Whether its reward was imputed, so that it is not evidence.
        imputed: bool,
        /// How much of it is left: the product of what was kept in the fadings since, 1 without any.
        kept: f32,
        /// Contrasts whose coins it was the reward of: they start again.
        probed: ContrastSet,
    },
    /// A decision stops waiting for its reward.
    Expiry {
        /// The decision's round.
        round: u32,
        /// What is learned instead, if anything.
        imputed: Option<f64>,
    },
    /// What is known counts less, and the prior again in its place.
    Fade {
        /// How much it counts, from 0 to less than 1.
        keep: f32,
    },
    /// A declared contrast enters the profile.
    Promotion(Promotion),
    /// The user goes back to the prior, in the next incarnation.
    Forget {
        /// [`Policy::guarantee_fingerprint`](crate::Policy::guarantee_fingerprint) under which it starts.
        guarantee_fingerprint: u32,
    },
    /// The place that decides from here on; before the first decision of an incarnation, and never for
    /// place 0.
    Site {
        /// Its number, see [`Settings::site`](crate::Settings::site).
        site: u32,
    },
    /// The user wishes something, or does not any more.
    UserRule {
        /// [What](super::UserRule::code).
        code: u32,
        /// Whether it stands from here on.
        stands: bool,
    },
    /// What happened to the user at another place, complete in itself.
    Remote(super::RemoteEvent),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_canonical_ids_parse() {
        for text in [
            "",
            "-",
            "--",
            "ab-0-1",
            "00000000000000AB-0-1",
            "00000000000000ab-0",
            "00000000000000ab-0-1-",
            "00000000000000ab-00-1",
            "00000000000000ab-0-01",
            "00000000000000ab-+0-1",
            "00000000000000ab-0-4294967296",
            "+0000000000000ab-0-1",
            "00000000000000ab--1",
            "00000000000000ab-0-0-1",
            "00000000000000ab-0-01-1",
            "00000000000000ab-0-1-2-3",
            "00000000000000ab-0--1",
        ] {
            assert_eq!(text.parse::<DecisionId>(), Err(ParseDecisionIdError), "{text}");
        }
        for site in [0, 1, u32::MAX] {
            let id = DecisionId { user: u64::MAX, incarnation: u32::MAX, site, round: u32::MAX };
            assert_eq!(id.to_string().parse(), Ok(id));
        }
    }
}
