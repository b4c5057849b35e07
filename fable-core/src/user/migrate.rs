//! Migration of a user to another catalog: the rules of what is kept. `catalog::matching` finds the parts
//! that both catalogs have, and `posterior::migrate` carries the posterior.

mod error;

use crate::catalog::score::Scalar;
use crate::catalog::{Action, Context, ContrastSet, LonePart, Matching, Rename, TRIAL_LEN, When};
use crate::numbers::Storage;
use crate::policy::Policy;
use crate::posterior::{Carried, Carry, Places, Prior};
use crate::user::late::{Pending, Wait, slot_mut};
use crate::user::user_rule::{MAX_USER_RULES, code_of};
use crate::user::{Learner, Memory, Promotion, State, UserRule};
pub use error::MigrateError;

/// The way from one policy to another, for any number of users.
///
/// The new catalog adds, removes, renames or reorders values, tasks, signals, blocks or contrasts, or has
/// other rules. Costs, default scores and instructions change without a migration.
///
/// Parts are the same by name, or by a [`Rename`]. Knowledge about parts of both catalogs is kept:
///
/// - Mean and variances: bit for bit if parts were only added. Removed parts are marginalised out, and every
///   mean and variance of the others stays, to rounding. Added parts begin at the new policy's prior,
///   uncorrelated with the others.
/// - The evidence of values, the trials of contrasts, and promotions. A contrast is the same if it has the
///   same name, the same two actions in the components of both catalogs, and the same context. Otherwise it
///   begins anew, and its promotion is dropped.
/// - Decisions that wait, with their scores, if the new catalog has their action and context. A new signal is
///   0 in them, and a new component has its null value. The other decisions expire.
/// - Switches, and the user's own rules if the new catalog has their parts.
/// - The feasible set of the last decision, for a host that does not send its set again. An action is in it
///   if all actions with the same values, as far as both catalogs have them, were in it. So a full set stays
///   full, and forbidden values stay forbidden. A new component is free. A new value is feasible if all
///   values of its component were. Of a removed component only the values count that were feasible with any
///   action. If the set gets empty, a decision needs a set of its own.
/// - Rounds, observations, incarnation, site, surprise and fading. Decision ids stay valid.
///
/// With more coordinates a draw takes more numbers of its stream, so drawn decisions differ from those
/// without the migration. With [`Optimistic`](crate::Exploration::Optimistic) exploration nothing is drawn.
///
/// **The guarantee of promotions** survives added and removed values, tasks and contrasts. The ellipsoid of
/// the kept coordinates is the projection of the whole one, with the same beta. The log-determinant ratio
/// stays, and grows as that of all coordinates would, since removed coordinates are not observed again. A
/// coordinate of a new value or task was zero in all observations.
///
/// Where rewards were learned, the guarantee ends, see [`is_voided`](crate::journal::State::is_voided), if
///
/// - a coordinate was added or removed although both catalogs have its values and its task, as with a new
///   block or signal: rewards depended on it without the model's knowledge; this includes a removed
///   component;
/// - a removed coordinate tied tasks to each other: this dependence is lost;
/// - noise variance or retained blocks differ, or the prior's radius was not known.
///
/// The [guarantee fingerprint](crate::Policy::guarantee_fingerprint) becomes that of the new policy if alpha,
/// proxy and minimum are the same and the radius is not smaller. Certificates of probes were held to the
/// number of contrasts at their time. Old and new ones together are wrong with less than twice their alpha.
///
/// ```
/// use fable_core::catalog::{Block, Component, Definition, Rename, Value};
/// use fable_core::host::HostLearner;
/// use fable_core::migrate::Migration;
/// use fable_core::{Action, HostUser, Policy, Settings};
///
/// let before = [Value::new("warm", "", 0.0), Value::new("cold", "", 0.0)];
/// let after = [Value::new("warm", "", 0.0), Value::new("neutral", "", 0.0), Value::new("cool", "", 0.0)];
/// let [before, after] = [&before[..], &after[..]].map(|values| [Component::new("light", values)]);
/// let lamp = Definition { name: "lamp", blocks: &[Block::main(0)], ..Definition::EMPTY };
/// let v1 = fable_core::Catalog::try_new(Definition { components: &before, ..lamp })?;
/// let v2 = fable_core::Catalog::try_new(Definition { components: &after, ..lamp })?;
/// let old = Policy::<f32>::new(&v1, Settings::default())?;
/// let new = Policy::<f32>::new(&v2, Settings::default())?;
///
/// let mut ana = HostUser::<f32>::new(&old, "ana")?;
/// ana.user().observe(&v1.context(None, [])?, Action(1), 0.5)?; // cold
/// let mean = ana.learner().posterior().contrast(&mut [0.0; 9], [(1, 1.0)])?.mean;
///
/// let renames = [Rename::value("light=cold", "light=cool")];
/// let migration = Migration::new(&old, &new, &renames)?;
/// let (mut learner, mut next) = (ana.into_learner(), HostLearner::<f32>::for_policy(&new));
/// let migrated = migration.carry(&mut learner, &mut next, &mut [0.0; 9])?;
/// assert_eq!((migrated.kept, migrated.added, migrated.removed), (2, 1, 0));
/// assert_eq!(next.posterior().contrast(&mut [0.0; 9], [(2, 1.0)])?.mean, mean); // cool
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Migration<'m, T> {
    old: &'m Policy<'m, T>,
    new: &'m Policy<'m, T>,
    forward: Matching<'m>,
    back: Matching<'m>,
}

/// The result of a migration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Migrated {
    /// Coordinates of both catalogs.
    pub kept: u16,
    /// Coordinates of the new catalog alone.
    pub added: u16,
    /// Coordinates that were marginalised out.
    pub removed: u16,
    /// Declared contrasts that the new catalog does not have, or has with other actions or another context.
    pub contrasts: u16,
    /// Dropped promotions: of such contrasts, or beyond the capacity.
    pub promotions: u16,
    /// Dropped rules of the user: the new catalog does not have their parts.
    pub rules: u16,
    /// Decisions that stopped waiting for their reward.
    pub waiting: u16,
    /// The guarantee of promotions ended with this migration.
    pub voided: bool,
}

impl<T> Places for Migration<'_, T> {
    fn new_place(&self, per_task: bool, old: usize) -> Option<usize> {
        self.forward.place(per_task, old)
    }

    fn old_place(&self, per_task: bool, new: usize) -> Option<usize> {
        self.back.place(per_task, new)
    }

    fn old_leaf(&self, new: usize) -> Option<usize> {
        self.back.task(new)
    }
}

impl<'m, T: Scalar> Migration<'m, T> {
    /// A migration from an old policy to a new one. Parts are the same by name, or by `renames`.
    ///
    /// # Errors
    /// A rename that cannot be meant.
    pub fn new(
        old: &'m Policy<'m, T>,
        new: &'m Policy<'m, T>,
        renames: &'m [Rename<'m>],
    ) -> Result<Self, MigrateError> {
        let matchings = Matching::both(old.catalog(), new.catalog(), renames);
        let [forward, back] = matchings.map_err(|index| MigrateError::Rename { index })?;
        Ok(Self { old, new, forward, back })
    }

    /// The policy of the users before.
    #[must_use]
    pub const fn old_policy(&self) -> &'m Policy<'m, T> {
        self.old
    }

    /// The policy of the users after.
    #[must_use]
    pub const fn new_policy(&self) -> &'m Policy<'m, T> {
        self.new
    }

    /// The parts of the old catalog alone, by name. A renamed part that is not in `renames` is here and in
    /// [`added`](Self::added).
    pub fn removed(&self) -> impl Iterator<Item = LonePart<'m>> + use<'m, T> {
        self.forward.lone()
    }

    /// The parts of the new catalog alone, by name.
    pub fn added(&self) -> impl Iterator<Item = LonePart<'m>> + use<'m, T> {
        self.back.lone()
    }

    /// Numbers of workspace that [`carry`](Self::carry) needs.
    #[must_use]
    pub const fn workspace_len(&self) -> usize {
        let (old, new) = (self.old.catalog().layout().active_len(), self.new.catalog().layout().active_len());
        if old > new { old } else { new }
    }

    /// Moves a user from the old learner to an empty learner under the new policy. The old learner is empty
    /// afterwards.
    ///
    /// On a device both learners are in memory for a moment. The stack takes a few hundred bytes.
    ///
    /// # Errors
    /// Learners of other policies, a new one that is in use, a workspace that is too small; nothing has
    /// changed then.
    pub fn carry<S: Storage<T>, Z: Storage<T>, const R: usize, const Q: usize>(
        &self,
        old: &mut Learner<T, S, R>,
        new: &mut Learner<T, Z, Q>,
        workspace: &mut (impl AsMut<[T]> + ?Sized),
    ) -> Result<Migrated, MigrateError> {
        self.carry_memory(old.memory(), new.memory(), workspace.as_mut())
    }

    #[inline(never)]
    fn carry_memory(
        &self,
        mut old: Memory<'_, T>,
        mut new: Memory<'_, T>,
        scratch: &mut [T],
    ) -> Result<Migrated, MigrateError> {
        let (from, to) = (self.old.catalog(), self.new.catalog());
        let started = !old.state.is_empty() && old.state.fingerprint == self.old.fingerprint();
        if !started || old.storage.len() != from.state_len() {
            return Err(MigrateError::Old);
        }
        let expected = to.state_len();
        if !new.state.is_empty() || new.storage.len() != expected {
            return Err(MigrateError::New { expected });
        }
        if scratch.len() < self.workspace_len() {
            return Err(MigrateError::Workspace);
        }
        new.clear();
        let mut migrated = Migrated::default();
        self.carry_lists(&old, &mut new, &mut migrated);
        self.carry_numbers(&old, &mut new, &mut migrated);
        // The lengths were checked.
        let carried = self.carry_posterior(&mut old, &mut new, scratch).unwrap_or_default();
        let count = |count: usize| u16::try_from(count).unwrap_or(u16::MAX);
        migrated.kept = count(carried.kept);
        migrated.added = count(to.dimension().saturating_sub(carried.kept));
        migrated.removed = count(from.dimension().saturating_sub(carried.kept));
        migrated.voided = !old.state.voided && self.ends_guarantee(old.state, carried.tied);
        self.carry_state(old.state, new.state, migrated.voided);
        old.clear();
        Ok(migrated)
    }

    /// Carries counters, guarantee fingerprint and feasible set.
    #[inline(never)]
    fn carry_state(&self, old: &State, new: &mut State, ends: bool) {
        *new = *old;
        new.fingerprint = self.new.fingerprint();
        new.guarantee_fingerprint = self.guarantee_fingerprint(old.guarantee_fingerprint);
        new.voided |= ends;
        new.layout = self.new.catalog().layout();
        new.permissions = self.back.allowed(&old.permissions);
    }

    /// Carries mean and variances.
    #[inline(never)]
    fn carry_posterior(
        &self,
        old: &mut Memory<'_, T>,
        new: &mut Memory<'_, T>,
        scratch: &mut [T],
    ) -> Option<Carried> {
        let (from, to) = (self.old.catalog().layout(), self.new.catalog().layout());
        let packed = old.storage.get_mut(..from.packed_len())?;
        let carry = Carry { old: from, new: to, places: self, packed, scratch };
        carry.carry(new.storage.get_mut(..to.packed_len())?, |coordinate, scratch| {
            self.fresh(coordinate, scratch)
        })
    }

    /// E and mean of one coordinate under the new prior.
    #[inline(never)]
    fn fresh(&self, coordinate: usize, scratch: &mut [T]) -> (T, T) {
        let isotropic = || T::from_f64(1.0 / self.new.base_precision());
        match *self.new.prior() {
            Prior::Diagonal { mean, precision } => (
                precision.get(coordinate).map_or_else(isotropic, |precision| T::from_f64(1.0 / precision)),
                mean.get(coordinate).map_or(T::ZERO, |mean| T::from_f64(*mean)),
            ),
            Prior::Factor(factor) => match factor.posterior().contrast(scratch, [(coordinate, T::ONE)]) {
                Ok(own) => (own.variance, own.mean),
                Err(_) => (isotropic(), T::ZERO), // a checked factor of this shape
            },
            Prior::Isotropic => (isotropic(), T::ZERO),
        }
    }

    /// Carries evidence of values, trials, and the user's rules.
    #[inline(never)]
    fn carry_numbers(&self, old: &Memory<'_, T>, new: &mut Memory<'_, T>, migrated: &mut Migrated) {
        let (from, to) = (self.old.catalog(), self.new.catalog());
        for (component, own) in to.definition().components.iter().enumerate() {
            for value in (0..=u8::MAX).take(own.values.len()) {
                let count = || {
                    let place = from
                        .value_place(self.back.component(component)?, self.back.value(component, value)?)?;
                    old.storage.get(from.layout().packed_len() + place)
                };
                let place = to
                    .value_place(component, value)
                    .map_or(usize::MAX, |place| to.layout().packed_len() + place);
                if let (Some(count), Some(slot)) = (count(), new.storage.get_mut(place)) {
                    *slot = *count;
                }
            }
        }
        for contrast in 0..from.contrasts().len() {
            let Some(other) = self.forward.contrast(contrast) else {
                migrated.contrasts += 1;
                continue;
            };
            let (start, place) =
                (from.trials_start() + TRIAL_LEN * contrast, to.trials_start() + TRIAL_LEN * other);
            let slots = new.storage.get_mut(place..place + TRIAL_LEN).unwrap_or_default();
            for (slot, number) in slots.iter_mut().zip(old.storage.iter().skip(start)) {
                *slot = *number;
            }
        }
        let (first, place) = (
            old.storage.len().saturating_sub(MAX_USER_RULES),
            new.storage.len().saturating_sub(MAX_USER_RULES),
        );
        let mut slots = new.storage.iter_mut().skip(place);
        for code in old.storage.iter().skip(first).map(|number| code_of(*number)).filter(|code| *code != 0) {
            match UserRule::from_code(code).and_then(|rule| self.rule(rule)) {
                Some(rule) => {
                    if let Some(slot) = slots.next() {
                        *slot = T::from_bits(u64::from(rule.code()));
                    }
                }
                None => migrated.rules += 1,
            }
        }
    }

    /// The rule in the new catalog; `None` if the catalog does not have its parts.
    #[inline(never)]
    fn rule(&self, rule: UserRule) -> Option<UserRule> {
        let part = |component: u8, value: u8, when: When| {
            let (place, forward) = (usize::from(component), &self.forward);
            let when = match when {
                When::Task(task) => When::Task(forward.task(task)?),
                When::Signal(signal) => When::Signal(forward.signal(signal)?),
                always @ When::Always => always,
            };
            Some((u8::try_from(forward.component(place)?).ok()?, forward.value(place, value)?, when))
        };
        match rule {
            UserRule::Never { component, value, when } => part(component, value, when)
                .map(|(component, value, when)| UserRule::Never { component, value, when }),
            UserRule::Always { component, value, when } => part(component, value, when)
                .map(|(component, value, when)| UserRule::Always { component, value, when }),
            switch => Some(switch),
        }
    }

    /// Carries the ring and the profile.
    #[inline(never)]
    fn carry_lists(&self, old: &Memory<'_, T>, new: &mut Memory<'_, T>, migrated: &mut Migrated) {
        for pending in old.view().ring() {
            let Some(slot) = slot_mut(new.pending, pending.round) else { continue };
            // A shorter ring drops its oldest decisions.
            let crowded = slot.round > 0 && slot.wait == Wait::Waiting;
            let expired = !self.carry_pending(pending, slot) && pending.wait == Wait::Waiting;
            migrated.waiting += u16::from(crowded) + u16::from(expired);
        }
        for promotion in old.profile.iter() {
            let contrast = self
                .forward
                .contrast(usize::from(promotion.contrast))
                .and_then(|contrast| u8::try_from(contrast).ok());
            let same = contrast.map(|contrast| Promotion { contrast, ..*promotion });
            if same.is_none_or(|promotion| new.profile.push(promotion).is_err()) {
                migrated.promotions += 1;
            }
        }
    }

    /// Writes a decision into its slot; false if the new catalog does not have its action or context.
    ///
    /// The ring has every round, so such a decision is replaced by an expired one without content.
    #[inline(never)]
    fn carry_pending(&self, pending: &Pending<T>, slot: &mut Pending<T>) -> bool {
        let (Some(context), Some(action)) =
            (self.forward.context(&pending.context), self.forward.action(pending.action))
        else {
            slot.context = Context::blank(self.new.catalog());
            (slot.round, slot.time, slot.wait) = (pending.round, pending.time, Wait::Expired);
            (slot.baseline, slot.action, slot.probed) = (T::ZERO, Action(0), ContrastSet::EMPTY);
            return false;
        };
        *slot = *pending;
        (slot.context, slot.action, slot.probed) = (context, action, ContrastSet::EMPTY);
        for contrast in pending.probed.iter().filter_map(|contrast| self.forward.contrast(contrast)) {
            slot.probed.insert(contrast);
        }
        true
    }

    /// The guarantee fingerprint of the new policy if its guarantee covers the old one. Otherwise the old
    /// one, under which no contrast is `valid`.
    fn guarantee_fingerprint(&self, old: u32) -> u32 {
        let covered = self.new.radius_covers(self.old);
        self.old.shared(old).filter(|_| covered).map_or(old, |shared| self.new.guarantee_with(shared))
    }

    /// True if learned rewards depend on coordinates that one catalog does not have.
    #[inline(never)]
    fn ends_guarantee(&self, state: &State, tied: bool) -> bool {
        let (from, to) = (self.old.catalog(), self.new.catalog());
        if !self.old.knows_radius() {
            return true;
        }
        if state.observations == 0 {
            return false;
        }
        let (old, new) = (self.old.settings(), self.new.settings());
        let lost = (0..from.definition().components.len())
            .any(|component| self.forward.component(component).is_none());
        let same = old.noise_variance == new.noise_variance
            && self.old.mask().is_none()
            && self.new.mask().is_none();
        tied || lost
            || !same
            || changes(&self.forward, from.layout().root(), false)
            || changes(&self.back, to.layout().root(), false)
            || self.shares_task()
                && (changes(&self.forward, from.layout().leaf(), true)
                    || changes(&self.back, to.layout().leaf(), true))
    }

    /// True if both catalogs have a common task.
    fn shares_task(&self) -> bool {
        (0..self.old.catalog().definition().tasks.len()).any(|task| self.forward.task(task).is_some())
    }
}

/// True if one catalog alone has a coordinate of which both have the values.
fn changes(side: &Matching<'_>, length: usize, per_task: bool) -> bool {
    (0..length).any(|place| side.place(per_task, place).is_none() && side.has_values(per_task, place))
}
