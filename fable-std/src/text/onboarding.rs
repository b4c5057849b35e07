//! Stated preferences: soft directions and, kept apart, hard constraints.
//!
//! A preference is evidence that behaviour can revise later; a constraint decides what may be done at all and is never
//! learned. Hard is what is said as a prohibition or an obligation ("never", "must", "not allowed"), and a plain "don't" about
//! tools and memory. A constraint may hold in one task or when a signal is high; [`feasible`] applies those that hold.

use super::clause::{Clause, Link, clauses};
use super::pattern::{any, find, has};
use super::tables::onboarding::{
    ALWAYS, ATTITUDES, CONDITIONS, HARD, HARD_NOT, MILD, NEGATORS, NO_NEGATION, ONLY, ORDER_NOT, OWN_START, PRECISIONS,
    RESPONSES, STRONG, TOPICS, Topic, UNSURE, UNWANTED, WANTED,
};
use super::words::{self, Word};
use super::{AdapterError, OnboardingAdapter, PreferenceText, Reading, Rules};
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;
use fable_core::catalog::Part;
use fable_core::feasible::Effect;
use fable_core::{Catalog, Context, Direction, Feasible, FeasibleError, OnboardingError, Rule, Statement, When};

/// A constraint on a signal holds above this level.
pub const SIGNAL_HIGH: f32 = 0.5;

/// What a person said.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Onboarding {
    /// Soft: evidence for the learner, see [`Preference::statement`].
    pub preferences: Vec<Preference>,
    /// Hard: rules for the feasible set, see [`feasible`].
    pub constraints: Vec<Constraint>,
    /// What sounds like a preference and was not understood, or cannot be said in this catalog. Worth showing to the person.
    pub unused: Vec<String>,
}

/// "Prefer this value over that one", with the words it comes from.
#[derive(Clone, Debug, PartialEq)]
pub struct Preference {
    /// Component and value.
    pub prefer: (u8, u8),
    /// What it is compared with, if anything.
    pub over: Option<(u8, u8)>,
    /// Where it holds.
    pub when: When,
    /// How much it is wanted, from -1 to 1.
    pub response: f64,
    /// How sure one can be of it.
    pub precision: f64,
    /// The person's own words.
    pub words: String,
}

impl Preference {
    /// The statement to give to the learner.
    ///
    /// # Errors
    /// [`OnboardingError`] when the catalog has no such coordinate.
    pub fn statement(&self, catalog: &Catalog<'_>) -> Result<Statement, OnboardingError> {
        let direction = Direction::prefer(catalog, &[self.prefer], self.over.as_slice(), self.when)?;
        Ok(Statement { direction, response: self.response, precision: self.precision })
    }

    /// In the catalog's names: `style=concise over style=detailed when task=coding`, `not tool=web_search`.
    #[must_use]
    pub fn describe(&self, catalog: &Catalog<'_>) -> String {
        let not = if self.response < 0.0 { "not " } else { "" };
        let over = self.over.map_or_else(String::new, |over| format!(" over {}", value_name(catalog, over)));
        format!("{not}{}{over}{}", value_name(catalog, self.prefer), when_name(catalog, self.when))
    }
}

/// A rule that the person sets, with the words it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constraint {
    /// [`Effect::Forbid`] or [`Effect::Require`].
    pub effect: Effect,
    /// The component.
    pub component: u8,
    /// The values that are forbidden, or of which one is required.
    pub values: Vec<u8>,
    /// Where it holds.
    pub when: When,
    /// The person's own words.
    pub words: String,
}

impl Constraint {
    /// The pattern of its rule.
    #[must_use]
    pub fn part(&self) -> Part<'_> {
        Part::new(self.component, &self.values)
    }

    /// Whether it holds in a context: in its task, or while its signal is above [`SIGNAL_HIGH`].
    #[must_use]
    pub fn holds(&self, context: &Context) -> bool {
        match self.when {
            When::Always => true,
            When::Task(task) => context.task() == Some(task),
            When::Signal(signal) => context.signal(signal).is_some_and(|level| level > SIGNAL_HIGH),
        }
    }

    /// In the catalog's names: `never tool=web_search`, `always style=confirm_first when risk is high`.
    #[must_use]
    pub fn describe(&self, catalog: &Catalog<'_>) -> String {
        let effect = if self.effect == Effect::Forbid { "never" } else { "always" };
        let values: Vec<String> = self.values.iter().map(|value| value_name(catalog, (self.component, *value))).collect();
        format!("{effect} {}{}", values.join(" or "), when_name(catalog, self.when))
    }
}

/// The actions that the constraints leave in a context, and other rules with them.
///
/// # Errors
/// [`FeasibleError`] when nothing is left, or when a constraint is of another catalog.
pub fn feasible(
    catalog: &Catalog<'_>,
    constraints: &[Constraint],
    context: &Context,
    others: &[Rule<'_>],
) -> Result<Feasible, FeasibleError> {
    let held: Vec<(&Constraint, [Part<'_>; 1])> = constraints
        .iter()
        .filter(|constraint| constraint.holds(context))
        .map(|constraint| (constraint, [constraint.part()]))
        .collect();
    let own = held.iter().map(|(constraint, part)| Rule { name: &constraint.words, effect: constraint.effect, pattern: part });
    let rules: Vec<Rule<'_>> = own.chain(others.iter().copied()).collect();
    Feasible::new(catalog, &rules)
}

fn value_name(catalog: &Catalog<'_>, (component, value): (u8, u8)) -> String {
    let component = catalog.definition().components.get(usize::from(component));
    let value = component.and_then(|component| component.values.get(usize::from(value)));
    component.zip(value).map_or_else(String::new, |(component, value)| format!("{}={}", component.name, value.name))
}

fn when_name(catalog: &Catalog<'_>, when: When) -> String {
    let name = |names: &[&str], index: usize| names.get(index).map_or_else(String::new, ToString::to_string);
    match when {
        When::Always => String::new(),
        When::Task(task) => format!(" when task={}", name(catalog.definition().tasks, task)),
        When::Signal(signal) => format!(" when {} is high", name(catalog.definition().signals, signal)),
    }
}

impl OnboardingAdapter for Rules {
    fn onboarding_adapter(&self) -> &str {
        Self::ONBOARDING
    }

    fn onboarding(&self, catalog: &Catalog<'_>, text: PreferenceText<'_>) -> Result<Reading<Onboarding>, AdapterError> {
        if !TOPICS.iter().any(|topic| value(catalog, topic.component, topic.value).is_some()) {
            return Err(AdapterError::UnknownValues);
        }
        let text = words::head(text.as_str());
        let words = words::read(text);
        let mut found = Onboarding::default();
        for sentence in sentences(&clauses(&words)) {
            read_sentence(catalog, text, sentence, &mut found);
        }
        Ok(Reading::of(found))
    }
}

fn value(catalog: &Catalog<'_>, component: &str, value: &str) -> Option<(u8, u8)> {
    let component = catalog.component(component)?;
    Some((u8::try_from(component).ok()?, catalog.value(component, value)?))
}

fn sentences<'c, 'w>(clauses: &'c [Clause<'w>]) -> impl Iterator<Item = &'c [Clause<'w>]> {
    clauses.chunk_by(|_, next| next.link != Link::Start)
}

/// A topic in a clause, and how it is spoken of.
struct Mention {
    topic: &'static Topic,
    negative: bool,
    hard: bool,
    response: i32,
    precision: u8,
    clause: usize,
}

fn read_sentence(catalog: &Catalog<'_>, text: &str, clauses: &[Clause<'_>], found: &mut Onboarding) {
    let mut mentions: Vec<Mention> = Vec::new();
    let mut conditions: Vec<Option<&str>> = vec![None; clauses.len()];
    let mut mood = Mood::default();
    for (index, clause) in clauses.iter().enumerate().filter(|(_, clause)| clause.link != Link::Reason) {
        let mut free = vec![true; clause.words.len()];
        if let Some(slot) = conditions.get_mut(index) {
            *slot = CONDITIONS.iter().find(|(_, words)| any(words, clause.words)).map(|(name, _)| *name);
        }
        let topics = topics(clause.words, &mut free);
        mood = Mood::of(clause, mood);
        for (topic, place) in topics {
            let mention = mood.mention(topic, clause.words, &place, &free, index);
            let idle = !mention.negative && !mention.hard && topic.component != "style";
            if !idle || clauses.iter().any(|clause| any(WANTED, clause.words)) {
                mentions.push(mention);
            }
        }
        mood.negative = mentions.last().map_or(mood.negative, |mention| mention.negative);
    }
    // A condition in a clause of its own belongs to what follows it, or at the end to what stands before.
    let condition_of = |index: usize| {
        let alone = |at: &usize| !mentions.iter().any(|mention| mention.clause == *at);
        let own = conditions.get(index).copied().flatten();
        let before = (0..index).rev().take_while(alone).find_map(|at| conditions.get(at).copied().flatten());
        let after = (index + 1..clauses.len()).take_while(alone).find_map(|at| conditions.get(at).copied().flatten());
        own.or(before).or(after)
    };
    let said = |from: usize, to: usize| {
        let start = clauses.get(from).and_then(|clause| clause.words.first()).map_or(0, |word| word.place.start);
        let end = clauses.get(to).and_then(|clause| clause.words.last()).map_or(0, |word| word.place.end);
        text.get(start..end).unwrap_or("").trim().to_owned()
    };
    for mention in &mentions {
        let words = said(mention.clause, mention.clause);
        if place(catalog, mention, condition_of(mention.clause), &words, found).is_none() {
            found.unused.push(words);
        }
    }
    let spoken = clauses.iter().any(|clause| has(ATTITUDES, clause.words));
    if mentions.is_empty() && spoken {
        found.unused.push(said(0, clauses.len() - 1));
    }
}

/// The topics of a clause; each word belongs to one.
fn topics(words: &[Word], free: &mut [bool]) -> Vec<(&'static Topic, Range<usize>)> {
    let mut found: Vec<(&Topic, Range<usize>)> = Vec::new();
    for topic in TOPICS {
        // What is said of one tool or memory is not said of all.
        if topic.opposite && found.iter().any(|(other, _)| other.component == topic.component) {
            continue;
        }
        let place = topic.words.iter().find_map(|pattern| {
            let place = find(pattern, words)?;
            free.get(place.clone())?.iter().all(|free| *free).then_some(place)
        });
        if let Some(place) = place {
            take(free, &place);
            found.push((topic, place));
        }
    }
    found.sort_by_key(|(_, place)| place.start);
    found
}

fn take(free: &mut [bool], place: &Range<usize>) {
    free.iter_mut().take(place.end).skip(place.start).for_each(|free| *free = false);
}

/// What a clause says about all its topics, and what the next one may inherit.
#[derive(Clone, Copy, Default)]
struct Mood {
    negative: bool,
    hard: bool,
    order: bool,
    always: bool,
    only: bool,
    response: i32,
    precision: u8,
}

impl Mood {
    fn of(clause: &Clause<'_>, before: Self) -> Self {
        let words = clause.words;
        let own_not = has(NEGATORS, words) || any(UNWANTED, words);
        let shares = match clause.link {
            Link::Or => !own_not,
            Link::And => !own_not && !has(OWN_START, words),
            _ => false,
        };
        let strong = usize::from(has(STRONG, words));
        let [mild, plain, much] = RESPONSES;
        let [doubtful, usual, sure] = PRECISIONS;
        Self {
            negative: shares && before.negative,
            hard: any(HARD, words) || (shares && before.hard),
            order: has(ORDER_NOT, words) || (shares && before.order),
            always: has(ALWAYS, words),
            only: has(ONLY, words),
            response: if strong == 1 {
                much
            } else if has(MILD, words) {
                mild
            } else {
                plain
            },
            precision: if has(UNSURE, words) {
                doubtful
            } else if strong == 1 {
                sure
            } else {
                usual
            },
        }
    }

    fn mention(&self, topic: &'static Topic, words: &[Word], place: &Range<usize>, free: &[bool], clause: usize) -> Mention {
        let mut negative = self.negative;
        if is_too(words, place) {
            negative = true;
        } else {
            let before = words.get(..place.start).unwrap_or(&[]);
            let excused = find(NO_NEGATION, before);
            for (at, word) in before.iter().enumerate() {
                let counts = free.get(at).copied().unwrap_or(false) && !excused.as_ref().is_some_and(|place| place.contains(&at));
                negative ^= counts && has(NEGATORS, core::slice::from_ref(word));
            }
            negative ^= any(HARD_NOT, before) || has("rather than, over", before);
            negative ^= words.get(place.end..).is_some_and(|after| any(UNWANTED, after));
        }
        let confirmed = self.always && topic.value == "confirm_first";
        let alone = self.only && topic.value == "no_tool";
        let permission = topic.component != "style";
        let hard = self.hard || confirmed || alone || (self.order && permission && negative);
        Mention { topic, negative, hard, response: self.response, precision: self.precision, clause }
    }
}

/// Whether "too" stands before: too much of it is unwanted, and so it is in "not too long".
fn is_too(words: &[Word], place: &Range<usize>) -> bool {
    words.get(place.start.saturating_sub(2)..place.end).is_some_and(|near| has("too", near))
}

/// Adds a mention to what was found; `None` when the catalog cannot express it.
fn place(catalog: &Catalog<'_>, mention: &Mention, condition: Option<&str>, words: &str, found: &mut Onboarding) -> Option<()> {
    let Mention { topic, negative, .. } = *mention;
    let wanted = negative == topic.opposite;
    let named = value(catalog, topic.component, topic.value)?;
    let when = match condition {
        None => When::Always,
        Some(name) => catalog.task(name).map(When::Task).or_else(|| catalog.signal(name).map(When::Signal))?,
    };
    if mention.hard {
        let effect = if wanted { Effect::Require } else { Effect::Forbid };
        let constraint = Constraint { effect, component: named.0, values: vec![named.1], when, words: words.to_owned() };
        let same = |other: &Constraint| {
            (other.effect, &other.values, other.when) == (effect, &constraint.values, when) && other.component == named.0
        };
        if !found.constraints.iter().any(same) {
            found.constraints.push(constraint);
        }
        return Some(());
    }
    let over = topic.over.and_then(|over| value(catalog, topic.component, over));
    let (prefer, over, sign) = match over {
        Some(other) if !wanted => (other, Some(named), 1),
        over => (named, over, if wanted { 1 } else { -1 }),
    };
    let response = f64::from(sign * mention.response) / 1000.0;
    let preference =
        Preference { prefer, over, when, response, precision: f64::from(mention.precision), words: words.to_owned() };
    preference.statement(catalog).ok()?;
    let same = |other: &Preference| {
        (other.prefer, other.over, other.when) == (prefer, preference.over, when) && other.response * response > 0.0
    };
    if !found.preferences.iter().any(same) {
        found.preferences.push(preference);
    }
    Some(())
}
