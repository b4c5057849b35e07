//! What happened to a user at another place, as one event that is complete in itself.
//!
//! A reward from elsewhere has its context, its action and its coins in it, so nothing of it waits in the ring here: the decisions
//! that wait are those of this place. A coin counts with the m that was expected there, whether or not one of the same contrast is
//! open here. [`merge`](super::merge) makes such events of another place's journal.

use super::learn::Lesson;
use super::probe::Probes;
use super::trial::Account;
use super::{Certifier, Memory, Observation, Promotion, State, User, UserError, Verdict, supported};
use crate::catalog::score::Scalar;
use crate::catalog::{Catalog, ContrastSet, Statement};

/// One step in the life of a user at another place.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct RemoteEvent {
    /// The place.
    pub site: u32,
    /// Events of that place that were known before.
    pub from: u32,
    /// Events of that place that are known with this one; what is between taught nothing.
    pub to: u32,
    /// The caller's time there: that of the latest decision or promotion before.
    pub time: u32,
    /// What happened.
    pub deed: RemoteChange,
}

/// What happened elsewhere.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum RemoteChange {
    /// A reward was learned.
    Reward {
        /// The round of its decision there; 0 for an action that was not decided on.
        round: u32,
        /// The reward and what it is for.
        observation: Observation,
        /// Whether it was imputed.
        imputed: bool,
        /// The coins that were tossed for the decision.
        coins: Probes,
    },
    /// A preference was stated.
    Stated(Statement),
    /// A reward was taken back.
    Unlearned {
        /// The round of its decision there, if that is known; otherwise 0.
        round: u32,
        /// What was learned.
        observation: Observation,
        /// Whether its reward was imputed.
        imputed: bool,
        /// How much of it is left here.
        kept: f32,
        /// Contrasts whose coins it was the reward of: they start again.
        probed: ContrastSet,
    },
    /// A declared contrast entered the profile there. Of this place's own it is a promotion from before journals were merged by time.
    Promoted(Promotion),
    /// Nothing that others learn from.
    Nothing,
}

impl State {
    /// Remembers that something is known.
    pub(super) fn know(&mut self, elsewhere: &RemoteEvent) {
        if elsewhere.site == self.site {
            self.count();
        } else {
            let _ = self.merged.set(elsewhere.site, elsewhere.to); // there is room, as was checked
        }
    }
}

impl<T: Scalar> User<'_, T> {
    /// Whether something from elsewhere can be next, and whether something is learned from it.
    pub(super) fn admit_elsewhere(&self, elsewhere: &RemoteEvent) -> Result<bool, UserError> {
        let RemoteEvent { site, from, to, ref deed, .. } = *elsewhere;
        let own = site == self.state().site;
        if own && !matches!(deed, RemoteChange::Promoted(_)) {
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
        match deed {
            RemoteChange::Reward { .. } | RemoteChange::Unlearned { .. } => Ok(true),
            RemoteChange::Stated(_) if !cfg!(feature = "onboard") => Err(UserError::Unsupported),
            RemoteChange::Stated(statement) => {
                self.admit_statement(statement).map(|()| statement.precision != 0.0)
            }
            RemoteChange::Promoted(promotion) if own && promotion.round > self.state().round => {
                Err(UserError::NotPromoted)
            }
            RemoteChange::Promoted(promotion) => self.admit_told(promotion).map(|()| false),
            RemoteChange::Nothing => Ok(false),
        }
    }

    /// What is learned from something that is next.
    #[inline(never)]
    pub(super) fn told_lesson<'s>(
        &'s mut self,
        elsewhere: &'s RemoteEvent,
    ) -> Result<Lesson<'s, T>, UserError> {
        let mut lesson = match &elsewhere.deed {
            RemoteChange::Reward { observation, imputed, coins, .. } => {
                let all = self.policy.catalog().all_actions();
                self.admit_action(&observation.context, observation.action)?;
                self.admit_coins(&all, &observation.context, observation.action, coins)?;
                self.elsewhere_lesson(observation, *imputed)?
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
        lesson.elsewhere = Some(elsewhere);
        Ok(lesson)
    }

    /// Whether a promotion made sense where it was made: the state that it followed from is not here.
    fn admit_told(&self, promotion: &Promotion) -> Result<(), UserError> {
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
        if self.has_room(contrast) { Ok(()) } else { Err(UserError::ProfileFull) }
    }
}

impl<T: Scalar> Memory<'_, T> {
    /// Remembers what happened elsewhere and is not learned from. A promotion of another place's does not replace one that is
    /// there; one of this place's own does if it is of the other side.
    pub(super) fn note(mut self, catalog: &Catalog<'_>, elsewhere: &RemoteEvent) {
        let own = elsewhere.site == self.state.site;
        self.state.know(elsewhere);
        let RemoteChange::Promoted(promotion) = &elsewhere.deed else { return };
        let known = self.profile.iter().find(|known| known.contrast == promotion.contrast);
        if known.is_some_and(|known| !own || known.verdict == promotion.verdict) {
            return;
        }
        self.enlist(promotion);
        let trials = self.storage.get(catalog.trials_start()..).unwrap_or_default();
        let start = crate::catalog::TRIAL_LEN * usize::from(promotion.contrast);
        let account = trials.get(start..).map(Account::read);
        if promotion.by == Certifier::Probes
            && account.is_some_and(|account| own || account.certified == Verdict::Open)
        {
            self.certify(catalog, promotion);
        }
    }
}
