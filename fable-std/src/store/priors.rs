//! The priors that the users of a store began with, and the policies that come of them.
//!
//! A prior gives every number that was learned after it its meaning, so whoever began with one goes on with it. A store keeps
//! each prior once, as the file that [`prior_file`](crate::prior_file) describes, addressed to nobody. Its key is the fingerprint of
//! the policy with it, and that is what the header of a user's journal has. A prior stays when its users are forgotten: it holds
//! averages, no user.
//!
//! ```
//! use fable_core::{HostUser, Policy, Settings, catalog::TAU2};
//! use fable_std::store::{Desk, FileStore, Identity, Priors, Resident, Store};
//!
//! let base = Policy::<f64>::new(&TAU2, Settings::default())?;
//! let mut crowd = HostUser::<f64>::new(&base, "")?.learner().posterior().packed().to_vec();
//! crowd[0] = 0.01;
//! let store = FileStore::in_memory(&Identity::new(&base))?;
//!
//! let priors = Priors::open(&store, &base, Some(&crowd))?; // new users begin with the crowd's
//! let policies = priors.policies(&base)?;
//! let ana = Resident::newcomer(&Desk::new(&policies), "ana", fable_core::user_hash("ana"), store.incarnation()?, None)?;
//! assert_eq!(ana.learner().posterior().packed(), crowd);
//!
//! let priors = Priors::open(&store, &base, None)?; // new users begin with the isotropic one, and ana is still known
//! let policies = priors.policies(&base)?;
//! assert_eq!(policies.newcomers().fingerprint(), base.fingerprint());
//! assert!(policies.of(ana.row().header.fingerprint).is_ok());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use super::{Damage, Store, StoreError, Writes};
use crate::prior_file::{NOBODY, informed, read, write};
use fable_core::posterior::Prior;
use fable_core::record::RecordError;
use fable_core::{Policy, Scalar};

/// The priors that the users of a store began with: each once, as a [file](crate::prior_file) that is addressed to nobody.
#[derive(Clone, Debug)]
pub struct Priors<T> {
    /// Fingerprint of the policy with it, and the packed numbers.
    known: Vec<(u64, Vec<T>)>,
    /// Which of them new users begin with; the isotropic one if it is none.
    newcomers: Option<u64>,
    /// Those that cannot be read.
    lost: Vec<u64>,
}

impl<T: Scalar> Priors<T> {
    /// Reads the priors of a store. New users begin with the one that is given, which the store keeps from now on.
    ///
    /// # Errors
    /// A prior that is not one under the policy, or a store that cannot be read or written.
    pub fn open(store: &dyn Store, base: &Policy<'_, T>, given: Option<&[T]>) -> Result<Self, StoreError> {
        let newcomers =
            given.map(|packed| Ok::<_, StoreError>((informed(base, Some(packed))?.fingerprint(), packed)));
        let newcomers = newcomers.transpose()?;
        if let Some((fingerprint, packed)) = newcomers
            && !matches!(store.prior(fingerprint), Ok(Some(_)))
        {
            let mut writes = Writes::default();
            writes.prior(fingerprint, &write(base, packed, NOBODY)?);
            store.commit(writes, true)?;
        }
        let (mut known, mut lost) = (Vec::new(), Vec::new());
        for fingerprint in store.priors()? {
            match store.prior(fingerprint) {
                Ok(Some(bytes)) => known.push((fingerprint, read(base, &bytes)?)),
                Ok(None) => {}
                Err(StoreError::User(_)) => {
                    tracing::error!("a prior is damaged; users who began with it cannot be decided for");
                    lost.push(fingerprint);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(Self { known, newcomers: newcomers.map(|(fingerprint, _)| fingerprint), lost })
    }

    /// A policy for each of them, and the base policy.
    ///
    /// # Errors
    /// A prior that is not the one that its key says.
    pub fn policies<'a>(&'a self, base: &Policy<'a, T>) -> Result<Policies<'a, T>, StoreError> {
        let mut policies = Policies::from(*base);
        policies.lost.clone_from(&self.lost);
        for (fingerprint, packed) in &self.known {
            let policy = informed(base, Some(packed))?;
            if policy.fingerprint() != *fingerprint {
                return Err(StoreError::Damaged("a prior is not what it is kept as"));
            }
            policies.others.push(policy);
        }
        if let Some(newcomers) = self.newcomers {
            policies.newcomers = *policies.of(newcomers)?;
            policies.others.push(*base);
        }
        Ok(policies)
    }
}

/// How the users of a store are decided for: a policy for each prior that somebody began with.
#[derive(Clone, Debug)]
pub struct Policies<'p, T> {
    newcomers: Policy<'p, T>,
    others: Vec<Policy<'p, T>>,
    /// Fingerprints of those whose prior cannot be read.
    lost: Vec<u64>,
}

impl<'p, T> From<Policy<'p, T>> for Policies<'p, T> {
    /// One for everybody.
    fn from(policy: Policy<'p, T>) -> Self {
        Self { newcomers: policy, others: Vec::new(), lost: Vec::new() }
    }
}

impl<'p, T: Scalar> Policies<'p, T> {
    /// The one that new users get.
    #[must_use]
    pub const fn newcomers(&self) -> &Policy<'p, T> {
        &self.newcomers
    }

    /// Fingerprint of new users, if they do not begin with the isotropic prior.
    #[must_use]
    pub fn fitted(&self) -> Option<u64> {
        (!matches!(self.newcomers.prior(), Prior::Isotropic)).then(|| self.newcomers.fingerprint())
    }

    /// The one that a user's records name.
    ///
    /// # Errors
    /// [`RecordError::Policy`] if it is not among these, [`Damage::Prior`] if the store has lost it.
    pub fn of(&self, fingerprint: u64) -> Result<&Policy<'p, T>, StoreError> {
        let mut all = std::iter::once(&self.newcomers).chain(&self.others);
        let missing = || {
            if self.lost.contains(&fingerprint) {
                StoreError::User(Damage::Prior)
            } else {
                RecordError::Policy.into()
            }
        };
        all.find(|policy| policy.fingerprint() == fingerprint).ok_or_else(missing)
    }
}
