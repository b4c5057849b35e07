//! The office kitchen on PAHF's files: 40 personas with 30 requests in each of four phases, and what each memory mode makes of them.
//!
//! A request is to bring something or to put something away, and the host tells which from its words. What can be brought is
//! everything in the scene; what is put away is the first thing in the scene, and the rest are places. Candidates are put in
//! order by what a mode retrieves, then by words of the request, then in an order drawn once: where something stands in a
//! scene's list says nothing.
//!
//! | mode | retrieves |
//! |---|---|
//! | `no_memory` | nothing |
//! | `recent_memory` | what the user wanted at the last correction, if it was a request of the same kind |
//! | `semantic_memory` | what was wanted at the nearest earlier request of the same kind by weight of shared words, the latest of equals |
//! | `preference_memory` | the wishes without a condition: favourites and what is so in general |
//! | `profile_summary` | all wishes, each as far as its condition shares words with the request; one without a condition counts 0.1 |
//!
//! A correction says what was wanted, so after a round the host knows it whatever was chosen. What was stated is what the
//! persona said on the first day, also after the drift, except where the persona is said to have stated itself again.

use super::host::Worth;
use super::stated::{self, Wish};
use super::words::{Stems, Weights, overlap, stems};
use super::{Note, Place, World};
use crate::data::{EMBODIED_PERSONAS, EMBODIED_SCENARIOS};
use crate::draw::shuffle;
use crate::setup::{Setup, StudyError};
use fable_core::catalog::agent::{AGENT, Memory, Style};
use fable_core::{Context, Statement};
use fable_simulate::Random;
use fable_std::text::{ContextAdapter, RequestText, Rules, Situation};
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Deserialize)]
struct Row {
    task: String,
    user: String,
    user_intent_object: String,
    user_intent_location: String,
    scene_objects: Vec<String>,
}

impl Row {
    /// Whether something is to be put away, as the file has it.
    fn is_put(&self) -> bool {
        self.user_intent_location != "pick-up"
    }
}

/// Whether a request is to put something away, by its words.
fn reads_as_put(request: &str) -> bool {
    let lower = request.to_lowercase();
    let has = |words: &[&str]| {
        lower.split(|letter: char| !letter.is_alphanumeric()).any(|word| words.contains(&word))
    };
    lower.contains("where should")
        || has(&["put", "place", "arrange", "organize"]) && !has(&["bring", "grab"])
}

struct Scene {
    context: Context,
    worth: Worth,
    request: Stems,
    /// As the host reads it.
    put: bool,
    candidates: Vec<Stems>,
    /// What was wanted: the location where something was put away, otherwise the object.
    wanted: Stems,
    neutral: Vec<usize>,
    /// By what was stated before and after the drift: the orders of favourites and of the profile, and who is refused.
    favourites: [Vec<usize>; 2],
    profile: [Vec<usize>; 2],
    refused: [Vec<bool>; 2],
}

impl Scene {
    fn read(row: &Row, seed: [u64; 4]) -> Result<Self, StudyError> {
        let context = Rules.context(&AGENT, Situation::new(RequestText::new(&row.task)))?.value;
        let put = reads_as_put(&row.task);
        let names = row.scene_objects.get(usize::from(put)..).unwrap_or_default();
        let object = |name: Option<&String>| name == Some(&row.user_intent_object);
        let number = |holds: bool| f64::from(u8::from(holds));
        let quality = |name: &String| match (row.is_put(), put) {
            (false, false) => number(object(Some(name))),
            (false, true) => number(object(row.scene_objects.first())),
            (true, false) => 0.6 * number(object(Some(name))),
            (true, true) => {
                0.6 * number(object(row.scene_objects.first()))
                    + 0.4 * number(*name == row.user_intent_location)
            }
        };
        let qualities: Vec<f64> = names.iter().map(quality).collect();
        let mut neutral: Vec<usize> = (0..names.len()).collect();
        shuffle(&mut Random::new(seed), &mut neutral);
        Ok(Self {
            context,
            worth: Worth {
                right: qualities.iter().map(|quality| *quality > 0.999).collect(),
                qualities,
                told: 1.0,
            },
            request: stems(&row.task),
            put,
            candidates: names.iter().map(|name| stems(name)).collect(),
            wanted: stems(if row.is_put() { &row.user_intent_location } else { &row.user_intent_object }),
            neutral,
            favourites: Default::default(),
            profile: Default::default(),
            refused: Default::default(),
        })
    }

    /// The candidates by score, then by words of the request, then in the drawn order.
    fn ordered(&self, score: impl Fn(&Stems) -> f64) -> Vec<usize> {
        let keys: Vec<[f64; 2]> = self
            .candidates
            .iter()
            .map(|candidate| [score(candidate), overlap(candidate, &self.request)])
            .collect();
        let key = |index: usize| keys.get(index).copied().unwrap_or_default();
        let mut order = self.neutral.clone();
        order.sort_by(|one, other| {
            let ([score, words], [other_score, other_words]) = (key(*one), key(*other));
            other_score.total_cmp(&score).then(other_words.total_cmp(&words))
        });
        order
    }

    /// Works out what is stated about this request.
    fn consult(&mut self, weights: &Weights, time: usize, wishes: &[Wish]) {
        let about: Vec<(&Wish, f64)> = wishes
            .iter()
            .filter(|wish| wish.place == self.put)
            .map(|wish| {
                (wish, weights.shared(&wish.when, &self.request) + if wish.always() { 0.1 } else { 0.0 })
            })
            .collect();
        let sum = |candidate: &Stems, of: fn(&Wish) -> &Stems, all: bool| -> f64 {
            let counted = about.iter().filter(|(wish, _)| all || wish.always());
            counted.map(|(wish, weight)| weight * overlap(candidate, of(wish))).sum()
        };
        let favourites = self.ordered(|candidate| sum(candidate, |wish| &wish.wanted, false));
        let profile = self.ordered(|candidate| sum(candidate, |wish| &wish.wanted, true));
        let refused = self.candidates.iter().map(|candidate| {
            sum(candidate, |wish| &wish.unwanted, true) > sum(candidate, |wish| &wish.wanted, true)
        });
        let refused = refused.collect();
        if let (Some(favourite), Some(whole), Some(not)) =
            (self.favourites.get_mut(time), self.profile.get_mut(time), self.refused.get_mut(time))
        {
            (*favourite, *whole, *not) = (favourites, profile, refused);
        }
    }
}

/// How many requests a persona has in each phase.
const REQUESTS: usize = 30;

struct Persona {
    manner: Option<Style>,
    statements: Vec<Statement>,
    phases: [Vec<Scene>; 4],
}

/// Everything in the files.
pub struct Kitchen {
    personas: Vec<Persona>,
    weights: Weights,
    /// How many requests the host reads rightly as to bring or to put away, and how many there are.
    pub read: (usize, usize),
    /// How many requests have no right candidate: only the user can say what is wanted.
    pub nowhere: usize,
}

/// By the persona's name: what it says of itself.
type Texts = BTreeMap<String, String>;

impl Kitchen {
    /// Reads the files: the personas in the order of their names, at most so many.
    pub fn read(setup: &Setup, most: usize) -> Result<Self, StudyError> {
        let mut texts: [Texts; 2] = Default::default();
        for (file, texts) in EMBODIED_PERSONAS.iter().zip(&mut texts) {
            *texts = serde_json::from_str(&file.read(setup)?)
                .map_err(|error| file.bad(setup, error.to_string()))?;
        }
        let names: Vec<&str> = texts[0].keys().map(String::as_str).take(most).collect();
        let mut phases: [Vec<Row>; 4] = Default::default();
        for (file, phase) in EMBODIED_SCENARIOS.iter().zip(&mut phases) {
            let rows: Vec<Row> = serde_json::from_str(&file.read(setup)?)
                .map_err(|error| file.bad(setup, error.to_string()))?;
            for name in texts[0].keys() {
                let count = rows.iter().filter(|row| row.user == *name).count();
                if count != REQUESTS {
                    return Err(file.bad(setup, format!("{name} has {count} requests instead of {REQUESTS}")));
                }
            }
            *phase = rows;
        }
        Self::of(&names, &texts, &phases)
    }

    /// From what personas say before and after the drift, and the requests of the four phases.
    fn of(names: &[&str], texts: &[Texts; 2], phases: &[Vec<Row>; 4]) -> Result<Self, StudyError> {
        let text = |texts: &Texts, name: &str| texts.get(name).cloned().unwrap_or_default();
        let mut personas = Vec::new();
        for name in names {
            let first = text(&texts[0], name);
            let statements = stated::statements(&first)?;
            personas.push(Persona { manner: stated::manner(&first), statements, phases: Default::default() });
        }
        let (mut read, mut nowhere) = ((0, 0), 0);
        for (phase, rows) in phases.iter().enumerate() {
            for row in rows {
                let Some(person) = names.iter().position(|name| *name == row.user) else { continue };
                let Some(scenes) = personas.get_mut(person).and_then(|persona| persona.phases.get_mut(phase))
                else {
                    continue;
                };
                let scene = Scene::read(row, [person as u64, phase as u64, scenes.len() as u64, 0x5ce7e])?;
                read = (read.0 + usize::from(scene.put == row.is_put()), read.1 + 1);
                nowhere += usize::from(!scene.worth.right.contains(&true));
                scenes.push(scene);
            }
        }
        let weights = Weights::of(
            personas.iter().flat_map(|persona| &persona.phases).flatten().map(|scene| &scene.request),
        );
        for (persona, name) in personas.iter_mut().zip(names) {
            for (time, texts) in texts.iter().enumerate() {
                let wishes = stated::wishes(&text(texts, name));
                persona.phases.iter_mut().flatten().for_each(|scene| scene.consult(&weights, time, &wishes));
            }
        }
        Ok(Self { personas, weights, read, nowhere })
    }

    fn scene(&self, at: Place) -> Option<&Scene> {
        self.personas.get(at.person)?.phases.get(at.phase)?.get(at.round)
    }
}

impl World for Kitchen {
    fn people(&self) -> usize {
        self.personas.len()
    }

    fn rounds(&self, person: usize, phase: usize) -> usize {
        self.personas.get(person).and_then(|persona| persona.phases.get(phase)).map_or(0, Vec::len)
    }

    fn request(&self, at: Place) -> Option<(&Context, &Worth)> {
        self.scene(at).map(|scene| (&scene.context, &scene.worth))
    }

    fn manner(&self, person: usize) -> Option<Style> {
        self.personas.get(person)?.manner
    }

    fn statements(&self, person: usize) -> &[Statement] {
        self.personas.get(person).map_or(&[], |persona| &persona.statements)
    }

    fn order(&self, at: Place, memory: Memory, notes: &[Note], told: usize) -> Vec<usize> {
        let Some(scene) = self.scene(at) else { return Vec::new() };
        let stored = |orders: &[Vec<usize>; 2]| orders.get(told).cloned().unwrap_or_default();
        let like = |earlier: Option<&Scene>| match earlier.filter(|earlier| earlier.put == scene.put) {
            Some(earlier) => scene.ordered(|candidate| overlap(candidate, &earlier.wanted)),
            None => scene.ordered(|_| 0.0),
        };
        match memory {
            Memory::PreferenceMemory => stored(&scene.favourites),
            Memory::ProfileSummary => stored(&scene.profile),
            Memory::RecentMemory => {
                like(notes.iter().rev().find(|note| !note.right).and_then(|note| self.scene(note.at)))
            }
            Memory::SemanticMemory => {
                let earlier = notes
                    .iter()
                    .filter_map(|note| self.scene(note.at))
                    .filter(|earlier| earlier.put == scene.put);
                let near =
                    earlier.map(|earlier| (earlier, self.weights.shared(&earlier.request, &scene.request)));
                let nearest = near
                    .filter(|(_, shared)| *shared > 0.0)
                    .max_by(|(_, one), (_, other)| one.total_cmp(other));
                like(nearest.map(|(earlier, _)| earlier))
            }
            Memory::NoMemory => like(None),
        }
    }

    fn refuses(&self, at: Place, candidate: usize, told: usize) -> bool {
        let refused = self.scene(at).and_then(|scene| scene.refused.get(told)?.get(candidate).copied());
        refused.unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::super::host::Delivered;
    use super::*;

    fn row(task: &str, objects: &[&str], object: &str, location: &str) -> Row {
        Row {
            task: task.into(),
            user: "Kim".into(),
            user_intent_object: object.into(),
            user_intent_location: location.into(),
            scene_objects: objects.iter().map(|&name| name.into()).collect(),
        }
    }

    fn scene(task: &str, objects: &[&str], object: &str, location: &str) -> Scene {
        Scene::read(&row(task, objects, object, location), [1, 2, 3, 4]).unwrap()
    }

    #[test]
    fn labels_are_graded_six_to_four() {
        let put =
            scene("Could you put the book in the right place?", &["book", "shelf", "desk"], "book", "desk");
        assert_eq!((&*put.worth.qualities, &*put.worth.right), (&[0.6, 1.0][..], &[false, true][..]));
        let bring = scene("Could you bring me a drink?", &["tea", "cocoa"], "cocoa", "pick-up");
        assert_eq!(bring.worth.qualities, [0.0, 1.0]);
        let misread = scene("The book must go", &["book", "shelf"], "book", "shelf");
        assert_eq!(
            (misread.put, &*misread.worth.qualities, &*misread.worth.right),
            (false, &[0.6, 0.0][..], &[false; 2][..])
        );
    }

    #[test]
    fn a_wish_counts_as_far_as_its_condition_fits() {
        let mut scene = scene(
            "I am drowsy. Could you bring me a drink?",
            &["coffee", "herbal tea", "milk"],
            "herbal tea",
            "pick-up",
        );
        let text = "YOUR PERSONA:\n- Your favorite drink is coffee but\n  * When you're drowsy, you prefer herbal tea (not milk) as x";
        let weights = Weights::of([&scene.request, &stems("bring a drink")]);
        scene.consult(&weights, 0, &stated::wishes(text));
        assert_eq!((scene.favourites[0][0], scene.profile[0][0]), (0, 1));
        assert_eq!(scene.refused[0], [false, false, true]);
    }

    const DRINKS: [&str; 4] = ["coffee", "herbal tea", "milk", "cold water"];

    /// Two drinks and a book are learned from; then Kim is drowsy twice again, held out.
    fn kitchen() -> Kitchen {
        let before = "YOUR PERSONA:\n- Your favorite drink is coffee but\n  * When you're drowsy, you prefer herbal tea (not coffee) as x";
        let after = "YOUR PERSONA:\n- PREVIOUSLY: Your favorite was coffee → NOW: Your favorite is milk\n\
            - PREVIOUSLY: When drowsy, you preferred herbal tea → NOW: When drowsy, you prefer cold water (not herbal tea)";
        let texts = [before, after].map(|text| Texts::from([("Kim".to_owned(), text.to_owned())]));
        let learned = vec![
            row("I am drowsy. Could you bring me a drink?", &DRINKS, "herbal tea", "pick-up"),
            row("I am thirsty. Could you bring me a drink?", &DRINKS, "milk", "pick-up"),
            row("Could you put the book in the right place?", &["book", "shelf", "desk"], "book", "desk"),
        ];
        let again =
            |wanted| vec![row("So drowsy today. Could you bring me a drink?", &DRINKS, wanted, "pick-up")];
        Kitchen::of(&["Kim"], &texts, &[learned, again("milk"), Vec::new(), again("herbal tea")]).unwrap()
    }

    fn note(round: usize, right: bool) -> Note {
        Note { at: Place { person: 0, phase: 0, round }, delivered: Delivered::Candidate(0), right }
    }

    #[test]
    fn each_memory_mode_retrieves_what_the_table_says() {
        let (kitchen, at) = (kitchen(), Place { person: 0, phase: 1, round: 0 });
        let first = |memory, notes: &[Note], told| kitchen.order(at, memory, notes, told)[0];
        let neutral = kitchen.order(at, Memory::NoMemory, &[], 0);
        assert_eq!(
            neutral,
            kitchen.order(at, Memory::NoMemory, &[note(0, false)], 1),
            "nothing is retrieved"
        );
        let (tea, milk, water) = (1, 2, 3);
        // The nearest is the drowsy one whatever came of it; the last correction is the thirsty one.
        let notes = [note(0, true), note(1, false)];
        assert_eq!(
            (first(Memory::SemanticMemory, &notes, 0), first(Memory::RecentMemory, &notes, 0)),
            (tea, milk)
        );
        // What needed no correction is not a correction, and a book says nothing about drinks.
        assert_eq!(first(Memory::RecentMemory, &[note(0, false), note(1, true)], 0), tea);
        assert_eq!(kitchen.order(at, Memory::RecentMemory, &[note(0, false), note(2, false)], 0), neutral);
        assert_eq!(kitchen.order(at, Memory::SemanticMemory, &[note(2, false)], 0), neutral);
        // Stated: a favourite, the text as a whole, and the same after the drift.
        assert_eq!(
            (first(Memory::PreferenceMemory, &[], 0), first(Memory::ProfileSummary, &[], 0)),
            (0, tea)
        );
        assert_eq!(
            (first(Memory::PreferenceMemory, &[], 1), first(Memory::ProfileSummary, &[], 1)),
            (milk, water)
        );
        assert!(kitchen.refuses(at, 0, 0) && !kitchen.refuses(at, tea, 0) && kitchen.refuses(at, tea, 1));
    }

    #[test]
    fn what_is_learned_from_is_noted_and_what_is_held_out_is_not() {
        use super::super::life::{Chooser, MODE, QUALITY, Study, feasible};
        use fable_core::catalog::agent::{Tool, action};
        let kitchen = kitchen();
        let study = Study { world: &kitchen, feasible: feasible(true).unwrap(), restated: false, seed: 3 };
        let fixed = action(Memory::SemanticMemory, Tool::NoTool, Style::Direct);
        let life = study.live(0, Chooser::Fixed(fixed)).unwrap();
        assert_eq!(life.rewards.each_ref().map(Vec::len), [3, 1, 0, 1]);
        // Milk is wanted in phase 2, but tea was when Kim was drowsy; were that noted, milk would be brought in phase 4.
        assert_eq!([1, 3].map(|phase| life.phases[phase].mean(QUALITY)), [0.0, 1.0]);
        assert_eq!(life.phases[0].mean(MODE + 2), 1.0);
    }

    #[test]
    fn with_nobody_to_ask_a_hundred_actions_are_left() {
        let [asking, alone] = [true, false].map(|asking| super::super::life::feasible(asking).unwrap().len());
        assert_eq!((asking, alone), (180, 100));
    }
}
