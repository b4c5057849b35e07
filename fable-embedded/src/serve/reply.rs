//! Replies: to questions, and the frames of all replies.

use super::guard::ReplySeal;
use crate::reply_cache::Acknowledgement;
use fable_core::explain::{Explanation, Share};
use fable_core::preference::{Comparison, ProbeOutcomes};
use fable_core::{Action, DecisionId, Scalar, User, UserError, record};
use fable_wire::{
    Draft, Fault, Hello, MAX_FRAME, Reply, Request, Statistics, StoreUsage, VERSION, WireShare,
};

/// Returns the reply to a request that changes something. The probes of a decision are read from the user.
fn acknowledge<T: Scalar>(reply: Acknowledgement, user: &User<'_, T>) -> Reply {
    match reply {
        Acknowledgement::Done { count } => Reply::Done { count },
        Acknowledgement::Restored => Reply::Done { count: user.state().rounds() },
        Acknowledgement::Decided { round, action, baseline } => {
            let mut probes = ProbeOutcomes::new();
            for probe in user.probe_outcomes(user.id(round)) {
                let _ = probes.push(probe); // at most one for each component
            }
            Reply::Decided { round, action, baseline, probes }
        }
    }
}

/// The rest of the work after a request was read. Replies with a payload are written over the bytes of the
/// request.
pub(super) enum Answer {
    Reply(Reply),
    Acknowledged(Acknowledgement),
    Hello,
    Explanation { id: DecisionId, other: Option<Action>, first: u16 },
    Chunk { offset: u32 },
    Prior { next: bool, offset: u32 },
    Event { index: u32 },
}

#[inline(never)]
pub(super) fn statistics<T: Scalar>(
    user: &User<'_, T>,
    [answered, refused]: [u32; 2],
    store: StoreUsage,
) -> Reply {
    Reply::Statistics(Statistics {
        rounds: user.state().rounds(),
        observations: user.state().observations(),
        waiting: short(user.waiting(0).count()),
        promotions: short(user.profile().len()),
        answered,
        refused,
        store,
    })
}

/// Writes the frame of a reply that needs nothing from the store.
#[inline(never)]
pub(super) fn write<T: Scalar>(
    user: &mut User<'_, T>,
    buffer: &mut [u8; MAX_FRAME],
    (sequence, reply_seal): (u32, ReplySeal),
    answer: Answer,
) -> Result<usize, Fault> {
    let draft = match answer {
        Answer::Reply(reply) => Draft::reply(buffer, sequence, &reply),
        Answer::Acknowledged(reply) => Draft::reply(buffer, sequence, &acknowledge(reply, user)),
        Answer::Explanation { id, other, first } if cfg!(feature = "explain") => {
            return write_explanation(user, buffer, (sequence, reply_seal), (id, other), first);
        }
        // Hello. Other replies are written elsewhere.
        _ => {
            let mut draft = Draft::reply(buffer, sequence, &Reply::Hello(hello(user)));
            draft.push(user.policy().catalog().definition().name.as_bytes());
            draft
        }
    };
    Ok(seal(draft, 0, reply_seal))
}

#[inline(never)]
fn write_explanation<T: Scalar>(
    user: &mut User<'_, T>,
    buffer: &mut [u8; MAX_FRAME],
    (sequence, reply_seal): (u32, ReplySeal),
    (id, other): (DecisionId, Option<Action>),
    first: u16,
) -> Result<usize, Fault> {
    let explanation = user.explain(id, None, other)?;
    let mut draft = Draft::reply(buffer, sequence, &summary(&explanation));
    let mut place = 0;
    each_share(&explanation, &mut |share| {
        place += 1;
        place <= first || draft.push_share(&WireShare::new(share))
    });
    Ok(seal(draft, 0, reply_seal))
}

/// Passes the shares to `take` one after the other, until it returns false. This is the only place that
/// computes shares.
#[inline(never)]
fn each_share<T: Scalar>(explanation: &Explanation<'_, T>, take: &mut dyn FnMut(&Share) -> bool) {
    let _ = explanation.shares().all(|share| take(&share));
}

/// Answers a request that changes nothing.
#[inline(never)]
pub(super) fn question<T: Scalar>(user: &mut User<'_, T>, request: &Request) -> Result<Answer, Fault> {
    let catalog = user.policy().catalog();
    let comparison = match request {
        Request::Explain { .. } if !cfg!(feature = "explain") => return Err(UserError::Unsupported.into()),
        Request::Explain { incarnation, round, other, first } => {
            let id = DecisionId { incarnation: *incarnation, ..user.id(*round) };
            return Ok(Answer::Explanation { id, other: other.map(Action), first: *first });
        }
        Request::Profile { .. } | Request::Assess { .. } | Request::Compare { .. }
            if !cfg!(feature = "promote") =>
        {
            return Err(UserError::Unsupported.into());
        }
        Request::Trial { .. } if !cfg!(feature = "probes") => return Err(UserError::Unsupported.into()),
        Request::Profile { index } => {
            let count = short(user.profile().len());
            let entry = match user.profile().get(usize::from(*index)).copied() {
                Some(promotion) => Some((promotion, user.standing(&promotion)?)),
                None if *index == 0 => None,
                None => return Err(Fault::Missing),
            };
            return Ok(Answer::Reply(Reply::Promotion { count, entry }));
        }
        Request::Trial { contrast } => {
            let contrast = usize::from(*contrast);
            catalog.contrasts().get(contrast).ok_or(Fault::Missing)?;
            return Ok(Answer::Reply(Reply::Trial(user.trial(contrast)?)));
        }
        Request::Snapshot { offset } => return Ok(Answer::Chunk { offset: *offset }),
        Request::Prior { next, offset } => return Ok(Answer::Prior { next: *next, offset: *offset }),
        Request::Open { .. } => return Err(Fault::Keyless),
        Request::Event { index } => return Ok(Answer::Event { index: *index }),
        Request::Assess { contrast } => {
            Comparison::declared(catalog, usize::from(*contrast)).ok_or(Fault::Missing)?
        }
        Request::Compare { context, prefer, over, total } => {
            let (context, prefer, over) = (context.context(catalog)?, Action(*prefer), Action(*over));
            Comparison { context, prefer, over, total: *total }
        }
        _ => return Ok(Answer::Hello),
    };
    Ok(Answer::Reply(Reply::Assessment(user.assess(&comparison)?)))
}

/// Finishes a frame after `count` bytes were written to its payload. Returns the length of the frame.
#[inline(never)]
pub(super) fn seal(mut draft: Draft<'_>, count: usize, reply_seal: ReplySeal) -> usize {
    draft.extend(count);
    reply_seal.seal(draft).len()
}

fn hello<T: Scalar>(user: &User<'_, T>) -> Hello {
    let policy = user.policy();
    let catalog = policy.catalog();
    let definition = catalog.definition();
    let byte = |count: usize| u8::try_from(count).unwrap_or(u8::MAX);
    Hello {
        protocol: VERSION,
        record: record::VERSION,
        fingerprint: policy.fingerprint(),
        guarantee_fingerprint: policy.guarantee_fingerprint(),
        catalog: catalog.fingerprint(),
        digits: byte(T::DIGITS as usize),
        actions: short(catalog.actions()),
        dimension: short(catalog.dimension()),
        tasks: byte(definition.tasks.len()),
        signals: byte(definition.signals.len()),
        contrasts: byte(definition.contrasts.len()),
        ring: short(user.capacity()),
        user: user.state().user(),
        incarnation: user.state().incarnation(),
        site: user.site(),
        rounds: user.state().rounds(),
        observations: user.state().observations(),
    }
}

fn summary<T: Scalar>(explanation: &Explanation<'_, T>) -> Reply {
    let mut shares = 0;
    each_share(explanation, &mut |_| {
        shares += 1;
        true
    });
    Reply::Explanation {
        chosen: explanation.chosen.0,
        intended: explanation.intended.0,
        probed: *explanation.probed.words(),
        other: explanation.other.0,
        feasible: explanation.feasible,
        explored: explanation.explored,
        chosen_score: explanation.chosen_score as f32,
        other_score: explanation.other_score as f32,
        shares,
    }
}

pub(super) fn short(count: usize) -> u16 {
    u16::try_from(count).unwrap_or(u16::MAX)
}
