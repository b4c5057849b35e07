//! Places: one user who is decided for at several of them.
//!
//! Every place has a number of its own, [`Settings::site`](crate::Settings::site), which is part of decision
//! ids and draws. It is recorded with the first decision of an incarnation
//! ([`Event::Site`](super::Event::Site)) and fixed from then on; place 0 is not recorded, so that a life at
//! one place is what it would be without any of this. What happened elsewhere comes as events that are
//! complete in themselves, and the state remembers how much of each place it knows: nothing counts twice, and
//! a gap is noticed.

use super::{Event, State, User};
use crate::catalog::score::Scalar;

/// Other places that a user can be merged from. Builds without `alloc` refuse to merge: hosts merge the
/// journals of devices.
pub const MAX_SITES: usize = 8;

/// How much of what happened at other places is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Merged {
    /// Number of a place and how many of its events are known, in the order of numbers; none are known of an
    /// empty entry.
    entries: [(u32, u32); MAX_SITES],
}

impl Merged {
    /// All zero bits.
    pub(crate) const NONE: Self = Self { entries: [(0, 0); MAX_SITES] };

    /// The places and how many events of each are known.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, u32)> {
        self.entries.iter().copied().take_while(|(_, events)| *events > 0)
    }

    /// Remembers that so many events of a place are known. False when there is no room for another place.
    pub(crate) fn set(&mut self, site: u32, events: u32) -> bool {
        let Some(place) = self.entries.iter().position(|(known, count)| *count == 0 || *known == site) else {
            return false;
        };
        if let Some(entry) = self.entries.get_mut(place) {
            *entry = (site, events);
        }
        if let Some(used) = self.entries.get_mut(..=place) {
            used.sort_unstable_by_key(|(site, _)| *site);
        }
        true
    }
}

impl State {
    /// The place that decides, as recorded with the first decision; 0 before.
    #[must_use]
    pub const fn site(&self) -> u32 {
        self.site
    }

    /// What has happened here in this incarnation: events, not counting [`Site`](super::Event::Site) and what
    /// was merged.
    #[must_use]
    pub const fn events(&self) -> u32 {
        self.events
    }

    /// The other places that this user was merged from, and how many events of each are known.
    pub fn merged(&self) -> impl Iterator<Item = (u32, u32)> {
        self.merged.iter()
    }

    /// How many events of another place are known.
    #[must_use]
    pub fn known_of(&self, site: u32) -> u32 {
        self.merged.iter().find(|(known, _)| *known == site).map_or(0, |(_, events)| events)
    }

    /// One more has happened here.
    pub(super) const fn count(&mut self) {
        self.events = self.events.saturating_add(1);
    }
}

impl<T: Scalar> User<'_, T> {
    /// The place that decides: the recorded one, or before the first decision that of the settings.
    #[must_use]
    pub fn site(&self) -> u32 {
        let State { site, round, .. } = *self.memory.state;
        if site == 0 && round == 0 { self.policy.settings().site } else { site }
    }

    /// What has to happen before something from elsewhere can, or a decision: the place is recorded, if it is
    /// not yet.
    #[must_use]
    pub fn site_event(&self) -> Option<Event> {
        (self.state().site() != self.site()).then(|| Event::Site { site: self.site() })
    }
}
