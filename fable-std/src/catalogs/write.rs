//! Any catalog as TOML, laid out to be read and changed by a person.
//!
//! ```
//! use fable_core::catalog::TAU2;
//! use fable_std::catalogs::{Arena, read, write};
//!
//! let text = write(&TAU2);
//! let arena = Arena::new();
//! let again = read(&arena, "tau2.toml", &text).unwrap();
//! assert_eq!(again.definition(), TAU2.definition());
//! assert_eq!(again.fingerprint(), TAU2.fingerprint());
//! ```

use super::lookup::effect_name;
use super::read::{COMPARISONS, EVERY};
use fable_core::Catalog;
use fable_core::catalog::{Block, Component, Condition, Contrast, Definition, Part, StandingRule, Term};
use std::fmt::{self, Write};

/// The catalog as the text of a TOML file.
#[must_use]
pub fn write(catalog: &Catalog<'_>) -> String {
    let mut text = String::new();
    let _ = compose(&mut text, catalog.definition()); // writing to a String cannot fail
    text
}

fn compose(out: &mut String, definition: &Definition<'_>) -> fmt::Result {
    writeln!(out, "name = {}", quoted(definition.name))?;
    writeln!(out, "tasks = {}", list(definition.tasks.iter().copied()))?;
    writeln!(out, "signals = {}", list(definition.signals.iter().copied()))?;
    out.push_str("\n# An action is one value of each component. Costs count against it; the instructions go to the assistant.\n");
    for (position, own) in definition.components.iter().enumerate() {
        out.push_str(if position == 0 { "" } else { "\n" });
        component(out, own)?;
    }
    out.push_str("\n# What is learned: a weight for each value or combination, also per task or in proportion to a signal.\n");
    out.push_str("[dictionary]\nblocks = [\n");
    for own in definition.blocks {
        writeln!(out, "  {{ {} }},", block(definition, *own))?;
    }
    out.push_str("]\n");
    for (position, own) in definition.terms.iter().enumerate() {
        out.push_str(if position == 0 { TERMS } else { "\n" });
        term(out, definition, own)?;
    }
    for (position, own) in definition.contrasts.iter().enumerate() {
        out.push_str(if position == 0 { CONTRASTS } else { "\n" });
        contrast(out, definition, own)?;
    }
    for (position, own) in definition.rules.iter().enumerate() {
        out.push_str(if position == 0 { RULES } else { "\n" });
        rule(out, definition, own)?;
    }
    Ok(())
}

const TERMS: &str = "
# What is known before anything is learned: when the condition holds, the weight is added to actions with any of the values.
";
const CONTRASTS: &str = "
# Preferences to look out for, and what the assistant is told once they are sure.
";

const RULES: &str = "
# Hard rules: what is never chosen, or always, where the condition holds. They are settled before anything is explored.
";

fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}

fn list<'n>(names: impl Iterator<Item = &'n str>) -> String {
    format!("[{}]", names.map(quoted).collect::<Vec<_>>().join(", "))
}

/// A name alone, or a list.
fn names<'n>(mut names: impl Iterator<Item = &'n str> + Clone) -> String {
    match (names.clone().count(), names.next()) {
        (1, Some(only)) => quoted(only),
        (_, first) => list(first.into_iter().chain(names)),
    }
}

/// A signal or threshold, in the few digits that single precision needs.
fn single(number: f32) -> String {
    let short = format!("{number:?}");
    let same = short.parse::<f64>().is_ok_and(|read| (read as f32).to_bits() == number.to_bits());
    if same { short } else { format!("{:?}", f64::from(number)) }
}

fn name_at<'n>(names: &[&'n str], position: u8) -> &'n str {
    names.get(usize::from(position)).copied().unwrap_or_default()
}

fn value_at<'n>(component: &Component<'n>, position: u8) -> &'n str {
    component.values.get(usize::from(position)).map_or("", |value| value.name)
}

fn component(out: &mut String, component: &Component<'_>) -> fmt::Result {
    writeln!(out, "[[components]]\nname = {}", quoted(component.name))?;
    if let Some(null) = component.null {
        writeln!(out, "null = {}", quoted(value_at(component, null)))?;
    }
    out.push_str("values = [\n");
    for value in component.values {
        let (name, instruction) = (quoted(value.name), quoted(value.instruction));
        writeln!(out, "  {{ name = {name}, cost = {:?}, instruction = {instruction} }},", value.cost)?;
    }
    out.write_str("]\n")
}

fn block(definition: &Definition<'_>, block: Block) -> String {
    let factors = definition.components.iter().zip(0..).filter(|(_, position)| block.has(*position));
    let of =
        if block.is_complete() { quoted(EVERY) } else { names(factors.map(|(component, _)| component.name)) };
    let signal =
        block.signal().map(|signal| format!("scaled_by = {}", quoted(name_at(definition.signals, signal))));
    let entries = [
        Some(format!("of = {of}")),
        block.is_per_task().then(|| "per_task = true".into()),
        signal,
        block.is_without_null().then(|| "without_null = true".into()),
    ];
    entries.into_iter().flatten().collect::<Vec<String>>().join(", ")
}

fn term(out: &mut String, definition: &Definition<'_>, term: &Term<'_>) -> fmt::Result {
    writeln!(out, "[[terms]]\nweight = {:?}", term.weight)?;
    condition(out, definition, term.when)?;
    parts(out, definition, "any_of", term.applies)
}

fn rule(out: &mut String, definition: &Definition<'_>, standing: &StandingRule<'_>) -> fmt::Result {
    writeln!(out, "[[rules]]\nname = {}", quoted(standing.rule.name))?;
    condition(out, definition, standing.when)?;
    parts(out, definition, effect_name(standing.rule.effect), standing.rule.pattern)
}

fn condition(out: &mut String, definition: &Definition<'_>, when: Condition<'_>) -> fmt::Result {
    let [above, at_least, at_most, below] = COMPARISONS;
    let compared = match when {
        Condition::Above(signal, level) => Some((signal, above, level)),
        Condition::AtLeast(signal, level) => Some((signal, at_least, level)),
        Condition::AtMost(signal, level) => Some((signal, at_most, level)),
        Condition::Below(signal, level) => Some((signal, below, level)),
        _ => None,
    };
    if let Some((signal, comparison, level)) = compared {
        writeln!(out, "when.{}.{comparison} = {}", name_at(definition.signals, signal), single(level))?;
    }
    if let Condition::Tasks(tasks) = when {
        writeln!(out, "when.task = {}", names(tasks.iter().map(|task| name_at(definition.tasks, *task))))?;
    }
    Ok(())
}

fn parts(out: &mut String, definition: &Definition<'_>, key: &str, parts: &[Part<'_>]) -> fmt::Result {
    for part in parts {
        if let Some(component) = definition.components.get(usize::from(part.component)) {
            let values = names(part.values.iter().map(|value| value_at(component, *value)));
            writeln!(out, "{key}.{} = {values}", component.name)?;
        }
    }
    Ok(())
}

fn contrast(out: &mut String, definition: &Definition<'_>, contrast: &Contrast<'_>) -> fmt::Result {
    writeln!(out, "[[contrasts]]\nname = {}", quoted(contrast.name))?;
    let mut shared = Vec::new();
    for (component, (prefer, over)) in
        definition.components.iter().zip(contrast.prefer.iter().zip(contrast.over))
    {
        let (name, value) = (component.name, quoted(value_at(component, *over)));
        if prefer == over {
            shared.push(format!("{name} = {value}"));
        } else {
            writeln!(out, "prefer.{name} = {}\nover.{name} = {value}", quoted(value_at(component, *prefer)))?;
        }
    }
    if !shared.is_empty() {
        writeln!(out, "with = {{ {} }}", shared.join(", "))?;
    }
    let task = contrast.task.map(|task| format!("task = {}", quoted(name_at(definition.tasks, task))));
    let levels = definition
        .signals
        .iter()
        .zip(contrast.signals)
        .map(|(name, level)| format!("{name} = {}", single(*level)));
    let context: Vec<String> = task.into_iter().chain(levels).collect();
    if !context.is_empty() {
        writeln!(out, "context = {{ {} }}", context.join(", "))?;
    }
    for (key, says) in [("positive", contrast.positive), ("negative", contrast.negative)] {
        if !says.is_empty() {
            writeln!(out, "{key} = {}", quoted(says))?;
        }
    }
    Ok(())
}
