//! The three kinds of people: simulated ones with something in common, shoppers from the real files, and exams.

use super::world::Person;
use crate::data::CONCISE_COT;
use crate::setup::{Setup, StudyError};
use crate::studies::pahf_shopping::market::{self, Market, Product};
use crate::studies::pahf_shopping::{BLOCKS, COMPONENTS};
use crate::studies::prompts::exams::{ALIKE, Exams};
use fable_core::catalog::ActionSet;
use fable_core::catalog::{Block, Component, Definition, Value};
use fable_core::{Action, Catalog, Context, Feasible};
use fable_simulate::{Random, SimulatedUser};
use std::collections::BTreeMap;

/// A simulated user: 0.6 of what all have in common, 0.6 of one of three types, 0.5 of an own taste, each of length 1.
pub struct Simulated<'c>(SimulatedUser<'c>);

/// Names of the tastes that are shared, apart from those of users.
const SHARED: u64 = 1 << 40;
const TYPES: u64 = 3;

impl<'c> Simulated<'c> {
    /// A user of a population; numbers below 2^40.
    pub fn new(catalog: &'c Catalog<'c>, population: u64, number: u64) -> Result<Self, StudyError> {
        let taste = |seed: u64| SimulatedUser::new(catalog, seed).theta().to_vec();
        let shared = SHARED + population * (TYPES + 1);
        let kind = Random::new([population, number, 0, 0xf1ee7]).below(TYPES as usize) as u64;
        let own = (population << 20) + number;
        let parts = [(0.6, taste(shared)), (0.6, taste(shared + 1 + kind)), (0.5, taste(own))];
        let theta = (0..catalog.dimension())
            .map(|i| parts.iter().map(|(weight, taste)| weight * taste[i]).sum())
            .collect();
        Ok(Self(SimulatedUser::with_theta(catalog, theta, own)?))
    }
}

impl Person for Simulated<'_> {
    fn request(&self, round: usize) -> Result<(Context, Feasible), StudyError> {
        Ok((self.0.request(round as u32 + 1)?.context, Feasible::all(self.0.catalog())))
    }

    fn expected(&self, round: usize, action: Action) -> f64 {
        self.0.request(round as u32 + 1).map_or(0.0, |asked| self.0.expected(&asked.context, action))
    }

    fn reward(&self, round: usize, action: Action) -> f64 {
        self.0
            .request(round as u32 + 1)
            .map_or(0.0, |asked| self.0.reward(round as u32 + 1, &asked.context, action))
    }
}

/// What shoppers are learned with, as in the study `pahf-shopping`; the tasks are the kinds of products.
pub const SHOPPING: Definition<'static> =
    Definition { name: "shopping", components: COMPONENTS, blocks: BLOCKS, ..Definition::EMPTY };

/// A shopper in phase 1.
pub struct Shopper<'m> {
    pub catalog: &'m Catalog<'m>,
    pub shopper: &'m market::Shopper,
}

fn bought(product: &Product) -> Action {
    Action(product.iter().fold(0, |index, feature| index * 7 + u16::from(*feature) + 1))
}

impl Shopper<'_> {
    /// Offers in phase 1.
    pub fn rounds(&self) -> usize {
        self.shopper.phases[0].len()
    }
}

impl Person for Shopper<'_> {
    fn request(&self, round: usize) -> Result<(Context, Feasible), StudyError> {
        let offer = self.shopper.phases[0]
            .get(round)
            .ok_or_else(|| StudyError::Failed("there is no such offer".into()))?;
        let mut set = ActionSet::EMPTY;
        set.insert(Action(0));
        offer.options.iter().for_each(|option| set.insert(bought(option)));
        Ok((Context::new(self.catalog, Some(offer.kind), &[])?, Feasible::from_set(self.catalog, set)?))
    }

    fn expected(&self, round: usize, action: Action) -> f64 {
        let Some(offer) = self.shopper.phases[0].get(round) else { return 0.0 };
        let Some(taste) = self.shopper.tastes[0].get(&offer.kind) else { return 0.0 };
        let product = offer.options.iter().find(|option| bought(option) == action);
        2.0 * offer.outcome(taste, product).quality() - 1.0
    }

    fn reward(&self, round: usize, action: Action) -> f64 {
        self.expected(round, action)
    }
}

/// The shoppers, and their catalog's kinds of products.
pub fn shoppers(setup: &Setup) -> Result<Market, StudyError> {
    market::read(setup)
}

/// The styles of a prompt.
pub const STYLES: Definition<'static> = Definition {
    name: "styles",
    components: &[Component::new(
        "prompt",
        &[
            Value::new("baseline", "", 0.0),
            Value::new("chain_of_thought", "", 0.0),
            Value::new("composite", "", 0.0),
            Value::new("concise", "", 0.0),
        ],
    )],
    blocks: &[Block::main(0)],
    ..Definition::EMPTY
};

/// What 100 tokens of an answer cost.
pub const TOKEN_COST: f64 = 0.1;

/// For every style, which of ten attempts were right, and the cost of one.
type Problem = [(Vec<bool>, f64); 4];

/// An exam: for every problem and style, which of ten attempts were right, and the cost of one.
#[derive(Clone, Debug, Default)]
pub struct Exam {
    problems: Vec<Problem>,
}

/// An exam that is asked in an order of its own.
pub struct Examined<'e> {
    pub catalog: &'e Catalog<'e>,
    pub exam: &'e Exam,
    pub seed: u64,
}

impl Examined<'_> {
    fn random(&self, round: usize) -> Random {
        Random::new([self.seed, round as u64, 0, 0xe8a3])
    }
}

impl Person for Examined<'_> {
    fn request(&self, _: usize) -> Result<(Context, Feasible), StudyError> {
        Ok((Context::new(self.catalog, None, &[])?, Feasible::all(self.catalog)))
    }

    fn expected(&self, _: usize, action: Action) -> f64 {
        let of = |problem: &Problem| {
            let (attempts, cost) =
                problem.get(action.index()).map_or((&[][..], 0.0), |(attempts, cost)| (attempts, *cost));
            attempts.iter().filter(|right| **right).count() as f64 / attempts.len().max(1) as f64 - cost
        };
        self.exam.problems.iter().map(of).sum::<f64>() / self.exam.problems.len().max(1) as f64
    }

    /// The same problem and attempt whatever is chosen.
    fn reward(&self, round: usize, action: Action) -> f64 {
        let mut random = self.random(round);
        let problem = self.exam.problems.get(random.below(self.exam.problems.len()));
        let Some((attempts, cost)) = problem.and_then(|problem| problem.get(action.index())) else {
            return 0.0;
        };
        let right = attempts.get(random.below(attempts.len())).copied().unwrap_or_default();
        (f64::from(u8::from(right)) - cost).clamp(-1.0, 1.0)
    }
}

/// An exam with the rewards of the study `prompts`, on its reporting half.
pub struct Candidate<'e> {
    pub exams: &'e Exams,
    pub exam: usize,
    pub seed: u64,
}

impl Person for Candidate<'_> {
    fn request(&self, _: usize) -> Result<(Context, Feasible), StudyError> {
        Ok((Exams::context(self.exam)?, Feasible::all(&ALIKE)))
    }

    fn expected(&self, _: usize, action: Action) -> f64 {
        self.exams.value(self.exam, action)
    }

    /// The same problem and attempt whatever is chosen.
    fn reward(&self, round: usize, action: Action) -> f64 {
        let mut random = Random::new([self.seed, round as u64, 0, 0xe8a4]);
        self.exams.reward(self.exams.ask_in(self.exam, &mut random), action)
    }
}

/// The ten exams that gpt-35-turbo took.
pub fn exams(setup: &Setup) -> Result<Vec<Exam>, StudyError> {
    let text = CONCISE_COT.read(setup)?;
    let mut lines = text.lines();
    let heads: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
    let place = |name: &str| {
        heads
            .iter()
            .position(|head| *head == name)
            .ok_or_else(|| CONCISE_COT.bad(setup, format!("there is no column {name}")))
    };
    let [exam, problem, model, prompt] =
        [place("exam")?, place("problem_id")?, place("model")?, place("prompt")?];
    let [bits, tokens] = [place("attempts_correct_bits")?, place("output_tokens")?];
    let mut exams: BTreeMap<&str, BTreeMap<&str, Problem>> = BTreeMap::new();
    for line in lines {
        let cells: Vec<&str> = line.split(',').collect();
        let cell = |place: usize| cells.get(place).copied().unwrap_or_default();
        if cell(model) != "gpt-35-turbo" || cell(exam) == "comprehensive-100" {
            continue;
        }
        let style = STYLES.components[0].values.iter().position(|value| value.name == cell(prompt));
        let read = style
            .and_then(|style| Some((style, cell(tokens).parse::<f64>().ok()?)))
            .filter(|_| !cell(bits).is_empty());
        let (style, tokens) =
            read.ok_or_else(|| CONCISE_COT.bad(setup, format!("a row that cannot be read: {line}")))?;
        let attempts: Vec<bool> = cell(bits).chars().map(|bit| bit == '1').collect();
        let cost = TOKEN_COST * tokens / attempts.len() as f64 / 100.0;
        exams.entry(cell(exam)).or_default().entry(cell(problem)).or_default()[style] = (attempts, cost);
    }
    let whole = |problems: &Problem| problems.iter().all(|(attempts, _)| !attempts.is_empty());
    let exams: Vec<Exam> = exams
        .into_values()
        .map(|exam| Exam { problems: exam.into_values().filter(whole).collect() })
        .collect();
    if exams.len() < 6 || exams.iter().any(|exam| exam.problems.is_empty()) {
        return Err(CONCISE_COT.bad(setup, "there are too few exams in it"));
    }
    Ok(exams)
}
