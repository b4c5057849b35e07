//! What a rule host makes of words: stems, their weights, and how well two texts go together.

use std::collections::{BTreeMap, BTreeSet};

/// Words that say nothing about what is wanted or when.
const EMPTY: &[&str] = &[
    "a",
    "an",
    "and",
    "are",
    "as",
    "at",
    "be",
    "but",
    "by",
    "can",
    "could",
    "d",
    "do",
    "for",
    "from",
    "get",
    "have",
    "i",
    "in",
    "is",
    "it",
    "its",
    "ll",
    "m",
    "me",
    "my",
    "need",
    "of",
    "on",
    "or",
    "please",
    "prefer",
    "re",
    "s",
    "so",
    "some",
    "something",
    "that",
    "the",
    "them",
    "these",
    "this",
    "to",
    "ve",
    "want",
    "was",
    "we",
    "when",
    "with",
    "would",
    "you",
    "your",
];

/// The stems of a text, each once.
pub type Stems = BTreeSet<String>;

/// Stems: lower-case words without the empty ones and without a plural's s, of which the first five letters count.
pub fn stems(text: &str) -> Stems {
    let lower = text.to_lowercase();
    let words = lower
        .split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| !word.is_empty() && !EMPTY.contains(word));
    words
        .map(|word| {
            word.strip_suffix('s').filter(|rest| rest.len() > 2).unwrap_or(word).chars().take(5).collect()
        })
        .collect()
}

/// How much a stem says: ln(1 + (N - n + 1/2) / (n + 1/2)) for one that is in n of N texts, as in BM25.
#[derive(Clone, Debug, Default)]
pub struct Weights {
    counts: BTreeMap<String, usize>,
    texts: usize,
}

impl Weights {
    /// From a collection of texts.
    pub fn of<'a>(texts: impl IntoIterator<Item = &'a Stems>) -> Self {
        let mut weights = Self::default();
        for text in texts {
            weights.texts += 1;
            for stem in text {
                *weights.counts.entry(stem.clone()).or_default() += 1;
            }
        }
        weights
    }

    fn weight(&self, stem: &str) -> f64 {
        let (all, with) = (self.texts as f64, self.counts.get(stem).copied().unwrap_or_default() as f64);
        libm::log(1.0 + (all - with + 0.5) / (with + 0.5))
    }

    /// The weight of what two texts share.
    pub fn shared(&self, one: &Stems, other: &Stems) -> f64 {
        one.intersection(other).map(|stem| self.weight(stem)).sum()
    }
}

/// The share of the stems of two texts that they have in common, from 0 to 1 (Dice).
pub fn overlap(one: &Stems, other: &Stems) -> f64 {
    let all = one.len() + other.len();
    if all == 0 { 0.0 } else { 2.0 * one.intersection(other).count() as f64 / all as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_a_word_have_one_stem_and_rare_words_count_more() {
        assert_eq!(stems("Celebrating with smoothies"), stems("celebration smoothie"));
        assert_eq!(overlap(&stems("herbal tea"), &stems("a herbal tea")), 1.0);
        assert_eq!(overlap(&stems("herbal tea"), &stems("black tea")), 0.5);
        assert_eq!(overlap(&stems(""), &stems("of")), 0.0);
        let texts = [stems("drink drowsy"), stems("drink cold"), stems("drink sick")];
        let weights = Weights::of(&texts);
        assert!(weights.shared(&texts[0], &stems("drowsy")) > weights.shared(&texts[0], &stems("drinks")));
    }
}
