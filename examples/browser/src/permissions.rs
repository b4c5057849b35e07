//! What the person allows: switches that become hard rules.

use crate::{AGENT, PageError};
use alloc::vec::Vec;
use fable_core::catalog::Part;
use fable_core::catalog::agent::{MEMORY, Memory, STYLE, Style, TOOL, Tool};
use fable_core::{Action, Feasible, Rule, removed_by, values};

/// The switches of the page, one bit each, lowest first.
pub const PERMISSIONS: [Rule<'static>; 4] = [
    Rule::require("memory off", &[Part::new(MEMORY, values![Memory::NoMemory])]),
    Rule::forbid("no web search", &[Part::new(TOOL, values![Tool::WebSearch])]),
    Rule::require("confirmation required", &[Part::new(STYLE, values![Style::ConfirmFirst])]),
    Rule::require("no tools at all", &[Part::new(TOOL, values![Tool::NoTool])]),
];

/// What is switched on, and what that leaves.
#[derive(Clone, Debug)]
pub(crate) struct Permissions {
    switches: u32,
    feasible: Feasible,
}

impl Permissions {
    /// Nothing is forbidden.
    pub(crate) fn none() -> Self {
        Self { switches: 0, feasible: Feasible::all(&AGENT) }
    }

    /// With these switches on; bits without a switch are ignored.
    pub(crate) fn new(switches: u32) -> Result<Self, PageError> {
        let rules: Vec<Rule<'_>> = rules(switches).map(|(_, rule)| rule).collect();
        Ok(Self { switches, feasible: Feasible::new(&AGENT, &rules)? })
    }

    pub(crate) const fn feasible(&self) -> &Feasible {
        &self.feasible
    }

    /// The switch that removes an action.
    pub(crate) fn removed_by(&self, action: Action) -> Option<usize> {
        rules(self.switches).find(|(_, rule)| removed_by(&AGENT, &[*rule], action).is_some()).map(|(switch, _)| switch)
    }
}

/// The rules that are on, with their switches.
fn rules(switches: u32) -> impl Iterator<Item = (usize, Rule<'static>)> {
    PERMISSIONS.into_iter().enumerate().filter(move |(switch, _)| switches >> switch & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_combination_leaves_something_and_names_what_it_removes() {
        for switches in 0..1 << PERMISSIONS.len() {
            let permissions = Permissions::new(switches).unwrap();
            for action in AGENT.all_actions().iter() {
                let removed = permissions.removed_by(action);
                assert_eq!(removed.is_none(), permissions.feasible().set().contains(action));
                assert!(removed.is_none_or(|switch| switches >> switch & 1 == 1));
            }
        }
        assert_eq!(Permissions::new(0b1111).unwrap().feasible().len(), 1);
    }
}
