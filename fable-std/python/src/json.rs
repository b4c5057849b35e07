//! Answers of the service as Python objects, under the keys that they have there.

use crate::fault::{Answer, Fault};
use fable_std::serve::{Code, Refusal};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyList, PyString};
use serde_json::Value;

/// What a line says.
pub fn read(line: &[u8]) -> Answer<Value> {
    serde_json::from_slice(line).map_err(Fault::internal)
}

/// Why a request was refused.
pub fn refusal(code: Code, line: &[u8]) -> Fault {
    let message =
        read(line).ok().and_then(|line| Some(line.get("error")?.get("message")?.as_str()?.to_owned()));
    Fault::Refused(Refusal { code, message: message.unwrap_or_default() })
}

/// A number of an answer.
pub fn number(value: &Value, key: &str) -> Answer<f64> {
    value
        .get(key)
        .and_then(Value::as_f64)
        .ok_or_else(|| Fault::internal(format_args!("no '{key}' in an answer")))
}

/// A whole number of an answer.
pub fn count(value: &Value, key: &str) -> Answer<u64> {
    value
        .get(key)
        .and_then(Value::as_u64)
        .ok_or_else(|| Fault::internal(format_args!("no '{key}' in an answer")))
}

/// As a Python object.
pub fn object<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Null => py.None().into_bound(py),
        Value::Bool(truth) => PyBool::new(py, *truth).to_owned().into_any(),
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(whole), _) => whole.into_pyobject(py)?.into_any(),
            (None, Some(whole)) => whole.into_pyobject(py)?.into_any(),
            (None, None) => PyFloat::new(py, number.as_f64().unwrap_or(f64::NAN)).into_any(),
        },
        Value::String(text) => PyString::new(py, text).into_any(),
        Value::Array(items) => {
            let items = items.iter().map(|item| object(py, item)).collect::<PyResult<Vec<_>>>()?;
            PyList::new(py, items)?.into_any()
        }
        Value::Object(fields) => {
            let dict = PyDict::new(py);
            for (key, value) in fields {
                dict.set_item(key, object(py, value)?)?;
            }
            dict.into_any()
        }
    })
}
