//! Commands: what a user is told to do. [`propose`](super::propose) turns each into its events, in the one
//! order of the method.

use super::probe::Probe;
use super::{Decision, DecisionId, Event, Observation, Request, Scores, User};
use crate::catalog::score::Scalar;
use crate::catalog::{Action, Context, ContrastSet, Statement};

/// An instruction to a user, and its progress.
///
/// | command | events |
/// |---|---|
/// | [`onboard`](Command::onboard) | one per statement; all are checked before the first |
/// | [`decide`](Command::decide) | expiries, a changed feasible set, the site, the decision |
/// | [`feedback`](Command::feedback), [`observe`](Command::observe) | the reward, a fading, promotions |
/// | [`expire`](Command::expire) | each decision whose deadline has passed |
/// | [`promote`](Command::promote) | each contrast that is decided now and is not in the profile |
/// | `user_rules` | each rule that is given up, then each new rule |
/// | [`event`](Command::event) | the given event |
/// | [`forget`](Command::forget) | the start of the next incarnation |
///
/// Before a decision come the expiries that are due, then the expiry of the decision whose slot is needed.
/// The [site](crate::Settings::site) is recorded before the first decision. After a reward comes a fading if
/// it is due. Then the contrasts that the reward's probes have certified are promoted, or at a
/// [check](super::is_promotion_check_due) all certain contrasts.
///
/// An adapter is a loop: `while let Some(step) = user.next(&mut command)? { store(step.event())?;
/// step.apply(); }`. A step that is dropped has not happened and is proposed again. The command holds the one
/// copy of the proposed event.
#[derive(Debug)]
pub struct Command<'c> {
    pub(super) order: Order<'c>,
    /// Number of events that were applied.
    pub(super) applied: u32,
    /// The value of `applied` when `event` was proposed: `event` was applied if `applied` is larger.
    pub(super) before: u32,
    /// The last event that was proposed.
    pub(super) event: Event,
    pub(super) scores: Option<Scores>,
}

/// The task of a command.
#[derive(Debug)]
pub(super) enum Order<'c> {
    Onboard(&'c [Statement]),
    Decide {
        request: Request<'c>,
        /// [`Scores`] are wanted.
        scored: bool,
        propensities: Option<Propensities<'c>>,
    },
    /// The reward of an earlier decision.
    Feedback {
        id: DecisionId,
        reward: Reward,
    },
    /// The reward of an action that was not decided on.
    Observe {
        context: &'c Context,
        action: Action,
        /// The caller's default scores, one per action.
        defaults: Option<&'c [f64]>,
        reward: Reward,
    },
    Expire {
        time: u32,
    },
    Promote {
        time: u32,
    },
    #[cfg(feature = "alloc")]
    UserRules(&'c [super::UserRule]),
    Event,
    Forget,
}

/// Propensities that are wanted beside a decision.
#[derive(Debug)]
pub(super) struct Propensities<'c> {
    pub(super) draws: u32,
    pub(super) out: &'c mut [f64],
}

/// A reward at a time, with a weight.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reward {
    pub(super) value: f64,
    pub(super) weight: f32,
    pub(super) time: u32,
}

impl Reward {
    const fn new(value: f64) -> Self {
        Self { value, weight: 1.0, time: 0 }
    }
}

impl<'c> Command<'c> {
    const fn new(order: Order<'c>) -> Self {
        Self { order, applied: 0, before: 0, event: Event::Forget { guarantee_fingerprint: 0 }, scores: None }
    }

    /// Learns stated preferences: all of them, or none if one is refused.
    #[must_use]
    pub const fn onboard(statements: &'c [Statement]) -> Self {
        Self::new(Order::Onboard(statements))
    }

    /// Chooses an action.
    #[must_use]
    pub const fn decide(request: Request<'c>) -> Self {
        Self::new(Order::Decide { request, scored: false, propensities: None })
    }

    /// Asks for the [`scores`](Self::scores) of a decision. The mean is then solved for beside the draw.
    #[must_use]
    pub const fn scored(mut self) -> Self {
        if let Order::Decide { scored, .. } = &mut self.order {
            *scored = true;
        }
        self
    }

    /// Asks for the [propensities](User::propensities) of all actions in the round of a decision, from
    /// `draws` draws.
    #[must_use]
    pub const fn with_propensities(mut self, draws: u32, out: &'c mut [f64]) -> Self {
        if let Order::Decide { propensities, .. } = &mut self.order {
            *propensities = Some(Propensities { draws, out });
        }
        self
    }

    /// Learns the reward of an earlier decision.
    #[must_use]
    pub const fn feedback(id: DecisionId, reward: f64) -> Self {
        Self::new(Order::Feedback { id, reward: Reward::new(reward) })
    }

    /// Learns the reward of an action that was not decided on. The reference score is its baseline.
    #[must_use]
    pub const fn observe(context: &'c Context, action: Action, reward: f64) -> Self {
        Self::new(Order::Observe { context, action, defaults: None, reward: Reward::new(reward) })
    }

    /// Replaces the default scores of an observation, one number per action as in a [`Request`]. `None` keeps
    /// the catalog's.
    #[must_use]
    pub const fn with_defaults(mut self, own: Option<&'c [f64]>) -> Self {
        if let Order::Observe { defaults, .. } = &mut self.order {
            *defaults = own;
        }
        self
    }

    /// Gives a reward a weight. A weight other than 1 ends the guarantee of promotions.
    #[must_use]
    pub const fn weighted(mut self, with: f32) -> Self {
        if let Order::Feedback { reward, .. } | Order::Observe { reward, .. } = &mut self.order {
            reward.weight = with;
        }
        self
    }

    /// Gives a reward the caller's time.
    #[must_use]
    pub const fn at(mut self, time: u32) -> Self {
        if let Order::Feedback { reward, .. } | Order::Observe { reward, .. } = &mut self.order {
            reward.time = time;
        }
        self
    }

    /// Ends the wait of every decision whose deadline has passed.
    #[must_use]
    pub const fn expire(time: u32) -> Self {
        Self::new(Order::Expire { time })
    }

    /// Promotes every contrast that is decided now.
    #[must_use]
    pub const fn promote(time: u32) -> Self {
        Self::new(Order::Promote { time })
    }

    /// Makes these rules and switches all that the user has. For hosts; a device gets each
    /// [change](Event::UserRule).
    #[cfg(feature = "alloc")]
    #[must_use]
    pub const fn user_rules(rules: &'c [super::UserRule]) -> Self {
        Self::new(Order::UserRules(rules))
    }

    /// Applies an event that the caller has made: an event of a journal, or an [`Event::Unlearn`].
    #[must_use]
    pub const fn event(event: Event) -> Self {
        Self { order: Order::Event, applied: 0, before: 0, event, scores: None }
    }

    /// Takes back an earlier observation, or a reward that was imputed.
    ///
    /// `kept` is the product of what fadings have kept of it: 1 without any. `probed` are the contrasts whose
    /// [probes](Probe) the reward was a result of, as the event of its decision says: they start again.
    #[must_use]
    pub const fn unlearn(observation: Observation, imputed: bool, kept: f32, probed: ContrastSet) -> Self {
        Self::event(Event::Unlearn { observation, imputed, kept, probed })
    }

    /// Goes back to the prior, in the next incarnation. Ids of earlier decisions are unknown from then on.
    #[must_use]
    pub const fn forget() -> Self {
        Self::new(Order::Forget)
    }

    /// Number of events that were applied.
    #[must_use]
    pub const fn applied(&self) -> u32 {
        self.applied
    }

    /// The decision that was made, by this user.
    #[must_use]
    pub fn decision<T: Scalar>(&self, user: &User<'_, T>) -> Option<Decision> {
        match self.event {
            Event::Decision { round, action, baseline, .. } if self.applied > self.before => {
                Some(Decision { id: user.id(round), action, baseline })
            }
            _ => None,
        }
    }

    /// The probes of the decision that was made.
    #[must_use]
    pub fn probes(&self) -> &[Probe] {
        match &self.event {
            Event::Decision { probes, .. } if self.applied > self.before => probes,
            _ => &[],
        }
    }

    /// The scores of the decision that was made, if they were [asked for](Self::scored).
    #[must_use]
    pub const fn scores(&self) -> Option<Scores> {
        self.scores
    }
}
