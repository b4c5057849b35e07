//! Catalogs: actions, contexts and features as plain constant data.
//!
//! A [`Catalog`] has components, tasks, signals, a dictionary of blocks and the reference. The actions are
//! all combinations of the components' values. A `const` catalog is in flash, and its dimension and state
//! length are build-time constants. An error in a constant catalog is a build error with a message:
//!
//! ```
//! use fable_core::catalog::{Block, Catalog, Component, Definition, Value};
//!
//! const LAMP: Catalog<'static> = Catalog::new(Definition {
//!     name: "lamp",
//!     components: &[Component::new("light", &[
//!         Value::new("warm", "Use warm light.", 0.0),
//!         Value::new("cold", "Use cold light.", 0.0),
//!     ])],
//!     tasks: &["reading", "dinner"],
//!     blocks: &[Block::main(0), Block::main(0).per_task()],
//!     ..Definition::EMPTY
//! });
//! const STATE: [f32; LAMP.state_len()] = [0.0; LAMP.state_len()];
//!
//! assert_eq!((LAMP.dimension(), LAMP.actions(), STATE.len()), (6, 2, 49));
//! assert_eq!(LAMP.coordinate("task=dinner*light=warm"), Some(2));
//! ```
//!
//! ```compile_fail
//! use fable_core::catalog::{Catalog, Definition};
//! // error: a catalog needs between 1 and 8 components
//! const EMPTY: Catalog<'static> = Catalog::new(Definition { name: "empty", ..Definition::EMPTY });
//! ```
//!
//! At run time [`Catalog::try_new`] takes the same data and returns errors as [`CatalogError`]. Coordinates
//! have the order of the posterior: the blocks of task 0, of task 1, ..., then the shared blocks.

mod action;
pub mod agent;
mod blocks;
mod component;
mod context;
mod contrast;
mod coordinates;
mod definition;
mod dictionary;
mod error;
mod feasible;
mod features;
#[cfg(feature = "migrate")]
mod lone;
#[cfg(feature = "migrate")]
mod matching;
mod names;
mod onboarding;
mod place;
mod reference;
pub mod rubric;
pub(crate) mod score;
mod standing;
pub mod tau2;
mod validate;

pub use action::{Action, Values};
pub use agent::AGENT;
pub use blocks::BlockSet;
pub use component::{Component, Part, Value};
pub use context::{Context, ContextError};
pub(crate) use contrast::TRIAL_LEN;
pub use contrast::{Contrast, ContrastSet};
pub use coordinates::CoordinateSet;
pub(crate) use definition::USER_RULE_LEN;
pub use definition::{
    Definition, MAX_ACTIONS, MAX_BLOCKS, MAX_COMPONENTS, MAX_CONTRASTS, MAX_RULES, MAX_SIGNALS, MAX_TERMS,
    MAX_VALUES, MAX_WEIGHT,
};
pub use dictionary::Block;
pub(crate) use dictionary::Placed;
pub use error::CatalogError;
pub use feasible::{ActionSet, Effect, Feasible, FeasibleError, Rule, removed_by};
#[cfg(feature = "migrate")]
pub use lone::LonePart;
#[cfg(feature = "migrate")]
pub(crate) use matching::Matching;
#[cfg(feature = "migrate")]
pub use matching::{Rename, RenameKind};
pub use names::{ActionName, CoordinateName};
pub use onboarding::{Direction, MAX_DIRECTION, OnboardingError, Statement, When};
pub use reference::{Condition, Term};
pub use rubric::RUBRIC;
pub use standing::{SIGNAL_HIGH, StandingRule, stopped_by};
pub use tau2::TAU2;
pub(crate) use validate::check_part;

use crate::numbers::inverse::ROWS;
use crate::numbers::{Fingerprint, Layout};
pub use crate::numbers::{MAX_DIMENSION, MAX_TASKS};

/// A validated catalog. See the [module](self).
#[derive(Clone, Copy, Debug)]
pub struct Catalog<'a> {
    definition: Definition<'a>,
    actions: u16,
    layout: Layout,
    /// The blocks with their positions: first the blocks of one component, then the products.
    placed: [Placed; MAX_BLOCKS],
    blocks: u8,
    singles: u8,
    /// Bits of the terms with several components.
    spanning: u64,
}

impl<'a> Catalog<'a> {
    /// A constant catalog. An error in the definition is a build error. Use [`try_new`](Self::try_new) at run
    /// time.
    ///
    /// # Panics
    /// If evaluated at run time with an error in the definition.
    #[must_use]
    pub const fn new(definition: Definition<'a>) -> Self {
        match Self::try_new(definition) {
            Ok(catalog) => catalog,
            #[expect(clippy::panic, reason = "a build error, as documented")]
            Err(error) => panic!("{}", error.message()),
        }
    }

    /// Checks a definition and assigns coordinates to its blocks.
    ///
    /// # Errors
    /// The first [`CatalogError`] found.
    pub const fn try_new(definition: Definition<'a>) -> Result<Self, CatalogError> {
        let actions = match validate::definition(&definition) {
            Ok(actions) => actions,
            Err(error) => return Err(error),
        };
        let mut catalog = Self {
            definition,
            actions,
            layout: Layout::EMPTY,
            placed: [Placed::NONE; MAX_BLOCKS],
            blocks: 0,
            singles: 0,
            spanning: validate::spanning_terms(definition.terms),
        };
        match catalog.place() {
            Ok(()) => Ok(catalog),
            Err(error) => Err(error),
        }
    }

    /// The data of the catalog.
    #[must_use]
    pub const fn definition(&self) -> &Definition<'a> {
        &self.definition
    }

    /// Number of complete actions.
    #[must_use]
    pub const fn actions(&self) -> usize {
        self.actions as usize
    }

    /// Dimension d of the dictionary.
    #[must_use]
    pub const fn dimension(&self) -> usize {
        self.layout.dimension()
    }

    /// The shape of the posterior.
    #[must_use]
    pub const fn layout(&self) -> Layout {
        self.layout
    }

    /// Length of a learner's storage, the N of `[f32; N]`.
    ///
    /// In this order: the packed posterior, an evidence count per value, 15 numbers per declared contrast for
    /// its probes, and 24 numbers for the user's own rules.
    #[must_use]
    pub const fn state_len(&self) -> usize {
        self.trials_start() + TRIAL_LEN * self.definition.contrasts.len() + USER_RULE_LEN
    }

    /// Index of the first number of the declared contrasts in a learner's storage.
    pub(crate) const fn trials_start(&self) -> usize {
        self.layout.packed_len() + self.value_count()
    }

    /// Length of a [`Workspace`](crate::Workspace).
    ///
    /// A workspace has a variance per action and the larger of two parts. Scoring needs a direction, a number
    /// per value and a score per action. Variances need rows of the factor's inverse.
    #[must_use]
    pub const fn workspace_len(&self) -> usize {
        let (scoring, rows) = (self.scoring_len(), ROWS * self.row_len());
        self.actions() + if scoring > rows { scoring } else { rows }
    }

    /// Numbers for scoring: one theta, a number per value and a score per action.
    pub(crate) const fn scoring_len(&self) -> usize {
        self.layout.active_len() + self.value_count() + self.actions()
    }

    /// Entries for one row of a factor's inverse: the active coordinates, a number per value, and a second
    /// number per value of the last component.
    pub(crate) const fn row_len(&self) -> usize {
        let last = match self.definition.components {
            [.., last] => last.values.len(),
            [] => 0,
        };
        self.layout.leaf() + self.layout.root() + self.value_count() + last
    }

    /// Number of values of all components together.
    pub(crate) const fn value_count(&self) -> usize {
        let mut count = 0;
        let mut components = self.definition.components;
        while let [component, rest @ ..] = components {
            count += component.values.len();
            components = rest;
        }
        count
    }

    /// Fingerprint of [shape](Self::shape), costs and default scores; texts are not part of it.
    #[must_use]
    pub const fn fingerprint(&self) -> u64 {
        validate::reference(&self.definition, validate::shape(&self.definition, Fingerprint::new())).finish()
    }

    /// Fingerprint of everything that gives stored numbers their meaning: names, order, blocks, contrasts and
    /// rules.
    ///
    /// Catalogs with the same shape differ only in texts, costs and default scores. A user can change between
    /// them directly. A change to another shape needs a [migration](crate::Policy::fingerprint).
    #[must_use]
    pub const fn shape(&self) -> u64 {
        validate::shape(&self.definition, Fingerprint::new()).finish()
    }
}
