//! Learning: rewards of earlier decisions, rewards of actions chosen elsewhere, stated preferences (Equations 2-3, 5-6).
//!
//! What can be wrong is found while a [`Lesson`] is prepared; learning it cannot fail.

use super::late::{Due, Pending, Wait, slot_mut};
use super::probe::preferred;
use super::trial::{self, Account};
use super::{DecisionId, Observation, State, User, UserError, supported};
use crate::catalog::{Action, Catalog, ContrastSet, OnboardingError, Statement, Values, score::Scalar};
use crate::numbers::{MAX_BASELINE, ONBOARDING_PRECISION, REWARD, WEIGHT, within};
use crate::policy::Policy;
use crate::posterior::{Located, Update};

/// A checked observation in its place. See the [module](self).
#[derive(Debug)]
pub(super) struct Lesson<'s, T> {
    state: &'s mut State,
    located: Located<'s, T>,
    variance: T,
    /// The counts of evidence, the action whose values gain or lose one, and which.
    evidence: Option<(&'s mut [T], &'s Catalog<'s>, Action, T)>,
    /// The decision that stops waiting.
    settled: Option<(&'s mut Pending<T>, Wait)>,
    /// The numbers of the declared contrasts.
    trials: &'s mut [T],
    kind: Kind,
    /// What it is part of, if it happened elsewhere.
    pub(super) elsewhere: Option<&'s super::RemoteEvent>,
}

/// What a lesson does beside the posterior.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    /// A stated preference.
    Stated,
    /// A reward, and whether the guarantee of promotions ends with it.
    Reward { reward: f64, voids: bool },
    /// A reward that is taken back, with the coins that it was the reward of.
    TakenBack(ContrastSet),
}

impl<T: Scalar> Lesson<'_, T> {
    /// Learns it.
    #[inline(never)]
    pub(super) fn learn(self) -> Update<T> {
        let Self { state, located, variance, evidence, settled, trials, kind, .. } = self;
        let happened_here = !cfg!(feature = "alloc")
            || self.elsewhere.is_none_or(|elsewhere| {
                state.know(elsewhere);
                if let (super::RemoteChange::Reward { coins, .. }, Some((_, catalog, action, _))) =
                    (&elsewhere.deed, &evidence)
                {
                    let values = catalog.values(*action).unwrap_or_default();
                    coins.iter().for_each(|coin| {
                        settle_coin(catalog, trials, coin.contrast.into(), &values, Some(coin.expected), kind)
                    });
                }
                false
            });
        if happened_here {
            state.count();
        }
        if let Some((pending, wait)) = settled {
            pending.wait = wait;
            if cfg!(feature = "probes")
                && let (Wait::Rewarded, Some((_, catalog, ..))) = (wait, &evidence)
            {
                let values = catalog.values(pending.action).unwrap_or_default();
                pending
                    .coins
                    .iter()
                    .for_each(|contrast| settle_coin(catalog, trials, contrast, &values, None, kind));
            }
        }
        // How many rewards there were before, for one that counts as evidence.
        let rewards = evidence.map(|(counts, catalog, action, step)| count(catalog, counts, action, step));
        let rewards = if cfg!(feature = "adapt") { rewards } else { None };
        let update = located.absorb(variance, &mut state.log_det_ratio);
        match kind {
            // Before the first reward a statement is part of what a user begins with.
            Kind::Stated if state.observations == 0 => state.log_det_ratio = 0.0,
            Kind::Stated => {}
            Kind::Reward { voids, .. } => {
                if let Some(rewards) = rewards {
                    state.weigh(&update, rewards);
                    state.count_surprise(&update);
                }
                state.observations = state.observations.saturating_add(1);
                state.since_fading = state.since_fading.saturating_add(1);
                state.voided |= voids;
            }
            Kind::TakenBack(_) if !cfg!(feature = "unlearn") => {}
            Kind::TakenBack(probed) => {
                if cfg!(feature = "probes") {
                    trial::restart(trials, &probed);
                }
                if rewards.is_some() {
                    state.count_surprise(&update);
                }
                state.observations = state.observations.saturating_sub(1);
                state.voided = true;
            }
        }
        update
    }
}

/// Hands a reward to a coin of its decision: the contrast's last one here, or one that was tossed elsewhere with its own m.
fn settle_coin<T: Scalar>(
    catalog: &Catalog<'_>,
    trials: &mut [T],
    contrast: usize,
    values: &Values,
    expected: Option<f32>,
    kind: Kind,
) {
    let Kind::Reward { reward, .. } = kind else { return };
    if let (Some(preferred), Some(numbers)) =
        (preferred(catalog, contrast, values), trial::numbers(trials, contrast))
    {
        let mut account = Account::read(numbers);
        let expected = expected.map_or(account.expected, f64::from);
        account.settle(expected, preferred, reward);
        account.write(numbers);
    }
}

/// Adds to the evidence of each value of an action; returns what there was in all.
fn count<T: Scalar>(catalog: &Catalog<'_>, counts: &mut [T], action: Action, step: T) -> f64 {
    let first = catalog.definition().components.first().map_or(0, |first| first.values.len());
    let before = counts.iter().take(first).map(|count| count.to_f64()).sum();
    let values = catalog.values(action).unwrap_or_default();
    for (component, &value) in values.iter().enumerate() {
        if let Some(count) = catalog.value_place(component, value).and_then(|place| counts.get_mut(place)) {
            let sum = *count + step;
            *count = if sum > T::ZERO { sum } else { T::ZERO }; // fractions of faded counts are rounded
        }
    }
    before
}

impl<T: Scalar> User<'_, T> {
    /// Learns the reward of an earlier decision (Equations 5-6), fades if that is due, and promotes what the reward has made
    /// certain. For hosts without a clock: [`feedback_at`](Self::feedback_at) time 0.
    ///
    /// # Errors
    /// A reward outside [-1, 1], an unknown, expired or already rewarded decision; nothing has changed then.
    pub fn feedback(&mut self, id: DecisionId, reward: f64) -> Result<Update<T>, UserError> {
        self.feedback_at(id, reward, 0)
    }

    /// Learns the reward of an earlier decision that comes at time `now`.
    ///
    /// # Errors
    /// As for [`feedback`](Self::feedback); a decision whose deadline has passed by then is expired.
    pub fn feedback_at(&mut self, id: DecisionId, reward: f64, time: u32) -> Result<Update<T>, UserError> {
        self.feedback_weighted(id, reward, 1.0, time)
    }

    /// The same with a weight: a reward that counts more or less than another ends the guarantee of promotions.
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

    /// Fades and promotes after a learned reward, of the decision of a round if there was one. No error remains to be reported:
    /// a promotion that cannot be assessed now is looked for at the next check.
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

    /// The round of a decision that still waits at time `now`.
    pub(super) fn rewardable(&self, id: DecisionId, time: u32) -> Result<u32, UserError> {
        let round = self.state().round_of(id)?;
        if self.is_due(self.memory.view().find(round)?, time) {
            Err(UserError::ExpiredDecision)
        } else {
            Ok(round)
        }
    }

    /// Ends a wait: with an imputed reward, or with nothing.
    pub(super) fn end(&mut self, due: Due) -> Result<(), UserError> {
        match self.expiry_lesson(due)? {
            Ok(lesson) => drop(lesson.learn()),
            Err((state, pending)) => expire(state, pending),
        }
        Ok(())
    }

    /// The reward of a decision that waits.
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

    /// The reward imputed to a decision that waits no longer; without one, the decision. Not counted: an expiry that is due
    /// must not fail.
    #[inline(never)]
    pub(super) fn expiry_lesson(
        &mut self,
        due: Due,
    ) -> Result<Result<Lesson<'_, T>, Waiting<'_, T>>, UserError> {
        if let Some(reward) = due.imputed {
            admit_reward(reward, 1.0)?;
            return self.pending_lesson(due.round, reward, 1.0, Wait::Expired).map(Ok);
        }
        self.memory.view().find(due.round)?;
        let pending = slot_mut(self.memory.pending, due.round).ok_or(UserError::ExpiredDecision)?;
        Ok(Err((&mut *self.memory.state, pending)))
    }

    fn pending_lesson(
        &mut self,
        round: u32,
        reward: f64,
        weight: f32,
        wait: Wait,
    ) -> Result<Lesson<'_, T>, UserError> {
        self.admit()?;
        let Pending { context, action, baseline, coins, .. } = *self.memory.view().find(round)?;
        supported(cfg!(feature = "probes") || coins.is_empty())?;
        let reward = Observation { context, action, baseline: baseline.to_f64(), reward, weight };
        let step = (wait == Wait::Rewarded).then_some(T::ONE);
        let voids = wait == Wait::Expired || weight != 1.0;
        let kind = Kind::Reward { reward: reward.reward, voids };
        self.lesson(&reward, step, Some((round, wait)), kind)
    }

    /// The reward of a decision of another place.
    pub(super) fn elsewhere_lesson(
        &mut self,
        observation: &Observation,
        imputed: bool,
    ) -> Result<Lesson<'_, T>, UserError> {
        self.admit_observation(observation)?;
        self.admit_count()?;
        let (step, voids) = ((!imputed).then_some(T::ONE), imputed || observation.weight != 1.0);
        self.lesson(observation, step, None, Kind::Reward { reward: observation.reward, voids })
    }

    /// The reward of an action that was chosen elsewhere.
    #[inline(never)]
    pub(super) fn observation_lesson(
        &mut self,
        observation: &Observation,
    ) -> Result<Lesson<'_, T>, UserError> {
        self.admit_on()?;
        self.admit_observation(observation)?;
        self.admit_count()?;
        let voids = observation.weight != 1.0;
        self.lesson(observation, Some(T::ONE), None, Kind::Reward { reward: observation.reward, voids })
    }

    /// An observation taken back: the same sweep with the variance turned round.
    #[inline(never)]
    pub(super) fn unlearning_lesson(
        &mut self,
        observation: &Observation,
        imputed: bool,
        kept: f32,
        probed: ContrastSet,
    ) -> Result<Lesson<'_, T>, UserError> {
        supported(cfg!(feature = "probes") || probed.is_empty())?;
        let step = (!imputed).then_some(-T::from_f32(kept));
        let mut lesson = self.lesson(observation, step, None, Kind::TakenBack(probed))?;
        lesson.variance = T::from_f64(-lesson.variance.to_f64() / f64::from(kept));
        Ok(lesson)
    }

    /// A stated preference (Equations 2-3); `None` when it has no weight.
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
        let (packed, _, trials) = split(self.policy.catalog(), self.memory.storage);
        let direction = statement.direction.entries().map(|(index, value)| (index, T::from_f64(value)));
        let located = Located::new(
            self.memory.state.arrow,
            packed,
            self.workspace,
            direction,
            T::from_f64(statement.response),
        )?;
        let variance = T::from_f64(1.0 / statement.precision);
        let (state, kind) = (&mut *self.memory.state, Kind::Stated);
        Ok(Some(Lesson {
            state,
            located,
            variance,
            evidence: None,
            settled: None,
            trials,
            kind,
            elsewhere: None,
        }))
    }

    /// Equations 5-6 with the residual y - baseline and variance sigma^2 / weight.
    #[inline(never)]
    fn lesson(
        &mut self,
        reward: &Observation,
        step: Option<T>,
        settled: Option<(u32, Wait)>,
        kind: Kind,
    ) -> Result<Lesson<'_, T>, UserError> {
        let (residual, variance) = residual(self.policy, reward);
        let features = self.policy.features(&reward.context, reward.action);
        let features = features.map(|(coordinate, value)| (coordinate, T::from_f32(value)));
        let state = &mut *self.memory.state;
        let (packed, counts, trials) = split(self.policy.catalog(), self.memory.storage);
        let located = Located::new(state.arrow, packed, self.workspace, features, residual)?;
        let settled = match settled {
            Some((round, wait)) => {
                Some((slot_mut(self.memory.pending, round).ok_or(UserError::UnknownDecision)?, wait))
            }
            None => None,
        };
        let evidence = step.map(|step| (counts, self.policy.catalog(), reward.action, step));
        Ok(Lesson { state, located, variance, evidence, settled, trials, kind, elsewhere: None })
    }

    /// Learned rewards of actions that use a value of a component: neither onboarding nor imputed rewards count.
    ///
    /// Counts are kept in the learner's scalar and stop at the largest number that it counts to exactly, 2^24 in `f32`.
    #[must_use]
    pub fn evidence(&self, component: usize, value: u8) -> u32 {
        whole(self.evidence_left(component, value))
    }

    /// The same as it was counted: fading leaves fractions.
    pub(super) fn evidence_left(&self, component: usize, value: u8) -> f64 {
        let counts = self.memory.storage.get(self.memory.state.arrow.packed_len()..);
        let place = self.policy.catalog().value_place(component, value);
        counts.zip(place).and_then(|(counts, place)| counts.get(place)).map_or(0.0, |count| count.to_f64())
    }

    pub(super) fn admit_statement(&self, statement: &Statement) -> Result<(), UserError> {
        statement.direction.check(self.policy.catalog()).map_err(UserError::Onboarding)?;
        if !REWARD.contains(statement.response) {
            return Err(UserError::Onboarding(OnboardingError::Response));
        }
        if statement.precision != 0.0 && !ONBOARDING_PRECISION.contains(statement.precision) {
            return Err(UserError::Onboarding(OnboardingError::Precision));
        }
        Ok(())
    }

    pub(super) fn admit_observation(&self, observation: &Observation) -> Result<(), UserError> {
        self.admit_action(&observation.context, observation.action)?;
        admit_reward(observation.reward, observation.weight)?;
        if within(observation.baseline, MAX_BASELINE) { Ok(()) } else { Err(UserError::Baseline) }
    }

    /// One more observation can be counted.
    pub(super) fn admit_count(&self) -> Result<(), UserError> {
        if self.state().observations == u32::MAX { Err(UserError::Exhausted) } else { Ok(()) }
    }
}

/// A decision that waits, with the state it belongs to.
pub(super) type Waiting<'s, T> = (&'s mut State, &'s mut Pending<T>);

/// Ends a wait with nothing.
pub(super) const fn expire<T>(state: &mut State, pending: &mut Pending<T>) {
    pending.wait = Wait::Expired;
    state.count();
}

pub(super) fn admit_reward(reward: f64, weight: f32) -> Result<(), UserError> {
    if !REWARD.contains(reward) {
        Err(UserError::Reward)
    } else if !WEIGHT.contains(f64::from(weight)) {
        Err(UserError::Weight)
    } else {
        Ok(())
    }
}

/// The packed posterior, the counts of evidence and the numbers of the declared contrasts.
pub(super) fn split<'s, T>(
    catalog: &Catalog<'_>,
    storage: &'s mut [T],
) -> (&'s mut [T], &'s mut [T], &'s mut [T]) {
    let (packed, rest) = storage.split_at_mut_checked(catalog.layout().packed_len()).unwrap_or_default();
    if !cfg!(feature = "adapt") {
        return (packed, rest, &mut []);
    }
    let (counts, trials) = rest.split_at_mut_checked(catalog.value_count()).unwrap_or_default();
    (packed, counts, trials)
}

/// A count that was kept as a float.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "clamped by the cast; fractions are left of faded counts"
)]
fn whole(count: f64) -> u32 {
    count as u32
}

/// y - baseline and sigma^2 / weight.
pub(super) fn residual<T: Scalar>(policy: &Policy<'_, T>, reward: &Observation) -> (T, T) {
    let residual = T::from_f64(reward.reward) - T::from_f64(reward.baseline);
    (residual, T::from_f64(policy.settings().noise_variance / f64::from(reward.weight)))
}
