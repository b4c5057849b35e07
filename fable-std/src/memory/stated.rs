//! What a user has stated, in words: preferences as the journal has them, and rules.

use crate::text::Constraint;
use fable_core::{Catalog, Statement};
use serde::Serialize;

/// Something that a user has stated.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Stated {
    /// A preference, in the catalog's names.
    Preference {
        /// `style=concise over style=detailed`
        prefers: String,
    },
    /// A hard rule.
    Rule {
        /// `never tool=web_search`
        rule: String,
        /// The user's own words.
        words: String,
    },
}

impl Stated {
    /// A rule as it is told.
    #[must_use]
    pub fn rule(catalog: &Catalog<'_>, rule: &Constraint) -> Self {
        Self::Rule { rule: rule.describe(catalog), words: rule.words.clone() }
    }
}

/// A statement in the names of the catalog's coordinates; `None` for one that says nothing.
///
/// ```
/// use fable_core::catalog::{AGENT, Direction, When};
/// use fable_core::Statement;
/// use fable_std::memory::describe;
/// let direction = Direction::prefer(&AGENT, &[(2, 1)], &[(2, 2)], When::Always)?;
/// let said = |response| describe(&AGENT, &Statement { direction: direction.clone(), response, precision: 4.0 });
/// assert_eq!(said(1.0).unwrap(), "style=concise over style=detailed");
/// assert_eq!(said(-0.5).unwrap(), "style=detailed over style=concise");
/// assert_eq!(said(0.0), None);
/// # Ok::<(), fable_core::catalog::OnboardingError>(())
/// ```
#[must_use]
pub fn describe(catalog: &Catalog<'_>, statement: &Statement) -> Option<String> {
    let named = |sign: f64| -> String {
        let wanted =
            statement.direction.entries().filter(|(_, weight)| sign * weight * statement.response > 0.0);
        let names = wanted.filter_map(|(index, _)| Some(catalog.coordinate_name(index)?.to_string()));
        names.collect::<Vec<_>>().join(" and ")
    };
    let (liked, disliked) = (named(1.0), named(-1.0));
    if statement.precision <= 0.0 {
        return None;
    }
    match (liked.is_empty(), disliked.is_empty()) {
        (true, true) => None,
        (true, false) => Some(format!("not {disliked}")),
        (false, true) => Some(liked),
        (false, false) => Some(format!("{liked} over {disliked}")),
    }
}
