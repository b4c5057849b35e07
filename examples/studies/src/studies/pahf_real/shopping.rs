//! PAHF's shopping files with the same host: three products and buying nothing are the candidates of a request.
//!
//! | mode | retrieves |
//! |---|---|
//! | `no_memory` | nothing |
//! | `recent_memory` | what the last correction said about features |
//! | `semantic_memory` | what was said at the earlier offer of the same product that shares the most features, the latest of equals |
//! | `preference_memory` | the feature stated as preferred, of each category |
//! | `profile_summary` | all that was stated: preferred, acceptable, and what is neither is not |
//!
//! What is said about a purchase is as the personas' texts have it: after a wrong product only which of its features are not
//! liked, after the right one that they all are, after nothing was bought which product would have done. A product with a
//! feature known not to be liked comes after buying nothing, all others before it, the most liked features first.

use super::host::{Delivered, Worth};
use super::{Note, Place, World};
use crate::draw::shuffle;
use crate::setup::{Setup, StudyError};
use crate::studies::pahf_shopping::market::{self, FEATURES, Market, Offer, PHASES, Product, Taste};
use fable_core::catalog::agent::{AGENT, Memory, Style, TOOL, Tool};
use fable_core::catalog::{Direction, When};
use fable_core::{Context, Statement};
use fable_simulate::Random;
use fable_std::text::{ContextAdapter, RequestText, Rules, Situation};
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Deserialize)]
struct Row {
    #[serde(rename = "User")]
    user: String,
    #[serde(rename = "Task")]
    task: String,
}

/// The candidate after the three products.
const NOTHING: usize = 3;

/// What is known about each feature of a product: 1 liked, -1 not liked, 0 nothing.
type Known = [[i8; FEATURES]; 3];

struct Scene {
    context: Context,
    worth: Worth,
    neutral: Vec<usize>,
}

/// The shoppers and their offers.
pub struct Shop {
    market: Market,
    scenes: Vec<[Vec<Scene>; 4]>,
    said: Vec<Statement>,
}

fn features(product: &Product) -> impl Iterator<Item = (usize, usize)> {
    product.iter().map(|feature| usize::from(*feature)).enumerate()
}

fn of<T: Copy + Default>(table: &[[T; FEATURES]; 3], (category, feature): (usize, usize)) -> T {
    table.get(category).and_then(|row| row.get(feature)).copied().unwrap_or_default()
}

/// Marks features of a product as liked, or those that are not liked as not liked.
fn mark(known: &mut Known, product: &Product, taste: &Taste, liked: bool) {
    for (category, feature) in features(product) {
        if let Some(slot) = known.get_mut(category).and_then(|row| row.get_mut(feature)) {
            match (liked, of(taste, (category, feature))) {
                (true, _) => *slot = 1,
                (false, 0) => *slot = -1,
                (false, _) => {}
            }
        }
    }
}

/// What the shopper says after a purchase.
fn said(offer: &Offer, worth: &Worth, taste: &Taste, note: &Note) -> Known {
    let mut known = Known::default();
    let best = (0..offer.options.len()).filter(|index| worth.right.get(*index) == Some(&true));
    let quality = |index: usize| worth.qualities.get(index).copied().unwrap_or_default();
    let wanted = best.max_by(|one, other| quality(*one).total_cmp(&quality(*other)));
    let (product, liked) = match note.delivered {
        Delivered::Candidate(index) if index < NOTHING => (Some(index), note.right),
        _ => (wanted, true),
    };
    if let Some(product) = product.and_then(|index| offer.options.get(index)) {
        mark(&mut known, product, taste, liked);
    }
    known
}

/// The candidates by what is known.
fn ordered(offer: &Offer, neutral: &[usize], known: &Known) -> Vec<usize> {
    let key = |candidate: usize| match offer.options.get(candidate) {
        None => (1, 0),
        Some(product) => {
            let marks: Vec<i8> = features(product).map(|feature| of(known, feature)).collect();
            let liked = marks.iter().filter(|mark| **mark > 0).count();
            (if marks.contains(&-1) { 2 } else { 0 }, NOTHING - liked)
        }
    };
    let mut order = neutral.to_vec();
    order.sort_by_key(|candidate| key(*candidate));
    order
}

impl Scene {
    fn read(task: &str, offer: &Offer, taste: &Taste, seed: [u64; 4]) -> Result<Self, StudyError> {
        let outcomes =
            offer.options.iter().map(Some).chain([None]).map(|bought| offer.outcome(taste, bought));
        let (qualities, right): (Vec<f64>, Vec<bool>) =
            outcomes.map(|outcome| (outcome.quality(), outcome.exact)).unzip();
        let told = qualities.iter().copied().fold(0.0, f64::max);
        let mut products: Vec<usize> = (0..NOTHING).collect();
        shuffle(&mut Random::new(seed), &mut products);
        let context = Rules.context(&AGENT, Situation::new(RequestText::new(task)))?.value;
        Ok(Self {
            context,
            worth: Worth { qualities, right, told },
            neutral: products.into_iter().chain([NOTHING]).collect(),
        })
    }
}

impl Shop {
    /// Reads the files: at most so many shoppers.
    pub fn read(setup: &Setup, most: usize) -> Result<Self, StudyError> {
        let mut market = market::read(setup)?;
        let everybody = market.shoppers.len();
        market.shoppers.truncate(most);
        let mut scenes: Vec<[Vec<Scene>; 4]> = market.shoppers.iter().map(|_| Default::default()).collect();
        for (phase, file) in PHASES.iter().enumerate() {
            let rows: Vec<Row> = serde_json::from_str(&file.read(setup)?)
                .map_err(|error| file.bad(setup, error.to_string()))?;
            // The market has its shoppers in the order of their names too.
            let mut tasks: BTreeMap<String, Vec<String>> = BTreeMap::new();
            for row in rows {
                tasks.entry(row.user).or_default().push(row.task);
            }
            if tasks.len() != everybody {
                return Err(
                    file.bad(setup, format!("{} shoppers have offers instead of {everybody}", tasks.len()))
                );
            }
            for ((person, shopper), (tasks, scenes)) in
                market.shoppers.iter().enumerate().zip(tasks.values().zip(&mut scenes))
            {
                let (Some(offers), Some(tastes)) = (shopper.phases.get(phase), shopper.tastes.get(phase / 2))
                else {
                    continue;
                };
                let Some(place) = scenes.get_mut(phase) else { continue };
                for (round, (offer, task)) in offers.iter().zip(tasks).enumerate() {
                    let taste = tastes
                        .get(&offer.kind)
                        .ok_or_else(|| file.bad(setup, "somebody buys what no taste is known for"))?;
                    place.push(Scene::read(
                        task,
                        offer,
                        taste,
                        [person as u64, phase as u64, round as u64, 0x5409],
                    )?);
                }
            }
        }
        // "When evaluating a product, check EACH feature against your preferences": all of them say so, and nothing else.
        let checker =
            Direction::prefer(&AGENT, &[(TOOL, Tool::PreferenceChecker.index())], &[], When::Always)?;
        Ok(Self {
            market,
            scenes,
            said: vec![Statement { direction: checker, response: 1.0, precision: 4.0 }],
        })
    }

    fn scene(&self, at: Place) -> Option<(&Offer, &Scene)> {
        let offer = self.market.shoppers.get(at.person)?.phases.get(at.phase)?.get(at.round)?;
        Some((offer, self.scenes.get(at.person)?.get(at.phase)?.get(at.round)?))
    }

    fn taste(&self, person: usize, time: usize, kind: usize) -> Option<&Taste> {
        self.market.shoppers.get(person)?.tastes.get(time)?.get(&kind)
    }

    /// What was said after an earlier round, with its offer.
    fn heard(&self, note: &Note) -> Option<(&Offer, Known)> {
        let (offer, scene) = self.scene(note.at)?;
        let taste = self.taste(note.at.person, note.at.phase / 2, offer.kind)?;
        Some((offer, said(offer, &scene.worth, taste, note)))
    }

    /// What a mode retrieves about the features of the product on offer.
    fn known(&self, at: Place, offer: &Offer, memory: Memory, notes: &[Note], told: usize) -> Known {
        let stated = |mark: fn(u8) -> i8| {
            self.taste(at.person, told, offer.kind)
                .map_or_else(Known::default, |taste| taste.map(|ranks| ranks.map(mark)))
        };
        let about = |heard: Option<(&Offer, Known)>| {
            heard
                .filter(|(earlier, _)| earlier.kind == offer.kind)
                .map_or_else(Known::default, |(_, known)| known)
        };
        match memory {
            Memory::PreferenceMemory => stated(|rank| i8::from(rank == 2)),
            Memory::ProfileSummary => stated(|rank| if rank == 0 { -1 } else { 1 }),
            Memory::RecentMemory => {
                about(notes.iter().rev().find(|note| !note.right).and_then(|note| self.heard(note)))
            }
            Memory::SemanticMemory => {
                let same = notes.iter().filter(|note| {
                    self.scene(note.at).is_some_and(|(earlier, _)| earlier.kind == offer.kind)
                });
                let near =
                    |note: &&Note| self.scene(note.at).map_or(0, |(earlier, _)| shared(earlier, offer));
                about(same.max_by_key(near).and_then(|note| self.heard(note)))
            }
            Memory::NoMemory => Known::default(),
        }
    }
}

/// How many features two offers of the same product have in common.
fn shared(one: &Offer, other: &Offer) -> usize {
    let has =
        |offer: &Offer, wanted| offer.options.iter().flat_map(features).any(|feature| feature == wanted);
    let all = (0..3).flat_map(|category| (0..FEATURES).map(move |feature| (category, feature)));
    all.filter(|feature| has(one, *feature) && has(other, *feature)).count()
}

impl World for Shop {
    fn people(&self) -> usize {
        self.scenes.len()
    }

    fn rounds(&self, person: usize, phase: usize) -> usize {
        self.scenes.get(person).and_then(|phases| phases.get(phase)).map_or(0, Vec::len)
    }

    fn request(&self, at: Place) -> Option<(&Context, &Worth)> {
        self.scene(at).map(|(_, scene)| (&scene.context, &scene.worth))
    }

    fn manner(&self, _: usize) -> Option<Style> {
        None
    }

    fn statements(&self, _: usize) -> &[Statement] {
        &self.said
    }

    fn order(&self, at: Place, memory: Memory, notes: &[Note], told: usize) -> Vec<usize> {
        let Some((offer, scene)) = self.scene(at) else { return Vec::new() };
        ordered(offer, &scene.neutral, &self.known(at, offer, memory, notes, told))
    }

    fn refuses(&self, at: Place, candidate: usize, told: usize) -> bool {
        let Some((offer, _)) = self.scene(at) else { return false };
        let (product, taste) = (offer.options.get(candidate), self.taste(at.person, told, offer.kind));
        product
            .zip(taste)
            .is_some_and(|(product, taste)| features(product).any(|feature| of(taste, feature) == 0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Like the first feature of every category most, the second will do.
    const TASTE: Taste = [[2, 1, 0, 0, 0, 0]; 3];

    fn heard(delivered: Delivered) -> Known {
        let offer = Offer { kind: 0, options: [[0, 0, 2], [0, 1, 1], [2, 3, 0]], label: Some(1) };
        let scene = Scene::read("I want a camera that I like", &offer, &TASTE, [1; 4]).unwrap();
        let right = matches!(delivered, Delivered::Candidate(index) if scene.worth.right[index]);
        said(&offer, &scene.worth, &TASTE, &Note { at: Place::default(), delivered, right })
    }

    #[test]
    fn a_shopper_says_what_is_wrong_or_what_would_have_done() {
        let marked = |marks: &[(usize, usize, i8)]| {
            let mut known = Known::default();
            for (category, feature, mark) in marks {
                known[*category][*feature] = *mark;
            }
            known
        };
        assert_eq!(heard(Delivered::Candidate(0)), marked(&[(2, 2, -1)]));
        assert_eq!(heard(Delivered::Candidate(2)), marked(&[(0, 2, -1), (1, 3, -1)]));
        let good = marked(&[(0, 0, 1), (1, 1, 1), (2, 1, 1)]);
        for delivered in [Delivered::Candidate(1), Delivered::Candidate(NOTHING), Delivered::Told] {
            assert_eq!(heard(delivered), good, "{delivered:?}");
        }
    }

    #[test]
    fn what_is_not_liked_comes_after_buying_nothing() {
        let offer = Offer { kind: 0, options: [[0, 0, 2], [0, 1, 1], [2, 3, 0]], label: Some(1) };
        let neutral = [2, 0, 1, NOTHING];
        assert_eq!(ordered(&offer, &neutral, &Known::default()), neutral);
        let profile: Known = TASTE.map(|ranks| ranks.map(|rank| if rank == 0 { -1 } else { 1 }));
        assert_eq!(ordered(&offer, &neutral, &profile)[..2], [1, NOTHING]);
        assert_eq!(shared(&offer, &offer), 8);
    }
}
