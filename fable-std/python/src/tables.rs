//! Python objects as TOML, for catalogs that are written in Python, and tables of settings as Python objects.

use crate::fault::{Answer, Fault};
use crate::names::text;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use toml::{Table, Value};

/// How deep tables can be in each other, and how many values there can be in all: a table may be inside itself.
const DEPTH: usize = 8;
const VALUES: usize = 100_000;

/// The tables of a catalog as text.
pub fn toml(tables: &Bound<'_, PyAny>) -> Answer<String> {
    let dict = tables.cast::<PyDict>().map_err(|_| Fault::kind("the tables of a catalog must be a dict"))?;
    let table = table(dict, 0, &mut 0)?;
    toml::to_string(&table).map_err(|error| Fault::Here("bad_catalog", error.to_string()))
}

fn table(dict: &Bound<'_, PyDict>, depth: usize, count: &mut usize) -> Answer<Table> {
    dict.iter()
        .map(|(key, item)| Ok((text(&key, "the key of a table")?, value(&item, depth + 1, count)?)))
        .collect()
}

fn value(item: &Bound<'_, PyAny>, depth: usize, count: &mut usize) -> Answer<Value> {
    *count += 1;
    if depth > DEPTH || *count > VALUES {
        return Err(Fault::range(
            "the tables of a catalog are too deep in each other, or there are too many",
        ));
    }
    if let Ok(dict) = item.cast::<PyDict>() {
        return Ok(Value::Table(table(dict, depth, count)?));
    }
    let mut list = |items: &mut dyn Iterator<Item = Bound<'_, PyAny>>| -> Answer<Value> {
        Ok(Value::Array(items.map(|item| value(&item, depth + 1, count)).collect::<Answer<_>>()?))
    };
    if let Ok(items) = item.cast::<PyList>() {
        return list(&mut items.iter());
    }
    if let Ok(items) = item.cast::<PyTuple>() {
        return list(&mut items.iter());
    }
    if item.is_instance_of::<PyString>() {
        return Ok(Value::String(text(item, "a text in a catalog")?));
    }
    if let Ok(truth) = item.cast::<PyBool>() {
        return Ok(Value::Boolean(truth.is_true()));
    }
    if item.is_instance_of::<PyInt>() {
        let number = item
            .extract()
            .map_err(|error| Fault::of_value(error, item.py(), "a whole number is too large"))?;
        return Ok(Value::Integer(number));
    }
    if let Ok(number) = item.cast::<PyFloat>() {
        return Ok(Value::Float(number.value()));
    }
    let kind = item.get_type().name()?;
    Err(Fault::kind(format_args!("a catalog has dicts, lists, texts, numbers and truth values, not {kind}")))
}

/// A table as a dict.
pub fn dict<'py>(py: Python<'py>, table: &Table) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (key, value) in table {
        dict.set_item(key, object(py, value)?)?;
    }
    Ok(dict)
}

fn object<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::String(text) => PyString::new(py, text).into_any(),
        Value::Integer(number) => number.into_pyobject(py)?.into_any(),
        Value::Float(number) => PyFloat::new(py, *number).into_any(),
        Value::Boolean(truth) => PyBool::new(py, *truth).to_owned().into_any(),
        Value::Datetime(time) => PyString::new(py, &time.to_string()).into_any(),
        Value::Array(items) => {
            let items = items.iter().map(|item| object(py, item)).collect::<PyResult<Vec<_>>>()?;
            PyList::new(py, items)?.into_any()
        }
        Value::Table(table) => dict(py, table)?.into_any(),
    })
}
