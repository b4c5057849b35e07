//! A user's turn: what was said about the last answer is learned, what to do now is decided, and the assistant is told.

use super::caller::Caller;
use super::conversations::{Conversations, Decided, Place, Shared, State, Turn, lock};
use super::dialect::{Asked, Tail, Unread};
use super::heard::{Heard, clipped, read};
use super::mode::Mode;
use super::splice::{Changes, splice};
use super::{Options, answer};
use crate::catalogs::lookup::effect_name;
use crate::memory::{self, Exchange};
use crate::rules::{self, Change};
use crate::serve::http::Front;
use crate::serve::{Answered, Code, Incoming, Op};
use crate::text;
use fable_core::catalog::Effect;
use fable_core::catalog::{Condition, MAX_COMPONENTS, Part};
use fable_core::settings::Deadline;
use fable_core::{Action, Catalog, Context, Feasible, Rule};
use serde::Deserialize;
use serde_json::Value;
use std::borrow::Cow;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};
use tokio::sync::oneshot;

/// The assistant is to go on with words of its own.
const BEGUN: Bypass = Bypass::new("the assistant has begun to answer: nothing can be added");

/// A tool that has to be used stands against a rule. To take it away would break the request.
const FORCED: Bypass =
    Bypass::new("infeasible: the request forces its tools, and the rules leave no action with them");

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
    rules: Vec<RuleAnswer>,
}

/// A user's own rule.
#[derive(Deserialize)]
struct RuleAnswer {
    effect: String,
    values: Vec<String>,
    when: Option<String>,
}

impl WishAnswer {
    /// What the rules leave that hold whatever the context is, the catalog's and the user's own; `leave` knows what else there is.
    fn hard(
        &self,
        catalog: &Catalog<'_>,
        leave: impl FnOnce(&[Rule<'_>]) -> Option<Feasible>,
    ) -> Option<Feasible> {
        let always = |rule: &&RuleAnswer| rule.when.is_none();
        let own: Vec<(Effect, u8, Vec<u8>)> =
            self.rules.iter().filter(always).filter_map(|rule| rule.part(catalog)).collect();
        let parts: Vec<(Effect, [Part<'_>; 1])> = own
            .iter()
            .map(|(effect, component, values)| (*effect, [Part::new(*component, values)]))
            .collect();
        let own = parts.iter().map(|(effect, part)| Rule { name: "own", effect: *effect, pattern: part });
        let declared = catalog.rules().iter().filter(|standing| standing.when == Condition::Always);
        leave(&declared.map(|standing| standing.rule).chain(own).collect::<Vec<_>>())
    }
}

impl RuleAnswer {
    fn part(&self, catalog: &Catalog<'_>) -> Option<(Effect, u8, Vec<u8>)> {
        let effect = [Effect::Forbid, Effect::Require]
            .into_iter()
            .find(|effect| effect_name(*effect) == self.effect)?;
        let values = rules::values(catalog, &self.values.join(" ")).ok()?;
        Some((effect, values.first()?.0, values.iter().map(|(_, value)| *value).collect()))
    }
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
        if options.mode == Mode::Apply && asked.tail == Tail::Begun {
            return Err(BEGUN); // before anything is decided that nobody would be told
        }
        let turn = match self.conversations.same(place, asked) {
            Some(turn) => turn,
            None => self.conversations.keep(self.decide(options, caller, asked, place).await?),
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
        let body = splice(body, asked, &changes).ok_or(BEGUN)?;
        Ok(Prepared { body: Some(body), turn, decided })
    }

    /// Learns what the user says about the answer before, and decides.
    async fn decide(
        &self,
        options: &Options,
        caller: &Caller,
        asked: &Asked,
        place: Place,
    ) -> Result<Turn, Bypass> {
        let said = asked.by_user().next_back().unwrap_or_default();
        let before = self.conversations.before(place, asked);
        let heard = Heard::of(said, before.as_ref());
        let earlier = before.map_or_else(Vec::new, |before| lock(&before).and_before());
        let at = options.now();
        if options.mode == Mode::Apply {
            for &(decision, reward) in &heard.rewards {
                // Whoever has had a reward keeps it; what comes of it is not waited for.
                let _ = self.front.ask_op(Op::Feedback { decision, reward, weight: 1.0, at });
            }
        }
        let catalog = self.front.catalog();
        let wishes: WishAnswer =
            self.answer(Op::Wish { user: caller.user.clone(), change: Change::Nothing }).await?;
        let remembers = options.memory && memory::may_remember(true, wishes.memory);
        let feasible = options
            .tools
            .feasible(catalog, asked, remembers, &[])
            .map_err(|_| Bypass::new("nothing can be chosen"))?;
        let context = if let Some(said) = &caller.context {
            stated(catalog, said)?
        } else {
            // Where the rules leave nothing, that is told when it is decided.
            let hard =
                wishes.hard(catalog, |rules| options.tools.feasible(catalog, asked, remembers, rules).ok());
            read(catalog, asked, heard.request, &earlier, hard.as_ref().unwrap_or(&feasible))?
        };
        let op = Op::Decide {
            user: caller.user.clone(),
            context,
            feasible,
            defaults: None,
            propensities: None,
            at,
        };
        let forced = options.tools.forces(asked);
        let refused =
            |bypass| if forced && bypass == Bypass(refused(Code::Infeasible)) { FORCED } else { bypass };
        let answer: DecideAnswer = self.answer(op).await.map_err(refused)?;
        let id = answer.decision.parse().map_err(|_| Bypass::new("internal"))?;
        let known = self.known(caller, &answer.action, heard.request).await?;
        let instruction = format!("{known}For this answer: {}", answer.instruction);
        tracing::info!(decision = %id, action = %answer.action, "decided");
        let carried = if options.mode == Mode::Apply { heard.carried } else { Vec::new() };
        let chosen = chosen(catalog, &answer.action);
        let decided = Decided { id, chosen, action: answer.action, instruction };
        Ok(Turn::new(&caller.user, decided, clipped(said).to_owned(), place, carried).after(earlier))
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

    /// There is an answer to a turn, or tools are to be used for one.
    pub(super) fn answered(&self, remembers: bool, user: &str, turn: &Shared, heard: &answer::Heard) {
        if self.conversations.has_forgotten(&lock(turn)) {
            return; // nothing of it is kept
        }
        if let Some(id) = &heard.id {
            self.conversations.call(user, id, turn);
        }
        if heard.calls {
            lock(turn).state = State::Working;
            return;
        }
        self.conversations.settle(turn, &heard.text);
        let mut turn = lock(turn);
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
