//! Everything again from the beginning, in the order of time.

use super::super::{Event, Observation, Promotion, RemoteChange, RemoteEvent, User, UserError};
use super::{JournalReader, MergeError, fades};
use crate::catalog::score::Scalar;
use alloc::vec::Vec;

/// An event of a woven journal, and its position in the journal of this place if it stands there.
#[derive(Clone, Debug, PartialEq)]
pub struct Interleaved {
    /// The event.
    pub event: Event,
    /// Where it was.
    pub position: Option<usize>,
}

/// One place in the order.
struct Strand {
    key: (u32, u32, u32),
    woven: Interleaved,
}

/// A reward in the woven journal.
struct Learned {
    observation: Observation,
    imputed: bool,
    kept: f32,
}

/// Goes through everything again from the beginning of an incarnation, in the order of time: the journal of this place since then,
/// and news. The user is as at the beginning, and in the end knows all of it; every event is handed out before it is applied.
///
/// # Errors
/// Settings under which nothing fades, a user with whom something has happened already, or an event that does not fit: the user is no longer at the beginning then.
pub fn merge_in_order<T: Scalar>(
    user: &mut User<'_, T>,
    journal: &[Event],
    news: &[RemoteEvent],
    mut hand: impl FnMut(&Interleaved),
) -> Result<(), MergeError> {
    if !fades(user.policy.settings()) {
        return Err(MergeError::Fading);
    }
    let begun =
        user.state().merged().fold(user.state().events(), |sum, (_, events)| sum.saturating_add(events));
    if begun > 0 {
        return Err(MergeError::Beginning { events: begun });
    }
    let (mut learned, mut late): (Vec<Learned>, Vec<Interleaved>) = (Vec::new(), Vec::new());
    for Strand { woven, .. } in order(user, journal, news) {
        let Some(woven) = fit(user, woven, &learned) else { continue };
        // What this place took back of another's, before it was learned by this order, waits for it.
        if let Event::Unlearn { observation, imputed, .. } = &woven.event
            && find(&learned, observation, *imputed).is_none()
        {
            late.push(woven);
            continue;
        }
        happen(user, &woven, &mut learned, &mut hand)?;
        for woven in core::mem::take(&mut late) {
            let ready = taken_back(&woven.event)
                .is_some_and(|(taken, imputed)| find(&learned, taken, imputed).is_some());
            match ready.then(|| fit(user, woven.clone(), &learned)) {
                Some(Some(woven)) => happen(user, &woven, &mut learned, &mut hand)?,
                Some(None) => {}
                None => late.push(woven),
            }
        }
    }
    if late.is_empty() { Ok(()) } else { Err(UserError::NotLearned.into()) }
}

/// Everything by (time, place, event). Fadings by the rule are left out: they are made anew.
fn order<T: Scalar>(user: &User<'_, T>, journal: &[Event], news: &[RemoteEvent]) -> Vec<Strand> {
    let mut teller = JournalReader::new(user);
    for event in journal {
        teller.take(event);
    }
    let recorded = teller.telling.site;
    let place = teller.finish().site;
    let mut strands = Vec::with_capacity(journal.len() + news.len() + 1);
    if recorded != place {
        let woven = Interleaved { event: Event::Site { site: place }, position: None };
        strands.push(Strand { key: (0, 0, 0), woven });
    }
    let (mut clock, mut number, mut rewarded) = (0_u32, 0_u32, false);
    for (position, event) in journal.iter().enumerate() {
        let key = match event {
            Event::Remote(told) if told.site != place => (told.time, told.site, told.to),
            event => {
                if let Event::Decision { time, .. }
                | Event::Promotion(Promotion { time, .. })
                | Event::Remote(RemoteEvent { time, .. }) = event
                {
                    clock = clock.max(*time);
                }
                number += 1;
                (clock, place, number)
            }
        };
        if !(rewarded && matches!(event, Event::Fade { .. })) {
            strands
                .push(Strand { key, woven: Interleaved { event: event.clone(), position: Some(position) } });
        }
        rewarded = is_reward(event);
    }
    strands.extend(news.iter().map(|told| {
        let (key, event) = ((told.time, told.site, told.to), Event::Remote(told.clone()));
        Strand { key, woven: Interleaved { event, position: None } }
    }));
    strands.sort_by_key(|strand| strand.key);
    strands
}

/// Whether fading is looked for after an event.
const fn is_reward(event: &Event) -> bool {
    match event {
        Event::Feedback { .. } | Event::Observation(_) => true,
        Event::Remote(told) => matches!(told.deed, RemoteChange::Reward { imputed: false, .. }),
        _ => false,
    }
}

/// What an event takes back.
const fn taken_back(event: &Event) -> Option<(&Observation, bool)> {
    match event {
        Event::Unlearn { observation, imputed, .. }
        | Event::Remote(RemoteEvent { deed: RemoteChange::Unlearned { observation, imputed, .. }, .. }) => {
            Some((observation, *imputed))
        }
        _ => None,
    }
}

fn find(learned: &[Learned], observation: &Observation, imputed: bool) -> Option<usize> {
    learned.iter().rposition(|learned| learned.observation == *observation && learned.imputed == imputed)
}

/// The event as it is in this order: what is taken back is what is left here, and a promotion stands for itself. `None` when
/// nothing is left to take back.
fn fit<T: Scalar>(user: &User<'_, T>, mut woven: Interleaved, learned: &[Learned]) -> Option<Interleaved> {
    let left =
        taken_back(&woven.event).and_then(|(observation, imputed)| find(learned, observation, imputed));
    let left = left.and_then(|place| learned.get(place)).map(|learned| learned.kept);
    match &mut woven.event {
        Event::Unlearn { kept, .. } => *kept = left.unwrap_or(*kept),
        Event::Remote(told) => {
            if let RemoteChange::Unlearned { kept, .. } = &mut told.deed {
                *kept = left.unwrap_or(*kept);
            }
            if left.is_some_and(|left| left < 1e-6) {
                told.deed = RemoteChange::Nothing;
                return Some(woven);
            }
            if told.site == user.state().site() {
                (told.from, told.to) = (user.state().events(), user.state().events().saturating_add(1));
            }
        }
        Event::Promotion(promotion) => {
            let (site, from, time) = (user.state().site(), user.state().events(), promotion.time);
            let deed = RemoteChange::Promoted(*promotion);
            woven.event = Event::Remote(RemoteEvent { site, from, to: from.saturating_add(1), time, deed });
        }
        _ => {}
    }
    left.is_none_or(|left| left >= 1e-6).then_some(woven)
}

/// Lets an event happen, and the fading that it leads to.
fn happen<T: Scalar>(
    user: &mut User<'_, T>,
    woven: &Interleaved,
    learned: &mut Vec<Learned>,
    hand: &mut impl FnMut(&Interleaved),
) -> Result<(), UserError> {
    let rewarded = match &woven.event {
        Event::Feedback { round, reward, weight } => Some((*round, *reward, *weight, false)),
        Event::Expiry { round, imputed: Some(reward) } => Some((*round, *reward, 1.0, true)),
        _ => None,
    };
    let observed = match &woven.event {
        Event::Observation(observation) => Some((*observation, false)),
        Event::Remote(RemoteEvent { deed: RemoteChange::Reward { observation, imputed, .. }, .. }) => {
            Some((*observation, *imputed))
        }
        _ => rewarded.and_then(|(round, reward, weight, imputed)| {
            let pending = user.memory.view().settled_or_waiting(round).ok()?;
            let (context, action, baseline) = (pending.context, pending.action, pending.baseline.to_f64());
            Some((Observation { context, action, baseline, reward, weight }, imputed))
        }),
    };
    let taken =
        taken_back(&woven.event).and_then(|(observation, imputed)| find(learned, observation, imputed));
    apply(user, woven, learned, hand)?;
    if let Some(place) = taken {
        learned.remove(place);
    }
    learned.extend(observed.map(|(observation, imputed)| Learned { observation, imputed, kept: 1.0 }));
    while is_reward(&woven.event)
        && let Some(keep) = user.fading_due()
    {
        apply(user, &Interleaved { event: Event::Fade { keep }, position: None }, learned, hand)?;
    }
    Ok(())
}

fn apply<T: Scalar>(
    user: &mut User<'_, T>,
    woven: &Interleaved,
    learned: &mut [Learned],
    hand: &mut impl FnMut(&Interleaved),
) -> Result<(), UserError> {
    let step = user.check(&woven.event)?;
    hand(woven);
    step.apply();
    if let Event::Fade { keep } = woven.event {
        for learned in learned {
            learned.kept *= keep;
        }
    }
    Ok(())
}
