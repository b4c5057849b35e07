//! What a user is told to do, and the events that takes, in the one order of the method.

use super::decide::Drawn;
use super::probe::{Probe, Probes};
use super::{Decision, DecisionId, Event, Observation, Request, Step, User, UserError, supported};
use crate::catalog::score::{self, Scalar};
use crate::catalog::{Action, Context, ContrastSet, Statement};
use crate::posterior::{PosteriorError, Update, with_variances};

/// What a user is told to do.
///
/// | command | events |
/// |---|---|
/// | [`onboard`](Command::onboard) | a statement each; all are checked before the first |
/// | [`decide`](Command::decide) | what is due expires, the oldest makes room, changed permissions, at first the [site](crate::Settings::site), the decision |
/// | [`feedback`](Command::feedback), [`observe`](Command::observe) | the reward; if it is time, the fading; what its coins have made certain, and at a [look](super::is_promotion_check_due) all that is promoted |
/// | [`expire`](Command::expire) | each decision whose deadline has passed |
/// | [`promote`](Command::promote) | each contrast that is decided now and not in the profile |
/// | `wishes` | each wish that is given up, then each that is new |
/// | [`event`](Command::event) | this one, made elsewhere |
/// | [`forget`](Command::forget) | the beginning of the next incarnation |
///
/// An adapter is a loop: `while let Some(step) = user.next(&mut command)? { store(step.event())?; step.apply(); }`. A step that
/// is dropped has not happened and is proposed again. The command keeps the event that is under way, so it exists once.
#[derive(Debug)]
pub struct Command<'c> {
    order: Order<'c>,
    /// Events that were applied.
    applied: u32,
    /// Events that had been applied when `event` was proposed: if no more are, it has not happened.
    before: u32,
    /// The last event that was proposed.
    event: Event,
    scores: Option<Scores>,
}

#[derive(Debug)]
enum Order<'c> {
    Onboard(&'c [Statement]),
    Decide {
        request: Request<'c>,
        scored: bool,
        propensities: Option<(u32, &'c mut [f64])>,
    },
    Feedback {
        id: DecisionId,
        reward: f64,
        weight: f32,
        time: u32,
    },
    Observe {
        context: &'c Context,
        action: Action,
        reward: f64,
        weight: f32,
        time: u32,
        defaults: Option<&'c [f64]>,
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

/// What an action was chosen for; the numbers are for people and logs, the event has all that is learned from.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Scores {
    /// The mean score of the action, baseline + phi.mu.
    pub score: f64,
    /// The score that it was chosen for: that of the draw, or the mean with the bonus for what is uncertain.
    pub sampled_score: f64,
    /// Whether another feasible action has a higher mean score.
    pub explored: bool,
}

impl<'c> Command<'c> {
    const fn new(order: Order<'c>) -> Self {
        Self { order, applied: 0, before: 0, event: Event::Forget { guarantee_fingerprint: 0 }, scores: None }
    }

    /// Takes stated preferences, all of them or none.
    #[must_use]
    pub const fn onboard(statements: &'c [Statement]) -> Self {
        Self::new(Order::Onboard(statements))
    }

    /// Chooses an action.
    #[must_use]
    pub const fn decide(request: Request<'c>) -> Self {
        Self::new(Order::Decide { request, scored: false, propensities: None })
    }

    /// A decision with its [`scores`](Self::scores): the mean is solved for beside the draw.
    #[must_use]
    pub const fn scored(mut self) -> Self {
        if let Order::Decide { scored, .. } = &mut self.order {
            *scored = true;
        }
        self
    }

    /// A decision with the [propensities](User::propensities) of all actions in its round, from so many draws.
    #[must_use]
    pub const fn with_propensities(mut self, draws: u32, out: &'c mut [f64]) -> Self {
        if let Order::Decide { propensities, .. } = &mut self.order {
            *propensities = Some((draws, out));
        }
        self
    }

    /// Learns the reward of an earlier decision.
    #[must_use]
    pub const fn feedback(id: DecisionId, reward: f64) -> Self {
        Self::new(Order::Feedback { id, reward, weight: 1.0, time: 0 })
    }

    /// Learns the reward of an action that was chosen elsewhere, compared with the reference score.
    #[must_use]
    pub const fn observe(context: &'c Context, action: Action, reward: f64) -> Self {
        Self::new(Order::Observe { context, action, reward, weight: 1.0, time: 0, defaults: None })
    }

    /// An observation that is compared with the caller's own default score of its action, one of a number per action as in a
    /// [`Request`]; none for the reference score.
    #[must_use]
    pub const fn with_defaults(mut self, own: Option<&'c [f64]>) -> Self {
        if let Order::Observe { defaults, .. } = &mut self.order {
            *defaults = own;
        }
        self
    }

    /// A reward that counts more or less than another; it ends the guarantee of promotions.
    #[must_use]
    pub const fn weighted(mut self, with: f32) -> Self {
        if let Order::Feedback { weight, .. } | Order::Observe { weight, .. } = &mut self.order {
            *weight = with;
        }
        self
    }

    /// A reward at the caller's time.
    #[must_use]
    pub const fn at(mut self, time: u32) -> Self {
        if let Order::Feedback { time: own, .. } | Order::Observe { time: own, .. } = &mut self.order {
            *own = time;
        }
        self
    }

    /// Ends the wait of every decision whose deadline has passed.
    #[must_use]
    pub const fn expire(time: u32) -> Self {
        Self::new(Order::Expire { time })
    }

    /// Promotes everything that is decided now.
    #[must_use]
    pub const fn promote(time: u32) -> Self {
        Self::new(Order::Promote { time })
    }

    /// Makes these all that the user wishes: their own rules, and switches. Hosts have it; a device is told of each
    /// [change](Event::UserRule).
    #[cfg(feature = "alloc")]
    #[must_use]
    pub const fn user_rules(rules: &'c [super::UserRule]) -> Self {
        Self::new(Order::UserRules(rules))
    }

    /// Lets an event happen that was made elsewhere: of a journal, or an [`Event::Unlearn`].
    #[must_use]
    pub const fn event(event: Event) -> Self {
        Self { order: Order::Event, applied: 0, before: 0, event, scores: None }
    }

    /// Takes back an earlier observation, or a reward that was imputed. `kept` is what fadings have left of it: 1 without any.
    /// `probed` are the contrasts whose [coins](Probe) it was the reward of, as the event of its decision says: they start again.
    #[must_use]
    pub const fn unlearn(observation: Observation, imputed: bool, kept: f32, probed: ContrastSet) -> Self {
        Self::event(Event::Unlearn { observation, imputed, kept, probed })
    }

    /// Goes back to the prior, in the next incarnation; ids of earlier decisions are unknown from then on.
    #[must_use]
    pub const fn forget() -> Self {
        Self::new(Order::Forget)
    }

    /// Events that were applied.
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

    /// The coins that were tossed for the decision that was made.
    #[must_use]
    pub fn coins(&self) -> &[Probe] {
        match &self.event {
            Event::Decision { coins, .. } if self.applied > self.before => coins,
            _ => &[],
        }
    }

    /// What the decision was made for, if that was [asked for](Self::scored).
    #[must_use]
    pub const fn scores(&self) -> Option<Scores> {
        self.scores
    }
}

impl<T: Scalar> User<'_, T> {
    /// The next event of a command, checked and ready to be stored and applied; `None` when there is nothing left to do.
    ///
    /// # Errors
    /// What the command asks for cannot be done. The first event of a command is proposed only when all of it can.
    pub fn next<'s>(&'s mut self, command: &'s mut Command<'_>) -> Result<Option<Step<'s, T>>, UserError> {
        if !self.propose(command)? {
            return Ok(None);
        }
        command.before = command.applied;
        let Command { event, applied, .. } = command;
        Ok(Some(self.check(event)?.of(applied)))
    }

    /// Does all of a command, for those who store nothing.
    ///
    /// # Errors
    /// As for [`next`](Self::next).
    pub fn run(&mut self, command: &mut Command<'_>) -> Result<(), UserError> {
        while let Some(step) = self.next(command)? {
            step.apply();
        }
        Ok(())
    }

    /// Puts the next event of a command into its place; false when the command is done. An event is large: what makes one has a
    /// stack frame of its own, which is gone when another one is made.
    #[inline(never)]
    fn propose(&mut self, command: &mut Command<'_>) -> Result<bool, UserError> {
        self.admit()?;
        let Command { order, applied, before, event, scores } = command;
        let (first, happened) = (*applied == 0, *applied > *before);
        match order {
            Order::Decide { request, scored, propensities } => {
                if first {
                    self.admit_request(request)?;
                    self.next_round()?;
                    let expected = self.policy.catalog().actions();
                    if propensities.as_ref().is_some_and(|(_, out)| out.len() != expected) {
                        return Err(UserError::Posterior(PosteriorError::OutputLength { expected }));
                    }
                } else if happened && matches!(event, Event::Decision { .. }) {
                    return Ok(false);
                }
                let left = self.narrow(request)?;
                let request = Request { feasible: &left, ..*request };
                let Some(drawn) = self.propose_decision(&request, *scored, event)? else { return Ok(true) };
                if let Some((draws, out)) = propensities {
                    self.propensities_of(&request, &drawn, *draws, out)?;
                }
                if *scored {
                    *scores = Some(self.scores(&request, &drawn)?);
                }
                Ok(true)
            }
            Order::Feedback { id, reward, weight, time } if first => {
                *event =
                    Event::Feedback { round: self.rewardable(*id, *time)?, reward: *reward, weight: *weight };
                Ok(true)
            }
            Order::Observe { .. } if !cfg!(feature = "observe") => Err(UserError::Unsupported),
            Order::Observe { context, action, reward, weight, defaults, .. } if first => {
                let default = self
                    .admit_defaults(*defaults)?
                    .and_then(|defaults| defaults.get(action.index()).copied());
                self.propose_observation((context, *action, default), *reward, *weight, event)
            }
            // What the reward leads to: fading, then what it has made certain.
            order @ (Order::Feedback { .. } | Order::Observe { .. }) => {
                let (time, round) = match order {
                    Order::Feedback { id, time, .. } => (*time, Some(id.round)),
                    Order::Observe { time, .. } => (*time, None),
                    _ => return Ok(false),
                };
                if cfg!(feature = "adapt")
                    && let Some(keep) = self.fading_due()
                {
                    *event = Event::Fade { keep };
                    return Ok(true);
                }
                self.propose_promotion(&self.contrasts_to_check(round), time, event)
            }
            Order::Promote { time } => {
                supported(cfg!(feature = "promote"))?;
                self.propose_promotion(&ContrastSet::FULL, *time, event)
            }
            Order::Expire { time } => {
                let Some(due) = self.due(*time) else { return Ok(false) };
                *event = due.into();
                Ok(true)
            }
            Order::Onboard(_) if !cfg!(feature = "onboard") => Err(UserError::Unsupported),
            Order::Onboard(statements) => self.propose_statement(statements, *applied, event),
            #[cfg(feature = "alloc")]
            Order::UserRules(rules) => self.propose_user_rule(rules, first, event),
            Order::Event => Ok(first),
            Order::Forget => {
                *event = Event::Forget { guarantee_fingerprint: self.policy.guarantee_fingerprint() };
                Ok(first)
            }
        }
    }

    #[inline(never)]
    fn propose_statement(
        &self,
        statements: &[Statement],
        applied: u32,
        event: &mut Event,
    ) -> Result<bool, UserError> {
        if applied == 0 {
            statements.iter().try_for_each(|statement| self.admit_statement(statement))?;
        }
        let next = usize::try_from(applied).ok().and_then(|applied| statements.get(applied));
        let Some(statement) = next else { return Ok(false) };
        *event = Event::Onboarding(statement.clone());
        Ok(true)
    }

    #[inline(never)]
    fn propose_observation(
        &self,
        done: (&Context, Action, Option<f64>),
        reward: f64,
        weight: f32,
        event: &mut Event,
    ) -> Result<bool, UserError> {
        *event = Event::Observation(self.observed(done, reward, weight)?);
        Ok(true)
    }

    /// What is due expires, the ring gets room, the permissions are recorded, the decision is made.
    #[inline(never)]
    fn propose_decision(
        &mut self,
        request: &Request<'_>,
        scored: bool,
        event: &mut Event,
    ) -> Result<Option<Drawn<T>>, UserError> {
        if let Some(due) = self.due(request.time).or_else(|| self.crowded()) {
            *event = due.into();
        } else if self.state().permissions != *request.feasible.set() {
            *event = Event::Permissions(*request.feasible.set());
        } else if let Some(placing) = self.placing() {
            *event = placing;
        } else {
            let mut coins = Probes::new();
            let drawn = self.draw(request, scored, &mut coins)?;
            *event = Event::Decision {
                round: drawn.round,
                action: drawn.action,
                baseline: drawn.baseline.to_f64(),
                context: *request.context,
                time: request.time,
                coins,
            };
            return Ok(Some(drawn));
        }
        Ok(None)
    }

    /// The scores of the action that is played.
    fn scores(&mut self, request: &Request<'_>, drawn: &Drawn<T>) -> Result<Scores, UserError> {
        let (_, means) =
            with_variances(self.workspace, self.policy.catalog()).ok_or(PosteriorError::WorkspaceLength)?;
        let (_, highest) = score::best(request.feasible.set(), means).ok_or(UserError::UnknownAction)?;
        let score = *means.get(drawn.action.index()).ok_or(PosteriorError::WorkspaceLength)?;
        Ok(Scores { score: score.to_f64(), sampled_score: drawn.score.to_f64(), explored: score < highest })
    }

    /// A reward for an action chosen elsewhere, with the score that it is compared with, of the reference or the caller's default.
    fn observed(
        &self,
        (context, action, default): (&Context, Action, Option<f64>),
        reward: f64,
        weight: f32,
    ) -> Result<Observation, UserError> {
        self.admit()?;
        self.admit_action(context, action)?;
        let baseline = self.policy.baseline(context, action, default).to_f64();
        Ok(Observation { context: *context, action, baseline, reward, weight })
    }

    /// Learns from an action chosen elsewhere, fades if that is due, and promotes what the reward has made certain.
    ///
    /// # Errors
    /// A reward outside [-1, 1], a context or action of another catalog; nothing has changed then.
    pub fn observe(
        &mut self,
        context: &Context,
        action: Action,
        reward: f64,
    ) -> Result<Update<T>, UserError> {
        self.observe_at(context, action, reward, 0)
    }

    /// Learns from an action chosen elsewhere, with a reward that comes at a time.
    ///
    /// # Errors
    /// As for [`observe`](Self::observe).
    pub fn observe_at(
        &mut self,
        context: &Context,
        action: Action,
        reward: f64,
        time: u32,
    ) -> Result<Update<T>, UserError> {
        supported(cfg!(feature = "observe"))?;
        let observation = self.observed((context, action, None), reward, 1.0)?;
        let update = self.observation_lesson(&observation)?.learn();
        self.follow_up(None, time);
        Ok(update)
    }

    /// Takes a stated preference into the posterior (Equations 2-3).
    ///
    /// # Errors
    /// A direction of another catalog, a response or precision out of range; nothing has changed then.
    pub fn onboard(&mut self, statement: &Statement) -> Result<Option<Update<T>>, UserError> {
        supported(cfg!(feature = "onboard"))?;
        self.admit_on()?;
        let Some(lesson) = self.stated_lesson(statement)? else {
            self.memory.state.count();
            return Ok(None);
        };
        Ok(Some(lesson.learn()))
    }

    /// Goes back to the prior, in the next incarnation; ids of earlier decisions are unknown from then on.
    ///
    /// # Errors
    /// A counter at its end.
    pub fn forget(&mut self) -> Result<(), UserError> {
        self.admit()?;
        self.state().incarnation.checked_add(1).ok_or(UserError::Exhausted)?;
        self.memory.forget(self.policy, self.policy.guarantee_fingerprint());
        Ok(())
    }
}
