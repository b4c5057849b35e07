//! A prior as bytes: a snapshot with zero rounds, addressed to a user.

use super::{FitError, Population};
use crate::store::revive::{HostLearner, HostWorkspace};
use fable_core::record::{Verifier, snapshot::max_len};
use fable_core::{Factor, Learner, Policy, Prior, Scalar};

impl Population {
    /// The prior as the snapshot of a user who has done nothing yet, under a policy with the isotropic prior, in the policy's
    /// scalar. A flash store takes a snapshot for its own user only; [`address`] makes one for another.
    ///
    /// # Errors
    /// A policy of another catalog, or a number out of range in this scalar.
    pub fn snapshot<T: Scalar>(&self, policy: &Policy<'_, T>, user: u64) -> Result<Vec<u8>, FitError> {
        let packed: Vec<T> = self.prior.packed().iter().map(|number| T::from_f64(*number)).collect();
        write(policy, &packed, user)
    }
}

fn write<T: Scalar>(policy: &Policy<'_, T>, packed: &[T], user: u64) -> Result<Vec<u8>, FitError> {
    let catalog = policy.catalog();
    let mut workspace = HostWorkspace::over(vec![T::ZERO; catalog.workspace_len()]);
    let factor = Factor::new(catalog.arrow(), packed, &mut workspace).map_err(FitError::Range)?;
    // Room for nothing: the snapshot has neither waiting decisions nor promotions, and fits every learner.
    let mut learner = Learner::<T, Vec<T>, 1>::over(vec![T::ZERO; catalog.state_len()]);
    learner.start_from(policy, &Prior::Factor(factor), user)?;
    let mut bytes = vec![0; max_len::<T>(catalog, 1)];
    let length = learner.snapshot()?.read(&mut bytes);
    bytes.truncate(length);
    Ok(bytes)
}

/// The packed numbers of a prior, for a [`Factor`].
///
/// # Errors
/// No such snapshot, one of another catalog, of other settings or in the other scalar, or one of a user who has done something.
pub fn read<T: Scalar>(policy: &Policy<'_, T>, bytes: &[u8]) -> Result<Vec<T>, FitError> {
    let mut verifier = Verifier::new(policy);
    verifier.push(bytes)?;
    let verified = verifier.finish()?;
    let mut learner = HostLearner::over(vec![T::ZERO; policy.catalog().state_len()]);
    let mut loader = learner.load(policy, verified)?;
    loader.push(bytes)?;
    loader.finish()?;
    if learner.rounds() > 0 || learner.observations() > 0 {
        return Err(FitError::NotAPrior);
    }
    Ok(learner.posterior().packed().to_vec())
}

/// The same prior for another user, in a scalar of choice: for a device, which knows its own user only.
///
/// # Errors
/// As for [`read`], and numbers out of range in the other scalar.
pub fn address<T: Scalar, U: Scalar>(
    from: &Policy<'_, T>,
    bytes: &[u8],
    to: &Policy<'_, U>,
    user: u64,
) -> Result<Vec<u8>, FitError> {
    let packed: Vec<U> = read(from, bytes)?.into_iter().map(|number| U::from_f64(number.to_f64())).collect();
    write(to, &packed, user)
}
