//! Records beside the posterior of each learned observation: counts of evidence, results of probes, ends of
//! waits, surprise.

use super::late::{Pending, Wait, slot_mut};
use super::probe::{Probes, is_preferred};
use super::trial::{self, Account};
use super::{RemoteEvent, State, User};
use crate::catalog::score::Scalar;
use crate::catalog::{Action, Catalog, ContrastSet, Values};
use crate::posterior::Update;

/// The memory that a [lesson](super::learn::Lesson) changes beside the posterior.
#[derive(Debug)]
pub(super) struct Bookkeeping<'s, T> {
    pub(super) state: &'s mut State,
    pub(super) catalog: &'s Catalog<'s>,
    /// Evidence counts, one per value.
    pub(super) counts: &'s mut [T],
    /// The numbers of the declared contrasts.
    pub(super) trials: &'s mut [T],
    /// The ring of decisions.
    pub(super) pending: &'s mut [Pending<T>],
    pub(super) kind: Kind<'s>,
    /// The event of another site that the observation is part of.
    pub(super) remote: Option<&'s RemoteEvent>,
}

/// The kind of an observation.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind<'s> {
    /// A stated preference.
    Statement,
    /// The reward of a decision of this site, which waits.
    Feedback { round: u32, action: Action, reward: f64, voids: bool },
    /// The reward of an action that was not decided on.
    Observation { action: Action, voids: bool },
    /// The reward of a decision of another site, with its probes.
    Remote { probes: &'s Probes, action: Action, reward: f64, voids: bool },
    /// A reward that was imputed: no evidence, and the guarantee of promotions ends. A decision of this site
    /// stops waiting.
    Imputed { expired: Option<u32> },
    /// An observation that is taken back, with the share that fadings have left of it. An imputed reward was
    /// no evidence. The contrasts `probed` start again, since the reward was a result of their probes.
    TakenBack { action: Action, imputed: bool, kept: f32, probed: ContrastSet },
}

impl<T: Scalar> Bookkeeping<'_, T> {
    /// Records that the observation was learned.
    pub(super) fn record(mut self, update: &Update<T>) {
        self.end_wait();
        match self.kind {
            // Before the first reward a statement is part of the prior: the ratio of determinants begins
            // after it.
            Kind::Statement if self.state.observations == 0 => self.state.log_det_ratio = 0.0,
            Kind::Statement => {}
            Kind::Feedback { action, voids, .. }
            | Kind::Observation { action, voids }
            | Kind::Remote { action, voids, .. } => {
                let rewards = count(self.catalog, self.counts, action, T::ONE);
                if cfg!(feature = "adapt") {
                    self.state.weigh(update, rewards);
                    self.state.count_surprise(update);
                }
                self.state.count_observation(voids);
            }
            Kind::Imputed { .. } => self.state.count_observation(true),
            Kind::TakenBack { .. } if !cfg!(feature = "unlearn") => {}
            Kind::TakenBack { action, imputed, kept, probed } => {
                if cfg!(feature = "probes") {
                    trial::restart(self.trials, &probed);
                }
                if !imputed {
                    let _ = count(self.catalog, self.counts, action, -T::from_f32(kept));
                    if cfg!(feature = "adapt") {
                        self.state.count_surprise(update);
                    }
                }
                self.state.observations = self.state.observations.saturating_sub(1);
                self.state.voided = true;
            }
        }
        match self.remote {
            Some(remote) if cfg!(feature = "alloc") => self.state.know(remote),
            _ => self.state.count(),
        }
    }

    /// Ends the wait of the decision that a reward belongs to, and hands the reward to its probes.
    fn end_wait(&mut self) {
        match self.kind {
            Kind::Feedback { round, action, reward, .. } => {
                let Some(pending) = slot_mut(self.pending, round) else { return };
                pending.wait = Wait::Rewarded;
                if cfg!(feature = "probes") {
                    let values = self.catalog.values(action).unwrap_or_default();
                    pending.probed.iter().for_each(|contrast| {
                        settle_probe(self.catalog, self.trials, contrast, &values, None, reward);
                    });
                }
            }
            Kind::Remote { probes, action, reward, .. } if cfg!(feature = "alloc") => {
                let values = self.catalog.values(action).unwrap_or_default();
                for probe in probes {
                    let expected = Some(probe.expected);
                    settle_probe(self.catalog, self.trials, probe.contrast.into(), &values, expected, reward);
                }
            }
            Kind::Imputed { expired: Some(round) } => {
                if let Some(pending) = slot_mut(self.pending, round) {
                    pending.wait = Wait::Expired;
                }
            }
            _ => {}
        }
    }
}

/// Hands a reward to a probe of a contrast.
///
/// m of a probe at another site is `expected`. Without `expected` the probe is the contrast's last one here.
fn settle_probe<T: Scalar>(
    catalog: &Catalog<'_>,
    trials: &mut [T],
    contrast: usize,
    values: &Values,
    expected: Option<f32>,
    reward: f64,
) {
    if let (Some(preferred), Some(numbers)) =
        (is_preferred(catalog, contrast, values), trial::numbers(trials, contrast))
    {
        let mut account = Account::read(numbers);
        let expected = expected.map_or(account.expected, f64::from);
        account.settle(expected, preferred, reward);
        account.write(numbers);
    }
}

/// Adds `step` to the evidence of each value of an action; the result is the number of rewards before.
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

impl State {
    /// Counts a reward, of a user or imputed. `voids`: the guarantee of promotions ends.
    fn count_observation(&mut self, voids: bool) {
        self.observations = self.observations.saturating_add(1);
        self.since_fading = self.since_fading.saturating_add(1);
        self.voided |= voids;
    }
}

impl<T: Scalar> User<'_, T> {
    /// Learned rewards of actions that use a value of a component. Statements and imputed rewards do not
    /// count.
    ///
    /// Counts are kept in the learner's scalar. They stop at the largest number that it counts to exactly,
    /// 2^24 in `f32`.
    #[must_use]
    pub fn evidence(&self, component: usize, value: u8) -> u32 {
        whole(self.evidence_left(component, value))
    }

    /// Evidence of a value, with the fractions that fading leaves.
    pub(super) fn evidence_left(&self, component: usize, value: u8) -> f64 {
        let counts = self.memory.storage.get(self.memory.state.layout.packed_len()..);
        let place = self.policy.catalog().value_place(component, value);
        counts.zip(place).and_then(|(counts, place)| counts.get(place)).map_or(0.0, |count| count.to_f64())
    }
}

/// The whole part of a count.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "clamped by the cast; fractions are left of faded counts"
)]
fn whole(count: f64) -> u32 {
    count as u32
}
