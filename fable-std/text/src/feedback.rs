//! Reactions as rewards.
//!
//! reward = satisfaction - 0.08 clarifications - 0.15 corrections, cut to [-1, 1]: the penalties of the paper's PAHF study, for
//! every question that the person had to answer and for every correction that was needed. Satisfaction is what the words
//! say. A reaction that says nothing about the answer, such as the next request, has no reward at all; 0 would be a lesson.

use crate::clause::{Clause, Link, clauses, split_material};
use crate::pattern::{Places, any, has};
use crate::tables::feedback::{
    BALANCED, BY_THE_WAY, CHANGES, COMPLAINT, CORRECTED, CORRECTIONS, CUES, Cue, FACTS, FAR_NEGATORS,
    GRANTING, HEADS, NEGATORS, NEVER_SO, POLITE, QUESTIONED, QUESTIONS, REQUESTS, RHETORICAL, SIGNS,
    STRONGER, UNREAL, UNWANTED, WEAK, WRONG,
};
use crate::tokens::{self, Word};
use crate::{FeedbackAdapter, Reaction, Reading, Rules};
use alloc::borrow::ToOwned;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;
use core::slice;

/// What one clarifying question costs.
pub const CLARIFICATION_PENALTY: f64 = 0.08;

/// What one correction costs.
pub const CORRECTION_PENALTY: f64 = 0.15;

/// Words before a cue among which a "not" still belongs to it.
const FAR: usize = 4;

/// What a reaction says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Feedback {
    /// How content the person sounds, from -1 to 1.
    pub satisfaction: f64,
    /// Questions that had to be answered or asked, this reaction included.
    pub clarifications: u8,
    /// Corrections, this reaction included.
    pub corrections: u8,
}

impl Feedback {
    /// The reward to learn from, in [-1, 1].
    #[must_use]
    pub fn reward(&self) -> f64 {
        let asked = CLARIFICATION_PENALTY * f64::from(self.clarifications);
        let corrected = CORRECTION_PENALTY * f64::from(self.corrections);
        (self.satisfaction - asked - corrected).clamp(-1.0, 1.0)
    }
}

impl FeedbackAdapter for Rules {
    fn feedback_adapter(&self) -> &str {
        Self::FEEDBACK
    }

    fn feedback(&self, reaction: Reaction<'_>) -> Reading<Option<Feedback>> {
        let Reaction { text, clarifications, corrections } = reaction;
        let said = |(thousandths, corrected, asked): (i32, bool, bool)| Feedback {
            satisfaction: f64::from(thousandths) / 1000.0,
            clarifications: clarifications.saturating_add(u8::from(asked)),
            corrections: corrections.saturating_add(u8::from(corrected)),
        };
        Reading::of(judge(text).map(said))
    }
}

/// Satisfaction in thousandths, whether it is a correction, and whether something had to be asked.
fn judge(text: &str) -> Option<(i32, bool, bool)> {
    if let Some((_, score)) = SIGNS.iter().find(|(sign, _)| *sign == text.trim()) {
        return Some((*score, false, false));
    }
    let words = tokens::read(text);
    let (own, _) = split_material(&words); // what was pasted says nothing about the answer
    let words = joined_conditions(without_commas(own.to_vec()));
    let (mut sum, mut heard, mut wrong) = (0, false, false);
    // What was said out of politeness only, and the worst of what was said.
    let (mut polite, mut worst, mut latest) = (0, 0, 0);
    let mut all_cued = true;
    let (mut corrected, mut asked, mut denied, mut unreal) = (false, false, false, false);
    for Clause { words, link, asks } in clauses(&words) {
        if link == Link::But {
            (sum, polite) = (sum / 4, polite / 4); // what follows is what counts
        }
        // A question or an order is mostly the next request: in it only the wish for another answer counts.
        let request = asks || any(REQUESTS, words);
        let (score, cued) = score(words, request, asks);
        let opposed =
            !request && !cued && has("^ not _", words) && !has("^ not now|once|today|sure|right|for", words);
        // "Neither correct nor helpful": what follows an "or" shares the "not".
        let score = if denied && link == Link::Or && score > 0 { deny(score) } else { score };
        // "If you meant to be funny, bravo" is not praise either.
        let (score, cued) = if unreal && link == Link::And && score > 0 { (0, false) } else { (score, cued) };
        unreal = condition(words) == Some(0) && any(UNREAL, words.get(1..).unwrap_or(&[]));
        denied = has(NEGATORS, words) || (denied && link == Link::Or);
        let stated = wrong && !cued && !asks && any(FACTS, words);
        let correction = score <= 0 && (any(CORRECTIONS, words) || opposed || stated) && !asks;
        wrong |= any(WRONG, words);
        let told = if correction {
            heard = true;
            if core::mem::replace(&mut corrected, true) { 0 } else { CORRECTED }
        } else if score <= 0 && any(QUESTIONS, words) {
            heard = true;
            if core::mem::replace(&mut asked, true) { 0 } else { QUESTIONED }
        } else {
            heard |= cued && score != WEAK;
            all_cued &= cued;
            score
        };
        sum += told;
        worst = worst.min(told);
        polite += if told > 0 && has(POLITE, words) { told } else { 0 };
        latest = if told == 0 { latest } else { told };
    }
    // "Thanks, that is not what I asked for" is a complaint, and so is "Great, now it is broken".
    if worst <= COMPLAINT && sum > 0 {
        sum -= polite;
        sum = if sum > 0 && latest < 0 { latest } else { sum };
    }
    let balanced = sum.abs() < BALANCED && !corrected && !asked;
    (!balanced && (heard || all_cued)).then(|| (sum.clamp(-1000, 1000), corrected, asked))
}

/// The score of a clause that may have a condition, and whether anything in it tells good from bad.
///
/// Praise under a condition is not praise: "perfect if you wanted to confuse me" is mockery, and counts as if it were denied; whether
/// "great if you need an overview" is meant well nobody can say. What stands in the condition is never praise: "great if it worked".
fn score(words: &[Word], request: bool, asks: bool) -> (i32, bool) {
    let cues =
        || CHANGES.iter().chain(if asks { RHETORICAL } else { &[] }).chain(if request { &[] } else { CUES });
    let Some(at) = condition(words) else { return add(cues(), words, words.len()) };
    let (before, condition) = (words.get(..at).unwrap_or(&[]), words.get(at + 1..).unwrap_or(&[]));
    let (praise, _) = add(cues(), before, at);
    if praise <= 0 {
        return add(cues(), words, at);
    }
    let (meant, _) = add(cues(), condition, condition.len());
    if meant <= UNWANTED || any(UNREAL, condition) { (deny(praise), true) } else { (0, false) }
}

/// The place of an "if" that makes a condition of what follows; "even if" and "if you ask me" make none.
fn condition(words: &[Word]) -> Option<usize> {
    let at = words.iter().position(|word| word.text == "if")?;
    let (before, condition) = (words.get(..at)?, words.get(at + 1..)?);
    let makes = !condition.is_empty() && !any(GRANTING, before) && !any(BY_THE_WAY, condition);
    makes.then_some(at)
}

/// The scores of cues, each word under the first that takes it, and whether there are any. What begins after a place is not praise.
fn add<'c>(cues: impl Iterator<Item = &'c Cue>, words: &[Word], end: usize) -> (i32, bool) {
    let places = Places::of(words);
    let mut free = vec![true; words.len()];
    let (mut sum, mut cued) = (0, false);
    for (score, pattern) in cues {
        let Some(place) = places.find(pattern).filter(|place| *score <= 0 || place.start < end) else {
            continue;
        };
        if free.get(place.clone()).is_some_and(|free| free.iter().all(|free| *free)) {
            cued |= *score != 0;
            sum += weigh(*score, words, &place, &free);
            free.iter_mut().take(place.end).skip(place.start).for_each(|free| *free = false);
        }
    }
    (sum, cued)
}

/// The words without the comma after a "no" or "actually" that begins a sentence and belongs to what follows. Such a "no" answers
/// something and denies nothing: it is read as "nope".
fn without_commas(words: Vec<Word>) -> Vec<Word> {
    let (mut starts, mut head) = (true, false);
    let mut left: Vec<Word> = Vec::with_capacity(words.len());
    for word in words {
        let drop = head && word.text == ",";
        head = starts && has(HEADS, slice::from_ref(&word));
        starts = word.is_break();
        match left.last_mut() {
            Some(last) if drop && last.text == "no" => "nope".clone_into(&mut last.text),
            _ if drop => {}
            _ => left.push(word),
        }
    }
    left
}

/// The words without the comma or bracket before an "if" that makes a condition of what stands before it: "great, if you like riddles".
fn joined_conditions(mut words: Vec<Word>) -> Vec<Word> {
    for at in (1..words.len()).rev() {
        let [.., mark, word] = words.get(..=at).unwrap_or(&[]) else { continue };
        if word.text != "if" || !matches!(mark.text.as_str(), "," | "(") {
            continue;
        }
        let follows = words.get(at + 1..).unwrap_or(&[]);
        let end = follows.iter().position(Word::is_break).unwrap_or(follows.len());
        if !any(BY_THE_WAY, follows.get(..end).unwrap_or(&[])) {
            words.remove(at - 1);
        }
    }
    words
}

/// Praise as it counts when it is denied.
const fn deny(praise: i32) -> i32 {
    -praise * 3 / 4
}

/// A score as it stands in its clause: "not good" is bad, "not bad" is half as good as it is bad, "very" adds a half.
fn weigh(score: i32, words: &[Word], place: &Range<usize>, free: &[bool]) -> i32 {
    let near = words.get(place.start.saturating_sub(FAR)..place.start).unwrap_or(&[]);
    let offset = place.start - near.len();
    let counts = |at: usize, word: &Word, pattern: &str| {
        free.get(offset + at).copied().unwrap_or(false) && has(pattern, slice::from_ref(word))
    };
    // "No" denies the word that follows it; further away it answers something else. "Never so good" denies nothing.
    let reaches = |at: usize, word: &Word| match word.text.as_str() {
        "no" => at + 1 == near.len(),
        "never" => near.get(at + 1..).is_none_or(|between| !has(NEVER_SO, between)),
        _ => near.len() - at < FAR || has(FAR_NEGATORS, slice::from_ref(word)),
    };
    let negated = near.iter().enumerate().any(|(at, word)| counts(at, word, NEGATORS) && reaches(at, word));
    let stronger = near.last().is_some_and(|word| counts(near.len() - 1, word, STRONGER));
    match (negated, score > 0) {
        (true, true) => deny(score),
        (true, false) => -score / 2,
        (false, _) if stronger => score * 3 / 2,
        (false, _) => score,
    }
}
