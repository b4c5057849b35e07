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
use fable_core::explain::{Explanation, Source};
use fable_core::preference::{Certifier, Standing, Trial, Verdict};
use fable_core::{Action, Catalog, Promotion, Scalar};

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
            Some((component, value)) => values.push(value_of(catalog, component, value)),
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
/// uncertain" is what exploring adds. Where a coin had the other value played it says so, and where coins agreed with the choice, too.
#[must_use]
pub fn reasons<T: Scalar>(catalog: &Catalog<'_>, why: &Explanation<'_, T>, most: usize) -> String {
    if why.chosen == why.other {
        return "nothing else is allowed".into();
    }
    let (chosen, other) = (values(catalog, why.chosen), values(catalog, why.other));
    let instead: Vec<String> = other
        .into_iter()
        .zip(chosen)
        .filter(|(other, chosen)| other != chosen)
        .map(|(other, _)| other)
        .collect();
    let moved = why.chosen != why.intended;
    if moved && why.other == why.intended {
        return format!("rather than {}: trying it the other way, to be sure", instead.join(", "));
    }
    let mut shares: Vec<(String, f64)> = why
        .shares()
        .map(|share| {
            let name =
                |index: Option<usize>| index.map_or_else(String::new, |index| coordinate(catalog, index));
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
    let reasons: Vec<String> =
        shares.iter().take(most).map(|(words, gain)| format!("{words} ({gain:+.2})")).collect();
    let reasons = if !reasons.is_empty() {
        reasons.join(", ")
    } else if why.chosen_score > why.other_score {
        "they are almost alike".into()
    } else if moved {
        "a coin fell for it".into()
    } else {
        "they are alike, and it comes first".into()
    };
    let tried = match (moved, why.explored) {
        (true, _) => ", the other way, to be sure",
        (false, true) => ", to try it",
        (false, false) => "",
    };
    let agreed = if moved || why.probed.is_empty() { "" } else { "; a coin agreed" };
    format!("rather than {}{tried}: {reasons}{agreed}", instead.join(", "))
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

/// What made a preference certain, in a word for programs.
#[must_use]
pub const fn certifier(by: Certifier) -> &'static str {
    match by {
        Certifier::Ellipsoid => "ellipsoid",
        Certifier::Probes => "coins",
    }
}

/// Where a promoted preference comes from: by which rule, since when, on how much.
///
/// ```
/// use fable_core::preference::{Certifier, Verdict};
/// use fable_core::Promotion;
/// use fable_text::wording;
/// let (by, round, evidence) = (Certifier::Probes, 180, 52);
/// let promotion =
///     Promotion { contrast: 0, verdict: Verdict::For, valid: true, by, round, time: 0, evidence, lower: 0.1, upper: 0.7 };
/// assert_eq!(wording::provenance(&promotion), "by 52 coins, since round 180");
/// let promotion = Promotion { by: Certifier::Ellipsoid, ..promotion };
/// assert_eq!(wording::provenance(&promotion), "by the model, 52 rewards, since round 180");
/// ```
#[must_use]
pub fn provenance(promotion: &Promotion) -> String {
    let Promotion { by, round, evidence, valid, .. } = *promotion;
    let rule = match by {
        Certifier::Probes => format!("by {}", counted(evidence, "coin")),
        Certifier::Ellipsoid => format!("by the model, {}", counted(evidence, "reward")),
    };
    format!("{rule}, since round {round}{}", if valid { "" } else { ", without the guarantee" })
}

/// How far coins have come with a contrast: "31 coins, 12.4 of 480 needed, on average +0.31 (+0.02 to +0.60)".
#[must_use]
pub fn trial(trial: &Trial) -> String {
    let Trial { trials, average, certified, .. } = trial;
    if *trials == 0 {
        return "no coin yet".into();
    }
    let certain = if *certified == Verdict::Open { "" } else { ", certain" };
    let (mean, lower, upper) = (average.mean, average.lower, average.upper);
    let coins = counted((*trials).into(), "coin");
    format!("{coins}, {}{certain}, on average {mean:+.2} ({lower:+.2} to {upper:+.2})", progress(trial))
}

/// The e-value of a contrast and what it takes: "12.4 of 480 needed".
#[must_use]
pub fn progress(trial: &Trial) -> String {
    format!("{} of {} needed", large(trial.e_value), large(trial.needed))
}

/// Three digits or so; nobody reads more.
fn large(number: f64) -> String {
    if number < 100.0 {
        format!("{number:.1}")
    } else if number < 99_999.5 {
        format!("{number:.0}")
    } else {
        format!("{number:.0e}")
    }
}

/// What coins were tossed about, when they were: the value that is played and the one that could have been, for each.
///
/// It does not tell which of the two had been intended: whoever is told and reacts to that would spoil the trial.
///
/// ```
/// use fable_core::catalog::{AGENT, agent};
/// use fable_core::catalog::ContrastSet;
/// use fable_text::wording;
/// let action = agent::action(agent::Memory::NoMemory, agent::Tool::NoTool, agent::Style::Detailed);
/// let probed = [AGENT.contrast("concise_over_detailed").unwrap()].into_iter();
/// assert_eq!(wording::probe(&AGENT, action, probed), "trying it both ways, to be sure: a coin fell for detailed, not concise");
/// ```
#[must_use]
pub fn probe(catalog: &Catalog<'_>, played: Action, probed: impl Iterator<Item = usize>) -> String {
    let played = catalog.values(played).unwrap_or_default();
    let sides = probed.filter_map(|contrast| {
        let contrast = catalog.contrasts().get(contrast)?;
        let index = contrast.component()?;
        let component = catalog.definition().components.get(index)?;
        let name = |value: u8| {
            component.values.get(usize::from(value)).map(|own| value_of(catalog, component.name, own.name))
        };
        let (own, prefer, over) =
            (*played.get(index)?, *contrast.prefer.get(index)?, *contrast.over.get(index)?);
        Some(format!("{}, not {}", name(own)?, name(if own == prefer { over } else { prefer })?))
    });
    let sides: Vec<String> = sides.collect();
    let coins = if sides.len() == 1 { "a coin fell" } else { "coins fell" };
    format!("trying it both ways, to be sure: {coins} for {}", sides.join(", and for "))
}

/// A number of things.
fn counted(number: u32, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}

/// The words for each value of an action.
fn values(catalog: &Catalog<'_>, action: Action) -> Vec<String> {
    let values = catalog.values(action).unwrap_or_default();
    let values = catalog.definition().components.iter().zip(&values);
    let named = values.filter_map(|(component, value)| {
        Some((component.name, component.values.get(usize::from(*value))?.name))
    });
    named.map(|(component, name)| value_of(catalog, component, name)).collect()
}

/// A value, with its component where others have values of the same name.
fn value_of(catalog: &Catalog<'_>, component: &str, value: &str) -> String {
    let all = catalog.definition().components.iter().flat_map(|component| component.values);
    if all.filter(|other| other.name == value).count() > 1 {
        format!("{component}={value}")
    } else {
        value.into()
    }
}
