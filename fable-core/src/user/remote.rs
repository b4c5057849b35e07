//! Events of another site of the same user. Each is complete in itself.
//!
//! A reward of another site has its context, its action and its probes in it, so no decision waits for it in
//! the ring here. A probe counts with the m that was expected at its site, also while a probe of the same
//! contrast waits here. [`merge`](super::merge) makes these events of the journal of another site.

use super::evidence::Kind;
use super::learn::Lesson;
use super::probe::Probes;
use super::trial::Account;
use super::{Certifier, Memory, Observation, Promotion, State, User, UserError, Verdict, supported};
use crate::catalog::score::Scalar;
use crate::catalog::{Catalog, ContrastSet, Statement, TRIAL_LEN};

/// A change of the user at another site.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct RemoteEvent {
    /// The other site.
    pub site: u32,
    /// Number of events of that site that were known before.
    pub from: u32,
    /// Number of events of that site that are known with this one. Events in between taught nothing.
    pub to: u32,
    /// The caller's time there, of the latest decision or promotion before.
    pub time: u32,
    /// The change.
    pub change: RemoteChange,
}

/// A change at another site.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum RemoteChange {
    /// A reward was learned.
    Reward {
        /// The round of its decision there; 0 for an action that was not decided on.
        round: u32,
        /// The reward, with its context and action.
        observation: Observation,
        /// The reward was imputed.
        imputed: bool,
        /// The probes of the decision.
        probes: Probes,
    },
    /// A preference was stated.
    Stated(Statement),
    /// A reward was taken back.
    Unlearned {
        /// The round of its decision there; 0 if unknown.
        round: u32,
        /// The observation that was learned.
        observation: Observation,
        /// Its reward was imputed.
        imputed: bool,
        /// The share of the observation that fadings have left here.
        kept: f32,
        /// Contrasts that start again, since the reward was a result of their probes.
        probed: ContrastSet,
    },
    /// A declared contrast entered the profile there. Of this site itself: a promotion from before journals
    /// were merged by time.
    Promoted(Promotion),
    /// A change that other sites do not learn from.
    Nothing,
}

impl State {
    /// Remembers that a remote event is known.
    pub(super) fn know(&mut self, event: &RemoteEvent) {
        if event.site == self.site {
            self.count();
        } else {
            let _ = self.merged.set(event.site, event.to); // a free entry, as was checked
        }
    }
}

impl<T: Scalar> User<'_, T> {
    /// Checks that a remote event is the next one of its site. True if something is learned from it.
    pub(super) fn admit_remote(&self, event: &RemoteEvent) -> Result<bool, UserError> {
        let RemoteEvent { site, from, to, ref change, .. } = *event;
        let own = site == self.state().site;
        if own && !matches!(change, RemoteChange::Promoted(_)) {
            return Err(UserError::OwnSite);
        }
        let known = if own { self.state().events } else { self.state().known_of(site) };
        if from < known {
            return Err(UserError::KnownElsewhere);
        } else if from > known {
            return Err(UserError::GapElsewhere);
        } else if to <= from {
            return Err(UserError::OutOfOrder);
        } else if !own && !self.memory.state.merged.clone().set(site, to) {
            return Err(UserError::SitesFull);
        }
        match change {
            RemoteChange::Reward { .. } | RemoteChange::Unlearned { .. } => Ok(true),
            RemoteChange::Stated(_) if !cfg!(feature = "onboard") => Err(UserError::Unsupported),
            RemoteChange::Stated(statement) => {
                self.admit_statement(statement).map(|()| statement.precision != 0.0)
            }
            RemoteChange::Promoted(promotion) if own && promotion.round > self.state().round => {
                Err(UserError::NotPromoted)
            }
            RemoteChange::Promoted(promotion) => self.admit_remote_promotion(promotion).map(|()| false),
            RemoteChange::Nothing => Ok(false),
        }
    }

    /// Prepares the observation of a remote event that is next.
    #[inline(never)]
    pub(super) fn remote_lesson<'s>(
        &'s mut self,
        event: &'s RemoteEvent,
    ) -> Result<Lesson<'s, T>, UserError> {
        let mut lesson = match &event.change {
            RemoteChange::Reward { observation, imputed, probes, .. } => {
                let all = self.policy.catalog().all_actions();
                self.admit_action(&observation.context, observation.action)?;
                self.admit_probes(&all, &observation.context, observation.action, probes)?;
                let kind = if *imputed {
                    Kind::Imputed { expired: None }
                } else {
                    let Observation { action, reward, weight, .. } = *observation;
                    Kind::Remote { probes, action, reward, voids: weight != 1.0 }
                };
                self.remote_reward_lesson(observation, kind)?
            }
            RemoteChange::Stated(statement) => self.stated_lesson(statement)?.ok_or(UserError::NotLearned)?,
            RemoteChange::Unlearned { observation, imputed, kept, probed, .. } => {
                self.admit_unlearning(observation, *imputed, *kept)?;
                if !probed.is_below(self.policy.catalog().contrasts().len()) {
                    return Err(UserError::Probe);
                }
                self.unlearning_lesson(observation, *imputed, *kept, *probed)?
            }
            RemoteChange::Promoted(_) | RemoteChange::Nothing => return Err(UserError::NotLearned),
        };
        lesson.bookkeeping.remote = Some(event);
        Ok(lesson)
    }

    /// Checks that a promotion made sense at its site. The state that it followed from is not here.
    fn admit_remote_promotion(&self, promotion: &Promotion) -> Result<(), UserError> {
        supported(
            cfg!(feature = "promote") && (cfg!(feature = "probes") || promotion.by == Certifier::Ellipsoid),
        )?;
        let Promotion { contrast, verdict, by, evidence, lower, upper, .. } = *promotion;
        let within = by == Certifier::Ellipsoid || (lower >= -2.0 && upper <= 2.0);
        let one_sided = by == Certifier::Probes
            || match verdict {
                Verdict::For => lower > 0.0,
                Verdict::Against => upper < 0.0,
                Verdict::Open => false,
            };
        let ordered = lower <= upper && lower.is_finite() && upper.is_finite();
        if usize::from(contrast) >= self.policy.catalog().contrasts().len() {
            return Err(UserError::UnknownContrast);
        }
        if !(within && one_sided && ordered && evidence >= 1 && verdict != Verdict::Open) {
            return Err(UserError::NotPromoted);
        }
        if self.has_capacity(contrast) { Ok(()) } else { Err(UserError::ProfileFull) }
    }
}

impl<T: Scalar> Memory<'_, T> {
    /// Records a remote event that nothing is learned from.
    ///
    /// A promotion of another site does not replace a promotion that is in the profile. A promotion of this
    /// site does if its verdict is another one.
    pub(super) fn note_remote(mut self, catalog: &Catalog<'_>, event: &RemoteEvent) {
        let own = event.site == self.state.site;
        self.state.know(event);
        let RemoteChange::Promoted(promotion) = &event.change else { return };
        let known = self.profile.iter().find(|known| known.contrast == promotion.contrast);
        if known.is_some_and(|known| !own || known.verdict == promotion.verdict) {
            return;
        }
        self.enlist(promotion);
        let trials = self.storage.get(catalog.trials_start()..).unwrap_or_default();
        let start = TRIAL_LEN * usize::from(promotion.contrast);
        let account = trials.get(start..).map(Account::read);
        if promotion.by == Certifier::Probes
            && account.is_some_and(|account| own || account.certified == Verdict::Open)
        {
            self.certify(catalog, promotion);
        }
    }
}
