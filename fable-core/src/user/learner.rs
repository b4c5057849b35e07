//! What is known about one user, in memory of a fixed size that never moves.
//!
//! A [`Learner`] is memory and nothing else: a `static` on a device, a value on a host.
//! [`start`](Learner::start) it in place, then [join](Learner::bind) it with a policy and a workspace to a
//! [`User`], which has all the verbs.
//!
//! ```
//! use fable_core::{Learner, Policy, Settings, Workspace, catalog::TAU2, user_hash};
//!
//! // On a device these two are statics: all zero bits, so they cost no flash. Another length does not compile.
//! let mut learner: Learner<f32, [f32; TAU2.state_len()], 8> = const { Learner::new(&TAU2) };
//! let mut workspace: Workspace<f32, [f32; TAU2.workspace_len()]> = const { Workspace::new(&TAU2) };
//!
//! let policy = Policy::new(&TAU2, Settings::default())?;
//! learner.start(&policy, user_hash("ana"))?;
//! let user = learner.bind(&policy, &mut workspace)?;
//! assert_eq!(user.state().rounds(), 0);
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```
//!
//! ```compile_fail
//! use fable_core::{Learner, catalog::TAU2};
//! static SHORT: Learner<f32, [f32; 100], 8> = Learner::new(&TAU2); // error: ... has `state_len()` numbers
//! ```

use super::late::Pending;
use super::promotion::Promotion;
use super::site::Merged;
use super::{User, UserError};
use crate::catalog::{ActionSet, Catalog, score::Scalar};
use crate::numbers::{Layout, Storage};
use crate::policy::Policy;
use crate::posterior::{Posterior, PosteriorError, Prior};

/// What is known about a user but for the numbers of the posterior and the two bounded lists. A [`User`], a
/// [`Learner`] and a `HostUser` can all be asked for it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct State {
    pub(crate) fingerprint: u64,
    pub(crate) user: u64,
    pub(crate) incarnation: u32,
    /// The place that decides; 0 until the first decision.
    pub(crate) site: u32,
    pub(crate) round: u32,
    /// What has happened here in this incarnation, counted.
    pub(crate) events: u32,
    pub(crate) observations: u32,
    /// Fingerprint of the promotion settings that were in force at the start.
    pub(crate) guarantee_fingerprint: u32,
    /// Whether something happened that the guarantee of promotions does not cover.
    pub(crate) voided: bool,
    /// Shape of the posterior; vacant before the start.
    pub(crate) layout: Layout,
    pub(crate) log_det_ratio: f64,
    /// Rewards since the last fading.
    pub(crate) since_fading: u16,
    /// Sum of squared surprises.
    pub(crate) squares: f32,
    /// Evidence of a change, ln M in 4096ths: small, so that a user stays small.
    pub(crate) disappointment: u16,
    /// Rewards since a change was noticed, plus one, up to 255; 0 as long as none was.
    pub(crate) since_change: u8,
    pub(crate) permissions: ActionSet,
    /// How much of what happened at other places is known here.
    pub(crate) merged: Merged,
}

impl State {
    /// Before anybody is started; all zero bits.
    const EMPTY: Self = Self {
        fingerprint: 0,
        user: 0,
        incarnation: 0,
        site: 0,
        round: 0,
        events: 0,
        observations: 0,
        guarantee_fingerprint: 0,
        voided: false,
        layout: Layout::EMPTY,
        log_det_ratio: 0.0,
        since_fading: 0,
        squares: 0.0,
        disappointment: 0,
        since_change: 0,
        permissions: ActionSet::EMPTY,
        merged: Merged::NONE,
    };

    /// What the next decisions refer to.
    pub(super) fn permit(&mut self, set: &ActionSet) {
        self.permissions.copy(set);
        self.count();
    }

    /// The user's hash.
    #[must_use]
    pub const fn user(&self) -> u64 {
        self.user
    }

    /// How often the user was forgotten.
    #[must_use]
    pub const fn incarnation(&self) -> u32 {
        self.incarnation
    }

    /// Decisions made in this incarnation.
    #[must_use]
    pub const fn rounds(&self) -> u32 {
        self.round
    }

    /// [`Policy::guarantee_fingerprint`] that the incarnation was started with.
    #[must_use]
    pub const fn guarantee_fingerprint(&self) -> u32 {
        self.guarantee_fingerprint
    }

    /// Whether something happened in this incarnation that the guarantee of promotions does not cover: an
    /// unlearning, a fading, an imputed reward, a weight other than 1 that came with its reward.
    #[must_use]
    pub const fn is_voided(&self) -> bool {
        self.voided
    }

    /// Rewards learned in this incarnation and not unlearned; onboarding is not counted.
    #[must_use]
    pub const fn observations(&self) -> u32 {
        self.observations
    }

    /// The feasible set that the last decision refers to; empty before the first.
    #[must_use]
    pub const fn permissions(&self) -> &ActionSet {
        &self.permissions
    }

    /// Whether no user was started or loaded.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.layout.dimension() == 0
    }
}

/// The memory of one user.
///
/// `S` holds [`state_len`](crate::Catalog::state_len) numbers, the packed posterior, one evidence count per
/// value and 15 numbers per declared contrast: `[T; N]` on a device, `Vec<T>` on a host. `R` is the capacity
/// of the two bounded lists, of the decisions that wait for their reward (when one more is made the oldest
/// expires) and of the promoted preferences.
#[derive(Clone, Debug, PartialEq)]
pub struct Learner<T, S, const R: usize> {
    state: State,
    pending: [Pending<T>; R],
    profile: heapless::Vec<Promotion, R, u16>,
    storage: S,
}

impl<T: Scalar, const N: usize, const R: usize> Learner<T, [T; N], R> {
    /// All zero bits, of the length that a catalog needs: a `static` of it lives in `.bss`, and the state
    /// never exists twice. For constants: a wrong length does not compile. [`start`](Self::start) it in place
    /// before use.
    ///
    /// # Panics
    /// When it is evaluated at run time with a wrong length.
    #[must_use]
    pub const fn new(catalog: &Catalog<'_>) -> Self {
        assert!(N == catalog.state_len(), "the state of a user of this catalog has `state_len()` numbers");
        Self::from_storage([T::ZERO; N])
    }
}

/// The sizes that device users count on: everything one user needs, with capacity for one waiting decision
/// and one promotion.
const _: () = {
    use crate::catalog::{AGENT, TAU2};
    assert!(size_of::<Learner<f32, [f32; AGENT.state_len()], 1>>() <= 105_664);
    assert!(size_of::<Learner<f32, [f32; TAU2.state_len()], 1>>() <= 2_764);
    assert!(size_of::<[f32; crate::catalog::TRIAL_LEN]>() <= 60);
};

impl<T, S, const R: usize> Learner<T, S, R> {
    /// Counters, feasible set and provenance of this user.
    #[must_use]
    pub const fn state(&self) -> &State {
        &self.state
    }
}

impl<T: Scalar, S: Storage<T>, const R: usize> Learner<T, S, R> {
    /// A vacant learner over given storage: a `Vec` or a slice. An array would be moved; begin with `vacant`
    /// there.
    #[must_use]
    pub const fn from_storage(storage: S) -> Self {
        const { assert!(R > 0 && R <= u16::MAX as usize, "a learner needs room for 1 to 65535 waiting decisions") };
        Self { state: State::EMPTY, pending: [Pending::EMPTY; R], profile: heapless::Vec::new(), storage }
    }

    /// The parts, whatever the storage.
    pub(crate) fn memory(&mut self) -> Memory<'_, T> {
        let Self { state, pending, profile, storage } = self;
        Memory { state, pending, profile, storage: storage.as_mut() }
    }

    /// The numbers.
    pub(super) const fn storage(&self) -> &S {
        &self.storage
    }

    /// The parts, to be read.
    #[cfg(feature = "record")]
    pub(crate) fn view(&self) -> View<'_, T> {
        View {
            state: &self.state,
            pending: &self.pending,
            profile: &self.profile,
            storage: self.storage.as_ref(),
        }
    }

    /// Sets the learner to the policy's prior, in place, for a user.
    ///
    /// # Errors
    /// Storage of the wrong length; nothing has changed then.
    pub fn start(&mut self, policy: &Policy<'_, T>, user: u64) -> Result<(), UserError> {
        self.memory().start(policy, policy.prior(), user)
    }

    /// Sets the learner to another prior than the policy's own, in place: a population's. A snapshot of it,
    /// with zero rounds, is how such a prior travels, to devices too. After [`forget`](User::forget) the
    /// policy's own prior counts again, and [`unlearn`](User::unlearn) refuses what would leave more
    /// uncertain than that. It is explored as boldly as the settings say; a policy that has the prior as its
    /// own is less bold ([`Policy::nu`]).
    ///
    /// The guarantee of promotions then assumes that [`prior_radius`](crate::Settings::prior_radius) covers
    /// the user's distance from this prior, in its own precision. The default radius says nothing about that,
    /// so without a stated one contrasts are not `valid`.
    ///
    /// # Errors
    /// Storage of the wrong length, or a prior of another shape; nothing has changed then.
    pub fn start_from(
        &mut self,
        policy: &Policy<'_, T>,
        prior: &Prior<'_, T>,
        user: u64,
    ) -> Result<(), UserError> {
        self.memory().start(policy, prior, user)?;
        self.state.voided = policy.settings().prior_radius.is_none();
        Ok(())
    }

    /// Empties the learner; it can be started or loaded again.
    pub fn clear(&mut self) {
        self.memory().clear();
    }

    /// Joins this memory with a policy and scratch to a user, who decides, learns and can be asked.
    ///
    /// # Errors
    /// A learner that is vacant or was started under another policy, a workspace that is too small.
    #[inline(always)] // where the policy is a constant, what its settings do not need is left out
    pub fn bind<'u>(
        &'u mut self,
        policy: &'u Policy<'u, T>,
        workspace: &'u mut (impl AsMut<[T]> + ?Sized),
    ) -> Result<User<'u, T>, UserError> {
        User::new(policy, self.memory(), workspace.as_mut())
    }

    /// The posterior, to be looked at.
    #[must_use]
    pub fn posterior(&self) -> Posterior<T, &[T]> {
        let State { layout, log_det_ratio, .. } = self.state;
        Posterior::from_parts(layout, log_det_ratio, self.storage.as_ref())
    }

    /// The promoted preferences in the order of their promotion.
    #[must_use]
    pub fn profile(&self) -> &[Promotion] {
        &self.profile
    }
}

/// A learner's memory, borrowed: the same type whatever its storage.
#[derive(Debug)]
pub(crate) struct Memory<'u, T> {
    pub(crate) state: &'u mut State,
    pub(crate) pending: &'u mut [Pending<T>],
    pub(crate) profile: &'u mut heapless::vec::VecView<Promotion, u16>,
    /// The packed posterior, then one evidence count per value, then what coins have shown about each
    /// declared contrast, then the user's rules.
    pub(crate) storage: &'u mut [T],
}

/// A learner's memory, to be read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View<'m, T> {
    pub(crate) state: &'m State,
    pub(crate) pending: &'m [Pending<T>],
    #[cfg(feature = "record")]
    pub(crate) profile: &'m [Promotion],
    #[cfg(feature = "record")]
    pub(crate) storage: &'m [T],
}

impl<T: Scalar> Memory<'_, T> {
    /// The same memory, for a while.
    pub(crate) fn reborrow(&mut self) -> Memory<'_, T> {
        let Memory { state, pending, profile, storage } = self;
        Memory { state, pending, profile, storage }
    }

    /// The parts, to be read.
    pub(crate) fn view(&self) -> View<'_, T> {
        View {
            state: self.state,
            pending: self.pending,
            #[cfg(feature = "record")]
            profile: self.profile,
            #[cfg(feature = "record")]
            storage: self.storage,
        }
    }

    fn start(&mut self, policy: &Policy<'_, T>, prior: &Prior<'_, T>, user: u64) -> Result<(), UserError> {
        let (catalog, expected) = (policy.catalog(), policy.catalog().state_len());
        if self.storage.len() != expected {
            return Err(UserError::Posterior(PosteriorError::StorageLength { expected }));
        }
        prior.check(catalog.layout()).map_err(|error| UserError::Posterior(PosteriorError::Prior(error)))?;
        self.begin(policy, prior, policy.guarantee_fingerprint());
        (self.state.fingerprint, self.state.user, self.state.incarnation) = (policy.fingerprint(), user, 0);
        Ok(())
    }

    /// Goes back to a prior that fits; the user and the incarnation stay.
    pub(super) fn begin(&mut self, policy: &Policy<'_, T>, prior: &Prior<'_, T>, guarantee_fingerprint: u32) {
        let State { fingerprint, user, incarnation, .. } = *self.state;
        let layout = policy.catalog().layout();
        self.clear();
        if let Some(packed) = self.storage.get_mut(..layout.packed_len()) {
            prior.write(layout, policy.base_precision(), packed);
        }
        *self.state = State { fingerprint, user, incarnation, guarantee_fingerprint, layout, ..State::EMPTY };
    }

    /// Goes back to the policy's prior, in the next incarnation.
    pub(super) fn forget(&mut self, policy: &Policy<'_, T>, guarantee_fingerprint: u32) {
        self.begin(policy, policy.prior(), guarantee_fingerprint);
        self.state.incarnation = self.state.incarnation.saturating_add(1);
    }

    /// Sets all bits to zero.
    pub(crate) fn clear(&mut self) {
        *self.state = State::EMPTY;
        self.storage.fill(T::ZERO);
        self.pending.fill(Pending::EMPTY);
        self.profile.clear();
    }
}

/// The regions of a learner's storage that observations change.
pub(super) struct Regions<'s, T> {
    /// The packed posterior.
    pub(super) packed: &'s mut [T],
    /// Evidence counts, one per value.
    pub(super) counts: &'s mut [T],
    /// The numbers of the declared contrasts, and the user's rules after them.
    pub(super) trials: &'s mut [T],
}

/// The regions of a learner's storage. Without the feature `adapt` the counts are the rest, and there are no
/// trials.
pub(super) fn regions<'s, T>(catalog: &Catalog<'_>, storage: &'s mut [T]) -> Regions<'s, T> {
    let (packed, rest) = storage.split_at_mut_checked(catalog.layout().packed_len()).unwrap_or_default();
    if !cfg!(feature = "adapt") {
        return Regions { packed, counts: rest, trials: &mut [] };
    }
    let (counts, trials) = rest.split_at_mut_checked(catalog.value_count()).unwrap_or_default();
    Regions { packed, counts, trials }
}

impl<T: Scalar> User<'_, T> {
    /// Goes back to the prior, in the next incarnation. Ids of earlier decisions are unknown from then on.
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

impl<'u, T: Scalar> User<'u, T> {
    /// Joins what belongs together, or says why it does not.
    #[inline(always)] // as above
    fn new(
        policy: &'u Policy<'u, T>,
        memory: Memory<'u, T>,
        workspace: &'u mut [T],
    ) -> Result<Self, UserError> {
        if memory.state.is_empty() {
            return Err(UserError::Posterior(PosteriorError::NotStarted));
        }
        if memory.state.fingerprint != policy.fingerprint() {
            return Err(UserError::ForeignPolicy);
        }
        let Some(workspace) = workspace.get_mut(..policy.catalog().workspace_len()) else {
            return Err(UserError::Posterior(PosteriorError::WorkspaceLength));
        };
        Ok(Self { policy, memory, workspace })
    }
}
