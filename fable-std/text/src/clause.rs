//! Sentences and clauses, and where material follows the person's own words.

use crate::pattern::any;
use crate::tokens::Word;
use alloc::vec::Vec;

/// How a clause hangs on the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Link {
    /// It begins a sentence.
    Start,
    /// A comma, "and".
    And,
    /// "or", "nor".
    Or,
    /// "but", "though".
    But,
    /// "because": what follows is a reason.
    Reason,
}

/// Words that part clauses.
pub(crate) const LINKS: &[(&str, Link)] = &[
    (",", Link::And),
    (";", Link::And),
    ("(", Link::And),
    (")", Link::And),
    ("and", Link::And),
    ("or", Link::Or),
    ("nor", Link::Or),
    ("but", Link::But),
    ("though", Link::But),
    ("although", Link::But),
    ("however", Link::But),
    ("yet", Link::But),
    ("because", Link::Reason),
];

/// Lead-ins after which a colon brings the text to work on.
pub(crate) const LEAD_INS: &[&str] = &[
    "following|this|these|below|grammar|text|sentence|paragraph|code|snippet|article|email|mail|message|notes",
    "translat*|summar*|rewrite|rephrase|proofread|correct|shorten|condense|explain|convert|fix|review|improve|tl;dr",
];

/// A stretch of words without a break.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Clause<'w> {
    pub(crate) words: &'w [Word],
    pub(crate) link: Link,
    /// Its sentence ends in a question mark.
    pub(crate) asks: bool,
}

/// The clauses of a text; empty ones are left out, their link stays.
pub(crate) fn clauses(words: &[Word]) -> Vec<Clause<'_>> {
    let mut found: Vec<Clause<'_>> = Vec::new();
    let (mut start, mut link, mut sentence) = (0, Link::Start, 0);
    for (at, word) in words.iter().enumerate() {
        let next = match word.text.as_str() {
            "." | "!" | "?" | ":" | "\n" => Some(Link::Start),
            text => LINKS.iter().find(|(linking, _)| *linking == text).map(|(_, link)| *link),
        };
        let Some(next) = next else { continue };
        match words.get(start..at) {
            Some(words) if !words.is_empty() => {
                found.push(Clause { words, link, asks: false });
                link = next;
            }
            _ => link = stronger(link, next),
        }
        start = at + 1;
        if word.text == "?" {
            found.iter_mut().skip(sentence).for_each(|clause| clause.asks = true);
        }
        if next == Link::Start {
            sentence = found.len();
        }
    }
    match words.get(start..) {
        Some(words) if !words.is_empty() => found.push(Clause { words, link, asks: false }),
        _ => {}
    }
    found
}

/// The person's own words, and whether material follows: after a colon that ends a line, or that a lead-in announces.
pub(crate) fn split_material(words: &[Word]) -> (&[Word], bool) {
    for (at, _) in words.iter().enumerate().filter(|(_, word)| word.text == ":") {
        let (Some(before), Some(after)) = (words.get(..at), words.get(at + 1..)) else { continue };
        let ends_line = after.first().is_some_and(|next| next.text == "\n");
        let apart =
            after.first().zip(words.get(at)).is_some_and(|(next, colon)| next.place.start > colon.place.end);
        let follows = after.iter().any(|next| !next.is_break());
        if follows && (ends_line || (apart && any(LEAD_INS, before))) {
            return (before, true);
        }
    }
    (words, false)
}

/// Of two links in a row (", but") the one that says more.
fn stronger(first: Link, second: Link) -> Link {
    if second == Link::And { first } else { second }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens::read;
    use alloc::string::String;

    #[test]
    fn links_are_kept_and_empty_clauses_are_not() {
        let seen = |text: &str| -> Vec<(String, Link)> {
            let words = read(text);
            let text = |clause: &Clause<'_>| {
                clause.words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ")
            };
            clauses(&words).iter().map(|clause| (text(clause), clause.link)).collect()
        };
        let is = |text: &str, link| (String::from(text), link);
        assert_eq!(
            seen("Be brief, but not too brief. No code or files; thanks, and bye!"),
            [
                is("be brief", Link::Start),
                is("not too brief", Link::But),
                is("no code", Link::Start),
                is("files", Link::Or),
                is("thanks", Link::And),
                is("bye", Link::And),
            ]
        );
        assert_eq!(seen("... , \n"), []);
        assert_eq!(seen("But why"), [is("why", Link::But)]);
        let words = read("Stop. Is it so, and why? Yes");
        assert_eq!(
            clauses(&words).iter().map(|clause| clause.asks).collect::<Vec<_>>(),
            [false, true, true, false]
        );
    }
}
