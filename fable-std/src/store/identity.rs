//! What a store belongs to: the catalog, the settings and the scalar that give its numbers their meaning.
//!
//! The prior is not part of it: users of several priors live in one store, and each user's records say which is theirs. The fingerprint
//! here is that of the policy without one.
//!
//! The fingerprint alone would do to refuse a store; the settings beside it are there to say *what* differs. Exploration,
//! deadlines and the settings of promotions are not part of it: they may change at any time, and what that means for a
//! promise is the learner's own business. Costs, default scores and texts of the catalog may change too: what is compared is its
//! [shape](fable_core::Catalog::shape). The weight of costs is noted for those who look at the store, and not compared.

use super::StoreError;
use fable_core::catalog::BlockSet;
use fable_core::posterior::NUMERIC_REVISION;
use fable_core::{Catalog, Policy, Scalar, Settings};
use serde_json::{Map, Value, json};

pub(super) const CONTENT: &str = "shape of the catalog";
/// What may be another one.
const NOTED: &[&str] = &["cost_weight"];

fn content(catalog: &Catalog<'_>) -> String {
    format!("{:016x}", catalog.shape())
}

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
    ///
    /// assert!(stored.admit(&here(true, Settings { cost_weight: 2.0, ..Settings::default() })).is_ok()); // costs may change
    ///
    /// let mine = Settings { seed: 7, base_precision: Some(2.0), context_adapter: "mine", ..Settings::default() };
    /// assert_eq!((here(true, mine).catalog(), here(true, mine).settings(&TAU2)), (Some("tau2"), mine));
    /// ```
    #[must_use]
    pub fn new<T: Scalar>(policy: &Policy<'_, T>) -> Self {
        let (catalog, settings) = (policy.catalog(), policy.settings());
        let base =
            Policy::<T>::new(catalog, *settings).map_or(policy.fingerprint(), |base| base.fingerprint());
        let identity = json!({
            "catalog": catalog.definition().name,
            CONTENT: content(catalog),
            "scalar": if T::DIGITS == 24 { "f32" } else { "f64" },
            "seed": settings.seed,
            "noise_variance": settings.noise_variance,
            "base_precision": policy.base_precision(),
            "cost_weight": settings.cost_weight,
            "context_adapter": settings.context_adapter,
            "feedback_adapter": settings.feedback_adapter,
            "blocks": format!("{:032x}", settings.retained.bits() & catalog.all_blocks().bits()),
            "numeric revision": NUMERIC_REVISION,
            "fingerprint": format!("{base:016x}"),
        });
        match identity {
            Value::Object(fields) => Self(fields),
            _ => Self(Map::new()),
        }
    }

    /// Whether what is in a store of this identity can be used under another one.
    ///
    /// # Errors
    /// [`StoreError::Mismatch`] with the first field that differs: of another catalog its name or its shape.
    pub fn admit(&self, given: &Self) -> Result<(), StoreError> {
        self.admit_but(given, &[])
    }

    /// The same for who does not mind some fields.
    pub(crate) fn admit_but(&self, given: &Self, ignored: &[&str]) -> Result<(), StoreError> {
        let compared = |what: &str| !ignored.contains(&what) && !NOTED.contains(&what);
        for (what, given) in given.0.iter().filter(|(what, _)| compared(what)) {
            let stored = self.0.get(what).unwrap_or(&Value::Null);
            if stored != given {
                let what = what.clone();
                return Err(StoreError::Mismatch {
                    what,
                    stored: stored.to_string(),
                    given: given.to_string(),
                });
            }
        }
        Ok(())
    }

    /// Name of the catalog.
    #[must_use]
    pub fn catalog(&self) -> Option<&str> {
        self.0.get("catalog")?.as_str()
    }

    /// `f32` or `f64`.
    #[must_use]
    pub fn scalar(&self) -> Option<&str> {
        self.0.get("scalar")?.as_str()
    }

    /// The defaults, with what the store was made with in their place: for those who only look at it. A catalog of another
    /// content is still refused by [`admit`](Self::admit).
    #[must_use]
    pub fn settings(&self, catalog: &Catalog<'_>) -> Settings<'static> {
        let number = |key, default| self.0.get(key).and_then(Value::as_f64).unwrap_or(default);
        // Names live as long as the process, like the catalog.
        let name = |key| self.0.get(key).and_then(Value::as_str).map_or("", |name| &*name.to_owned().leak());
        let same = self.0.get(CONTENT).and_then(Value::as_str) == Some(&content(catalog));
        let bits = self
            .0
            .get("blocks")
            .filter(|_| same)
            .and_then(Value::as_str)
            .and_then(|bits| u128::from_str_radix(bits, 16).ok());
        let defaults = Settings::DEFAULT;
        Settings {
            seed: self.0.get("seed").and_then(Value::as_u64).unwrap_or(defaults.seed),
            noise_variance: number("noise_variance", defaults.noise_variance),
            base_precision: self.0.get("base_precision").and_then(Value::as_f64).or(defaults.base_precision),
            cost_weight: number("cost_weight", defaults.cost_weight),
            retained: bits
                .filter(|bits| *bits != catalog.all_blocks().bits())
                .map_or(defaults.retained, BlockSet::from_bits),
            context_adapter: name("context_adapter"),
            feedback_adapter: name("feedback_adapter"),
            ..defaults
        }
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        Value::Object(self.0.clone()).to_string().into_bytes()
    }

    pub(super) fn decode(bytes: &[u8]) -> Result<Self, StoreError> {
        serde_json::from_slice(bytes)
            .map(Self)
            .map_err(|_| StoreError::Damaged("its identity cannot be read"))
    }
}
