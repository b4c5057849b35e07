//! What a user's journal says about the user: what was observed of theta, without what a prior added to it.

use crate::replay::{Start, Tape};
use crate::store::{Identity, Store, StoreError};
use fable_core::journal::{Event, Observation, RemoteChange, RemoteEvent};
use fable_core::record::{RecordError, decode_event};
use fable_core::{Action, Context, Policy, Scalar, Statement};
use std::collections::BTreeMap;

/// One number that was observed: response = direction.theta + noise.
#[derive(Clone, Debug, PartialEq)]
pub struct Sighting {
    /// The nonzero entries of the direction.
    pub direction: Vec<(usize, f64)>,
    /// What was observed: a reward less its baseline, or the response of a statement.
    pub response: f64,
    /// Variance of the noise.
    pub variance: f64,
}

/// Everything that was observed of one user.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evidence {
    sightings: Vec<Sighting>,
    /// Which reward a sighting comes from, for what is taken back later.
    sources: Vec<Option<Observation>>,
}

impl Evidence {
    /// The sightings, in order.
    #[must_use]
    pub fn sightings(&self) -> &[Sighting] {
        &self.sightings
    }

    /// The same with so many times the noise in every reward; statements are as they were.
    #[must_use]
    pub fn with_noise_times(mut self, factor: f64) -> Self {
        let rewards = self.sightings.iter_mut().zip(&self.sources).filter(|(_, source)| source.is_some());
        rewards.for_each(|(sighting, _)| sighting.variance *= factor);
        self
    }

    /// Adds a reward for an action.
    pub fn reward<T: Scalar>(&mut self, policy: &Policy<'_, T>, observation: &Observation) {
        let features = policy.features(&observation.context, observation.action);
        self.sightings.push(Sighting {
            direction: features.map(|(coordinate, value)| (coordinate, f64::from(value))).collect(),
            response: observation.reward - observation.baseline,
            variance: policy.settings().noise_variance / f64::from(observation.weight),
        });
        self.sources.push(Some(*observation));
    }

    /// Adds a stated preference.
    fn state(&mut self, statement: &Statement) {
        if statement.precision > 0.0 {
            let direction = statement.direction.entries().collect();
            self.sightings.push(Sighting {
                direction,
                response: statement.response,
                variance: 1.0 / statement.precision,
            });
            self.sources.push(None);
        }
    }

    /// Everything that a journal from the first event on says, whatever prior it began with. Imputed rewards are not counted, nor is what was taken back, nor
    /// what came before a user was forgotten.
    ///
    /// # Errors
    /// A journal of another catalog or of other settings, one that begins with a snapshot, or an event that cannot be read.
    pub fn of_tape<T: Scalar>(policy: &Policy<'_, T>, tape: &Tape) -> Result<Self, StoreError> {
        if matches!(tape.start, Start::Snapshot(_)) {
            return Err(RecordError::Foreign.into());
        }
        Self::of_events(policy, tape)
    }

    /// The same of as much as there is.
    fn of_events<T: Scalar>(policy: &Policy<'_, T>, tape: &Tape) -> Result<Self, StoreError> {
        if tape.base_fingerprint()? != policy.fingerprint() {
            return Err(RecordError::Policy.into());
        }
        let mut evidence = Self::default();
        let mut decisions: BTreeMap<u32, (Context, Action, f64)> = BTreeMap::new();
        for record in &tape.events {
            match decode_event(policy.catalog(), record)? {
                Event::Decision { round, action, baseline, context, .. } => {
                    decisions.insert(round, (context, action, baseline));
                }
                Event::Feedback { round, reward, weight } => {
                    if let Some((context, action, baseline)) = decisions.remove(&round) {
                        evidence.reward(policy, &Observation { context, action, baseline, reward, weight });
                    }
                }
                Event::Observation(observation) => evidence.reward(policy, &observation),
                Event::Unlearn { observation, imputed: false, .. } => evidence.take_back(&observation),
                Event::Onboarding(statement) => evidence.state(&statement),
                // What happened elsewhere was the same user.
                Event::Remote(RemoteEvent { change, .. }) => match change {
                    RemoteChange::Reward { observation, imputed: false, .. } => {
                        evidence.reward(policy, &observation);
                    }
                    RemoteChange::Unlearned { observation, imputed: false, .. } => {
                        evidence.take_back(&observation);
                    }
                    RemoteChange::Stated(statement) => evidence.state(&statement),
                    _ => {}
                },
                Event::Forget { .. } => {
                    decisions.clear();
                    evidence = Self::default();
                }
                _ => {}
            }
        }
        Ok(evidence)
    }

    /// Everything that a store has kept about every user; users of whom something is damaged are left out.
    ///
    /// # Errors
    /// A store that cannot be read, or was made with another catalog or other settings: what differs is told.
    pub fn of_store<T: Scalar>(policy: &Policy<'_, T>, store: &dyn Store) -> Result<Vec<Self>, StoreError> {
        let mut users = Vec::new();
        for number in store.everyone()? {
            let stored = match store.whole(number) {
                Ok(Some(stored)) => stored,
                Ok(None) => continue,
                Err(StoreError::User(damage)) => {
                    tracing::warn!(%damage, "a user is damaged and left out");
                    continue;
                }
                Err(error) => return Err(error),
            };
            if stored.row.header.fingerprint != policy.fingerprint() {
                // In which numbers the users are kept, and which draws they had, does not matter here.
                store.identity()?.admit_but(&Identity::new(policy), &["scalar", "seed"])?;
            }
            users.push(Self::of_events(policy, &Tape::of_user(&stored)?)?);
        }
        Ok(users)
    }

    /// Takes the last such reward back; a journal in `f32` has rounded the baseline.
    fn take_back(&mut self, taken: &Observation) {
        let same = |seen: &Observation| {
            (seen.context, seen.action, seen.reward, seen.weight)
                == (taken.context, taken.action, taken.reward, taken.weight)
                && (seen.baseline - taken.baseline).abs() <= 1e-5 * (1.0 + taken.baseline.abs())
        };
        if let Some(place) = self.sources.iter().rposition(|source| source.as_ref().is_some_and(same)) {
            self.sources.remove(place);
            self.sightings.remove(place);
        }
    }
}
