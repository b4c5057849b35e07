//! A flat model with the prior spread of a factorized one.
//!
//! The score of an action is a sum over its features, so under an isotropic prior of precision p its variance is |phi|^2 / p.
//! One coordinate per complete action has |phi|^2 = 1: with the same p a flat model would be far surer that all actions
//! are alike. For a comparison of the dictionaries alone its precision is p / |phi|^2, with the mean of |phi|^2 over contexts
//! and actions. The radius of the promotion rule stays what it was.
//!
//! ```
//! use fable_core::{Context, Settings, catalog::TAU2};
//! let context = Context::new(&TAU2, None, &[])?;
//! let flat = studies::spread::flat_settings(&TAU2, &[context], Settings::PAPER);
//! assert_eq!(flat.base_precision, Some(16.0 / 6.0)); // three mains and three pairs
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```

use crate::statistics::mean;
use fable_core::{Catalog, Context, Settings};

/// Settings for the flat version of a catalog.
#[must_use]
pub fn flat_settings<'a>(catalog: &Catalog<'_>, contexts: &[Context], settings: Settings<'a>) -> Settings<'a> {
    let squares =
        |context: &Context, action| catalog.features(context, action).map(|(_, value)| f64::from(value * value)).sum::<f64>();
    let mut lengths: Vec<f64> = Vec::new();
    for context in contexts {
        lengths.extend(catalog.all_actions().iter().map(|action| squares(context, action)));
    }
    let length = mean(&lengths);
    // A precision per feature already is one of a score.
    let base_precision = settings.base_precision.filter(|_| length > 0.0).map(|precision| precision / length);
    Settings { base_precision, ..settings }
}
