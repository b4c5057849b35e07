//! What `--prior FILE` of several commands names.

use crate::failure::{Failure, read};
use fable_core::{Catalog, Policy, Scalar, Settings};
use fable_std::prior_file::{self, PriorFileError};
use fable_std::replay::{Start, Tape};
use std::path::Path;

impl Failure {
    /// A prior that cannot be used: trouble if it is damaged, a mistake if it is the wrong one.
    pub(crate) fn prior(path: &Path, error: &PriorFileError) -> Self {
        let message = format!("{}: {error}", path.display());
        match error {
            PriorFileError::Record(fable_core::record::RecordError::Scalar { found }) => {
                let wanted = if *found == 24 { "f64" } else { "f32" };
                Self::Mistake(format!("{message}: fit it with --scalar {wanted}"))
            }
            error if error.is_damage() => Self::Trouble(message),
            _ => Self::Mistake(message),
        }
    }
}

/// The numbers of the prior, if one is named.
pub(crate) fn numbers<T: Scalar>(path: Option<&Path>, base: &Policy<'_, T>) -> Result<Option<Vec<T>>, Failure> {
    let Some(path) = path else { return Ok(None) };
    prior_file::read(base, &read(path)?).map(Some).map_err(|error| Failure::prior(path, &error))
}

/// The same in the scalar of choice, for those who keep nothing.
pub(crate) fn rounded<T: Scalar>(path: Option<&Path>, base: &Policy<'_, T>) -> Result<Option<Vec<T>>, Failure> {
    let Some(path) = path else { return Ok(None) };
    prior_file::read_rounded(base, &read(path)?).map(Some).map_err(|error| Failure::prior(path, &error))
}

/// Gives a device's life the prior of its policy. A store and an exported user have their own, which has to be the same.
pub(crate) fn give(tape: &mut Tape, path: Option<&Path>, catalog: &Catalog<'_>, settings: Settings<'_>) -> Result<(), Failure> {
    let Some(path) = path else { return Ok(()) };
    let bytes = read(path)?;
    let digits = tape.digits().map_err(|error| Failure::Trouble(error.to_string()))?;
    let fingerprint = match digits {
        24 => fingerprint::<f32>(catalog, settings, &bytes),
        _ => fingerprint::<f64>(catalog, settings, &bytes),
    };
    let fingerprint = fingerprint.map_err(|error| Failure::prior(path, &error))?;
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

fn fingerprint<T: Scalar>(catalog: &Catalog<'_>, settings: Settings<'_>, bytes: &[u8]) -> Result<u64, PriorFileError> {
    let base = Policy::<T>::new(catalog, settings)?;
    let packed = prior_file::read(&base, bytes)?;
    Ok(prior_file::informed(&base, Some(&packed))?.fingerprint())
}
