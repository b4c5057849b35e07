//! What `--prior FILE` of several commands names.

use crate::failure::Failure;
use crate::input::read;
use fable_core::catalog::BlockSet;
use fable_core::catalog::{AGENT, RUBRIC, TAU2};
use fable_core::record::RecordError;
use fable_core::{Catalog, Policy, Scalar, Settings};
use fable_std::prior_file::{self, PriorFileError};
use fable_std::replay::{Start, Tape};
use std::path::Path;

/// What to say about a prior that cannot be used: trouble if it is damaged, a mistake if it is the wrong one.
pub(crate) fn refused(
    path: &Path,
    bytes: &[u8],
    catalog: &Catalog<'_>,
    settings: Settings<'_>,
    error: &PriorFileError,
) -> Failure {
    let message = format!("{}: {error}", path.display());
    match error {
        PriorFileError::Record(kind @ (RecordError::Catalog | RecordError::Policy)) => {
            let guess = fitting(bytes, catalog, settings);
            let shape = guess.is_empty() && *kind == RecordError::Catalog;
            let migrate =
                if shape { "; `fable migrate` makes one for this catalog of one for another" } else { "" };
            Failure::Mistake(message + &guess + migrate)
        }
        PriorFileError::Record(RecordError::Scalar { found: 24 }) => {
            Failure::Mistake(message + ": fit it with --scalar f64")
        }
        PriorFileError::Record(RecordError::Scalar { .. }) => {
            Failure::Mistake(message + ": fit it with --scalar f32")
        }
        error if error.is_damage() => Failure::Trouble(message),
        _ => Failure::Mistake(message),
    }
}

/// What a prior was fitted for, if that can be guessed.
fn fitting(bytes: &[u8], catalog: &Catalog<'_>, settings: Settings<'_>) -> String {
    let Ok(header) = prior_file::header(bytes) else { return String::new() };
    let fits = |catalog: &Catalog<'_>, settings: Settings<'_>| {
        Policy::<f64>::new(catalog, settings).is_ok_and(|policy| policy.fingerprint() == header.fingerprint)
    };
    let settings = Settings { retained: BlockSet::FULL, ..settings };
    match [&AGENT, &TAU2, &RUBRIC].into_iter().find(|catalog| fits(catalog, settings)) {
        Some(catalog) => format!("; try --catalog {}", catalog.definition().name),
        None if fits(catalog, Settings::DEFAULT) => "; it fits the default settings".to_owned(),
        None => String::new(),
    }
}

/// The numbers of the prior, if one is named.
pub(crate) fn numbers<T: Scalar>(
    path: Option<&Path>,
    base: &Policy<'_, T>,
) -> Result<Option<Vec<T>>, Failure> {
    let Some(path) = path else { return Ok(None) };
    let bytes = read(path)?;
    prior_file::read(base, &bytes)
        .map(Some)
        .map_err(|error| refused(path, &bytes, base.catalog(), *base.settings(), &error))
}

/// The same in the scalar of choice, for those who keep nothing.
pub(crate) fn rounded<T: Scalar>(
    path: Option<&Path>,
    base: &Policy<'_, T>,
) -> Result<Option<Vec<T>>, Failure> {
    let Some(path) = path else { return Ok(None) };
    let bytes = read(path)?;
    prior_file::read_rounded(base, &bytes)
        .map(Some)
        .map_err(|error| refused(path, &bytes, base.catalog(), *base.settings(), &error))
}

/// Gives a device's life the prior of its policy. A store and an exported user have their own, which has to be the same.
pub(crate) fn give(
    tape: &mut Tape,
    path: Option<&Path>,
    catalog: &Catalog<'_>,
    settings: Settings<'_>,
) -> Result<(), Failure> {
    let Some(path) = path else { return Ok(()) };
    let bytes = read(path)?;
    let digits = tape.digits().map_err(|error| Failure::Trouble(error.to_string()))?;
    let fingerprint = match digits {
        24 => fingerprint::<f32>(path, &bytes, catalog, settings),
        _ => fingerprint::<f64>(path, &bytes, catalog, settings),
    }?;
    match &tape.start {
        Start::Snapshot(_) => tape.prior = Some(bytes),
        Start::Journal { header, .. } if header.fingerprint == fingerprint => {}
        Start::Journal { .. } => {
            let path = path.display();
            return Err(Failure::Mistake(format!(
                "{path}: the user began with another prior, which is known; leave --prior out"
            )));
        }
    }
    Ok(())
}

/// The fingerprint that those have who begin with a prior.
fn fingerprint<T: Scalar>(
    path: &Path,
    bytes: &[u8],
    catalog: &Catalog<'_>,
    settings: Settings<'_>,
) -> Result<u64, Failure> {
    let base = Policy::<T>::new(catalog, settings).map_err(Failure::mistake)?;
    let packed =
        prior_file::read(&base, bytes).map_err(|error| refused(path, bytes, catalog, settings, &error))?;
    Ok(prior_file::informed(&base, Some(&packed)).map_err(Failure::mistake)?.fingerprint())
}
