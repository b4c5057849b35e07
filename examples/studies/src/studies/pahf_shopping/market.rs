//! The real files of PAHF's online shopping: who likes what, and what was on offer.

use crate::data::DataFile;
use crate::setup::{Setup, StudyError};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

const fn file(path: &'static str) -> DataFile {
    DataFile {
        path,
        source: "github.com/facebookresearch/PAHF, data/shopping/*.json (MIT), as pahf/shopping in the folder given with --data",
    }
}

/// What the shoppers like in phases 1 and 2, and in phases 3 and 4.
const TASTES: [DataFile; 2] =
    [file("pahf/shopping/persona_info.json"), file("pahf/shopping/updated_persona_info.json")];
/// What is on offer in each phase.
pub const PHASES: [DataFile; 4] = [
    file("pahf/shopping/phase1.json"),
    file("pahf/shopping/phase2.json"),
    file("pahf/shopping/phase3.json"),
    file("pahf/shopping/phase4.json"),
];

/// How many features a product has in each category.
pub const FEATURES: usize = 6;

/// A product: one feature of each of three categories, by position in alphabetical order.
pub type Product = [u8; 3];

/// How much a shopper likes each feature of a product: 0 not at all, 1 it will do, 2 most.
pub type Taste = [[u8; FEATURES]; 3];

/// A round: what is offered of which kind of product, and the option that the file has as the right one.
#[derive(Clone, Debug)]
pub struct Offer {
    pub kind: usize,
    pub options: [Product; 3],
    pub label: Option<usize>,
}

/// A shopper: the tastes before and after the drift, by kind of product, and the offers of each phase.
#[derive(Clone, Debug, Default)]
pub struct Shopper {
    pub tastes: [BTreeMap<usize, Taste>; 2],
    pub phases: [Vec<Offer>; 4],
}

/// Everything in the files.
#[derive(Clone, Debug)]
pub struct Market {
    /// The names of the kinds of products, as a catalog can have them.
    pub kinds: Vec<String>,
    pub shoppers: Vec<Shopper>,
}

/// What buying something, or nothing, was worth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    /// Whether every feature is liked, or nothing was bought where nothing on offer is.
    pub exact: bool,
    /// How much of the features is liked: 1 for one liked most, 1/2 for one that will do.
    pub features: f64,
    /// Whether it is what the file has as the right answer.
    pub labelled: bool,
}

impl Outcome {
    /// 0.75 exact + 0.25 feature match
    pub fn quality(&self) -> f64 {
        0.75 * f64::from(u8::from(self.exact)) + 0.25 * self.features
    }
}

fn ranks(taste: &Taste, product: &Product) -> impl Iterator<Item = u8> {
    taste
        .iter()
        .zip(product)
        .map(|(ranks, feature)| ranks.get(usize::from(*feature)).copied().unwrap_or_default())
}

fn acceptable(taste: &Taste, product: &Product) -> bool {
    ranks(taste, product).all(|rank| rank > 0)
}

impl Offer {
    /// What it is worth to buy an option, or nothing.
    pub fn outcome(&self, taste: &Taste, bought: Option<&Product>) -> Outcome {
        let Some(product) = bought else {
            let exact = !self.options.iter().any(|option| acceptable(taste, option));
            return Outcome { exact, features: f64::from(u8::from(exact)), labelled: self.label.is_none() };
        };
        let features = ranks(taste, product).map(|rank| f64::from(rank) / 6.0).sum();
        let labelled = self.label.and_then(|label| self.options.get(label)) == Some(product);
        Outcome { exact: acceptable(taste, product), features, labelled }
    }
}

#[derive(Deserialize)]
struct Person {
    persona_info: BTreeMap<String, Value>,
}

#[derive(Deserialize)]
struct Liking {
    dislike: Vec<String>,
    like_most: String,
    like_second: Vec<String>,
}

#[derive(Deserialize)]
struct Row {
    product: String,
    #[serde(rename = "Option A")]
    a: [String; 3],
    #[serde(rename = "Option B")]
    b: [String; 3],
    #[serde(rename = "Option C")]
    c: [String; 3],
    #[serde(rename = "User")]
    user: String,
    gt: Option<String>,
}

/// The features of a kind of product, by category, in alphabetical order: nothing of anybody's taste is in the order.
type Categories = Vec<Vec<String>>;

/// The tastes of everybody in a file: person, kind of product, category.
type People = BTreeMap<String, BTreeMap<String, BTreeMap<String, Liking>>>;

fn people(setup: &Setup, file: &DataFile) -> Result<People, StudyError> {
    let bad = |error: serde_json::Error| file.bad(setup, error.to_string());
    let read: BTreeMap<String, Person> = serde_json::from_str(&file.read(setup)?).map_err(bad)?;
    let mut people = People::new();
    for (name, person) in read {
        let kinds = person.persona_info.into_iter().filter(|(kind, _)| kind != "name");
        let tastes = kinds.map(|(kind, value)| Ok((kind, serde_json::from_value(value)?)));
        people.insert(name, tastes.collect::<Result<_, _>>().map_err(bad)?);
    }
    Ok(people)
}

fn catalogue(people: &People) -> BTreeMap<String, Categories> {
    let mut kinds = BTreeMap::new();
    for (kind, categories) in people.values().flatten() {
        let features = |liking: &Liking| {
            let all = liking.dislike.iter().chain(&liking.like_second).chain([&liking.like_most]);
            let mut all: Vec<String> = all.cloned().collect();
            all.sort_unstable();
            all
        };
        kinds.entry(kind.clone()).or_insert_with(|| categories.values().map(features).collect());
    }
    kinds
}

fn taste(categories: &Categories, likings: &BTreeMap<String, Liking>) -> Option<Taste> {
    let mut taste = Taste::default();
    for ((ranks, features), liking) in taste.iter_mut().zip(categories).zip(likings.values()) {
        let liked = liking.like_second.iter().map(|name| (name, 1)).chain([(&liking.like_most, 2)]);
        for (name, rank) in liked.chain(liking.dislike.iter().map(|name| (name, 0))) {
            *ranks.get_mut(features.iter().position(|feature| feature == name)?)? = rank;
        }
    }
    (categories.len() == 3 && likings.len() == 3).then_some(taste)
}

/// The three features in the order of their categories; the files have them in any.
fn product(categories: &Categories, names: &[String; 3]) -> Option<Product> {
    let mut product = Product::default();
    for (slot, features) in product.iter_mut().zip(categories) {
        *slot = u8::try_from(features.iter().position(|feature| names.contains(feature))?).ok()?;
    }
    Some(product)
}

fn offer(kinds: &BTreeMap<String, Categories>, row: &Row) -> Option<Offer> {
    let (kind, (_, categories)) = kinds.iter().enumerate().find(|(_, (name, _))| **name == row.product)?;
    let options = [product(categories, &row.a)?, product(categories, &row.b)?, product(categories, &row.c)?];
    let label = match row.gt.as_deref() {
        None => None,
        Some(letter) => Some(["A", "B", "C"].iter().position(|known| *known == letter)?),
    };
    Some(Offer { kind, options, label })
}

/// Reads the files.
pub fn read(setup: &Setup) -> Result<Market, StudyError> {
    let mut shoppers: BTreeMap<String, Shopper> = BTreeMap::new();
    let first = people(setup, &TASTES[0])?;
    let kinds = catalogue(&first);
    for (time, (file, people)) in TASTES.iter().zip([first, people(setup, &TASTES[1])?]).enumerate() {
        for (name, likings) in people {
            let shopper = shoppers.entry(name).or_default();
            for (kind, likings) in likings {
                let known = kinds.iter().enumerate().find(|(_, (name, _))| **name == kind);
                let read =
                    known.and_then(|(index, (_, categories))| Some((index, taste(categories, &likings)?)));
                let (index, taste) = read.ok_or_else(|| {
                    file.bad(setup, format!("the features of '{kind}' do not fit together"))
                })?;
                shopper.tastes.get_mut(time).into_iter().for_each(|tastes| _ = tastes.insert(index, taste));
            }
        }
    }
    for (phase, file) in PHASES.iter().enumerate() {
        let rows: Vec<Row> =
            serde_json::from_str(&file.read(setup)?).map_err(|error| file.bad(setup, error.to_string()))?;
        for (number, row) in rows.iter().enumerate() {
            let place = shoppers.get_mut(&row.user).and_then(|shopper| shopper.phases.get_mut(phase));
            let (Some(place), Some(offer)) = (place, offer(&kinds, row)) else {
                return Err(file
                    .bad(setup, format!("entry {number} has an unknown user, product, feature or answer")));
            };
            place.push(offer);
        }
    }
    Ok(Market {
        kinds: kinds.into_keys().map(|name| name.replace(' ', "_")).collect(),
        shoppers: shoppers.into_values().collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Like the first feature of every category most, the second will do.
    const TASTE: Taste = [[2, 1, 0, 0, 0, 0]; 3];

    #[test]
    fn what_a_purchase_is_worth() {
        let offer = Offer { kind: 0, options: [[0, 0, 0], [1, 0, 1], [0, 0, 2]], label: Some(0) };
        let quality = |bought: Option<&Product>| offer.outcome(&TASTE, bought).quality();
        assert_eq!(quality(Some(&[0, 0, 0])), 1.0);
        assert!((quality(Some(&[1, 0, 1])) - (0.75 + 0.25 * 4.0 / 6.0)).abs() < 1e-15);
        assert!((quality(Some(&[0, 0, 2])) - 0.25 * 4.0 / 6.0).abs() < 1e-15);
        assert_eq!(quality(None), 0.0);
        assert!(offer.outcome(&TASTE, Some(&[0, 0, 0])).labelled && !offer.outcome(&TASTE, None).labelled);
        let nothing = Offer { options: [[2, 0, 0], [0, 3, 0], [0, 0, 4]], label: None, ..offer };
        assert_eq!(nothing.outcome(&TASTE, None), Outcome { exact: true, features: 1.0, labelled: true });
    }

    #[test]
    fn features_are_found_in_any_order() {
        let categories: Categories =
            vec![vec!["a".into(), "b".into()], vec!["c".into()], vec!["d".into(), "e".into()]];
        assert_eq!(product(&categories, &["e".into(), "b".into(), "c".into()]), Some([1, 0, 1]));
        assert_eq!(product(&categories, &["e".into(), "x".into(), "c".into()]), None);
    }
}
