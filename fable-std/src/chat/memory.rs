//! What the assistant is told of before, which is as much as the chosen value of the component `memory` says.
//!
//! | value | what is sent beside the instruction and the request |
//! |---|---|
//! | `no_memory` (in `tau2`: `current_turn`) | nothing, and the instruction is without what is certain about the person |
//! | `recent_memory` (`conversation`), or a catalog without such a component | the last exchanges, as messages |
//! | `semantic_memory` | the exchanges that match best, quoted after the instruction |
//! | `preference_memory` | what the person has stated, quoted after the instruction |
//! | `profile_summary`, any other | nothing: what is certain about the person is in the instruction |
//!
//! Where rules leave nothing but `no_memory`, a model that reads requests is sent none of the exchanges before them either. A rule that holds in some contexts only
//! cannot be known to hold before the request is read.
//!
//! Exchanges of this chat are there in any case; those of before if memory is on, for they are in the store then. They are compared with the request by
//! vectors if the endpoint has a model for these, and by words if it has not or fails.

use super::person::Person;
use super::{ChatError, Reply};
use crate::llm::Llm;
use crate::memory::vectors::Cache;
use crate::memory::{Bounds, COMPONENT, Exchange, Memory, Mode, Sources, recall_ranked, words};
use fable_core::{Action, Catalog, Feasible};

/// Characters of a request or an answer that are shown.
const SHOWN: usize = 120;

/// The exchanges of this chat, and vectors of those that were compared.
#[derive(Debug, Default)]
pub(super) struct Recollection {
    session: Memory,
    vectors: Cache,
}

/// What goes with a request.
#[derive(Debug, Default)]
pub(super) struct Before {
    /// As messages, the oldest first.
    pub(super) messages: Vec<Exchange>,
    /// After the instruction.
    pub(super) text: String,
}

/// What the value of the component `memory` in an action brings back; `None` for a value of another name.
pub(super) fn mode(catalog: &Catalog<'_>, action: Action) -> Option<Mode> {
    let Some(component) = catalog.component(COMPONENT) else { return Some(Mode::Recent) };
    let value = *catalog.values(action)?.get(component)?;
    Mode::of(catalog.definition().components.get(component)?.values.get(usize::from(value))?.name)
}

/// Whether whatever is left to be done goes without memory.
pub(super) fn is_forbidden(catalog: &Catalog<'_>, left: &Feasible) -> bool {
    left.set().iter().all(|action| mode(catalog, action) == Some(Mode::Nothing))
}

/// Whether what is certain about the person may be told.
pub(super) fn tells_profile(mode: Option<Mode>) -> bool {
    mode != Some(Mode::Nothing)
}

impl Recollection {
    /// What a mode brings back for a request.
    pub(super) fn before(
        &mut self,
        person: &Person<'_>,
        assistant: Option<&Llm>,
        mode: Option<Mode>,
        request: &str,
        reply: &mut Reply,
    ) -> Before {
        let Some(mode) = mode else { return Before::default() };
        let memory = if mode.is_exchanges() { self.all(person, reply) } else { Memory::default() };
        let stated = if mode == Mode::Stated { person.stated() } else { Ok(Vec::new()) };
        let stated = stated.unwrap_or_else(|error| {
            reply.add("no memory", error);
            Vec::new()
        });
        let ranked =
            if mode == Mode::Semantic { self.rank(assistant, &memory, request, reply) } else { Vec::new() };
        let recalled =
            recall_ranked(mode, &ranked, &Sources { memory: &memory, stated: &stated, profile: "" });
        match (mode, recalled.exchanges.len()) {
            (Mode::Recent, 1) => reply.add("memory", "the last exchange"),
            (Mode::Recent, count @ 2..) => reply.add("memory", format!("the last {count} exchanges")),
            (Mode::Semantic, 1) => reply.add("memory", "the exchange that matches best"),
            (Mode::Semantic, count @ 2..) => {
                reply.add("memory", format!("the {count} exchanges that match best"));
            }
            (Mode::Stated, _) if !stated.is_empty() => reply.add("memory", "what you have stated"),
            _ => {}
        }
        match mode {
            Mode::Recent => Before { messages: recalled.exchanges, text: String::new() },
            _ => Before { messages: Vec::new(), text: recalled.text },
        }
    }

    /// The positions of exchanges that match a request, the best first: by vectors, or by words.
    fn rank(
        &mut self,
        assistant: Option<&Llm>,
        memory: &Memory,
        request: &str,
        reply: &mut Reply,
    ) -> Vec<usize> {
        if let Some(llm) = assistant.filter(|llm| llm.has_embeddings()) {
            match self.vectors.rank(memory.exchanges(), request, |texts| llm.embed(texts)) {
                Ok(ranked) => return ranked,
                Err(error) => reply.add("by words", error),
            }
        }
        words::rank(memory.exchanges(), request)
    }

    /// What was exchanged before, in this chat and, if memory is on, in others. Without a store that can be read this chat is all there is.
    fn all(&self, person: &Person<'_>, reply: &mut Reply) -> Memory {
        if !person.may_remember() {
            return self.session.clone();
        }
        let stored = person.memory().unwrap_or_else(|error| {
            reply.add("no memory", error);
            Memory::default()
        });
        let unkept = self
            .session
            .exchanges()
            .iter()
            .filter(|exchange| !stored.exchanges().contains(exchange))
            .cloned();
        let unkept: Vec<Exchange> = unkept.collect();
        Memory::from([stored.into_exchanges(), unkept].concat())
    }

    /// An answer was given; it is kept if memory is on.
    pub(super) fn answered(
        &mut self,
        person: &mut Person<'_>,
        (request, answer): (&str, &str),
        now: u32,
    ) -> Result<(), ChatError> {
        let exchange = Exchange::new(request, answer, now);
        self.session.push(exchange.clone(), &Bounds::default());
        if person.may_remember() { person.remember(&exchange) } else { Ok(()) }
    }

    /// Nothing was ever said.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}

/// What `/memory` shows.
pub(super) fn show(person: &Person<'_>, reply: &mut Reply) -> Result<(), ChatError> {
    let memory = person.memory()?;
    for exchange in memory.exchanges() {
        reply.add("memory", format!("\"{}\" / \"{}\"", shown(&exchange.request), shown(&exchange.answer)));
    }
    let kept = match memory.exchanges().len() {
        0 => "Nothing of what was said is kept".to_owned(),
        1 => "1 exchange is kept; /memory forget erases it".to_owned(),
        count => format!("{count} exchanges are kept; /memory forget erases them"),
    };
    let from_now =
        if person.may_remember() { "memory is on: the next answers are kept, too" } else { "memory is off" };
    reply.plain(format!("{kept}. From now on {from_now}."));
    Ok(())
}

/// The beginning of a text, on one line.
fn shown(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= SHOWN { line } else { line.chars().take(SHOWN).chain("...".chars()).collect() }
}
