//! What is wrong with a call, and the Python exception that it becomes: a class for each code, those of the service among them.
//!
//! The classes are in `fable/errors.py`; this file finds them by their code.

use fable_core::UserError;
use fable_core::catalog::{ContextError, FeasibleError, OnboardingError};
use fable_core::journal::ParseDecisionIdError;
use fable_core::record::RecordError;
use fable_std::serve::{Code, Refusal};
use fable_std::toml_file::Flaw;
use pyo3::exceptions::{PyOverflowError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use std::fmt::Display;

/// What a call gives.
pub type Answer<T> = Result<T, Fault>;

/// Why there is no answer.
#[derive(Debug)]
pub enum Fault {
    /// What the service would say, too.
    Refused(Refusal),
    /// What only can happen here: a code of `fable/errors.py`, and a sentence.
    Here(&'static str, String),
    /// An exception of Python's own, as it is.
    Raised(PyErr),
}

impl Fault {
    /// A refusal of the service's kind.
    pub fn refused(code: Code, message: impl Display) -> Self {
        Self::Refused(Refusal::new(code, message))
    }

    /// A value of the wrong type.
    pub fn kind(message: impl Display) -> Self {
        Self::refused(Code::BadRequest, message)
    }

    /// A number that is out of its range.
    pub fn range(message: impl Display) -> Self {
        Self::refused(Code::OutOfRange, message)
    }

    /// A mistake in this program.
    pub fn internal(message: impl Display) -> Self {
        Self::refused(Code::Internal, message)
    }

    /// Two threads at once.
    pub fn busy(what: &str) -> Self {
        Self::Here(
            "busy",
            format!("another thread is using this {what}; give each thread its own, or a lock"),
        )
    }

    /// What Python said about a value that should have been something else.
    pub fn of_value(error: PyErr, py: Python<'_>, message: impl Display) -> Self {
        if error.is_instance_of::<PyOverflowError>(py) || error.is_instance_of::<PyValueError>(py) {
            Self::range(message)
        } else if error.is_instance_of::<PyTypeError>(py) {
            Self::kind(message)
        } else {
            Self::Raised(error)
        }
    }
}

macro_rules! refusals {
    ($($error:ty),+) => {
        $(impl From<$error> for Fault {
            fn from(error: $error) -> Self {
                Self::Refused(error.into())
            }
        })+
    };
}
refusals!(ContextError, FeasibleError, OnboardingError, ParseDecisionIdError, UserError, Flaw, Refusal);

impl From<PyErr> for Fault {
    fn from(error: PyErr) -> Self {
        Self::Raised(error)
    }
}

impl From<RecordError> for Fault {
    fn from(error: RecordError) -> Self {
        match error {
            RecordError::Catalog | RecordError::Policy | RecordError::Scalar { .. } => {
                Self::Here("foreign", error.to_string())
            }
            _ => Self::refused(Code::Damaged, error),
        }
    }
}

impl From<Fault> for PyErr {
    fn from(fault: Fault) -> Self {
        let (code, message) = match fault {
            Fault::Raised(error) => return error,
            Fault::Here(code, message) => (code.to_owned(), message),
            Fault::Refused(Refusal { code, message }) => (name(code), message),
        };
        Python::attach(|py| {
            let raise = || -> PyResult<PyErr> {
                let class = py.import("fable.errors")?.getattr("BY_CODE")?.get_item(&code)?;
                Ok(PyErr::from_value(class.call1((&message,))?))
            };
            raise().unwrap_or_else(|_| PyRuntimeError::new_err(format!("{code}: {message}")))
        })
    }
}

/// The code as the protocol writes it.
fn name(code: Code) -> String {
    match serde_json::to_value(code) {
        Ok(serde_json::Value::String(name)) => name,
        _ => "internal".into(),
    }
}
