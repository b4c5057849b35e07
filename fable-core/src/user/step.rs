//! The gate to the state: every event is checked, and a checked event can only be applied.

use super::fade::Fade;
use super::late::{Due, Pending, Wait, slot_mut};
use super::learn::{Lesson, Waiting, expire};
use super::probe::Probe;
use super::{Event, Memory, Promotion, State, User, UserError};
use crate::catalog::{Action, ActionSet, Catalog, Context, ContrastSet, Feasible, score::Scalar};
use crate::numbers::{MAX_BASELINE, within};
use crate::policy::Policy;
use crate::posterior::Update;

/// An event that fits the user it borrows; nothing can come between the check and [`apply`](Self::apply), and nothing about
/// applying can fail.
#[derive(Debug)]
#[must_use = "nothing has happened before it is applied"]
pub struct Step<'s, T> {
    event: &'s Event,
    effect: Effect<'s, T>,
    /// Events of the command that were applied.
    applied: Option<&'s mut u32>,
}

/// What an event does, in its place.
#[derive(Debug)]
enum Effect<'s, T> {
    Permit(&'s mut State, &'s ActionSet),
    Enter {
        memory: Memory<'s, T>,
        catalog: &'s Catalog<'s>,
        context: &'s Context,
        baseline: T,
        round: u32,
        time: u32,
        action: Action,
        coins: &'s [Probe],
    },
    Learn(Lesson<'s, T>),
    Expire(Waiting<'s, T>),
    Fade(Fade<'s, T>),
    Promote(Memory<'s, T>, &'s Catalog<'s>, &'s Promotion),
    Forget(Memory<'s, T>, &'s Policy<'s, T>, u32),
    Place(&'s mut State, u32),
    UserRule(Memory<'s, T>, u32, bool),
    Remote(Memory<'s, T>, &'s Catalog<'s>, &'s super::RemoteEvent),
    Nothing(&'s mut State),
}

impl<T: Scalar> User<'_, T> {
    /// Validates an event against the present state. Nothing changes until the result is [applied](Step::apply).
    ///
    /// # Errors
    /// Each fault has its own [`UserError`].
    pub fn check<'s>(&'s mut self, event: &'s Event) -> Result<Step<'s, T>, UserError> {
        self.admit()?;
        let effect = match event {
            Event::Permissions(set) => {
                Feasible::from_set(self.policy.catalog(), *set).map_err(UserError::Feasible)?;
                Effect::Permit(self.memory.state, set)
            }
            Event::Onboarding(_) if !cfg!(feature = "onboard") => return Err(UserError::Unsupported),
            Event::Onboarding(statement) => {
                self.admit_on()?;
                if statement.precision == 0.0 {
                    self.admit_statement(statement)?;
                    Effect::Nothing(self.memory.state)
                } else {
                    Effect::Learn(self.stated_lesson(statement)?.ok_or(UserError::NotLearned)?) // it has weight
                }
            }
            Event::Decision { round, action, baseline, context, time, coins } => {
                self.admit_action(context, *action)?;
                if *round != self.next_round()? {
                    return Err(UserError::OutOfOrder);
                }
                self.admit_on()?;
                let catalog = self.policy.catalog();
                if !self.state().permissions.contains(*action) || catalog.forbids(context, *action) {
                    return Err(UserError::Forbidden);
                }
                if !within(*baseline, MAX_BASELINE) {
                    return Err(UserError::Baseline);
                }
                self.admit_coins(&self.state().permissions, context, *action, coins)?;
                let baseline = T::from_f64(*baseline);
                let (round, time, action, memory) = (*round, *time, *action, self.memory.reborrow());
                Effect::Enter { memory, catalog, context, baseline, round, time, action, coins }
            }
            Event::Feedback { round, reward, weight } => {
                Effect::Learn(self.feedback_lesson(*round, *reward, *weight)?)
            }
            Event::Observation(_) if !cfg!(feature = "observe") => return Err(UserError::Unsupported),
            Event::Observation(observation) => Effect::Learn(self.observation_lesson(observation)?),
            Event::Unlearn { .. } if !cfg!(feature = "unlearn") => return Err(UserError::Unsupported),
            Event::Unlearn { observation, imputed, kept, probed } => {
                self.admit_unlearning(observation, *imputed, *kept)?;
                if !probed.is_below(self.policy.catalog().contrasts().len()) {
                    return Err(UserError::Probe);
                }
                Effect::Learn(self.unlearning_lesson(observation, *imputed, *kept, *probed)?)
            }
            Event::Fade { .. } if !cfg!(feature = "adapt") => return Err(UserError::Unsupported),
            Event::Fade { keep } => Effect::Fade(self.fading(*keep)?),
            Event::Expiry { round, imputed } => {
                match self.expiry_lesson(Due { round: *round, imputed: *imputed })? {
                    Ok(lesson) => Effect::Learn(lesson),
                    Err(waiting) => Effect::Expire(waiting),
                }
            }
            Event::Promotion(_) if !cfg!(feature = "promote") => return Err(UserError::Unsupported),
            Event::Promotion(promotion) => {
                self.admit_promotion(promotion)?;
                Effect::Promote(self.memory.reborrow(), self.policy.catalog(), promotion)
            }
            Event::Forget { guarantee_fingerprint } => {
                self.state().incarnation.checked_add(1).ok_or(UserError::Exhausted)?;
                Effect::Forget(self.memory.reborrow(), self.policy, *guarantee_fingerprint)
            }
            Event::Site { site } => {
                if *site == 0 || self.state().round > 0 || self.state().site != 0 {
                    return Err(UserError::SiteFixed);
                }
                if self.state().known_of(*site) > 0 {
                    return Err(UserError::OwnSite);
                }
                Effect::Place(self.memory.state, *site)
            }
            Event::UserRule { .. } if !cfg!(feature = "rules") => return Err(UserError::Unsupported),
            Event::UserRule { code, stands } => {
                self.admit_user_rule(*code, *stands)?;
                Effect::UserRule(self.memory.reborrow(), *code, *stands)
            }
            Event::Remote(_) if !cfg!(feature = "alloc") => return Err(UserError::Unsupported),
            Event::Remote(elsewhere) => {
                if self.admit_elsewhere(elsewhere)? {
                    Effect::Learn(self.told_lesson(elsewhere)?)
                } else {
                    Effect::Remote(self.memory.reborrow(), self.policy.catalog(), elsewhere)
                }
            }
        };
        Ok(Step { event, effect, applied: None })
    }
}

impl<'s, T: Scalar> Step<'s, T> {
    /// The same as part of a command.
    pub(super) fn of(mut self, applied: &'s mut u32) -> Self {
        self.applied = Some(applied);
        self
    }

    /// The event, to be stored before it is applied.
    #[must_use]
    pub const fn event(&self) -> &'s Event {
        self.event
    }

    /// Applies the event. What was learned is returned for events that learn.
    pub fn apply(self) -> Option<Update<T>> {
        if let Some(applied) = self.applied {
            *applied = applied.saturating_add(1);
        }
        match self.effect {
            Effect::Learn(lesson) => return Some(lesson.learn()),
            Effect::Permit(state, set) => state.permit(set),
            Effect::Enter { mut memory, catalog, context, baseline, round, time, action, coins } => {
                memory.state.round = round;
                memory.state.count();
                let probed = cfg!(feature = "probes");
                let coins = if probed { memory.enter_coins(catalog, coins) } else { ContrastSet::EMPTY };
                if let Some(slot) = slot_mut(memory.pending, round) {
                    *slot = Pending {
                        context: *context,
                        baseline,
                        round,
                        time,
                        action,
                        wait: Wait::Waiting,
                        coins,
                    };
                }
            }
            Effect::Expire((state, pending)) => expire(state, pending),
            Effect::Fade(fade) if cfg!(feature = "adapt") => fade.fade(),
            Effect::Promote(mut memory, catalog, promotion) if cfg!(feature = "promote") => {
                memory.promote(catalog, promotion)
            }
            Effect::Forget(mut memory, policy, guarantee_fingerprint) => {
                memory.forget(policy, guarantee_fingerprint)
            }
            Effect::Place(state, site) => state.site = site,
            Effect::UserRule(mut memory, code, stands) if cfg!(feature = "rules") => {
                memory.set_user_rule(code, stands)
            }
            Effect::Remote(memory, catalog, elsewhere) if cfg!(feature = "alloc") => {
                memory.note(catalog, elsewhere)
            }
            // Without their feature there are none.
            Effect::Fade(_) | Effect::Promote(..) | Effect::UserRule(..) | Effect::Remote(..) => {}
            Effect::Nothing(state) => state.count(),
        }
        None
    }
}
