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

pub mod agent;
mod blocks;
mod component;
mod context;
mod contrast;
mod coordinates;
mod dictionary;
mod error;
mod feasible;
#[cfg(feature = "migrate")]
mod lone;
#[cfg(feature = "migrate")]
mod matching;
mod names;
mod onboarding;
mod reference;
pub mod rubric;
pub(crate) mod score;
mod standing;
pub mod tau2;
mod validate;

pub use agent::AGENT;
pub use blocks::BlockSet;
pub use component::{Component, Part, Value};
pub use context::{Context, ContextError};
pub(crate) use contrast::TRIAL_LEN;
pub use contrast::{Contrast, ContrastSet};
pub use coordinates::CoordinateSet;
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
use crate::numbers::{Fingerprint, Layout, Number};
pub use crate::numbers::{MAX_DIMENSION, MAX_TASKS};
use core::fmt;

/// Most components a catalog can have.
pub const MAX_COMPONENTS: usize = 8;
/// Most values a component can have.
pub const MAX_VALUES: usize = 256;
/// Most actions a catalog can have.
pub const MAX_ACTIONS: usize = 1024;
/// Most signals a context can have.
pub const MAX_SIGNALS: usize = 16;
/// Most blocks a dictionary can have.
pub const MAX_BLOCKS: usize = 128;
/// Most terms a default score can have.
pub const MAX_TERMS: usize = 64;
/// Most contrasts a catalog can declare.
pub const MAX_CONTRASTS: usize = 64;
/// Numbers of a learner for the user's own rules and switches.
pub(crate) const USER_RULE_LEN: usize = 24;
/// Most rules a catalog can declare.
pub const MAX_RULES: usize = 32;
/// Largest magnitude of a cost or of a term's weight.
pub const MAX_WEIGHT: f64 = 100.0;

/// A complete action: its index in catalog order. The first component varies slowest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Action(pub u16);

impl Action {
    /// The index as `usize`.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// The value positions of one action, one per component.
pub type Values = heapless::Vec<u8, MAX_COMPONENTS>;

/// Position of a block in the definition, and the features (coordinate, value) of two actions in this block.
pub(crate) type BlockFeatures = (u8, Option<(usize, f32)>, Option<(usize, f32)>);

/// The data of a catalog.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Definition<'a> {
    /// Name of the catalog.
    pub name: &'a str,
    /// 1 to 8 components.
    pub components: &'a [Component<'a>],
    /// Names of the task types, up to 64; may be empty.
    pub tasks: &'a [&'a str],
    /// Names of the signals, up to 16; may be empty.
    pub signals: &'a [&'a str],
    /// The dictionary.
    pub blocks: &'a [Block],
    /// The terms of the default score.
    pub terms: &'a [Term<'a>],
    /// The declared contrasts, up to 64; may be empty.
    pub contrasts: &'a [Contrast<'a>],
    /// The standing rules, up to 32; may be empty.
    pub rules: &'a [StandingRule<'a>],
}

impl Definition<'_> {
    /// An empty definition, for `..Definition::EMPTY`.
    pub const EMPTY: Self = Self {
        name: "",
        components: &[],
        tasks: &[],
        signals: &[],
        blocks: &[],
        terms: &[],
        contrasts: &[],
        rules: &[],
    };
}

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

    /// Assigns coordinates to every block. Blocks of one component are listed first, in the order of scoring.
    #[expect(clippy::cast_possible_truncation, reason = "at most 8192 coordinates and 64 tasks")]
    const fn place(&mut self) -> Result<(), CatalogError> {
        let mut products = false;
        let mut slots: &mut [Placed] = &mut self.placed;
        let (mut listed, mut singles) = (0u8, 0u8);
        let (mut leaf, mut root);
        loop {
            leaf = 0usize;
            root = 0usize;
            let mut index = 0u8;
            let mut blocks = self.definition.blocks;
            while let [block, rest @ ..] = blocks {
                let mask = block.mask(self.definition.components.len());
                let size = block_size(&self.definition, *block);
                let region = if block.per_task { &mut leaf } else { &mut root };
                let offset = *region;
                *region += size;
                if *region > MAX_DIMENSION {
                    return Err(CatalogError::DimensionTooLarge);
                }
                if (mask.count_ones() > 1) == products {
                    let [slot, others @ ..] = slots else { return Err(CatalogError::BlockCount) };
                    *slot = Placed {
                        index,
                        mask: mask as u8,
                        offset: offset as u16,
                        size: size as u16,
                        per_task: block.per_task,
                        without_null: block.without_null,
                        signal: block.signal,
                    };
                    slots = others;
                    listed += 1;
                }
                index += 1;
                blocks = rest;
            }
            if products {
                break;
            }
            singles = listed;
            products = true;
        }
        let leaves = if leaf == 0 { 0 } else { self.definition.tasks.len() };
        self.blocks = listed;
        self.singles = singles;
        match Layout::new(leaves, leaf, root) {
            Some(layout) => {
                self.layout = layout;
                Ok(())
            }
            None => Err(CatalogError::DimensionTooLarge),
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

    /// Distance in catalog order of two actions whose values of one component differ by one.
    pub(crate) const fn stride(&self, component: usize) -> usize {
        let mut stride = 1;
        let mut later = match self.definition.components.split_at_checked(component.saturating_add(1)) {
            Some((_, later)) => later,
            None => &[],
        };
        while let [own, rest @ ..] = later {
            stride *= own.values.len();
            later = rest;
        }
        stride
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

    /// Position of a value among the values of all components.
    pub(crate) fn value_place(&self, component: usize, value: u8) -> Option<usize> {
        let (before, rest) = self.definition.components.split_at_checked(component)?;
        let own = rest.first().filter(|own| usize::from(value) < own.values.len());
        own.map(|_| before.iter().map(|component| component.values.len()).sum::<usize>() + usize::from(value))
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

    /// The action with these value positions, one per component.
    #[must_use]
    pub fn action(&self, values: &[u8]) -> Option<Action> {
        if values.len() != self.definition.components.len() {
            return None;
        }
        let mut index = 0;
        for (component, &value) in self.definition.components.iter().zip(values) {
            if usize::from(value) >= component.values.len() {
                return None;
            }
            index = index * component.values.len() + usize::from(value);
        }
        u16::try_from(index).ok().map(Action)
    }

    /// The value positions of an action; `None` for an index outside the catalog.
    #[must_use]
    #[inline]
    pub fn values(&self, action: Action) -> Option<Values> {
        if action.0 >= self.actions {
            return None;
        }
        let mut values = Values::new();
        let mut rest = action.index();
        let mut stride = self.actions();
        for component in self.definition.components {
            stride /= component.values.len().max(1);
            let digit = rest / stride.max(1);
            rest -= digit * stride;
            values.push(u8::try_from(digit).ok()?).ok()?;
        }
        Some(values)
    }

    /// The value position of one component in an action; `None` for an action or a component outside the
    /// catalog.
    #[must_use]
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "a component has at most 256 values")]
    pub const fn value_of(&self, action: Action, component: usize) -> Option<u8> {
        if action.0 >= self.actions {
            return None;
        }
        let Some((_, [own, ..])) = self.definition.components.split_at_checked(component) else {
            return None;
        };
        let Some(quotient) = action.index().checked_div(self.stride(component)) else { return None };
        match quotient.checked_rem(own.values.len()) {
            Some(value) => Some(value as u8),
            None => None,
        }
    }

    /// The set of all actions.
    #[must_use]
    #[inline]
    pub const fn all_actions(&self) -> ActionSet {
        ActionSet::first(self.actions())
    }

    /// The blocks of one component.
    pub(crate) fn single_blocks(&self) -> &[Placed] {
        self.placed.get(..usize::from(self.singles)).unwrap_or(&[])
    }

    /// The blocks of two or more components.
    pub(crate) fn product_blocks(&self) -> &[Placed] {
        self.placed.get(usize::from(self.singles)..usize::from(self.blocks)).unwrap_or(&[])
    }

    /// Position of a value among the values that have a coordinate; `None` for a left-out null value.
    pub(crate) fn digit(&self, block: &Placed, component: usize, value: u8) -> Option<usize> {
        let null = match self.definition.components.get(component)?.null {
            Some(null) if block.without_null => null,
            _ => return Some(usize::from(value)),
        };
        (value != null).then(|| usize::from(value) - usize::from(value > null))
    }

    /// Number of coordinates along a component of a block.
    pub(crate) fn radix(&self, block: &Placed, component: usize) -> usize {
        self.definition.components.get(component).map_or(0, |component| {
            component.values.len() - usize::from(block.without_null && component.null.is_some())
        })
    }

    /// Index in the block of the coordinate of an action with these values.
    pub(crate) fn position(&self, block: &Placed, values: &[u8]) -> Option<usize> {
        let mut position = 0;
        for (component, &value) in values.iter().enumerate().filter(|(component, _)| block.has(*component)) {
            position = position * self.radix(block, component) + self.digit(block, component, value)?;
        }
        Some(position)
    }

    /// The nonzero features phi(c, a) as (coordinate, value): at most one per block.
    ///
    /// ```
    /// use fable_core::{catalog::TAU2, Action, Context};
    /// let context = Context::new(&TAU2, None, &[])?;
    /// assert_eq!(TAU2.features(&context, Action(0)).count(), 6); // three mains, three pairs
    /// # Ok::<(), fable_core::catalog::ContextError>(())
    /// ```
    pub fn features(&self, context: &Context, action: Action) -> impl Iterator<Item = (usize, f32)> {
        self.features_of(None, context, action)
    }

    /// The nonzero features in the given blocks, or in all blocks.
    #[inline]
    pub(crate) fn features_of(
        &self,
        blocks: Option<BlockSet>,
        context: &Context,
        action: Action,
    ) -> impl Iterator<Item = (usize, f32)> {
        let values = self.values(action);
        self.placed_blocks(blocks).filter_map(move |block| self.feature(block, context, values.as_ref()?))
    }

    /// The nonzero entries of phi(c, a) - phi(c, a') in the given blocks, or in all blocks.
    #[inline]
    pub(crate) fn difference_of(
        &self,
        blocks: Option<BlockSet>,
        context: &Context,
        prefer: Action,
        over: Action,
    ) -> impl Iterator<Item = (usize, f32)> {
        let (plus, minus) = (self.values(prefer), self.values(over));
        let values = plus.iter().flatten().zip(minus.iter().flatten());
        let differing =
            values.zip(0..).fold(0_u8, |bits, ((plus, minus), bit)| bits | u8::from(plus != minus) << bit);
        // Only blocks with a differing component have different features.
        let blocks = move || self.placed_blocks(blocks).filter(move |block| block.mask & differing != 0);
        let minus = blocks().filter_map(move |block| self.feature(block, context, minus.as_ref()?));
        let plus = blocks().filter_map(move |block| self.feature(block, context, plus.as_ref()?));
        plus.chain(minus.map(|(coordinate, value)| (coordinate, -value)))
    }

    /// Position and both features of every block in which at least one of two actions has a feature.
    #[inline]
    pub(crate) fn block_features(
        &self,
        blocks: Option<BlockSet>,
        context: &Context,
        first: Action,
        second: Action,
    ) -> impl Iterator<Item = BlockFeatures> {
        let (first, second) = (self.values(first), self.values(second));
        self.placed_blocks(blocks).filter_map(move |block| {
            let feature = |values: &Option<Values>| self.feature(block, context, values.as_ref()?);
            let (first, second) = (feature(&first), feature(&second));
            (first.is_some() || second.is_some()).then_some((block.index, first, second))
        })
    }

    /// The given blocks, or all blocks.
    fn placed_blocks(&self, blocks: Option<BlockSet>) -> impl Iterator<Item = &Placed> {
        let counts =
            move |block: &&Placed| blocks.is_none_or(|blocks| blocks.contains(usize::from(block.index)));
        self.single_blocks().iter().chain(self.product_blocks()).filter(counts)
    }

    /// The nonzero feature of a block, if there is one in this context.
    #[inline]
    fn feature(&self, block: &Placed, context: &Context, values: &[u8]) -> Option<(usize, f32)> {
        let inside = usize::from(block.offset) + self.position(block, values)?;
        let coordinate = if block.per_task {
            self.layout.leaf_coordinate(context.task()?, inside)?
        } else {
            self.layout.root_coordinate(inside)
        };
        let value = match block.signal {
            Some(signal) => context.signal(usize::from(signal))?,
            None => 1.0,
        };
        (value != 0.0).then_some((coordinate, value))
    }

    /// Writes the instruction for the assistant: the texts of the chosen values, in component order.
    ///
    /// # Errors
    /// Only errors of the writer. An action outside the catalog writes nothing.
    ///
    /// ```
    /// use fable_core::catalog::agent::{self, AGENT, Memory, Style, Tool};
    /// let mut text = String::new();
    /// AGENT.instruct(agent::action(Memory::NoMemory, Tool::WebSearch, Style::Concise), &mut text)?;
    /// assert_eq!(text, "Do not use stored memory. Search the web before answering. Answer briefly.");
    /// # Ok::<(), core::fmt::Error>(())
    /// ```
    pub fn instruct(&self, action: Action, out: &mut impl fmt::Write) -> fmt::Result {
        let values = self.values(action).unwrap_or_default();
        let texts = self.definition.components.iter().zip(&values);
        let mut separator = "";
        for (component, &value) in texts {
            let text = component.values.get(usize::from(value)).map_or("", |value| value.instruction);
            if !text.is_empty() {
                out.write_str(separator)?;
                out.write_str(text)?;
                separator = " ";
            }
        }
        Ok(())
    }

    /// Reference score of one action: b - lambda cost, with b from the terms or from the caller (`default`).
    ///
    /// The sum runs over the components first, then over the terms with several components. Each number is
    /// rounded once to `T`.
    pub(crate) fn baseline<T: Number>(
        &self,
        context: &Context,
        action: Action,
        lambda: f64,
        default: Option<f64>,
    ) -> T {
        let values = self.values(action).unwrap_or_default();
        let active = if default.is_none() { self.active_terms(context) } else { 0 };
        let mut total = T::ZERO;
        for (index, (component, &value)) in self.definition.components.iter().zip(&values).enumerate() {
            let cost = component.values.get(usize::from(value)).map_or(0.0, |value| value.cost);
            let mut score = T::from_f64(-lambda * cost);
            for term in self.terms(active & !self.spanning) {
                if term
                    .applies
                    .iter()
                    .any(|part| usize::from(part.component) == index && part.contains(value))
                {
                    score += T::from_f64(term.weight);
                }
            }
            total += score;
        }
        for term in self.terms(active & self.spanning).filter(|term| term.meets(&values)) {
            total += T::from_f64(term.weight);
        }
        default.map_or(total, |default| total + T::from_f64(default))
    }

    /// The default score b of an action.
    #[must_use]
    #[inline]
    pub fn default_score(&self, context: &Context, action: Action) -> f64 {
        let values = self.values(action).unwrap_or_default();
        self.terms(self.active_terms(context))
            .filter(|term| term.meets(&values))
            .map(|term| term.weight)
            .sum()
    }

    /// The cost of an action, the sum of its values' costs.
    #[must_use]
    #[inline]
    pub fn cost(&self, action: Action) -> f64 {
        let values = self.values(action).unwrap_or_default();
        let values = self.definition.components.iter().zip(&values);
        values
            .map(|(component, &value)| {
                component.values.get(usize::from(value)).map_or(0.0, |value| value.cost)
            })
            .sum()
    }

    /// The terms that hold in a context, one bit each.
    #[inline]
    pub(crate) fn active_terms(&self, context: &Context) -> u64 {
        self.definition
            .terms
            .iter()
            .rev()
            .fold(0, |bits, term| bits << 1 | u64::from(term.when.holds(context)))
    }

    /// The terms with several components, one bit each. They are no sum over components.
    pub(crate) const fn spanning_terms(&self) -> u64 {
        self.spanning
    }

    /// The terms whose bits are set.
    pub(crate) fn terms(&self, mut bits: u64) -> impl Iterator<Item = &Term<'a>> {
        core::iter::from_fn(move || {
            let index = bits.trailing_zeros() as usize;
            bits &= bits.wrapping_sub(1);
            self.definition.terms.get(index)
        })
    }
}

/// Coordinates in one copy of a block.
const fn block_size(definition: &Definition<'_>, block: Block) -> usize {
    let mask = block.mask(definition.components.len());
    let mut size = 1;
    let mut index = 0;
    let mut components = definition.components;
    while let [component, rest @ ..] = components {
        if mask >> index & 1 == 1 {
            let left_out = if block.without_null && component.null.is_some() { 1 } else { 0 };
            size *= component.values.len() - left_out;
        }
        index += 1;
        components = rest;
    }
    size
}
