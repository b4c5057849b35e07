//! What a user's words say: about the answer before, and about what is asked now.

use super::conversations::{Earlier, Shared, State, Waiting, lock};
use super::dialect::{Asked, Who};
use super::turn::Bypass;
use crate::text::{
    self, Background, ContextAdapter, FeedbackAdapter, Reaction, RequestText, Rules, Situation,
};
use fable_core::{Catalog, Context, DecisionId, Feasible};

/// Exchanges that a context is made from.
const HISTORY: usize = 3;

/// Bytes of each of their texts, and of what the application says, that are read: it has to be quick.
const READ: usize = 512;

/// Bytes of a request and of an answer that are kept in memory.
const KEPT: usize = 2048;

/// A reaction that is no answer to a question, whatever was asked.
const LOUD: f64 = 0.6;

/// What the user's words say about the answer before, and what they ask.
pub(super) struct Heard<'a> {
    pub(super) rewards: Vec<(DecisionId, f64)>,
    pub(super) request: &'a str,
    /// What waits on.
    pub(super) carried: Vec<Waiting>,
}

impl<'a> Heard<'a> {
    pub(super) fn of(said: &'a str, before: Option<&Shared>) -> Self {
        let nothing = |carried| Self { rewards: Vec::new(), request: said, carried };
        let Some(before) = before else { return nothing(Vec::new()) };
        let mut before = lock(before);
        if !matches!(before.state, State::Answered { .. }) {
            return nothing(Vec::new());
        }
        let text::Said { reaction, request } = text::split(said);
        let asked = before.state == (State::Answered { asks: true });
        // What follows a question is its answer, unless it says loud and clear what was wrong with asking.
        let loud = |reaction| {
            Rules.feedback(Reaction::new(reaction)).value.is_some_and(|said| said.reward().abs() > LOUD)
        };
        let Some(reaction) = reaction.filter(|reaction| !asked || loud(reaction)) else {
            return nothing(before.carried(said));
        };
        let judge = |waiting: &Waiting| {
            let reaction = Reaction { clarifications: waiting.clarifications, ..Reaction::new(reaction) };
            Some((waiting.decision, Rules.feedback(reaction).value?.reward()))
        };
        let rewards: Vec<(DecisionId, f64)> = before.waiting.iter().filter_map(judge).collect();
        before.waiting.clear(); // one reaction counts
        before.reward = before.reward.or(rewards.last().map(|(_, reward)| *reward)); // the first one counts
        Self { rewards, request: request.unwrap_or(said), carried: Vec::new() }
    }
}

/// A context as the rules read it from what was said, after these turns, while only this may be done.
pub(super) fn read(
    catalog: &Catalog<'_>,
    asked: &Asked,
    request: &str,
    earlier: &[Earlier],
    hard: &Feasible,
) -> Result<Context, Bypass> {
    let history = history(asked, earlier);
    let situation = Situation::new(RequestText::new(request)).after(&history).allowing(hard);
    let reading = Rules
        .context(catalog, situation.with_background(Background::new(beginning(&asked.background, READ))));
    reading.map(|reading| reading.value).map_err(|_| Bypass::new("the catalog needs x-fable-context"))
}

/// The exchanges before a request: those that it repeats, or those that are in memory; with what was chosen and what it was worth, as far
/// as that is known.
fn history<'a>(asked: &'a Asked, earlier: &'a [Earlier]) -> Vec<text::Turn<'a>> {
    let mut turns: Vec<text::Turn<'a>> = Vec::new();
    for said in &asked.said {
        match (said.who, turns.last_mut()) {
            (Who::User, _) => turns.push(text::Turn::new(&said.text)),
            (Who::Assistant, Some(turn)) if !said.text.is_empty() => turn.answer = Some(&said.text),
            _ => {}
        }
    }
    turns.pop(); // what is asked now
    if turns.is_empty() {
        turns.extend(earlier.iter().map(|known| text::Turn::new(&known.request).answered(&known.answer)));
    }
    for (turn, known) in turns.iter_mut().rev().zip(earlier.iter().rev()) {
        if beginning(turn.request, READ) == beginning(&known.request, READ) {
            (turn.action, turn.reward) = (known.chosen, known.reward);
        }
    }
    let skipped = turns.len().saturating_sub(HISTORY);
    let mut turns = turns.split_off(skipped);
    for turn in &mut turns {
        turn.request = beginning(turn.request, READ);
        turn.answer = turn.answer.map(|answer| end(answer, READ));
    }
    turns
}

/// The beginning of a text, as much as is kept in memory.
pub(super) fn clipped(text: &str) -> &str {
    beginning(text, KEPT)
}

fn beginning(text: &str, most: usize) -> &str {
    text.get(..text.floor_char_boundary(most)).unwrap_or(text)
}

/// The last bytes of a text: where a question is.
fn end(text: &str, most: usize) -> &str {
    text.get(text.ceil_char_boundary(text.len().saturating_sub(most))..).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proxy::dialect::Dialect;
    use fable_core::catalog::AGENT;

    fn asked(messages: &[(&str, &str)]) -> Asked {
        let messages: Vec<_> = messages
            .iter()
            .map(|(role, content)| serde_json::json!({ "role": role, "content": content }))
            .collect();
        Asked::read(Dialect::Chat, serde_json::json!({ "messages": messages }).to_string().as_bytes())
            .unwrap()
    }

    fn earlier(request: &str, reward: f64) -> Earlier {
        let chosen = AGENT.action(&[0, 0, 0]);
        Earlier { request: request.into(), answer: "They rise.".into(), chosen, reward: Some(reward) }
    }

    #[test]
    fn what_went_wrong_before_is_known_of_more_than_the_last_turn() {
        let known = [earlier("a", -0.5), earlier("b", -0.6), earlier("c", -0.7)];
        let rewards =
            |asked: &Asked| history(asked, &known).iter().map(|turn| turn.reward).collect::<Vec<_>>();
        let all = asked(&[
            ("user", "a"),
            ("assistant", "x"),
            ("user", "b"),
            ("user", "c"),
            ("assistant", "y"),
            ("user", "d"),
        ]);
        assert_eq!(rewards(&all), [Some(-0.5), Some(-0.6), Some(-0.7)]);
        // A request that repeats nothing, as in a conversation with a name.
        assert_eq!(rewards(&asked(&[("user", "d")])), [Some(-0.5), Some(-0.6), Some(-0.7)]);
        // Of one that is not as it was only what is as it was.
        assert_eq!(rewards(&asked(&[("user", "z"), ("user", "c"), ("user", "d")])), [None, Some(-0.7)]);

        let feasible = Feasible::new(&AGENT, &[]).unwrap();
        let ambiguity = |known: &[Earlier]| read(&AGENT, &all, "d", known, &feasible).unwrap().signals()[1];
        assert!(
            ambiguity(&known) > ambiguity(&known[2..]),
            "{} {}",
            ambiguity(&known),
            ambiguity(&known[2..])
        );
    }
}
