//! Requests: frames, and the commands of requests that change something.

use super::guard::{Guard, ReplySeal};
use crate::reply_cache::Scope;
use fable_core::catalog::ContrastSet;
use fable_core::journal::{Command, Event, Observation};
use fable_core::{Action, Context, DecisionId, Feasible, Scalar, User, UserError};
use fable_wire::{
    Defaults, Fault, Frame, MAX_DEFAULTS, MAX_FRAME, Request, WireContext, read_defaults, read_feasible,
    read_statement,
};

/// The content of a received frame.
pub(super) enum Received<'b> {
    Nothing,
    Refused { sequence: u32, seal: ReplySeal, fault: Fault },
    Request { sequence: u32, seal: ReplySeal, request_id: u32, request: Request, payload: &'b [u8] },
}

#[inline(never)]
pub(super) fn receive<'b>(
    buffer: &'b mut [u8; MAX_FRAME],
    filled: usize,
    oversized: bool,
    guard: &mut Guard,
) -> Received<'b> {
    let refused = |fault| Received::Refused { sequence: 0, seal: ReplySeal::NONE, fault };
    if oversized {
        return refused(Fault::Oversized);
    }
    let frame = match Frame::open(buffer.get_mut(..filled).unwrap_or_default()) {
        Ok(frame) if frame.is_reply() => return Received::Nothing,
        Ok(frame) => frame,
        Err(fault) => return refused(fault),
    };
    let Frame { sequence, request_id, .. } = frame;
    let request = frame.request();
    match guard
        .admit(&frame, request.as_ref().is_ok_and(|(request, _)| matches!(request, Request::Open { .. })))
    {
        Err(fault) => Received::Refused { sequence, seal: ReplySeal::NONE, fault },
        Ok(seal) => match request {
            Ok((request, payload)) => Received::Request { sequence, seal, request_id, request, payload },
            Err(fault) => Received::Refused { sequence, seal, fault },
        },
    }
}

/// Returns true for the requests that are commands, except decide.
pub(super) const fn changes(request: &Request) -> bool {
    matches!(
        request,
        Request::Onboard { .. }
            | Request::Feedback { .. }
            | Request::Observe { .. }
            | Request::Unlearn { .. }
            | Request::Promote { .. }
            | Request::Expire { .. }
            | Request::UserRule { .. }
            | Request::Forget
    )
}

/// Returns true for the requests that write to the store.
pub(super) const fn writes(request: &Request) -> bool {
    use Request::{Commit, CommitPrior, Decide, Stage};
    changes(request) || matches!(request, Decide { .. } | Stage { .. } | Commit { .. } | CommitPrior { .. })
}

/// Returns true for the requests that erase at once.
pub(super) const fn erases(request: &Request) -> bool {
    matches!(request, Request::Forget | Request::Stage { offset: 0 } | Request::CommitPrior { length: 0 })
}

/// Returns the events of a request that are stored with its id.
pub(super) const fn scope(request: &Request) -> Scope {
    match request {
        Request::Decide { .. } => Scope::Decision,
        Request::Promote { .. } | Request::Expire { .. } => Scope::Every,
        _ => Scope::First,
    }
}

/// Returns true for rewards.
pub(super) const fn learns(request: &Request) -> bool {
    matches!(request, Request::Feedback { .. } | Request::Observe { .. })
}

/// Maximum number of default scores of a request.
pub(super) const SCORES: usize = if cfg!(feature = "defaults") { MAX_DEFAULTS } else { 0 };

/// Reads context and feasible set of a request to decide.
#[inline(never)]
pub(super) fn read_terms<T: Scalar>(
    user: &User<'_, T>,
    context: &WireContext,
    payload: &[u8],
    defaults: &mut Defaults<SCORES>,
) -> Result<(Context, Feasible), Fault> {
    let catalog = user.policy().catalog();
    // The words of a feasible set are shorter than the scores.
    if SCORES == 0 && catalog.actions() > 1 && payload.len() >= 4 * catalog.actions() {
        return Err(UserError::Unsupported.into());
    }
    let set = if SCORES == 0 { payload } else { read_defaults(catalog, payload, defaults)? };
    Ok((context.context(catalog)?, read_feasible(catalog, user.state(), set)?))
}

/// Writes the command of another request to its place.
///
/// A command is large. This function writes it in place and has a stack frame of its own.
#[inline(never)]
pub(super) fn read_command<'c, T: Scalar>(
    user: &User<'_, T>,
    request: &Request,
    payload: &[u8],
    place: &'c mut Option<Context>,
    command: &mut Command<'c>,
) -> Result<(), Fault> {
    let catalog = user.policy().catalog();
    *command = match request {
        // Refused here, so that the image has no code for it.
        Request::Onboard { .. } if !cfg!(feature = "onboard") => return Err(UserError::Unsupported.into()),
        Request::Observe { .. } if !cfg!(feature = "observe") => return Err(UserError::Unsupported.into()),
        Request::Unlearn { .. } if !cfg!(feature = "unlearn") => return Err(UserError::Unsupported.into()),
        Request::Onboard { response, precision } => {
            Command::event(Event::Onboarding(read_statement(catalog, *response, *precision, payload)?))
        }
        Request::Feedback { incarnation, round, reward, weight, time } => {
            let id = DecisionId { incarnation: *incarnation, ..user.id(*round) };
            Command::feedback(id, *reward).weighted(*weight).at(*time)
        }
        Request::Observe { context, action, reward, weight } => {
            let context = place.insert(context.context(catalog)?);
            Command::observe(context, Action(*action), *reward).weighted(*weight)
        }
        Request::Unlearn { context, action, baseline, reward, weight, imputed, kept, probed } => {
            let (context, action) = (context.context(catalog)?, Action(*action));
            let (baseline, reward, weight) = (*baseline, *reward, *weight);
            let (observation, probed) =
                (Observation { context, action, baseline, reward, weight }, ContrastSet::from_words(*probed));
            Command::unlearn(observation, *imputed, *kept, probed)
        }
        Request::Promote { time } => Command::promote(*time),
        Request::Expire { time } => Command::expire(*time),
        Request::UserRule { code, stands } => {
            Command::event(Event::UserRule { code: *code, stands: *stands })
        }
        _ => Command::forget(),
    };
    Ok(())
}
