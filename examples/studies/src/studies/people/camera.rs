//! Choices among four cameras: which of them does this person take?

use super::panel::{Offer, Respondent, Split, halves};
use super::{mains_and_pairs, number};
use crate::data::DataFile;
use crate::setup::{Setup, StudyError};
use fable_core::Catalog;
use fable_core::catalog::{Block, Component, Definition, Value};
use std::collections::BTreeMap;

const CHOICES: DataFile = DataFile {
    path: "preferences/camera_choices.csv",
    source: "the R package bayesm, data set `camera` (GPL >= 2; Allenby, Brazell, Howell and Rossi 2014), a row for each person, task \
             and alternative, as preferences/camera_choices.csv in the folder given with --data",
};

const HEADS: [&str; 11] = [
    "person",
    "task",
    "alternative",
    "chosen",
    "brand",
    "pixels",
    "zoom",
    "video",
    "swivel",
    "wifi",
    "price",
];

const LEVELS: &[Value<'static>] = &[
    Value::new("1", "", 0.0),
    Value::new("2", "", 0.0),
    Value::new("3", "", 0.0),
    Value::new("4", "", 0.0),
    Value::new("5", "", 0.0),
];
const TWO: &[Value<'static>] = LEVELS.split_at(2).0;
const ATTRIBUTES: &[Component<'static>] = &[
    Component::new("brand", LEVELS.split_at(4).0),
    Component::new("pixels", TWO),
    Component::new("zoom", TWO),
    Component::new("video", TWO),
    Component::new("swivel", TWO),
    Component::new("wifi", TWO),
    Component::new("price", LEVELS),
];
const BLOCKS: &[Block] = &mains_and_pairs::<7, 28>();

/// A weight for each level of an attribute and for each pair of levels.
pub static CATALOG: Catalog<'static> =
    Catalog::new(Definition { name: "camera", components: ATTRIBUTES, blocks: BLOCKS, ..Definition::EMPTY });

/// Everybody, with +1 for what was chosen and -1 for the rest.
///
/// # Errors
/// The data is missing or cannot be read.
pub fn read(setup: &Setup) -> Result<Vec<Respondent>, StudyError> {
    let text = CHOICES.read(setup)?;
    let mut lines = text.lines();
    if !lines.next().unwrap_or_default().split(',').eq(HEADS) {
        return Err(CHOICES.bad(setup, "the columns are others"));
    }
    let mut people: BTreeMap<usize, BTreeMap<usize, Offer>> = BTreeMap::new();
    for line in lines {
        let cells: Vec<&str> = line.split(',').collect();
        let read = || {
            let [person, task, _, chosen, levels @ ..] = cells.as_slice() else { return None };
            let values: Option<Vec<u8>> =
                levels.iter().map(|level| number(level)?.checked_sub(1)?.try_into().ok()).collect();
            Some((number(person)?, number(task)?, CATALOG.action(&values?)?, number(chosen)?))
        };
        let (person, task, action, chosen) =
            read().ok_or_else(|| CHOICES.bad(setup, format!("a row that cannot be read: {line}")))?;
        let reward = if chosen == 1 { 1.0 } else { -1.0 };
        people.entry(person).or_default().entry(task).or_default().push((action, reward));
    }
    Ok(people.into_values().map(|tasks| Respondent { offers: tasks.into_values().collect() }).collect())
}

/// Halves of the people, each unseen once.
///
/// # Errors
/// The data is missing or cannot be read.
pub fn splits(setup: &Setup, count: usize) -> Result<Vec<Split>, StudyError> {
    let people = read(setup)?;
    let of = |half: &[usize]| half.iter().filter_map(|index| people.get(*index).cloned()).collect::<Vec<_>>();
    let split =
        |halves: [Vec<usize>; 2]| Split { catalog: &CATALOG, seen: of(&halves[0]), unseen: of(&halves[1]) };
    Ok((0..count).map(|number| split(halves(setup, people.len(), number))).collect())
}
