//! `Catalog`: what can be chosen, by its name, from a TOML file or text, or from Python objects.
//!
//! What a catalog holds lives as long as the process, as in the `fable` command, so that policies, users and the threads of stores can
//! refer to it. The same text is kept once, however often it is read.

use crate::fault::{Answer, Fault};
use crate::names::{Names, text};
use crate::tables;
use fable_core::{Action, Settings};
use fable_std::catalogs::{self, Arena, CatalogFileError, SettingsFileError};
use fable_std::serve::{Code, Questions};
use fable_std::settings::SettingsArguments;
use fable_std::toml_file::{self, FileError, MAX_BYTES, Mistake};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple, PyType};
use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, OnceLock, PoisonError};

/// A catalog of core's that lives as long as the process.
pub type Core = &'static fable_core::Catalog<'static>;

/// The text that a catalog was read from, and what it is called.
#[derive(Clone, Debug)]
struct Source {
    file: String,
    text: String,
}

/// What can be chosen: components with values, contexts, what is learned, contrasts and rules.
///
/// ``Catalog("agent")`` is one that ships (agent, tau2, rubric), ``Catalog("lamp.toml")`` one from a file.
///
/// >>> import fable
/// >>> agent = fable.Catalog("agent")
/// >>> agent.size, agent.dimension, agent.signals
/// (180, 254, ('risk', 'ambiguity', 'memory_need', 'tool_need'))
#[pyclass(frozen, module = "fable", name = "Catalog")]
#[derive(Debug)]
pub struct Catalog {
    pub core: Core,
    pub names: Names,
    source: Option<Source>,
    questions: OnceLock<Questions>,
}

/// Every text that was read.
static READ: LazyLock<Mutex<HashMap<String, Core>>> = LazyLock::new(Mutex::default);

fn read(source: &Source) -> Answer<Core> {
    let mut known = READ.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(core) = known.get(&source.text) {
        return Ok(core);
    }
    // A text with a mistake in it leaves nothing behind.
    catalogs::read(&Arena::new(), &source.file, &source.text)?;
    let arena: &'static Arena = Box::leak(Box::default());
    let core: Core = arena.alloc(catalogs::read(arena, &source.file, &source.text)?);
    known.insert(source.text.clone(), core);
    Ok(core)
}

impl From<Mistake> for Fault {
    fn from(mistake: Mistake) -> Self {
        Self::Here("bad_catalog", mistake.to_string())
    }
}

impl From<FileError> for Fault {
    fn from(error: FileError) -> Self {
        match error {
            FileError::Mistake(mistake) => mistake.into(),
            error => Self::refused(Code::Storage, error),
        }
    }
}

impl From<CatalogFileError> for Fault {
    fn from(error: CatalogFileError) -> Self {
        match error {
            CatalogFileError::File(error) => error.into(),
            error => Self::refused(Code::UnknownName, error),
        }
    }
}

impl Catalog {
    fn of(py: Python<'_>, core: Core, source: Option<Source>) -> Answer<Self> {
        Ok(Self { core, names: Names::new(py, core)?, source, questions: OnceLock::new() })
    }

    fn of_source(py: Python<'_>, file: &str, text: String) -> Answer<Self> {
        if text.len() as u64 > MAX_BYTES {
            return Err(Fault::range(format_args!("a catalog can have at most {MAX_BYTES} bytes")));
        }
        let source = Source { file: file.into(), text };
        Self::of(py, read(&source)?, Some(source))
    }

    /// Settings over others, with what the catalog's own table says in between.
    pub fn settle(
        &self,
        over: Settings<'static>,
        arguments: &SettingsArguments,
    ) -> Result<Settings<'static>, SettingsFileError> {
        match &self.source {
            Some(Source { file, text }) => arguments.resolve_text(over, file, text, self.core),
            None => arguments.resolve_over(over, self.core.definition().name, self.core),
        }
    }

    /// What answers questions about users, with all names of the catalog.
    pub fn questions(&self) -> &Questions {
        self.questions.get_or_init(|| Questions::new(self.core))
    }

    /// The instruction of an action.
    pub fn instruct(&self, action: Action) -> String {
        let mut text = String::new();
        let _ = self.core.instruct(action, &mut text); // writing to a String cannot fail
        text
    }
}

#[pymethods]
impl Catalog {
    #[new]
    fn new(py: Python<'_>, name_or_path: &Bound<'_, PyAny>) -> Answer<Self> {
        let path = py.import("os")?.call_method1("fspath", (name_or_path,));
        let path =
            path.map_err(|_| Fault::kind("a catalog is opened by its name or the path of a TOML file"))?;
        let path = text(&path, "the path of a catalog")?;
        if catalogs::is_file(&path) {
            Self::of_source(py, &path, toml_file::text(&path)?)
        } else {
            Self::of(py, catalogs::open(&path)?, None)
        }
    }

    /// A catalog from the text of a TOML file.
    ///
    /// >>> import fable
    /// >>> text = fable.Catalog("tau2").to_toml()
    /// >>> fable.Catalog.from_toml(text).fingerprint == fable.Catalog("tau2").fingerprint
    /// True
    #[classmethod]
    fn from_toml(_class: &Bound<'_, PyType>, py: Python<'_>, toml: &Bound<'_, PyAny>) -> Answer<Self> {
        Self::of_source(py, "catalog", text(toml, "the text of a catalog")?)
    }

    /// The same tables as Python objects.
    ///
    /// >>> import fable
    /// >>> lamp = fable.Catalog.from_dict({
    /// ...     "name": "lamp",
    /// ...     "signals": ["daylight"],
    /// ...     "components": [{"name": "light", "values": [{"name": "warm"}, {"name": "cold"}]}],
    /// ...     "dictionary": {"blocks": [{"of": "light"}, {"of": "light", "scaled_by": "daylight"}]},
    /// ... })
    /// >>> lamp.size, lamp.coordinates
    /// (2, ('light=warm', 'light=cold', 'daylight*light=warm', 'daylight*light=cold'))
    #[classmethod]
    fn from_dict(_class: &Bound<'_, PyType>, py: Python<'_>, tables: &Bound<'_, PyAny>) -> Answer<Self> {
        Self::of_source(py, "catalog", tables::toml(tables)?)
    }

    /// The catalog as the text of a TOML file.
    fn to_toml(&self) -> String {
        self.source.as_ref().map_or_else(|| catalogs::write(self.core), |source| source.text.clone())
    }

    /// Its name.
    #[getter]
    fn name(&self) -> &str {
        self.core.definition().name
    }

    /// The values of each component, in their order.
    #[getter]
    fn components<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.names.components(py)
    }

    /// The tasks of contexts.
    #[getter]
    fn tasks<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.core.definition().tasks)
    }

    /// The signals of contexts, numbers from 0 to 1.
    #[getter]
    fn signals<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.core.definition().signals)
    }

    /// The names of what is learned.
    #[getter]
    fn coordinates<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let names = (0..self.core.dimension()).filter_map(|index| self.core.coordinate_name(index));
        PyTuple::new(py, names.map(|name| name.to_string()).collect::<Vec<_>>())
    }

    /// The names of the declared contrasts.
    #[getter]
    fn contrasts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.core.contrasts().iter().map(|contrast| contrast.name).collect::<Vec<_>>())
    }

    /// The number of coordinates.
    #[getter]
    fn dimension(&self) -> usize {
        self.core.dimension()
    }

    /// The number of actions; the last component varies fastest.
    #[getter]
    fn size(&self) -> usize {
        self.core.actions()
    }

    /// Covers everything but texts.
    #[getter]
    fn fingerprint(&self) -> String {
        format!("{:016x}", self.core.fingerprint())
    }

    /// The value of each component of an action.
    ///
    /// >>> import fable
    /// >>> fable.Catalog("agent").action(0)
    /// {'memory': 'no_memory', 'tool': 'no_tool', 'style': 'direct'}
    fn action<'py>(&self, py: Python<'py>, index: &Bound<'_, PyAny>) -> Answer<Bound<'py, PyDict>> {
        Ok(self.names.action(py, self.core, self.read_action(index)?)?)
    }

    /// The position of an action.
    ///
    /// >>> import fable
    /// >>> fable.Catalog("agent").index({"memory": "no_memory", "tool": "no_tool", "style": "concise"})
    /// 1
    fn index(&self, action: &Bound<'_, PyAny>) -> Answer<usize> {
        Ok(self.read_action(action)?.index())
    }

    /// What the assistant is told.
    ///
    /// >>> import fable
    /// >>> fable.Catalog("agent").instruction(1)
    /// 'Do not use stored memory. Use no tool. Answer briefly.'
    fn instruction(&self, action: &Bound<'_, PyAny>) -> Answer<String> {
        Ok(self.instruct(self.read_action(action)?))
    }

    fn __len__(&self) -> usize {
        self.core.actions()
    }

    fn __repr__(&self) -> String {
        let (name, actions) = (self.core.definition().name, self.core.actions());
        format!("<fable.Catalog {name}: {actions} actions, {} coordinates>", self.core.dimension())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        let class = py.get_type::<Self>();
        match &self.source {
            Some(source) => Ok((class.getattr("from_toml")?, (source.text.clone(),))),
            None => Ok((class.into_any(), (self.core.definition().name.into(),))),
        }
    }
}
