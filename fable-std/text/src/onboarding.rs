//! Stated preferences by rules: clause by clause, which values are spoken of and how.
//!
//! Hard is what is said as a prohibition or an obligation ("never", "must", "not allowed"), and a plain "don't" about tools
//! and memory; everything else is soft. How much something is wanted is the response, how surely it is said the precision.

use crate::clause::{Clause, Link, clauses};
use crate::pattern::{Places, any, find, has};
use crate::tables::onboarding::{
    ALWAYS, ATTITUDES, BARE, CONDITIONS, HABITS, HARD_NOT, IMPERATIVE, MILD, NEGATORS, NO_HABITS,
    NO_NEGATION, OBLIGATIONS, ONLY, ORDER_NOT, OWN_START, PRECISIONS, PROHIBITIONS, RESPONSES, STRONG,
    TOPICS, Topic, UNSURE, UNWANTED, WANTED,
};
use crate::tokens::{self, Word};
use crate::{
    AdapterError, Constraint, Onboarding, OnboardingAdapter, Preference, PreferenceText, Reading, Rules,
};
use alloc::borrow::ToOwned;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;
use core::slice;
use fable_core::Catalog;
use fable_core::catalog::Effect;
use fable_core::catalog::When;

impl OnboardingAdapter for Rules {
    fn onboarding_adapter(&self) -> &str {
        Self::ONBOARDING
    }

    fn onboarding(
        &self,
        catalog: &Catalog<'_>,
        text: PreferenceText<'_>,
    ) -> Result<Reading<Onboarding>, AdapterError> {
        if !TOPICS.iter().any(|topic| value(catalog, topic.component, topic.value).is_some()) {
            return Err(AdapterError::UnknownValues);
        }
        let text = tokens::read_part(text.as_str());
        let words = tokens::read(text);
        let mut found = Onboarding::default();
        for sentence in sentences(&clauses(&words)) {
            read_sentence(catalog, text, sentence, &mut found);
        }
        Ok(Reading::of(found))
    }
}

pub(crate) fn value(catalog: &Catalog<'_>, component: &str, value: &str) -> Option<(u8, u8)> {
    let component = catalog.component(component)?;
    Some((u8::try_from(component).ok()?, catalog.value(component, value)?))
}

fn sentences<'c, 'w>(clauses: &'c [Clause<'w>]) -> impl Iterator<Item = &'c [Clause<'w>]> {
    clauses.chunk_by(|_, next| next.link != Link::Start)
}

/// A topic in a clause, and how it is spoken of.
struct Mention {
    topic: &'static Topic,
    wanted: bool,
    hard: bool,
    response: i32,
    precision: u8,
    clause: usize,
}

fn read_sentence(catalog: &Catalog<'_>, text: &str, clauses: &[Clause<'_>], found: &mut Onboarding) {
    let mut mentions: Vec<Mention> = Vec::new();
    let mut conditions: Vec<Option<&str>> = vec![None; clauses.len()];
    let mut mood = Mood::default();
    let wants = clauses.iter().any(|clause| any(WANTED, clause.words));
    for (index, clause) in clauses.iter().enumerate().filter(|(_, clause)| clause.link != Link::Reason) {
        if let Some(slot) = conditions.get_mut(index) {
            *slot = CONDITIONS.iter().find(|(_, words)| any(words, clause.words)).map(|(name, _)| *name);
        }
        // "Never search the web, run code or read files": a row that ends in "or" shares its beginning. So does what
        // follows a "never" that stands alone.
        let alone = index
            .checked_sub(1)
            .and_then(|before| clauses.get(before))
            .is_some_and(|before| is_bare(before.words));
        let in_row = alone || clauses.iter().skip(index).any(|later| later.link == Link::Or);
        mood = Mood::of(clause, in_row, &mood);
        let mut free = vec![true; clause.words.len()];
        let topics = topics(clause.words, &mut free);
        let mut turned = mood.negative ^ (topics.is_empty() && negations(clause.words, &free));
        for (topic, place) in topics {
            let negative = mood.is_negative(clause.words, &place, &free);
            let mention = mood.mention(topic, negative, clause.words, index);
            // Tools and memory must be asked for, and a question about them is none.
            if topic.component == "style" || !mention.wanted || mention.hard || (wants && !clause.asks) {
                mentions.push(mention);
            }
            turned = negative;
        }
        mood.negative = turned;
    }
    // A condition in a clause of its own belongs to what follows it, or at the end to what stands before.
    let condition_of = |index: usize| {
        let alone = |at: &usize| !mentions.iter().any(|mention| mention.clause == *at);
        let own = conditions.get(index).copied().flatten();
        let before = (0..index).rev().take_while(alone).find_map(|at| conditions.get(at).copied().flatten());
        let after =
            (index + 1..clauses.len()).take_while(alone).find_map(|at| conditions.get(at).copied().flatten());
        own.or(before).or(after)
    };
    let said = |from: usize, to: usize| {
        let start =
            clauses.get(from).and_then(|clause| clause.words.first()).map_or(0, |word| word.place.start);
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
    let places = Places::of(words);
    let mut found: Vec<(&Topic, Range<usize>)> = Vec::new();
    for topic in TOPICS {
        // What is said of one tool or memory is not said of all.
        if topic.opposite && found.iter().any(|(other, _)| other.component == topic.component) {
            continue;
        }
        let place = topic.words.iter().find_map(|pattern| {
            let place = places.find(pattern)?;
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

/// How strictly something is said.
#[derive(Clone, Copy, Default, PartialEq, PartialOrd)]
enum Force {
    #[default]
    Soft,
    /// A plain "don't".
    Refuses,
    Prohibits,
    Obliges,
}

/// What a clause says about all its topics, and what the next one may share.
#[derive(Clone, Copy, Default)]
struct Mood {
    /// Turned round already by what this clause shares.
    negative: bool,
    force: Force,
    response: i32,
    precision: u8,
}

impl Mood {
    fn of(clause: &Clause<'_>, in_row: bool, before: &Self) -> Self {
        let words = clause.words;
        let own_not = has(NEGATORS, words) || any(UNWANTED, words);
        let shares = !own_not
            && match clause.link {
                Link::Or => true,
                Link::And => !has(OWN_START, words) && (in_row || !has(IMPERATIVE, words)),
                _ => false,
            };
        let habit = has(HABITS, words) && !has(NO_HABITS, words);
        let [mild, plain, much] = RESPONSES;
        let [doubtful, usual, sure] = PRECISIONS;
        let strong = has(STRONG, words);
        let force = if has(OBLIGATIONS, words) {
            Force::Obliges
        } else if any(PROHIBITIONS, words) && !habit {
            Force::Prohibits
        } else if has(ORDER_NOT, words) {
            Force::Refuses
        } else {
            Force::Soft
        };
        Self {
            negative: shares && before.negative,
            force: if shares && before.force > force { before.force } else { force },
            response: match (strong, has(MILD, words)) {
                (true, _) => much,
                (false, true) => mild,
                (false, false) => plain,
            },
            precision: match (has(UNSURE, words), strong) {
                (true, _) => doubtful,
                (false, true) => sure,
                (false, false) => usual,
            },
        }
    }

    /// Whether a topic is spoken of with a "not", after all that is before and behind it.
    fn is_negative(&self, words: &[Word], place: &Range<usize>, free: &[bool]) -> bool {
        let before = words.get(..place.start).unwrap_or(&[]);
        let after = words.get(place.end..).unwrap_or(&[]);
        let turned = any(HARD_NOT, before) || has("rather than, over", before);
        is_too(words, place) || self.negative ^ negations(before, free) ^ turned ^ any(UNWANTED, after)
    }

    fn mention(&self, topic: &'static Topic, negative: bool, words: &[Word], clause: usize) -> Mention {
        let wanted = negative == topic.opposite;
        // Not to do something, or to do nothing: that is what can be prohibited. To do it must be an obligation.
        let against = wanted == topic.value.starts_with("no_");
        let confirms = topic.value == "confirm_first";
        let hard = if against {
            let least = if topic.component == "style" { Force::Prohibits } else { Force::Refuses };
            self.force >= least || (wanted && has(ONLY, words))
        } else {
            self.force == Force::Obliges
                || (confirms && (self.force == Force::Prohibits || has(ALWAYS, words)))
        };
        Mention { topic, wanted, hard, response: self.response, precision: self.precision, clause }
    }
}

/// Whether words that stand in a text belong to a prohibition there, or to an obligation if something is required: only then can an
/// adapter make a rule of them without asking. What counts is the clause around them, so that no quotation makes a "never" out of "I
/// never mind".
///
/// ```
/// use fable_core::catalog::Effect::{Forbid, Require};
/// use fable_text::is_said_as_rule;
/// assert!(is_said_as_rule("I like short answers, never search the web", "search the web", Forbid));
/// assert!(!is_said_as_rule("I like short answers, never search the web", "short answers", Forbid));
/// assert!(!is_said_as_rule("I don't mind long answers", "don't", Forbid));
/// assert!(is_said_as_rule("you must ask before you act", "ask before", Require));
/// ```
#[must_use]
pub fn is_said_as_rule(text: &str, words: &str, effect: Effect) -> bool {
    let text = tokens::read_part(text);
    let (all, mut quoted) = (tokens::read(text), tokens::read(words));
    while quoted.last().is_some_and(Word::is_break) {
        quoted.pop();
    }
    if quoted.is_empty() {
        return false;
    }
    let clauses = clauses(&all);
    let mut before = Mood::default();
    let mut hard: Vec<Range<usize>> = Vec::new();
    for (index, clause) in clauses.iter().enumerate() {
        if clause.link == Link::Start {
            before = Mood::default();
        }
        // As in `read_sentence`: a row shares its beginning.
        let alone = index
            .checked_sub(1)
            .and_then(|before| clauses.get(before))
            .is_some_and(|before| is_bare(before.words));
        let row =
            clauses.iter().skip(index).take_while(|later| later.link != Link::Start || later == &clause);
        let in_row = alone || row.into_iter().any(|later| later.link == Link::Or);
        let mood = Mood::of(clause, in_row, &before);
        let excused = has(NO_NEGATION, clause.words);
        let obliged = mood.force == Force::Obliges || has(ALWAYS, clause.words) || has(ONLY, clause.words);
        let forbidden = match mood.force {
            Force::Prohibits | Force::Refuses => true,
            Force::Obliges => has(NEGATORS, clause.words) || mood.negative,
            Force::Soft => false,
        };
        let said = match effect {
            Effect::Forbid => forbidden && !excused,
            // "Never act without asking" obliges, too.
            Effect::Require | Effect::Only => obliged || mood.force == Force::Prohibits,
        };
        if said && clause.link != Link::Reason {
            let start = clause.words.first().map_or(0, |word| word.place.start);
            hard.push(start..clause.words.last().map_or(0, |word| word.place.end));
        }
        before = mood;
    }
    let same = |window: &[Word]| window.iter().zip(&quoted).all(|(one, other)| one.text == other.text);
    let touches = |window: &[Word]| {
        let start = window.first().map_or(0, |word| word.place.start);
        let end = window.last().map_or(0, |word| word.place.end);
        hard.iter().any(|clause| clause.start < end && start < clause.end)
    };
    all.windows(quoted.len()).any(|window| same(window) && touches(window))
}

/// Whether a clause is nothing but a "never" or a "please".
fn is_bare(words: &[Word]) -> bool {
    words.iter().all(|word| has(BARE, slice::from_ref(word)))
}

/// Whether words that turn a meaning round do so in the end; those that belong to a topic or a phrase do not count.
fn negations(words: &[Word], free: &[bool]) -> bool {
    let excused = find(NO_NEGATION, words).unwrap_or(0..0);
    let counted =
        words.iter().zip(free).enumerate().filter(|(at, (word, free))| {
            **free && !excused.contains(at) && has(NEGATORS, slice::from_ref(word))
        });
    counted.count() % 2 == 1
}

/// Whether "too" stands before: too much of it is unwanted, and so it is in "not too long".
fn is_too(words: &[Word], place: &Range<usize>) -> bool {
    words.get(place.start.saturating_sub(2)..place.end).is_some_and(|near| has("too", near))
}

/// Adds a mention to what was found; `None` when the catalog cannot express it.
fn place(
    catalog: &Catalog<'_>,
    mention: &Mention,
    condition: Option<&str>,
    words: &str,
    found: &mut Onboarding,
) -> Option<()> {
    let Mention { topic, wanted, .. } = *mention;
    let named = value(catalog, topic.component, topic.value)?;
    let when = match condition {
        None => When::Always,
        Some(name) => {
            catalog.task(name).map(When::Task).or_else(|_| catalog.signal(name).map(When::Signal)).ok()?
        }
    };
    if mention.hard {
        let effect = if wanted { Effect::Require } else { Effect::Forbid };
        let constraint =
            Constraint { effect, component: named.0, values: vec![named.1], when, words: words.to_owned() };
        let same = |other: &Constraint| {
            (other.effect, &other.values, other.when) == (effect, &constraint.values, when)
                && other.component == named.0
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
    let preference = Preference {
        prefer,
        over,
        when,
        response,
        precision: f64::from(mention.precision),
        words: words.to_owned(),
    };
    preference.statement(catalog).ok()?;
    let same = |other: &Preference| {
        (other.prefer, other.over, other.when) == (prefer, preference.over, when)
            && other.response * response > 0.0
    };
    if !found.preferences.iter().any(same) {
        found.preferences.push(preference);
    }
    Some(())
}
