//! Errors of the core as numbers that never change their meaning: each number is stated once, in a table.

use fable_core::UserError;
use fable_core::catalog::{ContextError, FeasibleError, OnboardingError};
use fable_core::posterior::{PosteriorError, PriorError};
use fable_core::record::RecordError;

/// An error as a number on the wire.
pub(crate) trait Numbered: Sized {
    /// Returns the number. An error without a number has 0.
    fn number(&self) -> u8;

    /// Returns the error of a number, if this version knows it. Fields of an error are not sent and read as
    /// 0.
    fn from_number(number: u8) -> Option<Self>;
}

/// Implements [`Numbered`] by a table. A new error gets a new number. A number is never used twice.
macro_rules! numbers {
    ($error:ident { $( $number:literal => $variant:ident $( { $field:ident } )? $( ($inner:expr) )?, )+ }) => {
        impl Numbered for $error {
            #[inline]
            fn number(&self) -> u8 {
                match self {
                    $( Self::$variant { .. } => $number, )+
                    _ => 0,
                }
            }

            fn from_number(number: u8) -> Option<Self> {
                Some(match number {
                    $( $number => Self::$variant $( { $field: 0 } )? $( ($inner) )?, )+
                    _ => return None,
                })
            }
        }
    };
}

/// Returns the number of a user's error. The groups of numbers start at 1, 40, 60 and 80.
#[inline(never)]
pub(crate) fn user_number(error: &UserError) -> u8 {
    match error {
        UserError::Feasible(error) => error.number(),
        UserError::Onboarding(error) => error.number(),
        UserError::Posterior(error) => error.number(),
        error => error.number(),
    }
}

/// Returns the user's error of a number, if this version knows it.
pub(crate) fn user_error(number: u8) -> Option<UserError> {
    UserError::from_number(number)
        .or_else(|| FeasibleError::from_number(number).map(UserError::Feasible))
        .or_else(|| OnboardingError::from_number(number).map(UserError::Onboarding))
        .or_else(|| PosteriorError::from_number(number).map(UserError::Posterior))
}

numbers! { UserError {
    1 => ForeignPolicy,
    2 => ForeignContext,
    3 => UnknownAction,
    4 => Forbidden,
    5 => OutOfOrder,
    6 => Reward,
    7 => Weight,
    8 => Baseline,
    9 => DefaultCount { expected },
    10 => DefaultRange { action },
    11 => UnknownDecision,
    12 => ExpiredDecision,
    13 => DuplicateFeedback,
    14 => Stale,
    15 => Text,
    16 => NotLearned,
    17 => Comparison,
    18 => NotPromoted,
    19 => ProfileFull,
    20 => Exhausted,
    21 => Keep,
    22 => Probe,
    23 => DecidedElsewhere,
    24 => SiteFixed,
    25 => KnownElsewhere,
    26 => GapElsewhere,
    27 => SitesFull,
    28 => Off,
    29 => UnknownRule,
    30 => RulesFull,
    31 => Unsupported,
    32 => UnknownContrast,
    33 => RuleExists,
    34 => RuleMissing,
    35 => OwnSite,
    36 => Kept,
} }

numbers! { FeasibleError {
    40 => Empty,
    41 => EmptyPattern { rule },
    42 => UnknownValue { rule },
    43 => RepeatedComponent { rule },
    44 => UnknownAction,
} }

numbers! { OnboardingError {
    60 => Empty,
    61 => TooMany,
    62 => UnknownCoordinate,
    63 => RepeatedCoordinate,
    64 => Coefficient,
    65 => UnknownValue,
    66 => UnknownCondition,
    67 => NoCoordinate,
    68 => TwoTasks,
    69 => Response,
    70 => Precision,
} }

numbers! { PosteriorError {
    80 => NotStarted,
    81 => StorageLength { expected },
    82 => WorkspaceLength,
    83 => OutputLength { expected },
    84 => Prior(PriorError::Length { expected: 0 }),
    85 => Coordinate { coordinate },
    86 => Coefficient { coordinate },
    87 => TwoTasks,
    88 => Response,
    89 => Variance,
} }

numbers! { ContextError {
    1 => UnknownTask,
    2 => UnknownSignal,
    3 => SignalCount { expected },
    4 => SignalRange { signal },
} }

numbers! { RecordError {
    1 => Truncated,
    2 => TooLong,
    3 => Foreign,
    4 => Checksum,
    5 => Version { found },
    6 => Scalar { found },
    7 => Policy,
    8 => Content,
    9 => Capacity { needed },
    10 => Storage { expected },
    11 => Occupied,
    12 => Changed,
    13 => Buffer,
    14 => Unsupported,
    15 => Catalog,
} }

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Debug;
    use std::path::Path;

    /// The names of the variants of an enum of the core.
    fn variants(file: &str, name: &str) -> Vec<String> {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fable-core/src").join(file);
        let source = std::fs::read_to_string(path).unwrap();
        let body =
            source.split(&format!("pub enum {name} {{\n")).nth(1).unwrap().split("\n}").next().unwrap();
        let lines = body.lines().filter_map(|line| line.strip_prefix("    "));
        let named = lines.filter(|line| line.starts_with(|letter: char| letter.is_ascii_uppercase()));
        named
            .map(|line| line.split(|letter: char| !letter.is_alphanumeric()).next().unwrap().into())
            .collect()
    }

    /// Every variant has a number that leads back to it.
    #[track_caller]
    fn complete<E: Numbered + Debug + PartialEq>(file: &str, name: &str, without: &[&str]) {
        let errors: Vec<E> = (0..=u8::MAX).filter_map(E::from_number).collect();
        for error in &errors {
            assert_eq!(E::from_number(error.number()).as_ref(), Some(error));
        }
        let numbered: Vec<String> = errors
            .iter()
            .map(|error| {
                format!("{error:?}").split(|letter: char| !letter.is_alphanumeric()).next().unwrap().into()
            })
            .collect();
        let missing: Vec<String> = variants(file, name)
            .into_iter()
            .filter(|variant| !numbered.contains(variant) && !without.contains(&variant.as_str()))
            .collect();
        assert!(missing.is_empty() && !numbered.is_empty(), "{name} has no number for {missing:?}");
    }

    #[test]
    fn every_error_of_the_core_has_a_number() {
        complete::<UserError>("user/error.rs", "UserError", &["Feasible", "Onboarding", "Posterior"]);
        complete::<FeasibleError>("catalog/feasible/mod.rs", "FeasibleError", &[]);
        complete::<OnboardingError>("catalog/onboarding.rs", "OnboardingError", &[]);
        complete::<PosteriorError>("posterior/error.rs", "PosteriorError", &[]);
        complete::<ContextError>("catalog/context.rs", "ContextError", &[]);
        complete::<RecordError>("record/mod.rs", "RecordError", &[]);
    }
}
