//! Learning: one observation changes the Gaussian of the user (Equations 5 and 6; for stated preferences
//! Equations 2 and 3).
//!
//! ```text
//! Lambda <- Lambda + phi phi^T / v            Equation 5, with v = sigma^2 / weight
//! h      <- h + phi (y - baseline) / v        Equation 6, with baseline = b - lambda cost
//! ```
//!
//! A [`Lesson`] is a checked observation: all errors are found while it is prepared, and [`Lesson::learn`]
//! cannot fail. [`User::lesson`] computes phi, y - baseline and v, and `learn` has the two equations. The
//! factor of Lambda is swept once for both. Checks are in [`admit`](super::admit), counts and probes in
//! [`evidence`](super::evidence).

use super::admit::admit_reward;
use super::evidence::{Bookkeeping, Kind};
use super::late::{Pending, Wait};
use super::learner::{Regions, regions};
use super::{DecisionId, Observation, User, UserError, supported};
use crate::catalog::{Action, Context, ContrastSet, Statement, score::Scalar};
use crate::policy::Policy;
use crate::posterior::{Located, Update};

/// A checked observation, with the memory that it changes. See the [module](self).
#[derive(Debug)]
pub(super) struct Lesson<'s, T> {
    /// phi and y - baseline, and the part of the factor that they touch.
    located: Located<'s, T>,
    /// v, negative for an observation that is taken back.
    variance: T,
    pub(super) bookkeeping: Bookkeeping<'s, T>,
}

impl<T: Scalar> Lesson<'_, T> {
    /// Learns the observation, then records that it was learned.
    #[inline(never)]
    pub(super) fn learn(self) -> Update<T> {
        let Self { located, variance, bookkeeping } = self;
        // Equation 5: Lambda <- Lambda + phi phi^T / v.
        // Equation 6: h <- h + phi (y - baseline) / v.
        let update = located.absorb(variance, &mut bookkeeping.state.log_det_ratio);
        bookkeeping.record(&update);
        update
    }
}

impl<T: Scalar> User<'_, T> {
    /// Prepares an observation with a reward for Equations 5 and 6.
    #[inline(never)]
    fn lesson<'s>(
        &'s mut self,
        observation: &Observation,
        kind: Kind<'s>,
    ) -> Result<Lesson<'s, T>, UserError> {
        let catalog = self.policy.catalog();
        // phi(c, a), one entry per retained block.
        let features = self.policy.features(&observation.context, observation.action);
        let features = features.map(|(coordinate, value)| (coordinate, T::from_f32(value)));
        // y - baseline, and v = sigma^2 / weight.
        let (residual, variance) = residual(self.policy, observation);
        let state = &mut *self.memory.state;
        let Regions { packed, counts, trials } = regions(catalog, self.memory.storage);
        let located = Located::new(state.layout, packed, self.workspace, features, residual)?;
        let pending = &mut *self.memory.pending;
        let bookkeeping = Bookkeeping { state, catalog, counts, trials, pending, kind, remote: None };
        Ok(Lesson { located, variance, bookkeeping })
    }

    /// Prepares a stated preference (v, u, kappa) for Equations 2 and 3; `None` if its precision is 0.
    #[inline(never)]
    pub(super) fn stated_lesson(
        &mut self,
        statement: &Statement,
    ) -> Result<Option<Lesson<'_, T>>, UserError> {
        self.admit()?;
        self.admit_statement(statement)?;
        if statement.precision == 0.0 {
            return Ok(None);
        }
        let catalog = self.policy.catalog();
        // Equations 2 and 3 are Equations 5 and 6 with phi = v, y - baseline = u and a variance of 1 / kappa.
        let direction = statement.direction.entries().map(|(index, value)| (index, T::from_f64(value)));
        let response = T::from_f64(statement.response);
        let variance = T::from_f64(1.0 / statement.precision);
        let state = &mut *self.memory.state;
        let Regions { packed, counts, trials } = regions(catalog, self.memory.storage);
        let located = Located::new(state.layout, packed, self.workspace, direction, response)?;
        let pending = &mut *self.memory.pending;
        let kind = Kind::Statement;
        let bookkeeping = Bookkeeping { state, catalog, counts, trials, pending, kind, remote: None };
        Ok(Some(Lesson { located, variance, bookkeeping }))
    }

    /// Prepares the reward of a decision that waits.
    #[inline(never)]
    pub(super) fn feedback_lesson(
        &mut self,
        round: u32,
        reward: f64,
        weight: f32,
    ) -> Result<Lesson<'_, T>, UserError> {
        self.admit_on()?;
        admit_reward(reward, weight)?;
        self.admit_count()?;
        self.pending_lesson(round, reward, weight, Wait::Rewarded)
    }

    /// Prepares the reward of a decision whose wait ends as `wait` says: a user's reward, or an imputed one.
    pub(super) fn pending_lesson(
        &mut self,
        round: u32,
        reward: f64,
        weight: f32,
        wait: Wait,
    ) -> Result<Lesson<'_, T>, UserError> {
        self.admit()?;
        let Pending { context, action, baseline, probed, .. } = *self.memory.view().find(round)?;
        supported(cfg!(feature = "probes") || probed.is_empty())?;
        let observation = Observation { context, action, baseline: baseline.to_f64(), reward, weight };
        let kind = if wait == Wait::Rewarded {
            Kind::Feedback { round, action, reward, voids: weight != 1.0 }
        } else {
            Kind::Imputed { expired: Some(round) }
        };
        self.lesson(&observation, kind)
    }

    /// Prepares the reward of an action that was not decided on here.
    #[inline(never)]
    pub(super) fn observation_lesson(
        &mut self,
        observation: &Observation,
    ) -> Result<Lesson<'_, T>, UserError> {
        self.admit_on()?;
        self.admit_observation(observation)?;
        self.admit_count()?;
        let voids = observation.weight != 1.0;
        self.lesson(observation, Kind::Observation { action: observation.action, voids })
    }

    /// Prepares a reward that was learned at another site.
    pub(super) fn remote_reward_lesson<'s>(
        &'s mut self,
        observation: &Observation,
        kind: Kind<'s>,
    ) -> Result<Lesson<'s, T>, UserError> {
        self.admit_observation(observation)?;
        self.admit_count()?;
        self.lesson(observation, kind)
    }

    /// Prepares an observation that is taken back: Equations 5 and 6 with the variance -v / `kept`.
    #[inline(never)]
    pub(super) fn unlearning_lesson(
        &mut self,
        observation: &Observation,
        imputed: bool,
        kept: f32,
        probed: ContrastSet,
    ) -> Result<Lesson<'_, T>, UserError> {
        supported(cfg!(feature = "probes") || probed.is_empty())?;
        let kind = Kind::TakenBack { action: observation.action, imputed, kept, probed };
        let mut lesson = self.lesson(observation, kind)?;
        lesson.variance = T::from_f64(-lesson.variance.to_f64() / f64::from(kept));
        Ok(lesson)
    }
}

/// y - baseline and sigma^2 / weight.
pub(super) fn residual<T: Scalar>(policy: &Policy<'_, T>, observation: &Observation) -> (T, T) {
    let residual = T::from_f64(observation.reward) - T::from_f64(observation.baseline);
    (residual, T::from_f64(policy.settings().noise_variance / f64::from(observation.weight)))
}

impl<T: Scalar> User<'_, T> {
    /// Learns the reward of an earlier decision (Equations 5 and 6), fades if that is due, and promotes what
    /// became certain. For callers without a clock: [`feedback_at`](Self::feedback_at) time 0.
    ///
    /// # Errors
    /// A reward outside [-1, 1], an unknown, expired or already rewarded decision; nothing has changed then.
    pub fn feedback(&mut self, id: DecisionId, reward: f64) -> Result<Update<T>, UserError> {
        self.feedback_at(id, reward, 0)
    }

    /// Learns the reward of an earlier decision. The reward comes at `time`.
    ///
    /// # Errors
    /// As for [`feedback`](Self::feedback); a decision whose deadline has passed at `time` is expired.
    pub fn feedback_at(&mut self, id: DecisionId, reward: f64, time: u32) -> Result<Update<T>, UserError> {
        self.feedback_weighted(id, reward, 1.0, time)
    }

    /// Learns the reward of an earlier decision with a weight. A weight other than 1 ends the guarantee of
    /// promotions.
    ///
    /// # Errors
    /// As for [`feedback_at`](Self::feedback_at), and a weight that is not a number from 0.001 to 100.
    pub fn feedback_weighted(
        &mut self,
        id: DecisionId,
        reward: f64,
        weight: f32,
        time: u32,
    ) -> Result<Update<T>, UserError> {
        let round = self.rewardable(id, time)?;
        let update = self.feedback_lesson(round, reward, weight)?.learn();
        self.follow_up(Some(round), time);
        Ok(update)
    }

    /// Learns the reward of an action that was not decided on, fades if that is due, and promotes what became
    /// certain.
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

    /// Learns the reward of an action that was not decided on. The reward comes at `time`.
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

    /// An observation of an action with its baseline: the reference score, with the caller's default score if
    /// there is one.
    pub(super) fn observed(
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

    /// Learns a stated preference (Equations 2 and 3).
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

    /// Fades and promotes after a learned reward; `round` is that of its decision, if it had one.
    ///
    /// A promotion that cannot be assessed now is looked for at the next check, so no error is reported.
    pub(super) fn follow_up(&mut self, round: Option<u32>, time: u32) {
        if cfg!(feature = "adapt")
            && let Some(keep) = self.fading_due()
            && let Ok(fade) = self.fading(keep)
        {
            fade.fade();
        }
        if cfg!(feature = "promote") {
            let _ = self.promote_all(&self.contrasts_to_check(round), time);
        }
    }
}
