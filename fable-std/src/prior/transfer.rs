//! A fitted prior as bytes.

use super::{FitError, Population};
use crate::prior_file;
use fable_core::{Policy, Scalar};

impl Population {
    /// The prior as the snapshot of a user who has done nothing yet, under a policy with the isotropic prior, in the policy's
    /// scalar. A flash store takes a snapshot for its own user only; [`address`](prior_file::address) makes one for another.
    ///
    /// # Errors
    /// A policy of another catalog, or a number out of range in this scalar.
    pub fn snapshot<T: Scalar>(&self, policy: &Policy<'_, T>, user: u64) -> Result<Vec<u8>, FitError> {
        let packed: Vec<T> = self.prior.packed().iter().map(|number| T::from_f64(*number)).collect();
        Ok(prior_file::write(policy, &packed, user)?)
    }
}
