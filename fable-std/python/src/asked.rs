//! Questions and changes as ops of the service, made of what a caller gives. A user in memory and one of a store are asked alike.

use crate::catalog::Catalog;
use crate::decision;
use crate::fault::{Answer, Fault};
use crate::json;
use crate::names::text;
use crate::words::time;
use fable_core::UserError;
use fable_core::preference::Comparison;
use fable_std::catalogs::lookup;
use fable_std::serve::Op;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::Value;

/// An argument that may be left out.
pub type Given<'a, 'py> = Option<&'a Bound<'py, PyAny>>;

/// What `contrast` is called with.
pub struct Contrast<'a, 'py> {
    pub name: Given<'a, 'py>,
    pub context: Given<'a, 'py>,
    pub prefer: Given<'a, 'py>,
    pub over: Given<'a, 'py>,
    pub total: bool,
    pub rules: [Given<'a, 'py>; 3],
}

impl Contrast<'_, '_> {
    /// A declared contrast by its name, or two actions in a context.
    pub fn op(&self, catalog: &Catalog, user: &str) -> Answer<Op> {
        let allowed =
            self.rules.iter().any(Option::is_some).then(|| catalog.read_feasible(self.rules)).transpose()?;
        let (comparison, declared) = match (self.name, self.context, self.prefer, self.over) {
            (Some(name), None, None, None) if !self.total => {
                let declared = lookup::contrast(catalog.core, &text(name, "the name of a contrast")?)?;
                let comparison = Comparison::declared(catalog.core, declared).ok_or(UserError::Comparison)?;
                (comparison, Some(declared))
            }
            (None, Some(context), Some(prefer), Some(over)) => {
                let context = catalog.read_context(context)?;
                let (prefer, over) = (catalog.read_action(prefer)?, catalog.read_action(over)?);
                (Comparison { context, prefer, over, total: self.total }, None)
            }
            _ => return Err(Fault::kind("a contrast has either a name, or context, prefer and over")),
        };
        Ok(Op::Contrast { user: user.into(), comparison, declared, allowed })
    }
}

/// `explain`.
pub fn explain(
    catalog: &Catalog,
    decision: &Bound<'_, PyAny>,
    against: Given<'_, '_>,
    defaults: Given<'_, '_>,
) -> Answer<Op> {
    let against = against.map(|against| catalog.read_action(against)).transpose()?;
    Ok(Op::Explain { decision: decision::id(decision)?, against, defaults: catalog.read_defaults(defaults)? })
}

/// `waiting`.
pub fn waiting(user: &str, at: Given<'_, '_>) -> Answer<Op> {
    Ok(Op::Waiting { user: user.into(), at: time(at)? })
}

/// What coins have shown about every declared contrast, each asked for with `ask`.
pub fn probes<'py>(
    py: Python<'py>,
    catalog: &Catalog,
    user: &str,
    mut ask: impl FnMut(Op) -> Answer<Value>,
) -> Answer<Bound<'py, PyDict>> {
    let shown = PyDict::new(py);
    for (declared, contrast) in catalog.core.contrasts().iter().enumerate() {
        let comparison = Comparison::declared(catalog.core, declared).ok_or(UserError::Comparison)?;
        let answer =
            ask(Op::Contrast { user: user.into(), comparison, declared: Some(declared), allowed: None })?;
        let coins = PyDict::new(py);
        for key in ["trials", "e_value", "needed", "average", "certified"] {
            coins.set_item(key, json::object(py, answer.get(key).unwrap_or(&Value::Null))?)?;
        }
        shown.set_item(contrast.name, coins)?;
    }
    Ok(shown)
}
