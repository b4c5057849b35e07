//! One event as bytes; see the table in the [module](super).

use super::wire::{Input, Output};
use super::{CRC_16, RecordError};
use crate::catalog::{Action, ActionSet, Catalog, ContrastSet, Direction, Statement};
use crate::user::{Event, Observation, Probe, Probes};
use crate::user::{RemoteChange, RemoteEvent};

/// The longest event: a statement over 24 coordinates.
pub const MAX_EVENT_LEN: usize = 260;

/// The longest remote event: a statement, with its site and counts.
pub const MAX_REMOTE_LEN: usize = 280;

/// Bytes of the checksum.
const SUM: usize = 2;

/// Writes an event into a buffer. The result is the used part. [`MAX_EVENT_LEN`] bytes are always enough.
///
/// # Errors
/// A buffer that is too small, or an event of a feature that this build leaves out.
#[inline(never)]
pub fn encode_event<'b>(event: &Event, buffer: &'b mut [u8]) -> Result<&'b [u8], RecordError> {
    let mut out = Output::new(buffer);
    match event {
        // Builds without the feature have no such events, and no code for them.
        Event::Onboarding(_) if !cfg!(feature = "onboard") => return Err(RecordError::Unsupported),
        Event::Observation(_) if !cfg!(feature = "observe") => return Err(RecordError::Unsupported),
        Event::Unlearn { .. } if !cfg!(feature = "unlearn") => return Err(RecordError::Unsupported),
        Event::Promotion(_) if !cfg!(feature = "promote") => return Err(RecordError::Unsupported),
        Event::Fade { .. } if !cfg!(feature = "adapt") => return Err(RecordError::Unsupported),
        Event::UserRule { .. } if !cfg!(feature = "rules") => return Err(RecordError::Unsupported),
        Event::Remote(_) if !cfg!(feature = "alloc") => return Err(RecordError::Unsupported),
        Event::Decision { probes, .. } if !cfg!(feature = "probes") && !probes.is_empty() => {
            return Err(RecordError::Unsupported);
        }
        Event::Permissions(set) => {
            out.byte(0);
            out.varint(u32::try_from(set.used_words().len()).unwrap_or(0));
            for word in set.used_words() {
                out.varint(*word);
            }
        }
        Event::Onboarding(statement) => {
            out.byte(1);
            put_statement(&mut out, statement);
        }
        Event::Decision { round, action, baseline, context, time, probes } => {
            out.byte(if probes.is_empty() { 2 } else { 11 });
            out.u32(*round);
            out.varint(action.0.into());
            out.f64(*baseline);
            out.context(context);
            out.u32(*time);
            if cfg!(feature = "probes") && !probes.is_empty() {
                put_probes(&mut out, probes);
            }
        }
        Event::Feedback { round, reward, weight } => {
            out.byte(if *weight == 1.0 { 3 } else { 4 });
            out.u32(*round);
            out.f64(*reward);
            if *weight != 1.0 {
                out.f32(*weight);
            }
        }
        Event::Observation(observation) => {
            out.byte(5);
            out.observation(observation);
        }
        Event::Unlearn { observation, imputed, kept, probed } => {
            out.byte(6);
            put_unlearning(&mut out, observation, *imputed, *kept, probed);
        }
        Event::Expiry { round, imputed } => {
            out.byte(7);
            out.u32(*round);
            out.byte(imputed.is_some().into());
            if let Some(reward) = imputed {
                out.f64(*reward);
            }
        }
        Event::Promotion(promotion) => {
            out.byte(8);
            out.promotion(promotion);
        }
        Event::Forget { guarantee_fingerprint } => {
            out.byte(9);
            out.u32(*guarantee_fingerprint);
        }
        Event::Fade { keep } => {
            out.byte(10);
            out.f32(*keep);
        }
        Event::Site { site } => {
            out.byte(12);
            out.varint(*site);
        }
        Event::UserRule { code, stands } => {
            out.byte(14);
            out.varint(*code);
            out.byte((*stands).into());
        }
        Event::Remote(remote) => {
            out.byte(13);
            put_remote(&mut out, remote);
        }
    }
    let length = out.written().ok_or(RecordError::Buffer)?;
    let sum = CRC_16.checksum(buffer.get(..length).unwrap_or_default()).to_le_bytes();
    let whole = buffer.get_mut(..length + SUM).ok_or(RecordError::Buffer)?;
    for (slot, byte) in whole.iter_mut().skip(length).zip(sum) {
        *slot = byte;
    }
    Ok(whole)
}

fn put_statement(out: &mut Output<'_>, statement: &Statement) {
    let Statement { direction, response, precision } = statement;
    out.varint(u32::try_from(direction.raw().len()).unwrap_or(0));
    for (coordinate, coefficient) in direction.raw() {
        out.varint(coordinate.into());
        out.f64(coefficient);
    }
    out.f64(*response);
    out.f64(*precision);
}

fn put_probes(out: &mut Output<'_>, probes: &Probes) {
    out.varint(u32::try_from(probes.len()).unwrap_or(0));
    for probe in probes {
        out.byte(probe.contrast);
        out.f32(probe.expected);
    }
}

fn put_unlearning(
    out: &mut Output<'_>,
    observation: &Observation,
    imputed: bool,
    kept: f32,
    probed: &ContrastSet,
) {
    out.observation(observation);
    out.byte(imputed.into());
    out.f32(kept);
    out.contrasts(probed);
}

fn put_remote(out: &mut Output<'_>, remote: &RemoteEvent) {
    let RemoteEvent { site, from, to, time, ref change } = *remote;
    for number in [site, from, to.saturating_sub(from)] {
        out.varint(number);
    }
    out.u32(time);
    match change {
        RemoteChange::Nothing => out.byte(0),
        RemoteChange::Reward { round, observation, imputed, probes } => {
            out.byte(1);
            out.varint(*round);
            out.observation(observation);
            out.byte((*imputed).into());
            put_probes(out, probes);
        }
        RemoteChange::Stated(statement) => {
            out.byte(2);
            put_statement(out, statement);
        }
        RemoteChange::Unlearned { round, observation, imputed, kept, probed } => {
            out.byte(3);
            out.varint(*round);
            put_unlearning(out, observation, *imputed, *kept, probed);
        }
        RemoteChange::Promoted(promotion) => {
            out.byte(4);
            out.promotion(promotion);
        }
    }
}

/// Reads one event, exactly. [`check`](crate::User::check) judges its content.
///
/// # Errors
/// Too few bytes, a wrong checksum, bytes after the end, or a content that no event of this catalog has.
#[inline]
pub fn decode_event(catalog: &Catalog<'_>, bytes: &[u8]) -> Result<Event, RecordError> {
    let mut event = Event::Forget { guarantee_fingerprint: 0 };
    decode_event_into(catalog, bytes, &mut event)?;
    Ok(event)
}

/// Reads one event into `place`, as [`decode_event`] does. An event is large, and a small device has no
/// memory for two. After an error `place` has any event.
///
/// # Errors
/// As for [`decode_event`].
#[inline]
pub fn decode_event_into(catalog: &Catalog<'_>, bytes: &[u8], place: &mut Event) -> Result<(), RecordError> {
    let end = bytes.len().checked_sub(SUM).filter(|end| *end > 0);
    let (body, sum) = end.and_then(|end| bytes.split_at_checked(end)).ok_or(RecordError::Truncated)?;
    if CRC_16.checksum(body).to_le_bytes() != *sum {
        return Err(RecordError::Checksum);
    }
    let mut input = Input::new(body);
    match input.byte() {
        0 => permissions(&mut input, place),
        1 if !cfg!(feature = "onboard") => return Err(RecordError::Unsupported),
        1 => statement(&mut input, catalog, place),
        tag => other(tag, &mut input, catalog, place),
    }?;
    input.end()?;
    if input.rest().is_empty() { Ok(()) } else { Err(RecordError::TooLong) }
}

/// Reads an event other than the two large ones.
#[inline(never)]
fn other(
    tag: u8,
    input: &mut Input<'_>,
    catalog: &Catalog<'_>,
    place: &mut Event,
) -> Result<(), RecordError> {
    *place = match tag {
        5 if !cfg!(feature = "observe") => return Err(RecordError::Unsupported),
        6 if !cfg!(feature = "unlearn") => return Err(RecordError::Unsupported),
        8 if !cfg!(feature = "promote") => return Err(RecordError::Unsupported),
        10 if !cfg!(feature = "adapt") => return Err(RecordError::Unsupported),
        11 if !cfg!(feature = "probes") => return Err(RecordError::Unsupported),
        13 if !cfg!(feature = "alloc") => return Err(RecordError::Unsupported),
        14 if !cfg!(feature = "rules") => return Err(RecordError::Unsupported),
        2 | 11 => Event::Decision {
            round: input.u32(),
            action: Action(input.short()),
            baseline: input.f64(),
            context: input.context(catalog)?,
            time: input.u32(),
            probes: if cfg!(feature = "probes") && tag == 11 { probes(input, 1)? } else { Probes::new() },
        },
        3 => Event::Feedback { round: input.u32(), reward: input.f64(), weight: 1.0 },
        4 => {
            let round = input.u32();
            let reward = input.f64();
            let weight = input.f32();
            if weight == 1.0 {
                return Err(RecordError::Content);
            }
            Event::Feedback { round, reward, weight }
        }
        5 => Event::Observation(input.observation(catalog)?),
        6 => Event::Unlearn {
            observation: input.observation(catalog)?,
            imputed: input.flag(),
            kept: input.f32(),
            probed: input.contrasts(),
        },
        7 => {
            let (round, follows) = (input.u32(), input.flag());
            Event::Expiry { round, imputed: if follows { Some(input.f64()) } else { None } }
        }
        8 => Event::Promotion(input.promotion()),
        9 => Event::Forget { guarantee_fingerprint: input.u32() },
        10 => Event::Fade { keep: input.f32() },
        12 => Event::Site { site: input.varint() },
        14 => Event::UserRule { code: input.varint(), stands: input.flag() },
        13 => Event::Remote(remote(input, catalog)?),
        _ => return Err(RecordError::Content),
    };
    Ok(())
}

/// Reads a remote event.
fn remote(input: &mut Input<'_>, catalog: &Catalog<'_>) -> Result<RemoteEvent, RecordError> {
    let site = input.varint();
    let from = input.varint();
    let more = input.varint();
    let time = input.u32();
    let to = from.checked_add(more).ok_or(RecordError::Content)?;
    let change = match input.byte() {
        0 => RemoteChange::Nothing,
        1 => RemoteChange::Reward {
            round: input.varint(),
            observation: input.observation(catalog)?,
            imputed: input.flag(),
            probes: probes(input, 0)?,
        },
        2 => {
            let mut event = Event::Forget { guarantee_fingerprint: 0 };
            statement(input, catalog, &mut event)?;
            let Event::Onboarding(statement) = event else { return Err(RecordError::Content) };
            RemoteChange::Stated(statement)
        }
        3 => RemoteChange::Unlearned {
            round: input.varint(),
            observation: input.observation(catalog)?,
            imputed: input.flag(),
            kept: input.f32(),
            probed: input.contrasts(),
        },
        4 => RemoteChange::Promoted(input.promotion()),
        _ => return Err(RecordError::Content),
    };
    Ok(RemoteEvent { site, from, to, time, change })
}

/// Reads probes, at least `least` of them.
fn probes(input: &mut Input<'_>, least: usize) -> Result<Probes, RecordError> {
    let count = input.varint();
    let mut probes = Probes::new();
    for _ in 0..count {
        let probe = Probe { contrast: input.byte(), expected: input.f32() };
        probes.push(probe).map_err(|_| RecordError::Content)?;
    }
    if probes.len() < least { Err(RecordError::Content) } else { Ok(probes) }
}

/// Reads a feasible set into `place`.
#[inline(never)]
fn permissions(input: &mut Input<'_>, place: &mut Event) -> Result<(), RecordError> {
    *place = Event::Permissions(ActionSet::EMPTY);
    let Event::Permissions(set) = place else { return Err(RecordError::Content) };
    let (count, mut last) = (usize::try_from(input.varint()).unwrap_or(usize::MAX), 1);
    if count > ActionSet::WORDS {
        return Err(RecordError::Content);
    }
    for index in 0..count {
        last = input.varint();
        set.set_word(index, last);
    }
    if last == 0 { Err(RecordError::Content) } else { Ok(()) }
}

/// Reads a statement into `place`: a sequence of (coordinate, coefficient), the response, the precision.
#[inline(never)]
fn statement(input: &mut Input<'_>, catalog: &Catalog<'_>, place: &mut Event) -> Result<(), RecordError> {
    *place = Event::Onboarding(Statement { direction: Direction::default(), response: 0.0, precision: 0.0 });
    let Event::Onboarding(statement) = place else { return Err(RecordError::Content) };
    for _ in 0..input.varint() {
        let coordinate = input.short();
        statement.direction.push(coordinate, input.f64()).ok_or(RecordError::Content)?;
    }
    (statement.response, statement.precision) = (input.f64(), input.f64());
    statement.direction.check(catalog).map_err(|_| RecordError::Content)
}
