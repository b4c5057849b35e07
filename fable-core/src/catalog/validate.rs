//! The checks behind [`Catalog::try_new`](super::Catalog::try_new) and the canonical bytes behind its fingerprint.
//!
//! Everything is `const fn`, which has no iterators yet: `while let [first, rest @ ..] = slice` walks a slice instead.

use super::{
    Block, CatalogError, Component, Condition, Contrast, Definition, Effect, MAX_ACTIONS, MAX_BLOCKS,
    MAX_COMPONENTS, MAX_CONTRASTS, MAX_RULES, MAX_SIGNALS, MAX_TASKS, MAX_TERMS, MAX_VALUES, MAX_WEIGHT,
    Part, StandingRule, Term, Value,
};
use crate::numbers::{Fingerprint, Range, within};

const COST: Range = Range { least: 0.0, most: MAX_WEIGHT };
const THRESHOLD: Range = Range { least: 0.0, most: 1.0 };

/// Checks a definition; on success the number of its actions.
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
    let mut rules = definition.rules;
    while let [rule, rest @ ..] = rules {
        if let Err(error) = check_rule(definition, rule, rest) {
            return Err(error);
        }
        rules = rest;
    }
    let mut rules = definition.rules;
    while let [rule, rest @ ..] = rules {
        let mut action = 0;
        while action < actions && !is_left(definition, rule, action) {
            action += 1;
        }
        if action == actions {
            return Err(CatalogError::RuleLeavesNothing);
        }
        rules = rest;
    }
    Ok(actions)
}

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

/// One name among the later ones of its kind.
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

const fn check_term(definition: &Definition<'_>, term: &Term<'_>) -> Result<(), CatalogError> {
    if !within(term.weight, MAX_WEIGHT) {
        return Err(CatalogError::BadWeight);
    }
    if let Err(error) = check_condition(definition, term.when, CatalogError::TermCondition) {
        return Err(error);
    }
    if check_pattern(definition, term.applies) { Ok(()) } else { Err(CatalogError::TermValues) }
}

/// A condition is sound when its signal or tasks exist; `unknown` says that they do not.
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

/// A pattern has at least one part, each of another component.
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

const fn check_rule(
    definition: &Definition<'_>,
    standing: &StandingRule<'_>,
    mut later: &[StandingRule<'_>],
) -> Result<(), CatalogError> {
    let mut found = false;
    while let [other, rest @ ..] = later {
        found |= same(standing.rule.name.as_bytes(), other.rule.name.as_bytes());
        later = rest;
    }
    if let Err(error) = check_name(standing.rule.name, found, false) {
        return Err(error);
    }
    if let Err(error) = check_condition(definition, standing.when, CatalogError::RuleCondition) {
        return Err(error);
    }
    if !check_pattern(definition, standing.rule.pattern) {
        return Err(CatalogError::RuleValues);
    }
    Ok(())
}

/// Whether a rule, where it holds, and the rules that hold everywhere leave an action.
const fn is_left(definition: &Definition<'_>, own: &StandingRule<'_>, action: u16) -> bool {
    let (mut any_only, mut listed) = (false, false);
    let mut rules = definition.rules;
    let mut first = true;
    loop {
        let standing = if first {
            own
        } else {
            let [next, rest @ ..] = rules else { break };
            rules = rest;
            next
        };
        if first || matches!(standing.when, Condition::Always) {
            let matches = has_pattern(definition.components, standing.rule.pattern, action);
            match standing.rule.effect {
                Effect::Forbid if matches => return false,
                Effect::Require if !matches => return false,
                Effect::Only => {
                    any_only = true;
                    listed |= matches;
                }
                Effect::Forbid | Effect::Require => {}
            }
        }
        first = false;
    }
    !any_only || listed
}

/// Whether an action has one of the values of each part.
#[expect(clippy::cast_possible_truncation, reason = "a component has at most 256 values")]
const fn has_pattern(components: &[Component<'_>], mut pattern: &[Part<'_>], action: u16) -> bool {
    while let [part, rest @ ..] = pattern {
        let mut index = 0;
        let mut value = 0;
        let mut stride = 1;
        let mut later = components;
        while let [component, others @ ..] = later {
            let count = component.values.len();
            if index == part.component {
                value = count;
            } else if index > part.component {
                stride *= count;
            }
            index += 1;
            later = others;
        }
        let value = if value == 0 || stride == 0 { 0 } else { action as usize / stride % value };
        if !part.contains(value as u8) {
            return false;
        }
        pattern = rest;
    }
    true
}

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

/// Bits of the terms that name several components, so that they are not a sum over components.
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

/// A part is sound when its component and values exist and no value is named twice.
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

/// Canonical bytes of the *shape*: everything that gives a stored number its meaning, names, order, blocks, contrasts, and the rules
/// that a recorded decision was held to. Texts are wording, costs and default scores are the [`reference`]; neither is in it.
pub(super) const fn shape(definition: &Definition<'_>, start: Fingerprint) -> Fingerprint {
    let mut sum = start.text(definition.name).u64(definition.components.len() as u64);
    let mut components = definition.components;
    while let [component, rest @ ..] = components {
        sum = sum.text(component.name).u64(match component.null {
            Some(null) => 1 + null as u64,
            None => 0,
        });
        sum = sum.u64(component.values.len() as u64);
        let mut values = component.values;
        while let [value, others @ ..] = values {
            sum = sum.text(value.name);
            values = others;
        }
        components = rest;
    }
    sum = texts(texts(sum, definition.tasks), definition.signals).u64(definition.blocks.len() as u64);
    let mut blocks = definition.blocks;
    while let [block, rest @ ..] = blocks {
        sum = sum
            .u64(block.mask(definition.components.len()) as u64)
            .u64(block.per_task as u64)
            .u64(match block.signal {
                Some(signal) => 1 + signal as u64,
                None => 0,
            })
            .u64(block.without_null as u64);
        blocks = rest;
    }
    sum = sum.u64(definition.contrasts.len() as u64);
    let mut contrasts = definition.contrasts;
    while let [contrast, rest @ ..] = contrasts {
        sum = sum.text(contrast.name).u64(match contrast.task {
            Some(task) => 1 + task as u64,
            None => 0,
        });
        let mut signals = contrast.signals;
        while let [signal, others @ ..] = signals {
            sum = sum.f64(*signal as f64);
            signals = others;
        }
        sum = sum.bytes(contrast.prefer).bytes(contrast.over);
        contrasts = rest;
    }
    if definition.rules.is_empty() {
        return sum;
    }
    sum = sum.u64(definition.rules.len() as u64);
    let mut rules = definition.rules;
    while let [standing, rest @ ..] = rules {
        let effect = match standing.rule.effect {
            Effect::Forbid => 0,
            Effect::Require => 1,
            Effect::Only => 2,
        };
        sum = pattern(
            condition(sum.text(standing.rule.name).u64(effect), standing.when),
            standing.rule.pattern,
        );
        rules = rest;
    }
    sum
}

/// Canonical bytes of the *reference*: the costs of values and the terms of the default score. A decision records what they came to, so
/// they can change under a user.
pub(super) const fn reference(definition: &Definition<'_>, start: Fingerprint) -> Fingerprint {
    let mut sum = start;
    let mut components = definition.components;
    while let [component, rest @ ..] = components {
        let mut values = component.values;
        while let [value, others @ ..] = values {
            sum = sum.f64(value.cost);
            values = others;
        }
        components = rest;
    }
    sum = sum.u64(definition.terms.len() as u64);
    let mut terms = definition.terms;
    while let [term, rest @ ..] = terms {
        sum = pattern(condition(sum.f64(term.weight), term.when), term.applies);
        terms = rest;
    }
    sum
}

const fn pattern(sum: Fingerprint, mut parts: &[Part<'_>]) -> Fingerprint {
    let mut sum = sum.u64(parts.len() as u64);
    while let [part, rest @ ..] = parts {
        sum = sum.u64(part.component as u64).u64(part.values.len() as u64).bytes(part.values);
        parts = rest;
    }
    sum
}

const fn texts(mut sum: Fingerprint, mut texts: &[&str]) -> Fingerprint {
    sum = sum.u64(texts.len() as u64);
    while let [text, rest @ ..] = texts {
        sum = sum.text(text);
        texts = rest;
    }
    sum
}

const fn condition(sum: Fingerprint, when: Condition<'_>) -> Fingerprint {
    match when {
        Condition::Always => sum.u64(0),
        Condition::Tasks(tasks) => sum.u64(1).u64(tasks.len() as u64).bytes(tasks),
        Condition::Above(signal, threshold) => bound(sum.u64(2), signal, threshold),
        Condition::AtLeast(signal, threshold) => bound(sum.u64(3), signal, threshold),
        Condition::AtMost(signal, threshold) => bound(sum.u64(4), signal, threshold),
        Condition::Below(signal, threshold) => bound(sum.u64(5), signal, threshold),
    }
}

const fn bound(sum: Fingerprint, signal: u8, threshold: f32) -> Fingerprint {
    sum.u64(signal as u64).u64(threshold.to_bits() as u64)
}
