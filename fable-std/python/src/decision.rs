//! `Decision` and `Recommendation`: what was chosen. Names and texts are made when they are looked at.

use crate::catalog::Catalog;
use crate::fault::{Answer, Fault};
use fable_core::journal::Scores;
use fable_core::preference::ProbeOutcome;
use fable_core::{Action, DecisionId};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

/// An action that was chosen, and waits for its reward.
#[pyclass(frozen, module = "fable", name = "Decision")]
pub struct Decision {
    pub catalog: Py<Catalog>,
    pub id: DecisionId,
    pub action: Action,
    pub scores: Scores,
    pub feasible: usize,
    pub probes: Vec<ProbeOutcome>,
    pub propensity: Option<f64>,
    pub propensities: Option<Vec<f64>>,
}

/// The id of a decision, given as such or as its text.
pub fn id(decision: &Bound<'_, PyAny>) -> Answer<DecisionId> {
    if let Ok(decision) = decision.cast::<Decision>() {
        return Ok(decision.get().id);
    }
    let text = decision
        .cast::<PyString>()
        .map_err(|_| Fault::kind("a decision is what decide has returned, or its id"))?;
    let text = text.to_cow().map_err(|_| fable_core::journal::ParseDecisionIdError)?;
    Ok(text.parse()?)
}

#[pymethods]
impl Decision {
    /// The user's number, the incarnation and the round; the place that decided, unless it is 0.
    #[getter(id)]
    fn text(&self) -> String {
        self.id.to_string()
    }

    /// The value of each component.
    #[getter]
    fn action<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let catalog = self.catalog.get();
        catalog.names.action(py, catalog.core, self.action)
    }

    /// The position of the action in the catalog.
    #[getter]
    fn index(&self) -> usize {
        self.action.index()
    }

    /// What the assistant is told.
    #[getter]
    fn instruction(&self) -> String {
        self.catalog.get().instruct(self.action)
    }

    /// The mean score of the action.
    #[getter]
    fn score(&self) -> f64 {
        self.scores.score
    }

    /// What optimism, or the draw, made of it.
    #[getter]
    fn sampled_score(&self) -> f64 {
        self.scores.sampled_score
    }

    /// Whether another feasible action has a higher mean score.
    #[getter]
    fn explored(&self) -> bool {
        self.scores.explored
    }

    /// How many actions there were to choose from.
    #[getter]
    fn feasible(&self) -> usize {
        self.feasible
    }

    /// The coins that were tossed.
    #[getter]
    fn probes<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let contrasts = self.catalog.get().core.contrasts();
        let probe = |probe: &ProbeOutcome| {
            let dict = PyDict::new(py);
            dict.set_item(
                "contrast",
                contrasts.get(usize::from(probe.contrast)).map_or("", |contrast| contrast.name),
            )?;
            dict.set_item("preferred", probe.preferred)?;
            dict.set_item("expected", probe.expected)?;
            Ok(dict)
        };
        self.probes.iter().map(probe).collect()
    }

    /// How probable the action was, where chance is in coins alone (``probe`` with optimism).
    #[getter]
    fn propensity(&self) -> Option<f64> {
        self.propensity
    }

    /// How probable every action was, if that was asked for.
    #[getter]
    fn propensities(&self) -> Option<Vec<f64>> {
        self.propensities.clone()
    }

    fn __repr__(&self) -> String {
        let name =
            self.catalog.get().core.action_name(self.action).map(|name| name.to_string()).unwrap_or_default();
        format!("<fable.Decision {}: {name}>", self.id)
    }
}

/// The best action by what is known. Nothing is remembered.
#[pyclass(frozen, module = "fable", name = "Recommendation")]
pub struct Recommendation {
    pub catalog: Py<Catalog>,
    pub action: Action,
    pub score: f64,
    pub feasible: usize,
}

#[pymethods]
impl Recommendation {
    /// The value of each component.
    #[getter]
    fn action<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let catalog = self.catalog.get();
        catalog.names.action(py, catalog.core, self.action)
    }

    /// The position of the action in the catalog.
    #[getter]
    fn index(&self) -> usize {
        self.action.index()
    }

    /// What the assistant is told.
    #[getter]
    fn instruction(&self) -> String {
        self.catalog.get().instruct(self.action)
    }

    /// The mean score of the action.
    #[getter]
    fn score(&self) -> f64 {
        self.score
    }

    /// How many actions there were to choose from.
    #[getter]
    fn feasible(&self) -> usize {
        self.feasible
    }

    fn __repr__(&self) -> String {
        let name =
            self.catalog.get().core.action_name(self.action).map(|name| name.to_string()).unwrap_or_default();
        format!("<fable.Recommendation: {name}>")
    }
}
