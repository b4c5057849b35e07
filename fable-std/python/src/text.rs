//! Words as numbers: the rules of `fable_std::text`, by which `fable proxy` reads requests and reactions.

use crate::catalog::Catalog;
use crate::fault::{Answer, Fault};
use crate::names::text;
use crate::words::items;
use fable_std::serve::Code;
use fable_std::text::{
    self, Background, ContextAdapter, FeedbackAdapter, Reaction, RequestText, Rules, Said, Situation, Turn,
};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Most exchanges that may be given; the rules look back at a few.
const MOST: usize = 10_000;

/// See `fable/text.py`.
#[pyfunction]
#[pyo3(signature = (catalog, request, history = None, background = None))]
pub fn read_context<'py>(
    py: Python<'py>,
    catalog: &Bound<'py, Catalog>,
    request: &Bound<'py, PyAny>,
    history: Option<&Bound<'py, PyAny>>,
    background: Option<&Bound<'py, PyAny>>,
) -> Answer<Bound<'py, PyDict>> {
    let request = text(request, "a request")?;
    let background = background.map(|said| text(said, "the background")).transpose()?;
    let mut exchanges = Vec::new();
    for exchange in history.map_or(Ok(Vec::new()), |history| items(history, "the history", MOST))? {
        let parts = items(&exchange, "an exchange, which is a request and its answer,", 2)?;
        let [asked, answer] = parts.as_slice() else {
            return Err(Fault::kind("an exchange is a request and its answer, or None instead of it"));
        };
        let answer = if answer.is_none() { None } else { Some(text(answer, "an answer")?) };
        exchanges.push((text(asked, "a request of before")?, answer));
    }
    let turns: Vec<Turn<'_>> = exchanges
        .iter()
        .map(|(asked, answer)| {
            answer.as_deref().map_or(Turn::new(asked), |answer| Turn::new(asked).answered(answer))
        })
        .collect();
    let mut situation = Situation::new(RequestText::new(&request)).after(&turns);
    if let Some(said) = &background {
        situation = situation.with_background(Background::new(said));
    }
    let core = catalog.get().core;
    let context =
        Rules.context(core, situation).map_err(|error| Fault::refused(Code::BadContext, error))?.value;
    let definition = core.definition();
    let made = PyDict::new(py);
    if !definition.tasks.is_empty() {
        made.set_item("task", context.task().and_then(|task| definition.tasks.get(task).copied()))?;
    }
    for (name, value) in definition.signals.iter().zip(context.signals()) {
        made.set_item(name, f64::from(*value))?;
    }
    Ok(made)
}

/// See `fable/text.py`.
#[pyfunction]
pub fn read_reaction(line: &Bound<'_, PyAny>) -> Answer<(Option<f64>, Option<String>)> {
    let line = text(line, "what was said")?;
    let Said { reaction, request } = text::split(&line);
    let reward = reaction
        .and_then(|words| Rules.feedback(Reaction::new(words)).value)
        .map(|feedback| feedback.reward());
    Ok((reward, request.map(str::to_owned)))
}
