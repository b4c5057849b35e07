//! Catalogs that JavaScript describes: the same data as a catalog's file, names already positions.
//!
//! What a catalog holds is never freed, as on a host: a program has a few, and `'static` lets users refer to them as they do to
//! a constant. It is read twice, so that one with a mistake in it leaves nothing behind.

use crate::Refusal;
use alloc::boxed::Box;
use alloc::vec::Vec;
use bumpalo::Bump;
use fable_core::catalog::Effect;
use fable_core::catalog::{
    Block, Component, Condition, Contrast, Definition, Part, StandingRule, Term, Value,
};
use fable_core::{Catalog, Rule};
use serde::Deserialize;

/// A catalog as it comes over the border.
#[derive(Deserialize)]
pub(crate) struct Document<'d> {
    name: &'d str,
    #[serde(borrow)]
    components: Vec<ComponentTable<'d>>,
    tasks: Vec<&'d str>,
    signals: Vec<&'d str>,
    blocks: Vec<BlockTable>,
    terms: Vec<TermTable>,
    contrasts: Vec<ContrastTable<'d>>,
    rules: Vec<RuleTable<'d>>,
}

#[derive(Deserialize)]
struct ComponentTable<'d> {
    name: &'d str,
    null: Option<u8>,
    /// Name, instruction and cost.
    #[serde(borrow)]
    values: Vec<(&'d str, &'d str, f64)>,
}

#[derive(Deserialize)]
struct BlockTable {
    /// The components, or every one if there is none.
    of: Vec<u8>,
    per_task: bool,
    scaled_by: Option<u8>,
    without_null: bool,
}

#[derive(Deserialize)]
enum ConditionTable {
    Always,
    Above(u8, f32),
    AtLeast(u8, f32),
    AtMost(u8, f32),
    Below(u8, f32),
    Tasks(Vec<u8>),
}

/// Components, each with some of its values.
type Parts = Vec<(u8, Vec<u8>)>;

#[derive(Deserialize)]
struct TermTable {
    weight: f64,
    when: ConditionTable,
    any_of: Parts,
}

#[derive(Deserialize)]
struct ContrastTable<'d> {
    name: &'d str,
    positive: &'d str,
    negative: &'d str,
    task: Option<u8>,
    signals: Vec<f32>,
    prefer: Vec<u8>,
    over: Vec<u8>,
}

#[derive(Deserialize)]
struct RuleTable<'d> {
    name: &'d str,
    when: ConditionTable,
    /// 0 forbid, 1 require, 2 only.
    effect: u8,
    pattern: Parts,
}

impl Document<'_> {
    /// The catalog, for as long as the module is there.
    pub(crate) fn keep(&self) -> Result<&'static Catalog<'static>, Refusal> {
        self.catalog(&Bump::new())?;
        let arena: &'static Bump = Box::leak(Box::default());
        Ok(arena.alloc(self.catalog(arena)?))
    }

    fn catalog<'a>(&self, arena: &'a Bump) -> Result<Catalog<'a>, Refusal> {
        let text = |text: &str| -> &'a str { arena.alloc_str(text) };
        let names = |names: &[&str]| -> &'a [&'a str] {
            arena.alloc_slice_fill_iter(names.iter().map(|name| text(name)))
        };
        let components = self.components.iter().map(|component| {
            let values = component
                .values
                .iter()
                .map(|(name, instruction, cost)| Value::new(text(name), text(instruction), *cost));
            Component {
                null: component.null,
                ..Component::new(text(component.name), arena.alloc_slice_fill_iter(values))
            }
        });
        let contrasts = self.contrasts.iter().map(|contrast| {
            Contrast::new(
                text(contrast.name),
                arena.alloc_slice_copy(&contrast.prefer),
                arena.alloc_slice_copy(&contrast.over),
            )
            .when(contrast.task, arena.alloc_slice_copy(&contrast.signals))
            .says(text(contrast.positive), text(contrast.negative))
        });
        let terms = self
            .terms
            .iter()
            .map(|term| Term::new(term.weight, term.when.condition(arena), parts(arena, &term.any_of)));
        let rules = self.rules.iter().map(|rule| -> StandingRule<'a> {
            let effect = match rule.effect {
                0 => Effect::Forbid,
                1 => Effect::Require,
                _ => Effect::Only,
            };
            let pattern = parts(arena, &rule.pattern);
            Rule { name: text(rule.name), effect, pattern }.when(rule.when.condition(arena))
        });
        let definition = Definition {
            name: text(self.name),
            components: arena.alloc_slice_fill_iter(components),
            tasks: names(&self.tasks),
            signals: names(&self.signals),
            blocks: arena.alloc_slice_fill_iter(self.blocks.iter().map(BlockTable::block)),
            terms: arena.alloc_slice_fill_iter(terms),
            contrasts: arena.alloc_slice_fill_iter(contrasts),
            rules: arena.alloc_slice_fill_iter(rules),
        };
        Ok(Catalog::try_new(definition)?)
    }
}

impl BlockTable {
    fn block(&self) -> Block {
        let mut block = if self.of.is_empty() { Block::complete() } else { Block::product(&self.of) };
        if let Some(signal) = self.scaled_by {
            block = block.scaled_by(signal);
        }
        if self.per_task {
            block = block.per_task();
        }
        if self.without_null { block.without_null() } else { block }
    }
}

impl ConditionTable {
    fn condition<'a>(&self, arena: &'a Bump) -> Condition<'a> {
        match self {
            Self::Always => Condition::Always,
            Self::Above(signal, level) => Condition::Above(*signal, *level),
            Self::AtLeast(signal, level) => Condition::AtLeast(*signal, *level),
            Self::AtMost(signal, level) => Condition::AtMost(*signal, *level),
            Self::Below(signal, level) => Condition::Below(*signal, *level),
            Self::Tasks(tasks) => Condition::Tasks(arena.alloc_slice_copy(tasks)),
        }
    }
}

fn parts<'a>(arena: &'a Bump, parts: &Parts) -> &'a [Part<'a>] {
    arena.alloc_slice_fill_iter(
        parts.iter().map(|(component, values)| Part::new(*component, arena.alloc_slice_copy(values))),
    )
}
