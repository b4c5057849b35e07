//! The checks of [`Catalog::try_new`](super::Catalog::try_new), and the fingerprints of a definition.
//!
//! Everything is `const fn`, without iterators: `while let [first, rest @ ..] = slice` walks a slice instead.

mod fingerprint;
mod rules;

use super::{
    Block, CatalogError, Component, Condition, Contrast, Definition, MAX_ACTIONS, MAX_BLOCKS, MAX_COMPONENTS,
    MAX_CONTRASTS, MAX_RULES, MAX_SIGNALS, MAX_TASKS, MAX_TERMS, MAX_VALUES, MAX_WEIGHT, Part, Term, Value,
};
use crate::numbers::{Range, within};
pub(super) use fingerprint::{reference, shape};
use rules::check_rules;

const COST: Range = Range { least: 0.0, most: MAX_WEIGHT };
const THRESHOLD: Range = Range { least: 0.0, most: 1.0 };

/// Checks a definition. The result is its number of actions.
pub(super) const fn definition(definition: &Definition<'_>) -> Result<u16, CatalogError> {
    if definition.components.is_empty() || definition.components.len() > MAX_COMPONENTS {
        return Err(CatalogError::ComponentCount);
    }
    if definition.tasks.len() > MAX_TASKS {
        return Err(CatalogError::TaskCount);
    }
    if definition.signals.len() > MAX_SIGNALS {
        return Err(CatalogError::SignalCount);
    }
    if definition.blocks.is_empty() || definition.blocks.len() > MAX_BLOCKS {
        return Err(CatalogError::BlockCount);
    }
    if definition.terms.len() > MAX_TERMS {
        return Err(CatalogError::TermCount);
    }
    if !is_name(definition.name) {
        return Err(CatalogError::BadName);
    }
    if let Err(error) = names(definition.tasks, false) {
        return Err(error);
    }
    if let Err(error) = names(definition.signals, true) {
        return Err(error);
    }
    let actions = match components(definition.components) {
        Ok(actions) => actions,
        Err(error) => return Err(error),
    };
    let mut blocks = definition.blocks;
    while let [block, rest @ ..] = blocks {
        if let Err(error) = check_block(definition, *block, rest) {
            return Err(error);
        }
        blocks = rest;
    }
    let mut terms = definition.terms;
    while let [term, rest @ ..] = terms {
        if let Err(error) = check_term(definition, term) {
            return Err(error);
        }
        terms = rest;
    }
    if definition.contrasts.len() > MAX_CONTRASTS {
        return Err(CatalogError::ContrastCount);
    }
    let mut contrasts = definition.contrasts;
    while let [contrast, rest @ ..] = contrasts {
        if let Err(error) = check_contrast(definition, contrast, rest) {
            return Err(error);
        }
        contrasts = rest;
    }
    if definition.rules.len() > MAX_RULES {
        return Err(CatalogError::RuleCount);
    }
    if !cfg!(feature = "rules") && !definition.rules.is_empty() {
        return Err(CatalogError::RuleUnenforced);
    }
    match check_rules(definition, actions) {
        Ok(()) => Ok(actions),
        Err(error) => Err(error),
    }
}

/// True if two slices are equal.
const fn same(mut a: &[u8], mut b: &[u8]) -> bool {
    while let ([x, a_rest @ ..], [y, b_rest @ ..]) = (a, b) {
        if *x != *y {
            return false;
        }
        a = a_rest;
        b = b_rest;
    }
    a.is_empty() && b.is_empty()
}

/// Letters, digits, `_` and `-`, at least one of them.
const fn is_name(name: &str) -> bool {
    let mut bytes = name.as_bytes();
    while let [byte, rest @ ..] = bytes {
        if !byte.is_ascii_alphanumeric() && *byte != b'_' && *byte != b'-' {
            return false;
        }
        bytes = rest;
    }
    !name.is_empty()
}

/// Checks one name among the later names of its kind.
const fn check_name(name: &str, later_has_it: bool, task_reserved: bool) -> Result<(), CatalogError> {
    if !is_name(name) {
        Err(CatalogError::BadName)
    } else if later_has_it {
        Err(CatalogError::DuplicateName)
    } else if task_reserved && same(name.as_bytes(), b"task") {
        Err(CatalogError::ReservedName)
    } else {
        Ok(())
    }
}

/// Checks the names of tasks or signals.
const fn names(mut names: &[&str], task_reserved: bool) -> Result<(), CatalogError> {
    while let [name, rest @ ..] = names {
        let mut later = rest;
        let mut found = false;
        while let [other, others @ ..] = later {
            found |= same(name.as_bytes(), other.as_bytes());
            later = others;
        }
        if let Err(error) = check_name(name, found, task_reserved) {
            return Err(error);
        }
        names = rest;
    }
    Ok(())
}

/// Checks the values of a component.
const fn values(mut values: &[Value<'_>]) -> Result<(), CatalogError> {
    while let [value, rest @ ..] = values {
        let mut later = rest;
        let mut found = false;
        while let [other, others @ ..] = later {
            found |= same(value.name.as_bytes(), other.name.as_bytes());
            later = others;
        }
        if let Err(error) = check_name(value.name, found, false) {
            return Err(error);
        }
        if !COST.contains(value.cost) {
            return Err(CatalogError::BadCost);
        }
        values = rest;
    }
    Ok(())
}

/// Checks the components. The result is the number of actions.
#[expect(clippy::cast_possible_truncation, reason = "at most 1024")]
const fn components(mut components: &[Component<'_>]) -> Result<u16, CatalogError> {
    let mut actions = 1usize;
    while let [component, rest @ ..] = components {
        let mut later = rest;
        let mut found = false;
        while let [other, others @ ..] = later {
            found |= same(component.name.as_bytes(), other.name.as_bytes());
            later = others;
        }
        if let Err(error) = check_name(component.name, found, true) {
            return Err(error);
        }
        if component.values.is_empty() || component.values.len() > MAX_VALUES {
            return Err(CatalogError::ValueCount);
        }
        if let Err(error) = values(component.values) {
            return Err(error);
        }
        if let Some(null) = component.null
            && null as usize >= component.values.len()
        {
            return Err(CatalogError::UnknownNull);
        }
        actions *= component.values.len();
        if actions > MAX_ACTIONS {
            return Err(CatalogError::ActionCount);
        }
        components = rest;
    }
    Ok(actions as u16)
}

/// Checks a block among the later ones.
const fn check_block(
    definition: &Definition<'_>,
    block: Block,
    mut later: &[Block],
) -> Result<(), CatalogError> {
    let count = definition.components.len();
    let mask = block.mask(count);
    if mask == 0 || mask >> count != 0 {
        return Err(CatalogError::BlockComponents);
    }
    if let Some(signal) = block.signal
        && signal as usize >= definition.signals.len()
    {
        return Err(CatalogError::BlockSignal);
    }
    if block.per_task && definition.tasks.is_empty() {
        return Err(CatalogError::BlockTask);
    }
    if block.without_null {
        let mut any = false;
        let mut index = 0;
        let mut components = definition.components;
        while let [component, rest @ ..] = components {
            if mask >> index & 1 == 1 && component.null.is_some() {
                any = true;
                if component.values.len() == 1 {
                    return Err(CatalogError::BlockNull);
                }
            }
            index += 1;
            components = rest;
        }
        if !any {
            return Err(CatalogError::BlockNull);
        }
    }
    while let [other, rest @ ..] = later {
        let same_signal = match (block.signal, other.signal) {
            (None, None) => true,
            (Some(a), Some(b)) => a == b,
            _ => false,
        };
        if mask == other.mask(count) && block.per_task == other.per_task && same_signal {
            return Err(CatalogError::DuplicateBlock);
        }
        later = rest;
    }
    Ok(())
}

/// Checks a term of the default score.
const fn check_term(definition: &Definition<'_>, term: &Term<'_>) -> Result<(), CatalogError> {
    if !within(term.weight, MAX_WEIGHT) {
        return Err(CatalogError::BadWeight);
    }
    if let Err(error) = check_condition(definition, term.when, CatalogError::TermCondition) {
        return Err(error);
    }
    if check_pattern(definition, term.applies) { Ok(()) } else { Err(CatalogError::TermValues) }
}

/// Checks that the signal or the tasks of a condition exist. `unknown` is the error if they do not.
const fn check_condition(
    definition: &Definition<'_>,
    when: Condition<'_>,
    unknown: CatalogError,
) -> Result<(), CatalogError> {
    match when {
        Condition::Always => {}
        Condition::Above(signal, threshold)
        | Condition::AtLeast(signal, threshold)
        | Condition::AtMost(signal, threshold)
        | Condition::Below(signal, threshold) => {
            if signal as usize >= definition.signals.len() {
                return Err(unknown);
            }
            if !THRESHOLD.contains(threshold as f64) {
                return Err(CatalogError::BadThreshold);
            }
        }
        Condition::Tasks(mut tasks) => {
            if tasks.is_empty() {
                return Err(unknown);
            }
            while let [task, rest @ ..] = tasks {
                if *task as usize >= definition.tasks.len() {
                    return Err(unknown);
                }
                tasks = rest;
            }
        }
    }
    Ok(())
}

/// Checks that a pattern has at least one part, and each part another component.
const fn check_pattern(definition: &Definition<'_>, mut parts: &[Part<'_>]) -> bool {
    if parts.is_empty() {
        return false;
    }
    while let [part, rest @ ..] = parts {
        let mut later = rest;
        while let [other, others @ ..] = later {
            if other.component == part.component {
                return false;
            }
            later = others;
        }
        if !check_part(definition.components, part) {
            return false;
        }
        parts = rest;
    }
    true
}

/// Checks a contrast among the later ones.
const fn check_contrast(
    definition: &Definition<'_>,
    contrast: &Contrast<'_>,
    mut later: &[Contrast<'_>],
) -> Result<(), CatalogError> {
    let mut found = false;
    while let [other, rest @ ..] = later {
        found |= same(contrast.name.as_bytes(), other.name.as_bytes());
        later = rest;
    }
    if let Err(error) = check_name(contrast.name, found, false) {
        return Err(error);
    }
    let known_task = match contrast.task {
        Some(task) => (task as usize) < definition.tasks.len(),
        None => true,
    };
    if !known_task || contrast.signals.len() != definition.signals.len() {
        return Err(CatalogError::ContrastContext);
    }
    let mut signals = contrast.signals;
    while let [signal, rest @ ..] = signals {
        if !THRESHOLD.contains(*signal as f64) {
            return Err(CatalogError::ContrastContext);
        }
        signals = rest;
    }
    let mut prefer = contrast.prefer;
    let mut over = contrast.over;
    let mut components = definition.components;
    let mut differences = 0;
    while let [component, later_components @ ..] = components {
        let ([p, later_prefer @ ..], [o, later_over @ ..]) = (prefer, over) else { break };
        if *p as usize >= component.values.len() || *o as usize >= component.values.len() {
            return Err(CatalogError::ContrastActions);
        }
        differences += (*p != *o) as usize;
        components = later_components;
        prefer = later_prefer;
        over = later_over;
    }
    if prefer.is_empty() && over.is_empty() && components.is_empty() && differences == 1 {
        Ok(())
    } else {
        Err(CatalogError::ContrastActions)
    }
}

/// One bit per term: it names several components, and so is not a sum over components.
pub(super) const fn spanning_terms(mut terms: &[Term<'_>]) -> u64 {
    let (mut bits, mut bit) = (0, 1_u64);
    while let [term, rest @ ..] = terms {
        if term.applies.len() > 1 {
            bits |= bit;
        }
        bit = bit.wrapping_shl(1);
        terms = rest;
    }
    bits
}

/// Checks that the component and the values of a part exist, and that no value is named twice.
pub(crate) const fn check_part(mut components: &[Component<'_>], part: &Part<'_>) -> bool {
    let mut index = 0;
    while let [component, rest @ ..] = components {
        if index == part.component {
            let mut values = part.values;
            while let [value, later @ ..] = values {
                let repeated = Part::new(part.component, later).contains(*value);
                if *value as usize >= component.values.len() || repeated {
                    return false;
                }
                values = later;
            }
            return !part.values.is_empty();
        }
        index += 1;
        components = rest;
    }
    false
}
