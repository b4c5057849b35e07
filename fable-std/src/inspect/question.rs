//! Contrasts made up on the spot.

use fable_core::{Catalog, Comparison, Context};
use std::fmt;

/// A contrast that was asked for: `style=concise:detailed@coding`. The two actions have the two values in the component named
/// and elsewhere the null value, or the first where there is none; all signals are 0. One ellipsoid covers every contrast at
/// once, so the interval holds for these as for the declared ones.
///
/// ```
/// use fable_core::catalog::AGENT;
/// use fable_std::inspect::Question;
/// let question = Question::parse(&AGENT, "style=concise:detailed@coding")?;
/// let action = AGENT.action_name(question.comparison.prefer).unwrap().to_string();
/// assert_eq!(action, "memory=no_memory*tool=no_tool*style=concise");
/// let wrong = Question::parse(&AGENT, "style=concise:long").unwrap_err();
/// assert!(wrong.to_string().starts_with("style=concise:long: style has no value 'long'; known: direct, concise"));
/// # Ok::<(), fable_std::inspect::QuestionError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// As it was asked.
    pub name: String,
    /// What is compared.
    pub comparison: Comparison,
}

/// Why a question is none.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum QuestionError {
    /// It does not read `COMPONENT=VALUE:VALUE` or `COMPONENT=VALUE:VALUE@TASK`.
    Form(String),
    /// The same value twice.
    Same(String),
    /// The catalog has no such component, value or task.
    Unknown {
        /// The whole question.
        question: String,
        /// What lacks it: "there is no component", "style has no value", "there is no task".
        lack: String,
        /// What was asked for.
        name: String,
        /// What there is.
        known: Vec<String>,
    },
}

impl fmt::Display for QuestionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Form(question) => write!(f, "{question}: a contrast is COMPONENT=VALUE:VALUE or COMPONENT=VALUE:VALUE@TASK"),
            Self::Same(question) => write!(f, "{question}: a contrast needs two different values"),
            Self::Unknown { question, lack, name, known } if known.is_empty() => write!(f, "{question}: {lack} '{name}'"),
            Self::Unknown { question, lack, name, known } => {
                write!(f, "{question}: {lack} '{name}'; known: {}", known.join(", "))
            }
        }
    }
}

impl std::error::Error for QuestionError {}

impl Question {
    /// Reads a question.
    ///
    /// # Errors
    /// Another form, or a name that the catalog does not have.
    pub fn parse(catalog: &Catalog<'_>, text: &str) -> Result<Self, QuestionError> {
        let form = || QuestionError::Form(text.to_owned());
        let unknown = |lack: String, name: &str, known: Vec<&str>| QuestionError::Unknown {
            question: text.to_owned(),
            lack,
            name: name.to_owned(),
            known: known.into_iter().map(str::to_owned).collect(),
        };
        let definition = catalog.definition();
        let (component, rest) = text.split_once('=').ok_or_else(form)?;
        let (plus, rest) = rest.split_once(':').ok_or_else(form)?;
        let (minus, task) = rest.split_once('@').map_or((rest, None), |(minus, task)| (minus, Some(task)));
        let components = || definition.components.iter().map(|component| component.name).collect();
        let missing = || unknown("there is no component".into(), component, components());
        let index = catalog.component(component).ok_or_else(missing)?;
        let values = || definition.components.iter().skip(index).take(1).flat_map(|own| own.values).map(|own| own.name).collect();
        let value =
            |name: &str| catalog.value(index, name).ok_or_else(|| unknown(format!("{component} has no value"), name, values()));
        let (prefer, over) = (value(plus)?, value(minus)?);
        if prefer == over {
            return Err(QuestionError::Same(text.to_owned()));
        }
        let position =
            |name: &str| catalog.task(name).map_err(|_| unknown("there is no task".into(), name, definition.tasks.to_vec()));
        let task = task.map(position).transpose()?;
        let action = |chosen: u8| {
            let usual = definition.components.iter().map(|component| component.null.unwrap_or(0));
            let values: Vec<u8> = usual.enumerate().map(|(own, usual)| if own == index { chosen } else { usual }).collect();
            catalog.action(&values).ok_or_else(form)
        };
        let context = Context::new(catalog, task, &vec![0.0; definition.signals.len()]).map_err(|_| form())?;
        let comparison = Comparison { context, prefer: action(prefer)?, over: action(over)?, total: false };
        Ok(Self { name: text.to_owned(), comparison })
    }
}
