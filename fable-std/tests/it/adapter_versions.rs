//! What was learned from one reading of texts must not go on with another: an adapter's id stands for its rules and tables,
//! or for its prompts and checks. Whoever changes them, and thereby what is read, raises the version in the id, then writes
//! the new number here. A change of names or of speed alone keeps the version.

use fable_std::llm::Llm;
use fable_std::text::Rules;

/// A fingerprint of sources without comments, tests and spaces.
fn fingerprint(sources: &[&str]) -> u64 {
    let code = |source: &&str| -> String {
        let own = source.split("#[cfg(test)]").next().unwrap_or_default();
        own.lines()
            .map(str::trim)
            .filter(|line| !line.starts_with("//"))
            .flat_map(str::split_whitespace)
            .collect()
    };
    fable_core::user_hash(&sources.iter().map(code).collect::<String>())
}

macro_rules! rules {
    ($file:literal) => {
        include_str!(concat!("../../text/src/", $file))
    };
}

macro_rules! llm {
    ($file:literal) => {
        include_str!(concat!("../../src/llm/", $file))
    };
}

#[test]
fn rules_and_tables_belong_to_their_versions() {
    const SHARED: [&str; 3] = [rules!("tokens.rs"), rules!("pattern.rs"), rules!("clause.rs")];
    let pinned = |own: &[&'static str]| fingerprint(&[&SHARED[..], own].concat());
    let context = pinned(&[
        rules!("context.rs"),
        rules!("tables/context.rs"),
        rules!("tables/tasks.rs"),
        rules!("question.rs"),
        rules!("tables/talk.rs"),
    ]);
    let onboarding = pinned(&[rules!("onboarding.rs"), rules!("tables/onboarding.rs")]);
    let feedback = pinned(&[rules!("feedback.rs"), rules!("tables/feedback.rs")]);
    assert_eq!((Rules::CONTEXT, context), ("rules-context/2", 9_031_713_569_198_162_948));
    assert_eq!((Rules::ONBOARDING, onboarding), ("rules-onboarding/2", 8_800_290_147_440_149_717));
    assert_eq!((Rules::FEEDBACK, feedback), ("rules-feedback/3", 14_090_649_453_947_782_741));
}

#[test]
fn prompts_and_checks_belong_to_their_version() {
    let sources = [llm!("context.rs"), llm!("onboarding.rs"), llm!("feedback.rs"), llm!("answer.rs")];
    assert_eq!((Llm::VERSION, fingerprint(&sources)), (2, 1_375_418_150_538_404_646));
}
