//! Patterns over words: the language in which the vocabulary is written.
//!
//! | in a pattern | matches |
//! |---|---|
//! | `search` | this word; from four letters on also with an s; from six on also with one letter inside too many, missing, or swapped |
//! | `summar*` | every word that begins so |
//! | `plan~` | this word and its forms: plans, planned, planning |
//! | `short\|brief` | either word |
//! | `chest pain, stroke` | either phrase |
//! | `_` | any one word |
//! | `#` | a word that begins with a digit |
//! | `..` | up to three words, or none |
//! | `^` first | the rest, at the start of a sentence after "please", "can you" and the like |
//! | `$` last | nothing but punctuation may follow |
//!
//! Nothing matches punctuation, so a match never leaves its clause.

use crate::tokens::Word;
use core::cmp::Ordering;
use core::ops::Range;

/// Words that may stand between the two ends of `..`.
const GAP: usize = 3;

/// Openers that are passed over in a row.
const MAX_OPENERS: usize = 4;

/// Words that are passed over at the start of a sentence.
pub(crate) const OPENERS: &str = "please, can you, could you, would you, will you, can we, could we, i need you to, \
     i want you to, i'd like you to, hey, hi, hello, now, then, so, okay, and, also, kindly, just, quickly, go ahead and, \
     help me, help me to, i need to, i have to, i need, let's, yo, um, uh, well, oh, hmm, first, next, first of all, again, \
     but, maybe, perhaps, help, i want to, i'd like to, i would like to, i would like you to, i'm trying to, trying to, \
     i'm looking to, looking to, we need to, we want to, would you mind, do you mind, mind, any chance you could, \
     any chance you can, i was wondering if you could, i wonder if you could, wondering if you could, do you think you could, \
      if you could, be so kind and, you to, i want, good morning, \
     good evening, good afternoon, thanks, thank you, dear assistant, assistant, quick question, one question, one more thing, \
     actually, basically, honestly, i guess, i think, tell me, show me, say, great, right, alright, in that case, for me, \
     i'd love to, i'd love you to, i am trying to, try to, want, want to, need to, gotta, \
     permanently, immediately, i was hoping you could, i hope you can, it would be great if you could, it'd be great if you could, time to";

/// Words that are no slips of others.
pub(crate) const NO_SLIPS: &[&str] = &["though", "through", "thorough", "thought", "quietly", "wonder", "listen", "priced"];

/// The first place where a pattern matches.
pub(crate) fn find(pattern: &str, words: &[Word]) -> Option<Range<usize>> {
    pattern.split(", ").find_map(|phrase| find_phrase(phrase, words))
}

fn find_phrase(pattern: &str, words: &[Word]) -> Option<Range<usize>> {
    let (pattern, opening) = pattern.strip_prefix("^ ").map_or((pattern, false), |rest| (rest, true));
    let (first, rest) = pattern.split_once(' ').unwrap_or((pattern, ""));
    // Most phrases fail at their first word: it is looked for everywhere before anything else is read.
    let starts = first.split('|').filter_map(|part| {
        let matcher = Matcher::of(part);
        let matched = |start: &usize| {
            let found = words.get(*start).is_some_and(|word| matcher.is(&word.text)) && end_of(rest, words, start + 1).is_some();
            // "Makes sense" is not an order to make something.
            let plain = || words.get(*start).is_some_and(|word| !is_more(&word.text, part));
            found && (!opening || (plain() && opens(words, *start, MAX_OPENERS)))
        };
        (0..words.len()).find(matched)
    });
    let start = starts.min()?;
    Some(start..end_of(rest, words, start + 1)?)
}

/// Whether a pattern matches anywhere.
pub(crate) fn has(pattern: &str, words: &[Word]) -> bool {
    find(pattern, words).is_some()
}

/// Whether one of these patterns matches.
pub(crate) fn any(patterns: &[&str], words: &[Word]) -> bool {
    patterns.iter().any(|pattern| has(pattern, words))
}

/// Whether a sentence may be said to start here: at its first word, and after each of the openers with which it begins.
fn opens(words: &[Word], at: usize, openers: usize) -> bool {
    let before = words.get(..at).unwrap_or(&[]);
    match before.last() {
        None => true,
        Some(word) if word.text == "," => opener_before(words, at - 1, openers),
        Some(word) => word.is_break() || opener_before(words, at, openers),
    }
}

/// Whether an opener ends here that stands where a sentence may start.
fn opener_before(words: &[Word], at: usize, openers: usize) -> bool {
    let length = |opener: &str| opener.split(' ').count();
    openers > 0
        && OPENERS.split(", ").any(|opener| {
            let start = at.checked_sub(length(opener));
            start.is_some_and(|start| end_of(opener, words, start) == Some(at) && opens(words, start, openers - 1))
        })
}

/// Where a match that begins here ends.
fn end_of(pattern: &str, words: &[Word], at: usize) -> Option<usize> {
    let (first, rest) = pattern.split_once(' ').unwrap_or((pattern, ""));
    match first {
        "" => Some(at),
        "$" => words.get(at..)?.iter().all(Word::is_break).then_some(at),
        ".." => {
            let between = words.get(at..)?.iter().take(GAP).take_while(|word| !word.is_break()).count();
            (0..=between).find_map(|skip| end_of(rest, words, at + skip))
        }
        _ => {
            let word = words.get(at)?;
            first.split('|').any(|part| Matcher::of(part).is(&word.text)).then(|| end_of(rest, words, at + 1))?
        }
    }
}

/// What one place of a pattern asks for.
enum Matcher<'p> {
    Any,
    Number,
    Start(&'p str),
    Forms(&'p str),
    Word(&'p str),
}

impl<'p> Matcher<'p> {
    fn of(part: &'p str) -> Self {
        match part {
            "_" => Self::Any,
            "#" => Self::Number,
            _ => match (part.strip_suffix('*'), part.strip_suffix('~')) {
                (Some(start), _) => Self::Start(start),
                (None, Some(stem)) => Self::Forms(stem),
                (None, None) => Self::Word(part),
            },
        }
    }

    fn is(&self, word: &str) -> bool {
        match self {
            Self::Any => !word.chars().all(|c| c.is_ascii_punctuation() || c == '\n'),
            Self::Number => word.starts_with(|c: char| c.is_ascii_digit()),
            Self::Start(start) => word.starts_with(start),
            Self::Forms(stem) => is_form(word, stem) || is_slip(word, stem),
            Self::Word(meant) => word == *meant || is_more(word, meant) || is_slip(word, meant),
        }
    }
}

/// Whether a word of four letters or more is another one with an s.
fn is_more(word: &str, of: &str) -> bool {
    of.len() >= 4 && !of.ends_with('s') && word.strip_suffix('s') == Some(of)
}

/// Whether a word is another one, bent: tries and tried of try, making of make, stopped of stop.
fn is_form(word: &str, stem: &str) -> bool {
    if let Some(ending) = word.strip_prefix(stem) {
        let last = stem.chars().next_back();
        let doubled = || ending.chars().next() == last && matches!(ending.get(1..), Some("ed" | "ing"));
        return matches!(ending, "" | "s" | "es" | "d" | "ed" | "ing") || doubled();
    }
    let (short, endings): (_, &[&str]) = match (stem.strip_suffix('e'), stem.strip_suffix('y')) {
        (Some(short), _) => (short, &["ing"]),
        (None, Some(short)) => (short, &["ies", "ied"]),
        (None, None) => return false,
    };
    word.strip_prefix(short).is_some_and(|ending| endings.contains(&ending))
}

/// Whether a word is another with one letter too many, one missing or two swapped. Short words are too much alike for that, and a
/// wrong letter, another beginning or another ending makes another word too often ("massage", "nuclear", "pleased").
fn is_slip(word: &str, of: &str) -> bool {
    let (found, meant) = (word.as_bytes(), of.as_bytes());
    let alike = found.len() >= 6 && meant.len() >= 6 && found.len().abs_diff(meant.len()) <= 1 && found.first() == meant.first();
    if !alike || NO_SLIPS.contains(&word) {
        return false;
    }
    let same = found.iter().zip(meant).take_while(|(a, b)| a == b).count();
    let (Some((f, found)), Some((m, meant))) = (split_first(found, same), split_first(meant, same)) else { return false };
    match found.len().cmp(&meant.len()) {
        Ordering::Greater => found.split_first() == Some((&m, meant)),
        Ordering::Less => meant.split_first() == Some((&f, found)),
        Ordering::Equal => found.first() == Some(&m) && meant.first() == Some(&f) && found.get(1..) == meant.get(1..),
    }
}

/// The byte at a place and what follows it.
fn split_first(text: &[u8], at: usize) -> Option<(u8, &[u8])> {
    text.get(at..)?.split_first().map(|(first, rest)| (*first, rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens::read;

    #[test]
    fn each_sign_of_the_language() {
        let matched = |pattern: &str, text: &str| has(pattern, &read(text));
        assert!(matched("search .. web", "never search on the web"));
        assert!(matched("search .. web", "search web"));
        assert!(!matched("search .. web", "search for it on the web"));
        assert!(!matched("search .. web", "I search, the web rests"));
        assert!(matched("summar*", "a Summary, please"));
        assert!(matched("short|brief answer*", "brief answers"));
        for bent in ["plan", "plans", "planned", "planning"] {
            assert!(matched("plan~", bent), "{bent}");
        }
        for (stem, bent) in [("try~", "tries"), ("try~", "trying"), ("make~", "making"), ("fix~", "fixes"), ("use~", "used")] {
            assert!(matched(stem, bent), "{bent}");
        }
        for (stem, other) in [("plan~", "planet"), ("plan~", "plannings"), ("make~", "maker"), ("try~", "trial")] {
            assert!(!matched(stem, other), "{other}");
        }
        assert!(matched("chest pain, heart attack", "a heart attack") && !matched("chest pain, heart attack", "chest attack"));
        assert!(matched("# <operator> #", "2 * 3"));
        assert!(matched("^ write", "Hi. Could you please write a poem?"));
        assert!(matched("^ write", "ok, now write a poem"));
        assert!(!matched("^ write", "I write poems"));
        assert!(!matched("^ write", "he said, write it"));
        assert!(matched("help $", "help!!"));
        assert!(!matched("help $", "help me"));
        assert!(matched("the _ one", "the other one"));
        assert!(!matched("the _ one", "the, one"));
        assert!(!matched("anything", ""));
    }

    #[test]
    fn slips_of_long_words_are_forgiven() {
        for (word, meant) in
            [("transalte", "translate"), ("recomend", "recommend"), ("seearch", "search"), ("explian", "explain")]
        {
            assert!(is_slip(word, meant) && !is_slip(meant, meant), "{word}");
        }
        for (word, other) in
            [("form", "from"), ("massage", "message"), ("unclear", "nuclear"), ("please", "pleased"), ("search", "")]
        {
            assert!(!is_slip(word, other), "{word}");
        }
    }
}
