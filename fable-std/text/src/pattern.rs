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
use alloc::vec::Vec;
use core::cmp::Ordering;
use core::iter::{self, successors};
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
pub(crate) const NO_SLIPS: &[&str] =
    &["though", "through", "thorough", "thought", "quietly", "wonder", "listen", "priced"];

/// Kinds of first letters that are told apart.
const KINDS: usize = 32;

/// Words in which patterns are looked for, and where each of them stands: all that is compared with a word of a pattern are the
/// different words that begin like it.
pub(crate) struct Places<'w> {
    words: &'w [Word],
    /// The place of a word of each kind.
    kinds: [Place; KINDS],
    links: Vec<Link>,
}

/// Where a word stands.
type Place = u16;

/// No place: every text is shorter.
const NOWHERE: Place = Place::MAX;

/// What leads from a place to others.
#[derive(Clone, Copy)]
struct Link {
    /// The first place of another word of this kind, if this is the first of its word.
    other: Place,
    /// The next place of the same word.
    again: Place,
    /// The last one so far.
    last: Place,
}

/// The kind of a word by its first letter.
fn kind(word: &str) -> usize {
    usize::from(word.as_bytes().first().copied().unwrap_or(0)) % KINDS
}

impl<'w> Places<'w> {
    pub(crate) fn of(words: &'w [Word]) -> Self {
        let mut places = Self { words, kinds: [NOWHERE; KINDS], links: Vec::with_capacity(words.len()) };
        for (at, word) in (0..NOWHERE).zip(words) {
            places.add(at, &word.text);
        }
        places
    }

    /// Adds the next place.
    fn add(&mut self, at: Place, text: &str) {
        let same = self.firsts(text).find(|first| self.word(*first) == Some(text));
        let mut link = Link { other: NOWHERE, again: NOWHERE, last: at };
        if let Some(first) = same.and_then(|first| self.links.get_mut(first)) {
            let last = core::mem::replace(&mut first.last, at);
            if let Some(last) = self.links.get_mut(usize::from(last)) {
                last.again = at;
            }
        } else if let Some(other) = self.kinds.get_mut(kind(text)) {
            link.other = core::mem::replace(other, at);
        }
        self.links.push(link);
    }

    fn word(&self, at: usize) -> Option<&'w str> {
        self.words.get(at).map(|word| word.text.as_str())
    }

    /// The first places of the words that begin like this one.
    fn firsts(&self, word: &str) -> impl Iterator<Item = usize> {
        self.walk(self.kinds.get(kind(word)).copied().unwrap_or(NOWHERE), |link| link.other)
    }

    /// Places from one on, as their links lead.
    fn walk(&self, from: Place, next: fn(&Link) -> Place) -> impl Iterator<Item = usize> {
        let known = |at: Place| (at != NOWHERE).then_some(usize::from(at));
        successors(known(from), move |at| self.links.get(*at).map(next).and_then(known))
    }

    /// The first place where a pattern matches.
    pub(crate) fn find(&self, pattern: &str) -> Option<Range<usize>> {
        phrases(pattern).find_map(|phrase| self.find_phrase(phrase))
    }

    /// Whether a pattern matches anywhere.
    pub(crate) fn has(&self, pattern: &str) -> bool {
        self.find(pattern).is_some()
    }

    /// Whether one of these patterns matches.
    pub(crate) fn any(&self, patterns: &[&str]) -> bool {
        patterns.iter().any(|pattern| self.has(pattern))
    }

    fn find_phrase(&self, phrase: &str) -> Option<Range<usize>> {
        let (phrase, opening) = phrase.strip_prefix("^ ").map_or((phrase, false), |rest| (rest, true));
        let (first, rest) = cut(phrase, b' ');
        // Most phrases fail at their first word: it is looked for everywhere before anything else is read.
        let start = parts(first).filter_map(|part| self.find_part(part, rest, opening)).min()?;
        Some(start..end_of(rest, self.words, start + 1)?)
    }

    /// The first place of a part of a pattern's first word that the rest follows.
    fn find_part(&self, part: &str, rest: &str, opening: bool) -> Option<usize> {
        let matcher = Matcher::of(part);
        let follows = |start: &usize| {
            end_of(rest, self.words, start + 1).is_some()
                && (!opening || opens(self.words, *start, MAX_OPENERS))
        };
        if matches!(matcher, Matcher::Any | Matcher::Number) {
            let is = |start: &usize| self.word(*start).is_some_and(|word| matcher.is(word));
            return (0..self.words.len()).filter(is).find(follows);
        }
        // "Makes sense" is not an order to make something.
        let is = |word: &str| matcher.is(word) && !(opening && is_more(word, part));
        let firsts = self.firsts(part).filter(|first| self.word(*first).is_some_and(is));
        firsts.filter_map(|first| self.walk(first as Place, |link| link.again).find(follows)).min()
    }
}

/// The first place where a pattern matches.
pub(crate) fn find(pattern: &str, words: &[Word]) -> Option<Range<usize>> {
    Places::of(words).find(pattern)
}

/// Whether a pattern matches anywhere.
pub(crate) fn has(pattern: &str, words: &[Word]) -> bool {
    Places::of(words).has(pattern)
}

/// Whether one of these patterns matches.
pub(crate) fn any(patterns: &[&str], words: &[Word]) -> bool {
    Places::of(words).any(patterns)
}

/// What stands before and after the first of a sign; all of it and nothing where there is none.
fn cut(text: &str, sign: u8) -> (&str, &str) {
    let end = text.bytes().position(|byte| byte == sign).unwrap_or(text.len());
    (text.get(..end).unwrap_or(text), text.get(end + 1..).unwrap_or(""))
}

/// The words of which one is meant.
fn parts(place: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(place);
    iter::from_fn(move || {
        let (part, after) = cut(rest?, b'|');
        rest = Some(after).filter(|after| !after.is_empty());
        Some(part)
    })
}

/// The phrases of which one is meant.
fn phrases(pattern: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(pattern);
    iter::from_fn(move || {
        let (phrase, after) = cut(rest?, b',');
        rest = after.strip_prefix(' ');
        Some(phrase)
    })
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
    let Some(last) = at.checked_sub(1).and_then(|last| words.get(last)) else { return false };
    let length = |opener: &str| opener.split(' ').count();
    // Most openers end in a word with another first letter.
    let ends = |opener: &&str| {
        kind(opener.rsplit_once(' ').map_or(*opener, |(_, ending)| ending)) == kind(&last.text)
    };
    openers > 0
        && phrases(OPENERS).filter(ends).any(|opener| {
            let start = at.checked_sub(length(opener));
            start.is_some_and(|start| {
                end_of(opener, words, start) == Some(at) && opens(words, start, openers - 1)
            })
        })
}

/// Where a match that begins here ends.
fn end_of(pattern: &str, words: &[Word], at: usize) -> Option<usize> {
    let (first, rest) = cut(pattern, b' ');
    match first {
        "" => Some(at),
        "$" => words.get(at..)?.iter().all(Word::is_break).then_some(at),
        ".." => {
            let between = words.get(at..)?.iter().take(GAP).take_while(|word| !word.is_break()).count();
            (0..=between).find_map(|skip| end_of(rest, words, at + skip))
        }
        _ => {
            let word = words.get(at)?;
            parts(first).any(|part| Matcher::of(part).is(&word.text)).then(|| end_of(rest, words, at + 1))?
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
    let alike = found.len() >= 6
        && meant.len() >= 6
        && found.len().abs_diff(meant.len()) <= 1
        && found.first() == meant.first();
    if !alike || NO_SLIPS.contains(&word) {
        return false;
    }
    let same = found.iter().zip(meant).take_while(|(a, b)| a == b).count();
    let (Some((f, found)), Some((m, meant))) = (split_first(found, same), split_first(meant, same)) else {
        return false;
    };
    match found.len().cmp(&meant.len()) {
        Ordering::Greater => found.split_first() == Some((&m, meant)),
        Ordering::Less => meant.split_first() == Some((&f, found)),
        Ordering::Equal => {
            found.first() == Some(&m) && meant.first() == Some(&f) && found.get(1..) == meant.get(1..)
        }
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
        for (stem, bent) in
            [("try~", "tries"), ("try~", "trying"), ("make~", "making"), ("fix~", "fixes"), ("use~", "used")]
        {
            assert!(matched(stem, bent), "{bent}");
        }
        for (stem, other) in
            [("plan~", "planet"), ("plan~", "plannings"), ("make~", "maker"), ("try~", "trial")]
        {
            assert!(!matched(stem, other), "{other}");
        }
        assert!(
            matched("chest pain, heart attack", "a heart attack")
                && !matched("chest pain, heart attack", "chest attack")
        );
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

    /// As [`Places::find`], with every word compared with every part, and cut up by the standard library.
    fn find_everywhere(pattern: &str, words: &[Word]) -> Option<Range<usize>> {
        pattern.split(", ").find_map(|phrase| {
            let (phrase, opening) = phrase.strip_prefix("^ ").map_or((phrase, false), |rest| (rest, true));
            let (first, rest) = phrase.split_once(' ').unwrap_or((phrase, ""));
            (0..words.len()).find_map(|start| {
                let word = words[start].text.as_str();
                let is = |part: &str| Matcher::of(part).is(word) && !(opening && is_more(word, part));
                let end = end_of(rest, words, start + 1).filter(|_| first.split('|').any(is))?;
                (!opening || opens(words, start, MAX_OPENERS)).then_some(start..end)
            })
        })
    }

    #[test]
    fn words_that_begin_otherwise_are_left_out_for_good() {
        use crate::tables::{context, tasks};
        let texts = include_str!("../tests/sentences/held_out/context.tsv")
            .lines()
            .filter_map(|line| line.rsplit('\t').next());
        let cues =
            tasks::TASKS.iter().flat_map(|(_, _, cues)| *cues).chain(context::RISK).chain(context::VAGUE);
        let patterns: Vec<&str> =
            cues.map(|(_, pattern)| *pattern).chain(context::FOLLOW_UPS.iter().copied()).collect();
        let (mut found, mut gone) = (0, 0);
        for text in texts {
            let words = read(text);
            let places = Places::of(&words);
            for pattern in &patterns {
                let place = places.find(pattern);
                assert_eq!(place, find_everywhere(pattern, &words), "{pattern} in {text}");
                *if place.is_some() { &mut found } else { &mut gone } += 1;
            }
        }
        assert!(found > 100 && gone > 10_000, "{found} {gone}");
    }

    #[test]
    fn slips_of_long_words_are_forgiven() {
        for (word, meant) in [
            ("transalte", "translate"),
            ("recomend", "recommend"),
            ("seearch", "search"),
            ("explian", "explain"),
        ] {
            assert!(is_slip(word, meant) && !is_slip(meant, meant), "{word}");
        }
        for (word, other) in [
            ("form", "from"),
            ("massage", "message"),
            ("unclear", "nuclear"),
            ("please", "pleased"),
            ("search", ""),
        ] {
            assert!(!is_slip(word, other), "{word}");
        }
    }
}
