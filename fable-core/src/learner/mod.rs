//! One user's learner as a state machine: propose, check, persist, apply.
//!
//! `propose_*` is pure: it draws, scores and builds an [`Event`](crate::Event). [`check`](Learner::check) does all validation and
//! returns a [`Checked`] event that borrows the learner, so nothing can happen in between; [`apply`](Checked::apply) is the
//! only mutator and cannot fail. An adapter stores the event between the two: what is acknowledged is durable, and what
//! fails has changed nothing. Replay is check and apply alone. [`decide`](Learner::decide), [`feedback`](Learner::feedback)
//! and the other short forms do all steps at once for those who store nothing.
//!
//! ```
//! use fable_core::{Context, Feasible, Learner, Policy, Request, Settings, Workspace, catalog::TAU2, user_hash};
//!
//! let policy = Policy::new(&TAU2, Settings::default())?;
//! let mut learner = Learner::<f32, [f32; TAU2.state_len()], 8>::VACANT;
//! let mut workspace = Workspace::<f32, [f32; TAU2.workspace_len()]>::VACANT;
//! learner.start(&policy, user_hash("ana"))?;
//!
//! let (context, all) = (Context::new(&TAU2, None, &[])?, Feasible::all(&TAU2));
//! let decision = learner.decide(&policy, &mut workspace, &Request::new(&context, &all))?;
//! let event = learner.propose_feedback(&policy, decision.id, 0.5, 1.0, 0)?;
//! let checked = learner.check(&policy, &mut workspace, &event)?;
//! // ... write `checked.event()` to flash or disk here ...
//! let update = checked.apply();
//! assert!(update.is_some());
//! assert_eq!(learner.observations(), 1);
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```
//!
//! The files follow the data: `decide`, `late` (decisions that wait for their reward), `learn`, `unlearn`, `promote`, and
//! `apply` with the checks behind it.

use crate::feasible::ActionSet;
use crate::policy::Policy;
use crate::posterior::{MAX_RESPONSE, Posterior, PosteriorError};
use crate::prior::Prior;
use crate::trust::promotion::Promotion;
use crate::{Scalar, Storage};

mod apply;
mod decide;
mod error;
mod late;
mod learn;
mod promote;
mod propensity;
mod unlearn;

pub use apply::Checked;
pub use decide::{Choice, Proposal};
pub use error::LearnerError;
#[cfg_attr(not(feature = "record"), expect(unused_imports, reason = "records read and write it"))]
pub(crate) use late::{Pending, Wait};

/// Largest magnitude of a baseline: the residual of any reward then stays within [`MAX_RESPONSE`].
pub const MAX_BASELINE: f64 = MAX_RESPONSE - 1.0;

/// Everything that is known about one user.
///
/// `S` holds [`state_len`](crate::Catalog::state_len) numbers, the packed posterior and one evidence count per value:
/// `[T; N]` on a device, `Vec<T>` on a host. `R` is the room of the two bounded lists, of the decisions that wait for
/// their reward (when one more is made the oldest expires) and of the promoted preferences.
#[derive(Clone, Debug, PartialEq)]
pub struct Learner<T, S, const R: usize> {
    pub(crate) fingerprint: u64,
    pub(crate) user: u64,
    pub(crate) incarnation: u32,
    pub(crate) round: u32,
    pub(crate) observations: u32,
    /// Fingerprint of the promotion settings that were in force at the start.
    pub(crate) promise: u32,
    /// Whether something happened that the guarantee of promotions does not cover.
    pub(crate) voided: bool,
    pub(crate) permissions: ActionSet,
    pub(crate) posterior: Posterior<T, S>,
    pub(crate) pending: [Pending<T>; R],
    pub(crate) profile: heapless::Vec<Promotion, R, u16>,
}

impl<T: Scalar, const N: usize, const R: usize> Learner<T, [T; N], R> {
    /// All zero bits: a `static` of it lives in `.bss`, and the state never exists twice. [`start`](Self::start) it in place before use.
    pub const VACANT: Self = Self::over([T::ZERO; N]);
}

/// The sizes that device users count on: everything one user needs, with room for one waiting decision and one promotion.
const _: () = {
    use crate::catalog::{AGENT, TAU2};
    assert!(size_of::<Learner<f32, [f32; AGENT.state_len()], 1>>() <= 105_000);
    assert!(size_of::<Learner<f32, [f32; TAU2.state_len()], 1>>() <= 2_200);
};

impl<T: Scalar, S: Storage<T>, const R: usize> Learner<T, S, R> {
    /// A vacant learner over given storage: a `Vec` or a slice. An array would be moved; start from `VACANT` there.
    #[must_use]
    pub const fn over(storage: S) -> Self {
        const { assert!(R > 0 && R <= u16::MAX as usize, "a learner needs room for 1 to 65535 waiting decisions") };
        Self {
            fingerprint: 0,
            user: 0,
            incarnation: 0,
            round: 0,
            observations: 0,
            promise: 0,
            voided: false,
            permissions: ActionSet::EMPTY,
            posterior: Posterior::over(storage),
            pending: [Pending::EMPTY; R],
            profile: heapless::Vec::new(),
        }
    }

    /// Sets the learner to the policy's prior, in place, for a user.
    ///
    /// # Errors
    /// Storage of the wrong length; nothing has changed then.
    pub fn start(&mut self, policy: &Policy<'_, T>, user: u64) -> Result<(), LearnerError> {
        self.begin(policy, policy.prior(), user)
    }

    /// Sets the learner to another prior than the policy's own, in place: a population's. A snapshot of it, with zero rounds,
    /// is how such a prior travels, to devices too. After [`forget`](Self::forget) the policy's own prior counts again, and
    /// [`unlearn`](Self::unlearn) refuses what would leave more uncertain than that.
    ///
    /// The guarantee of promotions then assumes that [`prior_radius`](crate::Settings::prior_radius) covers the user's distance
    /// from this prior, in its own precision. The default radius says nothing about that, so without a stated one contrasts are
    /// not `valid`.
    ///
    /// # Errors
    /// Storage of the wrong length, or a prior of another shape; nothing has changed then.
    pub fn start_from(&mut self, policy: &Policy<'_, T>, prior: &Prior<'_, T>, user: u64) -> Result<(), LearnerError> {
        self.begin(policy, prior, user)?;
        self.voided = policy.settings().prior_radius.is_none();
        Ok(())
    }

    fn begin(&mut self, policy: &Policy<'_, T>, prior: &Prior<'_, T>, user: u64) -> Result<(), LearnerError> {
        let expected = policy.catalog().state_len();
        if self.posterior.storage().len() != expected {
            return Err(LearnerError::Posterior(PosteriorError::StorageLength { expected }));
        }
        self.posterior.start(policy.catalog().arrow(), prior, policy.settings().base_precision)?;
        self.fingerprint = policy.fingerprint();
        self.user = user;
        self.incarnation = 0;
        self.clear(policy.promise());
        Ok(())
    }

    /// Forgets everything but the posterior, the user and the incarnation.
    fn clear(&mut self, promise: u32) {
        self.round = 0;
        self.observations = 0;
        self.promise = promise;
        self.voided = false;
        self.permissions = ActionSet::EMPTY;
        self.posterior.spare_mut().fill(T::ZERO);
        self.pending.fill(Pending::EMPTY);
        self.profile.clear();
    }

    /// Empties the learner; it can be started or loaded again.
    pub fn vacate(&mut self) {
        self.posterior.vacate();
        self.fingerprint = 0;
        self.user = 0;
        self.incarnation = 0;
        self.round = 0;
        self.observations = 0;
        self.promise = 0;
        self.voided = false;
        self.permissions = ActionSet::EMPTY;
        self.pending.fill(Pending::EMPTY);
        self.profile.clear();
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

    /// [`Policy::promise`] that the incarnation was started with.
    #[must_use]
    pub const fn promise(&self) -> u32 {
        self.promise
    }

    /// Whether something happened in this incarnation that the guarantee of promotions does not cover: an unlearning, an imputed
    /// reward, a weight other than 1 that came with its reward.
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

    /// The posterior.
    #[must_use]
    pub const fn posterior(&self) -> &Posterior<T, S> {
        &self.posterior
    }

    /// The learner was started, and under this policy.
    pub(crate) fn admit(&self, policy: &Policy<'_, T>) -> Result<(), LearnerError> {
        if self.posterior.arrow().dimension() == 0 {
            Err(LearnerError::Posterior(PosteriorError::Vacant))
        } else if self.fingerprint == policy.fingerprint() {
            Ok(())
        } else {
            Err(LearnerError::ForeignPolicy)
        }
    }
}
