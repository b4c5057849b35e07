//! Reads the journal of a site into a digest of what other sites can learn from.

use fable_core::catalog::Contrast;
use fable_core::journal::{Event, Observation, RemoteChange, RemoteEvent};
use fable_core::preference::{Probe, Probes};
use fable_core::{Scalar, User};

/// Events of one site's journal that other sites can learn from.
#[derive(Clone, Debug, PartialEq)]
pub struct JournalDigest {
    pub(super) user: u64,
    pub(super) fingerprint: u64,
    pub(super) incarnation: u32,
    /// The site.
    pub site: u32,
    /// Number of events of this incarnation before the journal begins.
    pub first: u32,
    /// Number of events of this incarnation at the end of the journal.
    pub end: u32,
    /// True if the journal contains a fading.
    pub faded: bool,
    /// Latest time of a decision or promotion in the journal.
    pub(super) clock: u32,
    /// Events of this site that others can learn from. Their numbers ascend, with gaps.
    pub(super) events: Vec<RemoteEvent>,
    /// Event numbers of the decisions.
    decided: Vec<u32>,
    /// Sites merged before the journal begins, each with its number of known events.
    before: Vec<(u32, u32)>,
    /// Events of other sites that the journal contains.
    pub(super) others: Vec<RemoteEvent>,
}

impl JournalDigest {
    /// A digest without events, at event number `first`.
    fn new(user: u64, fingerprint: u64, incarnation: u32, site: u32, first: u32) -> Self {
        Self {
            user,
            fingerprint,
            incarnation,
            site,
            first,
            end: first,
            faded: false,
            clock: 0,
            events: Vec::new(),
            decided: Vec::new(),
            before: Vec::new(),
            others: Vec::new(),
        }
    }

    /// Hash of the user.
    #[must_use]
    pub const fn user(&self) -> u64 {
        self.user
    }

    /// Number of times that the user had been forgotten.
    #[must_use]
    pub const fn incarnation(&self) -> u32 {
        self.incarnation
    }

    /// Number of decisions from an event number on.
    #[must_use]
    pub fn decisions_from(&self, event: u32) -> usize {
        self.decided.iter().filter(|decided| **decided >= event).count()
    }

    /// Number of events of another site that are known at the end of the journal.
    #[must_use]
    pub fn known_of(&self, site: u32) -> u32 {
        let last = self.others.iter().rev().find(|remote| remote.site == site).map(|remote| remote.to);
        last.unwrap_or_else(|| self.before_of(site))
    }

    pub(super) fn before_of(&self, site: u32) -> u32 {
        self.before.iter().find(|(known, _)| *known == site).map_or(0, |(_, events)| *events)
    }
}

/// A decision that waits for its reward.
#[derive(Clone, Debug)]
struct Open {
    round: u32,
    observation: Observation,
    probes: Probes,
}

/// Reads the journal of a site, event by event.
#[derive(Clone, Debug)]
pub struct JournalReader {
    pub(super) digest: JournalDigest,
    /// The site of the settings, used if the journal records no site.
    configured_site: u32,
    /// True after a decision.
    has_decided: bool,
    open: Vec<Open>,
    /// Rewards that were learned and not unlearned: round, observation, and true if imputed.
    learned: Vec<(u32, Observation, bool)>,
}

impl JournalReader {
    /// Starts with the user as at the beginning of the journal.
    #[must_use]
    pub fn new<T: Scalar>(user: &User<'_, T>) -> Self {
        let state = user.state();
        let component = |probe: &Probe| {
            let contrast = user.policy().catalog().contrasts().get(usize::from(probe.contrast));
            contrast.and_then(Contrast::component)
        };
        let waiting = user.kept_decisions().filter(|decided| decided.waits).map(|decided| {
            let mut probes: Probes = user
                .probe_outcomes(user.id(decided.round))
                .map(|probe| Probe { contrast: probe.contrast, expected: probe.expected })
                .collect();
            probes.sort_unstable_by_key(component);
            Open { round: decided.round, observation: decided.observation(0.0, 1.0), probes }
        });
        let open = waiting.collect();
        let fingerprint = user.policy().fingerprint();
        let mut digest =
            JournalDigest::new(state.user(), fingerprint, state.incarnation(), state.site(), state.events());
        digest.clock = user.kept_decisions().map(|decided| decided.time).max().unwrap_or(0);
        digest.before = state.merged().collect();
        Self {
            digest,
            configured_site: user.policy().settings().site,
            has_decided: state.rounds() > 0,
            open,
            learned: Vec::new(),
        }
    }

    /// Takes the next event of the journal.
    pub fn take(&mut self, event: &Event) {
        let change = match event {
            Event::Site { site } => {
                self.digest.site = *site;
                return;
            }
            Event::Remote(remote) if remote.site != self.digest.site => {
                return self.digest.others.push(remote.clone());
            }
            Event::Remote(own) => Some(own.change.clone()),
            Event::Forget { .. } => return self.forget(),
            Event::UserRule { .. } => return, // not counted
            Event::Fade { .. } => {
                self.digest.faded = true;
                None
            }
            Event::Decision { round, action, baseline, context, time, probes: coins } => {
                self.digest.decided.push(self.digest.end);
                (self.has_decided, self.digest.clock) = (true, self.digest.clock.max(*time));
                let (context, action, baseline) = (*context, *action, *baseline);
                let observation = Observation { context, action, baseline, reward: 0.0, weight: 1.0 };
                self.open.push(Open { round: *round, observation, probes: coins.clone() });
                None
            }
            Event::Feedback { round, reward, weight } => self.close(*round, Some((*reward, *weight)), false),
            Event::Expiry { round, imputed } => self.close(*round, imputed.map(|reward| (reward, 1.0)), true),
            Event::Observation(observation) => {
                self.learned.push((0, *observation, false));
                Some(RemoteChange::Reward {
                    round: 0,
                    observation: *observation,
                    imputed: false,
                    probes: Probes::new(),
                })
            }
            Event::Unlearn { observation, imputed, kept, probed } => {
                let same =
                    |(_, learned, by): &(u32, Observation, bool)| learned == observation && by == imputed;
                let index = self.learned.iter().rposition(same);
                let round = index.map_or(0, |index| self.learned.remove(index).0);
                let (observation, imputed, kept, probed) = (*observation, *imputed, *kept, *probed);
                Some(RemoteChange::Unlearned { round, observation, imputed, kept, probed })
            }
            Event::Onboarding(statement) => Some(RemoteChange::Stated(statement.clone())),
            Event::Promotion(promotion) => {
                self.digest.clock = self.digest.clock.max(promotion.time);
                Some(RemoteChange::Promoted(*promotion))
            }
            // Permissions teach nothing.
            _ => None,
        };
        let JournalDigest { site, end, clock, .. } = self.digest;
        self.digest.end = end.saturating_add(1);
        if let Some(change) = change {
            self.digest.events.push(RemoteEvent {
                site,
                from: end,
                to: self.digest.end,
                time: clock,
                change,
            });
        }
    }

    /// Closes an open decision. Returns its reward, unless the decision expired without one.
    fn close(&mut self, round: u32, reward: Option<(f64, f32)>, imputed: bool) -> Option<RemoteChange> {
        let index = self.open.iter().position(|open| open.round == round)?;
        let Open { observation, probes, .. } = self.open.remove(index);
        let (reward, weight) = reward?;
        let observation = Observation { reward, weight, ..observation };
        self.learned.push((round, observation, imputed));
        Some(RemoteChange::Reward {
            round,
            observation,
            imputed,
            probes: if imputed { Probes::new() } else { probes },
        })
    }

    /// Starts over in the next incarnation.
    fn forget(&mut self) {
        let JournalDigest { user, fingerprint, incarnation, .. } = self.digest;
        self.digest = JournalDigest::new(user, fingerprint, incarnation.saturating_add(1), 0, 0);
        self.has_decided = false;
        self.open.clear();
        self.learned.clear();
    }

    /// Ends the journal.
    #[must_use]
    pub fn finish(mut self) -> JournalDigest {
        if self.digest.site == 0 && !self.has_decided {
            self.digest.site = self.configured_site;
        }
        let site = self.digest.site;
        self.digest.events.iter_mut().for_each(|event| event.site = site);
        self.digest
    }
}
