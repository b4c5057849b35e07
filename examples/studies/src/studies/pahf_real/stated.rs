//! What a persona of the office kitchen states: wishes with and without a condition, and how it likes to be answered.
//!
//! A line like `* When you're drowsy, you prefer herbal tea (not coffee) as ...` is a condition, what is wanted and what is not;
//! `Your favorite snack is ...`, `Generally ...` and `Normally ...` have no condition. After the drift a line is
//! `PREVIOUSLY: ... → NOW: ...`, of which the second half is read. Lines under a heading about storage or locations are about
//! places, all others about things.

use super::words::{Stems, stems};
use fable_core::Statement;
use fable_core::catalog::agent::{AGENT, MEMORY, Memory, STYLE, Style};
use fable_core::catalog::{Direction, OnboardingError, When};

/// A stated wish.
#[derive(Clone, Debug)]
pub struct Wish {
    /// When it holds; nothing if always.
    pub when: Stems,
    pub wanted: Stems,
    pub unwanted: Stems,
    /// Whether it is about places.
    pub place: bool,
}

impl Wish {
    pub fn always(&self) -> bool {
        self.when.is_empty()
    }
}

/// What is before the first of several words that begin a reason.
fn before_reasons(text: &str) -> &str {
    let ends = ["(", " as ", " because ", " believing ", " rather than ", " for drinks you'll ", " - "];
    let end = ends.iter().filter_map(|end| text.find(end)).min().unwrap_or(text.len());
    text.get(..end).unwrap_or(text)
}

/// What stands after "(not " or "rather than ".
fn refused(text: &str) -> &str {
    let start =
        ["(not ", " rather than ", "avoid "].iter().find_map(|start| Some(text.find(start)? + start.len()));
    let rest = start.and_then(|start| text.get(start..)).unwrap_or_default();
    let ends = [")", " as ", " because ", " due to "];
    rest.get(..ends.iter().filter_map(|end| rest.find(end)).min().unwrap_or(rest.len())).unwrap_or_default()
}

fn wish(line: &str, place: bool) -> Wish {
    let (when, rest) = match line.find([',', ':']).map(|end| line.split_at(end)) {
        Some((when, rest)) if !when.contains('(') && !when.contains(" prefer") => (when, rest),
        // "Evening you prefer ...": the condition is one or two words.
        _ => line
            .split_once(" you prefer ")
            .filter(|(when, _)| when.split(' ').count() < 3)
            .unwrap_or(("", line)),
    };
    let always = ["Normally", "Generally"].iter().any(|word| when.starts_with(word));
    let avoided = rest.starts_with("You avoid") || rest.starts_with("Avoid");
    Wish {
        when: if always { Stems::new() } else { stems(when) },
        wanted: if avoided { Stems::new() } else { stems(before_reasons(rest)) },
        unwanted: stems(refused(rest)),
        place,
    }
}

/// The part of a persona's text that is about the persona.
fn own(text: &str) -> &str {
    let text = text.split_once("YOUR PERSONA:").map_or(text, |(_, own)| own);
    text.split_once("INTERACTION TYPES:").map_or(text, |(own, _)| own)
}

/// The wishes in a persona's text.
pub fn wishes(text: &str) -> Vec<Wish> {
    let (mut wishes, mut place) = (Vec::new(), false);
    for line in own(text).lines() {
        let heading = line.to_lowercase();
        if let Some((_, now)) = line.split_once("NOW: ") {
            let favourite = now.strip_prefix("Your favorite ").and_then(|rest| rest.split_once("is "));
            wishes.push(wish(favourite.map_or(now, |(_, what)| what), place));
        } else if let Some(line) = line.trim_start().strip_prefix("* ") {
            wishes.push(wish(line, place));
        } else if let Some((_, what)) =
            line.strip_prefix("- Your favorite ").and_then(|rest| rest.split_once(" is "))
        {
            place = false;
            wishes.push(wish(what.split(" but ").next().unwrap_or(what), place));
        } else if line.starts_with("- ") || line.contains(" - Each") {
            place = heading.contains("storage") || heading.contains("location");
        }
    }
    wishes
}

/// The line with which a persona says what it is like, and the one with what it appreciates.
fn line<'t>(text: &'t str, start: &str) -> &'t str {
    own(text).lines().find_map(|line| line.strip_prefix(start)).unwrap_or_default()
}

/// The style that goes with the manner a persona states ("You're patient but direct when ..."): the first that fits.
pub fn manner(text: &str) -> Option<Style> {
    let words = line(text, "- You're ");
    let has = |known: &[&str]| words.split([' ', ',']).any(|word| known.contains(&word));
    let styles = [
        (Style::Direct, &["direct"][..]),
        (Style::StepByStep, &["methodical", "systematic", "analytical"]),
        (Style::Concise, &["precise", "decisive", "practical"]),
        (Style::Detailed, &["thoughtful", "expressive"]),
    ];
    styles.iter().find(|(_, known)| has(known)).map(|(style, _)| *style)
}

/// Onboarding: the manner is a style; "follows" or "respects your preference" is a wish for the memory of preferences,
/// "understands" or "recognizes" one for the profile. Response 1, precision 4 each.
pub fn statements(text: &str) -> Result<Vec<Statement>, OnboardingError> {
    let appreciated = line(text, "- You appreciate when the robot ");
    let has = |words: &[&str]| words.iter().any(|word| appreciated.contains(word));
    let preferences = has(&["follows", "respects"]).then_some((MEMORY, Memory::PreferenceMemory.index()));
    let profile = has(&["understands", "recognizes"]).then_some((MEMORY, Memory::ProfileSummary.index()));
    let style = manner(text).map(|style| (STYLE, style.index()));
    let said = [preferences, profile, style].into_iter().flatten().map(|value| {
        let direction = Direction::prefer(&AGENT, &[value], &[], When::Always)?;
        Ok(Statement { direction, response: 1.0, precision: 4.0 })
    });
    said.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: &str = "Hello.\nYOUR PERSONA:\n- Your favorite drink is black coffee but context matters:\n  \
        * When you are drowsy, you prefer herbal tea (not caffeinated drinks) because you believe in rest\n\
        - Storage preferences follow logic:\n  * Normally: books on high shelves, and so on\n  \
        * When rushed: you prefer drawers (not open spaces) as you can\n- You're patient but direct when providing feedback\n\
        - You appreciate when the robot follows your preferences and understands your patterns\n\nINTERACTION TYPES:\n* no wish";

    #[test]
    fn wishes_have_a_condition_what_is_wanted_and_what_is_not() {
        let wishes = wishes(BEFORE);
        assert_eq!(wishes.len(), 4);
        assert!(wishes[0].always() && wishes[0].wanted == stems("black coffee") && !wishes[0].place);
        assert_eq!((&wishes[1].when, &wishes[1].unwanted), (&stems("drowsy"), &stems("caffeinated drinks")));
        assert!(wishes[1].wanted == stems("herbal tea"), "{:?}", wishes[1]);
        assert!(wishes[2].always() && wishes[2].place && wishes[2].wanted.contains("high"));
        assert!(
            wishes[3].place
                && wishes[3].when == stems("rushed")
                && wishes[3].unwanted == stems("open spaces")
        );
    }

    #[test]
    fn after_the_drift_what_holds_now_is_read() {
        let text = "YOUR PERSONA:\nDRINKS - Each inverted:\n- PREVIOUSLY: Your favorite was cocoa → NOW: Your favorite is herbal tea\n\
            LOCATION PREFERENCES - Each inverted:\n- PREVIOUSLY: When sick, you preferred a drawer → NOW: When sick, you prefer \
            the counter (not closets as x)\n- PREVIOUSLY: Evening you preferred tea → NOW: Evening you prefer decaf";
        let wishes = wishes(text);
        assert!(wishes[0].always() && wishes[0].wanted == stems("herbal tea") && !wishes[0].place);
        assert!(wishes[1].place && wishes[1].wanted == stems("counter") && wishes[1].when == stems("sick"));
        assert_eq!((&wishes[2].when, &wishes[2].wanted), (&stems("evening"), &stems("decaf")));
    }

    #[test]
    fn a_manner_is_a_style_and_two_kinds_of_memory_are_wished_for() {
        assert_eq!(manner(BEFORE), Some(Style::Direct));
        assert_eq!(manner("- You're enthusiastic but indirect when x"), None);
        assert_eq!(manner("- You're methodical and precise when x"), Some(Style::StepByStep));
        assert_eq!(statements(BEFORE).unwrap().len(), 3);
        assert!(statements("").unwrap().is_empty());
    }
}
