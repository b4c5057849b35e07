//! Which exchanges match a request by words: BM25, of the crate `bm25`, over lower-case words without the most common English ones and
//! without the plural's *s*. It costs one pass over what is kept.

use super::Exchange;
use bm25::{EmbedderBuilder, Scorer, TokenEmbedder, Tokenizer};

/// English words that say nothing about what a text is about.
const COMMON: &[&str] = &[
    "a", "about", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be", "been", "but", "by",
    "can", "could", "did", "do", "does", "for", "from", "get", "had", "has", "have", "he", "her", "here",
    "him", "his", "how", "i", "if", "in", "into", "is", "it", "its", "just", "let", "like", "may", "me",
    "my", "no", "not", "now", "of", "on", "or", "our", "out", "please", "she", "should", "so", "some",
    "than", "thank", "thanks", "that", "the", "their", "them", "then", "there", "these", "they", "this",
    "to", "up", "us", "was", "we", "were", "what", "when", "where", "which", "who", "why", "will", "with",
    "would", "yes", "you", "your",
];

/// The words of a text, in order.
///
/// ```
/// assert_eq!(fable_std::memory::words::of("Which of my Invoices are overdue?"), ["invoice", "overdue"]);
/// ```
#[must_use]
pub fn of(text: &str) -> Vec<String> {
    let apart = |letter: char| !letter.is_alphanumeric() && letter != '\'' && letter != '\u{2019}';
    let words = text.split(apart).map(|word| {
        let word = word.trim_matches(['\'', '\u{2019}']).to_lowercase();
        let bare = word.strip_suffix("'s").or(word.strip_suffix("\u{2019}s"));
        bare.map_or_else(|| word.clone(), str::to_owned)
    });
    words
        .filter(|word| !word.is_empty() && !COMMON.contains(&word.as_str()))
        .map(|word| singular(&word))
        .collect()
}

/// A word without the plural's *s*, by Harman's three rules.
fn singular(word: &str) -> String {
    let ends = |endings: &[&str]| endings.iter().any(|ending| word.ends_with(ending));
    if word.len() < 4 || !word.is_ascii() {
        return word.to_owned();
    }
    match word.strip_suffix("ies") {
        Some(stem) if !ends(&["eies", "aies"]) => return format!("{stem}y"),
        _ => {}
    }
    if ends(&["us", "ss"]) || !ends(&["s"]) {
        return word.to_owned();
    }
    word.strip_suffix('s').unwrap_or(word).to_owned()
}

struct Words;

impl Tokenizer for Words {
    fn tokenize(&self, text: &str) -> Vec<String> {
        of(text)
    }
}

/// A word is itself: no two share a place.
struct Itself;

impl TokenEmbedder for Itself {
    type EmbeddingSpace = String;

    fn embed(word: &str) -> String {
        word.to_owned()
    }
}

/// The positions of exchanges that share a word with a request, the best first; of two that match alike the newer one.
///
/// ```
/// use fable_std::memory::{Exchange, words::rank};
/// let exchanges = ["paint the fence", "feed the cats", "buy paint"].map(|request| Exchange::new(request, "done", 0));
/// assert_eq!(rank(&exchanges, "Where is the paint?"), [2, 0]);
/// assert!(rank(&exchanges, "What is the time?").is_empty());
/// ```
#[must_use]
pub fn rank(exchanges: &[Exchange], request: &str) -> Vec<usize> {
    let texts: Vec<String> =
        exchanges.iter().map(|exchange| format!("{}\n{}", exchange.request, exchange.answer)).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let embedder = EmbedderBuilder::<Itself, Words>::with_tokenizer_and_fit_to_corpus(Words, &texts).build();
    let mut scorer = Scorer::<usize, String>::new();
    for (index, text) in texts.iter().enumerate() {
        scorer.upsert(&index, embedder.embed(text));
    }
    let asked = embedder.embed(request);
    let scores = (0..texts.len()).filter_map(|index| Some((index, f64::from(scorer.score(&index, &asked)?))));
    best_first(scores.filter(|(_, score)| *score > 0.0).collect())
}

/// Positions by their score, the best first; of two with the same score the later one.
pub(super) fn best_first(mut scores: Vec<(usize, f64)>) -> Vec<usize> {
    scores.sort_by(|(one, here), (other, there)| there.total_cmp(here).then(other.cmp(one)));
    scores.into_iter().map(|(index, _)| index).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exchanges(texts: &[&str]) -> Vec<Exchange> {
        texts.iter().map(|text| Exchange::new(text, "", 0)).collect()
    }

    #[test]
    fn words_are_evened_out() {
        assert_eq!(
            of("My cats' names, and the cat's (2) BOXES: Zoë, status, glass, flies!"),
            ["cat", "name", "cat", "2", "boxe", "zoë", "status", "glass", "fly"]
        );
        assert_eq!(of("?? the 'of' \u{2019}"), Vec::<String>::new());
        assert_eq!(of("\u{6771}\u{4eac} stra\u{df}e"), ["\u{6771}\u{4eac}", "stra\u{df}e"]);
    }

    /// The crate's scores against the formula, k1 = 1.2 and b = 0.75, on small texts.
    #[test]
    fn scores_are_bm25() {
        let texts = ["red fish blue fish", "one fish two", "green tree", "red tree red house red"];
        let documents: Vec<Vec<String>> = texts.iter().map(|text| of(text)).collect();
        let average = documents.iter().map(Vec::len).sum::<usize>() as f64 / documents.len() as f64;
        let score = |query: &[String], document: &[String]| -> f64 {
            let term = |word: &String| {
                let with = documents.iter().filter(|document| document.contains(word)).count() as f64;
                let idf = ((documents.len() as f64 - with + 0.5) / (with + 0.5) + 1.0).ln();
                let count = document.iter().filter(|other| *other == word).count() as f64;
                idf * count * 2.2 / (count + 1.2 * (0.25 + 0.75 * document.len() as f64 / average))
            };
            query.iter().map(term).sum()
        };
        for query in ["red fish", "tree", "two green houses", "one red", "nothing here"] {
            let asked = of(query);
            let expected: Vec<(usize, f64)> =
                documents.iter().map(|document| score(&asked, document)).enumerate().collect();
            let expected = best_first(expected.into_iter().filter(|(_, score)| *score > 0.0).collect());
            assert_eq!(rank(&exchanges(&texts), query), expected, "{query}");
        }
    }

    #[test]
    fn the_newer_of_two_comes_first_every_time() {
        let same = exchanges(&["buy milk"; 20]);
        for _ in 0..20 {
            assert_eq!(rank(&same, "milk"), (0..20).rev().collect::<Vec<_>>());
        }
        assert!(rank(&[], "milk").is_empty() && rank(&exchanges(&["", ""]), "").is_empty());
    }

    #[test]
    fn what_is_rare_counts_more() {
        let mut texts = vec!["the report on sales"; 10];
        texts.push("the report on whales");
        let found = rank(&exchanges(&texts), "report about whales");
        assert_eq!((found[0], found.len()), (10, 11));
    }
}
