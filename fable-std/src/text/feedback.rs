//! Reactions as rewards.
//!
//! reward = satisfaction - 0.08 clarifications - 0.15 corrections, cut to [-1, 1]: the penalties of the paper's PAHF study, for
//! every question that the person had to answer and for every correction that was needed. Satisfaction is what the words
//! say. A reaction that says nothing about the answer, such as the next request, has no reward at all; 0 would be a lesson.

use super::clause::{Link, clauses};
use super::pattern::{any, find, has};
use super::tables::feedback::{CORRECTED, CORRECTIONS, CUES, HEADS, NEGATORS, QUESTIONED, QUESTIONS, SIGNS, STRONGER};
use super::words::{self, Word};
use super::{FeedbackAdapter, Reaction, Reading, Rules};
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

/// What one clarifying question costs.
pub const CLARIFICATION_PENALTY: f64 = 0.08;

/// What one correction costs.
pub const CORRECTION_PENALTY: f64 = 0.15;

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
    let words = without_commas(words::read(text));
    let (mut sum, mut heard, mut corrected, mut asked) = (0, false, false, false);
    for clause in clauses(&words) {
        if clause.link == Link::But {
            sum /= 4; // what follows is what counts
        }
        let mut free = vec![true; clause.words.len()];
        if !corrected && any(CORRECTIONS, clause.words) {
            (corrected, heard, sum) = (true, true, sum + CORRECTED);
        } else if !asked && any(QUESTIONS, clause.words) {
            (asked, heard, sum) = (true, true, sum + QUESTIONED);
        } else {
            for (score, pattern) in CUES {
                let Some(place) = find(pattern, clause.words) else { continue };
                if free.get(place.clone()).is_some_and(|taken| taken.iter().all(|free| *free)) {
                    heard |= *score != 0;
                    sum += weigh(*score, clause.words, &place, &free);
                    free.iter_mut().take(place.end).skip(place.start).for_each(|free| *free = false);
                }
            }
        }
    }
    heard.then(|| (sum.clamp(-1000, 1000), corrected, asked))
}

/// The words without the comma after "no", "actually" and the like, which belong to what follows.
fn without_commas(mut words: Vec<Word>) -> Vec<Word> {
    let mut before = false;
    words.retain(|word| {
        let keep = !(before && word.text == ",");
        before = HEADS.contains(&word.text.as_str());
        keep
    });
    words
}

/// A score as it stands in its clause: "not good" is bad, "not bad" is half as good as it is bad, "very" adds a half.
fn weigh(score: i32, words: &[Word], place: &Range<usize>, free: &[bool]) -> i32 {
    let near = words.get(place.start.saturating_sub(3)..place.start).unwrap_or(&[]);
    let offset = place.start - near.len();
    let counts = |at: usize, word: &Word, patterns: &[&str]| {
        free.get(offset + at).copied().unwrap_or(false)
            && patterns.iter().any(|pattern| has(pattern, core::slice::from_ref(word)))
    };
    let negated = near.iter().enumerate().any(|(at, word)| counts(at, word, NEGATORS));
    let stronger = near.last().is_some_and(|word| counts(near.len() - 1, word, STRONGER));
    match (negated, score > 0) {
        (true, true) => -score * 3 / 4,
        (true, false) => -score / 2,
        (false, _) if stronger => score * 3 / 2,
        (false, _) => score,
    }
}
