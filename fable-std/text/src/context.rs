//! What a request is about, and what it needs.
//!
//! The request comes first. Quoted text, code and pasted material in it are not read, they only count as there: a request to
//! translate "delete all my files" is a harmless translation. Instructions about the form of the answer are not read either:
//! "Answer in one sentence" is not a summary. A request that points at something ("fix this") and brings nothing along is unclear.
//!
//! Then what it comes after, by few rules:
//!
//! | rule | for example |
//! |---|---|
//! | a short request that goes on with the last one, or answers a question back, has its task, and needs and risks no less | "and in French?" |
//! | what points at something is less unclear after an exchange, and after code its task is coding | "fix this" |
//! | both depend on what was said before: memory_need is at least 0.5 | "what about the second one?" |
//! | two or three of the last three exchanges that went wrong, or the same request again, raise ambiguity | |
//! | where request and history name no task the background does | "You are a coding assistant" |
//! | where every action must be confirmed first, risk is at least 0.5; nothing that may be done lowers it | |
//!
//! Of an answer only counts whether there is one, whether it has code, and whether it asks back: its words name no task and no
//! need, so nothing that an assistant says about a person gets into the context.

use crate::clause::{clauses, split_material};
use crate::pattern::{Places, any, find, has};
use crate::question::asks_back;
use crate::tables::context::{
    AMBIGUITY_ALONE, AMBIGUITY_GREETING, CALCULATION, Cue, ESSENCE, FEW, FOLLOW_UPS, FORM_CLAUSES,
    FORM_PHRASES, GREETINGS, MATERIAL_TOOL, MEMORY, NUMBERS, OWN, PLAIN, POINTERS, QUANTITIES, RISK, TOOL,
    VAGUE,
};
use crate::tables::talk::REQUEST_STARTS;
use crate::tables::tasks::{LEAST, NOBODY_KNOWS, ORDER, TASKS};
use crate::tokens::{self, CODE, FILE, MATH, QUOTE, URL, Word};
use crate::{AdapterError, ContextAdapter, Reading, Rules, Situation, Turn};
use alloc::string::ToString;
use alloc::vec::Vec;
use core::slice;
use fable_core::{Catalog, Context, Feasible};

/// Exchanges that are looked back at.
const LOOK_BACK: usize = 6;

/// Exchanges that are asked whether they went wrong, and tenths of ambiguity for the second of them and for each further one.
const TROUBLES: (usize, u8) = (3, 2);

/// Ambiguity of what points at something said before, at most.
const POINTED: u8 = 3;

/// Memory need of what goes on with something said before, at least.
const GOES_ON: u8 = 5;

/// Risk where everything must be confirmed, at least.
const CONFIRMED: u8 = 5;

impl ContextAdapter for Rules {
    fn context_adapter(&self) -> &str {
        Self::CONTEXT
    }

    fn context(
        &self,
        catalog: &Catalog<'_>,
        situation: Situation<'_>,
    ) -> Result<Reading<Context>, AdapterError> {
        let definition = catalog.definition();
        if !definition.tasks.is_empty()
            && !definition.tasks.iter().any(|task| TASKS.iter().any(|(known, ..)| known == task))
        {
            return Err(AdapterError::UnknownTasks);
        }
        let mut summary = Summary::of(situation.request.as_str());
        summary.after(situation.request.as_str(), situation.history);
        if let Some(background) = situation.background.filter(|_| !summary.is_settled()) {
            summary.task = Summary::of(background.as_str()).task.or(summary.task);
        }
        if situation.feasible.is_some_and(|feasible| must_confirm(catalog, feasible)) {
            summary.risk = summary.risk.max(CONFIRMED);
        }
        let mut signals = Vec::with_capacity(definition.signals.len());
        for name in definition.signals {
            let tenths =
                summary.signal(name).ok_or_else(|| AdapterError::UnknownSignal((*name).to_string()))?;
            signals.push(f32::from(tenths) / 10.0);
        }
        let task = summary.task.filter(|task| *task != ORDER).and_then(|task| catalog.task(task).ok());
        // Every signal is there and at most 1, and the task is one of the catalog's: core has nothing to refuse.
        Context::new(catalog, task, &signals).map(Reading::of).map_err(|_| AdapterError::UnknownTasks)
    }
}

/// Whether nothing may be done without a confirmation.
fn must_confirm(catalog: &Catalog<'_>, feasible: &Feasible) -> bool {
    let Some((component, value)) = crate::onboarding::value(catalog, "style", "confirm_first") else {
        return false;
    };
    let confirms = |action| {
        catalog.values(action).and_then(|values| values.get(usize::from(component)).copied()) == Some(value)
    };
    feasible.set().iter().all(confirms)
}

/// A request in a few numbers; the signals in tenths.
#[derive(Clone, Copy)]
struct Summary {
    /// [`ORDER`] for an order to act.
    task: Option<&'static str>,
    weight: u8,
    risk: u8,
    ambiguity: u8,
    memory_need: u8,
    tool_need: u8,
    brings: Material,
    manner: Manner,
    /// Whether it points at something.
    points: bool,
}

/// What a request brings along to work on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Material {
    Nothing,
    Code,
    Other,
}

/// How a request stands to what was said before.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Manner {
    Greets,
    /// Short, and may go on with the last one.
    GoesOn,
    /// Short enough to answer a question.
    Short,
    Stands,
}

impl Summary {
    /// The request alone.
    fn of(text: &str) -> Self {
        let words = tokens::read(text);
        let (own, pasted) = split_material(&words);
        let is = |marks: &[&str]| own.iter().any(|word| marks.contains(&word.text.as_str()));
        let material = pasted || is(&[CODE, QUOTE, URL, FILE, MATH]);
        let content = without_form(own);
        let (mut task, [risk, ambiguity, memory_need, tool_need], weight) = classify(&content);
        let spoken = content.iter().filter(|word| !word.is_break()).count();
        if task.is_none() && spoken > 0 && content.len() < own.len() && any(FORM_PHRASES, own) {
            task = Some(ESSENCE); // a bare subject, and how long the answer should be
        }
        let greets = find(GREETINGS, &content).is_some_and(|found| found.len() == spoken);
        let ambiguity = if material { 1 } else { ambiguity.max(vagueness(&content, task.is_none(), greets)) };
        if greets || (ambiguity >= NOBODY_KNOWS.0 && weight <= NOBODY_KNOWS.1) {
            task = None;
        }
        let looked_up = words.iter().any(|word| [URL, FILE].contains(&word.text.as_str()));
        let tool_need = if looked_up { tool_need.max(MATERIAL_TOOL) } else { tool_need };
        Self {
            task,
            weight,
            risk: level(risk, RISK, own),
            ambiguity,
            memory_need: level(memory_need, MEMORY, &content),
            tool_need: level(tool_need, TOOL, &content),
            brings: match material {
                false => Material::Nothing,
                true if words.iter().any(|word| word.text == CODE) => Material::Code,
                true => Material::Other,
            },
            manner: match spoken {
                _ if greets => Manner::Greets,
                FEW.. => Manner::Stands,
                _ if spoken == 0 || any(FOLLOW_UPS, &content) || (task.is_none() && spoken <= 3) => {
                    Manner::GoesOn
                }
                _ => Manner::Short,
            },
            points: any(POINTERS, &content),
        }
    }

    /// Whether the task is known by more than a guess, or there is none to be known.
    const fn is_settled(&self) -> bool {
        (self.task.is_some() && self.weight > LEAST)
            || matches!(self.manner, Manner::Greets)
            || self.ambiguity >= AMBIGUITY_ALONE
    }

    /// The same request after these exchanges.
    fn after(&mut self, request: &str, history: &[Turn<'_>]) {
        let Some(last) = history.last() else { return };
        let mut earlier = Earlier::of(history);
        let answers = last.answer.is_some_and(asks_back);
        let brings = self.brings != Material::Nothing;
        let points = self.points && !brings;
        let has_code = || last.answer.is_some_and(has_code);
        let code = points && (earlier.last().is_some_and(|last| last.brings == Material::Code) || has_code());
        if code && matches!(self.task, None | Some("factual" | "troubleshooting")) {
            (self.task, self.weight) = (Some("coding"), OWN);
        }
        if !brings && (self.manner == Manner::GoesOn || (answers && self.manner == Manner::Short)) {
            self.go_on(&mut earlier, answers);
        } else if points {
            self.point_back(&mut earlier);
        }
        let troubles = history.iter().rev().take(TROUBLES.0).filter(|turn| went_wrong(turn, request)).count();
        let raised = TROUBLES.1.saturating_mul((troubles as u8).saturating_sub(1));
        self.ambiguity = self.ambiguity.saturating_add(raised).min(9);
    }

    /// Goes on with the last request that stands for itself.
    fn go_on(&mut self, earlier: &mut Earlier<'_>, answers: bool) {
        let stands = |turn: &Self| turn.task.is_some() && turn.manner != Manner::GoesOn;
        let Some(before) = (0..LOOK_BACK).map_while(|back| earlier.read(back)).find(stands) else {
            return self.point_back(earlier);
        };
        if self.weight < OWN || self.task.is_none() {
            self.task = before.task;
            self.tool_need = self.tool_need.max(before.tool_need);
        }
        self.risk = self.risk.max(before.risk);
        self.ambiguity = self.ambiguity.min(if answers { before.ambiguity } else { POINTED });
        self.memory_need = self.memory_need.max(GOES_ON);
    }

    /// Points at something in the last exchange.
    fn point_back(&mut self, earlier: &mut Earlier<'_>) {
        let Some(before) = earlier.last() else { return };
        if !earlier.is_answered() && before.brings == Material::Nothing && before.task.is_none() {
            return; // nothing there to point at
        }
        self.ambiguity = self.ambiguity.min(POINTED);
        self.memory_need = self.memory_need.max(GOES_ON);
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

/// The exchanges before, each of which is read once, and only when it is asked for.
struct Earlier<'t> {
    turns: &'t [Turn<'t>],
    read: [Option<Summary>; LOOK_BACK],
}

impl<'t> Earlier<'t> {
    const fn of(turns: &'t [Turn<'t>]) -> Self {
        Self { turns, read: [None; LOOK_BACK] }
    }

    /// The request so many exchanges before the last one.
    fn read(&mut self, back: usize) -> Option<Summary> {
        let turn = self.turns.iter().rev().nth(back)?;
        self.read.get_mut(back).map(|read| *read.get_or_insert_with(|| Summary::of(turn.request)))
    }

    fn last(&mut self) -> Option<Summary> {
        self.read(0)
    }

    /// Whether the last exchange has an answer.
    const fn is_answered(&self) -> bool {
        matches!(self.turns.last(), Some(Turn { answer: Some(_), .. }))
    }
}

/// Whether a text is a request beyond doubt.
pub(crate) fn asks_for_much(text: &str) -> bool {
    let Summary { task, weight, .. } = Summary::of(text);
    task.is_some() && weight >= PLAIN
}

/// Whether a text has code in it.
fn has_code(text: &str) -> bool {
    tokens::read(text).iter().any(|word| word.text == CODE)
}

/// Whether an exchange went wrong: it was taken badly, or nothing is known of that and the same is asked again.
fn went_wrong(turn: &Turn<'_>, request: &str) -> bool {
    turn.reward.map_or_else(|| turn.request.trim() == request.trim(), |reward| reward < 0.0)
}

/// The words without instructions about the form of the answer.
fn without_form(words: &[Word]) -> Vec<Word> {
    let mut form: Vec<(usize, usize)> = Vec::new(); // places in the text
    let mut mark = |words: &[Word]| {
        if let (Some(first), Some(last)) = (words.first(), words.last()) {
            form.push((first.place.start, last.place.end));
        }
    };
    for clause in clauses(words) {
        let places = Places::of(clause.words);
        if places.any(FORM_CLAUSES) {
            mark(clause.words);
        } else {
            let phrases = FORM_PHRASES.iter().filter_map(|pattern| places.find(pattern));
            phrases.filter_map(|place| clause.words.get(place)).for_each(&mut mark);
        }
    }
    let counts =
        |word: &&Word| !form.iter().any(|(start, end)| word.place.start >= *start && word.place.end <= *end);
    words.iter().filter(|word| word.is_break() || counts(word)).cloned().collect()
}

/// A task, its levels and its weight.
type Weighed = (Option<&'static str>, [u8; 4], u8);

/// The heaviest task; where somebody tells something first and then asks, the heaviest of what is asked, if that names one.
fn classify(words: &[Word]) -> Weighed {
    let whole = heaviest(words);
    let sentences = words.split_inclusive(|word| matches!(word.text.as_str(), "." | "!" | "?" | "\n"));
    let said: Vec<&[Word]> = sentences.filter(|words| words.iter().any(|word| !word.is_break())).collect();
    let asks =
        |words: &&&[Word]| words.last().is_some_and(|word| word.text == "?") || any(REQUEST_STARTS, words);
    match said.iter().rev().find(asks).filter(|_| said.len() > 1).map(|words| heaviest(words)) {
        Some(asked) if asked.2 >= OWN && asked.0 != Some("factual") => asked,
        _ => whole,
    }
}

fn heaviest(words: &[Word]) -> Weighed {
    let mut best = (None, [1; 4], LEAST - 1);
    let calculates = calculates(words);
    let places = Places::of(words);
    for (task, levels, cues) in TASKS {
        let mut found: Vec<u8> =
            cues.iter().filter(|(_, pattern)| places.has(pattern)).map(|(weight, _)| *weight).collect();
        if *task == "analysis" && calculates {
            found.push(CALCULATION);
        }
        found.sort_unstable();
        let weight = found.pop().map_or(0, |first| first + found.len().min(3) as u8);
        if weight > best.2 {
            best = (Some(*task), *levels, weight);
        }
    }
    best
}

/// Whether numbers are to be worked with.
fn calculates(words: &[Word]) -> bool {
    let numbers = words.iter().filter(|word| has(NUMBERS, slice::from_ref(word))).count();
    let asks = words.iter().any(|word| word.text == "?");
    numbers >= 2 && (has(QUANTITIES, words) || (numbers >= 3 && asks))
}

/// The highest of a level and of the cues that match.
fn level(own: u8, cues: &[Cue], words: &[Word]) -> u8 {
    let places = Places::of(words);
    cues.iter().filter(|(_, pattern)| places.has(pattern)).map(|(tenths, _)| *tenths).fold(own, u8::max)
}

/// How unclear a request without material is.
fn vagueness(words: &[Word], no_task: bool, greets: bool) -> u8 {
    let spoken = words.iter().filter(|word| !word.is_break()).count();
    let few = no_task && spoken <= 2 && !greets;
    let own = match (greets, few) {
        (true, _) => AMBIGUITY_GREETING,
        (false, true) => AMBIGUITY_ALONE,
        (false, false) => 1,
    };
    level(own, VAGUE, words)
}
