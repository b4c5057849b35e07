//! Identifiers from the names of a catalog.
//!
//! A name has letters, digits, `_` and `-`, in any order and in either case. Two names may therefore want the same identifier, a name
//! may be a keyword, begin with a digit, or have no letter at all. Whatever the names are, what comes out is sound and different.

/// How words are joined.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Case {
    /// `WarmLight`
    Camel,
    /// `warm_light`
    Snake,
    /// `WARM_LIGHT`
    Upper,
}

/// Words that Rust has taken. None of them is in upper case, and in camel case only one.
const KEYWORDS: &[&str] = &[
    "Self", "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate", "do",
    "dyn", "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop",
    "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return", "self", "static",
    "struct", "super", "trait", "true", "try", "type", "typeof", "unsafe", "unsized", "use", "virtual",
    "where", "while", "yield",
];

/// An identifier for each name, in order; `kind` says what is named where a name alone will not do: `Value5`, `TASK_5`.
pub(super) fn identifiers<'n>(
    case: Case,
    kind: &str,
    names: impl IntoIterator<Item = &'n str>,
) -> Vec<String> {
    let wanted: Vec<String> = names
        .into_iter()
        .map(|name| {
            let own = words(case, name);
            if needs_kind(&own) || KEYWORDS.contains(&own.as_str()) {
                join(case, &inflect(case, kind), &own)
            } else {
                own
            }
        })
        .collect();
    distinct(case, &wanted)
}

/// What is wanted, with a number after all but the first of those that are the same.
pub(super) fn distinct(case: Case, wanted: &[String]) -> Vec<String> {
    let mut given: Vec<String> = Vec::new();
    for own in wanted {
        let mut next = own.clone();
        let mut number = 2;
        // The first of several keeps what it wants, and nobody gets what another one wants.
        while given.contains(&next) || (next != *own && wanted.contains(&next)) {
            next = join(case, own, &number.to_string());
            number += 1;
        }
        given.push(next);
    }
    given
}

/// The words of a name, which may be none, or begin with a digit, or be a keyword.
pub(super) fn words(case: Case, name: &str) -> String {
    let words = name.split(['_', '-']).filter(|word| !word.is_empty()).map(|word| inflect(case, word));
    let joined = words.collect::<Vec<_>>().join(if case == Case::Camel { "" } else { "_" });
    let constant = joined.len() > 1 && !joined.contains(|letter: char| letter.is_ascii_lowercase());
    if case == Case::Camel && constant { inflect(case, &joined) } else { joined }
}

/// Whether nothing is there, or something that no identifier begins with.
pub(super) fn needs_kind(words: &str) -> bool {
    !words.starts_with(|first: char| first.is_ascii_alphabetic())
}

pub(super) fn join(case: Case, first: &str, second: &str) -> String {
    let between = if case == Case::Camel || second.is_empty() { "" } else { "_" };
    format!("{first}{between}{second}")
}

/// One word in its case. A word that is in upper case altogether is an abbreviation: `USB` becomes `Usb`.
fn inflect(case: Case, word: &str) -> String {
    match case {
        Case::Snake => word.to_ascii_lowercase(),
        Case::Upper => word.to_ascii_uppercase(),
        Case::Camel => {
            let mixed = word.contains(|letter: char| letter.is_ascii_lowercase());
            let mut letters = word.chars();
            let first = letters.next().map(|first| first.to_ascii_uppercase());
            let rest = letters.map(|letter| if mixed { letter } else { letter.to_ascii_lowercase() });
            first.into_iter().chain(rest).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_names_become_what_one_would_write() {
        let names = ["no_memory", "web-search", "level_5", "USB", "iPhone", "a_b"];
        assert_eq!(
            identifiers(Case::Camel, "value", names),
            ["NoMemory", "WebSearch", "Level5", "Usb", "IPhone", "Ab"]
        );
        assert_eq!(identifiers(Case::Snake, "value", ["web-search", "USB"]), ["web_search", "usb"]);
        assert_eq!(identifiers(Case::Upper, "task", ["web-search", "iPhone"]), ["WEB_SEARCH", "IPHONE"]);
    }

    #[test]
    fn awkward_names_become_sound_and_different_identifiers() {
        let names = [
            "self", "Self", "5", "05", "_", "-", "--", "a-b", "a_b", "A_B", "a_b_2", "ab", "ALL", "aLL",
            "type", "type_",
        ];
        for (case, self_name, five, type_name) in [
            (Case::Camel, "ValueSelf", "Value5", "Type"),
            (Case::Snake, "value_self", "value_5", "value_type"),
            (Case::Upper, "SELF", "VALUE_5", "TYPE"),
        ] {
            let given = identifiers(case, "value", names);
            assert_eq!((&*given[0], &*given[2], &*given[14]), (self_name, five, type_name));
            for (position, own) in given.iter().enumerate() {
                assert!(!given[..position].contains(own), "{own}");
                assert!(!KEYWORDS.contains(&own.as_str()), "{own}");
                assert!(own.starts_with(|first: char| first.is_ascii_alphabetic()), "{own}");
                assert!(
                    own.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
                        && !own.contains("__"),
                    "{own}"
                );
            }
        }
    }
}
