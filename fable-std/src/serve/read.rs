//! Words in the terms of the catalog that is served, by the fixed [rules](crate::text::Rules): nothing is asked elsewhere, and nobody is
//! looked up.

use super::refusal::Refusal;
use crate::text::{
    ContextAdapter, FeedbackAdapter, Onboarding, OnboardingAdapter, Preference, PreferenceText, Reaction, RequestText, Rules,
    Situation,
};
use fable_core::{Catalog, Context, Effect, When};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// What a text is taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReadAs {
    /// A request: its task and signals.
    Context,
    /// What somebody says to prefer, and to forbid.
    Preferences,
    /// A reaction to an answer.
    Reward,
}

/// What a text says.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Read {
    /// As `decide` takes it.
    Context { context: Value },
    /// Statements as `onboard` takes them, and a pattern for `forbid` or `require` in each rule.
    Preferences { statements: Vec<Value>, said: Vec<Said>, rules: Vec<Value>, unused: Vec<String> },
    /// As `feedback` takes it, or `null` when the text says nothing about the answer.
    Reward { reward: Option<f64>, corrections: u8, clarifications: u8 },
}

/// The words of a statement, and what was understood.
#[derive(Serialize)]
pub(super) struct Said {
    words: String,
    means: String,
}

/// Reads a text.
pub(super) fn read(catalog: &Catalog<'_>, text: &str, reading: ReadAs) -> Result<Read, Refusal> {
    Ok(match reading {
        ReadAs::Context => {
            let context = Rules.context(catalog, Situation::new(RequestText::new(text)))?.value;
            Read::Context { context: context_value(catalog, &context) }
        }
        ReadAs::Preferences => preferences(catalog, Rules.onboarding(catalog, PreferenceText::new(text))?.value),
        ReadAs::Reward => {
            let said = Rules.feedback(Reaction::new(text)).value;
            let (corrections, clarifications) = said.map_or((0, 0), |said| (said.corrections, said.clarifications));
            Read::Reward { reward: said.map(|said| said.reward()), corrections, clarifications }
        }
    })
}

fn context_value(catalog: &Catalog<'_>, context: &Context) -> Value {
    let definition = catalog.definition();
    let task = context.task().and_then(|task| definition.tasks.get(task));
    // Levels are tenths: the shortest number that is the same f32.
    let signals = definition.signals.iter().zip(context.signals()).map(|(name, level)| ((*name).to_owned(), tenths(*level)));
    Value::Object(std::iter::once(("task".to_owned(), json!(task))).chain(signals).collect())
}

/// A level as it is written in decimals: 0.1 and not 0.10000000149.
fn tenths(level: f32) -> Value {
    level.to_string().parse::<f64>().unwrap_or_else(|_| level.into()).into()
}

fn preferences(catalog: &Catalog<'_>, found: Onboarding) -> Read {
    let Onboarding { preferences, constraints, mut unused, .. } = found;
    let (mut statements, mut said) = (Vec::new(), Vec::new());
    for preference in preferences {
        match statement(catalog, &preference) {
            Some(statement) => {
                statements.push(statement);
                said.push(Said { means: preference.describe(catalog), words: preference.words });
            }
            None => unused.push(preference.words), // the dictionary has no coordinate for it
        }
    }
    let rules = constraints.into_iter().map(|rule| {
        let effect = if rule.effect == Effect::Forbid { "forbid" } else { "require" };
        let values: Vec<&str> =
            rule.values.iter().filter_map(|value| names(catalog, (rule.component, *value))).map(|(_, value)| value).collect();
        let component = catalog.definition().components.get(usize::from(rule.component)).map_or("", |component| component.name);
        let mut fields = Map::new();
        fields.insert("effect".into(), effect.into());
        fields.insert("pattern".into(), json!({ component: values }));
        if let Some(when) = when(catalog, rule.when) {
            fields.insert("when".into(), when);
        }
        fields.insert("words".into(), rule.words.into());
        fields.into()
    });
    Read::Preferences { statements, said, rules: rules.collect(), unused }
}

/// A preference as `onboard` takes it, if the catalog can express it.
fn statement(catalog: &Catalog<'_>, preference: &Preference) -> Option<Value> {
    preference.statement(catalog).ok()?;
    let part = |(component, value): (&str, &str)| json!({ component: value });
    let mut fields = Map::new();
    fields.insert("prefer".into(), part(names(catalog, preference.prefer)?));
    if let Some(over) = preference.over {
        fields.insert("over".into(), part(names(catalog, over)?));
    }
    if let Some(when) = when(catalog, preference.when) {
        fields.insert("when".into(), when);
    }
    fields.insert("response".into(), preference.response.into());
    fields.insert("precision".into(), preference.precision.into());
    Some(fields.into())
}

fn names<'c>(catalog: &Catalog<'c>, (component, value): (u8, u8)) -> Option<(&'c str, &'c str)> {
    let component = catalog.definition().components.get(usize::from(component))?;
    Some((component.name, component.values.get(usize::from(value))?.name))
}

fn when(catalog: &Catalog<'_>, when: When) -> Option<Value> {
    let definition = catalog.definition();
    match when {
        When::Always => None,
        When::Task(task) => definition.tasks.get(task).map(|task| json!({ "task": task })),
        When::Signal(signal) => definition.signals.get(signal).map(|signal| json!({ "signal": signal })),
    }
}
