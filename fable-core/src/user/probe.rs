//! Probes: now and then a fair coin decides between two values of a component, so that a preference can become certain.
//!
//! A rule that chooses well hardly ever tries what it takes for worse, and one cannot be sure of a difference to something that
//! is not tried. So, after the rule has chosen an action, each component may be probed: one declared contrast that holds the chosen
//! value, compared by a fair coin with everything else the same. [`trial`](super::trial) says what is made of the reward.
//!
//! **Which contrast.** One that [applies](crate::catalog::Contrast::applies) in the context, whose two actions are feasible together
//! with whatever the coins of the other components play, and that has no coin open: a contrast waits until the round of its last
//! coin has its reward, expires or leaves the ring. Of those, one whose two actions differ in what they are expected to
//! earn by at least [`MIN_DIFFERENCE`], and whose wealth is closest to what it takes; of equals the one that differs most, then the earliest.
//! So coins go where a preference is large and soon certain, and not to what makes no difference. What was certified is
//! looked at in every 16th round instead, or where nothing else is open at a 16th of the rate. There is no chance in this choice.
//!
//! **Whether** a coin is tossed is chance, with the rate rho of [`Settings::probe`](crate::Settings::probe), and so is the coin. Both
//! come from a stream of their own, two words for each component: the first is below 2^32 rho, the lowest bit of the second is the coin.
//!
//! So the action that the rule chose is kept with probability 1 - rho / 2 for each component that could be probed, and what is
//! played has an [exact probability](super::User::propensities). ProbeOutcomes change no draw and no score.

use super::assess::Verdict;
use super::late::{Pending, Wait};
use super::trial::{Account, MAX_TRIALS, numbers};
use super::{DecisionId, Memory, Request, User, UserError, supported};
use crate::catalog::score::Scalar;
use crate::catalog::{Action, ActionSet, Catalog, Contrast, ContrastSet, MAX_COMPONENTS, TRIAL_LEN, Values};
use crate::numbers::{Key, Purpose};
use crate::posterior::{PosteriorError, with_variances};

/// A contrast is probed when the rewards of its two actions are expected to differ by so much: less is not worth a sentence.
const MIN_DIFFERENCE: f64 = 0.15;

/// A coin that was tossed for a decision: the action tells how it fell.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Probe {
    /// Position of the contrast in the catalog.
    pub contrast: u8,
    /// m, the mean of what the two actions are expected to earn, from -1 to 1: what the reward is compared with.
    pub expected: f32,
}

/// The coins of a decision, at most one for each component, in their order.
pub type Probes = heapless::Vec<Probe, MAX_COMPONENTS>;

/// A coin, and how it fell.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ProbeOutcome {
    /// Position of the contrast in the catalog.
    pub contrast: u8,
    /// Whether the value that the contrast prefers was played.
    pub preferred: bool,
    /// m, see [`Probe`].
    pub expected: f32,
}

/// The coins of a decision and how they fell.
pub type ProbeOutcomes = heapless::Vec<ProbeOutcome, MAX_COMPONENTS>;

/// A component that can be probed. Small: there are eight of them on the stack.
#[derive(Clone, Copy, Debug)]
struct Chance {
    component: u8,
    contrast: u8,
    /// From the action that the rule chose to the one with the other value, in catalog order.
    step: i16,
    /// Whether all that is left to look at is certified.
    rare: bool,
}

impl Chance {
    /// How often it is taken.
    fn rate(self, rho: f64) -> f64 {
        if self.rare { rho / 16.0 } else { rho }
    }
}

type Chances = heapless::Vec<Chance, MAX_COMPONENTS>;

impl Action {
    /// The action so many places later.
    fn after(self, step: i16) -> Self {
        Self(self.0.checked_add_signed(step).unwrap_or(u16::MAX))
    }
}

/// The actions that some of the steps lead to, with what `weigh` says of the steps taken and left out.
fn combinations(base: Action, chances: &[Chance], mut visit: impl FnMut(Action, u32)) {
    for taken in 0..1_u32 << chances.len() {
        let steps = chances
            .iter()
            .enumerate()
            .filter(|(place, _)| taken >> place & 1 == 1)
            .map(|(_, chance)| chance.step);
        visit(base.after(steps.sum()), taken);
    }
}

impl<T: Scalar> User<'_, T> {
    /// Whether coins may be tossed, so that the means of all actions are wanted.
    pub(super) fn probes(&self) -> bool {
        cfg!(feature = "probes")
            && self.policy.settings().probe > 0.0
            && !self.policy.catalog().contrasts().is_empty()
    }

    /// Contrasts whose last coin was tossed for the decision of a round that is in the ring.
    pub(super) fn probed(&self, round: u32) -> ContrastSet {
        self.memory.view().settled_or_waiting(round).map_or(ContrastSet::EMPTY, |pending| pending.coins)
    }

    /// Contrasts with a coin that still waits, of rounds before this one. A deadline that has passed is in the state by now.
    fn open_coins(&self, round: u32) -> ContrastSet {
        let mut open = ContrastSet::EMPTY;
        let waits = |pending: &&Pending<T>| pending.round < round && pending.wait == Wait::Waiting;
        for pending in self.memory.pending.iter().filter(waits) {
            pending.coins.iter().for_each(|contrast| open.insert(contrast));
        }
        open
    }

    /// What can be probed, given what the rule chose. The means of all actions are in the workspace.
    #[inline(never)]
    fn chances(&mut self, request: &Request<'_>, base: Action, round: u32) -> Result<Chances, UserError> {
        let catalog = self.policy.catalog();
        let open = self.open_coins(round);
        let (_, means) = with_variances(self.workspace, catalog).ok_or(PosteriorError::WorkspaceLength)?;
        let mean = |action: Action| means.get(action.index()).map_or(0.0, |mean| mean.to_f64());
        let trials = self.memory.storage.get(catalog.trials_start()..).unwrap_or_default();
        let mut chances = Chances::new();
        for (component, &value) in catalog.values(base).unwrap_or_default().iter().enumerate() {
            // The open one that differs most, and the certified one with the fewest coins.
            let (mut best, mut certified) = (None, None);
            let contrasts = catalog.contrasts().iter().zip(trials.chunks_exact(TRIAL_LEN)).zip(0_u8..);
            for ((contrast, numbers), index) in contrasts {
                let Some(sides) = contrast.sides().filter(|sides| sides.component == component) else {
                    continue;
                };
                let Some(other) = sides.other(value) else { continue };
                if open.contains(usize::from(index)) || !contrast.applies(request.context) {
                    continue;
                }
                let step = step(catalog, component, value, other);
                let feasible = request.feasible.set();
                let mut possible = true;
                combinations(base, &chances, |action, _| possible &= feasible.contains(action.after(step)));
                let account = Account::read(numbers);
                if !possible || account.trials == MAX_TRIALS {
                    continue;
                }
                let component = u8::try_from(component).unwrap_or(u8::MAX);
                let chance = Chance { component, contrast: index, step, rare: false };
                if account.certified != Verdict::Open {
                    if certified.is_none_or(|(trials, _)| account.trials < trials) {
                        certified = Some((account.trials, chance));
                    }
                    continue;
                }
                let difference = (mean(base) - mean(base.after(step))).abs();
                let key = (account.closeness(), difference);
                if difference >= MIN_DIFFERENCE && best.is_none_or(|(most, _)| key > most) {
                    best = Some((key, chance));
                }
            }
            let (best, certified) = (best.map(|(_, chance)| chance), certified.map(|(_, chance)| chance));
            let chance = match (best, certified) {
                (Some(_), Some(certified)) if round.is_multiple_of(16) => Some(certified),
                (Some(best), _) => Some(best),
                (None, certified) => certified.map(|chance| Chance { rare: true, ..chance }),
            };
            if let Some(chance) = chance {
                let _ = chances.push(chance); // one for each component at most
            }
        }
        Ok(chances)
    }

    /// Tosses the coins of a round, and says what is played.
    #[inline(never)]
    pub(super) fn toss(
        &mut self,
        request: &Request<'_>,
        base: Action,
        round: u32,
        coins: &mut Probes,
    ) -> Result<Action, UserError> {
        let chances = self.chances(request, base, round)?;
        let (catalog, state) = (self.policy.catalog(), &self.memory.state);
        let (seed, rho) = (self.policy.settings().seed, self.policy.settings().probe);
        let (user, incarnation, site) = (state.user, state.incarnation, self.place());
        let mut stream =
            Key { seed, user, incarnation, site, round, purpose: Purpose::ProbeOutcome }.stream();
        let (mut played, mut tossed) = (base, heapless::Vec::<(Chance, bool), MAX_COMPONENTS>::new());
        let values = catalog.values(base).unwrap_or_default();
        for (component, value) in (0_u8..).zip(&values) {
            let (rate, coin) = (stream.word(), stream.word() & 1 == 1);
            let Some(chance) = chances.iter().find(|chance| chance.component == component) else { continue };
            if f64::from(rate) >= 4_294_967_296.0 * chance.rate(rho) {
                continue;
            }
            let prefer = catalog.contrasts().get(usize::from(chance.contrast)).and_then(Contrast::sides);
            let moved = coin != prefer.is_some_and(|sides| sides.prefer == *value);
            if moved {
                played = played.after(chance.step);
            }
            let _ = tossed.push((*chance, moved)); // one for each component at most
        }
        let (_, means) = with_variances(self.workspace, catalog).ok_or(PosteriorError::WorkspaceLength)?;
        let mean = |action: Action| means.get(action.index()).map_or(0.0, |mean| mean.to_f64());
        for (chance, moved) in &tossed {
            let other = played.after(if *moved { -chance.step } else { chance.step });
            let _ =
                coins.push(Probe { contrast: chance.contrast, expected: middle(mean(played), mean(other)) });
        }
        Ok(played)
    }

    /// Adds `weight` times the probability of every action that a round with this choice of the rule may play.
    pub(super) fn spread(
        &mut self,
        request: &Request<'_>,
        base: Action,
        round: u32,
        weight: f64,
        out: &mut [f64],
    ) -> Result<(), UserError> {
        let chances = if self.probes() { self.chances(request, base, round)? } else { Chances::new() };
        let rho = self.policy.settings().probe;
        combinations(base, &chances, |action, taken| {
            let factor = |(place, chance): (usize, &Chance)| {
                let other = chance.rate(rho) / 2.0;
                if taken >> place & 1 == 1 { other } else { 1.0 - other }
            };
            if let Some(slot) = out.get_mut(action.index()) {
                *slot += weight * chances.iter().enumerate().map(factor).product::<f64>();
            }
        });
        Ok(())
    }

    /// The coins of a decision that is still in the ring, as long as no later coin was tossed for their contrasts.
    pub fn coins(&self, id: DecisionId) -> impl Iterator<Item = ProbeOutcome> {
        let pending = self
            .state()
            .round_of(id)
            .ok()
            .and_then(|round| self.memory.view().settled_or_waiting(round).ok());
        let values =
            pending.and_then(|pending| self.policy.catalog().values(pending.action)).unwrap_or_default();
        let contrasts = pending.map_or(ContrastSet::EMPTY, |pending| pending.coins).iter();
        contrasts.filter_map(move |contrast| {
            let preferred = preferred(self.policy.catalog(), contrast, &values)?;
            #[expect(clippy::cast_possible_truncation, reason = "it was a single-precision number")]
            let expected = self.account(contrast)?.expected as f32;
            Some(ProbeOutcome { contrast: u8::try_from(contrast).ok()?, preferred, expected })
        })
    }

    /// Whether coins can have been tossed for this action in this context under some permissions.
    pub(super) fn admit_coins(
        &self,
        permissions: &ActionSet,
        context: &crate::Context,
        action: Action,
        coins: &[Probe],
    ) -> Result<(), UserError> {
        if coins.is_empty() {
            return Ok(()); // the action itself was looked at
        }
        supported(cfg!(feature = "probes"))?;
        let catalog = self.policy.catalog();
        let mut chances = Chances::new();
        for coin in coins {
            let sides = catalog
                .contrasts()
                .get(usize::from(coin.contrast))
                .filter(|contrast| contrast.applies(context));
            let sides = sides.and_then(Contrast::sides).ok_or(UserError::Probe)?;
            let value = catalog
                .values(action)
                .and_then(|values| values.get(sides.component).copied())
                .ok_or(UserError::Probe)?;
            let other = sides.other(value).ok_or(UserError::Probe)?;
            let (step, component) = (
                step(catalog, sides.component, value, other),
                u8::try_from(sides.component).unwrap_or(u8::MAX),
            );
            let later = chances.last().is_none_or(|last: &Chance| last.component < component);
            if !later || !(-1.0..=1.0).contains(&coin.expected) {
                return Err(UserError::Probe);
            }
            let chance = Chance { component, contrast: coin.contrast, step, rare: false };
            chances.push(chance).map_err(|_| UserError::Probe)?;
        }
        if all_feasible(permissions, action, &chances) { Ok(()) } else { Err(UserError::Forbidden) }
    }
}

/// From an action to the one with another value in a component, in catalog order. There are at most 1,024 actions.
fn step(catalog: &Catalog<'_>, component: usize, value: u8, other: u8) -> i16 {
    let stride = i16::try_from(catalog.stride(component)).unwrap_or(0);
    stride.saturating_mul(i16::from(other) - i16::from(value))
}

fn all_feasible(permissions: &ActionSet, action: Action, chances: &[Chance]) -> bool {
    let mut feasible = true;
    combinations(action, chances, |action, _| feasible &= permissions.contains(action));
    feasible
}

/// m in [-1, 1].
#[expect(
    clippy::cast_possible_truncation,
    reason = "it is rounded before the coin falls, and used as it is then"
)]
fn middle(one: f64, other: f64) -> f32 {
    f64::midpoint(one, other).clamp(-1.0, 1.0) as f32
}

/// Whether these values are those that a contrast prefers; `None` when they are neither side.
pub(super) fn preferred(catalog: &Catalog<'_>, contrast: usize, values: &Values) -> Option<bool> {
    let sides = catalog.contrasts().get(contrast)?.sides()?;
    let value = *values.get(sides.component)?;
    sides.other(value).map(|_| value == sides.prefer)
}

impl<T: Scalar> Memory<'_, T> {
    /// Puts coins into their place: each is its contrast's only one from now on.
    pub(super) fn enter_coins(&mut self, catalog: &Catalog<'_>, coins: &[Probe]) -> ContrastSet {
        let mut entered = ContrastSet::EMPTY;
        let trials = self.storage.get_mut(catalog.trials_start()..).unwrap_or_default();
        for coin in coins {
            let contrast = usize::from(coin.contrast);
            if let Some(numbers) = numbers(trials, contrast) {
                let mut account = Account::read(numbers);
                account.expected = f64::from(coin.expected);
                account.write(numbers);
            }
            self.pending.iter_mut().for_each(|pending| pending.coins.remove(contrast));
            entered.insert(contrast);
        }
        entered
    }
}
