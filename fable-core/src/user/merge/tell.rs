//! The journal of a place, as what others can learn from it.

use super::super::late::Wait;
use super::super::{Event, Observation, Probe, Probes, RemoteChange, RemoteEvent, State, User};
use crate::catalog::{Contrast, score::Scalar};
use alloc::vec::Vec;

/// What others can learn from a place.
#[derive(Clone, Debug, PartialEq)]
pub struct JournalDigest {
    pub(super) user: u64,
    pub(super) fingerprint: u64,
    pub(super) incarnation: u32,
    /// The place.
    pub site: u32,
    /// Events before the journal begins, in this incarnation.
    pub first: u32,
    /// Events by its end.
    pub end: u32,
    /// Whether it fades.
    pub faded: bool,
    /// Time at its end.
    pub(super) clock: u32,
    /// What happened there, with consecutive numbers where something did.
    pub(super) deeds: Vec<RemoteEvent>,
    /// The numbers of its decisions.
    decided: Vec<u32>,
    /// What was known of other places at its beginning.
    before: Vec<(u32, u32)>,
    /// What it was told of other places since.
    pub(super) others: Vec<RemoteEvent>,
}

impl JournalDigest {
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
    pub fn known_of(&self, site: u32) -> u32 {
        let told = self.others.iter().rev().find(|told| told.site == site).map(|told| told.to);
        told.unwrap_or_else(|| self.before_of(site))
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
    coins: Probes,
}

/// Goes along the journal of a place.
#[derive(Clone, Debug)]
pub struct JournalReader {
    pub(super) telling: JournalDigest,
    /// The place that the settings say, until it is recorded.
    place: u32,
    decides: bool,
    open: Vec<Open>,
    /// Rewards that were learned and not taken back, with their rounds.
    learned: Vec<(u32, Observation, bool)>,
}

impl JournalReader {
    /// At the beginning of a journal.
    #[must_use]
    pub fn new<T: Scalar>(user: &User<'_, T>) -> Self {
        let view = user.memory.view();
        let State { fingerprint, user: hash, incarnation, site, events, round, .. } = *view.state;
        let component = |coin: &Probe| {
            let contrast = user.policy.catalog().contrasts().get(usize::from(coin.contrast));
            contrast.and_then(Contrast::sides).map(|sides| sides.component)
        };
        let waiting = view.ring().filter(|pending| pending.wait == Wait::Waiting).map(|pending| {
            let mut coins: Probes = user
                .coins(user.id(pending.round))
                .map(|probe| Probe { contrast: probe.contrast, expected: probe.expected })
                .collect();
            coins.sort_unstable_by_key(component);
            let (context, action, baseline) = (pending.context, pending.action, pending.baseline.to_f64());
            Open {
                round: pending.round,
                observation: Observation { context, action, baseline, reward: 0.0, weight: 1.0 },
                coins,
            }
        });
        let open = waiting.collect();
        let telling = JournalDigest {
            user: hash,
            fingerprint,
            incarnation,
            site,
            first: events,
            end: events,
            faded: false,
            clock: view.ring().map(|pending| pending.time).max().unwrap_or(0),
            deeds: Vec::new(),
            decided: Vec::new(),
            before: view.state.merged().collect(),
            others: Vec::new(),
        };
        Self { telling, place: user.policy.settings().site, decides: round > 0, open, learned: Vec::new() }
    }

    /// Takes the next event of the journal.
    pub fn take(&mut self, event: &Event) {
        let deed = match event {
            Event::Site { site } => {
                self.telling.site = *site;
                return;
            }
            Event::Remote(told) if told.site != self.telling.site => {
                return self.telling.others.push(told.clone());
            }
            Event::Remote(own) => Some(own.deed.clone()),
            Event::Forget { .. } => return self.forget(),
            Event::UserRule { .. } => return, // it is not counted
            Event::Permissions(_) => None,
            Event::Fade { .. } => {
                self.telling.faded = true;
                None
            }
            Event::Decision { round, action, baseline, context, time, coins } => {
                self.telling.decided.push(self.telling.end);
                (self.decides, self.telling.clock) = (true, self.telling.clock.max(*time));
                let (context, action, baseline) = (*context, *action, *baseline);
                let observation = Observation { context, action, baseline, reward: 0.0, weight: 1.0 };
                self.open.push(Open { round: *round, observation, coins: coins.clone() });
                None
            }
            Event::Feedback { round, reward, weight } => self.settle(*round, Some((*reward, *weight)), false),
            Event::Expiry { round, imputed } => {
                self.settle(*round, imputed.map(|reward| (reward, 1.0)), true)
            }
            Event::Observation(observation) => {
                self.learned.push((0, *observation, false));
                Some(RemoteChange::Reward {
                    round: 0,
                    observation: *observation,
                    imputed: false,
                    coins: Probes::new(),
                })
            }
            Event::Unlearn { observation, imputed, kept, probed } => {
                let same =
                    |(_, learned, by): &(u32, Observation, bool)| learned == observation && by == imputed;
                let place = self.learned.iter().rposition(same);
                let round = place.map_or(0, |place| self.learned.remove(place).0);
                let (observation, imputed, kept, probed) = (*observation, *imputed, *kept, *probed);
                Some(RemoteChange::Unlearned { round, observation, imputed, kept, probed })
            }
            Event::Onboarding(statement) => Some(RemoteChange::Stated(statement.clone())),
            Event::Promotion(promotion) => {
                self.telling.clock = self.telling.clock.max(promotion.time);
                Some(RemoteChange::Promoted(*promotion))
            }
        };
        let JournalDigest { site, end, clock, .. } = self.telling;
        self.telling.end = end.saturating_add(1);
        if let Some(deed) = deed {
            self.telling.deeds.push(RemoteEvent { site, from: end, to: self.telling.end, time: clock, deed });
        }
    }

    /// The end of a wait.
    fn settle(&mut self, round: u32, reward: Option<(f64, f32)>, imputed: bool) -> Option<RemoteChange> {
        let place = self.open.iter().position(|open| open.round == round)?;
        let Open { observation, coins, .. } = self.open.remove(place);
        let (reward, weight) = reward?;
        let observation = Observation { reward, weight, ..observation };
        self.learned.push((round, observation, imputed));
        Some(RemoteChange::Reward {
            round,
            observation,
            imputed,
            coins: if imputed { Probes::new() } else { coins },
        })
    }

    /// Everything begins anew, in the next incarnation.
    fn forget(&mut self) {
        let JournalDigest { user, fingerprint, incarnation, .. } = self.telling;
        let none = JournalDigest {
            user,
            fingerprint,
            incarnation: incarnation.saturating_add(1),
            site: 0,
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
    pub fn finish(mut self) -> JournalDigest {
        if self.telling.site == 0 && !self.decides {
            self.telling.site = self.place;
        }
        let site = self.telling.site;
        self.telling.deeds.iter_mut().for_each(|deed| deed.site = site);
        self.telling
    }
}
