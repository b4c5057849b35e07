//! The memory of one user, of a fixed size. It never moves.
//!
//! A [`Learner`] is memory and nothing else: a `static` on a device, a value on a host.
//! [`start`](Learner::start) it in place. Then [bind](Learner::bind) it to a policy and a workspace: the
//! result is a [`User`], which has all verbs.
//!
//! ```
//! use fable_core::{Learner, Policy, Settings, Workspace, catalog::TAU2, user_hash};
//!
//! // On a device these two are statics. Their bits are zero, so they take no flash.
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

/// The counters and settings of a user: all of its memory but the posterior and the two bounded lists.
///
/// A [`User`], a [`Learner`] and a `HostUser` have one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct State {
    pub(crate) fingerprint: u64,
    pub(crate) user: u64,
    pub(crate) incarnation: u32,
    /// The site that decides; 0 before the first decision.
    pub(crate) site: u32,
    pub(crate) round: u32,
    /// Number of events at this site in this incarnation.
    pub(crate) events: u32,
    pub(crate) observations: u32,
    /// Fingerprint of the promotion settings at the start.
    pub(crate) guarantee_fingerprint: u32,
    /// An event happened that the guarantee of promotions does not cover.
    pub(crate) voided: bool,
    /// Shape of the posterior; all zero before the start.
    pub(crate) layout: Layout,
    pub(crate) log_det_ratio: f64,
    /// Rewards since the last fading.
    pub(crate) since_fading: u16,
    /// Sum of squared surprises.
    pub(crate) squares: f32,
    /// Evidence of a change, ln M in 4096ths. A small type keeps a user small.
    pub(crate) disappointment: u16,
    /// Rewards since a change was noticed, plus one, up to 255; 0 before the first change.
    pub(crate) since_change: u8,
    pub(crate) permissions: ActionSet,
    /// Number of known events of each other site.
    pub(crate) merged: Merged,
}

impl State {
    /// An empty state; all zero bits.
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

    /// Sets the feasible set that the next decisions refer to.
    pub(super) fn permit(&mut self, set: &ActionSet) {
        self.permissions.copy(set);
        self.count();
    }

    /// Hash of the user's name.
    #[must_use]
    pub const fn user(&self) -> u64 {
        self.user
    }

    /// Number of times that the user was forgotten.
    #[must_use]
    pub const fn incarnation(&self) -> u32 {
        self.incarnation
    }

    /// Number of decisions in this incarnation.
    #[must_use]
    pub const fn rounds(&self) -> u32 {
        self.round
    }

    /// [`Policy::guarantee_fingerprint`] at the start of this incarnation.
    #[must_use]
    pub const fn guarantee_fingerprint(&self) -> u32 {
        self.guarantee_fingerprint
    }

    /// True if the guarantee of promotions does not cover this incarnation: after an unlearning, a fading, an
    /// imputed reward, or a reward with a weight other than 1.
    #[must_use]
    pub const fn is_voided(&self) -> bool {
        self.voided
    }

    /// Number of rewards learned in this incarnation and not unlearned. Statements do not count.
    #[must_use]
    pub const fn observations(&self) -> u32 {
        self.observations
    }

    /// The feasible set of the last decision; empty before the first.
    #[must_use]
    pub const fn permissions(&self) -> &ActionSet {
        &self.permissions
    }

    /// True if no user was started or loaded.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.layout.dimension() == 0
    }
}

/// The memory of one user.
///
/// `S` holds [`state_len`](crate::Catalog::state_len) numbers: `[T; N]` on a device, `Vec<T>` on a host. They
/// are the packed posterior, one evidence count per value, 15 numbers per declared contrast, and the user's
/// rules.
///
/// `R` is the capacity of two bounded lists: the ring of decisions, of which the oldest expires when it is
/// full, and the promoted preferences.
#[derive(Clone, Debug, PartialEq)]
pub struct Learner<T, S, const R: usize> {
    state: State,
    pending: [Pending<T>; R],
    profile: heapless::Vec<Promotion, R, u16>,
    storage: S,
}

impl<T: Scalar, const N: usize, const R: usize> Learner<T, [T; N], R> {
    /// All zero bits, of the length that a catalog needs. For constants: a wrong length does not compile.
    ///
    /// A `static` of it is in `.bss`, and the state never exists twice. [`start`](Self::start) it in place
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

/// Sizes that are guaranteed: all memory of a user with capacity for one waiting decision and one promotion.
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
    /// An empty learner over given storage: a `Vec` or a slice. For an array use `new`, which does not move
    /// it.
    #[must_use]
    pub const fn from_storage(storage: S) -> Self {
        const {
            assert!(R > 0 && R <= u16::MAX as usize, "a learner needs room for 1 to 65535 waiting decisions");
        }
        Self { state: State::EMPTY, pending: [Pending::EMPTY; R], profile: heapless::Vec::new(), storage }
    }

    /// The parts, of one type for all storage.
    pub(crate) fn memory(&mut self) -> Memory<'_, T> {
        let Self { state, pending, profile, storage } = self;
        Memory { state, pending, profile, storage: storage.as_mut() }
    }

    /// The storage.
    pub(super) const fn storage(&self) -> &S {
        &self.storage
    }

    /// The parts, for reading.
    #[cfg(feature = "record")]
    pub(crate) fn view(&self) -> View<'_, T> {
        View {
            state: &self.state,
            pending: &self.pending,
            profile: &self.profile,
            storage: self.storage.as_ref(),
        }
    }

    /// Sets the learner to the policy's prior for a user, in place.
    ///
    /// # Errors
    /// Storage of the wrong length; nothing has changed then.
    pub fn start(&mut self, policy: &Policy<'_, T>, user: u64) -> Result<(), UserError> {
        self.memory().start(policy, policy.prior(), user)
    }

    /// Sets the learner to another prior than the policy's own, in place, such as a prior of a population.
    ///
    /// A prior travels as a snapshot of such a learner with zero rounds, also to devices. After
    /// [`forget`](User::forget) the policy's own prior applies again. [`unlearn`](User::unlearn) refuses a
    /// result with less precision than the policy's own prior. Exploration is that of the settings; a policy
    /// with this prior as its own explores less ([`Policy::nu`]).
    ///
    /// The guarantee of promotions then assumes that [`prior_radius`](crate::Settings::prior_radius) covers
    /// the user's distance from this prior, in its own precision. The default radius does not: without a
    /// stated radius contrasts are not `valid`.
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

    /// Joins this memory with a policy and scratch. The result is a user, who decides and learns.
    ///
    /// # Errors
    /// A learner that is empty or was started under another policy, a workspace that is too small.
    #[inline(always)] // a constant policy leaves out the code of the settings that it does not use
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

/// A learner's memory, borrowed: one type for all storage.
#[derive(Debug)]
pub(crate) struct Memory<'u, T> {
    pub(crate) state: &'u mut State,
    pub(crate) pending: &'u mut [Pending<T>],
    pub(crate) profile: &'u mut heapless::vec::VecView<Promotion, u16>,
    /// The packed posterior, one evidence count per value, the numbers of each declared contrast, the user's
    /// rules.
    pub(crate) storage: &'u mut [T],
}

/// A learner's memory, for reading.
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
    /// The memory with a shorter lifetime.
    pub(crate) fn reborrow(&mut self) -> Memory<'_, T> {
        let Memory { state, pending, profile, storage } = self;
        Memory { state, pending, profile, storage }
    }

    /// The parts, for reading.
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

    /// Goes back to a checked prior. The user and the incarnation stay.
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
    /// Joins memory, policy and scratch, if they belong together.
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
