//! Real people: what the settings and a fitted prior are worth to those nobody has seen.
//!
//! A catalog is made of what the data says about the things people chose from: a component for each attribute, a weight for each
//! level and for each pair of levels, nothing else. What is on offer is the feasible set. The same catalogs can be written as
//! TOML files for `fable serve`.

pub mod camera;
pub mod computer;
pub mod panel;

use crate::candidate::{Candidate, DRAW, OTHER_SCALE, SHIPPED};
use crate::report::{Report, Table};
use crate::setup::{Setup, StudyError};
use crate::statistics::mean;
use fable_core::Settings;
use fable_core::catalog::Block;
use panel::{Half, Rounds, Split};

/// The line in the list of studies.
pub const ABOUT: &str =
    "people who chose cameras and rated computers: settings, with and without a fitted prior (needs data)";

/// What is compared; the first row is what shipped before there was anything else.
const CANDIDATES: &[Candidate] = &[
    DRAW,
    SHIPPED,
    Candidate::optimistic("the same, c = 1", 4.0, 1.0),
    Candidate::optimistic("the same, c = 2", 4.0, 2.0),
    Candidate::optimistic("the same, precision 2 per feature", 2.0, 1.5),
    Candidate::optimistic("the same, precision 8 per feature", 8.0, 1.5),
    OTHER_SCALE,
];
/// The place of what ships.
const SHIPPED_ROW: usize = 1;
/// So many rows are run from a fitted prior, too: a fit takes its time.
const FITTED_ROWS: usize = 2;

/// What is to be reached, and whether a number does.
type Aim = (&'static str, fn(f64) -> bool);

/// A set of people, and how they are judged.
struct Set {
    name: &'static str,
    /// What is shown, from regret per round, and in which direction it is better.
    shown: fn(f64) -> f64,
    rounds: Rounds,
    splits: Vec<Split>,
    /// What is to be reached by what ships: without a prior, and with one.
    goals: [Aim; 2],
}

/// By candidate, the mean over splits.
struct Found {
    /// On the half that is seen, split by split, from the base prior.
    seen: Vec<Vec<f64>>,
    /// On the unseen half, from the base prior.
    without: Vec<Vec<f64>>,
    /// On the unseen half, from the prior that was fitted to the half that is seen; the first rows alone.
    with: Vec<Vec<f64>>,
}

/// The mean regret per round over the draws of several seeds.
fn regret(
    setup: &Setup,
    split: &Split,
    candidate: &Candidate,
    prior: Option<&fable_std::prior::Population>,
    half: Half,
    rounds: Rounds,
) -> Result<f64, StudyError> {
    let mut all = Vec::new();
    for seed in 0..candidate.seeds(setup.scale(5, 1)) as u64 {
        all.extend(
            split
                .regret(setup, &Settings { seed, ..candidate.settings }, prior, half, rounds)?
                .into_iter()
                .flatten(),
        );
    }
    Ok(mean(&all))
}

fn found(setup: &Setup, set: &Set) -> Result<Found, StudyError> {
    let mut found = Found { seen: Vec::new(), without: Vec::new(), with: Vec::new() };
    for (row, candidate) in CANDIDATES.iter().enumerate() {
        let settings = &candidate.settings;
        let each = |half: Half, fitted: bool| -> Result<Vec<f64>, StudyError> {
            let of = |split: &Split| {
                let prior = if fitted { Some(split.prior(setup, settings, set.rounds)?) } else { None };
                regret(setup, split, candidate, prior.as_ref(), half, set.rounds)
            };
            set.splits.iter().map(of).collect()
        };
        found.seen.push(each(Half::Seen, false)?);
        found.without.push(each(Half::Unseen, false)?);
        if row < FITTED_ROWS {
            found.with.push(each(Half::Unseen, true)?);
        }
    }
    Ok(found)
}

impl Found {
    /// For each split the candidate with the least regret on the half that is seen.
    fn chosen(&self) -> Vec<usize> {
        let splits = self.seen.first().map_or(0, Vec::len);
        let of = |split: usize, row: usize| {
            self.seen.get(row).and_then(|splits| splits.get(split)).copied().unwrap_or(f64::INFINITY)
        };
        let best = |split| {
            (0..self.seen.len())
                .reduce(|best, next| if of(split, next) < of(split, best) { next } else { best })
        };
        (0..splits).map(|split| best(split).unwrap_or(0)).collect()
    }

    /// What the chosen ones have on the other half.
    fn of_chosen(&self, values: &[Vec<f64>]) -> Vec<f64> {
        self.chosen()
            .iter()
            .enumerate()
            .filter_map(|(split, row)| values.get(*row)?.get(split).copied())
            .collect()
    }
}

/// Runs the study.
///
/// # Errors
/// The data is missing or cannot be read.
pub fn run(setup: &Setup) -> Result<Report, StudyError> {
    let sets = [
        Set {
            name: "cameras, share of hits in one pass",
            shown: |regret| 1.0 - regret / 2.0,
            rounds: Rounds::OnePass,
            splits: camera::splits(setup, setup.scale(2, 1))?,
            goals: [
                ("cameras, base prior: at least 0.405 hits", |hits| hits >= 0.405),
                ("cameras, fitted prior: at least 0.62 hits", |hits| hits >= 0.62),
            ],
        },
        Set {
            name: "computers, regret in rounds 1 to 30",
            shown: |regret| regret,
            rounds: Rounds::Some(30),
            splits: computer::splits(setup, setup.scale(10, 1))?,
            goals: [
                ("computers, base prior: regret at most 0.235", |regret| regret <= 0.235),
                ("computers, fitted prior: regret at most 0.115", |regret| regret <= 0.115),
            ],
        },
    ];
    let mut report = Report::new("people nobody has seen, who chose cameras and rated computers");
    report.text(
        "265 people chose in up to 16 tasks one of four cameras (seven attributes, two to five levels), which are the feasible set; the
         reward is +1 for what was chosen and -1 for anything else, and each task comes once. 190 people rated 20 computers from 0
         to 10 (thirteen attributes of two levels); all are on offer in each of 30 rounds, and the reward is rating / 5 - 1. A
         catalog has a component per attribute, and a weight per level and per pair of levels. Of the computers the ten attributes
         count whose levels differ most in the ratings of the half that is seen, as a mean square over people; the last four of
         them are joined in two pairs. Half of the people are unseen (both halves in turn; of the computers five random halvings);
         the prior is fitted, as `fable prior fit` does, to the journals of the others, who live through the same number of rounds
         with the settings of the row. Five seeds of the draws.",
    );
    for set in &sets {
        let found = found(setup, set)?;
        let mut table = Table::new(
            set.splits.first().map_or("", |split| split.catalog.definition().name),
            &[set.name, "base prior", "fitted prior"],
        );
        let shown = |values: &[f64]| (set.shown)(mean(values));
        for (row, (candidate, without)) in CANDIDATES.iter().zip(&found.without).enumerate() {
            let with = found.with.get(row).map(|with| shown(with));
            let cell = with.map_or_else(String::new, |with| format!("{with:.3}"));
            table.row([candidate.name.to_owned(), format!("{:.3}", shown(without)), cell]);
            report.number(format!("{}: {}, base prior", set.name, candidate.name), shown(without));
            if let Some(with) = with {
                report.number(format!("{}: {}, fitted prior", set.name, candidate.name), with);
            }
        }
        let without = shown(&found.of_chosen(&found.without));
        for ((what, reached), values) in set.goals.iter().zip([&found.without, &found.with]) {
            let value = shown(values.get(SHIPPED_ROW).map_or(&[], Vec::as_slice));
            report.goal(what, format!("{value:.3}"), reached(value));
        }
        table.row(["the best on the half that is seen".to_owned(), format!("{without:.3}"), String::new()]);
        report.table(table);
    }
    report.text("The last row takes, for each half, the row that had the least regret on the other half, from the base prior.");
    Ok(report)
}

/// A block for each of `N` components and one for each pair of them, `B` in all.
const fn mains_and_pairs<const N: u8, const B: usize>() -> [Block; B] {
    let mut blocks = [Block::complete(); B];
    let mut next = N as usize;
    let mut first = 0;
    while first < N {
        blocks[first as usize] = Block::main(first);
        let mut second = first + 1;
        while second < N {
            blocks[next] = Block::pair(first, second);
            next += 1;
            second += 1;
        }
        first += 1;
    }
    blocks
}

fn number(cell: &str) -> Option<usize> {
    cell.trim().parse().ok()
}
