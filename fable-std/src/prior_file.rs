//! A prior as a file: the snapshot of a user who has done nothing yet, with zero rounds.
//!
//! `fable prior fit` writes one for nobody, [`address`] makes it one for a certain user. It belongs to the catalog and the settings
//! that it was fitted under, and to one scalar. Whoever begins with it has a policy of their own, with another fingerprint than the
//! policy without it: what was learned from one prior cannot be taken for what was learned from another.
//!
//! ```
//! use fable_core::{HostUser, Policy, Settings, catalog::TAU2};
//! use fable_std::prior_file::{informed, read, write};
//!
//! let base = Policy::<f64>::new(&TAU2, Settings::default())?;
//! let mut packed = HostUser::<f64>::new(&base, "")?.learner().posterior().packed().to_vec();
//! packed[0] = 0.01; // somebody is sure about the first coordinate
//!
//! let bytes = write(&base, &packed, 0)?;
//! let numbers = read(&base, &bytes)?;
//! let policy = informed(&base, Some(&numbers))?;
//! assert_eq!(numbers, packed);
//! assert_ne!(policy.fingerprint(), base.fingerprint());
//! assert_eq!(informed(&base, None)?.fingerprint(), base.fingerprint());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use fable_core::host::HostLearner;
use fable_core::posterior::{Factor, Prior, PriorError};
use fable_core::record::{HEADER_LEN, Header, RecordError};
use fable_core::settings::SettingsError;
use fable_core::{Policy, Scalar, UserError};
use std::fmt;

/// Whom a prior for everybody is addressed to.
pub const NOBODY: u64 = 0;

/// The packed numbers of a prior.
///
/// # Errors
/// No such file, one of another catalog, of other settings or in the other scalar, or the snapshot of a user who has done something.
pub fn read<T: Scalar>(base: &Policy<'_, T>, bytes: &[u8]) -> Result<Vec<T>, PriorFileError> {
    let mut learner = HostLearner::<T>::for_policy(base);
    learner.restore(base, bytes)?;
    if learner.state().rounds() > 0 || learner.state().observations() > 0 {
        return Err(PriorFileError::NotAPrior);
    }
    Ok(learner.posterior().packed().to_vec())
}

/// The same of a file in either scalar, rounded if it is in the other one: for those who keep nothing.
///
/// # Errors
/// As for [`read`], but for the scalar.
pub fn read_rounded<T: Scalar>(base: &Policy<'_, T>, bytes: &[u8]) -> Result<Vec<T>, PriorFileError> {
    fn rounded<T: Scalar, U: Scalar>(base: &Policy<'_, T>, bytes: &[u8]) -> Result<Vec<T>, PriorFileError> {
        let other = Policy::<U>::new(base.catalog(), *base.settings())?;
        Ok(read(&other, bytes)?.into_iter().map(|number| T::from_f64(number.to_f64())).collect())
    }
    match header(bytes)?.digits {
        24 => rounded::<T, f32>(base, bytes),
        _ => rounded::<T, f64>(base, bytes),
    }
}

/// The file of a prior, addressed to a user or to [`NOBODY`].
///
/// # Errors
/// Numbers that are not a prior of the policy's catalog.
pub fn write<T: Scalar>(base: &Policy<'_, T>, packed: &[T], user: u64) -> Result<Vec<u8>, PriorFileError> {
    let prior = Prior::Factor(factor(base, packed)?);
    // Room for nothing: the snapshot has neither waiting decisions nor promotions, and fits every learner.
    let mut learner = HostLearner::<T, 1>::for_policy(base);
    learner.start_from(base, &prior, user)?;
    Ok(learner.to_bytes()?)
}

/// The same prior for a user, in the policy's scalar whatever it was in: for a device, which knows its own user only.
///
/// # Errors
/// As for [`read_rounded`], and numbers out of range in this scalar.
pub fn address<T: Scalar>(base: &Policy<'_, T>, bytes: &[u8], user: u64) -> Result<Vec<u8>, PriorFileError> {
    write(base, &read_rounded(base, bytes)?, user)
}

/// The policy of those who begin with a prior; without one the base policy itself.
///
/// # Errors
/// Numbers that are not a prior of the policy's catalog.
pub fn informed<'a, T: Scalar>(
    base: &Policy<'a, T>,
    packed: Option<&'a [T]>,
) -> Result<Policy<'a, T>, PriorFileError> {
    let Some(packed) = packed else { return Ok(*base) };
    Ok(Policy::with_prior(base.catalog(), *base.settings(), Prior::Factor(factor(base, packed)?))?)
}

/// What the file says it belongs to.
///
/// # Errors
/// Bytes that do not begin like a snapshot.
pub fn header(bytes: &[u8]) -> Result<Header, PriorFileError> {
    Ok(Header::decode(bytes.get(..HEADER_LEN).unwrap_or(bytes))?)
}

fn factor<'a, T: Scalar>(base: &Policy<'_, T>, packed: &'a [T]) -> Result<Factor<'a, T>, PriorFileError> {
    let catalog = base.catalog();
    Ok(Factor::new(catalog.layout(), packed, &mut vec![T::ZERO; catalog.workspace_len()])?)
}

/// Why there is no prior to begin with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PriorFileError {
    /// The file cannot be read, or not under this policy.
    Record(RecordError),
    /// A snapshot of a user who has decided or learned something is not a prior.
    NotAPrior,
    /// A number is out of the learner's range.
    Range(PriorError),
    /// A learner cannot begin with the prior.
    Learner(UserError),
    /// The settings do not go with it.
    Settings(SettingsError),
}

impl PriorFileError {
    /// Whether the file is damaged; otherwise it is the wrong one.
    #[must_use]
    pub const fn is_damage(&self) -> bool {
        use RecordError::{Foreign, Policy, Scalar};
        !matches!(self, Self::NotAPrior | Self::Record(Foreign | Policy | Scalar { .. }))
    }
}

impl fmt::Display for PriorFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Record(RecordError::Foreign) => f.write_str("this is not a prior"),
            Self::Record(RecordError::Catalog | RecordError::Policy) => {
                f.write_str("the prior was fitted for another catalog or other settings")
            }
            Self::Record(RecordError::Scalar { found }) => {
                let (theirs, ours) = if *found == 24 { ("f32", "f64") } else { ("f64", "f32") };
                write!(f, "the prior is in {theirs}, and here it has to be in {ours}")
            }
            Self::Record(error) => write!(f, "the prior cannot be read: {error}"),
            Self::NotAPrior => f.write_str(
                "this is the snapshot of a user who has decided or learned something, not a prior",
            ),
            Self::Range(error) => write!(f, "the prior is out of range: {error}"),
            Self::Learner(error) => error.fmt(f),
            Self::Settings(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for PriorFileError {}

crate::from!(PriorFileError: RecordError => Record, PriorError => Range, UserError => Learner, SettingsError => Settings);
