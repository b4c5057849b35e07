//! One user: deciding, learning, questions. Every change of a user is an [`Event`].
//!
//! The files, by subject:
//!
//! | Subject | Files |
//! |---|---|
//! | the method: Equation 4, Equations 5 and 6 | `decide`, `learn` |
//! | checks of inputs; counts that go with learning | `admit`; `evidence` |
//! | commands, their events, checked events | `command`, `propose`, `event`, `step` |
//! | memory of a user; a user on the heap | `learner`; `host` |
//! | optimistic scores; mean scores, propensities | `optimism`; `scores`, `propensity` |
//! | probes and their analysis | `probe`, `trial` |
//! | decisions that wait for their reward | `late` |
//! | users who change; unlearning | `surprise`, `fade`; `unlearn` |
//! | how sure a preference is, the profile | `assess`, `promote`, `promotion` |
//! | why an action was chosen | `explain` |
//! | a user's own rules | `user_rule` |
//! | one user at several sites; under several catalogs | `site`, `remote`, `merge`; `migrate` |

mod admit;
mod assess;
mod command;
mod decide;
mod declare;
mod error;
mod event;
mod evidence;
mod explain;
mod fade;
mod fixed3;
#[cfg(feature = "alloc")]
mod host;
mod late;
mod learn;
mod learner;
#[cfg(feature = "migrate")]
mod migrate;
mod optimism;
mod probe;
mod promote;
mod promotion;
mod propensity;
mod propose;
mod remote;
mod request;
mod scores;
mod site;
mod step;
mod surprise;
mod trial;
pub mod typed;
mod unlearn;
mod user_rule;

pub use assess::{Assessment, Comparison, Gap, Verdict};
pub use command::Command;
pub use error::UserError;
pub use event::{Decision, DecisionId, Event, Observation, ParseDecisionIdError};
pub use explain::{Explanation, Share, Source};
#[cfg(feature = "alloc")]
pub use host::{HOST_CAPACITY, HostLearner, HostUser};
pub use late::KeptDecision;
#[cfg_attr(not(feature = "record"), expect(unused_imports, reason = "records read and write it"))]
pub(crate) use late::{Pending, Wait, slot_mut};
pub use learner::{Learner, State};
pub(crate) use learner::{Memory, View};
#[cfg(feature = "migrate")]
pub use migrate::{MigrateError, Migrated, Migration};
pub use probe::{Probe, ProbeOutcome, ProbeOutcomes, Probes};
pub use promote::is_promotion_check_due;
pub use promotion::{Certifier, Promotion, Standing};
pub use remote::{RemoteChange, RemoteEvent};
pub use request::Request;
pub use scores::Scores;
pub use site::MAX_SITES;
pub use step::Step;
#[cfg(feature = "record")]
pub(crate) use surprise::is_sound;
#[cfg(feature = "record")]
pub(crate) use trial::is_possible;
pub use trial::{Average, MAX_TRIALS, Trial};
pub use user_rule::{MAX_USER_RULES, UserRule};
#[cfg(feature = "record")]
pub(crate) use user_rule::{code_of, is_user_rule};

use crate::catalog::score::Scalar;
use crate::policy::Policy;
use crate::posterior::Posterior;

/// One user of a policy.
///
/// A [`User`] joins memory ([`Learner`]), a [`Policy`] and scratch ([`Workspace`](crate::Workspace)), and has
/// all verbs.
///
/// There are two ways to use it. A caller that stores nothing calls [`decide`](User::decide) and
/// [`feedback`](User::feedback). A caller that stores a journal turns a [`Command`] into its events, and
/// writes each event before it is applied. Then an acknowledged event is durable, and a failed write has
/// changed nothing.
///
/// ```
/// use fable_core::catalog::TAU2;
/// use fable_core::journal::Command;
/// use fable_core::{Feasible, HostUser, Policy, Request, Settings};
///
/// let policy = Policy::<f32>::new(&TAU2, Settings::default())?;
/// let mut ana = HostUser::<f32>::new(&policy, "ana")?;
/// let mut user = ana.user();
///
/// let (context, all) = (TAU2.context(None, [])?, Feasible::all(&TAU2));
/// let mut journal = vec![];
/// let mut command = Command::decide(Request::new(&context, &all));
/// while let Some(step) = user.next(&mut command)? {
///     journal.push(step.event().clone()); // to flash or disk
///     step.apply();
/// }
/// let decision = command.decision(&user).unwrap();
/// let update = user.feedback(decision.id, 0.5)?;
/// assert_eq!(journal.len(), 2); // permissions, decision
/// assert_eq!((user.state().rounds(), user.state().observations()), (1, 1));
/// # let _ = update;
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
///
/// Replay is [`check`](User::check) and [`apply`](Step::apply) alone: the same events in the same order give
/// the same bits.
#[derive(Debug)]
pub struct User<'u, T> {
    pub(crate) policy: &'u Policy<'u, T>,
    pub(crate) memory: Memory<'u, T>,
    workspace: &'u mut [T],
}

/// Refuses a feature that this build leaves out.
const fn supported(feature: bool) -> Result<(), UserError> {
    if feature { Ok(()) } else { Err(UserError::Unsupported) }
}

impl<'u, T: Scalar> User<'u, T> {
    /// Counters, feasible set and provenance of this user.
    #[must_use]
    pub const fn state(&self) -> &State {
        self.memory.state
    }

    /// The catalog and the settings of this user.
    #[must_use]
    pub const fn policy(&self) -> &'u Policy<'u, T> {
        self.policy
    }

    /// The posterior, for reading.
    #[must_use]
    pub fn posterior(&self) -> Posterior<T, &[T]> {
        Posterior::from_parts(self.memory.state.layout, self.memory.state.log_det_ratio, self.memory.storage)
    }

    /// The [posterior](Self::posterior) with scratch for questions to it.
    #[must_use]
    pub fn posterior_and_scratch(&mut self) -> (Posterior<T, &[T]>, &mut [T]) {
        let State { layout, log_det_ratio, .. } = *self.memory.state;
        (Posterior::from_parts(layout, log_det_ratio, self.memory.storage), self.workspace)
    }

    /// The promoted preferences in the order of their promotion.
    #[must_use]
    pub fn profile(&self) -> &[Promotion] {
        self.memory.profile
    }

    /// Capacity for decisions that wait for their reward, and for promoted preferences: the learner's `R`.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.memory.pending.len()
    }

    /// The id of a decision of this user in this incarnation.
    #[must_use]
    pub fn id(&self, round: u32) -> DecisionId {
        DecisionId {
            user: self.memory.state.user,
            incarnation: self.memory.state.incarnation,
            site: self.site(),
            round,
        }
    }
}
