//! `fable.prior.fit`: a prior from what was learned of many users.

use crate::catalog::Catalog;
use crate::fault::{Answer, Fault};
use crate::policy::{Held, Policy};
use crate::prior::Prior;
use crate::store::Store;
use crate::user::policy_of;
use crate::words::{items, number, whole};
use fable_core::Settings;
use fable_core::journal::Observation;
use fable_std::prior::{Evidence, FitError, Kept, Options, Population, fit};
use fable_std::prior_file::NOBODY;
use fable_std::replay::Tape;
use fable_std::store::transfer;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

/// Most users, and most observations of one.
const MOST: usize = 1 << 24;

impl From<FitError> for Fault {
    fn from(error: FitError) -> Self {
        match error {
            FitError::Shrinkage => Self::range(error),
            FitError::File(error) => error.into(),
            error => Self::Here("unfit", error.to_string()),
        }
    }
}

/// What was observed of one user, each as (context, action, reward) or with a weight.
fn observed(
    policy: &fable_core::Policy<'_, f64>,
    catalog: &Catalog,
    user: &Bound<'_, PyAny>,
) -> Answer<Evidence> {
    let mut evidence = Evidence::default();
    for item in items(user, "the observations of a user", MOST)? {
        let parts = items(
            &item,
            "an observation, (context, action, reward) or (context, action, reward, weight),",
            4,
        )?;
        let (context, action, reward, weight) = match parts.as_slice() {
            [context, action, reward] => (context, action, reward, 1.0),
            [context, action, reward, weight] => (context, action, reward, number(weight, "a weight")?),
            _ => {
                return Err(Fault::range(
                    "an observation is (context, action, reward), or has a weight after it",
                ));
            }
        };
        let (context, action) = (catalog.read_context(context)?, catalog.read_action(action)?);
        let (reward, weight) = (number(reward, "a reward")?, weight as f32);
        if !fable_core::settings::REWARD.contains(reward) {
            return Err(fable_core::UserError::Reward.into());
        }
        if !fable_core::settings::WEIGHT.contains(f64::from(weight)) {
            return Err(fable_core::UserError::Weight.into());
        }
        let baseline = policy.baseline(&context, action, None);
        evidence.reward(policy, &Observation { context, action, baseline, reward, weight });
    }
    Ok(evidence)
}

/// Everything that is known of users: of a store, of exported users, or of observations.
fn gathered(
    py: Python<'_>,
    policy: &fable_core::Policy<'_, f64>,
    catalog: &Catalog,
    users: &Bound<'_, PyAny>,
) -> Answer<Vec<Evidence>> {
    if let Ok(store) = users.cast::<Store>() {
        let store = store.get().opened.store()?;
        return Ok(py.detach(|| Evidence::of_store(policy, &*store))?);
    }
    let each = |user: &Bound<'_, PyAny>| -> Answer<Evidence> {
        match user.cast::<PyBytes>() {
            Ok(export) => {
                Ok(Evidence::of_tape(policy, &Tape::of_user(&transfer::read(export.as_bytes())?)?)?)
            }
            Err(_) => observed(policy, catalog, user),
        }
    };
    items(users, "the users, a store or a list of exported users or of observations,", MOST)?
        .iter()
        .map(each)
        .collect()
}

/// What the fit found, for people.
fn found<'py>(py: Python<'py>, population: &Population) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("users", population.users)?;
    dict.set_item("observations", population.observations)?;
    let (share, imagined, precision) = match population.kept {
        Kept::Isotropic { precision } => (None, None, Some(precision)),
        Kept::Fitted { imagined, share } => (Some(share), Some(imagined), None),
    };
    dict.set_item("share_of_mean", share)?;
    dict.set_item("imagined_users", imagined)?;
    dict.set_item("isotropic_precision", precision)?;
    dict.set_item("gain", population.gain)?;
    dict.set_item("noise_variance", population.noise_variance)?;
    Ok(dict)
}

/// See `fable/prior.py`.
#[pyfunction(name = "fit_prior")]
#[pyo3(signature = (users, policy = None, *, shrinkage = None, choose_noise = false, steps = None))]
pub fn fit_prior<'py>(
    py: Python<'py>,
    users: &Bound<'py, PyAny>,
    policy: Option<&Bound<'py, PyAny>>,
    shrinkage: Option<&Bound<'py, PyAny>>,
    choose_noise: bool,
    steps: Option<&Bound<'py, PyAny>>,
) -> Answer<(Prior, Bound<'py, PyDict>)> {
    let policy = match (policy, users.cast::<Store>()) {
        (Some(policy), _) => policy_of(policy)?,
        (None, Ok(store)) => store.get().opened.policy.bind(py).clone(),
        (None, Err(_)) => return Err(Fault::kind("without a store the policy has to be given")),
    };
    let own: &Policy = policy.get();
    let (core, settings) = (own.catalog().core, own.settings);
    let base = fable_core::Policy::<f64>::new(core, settings)?;
    let evidence = gathered(py, &base, own.catalog(), users)?;
    let defaults = Options::default();
    let options = Options {
        shrinkage: shrinkage.map(|count| number(count, "shrinkage")).transpose()?,
        choose_noise,
        steps: steps.map_or(Ok(defaults.steps as u64), |steps| whole(steps, "steps", 10_000))? as usize,
        ..defaults
    };
    let (population, bytes) = py.detach(|| -> Answer<_> {
        let population = fit(&base, &evidence, &options)?;
        let chosen = Settings { noise_variance: population.noise_variance, ..settings };
        let bytes = match own.held {
            Held::F32(_) => population.snapshot(&fable_core::Policy::<f32>::new(core, chosen)?, NOBODY)?,
            Held::F64(_) => population.snapshot(&fable_core::Policy::<f64>::new(core, chosen)?, NOBODY)?,
        };
        Ok((population, bytes))
    })?;
    Ok((Prior::of(&bytes)?, found(py, &population)?))
}
