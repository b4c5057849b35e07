//! One user, several places: their journals become one.
//!
//! A [`Teller`] goes along the journal of a place and makes of it what others can learn from, a [`Telling`]: rewards with their context,
//! action and coins, statements, what was taken back, promotions. [`news`] is what one place does not know yet of others, each part
//! an [`Elsewhere`] that is complete in itself and says which events of its place it stands for: nothing is learned twice, and a
//! gap is an error. Decisions without a reward, permissions and fadings of other places teach nothing here.
//!
//! **Without fading** the order of observations does not matter, so the news are appended, and the user is what it would
//! be if everything had happened in one place, to rounding. **With fading** it does matter: [`weave`] goes through everything from the beginning
//! by (time, place, event), where the time of an event is that of the latest decision or promotion before it in its own journal, and
//! fades anew by the method's rule. The result is a journal again, and equals its replay bit for bit.
//!
//! Coins are fair wherever they fall, and each counts with what was expected before it, so the wealth of a contrast is the product over
//! the coins of all places. A promotion stays as it was made; of two places that promoted the same contrast the first in order stays.
//!
//! ```
//! use fable_core::merge::{Teller, news};
//! use fable_core::{Event, Feasible, HostUser, Policy, Request, Settings, catalog::TAU2};
//!
//! let home = Policy::<f32>::new(&TAU2, Settings::default())?;
//! let phone = Policy::<f32>::new(&TAU2, Settings { origin: 1, ..Settings::default() })?;
//! let (mut ana, mut there) = (HostUser::<f32>::new(&home, "ana")?, HostUser::<f32>::new(&phone, "ana")?);
//! let mut tellers = [Teller::new(&ana.user()), Teller::new(&there.user())];
//! let (context, all) = (TAU2.context(None, [])?, Feasible::all(&TAU2));
//! let mut command = fable_core::Command::decide(Request::new(&context, &all));
//! while let Some(step) = there.user().next(&mut command)? {
//!     tellers[1].take(step.event());
//!     step.apply();
//! }
//! let id = command.decision(&there.user()).unwrap().id;
//! assert_eq!((id.origin, id.round), (1, 1));
//! there.feedback(id, 0.5)?;
//! tellers[1].take(&Event::Feedback { round: 1, reward: 0.5, weight: 1.0 });
//!
//! let [here, told] = tellers.map(Teller::finish);
//! for elsewhere in news(&here, &[told])? {
//!     ana.user().check(&Event::Elsewhere(elsewhere))?.apply();
//! }
//! assert_eq!((ana.rounds(), ana.observations(), ana.known_of(1)), (0, 1, 3)); // permissions, decision, feedback
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```

use super::late::Wait;
use super::{Coin, Coins, Deed, Elsewhere, Event, Observation, Promotion, State, User, UserError};
use crate::catalog::{Contrast, score::Scalar};
use crate::policy::Settings;
use alloc::vec::Vec;
use core::fmt;

/// Why journals cannot be merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MergeError {
    /// They are of different users.
    User,
    /// They were written under different catalogs or settings.
    Policy,
    /// One of them is of another incarnation: the user was forgotten in between.
    Incarnation,
    /// Two journals of the same place differ.
    Origin(u32),
    /// Events of a place that nobody has any more.
    Missing {
        /// The place.
        origin: u32,
        /// How many.
        events: u32,
    },
    /// With fading the order counts from the first event on, and so many at the beginning are not there any more.
    Beginning {
        /// How many.
        events: u32,
    },
    /// What is known was faded, and the settings do not say when that is done.
    Fading,
    /// An event does not fit.
    State(UserError),
}

impl fmt::Display for MergeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::User => f.write_str("the journals are of different users"),
            Self::Policy => f.write_str("the journals were written under different catalogs or settings"),
            Self::Incarnation => f.write_str("the journals are of different incarnations: the user was forgotten in between"),
            Self::Origin(origin) => write!(f, "two journals of place {origin} differ; every place needs a number of its own"),
            Self::Missing { origin, events } => {
                write!(f, "{events} events of place {origin} are missing: they became part of a snapshot before they were merged")
            }
            Self::Beginning { events } => {
                write!(f, "what is known fades, so the order counts from the first event on, and the first {events} are not kept")
            }
            Self::Fading => f.write_str("what is known was faded, and the settings here do not say when: half_life or on_change"),
            Self::State(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for MergeError {}

impl From<UserError> for MergeError {
    fn from(error: UserError) -> Self {
        Self::State(error)
    }
}

/// Whether the order of observations matters to users of these settings: what is known fades.
#[must_use]
pub const fn fades(settings: &Settings<'_>) -> bool {
    settings.half_life.is_some() || settings.on_change.keep().is_some()
}

/// What others can learn from a place.
#[derive(Clone, Debug, PartialEq)]
pub struct Telling {
    user: u64,
    fingerprint: u64,
    incarnation: u32,
    /// The place.
    pub origin: u32,
    /// Events before the journal begins, in this incarnation.
    pub first: u32,
    /// Events by its end.
    pub end: u32,
    /// Whether it fades.
    pub faded: bool,
    /// Time at its end.
    clock: u32,
    /// What happened there, with consecutive numbers where something did.
    deeds: Vec<Elsewhere>,
    /// The numbers of its decisions.
    decided: Vec<u32>,
    /// What was known of other places at its beginning.
    before: Vec<(u32, u32)>,
    /// What it was told of other places since.
    others: Vec<Elsewhere>,
}

impl Telling {
    /// Whose it is.
    #[must_use]
    pub const fn user(&self) -> u64 {
        self.user
    }

    /// How often the user had been forgotten.
    #[must_use]
    pub const fn incarnation(&self) -> u32 {
        self.incarnation
    }

    /// Decisions from an event on.
    #[must_use]
    pub fn decisions_from(&self, event: u32) -> usize {
        self.decided.iter().filter(|decided| **decided >= event).count()
    }

    /// What is known of a place at the end.
    #[must_use]
    pub fn known_of(&self, origin: u32) -> u32 {
        let told = self.others.iter().rev().find(|told| told.origin == origin).map(|told| told.to);
        told.unwrap_or_else(|| self.before_of(origin))
    }

    fn before_of(&self, origin: u32) -> u32 {
        self.before.iter().find(|(known, _)| *known == origin).map_or(0, |(_, events)| *events)
    }
}

/// A decision that waits for its reward.
#[derive(Clone, Debug)]
struct Open {
    round: u32,
    observation: Observation,
    coins: Coins,
}

/// Goes along the journal of a place. See the [module](self).
#[derive(Clone, Debug)]
pub struct Teller {
    telling: Telling,
    /// The place that the settings say, until it is recorded.
    place: u32,
    decides: bool,
    open: Vec<Open>,
    /// Rewards that were learned and not taken back, with their rounds.
    learned: Vec<(u32, Observation, bool)>,
}

impl Teller {
    /// At the beginning of a journal.
    #[must_use]
    pub fn new<T: Scalar>(user: &User<'_, T>) -> Self {
        let view = user.memory.view();
        let State { fingerprint, user: hash, incarnation, origin, events, round, .. } = *view.state;
        let component = |coin: &Coin| {
            let contrast = user.policy.catalog().contrasts().get(usize::from(coin.contrast));
            contrast.and_then(Contrast::sides).map(|sides| sides.component)
        };
        let waiting = view.ring().filter(|pending| pending.wait == Wait::Waiting).map(|pending| {
            let mut coins: Coins = user
                .coins(user.id(pending.round))
                .map(|probe| Coin { contrast: probe.contrast, expected: probe.expected })
                .collect();
            coins.sort_unstable_by_key(component);
            let (context, action, baseline) = (pending.context, pending.action, pending.baseline.to_f64());
            Open { round: pending.round, observation: Observation { context, action, baseline, reward: 0.0, weight: 1.0 }, coins }
        });
        let open = waiting.collect();
        let telling = Telling {
            user: hash,
            fingerprint,
            incarnation,
            origin,
            first: events,
            end: events,
            faded: false,
            clock: view.ring().map(|pending| pending.at).max().unwrap_or(0),
            deeds: Vec::new(),
            decided: Vec::new(),
            before: view.state.merged().collect(),
            others: Vec::new(),
        };
        Self { telling, place: user.policy.settings().origin, decides: round > 0, open, learned: Vec::new() }
    }

    /// Takes the next event of the journal.
    pub fn take(&mut self, event: &Event) {
        let deed = match event {
            Event::Origin { origin } => {
                self.telling.origin = *origin;
                return;
            }
            Event::Elsewhere(told) if told.origin != self.telling.origin => return self.telling.others.push(told.clone()),
            Event::Elsewhere(own) => Some(own.deed.clone()),
            Event::Forget { .. } => return self.forget(),
            Event::Permissions(_) => None,
            Event::Fade { .. } => {
                self.telling.faded = true;
                None
            }
            Event::Decision { round, action, baseline, context, at, coins } => {
                self.telling.decided.push(self.telling.end);
                (self.decides, self.telling.clock) = (true, self.telling.clock.max(*at));
                let (context, action, baseline) = (*context, *action, *baseline);
                let observation = Observation { context, action, baseline, reward: 0.0, weight: 1.0 };
                self.open.push(Open { round: *round, observation, coins: coins.clone() });
                None
            }
            Event::Feedback { round, reward, weight } => self.settle(*round, Some((*reward, *weight)), false),
            Event::Expiry { round, imputed } => self.settle(*round, imputed.map(|reward| (reward, 1.0)), true),
            Event::Observation(observation) => {
                self.learned.push((0, *observation, false));
                Some(Deed::Reward { round: 0, observation: *observation, imputed: false, coins: Coins::new() })
            }
            Event::Unlearn { observation, imputed, kept, probed } => {
                let same = |(_, learned, by): &(u32, Observation, bool)| learned == observation && by == imputed;
                let place = self.learned.iter().rposition(same);
                let round = place.map_or(0, |place| self.learned.remove(place).0);
                let (observation, imputed, kept, probed) = (*observation, *imputed, *kept, *probed);
                Some(Deed::Unlearned { round, observation, imputed, kept, probed })
            }
            Event::Onboarding(statement) => Some(Deed::Stated(statement.clone())),
            Event::Promotion(promotion) => {
                self.telling.clock = self.telling.clock.max(promotion.at);
                Some(Deed::Promoted(*promotion))
            }
        };
        let Telling { origin, end, clock, .. } = self.telling;
        self.telling.end = end.saturating_add(1);
        if let Some(deed) = deed {
            self.telling.deeds.push(Elsewhere { origin, from: end, to: self.telling.end, at: clock, deed });
        }
    }

    /// The end of a wait.
    fn settle(&mut self, round: u32, reward: Option<(f64, f32)>, imputed: bool) -> Option<Deed> {
        let place = self.open.iter().position(|open| open.round == round)?;
        let Open { observation, coins, .. } = self.open.remove(place);
        let (reward, weight) = reward?;
        let observation = Observation { reward, weight, ..observation };
        self.learned.push((round, observation, imputed));
        Some(Deed::Reward { round, observation, imputed, coins: if imputed { Coins::new() } else { coins } })
    }

    /// Everything begins anew, in the next incarnation.
    fn forget(&mut self) {
        let Telling { user, fingerprint, incarnation, .. } = self.telling;
        let none = Telling {
            user,
            fingerprint,
            incarnation: incarnation.saturating_add(1),
            origin: 0,
            first: 0,
            end: 0,
            faded: false,
            clock: 0,
            deeds: Vec::new(),
            decided: Vec::new(),
            before: Vec::new(),
            others: Vec::new(),
        };
        (self.telling, self.decides) = (none, false);
        self.open.clear();
        self.learned.clear();
    }

    /// At the end of the journal.
    #[must_use]
    pub fn finish(mut self) -> Telling {
        if self.telling.origin == 0 && !self.decides {
            self.telling.origin = self.place;
        }
        let origin = self.telling.origin;
        self.telling.deeds.iter_mut().for_each(|deed| deed.origin = origin);
        self.telling
    }
}

/// What one journal says about one place.
struct Stream<'t> {
    origin: u32,
    first: u32,
    end: u32,
    clock: u32,
    deeds: Vec<&'t Elsewhere>,
}

impl Telling {
    /// What it says about its own place and about others.
    fn streams(&self) -> Vec<Stream<'_>> {
        let Self { origin, first, end, clock, .. } = *self;
        let mut streams = alloc::vec![Stream { origin, first, end, clock, deeds: self.deeds.iter().collect() }];
        for told in &self.others {
            let place = streams.iter().position(|stream| stream.origin == told.origin).unwrap_or_else(|| {
                let (origin, first) = (told.origin, self.before_of(told.origin));
                streams.push(Stream { origin, first, end: first, clock: 0, deeds: Vec::new() });
                streams.len() - 1
            });
            if let Some(stream) = streams.get_mut(place) {
                (stream.end, stream.clock) = (told.to, told.at);
                if told.deed != Deed::Nothing {
                    stream.deeds.push(told);
                }
            }
        }
        streams
    }
}

/// Whether two journals say the same about an event. How much is left of something depends on where it is taken back, and whose reward it
/// was is not known to a journal that begins after that.
fn agree(one: &Elsewhere, other: &Elsewhere) -> bool {
    let left = |deed: &Deed| match deed.clone() {
        Deed::Unlearned { observation, imputed, probed, .. } => {
            Deed::Unlearned { round: 0, observation, imputed, kept: 1.0, probed }
        }
        deed => deed,
    };
    (one.to, one.at, left(&one.deed)) == (other.to, other.at, left(&other.deed))
}

/// The round of the last such reward that is known and was not taken back; 0 when there is none.
fn rewarded(deeds: &[&Elsewhere], wanted: &Observation, by: bool) -> u32 {
    let taken = |wanted: u32| deeds.iter().any(|told| matches!(told.deed, Deed::Unlearned { round, .. } if round == wanted));
    let found = deeds.iter().rev().find_map(|told| match &told.deed {
        Deed::Reward { round, observation, imputed, .. } if observation == wanted && *imputed == by && !taken(*round) => {
            Some(*round)
        }
        _ => None,
    });
    found.unwrap_or(0)
}

/// What one place does not know yet of others, in an order in which it can be learned there.
///
/// # Errors
/// Journals that do not belong together, or have a gap.
pub fn news(here: &Telling, told: &[Telling]) -> Result<Vec<Elsewhere>, MergeError> {
    // What is known of every place, with what is news.
    let mut known = here.streams();
    let mut news = Vec::new();
    for telling in told {
        if telling.user != here.user {
            return Err(MergeError::User);
        } else if telling.fingerprint != here.fingerprint {
            return Err(MergeError::Policy);
        } else if telling.incarnation != here.incarnation {
            return Err(MergeError::Incarnation);
        }
        for stream in telling.streams() {
            let origin = stream.origin;
            let place = known.iter().position(|known| known.origin == origin).unwrap_or_else(|| {
                let first = here.before_of(origin);
                known.push(Stream { origin, first, end: first, clock: 0, deeds: Vec::new() });
                known.len() - 1
            });
            let Some(mine) = known.get_mut(place) else { continue };
            // Where both speak they say the same.
            let (first, end) = (mine.first.max(stream.first), mine.end.min(stream.end));
            let both = |deed: &&&Elsewhere| deed.to > first && deed.to <= end;
            let (mut ours, mut theirs) = (mine.deeds.iter().filter(both), stream.deeds.iter().filter(both));
            let same = loop {
                match (ours.next(), theirs.next()) {
                    (None, None) => break true,
                    (Some(one), Some(other)) if agree(one, other) => {}
                    _ => break false,
                }
            };
            if !same || (origin == here.origin && stream.end > mine.end) {
                return Err(MergeError::Origin(origin));
            }
            if stream.first > mine.end {
                return Err(MergeError::Missing { origin, events: stream.first - mine.end });
            }
            let before = mine.end;
            for deed in stream.deeds.iter().filter(|deed| deed.to > before) {
                let mut told = Elsewhere { from: mine.end, ..(*deed).clone() };
                if let Deed::Unlearned { round: round @ 0, observation, imputed, .. } = &mut told.deed {
                    *round = rewarded(&mine.deeds, observation, *imputed);
                }
                news.push(told);
                mine.end = deed.to;
            }
            if stream.end > mine.end {
                news.push(Elsewhere { origin, from: mine.end, to: stream.end, at: stream.clock, deed: Deed::Nothing });
                mine.end = stream.end;
            }
            let fresh = stream.deeds.into_iter().filter(|deed| mine.deeds.last().is_none_or(|last| deed.to > last.to));
            let fresh: Vec<_> = fresh.collect();
            mine.deeds.extend(fresh);
        }
    }
    Ok(news)
}

/// An event of a woven journal, and its position in the journal of this place if it stands there.
#[derive(Clone, Debug, PartialEq)]
pub struct Woven {
    /// The event.
    pub event: Event,
    /// Where it was.
    pub position: Option<usize>,
}

/// One place in the order.
struct Strand {
    key: (u32, u32, u32),
    woven: Woven,
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
pub fn weave<T: Scalar>(
    user: &mut User<'_, T>,
    journal: &[Event],
    news: &[Elsewhere],
    mut hand: impl FnMut(&Woven),
) -> Result<(), MergeError> {
    if !fades(user.policy.settings()) {
        return Err(MergeError::Fading);
    }
    let begun = user.merged().fold(user.events(), |sum, (_, events)| sum.saturating_add(events));
    if begun > 0 {
        return Err(MergeError::Beginning { events: begun });
    }
    let (mut learned, mut late): (Vec<Learned>, Vec<Woven>) = (Vec::new(), Vec::new());
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
            let ready = taken_back(&woven.event).is_some_and(|(taken, imputed)| find(&learned, taken, imputed).is_some());
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
fn order<T: Scalar>(user: &User<'_, T>, journal: &[Event], news: &[Elsewhere]) -> Vec<Strand> {
    let mut teller = Teller::new(user);
    journal.iter().for_each(|event| teller.take(event));
    let recorded = teller.telling.origin;
    let place = teller.finish().origin;
    let mut strands = Vec::with_capacity(journal.len() + news.len() + 1);
    if recorded != place {
        let woven = Woven { event: Event::Origin { origin: place }, position: None };
        strands.push(Strand { key: (0, 0, 0), woven });
    }
    let (mut clock, mut number, mut rewarded) = (0_u32, 0_u32, false);
    for (position, event) in journal.iter().enumerate() {
        let key = match event {
            Event::Elsewhere(told) if told.origin != place => (told.at, told.origin, told.to),
            event => {
                if let Event::Decision { at, .. }
                | Event::Promotion(Promotion { at, .. })
                | Event::Elsewhere(Elsewhere { at, .. }) = event
                {
                    clock = clock.max(*at);
                }
                number += 1;
                (clock, place, number)
            }
        };
        if !(rewarded && matches!(event, Event::Fade { .. })) {
            strands.push(Strand { key, woven: Woven { event: event.clone(), position: Some(position) } });
        }
        rewarded = is_reward(event);
    }
    strands.extend(news.iter().map(|told| {
        let (key, event) = ((told.at, told.origin, told.to), Event::Elsewhere(told.clone()));
        Strand { key, woven: Woven { event, position: None } }
    }));
    strands.sort_by_key(|strand| strand.key);
    strands
}

/// Whether fading is looked for after an event.
const fn is_reward(event: &Event) -> bool {
    match event {
        Event::Feedback { .. } | Event::Observation(_) => true,
        Event::Elsewhere(told) => matches!(told.deed, Deed::Reward { imputed: false, .. }),
        _ => false,
    }
}

/// What an event takes back.
const fn taken_back(event: &Event) -> Option<(&Observation, bool)> {
    match event {
        Event::Unlearn { observation, imputed, .. }
        | Event::Elsewhere(Elsewhere { deed: Deed::Unlearned { observation, imputed, .. }, .. }) => Some((observation, *imputed)),
        _ => None,
    }
}

fn find(learned: &[Learned], observation: &Observation, imputed: bool) -> Option<usize> {
    learned.iter().rposition(|learned| learned.observation == *observation && learned.imputed == imputed)
}

/// The event as it is in this order: what is taken back is what is left here, and a promotion stands for itself. `None` when
/// nothing is left to take back.
fn fit<T: Scalar>(user: &User<'_, T>, mut woven: Woven, learned: &[Learned]) -> Option<Woven> {
    let left = taken_back(&woven.event).and_then(|(observation, imputed)| find(learned, observation, imputed));
    let left = left.and_then(|place| learned.get(place)).map(|learned| learned.kept);
    match &mut woven.event {
        Event::Unlearn { kept, .. } => *kept = left.unwrap_or(*kept),
        Event::Elsewhere(told) => {
            if let Deed::Unlearned { kept, .. } = &mut told.deed {
                *kept = left.unwrap_or(*kept);
            }
            if left.is_some_and(|left| left < 1e-6) {
                told.deed = Deed::Nothing;
                return Some(woven);
            }
            if told.origin == user.origin() {
                (told.from, told.to) = (user.events(), user.events().saturating_add(1));
            }
        }
        Event::Promotion(promotion) => {
            let (origin, from, at) = (user.origin(), user.events(), promotion.at);
            let deed = Deed::Promoted(*promotion);
            woven.event = Event::Elsewhere(Elsewhere { origin, from, to: from.saturating_add(1), at, deed });
        }
        _ => {}
    }
    left.is_none_or(|left| left >= 1e-6).then_some(woven)
}

/// Lets an event happen, and the fading that it leads to.
fn happen<T: Scalar>(
    user: &mut User<'_, T>,
    woven: &Woven,
    learned: &mut Vec<Learned>,
    hand: &mut impl FnMut(&Woven),
) -> Result<(), UserError> {
    let rewarded = match &woven.event {
        Event::Feedback { round, reward, weight } => Some((*round, *reward, *weight, false)),
        Event::Expiry { round, imputed: Some(reward) } => Some((*round, *reward, 1.0, true)),
        _ => None,
    };
    let observed = match &woven.event {
        Event::Observation(observation) => Some((*observation, false)),
        Event::Elsewhere(Elsewhere { deed: Deed::Reward { observation, imputed, .. }, .. }) => Some((*observation, *imputed)),
        _ => rewarded.and_then(|(round, reward, weight, imputed)| {
            let pending = user.memory.view().settled_or_waiting(round).ok()?;
            let (context, action, baseline) = (pending.context, pending.action, pending.baseline.to_f64());
            Some((Observation { context, action, baseline, reward, weight }, imputed))
        }),
    };
    let taken = taken_back(&woven.event).and_then(|(observation, imputed)| find(learned, observation, imputed));
    apply(user, woven, learned, hand)?;
    if let Some(place) = taken {
        learned.remove(place);
    }
    learned.extend(observed.map(|(observation, imputed)| Learned { observation, imputed, kept: 1.0 }));
    while is_reward(&woven.event)
        && let Some(keep) = user.fading_due()
    {
        apply(user, &Woven { event: Event::Fade { keep }, position: None }, learned, hand)?;
    }
    Ok(())
}

fn apply<T: Scalar>(
    user: &mut User<'_, T>,
    woven: &Woven,
    learned: &mut [Learned],
    hand: &mut impl FnMut(&Woven),
) -> Result<(), UserError> {
    let step = user.check(&woven.event)?;
    hand(woven);
    step.apply();
    if let Event::Fade { keep } = woven.event {
        learned.iter_mut().for_each(|learned| learned.kept *= keep);
    }
    Ok(())
}
