//! What a device is asked: frames, and the commands that requests to change something become.

use super::guard::{Guard, Stamp};
use fable_core::catalog::ContrastSet;
use fable_core::journal::{Command, Event, Observation};
use fable_core::{Action, Context, DecisionId, Feasible, Scalar, User, UserError};
use fable_wire::{
    Defaults, Fault, Frame, MAX_DEFAULTS, MAX_FRAME, Request, WireContext, read_defaults, read_feasible,
    read_statement,
};

/// What stood before a delimiter.
pub(super) enum Received<'b> {
    Nothing,
    Refused { sequence: u32, stamp: Stamp, fault: Fault },
    Request { sequence: u32, stamp: Stamp, ticket: u32, request: Request, payload: &'b [u8] },
}

#[inline(never)]
pub(super) fn receive<'b>(
    buffer: &'b mut [u8; MAX_FRAME],
    filled: usize,
    oversized: bool,
    guard: &mut Guard,
) -> Received<'b> {
    let refused = |fault| Received::Refused { sequence: 0, stamp: Stamp::NONE, fault };
    if oversized {
        return refused(Fault::Oversized);
    }
    let frame = match Frame::open(buffer.get_mut(..filled).unwrap_or_default()) {
        Ok(frame) if frame.is_reply() => return Received::Nothing,
        Ok(frame) => frame,
        Err(fault) => return refused(fault),
    };
    let Frame { sequence, request_id: ticket, .. } = frame;
    let request = frame.request();
    match guard
        .admit(&frame, request.as_ref().is_ok_and(|(request, _)| matches!(request, Request::Open { .. })))
    {
        Err(fault) => Received::Refused { sequence, stamp: Stamp::NONE, fault },
        Ok(stamp) => match request {
            Ok((request, payload)) => Received::Request { sequence, stamp, ticket, request, payload },
            Err(fault) => Received::Refused { sequence, stamp, fault },
        },
    }
}

/// Whether a request is a command, other than to decide.
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

/// Whether a request writes to storage.
pub(super) const fn writes(request: &Request) -> bool {
    use Request::{Commit, CommitPrior, Decide, Stage};
    changes(request) || matches!(request, Decide { .. } | Stage { .. } | Commit { .. } | CommitPrior { .. })
}

/// Whether a request erases at once, whatever else it does.
pub(super) const fn erases(request: &Request) -> bool {
    matches!(request, Request::Forget | Request::Stage { offset: 0 } | Request::CommitPrior { length: 0 })
}

/// Whether a request is a reward.
pub(super) const fn learns(request: &Request) -> bool {
    matches!(request, Request::Feedback { .. } | Request::Observe { .. })
}

/// Default scores of the caller's own that a request can have.
pub(super) const SCORES: usize = if cfg!(feature = "defaults") { MAX_DEFAULTS } else { 0 };

/// What a request to decide asks for.
#[inline(never)]
pub(super) fn read_terms<T: Scalar>(
    user: &User<'_, T>,
    context: &WireContext,
    payload: &[u8],
    defaults: &mut Defaults<SCORES>,
) -> Result<(Context, Feasible), Fault> {
    let catalog = user.policy().catalog();
    // A set of so many actions has fewer words than that.
    if SCORES == 0 && catalog.actions() > 1 && payload.len() >= 4 * catalog.actions() {
        return Err(UserError::Unsupported.into());
    }
    let set = if SCORES == 0 { payload } else { read_defaults(catalog, payload, defaults)? };
    Ok((context.context(catalog)?, read_feasible(catalog, user.state(), set)?))
}

/// Puts the command of another request into its place.
///
/// A command is large, so it is written where it stays, and what makes one has a stack frame of its own.
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
        // Refused here, so that nothing of it is in the image.
        Request::Onboard { .. } if !cfg!(feature = "onboard") => return Err(UserError::Unsupported.into()),
        Request::Observe { .. } if !cfg!(feature = "observe") => return Err(UserError::Unsupported.into()),
        Request::Unlearn { .. } if !cfg!(feature = "unlearn") => return Err(UserError::Unsupported.into()),
        Request::Onboard { response, precision } => {
            Command::event(Event::Onboarding(read_statement(catalog, *response, *precision, payload)?))
        }
        Request::Feedback { incarnation, round, reward, weight, time: now } => {
            let id = DecisionId { incarnation: *incarnation, ..user.id(*round) };
            Command::feedback(id, *reward).weighted(*weight).at(*now)
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
        Request::Promote { time: at } => Command::promote(*at),
        Request::Expire { time: now } => Command::expire(*now),
        Request::UserRule { code, stands } => {
            Command::event(Event::UserRule { code: *code, stands: *stands })
        }
        _ => Command::forget(),
    };
    Ok(())
}
