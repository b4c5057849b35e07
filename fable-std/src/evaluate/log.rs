//! A log of decisions with the probabilities they were made with: one JSON object per line.
//!
//! A line has what was asked, what was done, how it went, and how probable each action was:
//!
//! | key | |
//! |---|---|
//! | `context` | `task`, which may be `null` or left out, and every signal of the catalog |
//! | `forbid`, `require`, `only` | what was allowed, as lists of patterns; may be left out |
//! | `defaults` | the default score of every action, if the catalog's was replaced |
//! | `action` | what was done: a value for each component |
//! | `reward` | from -1 to 1 |
//! | `propensities` | the probability of every action, in catalog order (the last component varies fastest) |
//! | `draws` | the number of draws that the propensities were estimated from, if they were; those of coins are exact |
//! | `user` | whose line it is; may be left out when there is one user |
//!
//! These are the keys of a `decide` request, of its answer, and the reward, so a program that talks to Fable writes a line by
//! putting the three together; what else an answer has (`decision`, `instruction`, `explored`, `score`, `sampled_score`,
//! `feasible`, `probes`, `propensity`) and `op`, `id` and `at` may stand there and are not looked at. Other keys are mistakes. The lines of a user stand
//! in the order in which they happened. Blank lines are passed over.
//!
//! ```
//! use fable_core::catalog::TAU2;
//! use fable_std::evaluate::Record;
//!
//! let line = r#"{"context":{},"forbid":[{"tool":"verify","style":["direct","concise"]},{"memory":"conversation"},{"tool":"ask_if_missing"}],
//!     "action":{"memory":"current_turn","tool":"standard","style":"direct"},"reward":0.5,
//!     "propensities":[0.5,0.25,0.125,0,0,0.125,0,0,0,0,0,0,0,0,0,0,0,0]}"#;
//! let record = Record::read(&TAU2, line.as_bytes())?;
//! assert_eq!((record.feasible.len(), record.reward), (4, 0.5));
//! assert_eq!(Record::read(&TAU2, record.write(&TAU2).as_bytes())?, record);
//! # Ok::<(), fable_std::evaluate::LogFlaw>(())
//! ```

use super::error::{LogError, LogFlaw};
use crate::catalogs::{self, lookup};
use crate::toml_file::Flaw;
use fable_core::catalog::Effect;
use fable_core::catalog::Values;
use fable_core::settings::REWARD;
use fable_core::{Action, Catalog, Context, Feasible};
use serde_json::{Map, Value, json};
use std::io::{BufRead, Read};

/// Longest line, in bytes.
pub const MAX_LINE: u64 = 1 << 20;
/// Largest log, in bytes: all of it is kept in memory.
pub const MAX_LOG: u64 = 1 << 30;
/// How far the propensities of a line may be from adding up to 1.
const TOLERANCE: f64 = 1e-3;

const KEYS: [&str; 10] =
    ["user", "context", "forbid", "require", "only", "defaults", "action", "reward", "propensities", "draws"];
const IGNORED: [&str; 11] = [
    "op",
    "id",
    "at",
    "decision",
    "instruction",
    "explored",
    "score",
    "sampled_score",
    "feasible",
    "probes",
    "propensity",
];

/// One line of a log.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// Its line in the file, from 1; 1 for a line read by itself.
    pub line: usize,
    /// Whose; empty if the line does not say.
    pub user: String,
    /// What was asked.
    pub context: Context,
    /// What was allowed.
    pub feasible: Feasible,
    /// The default score of every action instead of the catalog's.
    pub defaults: Option<Vec<f64>>,
    /// What was done.
    pub action: Action,
    /// How it went.
    pub reward: f64,
    /// The probability of every action.
    pub propensities: Vec<f64>,
    /// Draws that the probabilities were estimated from, as (n + 1) / (draws + allowed); `None` when they are exact.
    pub draws: Option<u32>,
}

/// Reads a log; `file` is its name in errors.
///
/// # Errors
/// The first mistake, with its line.
pub fn read(catalog: &Catalog<'_>, file: &str, mut input: impl BufRead) -> Result<Vec<Record>, LogError> {
    let (mut records, mut bytes, mut total) = (Vec::new(), Vec::new(), 0);
    for line in 1.. {
        let wrong = |flaw| LogError { file: file.into(), line, flaw };
        bytes.clear();
        let read = (&mut input).take(MAX_LINE + 1).read_until(b'\n', &mut bytes);
        if read.map_err(|error| wrong(LogFlaw::Unreadable(error.to_string())))? == 0 {
            break;
        }
        total += bytes.len() as u64;
        if bytes.len() as u64 > MAX_LINE {
            return Err(wrong(LogFlaw::TooLong));
        }
        if total > MAX_LOG {
            return Err(wrong(LogFlaw::TooLarge));
        }
        if !bytes.trim_ascii().is_empty() {
            records.push(Record { line, ..Record::read(catalog, &bytes).map_err(wrong)? });
        }
    }
    Ok(records)
}

impl Record {
    /// Reads a line.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read(catalog: &Catalog<'_>, line: &[u8]) -> Result<Self, LogFlaw> {
        let words: Map<String, Value> = serde_json::from_slice(line)?;
        if let Some(key) =
            words.keys().find(|key| !KEYS.contains(&key.as_str()) && !IGNORED.contains(&key.as_str()))
        {
            return Err(Flaw::unknown("there is no key", key, KEYS).into());
        }
        let needed = |key: &'static str| words.get(key).ok_or(LogFlaw::Missing(key));
        let record = Self {
            line: 1,
            user: words.get("user").map_or(Ok(String::new()), |user| text("user", user).map(Into::into))?,
            context: context(catalog, object("context", needed("context")?)?)?,
            feasible: feasible(catalog, &words)?,
            defaults: words
                .get("defaults")
                .map(|defaults| numbers(catalog, "defaults", defaults))
                .transpose()?,
            action: action(catalog, object("action", needed("action")?)?)?,
            reward: number("reward", needed("reward")?)?,
            propensities: numbers(catalog, "propensities", needed("propensities")?)?,
            draws: words.get("draws").map(draws).transpose()?,
        };
        record.check(catalog)?;
        Ok(record)
    }

    /// What can only be seen by looking at several keys, and what a program can do wrong that makes a line.
    pub(super) fn check(&self, catalog: &Catalog<'_>) -> Result<(), LogFlaw> {
        let lists = [("propensities", Some(&self.propensities)), ("defaults", self.defaults.as_ref())];
        for (key, numbers) in lists.into_iter().filter_map(|(key, numbers)| Some((key, numbers?))) {
            counted(catalog, key, numbers)?;
        }
        if !REWARD.contains(self.reward) {
            return Err(LogFlaw::Reward);
        }
        let name = |action| catalog.action_name(action).map_or_else(String::new, |name| name.to_string());
        for (&propensity, action) in self.propensities.iter().zip((0..).map(Action)) {
            if !(0.0..=1.0).contains(&propensity) {
                return Err(LogFlaw::Propensity { action: name(action) });
            }
            if propensity > 0.0 && !self.feasible.set().contains(action) {
                return Err(LogFlaw::Forbidden { action: name(action) });
            }
        }
        let sum: f64 = self.propensities.iter().sum();
        if (sum - 1.0).abs() > TOLERANCE {
            return Err(LogFlaw::Sum(sum));
        }
        if self.propensities.get(self.action.index()).is_none_or(|propensity| *propensity <= 0.0) {
            return Err(LogFlaw::Impossible);
        }
        Ok(())
    }

    /// The line as JSON, without a line break. What was allowed is written as forbidden values if that says it, or else as
    /// the list of allowed actions.
    #[must_use]
    pub fn write(&self, catalog: &Catalog<'_>) -> String {
        let mut line = Map::new();
        if !self.user.is_empty() {
            line.insert("user".into(), self.user.clone().into());
        }
        let task = self.context.task().and_then(|task| catalog.definition().tasks.get(task));
        let signals = catalog.definition().signals.iter().zip(self.context.signals());
        // As short as the `f32` is: 0.1, not 0.10000000149011612.
        let signals = signals.map(|(name, value)| {
            ((*name).to_owned(), json!(value.to_string().parse::<f64>().unwrap_or(0.0)))
        });
        let task = task.map(|task| ("task".to_owned(), json!(task)));
        line.insert("context".into(), task.into_iter().chain(signals).collect::<Map<_, _>>().into());
        if *self.feasible.set() != catalog.all_actions() {
            let mut rules = Map::new();
            rules.insert("forbid".into(), forbidden(catalog, &self.feasible).into());
            if feasible(catalog, &rules).as_ref() != Ok(&self.feasible) {
                let allowed = self.feasible.set().iter().map(|action| catalogs::action(catalog, action));
                rules = [("only".to_owned(), allowed.collect::<Vec<_>>().into())].into_iter().collect();
            }
            line.append(&mut rules);
        }
        if let Some(defaults) = &self.defaults {
            line.insert("defaults".into(), defaults.clone().into());
        }
        line.insert("action".into(), catalogs::action(catalog, self.action));
        line.insert("reward".into(), self.reward.into());
        line.insert("propensities".into(), self.propensities.clone().into());
        if let Some(draws) = self.draws {
            line.insert("draws".into(), draws.into());
        }
        Value::Object(line).to_string()
    }
}

/// A pattern for each value that no allowed action has.
fn forbidden(catalog: &Catalog<'_>, feasible: &Feasible) -> Vec<Value> {
    let allowed: Vec<Values> = feasible.set().iter().filter_map(|action| catalog.values(action)).collect();
    let values = catalog.definition().components.iter().enumerate().flat_map(|(position, component)| {
        component
            .values
            .iter()
            .zip(0..)
            .map(move |(value, index)| (position, component.name, index, value.name))
    });
    let missing = values
        .filter(|(position, _, index, _)| !allowed.iter().any(|values| values.get(*position) == Some(index)));
    missing.map(|(_, component, _, value)| json!({ component: value })).collect()
}

fn context(catalog: &Catalog<'_>, words: &Map<String, Value>) -> Result<Context, LogFlaw> {
    let task = match words.get("task") {
        None | Some(Value::Null) => None,
        Some(task) => Some(text("task", task)?),
    };
    task.map(|task| lookup::task(catalog, task)).transpose()?;
    let mut signals = Vec::new();
    for (name, value) in words.iter().filter(|(name, _)| *name != "task") {
        lookup::signal(catalog, name)?;
        signals.push((name.as_str(), number(name, value)? as f32));
    }
    Ok(catalog.context(task, signals)?)
}

fn feasible(catalog: &Catalog<'_>, words: &Map<String, Value>) -> Result<Feasible, LogFlaw> {
    let mut rules: Vec<(Effect, lookup::Pattern)> = Vec::new();
    for (key, effect) in [("forbid", Effect::Forbid), ("require", Effect::Require), ("only", Effect::Only)] {
        for pattern in words.get(key).map_or(Ok(&[][..]), |patterns| list(key, patterns))? {
            let pattern =
                object(key, pattern)?.iter().map(|(component, values)| part(catalog, component, values));
            rules.push((effect, pattern.collect::<Result<_, _>>()?));
        }
    }
    Ok(lookup::feasible(catalog, &rules)?)
}

/// A component and the values that a pattern names, one or a list.
fn part(catalog: &Catalog<'_>, name: &str, values: &Value) -> Result<(u8, Vec<u8>), LogFlaw> {
    let component = lookup::component(catalog, name)?;
    let value = |value: &Value| Ok(lookup::value_of(catalog, component, text(name, value)?)?);
    let values: Result<_, LogFlaw> = match values {
        Value::Array(values) => values.iter().map(value).collect(),
        one => value(one).map(|value| vec![value]),
    };
    Ok((component, values?))
}

fn action(catalog: &Catalog<'_>, words: &Map<String, Value>) -> Result<Action, LogFlaw> {
    let mut values: Vec<Option<u8>> = vec![None; catalog.definition().components.len()];
    for (name, value) in words {
        let component = lookup::component(catalog, name)?;
        let value = lookup::value_of(catalog, component, text(name, value)?)?;
        if let Some(slot) = values.get_mut(usize::from(component)) {
            *slot = Some(value);
        }
    }
    let values: Option<Values> = values.into_iter().collect();
    values.and_then(|values| catalog.action(&values)).ok_or(LogFlaw::Incomplete)
}

fn wrong_type(key: &str, expected: &'static str) -> LogFlaw {
    LogFlaw::Type { key: key.into(), expected }
}

fn object<'v>(key: &str, value: &'v Value) -> Result<&'v Map<String, Value>, LogFlaw> {
    value.as_object().ok_or_else(|| wrong_type(key, "an object"))
}

fn list<'v>(key: &str, value: &'v Value) -> Result<&'v [Value], LogFlaw> {
    value.as_array().map(Vec::as_slice).ok_or_else(|| wrong_type(key, "a list"))
}

fn text<'v>(key: &str, value: &'v Value) -> Result<&'v str, LogFlaw> {
    value.as_str().ok_or_else(|| wrong_type(key, "text"))
}

fn number(key: &str, value: &Value) -> Result<f64, LogFlaw> {
    value.as_f64().ok_or_else(|| wrong_type(key, "a number"))
}

/// A number per action.
fn numbers(catalog: &Catalog<'_>, key: &'static str, value: &Value) -> Result<Vec<f64>, LogFlaw> {
    let numbers: Vec<f64> =
        list(key, value)?.iter().map(|value| number(key, value)).collect::<Result<_, _>>()?;
    counted(catalog, key, &numbers)?;
    Ok(numbers)
}

fn counted(catalog: &Catalog<'_>, key: &'static str, numbers: &[f64]) -> Result<(), LogFlaw> {
    let (expected, found) = (catalog.actions(), numbers.len());
    if found == expected { Ok(()) } else { Err(LogFlaw::Count { key, expected, found }) }
}

fn draws(value: &Value) -> Result<u32, LogFlaw> {
    let draws = value.as_u64().and_then(|draws| u32::try_from(draws).ok()).filter(|draws| *draws > 0);
    draws.ok_or_else(|| wrong_type("draws", "a whole number from 1"))
}
