//! Probes: now and then a fair coin decides between two values of a component, so that a preference can
//! become certain.
//!
//! A rule that chooses well hardly ever plays actions that it takes for worse. Without such actions no
//! difference becomes certain. So each component of the chosen action may be probed. A fair coin compares the
//! two values of a declared contrast, with all other values the same. [`trial`](super::trial) is the analysis
//! of the rewards.
//!
//! **Which contrast.** Candidates [apply](crate::catalog::Contrast::applies) in the context, and no probe of
//! them waits. Both actions are feasible, with every outcome of the other components' probes. A probe waits
//! until its round has a reward, expires or leaves the ring.
//!
//! Of the candidates, mean scores of both actions have to differ by at least [`MIN_DIFFERENCE`]. The one with
//! the wealth closest to a certificate is taken, of equals the one with the largest difference, then the
//! earliest. So probes go where a preference is large and soon certain. A certified contrast is probed in
//! every 16th round instead, or at a 16th of the rate if there is no other candidate. This choice is not
//! random.
//!
//! **When.** A candidate is probed with probability rho, [`Settings::probe`](crate::Settings::probe). The
//! coin is fair. A stream of its own has two words per component. A candidate is probed if the first word is
//! below 2^32 rho. The lowest bit of the second word is the coin.
//!
//! So each component that could be probed keeps its value with probability 1 - rho / 2, and the action that
//! is played has an [exact probability](super::User::propensities). Probes change no draw and no score.

use super::assess::Verdict;
use super::late::{Pending, Wait};
use super::trial::{Account, MAX_TRIALS, numbers};
use super::{DecisionId, Memory, Request, State, User, UserError, supported};
use crate::catalog::score::Scalar;
use crate::catalog::{Action, ActionSet, Catalog, Contrast, ContrastSet, MAX_COMPONENTS, TRIAL_LEN, Values};
use crate::numbers::{Key, Purpose};
use crate::posterior::{PosteriorError, Scoring};

/// Least difference of the mean scores of two actions. Smaller differences are not probed.
const MIN_DIFFERENCE: f64 = 0.15;

/// A probe of a decision. The action tells its outcome.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Probe {
    /// Position of the contrast in the catalog.
    pub contrast: u8,
    /// m, the average of the mean scores of the two actions, from -1 to 1. The reward is compared with it.
    pub expected: f32,
}

/// The probes of a decision: at most one per component, in the order of components.
pub type Probes = heapless::Vec<Probe, MAX_COMPONENTS>;

/// A probe with its outcome.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ProbeOutcome {
    /// Position of the contrast in the catalog.
    pub contrast: u8,
    /// The value that the contrast prefers was played.
    pub preferred: bool,
    /// m, see [`Probe`].
    pub expected: f32,
}

/// The probes of a decision with their outcomes.
pub type ProbeOutcomes = heapless::Vec<ProbeOutcome, MAX_COMPONENTS>;

/// A component that can be probed. Eight of them are on the stack, so the numbers are small.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    component: u8,
    contrast: u8,
    /// Distance from the chosen action to the action with the other value, in catalog order.
    step: i16,
    /// Only certified contrasts are left to probe.
    rare: bool,
}

impl Candidate {
    /// The probability of a probe.
    fn rate(self, rho: f64) -> f64 {
        if self.rare { rho / 16.0 } else { rho }
    }
}

type Candidates = heapless::Vec<Candidate, MAX_COMPONENTS>;

impl Action {
    /// The action `step` later in catalog order.
    fn after(self, step: i16) -> Self {
        Self(self.0.checked_add_signed(step).unwrap_or(u16::MAX))
    }
}

/// Visits the action of every combination of outcomes. Bit i of the second argument: the step of candidate i
/// is taken.
fn combinations(base: Action, candidates: &[Candidate], mut visit: impl FnMut(Action, u32)) {
    for taken in 0..1_u32 << candidates.len() {
        let steps = candidates
            .iter()
            .enumerate()
            .filter(|(index, _)| taken >> index & 1 == 1)
            .map(|(_, candidate)| candidate.step);
        visit(base.after(steps.sum()), taken);
    }
}

impl<T: Scalar> User<'_, T> {
    /// Rounds may have probes, which need the mean scores of all actions.
    pub(super) fn can_probe(&self) -> bool {
        cfg!(feature = "probes")
            && self.policy.settings().probe > 0.0
            && !self.policy.catalog().contrasts().is_empty()
    }

    /// Contrasts whose last probe was for the decision of a round that is in the ring.
    pub(super) fn probed(&self, round: u32) -> ContrastSet {
        self.memory.view().settled_or_waiting(round).map_or(ContrastSet::EMPTY, |pending| pending.probed)
    }

    /// Contrasts with a probe that waits for its reward, of earlier rounds. Due decisions have expired by
    /// now.
    fn waiting_probes(&self, round: u32) -> ContrastSet {
        let mut waiting = ContrastSet::EMPTY;
        let waits = |pending: &&Pending<T>| pending.round < round && pending.wait == Wait::Waiting;
        for pending in self.memory.pending.iter().filter(waits) {
            pending.probed.iter().for_each(|contrast| waiting.insert(contrast));
        }
        waiting
    }

    /// The components that can be probed, given the chosen action. The workspace has the mean score of every
    /// action.
    #[inline(never)]
    fn candidates(
        &mut self,
        request: &Request<'_>,
        base: Action,
        round: u32,
    ) -> Result<Candidates, UserError> {
        let catalog = self.policy.catalog();
        let waiting = self.waiting_probes(round);
        let Scoring { means, .. } =
            Scoring::of(self.workspace, catalog).ok_or(PosteriorError::WorkspaceLength)?;
        let mean = |action: Action| means.get(action.index()).map_or(0.0, |mean| mean.to_f64());
        let trials = self.memory.storage.get(catalog.trials_start()..).unwrap_or_default();
        let mut candidates = Candidates::new();
        for (component, &value) in catalog.values(base).unwrap_or_default().iter().enumerate() {
            // The best contrast that is not certified, and the certified one with the fewest trials.
            let (mut best, mut certified) = (None, None);
            let contrasts = catalog.contrasts().iter().zip(trials.chunks_exact(TRIAL_LEN)).zip(0_u8..);
            for ((contrast, numbers), index) in contrasts {
                let Some(sides) = contrast.sides().filter(|sides| sides.component == component) else {
                    continue;
                };
                let Some(other) = sides.other(value) else { continue };
                if waiting.contains(usize::from(index)) || !contrast.applies(request.context) {
                    continue;
                }
                let step = step(catalog, component, value, other);
                let feasible = request.feasible.set();
                let mut possible = true;
                combinations(base, &candidates, |action, _| {
                    possible &= feasible.contains(action.after(step));
                });
                let account = Account::read(numbers);
                if !possible || account.trials == MAX_TRIALS {
                    continue;
                }
                let component = u8::try_from(component).unwrap_or(u8::MAX);
                let candidate = Candidate { component, contrast: index, step, rare: false };
                if account.certified != Verdict::Open {
                    if certified.is_none_or(|(trials, _)| account.trials < trials) {
                        certified = Some((account.trials, candidate));
                    }
                    continue;
                }
                let difference = (mean(base) - mean(base.after(step))).abs();
                let key = (account.closeness(), difference);
                if difference >= MIN_DIFFERENCE && best.is_none_or(|(most, _)| key > most) {
                    best = Some((key, candidate));
                }
            }
            let best = best.map(|(_, candidate)| candidate);
            let certified = certified.map(|(_, candidate)| candidate);
            let candidate = match (best, certified) {
                (Some(_), Some(certified)) if round.is_multiple_of(16) => Some(certified),
                (Some(best), _) => Some(best),
                (None, certified) => certified.map(|candidate| Candidate { rare: true, ..candidate }),
            };
            if let Some(candidate) = candidate {
                let _ = candidates.push(candidate); // at most one per component
            }
        }
        Ok(candidates)
    }

    /// Draws the probes of a round, and returns the action that is played.
    #[inline(never)]
    pub(super) fn probe(
        &mut self,
        request: &Request<'_>,
        base: Action,
        round: u32,
        probes: &mut Probes,
    ) -> Result<Action, UserError> {
        let candidates = self.candidates(request, base, round)?;
        let (catalog, settings) = (self.policy.catalog(), self.policy.settings());
        let State { user, incarnation, .. } = *self.memory.state;
        let site = self.site();
        let purpose = Purpose::ProbeOutcome;
        let mut stream = Key { seed: settings.seed, user, incarnation, site, round, purpose }.stream();
        let mut played = base;
        let mut taken = heapless::Vec::<(Candidate, bool), MAX_COMPONENTS>::new();
        let values = catalog.values(base).unwrap_or_default();
        for (component, value) in (0_u8..).zip(&values) {
            let word = stream.word();
            let coin = stream.word() & 1 == 1;
            let Some(candidate) = candidates.iter().find(|candidate| candidate.component == component) else {
                continue;
            };
            if f64::from(word) >= 4_294_967_296.0 * candidate.rate(settings.probe) {
                continue;
            }
            let prefer = catalog.contrasts().get(usize::from(candidate.contrast)).and_then(Contrast::sides);
            let moved = coin != prefer.is_some_and(|sides| sides.prefer == *value);
            if moved {
                played = played.after(candidate.step);
            }
            let _ = taken.push((*candidate, moved)); // at most one per component
        }
        let Scoring { means, .. } =
            Scoring::of(self.workspace, catalog).ok_or(PosteriorError::WorkspaceLength)?;
        let mean = |action: Action| means.get(action.index()).map_or(0.0, |mean| mean.to_f64());
        for (Candidate { contrast, step, .. }, moved) in &taken {
            let other = played.after(if *moved { -step } else { *step });
            let expected = middle(mean(played), mean(other));
            let _ = probes.push(Probe { contrast: *contrast, expected });
        }
        Ok(played)
    }

    /// Adds `weight` times the probability of every action that a round with this chosen action may play.
    pub(super) fn spread(
        &mut self,
        request: &Request<'_>,
        base: Action,
        round: u32,
        weight: f64,
        out: &mut [f64],
    ) -> Result<(), UserError> {
        let candidates =
            if self.can_probe() { self.candidates(request, base, round)? } else { Candidates::new() };
        let rho = self.policy.settings().probe;
        combinations(base, &candidates, |action, taken| {
            let factor = |(index, candidate): (usize, &Candidate)| {
                let other = candidate.rate(rho) / 2.0;
                if taken >> index & 1 == 1 { other } else { 1.0 - other }
            };
            if let Some(slot) = out.get_mut(action.index()) {
                *slot += weight * candidates.iter().enumerate().map(factor).product::<f64>();
            }
        });
        Ok(())
    }

    /// The probes of a decision in the ring with their outcomes, as long as their contrasts have no later
    /// probe.
    pub fn probe_outcomes(&self, id: DecisionId) -> impl Iterator<Item = ProbeOutcome> {
        let pending = self
            .state()
            .round_of(id)
            .ok()
            .and_then(|round| self.memory.view().settled_or_waiting(round).ok());
        let values =
            pending.and_then(|pending| self.policy.catalog().values(pending.action)).unwrap_or_default();
        let contrasts = pending.map_or(ContrastSet::EMPTY, |pending| pending.probed).iter();
        contrasts.filter_map(move |contrast| {
            let preferred = is_preferred(self.policy.catalog(), contrast, &values)?;
            #[expect(clippy::cast_possible_truncation, reason = "it was a single-precision number")]
            let expected = self.account(contrast)?.expected as f32;
            Some(ProbeOutcome { contrast: u8::try_from(contrast).ok()?, preferred, expected })
        })
    }

    /// Checks that an action in a context can have these probes, under some permissions.
    pub(super) fn admit_probes(
        &self,
        permissions: &ActionSet,
        context: &crate::Context,
        action: Action,
        probes: &[Probe],
    ) -> Result<(), UserError> {
        if probes.is_empty() {
            return Ok(()); // the caller has checked the action itself
        }
        supported(cfg!(feature = "probes"))?;
        let catalog = self.policy.catalog();
        let mut candidates = Candidates::new();
        for probe in probes {
            let sides = catalog
                .contrasts()
                .get(usize::from(probe.contrast))
                .filter(|contrast| contrast.applies(context));
            let sides = sides.and_then(Contrast::sides).ok_or(UserError::Probe)?;
            let value = catalog
                .values(action)
                .and_then(|values| values.get(sides.component).copied())
                .ok_or(UserError::Probe)?;
            let other = sides.other(value).ok_or(UserError::Probe)?;
            let step = step(catalog, sides.component, value, other);
            let component = u8::try_from(sides.component).unwrap_or(u8::MAX);
            let later = candidates.last().is_none_or(|last: &Candidate| last.component < component);
            if !later || !(-1.0..=1.0).contains(&probe.expected) {
                return Err(UserError::Probe);
            }
            let candidate = Candidate { component, contrast: probe.contrast, step, rare: false };
            candidates.push(candidate).map_err(|_| UserError::Probe)?;
        }
        if all_feasible(permissions, action, &candidates) { Ok(()) } else { Err(UserError::Forbidden) }
    }
}

/// The distance from an action to the action with another value in a component, in catalog order: less than
/// 1,024.
fn step(catalog: &Catalog<'_>, component: usize, value: u8, other: u8) -> i16 {
    let stride = i16::try_from(catalog.stride(component)).unwrap_or(0);
    stride.saturating_mul(i16::from(other) - i16::from(value))
}

/// Every combination of outcomes is permitted.
fn all_feasible(permissions: &ActionSet, action: Action, candidates: &[Candidate]) -> bool {
    let mut feasible = true;
    combinations(action, candidates, |action, _| feasible &= permissions.contains(action));
    feasible
}

/// m in [-1, 1].
#[expect(
    clippy::cast_possible_truncation,
    reason = "m is rounded before the outcome is known, and used as rounded"
)]
fn middle(one: f64, other: f64) -> f32 {
    f64::midpoint(one, other).clamp(-1.0, 1.0) as f32
}

/// True if the values have the side that a contrast prefers, false if they have the other side, `None` if
/// neither.
pub(super) fn is_preferred(catalog: &Catalog<'_>, contrast: usize, values: &Values) -> Option<bool> {
    let sides = catalog.contrasts().get(contrast)?.sides()?;
    let value = *values.get(sides.component)?;
    sides.other(value).map(|_| value == sides.prefer)
}

impl<T: Scalar> Memory<'_, T> {
    /// Records m of each probe. From now on a contrast has no other probe.
    pub(super) fn enter_probes(&mut self, catalog: &Catalog<'_>, probes: &[Probe]) -> ContrastSet {
        let mut entered = ContrastSet::EMPTY;
        let trials = self.storage.get_mut(catalog.trials_start()..).unwrap_or_default();
        for probe in probes {
            let contrast = usize::from(probe.contrast);
            if let Some(numbers) = numbers(trials, contrast) {
                let mut account = Account::read(numbers);
                account.expected = f64::from(probe.expected);
                account.write(numbers);
            }
            self.pending.iter_mut().for_each(|pending| pending.probed.remove(contrast));
            entered.insert(contrast);
        }
        entered
    }
}
