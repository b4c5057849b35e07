//! The reference score: a default score made of terms (Appendix F), minus the weighted costs of values.
//!
//! b(c, a) is a sum of terms. A term adds its weight if its condition holds for the context and the action
//! has any of its values. The cost of an action is the sum of its values' costs. The baseline is b - lambda
//! cost.

use super::{Action, Catalog, Context, Part};
use crate::numbers::Number;

/// The condition of a term or a rule.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Condition<'a> {
    /// In every context.
    Always,
    /// The signal is strictly above the threshold.
    Above(u8, f32),
    /// The signal is at least the threshold.
    AtLeast(u8, f32),
    /// The signal is at most the threshold.
    AtMost(u8, f32),
    /// The signal is strictly below the threshold.
    Below(u8, f32),
    /// The task is in the list.
    Tasks(&'a [u8]),
}

impl Condition<'_> {
    /// True if the condition holds in `context`. A condition on a signal that the context lacks is false.
    #[must_use]
    #[inline(never)]
    pub fn holds(&self, context: &Context) -> bool {
        let (signal, threshold) = match *self {
            Self::Always => return true,
            Self::Tasks(tasks) => {
                return context.task().is_some_and(|task| tasks.iter().any(|&t| usize::from(t) == task));
            }
            Self::Above(signal, threshold)
            | Self::AtLeast(signal, threshold)
            | Self::AtMost(signal, threshold)
            | Self::Below(signal, threshold) => (signal, threshold),
        };
        let Some(level) = context.signal(usize::from(signal)) else { return false };
        match self {
            Self::Above(..) => level > threshold,
            Self::AtLeast(..) => level >= threshold,
            Self::AtMost(..) => level <= threshold,
            Self::Below(..) => level < threshold,
            Self::Always | Self::Tasks(_) => false,
        }
    }
}

/// One term of the default score: `weight` if `when` holds and the action uses any value of `applies`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Term<'a> {
    /// Added to the default score.
    pub weight: f64,
    /// The contexts of the term.
    pub when: Condition<'a>,
    /// The values of the term. An action needs one of them, in any of the components.
    pub applies: &'a [Part<'a>],
}

impl<'a> Term<'a> {
    /// A term of the default score.
    #[must_use]
    pub const fn new(weight: f64, when: Condition<'a>, applies: &'a [Part<'a>]) -> Self {
        Self { weight, when, applies }
    }

    /// True if an action has any of the term's values.
    #[inline]
    pub(crate) fn meets(&self, values: &[u8]) -> bool {
        self.applies
            .iter()
            .any(|part| values.get(usize::from(part.component)).is_some_and(|&value| part.contains(value)))
    }
}

impl<'a> Catalog<'a> {
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
