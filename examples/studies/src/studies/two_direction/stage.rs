//! What the paper says about its last experiment: prompts by direction, the actions of its two runs, four probabilities. And what it
//! does not say, as a thing that can be varied: the contexts.

use crate::setup::StudyError;
use fable_core::catalog::agent::{self, AGENT, MEMORY, Memory, STYLE, Style, TOOL, TOOL_NEED, Tool};
use fable_core::catalog::{Block, Component, Condition, Definition, Part, Term, Value};
use fable_core::preference::Comparison;
use fable_core::{Action, Catalog, Context, Rule, values};

/// Which way a prompt points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    Current,
    Stable,
}
use Target::{Current, Stable};

/// The direction of each prompt, in the paper's order: its prompts 1 to 20.
pub(super) const PROMPTS: [Target; 20] = [
    Current, Stable, Stable, Current, Current, Stable, Stable, Current, Current, Stable, //
    Stable, Current, Current, Stable, Stable, Current, Current, Stable, Stable, Current,
];

/// The tool modes of the paper's online run, `w` for a search, in the order of the prompts.
pub(super) const ONLINE: &str = "wwnnwnnwwnnwwnnwwnnw";
/// The same of its frozen run.
pub(super) const FROZEN_RUN: &str = "wwnwnnwwwwnwwnnwwwnn";
/// The paper's probabilities of the right order, current and stable, before and after its online run.
pub(super) const PUBLISHED: [[f64; 2]; 2] = [[0.529, 0.511], [0.885, 0.999]];

/// The two tool modes; memory and style are fixed.
pub(super) const RULES: &[Rule<'static>] = &[
    Rule::require("memory is fixed", &[Part::new(MEMORY, values![Memory::NoMemory])]),
    Rule::require("two tool modes", &[Part::new(TOOL, values![Tool::NoTool, Tool::WebSearch])]),
    Rule::require("style is fixed", &[Part::new(STYLE, values![Style::Concise])]),
];

/// The tasks of the contexts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tasks {
    /// None at all.
    Absent,
    /// `factual` for all: the default score has 0.06 for brevity there.
    Factual,
    /// `coding` for all: it has nothing for brevity there.
    Coding,
    /// `coding` for current information, all of it about releases of software, and `factual` for the others.
    Own,
}

impl Tasks {
    pub(super) const ALL: [Self; 4] = [Self::Absent, Self::Factual, Self::Coding, Self::Own];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Absent => "no task",
            Self::Factual => "one task, factual",
            Self::Coding => "one task, coding",
            Self::Own => "a task each",
        }
    }

    const fn of(self, target: Target) -> Option<&'static str> {
        match (self, target) {
            (Self::Absent, _) => None,
            (Self::Factual, _) | (Self::Own, Stable) => Some("factual"),
            (Self::Coding, _) | (Self::Own, Current) => Some("coding"),
        }
    }
}

/// The two contexts, which the paper fixed and does not state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Contexts {
    pub(super) tasks: Tasks,
    /// The tool need of prompts about current information and of the others.
    pub(super) tool_need: [f32; 2],
    /// Risk and ambiguity of both.
    pub(super) calm: [f32; 2],
}

/// A catalog and where its two actions are.
#[derive(Clone, Copy)]
pub(super) struct Stage {
    pub(super) catalog: &'static Catalog<'static>,
    pub(super) search: Action,
    pub(super) no_tool: Action,
}

/// All of `agent`, with [`RULES`].
pub(super) const WHOLE: Stage = Stage {
    catalog: &AGENT,
    search: agent::action(Memory::NoMemory, Tool::WebSearch, Style::Concise),
    no_tool: agent::action(Memory::NoMemory, Tool::NoTool, Style::Concise),
};

/// The coordinates of `agent` that the two actions touch in these tasks. Under an isotropic prior the others stay as they are and have
/// no part in any score here, so the posterior is the same, a hundred times faster.
pub(super) const PART: Stage = Stage { catalog: &TOUCHED, search: Action(1), no_tool: Action(0) };

const TOUCHED: Catalog<'static> = Catalog::new(Definition {
    name: "touched",
    components: &[
        Component::new("memory", &[Value::new("no_memory", "", 0.0)]),
        Component::new("tool", &[Value::new("no_tool", "", 0.0), Value::new("web_search", "", 0.08)])
            .with_null(0),
        Component::new("style", &[Value::new("concise", "", 0.0)]),
    ],
    tasks: &["coding", "factual"],
    signals: &["risk", "ambiguity", "memory_need", "tool_need"],
    blocks: &[
        Block::main(MEMORY),
        Block::main(TOOL),
        Block::main(STYLE),
        Block::main(STYLE).per_task(),
        Block::main(TOOL).per_task(),
        Block::main(TOOL).scaled_by(TOOL_NEED).without_null(),
        Block::main(STYLE).scaled_by(agent::RISK),
        Block::main(STYLE).scaled_by(agent::AMBIGUITY),
        Block::pair(MEMORY, TOOL),
        Block::pair(MEMORY, STYLE),
        Block::pair(TOOL, STYLE),
    ],
    terms: &[
        Term::new(0.18, Condition::Above(TOOL_NEED, 0.5), &[Part::new(TOOL, &[1])]),
        Term::new(-0.12, Condition::Below(TOOL_NEED, 0.2), &[Part::new(TOOL, &[1])]),
        Term::new(0.06, Condition::Tasks(&[1]), &[Part::new(STYLE, &[0])]),
    ],
    ..Definition::EMPTY
});

impl Stage {
    pub(super) fn context(&self, contexts: &Contexts, target: Target) -> Result<Context, StudyError> {
        let [current, stable] = contexts.tool_need;
        let tool_need = if target == Current { current } else { stable };
        let task = contexts.tasks.of(target).map(|name| self.catalog.task(name)).transpose()?;
        let [risk, ambiguity] = contexts.calm;
        Ok(Context::new(self.catalog, task, &[risk, ambiguity, 0.0, tool_need])?)
    }

    /// The paper's 20 rounds.
    pub(super) fn rounds(&self, contexts: &Contexts) -> Result<Vec<(Context, Target)>, StudyError> {
        PROMPTS.iter().map(|target| Ok((self.context(contexts, *target)?, *target))).collect()
    }

    /// The right action.
    pub(super) fn action(&self, target: Target) -> Action {
        if target == Current { self.search } else { self.no_tool }
    }

    /// The action that the paper writes with this letter.
    pub(super) fn written(&self, letter: char) -> Action {
        if letter == 'w' { self.search } else { self.no_tool }
    }

    /// Whether the right action has the higher score in all: default, cost and what was learned.
    pub(super) fn probe(&self, context: Context, target: Target) -> Comparison {
        let over = if target == Current { self.no_tool } else { self.search };
        Comparison { context, prefer: self.action(target), over, total: true }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The counts that the paper states: 18 (9 and 9), 14 (8 and 6), five rounds that only online has right and one that only frozen has.
    #[test]
    fn the_published_runs_have_the_published_counts() {
        let right = |run: &str| -> Vec<bool> {
            run.chars()
                .zip(PROMPTS)
                .map(|(letter, target)| WHOLE.written(letter) == WHOLE.action(target))
                .collect()
        };
        let (online, frozen) = (right(ONLINE), right(FROZEN_RUN));
        let count = |run: &[bool], target| {
            run.iter().zip(PROMPTS).filter(|(right, of)| **right && *of == target).count()
        };
        assert_eq!([count(&online, Current), count(&online, Stable)], [9, 9]);
        assert_eq!([count(&frozen, Current), count(&frozen, Stable)], [8, 6]);
        let only = |one: &[bool], other: &[bool]| {
            one.iter().zip(other).filter(|(one, other)| **one && !**other).count()
        };
        assert_eq!([only(&online, &frozen), only(&frozen, &online)], [5, 1]);
    }
}
