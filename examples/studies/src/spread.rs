//! A flat model with the prior spread of a factorized one, and told the same.
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
use fable_core::catalog::{Direction, OnboardingError};
use fable_core::{Catalog, Context, Settings};

/// Settings for the flat version of a catalog.
#[must_use]
pub fn flat_settings<'a>(
    catalog: &Catalog<'_>,
    contexts: &[Context],
    settings: Settings<'a>,
) -> Settings<'a> {
    let squares = |context: &Context, action| {
        catalog.features(context, action).map(|(_, value)| f64::from(value * value)).sum::<f64>()
    };
    let mut lengths: Vec<f64> = Vec::new();
    for context in contexts {
        lengths.extend(catalog.all_actions().iter().map(|action| squares(context, action)));
    }
    let length = mean(&lengths);
    // A precision per feature already is one of a score.
    let base_precision = settings.base_precision.filter(|_| length > 0.0).map(|precision| precision / length);
    Settings { base_precision, ..settings }
}

/// "Rather this value of a component than that one" for a flat model: the mean score of the complete actions with the one, less that of
/// those with the other. A direction has at most 24 coordinates, so it is for small catalogs.
///
/// # Errors
/// Nothing to tell apart, or too many actions.
pub fn flat_preference(
    flat: &Catalog<'_>,
    context: &Context,
    (component, liked): (u8, u8),
    (_, other): (u8, u8),
) -> Result<Direction, OnboardingError> {
    let with = |value: u8| {
        let has = move |action| {
            flat.values(action).and_then(|values| values.get(usize::from(component)).copied()) == Some(value)
        };
        flat.all_actions().iter().filter(move |action| has(*action)).collect::<Vec<_>>()
    };
    let mut entries = Vec::new();
    for (actions, sign) in [(with(liked), 1.0), (with(other), -1.0)] {
        let share = sign / actions.len().max(1) as f64;
        let coordinates = actions.iter().flat_map(|action| flat.features(context, *action));
        entries.extend(coordinates.map(|(coordinate, value)| (coordinate, share * f64::from(value))));
    }
    Direction::new(flat, entries)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policies::flat;
    use fable_core::catalog::RUBRIC;
    use fable_core::catalog::When;

    /// For any weights of the levels, what is said of complete actions is what is said of the levels.
    #[test]
    fn a_flat_statement_says_what_the_factorized_one_says() {
        let complete = flat(&RUBRIC).unwrap();
        let (context, flat_context) =
            (Context::new(&RUBRIC, None, &[]).unwrap(), Context::new(&complete, None, &[]).unwrap());
        let weights: Vec<f64> = (0..RUBRIC.dimension()).map(|place| libm::sin(7.0 * place as f64)).collect();
        let mut scores = vec![0.0; complete.dimension()];
        for action in RUBRIC.all_actions().iter() {
            let score: f64 = RUBRIC
                .features(&context, action)
                .map(|(place, value)| f64::from(value) * weights[place])
                .sum();
            complete.features(&flat_context, action).for_each(|(place, _)| scores[place] = score);
        }
        for criterion in 0..3 {
            let said = flat_preference(&complete, &flat_context, (criterion, 2), (criterion, 0)).unwrap();
            let factorized =
                Direction::prefer(&RUBRIC, &[(criterion, 2)], &[(criterion, 0)], When::Always).unwrap();
            let response = |direction: &Direction, of: &[f64]| {
                direction.entries().map(|(place, share)| share * of[place]).sum::<f64>()
            };
            assert!((response(&said, &scores) - response(&factorized, &weights)).abs() < 1e-12);
        }
    }
}
