//! The canonical bytes of a definition, which its fingerprints are sums of.

use crate::catalog::{Condition, Definition, Effect, Part};
use crate::numbers::Fingerprint;

/// Adds the *shape*: what gives a stored number its meaning. Names, order, blocks, contrasts, and the rules
/// that bind recorded decisions. Instructions are not in it, nor the [`reference`](fn@reference).
pub(in crate::catalog) const fn shape(definition: &Definition<'_>, start: Fingerprint) -> Fingerprint {
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

/// Adds the *reference*: the costs of values and the terms of the default score. A decision records their
/// sum, so they can change under a user.
pub(in crate::catalog) const fn reference(definition: &Definition<'_>, start: Fingerprint) -> Fingerprint {
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
