//! Whether a line after an answer is a reaction to it, the next request, or both.

use crate::context::asks_for_much;
use crate::pattern::{any, has};
use crate::tables::talk::{ABOUT_ANSWER, JOINED, MARKERS, OWN_MATTERS, REQUEST_STARTS};
use crate::tokens::{self, Word};
use crate::{Feedback, FeedbackAdapter, Reaction, Rules};

/// A reward up to this size, in a line of more than [`SHORT`] words, is not a clear reaction.
const DOUBTFUL: f64 = 0.4;

/// Words in a short line.
const SHORT: usize = 5;

/// Words of a reaction after which a request may follow without a sign of punctuation.
const JOINED_AFTER: usize = 4;

/// Words of a reaction before a request; who says more tells about something else.
const LONGEST: usize = 12;

/// Words that may answer a question although they begin like a request.
const BARE: usize = 3;

/// What a line after an answer says: at least one of the two, unless the line is empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Said<'a> {
    /// About the answer.
    pub reaction: Option<&'a str>,
    /// The next request.
    pub request: Option<&'a str>,
}

/// What a line after an answer says, by the rules.
///
/// ```
/// use fable_text::{Said, split};
///
/// assert_eq!(split("too long"), Said { reaction: Some("too long"), request: None });
/// assert_eq!(split("Who wrote Emma?"), Said { reaction: None, request: Some("Who wrote Emma?") });
/// let both = split("Thanks, now translate it");
/// assert_eq!(both, Said { reaction: Some("Thanks,"), request: Some("now translate it") });
/// ```
#[must_use]
pub fn split(line: &str) -> Said<'_> {
    let line = line.trim();
    if line.is_empty() {
        return Said::default();
    }
    if let Some((reaction, request)) = both(line) {
        return Said { reaction: Some(reaction), request: Some(request) };
    }
    let long = line.split_whitespace().count() > SHORT;
    let request = || asks_for_much(line) || ends_in_request(line);
    let clear =
        |feedback: Feedback| is_clear(line, &feedback) && (troubles(&feedback) || !long || !request());
    let clear = Rules.feedback(Reaction::new(line)).value.is_some_and(clear);
    if clear {
        Said { reaction: Some(line), request: None }
    } else {
        Said { reaction: None, request: Some(line) }
    }
}

/// Whether words are about an answer beyond doubt: a long line that says little about it ("Write a short poem about the sea")
/// is more likely the next request, and a lesson from it would be a wrong one.
#[must_use]
pub fn is_clear(said: &str, feedback: &Feedback) -> bool {
    feedback.reward().abs() > DOUBTFUL || troubles(feedback) || said.split_whitespace().count() <= SHORT
}

/// Whether a line asks for something of its own, whatever was asked before it. A few words that are no question may as well answer one.
///
/// ```
/// use fable_text::is_request;
///
/// assert!(is_request("What is the capital of France?"));
/// assert!(!is_request("the second one in the list") && !is_request("use Python"));
/// ```
#[must_use]
pub fn is_request(line: &str) -> bool {
    let words = tokens::read(line.trim());
    let few = words.len() <= BARE && !words.iter().any(|word| word.text == "?");
    asks_for_much(line) || (!few && asks(&words))
}

/// Whether something had to be corrected or asked.
const fn troubles(feedback: &Feedback) -> bool {
    feedback.corrections > 0 || feedback.clarifications > 0
}

/// The two parts of a line that is both: "Thanks, now translate it", "Too long. What about Berlin?"
fn both(line: &str) -> Option<(&str, &str)> {
    let words = tokens::read(line);
    let reacts = |text: &str| Rules.feedback(Reaction::new(text)).value.is_some();
    (1..words.len().min(LONGEST + 1)).find_map(|at| {
        let (before, after) = words.split_at_checked(at)?;
        let parted = before.last().is_some_and(Word::is_break);
        let joined = || {
            before.len() <= JOINED_AFTER
                && has(JOINED, after.get(..1).unwrap_or(&[]))
                && !any(REQUEST_STARTS, before)
        };
        let own = || has(OWN_MATTERS, before) && !has(ABOUT_ANSWER, before);
        let may = (parted || joined()) && !has(MARKERS, before) && !own() && asks(after);
        let (said, request) = line.split_at_checked(after.first()?.place.start).filter(|_| may)?;
        (reacts(said) && !reacts(request)).then_some((said.trim_end(), request))
    })
}

/// Whether the last of several sentences is a request and says nothing about the answer.
fn ends_in_request(line: &str) -> bool {
    let words = tokens::read(line);
    let ends = |word: &Word| matches!(word.text.as_str(), "." | "!" | "?" | "\n");
    let mut sentences = words.split_inclusive(ends).filter(|words| words.iter().any(|word| !word.is_break()));
    let first = sentences.next();
    let Some(last) = sentences.next_back().filter(|_| first.is_some()) else { return false };
    let start = last.first().map_or(0, |word| word.place.start);
    asks(last) && line.get(start..).is_some_and(|last| Rules.feedback(Reaction::new(last)).value.is_none())
}

/// Whether words are a request: a question, or a sentence that begins like one.
fn asks(words: &[Word]) -> bool {
    let last = words.iter().rev().find(|word| word.text != "\n");
    last.is_some_and(|word| word.text == "?")
        || words.first().is_some_and(|first| !first.is_break()) && starts(words)
}

fn starts(words: &[Word]) -> bool {
    let end = words.iter().position(Word::is_break).unwrap_or(words.len());
    any(REQUEST_STARTS, words.get(..end).unwrap_or(words))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;

    fn seen(line: &str) -> (Option<&str>, Option<&str>) {
        let Said { reaction, request } = split(line);
        (reaction, request)
    }

    #[test]
    fn reactions_and_requests_are_told_apart() {
        for reaction in [
            "too long",
            "Make it shorter",
            "no, I meant the other file",
            "thanks, that's perfect",
            "okay",
            "Wrong. Are you sure?",
            "1.5 is wrong",
            "thanks,",
        ] {
            assert_eq!(seen(reaction), (Some(reaction), None));
        }
        for request in [
            "Write a short poem about the sea",
            "Fix this bug in my code",
            "Which is the best laptop?",
            "In Oslo, is it cold?",
            "Okay, now the second task: sort the list",
            "No, what is the capital of France?",
        ] {
            assert_eq!(seen(request), (None, Some(request)));
        }
        assert_eq!(seen(" \n"), (None, None));
    }

    #[test]
    fn a_line_can_be_both() {
        for (reaction, request) in [
            ("Thanks,", "now translate it"),
            ("Too long.", "What about Berlin?"),
            ("Perfect!", "Write a test for it"),
            ("Thanks! That helped.", "What is the capital of France? And of Spain?"),
            ("thanks", "can you translate it too"),
            ("that was useless.", "I need the price of a ticket"),
            ("great answer,", "one more thing: how old is it?"),
        ] {
            assert_eq!(seen(&format!("{reaction} {request}")), (Some(reaction), Some(request)));
        }
    }
}
