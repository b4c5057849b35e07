//! Which blocks of a dictionary to learn when there is little time: FABLE-SPCA for one user.
//!
//! From what is known about the user (the posterior after onboarding) and what they are likely to ask ([`Expected`]), [`choose`] computes the
//! blocks whose omission changes the scores least, with at most so many coordinates. [`fable_core::analysis`] has the method. What
//! it chooses is the setting `retained`, by names.
//!
//! What is to be expected comes from requests that are read by rules ([`expect`]), from a file ([`parse`]), or from a language model
//! ([`Llm::prototypes`](crate::llm::Llm::prototypes)), which estimates contexts and nothing else.
//!
//! ```
//! use fable_core::{HostUser, Policy, Settings, catalog::AGENT};
//! use fable_std::spca::{Options, choose, expect};
//!
//! let policy = Policy::<f64>::new(&AGENT, Settings::default())?;
//! let mut ana = HostUser::<f64>::new(&policy, "ana")?;
//! let expected = expect(&AGENT, &["Fix the bug in parser.rs", "What does this regex match: ^a+$"])?;
//! let chosen = choose(&mut ana.user(), &expected, &[], &Options::new(60))?;
//! assert!(chosen.retained.starts_with(&["memory".into(), "tool".into(), "style".into()]) && chosen.coordinates <= 60);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::settings::block_name;
use crate::text::{AdapterError, Constraint, ContextAdapter, RequestText, Rules, Situation, feasible};
use fable_core::analysis::program::MAX_MASK;
use fable_core::analysis::{CoordinateProgram, Program, ProgramError, Prototype, SpcaError, reduce, spca};
use fable_core::catalog::{BlockSet, CoordinateSet, Direction, FeasibleError};
use fable_core::{Catalog, Context, Feasible, Scalar, User};
use nalgebra::DMatrix;
use serde::Serialize;
use serde_json::Value;
use std::fmt;

/// A kind of request that is to be expected.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Expected {
    /// Its context.
    pub context: Context,
    /// How likely it is; all of them add up to 1.
    pub weight: f64,
}

/// Requests that were made or are to be expected, each as likely as the others, read by rules.
///
/// # Errors
/// A catalog that the rules do not know.
pub fn expect(catalog: &Catalog<'_>, requests: &[&str]) -> Result<Vec<Expected>, AdapterError> {
    let weight = 1.0 / requests.len().max(1) as f64;
    let read = |text: &&str| {
        Ok(Expected {
            context: Rules.context(catalog, Situation::new(RequestText::new(text)))?.value,
            weight,
        })
    };
    requests.iter().map(read).collect()
}

/// Reads a JSON list of `{"context":{"task":"coding","risk":0.1,...},"weight":2}`; the weights are made to add up to 1.
///
/// # Errors
/// Another form, or names and numbers that do not fit the catalog, in words.
pub fn parse(catalog: &Catalog<'_>, text: &str) -> Result<Vec<Expected>, String> {
    let list: Vec<serde_json::Map<String, Value>> =
        serde_json::from_str(text).map_err(|error| error.to_string())?;
    let mut expected = Vec::new();
    for (index, entry) in list.iter().enumerate() {
        let wrong = |what: &dyn fmt::Display| format!("prototype {}: {what}", index + 1);
        if let Some(key) = entry.keys().find(|key| !["context", "weight"].contains(&key.as_str())) {
            return Err(wrong(&format_args!("there is no key '{key}'")));
        }
        let weight = entry
            .get("weight")
            .map_or(Some(1.0), Value::as_f64)
            .filter(|weight| (0.0..=1e6).contains(weight));
        let weight = weight.ok_or_else(|| wrong(&"the weight is not a number from 0 to 1,000,000"))?;
        let fields = entry
            .get("context")
            .and_then(Value::as_object)
            .ok_or_else(|| wrong(&"the context is missing"))?;
        let task = fields.get("task").and_then(Value::as_str);
        let mut signals = Vec::new();
        for (name, level) in fields.iter().filter(|(name, _)| *name != "task") {
            let level = level.as_f64().ok_or_else(|| wrong(&format_args!("'{name}' is not a number")))?;
            signals.push((name.as_str(), level as f32));
        }
        let context = catalog.context(task, signals).map_err(|error| wrong(&error))?;
        expected.push(Expected { context, weight });
    }
    let total: f64 = expected.iter().map(|expected| expected.weight).sum();
    if total <= 0.0 {
        return Err("no prototype has any weight".into());
    }
    for expected in &mut expected {
        expected.weight /= total;
    }
    Ok(expected)
}

/// The blocks that a statement is about: those are kept.
#[must_use]
pub fn touched(catalog: &Catalog<'_>, direction: &Direction) -> BlockSet {
    let mut blocks = BlockSet::EMPTY;
    for (coordinate, _) in direction.entries() {
        catalog.block_of(coordinate).into_iter().for_each(|block| blocks.insert(block));
    }
    blocks
}

/// How to choose.
#[derive(Clone, Debug)]
pub struct Options {
    /// Most coordinates to keep.
    pub budget: usize,
    /// How much the default policy prefers what the reference scores higher.
    pub inverse_temperature: f64,
    /// Blocks that are kept in any case, such as those that [statements touch](touched).
    pub keep: BlockSet,
    /// What is allowed everywhere, beside the person's own rules.
    pub allowed: Option<Feasible>,
    /// Looks for the best single coordinates, too, within so many nodes.
    pub mask: Option<u64>,
}

impl Options {
    /// At most so many coordinates, with an inverse temperature of 4 and nothing else.
    #[must_use]
    pub const fn new(budget: usize) -> Self {
        Self { budget, inverse_temperature: 4.0, keep: BlockSet::EMPTY, allowed: None, mask: None }
    }
}

/// What to keep, and how good that is.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Chosen {
    /// The blocks to keep, by name: the setting `retained`.
    pub retained: Vec<String>,
    /// Their coordinates.
    pub coordinates: usize,
    /// Mean square of what the scores lose.
    pub error: f64,
    /// That of keeping nothing.
    pub error_of_nothing: f64,
    /// The best single coordinates, if they were asked for.
    pub mask: Option<Mask>,
}

/// Single coordinates instead of whole blocks. The learner keeps blocks; this is what they give away.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Mask {
    /// The coordinates, by name.
    pub coordinates: Vec<String>,
    /// Mean square of what the scores lose.
    pub error: f64,
    /// By how much the best mask could be better than this one, for want of nodes.
    pub gap: f64,
}

/// Chooses the blocks for a user, whose posterior is that after onboarding.
///
/// # Errors
/// Nothing expected, rules that leave nothing, or a budget that what must be kept does not fit into.
pub fn choose<T: Scalar + nalgebra::Scalar>(
    user: &mut User<'_, T>,
    expected: &[Expected],
    constraints: &[Constraint],
    options: &Options,
) -> Result<Chosen, ChooseError> {
    let policy = user.policy();
    let catalog = policy.catalog();
    let prototypes = prototypes(catalog, expected, constraints, options.allowed.as_ref())?;
    let d = catalog.dimension();
    let mut relevance = DMatrix::<f64>::zeros(d, d);
    spca::feature_covariance_into(policy, &prototypes, options.inverse_temperature, &mut relevance)?;
    let (mut moment, mut mean) = (DMatrix::from_element(d, d, T::ZERO), vec![T::ZERO; d]);
    let (posterior, scratch) = user.posterior_and_scratch();
    spca::second_moment_into(&posterior, scratch, &mut mean, &mut moment)?;
    spca::weigh(&mut relevance, &moment)?;
    let blocks = catalog.definition().blocks.len();
    let mut reduced = vec![0.0; blocks * blocks];
    reduce(catalog, &relevance, &mut reduced)?;
    let program = Program::of(catalog, &reduced)?.main_effects_first(catalog)?.keep(options.keep)?;
    let mut scratch = vec![0; program.scratch_len()];
    // Sizes are lumps: of all that fit, the one that loses least, and of those that lose as little the smallest.
    let mut best: Option<(f64, BlockSet)> = None;
    for k in 0..=options.budget.min(d) {
        match program.solve(k, &mut scratch) {
            Ok(found) if best.is_none_or(|(error, _)| found.error < error) => {
                best = Some((found.error, found.retained));
            }
            Ok(_) | Err(ProgramError::Infeasible { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    let (error, retained) = best.ok_or(ChooseError::Budget { budget: options.budget })?;
    let kept = CoordinateSet::of_blocks(catalog, retained);
    let mask = options.mask.map(|nodes| mask(catalog, &relevance, options, nodes)).transpose()?;
    Ok(Chosen {
        retained: retained.iter().filter_map(|block| block_name(catalog, block)).collect(),
        coordinates: kept.len(),
        error,
        error_of_nothing: spca::omitted_error(&relevance, &CoordinateSet::EMPTY)?,
        mask,
    })
}

/// What is expected with what is allowed there.
fn prototypes(
    catalog: &Catalog<'_>,
    expected: &[Expected],
    constraints: &[Constraint],
    allowed: Option<&Feasible>,
) -> Result<Vec<Prototype>, ChooseError> {
    let prototype = |Expected { context, weight }: &Expected| {
        let own = feasible(catalog, constraints, context, &[])?;
        let mut set = *own.set();
        if let Some(allowed) = allowed {
            own.set()
                .iter()
                .filter(|action| !allowed.set().contains(*action))
                .for_each(|action| set.remove(action));
        }
        Ok(Prototype { context: *context, weight: *weight, feasible: Feasible::from_set(catalog, set)? })
    };
    expected.iter().map(prototype).collect()
}

fn mask(
    catalog: &Catalog<'_>,
    relevance: &DMatrix<f64>,
    options: &Options,
    nodes: u64,
) -> Result<Mask, ChooseError> {
    let kept = CoordinateSet::of_blocks(catalog, options.keep);
    let program =
        CoordinateProgram::of_coordinates(catalog, relevance.as_slice())?.keep_coordinates(&kept)?;
    let found = program.search(
        options.budget.min(catalog.dimension()),
        nodes,
        &mut vec![0; program.scratch_len()],
    )?;
    let name = |coordinate| catalog.coordinate_name(coordinate).map(|name| name.to_string());
    Ok(Mask {
        coordinates: found.retained.iter().filter_map(name).collect(),
        error: found.error,
        gap: found.gap,
    })
}

/// Why nothing was chosen.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ChooseError {
    /// Nothing that is expected can be used.
    Spca(SpcaError),
    /// The program cannot be solved.
    Program(ProgramError),
    /// The rules leave nothing to do in something that is expected.
    Feasible(FeasibleError),
    /// What must be kept has more coordinates than the budget.
    Budget {
        /// The budget.
        budget: usize,
    },
}

impl fmt::Display for ChooseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Spca(error) => error.fmt(f),
            Self::Program(ProgramError::BlockCount) => {
                write!(f, "single coordinates are chosen among {MAX_MASK} at most, and this catalog has more")
            }
            Self::Program(error) => error.fmt(f),
            Self::Feasible(error) => error.fmt(f),
            Self::Budget { budget } => write!(f, "what must be kept has more than {budget} coordinates"),
        }
    }
}

impl std::error::Error for ChooseError {}

crate::from!(ChooseError: SpcaError => Spca, ProgramError => Program, FeasibleError => Feasible);
