//! Events: all changes of a learner, as data. Equal events in equal order give equal states, bit for bit.
//!
//! A learner proposes an [`Event`], checks it and applies it. An adapter stores it before it is applied.
//! Numbers from outside are `f64` in events, and rounded once to the scalar when they are applied.
//!
//! ```
//! use fable_core::DecisionId;
//! let id = DecisionId { user: 0xab, incarnation: 0, site: 0, round: 17 };
//! assert_eq!(id.to_string(), "00000000000000ab-0-17");
//! assert_eq!("00000000000000ab-0-17".parse(), Ok(id));
//! let remote = DecisionId { site: 3, ..id };
//! assert_eq!(remote.to_string(), "00000000000000ab-0-3-17");
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
    /// Number of times that the user had been forgotten.
    pub incarnation: u32,
    /// The site that decided, see [`Settings::site`](crate::Settings::site).
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
            "a decision id is 16 hexadecimal digits, the incarnation, the site unless it is 0, \
             and the round, joined with '-'",
        )
    }
}

impl core::error::Error for ParseDecisionIdError {}

impl FromStr for DecisionId {
    type Err = ParseDecisionIdError;

    /// Accepts exactly the texts that `Display` writes.
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

/// The result of deciding: an action to play, and the id for its reward.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Decision {
    /// Its id.
    pub id: DecisionId,
    /// The action chosen.
    pub action: Action,
    /// The reference score of the action. Its reward is compared with it.
    pub baseline: f64,
}

/// A reward of an action, with all that is needed to learn it, or to take it back.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Observation {
    /// The context.
    pub context: Context,
    /// The action that was played.
    pub action: Action,
    /// The reference score that the reward is compared with.
    pub baseline: f64,
    /// The reward, in [-1, 1].
    pub reward: f64,
    /// The weight: 1 for an ordinary observation.
    pub weight: f32,
}

/// A change of a learner. The user and the incarnation are those of the learner that it is applied to.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Event {
    /// The feasible set changed. Later decisions refer to the last one.
    Permissions(ActionSet),
    /// A stated preference.
    Onboarding(Statement),
    /// An action was chosen.
    Decision {
        /// The round, from 1.
        round: u32,
        /// The action chosen.
        action: Action,
        /// The reference score of the action.
        baseline: f64,
        /// The context.
        context: Context,
        /// The caller's time.
        time: u32,
        /// The probes of the decision.
        probes: Probes,
    },
    /// A reward for an earlier decision.
    Feedback {
        /// The decision's round.
        round: u32,
        /// The reward, in [-1, 1].
        reward: f64,
        /// The weight: 1 for an ordinary reward.
        weight: f32,
    },
    /// A reward of an action that was not decided on here.
    Observation(Observation),
    /// An earlier observation is taken back.
    Unlearn {
        /// The observation that was learned.
        observation: Observation,
        /// Its reward was imputed, so it is not evidence.
        imputed: bool,
        /// The share that is left: the product of what later fadings have kept, 1 without any.
        kept: f32,
        /// Contrasts that start again, since the reward was a result of their probes.
        probed: ContrastSet,
    },
    /// A decision stops waiting for its reward.
    Expiry {
        /// The decision's round.
        round: u32,
        /// The reward that is learned instead; `None` for nothing.
        imputed: Option<f64>,
    },
    /// Discounts observations toward the prior.
    Fade {
        /// The share that is kept, from 0 to less than 1.
        keep: f32,
    },
    /// A declared contrast enters the profile.
    Promotion(Promotion),
    /// The user goes back to the prior, in the next incarnation.
    Forget {
        /// [`Policy::guarantee_fingerprint`](crate::Policy::guarantee_fingerprint) at the new start.
        guarantee_fingerprint: u32,
    },
    /// The site that decides from now on: before the first decision of an incarnation, and never site 0.
    Site {
        /// Its number, see [`Settings::site`](crate::Settings::site).
        site: u32,
    },
    /// The user takes a rule, or gives it up.
    UserRule {
        /// The [code](super::UserRule::code) of the rule.
        code: u32,
        /// True if the rule stands from now on.
        stands: bool,
    },
    /// A change at another site.
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
