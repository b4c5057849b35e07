//! The names of a catalog as Python objects, made once: a name that is given is looked up by its hash, as Python does it.

use crate::fault::{Answer, Fault};
use fable_core::{Action, Catalog};
use fable_std::catalogs::lookup;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};

/// A component, its values, and the position of each.
#[derive(Debug)]
struct Component {
    name: Py<PyString>,
    values: Vec<Py<PyString>>,
    positions: Py<PyDict>,
}

/// See the [module](self).
#[derive(Debug)]
pub struct Names {
    /// The key of a context's task.
    pub task: Py<PyString>,
    /// The signals in catalog order.
    pub signals: Vec<Py<PyString>>,
    tasks: Py<PyDict>,
    components: Vec<Component>,
    positions: Py<PyDict>,
}

fn strings<'n>(py: Python<'_>, names: impl Iterator<Item = &'n str>) -> Vec<Py<PyString>> {
    names.map(|name| PyString::intern(py, name).unbind()).collect()
}

fn positions(py: Python<'_>, names: &[Py<PyString>]) -> PyResult<Py<PyDict>> {
    let dict = PyDict::new(py);
    for (position, name) in names.iter().enumerate() {
        dict.set_item(name, position)?;
    }
    Ok(dict.unbind())
}

/// The text of a name.
pub fn text(name: &Bound<'_, PyAny>, what: &str) -> Answer<String> {
    let wrong = || Fault::kind(format_args!("{what} must be a string"));
    let name = name.cast::<PyString>().map_err(|_| wrong())?;
    let unreadable = |_| Fault::kind(format_args!("{what} has a character that is half of one"));
    Ok(name.to_cow().map_err(unreadable)?.into_owned())
}

/// The position of a name; an error if it is not even a string.
fn find(positions: &Py<PyDict>, name: &Bound<'_, PyAny>, what: &str) -> Answer<Option<usize>> {
    if !name.is_instance_of::<PyString>() {
        return Err(Fault::kind(format_args!("{what} must be a string")));
    }
    let found = positions.bind(name.py()).get_item(name)?;
    Ok(found.map(|position| position.extract()).transpose()?)
}

impl Names {
    /// Makes the names of a catalog.
    pub fn new(py: Python<'_>, catalog: &Catalog<'_>) -> PyResult<Self> {
        let definition = catalog.definition();
        let component = |component: &fable_core::catalog::Component<'_>| -> PyResult<Component> {
            let values = strings(py, component.values.iter().map(|value| value.name));
            let name = PyString::intern(py, component.name).unbind();
            Ok(Component { name, positions: positions(py, &values)?, values })
        };
        let components = definition.components.iter().map(component).collect::<PyResult<Vec<_>>>()?;
        let names: Vec<_> = components.iter().map(|component| component.name.clone_ref(py)).collect();
        Ok(Self {
            task: PyString::intern(py, "task").unbind(),
            signals: strings(py, definition.signals.iter().copied()),
            tasks: positions(py, &strings(py, definition.tasks.iter().copied()))?,
            positions: positions(py, &names)?,
            components,
        })
    }

    /// The position of a task.
    pub fn task(&self, catalog: &Catalog<'_>, name: &Bound<'_, PyAny>) -> Answer<usize> {
        match find(&self.tasks, name, "a task")? {
            Some(task) => Ok(task),
            None => Ok(lookup::task(catalog, &text(name, "a task")?)?),
        }
    }

    /// The position of a component.
    pub fn component(&self, catalog: &Catalog<'_>, name: &Bound<'_, PyAny>) -> Answer<u8> {
        match find(&self.positions, name, "a component")?.and_then(|found| u8::try_from(found).ok()) {
            Some(component) => Ok(component),
            None => Ok(lookup::component(catalog, &text(name, "a component")?)?),
        }
    }

    /// The position of a value of a component.
    pub fn value(&self, catalog: &Catalog<'_>, component: u8, name: &Bound<'_, PyAny>) -> Answer<u8> {
        let known = self
            .components
            .get(usize::from(component))
            .ok_or_else(|| Fault::internal("no such component"))?;
        match find(&known.positions, name, "a value")?.and_then(|found| u8::try_from(found).ok()) {
            Some(value) => Ok(value),
            None => Ok(lookup::value_of(catalog, component, &text(name, "a value")?)?),
        }
    }

    /// An action as a dict, the value of each component.
    pub fn action<'py>(
        &self,
        py: Python<'py>,
        catalog: &Catalog<'_>,
        action: Action,
    ) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        let values = catalog.values(action).unwrap_or_default();
        for (component, value) in self.components.iter().zip(&values) {
            if let Some(value) = component.values.get(usize::from(*value)) {
                dict.set_item(&component.name, value)?;
            }
        }
        Ok(dict)
    }

    /// Every component with its values.
    pub fn components<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for component in &self.components {
            dict.set_item(&component.name, PyTuple::new(py, &component.values)?)?;
        }
        Ok(dict)
    }
}
