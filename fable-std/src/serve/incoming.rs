//! A line as an op in the catalog's own terms: every name looked up, every list complete.
//!
//! Lines are read on a thread of their own, so all of this is work that the learners need not wait for. What a number has
//! to be like is for `fable_core` to say.

use super::json::{self, Line, Name, Object, Pattern};
use super::op::{MAX_DRAWS, MAX_NAME, Op};
use super::read::{Past, ReadAs, Words};
use super::refusal::{Code, Refusal};
use crate::catalogs::lookup;
use crate::memory::{COMPONENT, Exchange};
use crate::rules::{self, Change};
use fable_core::catalog::{Direction, Effect, When};
use fable_core::preference::Comparison;
use fable_core::{Action, Catalog, Context, DecisionId, Feasible, Statement, UserError};
use serde_json::value::RawValue;

/// A line that was read: who asked, and what, or why not.
#[derive(Debug)]
pub struct Incoming {
    /// Echoed in the answer.
    pub id: Option<Box<RawValue>>,
    /// What is asked, or what is wrong with it.
    pub op: Result<Op, Refusal>,
}

impl Incoming {
    /// Reads a line.
    ///
    /// ```
    /// use fable_core::catalog::TAU2;
    /// use fable_std::serve::{Code, Incoming, Op};
    /// let read = |line: &str| Incoming::read(&TAU2, line.as_bytes());
    /// let asked = read(r#"{"op":"profile","user":"ana","id":7}"#);
    /// assert_eq!(asked.id.unwrap().get(), "7");
    /// assert_eq!(asked.op, Ok(Op::Profile { user: "ana".into() }));
    /// assert_eq!(read(r#"{"op":"stats","user":"ana"}"#).op.unwrap_err().code, Code::BadRequest);
    /// ```
    #[must_use]
    pub fn read(catalog: &Catalog<'_>, line: &[u8]) -> Self {
        match Line::parse(line) {
            Ok(mut line) => Self { id: line.id.map(ToOwned::to_owned), op: named(catalog, &mut line) },
            Err(refusal) => Self { id: json::id_of(line).map(ToOwned::to_owned), op: Err(refusal) },
        }
    }

    /// Reads the keys of an op that was named elsewhere, as in the path of a request over HTTP.
    ///
    /// ```
    /// use fable_core::catalog::TAU2;
    /// use fable_std::serve::{Incoming, Op};
    /// let asked = Incoming::of_op(&TAU2, "profile", br#"{"user":"ana"}"#);
    /// assert_eq!(asked.op, Ok(Op::Profile { user: "ana".into() }));
    /// ```
    #[must_use]
    pub fn of_op(catalog: &Catalog<'_>, name: &str, body: &[u8]) -> Self {
        match Line::parse(body) {
            Ok(line) if line.op.is_some() => {
                let refusal =
                    Refusal::new(Code::BadRequest, "'op' is no key here: the op has been named already");
                Self { id: line.id.map(ToOwned::to_owned), op: Err(refusal) }
            }
            Ok(line) => Self { id: line.id.map(ToOwned::to_owned), op: op(catalog, name, line) },
            Err(refusal) => Self { id: json::id_of(body).map(ToOwned::to_owned), op: Err(refusal) },
        }
    }

    /// A line that is longer than what is read.
    #[must_use]
    pub fn too_long(limit: usize) -> Self {
        Self {
            id: None,
            op: Err(Refusal::new(Code::TooLong, format_args!("a line can have at most {limit} bytes"))),
        }
    }
}

/// Every op of the protocol.
pub const OPS: [&str; 26] = [
    "onboard",
    "decide",
    "recommend",
    "feedback",
    "observe",
    "unlearn",
    "waiting",
    "posterior",
    "contrast",
    "explain",
    "profile",
    "promote",
    "rules",
    "forbid",
    "require",
    "allow",
    "switch",
    "remember",
    "recall",
    "memories",
    "unremember",
    "forget",
    "export",
    "backup",
    "read",
    "stats",
];

/// The keys of an op, `op` and `id` aside.
pub(super) fn keys(op: &str) -> Option<&'static [&'static str]> {
    Some(match op {
        "onboard" => &["user", "statements"],
        "decide" => &["user", "context", "forbid", "require", "only", "defaults", "propensities", "at"],
        "recommend" => &["user", "context", "forbid", "require", "only", "defaults"],
        "feedback" => &["decision", "reward", "weight", "at"],
        "observe" => &["user", "context", "action", "reward", "weight", "defaults", "at"],
        "unlearn" => &["decision"],
        "posterior" | "profile" | "forget" | "export" | "rules" | "memories" | "unremember" => &["user"],
        "forbid" | "require" => &["user", "values", "when", "words"],
        "allow" => &["user", "values"],
        "switch" => &["user", "layer", "memory"],
        "remember" => &["user", "request", "answer", "at"],
        "recall" => &["user", "mode", "request"],
        "contrast" => &["user", "name", "context", "prefer", "over", "total", "forbid", "require", "only"],
        "explain" => &["decision", "against", "defaults"],
        "promote" | "waiting" => &["user", "at"],
        "backup" => &["file"],
        "read" => &["text", "as", "history", "background", "forbid", "require", "only"],
        "stats" => &[],
        _ => return None,
    })
}

fn named(catalog: &Catalog<'_>, line: &mut Line<'_>) -> Result<Op, Refusal> {
    let Name(name) = needed("op", line.op.take())?;
    op(catalog, &name, std::mem::take(line))
}

fn op(catalog: &Catalog<'_>, name: &str, line: Line<'_>) -> Result<Op, Refusal> {
    let Some(keys) = keys(name) else {
        return Err(Refusal::new(Code::UnknownOp, format_args!("there is no op '{name}'")));
    };
    if let Some(key) = line.keys().find(|key| !keys.contains(key)) {
        return Err(Refusal::new(Code::BadRequest, format_args!("'{key}' is no key of op '{name}'")));
    }
    Ok(match name {
        "onboard" => {
            let statements = needed("statements", line.statements)?;
            let statements = statements
                .into_iter()
                .map(|Object(words)| statement(catalog, &words))
                .collect::<Result<_, _>>()?;
            Op::Onboard { user: user(line.user)?, statements }
        }
        "decide" => {
            if line.propensities.is_some_and(|draws| draws > MAX_DRAWS) {
                return Err(Refusal::new(
                    Code::OutOfRange,
                    format_args!("propensities must be from 0 to {MAX_DRAWS} draws"),
                ));
            }
            Op::Decide {
                user: user(line.user)?,
                context: context(catalog, line.context)?,
                feasible: feasible(
                    catalog,
                    [line.forbid.as_ref(), line.require.as_ref(), line.only.as_ref()],
                )?,
                defaults: line.defaults,
                propensities: line.propensities,
                at: line.at.unwrap_or(0),
            }
        }
        "recommend" => Op::Recommend {
            user: user(line.user)?,
            context: context(catalog, line.context)?,
            feasible: feasible(catalog, [line.forbid.as_ref(), line.require.as_ref(), line.only.as_ref()])?,
            defaults: line.defaults,
        },
        "feedback" => Op::Feedback {
            decision: decision(line.decision)?,
            reward: needed("reward", line.reward)?,
            weight: line.weight.unwrap_or(1.0) as f32,
            at: line.at.unwrap_or(0),
        },
        "observe" => Op::Observe {
            user: user(line.user)?,
            context: context(catalog, line.context)?,
            action: action(catalog, &needed("action", line.action)?)?,
            reward: needed("reward", line.reward)?,
            weight: line.weight.unwrap_or(1.0) as f32,
            defaults: line.defaults,
            at: line.at.unwrap_or(0),
        },
        "unlearn" => Op::Unlearn { decision: decision(line.decision)? },
        "waiting" => Op::Waiting { user: user(line.user)?, at: line.at.unwrap_or(0) },
        "posterior" => Op::Posterior { user: user(line.user)? },
        "forget" => Op::Forget { user: user(line.user)? },
        "export" => Op::Export { user: user(line.user)? },
        "memories" => Op::Memories { user: user(line.user)? },
        "unremember" => Op::Unremember { user: user(line.user)? },
        "remember" => {
            let (Name(request), Name(answer)) =
                (needed("request", line.request)?, needed("answer", line.answer)?);
            if request.is_empty() {
                return Err(Refusal::new(Code::OutOfRange, "'request' must not be empty"));
            }
            Op::Remember {
                user: user(line.user)?,
                exchange: Exchange::new(&request, &answer, line.at.unwrap_or(0)),
            }
        }
        "recall" => {
            let Name(memory) = needed("mode", line.mode)?;
            if let Ok(component) = lookup::component(catalog, COMPONENT) {
                lookup::value_of(catalog, component, &memory)?;
            }
            let request = line.request.map_or_else(String::new, |request| request.0.into_owned());
            Op::Recall { user: user(line.user)?, memory: memory.into_owned(), request }
        }
        "contrast" => contrast(catalog, line)?,
        "explain" => {
            let against = line.against.map(|choice| action(catalog, &choice)).transpose()?;
            Op::Explain { decision: decision(line.decision)?, against, defaults: line.defaults }
        }
        "profile" => Op::Profile { user: user(line.user)? },
        "promote" => Op::Promote { user: user(line.user)?, at: line.at.unwrap_or(0) },
        "rules" | "forbid" | "require" | "allow" | "switch" => {
            let change = change(catalog, name, &line)?;
            Op::Wish { user: user(line.user)?, change }
        }
        "backup" => Op::Backup { file: line.file.map(|file| file.0.into_owned()) },
        "read" => read(catalog, line)?,
        _ => Op::Stats,
    })
}

/// Most bytes of the words of a rule.
const MAX_WORDS: usize = 1_024;

/// What an op makes of what a user wishes.
fn change(catalog: &Catalog<'_>, op: &str, line: &Line<'_>) -> Result<Change, Refusal> {
    let values = || -> Result<Vec<(u8, u8)>, Refusal> {
        let names = needed("values", line.values.as_ref())?;
        if names.is_empty() {
            return Err(Refusal::new(Code::BadPattern, "'values' names no value"));
        }
        Ok(names.iter().map(|name| lookup::value(catalog, &name.0)).collect::<Result<_, _>>()?)
    };
    Ok(match op {
        "forbid" | "require" => {
            let (values, place) = (values()?, line.when.as_ref().map(|when| &*when.0));
            let (place, words) =
                (rules::when(catalog, place)?, line.words.as_ref().map_or("", |words| &*words.0));
            if words.len() > MAX_WORDS {
                return Err(Refusal::new(
                    Code::OutOfRange,
                    format_args!("the words of a rule can have at most {MAX_WORDS} bytes"),
                ));
            }
            Change::Rules(if op == "forbid" {
                rules::forbidding(&values, place, words).collect()
            } else {
                rules::requiring(&values, place, words)
            })
        }
        "allow" => Change::Allow(values()?),
        "switch" if line.layer.is_none() && line.memory.is_none() => {
            return Err(Refusal::new(Code::BadRequest, "'switch' needs 'layer' or 'memory'"));
        }
        "switch" => Change::Switch { layer: line.layer, memory: line.memory },
        _ => Change::Nothing,
    })
}

/// A declared contrast by its name, or two actions in a context.
fn contrast(catalog: &Catalog<'_>, line: Line<'_>) -> Result<Op, Refusal> {
    let rules = [line.forbid.as_ref(), line.require.as_ref(), line.only.as_ref()];
    let allowed = rules.iter().any(Option::is_some).then(|| feasible(catalog, rules)).transpose()?;
    if let Some(name) = &line.name {
        if let Some(key) = line.keys().find(|key| ["context", "prefer", "over", "total"].contains(key)) {
            let message = format_args!(
                "a contrast has either a 'name' or actions of its own: '{key}' does not go with 'name'"
            );
            return Err(Refusal::new(Code::BadRequest, message));
        }
        let declared = lookup::contrast(catalog, &name.0)?;
        let comparison = Comparison::declared(catalog, declared).ok_or(UserError::Comparison)?; // the catalog was checked
        return Ok(Op::Contrast { user: user(line.user)?, comparison, declared: Some(declared), allowed });
    }
    let (prefer, over) = (needed("prefer", line.prefer)?, needed("over", line.over)?);
    let comparison = Comparison {
        context: context(catalog, line.context)?,
        prefer: action(catalog, &prefer)?,
        over: action(catalog, &over)?,
        total: line.total.unwrap_or(false),
    };
    Ok(Op::Contrast { user: user(line.user)?, comparison, declared: None, allowed })
}

/// A text, and for a request what it is read with.
fn read(catalog: &Catalog<'_>, line: Line<'_>) -> Result<Op, Refusal> {
    let reading = needed("as", line.reading)?;
    if reading != ReadAs::Context
        && let Some(key) = line.keys().find(|key| !["text", "as"].contains(key))
    {
        return Err(Refusal::new(
            Code::BadRequest,
            format_args!("'{key}' is for a text that is read as a context"),
        ));
    }
    let rules = [line.forbid.as_ref(), line.require.as_ref(), line.only.as_ref()];
    let allowed = rules.iter().any(Option::is_some).then(|| feasible(catalog, rules)).transpose()?;
    let history = line.history.unwrap_or_default().into_iter().map(|Object(turn)| past(catalog, turn));
    let history = history.collect::<Result<_, _>>()?;
    let background = line.background.map(|background| background.0.into_owned());
    Ok(Op::Read {
        words: Words { text: needed("text", line.text)?.0.into_owned(), history, background, allowed },
        reading,
    })
}

fn past(catalog: &Catalog<'_>, turn: json::Past<'_>) -> Result<Past, Refusal> {
    if turn.reward.is_some_and(|reward| !(-1.0..=1.0).contains(&reward)) {
        return Err(Refusal::new(Code::OutOfRange, "the reward of an exchange must be from -1 to 1"));
    }
    Ok(Past {
        request: turn.request.0.into_owned(),
        answer: turn.answer.map(|answer| answer.0.into_owned()),
        action: turn.action.map(|choice| action(catalog, &choice)).transpose()?,
        reward: turn.reward,
    })
}

fn needed<T>(key: &str, value: Option<T>) -> Result<T, Refusal> {
    value.ok_or_else(|| Refusal::new(Code::BadRequest, format_args!("'{key}' is missing")))
}

fn user(name: Option<Name<'_>>) -> Result<String, Refusal> {
    let Name(name) = needed("user", name)?;
    if name.is_empty() || name.len() > MAX_NAME {
        return Err(Refusal::new(
            Code::OutOfRange,
            format_args!("the name of a user must have 1 to {MAX_NAME} bytes"),
        ));
    }
    Ok(name.into_owned())
}

fn decision(text: Option<Name<'_>>) -> Result<DecisionId, Refusal> {
    Ok(needed("decision", text)?.0.parse()?)
}

fn context(catalog: &Catalog<'_>, words: Option<json::Context<'_>>) -> Result<Context, Refusal> {
    let words = needed("context", words)?;
    words.signals.iter().try_for_each(|(name, _)| lookup::signal(catalog, &name.0).map(|_| ()))?;
    let task = words.task.as_ref().map(|name| &*name.0);
    task.map(|name| lookup::task(catalog, name)).transpose()?;
    Ok(catalog.context(task, words.signals.iter().map(|(name, value)| (&*name.0, *value as f32)))?)
}

/// The positions of named values.
fn values(catalog: &Catalog<'_>, choice: &json::Choice<'_>) -> Result<Vec<(u8, u8)>, Refusal> {
    let place = |(name, chosen): &(Name<'_>, Name<'_>)| {
        let component = lookup::component(catalog, &name.0)?;
        Ok((component, lookup::value_of(catalog, component, &chosen.0)?))
    };
    choice.0.iter().map(place).collect()
}

fn action(catalog: &Catalog<'_>, choice: &json::Choice<'_>) -> Result<Action, Refusal> {
    let mut places = values(catalog, choice)?;
    places.sort_unstable();
    let once = places
        .iter()
        .map(|(component, _)| usize::from(*component))
        .eq(0..catalog.definition().components.len());
    let action = catalog.action(&places.iter().map(|(_, value)| *value).collect::<Vec<_>>()).filter(|_| once);
    action.ok_or_else(|| Refusal::new(Code::IncompleteAction, "an action needs one value for each component"))
}

/// What `forbid`, `require` and `only` leave.
fn feasible(catalog: &Catalog<'_>, rules: [Option<&Vec<Pattern<'_>>>; 3]) -> Result<Feasible, Refusal> {
    if rules.iter().all(Option::is_none) {
        return Ok(Feasible::all(catalog));
    }
    if rules[2].is_some_and(Vec::is_empty) {
        return Err(Refusal::new(Code::Infeasible, "'only' lists no action, so none is feasible"));
    }
    let place = |(name, chosen): &(Name<'_>, json::Values<'_>)| {
        let component = lookup::component(catalog, &name.0)?;
        let values = chosen
            .0
            .iter()
            .map(|name| lookup::value_of(catalog, component, &name.0))
            .collect::<Result<_, _>>()?;
        Ok((component, values))
    };
    let mut all = Vec::new();
    for (effect, patterns) in [Effect::Forbid, Effect::Require, Effect::Only].into_iter().zip(rules) {
        for pattern in patterns.into_iter().flatten() {
            all.push((effect, pattern.0.iter().map(place).collect::<Result<_, Refusal>>()?));
        }
    }
    Ok(lookup::feasible(catalog, &all)?)
}

fn statement(catalog: &Catalog<'_>, words: &json::Statement<'_>) -> Result<Statement, Refusal> {
    let (response, precision) = (words.response, words.precision);
    let direction = match (&words.prefer, &words.direction) {
        (Some(prefer), None) => {
            let over = words.over.as_ref().map(|over| values(catalog, over)).transpose()?.unwrap_or_default();
            Direction::prefer(catalog, &values(catalog, prefer)?, &over, when(catalog, words.when.as_ref())?)?
        }
        (None, Some(direction)) if words.over.is_none() && words.when.is_none() => {
            let entries: Vec<(&str, f64)> =
                direction.0.iter().map(|(name, value)| (&*name.0, *value)).collect();
            if let Some((name, _)) = entries.iter().find(|(name, _)| catalog.coordinate(name).is_none()) {
                return Err(Refusal::new(Code::UnknownName, format_args!("there is no coordinate '{name}'")));
            }
            Direction::from_names(catalog, &entries)?
        }
        _ => {
            let message =
                "a statement has either 'prefer', with or without 'over' and 'when', or 'direction'";
            return Err(Refusal::new(Code::BadRequest, message));
        }
    };
    Ok(Statement { direction, response, precision })
}

fn when(catalog: &Catalog<'_>, words: Option<&Object<json::When<'_>>>) -> Result<When, Refusal> {
    match words.map(|Object(words)| (&words.task, &words.signal)) {
        None => Ok(When::Always),
        Some((Some(name), None)) => Ok(When::Task(lookup::task(catalog, &name.0)?)),
        Some((None, Some(name))) => Ok(When::Signal(lookup::signal(catalog, &name.0)?)),
        Some(_) => Err(Refusal::new(Code::BadRequest, "'when' has either a 'task' or a 'signal'")),
    }
}
