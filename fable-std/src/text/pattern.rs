//! Patterns over words: the language in which the vocabulary is written.
//!
//! | in a pattern | matches |
//! |---|---|
//! | `search` | this word; from six letters on also with one letter inside too many, missing, or swapped |
//! | `summar*` | every word that begins so |
//! | `short\|brief` | either word |
//! | `chest pain, stroke` | either phrase |
//! | `_` | any one word |
//! | `#` | a word that begins with a digit |
//! | `..` | up to three words, or none |
//! | `^` first | the rest, at the start of a sentence after "please", "can you" and the like |
//! | `$` last | nothing but punctuation may follow |
//!
//! Nothing matches punctuation, so a match never leaves its clause.

use super::words::Word;
use alloc::vec::Vec;
use core::ops::Range;

/// Words that may stand between the two ends of `..`.
const GAP: usize = 3;

/// Words that are passed over at the start of a sentence.
pub(super) const OPENERS: &str = "please, can you, could you, would you, will you, can we, could we, i need you to, i want you to, i'd like you to, hey, hi, hello, now, then, so, okay, and, also, kindly, just, quickly, go ahead and, help me, help me to, i need to, i have to, i need, let's";

/// Words that are no slips of others.
pub(super) const NO_SLIPS: &[&str] = &["though", "through", "thorough", "thought", "quietly", "wonder", "listen", "priced"];

/// The first place where a pattern matches.
pub(super) fn find(pattern: &str, words: &[Word]) -> Option<Range<usize>> {
    pattern.split(", ").find_map(|phrase| find_phrase(phrase, words))
}

fn find_phrase(pattern: &str, words: &[Word]) -> Option<Range<usize>> {
    let Some(pattern) = pattern.strip_prefix("^ ") else {
        return (0..words.len()).find_map(|start| Some(start..end_of(pattern, words, start)?));
    };
    let starts = |start: usize| start == 0 || words.get(start - 1).is_some_and(|word| word.is_break() && word.text != ",");
    (0..words.len()).filter(|start| starts(*start)).find_map(|start| {
        let openings = openings(words, start);
        openings.into_iter().find_map(|start| Some(start..end_of(pattern, words, start)?))
    })
}

/// Whether a pattern matches anywhere.
pub(super) fn has(pattern: &str, words: &[Word]) -> bool {
    find(pattern, words).is_some()
}

/// Whether one of these patterns matches.
pub(super) fn any(patterns: &[&str], words: &[Word]) -> bool {
    patterns.iter().any(|pattern| has(pattern, words))
}

/// Where a sentence may be said to start: at its first word, and after every opener.
fn openings(words: &[Word], start: usize) -> Vec<usize> {
    let mut found = Vec::from([start]);
    let mut next = 0;
    while let Some(&at) = found.get(next) {
        next += 1;
        for end in OPENERS.split(", ").filter_map(|opener| end_of(opener, words, at)) {
            let end = if words.get(end).is_some_and(|word| word.text == ",") { end + 1 } else { end };
            if !found.contains(&end) {
                found.push(end);
            }
        }
    }
    found
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
        _ => words
            .get(at)
            .filter(|word| first.split('|').any(|part| is(&word.text, part)))
            .and_then(|_| end_of(rest, words, at + 1)),
    }
}

/// Whether a word is meant by one part of a pattern.
fn is(word: &str, part: &str) -> bool {
    match part {
        "_" => !word.chars().all(|c| c.is_ascii_punctuation() || c == '\n'),
        "#" => word.starts_with(|c: char| c.is_ascii_digit()),
        _ => match part.strip_suffix('*') {
            Some(start) => word.starts_with(start),
            None => word == part || is_slip(word, part),
        },
    }
}

/// Whether a word is another with one letter too many, one missing or two swapped. Short words are too much alike for that, and a
/// wrong letter, another beginning or another ending makes another word too often ("massage", "nuclear", "pleased").
fn is_slip(word: &str, of: &str) -> bool {
    if NO_SLIPS.contains(&word) || word.len() < 6 || of.len() < 6 || word.get(..1) != of.get(..1) {
        return false;
    }
    let (word, of) = (word.as_bytes(), of.as_bytes());
    let same = word.iter().zip(of).take_while(|(a, b)| a == b).count();
    let tail = |text: &[u8], skip: usize| text.get(same + skip..).unwrap_or(&[]).to_vec();
    if same >= word.len().min(of.len()) {
        return false;
    }
    match (word.len(), of.len()) {
        (found, meant) if found == meant => {
            tail(word, 2) == tail(of, 2) && word.get(same) == of.get(same + 1) && word.get(same + 1) == of.get(same)
        }
        (found, meant) if found == meant + 1 => tail(word, 1) == tail(of, 0),
        (found, meant) if found + 1 == meant => tail(word, 0) == tail(of, 1),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::words::read;
    use super::*;

    #[test]
    fn each_sign_of_the_language() {
        let matched = |pattern: &str, text: &str| has(pattern, &read(text));
        assert!(matched("search .. web", "never search on the web"));
        assert!(matched("search .. web", "search web"));
        assert!(!matched("search .. web", "search for it on the web"));
        assert!(!matched("search .. web", "I search, the web rests"));
        assert!(matched("summar*", "a Summary, please"));
        assert!(matched("short|brief answer*", "brief answers"));
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
