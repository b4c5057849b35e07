//! A prior as bytes: a snapshot with zero rounds, addressed to a user.

use super::{FitError, Population};
use fable_core::{Factor, HostLearner, Policy, Prior, Scalar};

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
    let mut scratch = vec![T::ZERO; catalog.workspace_len()];
    let factor = Factor::new(catalog.arrow(), packed, &mut scratch).map_err(FitError::Range)?;
    // Room for nothing: the snapshot has neither waiting decisions nor promotions, and fits every learner.
    let mut learner = HostLearner::<T, 1>::for_policy(policy);
    learner.start_from(policy, &Prior::Factor(factor), user)?;
    Ok(learner.to_bytes()?)
}

/// The packed numbers of a prior, for a [`Factor`].
///
/// # Errors
/// No such snapshot, one of another catalog, of other settings or in the other scalar, or one of a user who has done something.
pub fn read<T: Scalar>(policy: &Policy<'_, T>, bytes: &[u8]) -> Result<Vec<T>, FitError> {
    let mut learner = HostLearner::<T>::for_policy(policy);
    learner.restore(policy, bytes)?;
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
