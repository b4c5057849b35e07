//! People who said what they like of what they were offered, and how a half of them is served.

use crate::setup::{Setup, StudyError};
use crate::studies::fleet::world::{Life, Person, live};
use crate::{draw, parallel};
use fable_core::catalog::ActionSet;
use fable_core::posterior::{Factor, Prior};
use fable_core::{Action, Catalog, Context, Feasible, Policy, Settings};
use fable_simulate::Random;
use fable_std::prior::{Options, Population, fit};

/// What somebody is offered in a round, each with its reward.
pub type Offer = Vec<(Action, f64)>;

/// Somebody, by offers; after the last the first comes again.
#[derive(Clone, Debug, Default)]
pub struct Respondent {
    /// What is offered, round by round.
    pub offers: Vec<Offer>,
}

impl Respondent {
    /// The regret of taking anything that is offered, over so many rounds, on average.
    #[must_use]
    pub fn chance(&self, rounds: usize) -> f64 {
        let of = |offer: &Offer| {
            let rewards: Vec<f64> = offer.iter().map(|(_, reward)| *reward).collect();
            rewards.iter().copied().fold(f64::NEG_INFINITY, f64::max) - crate::statistics::mean(&rewards)
        };
        self.offers.iter().cycle().take(rounds).map(of).sum()
    }
}

/// People, half of whom are learned from while the others are unseen.
pub struct Split {
    /// What they are offered, and how it is learned.
    pub catalog: &'static Catalog<'static>,
    /// Whose journals a prior is fitted to.
    pub seen: Vec<Respondent>,
    /// Who is served.
    pub unseen: Vec<Respondent>,
}

/// The numbers below `count` in two halves, in a random order: the same two the other way round in every second split. The small
/// version does with 40 people.
#[must_use]
pub fn halves(setup: &Setup, count: usize, split: usize) -> [Vec<usize>; 2] {
    let mut order: Vec<usize> = (0..count).collect();
    draw::shuffle(&mut Random::new([split as u64 / 2, 0, 0, 0x4a1f]), &mut order);
    order.truncate(setup.scale(count, 40));
    let rest = order.split_off(order.len() / 2);
    if split.is_multiple_of(2) { [order, rest] } else { [rest, order] }
}

struct Seat<'p> {
    catalog: &'static Catalog<'static>,
    respondent: &'p Respondent,
}

impl Seat<'_> {
    fn offer(&self, round: usize) -> &[(Action, f64)] {
        let offers = &self.respondent.offers;
        offers.get(round % offers.len().max(1)).map_or(&[], Vec::as_slice)
    }
}

impl Person for Seat<'_> {
    fn request(&self, round: usize) -> Result<(Context, Feasible), StudyError> {
        let mut set = ActionSet::EMPTY;
        self.offer(round).iter().for_each(|(action, _)| set.insert(*action));
        Ok((Context::new(self.catalog, None, &[])?, Feasible::from_set(self.catalog, set)?))
    }

    fn expected(&self, round: usize, action: Action) -> f64 {
        self.offer(round).iter().find(|(offered, _)| *offered == action).map_or(0.0, |(_, reward)| *reward)
    }

    fn reward(&self, round: usize, action: Action) -> f64 {
        self.expected(round, action)
    }
}

/// How long somebody is served.
#[derive(Clone, Copy, Debug)]
pub enum Rounds {
    /// Every offer once.
    OnePass,
    /// So many.
    Some(usize),
}

/// Everybody's life.
fn lives(
    setup: &Setup,
    policy: &Policy<'_, f64>,
    catalog: &'static Catalog<'static>,
    people: &[Respondent],
    rounds: Rounds,
    first: u64,
) -> Result<Vec<Life>, StudyError> {
    parallel::map(setup, "people", people.len(), |index| {
        let respondent = &people[index];
        let rounds = match rounds {
            Rounds::OnePass => respondent.offers.len(),
            Rounds::Some(rounds) => rounds,
        };
        live(policy, &Seat { catalog, respondent }, first + index as u64, rounds)
    })
}

impl Split {
    /// The prior that fits the journals of the half that is seen, who live with these settings.
    ///
    /// # Errors
    /// What the learner or the fit says.
    pub fn prior(
        &self,
        setup: &Setup,
        settings: &Settings<'static>,
        rounds: Rounds,
    ) -> Result<Population, StudyError> {
        let policy = Policy::new(self.catalog, *settings)?;
        let lives = lives(setup, &policy, self.catalog, &self.seen, rounds, 0)?;
        let journals: Vec<_> = lives.into_iter().map(|life| life.evidence).collect();
        // The small version does not choose how much to hold back.
        let shrinkage = setup.reduced.then_some(self.catalog.dimension() as f64);
        Ok(fit(
            &policy,
            &journals,
            &Options { threads: setup.threads, steps: setup.scale(40, 3), shrinkage, ..Options::default() },
        )?)
    }

    /// The regret of everybody in a half, by person and round, from a fitted prior or else from the base prior.
    ///
    /// # Errors
    /// What the learner says.
    pub fn regret(
        &self,
        setup: &Setup,
        settings: &Settings<'static>,
        prior: Option<&Population>,
        half: Half,
        rounds: Rounds,
    ) -> Result<Vec<Vec<f64>>, StudyError> {
        let mut workspace = vec![0.0; self.catalog.workspace_len()];
        let policy = match prior {
            None => Policy::new(self.catalog, *settings)?,
            Some(population) => {
                let factor = Factor::new(self.catalog.layout(), population.prior.packed(), &mut workspace)?;
                Policy::with_prior(self.catalog, *settings, Prior::Factor(factor))?
            }
        };
        let people = if half == Half::Seen { &self.seen } else { &self.unseen };
        let lives = lives(setup, &policy, self.catalog, people, rounds, 1 << 20)?;
        Ok(lives.into_iter().map(|life| life.regret).collect())
    }
}

/// One of the two halves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Half {
    /// Those that something is chosen or fitted on.
    Seen,
    /// The others.
    Unseen,
}
