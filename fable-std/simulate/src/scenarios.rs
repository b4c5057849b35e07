//! What simulated users ask for: requests in words, as a context adapter would summarise them.

use crate::Asked;
use crate::random::Random;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use fable_core::catalog::ContextError;
use fable_core::{Catalog, Context};

/// A request, its task and its signals in catalog order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scenario {
    /// What the user says.
    pub text: &'static str,
    /// The task, by name; empty for none.
    pub task: &'static str,
    /// Every signal of the catalog.
    pub signals: &'static [f32],
}

const fn of(task: &'static str, signals: &'static [f32], text: &'static str) -> Scenario {
    Scenario { text, task, signals }
}

const fn says(text: &'static str) -> Scenario {
    of("", &[], text)
}

impl Scenario {
    /// The request in a catalog's terms; `None` for a catalog with other tasks or signals.
    pub(crate) fn asked(&self, catalog: &Catalog<'_>) -> Option<Asked> {
        let task = if self.task.is_empty() { None } else { Some(catalog.task(self.task).ok()?) };
        Some(Asked { text: self.text.into(), context: Context::new(catalog, task, self.signals).ok()? })
    }
}

/// A request for a catalog that nothing is known about: any task, none among them, and any signals.
pub(crate) fn any(catalog: &Catalog<'_>, random: &mut Random) -> Result<Asked, ContextError> {
    let (tasks, signals) = (catalog.definition().tasks, catalog.definition().signals);
    let task = random.below(tasks.len() + 1).checked_sub(1);
    let tenths: Vec<usize> = signals.iter().map(|_| random.below(11)).collect();
    let values: Vec<f32> = tenths.iter().map(|tenths| *tenths as f32 / 10.0).collect();
    let task_words = task.and_then(|task| tasks.get(task)).map(|task| (*task).to_owned());
    let signal_words = signals
        .iter()
        .zip(tenths)
        .map(|(signal, tenths)| format!("{signal} {}.{}", tenths / 10, tenths % 10));
    let words: Vec<String> = task_words.into_iter().chain(signal_words).collect();
    let text = if words.is_empty() { "A request".into() } else { format!("A request: {}", words.join(", ")) };
    Ok(Asked { text, context: Context::new(catalog, task, &values)? })
}

/// The requests that are known for a catalog that ships; empty for any other.
#[must_use]
pub fn scenarios(catalog: &Catalog<'_>) -> &'static [Scenario] {
    match catalog.definition().name {
        "agent" => AGENT,
        "tau2" => TAU2,
        "rubric" => RUBRIC,
        _ => &[],
    }
}

/// Signals: risk, ambiguity, memory need, tool need.
const AGENT: &[Scenario] = &[
    of("coding", &[0.1, 0.2, 0.3, 0.1], "Why does this loop never end?"),
    of("coding", &[0.1, 0.1, 0.1, 0.1], "Write a function that reverses a list."),
    of("coding", &[0.2, 0.3, 0.7, 0.4], "Rename it everywhere, as we said yesterday."),
    of("coding", &[0.7, 0.2, 0.4, 0.6], "Migrate the production database."),
    of("coding", &[0.1, 0.7, 0.6, 0.3], "Can you make it faster?"),
    of("analysis", &[0.2, 0.2, 0.3, 0.6], "Which of these two offers is better value?"),
    of("analysis", &[0.3, 0.3, 0.2, 0.3], "Why did sales drop in May?"),
    of("analysis", &[0.1, 0.7, 0.4, 0.4], "What do you make of these numbers?"),
    of("analysis", &[0.7, 0.2, 0.5, 0.6], "Should I pay off the loan early?"),
    of("factual", &[0.1, 0.1, 0.0, 0.2], "How far away is the moon?"),
    of("factual", &[0.1, 0.1, 0.0, 0.8], "Who won the match last night?"),
    of("factual", &[0.1, 0.1, 0.1, 0.7], "When does the museum close today?"),
    of("factual", &[0.8, 0.2, 0.3, 0.6], "Can I take these two medicines together?"),
    of("simple_preference", &[0.0, 0.2, 0.8, 0.0], "Put on some music."),
    of("simple_preference", &[0.1, 0.7, 0.7, 0.1], "The usual, please."),
    of("simple_preference", &[0.0, 0.1, 0.6, 0.1], "Which tea should I have now?"),
    of("writing", &[0.2, 0.3, 0.6, 0.1], "Answer this mail for me."),
    of("writing", &[0.1, 0.2, 0.1, 0.1], "A birthday card for a colleague."),
    of("writing", &[0.7, 0.3, 0.4, 0.2], "Write my notice to the landlord."),
    of("writing", &[0.1, 0.8, 0.5, 0.1], "Make this text better."),
    of("planning", &[0.3, 0.4, 0.7, 0.6], "Plan a weekend in the mountains."),
    of("planning", &[0.1, 0.2, 0.4, 0.2], "What do I need for a picnic for six?"),
    of("planning", &[0.8, 0.3, 0.6, 0.7], "Book the train for Friday."),
    of("planning", &[0.2, 0.8, 0.6, 0.3], "Find a time that suits us all."),
    of("summarization", &[0.1, 0.1, 0.2, 0.3], "What does this article say?"),
    of("summarization", &[0.1, 0.2, 0.8, 0.2], "What did we agree on last week?"),
    of("summarization", &[0.3, 0.3, 0.3, 0.6], "Sum up the files of the project."),
    of("translation", &[0.1, 0.1, 0.1, 0.1], "Say this in French."),
    of("translation", &[0.7, 0.3, 0.2, 0.4], "Translate the contract."),
    of("translation", &[0.1, 0.7, 0.3, 0.2], "What does this sign mean?"),
    of("recommendation", &[0.1, 0.3, 0.8, 0.4], "A film for tonight?"),
    of("recommendation", &[0.2, 0.2, 0.4, 0.8], "Where can I eat well near here?"),
    of("recommendation", &[0.3, 0.7, 0.6, 0.5], "I need a present."),
    of("troubleshooting", &[0.2, 0.3, 0.2, 0.3], "The printer does not print."),
    of("troubleshooting", &[0.2, 0.7, 0.3, 0.3], "It does not work any more."),
    of("troubleshooting", &[0.8, 0.2, 0.3, 0.6], "There is a smell of gas in the kitchen."),
    of("troubleshooting", &[0.3, 0.2, 0.7, 0.6], "The same error as on Monday."),
    of("", &[0.1, 0.8, 0.3, 0.1], "Hm, what now?"),
    of("", &[0.1, 0.1, 0.2, 0.1], "Good morning!"),
];

const TAU2: &[Scenario] = &[
    says("I want to change my flight to Friday."),
    says("Where is my order?"),
    says("Please cancel my subscription."),
    says("I was charged twice."),
    says("My phone has no signal since this morning."),
    says("Can I still return the shoes?"),
    says("Upgrade me to a seat with more room."),
    says("The parcel came damaged."),
    says("Which plan is best for me?"),
    says("My luggage did not arrive."),
];

const RUBRIC: &[Scenario] = &[
    says("Solve x^2 - 5x + 6 = 0."),
    says("How many primes are there below 50?"),
    says("Show that the square root of 2 is irrational."),
    says("What is the area of a triangle with sides 3, 4 and 5?"),
    says("In how many ways can 8 rooks stand on a chessboard without attacking each other?"),
    says("Find the last digit of 7^100."),
    says("Integrate x times the exponential of x."),
    says("What is the probability of two sixes with three dice?"),
];
