//! A user's turn: what was said about the last answer is learned, what to do now is decided, and the assistant is told.

use super::caller::Caller;
use super::conversations::{Conversations, Decided, Shared, State, Turn, Waiting, lock};
use super::dialect::{Asked, Unread, Who};
use super::mode::Mode;
use super::splice::{Changes, splice};
use super::{Options, answer};
use crate::memory::{self, Exchange};
use crate::rules::Change;
use crate::serve::http::Front;
use crate::serve::{Answered, Code, Incoming, Op};
use crate::text::{self, Background, ContextAdapter, FeedbackAdapter, Reaction, RequestText, Rules, Situation};
use fable_core::catalog::MAX_COMPONENTS;
use fable_core::{Action, Catalog, Context, Deadline, DecisionId, Feasible};
use serde::Deserialize;
use serde_json::Value;
use std::borrow::Cow;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};
use tokio::sync::oneshot;

/// Exchanges that a context is made from.
const HISTORY: usize = 3;

/// Bytes of each of their texts, and of what the application says, that are read: it has to be quick.
const READ: usize = 512;

/// Bytes of a request and of an answer that are kept in memory.
const KEPT: usize = 2048;

/// A reaction that is no answer to a question, whatever was asked.
const LOUD: f64 = 0.6;

/// A tool that has to be used stands against a rule. To take it away would break the request.
const FORCED: Bypass = Bypass::new("infeasible: the request forces its tools, and the rules leave no action with them");

/// Why a request goes on as it came: the value of the header `x-fable-bypass`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Bypass(pub(super) Cow<'static, str>);

impl Bypass {
    pub(super) const fn new(reason: &'static str) -> Self {
        Self(Cow::Borrowed(reason))
    }
}

impl From<Unread> for Bypass {
    fn from(Unread(reason): Unread) -> Self {
        Self::new(reason)
    }
}

/// What becomes of a request.
#[derive(Debug)]
pub(super) struct Prepared {
    /// Another body, if the assistant is told something.
    pub(super) body: Option<Vec<u8>>,
    pub(super) turn: Shared,
    pub(super) decided: Decided,
}

/// What decides.
#[derive(Debug)]
pub(super) struct Decider {
    pub(super) front: Arc<Front>,
    pub(super) conversations: Conversations,
}

/// An answer to `decide`, as far as it is needed.
#[derive(Deserialize)]
struct DecideAnswer {
    decision: String,
    action: Value,
    instruction: String,
}

/// An answer to `profile` or `recall`, as far as it is needed.
#[derive(Deserialize)]
struct TextAnswer {
    text: String,
}

/// An answer to `rules`, as far as it is needed.
#[derive(Deserialize)]
struct WishAnswer {
    memory: Option<bool>,
}

impl Decider {
    /// Does what is to be done for a request.
    pub(super) async fn prepare(
        &self,
        options: &Options,
        caller: &Caller,
        body: &[u8],
        asked: &Asked,
    ) -> Result<Prepared, Bypass> {
        let place = self.conversations.place(&caller.user, caller.conversation.as_deref(), asked);
        let turn = if let Some(turn) = self.conversations.same(place, asked) {
            turn
        } else {
            let before = self.conversations.before(place);
            let (decided, request, carried) = self.decide(options, caller, asked, before.as_ref()).await?;
            self.conversations.keep(place, Turn::new(&caller.user, decided, request, place, carried))
        };
        let decided = {
            let mut turn = lock(&turn);
            turn.state = State::Working;
            turn.decided.clone()
        };
        if options.mode != Mode::Apply {
            return Ok(Prepared { body: None, turn, decided });
        }
        let tool = decided.action.get("tool").and_then(Value::as_str);
        let offer = options.tools.offer(asked, tool, options.filter_tools);
        let changes = Changes { instruction: &decided.instruction, role: options.role, offer: &offer };
        let body = splice(body, asked, &changes).ok_or(Bypass::new("the assistant has begun to answer: nothing can be added"))?;
        Ok(Prepared { body: Some(body), turn, decided })
    }

    /// Learns what the user says about the answer before, and decides; with what was asked, and what waits on.
    async fn decide(
        &self,
        options: &Options,
        caller: &Caller,
        asked: &Asked,
        before: Option<&Shared>,
    ) -> Result<(Decided, String, Vec<Waiting>), Bypass> {
        let said = asked.by_user().next_back().unwrap_or_default();
        let heard = Heard::of(said, before);
        let at = options.now();
        if options.mode == Mode::Apply {
            for &(decision, reward) in &heard.rewards {
                // Whoever has had a reward keeps it; what comes of it is not waited for.
                let _ = self.front.ask_op(Op::Feedback { decision, reward, weight: 1.0, at });
            }
        }
        let catalog = self.front.catalog();
        let remembers = self.remembers(options, &caller.user).await?;
        let feasible = options.tools.feasible(catalog, asked, remembers).map_err(|_| Bypass::new("nothing can be chosen"))?;
        let context = match &caller.context {
            Some(said) => stated(catalog, said)?,
            None => read(catalog, asked, &heard, before, &feasible)?,
        };
        let op = Op::Decide { user: caller.user.clone(), context, feasible, defaults: None, propensities: None, at };
        let forced = options.tools.forces(asked);
        let refused = |bypass| if forced && bypass == Bypass(refused(Code::Infeasible)) { FORCED } else { bypass };
        let answer: DecideAnswer = self.answer(op).await.map_err(refused)?;
        let id = answer.decision.parse().map_err(|_| Bypass::new("internal"))?;
        let known = self.known(caller, &answer.action, heard.request).await?;
        let instruction = format!("{known}For this answer: {}", answer.instruction);
        tracing::info!(decision = %id, action = %answer.action, "decided");
        let carried = if options.mode == Mode::Apply { heard.carried } else { Vec::new() };
        let chosen = chosen(catalog, &answer.action);
        Ok((Decided { id, chosen, action: answer.action, instruction }, clipped(said).to_owned(), carried))
    }

    /// What is known about the user, as far as the chosen memory lets the assistant know.
    async fn known(&self, caller: &Caller, action: &Value, request: &str) -> Result<String, Bypass> {
        let name = action.get(memory::COMPONENT).and_then(Value::as_str);
        let mode = name.and_then(memory::Mode::of);
        if mode == Some(memory::Mode::Nothing) {
            return Ok(String::new());
        }
        let user = || caller.user.clone();
        let TextAnswer { text: profile } = self.answer(Op::Profile { user: user() }).await?;
        let profile = if profile.is_empty() { profile } else { format!("About the user: {profile}\n") };
        // What is certain has been told already.
        let Some(name) = name.filter(|_| mode != Some(memory::Mode::Profile)) else { return Ok(profile) };
        let recall = Op::Recall { user: user(), memory: name.to_owned(), request: request.to_owned() };
        let TextAnswer { text: recalled } = self.answer(recall).await?;
        Ok(if recalled.is_empty() { profile } else { format!("{profile}{recalled}\n") })
    }

    /// Whether what is exchanged with a user is kept.
    async fn remembers(&self, options: &Options, user: &str) -> Result<bool, Bypass> {
        if !options.memory {
            return Ok(false);
        }
        let WishAnswer { memory: wish } = self.answer(Op::Wish { user: user.to_owned(), change: Change::Nothing }).await?;
        Ok(memory::may_remember(true, wish))
    }

    /// There is an answer to a turn, or tools are to be used for one.
    pub(super) fn answered(&self, remembers: bool, user: &str, turn: &Shared, heard: &answer::Heard) {
        if self.conversations.has_forgotten(&lock(turn)) {
            return; // nothing of it is kept
        }
        if let Some(id) = &heard.id {
            self.conversations.call(user, id, turn);
        }
        let mut turn = lock(turn);
        if heard.calls {
            turn.state = State::Working;
            return;
        }
        turn.state = State::Answered { asks: text::asks_back(&heard.text) };
        clipped(&heard.text).clone_into(&mut turn.answer);
        if remembers && !turn.request.is_empty() && !heard.text.is_empty() {
            let exchange = Exchange::new(&turn.request, &heard.text, seconds());
            // Whoever does not want it is not remembered; what comes of it is not waited for.
            let _ = self.front.ask_op(Op::Remember { user: user.to_owned(), exchange });
        }
    }

    async fn answer<A: for<'a> Deserialize<'a>>(&self, op: Op) -> Result<A, Bypass> {
        let answer = self.front.ask_op(op).ok_or(Bypass::new("busy"))?;
        answered(answer).await
    }
}

async fn answered<A: for<'a> Deserialize<'a>>(answer: oneshot::Receiver<Answered>) -> Result<A, Bypass> {
    let Answered { json, code } = answer.await.map_err(|_| Bypass::new("the service is ending"))?;
    match code {
        None => serde_json::from_slice(&json).map_err(|_| Bypass::new("internal")),
        Some(code) => Err(Bypass(refused(code))),
    }
}

fn refused(code: Code) -> Cow<'static, str> {
    let name = serde_json::to_value(code).ok().and_then(|name| name.as_str().map(str::to_owned));
    name.map_or(Cow::Borrowed("internal"), Cow::Owned)
}

/// What the user's words say about the answer before, and what they ask.
struct Heard<'a> {
    rewards: Vec<(DecisionId, f64)>,
    /// The last answer's, if there is one.
    reward: Option<f64>,
    request: &'a str,
    carried: Vec<Waiting>,
}

impl<'a> Heard<'a> {
    fn of(said: &'a str, before: Option<&Shared>) -> Self {
        let nothing = |carried| Self { rewards: Vec::new(), reward: None, request: said, carried };
        let Some(before) = before else { return nothing(Vec::new()) };
        let mut before = lock(before);
        if !matches!(before.state, State::Answered { .. }) {
            return nothing(Vec::new());
        }
        let text::Said { reaction, request } = text::split(said);
        let asked = before.state == (State::Answered { asks: true });
        // What follows a question is its answer, unless it says loud and clear what was wrong with asking.
        let loud = |reaction| Rules.feedback(Reaction::new(reaction)).value.is_some_and(|said| said.reward().abs() > LOUD);
        let Some(reaction) = reaction.filter(|reaction| !asked || loud(reaction)) else { return nothing(before.carried()) };
        let judge = |waiting: &Waiting| {
            let reaction = Reaction { clarifications: waiting.clarifications, ..Reaction::new(reaction) };
            Some((waiting.decision, Rules.feedback(reaction).value?.reward()))
        };
        let rewards: Vec<(DecisionId, f64)> = before.waiting.iter().filter_map(judge).collect();
        before.waiting.clear(); // one reaction counts
        let reward = rewards.last().map(|(_, reward)| *reward);
        Self { rewards, reward, request: request.unwrap_or(said), carried: Vec::new() }
    }
}

/// The action with these names.
fn chosen(catalog: &Catalog<'_>, action: &Value) -> Option<Action> {
    let mut values = [0; MAX_COMPONENTS];
    for (place, (component, slot)) in catalog.definition().components.iter().zip(&mut values).enumerate() {
        *slot = catalog.value(place, action.get(component.name)?.as_str()?)?;
    }
    catalog.action(values.get(..catalog.definition().components.len())?)
}

/// A context that the application states.
fn stated(catalog: &Catalog<'_>, said: &str) -> Result<Context, Bypass> {
    let line = format!(r#"{{"user":"-","context":{said}}}"#);
    match Incoming::of_op(catalog, "decide", line.as_bytes()).op {
        Ok(Op::Decide { context, .. }) => Ok(context),
        _ => Err(Bypass::new("x-fable-context is no context of the catalog")),
    }
}

/// A context as the rules read it from what was said.
fn read(
    catalog: &Catalog<'_>,
    asked: &Asked,
    heard: &Heard<'_>,
    before: Option<&Shared>,
    feasible: &Feasible,
) -> Result<Context, Bypass> {
    let before = before.map(lock);
    let history = history(asked, before.as_deref(), heard.reward);
    let situation = Situation::new(RequestText::new(heard.request)).after(&history).allowing(feasible);
    let reading = Rules.context(catalog, situation.with_background(Background::new(beginning(&asked.background, READ))));
    reading.map(|reading| reading.value).map_err(|_| Bypass::new("the catalog needs x-fable-context"))
}

/// The exchanges before a request: those that it repeats, or the one that is in memory; of the last one also what was chosen and what it
/// was worth.
fn history<'a>(asked: &'a Asked, before: Option<&'a Turn>, reward: Option<f64>) -> Vec<text::Turn<'a>> {
    let mut turns: Vec<text::Turn<'a>> = Vec::new();
    for said in &asked.said {
        match (said.who, turns.last_mut()) {
            (Who::User, _) => turns.push(text::Turn { request: &said.text, answer: None, action: None, reward: None }),
            (Who::Assistant, Some(turn)) if !said.text.is_empty() => turn.answer = Some(&said.text),
            _ => {}
        }
    }
    turns.pop(); // what is asked now
    if let Some(before) = before {
        if turns.is_empty() {
            turns.push(text::Turn { request: &before.request, answer: Some(&before.answer), action: None, reward: None });
        }
        if let Some(last) = turns.last_mut() {
            (last.action, last.reward) = (before.decided.chosen, reward);
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
fn clipped(text: &str) -> &str {
    beginning(text, KEPT)
}

fn beginning(text: &str, most: usize) -> &str {
    text.get(..text.floor_char_boundary(most)).unwrap_or(text)
}

/// The last bytes of a text: where a question is.
fn end(text: &str, most: usize) -> &str {
    text.get(text.ceil_char_boundary(text.len().saturating_sub(most))..).unwrap_or(text)
}

impl Options {
    /// Seconds, where a deadline counts them; otherwise the time of a request is not kept.
    fn now(&self) -> u32 {
        if matches!(self.deadline, Deadline::Time(_)) { seconds() } else { 0 }
    }
}

/// What a clock says.
fn seconds() -> u32 {
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u32::try_from(elapsed.as_secs()).unwrap_or(u32::MAX)
}
