//! Contrasts made up on the spot.

use crate::catalogs::lookup;
use crate::toml_file::Flaw;
use fable_core::preference::Comparison;
use fable_core::{Catalog, Context};
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
/// assert!(wrong.to_string().starts_with("style=concise:long: 'style' has no value 'long'; known: direct, concise"));
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
#[derive(Clone, Debug, PartialEq)]
pub struct QuestionError {
    /// The whole question.
    pub question: String,
    /// What is wrong with it.
    pub flaw: Flaw,
}

impl fmt::Display for QuestionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.question, self.flaw)
    }
}

impl std::error::Error for QuestionError {}

impl Question {
    /// Reads a question.
    ///
    /// # Errors
    /// Another form, or a name that the catalog does not have.
    pub fn parse(catalog: &Catalog<'_>, text: &str) -> Result<Self, QuestionError> {
        let comparison =
            compared(catalog, text).map_err(|flaw| QuestionError { question: text.to_owned(), flaw })?;
        Ok(Self { name: text.to_owned(), comparison })
    }
}

fn compared(catalog: &Catalog<'_>, text: &str) -> Result<Comparison, Flaw> {
    let form = || Flaw::Form("a contrast is COMPONENT=VALUE:VALUE or COMPONENT=VALUE:VALUE@TASK".into());
    let (component, rest) = text.split_once('=').ok_or_else(form)?;
    let (plus, rest) = rest.split_once(':').ok_or_else(form)?;
    let (minus, task) = rest.split_once('@').map_or((rest, None), |(minus, task)| (minus, Some(task)));
    let component = lookup::component(catalog, component)?;
    let (prefer, over) =
        (lookup::value_of(catalog, component, plus)?, lookup::value_of(catalog, component, minus)?);
    if prefer == over {
        return Err(Flaw::Form("a contrast needs two different values".into()));
    }
    let task = task.map(|task| lookup::task(catalog, task)).transpose()?;
    let action = |chosen: u8| {
        let usual = catalog.definition().components.iter().map(|component| component.null.unwrap_or(0));
        let values: Vec<u8> =
            (0..).zip(usual).map(|(own, usual)| if own == component { chosen } else { usual }).collect();
        catalog.action(&values).ok_or_else(form)
    };
    let context =
        Context::new(catalog, task, &vec![0.0; catalog.definition().signals.len()]).map_err(|_| form())?;
    Ok(Comparison { context, prefer: action(prefer)?, over: action(over)?, total: false })
}
