//! One life under the rule: decisions, rewards when they come, and what gets certified.

use super::person::Person;
use crate::parallel;
use crate::setup::{Setup, StudyError};
use fable_core::host::HostLearner;
use fable_core::journal::Event;
use fable_core::preference::{Certifier, Verdict};
use fable_core::{Catalog, DecisionId, Feasible, HostUser, Policy, Request, Settings};

/// A preference that was certified.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Certificate {
    pub round: u32,
    pub contrast: usize,
    pub verdict: Verdict,
    pub by: Certifier,
}

/// What a life came to.
#[derive(Clone, Debug, Default)]
pub struct Life {
    /// The mean of what is reported to the action of each round.
    pub means: Vec<f64>,
    /// Every certificate, in order; a contrast can have more than one.
    pub certificates: Vec<Certificate>,
    pub coins: usize,
    /// The round in which the first certificate was withdrawn.
    pub withdrawn: Option<u32>,
}

impl Life {
    /// The mean over rounds, from 0.
    pub fn mean(&self, rounds: std::ops::Range<usize>) -> f64 {
        crate::statistics::mean(self.means.get(rounds).unwrap_or_default())
    }

    /// The round of the first certificate by one of the two rules.
    pub fn first(&self, by: Certifier) -> Option<u32> {
        self.certificates.iter().find(|certificate| certificate.by == by).map(|certificate| certificate.round)
    }
}

/// A user of the learner by number.
pub fn learner<'p>(policy: &Policy<'p, f32>, number: u64) -> Result<HostUser<'p, f32>, StudyError> {
    let mut learner = HostLearner::for_policy(policy);
    learner.start(policy, number)?;
    Ok(HostUser::from_learner(policy, learner)?)
}

/// Notes what is new in a profile, and what coins do not hold to any more.
pub fn note(user: &mut HostUser<'_, f32>, life: &mut Life, round: u32) -> Result<(), StudyError> {
    let mut user = user.user();
    for index in 0..user.profile().len() {
        let Some(entry) = user.profile().get(index).copied() else { continue };
        let (contrast, verdict, by) = (usize::from(entry.contrast), entry.verdict, entry.by);
        let last = life.certificates.iter().rev().find(|known| known.contrast == contrast);
        if last.is_none_or(|known| (known.verdict, known.by) != (verdict, by)) {
            life.certificates.push(Certificate { round, contrast, verdict, by });
        } else if life.withdrawn.is_none()
            && by == Certifier::Probes
            && user.standing(&entry)? == fable_core::preference::Standing::Revoked
        {
            life.withdrawn = Some(round);
        }
    }
    Ok(())
}

/// Lives a person's life.
pub fn live(
    policy: &Policy<'_, f32>,
    all: &Feasible,
    person: &Person,
    rounds: u32,
) -> Result<Life, StudyError> {
    let mut user = learner(policy, person.number)?;
    let (mut life, mut waiting) = (Life::default(), Vec::<(u32, DecisionId, f64)>::new());
    for round in 1..=rounds {
        let context = person.context(round)?;
        let decision = user.user().decide(&Request::new(&context, all))?;
        life.coins += user.user().probe_outcomes(decision.id).count();
        life.means.push(person.expected(decision.action, round));
        let reward = person.reward(decision.action, round);
        match person.delay(reward) {
            Some(0) => user.feedback(decision.id, reward)?,
            Some(delay) => waiting.push((round + delay, decision.id, reward)),
            None => {
                user.user().check(&Event::Expiry { round: decision.id.round, imputed: None })?.apply();
            }
        }
        for (_, id, reward) in waiting.extract_if(.., |(due, ..)| *due <= round) {
            user.feedback(id, reward)?;
        }
        note(&mut user, &mut life, round)?;
    }
    Ok(life)
}

/// Lives of many persons under one setting.
pub fn lives(
    setup: &Setup,
    (catalog, settings): (&'static Catalog<'static>, Settings<'static>),
    label: &str,
    (count, rounds): (usize, u32),
    person: impl Fn(u64) -> Person + Sync,
) -> Result<Vec<Life>, StudyError> {
    let (policy, all) = (Policy::new(catalog, settings)?, Feasible::all(catalog));
    parallel::map(setup, label, count, |number| live(&policy, &all, &person(number as u64), rounds))
}
