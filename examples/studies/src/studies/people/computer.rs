//! Ratings of twenty computers: how soon is somebody shown the one rated best?
//!
//! The computers have thirteen attributes of two levels, and a catalog has at most eight components and 1024 actions. The ten
//! attributes that tell most about the ratings of the half that is learned from make the catalog; the four least of them are
//! joined to two components of four values.

use super::panel::{Offer, Respondent, Split, halves};
use super::{mains_and_pairs, number};
use crate::data::DataFile;
use crate::setup::{Setup, StudyError};
use fable_core::catalog::{Block, Component, Definition, Value};
use fable_core::{Action, Catalog};
use std::collections::BTreeMap;

const SOURCE: &str = "the package PyMTL (GPL 3; Lenk, DeSarbo, Green and Young 1996), as preferences/computer_profiles.csv and \
                      preferences/computer_ratings.csv in the folder given with --data";
const PROFILES: DataFile = DataFile { path: "preferences/computer_profiles.csv", source: SOURCE };
const RATINGS: DataFile = DataFile { path: "preferences/computer_ratings.csv", source: SOURCE };

const LEVELS: &[Value<'static>] =
    &[Value::new("1", "", 0.0), Value::new("2", "", 0.0), Value::new("3", "", 0.0), Value::new("4", "", 0.0)];
const TWO: &[Value<'static>] = LEVELS.split_at(2).0;
const ATTRIBUTES: &[Component<'static>] = &[
    Component::new("first", TWO),
    Component::new("second", TWO),
    Component::new("third", TWO),
    Component::new("fourth", TWO),
    Component::new("fifth", TWO),
    Component::new("sixth", TWO),
    Component::new("seventh_and_eighth", LEVELS),
    Component::new("ninth_and_tenth", LEVELS),
];
const BLOCKS: &[Block] = &mains_and_pairs::<8, 36>();

/// A weight for each level of a component and for each pair of levels.
pub static CATALOG: Catalog<'static> = Catalog::new(Definition {
    name: "computer",
    components: ATTRIBUTES,
    blocks: BLOCKS,
    ..Definition::EMPTY
});

/// Numbers below a row of heads and after the number of the row.
fn rows(setup: &Setup, file: DataFile, columns: usize) -> Result<Vec<Vec<usize>>, StudyError> {
    let read = |line: &str| {
        let cells: Option<Vec<usize>> = line.split(',').skip(1).map(number).collect();
        let cells = cells.filter(|cells| cells.len() == columns);
        cells.ok_or_else(|| file.bad(setup, format!("a row that cannot be read: {line}")))
    };
    file.read(setup)?.lines().skip(1).map(read).collect()
}

/// Halves of the people, each unseen once.
///
/// # Errors
/// The data is missing or cannot be read.
pub fn splits(setup: &Setup, count: usize) -> Result<Vec<Split>, StudyError> {
    let profiles = rows(setup, PROFILES, 13)?;
    let ratings = rows(setup, RATINGS, profiles.len())?;
    let split = |number| {
        let halves = halves(setup, ratings.len(), number);
        let of = |half: &[usize]| half.iter().filter_map(|index| ratings.get(*index)).collect::<Vec<_>>();
        let [seen, unseen] = [of(&halves[0]), of(&halves[1])];
        let attributes = telling(&profiles, &seen);
        let actions: Option<Vec<Action>> =
            profiles.iter().map(|profile| action(profile, &attributes)).collect();
        let actions = actions.ok_or_else(|| PROFILES.bad(setup, "a level that is neither 1 nor 2"))?;
        let people = |ratings: Vec<&Vec<usize>>| {
            ratings.into_iter().map(|ratings| respondent(&actions, ratings)).collect()
        };
        Ok(Split { catalog: &CATALOG, seen: people(seen), unseen: people(unseen) })
    };
    (0..count).map(split).collect()
}

/// The attributes in the order of how much the two levels of one differ in a person's ratings, as a mean square.
fn telling(profiles: &[Vec<usize>], people: &[&Vec<usize>]) -> Vec<usize> {
    let effect = |attribute: usize, ratings: &[usize]| {
        let of = |level: usize| {
            let rated =
                profiles.iter().zip(ratings).filter(|(profile, _)| profile.get(attribute) == Some(&level));
            crate::statistics::mean(&rated.map(|(_, rating)| *rating as f64).collect::<Vec<_>>())
        };
        of(2) - of(1)
    };
    let strength =
        |attribute: usize| people.iter().map(|ratings| effect(attribute, ratings).powi(2)).sum::<f64>();
    let mut order: Vec<(usize, f64)> = (0..13).map(|attribute| (attribute, strength(attribute))).collect();
    order.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    order.into_iter().map(|(attribute, _)| attribute).collect()
}

fn action(profile: &[usize], attributes: &[usize]) -> Option<Action> {
    let level = |place: usize| u8::try_from(profile.get(*attributes.get(place)?)?.checked_sub(1)?).ok();
    let joined = |place: usize| Some(2 * level(place)? + level(place + 1)?);
    let alone: Option<Vec<u8>> = (0..6).map(level).collect();
    let values: Vec<u8> = alone?.into_iter().chain([joined(6)?, joined(8)?]).collect();
    CATALOG.action(&values)
}

/// Computers that the catalog does not tell apart are one, with their mean rating.
fn respondent(actions: &[Action], ratings: &[usize]) -> Respondent {
    let mut rated: BTreeMap<Action, Vec<f64>> = BTreeMap::new();
    for (action, rating) in actions.iter().zip(ratings) {
        rated.entry(*action).or_default().push(*rating as f64 / 5.0 - 1.0);
    }
    let offer: Offer =
        rated.into_iter().map(|(action, rewards)| (action, crate::statistics::mean(&rewards))).collect();
    Respondent { offers: vec![offer] }
}
