//! `Policy`: a catalog with settings, and a prior that it may own.

use crate::catalog::Catalog;
use crate::fault::{Answer, Fault};
use crate::names::text;
use crate::prior::Prior;
use crate::tables;
use crate::words::{items, number, whole};
use fable_core::settings::SettingsError;
use fable_core::{Scalar, Settings};
use fable_std::catalogs::SettingsFileError;
use fable_std::prior_file::{self, PriorFileError};
use fable_std::serve::Code;
use fable_std::settings::{self, SettingsArguments};
use fable_std::toml_file::Flaw;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};
use self_cell::self_cell;
use serde::Deserialize;
use std::sync::Arc;

type Single<'p> = fable_core::Policy<'p, f32>;
type Double<'p> = fable_core::Policy<'p, f64>;

self_cell!(
    /// A policy in single precision with the numbers of its prior, if it has one.
    pub struct Held32 {
        owner: Option<Vec<f32>>,
        #[covariant]
        dependent: Single,
    }
);
self_cell!(
    /// The same in double precision.
    pub struct Held64 {
        owner: Option<Vec<f64>>,
        #[covariant]
        dependent: Double,
    }
);

/// A policy in either scalar, shared by its users.
#[derive(Clone)]
pub enum Held {
    F32(Arc<Held32>),
    F64(Arc<Held64>),
}

/// Does something under a policy in whichever scalar it is.
macro_rules! under {
    ($held:expr, $policy:ident => $body:expr) => {
        match $held {
            $crate::policy::Held::F32(held) => {
                let $policy = held.borrow_dependent();
                $body
            }
            $crate::policy::Held::F64(held) => {
                let $policy = held.borrow_dependent();
                $body
            }
        }
    };
}

/// A catalog with settings: everything about deciding and learning that is not one user's. Users and threads share it.
///
/// Every setting of the learner is a keyword (``Settings``); the table ``[settings]`` of the catalog's file comes before the defaults.
///
/// >>> import fable
/// >>> policy = fable.Policy(fable.Catalog("agent"), nu=0.3, seed=7)
/// >>> policy.settings["nu"], policy.settings["seed"], policy.scalar
/// (0.3, 7, 'f32')
#[pyclass(frozen, module = "fable", name = "Policy")]
pub struct Policy {
    pub catalog: Py<Catalog>,
    pub held: Held,
    pub settings: Settings<'static>,
    /// The prior as a file.
    pub prior: Option<Arc<[u8]>>,
}

impl From<SettingsError> for Fault {
    fn from(error: SettingsError) -> Self {
        Self::range(error)
    }
}

impl From<PriorFileError> for Fault {
    fn from(error: PriorFileError) -> Self {
        match error {
            PriorFileError::Settings(error) => error.into(),
            PriorFileError::Record(error) => error.into(),
            error if error.is_damage() => Self::refused(Code::Damaged, error),
            error => Self::Here("foreign", error.to_string()),
        }
    }
}

impl From<SettingsFileError> for Fault {
    fn from(error: SettingsFileError) -> Self {
        match error {
            SettingsFileError::Flag { flaw: Flaw::Settings(error), .. } => error.into(),
            SettingsFileError::Flag { flaw: Flaw::Form(message), .. } => Self::kind(message),
            SettingsFileError::Flag { flaw, .. } => flaw.into(),
            SettingsFileError::File(error) => error.into(),
            error => Self::internal(error),
        }
    }
}

/// Settings by their names.
fn arguments(given: Option<&Bound<'_, PyDict>>) -> Answer<SettingsArguments> {
    let mut arguments = SettingsArguments::default();
    let mut texts = toml::Table::new();
    for (name, value) in given.into_iter().flatten().filter(|(_, value)| !value.is_none()) {
        let name = text(&name, "the name of a setting")?;
        let real = || number(&value, &name).map(Some);
        let count = || Ok::<_, Fault>(Some(whole(&value, &name, u64::from(u32::MAX))? as u32));
        match name.as_str() {
            "noise_variance" => arguments.noise_variance = real()?,
            "precision_per_feature" => arguments.precision_per_feature = real()?,
            "base_precision" => arguments.base_precision = real()?,
            "cost_weight" => arguments.cost_weight = real()?,
            "optimism" => arguments.optimism = real()?,
            "nu" => arguments.nu = real()?,
            "delta" => arguments.delta = real()?,
            "alpha" => arguments.alpha = real()?,
            "prior_radius" => arguments.prior_radius = real()?,
            "noise_proxy" => arguments.noise_proxy = real()?,
            "probe" => arguments.probe = real()?,
            "min_evidence" => arguments.min_evidence = count()?,
            "site" => arguments.site = count()?,
            "seed" => arguments.seed = Some(whole(&value, "seed", u64::MAX)?),
            "half_life" if value.extract::<i64>().is_ok() => {
                texts.insert(
                    name.clone(),
                    toml::Value::String(whole(&value, "half_life", 65_535)?.to_string()),
                );
            }
            "scale" | "half_life" | "on_change" | "deadline" | "expiry" | "context_adapter"
            | "feedback_adapter" => {
                texts.insert(name.clone(), toml::Value::String(text(&value, &name)?));
            }
            "retained" => {
                let blocks = items(&value, "'retained', the names of blocks,", 64)?;
                arguments.retained =
                    Some(blocks.iter().map(|block| text(block, "a block")).collect::<Answer<_>>()?);
            }
            _ => return Err(Fault::kind(format_args!("there is no setting '{name}'"))),
        }
    }
    let texts = SettingsArguments::deserialize(texts).map_err(|error| Fault::range(error.message()))?;
    let SettingsArguments {
        scale,
        half_life,
        on_change,
        deadline,
        expiry,
        context_adapter,
        feedback_adapter,
        ..
    } = texts;
    Ok(SettingsArguments {
        scale,
        half_life,
        on_change,
        deadline,
        expiry,
        context_adapter,
        feedback_adapter,
        ..arguments
    })
}

/// A policy with the numbers of a prior.
macro_rules! hold {
    ($held:ident, $scalar:ty, $core:expr, $settings:expr, $prior:expr) => {{
        let base = fable_core::Policy::<$scalar>::new($core, $settings)?;
        let numbers = $prior.map(|bytes| prior_file::read(&base, bytes)).transpose()?;
        let held = $held::try_new(numbers, |numbers| prior_file::informed(&base, numbers.as_deref()));
        Arc::new(held?)
    }};
}

impl Policy {
    fn make(
        over: Settings<'static>,
        catalog: &Bound<'_, PyAny>,
        scalar: &Bound<'_, PyAny>,
        prior: Option<&Bound<'_, PyAny>>,
        given: Option<&Bound<'_, PyDict>>,
    ) -> Answer<Self> {
        let catalog =
            catalog.cast::<Catalog>().map_err(|_| Fault::kind("a policy is made of a fable.Catalog"))?;
        let own = catalog.get();
        let settings = own.settle(over, &arguments(given)?)?;
        let prior: Option<Arc<[u8]>> = match prior {
            None => None,
            Some(prior) => Some(crate::prior::bytes(prior)?),
        };
        let (core, bytes) = (own.core, prior.as_deref());
        let held = match text(scalar, "the scalar")?.as_str() {
            "f32" => Held::F32(hold!(Held32, f32, core, settings, bytes)),
            "f64" => Held::F64(hold!(Held64, f64, core, settings, bytes)),
            other => return Err(Fault::range(format_args!("the scalar is 'f32' or 'f64', not '{other}'"))),
        };
        Ok(Self { catalog: catalog.clone().unbind(), held, settings, prior })
    }

    /// The catalog's own words.
    pub fn catalog(&self) -> &Catalog {
        self.catalog.get()
    }
}

#[pymethods]
impl Policy {
    #[new]
    #[pyo3(signature = (catalog, *, scalar = None, prior = None, **settings))]
    fn new(
        catalog: &Bound<'_, PyAny>,
        scalar: Option<&Bound<'_, PyAny>>,
        prior: Option<&Bound<'_, PyAny>>,
        settings: Option<&Bound<'_, PyDict>>,
    ) -> Answer<Self> {
        let single = pyo3::types::PyString::intern(catalog.py(), "f32").into_any();
        Self::make(Settings::DEFAULT, catalog, scalar.unwrap_or(&single), prior, settings)
    }

    /// The paper's learner: scores from a draw, a precision of 16 in every coordinate, nothing fades.
    ///
    /// >>> import fable
    /// >>> fable.Policy.paper(fable.Catalog("tau2")).settings["nu"]
    /// 0.3
    #[classmethod]
    #[pyo3(signature = (catalog, *, scalar = None, prior = None, **settings))]
    fn paper(
        _class: &Bound<'_, PyType>,
        catalog: &Bound<'_, PyAny>,
        scalar: Option<&Bound<'_, PyAny>>,
        prior: Option<&Bound<'_, PyAny>>,
        settings: Option<&Bound<'_, PyDict>>,
    ) -> Answer<Self> {
        let single = pyo3::types::PyString::intern(catalog.py(), "f32").into_any();
        Self::make(Settings::PAPER, catalog, scalar.unwrap_or(&single), prior, settings)
    }

    /// What can be chosen.
    #[getter(catalog)]
    fn own_catalog(&self, py: Python<'_>) -> Py<Catalog> {
        self.catalog.clone_ref(py)
    }

    /// The numbers that users are kept in.
    #[getter]
    fn scalar(&self) -> &'static str {
        match self.held {
            Held::F32(_) => "f32",
            Held::F64(_) => "f64",
        }
    }

    /// Covers what gives a stored number its meaning: snapshots belong to one.
    #[getter]
    fn fingerprint(&self) -> String {
        under!(&self.held, policy => format!("{:016x}", policy.fingerprint()))
    }

    /// The settings in force, by their names.
    #[getter]
    fn settings<'py>(&self, py: Python<'py>) -> Answer<Bound<'py, PyDict>> {
        // The seed may be larger than what TOML has.
        let without_seed = Settings { seed: 0, ..self.settings };
        let text = settings::write(&without_seed, self.catalog().core);
        let table: toml::Table = text.parse().map_err(Fault::internal)?;
        let own = table
            .get("settings")
            .and_then(toml::Value::as_table)
            .ok_or_else(|| Fault::internal("no settings"))?;
        let dict = tables::dict(py, own)?;
        dict.set_item("seed", self.settings.seed)?;
        Ok(dict)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> Answer<(Bound<'py, PyAny>, Remade<'py>)> {
        let remake = py.import("fable")?.getattr("_fable")?.getattr("_policy")?;
        let prior = self.prior.as_ref().map(|prior| Prior { bytes: Arc::clone(prior) });
        Ok((remake, (self.catalog.clone_ref(py), self.scalar(), prior, self.settings(py)?)))
    }

    fn __repr__(&self) -> String {
        format!(
            "<fable.Policy of {} in {}, {}>",
            self.catalog().core.definition().name,
            self.scalar(),
            self.fingerprint()
        )
    }
}

/// What a policy is made of again.
type Remade<'py> = (Py<Catalog>, &'static str, Option<Prior>, Bound<'py, PyDict>);

/// A policy as it was: every setting is given, so nothing of the catalog's own table matters.
#[pyfunction(name = "_policy")]
pub fn remake(
    catalog: &Bound<'_, PyAny>,
    scalar: &Bound<'_, PyAny>,
    prior: Option<&Bound<'_, PyAny>>,
    settings: &Bound<'_, PyDict>,
) -> Answer<Policy> {
    if !settings.contains("half_life")? {
        settings.set_item("half_life", "none")?;
    }
    Policy::make(Settings::DEFAULT, catalog, scalar, prior, Some(settings))
}

/// The bytes that one user takes, for those who have many.
pub fn user_bytes<T: Scalar>(policy: &fable_core::Policy<'_, T>) -> usize {
    size_of::<fable_core::host::HostLearner<T>>() + policy.catalog().state_len() * size_of::<T>()
}
