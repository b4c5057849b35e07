//! Checks of the rules of a catalog: each rule by itself, and the actions that rules leave together.

use super::{check_condition, check_name, check_pattern, same};
use crate::catalog::{CatalogError, Component, Condition, Definition, Effect, Part, StandingRule};

/// Checks all rules of a catalog with so many actions.
pub(super) const fn check_rules(definition: &Definition<'_>, actions: u16) -> Result<(), CatalogError> {
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
    Ok(())
}

/// Checks one rule among the later ones.
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

/// True if an action is left by a rule in its contexts, together with the rules that hold everywhere.
const fn is_left(definition: &Definition<'_>, own: &StandingRule<'_>, action: u16) -> bool {
    let mut any_only = false;
    let mut listed = false;
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

/// True if an action has one of the values of each part.
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
