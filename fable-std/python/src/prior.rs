//! `Prior`: what users have in common, as the file that `fable prior fit` writes.

use crate::fault::{Answer, Fault};
use fable_std::prior_file;
use fable_std::serve::Code;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyType};
use std::path::PathBuf;
use std::sync::Arc;

/// What users have in common, as ``fable prior fit`` writes it. See ``fable.prior.fit``.
#[pyclass(frozen, module = "fable", name = "Prior")]
#[derive(Debug)]
pub struct Prior {
    pub bytes: Arc<[u8]>,
}

impl Prior {
    /// A prior of bytes that begin like one; whether it fits is seen when a policy is made of it.
    pub fn of(bytes: &[u8]) -> Answer<Self> {
        prior_file::header(bytes)?;
        Ok(Self { bytes: bytes.into() })
    }
}

/// The bytes of a prior.
pub fn bytes(prior: &Bound<'_, PyAny>) -> Answer<Arc<[u8]>> {
    let prior = prior.cast::<Prior>().map_err(|_| Fault::kind("a prior is a fable.Prior, or None"))?;
    Ok(Arc::clone(&prior.get().bytes))
}

/// Why a file cannot be read or written.
pub fn file(path: &std::path::Path, error: &std::io::Error) -> Fault {
    Fault::refused(Code::Storage, format_args!("{}: {error}", path.display()))
}

/// Largest file that is taken for a prior.
const MOST: u64 = 64 << 20;

#[pymethods]
impl Prior {
    /// Reads a prior from a file; ``fable prior fit`` writes such files, too.
    #[classmethod]
    fn load(_class: &Bound<'_, PyType>, path: PathBuf) -> Answer<Self> {
        let length = std::fs::metadata(&path).map_err(|error| file(&path, &error))?.len();
        if length > MOST {
            return Err(Fault::refused(Code::Damaged, "the file is larger than any prior"));
        }
        Self::of(&std::fs::read(&path).map_err(|error| file(&path, &error))?)
    }

    /// A prior from the bytes of its file.
    #[classmethod]
    fn from_bytes(_class: &Bound<'_, PyType>, data: &[u8]) -> Answer<Self> {
        Self::of(data)
    }

    /// Writes the file.
    fn save(&self, path: PathBuf) -> Answer<()> {
        std::fs::write(&path, &self.bytes).map_err(|error| file(&path, &error))
    }

    /// The bytes of the file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.bytes)
    }

    /// The numbers that it is in.
    #[getter]
    fn scalar(&self) -> Answer<&'static str> {
        Ok(if prior_file::header(&self.bytes)?.digits == 24 { "f32" } else { "f64" })
    }

    fn __repr__(&self) -> Answer<String> {
        Ok(format!("<fable.Prior in {}, {} bytes>", self.scalar()?, self.bytes.len()))
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| other.get().bytes == self.bytes)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        Ok((py.get_type::<Self>().getattr("from_bytes")?, (self.to_bytes(py),)))
    }

    fn __hash__(&self) -> u64 {
        u64::from(fable_core::record::checksum(&self.bytes))
    }
}
