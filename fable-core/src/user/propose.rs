//! The events of a [`Command`], in the one order of the method.

use super::command::{Order, Propensities, Reward};
use super::decide::Choice;
use super::probe::Probes;
use super::{Command, Event, Request, Step, User, UserError, supported};
use crate::catalog::score::Scalar;
use crate::catalog::{Action, Context, ContrastSet, Statement};
use crate::posterior::PosteriorError;

impl<T: Scalar> User<'_, T> {
    /// The next event of a command, checked, to be stored and applied; `None` when the command is done.
    ///
    /// # Errors
    /// The command cannot be done. The first event of a command is proposed only when all of the command can
    /// be done.
    pub fn next<'s>(&'s mut self, command: &'s mut Command<'_>) -> Result<Option<Step<'s, T>>, UserError> {
        if !self.propose(command)? {
            return Ok(None);
        }
        command.before = command.applied;
        let Command { event, applied, .. } = command;
        Ok(Some(self.check(event)?.counted_in(applied)))
    }

    /// Applies all events of a command, without storing them.
    ///
    /// # Errors
    /// As for [`next`](Self::next).
    pub fn run(&mut self, command: &mut Command<'_>) -> Result<(), UserError> {
        while let Some(step) = self.next(command)? {
            step.apply();
        }
        Ok(())
    }

    /// Writes the next event into the command; false when the command is done.
    ///
    /// An event is large. Each function that makes one has a stack frame of its own, which is free when
    /// another one runs.
    #[inline(never)]
    fn propose(&mut self, command: &mut Command<'_>) -> Result<bool, UserError> {
        self.admit()?;
        let Command { order, applied, before, event, scores } = command;
        let first = *applied == 0;
        match order {
            Order::Decide { request, scored, propensities } => {
                if first {
                    self.admit_request(request)?;
                    self.next_round()?;
                    let expected = self.policy.catalog().actions();
                    if propensities.as_ref().is_some_and(|wanted| wanted.out.len() != expected) {
                        return Err(UserError::Posterior(PosteriorError::OutputLength { expected }));
                    }
                } else if *applied > *before && matches!(event, Event::Decision { .. }) {
                    return Ok(false);
                }
                let left = self.narrow(request)?;
                let request = Request { feasible: &left, ..*request };
                let Some(choice) = self.propose_decision(&request, *scored, event)? else { return Ok(true) };
                if let Some(Propensities { draws, out }) = propensities {
                    self.propensities_of(&request, &choice, *draws, out)?;
                }
                if *scored {
                    *scores = Some(self.scores(&request, &choice)?);
                }
                Ok(true)
            }
            Order::Feedback { id, reward } if first => {
                let round = self.rewardable(*id, reward.time)?;
                *event = Event::Feedback { round, reward: reward.value, weight: reward.weight };
                Ok(true)
            }
            Order::Feedback { id, reward } => self.propose_follow_up(Some(id.round), reward.time, event),
            Order::Observe { .. } if !cfg!(feature = "observe") => Err(UserError::Unsupported),
            Order::Observe { context, action, defaults, reward } if first => {
                let default = self
                    .admit_defaults(*defaults)?
                    .and_then(|defaults| defaults.get(action.index()).copied());
                self.propose_observation((context, *action, default), *reward, event)
            }
            Order::Observe { reward, .. } => self.propose_follow_up(None, reward.time, event),
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

    /// The next statement.
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

    /// The reward of an action that was not decided on.
    #[inline(never)]
    fn propose_observation(
        &self,
        done: (&Context, Action, Option<f64>),
        reward: Reward,
        event: &mut Event,
    ) -> Result<bool, UserError> {
        *event = Event::Observation(self.observed(done, reward.value, reward.weight)?);
        Ok(true)
    }

    /// After a reward: a fading if it is due, then promotions. `round` is that of the reward's decision.
    fn propose_follow_up(
        &mut self,
        round: Option<u32>,
        time: u32,
        event: &mut Event,
    ) -> Result<bool, UserError> {
        if cfg!(feature = "adapt")
            && let Some(keep) = self.fading_due()
        {
            *event = Event::Fade { keep };
            return Ok(true);
        }
        self.propose_promotion(&self.contrasts_to_check(round), time, event)
    }

    /// A due expiry, the expiry that frees a slot, the feasible set, the site or the decision: the first that
    /// is needed.
    #[inline(never)]
    fn propose_decision(
        &mut self,
        request: &Request<'_>,
        scored: bool,
        event: &mut Event,
    ) -> Result<Option<Choice<T>>, UserError> {
        if let Some(due) = self.due(request.time).or_else(|| self.crowded()) {
            *event = due.into();
        } else if self.state().permissions != *request.feasible.set() {
            *event = Event::Permissions(*request.feasible.set());
        } else if let Some(site) = self.site_event() {
            *event = site;
        } else {
            let mut probes = Probes::new();
            let choice = self.choose(request, scored, &mut probes)?;
            *event = Event::Decision {
                round: choice.round,
                action: choice.action,
                baseline: choice.baseline.to_f64(),
                context: *request.context,
                time: request.time,
                probes,
            };
            return Ok(Some(choice));
        }
        Ok(None)
    }
}
