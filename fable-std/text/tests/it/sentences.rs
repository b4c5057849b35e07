//! How well the rules read: accuracy on the labelled sentences under `sentences`, with a floor for each number.
//!
//! `cargo test -p fable-text --test it sentences:: -- --nocapture` prints the table of the README. Sentences of the tuned part that
//! are misread are listed with FABLE_MISREAD=1, those of the held-out part never: they are counted, not looked at.

use fable_core::Catalog;
use fable_core::catalog::AGENT;
use fable_core::catalog::Effect;
use fable_core::catalog::When;
use fable_text::{
    ContextAdapter, FeedbackAdapter, OnboardingAdapter, PreferenceText, Reaction, RequestText, Rules,
    Situation, split,
};
use std::collections::BTreeSet;

/// The rows of a file under its heading.
fn rows(part: &str, file: &str) -> Vec<Vec<String>> {
    let path = format!("{}/tests/sentences/{part}/{file}.tsv", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    let columns = text.lines().next().unwrap().split('\t').count();
    let row =
        |line: &str| -> Vec<String> { line.split('\t').map(|cell| cell.replace("\\n", "\n")).collect() };
    let rows: Vec<Vec<String>> = text.lines().skip(1).map(row).collect();
    assert!(rows.iter().all(|row| row.len() == columns), "{part}/{file}");
    rows
}

/// Right answers of how many.
#[derive(Clone, Copy, Default, PartialEq)]
struct Score {
    right: u32,
    of: u32,
}

impl Score {
    fn count(&mut self, right: bool) -> bool {
        self.right += u32::from(right);
        self.of += 1;
        right
    }

    fn percent(self) -> f64 {
        100.0 * f64::from(self.right) / f64::from(self.of)
    }
}

fn misread(part: &str, text: &str, expected: &str, found: &str) {
    if part == "tuned" && std::env::var_os("FABLE_MISREAD").is_some() {
        println!("{text:?}\n    expected {expected}\n    found    {found}");
    }
}

fn context(part: &str) -> Vec<(&'static str, Score)> {
    let names = ["risk", "ambiguity", "memory_need", "tool_need"];
    let (mut task, mut signals) = (Score::default(), [Score::default(); 4]);
    for row in rows(part, "context") {
        let [expected, levels @ .., text] = row.as_slice() else { panic!("{row:?}") };
        assert!(expected == "-" || AGENT.task(expected).is_ok(), "{expected}");
        let found = Rules.context(&AGENT, Situation::new(RequestText::new(text))).unwrap().value;
        let found_task = found.task().map_or("-", |task| AGENT.definition().tasks[task]);
        let mut right = task.count(found_task == expected);
        for (place, level) in levels.iter().enumerate() {
            let expected = level.parse::<f32>().unwrap() / 10.0;
            right &= signals[place].count((found.signals()[place] - expected).abs() <= 0.25);
        }
        if !right {
            misread(
                part,
                text,
                &format!("{expected} {}", levels.join(" ")),
                &format!("{found_task} {:?}", found.signals()),
            );
        }
    }
    let mut scores = vec![("context: task", task)];
    let labels = ["context: risk", "context: ambiguity", "context: memory_need", "context: tool_need"];
    assert_eq!(AGENT.definition().signals, names);
    scores.extend(labels.into_iter().zip(signals));
    scores
}

/// `@task` or `@signal` for a condition.
fn condition(catalog: &Catalog<'_>, when: When) -> String {
    match when {
        When::Always => String::new(),
        When::Task(task) => format!("@{}", catalog.definition().tasks[task]),
        When::Signal(signal) => format!("@{}", catalog.definition().signals[signal]),
    }
}

fn value((component, value): (u8, u8)) -> &'static str {
    AGENT.definition().components[usize::from(component)].values[usize::from(value)].name
}

fn labels(cell: &str) -> BTreeSet<String> {
    cell.split(' ').filter(|label| *label != "-").map(str::to_owned).collect()
}

fn onboarding(part: &str) -> Vec<(&'static str, Score)> {
    let (mut constraints, mut signs, mut extra) = (Score::default(), Score::default(), Score::default());
    for row in rows(part, "onboarding") {
        let [wanted, hard, text] = row.as_slice() else { panic!("{row:?}") };
        let found = Rules.onboarding(&AGENT, PreferenceText::new(text)).unwrap().value;
        let mut right = true;
        let rules: BTreeSet<String> = found
            .constraints
            .iter()
            .map(|rule| {
                let sign = if rule.effect == Effect::Forbid { '!' } else { '=' };
                format!("{sign}{}{}", value((rule.component, rule.values[0])), condition(&AGENT, rule.when))
            })
            .collect();
        right &= constraints.count(rules == labels(hard));
        // Each stated preference is a pair of signed values where it has two ends.
        let said: Vec<Vec<String>> = found
            .preferences
            .iter()
            .map(|preference| {
                let (sign, other) = if preference.response > 0.0 { ('+', '-') } else { ('-', '+') };
                let when = condition(&AGENT, preference.when);
                let first = format!("{sign}{}{when}", value(preference.prefer));
                std::iter::once(first)
                    .chain(preference.over.map(|over| format!("{other}{}{when}", value(over))))
                    .collect()
            })
            .collect();
        for label in labels(wanted) {
            right &= signs.count(said.iter().flatten().any(|said| *said == label));
        }
        for ends in &said {
            right &= extra.count(ends.iter().any(|end| labels(wanted).contains(end)));
        }
        if !right {
            misread(part, text, &format!("{wanted} | {hard}"), &format!("{said:?} | {rules:?}"));
        }
    }
    vec![
        ("onboarding: exact constraints", constraints),
        ("onboarding: preferences found, with sign", signs),
        ("onboarding: preferences not invented", extra),
    ]
}

fn feedback(part: &str) -> Vec<(&'static str, Score)> {
    let (mut signs, mut troubles, mut kept) = (Score::default(), Score::default(), Score::default());
    for row in rows(part, "feedback") {
        let [sign, trouble, text] = row.as_slice() else { panic!("{row:?}") };
        let found = Rules.feedback(Reaction::new(text)).value;
        let found_sign = match found.map(|feedback| feedback.reward()) {
            Some(reward) if reward > 0.0 => "+",
            Some(reward) if reward < 0.0 => "-",
            _ => "0",
        };
        let found_trouble = match found.map(|feedback| (feedback.corrections, feedback.clarifications)) {
            Some((1, 0)) => "c",
            Some((0, 1)) => "q",
            Some((1, 1)) => "cq",
            _ => "-",
        };
        let right = signs.count(found_sign == sign);
        kept.count(!matches!((found_sign, sign.as_str()), ("+", "-") | ("-", "+")));
        if !(troubles.count(found_trouble == trouble) && right) {
            misread(
                part,
                text,
                &format!("{sign} {trouble}"),
                &format!("{found_sign} {found_trouble} {found:?}"),
            );
        }
    }
    vec![
        ("feedback: sign of the reward, or none", signs),
        ("feedback: sign not reversed", kept),
        ("feedback: correction or question", troubles),
    ]
}

/// Requests and reactions as lines after an answer: each is taken for what it is.
fn lines(part: &str) -> Vec<(&'static str, Score)> {
    let (mut requests, mut reactions) = (Score::default(), Score::default());
    for row in rows(part, "context") {
        let text = row.last().unwrap();
        if !requests.count(split(text).reaction.is_none()) {
            misread(part, text, "a request", &format!("{:?}", split(text)));
        }
    }
    for row in rows(part, "feedback") {
        let [sign, _, text] = row.as_slice() else { panic!("{row:?}") };
        if !reactions.count(split(text).reaction.is_some() == (sign != "0")) {
            misread(
                part,
                text,
                if sign == "0" { "no reaction" } else { "a reaction" },
                &format!("{:?}", split(text)),
            );
        }
    }
    vec![
        ("lines: requests not taken for reactions", requests),
        ("lines: reactions found, and no others", reactions),
    ]
}

/// The least percentages, tuned and held out, a little below what is measured.
const FLOORS: [(f64, f64); 13] = [
    (98.0, 88.0),
    (98.0, 94.0),
    (98.0, 91.0),
    (98.0, 91.0),
    (98.0, 91.0),
    (98.0, 86.0),
    (98.0, 77.0),
    (98.0, 79.0),
    (97.0, 91.0),
    (100.0, 100.0), // a lesson that is turned round is worse than none
    (98.0, 91.0),
    (96.0, 94.0),
    (94.0, 88.0),
];

#[test]
fn the_rules_read_as_well_as_the_readme_says() {
    let measured = |part| [context(part), onboarding(part), feedback(part), lines(part)].concat();
    let (tuned, held_out) = (measured("tuned"), measured("held_out"));
    println!("| | tuned | held out |\n|---|---:|---:|");
    for ((name, tuned), (_, held_out)) in tuned.iter().zip(&held_out) {
        let cell = |score: &Score| format!("{:.0}% of {}", score.percent(), score.of);
        println!("| {name} | {} | {} |", cell(tuned), cell(held_out));
    }
    assert_eq!(tuned.len(), FLOORS.len());
    for (((name, tuned), (_, held_out)), floor) in tuned.iter().zip(&held_out).zip(FLOORS) {
        assert!(tuned.percent() >= floor.0 && held_out.percent() >= floor.1, "{name} has got worse");
    }
}

#[test]
fn there_are_enough_sentences_and_none_twice() {
    let mut all = BTreeSet::new();
    for (file, least) in [("context", 90), ("onboarding", 60), ("feedback", 60)] {
        let both: Vec<Vec<String>> =
            ["tuned", "held_out"].into_iter().flat_map(|part| rows(part, file)).collect();
        assert!(both.len() >= least && rows("held_out", file).len() >= 40, "{file}");
        for row in both {
            assert!(all.insert((file, row.last().unwrap().to_lowercase())), "{row:?}");
        }
    }
}
