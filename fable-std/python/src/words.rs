//! What a caller gives, in the catalog's own terms: every name looked up, every list complete. What a number has to be like is for
//! `fable_core` to say, so that everything is refused for the same reasons and with the same codes as by the service.

use crate::catalog::Catalog;
use crate::fault::{Answer, Fault};
use crate::names::text;
use fable_core::catalog::MAX_SIGNALS;
use fable_core::catalog::{ContextError, Direction, Effect, When};
use fable_core::{Action, Context, Feasible, Statement};
use fable_std::catalogs::lookup::{self, Pattern};
use fable_std::serve::{Code, MAX_DRAWS, MAX_NAME};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFloat, PyMapping, PySequence, PyString};

/// A number.
pub fn number(value: &Bound<'_, PyAny>, what: &str) -> Answer<f64> {
    if let Ok(number) = value.cast::<PyFloat>() {
        return Ok(number.value());
    }
    value
        .extract()
        .map_err(|error| Fault::of_value(error, value.py(), format_args!("{what} must be a number")))
}

/// A whole number from 0 to `most`.
pub fn whole(value: &Bound<'_, PyAny>, what: &str, most: u64) -> Answer<u64> {
    let message = || format!("{what} must be a whole number from 0 to {most}");
    let number: u64 = value.extract().map_err(|error| Fault::of_value(error, value.py(), message()))?;
    if number > most { Err(Fault::range(message())) } else { Ok(number) }
}

/// The caller's time; 0 if none is given.
pub fn time(at: Option<&Bound<'_, PyAny>>) -> Answer<u32> {
    at.map_or(Ok(0), |at| Ok(whole(at, "at", u64::from(u32::MAX))? as u32))
}

/// How much a reward counts; 1 if nothing is said.
pub fn weight(weight: Option<&Bound<'_, PyAny>>) -> Answer<f32> {
    weight.map_or(Ok(1.0), |weight| Ok(number(weight, "a weight")? as f32))
}

/// How many draws propensities are estimated from.
pub fn draws(draws: Option<&Bound<'_, PyAny>>) -> Answer<Option<u32>> {
    draws.map(|draws| Ok(whole(draws, "propensities", u64::from(MAX_DRAWS))? as u32)).transpose()
}

/// The name of a user.
pub fn user_name(name: &Bound<'_, PyAny>) -> Answer<String> {
    let name = text(name, "the name of a user")?;
    if name.is_empty() || name.len() > MAX_NAME {
        return Err(Fault::range(format_args!("the name of a user must have 1 to {MAX_NAME} bytes")));
    }
    Ok(name)
}

/// A dict, or what can be one.
fn dict<'py>(value: &Bound<'py, PyAny>, what: &str) -> Answer<Bound<'py, PyDict>> {
    if let Ok(dict) = value.cast::<PyDict>() {
        return Ok(dict.clone());
    }
    let mapping =
        value.cast::<PyMapping>().map_err(|_| Fault::kind(format_args!("{what} must be a dict")))?;
    let dict = PyDict::new(value.py());
    dict.update(mapping)?;
    Ok(dict)
}

/// The items of a list or tuple, at most so many.
pub fn items<'py>(value: &Bound<'py, PyAny>, what: &str, most: usize) -> Answer<Vec<Bound<'py, PyAny>>> {
    if value.is_instance_of::<PyString>() || value.cast::<PySequence>().is_err() && !is_array(value) {
        return Err(Fault::kind(format_args!("{what} must be a list")));
    }
    let too_many = || Fault::range(format_args!("{what} can have at most {most} items"));
    let count = value
        .len()
        .map_err(|error| Fault::of_value(error, value.py(), format_args!("{what} must be a list")))?;
    if count > most {
        return Err(too_many());
    }
    // What says how long it is may be longer, even endless.
    value.try_iter()?.take(count).map(|item| Ok(item?)).collect()
}

/// Whether it is an array of numpy's, or of something like it; numpy is not imported for that.
fn is_array(value: &Bound<'_, PyAny>) -> bool {
    value.hasattr("__array_interface__").unwrap_or(false)
}

/// Most patterns of a kind, and most values of a component in one.
const MOST: usize = 10_000;

impl Catalog {
    /// A context: every signal, and a task or none.
    pub fn read_context(&self, value: &Bound<'_, PyAny>) -> Answer<Context> {
        let dict = dict(value, "a context")?;
        let (names, mut signals, mut found) = (&self.names, [0.0; MAX_SIGNALS], 0);
        for (slot, name) in signals.iter_mut().zip(&names.signals) {
            let Some(value) = dict.get_item(name)? else { return Err(self.unlike_context(&dict)) };
            *slot = number(&value, "a signal")? as f32;
            found += 1;
        }
        let task = dict.get_item(&names.task)?;
        if found + usize::from(task.is_some()) != dict.len() {
            return Err(self.unlike_context(&dict));
        }
        let task =
            task.filter(|task| !task.is_none()).map(|task| names.task(self.core, &task)).transpose()?;
        Ok(Context::new(self.core, task, signals.get(..names.signals.len()).unwrap_or(&[]))?)
    }

    /// What is wrong with the keys of a context.
    fn unlike_context(&self, dict: &Bound<'_, PyDict>) -> Fault {
        for key in dict.keys() {
            match text(&key, "a signal")
                .and_then(|name| if name == "task" { Ok(0) } else { Ok(lookup::signal(self.core, &name)?) })
            {
                Ok(_) => {}
                Err(fault) => return fault,
            }
        }
        ContextError::SignalCount { expected: self.core.definition().signals.len() }.into()
    }

    /// The positions of named values, each of another component.
    fn read_values(&self, value: &Bound<'_, PyAny>, what: &str) -> Answer<Vec<(u8, u8)>> {
        let place = |(name, chosen): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
            let component = self.names.component(self.core, &name)?;
            Ok((component, self.names.value(self.core, component, &chosen)?))
        };
        dict(value, what)?.iter().map(place).collect()
    }

    /// A complete action, or its position.
    pub fn read_action(&self, value: &Bound<'_, PyAny>) -> Answer<Action> {
        if value.cast::<PyDict>().is_err() && value.cast::<PyMapping>().is_err() {
            let index: u64 = value.extract().map_err(|error| {
                Fault::of_value(
                    error,
                    value.py(),
                    "an action must be a dict with a value for each component, or its index",
                )
            })?;
            let known = u16::try_from(index).ok().filter(|index| usize::from(*index) < self.core.actions());
            return known
                .map(Action)
                .ok_or_else(|| Fault::range(format_args!("there are {} actions", self.core.actions())));
        }
        let mut places = self.read_values(value, "an action")?;
        places.sort_unstable();
        let once = places.iter().map(|(component, _)| usize::from(*component)).eq(0..self
            .core
            .definition()
            .components
            .len());
        let action =
            self.core.action(&places.iter().map(|(_, value)| *value).collect::<Vec<_>>()).filter(|_| once);
        action.ok_or_else(|| {
            Fault::refused(Code::IncompleteAction, "an action needs one value for each component")
        })
    }

    fn read_pattern(&self, value: &Bound<'_, PyAny>) -> Answer<Pattern> {
        let place = |(name, chosen): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
            let component = self.names.component(self.core, &name)?;
            let values = if chosen.is_instance_of::<PyString>() {
                vec![self.names.value(self.core, component, &chosen)?]
            } else {
                let values = items(&chosen, "the values of a pattern", MOST)?;
                values
                    .iter()
                    .map(|value| self.names.value(self.core, component, value))
                    .collect::<Answer<_>>()?
            };
            Ok((component, values))
        };
        dict(value, "a pattern")?.iter().map(place).collect()
    }

    /// What `forbid`, `require` and `only` leave.
    pub fn read_feasible(&self, rules: [Option<&Bound<'_, PyAny>>; 3]) -> Answer<Feasible> {
        if rules.iter().all(Option::is_none) {
            return Ok(Feasible::all(self.core));
        }
        let mut all = Vec::new();
        let kinds = [(Effect::Forbid, "forbid"), (Effect::Require, "require"), (Effect::Only, "only")];
        for ((effect, name), patterns) in kinds.into_iter().zip(rules) {
            let Some(patterns) = patterns else { continue };
            let patterns = items(
                patterns,
                &format!("'{name}', which has patterns like {{\"tool\": \"web_search\"}},"),
                MOST,
            )?;
            if effect == Effect::Only && patterns.is_empty() {
                return Err(Fault::refused(Code::Infeasible, "'only' lists no action, so none is feasible"));
            }
            for pattern in patterns {
                all.push((effect, self.read_pattern(&pattern)?));
            }
        }
        Ok(lookup::feasible(self.core, &all)?)
    }

    /// Default scores; core knows how many there must be, so one more than those says it.
    pub fn read_defaults(&self, defaults: Option<&Bound<'_, PyAny>>) -> Answer<Option<Vec<f64>>> {
        let Some(defaults) = defaults else { return Ok(None) };
        let scores = items(defaults, "'defaults'", self.core.actions())?;
        Ok(Some(scores.iter().map(|score| number(score, "a default score")).collect::<Answer<_>>()?))
    }

    /// A stated preference.
    pub fn read_statement(&self, value: &Bound<'_, PyAny>) -> Answer<Statement> {
        let dict = dict(value, "a statement")?;
        let known = ["prefer", "over", "when", "direction", "response", "precision"];
        for key in dict.keys() {
            let key = text(&key, "the key of a statement")?;
            if !known.contains(&key.as_str()) {
                return Err(Fault::kind(format_args!(
                    "'{key}' is not a key of a statement; those are {}",
                    known.join(", ")
                )));
            }
        }
        let given = |key: &str| -> Answer<_> { Ok(dict.get_item(key)?.filter(|value| !value.is_none())) };
        let needed = |key: &str| -> Answer<f64> {
            let value = given(key)?.ok_or_else(|| Fault::kind(format_args!("a statement needs '{key}'")))?;
            number(&value, &format!("'{key}'"))
        };
        let direction = match (given("prefer")?, given("direction")?) {
            (Some(prefer), None) => {
                let over = given("over")?
                    .map(|over| self.read_values(&over, "'over'"))
                    .transpose()?
                    .unwrap_or_default();
                let when = given("when")?.map_or(Ok(When::Always), |when| self.read_when(&when))?;
                Direction::prefer(self.core, &self.read_values(&prefer, "'prefer'")?, &over, when)?
            }
            (None, Some(direction)) if given("over")?.is_none() && given("when")?.is_none() => {
                self.read_direction(&direction)?
            }
            _ => {
                return Err(Fault::kind(
                    "a statement has either 'prefer', with or without 'over' and 'when', or 'direction'",
                ));
            }
        };
        Ok(Statement { direction, response: needed("response")?, precision: needed("precision")? })
    }

    fn read_direction(&self, value: &Bound<'_, PyAny>) -> Answer<Direction> {
        let mut entries = Vec::new();
        for (name, coefficient) in dict(value, "'direction'")? {
            let name = text(&name, "a coordinate")?;
            if self.core.coordinate(&name).is_none() {
                return Err(Fault::refused(
                    Code::UnknownName,
                    format_args!("there is no coordinate '{name}'"),
                ));
            }
            entries.push((name, number(&coefficient, "a coefficient")?));
        }
        let entries: Vec<(&str, f64)> = entries.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        Ok(Direction::from_names(self.core, &entries)?)
    }

    fn read_when(&self, value: &Bound<'_, PyAny>) -> Answer<When> {
        let dict = dict(value, "'when'")?;
        let wrong = || Fault::kind("'when' has either a 'task' or a 'signal'");
        match (dict.get_item("task")?, dict.get_item("signal")?) {
            (Some(task), None) if dict.len() == 1 => Ok(When::Task(self.names.task(self.core, &task)?)),
            (None, Some(signal)) if dict.len() == 1 => {
                Ok(When::Signal(lookup::signal(self.core, &text(&signal, "a signal")?)?))
            }
            _ => Err(wrong()),
        }
    }
}
