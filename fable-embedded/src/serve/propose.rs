//! What a request changes: a sequence of events, each proposed when those before it are applied.

use super::Device;
use crate::protocol::{Fault, Request, WireContext, read_feasible, read_statement};
use fable_core::event::{DecisionId, Observation};
use fable_core::{Action, Context, Event, Feasible, LearnerError, Scalar, Storage};

/// Whether a request is a sequence of events.
pub(super) const fn changes(request: &Request) -> bool {
    matches!(
        request,
        Request::Onboard { .. }
            | Request::Decide { .. }
            | Request::Feedback { .. }
            | Request::Observe { .. }
            | Request::Unlearn { .. }
            | Request::Promote { .. }
            | Request::Expire { .. }
            | Request::Forget
    )
}

impl<T: Scalar, S: Storage<T>, W: Storage<T>, const R: usize> Device<'_, '_, T, S, W, R> {
    /// Puts the next event of a request that has had `events` of them into its place; false when the request is done.
    ///
    /// An event is large, so it is written where it stays, and what makes one has a stack frame of its own.
    #[inline(never)]
    pub(super) fn next_event(
        &mut self,
        request: &Request,
        payload: &[u8],
        events: u32,
        place: &mut Event,
    ) -> Result<bool, Fault> {
        match request {
            Request::Decide { context, at } => return self.next_of_decision(context, *at, payload, place),
            Request::Promote { at } => return self.promotion(*at, place),
            Request::Expire { now } => return Ok(self.expiry(*now, place)),
            // The others are one event.
            _ if events > 0 => return Ok(false),
            Request::Onboard { response, precision } => self.statement(*response, *precision, payload, place)?,
            Request::Feedback { incarnation, round, reward, weight, now } => {
                let id = DecisionId { user: self.learner.user(), incarnation: *incarnation, round: *round };
                self.feedback(id, *reward, *weight, *now, place)?;
            }
            Request::Observe { context, action, reward, weight } => {
                self.observation(context, Action(*action), *reward, *weight, place)?;
            }
            Request::Unlearn { context, action, baseline, reward, weight, imputed } => {
                let (context, action) = (context.context(self.policy.catalog())?, Action(*action));
                let (baseline, reward, weight) = (*baseline, *reward, *weight);
                let observation = Observation { context, action, baseline, reward, weight };
                *place = Event::Unlearn { observation, imputed: *imputed };
            }
            Request::Forget => *place = Event::Forget { promise: self.policy.promise() },
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// What is due expires, the ring gets room, the permissions are recorded, the decision is made.
    #[inline(never)]
    fn next_of_decision(&mut self, context: &WireContext, at: u32, payload: &[u8], place: &mut Event) -> Result<bool, Fault> {
        let catalog = self.policy.catalog();
        let context = context.context(catalog)?;
        let feasible = read_feasible(catalog, self.learner.permissions(), payload)?;
        if self.learner.rounds() == u32::MAX {
            return Err(LearnerError::Exhausted.into());
        }
        if self.expiry(at, place) || self.room(place) {
            return Ok(true);
        }
        if self.learner.permissions() == feasible.set() {
            self.decision(&context, &feasible, at, place)?;
        } else {
            permissions(&feasible, place);
        }
        Ok(true)
    }

    #[inline(never)]
    fn decision(&mut self, context: &Context, feasible: &Feasible, at: u32, place: &mut Event) -> Result<(), Fault> {
        let wanted = fable_core::Request::new(context, feasible).at(at);
        put(self.learner.propose_decision(self.policy, self.workspace, &wanted), place)
    }

    #[inline(never)]
    fn expiry(&mut self, now: u32, place: &mut Event) -> bool {
        let event = self.learner.propose_expiry(self.policy, now);
        event.map(|event| *place = event).is_some()
    }

    #[inline(never)]
    fn room(&mut self, place: &mut Event) -> bool {
        let event = self.learner.propose_room(self.policy);
        event.map(|event| *place = event).is_some()
    }

    #[inline(never)]
    fn promotion(&mut self, at: u32, place: &mut Event) -> Result<bool, Fault> {
        let event = self.learner.propose_promotion(self.policy, self.workspace, at)?;
        Ok(event.map(|event| *place = event).is_some())
    }

    #[inline(never)]
    fn statement(&mut self, response: f64, precision: f64, payload: &[u8], place: &mut Event) -> Result<(), Fault> {
        *place = Event::Onboarding(read_statement(self.policy.catalog(), response, precision, payload)?);
        Ok(())
    }

    #[inline(never)]
    fn feedback(&mut self, id: DecisionId, reward: f64, weight: f32, now: u32, place: &mut Event) -> Result<(), Fault> {
        put(self.learner.propose_feedback(self.policy, id, reward, weight, now), place)
    }

    #[inline(never)]
    fn observation(
        &mut self,
        context: &WireContext,
        action: Action,
        reward: f64,
        weight: f32,
        place: &mut Event,
    ) -> Result<(), Fault> {
        let context = context.context(self.policy.catalog())?;
        put(self.learner.propose_observation(self.policy, &context, action, reward, weight), place)
    }
}

/// What was proposed goes where it stays. Not `?`, which copies the event once more on its way.
fn put(proposed: Result<Event, LearnerError>, place: &mut Event) -> Result<(), Fault> {
    match proposed {
        Ok(event) => {
            *place = event;
            Ok(())
        }
        Err(error) => Err(error.into()),
    }
}

#[inline(never)]
fn permissions(feasible: &Feasible, place: &mut Event) {
    *place = Event::Permissions(*feasible.set());
}
