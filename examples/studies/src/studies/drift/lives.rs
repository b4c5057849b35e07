//! Simulated users whose tastes change in one of several ways, life by life.

use crate::policies::{Agent, PER_USER};
use crate::setup::StudyError;
use fable_core::{Catalog, Feasible, Policy, Request};
use fable_simulate::SimulatedUser;

/// How long a life is, when tastes change in it for the first time, and how long somebody stays the same who goes back and forth.
pub const ROUNDS: u32 = 400;
pub const CHANGE: u32 = 200;
pub const STAY: u32 = 100;

/// Names of the users that the other tastes are taken from.
const OTHERS: u64 = 1 << 33;

/// How somebody changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Not at all.
    Stays,
    /// Somebody else's tastes from one round to the next.
    AtOnce,
    /// The same for what has to do with the catalog's last component; the rest stays.
    InPart,
    /// A little in every round, from one person's tastes to the other's.
    Slowly,
    /// Between the tastes of two people, for some rounds each.
    BackAndForth,
}

/// Every kind, with its name.
pub const KINDS: [(Kind, &str); 5] = [
    (Kind::Stays, "stays the same"),
    (Kind::AtOnce, "changes altogether"),
    (Kind::InPart, "changes in one component"),
    (Kind::Slowly, "changes slowly"),
    (Kind::BackAndForth, "goes back and forth"),
];

impl Kind {
    /// Whether tastes are suddenly others after a round.
    pub const fn changes_after(self, round: u32) -> bool {
        match self {
            Self::Stays | Self::Slowly => false,
            Self::AtOnce | Self::InPart => round == CHANGE,
            Self::BackAndForth => round.is_multiple_of(STAY) && round < ROUNDS,
        }
    }

    /// The rounds that are looked at, from 0: those after the first change where there is one.
    pub fn rounds(self) -> std::ops::Range<usize> {
        let first = (1..ROUNDS).find(|round| self.changes_after(*round)).unwrap_or(0);
        first as usize..ROUNDS as usize
    }

    /// The tastes of a round, of length 1, between those of two people.
    fn theta(self, catalog: &Catalog<'_>, round: u32, one: &[f64], other: &[f64]) -> Vec<f64> {
        let last = catalog.definition().components.len().saturating_sub(1) as u8;
        let moves = |coordinate: usize| {
            let block = catalog.block_of(coordinate).and_then(|block| catalog.definition().blocks.get(block));
            block.is_some_and(|block| block.has(last))
        };
        let share = |coordinate: usize| match self {
            Self::Stays => 0.0,
            Self::AtOnce => f64::from(u8::from(round > CHANGE)),
            Self::InPart => f64::from(u8::from(round > CHANGE && moves(coordinate))),
            Self::Slowly => f64::from(round - 1) / f64::from(ROUNDS - 1),
            Self::BackAndForth => f64::from((round - 1) / STAY % 2),
        };
        let between =
            |(coordinate, (one, other)): (usize, (&f64, &f64))| one + share(coordinate) * (other - one);
        let mut theta: Vec<f64> = one.iter().zip(other).enumerate().map(between).collect();
        let length = libm::sqrt(theta.iter().map(|weight| weight * weight).sum());
        for weight in &mut theta {
            *weight /= length.max(f64::MIN_POSITIVE);
        }
        theta
    }
}

/// A learner that is compared.
pub struct Row<'p> {
    pub policy: Policy<'p, f64>,
    /// Whether it begins anew when tastes suddenly change, which only somebody who was told can do.
    pub told: bool,
}

/// A life under one learner.
#[derive(Clone, Debug, Default)]
pub struct Life {
    /// By round.
    pub regret: Vec<f64>,
    /// The rounds after which a change was noticed, from 1.
    pub alarms: Vec<u32>,
}

/// Lets a user live under every row: the same requests and the same noise for all.
///
/// # Errors
/// What the learner says.
pub fn live(
    catalog: &'static Catalog<'static>,
    kind: Kind,
    rows: &[Row<'_>],
    number: u64,
) -> Result<Vec<Life>, StudyError> {
    let [one, other] =
        [number, OTHERS + number].map(|number| SimulatedUser::new(catalog, number).theta().to_vec());
    let everything = Feasible::all(catalog);
    let mut people = Vec::new();
    for round in 1..=ROUNDS {
        let person = SimulatedUser::with_theta(catalog, kind.theta(catalog, round, &one, &other), number)?;
        let context = person.request(round)?.context;
        let best = person.best(&context, &everything).1;
        people.push((round, person, context, best));
    }
    let mut lives = Vec::new();
    for row in rows {
        let mut agent = Agent::new(&row.policy, PER_USER, number)?;
        let mut life = Life::default();
        for (round, person, context, best) in &people {
            let chosen = agent.choose(&Request::new(context, &everything), |_| 0.0)?.unwrap_or_default();
            agent.learn(person.reward(*round, context, chosen))?;
            life.regret.push(best - person.expected(context, chosen));
            if agent.learner().state().rewards_since_change() == Some(0) {
                life.alarms.push(*round);
            }
            if row.told && kind.changes_after(*round) {
                agent = Agent::new(&row.policy, PER_USER, number)?;
            }
        }
        lives.push(life);
    }
    Ok(lives)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fable_core::Settings;
    use fable_core::catalog::TAU2;

    #[test]
    fn tastes_change_when_and_where_they_should() {
        let [one, other] = [1, 2].map(|number| SimulatedUser::new(&TAU2, number).theta().to_vec());
        let at = |kind: Kind, round| kind.theta(&TAU2, round, &one, &other);
        let close =
            |theta: &[f64], to: &[f64]| theta.iter().zip(to).all(|(theta, to)| (theta - to).abs() < 1e-12);
        for (kind, _) in KINDS {
            assert!(close(&at(kind, 1), &one), "{kind:?}");
            let length: f64 = at(kind, 250).iter().map(|weight| weight * weight).sum();
            assert!((length - 1.0).abs() < 1e-12, "{kind:?}");
        }
        assert!(close(&at(Kind::AtOnce, 200), &one) && close(&at(Kind::AtOnce, 201), &other));
        assert!(close(&at(Kind::Slowly, 400), &other) && !close(&at(Kind::Slowly, 200), &one));
        assert!(close(&at(Kind::BackAndForth, 101), &other) && close(&at(Kind::BackAndForth, 201), &one));
        // What has nothing to do with the last component keeps its proportions.
        let part = at(Kind::InPart, 201);
        let scale = part[0] / one[0];
        assert!(
            TAU2.block_ranges(0)
                .flatten()
                .all(|coordinate| (part[coordinate] - scale * one[coordinate]).abs() < 1e-12)
        );
        assert!(
            TAU2.block_ranges(2)
                .flatten()
                .any(|coordinate| (part[coordinate] - scale * one[coordinate]).abs() > 1e-3)
        );
        assert_eq!(
            [Kind::Stays, Kind::AtOnce, Kind::BackAndForth].map(|kind| kind.rounds().start),
            [0, 200, 100]
        );
    }

    #[test]
    fn who_is_told_begins_anew_and_learns_sooner() {
        let row = |told| Row { policy: Policy::new(&TAU2, Settings::DEFAULT).unwrap(), told };
        let rows = [row(false), row(true)];
        let mut sums = [0.0; 2];
        for number in 0..10 {
            let lives = live(&TAU2, Kind::AtOnce, &rows, number).unwrap();
            assert_eq!(lives[0].regret[..200], lives[1].regret[..200]);
            for (sum, life) in sums.iter_mut().zip(&lives) {
                *sum += life.regret[200..].iter().sum::<f64>();
            }
        }
        assert!(sums[1] < 0.8 * sums[0], "{sums:?}");
        let lives = live(&TAU2, Kind::Stays, &rows, 3).unwrap();
        assert_eq!(lives[0].regret, lives[1].regret);
    }
}
