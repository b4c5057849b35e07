//! What a store belongs to: the catalog, the settings and the scalar that give its numbers their meaning.
//!
//! The fingerprint alone would do to refuse a store; the settings beside it are there to say *what* differs. Exploration,
//! deadlines and the settings of promotions are not part of it: they may change at any time, and what that means for a
//! promise is the learner's own business.

use super::StoreError;
use fable_core::fingerprint::NUMERIC_REVISION;
use fable_core::{Policy, Scalar};
use serde_json::{Map, Value, json};

/// What a store belongs to, as a JSON object.
#[derive(Clone, Debug, PartialEq)]
pub struct Identity(Map<String, Value>);

impl Identity {
    /// The identity of a policy's stores.
    ///
    /// ```
    /// use fable_core::{Policy, Settings, catalog::TAU2};
    /// use fable_std::store::Identity;
    /// let here = |scalar: bool, settings: Settings<'_>| {
    ///     if scalar { Identity::new(&Policy::<f64>::new(&TAU2, settings).unwrap()) }
    ///     else { Identity::new(&Policy::<f32>::new(&TAU2, settings).unwrap()) }
    /// };
    /// let stored = here(true, Settings::default());
    /// let error = stored.admit(&here(false, Settings::default())).unwrap_err();
    /// assert_eq!(error.to_string(), "the store was made with scalar \"f64\", not \"f32\"");
    /// let error = stored.admit(&here(true, Settings { seed: 7, ..Settings::default() })).unwrap_err();
    /// assert_eq!(error.to_string(), "the store was made with seed 0, not 7");
    /// ```
    #[must_use]
    pub fn new<T: Scalar>(policy: &Policy<'_, T>) -> Self {
        let (catalog, settings) = (policy.catalog(), policy.settings());
        let identity = json!({
            "catalog": catalog.definition().name,
            "scalar": if T::DIGITS == 24 { "f32" } else { "f64" },
            "seed": settings.seed,
            "noise_variance": settings.noise_variance,
            "base_precision": settings.base_precision,
            "cost_weight": settings.cost_weight,
            "context_adapter": settings.context_adapter,
            "feedback_adapter": settings.feedback_adapter,
            "blocks": format!("{:032x}", settings.retained.bits() & catalog.all_blocks().bits()),
            "content of the catalog": format!("{:016x}", catalog.fingerprint()),
            "numeric revision": NUMERIC_REVISION,
            "fingerprint": format!("{:016x}", policy.fingerprint()),
        });
        match identity {
            Value::Object(fields) => Self(fields),
            _ => Self(Map::new()),
        }
    }

    /// Whether what is in a store of this identity can be used under another one.
    ///
    /// # Errors
    /// [`StoreError::Mismatch`] with the first field that differs.
    pub fn admit(&self, given: &Self) -> Result<(), StoreError> {
        self.admit_but(given, &[])
    }

    /// The same for who does not mind some fields.
    pub(crate) fn admit_but(&self, given: &Self, ignored: &[&str]) -> Result<(), StoreError> {
        for (what, given) in given.0.iter().filter(|(what, _)| !ignored.contains(&what.as_str())) {
            let stored = self.0.get(what).unwrap_or(&Value::Null);
            if stored != given {
                let what = what.clone();
                return Err(StoreError::Mismatch { what, stored: stored.to_string(), given: given.to_string() });
            }
        }
        Ok(())
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        Value::Object(self.0.clone()).to_string().into_bytes()
    }

    pub(super) fn decode(bytes: &[u8]) -> Result<Self, StoreError> {
        serde_json::from_slice(bytes).map(Self).map_err(|_| StoreError::Damaged("its identity cannot be read"))
    }
}
