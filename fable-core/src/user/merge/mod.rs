//! One user, several places: their journals become one.
//!
//! A [`JournalReader`] goes along the journal of a place and makes of it what others can learn from, a [`JournalDigest`]: rewards with their context,
//! action and coins, statements, what was taken back, promotions. [`missing_events`] is what one place does not know yet of others, each part
//! an [`RemoteEvent`] that is complete in itself and says which events of its place it stands for: nothing is learned twice, and a
//! gap is an error. Decisions without a reward, permissions and fadings of other places teach nothing here.
//!
//! **Without fading** the order of observations does not matter, so the news are appended, and the user is what it would
//! be if everything had happened in one place, to rounding. **With fading** it does matter: [`merge_in_order`] goes through everything from the beginning
//! by (time, place, event), where the time of an event is that of the latest decision or promotion before it in its own journal, and
//! fades anew by the method's rule. The result is a journal again, and equals its replay bit for bit.
//!
//! Coins are fair wherever they fall, and each counts with what was expected before it, so the wealth of a contrast is the product over
//! the coins of all places. A promotion stays as it was made; of two places that promoted the same contrast the first in order stays.
//!
//! ```
//! use fable_core::journal::merge::{JournalReader, missing_events};
//! use fable_core::catalog::TAU2;
//! use fable_core::journal::Event;
//! use fable_core::{Feasible, HostUser, Policy, Request, Settings};
//!
//! let home = Policy::<f32>::new(&TAU2, Settings::default())?;
//! let phone = Policy::<f32>::new(&TAU2, Settings { site: 1, ..Settings::default() })?;
//! let (mut ana, mut there) = (HostUser::<f32>::new(&home, "ana")?, HostUser::<f32>::new(&phone, "ana")?);
//! let mut tellers = [JournalReader::new(&ana.user()), JournalReader::new(&there.user())];
//! let (context, all) = (TAU2.context(None, [])?, Feasible::all(&TAU2));
//! let mut command = fable_core::journal::Command::decide(Request::new(&context, &all));
//! while let Some(step) = there.user().next(&mut command)? {
//!     tellers[1].take(step.event());
//!     step.apply();
//! }
//! let id = command.decision(&there.user()).unwrap().id;
//! assert_eq!((id.site, id.round), (1, 1));
//! there.feedback(id, 0.5)?;
//! tellers[1].take(&Event::Feedback { round: 1, reward: 0.5, weight: 1.0 });
//!
//! let [here, told] = tellers.map(JournalReader::finish);
//! for elsewhere in missing_events(&here, &[told])? {
//!     ana.user().check(&Event::Remote(elsewhere))?.apply();
//! }
//! assert_eq!((ana.rounds(), ana.observations(), ana.known_of(1)), (0, 1, 3)); // permissions, decision, feedback
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```

mod tell;
mod weave;

pub use tell::{JournalDigest, JournalReader};
pub use weave::{Interleaved, merge_in_order};

use super::{Observation, RemoteChange, RemoteEvent, UserError};
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
    Site(u32),
    /// Events of a place that nobody has any more.
    Missing {
        /// The place.
        site: u32,
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
            Self::Incarnation => {
                f.write_str("the journals are of different incarnations: the user was forgotten in between")
            }
            Self::Site(site) => {
                write!(f, "two journals of place {site} differ; every place needs a number of its own")
            }
            Self::Missing { site, events } => {
                write!(
                    f,
                    "{events} events of place {site} are missing: they became part of a snapshot before they were merged"
                )
            }
            Self::Beginning { events } => {
                write!(
                    f,
                    "what is known fades, so the order counts from the first event on, and the first {events} are not kept"
                )
            }
            Self::Fading => f.write_str(
                "what is known was faded, and the settings here do not say when: half_life or on_change",
            ),
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

/// What one journal says about one place.
struct Stream<'t> {
    site: u32,
    first: u32,
    end: u32,
    clock: u32,
    deeds: Vec<&'t RemoteEvent>,
}

impl JournalDigest {
    /// What it says about its own place and about others.
    fn streams(&self) -> Vec<Stream<'_>> {
        let Self { site, first, end, clock, .. } = *self;
        let mut streams = alloc::vec![Stream { site, first, end, clock, deeds: self.deeds.iter().collect() }];
        for told in &self.others {
            let place = streams.iter().position(|stream| stream.site == told.site).unwrap_or_else(|| {
                let (site, first) = (told.site, self.before_of(told.site));
                streams.push(Stream { site, first, end: first, clock: 0, deeds: Vec::new() });
                streams.len() - 1
            });
            if let Some(stream) = streams.get_mut(place) {
                (stream.end, stream.clock) = (told.to, told.time);
                if told.deed != RemoteChange::Nothing {
                    stream.deeds.push(told);
                }
            }
        }
        streams
    }
}

/// Whether two journals say the same about an event. How much is left of something depends on where it is taken back, and whose reward it
/// was is not known to a journal that begins after that.
fn agree(one: &RemoteEvent, other: &RemoteEvent) -> bool {
    let left = |deed: &RemoteChange| match deed.clone() {
        RemoteChange::Unlearned { observation, imputed, probed, .. } => {
            RemoteChange::Unlearned { round: 0, observation, imputed, kept: 1.0, probed }
        }
        deed => deed,
    };
    (one.to, one.time, left(&one.deed)) == (other.to, other.time, left(&other.deed))
}

/// The round of the last such reward that is known and was not taken back; 0 when there is none.
fn rewarded(deeds: &[&RemoteEvent], wanted: &Observation, by: bool) -> u32 {
    let taken = |wanted: u32| {
        deeds.iter().any(|told| matches!(told.deed, RemoteChange::Unlearned { round, .. } if round == wanted))
    };
    let found = deeds.iter().rev().find_map(|told| match &told.deed {
        RemoteChange::Reward { round, observation, imputed, .. }
            if observation == wanted && *imputed == by && !taken(*round) =>
        {
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
pub fn missing_events(here: &JournalDigest, told: &[JournalDigest]) -> Result<Vec<RemoteEvent>, MergeError> {
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
            let site = stream.site;
            let place = known.iter().position(|known| known.site == site).unwrap_or_else(|| {
                let first = here.before_of(site);
                known.push(Stream { site, first, end: first, clock: 0, deeds: Vec::new() });
                known.len() - 1
            });
            let Some(mine) = known.get_mut(place) else { continue };
            // Where both speak they say the same.
            let (first, end) = (mine.first.max(stream.first), mine.end.min(stream.end));
            let both = |deed: &&&RemoteEvent| deed.to > first && deed.to <= end;
            let (mut ours, mut theirs) = (mine.deeds.iter().filter(both), stream.deeds.iter().filter(both));
            let same = loop {
                match (ours.next(), theirs.next()) {
                    (None, None) => break true,
                    (Some(one), Some(other)) if agree(one, other) => {}
                    _ => break false,
                }
            };
            if !same || (site == here.site && stream.end > mine.end) {
                return Err(MergeError::Site(site));
            }
            if stream.first > mine.end {
                return Err(MergeError::Missing { site, events: stream.first - mine.end });
            }
            let before = mine.end;
            for deed in stream.deeds.iter().filter(|deed| deed.to > before) {
                let mut told = RemoteEvent { from: mine.end, ..(*deed).clone() };
                if let RemoteChange::Unlearned { round: round @ 0, observation, imputed, .. } = &mut told.deed
                {
                    *round = rewarded(&mine.deeds, observation, *imputed);
                }
                news.push(told);
                mine.end = deed.to;
            }
            if stream.end > mine.end {
                news.push(RemoteEvent {
                    site,
                    from: mine.end,
                    to: stream.end,
                    time: stream.clock,
                    deed: RemoteChange::Nothing,
                });
                mine.end = stream.end;
            }
            let fresh = stream
                .deeds
                .into_iter()
                .filter(|deed| mine.deeds.last().is_none_or(|last| deed.to > last.to));
            let fresh: Vec<_> = fresh.collect();
            mine.deeds.extend(fresh);
        }
    }
    Ok(news)
}
