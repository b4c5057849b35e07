//! What a request is about, and what it needs.
//!
//! Quoted text, code and pasted material are not read, they only count as there: a request to translate "delete all my
//! files" is a harmless translation. A request that points at something ("fix this") and brings nothing along is unclear.

use crate::pattern::{any, find, has};
use crate::tables::context::{
    AMBIGUITY_ALONE, AMBIGUITY_GREETING, Cue, GREETINGS, LEAD_INS, LEAST, MATERIAL_TOOL, MEMORY, NOBODY_KNOWS, ORDER, RISK,
    TASKS, TOOL, VAGUE,
};
use crate::tokens::{self, CODE, FILE, QUOTE, URL, Word};
use crate::{AdapterError, ContextAdapter, Reading, Rules, Situation};
use alloc::string::ToString;
use alloc::vec::Vec;
use fable_core::{Catalog, Context};

impl ContextAdapter for Rules {
    fn context_adapter(&self) -> &str {
        Self::CONTEXT
    }

    fn context(&self, catalog: &Catalog<'_>, situation: Situation<'_>) -> Result<Reading<Context>, AdapterError> {
        let definition = catalog.definition();
        if !definition.tasks.is_empty() && !definition.tasks.iter().any(|task| TASKS.iter().any(|(known, ..)| known == task)) {
            return Err(AdapterError::UnknownTasks);
        }
        let summary = Summary::of(situation.request.as_str());
        let mut signals = Vec::with_capacity(definition.signals.len());
        for name in definition.signals {
            let tenths = summary.signal(name).ok_or_else(|| AdapterError::UnknownSignal((*name).to_string()))?;
            signals.push(f32::from(tenths) / 10.0);
        }
        let task = summary.task.and_then(|task| catalog.task(task).ok());
        // Every signal is there and at most 1, and the task is one of the catalog's: core has nothing to refuse.
        Context::new(catalog, task, &signals).map(Reading::of).map_err(|_| AdapterError::UnknownTasks)
    }
}

/// A request in a few numbers; the signals in tenths.
struct Summary {
    task: Option<&'static str>,
    risk: u8,
    ambiguity: u8,
    memory_need: u8,
    tool_need: u8,
}

impl Summary {
    fn of(text: &str) -> Self {
        let words = tokens::read(text);
        let (own, pasted) = split_material(&words);
        let material = pasted || own.iter().any(|word| [CODE, QUOTE, URL, FILE].contains(&word.text.as_str()));
        let (mut task, [risk, ambiguity, memory_need, tool_need], weight) = classify(own);
        let ambiguity = if material { 1 } else { ambiguity.max(vagueness(own, task.is_none())) };
        if ambiguity >= NOBODY_KNOWS.0 && weight <= NOBODY_KNOWS.1 {
            task = None;
        }
        let looked_up = words.iter().any(|word| [URL, FILE].contains(&word.text.as_str()));
        let tool_need = if looked_up { tool_need.max(MATERIAL_TOOL) } else { tool_need };
        Self {
            task: task.filter(|task| *task != ORDER),
            risk: level(risk, RISK, own),
            ambiguity,
            memory_need: level(memory_need, MEMORY, own),
            tool_need: level(tool_need, TOOL, own),
        }
    }

    fn signal(&self, name: &str) -> Option<u8> {
        match name {
            "risk" => Some(self.risk),
            "ambiguity" => Some(self.ambiguity),
            "memory_need" => Some(self.memory_need),
            "tool_need" => Some(self.tool_need),
            _ => None,
        }
    }
}

/// The person's own words, and whether material follows: after a colon that ends a line, or that a lead-in announces.
fn split_material(words: &[Word]) -> (&[Word], bool) {
    for (at, _) in words.iter().enumerate().filter(|(_, word)| word.text == ":") {
        let (Some(before), Some(after)) = (words.get(..at), words.get(at + 1..)) else { continue };
        let ends_line = after.first().is_some_and(|next| next.text == "\n");
        let follows = after.iter().any(|next| !next.is_break());
        if follows && (ends_line || any(LEAD_INS, before)) {
            return (before, true);
        }
    }
    (words, false)
}

/// The heaviest task, its levels and its weight.
fn classify(words: &[Word]) -> (Option<&'static str>, [u8; 4], u8) {
    let mut best = (None, [1; 4], LEAST - 1);
    for (task, levels, cues) in TASKS {
        let mut found: Vec<u8> = cues.iter().filter(|(_, pattern)| has(pattern, words)).map(|(weight, _)| *weight).collect();
        found.sort_unstable();
        let weight = found.pop().map_or(0, |first| first + found.len().min(3) as u8);
        if weight > best.2 {
            best = (Some(*task), *levels, weight);
        }
    }
    best
}

/// The highest of a level and of the cues that match.
fn level(own: u8, cues: &[Cue], words: &[Word]) -> u8 {
    cues.iter().filter(|(_, pattern)| has(pattern, words)).map(|(tenths, _)| *tenths).fold(own, u8::max)
}

/// How unclear a request without material is.
fn vagueness(words: &[Word], no_task: bool) -> u8 {
    let spoken = words.iter().filter(|word| !word.is_break()).count();
    let greeting = find(GREETINGS, words).is_some_and(|found| found.len() == spoken);
    let few = no_task && spoken <= 2 && !greeting;
    let own = match (greeting, few) {
        (true, _) => AMBIGUITY_GREETING,
        (false, true) => AMBIGUITY_ALONE,
        (false, false) => 1,
    };
    level(own, VAGUE, words)
}
