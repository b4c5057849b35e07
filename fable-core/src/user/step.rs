//! The gate to the state: every event is checked, and a checked event can only be applied.

use super::fade::Fade;
use super::late::{Due, Entry, Expiring, Unrewarded};
use super::learn::Lesson;
use super::{Event, Memory, Promotion, RemoteEvent, State, User, UserError};
use crate::catalog::{ActionSet, Catalog, Feasible, score::Scalar};
use crate::numbers::{MAX_BASELINE, within};
use crate::policy::Policy;
use crate::posterior::Update;

/// An event that fits the user it borrows. Nothing can come between the check and [`apply`](Self::apply), and
/// applying cannot fail.
#[derive(Debug)]
#[must_use = "nothing has happened before it is applied"]
pub struct Step<'s, T> {
    event: &'s Event,
    effect: Effect<'s, T>,
    /// The count of applied events of the command that proposed the event.
    applied: Option<&'s mut u32>,
}

/// The effect of an event, with the memory that it changes.
#[derive(Debug)]
enum Effect<'s, T> {
    Permit { state: &'s mut State, set: &'s ActionSet },
    Enter { memory: Memory<'s, T>, catalog: &'s Catalog<'s>, entry: Entry<'s, T> },
    Learn(Lesson<'s, T>),
    Expire(Unrewarded<'s, T>),
    Fade(Fade<'s, T>),
    Promote { memory: Memory<'s, T>, catalog: &'s Catalog<'s>, promotion: &'s Promotion },
    Forget { memory: Memory<'s, T>, policy: &'s Policy<'s, T>, guarantee_fingerprint: u32 },
    Site { state: &'s mut State, site: u32 },
    UserRule { memory: Memory<'s, T>, code: u32, stands: bool },
    Remote { memory: Memory<'s, T>, catalog: &'s Catalog<'s>, event: &'s RemoteEvent },
    Count(&'s mut State),
}

impl<T: Scalar> User<'_, T> {
    /// Checks an event against the present state. Nothing changes until the result is [applied](Step::apply).
    ///
    /// # Errors
    /// Each fault has its own [`UserError`].
    pub fn check<'s>(&'s mut self, event: &'s Event) -> Result<Step<'s, T>, UserError> {
        self.admit()?;
        let catalog = self.policy.catalog();
        let effect = match event {
            Event::Permissions(set) => {
                Feasible::from_set(catalog, *set).map_err(UserError::Feasible)?;
                Effect::Permit { state: self.memory.state, set }
            }
            Event::Onboarding(_) if !cfg!(feature = "onboard") => return Err(UserError::Unsupported),
            Event::Onboarding(statement) => {
                self.admit_on()?;
                if statement.precision == 0.0 {
                    self.admit_statement(statement)?;
                    Effect::Count(self.memory.state)
                } else {
                    // A statement of another precision is learned.
                    Effect::Learn(self.stated_lesson(statement)?.ok_or(UserError::NotLearned)?)
                }
            }
            Event::Decision { round, action, baseline, context, time, probes } => {
                self.admit_action(context, *action)?;
                if *round != self.next_round()? {
                    return Err(UserError::OutOfOrder);
                }
                self.admit_on()?;
                if !self.state().permissions.contains(*action) || catalog.forbids(context, *action) {
                    return Err(UserError::Forbidden);
                }
                if !within(*baseline, MAX_BASELINE) {
                    return Err(UserError::Baseline);
                }
                self.admit_probes(&self.state().permissions, context, *action, probes)?;
                let entry = Entry {
                    context,
                    baseline: T::from_f64(*baseline),
                    round: *round,
                    time: *time,
                    action: *action,
                    probes,
                };
                Effect::Enter { memory: self.memory.reborrow(), catalog, entry }
            }
            Event::Feedback { round, reward, weight } => {
                Effect::Learn(self.feedback_lesson(*round, *reward, *weight)?)
            }
            Event::Observation(_) if !cfg!(feature = "observe") => return Err(UserError::Unsupported),
            Event::Observation(observation) => Effect::Learn(self.observation_lesson(observation)?),
            Event::Unlearn { .. } if !cfg!(feature = "unlearn") => return Err(UserError::Unsupported),
            Event::Unlearn { observation, imputed, kept, probed } => {
                self.admit_unlearning(observation, *imputed, *kept)?;
                if !probed.is_below(catalog.contrasts().len()) {
                    return Err(UserError::Probe);
                }
                Effect::Learn(self.unlearning_lesson(observation, *imputed, *kept, *probed)?)
            }
            Event::Fade { .. } if !cfg!(feature = "adapt") => return Err(UserError::Unsupported),
            Event::Fade { keep } => Effect::Fade(self.fading(*keep)?),
            Event::Expiry { round, imputed } => {
                match self.expiring(Due { round: *round, imputed: *imputed })? {
                    Expiring::Imputed(lesson) => Effect::Learn(lesson),
                    Expiring::Unrewarded(decision) => Effect::Expire(decision),
                }
            }
            Event::Promotion(_) if !cfg!(feature = "promote") => return Err(UserError::Unsupported),
            Event::Promotion(promotion) => {
                self.admit_promotion(promotion)?;
                Effect::Promote { memory: self.memory.reborrow(), catalog, promotion }
            }
            Event::Forget { guarantee_fingerprint } => {
                self.state().incarnation.checked_add(1).ok_or(UserError::Exhausted)?;
                let (memory, policy) = (self.memory.reborrow(), self.policy);
                Effect::Forget { memory, policy, guarantee_fingerprint: *guarantee_fingerprint }
            }
            Event::Site { site } => {
                if *site == 0 || self.state().round > 0 || self.state().site != 0 {
                    return Err(UserError::SiteFixed);
                }
                if self.state().known_of(*site) > 0 {
                    return Err(UserError::OwnSite);
                }
                Effect::Site { state: self.memory.state, site: *site }
            }
            Event::UserRule { .. } if !cfg!(feature = "rules") => return Err(UserError::Unsupported),
            Event::UserRule { code, stands } => {
                self.admit_user_rule(*code, *stands)?;
                Effect::UserRule { memory: self.memory.reborrow(), code: *code, stands: *stands }
            }
            Event::Remote(_) if !cfg!(feature = "alloc") => return Err(UserError::Unsupported),
            Event::Remote(event) => {
                if self.admit_remote(event)? {
                    Effect::Learn(self.remote_lesson(event)?)
                } else {
                    Effect::Remote { memory: self.memory.reborrow(), catalog, event }
                }
            }
        };
        Ok(Step { event, effect, applied: None })
    }
}

impl<'s, T: Scalar> Step<'s, T> {
    /// Counts the event in `applied` when it is applied.
    pub(super) fn counted_in(mut self, applied: &'s mut u32) -> Self {
        self.applied = Some(applied);
        self
    }

    /// The event, to be stored before it is applied.
    #[must_use]
    pub const fn event(&self) -> &'s Event {
        self.event
    }

    /// Applies the event. An event that learns returns its update.
    pub fn apply(self) -> Option<Update<T>> {
        if let Some(applied) = self.applied {
            *applied = applied.saturating_add(1);
        }
        match self.effect {
            Effect::Learn(lesson) => return Some(lesson.learn()),
            Effect::Permit { state, set } => state.permit(set),
            Effect::Enter { mut memory, catalog, entry } => memory.enter(catalog, &entry),
            Effect::Expire(decision) => decision.expire(),
            Effect::Fade(fade) if cfg!(feature = "adapt") => fade.fade(),
            Effect::Promote { mut memory, catalog, promotion } if cfg!(feature = "promote") => {
                memory.promote(catalog, promotion);
            }
            Effect::Forget { mut memory, policy, guarantee_fingerprint } => {
                memory.forget(policy, guarantee_fingerprint);
            }
            Effect::Site { state, site } => state.site = site,
            Effect::UserRule { mut memory, code, stands } if cfg!(feature = "rules") => {
                memory.set_user_rule(code, stands);
            }
            Effect::Remote { memory, catalog, event } if cfg!(feature = "alloc") => {
                memory.note_remote(catalog, event);
            }
            // Builds without the feature have no such event.
            Effect::Fade(_) | Effect::Promote { .. } | Effect::UserRule { .. } | Effect::Remote { .. } => {}
            Effect::Count(state) => state.count(),
        }
        None
    }
}
