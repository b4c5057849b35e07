//! What can be learned about a user at all, given what is allowed: the safe span, for a whole catalog.
//!
//! A preference can be known exactly when the difference of its two actions lies in the span of the features of what is allowed in
//! some round ([`fable_core::analysis::span`]). Whatever lies outside stays as the prior and stated preferences have it, however many
//! rewards come. [`Allowed`] is what is allowed task by task, [`SafeSpan`] the span.
//!
//! ```
//! use fable_core::catalog::AGENT;
//! use fable_core::preference::Comparison;
//! use fable_core::{Policy, Settings};
//! use fable_std::identify::{Allowed, SafeSpan};
//! use fable_std::text::{OnboardingAdapter, PreferenceText, Rules};
//!
//! let policy = Policy::<f64>::new(&AGENT, Settings::default())?;
//! let said = Rules.onboarding(&AGENT, PreferenceText::new("Never use memory. For coding never search the web."))?.value;
//! let mut span = SafeSpan::new(&policy, &Allowed::stated(&AGENT, &said.constraints)?);
//!
//! let declared = |name| Comparison::declared(&AGENT, AGENT.contrast(name).unwrap()).unwrap();
//! assert!(span.identifies(&policy, &declared("concise_over_detailed")));
//! let memory = declared("recent_memory_over_none");
//! assert!(!span.identifies(&policy, &memory));
//! assert_eq!(span.reason(&policy, &memory).unwrap(), "no allowed action has memory=recent_memory");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! *Every context at once.* Features are linear in the signals, so with the task and the action fixed, no signal and each signal alone span
//! what any signals give. A rule that holds while a signal is high leaves less than the others do, and what is left while it is low spans as
//! much over all low signals; so for the span such a rule does not count. Vectors that come again are looked at once: `agent` takes about
//! 260 of 9,900.

use crate::text::Constraint;
use fable_core::analysis::Span;
use fable_core::catalog::{ActionSet, CoordinateSet, FeasibleError, stopped_by};
use fable_core::preference::Comparison;
use fable_core::{Action, Catalog, Context, Feasible, Policy, Scalar};
use std::collections::HashSet;

/// What is allowed, without a task and in each.
#[derive(Clone, Debug, PartialEq)]
pub struct Allowed {
    /// First without a task, then in each.
    tasks: Vec<ActionSet>,
}

impl Allowed {
    /// The same everywhere, as far as the catalog's own rules leave it.
    #[must_use]
    pub fn everywhere(catalog: &Catalog<'_>, feasible: &Feasible) -> Self {
        Self { tasks: vec![*feasible.set(); catalog.definition().tasks.len() + 1] }.under_catalog(catalog)
    }

    /// What the rules of the catalog leave of it: whatever they remove however high the signals are.
    fn under_catalog(mut self, catalog: &Catalog<'_>) -> Self {
        let signals = catalog.definition().signals.len();
        let tasks = std::iter::once(None).chain((0..catalog.definition().tasks.len()).map(Some));
        for (set, task) in self.tasks.iter_mut().zip(tasks) {
            let places: Vec<Context> = [0.0, 1.0]
                .into_iter()
                .filter_map(|level| Context::new(catalog, task, &vec![level; signals]).ok())
                .collect();
            let stopped = |action: &Action| {
                !places.is_empty()
                    && places
                        .iter()
                        .all(|place| stopped_by(catalog, catalog.rules(), place, *action).is_some())
            };
            set.iter().filter(stopped).for_each(|action| set.remove(action));
        }
        self
    }

    /// What a person's own rules leave. Where they leave nothing, nothing is learned.
    ///
    /// # Errors
    /// Rules of another catalog.
    pub fn stated(catalog: &Catalog<'_>, constraints: &[Constraint]) -> Result<Self, FeasibleError> {
        let low = vec![0.0; catalog.definition().signals.len()]; // where fewest rules hold
        let mut tasks = Vec::new();
        for task in std::iter::once(None).chain((0..catalog.definition().tasks.len()).map(Some)) {
            let Ok(context) = Context::new(catalog, task, &low) else { continue };
            tasks.push(match crate::text::feasible(catalog, constraints, &context, &[]) {
                Ok(feasible) => *feasible.set(),
                Err(FeasibleError::Empty) => ActionSet::EMPTY,
                Err(error) => return Err(error),
            });
        }
        Ok(Self { tasks }.under_catalog(catalog))
    }

    /// What of it other rules leave, which hold everywhere.
    #[must_use]
    pub fn within(mut self, feasible: &Feasible) -> Self {
        for set in &mut self.tasks {
            set.iter()
                .filter(|action| !feasible.set().contains(*action))
                .for_each(|action| set.remove(action));
        }
        self
    }

    /// What is allowed in some task or without one: the hard state, as far as it is known before a context is. `None` when that is nothing.
    #[must_use]
    pub fn anywhere(&self, catalog: &Catalog<'_>) -> Option<Feasible> {
        let mut all = ActionSet::EMPTY;
        self.tasks.iter().flat_map(ActionSet::iter).for_each(|action| all.insert(action));
        Feasible::from_set(catalog, all).ok()
    }

    /// How many actions are allowed: without a task, then in each.
    pub fn counts(&self) -> impl Iterator<Item = usize> {
        self.tasks.iter().map(ActionSet::len)
    }

    /// Whether anything that is allowed has this value.
    fn has(&self, catalog: &Catalog<'_>, component: usize, value: u8) -> bool {
        let is = |action| catalog.values(action).is_some_and(|values| values.get(component) == Some(&value));
        self.tasks.iter().any(|set| set.iter().any(is))
    }
}

/// The span of the features of what is allowed. See the [module](self).
#[derive(Clone, Debug)]
pub struct SafeSpan {
    allowed: Allowed,
    /// None for a catalog without coordinates, which there is not.
    span: Option<Span<Vec<f64>>>,
    active: CoordinateSet,
}

/// A sparse vector, its values as bits.
type Vector = Vec<(usize, u32)>;

impl SafeSpan {
    /// The span of what is allowed, in the blocks that the policy learns.
    #[must_use]
    pub fn new<T: Scalar>(policy: &Policy<'_, T>, allowed: &Allowed) -> Self {
        let catalog = policy.catalog();
        let (dimension, signals) = (catalog.dimension(), catalog.definition().signals.len());
        let vectors = vectors(policy, allowed, signals);
        let rank = vectors.len().min(dimension);
        let rows = vec![0.0; Span::<Vec<f64>>::storage_len(dimension, rank)];
        let mut active = CoordinateSet::EMPTY;
        let mut span = Span::over(dimension, rows).ok();
        for vector in &vectors {
            for (coordinate, _) in vector {
                active.insert(*coordinate);
            }
            if let Some(span) = span.as_mut() {
                // There is room for as many rows as there are vectors, and features are moderate numbers of the catalog.
                let _ = span.insert(
                    vector.iter().map(|(coordinate, bits)| (*coordinate, f64::from(f32::from_bits(*bits)))),
                );
            }
        }
        Self { allowed: allowed.clone(), span, active }
    }

    /// How many independent directions of preference can be learned.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.span.as_ref().map_or(0, Span::rank)
    }

    /// The weights that some reward can move. Necessary for knowing a weight, and not enough: many stand for the same scores.
    #[must_use]
    pub const fn active(&self) -> &CoordinateSet {
        &self.active
    }

    /// Whether enough rewards would tell how much better one action is than the other.
    pub fn identifies<T: Scalar>(&mut self, policy: &Policy<'_, T>, comparison: &Comparison) -> bool {
        let Comparison { context, prefer, over, .. } = comparison;
        let difference = policy
            .difference(context, *prefer, *over)
            .map(|(coordinate, value)| (coordinate, f64::from(value)));
        self.span.as_mut().is_some_and(|span| span.contains(difference).unwrap_or(false))
    }

    /// Why no number of rewards would tell, in words; `None` when they would.
    pub fn reason<T: Scalar>(&mut self, policy: &Policy<'_, T>, comparison: &Comparison) -> Option<String> {
        if self.identifies(policy, comparison) {
            return None;
        }
        let catalog = policy.catalog();
        let sides =
            [comparison.prefer, comparison.over].map(|action| catalog.values(action).unwrap_or_default());
        let components = catalog.definition().components.iter().enumerate();
        for (index, component) in components {
            let [prefer, over] = sides.each_ref().map(|values| values.get(index).copied());
            for value in [prefer, over].into_iter().flatten().filter(|_| prefer != over) {
                if !self.allowed.has(catalog, index, value) {
                    let name = component.values.get(usize::from(value)).map_or("", |value| value.name);
                    return Some(format!("no allowed action has {}={name}", component.name));
                }
            }
        }
        Some("what is allowed never tells the two apart".into())
    }
}

/// Distinct vectors that span the features of everything allowed.
fn vectors<T: Scalar>(policy: &Policy<'_, T>, allowed: &Allowed, signals: usize) -> Vec<Vector> {
    let catalog = policy.catalog();
    let (mut seen, mut found) = (HashSet::new(), Vec::new());
    let mut keep = |vector: Vector| {
        if !vector.is_empty() && seen.insert(vector.clone()) {
            found.push(vector);
        }
    };
    let features = |task: Option<usize>, one: Option<usize>, action: Action| {
        let levels: Vec<f32> =
            (0..signals).map(|signal| if Some(signal) == one { 1.0 } else { 0.0 }).collect();
        let context = Context::new(catalog, task, &levels).ok();
        context.map_or_else(Vec::new, |context| policy.features(&context, action).collect::<Vec<_>>())
    };
    let anywhere = allowed.tasks.first().copied().unwrap_or(ActionSet::EMPTY);
    for (task, set) in std::iter::once(None).chain((0..).map(Some)).zip(&allowed.tasks) {
        for action in set.iter() {
            let own = features(task, None, action);
            // Where the action is allowed without a task, too, the rest is what the task adds.
            let known = if task.is_some() && anywhere.contains(action) {
                features(None, None, action)
            } else {
                Vec::new()
            };
            keep(without(&own, &known));
            for signal in 0..signals {
                keep(without(&features(task, Some(signal), action), &own));
            }
        }
    }
    found
}

/// A vector minus another one that it contains.
fn without(vector: &[(usize, f32)], part: &[(usize, f32)]) -> Vector {
    let rest = vector.iter().filter(|entry| !part.contains(entry));
    let mut rest: Vector = rest.map(|(coordinate, value)| (*coordinate, value.to_bits())).collect();
    rest.sort_unstable();
    rest
}
