//! Actions, coordinates and explanations in words, for screens.
//!
//! Canonical names like `task=coding*style=concise` are for programs; a person reads "concise for coding". What is said
//! about a decision is core's exact [`Explanation`], its largest shares first.
//!
//! ```
//! use fable_core::catalog::{AGENT, agent};
//! use fable_text::wording;
//!
//! let action = agent::action(agent::Memory::NoMemory, agent::Tool::WebSearch, agent::Style::Concise);
//! assert_eq!(wording::action(&AGENT, action), "no_memory, web_search, concise");
//! let coordinate = AGENT.coordinate("task=coding*style=concise").unwrap();
//! assert_eq!(wording::coordinate(&AGENT, coordinate), "concise for coding");
//! ```

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use fable_core::{Action, Catalog, Explanation, Promotion, Scalar, Source, Standing};

/// Shares below this are not worth a word.
const WORTH_SAYING: f64 = 0.01;

/// The values of an action.
#[must_use]
pub fn action(catalog: &Catalog<'_>, action: Action) -> String {
    values(catalog, action).join(", ")
}

/// What a promoted preference tells the assistant.
#[must_use]
pub fn promotion(catalog: &Catalog<'_>, promotion: &Promotion) -> String {
    let mut text = String::new();
    let _ = promotion.write_sentence(catalog, &mut text); // writing to a String cannot fail
    text
}

/// A coordinate: the values, the task they are for and the signal they are scaled by.
#[must_use]
pub fn coordinate(catalog: &Catalog<'_>, coordinate: usize) -> String {
    let Some(name) = catalog.coordinate_name(coordinate) else { return String::new() };
    let (mut values, mut place) = (Vec::new(), String::new());
    for factor in name.to_string().split('*') {
        match factor.split_once('=') {
            None => place = format!(" given {factor}"),
            Some(("task", task)) => place = format!(" for {task}"),
            Some((component, value)) => values.push(self::value(catalog, component, value)),
        }
    }
    format!("{}{place}", values.join(" with "))
}

/// A block of the dictionary: what its weights are about. Empty past the last one.
///
/// ```
/// use fable_core::catalog::AGENT;
/// use fable_text::wording;
/// assert_eq!(wording::block(&AGENT, 2), "style");
/// assert_eq!(wording::block(&AGENT, 3), "style, for each task");
/// assert_eq!(wording::block(&AGENT, 5), "memory, the more memory_need");
/// assert_eq!(wording::block(&AGENT, 9), "memory with tool");
/// ```
#[must_use]
pub fn block(catalog: &Catalog<'_>, block: usize) -> String {
    let definition = catalog.definition();
    let Some(block) = definition.blocks.get(block) else { return String::new() };
    let components = definition.components.iter().zip(0..).filter(|(_, position)| block.has(*position));
    let mut words = components.map(|(component, _)| component.name).collect::<Vec<_>>().join(" with ");
    if block.is_per_task() {
        words += ", for each task";
    }
    if let Some(signal) = block.signal().and_then(|signal| definition.signals.get(usize::from(signal))) {
        words = format!("{words}, the more {signal}");
    }
    words
}

/// Why an action was chosen rather than the other one of the explanation: at most `most` reasons.
///
/// "rather than detailed: concise pleased (+0.21), cheaper (+0.05)"; "the draw" or "the bonus for what is
/// uncertain" is what exploring adds.
#[must_use]
pub fn reasons<T: Scalar>(catalog: &Catalog<'_>, why: &Explanation<'_, T>, most: usize) -> String {
    if why.chosen == why.other {
        return "nothing else is allowed".into();
    }
    let (chosen, other) = (values(catalog, why.chosen), values(catalog, why.other));
    let instead: Vec<String> =
        other.into_iter().zip(chosen).filter(|(other, chosen)| other != chosen).map(|(other, _)| other).collect();
    let mut shares: Vec<(String, f64)> = why
        .shares()
        .map(|share| {
            let name = |index: Option<usize>| index.map_or_else(String::new, |index| coordinate(catalog, index));
            let words = match share.source {
                Source::Default => "suits the request".into(),
                Source::Cost => "cheaper".into(),
                Source::Draw => "the draw".into(),
                Source::Bonus => "the bonus for what is uncertain".into(),
                Source::Block(_) if share.chosen.abs() >= share.other.abs() => {
                    format!("{} pleased", name(share.chosen_coordinate))
                }
                Source::Block(_) => format!("{} displeased", name(share.other_coordinate)),
            };
            (words, share.chosen - share.other)
        })
        .filter(|(_, gain)| *gain >= WORTH_SAYING)
        .collect();
    shares.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    let reasons: Vec<String> = shares.iter().take(most).map(|(words, gain)| format!("{words} ({gain:+.2})")).collect();
    let reasons = if !reasons.is_empty() {
        reasons.join(", ")
    } else if why.chosen_score > why.other_score {
        "they are almost alike".into()
    } else {
        "they are alike, and it comes first".into()
    };
    let tried = if why.explored { ", to try it" } else { "" };
    format!("rather than {}{tried}: {reasons}", instead.join(", "))
}

/// What has become of a promoted preference.
#[must_use]
pub const fn standing(standing: Standing) -> &'static str {
    match standing {
        Standing::Holds => "holds",
        Standing::Doubtful => "doubtful",
        Standing::Revoked => "revoked",
    }
}

/// The words for each value of an action.
fn values(catalog: &Catalog<'_>, action: Action) -> Vec<String> {
    let values = catalog.values(action).unwrap_or_default();
    let values = catalog.definition().components.iter().zip(&values);
    let named = values.filter_map(|(component, value)| Some((component.name, component.values.get(usize::from(*value))?.name)));
    named.map(|(component, name)| value(catalog, component, name)).collect()
}

/// A value, with its component where others have values of the same name.
fn value(catalog: &Catalog<'_>, component: &str, value: &str) -> String {
    let all = catalog.definition().components.iter().flat_map(|component| component.values);
    if all.filter(|other| other.name == value).count() > 1 { format!("{component}={value}") } else { value.into() }
}
