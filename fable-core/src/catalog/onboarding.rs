//! Stated preferences as finite-precision evidence in the learner's coordinates (Equations 2 and 3).
//!
//! A [`Statement`] is a pseudo-observation (v, u, kappa): a sparse direction, a signed response and a
//! precision. "Prefer A over B" is +1 on A's coordinate and -1 on B's. These are main effects, or with
//! [`When`] interactions with a task or signal. Two named components mean their pair coordinate. Rewards can
//! revise all of it.
//!
//! ```
//! use fable_core::catalog::agent::{AGENT, STYLE, Style};
//! use fable_core::catalog::{Direction, OnboardingError, When};
//!
//! let concise = [(STYLE, Style::Concise.index())];
//! let detailed = [(STYLE, Style::Detailed.index())];
//! let coding = When::Task(AGENT.task("coding").unwrap());
//! let direction = Direction::prefer(&AGENT, &concise, &detailed, coding)?;
//! let names = [("task=coding*style=concise", 1.0), ("task=coding*style=detailed", -1.0)];
//! assert_eq!(direction, Direction::from_names(&AGENT, &names)?);
//!
//! let two_tasks = [("task=coding*style=concise", 1.0), ("task=factual*style=concise", 1.0)];
//! assert_eq!(Direction::from_names(&AGENT, &two_tasks), Err(OnboardingError::TwoTasks));
//! # Ok::<(), OnboardingError>(())
//! ```

use super::{Catalog, MAX_COMPONENTS};
use crate::numbers::{MAX_COEFFICIENT, within};
use core::fmt;

/// Most coordinates in one direction.
pub const MAX_DIRECTION: usize = 24;

/// A sparse direction: coordinates of the root and of at most one task.
///
/// Two lists take less memory than a list of pairs, which would be padded to 16 bytes each. Every event has
/// space for a direction.
#[derive(Clone, Debug, PartialEq, Default)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Direction {
    coefficients: heapless::Vec<f64, MAX_DIRECTION, u8>,
    coordinates: heapless::Vec<u16, MAX_DIRECTION, u8>,
}

/// A pseudo-observation u = v.theta + noise of variance 1/kappa.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Statement {
    /// v
    pub direction: Direction,
    /// u in [-1, 1]
    pub response: f64,
    /// kappa; a statement with 0 is skipped.
    pub precision: f64,
}

/// The contexts in which a stated preference holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum When {
    /// All contexts: the coordinates of the components alone.
    #[default]
    Always,
    /// One task: its interaction coordinates alone.
    Task(usize),
    /// A signal, proportionally: its interaction coordinates alone.
    Signal(usize),
}

impl Direction {
    /// A direction from coordinates and their coefficients.
    ///
    /// # Errors
    /// An unknown or repeated coordinate, a coefficient that is zero or out of range, none or too many, or
    /// two tasks.
    pub fn new(
        catalog: &Catalog<'_>,
        entries: impl IntoIterator<Item = (usize, f64)>,
    ) -> Result<Self, OnboardingError> {
        let mut direction = Self::default();
        for (coordinate, coefficient) in entries {
            let index = u16::try_from(coordinate).map_err(|_| OnboardingError::UnknownCoordinate)?;
            direction.push(index, coefficient).ok_or(OnboardingError::TooMany)?;
        }
        direction.check(catalog)?;
        Ok(direction)
    }

    /// Adds an unchecked entry; `None` if the direction is full.
    #[inline]
    pub(crate) fn push(&mut self, coordinate: u16, coefficient: f64) -> Option<()> {
        self.coordinates.push(coordinate).ok()?;
        self.coefficients.push(coefficient).ok()
    }

    /// A direction from canonical coordinate names.
    ///
    /// # Errors
    /// As [`Direction::new`].
    pub fn from_names(catalog: &Catalog<'_>, entries: &[(&str, f64)]) -> Result<Self, OnboardingError> {
        let mut found = heapless::Vec::<(usize, f64), MAX_DIRECTION>::new();
        for &(name, coefficient) in entries {
            let coordinate = catalog.coordinate(name).ok_or(OnboardingError::UnknownCoordinate)?;
            found.push((coordinate, coefficient)).map_err(|_| OnboardingError::TooMany)?;
        }
        Self::new(catalog, found)
    }

    /// "Prefer these values over others": +1 and -1 on their coordinates. `over` may be empty.
    ///
    /// Each side lists (component, value) and stands for the coordinate of exactly those components.
    ///
    /// # Errors
    /// [`OnboardingError::NoCoordinate`] when the dictionary has no such coordinate, otherwise as
    /// [`Direction::new`].
    pub fn prefer(
        catalog: &Catalog<'_>,
        prefer: &[(u8, u8)],
        over: &[(u8, u8)],
        when: When,
    ) -> Result<Self, OnboardingError> {
        let wanted = coordinate_of(catalog, prefer, when)?;
        let unwanted = if over.is_empty() { None } else { Some(coordinate_of(catalog, over, when)?) };
        Self::new(
            catalog,
            core::iter::once((wanted, 1.0)).chain(unwanted.map(|coordinate| (coordinate, -1.0))),
        )
    }

    /// The entries as (coordinate, coefficient).
    #[inline]
    pub fn entries(&self) -> impl Iterator<Item = (usize, f64)> {
        self.raw().map(|(coordinate, coefficient)| (usize::from(coordinate), coefficient))
    }

    /// The entries as stored.
    #[inline]
    pub(crate) fn raw(&self) -> impl ExactSizeIterator<Item = (u16, f64)> {
        self.coordinates.iter().copied().zip(self.coefficients.iter().copied())
    }

    /// Checks that the direction fits a catalog.
    #[inline]
    pub(crate) fn check(&self, catalog: &Catalog<'_>) -> Result<(), OnboardingError> {
        if self.coordinates.is_empty() {
            return Err(OnboardingError::Empty);
        }
        for (place, (coordinate, coefficient)) in self.raw().enumerate() {
            if usize::from(coordinate) >= catalog.dimension() {
                return Err(OnboardingError::UnknownCoordinate);
            }
            if coefficient == 0.0 || !within(coefficient, MAX_COEFFICIENT) {
                return Err(OnboardingError::Coefficient);
            }
            if self.coordinates.iter().take(place).any(|other| *other == coordinate) {
                return Err(OnboardingError::RepeatedCoordinate);
            }
        }
        let mut leaf = None;
        for (coordinate, _) in self.entries() {
            let (task, _) = catalog.layout().locate(coordinate).ok_or(OnboardingError::UnknownCoordinate)?;
            if task.is_some() && leaf.is_some() && leaf != task {
                return Err(OnboardingError::TwoTasks);
            }
            leaf = leaf.or(task);
        }
        Ok(())
    }
}

/// The coordinate of the block with exactly these components and this condition.
fn coordinate_of(catalog: &Catalog<'_>, side: &[(u8, u8)], when: When) -> Result<usize, OnboardingError> {
    let components = catalog.definition().components;
    let mut mask = 0_u8;
    let mut values = [0_u8; MAX_COMPONENTS];
    for &(component, value) in side {
        let known = components
            .get(usize::from(component))
            .is_some_and(|component| usize::from(value) < component.values.len());
        let slot =
            values.get_mut(usize::from(component)).filter(|_| known).ok_or(OnboardingError::UnknownValue)?;
        if mask >> component & 1 == 1 {
            return Err(OnboardingError::UnknownValue);
        }
        mask |= 1 << component;
        *slot = value;
    }
    let (task, signal) = match when {
        When::Always => (None, None),
        When::Task(task) if task < catalog.definition().tasks.len() => (Some(task), None),
        When::Signal(signal) if signal < catalog.definition().signals.len() => (None, Some(signal)),
        When::Task(_) | When::Signal(_) => return Err(OnboardingError::UnknownCondition),
    };
    let block = catalog
        .single_blocks()
        .iter()
        .chain(catalog.product_blocks())
        .find(|block| {
            block.mask == mask && block.per_task == task.is_some() && block.signal.map(usize::from) == signal
        })
        .ok_or(OnboardingError::NoCoordinate)?;
    let values = values.get(..components.len()).unwrap_or(&[]);
    let inside =
        usize::from(block.offset) + catalog.position(block, values).ok_or(OnboardingError::NoCoordinate)?;
    match task {
        Some(task) => catalog.layout().leaf_coordinate(task, inside).ok_or(OnboardingError::NoCoordinate),
        None => Ok(catalog.layout().root_coordinate(inside)),
    }
}

/// A fault in a stated preference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum OnboardingError {
    /// A direction without entries.
    Empty,
    /// More than [`MAX_DIRECTION`] entries.
    TooMany,
    /// The catalog has no coordinate of that name or number.
    UnknownCoordinate,
    /// A coordinate twice.
    RepeatedCoordinate,
    /// A coefficient that is 0 or not a number from -100 to 100.
    Coefficient,
    /// An unknown component or value, or one component twice.
    UnknownValue,
    /// An unknown task or signal.
    UnknownCondition,
    /// The dictionary has no coordinate for this combination.
    NoCoordinate,
    /// Coordinates of two tasks in one direction.
    TwoTasks,
    /// A response that is not a number from -1 to 1.
    Response,
    /// A precision that is neither 0 nor a number from 1e-6 to 1e6.
    Precision,
}

impl fmt::Display for OnboardingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "a direction needs at least one coordinate",
            Self::TooMany => "a direction can have at most 24 coordinates",
            Self::UnknownCoordinate => "the catalog has no such coordinate",
            Self::RepeatedCoordinate => "a direction names a coordinate twice",
            Self::Coefficient => "a coefficient must be a number from -100 to 100 and not 0",
            Self::UnknownValue => "a statement names an unknown component or value, or a component twice",
            Self::UnknownCondition => "a statement names an unknown task or signal",
            Self::NoCoordinate => "the dictionary has no coordinate for this combination of values",
            Self::TwoTasks => {
                "a direction can touch coordinates of one task only; state one preference per task"
            }
            Self::Response => "a response must be a number from -1 to 1",
            Self::Precision => "a precision must be 0 or a number from 0.000001 to 1000000",
        })
    }
}

impl core::error::Error for OnboardingError {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::{AGENT, RUBRIC};

    fn names(direction: &Direction) -> Vec<(String, f64)> {
        direction
            .entries()
            .map(|(index, value)| (AGENT.coordinate_name(index).unwrap().to_string(), value))
            .collect()
    }

    #[test]
    fn prefer_follows_the_stated_semantics() {
        let prefer = |prefer: &[(u8, u8)], over: &[(u8, u8)], when| {
            Direction::prefer(&AGENT, prefer, over, when).map(|d| names(&d))
        };
        let entry = |name: &str, value: f64| (name.to_owned(), value);
        assert_eq!(
            prefer(&[(2, 1)], &[(2, 2)], When::Always).unwrap(),
            [entry("style=concise", 1.0), entry("style=detailed", -1.0)]
        );
        assert_eq!(prefer(&[(2, 1)], &[], When::Signal(0)).unwrap(), [entry("risk*style=concise", 1.0)]);
        assert_eq!(
            prefer(&[(1, 1), (0, 1)], &[], When::Always).unwrap(),
            [entry("memory=recent_memory*tool=web_search", 1.0)]
        );
        assert_eq!(
            prefer(&[(1, 1)], &[], When::Task(9)).unwrap(),
            [entry("task=troubleshooting*tool=web_search", 1.0)]
        );
        assert_eq!(prefer(&[(0, 1)], &[], When::Task(0)), Err(OnboardingError::NoCoordinate));
        assert_eq!(prefer(&[(0, 0)], &[], When::Signal(2)), Err(OnboardingError::NoCoordinate));
        assert_eq!(prefer(&[(0, 0), (1, 0), (2, 0)], &[], When::Always), Err(OnboardingError::NoCoordinate));
        assert_eq!(prefer(&[], &[], When::Always), Err(OnboardingError::NoCoordinate));
        assert_eq!(prefer(&[(2, 6)], &[], When::Always), Err(OnboardingError::UnknownValue));
        assert_eq!(prefer(&[(9, 0)], &[], When::Always), Err(OnboardingError::UnknownValue));
        assert_eq!(prefer(&[(2, 0), (2, 1)], &[], When::Always), Err(OnboardingError::UnknownValue));
        assert_eq!(prefer(&[(2, 1)], &[(2, 1)], When::Always), Err(OnboardingError::RepeatedCoordinate));
        assert_eq!(prefer(&[(2, 1)], &[], When::Task(10)), Err(OnboardingError::UnknownCondition));
        assert_eq!(prefer(&[(2, 1)], &[], When::Signal(4)), Err(OnboardingError::UnknownCondition));
    }

    #[test]
    fn every_bad_direction_has_its_own_error() {
        let reject = |entries: &[(usize, f64)]| Direction::new(&RUBRIC, entries.iter().copied()).unwrap_err();
        assert_eq!(reject(&[]), OnboardingError::Empty);
        assert_eq!(reject(&[(9, 1.0)]), OnboardingError::UnknownCoordinate);
        assert_eq!(reject(&[(usize::MAX, 1.0)]), OnboardingError::UnknownCoordinate);
        assert_eq!(reject(&[(1, 1.0), (1, 1.0)]), OnboardingError::RepeatedCoordinate);
        for bad in [0.0, -0.0, f64::NAN, f64::INFINITY, -100.1] {
            assert_eq!(reject(&[(0, bad)]), OnboardingError::Coefficient);
        }
        let many = (0..30).map(|index| (index, 1.0));
        assert_eq!(
            Direction::new(&AGENT, many.map(|(index, value)| (index + 200, value))),
            Err(OnboardingError::TooMany)
        );
        assert_eq!(
            Direction::from_names(&RUBRIC, &[("style=concise", 1.0)]),
            Err(OnboardingError::UnknownCoordinate)
        );
        assert_eq!(Direction::new(&AGENT, [(0, 1.0), (12, 1.0)]), Err(OnboardingError::TwoTasks));
    }
}
