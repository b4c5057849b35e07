//! Merges the journals of one user from several sites.
//!
//! 1. A [`JournalReader`] reads the journal of a site into a [`JournalDigest`]: rewards with context, action
//!    and probes, statements, unlearnings, promotions.
//! 2. [`missing_events`] compares digests and returns the events that one site does not know yet.
//! 3. The site applies each of them as an [`Event::Remote`](fable_core::journal::Event::Remote).
//!
//! A [`RemoteEvent`] is complete in itself and states the range of its site's events that it covers. No
//! event is therefore learned twice, and a gap is an error. Decisions without a reward, permissions and
//! fadings of other sites teach nothing.
//!
//! **Without fading** the order of observations does not matter. Missing events are appended, and the user
//! equals, up to rounding, a user with all events at one site.
//!
//! **With fading** the order matters. [`merge_in_order`] replays all events from the beginning by (time,
//! site, event number) and computes fadings again. The time of an event is that of the latest decision or
//! promotion before it in its own journal. The result is a journal again, and equals its replay bit for bit.
//!
//! Probes of all sites count, each with the reward expected before it. The wealth of a contrast is the
//! product over these probes. A promotion is not changed by merging. If two sites promoted the same contrast,
//! the first promotion in order stays.
//!
//! ```
//! use fable_merge::{JournalReader, missing_events};
//! use fable_core::catalog::TAU2;
//! use fable_core::journal::{Command, Event};
//! use fable_core::{Feasible, HostUser, Policy, Request, Settings};
//!
//! let home = Policy::<f32>::new(&TAU2, Settings::default())?;
//! let phone = Policy::<f32>::new(&TAU2, Settings { site: 1, ..Settings::default() })?;
//! let (mut ana, mut remote) = (HostUser::<f32>::new(&home, "ana")?, HostUser::<f32>::new(&phone, "ana")?);
//! let mut readers = [JournalReader::new(&ana.user()), JournalReader::new(&remote.user())];
//! let (context, all) = (TAU2.context(None, [])?, Feasible::all(&TAU2));
//! let mut command = Command::decide(Request::new(&context, &all));
//! while let Some(step) = remote.user().next(&mut command)? {
//!     readers[1].take(step.event());
//!     step.apply();
//! }
//! let id = command.decision(&remote.user()).unwrap().id;
//! assert_eq!((id.site, id.round), (1, 1));
//! remote.feedback(id, 0.5)?;
//! readers[1].take(&Event::Feedback { round: 1, reward: 0.5, weight: 1.0 });
//!
//! let [here, there] = readers.map(JournalReader::finish);
//! for event in missing_events(&here, &[there])? {
//!     ana.user().check(&Event::Remote(event))?.apply();
//! }
//! assert_eq!((ana.state().rounds(), ana.state().observations()), (0, 1));
//! assert_eq!(ana.state().known_of(1), 3); // permissions, decision, feedback
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```

mod digest;
mod interleave;

pub use digest::{JournalDigest, JournalReader};
pub use interleave::{Interleaved, merge_in_order};

use fable_core::UserError;
use fable_core::journal::{Observation, RemoteChange, RemoteEvent};
use std::fmt;

/// A reason why journals cannot be merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MergeError {
    /// The journals belong to different users.
    User,
    /// The journals were written under different catalogs or settings.
    Policy,
    /// The journals belong to different incarnations: the user was forgotten in between.
    Incarnation,
    /// Two journals of the same site differ.
    Site(u32),
    /// No journal has these events of a site any more.
    Missing {
        /// The site.
        site: u32,
        /// Number of missing events.
        events: u32,
    },
    /// Fading needs all events in order, but the first events are no longer stored.
    Beginning {
        /// Number of events before the journal.
        events: u32,
    },
    /// A journal contains fadings, but the settings have no rule for fading.
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
                write!(f, "two journals of site {site} differ; every site needs a number of its own")
            }
            Self::Missing { site, events } => write!(
                f,
                "{events} events of site {site} are missing: they became part of a snapshot before a merge"
            ),
            Self::Beginning { events } => write!(
                f,
                "with fading the merge needs every event, and the first {events} are no longer stored"
            ),
            Self::Fading => {
                f.write_str("a journal contains fadings, but neither half_life nor on_change is set here")
            }
            Self::State(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for MergeError {}

impl From<UserError> for MergeError {
    fn from(error: UserError) -> Self {
        Self::State(error)
    }
}

/// Events of one site in one journal.
struct Stream<'t> {
    site: u32,
    first: u32,
    end: u32,
    clock: u32,
    events: Vec<&'t RemoteEvent>,
}

impl Stream<'_> {
    /// No events, from event number `first` on.
    const fn empty(site: u32, first: u32) -> Self {
        Self { site, first, end: first, clock: 0, events: Vec::new() }
    }

    /// The stream of a site. A missing stream is added, from event number `first` on.
    fn of_site(streams: &mut Vec<Self>, site: u32, first: u32) -> Option<&mut Self> {
        let index = streams.iter().position(|stream| stream.site == site).unwrap_or_else(|| {
            streams.push(Self::empty(site, first));
            streams.len() - 1
        });
        streams.get_mut(index)
    }
}

impl JournalDigest {
    /// A stream of events for its own site and for each other site.
    fn streams(&self) -> Vec<Stream<'_>> {
        let Self { site, first, end, clock, .. } = *self;
        let mut streams = vec![Stream { site, first, end, clock, events: self.events.iter().collect() }];
        for remote in &self.others {
            let first = self.before_of(remote.site);
            let Some(stream) = Stream::of_site(&mut streams, remote.site, first) else { continue };
            (stream.end, stream.clock) = (remote.to, remote.time);
            if remote.change != RemoteChange::Nothing {
                stream.events.push(remote);
            }
        }
        streams
    }
}

/// True if two journals agree on an event.
///
/// The share left of an unlearned observation depends on the site. The round of its reward is unknown to a
/// journal that begins after the reward. Both are therefore ignored.
fn agree(one: &RemoteEvent, other: &RemoteEvent) -> bool {
    let comparable = |change: &RemoteChange| match change.clone() {
        RemoteChange::Unlearned { observation, imputed, probed, .. } => {
            RemoteChange::Unlearned { round: 0, observation, imputed, kept: 1.0, probed }
        }
        change => change,
    };
    (one.to, one.time, comparable(&one.change)) == (other.to, other.time, comparable(&other.change))
}

/// Round of the last known reward with this observation that was not unlearned; 0 if there is none.
fn rewarded(events: &[&RemoteEvent], wanted: &Observation, by: bool) -> u32 {
    let is_unlearned = |wanted: u32| {
        events
            .iter()
            .any(|event| matches!(event.change, RemoteChange::Unlearned { round, .. } if round == wanted))
    };
    let found = events.iter().rev().find_map(|event| match &event.change {
        RemoteChange::Reward { round, observation, imputed, .. }
            if observation == wanted && *imputed == by && !is_unlearned(*round) =>
        {
            Some(*round)
        }
        _ => None,
    });
    found.unwrap_or(0)
}

/// The events of other sites that this site does not know yet, in an order in which it can learn them.
///
/// # Errors
/// Journals that do not belong together, or have a gap.
pub fn missing_events(
    here: &JournalDigest,
    others: &[JournalDigest],
) -> Result<Vec<RemoteEvent>, MergeError> {
    // Known events of every site. Missing events are added as they are found.
    let mut known = here.streams();
    let mut missing = Vec::new();
    for digest in others {
        if digest.user != here.user {
            return Err(MergeError::User);
        } else if digest.fingerprint != here.fingerprint {
            return Err(MergeError::Policy);
        } else if digest.incarnation != here.incarnation {
            return Err(MergeError::Incarnation);
        }
        for stream in digest.streams() {
            let site = stream.site;
            let first = here.before_of(site);
            let Some(mine) = Stream::of_site(&mut known, site, first) else { continue };
            // Events in both streams must agree.
            let (first, end) = (mine.first.max(stream.first), mine.end.min(stream.end));
            let is_in_both = |event: &&&RemoteEvent| event.to > first && event.to <= end;
            let (mut ours, mut theirs) =
                (mine.events.iter().filter(is_in_both), stream.events.iter().filter(is_in_both));
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
            for event in stream.events.iter().filter(|event| event.to > before) {
                let mut remote = RemoteEvent { from: mine.end, ..(*event).clone() };
                if let RemoteChange::Unlearned { round: round @ 0, observation, imputed, .. } =
                    &mut remote.change
                {
                    *round = rewarded(&mine.events, observation, *imputed);
                }
                missing.push(remote);
                mine.end = event.to;
            }
            if stream.end > mine.end {
                missing.push(RemoteEvent {
                    site,
                    from: mine.end,
                    to: stream.end,
                    time: stream.clock,
                    change: RemoteChange::Nothing,
                });
                mine.end = stream.end;
            }
            let last = mine.events.last().map(|last| last.to);
            mine.events
                .extend(stream.events.into_iter().filter(|event| last.is_none_or(|last| event.to > last)));
        }
    }
    Ok(missing)
}
