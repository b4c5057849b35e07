//! Words in the terms of the catalog that is served, by the fixed [rules](crate::text::Rules): nothing is asked elsewhere, and nobody is
//! looked up.

use super::answer::Ruled;
use super::refusal::Refusal;
use crate::identify::Allowed;
use crate::text::{
    Background, ContextAdapter, FeedbackAdapter, Onboarding, OnboardingAdapter, Preference, PreferenceText,
    Reaction, RequestText, Rules, Situation, Turn,
};
use fable_core::catalog::When;
use fable_core::{Action, Catalog, Context, Feasible};
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
    /// Statements as `onboard` takes them, and rules as `forbid` or `require` take them.
    Preferences { statements: Vec<Value>, said: Vec<Said>, rules: Vec<Ruled>, unused: Vec<String> },
    /// As `feedback` takes it, or `null` when the text says nothing about the answer.
    Reward { reward: Option<f64>, corrections: u8, clarifications: u8 },
}

/// The words of a statement, and what was understood.
#[derive(Serialize)]
pub(super) struct Said {
    words: String,
    means: String,
}

/// An exchange before a request.
#[derive(Clone, Debug, PartialEq)]
pub struct Past {
    /// What was asked.
    pub request: String,
    /// What was answered, if that is known.
    pub answer: Option<String>,
    /// What was chosen for it, if that is known.
    pub action: Option<Action>,
    /// The reward it has had, if any.
    pub reward: Option<f64>,
}

impl Past {
    fn turn(&self) -> Turn<'_> {
        Turn {
            request: &self.request,
            answer: self.answer.as_deref(),
            action: self.action,
            reward: self.reward,
        }
    }
}

/// A text, and what a request is read with.
#[derive(Clone, Debug, PartialEq)]
pub struct Words {
    /// What was said.
    pub text: String,
    /// The exchanges before it, the oldest first.
    pub history: Vec<Past>,
    /// What is so for everybody.
    pub background: Option<String>,
    /// What may be done, as far as the caller says.
    pub allowed: Option<Feasible>,
}

/// Reads a text.
pub(super) fn read(catalog: &Catalog<'_>, words: &Words, reading: ReadAs) -> Result<Read, Refusal> {
    let text = &words.text;
    Ok(match reading {
        ReadAs::Context => {
            let history: Vec<Turn<'_>> = words.history.iter().map(Past::turn).collect();
            let situation = Situation::new(RequestText::new(text)).after(&history);
            let background = words.background.as_deref().map(Background::new);
            let feasible = hard_state(catalog, words.allowed.as_ref());
            let context = Rules
                .context(catalog, Situation { background, feasible: feasible.as_ref(), ..situation })?
                .value;
            Read::Context { context: context_value(catalog, &context) }
        }
        ReadAs::Preferences => {
            preferences(catalog, Rules.onboarding(catalog, PreferenceText::new(text))?.value)
        }
        ReadAs::Reward => {
            let said = Rules.feedback(Reaction::new(text)).value;
            let (corrections, clarifications) =
                said.map_or((0, 0), |said| (said.corrections, said.clarifications));
            Read::Reward { reward: said.map(|said| said.reward()), corrections, clarifications }
        }
    })
}

/// What the caller's rules and the catalog's leave to be done in some context.
fn hard_state(catalog: &Catalog<'_>, allowed: Option<&Feasible>) -> Option<Feasible> {
    if catalog.rules().is_empty() {
        return allowed.copied();
    }
    let all = Feasible::all(catalog);
    Allowed::everywhere(catalog, allowed.unwrap_or(&all)).anywhere(catalog)
}

fn context_value(catalog: &Catalog<'_>, context: &Context) -> Value {
    let definition = catalog.definition();
    let task = context.task().and_then(|task| definition.tasks.get(task));
    // Levels are tenths: the shortest number that is the same f32.
    let signals = definition
        .signals
        .iter()
        .zip(context.signals())
        .map(|(name, level)| ((*name).to_owned(), tenths(*level)));
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
    let rules = constraints.iter().map(|rule| Ruled::new(catalog, rule)).collect();
    Read::Preferences { statements, said, rules, unused }
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
