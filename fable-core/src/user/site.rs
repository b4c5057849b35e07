//! Sites: one user who is decided for at several of them.
//!
//! Every site has a number of its own, [`Settings::site`](crate::Settings::site), which is part of decision
//! ids and draws. [`Event::Site`] records it before the first decision of an incarnation,
//! and then it is fixed. Site 0 is not recorded, so a user of one site has no such event.
//!
//! Events of other sites are complete in themselves. The state counts the known events of each site: nothing
//! counts twice, and a missing event is noticed.

use super::{Event, State, User};
use crate::catalog::score::Scalar;

/// Most other sites that a user can be merged from. Builds without `alloc` refuse to merge: hosts merge the
/// journals of devices.
pub const MAX_SITES: usize = 8;

/// The number of known events of each other site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Merged {
    /// Number of a site and of its known events, in the order of sites. An empty entry has no events.
    entries: [(u32, u32); MAX_SITES],
}

impl Merged {
    /// All zero bits.
    pub(crate) const NONE: Self = Self { entries: [(0, 0); MAX_SITES] };

    /// The sites, and how many events of each are known.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, u32)> {
        self.entries.iter().copied().take_while(|(_, events)| *events > 0)
    }

    /// Remembers the number of known events of a site. False if there is no free entry.
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
    /// The recorded site that decides; 0 before the first decision.
    #[must_use]
    pub const fn site(&self) -> u32 {
        self.site
    }

    /// Number of events at this site in this incarnation, without [`Site`](super::Event::Site) and merged
    /// events.
    #[must_use]
    pub const fn events(&self) -> u32 {
        self.events
    }

    /// The other sites that this user was merged from, and how many events of each are known.
    pub fn merged(&self) -> impl Iterator<Item = (u32, u32)> {
        self.merged.iter()
    }

    /// Number of known events of another site.
    #[must_use]
    pub fn known_of(&self, site: u32) -> u32 {
        self.merged.iter().find(|(known, _)| *known == site).map_or(0, |(_, events)| events)
    }

    /// Counts an event at this site.
    pub(super) const fn count(&mut self) {
        self.events = self.events.saturating_add(1);
    }
}

impl<T: Scalar> User<'_, T> {
    /// The site that decides: the recorded site, or before the first decision that of the settings.
    #[must_use]
    pub fn site(&self) -> u32 {
        let State { site, round, .. } = *self.memory.state;
        if site == 0 && round == 0 { self.policy.settings().site } else { site }
    }

    /// The event that records the site; `None` if it is recorded. It comes before a decision and before a
    /// remote event.
    #[must_use]
    pub fn site_event(&self) -> Option<Event> {
        (self.state().site() != self.site()).then(|| Event::Site { site: self.site() })
    }
}
