//! Replays the events of all sites from the beginning, in the order of time.

use super::{JournalReader, MergeError};
use fable_core::journal::{Event, Observation, RemoteChange, RemoteEvent};
use fable_core::{Promotion, Scalar, User, UserError};

/// Observations with a smaller share left cannot be unlearned.
const MIN_KEPT: f32 = 1e-6;

/// An event of a merged journal.
#[derive(Clone, Debug, PartialEq)]
pub struct Interleaved {
    /// The event.
    pub event: Event,
    /// Index of the event in the journal of this site; `None` if it is not there.
    pub position: Option<usize>,
}

/// An event with its sort key: time, site, event number.
struct Entry {
    key: (u32, u32, u32),
    event: Interleaved,
}

/// A learned reward and the share of it that fadings have left.
struct Learned {
    observation: Observation,
    imputed: bool,
    kept: f32,
}

/// Merges the journal of this site with remote events, in the order of time, from the beginning of an
/// incarnation.
///
/// The user must be in the state at the beginning. Each event goes to `emit` before it is applied. Afterwards
/// the user knows all events.
///
/// # Errors
/// Settings without fading, a user who already has events, or an event that does not fit. After an event that
/// does not fit, the user is no longer in the state at the beginning.
pub fn merge_in_order<T: Scalar>(
    user: &mut User<'_, T>,
    journal: &[Event],
    missing: &[RemoteEvent],
    mut emit: impl FnMut(&Interleaved),
) -> Result<(), MergeError> {
    if !user.policy().settings().fades() {
        return Err(MergeError::Fading);
    }
    let events =
        user.state().merged().fold(user.state().events(), |sum, (_, events)| sum.saturating_add(events));
    if events > 0 {
        return Err(MergeError::Beginning { events });
    }
    let (mut learned, mut delayed): (Vec<Learned>, Vec<Interleaved>) = (Vec::new(), Vec::new());
    for Entry { event, .. } in sorted(user, journal, missing) {
        let Some(event) = adapt(user, event, &learned) else { continue };
        // This site may have unlearned a remote reward that comes later in this order. The unlearning then
        // waits for it.
        if let Event::Unlearn { observation, imputed, .. } = &event.event
            && find(&learned, observation, *imputed).is_none()
        {
            delayed.push(event);
            continue;
        }
        apply(user, &event, &mut learned, &mut emit)?;
        for event in core::mem::take(&mut delayed) {
            let is_ready = unlearned(&event.event)
                .is_some_and(|(observation, imputed)| find(&learned, observation, imputed).is_some());
            match is_ready.then(|| adapt(user, event.clone(), &learned)) {
                Some(Some(event)) => apply(user, &event, &mut learned, &mut emit)?,
                Some(None) => {}
                None => delayed.push(event),
            }
        }
    }
    if delayed.is_empty() { Ok(()) } else { Err(UserError::NotLearned.into()) }
}

/// All events, sorted by time, site and event number. Leaves out fadings that follow a reward, which are
/// computed again.
fn sorted<T: Scalar>(user: &User<'_, T>, journal: &[Event], missing: &[RemoteEvent]) -> Vec<Entry> {
    let mut reader = JournalReader::new(user);
    for event in journal {
        reader.take(event);
    }
    let recorded = reader.digest.site;
    let own_site = reader.finish().site;
    let mut entries = Vec::with_capacity(journal.len() + missing.len() + 1);
    if recorded != own_site {
        let event = Interleaved { event: Event::Site { site: own_site }, position: None };
        entries.push(Entry { key: (0, 0, 0), event });
    }
    let (mut clock, mut number, mut rewarded) = (0_u32, 0_u32, false);
    for (position, event) in journal.iter().enumerate() {
        let key = match event {
            Event::Remote(remote) if remote.site != own_site => (remote.time, remote.site, remote.to),
            event => {
                if let Event::Decision { time, .. }
                | Event::Promotion(Promotion { time, .. })
                | Event::Remote(RemoteEvent { time, .. }) = event
                {
                    clock = clock.max(*time);
                }
                number += 1;
                (clock, own_site, number)
            }
        };
        if !(rewarded && matches!(event, Event::Fade { .. })) {
            let event = Interleaved { event: event.clone(), position: Some(position) };
            entries.push(Entry { key, event });
        }
        rewarded = is_reward(event);
    }
    entries.extend(missing.iter().map(|remote| {
        let event = Interleaved { event: Event::Remote(remote.clone()), position: None };
        Entry { key: (remote.time, remote.site, remote.to), event }
    }));
    entries.sort_by_key(|entry| entry.key);
    entries
}

/// True if fading may be due after this event.
const fn is_reward(event: &Event) -> bool {
    match event {
        Event::Feedback { .. } | Event::Observation(_) => true,
        Event::Remote(remote) => matches!(remote.change, RemoteChange::Reward { imputed: false, .. }),
        _ => false,
    }
}

/// The observation that an event unlearns, and true if its reward was imputed.
const fn unlearned(event: &Event) -> Option<(&Observation, bool)> {
    match event {
        Event::Unlearn { observation, imputed, .. }
        | Event::Remote(RemoteEvent {
            change: RemoteChange::Unlearned { observation, imputed, .. }, ..
        }) => Some((observation, *imputed)),
        _ => None,
    }
}

fn find(learned: &[Learned], observation: &Observation, imputed: bool) -> Option<usize> {
    learned.iter().rposition(|learned| learned.observation == *observation && learned.imputed == imputed)
}

/// Adapts an event to this order. `None` if an unlearning has nothing left to take back.
///
/// An unlearning takes back the share that is left here. A promotion becomes a remote event, which is
/// complete in itself.
fn adapt<T: Scalar>(user: &User<'_, T>, mut event: Interleaved, learned: &[Learned]) -> Option<Interleaved> {
    let index =
        unlearned(&event.event).and_then(|(observation, imputed)| find(learned, observation, imputed));
    let left = index.and_then(|index| learned.get(index)).map(|learned| learned.kept);
    match &mut event.event {
        Event::Unlearn { kept, .. } => *kept = left.unwrap_or(*kept),
        Event::Remote(remote) => {
            if let RemoteChange::Unlearned { kept, .. } = &mut remote.change {
                *kept = left.unwrap_or(*kept);
            }
            if left.is_some_and(|left| left < MIN_KEPT) {
                remote.change = RemoteChange::Nothing;
                return Some(event);
            }
            if remote.site == user.state().site() {
                (remote.from, remote.to) = (user.state().events(), user.state().events().saturating_add(1));
            }
        }
        Event::Promotion(promotion) => {
            let (site, from, time) = (user.state().site(), user.state().events(), promotion.time);
            let change = RemoteChange::Promoted(*promotion);
            event.event = Event::Remote(RemoteEvent { site, from, to: from.saturating_add(1), time, change });
        }
        _ => {}
    }
    left.is_none_or(|left| left >= MIN_KEPT).then_some(event)
}

/// Applies an event and the fadings that are due after it.
fn apply<T: Scalar>(
    user: &mut User<'_, T>,
    event: &Interleaved,
    learned: &mut Vec<Learned>,
    emit: &mut impl FnMut(&Interleaved),
) -> Result<(), UserError> {
    let rewarded = match &event.event {
        Event::Feedback { round, reward, weight } => Some((*round, *reward, *weight, false)),
        Event::Expiry { round, imputed: Some(reward) } => Some((*round, *reward, 1.0, true)),
        _ => None,
    };
    let observed = match &event.event {
        Event::Observation(observation) => Some((*observation, false)),
        Event::Remote(RemoteEvent { change: RemoteChange::Reward { observation, imputed, .. }, .. }) => {
            Some((*observation, *imputed))
        }
        _ => rewarded.and_then(|(round, reward, weight, imputed)| {
            let decided = user.kept_decisions().find(|decided| decided.round == round)?;
            Some((decided.observation(reward, weight), imputed))
        }),
    };
    let removed =
        unlearned(&event.event).and_then(|(observation, imputed)| find(learned, observation, imputed));
    apply_one(user, event, learned, emit)?;
    if let Some(index) = removed {
        learned.remove(index);
    }
    learned.extend(observed.map(|(observation, imputed)| Learned { observation, imputed, kept: 1.0 }));
    while is_reward(&event.event)
        && let Some(keep) = user.fading_due()
    {
        apply_one(user, &Interleaved { event: Event::Fade { keep }, position: None }, learned, emit)?;
    }
    Ok(())
}

fn apply_one<T: Scalar>(
    user: &mut User<'_, T>,
    event: &Interleaved,
    learned: &mut [Learned],
    emit: &mut impl FnMut(&Interleaved),
) -> Result<(), UserError> {
    let step = user.check(&event.event)?;
    emit(event);
    step.apply();
    if let Event::Fade { keep } = event.event {
        for learned in learned {
            learned.kept *= keep;
        }
    }
    Ok(())
}
